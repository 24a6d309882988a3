"""Dynamics in absolute coordinates: every vector and inertia in those of the world, about its origin.

Book (eq. 5.7-5.11, section 7.3)   here
``v_i, a_i``                       ``V[i], A[i]``, spatial; ``a_0 = -a_g``
``c_i``                            added up from the base, with gravity, it is ``A[i]`` without joint accelerations
``f_i, f^x_i``                     ``f[i], f_ext[i]``
``I_i, S_i``                       ``I[i], S[i]``, in world coordinates
``I^A_i, p^A_i``                   of `response.Articulated`
"""

from __future__ import annotations

from kinetree.algorithms.kinematics import motion_subspace, world_transforms
from kinetree.algorithms.response import Articulated
from kinetree.algorithms.spec import algorithm


def world_forces(model, q, v, a, f_ext):
    """Inertias and motion subspaces, and the force that each body needs for its motion; without ``a`` for zeros."""
    X_0 = world_transforms(model, q)
    I, S, V, A, f = ([None] * model.nb for _ in range(5))
    V[0] = model.algebra.Motion.zero()
    A[0] = model.algebra.Motion(model.algebra.no_rotation, -model.gravity)  # a_0 = -a_g

    for i in model.outward():
        p, joint, q_i, v_i = model.parent[i], model.joints[i], model.q_of(i, q), model.v_of(i, v)
        to_world = X_0[i].inverse_apply
        I[i], S[i] = to_world(model.I[i]), to_world(motion_subspace(model, i, q))
        V_J, c_J = to_world(joint.velocity(q_i, v_i)), to_world(joint.bias(q_i, v_i))
        # v_i = v_p + v_J,  a_i = a_p + S a + c_J + v_i x v_J
        V[i] = V[p] + V_J
        A_p = A[p] if a is None else A[p] + S[i] @ model.v_of(i, a)
        A[i] = A_p + c_J + V[i].cross(V_J)
        # f = I a + v x* I v - f_ext
        f[i] = I[i] @ A[i] + V[i].cross(I[i] @ V[i])
        if f_ext is not None:
            f[i] = f[i] - model.algebra.external(f_ext[i])
    return I, S, f


@algorithm(inputs="q v a", optional="f_ext", outputs="tau", geared=False)
def rnea_world(model, q, v, a, f_ext=None):
    r"""Inverse dynamics of the tree by the recursive Newton-Euler algorithm in absolute coordinates.

    .. math:: f_i = I_i a_i + v_i \times^* I_i v_i - f^x_i + \sum_{j \in \mu(i)} f_j, \qquad \tau_i = S_i^T f_i

    Notes
    -----
    Source: Featherstone (2008), eq. 5.7-5.11. Differs: the armature's ``armature * a`` is added. An independent method
    for the result of `rnea`: no vector is transformed from one frame to another, none is a classical acceleration, and
    each body has its own inertia. It costs almost three times as much, and loses digits far from the world's origin,
    where all moments and velocities are differences of large numbers (section 10.2): about (distance / size of the
    robot)^2 ulps. Cost: O(nb). Identity: equals `rnea`.

    See Also
    --------
    rnea, newton_euler

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v, a = kt.models.double_pendulum(), [0.3, -0.2], [1.0, 2.0], [0.5, 0.1]
    >>> bool(np.allclose(kt.textbook.rnea_world(model, q, v, a), kt.rnea(model, q, v, a), rtol=1e-12))
    True
    """
    _, S, f = world_forces(model, q, v, a, f_ext)
    tau = [model.armature[k] * a[k] for k in range(model.nv)]
    for i in model.inward():
        p, slot = model.parent[i], model.v_slice[i]
        tau[slot] = tau[slot] + S[i].T @ f[i]
        if p:
            f[p] = f[p] + f[i]
    return tau


@algorithm(inputs="q v tau", optional="f_ext", outputs="a", raises="SingularityError", geared=False)
def aba_world(model, q, v, tau, f_ext=None):
    r"""Forward dynamics of the tree by the articulated-body algorithm in absolute coordinates.

    .. math:: I^A_i = I_i + \sum_{j \in \mu(i)} \bigl(I^A_j - U_j D_j^{-1} U_j^T\bigr)

    Notes
    -----
    Source: Featherstone (2008), eq. 7.26-7.50 in absolute coordinates, in which no vector is transformed from one frame
    to another. An independent method for the result of `aba`, to study rounding: it costs more, and loses digits far
    from the world's origin, where inertias about it are large and their differences small.
    Cost: O(nb). Identity: equals `aba`.

    See Also
    --------
    aba, rnea_world

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v, tau = kt.models.double_pendulum(), [0.3, -0.2], [1.0, 2.0], [0.5, 0.1]
    >>> bool(np.allclose(kt.textbook.aba_world(model, q, v, tau), kt.aba(model, q, v, tau), rtol=1e-12))
    True
    """
    I, S, f = world_forces(model, q, v, None, f_ext)
    return Articulated(model, S, I, loads=[(f, tau)]).outward()
