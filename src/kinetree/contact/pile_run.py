"""Recorded motion of a pile, and the contacts of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class PileContacts(NamedTuple):
    """The contacts of the last step of a pile.

    Attributes
    ----------
    bodies : (m, 2) array of int
        First and second body; plane k is -1 - k.
    gaps : (m,) array
        At the beginning of the step [m].
    positions : (m, 3) array
        World coordinates [m].
    normals : (m, 3) array
        From the first to the second body [1].
    impulses : (m, 3) array
        On the second body over the step, world axes [N s].

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.model import Geometry
    >>> pile = kt.contact.Pile(Geometry("sphere", (0.1,)), [[0.0, 0.0, 0.1], [0.0, 0.0, 0.3]], mass=1.0)
    >>> run = pile.advance(0.02, dt=2e-3)
    >>> pile.contacts.bodies.tolist()  # the lower ball on the floor, the upper one on it
    [[0, 1], [-1, 0]]
    >>> (pile.contacts.impulses[:, 2] / 2e-3).round(3).tolist()
    [9.81, 19.62]
    """

    bodies: np.ndarray
    gaps: np.ndarray
    positions: np.ndarray
    normals: np.ndarray
    impulses: np.ndarray


@dataclass(frozen=True, eq=False)
class PileRun:
    """Recorded motion of a pile.

    Attributes
    ----------
    times : (m,) array
        [s].
    positions : (m, n, 3) array
        Centers of mass, world coordinates [m].
    orientations : (m, n, 4) array
        Unit quaternions (w, x, y, z) of the bodies in the world [1].
    velocities, angular_velocities : (m, n, 3) array
        World axes [m/s], [rad/s].
    kinetic_energy, potential_energy : (m,) array
        Of all bodies [J].

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.model import Geometry
    >>> pile = kt.contact.Pile(Geometry("sphere", (0.1,)), [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]], mass=1.0)
    >>> run = pile.advance(0.1, dt=2e-3, every=10)
    >>> run.times.round(3).tolist(), run.positions.shape
    ([0.0, 0.02, 0.04, 0.06, 0.08, 0.1], (6, 2, 3))
    >>> bool(abs(run.energy - run.energy[0]).max() < 1e-6)  # in flight
    True
    """

    times: np.ndarray
    positions: np.ndarray
    orientations: np.ndarray
    velocities: np.ndarray
    angular_velocities: np.ndarray
    kinetic_energy: np.ndarray
    potential_energy: np.ndarray

    @property
    def energy(self) -> np.ndarray:
        """(m,): kinetic and potential energy [J]."""
        return self.kinetic_energy + self.potential_energy
