# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.simulation.options import Checkpoint as Checkpoint
from kinetree.integrators.events import Event as Event
from kinetree.simulation.options import Inputs as Inputs
from kinetree.model.mechanism import MechanismBuilder as MechanismBuilder
from kinetree.model.model import Model as Model
from kinetree.model.builder import ModelBuilder as ModelBuilder
from kinetree.simulation.options import Record as Record
from kinetree.simulation.simulation import Simulation as Simulation
from kinetree.simulation.trajectory import Trajectory as Trajectory
from kinetree.analysis.accuracy import accuracy as accuracy
from kinetree.compiler.function import compile as compile
from kinetree.io.dh import dh as dh
from kinetree.compiler.derivative_functions import differentiate as differentiate
from kinetree.compiler.interpret import interpreted as interpreted
from kinetree.io.lint.lint import lint as lint
from kinetree.io.load import load as load
from kinetree.simulation.rollout import rollout as rollout
from kinetree.io.save import save as save
from kinetree.simulation.simulate import simulate as simulate
from kinetree.verification.verify import verify as verify
from kinetree import centroidal as centroidal
from kinetree import compiler as compiler
from kinetree import constraints as constraints
from kinetree.simulation import controllers as controllers
from kinetree import conventions as conventions
from kinetree import data as data
from kinetree import dynamics as dynamics
from kinetree import errors as errors
from kinetree import export as export
from kinetree import floating_base as floating_base
from kinetree import forces as forces
from kinetree import geometry as geometry
from kinetree import identify as identify
from kinetree import integrators as integrators
from kinetree import io as io
from kinetree import joints as joints
from kinetree import kinematics as kinematics
from kinetree import liegroup as liegroup
from kinetree import model as model
from kinetree.model import library as models
from kinetree import regressors as regressors
from kinetree.simulation import signals as signals
from kinetree import simulation as simulation
from kinetree import sparse as sparse
from kinetree import spatial as spatial
from kinetree import surgery as surgery
from kinetree import textbook as textbook
from kinetree import viz as viz

__version__: str

__all__ = [
    "Checkpoint",
    "Event",
    "Inputs",
    "MechanismBuilder",
    "Model",
    "ModelBuilder",
    "Record",
    "Simulation",
    "Trajectory",
    "aba",
    "aba_derivatives",
    "acceleration",
    "accuracy",
    "bias_forces",
    "center_of_mass",
    "centroidal",
    "compile",
    "compiler",
    "constraints",
    "controllers",
    "conventions",
    "coriolis_matrix",
    "crba",
    "data",
    "dh",
    "difference",
    "differentiate",
    "dynamics",
    "errors",
    "export",
    "floating_base",
    "forces",
    "forward_dynamics",
    "forward_kinematics",
    "geometry",
    "gravity_forces",
    "hybrid_dynamics",
    "identify",
    "integrate",
    "integrators",
    "interpreted",
    "inverse_dynamics",
    "io",
    "jacobian",
    "joints",
    "kinematics",
    "kinetic_energy",
    "liegroup",
    "lint",
    "load",
    "model",
    "models",
    "momentum",
    "normalize",
    "pose",
    "potential_energy",
    "q_dot",
    "regressors",
    "rnea",
    "rnea_derivatives",
    "rollout",
    "save",
    "signals",
    "simulate",
    "simulation",
    "sparse",
    "spatial",
    "surgery",
    "textbook",
    "velocity",
    "verify",
    "viz",
]

def aba(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the tree by the articulated-body algorithm.

    q (..., nq), v (..., nv), tau (..., nv), f_ext (..., nb, 6), a (..., nv)
    """

class _aba_derivatives(NamedTuple):
    da_dq: NDArray[Any]
    da_dv: NDArray[Any]
    da_dtau: NDArray[Any]

def aba_derivatives(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _aba_derivatives:
    r"""Derivatives of forward dynamics with respect to position, velocity and joint forces.

    q (..., nq), v (..., nv), tau (..., nv), f_ext (..., nb, 6), da_dq (..., nv, nv), da_dv (..., nv, nv), da_dtau (..., nv, nv)
    """


def acceleration(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], kind: Literal["spatial", "classical", "spatial_offset", "classical_offset"], out: Any | None = None) -> NDArray[Any]:
    r"""Acceleration of one frame, spatial or classical, true or less gravity.

    q (..., nq), v (..., nv), a (..., nv), A (..., 6)
    """


def bias_forces(model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that keep the tree from accelerating: gravity, Coriolis, centrifugal and external forces.

    q (..., nq), v (..., nv), f_ext (..., nb, 6), c (..., nv)
    """


def center_of_mass(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Center of mass of all moving bodies.

    q (..., nq), p_WC (..., 3)
    """


def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Coriolis matrix C with ``C v`` the Coriolis and centrifugal forces and ``dM/dt = C + C^T``.

    q (..., nq), v (..., nv), C (..., nv, nv)
    """


def crba(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint-space inertia matrix by the composite-rigid-body algorithm.

    q (..., nq), M (..., nv, nv)
    """


def difference(model: Model, q0: ArrayLike, q1: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""The shortest step that leads from one position to another.

    q0 (..., nq), q1 (..., nq), dv (..., nv)
    """


@overload
def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, out: Any | None = None) -> NDArray[Any]:
    r"""Accelerations under given actuator forces, with everything in the model.

    q (..., nq), v (..., nv), tau (..., nv), f_ext (..., nb, 6), a (..., nv)
    """
@overload
def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...

class _forward_kinematics(NamedTuple):
    R_WB: NDArray[Any]
    p_WB: NDArray[Any]

def forward_kinematics(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> _forward_kinematics:
    r"""Poses of all bodies.

    q (..., nq), R_WB (..., nb, 3, 3), p_WB (..., nb, 3)
    """


def gravity_forces(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that hold the tree at rest against gravity.

    q (..., nq), g (..., nv)
    """

class _hybrid_dynamics(NamedTuple):
    a_all: NDArray[Any]
    tau_all: NDArray[Any]

@overload
def hybrid_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, forward: str | Sequence[str], multipliers: Literal[False] = False, out: Any | None = None) -> _hybrid_dynamics:
    r"""Accelerations of joints whose actuator force is known, and actuator forces of joints that move as prescribed.

    q (..., nq), v (..., nv), tau (..., nv), a (..., nv), f_ext (..., nb, 6), a_all (..., nv), tau_all (..., nv)
    """
@overload
def hybrid_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, forward: str | Sequence[str], multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...


def integrate(model: Model, q: ArrayLike, dv: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Positions after a finite step along the manifold, exact for a constant velocity ``dv / time``.

    q (..., nq), dv (..., nv), q_next (..., nq)
    """


@overload
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, out: Any | None = None) -> NDArray[Any]:
    r"""Forces that the actuators must exert for a given motion, with everything in the model.

    q (..., nq), v (..., nv), a (..., nv), f_ext (..., nb, 6), tau (..., nv)
    """
@overload
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...


def jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Jacobian of a frame: its twist is ``J @ v``.

    q (..., nq), J (..., 6, nv)
    """


def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> Any:
    r"""Kinetic energy, that of armatures and gears included.

    q (..., nq), v (..., nv), T (...)
    """


def momentum(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Spatial momentum of the bodies about the world's origin.

    q (..., nq), v (..., nv), h (..., 6)
    """


def normalize(model: Model, q: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""The same positions with quaternions of unit length.

    q (..., nq), q_unit (..., nq)
    """

class _pose(NamedTuple):
    R_WF: NDArray[Any]
    p_WF: NDArray[Any]

def pose(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, out: Any | None = None) -> _pose:
    r"""Pose of one frame (a body's name is also the name of its frame).

    q (..., nq), R_WF (..., 3, 3), p_WF (..., 3)
    """


def potential_energy(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> Any:
    r"""Potential energy in the gravity field, zero when every mass is at the world's origin.

    q (..., nq), V (...)
    """


def q_dot(model: Model, q: ArrayLike, v: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Time derivative of the positions, which differs from v for quaternions and free bodies.

    q (..., nq), v (..., nv), q_dot (..., nq)
    """


def rnea(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Inverse dynamics of the tree by the recursive Newton-Euler algorithm.

    q (..., nq), v (..., nv), a (..., nv), f_ext (..., nb, 6), tau (..., nv)
    """

class _rnea_derivatives(NamedTuple):
    dtau_dq: NDArray[Any]
    dtau_dv: NDArray[Any]
    dtau_da: NDArray[Any]

def rnea_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _rnea_derivatives:
    r"""Derivatives of inverse dynamics with respect to position, velocity and acceleration.

    q (..., nq), v (..., nv), a (..., nv), f_ext (..., nb, 6), dtau_dq (..., nv, nv), dtau_dv (..., nv, nv), dtau_da (..., nv, nv)
    """


def velocity(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Twist of one frame.

    q (..., nq), v (..., nv), V (..., 6)
    """
