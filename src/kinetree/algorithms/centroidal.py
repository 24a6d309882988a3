"""Center of mass, momentum and centroidal momentum."""

from __future__ import annotations

from kinetree.algorithms.energy import composite_inertia
from kinetree.algorithms.gears import add_gear_momentum, add_gear_momentum_columns
from kinetree.algorithms.jacobian import columns_to_rows
from kinetree.algorithms.kinematics import body_twists, link_transforms, motion_subspace, world_transforms
from kinetree.algorithms.spec import algorithm
from kinetree.errors import ModelError


def composite_forces(model, q):
    """``I^c_i S_i`` in world coordinates, and the composite inertia of the tree.

    A column is the momentum of the subtree that a unit velocity of joint i causes.
    """
    X, X_0 = link_transforms(model, q), world_transforms(model, q)
    columns = [None] * model.nv
    Ic = [model.algebra.Inertia.zero(), *model.I[1:]]
    for i in model.inward():
        columns[model.v_slice[i]] = X_0[i].inverse_apply(Ic[i] @ motion_subspace(model, i, q))
        Ic[model.parent[i]] = Ic[model.parent[i]] + X[i].inverse_apply(Ic[i])
    add_gear_momentum_columns(model, X_0, columns)
    return columns, Ic[0]


def about(model, point, force):
    """A force given about the world's origin, about another point with the world's axes."""
    return model.algebra.Transform.shift(point) @ force


def _with_mass(model, Ic):
    """The inertia of the whole tree, unless it is known to be none."""
    if isinstance(Ic.m, float) and Ic.m == 0.0:
        raise ModelError(f"model {model.name!r} has no moving mass, and so no center of mass.", model=model.name)
    return Ic


@algorithm(inputs="q", outputs="p_WC")
def center_of_mass(model, q):
    """Center of mass of all moving bodies.

    Notes
    -----
    Source: Featherstone (2008), eq. 6.12: the first moment of the whole tree over its mass.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> with kt.interpreted():
    ...     hanging, raised = (kt.center_of_mass(arm, [angle, 0.0]) for angle in (0.0, 3.141592653589793))
    >>> bool(hanging[2] < 0.0), bool(abs(hanging + raised).max() < 1e-12)
    (True, True)
    """
    return list(_with_mass(model, composite_inertia(model, link_transforms(model, q))).com)


@algorithm(inputs="q v", outputs="v_C")
def center_of_mass_velocity(model, q, v):
    """Velocity of the center of mass.

    Notes
    -----
    Source: Featherstone (2008), section 2.12: linear momentum over mass.
    """
    h, X = world_momentum(model, q, v)
    return list(h.linear / _with_mass(model, composite_inertia(model, X)).m)


@algorithm(inputs="q", outputs={"J": (3, "nv")}, symbols={"J": "``v_C = J @ v``, world coordinates [m or 1]."})
def center_of_mass_jacobian(model, q):
    """Jacobian of the center of mass.

    Notes
    -----
    Source: Featherstone (2008), section 6.3: the linear part of ``I^c S`` over the mass.
    """
    columns, Ic = composite_forces(model, q)
    Ic = _with_mass(model, Ic)
    return [[entry / Ic.m for entry in row] for row in zip(*(F.linear for F in columns), strict=True)]


def world_momentum(model, q, v):
    """Momentum of the tree about the world's origin, and the link transforms.

    The momentum of each subtree is propagated to its parent, which costs less than taking every body to the world.
    """
    X, V = body_twists(model, q, v)
    h = [model.algebra.Force.zero()] + [model.I[i] @ V[i] for i in model.outward()]
    add_gear_momentum(model, v, h)
    for i in model.inward():
        h[model.parent[i]] = h[model.parent[i]] + X[i].inverse_apply(h[i])
    return h[0], X


@algorithm(inputs="q v", outputs="h")
def momentum(model, q, v):
    """Spatial momentum of the bodies about the world's origin.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.61. Its rate is the sum of all external wrenches. The armature's momentum is
    internal to the joints and not counted.

    Examples
    --------
    >>> import kinetree as kt
    >>> body = kt.models.free_body(mass=2.0)
    >>> with kt.interpreted():
    ...     print(kt.momentum(body, body.neutral(), [0, 0, 0, 1.0, 0, 0]))  # m v
    [0. 0. 0. 2. 0. 0.]
    """
    return list(world_momentum(model, q, v)[0])


@algorithm(
    inputs="q v",
    outputs="h",
    symbols={"h": "[angular momentum about the center of mass; linear momentum], world axes [kg m^2/s, kg m/s]."},
)
def centroidal_momentum(model, q, v):
    """Spatial momentum of the bodies about their center of mass.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.58-2.61. Identity: ``centroidal_momentum_matrix(model, q) @ v``, unless
    joints depend on time.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> robot = kt.load("quadruped", floating_base=True)
    >>> q, v = robot.neutral(), np.zeros(robot.nv)
    >>> v[3] = 1.0  # the base slides along x
    >>> with kt.interpreted():
    ...     h = kt.centroidal.momentum(robot, q, v)
    >>> bool(abs(h[:3]).max() < 1e-12), bool(abs(h[3] - robot.total_mass) < 1e-9)
    (True, True)
    """
    h, X = world_momentum(model, q, v)
    return list(about(model, _with_mass(model, composite_inertia(model, X)).com, h))


@algorithm(
    inputs="q",
    outputs={"A": (6, "nv")},
    symbols={"A": "``h = A @ v``: [angular about the center of mass; linear], world axes [kg m^2, kg m or kg]."},
)
def centroidal_momentum_matrix(model, q):
    """The matrix that maps joint velocities to centroidal momentum.

    Notes
    -----
    Source: Featherstone (2008), section 6.3: column k is the momentum ``I^c_i S_k`` of the subtree that joint
    velocity k moves.
    """
    columns, Ic = composite_forces(model, q)
    center = _with_mass(model, Ic).com
    return columns_to_rows(model, [about(model, center, F) for F in columns])
