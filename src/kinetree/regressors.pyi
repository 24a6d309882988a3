# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame


__all__ = [
    "generalized_momentum",
    "joint_torque",
    "kinetic_energy",
    "momentum",
    "potential_energy",
]

def generalized_momentum(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Generalized momentum ``M v`` as a linear function of the inertial parameters.

    q (..., nq), v (..., nv), Y (..., nv, n_inertial)
    """


def joint_torque(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Inverse dynamics as a linear function of the inertial parameters of the bodies.

    q (..., nq), v (..., nv), a (..., nv), Y (..., nv, n_inertial)
    """


def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Kinetic energy as a linear function of the inertial parameters of the bodies.

    q (..., nq), v (..., nv), y (..., n_inertial)
    """


def momentum(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Spatial momentum about the world's origin as a linear function of the inertial parameters.

    q (..., nq), v (..., nv), Y (..., 6, n_inertial)
    """


def potential_energy(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Potential energy in the gravity field as a linear function of the inertial parameters.

    q (..., nq), y (..., n_inertial)
    """
