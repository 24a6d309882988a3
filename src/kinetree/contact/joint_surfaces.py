"""Surfaces inside of joints on which friction acts: contact points around an axis, or on a ball."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import number, text, whole
from kinetree.errors import UnsupportedError


@dataclass(frozen=True)
class JointSurface:
    """The bearing of a joint: a cylinder along the axis of a hinge or slider, or the ball of a spherical joint.

    Parameters
    ----------
    joint : str
        Name of the joint.
    radius : float
        Of the cylinder or ball [m].
    friction : float
        Coefficient mu [1].
    length : float, optional
        Of the cylinder, whose two ends carry the points [m]; of a hinge or slider.
    points : int, optional
        Around each end, or on the ball.

    Raises
    ------
    ArgumentError

    Notes
    -----
    Source: Sueda, section 2.11. The points of a hinge have radial normals and, for thrust, axial ones.

    See Also
    --------
    kinetree.contact.joint_friction_step

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.contact.JointSurface("pivot", radius=0.02, friction=0.3, length=0.05).points
    8
    """

    joint: str
    radius: float
    friction: float
    length: float = 0.05
    points: int = 8

    def __post_init__(self) -> None:
        text("JointSurface: joint", self.joint, "the name of a joint")
        what = f"joint surface of {self.joint!r}"
        number(f"{what}: radius", self.radius, "a positive length", above=0.0)
        number(f"{what}: friction", self.friction, "a coefficient that is not negative", least=0.0)
        number(f"{what}: length", self.length, "a positive length", above=0.0)
        whole(f"{what}: points", self.points, "a number of points from 3 to 1000", least=3, most=1000)

    def contacts(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Unit wrenches [moment; force] along the normals (n, 6) and tangents (n, 2, 6); S (6, nv) of the joint."""
        turning, sliding = S[:3], S[3:]
        if S.shape[1] == 1 and not (turning.any() and sliding.any()):
            axis = (turning if turning.any() else sliding)[:, 0]
            return self._cylinder(axis / np.linalg.norm(axis), thrust=bool(turning.any()))
        if S.shape[1] == 3 and not sliding.any():
            return self._ball()
        raise UnsupportedError(
            f"joint surface of {self.joint!r}: friction on surfaces is for hinges, sliders and spherical joints; this "
            f"joint has {S.shape[1]} degrees of freedom"
        )

    def _cylinder(self, axis, thrust: bool):
        first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        first /= np.linalg.norm(first)
        angle = 2.0 * np.pi * np.arange(self.points) / self.points
        radial = np.outer(np.cos(angle), first) + np.outer(np.sin(angle), np.cross(axis, first))
        around, along = np.cross(axis, radial), np.broadcast_to(axis, radial.shape)
        parts = []
        for end in (-0.5 * self.length, 0.5 * self.length):
            p = end * axis + self.radius * radial
            parts.append((p, radial, around, along))
            if thrust:
                parts.append((p, along, around, radial))
        return _wrenches(*map(np.concatenate, zip(*parts, strict=True)))

    def _ball(self):
        k = np.arange(self.points)
        z = 1.0 - (2.0 * k + 1.0) / self.points  # a spiral of equal areas
        turn = np.pi * (1.0 + 5.0**0.5) * k
        d = np.column_stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z])
        t = np.cross(d, np.eye(3)[np.argmin(np.abs(d), axis=1)])
        t /= np.linalg.norm(t, axis=1, keepdims=True)
        return _wrenches(self.radius * d, d, t, np.cross(d, t))


def _wrenches(p, normal, t1, t2) -> tuple[np.ndarray, np.ndarray]:
    n, a, b = (np.column_stack([np.cross(p, x), x]) for x in (normal, t1, t2))
    return n, np.stack([a, b], axis=1)
