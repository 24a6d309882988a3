# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame


__all__ = [
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "momentum",
    "momentum_matrix",
]

def center_of_mass_jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Jacobian of the center of mass.

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
    J : (..., 3, nv) array
        ``v_C = J @ v``, world coordinates [m or 1].
    """


def center_of_mass_velocity(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Velocity of the center of mass.

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
    v_C : (..., 3) array
        Velocity in world coordinates [m/s].
    """


def momentum(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Spatial momentum of the bodies about their center of mass.

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
        [angular momentum about the center of mass; linear momentum], world axes [kg m^2/s, kg m/s].
    """


def momentum_matrix(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""The matrix that maps joint velocities to centroidal momentum.

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
    A : (..., 6, nv) array
        ``h = A @ v``: [angular about the center of mass; linear], world axes [kg m^2, kg m or kg].
    """
