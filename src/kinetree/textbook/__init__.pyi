# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame


__all__ = [
    "aba_implicit_joints",
    "aba_inverse_inertias",
    "aba_world",
    "hybrid_recursive",
    "mass_matrix_columns",
    "mass_matrix_jacobians",
    "newton_euler",
    "rnea_world",
]

def aba_implicit_joints(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the tree by articulated bodies, with inertias and implicit joints.

    q (..., nq), v (..., nv), tau (..., nv), f_ext (..., nb, 6), a (..., nv)
    """


def aba_inverse_inertias(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the tree by articulated bodies, with inverse inertias and implicit joints.

    q (..., nq), v (..., nv), tau (..., nv), f_ext (..., nb, 6), a (..., nv)
    """


def aba_world(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Forward dynamics of the tree by the articulated-body algorithm in absolute coordinates.

    q (..., nq), v (..., nv), tau (..., nv), f_ext (..., nb, 6), a (..., nv)
    """

class _hybrid_recursive(NamedTuple):
    a_all: NDArray[Any]
    tau_all: NDArray[Any]

def hybrid_recursive(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, forward: str | Sequence[str], out: Any | None = None) -> _hybrid_recursive:
    r"""Hybrid dynamics of the tree by Kim's recursion.

    q (..., nq), v (..., nv), tau (..., nv), a (..., nv), f_ext (..., nb, 6), a_all (..., nv), tau_all (..., nv)
    """


def mass_matrix_columns(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Mass matrix column by column: the joint forces that a unit acceleration of one coordinate needs.

    q (..., nq), M (..., nv, nv)
    """


def mass_matrix_jacobians(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Mass matrix as the sum of the bodies' inertias, each seen through its Jacobian.

    q (..., nq), M (..., nv, nv)
    """


def newton_euler(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Inverse dynamics of the tree by the original Newton-Euler equations in vectors of three.

    q (..., nq), v (..., nv), a (..., nv), f_ext (..., nb, 6), tau (..., nv)
    """


def rnea_world(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Inverse dynamics of the tree by the recursive Newton-Euler algorithm in absolute coordinates.

    q (..., nq), v (..., nv), a (..., nv), f_ext (..., nb, 6), tau (..., nv)
    """
