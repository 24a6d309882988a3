"""A task: a model, its actions, and start, observation, reward and end as functions of batches of states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetree.arguments import (
    a_count,
    a_model,
    a_number_not_negative,
    a_positive_number,
    refuse,
    text,
)

GOLDEN = 0x9E3779B97F4A7C15


class State(NamedTuple):
    """States of N environments.

    Attributes
    ----------
    q : (N, nq) array
        Joint positions [rad or m; quaternions unit].
    v : (N, nv) array
        Joint velocities [rad/s or m/s].
    goal : (N, k) array
        Numbers that the task draws at the start of an episode, such as the place of a target [as the task defines].
    """

    q: np.ndarray
    v: np.ndarray
    goal: np.ndarray


@dataclass(frozen=True, eq=False)
class Task:
    """The base of tasks; a task of your own defines its methods over arrays of N states.

    Parameters
    ----------
    name : str
        Its id is ``kinetree/<name>-v0``.
    model : Model
        With its contacts, if there are any.
    strength : mapping of str to float
        By joint of one velocity coordinate the force at the action 1 [N m or N]; actions are from -1 to 1, in this
        order.
    dt : float
        Step of the integration [s].
    substeps : int
        Steps for each action.
    max_episode_steps : int
        Actions until an episode is truncated.
    draws : int
        Random numbers that `start` takes.
    reach : float
        Of pictures, from the middle to their sides [m].

    Raises
    ------
    ArgumentError, UnknownNameError

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> class Upright(kt.environments.Task):
    ...     def start(self, u):
    ...         return kt.environments.State(np.pi + 0.1 * (u - 0.5), np.zeros_like(u), np.zeros((len(u), 0)))
    ...     def observation(self, s):
    ...         return np.concatenate((np.cos(s.q), np.sin(s.q), s.v), axis=1)
    ...     def reward(self, s, action):
    ...         return -np.cos(s.q[:, 0])
    >>> Upright("Pendulum", kt.models.pendulum(), {"pivot": 5.0}, draws=1).nu
    1
    """

    name: str
    model: object
    strength: dict
    dt: float = 0.01
    substeps: int = 2
    max_episode_steps: int = 500
    draws: int = 0
    reach: float = 1.0

    def __post_init__(self) -> None:
        text("Task: name", self.name, "a name")
        a_model("Task: model", self.model)
        for name in ("dt", "reach"):
            a_positive_number(f"Task: {name}", getattr(self, name))
        for name in ("substeps", "max_episode_steps"):
            a_count(f"Task: {name}", getattr(self, name))
        a_number_not_negative("Task: draws", self.draws)
        if not isinstance(self.strength, dict) or not self.strength:
            refuse("Task: strength", self.strength, "a mapping of joint names to forces [N m or N], one at least")
        matrix = np.zeros((len(self.strength), self.model.nv))
        for row, (joint, force) in zip(matrix, self.strength.items(), strict=True):
            slot = self.model.v_slice[self.model.joint(joint)]
            if slot.stop - slot.start != 1:
                refuse("Task: strength", joint, "joints of one velocity coordinate")
            a_positive_number(f"Task: strength of {joint!r}", force)
            row[slot] = force
        object.__setattr__(self, "forces", matrix)

    @property
    def nu(self) -> int:
        """Number of actions."""
        return len(self.strength)

    def start(self, u) -> State:
        """The first states of episodes.

        Parameters
        ----------
        u : (N, draws) array
            Random numbers from 0 to 1 [1].
        """
        n = len(u)
        return State(np.tile(self.model.neutral(), (n, 1)), np.zeros((n, self.model.nv)), np.zeros((n, 0)))

    def observation(self, s: State) -> np.ndarray:
        """The observations, (N, k); positions, velocities and goal by default."""
        return np.concatenate(s, axis=1)

    def reward(self, s: State, action) -> np.ndarray:
        """The rewards (N,) of states that actions (N, nu) led to."""
        raise NotImplementedError(f"{type(self).__name__} defines no reward(self, s, action)")

    def ended(self, s: State) -> np.ndarray:
        """Whether episodes end in failure or success, (N,); never by default."""
        return np.zeros(len(s.q), bool)

    def marks(self, s: State) -> np.ndarray:
        """Points that pictures show, (N, k, 3) in the world [m]; none by default."""
        return np.zeros((len(s.q), 0, 3))


def uniforms(keys, episodes, count: int) -> np.ndarray:
    """Random numbers from 0 to 1 by seed and number of the episode: those of an environment depend on no other.

    Parameters
    ----------
    keys : (N,) array_like of int
        A seed for each environment.
    episodes : (N,) array_like of int
        Number of its episode.
    count : int

    Returns
    -------
    (N, count) array

    Notes
    -----
    Source: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014),
    SplitMix64. NumPy's generators make the numbers of one seed; thousands of seeds would need a loop.

    Examples
    --------
    >>> uniforms([1, 2], [0, 0], 3).shape
    (2, 3)
    >>> bool((uniforms([7], [5], 4) == uniforms([1, 7], [9, 5], 4)[1]).all())
    True
    """
    keys, episodes = (np.asarray(x).astype(np.uint64) for x in (keys, episodes))
    state = _mixed(_mixed(keys + np.uint64(GOLDEN)) + episodes * np.uint64(GOLDEN))
    turns = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    return (_mixed(state[:, None] + turns) >> np.uint64(11)) * 2.0**-53


def _mixed(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
