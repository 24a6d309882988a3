"""Calls of functions that the user wrote: they get arrays that cannot be written to, and their results are copied.

A controller that computes in place would otherwise change the state of the simulation, and one that returns its own
buffer and fills it again later would change the record.
"""

from __future__ import annotations

import numpy as np

from kinetree.errors import KinetreeError, SimulationError

_REFUSED = "read-only"  # in NumPy's messages for an array that cannot be written to


def lock(*arrays: np.ndarray) -> None:
    """Make arrays read-only in place: their content is part of a state from here on.

    Parameters
    ----------
    *arrays : numpy.ndarray
        Arrays that are not written any more.
    """
    for x in arrays:
        x.setflags(False)  # by position: a third of the time that the keyword takes


def copied(value) -> np.ndarray:
    """The numbers of a result as they are now, in a read-only array of its own."""
    x = np.array(value, dtype=float)
    x.setflags(False)
    return x


def copied_state(result, *like: np.ndarray) -> tuple[np.ndarray, ...] | None:
    """The arrays of a result, copied; None if they are not as many as these, and of their shapes."""
    try:
        arrays = tuple(map(copied, result))
    except (TypeError, ValueError):
        return None
    return arrays if [x.shape for x in arrays] == [x.shape for x in like] else None


def explain(error: Exception, where: str) -> None:
    """Add to an error of the user's own code the place of the call, and advice on read-only arrays.

    Parameters
    ----------
    error : Exception
        Errors of kinetree are left as they are: they already contain it.
    where : str
        "controller 'hold' at t = 0.1 s".
    """
    if isinstance(error, KinetreeError):
        return
    error.add_note(f"kinetree: raised by {where}")
    if isinstance(error, ValueError) and _REFUSED in str(error):
        error.add_note("kinetree: the arrays passed by a simulation are its state and read-only; compute on a "
                       "copy: q = q.copy()")  # fmt: skip


class Around:
    """A step around another one, whose attributes are attributes here, too.

    Parameters
    ----------
    inner : object
    """

    def __init__(self, inner) -> None:
        self._inner = inner

    def __getattr__(self, name: str):
        if name == "_inner":  # of an object that is being made from a pickle
            raise AttributeError(name)
        return getattr(self._inner, name)


class ClosedStep(Around):
    """A step of any method, and the projection of its end on the loops of the model.

    Parameters
    ----------
    stepper : object
    system : System
    """

    def __init__(self, stepper, system) -> None:
        super().__init__(stepper)
        self._closed = system.closed

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        return self._closed(*self._inner.step(t, h, q, v, tau, f_ext), t + h)


class UserStep(Around):
    """A fixed step that the user wrote, or wrapped: it gets read-only arrays, and its results are copied.

    Parameters
    ----------
    inner : object
        With ``step(t, h, q, v, tau, f_ext) -> (q, v)``.
    """

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        lock(q, v)
        where = f"integrator {getattr(self._inner, 'name', type(self._inner).__name__)!r} at t = {t:.9g} s"
        try:
            result = self._inner.step(t, h, q, v, tau, f_ext)
        except Exception as error:
            explain(error, where)
            raise
        state = copied_state(result, q, v)
        if state is None:
            raise SimulationError(
                f"simulate: {where} returned {result!r}, expected (q, v) of shapes {q.shape} and {v.shape}.",
                time=t,
                found=result,
            )
        return state
