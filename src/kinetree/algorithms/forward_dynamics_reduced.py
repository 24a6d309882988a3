r"""Forward dynamics with constraints in fewer unknowns: null space, coordinate partitioning, pseudovelocities.

Accelerations that satisfy ``K a = k`` are ``a = B eta + a_0`` with ``K B = 0``, and then

.. math:: B^T M B\, \eta = B^T (\tau - c - M a_0)

(Featherstone, eq. 8.42-8.46). B is G with the independent velocities, or an orthonormal basis. Constraint forces
do not appear; on request they follow from the accelerations, ``K^T lambda = M a + c - tau``. `forward_dynamics` solves
with multipliers by default.
"""

from __future__ import annotations

from kinetree.algorithms.bounded_rows import bounded_constraints
from kinetree.algorithms.constrained import eliminated_multipliers, given_accelerations
from kinetree.algorithms.couplings import weighted
from kinetree.algorithms.crba import crba
from kinetree.algorithms.forward_dynamics_multipliers import DECLARED
from kinetree.algorithms.matrices import apply, dot, minus, plus, reflection
from kinetree.algorithms.null_space import NullSpace
from kinetree.algorithms.reduced import congruent
from kinetree.algorithms.rnea import bias_forces
from kinetree.algorithms.row_elimination import vanishes
from kinetree.algorithms.sparse import ltdl_factors, solve_ltdl
from kinetree.algorithms.spec import algorithm
from kinetree.errors import UnsupportedError
from kinetree.model.topology import filled_rows
from kinetree.state_kinematics import Kinematics


def solved(H, f) -> list:
    """``H^-1 f`` of a symmetric and positive definite H, its structural zeros left out."""
    above = filled_rows([{n for n in range(m) if not vanishes(H[m][n])} for m in range(len(H))])
    return solve_ltdl(*ltdl_factors(H, above), f, above)


def combined(basis, eta, a_0) -> list:
    """``B eta + a_0``, B by columns."""
    return [a + dot([column[k] for column in basis], eta) for k, a in enumerate(a_0)]


class Reflected:
    """``K^T = Q R`` by reflections, for rows K.

    Attributes
    ----------
    columns, diagonal : list
        Column m of R is the first m entries of ``columns[m]``, and ``diagonal[m]``.
    """

    def __init__(self, K) -> None:
        self.columns, self.diagonal, self._turns = [list(row) for row in K], [], []
        for m, column in enumerate(self.columns):
            alpha, reflect = reflection(column[m:])
            self._turns.append(reflect)
            self.diagonal.append(alpha)
            for j in range(m + 1, len(self.columns)):
                self.columns[j] = [*self.columns[j][:m], *reflect(self.columns[j][m:])]

    def taken_back(self, y) -> list:
        """``Q y``."""
        for m in reversed(range(len(self._turns))):
            y = [*y[:m], *self._turns[m](y[m:])]
        return y

    def multipliers(self, f) -> list:
        """lambda of ``K^T lambda = f``."""
        for m, reflect in enumerate(self._turns):
            f = [*f[:m], *reflect(f[m:])]
        lam = [0.0] * len(self.diagonal)
        for m in reversed(range(len(lam))):
            lam[m] = f[m] - sum((self.columns[j][m] * lam[j] for j in range(m + 1, len(lam))), start=0.0)
            lam[m] = lam[m] / self.diagonal[m]
        return lam


def multipliers_of(space, M, f, a) -> list:
    """Of all rows, those of accelerations: ``M a = f + G^T lambda``; zero for rows that are left out."""
    rest = minus([dot(row, a) for row in M], f)
    lam = Reflected(space.whole).multipliers([weighted(rest, column) for column in space.columns])
    for row, x in zip(space.rows, lam, strict=True):
        rest = [r - row[k] * x if k in row else r for k, r in enumerate(rest)]
    return eliminated_multipliers(space.model, space.kin, rest, dict(zip(space.numbers, lam, strict=True)))


def constrained_space(model, q, v) -> NullSpace:
    """The constraints of a state, which have no bounded rows."""
    for c in bounded_constraints(model):
        raise UnsupportedError(
            f"model {model.name!r} has the {c}, whose bounded forces reduced methods do not compute: take "
            "forward_dynamics with method 'auto'",
            model=model.name,
        )
    kin = Kinematics(model, q, v)
    return NullSpace(model, kin, given=given_accelerations(model, kin))


@algorithm(**DECLARED)
def forward_dynamics_null_space(model, q, v, tau, f_ext=None, *, multipliers=False):
    r"""Forward dynamics with constraints by the null space of their rows.

    .. math:: G^T M G\, \dot y = G^T (\tau - c - M \dot g), \qquad a = G \dot y + \dot g

    Notes
    -----
    Source: Featherstone (2008), section 8.5, method 3, eq. 8.42-8.46. Passive joint forces are not included. Cost: a
    system of as many unknowns as degrees of freedom.
    Identity: equals `forward_dynamics` without passive joint forces.

    See Also
    --------
    forward_dynamics, forward_dynamics_partitioning, forward_dynamics_pseudovelocities, closed_loops_null_space
    """
    space = constrained_space(model, q, v)
    M, f, G = crba(model, q), minus(tau, bias_forces(model, q, v, f_ext)), space.by_column
    a_0 = space.accelerations([0.0] * len(G))
    rest = minus(f, apply(M, a_0))
    a = combined(G, solved(congruent(G, M), [dot(column, rest) for column in G]), a_0)
    return (a, multipliers_of(space, M, f, a)) if multipliers else a


@algorithm(**DECLARED)
def forward_dynamics_partitioning(model, q, v, tau, f_ext=None, *, multipliers=False):
    r"""Forward dynamics with constraints by coordinate partitioning.

    .. math:: \left(M_{ii} - M_{id} H - H^T (M_{di} - M_{dd} H)\right) \dot y =
        f_i - H^T f_d - (M_{id} - H^T M_{dd})\, h, \qquad a_d = h - H \dot y

    Notes
    -----
    Source: Wehage and Haug, "Generalized coordinate partitioning for dimension reduction in analysis of constrained
    dynamic systems", J. Mech. Design 104 (1982): H of ``K_d^-1 K_i`` and h of ``K_d^-1 k``, index i for independent and
    d for dependent velocities. Passive joint forces are not included.
    Identity: equals `forward_dynamics` without passive joint forces.

    See Also
    --------
    forward_dynamics, forward_dynamics_null_space, forward_dynamics_pseudovelocities
    """
    space = constrained_space(model, q, v)
    M, f, G = crba(model, q), minus(tau, bias_forces(model, q, v, f_ext)), space.by_column
    free = list(space.chosen)
    bound = [k for k in range(model.nv) if k not in free]
    h = space.accelerations([0.0] * len(G))
    # Row n: minus the column of H that belongs to the independent velocity n.
    minus_H = [[column[k] for k in bound] for column in G]
    M_dd = [[M[k][m] for m in bound] for k in bound]
    M_id = [[M[k][m] for m in bound] for k in free]
    moved = [plus(M_id[n], apply(M_dd, minus_H[n])) for n in range(len(free))]  # M_id - H^T M_dd
    matrix = [[M[k][free[m]] + dot(M_id[n], minus_H[m]) + dot(minus_H[n], M_id[m])
               + dot(minus_H[n], apply(M_dd, minus_H[m])) for m in range(n + 1)]
              for n, k in enumerate(free)]  # fmt: skip
    h_d = [h[k] for k in bound]
    force = [f[k] + dot(minus_H[n], [f[m] for m in bound]) - dot(moved[n], h_d) for n, k in enumerate(free)]
    for n, k in enumerate(free):  # independent velocities that a constraint moves have h, too
        force[n] = force[n] - sum((M[k][m] + dot(minus_H[n], [M[d][m] for d in bound])) * h[m] for m in free)
    matrix = [[matrix[max(m, n)][min(m, n)] for n in range(len(free))] for m in range(len(free))]
    a = combined(G, solved(matrix, force), h)
    return (a, multipliers_of(space, M, f, a)) if multipliers else a


@algorithm(**DECLARED)
def forward_dynamics_pseudovelocities(model, q, v, tau, f_ext=None, *, multipliers=False):
    r"""Forward dynamics with constraints in pseudovelocities, along an orthonormal basis of the motions allowed.

    .. math:: \Sigma^T M \Sigma\, \dot\eta = \Sigma^T (\tau - c - M \Gamma k), \qquad
        a = \Sigma \dot\eta + \Gamma k, \qquad \begin{bmatrix} K \\ B \end{bmatrix}^{-1} =
        \begin{bmatrix} \Gamma & \Sigma \end{bmatrix}, \quad B = \Sigma^T

    Notes
    -----
    Source: Unseren, "Rigid body dynamics and decoupled control architecture for two strongly interacting manipulators"
    (1991), pseudovelocities by a matrix B that completes K; here by reflections of K^T (Kim and Vanderploeg, "QR
    decomposition for state space representation of constrained mechanical dynamic systems", 1986). Needs no choice
    of velocities, so it holds wherever the rows are independent. Explicit constraints are substituted before. Passive
    joint forces are not included.
    Identity: equals `forward_dynamics` without passive joint forces.

    See Also
    --------
    forward_dynamics, forward_dynamics_null_space, forward_dynamics_partitioning
    """
    space = constrained_space(model, q, v)
    n, k = len(space.left), space.remaining(space.k)
    factors = Reflected(space.K)
    x = []
    for m, alpha in enumerate(factors.diagonal):  # R^T x = k
        x.append((k[m] - dot(factors.columns[m][:m], x)) / alpha)

    def taken_back(y, k=None):
        return space.expanded(factors.taken_back(y), k)

    a_0 = taken_back([*x, *[0.0] * (n - len(x))], space.k)
    for k, a_k in space.given.items():
        a_0[k] = a_0[k] + a_k
    basis = [taken_back([1.0 if j == m else 0.0 for j in range(n)]) for m in range(len(x), n)]
    M, f = crba(model, q), minus(tau, bias_forces(model, q, v, f_ext))
    rest = minus(f, apply(M, a_0))
    a = combined(basis, solved(congruent(basis, M), [dot(column, rest) for column in basis]), a_0)
    return (a, multipliers_of(space, M, f, a)) if multipliers else a
