"""DC motors: windings with resistance and inductance, heating, friction, cogging, and a controller of their voltage.

Source: MuJoCo, XML reference, ``actuator/dcmotor``; friction: Canudas de Wit et al., A new model for control of
systems with friction, IEEE Trans. Automatic Control 40 (1995).
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.actuators.dynamics import SMALLEST, clipped
from kinetree.actuators.law import Law
from kinetree.actuators.pid import slewed, wound
from kinetree.spatial.scalar import absolute, exp, maximum, sin


@dataclass(frozen=True)
class DCMotorLaw(Law):
    """``F = K i`` with the current i of ``V = R i + L di/dt + K omega``, friction and cogging beside.

    Parameters
    ----------
    name : str
    gear : float
    present : tuple of str
        Its inputs: "voltage", or those of a controller of the force, "position", "velocity" and "feedforward", or none.
    resistance, constant : float
        R [Ohm], K [N m/A].
    time_constant : float, optional
        L / R; then the current is an internal state [s].
    current_rate : float, optional
        The fastest change of the current [A/s].
    gains : tuple of 3 floats
        kp, ki, kd of the controller, from position to force.
    voltage_limit, slew, integral_limit : float, optional
        [V], of the position set point [rad/s], of the integral [rad s].
    thermal : tuple of 5 floats, optional
        Thermal resistance [K/W], capacity [J/K], ambient temperature [K], coefficient of the resistance [1/K], its
        reference temperature [K]; then the excess over the ambient temperature is an internal state.
    friction : tuple of 5 floats, optional
        Stiffness and damping of the bristles, Coulomb and static friction, Stribeck velocity; the deflection of the
        bristles is an internal state.
    cogging : tuple of 3 floats, optional
        Amplitude [N m], number of periods in a turn, phase [rad].
    step : float
        The force is that of the current after this time [s].
    input_ranges : tuple of floats
        Lower and upper limit of each input, infinite where there is none.
    force_range : tuple of 2 floats, optional
        Of the part by the current.
    """

    name: str
    gear: float
    present: tuple[str, ...]
    resistance: float
    constant: float
    time_constant: float | None = None
    current_rate: float | None = None
    gains: tuple = (0.0, 0.0, 0.0)
    voltage_limit: float | None = None
    slew: float | None = None
    integral_limit: float | None = None
    thermal: tuple | None = None
    friction: tuple | None = None
    cogging: tuple | None = None
    step: float = 0.0
    input_ranges: tuple = ()
    force_range: tuple | None = None

    measures = (
        "gear", "resistance", "constant", "time_constant", "current_rate", "gains", "voltage_limit", "slew",
        "integral_limit", "thermal", "friction", "cogging", "step", "input_ranges", "force_range",
    )  # fmt: skip
    reads_motion = True

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.present if len(self.present) != 1 else ("control",)

    @property
    def states(self) -> tuple[str, ...]:
        there = {
            "set_point": self.slew, "integral": self._integrates or None, "temperature": self.thermal,
            "bristles": self.friction, "current": self.time_constant,
        }  # fmt: skip
        return tuple(name for name, value in there.items() if value is not None)

    @property
    def _integrates(self) -> bool:
        return not (isinstance(self.gains[1], float) and self.gains[1] == 0.0)

    def state_rate(self, length, velocity, x, u, period=None):
        now, found = dict(zip(self.states, x, strict=True)), {}
        voltage, set_rate, error = self._voltage(length, velocity, now, u, period)
        R = self._resistance(now)
        found["set_point"] = set_rate
        found["integral"] = wound(now["integral"], error, self.integral_limit) if "integral" in now else None
        if self.thermal is not None:
            outward, capacity = self.thermal[:2]
            current = now.get("current", (voltage - self.constant * velocity) / R)
            found["temperature"] = (R * current * current - now["temperature"] / outward) / capacity
        if self.friction is not None:
            found["bristles"] = self._bristle_rate(velocity, now["bristles"])
        if self.time_constant is not None:
            found["current"] = self._current_rate(voltage, velocity, now, R)
        return [found[name] for name in self.states]

    def unclamped(self, length, velocity, x, u, period=None):
        now = dict(zip(self.states, x, strict=True))
        voltage, *_ = self._voltage(length, velocity, now, u, period)
        R = self._resistance(now)
        if self.time_constant is None:
            return self.constant / R * (voltage - self.constant * velocity)
        lag = self.time_constant * (1.0 - exp(-self.step / self.time_constant))
        return self.constant * (now["current"] + self._current_rate(voltage, velocity, now, R) * lag)

    def clamped(self, force, length, velocity, x, u):
        force, now = clipped(force, self.force_range), dict(zip(self.states, x, strict=True))
        if self.cogging is not None:
            amplitude, periods, phase = self.cogging
            force = force + amplitude * sin(periods * length + phase)
        if self.friction is not None:
            stiffness, damping, *_ = self.friction
            z = now["bristles"]
            force = force - (stiffness * z + damping * self._bristle_rate(velocity, z))
        return force

    def _voltage(self, length, velocity, now, u, period):
        """The voltage; of a controller the rate of its set point and the error, too."""
        given = dict(zip(self.present, u, strict=True))
        ranges = zip(self.input_ranges[::2], self.input_ranges[1::2], strict=True)
        given = {what: clipped(given[what], limits) for what, limits in zip(self.present, ranges, strict=True)}
        voltage, rate, error = given.get("voltage", 0.0), None, None
        if self.present and "voltage" not in self.present:
            kp, ki, kd = self.gains
            target = given.get("position", 0.0)
            if self.slew is not None:
                rate = slewed(target - now["set_point"], self.slew, self.step)
                target = now["set_point"] + self.step * rate
            error = target - length
            force = kp * error + kd * (given.get("velocity", 0.0) - velocity) + given.get("feedforward", 0.0)
            force = force + ki * now["integral"] if "integral" in now else force
            voltage = force * self.resistance / self.constant + self.constant * velocity
        limit = self.voltage_limit
        return voltage if limit is None else clipped(voltage, (-limit, limit)), rate, error

    def _resistance(self, now):
        if self.thermal is None:
            return self.resistance
        _, _, ambient, coefficient, reference = self.thermal
        return maximum(self.resistance * (1.0 + coefficient * (now["temperature"] + ambient - reference)), SMALLEST)

    def _current_rate(self, voltage, velocity, now, R):
        rate = ((voltage - self.constant * velocity) / R - now["current"]) / self.time_constant
        return rate if self.current_rate is None else clipped(rate, (-self.current_rate, self.current_rate))

    def _bristle_rate(self, velocity, z):
        stiffness, _, coulomb, static, stribeck = self.friction
        ratio = velocity / stribeck
        g = maximum(coulomb + (static - coulomb) * exp(-(ratio * ratio)), SMALLEST)
        return velocity - stiffness * absolute(velocity) / g * z
