"""Bodies and joints of an MJCF file, from those of a model.

MuJoCo puts several joints on one body, and the body's frame anywhere; our reader turns that into a chain of bodies
without mass, each at its joint, and a frame with the body's name. Here this is undone: a `Place` is one body of the
file, with all its joints.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from kinetree import joints
from kinetree.forces.registry import names_in
from kinetree.io.mjcf.layout import rotation_about
from kinetree.io.number_text import number_text, numbers_text
from kinetree.io.writing import UnsupportedFeatures
from kinetree.model.equipment import RotationLimit
from kinetree.model.parts import pose_of_transform

X, Y, Z = np.eye(3).tolist()
MOST_FREEDOMS = 6
IN_CHAINS = {joints.Revolute, joints.Prismatic, joints.Spherical}
ANCHORED = (joints.Revolute, joints.Spherical, joints.Universal, joints.SphericalEuler)
SAME = 1e-14  # of rotations, and of meters
# Ours, and MuJoCo's name: one number for all freedoms of a joint.
UNIFORM = {"armature": "armature"} | {ours: theirs for theirs, ours in names_in("mjcf").items()}


@dataclass(frozen=True, slots=True)
class Part:
    """One ``<joint>``: of type "hinge", "slide", "ball" or "free".

    Parameters
    ----------
    kind : str
    name : str
    axis : sequence of 3 floats or None
        In the axes of the body.
    anchor : (3,) array
        In the file's frame of the body [m].
    body : int
        Number of our joint, which is that of the body it moves.
    q, v : slice
        Its entries in our q and v.
    ref : float
        Its position where the file shows the body [rad or m].
    """

    kind: str
    name: str
    axis: tuple[float, ...] | None
    anchor: np.ndarray
    body: int
    q: slice
    v: slice
    ref: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One ``<body>``.

    Parameters
    ----------
    body : int
        Our body, the last one of a chain.
    bodies : tuple of int
        All of the chain.
    parts : tuple of Part
    shift : (3,) array
        Origin of the file's frame of the body in ours, whose axes are the same [m].
    R : (3, 3) array
        Orientation of the file's body in our parent body where the file shows it.
    p : (3,) array
        Origin of the first joint's predecessor frame in our parent body [m].
    spare : bool
        Whether the frame of the body's name is not the file's, so that it needs another name.
    """

    body: int
    bodies: tuple[int, ...]
    parts: tuple[Part, ...]
    shift: np.ndarray
    R: np.ndarray
    p: np.ndarray
    spare: bool

    @property
    def first_anchor(self) -> np.ndarray:
        """Where the predecessor frame of the first joint is, in the file's frame of the body."""
        if not self.parts:
            return np.zeros(3)
        first = self.parts[0]
        return first.anchor - (first.ref * np.array(first.axis) if first.kind == "slide" else 0.0)


def places(model, features: UnsupportedFeatures, referred: set[str], shown: np.ndarray | None) -> dict[int, Place]:
    """The bodies of the file by our number of the last body of each; chains are folded.

    Parameters
    ----------
    model : Model
    features : UnsupportedFeatures
        Gets joints that are written as several.
    referred : set of str
        Frames that equipment refers to.
    shown : (nq,) array or None
        The positions in which the file is to show the robot, if they are not the neutral ones.
    """
    # Bodies that are more than links of a chain.
    kept = {i for i, I in enumerate(model.I) if model.geometry[i] or any((I.m, *I.h, *I.I))}
    for k, frame in enumerate(model.frames):
        if k >= model.nb or frame.name in referred or not frame.is_identity:
            kept.add(frame.body)
    found: dict[int, Place] = {}
    chain: list[int] = []
    for i in model.outward():
        if chain and model.parent[i] != chain[-1]:
            raise AssertionError("a folded body has one child, the next body")
        chain.append(i)
        if i in kept or len(chain) == MOST_FREEDOMS or not _is_link_of_chain(model, i):
            found[i] = _place(model, tuple(chain), features, shown)
            chain = []
    return found


def _is_link_of_chain(model, i: int) -> bool:
    """Whether a body is one that our reader makes for all joints of a body but its last."""
    if list(model.children(i)) != [i + 1]:
        return False
    kind, after, last = type(model.joints[i]), type(model.joints[i + 1]), i + 1
    while len(model.children(last)) == 1 and model.body_names[last].endswith(f"/{model.joint_name(last)}"):
        last = model.children(last)[0]
    if model.body_names[i] != f"{model.body_names[last]}/{model.joint_name(i)}" or not {kind, after} <= IN_CHAINS:
        return False
    if kind is joints.Spherical and after is not joints.Prismatic:
        return False
    return _reference(model, i + 1) is not None


def _place(model, chain: tuple[int, ...], features: UnsupportedFeatures, shown: np.ndarray | None) -> Place:
    own = model.frames[chain[-1]]
    shift = np.array(own.p_BF)
    # A reader takes the anchor of the last joint that has one; slides and free joints have none.
    anchored = any(type(model.joints[i]) in ANCHORED for i in chain)
    spare = not np.array_equal(own.R_BF, np.eye(3)) or (shift.any() and not anchored)
    if spare:
        shift = np.zeros(3)
    parts: list[Part] = []
    anchor = 0.0 - shift
    for i in reversed(chain):
        single = _is_single(model.joints[i])
        at = float(shown[model.q_slice[i]][0]) if single and shown is not None else 0.0
        ref = at if i == chain[0] else _reference(model, i)
        if abs(ref - at) <= SAME * max(1.0, abs(at)):
            ref = at  # to the last bit
        parts[:0] = _parts(model, i, anchor, ref, features)
        if i != chain[0] and type(model.joints[i]) is not joints.Prismatic:
            anchor = anchor - pose_of_transform(model.X_T[i])[1]
    R, p = pose_of_transform(model.X_T[chain[0]])
    if parts and parts[0].kind == "hinge" and parts[0].ref:
        R = R @ rotation_about(parts[0].axis, parts[0].ref)
    return Place(chain[-1], chain, tuple(parts), shift, R, p, spare)


def _reference(model, i: int) -> float | None:
    """MuJoCo's ``ref`` of a joint inside a chain: the value that cancels the offset before it; None if none does."""
    joint, (R, p) = model.joints[i], pose_of_transform(model.X_T[i])
    if type(joint) is joints.Revolute:
        n = np.array(joint.axis)
        cross = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        ref = -math.atan2(0.5 * (n @ cross), 0.5 * (np.trace(R) - 1.0)) + 0.0
        return ref if np.abs(rotation_about(n, -ref) - R).max() <= SAME else None
    if not np.array_equal(R, np.eye(3)):
        return None
    if type(joint) is joints.Prismatic:
        ref = float(-(p @ joint.axis)) + 0.0
        return ref if np.abs(p + ref * np.array(joint.axis)).max() <= SAME * max(1.0, abs(ref)) else None
    return 0.0


def _parts(model, i: int, anchor: np.ndarray, ref: float, features: UnsupportedFeatures) -> list[Part]:
    joint, name, q, v = model.joints[i], model.joint_name(i), model.q_slice[i], model.v_slice[i]
    if type(joint) is joints.Free and model.parent[i] != 0:
        raise features.refuse(f"joint {name!r} is free and not on the world, as MuJoCo requires", joint=name)
    if type(joint) in (joints.Free, joints.Spherical):
        return [Part("free" if type(joint) is joints.Free else "ball", name, None, anchor, i, q, v)]
    row = _in_a_row(joint)
    if not row and type(joint) is not joints.Fixed:
        raise features.refuse(
            f"joint {name!r} is {joint!r}; MuJoCo has hinge, slide, ball and free joints, and joints made of hinges "
            "and slides in a row",
            joint=name,
        )
    if _is_single(joint):
        return [Part(kind, name, axis, anchor, i, q, v, ref) for kind, axis, _ in row]
    if row:
        message = f"{joint.kind}: written as {len(row)} joints, {name}_1 and so on; {_order(joint, row)}"
        features.note(f"joint {name!r}", message, "warning")
    return [
        Part(kind, f"{name}_{k}", axis, anchor, i, *(slice(s.start + at, s.start + at + 1) for s in (q, v)))
        for k, (kind, axis, at) in enumerate(row, start=1)
    ]


def _order(joint, row) -> str:
    """Message about the coordinates of a joint that is written as several."""
    order = [at for *_, at in row]
    if order == sorted(order):
        return "q and v stay the same"
    names = ", ".join(joint.position_names[at] for at in order)
    planar = type(joint) is joints.Planar
    return f"q has the order {names}, and v is its rate" if planar else f"q and v have the order {names}"


def _is_single(joint) -> bool:
    """Whether a joint is one hinge or slide, reversed or not."""
    return type(joint.joint if type(joint) is joints.Reversed else joint) in (joints.Revolute, joints.Prismatic)


def _in_a_row(joint) -> list[tuple[str, Sequence[float], int]]:
    """Type, axis and coordinate of the hinges and slides in a row that a joint amounts to; none if it does not."""
    in_plane, turn = [("slide", X, 1), ("slide", Y, 2)], [("hinge", Z, 0)]
    match type(joint):
        case joints.Revolute:
            return [("hinge", joint.axis, 0)]
        case joints.Prismatic:
            return [("slide", joint.axis, 0)]
        case joints.Reversed if _is_single(joint):  # it goes the other way
            return [(kind, tuple(-x for x in axis), at) for kind, axis, at in _in_a_row(joint.joint)]
        case joints.Cylindrical:
            return [("hinge", joint.axis, 0), ("slide", joint.axis, 1)]
        case joints.Universal | joints.SphericalEuler:
            return [("hinge", (X, Y, Z)[axis], k) for k, axis in enumerate(joint.axes)]
        case joints.Planar:  # first the position in the plane, in axes that stand still
            return in_plane + turn
        case joints.PlanarSplit:
            return in_plane + turn if joint.first == "translation" else turn + in_plane
        case joints.Translational:
            return [("slide", axis, k) for k, axis in enumerate((X, Y, Z))]
        case joints.Composite:
            # The v of a planar joint is not the rate of its coordinates.
            rows = [[] if type(part) is joints.Planar else _in_a_row(part) for part in joint.joints]
            starts = accumulate((part.nq for part in joint.joints), initial=0)
            shifted = [[(kind, axis, k + at) for kind, axis, at in row] for k, row in zip(starts, rows, strict=False)]
            return sum(shifted, []) if all(rows) else []
    return []


# Springs, friction and limits -------------------------------------------------------------------------------------


def settle_physics(model, features: UnsupportedFeatures, elements) -> None:
    """Add the passive physics that MJCF does not support to the features, with the force elements that are left."""
    features.add_parts(elements)
    for i in model.outward():
        joint, v, q = model.joints[i], model.v_slice[i], model.q_slice[i]
        where = f"joint {model.joint_name(i)!r}"
        for what in ("limit_stiffness", "limit_damping"):
            if np.any(getattr(model, what)[v]):
                features.add(f"{what.replace('limit_', 'stop ')} of a constant value", where)
        for what in UNIFORM:
            values, words = getattr(model, what)[v], what.replace("_", " ")
            if not np.any(values):
                continue
            if type(joint) is joints.Free and what != "damping":
                features.add(f"{words} of free joints in body axes", where)
            elif type(joint) is joints.Planar:
                features.add(f"{words} of planar joints in body axes", where)
            elif joint.nq != joint.nv and np.any(values != values[0]):
                features.add(f"{words} that differs among the freedoms of a joint", where)
        if not np.array_equal(model.spring_reference[q], np.array(joint.neutral())):
            if not np.any(model.stiffness[v]):
                features.note(where, "reference of a spring without stiffness left out")
            elif joint.nq != joint.nv:
                features.add("springs of ball joints that are relaxed elsewhere than in the neutral position", where)
        if np.any(np.isfinite(model.velocity_limit[v])):
            features.omit("velocity limits", where)
        effort = model.effort_limit[v]
        if np.any(np.isfinite(effort)) and (joint.nv != 1 or effort[0] == 0.0):
            features.omit("effort limits of zero or of several freedoms", where)


def joint_attributes(model, part: Part, features: UnsupportedFeatures) -> dict[str, str]:
    """The attributes of a joint beside its geometry."""
    v, found = part.v, {}
    joint, single = model.joints[part.body], part.kind in ("hinge", "slide")
    for what, name in UNIFORM.items():
        x = float(getattr(model, what)[v][0])
        if not x or type(joint) is joints.Planar or (part.kind == "free" and what != "damping"):
            continue
        found[name] = number_text(x)
        if what == "stiffness" and single and (reference := float(model.spring_reference[part.q][0])):
            found["springref"] = number_text(reference)
    if single:
        low, high, effort = (float(values[v][0]) for values in (model.lower, model.upper, model.effort_limit))
        if low == high:
            features.add("limits without room between them", f"joint {part.name!r}")
        else:
            found |= range_attributes("", (low, high))
        name = model.joint_name(part.body)
        ranges = {x.joint: (x.lower, x.upper) for x in model.equipment.force_ranges}
        if name in ranges and joint.nv == 1:
            found |= range_attributes("actuatorfrc", ranges[name])
        elif effort > 0.0 and joint.nv == 1 and not model.actuators:  # of which it would clamp the forces
            found |= range_attributes("actuatorfrc", (-effort, effort))
        elif 0.0 < effort < np.inf and joint.nv == 1:
            features.omit("effort limits of joints beside actuators", f"joint {part.name!r}")
    elif part.kind == "ball":
        name = model.joint_name(part.body)
        limits = [c for c in model.equalities if isinstance(c, RotationLimit) and c.joint == name and c.active]
        if limits:
            limit = min(limits, key=lambda c: c.angle)
            found |= range_attributes("", (0.0, limit.angle))
            if limit.softness is not None:
                found["solreflimit"] = numbers_text(limit.softness.solref)
                found["solimplimit"] = numbers_text(limit.softness.solimp)
    return found


def range_attributes(what: str, limits: tuple[float, float]) -> dict[str, str]:
    """``whatlimited`` and ``whatrange``, if there are limits."""
    if not np.any(np.isfinite(limits)):
        return {}
    return {f"{what}limited": "true", f"{what}range": numbers_text(limits)}
