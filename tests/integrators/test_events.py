"""Events: times in closed form, every method, several at once, grazing, actions, what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.special import ellipk

import kinetree as kt
from kinetree.errors import NonFiniteError, ShapeError, SimulationError
from kinetree.integrators import FIXED_STEP
from kinetree.integrators.events import first_crossing
from kinetree.joints import Free
from tests.analytic.mechanisms import G, pendulum, slider

SECOND_ORDER = [name for name, m in FIXED_STEP.items() if m.order >= 2]
ADAPTIVE = [kt.integrators.Adaptive(method) for method in ("dp54", "bs32", "dop853", "scipy:DOP853", "scipy:RK45")]
EXACT = [name for name in SECOND_ORDER if name != "bdf2"]


def ball():
    """A mass that falls along z."""
    return slider(mass=1.0, axis=(0.0, 0.0, 1.0))


def bounce(e, **settings):
    return kt.Event(lambda t, q, v: q[0], direction=-1, action=lambda t, q, v: (q, -e * v), name="bounce", **settings)


def bounces(height, e, count):
    """Times at which a ball dropped from rest meets the floor."""
    speed = np.sqrt(2.0 * G * height)
    flights = 2.0 * speed / G * e ** np.arange(1, count)
    return speed / G + np.concatenate(([0.0], np.cumsum(flights)))


@pytest.mark.parametrize("integrator", [*EXACT, *ADAPTIVE], ids=str)
def test_bouncing_ball_to_machine_precision(integrator):
    """Parabolas are exact for every method of order 2, so the times of impact are, to rounding; here to 2e-14 s."""
    run = kt.simulate(ball(), [1.0], duration=2.6, dt=0.01, integrator=integrator, events=[bounce(0.8)])
    expected = bounces(1.0, 0.8, 5)
    assert [x.time for x in run.events] == pytest.approx(expected, abs=2e-14)
    speeds = np.sqrt(2.0 * G) * 0.8 ** np.arange(5)
    assert [-x.v[0] for x in run.events] == pytest.approx(speeds, abs=1e-12)
    assert [x.v_after[0] for x in run.events] == pytest.approx(0.8 * speeds, abs=1e-12)
    assert run.q.min() > -1e-14
    height = 0.8**10 * 1.0  # what is left of the energy, (0.8^2)^5
    assert run.energy[-1] == pytest.approx(G * height, abs=1e-11)


@pytest.mark.parametrize("integrator", ["semi_implicit", "euler"])
def test_bouncing_ball_of_first_order(integrator):
    """Order 1: the times are off by about the step, and the state at the event lies on the floor nevertheless."""
    errors = []
    for dt in (2e-3, 1e-3):
        run = kt.simulate(ball(), [1.0], duration=1.0, dt=dt, integrator=integrator, events=[bounce(0.8)])
        errors.append(abs(run.events[0].time - bounces(1.0, 0.8, 1)[0]))
        assert all(abs(x.q[0]) < 1e-14 for x in run.events)
    assert errors[0] < 2e-3 and errors[0] / errors[1] == pytest.approx(2.0, rel=0.3)


@pytest.mark.parametrize("integrator", ["rk4", "dp54", *ADAPTIVE[:3]], ids=str)
def test_pendulum_crosses_the_vertical_at_the_quarter_periods(integrator):
    """From rest at 2 rad the crossings are at K(m), 3 K(m), ... over w, m = sin^2(1): exact to the method's error."""
    model = pendulum()
    w = np.sqrt(G)
    crossing = kt.Event(lambda t, q, v: q[0], name="vertical")
    if not isinstance(integrator, str):
        integrator = dataclasses.replace(integrator, rtol=1e-11, atol=1e-11)
    run = kt.simulate(model, [2.0], duration=4.0, dt=0.005, events=crossing, integrator=integrator)
    expected = (2 * np.arange(len(run.events)) + 1) * ellipk(np.sin(1.0) ** 2) / w
    assert len(run.events) == 3
    assert [x.time for x in run.events] == pytest.approx(expected, abs=1e-9)
    assert all(abs(x.q[0]) < 4e-15 for x in run.events)  # 5 rad/s times the rounding of 4 s


def test_time_of_an_event_converges_with_the_order_of_the_method():
    """Not with that of the interpolant: the step is shortened by the method itself."""
    exact = ellipk(np.sin(1.0) ** 2) / np.sqrt(G)
    for name, order, dt in (("rk4", 4, 0.04), ("dp54", 5, 0.08), ("midpoint", 2, 0.01)):
        errors = []
        for h in (dt, dt / 2):
            event = kt.Event(lambda t, q, v: q[0])
            run = kt.simulate(pendulum(), [2.0], duration=0.9, dt=h, integrator=name, events=event)
            errors.append(abs(run.events[0].time - exact))
        assert np.log2(errors[0] / errors[1]) > order - 0.6


def test_directions():
    """Both crossings of a sine; only the rising, only the falling ones."""
    model = slider(stiffness=2.0 * 4.0, mass=2.0)  # 2 rad/s
    found = {}
    for direction in (0, 1, -1):
        event = kt.Event(lambda t, q, v: q[0] - 0.5, direction=direction)
        run = kt.simulate(model, [0.0], [2.0], duration=2.0 * np.pi, dt=0.01, integrator="rk4", events=event)
        found[direction] = [x.time for x in run.events]
    first = np.arcsin(0.5) / 2.0
    rising, falling = np.array([first, first + np.pi]), np.array([np.pi / 2 - first, 3 * np.pi / 2 - first])
    assert found[1] == pytest.approx(rising, abs=1e-7)
    assert found[-1] == pytest.approx(falling, abs=1e-7)
    assert found[0] == pytest.approx(sorted([*rising, *falling]), abs=1e-7)


def test_terminal_events_end_the_run():
    """At the first, or at the third occurrence; the last sample is the state of the event."""
    run = kt.simulate(ball(), [1.0], duration=5.0, dt=0.01, integrator="rk4", events=bounce(0.8, terminal=True))
    assert run.time[-1] == run.events[0].time and len(run.events) == 1
    third = kt.simulate(ball(), [1.0], duration=5.0, dt=0.01, integrator="rk4", events=bounce(0.8, terminal=3))
    assert third.time[-1] == pytest.approx(bounces(1.0, 0.8, 3)[-1], abs=1e-13)


def test_several_events_in_one_step():
    """A step of 0.5 s that holds two marks and an impact between them, in their order."""
    names = []
    events = [
        kt.Event(lambda t, q, v: q[0] - 0.5, name="high"),
        kt.Event(lambda t, q, v: q[0] - 0.1, name="low", action=lambda t, q, v: names.append((t, "low"))),
        bounce(1.0),
    ]
    run = kt.simulate(ball(), [1.0], duration=0.9, dt=0.5, integrator="rk4", events=events)
    t = [np.sqrt(2 * (1.0 - h) / G) for h in (0.5, 0.1, 0.0)]
    expected = [*zip(("high", "low", "bounce"), t, strict=True),
                *((name, 2 * t[2] - x) for name, x in (("low", t[1]), ("high", t[0])))]  # fmt: skip
    assert [x.name for x in run.events] == [name for name, _ in expected]
    assert [x.time for x in run.events] == pytest.approx([x for _, x in expected], abs=1e-13)
    assert len(names) == 2


def test_events_at_the_same_instant_act_in_order():
    """Two events on one function: each gets the state that the one before it left."""
    double = kt.Event(lambda t, q, v: q[0], -1, action=lambda t, q, v: (q, 2.0 * v), name="double")
    run = kt.simulate(ball(), [1.0], duration=0.6, dt=0.01, integrator="rk4", events=[double, bounce(0.5)])
    first, second = run.events[:2]
    assert first.time == second.time and (first.name, second.name) == ("double", "bounce")
    assert np.array_equal(second.v, first.v_after)
    assert second.v_after[0] == pytest.approx(-first.v[0], abs=1e-15)


@pytest.mark.parametrize("depth, expected", [(1e-3, 2), (1e-6, 2), (1e-10, 2), (-1e-3, 0), (-1e-10, 0)])
def test_grazing(depth, expected):
    """A thrown ball whose apex is above a mark by the depth: two crossings within a step of 0.1 s, or none."""
    apex = 2.0**2 / (2.0 * G)
    event = kt.Event(lambda t, q, v: q[0] - (apex - depth))
    run = kt.simulate(ball(), [0.0], [2.0], duration=0.5, dt=0.1, integrator="rk4", events=event)
    half = np.sqrt(2.0 * max(depth, 0.0) / G)
    times = 2.0 / G + np.array((-half, half))[:expected]
    # Near an extremum a rounding of 1e-16 in q is one of 1e-16 / (G half) in t.
    assert [x.time for x in run.events] == pytest.approx(times, abs=1e-15 / (G * half) + 1e-14 if expected else 0.0)


def test_a_function_that_touches_zero_is_no_event():
    """q^2 at the floor: it comes to zero and goes back up. Rounding does not make an event of it."""
    run = kt.simulate(ball(), [1.0], duration=0.8, dt=0.1, integrator="rk4", events=kt.Event(lambda t, q, v: q[0] ** 2))
    assert run.events == ()


def test_an_event_at_the_start_counts_when_it_is_left_and_met_again():
    """A ball thrown from the floor: the start is no event, the return is."""
    run = kt.simulate(ball(), [0.0], [3.0], duration=0.8, dt=0.01, integrator="rk4", events=bounce(0.5))
    assert run.events[0].time == pytest.approx(6.0 / G, abs=1e-13)


def test_functions_of_time_and_velocity():
    """An alarm at a time, and the apex of a throw where v = 0."""
    events = [kt.Event(lambda t, q, v: t - 0.123456, name="alarm"), kt.Event(lambda t, q, v: v[0], -1, name="apex")]
    run = kt.simulate(ball(), [0.0], [2.0], duration=0.5, dt=0.01, integrator="dp54", events=events)
    assert [x.time for x in run.events] == pytest.approx((0.123456, 2.0 / G), abs=1e-15)


def test_actions_may_move_the_state():
    """Beyond 1 m the mass is put back to the origin: periodic boundaries."""
    wrap = kt.Event(lambda t, q, v: q[0] - 1.0, 1, action=lambda t, q, v: (q - 1.0, v), name="wrap")
    run = kt.simulate(slider(), [0.0], [0.75], duration=4.0, dt=0.01, integrator="rk4", events=wrap)
    assert len(run.events) == 2  # at 4/3 and 8/3; the third at 4 s is the end
    assert run.q[-1, 0] == pytest.approx(1.0, abs=1e-12) and run.q.max() < 1.0 + 1e-12


def test_states_between_samples_know_of_the_impact():
    """Samples 0.05 s apart: the fall before the bounce and the rise after it, exact as parabolas are."""
    run = kt.simulate(ball(), [1.0], duration=0.8, dt=0.05, integrator="rk4", events=[bounce(0.8)])
    fall = np.sqrt(2.0 / G)
    before, after = fall - np.array((0.0015, 0.0005)), fall + np.array((0.0, 0.02))
    q, v = run.state(before)
    assert q[:, 0] == pytest.approx(1.0 - G * before**2 / 2, abs=1e-13)
    assert v[:, 0] == pytest.approx(-G * before, abs=1e-12)
    q, v = run.state(after)
    assert v[:, 0] == pytest.approx(0.8 * G * fall - G * (after - fall), abs=1e-12)


def test_energy_of_impacts_is_in_the_balance():
    """The energy balance tells what each bounce takes: (1 - e^2) of the kinetic energy."""
    run = kt.simulate(ball(), [1.0], duration=0.6, dt=0.01, integrator="rk4", events=bounce(0.8))
    impulses = run.metadata.impulses
    assert [x.label for x in impulses] == ["bounce"]
    assert impulses[0].energy == pytest.approx(-(1.0 - 0.64) * G, abs=1e-12)
    balance = run.energy_balance
    assert (balance.works["impulses"] == np.where(run.time >= impulses[0].time, impulses[0].energy, 0.0)).all()
    assert np.abs(balance.remainder).max() < 1e-11 and "impulses" in balance.table()


def test_a_run_with_events_in_pieces_and_from_a_snapshot_has_the_same_bits():
    """Occurrences and the memory of what has just happened are part of a snapshot."""

    def make():
        return kt.Simulation(ball(), [1.0], dt=0.01, integrator="rk4", events=[bounce(0.8)])

    whole, pieces = make(), make()
    whole.advance(2.0)
    pieces.advance(1.0)
    snapshot = pieces.save()
    pieces.advance(1.0)
    other = make()
    other.restore(snapshot)
    other.advance(1.0)
    assert np.array_equal(other.q, pieces.q) and [x.time for x in other.events] == [x.time for x in pieces.events]
    assert other.q == pytest.approx(whole.q, abs=1e-12)  # the grid begins anew with `advance` after an event


def test_methods_with_a_memory_take_the_interpolant():
    """BDF2 cannot repeat a step; the event lies on its interpolant, to its order."""
    run = kt.simulate(ball(), [1.0], duration=0.6, dt=1e-3, integrator="bdf2", events=bounce(0.8))
    assert run.events[0].time == pytest.approx(bounces(1.0, 0.8, 1)[0], abs=1e-5)
    assert abs(run.events[0].q[0]) < 1e-14


def test_a_free_body_hits_a_wall():
    """A tumbling body on the manifold: the instant at which a corner of it passes a plane."""
    b = kt.ModelBuilder("tumbler")
    b.add_body("body", joint=Free(), mass=1.0, inertia=np.diag((1.0, 2.0, 3.0)))
    model = b.build().replace(gravity=(0.0, 0.0, 0.0))
    corner = np.array((0.1, 0.2, 0.3))

    def gap(t, q, v):
        w, u = q[3], q[4:]
        return 2.0 - (q[0] + (corner + 2.0 * np.cross(u, np.cross(u, corner) + w * corner))[0])

    event = kt.Event(gap, -1, terminal=True)
    v0 = [0.3, 2.0, 0.1, 1.0, 0.0, 0.0]
    times = [
        kt.simulate(model, v0=v0, duration=5.0, dt=dt, integrator="dp54", events=event).events[0].time
        for dt in (0.01, 0.005)
    ]
    assert times[0] == pytest.approx(times[1], abs=1e-8)


def test_accumulating_events_are_refused_with_advice():
    """A ball comes to rest after infinitely many bounces; the error names the event and what to do."""
    with pytest.raises(SimulationError, match="'bounce' happens again after .* accumulate") as info:
        kt.simulate(ball(), [1.0], duration=10.0, dt=0.01, integrator="rk4", events=bounce(0.5))
    assert info.value.time == pytest.approx(bounces(1.0, 0.5, 60)[-1], abs=1e-3)


def test_what_the_error_about_accumulating_events_advises():
    """A stop with restitution: the bounces of the event, and then rest on the floor. And an end: at the time in which
    infinitely many bounces end, with what is left of a thousandth of a step, in the state of the last one."""
    with pytest.raises(SimulationError, match="HardLimits.*terminal='accumulation'"):
        kt.simulate(ball(), [1.0], duration=10.0, dt=0.01, integrator="rk4", events=bounce(0.5))
    end = bounces(1.0, 0.5, 60)[-1]
    stopped = slider(mass=1.0, axis=(0.0, 0.0, 1.0), lower=0.0)
    run = kt.simulate(stopped.with_constraints(kt.constraints.HardLimits(0.5)), [1.0], duration=3.0)
    assert [x.time for x in run.events] == pytest.approx(bounces(1.0, 0.5, len(run.events)), abs=1e-13)
    rest = run.time > end
    assert rest.sum() > 1500 and (run.q[rest] == 0.0).all() and (run.v[rest] == 0.0).all() and run.q.min() == 0.0
    for integrator in ("rk4", kt.integrators.Adaptive("dp54")):
        settings = {"duration": 10.0, "dt": 0.01, "integrator": integrator}
        run = kt.simulate(ball(), [1.0], events=bounce(0.5, terminal="accumulation"), **settings)
        assert run.time[-1] == run.events[-1].time == pytest.approx(end, abs=2e-5)
        assert len(run.events) > 10 and abs(run.q[-1, 0]) < 1e-14 and abs(run.v[-1, 0]) < 1e-4


@pytest.mark.parametrize(
    "event, error, message",
    [
        (kt.Event(lambda t, q, v: np.nan), NonFiniteError, "'event': its function is nan"),
        (kt.Event(lambda t, q, v: q[0] - 0.9, action=lambda t, q, v: q), ShapeError, "expected \\(q, v\\) of shapes"),
        (kt.Event(lambda t, q, v: q[0] - 0.9, action=lambda t, q, v: (q, v * np.nan)), NonFiniteError, "not finite"),
        (lambda t, q, v: q[0], SimulationError, "expected kinetree.Event"),
        ([lambda t, q, v: q[0]], SimulationError, "expected kinetree.Event"),
    ],
)
def test_what_is_wrong_is_named(event, error, message):
    """Functions and actions are checked where they are called."""
    with pytest.raises(error, match=message):
        kt.simulate(ball(), [1.0], duration=0.5, dt=0.01, integrator="rk4", events=event)


def test_settings_of_events_are_checked():
    """A direction other than -1, 0, 1; functions that cannot be called."""
    for settings, message in (
        ({"function": 3}, "function is 3"),
        ({"function": abs, "direction": 2}, "direction is 2"),
        ({"function": abs, "action": 1}, "action is 1"),
        ({"function": abs, "terminal": "accumulate"}, "terminal is 'accumulate'"),
        ({"function": abs, "terminal": -1}, "terminal is -1"),
    ):
        with pytest.raises(SimulationError, match=message):
            kt.Event(**settings)


def test_first_crossing_of_a_dip_between_samples():
    """A parabola that dips below zero by 1e-9 between its samples: the first root, to rounding of the time."""

    def g(t):
        return (t - 0.3) ** 2 - 1e-9

    root = first_crossing(g, [0.0, 0.5, 1.0], [g(0.0), g(0.5), g(1.0)], -1)
    assert root == pytest.approx(0.3 - np.sqrt(1e-9), abs=1e-11)
    rising = first_crossing(g, [0.0, 0.5, 1.0], [g(0.0), g(0.5), g(1.0)], 1)
    assert rising == pytest.approx(0.3 + np.sqrt(1e-9), abs=1e-11)
