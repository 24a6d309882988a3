"""Newton's iteration for the accelerations of an implicit step, and its error when it fails."""

from __future__ import annotations

import math

import numpy as np

from kinetree.algorithms.couplings import coupling_columns
from kinetree.errors import SimulationError
from kinetree.integrators.implicit import CLOSED_END, CONSTRAINED_UPDATE, NEWTON_UPDATE, STEP_END

EXACT = 1e-15  # relative change of the velocity below which iterations bring no improvement
ENOUGH = 1e-8  # below which an iteration that no longer improves is at rounding
ROWS_ENOUGH = 1e-6  # the same with rows of positions, whose rounding over the step is one of velocities
MOST = 60  # iterations


class Newton:
    """Solves ``ID(q (+) (x0 + x1 a), w0 + w1 a, a) = tau`` for a; see `kinetree.integrators.implicit`.

    In models with rows that are not eliminated, such as those of loops, with their forces, ``ID = tau + G^T lambda``,
    so that positions obey them where the stage is, or accelerations if the end of the step is projected.

    Parameters
    ----------
    system : System
        The dynamics.
    name : str
        The method, for messages.
    projected : bool
        Whether loops are closed by projection of the end.

    Attributes
    ----------
    iterations : int
        Number of iterations of all steps.
    multipliers : (nc,) array
        Of the last solution: forces along all rows of the model; the guess of the next one.
    end : callable
        ``end(q, xi, v) -> (q, v)``: the state after the step xi, in regular coordinates.
    """

    def __init__(self, system, name: str, projected: bool = False) -> None:
        self._system, self._name = system, name
        self.has_rows = system.has_loops and not projected
        self._update = system.function(CONSTRAINED_UPDATE if self.has_rows else NEWTON_UPDATE, checks=False)
        self.multipliers = np.zeros(system.model.nc)
        self.end = system.function(CLOSED_END if projected else STEP_END, checks=False)
        self.iterations = 0
        self._last, self._weights = None, None
        free = sorted(k for column in coupling_columns(system.model) for k, _ in column)
        self._free = slice(None) if len(free) == system.model.nv else free

    def in_same_charts(self, v, v_regular) -> bool:
        """Whether no joint changed its coordinates at the end of a step; prescribed velocities are put in there."""
        return np.array_equal(v[self._free], v_regular[self._free])

    def solve(self, t: float, q, x0, w0, a, tau, x1: float, w1: float, f_ext: tuple):
        """The accelerations, from the guess a; t [s] is the time of the forces, for messages.

        Raises
        ------
        SimulationError
            The iteration does not converge; names the joint, the time and the residual.
        """
        if (x1, w1) != self._last:  # compiled functions take arrays; the step is almost always the same
            self._last, self._weights = (x1, w1), (np.array(x1), np.array(w1))
        x1, w1 = self._weights
        enough = ROWS_ENOUGH if self.has_rows else ENOUGH
        previous, w, lam = math.inf, w0, (self.multipliers,) if self.has_rows else ()
        for n in range(1, MOST + 1):
            a_next, w, change, r, *lam = self._update(q, x0, w0, a, tau, x1, w1, w, *lam, *f_ext)
            change = float(change)
            self.iterations += 1
            if change <= EXACT or (change <= enough and change >= 0.5 * previous):
                self.multipliers = lam[0] if lam else self.multipliers
                return a_next
            if n == MOST or not math.isfinite(change):
                raise no_convergence(self._system, self._name, t, n, w1 * (a_next - a)[: len(r)], r)
            previous, a = change, a_next


def no_convergence(system, name: str, t: float, iterations: int, change, r) -> SimulationError:
    """The error of an iteration that found no solution: the joint whose velocity still changes most."""
    labels = system.coordinates
    bad = np.flatnonzero(~np.isfinite(change))
    k = int(bad[0]) if len(bad) else int(np.argmax(np.abs(change)))
    joint, unit, force = labels.velocity_joints[k], labels.velocity_units[k], labels.force_units[k]
    return SimulationError(
        f"{name}: Newton's iteration found no end of the step at t = {t:.9g} s ({iterations} iterations); joint "
        f"{joint!r} (velocity {labels.velocity_labels[k]!r}) still changes by {change[k]:.3g} {unit}, its residual is "
        f"{r[k]:.3g} {force}. Use a smaller dt, or integrator='semi_implicit', which solves no nonlinear equations.",
        time=t,
        joint=joint,
        residual=float(r[k]),
        iterations=iterations,
    )
