"""The laws of actuators; MuJoCo's general one: clamps, activation, gain and bias.

Source: MuJoCo, "Computation: Actuation model": ``force = gain(length, velocity) input + bias(length, velocity)``. The
input is the control, or the activation if there are activation dynamics; control and force are clamped to their ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.actuators.dynamics import DYNAMICS, after, clipped
from kinetree.actuators.gains import BIASES, GAINS
from kinetree.actuators.parts import Numbered
from kinetree.spatial.scalar import arctan2, maximum, minimum, sincos, where


class Law(Numbered):
    """Base of the laws of actuators, dataclasses with ``name``, ``gear`` and ``force_range``.

    Lengths and velocities are those of the actuator, gear included; x and u its internal states and inputs;
    ``period`` is the change of length in a turn where the length is an angle, else None.

    Attributes
    ----------
    states, inputs : tuple of str
        Names of the internal states and of the controls.
    reads_motion : bool
        Whether rates of internal states depend on length and velocity.
    kinked : bool
        Whether slopes of the force jump.
    outputs : int
        Number of forces.
    """

    __slots__ = ()

    states: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ("control",)
    reads_motion = False
    kinked = True
    outputs = 1

    @property
    def output_labels(self) -> tuple[str, ...]:
        """Names of the forces in a model."""
        return (self.name,)

    @property
    def input_labels(self) -> tuple[str, ...]:
        """Names of the inputs in a model: the actuator's own, with more of them "<name>.<input>"."""
        return (self.name,) if len(self.inputs) == 1 else tuple(f"{self.name}.{what}" for what in self.inputs)

    def state_rate(self, length, velocity, x: Sequence, u: Sequence, period=None) -> list:
        """Rates of the internal states."""
        return []

    def unclamped(self, length, velocity, x: Sequence, u: Sequence, period=None):
        """The force before the clamps of forces."""
        raise NotImplementedError

    def clamped(self, force, length, velocity, x: Sequence, u: Sequence):
        """The force within its range, and forces that have none."""
        return clipped(force, self.force_range)


@dataclass(frozen=True)
class ActuatorLaw(Law):
    """A force over length, velocity, control and activation.

    Parameters
    ----------
    name : str
    gear : float
        Length of the actuator per length of its transmission.
    dynamics, gain, bias : str
        By MuJoCo's names.
    dynamics_parameters, gain_parameters, bias_parameters : tuple of float
        As many as the laws have.
    control_range, activation_range, force_range : tuple of 2 floats, optional
    length_range : tuple of 2 floats, optional
        Of muscles [m].
    acc0 : float, optional
        Acceleration by a unit of force [1/kg], of muscles whose peak force is scaled by it.
    early : float, optional
        The force is that of the activation after this time [s].
    scaled : tuple of {"gain", "bias"}
        Those of muscles whose peak force is scaled by ``acc0``.
    is_servo : bool
        Whether the input is a set point of the length.
    """

    name: str
    gear: float = 1.0
    dynamics: str = "none"
    gain: str = "fixed"
    bias: str = "none"
    dynamics_parameters: tuple = ()
    gain_parameters: tuple = (1.0,)
    bias_parameters: tuple = ()
    control_range: tuple | None = None
    activation_range: tuple | None = None
    force_range: tuple | None = None
    length_range: tuple | None = None
    acc0: float | None = None
    early: float | None = None
    scaled: tuple[str, ...] = ()
    is_servo: bool = False

    measures = (
        "gear", "dynamics_parameters", "gain_parameters", "bias_parameters", "control_range", "activation_range",
        "force_range", "length_range", "acc0", "early",
    )  # fmt: skip

    @property
    def states(self) -> tuple[str, ...]:
        """Names of its internal states."""
        return () if self.dynamics == "none" else ("activation",)

    @property
    def kinked(self) -> bool:
        """Whether slopes of the force jump."""
        ranges = self.control_range, self.activation_range, self.force_range
        return "muscle" in (self.gain, self.bias, self.dynamics) or any(x is not None for x in ranges)

    def state_rate(self, length, velocity, x, u, period=None):
        """An activation stops at the ends of its range."""
        if not self.states:
            return []
        rate = self._rate(x, u)
        if self.activation_range is not None:
            low, high = self.activation_range
            rate = where(x[0] >= high, minimum(rate, 0.0), where(x[0] <= low, maximum(rate, 0.0), rate))
        return [rate]

    def _rate(self, x: Sequence, u: Sequence):
        function, _ = DYNAMICS[self.dynamics]
        return function(x[0], clipped(u[0], self.control_range), self.dynamics_parameters)

    def unclamped(self, length, velocity, x, u, period=None):
        if self.states:
            value = x[0]
            if self.early is not None:
                value = after(self.dynamics, value, self._rate(x, u), self.dynamics_parameters, self.early)
            value = clipped(value, self.activation_range)
        else:
            value = clipped(u[0], self.control_range)
        if self.is_servo:
            value = length + nearest(value - length, period)
        gain, bias = GAINS[self.gain][0], BIASES[self.bias][0]
        return gain(self, length, velocity) * value + bias(self, length, velocity)


TURN = 6.283185307179586


def nearest(error, period):
    """Of all errors that differ by periods the smallest: a servo turns the shorter way."""
    if period is None:
        return error
    s, c = sincos(error * (TURN / period))
    return arctan2(s, c) * (period / TURN)
