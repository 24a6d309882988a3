"""Begin and end of contacts as events of runs by time stepping."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation.contact_touches import Touches

G, E, DT = 9.81, 0.8, 1e-3
START = [0.0, 0.0, 0.6, 1.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def ball():
    return kt.models.free_shape("sphere", 0.1).with_contacts(kt.collision.Ground(restitution=E))


@pytest.fixture(scope="module")
def bounce(ball):
    return kt.simulate(ball, START, duration=1.5, dt=DT)


def key(event):
    return event.name, event.time


def test_bounces_are_impacts_and_lift_offs(bounce, ball):
    """A ball from 0.5 m: at the times of the closed form but for steps, in turns."""
    (label,) = ball.contact_labels
    first = np.sqrt(2.0 * 0.5 / G)
    flights = 2.0 * E ** np.arange(1, 4) * first
    expected = first + np.cumsum([0.0, *flights])[:3]
    hits = [x for x in bounce.events if x.name == f"impact of {label}"]
    offs = [x for x in bounce.events if x.name == f"lift-off of {label}"]
    assert [x.time for x in hits[:3]] == pytest.approx(expected, abs=5.0 * DT)
    assert [x.time for x in offs[:3]] == pytest.approx(expected, abs=5.0 * DT)
    names = [x.name.split()[0] for x in bounce.events]
    assert names == ["impact", "lift-off"] * len(offs) + ["impact"] * (len(hits) - len(offs))
    first = hits[0]
    np.testing.assert_array_equal(first.q, bounce.q[np.searchsorted(bounce.time, first.time)])
    assert first.v_after is first.v and first.v[5] < 0.0 < offs[0].v[5]
    touched = [x.begin for x in bounce.contacts.touches]
    assert {x.time for x in hits} <= set(touched)


def test_event_driven_names_the_same_events(bounce, ball):
    """Its impacts, within steps of time stepping."""
    exact = kt.simulate(ball, START, duration=0.7, dt=DT, integrator="event_driven")
    names = {x.name for x in exact.events}
    hits = [x.time for x in exact.events if x.name.startswith("impact")]
    own = [x for x in bounce.events if x.time < 0.7 and x.name in names]
    assert [x.time for x in own if x.name.startswith("impact")] == pytest.approx(hits, abs=5.0 * DT)


@pytest.mark.parametrize("every", [7, 100])
def test_they_do_not_depend_on_the_record(bounce, ball, every):
    """A record of every n-th step has the events of all steps, with their states."""
    thin = kt.simulate(ball, START, duration=1.5, dt=DT, record=kt.Record(every=every))
    assert list(map(key, thin.events)) == list(map(key, bounce.events))
    np.testing.assert_array_equal([x.q for x in thin.events], [x.q for x in bounce.events])


@pytest.mark.parametrize("every", [1, 10])
def test_snapshots_single_steps_and_questions_in_between(bounce, ball, every):
    """A run that goes on from a snapshot, and one that is asked at every step, have the events of the whole."""
    options = {"dt": DT, "record": kt.Record(every=every)}
    sim = kt.Simulation(ball, START, **options)
    sim.advance(0.4)
    other = kt.Simulation(ball, START, **options)
    other.advance(0.9)
    other.restore(sim.save())
    other.advance(1.1)
    assert list(map(key, other.trajectory().events)) == list(map(key, bounce.events))
    asked, counts = kt.Simulation(ball, START, **options), []
    for _ in range(1500):
        asked.step()
        counts.append(len(asked.events))
    assert list(map(key, asked.trajectory().events)) == list(map(key, bounce.events))
    assert counts == sorted(counts) and counts[-1] == len(bounce.events)


def test_files_and_parts(bounce, tmp_path):
    """Saved and loaded; those of the times of a slice."""
    bounce.save(path := tmp_path / "run.npz")
    again = kt.Trajectory.load(path)
    assert list(map(key, again.events)) == list(map(key, bounce.events))
    part = bounce[400:900]
    assert list(map(key, part.events)) == [key(x) for x in bounce.events if part.time[0] <= x.time <= part.time[-1]]


def test_contacts_at_rest_neither_begin_nor_end():
    """A box that starts on the ground: four contacts, one force of which is redundant, and no event."""
    box = kt.models.free_shape("box", (0.2, 0.2, 0.2))
    assert not kt.simulate(box, duration=0.3, ground=True, dt=DT).events
    fallen = kt.simulate(box, [0.0, 0.0, 0.15, 1.0, 0.0, 0.0, 0.0], duration=0.5, ground=True, dt=DT)
    assert Counter(x.name.split()[0] for x in fallen.events) == {"impact": 4}


@pytest.mark.seeds(5)
def test_any_division_of_the_steps_gives_the_same_events(ball, seed):
    """Random forces and gaps, watched step by step and in parts: the events of a plain loop over the definition."""
    rng = np.random.default_rng(seed)
    steps = 200
    q = np.tile(START, (steps, 1))
    gaps = rng.choice([0.0, 5e-7, 1e-3], size=steps)
    q[:, 2] = 0.1 + gaps
    impulses = np.zeros((steps, 3))
    impulses[:, 2] = np.where(gaps < 1e-6, rng.choice([0.0, 1.0], size=steps), 0.0)
    time, v = DT * np.arange(steps), rng.normal(size=(steps, 6))
    on, free, expected = gaps[0] < 1e-6, None, []
    for n in range(steps):
        if impulses[n, 2] > 0.0:
            expected += [] if on else [("impact", time[n])]
            on, free = True, None
        elif on:
            free = time[n] if free is None else free
            if gaps[n] > 1e-6:
                expected.append(("lift-off", free))
                on, free = False, None
    for sizes in ([steps], [1] * steps, rng.integers(1, 30, size=steps)):
        touches, at = Touches(kt.Simulation(ball, START).system), 0
        for size in sizes:
            part = slice(at, at + size)
            if at < steps:
                touches.add(time[part], q[part], v[part], impulses[part])
            at += size
        assert [(x.name.split()[0], x.time) for x in touches.occurrences] == expected
