"""Crouch and Grossman's methods: stages and steps are products of exponentials of frozen velocities.

No tangent map and no commutator is needed; there are more order conditions, so from order 4 on one more stage.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from kinetree.algorithms.complete import step_accelerations
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.spec import Spec
from kinetree.integrators.explicit import combined
from kinetree.integrators.kernels import END, FORCES, axpy, finished, part, whole_step
from kinetree.integrators.tableaus import CG2, CG3, CG4, Tableau, weights
from kinetree.once import once


def crouch_grossman_step(tableau: Tableau, model, q, v, tau, dt, f_ext=None, u=None):
    """One step under constant forces, over scalars: ``q_1 = q exp(h b_1 w_1) exp(h b_2 w_2) ...``.

    Parameters
    ----------
    tableau : Tableau
    model, q, v, tau, dt, f_ext, u
        As for `rk4_step`, with the internal states of force elements after the velocities in v.

    Notes
    -----
    Source: Crouch, Grossman, J. Nonlinear Sci. 3 (1993); Hairer, Lubich, Wanner, Geometric Numerical Integration, IV.8.
    """
    w, a = [v], [step_accelerations(model, q, v, tau, f_ext, u)]
    for i in range(1, tableau.evaluations):
        row, at = tableau.a[i], model.after(dt * float(tableau.c[i]))
        q_stage = _composed(model, q, row, w, dt)
        w.append(axpy(v, combined(row, a), dt))
        a.append(step_accelerations(at, q_stage, w[i], tau, f_ext, u))
    return finished(model.after(dt), _composed(model, q, tableau.b, w, dt), axpy(v, combined(tableau.b, a), dt))


def _composed(model, q, row, w, h):
    """q exp(h a_1 w_1) exp(h a_2 w_2) ..., the first flow first."""
    for coefficient, w_j in zip(row, w, strict=False):
        if coefficient:
            q = integrate(model, q, [h * float(coefficient) * x for x in w_j[: model.nv]])
    return q


# Stages of simulations take the weights as numbers, so one kernel serves all of a method's stages.


@once
def _stage_spec(stages: int) -> Spec:
    """The acceleration at the position reached by the exponentials of the velocities W, weighted by a row."""

    def stage(model, q, W, row, w, tau, h, f_ext=None, u=None):
        return step_accelerations(model, _flown(model, q, row, W, h), w, tau, f_ext, u)

    inputs = f"q[nq] W[#{stages},nw] row[#{stages}] w[nw] tau[nv] h"
    return part(f"crouch_grossman_stage_{stages}", stage, inputs, "a[nw]", FORCES)


@once
def _end_spec(stages: int) -> Spec:
    """The end of a step."""

    def end(model, q, W, row, v_end, h):
        return finished(model, _flown(model, q, row, W, h), v_end)

    inputs = f"q[nq] W[#{stages},nw] row[#{stages}] v_end[nw] h"
    return part(f"crouch_grossman_end_{stages}", end, inputs, END, body_frames="loops")


def _flown(model, q, row, W, h):
    """q exp(h a_1 w_1) exp(h a_2 w_2) ... with weights that are numbers."""
    for a, w in zip(row, W, strict=True):
        q = integrate(model, q, [h * a * x for x in w[: model.nv]])
    return q


@once
def _step_spec(tableau: Tableau) -> Spec:
    return whole_step(f"{tableau.name}_step", partial(crouch_grossman_step, tableau))


class CrouchGrossman:
    """A method of Crouch and Grossman with fixed steps; its subclasses have the tableaus.

    Parameters
    ----------
    system : System
        The dynamics.
    """

    name: str
    order: int
    algorithm: Spec
    tableau: Tableau
    internal_states = True
    explicit = True  # forces that are stiff must be resolved by the step

    def __init__(self, system) -> None:
        nw, numbers, stages = system.model.nw, weights(self.tableau), self.tableau.stages
        self._stage = system.function(_stage_spec(stages), checks=False)
        self._end, self._end_time = system.function(_end_spec(stages), checks=False), system.end_time
        self._velocities, self._slopes = np.zeros((stages, nw)), np.zeros((stages, nw))
        rows = [np.concatenate((row, np.zeros(stages - len(row)))) for row in numbers.rows]
        self._plan = list(zip(rows, numbers.c, self._velocities, self._slopes, strict=True))
        self._sum = numbers.b

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        W, A, stage, step = self._velocities, self._slopes, self._stage, np.array(h)
        W[:], A[:] = 0.0, 0.0  # later stages, whose weights are zero, must be finite
        for row, c, w, a in self._plan:
            now = t + c * h
            w[:] = v + h * row.dot(A)
            a[:] = stage(q, W, row, w, tau(now), step, *f_ext(now))
        return self._end(q, W, self._sum, v + h * self._sum.dot(A), step, *self._end_time(t + h))


def _method(tableau: Tableau) -> type:
    settings = {
        "__doc__": f"Crouch and Grossman's method of order {tableau.order}: {tableau.source}.",
        "__module__": __name__,
        "name": tableau.name,
        "order": tableau.order,
        "tableau": tableau,
        "algorithm": _step_spec(tableau),
    }
    return type(f"CrouchGrossman{tableau.order}", (CrouchGrossman,), settings)


METHODS = tuple(map(_method, (CG2, CG3, CG4)))
