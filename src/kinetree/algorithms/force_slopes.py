r"""Stiffness and damping matrices of all passive forces: their slopes along positions and velocities.

.. math:: K = -\frac{\partial f(q, v)}{\partial q}, \qquad D = -\frac{\partial f(q, v)}{\partial v}

f are the joint forces of `passive_joint_forces` and `actuator_joint_forces`. The matrix of an implicit step of length h
is ``M + h D + h^2 K``.
"""

from __future__ import annotations

from kinetree.algorithms.domain import LIMITS, UNIT_QUATERNIONS
from kinetree.algorithms.force_elements import gauss_newton_slopes
from kinetree.algorithms.implicit_forces import exact_slopes
from kinetree.algorithms.matrices import mirrored
from kinetree.algorithms.passive import joint_forces
from kinetree.algorithms.spec import algorithm


def exact_stiffness(model, q, v, x=None, u=None):
    """``-df/dq`` along the manifold; not symmetric in general."""
    return _with_joints(model, q, v, exact_slopes(model, q, v, x, u)[0] if model.laws else None, _stiffness_rows)


def symmetric_stiffness(model, q, v, x=None, u=None):
    """``(K + K^T) / 2`` of the exact K."""
    return _symmetric(exact_stiffness(model, q, v, x, u))


def gauss_newton_stiffness(model, q, v, x=None, u=None):
    """K where leaves of laws are linear in the coordinates, symmetric."""
    K = gauss_newton_slopes(model, q, v, x, u)[0] if model.laws else None
    return _with_joints(model, q, v, K, lambda force, at: force.gauss_newton_rows(at))


def exact_damping(model, q, v, x=None, u=None):
    """``-df/dv``."""
    return _with_joints(model, q, v, exact_slopes(model, q, v, x, u)[1] if model.laws else None, _damping_rows)


def symmetric_damping(model, q, v, x=None, u=None):
    """``(D + D^T) / 2`` of the exact D."""
    return _symmetric(exact_damping(model, q, v, x, u))


def gauss_newton_damping(model, q, v, x=None, u=None):
    """D of the laws' velocities, symmetric."""
    return _with_joints(model, q, v, gauss_newton_slopes(model, q, v, x, u)[1] if model.laws else None, _damping_rows)


def _with_joints(model, q, v, of_elements, rows):
    """A matrix of elements with the blocks of joint forces; none of elements where the model has none."""
    found = of_elements or [[0.0] * model.nv for _ in range(model.nv)]
    for coordinates, force, at in joint_forces(model, q, v):
        for k, row in zip(coordinates, rows(force, at), strict=True):
            for n, x in zip(coordinates, row, strict=True):
                found[k][n] = found[k][n] + x
    return found


def _stiffness_rows(force, at):
    return force.stiffness_rows(at)


def _damping_rows(force, at):
    return _diagonal(force.dissipative_slope(at))


def _diagonal(values):
    return [[x if m == n else 0.0 for n in range(len(values))] for m, x in enumerate(values)]


def _symmetric(A):
    return mirrored([[0.5 * (A[m][n] + A[n][m]) if n < m else A[m][m] for n in range(m + 1)] for m in range(len(A))])


_STIFFNESS = {"exact": exact_stiffness, "symmetric": symmetric_stiffness, "gauss_newton": gauss_newton_stiffness}
_DAMPING = {"exact": exact_damping, "symmetric": symmetric_damping, "gauss_newton": gauss_newton_damping}

@algorithm(
    inputs="q v",
    optional="x u",
    outputs={"K": ("nv", "nv")},
    domains=(UNIT_QUATERNIONS, LIMITS),
    body_frames="laws",
    symbols={
        "K": "Column k is ``-d/ds f(integrate(q, s e_k), v)`` at s = 0 [N m/rad, N m/m, N/rad or N/m].",
    },
    methods=_STIFFNESS,
)
def stiffness_matrix(model, q, v, x=None, u=None, *, method=exact_stiffness):
    r"""Stiffness matrix of all joint forces and force elements, actuators too, along the velocity coordinates.

    .. math:: K = -\partial f(q, v) / \partial q

    Notes
    -----
    Source: Sueda, *Rigid Body Dynamics Notes*, eq. 1.30 and 2.72 to 2.79, with the sign of K by which a spring is
    positive. ``"exact"``: the derivative of the laws; on ball and free joints, and for forces that store no energy, it
    is not symmetric, and under compression it is indefinite. ``"symmetric"``: its symmetric part; where v is zero and
    all forces have an energy, the Hessian of `elastic_energy` along the manifold. ``"gauss_newton"``: the leaves of the
    laws (lengths, strains, points, rotations) are taken as linear in the coordinates. Laws over lengths and strains
    then give ``R^T E'' R`` with R = dL/dq, positive semidefinite if the energy is convex in them, and tensions that
    fall with their length count as constant; implicit steps take it by default. Internal states x and inputs u are
    constant.

    See Also
    --------
    damping_matrix, passive_joint_forces, elastic_energy

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.double_pendulum().replace(stiffness=[3.0, 5.0])
    >>> kt.dynamics.stiffness_matrix(model, [0.1, 0.2], [0.0, 0.0]).tolist()
    [[3.0, 0.0], [0.0, 5.0]]
    """
    return method(model, q, v, x, u)


@algorithm(
    inputs="q v",
    optional="x u",
    outputs={"D": ("nv", "nv")},
    domains=(UNIT_QUATERNIONS, LIMITS),
    body_frames="laws",
    symbols={
        "D": "``-d f(q, v) / dv`` [N m s/rad, N m s/m, N s/rad or N s/m].",
    },
    methods=_DAMPING,
)
def damping_matrix(model, q, v, x=None, u=None, *, method=exact_damping):
    r"""Damping matrix of all joint forces and force elements, actuators too.

    .. math:: D = -\partial f(q, v) / \partial v

    Notes
    -----
    Source: Sueda, *Rigid Body Dynamics Notes*, eq. 1.30. ``"gauss_newton"`` and ``"symmetric"`` agree with the exact
    matrix for laws of a dissipation, and for tensions along lengths: symmetric, and positive semidefinite for dampers.
    They are its symmetric part for laws that state ``force(kin)``. Dry friction has the slope of its law: zero beyond
    the velocity v_s.

    See Also
    --------
    stiffness_matrix, passive_joint_forces

    Examples
    --------
    >>> import kinetree as kt
    >>> model = kt.models.double_pendulum().replace(damping=[0.1, 0.2])
    >>> kt.dynamics.damping_matrix(model, [0.1, 0.2], [1.0, 2.0]).tolist()
    [[0.1, 0.0], [0.0, 0.2]]
    """
    return method(model, q, v, x, u)
