"""Hybrid dynamics: some joints have a known force, the others a known acceleration; the rest is computed.

Two methods. By articulated bodies (`hybrid_aba`): a joint of known acceleration is rigid but for that acceleration. By
the inertia matrix (`hybrid_crba`): the rows and columns of the joints of known force are a smaller equation of motion.
A third, independent one is in `hybrid_recursive`.

Book (tables 9.1-9.3)  here
``fd``                 ``fd``, from ``forward``
``nu(fd)``             ``supported``
``I^A_i, p^A_i``       ``IA[i]``, ``f[i]``
``U_i, D_i, u_i``      of ``joint[i]``, ``u[i]``
``H_11``               ``M`` of `crba_restricted`, whose other entries are zero
``C'``                 ``tau`` after the first pass
"""

from __future__ import annotations

from kinetree.algorithms.base_inertia import base_inertias_unless_deep
from kinetree.algorithms.crba import crba, fill_block
from kinetree.algorithms.elimination import Eliminated
from kinetree.algorithms.force_terms import differential_inverse_dynamics
from kinetree.algorithms.joint_sets import READ, forward_joints, merged_parent, supported_by
from kinetree.algorithms.kinematics import link_transform, motion_subspace
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.rnea import body_forces, inward_pass, outward_pass
from kinetree.algorithms.sparse import ltdl_factors, solve_ltdl
from kinetree.algorithms.spec import algorithm
from kinetree.model.topology import ancestors_of, depths_of, expanded_parent


@algorithm(
    inputs="q v tau a",
    optional="f_ext",
    outputs="a_all tau_all",
    static=("forward",),
    symbols=READ,
    raises="SingularityError",
)
def hybrid_aba(model, q, v, tau, a, f_ext=None, *, forward):
    r"""Hybrid dynamics of the tree by articulated bodies.

    .. math:: M a + c = \tau, \qquad \tau_i \text{ known for } i \in \mathrm{fd}, \quad a_i \text{ known for the others}

    Notes
    -----
    Source: Featherstone (2008), tables 9.2-9.3. Differs: known accelerations and velocity products enter through the
    first pass of `rnea`, so that at a joint of known acceleration only the articulated inertia and force of its body
    are propagated; bodies that no joint of known force moves have no inertia to form. Passive joint forces and
    couplings are not included: see `hybrid_dynamics`. Cost: O(nb), from that of `rnea` to that of `aba`. Identities:
    with all joints in ``forward`` this is `aba`, with none `rnea`.

    See Also
    --------
    hybrid_dynamics, hybrid_crba, hybrid_recursive, aba, rnea

    Examples
    --------
    The elbow has a known acceleration, the shoulder swings freely:

    >>> import kinetree as kt, numpy as np
    >>> arm, zero = kt.models.double_pendulum(), np.zeros(2)
    >>> a, tau = kt.dynamics.hybrid_aba(arm, [0.3, 0.1], zero, zero, [0.0, 1.0], forward=["shoulder"])
    >>> bool(np.allclose(kt.aba(arm, [0.3, 0.1], zero, tau), a)), float(tau[0]), float(a[1])
    (True, 0.0, 1.0)
    """
    fd = forward_joints(model, forward)
    if model.geared:
        return hybrid_crba(model, q, v, tau, a, f_ext, forward=fd)
    supported = supported_by(model, fd)
    a_all = entries_of(model, a, [i for i in model.outward() if i not in fd])
    tau_all = entries_of(model, tau, fd)
    I = base_inertias_unless_deep(model, depths_of(merged_parent(model.parent, fd)[0]))
    X, S, f = outward_pass(model, q, v, a_all, f_ext, I)
    IA, scales, articulated = list(model.I), inertia_scales(model), model.algebra.ArticulatedInertia.of
    joint, U, u = [None] * model.nb, [None] * model.nb, [None] * model.nb
    for i in model.inward():
        p, slot = model.parent[i], model.v_slice[i]
        if i in fd:
            joint[i] = Eliminated(articulated(IA[i]), S[i], model.armature[slot], scales[slot])
            u[i] = tau[slot] - S[i].T @ f[i]
            # I^a = I^A - U D^-1 U^T,  p^a = p^A + U D^-1 u
            if p:
                f[i] = joint[i].force(f[i], u[i])
            if p in supported:
                IA[i] = joint[i].inertia()
        else:
            tau_all[slot] = S[i].T @ f[i]
            if i in supported:
                U[i] = IA[i] @ S[i]
        if p:
            f[p] = f[p] + X[i].inverse_apply(f[i])
        if p in supported:
            IA[p] = IA[p] + X[i].inverse_apply(IA[i])

    # A: the part of the motion due to the unknown accelerations, beside that of the first pass.
    A = [model.algebra.Motion.zero() for _ in range(model.nb)]
    for i in model.outward():
        slot = model.v_slice[i]
        if i in supported:
            A[i] = X[i] @ A[model.parent[i]]
        if i in fd:
            a_all[slot] = a_i = joint[i].acceleration(u[i], A[i])
            A[i] = A[i] + S[i] @ a_i
            continue
        if i in supported:
            tau_all[slot] = tau_all[slot] + U[i].T @ A[i]
        for k in range(slot.start, slot.stop):
            tau_all[k] = tau_all[k] + model.armature[k] * a[k]
    return a_all, tau_all


def entries_of(model, x, joints):
    """The entries of x that belong to these joints, zero elsewhere."""
    entries = [0.0] * model.nv
    for i in joints:
        entries[model.v_slice[i]] = x[model.v_slice[i]]
    return entries


@algorithm(
    inputs="q",
    outputs="M",
    static=("forward",),
    symbols={"M": "Rows and columns of these joints as in `crba` [kg m^2, kg m or kg]; zero elsewhere."},
)
def crba_restricted(model, q, *, forward):
    """The part of the joint-space inertia matrix that belongs to some of the joints.

    Notes
    -----
    Source: Featherstone (2008), table 9.1. Composite inertias are formed only for the bodies that these joints move,
    and forces are taken inwards only as far as one of these joints is still to come. Cost: O(nd) at most.

    See Also
    --------
    crba, hybrid_crba

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm, q = kt.models.double_pendulum(), [0.1, -0.4]
    >>> M = kt.dynamics.crba_restricted(arm, q, forward=["elbow"])
    >>> bool(M[1, 1] == kt.crba(arm, q)[1, 1]), int(np.count_nonzero(M))
    (True, 1)
    """
    return restricted_inertia(model, q, forward_joints(model, forward))


def restricted_inertia(model, q, fd):
    """Table 9.1; also of a tree whose joints are all in fd, where it is table 6.2."""
    if model.geared:
        M, rows = crba(model, q), {k for i in fd for k in range(model.v_slice[i].start, model.v_slice[i].stop)}
        return [[x if m in rows and n in rows else 0.0 for n, x in enumerate(row)] for m, row in enumerate(M)]
    supported = supported_by(model, fd)
    X, S = [None] * model.nb, [None] * model.nb
    for i in model.outward():
        if i in supported:
            X[i], S[i] = link_transform(model, i, q), motion_subspace(model, i, q)

    M = [[0.0] * model.nv for _ in range(model.nv)]
    Ic = list(model.I)
    for i in model.inward():
        if model.parent[i] in supported:
            Ic[model.parent[i]] = Ic[model.parent[i]] + X[i].inverse_apply(Ic[i])
        if i not in fd:
            continue
        F = Ic[i] @ S[i]
        fill_block(M, model, i, i, F, S[i])
        j = i
        while model.parent[j] in supported:
            F = X[j].inverse_apply(F)
            j = model.parent[j]
            if j in fd:
                fill_block(M, model, i, j, F, S[j])
        for k in range(model.v_slice[i].start, model.v_slice[i].stop):
            M[k][k] = M[k][k] + model.armature[k]
    return M


@algorithm(
    inputs="q v tau a",
    optional="f_ext",
    outputs="a_all tau_all",
    static=("forward",),
    symbols=READ,
    raises="SingularityError",
)
def hybrid_crba(model, q, v, tau, a, f_ext=None, *, forward):
    """Hybrid dynamics of the tree by the inertia matrix of the joints whose force is known.

    Notes
    -----
    Source: Featherstone (2008), section 9.1: eq. 9.3 in four steps, table 9.1 for H_11, factorized as L^T D L along
    the smaller tree of figure 9.1, whose nodes on joints of known acceleration are merged. Cost: that of `rnea`, of
    `crba_restricted`, and O(m d^2) for m joints of known force, d deep in the smaller tree.

    See Also
    --------
    hybrid_aba, hybrid_recursive, crba_restricted
    """
    fd = forward_joints(model, forward)
    a_all = entries_of(model, a, [i for i in model.outward() if i not in fd])
    # C' = ID(q, v, Q^T [0; qdd_2])
    X, S, f, gears = body_forces(model, q, v, a_all, f_ext)
    tau_all = inward_pass(model, X, S, f, gears)

    # H_11 qdd_1 = tau_1 - C'_1
    x = _unknown_accelerations(model, q, tau, tau_all, fd)

    # tau = C' + ID_delta(Q^T [qdd_1; 0])
    added = differential_inverse_dynamics(model, X, S, model.I, x)
    for i in model.outward():
        slot = model.v_slice[i]
        if i in fd:
            a_all[slot], tau_all[slot] = x[slot], tau[slot]
            continue
        for k in range(slot.start, slot.stop):
            tau_all[k] = tau_all[k] + added[k] + model.armature[k] * a[k]
    return a_all, tau_all


def _unknown_accelerations(model, q, tau, c, fd):
    """Solve ``H_11 qdd_1 = tau_1 - C'_1``; zero for the other joints."""
    rows = [k for i in fd for k in range(model.v_slice[i].start, model.v_slice[i].stop)]
    M, above, scales = restricted_inertia(model, q, fd), _ancestors_of_rows(model, fd), inertia_scales(model)
    L, D = ltdl_factors([[M[m][n] for n in rows] for m in rows], above, [scales[k] for k in rows])
    a = dict(zip(rows, solve_ltdl(L, D, [tau[k] - c[k] for k in rows], above), strict=True))
    return [a.get(k, 0.0) for k in range(model.nv)]


def _ancestors_of_rows(model, fd):
    """Ancestors of each row of H_11 in the merged tree, joints expanded to their freedoms."""
    merged, _ = merged_parent(model.parent, fd)
    expanded, _ = expanded_parent(merged, [0, *(model.v_slice[i].stop - model.v_slice[i].start for i in fd)])
    return ancestors_of([k - 1 for k in expanded[1:]])
