"""Signed distance of a point from solids, with the outward normal at the nearest point of their surface."""

from __future__ import annotations

from kinetree.spatial import Vector3
from kinetree.spatial.scalar import absolute, sqrt, where

TINY = 1e-24
"""Squares of lengths below this have no direction [m^2]."""
STEPS = 12
"""Newton's steps for the nearest point of an ellipsoid; they come to rounding at any place but next to the center."""


def from_sphere(sphere, point: Vector3):
    """At the center the normal is z."""
    (radius,) = sphere.size
    return _from_point(point - sphere.p, radius)


def from_capsule(capsule, point: Vector3):
    """The distance from the segment, less the radius."""
    radius, length = capsule.size
    r, axis = point - capsule.p, capsule.axis(2)
    return _from_point(r - axis * clamped(axis.dot(r), 0.5 * length), radius)


def from_box(box, point: Vector3):
    """Outside that of the nearest point, inside that of the nearest face."""
    r = point - box.p
    axes, halves = [box.axis(k) for k in range(3)], [0.5 * size for size in box.size]
    at = [axis.dot(r) for axis in axes]
    slack = [h - absolute(x) for x, h in zip(at, halves, strict=True)]
    first, second = (slack[0] <= slack[1]) & (slack[0] <= slack[2]), slack[1] <= slack[2]
    least = where(first, slack[0], where(second, slack[1], slack[2]))
    chosen = [where(first, x, where(second, y, z)) for x, y, z in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    inward = [where(x >= 0.0, c, -c) for x, c in zip(at, chosen, strict=True)]
    d, normal = _outside_or_in([x - clamped(x, h) for x, h in zip(at, halves, strict=True)], -least, inward)
    return d, axes[0] * normal[0] + axes[1] * normal[1] + axes[2] * normal[2]


def from_cylinder(cylinder, point: Vector3):
    """Of the nearest point in the half plane through the axis; on the axis this is the one through x."""
    radius, length = cylinder.size
    r, axis = point - cylinder.p, cylinder.axis(2)
    z = axis.dot(r)
    across = r - axis * z
    square = across.dot(across)
    off = square > TINY
    rho = sqrt(where(off, square, 1.0))
    radial = Vector3(*(where(off, a / rho, b) for a, b in zip(across, cylinder.axis(0), strict=True)))
    rho = where(off, rho, 0.0)
    wall, cap = radius - rho, 0.5 * length - absolute(z)
    up, nearer = where(z >= 0.0, 1.0, -1.0), wall <= cap
    inside = [where(nearer, 1.0, 0.0), where(nearer, 0.0, up)]
    beyond = [where(wall < 0.0, -wall, 0.0), z - clamped(z, 0.5 * length)]
    d, normal = _outside_or_in(beyond, where(nearer, -wall, -cap), inside)
    return d, radial * normal[0] + axis * normal[1]


def from_ellipsoid(ellipsoid, point: Vector3):
    """``x_i = e_i^2 y_i / (t + e_i^2)`` for the greatest root t of ``sum (x_i / e_i)^2 = 1``.

    Newton's method from below converges monotonically, since the sum falls and is convex. Source: Eberly (2013),
    "Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid".
    """
    r = point - ellipsoid.p
    axes, e = [ellipsoid.axis(k) for k in range(3)], ellipsoid.size
    y = [axis.dot(r) for axis in axes]  # off the planes of symmetry, where t may be at a pole
    y = [where(absolute(x) > 1e-9 * s, x, where(x >= 0.0, 1e-9 * s, -1e-9 * s)) for x, s in zip(y, e, strict=True)]
    stretched = [absolute(x) * s for x, s in zip(y, e, strict=True)]
    squares = [s * s for s in e]
    starts = [w - s for w, s in zip(stretched, squares, strict=True)]
    t = greatest(greatest(starts[0], starts[1]), starts[2])
    for _ in range(STEPS):
        ratios = [w / (t + s) for w, s in zip(stretched, squares, strict=True)]
        terms = [x * x for x in ratios]
        slope = sum((x / (t + s) for x, s in zip(terms, squares, strict=True)), start=0.0)
        t = t + (terms[0] + terms[1] + terms[2] - 1.0) / (2.0 * slope)
    slope = [x / (t + s) for x, s in zip(y, squares, strict=True)]  # x_i / e_i^2
    g = axes[0] * slope[0] + axes[1] * slope[1] + axes[2] * slope[2]
    size = sqrt(g.dot(g))
    return t * size, g * (1.0 / size)


def from_hull(hull, point: Vector3):
    """The least distance from the triangles of the surface; inside the distance from the nearest plane."""
    y = hull.R.T @ (point - hull.p)
    vertices = [Vector3(*x) for x in hull.vertices]
    inside, normal, nearest, square = None, None, None, None
    for triangle in hull.faces:
        a, b, c = (vertices[k] for k in triangle)
        n = (b - a).cross(c - a)
        n = n * (1.0 / sqrt(n.dot(n)))
        height = n.dot(y - a)
        r = y - _nearest_of_triangle(a, b, c, y)
        d = r.dot(r)
        if inside is None:
            inside, normal, nearest, square = height, n, r, d
            continue
        higher, closer = height > inside, d < square
        inside, normal = where(higher, height, inside), _either(higher, n, normal)
        square, nearest = where(closer, d, square), _either(closer, r, nearest)
    out = (inside > 0.0) & (square > TINY)
    d = sqrt(where(out, square, 1.0))
    return where(out, d, inside), hull.R @ _either(out, nearest * (1.0 / d), normal)


DISTANCES = {
    "sphere": from_sphere,
    "capsule": from_capsule,
    "box": from_box,
    "cylinder": from_cylinder,
    "ellipsoid": from_ellipsoid,
    "hull": from_hull,
}
"""By the kind of the solid."""


def clamped(x, half):
    """x between -half and half."""
    return where(x > half, half, where(x < -half, -half, x))


def greatest(a, b):
    """The greater scalar, without the care for NaN that `kinetree.spatial.scalar.maximum` takes."""
    return where(a > b, a, b)


def _either(condition, a: Vector3, b: Vector3) -> Vector3:
    return Vector3(*(where(condition, x, y) for x, y in zip(a, b, strict=True)))


def _from_point(r: Vector3, radius):
    """From a sphere around the origin."""
    square = r.dot(r)
    away = square > TINY
    d = sqrt(where(away, square, 1.0))
    return where(away, d, 0.0) - radius, _either(away, r * (1.0 / d), Vector3(0.0, 0.0, 1.0))


def _outside_or_in(beyond, depth, inward):
    """Distance and normal: outside by the components beyond the surface, inside those that are given."""
    square = sum((x * x for x in beyond), start=0.0)
    out = square > TINY
    d = sqrt(where(out, square, 1.0))
    return where(out, d, depth), [where(out, x / d, m) for x, m in zip(beyond, inward, strict=True)]


def _nearest_of_triangle(a: Vector3, b: Vector3, c: Vector3, y: Vector3) -> Vector3:
    """The nearest point of a triangle: in its plane, or the nearest one of its sides."""
    n = (b - a).cross(c - a)
    within = None
    nearest, square = None, None
    for p, q in ((a, b), (b, c), (c, a)):
        side, r = q - p, y - p
        left = n.cross(side).dot(r) >= 0.0
        within = left if within is None else within & left
        s = side.dot(r) / side.dot(side)
        x = p + side * where(s > 1.0, 1.0, where(s < 0.0, 0.0, s))
        d = (y - x).dot(y - x)
        if square is None:
            nearest, square = x, d
        else:
            closer = d < square
            nearest, square = _either(closer, x, nearest), where(closer, d, square)
    return _either(within, y - n * (n.dot(y - a) / n.dot(n)), nearest)
