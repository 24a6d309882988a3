"""Laws of control inside compiled steps: joint forces of the state at the beginning of each step, held during it.

The law computes with the numbers of the controller's own model, which are constants of the code: in a sweep over masses
the robot varies, and what its controller knows of it does not. Its reference and its gains are inputs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS, Spec
from kinetree.arguments import refuse
from kinetree.content import key
from kinetree.control.joint_control import ComputedTorque, JointImpedance, PDGravityCompensation
from kinetree.errors import ShapeError, UnsupportedError
from kinetree.once import made_once, once
from kinetree.spatial.scalar import maximum, minimum

# The algorithm of each controller, the parts of its reference that it takes, and its gains.
LAWS = {
    PDGravityCompensation: ("pd_gravity_compensation", ("q_d", "v_d"), ("kp", "kd")),
    ComputedTorque: ("computed_torque", ("q_d", "v_d", "a_d"), ("kp", "kd")),
    JointImpedance: ("joint_impedance", ("q_d", "v_d", "a_d"), ("stiffness", "damping")),
}
EXPECTED = "a kt.control.PDGravityCompensation, ComputedTorque or JointImpedance"


@dataclass(frozen=True, eq=False)
class Law:
    """A controller as a part of a step.

    Attributes
    ----------
    controller : Controller
    algorithm : str
    references, gains : tuple of str
        Inputs of the step.
    """

    controller: object
    algorithm: str
    references: tuple[str, ...]
    gains: tuple[str, ...]

    @classmethod
    def of(cls, controller, model) -> Law:
        """The law of a controller of the library.

        Raises
        ------
        ArgumentError, UnsupportedError, ShapeError
        """
        found = LAWS.get(type(controller))
        if found is None:
            refuse("sweep: controller", controller, f"{EXPECTED}: others are not part of compiled steps")
        if getattr(controller, "inertia", None) is not None:
            raise UnsupportedError("sweep: JointImpedance with inertia is no single law; use ComputedTorque.")
        if (controller.model.nq, controller.model.nv) != (model.nq, model.nv):
            raise ShapeError(
                f"sweep: the controller is for model {controller.model.name!r} (nq={controller.model.nq}), the sweep "
                f"simulates {model.name!r} (nq={model.nq})."
            )
        if controller.model.time_dependent or controller.model.has_given_motions:
            raise UnsupportedError("sweep: controllers of models that depend on time are not part of compiled steps.")
        return cls(controller, *found)

    @property
    def is_constant(self) -> bool:
        """Whether the reference is a position."""
        return not callable(self.controller.reference.source)

    def gain(self, name: str) -> np.ndarray:
        """The matrix of a gain (nv, nv)."""
        return getattr(self.controller, name)

    def inputs(self, dt: float, steps: int) -> dict[str, np.ndarray]:
        """The reference over time (1 or steps, n) and the gains (1, nv, nv), as the step takes them."""
        times = [0.0] if self.is_constant else dt * np.arange(steps)
        rows = [self.controller.reference(t)[: len(self.references)] for t in times]
        found = {name: np.array(part) for name, part in zip(self.references, zip(*rows, strict=True), strict=True)}
        return found | {name: self.gain(name)[None] for name in self.gains}

    def shapes(self) -> dict[str, tuple]:
        """Shapes of the inputs, as they are declared."""
        references = {"q_d": ("nq",), "v_d": ("nv",), "a_d": ("nv",)}
        return {name: references[name] for name in self.references} | dict.fromkeys(self.gains, ("nv", "nv"))

    def step(self, spec: Spec, diagonal: bool) -> Spec:
        """The declaration of a step with this law; its forces are added to those that are given.

        Parameters
        ----------
        spec : Spec
            Of a step of q, v, ..., tau, dt.
        diagonal : bool
            Whether all gains are diagonals: products with their zeros are left out then.
        """
        function = _controlled(spec.function, self._function(diagonal), self._limit(), self.references + self.gains)
        name = f"{spec.name}_with_{self.algorithm}{'_diagonal' if diagonal else ''}"
        return replace(spec, name=name, function=function, optional={**spec.optional, **self.shapes()})

    def part(self, diagonal: bool) -> Spec:
        """The declaration of the joint forces of a state, as the step computes them."""
        law, limit, inputs = self._function(diagonal), self._limit(), self.references + self.gains
        shapes = {"q": ("nq",), "v": ("nv",), **self.shapes()}
        function = _forces(law, limit, inputs)
        return Spec(f"{self.algorithm}_of_sweep", function, shapes, {}, {"tau": ("nv",)}, body_frames=True)

    def _limit(self) -> tuple[float, ...] | None:
        limit = self.controller.effort_limit
        return None if limit is None else tuple(limit.tolist())

    def _function(self, diagonal: bool):
        spec = ALGORITHMS[self.algorithm]
        actuated = self.controller.actuated
        known = _Known.of(self.controller.model)
        return _law(spec.function, known, actuated, self.references + self.gains, diagonal, self.gains)


@dataclass(frozen=True)
class _Known:
    """The model that a controller knows. Its content is a digest, by which programs with it are kept on disk."""

    digest: object

    @classmethod
    def of(cls, model) -> _Known:
        return made_once(model.functions, "known to a controller", cls._made, model)

    @classmethod
    def _made(cls, model) -> _Known:
        elements = tuple(map(type, (*model.elements, *model.tendon_forces)))
        constraints = tuple(c.code for c in model.constraints)
        code = key(model.joints, elements, constraints, type(model))
        content = f"{code} {model.structure()!r} {model.number_values().tolist()}"
        # Code of users has no content: an object of no known kind keeps the program from the disk.
        found = cls(object() if code is None else hashlib.sha256(content.encode()).hexdigest())
        object.__setattr__(found, "model", model)
        return found


@once(most=64)
def _law(function, known, actuated, inputs, diagonal, gains):
    """The joint forces (q, v, inputs) of an algorithm, with the numbers of the model that the controller knows."""

    def law(q, v, given):
        given = [_diagonal(given[name]) if diagonal and name in gains else given[name] for name in inputs]
        return function(known.model, list(q), list(v), *given, actuated=actuated)

    return law


@once(most=64)
def _controlled(step, law, limit, inputs):
    def controlled(model, q, v, tau, dt, **given):
        values = {name: given.pop(name) for name in inputs}
        forces = _cut(law(q, v[: model.nv], values), limit)
        return step(model, q, v, tau=[x + y for x, y in zip(tau, forces, strict=True)], dt=dt, **given)

    controlled.__name__ = f"{step.__name__}_controlled"
    return controlled


@once(most=64)
def _forces(law, limit, inputs):
    def forces(model, q, v, **given):
        return _cut(law(q, v, {name: given[name] for name in inputs}), limit)

    return forces


def _cut(tau, limit):
    """Joint forces between bounds; infinite ones are none."""
    if limit is None:
        return tau
    pairs = zip(tau, limit, strict=True)
    return [x if np.isinf(most) else minimum(maximum(x, -most), most) for x, most in pairs]


def _diagonal(matrix):
    return [[x if i == j else 0.0 for j, x in enumerate(row)] for i, row in enumerate(matrix)]
