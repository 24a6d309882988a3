"""Implicit Euler on the manifold: the backward differentiation formula of order 1."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.complete import COMPLETE
from kinetree.algorithms.spec import algorithm
from kinetree.integrators.implicit import around_end, solved_step
from kinetree.integrators.matrix_free_newton import newton_of


class BDF1:
    """The dynamics hold at the end of the step: ``v+ = v + h a+``, ``q+ = q (+) h v+``.

    Order 1; stable for stiffness and damping of any strength; all vibrations are damped, fast ones away in a step.

    Parameters
    ----------
    system : System
        The dynamics.
    solver : {"direct", "conjugate_gradients"}
        Of Newton's equations, as for `kinetree.integrators.BDF`.

    Notes
    -----
    Source: Hairer, Noersett, Wanner (1993), section III.1, on Lie groups. The equations are solved to rounding by
    Newton's method with derivatives in closed form, in `simulate` (`Newton` has the criterion); the rollout takes
    `bdf1_step`, a fixed number of corrections. Loops are closed by projection of the end.
    """

    name = "bdf1"
    algorithm = "bdf1_step"  # the step under constant forces, for rollouts
    around_end = around_end("bdf1_around_end", 1.0)  # for their adjoints
    order = 1
    internal_states = True

    def __init__(self, system, solver: str = "direct") -> None:
        self._newton = newton_of(solver, system, self.name, projected=True)
        self._rest, self._end_time, self._nv = np.zeros(system.model.nw), system.end_time, system.model.nv

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        end, nv = t + h, self._nv
        a = self._newton.solve(end, q, h * v[:nv], v, self._rest, tau(end), h * h, h, f_ext(end))
        w = v + h * a
        return self._newton.end(q, h * w[:nv], w, *self._end_time(end))


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
def bdf1_step(model, q, v, tau, dt, f_ext=None, x=None, u=None, *, x_next=False):
    """One step of implicit Euler under constant forces, by a fixed number of Newton corrections.

    Notes
    -----
    Source: Hairer, Noersett, Wanner (1993), section III.1: ``M (v+ - v) = dt f(q+, v+)``, ``q+ = q (+) dt v+``. Two
    corrections with new derivatives, four in models with internal states, and two with the last ones, as in
    `implicit_midpoint_step`.

    See Also
    --------
    linearly_implicit_step, implicit_midpoint_step, simulate
    """
    return solved_step(model, q, v, tau, dt, 1.0, f_ext, x, u, x_next=x_next)
