"""Products with the Jacobian of all bodies and with its rate, each in one pass over the tree.

The Jacobian J stacks those of all bodies, 6 nb rows. It has O(n d) entries; its products cost O(n).

Sueda (alg. 5, 6)        here
``y = J x, z = Jdot x``  ``Y[i], Z[i]``
``i_p Ad, i_j Ad S``     ``X[i]``, ``S[i]``
``alpha``                propagated to the parent as it is made
"""

from __future__ import annotations

from kinetree.algorithms.force_terms import transposed_product
from kinetree.algorithms.jacobian import subspace_rate
from kinetree.algorithms.kinematics import (
    express,
    link_transform,
    motion_subspace,
    offset,
    shifted,
    user_frames,
    world_axes_twists,
    world_transforms,
)
from kinetree.algorithms.spec import algorithm


@algorithm(
    inputs="q x",
    outputs={"y": ("nb", 6)},
    static=("reference",),
    body_frames="cheaper",
    symbols={"y": "``J_i x`` for every body [rad/s, m/s]; row 0 is the world's and zero."},
)
def body_jacobian_product(model, q, x, *, reference):
    """Product of the Jacobian of all bodies with a vector: the twists of all bodies at the velocity x.

    Notes
    -----
    Source: Sueda, algorithm 5 and eq. 2.108-2.109. Cost: O(n), without the Jacobian. Identity: the motion of the
    bodies under the velocity x, `body_velocities`.

    See Also
    --------
    body_jacobian_rate_product, body_jacobian_transpose_product, jacobian
    """
    Y = [model.algebra.Motion.zero()] + [None] * (model.nb - 1)
    X_0 = None if reference == "local" else world_transforms(model, q)
    for i in model.outward():
        p, Sx = model.parent[i], motion_subspace(model, i, q) @ model.v_of(i, x)
        # y_i = X y_p + S x, with X a change of the point alone where the axes are the world's
        if reference == "local":
            Y[i] = link_transform(model, i, q) @ Y[p] + Sx
        else:
            Y[i] = at_reference(model, i, q, X_0, Y[p], reference) + express(Sx, X_0[i], reference)
    if reference == "local_world_aligned":
        return [list(shifted(model, Y[i], to_user_frame(X_0[i], X))) for i, X in user_frames(model)]
    return [list(X @ Y[i] if reference == "local" else Y[i]) for i, X in user_frames(model)]


def to_user_frame(X_0, X):
    """From the origin of the frame in which a body is computed to that of the user's frame, in the world's axes."""
    return X_0.E.inverse_apply(X.r)


def at_reference(model, i, q, X_0, motion, reference):
    """A motion of the parent, in world axes, at the point that ``reference`` names for body i."""
    return motion if reference == "world" else shifted(model, motion, offset(model, i, q, X_0))


@algorithm(
    inputs="q v x",
    outputs="z",
    static=("reference",),
    body_frames="cheaper",
    symbols={"x": "; v itself for the velocity-product accelerations."},
)
def body_jacobian_rate_product(model, q, v, x, *, reference):
    """Product of the time derivative of the Jacobian of all bodies with a vector.

    Notes
    -----
    Source: Sueda, algorithm 5; the derivative of `body_jacobian_product` for constant x. In body coordinates the rate
    of a transform X of motions is ``-v_J x X`` with v_J the velocity of the joint (Featherstone 2008, eq. 2.45).
    Cost: O(n). Identity: ``J a + J_dot v`` are the spatial `body_accelerations` of the same reference.

    See Also
    --------
    body_jacobian_product, jacobian_rate

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm, h = kt.models.double_pendulum(), 1e-6
    >>> q, v, x = np.array([[0.3, -0.2], [1.0, 2.0], [0.5, 0.7]])
    >>> with kt.interpreted():
    ...     rate = kt.kinematics.body_jacobian_rate_product(arm, q, v, x, reference="world")
    ...     ends = [kt.kinematics.body_jacobian_product(arm, q + s * h * v, x, reference="world") for s in (-1, 1)]
    >>> np.allclose(rate, (ends[1] - ends[0]) / (2 * h))
    True
    """
    zero = model.algebra.Motion.zero()
    Y, Z = [zero] + [None] * (model.nb - 1), [zero] + [None] * (model.nb - 1)
    if reference == "local":
        for i in model.outward():
            p, X = model.parent[i], link_transform(model, i, q)
            inherited, V_J = X @ Y[p], model.joints[i].velocity(model.q_of(i, q), model.v_of(i, v))
            Y[i] = inherited + motion_subspace(model, i, q) @ model.v_of(i, x)
            # z_i = X z_p - v_J x X y_p + (dS/dt) x
            Z[i] = X @ Z[p] - V_J.cross(inherited) + _subspace_rate_product(model, i, q, v, x)
        return [list(X @ Z[i]) for i, X in user_frames(model)]
    X_0 = world_transforms(model, q)
    V = world_axes_twists(model, q, v, X_0, reference)
    for i in model.outward():
        p, Sx = model.parent[i], express(motion_subspace(model, i, q) @ model.v_of(i, x), X_0[i], reference)
        dS_x = express(_subspace_rate_product(model, i, q, v, x), X_0[i], reference)
        Y[i] = at_reference(model, i, q, X_0, Y[p], reference) + Sx
        Z[i] = at_reference(model, i, q, X_0, Z[p], reference) + dS_x
        if reference == "world":
            Z[i] = Z[i] + V[i].cross(Sx)  # S is fixed to body i
        else:
            # About the body's origin S turns with the body, and the point to which y_p is shifted moves.
            turning = model.algebra.Motion(V[i].angular, zero.linear)
            Z[i] = Z[i] + turning.cross(Sx) + going(model, Y[p], V[i].linear - V[p].linear)
    if reference == "world":
        return [list(z) for z in Z]
    return [
        list(shifted(model, Z[i], d) + going(model, Y[i], d.turned(V[i].angular)))
        for i, d in ((i, to_user_frame(X_0[i], X)) for i, X in user_frames(model))
    ]


def going(model, motion, rate):
    """The rate of the linear part of a motion whose point moves at this rate."""
    return model.algebra.Motion(model.algebra.no_rotation, rate.turned(motion.angular))


@algorithm(
    inputs={"q": "nq", "y": ("nb", 6)},
    outputs="x",
    static=("reference",),
    body_frames="cheaper",
    symbols={
        "y": "Wrench on each body [N m, N], in the coordinates of ``reference``; row 0 is not used.",
        "reference": "Coordinates of the Jacobians, as for `jacobian`: moments are about its origin.",
        "x": "``sum of J_i^T y_i`` [N m or N].",
    },
)
def body_jacobian_transpose_product(model, q, y, *, reference):
    """Product of the transposed Jacobian of all bodies with forces on them: the joint forces that do the same work.

    Notes
    -----
    Source: Sueda, algorithm 6 and eq. 2.110-2.112. Cost: O(n). Identity: ``y . (J x) = (J^T y) . x``.

    See Also
    --------
    body_jacobian_product, external_forces
    """
    if reference == "world":
        f = [None] + [model.algebra.external(y[i]) for i in model.outward()]
        return transposed_product(model, q, world_transforms(model, q), f)
    f = [None] + [model.algebra.external(y[i]) for i in model.outward()]
    if reference == "local":
        f = [None] + [X.inverse_apply(f[i]) for i, X in user_frames(model)[1:]]
    else:
        X_0 = world_transforms(model, q)
        for i, X in user_frames(model)[1:]:
            moment, force = X_0[i].E @ f[i].angular, X_0[i].E @ f[i].linear
            f[i] = model.algebra.Force(moment + X.r.cross(force), force)
    x = [0.0] * model.nv
    for i in model.inward():
        x[model.v_slice[i]] = motion_subspace(model, i, q).T @ f[i]
        p = model.parent[i]
        if p:
            f[p] = f[p] + link_transform(model, i, q).inverse_apply(f[i])
    return x


def _subspace_rate_product(model, i, q, v, x):
    """The apparent rate of S along v, times x; zero where S is constant in successor coordinates."""
    dS_x = subspace_rate(model, i, q, v)
    return model.algebra.Motion.zero() if dS_x is None else dS_x @ model.v_of(i, x)
