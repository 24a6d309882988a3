# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame


__all__ = [
    "lower_product",
    "lower_solve",
    "lower_transpose_product",
    "lower_transpose_solve",
    "ltdl",
    "ltdl_factorize",
    "ltdl_solve",
    "ltl",
    "ltl_factorize",
    "ltl_solve",
    "symmetric_product",
]

def lower_product(model: Model, L: ArrayLike, x: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product ``L x`` with a lower factor of the mass matrix.

    L (..., nv, nv), x (..., nv), y (..., nv)
    """


def lower_solve(model: Model, L: ArrayLike, b: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Solve ``L x = b`` with a lower factor of the mass matrix.

    L (..., nv, nv), b (..., nv), x (..., nv)
    """


def lower_transpose_product(model: Model, L: ArrayLike, x: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product ``L^T x`` with a transposed lower factor of the mass matrix.

    L (..., nv, nv), x (..., nv), y (..., nv)
    """


def lower_transpose_solve(model: Model, L: ArrayLike, b: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Solve ``L^T x = b`` with a transposed lower factor of the mass matrix.

    L (..., nv, nv), b (..., nv), x (..., nv)
    """

class _ltdl(NamedTuple):
    L: NDArray[Any]
    D: NDArray[Any]

def ltdl(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> _ltdl:
    r"""Factors L and D of the mass matrix ``M = L^T D L``, L with a unit diagonal and the zeros of the tree.

    q (..., nq), L (..., nv, nv), D (..., nv)
    """

class _ltdl_factorize(NamedTuple):
    L: NDArray[Any]
    D: NDArray[Any]

def ltdl_factorize(model: Model, M: ArrayLike, *, out: Any | None = None) -> _ltdl_factorize:
    r"""Factors L and D of any matrix ``M = L^T D L`` with the zeros of the model's tree, such as ``M + h D + h^2 K``.

    M (..., nv, nv), L (..., nv, nv), D (..., nv)
    """


def ltdl_solve(model: Model, L: ArrayLike, D: ArrayLike, b: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Solve ``M x = b`` by the factors of ``M = L^T D L``.

    L (..., nv, nv), D (..., nv), b (..., nv), x (..., nv)
    """


def ltl(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Factor L of the mass matrix ``M = L^T L``, lower triangular with the zeros of the tree.

    q (..., nq), L (..., nv, nv)
    """


def ltl_factorize(model: Model, M: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Factor L of any matrix ``M = L^T L`` with the zeros of the model's tree, such as ``M + h D + h^2 K``.

    M (..., nv, nv), L (..., nv, nv)
    """


def ltl_solve(model: Model, L: ArrayLike, b: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Solve ``M x = b`` by the factor of ``M = L^T L``.

    L (..., nv, nv), b (..., nv), x (..., nv)
    """


def symmetric_product(model: Model, M: ArrayLike, x: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product ``M x`` with the mass matrix, or another matrix with the zeros of the model's tree.

    M (..., nv, nv), x (..., nv), y (..., nv)
    """
