"""N environments of a task side by side, as arrays: compiled steps, episodes, random starts."""

from __future__ import annotations

import numpy as np

from kinetree.compiler.function import compile as compiled
from kinetree.environments.task import State, Task, uniforms
from kinetree.errors import NonFiniteError, ShapeError


class Batch:
    """States of N environments and the steps of all of them.

    Parameters
    ----------
    task : Task
    n : int
    threads : int or None

    Attributes
    ----------
    state : State
        [rad, m, rad/s, m/s]
    """

    def __init__(self, task: Task, n: int, threads: int | None) -> None:
        self.task, self.n, model = task, n, task.model
        step = "contact_step" if model.contacts else "rk4_step"
        self._step = compiled(model, step, checks=False, threads=threads)
        self._dt = np.array(task.dt)
        self.keys, self.episodes = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
        self.elapsed = np.zeros(n, np.int64)
        self._impulses = np.zeros((n, model.n_impulses)) if model.contacts else None  # first guess of the next step
        self.state = task.start(np.full((n, task.draws), 0.5))

    def begin(self, which) -> None:
        """New episodes of the environments of a mask."""
        self._put(which, self.task.start(uniforms(self.keys[which], self.episodes[which], self.task.draws)))
        self.elapsed[which] = 0
        self.episodes[which] += np.uint64(1)
        if self._impulses is not None:
            self._impulses[which] = 0.0

    def seed(self, which, keys) -> None:
        """Seeds of environments of a mask; their episodes are counted from the first."""
        self.keys[which], self.episodes[which] = keys, 0

    def advance(self, actions):
        """Rewards (N,), ends (N,) and truncations (N,) after an action (N, nu) for each."""
        task, before = self.task, self.state
        q, v = self.integrated(before.q, before.v, actions @ task.forces)
        lost = ~(np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1))
        if lost.any():  # a motion that blew up ends in its last finite state
            q, v = np.where(lost[:, None], before.q, q), np.where(lost[:, None], before.v, v)
            if self._impulses is not None:
                self._impulses[lost] = 0.0
        self.state = State(q, v, before.goal)
        self.elapsed += 1
        reward = np.where(lost, 0.0, task.reward(self.state, actions))
        return reward, task.ended(self.state) | lost, self.elapsed >= task.max_episode_steps

    def integrated(self, q, v, tau):
        """Positions and velocities after all steps of one action, from (N, nq), (N, nv) and joint forces (N, nv)."""
        for _ in range(self.task.substeps):
            if self._impulses is None:
                q, v = self._step(q, v, tau, self._dt)
            else:
                q, v, self._impulses = self._step(q, v, self._impulses, tau, self._dt)
        return q, v

    def actions(self, given) -> np.ndarray:
        """Actions of all environments between -1 and 1.

        Raises
        ------
        ShapeError, NonFiniteError
        """
        try:
            found = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            found = np.empty(())
        shape = (self.n, self.task.nu)
        if found.shape != shape:
            joints = ", ".join(self.task.strength)
            raise ShapeError(
                f"step: the actions have shape {found.shape}, expected {shape}: a number from -1 to 1 for each of "
                f"{joints}."
            )
        if not np.isfinite(found).all():
            n = int(np.argmin(np.isfinite(found).all(axis=1)))
            raise NonFiniteError(f"step: the action of environment {n} is {found[n].tolist()}; is the policy finite?")
        return np.clip(found, -1.0, 1.0)

    def _put(self, which, new: State) -> None:
        arrays = []
        for x, y in zip(self.state, new, strict=True):
            x = np.array(x, dtype=float) if x.shape[1:] == y.shape[1:] else np.zeros((self.n, *y.shape[1:]))
            x[which] = y
            arrays.append(x)
        self.state = State(*arrays)
