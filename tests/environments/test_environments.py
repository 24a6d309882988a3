"""Environments: gymnasium's own checker, the same bits for the same seeds, and their motion by other engines."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree.environments.task import _mixed, uniforms
from tests.view.test_page import BOX, reddish

gymnasium = pytest.importorskip("gymnasium", reason="environments need gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

NAMES = tuple(kt.environments.TASKS)


@functools.cache
def task(name):
    """A task, whose compiled steps all tests share."""
    return kt.environments.TASKS[name]()


def vector(name, n, **options):
    return kt.environments.VectorEnvironment(task(name), n, **options)


def played(envs, seed, steps, rng):
    """Observations, rewards and ends of random actions after a reset."""
    found = [envs.reset(seed=seed)[0]]
    shape = (envs.num_envs, envs.task.nu)
    rest = [envs.step(rng.uniform(-1, 1, shape)) for _ in range(steps)]
    return np.array([*found, *(x[0] for x in rest)]), np.array([x[1] for x in rest]), np.array([x[2] for x in rest])


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_accepts_them(name):
    """`check_env` with rendering, made by id; infinite bounds of observations are its only complaint."""
    env = gymnasium.make(f"kinetree/{name}-v0", render_mode="rgb_array")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        check_env(env.unwrapped)
    assert all("infinity" in str(x.message) for x in found), [str(x.message) for x in found]
    assert env.spec.max_episode_steps == task(name).max_episode_steps
    env.reset(seed=0)
    before = env.render()
    assert before.dtype == np.uint8 and before.shape[2] == 3 and len(np.unique(before)) > 5
    env.close()


def test_pictures_show_shapes(tmp_path):
    """The red cube of a file at the end of its arm, where the arm points; a new state is another picture."""
    (tmp_path / "box.urdf").write_text(BOX.format(name="box", shape='<box size="0.3 0.3 0.3"/>'))

    class Turn(kt.environments.Task):
        """An arm at rest."""

        def start(self, u):
            return kt.environments.State(3.0 * u - 1.5, np.zeros_like(u), np.zeros((len(u), 0)))

        def observation(self, s):
            return s.q

        def reward(self, s, action):
            return np.zeros(len(s.q))

    task = Turn("Turn", kt.load(tmp_path / "box.urdf"), {"turn": 1.0}, draws=1)
    envs = kt.environments.VectorEnvironment(task, num_envs=2, render_mode="rgb_array")
    envs.reset(seed=0)
    red = [reddish(picture) for picture in envs.render()]
    assert all(1000 < mask.sum() < 30_000 for mask in red) and (red[0] ^ red[1]).sum() > 200
    heights = [np.nonzero(mask)[0].mean() for mask in red]  # the arm turns about y: a greater angle is lower
    assert (heights[0] < heights[1]) == (envs.batch.state.q[0, 0] < envs.batch.state.q[1, 0])


@pytest.mark.parametrize("name", NAMES)
def test_one_environment_is_one_of_many_to_the_bit(name):
    """With seed s, environment k of 5 moves as a single one with seed s + k, and as the first of 1, over resets."""
    envs, steps = vector(name, 5, threads=2, max_episode_steps=1000), 60
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (steps, 5, envs.task.nu))
    observations = [envs.reset(seed=3)[0]]
    results = []
    for action in actions:
        observations.append((found := envs.step(action))[0])
        results.append(found[1:4])
    single, k = kt.environments.Environment(envs.task), 4
    expected, _ = single.reset(seed=3 + k)
    assert np.array_equal(observations[0][k], expected)
    over = False
    for t, action in enumerate(actions):
        if over:  # the action of a vector environment is ignored, too
            expected, reward, over = single.reset()[0], 0.0, False
        else:
            expected, reward, over, _, _ = single.step(action[k])
        assert np.array_equal(observations[t + 1][k], expected), t
        assert results[t][0][k] == reward and results[t][1][k] == over
    again = vector(name, 1)
    assert np.array_equal(again.reset(seed=3)[0][0], observations[0][0])
    assert not np.array_equal(observations[0][0], observations[0][1])


def test_modes_of_autoreset():
    """Next step, same step, disabled: where the first observation of the next episode appears."""
    n, rng = 8, np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (60, n, 1))
    later, at_once, alone = (vector("CartPole", n, autoreset=mode) for mode in ("next_step", "same_step", "disabled"))
    modes = [envs.metadata["autoreset_mode"] for envs in (later, at_once, alone)]
    assert modes == [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
    for envs in (later, at_once, alone):
        envs.reset(seed=5)
    done = np.zeros(n, bool)
    for t in range(60):
        o1, r1, end1, _, _ = later.step(actions[t])
        o2, r2, end2, _, info = at_once.step(actions[t])
        o3, _, end3, _, _ = alone.step(actions[t])
        if (first := ~done & end1).any():
            assert np.array_equal(info["final_obs"][first], o1[first]) and np.array_equal(info["_final_obs"], end2)
            assert np.array_equal(o1[first], o3[first]) and (r1[first] == 0.0).all() and end3[first].all()
            next_first = later.step(actions[t])
            assert np.array_equal(next_first[0][first], o2[first]) and (next_first[1][first] == 0.0).all()
            o3, _ = alone.reset(options={"reset_mask": first})
            assert np.array_equal(o3[first], o2[first])
            return
        assert np.array_equal(o1, o2) and np.array_equal(r1, r2)
    raise AssertionError("no episode ended")


def test_truncation_by_id():
    """`make_vec` passes the limit of steps on; all environments are truncated together, and begin again."""
    envs = gymnasium.make_vec("kinetree/Reacher-v0", num_envs=3, max_episode_steps=4)
    envs.reset(seed=0)
    found = [envs.step(np.zeros((3, 2)))[3] for _ in range(9)]
    assert [bool(x.all()) for x in found] == [False] * 3 + [True] + [False] * 4 + [True]
    assert gymnasium.make_vec("kinetree/Acrobot-v0", num_envs=2).unwrapped.task.name == "Acrobot"


def test_cart_pole_moves_as_mujoco():
    """MuJoCo's RK4 with the same steps and forces: the same states, to rounding; rewards by the rule of the task."""
    import mujoco

    envs, rng = vector("CartPole", 1, autoreset="disabled"), np.random.default_rng(0)
    m = mujoco.MjModel.from_xml_string(kt.io.to_mjcf(envs.task.model))
    m.opt.timestep, m.opt.integrator = 0.01, mujoco.mjtIntegrator.mjINT_RK4
    d = mujoco.MjData(m)
    observation, _ = envs.reset(seed=0)
    d.qpos[:], d.qvel[:] = observation[0, :2], observation[0, 2:]
    for _ in range(30):
        action = rng.uniform(-1, 1, (1, 1))
        observation, reward, ended, _, _ = envs.step(action)
        d.qfrc_applied[:] = 10.0 * action[0, 0], 0.0
        mujoco.mj_step(m, d, 2)
        assert np.allclose(observation[0], [*d.qpos, *d.qvel], rtol=0, atol=1e-10)
        assert reward[0] == float(not ended[0]) and ended[0] == (abs(d.qpos[1]) > 0.2 or abs(d.qpos[0]) > 2.4)


def test_heights_and_tips_by_forward_kinematics():
    """The closed forms of acrobot and reacher, and the quadruped's observation, against poses of frames."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-3, 3, (20, 2))
    R, p = kt.pose(task("Acrobot").model, q, frame="lower")
    assert np.allclose(task("Acrobot").height(q), (p - R[:, :, 2])[:, 2], atol=1e-12)
    assert np.allclose(task("Reacher").tip(q), kt.pose(task("Reacher").model, q, frame="tip")[1][:, :2], atol=1e-12)
    robot = task("Quadruped")
    q = np.array([robot.model.random_q(rng) for _ in range(10)])
    s = kt.environments.State(q, rng.normal(size=(10, 18)), np.zeros((10, 0)))
    R, p = kt.pose(robot.model, q, frame="trunk")
    V = kt.velocity(robot.model, q, s.v, frame="trunk", reference="local_world_aligned")
    found = robot.observation(s)
    assert np.allclose(found[:, :6], np.concatenate((p[:, 2:], R[:, 2], R[:, :2, 0]), axis=1), atol=1e-12)
    stand = np.where((p[:, 2] < 0.5 * robot.stand[2]) | (R[:, 2, 2] < 0.5), 0.0, 0.5)
    assert np.allclose(robot.reward(s, np.ones((10, 12))), np.minimum(V[:, 3], 1.5) + stand - 0.24, atol=1e-12)


def test_a_quadruped_stands_on_its_feet_by_simulate():
    """Steps of an environment are those of a rollout with contact; feet carry the weight, and zero actions earn 0.5."""
    envs = vector("Quadruped", 3, autoreset="disabled")
    envs.reset(seed=2)
    q0, v0, _ = envs.batch.state
    action = np.full((3, 12), 0.3)
    envs.step(action)
    q, v = kt.rollout(envs.task.model, q0, v0, (action @ envs.task.forces)[:, None], 0.005, steps=4)
    assert np.array_equal(envs.batch.state.q, q[:, -1]) and np.array_equal(envs.batch.state.v, v[:, -1])
    envs.reset(seed=2)
    for _ in range(200):
        _, reward, ended, _, _ = envs.step(np.zeros((3, 12)))
    assert not ended.any() and np.allclose(reward, 0.5, atol=5e-4)
    model = envs.task.model
    force = envs.batch._impulses.reshape(3, -1, 3)[:, :, 2].sum(axis=1) / 0.005
    assert np.allclose(force, 9.81 * model.total_mass, rtol=1e-3)


def test_motions_that_blow_up_end_alone():
    """A state that is no longer finite ends its episode in the last finite one; others are not affected."""
    envs = vector("CartPole", 3, autoreset="disabled")
    envs.reset(seed=0)
    expected = vector("CartPole", 3, autoreset="disabled")
    expected.reset(seed=0)
    envs.batch.state.v[1] = 1e200
    observation, reward, ended, _, _ = envs.step(np.zeros((3, 1)))
    right = expected.step(np.zeros((3, 1)))[0]
    assert ended.tolist() == [False, True, False] and reward.tolist() == [1.0, 0.0, 1.0]
    assert np.array_equal(observation[[0, 2]], right[[0, 2]]) and np.isfinite(observation).all()


def test_uniform_numbers():
    """Mean, variance and correlations of many seeds, and those of SplitMix64's own sequence."""
    x = uniforms(np.arange(4000), np.zeros(4000), 8)
    assert x.min() >= 0.0 and x.max() < 1.0 and abs(x.mean() - 0.5) < 5e-3 and abs(x.var() - 1 / 12) < 2e-3
    assert np.abs(np.corrcoef(x.T) - np.eye(8)).max() < 0.07
    assert np.abs(np.corrcoef(x[:-1, 0], x[1:, 0])[0, 1]) < 0.07
    state = np.uint64(1234567) + np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert _mixed(state).tolist() == published  # of Vigna's splitmix64.c with the seed 1234567


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: vector("CartPole", 2).step(np.zeros(2)), kt.errors.ShapeError, r"expected \(2, 1\).*slider"),
        (lambda: vector("CartPole", 2).step([[0.0], [np.nan]]), kt.errors.NonFiniteError, "environment 1"),
        (lambda: kt.environments.Environment("Cartpole"), kt.errors.UnknownNameError, "Did you mean 'CartPole'"),
        (lambda: vector("CartPole", 0), kt.errors.ArgumentError, "num_envs"),
        (lambda: vector("CartPole", 2, autoreset="never"), kt.errors.ArgumentError, "next_step"),
        (lambda: vector("CartPole", 2).reset(seed=[1, 2, 3]), kt.errors.ArgumentError, "3 seeds"),
        (lambda: kt.environments.Environment("CartPole", "human"), kt.errors.ArgumentError, "rgb_array"),
        (lambda: kt.environments.Task("x", kt.models.pendulum(), {"pivo": 1.0}), kt.errors.UnknownNameError, "pivot"),
        (lambda: kt.environments.Task("x", kt.models.pendulum(), {}), kt.errors.ArgumentError, "one at least"),
        (lambda: kt.environments.Task("x", kt.models.pendulum(), {"pivot": -1.0}), kt.errors.ArgumentError, "pivot"),
    ],
)
def test_errors_name_the_argument(make, error, message):
    """Actions, names, modes, seeds, tasks."""
    with pytest.raises(error, match=message):
        make()
