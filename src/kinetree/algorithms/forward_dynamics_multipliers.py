r"""Forward dynamics with constraints by multipliers, one algorithm for each way to solve.

.. math:: \begin{bmatrix} M & -K^T \\ K & 0 \end{bmatrix} \begin{bmatrix} a \\ \lambda \end{bmatrix} =
    \begin{bmatrix} \tau - c \\ k \end{bmatrix}

(Featherstone, eq. 8.36-8.41). `forward_dynamics` takes the one with the fewest operations by default.
"""

from __future__ import annotations

import functools

from kinetree.algorithms.aba import articulated_accelerations
from kinetree.algorithms.bounded_rows import bounded_constraints
from kinetree.algorithms.constrained import (
    ConstrainedSystem,
    cluster_accelerations,
    constrained_accelerations,
    equality_rows,
)
from kinetree.algorithms.couplings import expanded, typical_pivots, weighted, weighted_scales
from kinetree.algorithms.crba import crba
from kinetree.algorithms.domain import CLOSED_LOOPS, CONSTRAINTS, UNIT_QUATERNIONS
from kinetree.algorithms.inverse_mass import inverse_mass_product
from kinetree.algorithms.matrices import dot
from kinetree.algorithms.pivoted_rows import PivotedRows, PivotedSystem
from kinetree.algorithms.sparse import ltdl_factors, solve_ltdl
from kinetree.algorithms.spec import algorithm
from kinetree.errors import UnsupportedError
from kinetree.spatial.scalar import absolute, maximum, sqrt
from kinetree.state_kinematics import Kinematics

DECLARED = {
    "inputs": "q v tau",
    "optional": "f_ext",
    "outputs": "a",
    "further": "multipliers",
    "domains": (UNIT_QUATERNIONS, CONSTRAINTS, CLOSED_LOOPS),
    "raises": "SingularityError UnsupportedError",
}


def refuse_bounded(model, method: str) -> None:
    """Raise UnsupportedError for bounded rows."""
    for c in bounded_constraints(model):
        raise UnsupportedError(
            f"model {model.name!r} has the {c}, whose bounded forces method {method!r} does not compute: take "
            "forward_dynamics with method 'auto'",
            model=model.name,
        )


@algorithm(**DECLARED)
def forward_dynamics_dense(model, q, v, tau, f_ext=None, *, multipliers=False):
    """Forward dynamics with constraints by the whole saddle-point matrix.

    Notes
    -----
    Source: Featherstone (2008), section 8.5, method 1, eq. 8.36. Differs: rows that others imply are left out, and the
    factorization has no pivoting, since it eliminates the velocities first. Passive joint forces are not included.
    Cost: O((n + m)^3).
    Identity: equals `forward_dynamics` without passive joint forces.

    See Also
    --------
    forward_dynamics, forward_dynamics_sparse, forward_dynamics_clusters
    """
    refuse_bounded(model, "dense")
    given = model, q, v, tau, f_ext, model.armature
    return constrained_accelerations(*given, multipliers=multipliers, solver=SaddlePointSystem)


@algorithm(**DECLARED)
def forward_dynamics_sparse(model, q, v, tau, f_ext=None, *, multipliers=False):
    """Forward dynamics with constraints by multipliers, with the zeros of the tree in all factors.

    Notes
    -----
    Source: Featherstone (2008), section 8.5, method 2, eq. 8.37-8.41, and section 6.5 for the factors. Passive joint
    forces are not included. Cost: O(n d^2 + m d n + m^3).
    Identity: equals `forward_dynamics` without passive joint forces.

    See Also
    --------
    forward_dynamics, forward_dynamics_dense, forward_dynamics_clusters
    """
    given = model, q, v, tau, f_ext, model.armature
    return constrained_accelerations(*given, multipliers=multipliers, solver=ConstrainedSystem)


@algorithm(**DECLARED)
def forward_dynamics_clusters(model, q, v, tau, f_ext=None, *, multipliers=False):
    """Forward dynamics with constraints by articulated bodies over loop clusters.

    Notes
    -----
    Source: Featherstone (2008), table 7.1 and section 8.9: see `kinetree.algorithms.loop_clusters`. Passive joint
    forces are not included. Cost: linear in the number of clusters.
    Identity: equals `forward_dynamics` without passive joint forces.

    See Also
    --------
    forward_dynamics, forward_dynamics_sparse
    """
    refuse_bounded(model, "clusters")
    if model.geared:
        raise UnsupportedError(
            f"model {model.name!r} has gears that couple bodies which are no neighbors; method 'clusters' does not "
            "compute them: take forward_dynamics with method 'auto' or 'sparse'",
            model=model.name,
        )
    return cluster_accelerations(model, q, v, tau, f_ext, model.armature, multipliers)


@algorithm(**DECLARED)
def forward_dynamics_inverse_mass_products(model, q, v, tau, f_ext=None, *, multipliers=False):
    r"""Forward dynamics with constraints by products with the inverse mass matrix, in O(n) for each row.

    .. math:: A = K\,M^{-1} K^T, \qquad A\,\lambda = k - K\,M^{-1} (\tau - c)

    Notes
    -----
    Source: Featherstone (2008), section 8.5, method 2, with table 7.1 for the products. Couplings and locks have
    multipliers as loops have. Passive joint forces are not included. Cost: O(n m + m^3).
    Identity: equals `forward_dynamics` without passive joint forces.

    See Also
    --------
    forward_dynamics, inverse_mass_product
    """
    refuse_bounded(model, "inverse_mass_products")
    kin = Kinematics(model, q, v)
    numbers, rows, k = equality_rows(model, kin, {}, eliminated=True)
    K = [[row.get(j, 0.0) for j in range(model.nv)] for row in rows]
    a = articulated_accelerations(model, q, v, tau, f_ext, model.armature)
    responses = [inverse_mass_product(model, q, row) for row in K]
    A = [[dot(row, responses[n]) for n in range(m + 1)] for m, row in enumerate(K)]
    below = [tuple(reversed(range(m))) for m in range(len(K))]
    lam = solve_ltdl(*ltdl_factors(A, below), [x - dot(row, a) for x, row in zip(k, K, strict=True)], below)
    for response, x in zip(responses, lam, strict=True):
        a = [a_k + r * x for a_k, r in zip(a, response, strict=True)]
    found = dict(zip(numbers, lam, strict=True))
    return (a, [found.get(n, 0.0) for n in range(model.nc)]) if multipliers else a


@algorithm(**DECLARED)
def forward_dynamics_pivoted(model, q, v, tau, f_ext=None, *, multipliers=False):
    r"""Forward dynamics with constraints of any rank: multipliers of least norm and least error.

    .. math:: \lambda = A^+ \left(k - K\,M^{-1} (\tau - c)\right), \qquad A = K\,M^{-1} K^T

    Notes
    -----
    Source: Featherstone (2008), eq. 8.39-8.41; `kinetree.algorithms.pivoted_rows` for the pseudo-inverse. All rows
    share the load, those that others imply too: of all multipliers with the same accelerations these have the
    least sum of squares of moments, forces counted with the lever of their row in the loop. At singular
    positions, such as a flat four-bar, rows that depend on each other there are held in the sense of least squares; on
    both sides of such a position the result is that of `forward_dynamics`. `closed_loops_regularity` gives the rank.
    Passive joint forces are not included. Cost: r more steps with selections, 1.1 to 2 times `forward_dynamics`.

    See Also
    --------
    forward_dynamics, closed_loops_regularity

    Examples
    --------
    A parallelogram stretched out flat, where its rows depend on each other:

    >>> import kinetree as kt, numpy as np
    >>> bar = kt.models.parallelogram()
    >>> q = bar.keyframe("initial")[0]
    >>> a, force = kt.forward_dynamics(bar, q, np.zeros(3), np.zeros(3), multipliers=True, method="pivoted")
    >>> bool(np.allclose(a, kt.forward_dynamics(bar, q, np.zeros(3), np.zeros(3))))
    True
    """
    refuse_bounded(model, "pivoted")
    given = model, q, v, tau, f_ext, model.armature
    return constrained_accelerations(*given, multipliers=multipliers, solver=PivotedSystem)


class SaddlePointSystem(ConstrainedSystem):
    """The system as one matrix, of multipliers and then velocities; see `ConstrainedSystem`."""

    def accelerations(self, f, k) -> tuple[list, list]:
        """``G y`` of all velocity coordinates and lambda."""
        m, n = len(self.rows), len(self.columns)
        N = [[0.0] * (m + n) for _ in range(m + n)]
        for i, row in enumerate(self.H):
            for j, x in enumerate(self.K):
                N[m + i][j] = x[i]
            N[m + i][m : m + i + 1] = row[: i + 1]
        below = [tuple(reversed(range(r))) for r in range(m + n)]
        scales = typical_pivots(self.model, self.numbers, self.columns) + weighted_scales(self.model, self.columns)
        factors = ltdl_factors(N, below, scales, range(m))
        x = solve_ltdl(*factors, [*k, *(weighted(f, column) for column in self.columns)], below)
        return expanded(self.model, self.columns, x[m:]), [-x_r for x_r in x[:m]]


MULTIPLIERS = (
    forward_dynamics_dense,
    forward_dynamics_sparse,
    forward_dynamics_clusters,
    forward_dynamics_inverse_mass_products,
    forward_dynamics_pivoted,
)


@algorithm(
    inputs="q",
    outputs={"rank": (), "pivot": (), "error": ()},
    domains=(UNIT_QUATERNIONS,),
    symbols={
        "rank": "Number of rows of loops that do not depend on each other at q [1].",
        "pivot": "The smallest pivot of the rows that are solved for, relative to typical positions [1]: about the "
        "square of the distance to a singular position. Accelerations lose as many digits as it has zeros.",
        "error": "The largest error of position of rows that are left out [m or rad].",
    },
)
def closed_loops_regularity(model, q):
    """How far the loops of a model are from a singular position, and how well the rows that are left out are held.

    Notes
    -----
    Source: Featherstone (2008), section 8.6 for the rank; pivots as in `forward_dynamics`. Numbers for monitoring runs:
    ``rank`` below ``len(model.independent_rows())`` is a singular position, where `forward_dynamics` fails and its
    method "pivoted" does not; an ``error`` that grows means that the rows which were left out are not implied there.
    `kinetree.closed_loops.mobility` reports on one position in words.

    See Also
    --------
    forward_dynamics_pivoted

    Examples
    --------
    >>> import kinetree as kt
    >>> bar = kt.models.four_bar()
    >>> rank, pivot, error = kt.closed_loops.regularity(bar, bar.keyframe("initial")[0])
    >>> int(rank), bool(0.01 < pivot < 10.0), bool(error < 1e-12)
    (2, True, True)
    """
    kin, choice = Kinematics(model, q), model.loop_rows()
    system = PivotedSystem(model, crba(model, q), kin, {})
    place = [m for m, n in enumerate(system.numbers) if n in choice.coordinates]
    sizes = [sqrt(x) for x in typical_pivots(model, [system.numbers[m] for m in place], system.columns)]
    kept = [[system.A[m][n] / (one * other) for n, other in zip(place[: r + 1], sizes, strict=False)]
            for r, (m, one) in enumerate(zip(place, sizes, strict=True))]  # fmt: skip
    pivots = PivotedRows(kept, len(kept)).sizes
    errors, left_out = [0.0], {*choice.redundant, *choice.rounding}
    for c, numbers in model.constraint_rows():
        mine = [k for k, n in enumerate(numbers) if n in left_out]
        phi = c.residual(kin) if mine else None
        errors += [absolute(phi[k]) for k in mine] if phi is not None else []
    return system.pivots.rank, pivots[-1] if pivots else 1.0, functools.reduce(maximum, errors)
