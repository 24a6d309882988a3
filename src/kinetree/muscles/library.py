"""All sets of curves, by name."""

from __future__ import annotations

from kinetree.arguments import choice
from kinetree.muscles.curve_set import MuscleCurves
from kinetree.muscles.curves_cubic import cubic
from kinetree.muscles.curves_degroote_fregly import degroote_fregly
from kinetree.muscles.curves_millard import millard
from kinetree.muscles.curves_thelen import thelen
from kinetree.once import once

_MAKERS = {"millard": millard, "degroote_fregly": degroote_fregly, "thelen": thelen, "cubic": cubic}

CURVES = tuple(_MAKERS)
"""Names of the sets of curves."""


def curves(name: str) -> MuscleCurves:
    """The four curves of a muscle model.

    Parameters
    ----------
    name : {"millard", "degroote_fregly", "thelen", "cubic"}

    Returns
    -------
    MuscleCurves

    Raises
    ------
    ArgumentError
        No set has this name.

    Notes
    -----
    Beyond their ends the curves of "millard" and "cubic" go on straight with the slope there: active force and force
    over velocity constant, passive and tendon force linear. Those of "degroote_fregly" and "thelen" are as published:
    exponentials that go on, and a hyperbola that is zero below -1.

    *Source*: "millard": Millard, Uchida, Seth and Delp (2013), with the defaults of OpenSim 4.6's
    Millard2012EquilibriumMuscle, exact to rounding; "degroote_fregly": De Groote, Kinney, Rao and Fregly (2016);
    "thelen": Thelen (2003); "cubic": Sueda's notes, eqs. 1.40 to 1.46, with Millard's tendon (eq. 1.41 has its right
    end at 1.7, as the printed coefficients do).

    Examples
    --------
    >>> import kinetree as kt
    >>> millard = kt.muscles.curves("millard")
    >>> float(millard.active_force_length(1.0)), round(float(millard.tendon_force_length(1.049)), 12)
    (1.0, 1.0)
    """
    return _made(choice("curves: name", name, CURVES))


@once(most=16)
def _made(name: str) -> MuscleCurves:
    return _MAKERS[name]()
