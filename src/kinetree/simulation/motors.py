"""Motors between controllers and joints: gears, limits of torque and speed, rotors, losses, lag."""

from __future__ import annotations

import bisect
import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_name, a_sequence, number
from kinetree.errors import SimulationError
from kinetree.simulation.components import Channel


@dataclass(frozen=True, slots=True)
class Motor:
    """A drive with a gear.

    Parameters
    ----------
    joint : str
        With one velocity coordinate.
    gear_ratio : float
        Turns of the motor per turn of the joint (rad/m for sliding joints); negative if they turn against each other.
    torque_limit : float
        Of the motor's shaft [N m].
    speed_limit : float
        Speed of the shaft at which no torque is left in the direction of motion [rad/s]. It always can brake.
    rated_speed : float, optional
        Up to this speed the whole torque is there, then it falls linearly to zero at the speed limit. Default: 0, the
        line of a DC motor from stall to no-load speed, if there is a speed limit.
    rotor_inertia : float
        [kg m^2]; ``gear_ratio^2`` times that is added to the armature of the joint.
    efficiency : float
        Of the gear, above 0 up to 1: the joint gets that part of the motor's power, or the motor that part of the
        joint's if it brakes, so the joint can be held back with more than is left for driving it.
    time_constant : float
        First-order lag of the torque behind what is asked [s].

    Notes
    -----
    At the joint: ``|tau| <= eta |r| tau_max(omega)`` where the motor drives, ``|tau| <= |r| tau_limit / eta`` where it
    brakes, with omega = r v. With a fixed step the torque is that at the step's beginning, held over it.

    Examples
    --------
    >>> motor = Motor("elbow", gear_ratio=50.0, torque_limit=0.4, speed_limit=400.0, rated_speed=200.0)
    >>> motor.range(0.0), motor.range(6.0)  # at rest and where the shaft turns with 300 rad/s
    ((-20.0, 20.0), (-20.0, 10.0))
    """

    joint: str
    gear_ratio: float = 1.0
    torque_limit: float = math.inf
    speed_limit: float = math.inf
    rated_speed: float | None = None
    rotor_inertia: float = 0.0
    efficiency: float = 1.0
    time_constant: float = 0.0

    def __post_init__(self) -> None:
        a_name("Motor: joint", self.joint)
        for field in dataclasses.fields(self)[1:]:
            what, value = field.name, getattr(self, field.name)
            if value is not None or field.default is not None:
                number(f"Motor of joint {self.joint!r}: {what}", value, "a number", finite=False)
        rated = 0.0 if self.rated_speed is None else self.rated_speed
        for what, holds, expected in (
            ("gear_ratio", math.isfinite(self.gear_ratio) and self.gear_ratio != 0.0, "a finite number, not zero"),
            ("torque_limit", self.torque_limit > 0.0, "a positive number"),
            ("speed_limit", self.speed_limit > 0.0, "a positive number"),
            ("rated_speed", 0.0 <= rated < self.speed_limit, "from 0 to below speed_limit"),
            ("rotor_inertia", 0.0 <= self.rotor_inertia < math.inf, "a number that is not negative"),
            ("efficiency", 0.0 < self.efficiency <= 1.0, "a number above 0, up to 1"),
            ("time_constant", 0.0 <= self.time_constant < math.inf, "a time that is not negative"),
        ):
            if not holds:
                raise SimulationError(
                    f"Motor of joint {self.joint!r}: {what} is {getattr(self, what)!r}, expected {expected}.",
                    joint=self.joint,
                )

    @property
    def armature(self) -> float:
        """Inertia of the rotor as the joint feels it [kg m^2 or kg]."""
        return self.gear_ratio**2 * self.rotor_inertia

    def range(self, v: float) -> tuple[float, float]:
        """Smallest and largest force that the joint gets at its velocity v [N m or N]."""
        ratio, omega = abs(self.gear_ratio), abs(self.gear_ratio * v)
        brake = ratio * self.torque_limit / self.efficiency
        rated = 0.0 if self.rated_speed is None else self.rated_speed
        if math.isinf(self.speed_limit) or omega <= rated:
            part = 1.0
        else:
            part = max((self.speed_limit - omega) / (self.speed_limit - rated), 0.0)
        drive = ratio * self.torque_limit * part * self.efficiency if part else 0.0
        if v == 0.0:
            return -drive, drive
        return (-brake, drive) if v > 0.0 else (-drive, brake)


class Drivetrain:
    """A motor as an element of a simulation.

    Parameters
    ----------
    motor : Motor
    """

    def __init__(self, motor: Motor) -> None:
        self.motor, self.name = motor, f"motor {motor.joint}"
        self._k, self._log, self._start = None, [], None

    def prepare(self, model):
        """The model with the rotor's inertia."""
        i = model.joint(self.motor.joint)
        if model.joints[i].nv != 1:
            raise SimulationError(
                f"Motor of joint {self.motor.joint!r}: it has {model.joints[i].nv} velocities, expected one.",
                joint=self.motor.joint,
            )
        self._k = model.v_slice[i].start
        if not self.motor.rotor_inertia:
            return model
        armature = np.array(model.armature, dtype=float)
        armature[self._k] += self.motor.armature
        return model.replace(armature=armature)

    def reset(self, simulation) -> None:
        """Before the first step."""
        if self.motor.time_constant and simulation.integrator.startswith("adaptive"):
            raise SimulationError(
                f"Motor of joint {self.motor.joint!r}: a time constant is a state, which adaptive solvers do not "
                "integrate; use a fixed step.",
                joint=self.motor.joint,
            )
        self._fixed = not simulation.integrator.startswith("adaptive")
        self._log = []  # (time, asked, given), by time
        self._start = None  # (time, torque) of the lag where the present command began, and that command

    def get_state(self):
        """What was asked and given so far, and the lag."""
        return list(self._log), self._start

    def set_state(self, state) -> None:
        """Take up what `get_state` gave."""
        self._log, self._start = list(state[0]), state[1]

    def joint_forces(self, t, q, v, tau):
        """What the joint gets of what the controller asks."""
        k, tau = self._k, np.array(tau, dtype=float)
        asked = float(tau[k])
        if not math.isfinite(asked):
            return tau  # the drive says which controller gave that
        low, high = self.motor.range(float(v[k]))
        given = min(max(asked, low), high)
        if self.motor.time_constant:
            given = min(max(self._lagging(t, given), low), high)
        tau[k] = given
        if self._fixed:
            if self._log and self._log[-1][0] >= t:
                self._log.pop()
            self._log.append((float(t), asked, given))
        return tau

    def _lagging(self, t: float, command: float) -> float:
        """The torque at t, which goes from there to the command."""
        if self._start is None:
            self._start = (t, 0.0, command)
            return 0.0
        since, torque, last = self._start
        torque = last + (torque - last) * math.exp(-(t - since) / self.motor.time_constant)
        self._start = (t, torque, command)
        return torque

    def channels(self, run) -> dict[str, Channel]:
        """The shaft's torque and speed, and what was asked of the joint beyond what it got."""
        motor, k = self.motor, self._k
        force, v = run.tau[:, k], run.v[:, k]
        drives = force * v >= 0.0
        torque = force / motor.gear_ratio * np.where(drives, 1.0 / motor.efficiency, motor.efficiency)
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


def checked_motors(model, motors) -> tuple[Drivetrain, ...]:
    """The elements for motors, or for the effort limits of a model."""
    if isinstance(motors, str):
        if motors != "effort_limit":
            raise SimulationError(
                f"simulate: motors is {motors!r}, expected a sequence of kinetree.simulation.Motor, or 'effort_limit' "
                "for the limits of the model."
            )
        limits = np.asarray(model.effort_limit, dtype=float)
        motors = [
            Motor(model.joint_name(i), torque_limit=float(limits[model.v_slice[i].start]))
            for i in model.outward()
            if model.joints[i].nv == 1 and 0.0 < limits[model.v_slice[i].start] < math.inf
        ]
    motors = (motors,) if isinstance(motors, Motor) else motors
    a_sequence("simulate: motors", motors)
    motors = tuple(motors)
    for motor in motors:
        if not isinstance(motor, Motor):
            raise SimulationError(
                f"simulate: motors has {motor!r}, expected kinetree.simulation.Motor(joint, ...).", found=motor
            )
    return tuple(Drivetrain(motor) for motor in motors)
