"""Articulated bodies over loop clusters: all joints and multipliers of a cluster are eliminated together.

Book (table 7.1, section 8.9)     here
``I^A_i, p^A_i``                  ``IA[i], pA[i]``; within a cluster those of all that body i supports there
``U_i, D_i, u_i``                 of a cluster: the forces on its base, and the factors of its own KKT matrix

A cluster is to its base as a joint is to the parent: with H the mass matrix of its joints on articulated inertias, K
its rows, U the forces on the base by unit accelerations of its joints, and a_b the acceleration of the base,

    [H  K^T] [  y'   ]   [tau - S^T p^A - U^T a_b]        N = L^T D L,    W = L^-T [U; 0]
    [K   0 ] [-lambda] = [           k           ],       I^A_b += I^c - W D^-1 W^T

K has no column for the base, since loops constrain relative velocities. In N each multiplier stands before the
innermost joint of its row. Then all joints of a row are eliminated before its multiplier, which leaves a pivot as
regular as the rows are independent. Without loops this is the articulated-body algorithm; with one cluster on the world
it is the solution of the whole KKT matrix in the order of the tree. The cost is linear in the number of clusters.
"""

from __future__ import annotations

from collections import defaultdict

from kinetree.algorithms.couplings import (
    coupling_columns,
    projected,
    typical_pivots,
    weighted,
    weighted_row,
    weighted_scales,
)
from kinetree.algorithms.crba import fill_block
from kinetree.algorithms.elimination import Eliminated
from kinetree.algorithms.kinematics import links
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.sparse import ltdl_factors, solve_lower, solve_lower_transpose
from kinetree.model.topology import filled_rows
from kinetree.spatial import Columns
from kinetree.spatial.scalar import is_zero


class ClusterSystem:
    """``H y = f + K^T lambda``, ``K y = k`` of one position, factorized cluster by cluster.

    Parameters
    ----------
    model : Model or ScalarModel
    kin : Kinematics
    diagonal : sequence
        Added to the mass matrix of the bodies, such as the armature.
    rows : tuple of 3 lists
        Of K: their numbers, entries by velocity coordinate, and right-hand sides.

    Attributes
    ----------
    numbers, rows, k : list
        As of `kinetree.algorithms.constrained.ConstrainedSystem`.
    """

    def __init__(self, model, kin, diagonal, rows) -> None:
        self.model, (self.numbers, self.rows, self.k) = model, rows
        self.X, self.S = links(model, kin.q)
        self.diagonal, self.scales = diagonal, inertia_scales(model)
        entries, columns = dict(zip(self.numbers, self.rows, strict=True)), columns_of_bodies(model)
        IA, self._parts = list(model.I), []
        for cluster in model.visits(model.clusters()[::-1]):
            mine = [column for i in cluster.bodies for column in columns[i]]
            if len(cluster.bodies) == 1 and not cluster.rows and len(mine) == len(self.S[cluster.bodies[0]]):
                part = SingleJoint(self, cluster.bodies[0], IA)
            else:
                part = JoinedJoints(self, cluster, mine, {n: entries[n] for n in cluster.rows}, IA)
            self._parts.append(part)

    def solve(self, tau, pA, k) -> tuple[list, list]:
        """Accelerations of all velocity coordinates (nv), and lambda.

        Parameters
        ----------
        tau : sequence
            Joint forces (nv).
        pA : sequence
            The force that each body needs at zero accelerations of the joints.
        k : sequence
            One for each of the rows.
        """
        model, k = self.model, dict(zip(self.numbers, k, strict=True))
        pA, a, lam, parts = list(pA), [0.0] * model.nv, {}, []
        for part in model.visits(self._parts):
            parts.append((part, part.inward(tau, pA, k)))
        A = [model.algebra.Motion.zero()] + [None] * (model.nb - 1)
        for part, u in model.visits(parts[::-1]):
            part.outward(u, A, a, lam)
        return a, [lam[n] for n in self.numbers]

    def relative_pivots(self) -> list:
        """The pivots of multipliers, relative to those of typical positions."""
        return [x for part in self._parts if isinstance(part, JoinedJoints) for x in part.pivots]

    def accelerations(self, f, k) -> tuple[list, list]:
        """``G y`` of all velocity coordinates and lambda, for joint forces f (nv) and one k for each of the rows."""
        return self.solve(f, [self.model.algebra.Force.zero()] * self.model.nb, k)

    def correction(self, r) -> list:
        """The change of velocity with ``K dv = -r`` that is least in the metric of M (nv)."""
        return self.accelerations([0.0] * self.model.nv, [-x for x in r])[0]


def columns_of_bodies(model) -> list[list]:
    """The columns of G (`coupling_columns`), by the body whose joint is the first in them."""
    found = [[] for _ in range(model.nb)]
    body = [i for i in range(1, model.nb) for _ in range(model.joints[i].nv)]
    for column in coupling_columns(model):
        found[body[column[0][0]]].append(column)
    return found


class SingleJoint:
    """A joint that no constraint connects to others, eliminated as in `aba`."""

    def __init__(self, system, i: int, IA) -> None:
        self.i, self.p, self.slot = i, system.model.parent[i], system.model.v_slice[i]
        self.X, self.S = system.X[i], system.S[i]
        inertia = system.model.algebra.ArticulatedInertia.of(IA[i])
        self.joint = Eliminated(inertia, self.S, system.diagonal[self.slot], system.scales[self.slot])
        if self.p:
            IA[self.p] = IA[self.p] + self.X.inverse_apply(self.joint.inertia())

    def inward(self, tau, pA, k):
        """The joint force that is left; the force on the parent is added to its own."""
        u = tau[self.slot] - self.S.T @ pA[self.i]
        if self.p:
            pA[self.p] = pA[self.p] + self.X.inverse_apply(self.joint.force(pA[self.i], u))
        return u

    def outward(self, u, A, a, lam) -> None:
        """Its acceleration, and that of its body."""
        A_i = self.X @ A[self.p]
        a[self.slot] = a_i = self.joint.acceleration(u, A_i)
        A[self.i] = A_i + self.S @ a_i


class JoinedJoints:
    """The joints and multipliers of one cluster, eliminated together.

    Attributes
    ----------
    unknowns : list
        A column of G for each velocity and the number of its row for each multiplier, in the order of N.
    W : Columns or None
        ``L^-T [U; 0]``, forces on the base; None if that is the world.
    """

    def __init__(self, system, cluster, columns, rows, IA) -> None:
        model, self.base, self.bodies = system.model, cluster.base, cluster.bodies
        self.X, self.S, self.parent, self.v_slice = system.X, system.S, model.parent, model.v_slice
        H, U = self._composite(model, IA)
        for k in H:
            H[k][k] = H[k][k] + system.diagonal[k]
        K = {n: [weighted_row(row, column) for column in columns] for n, row in rows.items()}
        self.unknowns, N = _saddle_point(H, K, columns)
        self.above = filled_rows([[m for m, x in enumerate(row[:r]) if not is_zero(x)] for r, row in enumerate(N)])
        sizes, rows = weighted_scales(model, columns), list(rows)
        pivots = dict(zip(rows, typical_pivots(model, rows, columns), strict=True))
        scales = [pivots[x] if isinstance(x, int) else sizes[columns.index(x)] for x in self.unknowns]
        negative = [r for r, x in enumerate(self.unknowns) if isinstance(x, int)]
        self.L, self.D = ltdl_factors(N, self.above, scales, negative)
        self.pivots = [-self.D[r] / scales[r] for r in negative]
        self.W, algebra = None, model.algebra
        if self.base:
            zero = algebra.Force.zero()
            forces = [zero if isinstance(u, int) else _combined(U, u) for u in self.unknowns]
            parts = [solve_lower_transpose(self.L, b, self.above, unit=True) for b in zip(*forces, strict=True)]
            self.W = [algebra.Force.of(list(entries)) for entries in zip(*parts, strict=True)]
            self.scaled = Columns([w * (1.0 / d) for w, d in zip(self.W, self.D, strict=True)], algebra.Force)
            IA[self.base] = algebra.ArticulatedInertia.of(IA[self.base]).minus_product(self.W, self.scaled)

    def _composite(self, model, IA):
        """H, and U, of all velocities by coordinate; the inertia of the whole is added to that of the base."""
        H, U = {k: defaultdict(float) for i in self.bodies for k in self._numbers(i)}, {}
        for i in reversed(self.bodies):
            F, j, p = IA[i] @ self.S[i], i, self.parent[i]
            fill_block(H, model, i, i, F, self.S[i])
            while p != self.base:
                F = self.X[j].inverse_apply(F)
                fill_block(H, model, i, p, F, self.S[p])
                j, p = p, self.parent[p]
            if self.base:
                U |= zip(self._numbers(i), self.X[j].inverse_apply(F), strict=True)
            p = self.parent[i]
            if p:
                IA[p] = IA[p] + self.X[i].inverse_apply(IA[i])
        return H, U

    def _numbers(self, i: int) -> range:
        return range(self.v_slice[i].start, self.v_slice[i].stop)

    def inward(self, tau, pA, k) -> list:
        """``z = L^-T [k; G^T u]``; the force on the base is added to its own."""
        u = {}
        for i in reversed(self.bodies):
            u |= zip(self._numbers(i), tau[self.v_slice[i]] - self.S[i].T @ pA[i], strict=True)
            p = self.parent[i]
            if p:
                pA[p] = pA[p] + self.X[i].inverse_apply(pA[i])
        b = [k[x] if isinstance(x, int) else weighted(u, x) for x in self.unknowns]
        z = solve_lower_transpose(self.L, b, self.above, unit=True)
        if self.base:
            pA[self.base] = self.scaled.onto(pA[self.base], z)
        return z

    def outward(self, z, A, a, lam) -> None:
        """Its accelerations and multipliers, and the accelerations of its bodies."""
        x = [z_r / d for z_r, d in zip(z, self.D, strict=True)]
        if self.base:
            x = [x_r - w.dot(A[self.base]) for x_r, w in zip(x, self.scaled, strict=True)]
        for unknown, x_r in zip(self.unknowns, solve_lower(self.L, x, self.above, unit=True), strict=True):
            if isinstance(unknown, int):
                lam[unknown] = -x_r
            else:
                for k, ratio in unknown:
                    a[k] = x_r * ratio
        for i in self.bodies:
            A[i] = self.X[i] @ A[self.parent[i]] + self.S[i] @ a[self.v_slice[i]]


def _saddle_point(H, K, columns):
    """The unknowns in their order, and the lower triangle of N."""
    place = [min(k for k, _ in column) for column in columns]
    order = {(at, 1, c): (column, c) for c, (column, at) in enumerate(zip(columns, place, strict=True))}
    for n, row in K.items():
        innermost = min((at for at, x in zip(place, row, strict=True) if not is_zero(x)), default=0)
        order[innermost, 0, n] = n, None
    unknowns = [order[key] for key in sorted(order)]
    N = [[0.0] * len(unknowns) for _ in unknowns]
    for r, (one, c) in enumerate(unknowns):
        for m, (other, d) in enumerate(unknowns[: r + 1]):
            if c is not None and d is not None:
                N[r][m] = projected(H, one, other)
            elif c is not None or d is not None:
                N[r][m] = K[other][c] if d is None else K[one][d]
    return [unknown for unknown, _ in unknowns], N


def _combined(U, column):
    """The force on the base that belongs to a column of G."""
    (k, ratio), *others = column
    total = U[k] if ratio == 1.0 else U[k] * ratio
    for m, ratio in others:
        total = total + U[m] * ratio
    return total
