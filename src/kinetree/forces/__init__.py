"""Force elements: laws of force on a model, as data that algorithms loop over."""

from kinetree.forces.contract import ForceElement, JointForce, Parameter, norm
from kinetree.forces.loop_forces import LoopMotor
from kinetree.forces.registry import (
    FORCES,
    CubicTorsionBar,
    Damping,
    DryFriction,
    Motor,
    PointSpring,
    SoftStop,
    Spring,
    register,
)

__all__ = [
    "FORCES", "CubicTorsionBar", "Damping", "DryFriction", "ForceElement", "JointForce", "LoopMotor", "Motor",
    "Parameter", "PointSpring", "SoftStop", "Spring", "norm", "register",
]  # fmt: skip
