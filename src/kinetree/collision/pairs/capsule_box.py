"""Capsule and box: the closest points of segment and box, or the axis that separates them least."""

from __future__ import annotations

from kinetree.collision.laws import ContactPoint, pair_law
from kinetree.collision.point_distance import TINY, clamped
from kinetree.spatial.scalar import absolute, sqrt, where

PARALLEL = 1e-10
"""Squared sine of the angle between axis and edge that count as parallel."""
FLAT = 1e-12
"""Least slope of the axis towards a face, by which places are divided."""
NEVER = -1e9


@pair_law("capsule", "box", count=2)
def capsule_box(capsule, box):
    """The closest points, and the end of the stretch over the face there that is farther from them.

    The half squared distance of a point from the box is convex along the segment, and its slope is linear between the
    planes of the faces: so the least distance is where the line between the last slope below zero and the first one
    above crosses zero. Where the segment itself is in the box, the normal is the axis that separates both least, of the
    three of the faces and their products with the axis of the capsule.

    The gap of the second point changes as its place slides along the segment: that adds the tilt times the sliding
    velocity to its rate.
    """
    radius, length = capsule.size
    half, halves = 0.5 * length, [0.5 * size for size in box.size]
    r, axis = capsule.p - box.p, capsule.axis(2)
    axes = [box.axis(k) for k in range(3)]
    c, a = ([e.dot(x) for e in axes] for x in (r, axis))
    t = _closest(c, a, half, halves)
    beyond = _beyond(c, a, t, halves)
    apart = sum((x * x for x in beyond), start=0.0) > TINY
    separation, normal, crossed = _least_separation(c, a, half, halves)
    # Inside of the box: a crossed edge, or the end of the segment that is deepest below a face.
    along = sum((x * y for x, y in zip(a, normal, strict=True)), start=0.0)
    t = where(apart, t, where(crossed, _at_edge(c, a, half, halves, normal), where(along >= 0.0, -half, half)))
    face = [where(apart, absolute(x), absolute(n)) for x, n in zip(beyond, normal, strict=True)]
    other = _far_end(c, a, t, half, halves, face)
    other = where(apart, other, where(crossed, t, other))
    found = []
    for at in (t, other):
        out = _beyond(c, a, at, halves)
        square = sum((x * x for x in out), start=0.0)
        free = square > TINY
        d = sqrt(where(free, square, 1.0))
        # Of a segment in the box the depths of both points are along one normal.
        depth = separation + (at - t) * along
        outward = [where(apart & free, x / d, n) for x, n in zip(out, normal, strict=True)]
        n = axes[0] * outward[0] + axes[1] * outward[1] + axes[2] * outward[2]
        d = where(apart, where(free, d, 0.0), depth)
        found.append(ContactPoint(d - radius, capsule.p + axis * at - n * (0.5 * (radius + d)), -n))
    return found


def _beyond(c, a, t, halves) -> list:
    """How far a place of the segment is beyond the box along its axes."""
    at = [x + y * t for x, y in zip(c, a, strict=True)]
    return [x - clamped(x, h) for x, h in zip(at, halves, strict=True)]


def _closest(c, a, half, halves):
    """The place on the segment that is closest to the box; of a stretch of them one end."""
    ends = [(t, _slope(c, a, t, halves)) for t in (-half, half)]
    low, high = ends
    for x, y, h in zip(c, a, halves, strict=True):
        y = where(absolute(y) > FLAT, y, where(y >= 0.0, FLAT, -FLAT))
        for side in (h, -h):
            t = clamped((side - x) / y, half)
            slope = _slope(c, a, t, halves)
            later, earlier = (slope <= 0.0) & (t > low[0]), (slope >= 0.0) & (t < high[0])
            low = tuple(where(later, new, old) for new, old in zip((t, slope), low, strict=True))
            high = tuple(where(earlier, new, old) for new, old in zip((t, slope), high, strict=True))
    # Ends that already rise, or still fall, are the closest places themselves.
    (first, rising), (last, falling) = ends[0], ends[1]
    rise = where(high[1] - low[1] > 0.0, high[1] - low[1], 1.0)
    between = low[0] + (high[0] - low[0]) * where(high[0] > low[0], -(low[1] / rise), 0.0)
    return where(rising >= 0.0, first, where(falling <= 0.0, last, between))


def _slope(c, a, t, halves):
    return sum((y * x for y, x in zip(a, _beyond(c, a, t, halves), strict=True)), start=0.0)


def _least_separation(c, a, half, halves):
    """The greatest separation along an axis (negative), the outward normal there, and whether it is crossed edges."""
    best, normal = None, None
    for k in range(3):
        separation = absolute(c[k]) - halves[k] - half * absolute(a[k])
        side = where(c[k] >= 0.0, 1.0, -1.0)
        n = tuple(side if j == k else 0.0 for j in range(3))
        better = True if best is None else separation > best
        best = separation if best is None else where(better, separation, best)
        normal = n if normal is None else tuple(where(better, x, y) for x, y in zip(n, normal, strict=True))
    crossed = None
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        square = a[i] * a[i] + a[j] * a[j]
        there = square > PARALLEL
        scale = 1.0 / sqrt(where(there, square, 1.0))
        x, y = a[j] * scale, -(a[i] * scale)  # the product of the axis and that of the box
        across = c[i] * x + c[j] * y
        side = where(across >= 0.0, 1.0, -1.0)
        separation = where(there, absolute(across) - halves[i] * absolute(x) - halves[j] * absolute(y), NEVER)
        n = [0.0, 0.0, 0.0]
        n[i], n[j] = side * x, side * y
        better = separation > best
        crossed = better if crossed is None else crossed | better
        best = where(better, separation, best)
        normal = tuple(where(better, new, old) for new, old in zip(n, normal, strict=True))
    return best, normal, crossed


def _at_edge(c, a, half, halves, normal):
    """The place of the segment that is closest to the edge which is farthest along a normal across both."""
    top, below = 0.0, 0.0
    along = _greatest([-absolute(n) for n in normal])
    for x, y, h, n, pick in zip(c, a, halves, normal, along, strict=True):
        y, corner = pick(0.0, y), where(n >= 0.0, h, -h)
        top, below = top + y * (corner - x), below + y * y
    return clamped(top / where(below > PARALLEL, below, 1.0), half)


def _far_end(c, a, t, half, halves, face):
    """Of the stretch of the segment over the face with the greatest weight the end that is farther from a place."""
    enter, leave = -half, half
    for x, y, h, pick in zip(c, a, halves, _greatest(face), strict=True):
        y = where(absolute(y) > FLAT, y, where(y >= 0.0, FLAT, -FLAT))
        ends = (-h - x) / y, (h - x) / y
        forward = y >= 0.0
        into, out = where(forward, ends[0], ends[1]), where(forward, ends[1], ends[0])
        enter = pick(enter, where(into > enter, into, enter))
        leave = pick(leave, where(out < leave, out, leave))
    far = where(absolute(leave - t) >= absolute(t - enter), leave, enter)
    return where(leave >= enter, far, t)


def _greatest(weights) -> list:
    """For each of three a function that gives its first argument where that one has the greatest weight."""
    first = (weights[0] >= weights[1]) & (weights[0] >= weights[2])
    second = weights[1] >= weights[2]
    return [
        lambda a, b: where(first, a, b),
        lambda a, b: where(first, b, where(second, a, b)),
        lambda a, b: where(first, b, where(second, b, a)),
    ]
