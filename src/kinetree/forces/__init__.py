"""Force elements: laws of force on a model, as data that algorithms loop over."""

from kinetree.forces.contract import ForceElement, JointForce, Parameter, norm
from kinetree.forces.cubic_torsion_bar import CubicTorsionBar
from kinetree.forces.damping import Damping
from kinetree.forces.dry_friction import FRICTION_VELOCITY, DryFriction
from kinetree.forces.motor import Motor
from kinetree.forces.point_spring import PointSpring
from kinetree.forces.registry import FORCES, register
from kinetree.forces.soft_stop import SoftStop
from kinetree.forces.spring import Spring

__all__ = [
    "FORCES", "FRICTION_VELOCITY", "CubicTorsionBar", "Damping", "DryFriction", "ForceElement", "JointForce",
    "Motor", "Parameter", "PointSpring", "SoftStop", "Spring", "norm", "register",
]  # fmt: skip
