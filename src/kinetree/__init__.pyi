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
from kinetree.analysis.assemble import assemble as assemble
from kinetree.analysis.check_gradient import check_gradient as check_gradient
from kinetree.compiler.function import compile as compile
from kinetree.io.dh import dh as dh
from kinetree.compiler.derivative_functions import differentiate as differentiate
from kinetree.compiler.interpret import interpreted as interpreted
from kinetree.control.pose_search import inverse_kinematics as inverse_kinematics
from kinetree.io.lint.lint import lint as lint
from kinetree.io.load import load as load
from kinetree.maximal_coordinates.of_model import maximal as maximal
from kinetree.simulation.rollout import rollout as rollout
from kinetree.simulation.rollout_gradient import rollout_gradient as rollout_gradient
from kinetree.io.save import save as save
from kinetree.simulation.simulate import simulate as simulate
from kinetree.sweeps.sweep import sweep as sweep
from kinetree.verification.verify import verify as verify
from kinetree.viewer.live import view as view
from kinetree import centroidal as centroidal
from kinetree import closed_loops as closed_loops
from kinetree import collision as collision
from kinetree import compiler as compiler
from kinetree import constraints as constraints
from kinetree import contact as contact
from kinetree import control as control
from kinetree import conventions as conventions
from kinetree import data as data
from kinetree import deformables as deformables
from kinetree import dynamics as dynamics
from kinetree import environments as environments
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
from kinetree import maximal_coordinates as maximal_coordinates
from kinetree import model as model
from kinetree import models as models
from kinetree import muscles as muscles
from kinetree import redmax as redmax
from kinetree import regressors as regressors
from kinetree import scenes as scenes
from kinetree.simulation import signals as signals
from kinetree import simulation as simulation
from kinetree import sparse as sparse
from kinetree import spatial as spatial
from kinetree import surgery as surgery
from kinetree import sweeps as sweeps
from kinetree import tendons as tendons
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
    "assemble",
    "bias_forces",
    "center_of_mass",
    "centroidal",
    "check_gradient",
    "closed_loops",
    "collision",
    "compile",
    "compiler",
    "constraints",
    "contact",
    "control",
    "conventions",
    "coriolis_matrix",
    "crba",
    "data",
    "deformables",
    "dh",
    "difference",
    "differentiate",
    "dynamics",
    "environments",
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
    "inverse_kinematics",
    "io",
    "jacobian",
    "joints",
    "kinematics",
    "kinetic_energy",
    "liegroup",
    "lint",
    "load",
    "mass_matrix",
    "maximal",
    "maximal_coordinates",
    "model",
    "models",
    "momentum",
    "muscles",
    "normalize",
    "pose",
    "potential_energy",
    "q_dot",
    "redmax",
    "regressors",
    "rnea",
    "rnea_derivatives",
    "rollout",
    "rollout_gradient",
    "save",
    "scenes",
    "signals",
    "simulate",
    "simulation",
    "sparse",
    "spatial",
    "surgery",
    "sweep",
    "sweeps",
    "tendons",
    "textbook",
    "velocity",
    "verify",
    "view",
    "viz",
]

def aba(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the tree by the articulated-body algorithm.

    .. math:: a = M(q)^{-1} \bigl(\tau - c(q, v) + \sum_i J_i(q)^T f_i\bigr)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Joint forces [N m or N].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    """

class _aba_derivatives(NamedTuple):
    da_dq: NDArray[Any]
    da_dv: NDArray[Any]
    da_dtau: NDArray[Any]

def aba_derivatives(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _aba_derivatives:
    r"""Derivatives of forward dynamics with respect to position, velocity and joint forces.

    .. math:: da = \frac{\partial a}{\partial q}\,dq + \frac{\partial a}{\partial v}\,dv + M^{-1} d\tau

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Joint forces [N m or N].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin;
        constant there.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    da_dq : (..., nv, nv) array
        Column k is d/ds of ``aba(integrate(q, s e_k), v, tau)`` at s = 0 [1/s^2, m/(rad s^2) or 1/(m s^2)].
    da_dv : (..., nv, nv) array
        Derivative of joint accelerations with respect to v [1/s, m/s].
    da_dtau : (..., nv, nv) array
        The inverse of the mass matrix [1/(kg m^2), 1/kg].
    """


def acceleration(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], kind: Literal["spatial", "classical", "spatial_offset", "classical_offset"], out: Any | None = None) -> NDArray[Any]:
    r"""Acceleration of one frame, spatial or classical, true or less gravity.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    frame : str
        Name of the frame or body.
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    kind : {"spatial", "classical", "spatial_offset", "classical_offset"}
        Spatial or classical acceleration; ``_offset``: less gravity. See the notes of `body_accelerations`.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    A : (..., 6) array
        Acceleration [angular; linear], [rad/s^2, m/s^2].
    """


def bias_forces(model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that keep the tree from accelerating: gravity, Coriolis, centrifugal and external forces.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    c : (..., nv) array
        ``c(q, v)`` of the equation of motion ``M a + c = tau`` [N m or N].
    """


def center_of_mass(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Center of mass of all moving bodies.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    p_WC : (..., 3) array
        Position in world coordinates [m].
    """


def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Coriolis matrix C with ``C v`` the Coriolis and centrifugal forces and ``dM/dt = C + C^T``.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    C : (..., nv, nv) array
        Coriolis matrix [N m s, N s m or N s].
    """


def crba(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint-space inertia matrix by the composite-rigid-body algorithm.

    .. math:: T = \tfrac{1}{2} v^T M(q)\, v

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    M : (..., nv, nv) array
        Mass matrix [kg m^2, kg m or kg], full and symmetric, the armature on its diagonal.
    """


def difference(model: Model, q0: ArrayLike, q1: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""The shortest step that leads from one position to another.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q0 : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    q1 : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    dv : (..., nv) array
        Difference of positions, a velocity times a time [rad or m].
    """


@overload
def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, method: Literal["auto", "aba", "crba", "divide_and_conquer", "world", "inverse_inertias", "implicit_joints", "null_space", "partitioning", "pseudovelocities", "dense", "sparse", "clusters", "inverse_mass_products", "pivoted"] = "auto", out: Any | None = None) -> NDArray[Any]:
    r"""Accelerations under given actuator forces, with everything in the model.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Actuator forces [N m or N]; a force at a coupled joint acts on its master through the coupling.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    method : {"auto", "aba", "crba", "divide_and_conquer", "world", "inverse_inertias", "implicit_joints", "null_space", "partitioning", "pseudovelocities", "dense", "sparse", "clusters", "inverse_mass_products", "pivoted"}
        Which algorithm; see the notes.
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], method: Literal["auto", "aba", "crba", "divide_and_conquer", "world", "inverse_inertias", "implicit_joints", "null_space", "partitioning", "pseudovelocities", "dense", "sparse", "clusters", "inverse_mass_products", "pivoted"] = "auto", out: Any | None = None) -> tuple[NDArray[Any], ...]: ...

class _forward_kinematics(NamedTuple):
    R_WB: NDArray[Any]
    p_WB: NDArray[Any]

def forward_kinematics(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> _forward_kinematics:
    r"""Poses of all bodies.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    R_WB : (..., nb, 3, 3) array
        Orientation of each body in the world [1]: columns are the body's axes.
    p_WB : (..., nb, 3) array
        Position of each body's origin in world coordinates [m].
    """


def gravity_forces(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that hold the tree at rest against gravity.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    g : (..., nv) array
        Joint forces [N m or N], the gradient of the potential energy along the velocity directions.
    """

class _hybrid_dynamics(NamedTuple):
    a_all: NDArray[Any]
    tau_all: NDArray[Any]

@overload
def hybrid_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, forward: str | Sequence[str], multipliers: Literal[False] = False, method: Literal["aba", "crba", "recursive"] = "aba", out: Any | None = None) -> _hybrid_dynamics:
    r"""Accelerations of joints whose actuator force is known, and actuator forces of joints that move as prescribed.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Actuator forces [N m or N]; read for the joints in ``forward`` only, finite for all.
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2]; read for the joints not in ``forward`` only, finite for all.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    forward : sequence of str
        Names of the joints whose force is known (forward dynamics), the base's among them if it floats. Each
        choice is a function of its own. Joints that a coupling connects are all named or none.
    method : {"aba", "crba", "recursive"}
        Which algorithm; see the notes.
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a_all : (..., nv) array
        Accelerations of all joints, the given ones among them [rad/s^2 or m/s^2].
    tau_all : (..., nv) array
        Actuator forces of all joints, the given ones among them [N m or N]. Where a coupled joint moves as
        prescribed, its share appears at its master.
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def hybrid_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, forward: str | Sequence[str], multipliers: Literal[True], method: Literal["aba", "crba", "recursive"] = "aba", out: Any | None = None) -> tuple[NDArray[Any], ...]: ...


def integrate(model: Model, q: ArrayLike, dv: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Positions after a finite step along the manifold, exact for a constant velocity ``dv / time``.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    dv : (..., nv) array
        Difference of positions, a velocity times a time [rad or m].
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_next : (..., nq) array
        Positions after the step [rad or m; quaternions unit].
    """


@overload
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, weights: ArrayLike | None = None, t: ArrayLike | None = None, *, actuated: str | Sequence[str] | None = None, multipliers: Literal[False] = False, method: Literal["rnea", "world", "newton_euler"] = "rnea", out: Any | None = None) -> NDArray[Any]:
    r"""Forces that the actuators must exert for a given motion, with everything in the model.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    weights : (..., nv) array, optional
        Of the squared forces of actuators, positive [1, or 1/(N m)^2 and 1/N^2 where units are to agree].
        Default: 1.
    actuated : sequence of str or None
        Names of the joints with motors, or labels of velocities. Default: all joints. Each choice is compiled
        separately.
    method : {"rnea", "world", "newton_euler"}
        Which algorithm; see the notes.
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Actuator forces [N m or N]. A coupled joint has none of its own: its share appears at its master. In loops
        that need fewer motors than they have, those of the least norm.
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, weights: ArrayLike | None = None, t: ArrayLike | None = None, *, actuated: str | Sequence[str] | None = None, multipliers: Literal[True], method: Literal["rnea", "world", "newton_euler"] = "rnea", out: Any | None = None) -> tuple[NDArray[Any], ...]: ...


def jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Jacobian of a frame: its twist is ``J @ v``.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    frame : str
        Name of the frame or body.
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    J : (..., 6, nv) array
        Rows [angular; linear] [1 and m, or 1/m and 1 for sliding joints].
    """


def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> Any:
    r"""Kinetic energy, that of armatures and gears included.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    T : (...) array
        Kinetic energy [J].
    """


def mass_matrix(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, method: Literal["crba", "jacobians", "columns"] = "crba", out: Any | None = None) -> NDArray[Any]:
    r"""Mass matrix of the tree.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    method : {"crba", "jacobians", "columns"}
        Which algorithm; see the notes.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    M : (..., nv, nv) array
        Mass matrix [kg m^2, kg m or kg], full and symmetric, the armature on its diagonal.
    """


def momentum(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Spatial momentum of the bodies about the world's origin.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    h : (..., 6) array
        [angular; linear] momentum, world axes [kg m^2/s, kg m/s].
    """


def normalize(model: Model, q: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""The same positions with quaternions of unit length.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions (w, x, y, z), longer than 1e-8].
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_unit : (..., nq) array
        Positions with unit quaternions [rad or m].
    """

class _pose(NamedTuple):
    R_WF: NDArray[Any]
    p_WF: NDArray[Any]

def pose(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, out: Any | None = None) -> _pose:
    r"""Pose of one frame (a body's name is also the name of its frame).

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    frame : str
        Name of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    R_WF : (..., 3, 3) array
        Orientation of the frame in the world [1].
    p_WF : (..., 3) array
        Position of its origin in world coordinates [m].
    """


def potential_energy(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> Any:
    r"""Potential energy in the gravity field, zero when every mass is at the world's origin.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    V : (...) array
        Potential energy [J].
    """


def q_dot(model: Model, q: ArrayLike, v: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Time derivative of the positions, which differs from v for quaternions and free bodies.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_dot : (..., nq) array
        dq/dt [rad/s, m/s or 1/s].
    """


def rnea(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Inverse dynamics of the tree by the recursive Newton-Euler algorithm.

    .. math:: \tau = M(q)\,a + c(q, v) - \sum_i J_i(q)^T f_i

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Joint forces [N m or N].
    """

class _rnea_derivatives(NamedTuple):
    dtau_dq: NDArray[Any]
    dtau_dv: NDArray[Any]
    dtau_da: NDArray[Any]

def rnea_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _rnea_derivatives:
    r"""Derivatives of inverse dynamics with respect to position, velocity and acceleration.

    .. math:: d\tau = \frac{\partial\tau}{\partial q}\,dq + \frac{\partial\tau}{\partial v}\,dv + M\,da

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin;
        constant there.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    dtau_dq : (..., nv, nv) array
        Column k is d/ds of ``rnea(integrate(q, s e_k), v, a)`` at s = 0 [N m/rad, N m/m, N/rad or N/m].
    dtau_dv : (..., nv, nv) array
        Derivative of joint forces with respect to v [N m s, N s].
    dtau_da : (..., nv, nv) array
        The mass matrix M, the armature on its diagonal [kg m^2, kg m or kg].
    """


def velocity(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Twist of one frame.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    frame : str
        Name of the frame or body.
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    V : (..., 6) array
        Twist [angular; linear], [rad/s, m/s].
    """
