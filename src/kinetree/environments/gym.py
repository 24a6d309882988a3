"""Environments of gymnasium: one, and many that step together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.arguments import a_count, a_seed, choice
from kinetree.environments.batch import Batch
from kinetree.environments.drawing import Pictures
from kinetree.environments.task import Task
from kinetree.environments.tasks import TASKS
from kinetree.errors import ArgumentError, MissingDependencyError, unknown_name

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise MissingDependencyError("environments need gymnasium: pip install gymnasium", package="gymnasium") from error

MODES = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP, "disabled": AutoresetMode.DISABLED}
RENDER_MODES = ["rgb_array"]


def task_of(task) -> Task:
    """A task, or one that ships with kinetree by its name."""
    if isinstance(task, Task):
        return task
    if not isinstance(task, str):
        raise ArgumentError(f"task is {task!r}, expected a Task or a name among {', '.join(TASKS)}.")
    if task not in TASKS:
        raise unknown_name("task", task, TASKS, "kinetree.environments")
    return TASKS[task]()


def _prepared(environment, task, render_mode, n: int, threads):
    """Task, spaces and batch, which both kinds have."""
    if render_mode is not None:
        choice(f"{type(environment).__name__}: render_mode", render_mode, RENDER_MODES)
    task = task_of(task)
    environment.task, environment.render_mode, environment.pictures = task, render_mode, None
    batch = Batch(task, n, threads)
    size, box = task.observation(batch.state).shape[1], gymnasium.spaces.Box
    fps = round(1.0 / (task.dt * task.substeps))
    environment.metadata = {"render_modes": RENDER_MODES, "render_fps": fps}
    return batch, box(-np.inf, np.inf, (size,), np.float64), box(-1.0, 1.0, (task.nu,), np.float32)


def _pictures(environment) -> Pictures:
    """The pictures of an environment, prepared when the first is drawn."""
    if environment.pictures is None:
        environment.pictures = Pictures(environment.task)
    return environment.pictures


class Environment(gymnasium.Env):
    """One environment of a task: ``gymnasium.make("kinetree/CartPole-v0")`` makes it with a limit of steps.

    Parameters
    ----------
    task : Task or str
        A task, or the name of one of `TASKS`.
    render_mode : str, optional
        With "rgb_array" `render` gives a picture of the shapes of the mechanism, or of sticks where it has none.

    Raises
    ------
    MissingDependencyError
        gymnasium is not installed.
    ArgumentError, UnknownNameError

    Notes
    -----
    The motion is that of `VectorEnvironment` with the same seed, to the bit. Actions beyond -1 and 1 are clipped.

    Examples
    --------
    >>> import kinetree as kt
    >>> env = kt.environments.Environment("CartPole")
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step([0.5])
    >>> observation.shape, float(reward)
    ((4,), 1.0)
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 50}

    def __init__(self, task, render_mode: str | None = None) -> None:
        self.batch, self.observation_space, self.action_space = _prepared(self, task, render_mode, 1, 1)

    def reset(self, *, seed: int | None = None, options: Mapping | None = None):
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Of all episodes from here on.
        options : mapping, optional
            Ignored; part of gymnasium's interface.

        Returns
        -------
        observation : (k,) array
            [as the task defines]
        info : dict
        """
        known = self._np_random is not None
        super().reset(seed=seed)
        everything = np.ones(1, bool)
        if seed is not None or not known:
            self.batch.seed(everything, self.np_random.integers(2**63) if seed is None else seed)
        self.batch.begin(everything)
        return self._observation(), {}

    def step(self, action):
        """One action of the task.

        Parameters
        ----------
        action : (nu,) array_like
            From -1 to 1 [1].

        Returns
        -------
        observation : (k,) array
            [as the task defines]
        reward : float
        terminated, truncated : bool
            Truncation is left to the wrapper of ``gymnasium.make``.
        info : dict
        """
        batch = self.batch
        reward, ended, _ = batch.advance(batch.actions(np.asarray(action)[None]))
        return self._observation(), float(reward[0]), bool(ended[0]), False, {}

    def render(self):
        """A picture (height, width, 3) of bytes; None without a render mode."""
        return _pictures(self).draw(self.batch.state, 0) if self.render_mode else None

    def _observation(self):
        return self.task.observation(self.batch.state)[0]


class VectorEnvironment(gymnasium.vector.VectorEnv):
    """N environments of a task that step together: ``gymnasium.make_vec("kinetree/CartPole-v0", num_envs=1024)``.

    Parameters
    ----------
    task : Task or str
        A task, or the name of one of `TASKS`.
    num_envs : int
    max_episode_steps : int, optional
        Actions until an episode is truncated; default that of the task.
    autoreset : {"next_step", "same_step", "disabled"}
        When environments whose episode ended begin a new one: with the next action, which is ignored (the default of
        gymnasium); at once, with the last observation as ``info["final_obs"]``; or by
        ``reset(options={"reset_mask": mask})``.
    render_mode : str, optional
        With "rgb_array" `render` gives a picture of each.
    threads : int, optional
        The most threads that share the states; default the environment variable KINETREE_NUM_THREADS, else all cores.

    Raises
    ------
    MissingDependencyError
        gymnasium is not installed.
    ArgumentError, UnknownNameError

    Notes
    -----
    Random numbers of an environment depend on its seed and the number of its episode alone: with ``reset(seed=s)``
    environment k has the seed s + k, and its motion is that of `Environment` with this seed, to the bit, for any
    number of environments and threads.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> envs = kt.environments.VectorEnvironment("CartPole", 64)
    >>> observations, info = envs.reset(seed=1)
    >>> observations, rewards, terminated, truncated, info = envs.step(np.zeros((64, 1)))
    >>> observations.shape, float(rewards.sum())
    ((64, 4), 64.0)
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 50, "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        task,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset: str = "next_step",
        render_mode: str | None = None,
        threads: int | None = None,
    ) -> None:
        a_count("VectorEnvironment: num_envs", num_envs)
        if max_episode_steps is not None:
            a_count("VectorEnvironment: max_episode_steps", max_episode_steps)
        mode = MODES[choice("VectorEnvironment: autoreset", autoreset, MODES)]
        self.num_envs = int(num_envs)
        self.batch, *spaces = _prepared(self, task, render_mode, self.num_envs, threads)
        self.single_observation_space, self.single_action_space = spaces
        self.observation_space, self.action_space = (batch_space(space, self.num_envs) for space in spaces)
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self._mode, self._most = mode, max_episode_steps or self.task.max_episode_steps
        self._ended = np.zeros(self.num_envs, bool)

    def reset(self, *, seed=None, options: Mapping | None = None):
        """Begin an episode of all environments, or of those of ``options["reset_mask"]``.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Of environment k it is seed + k, or the entry k, of which None keeps the seed.
        options : mapping, optional
            ``{"reset_mask": (N,) array of bool}``.

        Returns
        -------
        observations : (N, k) array
            [as the task defines]
        info : dict
        """
        n, known = self.num_envs, self._np_random is not None
        which = np.ones(n, bool)
        if options and "reset_mask" in options:
            which = np.asarray(options["reset_mask"])
            if which.dtype != bool or which.shape != (n,):
                raise ArgumentError(f"reset: reset_mask is {which!r}, expected {n} truth values.")
        alone = None if seed is None or np.ndim(seed) else int(a_seed("reset: seed", seed))
        super().reset(seed=alone)
        if alone is None and not known:
            alone = int(self.np_random.integers(2**62))
        keys = [alone] * n if alone is None else range(alone, alone + n)
        if np.ndim(seed):
            if len(seed) != n:
                raise ArgumentError(f"reset: {len(seed)} seeds are given for {n} environments.")
            keys = [old if new is None else new for new, old in zip(seed, keys, strict=True)]
        given = np.array([key is not None for key in keys])
        self.batch.seed(given, np.array([key for key in keys if key is not None], dtype=np.uint64))
        self.batch.begin(which)
        self._ended &= ~which
        return self.task.observation(self.batch.state), {}

    def step(self, actions):
        """One action of each environment.

        Parameters
        ----------
        actions : (N, nu) array_like
            From -1 to 1 [1].

        Returns
        -------
        observations : (N, k) array
            [as the task defines]
        rewards : (N,) array
            [1]
        terminated, truncated : (N,) array
            [1]
        info : dict
            With ``autoreset="same_step"`` the last observations of episodes that ended, "final_obs".
        """
        batch, before = self.batch, self._ended
        reward, ended, _ = batch.advance(batch.actions(actions))
        truncated = batch.elapsed >= self._most
        info: dict = {}
        if self._mode is AutoresetMode.NEXT_STEP:
            if before.any():
                batch.begin(before)
                reward, ended, truncated = (np.where(before, 0, x).astype(x.dtype) for x in (reward, ended, truncated))
            self._ended = ended | truncated
        observation = self.task.observation(batch.state)
        if self._mode is AutoresetMode.SAME_STEP and (over := ended | truncated).any():
            info = {"final_obs": observation, "_final_obs": over, "final_info": {}, "_final_info": over}
            batch.begin(over)
            observation = self.task.observation(batch.state)
        return observation, reward, ended, truncated, info

    def render(self):
        """A picture (height, width, 3) of bytes of each environment; None without a render mode."""
        if not self.render_mode:
            return None
        return tuple(_pictures(self).draw(self.batch.state, k) for k in range(self.num_envs))
