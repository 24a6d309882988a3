"""Rollouts: many states advanced by many steps under given forces, in one call of machine code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from kinetree.algorithms.bounded_rows import bounded_constraints
from kinetree.algorithms.projection import has_loops
from kinetree.algorithms.spec import Spec
from kinetree.arguments import a_method, a_model, a_truth_value, checked, number, refuse
from kinetree.compiler.array_calls import checked_outs, writable_apart
from kinetree.compiler.function import Function
from kinetree.compiler.interpret import interpret, is_interpreted
from kinetree.compiler.rollout import last_alone, own_axes, roll
from kinetree.errors import KinetreeError, ShapeError, SimulationError, UnsupportedError
from kinetree.integrators.closure import a_closure, closed_by
from kinetree.integrators.coordinates import Coordinates
from kinetree.integrators.kernels import step_of, with_motors
from kinetree.integrators.methods import FIXED_STEP
from kinetree.integrators.singular_steps import passes_singular
from kinetree.integrators.time_stepping import MeasuredTimeStepping, TimeStepping
from kinetree.model import Model
from kinetree.native.arrays import as_arrays
from kinetree.native.threads import checked_threads
from kinetree.simulation.choice import Stiffness, contact_notes
from kinetree.simulation.closed_starts import check_closed_batch
from kinetree.simulation.memory import check_room
from kinetree.simulation.options import A_TIME, MOVED, Record, an_option
from kinetree.simulation.rollout_arrays import (
    ContactRolloutStates,
    InternalRolloutStates,
    MeasuredRolloutStates,
    RolloutStates,
    arrays_of,
    at_step,
    control_over_time,
    count_steps,
    only,
    over_time,
    start_of_time,
)
from kinetree.simulation.rollout_device import a_device, rolled_on_device
from kinetree.simulation.rollout_model import a_ground, on_ground, require_contacts, rollout_method, with_stops
from kinetree.simulation.rollout_singular import PIVOT, is_repeated, through_singular

_PRECISIONS = (np.float64, np.float32, np.longdouble)

# The arrays of a rollout as `as_arrays` checks them; leading axes of the inputs include time.
_STATE = Spec("rollout", None, {"q0": ("nq",), "v0": ("nv",), "x0": ("nx",)}, {}, {})
_INPUTS = Spec("rollout", None, {"tau": ("nv",), "f_ext": ("nb", 6), "control": ("nu",)}, {}, {})


class Rollout:
    """Rollouts of one model, compiled: ``roll(q0, v0, tau, dt)``.

    Parameters
    ----------
    model : Model
        The mechanism with its springs, damping, dry friction, limits and couplings.
    integrator : str or object
        A fixed-step method of `simulate`, or "auto" as there: the kernel is one whole step, as `semi_implicit_step` or
        `rk4_step`. Methods with many stages compile slowly: one forward dynamics for each. Where the
        choice of "auto" depends on dt, this is in ``notes``; it does not depend on other parameters.
    ground : True, float or Ground, optional
        As for `rollout`.
    closure : str, Baumgarte or mapping
        How steps keep loops closed, as for `simulate`.
    checks : bool
        Whether states that are not finite, or no states of this model, end the call with an error. Without checks NaN
        propagates to every result that depends on it; other rollouts of the batch are not affected.
    threads : int, optional
        The most threads that share the states; default the environment variable
        KINETREE_NUM_THREADS, else all cores. Results are the same bits for any number.
    device : {"cpu", "cuda"}
        As for `rollout`.

    Attributes
    ----------
    model : Model
        The mechanism that is simulated, with the stops that were added or without those that were left out.
    integrator : str
    checks : bool
    threads : int or None
    device : str
    notes : tuple of str
        Warnings, such as bodies that pass through each other.

    Notes
    -----
    Source: the methods of `simulate`. A rollout is ``simulate(rollout.model, ...)`` with a controller that holds the
    given forces over each step. At position limits without a stop in the model there are the soft stops that `simulate`
    adds when it starts from its default position, the same for all states of a batch; unlike there, states may start
    anywhere in them. Joints pass in ``model.without_limits()``; `LimitMonitor.margin` finds states beyond limits.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> roll = kt.simulation.Rollout(kt.models.cart_pole())
    >>> q, v = roll(np.zeros((8, 2)), None, np.ones((8, 50, 2)), 0.01)
    >>> q.shape
    (8, 51, 2)
    """

    @checked(model=a_model, integrator=a_method, closure=a_closure, checks=a_truth_value)
    def __init__(
        self,
        model,
        integrator="auto",
        *,
        ground=None,
        closure="projection",
        checks: bool = True,
        threads: int | None = None,
        device: str = "cpu",
    ) -> None:
        model = on_ground(model, ground)
        self.model = self._base = closed_by(with_stops(model), closure, None, "rollout")
        self._closure, self._stiffness = closure, Stiffness.of(self.model)
        if integrator == "auto" and (self.model.contacts or bounded_constraints(self.model)):
            integrator = "time_stepping" if self.model.contacts else "semi_implicit"
        elif integrator == "auto" and not self._stiffness.asks_dt:
            integrator = self._stiffness.integrator(1.0)
        self._method, self.integrator = rollout_method(integrator, self.model)
        self.checks = bool(checks)
        self.threads = checked_threads(threads)
        self.device = a_device("rollout", device)
        self._parameters: tuple = ()
        self._functions: dict[tuple, Function] = {}
        self._chosen: dict[str, Rollout] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings, as in the notes of a run of `simulate`."""
        chosen = self._stiffness.range() if self.integrator == "auto" else []
        return (*chosen, *contact_notes(self.model))

    @checked(integrator=a_method)
    def by(self, integrator) -> Rollout:
        """The same rollouts by a method with fixed steps, where "auto" has a choice.

        Parameters
        ----------
        integrator : str or object
            As for `simulate`.

        Returns
        -------
        Rollout
        """
        found = self._chosen.get(integrator)
        if found is None:
            found = self._again(self._parameters)
            found._method, found.integrator = rollout_method(integrator, self.model)
            found = self._chosen.setdefault(integrator, found)
        return found

    def _measured(self) -> Rollout:
        """The same rollouts by "time_stepping" with residuals."""
        if "residuals" not in self._chosen:
            found = self._again(self._parameters)
            found._method = MeasuredTimeStepping
            return self._chosen.setdefault("residuals", found)
        return self._chosen["residuals"]

    def _for_step(self, h: float) -> Rollout:
        """The same rollouts by the method that "auto" stands for at a step [s]."""
        return self.by(self._stiffness.integrator(h)) if self.integrator == "auto" else self

    def _again(self, parameters: tuple) -> Rollout:
        """The same for other numbers, or for another method, with nothing compiled yet."""
        found = object.__new__(Rollout)
        vars(found).update(vars(self), _parameters=parameters, _functions={}, _chosen={})
        return found

    @checked(MOVED, record=an_option(Record))
    def __call__(
        self,
        q0,
        v0,
        tau,
        dt: float,
        *,
        steps: int | None = None,
        f_ext=None,
        x0=None,
        control=None,
        record: Record | None = None,
        t0=None,
        out=None,
        dtype=None,
    ) -> RolloutStates | InternalRolloutStates | ContactRolloutStates | MeasuredRolloutStates:
        """Advance all states by all steps; arguments and result as for `rollout`."""
        h = number("rollout: dt", dt, A_TIME, above=0.0)
        every = (record or Record()).steps(h)
        if self.integrator == "auto":
            given = {"steps": steps, "f_ext": f_ext, "record": record, "t0": t0, "out": out, "dtype": dtype}
            return self._for_step(h)(q0, v0, tau, dt, x0=x0, control=control, **given)
        if record is not None and record.residuals and self._method is TimeStepping:
            given = {"steps": steps, "f_ext": f_ext, "record": record, "t0": t0, "out": out, "dtype": dtype}
            return self._measured()(q0, v0, tau, dt, x0=x0, control=control, **given)
        begin = start_of_time(self._base, t0)
        state = {name: x for name, x in (("q0", q0), ("v0", v0), ("x0", x0)) if x is not None}
        given = {"tau": tau, "f_ext": f_ext, "control": control_over_time(self._base, control)}
        arrays, batch, kind = self._arrays(state, given, steps, dtype, begin)
        start, inputs, present, steps = arrays
        if steps % every:
            raise ShapeError(
                f"rollout: {steps} steps are no multiple of the {every} from one record to the next, so the last state "
                f"would not be recorded; take {steps // every * every or every} steps, or record others.",
                steps=steps,
                every=every,
            )
        results = self._results(batch, start, steps, every, kind, out)
        if record is not None and (record.impulses or record.residuals):
            require_contacts(self._method)
            if record.residuals:
                results.append(np.empty((*results[0].shape[:-1], 2), kind))
            results.append(np.empty((*results[0].shape[:-1], self._base.n_impulses), kind))
        if 0 in batch:
            return self._states(results, out)
        if self.checks and not self._parameters and has_loops(self._base):
            check_closed_batch(self._base, *start, begin, kind)
        f = self._function(present)
        inputs.insert(1, np.full(1, h, kind))
        if begin is not None:
            check_room(f"rollout: the times of {steps} steps", begin.size * steps, 16.0, lambda _: "Take fewer steps.")
            inputs.insert(2, (begin[..., None] + h * np.arange(steps)).astype(kind))
        if kind not in _PRECISIONS[:2] or is_interpreted():
            if own_axes(f):
                raise UnsupportedError("rollout: interpretation and extended precision take one set of parameters.")
            step = self._interpreted(f, batch, kind)
            start = [*start, *self._memory(start, inputs, present, partial(self._interpreted, batch=batch, kind=kind))]
            self._run_steps(step, batch, start, inputs, present, steps, (results, every))
            return self._states(results, out)
        records = [writable_apart(x, (*start, *inputs)) for x in results]
        self._run_kernel(f, batch, start, inputs, present, records, steps, every)
        for x, record in zip(results, records, strict=True):
            if x is not record:
                x[...] = record
        return self._states(results, out)

    def _run_kernel(self, f: Function, batch, start, inputs, present, records, steps: int, every: int) -> None:
        """All steps in machine code, and once more where a loop passes a singular position; errors are located."""
        memory = self._memory(start, inputs, present)
        places = [last_alone(batch, x.shape[-1], steps // every + 1, x.dtype) for x in memory[len(records) - 2 :]]
        run = rolled_on_device if self.device == "cuda" else roll
        status = run(f, batch, [*start, *memory], inputs, [*records, *places], steps, every)
        if has_loops(self._base) and passes_singular(self._method) and is_repeated(self._base, f, records[0].dtype):
            pivot, special = self._function((), PIVOT), partial(self._function, present, passing=True)
            status = through_singular(pivot, special, status, (start, inputs, records), batch, steps, every)
        if status or (self.checks and not self._ended_well(f, records)):
            self._run_steps(f, batch, [*start, *memory], inputs, present, steps)
            raise SimulationError("rollout: the kernel refuses a state of the motion.")  # and does not report which

    def with_parameters(self, parameters) -> Rollout:
        """The same machine code for other numbers of the model: payloads, identification, randomized robots.

        Parameters
        ----------
        parameters : Model, mapping, or (..., n) array [SI]
            As for `Function.with_parameters`; sets with leading axes give every rollout of a batch its own numbers.

        Returns
        -------
        Rollout

        Raises
        ------
        ModelError, InertiaError, NonFiniteError, ShapeError, UnknownNameError

        Examples
        --------
        >>> import kinetree as kt, numpy as np
        >>> gravity = {"gravity.z": np.linspace(-1.0, -9.0, 5)}
        >>> roll = kt.simulation.Rollout(kt.models.pendulum()).with_parameters(gravity)
        >>> roll(np.ones(1), None, None, 0.01, steps=20).q.shape
        (5, 21, 1)
        """
        if isinstance(parameters, Model):
            parameters = with_stops(parameters)
        other = self._again((*self._parameters, parameters))
        concrete = other.by("semi_implicit") if self.integrator == "auto" else other
        other.model = concrete._function(()).model
        other._chosen = {}
        return other

    def _arrays(self, state, given, steps, dtype, begin):
        """Start and inputs in one precision, inputs with an axis of time; which they are, number of steps; batch."""
        model = self._base
        state, axes, precision = as_arrays(_STATE, model, state)
        kinds, inputs = [precision], {}
        for name, value in given.items():
            if value is not None:
                (inputs[name],), _, precision = only(as_arrays(_INPUTS, model, {name: value}))
                kinds.append(precision)
        try:
            kind = np.result_type(*kinds) if dtype is None else np.dtype(dtype)
        except Exception:
            refuse("rollout: dtype", dtype, "float64, float32 or longdouble")
        if kind not in _PRECISIONS:
            raise ShapeError(f"rollout: dtype is {kind}, expected float64, float32 or longdouble.", dtype=kind)
        steps = count_steps(inputs, steps)
        inputs = {name: over_time(name, x, 1 + (name == "f_ext"), steps, axes) for name, x in inputs.items()}
        leading = {name: x.shape[: -2 - (name == "f_ext")] for name, x in inputs.items()}
        present = tuple(name for name in ("f_ext", "control") if name in inputs)
        leading = {"q0 and v0": axes, **leading, "parameters": own_axes(self._function(present))}
        leading |= {} if begin is None else {"t0": begin.shape}
        try:
            batch = np.broadcast_shapes(*leading.values())
        except ValueError:
            shown = ", ".join(f"{name}: {shape}" for name, shape in leading.items() if shape)
            raise ShapeError(
                f"rollout: the leading axes do not broadcast together ({shown}; {steps} steps). tau is (..., T, nv) "
                "and f_ext (..., T, nb, 6), or without the axis of time for constants.",
                leading=leading,
            ) from None
        state.setdefault("v0", np.zeros(model.nv, kind))
        inputs.setdefault("tau", np.zeros((1, model.nv), kind))
        start = [state[name].astype(kind, copy=False) for name in ("q0", "v0")]
        if model.nx:
            x = state.get("x0", model.initial_state()).astype(kind, copy=False)
            both = np.broadcast_shapes(start[1].shape[:-1], x.shape[:-1])
            parts = (np.broadcast_to(y, (*both, y.shape[-1])) for y in (start[1], x))
            start[1] = np.concatenate(tuple(parts), axis=-1)
        ordered = [inputs[name].astype(kind, copy=False) for name in ("tau", *present)]
        return (start, ordered, present, steps), batch, kind

    def _results(self, batch, start, steps: int, every: int, kind, out) -> list[np.ndarray]:
        """Arrays for the recorded states: new ones, if they fit into memory, or those of the caller."""
        shapes, model = [(*batch, steps // every + 1, x.shape[-1]) for x in start], self._base
        if out is not None:
            names = "qvx" if model.nx else "qv"
            if not isinstance(out, tuple) or len(out) != len(names):
                raise ShapeError(f"rollout: out needs a tuple of {len(names)} arrays ({', '.join(names)}).")
            rows = shapes[0][:-1]
            wanted = [(*rows, size) for size in (model.nq, model.nv, model.nx)][: len(names)]
            found = checked_outs("rollout", names, out, wanted, kind)
            return [found[0], np.empty(shapes[1], kind)] if model.nx else found
        check_room(
            f"rollout: the states of {steps} steps, one of {every} recorded,",
            math.prod(shapes[0][:-1]),
            kind.itemsize * (model.nq + model.nw),
            lambda times: f"Record less often, record=kt.Record(every={times * every}), or take fewer states at once.",
        )
        return [np.empty(shape, kind) for shape in shapes]

    def _states(self, results, out) -> tuple:
        """The results, velocities apart from the internal states that follow them."""
        (q, w, *impulses), nv, nx = results, self._base.nv, self._base.nx
        v, x = w[..., :nv], w[..., nv:]
        if nx and out is not None:
            out[1][...], out[2][...] = v, x
            v, x = out[1:]
        if len(impulses) == 2:
            residuals, impulses = impulses
            return MeasuredRolloutStates(q, v, x, impulses, residuals[..., 0], residuals[..., 1])
        if impulses:
            return ContactRolloutStates(q, v, x, *impulses)
        return InternalRolloutStates(q, v, x) if nx else RolloutStates(q, w)

    def _function(self, present: tuple[str, ...], spec: Spec | None = None, passing: bool = False) -> Function:
        """The step with these inputs besides tau, by default; ``passing`` is that through singular positions."""
        f = self._functions.get(key := (present, spec and spec.name, passing))
        if f is None:
            model, checks = self._base.passing() if passing else self._base, self.checks and spec is None
            spec = spec or self._step_declaration()
            optional = tuple({"control": "u"}.get(name, name) for name in present)
            f = Function(spec, model, optional, {}, checks, self.threads)
            for parameters in self._parameters:
                f = f.with_parameters(parameters)
            f = self._functions.setdefault(key, f)
        return f

    def _step_declaration(self) -> Spec:
        """The declaration of the step, without the time."""
        return with_motors(step_of(self._method.algorithm, self._base), self._base)

    def _memory(self, start, inputs, present, run=lambda f: f) -> list[np.ndarray]:
        """Further arrays of the state of methods that take the last step into account, at the start."""
        if not hasattr(self._method, "start"):
            return []
        f = self._function(present, with_motors(self._method.start, self._base))
        return arrays_of(run(f)(*start, *self._at(inputs, present, 0)))

    def _interpreted(self, f: Function, batch, kind):
        """The step of the same source, run as Python."""

        def step(*arrays):
            given = dict(zip(f.input_names, arrays, strict=True))
            return interpret(f.spec, f.model, given, batch, kind, {}, self.checks)

        return step

    def _ended_well(self, f: Function, records) -> bool:
        """Whether the last states are finite: no step checks them."""
        return all(np.isfinite(x[..., -1, :]).all() for x in records)

    def _run_steps(self, step, batch, start, inputs, present, steps: int, record=None) -> None:
        """Step by step from Python: without a compiler, and to locate errors."""
        results, every = record or ((), steps)
        q, v, *memory = (np.broadcast_to(x, batch + x.shape[-1:]) for x in start)
        for t in range(steps + 1):
            for x, row in zip(results, (q, v, *memory), strict=False):
                if t % every == 0:
                    x[..., t // every, :] = row
            time = t * float(inputs[1][0])
            if self.checks and t and not (np.isfinite(q).all() and np.isfinite(v).all()):
                raise self._blown_up(q, v, t, time)
            if t == steps:
                return
            try:
                q, v, *memory = step(q, v, *memory, *self._at(inputs, present, t))
            except KinetreeError as error:
                if isinstance(error, UnsupportedError):
                    raise
                raise at_step(error, t, time) from None

    def _at(self, inputs, present, t: int) -> list[np.ndarray]:
        """The inputs of one step: forces, the step's length, the time if it is needed, and those that are present."""
        tau, h, *others = inputs
        now = [np.take(tau, min(t, tau.shape[-2] - 1), axis=-2), h.reshape(())]
        if self._base.time_dependent or self._base.has_given_motions:
            times, *others = others
            now.append(times[..., t])
        if "f_ext" in present:
            wrenches, *others = others
            now.append(np.take(wrenches, min(t, wrenches.shape[-3] - 1), axis=-3))
        return [*now, *(np.take(u, min(t, u.shape[-2] - 1), axis=-2) for u in others)]

    def _blown_up(self, q, v, t: int, time: float) -> SimulationError:
        fine = np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1)
        state = tuple(int(k) for k in np.argwhere(~fine)[0])
        bad = Coordinates.of(self.model).first_bad(q[state], v[state])
        where = f" of state {state if len(state) > 1 else state[0]}" if state else ""
        return SimulationError(
            f"rollout: the motion{where} is no longer finite after step {t} (t = {time:.6g} s); the first bad "
            f"coordinate is the {bad}. Use a smaller dt; with checks=False the other states of a batch continue.",
            time=time,
            step=t,
            state=state,
            coordinate=bad,
        )

    def __reduce__(self):
        known = self.integrator if self.integrator in ("auto", *FIXED_STEP) else self._method
        return _rebuilt, (self._base, known, self._closure, self.checks, self.threads, self.device, self._parameters)

    def __repr__(self) -> str:
        return f"<Rollout by {self.integrator} for model {self.model.name!r}>"


@checked(
    MOVED, model=a_model, integrator=a_method, record=an_option(Record), closure=a_closure, checks=a_truth_value
)  # fmt: skip
def rollout(
    model,
    q0,
    v0,
    tau,
    dt: float,
    *,
    steps: int | None = None,
    integrator="auto",
    ground=None,
    f_ext=None,
    x0=None,
    control=None,
    record: Record | None = None,
    t0=None,
    closure="projection",
    checks: bool = True,
    threads: int | None = None,
    device: str = "cpu",
    out=None,
    dtype=None,
) -> RolloutStates | InternalRolloutStates | ContactRolloutStates | MeasuredRolloutStates:
    """Advance many states by many steps under given forces, in one call of machine code.

    Parameters
    ----------
    model : Model
        The mechanism with its springs, damping, dry friction, limits and couplings.
    q0 : (..., nq) array
        Positions at the start [rad or m; quaternions unit, (w, x, y, z)].
    v0 : (..., nv) array or None
        Velocities at the start [rad/s or m/s]; None for rest.
    tau : (..., T, nv) array or None
        Actuator forces [N m or N], of joints with motors as commanded, constant during each of the T steps. The leading
        axes of all arrays broadcast, so (T, nv) acts on every state. With an axis of time of length 1, as (nv,), or,
        where ``steps`` is given, with exactly the leading axes of the states, as (N, nv), the forces are constant. None
        for no forces.
    dt : float
        Step [s].
    steps : int, optional
        T, if no input varies with time.
    integrator : str or object
        A fixed-step method of `simulate`, or "auto" as there.
    ground : True, float or Ground, optional
        Contact of all collision shapes with the ground, as for `Model.with_contacts`: True is a floor at z = 0, a
        number its height [m]. By default the contacts of the model alone.
    f_ext : (..., T, nb, 6) array or mapping of body name to (..., T, 6) array, optional
        External wrench on each body [N m, N], in world coordinates about the world's origin; shapes as for tau.
    x0 : (..., nx) array, optional
        Internal states of force elements at the start [as the elements define them]. Default:
        ``model.initial_state()``.
    control : (..., T, nu) array or mapping of input name to (..., T) array or number, optional
        Inputs of force elements, by names of ``model.input_names`` or all at once [as the elements define them],
        constant during each step; shapes as for tau. Default zero.
    record : Record, optional
        Which states are recorded; default all. T is a multiple of its steps.
    t0 : float or (...) array, optional
        Time at the start [s] of models whose joints depend on it; default 0.
    closure : str, Baumgarte or mapping
        How steps keep loops closed, as for `simulate`.
    checks : bool
        Whether states that are not finite, or no states of this model, end the call with an error.
    threads : int, optional
        The most threads that share the states; default all cores. Results are the same bits whatever their number.
    device : {"cpu", "cuda"}
        Where steps are computed: on a CUDA device one launch of a kernel is a step of all states. Arrays are those of
        NumPy all the same; see docs/gpu.md.
    out : tuple of arrays, optional
        Filled with the result and returned.
    dtype : dtype, optional
        float64 or float32, in which all is computed; default float32 if all arrays are, else float64.

    Returns
    -------
    q : (..., rows, nq) array
        Positions [rad or m], those of the start in row 0; T + 1 rows if all are.
    v : (..., rows, nv) array
        Velocities [rad/s or m/s].
    x : (..., rows, nx) array, of models with internal states
        Internal states of force elements [as the elements define them].
    impulses : (..., rows, n_impulses) array, with ``Record(impulses=True)``
        Impulses of contacts [N s], see `kinetree.simulation.Rollout`; x is there, too, then.
    residuals, worst_residuals : (..., rows) array, with ``Record(residuals=True)``
        Distance of the step that ends in the state from the laws of contact, and the largest of all steps until then
        [m/s]; x and impulses are there, too, then.

    Raises
    ------
    SimulationError
        A motion is no longer finite; names the state, the step and the coordinate.
    ConstraintError
        A loop is open at the start. In a step, forces of sticking friction or hard limits were not found.
    MemoryLimitError
        The recorded states would not fit into memory; the message has a distance of samples that fits.
    MissingDependencyError
        There is no CUDA device, or CuPy is not installed.
    ShapeError, NonFiniteError, QuaternionError, CouplingError
        The start is not one of this model, or the inputs are not finite; for later inputs the message has the step.

    Notes
    -----
    Source: the methods of `simulate`; a rollout is the same motion. Where hard limits are constraints it differs from
    that of `simulate`, which cuts steps at impacts, by the order of dt: a step ends at the limit that it would pass, or
    rebounds from there.
    Without checks NaN and infinity propagate, each in its own rollout; velocities are infinite after a step in which
    bounded forces of constraints were not found.
    Cost: that of the step in a batch, 0.1 to 1 us for each state and step of a robot; every state of a tile of 4 to 16
    goes through all steps before the next tile begins, so the states stay in the first-level cache.

    See Also
    --------
    simulate, Rollout

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> pole = kt.models.cart_pole()
    >>> push = np.random.default_rng(0).normal(size=(1000, 100, pole.nv)) * [1.0, 0.0]
    >>> q, v = kt.rollout(pole, pole.neutral(), None, push, 0.01, record=kt.Record(every=10))
    >>> q.shape, v.shape
    ((1000, 11, 2), (1000, 11, 2))
    """
    method = FIXED_STEP.get(integrator) if isinstance(integrator, str) else None
    ways = tuple(closure.items()) if isinstance(closure, Mapping) else closure
    key = ("rollout", integrator, method, a_ground(ground), ways, bool(checks), checked_threads(threads), device)
    functions = model.functions if isinstance(model, Model) else {}
    compiled = functions.get(key)
    if compiled is None:
        options = {"ground": ground, "closure": closure, "checks": checks, "threads": threads, "device": device}
        compiled = Rollout(model, integrator, **options)
        compiled = functions.setdefault(key, compiled)
    return compiled(
        q0, v0, tau, dt, steps=steps, f_ext=f_ext, x0=x0, control=control, record=record, t0=t0, out=out, dtype=dtype
    )


def _rebuilt(model, integrator, closure, checks, threads, device, parameters) -> Rollout:
    result = Rollout(model, integrator, closure=closure, checks=checks, threads=threads, device=device)
    for entry in parameters:
        result = result.with_parameters(entry)
    return result
