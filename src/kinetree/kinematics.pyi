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

    q (..., nq), v (..., nv), q_coupled (..., nq), v_coupled (..., nv)
    """


def body_accelerations(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], kind: Literal["spatial", "classical", "spatial_offset", "classical_offset"], out: Any | None = None) -> NDArray[Any]:
    r"""Accelerations of all bodies, spatial or classical, true or less gravity.

    q (..., nq), v (..., nv), a (..., nv), A (..., nb, 6)
    """


def body_jacobian_product(model: Model, q: ArrayLike, x: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Product of the Jacobian of all bodies with a vector: the twists of all bodies at the velocity x.

    q (..., nq), x (..., nv), y (..., nb, 6)
    """


def body_jacobian_rate_product(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Product of the time derivative of the Jacobian of all bodies with a vector.

    q (..., nq), v (..., nv), x (..., nv), z (..., nb, 6)
    """


def body_jacobian_transpose_product(model: Model, q: ArrayLike, y: ArrayLike | Mapping[str, ArrayLike], t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Product of the transposed Jacobian of all bodies with forces on them: the joint forces that do the same work.

    q (..., nq), y (..., nb, 6), x (..., nv)
    """


def body_velocities(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Twists of all bodies.

    q (..., nq), v (..., nv), V (..., nb, 6)
    """


def frame_accelerations(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], kind: Literal["spatial", "classical", "spatial_offset", "classical_offset"], out: Any | None = None) -> NDArray[Any]:
    r"""Accelerations of all frames, true or less gravity, in the order of ``model.frames``.

    q (..., nq), v (..., nv), a (..., nv), A (..., nf, 6)
    """


def frame_jacobians(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Jacobians of all frames, in the order of ``model.frames``.

    q (..., nq), J (..., nf, 6, nv)
    """

class _frame_poses(NamedTuple):
    R_WF: NDArray[Any]
    p_WF: NDArray[Any]

def frame_poses(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> _frame_poses:
    r"""Poses of all frames, in the order of ``model.frames``.

    q (..., nq), R_WF (..., nf, 3, 3), p_WF (..., nf, 3)
    """


def frame_transforms(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Poses of all frames as one array of homogeneous matrices, in the order of ``model.frames``.

    q (..., nq), T_WF (..., nf, 4, 4)
    """


def frame_velocities(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Twists of all frames, in the order of ``model.frames``.

    q (..., nq), v (..., nv), V (..., nf, 6)
    """


def jacobian_rate(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Time derivative of a frame's Jacobian.

    q (..., nq), v (..., nv), J_dot (..., 6, nv)
    """

class _reparameterize(NamedTuple):
    q_regular: NDArray[Any]
    v_regular: NDArray[Any]

def reparameterize(model: Model, q: ArrayLike, v: ArrayLike, *, out: Any | None = None) -> _reparameterize:
    r"""The same state in joint coordinates far from their singularities.

    q (..., nq), v (..., nv), q_regular (..., nq), v_regular (..., nv)
    """


def tangent_rate(model: Model, xi: ArrayLike, v: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Rate of the step xi while the position ``integrate(q0, xi)`` moves with velocity v.

    xi (..., nv), v (..., nv), xi_dot (..., nv)
    """
