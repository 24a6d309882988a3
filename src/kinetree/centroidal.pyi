# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame


__all__ = [
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "momentum",
    "momentum_matrix",
]

def center_of_mass_jacobian(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Jacobian of the center of mass.

    q (..., nq), J (..., 3, nv)
    """


def center_of_mass_velocity(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Velocity of the center of mass.

    q (..., nq), v (..., nv), v_C (..., 3)
    """


def momentum(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Spatial momentum of the bodies about their center of mass.

    q (..., nq), v (..., nv), h (..., 6)
    """


def momentum_matrix(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""The matrix that maps joint velocities to centroidal momentum.

    q (..., nq), A (..., 6, nv)
    """
