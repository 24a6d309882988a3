"""The tasks that ship with kinetree: cart-pole, acrobot, reacher, quadruped."""

from __future__ import annotations

import math

import numpy as np

from kinetree.collision.material import Ground
from kinetree.compiler.calls import public_call
from kinetree.environments.task import State, Task
from kinetree.io.load import load
from kinetree.joints import Revolute
from kinetree.model.builder import ModelBuilder
from kinetree.model.library.open_mechanisms import cart_pole, double_pendulum

LEGS = ("FL", "FR", "RL", "RR")
POSTURE = {"hip_roll": 0.0, "hip_pitch": 0.7, "knee": -1.4}
"""Of the quadruped that stands [rad]."""


class CartPole(Task):
    """A pole on a cart is kept upright; the action is the force on the cart.

    Reward 1 for each action until the pole leans by more than 0.2 rad or the cart is 2.4 m away. Observation: position
    of the cart, angle of the pole, and their rates.

    Source: the task of A. G. Barto, R. S. Sutton, C. W. Anderson (1983), with a continuous force of up to 10 N.
    """

    def __init__(self) -> None:
        super().__init__("CartPole", cart_pole(), {"slider": 10.0}, draws=4)

    def start(self, u) -> State:
        """Within 0.05 of the upright position at rest."""
        x = 0.1 * (u - 0.5)
        return State(x[:, :2], x[:, 2:], np.zeros((len(u), 0)))

    def reward(self, s, action):
        """1 while it stands."""
        return np.where(self.ended(s), 0.0, 1.0)

    def ended(self, s):
        """The pole leans too far, or the cart is at the end of its rail."""
        return (np.abs(s.q[:, 1]) > 0.2) | (np.abs(s.q[:, 0]) > 2.4)


class Acrobot(Task):
    """A double pendulum swings its tip up by a torque at the elbow.

    Reward -1 for each action until the tip is one link's length above the shoulder. Observation: cosines and sines of
    both angles, and their rates.

    Source: the task of R. S. Sutton, "Generalization in reinforcement learning" (1996), with a continuous torque of up
    to 2 N m on thin rods of 1 m and 1 kg.
    """

    def __init__(self) -> None:
        super().__init__("Acrobot", double_pendulum(), {"elbow": 2.0}, dt=0.02, substeps=5, draws=4, reach=2.0)

    def start(self, u) -> State:
        """Within 0.1 of the position in which it hangs."""
        x = 0.2 * (u - 0.5)
        return State(x[:, :2], x[:, 2:], np.zeros((len(u), 0)))

    def observation(self, s):
        """Cosines and sines of the angles, rates."""
        return np.concatenate((np.cos(s.q), np.sin(s.q), s.v), axis=1)

    def reward(self, s, action):
        """-1 until the goal."""
        return np.where(self.ended(s), 0.0, -1.0)

    def ended(self, s):
        """The tip is a link's length above the shoulder."""
        return self.height(s.q) > 1.0

    @staticmethod
    def height(q) -> np.ndarray:
        """Of the tip above the shoulder [m]."""
        return -np.cos(np.cumsum(q, axis=1)).sum(axis=1)


class Reacher(Task):
    """A planar arm of two links of 0.1 m brings its tip to a target, in a horizontal plane.

    Reward: minus the distance [m], minus a tenth of the squared actions; 50 actions. Observation: cosines and sines of
    both angles, their rates, the target, and the step to it.
    """

    def __init__(self) -> None:
        b = ModelBuilder("reacher", gravity=(0.0, 0.0, 0.0))
        for k, (body, parent) in enumerate((("upper", "world"), ("lower", "upper"))):
            b.add_body(
                body, parent, Revolute((0, 0, 1)), ("shoulder", "elbow")[k], ((0.1 * k, 0.0, 0.0), (0.0, 0.0, 0.0)),
                mass=0.1, com=(0.05, 0.0, 0.0), inertia=(1e-5, 1e-4, 1e-4), damping=0.02,
            )  # fmt: skip
        b.add_frame("tip", "lower", ((0.1, 0.0, 0.0), (0.0, 0.0, 0.0)))
        super().__init__(
            "Reacher", b.build(), {"shoulder": 0.2, "elbow": 0.1}, max_episode_steps=50, draws=6, reach=0.2
        )

    def start(self, u) -> State:
        """Within 0.1 rad of the stretched arm; the target is anywhere in reach, by area."""
        x, r, angle = 0.2 * (u[:, :4] - 0.5), 0.2 * np.sqrt(u[:, 4]), 2.0 * math.pi * u[:, 5]
        return State(x[:, :2], x[:, 2:], np.stack((r * np.cos(angle), r * np.sin(angle)), axis=1))

    def observation(self, s):
        """Cosines and sines of the angles, rates, target, step to the target."""
        return np.concatenate((np.cos(s.q), np.sin(s.q), s.v, s.goal, s.goal - self.tip(s.q)), axis=1)

    def reward(self, s, action):
        """Minus distance and effort."""
        return -np.linalg.norm(s.goal - self.tip(s.q), axis=1) - 0.1 * (action * action).sum(axis=1)

    def marks(self, s):
        """The target."""
        return np.concatenate((s.goal, np.zeros((len(s.goal), 1))), axis=1)[:, None]

    @staticmethod
    def tip(q) -> np.ndarray:
        """Position of the tip in the plane (N, 2) [m]."""
        angles = np.cumsum(q, axis=1)
        return 0.1 * np.stack((np.cos(angles).sum(axis=1), np.sin(angles).sum(axis=1)), axis=1)


class Quadruped(Task):
    """A quadruped of twelve joints walks forward on its feet, on flat ground with friction.

    Springs and dampers hold a posture; an action moves the position of a spring by up to 0.4 rad, as a servo's. Reward:
    forward velocity up to 1.5 m/s, plus 0.5 for standing, minus 0.02 times the squared actions. An episode ends when
    the trunk is below half of its height or leans by more than 60 degrees. Observation: height, the vertical in
    the trunk's axes, heading, angles from the posture, twist of the trunk [angular; linear] in its axes, rates.
    """

    STIFFNESS, DAMPING, REACH = 60.0, 2.0, 0.4  # N m/rad, N m s/rad, rad

    def __init__(self) -> None:
        base = load("quadruped", floating_base=True).without_limits()
        posture = {f"{leg}_{joint}": angle for leg in LEGS for joint, angle in POSTURE.items()}
        model = base.replace(
            stiffness=dict.fromkeys(posture, self.STIFFNESS), damping=dict.fromkeys(posture, self.DAMPING),
            spring_reference=posture,
        ).with_contacts(ground=Ground(friction=0.7), bodies=[f"{leg}_foot" for leg in LEGS])  # fmt: skip
        q = model.neutral()
        for name, angle in posture.items():
            q[model.q_index(name)] = angle
        q[2] -= public_call("contact_gaps")(model, q).min()
        super().__init__(
            "Quadruped",
            model,
            dict.fromkeys(posture, self.STIFFNESS * self.REACH),
            dt=0.005,
            substeps=4,
            draws=24,
            reach=0.5,
        )
        object.__setattr__(self, "stand", q)

    def start(self, u) -> State:
        """On its feet, with joints within 0.05 rad and rates within 0.05 rad/s of the posture at rest."""
        q, v = np.tile(self.stand, (len(u), 1)), np.zeros((len(u), self.model.nv))
        q[:, 7:] += 0.1 * (u[:, :12] - 0.5)
        v[:, 6:] = 0.1 * (u[:, 12:] - 0.5)
        q[:, 2] -= public_call("contact_gaps")(self.model, q).min(axis=1)
        return State(q, v, np.zeros((len(u), 0)))

    def observation(self, s):
        """Height, vertical, heading, angles, twist, rates."""
        R = _rotations(s.q[:, 3:7])
        return np.concatenate((s.q[:, 2:3], R[:, 2], R[:, :2, 0], s.q[:, 7:] - self.stand[7:], s.v), axis=1)

    def reward(self, s, action):
        """Forward velocity, standing, effort."""
        forward = (_rotations(s.q[:, 3:7])[:, 0] * s.v[:, 3:6]).sum(axis=1)
        effort = (action * action).sum(axis=1)
        return np.minimum(forward, 1.5) + np.where(self.ended(s), 0.0, 0.5) - 0.02 * effort

    def ended(self, s):
        """It has fallen."""
        return (s.q[:, 2] < 0.5 * self.stand[2]) | (_rotations(s.q[:, 3:7])[:, 2, 2] < 0.5)


def _rotations(x) -> np.ndarray:
    """Rotation matrices (N, 3, 3) of unit quaternions (w, x, y, z)."""
    w, x, y, z = x.T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.moveaxis(np.array(rows), -1, 0)


TASKS = {kind.__name__: kind for kind in (CartPole, Acrobot, Reacher, Quadruped)}
"""The tasks by name."""
