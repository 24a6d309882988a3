"""Costs of a batch of motions from compiled costs of an instant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.arguments import a_callable, a_model, checked, refuse
from kinetree.errors import ArgumentError, ShapeError
from kinetree.predictive_control.stage_costs import StageCost


class MotionCost:
    r"""A cost of `MPPI` and `CEM` from functions of an instant, compiled: ``cost(motions) -> (N,)``.

    .. math:: \phi(x_T) + \Delta t \sum_{k<T} l(x_k, \tau_k)

    as `iLQR` has it, for the same functions.

    Parameters
    ----------
    model : Model
        That of the controller.
    running, terminal : callable, optional
        Costs of an instant, ``running(s)`` [unit of the cost per second] and ``terminal(s)`` [unit of the cost], as
        for `kinetree.simulation.DifferentiableRollout`: ``s.q``, ``s.v``, ``s.tau``, ``s.point(frame)`` and so on, with
        `kinetree.spatial.scalar`'s ``maximum``, ``where``, ``cos`` for those of NumPy. They need not be smooth.
    reference : callable, optional
        ``reference(time) -> (T + 1, n)``, rows ``s.reference`` at instants (T + 1,) [s].
    threads : int, optional
        As for `kinetree.compile`.

    Raises
    ------
    ShapeError
        The reference has not one row for each instant.

    See Also
    --------
    MPPI, CEM, iLQR

    Notes
    -----
    NumPy passes over all motions for each operation of a cost; compiled costs pass once, on all cores. Code is compiled
    at the first call, and found again by the function: define functions once, not at each call.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.double_pendulum()
    >>> def distance(s):
    ...     tip = s.point(arm.body_names[2], (1.0, 0.0, 0.0))
    ...     return (tip[0] - 1.0) ** 2 + (tip[2] - 1.0) ** 2
    >>> cost = kt.control.MotionCost(arm, distance)
    >>> mppi = kt.control.MPPI(arm, cost, dt=0.02, horizon=25, samples=64, covariance=9.0, temperature=0.01)
    >>> tau = mppi(0.0, np.zeros(2), np.zeros(2))
    >>> bool(mppi.reports[0].best <= mppi.reports[0].cost)
    True
    """

    @checked(model=a_model, running=a_callable, terminal=a_callable, reference=a_callable)
    def __init__(
        self,
        model,
        running: Callable | None = None,
        terminal: Callable | None = None,
        *,
        reference: Callable | None = None,
        threads: int | None = None,
    ) -> None:
        if running is None and terminal is None:
            raise ArgumentError("MotionCost: there is no cost; give running, terminal or both.", argument="running")
        self.model, self.running, self.terminal, self.reference = model, running, terminal, reference
        self.threads, self._stages = threads, {}

    def __call__(self, motions) -> np.ndarray:
        """The costs (N,) of `SampledMotions`."""
        time, q, v, tau = motions.time, motions.q, motions.v, motions.tau
        rows = None if self.reference is None else self._rows(time)
        cost = np.zeros(len(q))
        if self.running:
            more = () if rows is None else (rows[:-1],)
            each = self._stage(True, rows).value(q[:, :-1], v[:, :-1], tau, *more)
            cost += (time[1] - time[0]) * each.sum(axis=1)
        if self.terminal:
            more = () if rows is None else (rows[-1],)
            cost += self._stage(False, rows).value(q[:, -1], v[:, -1], *more)
        return cost

    def _stage(self, running: bool, rows) -> StageCost:
        """The compiled cost, for so many entries of the reference."""
        size = 0 if rows is None else rows.shape[1]
        if (running, size) not in self._stages:
            function = self.running if running else self.terminal
            self._stages[running, size] = StageCost(self.model, function, running, size, self.threads)
        return self._stages[running, size]

    def _rows(self, time) -> np.ndarray:
        found = self.reference(time)
        try:
            rows = np.asarray(found, dtype=float)
        except (TypeError, ValueError):
            refuse("MotionCost: reference(time)", found, "numbers of shape (T + 1, n)")
        if rows.ndim != 2 or len(rows) != len(time):
            raise ShapeError(
                f"MotionCost: reference(time) has shape {rows.shape}, expected ({len(time)}, n): a row for each of the "
                f"{len(time)} instants.",
                found=rows.shape,
            )
        return rows

    def __repr__(self) -> str:
        parts = [name for name in ("running", "terminal") if getattr(self, name)]
        return f"<MotionCost of model {self.model.name!r}: {' and '.join(parts)}>"
