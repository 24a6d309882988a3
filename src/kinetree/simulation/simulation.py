"""A simulation as an object: advanced step by step, saved, restored, and read at any time."""

from __future__ import annotations

import dataclasses
import math
import time
from contextlib import suppress

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_method, a_model, a_number, a_seed, a_truth_value, checked, number
from kinetree.control.digital import composed
from kinetree.errors import KinetreeError, SimulationError, UnsupportedError
from kinetree.integrators.closure import a_closure
from kinetree.integrators.methods import Adaptive, described, is_built_in
from kinetree.integrators.singular_steps import Passages, SingularSteps, passes_singular, sampled_dynamics
from kinetree.integrators.system import System, dynamics_time, internal_arguments
from kinetree.integrators.system import time_argument as model_time
from kinetree.integrators.trials import RUNAWAY
from kinetree.integrators.user_code import ClosedStep, UserStep
from kinetree.simulation import step_loop
from kinetree.simulation.adaptive_loop import AdaptiveLoop
from kinetree.simulation.channels import internal_channels
from kinetree.simulation.choice import refuse_endless
from kinetree.simulation.closed_starts import check_closed
from kinetree.simulation.components import Step
from kinetree.simulation.contact_forces import SummedWork, contact_record
from kinetree.simulation.contact_touches import recorded_touches
from kinetree.simulation.contacts import candidates_of
from kinetree.simulation.events import interpolated
from kinetree.simulation.failures import USABLE, blown_up, with_trajectory
from kinetree.simulation.inputs import BoundInputs
from kinetree.simulation.memory import check_room, sample_bytes
from kinetree.simulation.options import A_TIME, MOVED, Checkpoint, Inputs, Record, an_option
from kinetree.simulation.plan import plan
from kinetree.simulation.progress import Progress
from kinetree.simulation.provenance import provenance, this_session
from kinetree.simulation.run_metadata import RunMetadata
from kinetree.simulation.snapshot import Snapshot, check_settings, fingerprint
from kinetree.simulation.trajectory import Trajectory


class Simulation:
    """A simulation that is advanced step by step or for given durations.

    Parameters
    ----------
    model : Model
    q0, v0, x0, dt, ground, self_collision, integrator, controller, inputs, record, events, components, closure, seed
        As for `simulate`.
    checkpoint : Checkpoint, optional
        A file that gets a snapshot at every multiple of ``checkpoint.every``; it is never read, nor removed.

    Attributes
    ----------
    model : Model
        The model as simulated, with the stops that were added.
    notes : tuple of str
        Choices and additions.
    system : System
        The compiled functions of the model.
    is_adaptive : bool

    Notes
    -----
    A run in pieces has the bits of the run in one, with every fixed step; an adaptive solver restarts with every
    `advance` and at every checkpoint, so there the same pieces have the same bits.

    Examples
    --------
    >>> import kinetree as kt
    >>> sim = kt.Simulation(kt.load("double_pendulum"), [1.0, 0.5], dt=1e-3)
    >>> sim.advance(0.2)
    >>> snapshot = sim.save()
    >>> sim.advance(0.3)
    >>> once = sim.q
    >>> sim.restore(snapshot)
    >>> sim.advance(0.3)
    >>> bool((sim.q == once).all()), round(sim.time, 9)
    (True, 0.5)
    """

    @checked(
        MOVED,
        model=a_model, integrator=a_method, inputs=an_option(Inputs), record=an_option(Record),
        checkpoint=an_option(Checkpoint), closure=a_closure, seed=a_seed, self_collision=a_truth_value,
    )  # fmt: skip
    def __init__(
        self,
        model,
        q0=None,
        v0=None,
        *,
        x0=None,
        dt: float = 1e-3,
        ground=None,
        self_collision: bool = False,
        integrator="auto",
        controller=None,
        inputs: Inputs | None = None,
        record: Record | None = None,
        checkpoint: Checkpoint | None = None,
        events=(),
        components=(),
        closure="projection",
        seed: int | None = None,
    ) -> None:
        dt = number("simulate: dt", dt, A_TIME, above=0.0)
        self._every, self._checkpoint = (record or Record()).steps(dt), checkpoint
        self._plan = made = plan(
            model, q0, v0, x0, seed, dt, integrator, events, components, closure, (ground, self_collision)
        )
        self._origin = *made.digests, seed, this_session()
        self.model, self.notes, self._components, self._method = made.model, made.notes, made.components, made.method
        self.is_adaptive = isinstance(made.method, Adaptive)
        self._inputs = BoundInputs(made.model, composed(controller), inputs or Inputs(), made.components)
        self._inputs.check_delays(None if self.is_adaptive else dt)
        self.system = System(made.model, True) if self._inputs.has_wrenches else made.system
        self._singular = Passages(made.model)
        self.system.drives = tuple(x for x in made.components.all if hasattr(x, "add_rate"))
        self._stepper = self._step_function()
        self.integrator = described(made.method)
        self._monitor = step_loop.Monitor(made.components, self._stepper, self._energy)
        unseen = self._monitor.needed or self._inputs.has_instants or self._inputs.wrench_of_state or made.model.nu
        self._is_plain = not (self.is_adaptive or unseen)  # by the plain loop
        self._project = step_loop.projection(self.system)
        self._run_state = step_loop.RunState(made.q.copy(), made.v.copy(), dt)
        sizes = (len(getattr(self._stepper, name, ())) for name in ("impulses", "work"))
        self._record = step_loop.Recorder(made.model, self._inputs.wrench_of_state, *sizes)
        self._touches = recorded_touches(self._stepper, self._record, self._run_state, self.system)
        self._one_step, self.is_over, self.wall_time, self._since = None, False, 0.0, None
        special = isinstance(self._stepper, SingularSteps) or hasattr(self._stepper, "work")
        if self._is_plain and checkpoint is None and self._every == 1 and not special:
            parts = self._run_state, self._stepper, self._inputs, self._record, self._project
            self._one_step = step_loop.OneStep(*parts)
        self.counts = {"steps": 0, "evaluations": 0, "rejections": 0}
        self._compile_ahead()
        self._inputs.reset()
        if hasattr(self._stepper, "reset"):
            self._stepper.reset()
        for component in self._components.having("reset"):
            component.reset(self)

    def _step_function(self):
        """The fixed step, wrapped by components; None for an adaptive method."""
        wrapping = self._components.having("wrap")
        if self.is_adaptive:
            if not all(getattr(x, "is_built_in", False) for x in wrapping):
                raise SimulationError("simulate: components that change the step need a fixed-step integrator.")
            return None
        stepper = self._method(self.system)
        if self.system.has_loops and passes_singular(self._method):
            stepper = SingularSteps(stepper, self._method, self.system)
            self._singular = stepper.passages
        stepper = self._components.wrap(stepper, self.system)
        if self._every > 1 and len(getattr(stepper, "impulses", ())) and not hasattr(stepper, "work"):
            stepper = SummedWork(stepper, self.system)
        is_foreign = not is_built_in(self._method) or any(not getattr(x, "is_built_in", False) for x in wrapping)
        if not is_foreign:
            return stepper
        return UserStep(ClosedStep(stepper, self.system) if self.system.has_loops else stepper)

    def __repr__(self) -> str:
        return f"Simulation of {self.model.name!r} at t = {self.time:.9g} s, {self.integrator}"

    # State ---------------------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Time of the current state [s]."""
        return self._run_state.time

    @property
    def q(self) -> np.ndarray:
        """Positions, shape (nq,), a copy."""
        return self._run_state.q.copy()

    @property
    def v(self) -> np.ndarray:
        """Velocities, shape (nv,), a copy."""
        return self._run_state.v[: self.model.nv].copy()

    @property
    def x(self) -> np.ndarray:
        """Internal states of force elements, shape (nx,), a copy."""
        return self._run_state.v[self.model.nv :].copy()

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """(q, v), copies."""
        return self.q, self.v

    @property
    def tau(self) -> np.ndarray:
        """Joint forces that act now [N m or N], shape (nv,)."""
        self._ask()
        return np.array(self._inputs.hold(self.time))

    @property
    def dt(self) -> float:
        """Step, or distance of the samples of an adaptive run [s]."""
        return self._run_state.dt

    @property
    def contact_forces(self) -> np.ndarray:
        """Contact forces in the last step along the axes (t1, t2, n) of the contacts [N], shape (n_contacts, 3)."""
        n = self.model.n_contact_rows
        return self._stepper.impulses[:n].reshape(-1, 3) / self._run_state.dt if n else np.zeros((0, 3))

    # Advancing -----------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Advance by one step dt; as `advance`, in fewer microseconds where nothing but the controller acts."""
        if self._one_step is not None and not self.is_over:
            self._since = began = time.perf_counter()
            try:
                try:
                    self._one_step()
                except (step_loop.NotFiniteState, KinetreeError) as error:
                    self._explain(error)
            except BaseException as error:
                self._keep(error)
                raise
            self.wall_time, self._since = self.wall_time + (time.perf_counter() - began), None
        else:
            self.advance(self._run_state.dt)

    def advance(self, duration: float, progress: bool | None = False) -> None:
        """Advance by a duration.

        Parameters
        ----------
        duration : float
            [s]. Where it is no multiple of dt, the last step is shortened.
        progress : bool, optional
            Show a progress bar; None: if it takes longer than a second and stderr is a terminal.

        Raises
        ------
        SimulationError
            The motion is no longer finite, or a controller's value is unusable; ``error.trajectory`` is the run up to
            there.
        MemoryLimitError
            The samples would not fit into memory.
        KeyboardInterrupt, Exception
            Ctrl-C and errors of the user's own code are raised with ``error.trajectory``, too.
        """
        end = self.time + number("simulate: duration", duration, A_TIME, above=0.0)
        if self._plan.steps_per_second:
            refuse_endless(self._plan.steps_per_second, duration, self._method, self.notes)
        self._check_room(end)
        bar = Progress("simulating", end, progress, is_time=True)
        self._since = time.perf_counter()
        try:
            while not self.is_over and self._steps_left(end):
                goal = min(end, stop := math.inf if self._checkpoint is None else self._next_save())
                if self._stepper is None:
                    self._solve(goal, bar)
                else:
                    self._run_steps(goal, bar)
                if stop <= end + step_loop.TIME_TOLERANCE * self.dt and not self.is_over:
                    self.save().save(self._checkpoint.path)
        except BaseException as error:
            self._keep(error)
            raise
        finally:
            bar.close()
            self._stop_clock()

    def _check_room(self, end: float) -> None:
        """Raise an error for a run whose samples do not fit into memory, before it begins."""
        state, inputs, every = self._run_state, self._inputs, self._every
        check_room(
            f"simulate: the samples of {end:g} s, one every {state.dt * every:g} s,",
            (end - state.time) / (state.dt * every) + self._record.rows,
            sample_bytes(self.model, inputs.has_wrenches, inputs.wrench_of_state),
            lambda times: (
                f"Record less often, record=kt.Record(period={times * every * state.dt:.12g}) or "
                f"kt.Record(every={times * every}), or take a shorter duration or a longer dt."
            ),
        )

    def _stop_clock(self) -> None:
        if self._since is not None:
            self.wall_time, self._since = self.wall_time + time.perf_counter() - self._since, None

    def _steps_left(self, end: float) -> bool:
        return any(self._run_state.whole_steps(end))

    def _next_save(self) -> float:
        """The end of the first step that reaches the next multiple of ``every``, so that no step is shortened."""
        state, every = self._run_state, self._checkpoint.every
        number = math.floor(state.time / every + 1e-9 + step_loop.TIME_TOLERANCE * state.dt / every) + 1
        whole, rest = state.whole_steps(number * every)
        return state.origin + (state.n + max(whole + (rest > 0.0), 1)) * state.dt

    def _run_steps(self, end: float, bar) -> None:
        whole, rest = self._run_state.whole_steps(end)
        given = self._stepper, self._inputs, self._record, self._every, self._project, bar.tick
        try:
            if self._is_plain and whole:
                step_loop.run_steps(self._run_state, whole, *given)
            if rest or not self._is_plain:
                self.is_over = step_loop.run_monitored_steps(self._run_state, end, *given, self._monitor)
        except (step_loop.NotFiniteState, KinetreeError) as error:
            self._explain(error)

    def _explain(self, error) -> None:
        """Raise the error of a run that cannot continue, with its cause."""
        state = self._run_state
        if isinstance(error, step_loop.NotFiniteState):
            raise self._blown_up() from None
        # A runaway state makes controllers overflow: the state is to blame then.
        largest = np.abs(np.concatenate((state.q, state.v))).max(initial=0.0)
        if not largest < RUNAWAY:
            raise self._blown_up() from error
        raise self._with_trajectory(error, diverged=largest > USABLE) from error.__cause__

    def _solve(self, end: float, bar) -> None:
        try:
            loop = AdaptiveLoop(
                self.system, self._run_state, self._inputs, self._components, self._monitor, self._record, self._every,
                self._method, self.counts, self._singular,
            )  # fmt: skip
            self.is_over = loop.advance(end, bar.tick)
        except KinetreeError as error:
            diverged = isinstance(error, SimulationError)
            raise self._with_trajectory(error, diverged) from error.__cause__

    def _ask(self) -> None:
        """Call the controller for this instant, unless it has been."""
        state = self._run_state
        if self._stepper is None:
            if not state.evaluated:
                self._inputs.segment(state.time, state.q, state.v)
            state.evaluated = True
            self._inputs.command(state.time, state.q, state.v)
        elif not state.evaluated and self._inputs.at_steps:
            self._inputs.begin(state.time, state.q, state.v)
            state.evaluated = True

    # Within the last step ------------------------------------------------------------------------------------------

    @property
    def events(self) -> tuple:
        """The events so far, impacts of contacts and at hard stops included: one `Occurrence` after the other."""
        watching = (x for x in (*self._components.all, self._stepper, self._touches) if hasattr(x, "occurrences"))
        return tuple(sorted((x for component in watching for x in component.occurrences), key=lambda x: x.time))

    def motion(self, step: Step):
        """The motion within a step that was just made, ``motion(t) -> (q, v)``."""
        return interpolated(self.system, step, self._stepper, self._forces(), self._inputs.f_ext)

    @property
    def can_shorten(self) -> bool:
        """Whether `shortened` works: multistep methods cannot repeat a step."""
        return not (hasattr(self._stepper, "reset") or hasattr(self._stepper, "get_state"))

    def shortened(self, step: Step, t: float) -> tuple[np.ndarray, np.ndarray]:
        """State of the method itself if the step just made ends at an earlier time [s]."""
        inputs, h, (_, q, w) = self._inputs, t - step.t0, step.ends[0]
        if self._stepper is not None:
            return self._stepper.step(step.t0, h, q, w, inputs.hold_function(), inputs.f_ext)
        times = np.array((step.t0, t))
        solution = self._method.solve(self.system, q, w, times, inputs.command, inputs.f_ext)
        return solution.q[-1], solution.v[-1]

    def closed(self, q, v, t: float) -> tuple[np.ndarray, np.ndarray]:
        """A state that an event's action gave, with its loops closed: impulses act on the closed mechanism."""
        if self._plan.constraints is not None:
            q, v = self._plan.constraints.held(t, q, v)
        if not self.system.is_projected:
            return q, v
        q, w = self.system.closed(q, np.concatenate((v, np.zeros(self.model.nx))), t)
        v = w[: self.model.nv]
        check_closed(self.model.at(t), q, v, "simulate: the state after an event: ")
        return q, v

    def _forces(self):
        """The joint forces within a step, as a function of time and state."""
        if self._stepper is None:
            return self._inputs.command
        hold = self._inputs.hold_function()
        return lambda t, q, v: hold(t)

    # Saving --------------------------------------------------------------------------------------------------------

    @checked(record=a_truth_value)
    def save(self, record: bool = True) -> Snapshot:
        """The complete state of the run, from which it continues to the same bits.

        Parameters
        ----------
        record : bool
            With the samples so far, so that `trajectory` is whole after `restore`.

        Returns
        -------
        Snapshot
            It can be pickled, and `Snapshot.save` writes it to a file.
        """
        state = self._run_state
        return Snapshot(
            time=state.time,
            q=state.q.copy(),
            v=self.v,
            x=self.x,
            settings=self._settings(),
            run_state=(
                state.origin,
                state.n,
                state.count,
                state.evaluated,
                self._monitor.was_reset,
                self.is_over,
                dict(self.counts),
            ),  # fmt: skip
            inputs=self._inputs.get_state(),
            stepper=self._stepper.get_state() if hasattr(self._stepper, "get_state") else None,
            components=self._components.get_state(),
            record=self._record.get_state() if record else None,
            impulses=tuple(self._monitor.impulses),
        )

    def __reduce__(self):
        raise UnsupportedError(
            "a Simulation holds compiled code and functions of the caller, so it cannot be pickled or copied. Pickle "
            "sim.save(), which is all of its state, make a new Simulation and restore that: sim.restore(snapshot)"
        )

    def restore(self, snapshot) -> None:
        """Restore the state of a snapshot.

        Parameters
        ----------
        snapshot : Snapshot or path-like
            Of this simulation, or of one made with the same model and settings, in any process.

        Raises
        ------
        SimulationError
            It is of another simulation; names the difference.
        """
        if not isinstance(snapshot, Snapshot):
            snapshot = Snapshot.load(snapshot)
        check_settings(snapshot.settings, self._settings())
        state = self._run_state
        state.q, state.v = snapshot.q.copy(), np.concatenate((snapshot.v, snapshot.x))
        state.origin, state.n, state.count, state.evaluated, *flags, counts = snapshot.run_state
        self._monitor.was_reset, self.is_over = flags
        self.counts.update(counts)
        self._inputs.set_state(snapshot.inputs)
        if hasattr(self._stepper, "set_state"):
            self._stepper.set_state(snapshot.stepper)
        self._components.set_state(snapshot.components)
        self._monitor.impulses = list(snapshot.impulses)
        self._singular.restart(state.time)
        self._record.set_state(snapshot.record)

    def _settings(self) -> dict:
        return {
            "model": self.model.name,
            "numbers of the model": fingerprint(self.model),
            "integrator": self.integrator,
            "dt": self._run_state.dt,
            "steps between samples": self._every,
            "closure": self.model._stabilization,
        } | ({} if self._plan.constraints is None else {"joint constraints": self._plan.constraints.settings})

    # Reading -------------------------------------------------------------------------------------------------------

    @checked(end=a_number)
    def trajectory(self, end: float | None = None) -> Trajectory:
        """The run so far, up to now, as `simulate` returns it.

        Parameters
        ----------
        end : float, optional
            Label of the last instant [s], where it differs from the time by rounding.
        """
        try:
            self._ask()
            run = self._trajectory(last=True)
        except BaseException as error:
            self._keep(error)
            raise
        if end is None:
            return run
        time = run.time.copy()
        time[-1] = end
        return dataclasses.replace(run, time=time)

    def _trajectory(self, last: bool, checks: bool = True, **ended: str) -> Trajectory:
        state, inputs, system = self._run_state, self._inputs, self.system
        rows = self._record.get_state()
        T, Q, W, TAU, U = (rows.get(name) for name in ("time", "q", "v", "tau", "u"))
        if last:
            T, Q, W = np.append(T, state.time), np.vstack((Q, state.q)), np.vstack((W, state.v))
            TAU = np.vstack((TAU, inputs.hold(state.time)))
            U = U if U is None else np.vstack((U, inputs.recorded(state.time)[1]))
        V, X = (W, None) if not self.model.nx else (W[:, : self.model.nv].copy(), W[:, self.model.nv :].copy())
        wrenches, now = rows["wrenches"] if inputs.wrench_of_state else inputs.wrenches(T), model_time(self.model, T)
        if last and inputs.wrench_of_state:
            wrenches = np.concatenate((wrenches, inputs.pushed[None]))
        forces = (() if wrenches is None else (wrenches,)) + internal_arguments(self.model, X, U)
        forces, acting = dynamics_time(self.model, T) + forces, TAU
        if self._plan.constraints is not None:
            acting = TAU + self._plan.constraints.reactions(system, T, Q, V, TAU, forces)
        extra = () if X is U is None else internal_channels(self.model, T, X, U)
        works = {}
        if not rows.keys().isdisjoint(("impulses", "work")):
            ahead = self._impulses_ahead() if last else None
            channels, pushed, works = contact_record(system, rows, (T, Q, W, self.events), state.dt, ahead, forces)
            acting, extra = acting + pushed, (*extra, *channels)
        # Velocities obey loops to the order of the method only, and locks not where an event has just set them.
        given, near = (Q, V, acting, *forces), self._singular.near(T)
        checks = checks and self._plan.constraints is None
        return Trajectory(
            time=T,
            q=Q,
            v=V,
            a=sampled_dynamics(system, ALGORITHMS["forward_dynamics"], given, near, checks),
            tau=TAU,
            **system.energies(Q, V, now),
            model_name=self.model.name,
            coordinates=system.coordinates,
            integrator=self.integrator,
            dt=state.dt,
            steps=state.count if self._stepper is not None else None,
            wall_time=self.wall_time,
            notes=(*self.notes, *self._singular.notes),
            events=self.events,
            model=self.model,
            metadata=self._metadata(T, wrenches, works | ended),
            extra=extra,
            provenance=provenance(*self._origin),
        )

    def _impulses_ahead(self):
        """Impulses of the step that would follow, and their work so far; nothing of the run changes."""
        state, stepper, inputs = self._run_state, self._stepper, self._inputs
        kept = stepper.get_state()
        stepper.step(state.time, state.dt, state.q, state.v, inputs.hold_function(), inputs.f_ext)
        impulses = stepper.impulses
        stepper.set_state(kept)
        return impulses, getattr(stepper, "work", None)

    def _metadata(self, times, wrenches, more: dict) -> RunMetadata:
        fixed, inputs = self._stepper is not None, self._inputs
        counts = self.counts | ({"steps": self._run_state.count} if fixed else {})
        return RunMetadata(
            method=None if self.is_adaptive else self._method,
            every=self._every,
            controlled=inputs.controlled,
            constant_tau=inputs.at_steps and fixed and self._every == 1,
            constant_wrenches=inputs.wrench_of_state and fixed and self._every == 1,
            wrenches=wrenches,
            contacts=candidates_of(self.model),
            disturbance=inputs.disturbances(times),
            impulses=tuple(self._monitor.impulses),
            counts=counts,
            components=self._components.all,
            **more,
        )

    def _energy(self, t, q, v) -> float:
        return float(sum(self.system.energies(q, v, model_time(self.model, t)).values()))

    def _compile_ahead(self) -> None:
        """Compile before the clock starts, by one step that is discarded: the wall time is that of the motion."""
        state, system, rest = self._run_state, self.system, np.zeros(self.model.nv)
        wrenches = self._inputs.compile_time_wrenches()
        system.function("normalize")(state.q)
        if self._stepper is not None:
            kept = self._stepper.get_state() if hasattr(self._stepper, "get_state") else None
            self._stepper.step(0.0, state.dt, state.q, state.v, lambda t: rest, lambda t: wrenches)
            if hasattr(self._stepper, "set_state"):
                self._stepper.set_state(kept)
        else:
            ahead = np.array((0.0, 1e-9 * state.dt))
            with suppress(SimulationError):
                self._method.solve(system, state.q, state.v, ahead, lambda t, q, v: rest, lambda t: wrenches)

    def _blown_up(self) -> KinetreeError:
        """The error for a state that is not finite, with evidence of the samples before."""
        contacts = (self.model.contact_labels, getattr(self._stepper, "impulses", ())[: self.model.n_contact_rows])
        error = blown_up(self._run_state, self.system.coordinates, self.integrator, contacts)
        return self._with_trajectory(error, diverged=True)

    def _keep(self, error: BaseException) -> None:
        """Attach the run so far to an error that is not one of the motion."""
        self._stop_clock()
        step_loop.keep_run(error, self._run_state, self._record, self._trajectory)

    def _with_trajectory(self, error: KinetreeError, diverged: bool = False) -> KinetreeError:
        """The error, with the usable samples, and their evidence of a divergence."""
        self._stop_clock()
        return with_trajectory(error, self._record, self._trajectory, diverged)
