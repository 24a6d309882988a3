# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.textbook.loop_methods import closure_dynamics as closure_dynamics
from kinetree.textbook.loop_elimination import cluster_numbering as cluster_numbering
from kinetree.textbook.loop_terms import loop_bias_forces as loop_bias_forces
from kinetree.textbook.loop_elimination import loop_clusters as loop_clusters
from kinetree.textbook.loop_terms import loop_constraints as loop_constraints
from kinetree.textbook.loop_methods import loop_dynamics as loop_dynamics
from kinetree.textbook.loop_terms import loop_position_error as loop_position_error
from kinetree.textbook.sparse_maximal import maximal_equation as maximal_equation
from kinetree.textbook.loop_elimination import solve_by_clusters as solve_by_clusters
from kinetree.textbook.loop_elimination import solve_constraints as solve_constraints

__all__ = [
    "aba_implicit_joints",
    "aba_inverse_inertias",
    "aba_world",
    "closure_dynamics",
    "cluster_numbering",
    "hybrid_recursive",
    "loop_bias_forces",
    "loop_clusters",
    "loop_constraints",
    "loop_dynamics",
    "loop_position_error",
    "mass_matrix_columns",
    "mass_matrix_jacobians",
    "maximal_equation",
    "newton_euler",
    "rnea_world",
    "solve_by_clusters",
    "solve_constraints",
]

def aba_implicit_joints(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the tree by articulated bodies, with inertias and implicit joints.

    .. math:: I^A = I_1 + T (T^T I_2^{-1} T)^{-1} T^T

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder; every body must have an invertible inertia.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Joint forces [N m or N].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    """


def aba_inverse_inertias(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the tree by articulated bodies, with inverse inertias and implicit joints.

    .. math:: \Phi^A = \Phi_1 - \Phi_1 T (T^T (\Phi_1 + \Phi_2) T)^{-1} T^T \Phi_1

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder; every body must have an invertible inertia.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Joint forces [N m or N].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    """


def aba_world(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the tree by the articulated-body algorithm in absolute coordinates.

    .. math:: I^A_i = I_i + \sum_{j \in \mu(i)} \bigl(I^A_j - U_j D_j^{-1} U_j^T\bigr)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Joint forces [N m or N].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    """

class _hybrid_recursive(NamedTuple):
    a_all: NDArray[Any]
    tau_all: NDArray[Any]

def hybrid_recursive(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, forward: str | Sequence[str], out: Any | None = None) -> _hybrid_recursive:
    r"""Hybrid dynamics of the tree by Kim's recursion.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Joint forces [N m or N]; read for the joints in ``forward`` only, finite for all.
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2]; read for the joints not in ``forward`` only, finite for all.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    forward : sequence of str
        Names of the joints whose force is known (forward dynamics). Each choice is compiled separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a_all : (..., nv) array
        Accelerations of all joints, the given ones among them [rad/s^2 or m/s^2].
    tau_all : (..., nv) array
        Forces of all joints, the given ones among them [N m or N].
    """


def mass_matrix_columns(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Mass matrix column by column: the joint forces that a unit acceleration of one coordinate needs.

    .. math:: M e_k = \mathrm{ID}_\delta(q, e_k)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    M : (..., nv, nv) array
        Mass matrix [kg m^2, kg m or kg], full and symmetric, the armature on its diagonal.
    """


def mass_matrix_jacobians(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Mass matrix as the sum of the bodies' inertias, each projected by its Jacobian.

    .. math:: M = \sum_k J_k^T I_k J_k, \qquad H_{ij} = \sum_{k \in \nu(i) \cap \nu(j)} S_i^T I_k S_j

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    M : (..., nv, nv) array
        Mass matrix [kg m^2, kg m or kg], full and symmetric, the armature on its diagonal.
    """


def newton_euler(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Inverse dynamics of the tree by the original Newton-Euler equations in vectors of three.

    .. math:: F_i = m_i \dot v_{c,i}, \qquad N_i = I^{cm}_i \dot\omega_i + \omega_i \times I^{cm}_i \omega_i

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Joint forces [N m or N].
    """


def rnea_world(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Inverse dynamics of the tree by the recursive Newton-Euler algorithm in absolute coordinates.

    .. math:: f_i = I_i a_i + v_i \times^* I_i v_i - f^x_i + \sum_{j \in \mu(i)} f_j, \qquad \tau_i = S_i^T f_i

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Joint forces [N m or N].
    """
