r"""Derivatives of forward dynamics with everything in the model, by the implicit function theorem.

Accelerations a and multipliers lambda solve

    r1 = ID(q, v, a) - p(q, v) - tau - K^T lambda = 0,    r2 = K a - k = 0

(on the independent velocities of couplings), so their derivatives solve the same linear system as they do themselves:

    A dlambda = K H^-1 dr1 - dr2,    da = -H^-1 dr1 + H^-1 K^T dlambda,

with dr1 and dr2 the partial derivatives at constant a and lambda. Those of ID are `rnea_derivatives`; those of the
rows and of passive forces p are taken in a trace of their own. No factorization is differentiated.
"""

from __future__ import annotations

from kinetree.algorithms.aba_derivatives import aba_derivatives
from kinetree.algorithms.bounded_rows import bounded_constraints
from kinetree.algorithms.complete import COMPLETE, computed_constraints, refuse_unsupported
from kinetree.algorithms.constrained import (
    ConstrainedSystem,
    constrained_accelerations,
    eliminated_multipliers,
    equality_rows,
    stiffened_matrix,
)
from kinetree.algorithms.couplings import expanded, weighted
from kinetree.algorithms.derivatives import rnea_derivatives
from kinetree.algorithms.domain import CLOSED_LOOPS
from kinetree.algorithms.matrices import dot, identity, minus, mirrored, plus, product, transposed
from kinetree.algorithms.passive import law_forces
from kinetree.algorithms.row_elimination import vanishes
from kinetree.algorithms.sparse import solve_lower, solve_ltdl
from kinetree.algorithms.spec import algorithm
from kinetree.algorithms.state_slopes import state_slopes
from kinetree.errors import UnsupportedError
from kinetree.state_kinematics import Kinematics


@algorithm(
    inputs="q v tau",
    optional="f_ext x u",
    outputs={
        "da_dq": ("nv", "nv"), "da_dv": ("nv", "nv"), "da_dtau": ("nv", "nv"),
        "dlambda_dq": ("nc", "nv"), "dlambda_dv": ("nc", "nv"), "dlambda_dtau": ("nc", "nv"),
    },
    domains=(*COMPLETE, CLOSED_LOOPS),
    symbols={
        "tau": "Actuator forces [N m or N].",
        "f_ext": "; constant there.",
        "da_dq": "Column k is d/ds of ``forward_dynamics(integrate(q, s e_k), v, tau)`` at s = 0 [1/s^2, m/(rad s^2) "
        "or 1/(m s^2)].",
        "da_dtau": "Of rank ny, symmetric without couplings [1/(kg m^2), 1/kg].",
        "dlambda_dq": "Derivative of the multipliers along the velocity coordinates of q [N m/rad, N m/m, N/rad or "
        "N/m].",
        "dlambda_dv": "Derivative of the multipliers with respect to v [N m s, N s].",
        "dlambda_dtau": "Derivative of the multipliers with respect to tau [1, 1/m or m].",
    },
    raises="SingularityError UnsupportedError",
)  # fmt: skip
def forward_dynamics_derivatives(model, q, v, tau, f_ext=None, x=None, u=None):
    r"""Derivatives of accelerations and constraint forces, with everything in the model.

    .. math:: da = \frac{\partial a}{\partial q}\,dq + \frac{\partial a}{\partial v}\,dv +
        \frac{\partial a}{\partial\tau}\,d\tau, \qquad d\lambda = \ldots

    Notes
    -----
    Source: Budhiraja, Carpentier, Mastalli, Mansard, "Differential dynamic programming for multi-phase rigid contact
    dynamics" (2018), for the linear system; `rnea_derivatives` for the tree. Positions vary along each velocity
    coordinate alone, off closed loops, too; changes that keep loops closed are ``closed_loops.null_space(q) @ dy``.
    Cost: O(n^2 (n + m)), m the rows of loops; without constraints that of `aba_derivatives`.
    Identity: ``differentiate(model, "forward_dynamics", wrt=("q", "v", "tau"))``, which costs about three times as
    much.

    See Also
    --------
    forward_dynamics, aba_derivatives, differentiate, closed_loops_null_space

    Examples
    --------
    How the crank's acceleration depends on its torque is the inverse of its effective inertia:

    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.four_bar()
    >>> q, v = model.keyframe("initial")
    >>> d = kt.dynamics.forward_dynamics_derivatives(model, q, v, np.zeros(3))
    >>> M = kt.closed_loops.reduced_mass_matrix(model, q, independent="crank")
    >>> bool(np.isclose(d.da_dtau[0, 0], 1.0 / M[0, 0]))
    True
    """
    refuse_unsupported(model, "aba_derivatives", computed=computed_constraints(model))
    for c in bounded_constraints(model):
        raise UnsupportedError(
            f"forward_dynamics_derivatives: model {model.name!r} has the {c}, whose forces have no derivatives where "
            "they change between holding and sliding",
            model=model.name,
        )
    if not model.constraints:
        return *_of_a_tree(model, q, v, tau, f_ext, x, u), [], [], []
    force = plus(tau, law_forces(model, q, v, x, u))
    a, lam = constrained_accelerations(
        model, q, v, force, f_ext, model.armature, multipliers=True, solver=ConstrainedSystem
    )
    kin, nv = Kinematics(model, q, v), model.nv
    response = Response(model, kin)
    force, error = slopes(model, q, v, a, [lam[n] for n in response.numbers], x, u)
    dq, dv, M = rnea_derivatives(model, q, v, a, f_ext)
    changes = [*transposed(minus(dq, force[0])), *transposed(minus(dv, force[1]))]
    columns = [(r1, *response.to(r1, [row[k] for row in error])) for k, r1 in enumerate(changes)]
    columns += [([-x for x in unit], *response.to_force(unit)) for unit in identity(nv)]
    accelerations = [da for _, da, _ in columns]
    multipliers = [response.multipliers(M, *column) for column in columns]
    parts = [slice(0, nv), slice(nv, 2 * nv), slice(2 * nv, 3 * nv)]
    return *(transposed(accelerations[part]) for part in parts), *(transposed(multipliers[part]) for part in parts)


def _of_a_tree(model, q, v, tau, f_ext, x, u):
    """da_dq, da_dv and da_dtau without constraints: passive forces act as actuators do."""
    passive = law_forces(model, q, v, x, u)
    dq, dv, inverse = aba_derivatives(model, q, v, plus(tau, passive), f_ext)
    by_q, by_v = slopes(model, q, v, [0.0] * model.nv, [], x, u)[0]
    return plus(dq, product(inverse, by_q)), plus(dv, product(inverse, by_v)), inverse


class Response:
    """Changes of accelerations and multipliers by those of the equations of one state.

    Attributes
    ----------
    H_inverse, Y, A_inverse : list of list
        ``H^-1``, ``K H^-1`` and ``(K H^-1 K^T)^-1``, with structural zeros where loops and branches are separate.
    S, T : list of list
        Of accelerations and of multipliers by forces: ``H^-1 + Y^T T`` and ``-A^-1 Y``.
    """

    def __init__(self, model, kin) -> None:
        self.model, self.kin = model, kin
        M = stiffened_matrix(model, kin.q, model.armature)
        self.system = system = ConstrainedSystem(model, M, kin)
        self.columns, self.numbers, self.rows = system.columns, system.numbers, system.rows
        n, (L, D), above = len(self.columns), system.factors, system.above
        inverse = [solve_lower(L, unit, above, unit=True) for unit in identity(n)]  # by columns of L^-1
        scaled = [[0.0 if vanishes(x) else x / d for x in column] for column, d in zip(inverse, D, strict=True)]
        by_row, scaled = transposed(inverse), transposed(scaled)
        self.H_inverse = self.S = mirrored([[dot(by_row[i], scaled[j]) for j in range(i + 1)] for i in range(n)])
        if not self.rows:
            return
        self.Y = [solve_lower(L, w, above, unit=True) for w in system.scaled]
        self.by_column = transposed(self.Y)
        self.A_inverse = [self._solved(unit) for unit in identity(len(self.rows))]
        by_column = [[-x for x in self._solved(y)] for y in self.by_column]
        self.T = transposed(by_column)
        self.S = mirrored([[self.H_inverse[i][j] + dot(self.by_column[i], by_column[j]) for j in range(i + 1)]
                           for i in range(n)])  # fmt: skip

    def _solved(self, b) -> list:
        return solve_ltdl(*self.system.factors_A, b, self.system.below)

    def to(self, r1, r2) -> tuple[list, list]:
        """da of all velocity coordinates, and dlambda of the kept rows, by whichever products are fewer."""
        r1 = [weighted(r1, column) for column in self.columns]
        if not self.rows:
            return expanded(self.model, self.columns, [-dot(row, r1) for row in self.S]), []
        if self._products(r1, r2) > 0:
            dlam = self._solved([dot(y, r1) - r for y, r in zip(self.Y, r2, strict=True)])
            dy = [dot(y, dlam) - dot(row, r1) for y, row in zip(self.by_column, self.H_inverse, strict=True)]
            return expanded(self.model, self.columns, dy), dlam
        dlam = [-dot(t, r1) - dot(row, r2) for t, row in zip(self.T, self.A_inverse, strict=True)]
        dy = [dot(t, r2) - dot(row, r1) for t, row in zip(transposed(self.T), self.S, strict=True)]
        return expanded(self.model, self.columns, dy), dlam

    def _products(self, r1, r2) -> int:
        """How many more products of entries the inverses need than the factors of separate loops."""
        by_inverses = products([*self.S, *self.T], r1) + products([*transposed(self.T), *self.A_inverse], r2)
        solution = sum(1 + len(below) for below in self.system.below) * 2
        return by_inverses - solution - products([*self.H_inverse, *self.Y], r1) - entries(self.Y)

    def to_force(self, tau) -> tuple[list, list]:
        """The same for a change of the actuator forces."""
        f = [weighted(tau, column) for column in self.columns]
        dlam = [dot(t, f) for t in self.T] if self.rows else []
        return expanded(self.model, self.columns, [dot(row, f) for row in self.S]), dlam

    def multipliers(self, M, r1, da, dlam) -> list:
        """dlambda of all rows: of eliminated ones the rest of the equation of motion."""
        found = dict(zip(self.numbers, dlam, strict=True))
        if len(found) == self.model.nc:
            return dlam
        rest = [x + dot(row, da) for x, row in zip(r1, M, strict=True)]
        for row, x in zip(self.rows, dlam, strict=True):
            for k, y in row.items():
                rest[k] = rest[k] - y * x
        return eliminated_multipliers(self.model, self.kin, rest, found)


def slopes(model, q, v, a, lam, x=None, u=None):
    """Derivatives of ``p + K^T lambda`` by q and by v (each nv x nv), and of ``K a - k`` by both (rows x 2 nv)."""
    nv, nx = model.nv, 0 if x is None else len(x)

    def formulas(inner, q, v, given):
        a, lam = given[:nv], given[nv : nv + len(rows)]
        inside = given[nv + len(rows) :]
        at = None if x is None else inside[:nx], None if u is None else inside[nx:]
        force = list(law_forces(inner, q, v, *at))
        _, entries, k = equality_rows(inner, Kinematics(inner, q, v), {})
        for row, x_n in zip(entries, lam, strict=True):
            for j, y in row.items():
                force[j] = force[j] + y * x_n
        return force + [dot(row.values(), [a[j] for j in row]) - k_n for row, k_n in zip(entries, k, strict=True)]

    rows = lam
    found = state_slopes(model, q, v, formulas, [*a, *lam, *(x or ()), *(u or ())])
    dense = [[row.get(d, 0.0) for d in range(2 * nv)] for row in found]
    force = [row[:nv] for row in dense[:nv]], [row[nv:] for row in dense[:nv]]
    return force, dense[nv:]


def entries(A) -> int:
    """The number of entries that are not structural zeros."""
    return sum(not vanishes(x) for row in A for x in row)


def products(A, x) -> int:
    """The number of products in ``A x``."""
    return sum(not (vanishes(a) or vanishes(b)) for row in A for a, b in zip(row, x, strict=True))
