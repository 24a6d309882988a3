"""The contract of a curve: a function of one scalar with its exact slope and, where it stores energy, its integral."""

from __future__ import annotations

from kinetree.spatial.scalar import detach, with_slopes


class Curve:
    """A normalized curve y(x) of a muscle: frozen data, a function over any scalar.

    Notes
    -----
    ``curve(x)`` gives y, ``slope(x)`` dy/dx, ``integral(x)`` the integral from the point where force begins. All have
    exact derivatives, up to the second, wherever they are differentiated.
    """

    __slots__ = ()

    def __call__(self, x):
        """y(x)."""
        raise NotImplementedError

    def slope(self, x):
        """dy/dx."""
        raise NotImplementedError

    def integral(self, x):
        """The integral of y up to x: stored energy of a passive curve."""
        raise NotImplementedError


class VelocityCurve(Curve):
    """Force over velocity: increasing, so that it is solved for the velocity together with damping."""

    __slots__ = ()

    def balance(self, gain, damping, force):
        """The v with ``gain f(v) + damping v = force`` [1].

        Parameters
        ----------
        gain, damping : scalar
            Not negative, and not zero together.
        force : scalar
            Within the range of ``gain f`` if damping is zero.
        """
        raise NotImplementedError


def with_balance_slopes(v, f, slope, slope_at, gain, damping, force):
    """The solution v of `VelocityCurve.balance` with its derivatives; ``f`` and ``slope`` are those of the curve at v.

    ``slope_at(dv)`` gives the slope at v + dv, differentiable.
    """
    plain = [detach(x) for x in (gain, damping, force)]

    def slopes(gain, damping, force):
        excess = (force - plain[2]) - f * (gain - plain[0]) - v * (damping - plain[1])
        dv = excess / (plain[0] * slope + plain[1])
        total = gain * slope_at(dv) + damping
        return -(f + slope * dv) / total, -(v + dv) / total, 1.0 / total

    return with_slopes(v, slopes, gain, damping, force)
