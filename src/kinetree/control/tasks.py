"""Tasks of a controller: motions of frames and of joints, with the gains of their errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import array, choice, names, refuse, text
from kinetree.control.controller import gain_matrix, square_root
from kinetree.control.frame_reference import FORMS, frame_reference
from kinetree.control.reference import joint_reference

PARTS = {"pose": slice(0, 6), "orientation": slice(0, 3), "position": slice(3, 6)}
"""Rows of a six-vector [angular; linear]."""


@dataclass(frozen=True, eq=False)
class FrameTask:
    """A frame follows a reference: the error obeys ``e'' + kd e' + kp e = 0`` as far as tasks before it allow.

    Parameters
    ----------
    frame : str
        Name of the frame or body.
    reference : (4, 4) or (3,) array_like, (R, p), or callable
        Its motion [1 and m]; see `FrameReference`.
    kp : float, (n,) or (n, n) array_like
        Gain of the error [angular; linear] in the world's axes, positive definite [1/s^2]; n is 6, or 3 for a part.
    kd : float, (n,) or (n, n) array_like, optional
        Gain of its rate, positive definite [1/s]. Default: critical damping.
    part : {"pose", "position", "orientation"}, optional
        Default: the position for a constant position, else the pose.

    Raises
    ------
    ArgumentError
    """

    frame: str
    reference: object
    kp: object
    kd: object = None
    part: str | None = None

    def __post_init__(self) -> None:
        text("FrameTask: frame", self.frame, "the name of a frame")
        object.__setattr__(self, "reference", frame_reference(self.reference))
        part = self.part if self.part is not None else ("position" if self.reference.of_position else "pose")
        object.__setattr__(self, "part", choice("FrameTask: part", part, PARTS))
        if self.reference.of_position and part != "position":
            array("FrameTask: reference", self.reference.source, FORMS, shape=(4, 4))  # raises
        rows, found = PARTS[part], []
        kp = gain_matrix("FrameTask: kp", self.kp, rows.stop - rows.start, "1/s^2")
        kd = 2.0 * square_root(kp) if self.kd is None else self.kd
        for matrix in (kp, gain_matrix("FrameTask: kd", kd, rows.stop - rows.start, "1/s")):
            found.append(np.zeros((6, 6)))
            found[-1][rows, rows] = matrix
            found[-1].setflags(write=False)
        object.__setattr__(self, "kp", found[0])
        object.__setattr__(self, "kd", found[1])

    def target(self, t: float):
        """R_d, p_d, V_d and A_d at a time; any orientation for tasks of positions."""
        R_d, *rest = self.reference(t)
        if np.isnan(R_d).any():
            if self.part != "position":
                what = f"FrameTask of {self.frame!r}: the reference at t = {t:.9g} s"
                refuse(what, rest[0], f'a pose, (4, 4) or (R, p), since part is {self.part!r}; or part="position"')
            R_d = np.eye(3)
        return (R_d, *rest)

    def check(self, model) -> None:
        """Raise UnknownNameError for a frame that the model does not have."""
        model.frame(self.frame)


@dataclass(frozen=True, eq=False)
class JointTask:
    """Joints follow a reference: a posture within the motions that tasks before it leave free.

    Parameters
    ----------
    reference : (nq,) array_like, callable or Trajectory
        Motion of all joints [rad or m]; see `JointReference`.
    kp : float, (nv,) or (nv, nv) array_like, or mapping of joint names
        Gain of the error, positive semidefinite [1/s^2]; zero for damping alone.
    kd : float, (nv,) or (nv, nv) array_like, or mapping of joint names, optional
        Gain of its rate, positive semidefinite [1/s]. Default: critical damping.
    joints : str or sequence of str, optional
        The joints that take part; default all.

    Raises
    ------
    ArgumentError, ShapeError
        Gains and the reference are checked by the controller, for its model.
    """

    reference: object
    kp: object
    kd: object = None
    joints: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.joints is not None:
            object.__setattr__(self, "joints", names("JointTask: joints", self.joints))

    def bound(self, model) -> JointTask:
        """The task with its gains as matrices, for a model."""
        kp = gain_matrix("JointTask: kp", self.kp, model.nv, "1/s^2", model, definite=False)
        kd = 2.0 * square_root(kp) if self.kd is None else self.kd
        kd = gain_matrix("JointTask: kd", kd, model.nv, "1/s", model, definite=False)
        return type(self)(joint_reference(model, self.reference), kp, kd, self.joints)

    def rows(self, model) -> list[int]:
        """Velocity coordinates of the joints that take part."""
        if self.joints is None:
            return list(range(model.nv))
        return [k for name in self.joints for k in range(model.nv)[model.v_slice[model.joint(name)]]]
