"""Learn to balance a pole by reinforcement learning.

You learn to use vector environments, to compare a policy with doing nothing and with random actions, and to train one
by stable-baselines3, where it is installed (pip install stable-baselines3).

    python examples/40_balance_by_learning.py

Output::

    zero actions balance for ... of 500 actions, random ones for ...
    ...
"""

from importlib.util import find_spec

import numpy as np

import kinetree as kt

STEPS = 131_072


def balanced(policy) -> float:
    """Mean length of 64 episodes, at most 500 actions."""
    envs = kt.environments.VectorEnvironment("CartPole", 64)
    observations, _ = envs.reset(seed=100)
    lengths, alive = np.zeros(64), np.ones(64, bool)
    for _ in range(500):
        observations, rewards, terminated, _, _ = envs.step(policy(observations))
        lengths += alive * rewards
        alive &= ~terminated
    return float(lengths.mean())


def trained() -> tuple[float, float]:
    """Mean lengths by PPO of stable-baselines3 before and after training."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import VecEnv

    class Adapter(VecEnv):
        def reset(self):
            self.envs = kt.environments.VectorEnvironment("CartPole", self.num_envs, autoreset="same_step")
            return self.envs.reset(seed=0)[0]

        def step_async(self, actions):
            self.actions = actions

        def step_wait(self):
            observations, rewards, ended, truncated, info = self.envs.step(self.actions)
            infos = [{"TimeLimit.truncated": bool(x)} for x in truncated & ~ended]
            for k in np.flatnonzero(ended | truncated):
                infos[k]["terminal_observation"] = info["final_obs"][k]
            return observations, rewards, ended | truncated, infos

        get_attr = lambda self, *args, **options: [None] * self.num_envs  # noqa: E731
        close = set_attr = env_method = env_is_wrapped = get_attr

    envs = Adapter(64, (one := kt.environments.Environment("CartPole")).observation_space, one.action_space)
    agent = PPO("MlpPolicy", envs, n_steps=32, batch_size=256, seed=0, device="cpu")
    before, _ = balanced(policy := lambda x: agent.predict(x, deterministic=True)[0]), agent.learn(STEPS)
    return before, balanced(policy)


def main() -> None:
    rng, zero = np.random.default_rng(0), balanced(lambda x: np.zeros((64, 1)))
    chance = balanced(lambda x: rng.uniform(-1, 1, (64, 1)))
    print(f"zero actions balance for {zero:.0f} of 500 actions, random ones for {chance:.0f}")
    if find_spec("stable_baselines3") is None:
        return print("stable-baselines3 is not installed")
    print("untrained {:.0f}, trained {:.0f}".format(*trained()))


def check() -> None:
    assert 15 < balanced(lambda x: np.zeros((64, 1))) < 60  # the pole falls
    regulator = [[0.1], [2.0], [0.15], [0.4]]  # pushing after the pole holds it
    assert balanced(lambda x: x @ regulator) == 500.0


if __name__ == "__main__":
    main()
