"""Dense output: the motion within a step, on the manifold of the joint positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Interpolant:
    """The motion between t0 and t1: ``q(t) = q0 (+) xi(s)``, ``v(t) = v0 + u(s)``, polynomials in ``s = (t - t0) / h``.

    Attributes
    ----------
    t0, t1 : float
        Ends of the step [s].
    q0, v0 : numpy.ndarray
        State at t0, shapes (nq,) and (nv,).
    xi, u : numpy.ndarray
        Coefficients of s, s^2, ..., one row per power, shape (degree, nv).
    integrate : callable
        ``integrate(q, xi)``: the position reached from q, for any batch.
    order : int
        Order of the continuous solution: its largest error within a step is of one order more in h.

    Notes
    -----
    Source: Featherstone (2008), eq. 11.45 to 11.51: a method that fits a polynomial p to the rate can be stopped
    anywhere in its step, ``y(t) = y0 + integral of p``. Here y is (xi, v), the unknowns of a step on the manifold.
    """

    t0: float
    t1: float
    q0: np.ndarray
    v0: np.ndarray
    xi: np.ndarray
    u: np.ndarray
    integrate: Callable
    order: int

    def __call__(self, t) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity at any times within the step.

        Parameters
        ----------
        t : (...) array
            Times [s].

        Returns
        -------
        q : (..., nq) array
        v : (..., nv) array
        """
        s = (np.asarray(t, dtype=float) - self.t0) / (self.t1 - self.t0)
        powers = s[..., None] ** np.arange(1, len(self.xi) + 1)
        q0 = self.q0 if not s.shape else np.broadcast_to(self.q0, (*s.shape, len(self.q0)))
        return self.integrate(q0, powers @ self.xi), self.v0 + powers @ self.u


def hermite(system, t0: float, t1: float, start: tuple, end: tuple) -> Interpolant:
    """The cubic that meets states and accelerations at both ends of a step: order 3, for any method.

    Parameters
    ----------
    system : System
    t0, t1 : float
        Ends of the step [s].
    start, end : tuple of (q, v, a)
        Positions (nq,), velocities and accelerations (nv,) at t0 and t1; internal states and their rates may follow.

    Returns
    -------
    Interpolant

    Notes
    -----
    Source: Featherstone (2008), section 11.5; Hairer, Norsett, Wanner, Solving ODEs I, eq. II.6.7.
    """
    (q0, v0, a0), (q1, v1, a1), h, nv = start, end, t1 - t0, system.model.nv
    xi1 = system.function("difference", checks=False)(q0, q1)
    rate1 = system.function("tangent_rate", checks=False)(xi1, v1[:nv])
    return Interpolant(
        t0, t1, q0, v0, _cubic(xi1, h * v0[:nv], h * rate1), _cubic(v1 - v0, h * a0, h * a1),
        system.function("integrate", checks=False), 3,
    )  # fmt: skip


def _cubic(rise, m0, m1) -> np.ndarray:
    """Coefficients of s, s^2, s^3 of the cubic on [0, 1] from 0 to ``rise`` with end slopes m0 and m1."""
    return np.array([m0, 3.0 * rise - 2.0 * m0 - m1, m0 + m1 - 2.0 * rise])
