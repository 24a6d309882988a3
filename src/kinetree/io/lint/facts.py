"""Input of lint's checks: bodies and joints in plain numbers, from any format or model."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np

from kinetree.io.xml.reader import Node
from kinetree.model import Model
from kinetree.model.parts import Geometry, pose_of_transform
from kinetree.model.validation import central_inertia


@dataclass(frozen=True, slots=True)
class Place:
    """Line (None where the source has none) and path of an element; ``file`` where that is not the robot's own."""

    line: int | None
    element: str
    file: str | None = None

    @classmethod
    def of(cls, node: Node) -> Place:
        """The place of an element."""
        return cls(node.line, node.path, node.document.file)


@dataclass(frozen=True, slots=True, eq=False)
class BodyFacts:
    """Mass [kg], center of mass [m] and tensor about it [kg m^2] in the axes of the body; ``mass`` None: unreadable.

    ``shapes`` are posed in the body; a body without ``<inertial>`` has ``is_given`` False.
    """

    name: str
    mass: float | None
    com: np.ndarray
    I: np.ndarray
    is_given: bool
    shapes: tuple[Geometry, ...]
    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class JointFacts:
    """A joint from body ``parent`` (None: the world) to ``child``, with ``freedoms`` velocity variables.

    ``turns``: its variable is an angle. Limits are None where none is stated or the joint has several variables.
    """

    name: str
    parent: str | None
    child: str
    freedoms: int
    turns: bool
    offset: tuple[float, float, float]
    lower: float | None
    upper: float | None
    effort: float | None
    velocity: float | None
    place: Place
    limit_place: Place


@dataclass(frozen=True, slots=True)
class AngleFacts:
    """The angles in a file of one thing ("joint 'knee'"), in radians, or in degrees if the file has them."""

    what: str
    values: tuple[float, ...]
    place: Place
    degrees: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """All bodies and joints of a robot by name, and facts that only the file contains.

    ``joints`` stand parents first. ``names``: groups (kind, name, place) whose names must differ clearly.
    ``materials``: defined name to (place, whether it is used). ``idle``: drives that can do nothing, in words.
    """

    file: str
    bodies: dict[str, BodyFacts]
    joints: dict[str, JointFacts]
    names: tuple[tuple[str, str, Place], ...] = ()
    materials: dict[str, tuple[Place, bool]] = field(default_factory=dict)
    angles: tuple[AngleFacts, ...] = ()
    idle: tuple[tuple[str, Place], ...] = ()


def facts_of_model(model: Model, file: str, place: Callable[[str, str], Place], unjudged: Collection[str]) -> Facts:
    """The facts of any model.

    Parameters
    ----------
    model : Model
    file : str
    place : callable
        From kind ("body", "joint") and name to the place of an element.
    unjudged : collection of str
        Bodies whose mass is unknown.
    """
    bodies, joints = {}, {}
    for i in model.outward():
        name, I = model.body_names[i], model.I[i]
        mass = float(I.m)
        com = np.array(list(I.h), dtype=float) / mass if mass > 0.0 else np.zeros(3)
        shapes, known = tuple(model.geometry[i]), None if name in unjudged else mass
        bodies[name] = BodyFacts(name, known, com, central_inertia(I), mass > 0.0, shapes, place("body", name))
        joints[model.joint_name(i)] = _joint(model, i, place)
    names = tuple(
        (kind, name, place(kind, name))
        for kind, all_names in (("body", model.body_names[1:]), ("joint", model.joint_names))
        for name in all_names
    )
    return Facts(file, bodies, joints, names)


def _joint(model: Model, i: int, place: Callable[[str, str], Place]) -> JointFacts:
    joint, name = model.joints[i], model.joint_name(i)
    one = joint.nq == joint.nv == 1
    k = model.v_slice[i].start

    def limit(values) -> float | None:
        return float(values[k]) if one and math.isfinite(values[k]) else None

    here = place("joint", name)
    _, p = pose_of_transform(model.X_T[i])
    limits = (limit(values) for values in (model.lower, model.upper, model.effort_limit, model.velocity_limit))
    parent = model.body_names[model.parent[i]] if model.parent[i] > 0 else None
    turns = one and joint.position_units[0] == "rad"
    return JointFacts(name, parent, model.body_names[i], joint.nv, turns, tuple(p.tolist()), *limits, here, here)
