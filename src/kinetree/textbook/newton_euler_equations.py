"""Inverse dynamics by the original recursive Newton-Euler algorithm, in vectors of three.

Book (table 5.2)             here
``w_i, dw_i, dv_i``          ``w[i], dw[i], dv[i]``: classical acceleration of the frame's origin, gravity subtracted
``F_i, N_i``                 ``F, N``, about the center of mass
``f_i, n_i``                 ``f[i], n[i]``, about the frame's origin
``m_i, c_i, I^cm_i``         ``m, c, I_cm``
``i_E_(i-1), (i-1)_r_i``     ``E[i], r[i]``
``z dq_i, z ddq_i``          angular parts of ``V_J`` and ``A_J``; a sliding joint has linear ones
"""

from __future__ import annotations

from kinetree.algorithms.kinematics import link_transform, motion_subspace
from kinetree.algorithms.spec import algorithm
from kinetree.spatial import IdentityRotation, Inertia, Motion, Symmetric3, Vector3
from kinetree.spatial.algebra import SPATIAL
from kinetree.spatial.scalar import is_zero


@algorithm(inputs="q v a", optional="f_ext", outputs="tau", geared=False)
def newton_euler(model, q, v, a, f_ext=None):
    r"""Inverse dynamics of the tree by the original Newton-Euler equations in vectors of three.

    .. math:: F_i = m_i \dot v_{c,i}, \qquad N_i = I^{cm}_i \dot\omega_i + \omega_i \times I^{cm}_i \omega_i

    Notes
    -----
    Source: Featherstone (2008), table 5.2, after Luh, Walker and Paul (1980). Differs: trees instead of chains, and
    joints of any kind, through the angular and linear parts of the joint's velocity and of its apparent rate; the
    linear velocity is not computed, for no other equation uses it; ``armature * a`` is added. Planar models run as
    spatial ones.
    Cost: O(nb). Identity: equals `rnea`, of which it is independent: no spatial vector is formed.

    See Also
    --------
    rnea, rnea_world

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v, a = kt.models.puma_like(), np.full(6, 0.3), np.full(6, 2.0), np.full(6, -1.0)
    >>> bool(np.allclose(kt.textbook.newton_euler(model, q, v, a), kt.rnea(model, q, v, a), rtol=1e-12))
    True
    """
    E, r, S, w, dw, dv, f, n = ([None] * model.nb for _ in range(8))
    w[0] = dw[0] = Vector3.zero()
    dv[0] = -_spatial(model, model.gravity)
    E_0, p_0 = [IdentityRotation()] + [None] * (model.nb - 1), [Vector3.zero()] + [None] * (model.nb - 1)

    for i in model.outward():
        p, joint, q_i, v_i = model.parent[i], model.joints[i], model.q_of(i, q), model.v_of(i, v)
        X = _spatial(model, link_transform(model, i, q).collapse())
        E[i], r[i] = X.E, X.r
        S[i] = motion_subspace(model, i, q).each(lambda S_k: _spatial(model, S_k), Motion)
        V_J, c_J = _spatial(model, joint.velocity(q_i, v_i)), _spatial(model, joint.bias(q_i, v_i))
        A_J = S[i] @ model.v_of(i, a) + c_J

        w_p = E[i] @ w[p]
        w[i] = w_p + V_J.angular
        dw[i] = E[i] @ dw[p] + A_J.angular + w_p.cross(V_J.angular)
        dv[i] = E[i] @ (dv[p] + dw[p].cross(r[i]) + w[p].cross(w[p].cross(r[i])))
        if not V_J.linear.is_zero or not A_J.linear.is_zero:
            # The origin slides on the parent: its own acceleration, and that of Coriolis.
            dv[i] = dv[i] + A_J.linear + (w_p + w[i]).cross(V_J.linear)

        m, c, I_cm = _about_center(_spatial(model, model.I[i]))
        F = (dv[i] + dw[i].cross(c) + w[i].cross(w[i].cross(c))) * m
        N = I_cm @ dw[i] + w[i].cross(I_cm @ w[i])
        f[i], n[i] = F, N + c.cross(F)
        if f_ext is not None:
            E_0[i], p_0[i] = E[i] @ E_0[p], p_0[p] + E_0[p].inverse_apply(r[i])
            wrench = _spatial(model, model.algebra.external(f_ext[i]))
            moment, force = wrench.angular, wrench.linear
            f[i], n[i] = f[i] - E_0[i] @ force, n[i] - E_0[i] @ (moment - p_0[i].cross(force))

    tau = [model.armature[k] * a[k] for k in range(model.nv)]
    for i in model.inward():
        for k, S_k in enumerate(S[i], model.v_slice[i].start):
            # tau = z^T n for a revolute joint, z^T f for a prismatic one
            tau[k] = tau[k] + S_k.angular.dot(n[i]) + S_k.linear.dot(f[i])
        p = model.parent[i]
        if p:
            force = E[i].inverse_apply(f[i])
            f[p] = f[p] + force
            n[p] = n[p] + E[i].inverse_apply(n[i]) + r[i].cross(force)
    return tau


def _spatial(model, quantity):
    """A quantity of the model's algebra as one of three dimensions."""
    if model.algebra is SPATIAL:
        return quantity
    return Vector3(*quantity, 0.0) if quantity is model.gravity else quantity.spatial()


def _about_center(I: Inertia):
    """Mass, center of mass and rotational inertia about it; a massless body has its center at the origin."""
    if is_zero(I.m):
        return 0.0, Vector3.zero(), I.I
    return I.m, I.com, (I - Inertia.from_com(I.m, I.com, Symmetric3.zero())).I
