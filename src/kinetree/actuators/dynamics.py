"""Activation dynamics: the rate of an activation under a control."""

from __future__ import annotations

from kinetree.spatial.scalar import exp, maximum, where

SMALLEST = 1e-15  # MuJoCo's mjMINVAL, a lower bound of divisors


def integrator(activation, control, parameters):
    """The control is the rate."""
    return control


def lag(activation, control, parameters):
    """A lag of first order; the parameter is its time constant [s]."""
    return (control - activation) / maximum(parameters[0], SMALLEST)


def muscle(activation, control, parameters):
    """Activation of a muscle; time constants [s] of activation and deactivation, and width of a smooth change.

    Notes
    -----
    Source: MuJoCo, "Muscles"; Millard et al., Flexing computational muscle, J. Biomech. Eng. 135 (2013).
    """
    rising, falling, width = parameters
    factor = 0.5 + 1.5 * clipped(activation, (0.0, 1.0))
    rising, falling = rising * factor, falling / factor
    difference = clipped(control, (0.0, 1.0)) - activation
    if isinstance(width, float) and width < SMALLEST:
        constant = where(difference > 0.0, rising, falling)
    else:
        s = clipped(difference / width + 0.5, (0.0, 1.0))
        constant = falling + (rising - falling) * (s * s * s * (3.0 * s * (2.0 * s - 5.0) + 10.0))
    return difference / maximum(constant, SMALLEST)


def clipped(x, limits):
    """x within limits, which may be None; NaN stays NaN."""
    return x if limits is None else where(x < limits[0], limits[0], where(x > limits[1], limits[1], x))


DYNAMICS = {"integrator": (integrator, 0), "filter": (lag, 1), "filterexact": (lag, 1), "muscle": (muscle, 3)}
"""By MuJoCo's names: the rate of the activation, and the number of parameters. "none" has no activation."""


def after(kind: str, activation, rate, parameters, dt):
    """The activation after a step of MuJoCo of dt [s]: exact for "filterexact", else by Euler's method."""
    if kind != "filterexact":
        return activation + rate * dt
    constant = maximum(parameters[0], SMALLEST)
    return activation + rate * constant * (1.0 - exp(-dt / constant))
