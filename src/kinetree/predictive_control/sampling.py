"""Control by sampled sequences of forces: the common part of MPPI and CEM."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_callable, a_method, a_model, array, checked, refuse, shown, whole
from kinetree.control.controller import gain_matrix
from kinetree.errors import ArgumentError, NonFiniteError, ShapeError, SimulationError
from kinetree.predictive_control.controlled_rollout import ControlledRollout, full_plan


@dataclass(frozen=True, slots=True)
class SamplingReport:
    """A control step of an `MPPI` or `CEM`.

    Attributes
    ----------
    cost : float
        Of the plan before its last improvement [unit of the cost]; NaN if its motion is not finite.
    best, median : float
        Of the samples of the last iteration [unit of the cost].
    effective_samples : float
        Number of samples that determine the new plan: ``1 / sum w^2`` of the weights of MPPI, the elites of CEM. A few
        of a thousand: the temperature is too low or the noise too large; nearly all: the temperature is too high.
    diverged : int
        Motions of the last iteration that are not finite; they have no weight.
    seconds : float
        Wall time of the control step [s].
    """

    cost: float
    best: float
    median: float
    effective_samples: float
    diverged: int
    seconds: float


class SamplingController:
    """A controller that simulates samples of force sequences at every call, and applies the first force of the plan.

    Subclasses define ``_improved(knots, sampled, costs)``.
    """

    @checked(model=a_model, cost=a_callable, integrator=a_method)
    def __init__(
        self,
        model,
        cost: Callable,
        *,
        dt: float,
        horizon: int,
        samples: int,
        covariance,
        iterations: int,
        plan=None,
        knots: int | None = None,
        actuated=None,
        effort_limit="model",
        substeps: int = 1,
        integrator="auto",
        ground=None,
        seed: int = 0,
        threads: int | None = None,
        dtype=np.float64,
    ) -> None:
        what = type(self).__name__
        self._rollout = ControlledRollout(
            what, model, dt, horizon, actuated, effort_limit, substeps, integrator, ground, threads, dtype
        )
        self.model, self.cost = self._rollout.model, cost
        self.dt, self.horizon, self.nu = self._rollout.dt, self._rollout.horizon, self._rollout.nu
        self.samples = whole(f"{what}: samples", samples, "a number of samples, 2 or more", least=2)
        self.iterations = whole(f"{what}: iterations", iterations, "a positive number of iterations", least=1)
        self.seed = whole(f"{what}: seed", seed, "a whole number, not negative", least=0)
        self.covariance = gain_matrix(f"{what}: covariance", covariance, self.nu, "(N m)^2 or N^2")
        self._root = np.linalg.cholesky(self.covariance)
        knots = self.horizon if knots is None else knots
        self.knots = whole(f"{what}: knots", knots, f"a number of knots from 1 to {self.horizon}", least=1)
        if self.knots > self.horizon:
            refuse(f"{what}: knots", knots, f"a number of knots from 1 to {self.horizon}, the horizon")
        self._places = np.linspace(0.0, self.horizon - 1.0, self.knots) if self.knots > 1 else np.zeros(1)
        self._steps = np.arange(self.horizon, dtype=float)
        self._hats = _interpolated(self._steps, self._places, np.eye(self.knots))
        self._first = full_plan(f"{what}: plan", plan, self.horizon, self.nu)
        self.reset()

    # State -----------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Return to the first plan and the first random numbers."""
        self._knots = _interpolated(self._places, self._steps, self._first)
        self._calls, self._last = 0, None
        self.reports: list[SamplingReport] = []

    def get_state(self) -> dict:
        """Plan, number of calls and time of the last one."""
        return {"knots": self._knots.copy(), "calls": self._calls, "last": self._last}

    def set_state(self, state: dict) -> None:
        """Restore a state of `get_state`."""
        self._knots, self._calls, self._last = np.array(state["knots"]), state["calls"], state["last"]

    @property
    def plan(self) -> np.ndarray:
        """Forces of the actuated coordinates over the horizon (T, nu) [N m or N], from the last call on."""
        return self._rollout.clipped(self._hats @ self._knots)

    # Control ---------------------------------------------------------------------------------------------------------

    def __call__(self, t: float, q, v) -> np.ndarray:
        """Joint forces at a time and state; improves the plan.

        Parameters
        ----------
        t : float
            Time [s]. The plan is shifted by the time since the last call; earlier times reset the controller.
        q : (nq,) array
            Positions [rad or m; quaternions unit].
        v : (nv,) array
            Velocities [rad/s or m/s].

        Returns
        -------
        (nv,) array
            [N m or N]

        Raises
        ------
        NonFiniteError
            The state, or the cost of a motion that is finite, is not finite.
        ShapeError
            The cost does not give one number for each motion.
        SimulationError
            No motion of the samples is finite.
        """
        started = time.perf_counter()
        q, v = self._state(q, v)
        if self._last is not None:
            if t < self._last:
                self.reset()
            else:
                self._shift((t - self._last) / self.dt)
        self._last = float(t)
        for k in range(self.iterations):
            report = self._iterate(t, q, v, k)
        self._calls += 1
        self.reports.append(SamplingReport(*report, time.perf_counter() - started))
        return self._rollout.forces(self.plan[0])

    def _state(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        what = type(self).__name__
        q = array(f"{what}: q", q, shape=(self.model.nq,))
        v = array(f"{what}: v", v, shape=(self.model.nv,))
        for name, x in (("q", q), ("v", v)):
            if not np.isfinite(x).all():
                raise NonFiniteError(f"{what}: {name}[{int(np.argmin(np.isfinite(x)))}] is not finite.", name=name)
        return q, v

    def _shift(self, steps: float) -> None:
        """Move the plan forward in time; the last force is repeated."""
        if steps > 0.0:
            later = np.minimum(self._places + steps, self.horizon - 1.0)
            self._knots = _interpolated(later, self._steps, self._hats @ self._knots)

    def _iterate(self, t, q, v, k: int) -> tuple:
        """One set of samples, one improvement of the plan."""
        rng = np.random.default_rng((self.seed, self._calls, k))
        noise = self._noise(k, rng.standard_normal((self.samples, self.knots, self.nu)))
        noise[0] = 0.0  # the plan as it is
        sampled = self._rollout.clipped(self._knots + noise)
        u = sampled if self.knots == self.horizon else self._hats @ sampled
        costs, diverged = self._costs(self._rollout.motions(t, q, v, u))
        self._knots, effective = self._improved(self._knots, sampled, costs)
        finite = costs[np.isfinite(costs)]
        first = costs[0] if np.isfinite(costs[0]) else np.nan
        return float(first), float(finite.min()), float(np.median(finite)), effective, diverged

    def _noise(self, k: int, normal: np.ndarray) -> np.ndarray:
        """The noise of iteration k, from standard normal numbers (N, knots, nu)."""
        return normal @ self._root.T

    def _improved(self, knots, sampled, costs) -> tuple[np.ndarray, float]:
        """New knots, and the effective number of samples."""
        raise NotImplementedError

    def _costs(self, motions) -> tuple[np.ndarray, int]:
        """The costs (N,), infinite where a motion is not finite; and the number of these motions."""
        what, n = type(self).__name__, self.samples
        with np.errstate(all="ignore"):  # of motions that blew up
            found = self.cost(motions)
        try:
            costs = np.array(found, dtype=float)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"{what}: the cost gives {shown(found)}, expected an array of {n} numbers, one for each motion.",
                argument="cost",
            ) from None
        if costs.shape != (n,):
            raise ShapeError(
                f"{what}: the cost has shape {costs.shape}, expected ({n},): one number for each motion. Sum over time "
                f"(the second axis of q, {motions.q.shape}) and coordinates (the third).",
                found=costs.shape,
                expected=(n,),
            )
        lost = ~(np.isfinite(motions.q[:, -1]).all(axis=1) & np.isfinite(motions.v[:, -1]).all(axis=1))
        if lost.all():
            raise SimulationError(
                f"{what}: no motion of {n} samples is finite at the end of the horizon. Use a smaller dt or more "
                "substeps, or a smaller covariance."
            )
        bad = ~lost & np.isnan(costs)
        if bad.any():
            k = int(np.argmax(bad))
            raise NonFiniteError(
                f"{what}: the cost of sample {k} is nan, and the motion of this sample is finite: is a square root or "
                f"a logarithm in the cost? {int(bad.sum())} of {n} costs are nan.",
                sample=k,
            )
        costs[lost] = np.inf
        if not np.isfinite(costs).any():
            raise NonFiniteError(f"{what}: the costs of all {n} samples are infinite, expected finite ones.")
        return costs, int(lost.sum())

    def __repr__(self) -> str:
        span = f"{self.samples} samples of {self.horizon} controls of {self.dt:g} s"
        return f"<{type(self).__name__} of model {self.model.name!r}, {span}>"


def _interpolated(at, places, values) -> np.ndarray:
    """Columns of values at places, linear between them and constant beyond."""
    return np.stack([np.interp(at, places, column) for column in values.T], axis=1)
