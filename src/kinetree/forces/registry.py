"""All kinds of force elements, by name: the built-in ones and those that users register."""

from __future__ import annotations

import dataclasses

from kinetree.errors import ModelError
from kinetree.forces.body_damping import BodyDamping
from kinetree.forces.box_drag import BoxDrag
from kinetree.forces.bushing import Bushing
from kinetree.forces.contract import ForceElement, JointForce
from kinetree.forces.cubic_torsion_bar import CubicTorsionBar
from kinetree.forces.damping import Damping
from kinetree.forces.drag import Drag
from kinetree.forces.dry_friction import DryFriction
from kinetree.forces.ellipsoid_drag import EllipsoidDrag
from kinetree.forces.inverse_square_force import InverseSquareForce
from kinetree.forces.motor import Motor
from kinetree.forces.muscle import Muscle
from kinetree.forces.point_force import PointForce
from kinetree.forces.point_spring import PointSpring
from kinetree.forces.rotation_stop import RotationStop
from kinetree.forces.soft_contact import SoftContact
from kinetree.forces.soft_stop import SoftStop
from kinetree.forces.spring import Spring
from kinetree.forces.tendon_force import TendonForce
from kinetree.kinds import enter

FORCES: dict[str, type[ForceElement]] = {}


def register(cls: type[ForceElement]) -> type[ForceElement]:
    """Enter a class of force elements into ``FORCES`` under its ``kind``, so that the tests cover it; a decorator.

    Unregistered elements work just as well in a model.

    Parameters
    ----------
    cls : subclass of ForceElement

    Raises
    ------
    ModelError
        If ``cls`` is not a class of force elements.
    DuplicateNameError
        If another class has this kind.
    """
    return enter(FORCES, ForceElement, cls, "force", ModelError)


def check_force(what: str, force: object) -> None:
    """Raise an error unless it is a force element that a model can have.

    Raises
    ------
    ModelError
    """
    joint = isinstance(force, JOINT_FORCES)
    if not joint and (isinstance(force, JointForce) or not isinstance(force, ForceElement)):
        raise ModelError(
            f"{what}: {force!r} is no force element: expected an instance of a class of kinetree.forces, or of a class "
            f"derived from kinetree.forces.ForceElement{', not a sequence' * isinstance(force, (list, tuple))}",
            found=force,
        )
    if not dataclasses.is_dataclass(force) or not (joint or isinstance(getattr(force, "name", None), str)):
        raise ModelError(
            f"{what}: {type(force).__name__} is not a dataclass with a field 'name'; put @dataclass(frozen=True) above "
            "the class",
            found=force,
        )


for _cls in (
    Damping, DryFriction, Spring, SoftStop, PointSpring, CubicTorsionBar, Motor, Bushing, PointForce, BodyDamping, Drag,
    BoxDrag, EllipsoidDrag, InverseSquareForce, Muscle, TendonForce, SoftContact, RotationStop,
):  # fmt: skip
    register(_cls)

# Kinds whose parameters are arrays of every model and arguments of ``ModelBuilder.add_body``, in the order in which
# their forces are added.
JOINT_FORCES: tuple[type[JointForce], ...] = tuple(cls for cls in FORCES.values() if issubclass(cls, JointForce))
PARAMETERS = {parameter.name: parameter for cls in JOINT_FORCES for parameter in cls.parameters}
VELOCITY_PARAMETERS = tuple(name for name, parameter in PARAMETERS.items() if not parameter.position)
# The first parameter of each kind that acts at all positions: its coefficient.
COEFFICIENTS = tuple(kind.parameters[0].name for kind in JOINT_FORCES if not kind.beyond_limits)
POSITION_PARAMETERS = tuple(name for name, parameter in PARAMETERS.items() if parameter.position)


def names_in(file_format: str) -> dict[str, str]:
    """Names of the parameters that a file format has: the file's name -> the model's."""
    named = ((getattr(parameter, file_format), name) for name, parameter in PARAMETERS.items())
    return {theirs: name for theirs, name in named if theirs}
