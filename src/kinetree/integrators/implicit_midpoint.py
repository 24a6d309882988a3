"""The implicit midpoint rule on the manifold."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.complete import COMPLETE, refuse_unsupported, stepped_constraints
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.projection import has_loops
from kinetree.algorithms.spec import algorithm
from kinetree.integrators.implicit import (
    Linearization,
    corrected,
    has_kinks,
    reversals,
    stage,
    with_given_accelerations,
    with_internal_rates,
)
from kinetree.integrators.kernels import finished
from kinetree.integrators.newton import Newton
from kinetree.spatial.scalar import maximum, where

LOOPED = 4  # further corrections under loops, whose rows have no slopes in the matrix
KINKED = 8  # further corrections where slopes of passive forces are discontinuous
UNSOLVED = 1e-3  # where the last correction is larger than this fraction of the speed, there is no solution


class ImplicitMidpoint:
    """The dynamics hold in the middle of the step: ``w = v + h/2 a``, ``q_m = q (+) h/2 w``, ``q+ = q (+) h w``.

    Symmetric in time, so energy oscillates and does not drift on periodic motions, and stable for
    any damping and stiffness; fast vibrations are kept, not damped. Order 2.

    Parameters
    ----------
    system : System
        The dynamics.

    Notes
    -----
    Source: Hairer, Lubich, Wanner (2006), "Geometric Numerical Integration", sections II.1 and IV.8, on Lie groups.
    The equations are solved to rounding by Newton's method with derivatives in closed form, in `simulate`; the rollout
    takes `implicit_midpoint_step`, a fixed number of corrections. In the coordinates (q, v) the rule is symmetric,
    not symplectic, where the mass matrix depends on q: "variational" is.
    Cost: three or four times derivatives of inverse dynamics and a solution with the tree's zeros.
    """

    name = "implicit_midpoint"
    algorithm = "implicit_midpoint_step"  # the step under constant forces, for rollouts
    order = 2
    internal_states = True

    def __init__(self, system) -> None:
        self._newton = Newton(system, self.name, projected=True)
        self._rest, self._end_time, self._nv = np.zeros(system.model.nw), system.end_time, system.model.nv

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        half, nv = 0.5 * h, self._nv
        middle = t + half
        a = self._newton.solve(middle, q, half * v[:nv], v, self._rest, tau(middle), half * half, half, f_ext(middle))
        return self._newton.end(q, h * (v + half * a)[:nv], v + h * a, *self._end_time(t + h))


@algorithm(
    inputs="q v tau dt",
    optional="f_ext x u",
    outputs="q_next v_next",
    further="x_next",
    domains=COMPLETE,
    symbols={
        "tau": "Actuator forces during the step [N m or N].",
        "v_next": "; infinite where the corrections have not converged (the last one above 1e-3 of the speed), "
        "so that no inaccurate result is used.",
    },
)
def implicit_midpoint_step(model, q, v, tau, dt, f_ext=None, x=None, u=None, *, x_next=False):
    """One step of the implicit midpoint rule under constant forces, by a fixed number of Newton corrections.

    Notes
    -----
    Source: Hairer, Lubich, Wanner (2006), sections II.1 and VIII.6. Two corrections with new derivatives, two with the
    last ones: an error e of the first becomes about e^4 h^2. With dry friction or stops eight, for which the slopes of
    these are renewed; `simulate` iterates until nothing changes.

    See Also
    --------
    semi_implicit_step, variational_step, simulate
    """
    refuse_unsupported(model, "aba", computed=stepped_constraints(model))
    half = 0.5 * dt
    x0, x1, middle = [half * v_k for v_k in v], half * half, model.after(half)
    w0 = [*v, *(model.initial_internal() if x is None else x)]
    a, before, kinks = with_given_accelerations(middle, [0.0] * model.nw), w0, has_kinks(model)
    stuck = matrix = None
    later = (KINKED if kinks else 2) + (LOOPED if has_loops(model) else 0)
    for fresh in (True, True, *[False] * later):
        xi, Q, w = stage(middle, q, x0, w0, a, x1, half)
        w, a, moved = with_internal_rates(middle, Q, w, a, half, u)
        now = xi, Q, w
        if kinks:
            stuck, before = reversals(before, w), w
        if fresh:
            slopes = Linearization(middle, *now, a, x1, half, f_ext)
        if fresh or kinks:
            matrix = slopes.factorized(stuck, now, u)
        a, change, _ = corrected(middle, matrix, Q, w, a, tau, half, stuck, f_ext, u)
    change = maximum(change, moved) if model.nx else change
    q_next = integrate(model, q, [dt * (v_k + half * a_k) for v_k, a_k in zip(v, a, strict=False)])
    w_next = [where(change < UNSOLVED, w_k + dt * a_k, float("inf")) for w_k, a_k in zip(w0, a, strict=True)]
    q_next, w_next = finished(model.after(dt), q_next, w_next)
    return (q_next, w_next[: model.nv], w_next[model.nv :]) if x_next else (q_next, w_next[: model.nv])
