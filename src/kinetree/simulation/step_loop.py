"""The loops over fixed steps: a plain one, and one with events, sampling times, limits and state resets."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from kinetree.integrators.singular_steps import SingularSteps
from kinetree.integrators.trials import RUNAWAY, is_sane
from kinetree.simulation.components import ImpulseEvent, Step

CHECK_EVERY = 64  # steps between checks of the state where nothing else reads it: rare, so of negligible cost
LEAST_ROWS = 64  # of a record, once there is one
TIME_TOLERANCE = 1e-6  # of a step: a shorter remainder is rounding


class RunState:
    """The state of a run, with the time as a count of steps from an origin.

    Attributes
    ----------
    q, v : numpy.ndarray
        Internal states of force elements follow the velocities, here and in the record.
    origin : float
        Time from which steps are counted [s].
    n : int
        Steps since then: the time is ``origin + n dt``, without the rounding of a sum.
    count : int
        Steps since the run began.
    dt : float
    evaluated : bool
        Whether the controller has been called for this instant.
    """

    __slots__ = ("evaluated", "count", "dt", "n", "origin", "q", "v")

    def __init__(self, q: np.ndarray, v: np.ndarray, dt: float) -> None:
        self.q, self.v, self.dt = q, v, dt
        self.origin, self.n, self.count, self.evaluated = 0.0, 0, 0, False

    @property
    def time(self) -> float:
        """[s]"""
        return self.origin + self.n * self.dt

    def reset_to(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Set a time off the grid, which is a new origin, and the state."""
        self.origin, self.n, self.q, self.v = float(t), 0, q, v

    def whole_steps(self, end: float) -> tuple[int, float]:
        """Number of whole steps before ``end``, and the remainder [s]: zero if that is rounding."""
        steps = (end - self.time) / self.dt
        whole = round(steps)
        if abs(steps - whole) <= TIME_TOLERANCE:
            return max(whole, 0), 0.0
        whole = math.floor(steps)
        return whole, end - (self.origin + (self.n + whole) * self.dt)


class Recorder:
    """Times, positions, velocities and joint forces of the samples.

    Parameters
    ----------
    model : Model
    wrenches : bool
        Whether external wrenches are recorded, too: those that depend on the state.
    impulses, work : int
        How many impulses of a step are, and works of impulses, where not every step is recorded.

    Attributes
    ----------
    time, q, v, tau, wrenches, u, impulses, work : numpy.ndarray
        Rows; only the first ``rows`` are filled. The last four have none if they are not recorded. Impulses are those
        of contacts and bounded rows in the step that begins at the sample.
    rows : int
    waiting, waiting_impulses : list
        Of `OneStep`: (time, q, v, tau) of samples that are written together, and impulses, of which the last one may be
        missing. They become rows where ``rows`` is read.
    """

    def __init__(self, model, wrenches: bool = False, impulses: int = 0, work: int = 0) -> None:
        self._rows, self.waiting, self.waiting_impulses = 0, [], []
        self.time, self.q, self.v = np.empty(0), np.empty((0, model.nq)), np.empty((0, model.nw))
        self.tau, self.wrenches, self.u = np.empty((0, model.nv)), np.empty((0, model.nb, 6)), np.empty((0, model.nu))
        self.impulses, self.work = np.empty((0, impulses)), np.empty((0, work))
        more = (("wrenches", wrenches), ("u", model.nu), ("impulses", impulses), ("work", work))
        self._columns = ("time", "q", "v", "tau", *(name for name, is_recorded in more if is_recorded))

    @property
    def rows(self) -> int:
        """How many rows are filled."""
        if self.waiting:
            self.write()
        return self._rows

    @rows.setter
    def rows(self, rows: int) -> None:
        self._rows = rows

    def write(self) -> None:
        """Write the samples that wait; there is room for them."""
        start, stop = self._rows, self._rows + len(self.waiting)
        columns = zip(*self.waiting, strict=True)
        self.time[start:stop] = next(columns)
        for rows, arrays in zip((self.q, self.v, self.tau), columns, strict=True):
            np.concatenate(arrays, out=rows[start:stop].reshape(-1))
        if self.waiting_impulses:
            there = self.impulses[start : start + len(self.waiting_impulses)]
            np.concatenate(self.waiting_impulses, out=there.reshape(-1))
        self._rows, self.waiting, self.waiting_impulses = stop, [], []

    def reserve(self, more: int) -> None:
        """Make room for so many more rows."""
        needed = self.rows + more
        if needed <= len(self.time):
            return
        size = max(needed, LEAST_ROWS, 2 * len(self.time) if self.rows else 0)
        for name in self._columns:
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]))  # the step from the last sample may not be made
            new[: self.rows] = old[: self.rows]
            setattr(self, name, new)

    def append(self, t: float, q, v, tau, wrenches=None, u=None, work=None) -> None:
        """Add a row."""
        self.reserve(1)
        row = self.rows
        self.time[row], self.q[row], self.v[row], self.tau[row] = t, q, v, tau
        if wrenches is not None:
            self.wrenches[row] = wrenches
        if u is not None:
            self.u[row] = u
        if work is not None and len(work):
            self.work[row] = work
        self.rows = row + 1

    def forget(self, t: float) -> None:
        """Drop the last row if it is of this time: a step from there failed, and it will be recorded again."""
        if self.rows and self.time[self.rows - 1] == t:
            self.rows -= 1

    def get_state(self) -> dict[str, np.ndarray]:
        """The filled rows, as copies."""
        return {name: getattr(self, name)[: self.rows].copy() for name in self._columns}

    def set_state(self, state: dict[str, np.ndarray] | None) -> None:
        """Restore a state of `get_state`; None for no rows."""
        if state is None:
            self.rows = 0
            return
        for name in self._columns:
            setattr(self, name, np.array(state[name]))
        self.rows = len(self.time)


class NotFiniteState(Exception):
    """The state is NaN or beyond all bounds; the loop's caller explains."""


def run_steps(state: RunState, steps: int, stepper, inputs, record, every: int, project, tick) -> None:
    """Whole steps without events, impacts or sampling times; the controller is called at each.

    This loop is the overhead of a step beyond its arithmetic, so it uses local names. A controller never gets a state
    that is not finite: with one, every state is checked. Without, every 64th, and the steps before a bad one are
    repeated to find the first; not of multistep methods, or whose sums in NumPy would warn.

    Raises
    ------
    NotFiniteState
        ``state`` is the first such state.
    """
    step, f_ext, dt, origin = stepper.step, inputs.f_ext, state.dt, state.origin
    begin, hold = inputs.begin_function(), inputs.hold_function()
    if state.count % every == 0:
        record.forget(state.time)
    record.reserve(steps // every + 1)
    T, Q, V, TAU, row = record.time, record.q, record.v, record.tau, record.rows
    touches, sums, impulses_due = record.impulses.shape[1] > 0, len(record.work) > 0, False
    q, v, n, count, evaluated = state.q, state.v, state.n, state.count, state.evaluated
    last, good = n + steps, (q, v, n)
    choose, choice = (stepper.choose, n) if isinstance(stepper, SingularSteps) else (None, -1)
    seen = begin is not None or hasattr(stepper, "get_state") or hasattr(stepper, "tableau")
    look = 1 if seen else CHECK_EVERY
    try:
        while n < last:
            t = origin + n * dt
            if begin is not None:
                if evaluated:
                    evaluated = False
                else:
                    begin(t, q, v)
            if count % every == 0:
                T[row], Q[row], V[row], TAU[row] = t, q, v, hold(t)
                if sums:
                    record.work[row] = stepper.work
                row, impulses_due = row + 1, touches
            if n == choice:
                step, more = choose(t, dt, q, v)
                choice = n + more
            q, v = step(t, dt, q, v, hold, f_ext)
            if impulses_due:
                record.impulses[row - 1], impulses_due = stepper.impulses, False
            n += 1
            count += 1
            if count % look == 0 or n == last:
                if not is_sane(q, v):
                    if look > 1:
                        found, (q, v, n) = n, good
                        while n < found and is_sane(q, v):
                            q, v = step(origin + n * dt, dt, q, v, hold, f_ext)
                            n += 1
                        count -= found - n
                    raise NotFiniteState
                if count % CHECK_EVERY == 0 or n == last:
                    if count % CHECK_EVERY == 0:
                        q, v = project(q, v)
                    tick(origin + n * dt)
                good = q, v, n
    finally:
        record.rows = row
        state.q, state.v, state.n, state.count, state.evaluated = q, v, n, count, False


class OneStep:
    """A whole step without events, impacts or sampling times, prepared: as `run_steps` of one, in half of its time.

    Parameters
    ----------
    state : RunState
    stepper : object
    inputs : BoundInputs
    record : Recorder
        Of every step.
    project : callable
    """

    def __init__(self, state: RunState, stepper, inputs, record, project) -> None:
        self._state, self._stepper, self._record, self._project = state, stepper, record, project
        self._step, self._f_ext, self._touches = stepper.step, inputs.f_ext, record.impulses.shape[1] > 0
        self._begin, self._hold = inputs.begin_function(), inputs.hold_function()
        self._looks = hasattr(stepper, "is_sane")

    def __call__(self) -> None:
        """Make the step.

        Raises
        ------
        NotFiniteState
            The state is the first that is not finite.
        """
        state, record = self._state, self._record
        q, v, dt, waiting = state.q, state.v, state.dt, record.waiting
        t = state.origin + state.n * dt
        if self._begin is not None:
            if not state.evaluated:
                self._begin(t, q, v)
            state.evaluated = False
        if not waiting:
            record.forget(t)
            record.reserve(CHECK_EVERY)
        elif waiting[-1][0] == t:  # a step from there failed
            waiting.pop()
        waiting.append((t, q, v, self._hold(t)))
        q, v = self._step(t, dt, q, v, self._hold, self._f_ext)
        if self._touches:
            record.waiting_impulses.append(self._stepper.impulses)
        if len(waiting) == CHECK_EVERY:
            record.write()
        state.q, state.v, state.n, state.count = q, v, state.n + 1, state.count + 1
        # Velocities depend on the positions before. A sum is the fastest check, not finite where one of them is not.
        if not (self._stepper.is_sane if self._looks else -RUNAWAY < sum(v.tolist()) < RUNAWAY):
            raise NotFiniteState
        if state.count % CHECK_EVERY == 0:
            if not is_sane(q, v):
                raise NotFiniteState
            state.q, state.v = self._project(q, v)


def run_monitored_steps(
    state: RunState, end: float, stepper, inputs, record, every: int, project, tick, monitor
) -> bool:
    """Steps that end where something happens; whether the run is over.

    Parameters
    ----------
    end : float
        Where to stop [s].
    monitor : Monitor
        Checks every step.

    Returns
    -------
    bool
        True if a state reset ended the run before ``end``.
    """
    dt = state.dt
    hold, f_ext = inputs.hold_function(), inputs.f_ext
    if state.count % every == 0:
        record.forget(state.time)
    while True:
        t = state.time
        if end - t <= TIME_TOLERANCE * dt:
            return False
        if inputs.at_steps and not state.evaluated:
            inputs.begin(t, state.q, state.v)
        sampled = state.count % every == 0 or monitor.was_reset
        if sampled:
            record.append(t, state.q, state.v, hold(t), *inputs.recorded(t), getattr(stepper, "work", None))
        monitor.was_reset = False
        stop = min(end, inputs.next_time(t)) if inputs.has_instants else end
        whole, rest = state.whole_steps(stop)
        h = dt if whole else rest
        q, v = stepper.step(t, h, state.q, state.v, hold, f_ext)
        if sampled and record.impulses.shape[1]:
            record.impulses[record.rows - 1] = (dt / h) * stepper.impulses  # of a whole step under the same forces
        tau = hold(t)
        done = Step.of(len(tau), t, state.q, state.v, t + h, q, v, tau)
        if not is_sane(q, v):
            state.q, state.v, state.n = q, v, state.n + 1
            raise NotFiniteState
        state.evaluated = False
        state.count += 1
        if state.count % CHECK_EVERY == 0:
            q, v = project(q, v)
            tick(t + h)
        reset = monitor.after_step(done)
        if reset is not None:
            state.reset_to(reset.t, reset.q, reset.w)
            if reset.stop:
                return True
        elif whole:
            state.n, state.q, state.v = state.n + 1, q, v
            if whole == 1 and not rest and stop < end:  # an instant on the grid: count from it, or rounding adds up
                state.reset_to(stop, q, v)
        else:
            state.reset_to(stop, q, v)


class Monitor:
    """Checks of every step by the components.

    Parameters
    ----------
    components : Components
    stepper : object
        Reset where the state is discontinuous, if it has a memory.
    energy : callable
        ``energy(t, q, v)``: kinetic, of gravity and elastic, for the energy of impulse events [J].
    """

    def __init__(self, components, stepper, energy) -> None:
        self._components, self._stepper, self._energy = components, stepper, energy
        self.impulses: list[ImpulseEvent] = []
        self.was_reset = False

    @property
    def needed(self) -> bool:
        """Whether there is anything that checks steps."""
        return bool(self._components.having("after_step"))

    def after_step(self, step: Step):
        """The state reset by a component, after its energy is accounted."""
        reset = self._components.after_step(step)
        if reset is None:
            return None
        self.was_reset = True
        energy = 0.0
        if reset.before is not None:
            before, after = (self._energy(reset.t, reset.q, v) for v in (reset.before, reset.v))
            energy = after - before
        self.impulses.append(ImpulseEvent(reset.t, reset.label, energy, reset.joint))
        self._components.after_reset(reset.t)
        if hasattr(self._stepper, "reset"):
            self._stepper.reset()
        return reset


def projection(system):
    """Remove rounding errors off the manifold: errors of quaternion lengths and coupling residuals."""
    normalize = system.function("normalize")
    if not system.model.couplings:
        return lambda q, v: (normalize(q), v)
    apply_couplings, nv = system.function("apply_couplings"), system.model.nv

    def project(q, w):
        q, v = apply_couplings(normalize(q), w[:nv])
        return q, np.concatenate((v, w[nv:]))

    return project


def keep_run(error: BaseException, state, record, trajectory: Callable) -> None:
    """Attach the run so far to an error, as ``error.trajectory``; None without samples.

    Parameters
    ----------
    error : BaseException
        One that has a trajectory already is left as it is.
    state : RunState
        Where the run is.
    record : Recorder
        The samples so far.
    trajectory : callable
        ``trajectory(last, interrupted=...)`` makes the run of the samples, with ``last`` of where it is, too.
    """
    if hasattr(error, "trajectory"):
        return
    reached = float(record.time[record.rows - 1]) if record.rows else -math.inf
    by = "Ctrl-C" if type(error) is KeyboardInterrupt else f"{type(error).__name__}: {error}".rstrip(": ")
    error.trajectory = None
    # With the state that no sample holds yet, if there is one and the user's code, which may be at fault, takes it.
    for last in (True, False):
        if not (state.time > reached and is_sane(state.q, state.v) if last else record.rows):
            continue
        where = f"interrupted at t = {state.time if last else reached:.9g} s by {by}"
        with suppress(Exception):
            error.trajectory = trajectory(last=last, interrupted=where)
            error.add_note(f"kinetree: {where}; error.trajectory is the run up to there")
            return
