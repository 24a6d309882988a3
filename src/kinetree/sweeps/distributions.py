"""Distributions of parameters: functions of points of the unit cube, one coordinate for each number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import array, refuse
from kinetree.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Distribution:
    """Independent numbers, each drawn by its quantile function.

    Parameters
    ----------
    kind : str
        Its name, for descriptions.
    arguments : tuple of ndarray
        Of equal shapes, that of a value.

    Notes
    -----
    Made by `uniform`, `normal` and `log_uniform`. Frozen distributions of `scipy.stats` are taken likewise.
    """

    kind: str
    arguments: tuple[np.ndarray, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one value: () or (n,)."""
        return self.arguments[0].shape

    def values(self, points: np.ndarray) -> np.ndarray:
        """Values (n, \\*shape) at points of the unit cube (n, size)."""
        return _QUANTILES[self.kind](points.reshape(len(points), *self.shape), *self.arguments)

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(str(x.tolist()) for x in self.arguments)})"


def _normal(u, mean, deviation):
    from scipy.special import ndtri

    return mean + deviation * ndtri(u)


_QUANTILES: dict[str, Callable] = {
    "uniform": lambda u, low, high: low + (high - low) * u,
    "log_uniform": lambda u, low, high: np.exp(np.log(low) + (np.log(high) - np.log(low)) * u),
    "normal": _normal,
}


def uniform(low, high) -> Distribution:
    """Numbers between two bounds, all equally likely.

    Parameters
    ----------
    low, high : float or (n,) array_like
        Bounds [as the parameter]; arrays for parameters of several numbers, such as "q0".

    Returns
    -------
    Distribution

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.sweeps.uniform(0.5, 1.5)
    uniform(0.5, 1.5)
    """
    low, high = _pair("uniform", low, high)
    if not (low < high).all():
        raise ArgumentError(f"uniform: low = {low.tolist()} is not below high = {high.tolist()}.")
    return Distribution("uniform", (low, high))


def log_uniform(low, high) -> Distribution:
    """Positive numbers between two bounds whose logarithms are all equally likely.

    Parameters
    ----------
    low, high : float or (n,) array_like
        Positive bounds [as the parameter].

    Returns
    -------
    Distribution

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.sweeps.log_uniform(0.1, 10.0)
    log_uniform(0.1, 10.0)
    """
    low, high = _pair("log_uniform", low, high)
    if not ((low > 0.0) & (low < high)).all():
        raise ArgumentError(f"log_uniform: bounds are {low.tolist()} and {high.tolist()}, expected 0 < low < high.")
    return Distribution("log_uniform", (low, high))


def normal(mean, deviation) -> Distribution:
    """Normally distributed numbers.

    Parameters
    ----------
    mean : float or (n,) array_like
        [as the parameter]
    deviation : float or (n,) array_like
        Standard deviation, positive [as the parameter].

    Returns
    -------
    Distribution

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.sweeps.normal(0.0, 0.1)
    normal(0.0, 0.1)
    """
    mean, deviation = _pair("normal", mean, deviation)
    if not (deviation > 0.0).all():
        raise ArgumentError(f"normal: deviation is {deviation.tolist()}, expected a positive number.")
    return Distribution("normal", (mean, deviation))


DISTRIBUTIONS: dict[str, Callable] = {"uniform": uniform, "log_uniform": log_uniform, "normal": normal}
"""Distributions by name."""


def _pair(what: str, *given) -> tuple[np.ndarray, np.ndarray]:
    found = [array(f"{what}: bounds" if what != "normal" else "normal: mean and deviation", x) for x in given]
    try:
        found = np.broadcast_arrays(*found)
    except ValueError:
        refuse(what, given, "two numbers, or two arrays of the same size")
    if found[0].ndim > 1 or not all(np.isfinite(x).all() for x in found):
        refuse(what, given, "finite numbers or arrays (n,)")
    return tuple(np.array(x) for x in found)


def of_scipy(given) -> bool:
    """Whether this is a frozen distribution of scipy.stats, of single numbers."""
    return callable(getattr(given, "ppf", None))
