"""The plane in which a mechanism moves: found from its joints, or the joint that leaves it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.errors import ModelError, UnsupportedError

_SAME = 1e-9  # directions that differ by less are the same; files give axes with some ten digits
_STATES = 3  # positions at which a joint's motion is looked at


def refuse_planar(model, what: str) -> None:
    """Raise UnsupportedError, which names the call, if the model is a planar one."""
    if model.algebra.dimension != 6:
        raise UnsupportedError(
            f"{what} needs a spatial model and {model.name!r} is planar; take model.spatial, and make the result "
            "planar again with .planar()",
            model=model.name,
        )


@dataclass(frozen=True, slots=True)
class Plane:
    """A plane that all bodies keep to.

    Attributes
    ----------
    normals : tuple of (3,) arrays
        For each body, the plane's normal in the body's coordinates [1].
    before : tuple of (3,) arrays
        The same in the predecessor frame of each joint.
    """

    normals: tuple[np.ndarray, ...]
    before: tuple[np.ndarray, ...]


def plane_of(model) -> Plane:
    """The plane of a mechanism.

    Parameters
    ----------
    model : Model

    Raises
    ------
    ModelError
        A joint leaves the plane in which the others move; the message names both.

    Notes
    -----
    The first joint that turns gives the normal; if none does, the first two that slide along different lines. If all
    slide along one line, the plane also contains gravity. Of the two normals it is the one that makes the plane's axes
    (y, z), (x, z) or (x, y) of the world, if the plane is one of these.
    """
    rng = np.random.default_rng(0)
    states = [_motions(model, rng) for _ in range(_STATES)]
    normal, by = _normal(model, states[0])
    for _, motions in states:
        for i, angular, linear in motions:
            turned, slid = np.linalg.norm(np.cross(angular, normal)), abs(linear @ normal)
            if max(turned, slid) > _SAME:
                _refuse(model, i, turned > _SAME, normal, by)
    turns = states[0][0]
    return Plane(tuple(_clean(body @ normal) for body, _ in turns), tuple(_clean(joint @ normal) for _, joint in turns))


def axes_across(normal: np.ndarray) -> np.ndarray:
    """The axes of a plane as rows: x and y in the plane, right-handed with the normal.

    Parameters
    ----------
    normal : (3,) array
        [1].

    Returns
    -------
    (3, 3) array
        The first row is the projection of the frame's x axis, or of its y axis if x is the closest to the normal.
    """
    k = int(np.argmax(np.abs(normal)))
    start = np.eye(3)[1 if k == 0 else 0]
    x = start - normal * (start @ normal)
    x = _clean(x / np.linalg.norm(x))
    return np.array([x, np.cross(normal, x), normal])


def _clean(direction: np.ndarray) -> np.ndarray:
    """A unit vector without the residues of rounding, so that normals along axes give rotations that cost nothing."""
    direction = np.where(np.abs(direction) < 1e-12, 0.0, direction)
    direction = np.where(np.abs(np.abs(direction) - 1.0) < 1e-12, np.sign(direction), direction)
    return direction / np.linalg.norm(direction)


def _motions(model, rng):
    """At a random position: rotations from world coordinates to every body and predecessor frame, and motions.

    The motions are ``(joint, angular, linear)`` in world axes, of every freedom and of rheonomic joints.
    """
    turns, found = [(np.eye(3), np.eye(3))] + [None] * (model.nb - 1), []
    for i in model.outward():
        joint = model.joints[i].at(0.375)  # any time
        q = joint.random(rng)
        before = _matrix(model.X_T[i]) @ turns[model.parent[i]][0]
        body = _matrix(joint.transform(q)) @ before
        turns[i] = body, before
        for S in (*joint.motion_subspace(q), joint.sigma(q)):
            angular, linear = (np.array([float(x) for x in part]) @ body for part in (S.angular, S.linear))
            found.append((i, angular, linear))
    return turns, found


def _matrix(X) -> np.ndarray:
    return np.array(X.E.matrix.rows, dtype=float)


def _normal(model, state):
    """The normal in the world, and the joints that decide it."""
    turning = [(i, angular) for i, angular, _ in state[1] if np.linalg.norm(angular) > _SAME]
    if turning:
        i, normal = turning[0]
        return _oriented(normal), f"joint {model.joint_name(i)!r} turns about"
    lines = [(i, linear) for i, _, linear in state[1] if np.linalg.norm(linear) > _SAME]
    for j, line in lines[1:]:
        across = np.cross(lines[0][1], line)
        if np.linalg.norm(across) > _SAME:
            names = " and ".join(repr(model.joint_name(k)) for k in sorted({lines[0][0], j}))
            return _oriented(across), f"joints {names} slide across"
    if not lines:
        return np.array([0.0, 0.0, 1.0]), "no joint moves across"
    across = np.cross(lines[0][1], np.array(list(model.gravity), dtype=float))
    if np.linalg.norm(across) < _SAME:  # along the line of gravity, or there is none: any plane that contains the line
        across = axes_across(lines[0][1] / np.linalg.norm(lines[0][1]))[1]
    return _oriented(across), f"joint {model.joint_name(lines[0][0])!r} slides across"


def _oriented(normal: np.ndarray) -> np.ndarray:
    normal = _clean(normal / np.linalg.norm(normal))
    k = int(np.argmax(np.abs(normal)))
    return normal * np.sign(normal[k]) * (1.0, -1.0, 1.0)[k]


def _refuse(model, i, turns, normal, by):
    name = model.joint_name(i)
    shown = "({:.4g}, {:.4g}, {:.4g})".format(*(normal + 0.0))
    raise ModelError(
        f"model {model.name!r} is not planar: joint {name!r} ({model.joints[i]!r}) "
        f"{'turns about another axis' if turns else 'slides along the normal'}, so it leaves the plane with the normal "
        f"{shown} in the world, which {by}. Planar mechanisms have revolute joints about one axis, prismatic ones "
        "across it, planar and fixed ones; use the spatial model.",
        joint=name,
    )
