"""Dynamics of activation: a lag of first order behind the excitation, faster when it rises."""

from __future__ import annotations

from kinetree.arguments import a_scalar, a_truth_value, checked, number
from kinetree.spatial.scalar import tanh, where

SHARPNESS = 0.1
"""Of the smooth switch between rising and falling activation, as published."""


def _a_time(what: str, value: object) -> None:
    """A positive time, or one of each state."""
    a_scalar(what, value)
    if isinstance(value, (int, float)):
        number(what, value, "a positive time in s", above=0.0)


@checked(
    **dict.fromkeys(("activation", "excitation", "minimum"), a_scalar), rise=_a_time, fall=_a_time, smooth=a_truth_value
)
def activation_rate(activation, excitation, rise, fall, minimum, smooth: bool = False):
    """Rate of the activation a towards the excitation u [1/s].

    Parameters
    ----------
    activation, excitation : scalar
        The excitation counts within ``minimum`` and 1.
    rise, fall : scalar
        Time constants [s].
    minimum : scalar
        Least excitation.
    smooth : bool
        Whether the two time constants are blended by ``tanh(0.1 (u - a)) / 2`` instead of switched at u = a; that is
        nearly the mean of both rates.

    Returns
    -------
    scalar

    Raises
    ------
    ArgumentError
        An argument is no scalar.

    Notes
    -----
    ``(u - a) / tau`` with ``tau = rise (0.5 + 1.5 a)`` where u > a, ``fall / (0.5 + 1.5 a)`` elsewhere (Thelen 2003;
    Millard et al. 2013); the blend is that of De Groote et al. (2016), and
    of OpenSim.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.muscles.activation_rate(0.0, 1.0, 0.01, 0.04, 0.01)
    200.0
    """
    u = where(excitation < minimum, minimum, excitation)
    u = where(u > 1.0, 1.0, u)
    growth, gap = 0.5 + 1.5 * activation, u - activation
    up, down = 1.0 / (rise * growth), growth / fall
    if not smooth:
        return gap * where(gap > 0.0, up, down)
    f = 0.5 * tanh(SHARPNESS * gap)
    return gap * (up * (0.5 + f) + down * (0.5 - f))
