"""The robot Cassie with the gearboxes and springs of its file: six loops; some rows follow but for its decimals."""

import importlib.metadata

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error

FOLDER = "cmeel.prefix/share/example-robot-data/robots/cassie_description/robots"
EXCHANGED = 1.65  # [J] that the legs of the hanging robot exchange in a second


@pytest.fixture(scope="module")
def cassie():
    path = importlib.metadata.distribution("example-robot-data").locate_file(f"{FOLDER}/cassie.sdf")
    return kt.load(path, inertia="project")


@pytest.fixture(scope="module")
def hanging(cassie):
    """Its pelvis is held, so that gravity moves the legs."""
    return kt.surgery.lock(cassie, {"root_joint": cassie.keyframe("initial")[0][:7]})


def solved(model):
    """The rows that are solved for, and those that these imply exactly."""
    return [n for n in range(model.nc) if n not in model.loop_rows().rounding]


def gaps(model, positions):
    """The largest errors of these rows [m or rad]."""
    return [np.abs(np.array(constraint_error(model, q.tolist()))[solved(model)]).max() for q in positions]


def test_the_default_run_is_accurate(hanging):
    """2 ms: springs and stops are resolved where light rods move with what they drive, so the method is of order 4."""
    run = kt.simulate(hanging, duration=1.0, dt=2e-3)
    assert run.integrator == "rk4" and np.abs(run.v).max() > 10.0
    assert max(gaps(hanging, run.q[::25])) < 1e-10
    assert np.abs(run.energy_balance.remainder).max() < 1e-5 * EXCHANGED


def test_stops_that_are_added_brake_the_closed_mechanism(cassie):
    """Critically damped along each joint of the closed mechanism: 1/k is 400 times what a unit force accelerates it."""
    bare = cassie.without_limits().replace(damping=0.0, stiffness=0.0)
    run = kt.Simulation(cassie, dt=2e-3)
    q, still = run.q, np.zeros(cassie.nv)
    for joint in ("left-foot-op", "right-knee-op"):
        k = cassie.v_index(joint).start
        push = np.eye(cassie.nv)[k]
        mobility = np.subtract(*(kt.forward_dynamics(bare, q, still, force)[k] for force in (push, still)))
        assert float(run.model.limit_stiffness[k]) * mobility == pytest.approx(50.0**2, rel=1e-6)
