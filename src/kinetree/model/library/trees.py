"""Random trees for tests of theorems, and families of trees for benchmarks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kinetree.arguments import (
    a_depth,
    a_joint,
    a_number,
    a_number_up_to,
    a_positive_number,
    a_seed,
    a_sequence,
    a_size,
    a_truth_value,
    checked,
    refuse,
)
from kinetree.joints import Free, Joint, Revolute, examples
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.model import Model


@checked(
    n=a_size, seed=a_seed, joints=a_sequence, branching=a_number, floating=a_truth_value, armature=a_truth_value,
    fixed=a_truth_value, time_dependent=a_truth_value,
)  # fmt: skip
def random_tree(
    n: int = 8,
    seed: int = 0,
    *,
    joints: Sequence[Joint] | None = None,
    floating: bool = False,
    branching: float = 0.5,
    armature: bool = True,
    fixed: bool = True,
    time_dependent: bool = False,
) -> Model:
    """A tree of random shape with random joints, placements and inertias, for tests of theorems.

    Parameters
    ----------
    n : int
        Number of bodies without the world.
    seed : int
    joints : sequence of Joint, optional
        Each body takes one of these. By default the examples of all registered joints and their reversals, all of which
        occur once n is large enough.
    floating : bool
        The first body floats and supports all others.
    branching : float
        Probability that the parent of a body is an arbitrary earlier body instead of the one before it.
    armature : bool
        Give one third of the joints an armature.
    fixed : bool
        With the default joints: let fixed joints occur, which stay in the model as joints without freedom.
    time_dependent : bool
        With the default joints: let joints occur that depend on time.

    Returns
    -------
    Model
        Its inertias are those of possible bodies.

    Examples
    --------
    >>> random_tree(5, seed=1, floating=True).joints[1]
    Free()
    """
    rng = np.random.default_rng(seed)
    if joints is None:
        pool = [joint for _, joint in examples(rng, time_dependent=time_dependent) if fixed or not joint.rigid]
    else:
        pool = list(joints)
        if not pool:
            refuse("random_tree: joints", joints, "one joint or more")
        for joint in pool:
            a_joint("random_tree: one of joints", joint)
    deck: list[Joint] = []
    b = ModelBuilder(f"random_tree_{n}_{seed}")
    for k in range(1, n + 1):
        if not deck:
            deck = [pool[i] for i in rng.permutation(len(pool))]
        joint = deck.pop()
        parent = k - 1
        if k > 1 and rng.random() < branching:
            parent = int(rng.integers(1 if floating else 0, k))
        if floating and k == 1:
            joint = Free()
        drive = rng.uniform(0.1, 1.0, joint.nv) if armature and rng.random() < 1.0 / 3.0 and joint.nv else None
        _add_random_body(b, k, parent, joint, rng, armature=drive)
    return b.build(merge_fixed=False)


@checked(n=a_size, seed=a_seed)
def chain_gu(n: int = 6, seed: int = 0) -> Model:
    """GU(n): an unbranched chain of n revolute joints with general geometry and general inertias.

    Parameters
    ----------
    n : int
    seed : int

    Notes
    -----
    Source: Featherstone, section 10.3, the systems whose costs table 10.1 states.
    """
    return random_tree(n, seed, joints=[Revolute()], branching=0.0, armature=False).replace(name=f"GU({n})")


@checked(depth=a_depth, seed=a_seed)
def binary_tree(depth: int = 4, seed: int = 0) -> Model:
    """A complete binary tree of revolute joints: the parent of body i is body i // 2.

    Parameters
    ----------
    depth : int
        Number of bodies on a path from the world to a leaf; there are 2^depth - 1 bodies.
    seed : int

    Notes
    -----
    Source: Featherstone, section 10.3 (branches reduce the cost of the composite-rigid-body algorithm).
    """
    return _revolute_family(f"binary_tree({depth})", [i // 2 for i in range(1, 2**depth)], seed)


@checked(n=a_size, seed=a_seed)
def star(n: int = 8, seed: int = 0) -> Model:
    """n bodies that are children of the world by revolute joints: the mass matrix is diagonal.

    Parameters
    ----------
    n : int
    seed : int
    """
    return _revolute_family(f"star({n})", [0] * n, seed)


def _revolute_family(name: str, parents: Sequence[int], seed: int) -> Model:
    rng = np.random.default_rng(seed)
    b = ModelBuilder(name)
    for i, p in enumerate(parents, start=1):
        _add_random_body(b, i, p, Revolute(), rng)
    return b.build()


def _add_random_body(b: ModelBuilder, i: int, parent: int, joint: Joint, rng: np.random.Generator, **data) -> None:
    """Adds body i to this parent, with a random placement and inertia."""
    name, placement = f"body{parent}" if parent else WORLD, (random_rotation(rng), rng.uniform(-0.5, 0.5, 3))
    b.add_body(f"body{i}", name, joint, f"joint{i}", placement, **data, **random_inertia(rng))


@checked(n=a_size, bf=a_positive_number, skew=a_number, taper=a_number_up_to(100.0))
def auto_tree(n: int, bf: float = 1.0, skew: float = 0.0, taper: float = 1.0) -> Model:
    """A tree of tapering cylinders along x with joints about z.

    Parameters
    ----------
    n : int
        Number of moving bodies.
    bf : float
        Branching factor: 1 is a chain, 2 a binary tree, 1.5 alternates.
    skew : float
        Angle about x from one joint's axis to the next [rad].
    taper : float
        Length of a link relative to the one with the number before it.

    Notes
    -----
    Source: the family that Featherstone's package spatial_v2 calls autoTree. Link i has length l = taper^(i-1), mass
    l^3, center of mass l/2 and central inertia m l^2 diag(0.0025, 1.015/12, 1.015/12).
    """
    b = ModelBuilder(f"auto_tree({n}, {bf:g}, {skew:g}, {taper:g})")
    for i in range(1, n + 1):
        parent = math.floor((i - 2 + math.ceil(bf)) / bf)
        length, mass = taper ** (i - 1), taper ** (3 * (i - 1))
        placement = ((taper ** (parent - 1), 0.0, 0.0), (skew, 0.0, 0.0)) if parent else None
        b.add_body(
            f"link{i}",
            f"link{parent}" if parent else WORLD,
            Revolute(),
            f"joint{i}",
            placement,
            mass=mass,
            com=(length / 2, 0.0, 0.0),
            inertia=mass * length**2 * np.array([0.0025, 1.015 / 12, 1.015 / 12]),
        )
    return b.build()


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """Uniform on SO(3): the orthogonal factor of a Gaussian matrix, its signs made unique, mirrored if needed."""
    Q, R = np.linalg.qr(rng.standard_normal((3, 3)))
    Q = Q * np.sign(np.diagonal(R))
    return Q if np.linalg.det(Q) > 0.0 else -Q


def random_inertia(rng: np.random.Generator) -> dict[str, object]:
    """Mass, center of mass and tensor of a random ellipsoidal distribution of mass."""
    mass, turn = float(rng.uniform(0.5, 3.0)), random_rotation(rng)
    Sigma = mass * (turn * rng.uniform(0.005, 0.05, 3)) @ turn.T
    return {"mass": mass, "com": rng.uniform(-0.3, 0.3, 3), "inertia": np.trace(Sigma) * np.eye(3) - Sigma}
