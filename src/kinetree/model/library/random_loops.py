"""Random mechanisms with loops, closed at a known position, for tests of theorems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from kinetree.arguments import a_seed, a_size, a_word, checked, choice, names, refuse, whole
from kinetree.constraints import LoopJoint
from kinetree.errors import ModelError
from kinetree.joints import Cylindrical, Fixed, Joint, Prismatic, Reversed, Revolute, Spherical, Universal, examples
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.equipment import Equipment, Keyframe
from kinetree.model.library.trees import random_inertia, random_rotation, random_tree
from kinetree.model.model import Model
from kinetree.model.parts import transform_of_pose
from kinetree.state_kinematics import Kinematics

REGULAR = 0.02  # least singular value of the unit rows of loops; smaller ones than ROUNDING are redundancy
ROUNDING = 1e-9
MOVES = 0.05  # of a unit velocity that obeys the loops, the least part in the joints of each loop
ITERATED = ("composite", "spline_curve", "spline_surface")  # find their positions by iterations: only on request
TRIALS = 60  # loop joints for each loop, and mechanisms


class ClosedMechanism(NamedTuple):
    """A model with loops, and a state that obeys them.

    Attributes
    ----------
    model : Model
        Its keyframe "initial" has q.
    q : (nq,) array
        A position at which all loops are closed to rounding [rad or m].
    v : (nv,) array
        A velocity that keeps them closed [rad/s or m/s].
    """

    model: Model
    q: np.ndarray
    v: np.ndarray


@checked(seed=a_seed, bodies=a_size, loops=partial(whole, expected="a whole number from 1 to 100", least=1, most=100),
         family=a_word)  # fmt: skip
def random_loops(
    seed: int = 0,
    *,
    bodies: int = 8,
    loops: int = 2,
    kinds: Sequence[str] | None = None,
    family: str = "spatial",
) -> ClosedMechanism:
    """A random tree whose bodies random loop joints connect, closed at a random position.

    Parameters
    ----------
    seed : int
    bodies : int
        Number of bodies without the world.
    loops : int
        Number of loop joints.
    kinds : sequence of str, optional
        Kinds of loop joints to choose from; by default all that the family has.
    family : {"spatial", "planar", "spherical"}
        "spatial": joints of all kinds, loop joints of every kind but those with iterations; their rows are independent.
        "planar": all bodies move parallel to one plane, in three dimensions; "spherical": all turn about one point.
        There most loop joints have redundant rows: three of the five of a hinge.

    Returns
    -------
    ClosedMechanism
        ``model, q, v``.

    Raises
    ------
    UnknownNameError
        If a kind of joint closes no loops of the family.
    ModelError
        If the bodies leave no motion to so many loops.

    Notes
    -----
    The placement of each loop joint on its successor is computed from the position q, so the loop joint stands at a
    random position of its own there. The rows of a mechanism have full rank or exactly redundant rows: its least
    singular value that is not zero is at least 0.02 for rows of length one. It moves in every loop.

    Examples
    --------
    >>> import kinetree as kt
    >>> model, q, v = kt.models.random_loops(3, bodies=9, loops=2)
    >>> len(model.loops), model.nc == len(model.independent_rows())
    (2, True)
    >>> kt.models.random_loops(3, bodies=4, loops=1, kinds=["revolute"], family="planar").model.nc
    5
    """
    choice("random_loops: family", family, _FAMILIES)
    rng = np.random.default_rng([seed, bodies, loops])
    tree, pool = _FAMILIES[family]
    available: dict[str, list[Joint]] = {}
    for joint in pool(rng):
        available.setdefault(_kind(joint), []).append(joint)
    usual = [kind for kind in available if kind not in ITERATED]
    chosen = usual if kinds is None else names("random_loops: kinds", kinds)
    if not chosen:
        refuse("random_loops: kinds", kinds, "one kind or more")
    for kind in chosen:
        choice("kind of joint", kind, available, f"random_loops: loops of the {family} family")
    for _ in range(TRIALS):
        model = tree(bodies, rng).replace(name=f"random_loops_{bodies}_{loops}_{seed}")
        found = _closed(model, [available[kind] for kind in chosen], loops, rng, family)
        if found is not None:
            return found
    raise ModelError(
        f"random_loops: {bodies} bodies with {loops} loops of kinds {', '.join(chosen)} had no motion left in "
        f"{TRIALS} trials; expected more bodies, fewer loops, or loop joints with more freedoms.",
        bodies=bodies,
        loops=loops,
    )


def _closed(model, pool, loops: int, rng, family: str) -> ClosedMechanism | None:
    """The tree with loops, or None if it has not enough freedoms."""
    q, joints = model.random_q(rng), []
    kin = Kinematics(model, q.tolist())
    G, rank = np.zeros((0, model.nv)), 0
    for _ in range(TRIALS * loops):
        kind = pool[rng.integers(len(pool))]
        joint = kind[rng.integers(len(kind))]
        name = f"loop{len(joints) + 1}"
        candidate = _closing(model, kin, joint, name, rng, family)
        rows = np.array([[float(row.get(k, 0.0)) for k in range(model.nv)] for row in candidate.rows(kin)])
        both, own = np.vstack([G, rows]), _rank(rows)
        regular = own == len(rows) if family == "spatial" else own > 0
        if regular and _rank(both) == rank + own < model.nv and _moves(both, [*joints, candidate], model):
            G, rank, joints = both, rank + own, [*joints, candidate]
        if len(joints) == loops:
            N = _null_space(G)
            places = {model.joint_name(i): tuple(model.q_of(i, q.tolist())) for i in model.outward()}
            key = Keyframe("initial", {name: q_i for name, q_i in places.items() if q_i})
            model = model.replace(equipment=Equipment(keyframes=(key,))).with_constraints(*joints)
            return ClosedMechanism(model, q, N @ (N.T @ rng.standard_normal(model.nv)))
    return None


def _closing(model, kin, joint: Joint, name: str, rng, family: str) -> LoopJoint:
    """A loop joint between two random bodies, placed so that it is at a random position of its own."""
    predecessor, successor = (int(i) for i in rng.permutation(model.nb)[:2])
    ends = [model.frames[i].name for i in (predecessor, successor)]
    if family == "planar" and predecessor == 0:
        ends[0] = "plane"
    turn = _about_z(rng) if family == "planar" else random_rotation(rng)
    offset = np.zeros(3) if family == "spherical" else rng.uniform(-0.3, 0.3, 3)
    X_P = transform_of_pose(turn, offset, name)
    P, S = (model.frame(end) for end in ends)
    to_P, to_S = X_P @ (P.X_FB @ kin.X_0[P.body]), S.X_FB @ kin.X_0[S.body]
    X_J = joint.transform(joint.random(rng))
    return LoopJoint(name, joint, *ends, X_P, X_J @ (to_P @ to_S.inverse()))


def _singular_values(G: np.ndarray) -> np.ndarray:
    """Of the rows, each with its length made one; zero rows stay zero."""
    length = np.linalg.norm(G, axis=1)
    return np.linalg.svd(G / np.where(length > ROUNDING, length, np.inf)[:, None], compute_uv=False)


def _rank(G: np.ndarray) -> int:
    """The rank of rows, or 0 if it is no clear one."""
    values = _singular_values(G) if G.size else np.zeros(0)
    clear = (values < ROUNDING) | (values > REGULAR)
    return int((values > REGULAR).sum()) if clear.all() else 0


def _null_space(G: np.ndarray) -> np.ndarray:
    return np.linalg.svd(G)[2][int((_singular_values(G) > ROUNDING).sum()) :].T


def _moves(G, joints, model) -> bool:
    """Whether some motion that obeys the rows moves each loop."""
    N, first = _null_space(G), 0
    for joint in joints:
        rows = G[first : first + joint.count(model)]
        first += len(rows)
        if np.linalg.norm(N[np.abs(rows).max(axis=0) > ROUNDING]) < MOVES:
            return False
    return True


# Families -------------------------------------------------------------------------------------------------------------


def _kind(joint: Joint) -> str:
    return joint.joint.kind if isinstance(joint, Reversed) else joint.kind


def _spatial_joints(rng) -> Iterator[Joint]:
    """Every joint that can close a loop."""
    return (joint for _, joint in examples(rng) if joint.nv < 6)


def _spatial_tree(bodies: int, rng) -> Model:
    return random_tree(bodies, int(rng.integers(2**31)), fixed=False)


def _planar_joints(rng) -> Iterator[Joint]:
    """Those that can close a loop whose bodies move parallel to the x-y plane."""
    angle = rng.uniform(0.0, 2.0 * np.pi)
    yield from (Fixed(), Revolute(), Prismatic((np.cos(angle), np.sin(angle), 0.0)), Cylindrical(), Spherical())


def _planar_tree(bodies: int, rng) -> Model:
    """Hinges about the normal of one tilted plane, and slides in it; bodies at any distance from it."""
    b, tilt = ModelBuilder("planar"), random_rotation(rng)
    for i in range(1, bodies + 1):
        parent, turn, angle = _parent(i, rng), _about_z(rng), rng.uniform(0.0, 2.0 * np.pi)
        slide = Prismatic((np.cos(angle), np.sin(angle), 0.0))
        placement = turn if parent else tilt @ turn, rng.uniform(-0.5, 0.5, 3)
        _add_body(b, i, parent, slide if rng.random() < 0.25 else Revolute(), placement, rng)
    b.add_frame("plane", WORLD, (tilt, (0.0, 0.0, 0.0)))
    return b.build()


def _spherical_joints(rng) -> Iterator[Joint]:
    """Those that can close a loop whose bodies turn about one point."""
    yield from (Fixed(), Revolute(), Universal())


def _spherical_tree(bodies: int, rng) -> Model:
    """Hinges whose axes meet in one point, and a few universal joints."""
    b = ModelBuilder("spherical")
    for i in range(1, bodies + 1):
        joint = Universal() if rng.random() < 0.25 else Revolute(tuple(rng.standard_normal(3)))
        _add_body(b, i, _parent(i, rng), joint, (random_rotation(rng), (0.0, 0.0, 0.0)), rng)
    return b.build()


def _parent(i: int, rng) -> int:
    return int(rng.integers(0, i)) if rng.random() < 0.3 else i - 1


def _add_body(b: ModelBuilder, i: int, parent: int, joint: Joint, placement, rng) -> None:
    name = f"body{parent}" if parent else WORLD
    b.add_body(f"body{i}", name, joint, f"joint{i}", placement, **random_inertia(rng))


def _about_z(rng) -> np.ndarray:
    angle = rng.uniform(0.0, 2.0 * np.pi)
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


_FAMILIES = {
    "spatial": (_spatial_tree, _spatial_joints),
    "planar": (_planar_tree, _planar_joints),
    "spherical": (_spherical_tree, _spherical_joints),
}
