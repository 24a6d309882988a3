# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.algorithms.articulated_handles import ArticulatedBody as ArticulatedBody
from kinetree.compiler.factorization import Factorization as Factorization
from kinetree.analysis.articulated_handles import articulated_inertia as articulated_inertia
from kinetree.analysis.articulated_handles import articulated_inverse_inertia as articulated_inverse_inertia
from kinetree.algorithms.assembly_tree import assembly_tree as assembly_tree
from kinetree.compiler.factorization import factorize as factorize

__all__ = [
    "ArticulatedBody",
    "Factorization",
    "articulated_factorization",
    "articulated_inertia",
    "articulated_inverse_inertia",
    "articulated_solve",
    "assembly_tree",
    "coriolis_forces",
    "crba_restricted",
    "divide_and_conquer",
    "elastic_energy",
    "external_forces",
    "factorize",
    "forward_dynamics_crba",
    "hybrid_aba",
    "hybrid_crba",
    "inertial_forces",
    "inverse_mass_matrix",
    "inverse_mass_product",
    "joint_wrenches",
    "passive_joint_forces",
    "prescribed_power",
    "semi_implicit_acceleration",
]
class _articulated_factorization(NamedTuple):
    r: NDArray[Any]
    S: NDArray[Any]
    K: NDArray[Any]
    D_inv: NDArray[Any]

def articulated_factorization(model: Model, q: ArrayLike, diagonal: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _articulated_factorization:
    r"""The joint-space inertia matrix factorized by articulated bodies, for `articulated_solve`.

    q (..., nq), diagonal (..., nv), r (..., nb, 3), S (..., nv, 6), K (..., nv, 6), D_inv (..., nv)
    """


def articulated_solve(model: Model, r: ArrayLike, S: ArrayLike, K: ArrayLike, D_inv: ArrayLike, x: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product of the inverse of a factorized joint-space inertia matrix with a vector, in O(n).

    r (..., nb, 3), S (..., nv, 6), K (..., nv, 6), D_inv (..., nv), x (..., nv), y (..., nv)
    """


def coriolis_forces(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that keep the tree at constant joint velocities: Coriolis and centrifugal forces, no weight.

    q (..., nq), v (..., nv), tau (..., nv)
    """


def crba_restricted(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, forward: str | Sequence[str], out: Any | None = None) -> NDArray[Any]:
    r"""The part of the joint-space inertia matrix that belongs to some of the joints.

    q (..., nq), M (..., nv, nv)
    """


def divide_and_conquer(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the tree by divide and conquer, in O(log n) steps that follow upon one another.

    q (..., nq), v (..., nv), tau (..., nv), f_ext (..., nb, 6), a (..., nv)
    """


def elastic_energy(model: Model, q: ArrayLike, *, out: Any | None = None) -> Any:
    r"""Energy stored in the joint springs and in the soft stops.

    q (..., nq), V (...)
    """


def external_forces(model: Model, q: ArrayLike, wrenches: ArrayLike | Mapping[str, ArrayLike], t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that balance external forces on the bodies.

    q (..., nq), wrenches (..., nb, 6), tau (..., nv)
    """


def forward_dynamics_crba(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the bare tree by its mass matrix: bias forces, `crba`, and a sparse factorization.

    q (..., nq), v (..., nv), tau (..., nv), f_ext (..., nb, 6), a (..., nv)
    """

class _hybrid_aba(NamedTuple):
    a_all: NDArray[Any]
    tau_all: NDArray[Any]

def hybrid_aba(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, forward: str | Sequence[str], out: Any | None = None) -> _hybrid_aba:
    r"""Hybrid dynamics of the tree by articulated bodies.

    q (..., nq), v (..., nv), tau (..., nv), a (..., nv), f_ext (..., nb, 6), a_all (..., nv), tau_all (..., nv)
    """

class _hybrid_crba(NamedTuple):
    a_all: NDArray[Any]
    tau_all: NDArray[Any]

def hybrid_crba(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, forward: str | Sequence[str], out: Any | None = None) -> _hybrid_crba:
    r"""Hybrid dynamics of the tree by the inertia matrix of the joints whose force is known.

    q (..., nq), v (..., nv), tau (..., nv), a (..., nv), f_ext (..., nb, 6), a_all (..., nv), tau_all (..., nv)
    """


def inertial_forces(model: Model, q: ArrayLike, a: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product of the mass matrix with a vector, without the mass matrix: the joint forces that accelerate the tree.

    q (..., nq), a (..., nv), tau (..., nv)
    """


def inverse_mass_matrix(model: Model, q: ArrayLike, diagonal: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Inverse of the joint-space inertia matrix, without M.

    q (..., nq), diagonal (..., nv), M_inv (..., nv, nv)
    """


def inverse_mass_product(model: Model, q: ArrayLike, x: ArrayLike, diagonal: ArrayLike | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product of the inverse of the joint-space inertia matrix with a vector, in O(n).

    q (..., nq), x (..., nv), diagonal (..., nv), y (..., nv)
    """


def joint_wrenches(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Wrenches that the joints transmit to their bodies: actuator and bearing forces together.

    q (..., nq), v (..., nv), a (..., nv), f_ext (..., nb, 6), F (..., nb, 6)
    """


def passive_joint_forces(model: Model, q: ArrayLike, v: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Joint forces that the mechanism itself exerts: springs, soft stops, viscous damping, dry friction.

    q (..., nq), v (..., nv), tau (..., nv)
    """


def prescribed_power(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> Any:
    r"""Power that prescribed motions feed into the mechanism.

    q (..., nq), v (..., nv), a (..., nv), f_ext (..., nb, 6), power (...)
    """


def semi_implicit_acceleration(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""The acceleration of one step whose passive joint forces are taken at the end of the step.

    q (..., nq), v (..., nv), tau (..., nv), dt (...), f_ext (..., nb, 6), a (..., nv)
    """
