"""Constraints of a model: conditions on its velocities besides its joints, as data."""

from kinetree.constraints.contract import Constraint
from kinetree.constraints.coupling import Coupling
from kinetree.constraints.kinematics import Kinematics
from kinetree.constraints.loop_joint import LoopJoint
from kinetree.constraints.registry import CONSTRAINTS, register

__all__ = ["CONSTRAINTS", "Constraint", "Coupling", "Kinematics", "LoopJoint", "register"]
