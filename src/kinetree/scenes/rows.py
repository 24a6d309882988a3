"""Constraints of scenes as rows of velocities: ``G v = -g_dot - gain g``, at the new time and the old position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.compiler.calls import public_call

_AXES = {"reference": "local_world_aligned"}


@dataclass(frozen=True)
class PointsMeet:
    """Two points of bodies, given as frames, stay together: in all directions, or in the x-z plane of the first frame.

    Two rows close a planar loop, whose other directions are closed by the geometry.
    """

    first: str
    second: str
    planar: bool = False

    def __call__(self, model, q, t):
        """``(G, g, g_dot)``"""
        (J1, x1, R), (J2, x2, _) = (_frame(model, q, name) for name in (self.first, self.second))
        axes = R[:, [0, 2]].T if self.planar else np.eye(3)
        return axes @ (J1 - J2), axes @ (x1 - x2), np.zeros(len(axes))


@dataclass(frozen=True)
class FollowsFunction:
    """A joint of one coordinate follows ``motion(t) = (position, rate)``; position None for a rate alone."""

    joint: str
    motion: Callable

    def __call__(self, model, q, t):
        position, rate = self.motion(t)
        k = model.coordinate(self.joint)
        G = np.zeros((1, model.nv))
        G[0, k] = -1.0
        return G, np.array([0.0 if position is None else position - q[k]]), np.array([rate])


@dataclass(frozen=True)
class FollowsTwist:
    """Angular velocity about y, and velocity of the center of mass in x and z, of a frame: ``motion(t) = (w, V)``.

    V is along x of the world. There is no position to return to.
    """

    frame: str
    motion: Callable

    def __call__(self, model, q, t):
        w, speed = self.motion(t)
        _, _, R = _frame(model, q, self.frame)
        J = public_call("jacobian")(model, q, frame=self.frame, reference="local")
        velocity = R.T @ np.array([speed, 0.0, 0.0])
        return -J[[1, 3, 5]], np.zeros(3), np.array([w, velocity[0], velocity[2]])


@dataclass(frozen=True)
class OppositeTurns:
    """Two joints turn by opposite angles."""

    first: str
    second: str

    def __call__(self, model, q, t):
        k = [model.coordinate(name) for name in (self.first, self.second)]
        G = np.zeros((1, model.nv))
        G[0, k] = -1.0
        return G, np.array([-q[k].sum()]), np.zeros(1)


@dataclass(frozen=True)
class Limits:
    """A joint stays between two positions, ``C v <= -gain c`` where it is beyond one.

    c is the excess: the joint returns at the rate ``gain c``.
    """

    joint: str
    lower: float
    upper: float

    def __call__(self, model, q, t):
        k = model.coordinate(self.joint)
        sides = (-1.0, self.lower - q[k]), (1.0, q[k] - self.upper)
        beyond = [side for side in sides if side[1] >= 0.0]
        C = np.zeros((len(beyond), model.nv))
        C[:, k] = [sign for sign, _ in beyond]
        return C, np.array([excess for _, excess in beyond]), np.zeros(len(beyond))

    is_bound = True


def _frame(model, q, name: str):
    """Jacobian of the origin, its position, and the axes, in the world."""
    pose = public_call("pose")(model, q, frame=name)
    return public_call("jacobian")(model, q, frame=name, **_AXES)[3:], pose.p_WF, pose.R_WF
