"""Contacts of event-driven simulation: candidate points, limits of joints and their dry friction, as rows of one kind.

Each has three rows (t1, t2, n), those that it does not have are zero: a limit has a normal alone, the friction of a
joint one tangent alone. Normal forces of soft contacts are known at a state, and so is the bound of friction in joints:
these are loads, which bound friction, and no impulse acts there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kinetree.collision.material import yielding_force
from kinetree.contact.accelerations import coefficients_of
from kinetree.contact.kinematics import CONTACT_KINEMATICS
from kinetree.integrators.system import time_argument


class Rows(NamedTuple):
    """The rows at a state, of n contacts.

    Attributes
    ----------
    J : (3*n, nv) array
    bias : (3*n,) array
        Rates of the contact velocities without accelerations [m/s^2].
    gaps : (n,) array
        [m], of limits [rad or m]; zero of friction in joints; of a soft contact positive where it has no force.
    u : (n, 3) array
        Contact velocities [m/s], of joints [rad/s or m/s].
    loads : (n,) array
        Normal forces of soft contacts, and bounds of friction in joints [N or N m]; zero of others.
    """

    J: np.ndarray
    bias: np.ndarray
    gaps: np.ndarray
    u: np.ndarray
    loads: np.ndarray


class Stop(NamedTuple):
    """A limit of a joint: ``sign * (q[position] - limit)`` is its gap."""

    m: int
    velocity: int
    position: int
    limit: float
    sign: float


class ContactRows:
    """Contacts of a model, then limits of joints, then friction in joints.

    Parameters
    ----------
    system : System
    joints : JointRows, optional
        Limits and friction.
    names : sequence of str
        Of the joint of each independent velocity.

    Attributes
    ----------
    labels : tuple of str
    count : int
        Candidate points of the model; the others follow.
    friction, restitution : (n,) arrays
    rigid : (n,) array of bool
        Contacts with impulses and without penetration: rigid ones and limits.
    own : tuple of tuples
        Rows of each that its unknown forces may have: 0 and 1 are the tangents, 2 is the normal.
    stops : tuple of Stop
    joints : JointRows or None
    """

    def __init__(self, system, joints=None, names=()) -> None:
        self._model = model = system.model
        self.joints = joints
        pairs = [pair for pair in model.contacts for _ in range(pair.count)]
        self._pairs, self.count, self._nv = pairs, len(pairs), model.nv
        self._soft = [i for i, pair in enumerate(pairs) if math.isfinite(pair.stiffness)]
        self._kinematics = system.function(CONTACT_KINEMATICS, checks=False) if pairs else None
        self.stops, self._rubbing = ((), []) if joints is None else (_stops(joints), _rubbing(joints))
        ns, nf = len(self.stops), len(self._rubbing)
        sides = {1.0: "lower", -1.0: "upper"}
        self.labels = (
            *model.contact_labels,
            *(f"{sides[stop.sign]} limit of {names[stop.m]}" for stop in self.stops),
            *(f"joint {names[m]}" for m in self._rubbing),
        )
        self.friction = np.concatenate((coefficients_of(model, "friction"), np.zeros(ns), np.ones(nf)))
        e = [joints.restitution[stop.m] for stop in self.stops]
        self.restitution = np.concatenate((coefficients_of(model, "restitution"), e, np.zeros(nf)))
        self.rigid = np.ones(len(self.labels), dtype=bool)
        self.rigid[[*self._soft, *range(self.count + ns, len(self.labels))]] = False
        kinds = zip(self.rigid[: self.count], self.friction, strict=False)
        self.own = tuple((0, 1, 2) if rigid else (0, 1) if rubs else () for rigid, rubs in kinds)
        self.own += ((2,),) * ns + ((0,),) * nf
        self._of_joints = np.zeros((3 * (ns + nf), self._nv))
        for n, stop in enumerate(self.stops):
            self._of_joints[3 * n + 2, stop.velocity] = stop.sign
        for n, m in enumerate(self._rubbing, ns):
            self._of_joints[3 * n, joints.master[m]] = 1.0
        self._loads = np.zeros(len(self.labels))
        self._loads[self.count + ns :] = [joints.friction[m] for m in self._rubbing]

    def __len__(self) -> int:
        return len(self.labels)

    def at(self, t: float, q: np.ndarray, v: np.ndarray) -> Rows:
        """The rows at a state."""
        J, bias, rates, gaps = np.zeros((0, self._nv)), np.zeros(0), np.zeros(0), np.zeros(0)
        if self._kinematics is not None:
            J, bias, rates, gaps = self._kinematics(q, v, *time_argument(self._model, t))
        if len(self._of_joints):
            J = np.concatenate((J, self._of_joints))
            bias = np.concatenate((bias, np.zeros(len(self._of_joints))))
            rates = np.concatenate((rates, self._of_joints @ v))
            distances = [stop.sign * (q[stop.position] - stop.limit) for stop in self.stops]
            gaps = np.concatenate((gaps, distances, np.zeros(len(self._rubbing))))
        u, loads = rates.reshape(-1, 3), self._loads
        if self._soft:
            gaps, loads = gaps.copy(), loads.copy()
            for i in self._soft:
                pair, gap, rate = self._pairs[i], float(gaps[i]), float(u[i, 2])
                loads[i] = _normal_force(pair, gap, rate)
                gaps[i] = max(gap, _pull(pair, gap, rate))
        return Rows(J, bias, gaps, u, loads)

    def by_joint(self, values: np.ndarray) -> np.ndarray:
        """Values (n,) of friction in joints and of limits, summed by independent velocities: (2, ny)."""
        found = np.zeros((2, len(self.joints.master)))
        for stop, x in zip(self.stops, values[self.count :], strict=False):
            found[1, stop.m] += x
        found[0, self._rubbing] = values[self.count + len(self.stops) :]
        return found

    def joint_forces(self, forces: np.ndarray) -> np.ndarray:
        """Forces (n, 3) of friction in joints and of limits on independent velocities: (2, ny) [N m or N]."""
        signs = [stop.sign for stop in self.stops]
        own = forces[self.count :]
        return self.by_joint(np.concatenate((np.zeros(self.count), signs * own[: len(signs), 2], own[len(signs) :, 0])))

    def stop_of(self, i: int) -> Stop | None:
        """The limit that is contact i."""
        n = i - self.count
        return self.stops[n] if 0 <= n < len(self.stops) else None


def _stops(joints) -> tuple[Stop, ...]:
    """The finite limits."""
    return tuple(
        Stop(m, int(joints.master[m]), int(joints.position[m]), float(limit[m]), sign)
        for m in joints.bounded.tolist()
        for limit, sign in ((joints.lower, 1.0), (joints.upper, -1.0))
        if math.isfinite(limit[m])
    )


def _rubbing(joints) -> list[int]:
    """Independent velocities with friction, but for those that are given."""
    return np.flatnonzero((joints.friction > 0.0) & ~joints.given).tolist()


def _normal_force(pair, gap: float, rate: float) -> float:
    damping = pair.dissipation if pair.law == "hunt_crossley" else pair.stiffness * pair.relaxation_time
    return float(yielding_force(pair.law, (pair.stiffness, damping, pair.exponent), gap, rate))


def _pull(pair, gap: float, rate: float) -> float:
    """Positive where the force of the law would pull, else negative."""
    if pair.law == "hunt_crossley":
        return pair.dissipation * rate - 1.0
    return gap + pair.relaxation_time * rate
