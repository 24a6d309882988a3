"""Generalized-alpha for closed loops: positions, velocities and constraint forces, the constraints kept in position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.constraint_rows import (
    CONSTRAINT_ERROR,
    CONSTRAINT_JACOBIAN,
    constraint_error,
    constraint_jacobian,
)
from kinetree.algorithms.spec import ALGORITHMS, Spec
from kinetree.errors import SimulationError, UnsupportedError
from kinetree.integrators.generalized_alpha import AlphaCoefficients
from kinetree.integrators.implicit import STEP_END, force_slopes, residual, stage, times_tangent
from kinetree.integrators.newton import ENOUGH, EXACT, MOST, no_convergence
from kinetree.integrators.system import System
from kinetree.integrators.user_code import copied

CONSISTENT = 1e-8  # what a start may violate the loops by, of 1 m or rad (and per second)
PROBE = 1e-4  # [s] over which the rate of the first acceleration is measured
ACCELERATIONS = ALGORITHMS["forward_dynamics"].variants["multipliers"]


@dataclass(frozen=True, slots=True)
class ConstrainedRun:
    """A motion with the forces in its loops.

    Attributes
    ----------
    time : (T,) array
        [s].
    q : (T, nq) array
        Positions [rad or m; quaternions unit].
    v, a : (T, nv) array
        Velocities [rad/s or m/s] and accelerations.
    multipliers : (T, nc) array
        Constraint forces [N or N m], along the rows of ``jacobian``: the loops exert ``G^T multipliers`` on the joints.
    drift : (T,) array
        Largest error of position in a loop [m or rad].
    rows : tuple of str
        The loop joint of every multiplier.
    iterations : int
        Newton iterations in all.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    multipliers: np.ndarray
    drift: np.ndarray
    rows: tuple[str, ...]
    iterations: int


class ConstrainedAlpha:
    """Generalized-alpha on Lie groups for models with loop joints: the differential-algebraic equations of index 3.

    Parameters
    ----------
    model : Model
        A tree with loop joints. A body in absolute coordinates is one on a `Free` joint (the group SE(3)), or on
        ``Composite((Translational(), Spherical()))`` (R^3 x SO(3)); its joint to the world is then a loop joint.
    rho : float
        Spectral radius at infinite frequency, 0 to 1. With 1 the constraint forces need not decay.
    tau, f_ext : array or callable, optional
        Joint forces (nv,) [N m or N] and wrenches on the bodies (nb, 6) in world coordinates [N m, N], or functions of
        time.

    Raises
    ------
    UnsupportedError
        The model has no loop joint, or other constraints, couplings, or joints that depend on time.

    Notes
    -----
    Source: Bruls, Cardona, Arnold (2012), eq. 39-43 with ``M dv/dt + c = tau + G^T lam``, ``phi(q+) = 0`` at the end of
    each step; scaled by h^2 as Bottasso, Bauchau, Cardona (2007) have it. The start is consistent: dv/dt and lam from
    the equations of index 1, and the method's own accelerations those of the time they belong to, ``(alpha_m -
    alpha_f) h`` later (Arnold, Bruls, Cardona 2015). Positions are kept in the loops to rounding, velocities to the
    order of the method. Order 2 for positions and velocities. Multipliers have order 2, too, once the first steps are
    over; on R^3 x SO(3) these are wrong by order h (the heavy top: 15 N at h = 0.125 ms), on SE(3) they are not.
    """

    __slots__ = ("_f_ext", "_kept", "_system", "_tau", "coefficients", "rows")

    name = "constrained_alpha"
    order = 2

    def __init__(self, model, *, rho: float = 0.8, tau=None, f_ext=None) -> None:
        _refuse(model)
        self.coefficients, self.rows = AlphaCoefficients(rho), model.constraint_labels
        self._system, self._kept = System(model, f_ext is not None), np.array(model.independent_rows())
        self._tau = _of_time(np.zeros(model.nv) if tau is None else tau)
        self._f_ext = (lambda t: ()) if f_ext is None else _tuple_of_time(f_ext)

    def run(self, q0, v0, *, duration: float, dt: float) -> ConstrainedRun:
        """Integrate from a state that obeys the loops.

        Parameters
        ----------
        q0 : (nq,) array
            Positions at time 0 [rad or m; quaternions unit].
        v0 : (nv,) array
            Velocities [rad/s or m/s].
        duration : float
            Simulated time [s], a multiple of dt.
        dt : float
            Step [s].

        Returns
        -------
        ConstrainedRun
            The state after every step.

        Raises
        ------
        SimulationError
            The start does not obey the loops, or a step has no end.
        """
        c, steps = self.coefficients, round(duration / dt)
        q, v = np.array(q0, float), np.array(v0, float)
        self._check_start(q, v)
        v_dot, lam = self._accelerations(0.0, q, v)
        a = v_dot + (c.alpha_m - c.alpha_f) * dt * self._acceleration_rate(q, v, v_dot)
        weights, rows = c.weights(dt), [(q, v, v_dot, lam)]
        iterations, end = 0, self._system.function(STEP_END, checks=False)
        for n in range(steps):
            x0, w0 = c.predicted(dt, v, a, v_dot)
            v_dot_next, lam, used = self._solve((n + 1) * dt, q, x0, w0, v_dot, lam, *weights)
            a, v_dot = c.accelerations(a, v_dot, v_dot_next), v_dot_next
            q, v = end(q, x0 + weights[0] * v_dot, w0 + weights[1] * v_dot)
            rows.append((q, v, v_dot, lam))
            iterations += used
        q, v, v_dot, lam = (np.array(column) for column in zip(*rows, strict=True))
        drift = np.abs(self._function(CONSTRAINT_ERROR)(q)).max(axis=-1)
        return ConstrainedRun(np.arange(steps + 1) * dt, q, v, v_dot, lam, drift, self.rows, iterations)

    def jacobian(self, q) -> np.ndarray:
        """G, the rows along which the multipliers act, shape (..., nc, nv)."""
        return self._function(CONSTRAINT_JACOBIAN)(q)

    def _function(self, spec: Spec):
        return self._system.function(spec, checks=False)

    def _solve(self, t, q, x0, w0, a, lam, x1, w1):
        """Newton's iteration for dv/dt and the multipliers at the end of a step."""
        tau, f_ext, nv = self._tau(t), self._f_ext(t), len(a)
        arrays, previous = (np.array(x1), np.array(w1)), np.inf
        for n in range(MOST):
            r, A, phi, G, G_end = self._function(CONSTRAINED_STAGE)(q, x0, w0, a, tau, *arrays, *f_ext)
            change, dlam = self._saddle_point(A, G_end, G, r - G_end.T @ lam, phi / x1)
            a, lam = a - change, lam - dlam
            size = np.abs(w1 * change).max() / (np.abs(w0 + w1 * a).max() + 1e-3)
            if size <= EXACT or (size <= ENOUGH and size >= 0.5 * previous):
                return a, lam, n + 1
            if not np.isfinite(size):
                break
            previous = size
        raise no_convergence(self._system, self.name, t, n + 1, w1 * change, r[:nv])

    def _saddle_point(self, A, G_force, G, r, phi):
        """``A x - G_force^T y = r``, ``G x = phi`` of the independent rows; y is zero for the others."""
        kept, nv, y = self._kept, len(r), np.zeros(len(phi))
        x = np.linalg.solve(
            np.block([[A, -G_force[kept].T], [G[kept], np.zeros((len(kept), len(kept)))]]),
            np.concatenate((r, phi[kept])),
        )
        y[kept] = x[nv:]
        return x[:nv], y

    def _accelerations(self, t, q, v):
        """dv/dt and multipliers from the equations of index 1: ``M a + c = tau + G^T lam``, ``G a = - dG/dt v``."""
        return self._function(ACCELERATIONS)(q, v, self._tau(t), *self._f_ext(t))

    def _acceleration_rate(self, q, v, a):
        """The rate of dv/dt along the motion, by central differences."""
        move = self._system.function("integrate", checks=False)
        ahead, behind = (
            self._accelerations(s, move(q, s * v + (0.5 * s * s) * a), v + s * a)[0] for s in (PROBE, -PROBE)
        )
        return (ahead - behind) / (2.0 * PROBE)

    def _check_start(self, q, v) -> None:
        for what, values, unit in (
            ("position", self._function(CONSTRAINT_ERROR)(q), ""),
            ("velocity", self.jacobian(q) @ v, "/s"),
        ):
            k = int(np.argmax(np.abs(values)))
            if not np.abs(values[k]) <= CONSISTENT * max(1.0, np.abs(v).max() if unit else 1.0):
                raise SimulationError(
                    f"constrained integration: the start breaks loop joint {self.rows[k]!r} in {what} by "
                    f"{values[k]:.3g} (m or rad){unit}, expected 0. Start from a closed loop; "
                    "kt.surgery.retree finds one.",
                    loop=self.rows[k],
                    found=float(values[k]),
                )


def _refuse(model) -> None:
    """Say what is not a matter of loop joints."""
    others = [str(x) for x in model.unsupported if x not in {str(c) for c in model.constraints}]
    others += [str(c) for c in model.constraints if not c.frames]
    others += [f"joint {model.joint_name(i)!r}, which depends on time" for i in model.outward()
               if model.joints[i].time_dependent]  # fmt: skip
    if not any(loop.active for loop in model.loops):
        raise UnsupportedError(
            f"model {model.name!r} has no active loop joint; simulate its tree with integrator='generalized_alpha'.",
            model=model.name,
        )
    if others:
        raise UnsupportedError(
            f"model {model.name!r}: constrained integration knows loop joints alone, not {'; '.join(others[:4])}.",
            model=model.name,
            found=tuple(others),
        )


def _stage(model, q, x0, w0, a, tau, x1, w1, f_ext=None):
    """Residual, matrix and rows at the end of a step."""
    xi, Q, w = stage(model, q, x0, w0, a, x1, w1)
    dq, dv, M = force_slopes(model, Q, w, a, f_ext)
    dq, n = times_tangent(model, dq, xi), range(model.nv)
    A = [[M[m][k] + w1 * dv[m][k] + x1 * dq[m][k] for k in n] for m in n]
    G = constraint_jacobian(model, Q)
    return residual(model, Q, w, a, tau, f_ext), A, constraint_error(model, Q), times_tangent(model, G, xi), G


CONSTRAINED_STAGE = Spec(
    name="constrained_stage",
    function=_stage,
    inputs={"q": ("nq",)} | {x: ("nv",) for x in ("x0", "w0", "a", "tau")} | {"x1": (), "w1": ()},
    optional={"f_ext": ("nb", 6)},
    outputs={"r": ("nv",), "A": ("nv", "nv"), "phi": ("nc",), "G": ("nc", "nv"), "G_end": ("nc", "nv")},
)


def _of_time(value) -> Callable:
    if callable(value):
        return lambda t: copied(value(t))
    constant = copied(value)
    return lambda t: constant


def _tuple_of_time(value) -> Callable:
    at = _of_time(value)
    return lambda t: (np.ascontiguousarray(at(t)),)
