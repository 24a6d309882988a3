"""Screws: the geometry of a single motion or force vector, in numbers (Featherstone, section 2.5).

Every spatial vector is a line vector plus a parallel free vector. A pure rotation or a force along a line is a *line
vector*, a translation or a couple a *free vector*; only within these four families do vectors have a magnitude. All
functions take vectors of floats, since they decide by value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.errors import ModelError
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.vectors import Vector3

_TOLERANCE = 1e-12  # relative: a few hundred times the rounding of one product


@dataclass(frozen=True, slots=True)
class Screw:
    """Axis, pitch and magnitude of a motion or force vector.

    Parameters
    ----------
    direction : Vector3
        Unit vector along the axis.
    point : Vector3 or None
        The axis' point next to the origin [m]; None for a free vector, which has no particular axis.
    pitch : float
        Translation per radian [m/rad], or moment per force [m]; infinite for a free vector.
    magnitude : float
        Of the rotation or force along the line; of the translation or couple for a free vector.
    """

    direction: Vector3
    point: Vector3 | None
    pitch: float
    magnitude: float


def resultant(vector: Motion | Force) -> Vector3:
    """The part that is the same about all points: the angular part of a motion, the linear part of a force."""
    return vector.angular if vector.__class__ is Motion else vector.linear


def field_at_origin(vector: Motion | Force) -> Vector3:
    """The part that depends on the point: the linear part of a motion, the moment of a force."""
    return vector.linear if vector.__class__ is Motion else vector.angular


def _compose(kind, s, s_O):
    return kind(s, s_O) if kind is Motion else kind(s_O, s)


def _norm(v):
    return math.hypot(v.x, v.y, v.z)


def is_free(vector: Motion | Force) -> bool:
    """Whether the vector is free: a pure translation or a pure couple."""
    s, s_O = _norm(resultant(vector)), _norm(field_at_origin(vector))
    return s <= _TOLERANCE * s_O


def is_line(vector: Motion | Force) -> bool:
    """Whether the vector is a line vector: a pure rotation or a force along a line, ``s . s_O = 0``, s != 0."""
    s, s_O = resultant(vector), field_at_origin(vector)
    return not is_free(vector) and abs(s.dot(s_O)) <= _TOLERANCE * _norm(s) * max(_norm(s), _norm(s_O))


def screw(vector: Motion | Force) -> Screw:
    """Axis, pitch and magnitude.

    Parameters
    ----------
    vector : Motion or Force
        Of floats, not zero.

    Returns
    -------
    Screw

    Raises
    ------
    ModelError
        For the zero vector, which has no axis.

    Notes
    -----
    Source: Featherstone eq. 2.10: ``h = s . s_O / s . s``, and points P of the axis have ``OP x s = s_O - h s``.

    Examples
    --------
    >>> screw(Motion.of([0.0, 0.0, 2.0, 0.0, 0.0, 1.0])).pitch
    0.5
    """
    s, s_O = resultant(vector), field_at_origin(vector)
    size = max(_norm(s), _norm(s_O))
    if not (size > 0.0 and math.isfinite(_norm(s) + _norm(s_O))):
        raise ModelError(f"{vector!r} has no screw axis; expected a vector that is finite and not zero.")
    if is_free(vector):
        return Screw(s_O / size, None, math.inf, size)
    size = _norm(s)
    u = s / size
    return Screw(u, u.cross(s_O / size), u.dot(s_O) / size, size)


def decompose(vector: Motion | Force, point: Vector3 | None = None):
    """Split into a line vector and a free vector.

    Parameters
    ----------
    vector : Motion or Force
        Not free: free vectors have no line.
    point : Vector3, optional
        The line passes through this point [m]. By default the line is the screw axis, which makes the two parallel.

    Returns
    -------
    line, free : Motion or Force
        Of the kind of ``vector``; their sum is ``vector``.

    Raises
    ------
    ModelError
        For a free vector.

    Examples
    --------
    >>> line, free = decompose(Motion.of([0.0, 0.0, 2.0, 0.0, 4.0, 1.0]))
    >>> list(free.linear)
    [0.0, 0.0, 1.0]
    """
    if is_free(vector):
        raise ModelError(f"{vector!r} is a free vector (a translation or a couple): it has no line to split off.")
    kind, s = vector.__class__, resultant(vector)
    s_O = field_at_origin(vector)
    if point is None:
        along = s * (s.dot(s_O) / s.dot(s))
        return _compose(kind, s, s_O - along), _compose(kind, Vector3.zero(), along)
    line = _compose(kind, s, point.cross(s))
    return line, vector - line


def from_screw(kind: type, screw: Screw):
    """The motion or force with this screw: the inverse of :func:`screw`.

    Parameters
    ----------
    kind : type
        Motion or Force.
    screw : Screw
    """
    s = screw.direction * screw.magnitude
    if screw.point is None:
        return _compose(kind, Vector3.zero(), s)
    return _compose(kind, s, screw.point.cross(s) + s * screw.pitch)
