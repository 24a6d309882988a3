# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.integrators.methods import ADAPTIVE as ADAPTIVE
from kinetree.integrators.methods import Adaptive as Adaptive
from kinetree.integrators.bdf import BDF as BDF
from kinetree.integrators.closure import Baumgarte as Baumgarte
from kinetree.integrators.event_driven import EventDriven as EventDriven
from kinetree.integrators.explicit import ExplicitRungeKutta as ExplicitRungeKutta
from kinetree.integrators.methods import FIXED_STEP as FIXED_STEP
from kinetree.integrators.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
from kinetree.integrators.linearly_implicit import LinearlyImplicit as LinearlyImplicit
from kinetree.integrators.rk4 import RungeKutta4 as RungeKutta4
from kinetree.integrators.semi_implicit import SemiImplicitEuler as SemiImplicitEuler
from kinetree.integrators.system import System as System
from kinetree.integrators.explicit import explicit_method as explicit_method

__all__ = [
    "ADAPTIVE",
    "Adaptive",
    "BDF",
    "Baumgarte",
    "EventDriven",
    "ExplicitRungeKutta",
    "FIXED_STEP",
    "GeneralizedAlpha",
    "LinearlyImplicit",
    "RungeKutta4",
    "SemiImplicitEuler",
    "System",
    "bdf1_step",
    "contact_step",
    "explicit_method",
    "implicit_midpoint_step",
    "linearly_implicit_step",
    "rk4_step",
    "semi_implicit_step",
    "variational_step",
]
class _bdf1_step(NamedTuple):
    q_next: NDArray[Any]
    v_next: NDArray[Any]

@overload
def bdf1_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[False] = False, out: Any | None = None) -> _bdf1_step:
    r"""One step of implicit Euler under constant forces, by a fixed number of Newton corrections.

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
    x_next : bool
        Whether to give x_next, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_next : (..., nq) array
        Positions after the step [rad or m; quaternions unit].
    v_next : (..., nv) array
        Velocities after the step [rad/s or m/s]; infinite where the corrections have not converged (the last one
        above 1e-3 of the speed), so that no inaccurate result is used.
    x_next : (..., nx) array, on request
        Internal states of force elements after the step [as the elements define them].
    """
@overload
def bdf1_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...

class _contact_step(NamedTuple):
    q_next: NDArray[Any]
    v_next: NDArray[Any]
    impulses_next: NDArray[Any]

@overload
def contact_step(model: Model, q: ArrayLike, v: ArrayLike, impulses: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, residuals: Literal[False] = False, out: Any | None = None) -> _contact_step:
    r"""One step of time stepping: contacts, joint limits, dry friction and loops as one problem.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    impulses : (..., n_impulses) array
        First guess, those of the last step or zeros [N s or N m s]: (t1, t2, n) of each contact, then one of each
        bounded row.
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
    residuals : bool
        Whether to give residuals, too.
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
    impulses_next : (..., n_impulses) array
        Impulses of the step [N s or N m s], on the second bodies of contact pairs.
    residuals : (..., n_residuals) array, on request
        Distance of the step from the laws of each contact, then of each bounded row: natural maps [m/s or rad/s].
    """
@overload
def contact_step(model: Model, q: ArrayLike, v: ArrayLike, impulses: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, residuals: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...

class _implicit_midpoint_step(NamedTuple):
    q_next: NDArray[Any]
    v_next: NDArray[Any]

@overload
def implicit_midpoint_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[False] = False, out: Any | None = None) -> _implicit_midpoint_step:
    r"""One step of the implicit midpoint rule under constant forces, by a fixed number of Newton corrections.

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
    x_next : bool
        Whether to give x_next, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_next : (..., nq) array
        Positions after the step [rad or m; quaternions unit].
    v_next : (..., nv) array
        Velocities after the step [rad/s or m/s]; infinite where the corrections have not converged (the last one
        above 1e-3 of the speed), so that no inaccurate result is used.
    x_next : (..., nx) array, on request
        Internal states of force elements after the step [as the elements define them].
    """
@overload
def implicit_midpoint_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...

class _linearly_implicit_step(NamedTuple):
    q_next: NDArray[Any]
    v_next: NDArray[Any]

@overload
def linearly_implicit_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[False] = False, out: Any | None = None) -> _linearly_implicit_step:
    r"""One step of linearly implicit Euler under constant actuator forces, with the exact slopes of all other forces.

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
    x_next : bool
        Whether to give x_next, too.
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
    x_next : (..., nx) array, on request
        Internal states of force elements after the step [as the elements define them].
    """
@overload
def linearly_implicit_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...

class _rk4_step(NamedTuple):
    q_next: NDArray[Any]
    v_next: NDArray[Any]

@overload
def rk4_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[False] = False, out: Any | None = None) -> _rk4_step:
    r"""One step of the classical Runge-Kutta method on the manifold, under forces that are constant during the step.

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
    x_next : bool
        Whether to give x_next, too.
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
    x_next : (..., nx) array, on request
        Internal states of force elements after the step [as the elements define them].
    """
@overload
def rk4_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...

class _semi_implicit_step(NamedTuple):
    q_next: NDArray[Any]
    v_next: NDArray[Any]

@overload
def semi_implicit_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[False] = False, out: Any | None = None) -> _semi_implicit_step:
    r"""One step of semi-implicit Euler, the passive joint forces taken at its end.

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
    x_next : bool
        Whether to give x_next, too.
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
    x_next : (..., nx) array, on request
        Internal states of force elements after the step [as the elements define them].
    """
@overload
def semi_implicit_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...

class _variational_step(NamedTuple):
    q_next: NDArray[Any]
    v_next: NDArray[Any]

@overload
def variational_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[False] = False, out: Any | None = None) -> _variational_step:
    r"""One step of the variational midpoint rule under constant forces, by a fixed number of corrections.

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
    x_next : bool
        Whether to give x_next, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_next : (..., nq) array
        Positions after the step [rad or m; quaternions unit].
    v_next : (..., nv) array
        Velocities after the step [rad/s or m/s]; infinite where the corrections have not converged (the last one
        above 1e-3 of the speed), so that no inaccurate result is used.
    x_next : (..., nx) array, on request
        Internal states of force elements after the step [as the elements define them].
    """
@overload
def variational_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, x_next: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...
