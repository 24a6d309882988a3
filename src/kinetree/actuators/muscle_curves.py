"""MuJoCo's muscle: force over normalized length and velocity, by pieces of parabolas.

Parameters: the range of operating lengths, in units of the optimal length (2 numbers), peak force [N], scale, lmin,
lmax, vmax, fpmax, fvmax. A muscle of negative peak force is scaled: it has the scale over `acc0`, the
acceleration that a unit of force gives.

Source: MuJoCo, "Modeling: Muscles".
"""

from __future__ import annotations

from kinetree.actuators.dynamics import SMALLEST
from kinetree.spatial.scalar import maximum, where

FORCE = 2  # the number of the peak force among the parameters


def active_force(law, parameters, scaled: bool, length, velocity):
    """Minus the active force at full activation [N]."""
    lmin, lmax, vmax, fvmax = (parameters[k] for k in (4, 5, 6, 8))
    L, L0 = _normalized(law, parameters, length)
    V = velocity / _divisor(L0 * vmax)
    return -peak_force(law, parameters, scaled) * of_length(L, lmin, lmax) * of_velocity(V, fvmax)


def passive_force(law, parameters, scaled: bool, length):
    """Minus the passive force [N]: half a parabola from the optimal length on, then a line."""
    lmax, fpmax = parameters[5], parameters[7]
    L, _ = _normalized(law, parameters, length)
    b = 0.5 * (1.0 + lmax)
    x = (L - 1.0) / _divisor(b - 1.0)
    stretched = where(L <= b, 0.5 * x * x, 0.5 + (L - b) / _divisor(b - 1.0))
    return -peak_force(law, parameters, scaled) * fpmax * where(L <= 1.0, 0.0, stretched)


def of_length(L, lmin, lmax):
    """Active force over length: 1 at 1, zero at lmin, lmax and outside, parabolas that meet halfway."""
    a, b = 0.5 * (lmin + 1.0), 0.5 * (1.0 + lmax)
    rise, left = (L - lmin) / _divisor(a - lmin), (1.0 - L) / _divisor(1.0 - a)
    right, fall = (L - 1.0) / _divisor(b - 1.0), (lmax - L) / _divisor(lmax - b)
    upper = where(L <= b, 1.0 - 0.5 * right * right, where(L > lmax, 0.0, 0.5 * fall * fall))
    lower = where(L <= a, 0.5 * rise * rise, 1.0 - 0.5 * left * left)
    return where(L < lmin, 0.0, where(L <= 1.0, lower, upper))


def of_velocity(V, fvmax):
    """Active force over velocity: 0 at -1, where the muscle shortens, 1 at rest, fvmax from fvmax - 1 on."""
    y = fvmax - 1.0
    lengthening = fvmax - (y - V) * (y - V) / _divisor(y)
    return where(V <= -1.0, 0.0, where(V <= 0.0, (V + 1.0) * (V + 1.0), where(V > y, fvmax, lengthening)))


def peak_force(law, parameters, scaled: bool):
    """The peak force [N]: given, or scaled by `acc0`."""
    return parameters[3] / _divisor(law.acc0) if scaled else parameters[FORCE]


def _normalized(law, parameters, length):
    """The length in units of the optimal one, and that."""
    shortest, longest = law.length_range
    L0 = (longest - shortest) / _divisor(parameters[1] - parameters[0])
    return parameters[0] + (length - shortest) / _divisor(L0), L0


def _divisor(x):
    return maximum(x, SMALLEST)
