"""Two boxes: the separating axis of 15, and four points of the common polygon of two faces."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.collision.laws import ContactPoint, pair_law
from kinetree.collision.point_distance import clamped
from kinetree.spatial import Vector3
from kinetree.spatial.scalar import absolute, sqrt, where

PARALLEL = 1e-6
"""Squared sine of the angle between edges that count as parallel."""
PREFER_FACE = 0.01
PREFER_FIRST = 1e-5
"""Parts of the first box's size by which an axis has to separate better to be taken in place of another kind."""
DEPTH_WEIGHT = 20.0
"""Points are chosen by their place in the face up to a tilt of the reciprocal of this [1/rad]."""
DIRECTIONS = ((0.75, 0.66), (-0.66, 0.75), (-0.75, -0.66), (0.66, -0.75))
"""Of the four points in the reference face: no directions of corners of boxes that are likely."""
NEVER, RARELY = -1e9, -1e8
ALIGNED = 1e-9
"""Part of an incident face by which corners of the reference face may be beyond it: where sides of both coincide but
for rounding, their crossing may be anywhere on them."""


class _Face(NamedTuple):
    """A box with one of its axes first: center, axes, half lengths."""

    center: Vector3
    axes: tuple[Vector3, Vector3, Vector3]
    halves: tuple


@pair_law("box", "box", count=4)
def box_box(first, second):
    """Four points with one normal.

    The axis that separates the boxes most is the normal: that of a face, or the common perpendicular of two edges. The
    face of the other box that is turned most to the reference face is cut off at its sides; four corners of the polygon
    are taken. Between two edges all four points are the same. Boxes that are apart by more than one axis have a gap
    below their distance.

    Points are chosen by place and depth: up to a tilt of one in 20 the deepest one need not be among them, nor is it
    where a box is deepest below the reference face with another of its faces. In both cases, rare in light contact,
    depths are not those of the translation that separates the boxes.

    Gaps of corners change as the bodies move; those of cuts slide along edges, which adds the tilt times the sliding
    velocity to their rates.
    """
    A, B = (_Face(x.p, tuple(x.axis(k) for k in range(3)), tuple(0.5 * s for s in x.size)) for x in (first, second))
    R = [[a.dot(b) for b in B.axes] for a in A.axes]
    S = [[absolute(x) for x in row] for row in R]
    t = B.center - A.center
    size = A.halves[0] + A.halves[1] + A.halves[2]
    along_A, along_B = [a.dot(t) for a in A.axes], [b.dot(t) for b in B.axes]
    sep_A = [absolute(along_A[i]) - A.halves[i] - _dot(B.halves, S[i]) for i in range(3)]
    sep_B = [absolute(along_B[j]) - B.halves[j] - _dot(A.halves, [row[j] for row in S]) for j in range(3)]
    best_A, best_B = _greatest(sep_A), _greatest(sep_B)
    turned = best_B > best_A + PREFER_FIRST * size  # the second box has the reference face
    reference, incident = _either(turned, B, A), _either(turned, A, B)
    along = [where(turned, -y, x) for x, y in zip(along_A, along_B, strict=True)]
    separations = [where(turned, y, x) for x, y in zip(sep_A, sep_B, strict=True)]
    points, N = _of_faces(reference, incident, along, separations)
    n = Vector3(*(where(turned, -x, x) for x in N))
    edge, separation, middle, normal = _edges(A, B, R, S, t, along_A)
    edges = edge & (separation > where(turned, best_B, best_A) + PREFER_FACE * size)
    n = _vector(edges, normal, n)
    return [ContactPoint(where(edges, separation, gap), _vector(edges, middle, at), n) for gap, at in points]


def _of_faces(reference: _Face, incident: _Face, along, separations):
    """Gap and position of four points, and the outward normal of the reference face."""
    box, offset = _turned(reference, separations, along)
    up = where(offset >= 0.0, 1.0, -1.0)
    (a, u, w), (height, hu, hw) = box.axes, box.halves
    N = a * up
    facing = [N.dot(axis) for axis in incident.axes]
    face, against = _turned(incident, [absolute(x) for x in facing], facing)
    back = where(against >= 0.0, -1.0, 1.0)
    (b, e1, e2), (thick, l1, l2) = face.axes, face.halves
    center = face.center + b * (thick * back) - box.center
    c, e, f = ((u.dot(x), w.dot(x), N.dot(x)) for x in (center, e1 * l1, e2 * l2))
    c = (c[0], c[1], c[2] - height)
    found = _polygon(c, e, f, hu, hw)
    points = []
    for du, dw in DIRECTIONS:
        x, y, g = _extreme(found, du, dw)
        points.append((g, box.center + u * x + w * y + N * (height + 0.5 * g)))
    return points, N


def _polygon(c, e, f, hu, hw):
    """Corners of the incident face cut off at the sides of the reference face, each with the condition that it exists.

    Places are (along u, along w, height); c is the center of the incident face, e and f its half edges.
    """
    corners = [
        tuple(z + s * x + t * y for z, x, y in zip(c, e, f, strict=True))
        for s, t in ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))
    ]
    lowest = corners[0]
    for corner in corners[1:]:
        lowest = _chosen(corner[2] < lowest[2], corner, lowest)
    found = [((clamped(lowest[0], hu), clamped(lowest[1], hw), lowest[2]), None)]
    for start, end in zip(corners, (*corners[1:], corners[0]), strict=True):
        step = tuple(y - x for x, y in zip(start, end, strict=True))
        enter, leave = _stretch(start, step, hu, hw)
        found += [(tuple(x + s * d for x, d in zip(start, step, strict=True)), enter <= leave) for s in (enter, leave)]
    scale = 1.0 / (e[0] * f[1] - e[1] * f[0])
    for x, y in ((hu, hw), (-hu, hw), (-hu, -hw), (hu, -hw)):
        p, q = x - c[0], y - c[1]
        s, t = (p * f[1] - q * f[0]) * scale, (q * e[0] - p * e[1]) * scale
        found.append(
            ((x, y, c[2] + s * e[2] + t * f[2]), (absolute(s) <= 1.0 + ALIGNED) & (absolute(t) <= 1.0 + ALIGNED))
        )
    return found


def _stretch(start, step, hu, hw):
    """The part of an edge above the reference face, from 0 to 1 (Liang and Barsky 1984)."""
    enter, leave = 0.0, 1.0
    for x, d, h in zip(start[:2], step[:2], (hu, hw), strict=True):
        forward = d >= 0.0
        d = where(absolute(d) > 1e-12 * h, d, where(forward, 1e-12 * h, -1e-12 * h))
        side = where(forward, h, -h)
        first, last = (-side - x) / d, (side - x) / d
        enter, leave = where(first > enter, first, enter), where(last < leave, last, leave)
    return enter, leave


def _extreme(found, du, dw):
    """The existing point that is farthest in a direction, and low."""
    (best, _), *others = found
    score = RARELY
    for point, exists in others:
        worth = where(exists, point[0] * du + point[1] * dw - DEPTH_WEIGHT * point[2], NEVER)
        better = worth > score
        score, best = where(better, worth, score), _chosen(better, point, best)
    return best


def _edges(A: _Face, B: _Face, R, S, t: Vector3, along_A):
    """Whether two edges are not parallel; of those that separate best the separation, the middle and the normal."""
    exists, best, chosen = None, None, None
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            square = 1.0 - R[i][j] * R[i][j]
            crossed = square > PARALLEL
            scale = 1.0 / sqrt(where(crossed, square, 1.0))
            across = along_A[i2] * R[i1][j] - along_A[i1] * R[i2][j]
            reach = (A.halves[i1] * S[i2][j] + A.halves[i2] * S[i1][j]
                     + B.halves[j1] * S[i][j2] + B.halves[j2] * S[i][j1])  # fmt: skip
            worth = where(crossed, (absolute(across) - reach) * scale, NEVER)
            sign = where(across >= 0.0, scale, -scale)
            entry = (*A.axes[i], *B.axes[j], sign, R[i][j])
            if best is None:
                exists, best, chosen = crossed, worth, entry
                continue
            better = worth > best
            exists, best, chosen = exists | crossed, where(better, worth, best), _chosen(better, entry, chosen)
    a, b, sign, c = Vector3(*chosen[:3]), Vector3(*chosen[3:6]), *chosen[6:]
    n = a.cross(b) * sign
    one, other = _vertex(A, n), _vertex(B, -n)
    d = other - one
    scale = 1.0 / where(exists, 1.0 - c * c, 1.0)
    s, r = (d.dot(a) - c * d.dot(b)) * scale, (c * d.dot(a) - d.dot(b)) * scale
    return exists, best, (one + a * s + other + b * r) * 0.5, n


def _vertex(box: _Face, n: Vector3) -> Vector3:
    """The vertex that is farthest along n."""
    at = box.center
    for axis, half in zip(box.axes, box.halves, strict=True):
        at = at + axis * where(n.dot(axis) >= 0.0, half, -half)
    return at


def _turned(box: _Face, worth, values):
    """The box with the axis of the greatest worth first, and the value of this axis."""
    x, y, z = worth
    first, second = (x >= y) & (x >= z), y >= z

    def chosen(a, b, c):
        return where(first, a, where(second, b, c))

    orders = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    axes = tuple(
        Vector3(*(chosen(*three) for three in zip(*(box.axes[k] for k in order), strict=True))) for order in orders
    )
    halves = tuple(chosen(*(box.halves[k] for k in order)) for order in orders)
    return _Face(box.center, axes, halves), chosen(*values)


def _either(condition, a: _Face, b: _Face) -> _Face:
    axes = tuple(_vector(condition, x, y) for x, y in zip(a.axes, b.axes, strict=True))
    return _Face(_vector(condition, a.center, b.center), axes, _chosen(condition, a.halves, b.halves))


def _vector(condition, a: Vector3, b: Vector3) -> Vector3:
    return Vector3(*_chosen(condition, a, b))


def _chosen(condition, a, b):
    return tuple(where(condition, x, y) for x, y in zip(a, b, strict=True))


def _greatest(values):
    x, y, z = values
    best = where(x > y, x, y)
    return where(best > z, best, z)


def _dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0.0)
