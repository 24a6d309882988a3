"""Constraints of joints in a step: dry friction, hard stops, locks and prescribed motions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinetree.joints.time_functions import derivatives

KINDS = ("friction", "stops", "locks", "motions")


@dataclass(frozen=True, slots=True, eq=False)
class JointRows:
    """Constraint rows of single joints, for the independent velocities of a model.

    Attributes
    ----------
    G : (nv, ny) array or None
        Velocities from the independent ones; None if all are.
    offset : (nv,) array
        Of followers' positions, for couplings.
    master : (ny,) array of int
        The entry of v that is the independent velocity.
    position : (ny,) array of int
        The entry of q that belongs to it; -1 where no single one does.
    friction : (ny,) array
        Coulomb friction [N m or N].
    lower, upper : (ny,) array
        Hard stops; infinite where there is none [rad or m].
    restitution : (ny,) array
    locked : (ny,) array of bool
    motion : tuple
        A function of time or a number for prescribed ones, None for others.
    moving : tuple of int
        Those with a motion.
    """

    G: np.ndarray | None
    master: np.ndarray
    position: np.ndarray
    friction: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    restitution: np.ndarray
    locked: np.ndarray
    motion: tuple
    followers: tuple = ()
    moving: tuple = field(init=False)
    given: np.ndarray = field(init=False)
    bounded: np.ndarray = field(init=False)
    concerned: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        moving = tuple(m for m, f in enumerate(self.motion) if f is not None)
        given = self.locked.copy()
        given[list(moving)] = True
        bounded = np.flatnonzero((np.isfinite(self.lower) | np.isfinite(self.upper)) & ~given)
        concerned = given | (self.friction > 0.0)
        concerned[bounded] = True
        for name, value in (("moving", moving), ("given", given), ("bounded", bounded),
                            ("concerned", np.flatnonzero(concerned))):  # fmt: skip
            object.__setattr__(self, name, value)

    def prescribed(self, t: float) -> list[tuple[int, tuple[float, float, float]]]:
        """(independent velocity, (position, velocity, acceleration)) of prescribed motions, at a time [s]."""
        return [(m, tuple(float(x) for x in derivatives(self.motion[m], float(t)))) for m in self.moving]

    def put(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Write the prescribed positions and velocities into a state."""
        if not self.moving:
            return
        for m, (x, rate, _) in self.prescribed(t):
            q[self.position[m]], v[self.master[m]] = x, rate
        for follower, master, k, m, ratio, offset in self.followers:
            if self.motion[m] is not None:
                q[follower], v[k] = ratio * q[master] + offset, ratio * v[self.master[m]]
