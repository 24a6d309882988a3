"""Inputs of a simulation bound to a model: joint forces of a controller or given ones, and external wrenches."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np

from kinetree.control import digital as controllers
from kinetree.errors import NonFiniteError, NonFiniteForceError, ShapeError, SimulationError
from kinetree.integrators.coordinates import Coordinates
from kinetree.integrators.system import dynamics_time
from kinetree.integrators.user_code import copied, explain, lock
from kinetree.native.arrays import wrenches_by_name
from kinetree.simulation.components import Components
from kinetree.simulation.control import control_array, control_parts
from kinetree.simulation.options import Inputs


class BoundInputs:
    """Joint forces and external wrenches as functions of time and state.

    Parameters
    ----------
    model : Model
    controller : callable or None
        ``controller(t, q, v) -> tau``; see `kinetree.control` for its optional methods.
    inputs : Inputs
        Joint forces, wrenches and a disturbance.
    components : Components

    Attributes
    ----------
    controlled : bool
        Whether there is a controller.
    at_steps : bool
        Whether `begin` has to be called at the beginning of every step: an input depends on the state there.
    f_ext : callable
        ``f_ext(t)``: arguments of the dynamics after the joint forces, a tuple of one (nb, 6) array, or the empty tuple
        without external wrenches; before these the time, if joints depend on it; after them the inputs of force
        elements, if there are some.
    has_wrenches, wrench_of_state : bool
        Whether there are external wrenches, and whether they depend on the state.

    Notes
    -----
    Callables get the state in read-only arrays; their results are copied and made read-only before use.
    """

    def __init__(self, model, controller, inputs: Inputs, components: Components) -> None:
        tau, f_ext, disturbance = inputs.tau, inputs.f_ext, inputs.disturbance
        if controller is not None and tau is not None:
            raise SimulationError(
                "simulate: both controller and inputs.tau are given, so it is not clear which joint forces act. Give "
                "one; a controller may return the sum of both."
            )
        nv, nb = model.nv, model.nb
        for part in () if controller is None else controllers.parts(controller):
            if not callable(part):
                raise SimulationError(
                    f"simulate: controller is {type(part).__name__}, expected a callable controller(t, q, v) -> tau; "
                    "constant joint forces are given as inputs=kt.Inputs(tau=...).",
                    controller=part,
                )
            _check_signature("controller", part, "controller(t, q, v)", f"({nv},)", (0.0, None, None))
        _check_signature("tau", tau, "tau(t)", f"({nv},)", (0.0,))
        _check_signature("disturbance", disturbance, "disturbance(t)", f"({nv},)", (0.0,))
        self.wrench_of_state = _takes_the_state(f_ext)
        if not self.wrench_of_state:
            _check_signature("f_ext", f_ext, "f_ext(t)", f"({nb}, 6)", (0.0,), " (or f_ext(t, q, v))")
        self._model, self._controller, self._components = model, controller, components
        self._nv, self._nx, self._nu, self._shape = nv, model.nx, model.nu, (nv,)
        self._given, self._given_f_ext, self._user_disturbance = tau, f_ext, disturbance
        self.controlled = controller is not None
        # Discontinuous signals are sampled at the beginning of a step: its end belongs to the next one.
        control = [] if inputs.control is None else control_parts(model, inputs.control)
        for what, entries, source in control:
            if not _takes_the_state(source):
                _check_signature(what, source, "u(t)", f"({entries.stop - entries.start},)", (0.0,), " (or u(t, q, v))")
        given = (tau, f_ext, disturbance, *(source for *_, source in control))
        self._discontinuous = tuple(_Sampled(source) for source in given if hasattr(source, "next_time"))
        tau, f_ext, disturbance, *sources = (
            next((x for x in self._discontinuous if x.source is source), source) for source in given
        )
        self._control = [(*part[:2], source) for part, source in zip(control, sources, strict=True)]
        self._control_of_state = any(_takes_the_state(source) for source in sources)
        fixed = self._nu and not any(map(callable, sources))
        self._u = self._inputs_at(0.0) if fixed else (np.zeros(self._nu),)
        self._f_ext = f_ext
        self._changes_forces = components.having("joint_forces")
        of_state = self.controlled or self.wrench_of_state or self._changes_forces or self._control_of_state
        self.at_steps = bool(of_state or self._discontinuous)
        self._hold, self._pushed = copied(np.zeros(nv)), None
        self._tau = self._force_source(tau)
        self._disturbance = None if disturbance is None else self._signal(disturbance)
        self.has_wrenches = f_ext is not None
        wrenches = self._wrench_source(f_ext)
        self.f_ext = (lambda t: dynamics_time(model, t) + wrenches(t)) if dynamics_time(model, 0.0) else wrenches
        if self._nu:
            before, u = self.f_ext, (lambda t: self._u) if fixed or self._control_of_state else self._inputs_at
            self.f_ext = lambda t: before(t) + u(t)

    def check_delays(self, dt: float | None) -> None:
        """Raise an error for delays of the controller that steps of dt [s] or an adaptive method (None) cannot keep."""
        if self._controller is not None and dt is None:
            controllers.check_continuous(self._controller)
        elif self._controller is not None:
            controllers.check_delays(self._controller, dt)

    def hold_function(self) -> Callable[[float], np.ndarray]:
        """`hold` as the shortest function with its value."""
        if self._disturbance is not None:
            return self.hold
        return (lambda t: self._hold) if self.at_steps else self._tau

    def begin_function(self) -> Callable[[float, np.ndarray, np.ndarray], None] | None:
        """`begin` as the shortest function that does it; None if there is nothing to do."""
        if not self.at_steps:
            return None
        more = self._discontinuous or self.wrench_of_state or self._changes_forces or self._control_of_state or self._nx
        if not self.controlled or controllers.keeps_time(self._controller) or more:
            return self.begin
        evaluated, checked, controller = self._evaluated, self._checked, self._controller

        def begin(t, q, v):
            lock(q, v)
            self._hold = checked(evaluated(controller, t, q, v), "controller", controller, t)

        return begin

    def compile_time_wrenches(self) -> tuple[np.ndarray, ...]:
        """Arguments of the dynamics after the joint forces, for a step that is discarded."""
        if not self.wrench_of_state:
            return self.f_ext(0.0)
        u = (np.zeros(self._nu),) if self._nu else ()
        return (*dynamics_time(self._model, 0.0), np.zeros((self._model.nb, 6)), *u)

    def reset(self) -> None:
        """Before a run: controllers and signals that have a state start afresh."""
        self._hold, self._pushed = copied(np.zeros(self._model.nv)), None
        for source in self._sources:
            if hasattr(source, "reset"):
                source.reset()

    def begin(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """The beginning of a fixed step: evaluate the inputs that are constant over it."""
        self.segment(t, q, v)
        self.command(t, q, v)

    def command(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces at a state [N m or N]; those of a controller are then those of `hold`."""
        w, v = v, self._velocities(v)
        if self.at_steps:
            lock(q, w)
        if self._control_of_state:
            self._u = self._inputs_at(t, q, v)
        if self.wrench_of_state:
            self._pushed = (self._wrench(self._evaluated(self._f_ext, t, q, v, what="f_ext"), t),)
        if self.controlled:
            tau = self._checked(self._evaluated(self._controller, t, q, v), "controller", self._controller, t)
        elif self.at_steps:
            tau = self._tau(t)
        else:
            return self._tau(t) if self._disturbance is None else self._tau(t) + self._disturbance(t)
        for component in self._changes_forces:
            state = w if getattr(component, "takes_internal_states", False) else v
            applied = self._evaluated(component.joint_forces, t, q, state, tau, what="component", who=component)
            tau = self._checked(applied, "component", component, t)
        self._hold = tau
        return self.hold(t)

    def segment(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """The beginning of an adaptive solve: samples are taken here, and not within it."""
        for signal in self._discontinuous:
            signal.begin(t)
        if controllers.keeps_time(self._controller):
            v = self._velocities(v)
            lock(q, v)
            self._evaluated(self._controller.begin, t, q, v, who=self._controller)

    def hold(self, t: float) -> np.ndarray:
        """Joint forces during a fixed step: the last ones that depend on the state, or the given ones at time t."""
        tau = self._hold if self.controlled or self.at_steps else self._tau(t)
        return tau if self._disturbance is None else tau + self._disturbance(t)

    def next_time(self, t: float) -> float:
        """The first time after t at which an input may be discontinuous [s]."""
        found = math.inf if self._controller is None else controllers.next_time(self._controller, t)
        for source in self._sources[1:]:
            found = min(found, controllers.next_time(source, t))
        return min(found, self._components.next_time(t))

    @property
    def has_instants(self) -> bool:
        """Whether `next_time` may ever be finite."""
        return bool(self._components.having("next_time")) or any(hasattr(x, "next_time") for x in self._sources)

    def disturbances(self, times: np.ndarray) -> np.ndarray | None:
        """The disturbance at several times, shape (T, nv)."""
        if self._disturbance is None:
            return None
        return np.array([np.array(self._user_disturbance(float(t)), dtype=float) for t in times])

    def recorded(self, t: float) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Recorded data of a sample beside the joint forces: wrenches that depend on the state, inputs."""
        return self.pushed, self.f_ext(t)[-1] if self._nu else None

    @property
    def pushed(self) -> np.ndarray | None:
        """The wrenches that were last found from the state, shape (nb, 6); None if they do not depend on it."""
        return self._pushed[0] if self._pushed is not None else None

    def wrenches(self, times: np.ndarray) -> np.ndarray | None:
        """External wrenches at several times, shape (T, nb, 6), if they do not depend on the state."""
        if not self.has_wrenches:
            return None
        if self._discontinuous and callable(self._given_f_ext):
            return np.array([self._wrench(self._given_f_ext(float(t)), t) for t in times])
        place = -2 if self._nu else -1
        return np.array([self.f_ext(float(t))[place] for t in times])

    def get_state(self) -> dict:
        """The state for snapshots."""
        return {
            "hold": self._hold,
            "pushed": self._pushed,
            "u": self._u,
            "discontinuous": [signal.value for signal in self._discontinuous],
            "sources": [controllers.get_state(source) for source in self._sources],
        }

    def set_state(self, state: dict) -> None:
        """Restore a state of `get_state`."""
        self._hold, self._pushed, self._u = state["hold"], state["pushed"], state["u"]
        for signal, value in zip(self._discontinuous, state["discontinuous"], strict=True):
            signal.value = value
        for source, own in zip(self._sources, state["sources"], strict=True):
            controllers.set_state(source, own)

    @property
    def _sources(self) -> tuple:
        """All inputs of the user that may have a state."""
        control = (getattr(source, "source", source) for *_, source in self._control)
        return self._controller, self._given, self._given_f_ext, self._user_disturbance, *control

    def _velocities(self, w: np.ndarray) -> np.ndarray:
        """Velocities without the internal states that follow them."""
        return w[: self._nv] if self._nx else w

    def _inputs_at(self, t: float, *state: np.ndarray) -> tuple[np.ndarray]:
        """The inputs of force elements at a time, and a state where something depends on it."""

        def evaluated(what, source):
            return self._evaluated(source, t, *(state if _takes_the_state(source) else ()), what=what, who=source)

        return (control_array(self._model, self._control, evaluated, t),)

    def _evaluated(self, source, t, *arrays, what: str = "controller", who=None):
        try:
            return source(t, *arrays)
        except Exception as error:
            explain(error, f"{what} {self._name(source if who is None else who)} at t = {t:.9g} s")
            raise

    def _signal(self, disturbance) -> Callable[[float], np.ndarray]:
        what = "disturbance"
        return lambda t: self._checked(self._evaluated(disturbance, t, what=what), what, disturbance, t)

    def _force_source(self, tau) -> Callable[[float], np.ndarray]:
        if callable(tau):
            return lambda t: self._checked(self._evaluated(tau, t, what="tau"), "tau", tau, t)
        constant = np.zeros(self._model.nv) if tau is None else self._checked(tau, "tau", None, None)
        return lambda t: constant

    def _wrench_source(self, f_ext) -> Callable[[float], tuple[np.ndarray, ...]]:
        if f_ext is None:
            return lambda t: ()
        if self.wrench_of_state:
            return lambda t: self._pushed
        if callable(f_ext):
            return lambda t: (self._wrench(self._evaluated(f_ext, t, what="f_ext"), t),)
        constant = (self._wrench(f_ext, None),)
        return lambda t: constant

    def _wrench(self, value, t: float | None) -> np.ndarray:
        model, at = self._model, "" if t is None else f" at t = {t:.9g} s"
        if isinstance(value, Mapping):
            value = wrenches_by_name("simulate", model, "f_ext", value)
        try:
            wrenches = np.array(value, dtype=float, order="C")
        except (TypeError, ValueError):
            raise ShapeError(
                f"simulate: f_ext{at} is {value!r}, expected an array of shape ({model.nb}, 6) or a mapping of body "
                "names to wrenches.",
                found=value,
                time=t,
            ) from None
        if wrenches.shape != (model.nb, 6):
            raise ShapeError(
                f"simulate: f_ext{at} has shape {wrenches.shape}, expected ({model.nb}, 6): one row [moment; force] "
                "for each body, the world is row 0.",
                found=wrenches.shape,
                time=t,
            )
        if not np.isfinite(wrenches).all():
            i, k = (int(n) for n in np.argwhere(~np.isfinite(wrenches))[0])
            raise NonFiniteError(
                f"simulate: f_ext[{i}, {k}]{at} is {wrenches[i, k]} (body {model.body_names[i]!r}); wrenches must be "
                "finite.",
                time=t,
                body=model.body_names[i],
            )
        wrenches.setflags(False)
        return wrenches

    def _checked(self, value, what: str, source, t: float | None) -> np.ndarray:
        try:
            tau = np.array(value, dtype=float)
        except (TypeError, ValueError):
            tau = None
        # A sum is the fastest check of as few entries as these; where it overflows, they are looked at one by one.
        if tau is None or tau.shape != self._shape or not math.isfinite(sum(tau.tolist())):
            self._refuse_bad(value, tau, what, source, t)
        tau.setflags(False)
        return tau

    def _refuse_bad(self, value, tau: np.ndarray | None, what: str, source, t: float | None) -> None:
        """Raise the error of joint forces that have the wrong shape or are not finite."""
        nv = self._model.nv
        where = f"{what}{'' if source is None else ' ' + self._name(source)}"
        at = "" if t is None else f" at t = {t:.9g} s"
        if tau is None or tau.shape != (nv,):
            found = f"{value!r}" if tau is None or value is None else f"an array of shape {tau.shape}"
            verb = "is" if source is None else "returned"
            hint = " Does it lack a return statement?" if value is None else ""
            raise SimulationError(
                f"simulate: {where} {verb} {found}{at}, expected joint forces of shape ({nv},).{hint}",
                time=t,
                controller=source,
                found=value,
            )
        if not np.isfinite(tau).all():
            k = int(np.flatnonzero(~np.isfinite(tau))[0])
            joint = Coordinates.of(self._model).velocity_joints[k]
            verb = "gives" if source is None else "returned"
            raise NonFiniteForceError(
                f"simulate: {where} {verb} tau[{k}] = {tau[k]} for joint {joint!r}{at}; joint forces must be finite.",
                time=t,
                controller=source,
                entry=k,
                joint=joint,
            )

    @staticmethod
    def _name(source) -> str:
        return repr(getattr(source, "__qualname__", type(source).__name__))


class _Sampled:
    """A discontinuous signal, sampled at the beginning of the step."""

    def __init__(self, source) -> None:
        self.source, self.value = source, None

    def begin(self, t: float) -> None:
        """Take the value of the step that begins now."""
        self.value = copy.deepcopy(self.source(t))

    def __call__(self, t: float):
        if self.value is None:
            self.begin(t)
        return self.value


def _takes_the_state(f_ext) -> bool:
    """Whether f_ext is ``f_ext(t, q, v)``: it can be called with three arguments and not with one."""
    return callable(f_ext) and _refusal(f_ext, (0.0,)) is not None and _refusal(f_ext, (0.0, None, None)) is None


def _refusal(source, arguments: tuple) -> TypeError | None:
    """Why a callable cannot be called with these arguments; None if it can, or without a readable signature."""
    with suppress(ValueError):
        try:
            inspect.signature(source).bind(*arguments)
        except TypeError as error:
            return error
    return None


def _check_signature(what: str, source, expected: str, shape: str, arguments: tuple, other: str = "") -> None:
    """Raise an error for a callable that does not take these arguments, if its signature is readable."""
    error = _refusal(source, arguments) if callable(source) else None
    if error is not None:
        signature = inspect.signature(source)
        raise SimulationError(
            f"simulate: {what} {BoundInputs._name(source)} takes {signature} ({error}), expected {expected} -> {shape}"
            f"{other}.",
            controller=source,
            signature=str(signature),
        )
