r"""The joint-space inertia matrix factorized by articulated bodies: once for a position, then O(n) for every vector.

Book (table 7.1)          here
``S_i``                   ``S[k]``, one row for each velocity
``U_i D_i^-1``            ``K[k]``
``D_i^-1``                ``D_inv[k]``
``i_X_lambda(i)``         ``r[i]``, from the parent's origin to the body's

A joint of several velocities is a row of joints of one velocity with massless bodies between them, so every D is a
number. Vectors have the axes of the world, about the origin of their own body: between bodies they are only shifted,
which costs 6 products, and no large positions are subtracted.

The factors are those of Rodriguez and Jain: ``M = (1 + S^T phi K) diag(1 / D_inv) (1 + S^T phi K)^T``.
"""

from __future__ import annotations

from kinetree.algorithms.inverse_mass import added
from kinetree.algorithms.kinematics import link_transform, motion_subspace
from kinetree.algorithms.regularity import inertia_scales, require_regular
from kinetree.algorithms.spec import algorithm


@algorithm(
    inputs="q",
    optional="diagonal body_terms",
    outputs="r S K D_inv",
    body_frames=True,
    raises="SingularityError",
    geared=False,
)
def articulated_factorization(model, q, diagonal=None, body_terms=None):
    r"""The joint-space inertia matrix factorized by articulated bodies, for `articulated_solve`.

    .. math:: M(q) + J^T \mathrm{blkdiag}(B)\, J + \mathrm{diag}(d) = (1 + S^T \phi K)\, D\, (1 + S^T \phi K)^T

    Notes
    -----
    Source: Featherstone (2008), table 7.1; Sueda, algorithm 10; Rodriguez, Jain, Kreutz-Delgado (1991) for the
    factors. J stacks the Jacobians of the bodies in their own coordinates, B are the terms of the bodies. The armature
    is part of M. Cost: O(n).

    See Also
    --------
    articulated_solve, factorize

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q = kt.models.double_pendulum(), [0.3, -0.8]
    >>> factors = kt.dynamics.articulated_factorization(model, q)
    >>> determinant = 1.0 / np.prod(factors.D_inv)
    >>> bool(np.allclose(determinant, np.linalg.det(kt.crba(model, q))))
    True
    """
    algebra, diagonal = model.algebra, added(model, diagonal)
    S, r, IA = [None] * model.nb, [None] * model.nb, [None] * model.nb
    X_0 = [algebra.Transform.identity()] + [None] * (model.nb - 1)
    for i in model.outward():
        X = link_transform(model, i, q).collapse()
        X_0[i] = X @ X_0[model.parent[i]]
        here = X_0[i].turn()  # from the world's axes to the body's, its origin kept
        S[i] = here.inverse_apply(motion_subspace(model, i, q))
        r[i] = X_0[model.parent[i]].turn().inverse_apply(algebra.Motion(algebra.no_rotation, X.r)).linear
        inertia = algebra.ArticulatedInertia.of(model.I[i])
        if body_terms is not None:
            inertia = inertia + algebra.ArticulatedInertia.symmetric_part(body_terms[i])
        IA[i] = here.inverse_apply(inertia)

    rows_S, K, D_inv = [None] * model.nv, [None] * model.nv, [0.0] * model.nv
    scales = inertia_scales(model)
    for i in model.inward():
        first = model.v_slice[i].start
        for m, S_k in reversed(list(enumerate(S[i]))):
            k, U = first + m, IA[i] @ S_k
            D = S_k.dot(U) + diagonal[k]
            require_regular(D, scales[k])
            D_inv[k] = 1.0 / D
            K_k = U * D_inv[k]
            rows_S[k], K[k] = list(S_k), list(K_k)
            # Joints in a row on one body: I^a = I^A - U D^-1 U^T is the I^A of the next.
            IA[i] = IA[i].minus_product([U], [K_k])
        p = model.parent[i]
        if p:
            IA[p] = IA[p] + algebra.Transform.shift(r[i]).inverse_apply(IA[i])
    world = list(algebra.Motion.zero().linear)
    return [world] + [list(r[i]) for i in model.outward()], rows_S, K, D_inv


@algorithm(
    inputs="r S K D_inv x",
    outputs={"y": "nv"},
    symbols={
        "x": "Generalized forces or momenta [N m or N, or N m s or N s]; leading axes broadcast against those "
        "of the factors.",
        "y": "The accelerations or velocities that belong to x [rad/s^2 or m/s^2, or rad/s or m/s].",
    },
    geared=False,
)
def articulated_solve(model, r, S, K, D_inv, x):
    r"""Product of the inverse of a factorized joint-space inertia matrix with a vector, in O(n).

    .. math:: y = (M + \mathrm{diag}(d))^{-1}\,x

    Notes
    -----
    Source: Featherstone (2008), table 7.1; Sueda, algorithm 10. Cost: O(n), 25 products for each velocity and 12 for
    each body; a dense M^-1 takes n^2 and is faster up to about 35 velocities.
    Identity: ``articulated_solve(*articulated_factorization(q), x) = inverse_mass_product(q, x)``.

    See Also
    --------
    factorize : the same, as one object.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm, q, x = kt.models.double_pendulum(), [0.3, -0.2], np.array([1.0, 2.0])
    >>> with kt.interpreted():
    ...     factors = kt.dynamics.articulated_factorization(arm, q)
    ...     y = kt.dynamics.articulated_solve(arm, *factors, x)
    ...     M = kt.crba(arm, q)
    >>> np.allclose(M @ y, x)
    True
    """
    algebra, y, A = model.algebra, [0.0] * model.nv, [None] * model.nb
    pA, u = [algebra.Force.zero()] * model.nb, [0.0] * model.nv
    S, K = [algebra.Motion.of(row) for row in S], [algebra.Force.of(row) for row in K]
    point = algebra.Motion.zero().linear.__class__
    steps = [algebra.Transform.shift(point(*r_i)) for r_i in r]
    for i in model.inward():
        for k in reversed(range(model.v_slice[i].start, model.v_slice[i].stop)):
            # u = tau - S^T p^A,  p^a = p^A + U D^-1 u
            u[k] = x[k] - S[k].dot(pA[i])
            pA[i] = pA[i] + K[k] * u[k]
        p = model.parent[i]
        if p:
            pA[p] = pA[p] + steps[i].inverse_apply(pA[i])
    for i in model.outward():
        p = model.parent[i]
        A[i] = steps[i] @ A[p] if p else algebra.Motion.zero()
        for k in range(model.v_slice[i].start, model.v_slice[i].stop):
            # qdd = D^-1 (u - U^T a'),  a = a' + S qdd
            y[k] = u[k] * D_inv[k] - K[k].dot(A[i])
            A[i] = A[i] + S[k] * y[k]
    return y
