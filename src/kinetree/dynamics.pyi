# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.analysis.articulated_handles import ArticulatedBody as ArticulatedBody
from kinetree.compiler.factorization import Factorization as Factorization
from kinetree.analysis.articulated_handles import articulated_inertia as articulated_inertia
from kinetree.analysis.articulated_handles import articulated_inverse_inertia as articulated_inverse_inertia
from kinetree.algorithms.assembly_tree import assembly_tree as assembly_tree
from kinetree.compiler.factorization import factorize as factorize

__all__ = [
    "ArticulatedBody",
    "Factorization",
    "actuator_forces",
    "actuator_joint_forces",
    "actuator_lengths",
    "actuator_moments",
    "actuator_velocities",
    "articulated_factorization",
    "articulated_inertia",
    "articulated_inverse_inertia",
    "articulated_solve",
    "assembly_tree",
    "coriolis_forces",
    "crba_restricted",
    "damping_matrix",
    "divide_and_conquer",
    "elastic_energy",
    "external_forces",
    "factorize",
    "force_state_rates",
    "forces_by_element",
    "forward_dynamics_clusters",
    "forward_dynamics_crba",
    "forward_dynamics_dense",
    "forward_dynamics_derivatives",
    "forward_dynamics_inverse_mass_products",
    "forward_dynamics_null_space",
    "forward_dynamics_partitioning",
    "forward_dynamics_pivoted",
    "forward_dynamics_pseudovelocities",
    "forward_dynamics_sparse",
    "hybrid_aba",
    "hybrid_crba",
    "inertial_forces",
    "inverse_mass_matrix",
    "inverse_mass_product",
    "joint_wrenches",
    "passive_joint_forces",
    "prescribed_power",
    "semi_implicit_acceleration",
    "stiffness_matrix",
    "tendon_jacobian",
    "tendon_lengths",
    "tendon_velocities",
]

def actuator_forces(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forces of the actuators along their lengths, positive where they lengthen.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    forces : (..., n_actuators) array
        Of each actuator of ``model.actuator_names`` [N or N m].
    """


def actuator_joint_forces(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces of the actuators, within the ranges of the joints.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Joint forces of all actuators [N m or N].
    """


def actuator_lengths(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Lengths of the actuators: positions of joints, lengths of tendons and others, times the gear.

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
    lengths : (..., n_actuators) array
        Of each actuator of ``model.actuator_names`` [m or rad, times its gear].
    """


def actuator_moments(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Moment arms of the actuators, with their gears.

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
    moments : (..., n_actuators, nv) array
        Rows: joint forces by a unit of force of each actuator of ``model.actuator_names`` [m or 1].
    """


def actuator_velocities(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Velocities along which the forces of the actuators give power.

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
    velocities : (..., n_actuators) array
        Of each actuator of ``model.actuator_names`` [m/s or rad/s, times its gear].
    """

class _articulated_factorization(NamedTuple):
    r: NDArray[Any]
    S: NDArray[Any]
    K: NDArray[Any]
    D_inv: NDArray[Any]

def articulated_factorization(model: Model, q: ArrayLike, diagonal: ArrayLike | None = None, body_terms: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _articulated_factorization:
    r"""The joint-space inertia matrix factorized by articulated bodies, for `articulated_solve`.

    .. math:: M(q) + J^T \mathrm{blkdiag}(B)\, J + \mathrm{diag}(d) = (1 + S^T \phi K)\, D\, (1 + S^T \phi K)^T

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    diagonal : (..., nv) array, optional
        Added to the diagonal of M [kg m^2 or kg]: ``h D + h^2 K`` of dampers and springs.
    body_terms : (..., nb, 6, 6) array, optional
        Added to the inertia of each body [kg m^2, kg m and kg], in its coordinates: ``h D + h^2 K`` of damping
        and stiffness that act on it. The symmetric part is taken; row 0 is not used. Default: zero.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    r : (..., nb, 3) array
        Offset from the origin of the parent to that of the body, in world axes [m].
    S : (..., nv, 6) array
        Motion subspaces [1 or m] in world axes about the origin of their body.
    K : (..., nv, 6) array
        U / D [1 or 1/m], the part of a joint force that is propagated to the parent.
    D_inv : (..., nv) array
        Reciprocals of the articulated inertias of the joints [1/(kg m^2) or 1/kg].
    """


def articulated_solve(model: Model, r: ArrayLike, S: ArrayLike, K: ArrayLike, D_inv: ArrayLike, x: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product of the inverse of a factorized joint-space inertia matrix with a vector, in O(n).

    .. math:: y = (M + \mathrm{diag}(d))^{-1}\,x

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    r : (..., nb, 3) array
        Offset from the origin of the parent to that of the body, in world axes [m].
    S : (..., nv, 6) array
        Motion subspaces [1 or m] in world axes about the origin of their body.
    K : (..., nv, 6) array
        U / D [1 or 1/m], the part of a joint force that is propagated to the parent.
    D_inv : (..., nv) array
        Reciprocals of the articulated inertias of the joints [1/(kg m^2) or 1/kg].
    x : (..., nv) array
        Generalized forces or momenta [N m or N, or N m s or N s]; leading axes broadcast against those of the
        factors.
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    y : (..., nv) array
        The accelerations or velocities that belong to x [rad/s^2 or m/s^2, or rad/s or m/s].
    """


def coriolis_forces(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that keep the tree at constant joint velocities: Coriolis and centrifugal forces, no weight.

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
    tau : (..., nv) array
        Joint forces [N m or N], quadratic in v.
    """


def crba_restricted(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, forward: str | Sequence[str], out: Any | None = None) -> NDArray[Any]:
    r"""The part of the joint-space inertia matrix that belongs to some of the joints.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    forward : sequence of str
        Names of the joints whose force is known (forward dynamics). Each choice is compiled separately.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    M : (..., nv, nv) array
        Rows and columns of these joints as in `crba` [kg m^2, kg m or kg]; zero elsewhere.
    """


def damping_matrix(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, method: Literal["exact", "symmetric", "gauss_newton"] = "exact", out: Any | None = None) -> NDArray[Any]:
    r"""Damping matrix of all joint forces and force elements, actuators too.

    .. math:: D = -\partial f(q, v) / \partial v

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    method : {"exact", "symmetric", "gauss_newton"}
        Which algorithm; see the notes.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    D : (..., nv, nv) array
        ``-d f(q, v) / dv`` [N m s/rad, N m s/m, N s/rad or N s/m].
    """


def divide_and_conquer(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the tree by divide and conquer, in O(log n) sequential steps.

    .. math:: a = M(q)^{-1} \bigl(\tau - c(q, v) + \sum_i J_i(q)^T f_i\bigr)

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


def elastic_energy(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> Any:
    r"""Energy stored in the joint springs and in the soft stops.

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
    V : (...) array
        Elastic energy [J].
    """


def external_forces(model: Model, q: ArrayLike, wrenches: ArrayLike | Mapping[str, ArrayLike], t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that balance external forces on the bodies.

    .. math:: \tau = -\sum_i J_i(q)^T f_i

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    wrenches : (..., nb, 6) array or mapping of body name to (..., 6) array
        External wrench on each body [N m, N]: the ``f_ext`` of other calls.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Joint forces [N m or N], the part of `rnea` that is due to the external forces.
    """


def force_state_rates(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Rates of the internal states of force elements: activations, bristles, lags.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    x_dot : (..., nx) array
        Rates of the internal states [unit of each state, per second].
    """

class _forces_by_element(NamedTuple):
    tau: NDArray[Any]
    wrenches: NDArray[Any]
    energy: NDArray[Any]
    power: NDArray[Any]
    length: NDArray[Any]
    rate: NDArray[Any]
    tension: NDArray[Any]

def forces_by_element(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _forces_by_element:
    r"""Forces, energies and powers of every force element, and length and tension of those along a line.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., n_elements, nv) array
        Joint forces of each element of ``model.element_names`` [N m or N].
    wrenches : (..., n_elements, nb, 6) array
        [moment; force] on each body [N m, N], in world coordinates about the world's origin, as f_ext; row 0 is
        the reaction on the world. Forces along coordinates of joints are in tau alone.
    energy : (..., n_elements) array
        Stored energy [J].
    power : (..., n_elements) array
        Power of the forces that no stored energy explains [W], negative where the element dissipates.
    length : (..., n_elements) array
        Of laws along one length; zero for others [m or rad].
    rate : (..., n_elements) array
        Its rate [m/s or rad/s].
    tension : (..., n_elements) array
        Force that shortens the length where it is positive [N or N m].
    """


@overload
def forward_dynamics_clusters(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics with constraints by articulated bodies over loop clusters.

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
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def forward_dynamics_clusters(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...


def forward_dynamics_crba(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the bare tree by its mass matrix: bias forces, `crba`, and a sparse factorization.

    .. math:: M(q)\, a = \tau - c(q, v, f^x)

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


@overload
def forward_dynamics_dense(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics with constraints by the whole saddle-point matrix.

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
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def forward_dynamics_dense(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...

class _forward_dynamics_derivatives(NamedTuple):
    da_dq: NDArray[Any]
    da_dv: NDArray[Any]
    da_dtau: NDArray[Any]
    dlambda_dq: NDArray[Any]
    dlambda_dv: NDArray[Any]
    dlambda_dtau: NDArray[Any]

def forward_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _forward_dynamics_derivatives:
    r"""Derivatives of accelerations and constraint forces, with everything in the model.

    .. math:: da = \frac{\partial a}{\partial q}\,dq + \frac{\partial a}{\partial v}\,dv +
        \frac{\partial a}{\partial\tau}\,d\tau, \qquad d\lambda = \ldots

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
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    da_dq : (..., nv, nv) array
        Column k is d/ds of ``forward_dynamics(integrate(q, s e_k), v, tau)`` at s = 0 [1/s^2, m/(rad s^2) or 1/(m
        s^2)].
    da_dv : (..., nv, nv) array
        Derivative of joint accelerations with respect to v [1/s, m/s].
    da_dtau : (..., nv, nv) array
        Of rank ny, symmetric without couplings [1/(kg m^2), 1/kg].
    dlambda_dq : (..., nc, nv) array
        Derivative of the multipliers along the velocity coordinates of q [N m/rad, N m/m, N/rad or N/m].
    dlambda_dv : (..., nc, nv) array
        Derivative of the multipliers with respect to v [N m s, N s].
    dlambda_dtau : (..., nc, nv) array
        Derivative of the multipliers with respect to tau [1, 1/m or m].
    """


@overload
def forward_dynamics_inverse_mass_products(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics with constraints by products with the inverse mass matrix, in O(n) for each row.

    .. math:: A = K\,M^{-1} K^T, \qquad A\,\lambda = k - K\,M^{-1} (\tau - c)

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
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def forward_dynamics_inverse_mass_products(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...


@overload
def forward_dynamics_null_space(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics with constraints by the null space of their rows.

    .. math:: G^T M G\, \dot y = G^T (\tau - c - M \dot g), \qquad a = G \dot y + \dot g

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
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def forward_dynamics_null_space(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...


@overload
def forward_dynamics_partitioning(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics with constraints by coordinate partitioning.

    .. math:: \left(M_{ii} - M_{id} H - H^T (M_{di} - M_{dd} H)\right) \dot y =
        f_i - H^T f_d - (M_{id} - H^T M_{dd})\, h, \qquad a_d = h - H \dot y

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
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def forward_dynamics_partitioning(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...


@overload
def forward_dynamics_pivoted(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics with constraints of any rank: multipliers of least norm and least error.

    .. math:: \lambda = A^+ \left(k - K\,M^{-1} (\tau - c)\right), \qquad A = K\,M^{-1} K^T

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
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def forward_dynamics_pivoted(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...


@overload
def forward_dynamics_pseudovelocities(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics with constraints in pseudovelocities, along an orthonormal basis of the motions allowed.

    .. math:: \Sigma^T M \Sigma\, \dot\eta = \Sigma^T (\tau - c - M \Gamma k), \qquad
        a = \Sigma \dot\eta + \Gamma k, \qquad \begin{bmatrix} K \\ B \end{bmatrix}^{-1} =
        \begin{bmatrix} \Gamma & \Sigma \end{bmatrix}, \quad B = \Sigma^T

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
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def forward_dynamics_pseudovelocities(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...


@overload
def forward_dynamics_sparse(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[False] = False, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics with constraints by multipliers, with the zeros of the tree in all factors.

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
    multipliers : bool
        Whether to give multipliers, too.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2].
    multipliers : (..., nc) array, on request
        Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for
        rows of loops that others imply.
    """
@overload
def forward_dynamics_sparse(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, multipliers: Literal[True], out: Any | None = None) -> tuple[NDArray[Any], ...]: ...

class _hybrid_aba(NamedTuple):
    a_all: NDArray[Any]
    tau_all: NDArray[Any]

def hybrid_aba(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, forward: str | Sequence[str], out: Any | None = None) -> _hybrid_aba:
    r"""Hybrid dynamics of the tree by articulated bodies.

    .. math:: M a + c = \tau, \qquad \tau_i \text{ known for } i \in \mathrm{fd}, \quad a_i \text{ known for the others}

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

class _hybrid_crba(NamedTuple):
    a_all: NDArray[Any]
    tau_all: NDArray[Any]

def hybrid_crba(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, forward: str | Sequence[str], out: Any | None = None) -> _hybrid_crba:
    r"""Hybrid dynamics of the tree by the inertia matrix of the joints whose force is known.

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


def inertial_forces(model: Model, q: ArrayLike, a: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product of the mass matrix with a vector, without the mass matrix: the joint forces that accelerate the tree.

    .. math:: \tau = M(q)\, a

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    a : (..., nv) array
        Joint accelerations [rad/s^2 or m/s^2], or any vector of this length.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        ``M a``, the armature included [N m or N].
    """


def inverse_mass_matrix(model: Model, q: ArrayLike, diagonal: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Inverse of the joint-space inertia matrix, without M.

    .. math:: M(q)^{-1} = \partial a / \partial \tau

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    diagonal : (..., nv) array, optional
        Added to the diagonal of M [kg m^2 or kg]: ``h D + h^2 K`` of dampers and springs.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    M_inv : (..., nv, nv) array
        Inverse mass matrix [1/(kg m^2), 1/(kg m) or 1/kg], full and exactly symmetric.
    """


def inverse_mass_product(model: Model, q: ArrayLike, x: ArrayLike, diagonal: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product of the inverse of the joint-space inertia matrix with a vector, in O(n).

    .. math:: y = (M(q) + \mathrm{diag}(d))^{-1}\,x

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    x : (..., nv) array
        Generalized forces or momenta [N m or N, or N m s or N s].
    diagonal : (..., nv) array, optional
        Added to the diagonal of M [kg m^2 or kg]: ``h D + h^2 K`` of dampers and springs.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    y : (..., nv) array
        The accelerations or velocities that belong to x [rad/s^2 or m/s^2, or rad/s or m/s].
    """


def joint_wrenches(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Wrenches that the joints transmit to their bodies: actuator and bearing forces together.

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
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    F : (..., nb, 6) array
        Row i is the wrench [moment; force] that the predecessor exerts on body i through its joint [N m, N]; the
        body exerts the opposite one. Row 0 is zero: the world has no joint.
    """


def passive_joint_forces(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that the mechanism itself exerts: springs, soft stops, viscous damping, dry friction.

    Not those of actuators, which `actuator_joint_forces` gives.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    tau : (..., nv) array
        Passive joint forces [N m or N], on the same side of the equation of motion as the actuators' forces.
    """


def prescribed_power(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> Any:
    r"""Power that prescribed motions feed into the mechanism.

    .. math:: P = \sum_i f_i \cdot \sigma_i

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
    power : (...) array
        Power [W], positive where the joints give energy to the bodies; zero if no joint depends on time.
    """


def semi_implicit_acceleration(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""The acceleration of one step whose passive joint forces are taken at the end of the step.

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
    dt : (...) array
        Time step [s].
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    a : (..., nv) array
        ``(v_next - v) / dt`` [rad/s^2 or m/s^2].
    """


def stiffness_matrix(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, method: Literal["exact", "symmetric", "gauss_newton"] = "exact", out: Any | None = None) -> NDArray[Any]:
    r"""Stiffness matrix of all joint forces and force elements, actuators too, along the velocity coordinates.

    .. math:: K = -\partial f(q, v) / \partial q

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    x : (..., nx) array, optional
        Internal states of force elements (``model.state_names``) [as the elements define them]. Default:
        ``model.initial_state()``.
    u : (..., nu) array, optional
        Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero.
    method : {"exact", "symmetric", "gauss_newton"}
        Which algorithm; see the notes.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    K : (..., nv, nv) array
        Column k is ``-d/ds f(integrate(q, s e_k), v)`` at s = 0 [N m/rad, N m/m, N/rad or N/m].
    """


def tendon_jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Jacobian of the lengths of the tendons; moment arms are minus its entries.

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
    J : (..., n_tendons, nv) array
        Rows: the rate of each length for a unit of each velocity coordinate [m/rad or 1].
    """


def tendon_lengths(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Lengths of the tendons of a model: over points, shapes and pulleys, or sums of joint positions.

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
    lengths : (..., n_tendons) array
        Of each tendon of ``model.tendon_names`` [m, or the unit of its joint terms].
    """


def tendon_velocities(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Rates of the lengths of the tendons.

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
    velocities : (..., n_tendons) array
        Rate of each length [m/s], positive where a tendon gets longer.
    """
