"""Derivatives of forward dynamics, from those of inverse dynamics at the same state."""

from __future__ import annotations

from kinetree.algorithms.aba import aba
from kinetree.algorithms.derivatives import force_derivatives, joint_columns
from kinetree.algorithms.domain import UNIT_QUATERNIONS
from kinetree.algorithms.factorize import LDL
from kinetree.algorithms.spec import algorithm
from kinetree.spatial.scalar import is_zero


@algorithm(
    inputs={"q": "nq", "v": "nv", "tau": "nv"},
    optional={"f_ext": ("nb", 6)},
    outputs={"da_dq": ("nv", "nv"), "da_dv": ("nv", "nv"), "da_dtau": ("nv", "nv")},
    domains=(UNIT_QUATERNIONS,),
)
def aba_derivatives(model, q, v, tau, f_ext=None):
    r"""Derivatives of forward dynamics with respect to position, velocity and joint forces.

    .. math:: da = -M^{-1}\frac{\partial\tau}{\partial q}\,dq - M^{-1}\frac{\partial\tau}{\partial v}\,dv + M^{-1} d\tau

    Parameters
    ----------
    model : Model
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s].
    tau : (..., nv) array
        Joint forces [N m or N].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench on each body [N m, N], in world coordinates about the world's origin; held constant there.

    Returns
    -------
    da_dq : (..., nv, nv) array
        Column k is d/ds of ``aba(integrate(q, s e_k), v, tau)`` at s = 0 [1/s^2, m/(rad s^2) or 1/(m s^2)].
    da_dv : (..., nv, nv) array
        Derivative with respect to v [1/s, m/s].
    da_dtau : (..., nv, nv) array
        The inverse of the joint-space inertia matrix [1/(kg m^2), 1/kg].

    Raises
    ------
    ShapeError, NonFiniteError, QuaternionError

    Notes
    -----
    Source: Carpentier, Mansard (2018), "Analytical Derivatives of Rigid Body Dynamics Algorithms", eq. 3: the
    derivatives of `rnea` at ``a = aba(q, v, tau)``, solved with M = L^T D L, whose factor keeps the zeros of the tree
    (Featherstone, section 6.5).
    Cost: O(n^2 d), d the depth of the tree. Like that of `aba`, the error grows with the condition of M.
    Identity: ``da_dq = -da_dtau @ rnea_derivatives(q, v, a).dtau_dq``.

    See Also
    --------
    aba, rnea_derivatives, differentiate

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> d = kt.aba_derivatives(kt.models.pendulum(length=2.0), [0.0], [0.0], [0.0])
    >>> bool(np.allclose(d.da_dq, -9.81 / 2.0))
    True
    """
    a = aba(model, q, v, tau, f_ext)
    dq, dv, M = force_derivatives(model, q, v, a, f_ext, joint_columns(model, q, v, a))
    W, d = inverse_factor(M)
    return _minus_solved(W, d, dq), _minus_solved(W, d, dv), _inverse(W, d)


def inverse_factor(M):
    """``W`` lower triangular and ``d`` with ``M^-1 = W diag(d) W^T``, where ``W = L^-1`` of ``M = L^T D L``.

    Leaves are eliminated first, so L and W have entries only between a coordinate and those that support it.
    """
    n = len(M)
    factor = LDL([[M[n - 1 - i][n - 1 - j] for j in range(i + 1)] for i in range(n)], [0.0] * n)
    # Column k of W: forward substitution with L, in which row i holds the entries of row n - 1 - i.. of the factor.
    W = [[0.0] * n for _ in range(n)]
    for k in range(n):
        W[k][k] = 1.0
        for i in range(k + 1, n):
            total = 0.0
            for j in range(k, i):
                total = total - _times(factor.L[n - 1 - j][n - 1 - i], W[j][k])
            W[i][k] = total
    return W, factor.reciprocals[::-1]


def _minus_solved(W, d, B):
    """``-M^-1 B``."""
    n = len(d)
    found = [[0.0] * n for _ in range(n)]
    for k in range(n):
        z = []
        for i in range(n):
            total = B[i][k]
            for m in range(i + 1, n):
                total = total + _times(W[m][i], B[m][k])
            z.append(_times(d[i], total))
        for i in range(n):
            total = z[i]
            for j in range(i):
                total = total + _times(W[i][j], z[j])
            found[i][k] = -total
    return found


def _inverse(W, d):
    """``M^-1 = W diag(d) W^T``."""
    n = len(d)
    weighted = [[_times(W[i][j], d[j]) for j in range(i)] + [d[i]] for i in range(n)]
    found = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for k in range(i + 1):
            total = weighted[i][k] if i != k else d[i]
            for j in range(k if i != k else i):
                total = total + _times(weighted[i][j], W[k][j])
            found[i][k] = found[k][i] = total
    return found


def _times(a, b):
    """a b without work for structural zeros, of which these matrices are full."""
    return 0.0 if is_zero(a) or is_zero(b) else a * b
