"""The joint forces of a motion, part by part: gravity (in `rnea`), Coriolis, inertial and external forces.

Book                         here
``ID_delta(q, a) = H a``     ``inertial_forces``: table 6.1, with
``a_i, f_i``                 ``A[i], f[i]``: due to the joint accelerations alone
"""

from __future__ import annotations

from kinetree.algorithms.base_inertia import base_inertias
from kinetree.algorithms.gears import gear_forces
from kinetree.algorithms.kinematics import links, motion_subspace, world_transforms
from kinetree.algorithms.rnea import body_forces, inward_pass
from kinetree.algorithms.spec import algorithm


def differential_inverse_dynamics(model, X, S, I, a):
    """``ID_delta``: the joint forces ``M a`` of accelerations from rest, no weight (table 6.1), without armature."""
    A, f = [model.algebra.Motion.zero()] + [None] * (model.nb - 1), [None] * model.nb
    for i in model.outward():
        A[i] = X[i] @ A[model.parent[i]] + S[i] @ model.v_of(i, a)
        f[i] = I[i] @ A[i]
    return inward_pass(model, X, S, f, gear_forces(model, X, S, f, None, None, a))


@algorithm(
    inputs="q a",
    outputs="tau",
    symbols={
        "a": "Joint accelerations [rad/s^2 or m/s^2], or any vector of this length.",
        "tau": "``M a``, the armature included [N m or N].",
    },
)
def inertial_forces(model, q, a):
    r"""Product of the mass matrix with a vector, without the mass matrix: the joint forces that accelerate the tree.

    .. math:: \tau = M(q)\, a

    Notes
    -----
    Source: Featherstone (2008), table 6.1 (ID_delta) and eq. 6.4. Cost: O(nb), where M itself costs O(n d).
    Identities: ``inertial_forces(q, a) = rnea(q, v, a) - bias_forces(q, v)`` for every v; the four parts
    `gravity_forces`, `coriolis_forces`, `inertial_forces` and `external_forces` add up to `rnea`.

    See Also
    --------
    crba, rnea, coriolis_forces

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm, q, a = kt.models.double_pendulum(), [0.1, -0.4], [1.0, 2.0]
    >>> bool(np.allclose(kt.dynamics.inertial_forces(arm, q, a), kt.crba(arm, q) @ a))
    True
    """
    tau = differential_inverse_dynamics(model, *links(model, q), base_inertias(model), a)
    return [tau[k] + model.armature[k] * a[k] for k in range(model.nv)]


@algorithm(inputs="q v", outputs="tau", symbols={"tau": "Joint forces [N m or N], quadratic in v."})
def coriolis_forces(model, q, v):
    """Joint forces that keep the tree at constant joint velocities: Coriolis and centrifugal forces, no weight.

    Notes
    -----
    Source: Featherstone (2008), section 5.3: `rnea` without gravity, acceleration and external forces. Cost: O(nb).
    Identities: ``coriolis_matrix(q, v) @ v``; ``bias_forces - gravity_forces``.

    See Also
    --------
    gravity_forces, inertial_forces, external_forces, coriolis_matrix
    """
    return inward_pass(model, *body_forces(model, q, v, None, weight=False))


@algorithm(
    inputs="q wrenches",
    outputs="tau",
    symbols={"tau": "Joint forces [N m or N], the part of `rnea` that is due to the external forces."},
)
def external_forces(model, q, wrenches):
    r"""Joint forces that balance external forces on the bodies.

    .. math:: \tau = -\sum_i J_i(q)^T f_i

    Notes
    -----
    Source: Featherstone (2008), eq. 5.10-5.11 without the bodies' own forces. In world coordinates a subtree's
    wrenches are added as they are. Cost: O(nb). Identity: the negative of `body_jacobian_transpose_product` of the
    same wrenches, for "world".

    See Also
    --------
    gravity_forces, coriolis_forces, inertial_forces, body_jacobian_transpose_product
    """
    X_0 = world_transforms(model, q)
    f = [None] + [-model.algebra.external(wrenches[i]) for i in model.outward()]
    return transposed_product(model, q, X_0, f)


def transposed_product(model, q, X_0, f):
    """``J^T f`` for wrenches in world coordinates: for each joint, those on all bodies that it supports."""
    tau, f = [0.0] * model.nv, list(f)
    for i in model.inward():
        f_i, p = X_0[i] @ f[i], model.parent[i]
        tau[model.v_slice[i]] = motion_subspace(model, i, q).T @ f_i
        if p:
            f[p] = f[p] + f[i]
    return tau
