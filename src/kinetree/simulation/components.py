"""What takes part in a simulation beside the integrator and the controller: motors, stiction, stops, events.

An element is any object with some of the methods of `Element`; those that it does not have cost nothing. It need not
derive from that class, which is here for its words and as a base without behavior. The arrays that an element gets are
read-only; those that it returns are copied.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from kinetree.errors import SimulationError
from kinetree.integrators.user_code import copied, lock

HOOKS = (
    "prepare", "wrap", "reset", "joint_forces", "next_time", "after_step", "landed", "get_state", "set_state",
    "channels",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """A step that was just made, from (t0, q0, v0) to (t1, q1, v1), under the joint forces ``tau``."""

    t0: float
    q0: np.ndarray
    v0: np.ndarray
    t1: float
    q1: np.ndarray
    v1: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a step ends instead: at time ``t`` within it, in another state.

    Attributes
    ----------
    t : float
        Time [s], after the step's beginning and at most at its end.
    q, v : numpy.ndarray
        The state from which the run goes on.
    label : str
        What happened; the energy that the change of state takes or gives is booked under it.
    stop : bool
        End the run here.
    before : numpy.ndarray or None
        The velocity just before, where the state jumps at ``t``; None if it does not.
    joint : str
        The joint where it happened, if it was one.
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    label: str
    stop: bool = False
    before: np.ndarray | None = None
    joint: str = ""


@dataclass(frozen=True, slots=True)
class Jump:
    """A change of state in an instant, as the energy balance books it: ``energy`` [J] is positive where it enters."""

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
        Energy that entered since the start, where it is known better than from sums over the samples; shape as
        ``values``.
    """

    kind: str
    values: np.ndarray
    unit: str = "W"
    work: np.ndarray | None = None


class Element:
    """Base of the elements of a simulation. A subclass overrides what it needs; the rest is never called."""

    name = "element"

    def prepare(self, model):
        """The model as simulated, once, before anything is compiled; nq and nv stay."""
        raise NotImplementedError

    def wrap(self, stepper, system):
        """A fixed step around the integrator's, or instead of it."""
        raise NotImplementedError

    def reset(self, simulation) -> None:
        """Before the first step."""
        raise NotImplementedError

    def joint_forces(self, t, q, v, tau):
        """The joint forces that act, from those that were asked for; (nv,) [N m or N]."""
        raise NotImplementedError

    def next_time(self, t) -> float:
        """A time after t at which a step has to end [s]; infinity for none."""
        raise NotImplementedError

    def after_step(self, step: Step) -> Landing | None:
        """Where the step ends instead, or None."""
        raise NotImplementedError

    def landed(self, t) -> None:
        """The run goes on from a time t within the last step, in another state or cut short by an element."""
        raise NotImplementedError

    def get_state(self):
        """What a snapshot has to hold; anything that can be pickled."""
        raise NotImplementedError

    def set_state(self, state) -> None:
        """Take up what `get_state` gave."""
        raise NotImplementedError

    def channels(self, run) -> dict[str, Channel]:
        """Rows of the energy balance of a trajectory."""
        raise NotImplementedError


class Elements:
    """The elements of one simulation, sorted by what they do.

    Parameters
    ----------
    elements : iterable
    """

    __slots__ = ("_hooks", "all")

    def __init__(self, elements: Iterable) -> None:
        self.all = tuple(elements) if isinstance(elements, Iterable) else (elements,)
        self._hooks = {hook: tuple(e for e in self.all if _has(e, hook)) for hook in HOOKS}
        for element in self.all:
            if not any(element in chosen for chosen in self._hooks.values()):
                raise SimulationError(
                    f"simulate: {type(element).__name__} is no element: it has none of the methods {', '.join(HOOKS)}.",
                    element=element,
                )
        names = [element_name(element) for element in self.all]
        for name in names:
            if names.count(name) > 1:
                raise SimulationError(
                    f"simulate: {names.count(name)} elements are named {name!r}; give them names of their own.",
                    name=name,
                )

    def having(self, hook: str) -> tuple:
        """Those that have a method."""
        return self._hooks[hook]

    def prepare(self, model):
        """The model as all elements want it."""
        for element in self.having("prepare"):
            changed = element.prepare(model)
            if (changed.nq, changed.nv) != (model.nq, model.nv):
                raise SimulationError(
                    f"simulate: element {element_name(element)!r} made a model with nq, nv = {changed.nq}, "
                    f"{changed.nv} of one with {model.nq}, {model.nv}; coordinates stay as they are.",
                    element=element,
                )
            model = changed
        return model

    def wrap(self, stepper, system):
        """The step that all elements make of the integrator's."""
        for element in self.having("wrap"):
            stepper = element.wrap(stepper, system)
        return stepper

    def next_time(self, t: float) -> float:
        """The first time after t at which a step has to end [s]."""
        return min((element.next_time(t) for element in self.having("next_time")), default=math.inf)

    def after_step(self, step: Step) -> Landing | None:
        """The earliest of the landings that the elements ask for, with a state of its own.

        Raises
        ------
        SimulationError
            The state of a landing is not one of this model.
        """
        lock(step.q0, step.v0, step.q1, step.v1, step.tau)
        first, whose = None, None
        for element in self.having("after_step"):
            landing = element.after_step(step)
            if landing is not None and (first is None or landing.t < first.t):
                first, whose = landing, element
        return None if first is None else _checked(first, whose, step)

    def landed(self, t: float) -> None:
        """Tell of a step that was cut short."""
        for element in self.having("landed"):
            element.landed(t)

    def get_state(self) -> dict[str, object]:
        """The state of every element that has one, by name."""
        return {element_name(element): element.get_state() for element in self.having("get_state")}

    def set_state(self, states: dict[str, object]) -> None:
        """Take up what `get_state` gave."""
        for element in self.having("set_state"):
            if element_name(element) in states:
                element.set_state(states[element_name(element)])


def _checked(landing: Landing, element, step: Step) -> Landing:
    """The landing with copies of its arrays, whatever the element does to them later."""
    found = (landing.q, landing.v, landing.v if landing.before is None else landing.before)
    try:
        q, v, before = (copied(x) for x in found)
    except (TypeError, ValueError):
        q = v = before = np.empty(0)
    if q.shape != step.q0.shape or not v.shape == before.shape == step.v0.shape:
        raise SimulationError(
            f"simulate: element {element_name(element)!r} ends the step at t = {landing.t:.9g} s in q, v, before = "
            f"{found!r}, expected arrays of shapes {step.q0.shape}, {step.v0.shape}, {step.v0.shape}.",
            element=element,
            time=landing.t,
        )
    return replace(landing, q=q, v=v, before=None if landing.before is None else before)


def element_name(element) -> str:
    """How the energy balance calls an element."""
    return str(getattr(element, "name", type(element).__name__))


def _has(element, hook: str) -> bool:
    method = getattr(type(element), hook, None) or getattr(element, hook, None)
    return callable(method) and method is not getattr(Element, hook)
