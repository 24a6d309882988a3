"""One valid call of the public callables of environments."""

from __future__ import annotations

import pathlib

import kinetree as kt


def table(folder: pathlib.Path) -> dict:
    """As `tests.arguments.calls.table`."""
    task = dict(
        name="x", model=kt.models.pendulum(), strength={"pivot": 2.0}, dt=0.01, substeps=2, max_episode_steps=50,
        draws=1, reach=1.0,
    )  # fmt: skip
    many = dict(
        task="CartPole", num_envs=2, max_episode_steps=5, autoreset="same_step", render_mode="rgb_array", threads=1
    )
    return {
        "environments.Environment": (kt.environments.Environment, dict(task="CartPole", render_mode="rgb_array")),
        "environments.Task": (kt.environments.Task, task),
        "environments.VectorEnvironment": (kt.environments.VectorEnvironment, many),
        "environments.register": (kt.environments.register, {}),
    }
