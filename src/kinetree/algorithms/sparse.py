"""Factorizations and products that use only the entries of the mass matrix that can be nonzero for the tree.

Book (section 6.5)       here
``H, L, D``              ``M, L, D``
``lambda'(k), ...``      ``above[k]``: the columns of row k before the diagonal, the nearest first; for a tree the
                         ancestors of coordinate k, ``kinetree.model.topology.ancestors_of(model.dof_parent())``

With ``M = L^T L`` or ``L^T D L`` elimination starts at the leaves, so nothing is filled: L has the zeros of the lower
triangle of M. Entries outside ``above`` and the upper triangle are never read. Matrices are nested sequences
``M[i][j]`` of any scalars; a batch is a matrix of arrays (``np.moveaxis(M, (-2, -1), (0, 1))`` of a stack of matrices).
Nothing is written to an argument, so results may replace operands.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from kinetree.algorithms.regularity import require_regular
from kinetree.spatial.scalar import absolute, sqrt

Rows = Sequence[Sequence[int]]


def lower_triangle(M, above: Rows) -> list[list]:
    """A copy of the lower triangle, zero where the tree has zeros, for a factorization to work in."""
    H = [[0.0] * len(above) for _ in above]
    for k, columns in enumerate(above):
        for i in (k, *columns):
            H[k][i] = M[k][i]
    return H


def ltl_factors(M, above: Rows, scales: Sequence | None = None) -> list[list]:
    """L with ``M = L^T L``: the factorization of Cholesky in the order that keeps the tree's zeros.

    Parameters
    ----------
    M : nested sequence of scalars
        Symmetric and positive definite.
    above : sequence of sequence of int
    scales : sequence, optional
        Scales to which the pivots are compared, the diagonal of M by default.

    Returns
    -------
    list of list
        Lower triangular.

    Raises
    ------
    SingularityError
        M is not positive definite, to working precision.

    Notes
    -----
    Source: Featherstone (2008), table 6.3. Cost (table 6.6): n square roots, D1 divisions, D2 (m + a).
    """
    H = lower_triangle(M, above)
    for k in reversed(range(len(above))):
        require_regular(H[k][k], scales[k] if scales else M[k][k])
        H[k][k] = sqrt(H[k][k])
        for i in above[k]:
            H[k][i] = H[k][i] / H[k][k]
        for m, i in enumerate(above[k]):
            for j in above[k][m:]:
                H[i][j] = H[i][j] - H[k][i] * H[k][j]
    return H


def ltdl_factors(
    M, above: Rows, scales: Sequence | None = None, negative: Container[int] = ()
) -> tuple[list[list], list]:
    """L and D with ``M = L^T D L``, L with a unit diagonal: no square roots.

    Parameters
    ----------
    M : nested sequence of scalars
        Symmetric and positive definite.
    above : sequence of sequence of int
    scales : sequence, optional
        Scales to which the pivots are compared. Without it M may be indefinite, and its diagonal takes their place.
    negative : container of int
        With scales, the rows whose pivots are negative, as those of multipliers are.

    Returns
    -------
    L : list of list
    D : list
        The diagonal; all positive if M is positive definite.

    Raises
    ------
    SingularityError
        A pivot is zero to working precision, or has not the sign that it should have if there are scales.

    Notes
    -----
    Source: Featherstone (2008), table 6.3. Cost (table 6.6): D1 divisions, D2 (m + a). Compiled, the divisions by one
    pivot become products with its reciprocal.
    """
    H, D = lower_triangle(M, above), [0.0] * len(above)
    for k in reversed(range(len(above))):
        if scales:
            require_regular(-H[k][k] if k in negative else H[k][k], scales[k])
        else:
            require_regular(absolute(H[k][k]), absolute(M[k][k]))
        D[k], H[k][k] = H[k][k], 1.0
        for m, i in enumerate(above[k]):
            a = H[k][i] / D[k]
            for j in above[k][m:]:
                H[i][j] = H[i][j] - a * H[k][j]
            H[k][i] = a
    return H, D


def times_lower(L, x, above: Rows, unit: bool = False) -> list:
    """``L x``; with ``unit`` the diagonal is taken for ones and not read.

    Notes
    -----
    Source: Featherstone (2008), table 6.5. Cost: (n m +) D1 (m + a).
    """
    y = _on_diagonal(L, x, unit)
    for i, columns in enumerate(above):
        for j in columns:
            y[i] = y[i] + L[i][j] * x[j]
    return y


def times_lower_transpose(L, x, above: Rows, unit: bool = False) -> list:
    """``L^T x``. Source and cost: as for `times_lower`."""
    y = _on_diagonal(L, x, unit)
    for i, columns in enumerate(above):
        for j in columns:
            y[j] = y[j] + L[i][j] * x[i]
    return y


def times_symmetric(M, x, above: Rows) -> list:
    """``M x`` from the lower triangle of a symmetric M.

    Notes
    -----
    Source: Featherstone (2008), table 6.5. Cost: n m + 2 D1 (m + a).
    """
    y = _on_diagonal(M, x, unit=False)
    for i, columns in enumerate(above):
        for j in columns:
            y[i] = y[i] + M[i][j] * x[j]
            y[j] = y[j] + M[i][j] * x[i]
    return y


def solve_lower(L, b, above: Rows, unit: bool = False) -> list:
    """``L^-1 b``, from the root outward.

    Notes
    -----
    Source: Featherstone (2008), table 6.5. Cost: (n divisions +) D1 (m + a).
    """
    x = list(b)
    for i, columns in enumerate(above):
        for j in columns:
            x[i] = x[i] - L[i][j] * x[j]
        if not unit:
            x[i] = x[i] / L[i][i]
    return x


def solve_lower_transpose(L, b, above: Rows, unit: bool = False) -> list:
    """``L^-T b``, from the leaves inward. Source and cost: as for `solve_lower`."""
    x = list(b)
    for i in reversed(range(len(above))):
        if not unit:
            x[i] = x[i] / L[i][i]
        for j in above[i]:
            x[j] = x[j] - L[i][j] * x[i]
    return x


def solve_ltl(L, b, above: Rows) -> list:
    """``M^-1 b = L^-1 L^-T b``. Cost (table 6.6): 2 n divisions, 2 D1 (m + a)."""
    return solve_lower(L, solve_lower_transpose(L, b, above), above)


def solve_ltdl(L, D, b, above: Rows) -> list:
    """``M^-1 b = L^-1 D^-1 L^-T b``. Cost (table 6.6): n divisions, 2 D1 (m + a)."""
    x = solve_lower_transpose(L, b, above, unit=True)
    return solve_lower(L, [x_k / d_k for x_k, d_k in zip(x, D, strict=True)], above, unit=True)


def _on_diagonal(L, x, unit: bool) -> list:
    return list(x) if unit else [L[i][i] * x_i for i, x_i in enumerate(x)]
