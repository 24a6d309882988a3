"""Sums of products in one chain of fused operations, for the innermost sums of derivatives."""

from __future__ import annotations

from collections.abc import Iterable


def chained(x: Iterable, y: Iterable, total=0.0):
    """``total + x . y``, one fused multiply-add for each pair.

    A spatial scalar product written as the sum of two vector products ends in an addition of its own. Here are so many
    of them that it shows: 7 instead of 6 instructions.
    """
    for x_n, y_n in zip(x, y, strict=True):
        total = total + x_n * y_n
    return total
