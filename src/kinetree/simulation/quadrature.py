"""Sums over samples: the integral of a power given at the samples only, and energy that enters at instants."""

from __future__ import annotations

import numpy as np

EVEN = 1e-6  # of a distance: samples that lie apart like that are evenly spaced


def accumulated(time: np.ndarray, power: np.ndarray) -> np.ndarray:
    """The integral of ``power`` from the first sample to each.

    Parameters
    ----------
    time : (T,) array
        [s], increasing.
    power : (T, ...) array

    Returns
    -------
    (T, ...) array

    Notes
    -----
    Source: the cubic through the four samples about each interval, ``h (-p_-1 + 13 p_0 + 13 p_1 - p_2) / 24``, where
    they are evenly spaced; the trapezoidal rule elsewhere. Where the power is discontinuous, the corrections on both
    sides cancel.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0.0, 1.0, 11)
    >>> bool(abs(accumulated(t, 4.0 * t**3)[-1] - 1.0) < 1e-12)
    True
    """
    total = np.zeros(power.shape)
    if len(time) < 2:
        return total
    h = np.diff(time).reshape(-1, *([1] * (power.ndim - 1)))
    trapezoid = 0.5 * h * (power[1:] + power[:-1])
    correction = np.zeros_like(trapezoid)
    if len(time) >= 4:
        p0, p1, p2, p3 = power[:-3], power[1:-2], power[2:-1], power[3:]
        correction[1:-1] = h[1:-1] * (p1 + p2 - p0 - p3) / 24.0
        correction[0] = h[0] * (-3.0 * p0[0] + 7.0 * p1[0] - 5.0 * p2[0] + p3[0]) / 24.0
        correction[-1] = h[-1] * (p0[-1] - 5.0 * p1[-1] + 7.0 * p2[-1] - 3.0 * p3[-1]) / 24.0
        even = np.abs(np.diff(h, axis=0)) <= EVEN * h[1:]
        four = even[:-1] & even[1:]
        good = np.concatenate((four[:1], four, four[-1:]))
        correction = np.where(good, correction, 0.0)
    np.cumsum(trapezoid + correction, axis=0, out=total[1:])
    return total


def entered(time: np.ndarray, records, tolerance: float = 0.0) -> np.ndarray:
    """Energy that entered at instants, until each sample.

    Parameters
    ----------
    time : (T,) array
        [s]
    records : sequence of tuple
        Times [s] and energies [J], numbers or arrays of one shape.
    tolerance : float
        How much later than a sample an instant may be to belong to it [s].

    Returns
    -------
    (T, ...) array
    """
    instants, energies = (np.array(column) for column in zip(*records, strict=True))
    gains = np.zeros((len(time) + 1, *energies.shape[1:]))
    np.add.at(gains, np.searchsorted(time, instants - tolerance), energies)
    return np.cumsum(gains, axis=0)[:-1]


def total(work: np.ndarray) -> np.ndarray:
    """A power or work at all times, summed over the joints where it is given for each: (T,) or (T, n) to (T,)."""
    return work if work.ndim == 1 else work.sum(axis=1)
