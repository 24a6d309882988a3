"""The reverse pass of a rollout: its arrays, the recorded states, the adjoint steps from the end to the start."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from kinetree.algorithms.manifold import may_change_chart
from kinetree.algorithms.projection import has_loops
from kinetree.algorithms.spec import Spec
from kinetree.arguments import number, refuse
from kinetree.compiler.derivative_functions import NUMBERS, derivative_spec
from kinetree.compiler.function import Function
from kinetree.compiler.rollout import last_alone, roll
from kinetree.compiler.time_argument import timed
from kinetree.errors import ShapeError, SimulationError, UnsupportedError
from kinetree.integrators.kernels import with_motors
from kinetree.simulation.adjoint_step import AdjointOf, adjoint_step
from kinetree.simulation.objective import running_objective, terminal_spec
from kinetree.simulation.options import A_TIME
from kinetree.simulation.rollout_arrays import arrays_of, control_over_time, start_of_time

VARIABLES = {"tau": "tau", "control": "u", "f_ext": "f_ext", NUMBERS: NUMBERS}
"""Variables besides the state at the start, and their names in a step."""
KEPT = 2**28
"""Most memory for recorded states [bytes]; longer rollouts are computed twice, in segments."""


class ReversePass:
    """One call of a `DifferentiableRollout`: arrays over time have an axis of time, of length 1 for constants.

    Parameters
    ----------
    owner : DifferentiableRollout
    q0, v0, tau, dt, steps
        As for `rollout`.
    given : mapping
        f_ext, x0, control and t0, as for `rollout`.
    reference : array, optional
        Of the objectives.
    """

    def __init__(self, owner, q0, v0, tau, dt, steps, given: Mapping, reference=None) -> None:
        h = number("rollout gradient: dt", dt, A_TIME, above=0.0)
        self.owner, self.h, self.roller = owner, h, owner.rollout._for_step(h)
        self.model = self.roller._base
        self.begin = start_of_time(self.model, given["t0"])
        state = {name: x for name, x in (("q0", q0), ("v0", v0), ("x0", given["x0"])) if x is not None}
        inputs = {"tau": tau, "f_ext": given["f_ext"], "control": control_over_time(self.model, given["control"])}
        for name in ("f_ext", "control"):
            if name in owner.wrt and inputs[name] is None:
                raise UnsupportedError(f"rollout gradient: {name} is a variable and needs values: {name}=.")
        arrays, self.batch, _ = self.roller._arrays(state, inputs, steps, np.float64, self.begin)
        self.start, ordered, self.present, self.steps = arrays
        if 0 in self.batch:
            raise ShapeError(f"rollout gradient: the batch has no rollout, its shape is {self.batch}.")
        self.inputs = dict(zip(("tau", *self.present), ordered, strict=True))
        # Inputs without an axis of time have gradients without one.
        self._held = {name for name, x in inputs.items() if x is not None and np.ndim(x) < self.inputs[name].ndim}
        if tau is None and "tau" in owner.wrt:
            self.inputs["tau"] = np.zeros((self.steps, self.model.nv))
        self._reference = None if reference is None else self._rows(reference)
        self._row = 0 if self._reference is None else self._reference.shape[-1]
        self._cotangents: list[np.ndarray] | None = None

    def _rows(self, reference) -> np.ndarray:
        """The reference with an axis of time."""
        try:
            x = np.asarray(reference, dtype=float)
        except (TypeError, ValueError):
            refuse("rollout gradient: reference", reference, "an array (..., T + 1, n), or (n,) for all instants")
        rows = self.steps + 1
        if x.ndim == 1:
            return x[None]
        if x.ndim == 0 or x.shape[-2] not in (1, rows):
            raise ShapeError(
                f"rollout gradient: reference has shape {x.shape}, expected (..., {rows}, n), one row for each of the "
                f"{rows} instants, or (n,) for all.",
                found=x.shape,
            )
        try:
            self.batch = np.broadcast_shapes(self.batch, x.shape[:-2])
        except ValueError:
            raise ShapeError(
                f"rollout gradient: the leading axes of reference, {x.shape[:-2]}, do not broadcast with those of the "
                f"rollouts, {self.batch}.",
                found=x.shape,
            ) from None
        return x

    def take_cotangents(self, q, v) -> None:
        """Derivatives with respect to the recorded states, in the place of objectives."""
        found = []
        for name, x, size in (("q_cotangent", q, self.model.nq), ("v_cotangent", v, self.model.nw)):
            shape = (*self.batch, self.steps + 1, size)
            try:
                found.append(np.broadcast_to(np.asarray(x, dtype=float), shape))
            except (TypeError, ValueError):
                refuse(f"rollout gradient: {name}", x, f"an array of shape {shape}")
        self._cotangents = found

    # The end ---------------------------------------------------------------------------------------------------------

    def cotangents_at_end(self, state) -> tuple:
        """Value zero, and the given derivatives with respect to the last state."""
        return np.zeros(self.batch), *(x[..., -1, :] for x in self._cotangents)

    def objective_at_end(self, state) -> tuple:
        """The terminal objective and its derivatives."""
        terminal, n = self.owner.terminal, self.steps
        if terminal is None:
            return np.zeros(self.batch), *(np.zeros((*self.batch, x.shape[-1])) for x in state)
        size, later = self._row, self.begin is not None
        f = self.owner._function((terminal, size), partial(terminal_spec, terminal, size, later), self.roller)
        given = [*state] + ([self._reference[..., -1, :]] if size else [])
        given = [np.broadcast_to(x, (*self.batch, x.shape[-1])) for x in given]
        if later:
            given.append(np.broadcast_to(self.times(n, n + 1)[..., 0], self.batch))
        return tuple(f(*map(np.array, given)))

    # The pass --------------------------------------------------------------------------------------------------------

    def gradient(self, at_end: Callable) -> dict:
        """The objective and its gradient, by the names of `RolloutGradient`; q0 with nq entries.

        Parameters
        ----------
        at_end : callable
            The value and its derivatives with respect to the last state.
        """
        first = [*self.start, *self._memory_at_start()]
        row = 8.0 * max(1, math.prod(self.batch)) * sum(x.shape[-1] for x in first)
        length = max(1, min(self.steps, int(KEPT / row)))
        edges = [*range(0, self.steps, length), self.steps]
        starts, states = [first], []
        for a, b in zip(edges, edges[1:], strict=False):
            states = self._states(starts[-1], a, b)
            starts.append([x[..., -1, :].copy() for x in states])
        f, (value, q, v) = self._adjoint(), at_end(starts[-1][:2])
        now = {"q": q, "v": v} | {x: np.zeros(y.shape[-1]) for x, y in zip(self._state[2:], first[2:], strict=True)}
        now |= {x: np.zeros(size) for x, size in self._sizes.items()}
        if "value" in f.input_names:
            now["value"] = value[..., None]
        rows = {x: np.empty((*self.batch, self.steps + 1, self._sizes[x])) for x in self._over_time}
        for n in reversed(range(len(edges) - 1)):
            a, b = edges[n], edges[n + 1]
            if b < self.steps:
                states = self._states(starts[n], a, b)
            now = self._back(f, states, a, b, now, rows)
            self._check(now, a)
        self._through_start(now, rows, first[2:])
        found = {"value": now["value"][..., 0] if "value" in now else value, "q0": now["q"]}
        found |= {"v0": now["v"][..., : self.model.nv], "x0": now["v"][..., self.model.nv :]}
        return found | {x: self._shaped(x, rows[x][..., :-1, :] if x in rows else now[x]) for x in self.owner.wrt}

    @functools.cached_property
    def _over_time(self) -> list[str]:
        """The variables that differ from step to step."""
        return [x for x in self.owner.wrt if x != NUMBERS and self.inputs[x].shape[-1 - _own(x)] > 1]

    @functools.cached_property
    def _sizes(self) -> dict[str, int]:
        """Entries of each variable at one step."""
        own = {x: self.inputs[x].shape[self.inputs[x].ndim - _own(x) :] for x in self.owner.wrt if x != NUMBERS}
        return {x: math.prod(own[x]) if x in own else len(self.owner.numbers) for x in self.owner.wrt}

    def _shaped(self, variable: str, x: np.ndarray) -> np.ndarray:
        """The gradient of a variable in the shape of the variable."""
        if variable == NUMBERS:
            return x
        over_time = variable in self._over_time
        own = self.inputs[variable].shape[self.inputs[variable].ndim - _own(variable) :]
        time = (self.steps,) if over_time else () if variable in self._held else (1,)
        return x.reshape(*self.batch, *time, *own)

    def _adjoint(self) -> Function:
        owner, roller = self.owner, self.roller
        present, wrt, summed = (
            tuple(VARIABLES[x] for x in names)
            for names in (self.present, owner.wrt, [x for x in owner.wrt if x not in self._over_time])
        )
        running = None
        if owner.running is not None and self._cotangents is None:
            inputs = ("tau", *(x for x in present if x == "u"))
            running = running_objective(owner.running, inputs, self._row, self.begin is not None)
        step = timed(self._differentiated(), self.model)
        memory, total = tuple(self._state[2:]), len(self.model.numbers())
        request = AdjointOf(step, memory, present, wrt, summed, owner.chosen, total, running)
        return owner._function(("adjoint", present, summed, running), partial(adjoint_step, request), roller)

    def _differentiated(self) -> Spec:
        """The step, or, of implicit methods, one correction around its end, with the same first derivatives."""
        model, around_end = self.model, getattr(self.roller._method, "around_end", None)
        moved = has_loops(model) or any(may_change_chart(model, i) for i in model.outward())
        known = around_end is not None and not moved
        return with_motors(around_end, model) if known else self.roller._step_declaration()

    # Methods that take the last step into account ---------------------------------------------------------------------

    @functools.cached_property
    def _state(self) -> list[str]:
        """The arrays of the state, those besides q and v being the memory of the method."""
        step = self.roller._step_declaration()
        return [x for x in step.inputs if f"{x}_next" in step.outputs]

    def _memory_at_start(self) -> list[np.ndarray]:
        f = self._start_function()
        return [] if f is None else arrays_of(f(*self._at_start(f.spec)))

    def _start_function(self, derivative: bool = False) -> Function | None:
        """The memory at the start, or its pullback to the variables."""
        owner = self.owner
        start = getattr(self.roller._method, "start_around_end" if derivative else "start", None)
        if start is None:
            return None
        start = timed(with_motors(start, self.model), self.model)
        present = tuple(VARIABLES[x] for x in self.present)
        wrt = ("q", "v", *(VARIABLES[x] for x in owner.wrt))
        total = len(self.model.numbers())
        spec = partial(derivative_spec, start, "vjp", wrt, tuple(start.outputs), present, owner.chosen, total, False)
        if not derivative:
            spec = partial(dataclasses.replace, start, inputs=start.inputs | {x: start.optional[x] for x in present})
        return owner._function(("start", derivative, present), spec, self.roller)

    def _at_start(self, spec: Spec, memory=()) -> list[np.ndarray]:
        """The inputs of the first step, in the order of a declaration; arrays of the memory, if it takes these."""
        q, v = self.start
        given = {"q": q, "v": v, "dt": np.full((), self.h), "t": self.times(0, 1)[..., 0]}
        given |= {VARIABLES[x]: np.take(self.inputs[x], 0, axis=-1 - _own(x)) for x in ("tau", *self.present)}
        given |= dict(zip(self._state[2:], memory, strict=False))
        found = []
        for x in (name for name in spec.inputs if name in given):
            own = len(spec.inputs[x])
            found.append(np.array(np.broadcast_to(given[x], (*self.batch, *given[x].shape[given[x].ndim - own :]))))
        return found

    def _through_start(self, now: dict, rows: dict, memory) -> None:
        """Add what goes through the memory at the start to the gradient."""
        f = self._start_function(derivative=True)
        if f is None:
            return
        cotangents = [now[x].reshape(*self.batch, now[x].shape[-1]) for x in self._state[2:]]
        found = f(*self._at_start(f.spec, memory), *cotangents)
        for x, more in zip(("q", "v", *self.owner.wrt), found, strict=True):
            if x in rows:
                rows[x][..., 0, :] += more.reshape(rows[x][..., 0, :].shape)
            else:
                now[x] = now[x] + more.reshape(now[x].shape)

    # Steps -----------------------------------------------------------------------------------------------------------

    def _states(self, start, a: int, b: int) -> list[np.ndarray]:
        """States at steps a to b, from that at a."""
        q, w, *memory = start
        if memory:
            return self._states_with_memory(start, a, b)
        nv, nx = self.model.nv, self.model.nx
        given = {name: _during(x, a, b, _own(name)) for name, x in self.inputs.items()}
        if nx:
            given["x0"] = w[..., nv:]
        if self.begin is not None:
            given["t0"] = self.begin + a * self.h
        tau = given.pop("tau")
        q = np.broadcast_to(q, (*self.batch, q.shape[-1]))
        found = self.roller(q, w[..., :nv], tau, self.h, steps=b - a, **given)
        return [found[0], np.concatenate(found[1:], axis=-1) if nx else found[1]]

    def _states_with_memory(self, start, a: int, b: int) -> list[np.ndarray]:
        f = self.roller._function(self.present)
        given = {"dt": np.full(1, self.h), "t": self.times(a, b)} | self._inputs(a, b)
        records = [np.empty((*self.batch, b - a + 1, x.shape[-1])) for x in start]
        inputs = [given[x] for x in f.input_names if x in given]
        status = roll(f, self.batch, start, inputs, records, b - a, 1)
        if status or (self.owner.checks and not all(np.isfinite(x[..., -1, :]).all() for x in records)):
            raise SimulationError(
                f"rollout gradient: the motion is not finite, or the kernel refuses a state, between t = "
                f"{a * self.h:.6g} and {b * self.h:.6g} s; kinetree.rollout finds the state. Use a smaller dt."
            )
        return records

    def _back(self, f: Function, states, a: int, b: int, now: dict, rows: dict) -> dict:
        """From step b back to step a; gradients of inputs over time are entered into ``rows``."""
        count = b - a + 1
        starts = [np.broadcast_to(x, (*self.batch, x.shape[-1])) for x in now.values()]
        records = [
            # Row n belongs to step b - n.
            rows[x][..., b + 1 - count : b + 1, :][..., ::-1, :]
            if x in rows
            else last_alone(self.batch, x0.shape[-1], count, float)
            for x, x0 in zip(now, starts, strict=True)
        ]
        given = {x: states[k][..., : b - a, :] for k, x in enumerate(self._state)} | {"v_end": states[1][..., 1:, :]}
        given |= {"dt": np.full(1, self.h), "t": self.times(a, b)} | self._inputs(a, b)
        if self._reference is not None:
            given["reference"] = _during(self._reference, a, b, 1)
        given |= {f"{x}_cost": cost for x, cost in zip("qv", self._costs(a, b), strict=True)}
        names = [name for name in f.spec.inputs if name in given]
        backwards = [_reversed(given[name], {"dt": 0, "t": 0}.get(name, _own(name))) for name in names]
        roll(f, self.batch, starts, backwards, records, b - a, 1)
        return {x: record[..., -1, :] for x, record in zip(now, records, strict=True)}

    def _inputs(self, a: int, b: int) -> dict[str, np.ndarray]:
        """Inputs of steps a to b, by their names in a step."""
        return {VARIABLES[x]: _during(self.inputs[x], a, b, _own(x)) for x in ("tau", *self.present)}

    def _costs(self, a: int, b: int) -> list[np.ndarray]:
        """The given derivatives with respect to the states at steps a to b."""
        if self._cotangents is None:
            return [np.zeros((1, size)) for size in (self.model.nq, self.model.nw)]
        return [x[..., a:b, :] for x in self._cotangents]

    def times(self, a: int, b: int) -> np.ndarray:
        """The times of steps a to b [s], on a last axis."""
        begin = np.asarray(0.0 if self.begin is None else self.begin)
        return begin[..., None] + self.h * np.arange(a, b)

    def _check(self, now: dict, step: int) -> None:
        if self.owner.checks and not all(np.isfinite(x).all() for x in now.values()):
            raise SimulationError(
                f"rollout gradient: not finite at step {step} (t = {step * self.h:.6g} s) or later. The derivative "
                "of an objective may be infinite, such as that of the root of 0; with checks=False the other rollouts "
                "of a batch are given.",
                step=step,
                time=step * self.h,
            )


def _own(variable: str) -> int:
    """Axes of an input behind that of time."""
    return 1 + (variable == "f_ext")


def _during(x: np.ndarray, a: int, b: int, own: int) -> np.ndarray:
    """Rows a to b of an array over time, all of a constant one."""
    return x if x.shape[-1 - own] == 1 else x[(..., slice(a, b), *(slice(None),) * own)]


def _reversed(x: np.ndarray, own: int) -> np.ndarray:
    """A view of an array backwards in time."""
    return x[(..., slice(None, None, -1), *(slice(None),) * own)]
