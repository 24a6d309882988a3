"""The contact problem of one step by Newton's method, from impulses near the solution.

Sweeps converge slowly where impulses pass through many bodies, as in stacks. At rest the impulses of the last step are
nearly those of this one, so that whole Newton steps end within rounding after a few solutions of linear equations.
Only the contacts that may touch within the step take part; whether all others stay apart is tested at the end.
"""

from __future__ import annotations

import numpy as np

from kinetree.contact.exact import INNER, exact
from kinetree.contact.newton import polished, scaled
from kinetree.contact.of_model import bounded_parts
from kinetree.contact.terms import Terms

NEAR = 1.0  # [m/s] of separation at the end of a step without impulses: faster contacts are left out at first
PROXIMAL = 1e-9, 1e-4  # terms of redundant contacts: nearly none, and one for sets of contacts that are not yet known
STEPS = 12
EXACT = 1e-10  # of the largest free velocity: the residual of exact solutions
CANDIDATES = 10  # starts of those


class ContactNewton:
    """Impulses of steps of a model, given ones near them.

    Parameters
    ----------
    system : System
        The dynamics.
    """

    def __init__(self, system) -> None:
        model = self._model = system.model
        yields = any(pair.law == "hunt_crossley" for pair in model.contacts)  # which is no problem over cones
        self.is_possible = bool(model.contacts) and not (model.time_dependent or model.has_given_motions or yields)
        self._system, self._terms = system, None
        self._friction = np.array([pair.friction for pair in model.contacts for _ in range(pair.count)], float)

    def solved(self, q, v, found, given, tolerance: float, thorough: bool = False) -> np.ndarray | None:
        """Impulses of a step with a residual of at most a tolerance [m/s]; None if Newton's steps do not reach it.

        Parameters
        ----------
        q, v : array
            The start of the step; internal states may follow the velocities.
        found : (n_impulses,) array
            First guess.
        given : tuple
            Joint forces, length of the step [s], and wrenches and inputs of force elements if there are some.
        tolerance : float
        thorough : bool
            Search from many other starts, too, at many times the cost.
        """
        whole, chosen = self._problem(q, v, found, given)
        for _ in range(3):
            impulses = self._impulses(whole, chosen, tolerance, thorough)
            if impulses is None:
                return None
            touching = whole.contacts_below(impulses, -tolerance) & ~chosen
            if not touching.any():
                return whole.joined(impulses)
            chosen |= touching
        return None

    def _problem(self, q, v, found, given):
        """The problem of the step, and which of its contacts may touch."""
        if self._terms is None:
            self._terms = self._system.function("contact_terms", checks=False)
        (tau, h, *others), nv, nx = given, self._model.nv, self._model.nx
        if nx:
            others.insert(int(self._system.wrenches), v[nv:])
        rows, rates, _, _, targets, compliance, laws = self._terms(q, v[:nv], tau, h, *others)
        n = 3 * len(self._friction)
        numbers, shifts, bounds = bounded_parts(laws[n:], n)
        every = np.concatenate([np.arange(n), np.array(numbers, int)])
        b = rates[every]
        b[n:] -= shifts
        b[2:n:3] -= targets
        start = np.concatenate([found[:n], _split(found, numbers, bounds)])
        whole = _Whole(rows[every], b, self._friction, compliance, bounds, start, every, len(found))
        return whole, (start[2:n:3] > 0.0) | (b[2:n:3] < NEAR)

    @staticmethod
    def _impulses(whole, chosen, tolerance, thorough):
        """Impulses of all rows, zero for contacts that are not chosen; None where the tolerance is not reached."""
        terms, here = whole.part(chosen)
        start, impulses = whole.start[here], np.zeros(len(whole.start))
        if thorough:
            x = exact(terms, start, EXACT * (terms.speed or 1.0), CANDIDATES).impulses
            least = terms.worst(x)
        else:
            x, least = newton(terms, start, tolerance)
        impulses[here] = x
        return impulses if least <= tolerance else None


def newton(terms: Terms, start: np.ndarray, tolerance: float) -> tuple[np.ndarray, float]:
    """Impulses by whole Newton steps from a start near them, and their residual [m/s]."""
    problem, roots = scaled(terms)
    best, least = start, np.inf
    for proximal in PROXIMAL:
        x, _ = polished(problem, start / roots, INNER * (problem.speed or 1.0), STEPS, proximal=proximal, damped=False)
        size = terms.worst(roots * x)
        if size < least:
            best, least = roots * x, size
        if least <= tolerance:
            break
    return best, least


class _Whole:
    """The problem of all contacts and bounded rows; friction and limits of one row are two."""

    def __init__(self, rows, b, friction, compliance, bounds, start, numbers, count) -> None:
        self.start, self._rows, self._b, self._bounds, self._numbers = start, rows, b, bounds, numbers
        self._friction, self._compliance, self._count = friction, compliance, count

    def part(self, chosen) -> tuple[Terms, np.ndarray]:
        """The terms of some contacts and of all bounded rows, and the places of their impulses."""
        n = 3 * len(chosen)
        here = np.concatenate([np.flatnonzero(np.repeat(chosen, 3)), np.arange(n, len(self._rows))])
        W, count = self._rows[here], np.count_nonzero(chosen)
        A, normals = W @ W.T, np.arange(2, 3 * count, 3)
        A[normals, normals] += self._compliance[chosen]
        return Terms(A, self._b[here], self._friction[chosen], self._bounds), here

    def contacts_below(self, impulses, rate) -> np.ndarray:
        """Whether the normal rates of contacts are below a rate [m/s]."""
        normals = slice(2, 3 * len(self._friction), 3)
        return self._rows[normals] @ (impulses @ self._rows) + self._b[normals] < rate

    def joined(self, impulses) -> np.ndarray:
        """One impulse of each row."""
        joined = np.zeros(self._count)
        np.add.at(joined, self._numbers, impulses)
        return joined


def _split(found, numbers, bounds) -> np.ndarray:
    """Impulses of rows by their parts with bounds of their own."""
    rest, parts = found.copy(), np.zeros(len(numbers))
    for k, (row, (least, most)) in enumerate(zip(numbers, bounds, strict=True)):
        parts[k] = min(max(rest[row], least), most)
        rest[row] -= parts[k]
    return parts
