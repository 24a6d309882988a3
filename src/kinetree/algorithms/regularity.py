"""Whether the joint-space inertia has an inverse: every pivot of a factorization against the inertia it came from.

A mechanism with massless bodies has positions where some of its joints move no mass together: three hinges about x, y
and z with one body at their end, the second at a right angle. There a pivot D of the articulated-body algorithm (or of
a factorization of M) is a rounded zero. It is compared with the largest value that it could have, which depends on the
model's numbers alone and costs a comparison per velocity.

A traced pivot is collected for the checks of the compiled function; numbers are checked at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from kinetree.errors import SingularityError
from kinetree.spatial.scalar import where

SINGULAR = 1e-15
"""A pivot below this part of its scale is singular: the subtractions behind it leave four rounding units and more."""


class Pivots:
    """The pivots of one run of an algorithm.

    Parameters
    ----------
    long : bool
        Whether the trace is to be lowered in pieces, which pass floats and no truth values: then each pivot extends
        a number, so that a long chain repeats the same operations.

    Attributes
    ----------
    pairs : list
        ``(pivot, scale)`` of each, in order.
    """

    __slots__ = ("_long", "_violated", "pairs")

    def __init__(self, long: bool) -> None:
        self.pairs, self._long, self._violated = [], long, None

    def add(self, pivot, scale, violated) -> None:
        """Add a pivot."""
        self.pairs.append((pivot, scale))
        if self._long:
            self._violated = where(violated, 1.0, 0.0 if self._violated is None else self._violated)
        else:
            self._violated = violated if self._violated is None else self._violated | violated

    @property
    def violated(self):
        """Whether one of them is singular; None if there are none."""
        return self._violated > 0.5 if self._long and self.pairs else self._violated


_pivots: ContextVar[Pivots | None] = ContextVar("kinetree_pivots", default=None)


@contextmanager
def collected_pivots(long: bool = False) -> Iterator[Pivots]:
    """Receives all pivots in this context, which are then no error, unless they are floats."""
    token = _pivots.set(found := Pivots(long))
    try:
        yield found
    finally:
        _pivots.reset(token)


def singular(pivot, scale):
    """Whether a pivot is zero to working precision; false for NaN, which is an error of its own."""
    return pivot <= (0.0 if pivot is scale else scale * SINGULAR)


def require_regular(pivot, scale) -> None:
    """Raise SingularityError for a pivot that is zero to working precision.

    Parameters
    ----------
    pivot, scale : scalar
        The pivot, and the inertia from which others were subtracted to get it.

    Raises
    ------
    SingularityError
        It is zero, in one of the states if the scalars are arrays.
    """
    violated = singular(pivot, scale) if getattr(pivot, "constant", None) != 0.0 else True
    fixed = getattr(violated, "constant", violated)  # of a traced one, if it folded to a truth value
    found = _pivots.get()
    if isinstance(fixed, np.ndarray) and fixed.ndim and found is None:
        fixed = bool(np.any(fixed))
    if isinstance(fixed, (bool, np.bool_)):
        if fixed:
            raise SingularityError("the joint-space inertia has no inverse.")
    elif found is not None:
        found.add(pivot, scale, violated)


def inertia_scales(model) -> list:
    """For each velocity the inertia that it moves where the tree is stretched out: numbers of the model alone.

    Returns
    -------
    list of nv scalars
        ``S . I S`` of the joint's own body, and of all distal bodies their mass times the squared length of the path
        to them, in squares (joints that slide are taken at zero), and the sum of their principal moments.
    """
    planar = model.algebra.turns == 1
    scales, turning, mass = [0.0] * model.nv, [0.0] * model.nb, [0.0] * model.nb  # of the bodies distal to each
    for i in model.inward():
        joint, I, p, step = model.joints[i], model.I[i], model.parent[i], model.X_T[i].r
        for k, S_k in enumerate(joint.motion_subspace(joint.neutral()), model.v_slice[i].start):
            w, l = S_k.angular, S_k.linear
            scales[k] = S_k.dot(I @ S_k) + (w * w if planar else w.dot(w)) * turning[i] + l.dot(l) * mass[i]
        distal = mass[i] + I.m
        turning[p] = turning[p] + turning[i] + (I.I if planar else I.I.trace) + distal * step.dot(step)
        mass[p] = mass[p] + distal
    return scales
