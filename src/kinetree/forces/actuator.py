"""Actuators: forces along the length of a transmission, by control and activation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinetree.actuators.dynamics import clipped
from kinetree.actuators.law import ActuatorLaw, Law
from kinetree.actuators.transmissions import FrameTransmission, PathTransmission, Transmission
from kinetree.forces.contract import ForceElement
from kinetree.spatial.scalar import where
from kinetree.tendons import ViaPoint


@dataclass(frozen=True)
class TransmittedForce(ForceElement):
    """Base of actuators: one of them, or all on a tendon that bounds the sum of their forces.

    A model makes them of the actuators of its equipment; they are among ``model.forces``.

    Parameters
    ----------
    name : str
    transmission : Transmission
    laws : tuple of Law
    total_range : tuple of 2 floats, optional
        Of the sum of their forces, before each is clamped to its own range: beyond it all are scaled [N].
    """

    name: str
    transmission: Transmission
    laws: tuple[Law, ...]
    total_range: tuple[float, float] | None = None

    joint_fields, frame_fields, actuates = (), (), True

    @property
    def states(self) -> tuple[str, ...]:
        return self._numbered("states")

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._numbered("inputs")

    def _numbered(self, what: str) -> tuple[str, ...]:
        if len(self.laws) == 1:
            return getattr(self.laws[0], what)
        return tuple(f"{name}_{n}" for n, law in enumerate(self.laws) for name in getattr(law, what))

    @property
    def state_labels(self) -> tuple[str, ...]:
        return tuple(f"{law.name}.{name}" for law in self.laws for name in law.states)

    @property
    def input_labels(self) -> tuple[str, ...]:
        return tuple(label for law in self.laws for label in law.input_labels)

    @property
    def joints(self) -> tuple[str, ...]:
        return self.transmission.joints

    @property
    def frames(self) -> tuple[str, ...]:
        return self.transmission.frames

    @property
    def kinked(self) -> bool:
        return self.total_range is not None or any(law.kinked for law in self.laws)

    # The law ---------------------------------------------------------------------------------------------------------

    def actuator_forces(self, length, velocity, x: Sequence, u: Sequence) -> list:
        """The force of each actuator along its own length [N or N m]; length and velocity are those without gear."""
        period, each = self.transmission.period(), list(self._each(length, velocity, x, u))
        found = [law.unclamped(*given, period) for law, given in each]
        if self.total_range is not None:
            total = sum(found, start=0.0)
            bounded = clipped(total, self.total_range)
            apart = total != bounded if isinstance(total, float) else (total < bounded) | (total > bounded)
            found = [f * where(apart, bounded / where(apart, total, 1.0), 1.0) for f in found]
        return [law.clamped(f, *given) for f, (law, given) in zip(found, each, strict=True)]

    def _each(self, length, velocity, x: Sequence, u: Sequence) -> Iterator[tuple]:
        """The laws with their lengths, velocities, states and inputs."""
        x, u = iter(x), iter(u)
        for law in self.laws:
            states, inputs = ([next(values) for _ in names] for values, names in ((x, law.states), (u, law.inputs)))
            yield law, (law.gear * length, law.gear * velocity, states, inputs)

    def total_force(self, length, velocity, x: Sequence, u: Sequence):
        """The force along the transmission's length, which lengthens it where it is positive [N or N m]."""
        forces = self.actuator_forces(length, velocity, x, u)
        return sum((law.gear * f for law, f in zip(self.laws, forces, strict=True)), start=0.0)

    def state_rate(self, kin, x, u):
        motion = self._motion(kin) if any(law.reads_motion for law in self.laws) else (0.0, 0.0)
        period = self.transmission.period()
        return [rate for law, given in self._each(*motion, x, u) for rate in law.state_rate(*given, period)]

    def transmitted(self, kin) -> tuple[list, list]:
        """Length and velocity of the transmission, as lists of one."""
        length, velocity = self._motion(kin)
        return [length], [velocity]

    def _motion(self, kin) -> tuple:
        """Length and velocity of the transmission."""
        length = self.transmission.length(kin)
        is_rate = self.transmission.is_rate
        return length, kin.time_derivative(length) if is_rate else self.transmission.velocity(kin)

    # Data ------------------------------------------------------------------------------------------------------------

    def numbers(self):
        found = dict(self.transmission.numbers())
        for law in self.laws:
            before = "" if len(self.laws) == 1 else f"{law.name}."
            found |= {f"{before}{what}": x for what, x in law.numbers().items()}
        return found | {f"total_range.{k}": x for k, x in enumerate(self.total_range or ())}

    def with_numbers(self, values):
        source = iter(values)
        new = {"transmission": self.transmission.with_numbers(source)}
        new["laws"] = tuple(law.with_numbers(source) for law in self.laws)
        new["total_range"] = self.total_range and tuple(next(source) for _ in self.total_range)
        return self._with(new)

    def structure(self):
        laws = tuple(law.structure() for law in self.laws)
        return type(self).__qualname__, self.name, self.transmission.structure(), laws, self.total_range is None

    def renamed(self, joint, frame, name=None):
        new = {"transmission": self.transmission.renamed(joint, frame)}
        return self._with(new if name is None else new | {"name": name})


@dataclass(frozen=True)
class Actuator(TransmittedForce):
    """An actuator whose transmission is a length over the positions: of a joint, a tendon or a slider-crank.

    See `TransmittedForce` for the parameters.
    """

    def length(self, kin):
        return self.transmission.length(kin)

    def tension(self, length, rate, x, u):
        return -self.total_force(length, rate, x, u)

    @classmethod
    def example(cls, model, rng) -> Actuator:
        """A servo with a lag and a bounded force along a path from a point of the world to one of a body."""
        world, *others = model.frames
        end = others[int(rng.choice([k for k, frame in enumerate(others) if frame.body]))]
        path = tuple(ViaPoint(name, tuple(rng.normal(size=3))) for name in (world.name, end.name))
        return cls("actuator", PathTransmission(path), (_servo("actuator", rng),))


@dataclass(frozen=True)
class FrameActuator(TransmittedForce):
    """An actuator on a frame, or on a joint that turns freely: its velocity is the rate of no length.

    See `TransmittedForce` for the parameters.
    """

    def force(self, kin, x, u):
        length, velocity = self._motion(kin)
        yield velocity, self.total_force(length, velocity, x, u)

    @classmethod
    def example(cls, model, rng) -> FrameActuator:
        """A servo with a lag along and about axes of one frame relative to another."""
        frame, reference = (str(name) for name in rng.permutation([frame.name for frame in model.frames])[:2])
        gears = (tuple(rng.normal(size=3)) for _ in range(2))
        return cls("frame_actuator", FrameTransmission(frame, *gears, reference=reference), (_servo("frame", rng),))


def _servo(name: str, rng) -> ActuatorLaw:
    """A position servo whose set point follows the control, for the tests."""
    k, d = rng.uniform(0.5, 2.0, 2).tolist()
    given = {"gain": "fixed", "gain_parameters": (k,), "bias": "affine", "bias_parameters": (0.3, -k, -d)}
    return ActuatorLaw(name, 0.7, "filter", dynamics_parameters=(0.2,), force_range=(-50.0, 60.0), **given)
