"""Paths inside rings in 40 digits: the point of the ring over which the path is shortest, by bisection."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from mpmath import mp, mpf

from kinetree.constraints import Kinematics
from kinetree.tendons import JointTerm, Pulley, WrapShape

DIGITS = 40


def ring_point(a, b, r: float) -> np.ndarray | None:
    """The point at which a path from a to b, (2,) each, touches a circle around the origin; None where it is straight.

    The derivative of the length over the circle between both ends changes its sign once; it is bisected in exact
    arithmetic, so no equation of incidence and no start of an iteration is used.
    """
    with mp.workdps(DIGITS):
        a, b = ([mpf(float(x)) for x in each] for each in (a, b))
        r = mpf(r)
        angles = [mp.atan2(each[1], each[0]) for each in (a, b)]
        turn = (angles[1] - angles[0] + mp.pi) % (2 * mp.pi) - mp.pi
        reach = sum(mp.acos(r / mp.hypot(*each)) for each in (a, b) if mp.hypot(*each) > r)
        if min(mp.hypot(*a), mp.hypot(*b)) <= r or abs(turn) >= reach:
            return None

        def slope(angle):
            p, along = (r * mp.cos(angle), r * mp.sin(angle)), (-mp.sin(angle), mp.cos(angle))
            parts = ([p[k] - each[k] for k in range(2)] for each in (a, b))
            return sum((d[0] * along[0] + d[1] * along[1]) / mp.hypot(*d) for d in parts)

        low, high = sorted((angles[0], angles[0] + turn))
        for _ in range(4 * DIGITS):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        return np.array([float(r * mp.cos(low)), float(r * mp.sin(low))])


def touching(kind: str, a, b, r: float) -> np.ndarray | None:
    """The same in space, (3,), in the coordinates of a sphere, or of a cylinder along the z axis."""
    if kind == "sphere":
        x = a / np.linalg.norm(a)
        y = b - x * (x @ b)
        axes = np.array([x, y / np.linalg.norm(y)])
        found = ring_point(axes @ a, axes @ b, r)
        return None if found is None else found @ axes
    found = ring_point(a[:2], b[:2], r)
    if found is None:
        return None
    legs = np.linalg.norm(a[:2] - found), np.linalg.norm(b[:2] - found)
    return np.array([*found, a[2] + (b[2] - a[2]) * legs[0] / sum(legs)])


def by_rings(model, path, q, v) -> tuple[float, float, bool] | None:
    """Length and rate of a path of points and rings [m, m/s], and whether a ring bends it; None for other paths."""
    if any(isinstance(part, JointTerm) or (isinstance(part, WrapShape) and not part.inside) for part in path):
        return None
    kin = Kinematics(model, q, v)
    length, rate, share, bent, before, ring = 0.0, 0.0, 1.0, False, None, None
    for part in path:
        if isinstance(part, Pulley):
            share, before = 1.0 / part.divisor, None
        elif isinstance(part, WrapShape):
            ring = part
        else:
            point = [np.array(f(part.frame, part.at)) for f in (kin.point, kin.velocity)]
            if before is not None:
                points = [before, point]
                touched = None if ring is None else _on_ring(kin, ring, before[0], point[0])
                if touched is not None:
                    points.insert(1, touched)
                    bent = True
                for (p0, v0), (p1, v1) in pairwise(points):
                    d = np.linalg.norm(p1 - p0)
                    length, rate = length + share * d, rate + share * ((p1 - p0) @ (v1 - v0)) / d
            before, ring = point, None
    return length, rate, bent


def _on_ring(kin, ring, a, b):
    """Position and velocity of the point of the ring's body that the path touches."""
    R, center = np.array(kin.rotation(ring.frame).array()), np.array(kin.point(ring.frame))
    found = touching(ring.kind, R.T @ (a - center), R.T @ (b - center), ring.radius)
    return None if found is None else [np.array(f(ring.frame, found.tolist())) for f in (kin.point, kin.velocity)]
