r"""The convex relaxation of friction: one quadratic program for normal and tangential impulses.

``min lambda^T A lambda / 2 + lambda^T b`` over the cones, or over four-sided pyramids (Sueda, eq. 1.88). Its only
deviation from Coulomb's law: a contact that slides with velocity u_t separates with ``u_n = mu |u_t|``, a gap that
grows with the step and vanishes with it. Impulses always exist where velocities can separate the contacts, and the
velocities are unique.

Source: M. Anitescu, G. D. Hart, A fixed-point iteration approach for multibody dynamics with contact and small friction
(2004); M. Anitescu, Optimization-based simulation of nonsmooth rigid multibody dynamics (2006); Sueda, section 1.13.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from kinetree.contact.admm import in_cones, iterated
from kinetree.contact.exact import INNER, best, pyramids
from kinetree.contact.laws import associated, deviation
from kinetree.contact.newton import scaled
from kinetree.contact.pyramids import pyramid, regular
from kinetree.contact.terms import Found, Terms

SIDES = 4
ADMM = (20, 60), (200, 600, 2000, 6000)
"""Iterations before and after pyramids are tried."""


def anitescu(terms: Terms, start: np.ndarray, tolerance: float, most: int) -> Found:
    """Over the true cones: ADMM, which converges, and Newton's method."""
    problem, roots = scaled(terms)
    limit = tolerance * roots.min(initial=np.inf)  # of the deviation, an impulse in units of mass one

    def error(x):
        return float(np.abs(deviation(problem, x, associated)[0]).max(initial=0.0))

    found = best(_starts(problem, start / roots), problem, associated, error, limit, most)
    return found._replace(impulses=roots * in_cones(problem, found.impulses))


def _starts(problem: Terms, x: np.ndarray) -> Iterator[Found]:
    inner = INNER * (problem.speed or 1.0)
    for few in ADMM:
        for steps in few:
            yield (found := iterated(problem, x, inner, steps, False))._replace(status="near")
            x = found.impulses
        if few is ADMM[0]:
            yield from islice(pyramids(problem, True), 6)


def anitescu_pyramid(terms: Terms, start: np.ndarray, tolerance: float, most: int) -> Found:
    """Over pyramids with edges along t1 and t2, by Lemke's method."""
    problem, roots = scaled(terms)
    found = pyramid(problem, regular(problem, SIDES), True, "lemke")
    return found._replace(impulses=roots * found.impulses)


def lemke_pyramid(terms: Terms, start: np.ndarray, tolerance: float, most: int) -> Found:
    """Coulomb's law with pyramids whose edges are along t1 and t2, by Lemke's method (Stewart and Trinkle 1996)."""
    problem, roots = scaled(terms)
    found = pyramid(problem, regular(problem, SIDES), False, "lemke")
    return found._replace(impulses=roots * found.impulses)
