"""Crouch and Grossman's methods: stages and steps are made of exponentials, one after the other, of frozen velocities.

No tangent map and no commutator is needed; the price are further order conditions, so from order 4 on a stage more.
"""

from __future__ import annotations

import functools

import numpy as np

from kinetree.algorithms.complete import COMPLETE, forward_dynamics
from kinetree.algorithms.domain import UNIT_QUATERNIONS
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.spec import Spec
from kinetree.integrate.explicit import STEP_INPUTS, STEP_OUTPUTS, combined
from kinetree.integrate.kernels import _moved, _settled
from kinetree.integrate.tableaus import CG2, CG3, CG4, Tableau, weights


def crouch_grossman_step(tableau: Tableau, model, q, v, tau, dt, f_ext=None):
    """One step under constant forces, over scalars: ``q_1 = q exp(h b_1 w_1) exp(h b_2 w_2) ...``.

    Parameters
    ----------
    tableau : Tableau
    model, q, v, tau, dt, f_ext
        As for `rk4_step`.

    Notes
    -----
    Source: Crouch, Grossman, J. Nonlinear Sci. 3 (1993); Hairer, Lubich, Wanner, Geometric Numerical Integration, IV.8.
    """
    w, a = [v], [forward_dynamics(model, q, v, tau, f_ext)]
    for i in range(1, tableau.evaluations):
        row, at = tableau.a[i], model.after(dt * float(tableau.c[i]))
        q_stage = _composed(model, q, row, w, dt)
        w.append(_moved(v, combined(row, a), dt))
        a.append(forward_dynamics(at, q_stage, w[i], tau, f_ext))
    return _settled(model, _composed(model, q, tableau.b, w, dt), _moved(v, combined(tableau.b, a), dt))


def _composed(model, q, row, w, h):
    """q exp(h a_1 w_1) exp(h a_2 w_2) ..., the first flow first."""
    for coefficient, w_j in zip(row, w, strict=False):
        if coefficient:
            q = integrate(model, q, [h * float(coefficient) * x for x in w_j])
    return q


def _end(model, q, v, dv, v_end):
    """The last exponential of a step."""
    return _settled(model, integrate(model, q, dv), v_end)


_END = Spec(
    name="crouch_grossman_end",
    function=_end,
    inputs={"q": ("nq",), "v": ("nv",), "dv": ("nv",), "v_end": ("nv",)},
    optional={},
    outputs=STEP_OUTPUTS,
    domains=(UNIT_QUATERNIONS,),
    body_frames=None,
)


@functools.cache
def _step_spec(tableau: Tableau) -> Spec:
    def step(model, q, v, tau, dt, f_ext=None):
        return crouch_grossman_step(tableau, model, q, v, tau, dt, f_ext)

    step.__name__ = f"{tableau.name}_step"
    return Spec(step.__name__, step, STEP_INPUTS, {"f_ext": ("nb", 6)}, STEP_OUTPUTS, domains=COMPLETE)


class CrouchGrossman:
    """A method of Crouch and Grossman with fixed steps; its subclasses say which.

    Parameters
    ----------
    system : System
        The dynamics.
    """

    __slots__ = ("_c", "_dynamics", "_end", "_integrate", "_rows", "_slopes", "_sum", "_velocities")

    name: str
    order: int
    algorithm: Spec
    tableau: Tableau
    explicit = True  # forces that are stiff must be resolved by the step

    def __init__(self, system) -> None:
        nv, numbers, stages = system.model.nv, weights(self.tableau), self.tableau.stages
        self._dynamics = system.function("forward_dynamics", checks=False)
        self._integrate = system.function("integrate", checks=False)
        self._end = system.function(_END, checks=False)
        self._rows, self._c, self._sum = numbers.rows, numbers.c, numbers.b
        self._velocities, self._slopes = np.zeros((stages, nv)), np.zeros((stages, nv))

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        W, A, dynamics = self._velocities, self._slopes, self._dynamics
        for i, row in enumerate(self._rows):
            now = t + self._c[i] * h
            W[i] = v + h * np.dot(row, A[:i])
            A[i] = dynamics(self._composed(q, row, h), W[i], tau(now), *f_ext(now))
        b = self._sum
        return self._end(self._composed(q, b[:-1], h), v, h * b[-1] * W[-1], v + h * np.dot(b, A))

    def _composed(self, q, row, h):
        for j, coefficient in enumerate(row):
            if coefficient:
                q = self._integrate(q, h * coefficient * self._velocities[j])
        return q


def _method(tableau: Tableau) -> type:
    settings = {
        "__slots__": (),
        "__doc__": f"Crouch and Grossman's method of order {tableau.order}: {tableau.source}.",
        "__module__": __name__,
        "name": tableau.name,
        "order": tableau.order,
        "tableau": tableau,
        "algorithm": _step_spec(tableau),
    }
    return type(f"CrouchGrossman{tableau.order}", (CrouchGrossman,), settings)


METHODS = tuple(map(_method, (CG2, CG3, CG4)))
