"""Gradients compared with extrapolated difference quotients."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_callable, a_truth_value, checked, number, refuse, whole
from kinetree.errors import NonFiniteError, ShapeError

SHRINK = 1.6  # from one step of the quotients to the next smaller one
LEVELS = 10


@dataclass(frozen=True, slots=True, eq=False)
class GradientCheck:
    """A gradient beside difference quotients; printed as a table of the worst directions.

    Attributes
    ----------
    error : float
        Largest difference over the directions, relative to the largest derivative.
    uncertainty : float
        Largest estimated error of the quotients themselves, relative to the same.
    directions : (n, *shape) array
    derivatives : (n,) array
        Along the directions, from the gradient.
    quotients, uncertainties : (n,) array
        Extrapolated difference quotients, and their estimated errors.
    """

    error: float
    uncertainty: float
    directions: np.ndarray
    derivatives: np.ndarray
    quotients: np.ndarray
    uncertainties: np.ndarray

    def __str__(self) -> str:
        difference = np.abs(self.derivatives - self.quotients)
        rows = [f"{'direction':>12} {'gradient':>16} {'quotient':>16} {'difference':>11} {'uncertainty':>11}"]
        for k in np.argsort(-difference)[:10]:
            name = str(k)
            entries = np.argwhere(self.directions[k])
            if len(entries) == 1:
                name = "[" + ", ".join(map(str, entries[0])) + "]"
            rows.append(
                f"{name:>12} {self.derivatives[k]:16.9g} {self.quotients[k]:16.9g} {difference[k]:11.2g} "
                f"{self.uncertainties[k]:11.2g}"
            )
        head = f"relative error {self.error:.2g}, quotients uncertain by {self.uncertainty:.2g}"
        return "\n".join([head, *rows])


@checked(function=a_callable, vectorized=a_truth_value)
def check_gradient(
    function: Callable,
    x,
    gradient,
    *,
    directions: int | None = None,
    step: float | None = None,
    vectorized: bool = False,
    seed: int = 0,
) -> GradientCheck:
    r"""Compare a gradient with difference quotients that are extrapolated to a step of zero.

    Parameters
    ----------
    function : callable
        ``function(x)``, a number.
    x : (...) array
        Where it is differentiated [in any unit].
    gradient : (...) array or callable
        Its derivative with respect to the entries of x [per that unit], in the shape of x; or a function of x that
        gives it.
    directions : int, optional
        Number of random directions. Default: every entry alone if there are at most 64, else 16 directions.
    step : float, optional
        Largest step along a direction of unit length, in the units of x; default 0.02 of the larger of 1 and the norm
        of x over the root of its size.
    vectorized : bool
        Whether the function takes (n, \*shape) arrays and gives (n,) values; then it is called once.
    seed : int
        Of the random directions.

    Returns
    -------
    GradientCheck

    Raises
    ------
    ShapeError
        The gradient has another shape than x, or the function gives no number.
    NonFiniteError
        The gradient, or the function at a point of the quotients, is not finite.

    Notes
    -----
    Source: C. J. F. Ridders, "Accurate computation of F'(x) and F'(x) F''(x)" (1982): central differences at steps that
    shrink by a constant factor, polynomial extrapolation to zero, and of the table the entry with the least estimated
    error. For positions on a manifold, pass the function of a small displacement:
    ``lambda d: J(kt.integrate(model, q, d))`` at zero.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.double_pendulum()
    >>> q = np.array([0.3, -0.5])
    >>> check = kt.check_gradient(lambda q: kt.potential_energy(arm, q), q, kt.gravity_forces(arm, q))
    >>> bool(check.error < 1e-9)
    True
    """
    try:
        at = np.asarray(x, dtype=float)
        slopes = np.asarray(gradient(at) if callable(gradient) else gradient, dtype=float)
    except (TypeError, ValueError):
        refuse("check_gradient: x and gradient", x if not callable(gradient) else gradient, "arrays of real numbers")
    if slopes.shape != at.shape or not at.size:
        raise ShapeError(f"check_gradient: the gradient has shape {slopes.shape}, expected that of x, {at.shape}.")
    if not np.isfinite(slopes).all() or not np.isfinite(at).all():
        raise NonFiniteError("check_gradient: x or the gradient is not finite.", name="gradient")
    along = _directions(at, directions, seed)
    largest = 0.02 * max(1.0, float(np.linalg.norm(at)) / math.sqrt(at.size))
    h = largest if step is None else number("check_gradient: step", step, "a positive number", above=0.0)
    quotients, uncertain = _ridders(_evaluated(function, vectorized), at, along, h)
    derivatives = np.tensordot(along, slopes, at.ndim)
    scale = max(float(np.abs(derivatives).max()), float(np.abs(quotients).max()), 1e-300)
    error = float(np.abs(derivatives - quotients).max()) / scale
    return GradientCheck(error, float(uncertain.max()) / scale, along, derivatives, quotients, uncertain)


def _directions(x: np.ndarray, count: int | None, seed: int) -> np.ndarray:
    if count is None and x.size <= 64:
        return np.eye(x.size).reshape(x.size, *x.shape)
    count = 16 if count is None else whole("check_gradient: directions", count, "a positive whole number", least=1)
    found = np.random.default_rng(seed).normal(size=(count, *x.shape))
    return found / np.linalg.norm(found.reshape(count, -1), axis=1).reshape(count, *(1,) * x.ndim)


def _evaluated(function: Callable, vectorized: bool) -> Callable:
    """The function on many points, as an array of numbers."""

    def values(points: np.ndarray) -> np.ndarray:
        found = function(points) if vectorized else [function(point) for point in points]
        try:
            found = np.asarray(found, dtype=float)
        except (TypeError, ValueError):
            refuse("check_gradient: the value of the function", found, "a number")
        if found.shape != (len(points),):
            expected = f"{len(points)} numbers" if vectorized else "a number"
            raise ShapeError(f"check_gradient: the function gives shape {found.shape[1:]}, expected {expected}.")
        if not np.isfinite(found).all():
            raise NonFiniteError("check_gradient: the function is not finite near x; take a smaller step.", name="x")
        return found

    return values


def _ridders(values: Callable, x: np.ndarray, along: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives along directions, and their estimated errors."""
    steps = h / SHRINK ** np.arange(LEVELS)
    offsets = steps[:, None, None] * np.array([1.0, -1.0])[:, None]  # (levels, 2, 1)
    points = x + offsets.reshape(LEVELS, 2, *(1,) * along.ndim) * along
    ends = values(points.reshape(-1, *x.shape)).reshape(LEVELS, 2, len(along))
    table = (ends[:, 0] - ends[:, 1]) / (2.0 * steps[:, None])
    rounding = np.finfo(float).eps * np.abs(ends).max(axis=(0, 1)) / steps[-1]
    best, error = table[-1].copy(), np.full(len(along), np.inf)
    for order in range(1, LEVELS):
        factor = SHRINK ** (2 * order)
        finer = (factor * table[1:] - table[:-1]) / (factor - 1.0)
        for n, row in enumerate(finer):
            guess = np.maximum(np.abs(row - table[n + 1]), np.abs(row - table[n]))
            better = guess < error
            best[better], error[better] = row[better], guess[better]
        table = finer
    return best, np.maximum(error, np.minimum(rounding, error))
