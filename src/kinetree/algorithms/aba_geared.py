"""Forward dynamics of trees with geared rotors (Featherstone, section 9.6).

A rotor in one of the two bodies that its joint connects, or in the world, leaves the recursion of `aba` as it is, but
for a couple on one of these bodies that goes with the joint's acceleration. A rotor elsewhere couples bodies that are
no neighbors, and the system of `crba` is solved.
"""

from __future__ import annotations

from kinetree.algorithms.base_inertia import base_inertias_unless_deep
from kinetree.algorithms.crba import crba
from kinetree.algorithms.elimination import Eliminated
from kinetree.algorithms.factorize import LeafFirst
from kinetree.algorithms.gears import along_axis
from kinetree.algorithms.matrices import minus
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.rnea import bias_forces, body_forces
from kinetree.spatial import Columns


def geared_accelerations(model, q, v, tau, f_ext, diagonal):
    """As `articulated_accelerations`, with geared rotors."""
    if not all(rotor.body in (0, rotor.joint, model.parent[rotor.joint]) for rotor in model.rotors):
        return _by_inertia_matrix(model, q, v, tau, f_ext, diagonal)
    X, S, pA, gears = body_forces(model, q, v, None, f_ext, base_inertias_unless_deep(model))
    resisting, proximal, distal = _near_rotors(model, S, diagonal)
    IA, scales = [model.algebra.ArticulatedInertia.of(I) for I in model.I], inertia_scales(model)
    joint, u = [None] * model.nb, [None] * model.nb
    for i in model.inward():
        p, slot, to_parent = model.parent[i], model.v_slice[i], X[i].inverse_apply
        joint[i] = Eliminated(IA[i], S[i], resisting[slot], scales[slot], distal.get(i))
        u[i] = tau[slot] - S[i].T @ pA[i] - gears[slot]
        if i in proximal:
            # With the couple G of a rotor in the parent, qdd = D^-1 (u - (U + G)^T a'), in the parent's coordinates.
            joint[i].IA, joint[i].U, joint[i].bare = to_parent(IA[i]), to_parent(joint[i].U) + proximal[i], False
            IA[p] = IA[p] + joint[i].inertia()
            pA[p] = pA[p] + joint[i].force(to_parent(pA[i]), u[i])
        elif p:
            IA[p] = IA[p] + to_parent(joint[i].inertia())
            pA[p] = pA[p] + to_parent(joint[i].force(pA[i], u[i]))

    a, A = [0.0] * model.nv, [model.algebra.Motion.zero()] + [None] * (model.nb - 1)
    for i in model.outward():
        A_p = A[model.parent[i]]
        A[i] = X[i] @ A_p
        a[model.v_slice[i]] = a_i = joint[i].acceleration(u[i], A_p if i in proximal else A[i])
        A[i] = A[i] + S[i] @ a_i
    return a


def _near_rotors(model, S, diagonal):
    """The diagonal with ``J rho^2``, and by joint the couples ``J rho a`` on its proximal and on its distal body."""
    resisting, proximal, distal = list(diagonal), {}, {}
    for rotor in model.rotors:
        j, momentum = rotor.joint, rotor.axial_inertia * rotor.ratio
        k = model.v_slice[j].start
        resisting[k] = resisting[k] + momentum * rotor.ratio
        if rotor.body:
            side = distal if rotor.body == j else proximal
            couple = Columns([along_axis(model, rotor) * momentum], model.algebra.Force)
            side[j] = side[j] + couple if j in side else couple
    for j, couple in distal.items():  # with its reaction on the joint
        k = model.v_slice[j].start
        resisting[k] = resisting[k] + S[j][0].dot(couple[0])
    return resisting, proximal, distal


def _by_inertia_matrix(model, q, v, tau, f_ext, diagonal):
    """The same from M and c."""
    M = crba(model, q)
    for k in range(model.nv):
        M[k][k] = M[k][k] - model.armature[k] + diagonal[k]
    return LeafFirst(M, inertia_scales(model)).solve(minus(tau, bias_forces(model, q, v, f_ext)))
