"""Servos of orientations: torques about all axes by the rotation from where a frame is to a set point."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.actuators.dynamics import clipped
from kinetree.forces.contract import ForceElement
from kinetree.liegroup.so3 import log_so3, quaternion_exp, quaternion_log
from kinetree.spatial import GeneralRotation, Vector3
from kinetree.spatial.rotations import quaternion_inverse, quaternion_product
from kinetree.spatial.scalar import sqrt, where


@dataclass(frozen=True)
class OrientationServo(ForceElement):
    """An actuator of three outputs, about the axes of a ball joint's body, or of a frame relative to another one.

    A model makes it of an actuator of its equipment.

    Parameters
    ----------
    name : str
    joint : str or None
        A ball joint.
    frame, reference : str or None
        Or a frame, and the one relative to which it turns.
    stiffness, damping : float
        [N m/rad, N m s/rad]
    by_quaternion : bool
        Whether the inputs are a quaternion (w, x, y, z) of any length, zero standing for no rotation; otherwise they
        are a rotation vector [rad].
    control_range : tuple of 2 floats, optional
        Of every input.
    largest : float, optional
        Torque [N m].

    Notes
    -----
    Source: MuJoCo 4, ``orientation``: with the relative orientation q and the set point p, the torque in the axes of
    the frame is ``k log(q^-1 p) - d w``; a torque beyond the largest one is shortened.
    """

    name: str
    joint: str | None
    frame: str | None
    reference: str | None
    stiffness: float
    damping: float
    by_quaternion: bool = False
    control_range: tuple[float, float] | None = None
    largest: float | None = None

    frame_fields, actuates, gear = ("frame", "reference"), True, 1.0
    outputs = 3

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("w", "x", "y", "z") if self.by_quaternion else ("x", "y", "z")

    @property
    def laws(self) -> tuple[OrientationServo]:
        """Itself: its outputs are those of one actuator."""
        return (self,)

    @property
    def output_labels(self) -> tuple[str, ...]:
        """Names of the torques."""
        return tuple(f"{self.name}.{axis}" for axis in "xyz")

    @property
    def joints(self) -> tuple[str, ...]:
        return () if self.joint is None else (self.joint,)

    @property
    def frames(self) -> tuple[str, ...]:
        return () if self.frame is None else (self.frame, self.reference)

    @property
    def kinked(self) -> bool:
        return self.control_range is not None or self.largest is not None

    # The law ---------------------------------------------------------------------------------------------------------

    def force(self, kin, x, u):
        rotation, velocity = self._motion(kin)
        yield velocity, self._torque(rotation, velocity, u)

    def transmitted(self, kin) -> tuple[list, list]:
        """The rotation vector and the angular velocity."""
        rotation, velocity = self._motion(kin)
        return list(quaternion_log(rotation)), list(velocity)

    def actuator_forces(self, length, velocity, x, u) -> list:
        """The torque, from the rotation vector and the angular velocity."""
        return list(self._torque(quaternion_exp(Vector3(*length)), Vector3(*velocity), u))

    def _motion(self, kin) -> tuple[tuple, Vector3]:
        """The orientation as a quaternion, and the angular velocity in the axes of the frame."""
        if self.joint is not None:
            velocity = Vector3(*(kin.rate(self.joint, n) for n in range(3)))
            return tuple(kin.coordinate(self.joint, n) for n in range(4)), velocity
        R = kin.rotation(self.frame)
        turned = kin.rotation(self.reference).T @ R
        velocity = R.T @ (kin.angular_velocity(self.frame) - kin.angular_velocity(self.reference))
        return quaternion_exp(log_so3(GeneralRotation(turned.T))), velocity

    def _torque(self, rotation, velocity: Vector3, u) -> Vector3:
        u = [clipped(value, self.control_range) for value in u]
        if self.by_quaternion:
            square = sum((value * value for value in u), start=0.0)
            given = square > 0.0
            length = sqrt(where(given, square, 1.0))
            point = [where(given, value / length, float(n == 0)) for n, value in enumerate(u)]
        else:
            point = quaternion_exp(Vector3(*u))
        error = quaternion_log(quaternion_product(quaternion_inverse(rotation), point))
        torque = error * self.stiffness - velocity * self.damping
        if self.largest is None:
            return torque
        square, most = torque.dot(torque), self.largest * self.largest
        beyond = square > most
        return torque * where(beyond, self.largest / sqrt(where(beyond, square, 1.0)), 1.0)

    @classmethod
    def example(cls, model, rng) -> OrientationServo:
        """Between two frames, with a bounded torque."""
        frame, reference = (str(name) for name in rng.permutation([frame.name for frame in model.frames])[:2])
        k, d = rng.uniform(0.5, 2.0, 2).tolist()
        return cls("orientation_servo", None, frame, reference, k, d, largest=4.0)
