"""Force elements: laws of force on a model, as data that algorithms loop over."""

from kinetree.forces.contract import ForceElement, JointForce, Parameter, norm
from kinetree.forces.loop_forces import LoopMotor
from kinetree.forces.registry import (
    FORCES,
    BodyDamping,
    BoxDrag,
    Bushing,
    CubicTorsionBar,
    Damping,
    Drag,
    DryFriction,
    EllipsoidDrag,
    InverseSquareForce,
    Motor,
    Muscle,
    PointForce,
    PointSpring,
    RotationStop,
    SoftContact,
    SoftStop,
    Spring,
    TendonForce,
    register,
)

__all__ = [
    "FORCES", "BodyDamping", "BoxDrag", "Bushing", "CubicTorsionBar", "Damping", "Drag", "DryFriction",
    "EllipsoidDrag", "ForceElement", "InverseSquareForce", "JointForce", "LoopMotor", "Motor", "Muscle", "Parameter",
    "PointForce", "PointSpring", "RotationStop", "SoftContact", "SoftStop", "Spring", "TendonForce", "norm",
    "register",
]  # fmt: skip
