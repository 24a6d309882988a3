"""Objectives of rollouts: functions of the state at an instant, over scalars, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from types import MappingProxyType

import numpy as np

from kinetree.algorithms.spec import Spec
from kinetree.arguments import shown
from kinetree.compiler.derivative_functions import derivative_spec
from kinetree.compiler.time_argument import with_time
from kinetree.errors import ArgumentError
from kinetree.once import once
from kinetree.state_kinematics import Kinematics
from kinetree.trace.expr import Expr

_SHAPES = {"q": ("nq",), "v": ("nw",), "tau": ("nv",), "u": ("nu",)}


class Instant(Kinematics):
    """A state of a rollout, the argument of its objectives; kinematics by name, as for laws of force.

    Attributes
    ----------
    q, v, x : sequence of scalars
        Positions, velocities, internal states of force elements.
    tau, u : sequence of scalars
        Joint forces and inputs of force elements during the step that begins here; empty at the end of the rollout.
    reference : sequence of scalars
        The row of the rollout's reference for this instant.

    Notes
    -----
    ``point(frame, at)``, ``velocity(frame, at)``, ``rotation(frame)``, ``angular_velocity(frame)``,
    ``coordinate(joint)`` and ``rate(joint)`` are those of `kinetree.forces.ForceElement`.
    """

    def __init__(self, model, q, v, tau=(), u=(), reference=()) -> None:
        super().__init__(model, q, v[: model.nv])
        self.x, self.tau, self.u, self.reference = v[model.nv :], tau, u, reference


class _Objective:
    """A function of an `Instant`, of these inputs besides q and v, with so many entries in a row of the reference.

    The time is one more input where the model depends on it.
    """

    def __init__(self, function: Callable, inputs: tuple[str, ...], reference: int, timed: bool) -> None:
        self.further = {"reference": (str(reference),)} if reference else {}
        self.variables = ("q", "v", *inputs)
        shapes = {x: _SHAPES[x] for x in self.variables} | self.further
        value = Spec(
            "objective",
            scalar_objective(function),
            MappingProxyType(shapes),
            MappingProxyType({}),
            MappingProxyType({"cost": ()}),
        )
        value = with_time(value) if timed else value
        self._shapes, self._cost = value.inputs, value.function
        self._gradient = derivative_spec(value, "vjp", self.variables, ("cost",), (), (), 0, False)

    def evaluated(self, model, given: Mapping) -> tuple:
        """The value, and its derivatives by the names of the variables."""
        arrays = {x: given[x] for x in self._shapes}
        slopes = self._gradient.function(model, *arrays.values(), 1.0)
        return self._cost(model, **arrays), dict(zip(self.variables, slopes, strict=True))

    def declared(self) -> Spec:
        """As a function of its own: "cost", then "q_cost", "v_cost"."""

        def objective(model, **given):
            cost, slopes = self.evaluated(model, given)
            return cost, *slopes.values()

        outputs = {"cost": ()} | {f"{x}_cost": self._shapes[x] for x in self.variables}
        return Spec(
            "objective_and_gradient",
            objective,
            self._shapes,
            MappingProxyType({}),
            MappingProxyType(outputs),
        )


class RunningObjective(_Objective):
    """An objective at the beginning of each step."""


@once(most=64)
def running_objective(function: Callable, inputs: tuple[str, ...], reference: int, timed: bool) -> RunningObjective:
    """The objective of a function; the same one for the same arguments, since machine code is found by it."""
    return RunningObjective(function, inputs, reference, timed)


@once(most=64)
def terminal_spec(function: Callable, reference: int, timed: bool) -> Spec:
    """The declaration of an objective at the last state, with its derivatives."""
    return _Objective(function, (), reference, timed).declared()


def scalar_objective(function: Callable) -> Callable:
    """A cost over the arrays of an instant, `cost(model, q, v, ...)`, from a function of an `Instant`."""

    def cost(model, q, v, **more):
        value = function(Instant(model, q, v, **more))
        if not isinstance(value, (Real, Expr, np.ndarray)):
            raise ArgumentError(f"the objective {function!r} gives {shown(value)}, expected a number.")
        return value

    return cost
