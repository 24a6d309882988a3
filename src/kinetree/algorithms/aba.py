"""Forward dynamics by the articulated-body algorithm.

Book (table 7.1)      here
``I^A_i, p^A_i``      ``IA[i], pA[i]``
``U_i, D_i, u_i``     ``U[i], D[i]`` (factorized), ``u[i]``
``a_i``               ``A[i]``, the part of the acceleration that the joint accelerations cause

The book carries the velocity-product accelerations c_i through all three passes. Here the first pass is that of
`rnea` with zero joint accelerations: it gives the force that each body needs for its gravity-offset velocity-product
acceleration, and ``pA`` starts with that force. The two later passes then solve for the rest, in which no c_i appears
(same equations, the variable a_i replaced by a_i minus its value for zero joint accelerations).
"""

from __future__ import annotations

from kinetree.algorithms.crba import crba
from kinetree.algorithms.factorize import LDL
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.rnea import bias_forces, outward_pass
from kinetree.algorithms.rotors import NearRotors, all_near, rotor_forces, solve_leaf_first
from kinetree.algorithms.spec import algorithm
from kinetree.spatial.scalar import is_zero

DEEP = 16
"""Bodies on a path from the root from which every body bears its own weight: the mass that base inertias move towards
the root is taken off again joint by joint, which costs digits in long chains (errors 2.3 times larger at 30 bodies)."""


@algorithm(inputs="q v tau", optional="f_ext", outputs="a", raises="SingularityError")
def aba(model, q, v, tau, f_ext=None):
    r"""Forward dynamics of the tree by the articulated-body algorithm.

    .. math:: a = M(q)^{-1} \bigl(\tau - c(q, v) + \sum_i J_i(q)^T f_i\bigr)

    Notes
    -----
    Source: Featherstone (2008), table 7.1. Differs: the velocity-product terms enter through the first pass of
    `rnea`, and the armature is added to D. Passive joint forces and couplings are not included: see
    `forward_dynamics`. The error grows with the condition of M: humanoids with light hands reach 1e8 and more.
    Cost: O(nb), with geared rotors (section 9.6) in one of the two bodies that their joint connects, too; others couple
    bodies that are no neighbors, and the system of `crba` is solved. Identity: ``aba(q, v, rnea(q, v, a)) = a``.

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
    if not all_near(model):
        return _by_inertia_matrix(model, q, v, tau, f_ext, diagonal)
    X, S, f = outward_pass(model, q, v, None, f_ext, model.I if max(model.depth) > DEEP else None)
    drives, rotors = rotor_forces(model, X, S, f, q, v, None), NearRotors(model)

    IA = [model.algebra.ArticulatedInertia.of(I) for I in model.I]
    pA, scales = list(f), inertia_scales(model)
    U, D, u = [None] * model.nb, [None] * model.nb, [None] * model.nb
    for i in model.inward():
        p, slot = model.parent[i], model.v_slice[i]
        U[i] = [IA[i] @ S_k for S_k in S[i]]
        resisting = diagonal[slot]
        if i in rotors.inertia:
            resisting = [resisting[0] + rotors.inertia[i]]
        if i in rotors.beyond:  # the couple of the rotor in body i, with its reaction on the joint
            resisting = [resisting[0] + S[i][0].dot(rotors.beyond[i])]
            U[i] = [U[i][0] + rotors.beyond[i]]
        D[i] = LDL([[S_m.dot(U_n) for U_n in U[i][: m + 1]] for m, S_m in enumerate(S[i])], resisting, scales[slot])
        u[i] = [tau_k - S_k.dot(pA[i]) for tau_k, S_k in zip(tau[slot], S[i], strict=True)]
        u[i] = [u_k - drive_k for u_k, drive_k in zip(u[i], drives[slot], strict=True)]
        if i in rotors.before:
            # The couple G of the rotor in the parent: qdd = D^-1 (u - (U + G)^T a'), all in the parent's coordinates.
            U[i] = [X[i].inverse_apply(U[i][0]) + rotors.before[i]]
            [(column, reciprocal)] = D[i].dyads(U[i])
            IA[p] = IA[p] + X[i].inverse_apply(IA[i]).minus_product([column], [column * reciprocal])
            pA[p] = pA[p] + X[i].inverse_apply(pA[i]) + column * (u[i][0] * reciprocal)
            continue
        if p:
            # I^a = I^A - U D^-1 U^T,  p^a = p^A + U D^-1 u
            # It maps S to zero, exactly so without armature: then its rows and columns along S are structural zeros.
            Ia, bare = IA[i], all(is_zero(x) for x in resisting) and i not in rotors.beyond
            for k, (column, reciprocal) in enumerate(D[i].dyads(U[i]), 1):
                Ia = Ia.minus_product([column], [column * reciprocal], kernel=S[i][:k] if bare else ())
            pa = pA[i]
            for U_k, x_k in zip(U[i], D[i].solve(u[i]), strict=True):
                pa = pa + U_k * x_k
            IA[p] = IA[p] + X[i].inverse_apply(Ia)
            pA[p] = pA[p] + X[i].inverse_apply(pa)

    a = [0.0] * model.nv
    A = [model.algebra.Motion.zero()] + [None] * (model.nb - 1)
    for i in model.outward():
        # a' = X a_lambda,  qdd = D^-1 (u - U^T a'),  a = a' + S qdd
        A[i] = X[i] @ A[model.parent[i]]
        felt = A[model.parent[i]] if i in rotors.before else A[i]
        a_i = D[i].solve([u_k - U_k.dot(felt) for u_k, U_k in zip(u[i], U[i], strict=True)])
        a[model.v_slice[i]] = a_i
        for S_k, a_k in zip(S[i], a_i, strict=True):
            A[i] = A[i] + S_k * a_k
    return a


def _by_inertia_matrix(model, q, v, tau, f_ext, diagonal):
    """The same from M and c, for rotors that couple bodies which are not neighbors."""
    M = crba(model, q)
    for k in range(model.nv):
        M[k][k] = M[k][k] - model.armature[k] + diagonal[k]
    force = [t - c for t, c in zip(tau, bias_forces(model, q, v, f_ext), strict=True)]
    [a] = solve_leaf_first(M, [force], inertia_scales(model))
    return a
