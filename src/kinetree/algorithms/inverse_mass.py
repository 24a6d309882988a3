r"""The inverse of the joint-space inertia matrix: products with it in O(n), and all of it.

Book (table 7.1)      here
``I^A_i``             ``IA[i]``
``U_i, D_i, u_i``     of ``joint[i]``, ``u[i]``
``i_X_lambda(i)``     ``X[i]``

Without velocity, gravity and external forces the articulated-body algorithm solves ``M a = x``: no M is formed. The
matrix itself is the response to unit forces: `response.py`, which derivatives of forward dynamics use, too.
"""

from __future__ import annotations

from kinetree.algorithms.aba import joint_accelerations
from kinetree.algorithms.crba import crba
from kinetree.algorithms.factorize import LeafFirst
from kinetree.algorithms.kinematics import link_transform, links, motion_subspace
from kinetree.algorithms.matrices import identity, mirrored, plus
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.response import Articulated, Responses
from kinetree.algorithms.spec import algorithm


def added(model, diagonal):
    """Terms on the diagonal of M besides the inertia of the bodies: armature, and the caller's."""
    return model.armature if diagonal is None else plus(model.armature, diagonal)


def _factorized(model, q, diagonal):
    """``M + diag(diagonal)`` by the matrix itself, for gears, which couple other bodies than neighbors."""
    M = crba(model, q)
    for k, x in enumerate(diagonal or ()):
        M[k][k] = M[k][k] + x
    return LeafFirst(M, inertia_scales(model))


@algorithm(
    inputs="q x",
    optional="diagonal",
    outputs={"y": "nv"},
    symbols={
        "x": "Generalized forces or momenta [N m or N, or N m s or N s].",
        "y": "The accelerations or velocities that belong to x [rad/s^2 or m/s^2, or rad/s or m/s].",
    },
    raises="SingularityError",
)
def inverse_mass_product(model, q, x, diagonal=None):
    r"""Product of the inverse of the joint-space inertia matrix with a vector, in O(n).

    .. math:: y = (M(q) + \mathrm{diag}(d))^{-1}\,x

    Notes
    -----
    Source: Featherstone (2008), table 7.1; Sueda, algorithm 10. The armature is part of M. ``M + diag(d)`` must be
    positive definite. Cost: O(n), about half of `aba`; for many x at one q see `factorize`.
    Identities: ``crba(q) @ inverse_mass_product(q, x) = x``; ``inverse_mass_product(q, tau - bias_forces(q, v)) =
    aba(q, v, tau)``.

    See Also
    --------
    inverse_mass_matrix, factorize, aba

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, x = kt.models.double_pendulum(), [0.3, -0.8], np.array([1.0, 2.0])
    >>> bool(np.allclose(kt.crba(model, q) @ kt.dynamics.inverse_mass_product(model, q, x), x))
    True
    """
    if model.geared:
        return _factorized(model, q, diagonal).solve(x)
    at_rest = [model.algebra.Force.zero()] * model.nb
    return joint_accelerations(model, *links(model, q), at_rest, x, added(model, diagonal))


@algorithm(inputs="q", optional="diagonal", outputs="M_inv", raises="SingularityError")
def inverse_mass_matrix(model, q, diagonal=None):
    r"""Inverse of the joint-space inertia matrix, without M.

    .. math:: M(q)^{-1} = \partial a / \partial \tau

    Notes
    -----
    Source: Featherstone (2008), section 7.2: the responses of articulated bodies to unit forces; the book gives no
    listing. The armature is part of M. In the coordinates of the root body, where articulated bodies add up without
    transforms, which costs digits: median error against
    extended precision, relative to the largest entry, 6e-16 to 6e-14 (general arms to humanoids, long chains between).
    Cost: O(n^2). Identity: ``inverse_mass_matrix(q) = aba_derivatives(q, v, tau).da_dtau``.

    See Also
    --------
    inverse_mass_product, crba, aba_derivatives

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q = kt.models.double_pendulum(), [0.3, -0.8]
    >>> bool(np.allclose(kt.dynamics.inverse_mass_matrix(model, q) @ kt.crba(model, q), np.eye(2)))
    True
    """
    if model.geared:
        return mirrored(list(map(_factorized(model, q, diagonal).solve, identity(model.nv))))
    X, S, I = [None] * model.nb, [None] * model.nb, [None] * model.nb
    for i in model.outward():
        # From the root body's coordinates to those of body i: the root is at its joint's successor frame.
        p = model.parent[i]
        X[i] = link_transform(model, i, q).collapse() @ X[p] if p else model.algebra.Transform.identity()
        S[i] = X[i].inverse_apply(motion_subspace(model, i, q))
        I[i] = X[i].inverse_apply(model.I[i])
    responses = Responses(Articulated(model, S, I, added(model, diagonal)))
    for i in model.outward():
        responses.invert(i)
    return responses.inverse
