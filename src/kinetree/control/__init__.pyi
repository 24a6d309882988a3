# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.predictive_control.cem import CEM as CEM
from kinetree.control.frame_impedance import CartesianImpedance as CartesianImpedance
from kinetree.control.joint_control import ComputedTorque as ComputedTorque
from kinetree.control.controller import Controller as Controller
from kinetree.control.decoupled import DecoupledControl as DecoupledControl
from kinetree.control.digital import Delayed as Delayed
from kinetree.control.frame_reference import FrameReference as FrameReference
from kinetree.control.tasks import FrameTask as FrameTask
from kinetree.control.two_arms import Held as Held
from kinetree.control.pose_search import InverseKinematics as InverseKinematics
from kinetree.control.pose_search import InverseKinematicsBatch as InverseKinematicsBatch
from kinetree.control.joint_control import JointImpedance as JointImpedance
from kinetree.control.reference import JointReference as JointReference
from kinetree.control.tasks import JointTask as JointTask
from kinetree.control.linear_quadratic import LinearQuadraticRegulator as LinearQuadraticRegulator
from kinetree.control.decoupled import LoadPosition as LoadPosition
from kinetree.control.decoupled import LoadTracking as LoadTracking
from kinetree.predictive_control.mppi import MPPI as MPPI
from kinetree.predictive_control.motion_cost import MotionCost as MotionCost
from kinetree.control.operational_space import OperationalSpace as OperationalSpace
from kinetree.control.operational_space import OperationalSpaceTerms as OperationalSpaceTerms
from kinetree.predictive_control.ilqr import OptimalMotion as OptimalMotion
from kinetree.control.joint_control import PDGravityCompensation as PDGravityCompensation
from kinetree.control.digital import Sampled as Sampled
from kinetree.predictive_control.controlled_rollout import SampledMotions as SampledMotions
from kinetree.predictive_control.sampling import SamplingReport as SamplingReport
from kinetree.control.digital import Sum as Sum
from kinetree.control.two_arms import TwoArms as TwoArms
from kinetree.control.grasp import grasp_wrenches as grasp_wrenches
from kinetree.predictive_control.ilqr import iLQR as iLQR
from kinetree.control.decoupled import load_difference as load_difference
from kinetree.control.decoupled import load_position as load_position
from kinetree.control.linear_quadratic import lqr as lqr
from kinetree.control.operational_space import operational_space_terms as operational_space_terms

__all__ = [
    "CEM",
    "CartesianImpedance",
    "ComputedTorque",
    "Controller",
    "DecoupledControl",
    "Delayed",
    "FrameReference",
    "FrameTask",
    "Held",
    "InverseKinematics",
    "InverseKinematicsBatch",
    "JointImpedance",
    "JointReference",
    "JointTask",
    "LinearQuadraticRegulator",
    "LoadPosition",
    "LoadTracking",
    "MPPI",
    "MotionCost",
    "OperationalSpace",
    "OperationalSpaceTerms",
    "OptimalMotion",
    "PDGravityCompensation",
    "Sampled",
    "SampledMotions",
    "SamplingReport",
    "Sum",
    "TwoArms",
    "cartesian_impedance",
    "computed_torque",
    "grasp_wrenches",
    "iLQR",
    "inverse_task_inertia",
    "joint_impedance",
    "load_difference",
    "load_position",
    "lqr",
    "operational_space_terms",
    "pd_gravity_compensation",
    "tracking_error",
]

def cartesian_impedance(model: Model, q: ArrayLike, v: ArrayLike, R_d: ArrayLike, p_d: ArrayLike, V_d: ArrayLike, frame_stiffness: ArrayLike, frame_damping: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, axes: Literal["world", "local"], actuated: str | Sequence[str] | None = None, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that give a frame a stiffness and a damping about a pose, and hold the weight.

    .. math:: \tau = J^T (B^T K e + D (V_r - V)) + \mathrm{ID}(q, 0, 0)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    R_d : (..., 3, 3) array
        Orientation of the frame's reference in the world [1].
    p_d : (..., 3) array
        Position of the frame's reference in the world [m].
    V_d : (..., 6) array
        Velocity of the frame's reference [angular; linear], world axes at its origin [rad/s, m/s].
    frame_stiffness : (..., 6, 6) array
        Symmetric, [angular; linear] [N m/rad, N/rad or N m/m, N/m].
    frame_damping : (..., 6, 6) array
        Symmetric, [angular; linear] [N m s/rad, N s/rad, N s/m].
    frame : str
        Name of the frame or body.
    axes : {"world", "local"}
        Axes of stiffness, damping and errors, at the frame's origin.
    actuated : sequence of str or None
        Names of the joints with motors, or labels of velocities. Default: all joints. Each choice is compiled
        separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Joint forces to apply [N m or N].
    """


def computed_torque(model: Model, q: ArrayLike, v: ArrayLike, q_d: ArrayLike, v_d: ArrayLike, a_d: ArrayLike, kp: ArrayLike, kd: ArrayLike, t: ArrayLike | None = None, *, actuated: str | Sequence[str] | None = None, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces under which the tracking error obeys a linear equation, by inverse dynamics.

    .. math:: \ddot e + K_d \dot e + K_p e = 0

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    q_d : (..., nq) array
        Positions of the reference [rad or m; quaternions unit, (w, x, y, z)].
    v_d : (..., nv) array
        Velocities of the reference [rad/s or m/s].
    a_d : (..., nv) array
        Accelerations of the reference [rad/s^2 or m/s^2].
    kp : (..., nv, nv) array
        Gain of the position error [1/s^2 where it gives accelerations, N m/rad or N/m].
    kd : (..., nv, nv) array
        Gain of its rate [1/s where it gives accelerations, N m s/rad or N s/m].
    actuated : sequence of str or None
        Names of the joints with motors, or labels of velocities. Default: all joints. Each choice is compiled
        separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Joint forces to apply [N m or N].
    """


def inverse_task_inertia(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""The inverse of the inertia of a frame as its environment feels it.

    .. math:: \Lambda^{-1} = J M^{-1} J^T

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
    Lambda_inv : (..., 6, 6) array
        Acceleration of the frame by a wrench on it [1/(kg m^2), 1/(kg m), 1/kg].
    """


def joint_impedance(model: Model, q: ArrayLike, v: ArrayLike, q_d: ArrayLike, v_d: ArrayLike, a_d: ArrayLike, stiffness: ArrayLike, damping: ArrayLike, t: ArrayLike | None = None, *, actuated: str | Sequence[str] | None = None, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that give the joints a stiffness and a damping about a moving reference, with their own inertia.

    .. math:: \tau = \mathrm{ID}(q, v, a_r) - C (v - v_r) + B^T K e + D (v_r - v)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    q_d : (..., nq) array
        Positions of the reference [rad or m; quaternions unit, (w, x, y, z)].
    v_d : (..., nv) array
        Velocities of the reference [rad/s or m/s].
    a_d : (..., nv) array
        Accelerations of the reference [rad/s^2 or m/s^2].
    stiffness : (..., nv, nv) array
        Symmetric [N m/rad or N/m].
    damping : (..., nv, nv) array
        Symmetric [N m s/rad or N s/m].
    actuated : sequence of str or None
        Names of the joints with motors, or labels of velocities. Default: all joints. Each choice is compiled
        separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Joint forces to apply [N m or N].
    """


def pd_gravity_compensation(model: Model, q: ArrayLike, v: ArrayLike, q_d: ArrayLike, v_d: ArrayLike, kp: ArrayLike, kd: ArrayLike, t: ArrayLike | None = None, *, actuated: str | Sequence[str] | None = None, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces of springs and dampers to a reference, and those that hold the position.

    .. math:: \tau = B^T K_p e + K_d (v_r - v) + \mathrm{ID}(q, 0, 0)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    q_d : (..., nq) array
        Positions of the reference [rad or m; quaternions unit, (w, x, y, z)].
    v_d : (..., nv) array
        Velocities of the reference [rad/s or m/s].
    kp : (..., nv, nv) array
        Gain of the position error [1/s^2 where it gives accelerations, N m/rad or N/m].
    kd : (..., nv, nv) array
        Gain of its rate [1/s where it gives accelerations, N m s/rad or N s/m].
    actuated : sequence of str or None
        Names of the joints with motors, or labels of velocities. Default: all joints. Each choice is compiled
        separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Joint forces to apply [N m or N].
    """

class _tracking_error(NamedTuple):
    e: NDArray[Any]
    e_dot: NDArray[Any]

def tracking_error(model: Model, q: ArrayLike, v: ArrayLike, q_d: ArrayLike, v_d: ArrayLike, *, out: Any | None = None) -> _tracking_error:
    r"""The step from the position to that of a reference, and its rate.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    q_d : (..., nq) array
        Positions of the reference [rad or m; quaternions unit, (w, x, y, z)].
    v_d : (..., nv) array
        Velocities of the reference [rad/s or m/s].
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    e : (..., nv) array
        ``difference(q, q_d)`` [rad or m].
    e_dot : (..., nv) array
        The rate of e [rad/s or m/s].
    """
