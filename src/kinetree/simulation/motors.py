"""Motors of a model in a simulation: applied forces of the commands, lag, and entries of the energy balance."""

from __future__ import annotations

import bisect
import math

import numpy as np

from kinetree.errors import SimulationError
from kinetree.forces.motor import Motor
from kinetree.simulation.components import Channel


class Drivetrain:
    """A motor as a component of a simulation.

    Parameters
    ----------
    motor : Motor
    """

    def __init__(self, motor: Motor) -> None:
        self.motor, self.name = motor, f"motor {motor.joint}"
        self._k, self._log, self._start = None, [], None

    def prepare(self, model):
        """The model as it is."""
        self._k = model.coordinate(self.motor.joint)
        return model

    def reset(self, simulation) -> None:
        """Before the first step."""
        if self.motor.time_constant and simulation.integrator.startswith("adaptive"):
            raise SimulationError(
                f"Motor of joint {self.motor.joint!r}: a time constant is a state, which adaptive solvers do not "
                "integrate; use a fixed step.",
                joint=self.motor.joint,
            )
        self._fixed = not simulation.integrator.startswith("adaptive")
        self._log = []  # (time, commanded, applied), by time
        self._start = None  # (time, torque) of the lag where the present command began, and that command

    def get_state(self):
        """Commanded and applied forces so far, and the lag."""
        return list(self._log), self._start

    def set_state(self, state) -> None:
        """Restore a state of `get_state`."""
        self._log, self._start = list(state[0]), state[1]

    def joint_forces(self, t, q, v, tau):
        """Applied joint forces, from the commanded ones."""
        k, tau = self._k, np.array(tau, dtype=float)
        commanded = float(tau[k])
        if not math.isfinite(commanded):
            return tau  # the inputs raise an error that names the controller
        applied = self.motor.delivered(float(v[k]), commanded)
        if self.motor.time_constant:
            applied = self.motor.delivered(float(v[k]), self._lagging(t, applied))
        tau[k] = applied
        if self._fixed:
            if self._log and self._log[-1][0] >= t:
                self._log.pop()
            self._log.append((float(t), commanded, applied))
        return tau

    def _lagging(self, t: float, command: float) -> float:
        """The torque at t, which goes from there to the command."""
        if self._start is None:
            self._start = (t, 0.0, command)
            return 0.0
        since, torque, last = self._start
        torque = self.motor.lagged(torque, last, t - since)
        self._start = (t, torque, command)
        return torque

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
