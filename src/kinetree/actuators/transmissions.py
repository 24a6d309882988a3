"""Transmissions: the lengths along which actuators act, over the kinematics of a state.

Some lengths are functions of the positions, and their rate is the velocity along which the force gives power. Others,
of frames and of joints that turn freely, have a velocity that is the rate of no length.

Source: MuJoCo, "Computation: Transmission".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kinetree.actuators.parts import Numbered
from kinetree.liegroup.so3 import log_so3, quaternion_log
from kinetree.spatial import GeneralRotation, Vector3
from kinetree.spatial.rotations import quaternion_to_rotation
from kinetree.spatial.scalar import sqrt, where
from kinetree.tendons.length import path_length
from kinetree.tendons.path import Path, names_in, path_numbers, path_structure, renamed_path, with_path_numbers

TURN = 6.283185307179586


class Transmission(Numbered):
    """Base of transmissions.

    Attributes
    ----------
    is_rate : bool
        Whether the velocity is the rate of the length.
    joint_fields, frame_fields : tuple of str
    """

    __slots__ = ()

    is_rate = True
    joint_fields: tuple[str, ...] = ()
    frame_fields: tuple[str, ...] = ()

    def length(self, kin):
        """The length [m or rad]."""
        raise NotImplementedError

    def velocity(self, kin):
        """The velocity, where it is not the rate of the length."""
        raise NotImplementedError

    def period(self):
        """The change of length in a turn, where the length is an angle; else None."""
        return None

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(getattr(self, what) for what in self.joint_fields)

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the frames."""
        return tuple(x for what in self.frame_fields if (x := getattr(self, what)) is not None)

    def renamed(self, joint: Callable[[str], str], frame: Callable[[str], str]) -> Transmission:
        """The same under other names of joints and frames."""
        new = {what: joint(getattr(self, what)) for what in self.joint_fields}
        new |= {what: frame(x) for what in self.frame_fields if (x := getattr(self, what)) is not None}
        return replace(self, **new)


@dataclass(frozen=True)
class JointTransmission(Transmission):
    """The position of a joint of one freedom."""

    joint: str

    joint_fields = ("joint",)

    def length(self, kin):
        return kin.coordinate(self.joint)


@dataclass(frozen=True)
class PathTransmission(Transmission):
    """The length of a tendon."""

    path: Path

    def length(self, kin):
        return path_length(self.path, kin)

    @property
    def joints(self):
        return names_in(self.path, "joint")

    @property
    def frames(self):
        return names_in(self.path, "frame")

    def renamed(self, joint, frame):
        return PathTransmission(renamed_path(self.path, joint, frame))

    def numbers(self):
        return path_numbers(self.path, "path")

    def with_numbers(self, values):
        return PathTransmission(with_path_numbers(self.path, values))

    def structure(self):
        return "PathTransmission", path_structure(self.path)


@dataclass(frozen=True)
class SliderCrank(Transmission):
    """The position of a slider that a rod connects with a crank.

    Parameters
    ----------
    crank, slider : str
        Frames: the rod ends at the origin of the first, the slider moves along the z axis of the second.
    rod : float
        [m]. Where it is too short, the slider is where it comes nearest to the crank.
    """

    crank: str
    slider: str
    rod: float

    measures, frame_fields = ("rod",), ("crank", "slider")

    def length(self, kin):
        R, d = kin.rotation(self.slider), kin.point(self.crank) - kin.point(self.slider)
        along = Vector3(R[0, 2], R[1, 2], R[2, 2]).dot(d)
        square = along * along + self.rod * self.rod - d.dot(d)
        reached = square > 0.0
        return along - where(reached, sqrt(where(reached, square, 1.0)), 0.0)


@dataclass(frozen=True)
class BallTransmission(Transmission):
    """The rotation vector of a ball joint along an axis.

    Parameters
    ----------
    joint : str
    gear : tuple of 3 floats
        The axis, times the ratio, in the coordinates of the body, or of its parent.
    in_parent : bool
    """

    joint: str
    gear: tuple[float, float, float]
    in_parent: bool = False

    is_rate = False
    measures, joint_fields = ("gear",), ("joint",)

    def length(self, kin):
        v = quaternion_log([kin.coordinate(self.joint, n) for n in range(4)])
        return v.dot(self._axis(kin))

    def velocity(self, kin):
        return self._axis(kin).dot(Vector3(*(kin.rate(self.joint, n) for n in range(3))))

    def _axis(self, kin) -> Vector3:
        axis = Vector3(*self.gear)
        if not self.in_parent:
            return axis
        return quaternion_to_rotation([kin.coordinate(self.joint, n) for n in range(4)]) @ axis

    def period(self):
        return TURN * _norm(self.gear)


@dataclass(frozen=True)
class FrameTransmission(Transmission):
    """A wrench on a frame; with a reference, the position of the frame in that one along it.

    Parameters
    ----------
    frame : str
    force_gear, torque_gear : tuple of 3 floats
        Forces [1] and moments [m] per force of the actuator.
    force_axes, torque_axes : {"frame", "world"}
        Their coordinates; with a reference those of that.
    reference : str, optional
    ancestor : str, optional
        With a reference: the body whose motion carries both frames along, so that it does not count.
    """

    frame: str
    force_gear: tuple[float, float, float]
    torque_gear: tuple[float, float, float]
    force_axes: str = "frame"
    torque_axes: str = "frame"
    reference: str | None = None
    ancestor: str | None = None

    is_rate = False
    measures, frame_fields = ("force_gear", "torque_gear"), ("frame", "reference", "ancestor")

    @property
    def pushes(self) -> bool:
        """Whether there is a force; by structure."""
        return _present(self.force_gear)

    @property
    def turns(self) -> bool:
        """Whether there is a moment; by structure."""
        return _present(self.torque_gear)

    def length(self, kin):
        total = 0.0
        if self.reference is None:
            return total
        R = kin.rotation(self.reference)
        if self.pushes:
            total = total + Vector3(*self.force_gear).dot(R.T @ (kin.point(self.frame) - kin.point(self.reference)))
        if self.turns:
            turned = R.T @ kin.rotation(self.frame)
            total = total + Vector3(*self.torque_gear).dot(log_so3(GeneralRotation(turned.T)))
        return total

    def velocity(self, kin):
        total = 0.0
        if self.pushes:
            total = total + self._directed(kin, self.force_gear, self.force_axes).dot(self._linear(kin))
        if self.turns:
            w = kin.angular_velocity(self.frame)
            w = w if self.reference is None else w - kin.angular_velocity(self.reference)
            total = total + self._directed(kin, self.torque_gear, self.torque_axes).dot(w)
        return total

    def _directed(self, kin, gear, axes: str) -> Vector3:
        gear = Vector3(*gear)
        return gear if axes == "world" else kin.rotation(self.reference or self.frame) @ gear

    def _linear(self, kin) -> Vector3:
        v = kin.velocity(self.frame)
        if self.reference is None:
            return v
        v = v - kin.velocity(self.reference)
        if self.ancestor is None:
            return v
        apart = kin.point(self.frame) - kin.point(self.reference)
        return v - kin.angular_velocity(self.ancestor).cross(apart)

    def period(self):
        return TURN * _norm(self.torque_gear) if self.reference is not None and not self.pushes else None


def _present(gear) -> bool:
    return any(not (isinstance(x, float) and x == 0.0) for x in gear)


def _norm(gear):
    return sqrt(Vector3(*gear).dot(Vector3(*gear)))
