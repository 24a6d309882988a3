"""Springs between two nodes, and the resistance of strands against bending."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from kinetree.deformables.body import Elements
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


class Bending(ElementLaw):
    """``c |x0 - 2 x1 + x2|^2 / 2`` of three nodes in a row, which resists bending of equal segments.

    Notes
    -----
    The curvature of segments of length l is ``|x0 - 2 x1 + x2| / l^2``, so ``c = EI / l^3`` gives ``EI kappa^2 l / 2``
    of small angles, for any rotation. Large angles between two segments are resisted less, and unequal stretches of
    both are resisted, too.
    """

    kind = "bending"
    size = 3
    parameters = MappingProxyType({"stiffness": 1})

    def strain(self, x, p):
        return [a - 2.0 * b + c for a, b, c in zip(*x, strict=True)]

    def energy(self, s, p, fixed):
        return 0.5 * p.stiffness * sum(x * x for x in s)


SPRING = NodeSpring()
BENDING = Bending()


def springs_between(nodes, pairs, stiffness, damping, rest_lengths=None) -> Elements:
    """Springs with dampers between pairs of nodes.

    Parameters
    ----------
    nodes : (n, 3) array
        Positions [m].
    pairs : (m, 2) array of int
        Nodes of each spring.
    stiffness, damping : float or (m,) array
        [N/m], [N s/m]
    rest_lengths : float or (m,) array, optional
        [m]; default: the distances of the nodes.

    Returns
    -------
    Elements
    """
    if rest_lengths is None:
        rest_lengths = np.linalg.norm(nodes[pairs[:, 1]] - nodes[pairs[:, 0]], axis=1)
    columns = [np.broadcast_to(x, len(pairs)) for x in (stiffness, rest_lengths, damping, 0.0)]
    return Elements(SPRING, pairs, np.column_stack(columns))
