"""Explicit Runge-Kutta methods on the manifold of the joint positions, one step for all tableaus.

Within a step from q the unknowns are (xi, v) with the position ``q (+) xi``; they live in a vector space, where every
Runge-Kutta method applies unchanged. A step under constant forces is one function (for rollouts); where forces vary
within the step, as in `simulate`, it is made of stages, which are one and the same kernel for all methods of a chart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from kinetree.algorithms.complete import step_accelerations
from kinetree.algorithms.spec import Spec
from kinetree.integrators.charts import EXACT_TANGENT, PRODUCT_GROUP, TRUNCATED_TANGENTS, Chart
from kinetree.integrators.dense import Interpolant
from kinetree.integrators.kernels import END, RUNGE_KUTTA_STAGE, STAGE, axpy, finished, part, whole_step
from kinetree.integrators.tableau_dop853 import DOP853
from kinetree.integrators.tableaus import DP54, KUTTA3, MIDPOINT, PLAIN, RK4, Tableau, weights
from kinetree.once import once


def combined(row: Sequence, slopes: Sequence[Sequence]) -> list:
    """``sum_j a_j k_j`` over scalars; coefficients of zero are skipped."""
    terms = [(float(a), k) for a, k in zip(row, slopes, strict=False) if a]
    return [sum((a * k[n] for a, k in terms[1:]), terms[0][0] * terms[0][1][n]) for n in range(len(terms[0][1]))]


def runge_kutta_step(tableau: Tableau, chart: Chart, model, q, w, tau, dt, f_ext=None, u=None):
    """One step of an explicit Runge-Kutta method under constant forces, over scalars.

    Parameters
    ----------
    tableau : Tableau
    chart : Chart
        The coordinates of the step.
    model, q, w, tau, dt, f_ext, u
        As for `rk4_step`, w being the velocities and the internal states of force elements.

    Notes
    -----
    Source: H. Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Applied Numerical Mathematics 29 (1999).
    """
    x, a = [chart.first(model, q, w[: model.nv])], [step_accelerations(model, q, w, tau, f_ext, u)]
    for i in range(1, tableau.evaluations):
        row, at = tableau.a[i], model.after(dt * float(tableau.c[i]))
        stage = _stage(chart, at, q, w, combined(row, x), combined(row, a), tau, dt, f_ext, u)
        x.append(stage[0])
        a.append(stage[1])
    return _end(chart, model.after(dt), q, w, dt, combined(tableau.b, x), combined(tableau.b, a))


def _stage(chart: Chart, model, q, w, xi_dot, a, tau, h, f_ext=None, u=None):
    """Rates (xi', w') at the stage point q (+) h xi_dot, w + h a."""
    q_stage, w, rate = _point(chart, model, q, w, xi_dot, a, h)
    return rate, step_accelerations(model, q_stage, w, tau, f_ext, u)


def _point(chart: Chart, model, q, w, xi_dot, a, h):
    """The stage point itself, and the rate of xi there: for forces that depend on it."""
    xi, w = [h * x for x in xi_dot], axpy(w, a, h)
    q_stage = chart.move(model, q, xi)
    return q_stage, w, chart.rate(model, q_stage, xi, w[: model.nv])


def _end(chart: Chart, model, q, w, h, x, a):
    """The end of a step: q (+) h x, w + h a."""
    return finished(model, chart.move(model, q, [h * x_k for x_k in x]), axpy(w, a, h))


# Machine code is found by the function's identity, so each is made once.


@once
def step_spec(tableau: Tableau, chart: Chart, name: str) -> Spec:
    """The whole step under constant forces as a function that can be compiled."""

    def step(model, q, v, tau, dt, f_ext=None, u=None):
        return runge_kutta_step(tableau, chart, model, q, v, tau, dt, f_ext, u)

    return whole_step(f"{name}_step", step)


@once
def stage_spec(chart: Chart) -> Spec:
    """A stage with its forces given."""
    if chart is EXACT_TANGENT:
        return RUNGE_KUTTA_STAGE
    return part(f"runge_kutta_stage_{chart.name}", partial(_stage, chart), *STAGE)


@once
def point_spec(chart: Chart) -> Spec:
    """Position, velocity and rate of xi of a stage."""
    inputs, outputs = "q[nq] w[nw] xi_dot[nv] a[nw] h", "q_stage[nq] w_stage[nw] xi_dot_next[nv]"
    point = partial(_point, chart)
    return part(f"runge_kutta_point_{chart.name}", point, inputs, outputs, domains=(), body_frames=None)


@once
def end_spec(chart: Chart) -> Spec:
    """The end of a step from the weighted slopes."""
    end = partial(_end, chart)
    return part(f"runge_kutta_end_{chart.name}", end, "q[nq] w[nw] h x[nv] a[nw]", END, body_frames="loops")


class ExplicitRungeKutta:
    """An explicit Runge-Kutta method with fixed steps; its subclasses have the tableau and the chart.

    Parameters
    ----------
    system : System
        The dynamics.

    Attributes
    ----------
    name : str
    order : int
    algorithm : Spec
        The step under constant forces, for rollouts.
    tableau : Tableau
    chart : Chart

    Examples
    --------
    >>> import kinetree as kt
    >>> heun = kt.integrators.FIXED_STEP["heun"]
    >>> issubclass(heun, kt.integrators.ExplicitRungeKutta), heun.order
    (True, 2)
    >>> heun.tableau.a, heun.tableau.b
    (((), (Fraction(2, 3),)), (Fraction(1, 4), Fraction(3, 4)))
    """

    name: str
    order: int
    algorithm: Spec
    tableau: Tableau
    chart: Chart
    internal_states = True
    explicit = True  # forces that are stiff must be resolved by the step

    def __init__(self, system) -> None:
        nv, nw, numbers = system.model.nv, system.model.nw, weights(self.tableau)
        self._stage = system.function(stage_spec(self.chart), checks=False)
        self._end = system.function(end_spec(self.chart), checks=False)
        self._position = system.function(self.chart.position, checks=False)
        self._end_time = system.end_time if system.model.has_given_motions else None
        stages = self.tableau.evaluations
        self._slopes = K = np.zeros((stages, nv + nw))  # a row per stage: xi', w'
        self._slope = np.zeros(nv + nw)
        self._plan = [(numbers.rows[i], K[:i], numbers.c[i], (K[i, :nv], K[i, nv:])) for i in range(stages)]
        self._sum, self._none = numbers.b, (np.zeros(nv), np.zeros(nw))
        self._h, self._h_array, self._last = None, None, None

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        if h != self._h:  # compiled functions take arrays; the step is almost always the same
            self._h, self._h_array = h, np.array(h)
        step, stage, none, slope = self._h_array, self._stage, self._none, self._slope
        nv = len(none[0])
        x, a = slope[:nv], slope[nv:]
        stage(q, v, *none, tau(t), step, *f_ext(t), out=self._plan[0][3])
        for row, before, c, rates in self._plan[1:]:
            now = t + c * h
            row.dot(before, slope)
            stage(q, v, x, a, tau(now), step, *f_ext(now), out=rates)
        self._sum.dot(self._slopes, slope)
        self._last = t, h, q, v
        return self._end(q, v, step, x, a, *(self._end_time(t + h) if self._end_time else ()))

    def interpolant(self) -> Interpolant | None:
        """The continuous solution over the last step; None if the method has none of its own."""
        dense = weights(self.tableau).dense
        if not len(dense) or len(dense) > len(self._slopes) or self._last is None:
            return None
        t, h, q, v = self._last
        nv = len(self._none[0])
        powers = h * (dense.T @ self._slopes)
        return Interpolant(t, t + h, q, v, powers[:, :nv], powers[:, nv:], self._position, self.tableau.dense_order)


def explicit_method(name: str, tableau: Tableau, chart: Chart = EXACT_TANGENT, doc: str | None = None) -> type:
    """A fixed-step method as a class, from a tableau and a chart.

    Parameters
    ----------
    name : str
        Its name in `simulate` and `rollout`, if it is put into ``FIXED_STEP``.
    tableau : Tableau
    chart : Chart
        The coordinates of the step; by default the joints' exponentials with the exact inverse of their tangent map.
    doc : str, optional
        Its docstring.

    Examples
    --------
    >>> from kinetree.integrators.explicit import explicit_method
    >>> from kinetree.integrators.tableaus import RK38
    >>> explicit_method("my_method", RK38).order
    4
    """
    settings = {
        "__doc__": doc or f"Runge-Kutta method of order {tableau.order}: {tableau.source}.",
        "__module__": __name__,
        "name": name,
        "order": tableau.order,
        "tableau": tableau,
        "chart": chart,
        "algorithm": step_spec(tableau, chart, name),
    }
    return type("".join(part.capitalize() for part in name.split("_")), (ExplicitRungeKutta,), settings)


def _munthe_kaas(order: int, tableau: Tableau) -> type:
    brackets = min(order - 2, 2)
    about = (
        f"Munthe-Kaas' method of order {order} in its classical form: {tableau.name}, the inverse tangent map by its "
        f"series up to {order - 2} bracket{'' if order == 3 else 's'}."
    )
    return explicit_method(f"rkmk{order}", tableau, TRUNCATED_TANGENTS[brackets], about)


METHODS: tuple[Callable, ...] = (
    *(explicit_method(tableau.name, tableau) for tableau in (*PLAIN, DOP853)),
    *(_munthe_kaas(order, tableau) for order, tableau in enumerate((MIDPOINT, KUTTA3, RK4, DP54), 2)),
    explicit_method("terze", RK4, PRODUCT_GROUP, "Terze, Mueller and Zlatar's step of order 4 for unit quaternions."),
)
