"""Models in code: random trees for tests, families for benchmarks, and the classical mechanisms."""

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
    an_array,
    checked,
    refuse,
)
from kinetree.constraints import Coupling
from kinetree.joints import Free, Joint, Prismatic, Revolute, Universal, examples
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.model import GRAVITY, Model

NO_GRAVITY = (0.0, 0.0, 0.0)


# Random models and families ---------------------------------------------------------------------------------------


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


# Classical mechanisms ---------------------------------------------------------------------------------------------


@checked(length=a_positive_number, mass=a_number)
def pendulum(length: float = 1.0, mass: float = 1.0) -> Model:
    """A point mass on a massless rod that swings in the x-z plane; at q = 0 it hangs down.

    Parameters
    ----------
    length : float
        [m].
    mass : float
        [kg].

    Notes
    -----
    Source: ``a = -(g / length) sin q``.
    """
    b = ModelBuilder("pendulum")
    b.add_body("bob", joint=Revolute((0, 1, 0)), joint_name="pivot", mass=mass, com=(0.0, 0.0, -length))
    return b.build()


@checked(n=a_size, length=a_positive_number, mass=a_number)
def n_pendulum(n: int = 3, length: float = 1.0, mass: float = 1.0) -> Model:
    """n equal thin rods in a row that swing in the x-z plane; at q = 0 they hang down.

    Parameters
    ----------
    n : int
    length : float
        Of each rod [m].
    mass : float
        Of each rod [kg].
    """
    numbers = range(1, n + 1)
    return _rods(f"n_pendulum({n})", [f"rod{i}" for i in numbers], [f"joint{i}" for i in numbers], length, mass)


@checked(length=a_positive_number, mass=a_number)
def double_pendulum(length: float = 1.0, mass: float = 1.0) -> Model:
    """Two equal thin rods, joints "shoulder" and "elbow", that swing in the x-z plane; at q = 0 they hang down.

    Parameters
    ----------
    length : float
        Of each rod [m].
    mass : float
        Of each rod [kg].
    """
    return _rods("double_pendulum", ["upper", "lower"], ["shoulder", "elbow"], length, mass)


def _rods(
    name: str, bodies: Sequence[str], joints: Sequence[str], length: float, mass: float, down: bool = True
) -> Model:
    """Thin rods in a row: along -z with joints about y; else along x with joints about z, without gravity."""
    b = ModelBuilder(name, gravity=GRAVITY if down else NO_GRAVITY)
    tip, axis = (np.array([0.0, 0.0, -length]), (0, 1, 0)) if down else (np.array([length, 0.0, 0.0]), (0, 0, 1))
    thin_rod = mass * length**2 / 12.0 * (tip == 0.0)
    for k, (body, joint) in enumerate(zip(bodies, joints, strict=True)):
        parent, placement = (bodies[k - 1], (tip, (0.0, 0.0, 0.0))) if k else (WORLD, None)
        b.add_body(body, parent, Revolute(axis), joint, placement, mass=mass, com=tip / 2, inertia=thin_rod)
    return b.build()


@checked(cart_mass=a_number, pole_mass=a_number, length=a_positive_number)
def cart_pole(cart_mass: float = 1.0, pole_mass: float = 0.1, length: float = 0.5) -> Model:
    """A cart on a rail along x with a point mass on a massless pole; at q = 0 the pole stands upright.

    Parameters
    ----------
    cart_mass, pole_mass : float
        [kg].
    length : float
        From the hinge to the point mass [m].

    Notes
    -----
    Source: ``(M + m) x'' + m l (cos(t) t'' - sin(t) t'^2) = f`` and ``m l^2 t'' + m l cos(t) x'' - m g l sin(t) = 0``.
    """
    b = ModelBuilder("cart_pole")
    b.add_body("cart", joint=Prismatic((1, 0, 0)), joint_name="slider", mass=cart_mass)
    b.add_body("pole", "cart", Revolute((0, 1, 0)), "hinge", mass=pole_mass, com=(0.0, 0.0, length))
    return b.build()


@checked(mass=a_number, inertia=an_array, gravity=an_array)
def free_body(mass: float = 1.0, inertia=(0.1, 0.2, 0.25), gravity=GRAVITY) -> Model:
    """One body that floats, with its center of mass at the origin of its frame.

    Parameters
    ----------
    mass : float
        [kg].
    inertia : (3,) or (3, 3) array
        About the center of mass [kg m^2]. With three different moments it tumbles about the middle axis.
    gravity : (3,) array
        [m/s^2].
    """
    b = ModelBuilder("free_body", gravity=gravity)
    b.add_body("body", joint=Free(), mass=mass, inertia=inertia)
    return b.build()


def puma_like() -> Model:
    """An arm of six revolute joints with the proportions of a PUMA 560; inertias are those of plausible cylinders.

    Notes
    -----
    Source: the arrangement of Craig, Introduction to Robotics, section 3.7 (modified Denavit-Hartenberg parameters:
    twists 0, -90, 0, -90, 90, -90 degrees, a2 = 0.4318 m, a3 = 0.0203 m, d3 = 0.15 m, d4 = 0.4318 m). The inertias are
    not measured ones.
    """
    right = math.pi / 2
    rows = (  # a [m], alpha [rad], d [m], mass [kg], center of mass [m], central inertia [kg m^2]
        ("waist", 0.0, 0.0, 0.0, 13.0, (0.0, 0.0, -0.05), (0.20, 0.20, 0.08)),
        ("shoulder", 0.0, -right, 0.0, 17.4, (0.07, 0.01, 0.02), (0.13, 0.52, 0.54)),
        ("elbow", 0.4318, 0.0, 0.15, 4.8, (0.0, -0.07, 0.01), (0.07, 0.01, 0.07)),
        ("roll", 0.0203, -right, 0.4318, 0.82, (0.0, 0.0, -0.02), (2e-3, 2e-3, 1.5e-3)),
        ("pitch", 0.0, right, 0.0, 0.34, (0.0, 0.0, 0.0), (3e-4, 3e-4, 4e-4)),
        ("yaw", 0.0, -right, 0.0, 0.09, (0.0, 0.0, 0.03), (1.5e-4, 1.5e-4, 4e-5)),
    )
    b = ModelBuilder("puma_like")
    parent = WORLD
    for k, (name, a, alpha, d, mass, com, inertia) in enumerate(rows, start=1):
        # Screw(x; a, alpha), then Screw(z; d): the joint's origin is d along its own axis.
        placement = ((a, -d * math.sin(alpha), d * math.cos(alpha)), (alpha, 0.0, 0.0))
        b.add_body(f"link{k}", parent, Revolute(), name, placement, mass=mass, com=com, inertia=inertia)
        parent = f"link{k}"
    b.add_frame("tool", parent, ((0.0, 0.0, 0.1), (0.0, 0.0, 0.0)))
    return b.build()


@checked(n=a_size)
def zigzag_arm(n: int = 6) -> Model:
    """A planar arm of n equal links with joints about z, without gravity; ill-conditioned when nearly stretched.

    Parameters
    ----------
    n : int
        Links of 1 m and 1 kg, center of mass in the middle, I_C = 1/12 kg m^2 about z.

    Notes
    -----
    Source: Featherstone, section 10.2 and figure 10.3; the example sets the angles to alternating +75 and -75 degrees.
    """
    numbers = range(1, n + 1)
    names = [f"link{i}" for i in numbers], [f"joint{i}" for i in numbers]
    return _rods(f"zigzag_arm({n})", *names, length=1.0, mass=1.0, down=False)


@checked(m1=a_number, I1=a_number, m2=a_number, I2=a_number)
def box_cylinder(m1: float = 2.0, I1: float = 0.5, m2: float = 1.0, I2: float = 0.3) -> Model:
    """A floating box with a slot, and in it a cylinder that turns about x and slides along y.

    Parameters
    ----------
    m1, m2 : float
        Masses of box and cylinder [kg].
    I1, I2 : float
        Their rotational inertias about any axis through the common center [kg m^2].

    Notes
    -----
    Source: Featherstone, example 7.1 and figure 7.3: the articulated-body inertia of the box is
    diag(I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2). The cylinder's two freedoms are a slider along y that supports a
    massless body, and a hinge about x.
    """
    b = ModelBuilder("box_cylinder", gravity=NO_GRAVITY)
    b.add_body("box", joint=Free(), mass=m1, inertia=(I1, I1, I1))
    b.add_body("block", "box", Prismatic((0, 1, 0)), "slider")
    b.add_body("cylinder", "block", Revolute((1, 0, 0)), "hinge", mass=m2, inertia=(I2, I2, I2))
    return b.build()


def satellite() -> Model:
    """A floating satellite with a dish on a universal joint, without gravity.

    Notes
    -----
    Source: Featherstone, figure 4.1: a floating base and a jointed antenna, 6 + 2 freedoms.
    """
    b = ModelBuilder("satellite", gravity=NO_GRAVITY)
    b.add_body("hull", joint=Free(), joint_name="base", mass=400.0, inertia=(180.0, 150.0, 120.0))
    b.add_body(
        "dish",
        "hull",
        Universal(),
        "gimbal",
        ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
        mass=20.0,
        com=(0.0, 0.0, 0.4),
        inertia=(3.0, 3.0, 5.0),
    )
    return b.build()


@checked(ratio=a_number)
def geared_arm(ratio: float = -2.0) -> Model:
    """A planar arm of two rods whose elbow is driven from the shoulder by a gear.

    Parameters
    ----------
    ratio : float
        Turns of the elbow per turn of the shoulder.

    Notes
    -----
    Source: after Featherstone, figure 9.2 and section 9.6 (gears as constraints between joints).
    """
    arm = _rods("geared_arm", ["upper", "lower"], ["shoulder", "elbow"], length=1.0, mass=1.0)
    return arm.with_constraints(Coupling("elbow", "shoulder", ratio))


# Random parts -------------------------------------------------------------------------------------------------------


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
