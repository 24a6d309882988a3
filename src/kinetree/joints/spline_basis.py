"""Uniform cubic B-splines over any scalar: the segment of a parameter, and the basis functions there.

Knots lie at 0, 1, 2, ...; on segment k, for q in [k, k + 1), the curve depends on the control values k to k + 3
and on u = q - k alone. The segment is unknown while code is traced: quantities of segments are selected by
comparisons of q with the knots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.spatial.scalar import arctan2, sincos, where

FULL = 2.0 * math.pi


class Segments:
    """Selects quantities of the segment of a parameter.

    Parameters
    ----------
    q : scalar
        The parameter.
    breaks : sequence of float
        Where one segment ends and the next begins, increasing.
    """

    __slots__ = ("conditions",)

    def __init__(self, q, breaks: Sequence[float]) -> None:
        self.conditions = [q < x for x in breaks]

    def choose(self, values: Sequence):
        """The entry of this segment among one value per segment (one more than breaks); equal ones cost nothing."""
        return self._among(values, 0, len(values))

    def _among(self, values, first, last):
        one = values[first]
        if all(x is one or (isinstance(x, float) and isinstance(one, float) and x == one) for x in values[first:last]):
            return one
        middle = (first + last) // 2  # a balanced tree: ceil(log2 n) selections one after the other
        return where(self.conditions[middle - 1], self._among(values, first, middle), self._among(values, middle, last))


def wrapped(q, period: int):
    """q plus whole periods, in [0, period] to rounding; its rate of change is that of q."""
    turn = FULL / period
    s, c = sincos(q * turn)
    return arctan2(-s, -c) / turn + 0.5 * period


def basis(u):
    """The four basis functions of a segment at u in [0, 1], their first and their second derivatives.

    Notes
    -----
    Source: Sueda, eqs. 2.61-2.63, 2.66.
    """
    w = 1.0 - u
    uu, ww = u * u, w * w
    N = (ww * w / 6.0, (4.0 - uu * (6.0 - 3.0 * u)) / 6.0, (4.0 - ww * (6.0 - 3.0 * w)) / 6.0, uu * u / 6.0)
    dN = (-0.5 * ww, u * (1.5 * u - 2.0), w * (2.0 - 1.5 * w), 0.5 * uu)
    ddN = (w, 3.0 * u - 2.0, 3.0 * w - 2.0, u)
    return N, dN, ddN


def cumulative_basis(u):
    """Sums of the last three, two and one basis functions, with their first and second derivatives.

    Notes
    -----
    Source: Sueda, eq. 2.65. The differences of neighboring control values are their coefficients.
    """
    w = 1.0 - u
    uu, ww = u * u, w * w
    B = (1.0 - ww * w / 6.0, (1.0 + u * (3.0 + u * (3.0 - 2.0 * u))) / 6.0, uu * u / 6.0)
    dB = (0.5 * ww, 0.5 + u * w, 0.5 * uu)
    ddB = (-w, 1.0 - 2.0 * u, u)
    return B, dB, ddB
