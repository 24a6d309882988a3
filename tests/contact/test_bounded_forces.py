"""Hard limits and sticking friction of joints beside contact: their forces and their work in runs."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.constraints import HardLimits, StickingFriction
from kinetree.joints import Prismatic

DRY, UPPER, DT = 2.0, 0.3, 1e-3


def slider(contact: bool = True) -> kt.Model:
    """A carriage of 1 kg with dry friction up to a stop, and a ball of 0.5 kg that it carries down to a floor."""
    b, small = kt.ModelBuilder("slider"), np.eye(3) * 1e-3
    b.add_body("carriage", joint=Prismatic((1, 0, 0)), joint_name="x", mass=1.0, inertia=small)
    b.add_body("ball", "carriage", Prismatic((0, 0, 1)), "z", mass=0.5, inertia=small)
    model = b.build().replace(gravity=(0.0, 0.0, 0.0), dry_friction={"x": DRY}, lower={"x": -1.0}, upper={"x": UPPER})
    model = model.replace(limit_stiffness={"x": 1e4}).with_constraints(StickingFriction("x"), HardLimits())
    ball = Shape("ball", "sphere", (0.05,), name="ball")
    floor = Shape("world", "plane", p=(0.0, 0.0, -0.1), name="floor")
    return model.replace(contacts=[ContactPair("ball", floor, ball, 0.6)] if contact else [])


def moved(model, **more):
    return kt.simulate(model, [0.0, 0.0], [2.0, -1.0], duration=0.5, dt=DT, **more)


@pytest.fixture(scope="module")
def run():
    return moved(slider())


def test_the_energy_balance_closes(run):
    """Without springs and weight the steps lose energy by impulses alone: to rounding, and by the law of each."""
    balance = run.energy_balance
    assert np.abs(balance.remainder).max() < 1e-13 and balance.energy[-1] == pytest.approx(0.0, abs=1e-15)
    fall = 0.5 * 0.5 * 1.0**2
    assert balance.work("contact") == pytest.approx(-fall, rel=1e-9)
    t, slows = 0.05, DRY / 1.5  # of the impact [s]; by dry friction [m/s^2]
    v, x = 2.0 - slows * t, (2.0 - 0.5 * slows * t) * t
    after = v - 0.6 * 0.5 * 1.0 / 1.5  # less what the friction of the impact takes
    assert balance.work("contact friction") == pytest.approx(0.75 * (after**2 - v**2), rel=2e-3)
    assert balance.work("stops", "x") == pytest.approx(-0.75 * (after**2 - 2.0 * slows * (UPPER - x)), rel=5e-3)
    assert balance.work("dry friction", "x") == pytest.approx(-DRY * UPPER, rel=5e-3)
    assert not balance.works["stops"][:, 1].any() and not balance.works["dry friction"][:, 1].any()


def test_forces_are_channels_of_the_run(run):
    """Friction at its limit while the carriage moves; the stop's force while it hits; none of both at rest."""
    channels = {x.name: x for x in run.extra}
    friction, stop = channels["sticking_friction_force"], channels["stop_force"]
    assert friction.labels == stop.labels == run.coordinates.velocity_labels
    assert friction.units == run.coordinates.force_units
    hits = np.flatnonzero(stop.values[:, 0])
    assert 1 <= len(hits) <= 2 and (stop.values[hits, 0] < 0.0).all()
    np.testing.assert_allclose(friction.values[: hits[0], 0], -DRY, rtol=1e-12)
    assert not friction.values[-1].any() and not stop.values[-1].any()
    np.testing.assert_array_equal(run.energy_balance.channels["force.stops"], stop.values)
    text = run.energy_balance.table()
    assert "stops" in text and "dry friction" in text and "contact friction" in text


def test_without_contact_the_work_is_that_of_exact_steps():
    """The same joints by "semi_implicit", whose steps are cut at the stop, and by time stepping, to order dt."""
    one = kt.simulate(slider(False), [0.0, 0.0], [2.0, 0.0], duration=0.5, dt=DT)
    two = kt.simulate(slider(False), [0.0, 0.0], [2.0, 0.0], duration=0.5, dt=DT, integrator="time_stepping")
    assert one.integrator == "semi_implicit" and np.abs(two.energy_balance.remainder).max() < 1e-13
    for source in ("stops", "dry friction"):
        assert two.energy_balance.work(source) == pytest.approx(one.energy_balance.work(source), rel=5e-3)


def test_work_is_exact_where_not_every_step_is_recorded(run):
    """Summed in the steps: the same works at the samples of a record of every tenth step."""
    thin = moved(slider(), record=kt.Record(every=10))
    for source in ("contact", "contact friction", "dry friction", "stops"):
        expected = run.energy_balance.works[source][::10]
        np.testing.assert_allclose(thin.energy_balance.works[source], expected, rtol=1e-9, atol=1e-15)
    assert np.abs(thin.energy_balance.remainder).max() < 1e-13


@pytest.mark.parametrize("suffix", ["npz", "nc", "h5"])
def test_files_keep_them(run, tmp_path, suffix):
    """Forces, works and the balance; with the model, too."""
    run.save(path := tmp_path / f"run.{suffix}")
    again = kt.Trajectory.load(path)
    assert {x.name for x in again.extra} >= {"sticking_friction_force", "stop_force"}
    for source in ("stops", "dry friction"):
        np.testing.assert_array_equal(again.energy_balance.works[source], run.energy_balance.works[source])
    np.testing.assert_array_equal(again.metadata.bounded_work, run.metadata.bounded_work)


def test_slices_and_snapshots(run):
    """Slices begin at zero work; a run that goes on from a snapshot has the works of the whole."""
    part, works = run[20:250].energy_balance.works["dry friction"], run.energy_balance.works["dry friction"]
    np.testing.assert_allclose(part, works[20:250] - works[20], atol=1e-14)
    sim = kt.Simulation(slider(), [0.0, 0.0], [2.0, -1.0], dt=DT, record=kt.Record(every=5))
    sim.advance(0.1)
    snapshot = sim.save()
    other = kt.Simulation(slider(), [0.0, 0.0], [2.0, -1.0], dt=DT, record=kt.Record(every=5))
    other.restore(snapshot)
    other.advance(0.4)
    ended = other.trajectory()
    for source in ("contact friction", "stops", "dry friction"):
        assert ended.energy_balance.work(source) == pytest.approx(run.energy_balance.work(source), rel=1e-9)
    assert sim.contact_forces.shape == (1, 3)


def test_single_steps_record_them():
    """`Simulation.step` gives the arrays of a run."""
    sim = kt.Simulation(slider(), [0.0, 0.0], [2.0, -1.0], dt=DT)
    for _ in range(500):
        sim.step()
    found, expected = sim.trajectory(), moved(slider())
    for one, two in zip(found.extra, expected.extra, strict=True):
        np.testing.assert_array_equal(one.values, two.values)
    np.testing.assert_array_equal(found.metadata.bounded_work, expected.metadata.bounded_work)
