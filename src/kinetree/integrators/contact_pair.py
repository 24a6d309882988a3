"""An embedded Runge-Kutta pair whose accelerations keep a set of contacts, with sums of impulses and work."""

from __future__ import annotations

import numpy as np

from kinetree.integrators.contact_dynamics import ContactDynamics, Here, Modes, Slip
from kinetree.integrators.embedded import PAIRS, EmbeddedRungeKutta


class ContactPair(EmbeddedRungeKutta):
    """Steps between the events of contacts.

    Parameters
    ----------
    system : System
    dynamics : ContactDynamics
    options : EventDriven
        Method and tolerances.

    Attributes
    ----------
    modes : Modes
        The contacts that the accelerations keep.
    here : Here
        The state where the steps are.
    forces : (n, 3) array
        Contact forces there [N].
    sums : (5*n,) or (5*n + 1,) array
        Over the last step: contact impulses [N s], work of the normal and the tangential forces of each [J], and that
        of joints that depend on time, if there are some.
    """

    def __init__(self, system, dynamics: ContactDynamics, options) -> None:
        super().__init__(system, PAIRS[options.method], None, None, options.rtol, options.atol, options.longest)
        self.trials, self.dynamics, self.modes = dynamics.trials, dynamics, Modes()
        self._h, self._error, self._nv = np.inf, 1.0, system.model.nv
        self._keeps = self._keeps and not system.model.has_given_motions
        self._driven = system.model.time_dependent
        self._seen = np.zeros((len(self._K), 5 * len(dynamics.rows) + self._driven))
        self.sums = np.zeros(self._seen.shape[1])

    def place(self, here: Here, modes: Modes) -> None:
        """Go on from a state with these modes."""
        self.modes, self.t, self.q, self.v = modes, here.t, here.q, here.w
        self.a, forces = self.dynamics.held(here, modes)
        if self._h == np.inf:
            self._h = self._first_step() if np.isfinite(self.a).all() else 0.0
        self.here, self.forces, self._rate = here, forces, self.a

    @property
    def pace(self) -> tuple[float, float]:
        """The next step [s] and the last error, for snapshots."""
        return self._h, self._error

    @pace.setter
    def pace(self, pace: tuple[float, float]) -> None:
        self._h, self._error = pace

    def step(self, end: float) -> bool:
        """One accepted step, at most to ``end`` [s]; False if the steps have become as short as rounding."""
        self._before = self.here, self.a, self.forces, self._h, self._error
        self._seen[0] = self._sample()
        if not super().step(end):
            return False
        b, h = self._numbers.b, self._start[1]
        self.sums = h * (b @ self._seen[: len(b)])
        self._motion = None
        return True

    def back(self) -> None:
        """To the beginning of the last step."""
        self.here, self.a, self.forces, self._h, self._error = self._before
        self.t, self.q, self.v, self._rate = self.here.t, self.here.q, self.here.w, self.a

    def ahead(self, h: float) -> Here:
        """The state after a time so short that the accelerations stay as they are."""
        q = self._integrate(self.q, h * (self.v + 0.5 * h * self.a)[: self._nv])
        return self.dynamics.at(self.t + h, q, self.v + h * self.a)

    def motion(self):
        """The continuous solution over the last step."""
        if self._motion is None:
            kept = self.here, self.forces, self._rate
            self._motion = self.interpolant()
            self.here, self.forces, self._rate = kept
        return self._motion

    def keep(self) -> None:
        """Remove the drift off the surfaces of active contacts, and off the equations of their velocities."""
        if not self.modes.active:
            return
        shift, v = self.dynamics.kept(self.here, self.modes)
        q, w = self._integrate(self.q, shift), self.v.copy()
        w[: self._nv] = v
        self.place(self.dynamics.at(self.t, q, w), self._turned())

    def _turned(self) -> Modes:
        """The modes with directions of slip as they are now."""
        u, active = self.here.u[:, :2], self.modes.active.items()
        return Modes(self.modes.current, {i: x.turned(u[i]) if isinstance(x, Slip) else x for i, x in active})

    def _acceleration(self, t, q, v) -> np.ndarray:
        self.evaluations += 1
        here = self.dynamics.at(t, q, v)
        self._rate, self.forces = self.dynamics.held(here, self.modes)
        self.here = here
        return self._rate

    def _stage(self, i: int, t, h, q, v) -> None:
        super()._stage(i, t, h, q, v)
        self._seen[i] = self._sample()

    def _sums(self, h, rates, sizes) -> tuple[np.ndarray, np.ndarray]:
        """Beside joints that depend on time, whose motion is no unknown, impulses and work keep the tolerances, too."""
        if not self._driven:
            return rates, sizes
        seen = h * np.abs(self._seen).max(axis=0)
        return np.hstack((rates, self._seen)), np.concatenate((sizes, np.full(len(seen), seen.max())))

    def _sample(self) -> np.ndarray:
        """Contact forces, the powers of their normal and tangential parts, and that of joints that depend on time."""
        powers = parts_of(self.forces * self.here.u).ravel()
        given = [self.dynamics.driven(self.here, self._rate, self.forces).sum()] if self._driven else []
        return np.concatenate((self.forces.ravel(), powers, given))


def parts_of(products: np.ndarray) -> np.ndarray:
    """Products of forces and velocities (n, 3), of the normal and of the tangents (n, 2)."""
    return np.column_stack((products[:, 2], products[:, 0] + products[:, 1]))
