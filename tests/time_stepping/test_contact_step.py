"""Steps and rollouts with contact: closed forms, laws, and the same results in every form."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, UnsupportedError
from tests.time_stepping.bodies import BOX, at, body, cluster, slope

G, DT = 9.81, 1e-3


def rolled(model, q, v, steps, dt=DT, tau=None, **more):
    """A rollout by time stepping."""
    return kt.rollout(model, q, v, tau, dt, steps=steps, **more)


@pytest.fixture(scope="module")
def box():
    """A box on the floor z = 0."""
    return body("box").with_contacts(ground=kt.collision.Ground(friction=0.5))


@pytest.fixture(scope="module")
def ball():
    """A ball over the floor."""
    return body("ball").with_contacts(ground=kt.collision.Ground(friction=0.3))


def test_a_box_falls_lands_and_rests(box):
    """Free fall exactly as without the ground, no penetration at landing, and no motion afterwards."""
    q, v = rolled(box, at(box, (0.0, 0.0, 0.2)), None, 2000)
    n = 100
    assert v[n, 5] == pytest.approx(-G * n * DT, rel=1e-12)
    assert q[:, 2].min() > BOX[2] / 2 - 1e-8  # four corners, two more than needed
    assert q[-1, 2] == pytest.approx(BOX[2] / 2, abs=1e-12)
    assert np.abs(v[-1]).max() < 1e-12


def test_impulses_at_rest_are_the_weight(box):
    """Each step's normal impulses carry the weight, tangential ones cancel."""
    q, v, impulses = at(box, (0.0, 0.0, BOX[2] / 2)), np.zeros(6), np.zeros(box.n_impulses)
    for _ in range(6):  # sweeps of four corners, two more than needed, leave a factor of about 100 each
        q, v, impulses = kt.integrators.contact_step(box, q, v, impulses, np.zeros(6), DT)
    found = impulses.reshape(-1, 3)
    assert found[:, 2].sum() == pytest.approx(2.0 * G * DT, rel=1e-12)
    assert np.abs(found[:, :2].sum(axis=0)).max() < 1e-12 and found[:, 2].min() > 0.0


@pytest.mark.parametrize("part", [0.99, 1.01])
def test_a_box_on_a_slope_sticks_below_the_friction_angle_and_slides_above(box, part):
    """In 16 directions of the plane, 1 % from the critical slope: the cone is the true one, not a pyramid."""
    angle, directions = np.arctan(part * 0.5), 2.0 * np.pi * np.arange(16) / 16
    # A slide needs gravity along the plane whatever the model's own is.
    roll = kt.simulation.Rollout(box.replace(gravity=(1.0, 1.0, -1.0))).with_parameters(slope(angle, directions))
    q, _ = roll(at(box, (0.0, 0.0, BOX[2] / 2)), None, None, DT, steps=1000)
    slid = q[:, -1, 0] * np.cos(directions) + q[:, -1, 1] * np.sin(directions)
    expected = 0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle))
    if part < 1.0:
        assert np.abs(slid).max() < 1e-5
    else:
        assert slid == pytest.approx(np.full(16, expected), rel=0.02)  # of 1 % of the friction: 2e-4


@pytest.mark.parametrize("e", [0.3, 0.8])
def test_bounces_obey_newton(e):
    """Heights of the bounces of a ball are e^2n of the first."""
    model = body("ball").with_contacts(ground=kt.collision.Ground(restitution=e))
    q, _ = rolled(model, at(model, (0.0, 0.0, 0.6)), None, 10000, dt=1e-4)
    z = q[:, 2] - 0.1
    tops = [z[n] for n in range(1, len(z) - 1) if z[n - 1] < z[n] >= z[n + 1] and z[n] > 1e-3]
    assert tops[:2] == pytest.approx([0.5 * e**2, 0.5 * e**4][: len(tops[:2])], rel=0.02)


def test_soft_contact_is_a_spring_and_damper():
    """At rest it gives way by m g / k; the rate of its decay is that of spring and damper."""
    k = 2000.0
    model = body("ball").with_contacts(ground=kt.collision.Ground(stiffness=k, relaxation_time=0.05))
    q, v = rolled(model, at(model, (0.0, 0.0, 0.1)), None, 3000)
    assert q[-1, 2] == pytest.approx(0.1 - 2.0 * G / k, abs=1e-9)
    q, v = rolled(model, at(model, (0.0, 0.0, 0.09)), None, 20, dt=1e-5)
    x, rate = q[-1, 2] - 0.1, v[-1, 5]
    force = -k * (x + 0.05 * rate)
    a = (v[-1, 5] - v[-2, 5]) / 1e-5
    assert a == pytest.approx(force / 2.0 - G, rel=1e-6)


def test_contact_without_friction_leaves_tangential_velocity():
    """A box slides without loss."""
    model = body("box").with_contacts(ground=kt.collision.Ground(friction=0.0))
    q, v = rolled(model, at(model, (0.0, 0.0, BOX[2] / 2)), [0.0, 0.0, 0.0, 1.0, 0.5, 0.0], 200)
    assert v[-1, 3:5] == pytest.approx([1.0, 0.5], rel=1e-12) and abs(q[-1, 2] - BOX[2] / 2) < 1e-12


# The same in every form -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [lambda: body("box").with_contacts(ground=True), cluster])
def test_bits_do_not_depend_on_batch_position_or_threads(which):
    """A rollout is the same alone, at another place of a batch, and with other threads; also where code is skipped."""
    box = which()
    rng = np.random.default_rng(0)
    turn = rng.standard_normal((37, 4))
    q0 = np.concatenate([np.tile([0.0, 0.0, 0.4], (37, 1)), turn / np.linalg.norm(turn, axis=1)[:, None]], axis=1)
    q, v = rolled(box, q0, None, 300, threads=1)
    again, _ = rolled(box, q0, None, 300, threads=2)
    turned, _ = rolled(box, q0[::-1].copy(), None, 300, threads=1)
    assert (q == again).all() and (q == turned[::-1]).all() and np.isfinite(v).all()
    part, _ = rolled(box, q0[5:14], None, 300, threads=1)
    assert (q[5:14] == part).all()


def test_compiled_steps_are_those_of_the_source(box):
    """Interpreted rollouts agree to rounding; float32 to its precision."""
    q0, v0 = at(box, (0.0, 0.0, 0.11), (1.0, 0.05, 0.02, 0.0)), [0.3, -0.2, 0.1, 0.5, 0.2, -1.0]
    q, v = rolled(box, q0, v0, 60)
    with kt.interpreted():
        slow, _ = rolled(box, q0, v0, 60)
    assert slow == pytest.approx(q, abs=1e-10)
    single, _ = rolled(box, q0, v0, 60, dtype=np.float32)
    assert single.dtype == np.float32 and single == pytest.approx(q, abs=1e-4)


def test_many_contacts_are_the_same_compiled_and_interpreted():
    """Visits that machine code skips are selections in the source."""
    model = cluster()
    q0, v0 = at(model, (0.0, 0.0, 0.2), (1.0, 0.05, 0.02, 0.0)), [0.3, -0.2, 0.1, 0.5, 0.2, -1.0]
    q, _ = rolled(model, q0, v0, 40)
    with kt.interpreted():
        slow, _ = rolled(model, q0, v0, 40)
    assert slow == pytest.approx(q, abs=1e-9)


def test_guesses_of_contacts_that_are_far_away_have_no_effect():
    """Impulses of another state, at a body in free fall: none are left."""
    model = cluster()
    q, rest = at(model, (0.0, 0.0, 2.0)), np.zeros(6)
    _, v, impulses = kt.integrators.contact_step(model, q, rest, np.ones(24), rest, DT)
    assert (impulses == 0.0).all() and v == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, -G * DT], abs=1e-15)


def test_simulations_take_the_same_steps(box):
    """`simulate` by this method is the rollout, with its impulses as memory, solved to a residual."""
    q0, v0 = at(box, (0.0, 0.0, 0.13), (1.0, 0.05, 0.02, 0.0)), [0.3, -0.2, 0.1, 0.5, 0.2, -1.0]
    run = kt.simulate(box, q0, v0, duration=0.1, dt=DT, integrator="time_stepping")
    q, _ = rolled(box, q0, v0, 100)
    n = np.argmax(run.contacts.touching.any(axis=1)) + 1
    assert n > 5 and run.q[:n] == pytest.approx(q[:n], abs=1e-10)
    assert run.q == pytest.approx(q, abs=1e-4)  # the residual of eight sweeps at the landing


def test_impulses_are_recorded_on_request(box):
    """Each step's impulses: their sum is the change of momentum less gravity's; interpreted the same."""
    q0, record = at(box, (0.0, 0.0, 0.1002)), kt.Record(impulses=True)
    found = rolled(box, q0, None, 40, record=record)
    assert found.impulses.shape == (41, 12) and found.x.shape == (41, 0) and (found.impulses[0] == 0.0).all()
    normal = found.impulses.reshape(41, 4, 3)[..., 2].sum(axis=1)
    assert normal[1:] == pytest.approx(2.0 * (np.diff(found.v[:, 5]) + G * DT), abs=1e-12)
    with kt.interpreted():
        slow = rolled(box, q0, None, 40, record=record)
    assert slow.impulses.reshape(41, 4, 3)[..., 2].sum(axis=1) == pytest.approx(normal, abs=1e-12)
    with pytest.raises(UnsupportedError, match="has no impulses"):
        kt.rollout(kt.models.pendulum(), [0.1], None, None, DT, steps=2, integrator="rk4", record=record)


def test_other_methods_refuse_contact(box):
    """Nothing is left out in silence."""
    with pytest.raises(UnsupportedError, match=r"computes no contact. Use 'time_stepping'"):
        kt.rollout(box, at(box), None, None, DT, steps=2, integrator="rk4")
    with pytest.raises(ArgumentError, match="ground"):
        kt.rollout(body("ball"), at(box), None, None, DT, steps=2, ground="floor")


def test_the_argument_ground_is_the_model_with_contacts(ball):
    """``ground=0.05`` is a floor at this height."""
    q, _ = kt.rollout(body("ball"), at(ball, (0.0, 0.0, 0.3)), None, None, DT, steps=1000, ground=0.05)
    assert q[-1, 2] == pytest.approx(0.15, abs=1e-12)


@pytest.mark.seeds(3)
def test_a_sliding_ball_ends_rolling(ball, seed):
    """With 5/7 of its speed, whatever the friction; then it keeps its energy."""
    angle = 2.0 * np.pi * np.random.default_rng(seed).random()
    speed = np.array([np.cos(angle), np.sin(angle), 0.0])
    q, v = rolled(ball, at(ball, (0.0, 0.0, 0.1)), [0.0, 0.0, 0.0, *speed], 1000)
    at_end = kt.velocity(ball, q[[-300, -1]], v[[-300, -1]], frame="body", reference="local_world_aligned")
    assert at_end[:, 3:] == pytest.approx(np.tile(speed * 5.0 / 7.0, (2, 1)), abs=1e-9)
    assert kt.kinetic_energy(ball, q[-1], v[-1]) == pytest.approx(kt.kinetic_energy(ball, q[-300], v[-300]), rel=1e-9)


def test_sliding_loses_the_work_of_friction(ball):
    """Until it rolls, a ball slows down by mu g and turns by 5/2 mu g / r."""
    mu, n = 0.3, 20
    q, v = rolled(ball, at(ball, (0.0, 0.0, 0.1)), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], n)
    V = kt.velocity(ball, q[-1], v[-1], frame="body", reference="local_world_aligned")
    assert V[3] == pytest.approx(1.0 - mu * G * n * DT, rel=1e-9)
    assert V[1] == pytest.approx(2.5 * mu * G * n * DT / 0.1, rel=1e-9)


def deepest(q):
    """How far the lowest corner of a box is below the floor z = 0 [m]."""
    w, x, y, z = np.moveaxis(q[..., 3:], -1, 0)
    up = np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=-1)
    return np.maximum(0.0, np.abs(up) @ np.array(BOX) / 2.0 - q[..., 2])


@pytest.mark.seeds(2)
def test_contact_never_adds_energy(box, seed):
    """A tumbling box falls from random attitudes with random spin: no step gains more than theory, none in all.

    Free motion is explicit in the gyroscopic torque ``I a = I w x w``, without power at the start of a step, and in
    gravity: a step in flight changes the energy by ``dt^2/2 (a I a - m g^2)``. With the contact laws, impulses do no
    work on the final velocities, ``lambda u <= 0``; completing the square in their change of velocity, also steps with
    contact gain at most ``dt^2/2 a I a``. More is allowed for a penetration, where ``u`` is the rate of its recovery,
    and for residuals r of the laws: ``lambda u <= |r| (|lambda| + s |u|)`` for normal and friction, by the
    projections of the natural map, whose scales s are at most the mass.
    """
    rng, n, dt, m = np.random.default_rng(seed), 32, 5e-3, 2.0
    turn = rng.standard_normal((n, 4))
    q0 = np.concatenate([np.tile([0.0, 0.0, 0.5], (n, 1)), turn / np.linalg.norm(turn, axis=1)[:, None]], axis=1)
    record = kt.Record(impulses=True, residuals=True)
    found = rolled(box, q0, 2.0 * rng.standard_normal((n, 6)), 1000, dt=dt, record=record)
    q, v, impulses = found.q, found.v, found.impulses[:, 1:].reshape(n, 1000, 4, 3)
    energy = kt.kinetic_energy(box, q, v) + kt.potential_energy(box, q)
    gain, inertia, w = np.diff(energy, axis=1), m / 12.0 * (np.square(BOX).sum() - np.square(BOX)), v[:, :-1, :3]
    spin = dt**2 / 2.0 * (np.cross(inertia * w, w) ** 2 / inertia).sum(axis=-1)
    normal, friction = impulses[..., 2], np.linalg.norm(impulses[..., :2], axis=-1)
    flies = (normal == 0.0).all(axis=-1)
    assert np.abs(gain - spin + dt**2 / 2.0 * m * G**2)[flies].max() < 1e-14 * energy.max()
    recovered = normal.sum(axis=-1) * np.minimum(0.2 * deepest(q[:, :-1]) / dt, 1.0)
    fastest = np.linalg.norm(v[:, 1:, 3:], axis=-1) + np.linalg.norm(v[:, 1:, :3], axis=-1) * np.linalg.norm(BOX) / 2.0
    touching = (normal > 0.0).sum(axis=-1)
    unsolved = found.residuals[:, 1:] * ((normal + friction).sum(axis=-1) + 2.0 * m * touching * fastest)
    assert (gain - spin < recovered + unsolved + 1e-14 * energy.max()).all()
    assert (energy[:, -1] < energy[:, 0]).all() and np.abs(v[:, -1]).max() < 1e-9


def test_free_bodies_keep_their_momentum(ball):
    """Of a box that spins in free fall the center moves as a point; on impact, horizontal momentum needs friction."""
    box = body("box").with_contacts(ground=kt.collision.Ground(friction=0.0))
    q, v = rolled(box, at(box, (0.0, 0.0, 0.4), (1.0, 0.3, 0.2, 0.1)), [1.0, -2.0, 3.0, 0.4, 0.5, 0.6], 600)
    V = kt.velocity(box, q, v, frame="body", reference="local_world_aligned")
    assert V[:, 3:5] == pytest.approx(np.tile(V[0, 3:5], (601, 1)), abs=1e-12)
    assert np.diff(V[:100, 5]) == pytest.approx(np.full(99, -G * DT), abs=1e-12)
    assert q[:, 2].min() < 0.3


def test_a_capsule_comes_to_rest_on_a_table():
    """Over its edge, on two points: they carry its weight, the one at the edge more; on a slope it rolls."""
    builder = kt.ModelBuilder("rod")
    builder.add_body("rod", joint=kt.joints.Free(), mass=2.0, inertia=np.diag([0.06, 0.06, 0.0025]))
    rod = kt.collision.Shape("rod", "capsule", (0.05, 0.6), name="rod")
    table = kt.collision.Shape("world", "box", (1.0, 1.0, 0.2), p=(0.0, 0.0, -0.1), name="table")
    model = builder.build().replace(contacts=[kt.collision.ContactPair("rod/table", rod, table, friction=0.6)])
    lying = np.array([0.4, 0.0, 0.0501, *np.array([1.0, 0.0, 1.0, 0.0]) / np.sqrt(2.0)])
    found = kt.rollout(model, lying, None, None, DT, steps=1000, record=kt.Record(impulses=True))
    assert np.abs(found.v[-1]).max() < 1e-9 and found.q[-1, 2] == pytest.approx(0.05, abs=1e-9)
    forces = sorted(found.impulses[-1].reshape(2, 3)[:, 2] / DT)  # at x = 0.1 and 0.5, its center at 0.4
    assert forces == pytest.approx([2.0 * 9.81 * 0.25, 2.0 * 9.81 * 0.75], rel=1e-6)
    slope = model.replace(gravity=(0.0, 9.81 * np.sin(0.1), -9.81 * np.cos(0.1)))
    _, v = kt.rollout(slope, lying - np.eye(7)[1] * 0.4 - np.eye(7)[2] * 1e-4, None, None, DT, steps=200)
    rolling = 9.81 * np.sin(0.1) / (1.0 + 0.0025 / (2.0 * 0.05**2))  # a = g sin / (1 + I / (m r^2))
    speed = np.linalg.norm(v[-1, 3:])
    assert speed == pytest.approx(rolling * 200 * DT, rel=1e-6)
