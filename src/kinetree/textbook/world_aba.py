"""Forward dynamics in absolute coordinates: articulated bodies that need no transformation to the parent.

Book (section 7.3)    here
``v_i, c_i``          ``V[i]``; the velocity-product acceleration, added up from the base, with gravity, is ``A[i]``
``I^A_i``, ``p^A_i``  of `response.Articulated`
``I_i, S_i``          ``I[i], S[i]``, in world coordinates
"""

from __future__ import annotations

from kinetree.algorithms.kinematics import motion_subspace, world_transforms
from kinetree.algorithms.response import Articulated
from kinetree.algorithms.spec import algorithm


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
    X_0 = world_transforms(model, q)
    I, S, V, A, f = ([None] * model.nb for _ in range(5))
    V[0] = model.algebra.Motion.zero()
    A[0] = model.algebra.Motion(model.algebra.no_rotation, -model.gravity)  # a_0 = -a_g

    for i in model.outward():
        p, joint, q_i, v_i = model.parent[i], model.joints[i], model.q_of(i, q), model.v_of(i, v)
        to_world = X_0[i].inverse_apply
        I[i], S[i] = to_world(model.I[i]), to_world(motion_subspace(model, i, q))
        V_J, c_J = to_world(joint.velocity(q_i, v_i)), to_world(joint.bias(q_i, v_i))
        V[i] = V[p] + V_J
        A[i] = A[p] + c_J + V[i].cross(V_J)
        # The force that the body needs for this acceleration; the joints' own accelerations come on top.
        f[i] = I[i] @ A[i] + V[i].cross(I[i] @ V[i])
        if f_ext is not None:
            f[i] = f[i] - model.algebra.external(f_ext[i])

    return Articulated(model, S, I, loads=[(f, tau)]).outward()
