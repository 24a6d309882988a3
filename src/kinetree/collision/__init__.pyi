# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.queries.changes import ContactChange as ContactChange
from kinetree.collision.pair import ContactPair as ContactPair
from kinetree.collision.laws import ContactPoint as ContactPoint
from kinetree.queries.rates import ContactRates as ContactRates
from kinetree.queries.distances import Distances as Distances
from kinetree.collision.material import Ground as Ground
from kinetree.queries.manifold import Manifold as Manifold
from kinetree.collision.material import Material as Material
from kinetree.queries.minimal_set import MinimalContactSet as MinimalContactSet
from kinetree.queries.start import Overlaps as Overlaps
from kinetree.collision.pair import PAIR_LAWS as PAIR_LAWS
from kinetree.collision.shape import Shape as Shape
from kinetree.queries.start import check_start as check_start
from kinetree.queries.distances import colliding_pairs as colliding_pairs
from kinetree.collision.axes import contact_axes as contact_axes
from kinetree.queries.changes import contact_changes as contact_changes
from kinetree.queries.manifold import contact_manifold as contact_manifold
from kinetree.queries.rates import contact_rates as contact_rates
from kinetree.queries.minimal_set import contact_wrenches as contact_wrenches
from kinetree.queries.distances import distances as distances
from kinetree.queries.minimal_set import minimal_contact_set as minimal_contact_set

__all__ = [
    "ContactChange",
    "ContactPair",
    "ContactPoint",
    "ContactRates",
    "Distances",
    "Ground",
    "Manifold",
    "Material",
    "MinimalContactSet",
    "Overlaps",
    "PAIR_LAWS",
    "Shape",
    "check_start",
    "colliding_pairs",
    "contact_axes",
    "contact_bias",
    "contact_changes",
    "contact_gaps",
    "contact_jacobian",
    "contact_manifold",
    "contact_points",
    "contact_rates",
    "contact_terms",
    "contact_wrenches",
    "distances",
    "minimal_contact_set",
]
class _contact_bias(NamedTuple):
    bias: NDArray[Any]
    normal_rates: NDArray[Any]

def contact_bias(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> _contact_bias:
    r"""``dJ/dt v``: the contact velocities ``J v`` have the rates ``J a`` and this; and the rates of the normals.

    Joints that depend on time add a part of their own to the contact velocities, whose rate is in the bias.

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
    bias : (..., n_contact_rows) array
        Accelerations of the rows without those of the joints [m/s^2].
    normal_rates : (..., n_contacts, 3) array
        Rates of the unit normals in world axes [1/s].
    """


def contact_gaps(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Gaps of all candidate points of contact.

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
    gaps : (..., n_contacts) array
        Of each candidate point [m]: distance of the surfaces along the normal, negative where they penetrate.
    """


def contact_jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Jacobian of the contact velocities: relative velocity of both bodies at the contact point, second minus first.

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
    J : (..., n_contact_rows, nv) array
        Three rows for each candidate point, along its axes (t1, t2, n) [m/rad or 1].
    """

class _contact_points(NamedTuple):
    positions: NDArray[Any]
    normals: NDArray[Any]
    gaps: NDArray[Any]

def contact_points(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> _contact_points:
    r"""Positions, normals and gaps of all candidate points of contact.

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
    positions : (..., n_contacts, 3) array
        The middle between both surfaces, world coordinates [m].
    normals : (..., n_contacts, 3) array
        Unit normals from the first to the second body, world axes [1].
    gaps : (..., n_contacts) array
        Of each candidate point [m]: distance of the surfaces along the normal, negative where they penetrate.
    """

class _contact_terms(NamedTuple):
    rows: NDArray[Any]
    rates: NDArray[Any]
    responses: NDArray[Any]
    velocities: NDArray[Any]
    targets: NDArray[Any]
    compliance: NDArray[Any]
    laws: NDArray[Any]

def contact_terms(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, x: ArrayLike | None = None, u: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _contact_terms:
    r"""Rows, free rates and targets of the impulses of a time step.

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
    rows : (..., n_impulses, nv) array
        W of each impulse, (t1, t2, n) of each contact, then rows with bounded forces: the Delassus matrix is ``W
        W^T`` [kg^-1/2, or (kg m^2)^-1/2].
    rates : (..., n_impulses) array
        Rates of the rows at the end of the step without impulses [m/s or rad/s].
    responses : (..., n_impulses, nv) array
        Change of the joint velocities by a unit of each impulse [1/kg, 1/(kg m)].
    velocities : (..., nv) array
        Joint velocities at the end of the step without impulses [rad/s or m/s].
    targets : (..., n_contacts) array
        Least normal rates at the end of the step [m/s].
    compliance : (..., n_contacts) array
        Of the normals [1/kg].
    laws : (..., n_impulses, 4) array
        Of bounded rows: largest impulse of friction, the rate at which it sticks, least and greatest rate [N s or
        N m s; m/s or rad/s].
    """
