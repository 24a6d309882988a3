"""Semi-implicit (symplectic) Euler on the manifold, with the passive joint forces taken at the end of the step."""

from __future__ import annotations

import numpy as np

from kinetree.integrators.kernels import step_of


class SemiImplicitEuler:
    """v+ = v + h a(q, v+),  q+ = q (+) h v+.

    Damping, springs, soft limits and dry friction enter through their linearization at the end of the step, so they
    cannot make a step unstable however stiff they are; all other forces are explicit. Order 1.

    Parameters
    ----------
    system : System
        The dynamics.

    Notes
    -----
    Source: Sueda et al., eq. 1.28-1.29 and 2.19-2.20 (semi-implicit Euler with the exponential update of rotations).
    """

    __slots__ = ("_h", "_h_array", "_step")

    name = "semi_implicit"
    algorithm = "semi_implicit_step"  # the step under constant forces, for rollouts
    order = 1
    internal_states = True  # of force elements: they follow the velocities

    def __init__(self, system) -> None:
        self._step = system.function(step_of(self.algorithm, system.model), checks=False)
        self._h, self._h_array = None, None

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        if h != self._h:  # compiled functions take arrays; the step is almost always the same
            self._h, self._h_array = h, np.array(h)
        return self._step(q, v, tau(t), self._h_array, *f_ext(t))
