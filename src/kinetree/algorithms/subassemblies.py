r"""The subassemblies of divide and conquer: a link, two neighbors joined, and the disassembly when the forces are
known.

A subassembly is a connected set of bodies with its proximal joint. Its inner handle is the predecessor of that
joint, its outer handle its own outermost body on the path. With a_0 the acceleration of the inner handle, f_0
the force that the joint transmits from there, f the force that goes on through the outer handle and a its acceleration,

.. math:: a = A a_0 - L L^T f + b, \qquad f_0 = J a_0 + A^T f + \eta

which is the book's multiple-handle equation (7.57) solved for the force of the inner handle: J is an articulated-body
inertia (I^a of table 7.1, seen across the joint), L L^T an inverse one. In this form every mechanism has an equation:
bodies may lack inertia (a point mass, a thin rod), where inverse inertias of single bodies do not exist; and branches
on one body simply add their J and eta. The square root L keeps the system to be solved symmetric and at least 1.

All are nested lists of scalars; a_0 and f_0 in the coordinates of the inner handle, a and f in those of the outer body.
"""

from __future__ import annotations

from kinetree.algorithms.factorize import LDL
from kinetree.algorithms.matrices import (
    apply,
    dot,
    identity,
    minus,
    mirrored,
    outer,
    plus,
    product,
    symmetric_product,
    transposed,
    triangular_factor,
)
from kinetree.spatial.scalar import sqrt

_OPEN = 5  # A, L, J, b, eta; a closed subassembly has J and eta alone


def divided_by_root(factorized, columns):
    """``U R^-T`` for ``R R^T`` = the factorized matrix; U is given and returned as rows."""
    R_inverse_columns = []
    vectors = transposed(columns)
    for i, column in enumerate(vectors):
        for k in range(i):
            column = [x - y * factorized.L[i][k] for x, y in zip(column, R_inverse_columns[k], strict=True)]
        R_inverse_columns.append(column)
    scaled = [
        [x * root for x in column]
        for column, root in zip(R_inverse_columns, map(sqrt, factorized.reciprocals), strict=True)
    ]
    return transposed(scaled) if scaled else [[] for _ in columns]


def link(steps, armature, tau, closed):
    r"""A body with its joint, or several in a row.

    Parameters
    ----------
    steps : list of tuple
        For each body, from the inside outward: X (from the coordinates of the one before), the columns of S, c, the
        inertia I (with the J of the branches on the body) and the force p at zero acceleration (with their eta).
    armature, tau : list of scalars
        Of all their velocities.
    closed : bool
        Whether nothing is connected further out.

    Returns
    -------
    tuple
        A, L, J, b, eta (or J, eta), and for the disassembly F, T, H (factorized: L and reciprocals), u and the first X.

    Notes
    -----
    With one body: ``T = S``, ``F = U``, ``H = D``, ``J = X^T (I - U D^-1 U^T) X``: table 7.1.
    """
    X_1, d, n = steps[0][0], len(steps[0][0]), len(armature)
    Y, T, b = None, [[] for _ in range(d)], None
    J, eta = [[0.0] * d for _ in range(d)], [0.0] * d
    F, H, u = [[0.0] * n for _ in range(d)], [[0.0] * (m + 1) for m in range(n)], list(tau)
    for X, S, c, I, p in steps:
        # a = Y a_1' + T qdd + b, with a_1' = X_1 a_0: in coordinates of the first body
        inner = Y is None
        Y = identity(d) if inner else product(X, Y)
        T = [[*row, *new] for row, new in zip(T if inner else product(X, T), _rows(S, d), strict=True)]
        b = c if inner else plus(apply(X, b), c)
        IY, IT, w = I if inner else product(I, Y), transposed(product(I, T)), plus(apply(I, b), p)
        J, eta = plus(J, I if inner else symmetric_product(Y, IY)), plus(eta, apply(transposed(Y), w))
        columns = transposed(T)
        for row, y in zip(F, transposed(Y), strict=True):
            for k, column in enumerate(IT):
                row[k] = row[k] + dot(y, column)
        for m, column in enumerate(columns):
            u[m] = u[m] - dot(column, w)
            for k, other in enumerate(IT[: m + 1]):
                H[m][k] = H[m][k] + dot(column, other)
    # H qdd = u - F^T a_1' - T^T f
    factorized = LDL(H, armature)
    solved = [factorized.solve(row) for row in F] if n else F  # F H^-1
    if n:
        J = mirrored([[x - dot(F[m], solved[k]) for k, x in enumerate(row[: m + 1])] for m, row in enumerate(J)])
        eta = plus(eta, apply(solved, u))
    back = (F, T, factorized.L, factorized.reciprocals, u, X_1)
    J, eta = symmetric_product(X_1, product(J, X_1)), apply(transposed(X_1), eta)
    if closed:
        return (J, eta), back
    A = Y
    if n:
        A = minus(Y, outer(T, solved))
        b = plus(b, apply(T, factorized.solve(u)))
    return (product(A, X_1), divided_by_root(factorized, T), J, b, eta), back


def link_accelerations(back, a_0, f=None):
    """Joint accelerations of a link, when its inner handle's acceleration and the force that goes on are known."""
    F, T, L, reciprocals, u, X_1 = back
    if not u:
        return []
    u = minus(u, apply(transposed(F), apply(X_1, a_0)))
    return LDL.of(L, reciprocals).solve(u if f is None else minus(u, apply(transposed(T), f)))


def pair(inner, outer_part):
    r"""Two neighbors along a path, joined at the outer handle of the first.

    Parameters
    ----------
    inner, outer_part : tuple
        A, L, J, b, eta of the first; the same or J, eta of the second.

    Returns
    -------
    tuple
        The joined subassembly, and the data of its disassembly.

    Notes
    -----
    Between them acts ``f_1 = J_2 a_1 + g`` with ``g = A_2^T f + eta_2``. Only its part
    ``y = L_1^T f_1`` acts on the first part, and ``(1 + L_1^T J_2 L_1) y = L_1^T (J_2 (A_1 a_0 + b_1) + g)``: the
    book's equation for lambda (7.60) with motions and forces exchanged.
    """
    A_1, L_1, J_1, b_1, eta_1 = inner
    J_2, eta_2 = outer_part[2::2] if len(outer_part) == _OPEN else outer_part
    rank = len(L_1[0])
    G = product(J_2, L_1) if rank else L_1
    K = LDL(_plus_one(symmetric_product(L_1, G)), [0.0] * rank) if rank else LDL([], [])
    Lt, Gt = transposed(L_1), transposed(G)
    y_b = K.solve(plus(apply(Gt, b_1), apply(Lt, eta_2))) if rank else []
    b = minus(b_1, apply(L_1, y_b)) if rank else b_1
    JA, Q = product(J_2, A_1), product(Gt, A_1)
    J = plus(J_1, symmetric_product(A_1, JA))
    if rank:
        N = divided_by_root(K, transposed(Q))
        J = minus(J, outer(N, N))
    eta = plus(eta_1, apply(transposed(A_1), plus(apply(J_2, b), eta_2)))
    back = (A_1, L_1, b_1, J_2, eta_2, Gt, K.L, K.reciprocals, *outer_part[:-4])  # and A_2, unless it is closed
    if len(outer_part) != _OPEN:
        return (J, eta), back
    A_2, L_2, _, b_2, _ = outer_part
    A, both = A_1, L_2
    if rank:
        # a_1 = (A_1 - L_1 K^-1 Q) a_0 + ...
        Y = transposed([K.solve(column) for column in transposed(Q)])
        A = minus(A_1, product(L_1, Y))
        K_L = divided_by_root(K, product(A_2, L_1))
        both = [[*x, *y] for x, y in zip(L_2, K_L, strict=True)]
        if len(both[0]) > len(both):
            both = triangular_factor(both)
    return (product(A_2, A), both, J, plus(b_2, apply(A_2, b)), eta), back


def junction(back, a_0, f=None):
    """Acceleration a_1 of the body between the two parts of a pair, and the force f_1 that goes on from it."""
    A_1, L_1, b_1, J_2, eta_2, Gt, L, reciprocals, *A_2 = back
    g = eta_2 if f is None else plus(apply(transposed(A_2[0]), f), eta_2)
    a_1 = plus(apply(A_1, a_0), b_1)
    if L_1[0]:
        y = LDL.of(L, reciprocals).solve(plus(apply(Gt, a_1), apply(transposed(L_1), g)))
        a_1 = minus(a_1, apply(L_1, y))
    return a_1, plus(apply(J_2, a_1), g)


def branches(first, second):
    """Two complete branches on one body: their forces on it add."""
    return tuple(plus(x, y) for x, y in zip(first, second, strict=True))


def _rows(columns, d):
    return transposed([list(column) for column in columns]) if columns else [[] for _ in range(d)]


def _plus_one(A):
    return [[x + 1.0 if i == j else x for j, x in enumerate(row[: i + 1])] for i, row in enumerate(A)]
