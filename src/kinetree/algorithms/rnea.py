"""Inverse dynamics by the recursive Newton-Euler algorithm, and its parts: gravity and bias forces.

Book (table 5.1)      here
``v_i, a_i``          ``field[i]``: angular velocity, angular acceleration and classical acceleration of the origin
``f_i``               ``f[i]``
``I_i``               ``I[i]``, its base inertia (`base_inertia`)
``i_X_lambda(i)``     ``X[i]``
``a_0 = -a_g``        ``field[0]``
"""

from __future__ import annotations

from kinetree.algorithms.base_inertia import base_inertias
from kinetree.algorithms.gears import gear_forces
from kinetree.algorithms.kinematics import link_transform, motion_subspace
from kinetree.algorithms.spec import algorithm


def outward_pass(model, q, v, a, f_ext, I=None, weight=True, base=None):
    """Joint transforms ``X``, motion subspaces ``S`` and the force ``f`` that each body needs for its motion.

    The forces are those of the bodies' base inertias, or of the inertias ``I``: only joint forces may be read from the
    former (`base_inertia`).
    ``v`` or ``a`` may be None: then these terms are never formed (the stripped algorithms of eq. 5.12-5.13, table 6.1).
    So is gravity without ``weight``. ``base`` is the acceleration field of body 1, where it is given instead of found.
    """
    X, S, f, field = ([None] * model.nb for _ in range(4))
    X_0 = [model.algebra.Transform.identity()] + [None] * (model.nb - 1)
    field[0] = model.algebra.falling(model.gravity if weight else model.gravity.zero())
    I = base_inertias(model) if I is None else I

    for i in model.outward():
        p, joint, q_i = model.parent[i], model.joints[i], model.q_of(i, q)
        X[i], S[i] = link_transform(model, i, q), motion_subspace(model, i, q)

        # V_J = S v,  A_J = S a + c_J
        V_J = A_J = model.algebra.Motion.zero()
        if v is not None:
            v_i = model.v_of(i, v)
            V_J, A_J = joint.velocity(q_i, v_i), joint.bias(q_i, v_i)
        if a is not None:
            A_J = A_J + S[i] @ model.v_of(i, a)

        field[i] = base if base and i == 1 else (X[i] @ field[p]).with_joint(V_J, A_J)
        # f = I a + v x* I v - X_0^* f_ext
        f[i] = I[i].inertial_force(field[i])
        if f_ext is not None:
            X_0[i] = X[i].collapse() @ X_0[p]
            f[i] = f[i] - X_0[i] @ model.algebra.external(f_ext[i])
    return X, S, f


def body_forces(model, q, v, a, f_ext=None, I=None, weight=True):
    """`outward_pass` with gears, which also add the forces at their joints that are returned as a fourth."""
    X, S, f = outward_pass(model, q, v, a, f_ext, I, weight)
    return X, S, f, gear_forces(model, X, S, f, q, v, a)


def inward_pass(model, X, S, f, gears=None):
    """Joint forces ``tau = S^T f``, to which those of `body_forces` are added; each body passes its force on."""
    tau = [0.0] * model.nv if gears is None else gears
    for i in model.inward():
        p, slot = model.parent[i], model.v_slice[i]
        tau[slot] = tau[slot] + S[i].T @ f[i]
        if p:
            f[p] = f[p] + X[i].inverse_apply(f[i])
    return tau


def transmitted_forces(model, q, v, a, f_ext):
    """The force ``f_i`` on each body with all that it supports through its joint; zero for the world."""
    X, _, f, _ = body_forces(model, q, v, a, f_ext, model.I)
    f[0] = model.algebra.Force.zero()
    for i in model.inward():
        p = model.parent[i]
        if p:
            f[p] = f[p] + X[i].inverse_apply(f[i])
    return f


@algorithm(inputs="q v a", optional="f_ext", outputs="tau")
def rnea(model, q, v, a, f_ext=None):
    r"""Inverse dynamics of the tree by the recursive Newton-Euler algorithm.

    .. math:: \tau = M(q)\,a + c(q, v) - \sum_i J_i(q)^T f_i

    Notes
    -----
    Source: Featherstone (2008), table 5.1. Differs: the passes propagate the classical acceleration of the body's
    origin and the gradient of its acceleration field instead of spatial velocity and acceleration, so no linear
    velocity is formed; the armature's ``armature * a`` and gears (section 9.6) are added. Passive joint forces and
    couplings are not included: see `inverse_dynamics`. Cost: O(nb). Identities: ``rnea(q, v, aba(q, v, tau)) = tau``;
    ``rnea(q, v, a) - rnea(q, v, 0) = crba(q) @ a``.

    See Also
    --------
    crba, aba, inverse_dynamics, bias_forces

    Examples
    --------
    Hanging at rest, no joint force is needed:

    >>> import kinetree as kt, numpy as np
    >>> model, zero = kt.models.double_pendulum(), np.zeros(2)
    >>> bool(np.allclose(kt.rnea(model, zero, zero, zero), 0.0))
    True
    """
    tau = inward_pass(model, *body_forces(model, q, v, a, f_ext))
    return [tau[k] + model.armature[k] * a[k] for k in range(model.nv)]


@algorithm(inputs="q v", optional="f_ext", outputs="c")
def bias_forces(model, q, v, f_ext=None):
    """Joint forces that keep the tree from accelerating: gravity, Coriolis, centrifugal and external forces.

    Notes
    -----
    Source: Featherstone (2008), eq. 6.2: `rnea` with zero acceleration.
    """
    return inward_pass(model, *body_forces(model, q, v, None, f_ext))


@algorithm(inputs="q", outputs="g")
def gravity_forces(model, q):
    """Joint forces that hold the tree at rest against gravity.

    Notes
    -----
    Source: Featherstone (2008), eq. 5.12-5.13, with the sign of the holding force. Joints that depend on time are
    at rest in their position at that time.
    """
    return inward_pass(model, *outward_pass(model, q, None, None, None))
