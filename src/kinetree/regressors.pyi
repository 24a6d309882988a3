# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame


__all__ = [
    "generalized_momentum",
    "joint_torque",
    "kinetic_energy",
    "momentum",
    "potential_energy",
]

def generalized_momentum(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Generalized momentum ``M v`` as a linear function of the inertial parameters.

    .. math:: M(q)\,v = Y(q, v)\,\pi + \mathrm{diag}(\text{armature})\,v

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
    Y : (..., nv, n_inertial) array
        One column for each of ``kt.identify.inertial_parameters(model)`` [kg m^2/s or kg m/s, per kg, kg m or kg
        m^2].
    """


def joint_torque(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Inverse dynamics as a linear function of the inertial parameters of the bodies.

    .. math:: \tau = Y(q, v, a)\,\pi + \mathrm{diag}(\text{armature})\,a

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
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    Y : (..., nv, n_inertial) array
        Ten columns for each moving body, in the order of ``kt.identify.inertial_parameters(model)``: m, m c (x,
        y, z), and the rotational inertia about the body's origin xx, xy, yy, xz, yz, zz, in the body's axes [N m
        or N, per kg, kg m or kg m^2]. Columns of bodies that a joint does not support are exact zeros in its row.
    """


def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Kinetic energy as a linear function of the inertial parameters of the bodies.

    .. math:: T = y(q, v) \cdot \pi + \tfrac{1}{2} \sum_k \text{armature}_k\, v_k^2

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
    y : (..., n_inertial) array
        One entry for each of ``kt.identify.inertial_parameters(model)`` [J per kg, kg m or kg m^2].
    """


def momentum(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Spatial momentum about the world's origin as a linear function of the inertial parameters.

    .. math:: h = Y(q, v)\,\pi

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
    Y : (..., 6, n_inertial) array
        Rows: angular momentum about the world's origin, linear momentum, world axes; one column for each of
        ``kt.identify.inertial_parameters(model)`` [kg m^2/s or kg m/s, per kg, kg m or kg m^2].
    """


def potential_energy(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Potential energy in the gravity field as a linear function of the inertial parameters.

    .. math:: V = y(q) \cdot \pi = -\sum_i g \cdot (m_i p_i + R_i\, m_i c_i)

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
    y : (..., n_inertial) array
        One entry for each of ``kt.identify.inertial_parameters(model)`` [J per kg, kg m or kg m^2]; those of
        rotational inertias are exact zeros.
    """
