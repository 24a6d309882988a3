"""Loops of models whose joints move by themselves: against prescribed motions of the same joints, and closed forms."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import LoopJoint, PrescribedMotion
from kinetree.joints import Prescribed, Revolute, Sinusoid, SphereInCylinder
from tests.analytic.test_published_loops import CAR, CAR_SPEED, car_axis

SWING = Sinusoid(amplitude=0.4, omega=5.0, offset=1.0)


@functools.cache
def driven(by_joint: bool, closure=None):
    """A four-bar whose crank swings: by a joint that depends on time, or by a constraint."""
    bar, b = kt.models.four_bar(), kt.ModelBuilder("driven", gravity=(0.0, -9.81, 0.0))
    for i in bar.outward():
        name, I = bar.body_names[i], bar.I[i]
        joint = Prescribed(Revolute(), SWING) if by_joint and name == "crank" else Revolute()
        inertia = I.m * (2.0 * I.com.x) ** 2 / 12.0 * np.array([0.0, 1.0, 1.0])
        b.add_body(
            name, bar.body_names[bar.parent[i]], joint, name, bar.X_T[i], mass=I.m, com=list(I.com), inertia=inertia
        )
        b.add_frame(f"{name}_tip", name, ((2.0 * I.com.x, 0.0, 0.0), (0.0, 0.0, 0.0)))
    loop = LoopJoint("closure", closure or Revolute(), "coupler_tip", "rocker_tip")
    return b.build().with_constraints(*([] if by_joint else [PrescribedMotion("crank", SWING)]), loop)


@functools.cache
def start():
    """A state of the four-bar in which the crank swings."""
    bar = kt.models.four_bar()
    return kt.assemble(bar, bar.keyframe("initial")[0], fixed="crank", v=[2.0, 0.0, 0.0])


@pytest.mark.parametrize("closure", [None, SphereInCylinder()])
def test_accelerations_are_those_under_a_prescribed_motion(closure):
    """And the multipliers of the loop."""
    (q, v), tau = start(), np.array([0.0, 1.0, -2.0])
    a, lam = kt.forward_dynamics(driven(True, closure), q[1:], v[1:], tau[1:], 0.0, multipliers=True)
    expected, both = kt.forward_dynamics(driven(False, closure), q, v, tau, 0.0, multipliers=True)
    assert a == pytest.approx(expected[1:], rel=1e-10) and lam == pytest.approx(both[1:], abs=1e-9)


@pytest.mark.parametrize("integrator", ["rk4", "dp54", "semi_implicit"])
def test_steps_are_those_under_a_prescribed_motion(integrator):
    """To rounding, in runs and rollouts; the crank comes back, so that the rest does, too."""
    q, v = start()
    run, other = (
        kt.simulate(driven(by_joint), q[k:], v[k:], duration=0.4, dt=2e-3, integrator=integrator)
        for by_joint, k in ((True, 1), (False, 0))
    )
    assert run.q == pytest.approx(other.q[:, 1:], abs=1e-12) and np.ptp(run.q, axis=0).min() > 0.1
    rolled = kt.rollout(driven(True), q[1:], v[1:], None, 2e-3, steps=200, integrator=integrator)
    assert rolled.q == pytest.approx(run.q, abs=1e-12)


@pytest.mark.parametrize("integrator", [kt.integrators.Adaptive("dop853", rtol=1e-10, atol=1e-10), "generalized_alpha"])
def test_other_steps_follow_the_loop(integrator):
    """A driven four-bar has one position for each crank angle: that of its closed form."""
    q, v = start()
    run = kt.simulate(driven(True), q[1:], v[1:], duration=0.5, dt=2e-3, integrator=integrator)
    angle = 1.0 + 0.4 * np.sin(2.5)
    expected, _ = kt.models.four_bar(angle=angle).keyframe("initial")
    assert run.q[-1] == pytest.approx(expected[1:], abs=1e-9)


def test_the_car_axis_by_joints():
    """Published positions and velocities at t = 3 s, by an adaptive method."""
    exact = kt.integrators.Adaptive("dop853", rtol=1e-10, atol=1e-12)
    run = kt.simulate(
        car_axis(True), [0.0, 0.5, 1.0, 0.5], [-0.5, 0.0, -0.5, 0.0], duration=3.0, dt=0.5, integrator=exact
    )
    assert run.q[-1] == pytest.approx(CAR, abs=1e-9) and run.v[-1] == pytest.approx(CAR_SPEED, abs=1e-7)


@pytest.mark.parametrize("method", ["null_space", "partitioning", "pseudovelocities"])
def test_default_independent_velocities_where_loops_are_driven(method):
    """Chosen at t = 0, valid later: a driven platform keeps five; accelerations and multipliers are the default's."""
    platform = kt.models.stewart_platform()
    q, _ = platform.keyframe("initial")
    motion = Sinusoid(amplitude=0.1, omega=3.0, offset=float(q[platform.q_index("prismatic1")][0]))
    model = platform.with_constraints(PrescribedMotion("prismatic1", motion))
    chosen = model.independent_velocities()
    assert len(chosen) == model.ny == 5 and platform.v_index("prismatic1").start not in chosen
    G = kt.closed_loops.null_space(model, q)
    assert np.linalg.matrix_rank(G) == 5 and G[list(chosen)] == pytest.approx(np.eye(5), abs=1e-12)
    run = kt.simulate(model, duration=0.1, dt=2e-3)
    tau, t = np.linspace(-1.0, 1.0, model.nv), run.time[-1]
    a, lam = kt.forward_dynamics(model, run.q[-1], run.v[-1], tau, t, multipliers=True)
    b, mu = kt.forward_dynamics(model, run.q[-1], run.v[-1], tau, t, multipliers=True, method=method)
    assert b == pytest.approx(a, abs=1e-9 * np.abs(a).max()) and mu == pytest.approx(lam, abs=1e-8 * np.abs(lam).max())
