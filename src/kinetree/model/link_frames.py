"""The cheapest frames for the links between revolute joints: those of Denavit and Hartenberg where they are cheaper.

A body on a revolute joint may be described in any frame whose z lies on the joint's axis: the frame can be turned about
z and shifted along z. With x on the common normal to a child's axis, the transform to that child is an axial screw
about x and one about z (Featherstone, section 10.3.1), and the turn about z becomes part of the joint's angle. Only one
child of each body can have this; and turning a body fills the zeros of its inertia. So choices are compared by cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinetree.joints.axes import alignment
from kinetree.joints.elementary import QUARTER, Revolute, TurnedRevolute
from kinetree.model.gears import turned_gears
from kinetree.model.numbers import radius_of_gyration
from kinetree.model.parts import Frame, pose_of_transform
from kinetree.spatial import IdentityRotation, Rotation, Transform, Vector3, rotation_from_matrix

NEGLIGIBLE = 1e-13
"""Entries of rotations below this are zero, those of other quantities relative to the largest one."""

REACH = 2.0
"""Largest shift of an origin along its axis, in lengths of the body, from its joint to its mass and to the joints
that it supports, or of the proximal link if that is not much longer: longer shifts would lose digits, and robots may
be far from the world's origin."""

MANY = 64
"""Number of bodies from which on origins are not shifted: the code of large models is shared between links of one form,
and origins that could be shifted here and not there would make two forms of one."""

# Costs in operations of inverse dynamics, where five vectors pass each link: turning one costs 4m + 2a, 8m + 5a or
# 9m + 6a; a component of an offset takes part in 5m + 5a, as does one of the first moment; a product of inertia in
# 2m + 2a; measuring an angle from another zero takes 4m + 2a.
TURNS = {"none": 0.0, "axial": 30.0, "two": 65.0, "general": 75.0}
COMPONENT = 10.0
PRODUCT = 4.0
ANGLE = 6.0


@dataclass(frozen=True, slots=True)
class Links:
    """Frames for all bodies.

    Parameters
    ----------
    turn : tuple of Transform
        From the old coordinates of each body to the new.
    joints : tuple of Joint
        ``joints[0]`` is None.
    X_T : tuple of Transform
    """

    turn: tuple[Transform, ...]
    joints: tuple
    X_T: tuple[Transform, ...]


def cheapest_links(model, forms) -> Links | None:
    """Choose the frames.

    Parameters
    ----------
    model : Model
    forms : sequence of (Rotation, Joint)
        The canonical form of each joint.

    Returns
    -------
    Links or None
        None if no link between revolute joints has a general rotation: then there is nothing to gain.
    """
    free = [type(joint) is Revolute for joint in model.joints]
    R = [_array(_along_z(joint) if free[i] else forms[i][0]) for i, joint in enumerate(model.joints)]
    E = [_array(X.E) for X in model.X_T]
    for i in model.outward():
        E[i] = R[i] @ E[i] @ R[model.parent[i]].T
    if not any(free[i] and _kind(E[i]) in ("two", "general") for i in model.outward()):
        return None

    angle = [_cheapest_turn(model, i, free, E, R) if free[i] else 0.0 for i in range(model.nb)]
    joints, links = [None], [np.eye(3)]
    for i in model.outward():
        R[i] = _rz(angle[i]) @ R[i]
        link = E[i] @ _rz(-angle[model.parent[i]])
        joint = forms[i][1]
        if free[i]:
            stripped, link = _stripped(link)
            zero = _snapped_angle(angle[i] + stripped)
            joint = TurnedRevolute(zero=zero) if zero else Revolute()
        joints.append(joint)
        links.append(np.where(np.abs(link) < NEGLIGIBLE, 0.0, link))
    shift, r = _shifts(model, free, R, links)
    turn = tuple(
        Transform(rotation_from_matrix(R[i].tolist()), Vector3(*(R[i][2] * shift[i]).tolist())) for i in range(model.nb)
    )
    X_T = (model.X_T[0], *(
        Transform(rotation_from_matrix(links[i].tolist()), Vector3(*r[i].tolist())) for i in model.outward()
    ))  # fmt: skip
    return Links(turn, tuple(joints), X_T)


def _along_z(joint: Revolute) -> Rotation:
    """The rotation that takes the joint's axis to z."""
    return IdentityRotation() if joint.axis == (0.0, 0.0, 1.0) else alignment(joint.axis)


def _array(E: Rotation) -> np.ndarray:
    return np.array(E.matrix.rows, dtype=float)


def _rz(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def _kind(E: np.ndarray) -> str:
    """The kind of a rotation after a permutation of the axes: nothing, a turn about one axis, about two, or any."""
    zeros = np.count_nonzero(np.abs(E) < NEGLIGIBLE)
    return "none" if zeros == 6 else "axial" if zeros == 4 else "two" if zeros else "general"


def _stripped(E: np.ndarray) -> tuple[float, np.ndarray]:
    """E = rz(angle) E': the turn about z that becomes part of the joint's angle, and the rest, rx(b) rz(c)."""
    sine = math.hypot(E[0, 2], E[1, 2])
    angle = math.atan2(E[0, 2], E[1, 2]) if sine > NEGLIGIBLE else math.atan2(-E[1, 0], E[0, 0])
    rest = _rz(-angle) @ E
    if TURNS[_kind(rest)] + ANGLE * bool(_snapped_angle(angle)) >= TURNS[_kind(E)]:
        return 0.0, E
    return angle, rest


def _snapped_angle(angle: float) -> float:
    """The angle in (-pi, pi], an exact multiple of a quarter turn if it is close to one."""
    angle = math.remainder(angle, 2.0 * math.pi)
    quarters = round(angle / QUARTER)
    return quarters * QUARTER if abs(angle - quarters * QUARTER) < NEGLIGIBLE else angle


def _cheapest_turn(model, p: int, free, E, R) -> float:
    """The angle by which the frame of body p is turned: x along the common normal to one child's axis, or none."""
    children = list(model.children(p))
    candidates = [0.0]
    for i in children:
        if free[i] and math.hypot(E[i][2, 0], E[i][2, 1]) > NEGLIGIBLE:
            candidates.append(math.atan2(E[i][2, 0], -E[i][2, 1]))

    def price(angle: float) -> float:
        back = _rz(-angle)
        links = [E[i] @ back for i in children]
        turns = [_stripped(link)[1] if free[i] else link for i, link in zip(children, links, strict=True)]
        turn = Transform(rotation_from_matrix((_rz(angle) @ R[p]).tolist()), Vector3.zero())
        own = _inertia_price(turn @ model.I[p]) + ANGLE * bool(_snapped_angle(angle))
        return sum(TURNS[_kind(link)] for link in turns) + own

    return min(candidates, key=price)


def _inertia_price(body) -> float:
    h, I = np.array(list(body.h)), np.array([body.I.xy, body.I.xz, body.I.yz])
    size = max(abs(body.I.xx), abs(body.I.yy), abs(body.I.zz))
    return COMPONENT * _count(h, math.sqrt(size * body.m)) + PRODUCT * _count(I, size)


def _count(x: np.ndarray, size: float) -> int:
    """The number of components that are not zero."""
    return int(np.count_nonzero(np.abs(x) > NEGLIGIBLE * size))


def _shifts(model, free, R, links) -> tuple[list[float], list[np.ndarray]]:
    """The shift of each origin along its axis, and the resulting offsets of the links."""
    bare = [R[model.parent[i]] @ np.array(list(X.r)) for i, X in enumerate(model.X_T) if i]
    r, shift = [np.zeros(3), *bare], [0.0] * model.nb
    for i in model.outward():
        r[i] = r[i] - np.array([0.0, 0.0, shift[model.parent[i]]])
        if not free[i]:
            continue
        size, axis = float(np.abs(r[i]).max()), links[i][2]
        children = list(model.children(i))
        own = max(radius_of_gyration(model.I[i]), *(float(np.abs(r[k]).max()) for k in children), 0.0)
        reach = REACH * max(own, min(size, REACH * own))

        def price(move: float, i=i, size=size, axis=axis, children=children) -> float:
            total = COMPONENT * _count(r[i] + move * axis, size)
            for child in children:
                offset = r[child] - np.array([0.0, 0.0, move])
                count = _count(offset, max(size, float(np.abs(offset).max())))
                # A child may be shifted along its own axis in turn.
                total += COMPONENT * min(count, 2 if free[child] else 3)
            turn = Transform(rotation_from_matrix(R[i].tolist()), Vector3(*(R[i][2] * move).tolist()))
            return total + _inertia_price(turn @ model.I[i])

        moves = [0.0]
        for k in range(3) if model.nb < MANY else ():
            if abs(axis[k]) * reach >= abs(r[i][k]) > NEGLIGIBLE * size:
                moves.append(-r[i][k] / axis[k])
        shift[i] = min(moves, key=price)
        r[i] = r[i] + shift[i] * axis
        r[i] = np.where(np.abs(r[i]) < NEGLIGIBLE * size, 0.0, r[i])
    return shift, r


def reframed(model):
    """The model with canonical joints.

    Parameters
    ----------
    model : Model

    Returns
    -------
    Model
        The same model if its joints are canonical.

    Notes
    -----
    A joint's ``canonical()`` gives R_i and J_i' with ``X_J = R_i^-1 X_J' R_i``. With body frames turned by R_i (and
    R_0 = 1) the link transform ``X_J X_T`` becomes ``X_J' (R_i X_T R_p^-1)``: the bracket is the new X_T. Where links
    between revolute joints are turned by general angles, the frames are chosen so that links are cheap, too
    (`link_frames`): then origins may also be shifted along their joint's axis.
    """
    forms = [(IdentityRotation(), None), *(joint.canonical() for joint in model.joints[1:])]
    links = cheapest_links(model, forms) or _canonical_links(model, forms)
    if links is None:
        return model
    turn = links.turn  # from the old coordinates of each body to the new
    frames = []
    for frame in model.frames:
        R_BF, p_BF = pose_of_transform(frame.X_FB @ turn[frame.body].inverse())
        frames.append(Frame(frame.name, frame.body, R_BF, p_BF))
    changes = {
        "joints": links.joints,
        "X_T": links.X_T,
        "I": tuple(turn[i] @ I for i, I in enumerate(model.I)),
        "frames": tuple(frames),
        **turned_gears(model, turn),
        "geometry": tuple(
            tuple(shape.seen_from(turn[i].inverse()) for shape in shapes) for i, shapes in enumerate(model.geometry)
        ),
    }
    made = type(model)(**{**model._arguments(), **changes})
    made._set(_reframed=made, _loop_rows=model.loop_rows(), _stabilization=model._stabilization)
    made._set(_is_passing=model._is_passing)
    made._set(X_user=tuple(X.inverse() for X in turn))
    made._set(_independent_velocities=model.independent_velocities)
    return made


def _canonical_links(model, forms) -> Links | None:
    """Frames turned for each joint alone; None if nothing changes."""
    if all(isinstance(R, IdentityRotation) and new is old for (R, new), old in zip(forms, model.joints, strict=True)):
        return None
    turn = tuple(Transform(R, Vector3.zero()) for R, _ in forms)
    X_T = (turn[i] @ model.X_T[i] @ turn[model.parent[i]].inverse() for i in model.outward())
    return Links(turn, (None, *(joint for _, joint in forms[1:])), (model.X_T[0], *X_T))
