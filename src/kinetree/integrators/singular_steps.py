"""Fixed steps of mechanisms with loops through singular positions, found by the pivots of their rows.

A singular position lies about a step where the square root of the smallest pivot, which is the distance to it, is not
larger than three times its change in a step. Such steps are made by the model that `Model.passing` gives, divided so
that nothing turns by more than 0.02 rad. Elsewhere the pivots are needed every few steps only, the more so the farther
the singular position is at the present speed and acceleration.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from kinetree.algorithms.constraint_rows import constraint_bias, constraint_jacobian
from kinetree.algorithms.singular_positions import pivots_around
from kinetree.errors import SingularityError
from kinetree.integrators.kernels import part
from kinetree.integrators.system import System

STEPS, MANY = 3.0, 100  # the distance in steps, within which they are special; most steps between two choices
AT_REST = 1e-6  # distances that are rounding, also at rest
TURN, MOST = 0.02, 64  # [rad, m] in each part of a special step; parts at most
MISFIT = 1e-3  # of the squared speed: larger accelerations of rows that no joint moves
ALIKE = 10.0  # times the least singular value: rows that lose rank together
SHOWN = 6  # notes at most
AROUND = part("pivots_around", pivots_around, "q[nq] v[nw] h", "here ahead behind", body_frames="loops")


class Passage:
    """A singular position of a run.

    Attributes
    ----------
    first, last : float
        Times of the first and of the last step that were special [s].
    time : float
        Time of the nearest one [s].
    distance : float
        From the singular position there, about [rad].
    q, v : numpy.ndarray
        State there.
    """

    def __init__(self, t: float, distance: float, q, v) -> None:
        self.first = self.last = self.time = t
        self.distance, self.q, self.v = distance, q, v

    def add(self, t: float, distance: float, q, v) -> None:
        """A further step."""
        self.last = t
        if distance < self.distance:
            self.time, self.distance, self.q, self.v = t, distance, q, v

    def described(self, model) -> str:
        """A note on it, with the loops whose rows depend on each other."""
        model = model.at(self.time)
        choice, labels = model.loop_rows(), model.constraint_labels
        numbers = [n for n in choice.kept if n in choice.typical]
        sizes = np.array([choice.natural[n] or 1.0 for n in numbers])
        K = np.array(constraint_jacobian(model, self.q.tolist()))[numbers] / sizes[:, None]
        U, s, _ = np.linalg.svd(K, full_matrices=False)
        lost = s <= max(ALIKE * s[-1], AT_REST)
        share = np.abs(U[:, lost]).max(axis=1)
        loops = dict.fromkeys(labels[n] for n, x in zip(numbers, share, strict=True) if x > 0.1)
        count = int(lost.sum())
        rows = f"{count} row{'s' * (count > 1)}"
        text = f"singular position near t = {self.time:.6g} s, loop{'s' * (len(loops) > 1)} "
        text += f"{', '.join(map(repr, loops))}: {rows} dependent on others"
        speed = np.abs(self.v).max()
        if not speed > AT_REST:
            return f"{text}; at rest there: accelerations are those of least constraint forces"
        bias = np.array(constraint_bias(model, self.q.tolist(), self.v.tolist()))[numbers] / sizes
        if self.distance <= AT_REST and np.abs(bias @ U[:, lost]).max() > MISFIT * speed**2:
            return f"{text}; no motion through it has the velocities there, which change by impulses of the loops"
        return text


class Passages:
    """The singular positions of a run, in order.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model) -> None:
        self._model, self._found = model, []

    def add(self, t, h, distance, q, w) -> None:
        """Add the state at the beginning of a special step of length h [s]."""
        v = w[: self._model.nv]
        if self._found and t <= self._found[-1].last + 2.0 * h:
            self._found[-1].add(t, distance, q.copy(), v.copy())
        else:
            self._found.append(Passage(t, distance, q.copy(), v.copy()))

    def extend(self, later: Passages) -> None:
        """Add those of a part of the run that follows."""
        self._found += later._found

    def restart(self, t: float) -> None:
        """Continue from time t [s]."""
        self._found = [x for x in self._found if x.first < t]

    def near(self, times) -> np.ndarray:
        """Which of these times [s] are those of special steps."""
        found = np.zeros(len(times), bool)
        for x in self._found:
            found |= (times >= x.first) & (times <= x.last)
        return found

    @property
    def notes(self) -> list[str]:
        """A note on each, but not on too many."""
        found = [x.described(self._model) for x in self._found[:SHOWN]]
        more = len(self._found) - len(found)
        return [*found, f"{more} more singular position{'s' * (more > 1)}"] if more else found


class Distance:
    """The distance of states from a singular position: ``distance(t, h, q, w)`` and its change in a step h [s].

    Parameters
    ----------
    system : System
    """

    def __init__(self, system) -> None:
        self._system, self._around = system, system.function(AROUND, checks=False)

    def __call__(self, t, h, q, w) -> tuple[float, float]:
        try:
            around = self._around(q, w, np.array(h), *self._system.end_time(t))
        except SingularityError:  # of algorithms that are not compiled
            return 0.0, 0.0
        now, ahead, behind = (math.sqrt(x) if x > 0.0 else 0.0 for x in around)
        # At a maximum of the distance its change is that of the angle.
        turned = math.sqrt(abs(ahead - 2.0 * now + behind) * now)
        return min(now, ahead), max(abs(ahead - now), abs(now - behind), turned)


def regular_or_passing(system, q) -> System:
    """The system, or at a singular position that of steps through it, whose projections are finite there."""
    distance, _ = Distance(system)(0.0, 0.0, q, np.zeros(system.model.nw))
    return system if distance > AT_REST else passing(system)


def passing(system) -> System:
    """The system of steps through singular positions."""
    return System(system.model.passing(), system.wrenches)


def sampled_dynamics(system, spec, arguments, singular=None, checks=False):
    """Results of the dynamics at samples, next to singular positions by the system of singular steps.

    Parameters
    ----------
    system : System
    spec : Spec
        The dynamics.
    arguments : sequence of arrays
        States of the samples, and the other arguments, by samples or for all of them.
    singular : (T,) array of bool, optional
        Samples next to singular positions, besides those without a finite result.
    checks : bool
        Whether states that are none of this model are an error, where the model has no loops.
    """
    found = system.function(spec, checks=checks and not system.has_loops)(*arguments)
    if not system.has_loops:
        return found
    results, (q, v) = found if isinstance(found, tuple) else (found,), arguments[:2]
    finite = np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1)
    bad = finite & ~np.logical_and.reduce([np.isfinite(x).all(axis=-1) for x in results])
    bad |= False if singular is None else singular & finite
    if not bad.any():
        return found
    function = passing(system).function(spec, checks=False)
    again = function(*(np.ascontiguousarray(x[bad]) if len(x.shape) and len(x) == len(q) else x for x in arguments))
    results = [np.array(x) for x in results]
    for x, new in zip(results, again if isinstance(again, tuple) else (again,), strict=True):
        x[bad] = new
    return results if isinstance(found, tuple) else results[0]


def passes_singular(method) -> bool:
    """Whether steps of a method have a form for singular positions: explicit ones, and semi-implicit Euler."""
    return bool(getattr(method, "explicit", False)) or getattr(method, "name", "") == "semi_implicit"


class SingularSteps:
    """A step with loops, and another one next to singular positions.

    Parameters
    ----------
    stepper : object
        The step of the method; its other attributes are attributes here, too.
    method : callable
        ``method(system)`` makes the step.
    system : System

    Attributes
    ----------
    passages : Passages
        Since the beginning.
    """

    def __init__(self, stepper, method, system) -> None:
        self._inner, self._method, self._system = stepper, method, system
        self._step, self._special = stepper.step, None
        self._distance = Distance(system)
        self._now, self._clear, self._next, self.passages = self._step, 0, 0.0, Passages(system.model)
        self._before, self._since, self._chosen = np.zeros(system.model.nv), 1.0, 1

    def __getattr__(self, name: str):
        if name == "_inner":  # of an object that is being made from a pickle
            raise AttributeError(name)
        return getattr(self._inner, name)

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        if not self._clear or abs(t - self._next) > 0.5 * h:  # the latter after a restart
            self._now, self._clear = self.choose(t, h, q, v)
        self._clear, self._next = self._clear - 1, t + h
        return self._now(t, h, q, v, tau, f_ext)

    def choose(self, t, h, q, v) -> tuple[Callable, int]:
        """The step to take from a state, as `step`, and how many steps until the next choice."""
        distance, change = self._distance(t, h, q, v)
        speeds = v[: self._system.model.nv]
        acceleration = float(np.abs(speeds - self._before).max()) / self._since
        if distance > STEPS * change and distance > AT_REST:
            steps = MANY if change <= 0.0 else 0.1 * (distance / change - STEPS)
            if acceleration > 0.0:
                steps = min(steps, math.sqrt(0.1 * distance / acceleration) / h)
            steps = max(1, int(min(steps, 2 * self._chosen, MANY)))
            self._before, self._since, self._chosen = speeds.copy(), steps * h, steps
            return self._step, steps
        self._before, self._since, self._chosen = speeds.copy(), h, 1
        if not np.isfinite(v).all():
            return self._step, 1
        self.passages.add(t, h, distance, q, v)
        return self._singular_step, 1

    def _singular_step(self, t, h, q, v, tau, f_ext):
        """A step next to a singular position, in parts."""
        if self._special is None:
            self._special = self._method(passing(self._system)).step
        fastest = float(np.abs(v[: self._system.model.nv]).max())
        parts = min(MOST, max(1, math.ceil(min(h * fastest / TURN, MOST))))
        for n in range(parts):
            q, v = self._special(t + n * h / parts, h / parts, q, v, tau, f_ext)
        return q, v
