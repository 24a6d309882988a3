"""Linearly implicit Euler: each step one solution with ``M + h D - h^2 K``, the slopes of all forces or of joints'."""

from __future__ import annotations

from dataclasses import replace

from kinetree.algorithms.complete import COMPLETE, refuse_unsupported, stepped_constraints
from kinetree.algorithms.constrained import given_accelerations
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.spec import ALGORITHMS, algorithm
from kinetree.errors import SimulationError
from kinetree.integrators.implicit import Reduced, force_slopes, passive_slopes, residual
from kinetree.integrators.kernels import WholeStep, finished, implicit_states, step_of
from kinetree.state_kinematics import Kinematics

FORCES = ("all", "joints")
SLOPES = ("exact", "symmetric")


class LinearlyImplicitEuler(WholeStep):
    """``(M + h D - h^2 K) (v+ - v) = h (f + h K v)``,  ``q+ = q (+) h v+``: the forces at the step's end, linearized.

    f are all forces at (q, v); K their slope along the manifold, D minus their slope in v. Order 1, and stable for
    stiff springs and dampers of any strength between any joints; fast vibrations are damped away.

    Parameters
    ----------
    system : System
        The dynamics.
    forces : {"all", "joints"}
        Whose slopes: those of the whole dynamics (joints, gravity, Coriolis forces, wrenches), or of the joints'
        springs, stops, dampers and friction alone, as in Sueda.
    slopes : {"exact", "symmetric"}
        K and D themselves, or their symmetric parts, as in Baraff and Witkin.

    Notes
    -----
    Source: Sueda, eq. 1.30 and 2.72-2.79 (with one sign: K = d f / dq, D = - d f / dv); Baraff and Witkin (1998).
    Differs from "semi_implicit", whose K and D are diagonal: springs of ball joints turn with their deflection here,
    and dry friction has its slope. Cost: the derivatives of inverse dynamics in closed form and
    one solution with the tree's zeros.
    """

    name = "linearly_implicit"
    algorithm = "linearly_implicit_step"  # the step under constant forces, for rollouts
    order = 1
    internal_states = True

    def __init__(self, system, forces: str = "all", slopes: str = "exact") -> None:
        for what, value, known in (("forces", forces, FORCES), ("slopes", slopes, SLOPES)):
            if value not in known:
                raise SimulationError(
                    f"linearly implicit Euler: {what} is {value!r}, expected one of {', '.join(map(repr, known))}.",
                    found=value,
                )
        super().__init__(system, step_of(STEPS[forces, slopes], system.model))


def linearly_implicit_acceleration(model, q, v, tau, dt, f_ext=None, forces="all", slopes="exact", x=None, u=None):
    """``(v+ - v) / h`` of the step."""
    kin, ahead_x = Kinematics(model, q, v), implicit_states(model, q, v, x, u, dt)
    given = given_accelerations(model, kin)
    start = [given.get(k, 0.0) for k in range(model.nv)]
    dq, dv, M = force_slopes(model, q, v, start, f_ext, x, u, dt)
    if forces == "joints":
        K, dv = passive_slopes(model, q, v, None, x, u, dt)
        dq = [[-x for x in row] for row in K]
    if slopes == "symmetric":
        dq, dv = _symmetric(dq), _symmetric(dv)
    n = range(model.nv)
    matrix = [[M[m][k] + dt * (dv[m][k] + dt * dq[m][k]) for k in n] for m in n]
    r = residual(model, q, v, start, tau, f_ext, ahead_x, u)  # - f
    ahead = [sum(dq[m][k] * v[k] for k in n) for m in n]  # - K v
    a = Reduced(model, matrix).under_rows([-(r[m] + dt * ahead[m]) for m in n], kin, given=given)
    return [given.get(k, x) for k, x in enumerate(a)]


def _symmetric(A):
    n = range(len(A))
    return [[0.5 * (A[m][k] + A[k][m]) for k in n] for m in n]


def _variant(forces, slopes):
    def step(model, q, v, tau, dt, f_ext=None, x=None, u=None, *, x_next=False):
        refuse_unsupported(model, "aba", computed=stepped_constraints(model))
        a = linearly_implicit_acceleration(model, q, v, tau, dt, f_ext, forces, slopes, x, u)
        v_next = [v_k + dt * a_k for v_k, a_k in zip(v, a, strict=True)]
        found = finished(model.after(dt), integrate(model, q, [dt * v_k for v_k in v_next]), v_next, closing=3)
        return (*found, implicit_states(model, *found, x, u, dt)) if x_next else found

    return step


@algorithm(
    inputs="q v tau dt",
    optional="f_ext x u",
    outputs="q_next v_next",
    further="x_next",
    domains=COMPLETE,
    symbols={"tau": "Actuator forces during the step [N m or N]."},
)
def linearly_implicit_step(model, q, v, tau, dt, f_ext=None, x=None, u=None, *, x_next=False):
    """One step of linearly implicit Euler under constant actuator forces, with the exact slopes of all other forces.

    Notes
    -----
    Source: Sueda, eq. 1.30 and 2.72-2.79: ``(M + h D - h^2 K) (v+ - v) = h (f + h K v)``, K and D the slopes of all
    forces: springs, stops, dampers, friction, gravity, Coriolis forces and external wrenches.

    See Also
    --------
    semi_implicit_step, implicit_midpoint_step, simulate
    """
    return _exact(model, q, v, tau, dt, f_ext, x, u, x_next=x_next)


_exact = _variant("all", "exact")
_REGISTERED = ALGORITHMS["linearly_implicit_step"]
STEPS = {
    (forces, slopes): _REGISTERED
    if (forces, slopes) == ("all", "exact")
    else replace(_REGISTERED, name=f"linearly_implicit_{forces}_{slopes}", function=_variant(forces, slopes))
    for forces in FORCES
    for slopes in SLOPES
}
"""The step of every variant: one of the library's algorithms and three that are compiled like it."""
