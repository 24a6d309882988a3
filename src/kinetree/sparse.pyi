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

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    L : (..., nv, nv) array
        From `ltl` or `ltdl` [as there].
    x : (..., nv) array
        A vector along the velocities [rad/s or m/s].
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    y : (..., nv) array
        ``L x`` [for `ltl`: kg^(1/2) m/s, whose squares add up to twice the kinetic energy].
    """


def lower_solve(model: Model, L: ArrayLike, b: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Solve ``L x = b`` with a lower factor of the mass matrix.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    L : (..., nv, nv) array
        From `ltl` or `ltdl` [as there].
    b : (..., nv) array
        Right-hand side [as ``L x``].
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    x : (..., nv) array
        ``L^-1 b`` [rad/s or m/s].
    """


def lower_transpose_product(model: Model, L: ArrayLike, x: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product ``L^T x`` with a transposed lower factor of the mass matrix.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    L : (..., nv, nv) array
        From `ltl` or `ltdl` [as there].
    x : (..., nv) array
        Any vector, for `ltl` of the kind that `lower_product` gives [kg^(1/2) m/s].
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    y : (..., nv) array
        ``L^T x`` [N m s or N s].
    """


def lower_transpose_solve(model: Model, L: ArrayLike, b: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Solve ``L^T x = b`` with a transposed lower factor of the mass matrix.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    L : (..., nv, nv) array
        From `ltl` or `ltdl` [as there].
    b : (..., nv) array
        Right-hand side [N m or N].
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    x : (..., nv) array
        ``L^-T b`` [for `ltl`: N m or N per kg^(1/2) m or kg^(1/2)].
    """

class _ltdl(NamedTuple):
    L: NDArray[Any]
    D: NDArray[Any]

def ltdl(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> _ltdl:
    r"""Factors L and D of the mass matrix ``M = L^T D L``, L with a unit diagonal and the zeros of the tree.

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
    L : (..., nv, nv) array
        Unit lower triangular [1, or m and 1/m between sliding and turning joints].
    D : (..., nv) array
        The diagonal of D [kg m^2 or kg], positive: the articulated inertia of the subtree about its joint.
    """

class _ltdl_factorize(NamedTuple):
    L: NDArray[Any]
    D: NDArray[Any]

def ltdl_factorize(model: Model, M: ArrayLike, *, out: Any | None = None) -> _ltdl_factorize:
    r"""Factors L and D of any matrix ``M = L^T D L`` with the zeros of the model's tree, such as ``M + h D + h^2 K``.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    M : (..., nv, nv) array
        Symmetric and positive definite [kg m^2, kg m or kg]; only the lower triangle within
        ``model.mass_matrix_pattern()`` is read.
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    L : (..., nv, nv) array
        Unit lower triangular [1].
    D : (..., nv) array
        The diagonal of D [as M]; not all positive if M is not positive definite.
    """


def ltdl_solve(model: Model, L: ArrayLike, D: ArrayLike, b: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Solve ``M x = b`` by the factors of ``M = L^T D L``.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    L : (..., nv, nv) array
        From `ltdl` or `ltdl_factorize` [1]; its diagonal is not read.
    D : (..., nv) array
        The diagonal of D [kg m^2 or kg].
    b : (..., nv) array
        Right-hand side [N m or N]; a batch of them may share one L and D.
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    x : (..., nv) array
        ``M^-1 b`` [rad/s^2 or m/s^2].
    """


def ltl(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""Factor L of the mass matrix ``M = L^T L``, lower triangular with the zeros of the tree.

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
    L : (..., nv, nv) array
        Lower triangular, its entries square roots of inertias [kg^(1/2) m or kg^(1/2)].
    """


def ltl_factorize(model: Model, M: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Factor L of any matrix ``M = L^T L`` with the zeros of the model's tree, such as ``M + h D + h^2 K``.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    M : (..., nv, nv) array
        Symmetric and positive definite [kg m^2, kg m or kg]; only the lower triangle within
        ``model.mass_matrix_pattern()`` is read.
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    L : (..., nv, nv) array
        Lower triangular [square root of the unit of M].
    """


def ltl_solve(model: Model, L: ArrayLike, b: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Solve ``M x = b`` by the factor of ``M = L^T L``.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    L : (..., nv, nv) array
        From `ltl` or `ltl_factorize` [square root of the unit of M].
    b : (..., nv) array
        Right-hand side [N m or N]; a batch of them may share one L.
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    x : (..., nv) array
        ``M^-1 b`` [rad/s^2 or m/s^2].
    """


def symmetric_product(model: Model, M: ArrayLike, x: ArrayLike, *, out: Any | None = None) -> NDArray[Any]:
    r"""Product ``M x`` with the mass matrix, or another matrix with the zeros of the model's tree.

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    M : (..., nv, nv) array
        Symmetric [kg m^2, kg m or kg]; only the lower triangle within ``model.mass_matrix_pattern()`` is read.
    x : (..., nv) array
        A vector along the velocities [rad/s or m/s].
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    y : (..., nv) array
        ``M x`` [N m s or N s].
    """
