# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame


__all__ = [
    "coefficients",
    "forward_dynamics",
    "inverse_dynamics",
    "jacobian",
    "reduced_coefficients",
]
class _floating_base_coefficients(NamedTuple):
    I0c: NDArray[Any]
    F: NDArray[Any]
    H: NDArray[Any]
    p0c: NDArray[Any]
    C: NDArray[Any]

def coefficients(model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _floating_base_coefficients:
    r"""Coefficients of the equation of motion of a tree on a floating base.

    q (..., nq), v (..., nv), f_ext (..., nb, 6), I0c (..., nv_base, nv_base), F (..., nv_base, nv_joints), H (..., nv_joints, nv_joints), p0c (..., nv_base), C (..., nv_joints)
    """

class _floating_base_forward_dynamics(NamedTuple):
    a_base: NDArray[Any]
    a_joints: NDArray[Any]

def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau_joints: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _floating_base_forward_dynamics:
    r"""Accelerations of a floating base and of its joints, by articulated bodies.

    q (..., nq), v (..., nv), tau_joints (..., nv_joints), f_ext (..., nb, 6), a_base (..., nv_base), a_joints (..., nv_joints)
    """

class _floating_base_inverse_dynamics(NamedTuple):
    a_base: NDArray[Any]
    tau_joints: NDArray[Any]

def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a_joints: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _floating_base_inverse_dynamics:
    r"""Joint forces for given joint accelerations, and the acceleration that the floating base then has.

    q (..., nq), v (..., nv), a_joints (..., nv_joints), f_ext (..., nb, 6), a_base (..., nv_base), tau_joints (..., nv_joints)
    """


def jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, frame: str | int | Frame, reference: Literal["local", "world", "local_world_aligned"], out: Any | None = None) -> NDArray[Any]:
    r"""Jacobian of a frame on a robot whose floating base recoils: the generalized Jacobian.

    q (..., nq), J_fl (..., 6, nv_joints)
    """

class _floating_base_reduced_coefficients(NamedTuple):
    H_fl: NDArray[Any]
    C_fl: NDArray[Any]

def reduced_coefficients(model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> _floating_base_reduced_coefficients:
    r"""Coefficients of the joints' own equation of motion on a floating base, from which the base is eliminated.

    q (..., nq), v (..., nv), f_ext (..., nb, 6), H_fl (..., nv_joints, nv_joints), C_fl (..., nv_joints)
    """
