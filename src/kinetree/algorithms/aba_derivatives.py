r"""Derivatives of forward dynamics, by articulated bodies.

The derivative of the joint forces along a column k of joint i comes from forces on the bodies of its subtree (see
`derivatives.py`): ``I alpha + 2 B beta`` on each of them, with the same two motions alpha = psi_ddot_k and beta =
psi_dot_k for all (for the derivative along v_k: S_dot_k + psi_dot_k and S_k), and from ``S_k x* F_i`` on the parent of
i, F_i the force that the joint transmits. The response of the mechanism is the accelerations that `aba` would find for
these forces, negated. Because all forces on the subtree depend on two motions, its bodies need not be visited for every
column:

* the force ``I alpha`` on all bodies of a subtree is that of an acceleration alpha of its base;
* ``2 B beta`` takes only the angular part of beta, so three patterns of forces, ``2 B e``, are enough for all columns;
* the responses of the joints of a subtree, and of other branches, to the acceleration of a body that supports them and
  to the patterns are rows that do not depend on the column;
* the responses of the joints towards the root follow by reciprocity: the work of the forces on the accelerations due
  to a unit force at that joint;
* a floating base complies with alpha as a whole: orientation and velocity of a robot in free flight have no influence
  on its joints, and these entries are structural zeros.

No M is formed and no system of equations is solved but the joints' own D.
"""

from __future__ import annotations

from kinetree.algorithms.aba import aba
from kinetree.algorithms.derivatives import (
    accelerations,
    body_map,
    external_wrenches,
    joint_columns,
    joint_motions,
    less,
    rnea_derivatives,
    summed,
)
from kinetree.algorithms.factorize import LeafFirst
from kinetree.algorithms.matrices import identity
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.response import Articulated, Change, Responses
from kinetree.algorithms.spec import algorithm
from kinetree.spatial.columns import JointVector


@algorithm(
    inputs="q v tau",
    optional="f_ext",
    outputs="da_dq da_dv da_dtau",
    symbols={"f_ext": "; constant there."},
    raises="SingularityError",
)
def aba_derivatives(model, q, v, tau, f_ext=None):
    r"""Derivatives of forward dynamics with respect to position, velocity and joint forces.

    .. math:: da = \frac{\partial a}{\partial q}\,dq + \frac{\partial a}{\partial v}\,dv + M^{-1} d\tau

    Notes
    -----
    Source: Singh, Russell, Wensing (2022) for the forces, Carpentier, Mansard (2018) for ``da = -M^-1 dtau``. Differs:
    the response is found by articulated bodies, as described at the head of the file, without products with M^-1.
    Cost: O(n^2); with gears by ``da = -M^-1 dtau``, O(n^3). Like that of `aba`, the error grows with the
    condition of M.
    Identity: ``da_dq = -da_dtau @ rnea_derivatives(q, v, a).dtau_dq``, the same for v.

    See Also
    --------
    aba, rnea_derivatives, differentiate

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> d = kt.aba_derivatives(kt.models.pendulum(length=2.0), [0.0], [0.0], [0.0])
    >>> bool(np.allclose(d.da_dq, -9.81 / 2.0))
    True
    """
    if model.geared:
        return _by_inverse_dynamics(model, q, v, tau, f_ext)
    motions = joint_motions(model, q, v)
    W = external_wrenches(model, q, f_ext) if f_ext is not None else None
    algebra, A = model.algebra, accelerations(model, motions, None)
    units = [algebra.Motion.of(row) for row in identity(algebra.dimension)]
    # Patterns of forces on a subtree: 2 B e for each axis e; and e x* w for wrenches w that stay fixed in the world.
    I, turning, f, patterns = ([None] * model.nb for _ in range(4))
    for i in model.outward():
        I[i], B = body_map(model, motions, i)
        turning[i] = B @ motions.V[i]  # f = I a + v x* I v
        f[i] = I[i] @ A[i] + turning[i]
        patterns[i] = [B @ (e * 2.0) for e in units[: algebra.turns]]
        if W is not None:
            f[i] = f[i] - W[i]
            patterns[i] += [e.cross(W[i]) for e in units]
    loads = [(f, tau), *[([None, *pattern], None) for pattern in zip(*patterns[1:], strict=True)]]
    mechanism = Articulated(model, motions.S, I, loads=loads)
    columns = joint_columns(model, q, v, mechanism.outward(), motions)
    F = summed(model, [None] + [I[i] @ columns.A[i] + turning[i] for i in model.outward()])
    F = F if W is None else less(F, summed(model, W))
    responses = Responses(mechanism)

    da_dq, da_dv = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(2))
    for i in model.outward():
        responses.invert(i)
        for m, S_k in enumerate(motions.S[i]):
            k = model.v_slice[i].start + m
            by_q, by_v = list(columns.psi_dot[i][m])[: algebra.turns], list(S_k)[: algebra.turns]
            if W is not None:
                by_q, by_v = by_q + list(S_k), by_v + [0.0] * algebra.dimension
            none = JointVector([0.0] * len(motions.S[i]))
            dS_F = none if columns.dS_dq[i] is None else columns.dS_dq[i][m].T @ F[i]
            along_q = Change(da_dq, columns.psi_ddot[i][m], by_q, S_k.cross(F[i]), dS_F)
            along_v = Change(da_dv, columns.psi_S_dot[i][m], by_v, algebra.Force.zero(), none)
            responses.columns(i, k, (along_q, along_v))
    return da_dq, da_dv, responses.inverse


def _by_inverse_dynamics(model, q, v, tau, f_ext):
    """``da = -M^-1 dtau``: gears couple joints to other bodies than their own."""
    dq, dv, M = rnea_derivatives(model, q, v, aba(model, q, v, tau, f_ext), f_ext)
    n = model.nv
    columns = [[-row[k] for row in D] for D in (dq, dv) for k in range(n)] + identity(n)
    solved = list(map(LeafFirst(M, inertia_scales(model)).solve, columns))
    return tuple([[column[m] for column in solved[k * n : (k + 1) * n]] for m in range(n)] for k in range(3))
