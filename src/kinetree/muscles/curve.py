"""The contract of a curve: a function of one scalar with its exact slope and, where it stores energy, its integral."""

from __future__ import annotations

from kinetree.spatial.scalar import detach, with_slopes


class Curve:
    """A normalized curve y(x) of a muscle: frozen data, a function over any scalar.

    Notes
    -----
    ``curve(x)`` gives y, ``slope(x)`` dy/dx, ``integral(x)`` the integral from the point where force begins. All have
    exact derivatives, up to the second, wherever they are differentiated. A curve of your own is a frozen dataclass
    derived from this, whose functions run over floats, arrays and expressions, with ``kinetree.spatial.scalar``.

    See Also
    --------
    kinetree.muscles.MuscleCurves

    Examples
    --------
    >>> import kinetree as kt
    >>> passive = kt.muscles.curves("cubic").passive_force_length
    >>> isinstance(passive, kt.muscles.Curve), round(passive(1.7), 9), round(passive.slope(1.7), 6)
    (True, 1.0, 2.857143)
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
    """Force over velocity: increasing, so that it is solved for the velocity together with damping.

    Notes
    -----
    Compliant tendons need `balance`, rigid ones do not.

    Examples
    --------
    >>> import kinetree as kt
    >>> force_velocity = kt.muscles.curves("millard").force_velocity
    >>> v = force_velocity.balance(0.5, 0.1, 0.3)
    >>> round(0.5 * force_velocity(v) + 0.1 * v, 12)
    0.3
    """

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
