"""The implicit midpoint rule on the manifold."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.complete import COMPLETE
from kinetree.algorithms.spec import algorithm
from kinetree.integrators.implicit import around_end, solved_step
from kinetree.integrators.newton import Newton


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
    around_end = around_end("implicit_midpoint_around_end", 0.5)  # for adjoints of rollouts
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
    last ones: an error e of the first becomes about e^4 h^2. In models with internal states two more of the first kind.
    With dry friction or stops eight, for which the slopes of
    these are renewed; `simulate` iterates until nothing changes.

    See Also
    --------
    semi_implicit_step, variational_step, simulate
    """
    return solved_step(model, q, v, tau, dt, 0.5, f_ext, x, u, x_next=x_next)
