"""The time as an input of algorithms, for models whose joints depend on it, and for these alone.

An algorithm is written for a tree that stands at a time. For a model that depends on time its `Spec` is wrapped here:
one more input, the time, which the model is bound to before the algorithm runs. All that compiles, checks, batches or
writes source takes an ordinary Spec.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from types import MappingProxyType

from kinetree.algorithms.domain import CONSTRAINTS, GIVEN_MOTIONS
from kinetree.algorithms.spec import ALGORITHMS, Spec
from kinetree.once import once

TIME = "t"


def takes_time(spec: Spec) -> bool:
    """Whether an algorithm needs the time of a model that depends on it: if it uses bodies at the positions q.

    An algorithm with an input of this name handles the time itself.
    """
    return spec.body_frames is not None and "q" in spec.inputs and TIME not in (*spec.inputs, *spec.optional)


def timed(spec: Spec, model) -> Spec:
    """The declaration of an algorithm for this model: with the time as its last input if the model depends on it.

    Parameters
    ----------
    spec : Spec
    model : Model
    """
    return with_time(spec) if needs_time(spec, model) else spec


def needs_time(spec: Spec, model) -> bool:
    """Whether an algorithm takes the time of this model: joints depend on it, or constraints that it solves for."""
    if spec.body_frames == "laws" and not model.laws:
        return False
    if spec.body_frames == "loops":
        return model.has_given_motions and TIME not in spec.inputs
    given = model.has_given_motions and not {CONSTRAINTS, GIVEN_MOTIONS}.isdisjoint(spec.domains)
    return takes_time(spec) and (model.time_dependent or given)


def time_input(name: str, model, t) -> dict:
    """The time as an input of the call of an algorithm, if there is one and the algorithm depends on it."""
    return {TIME: t} if t is not None and needs_time(ALGORITHMS[name], model) else {}


def with_time(spec: Spec) -> Spec:
    """The declaration of an algorithm with the time as one more input."""
    inputs = MappingProxyType({**spec.inputs, TIME: ()})
    return dataclasses.replace(spec, function=at_time(spec.function), inputs=inputs)


@once
def at_time(function: Callable) -> Callable:
    """The function, whose model is bound to the time first; always the same one, since machine code is found by it."""

    def later(model, *arrays, t, **named):
        return function(model.at(t), *arrays, **named)

    later.__name__ = getattr(function, "__name__", "later")
    later.__doc__ = function.__doc__
    return later


def missing_inputs(name: str, model, missing: Sequence[str]) -> str:
    """The message about inputs that are not given."""
    message = f"{name}: missing {', '.join(missing)}"
    if TIME not in missing:
        return message
    if not model.time_dependent:
        given = next(c for c in model.constraints if c.time_dependent)
        return f"{message}. Model {model.name!r} has a {given}: give the time t [s] as the last of the inputs"
    moving = [model.joint_name(i) for i in model.outward() if model.joints[i].time_dependent]
    joints = f"joint {moving[0]!r} depends" if len(moving) == 1 else f"joints {', '.join(map(repr, moving[:4]))} depend"
    return f"{message}. In model {model.name!r} {joints} on time: give the time t [s] as the last of the inputs"
