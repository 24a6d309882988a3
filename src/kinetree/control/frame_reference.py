"""References of frames: poses as functions of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import array, refuse
from kinetree.integrators.user_code import copied
from kinetree.model.parts import as_transform, pose_of_transform

FORMS = "a pose, (4, 4) or (R, p), a position (3,), or a function of time that returns one, perhaps with V and A"


@dataclass(frozen=True, eq=False)
class FrameReference:
    """The motion that a controller of a frame follows.

    Parameters
    ----------
    source : (4, 4) or (3,) array_like, (R, p), or callable
        A constant pose of the frame in the world [1 and m], homogeneous or as rotation matrix and position; a position
        alone [m], for tasks of positions; or a function of time [s] that returns one of these, or a tuple of it, the
        velocity V (6,) and the acceleration A (6,) [angular; linear] in the world's axes [rad/s, m/s; rad/s^2, m/s^2],
        of which the last or both may be left out, as zero. A is the rate of V.

    Raises
    ------
    ArgumentError
        From calls, too: a function is read when it is called.

    Examples
    --------
    >>> import numpy as np
    >>> moving = FrameReference(lambda t: ((np.eye(3), [0.1 * t, 0.0, 0.5]), [0, 0, 0, 0.1, 0, 0]))
    >>> R_d, p_d, V_d, A_d = moving(2.0)
    >>> p_d.tolist()
    [0.2, 0.0, 0.5]
    """

    source: object

    def __post_init__(self) -> None:
        if isinstance(self.source, type):
            refuse("FrameReference: source", self.source, FORMS)
        if not callable(self.source):
            object.__setattr__(self, "_constant", _read(self.source, ""))

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """R_d (3, 3), NaN for a position alone, p_d (3,), V_d (6,) and A_d (6,) at a time [s]."""
        return _read(self.source(t), f" at t = {t:.9g} s") if callable(self.source) else self._constant

    @property
    def of_position(self) -> bool:
        """Whether a constant source is a position alone."""
        return not callable(self.source) and bool(np.isnan(self._constant[0]).any())


def frame_reference(source) -> FrameReference:
    """A reference as an object; one that is such an object already is kept."""
    return source if isinstance(source, FrameReference) else FrameReference(source)


def _read(given, at: str):
    what, rates = f"FrameReference: the pose{at}", []
    if isinstance(given, tuple) and len(given) <= 3 and _shape(given) != (3,) and _shape(given[0]) != (3, 3):
        given, *rates = given
        rates = [array(f"FrameReference: {name}{at}", x, shape=(6,)) for name, x in zip("VA", rates, strict=False)]
    if _shape(given) == (3,):
        R, p = np.full((3, 3), np.nan), array(what, given)
    elif _shape(given) == (4, 4) or (isinstance(given, tuple) and len(given) == 2 and _shape(given[0]) == (3, 3)):
        R, p = pose_of_transform(as_transform(what, given if isinstance(given, tuple) else array(what, given)))
    else:
        refuse(what, given, FORMS)
    for x in (p, *rates):
        if not np.isfinite(x).all():
            refuse(what, x, "finite numbers")
    return tuple(copied(x) for x in (R, p, *rates, *[np.zeros(6)] * (2 - len(rates))))


def _shape(x):
    """The shape of an array; None if it is none."""
    try:
        return np.shape(x)
    except ValueError:
        return None
