"""Motors of a model in a simulation: applied forces of the commands, lag, and entries of the energy balance."""

from __future__ import annotations

import bisect
import math

import numpy as np

from kinetree.forces.motor import Motor
from kinetree.simulation.components import Channel


class Drivetrain:
    """A motor as a component of a simulation.

    Parameters
    ----------
    motor : Motor

    Attributes
    ----------
    command : float
        The joint force that the motor would deliver without lag, last found [N m or N].
    """

    is_built_in = True
    takes_internal_states = True

    def __init__(self, motor: Motor) -> None:
        self.motor, self.name = motor, f"motor {motor.joint}"
        self.command, self._log = 0.0, []
        self._k, self._entry = None, None  # of the velocity, and of the lagging force after the velocities

    def prepare(self, model):
        """The model as it is."""
        self._k = model.coordinate(self.motor.joint)
        for element, place in model.internal_places():
            if element.commanded and element.joint == self.motor.joint and place.stop > place.start:
                self._entry = model.nv + place.start
        return model

    def wrap(self, stepper, system):
        """A fixed step, and the lag over it under the command at its beginning; the same step without lag."""
        return stepper if self._entry is None else _LaggingStep(stepper, self)

    def reset(self, simulation) -> None:
        """Before the first step."""
        self._fixed = not simulation.integrator.startswith("adaptive")
        self.command, self._log = 0.0, []  # (time, commanded, applied), by time

    def get_state(self):
        """The command, and commanded and applied forces so far."""
        return self.command, list(self._log)

    def set_state(self, state) -> None:
        """Restore a state of `get_state`."""
        self.command, self._log = state[0], list(state[1])

    def joint_forces(self, t, q, w, tau):
        """Applied joint forces, from the commanded ones; w are velocities and internal states."""
        k, tau = self._k, np.array(tau, dtype=float)
        commanded, v = float(tau[k]), float(w[k])
        if not math.isfinite(commanded):
            return tau  # the inputs raise an error that names the controller
        self.command = applied = self.motor.delivered(v, commanded)
        if self._entry is not None:
            applied = self.motor.delivered(v, float(w[self._entry]))
        tau[k] = applied
        if self._fixed:
            if self._log and self._log[-1][0] >= t:
                self._log.pop()
            self._log.append((float(t), commanded, applied))
        return tau

    def add_rate(self, rates, w) -> None:
        """Write the rate of the lagging force beside the accelerations, for adaptive methods."""
        if self._entry is not None:
            rates[self._entry] = (self.command - w[self._entry]) / self.motor.time_constant

    def after_lag(self, w, h: float) -> float:
        """The lagging force after h [s]."""
        return self.motor.lagged(float(w[self._entry]), self.command, h)

    def channels(self, run) -> dict[str, Channel]:
        """Torque and speed of the shaft, and the excess of the command over the applied force."""
        motor, k = self.motor, self._k
        force, v = run.tau[:, k], run.v[:, k]
        accelerates = force * v >= 0.0
        torque = force / motor.gear_ratio * np.where(accelerates, 1.0 / motor.efficiency, motor.efficiency)
        found = {
            f"{self.name}: torque": Channel("other", torque, "N m"),
            f"{self.name}: speed": Channel("other", motor.gear_ratio * v, "rad/s"),
        }
        if self._log:
            times = [t for t, *_ in self._log]
            rows = [max(bisect.bisect_right(times, t + 1e-9) - 1, 0) for t in run.time.tolist()]
            excess = np.array([self._log[n][1] - self._log[n][2] for n in rows])
            found[f"{self.name}: refused"] = Channel("other", excess, run.coordinates.velocity_units[k]
                                                     and "N m or N")  # fmt: skip
        return found


class _LaggingStep:
    """A step after which a motor's force has gone towards its command; the inner step sees none of it."""

    def __init__(self, inner, drive: Drivetrain) -> None:
        self._inner, self._drive = inner, drive

    def __getattr__(self, name: str):
        if name == "_inner":  # of an object that is being made from a pickle
            raise AttributeError(name)
        return getattr(self._inner, name)

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        n, rest = self._drive._entry, v.copy()
        rest[n] = 0.0
        q_next, v_next = self._inner.step(t, h, q, rest, tau, f_ext)
        v_next = v_next.copy()  # the method may keep the other
        v_next[n] = self._drive.after_lag(v, h)
        return q_next, v_next
