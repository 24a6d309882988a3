"""Components of a simulation beside the integrator and the controller: motors, dry friction, stops, events.

A component is any object with some of the methods of `Component`; missing methods have no cost. It need not derive
from that class, which documents them and is a base without behavior. The arrays that a component gets are
read-only; those that it returns are copied.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kinetree.errors import SimulationError
from kinetree.integrators.user_code import copied, copied_state, lock


class Step(NamedTuple):  # made in every step: a frozen dataclass takes four times as long
    """A step that was just made, from (t0, q0, v0) to (t1, q1, v1), under the joint forces ``tau``.

    ``x0`` and ``x1`` are the internal states of force elements.
    """

    t0: float
    q0: np.ndarray
    v0: np.ndarray
    t1: float
    q1: np.ndarray
    v1: np.ndarray
    tau: np.ndarray
    x0: Sequence[float] = ()
    x1: Sequence[float] = ()

    @classmethod
    def of(cls, nv: int, t0, q0, w0, t1, q1, w1, tau) -> Step:
        """A step of velocities that internal states follow."""
        if len(w0) == nv:
            return cls(t0, q0, w0, t1, q1, w1, tau)
        return cls(t0, q0, w0[:nv], t1, q1, w1[:nv], tau, w0[nv:], w1[nv:])

    @property
    def ends(self) -> tuple[tuple, tuple]:
        """``(t, q, w)`` at both ends, w being the velocities and the internal states."""
        if not len(self.x0):  # not equal arrays, but the same ones
            return (self.t0, self.q0, self.v0), (self.t1, self.q1, self.v1)
        w0, w1 = np.concatenate((self.v0, self.x0)), np.concatenate((self.v1, self.x1))
        return (self.t0, self.q0, w0), (self.t1, self.q1, w1)


@dataclass(frozen=True, slots=True)
class StateReset:
    """A step that ends at a time ``t`` within it, in another state.

    Attributes
    ----------
    t : float
        Time [s], after the step's beginning and at most at its end.
    q, v : numpy.ndarray
        The state from which the run continues.
    label : str
        Name of the event, under which the energy of the change of state appears in the energy balance.
    stop : bool
        End the run here.
    before : numpy.ndarray or None
        The velocity just before, if the state is discontinuous at ``t``; None if it is not.
    joint : str
        The joint where it happened, if it was one.
    x : numpy.ndarray or None
        Internal states of force elements from which the run continues; None for those between both ends of the step.
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    label: str
    stop: bool = False
    before: np.ndarray | None = None
    joint: str = ""
    x: np.ndarray | None = None

    @property
    def w(self) -> np.ndarray:
        """The velocities, and the internal states if there are some."""
        return np.concatenate((self.v, self.x)) if len(self.x) else self.v


@dataclass(frozen=True, slots=True)
class ImpulseEvent:
    """A change of state in an instant: ``energy`` [J] is positive where it enters."""

    time: float
    label: str
    energy: float
    joint: str = ""


@dataclass(frozen=True, slots=True)
class Channel:
    """A row of the energy balance.

    Attributes
    ----------
    kind : {"energy", "power", "other"}
        Stored energy [J]; power [W], positive where energy enters the mechanism; anything else.
    values : numpy.ndarray
        At the samples, shape (T,), or (T, nv) by velocity coordinate.
    unit : str
    work : numpy.ndarray or None
        Energy that entered since the start, where it is more exact than sums over the samples; shape as
        ``values``.
    """

    kind: str
    values: np.ndarray
    unit: str = "W"
    work: np.ndarray | None = None


class Component:
    """Base of the components of a simulation. Subclasses override the methods they need; others are never called."""

    name = "element"

    def prepare(self, model):
        """The model as simulated, once, before anything is compiled; nq and nv stay."""

    def wrap(self, stepper, system):
        """A fixed step around the integrator's, or instead of it."""

    def reset(self, simulation) -> None:
        """Before the first step."""

    def joint_forces(self, t, q, v, tau):
        """Applied joint forces, from the commanded ones; (nv,) [N m or N]."""

    def next_time(self, t) -> float:
        """A time after t at which a step has to end [s]; infinity for none."""

    def after_step(self, step: Step) -> StateReset | None:
        """The state reset at which the step ends instead, or None."""

    def after_reset(self, t) -> None:
        """The run continues from a time t within the last step, in another state or cut short by a component."""

    def get_state(self):
        """The state for snapshots; anything that can be pickled."""

    def set_state(self, state) -> None:
        """Restore a state of `get_state`."""

    def channels(self, run) -> dict[str, Channel]:
        """Rows of the energy balance of a trajectory."""


HOOKS = tuple(name for name, x in vars(Component).items() if inspect.isfunction(x))


class Components:
    """The components of one simulation, sorted by their methods.

    Parameters
    ----------
    components : iterable
    """

    def __init__(self, components: Iterable) -> None:
        self.all = tuple(components) if isinstance(components, Iterable) else (components,)
        self._hooks = {hook: tuple(e for e in self.all if _has(e, hook)) for hook in HOOKS}
        for component in self.all:
            if not any(component in chosen for chosen in self._hooks.values()):
                raise SimulationError(
                    f"simulate: {type(component).__name__} is no component: it has none of the methods "
                    f"{', '.join(HOOKS)}.",
                    component=component,
                )
        names = [component_name(component) for component in self.all]
        for name in names:
            if names.count(name) > 1:
                raise SimulationError(
                    f"simulate: {names.count(name)} components are named {name!r}; give them names of their own.",
                    name=name,
                )

    def having(self, hook: str) -> tuple:
        """Those that have a method."""
        return self._hooks[hook]

    def prepare(self, model):
        """The model as modified by all components."""
        for component in self.having("prepare"):
            changed = component.prepare(model)
            if (changed.nq, changed.nv) != (model.nq, model.nv):
                raise SimulationError(
                    f"simulate: component {component_name(component)!r} made a model with nq, nv = {changed.nq}, "
                    f"{changed.nv} of one with {model.nq}, {model.nv}; coordinates stay as they are.",
                    component=component,
                )
            model = changed
        return model

    def wrap(self, stepper, system):
        """The integrator's step, wrapped by all components."""
        for component in self.having("wrap"):
            stepper = component.wrap(stepper, system)
        return stepper

    def next_time(self, t: float) -> float:
        """The first time after t at which a step has to end [s]."""
        return min((component.next_time(t) for component in self.having("next_time")), default=math.inf)

    def after_step(self, step: Step) -> StateReset | None:
        """The earliest state reset of the components, with copies of its arrays.

        Raises
        ------
        SimulationError
            The state of a reset is not one of this model.
        """
        lock(step.q0, step.v0, step.q1, step.v1, step.tau)
        first, whose = None, None
        for component in self.having("after_step"):
            reset = component.after_step(step)
            if reset is not None and (first is None or reset.t < first.t):
                first, whose = reset, component
        return None if first is None else _checked(first, whose, step)

    def after_reset(self, t: float) -> None:
        """After a step that was shortened."""
        for component in self.having("after_reset"):
            component.after_reset(t)

    def get_state(self) -> dict[str, object]:
        """The state of every component that has one, by name."""
        return {component_name(component): component.get_state() for component in self.having("get_state")}

    def set_state(self, states: dict[str, object]) -> None:
        """Restore a state of `get_state`."""
        for component in self.having("set_state"):
            if component_name(component) in states:
                component.set_state(states[component_name(component)])


def _checked(reset: StateReset, component, step: Step) -> StateReset:
    """The state reset with copies of its arrays."""
    found = (reset.q, reset.v, reset.v if reset.before is None else reset.before)
    state = copied_state(found, step.q0, step.v0, step.v0)
    if state is None:
        raise SimulationError(
            f"simulate: component {component_name(component)!r} ends the step at t = {reset.t:.9g} s in q, v, before = "
            f"{found!r}, expected arrays of shapes {step.q0.shape}, {step.v0.shape}, {step.v0.shape}.",
            component=component,
            time=reset.t,
        )
    (q, v, before), x = state, reset.x
    if x is None:
        part = (reset.t - step.t0) / (step.t1 - step.t0)
        x = (1.0 - part) * np.asarray(step.x0) + part * np.asarray(step.x1)
    return replace(reset, q=q, v=v, before=None if reset.before is None else before, x=copied(x))


def component_name(component) -> str:
    """The name of a component in the energy balance."""
    return str(getattr(component, "name", type(component).__name__))


def _has(component, hook: str) -> bool:
    method = getattr(type(component), hook, None) or getattr(component, hook, None)
    return callable(method) and method is not getattr(Component, hook)
