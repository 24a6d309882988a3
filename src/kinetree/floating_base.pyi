# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame


__all__ = [
    "coefficients",
    "forward_dynamics",
    "inverse_dynamics",
    "jacobian",
    "reduced_coefficients",
]
class _floating_base_coefficients(NamedTuple):
    I0c: NDArray[Any]
    F: NDArray[Any]
    H: NDArray[Any]
    p0c: NDArray[Any]
    C: NDArray[Any]

def coefficients(model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _floating_base_coefficients:
    r"""Coefficients of the equation of motion of a tree on a floating base.

    .. math:: \begin{bmatrix} I_0^c & F \\ F^T & H \end{bmatrix} \begin{bmatrix} a_0 \\ \ddot q \end{bmatrix}
       + \begin{bmatrix} p_0^c \\ C \end{bmatrix} = \begin{bmatrix} 0 \\ \tau \end{bmatrix}

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder; a free joint, the floating base, supports all other bodies.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)]; the pose of the base first.
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``; the twist of the base in its own
        coordinates first.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    I0c : (..., nv_base, nv_base) array
        Composite inertia of all bodies in base coordinates [kg m^2, kg m, kg].
    F : (..., nv_base, nv_joints) array
        Column k is the momentum that a unit velocity of joint k gives the tree while the base rests, base
        coordinates [kg m^2, kg m, kg].
    H : (..., nv_joints, nv_joints) array
        Mass matrix of the joints while the base rests [kg m^2, kg m or kg].
    p0c : (..., nv_base) array
        Wrench that keeps the base from accelerating at zero joint accelerations, base coordinates [N m, N].
    C : (..., nv_joints) array
        Joint forces of the same [N m or N].
    """

class _floating_base_forward_dynamics(NamedTuple):
    a_base: NDArray[Any]
    a_joints: NDArray[Any]

def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau_joints: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _floating_base_forward_dynamics:
    r"""Accelerations of a floating base and of its joints, by articulated bodies.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder; a free joint, the floating base, supports all other bodies.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)]; the pose of the base first.
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``; the twist of the base in its own
        coordinates first.
    tau_joints : (..., nv_joints) array
        Forces of the joints on the floating base [N m or N]; no force acts on the base but the external wrench.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a_base : (..., nv_base) array
        Spatial acceleration of the base in base coordinates [rad/s^2, m/s^2].
    a_joints : (..., nv_joints) array
        Accelerations of the joints on the floating base [rad/s^2 or m/s^2]; independent of gravity.
    """

class _floating_base_inverse_dynamics(NamedTuple):
    a_base: NDArray[Any]
    tau_joints: NDArray[Any]

def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a_joints: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _floating_base_inverse_dynamics:
    r"""Joint forces for given joint accelerations, and the acceleration that the floating base then has.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder; a free joint, the floating base, supports all other bodies.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)]; the pose of the base first.
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``; the twist of the base in its own
        coordinates first.
    a_joints : (..., nv_joints) array
        Accelerations of the joints on the floating base [rad/s^2 or m/s^2].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a_base : (..., nv_base) array
        Spatial acceleration of the base in base coordinates [rad/s^2, m/s^2].
    tau_joints : (..., nv_joints) array
        Forces of the joints on the floating base [N m or N].
    """


def jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Jacobian of a frame on a robot whose floating base recoils: the generalized Jacobian.

    .. math:: J^{fl} = J - (I_0^c)^{-1} F

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder; a free joint, the floating base, supports all other bodies.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)]; the pose of the base first.
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
    J_fl : (..., 6, nv_joints) array
        Rows [angular; linear] [1 and m, or 1/m and 1 for sliding joints]. Changes of joint velocities by impulses
        within the robot change the frame's twist by ``J_fl dqd``; with zero momentum ``J_fl qd`` is its twist.
    """

class _floating_base_reduced_coefficients(NamedTuple):
    H_fl: NDArray[Any]
    C_fl: NDArray[Any]

def reduced_coefficients(model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _floating_base_reduced_coefficients:
    r"""Coefficients of the joints' own equation of motion on a floating base, from which the base is eliminated.

    .. math:: H^{fl} \ddot q + C^{fl} = \tau, \qquad H^{fl} = H - F^T (I_0^c)^{-1} F, \qquad
       C^{fl} = C - F^T (I_0^c)^{-1} p_0^c

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder; a free joint, the floating base, supports all other bodies.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)]; the pose of the base first.
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``; the twist of the base in its own
        coordinates first.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    H_fl : (..., nv_joints, nv_joints) array
        Mass matrix of the joints on a free base [kg m^2, kg m or kg]; symmetric, positive definite, dense.
    C_fl : (..., nv_joints) array
        Joint forces that keep the joints from accelerating [N m or N]; independent of gravity.
    """
