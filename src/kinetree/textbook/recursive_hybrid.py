"""Recursive hybrid dynamics by Kim: a third method, with spatial accelerations and the total forces across joints.

Sueda (algorithm 9)      here
``S_j, eta_j``           ``S[i], eta[i]``
``V_j, V_j dot``         ``V[i], A[i]``
``M_j, M_j hat, Pi_j``   ``I[i], M[i], Pi``
``B_j hat, beta_j``      ``B[i], beta``
``Psi_j``                ``Psi[i]``, factorized
``F_j``                  ``F``, the force across joint i
"""

from __future__ import annotations

from kinetree.algorithms.factorize import LDL
from kinetree.algorithms.joint_sets import READ, forward_joints
from kinetree.algorithms.kinematics import link_transform, motion_subspace
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.spec import algorithm


@algorithm(
    inputs="q v tau a",
    optional="f_ext",
    outputs="a_all tau_all",
    static=("forward",),
    symbols=READ,
    raises="SingularityError",
    geared=False,
)
def hybrid_recursive(model, q, v, tau, a, f_ext=None, *, forward):
    """Hybrid dynamics of the tree by Kim's recursion.

    Notes
    -----
    Source: Sueda, algorithm 9, after Kim and Pollard (2011) and Kim (2012). Differs: gravity is an acceleration of the
    world instead of a force on every body; the armature is part of Psi. An independent method for the results of
    `hybrid_aba`, which needs fewer operations. Cost: O(nb).

    See Also
    --------
    hybrid_aba, hybrid_crba
    """
    fd = forward_joints(model, forward)
    zero, X_0 = model.algebra.Motion.zero(), [model.algebra.Transform.identity()] + [None] * (model.nb - 1)
    X, S, eta, M, B, u, Psi = ([None] * model.nb for _ in range(7))
    V, A = [zero, *[None] * (model.nb - 1)], [zero, *[None] * (model.nb - 1)]
    A[0] = type(zero)(zero.angular, -model.gravity)
    a_all, tau_all, scales = list(a), list(tau), inertia_scales(model)

    for i in model.outward():
        p, joint, q_i, v_i = model.parent[i], model.joints[i], model.q_of(i, q), model.v_of(i, v)
        X[i], S[i] = link_transform(model, i, q), motion_subspace(model, i, q)
        V_J = joint.velocity(q_i, v_i)
        # V = Ad V_p + S qd,  eta = ad(V) S qd + Sdot qd
        V[i] = X[i] @ V[p] + V_J
        eta[i] = V[i].cross(V_J) + joint.bias(q_i, v_i)
        if i not in fd:
            eta[i] = eta[i] + S[i] @ model.v_of(i, a)
        # B = -ad(V)^T M V - F_ext
        M[i], B[i] = model.I[i], V[i].cross(model.I[i] @ V[i])
        if f_ext is not None:
            X_0[i] = X[i].collapse() @ X_0[p]
            B[i] = B[i] - X_0[i] @ model.algebra.external(f_ext[i])

    for i in model.inward():
        p, slot = model.parent[i], model.v_slice[i]
        Pi, beta = M[i], B[i] + M[i] @ eta[i]
        if i in fd:
            U = M[i] @ S[i]
            Psi[i] = LDL(S[i].T @ U, model.armature[slot], scales[slot])
            # Pi = M - M S Psi S^T M,  beta = B + M (eta + S Psi (tau - S^T (M eta + B)))
            Pi = model.algebra.ArticulatedInertia.of(M[i])
            for column, reciprocal in Psi[i].dyads(U):
                Pi = Pi.minus_product([column], [column * reciprocal])
            beta = B[i] + M[i] @ (eta[i] + S[i] @ Psi[i].solve(tau[slot] - S[i].T @ beta))
        if p:
            M[p] = M[p] + X[i].inverse_apply(Pi)
            B[p] = B[p] + X[i].inverse_apply(beta)

    for i in model.outward():
        slot = model.v_slice[i]
        A[i] = X[i] @ A[model.parent[i]] + eta[i]
        if i in fd:
            # qdd = Psi (tau - S^T M (Ad A_p + eta) - S^T B)
            F = M[i] @ A[i] + B[i]
            a_all[slot] = a_i = Psi[i].solve(tau[slot] - S[i].T @ F)
            A[i] = A[i] + S[i] @ a_i
        else:
            F = M[i] @ A[i] + B[i]
            for k, t in enumerate(S[i].T @ F, slot.start):
                tau_all[k] = t + model.armature[k] * a[k]
    return a_all, tau_all
