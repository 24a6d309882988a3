"""The contact problem of one step in independent parts, of which those that need it are solved exactly.

An island is a set of contacts and bounded rows that act on each other through the bodies that they have in common. A
stack converges slowly by sweeps, because impulses pass through many bodies, and creeps by what they leave. From the
step on where sweeps fail, its island is solved by proximal steps from the last impulses, until it is in quick motion;
all other islands are left to sweeps.

Only contacts that may touch within the step take part; whether all others stay apart is tested at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from kinetree.contact.of_model import bounded_parts
from kinetree.contact.proximal import Island, proximal
from kinetree.integrators.system import dynamics_time

NEAR = 1.0  # [m/s] of separation at the end of a step without impulses: faster contacts are left out at first
STAY = 20  # steps for which an island remains exact
QUICK = 1e-3  # [m/s or rad/s] change of a velocity in a step, above which small errors of it do not matter
PAUSE = 50  # steps that are left to sweeps after one that was not solved
CLOSE = 0.1  # part of the tolerance that is aimed at


class Part(NamedTuple):
    """An island of a step.

    Attributes
    ----------
    rows, places, velocities : array of int
        Its rows, the places of the factor space and the velocities that these act on.
    contacts, bounded : array of int
        Which contacts and bounded rows these are.
    cut : pair of arrays
        The indices of the rows at the places.
    """

    rows: np.ndarray
    places: np.ndarray
    velocities: np.ndarray
    contacts: np.ndarray
    bounded: np.ndarray
    cut: tuple


class ContactIslands:
    """Exact impulses of the islands of a model that sweeps do not solve.

    Parameters
    ----------
    system : System
        The dynamics.

    Attributes
    ----------
    is_possible : bool
        Whether the steps are problems over cones.
    """

    def __init__(self, system) -> None:
        model = self._model = system.model
        yields = any(pair.law == "hunt_crossley" for pair in model.contacts)  # which is no problem over cones
        self.is_possible = bool(model.contacts) and not yields
        self._system, self._terms = system, None
        self._friction = np.array([pair.friction for pair in model.contacts for _ in range(pair.count)], float)
        self._exact = np.zeros(model.nv, int)  # for how many more steps the islands at these places are exact
        self._pause = 0  # how many more steps are left to sweeps
        self._pattern, self._parts = None, []
        self._solved: list[Part] = []

    def reset(self) -> None:
        """Leave all islands to sweeps."""
        self._exact[:], self._pause = 0, 0

    def get_state(self) -> tuple[np.ndarray, int]:
        """For how many more steps islands are exact, and how many are left to sweeps."""
        return self._exact.copy(), self._pause

    def set_state(self, state: tuple[np.ndarray, int]) -> None:
        """Restore a state of `get_state`."""
        self._exact[:], self._pause = state

    @property
    def any_exact(self) -> bool:
        """Whether some islands are to be exact in the next step."""
        return bool(self._exact.any())

    def problem(self, q, v, guess, given) -> Problem:
        """The problem of a step.

        Parameters
        ----------
        q, v : array
            The start of the step; internal states may follow the velocities.
        guess : (n_impulses,) array
            Impulses near those of the step, as of the step before.
        given : tuple
            Joint forces, length of the step [s], and the time, wrenches and inputs of force elements if there are some.
        """
        if self._terms is None:
            self._terms = self._system.function("contact_terms", checks=False)
        (tau, h, *others), nv = given, self._model.nv
        if self._model.nx:
            others.insert(len(dynamics_time(self._model, 0.0)) + self._system.wrenches, v[nv:])
        return Problem(self._terms(q, v[:nv], tau, h, *others), self._friction, guess)

    def are_all_exact(self, problem: Problem) -> bool:
        """Whether no island of a problem needs sweeps."""
        return all(self._exact[part.places].any() for part in self._islands(problem))

    def solved(self, problem: Problem, found, tolerance: float, least: float) -> np.ndarray | None:
        """The impulses of a step; None where they are not within the tolerance.

        Parameters
        ----------
        problem : Problem
        found : (n_impulses,) array
            Impulses by sweeps, those of islands that are not exact.
        tolerance : float
            Of residuals [m/s].
        least : float
            Residual of the sweeps, above which an island becomes exact [m/s].
        """
        if self._pause:
            self._pause -= 1
            return None
        start, swept = problem.guess, problem.split(found)
        problem.add(swept)
        for _ in range(3):
            impulses, self._solved, ended = swept.copy(), [], True
            for part in self._islands(problem):
                island, exact = problem.island(part), bool(self._exact[part.places].any())
                x = (start if exact else swept)[part.rows]
                if exact or island.residual(x) > least:
                    x, size = proximal(island, x, CLOSE * tolerance)
                    ended = ended and size <= tolerance
                    self._solved.append(part)
                impulses[part.rows] = x
                if not ended:
                    self._exact[part.places], self._pause = 0, PAUSE
                    return None
            touching = problem.contacts_below(impulses, -tolerance)
            if not touching.any():
                return problem.joined(impulses)
            problem.chosen |= touching
        return None

    def after(self, v, v_next) -> None:
        """A step has ended: islands in quick motion are left to sweeps after some steps."""
        self._exact = np.maximum(self._exact - 1, 0)
        for part in self._solved:
            if np.abs((v_next - v)[part.velocities]).max(initial=0.0) <= QUICK:
                self._exact[part.places] = STAY
        self._solved = []

    def _islands(self, problem: Problem) -> list[Part]:
        """The islands of the contacts that may touch and of all bounded rows; remembered while none is another one."""
        used = problem.used()
        if self._pattern is None or not np.array_equal(used, self._pattern):
            self._pattern, self._parts = used, list(problem.parts(used))
        return self._parts


class Problem:
    """All contacts and bounded rows of a step; friction and limits of one row are two.

    Attributes
    ----------
    guess : array
        One impulse for each row.
    chosen : (n_contacts,) array of bool
        Contacts that may touch.
    """

    def __init__(self, terms, friction, guess) -> None:
        rows, rates, responses, _, targets, self._compliance, laws = terms
        self._friction, self._count, self._n = friction, len(guess), 3 * len(friction)
        self._b, self._rows, self._responses = rates, rows, responses
        self._numbers, self._bounds = None, np.zeros((0, 2))
        if len(rates) > self._n:
            numbers, shifts, self._bounds = bounded_parts(laws[self._n :], self._n)
            self._numbers = np.concatenate([np.arange(self._n), np.array(numbers, int)])
            self._b, self._rows, self._responses = (x[self._numbers] for x in (rates, rows, responses))
            self._b[self._n :] -= shifts
        self._b[2 : self._n : 3] -= targets
        self.guess = self.split(guess)
        self.chosen = self._b[2 : self._n : 3] < NEAR
        self.add(self.guess)

    def add(self, impulses) -> None:
        """Choose the contacts with normal impulses, too."""
        self.chosen |= impulses[2 : self._n : 3] > 0.0

    def split(self, impulses) -> np.ndarray:
        """Impulses of rows by their parts with bounds of their own."""
        if self._numbers is None:
            return impulses
        rest, parts = impulses.copy(), np.concatenate([impulses[: self._n], np.zeros(len(self._bounds))])
        for k, (row, (least, most)) in enumerate(zip(self._numbers[self._n :], self._bounds, strict=True), self._n):
            parts[k] = min(max(rest[row], least), most)
            rest[row] -= parts[k]
        return parts

    def joined(self, impulses) -> np.ndarray:
        """One impulse of each row of the model."""
        if self._numbers is None:
            return impulses
        joined = np.zeros(self._count)
        np.add.at(joined, self._numbers, impulses)
        return joined

    def used(self) -> np.ndarray:
        """Which places of the factor space contacts that may touch, and bounded rows, act on; (n + m, nv)."""
        used = self._rows != 0.0
        contacts = used[: self._n].reshape(-1, 3, used.shape[1]).any(axis=1) & self.chosen[:, None]
        return np.concatenate([contacts, used[self._n :]])

    def parts(self, used):
        """The islands of rows that act on common places."""
        n = len(self._friction)
        row, place = np.nonzero(used)
        count, size = len(used), len(used) + used.shape[1]
        graph = csr_array((np.ones(len(row)), (row, count + place)), shape=(size, size))
        label = connected_components(graph, directed=False)[1]
        there = used.any(axis=1)
        for each in np.unique(label[:count][there]):
            contacts = np.flatnonzero((label[:n] == each) & there[:n])
            bounded, places = np.flatnonzero(label[n:count] == each), np.flatnonzero(label[count:] == each)
            rows = np.concatenate([(3 * contacts[:, None] + np.arange(3)).ravel(), bounded + self._n])
            velocities = np.flatnonzero(self._responses[rows].any(axis=0))
            yield Part(rows, places, velocities, contacts, bounded, np.ix_(rows, places))

    def island(self, part: Part) -> Island:
        """The rows of an island."""
        given = self._friction[part.contacts], self._compliance[part.contacts], self._bounds[part.bounded]
        return Island(self._rows[part.cut], self._b[part.rows], *given)

    def contacts_below(self, impulses, rate) -> np.ndarray:
        """Whether contacts that were left out have normal rates below a rate [m/s]."""
        if self.chosen.all():
            return ~self.chosen
        normals = slice(2, self._n, 3)
        return (self._rows[normals] @ (impulses @ self._rows) + self._b[normals] < rate) & ~self.chosen
