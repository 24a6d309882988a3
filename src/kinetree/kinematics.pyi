# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame


__all__ = [
    "apply_couplings",
    "body_accelerations",
    "body_jacobian_product",
    "body_jacobian_rate_product",
    "body_jacobian_transpose_product",
    "body_velocities",
    "frame_accelerations",
    "frame_jacobians",
    "frame_poses",
    "frame_transforms",
    "frame_velocities",
    "jacobian_rate",
    "reparameterize",
    "tangent_rate",
]
class _apply_couplings(NamedTuple):
    q_coupled: NDArray[Any]
    v_coupled: NDArray[Any]

def apply_couplings(model: Model, q: ArrayLike, v: ArrayLike, *, out: Any | None = None) -> _apply_couplings:
    r"""Positions and velocities in which every coupled joint follows its master.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_coupled : (..., nq) array
        Joint positions [rad or m], of coupled joints by their masters.
    v_coupled : (..., nv) array
        Joint velocities [rad/s or m/s], of coupled joints by their masters.
    """


def body_accelerations(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], kind: Literal["spatial", "classical", "spatial_offset", "classical_offset"], out: Any | None = None) -> NDArray[Any]:
    r"""Accelerations of all bodies, spatial or classical, true or less gravity.

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
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    kind : {"spatial", "classical", "spatial_offset", "classical_offset"}
        Spatial or classical acceleration; ``_offset``: less gravity. See the notes of `body_accelerations`.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    A : (..., nb, 6) array
        Accelerations [angular; linear], [rad/s^2, m/s^2]; row 0: zero, or minus gravity.
    """


def body_jacobian_product(model: Model, q: ArrayLike, x: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Product of the Jacobian of all bodies with a vector: the twists of all bodies at the velocity x.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    x : (..., nv) array
        A vector along the velocities [rad/s or m/s].
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    y : (..., nb, 6) array
        ``J_i x`` for every body [rad/s, m/s]; row 0 is the world's and zero.
    """


def body_jacobian_rate_product(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Product of the time derivative of the Jacobian of all bodies with a vector.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    x : (..., nv) array
        A vector along the velocities [rad/s or m/s]; v itself for the velocity-product accelerations.
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    z : (..., nb, 6) array
        ``dJ_i/dt x`` for every body, component by component [rad/s^2, m/s^2]; row 0 is the world's and zero.
    """


def body_jacobian_transpose_product(model: Model, q: ArrayLike, y: ArrayLike | Mapping[str, ArrayLike], t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Product of the transposed Jacobian of all bodies with forces on them: the joint forces that do the same work.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    y : (..., nb, 6) array or mapping of body name to (..., 6) array
        Wrench on each body [N m, N], in the coordinates of ``reference``; row 0 is not used.
    reference : {"local", "world", "local_world_aligned"}
        Coordinates of the Jacobians, as for `jacobian`: moments are about its origin.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    x : (..., nv) array
        ``sum of J_i^T y_i`` [N m or N].
    """


def body_velocities(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Twists of all bodies.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    V : (..., nb, 6) array
        Twists [angular; linear], [rad/s, m/s]; row 0 is the world's and zero.
    """


def frame_accelerations(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], kind: Literal["spatial", "classical", "spatial_offset", "classical_offset"], out: Any | None = None) -> NDArray[Any]:
    r"""Accelerations of all frames, true or less gravity, in the order of ``model.frames``.

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
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    kind : {"spatial", "classical", "spatial_offset", "classical_offset"}
        Spatial or classical acceleration; ``_offset``: less gravity. See the notes of `body_accelerations`.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    A : (..., nf, 6) array
        Accelerations [angular; linear], [rad/s^2, m/s^2]; row 0: zero, or minus gravity.
    """


def frame_jacobians(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Jacobians of all frames, in the order of ``model.frames``.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    J : (..., nf, 6, nv) array
        Rows [angular; linear] [1 and m, or 1/m and 1 for sliding joints]; those of the world, which is frame 0,
        are zero.
    """

class _frame_poses(NamedTuple):
    R_WF: NDArray[Any]
    p_WF: NDArray[Any]

def frame_poses(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> _frame_poses:
    r"""Poses of all frames, in the order of ``model.frames``.

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
    R_WF : (..., nf, 3, 3) array
        Orientation of each frame in the world [1].
    p_WF : (..., nf, 3) array
        Position of each frame's origin in world coordinates [m].
    """


def frame_transforms(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Poses of all frames as one array of homogeneous matrices, in the order of ``model.frames``.

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
    T_WF : (..., nf, 4, 4) array
        ``[[R_WF, p_WF], [0, 1]]`` [1 and m]: a point with coordinates x in frame F is ``T_WF @ (x, 1)`` in the
        world.
    """


def frame_velocities(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Twists of all frames, in the order of ``model.frames``.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    V : (..., nf, 6) array
        Twists [angular; linear], [rad/s, m/s]; row 0 is the world's and zero.
    """


def jacobian_rate(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Time derivative of a frame's Jacobian.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    frame : str
        Name of the frame or body.
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the
        origin of the frame or body.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    J_dot : (..., 6, nv) array
        dJ/dt, component by component [1/s and m/s].
    """

class _reparameterize(NamedTuple):
    q_regular: NDArray[Any]
    v_regular: NDArray[Any]

def reparameterize(model: Model, q: ArrayLike, v: ArrayLike, *, out: Any | None = None) -> _reparameterize:
    r"""The same state in joint coordinates far from their singularities.

    Only joints whose coordinates come in several charts change theirs (``SphericalExponential``, near a full turn), and
    of these only where nothing that stores energy depends on the chart: springs, position limits and armatures are
    stated in the coordinates themselves.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_regular : (..., nq) array
        Joint positions [rad or m; quaternions as given].
    v_regular : (..., nv) array
        Joint velocities [rad/s or m/s]: those with the same velocities of all bodies.
    """


def tangent_rate(model: Model, xi: ArrayLike, v: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Rate of the step xi while the position ``integrate(q0, xi)`` moves with velocity v.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    xi : (..., nv) array
        Step from a fixed position q0 [rad or m].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    xi_dot : (..., nv) array
        d xi / dt [rad/s or m/s]: the inverse right Jacobian of each joint's exponential times its velocity.
    """
