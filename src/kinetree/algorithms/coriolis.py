"""The Coriolis matrix, in the factorization for which ``dM/dt - 2 C`` is skew.

All quantities are in world coordinates, where composite quantities are plain sums over subtrees. A body contributes
``J^T (I dJ/dt + B J)`` with ``B = (v x* I - I v x + (I v) xbar) / 2``, the Coriolis map of `kinetree.spatial.coriolis`.
"""

from __future__ import annotations

from kinetree.algorithms.base_inertia import base_inertias
from kinetree.algorithms.gears import add_gear_coriolis, has_gears
from kinetree.algorithms.jacobian import subspace_rate
from kinetree.algorithms.kinematics import link_transform, motion_subspace, world_axes_twists, world_transforms
from kinetree.algorithms.matrices import apply, minus, plus, put
from kinetree.algorithms.rnea import body_forces, inward_pass
from kinetree.algorithms.spec import algorithm


@algorithm(inputs="q v", outputs={"C": ("nv", "nv")}, symbols={"C": "Coriolis matrix [N m s, N s m or N s]."})
def coriolis_matrix(model, q, v):
    """Coriolis matrix C with ``C v`` the Coriolis and centrifugal forces and ``dM/dt = C + C^T``.

    Notes
    -----
    Source: Featherstone (2008), eq. 5.6, in the factorization by body-level matrices B described at the head of this
    file.
    Identities: ``C @ v = bias_forces - gravity_forces``; ``dM/dt - 2 C`` is skew, so passivity arguments are valid.
    With joints that depend on time dM/dt is still the sum of C and its transpose; ``C @ v`` then lacks the forces that
    their motion needs: ``bias_forces - gravity_forces - C @ v`` is a disturbance that does not vanish at v = 0.
    """
    X_0 = world_transforms(model, q)
    V = world_axes_twists(model, q, v, X_0, "world")
    Ic, Bc, S, S_dot = ([None] * model.nb for _ in range(4))
    for i in model.outward():
        Ic[i] = X_0[i].inverse_apply(model.I[i])
        Bc[i] = model.algebra.Coriolis.of(Ic[i], V[i])
        S[i], S_rate = X_0[i].inverse_apply(motion_subspace(model, i, q)), subspace_rate(model, i, q, v)
        S_dot[i] = V[i].cross(S[i])
        if S_rate is not None:
            S_dot[i] = S_dot[i] + X_0[i].inverse_apply(S_rate)

    C = [[0.0] * model.nv for _ in range(model.nv)]
    for i in model.inward():
        p, slot = model.parent[i], model.v_slice[i]
        F, F_rate = Ic[i] @ S[i], Ic[i] @ S_dot[i] + Bc[i] @ S[i]  # I S,  I dS/dt + B S
        F_transposed = S[i].each(Bc[i].transposed, F.kind)  # B^T S
        for j in reversed(model.support(i)):
            put(C, model.v_slice[j], slot, S[j].T @ F_rate)
            if j != i:
                put(C, slot, model.v_slice[j], plus(F.T @ S_dot[j], F_transposed.T @ S[j]))
        if p:
            Ic[p], Bc[p] = Ic[p] + Ic[i], Bc[p] + Bc[i]
    add_gear_coriolis(model, X_0, V, S, S_dot, v, C)
    return C


def coriolis_product(model, q, v, s):
    """``C s`` with the matrix of `coriolis_matrix`, without forming it.

    Where all velocities are rates of coordinates, C is that of Christoffel's symbols, symmetric in v and s, so it is a
    difference of two bias forces c. Else, with the twists V of v, W of s and ``A = dJ/dt s``, the force of a body is
    ``I (A - V x W / 2) + (V x* I W + W x* I V) / 2``; with gears the matrix is taken.
    """
    if all(joint.nq == joint.nv <= 1 and not joint.time_dependent for joint in model.joints[1:]):
        ahead, behind = plus(v, s), minus(v, s)
        c = (inward_pass(model, *body_forces(model, q, w, None, weight=False)) for w in (ahead, behind))
        return [0.25 * x for x in minus(*c)]
    if has_gears(model):
        return apply(coriolis_matrix(model, q, v), s)
    I, zero = base_inertias(model), model.algebra.Motion.zero()
    X, S, f = ([None] * model.nb for _ in range(3))
    V, W, A = ([zero] * model.nb for _ in range(3))
    for i in model.outward():
        p, s_i = model.parent[i], model.v_of(i, s)
        X[i], S[i], S_rate = link_transform(model, i, q), motion_subspace(model, i, q), subspace_rate(model, i, q, v)
        W_J = S[i] @ s_i
        V[i] = X[i] @ V[p] + model.joints[i].velocity(model.q_of(i, q), model.v_of(i, v))
        W[i] = X[i] @ W[p] + W_J
        A[i] = X[i] @ A[p] + V[i].cross(W_J)
        if S_rate is not None:
            A[i] = A[i] + S_rate @ s_i
        f[i] = I[i] @ (A[i] - V[i].cross(W[i]) * 0.5) + (V[i].cross(I[i] @ W[i]) + W[i].cross(I[i] @ V[i])) * 0.5
    tau = [0.0] * model.nv
    for i in model.inward():
        p, slot = model.parent[i], model.v_slice[i]
        tau[slot] = S[i].T @ f[i]
        if p:
            f[p] = f[p] + X[i].inverse_apply(f[i])
    return tau
