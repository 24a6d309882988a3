r"""Regressors: dynamics, momentum and energy as linear functions of the bodies' inertial parameters.

Everything that a rigid body's inertia does is linear in its ten parameters

.. math:: \pi_i = (m,\; m c_x,\; m c_y,\; m c_z,\; I_{xx}, I_{xy}, I_{yy}, I_{xz}, I_{yz}, I_{zz}),

I about the body's origin, in the body's own axes. So a column of a regressor is the force on a body that has a one in
one of these places and zeros elsewhere, projected on the joints that support it.

=============================  ==========================================
``basis(field)``               forces of ten such bodies that follow an acceleration field
``J[i]``                       motion of body i for unit velocities of the joints that support it, in its coordinates
=============================  ==========================================
"""

from __future__ import annotations

from kinetree.algorithms.kinematics import body_fields, body_twists, links, world_transforms
from kinetree.algorithms.matrices import identity
from kinetree.algorithms.spec import algorithm
from kinetree.spatial import Force, Inertia, Motion, PlanarInertia, Symmetric3, Vector2, Vector3
from kinetree.spatial.algebra import SPATIAL


def unit_inertias(algebra) -> tuple:
    """Inertias with a one in one place: ten, or the four (m, m c_x, m c_y, I_zz) of planar bodies."""
    if algebra is SPATIAL:
        return tuple(Inertia(m, Vector3(x, y, z), Symmetric3(*I)) for m, x, y, z, *I in identity(10))
    return tuple(PlanarInertia(m, Vector2(x, y), I) for m, x, y, I in identity(4))


def inertial_forces_of_units(field, units) -> list:
    """The forces that bodies of unit inertia need to follow an acceleration field.

    ``f = m a + U h``, ``n = h x a + I dw + w x I w``: as `Inertia.inertial_force`, which goes through second moments.
    """
    if not isinstance(units[0], Inertia):
        return [unit.inertial_force(field) for unit in units]
    w, dw, U = field.w, field.dw, field.gradient
    forces = [Force(unit.h.cross(field.a), field.a * unit.m + U @ unit.h) for unit in units[:4]]
    return forces + [Force(unit.I @ dw + w.cross(unit.I @ w), Vector3.zero()) for unit in units[4:]]


def body_jacobians(model, X, S) -> list[dict]:
    """Of every body: from the number of a velocity to the motion it gives, in coordinates of the body."""
    J = [{}] + [None] * (model.nb - 1)
    for i in model.outward():
        J[i] = {k: X[i] @ S_k for k, S_k in J[model.parent[i]].items()}
        J[i].update(enumerate(S[i], model.v_slice[i].start))
    return J


def joint_rows(model, J, F, units) -> list[list]:
    """``J_i^T f`` for the forces ``F[i]`` on each body, joint by joint; zero if the joint is no support of it."""
    Y = [[0.0] * (len(units) * (model.nb - 1)) for _ in range(model.nv)]
    for i in model.outward():
        for k, J_k in J[i].items():
            for column, force in enumerate(F[i], len(units) * (i - 1)):
                Y[k][column] = J_k.dot(force)
    return Y


@algorithm(
    inputs="q v a",
    outputs={"Y": ("nv", "n_inertial")},
    body_frames=True,
    symbols={
        "Y": "Ten columns for each moving body, in the order of ``kt.identify.inertial_parameters(model)``: m, m c (x, "
        "y, z), and the rotational inertia about the body's origin xx, xy, yy, xz, yz, zz, in the body's "
        "axes [N m or N, per kg, kg m or kg m^2]. Columns of bodies that a joint does not support are exact "
        "zeros in its row."
    },
)
def joint_torque_regressor(model, q, v, a):
    r"""Inverse dynamics as a linear function of the inertial parameters of the bodies.

    .. math:: \tau = Y(q, v, a)\,\pi + \mathrm{diag}(\text{armature})\,a

    Notes
    -----
    Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters of manipulator loads and links" (1986). Differs:
    the acceleration field of `rnea` takes the place of velocity and acceleration.
    The order of the parameters is that of Pinocchio's ``computeJointTorqueRegressor``, too.
    The forces of armatures and gears are no functions of these parameters: ``rnea(model, q, v, a) - Y @
    inertial_parameters(model)``. Planar trees have four columns for each body: m, m c_x, m c_y, I_zz.
    Cost: O(n d). Identity: ``Y @ inertial_parameters(model) = rnea(q, v, a)`` without armature.

    See Also
    --------
    rnea, kinetic_energy_regressor, potential_energy_regressor, momentum_regressor

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.double_pendulum()
    >>> q, v, a = np.array([[0.3, -0.7], [1.0, 2.0], [-1.0, 0.5]])
    >>> Y = kt.regressors.joint_torque(arm, q, v, a)
    >>> Y.shape, bool(np.allclose(Y @ kt.identify.inertial_parameters(arm), kt.rnea(arm, q, v, a)))
    ((2, 20), True)
    >>> bool(np.all(Y[1, :10] == 0.0))  # no influence of the upper body on the elbow
    True
    """
    units = unit_inertias(model.algebra)
    field = body_fields(model, q, v, a, gravity=model.gravity)
    F = [None] + [inertial_forces_of_units(field[i], units) for i in model.outward()]
    X, S = links(model, q)
    return joint_rows(model, body_jacobians(model, X, S), F, units)


@algorithm(
    inputs="q v",
    outputs={"y": "n_inertial"},
    body_frames=True,
    symbols={"y": "One entry for each of ``kt.identify.inertial_parameters(model)`` [J per kg, kg m or kg m^2]."},
)
def kinetic_energy_regressor(model, q, v):
    r"""Kinetic energy as a linear function of the inertial parameters of the bodies.

    .. math:: T = y(q, v) \cdot \pi + \tfrac{1}{2} \sum_k \text{armature}_k\, v_k^2

    Notes
    -----
    Source: Featherstone (2008), eq. 2.67; Gautier and Khalil, "On the identification of the inertial parameters of
    robots" (1988), who identify with energies, because these need no accelerations.
    Identity: ``y @ inertial_parameters(model) = kinetic_energy(q, v)`` without armature and gears.

    See Also
    --------
    joint_torque_regressor, potential_energy_regressor
    """
    _, V = body_twists(model, q, v)
    return [x for i in model.outward() for x in _kinetic_energies(V[i], model.algebra)]


def _kinetic_energies(V, algebra):
    """Kinetic energies of the unit inertias: ``m v.v / 2 + h.(v x w) + w.I w / 2``."""
    w, v = V.angular, V.linear
    if not isinstance(V, Motion):
        return [0.5 * v.dot(v), w * v.y, -(w * v.x), 0.5 * w * w]
    x, y, z = w
    return [0.5 * v.dot(v), *v.cross(w), 0.5 * x * x, x * y, 0.5 * y * y, x * z, y * z, 0.5 * z * z]


@algorithm(
    inputs="q",
    outputs={"y": "n_inertial"},
    body_frames=True,
    symbols={
        "y": "One entry for each of ``kt.identify.inertial_parameters(model)`` [J per kg, kg m or kg m^2]; those of "
        "rotational inertias are exact zeros."
    },
)
def potential_energy_regressor(model, q):
    r"""Potential energy in the gravity field as a linear function of the inertial parameters.

    .. math:: V = y(q) \cdot \pi = -\sum_i g \cdot (m_i p_i + R_i\, m_i c_i)

    Notes
    -----
    Source: Gautier and Khalil (1988). Identity: ``y @ inertial_parameters(model) = potential_energy(q)``.

    See Also
    --------
    joint_torque_regressor, kinetic_energy_regressor
    """
    y = []
    weight = model.algebra.Force(model.algebra.no_rotation, -model.gravity)  # of -1 kg at the world's origin
    X_0 = world_transforms(model, q)
    for i in model.outward():
        direction = (X_0[i] @ weight).linear
        y += [X_0[i].r.dot(weight.linear), *direction] + [0.0] * (6 if model.algebra is SPATIAL else 1)
    return y


@algorithm(
    inputs="q v",
    outputs={"Y": (6, "n_inertial")},
    body_frames=True,
    symbols={
        "Y": "Rows: angular momentum about the world's origin, linear momentum, world axes; one column for "
        "each of ``kt.identify.inertial_parameters(model)`` [kg m^2/s or kg m/s, per kg, kg m or kg m^2]."
    },
)
def momentum_regressor(model, q, v):
    r"""Spatial momentum about the world's origin as a linear function of the inertial parameters.

    .. math:: h = Y(q, v)\,\pi

    Notes
    -----
    Source: Featherstone (2008), eq. 2.61, column by column. Identity: ``Y @ inertial_parameters(model) = momentum(q,
    v)`` without gears.

    See Also
    --------
    generalized_momentum_regressor, momentum
    """
    units, (_, V), X_0 = unit_inertias(model.algebra), body_twists(model, q, v), world_transforms(model, q)
    columns = [list(X_0[i].inverse_apply(unit @ V[i])) for i in model.outward() for unit in units]
    return [list(row) for row in zip(*columns, strict=True)]


@algorithm(
    inputs="q v",
    outputs={"Y": ("nv", "n_inertial")},
    body_frames=True,
    symbols={
        "Y": "One column for each of ``kt.identify.inertial_parameters(model)`` [kg m^2/s or kg m/s, per kg, kg m or "
        "kg m^2]."
    },
)
def generalized_momentum_regressor(model, q, v):
    r"""Generalized momentum ``M v`` as a linear function of the inertial parameters.

    .. math:: M(q)\,v = Y(q, v)\,\pi + \mathrm{diag}(\text{armature})\,v

    Notes
    -----
    Source: Featherstone (2008), eq. 6.5-6.11: the sum of ``J_i^T I_i V_i``. For joints that depend on time it is the
    derivative of the kinetic energy in v, in which their own motion takes part.
    Identity: ``Y @ inertial_parameters(model) = crba(q) @ v`` without armature and gears.

    See Also
    --------
    momentum_regressor, joint_torque_regressor
    """
    units, (X, S), (_, V) = unit_inertias(model.algebra), links(model, q), body_twists(model, q, v)
    F = [None] + [[unit @ V[i] for unit in units] for i in model.outward()]
    return joint_rows(model, body_jacobians(model, X, S), F, units)
