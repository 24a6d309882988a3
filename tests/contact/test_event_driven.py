"""Event-driven contact against closed forms: bounces, slip, rolling, lift-off, walking, impacts of several bodies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.errors import ArgumentError, ContactError, UnsupportedError
from kinetree.integrators import EventDriven

G = 9.81
FLOOR = Shape("world", "plane", name="floor")
WALL = Shape("world", "plane", R=((1, 0, 0), (0, 0, 1), (0, -1, 0)), name="floor")  # its normal is y, for planar motion


def single(shape, inertia, mass=1.0, com=(0.0, 0.0, 0.0)):
    """A free body with a shape."""
    b = kt.ModelBuilder("single")
    b.add_body("body", joint=kt.joints.Free(), mass=mass, com=com, inertia=inertia)
    return b.build().replace(contacts=[ContactPair("floor/body", FLOOR, shape)])


BALL = single(Shape("body", "sphere", (0.1,), name="ball"), 0.004 * np.eye(3))
BOX = single(Shape("body", "box", (0.2, 0.3, 0.1), name="box"), np.diag([0.0083, 0.0042, 0.0108]))


def on(model, floor=FLOOR, **material):
    """The same body on another floor, of other material: other numbers for the same compiled code."""
    (pair,) = model.contacts
    return model.replace(contacts=[ContactPair(pair.name, floor, pair.second, **material)])


def slope(angle, heading):
    """A floor that falls by an angle along a heading, its normal, and the direction downhill."""
    c, s, a, b = math.cos(angle), math.sin(angle), math.cos(heading), math.sin(heading)
    R = np.array([[a, -b, 0], [b, a, 0], [0, 0, 1]]) @ [[c, 0, s], [0, 1, 0], [-s, 0, c]]
    return Shape("world", "plane", R=tuple(map(tuple, R.tolist())), name="floor"), R


def flat_on(R, half_height):
    """Position of a free body that lies flat on a slope."""
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    w = 0.5 * math.sqrt(1.0 + np.trace(R))
    return np.concatenate((R[:, 2] * half_height, [w], axis / (4.0 * w)))


def moved(model, q, v, duration, dt=0.05, integrator="event_driven"):
    return kt.simulate(model, q, v, duration=duration, dt=dt, integrator=integrator)


def times(run, name):
    return [x.time for x in run.events if x.name.startswith(name)]


# Bounces -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("e", "published", "rest"),
    [
        (0.8, (0.451523640986, 1.173961466563, 1.751911727025, 2.214271935394), 4.063712768872),
        (0.5, (0.451523640986, 0.903047281971, 1.128809102464, 1.241690012711), 1.354570922957),
    ],
)
def test_bounces_of_a_ball_and_their_accumulation(e, published, rest):
    """Impact times to twelve digits, n-th flights of 2 e^n t1, apexes h e^2n; at rest after t1 (1 + e) / (1 - e)."""
    run = moved(on(BALL, restitution=e), [0, 0, 1.1, 1, 0, 0, 0], np.zeros(6), 4.5)
    hits = times(run, "impact")
    assert hits[:4] == pytest.approx(published, abs=2e-12)
    t1 = math.sqrt(2.0 / G)
    assert np.diff(hits)[:20] == pytest.approx(2.0 * t1 * e ** np.arange(1, 21), abs=1e-11)
    assert 0.0 < rest - hits[-1] < 2e-6  # bounces below 1e-6 m/s have no rebound
    still = run.time > rest
    assert np.abs(run.v[still]).max() < 1e-12 and run.q[still][:, 2] == pytest.approx(0.1, abs=1e-13)
    assert run.q[:, 2].min() > 0.1 - 1e-13 and np.diff(run.energy).max() < 1e-13


def test_an_elastic_ball_keeps_its_energy_and_height():
    """e = 1 for 20 s: 22 bounces, and the energy to rounding."""
    run = moved(on(BALL, restitution=1.0), [0, 0, 1.1, 1, 0, 0, 0], np.zeros(6), 20.0, dt=0.1)
    assert len(times(run, "impact")) == 22
    assert np.ptp(run.energy) < 1e-12


# Friction ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("degrees", "heading", "mu", "a"),
    [
        (20, 0.0, 0.3, 0.589702223052),
        (30, 0.7, 0.3, 2.356287236662),
        (10, 2.0, 0.3, 0.0),
        (20, 4.0, 1.01 * math.tan(math.pi / 9), 0.0),
        (20, 5.0, 0.99 * math.tan(math.pi / 9), 0.01 * G * math.sin(math.pi / 9)),
    ],
)
def test_a_block_on_an_incline_slides_or_sticks(degrees, heading, mu, a):
    """a = g (sin - mu cos), in any direction of the plane; 1 % above the critical coefficient it does not move."""
    floor, R = slope(math.radians(degrees), heading)
    q = flat_on(R, 0.05)
    run = moved(on(BOX, floor, friction=mu), q, np.zeros(6), 1.0, dt=0.1)
    way = run.q[-1, :3] - q[:3]
    assert way @ R[:, 0] == pytest.approx(0.5 * a, abs=1e-11)
    assert np.abs(way @ R[:, 1:]).max() < 1e-12 and np.abs(run.q[-1, 3:] - q[3:]).max() < 1e-12


@pytest.mark.parametrize(
    ("v0", "time", "way"), [(-3.0, 0.651921953708, -0.977882930562), (3.0, 2.510879233369, 3.766318850054)]
)
def test_a_block_on_a_slope_stops_where_it_should(v0, time, way):
    """Pushed up or down a slope of 10 degrees with mu = 0.3: the stop, and rest after it."""
    floor, R = slope(math.radians(10.0), 0.0)
    q = flat_on(R, 0.05)
    run = moved(on(BOX, floor, friction=0.3), q, [0, 0, 0, v0, 0, 0], 2.6)
    assert times(run, "stick")[0] == pytest.approx(time, abs=3e-11)
    assert (run.q[-1, :3] - q[:3]) @ R[:, 0] == pytest.approx(way, abs=2e-11)
    assert np.abs(run.v[-1]).max() < 1e-14


def test_a_sliding_sphere_rolls_with_five_sevenths_of_its_speed():
    """v0 = 5, mu = 0.2: time, distance and speed at which slip ends; then it rolls on and keeps its energy."""
    run = moved(on(BALL, friction=0.2), [0, 0, 0.1, 1, 0, 0, 0], [0, 0, 0, 3, 4, 0], 1.2)
    (end,) = [x for x in run.events if x.name.startswith("stick")]
    assert end.time == pytest.approx(0.728119994175, abs=1e-9)
    assert np.hypot(*end.q[:2]) == pytest.approx(3.120514260750, abs=5e-9)
    rolls = run.time > end.time
    assert np.linalg.norm(run.v[rolls, 3:], axis=1) == pytest.approx(25.0 / 7.0, abs=5e-9)
    assert np.ptp(run.energy[rolls]) < 1e-8 and np.diff(run.energy).max() < 1e-8


@pytest.mark.parametrize(
    ("mu", "a"), [(0.5, 2.396584004303), (0.05, G * (math.sin(math.pi / 9) - 0.05 * math.cos(math.pi / 9)))]
)
def test_a_sphere_rolls_or_slips_down_a_slope(mu, a):
    """Rolling for mu above 2/7 tan(20 degrees): 5/7 g sin; below it slips, with r alpha = 5/2 mu g cos."""
    floor, R = slope(math.radians(20.0), 1.0)
    run = moved(on(BALL, floor, friction=mu), [*(0.1 * R[:, 2]), 1, 0, 0, 0], np.zeros(6), 1.0)
    assert (run.q[-1, :3] - 0.1 * R[:, 2]) @ R[:, 0] == pytest.approx(0.5 * a, abs=1e-9)
    spin = 5.0 / 7.0 * G * math.sin(math.pi / 9) if mu == 0.5 else 2.5 * mu * G * math.cos(math.pi / 9)
    assert 0.1 * np.linalg.norm(run.v[-1, :3]) == pytest.approx(spin, abs=1e-8)


def test_a_tippe_top_keeps_the_invariant_of_jellett():
    """L . u of a sphere whose center of mass is off center, under any force at its point of contact; energy falls."""
    R, a, I = 0.1, 0.03, np.diag([0.004, 0.004, 0.0035])
    top = on(single(Shape("body", "sphere", (R,), name="top"), I, com=(0, 0, -a)), friction=0.3)
    run = moved(top, [0, 0, R, math.cos(0.1), math.sin(0.1), 0, 0], [0, 0, 60.0, 0.2, 0, 0], 0.4, dt=0.02)
    found = []
    for q, v in zip(run.q, run.v, strict=True):
        turned, p = kt.pose(top, q, frame="body")
        u = [0, 0, -R] - turned @ [0, 0, -a]
        found.append((turned @ I @ v[:3]) @ u)
    assert np.ptp(found) < 1e-10 * abs(found[0])
    assert np.diff(run.energy).max() < 1e-9 and run.energy[-1] < run.energy[0] - 1e-3


# Curved surfaces, impacts of mechanisms ------------------------------------------------------------------------------


def test_a_ball_leaves_a_sphere_where_gravity_no_longer_turns_it():
    """Without friction at cos = 2/3 cos(start): normals turn, and the force vanishes (book, eq. 11.8)."""
    shape = Shape("body", "sphere", (0.1,), name="ball")
    pair = ContactPair("hill", Shape("world", "sphere", (1.0,), name="hill"), shape, friction=0.0)
    start = 0.1
    q = [1.1 * math.sin(start), 0, 1.1 * math.cos(start), 1, 0, 0, 0]
    run = moved(BALL.replace(contacts=[pair]), q, np.zeros(6), 1.2)
    (off,) = [x for x in run.events if x.name.startswith("lift-off")]
    assert off.q[2] / 1.1 == pytest.approx(2.0 / 3.0 * math.cos(start), abs=2e-9)
    assert np.ptp(run.energy) < 1e-9
    fall = run.time > off.time
    assert (np.linalg.norm(run.q[fall, :3], axis=1) > 1.1).all()


def wheel(inertia, gamma, count=8):
    """A rimless wheel with a mass of 1 at its hub, on a slope; the y axis is normal to it."""
    b = kt.ModelBuilder("wheel", gravity=(G * math.sin(gamma), -G * math.cos(gamma), 0.0))
    b.add_body("hub", joint=kt.joints.Planar(), mass=1.0, inertia=inertia * np.eye(3))
    turns = 2.0 * np.pi / count * np.arange(count)
    return b.build().replace(
        contacts=[
            ContactPair(
                f"spoke{k}",
                WALL,
                Shape("hub", "sphere", (1e-12,), p=(math.sin(x), -math.cos(x), 0), name=f"tip{k}"),
                friction=2.0,
            )
            for k, x in enumerate(turns)
        ]
    )


def test_the_rimless_wheel_walks_as_published():
    """Plastic impacts of spokes: speeds after them, and the period, of a point mass and of a hub with inertia."""
    alpha, gamma = np.pi / 8.0, 0.08
    q = [alpha, -math.sin(alpha), math.cos(alpha) + 1e-12]
    model = wheel(1e-7, gamma)
    run = moved(model, q, [-1.2 * 1.095462839648, 1.2 * 1.095462839648, 0], 5.2)
    steps = {x.time: -x.v_after[0] for x in run.events if x.name.startswith("impact")}
    published = (1.20997825448, 1.15414171776, 1.12518485986, 1.11042329810, 1.10296843427)
    assert list(steps.values())[:5] == pytest.approx(published, abs=2e-6)
    # The inertia of a hub enters both, exactly: limit cycle of the affine return map.
    I = 0.2
    kept = (I + math.cos(2.0 * alpha)) / (I + 1.0)
    gain = 2.0 * G / (1.0 + I) * (math.cos(gamma - alpha) - math.cos(gamma + alpha))
    omega = math.sqrt(kept**2 / (1.0 - kept**2) * gain)
    run = moved(model.replace(I=[model.I[0], wheel(I, gamma).I[1]]), q, [-omega, omega, 0], 3.0)
    steps = {x.time: -x.v_after[0] for x in run.events if x.name.startswith("impact")}
    assert len(steps) >= 2 and list(steps.values()) == pytest.approx([omega] * len(steps), abs=1e-9)


@pytest.mark.parametrize(
    ("law", "expected"),
    [("newton", (-1 / 3, 2 / 3, 2 / 3)), ("poisson", (-1 / 3, 2 / 3, 2 / 3)), ("sequential", (0, 0, 1))],
)
def test_three_balls_by_each_law(law, expected):
    """Newton's cradle on a rail, as documented for the laws of impacts; energy and momentum are kept."""
    run = moved(CRADLE, [0, 2, 3], [1, 0, 0], 1.5, 0.25, EventDriven(law=law))
    assert run.v[-1] == pytest.approx(expected, abs=1e-12)
    assert times(run, "impact")[0] == pytest.approx(1.0, abs=1e-13)


def cradle():
    b = kt.ModelBuilder("cradle")
    for k in range(3):
        b.add_body(f"b{k}", joint=kt.joints.Prismatic((1, 0, 0)), mass=1.0, inertia=0.4 * np.eye(3))
    balls = [Shape(f"b{k}", "sphere", (0.5,), name=f"s{k}") for k in range(3)]
    return b.build().replace(
        contacts=[ContactPair(f"c{k}", balls[k], balls[k + 1], friction=0.0, restitution=1.0) for k in range(2)]
    )


CRADLE = cradle()


def test_a_tumbling_box_comes_to_rest_and_never_gains_energy():
    """Corners hit, stick, slip and lift off; in the end it lies still on a face, on the floor to rounding."""
    q = np.array([0, 0, 0.5, 0.9, 0.2, 0.3, 0.1])
    q[3:] /= np.linalg.norm(q[3:])
    run = moved(on(BOX, friction=0.5, restitution=0.3), q, [1, 2, 3, 0.5, 0.2, 0], 1.5)
    assert len(times(run, "impact")) > 20 and np.abs(run.v[-1]).max() < 1e-12
    assert np.abs(kt.collision.contact_gaps(run.model, run.q[-1])).max() < 1e-13
    assert kt.collision.contact_gaps(run.model, run.q).min() > -1e-9
    assert np.diff(run.energy).max() < 1e-9


def test_time_stepping_tends_to_the_events():
    """A sphere that slides and rolls: the distance between both methods is proportional to dt."""
    ball, q, v = on(BALL, friction=0.2), [0, 0, 0.1, 1, 0, 0, 0], [0, 0, 0, 1, 0.2, 0]
    exact = moved(ball, q, v, 0.3).q[-1, :3]
    errors = [np.abs(moved(ball, q, v, 0.3, dt, "time_stepping").q[-1, :3] - exact).max() for dt in (2e-3, 1e-3, 5e-4)]
    assert errors[0] < 3e-4
    assert np.log2(errors[:-1] / np.array(errors[1:])) == pytest.approx(1.0, abs=0.1)


# Painleve, settings, errors ------------------------------------------------------------------------------------------


def rod(mu):
    b = kt.ModelBuilder("rod", gravity=(0, -G, 0))
    b.add_body("rod", joint=kt.joints.Planar(), mass=1.0, inertia=np.eye(3) / 12.0)
    tip = Shape("rod", "sphere", (1e-6,), p=(0, -0.5, 0), name="tip")
    return b.build().replace(contacts=[ContactPair("tip", WALL, tip, friction=mu)])


def test_a_rod_that_jams_sticks_after_an_impulse():
    """Painleve: with mu = 3 no force keeps the sliding tip on the floor; an impulse without a collision stops slip."""
    theta, speed = 0.6, 2.0
    c, s = math.cos(theta), math.sin(theta)
    q, v = [theta, 0, 0.5 * c + 1e-6], [0, speed * c, -speed * s]
    run = moved(rod(3.0), q, v, 0.1)
    assert [x.name for x in run.events] == ["jam of tip"]
    after = run.events[0].v_after
    J = kt.collision.contact_jacobian(run.model, q)
    assert np.abs(J @ after).max() < 2e-6  # of a step of vanishing length
    assert kt.kinetic_energy(run.model, q, after) < kt.kinetic_energy(run.model, q, v)
    assert np.abs(kt.collision.contact_jacobian(run.model, run.q[1]) @ run.v[1]).max() < 1e-12
    with pytest.raises(ContactError, match="Painlev"):
        kt.contact.contact_accelerations(rod(3.0), q, v, np.zeros(3))
    assert not moved(rod(0.5), q, v, 0.1).events


def test_a_run_in_pieces_is_the_run_in_one():
    """Snapshots have the sets of contacts; the events are those of the whole run."""
    ball, start = on(BALL, restitution=0.5, friction=0.2), dict(q0=[0, 0, 0.6, 1, 0, 0, 0], v0=[0, 3, 0, 1, 0, 0])
    whole = kt.simulate(ball, **start, duration=1.2, dt=0.04, integrator="event_driven")
    sim = kt.Simulation(ball, **start, dt=0.04, integrator="event_driven")
    sim.advance(0.6)
    snapshot = sim.save()
    sim.advance(0.4)
    sim.restore(snapshot)
    sim.advance(0.6)
    assert np.array_equal(sim.q, whole.q[-1])
    assert [x.time for x in sim.events] == [x.time for x in whole.events] and len(whole.events) > 3


def test_events_of_the_user_are_found_between_those_of_contacts():
    """The top of the first rebound, at t1 + e t1."""
    top = kt.Event(lambda t, q, v: v[5] if t > 0.2 else 1.0, direction=-1, name="top")
    run = kt.simulate(
        on(BALL, restitution=0.5), [0, 0, 1.1, 1, 0, 0, 0], duration=1.0, dt=0.05, integrator="event_driven", events=top
    )
    tops = times(run, "top")
    assert 1.5 * 0.451523640986 in [pytest.approx(t, abs=1e-8) for t in tops]


def test_what_events_do_not_support_is_named():
    """Bad options, rollouts."""
    with pytest.raises(UnsupportedError, match="event_driven"):
        kt.rollout(BALL, [0, 0, 0.2, 1, 0, 0, 0], None, None, 1e-3, steps=2, integrator="event_driven")
    with pytest.raises(ArgumentError, match="rest_speed"):
        EventDriven(rest_speed=-1.0)
    with pytest.raises(ArgumentError, match="EventDriven: law"):
        EventDriven(law="hertz")
    assert str(EventDriven(rtol=1e-8)) == "event_driven (dp54, rtol=1e-08, atol=1e-10, newton)"


def test_the_energy_balance_has_impacts_and_friction():
    """Work of normal forces is the loss of the impacts, that of friction the rest, recorded every step or not."""
    q = np.array([0, 0, 0.3, 0.9, 0.2, 0.3, 0.1])
    q[3:] /= np.linalg.norm(q[3:])
    box = on(BOX, friction=0.5, restitution=0.3)
    for every in (1, 5):
        run = kt.simulate(
            box,
            q,
            [1, 2, 0, 1, 0.2, 0],
            duration=0.6,
            dt=0.02,
            integrator="event_driven",
            record=kt.Record(every=every),
        )
        channels = run.energy_balance.channels
        work = {name: channels[f"work.{name}"][-1] for name in ("contact", "contact friction")}
        assert sum(work.values()) == pytest.approx(run.energy[-1] - run.energy[0], abs=1e-6)
        assert work["contact"] < -1.0 and work["contact friction"] < -0.1
    resting = run.contacts.normal_forces[-1]
    assert run.contacts.forces.shape == (7, 4, 3) and (resting >= 0.0).all()


@pytest.mark.parametrize(
    ("r", "degrees", "radius", "omega", "spin", "ratio"),
    [
        (0.05, 20.0, 0.2, 3.579796822548, 14.319187290191, 0.238923607227),
        (1.0, 45.0, 2.0, 2.153102546073, 4.306205092147, 0.610974492399),
    ],
)
def test_a_leaning_disc_rolls_in_a_circle_if_friction_allows(r, degrees, radius, omega, spin, ratio):
    """A coin on a circle: precession by the closed form; below the ratio of forces it slips."""
    lean = math.radians(degrees)
    down = r * np.array([-math.sin(lean), 0.0, math.cos(lean)])  # from the point of contact to the center
    axis = np.array([math.cos(lean), 0.0, math.sin(lean)])
    R = np.stack((down / r, np.cross(axis, down / r), axis), axis=1)
    center, w = np.array([radius, 0.0, 0.0]) + down, np.array([0.0, 0.0, omega]) - spin * axis
    q = np.concatenate((center, Rotation.from_matrix(R).as_quat(scalar_first=True)))
    v = np.concatenate((R.T @ w, R.T @ np.cross(w, down)))
    disc = single(Shape("body", "cylinder", (r, 1e-9), name="disc"), r**2 * np.diag([0.25, 0.25, 0.5]))
    run = moved(on(disc, friction=1.01 * ratio), q, v, 0.3)
    assert np.hypot(*run.q[:, :2].T) == pytest.approx(radius - r * math.sin(lean), abs=1e-9)
    force = kt.contact.contact_accelerations(run.model, q, v, np.zeros(6)).forces.sum(axis=0)
    assert np.hypot(*force[:2]) / force[2] == pytest.approx(ratio, abs=1e-8)
    assert np.ptp(run.energy) < 1e-8 and not run.events
    slips = kt.contact.contact_accelerations(on(disc, friction=0.99 * ratio), q, v, np.zeros(6))
    assert np.hypot(*slips.accelerations[0, :2]) > 1e-2


@pytest.mark.parametrize("k", [0.4, 2.0 / 3.0])
def test_any_ball_that_slides_ends_rolling(k):
    """Inertia k m r^2: it rolls at v0 / (mu g (1 + 1 / k)) with v0 / (1 + k): problems 3.3."""
    body = single(Shape("body", "sphere", (0.1,), name="ball"), 0.01 * k * np.eye(3))
    run = moved(on(body, friction=0.2), [0, 0, 0.1, 1, 0, 0, 0], [0, 0, 0, 2, 0, 0], 0.5)
    (end,) = times(run, "stick")
    assert end == pytest.approx(2.0 / (0.2 * G * (1.0 + 1.0 / k)), abs=1e-9)
    twist = kt.kinematics.body_velocities(body, run.q[-1], run.v[-1], reference="local_world_aligned")
    assert twist[1, 3] == pytest.approx(2.0 / (1.0 + k), abs=1e-8)


STEPS = 1e-3, 5e-4, 2.5e-4


@pytest.mark.sweep
def test_a_robot_hit_by_a_ball_keeps_the_momentum_of_both():
    """A free quadruped without gravity and a ball of 10 kg: both momenta stay, by time stepping to its order."""
    b = kt.ModelBuilder.of(kt.load("quadruped", floating_base=True))
    b.add_body("hit", joint=kt.joints.Free(), parent="world", mass=10.0, inertia=0.1 * np.eye(3))
    model = b.build()
    trunk = model.body_names[1]
    shapes = Shape(trunk, "box", (0.5, 0.25, 0.15), name="trunk"), Shape("hit", "sphere", (0.1,), name="ball")
    model = model.replace(gravity=(0, 0, 0), contacts=[ContactPair("hit", *shapes, friction=0.5, restitution=0.6)])
    q, v = model.neutral(), np.zeros(model.nv)
    q[model.q_index("hit")][:3] = q[model.q_index(model.joint_names[0])][:3] + [0.1, 0.6, 0.03]
    v[model.v_index("hit")][3:] = [0.3, -3.0, 0.2]
    lost = []
    for integrator, dt, most in (("event_driven", 0.05, 1e-8), *(("time_stepping", dt, 1.0 * dt) for dt in STEPS)):
        run = moved(model, q, v, 0.3, dt, integrator)
        h = kt.momentum(model, run.q, run.v)
        assert run.contacts.forces[..., 2].max() > 0.0 and np.abs(run.v[-1, 6:18]).max() > 0.05
        lost.append(np.abs(h - h[0]).max() / np.abs(h[0]).max())
        assert lost[-1] < most
        assert np.diff(run.energy).max() < 1e-6
    assert np.diff(np.log2(lost[1:])) == pytest.approx([-1.0, -1.0], abs=0.1)  # order 1
