# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.redmax.constrained import Constrained as Constrained
from kinetree.redmax.rows import Rows as Rows
from kinetree.redmax.constrained import accelerations as accelerations
from kinetree.redmax.rows import model_rows as model_rows
from kinetree.redmax.rows import point_rows as point_rows
from kinetree.redmax.rows import prescribed as prescribed
from kinetree.redmax.constrained import velocities as velocities

__all__ = [
    "Constrained",
    "Rows",
    "accelerations",
    "equation",
    "hyper_reduced",
    "implicit_step",
    "jacobian",
    "jacobian_rate",
    "model_rows",
    "point_rows",
    "prescribed",
    "step",
    "velocities",
]
class _redmax_equation(NamedTuple):
    M_r: NDArray[Any]
    f_r: NDArray[Any]

def equation(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _redmax_equation:
    r"""The reduced equation of motion by the Jacobian from reduced to maximal coordinates.

    .. math:: M_r = J^T M_m J, \qquad f_r = J^T (f_m - M_m \dot J \dot q_r) + \tau

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
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    M_r : (..., nv, nv) array
        Reduced mass matrix [kg m^2, kg m or kg].
    f_r : (..., nv) array
        Reduced forces [N m or N]: ``M_r a = f_r``.
    """

class _redmax_hyper_reduced(NamedTuple):
    M_R: NDArray[Any]
    f_R: NDArray[Any]

def hyper_reduced(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, independent: str | Sequence[str] | None = None, out: Any | None = None) -> _redmax_hyper_reduced:
    r"""The equation of motion in the independent velocities of a model with constraints, by chained Jacobians.

    .. math:: J_{mR} = J_{mr} J_{rR}, \quad J_{mR}^T M_m J_{mR}\, \ddot q_R = J_{mR}^T (f_m - M_m \dot J_{mR} \dot q_R)

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
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    independent : sequence of str or None
        Names of joints, or labels of velocities, that determine all others. Default:
        ``model.independent_velocities()``. Each choice is compiled separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    M_R : (..., ny, ny) array
        Mass matrix of the hyper-reduced coordinates [kg m^2, kg m or kg].
    f_R : (..., ny) array
        Their forces [N m or N]: ``M_R y' = f_R`` with y the independent velocities.
    """

class _redmax_implicit_step(NamedTuple):
    q_next: NDArray[Any]
    v_next: NDArray[Any]

def implicit_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _redmax_implicit_step:
    r"""One step of linearly implicit Euler in reduced coordinates, with the stiffness and damping of joints and bodies.

    .. math:: (M_r + h D + h^2 K)\, \dot q_r^{+} = M_r \dot q_r + h (f_r + D \dot q_r)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Actuator forces during the step [N m or N].
    dt : (...) array
        Time step [s].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_next : (..., nq) array
        Positions after the step [rad or m; quaternions unit].
    v_next : (..., nv) array
        Velocities after the step [rad/s or m/s].
    """


def jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Jacobian from reduced to maximal coordinates: the twists of all bodies from the velocities of the joints.

    .. math:: \Phi = J_{mr}\, \dot q_r

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
    J : (..., nb, 6, nv) array
        Block i is the Jacobian of body i, ``Phi_i = J_i v`` its twist [angular; linear] in its own coordinates [1
        and m, or 1/m and 1]; block 0 is the world's and zero.
    """


def jacobian_rate(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Time derivative of the Jacobian from reduced to maximal coordinates.

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
    J_dot : (..., nb, 6, nv) array
        Rate of `redmax_jacobian`, component by component [1/s and m/s].
    """

class _redmax_step(NamedTuple):
    q_next: NDArray[Any]
    v_next: NDArray[Any]

def step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _redmax_step:
    r"""One step of semi-implicit Euler in reduced coordinates, without constraints.

    .. math:: M_r \dot q_r^{+} = M_r \dot q_r + h f_r, \qquad q_r^{+} = q_r \oplus h \dot q_r^{+}

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Actuator forces during the step [N m or N].
    dt : (...) array
        Time step [s].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_next : (..., nq) array
        Positions after the step [rad or m; quaternions unit].
    v_next : (..., nv) array
        Velocities after the step [rad/s or m/s].
    """
