"""Plane and box."""

from __future__ import annotations

from kinetree.collision.laws import between, pair_law
from kinetree.spatial.scalar import absolute, where


@pair_law("plane", "box", count=4)
def plane_box(plane, box):
    """The corners of the lowest face.

    Of the three half edges, each turned upward, the one that rises most leads from the lowest face to the opposite
    one. The corners are the center of this face and all sums of the other two half edges.
    """
    n = plane.axis(2)
    edges = [box.axis(k) * (0.5 * size) for k, size in enumerate(box.size)]
    rises = [n.dot(edge) for edge in edges]
    height = n.dot(box.p - plane.p)
    a, b, c = map(absolute, rises)
    first = (a >= b) & (a >= c)
    second = b >= c

    def chosen(of_x, of_y, of_z):
        return where(first, of_x, where(second, of_y, of_z))

    def edge(i, j, k):
        return type(n)(*(chosen(*three) for three in zip(edges[i], edges[j], edges[k], strict=True)))

    rise = chosen(*rises)
    up = where(rise >= 0.0, 1.0, -1.0)
    steep, *flat = edge(0, 1, 2), edge(1, 2, 0), edge(2, 0, 1)
    (u, u_rise), (w, w_rise) = ((flat[0], chosen(rises[1], rises[2], rises[0])),
                                (flat[1], chosen(rises[2], rises[0], rises[1])))  # fmt: skip
    center, low = box.p - steep * up, height - rise * up
    return [
        between(low + s * u_rise + t * w_rise, center + u * s + w * t, n)
        for s, t in ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))
    ]
