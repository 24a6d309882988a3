r"""The equation of motion of a mechanism with loops in its independent velocities y.

.. math:: G^T M G\, \dot y + G^T (M \dot g + c) = G^T \tau, \qquad v = G y + g

Featherstone (2008), eq. 8.42-8.46, of the tree's rigid bodies: passive joint forces are forces like those of motors,
``G^T passive_joint_forces``.
"""

from __future__ import annotations

from kinetree.algorithms.crba import crba
from kinetree.algorithms.domain import CLOSED_LOOPS, CONSTRAINTS, UNIT_QUATERNIONS
from kinetree.algorithms.jacobian import jacobian
from kinetree.algorithms.matrices import apply, dot, mirrored
from kinetree.algorithms.null_space import null_space_at
from kinetree.algorithms.regressor import joint_torque_regressor
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.spec import algorithm

STATE = (UNIT_QUATERNIONS, CONSTRAINTS, CLOSED_LOOPS)


def congruent(by_column, M) -> list:
    """``G^T M G`` for a symmetric M and G by columns."""
    products = [apply(M, column) for column in by_column]
    return mirrored([[dot(products[m], by_column[n]) for n in range(m + 1)] for m in range(len(by_column))])


@algorithm(
    inputs="q",
    outputs={"M": ("ny", "ny")},
    static=("independent",),
    symbols={"M": "``G^T M G``, symmetric [kg m^2, kg m or kg]."},
)
def closed_loops_reduced_mass_matrix(model, q, *, independent=None):
    r"""Mass matrix of a mechanism with loops in its independent velocities.

    .. math:: G^T M G

    Notes
    -----
    Source: Featherstone (2008), eq. 8.46. Identity: the kinetic energy is ``y @ M @ y / 2`` for ``v = G y``.

    See Also
    --------
    closed_loops_null_space, crba

    Examples
    --------
    The effective inertia at the crank of a four-bar:

    >>> import kinetree as kt
    >>> model = kt.models.four_bar()
    >>> q, _ = model.keyframe("initial")
    >>> kt.closed_loops.reduced_mass_matrix(model, q, independent=["crank"]).round(9).tolist()
    [[2.185840716]]
    """
    return congruent(null_space_at(model, q, None, independent).by_column, crba(model, q))


@algorithm(
    inputs="q v",
    optional="f_ext",
    outputs={"h": ("ny",)},
    static=("independent",),
    domains=STATE,
    symbols={"h": "``G^T (M g' + c)``, g' the accelerations of all joints at zero ones of y [N m or N]."},
)
def closed_loops_reduced_bias_forces(model, q, v, f_ext=None, *, independent=None):
    r"""Forces along the independent velocities that keep these constant.

    .. math:: G^T (M (\dot G y + \dot g) + c(q, v, f^x))

    Notes
    -----
    Source: Featherstone (2008), eq. 8.46. Identity: with `closed_loops_reduced_mass_matrix` times the independent
    accelerations this is ``G^T rnea(q, v, a)``.

    See Also
    --------
    closed_loops_reduced_mass_matrix, bias_forces
    """
    space = null_space_at(model, q, v, independent)
    f = rnea(model, q, v, space.accelerations([0.0] * len(space.place)), f_ext)
    return [dot(column, f) for column in space.by_column]


@algorithm(
    inputs="q",
    outputs={"J": (6, "ny")},
    static=("frame", "reference", "independent"),
    symbols={"J": "``J G``, rows [angular; linear] [1 and m, or 1/m and 1 for sliding joints]."},
)
def closed_loops_reduced_jacobian(model, q, *, frame, reference, independent=None):
    r"""Jacobian of a frame with respect to the independent velocities.

    .. math:: V = J\, G\, y

    Notes
    -----
    Source: Featherstone (2008), eq. 4.5 and 8.42. It maps forces of the frame to ``y``, too: ``(J G)^T f``.

    See Also
    --------
    jacobian, closed_loops_null_space
    """
    by_column = null_space_at(model, q, None, independent).by_column
    J = jacobian(model, q, frame=frame, reference=reference)
    return [[dot(row, column) for column in by_column] for row in J]


@algorithm(
    inputs="q v a_independent",
    outputs={"Y": ("ny", "n_inertial")},
    static=("independent",),
    domains=STATE,
    body_frames=True,
    symbols={"Y": "One column for each of ``kt.identify.inertial_parameters(model)`` [N m per kg, kg m or kg m^2]."},
)
def closed_loops_reduced_regressor(model, q, v, a_independent, *, independent=None):
    r"""Forces along the independent velocities as a linear function of the inertial parameters.

    .. math:: G^T Y(q, v, a)\,\pi = G^T (\tau - \mathrm{diag}(\text{armature})\,a)

    Notes
    -----
    Source: Featherstone (2008), eq. 8.61 for the projection; `joint_torque_regressor` for the tree. Forces of loops,
    which no sensor measures, are not in it, so it identifies parallel robots. Gears and armatures are no part of it.

    See Also
    --------
    joint_torque_regressor, closed_loops_reduced_bias_forces

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> bar = kt.models.four_bar()
    >>> q, v = bar.keyframe("initial")
    >>> with kt.interpreted():
    ...     Y = kt.closed_loops.reduced_regressor(bar, q, v, [2.0], independent="crank")
    ...     G = kt.closed_loops.null_space(bar, q, independent="crank")
    ...     tau = kt.inverse_dynamics(bar, q, v, G @ [2.0], actuated=["crank"])
    >>> np.allclose(Y @ kt.identify.inertial_parameters(bar), tau[0])
    True
    """
    space = null_space_at(model, q, v, independent)
    Y = joint_torque_regressor(model, q, v, space.accelerations(a_independent))
    return [[dot(column, entries) for entries in zip(*Y, strict=True)] for column in space.by_column]
