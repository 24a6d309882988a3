"""Subspaces of motions and forces as matrices whose columns span them (Featherstone, section 3.3).

For analysis, tests and teaching: the algorithms take the force subspaces of joints from
`kinetree.algorithms.force_basis`. Orthogonality is that of dual spaces. The complement of a subspace of motions is one
of forces, those that do no work on it; it transforms as forces do, and no metric is involved. Motions have rotations
and translations as components, so a complement of motions among motions would depend on units and origin.
"""

from __future__ import annotations

import numpy as np

from kinetree.errors import ModelError, ShapeError

TOLERANCE = 1e-10  # of columns of unit length: smaller ones count as dependent


def dimension(S, tolerance: float = TOLERANCE) -> int:
    """Dimension of the subspace that the columns of S span.

    Parameters
    ----------
    S : array_like, shape (n, m)
        Any number of columns, also none.
    tolerance : float
        Columns below it, relative to the longest one, count as zero; the others are scaled to unit length; those
        whose remainder is then below it depend on the rest.

    Examples
    --------
    >>> dimension([[1.0, 2.0], [0.0, 0.0]])
    1
    """
    return len(_eliminate(_columns("dimension", S).T, tolerance)[1])


def complement(S, tolerance: float = TOLERANCE) -> np.ndarray:
    """The orthogonal complement of a subspace, in the dual space: ``T^T S = 0``.

    Parameters
    ----------
    S : array_like, shape (n, m)
        Motions as columns, or forces.
    tolerance : float
        As in `dimension`.

    Returns
    -------
    T : ndarray, shape (n, n - dim S)
        A basis of the forces, or of the motions. With S of a joint, it spans the constraint forces.

    Notes
    -----
    Source: Featherstone, section 3.3 and table 3.1. The basis comes from Gaussian elimination, so it has ones and zeros
    wherever it can: for the joints of table 4.1 it is the T of that table.

    Identities: ``dim S + dim T = n``; the complement of T is S; ``X* T`` is the complement of ``X S``.

    Examples
    --------
    A helical joint of pitch 0.2 m/rad: its forces are those that balance on the thread.

    >>> T = complement([[0.0], [0.0], [1.0], [0.0], [0.0], [0.2]])
    >>> print(T[:, -1])
    [ 0.   0.  -0.2  0.   0.   1. ]
    """
    S = _columns("complement", S)
    n = S.shape[0]
    rows, pivots = _eliminate(S.T, tolerance)
    free = [k for k in range(n) if k not in pivots]
    T = np.zeros((n, len(free)))
    for column, k in enumerate(free):
        T[k, column] = 1.0
        T[pivots, column] = -rows[:, k]
    return T


def is_same(S1, S2, tolerance: float = TOLERANCE) -> bool:
    """Whether two matrices span one subspace: ``S2 = S1 A`` with a regular A.

    Parameters
    ----------
    S1, S2 : array_like, shape (n, m)
        The numbers of columns may differ.
    tolerance : float
        As in `dimension`.

    Examples
    --------
    >>> is_same([[1.0], [2.0]], [[-2.0], [-4.0]])
    True
    """
    S1, S2 = _columns("is_same", S1), _columns("is_same", S2)
    return dimension(S1, tolerance) == dimension(S2, tolerance) == dimension(np.hstack([S1, S2]), tolerance)


def is_direct_sum(*bases, tolerance: float = TOLERANCE) -> bool:
    """Whether every vector is uniquely a sum of vectors from the subspaces (eq. 3.24-3.25).

    Parameters
    ----------
    *bases : array_like, shape (n, m)
        Linearly independent columns in each.
    tolerance : float
        As in `dimension`.

    Examples
    --------
    >>> is_direct_sum([[1.0], [0.0]], [[1.0], [1.0]])
    True
    """
    B = np.hstack([_columns("is_direct_sum", S) for S in bases])
    return B.shape[0] == B.shape[1] == dimension(B, tolerance)


def decompose(v, *bases, tolerance: float = TOLERANCE) -> tuple[np.ndarray, ...]:
    """The components of a vector in subspaces that sum directly to the whole space.

    Parameters
    ----------
    v : array_like, shape (n,)
    *bases : array_like, shape (n, m)
        Two or more; their dimensions add up to n.
    tolerance : float
        As in `dimension`.

    Returns
    -------
    components : tuple of ndarray, shape (n,)
        One in each subspace; their sum is v.

    Raises
    ------
    ShapeError
        If the numbers of columns do not add up to n.
    ModelError
        If the subspaces have a direction in common, so that the result is not unique.

    Notes
    -----
    Source: Featherstone, eq. 3.26-3.27.

    Examples
    --------
    >>> in_first, in_second = decompose([3.0, 1.0], [[1.0], [0.0]], [[1.0], [1.0]])
    >>> print(in_first, in_second)
    [2. 0.] [1. 1.]
    """
    bases = [_columns("decompose", S) for S in bases]
    B, sizes = np.hstack(bases), [S.shape[1] for S in bases]
    if B.shape[0] != B.shape[1]:
        total = " + ".join(map(str, sizes))
        raise ShapeError(
            f"decompose: the subspaces have {total} columns, expected {B.shape[0]} in all, the size of v.", sizes=sizes
        )
    if dimension(B, tolerance) < B.shape[0]:
        raise ModelError("decompose: the subspaces have a direction in common, or one of the bases is dependent.")
    alpha = np.split(np.linalg.solve(B, np.asarray(v, dtype=float)), np.cumsum(sizes)[:-1])
    return tuple(S @ x for S, x in zip(bases, alpha, strict=True))


def apparent_inverse_inertia(I, S) -> np.ndarray:
    """``Phi = S (S^T I S)^-1 S^T``: the apparent inverse inertia of a body that moves in a subspace only.

    Parameters
    ----------
    I : array_like, shape (6, 6)
        Inertia, positive definite on S; planar bodies have (3, 3).
    S : array_like, shape (6, m)
        Basis of the motions.

    Returns
    -------
    Phi : ndarray, shape (6, 6)
        Symmetric, of rank m; its range is S, its null space S's complement.

    Notes
    -----
    Source: Featherstone, eq. 3.54; without constraints it is the inverse inertia of eq. 2.72.

    Examples
    --------
    A body of 2 kg on a rail along x:

    >>> print(apparent_inverse_inertia(np.diag([1, 1, 1, 2, 2, 2]), np.eye(6)[:, 3:4])[3])
    [0.  0.  0.  0.5 0.  0. ]
    """
    I, S = np.asarray(I, dtype=float), _columns("apparent_inverse_inertia", S)
    return S @ np.linalg.solve(S.T @ I @ S, S.T) if S.shape[1] else np.zeros_like(I)


def split_force(I, S, f) -> tuple[np.ndarray, np.ndarray]:
    """The part of a force that accelerates a constrained body, and the part that the constraint opposes.

    Parameters
    ----------
    I : array_like, shape (6, 6)
        Inertia of the body, positive definite on S.
    S : array_like, shape (6, m)
        Basis of the motions that the constraint allows.
    f : array_like, shape (6,)
        The applied force [N m, N].

    Returns
    -------
    f_a, f_c : ndarray, shape (6,)
        [N m, N]. ``f_a = I S (S^T I S)^-1 S^T f`` is in I S, ``f_c = f - f_a`` in the complement of S; the constraint
        exerts -f_c on a body at rest.

    Notes
    -----
    Source: Featherstone, example 3.1 and eq. 3.28.

    Examples
    --------
    A push on a door, at its center of mass 0.4 m from the hinge: a part accelerates it, the hinge takes the rest.

    >>> from kinetree.spatial.dense import mcI
    >>> door = mcI(20.0, [0.4, 0.0, 0.0], np.diag([5.0, 6.0, 1.0]))
    >>> f_a, f_c = split_force(door, np.eye(6)[:, 2:3], [0.0, 0.0, 4.0, 0.0, 10.0, 0.0])
    >>> print(np.round(f_c, 3))
    [0.    0.    0.    0.    2.381 0.   ]
    """
    f = np.asarray(f, dtype=float)
    f_a = np.asarray(I, dtype=float) @ (apparent_inverse_inertia(I, S) @ f)
    return f_a, f - f_a


def _columns(caller: str, S) -> np.ndarray:
    S = np.asarray(S, dtype=float)
    if S.ndim != 2:
        raise ShapeError(
            f"{caller}: a subspace has shape {S.shape}, expected (n, m) with its basis as columns.", shape=S.shape
        )
    return S


def _eliminate(A: np.ndarray, tolerance: float) -> tuple[np.ndarray, list[int]]:
    """Independent rows of A, reduced so that each has a one in its pivot column and zeros in those of the others."""
    lengths = np.linalg.norm(A, axis=1)
    kept = lengths > tolerance * np.max(lengths, initial=0.0)
    A = A[kept] / lengths[kept, None]
    pivots: list[int] = []
    for k in range(min(A.shape)):
        row, column = np.unravel_index(np.argmax(np.abs(A[k:])), A[k:].shape)
        if abs(A[k + row, column]) <= tolerance:
            break
        A[[k, k + row]] = A[[k + row, k]]
        A[k] /= A[k, column]
        A -= np.outer(np.where(np.arange(len(A)) == k, 0.0, A[:, column]), A[k])
        pivots.append(int(column))
    return A[: len(pivots)], pivots
