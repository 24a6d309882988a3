"""Semi-implicit (symplectic) Euler on the manifold, with the passive joint forces taken at the end of the step."""

from __future__ import annotations

from kinetree.integrators.kernels import WholeStep, step_of


class SemiImplicitEuler(WholeStep):
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

    name = "semi_implicit"
    algorithm = "semi_implicit_step"  # the step under constant forces, for rollouts
    order = 1
    internal_states = True  # of force elements: they follow the velocities

    def __init__(self, system) -> None:
        super().__init__(system, step_of(self.algorithm, system.model))
