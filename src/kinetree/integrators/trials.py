"""Accelerations at the trial states of a solver with adaptive steps, finite or not.

A step that is too long may end in states that are not finite, or where forces are not. That is no property of the
motion: such a step is rejected, and a shorter one follows. The run fails only where the shortest steps fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from kinetree.errors import KinetreeError, NonFiniteError, SimulationError

STIFF = ("Radau", "BDF", "LSODA", "CVODE", "IDA")  # methods that are for stiff motions
RUNAWAY = 1e50  # [rad, m, per second] beyond any mechanism: the numbers are about to overflow


def is_sane(q: np.ndarray, v: np.ndarray) -> bool:
    """Whether all entries of a state are finite and below `RUNAWAY`; the fastest check without warnings."""
    return math.hypot(*q.tolist(), *v.tolist()) < RUNAWAY


class TrialDynamics:
    """``acceleration(t, q, v)`` at trial states; NaN, which every solver rejects, where it is not finite.

    Forces are not evaluated at states that are not finite, so controllers never see NaN.

    Parameters
    ----------
    system : System
    tau, f_ext : callable
        ``tau(t, q, v)`` gives the joint forces, ``f_ext(t)`` a tuple of the other arguments of the dynamics. Both raise
        NonFiniteError where they are not finite.

    Attributes
    ----------
    t : float
        Time of the last trial [s]. A solver stops when its steps are as short as rounding: this is the time of failure.
    failed : tuple or None
        (q, v, a, error of the forces or None) of the last trial, if it was not finite.
    """

    def __init__(self, system, tau: Callable, f_ext: Callable) -> None:
        self._system, self._tau, self._f_ext = system, tau, f_ext
        self._dynamics = system.function(system.rate, checks=False)
        self._none = np.full(system.model.nw, np.nan)
        self.t, self.failed = 0.0, None

    def acceleration(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The acceleration, shape (nv,)."""
        self.t, a, error = t, self._none, None
        if is_sane(q, v):
            try:
                a = self._dynamics(q, v, self._tau(t, q, v), *self._f_ext(t))
            except NonFiniteError as found:
                error = found
            else:
                for drive in self._system.drives:
                    drive.add_rate(a, v)
                if is_sane(a, v):
                    self.failed = None
                    return a
        if self.failed is None or error is not None:  # else the consequence of a failure before
            self.failed = q, v, a, error
        return self._none

    def stopped(self, method: str, cause: str = "") -> KinetreeError:
        """The error for a solver that gave up.

        Parameters
        ----------
        method : str
            Its name.
        cause : str
            Its own sentence.
        """
        t = self.t
        if self.failed is None:
            stiff = "" if method in STIFF else "kt.integrators.Adaptive('Radau') or 'BDF', "
            return SimulationError(
                f"simulate: the adaptive integrator ({method}) stopped after t = {t:.9g} s: {cause} The motion may be "
                f"stiff or discontinuous there: try {stiff}larger rtol and atol, or integrator='semi_implicit'.",
                time=t,
                method=method,
                cause=cause,
            )
        q, v, a, error = self.failed
        if error is not None:
            return error
        coordinates = self._system.coordinates
        bad = coordinates.first_bad(q, v)
        if bad is None and not np.isfinite(a).all():
            bad = f"acceleration of {coordinates.velocity_labels[int(np.flatnonzero(~np.isfinite(a))[0])]!r}"
        return SimulationError(
            f"simulate: the motion is no longer finite after t = {t:.9g} s ({method}), however short the step; the "
            f"first bad coordinate is {bad or f'none: the state grew beyond {RUNAWAY:g}'}. Check the forces and "
            "inertias there.",
            time=t,
            coordinate=bad,
        )
