"""How the bodies and joints of a model become those of an MJCF file.

MuJoCo puts several joints on one body, and the body's frame anywhere; our reader turns that into a chain of bodies
without mass, each at its joint, and a frame with the body's name. Here this is undone: a `Place` is one body of the
file, with all its joints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kinetree.io.unsupported_features import UnsupportedFeatures
from kinetree.joints import (
    Composite,
    Cylindrical,
    Fixed,
    Free,
    Planar,
    PlanarSplit,
    Prismatic,
    Reversed,
    Revolute,
    Spherical,
    SphericalEuler,
    Translational,
    Universal,
)
from kinetree.model.builder import rotation_of_quaternion
from kinetree.model.parts import pose_of_transform

X, Y, Z = np.eye(3).tolist()
MOST_FREEDOMS = 6
SAME = 1e-14  # of rotations, and of meters


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
    found: dict[int, Place] = {}
    chain: list[int] = []
    for i in model.outward():
        if chain and model.parent[i] != chain[-1]:
            raise AssertionError("a folded body has one child, the next body")
        chain.append(i)
        if len(chain) < MOST_FREEDOMS and _is_link_of_chain(model, i, referred):
            continue
        found[i] = _place(model, tuple(chain), features, shown)
        chain = []
    return found


def _is_link_of_chain(model, i: int, referred: set[str]) -> bool:
    """Whether a body is one that our reader makes for all joints of a body but its last."""
    name, children = model.body_names[i], model.children(i)
    if len(children) != 1 or children[0] != i + 1 or any((model.I[i].m, *model.I[i].h, *model.I[i].I)):
        return False
    if type(model.joints[i]) not in (Revolute, Prismatic, Spherical):
        return False
    last = i + 1
    while len(model.children(last)) == 1 and model.body_names[last].endswith(f"/{model.joint_name(last)}"):
        last = model.children(last)[0]
    if name != f"{model.body_names[last]}/{model.joint_name(i)}" or name in referred or model.geometry[i]:
        return False
    if not model.frames[i].is_identity or any(f.body == i for f in model.frames[model.nb :]):
        return False
    after = model.joints[i + 1]
    if type(after) not in (Revolute, Prismatic, Spherical):
        return False
    if _reference(model, i + 1) is None:
        return False
    return not (type(model.joints[i]) is Spherical and type(after) is not Prismatic)


def _place(model, chain: tuple[int, ...], features: UnsupportedFeatures, shown: np.ndarray | None) -> Place:
    body = chain[-1]
    own = model.frames[body]
    shift = np.array(own.p_BF)
    spare = not np.array_equal(own.R_BF, np.eye(3))
    if not spare and shift.any():
        # A reader takes the anchor of the last joint that has one; slides and free joints have none.
        turns = [i for i in chain if type(model.joints[i]) in (Revolute, Spherical, Universal, SphericalEuler)]
        spare = not turns
    if spare:
        shift = np.zeros(3)
    parts: list[Part] = []
    anchor = 0.0 - shift
    for i in reversed(chain):
        single = _single(model.joints[i]) is not None
        at = float(shown[model.q_slice[i]][0]) if single and shown is not None else 0.0
        ref = at if i == chain[0] else _reference(model, i)
        if abs(ref - at) <= SAME * max(1.0, abs(at)):
            ref = at  # to the last bit
        parts[:0] = _parts(model, i, anchor, ref, features)
        if i != chain[0] and type(model.joints[i]) is not Prismatic:
            anchor = anchor - pose_of_transform(model.X_T[i])[1]
    R, p = pose_of_transform(model.X_T[chain[0]])
    if parts and parts[0].kind == "hinge" and parts[0].ref:
        half = 0.5 * parts[0].ref
        R = R @ rotation_of_quaternion([math.cos(half), *(math.sin(half) * np.array(parts[0].axis))])
    return Place(body, chain, tuple(parts), shift, R, p, spare)


def _reference(model, i: int) -> float | None:
    """MuJoCo's ``ref`` of a joint inside a chain: what moves it back by the offset before it; None if none does."""
    joint, (R, p) = model.joints[i], pose_of_transform(model.X_T[i])
    if type(joint) is Revolute:
        n = np.array(joint.axis)
        cross = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        ref = -math.atan2(0.5 * (n @ cross), 0.5 * (np.trace(R) - 1.0)) + 0.0
        turned = rotation_of_quaternion([math.cos(0.5 * ref), *(-math.sin(0.5 * ref) * n)])
        return ref if np.abs(turned - R).max() <= SAME else None
    if not np.array_equal(R, np.eye(3)):
        return None
    if type(joint) is Prismatic:
        ref = float(-(p @ joint.axis)) + 0.0
        return ref if np.abs(p + ref * np.array(joint.axis)).max() <= SAME * max(1.0, abs(ref)) else None
    return 0.0


def _parts(model, i: int, anchor: np.ndarray, ref: float, features: UnsupportedFeatures) -> list[Part]:
    joint, name, q, v = model.joints[i], model.joint_name(i), model.q_slice[i], model.v_slice[i]
    if type(joint) is Fixed:
        return []
    if type(joint) is Free:
        if model.parent[i] != 0:
            raise features.refuse(f"joint {name!r} is free and not on the world, as MuJoCo wants it", joint=name)
        return [Part("free", name, None, anchor, i, q, v)]
    if type(joint) is Spherical:
        return [Part("ball", name, None, anchor, i, q, v)]
    single = _single(joint)
    if single is not None:
        return [Part(*single[:1], name, single[1], anchor, i, q, v, ref)]
    several = list(_several(joint))
    if not several:
        raise features.refuse(
            f"joint {name!r} is {joint!r}; MuJoCo has hinge, slide, ball and free joints, and what is made of hinges "
            "and slides in a row",
            joint=name,
        )
    features.note(
        f"joint {name!r}",
        f"{joint.kind}: written as {len(several)} joints, {name}_1 and so on; " + _order(joint, several),
        "warning",
    )
    return [
        Part(kind, f"{name}_{k + 1}", axis, anchor, i, slice(q.start + at, q.start + at + 1), _one(v.start + at))
        for k, (kind, axis, at) in enumerate(several)
    ]


def _order(joint, several) -> str:
    """What becomes of the coordinates of a joint that is written as several."""
    order = [at for *_, at in several]
    if order == sorted(order):
        return "q and v stay what they are"
    names = ", ".join(joint.position_names[at] for at in order)
    return f"q has the order {names}, and v is its rate" if type(joint) is Planar else f"q and v have the order {names}"


def _one(k: int) -> slice:
    return slice(k, k + 1)


def _single(joint) -> tuple[str, tuple[float, ...]] | None:
    """Type and axis of a joint of one freedom; a reversed one goes the other way."""
    if type(joint) is Reversed and type(joint.joint) in (Revolute, Prismatic):
        kind, axis = _single(joint.joint)
        return kind, tuple(-x for x in axis)
    kind = {Revolute: "hinge", Prismatic: "slide"}.get(type(joint))
    return kind and (kind, joint.axis)


def _several(joint) -> Iterator[tuple[str, list[float], int]]:
    """Type, axis and coordinate of the hinges and slides in a row that a joint amounts to."""
    if type(joint) is Cylindrical:
        yield "hinge", list(joint.axis), 0
        yield "slide", list(joint.axis), 1
    elif type(joint) in (Universal, SphericalEuler):
        for k, axis in enumerate(joint.axes):
            yield "hinge", [X, Y, Z][axis], k
    elif type(joint) is Planar:  # first the position in the plane, in axes that stand still
        yield "slide", X, 1
        yield "slide", Y, 2
        yield "hinge", Z, 0
    elif type(joint) is PlanarSplit:
        slides = (("slide", X, 1), ("slide", Y, 2))
        yield from (*slides, ("hinge", Z, 0)) if joint.first == "translation" else (("hinge", Z, 0), *slides)
    elif type(joint) is Translational:
        yield from (("slide", axis, k) for k, axis in enumerate((X, Y, Z)))
    elif type(joint) is Composite:
        parts = [_in_a_row(part) for part in joint.joints]
        starts = [sum(part.nq for part in joint.joints[:k]) for k in range(len(parts))]
        if all(parts):
            yield from ((kind, axis, start + at) for part, start in zip(parts, starts, strict=True)
                        for kind, axis, at in part)  # fmt: skip


def _in_a_row(part) -> list[tuple[str, list[float], int]]:
    """The hinges and slides of a part of a composite joint; none if its v is not the rate of their coordinates."""
    single = _single(part)
    if single is not None:
        return [(single[0], list(single[1]), 0)]
    return [] if type(part) is Planar else list(_several(part))
