r"""The reduced equation of motion, from the bodies' equations and the Jacobian.

Sueda (eq. 2.18)                       here
``M_m``                                ``model.I``
``f_m`` (eq. 1.21)                     ``ad(Phi)^T M Phi``, weight, external wrenches, in body coordinates
``J_mr``                               ``J[i]``, the columns of body i
``Jdot_mr qd_r``                       ``Z[i]``, by algorithm 5
``M_r = J^T M J``                      `reduced_inertia`
``f_r = J^T (f_m - M Jdot qd)``        `reduced_forces`, with the forces of joints and force elements

Gears and tendons with inertia, which belong to no single body, join in joint coordinates.

M_r and f_r are dense: the O(n^3) method of the notes, which reads as it is derived. `articulated_factorization` solves
with the same M_r in O(n).
"""

from __future__ import annotations

from kinetree.algorithms.factorize import LeafFirst
from kinetree.algorithms.force_slopes import symmetric_damping, symmetric_stiffness
from kinetree.algorithms.gears import add_gear_inertia, gear_forces, has_gears
from kinetree.algorithms.kinematics import body_twists, link_transform, motion_subspace, world_transforms
from kinetree.algorithms.manifold import integrate, reparameterize
from kinetree.algorithms.matrices import apply, minus, plus
from kinetree.algorithms.passive import passive_terms
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.spec import algorithm
from kinetree.algorithms.tendon_inertia import tendon_inertia
from kinetree.redmax.jacobians import body_columns


def reduced_inertia(model, q, J) -> list:
    """``M_r = J^T M J``, and the inertia of armatures, gears and tendons."""
    M = [[0.0] * model.nv for _ in range(model.nv)]
    for i in model.outward():
        columns = list(J[i].items())
        for n, (k, column) in enumerate(columns):
            F = model.I[i] @ column
            for m, other in columns[: n + 1]:
                M[k][m] = M[m][k] = M[k][m] + other.dot(F)
    return add_joint_inertia(model, q, M)


def add_joint_inertia(model, q, M) -> list:
    """M with the inertia of armatures, gears and tendons, which belongs to no single body."""
    for k in range(model.nv):
        M[k][k] = M[k][k] + model.armature[k]
    if has_gears(model):
        add_gear_inertia(model, *_links(model, q), M)
    added, _ = tendon_inertia(model, q, [0.0] * model.nv)
    return M if added is None else [plus(row, more) for row, more in zip(M, added, strict=True)]


def _links(model, q) -> tuple[list, list]:
    """X and S of every joint."""
    bodies = model.outward()
    X, S = ([None, *(function(model, i, q) for i in bodies)] for function in (link_transform, motion_subspace))
    return X, S


def reduced_forces(model, q, v, tau, f_ext, x, u, J) -> list:
    """``f_r = J^T (f_m - M Jdot qd)``, actuators, springs and dampers of joints, and force elements."""
    X, V = body_twists(model, q, v)
    X_0 = world_transforms(model, q)
    elastic, damping, _ = passive_terms(model, q, v, x, u)
    f_r = [t + e - d * v_k for t, e, d, v_k in zip(tau, elastic, damping, v, strict=True)]
    f_r = minus(f_r, tendon_inertia(model, q, v)[1])
    couples = [model.algebra.Force.zero() for _ in range(model.nb)]
    if has_gears(model):
        f_r = minus(f_r, gear_forces(model, *_links(model, q), couples, q, v, None))
    Z = [model.algebra.Motion.zero()] + [None] * (model.nb - 1)
    rest = model.algebra.no_rotation
    for i in model.outward():
        joint, q_i, v_i = model.joints[i], model.q_of(i, q), model.v_of(i, v)
        Z[i] = X[i] @ Z[model.parent[i]] + V[i].cross(joint.velocity(q_i, v_i)) + joint.bias(q_i, v_i)
        weight = X_0[i] @ model.algebra.Motion(rest, model.gravity)
        # f_m - M Jdot qd, with ad(Phi)^T M Phi = -Phi x* M Phi
        f = model.I[i] @ (weight - Z[i]) - V[i].cross(model.I[i] @ V[i]) - couples[i]
        if f_ext is not None:
            f = f + X_0[i] @ model.algebra.external(f_ext[i])
        for k, column in J[i].items():
            f_r[k] = f_r[k] + column.dot(f)
    return f_r


@algorithm(
    inputs="q v tau",
    optional="f_ext x u",
    outputs={"M_r": ("nv", "nv"), "f_r": ("nv",)},
    symbols={
        "M_r": "Reduced mass matrix [kg m^2, kg m or kg].",
        "f_r": "Reduced forces [N m or N]: ``M_r a = f_r``.",
    },
)
def redmax_equation(model, q, v, tau, f_ext=None, x=None, u=None):
    r"""The reduced equation of motion by the Jacobian from reduced to maximal coordinates.

    .. math:: M_r = J^T M_m J, \qquad f_r = J^T (f_m - M_m \dot J \dot q_r) + \tau

    Notes
    -----
    Source: Sueda, eq. 2.18, 2.73. tau are the actuators' forces; those of springs, dampers and force elements join.
    Gears and tendons with inertia are, by their own terms. Constraints are not in it: see
    `kinetree.redmax.accelerations`. Cost: O(n d^2) and O(n d), d the depth of the tree.
    Identities: ``M_r = crba(q)``, ``f_r = tau + passive_joint_forces(q, v) - bias_forces(q, v)``.

    See Also
    --------
    redmax_jacobian, redmax_step, crba, rnea

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.double_pendulum()
    >>> M_r, f_r = kt.redmax.equation(arm, [0.1, 0.2], [1.0, 2.0], [0.3, 0.4])
    >>> bool(np.allclose(np.linalg.solve(M_r, f_r), kt.aba(arm, [0.1, 0.2], [1.0, 2.0], [0.3, 0.4])))
    True
    """
    J = body_columns(model, q)
    return reduced_inertia(model, q, J), reduced_forces(model, q, v, tau, f_ext, x, u, J)


@algorithm(
    inputs="q v tau dt",
    optional="f_ext x u",
    outputs="q_next v_next",
    symbols={"tau": "Actuator forces during the step [N m or N]."},
    raises="SingularityError",
)
def redmax_step(model, q, v, tau, dt, f_ext=None, x=None, u=None):
    r"""One step of semi-implicit Euler in reduced coordinates, without constraints.

    .. math:: M_r \dot q_r^{+} = M_r \dot q_r + h f_r, \qquad q_r^{+} = q_r \oplus h \dot q_r^{+}

    Notes
    -----
    Source: Sueda, eq. 2.19-2.20. All forces are those at the beginning of the step; internal states of force elements
    stay. With constraints: `kinetree.redmax.velocities`.

    See Also
    --------
    redmax_implicit_step, semi_implicit_step
    """
    M, f = redmax_equation(model, q, v, tau, f_ext, x, u)
    a = LeafFirst(M, inertia_scales(model)).solve(f)
    return _moved(model, q, v, a, dt)


@algorithm(
    inputs="q v tau dt",
    optional="f_ext x u",
    outputs="q_next v_next",
    symbols={"tau": "Actuator forces during the step [N m or N]."},
    raises="SingularityError",
)
def redmax_implicit_step(model, q, v, tau, dt, f_ext=None, x=None, u=None):
    r"""One step of linearly implicit Euler in reduced coordinates, with the stiffness and damping of joints and bodies.

    .. math:: (M_r + h D + h^2 K)\, \dot q_r^{+} = M_r \dot q_r + h (f_r + D \dot q_r)

    Notes
    -----
    Source: Sueda, eq. 2.72-2.79, with ``K = -df/dq`` and ``D = -df/dv`` of all springs, dampers and force elements,
    symmetric parts (Baraff and Witkin 1998): those on bodies as ``J^T K_m J``, and the turning of their forces with
    the bodies. Weight and Coriolis forces are those at the beginning. Identity: the step of
    ``kt.integrators.LinearlyImplicit(forces="passive", slopes="symmetric")``.

    See Also
    --------
    redmax_step, linearly_implicit_step, stiffness_matrix, damping_matrix
    """
    M, f = redmax_equation(model, q, v, tau, f_ext, x, u)
    K, D = symmetric_stiffness(model, q, v, x, u), symmetric_damping(model, q, v, x, u)
    n = range(model.nv)
    A = [[M[m][k] + dt * (D[m][k] + dt * K[m][k]) for k in n] for m in n]
    a = LeafFirst(A, inertia_scales(model)).solve(minus(f, [dt * x for x in apply(K, v)]))
    return _moved(model, q, v, a, dt)


def _moved(model, q, v, a, dt):
    v_next = plus(v, [dt * x for x in a])
    return reparameterize(model, integrate(model, q, [dt * x for x in v_next]), v_next)
