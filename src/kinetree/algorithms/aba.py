"""Forward dynamics by the articulated-body algorithm.

Book (table 7.1)      here
``I^A_i, p^A_i``      ``IA[i], pA[i]``
``U_i, D_i, u_i``     of ``joint[i]``, `Eliminated`; ``u[i]``
``a_i``               ``A[i]``, the part of the acceleration due to the joint accelerations

The book has the velocity-product accelerations c_i in all three passes. Here the first pass is that of
`rnea` with zero joint accelerations: it gives the force that each body needs for its gravity-offset velocity-product
acceleration, and ``pA`` starts with that force. The two later passes then solve for the rest, in which no c_i appears
(same equations, the variable a_i replaced by a_i minus its value for zero joint accelerations).
"""

from __future__ import annotations

from kinetree.algorithms.aba_geared import geared_accelerations
from kinetree.algorithms.base_inertia import base_inertias_unless_deep
from kinetree.algorithms.elimination import Eliminated
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.rnea import outward_pass
from kinetree.algorithms.spec import algorithm


@algorithm(inputs="q v tau", optional="f_ext", outputs="a", raises="SingularityError")
def aba(model, q, v, tau, f_ext=None):
    r"""Forward dynamics of the tree by the articulated-body algorithm.

    .. math:: a = M(q)^{-1} \bigl(\tau - c(q, v) + \sum_i J_i(q)^T f_i\bigr)

    Notes
    -----
    Source: Featherstone (2008), table 7.1. Differs: the velocity-product terms enter through the first pass of
    `rnea`, and the armature is added to D. Passive joint forces and couplings are not included: see
    `forward_dynamics`. The error grows with the condition of M: humanoids with light hands reach 1e8 and more.
    Cost: O(nb), also with gears (section 9.6) of motors in one of the two bodies that their joint connects; others
    couple bodies that are no neighbors, and the system of `crba` is solved. Identity: ``aba(q, v, rnea(q, v, a)) = a``.

    See Also
    --------
    rnea, crba, forward_dynamics

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.pendulum(length=2.0)
    >>> bool(np.allclose(kt.aba(model, [np.pi / 2], [0.0], [0.0]), -9.81 / 2.0))
    True
    """
    return articulated_accelerations(model, q, v, tau, f_ext, model.armature)


def articulated_accelerations(model, q, v, tau, f_ext, diagonal):
    """The accelerations of ``(M + diag(diagonal)) a = tau - c``, where M is the inertia of the bodies alone."""
    if model.geared:
        return geared_accelerations(model, q, v, tau, f_ext, diagonal)
    X, S, pA = outward_pass(model, q, v, None, f_ext, base_inertias_unless_deep(model))
    return joint_accelerations(model, X, S, pA, tau, diagonal)


def joint_accelerations(model, X, S, pA, tau, diagonal):
    """The second and the third pass, for the forces ``pA`` that the bodies need at zero joint accelerations."""
    IA, scales = [model.algebra.ArticulatedInertia.of(I) for I in model.I], inertia_scales(model)
    joint, u = [None] * model.nb, [None] * model.nb
    for i in model.inward():
        p, slot = model.parent[i], model.v_slice[i]
        joint[i] = Eliminated(IA[i], S[i], diagonal[slot], scales[slot])  # U = I^A S,  D = S^T U
        u[i] = tau[slot] - S[i].T @ pA[i]
        if p:
            # I^a = I^A - U D^-1 U^T,  p^a = p^A + U D^-1 u
            IA[p] = IA[p] + X[i].inverse_apply(joint[i].inertia())
            pA[p] = pA[p] + X[i].inverse_apply(joint[i].force(pA[i], u[i]))

    a, A = [0.0] * model.nv, [model.algebra.Motion.zero()] + [None] * (model.nb - 1)
    for i in model.outward():
        # a' = X a_lambda,  qdd = D^-1 (u - U^T a'),  a = a' + S qdd
        A[i] = X[i] @ A[model.parent[i]]
        a[model.v_slice[i]] = a_i = joint[i].acceleration(u[i], A[i])
        A[i] = A[i] + S[i] @ a_i
    return a
