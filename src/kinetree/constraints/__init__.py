"""Constraints of a model: conditions on its velocities besides its joints, as data."""

from kinetree.constraints.contract import Constraint
from kinetree.constraints.coupling import Coupling
from kinetree.constraints.joint_bounds import HardLimits, StickingFriction
from kinetree.constraints.lock import Lock
from kinetree.constraints.loop_joint import LoopJoint
from kinetree.constraints.prescribed_motion import PrescribedMotion
from kinetree.constraints.registry import CONSTRAINTS, register
from kinetree.state_kinematics import Kinematics

__all__ = [
    "CONSTRAINTS", "Constraint", "Coupling", "HardLimits", "Kinematics", "Lock", "LoopJoint", "PrescribedMotion",
    "StickingFriction", "register",
]  # fmt: skip
