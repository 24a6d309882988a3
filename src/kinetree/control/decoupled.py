"""Control of two arms that hold a jointed object: its motion and the force in its joint, decoupled.

With the symbols of `kinetree.control.two_arms`, the torques ``tau = tau_p + A^T tau_1 + D Sigma tau_2`` of

    tau_p = c - D (Pi A' v + Sigma B' v)

make ``nu' = tau_2`` and the force in the ball joint ``f = tau_1`` (Unseren 1991, eq. 42-48).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetree.arguments import a_callable, a_positive_number, array, instance, refuse
from kinetree.control.two_arms import TwoArms
from kinetree.liegroup.so3 import log_so3
from kinetree.spatial import rotation_from_matrix


class LoadPosition(NamedTuple):
    """The position of the object, in the order of the pseudovelocities.

    Attributes
    ----------
    R_2 : (3, 3) array
        Orientation of the second body's frame at the ball in the world [1]; None where it is no pseudovelocity.
    p : (3,) array
        Center of mass of the first body, or the ball joint [m].
    R_1 : (3, 3) array
        Orientation of the first body's frame [1].
    joints : (n,) array
        Positions of the joints among the pseudovelocities [rad or m].

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> here = kt.control.LoadPosition(np.eye(3), np.array([0.5, 0.0, 0.4]), np.eye(3), np.zeros(0))
    >>> there = here._replace(p=here.p + [0.0, 0.0, 0.1])  # a target 10 cm higher
    >>> kt.control.load_difference(here, there).round(12).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0]
    """

    R_2: np.ndarray | None
    p: np.ndarray | None
    R_1: np.ndarray | None
    joints: np.ndarray


def load_position(arms: TwoArms, q) -> LoadPosition:
    """The position of the object and of the joints that pseudovelocities describe.

    Parameters
    ----------
    arms : TwoArms
    q : (nv,) array
        [rad]

    Returns
    -------
    LoadPosition
    """
    instance("load_position: arms", arms, TwoArms, "a TwoArms")
    q = array("load_position: q", q, shape=(arms.model.nq,))
    joints = q[arms.coordinates]
    if arms.pseudovelocities == "joints":
        return LoadPosition(None, None, None, joints)
    poses = arms.poses(q)
    first, second = poses[arms.center], poses[arms.balls[1]]
    return LoadPosition(second.R_WF, first.p_WF, first.R_WF, joints)


def load_difference(position: LoadPosition, target: LoadPosition) -> np.ndarray:
    """The step from a position of the object to another.

    Parameters
    ----------
    position, target : LoadPosition

    Returns
    -------
    (nv - 3,) array
        Rotation vectors in world axes, a vector, and differences of joints [rad, m]; its rate for small steps is the
        difference of the pseudovelocities.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> here = kt.control.LoadPosition(np.eye(3), np.zeros(3), np.eye(3), np.zeros(0))
    >>> turned = kt.spatial.rotations.rz(0.2).T.matrix.rows
    >>> there = here._replace(R_1=np.array(turned), p=np.array([0.0, 0.0, 0.1]))
    >>> kt.control.load_difference(here, there).round(12).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.2]
    """
    for what, given in (("position", position), ("target", target)):
        instance(f"load_difference: {what}", given, LoadPosition, "a LoadPosition")
    joints = target.joints - position.joints
    if position.p is None:
        return joints
    pairs = (position.R_2, target.R_2), (position.R_1, target.R_1)
    turns = [np.array([*log_so3(rotation_from_matrix(before @ after.T))]) for before, after in pairs]
    return np.concatenate((turns[0], target.p - position.p, turns[1], joints))


@dataclass(frozen=True, eq=False)
class LoadTracking:
    """Accelerations of the pseudovelocities that bring the object to a motion: ``nu_d' + kd (nu_d - nu) + kp e``.

    Parameters
    ----------
    arms : TwoArms
    motion : callable
        ``motion(t)`` returns a `LoadPosition`, ``nu_d`` and ``nu_d'`` at the time t [s].
    kp, kd : float
        [1/s^2], [1/s]: positive.
    """

    arms: TwoArms
    motion: Callable
    kp: float = 100.0
    kd: float = 20.0

    def __post_init__(self) -> None:
        instance("LoadTracking: arms", self.arms, TwoArms, "a TwoArms")
        a_callable("LoadTracking: motion", self.motion)
        for what in ("kp", "kd"):
            a_positive_number(f"LoadTracking: {what}", getattr(self, what))

    def __call__(self, t: float, q, v) -> np.ndarray:
        """``tau_2`` at a time and state: (nv - 3,) array."""
        target, nu_d, nu_rate = self.motion(t)
        e = load_difference(load_position(self.arms, q), target)
        return nu_rate + self.kd * (nu_d - self.arms.pseudovelocity(q, v)) + self.kp * e


@dataclass(frozen=True, eq=False)
class DecoupledControl:
    """Torques of both arms that control the motion of the object and the force in its joint, each without the other.

    Parameters
    ----------
    arms : TwoArms
        The controller's own model of them.
    servo : callable
        ``servo(t, q, v)`` returns the accelerations of the pseudovelocities ``tau_2``, such as `LoadTracking` gives.
    force : callable or (3,) array_like
        ``force(t)`` returns the force ``tau_1`` that the first body is to exert on the second, world axes [N].

    Notes
    -----
    Source: Unseren (1991), eq. 42 (primary controller), 46 (secondary controller). Identity: where ``arms`` is the
    robot, ``nu' = tau_2`` and ``f = tau_1`` (eq. 47-48). Where it is not, each depends on both by the order of the
    error of the masses.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.surgery.lock(kt.load("arm7"), ["left_finger_slide", "right_finger_slide"])
    >>> part = kt.control.Held("tool", 1.0, (0, 0, 0.1), (0, 0, 0.2), (0.01, 0.01, 0.001))
    >>> both = kt.control.TwoArms.hold(arm, arm, part, part, placement=((1.0, 0, 0), (0, 0, np.pi)))
    >>> q, v = np.resize([0.3, 0.6, 0.2, 1.2, 0.4, 0.7, 0.1], 14), np.zeros(14)
    >>> arms = kt.control.TwoArms(both, q=q)
    >>> controller = kt.control.DecoupledControl(arms, servo=lambda t, q, v: np.zeros(11), force=(0.0, 0.0, 5.0))
    >>> arms.contact_force(q, v, controller(0.0, q, v)).round(9) + 0.0
    array([0., 0., 5.])
    """

    arms: TwoArms
    servo: Callable
    force: object = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        instance("DecoupledControl: arms", self.arms, TwoArms, "a TwoArms")
        a_callable("DecoupledControl: servo", self.servo)
        if not callable(self.force):
            array("DecoupledControl: force", self.force, "a function of time, or an array", shape=(3,))
        elif isinstance(self.force, type):
            refuse("DecoupledControl: force", self.force, "a function of time, or an array")

    def __call__(self, t: float, q, v) -> np.ndarray:
        """Joint torques at a time and state: (nv,) array [N m]."""
        x = self.arms.terms(q, v)
        primary = x.c - x.D @ (x.Pi @ x.A_rate + x.Sigma @ x.B_rate)
        force = self.force(t) if callable(self.force) else self.force
        return primary + x.A.T @ np.asarray(force, dtype=float) + x.D @ (x.Sigma @ self.servo(t, q, v))
