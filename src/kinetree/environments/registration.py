"""Ids of gymnasium."""

from __future__ import annotations


def register() -> None:
    """Register the ids ``kinetree/CartPole-v0`` and so on with gymnasium; again does nothing.

    Raises
    ------
    MissingDependencyError
        gymnasium is not installed.

    Examples
    --------
    >>> import gymnasium, kinetree.environments
    >>> envs = gymnasium.make_vec("kinetree/Acrobot-v0", num_envs=16)
    >>> envs.reset(seed=3)[0].shape
    (16, 6)
    """
    import gymnasium

    for name, most in STEPS.items():
        if (spec := f"kinetree/{name}-v0") not in gymnasium.registry:
            gymnasium.register(
                spec,
                entry_point="kinetree.environments.gym:Environment",
                vector_entry_point="kinetree.environments.gym:VectorEnvironment",
                max_episode_steps=most,
                kwargs={"task": name},
            )


STEPS = {"CartPole": 500, "Acrobot": 500, "Reacher": 50, "Quadruped": 500}
"""Most actions of an episode of each task, without making the tasks."""
