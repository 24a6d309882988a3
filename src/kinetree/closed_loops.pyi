# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.analysis.linearize import Linearization as Linearization
from kinetree.analysis.torque_family import TorqueFamily as TorqueFamily
from kinetree.analysis.branches import branches as branches
from kinetree.analysis.linearize import linearize as linearize
from kinetree.analysis.mobility import mobility as mobility
from kinetree.analysis.torque_family import torque_family as torque_family

__all__ = [
    "Linearization",
    "TorqueFamily",
    "accelerations",
    "bias",
    "branches",
    "error",
    "jacobian",
    "linearization",
    "linearize",
    "mobility",
    "null_space",
    "project_position",
    "project_velocity",
    "reduced_bias_forces",
    "reduced_jacobian",
    "reduced_mass_matrix",
    "reduced_regressor",
    "regularity",
    "torque_family",
    "wrenches",
]

def accelerations(model: Model, q: ArrayLike, v: ArrayLike, a_independent: ArrayLike, t: ArrayLike | None = None, *, independent: str | Sequence[str] | None = None, out: Any | None = None) -> NDArray[Any]:
    r"""Accelerations of all joints that keep loops closed, from those of independent ones.

    .. math:: a = G\, \dot y + \dot G\, y + \dot g

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    a_independent : (..., ny) array
        Accelerations of the independent velocities [rad/s^2 or m/s^2].
    independent : sequence of str or None
        Names of joints, or labels of velocities, that determine all others. Default:
        ``model.independent_velocities()``. Each choice is compiled separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    """


def bias(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""``dK/dt v + dg/dt``: rows of constraints have the accelerations ``K a`` and this, zero in any motion.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    bias : (..., nc) array
        Accelerations of the rows without those of the joints [m/s^2 or rad/s^2].
    """


def error(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""phi(q), the errors of position of all rows of the constraints; zero for rows that hold velocities alone.

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
    phi : (..., nc) array
        Errors of position [m or rad], in the order of `Model.constraint_labels`.
    """


def jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""K(q), the Jacobian of all constraints: rows have the velocities ``K v + g``, and exert the forces ``K^T lambda``.

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
    K : (..., nc, nv) array
        Rows of the constraints [1 or m], in the order of `Model.constraint_labels`.
    """

class _closed_loops_linearization(NamedTuple):
    A: NDArray[Any]
    B: NDArray[Any]

def linearization(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, independent: str | Sequence[str] | None = None, out: Any | None = None) -> _closed_loops_linearization:
    r"""Linear equation of small changes of a motion that keep loops closed.

    .. math:: \frac{d}{dt} \begin{bmatrix} dx \\ dy \end{bmatrix} = A \begin{bmatrix} dx \\ dy \end{bmatrix} + B\, d\tau

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    tau : (..., nv) array
        Actuator forces [N m or N].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin;
        constant there.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    independent : sequence of str or None
        Names of joints, or labels of velocities, that determine all others. Default:
        ``model.independent_velocities()``. Each choice is compiled separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    A : (..., n_reduced, n_reduced) array
        Rates of (dx, dy) by (dx, dy): of independent positions and velocities [1/s, and 1 or 1/s^2].
    B : (..., n_reduced, nv) array
        Rates of (dx, dy) by actuator forces [1/(kg m^2), 1/(kg m) or 1/kg]; the upper half is zero.
    """


def null_space(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, independent: str | Sequence[str] | None = None, out: Any | None = None) -> NDArray[Any]:
    r"""Velocities that all constraints allow, as a linear function of independent ones.

    .. math:: v = G(q)\, y, \qquad K G = 0

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    independent : sequence of str or None
        Names of joints, or labels of velocities, that determine all others. Default:
        ``model.independent_velocities()``. Each choice is compiled separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    G : (..., nv, ny) array
        ``v = G y`` of velocities that the constraints allow, y the independent ones [1, m or 1/m].
    """


def project_position(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""The nearest positions in which all loops are closed, in the metric of the mass matrix.

    .. math:: q \leftarrow q \oplus \left(-M^{-1} K^T (K M^{-1} K^T)^{-1} \varphi(q)\right)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions near closed ones [rad or m; quaternions unit, (w, x, y, z)].
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_next : (..., nq) array
        Positions in which loops are closed [rad or m; quaternions unit].
    """


def project_velocity(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""The nearest velocities that keep all loops closed, in the metric of the mass matrix.

    .. math:: v \leftarrow v - M^{-1} K^T (K M^{-1} K^T)^{-1} (K v + g)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    v_next : (..., nv) array
        Velocities that obey all constraints at q [rad/s or m/s].
    """


def reduced_bias_forces(model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, independent: str | Sequence[str] | None = None, out: Any | None = None) -> NDArray[Any]:
    r"""Forces along the independent velocities that keep these constant.

    .. math:: G^T (M (\dot G y + \dot g) + c(q, v, f^x))

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    independent : sequence of str or None
        Names of joints, or labels of velocities, that determine all others. Default:
        ``model.independent_velocities()``. Each choice is compiled separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    h : (..., ny) array
        ``G^T (M g' + c)``, g' the accelerations of all joints at zero ones of y [N m or N].
    """


def reduced_jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], independent: str | Sequence[str] | None = None, out: Any | None = None) -> NDArray[Any]:
    r"""Jacobian of a frame with respect to the independent velocities.

    .. math:: V = J\, G\, y

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    frame : str
        Name of the frame or body.
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    independent : sequence of str or None
        Names of joints, or labels of velocities, that determine all others. Default:
        ``model.independent_velocities()``. Each choice is compiled separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    J : (..., 6, ny) array
        ``J G``, rows [angular; linear] [1 and m, or 1/m and 1 for sliding joints].
    """


def reduced_mass_matrix(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, independent: str | Sequence[str] | None = None, out: Any | None = None) -> NDArray[Any]:
    r"""Mass matrix of a mechanism with loops in its independent velocities.

    .. math:: G^T M G

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    independent : sequence of str or None
        Names of joints, or labels of velocities, that determine all others. Default:
        ``model.independent_velocities()``. Each choice is compiled separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    M : (..., ny, ny) array
        ``G^T M G``, symmetric [kg m^2, kg m or kg].
    """


def reduced_regressor(model: Model, q: ArrayLike, v: ArrayLike, a_independent: ArrayLike, t: ArrayLike | None = None, *, independent: str | Sequence[str] | None = None, out: Any | None = None) -> NDArray[Any]:
    r"""Forces along the independent velocities as a linear function of the inertial parameters.

    .. math:: G^T Y(q, v, a)\,\pi = G^T (\tau - \mathrm{diag}(\text{armature})\,a)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    a_independent : (..., ny) array
        Accelerations of the independent velocities [rad/s^2 or m/s^2].
    independent : sequence of str or None
        Names of joints, or labels of velocities, that determine all others. Default:
        ``model.independent_velocities()``. Each choice is compiled separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    Y : (..., ny, n_inertial) array
        One column for each of ``kt.identify.inertial_parameters(model)`` [N m per kg, kg m or kg m^2].
    """

class _closed_loops_regularity(NamedTuple):
    rank: Any
    pivot: Any
    error: Any

def regularity(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> _closed_loops_regularity:
    r"""How far the loops of a model are from a singular position, and how well the rows that are left out are held.

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
    rank : (...) array
        Number of rows of loops that do not depend on each other at q [1].
    pivot : (...) array
        The smallest pivot of the rows that are solved for, relative to typical positions [1]: about the square of
        the distance to a singular position. Accelerations lose as many digits as it has zeros.
    error : (...) array
        The largest error of position of rows that are left out [m or rad].
    """


def wrenches(model: Model, q: ArrayLike, multipliers: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Constraint forces of loop joints as wrenches on their successors.

    .. math:: f_k = T_k\, \lambda_k, \qquad J_{L,k}^T f_k = K_k^T \lambda_k

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    multipliers : (..., nc) array
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply; as `forward_dynamics` and others give them.
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    F : (..., n_loops, 6) array
        Row n is the wrench [moment; force] that the predecessor exerts on the successor of the n-th loop joint
        held, in the order of `Model.loop_joints` [N m, N]; ``reference`` is about the frame S of the joint.
    """
