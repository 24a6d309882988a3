r"""The general solution ``x = G y + g`` of ``K x = k``, and its blocks by clusters of loops.

Book (sections 8.8, 8.9)         here
``K_11, K_12, Q_1, Q_2``         ``A`` after elimination, ``rows``, ``columns``: the permutations
``y = x_2``                      ``x[independent]``
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.arguments import a_model, a_sequence, an_array, array, checked, refuse, whole
from kinetree.errors import SingularityError
from kinetree.textbook.loop_terms import loop_joints


class ConstraintSolution(NamedTuple):
    """All solutions of ``K x = k`` as ``x = G y + g``.

    Attributes
    ----------
    G : (n, n - r) array
        ``K G = 0``; the rows of the independent entries are those of the identity.
    g : (n,) array
        ``K g = k``, zero at the independent entries.
    independent : tuple of int
        The entries of x that are y.
    rows : tuple of int
        The r rows that were used; the others follow from them.
    misfit : float
        Largest error of the other rows: how inconsistent the equations are.
    """

    G: np.ndarray
    g: np.ndarray
    independent: tuple[int, ...]
    rows: tuple[int, ...]
    misfit: float

    @property
    def rank(self) -> int:
        """The rank r of K."""
        return len(self.rows)


@checked(K=an_array, k=an_array, independent=a_sequence, participating=a_sequence)
def solve_constraints(K, k, *, rank=None, independent=None, participating=None) -> ConstraintSolution:
    r"""The general solution of a linear system that may have dependent rows, by elimination with complete pivoting.

    .. math:: G = Q_2^T \begin{bmatrix} -K_{11}^{-1} K_{12} \\ 1 \end{bmatrix}, \qquad
        g = Q_2^T \begin{bmatrix} K_{11}^{-1} k_1 \\ 0 \end{bmatrix}

    Parameters
    ----------
    K : (m, n) array
        [Any.]
    k : (m,) array
        [Any.]
    rank : int, optional
        The rank of K; by default elimination ends where all pivots are below 1e-9 of the largest
        entry of their row.
    independent : sequence of int, optional
        The entries of x to be y: then only rows are exchanged (partial pivoting).
    participating : sequence of int, optional
        The columns that belong to loops; the others are zero, and their entries of x are independent.

    Returns
    -------
    ConstraintSolution
        ``G, g, independent, rows, misfit``.

    Raises
    ------
    SingularityError
        The chosen independent entries do not determine the others, or K has not the given rank.

    Notes
    -----
    Source: Featherstone (2008), section 8.8, eqs. 8.48-8.51. Differs: rows are scaled by their largest entry before
    pivots are compared, since rows have different units; rows of rounding, as in planar loops, are not. The choice of
    pivots branches on values, so this is for single matrices and is not compiled.
    *Identities* ``K G = 0``, ``K g = k``; G has full rank and at least (n - r)(n - r - 1) zeros.

    Examples
    --------
    >>> import kinetree as kt
    >>> found = kt.textbook.solve_constraints([[2.0, -1.0, 0.0], [4.0, -2.0, 0.0]], [0.0, 0.0])
    >>> found.rank, found.independent
    (1, (1, 2))
    >>> found.G + 0.0
    array([[0.5, 0. ],
           [1. , 0. ],
           [0. , 1. ]])
    """
    who = "solve_constraints"
    K = array(f"{who}: K", K, shape=(None, None))
    k = array(f"{who}: k", k, shape=(len(K),))
    if not (np.isfinite(K).all() and np.isfinite(k).all()):
        refuse(f"{who}: K or k", np.nan, "finite numbers")
    n = K.shape[1]
    chosen = None if independent is None else _columns(f"{who}: independent", independent, n)
    used = range(n) if participating is None else _columns(f"{who}: participating", participating, n)
    least = None if rank is None else whole(f"{who}: rank", rank, least=0, most=min(K.shape))
    return eliminated(K, k, least, chosen, used)


def _columns(what: str, given, n: int) -> list[int]:
    found = [whole(what, k, f"different columns from 0 to {n - 1}", least=0, most=n - 1) for k in given]
    if len(set(found)) < len(found):
        refuse(what, found, f"different columns from 0 to {n - 1}")
    return found


SMALL = 1e-9  # pivots below this part of their row's largest entry are zero
LEAST = 1e-3  # of the largest entry of K: rows that are smaller are rounding, and are not scaled up any further


def eliminated(K, k, rank=None, independent=None, participating=None, small=SMALL, least=LEAST) -> ConstraintSolution:
    """`solve_constraints` of arrays of any floating type."""
    (m, n), dtype = K.shape, np.result_type(K, k)
    scale = np.abs(K).max(axis=1, initial=0.0)
    scale = np.maximum(scale, least * scale.max(initial=0.0) or 1e-300)
    scale = np.where(scale > 1e-300, scale, 1.0)
    A = np.concatenate([K, k[:, None]], axis=1).astype(dtype) / scale[:, None]
    rows, columns, left = [], [], list(range(m))
    free = [c for c in (range(n) if participating is None else participating) if c not in (independent or ())]
    while left and free and len(rows) != rank:
        size = np.abs(A[np.ix_(left, free)])
        if independent is None:
            at, c = np.unravel_index(int(np.argmax(size)), size.shape)
        else:
            at, c = int(np.argmax(size[:, 0])), 0
        if rank is None and size[at, c] < small and independent is None:
            break
        if size[at, c] < small:
            where = f"column {free[c]} follows from the others" if independent else f"only {len(rows)} pivots"
            raise SingularityError(f"solve_constraints: {where}, so K has no inverse for the dependent entries; "
                                   "expected another choice of independent ones, or a lower rank")  # fmt: skip
        row, column = left.pop(at), free.pop(c)
        rows.append(row)
        columns.append(column)
        # LU = K_11, and L^-1 K_12, L^-1 k_1 in the other columns
        A[left] -= A[row] * (A[left, column] / A[row, column])[:, None]
        A[left, column] = 0.0
    for step in reversed(range(len(rows))):  # back-substitution
        A[rows[step]] /= A[rows[step], columns[step]]
        A[rows[:step]] -= A[rows[step]] * A[rows[:step], columns[step]][:, None]
    y = [c for c in range(n) if c not in columns]
    G, g = np.zeros((n, len(y)), dtype), np.zeros(n, dtype)
    G[y, range(len(y))] = 1.0
    for row, column in zip(rows, columns, strict=True):
        G[column], g[column] = -A[row, y], A[row, n]
    misfit = float(np.abs(A[left, n] * scale[left]).max(initial=0.0))
    return ConstraintSolution(G, g, tuple(y), tuple(rows), misfit)


# Clusters -------------------------------------------------------------------------------------------------------------


class LoopCluster(NamedTuple):
    """Loops that are coupled by common joints, and coupled to no others.

    Attributes
    ----------
    loops : tuple of str
        Names of the loop joints.
    joints : tuple of int
        Numbers of the tree joints (bodies) on their paths, ascending.
    rows : tuple of int
        Their rows of K.
    columns : tuple of int
        The velocity coordinates of the joints: the columns of their block.
    """

    loops: tuple[str, ...]
    joints: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]


@checked(model=a_model)
def loop_clusters(model) -> tuple[LoopCluster, ...]:
    """The minimal clusters of loops: two loops are coupled if a tree joint is on the paths of both.

    Parameters
    ----------
    model : Model
        Its constraints are loop joints.

    Returns
    -------
    tuple of LoopCluster
        In the order of their first loops.

    Raises
    ------
    UnsupportedError
        The model has constraints of other kinds.

    Notes
    -----
    Source: Featherstone (2008), section 8.9 and figure 8.1. K has one block for each cluster, and zeros elsewhere.

    Examples
    --------
    >>> import kinetree as kt
    >>> model, *_ = kt.models.random_loops(2, bodies=12, loops=3, family="planar")
    >>> K, *_ = kt.textbook.loop_constraints(model, model.neutral(), [0.0] * model.nv)
    >>> cluster = kt.textbook.loop_clusters(model)[0]
    >>> outside = [k for k in range(model.nv) if k not in cluster.columns]
    >>> float(abs(K[list(cluster.rows)][:, outside]).max(initial=0.0))
    0.0
    """
    loop_joints(model, "loop_clusters")  # refuses other constraints
    found = [([loop.name], path(model, loop), tuple(rows)) for loop, rows in model.constraint_rows()]
    clusters: list[tuple[list, set, tuple]] = []
    for names, joints, rows in found:
        touching = [c for c in clusters if c[1] & joints]
        merged = ([x for c in touching for x in c[0]] + names, joints.union(*(c[1] for c in touching)),
                  tuple(x for c in touching for x in c[2]) + rows)  # fmt: skip
        at = next((n for n, c in enumerate(clusters) if c in touching), len(clusters))
        clusters = [c for c in clusters if c not in touching]
        clusters.insert(min(at, len(clusters)), merged)
    slots = [range(*model.v_slice[i].indices(model.nv)) for i in range(model.nb)]
    return tuple(
        LoopCluster(tuple(names), tuple(sorted(joints)), tuple(sorted(rows)),
                    tuple(k for i in sorted(joints) for k in slots[i]))
        for names, joints, rows in clusters
    )  # fmt: skip


def path(model, loop) -> set[int]:
    """The tree joints between the bodies of a loop joint and their common ancestor."""
    i, j = (model.frame(name).body for name in loop.frames)
    return set(model.support(i) if i else ()) ^ set(model.support(j) if j else ())


@checked(model=a_model)
def cluster_numbering(model) -> tuple[int, ...]:
    """A regular numbering of the bodies in which the tree joints of each cluster have consecutive numbers.

    Parameters
    ----------
    model : Model
        Its constraints are loop joints.

    Returns
    -------
    tuple of int
        The present numbers of the bodies in the new order, the world first.

    Raises
    ------
    UnsupportedError
        The model has constraints of other kinds.

    Notes
    -----
    Source: Featherstone (2008), section 8.9: with this numbering K and G are irregular block-diagonal matrices.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.textbook.cluster_numbering(kt.models.double_pendulum())
    (0, 1, 2)
    """
    members = {i: c.joints for c in loop_clusters(model) for i in c.joints}
    order, taken = [0], {0}

    def ready(i: int) -> bool:
        return all(model.parent[j] in taken or model.parent[j] in members.get(i, (i,)) for j in members.get(i, (i,)))

    while len(order) < model.nb:
        i = next(i for i in range(1, model.nb) if i not in taken and ready(i))
        order += members.get(i, (i,))
        taken |= set(members.get(i, (i,)))
    return tuple(order)


@checked(model=a_model, K=an_array, k=an_array)
def solve_by_clusters(model, K, k) -> ConstraintSolution:
    """`solve_constraints` one cluster of loops after the other.

    Parameters
    ----------
    model : Model
        Its constraints are loop joints.
    K : (nc, nv) array
        From `loop_constraints` [1 and m].
    k : (nc,) array
        [rad/s^2 and m/s^2].

    Returns
    -------
    ConstraintSolution

    Raises
    ------
    UnsupportedError
        The model has constraints of other kinds.

    Notes
    -----
    Source: Featherstone (2008), section 8.9. Differs: columns keep the order of the model's joints; with that of
    `cluster_numbering` the blocks are on the diagonal.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v = kt.models.random_loops(2, bodies=12, loops=3, family="planar")
    >>> K, k, _ = kt.textbook.loop_constraints(model, q, v)
    >>> found = kt.textbook.solve_by_clusters(model, K, k)
    >>> bool(np.abs(K @ found.G).max() < 1e-12), bool(np.abs(K @ found.g - k).max() < 1e-9)
    (True, True)
    """
    K = array("solve_by_clusters: K", K, shape=(model.nc, model.nv))
    k = array("solve_by_clusters: k", k, shape=(model.nc,))
    blocks, dependent, rows = [], set(), []
    for cluster in loop_clusters(model):
        found = eliminated(K[np.ix_(cluster.rows, cluster.columns)], k[list(cluster.rows)])
        blocks.append((cluster, found))
        rows += [cluster.rows[n] for n in found.rows]
        dependent |= {c for n, c in enumerate(cluster.columns) if n not in found.independent}
    y = [c for c in range(model.nv) if c not in dependent]
    G, g = np.zeros((model.nv, len(y))), np.zeros(model.nv)
    G[y, range(len(y))] = 1.0
    for cluster, found in blocks:
        own = [y.index(cluster.columns[n]) for n in found.independent]
        G[np.ix_(cluster.columns, own)] = found.G
        g[list(cluster.columns)] = found.g
    return ConstraintSolution(G, g, tuple(y), tuple(rows), max((found.misfit for _, found in blocks), default=0.0))
