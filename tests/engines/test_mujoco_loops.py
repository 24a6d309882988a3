"""Trajectories of mechanisms with loops against MuJoCo, whose connections are springs, made stiffer and stiffer.

A time constant of two steps leaves gaps in proportion to its square: MuJoCo's motion converges to that of rigid loops.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import LoopJoint
from kinetree.joints import Spherical

EXACT = kt.integrators.Adaptive("dop853", rtol=1e-11, atol=1e-11)
SAMPLES = 4


def by_balls(model):
    """The same with balls that close the loops: MuJoCo has no hinges there, and in a plane they do the same."""
    return model.replace(
        constraints=[LoopJoint(c.name, Spherical(), c.predecessor, c.successor, c.X_P, c.X_S) for c in model.loops]
    )


def mujoco_positions(model, q, v, tau, duration, dt):
    """Positions at the samples by MuJoCo's RK4, from the file's keyframe "initial"; coordinates have the same order.

    The position of a free joint is that in the world there, so it differs by a constant.
    """
    theirs = mujoco.MjModel.from_xml_string(kt.io.to_mjcf(model))
    theirs.opt.timestep, theirs.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_RK4
    theirs.opt.solver, theirs.opt.iterations, theirs.opt.tolerance = mujoco.mjtSolver.mjSOL_NEWTON, 200, 1e-15
    theirs.eq_solref[:], theirs.eq_solimp[:] = (2.0 * dt, 1.0), (0.9999, 0.9999, 1e-6, 0.5, 1.0)
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = theirs.key("initial").qpos, v, tau
    offset, found = theirs.key("initial").qpos - q, []
    for _ in range(SAMPLES):
        for _ in range(round(duration / SAMPLES / dt)):
            mujoco.mj_step(theirs, data)
        found.append(data.qpos - offset)
    return np.array(found)


def stewart():
    """A platform that legs push up and tilt."""
    model = kt.models.stewart_platform()
    tau = np.zeros(model.nv)
    for k, force in enumerate((30.0, 20.0, 12.0, 25.0, 18.0, 33.0), start=1):
        tau[model.v_index(f"prismatic{k}")] = force
    return model, tau, 0.2, 4e-4


def falling(model):
    """Under gravity, with a torque at the first joint."""
    return by_balls(model), np.array([1.0, 0.0, 0.0]), 0.8, 4e-4


CASES = {
    "four_bar": lambda: falling(kt.models.four_bar()),
    "slider_crank": lambda: falling(kt.models.slider_crank(angle=0.6)),
    "stewart_platform": stewart,
}


@pytest.mark.parametrize("name", CASES)
def test_mujoco_converges_to_the_motion_of_rigid_loops(name):
    """To 1e-7 of a motion of order one, and four times closer with half the time constant."""
    model, tau, duration, dt = CASES[name]()
    q, v = model.keyframe("initial")
    run = kt.simulate(
        model, q, v, duration=duration, dt=duration / SAMPLES, integrator=EXACT, inputs=kt.Inputs(tau=lambda t: tau)
    )
    assert np.abs(run.q[-1] - q).max() > 0.05
    errors = [np.abs(mujoco_positions(model, q, v, tau, duration, h) - run.q[1:]).max() for h in (dt, dt / 2)]
    assert errors[0] < 1e-7 and errors[1] < 0.35 * errors[0]
