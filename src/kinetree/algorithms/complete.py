"""The complete dynamics of a model: the tree, its passive joint forces and its couplings.

With couplings ``q = gamma(y)``, ``v = G ydot`` (G constant: each coupled joint turns with its master), the equation
of motion of the tree is projected on the independent velocities: ``G^T M G ydd = G^T (tau - c)`` (book, eq.
3.20-3.21).
"""

from __future__ import annotations

from kinetree.algorithms.aba import articulated_accelerations
from kinetree.algorithms.couplings import (
    at_masters,
    coupled_rows,
    coupling_columns,
    expanded,
    projected,
    weighted,
    weighted_scales,
)
from kinetree.algorithms.crba import crba
from kinetree.algorithms.domain import COUPLINGS, LIMITS, UNIT_QUATERNIONS
from kinetree.algorithms.force_elements import gauss_newton_slopes
from kinetree.algorithms.passive import passive_joint_forces, passive_terms
from kinetree.algorithms.products import chained
from kinetree.algorithms.rnea import bias_forces, rnea
from kinetree.algorithms.sparse import ltdl_factors, solve_ltdl
from kinetree.algorithms.spec import algorithm
from kinetree.errors import UnsupportedError
from kinetree.spatial import IdentityRotation

COMPLETE = (UNIT_QUATERNIONS, LIMITS, COUPLINGS)


@algorithm(
    inputs="q v a",
    optional="f_ext",
    outputs="tau",
    domains=COMPLETE,
    symbols={
        "tau": "Actuator forces [N m or N]. A coupled joint has none of its own: its share appears at its master."
    },
    raises="UnsupportedError",
)
def inverse_dynamics(model, q, v, a, f_ext=None):
    """Forces that the actuators must exert for a given motion, everything that the model holds included.

    Notes
    -----
    Source: Featherstone (2008), table 5.1 for the tree, eq. 3.20 for the couplings; `passive_joint_forces` for the
    joints.
    Identity: ``forward_dynamics(q, v, inverse_dynamics(q, v, a)) = a`` for accelerations that respect the couplings.

    See Also
    --------
    rnea, forward_dynamics
    """
    refuse_unsupported(model, "rnea")
    tau = rnea(model, q, v, a, f_ext)
    passive = passive_joint_forces(model, q, v)
    return at_masters(model, [t - p for t, p in zip(tau, passive, strict=True)])


@algorithm(
    inputs="q v tau",
    optional="f_ext",
    outputs="a",
    domains=COMPLETE,
    symbols={"tau": "Actuator forces [N m or N]; a force at a coupled joint acts on its master through the coupling."},
    raises="SingularityError UnsupportedError",
)
def forward_dynamics(model, q, v, tau, f_ext=None):
    """Accelerations under given actuator forces, everything that the model holds included.

    Notes
    -----
    Source: Featherstone (2008), table 7.1 for the tree, or tables 6.2, 6.3 and 6.5 where these take fewer operations
    (arms of up to 7 joints, trees that branch early); with couplings ``G^T M G ydd = G^T (tau - c)``, eq. 3.20.

    See Also
    --------
    aba, inverse_dynamics
    """
    refuse_unsupported(model, "aba")
    passive = passive_joint_forces(model, q, v)
    return coupled_accelerations(model, q, v, [t + p for t, p in zip(tau, passive, strict=True)], f_ext, model.armature)


@algorithm(
    inputs="q v tau dt",
    optional="f_ext",
    outputs="a",
    domains=COMPLETE,
    symbols={"tau": "Actuator forces [N m or N].", "a": "``(v_next - v) / dt`` [rad/s^2 or m/s^2]."},
    raises="SingularityError",
)
def semi_implicit_acceleration(model, q, v, tau, dt, f_ext=None):
    """The acceleration of one step whose passive joint forces are taken at the end of the step.

    Notes
    -----
    Source: Sueda, eq. 1.30 and 2.72-2.79 for the joints: ``(M + h D + h^2 K) a = tau - c + elastic - (D + h K) v``
    with the diagonal damping D and stiffness K of the joints; dry friction counts as damping ``tau_c / max(|v|,
    v_s)``, so it can stop a motion but never reverse it. Stable for any damping and stiffness of the joints. Other
    force elements add their Gauss-Newton slopes, which are positive semidefinite for springs and dampers along lengths.
    """
    refuse_unsupported(model, "aba")
    elastic, damping, stiffness = passive_terms(model, q, v)
    implicit = [d + dt * k for d, k in zip(damping, stiffness, strict=True)]
    force = [tau[k] + elastic[k] - implicit[k] * v[k] for k in range(model.nv)]
    diagonal = [model.armature[k] + dt * implicit[k] for k in range(model.nv)]
    added = None
    if model.elements:
        K, D = gauss_newton_slopes(model, q, v)
        force = [f - dt * chained(row, v) for f, row in zip(force, K, strict=True)]
        added = [[dt * (d + dt * k) for d, k in zip(*rows, strict=True)] for rows in zip(D, K, strict=True)]
    return coupled_accelerations(model, q, v, force, f_ext, diagonal, added)


def refuse_unsupported(model, bare):
    """Physics that the model holds and that is not computed here is refused, not left out.

    ``bare`` names the algorithm that computes the same of the tree alone.
    """
    if not model.unsupported:
        return
    names = model.unsupported
    shown = "; ".join(names[:4]) + (f"; ... ({len(names)} in all)" if len(names) > 4 else "")
    raise UnsupportedError(
        f"model {model.name!r} holds what the complete dynamics do not compute yet: {shown}. {bare} computes the tree "
        "alone; model.without_unsupported() is a copy without them, and forces of actuators can be given by tau or a "
        "controller",
        unsupported=names,
    )


def coupled_accelerations(model, q, v, tau, f_ext, diagonal, added=None):
    """``(M + diag(diagonal) + added) a = tau - c`` under the model's couplings, M the inertia of the bodies alone."""
    if not model.couplings and not added and not matrix_pays(model):
        return articulated_accelerations(model, q, v, tau, f_ext, diagonal)
    M, c = crba(model, q), bias_forces(model, q, v, f_ext)
    for k in range(model.nv):
        M[k][k] = M[k][k] - model.armature[k] + diagonal[k]
        for m, x in enumerate(added[k] if added else ()):
            M[k][m] = M[k][m] + x
    # Row k of the independent system: a joint and all joints that turn with it, weighted by their ratios. Rows stand
    # where the innermost of these joints does, so that elimination from the leaves inward fills as little as it can.
    columns = sorted(coupling_columns(model), key=lambda column: min(k for k, _ in column))
    above = coupled_rows(M, columns)
    force = [t - c_k for t, c_k in zip(tau, c, strict=True)]
    H = [[0.0] * len(columns) for _ in columns]
    for m, column in enumerate(columns):
        for n in (m, *above[m]):
            H[m][n] = projected(M, column, columns[n])
    L, D = ltdl_factors(H, above, weighted_scales(model, columns))
    ydd = solve_ltdl(L, D, [weighted(force, column) for column in columns], above)
    return expanded(model, columns, ydd)


def matrix_pays(model) -> bool:
    """Whether factorizing the mass matrix with the tree's zeros takes fewer operations than articulated bodies.

    A body that hangs on another costs articulated bodies some 90 operations more than it costs `crba`; the rest of
    `crba` and the factorization grow with D2. In mechanisms whose joints are all parallel, articulated inertias are
    mostly zeros. Measured on 60 mechanisms: `aba` wins from 8 joints in a row, and with floating bases; the mass matrix
    on arms of up to 7 joints (5 to 13 %) and where the tree branches early (10 to 25 % on fixed-base quadrupeds).
    """
    branching = model.branching()
    return branching.D2 < (12 if _turns_about_several_axes(model) else 4) * branching.D0


def _turns_about_several_axes(model) -> bool:
    """Whether two joints turn about axes that are not parallel; if there are none, none ever get so."""
    if model.algebra.turns == 1:
        return False
    E_0, first = [IdentityRotation()] + [None] * (model.nb - 1), None
    for i in model.outward():
        joint = model.joints[i]
        q_i = joint.neutral()
        E_0[i] = joint.transform(q_i).E @ (model.X_T[i].E @ E_0[model.parent[i]])
        for S_k in joint.motion_subspace(q_i):
            axis = E_0[i].inverse_apply(S_k.angular)
            if not all(isinstance(x, float) for x in axis):
                return True  # moved by time or by traced parameters: who knows
            first = axis if first is None and max(map(abs, axis)) > 0.0 else first
            if first is not None and max(map(abs, first.cross(axis))) > 1e-9:
                return True
    return False
