"""The true cone to rounding: Newton's method from the starts of several other methods, the cheapest first.

Sweeps find which contacts stick, slide and separate in most problems. Where they go in circles (with large friction
and strong coupling, legs that jam), the pyramids of Lemke's method, which always ends, or ADMM, start Newton's method
near a solution. Each candidate is judged by the natural map of the problem, whatever method it is from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kinetree.contact.admm import iterated
from kinetree.contact.laws import Law, coulomb
from kinetree.contact.newton import polished, scaled
from kinetree.contact.pyramids import pyramid, refined, regular
from kinetree.contact.sweeps import block_gauss_seidel
from kinetree.contact.terms import Found, Terms

INNER = 1e-13
"""Tolerance of Newton's method and sweeps, relative to the largest free velocity."""
WHOLE_STEPS = (1e-9, 1e-3)
"""Proximal terms with which Newton's method is tried without damping."""
SWEEPS = (4, 8, 16)
SIDES = (4, 7)
OPENINGS = 0.6 * 0.5 ** np.arange(12)  # rad
LARGEST_PYRAMID = 150  # variables with four sides; beyond, the tableau costs more than ADMM
ADMM = (200, 800, 3000)
LAST_SWEEPS = (200, 1000)


def exact(terms: Terms, start: np.ndarray, tolerance: float, most: int) -> Found:
    """The best impulses of all starts; the first ones within the tolerance end the search."""
    problem, roots = scaled(terms)
    if terms.worst(start) <= 1e-3 * tolerance:
        return Found(start, "solved", 0)
    inner = INNER * (problem.speed or 1.0)

    def error(x):
        return terms.worst(roots * x)

    found = best(_starts(problem, start / roots, inner), problem, coulomb, error, tolerance, most)
    return found._replace(impulses=roots * found.impulses)


def best(
    starts: Iterator[Found], problem: Terms, law: Law, error: Callable, tolerance: float, most: int
) -> Found:
    """The candidate of least error: starts, and the ends of Newton's method from them."""
    inner = INNER * (problem.speed or 1.0)
    chosen, least, total, infeasible = np.zeros(len(problem.b)), np.inf, 0, False
    for candidate, status, count in starts:
        total += count
        infeasible |= status == "infeasible"
        for x in _improved(problem, candidate, inner, law, whole_steps=status != "not_converged"):
            size = error(x)
            if size < least:
                chosen, least = x, size
            if least <= tolerance:
                return Found(chosen, "solved", total)
        if total >= most:
            break
    return Found(chosen, "infeasible" if infeasible else "not_converged", total)


def _improved(problem: Terms, x: np.ndarray, inner: float, law: Law, whole_steps: bool) -> Iterator[np.ndarray]:
    """The candidate, and the ends of Newton's method from it: damped, and from good candidates with whole steps too."""
    yield x
    yield polished(problem, x, inner, law=law)[0]
    if whole_steps:
        for proximal in WHOLE_STEPS:
            yield polished(problem, x, inner, 40, law=law, proximal=proximal, damped=False)[0]


def newton(terms: Terms, start: np.ndarray, tolerance: float, most: int) -> Found:
    """Newton's method alone from the start, damped."""
    problem, roots = scaled(terms)
    x, count = polished(problem, start / roots, INNER * (problem.speed or 1.0), most)
    return Found(roots * x, "solved" if terms.worst(roots * x) <= tolerance else "not_converged", count)


def admm(terms: Terms, start: np.ndarray, tolerance: float, most: int) -> Found:
    """ADMM alone."""
    problem, roots = scaled(terms)
    found = iterated(problem, start / roots, 0.1 * tolerance * roots.min(initial=np.inf), most, True)
    impulses = roots * found.impulses
    return Found(impulses, "solved" if terms.worst(impulses) <= tolerance else "not_converged", found.iterations)


def _starts(problem: Terms, start: np.ndarray, inner: float) -> Iterator[Found]:
    if start.any():
        yield Found(start, "given", 0)
    x = start
    for sweeps in SWEEPS:
        yield (found := block_gauss_seidel(problem, x, inner, sweeps))
        x = found.impulses
    for found in pyramids(problem, False):
        yield found
        if found.status == "infeasible":
            return
    for steps in ADMM:
        yield iterated(problem, x, inner, steps, True)
    for sweeps in LAST_SWEEPS:
        yield (found := block_gauss_seidel(problem, x, inner, sweeps, 0.5))
        x = found.impulses


def pyramids(problem: Terms, convex: bool) -> Iterator[Found]:
    """Regular pyramids, then such with further directions around the tangential impulses of the last solution."""
    if 6 * problem.count + 2 * len(problem.bounds) > LARGEST_PYRAMID:
        return
    for sides in SIDES:
        yield (found := pyramid(problem, regular(problem, sides), convex, "lemke"))
        for opening in OPENINGS:
            if found.status != "solved":
                return
            yield (found := pyramid(problem, refined(problem, sides, found.impulses, opening), convex, "lemke"))
