"""Trajectory optimization by iterated linear quadratic regulators, or by differential dynamic programming."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import (
    a_callable,
    a_method,
    a_model,
    array,
    checked,
    choice,
    number,
    progress_bar,
    refuse,
    whole,
)
from kinetree.compiler.function import Function
from kinetree.control.controller import Controller
from kinetree.errors import ArgumentError, NonFiniteError, ShapeError, SimulationError
from kinetree.predictive_control.controlled_rollout import actuated_columns, effort_bound, full_plan
from kinetree.predictive_control.linearized_steps import LinearizedSteps
from kinetree.predictive_control.riccati import QuadraticModel, backward_pass
from kinetree.predictive_control.stage_costs import StageCost
from kinetree.simulation.options import A_TIME
from kinetree.simulation.progress import Progress

STEP_LENGTHS = 0.5 ** np.arange(10.0)
ACCEPTED = 1e-4  # of the expected decrease
LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e10
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class OptimalMotion(Controller):
    """A motion of least cost with its feedback: a controller; made by `iLQR`.

    Attributes
    ----------
    time : (T + 1,) array
        [s], from zero.
    q : (T + 1, nq) array
        Positions [rad or m; quaternions unit].
    v : (T + 1, nv) array
        Velocities [rad/s or m/s].
    tau : (T, nv) array
        Joint forces, constant between two instants [N m or N].
    K : (T, nv, 2*nv) array
        Feedback of ``x = (difference(q[k], q), v - v[k])``, ``tau[k] + K[k] x`` [N m/rad, N m s/rad and so on]; rows of
        forces at their bounds are zero.
    cost : float
        [unit of the cost]
    costs : (iterations + 1,) array
        Before the first iteration and after each [unit of the cost].
    gradient : float
        Largest derivative of the cost with respect to a force that is not at a bound [cost per N m or N].
    iterations : int
    converged : bool
        Whether no step is expected to lower the cost by more than the tolerance.
    message : str
    seconds : float
        Wall time [s].
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    K: np.ndarray
    cost: float
    costs: np.ndarray
    gradient: float
    iterations: int
    converged: bool
    message: str
    seconds: float

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("time", "q", "v", "tau", "K", "costs"):
            self._set(name, np.array(getattr(self, name)))

    def law(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces before they are cut to their bounds [N m or N]."""
        dt = self.time[1]
        k = min(max(int(t / dt + 1e-6), 0), len(self.tau) - 1)
        at = k if t < self.time[-1] - 1e-6 * dt else k + 1
        x = np.concatenate((self._computed("difference", t, self.q[at], q), v - self.v[at]))
        return self.tau[k] + self.K[k] @ x

    def __repr__(self) -> str:
        return f"<OptimalMotion of model {self.model.name!r}: cost {self.cost:.6g}, {self.message}>"


class iLQR:  # noqa: N801 - the name of the method
    r"""Optimal control of a model by iterated linear quadratic regulators: ``solve(q0, v0) -> OptimalMotion``.

    .. math:: \min_u\; \phi(x_T) + \Delta t \sum_{k<T} l(x_k, u_k),\qquad x_{k+1} = f(x_k, u_k),\quad |u| \le u_{max}

    Parameters
    ----------
    model : Model
        A tree with springs, damping, stops, motors; without loops, contacts and internal states.
    running, terminal : callable, optional
        Costs of an instant, ``running(s)`` and ``terminal(s)``, written and traced as for
        `kinetree.simulation.DifferentiableRollout`: ``s.q``, ``s.v``, ``s.tau``, ``s.reference``, ``s.point(frame)``
        and so on. Their exact Hessians are used.
    dt : float
        Time between two forces [s], one step of the integrator.
    horizon : int
        Number T of steps.
    method : {"ilqr", "ddp"}
        "ddp" adds the second derivatives of steps, where the Hessians with them are definite: fewer iterations near the
        solution, dearer ones.
    actuated : str or sequence of str, optional
        Joints that are controlled; default all.
    effort_limit : "model", float, sequence or mapping, optional
        Bounds of the forces [N m or N]: those of the model (default), others, or None for none. They are constraints
        of each backward pass (box-DDP).
    integrator : str
        "auto", "semi_implicit", "rk4" or "linearly_implicit", as for `rollout`.
    iterations : int
        The most.
    tolerance : float
        Expected decrease of the cost, relative to 1 plus its size, at which the search ends.
    threads : int, optional
        As for `rollout`.
    progress : bool, optional
        Whether a progress bar is shown; default after a second, in terminals.

    Notes
    -----
    Source: W. Li, E. Todorov, "Iterative linear quadratic regulator design for nonlinear biological movement systems",
    ICINCO 2004; D. Q. Mayne (1966) for "ddp"; regularization of Tassa, Erez, Todorov (2012); bounds of Tassa, Mansard,
    Todorov (2014). Derivatives of steps and costs are exact and on the manifold of positions, so that free bodies and
    ball joints need no charts. Ten step lengths are simulated at once, as one batch.
    On a linear model with quadratic costs the first iteration is the solution of Riccati's equation.
    Stops and dry friction give motions with kinks, at which the search may end early, as ``message`` says: plan with
    ``model.without_limits()`` and a cost near the limits, simulate with the stops.

    See Also
    --------
    MPPI, CEM, lqr, kinetree.rollout_gradient

    Examples
    --------
    A pendulum of 1 kg and 1 m is swung up:

    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.pendulum()
    >>> effort = lambda s: 0.1 * s.tau[0] ** 2
    >>> upright = lambda s: 50.0 * ((s.q[0] - np.pi) ** 2 + 0.1 * s.v[0] ** 2)
    >>> solve = kt.control.iLQR(model, effort, upright, dt=0.02, horizon=100)
    >>> found = solve([0.0])
    >>> found.converged, bool(abs(found.q[-1, 0] - np.pi) < 0.1)
    (True, True)
    """

    @checked(
        model=a_model, running=a_callable, terminal=a_callable, integrator=a_method, progress=progress_bar
    )  # fmt: skip
    def __init__(
        self,
        model,
        running: Callable | None = None,
        terminal: Callable | None = None,
        *,
        dt: float,
        horizon: int,
        method: str = "ilqr",
        actuated=None,
        effort_limit="model",
        integrator="auto",
        iterations: int = 300,
        tolerance: float = 1e-9,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.dt = number("iLQR: dt", dt, A_TIME, above=0.0)
        self.horizon = whole("iLQR: horizon", horizon, "a positive number of steps", least=1)
        self.method = choice("iLQR: method", method, ("ilqr", "ddp"))
        self.iterations = whole("iLQR: iterations", iterations, "a positive whole number", least=1)
        self.tolerance = number("iLQR: tolerance", tolerance, "a positive number", above=0.0)
        if running is None and terminal is None:
            raise ArgumentError("iLQR: there is no cost; give running, terminal or both.", argument="running")
        self.running, self.terminal, self.threads, self.progress = running, terminal, threads, progress
        self._columns = actuated_columns("iLQR", model, actuated)
        self._bound = effort_bound("iLQR", model, effort_limit)[self._columns]
        self._steps = LinearizedSteps("iLQR", model, integrator, self.dt, threads)
        self.model, self.integrator = self._steps.model, self._steps.integrator
        self._difference = Function(ALGORITHMS["difference"], self.model, (), {}, False, threads)
        self._keep = np.concatenate((np.arange(2 * model.nv), 2 * model.nv + self._columns))

    def __call__(self, q0, v0=None, plan=None, *, reference=None) -> OptimalMotion:
        """The motion of least cost from a state.

        Parameters
        ----------
        q0 : (nq,) array_like
            Positions at the start [rad or m; quaternions unit].
        v0 : (nv,) array_like, optional
            Velocities at the start [rad/s or m/s]; default rest.
        plan : (T, nu) or (nu,) array_like, optional
            First guess of the forces of the actuated coordinates [N m or N]; default zero.
        reference : (T + 1, n) or (n,) array_like, optional
            Values that the costs use as ``s.reference`` [in any unit].

        Returns
        -------
        OptimalMotion

        Raises
        ------
        SimulationError
            The motion under the first guess, or its cost, is not finite.
        ArgumentError, ShapeError, NonFiniteError
        """
        return _Search(self, q0, v0, plan, reference).run()

    def __repr__(self) -> str:
        return f"<iLQR of model {self.model.name!r}, {self.horizon} steps of {self.dt:g} s by {self.integrator}>"


class _Search:
    """One search: the current motion and its cost."""

    def __init__(self, owner: iLQR, q0, v0, plan, reference) -> None:
        self.owner, model, T = owner, owner.model, owner.horizon
        self.q0 = array("iLQR: q0", q0, shape=(model.nq,))
        self.v0 = np.zeros(model.nv) if v0 is None else array("iLQR: v0", v0, shape=(model.nv,))
        if not (np.isfinite(self.q0).all() and np.isfinite(self.v0).all()):
            raise NonFiniteError("iLQR: q0 or v0 has an entry that is not finite.")
        self.u = full_plan("iLQR: plan", plan, T, len(owner._columns))
        self.bounded = bool(np.isfinite(owner._bound).any())
        self.u = np.clip(self.u, -owner._bound, owner._bound)
        self.rows = self._reference(reference)
        size = 0 if self.rows is None else self.rows.shape[-1]
        self.running, self.terminal = (
            None if f is None else StageCost(model, f, forces, size, owner.threads)
            for f, forces in ((owner.running, True), (owner.terminal, False))
        )

    def _reference(self, reference) -> np.ndarray | None:
        if reference is None:
            return None
        try:
            x = np.asarray(reference, dtype=float)
        except (TypeError, ValueError):
            refuse("iLQR: reference", reference, "numbers")
        rows = self.owner.horizon + 1
        if x.ndim not in (1, 2) or (x.ndim == 2 and len(x) != rows):
            raise ShapeError(
                f"iLQR: reference has shape {x.shape}, expected ({rows}, n), one row for each of the {rows} instants, "
                "or (n,) for all.",
                found=x.shape,
            )
        return np.array(np.broadcast_to(x, (rows, x.shape[-1])))

    # The search ------------------------------------------------------------------------------------------------------

    def run(self) -> OptimalMotion:
        owner, started = self.owner, time.perf_counter()
        motions = self._forward(self.u, None, np.zeros(1))
        cost = float(self._cost(motions)[0])
        if not np.isfinite(cost):
            raise SimulationError(
                f"iLQR: the cost of the first plan is {cost}, expected a finite one: the motion may blow up. Give "
                "another plan, or a smaller dt."
            )
        self._take(motions, 0)
        costs, damping, growth, policy, model = [cost], 0.0, 1.0, None, None
        converged, message = False, f"{owner.iterations} iterations did not suffice"
        bar = Progress("iLQR", owner.iterations, owner.progress)
        try:
            while len(costs) <= owner.iterations:
                model = model or self._quadratic()
                bounds = (-owner._bound - self.u, owner._bound - self.u) if self.bounded else None
                found = backward_pass(model, damping, bounds)
                if found is None and model.curvature:  # indefinite, far from a solution: as in iLQR
                    found = backward_pass(replace(model, curvature=None), damping, bounds)
                change = 0.0 if found is None else found.linear + found.quadratic
                policy = found or policy
                size = 1.0 + abs(cost)
                if found and -change <= (owner.tolerance if damping <= LEAST_DAMPING else ROUNDING) * size:
                    converged, message = True, f"converged after {len(costs) - 1} iterations"
                    break
                better = found and self._search_line(found, cost)
                if better:
                    cost, model = better, None
                    costs.append(cost)
                    bar.tick(len(costs) - 1, f"cost {cost:.6g}")
                    growth = min(0.5, 0.5 * growth)
                    damping = damping * growth if damping * growth >= LEAST_DAMPING else 0.0
                    continue
                growth = max(2.0, 2.0 * growth)
                damping = max(LEAST_DAMPING, damping * growth)
                if damping > MOST_DAMPING:
                    message = "no step lowers the cost, although its gradient is not zero: are there stops or friction?"
                    break
        finally:
            bar.close()
        if policy is None:
            raise SimulationError(
                "iLQR: the Hessian of the cost in the forces is not positive definite at any damping."
            )
        K = np.zeros((owner.horizon, owner.model.nv, 2 * owner.model.nv))
        K[:, owner._columns] = policy.K
        T, limit = owner.horizon, np.full(owner.model.nv, np.inf)
        limit[owner._columns] = owner._bound
        return OptimalMotion(
            owner.model, owner.dt * np.arange(T + 1.0), self.q, self.v, self.tau, K, cost, np.array(costs),
            policy.slope, len(costs) - 1, converged, message, time.perf_counter() - started,
            effort_limit=limit if self.bounded else None,
        )  # fmt: skip

    def _search_line(self, policy, cost: float) -> float | None:
        """Take the best of the step lengths that lower the cost enough; the new cost, None if none does."""
        motions = self._forward(self.u, policy, STEP_LENGTHS)
        costs = self._cost(motions)
        a = STEP_LENGTHS
        expected = a * policy.linear + a * a * policy.quadratic
        fine = np.isfinite(costs) & (costs - cost <= ACCEPTED * expected) & (costs < cost)
        if not fine.any():
            return None
        best = int(np.argmin(np.where(fine, costs, np.inf)))
        self._take(motions, best)
        return float(costs[best])

    def _take(self, motions, k: int) -> None:
        self.q, self.v, self.tau, self.u = (np.ascontiguousarray(x[:, k]) for x in motions)

    def _forward(self, u, policy, lengths):
        """Motions (T + 1, N, nq), (T + 1, N, nv), forces (T, N, nv) and controls (T, N, nu) by step lengths (N,)."""
        owner, N, T = self.owner, len(lengths), self.owner.horizon
        q, v = np.empty((T + 1, N, owner.model.nq)), np.empty((T + 1, N, owner.model.nv))
        tau, new = np.zeros((T, N, owner.model.nv)), np.empty((T, N, u.shape[1]))
        q[0], v[0] = self.q0, self.v0
        with np.errstate(all="ignore"):  # of motions that blow up: their costs are infinite
            for t in range(T):
                now = u[t]
                if policy is not None:
                    x = np.concatenate((self._along(self.q[t], q[t]), v[t] - self.v[t]), axis=-1)
                    now = now + lengths[:, None] * policy.k[t] + x @ policy.K[t].T
                    now = np.clip(now, -owner._bound, owner._bound) if self.bounded else now
                new[t] = now
                tau[t][:, owner._columns] = now
                q[t + 1], v[t + 1] = owner._steps.next(q[t], v[t], tau[t])
        return q, v, tau, new

    def _along(self, q_d, q):
        return self.owner._difference(np.repeat(q_d[None], len(q), axis=0), q)  # dense arrays take the shortest way

    # Costs -----------------------------------------------------------------------------------------------------------

    def _at(self, q, v, tau=None) -> list[np.ndarray]:
        """Arguments of the running cost at all steps, or of the terminal one at the end."""
        at = [q[-1], v[-1]] if tau is None else [q[:-1], v[:-1], tau]
        if self.rows is None:
            return at
        rows = self.rows[-1] if tau is None else self.rows[:-1].reshape(-1, *(1,) * (tau.ndim - 2), self.rows.shape[-1])
        return [*at, np.broadcast_to(rows, (*at[0].shape[:-1], self.rows.shape[-1]))]

    def _cost(self, motions) -> np.ndarray:
        """Costs (N,); infinite for motions that are not finite."""
        q, v, tau, _ = motions
        cost = np.zeros(q.shape[1])
        with np.errstate(all="ignore"):
            if self.running:
                cost = cost + self.owner.dt * self.running.value(*self._at(q, v, tau)).sum(axis=0)
            if self.terminal:
                cost = cost + self.terminal.value(*self._at(q, v))
        finite = np.isfinite(q[-1]).all(axis=1) & np.isfinite(v[-1]).all(axis=1)
        bad = finite & np.isnan(cost)
        if bad.any() and len(cost) == 1:
            raise NonFiniteError(
                "iLQR: the cost of a motion that is finite is nan: is a square root or a logarithm in it?"
            )
        return np.where(finite & ~bad, cost, np.inf)

    def _quadratic(self) -> QuadraticModel:
        """Steps and costs about the current motion."""
        owner, columns = self.owner, self.owner._columns
        n, T, m = 2 * owner.model.nv, owner.horizon, len(columns)
        A, B = owner._steps.jacobians(self.q[:-1], self.v[:-1], self.tau, self.q[1:])
        l_x, l_xx = np.zeros((T + 1, n)), np.zeros((T + 1, n, n))
        l_u, l_uu, l_ux = np.zeros((T, m)), np.zeros((T, m, m)), np.zeros((T, m, n))
        keep = owner._keep
        if self.running:
            g, H = self.running.derivatives(*self._at(self.q, self.v, self.tau))
            g, H = owner.dt * g[:, keep], owner.dt * H[:, keep[:, None], keep]
            l_x[:-1], l_u, l_xx[:-1], l_uu, l_ux = g[:, :n], g[:, n:], H[:, :n, :n], H[:, n:, n:], H[:, n:, :n]
        if self.terminal:
            l_x[-1], l_xx[-1] = self.terminal.derivatives(*self._at(self.q, self.v))
        curvature = self._curvature if owner.method == "ddp" else None
        return QuadraticModel(A, np.ascontiguousarray(B[..., columns]), l_x, l_u, l_xx, l_uu, l_ux, curvature)

    def _curvature(self, k: int, V_x):
        owner, keep = self.owner, self.owner._keep
        unit = np.eye(3 * owner.model.nv)[keep]
        H = owner._steps.curvature(self.q[k], self.v[k], self.tau[k], self.q[k + 1], V_x, unit)[:, keep]
        return 0.5 * (H + H.T)
