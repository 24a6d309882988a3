"""Springs between two nodes."""

from __future__ import annotations

from types import MappingProxyType

from kinetree.deformables.contract import ElementLaw
from kinetree.forces.contract import norm
from kinetree.spatial import Vector3


class NodeSpring(ElementLaw):
    """``k (l - L)^2 / 2`` with a damper ``c`` along the line.

    Notes
    -----
    Source: Sueda, eq. 2.85-2.86, with ``k = K / L^2``.
    """

    kind = "spring"
    size = 2
    parameters = MappingProxyType({"stiffness": 1, "rest_length": 1, "damping": 1})
    projection = "radial"

    def strain(self, x, p):
        return [end - start for start, end in zip(*x, strict=True)]

    def energy(self, s, p, fixed):
        stretch = norm(Vector3(*s)) - p.rest_length
        return 0.5 * p.stiffness * stretch * stretch

    def dissipation(self, s, rate, p):
        r = Vector3(*s)
        length = norm(r)
        along = r.dot(Vector3(*rate)) / length
        return 0.5 * p.damping * along * along


SPRING = NodeSpring()
