"""The Jacobian from reduced to maximal coordinates, and its rate, row by row of bodies.

Sueda (alg. 1, 2)         here
``i_p Ad``                ``X``, from the parent's coordinates to those of body i
``i_j Ad S, i_j Ad Sdot`` ``S``, ``subspace_rate``
``J(i, a)``               columns ``J[i][k]`` of the velocities k of the joints a that support body i
``i_p Ad_dot``            ``-v_J x X``, with v_J the twist of the joint: eq. 2.17 in the coordinates of body i
"""

from __future__ import annotations

from kinetree.algorithms.jacobian import columns_to_rows, subspace_rate
from kinetree.algorithms.kinematics import link_transform, motion_subspace
from kinetree.algorithms.spec import algorithm


def body_columns(model, q) -> list[dict]:
    """``J(i, a)`` of every body (algorithm 1): its columns by velocity coordinate."""
    J: list[dict] = [{} for _ in range(model.nb)]
    for i in model.outward():
        X = link_transform(model, i, q)
        for k, column in J[model.parent[i]].items():
            J[i][k] = X @ column  # off the diagonal
        for k, column in _by_velocity(model, i, motion_subspace(model, i, q)):
            J[i][k] = column
    return J


def body_column_rates(model, q, v) -> list[dict]:
    """``Jdot(i, a)`` of every body (algorithm 2)."""
    J, J_dot = body_columns(model, q), [{} for _ in range(model.nb)]
    for i in model.outward():
        p, X = model.parent[i], link_transform(model, i, q)
        V_J = model.joints[i].velocity(model.q_of(i, q), model.v_of(i, v))
        for k, rate in J_dot[p].items():
            J_dot[i][k] = X @ rate - V_J.cross(J[i][k])
        S_dot = subspace_rate(model, i, q, v)
        none = [model.algebra.Motion.zero()] * model.joints[i].nv
        for k, rate in _by_velocity(model, i, none if S_dot is None else S_dot):
            J_dot[i][k] = rate
    return J_dot


def _by_velocity(model, i, columns):
    return zip(range(*model.v_slice[i].indices(model.nv)), columns, strict=True)


def _rows(model, J):
    return [columns_to_rows(model, [columns.get(k) for k in range(model.nv)]) for columns in J]


_JACOBIANS = {
    "J": "Block i is the Jacobian of body i, ``Phi_i = J_i v`` its twist [angular; linear] in its own coordinates [1 "
    "and m, or 1/m and 1]; block 0 is the world's and zero."
}


@algorithm(inputs="q", outputs={"J": ("nb", 6, "nv")}, body_frames=True, symbols=_JACOBIANS)
def redmax_jacobian(model, q):
    r"""Jacobian from reduced to maximal coordinates: the twists of all bodies from the velocities of the joints.

    .. math:: \Phi = J_{mr}\, \dot q_r

    Notes
    -----
    Source: Sueda, algorithm 1 and eq. 2.14. Cost: O(n d), d the depth of the tree; products with it cost O(n)
    (`body_jacobian_product`). Velocities that joints have which depend on time are not in it.
    Identity: block i is the `jacobian` of body i with the reference "local".

    See Also
    --------
    redmax_jacobian_rate, redmax_equation, body_jacobian_product

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.redmax.jacobian(kt.models.double_pendulum(), [0.1, 0.2])[2].round(6).tolist()[1]
    [1.0, 1.0]
    """
    return _rows(model, body_columns(model, q))


@algorithm(
    inputs="q v",
    outputs={"J_dot": ("nb", 6, "nv")},
    body_frames=True,
    symbols={"J_dot": "Rate of `redmax_jacobian`, component by component [1/s and m/s]."},
)
def redmax_jacobian_rate(model, q, v):
    r"""Time derivative of the Jacobian from reduced to maximal coordinates.

    Notes
    -----
    Source: Sueda, algorithm 2 and eq. 2.15-2.17. Cost: O(n d).
    Identity: ``J a + J_dot v`` are the spatial accelerations of the bodies, unless joints depend on time.

    See Also
    --------
    redmax_jacobian, body_jacobian_rate_product
    """
    return _rows(model, body_column_rates(model, q, v))
