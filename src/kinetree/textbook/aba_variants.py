r"""Forward dynamics by articulated bodies with the two other assembly formulae: joints by their constraint forces.

Book (table 7.2)      here
``T, T_a``            ``joint.T, joint.T_a`` (`force_basis.py`)
``I2``, ``Phi``       ``IA[i]``; ``Phi[i]``, as rows
``b^A, p^A``          ``b[i], pA[i]``
``z``, ``lambda``     ``z``, ``x``
``f``                 ``F[i]``, the force on the handle of body i

With ``f_J`` the force that a joint transmits from its predecessor, body 1, to its successor, body 2,

.. math:: f_J = T_a \tau + T \lambda, \qquad T^T (a_2 - a_1 - c) = 0.

As in `aba`, accelerations are taken relative to those for zero joint accelerations, so c and gravity do not appear. An
armature A takes part of tau: ``f_J = T_a (tau - A qdd) + T lambda`` with ``qdd = T_a^T (a_2 - a_1)``. x includes
``-sqrt(A) qdd`` besides lambda, and P ``sqrt(A) T_a`` besides T; then one equation is enough, with E the diagonal
matrix of zeros for constraints and ones for armatures:

.. math:: f_J = T_a \tau + P x, \qquad P^T (a_2 - a_1) + E x = 0.
"""

from __future__ import annotations

from kinetree.algorithms.domain import INVERTIBLE_INERTIAS, UNIT_QUATERNIONS, refuse_rods
from kinetree.algorithms.factorize import LDL, LeafFirst
from kinetree.algorithms.force_basis import force_basis
from kinetree.algorithms.matrices import apply, identity, mirrored, plus
from kinetree.algorithms.rnea import outward_pass
from kinetree.algorithms.spec import algorithm
from kinetree.spatial import Columns
from kinetree.spatial.scalar import is_zero, sqrt


class _JointForces:
    """P, E and ``T_a tau`` of a joint; and T_a, for the joint's acceleration."""

    __slots__ = ("E", "P", "T_a", "active")

    def __init__(self, model, i, S, tau):
        T, self.T_a = force_basis(model.algebra, S)
        loaded = [(T_k, x) for T_k, x in zip(self.T_a, model.armature[model.v_slice[i]], strict=True) if not is_zero(x)]
        self.P = Columns([*T, *(T_k * sqrt(x) for T_k, x in loaded)], T.kind)
        self.E = [0.0] * len(T) + [1.0] * len(loaded)
        self.active = self.T_a @ model.v_of(i, tau)

    def system(self, U, more=None):
        """``P^T U + E``, factorized; with ``more`` added."""
        Y = self.P.T @ U
        return LDL(Y if more is None else plus(Y, more), self.E)

    def acceleration(self, A):
        """``qdd = T_a^T (a_2 - a_1)``."""
        return self.T_a.T @ A


class Definite:
    """An inertia that has an inverse, factorized."""

    __slots__ = ("algebra", "factors")

    def __init__(self, algebra, inertia):
        self.algebra = algebra
        self.factors = LeafFirst([list(inertia @ algebra.Motion.of(unit)) for unit in identity(algebra.dimension)])

    def solve(self, force):
        """``I^-1 f``."""
        return self.algebra.Motion.of(self.factors.solve(force))

    def rows(self):
        """The inverse."""
        return mirrored(list(map(self.factors.solve, identity(self.algebra.dimension))))


@algorithm(
    inputs="q v tau",
    optional="f_ext",
    outputs="a",
    domains=(UNIT_QUATERNIONS, INVERTIBLE_INERTIAS),
    symbols={"model": "; every body must have an invertible inertia."},
    geared=False,
)
def aba_inverse_inertias(model, q, v, tau, f_ext=None):
    r"""Forward dynamics of the tree by articulated bodies, with inverse inertias and implicit joints.

    .. math:: \Phi^A = \Phi_1 - \Phi_1 T (T^T (\Phi_1 + \Phi_2) T)^{-1} T^T \Phi_1

    Notes
    -----
    Source: Featherstone (2008), table 7.2, variant 1 (with errata: z and the results take one line each). The joint
    accelerations follow from those of the bodies, ``qdd = T_a^T (a_2 - a_1)``. The fixed base is a body with Phi = 0.
    Cost: O(n), four times that of `aba`. The least accurate of the three: Phi^A is a difference of large inverse
    inertias. Median / worst error against extended precision 7e-16 / 3e-15 for a 7-joint arm with gripper, 6e-15 /
    3e-14 for a general arm of 6 joints (`aba`: 2e-16 / 8e-16, 5e-16 / 1e-15).
    Identity: ``aba_inverse_inertias(q, v, tau) = aba(q, v, tau)``.

    See Also
    --------
    aba, aba_implicit_joints, divide_and_conquer

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v, tau = kt.models.chain_gu(3), *np.ones((3, 3))
    >>> bool(np.allclose(kt.textbook.aba_inverse_inertias(model, q, v, tau), kt.aba(model, q, v, tau)))
    True
    """
    refuse_rods(model)
    X, S, f = outward_pass(model, q, v, None, f_ext, model.I)
    Motion, nb = model.algebra.Motion, model.nb
    body = [None] + [Definite(model.algebra, model.I[i]) for i in model.outward()]
    Phi = [None] + [body[i].rows() for i in model.outward()]
    b = [Motion.zero()] + [-body[i].solve(f[i]) for i in model.outward()]
    joint, Y, z, U = [None] * nb, [None] * nb, [None] * nb, [None] * nb

    for i in model.inward():
        p, J = model.parent[i], _JointForces(model, i, S[i], tau)
        U2 = _times(Phi[i], J.P, Motion)
        P_p = X[i].inverse_apply(J.P)  # the same forces in coordinates of body 1
        # a_1 and a_2 under the active force alone
        a_2 = b[i] + Motion.of(apply(Phi[i], list(J.active)))
        U[i], a_1, more = [], b[p], None
        if p:
            U[i] = _times(Phi[p], P_p, Motion)
            a_1 = b[p] - Motion.of(apply(Phi[p], list(X[i].inverse_apply(J.active))))
            more = P_p.T @ U[i]
        # Y = T^T (Phi_1 + Phi_2) T,  z = T^T (b_1 - b_2 - (Phi_1 + Phi_2) T_a tau)
        joint[i], Y[i] = J, J.system(U2, more)
        z[i] = P_p.T @ a_1 - J.P.T @ a_2
        if p:
            # Phi^A = Phi_1 - U Y^-1 U^T,  b^A = a_1 - U Y^-1 z
            Phi[p] = _minus_dyads(Phi[p], Y[i].dyads(U[i]))
            b[p] = a_1 - U[i] @ Y[i].solve(z[i])

    F = [None] * nb
    for i in model.outward():
        p, J = model.parent[i], joint[i]
        # lambda = Y^-1 (z + T^T Phi_1 f), f the force on body 1 of that step: branches are removed in turn
        known = z[i] + U[i].T @ F[p] if p else z[i]
        F[i] = J.active + J.P @ Y[i].solve(known)
        if p:
            F[p] = F[p] - X[i].inverse_apply(F[i])

    a, A = [0.0] * model.nv, [Motion.zero()] + [body[i].solve(F[i] - f[i]) for i in model.outward()]
    for i in model.outward():
        a[model.v_slice[i]] = joint[i].acceleration(A[i] - X[i] @ A[model.parent[i]])
    return a


def _times(Phi, forces, Motion):
    """``Phi P``."""
    return forces.each(lambda force: Motion.of(apply(Phi, list(force))), Motion)


def _minus_dyads(Phi, dyads):
    """``Phi - sum of column column^T / d``, one triangle computed."""
    lower = [row[: m + 1] for m, row in enumerate(Phi)]
    for column, reciprocal in dyads:
        u = list(column)
        w = [x * reciprocal for x in u]
        lower = [[x - u[m] * w[n] for n, x in enumerate(row)] for m, row in enumerate(lower)]
    return mirrored(lower)


@algorithm(
    inputs="q v tau",
    optional="f_ext",
    outputs="a",
    domains=(UNIT_QUATERNIONS, INVERTIBLE_INERTIAS),
    symbols={"model": "; every body must have an invertible inertia."},
    geared=False,
)
def aba_implicit_joints(model, q, v, tau, f_ext=None):
    r"""Forward dynamics of the tree by articulated bodies, with inertias and implicit joints.

    .. math:: I^A = I_1 + T (T^T I_2^{-1} T)^{-1} T^T

    Notes
    -----
    Source: Featherstone (2008), table 7.2, variant 2 (with errata). It rests on the identity
    ``I - I S (S^T I S)^-1 S^T I = T (T^T I^-1 T)^-1 T^T``. Cost: O(n), three times that of `aba`.
    As accurate as `aba`, for I^A is a sum: median / worst error against extended precision 5e-16 / 3e-15 for a 7-joint
    arm with gripper, 9e-16 / 2e-15 for a general arm of 6 joints, 5e-15 for a chain of 100 (`aba`: 2e-16 / 8e-16,
    5e-16 / 1e-15, 6e-15).
    Identity: ``aba_implicit_joints(q, v, tau) = aba(q, v, tau)``.

    See Also
    --------
    aba, aba_inverse_inertias

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v, tau = kt.models.chain_gu(3), *np.ones((3, 3))
    >>> bool(np.allclose(kt.textbook.aba_implicit_joints(model, q, v, tau), kt.aba(model, q, v, tau)))
    True
    """
    refuse_rods(model)
    X, S, f = outward_pass(model, q, v, None, f_ext, model.I)
    Motion, nb = model.algebra.Motion, model.nb
    IA, pA = [model.algebra.ArticulatedInertia.of(I) for I in model.I], list(f)
    joint, inverse, Y, z = [None] * nb, [None] * nb, [None] * nb, [None] * nb

    for i in model.inward():
        p = model.parent[i]
        J, inverse[i] = _JointForces(model, i, S[i], tau), Definite(model.algebra, IA[i])
        joint[i], Y[i] = J, J.system(J.P.each(inverse[i].solve, Motion))
        # z = -T^T I_2^-1 (T_a tau - p_2)
        a_2 = inverse[i].solve(J.active - pA[i])
        z[i] = -(J.P.T @ a_2)
        if p:
            # I^A = I_1 + T Y^-1 T^T,  p^A = p_1 + T_a tau + T Y^-1 z
            columns = [(column, column * -reciprocal) for column, reciprocal in Y[i].dyads(J.P)]
            none = model.algebra.ArticulatedInertia.of(IA[0]) * 0.0
            Ia = none.minus_product([c for c, _ in columns], [scaled for _, scaled in columns])
            pa = J.active + J.P @ Y[i].solve(z[i])
            IA[p] = IA[p] + X[i].inverse_apply(Ia)
            pA[p] = pA[p] + X[i].inverse_apply(pa)

    a, A = [0.0] * model.nv, [Motion.zero()] + [None] * (nb - 1)
    for i in model.outward():
        J, a_1 = joint[i], X[i] @ A[model.parent[i]]
        # lambda = Y^-1 (z + T^T a_1),  a_2 = I_2^-1 (f_J - p_2)
        x = Y[i].solve(z[i] + J.P.T @ a_1)
        A[i] = inverse[i].solve(J.active + J.P @ x - pA[i])
        a[model.v_slice[i]] = J.acceleration(A[i] - a_1)
    return a
