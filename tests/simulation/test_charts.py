"""Joints whose coordinates end at a singularity: the integrators go over to other coordinates before they get there."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Composite, Reversed, Revolute, Spherical, SphericalExponential, Translational
from kinetree.joints.spherical import FAR

SPIN = np.array([0.3, 0.1, 9.0])  # nearly about an axis: full turns are nearly full turns
TUMBLE = np.array([0.3, 9.0, -0.2])  # about the middle axis, which is unstable
DURATION = 3.0


def top(joint, **data):
    """One body on a joint, without gravity, with three different moments of inertia."""
    b = kt.ModelBuilder("top", gravity=(0.0, 0.0, 0.0))
    b.add_body("top", joint=joint, mass=1.0, inertia=(0.1, 0.2, 0.25), **data)
    return b.build()


def rotations(model, q):
    return np.array([np.array(model.joints[1].transform(x.tolist()).E.matrix.rows, dtype=float) for x in q])


@functools.cache
def reference(spin):
    """The same motion with a quaternion, to 1e-12 per step."""
    model = top(Spherical())
    run = kt.simulate(
        model,
        model.neutral(),
        spin,
        duration=DURATION,
        dt=1e-2,
        integrator=kt.integrators.Adaptive(rtol=1e-12, atol=1e-12),
    )
    return rotations(model, run.q)


def changes(q):
    """How often the coordinates jump: by more than half a turn from one sample to the next."""
    return int(np.sum(np.linalg.norm(np.diff(q, axis=0), axis=1) > np.pi))


@pytest.mark.parametrize(
    ("joint", "part"),
    [
        (SphericalExponential(), slice(0, 3)),
        (Composite((Translational(), SphericalExponential())), slice(3, 6)),
    ],
    ids=["joint", "composite"],
)
@pytest.mark.parametrize("integrator", ["rk4", "adaptive"])
@pytest.mark.parametrize(("spin", "least"), [(SPIN, 4), (TUMBLE, 1)], ids=["spins", "tumbles"])
def test_a_body_turns_as_with_a_quaternion(spin, least, joint, part, integrator):
    """Several turns: the coordinates change charts, never come near 2 pi, and the orientation is that of a quaternion.

    Steps of 1 ms at 9 rad/s: errors of 1e-9, which the unstable axis lets grow a hundredfold.
    """
    model = top(joint)
    v0 = np.zeros(model.nv)
    v0[part] = spin
    run = kt.simulate(
        model, model.neutral(), v0, duration=DURATION, dt=1e-3, record=kt.Record(every=10), integrator=integrator
    )
    assert changes(run.q[:, part]) >= least
    assert np.linalg.norm(run.q[:, part], axis=1).max() < FAR + 0.1
    np.testing.assert_allclose(rotations(model, run.q), reference(tuple(spin)), atol=1e-6)
    energy = run.kinetic_energy
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)


def test_semi_implicit_steps_change_charts():
    """The first-order method: many turns, always within the chart, and an energy error that halves with the step."""
    model = top(SphericalExponential())
    errors = []
    for dt in (1e-3, 5e-4):
        run = kt.simulate(model, model.neutral(), SPIN, duration=1.5, dt=dt, integrator="semi_implicit")
        assert changes(run.q) >= 1 and np.linalg.norm(run.q, axis=1).max() < FAR + 0.02
        errors.append(np.ptp(run.kinetic_energy) / run.kinetic_energy[0])
    assert errors[0] < 0.1
    assert errors[1] / errors[0] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("new_coordinates", [True, False])
def test_without_new_coordinates_the_mass_matrix_degenerates(new_coordinates):
    """A loop that only adds up q passes close by the singularity: what the reparameterization is for."""
    model = top(SphericalExponential())
    q, v, h, worst = model.neutral(), SPIN.copy(), 1e-3, 0.0
    for _ in range(720):  # a full turn takes 698 steps
        v = v + h * kt.aba(model, q, v, np.zeros(3))
        q = kt.integrate(model, q, h * v)
        if new_coordinates:
            q, v = kt.kinematics.reparameterize(model, q, v)
        worst = max(worst, np.linalg.cond(kt.crba(model, q)))
        if worst > 1e4:
            break
    assert worst < 50.0 if new_coordinates else worst > 1e4


def test_rollouts_change_charts_too():
    """The compiled loop over steps gives what `simulate` gives."""
    model, steps = top(SphericalExponential()), 1500
    q, v = kt.rollout(model, model.neutral(), SPIN, None, 1e-3, steps=steps, integrator="rk4")
    run = kt.simulate(model, model.neutral(), SPIN, duration=1.5, dt=1e-3, integrator="rk4")
    assert changes(q) >= 1
    np.testing.assert_allclose(q[-1], run.q[-1], atol=1e-9)
    np.testing.assert_allclose(v[-1], run.v[-1], atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_new_coordinates_are_the_same_state(seed):
    """Poses and twists of all bodies stay what they are, also behind reversed and composite joints."""
    chart = SphericalExponential()
    joints = [chart, Reversed(chart), Composite((Revolute((0, 1, 0)), Reversed(chart))), Spherical()]
    model = kt.models.random_tree(6, seed, joints=joints, armature=False)
    rng = np.random.default_rng(seed)
    q, v = model.random_q(rng), rng.normal(size=model.nv)
    for i in model.outward():
        if model.joints[i].several_charts:  # rotation vectors between the threshold and a full turn
            part = slice(model.q_slice[i].stop - 3, model.q_slice[i].stop)
            q[part] *= rng.uniform(1.6, 1.9) * np.pi / np.linalg.norm(q[part])
    new_q, new_v = kt.kinematics.reparameterize(model, q, v)
    assert np.abs(new_q - q).max() > 1.0
    with kt.interpreted():
        np.testing.assert_allclose(kt.kinetic_energy(model, new_q, new_v), kt.kinetic_energy(model, q, v), rtol=1e-12)
        for mine, theirs in zip(twists(model, q, v), twists(model, new_q, new_v), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)


def twists(model, q, v):
    """Poses and twists of all frames, one after the other."""
    return [*kt.kinematics.frame_poses(model, q), kt.kinematics.frame_velocities(model, q, v, reference="local")]


@pytest.mark.parametrize(
    "data", [{"stiffness": 0.5}, {"lower": -10.0, "upper": 10.0}, {"armature": 0.1}], ids=lambda data: next(iter(data))
)
def test_joints_with_energy_in_their_coordinates_keep_them(data):
    """A spring, a limit or an armature is a function of q or v itself, and would jump."""
    model = top(SphericalExponential(), **data)
    q, v = np.array([0.0, 0.0, 6.0]), np.array([1.0, 2.0, 3.0])
    same_q, same_v = kt.kinematics.reparameterize(model, q, v)
    np.testing.assert_array_equal(same_q, q)
    np.testing.assert_array_equal(same_v, v)


def test_samples_before_and_after_a_change_are_all_there():
    """Adaptive runs start anew at every change; no sample is lost or doubled, and the times are those asked for."""
    model = top(SphericalExponential())
    for dt in (0.05, 1.0):
        run = kt.simulate(model, model.neutral(), SPIN, duration=DURATION, dt=dt, integrator="adaptive")
        np.testing.assert_allclose(run.time, np.arange(len(run.time)) * dt, atol=1e-12)
        assert run.q.shape == (round(DURATION / dt) + 1, 3)
