"""Linearly implicit Euler: each step one solution with ``M + h D + h^2 K``, the slopes of all or of passive forces."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinetree.algorithms.complete import COMPLETE, refuse_unsupported, stepped_constraints
from kinetree.algorithms.constrained import given_accelerations
from kinetree.algorithms.derivatives import rnea_derivatives
from kinetree.algorithms.force_slopes import gauss_newton_damping, gauss_newton_stiffness
from kinetree.algorithms.implicit_forces import force_changes
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.matrices import dot, minus, plus
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.spec import ALGORITHMS, algorithm
from kinetree.algorithms.state_slopes import state_rates
from kinetree.arguments import choice
from kinetree.errors import SimulationError
from kinetree.integrators.conjugate_gradients import MatrixFreeStep
from kinetree.integrators.implicit import Reduced, joint_slopes, known_rates, passive_slopes, residual
from kinetree.integrators.kernels import END, WholeStep, finished, implicit_states, part, step_of
from kinetree.integrators.kernels import FORCES as GIVEN
from kinetree.spatial.scalar import detach
from kinetree.state_kinematics import Kinematics

FORCES = ("all", "passive")
SLOPES = ("exact", "symmetric", "gauss_newton")
SOLVERS = ("direct", "conjugate_gradients")


@dataclass(frozen=True, slots=True)
class LinearlyImplicit:
    """Linearly implicit Euler with its options; ``integrator="linearly_implicit"`` is ``LinearlyImplicit()``.

        (M + h D + h^2 K) (v+ - v) = h (f - h K v),   q+ = q (+) h v+

    The forces at the step's end, linearized: f are all forces at (q, v), K and D minus their slopes along the manifold
    and in v. Order 1, and stable for stiff springs and dampers of any strength between any joints; fast vibrations are
    damped away.

    Parameters
    ----------
    forces : {"all", "passive"}
        Whose slopes: those of the whole dynamics (passive forces, gravity, Coriolis forces, wrenches), or of the
        passive forces alone, springs, stops, dampers, friction and all other force elements, as in Sueda.
    slopes : {"exact", "symmetric", "gauss_newton"}
        K and D themselves; their symmetric parts, as in Baraff and Witkin; or, for the passive forces, those of laws
        whose lengths are linear in the coordinates, which are positive semidefinite for springs and dampers.
        ``LinearlyImplicit("passive", "gauss_newton")`` is the step of "semi_implicit".
    solver : {"direct", "conjugate_gradients"}
        Elimination with the tree's zeros, or conjugate gradients without a matrix, preconditioned by the O(n)
        articulated-body factorization, for large trees with many springs: with ``"passive", "gauss_newton"``, in
        models without constraints, in `kinetree.simulate`.

    Raises
    ------
    UnknownNameError, SimulationError
        No such choice, or choices that do not belong together.

    Notes
    -----
    Source: Sueda, eq. 1.30 and 2.72-2.79, algorithm 10; Baraff and Witkin (1998).
    Cost: "exact" and "all" take the derivatives of inverse dynamics in closed form and one solution; "passive" with
    "gauss_newton" at most twice an explicit step, with 50 springs on an arm of 20 joints.
    Conjugate gradients end at a residual of 1e-10, in the metric of the preconditioner. That is exact for springs and
    dampers in joints, across one joint of one velocity, or between a body and the world: one or two iterations. Every
    further one takes about one iteration more, of any stiffness.

    Examples
    --------
    >>> import kinetree as kt
    >>> fast = kt.integrators.LinearlyImplicit("passive", "gauss_newton")
    >>> kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.1, integrator=fast).integrator
    'linearly_implicit (passive, gauss_newton, direct)'
    """

    forces: str = "all"
    slopes: str = "exact"
    solver: str = "direct"

    name = "linearly_implicit"
    order = 1
    internal_states = True

    def __post_init__(self) -> None:
        for what, known in (("forces", FORCES), ("slopes", SLOPES), ("solver", SOLVERS)):
            choice(what, getattr(self, what), known, "kt.integrators.LinearlyImplicit")
        if self.solver != "direct" and (self.forces, self.slopes) != ("passive", "gauss_newton"):
            raise SimulationError(
                "LinearlyImplicit: solver='conjugate_gradients' needs a symmetric positive definite matrix: forces="
                f"'passive', slopes='gauss_newton', not {self.forces!r}, {self.slopes!r}.",
                solver=self.solver,
            )

    def __str__(self) -> str:
        chosen = f" ({self.forces}, {self.slopes}, {self.solver})"
        return self.name + chosen * (self != LinearlyImplicit())

    @property
    def algorithm(self):
        """The step under constant forces, for rollouts; None for conjugate gradients."""
        return STEPS[self.forces, self.slopes] if self.solver == "direct" else None

    @property
    def around_end(self):
        """The step around its end, for adjoints of rollouts; None where the step itself is differentiated."""
        return AROUND_END.get((self.forces, self.slopes))

    def __call__(self, system):
        """The method for the dynamics of one model."""
        return LinearlyImplicitStep(system, self) if self.solver == "direct" else MatrixFreeStep(system)


class LinearlyImplicitStep(WholeStep):
    """Steps of `LinearlyImplicit` by elimination.

    Parameters
    ----------
    system : System
        The dynamics.
    options : LinearlyImplicit
    """

    name = LinearlyImplicit.name

    def __init__(self, system, options: LinearlyImplicit) -> None:
        super().__init__(system, step_of(options.algorithm, system.model))


def linearly_implicit_acceleration(model, q, v, tau, dt, f_ext=None, forces="all", slopes="exact", x=None, u=None):
    """``(v+ - v) / h`` of the step."""
    kin, ahead_x = Kinematics(model, q, v), implicit_states(model, q, v, x, u, dt)
    given = given_accelerations(model, kin)
    start = [given.get(k, 0.0) for k in range(model.nv)]
    K, D, M = _slopes(model, q, v, start, forces, slopes, dt, f_ext, x, u)
    n, matrix = range(model.nv), _matrix(K, D, M, dt)
    r = residual(model, q, v, start, tau, f_ext, ahead_x, u)  # - f
    ahead = [sum(K[m][k] * v[k] for k in n) for m in n]
    a = Reduced(model, matrix).under_rows([-(r[m] + dt * ahead[m]) for m in n], kin, given=given)
    return [given.get(k, x) for k, x in enumerate(a)]


def _slopes(model, q, v, a, forces, slopes, dt, f_ext, x, u):
    """K, D and M."""
    if slopes == "gauss_newton":
        K, D = gauss_newton_stiffness(model, q, v, x, u), gauss_newton_damping(model, q, v, x, u)
    else:
        K, D = passive_slopes(model, q, v, None, x, u, dt)
        K = [[-x for x in row] for row in K]
    dq, dv, M = rnea_derivatives(model, q, v, a, f_ext)
    if forces == "all":
        K, D = ([plus(*rows) for rows in zip(*pair, strict=True)] for pair in ((dq, K), (dv, D)))
    return (_symmetric(K), _symmetric(D), M) if slopes == "symmetric" else (K, D, M)


def _matrix(K, D, M, dt):
    n = range(len(M))
    return [[M[m][k] + dt * (D[m][k] + dt * K[m][k]) for k in n] for m in n]


def _residual_of_step(model, q, v, start, a, tau, dt, forces, f_ext, x, u) -> list:
    """``(M + h D + h^2 K) a - (f - h K v)`` with exact slopes, as products without the matrices.

    f and the slopes are those at accelerations ``start``, and a those beyond them.
    """
    dv = [dt * a_k for a_k in a]
    dq = [dt * (v_k + dv_k) for v_k, dv_k in zip(v, dv, strict=True)]
    r = residual(model, q, v, start, tau, f_ext, implicit_states(model, q, v, x, u, dt), u, beside_slopes=False)
    rest, wrenches = [0.0] * model.nv, [x for wrench in f_ext or () for x in wrench]
    moves = (dq, dv) if forces == "all" else (rest, rest)
    r = plus(r, state_rates(model, q, v, *moves, _rigid_forces, [*start, *wrenches], a))
    K, D = joint_slopes(model, q, v)
    r = [r_m + dot(D_m, dv) - dot(K_m, dq) for r_m, D_m, K_m in zip(r, D, K, strict=True)]
    return minus(r, force_changes(model, q, v, dq, dv, x, u, dt)) if model.laws else r


def _rigid_forces(model, q, v, given):
    """Inverse dynamics of the tree from accelerations, and wrenches on all bodies, if any, as one list."""
    a, W = given[: model.nv], given[model.nv :]
    size = len(W) // model.nb
    return rnea(model, q, v, a, [W[k : k + size] for k in range(0, len(W), size)] if size else None)


def _around_end(model, q, v, tau, dt, v_end, forces, f_ext=None, u=None):
    """The step as one correction of its end with a constant matrix: the first derivatives are those of the step.

    So neither the matrix nor its elimination is differentiated, only the residual.
    """
    refuse_unsupported(model, "aba", computed=stepped_constraints(model))
    nv = model.nv
    v, x = v[:nv], v[nv:]
    given = given_accelerations(model, Kinematics(model, q, v))
    start = [given.get(k, 0.0) for k in range(nv)]
    a = known_rates(model, [(v_end[k] - v[k]) / dt for k in range(nv)])
    r = _residual_of_step(model, q, v, start, a, tau, dt, forces, f_ext, x, u)
    matrix = _matrix(*_slopes(model, q, v, start, forces, "exact", dt, f_ext, x, u), dt)
    change = Reduced(model, [[detach(entry) for entry in row] for row in matrix]).solve(r)
    q, v, x = _end(model, q, v, [given.get(k, a[k] - change[k]) for k in range(nv)], dt, x, u)
    return q, [*v, *x]


def _end(model, q, v, a, dt, x, u):
    """The state after a step with accelerations a."""
    v_next = [v_k + dt * a_k for v_k, a_k in zip(v, a, strict=True)]
    found = finished(model.after(dt), integrate(model, q, [dt * v_k for v_k in v_next]), v_next, closing=3)
    return *found, implicit_states(model, *found, x, u, dt)


def _symmetric(A):
    n = range(len(A))
    return [[0.5 * (A[m][k] + A[k][m]) for k in n] for m in n]


def _variant(forces, slopes):
    def step(model, q, v, tau, dt, f_ext=None, x=None, u=None, *, x_next=False):
        refuse_unsupported(model, "aba", computed=stepped_constraints(model))
        a = linearly_implicit_acceleration(model, q, v, tau, dt, f_ext, forces, slopes, x, u)
        found = _end(model, q, v, a, dt, x, u)
        return found if x_next else found[:2]

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
    Source: Sueda, eq. 1.30 and 2.72-2.79: ``(M + h D + h^2 K) (v+ - v) = h (f - h K v)``, -K and -D the slopes of all
    forces: springs, stops, dampers, friction, gravity, Coriolis forces and external wrenches.

    See Also
    --------
    semi_implicit_step, implicit_midpoint_step, simulate
    """
    return _exact(model, q, v, tau, dt, f_ext, x, u, x_next=x_next)


_exact = _variant("all", "exact")
STEPS = {
    (forces, slopes): replace(
        ALGORITHMS["linearly_implicit_step"],
        name=f"linearly_implicit_{forces}_{slopes}",
        function=_variant(forces, slopes),
    )
    for forces in FORCES
    for slopes in SLOPES
}
"""The step of every variant: two of the library's algorithms, and others that are compiled like them."""
STEPS |= {
    ("all", "exact"): ALGORITHMS["linearly_implicit_step"],
    ("passive", "gauss_newton"): ALGORITHMS["semi_implicit_step"],
}


def _around(forces):
    def step(model, q, v, tau, dt, v_end, f_ext=None, u=None):
        return _around_end(model, q, v, tau, dt, v_end, forces, f_ext, u)

    name = step.__name__ = f"linearly_implicit_{forces}_around_end"
    return part(name, step, "q[nq] v[nw] tau[nv] dt v_end[nw]", END, GIVEN, domains=COMPLETE)


AROUND_END = {(forces, "exact"): _around(forces) for forces in FORCES}
