"""Constraints of a model: conditions on its velocities besides its joints, as data."""

from kinetree.constraints.contract import Constraint
from kinetree.constraints.coupling import Coupling
from kinetree.constraints.distance import Distance
from kinetree.constraints.explicit_constraint import ExplicitConstraint
from kinetree.constraints.guided_point import PointOnCurve, PointOnSurface
from kinetree.constraints.joint_bounds import HardLimits, StickingFriction
from kinetree.constraints.linear_coupling import LinearCoupling
from kinetree.constraints.lock import Lock
from kinetree.constraints.loop_bounds import HardLoopLimits, StickingLoopFriction
from kinetree.constraints.loop_joint import LoopJoint
from kinetree.constraints.nearest_point import Parametric
from kinetree.constraints.polynomial_coupling import PolynomialCoupling
from kinetree.constraints.position_constraint import PositionConstraint
from kinetree.constraints.prescribed_motion import PrescribedMotion
from kinetree.constraints.registry import CONSTRAINTS, register
from kinetree.constraints.rolling import KnifeEdge, RollingBall, RollingDisk, RollingWheel
from kinetree.constraints.tendon_length import TendonLength
from kinetree.constraints.velocity_constraint import VelocityConstraint
from kinetree.state_kinematics import Kinematics

__all__ = [
    "CONSTRAINTS", "Constraint", "Coupling", "Distance", "ExplicitConstraint", "HardLimits", "HardLoopLimits",
    "Kinematics", "KnifeEdge", "LinearCoupling", "Lock", "LoopJoint", "Parametric", "PointOnCurve",
    "PointOnSurface", "PolynomialCoupling", "PositionConstraint", "PrescribedMotion", "RollingBall",
    "RollingDisk", "RollingWheel", "StickingFriction", "StickingLoopFriction", "TendonLength", "VelocityConstraint",
    "register",
]  # fmt: skip
