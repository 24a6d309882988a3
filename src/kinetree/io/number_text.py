"""Numbers as decimals for files: the shortest that a reader turns back into the number of the model.

A model holds first moments, inertias about a body's origin and rotation matrices; files hold centers of mass, inertias
about them and angles or quaternions. Conversions round. So the decimals are not those nearest to the file's quantity
but the shortest whose reading gives the model's number to the last bit; where no decimal does, one that survives
further rounds unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import reduce
from operator import add, sub

import numpy as np

from kinetree.model.builder import rotation_of_quaternion
from kinetree.model.parts import rotation_of_rpy
from kinetree.spatial import GeneralRotation, Inertia, Matrix3, Symmetric3, Vector3
from kinetree.spatial.rotations import quaternion_from_rotation
from kinetree.spatial.scalar import SNAP

ANGLE_DECIMALS = 15  # of angles and quaternions that no short decimal gives exactly
RIGHT_ANGLE = 0.5 * math.pi


def number_text(x: float) -> str:
    """The shortest text that is read as this float, without a needless point: "0.1", "1", "-2e-07", "inf"."""
    if x == 0.0:
        return "0"
    text = repr(float(x))
    return text[:-2] if text.endswith(".0") else text


def numbers_text(values: Iterable[float]) -> str:
    """Several numbers, separated by spaces."""
    return " ".join(map(number_text, values))


def shortest(x: float, reads_back: Callable[[float], bool]) -> float | None:
    """The number with the fewest digits near x that is read back as wanted; None if there is none."""
    if len(repr(x)) <= 8 and reads_back(x):
        return x
    for digits in range(1, 18):
        y = float(f"{x:.{digits}g}")
        if reads_back(y):
            return y
    return None


def central(
    I: Inertia, shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> tuple[float, tuple[float, float, float], Symmetric3]:
    """Mass, center of mass and rotational inertia about it, in body axes, from which `Inertia.from_com` gives I again.

    Parameters
    ----------
    I : Inertia
    shift : tuple of 3 floats
        Offset that a reader adds to the center of mass, because the file's body has its origin there [m].

    Returns
    -------
    mass : float
        [kg].
    com : tuple of 3 floats
        [m].
    I_com : Symmetric3
        [kg m^2].
    """
    m = I.m
    if m == 0.0:
        return 0.0, (0.0, 0.0, 0.0), I.I
    com = tuple(
        undone(h, lambda h, s=s: h / m - s, lambda c, s=s: (c + s) * m) for h, s in zip(I.h, shift, strict=True)
    )
    steiner = Inertia.from_com(m, Vector3(*com) + Vector3(*shift), Symmetric3.zero()).I
    return m, com, Symmetric3(*unshifted(I.I, steiner))


def undone(x: float, back: Callable[[float], float], forth: Callable[[float], float]) -> float:
    """The shortest y with forth(y) == x, or one near it that further rounds leave alone."""
    y = back(x)
    found = shortest(y, lambda y: forth(y) == x)
    if found is not None:
        return found
    for _ in range(8):
        if back(forth(y)) == y:
            break
        y = back(forth(y))
    target = forth(y)
    return shortest(y, lambda y: forth(y) == target)


def unshifted(values: Iterable[float], *shifts: Iterable[float]) -> list[float]:
    """The shortest numbers that become these values where a reader adds the shifts, one after the other."""
    return [
        undone(x, lambda x, own=own: reduce(sub, reversed(own), x), lambda y, own=own: reduce(add, own, y))
        for x, *own in zip(values, *shifts, strict=True)
    ]


def rpy_of(R: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] of R = Rz(yaw) Ry(pitch) Rx(roll), as decimals that are read as R again.

    Notes
    -----
    Yaw first; it is badly determined near pitch = +-pi/2, but pitch and roll are then those of Rz(-yaw) R, whatever
    yaw is, so that the product is R to rounding everywhere.
    """
    yaw = math.atan2(R[1, 0], R[0, 0]) if math.hypot(R[0, 0], R[1, 0]) > SNAP else 0.0
    s, c = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    angles = roll, pitch, yaw
    return _settled(angles, R, lambda rpy: rotation_of_rpy(*rpy), _near_right_angle)


def quaternion_of(R: np.ndarray) -> tuple[float, float, float, float]:
    """The unit quaternion (w, x, y, z) of a rotation, as decimals that are read as R again; w is not negative."""
    q = np.array(quaternion_from_rotation(GeneralRotation(Matrix3(R.T.tolist()))))
    first = next(x for x in q.tolist() if abs(x) > SNAP)
    q = np.copysign(1.0, first) * q
    return _settled(tuple(q.tolist()), R, rotation_of_quaternion, _clean)


def _settled(values, R, rotation, clean):
    """Rounded values whose rotation is R to the last bit (or to 1e-15), with as few decimals as that allows."""
    target = R
    for _ in range(2):
        for digits in range(1, ANGLE_DECIMALS + 1):
            rounded = tuple(clean(x, round(x, digits)) for x in values)
            if _same(rotation(rounded), target):
                return rounded
        # No decimals give R exactly: those nearest to it, or shorter ones that are read in the same way.
        target = rotation(tuple(clean(x, round(x, ANGLE_DECIMALS)) for x in values))
    raise AssertionError("the last candidate gives the target")


def _same(R: np.ndarray, S: np.ndarray) -> bool:
    """Whether two rotations agree once entries near 0 and +-1 are taken as exact, as in models."""
    return np.array_equal(R, S) or np.array_equal(_snapped(R), _snapped(S))


def _snapped(R: np.ndarray) -> np.ndarray:
    nearest = np.round(R)
    return np.where(np.abs(R - nearest) < SNAP, nearest, R)


def _near_right_angle(x: float, rounded: float) -> float:
    """Multiples of a right angle keep all their digits, so that other readers find them too."""
    k = round(x / RIGHT_ANGLE)
    return k * RIGHT_ANGLE + 0.0 if abs(x - k * RIGHT_ANGLE) <= 4e-16 * max(1, abs(k)) else rounded + 0.0


def _clean(x: float, rounded: float) -> float:
    """Halves of right angles keep all their digits."""
    half = math.copysign(math.sqrt(0.5), x)
    return half if abs(x - half) <= 4e-16 else rounded + 0.0
