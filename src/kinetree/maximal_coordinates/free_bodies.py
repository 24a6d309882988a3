"""Models whose bodies all move freely and whose joints all close loops.

The velocities of such a model are the twists of its bodies in body coordinates, its mass matrix is block diagonal, and
the rows of its constraints are those of all joints. So force elements, constraints and kinematics are computed by the
same code in both kinds of coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from kinetree.algorithms.gears import without_gears
from kinetree.arguments import number, refuse, text
from kinetree.constraints import LoopJoint
from kinetree.constraints.contract import BOX, EQUALITY
from kinetree.constraints.redundancy import LoopRows
from kinetree.errors import ConstraintError, ModelError, UnsupportedError
from kinetree.forces.contract import JointForce
from kinetree.joints import Free
from kinetree.model import Model
from kinetree.model.builder import ModelBuilder, as_transform
from kinetree.model.loop_joints import check_coordinate
from kinetree.model.validation import central_inertia
from kinetree.spatial import Inertia, Symmetric3
from kinetree.spatial.rotations import quaternion_from_rotation
from kinetree.surgery.trees import retree

WORLD = "world"
NEARLY_NOTHING = 1e-40  # [kg, kg m^2]
NO_EQUIPMENT = dict.fromkeys(("actuators", "tendons", "keyframes", "force_ranges"), ())


@dataclass(frozen=True)
class Body:
    """A rigid body of a system in maximal coordinates.

    Parameters
    ----------
    name : str
    mass : float
        Not negative [kg]. A body without mass is held by its joints: no motion of it alone may be left.
    com : (3,) array
        Center of mass in body coordinates [m]. The origin may be anywhere in the body.
    inertia : (3,), (6,) or (3, 3) array
        About the center of mass, axes of the body [kg m^2]: principal moments, (xx, yy, zz, xy, xz, yz), or a matrix.
    pose : Transform, (xyz, rpy), (R, p) or (4, 4) array
        Of the body in the world at the start [m, rad].
    frames : mapping of str to pose
        Further frames, by their poses in the body: ends of joints and of force elements [m, rad].
    """

    name: str
    mass: float
    com: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: object = (0.0, 0.0, 0.0)
    pose: object = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    frames: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        text("Body: name", self.name, "the name of a body")
        object.__setattr__(self, "mass", number(f"Body {self.name!r}: mass", self.mass))


def built(bodies: Sequence[Body], joints: Sequence[LoopJoint], gravity, forces, frames) -> tuple[Model, list[Inertia]]:
    """The model of free bodies that is put together by hand, and their inertias; ``frames`` are those of the world."""
    b, inertias = ModelBuilder("bodies", gravity=gravity), []
    for body in bodies:
        b.add_body(
            body.name, WORLD, Free(), f"pose of {body.name}",
            mass=body.mass, com=body.com, inertia=body.inertia,
        )  # fmt: skip
        record = b._bodies[body.name]
        inertias.append(record.inertia)
        record.inertia = regular(record.inertia)
        for frame, pose in body.frames.items():
            b.add_frame(frame, body.name, pose)
    for frame, pose in frames.items():
        b.add_frame(frame, WORLD, pose)
    return b.build().with_constraints(*joints).with_forces(*forces), inertias


def start(model: Model, bodies: Sequence[Body]) -> np.ndarray:
    """The positions of the bodies at the poses that they were given."""
    q = model.neutral()
    for i, body in enumerate(bodies, start=1):
        X = as_transform(f"Body {body.name!r}: pose", body.pose)
        q[model.q_slice[i]] = [*X.r, *quaternion_from_rotation(X.E)]
    return q


def freed(model: Model) -> tuple[Model, list[Inertia]]:
    """The model of the same bodies, all free, whose joints all close loops; and the inertias of the bodies.

    Gears and actuators' delivered forces are left to the system.

    Raises
    ------
    UnsupportedError
        The model has parts that have no maximal form yet.
    """
    _refuse(model)
    inertias = [model.I[i] for i in model.outward()]
    poses = [  # of the coordinates of the bodies, whose frames may be elsewhere in them
        LoopJoint(f"pose of {name}", Free(), WORLD, name, X_S=model.frame(name).X_FB.inverse())
        for name in model.body_names[1:]
    ]
    laws = [force for force in model.forces if not (force.commanded or _in_joint(force))]
    laws = [replace(law, armature=0.0) if any(law is each for each in model.armatures) else law for law in laws]
    rows = [c for c in model.constraints if not (c.joints or isinstance(c, LoopJoint)) and c.row_kind == EQUALITY]
    equipment = replace(model.equipment, equalities=(), **NO_EQUIPMENT)
    none = {"armature": 0.0, "lower": -np.inf, "upper": np.inf, "velocity_limit": np.inf, "effort_limit": np.inf}
    bare = without_gears(model).replace(constraints=rows, equipment=equipment)
    bare = bare.replace(forces=laws, I=[model.I[0], *map(regular, inertias)], **none)
    bare = bare.replace(equipment=replace(bare.equipment, loops=[_unbounded(x, model) for x in bare.equipment.loops]))
    try:
        bodies = bare.with_constraints(*poses)
        bodies = retree(bodies, keep=[loop.name for loop in poses], chords=model.joint_names)
    except ModelError as failure:
        raise UnsupportedError(f"maximal: model {model.name!r} has no form in maximal coordinates: {failure}") from None
    held = {name for name, loop in bodies.loop_joints() if _has_coordinates(loop)}
    if free := [name for name in model.joint_names if name not in held]:
        raise UnsupportedError(
            f"maximal: model {model.name!r} has no form in maximal coordinates: its joint {free[0]!r} "
            f"({model.joints[model.joint(free[0])]!r}) has no implicit form: its motions are dependent, or it moves "
            "with time between its freedoms. Take another joint, or give the moving frame a body of its own"
        )
    return bodies, inertias


def _in_joint(force) -> bool:
    """Whether a law is one of a joint of the tree: it acts along the rates of its coordinates."""
    return isinstance(force, JointForce) or bool(force.joint_kind)


def _has_coordinates(loop: LoopJoint) -> bool:
    try:
        check_coordinate(loop.joint)
    except UnsupportedError:
        return False
    return True


def _unbounded(loop: LoopJoint, model: Model) -> LoopJoint:
    """A loop joint without the parameters whose laws rows with bounds replace."""
    bounds = [c for c in model.constraints if c.replaces_in_loops and (not c.of or loop.name in c.of)]
    return replace(loop, **{c.replaces_in_loops: 0.0 for c in bounds}) if bounds else loop


def with_rows(model: Model, kept: Sequence[int]) -> Model:
    """A copy whose rows are chosen, so that no search at closed positions is made for them."""
    made = model.replace(name=model.name)
    made._set(_loop_rows=LoopRows(tuple(kept), MappingProxyType({}), MappingProxyType({})))
    return made


def coupled(model: Model) -> Model | None:
    """The model with its constraints between coordinates of joints alone; None if there are none."""
    rows = tuple(c for c in model.constraints if c.joints and c.row_kind == EQUALITY)
    bare = without_gears(model).replace(constraints=rows)
    return bare.replace(equipment=replace(bare.equipment, loops=(), equalities=())) if rows else None


def with_joint_forces(model: Model) -> Model | None:
    """The model with the springs, dampers and stops of its joints alone; None if there are none."""
    laws = [force for force in model.forces if _in_joint(force)]
    equipment = replace(model.equipment, loops=(), equalities=(), **NO_EQUIPMENT)
    bounds = [c for c in model.constraints if c.replaces]  # whose laws take the place of such forces
    bare = without_gears(model).replace(constraints=bounds, equipment=equipment)
    return bare.replace(forces=laws) if laws else None


def _refuse(model: Model) -> None:
    found = [*model.unsupported, *(f"the {c}" for c in model.constraints if c.row_kind not in (EQUALITY, BOX))]
    if found:
        raise UnsupportedError(
            f"maximal: model {model.name!r} has parts without a form in maximal coordinates: {'; '.join(found)}. "
            "Take them away, for example by model.replace(constraints=())."
        )


def regular(I: Inertia) -> Inertia:
    """The inertia, with 1e-8 of its largest moment about every axis where it is singular, as that of a thin rod.

    Models refuse free bodies without inertia about an axis. Equal moments about all axes add no gyroscopic force and no
    weight, so forces are exact; bodies without mass get one whose forces are far below rounding. The equation of motion
    takes the inertia as it is.
    """
    if I.m == 0.0:
        return Inertia(NEARLY_NOTHING, I.h, Symmetric3(*(x * NEARLY_NOTHING for x in (1.0, 0.0, 1.0, 0.0, 0.0, 1.0))))
    moments = np.linalg.eigvalsh(central_inertia(I))
    if moments[0] > 1e-8 * moments[2]:
        return I
    e = 1e-8 * (max(np.diag(I.matrix())[:3]) or I.m)
    return Inertia(I.m, I.h, I.I + Symmetric3(e, 0.0, e, 0.0, 0.0, e))


def redundant(names: Sequence[str], who: str) -> ConstraintError:
    """The error about rows that others imply."""
    return ConstraintError(
        f"{who}: the constraints are over-determined: {', '.join(names)} follow{'s' * (len(names) == 1)} from the "
        "others. Take a joint of more freedoms there, or System(..., redundant='drop').",
        rows=tuple(names),
    )


def checked_bodies(bodies) -> list[Body]:
    """Bodies, with different names."""
    found = list(bodies) if not isinstance(bodies, (str, bytes)) and hasattr(bodies, "__iter__") else [bodies]
    for body in found:
        if not isinstance(body, Body):
            refuse("System: bodies", body, "a sequence of kt.maximal_coordinates.Body")
    return found


def checked_joints(joints) -> list[LoopJoint]:
    """Loop joints, all held."""
    found = list(joints) if not isinstance(joints, (str, bytes)) and hasattr(joints, "__iter__") else [joints]
    for joint in found:
        if not isinstance(joint, LoopJoint):
            refuse("System: joints", joint, "a sequence of kt.constraints.LoopJoint")
    return found
