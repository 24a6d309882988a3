"""Locked joints in any fixed step."""

from __future__ import annotations

from kinetree.integrators.user_code import Around


class LockedStep(Around):
    """A step of a model with locks: locked joints keep their positions to the last bit, also after events.

    Parameters
    ----------
    inner : object
        The step of the model.
    position, velocity : sequence of int
        Entries of q and v of the locked joints.
    """

    def __init__(self, inner, position, velocity) -> None:
        super().__init__(inner)
        self._position, self._velocity = position, velocity

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        if v[self._velocity].any():
            v = v.copy()
            v[self._velocity] = 0.0
        q_next, v_next = self._inner.step(t, h, q, v, tau, f_ext)
        q_next[self._position], v_next[self._velocity] = q[self._position], 0.0
        return q_next, v_next
