"""SimBenchmark's tests of a quadruped (problems 3.5): energy in free fall, momentum in a collision with a ball."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from tests.engines.robots import robot_path

pin = pytest.importorskip("pinocchio")
G = 9.81
START = np.array([0.1, -0.2, 1.5, 0.9, 0.3, -0.2, 0.2])


@pytest.fixture(scope="module")
def anymal():
    """ANYmal B, 30.4 kg, free to move, without limits."""
    model = kt.load(robot_path("anymal_b"), floating_base=True, inertia="project").without_limits()
    start = model.neutral()
    start[:7] = START
    start[3:7] /= np.linalg.norm(start[3:7])
    return model.replace(contacts=()), start


def test_energy_of_free_fall_is_constant(anymal):
    """Joints and base in quick motion for a second: constant energy by tolerances, and at fourth order by RK4.

    Pinocchio has the same energy at all samples, from its own reading of the file; the center of mass falls as a point.
    """
    model, start = anymal
    v = np.concatenate(([1.0, -2.0, 1.5, 0.3, 0.2, 1.0], np.random.default_rng(5).normal(0.0, 4.0, model.nv - 6)))
    run = kt.simulate(model, start, v, duration=1.0, dt=0.02,
                      integrator=kt.integrators.Adaptive("dop853", rtol=1e-12, atol=1e-12))  # fmt: skip
    assert np.ptp(run.energy) < 1e-9 * run.kinetic_energy.max()
    fall = kt.center_of_mass(model, run.q) - kt.center_of_mass(model, start)
    velocity = kt.centroidal.center_of_mass_velocity(model, start, v)
    t = run.time[:, None]
    np.testing.assert_allclose(fall, t * velocity - 0.5 * t**2 * [0, 0, G], atol=1e-9)

    other = pin.buildModelFromUrdf(robot_path("anymal_b"), pin.JointModelFreeFlyer())
    data, energies = other.createData(), []
    for q, w in zip(run.q[::10], run.v[::10], strict=True):
        p, u = np.empty(other.nq), np.empty(other.nv)
        p[:3], p[3:7] = q[:3], np.roll(q[3:7], -1)
        u[:3], u[3:6] = w[3:6], w[:3]
        for joint in list(other.names)[2:]:
            at = other.joints[other.getJointId(joint)]
            p[at.idx_q], u[at.idx_v] = q[model.q_index(joint).start], w[model.v_index(joint).start]
        pin.computeAllTerms(other, data, p, u)
        energies.append(data.kinetic_energy + data.potential_energy)
    np.testing.assert_allclose(energies, run.energy[::10], rtol=1e-7)  # whose inertias are not projected
    errors = [np.ptp(kt.simulate(model, start, v, duration=0.5, dt=dt, integrator="rk4").energy) for dt in (4e-3, 2e-3)]
    assert errors[0] / errors[1] > 10.0


def test_momentum_of_a_collision_with_a_ball_is_constant(anymal):
    """10 kg hit the trunk at 5 m/s without gravity, 50 kg m/s: kept by tolerances, and to the order of dt in steps.

    Steps are semi-implicit: after the hit the joints move, and with them momentum is constant to the order of dt.
    """
    model, start = anymal
    b = kt.ModelBuilder("ball", gravity=(0.0, 0.0, 0.0))
    b.add_body("ball", joint=kt.joints.Free(), mass=10.0, inertia=0.04 * np.eye(3))
    both = kt.surgery.attach(model.replace(gravity=(0.0, 0.0, 0.0)), b.build(), at="world", free_base="keep")
    trunk = next(name for name in model.body_names if name.startswith("base"))
    hull = Shape(trunk, "box", (0.5, 0.3, 0.3), name="trunk")
    ball = Shape("ball", "sphere", (0.1,), name="shot")
    both = both.replace(contacts=[ContactPair("hit", hull, ball, friction=0.5, restitution=0.4)])
    q, v = both.neutral(), np.zeros(both.nv)
    q[both.q_index(model.joint_name(1))] = start[:7]
    ball_joint = both.joint_name(both.body_names.index("ball"))
    q[both.q_index(ball_joint)] = [1.2, 0.05, 1.6, 1.0, 0.0, 0.0, 0.0]
    v[both.v_index(ball_joint)] = [1.0, 2.0, 0.0, -5.0, -0.5, 0.0]
    joints = both.v_index(model.joint_name(1))
    run = kt.simulate(both, q, v, duration=0.4, dt=0.05, integrator="event_driven")
    assert [x.name for x in run.events] == ["impact of hit"] and np.abs(run.v[-1, joints]).max() > 0.1
    assert changes(both, run).max() < 1e-8
    errors = [changes(both, kt.simulate(both, q, v, duration=0.4, dt=dt)) for dt in (2e-3, 1e-3)]
    assert errors[1].max() < 0.5 and (errors[0] / errors[1] > 1.9).all()


def changes(model, run) -> np.ndarray:
    """Largest changes of the angular and linear momentum over a run, by axes."""
    h = kt.momentum(model, run.q, run.v)
    return np.abs(h - h[0]).max(axis=0)
