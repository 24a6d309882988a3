"""Actuators as data: how a control becomes a force, and where that force acts.

MuJoCo's law, whose names are kept: ``force = gain(length, velocity) * input + bias(length, velocity)``. The input is
the control, or the activation if the actuator has a state; control, activation and force are clamped to their ranges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kinetree.errors import ModelError
from kinetree.model.parts import freeze

INFINITE = float("inf")
EVERYWHERE = (-INFINITE, INFINITE)
TRANSMISSIONS = ("joint", "joint_in_parent", "tendon", "site", "slider_crank", "body")

# Laws without force at zero input: a gain is multiplied by the input, an activation of zero stays there. Any other law,
# of a user or of a later MuJoCo, may exert a force.
_GAINS = ("fixed", "affine", "muscle", "user")
_DYNAMICS = ("none", "integrator", "filter", "filterexact", "muscle")
_CONTROLLERS = {"dcmotor": "DC motor", "pid": "PID controller", "so3": "orientation servo"}
_PEAK, _SCALE, _PASSIVE = 2, 3, 7  # of a muscle's parameters: peak force (or -1: from the scale), scale, passive force


@dataclass(frozen=True, slots=True)
class Actuator:
    """How a control becomes a force, and where that force acts. Data; the dynamics take joint forces.

    Parameters
    ----------
    name : str
    transmission : str
        One of "joint", "joint_in_parent", "tendon", "site", "slider_crank", "body".
    target : str
        Name of the joint, tendon, frame or body.
    gear : tuple of 6 floats
        Ratio of the force at the target to the actuator's; all six entries matter for joints of several freedoms and
        for frames.
    dynamics, gain, bias : str
        Laws of activation, of the force per activation, and of the force without activation, by MuJoCo's names:
        dynamics "none", "integrator", "filter", "filterexact", "muscle", ...; gain "fixed", "affine", "muscle", ...;
        bias "none", "affine", "muscle", ...
    dynamics_parameters, gain_parameters, bias_parameters : tuple of float
        Trailing zeros are left out.
    control_range, force_range, activation_range : tuple of 2 floats
        Infinite where there is none.
    length_range : tuple of 2 floats
        Shortest and longest length of the transmission, which scales muscles [m].
    reference : str, optional
        Frame relative to which a "site" transmission acts, or the slider's frame of a "slider_crank".
    crank_length : float
        [m].
    plugin : str
        Name of the plugin whose law it follows instead; empty if it follows the laws above.
    active : bool
        False: switched off, so without effect.
    """

    name: str
    transmission: str
    target: str
    gear: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    dynamics: str = "none"
    gain: str = "fixed"
    bias: str = "none"
    dynamics_parameters: tuple[float, ...] = ()
    gain_parameters: tuple[float, ...] = (1.0,)
    bias_parameters: tuple[float, ...] = ()
    control_range: tuple[float, float] = EVERYWHERE
    force_range: tuple[float, float] = EVERYWHERE
    activation_range: tuple[float, float] = EVERYWHERE
    length_range: tuple[float, float] = (0.0, 0.0)
    reference: str | None = None
    crank_length: float = 0.0
    plugin: str = ""
    active: bool = True

    def __post_init__(self) -> None:
        freeze(self)
        if self.transmission not in TRANSMISSIONS:
            raise ModelError(
                f"actuator {self.name!r}: transmission {self.transmission!r}; known: {', '.join(TRANSMISSIONS)}"
            )

    @property
    def refers(self) -> dict[str, str]:
        """Fields that name something, each with its kind."""
        kinds = {"joint": "joint", "joint_in_parent": "joint", "tendon": "tendon"}
        return {"target": kinds.get(self.transmission, "frame"), "reference": "frame"}

    @property
    def is_muscle(self) -> bool:
        """Whether its force follows a muscle's force-length-velocity curves."""
        return self.gain == "muscle"

    @property
    def is_motor(self) -> bool:
        """Whether its force is a constant times its control, and nothing else."""
        return (self.dynamics, self.gain, self.bias) == ("none", "fixed", "none") and not self.forces

    @property
    def forces(self) -> tuple[str, ...]:
        """Its force at zero control and activation: "position servo", "affine bias", ...

        Empty for motors, and for all whose force is a multiple of their input.

        Examples
        --------
        >>> Actuator("drive", "joint", "knee").forces
        ()
        >>> Actuator("servo", "joint", "knee", gain_parameters=(200.0,), bias="affine", bias_parameters=(0.0, -200.0)
        ...          ).forces
        ('position servo',)
        """
        if not self.active or not any(self.gear):
            return ()
        if self.plugin:
            return (f"plugin {self.plugin!r}",)
        return tuple(dict.fromkeys((*self._laws(), *self._ranges())))

    def _laws(self) -> Iterator[str]:
        """Laws that exert a force without an input."""
        if self.gain not in _GAINS:
            yield _CONTROLLERS.get(self.gain) or f"gain {self.gain!r}"
        if self.dynamics not in _DYNAMICS:
            yield _CONTROLLERS.get(self.dynamics) or f"activation {self.dynamics!r}"
        if self.bias == "affine" and self.gain not in _CONTROLLERS:
            yield from self._affine()
        elif self.bias == "muscle":
            prm = (*self.bias_parameters, *(0.0,) * 9)
            if prm[_PASSIVE] and (prm[_PEAK] > 0.0 or prm[_PEAK] < 0.0 and prm[_SCALE]):
                yield "passive force of a muscle"
        elif self.bias not in ("none", "affine"):
            yield _CONTROLLERS.get(self.bias) or f"bias {self.bias!r}"

    def _affine(self) -> Iterator[str]:
        """A bias ``c0 + c1 length + c2 velocity`` by the name that its use has."""
        c0, c1, c2 = (*self.bias_parameters, 0.0, 0.0, 0.0)[:3]
        if not (c0 or c1 or c2):
            return
        kp = self.gain_parameters[0] if self.gain == "fixed" and self.gain_parameters else 0.0
        if kp and c0 == 0.0 and c1 == -kp:
            yield "position servo"
        elif kp and c0 == c1 == 0.0 and c2 == -kp:
            yield "velocity servo"
        else:
            yield "affine bias"

    def _ranges(self) -> Iterator[str]:
        """Ranges that no input of zero is in."""
        has_gain = self.gain not in ("fixed", "affine") or any(self.gain_parameters)
        has_state = self.dynamics != "none"
        for what, (low, high), acts in (
            ("control", self.control_range, has_gain),
            ("activation", self.activation_range, has_gain and has_state),
            ("force", self.force_range, True),
        ):
            if acts and not low <= 0.0 <= high:
                yield f"{what} range {low:g} to {high:g}"

    def __str__(self) -> str:
        forces = f": {', '.join(self.forces)}" if self.forces else ""
        return f"actuator {self.name!r} ({self.transmission} {self.target!r}{forces})"
