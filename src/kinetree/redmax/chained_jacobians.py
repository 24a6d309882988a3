r"""Hyper-reduced coordinates: a second Jacobian, from fewer coordinates to those of the joints.

Sueda (eq. 2.80-2.83)               here
``J_rR``                            G of `NullSpace`: couplings, explicit constraints ``q = gamma(y)``, loops
``Jdot_rR qd_R``                    its accelerations at zero ones of y
``J_mR = J_mr J_rR``                ``chained``
``Jdot_mR qd_R``                    ``Jdot_mr qd_r + J_mr (Jdot_rR qd_R)``, in the forces
"""

from __future__ import annotations

from kinetree.algorithms.domain import CLOSED_LOOPS, CONSTRAINTS, UNIT_QUATERNIONS
from kinetree.algorithms.matrices import apply, dot, mirrored
from kinetree.algorithms.null_space import null_space_at
from kinetree.algorithms.spec import algorithm
from kinetree.redmax.equations import add_joint_inertia, reduced_forces
from kinetree.redmax.jacobians import body_columns
from kinetree.spatial.scalar import is_zero


def chained(model, J, columns) -> list[list]:
    """``J_mR = J_mr J_rR`` of every body: a motion for each hyper-reduced velocity."""
    zero = model.algebra.Motion.zero()
    found = [[zero] * len(columns) for _ in J]
    for i in model.outward():
        for m, column in enumerate(columns):
            for k, motion in J[i].items():
                if not is_zero(column[k]):
                    found[i][m] = found[i][m] + motion * column[k]
    return found


@algorithm(
    inputs="q v tau",
    optional="f_ext x u",
    outputs={"M_R": ("ny", "ny"), "f_R": ("ny",)},
    static=("independent",),
    domains=(UNIT_QUATERNIONS, CONSTRAINTS, CLOSED_LOOPS),
    symbols={
        "M_R": "Mass matrix of the hyper-reduced coordinates [kg m^2, kg m or kg].",
        "f_R": "Their forces [N m or N]: ``M_R y' = f_R`` with y the independent velocities.",
    },
)
def redmax_hyper_reduced(model, q, v, tau, f_ext=None, x=None, u=None, *, independent=None):
    r"""The equation of motion in the independent velocities of a model with constraints, by chained Jacobians.

    .. math:: J_{mR} = J_{mr} J_{rR}, \quad J_{mR}^T M_m J_{mR}\, \ddot q_R = J_{mR}^T (f_m - M_m \dot J_{mR} \dot q_R)

    Notes
    -----
    Source: Sueda, eq. 2.80-2.83. J_rR is the null space of the constraints (`closed_loops_null_space`): of n joints
    that turn alike a column of ones. Cost: O(n d + n y^2), d the depth of the tree.
    Identities: the accelerations are those of `forward_dynamics`, without multipliers; M_R is
    `closed_loops_reduced_mass_matrix`.

    See Also
    --------
    redmax_equation, forward_dynamics

    Examples
    --------
    A chain of five rods whose joints turn alike has one degree of freedom:

    >>> import kinetree as kt
    >>> chain = kt.models.n_pendulum(5)
    >>> first, *others = chain.joint_names
    >>> curl = chain.with_constraints(*(kt.constraints.Coupling(name, first) for name in others))
    >>> M_R, f_R = kt.redmax.hyper_reduced(curl, [0.1] * 5, [1.0] * 5, [0.0] * 5)
    >>> M_R.shape
    (1, 1)
    """
    space, J = null_space_at(model, q, v, independent), body_columns(model, q)
    columns, turning = space.by_column, space.accelerations([0.0] * len(space.place))
    J_R, zero = chained(model, J, columns), model.algebra.Motion.zero()
    n = range(len(columns))
    M = [[0.0] * (m + 1) for m in n]
    f = reduced_forces(model, q, v, tau, f_ext, x, u, J)
    f_R = [dot(column, f) for column in columns]
    for i in model.outward():
        A = zero  # J_mr (Jdot_rR qd_R)
        for k, motion in J[i].items():
            A = A + motion * turning[k]
        inertial = model.I[i] @ A
        for m in n:
            F = model.I[i] @ J_R[i][m]
            f_R[m] = f_R[m] - J_R[i][m].dot(inertial)
            for k in range(m + 1):
                M[m][k] = M[m][k] + J_R[i][k].dot(F)
    of_joints = add_joint_inertia(model, q, [[0.0] * model.nv for _ in range(model.nv)])
    inertial = apply(of_joints, turning)
    for m in n:
        f_R[m] = f_R[m] - dot(columns[m], inertial)
        share = apply(of_joints, columns[m])
        for j in range(m + 1):
            M[m][j] = M[m][j] + dot(columns[j], share)
    return mirrored(M), f_R
