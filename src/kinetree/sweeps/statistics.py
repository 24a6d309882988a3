"""Statistics of the results of a sweep, chunk by chunk, so that a store may be larger than the memory."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kinetree.sweeps.chunk import FINISHED

MOST = 64  # entries of a value, beyond which a variable has no statistics: paths


class Statistics(NamedTuple):
    """Of one number over the finished samples.

    Attributes
    ----------
    mean, deviation : float
        Mean and standard deviation.
    least, greatest : float
    """

    mean: float
    deviation: float
    least: float
    greatest: float


def statistics(store) -> dict[str, Statistics]:
    """Statistics of the measures in a store by the names of their numbers: "energy_end", "q_end.elbow".

    Parameters
    ----------
    store : Store
    """
    skipped = {name.replace("/", ".") for name in store.about["parameters"]}
    chosen = [v for v in store.variables if v.name not in skipped and math.prod(v.shape) <= MOST and len(v.shape) < 2]
    sums = {v.name: _Sums(math.prod(v.shape)) for v in chosen}
    for k in store.finished():
        fine = store.status_of(k) == FINISHED
        for v in chosen:
            sums[v.name].add(store.values_of(v, k)[fine].reshape(-1, math.prod(v.shape)).astype(float))
    found = {}
    for v in chosen:
        labels = [f"{v.name}.{x}" for x in v.labels or range(v.shape[0])] if v.shape else [v.name]
        found |= dict(zip(labels, sums[v.name].statistics(), strict=True))
    return found


class _Sums:
    """Sums of rows that come in parts: means and squares of deviations are joined as in Chan, Golub, LeVeque (1979)."""

    def __init__(self, size: int) -> None:
        self._n, self._mean, self._squares = 0, np.zeros(size), np.zeros(size)
        self._least, self._greatest = np.full(size, np.inf), np.full(size, -np.inf)

    def add(self, x: np.ndarray) -> None:
        n = len(x)
        if not n:
            return
        mean = x.mean(axis=0)
        change, total = mean - self._mean, self._n + n
        self._squares = self._squares + ((x - mean) ** 2).sum(axis=0) + change**2 * (self._n * n / total)
        self._mean, self._n = self._mean + change * (n / total), total
        self._least, self._greatest = np.minimum(self._least, x.min(axis=0)), np.maximum(self._greatest, x.max(axis=0))

    def statistics(self) -> list[Statistics]:
        if not self._n:
            return [Statistics(*[math.nan] * 4)] * len(self._mean)
        parts = self._mean, np.sqrt(self._squares / self._n), self._least, self._greatest
        return [Statistics(*row) for row in np.column_stack(parts).tolist()]
