r"""Derivatives of inverse and forward dynamics, in closed form.

Everything is in the coordinates of the root body of its tree, at this instant: there composite quantities are plain
sums over subtrees, nothing depends on the place of the robot, and accuracy does not suffer far from the origin. For a
column S_k of joint j, with parent p and successor body i,

====================================  ==========================================================================
paper                                 here
====================================  ==========================================================================
:math:`\dot\Psi_k = v_p \times S_k`   ``psi_dot``: derivatives of the velocities of distal bodies by q_k
:math:`\ddot\Psi_k`                   ``psi_ddot``: those of their accelerations, ``a_p x S_k + v_p x psi_dot_k``
:math:`\dot S_k = v_i \times S_k`     its sum with psi_dot is ``psi_S_dot``: derivatives of accelerations by v_k
:math:`I^C, B^C, f^C`                 ``Ic, Bc, Fc``: inertia, Coriolis map and force of the subtree
====================================  ==========================================================================

If a body moves with the rigid displacement S_k, its velocity changes by ``psi_dot_k - v x S_k``, its acceleration by
``psi_ddot_k - v x psi_dot_k - a x S_k`` and the force on it by ``I psi_ddot_k + 2 B psi_dot_k + S_k x* f``. Sums over
subtrees give the derivatives of tau.

The paper takes motion subspaces that are constant in the successor's coordinates. For others the joint adds the
apparent derivatives of its own velocity and acceleration along q_k, ``eta_k = (dS/dq_k) v`` and ``zeta_k = (dS/dq_k) a
+ dc_J/dq_k``. Then ``psi_dot_k = v_p x S_k + eta_k``, ``psi_ddot_k = a_p x S_k + v_p x psi_dot_k + v_i x eta_k +
zeta_k``, the rate of S_k is ``v_i x S_k + (dS_k/dq) v``, and the joint's own force takes ``(dS/dq_k)^T f^C``. For
joints with a velocity sigma of their own ``eta_k`` is the derivative of all of v_J, and the rate of S_k has a part
dS_k/dt.
"""

from __future__ import annotations

from kinetree.algorithms.gears import add_gear_derivatives
from kinetree.algorithms.kinematics import link_transform, motion_subspace
from kinetree.algorithms.matrices import chained, identity, minus
from kinetree.algorithms.spec import algorithm
from kinetree.joints.dual import Dual, rate_of
from kinetree.spatial import Columns


@algorithm(inputs="q v a", optional="f_ext", outputs="dtau_dq dtau_dv dtau_da", symbols={"f_ext": "; constant there."})
def rnea_derivatives(model, q, v, a, f_ext=None):
    r"""Derivatives of inverse dynamics with respect to position, velocity and acceleration.

    .. math:: d\tau = \frac{\partial\tau}{\partial q}\,dq + \frac{\partial\tau}{\partial v}\,dv + M\,da

    Notes
    -----
    Source: Singh, Russell, Wensing (2022), "Efficient Analytical Derivatives of Rigid-Body Dynamics Using Spatial
    Vector Algebra", and Carpentier, Mansard (2018). Differs: in the coordinates of the root body; any joint, its
    subspace constant or not (see the head of the file).
    Cost: O(n d), d the depth of the tree. Identities: ``dtau_da = crba(q)``; the same as
    ``differentiate(model, "rnea", wrt=("q", "v", "a"))``, which costs more.

    See Also
    --------
    rnea, aba_derivatives, differentiate

    Examples
    --------
    The gravity torque m g l sin(q) of a pendulum grows with m g l cos(q):

    >>> import kinetree as kt, numpy as np
    >>> d = kt.rnea_derivatives(kt.models.pendulum(length=2.0, mass=3.0), [0.0], [0.0], [0.0])
    >>> bool(np.allclose(d.dtau_dq, 3.0 * 9.81 * 2.0))
    True
    """
    motions = joint_motions(model, q, v)
    columns = joint_columns(model, q, v, a, motions)
    Ic, Bc, Fc = composites(model, motions, columns.A)
    dq, dv, M = force_derivatives(model, q, f_ext, motions, columns, (Ic, Bc, Fc))
    add_gear_derivatives(model, motions, columns, v, a, dq, dv, M)
    return dq, dv, M


class Motions:
    """Motions of every body that follow from q and v alone, in the coordinates of its root.

    Attributes
    ----------
    X : list of Transform
        From the root body's coordinates to those of the body.
    V, drift : list of Motion
        Velocity, and the part of the acceleration relative to the parent that needs no joint acceleration.
    S, parent_rate : list of Columns
        The columns of the joint and their rate ``v_p x S_k`` with the parent, one for each velocity coordinate.
    gravity : list of Motion
        The gravity-offset acceleration of the world, for root bodies; else None.
    """

    __slots__ = ("S", "V", "X", "parent_rate", "drift", "gravity")

    def __init__(self, model):
        for name in self.__slots__:
            setattr(self, name, [None] * model.nb)


def joint_motions(model, q, v) -> Motions:
    """The outward pass over velocities."""
    m = Motions(model)
    for i in model.outward():
        p, joint, q_i, v_i = model.parent[i], model.joints[i], model.q_of(i, q), model.v_of(i, v)
        X_i = link_transform(model, i, q)
        if p:
            m.X[i], V_p = X_i.collapse() @ m.X[p], m.V[p]
        else:
            m.X[i], V_p = model.algebra.Transform.identity(), model.algebra.Motion.zero()
            m.gravity[i] = X_i @ model.algebra.Motion(model.algebra.no_rotation, -model.gravity)
        m.S[i] = m.X[i].inverse_apply(motion_subspace(model, i, q))
        m.parent_rate[i] = V_p.cross(m.S[i])
        m.V[i] = V_p + m.S[i] @ v_i
        m.drift[i] = m.parent_rate[i] @ v_i  # v_i x v_J = v_p x v_J
        if joint.rheonomic:
            sigma = m.X[i].inverse_apply(joint.sigma(q_i))
            m.V[i], m.drift[i] = m.V[i] + sigma, m.drift[i] + V_p.cross(sigma)
        if not joint.constant_subspace:
            m.drift[i] = m.drift[i] + m.X[i].inverse_apply(joint.bias(q_i, v_i))
    return m


def accelerations(model, motions, a) -> list:
    """The gravity-offset acceleration of every body; ``a`` may be None for zero joint accelerations."""
    A = [None] * model.nb
    for i in model.outward():
        A[i] = _acceleration(model, motions, A, a, i)
    return A


def _acceleration(model, motions, A, a, i):
    p = model.parent[i]
    A_i = (A[p] if p else motions.gravity[i]) + motions.drift[i]
    return A_i if a is None else A_i + motions.S[i] @ model.v_of(i, a)


class ColumnMotions:
    """Motions due to each column of a joint, in the coordinates of the root; see the symbols at the head of the file.

    Attributes
    ----------
    A : list of Motion
        Gravity-offset acceleration of the body.
    psi_dot, psi_ddot, psi_S_dot : list of Columns
        One Motion for each velocity coordinate of the joint.
    dS_dq : list
        ``dS_dq[i][k][m]`` is the apparent derivative of column m along q_k; None for constant subspaces.
    """

    __slots__ = ("A", "psi_ddot", "psi_dot", "dS_dq", "psi_S_dot")

    def __init__(self, model):
        for name in self.__slots__:
            setattr(self, name, [None] * model.nb)


def joint_columns(model, q, v, a, motions) -> ColumnMotions:
    """The outward pass over accelerations."""
    c = ColumnMotions(model)
    for i in model.outward():
        c.A[i] = _acceleration(model, motions, c.A, a, i)
        p, joint, V, S = model.parent[i], model.joints[i], motions.V, motions.S[i]
        V_p, A_p = (V[p], c.A[p]) if p else (model.algebra.Motion.zero(), motions.gravity[i])
        c.psi_dot[i] = motions.parent_rate[i]
        if joint.nv == 1 and not joint.rheonomic:
            c.psi_S_dot[i] = motions.parent_rate[i] * 2.0  # v_i x S = v_p x S: its own velocity is parallel to S
        else:
            c.psi_S_dot[i] = motions.parent_rate[i] + V[i].cross(S)
        eta = zeta = None
        if not joint.constant_subspace:
            q_i, v_i, a_i = model.q_of(i, q), model.v_of(i, v), model.v_of(i, a)
            c.dS_dq[i], eta, zeta, rate = _apparent(model.algebra.Motion, joint, q_i, v_i, a_i, motions.X[i])
            c.psi_dot[i] = motions.parent_rate[i] + eta
            c.psi_S_dot[i] = c.psi_S_dot[i] + eta + rate
        c.psi_ddot[i] = A_p.cross(S) + V_p.cross(c.psi_dot[i])
        if eta is not None:
            c.psi_ddot[i] = c.psi_ddot[i] + V[i].cross(eta) + zeta
    return c


def _apparent(Motion, joint, q_i, v_i, a_i, X_i):
    """dS/dq_k, eta_k, zeta_k and the apparent rate of S of a joint whose subspace changes, root coordinates."""
    dS_dq, eta, zeta = [], [], []
    for unit in identity(joint.nv):
        along = Columns(joint.subspace_along(q_i, unit), Motion)
        moving = [Dual(x, rate) for x, rate in zip(q_i, joint.q_dot(q_i, unit), strict=True)]
        bias = Motion.of([rate_of(x) for x in joint.bias(moving, v_i)])
        dS_dq.append(X_i.inverse_apply(along))
        own = Motion.of([rate_of(x) for x in joint.velocity(moving, v_i)]) if joint.rheonomic else along @ v_i
        eta.append(X_i.inverse_apply(own))
        zeta.append(X_i.inverse_apply(along @ a_i + bias))
    rate = X_i.inverse_apply(Columns(joint.subspace_rate(q_i, v_i), Motion))
    return dS_dq, Columns(eta, Motion), Columns(zeta, Motion), rate


def force_derivatives(model, q, f_ext, motions, columns, subtrees):
    """The inward pass: ``dtau_dq``, ``dtau_dv`` and M, from composite inertias, Coriolis maps and forces."""
    nv = model.nv
    dq, dv, M = ([[0.0] * nv for _ in range(nv)] for _ in range(3))
    Ic, Bc, Fc = subtrees
    Wc = summed(model, external_wrenches(model, q, f_ext)) if f_ext is not None else None
    S, psi_dot, psi_ddot, psi_S_dot = motions.S, columns.psi_dot, columns.psi_ddot, columns.psi_S_dot

    for i in model.inward():
        slot, supports = model.v_slice[i], model.support(i)[:-1]
        for k, S_k in enumerate(S[i], slot.start):
            m = k - slot.start
            # Derivatives of the force on the subtree by q_k (apart from turning with S_k), by v_k and by a_k.
            by_q = Ic[i] @ psi_ddot[i][m] + Bc[i] @ (psi_dot[i][m] * 2.0)
            twice = S_k * 2.0
            by_v = Ic[i] @ psi_S_dot[i][m] + Bc[i] @ twice
            by_a = Ic[i] @ S_k
            for n, S_n in enumerate(S[i], slot.start):
                dq[n][k], dv[n][k] = chained(S_n, by_q), chained(S_n, by_v)
                if n <= k:
                    M[n][k] = M[k][n] = chained(S_n, by_a)
            # Rows of the ancestors: for them the force turns, too.
            turned = by_q + S_k.cross(Fc[i])
            reaction = Bc[i].transposed(twice)
            for j in supports:
                for n, S_n in enumerate(S[j], model.v_slice[j].start):
                    dq[n][k], dv[n][k] = chained(S_n, turned), chained(S_n, by_v)
                    M[n][k] = M[k][n] = chained(S_n, by_a)
                    # Row k: the ancestor's column moves the whole subtree.
                    c = n - model.v_slice[j].start
                    dq[k][n] = chained(psi_dot[j][c], reaction, chained(psi_ddot[j][c], by_a))
                    dv[k][n] = chained(S_n, reaction, chained(psi_S_dot[j][c], by_a))
        if columns.dS_dq[i] is not None:
            F = Fc[i] if Wc is None else Fc[i] - Wc[i]
            for k, dS_k in enumerate(columns.dS_dq[i], slot.start):
                for n, x in enumerate(dS_k.T @ F, slot.start):
                    dq[n][k] = dq[n][k] + x
        if Wc is not None:
            _turn_against_wrenches(model, i, dq, S, Wc[i])

    for k in range(nv):
        M[k][k] = M[k][k] + model.armature[k]
    return dq, dv, M


def body_maps(model, motions):
    """Inertia and Coriolis map of every body, in the coordinates of its root."""
    I, B = [None] * model.nb, [None] * model.nb
    for i in model.outward():
        I[i], B[i] = body_map(model, motions, i)
    return I, B


def body_map(model, motions, i):
    """Inertia and Coriolis map of one body, in the coordinates of its root."""
    I = motions.X[i].inverse_apply(model.I[i])
    return I, model.algebra.Coriolis.of(I, motions.V[i])


def composites(model, motions, A):
    """Inertia, Coriolis map and force of every subtree, in the coordinates of its root."""
    I, B, F = ([None] * model.nb for _ in range(3))
    for i in model.outward():
        I[i], B[i] = body_map(model, motions, i)
        F[i] = I[i] @ A[i] + B[i] @ motions.V[i]  # f = I a + v x* I v
    for i in model.inward():
        p = model.parent[i]
        if p:
            I[p], B[p], F[p] = I[p] + I[i], B[p] + B[i], F[p] + F[i]
    return I, B, F


def summed(model, parts):
    """Sums over subtrees."""
    total = list(parts)
    for i in model.inward():
        p = model.parent[i]
        if p:
            total[p] = total[p] + total[i]
    return total


def external_wrenches(model, q, f_ext):
    """The external wrench on every body, in the coordinates of its root."""
    X_0, W = [None] * model.nb, [None] * model.nb
    for i in model.outward():
        p = model.parent[i]
        X_0[i] = X_0[p] if p else link_transform(model, i, q).collapse()
        W[i] = X_0[i] @ model.algebra.external(f_ext[i])
    return W


def less(f, W):
    """The forces ``f[i] - W[i]`` on all bodies but the world."""
    return [None] + minus(f[1:], W[1:])


def _turn_against_wrenches(model, i, dq, S, W):
    """A joint that moves its subtree turns it against wrenches that stay fixed in the world: ``S_n . (S_k x* W)``."""
    for n, S_n in enumerate(S[i], model.v_slice[i].start):
        moment = S_n.cross(W)
        for j in model.support(i):
            for k, S_k in enumerate(S[j], model.v_slice[j].start):
                dq[n][k] = dq[n][k] - S_k.dot(moment)
