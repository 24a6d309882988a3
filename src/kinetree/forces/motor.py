"""A motor with a gear, limits, losses and lag, between a commanded and a delivered joint force."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from kinetree.arguments import a_name, number
from kinetree.errors import ModelError
from kinetree.forces.contract import ForceElement
from kinetree.spatial.scalar import absolute, exp, maximum, minimum, where


@dataclass(frozen=True)
class Motor(ForceElement):
    """A motor with a gear: the joint force is the part of the command that the motor can deliver.

    Parameters
    ----------
    joint : str
        With one velocity coordinate.
    gear_ratio : float
        Turns of the motor per turn of the joint (rad/m for sliding joints); negative if they turn against each other.
    torque_limit : float
        Of the motor's shaft [N m].
    speed_limit : float
        Speed of the shaft at which the torque in the direction of motion is zero [rad/s]. Braking is not affected.
    rated_speed : float, optional
        Full torque up to this speed, then a linear decrease to zero at the speed limit. Default: 0, the
        line of a DC motor from stall to no-load speed, if there is a speed limit.
    rotor_inertia : float
        [kg m^2]; simulations add ``gear_ratio^2`` times that to the armature of the joint.
    efficiency : float
        Of the gear, above 0 up to 1: the part of the motor's power that reaches the joint; in braking, that of the
        joint's power that reaches the motor. So braking forces exceed driving forces.
    time_constant : float
        First-order lag of the torque behind the command [s].

    Raises
    ------
    ModelError
        A parameter is out of range.

    Notes
    -----
    At the joint: ``|tau| <= eta |r| tau_max(omega)`` where the motor drives, ``|tau| <= |r| tau_limit / eta`` where it
    brakes, with omega = r v. With a fixed step the torque is that at the step's beginning, held over it. The motor acts
    on the commands of controllers and inputs in simulations and rollouts, where a lagging force is an internal state;
    the joint forces tau of the algorithms are delivered forces.

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

    commanded = True

    def __post_init__(self) -> None:
        a_name("Motor: joint", self.joint)
        for field in fields(self)[1:]:
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
                raise ModelError(
                    f"Motor of joint {self.joint!r}: {what} is {getattr(self, what)!r}, expected {expected}.",
                    joint=self.joint,
                )

    @property
    def name(self) -> str:
        """That of the joint, as a motor's."""
        return f"motor {self.joint}"

    @property
    def armature(self) -> float:
        """Inertia of the rotor at the joint [kg m^2 or kg]."""
        return self.gear_ratio**2 * self.rotor_inertia

    def range(self, v) -> tuple:
        """Smallest and largest force that the joint gets at its velocity v [N m or N], over any scalar."""
        ratio, omega = absolute(self.gear_ratio), absolute(self.gear_ratio * v)
        brake = ratio * self.torque_limit / self.efficiency
        drive = ratio * self.torque_limit * self.efficiency
        if not _unlimited(self.speed_limit):
            rated = 0.0 if self.rated_speed is None else self.rated_speed
            left = (self.speed_limit - omega) / (self.speed_limit - rated)
            part = where(omega <= rated, 1.0, maximum(left, 0.0))
            drive = where(part > 0.0, ratio * self.torque_limit * part * self.efficiency, 0.0)
        return where(v > 0.0, -brake, -drive), where(v < 0.0, brake, drive)

    def delivered(self, v, force):
        """The part of a joint force that is in the `range` at this velocity [N m or N], over any scalar."""
        if _unlimited(self.torque_limit) and _unlimited(self.speed_limit):
            return force
        low, high = self.range(v)
        return minimum(maximum(force, low), high)

    def lagged(self, force, command, dt):
        """The joint force after a time dt of lag from ``force`` towards a constant command [N m or N]."""
        return command + (force - command) * exp(-dt / self.time_constant)

    @classmethod
    def of_effort_limits(cls, model) -> tuple[Motor, ...]:
        """A motor for each joint of a model that has an effort limit.

        Parameters
        ----------
        model : Model

        Returns
        -------
        tuple of Motor
        """
        limits = np.asarray(model.effort_limit, dtype=float)
        single = ((i, float(limits[model.v_slice[i].start])) for i in model.outward() if model.joints[i].nv == 1)
        return tuple(cls(model.joint_name(i), torque_limit=x) for i, x in single if 0.0 < x < math.inf)

    @classmethod
    def example(cls, model, rng) -> Motor:
        """A motor of a joint of one coordinate, for the tests."""
        single = [name for name in model.joint_names if model.joints[model.joint(name)].nv == 1]
        return cls(str(rng.choice(single)), gear_ratio=float(rng.uniform(2.0, 9.0)), torque_limit=3.0)


def _unlimited(limit) -> bool:
    """Whether there is no limit, by structure."""
    return isinstance(limit, float) and math.isinf(limit)


@dataclass(frozen=True)
class LaggingMotor(Motor):
    """A motor whose force, which lags behind the command, is an internal state."""

    states = ("force",)


def driven_model(model):
    """The model with the rotors of its motors as armature, and forces that lag behind the command as internal states.

    Parameters
    ----------
    model : Model

    Returns
    -------
    Model
    """
    armature, driven = np.array(model.armature, dtype=float), {}
    for motor in model.motors:
        armature[model.coordinate(motor.joint)] += motor.armature
        kind = LaggingMotor if motor.time_constant else Motor
        driven[motor] = kind(**(vars(motor) | {"rotor_inertia": 0.0}))
    if all(new == motor for motor, new in driven.items()):
        return model
    return model.replace(armature=armature, forces=[driven.get(force, force) for force in model.forces])
