"""Inverse dynamics in absolute coordinates: every vector and inertia in those of the world, about its origin.

Book (eq. 5.7-5.11)   here
``v_i, a_i``          ``V[i], A[i]``, spatial; ``a_0 = -a_g``
``f_i, f^x_i``        ``f[i], f_ext[i]``
``I_i, S_i``          ``I_i, S[i]``, in world coordinates
"""

from __future__ import annotations

from kinetree.algorithms.kinematics import motion_subspace, world_transforms
from kinetree.algorithms.spec import algorithm


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
    X_0 = world_transforms(model, q)
    S, V, A, f = ([None] * model.nb for _ in range(4))
    V[0] = model.algebra.Motion.zero()
    A[0] = model.algebra.Motion(model.algebra.no_rotation, -model.gravity)  # a_0 = -a_g

    for i in model.outward():
        p, joint, q_i, v_i = model.parent[i], model.joints[i], model.q_of(i, q), model.v_of(i, v)
        to_world = X_0[i].inverse_apply
        S[i] = to_world(motion_subspace(model, i, q))
        V_J, c_J = to_world(joint.velocity(q_i, v_i)), to_world(joint.bias(q_i, v_i))
        # v_i = v_p + v_J,  a_i = a_p + S a + c_J + v_i x v_J
        V[i] = V[p] + V_J
        A[i] = A[p] + S[i] @ model.v_of(i, a) + c_J + V[i].cross(V_J)
        # f = I a + v x* I v - f_ext
        I_i = to_world(model.I[i])
        f[i] = I_i @ A[i] + V[i].cross(I_i @ V[i])
        if f_ext is not None:
            f[i] = f[i] - model.algebra.external(f_ext[i])

    tau = [model.armature[k] * a[k] for k in range(model.nv)]
    for i in model.inward():
        p, slot = model.parent[i], model.v_slice[i]
        tau[slot] = tau[slot] + S[i].T @ f[i]
        if p:
            f[p] = f[p] + f[i]
    return tau
