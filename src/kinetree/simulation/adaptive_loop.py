"""The loop over adaptive solves: each from one possible discontinuity to the next."""

from __future__ import annotations

from collections import deque

import numpy as np

from kinetree.simulation.components import Step

LATEST = 20  # steps


class _OnTheWay:
    """Progress of a solve: its samples so far, and the latest steps."""

    def __init__(self) -> None:
        self._samples, self._latest = [], deque(maxlen=LATEST)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray, sampled: bool) -> None:
        (self._samples if sampled else self._latest).append((t, q, v))

    def rows(self, after: float) -> list[tuple[float, np.ndarray, np.ndarray]]:
        """Those after a time [s], in order: the samples, and the steps since the last of them."""
        found = []
        for t, q, v in (*self._samples, *self._latest):
            if t > (found[-1][0] if found else after):
                found.append((t, q, v))
        return found


class AdaptiveLoop:
    """Advances by adaptive solves; a new one at every possible discontinuity, and with every call.

    Parameters
    ----------
    system : System
    state : RunState
        Where the run is; it is advanced.
    inputs : BoundInputs
    components : Components
    monitor : Monitor
    record : Recorder
    every : int
        Record every so many multiples of dt.
    method : Adaptive
    counts : dict
        Evaluations, steps and rejections are added there.
    passages : Passages
        Singular positions are added there.
    """

    def __init__(self, system, state, inputs, components, monitor, record, every, method, counts, passages) -> None:
        self._system, self._run_state, self._inputs, self._components = system, state, inputs, components
        self._monitor, self._record, self._every = monitor, record, every
        self._method, self._counts, self._passages = method, counts, passages

    def advance(self, end: float, tick) -> bool:
        """Advance to a time [s]; whether a state reset ended the run before.

        Raises
        ------
        SimulationError
            The solver cannot continue; the samples so far are recorded, as with every error.
        """
        state, inputs, is_over = self._run_state, self._inputs, False
        while any(state.whole_steps(end)) and not is_over:
            start = state.time
            if not state.evaluated:
                inputs.segment(start, state.q, state.v)
            stop = min(end, inputs.next_time(start))
            if self._components.having("after_step"):
                stop = min(stop, start + state.dt)
            whole, rest = state.whole_steps(stop)
            steps = np.arange(whole + (rest > 0.0))
            sampled = steps[((state.count + steps) % self._every == 0) | ((steps == 0) & self._monitor.was_reset)]
            times = np.append(state.origin + (state.n + sampled) * state.dt, stop)
            recorded = len(sampled) > 0 and sampled[0] == 0
            times = times if recorded else np.append(start, times)  # the solver begins with the first
            reached = _OnTheWay()
            try:
                solution = self._solve(times, tick=tick, keep=reached)
            except BaseException:
                self._recover(reached, recorded)
                raise
            self._counts["evaluations"] += solution.evaluations
            self._counts["steps"] += solution.steps or 0
            self._counts["rejections"] += solution.rejections or 0
            if solution.passages is not None:
                self._passages.extend(solution.passages)
            is_over = self._take(times, solution, 0 if recorded else 1)
        return is_over

    def _solve(self, times, **settings):
        state, inputs = self._run_state, self._inputs
        return self._method.solve(self._system, state.q, state.v, times, inputs.command, inputs.f_ext, **settings)

    def _recover(self, reached: _OnTheWay, with_start: bool) -> None:
        """Record the samples of a solve that failed, and with solvers of other packages the steps after them."""
        state, inputs = self._run_state, self._inputs
        start = [(state.time, state.q, state.v)] if with_start else []
        for t, q, v in [*start, *reached.rows(after=state.time)]:
            try:
                self._record.append(t, q, v, inputs.command(t, q, v), *inputs.recorded(t))
            except Exception:  # the user's own code, which may be the cause of the failure
                return

    def _take(self, times, solution, keep: int) -> bool:
        """Record the samples of a solve from row ``keep`` on, and go to its end; whether the run is over."""
        state, inputs, Q, V = self._run_state, self._inputs, solution.q, solution.v
        for m, (t, q, v) in enumerate(zip(times.tolist(), Q, V, strict=True)):
            if keep <= m < len(times) - 1:
                self._record.append(t, q, v, inputs.command(t, q, v), *inputs.recorded(t))
        done = None
        if self._monitor.needed:
            tau = inputs.command(state.time, state.q, state.v)
            done = Step.of(len(tau), state.time, state.q, state.v, float(times[-1]), Q[-1], V[-1], tau)
        self._monitor.was_reset = False
        whole, rest = state.whole_steps(float(times[-1]))
        state.count += whole + (rest > 0.0)
        state.evaluated = False
        if rest:
            state.reset_to(times[-1], Q[-1], V[-1])
        else:
            state.n, state.q, state.v = state.n + whole, Q[-1], V[-1]
        reset = self._monitor.after_step(done) if done is not None else None
        if reset is None:
            return False
        state.reset_to(reset.t, reset.q, reset.w)
        return reset.stop
