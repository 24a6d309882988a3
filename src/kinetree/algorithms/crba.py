"""The joint-space inertia matrix by the composite-rigid-body algorithm.

Book (table 6.2)      here
``H``                 ``M``
``I^c_i``             ``Ic[i]``
``F``                 ``F``, one column for each velocity of the joint
``i_X_lambda(i)``     ``X[i]``
"""

from __future__ import annotations

from kinetree.algorithms.gears import add_gear_inertia
from kinetree.algorithms.kinematics import links
from kinetree.algorithms.spec import algorithm


@algorithm(inputs="q", outputs="M")
def crba(model, q):
    r"""Joint-space inertia matrix by the composite-rigid-body algorithm.

    .. math:: T = \tfrac{1}{2} v^T M(q)\, v

    Notes
    -----
    Source: Featherstone (2008), table 6.2 and eq. 6.14-6.20. Differs: both triangles are filled; armature and gears
    are added.
    Entries of joints of which neither supports the other are exact zeros. Cost: O(n d), d the depth of the tree.

    See Also
    --------
    rnea, aba

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> M = kt.crba(kt.models.double_pendulum(), [0.1, -0.4])
    >>> bool(np.all(np.linalg.eigvalsh(M) > 0.0))
    True
    """
    X, S = links(model, q)
    M = [[0.0] * model.nv for _ in range(model.nv)]
    Ic = list(model.I)
    for i in model.inward():
        F = Ic[i] @ S[i]
        fill_block(M, model, i, i, F, S[i])
        j = i
        for p in model.ancestors(i):
            F = X[j].inverse_apply(F)
            fill_block(M, model, i, p, F, S[p])
            j = p
        if model.parent[i]:
            Ic[model.parent[i]] = Ic[model.parent[i]] + X[i].inverse_apply(Ic[i])

    add_gear_inertia(model, X, S, M)
    for k in range(model.nv):
        M[k][k] = M[k][k] + model.armature[k]
    return M


def fill_block(M, model, i, j, F, S_j):
    """``H_ij = F^T S_j`` and its transpose; of a diagonal block only one triangle is computed."""
    for m, F_m in enumerate(F, model.v_slice[i].start):
        for n, S_n in enumerate(S_j, model.v_slice[j].start):
            if i != j or n <= m:
                M[m][n] = M[n][m] = S_n.dot(F_m)
