# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.contact.collisions import Collision as Collision
from kinetree.contact.accelerations import ContactAccelerations as ContactAccelerations
from kinetree.contact.problem import ContactProblem as ContactProblem
from kinetree.contact.solution import ContactSolution as ContactSolution
from kinetree.contact.impacts import Impact as Impact
from kinetree.contact.joint_friction import JointFrictionStep as JointFrictionStep
from kinetree.contact.joint_surfaces import JointSurface as JointSurface
from kinetree.contact.lcp import LCPSolution as LCPSolution
from kinetree.contact.quadratic import LeastConstraint as LeastConstraint
from kinetree.contact.solvers import METHODS as METHODS
from kinetree.contact.pile import Pile as Pile
from kinetree.contact.pile_run import PileContacts as PileContacts
from kinetree.contact.pile_run import PileRun as PileRun
from kinetree.contact.residuals import Residuals as Residuals
from kinetree.contact.problem import StepProblem as StepProblem
from kinetree.contact.collisions import collide as collide
from kinetree.contact.accelerations import contact_accelerations as contact_accelerations
from kinetree.contact.accelerations import contact_states as contact_states
from kinetree.contact.impacts import impact as impact
from kinetree.contact.joint_friction import joint_friction_step as joint_friction_step
from kinetree.contact.quadratic import least_constraint as least_constraint
from kinetree.contact.residuals import natural_map as natural_map
from kinetree.contact.lcp import solve_lcp as solve_lcp
from kinetree.contact.responses import strike as strike

__all__ = [
    "Collision",
    "ContactAccelerations",
    "ContactProblem",
    "ContactSolution",
    "Impact",
    "JointFrictionStep",
    "JointSurface",
    "LCPSolution",
    "LeastConstraint",
    "METHODS",
    "Pile",
    "PileContacts",
    "PileRun",
    "Residuals",
    "StepProblem",
    "collide",
    "contact_accelerations",
    "contact_states",
    "impact",
    "joint_friction_step",
    "least_constraint",
    "natural_map",
    "solve_lcp",
    "strike",
]
