r"""Residuals of Signorini's condition with Coulomb's law of friction, over any number of contacts and states.

With De Saxcé's shift ``u~ = u + mu |u_t| n`` the law is a complementarity over cones, ``K >= lambda perp u~ >= K*``,
and so a fixed point of a projection: ``lambda = P_K(lambda - m u~)`` for any mass m. The distance from it, divided by
m, is a velocity, the natural map.

Source: G. de Saxcé, Z.-Q. Feng, The bipotential method (1998); V. Acary, F. Cadoux, C. Lemaréchal, J. Malick, A
formulation of the linear discrete Coulomb friction problem via convex optimization (2011); Q. Le Lidec et al., Contact
models in robotics: a comparative analysis (2023).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.arguments import array, refuse


class Residuals(NamedTuple):
    """The largest misfits of a solution over all contacts.

    Attributes
    ----------
    complementarity : float
        Of Signorini's condition: the smaller of normal velocity and normal impulse over mass [m/s]. With ``bounds``
        also of their rows.
    cone : float
        Distance of tangential impulses from the disk of radius ``mu lambda_n`` [N s].
    dissipation : float
        Of Coulomb's law: the tangential impulse opposes slip, with full length if there is slip [m/s].
    natural_map : float
        Of the whole law; zero only at solutions [m/s].
    """

    complementarity: float
    cone: float
    dissipation: float
    natural_map: float


def cone_projection(x: np.ndarray, friction) -> np.ndarray:
    """The nearest points of the cones ``|x_t| <= mu x_n``; (..., n, 3), friction (..., n)."""
    t, n, mu = x[..., :2], x[..., 2], np.asarray(friction)
    size = np.hypot(t[..., 0], t[..., 1])
    on_surface = np.maximum(n + mu * size, 0.0) / (1.0 + mu * mu)
    inside = (size <= mu * n) & (n > 0.0)
    normal = np.where(inside, n, on_surface)
    scale = np.where(inside, 1.0, mu * on_surface / np.where(size > 0.0, size, 1.0))
    return np.concatenate([t * scale[..., None], normal[..., None]], axis=-1)


def disk_projection(x: np.ndarray, radius) -> np.ndarray:
    """The nearest points of disks; (..., n, 2), radius (..., n)."""
    size = np.hypot(x[..., 0], x[..., 1])
    outside = size > radius
    return x * np.where(outside, radius / np.where(outside, size, 1.0), 1.0)[..., None]


def natural_map(impulses, velocities, friction, mass=1.0) -> np.ndarray:
    r"""How far impulses and velocities are from Signorini's condition with Coulomb's law of friction.

    .. math:: |\lambda - P_K(\lambda - m (u + \mu |u_t| n))| / m

    Parameters
    ----------
    impulses : (..., n, 3) array
        On the second bodies, in contact axes (t1, t2, n) [N s].
    velocities : (..., n, 3) array
        Of the second bodies relative to the first ones, in contact axes [m/s].
    friction : float or (..., n) array
        Coefficients mu [1].
    mass : float or (..., n) array, optional
        Mass m that converts impulses to velocities [kg]: near the effective mass of a contact the result is the size
        of the velocity error.

    Returns
    -------
    (..., n) array
        [m/s]; NaN where an input is NaN.

    Raises
    ------
    ArgumentError

    Notes
    -----
    Source: de Saxcé and Feng (1998); Acary, Cadoux, Lemaréchal, Malick (2011), eq. 12.

    Examples
    --------
    A block of 2 kg that slides at 1 m/s, with the full friction impulse against the slip, and with too little:

    >>> import kinetree as kt
    >>> kt.contact.natural_map([[[-0.1, 0, 0.2]], [[0, 0, 0.2]]], [[1.0, 0, 0]], friction=0.5, mass=2.0).round(3)
    array([[0.   ],
           [0.045]])
    """
    force = array("natural_map: impulses", impulses, "impulses", shape=(..., None, 3))
    u = array("natural_map: velocities", velocities, "velocities", shape=(..., None, 3))
    mu = array("natural_map: friction", friction, "coefficients of friction")
    m = array("natural_map: mass", mass, "masses")
    try:
        shape = np.broadcast_shapes(force.shape[:-1], u.shape[:-1], mu.shape, m.shape)
    except ValueError:
        refuse("natural_map: impulses", impulses, f"as many contacts as velocities {u.shape}, friction {mu.shape} have")
    if (mu < 0.0).any():
        refuse("natural_map: friction", friction, "coefficients that are not negative")
    if (m <= 0.0).any():
        refuse("natural_map: mass", mass, "positive masses")
    force, u = np.broadcast_to(force, (*shape, 3)), np.broadcast_to(u, (*shape, 3))
    return _natural_map(force, u, np.broadcast_to(mu, shape), np.broadcast_to(m, shape))


def _natural_map(force, u, mu, m) -> np.ndarray:
    shift = mu * np.hypot(u[..., 0], u[..., 1])
    shifted = np.concatenate([u[..., :2], (u[..., 2] + shift)[..., None]], axis=-1)
    m = np.asarray(m)[..., None]
    return np.linalg.norm(force - cone_projection(force - m * shifted, mu), axis=-1) / m[..., 0]


def misfits(force: np.ndarray, u: np.ndarray, mu: np.ndarray, m: np.ndarray) -> np.ndarray:
    """The four residuals of each contact, in the order of `Residuals`: (4, n)."""
    normal = np.abs(np.minimum(force[:, 2] / m, u[:, 2]))
    radius = mu * np.maximum(force[:, 2], 0.0)
    cone = np.maximum(np.hypot(force[:, 0], force[:, 1]) - radius, 0.0)
    slip = disk_projection(force[:, :2] - m[:, None] * u[:, :2], radius)
    tangential = np.hypot(*(force[:, :2] - slip).T) / m
    return np.array([normal, cone, tangential, _natural_map(force, u, mu, m)])


def row_misfits(force: np.ndarray, u: np.ndarray, bounds: np.ndarray, m: np.ndarray) -> np.ndarray:
    """The distance of rows from their law: inside the bounds u = 0, at a bound u has one sign [m/s]."""
    return np.abs(force - np.clip(force - m * u, bounds[:, 0], bounds[:, 1])) / m
