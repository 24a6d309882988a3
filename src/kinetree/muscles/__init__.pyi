# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.muscles.library import CURVES as CURVES
from kinetree.muscles.curve import Curve as Curve
from kinetree.muscles.curve_set import MuscleCurves as MuscleCurves
from kinetree.muscles.curve import VelocityCurve as VelocityCurve
from kinetree.muscles.activation import activation_rate as activation_rate
from kinetree.muscles.library import curves as curves
from kinetree.analysis.equilibrate import equilibrate as equilibrate

__all__ = [
    "CURVES",
    "Curve",
    "MuscleCurves",
    "VelocityCurve",
    "activation_rate",
    "curves",
    "energies",
    "equilibrate",
    "lengths",
    "moment_arms",
    "tensions",
]
class _muscles_energies(NamedTuple):
    stored: NDArray[Any]
    power: NDArray[Any]

def energies(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _muscles_energies:
    r"""Stored energies and powers of muscles.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
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
    stored : (..., n_muscles, 2) array
        Stored energy of tendon and passive fiber [J].
    power : (..., n_muscles, 2) array
        Power given by the active fiber, and power lost in its damping [W].
    """


def lengths(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Lengths of the paths of muscles, fiber and tendon together.

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
    length : (..., n_muscles) array
        Lengths of the paths [m].
    """


def moment_arms(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Moment arms of muscles: minus the derivatives of their lengths.

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
    moment_arm : (..., n_muscles, nv) array
        Moment arms ``-dL/dq``: joint force over tension [m, or 1 for joints that slide].
    """


def tensions(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Tensions of muscles.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tension : (..., n_muscles) array
        Forces along the paths, which shorten them [N].
    """
