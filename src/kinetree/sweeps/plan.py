"""A sweep as data: model or factory, design, runs and measures. Processes that compute chunks get it once, pickled."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kinetree.arguments import a_model
from kinetree.compiler.parameters import model_with, reframed_values
from kinetree.compiler.tracing import numbers_model
from kinetree.errors import ArgumentError, ShapeError
from kinetree.model import Model
from kinetree.once import made_once
from kinetree.simulation.options import Record
from kinetree.sweeps.batch import Batch
from kinetree.sweeps.control_laws import Law
from kinetree.sweeps.controlled_rollout import SweepRollout
from kinetree.sweeps.design import Design
from kinetree.sweeps.measures import needs_of
from kinetree.sweeps.parameters import Parameters
from kinetree.sweeps.runs import Runs

SEEN = 64  # samples among which a value that is not zero is looked for


@dataclass(frozen=True, eq=False)
class Plan:
    """A sweep.

    Attributes
    ----------
    source : Model or callable
        The model, or a function of some of the parameters that makes it.
    design : Design
    runs : Runs
    measures : mapping of str to callable
    device : {"cpu", "cuda"}
    threads : int or None
        Of one call.
    known : Model or None
        The first model that a factory makes, where it has been made already.
    """

    source: object
    design: Design
    runs: Runs
    measures: Mapping[str, Callable]
    device: str = "cpu"
    threads: int | None = 1
    known: Model | None = None
    _made: dict = field(default_factory=dict, repr=False)

    def but(self, **changes) -> Plan:
        """The same sweep with other attributes; nothing is compiled yet."""
        return replace(self, _made={}, **changes)

    def __getstate__(self):
        return {name: x for name, x in self.__dict__.items() if name != "_made"}

    def __setstate__(self, state) -> None:
        vars(self).update(state, _made={})

    @property
    def arguments(self) -> tuple[str, ...]:
        """Parameters that a factory takes."""
        if isinstance(self.source, Model):
            return ()
        taken = inspect.signature(self.source).parameters.values()
        anything = any(x.kind is x.VAR_KEYWORD for x in taken)
        names = {x.name for x in taken if x.kind in (x.POSITIONAL_OR_KEYWORD, x.KEYWORD_ONLY)}
        return tuple(name for name in self.names if anything or name in names)

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters."""
        return (*self.design.lists, *self.design.drawn, *self.design.functions)

    @property
    def model(self):
        """The model as it is simulated, with stops and contacts; of a factory the first one."""
        return self.rollout._base

    @property
    def rollout(self) -> SweepRollout:
        """The compiled rollouts."""
        return made_once(self._made, "rollout", self._rollout_of, self.first)

    @property
    def first(self) -> Model:
        """The model that was given, or the first one that the factory makes."""
        return made_once(self._made, "first", self._first)

    @property
    def law(self) -> Law | None:
        """The law of the controller."""
        controller = self.runs.controller
        return None if controller is None else made_once(self._made, "law", Law.of, controller, self.first)

    @property
    def parameters(self) -> Parameters:
        """Places of the parameters."""
        return made_once(self._made, "parameters", Parameters, self.names, self.model, self.law, self.arguments)

    @property
    def needs(self) -> str:
        """States that measures read."""
        return needs_of(self.measures)

    @property
    def every(self) -> int:
        """Steps from one recorded state to the next."""
        return self.runs.steps if self.needs == "end" else self.runs.every

    @property
    def times(self) -> np.ndarray:
        """Of the recorded states [s]."""
        return self.runs.dt * np.arange(0, self.runs.steps + 1, self.every)

    def _first(self) -> Model:
        if isinstance(self.source, Model):
            return self._with_terms(self.source)
        return self.known or self.made(self.design.values(0, 1), 0)

    def _with_terms(self, model: Model) -> Model:
        """The model with a number in place of each zero that varies: code has no terms for what is zero."""
        numbers = model.numbers()
        zero = [name for name, x in zip(numbers.names, numbers.values, strict=True) if x == 0.0 and name in self.names]
        if not zero:
            return model
        values, found = self.design.values(0, min(self.design.count, SEEN)), numbers.as_dict()
        for name in zero:
            x = values[name]
            found[name] = x[np.argmax(x != 0.0)] if x.ndim == 1 else 0.0
        return model_with(model, np.array(list(found.values())))

    def made(self, values: Mapping[str, np.ndarray], k: int) -> Model:
        """The model that a factory makes for a sample."""
        given = {name: np.array(values[name][k]) for name in self.arguments}
        given = {name: x.item() if not x.ndim else x for name, x in given.items()}
        found = self.source(**given)
        a_model("sweep: the result of the factory", found)
        return found

    def _rollout_of(self, model) -> SweepRollout:
        return SweepRollout(
            model, self.law, self.diagonal, self._moves_frames(model), self.device, integrator=self.runs.integrator,
            ground=self.runs.ground, closure=self.runs.closure, threads=self.threads,
        )._for_step(self.runs.dt)  # fmt: skip

    @property
    def diagonal(self) -> bool:
        """Whether all gains are diagonals."""
        law = self.law
        return law is not None and all(
            np.count_nonzero(x := law.gain(g)) == np.count_nonzero(np.diag(x)) for g in law.gains
        )

    def _moves_frames(self, model) -> bool:
        """Whether numbers vary in a way that no better frames than the user's own are left, for any of the samples.

        Found out with values that are changed at random, so that it does not depend on those of a chunk.
        """
        if not isinstance(self.source, Model):
            return True  # frames are chosen for a model, and there are many
        plain = SweepRollout(
            model, self.law, self.diagonal, False, self.device, integrator=self.runs.integrator,
            ground=self.runs.ground, closure=self.runs.closure,
        )._for_step(self.runs.dt)  # fmt: skip
        parameters = Parameters(self.names, plain._base, self.law, self.arguments)
        columns = sorted({c for p in parameters.places if p.kind in ("number", "factor") for c in p.at})
        if not columns:
            return False
        f = plain._function(())
        basis = numbers_model(f.spec, f.structure_model)
        values = np.tile(plain._base.number_values(), (2, 1))
        values[1, columns] *= np.random.default_rng(0).uniform(0.5, 1.5, len(columns))
        turned, residues = reframed_values(f.structure_model, basis, values)
        fixed, expected = ~np.array(basis.numbers().free), basis.numbers().values
        return bool((fixed & (turned != expected) & ~(np.abs(turned) <= residues)).any())

    def check(self) -> None:
        """Raise errors of names, shapes and measures, before anything is simulated."""
        parameters = self.parameters
        parameters.fitting(self.design.values(0, 1))
        for measure in self.measures.values():
            if hasattr(measure, "_check"):
                measure._check(self.model)

    # One batch ------------------------------------------------------------------------------------------------------

    def simulated(self, values: Mapping[str, np.ndarray], index: np.ndarray) -> Batch:
        """The batch of some samples.

        Raises
        ------
        KinetreeError
            Of the simulation of any of them.
        """
        values = self.parameters.fitting(values)
        if not self.arguments:
            return self._rolled(self.rollout, self.parameters, values, index, None)
        models = [self.made(values, k) for k in range(len(index))]
        rollout = self._of_structure(models[0])
        parameters = Parameters(self.names, rollout._base, self.law, self.arguments)
        return self._rolled(rollout, parameters, values, index, np.array([self._numbers_of(x) for x in models]))

    def groups(self, values: Mapping[str, np.ndarray], n: int) -> list[np.ndarray]:
        """Places of samples whose models have one structure, so that they can be simulated together."""
        if not self.arguments:
            return [np.arange(n)]
        found: dict[int, list[int]] = {}
        for k in range(n):
            found.setdefault(id(self._of_structure(self.made(values, k))), []).append(k)
        return [np.array(places) for places in found.values()]

    def _numbers_of(self, model) -> np.ndarray:
        return SweepRollout(
            model, None, False, True, self.device, integrator=self.runs.integrator, ground=self.runs.ground,
            closure=self.runs.closure,
        )._base.number_values()  # fmt: skip

    def _of_structure(self, model) -> SweepRollout:
        return made_once(self._made, ("structure", model.structure()), self._rollout_of, model)

    def _rolled(self, rollout, parameters, values, index, base) -> Batch:
        runs, model, n = self.runs, rollout._base, len(index)
        numbers = parameters.numbers(values, n, base)
        roll = rollout if numbers is None else rollout.with_parameters(numbers)
        zeros = np.zeros(model.nv)
        start = {
            "q0": model.neutral() if runs.q0 is None else _vector("q0", runs.q0, model.nq),
            "v0": zeros if runs.v0 is None else _vector("v0", runs.v0, model.nv),
        }
        if model.nx:
            start["x0"] = model.initial_state() if runs.x0 is None else _vector("x0", runs.x0, model.nx)
        start = {name: parameters.vector(name, values, x) for name, x in start.items()}
        tau = runs.inputs_over_time("tau", 1, (model.nv,))
        tau = _over_time(parameters, "tau", values, np.zeros((1, model.nv)) if tau is None else tau)
        control = self._control(model, parameters, values)
        if self.law is not None:
            given = {name: x[None] for name, x in self.law.inputs(runs.dt, runs.steps).items()}
            if (gains := parameters.gains(values)) and "q_d" in gains and not self.law.is_constant:
                raise ArgumentError("sweep: 'controller.target' varies, but the controller's reference is a motion.")
            given |= gains
            roll = roll.with_inputs(given)
        q0 = np.broadcast_to(start["q0"], (n, model.nq))
        found = roll(
            q0, start["v0"], tau, runs.dt, steps=runs.steps, f_ext=self._wrenches(model), x0=start.get("x0"),
            control=control, record=Record(every=self.every, impulses=self.needs == "impulses"), dtype=runs.dtype,
        )  # fmt: skip
        x = getattr(found, "x", np.zeros((*found.q.shape[:2], 0)))
        forces = _Forces(self, model, tau, parameters, base is not None or rollout._own_frames)
        own = rollout._own_frames
        return Batch(
            model,
            index,
            values,
            self.times,
            found.q,
            found.v,
            x,
            getattr(found, "impulses", None),
            numbers,
            forces,
            own,
        )

    def _control(self, model, parameters, values):
        given = self.runs.control
        varies = any(place.kind == "control" for place in parameters.places)
        if given is None and not varies:
            return None
        if not model.nu:
            raise ArgumentError(f"sweep: control is given, but model {model.name!r} has no inputs.")
        if isinstance(given, Mapping):
            from kinetree.simulation.rollout_arrays import control_over_time

            given = control_over_time(model, given)
        x = np.zeros((1, model.nu)) if given is None else np.asarray(given, float)
        return _over_time(parameters, "control", values, x if x.ndim == 2 else x[None])

    def _wrenches(self, model):
        given = self.runs.f_ext
        if given is None or isinstance(given, Mapping):
            return given
        x = self.runs.inputs_over_time("f_ext", 2, (model.nb, 6))
        return x[None]


@dataclass(frozen=True, eq=False)
class _Forces:
    """Joint forces of a batch at its recorded states."""

    plan: Plan
    model: object
    tau: np.ndarray
    parameters: Parameters
    own_frames: bool

    def __call__(self, batch: Batch) -> np.ndarray:
        plan, rows = self.plan, np.arange(len(batch.t)) * self.plan.every
        tau = self.tau if len(self.tau) == 1 else self._of(batch)
        tau = tau[:, [0] * len(rows)] if tau.shape[1] == 1 else tau[:, np.minimum(rows, tau.shape[1] - 1)]
        if plan.law is None:
            return np.broadcast_to(tau, (len(batch), len(rows), self.model.nv))
        from kinetree.compiler.function import Function

        key = ("sweep law", plan.law.algorithm, plan.diagonal)
        f = made_once(plan._made, key, Function, plan.law.part(plan.diagonal), self.model, (), {}, False, 1)
        given = {name: x[None] for name, x in plan.law.inputs(plan.runs.dt, plan.runs.steps).items()}
        given |= self.parameters.gains(dict(batch.values))
        arrays = []
        for x in given.values():
            x = x if x.shape[1] == 1 else x[:, np.minimum(rows, x.shape[1] - 1)]
            arrays.append(x)
        return tau + f(batch.q, batch.v, *arrays)

    def _of(self, batch: Batch) -> np.ndarray:
        """The inputs of samples that were chosen from those of the chunk."""
        nominal = self.plan.runs.inputs_over_time("tau", 1, (self.model.nv,))
        nominal = np.zeros((1, self.model.nv)) if nominal is None else nominal
        return _over_time(self.parameters, "tau", dict(batch.values), nominal)


def _vector(name: str, given, size: int) -> np.ndarray:
    x = np.asarray(given, dtype=float)
    if x.shape != (size,):
        raise ShapeError(
            f"sweep: {name} of simulate= has shape {x.shape}, expected ({size},). Starts that vary go into over.",
            name=name,
        )
    return x


def _over_time(parameters: Parameters, kind: str, values, nominal: np.ndarray) -> np.ndarray:
    """Inputs (1 or n, 1 or steps, size), constants added for the samples where they vary."""
    if not any(place.kind == kind for place in parameters.places):
        return nominal[None]
    if len(nominal) > 1:
        raise ArgumentError(f"sweep: {kind!r} varies over samples, but simulate= gives one row for each step.")
    return parameters.vector(kind, values, nominal[0])[:, None]
