"""Where runs start: inside the limits of coupled joints, on soft stops, and at no negative zero."""

from __future__ import annotations

import importlib.metadata
import json
import re

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error
from kinetree.errors import LimitError
from kinetree.joints import Prismatic
from kinetree.simulation.initial import initial_state
from kinetree.simulation.summary import energy_summary
from kinetree.viz.describe import as_data
from tests.analytic.mechanisms import pendulum, slider

NEGATIVE_ZERO = re.compile(r"(?<![\w.])-0(?:\.0*)?(?:e[+-]?0+)?(?![.\d\w-])")


def slides(**coupled):
    """Two slides, of which the second follows the first twice as far, the other way; limits by joint."""
    b = kt.ModelBuilder("slides")
    for name in ("first", "second"):
        lower, upper = coupled.get(name, (-np.inf, np.inf))
        b.add_body(name, joint=Prismatic((0, 0, 1)), joint_name=name, mass=1.0, inertia=np.eye(3), lower=lower,
                   upper=upper)  # fmt: skip
    b.add_coupling("second", "first", ratio=-2.0)
    return b.build()


@pytest.mark.parametrize(
    ("limits", "first"),
    [
        ({"second": (-2.4, -0.6)}, 0.75),  # the follower's alone: [0.3, 1.2] of the master
        ({"first": (0.0, 0.5), "second": (-2.4, -0.6)}, 0.4),  # what both leave: [0.3, 0.5]
        ({"first": (0.4, 2.0), "second": (-0.4, np.inf)}, None),  # nothing
        ({"second": (-np.inf, -0.6)}, 0.3),  # one limit: at it
    ],
)
def test_coupled_joints_start_inside_the_limits_of_all(limits, first):
    """The default start and random ones: the master stands where its followers, too, are inside their limits. Limits
    that exclude each other are an error that names master and follower, as is a start beyond the follower's."""
    model = slides(**limits)
    if first is None:
        with pytest.raises(LimitError, match=r"no position of joint 'first' .*'second'\): they leave 0.4 to 0.2"):
            kt.simulate(model, duration=0.01)
        with pytest.raises(LimitError, match="joint 'second': -2 against.* -2 times that of joint 'first', its master"):
            kt.simulate(model, [1.0, -2.0], duration=0.01)
        return
    run = kt.simulate(model, duration=0.01)
    assert run.q[0] == pytest.approx([first, -2.0 * first], rel=1e-15)
    told = "of joint 'first' is outside its limits or those of 'second', coupled to it"
    assert any(told in note for note in run.notes)
    assert kt.rollout(model, run.q[0], None, None, 1e-3, steps=2).q.shape == (3, 2)
    for seed in range(5):
        q = kt.simulate(model.with_constraints(kt.constraints.HardLimits()), duration=0.01, seed=seed).q[0]
        assert (q >= np.asarray(model.lower) - 1e-15).all() and (q <= np.asarray(model.upper) + 1e-15).all()


def test_no_start_is_a_negative_zero():
    """A joint that follows -2 times a master at zero stands at 0, in states and in what is said of them."""
    assert not np.signbit(kt.simulate(slides(), duration=0.01).q[0]).any()
    assert not np.signbit(kt.simulate(slides(), [-0.0, 0.0], [0.0, -0.0], duration=0.01).q[0]).any()
    with pytest.raises(LimitError, match="joint 'hinge': 0 against"):
        kt.simulate(pendulum(lower=0.5, upper=1.5), [-0.0], duration=0.01)
    run = kt.simulate(pendulum(), [0.0], v0=[-0.0], duration=0.01)
    assert NEGATIVE_ZERO.search(f"{run.energy_balance} {run.report()} {energy_summary(run)}") is None


@pytest.mark.parametrize("robot", kt.data.robots())
def test_what_is_printed_of_robots_has_no_negative_zero(robot):
    """Models, reports, runs and their energy balances, as text and as data."""
    model = kt.load(robot)
    run = kt.simulate(model, duration=0.01)
    said = [model, model.report, run, run.report(), json.dumps(as_data(model)), "\n".join(run.notes)]
    assert [str(x) for x in said if NEGATIVE_ZERO.search(str(x))] == []


def test_the_loops_of_cassie_are_closed_where_it_starts():
    """Its feet follow motors at -1/50 and are outside their limits at zero; inside, loops are open until assembled."""
    robots = "cmeel.prefix/share/example-robot-data/robots/cassie_description/robots"
    path = importlib.metadata.distribution("example-robot-data").locate_file(f"{robots}/cassie.sdf")
    model = kt.load(path, inertia="project")
    q, _, notes = initial_state(model, None, None, None)
    assert max(abs(x) for x in constraint_error(model, q.tolist())) < 1e-6 and "kt.assemble" in notes[-1]


@pytest.mark.parametrize("settings", [{}, {"integrator": "rk4"}, {"integrator": "adaptive", "dt": 0.01}])
def test_what_a_run_reaches_on_its_soft_stop_is_a_start(settings):
    """A ball that falls on its soft stop, from everywhere on its way into it and at rest on it: the run goes on from
    there as it did, as far as its stop is the same, and says where it began."""
    model = slider(2.0, axis=(0, 0, 1), lower=-0.5, upper=1.0)
    run = kt.simulate(model, duration=1.5, **settings)
    deepest = int(np.argmin(run.q[:, 0]))
    assert run.q[deepest, 0] < -0.52
    for n in (deepest - 1, deepest, len(run) - 1):
        again = kt.simulate(model, run.q[n], run.v[n], duration=run.duration - run.time[n] + 0.01, **settings)
        assert again.q[len(run) - 1 - n] == pytest.approx(run.q[-1], abs=1e-6)
        assert any("q0 is beyond the limits of 'rail' by 0.0" in note for note in again.notes)
    own = kt.simulate(run.model.replace(lower=0.0), [-0.45], duration=0.01)  # a stop of the model's own: any depth
    assert own.q[-1, 0] > -0.45 and any("beyond the limits of 'rail' by 0.45" in note for note in own.notes)
    hard, monitor = model.with_constraints(kt.constraints.HardLimits()), kt.simulation.LimitMonitor(model)
    for robot, components in ((model, [monitor]), (hard, [])):
        with pytest.raises(LimitError, match="rail"):
            kt.simulate(robot, run.q[deepest], duration=0.01, components=components)
