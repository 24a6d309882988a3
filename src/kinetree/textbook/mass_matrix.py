"""The mass matrix by two methods other than composite bodies: Jacobians of the bodies, and columns by inverse dynamics.

Book (eq. 6.4-6.11)   here
``H``                 ``M``
``J_k``               ``J[k]``: the columns of ``k_X_i S_i`` for the joints i that support body k
``ID_delta``          `differential_inverse_dynamics`
"""

from __future__ import annotations

from kinetree.algorithms.force_terms import differential_inverse_dynamics
from kinetree.algorithms.gears import add_gear_inertia
from kinetree.algorithms.kinematics import links
from kinetree.algorithms.regressor import body_jacobians
from kinetree.algorithms.spec import algorithm


@algorithm(inputs="q", outputs="M")
def mass_matrix_jacobians(model, q):
    r"""Mass matrix as the sum of the bodies' inertias, each projected by its Jacobian.

    .. math:: M = \sum_k J_k^T I_k J_k, \qquad H_{ij} = \sum_{k \in \nu(i) \cap \nu(j)} S_i^T I_k S_j

    Notes
    -----
    Source: Featherstone (2008), eq. 6.5-6.11. The definition, at O(n d^2): for checks and for teaching.
    Identity: equals `crba`.

    See Also
    --------
    crba, mass_matrix_columns
    """
    X, S = links(model, q)
    M = [[0.0] * model.nv for _ in range(model.nv)]
    J = body_jacobians(model, X, S)
    for k in model.outward():
        columns = list(J[k].items())
        for at, (m, J_m) in enumerate(columns):
            F = model.I[k] @ J_m
            for n, J_n in columns[: at + 1]:
                M[m][n] = M[n][m] = M[m][n] + J_n.dot(F)
    add_gear_inertia(model, X, S, M)
    for k in range(model.nv):
        M[k][k] = M[k][k] + model.armature[k]
    return M


@algorithm(inputs="q", outputs="M")
def mass_matrix_columns(model, q):
    r"""Mass matrix column by column: the joint forces that a unit acceleration of one coordinate needs.

    .. math:: M e_k = \mathrm{ID}_\delta(q, e_k)

    Notes
    -----
    Source: Featherstone (2008), eq. 6.3-6.4 and table 6.1; Walker and Orin (1982), methods 1 and 2. Symmetric to
    rounding only, since each entry off the diagonal is computed twice. Cost: O(n^2).
    Identity: equals `crba`.

    See Also
    --------
    crba, mass_matrix_jacobians, inertial_forces
    """
    X, S = links(model, q)
    M = [[0.0] * model.nv for _ in range(model.nv)]
    for k in range(model.nv):
        unit = [1.0 if m == k else 0.0 for m in range(model.nv)]
        for m, entry in enumerate(differential_inverse_dynamics(model, X, S, model.I, unit)):
            M[m][k] = entry
        M[k][k] = M[k][k] + model.armature[k]
    return M
