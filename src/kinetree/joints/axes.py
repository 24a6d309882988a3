"""Parameters of joints: numbers, and axes whose exact zeros and ones are structure, with their frames and rotations."""

from __future__ import annotations

import math

from kinetree.errors import JointError
from kinetree.spatial import AxialRotation, GeneralRotation, Matrix3, Rotation, Vector3, rotation_from_matrix
from kinetree.spatial.scalar import SNAP, sincos

Axis = tuple[float, float, float]


def unit_axis(axis, kind: str) -> Axis:
    """The axis of a joint, normalized; components within 1e-13 of 0 become exact.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction of the axis, in successor coordinates; any length but zero.
    kind : str
        The joint that is being built, for the error message.

    Raises
    ------
    JointError
        If the axis is not three finite numbers, or of length zero.

    Examples
    --------
    >>> unit_axis((0, 0, -2), "revolute")
    (0.0, 0.0, -1.0)
    """
    try:
        x, y, z = (float(component) for component in axis)
    except (TypeError, ValueError, OverflowError):
        raise JointError(f"{kind} joint: axis must be three numbers, as (0, 0, 1); got {axis!r}.", axis=axis) from None
    if not all(map(math.isfinite, (x, y, z))):
        raise JointError(f"{kind} joint: axis {axis!r} is not finite; give a direction, as (0, 0, 1) is.", axis=axis)
    scale = max(abs(x), abs(y), abs(z))
    if scale == 0.0:
        raise JointError(f"{kind} joint: axis {axis!r} has length zero; give a direction, as (0, 0, 1) is.", axis=axis)
    exact = [0.0 if abs(component) < SNAP * scale else component for component in (x, y, z)]
    if abs(math.hypot(*exact) - 1.0) < 1e-15:  # a unit axis stays as it is, so that a repr gives the same joint back
        return tuple(exact)
    exact = [component / scale for component in exact]  # tiny and huge axes keep their digits
    length = math.hypot(*exact)
    return tuple(component / length for component in exact)


def finite(value, what: str, unit: str = "") -> float:
    """A parameter as a float, or a JointError that names it."""
    of = f" [{unit}]" if unit else ""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise JointError(f"{what} must be a number{of}; got {value!r}.", value=value) from None
    if not math.isfinite(number):
        raise JointError(f"{what} must be finite{of}; got {number!r}.", value=value)
    return number


def cardinal(axis: Axis) -> tuple[int, float] | None:
    """The number (0, 1, 2) and sign of an axis along x, y or z; None for any other direction."""
    parts = [(index, component) for index, component in enumerate(axis) if component != 0.0]
    return parts[0] if len(parts) == 1 else None


def moments_about(axis: Axis, *kinds: str) -> tuple[str, ...]:
    """Names of the first ("h") or second ("P") moment along an axis; none if it is not along x, y or z."""
    aligned = cardinal(axis)
    name = "xyz"[aligned[0]] if aligned else ""
    return tuple(f"{kind}.{name * (1 if kind == 'h' else 2)}" for kind in kinds if aligned)


def along(axis: Axis, x) -> Vector3:
    """The vector of length x along a unit axis; its structural zeros stay floats, so that transforms can use them."""
    return Vector3(*(0.0 if n == 0.0 else x if n == 1.0 else -x if n == -1.0 else n * x for n in axis))


def rotation_about(axis: Axis, angle) -> Rotation:
    """Coordinate rotation E to a frame that has turned by ``angle`` [rad] about a unit axis (Rodrigues)."""
    s, c = sincos(angle)
    aligned = cardinal(axis)
    if aligned is not None:
        index, sign = aligned
        return AxialRotation(index, c, s if sign > 0.0 else -s)
    x, y, z = axis
    d = 1.0 - c
    return GeneralRotation(Matrix3((
        (c + d * (x * x), d * (x * y) + s * z, d * (x * z) - s * y),
        (d * (x * y) - s * z, c + d * (y * y), d * (y * z) + s * x),
        (d * (x * z) + s * y, d * (y * z) - s * x, c + d * (z * z)),
    )))  # fmt: skip


def transverse(axis: Axis) -> tuple[Vector3, Vector3]:
    """Constant unit vectors a, b that complete the axis n to a right-handed frame (a, b, n)."""
    n = Vector3(*axis)
    aligned = cardinal(axis)
    if aligned is not None:
        index, sign = aligned
        a, b = Vector3.unit((index + 1) % 3), Vector3.unit((index + 2) % 3)
        return (a, b) if sign > 0.0 else (b, a)
    if axis[1] == 0.0:  # keep y, or x, as it is: the alignment is then a rotation about that axis
        b = Vector3(0.0, 1.0, 0.0)
        return b.cross(n), b
    if axis[0] == 0.0 or axis[2] == 0.0:
        a = Vector3(1.0, 0.0, 0.0) if axis[0] == 0.0 else Vector3(0.0, 0.0, 1.0)
        return a, n.cross(a)
    smallest = min(range(3), key=lambda k: abs(axis[k]))
    a = Vector3.unit(smallest).cross(n)
    a = a / math.sqrt(a.dot(a))
    return a, n.cross(a)


def alignment(axis: Axis) -> Rotation:
    """The constant rotation R with R n = z: coordinates in which the axis is z."""
    a, b = transverse(axis)
    return rotation_from_matrix(Matrix3((tuple(a), tuple(b), axis)))
