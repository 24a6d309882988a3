"""Contact in runs: starts, forces, energy, files, snapshots, events, reports, plots, the command line."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.collision import Ground
from kinetree.errors import GeometryError, KinetreeError, UnknownNameError, UnsupportedError
from tests.geometry import solids

TUMBLING = [0.0, 0.0, 0.5, np.cos(0.3), np.sin(0.3) * 0.6, np.sin(0.3) * 0.8, 0.0]
SPEED = [1.0, 2.0, 3.0, 1.0, 0.5, 0.0]


@pytest.fixture(scope="module")
def box():
    """A cube of 0.2 m and 1 kg."""
    return kt.models.free_shape("box", (0.2, 0.2, 0.2))


@pytest.fixture(scope="module")
def fall(box):
    """It tumbles, lands, slides and comes to rest."""
    return kt.simulate(box, TUMBLING, SPEED, duration=1.0, ground=Ground(friction=0.5))


# Starts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ground", [True, -0.3, Ground(normal=(0.1, 0.2, 1.0), height=0.5)])
def test_without_a_start_the_lowest_point_is_on_the_ground(box, ground):
    """Also on a slope, and with a random position; a note has the height."""
    for seed in (None, 3):
        run = kt.simulate(box, v0=np.zeros(6), duration=1e-3, ground=ground, seed=seed)
        assert run.contacts.gaps[0].min() == pytest.approx(0.0, abs=1e-12)
        assert any("is placed on the ground" in note for note in run.notes)


def test_a_start_inside_the_ground_is_refused_by_name(box):
    """Beyond a centimeter; less is pushed out, which a note announces."""
    with pytest.raises(
        GeometryError, match=r"start in each other, 'ground' and 'box' by 0.05 m; allowed are 0.01 m"
    ) as found:
        kt.simulate(box, [0, 0, 0.05, 1, 0, 0, 0], duration=0.1, ground=True)
    assert found.value.depth[0] == pytest.approx(0.05) and found.value.pairs == (("ground", "box"),)
    run = kt.simulate(box, [0, 0, 0.095, 1, 0, 0, 0], duration=0.2, ground=True)
    assert any("0.005 m inside of each other: contact pushes them apart" in note for note in run.notes)
    assert run.contacts.gaps[-1].min() > -1e-6 and np.abs(run.v).max() <= 1.0 + 1e-7  # 1 m/s and the residual of a step


def test_methods_without_contact_are_refused(box):
    """By name, with those that compute it."""
    with pytest.raises(UnsupportedError, match="integrator 'rk4' computes no contact. Use .*'time_stepping'"):
        kt.simulate(box, duration=0.1, ground=True, integrator="rk4")
    grounded = box.with_contacts(True)
    assert kt.simulate(grounded, duration=0.01).integrator == "time_stepping"
    run = kt.simulate(grounded, duration=0.01, ground=False, integrator="rk4")
    assert run.contacts is None and run.q[-1, 2] < 0.0


# Forces and energy ----------------------------------------------------------------------------------------------------


def test_forces_at_rest_are_the_weight(fall):
    """On the box, and the opposite on the ground; by candidate point, pair and body."""
    contacts = fall.contacts
    assert contacts.on("box")[-1] == pytest.approx((0.0, 0.0, 9.81), abs=1e-9)
    assert contacts.on("world")[-1] == pytest.approx((0.0, 0.0, -9.81), abs=1e-9)
    assert len(contacts["ground/box"]) == len(contacts["box"]) == 4 and len(contacts["ground/box.2"]) == 1
    assert np.array_equal(contacts["ground/box.2"].forces[:, 0], contacts.forces[:, 2])
    assert (contacts.friction_forces <= 0.5 * contacts.normal_forces * (1 + 1e-12) + 1e-12).all()
    with pytest.raises(UnknownNameError, match="'boxx'"):
        contacts["boxx"]


def test_contact_forces_explain_momentum_and_acceleration(fall):
    """The change of momentum is weight and contact; accelerations are those of the steps."""
    balance = fall.energy_balance
    # Moments are taken at the sample instead of within the step: first order in dt.
    assert np.abs(balance.momentum_error).max() < 5e-3 * np.abs(balance.momentum).max()
    change = np.diff(fall.v, axis=0) / 1e-3
    assert np.abs(change - fall.a[:-1])[-100:].max() < 1e-9
    assert np.abs(fall.a[-1]).max() < 1e-9  # the forces of the step that would follow


@pytest.mark.seeds(3)
def test_contact_takes_energy_and_the_balance_closes(box, seed):
    """Work of impacts and friction is exact, so the remainder is that of the method: halved with dt."""
    rng, left = np.random.default_rng(seed), []
    q = np.concatenate((rng.normal(size=2), [0.4], rng.normal(size=4)))
    q[3:] /= np.linalg.norm(q[3:])
    v = rng.normal(size=6) * 2.0
    if Rotation.from_quat(q[3:], scalar_first=True).apply(v[3:])[2] > 0.0:
        v[3:] *= -1.0  # downwards, so that it lands
    for dt in (1e-3, 2.5e-4):
        run = kt.simulate(box, q, v, duration=0.8, dt=dt, ground=Ground(friction=0.4))
        balance = run.energy_balance
        assert balance.work("contact") < 0.0 and balance.work("contact friction") < 0.0
        gains = np.maximum(np.diff(balance.works["contact"] + balance.works["contact friction"]), 0.0)
        assert gains.sum() < 5.0 * dt * balance.scale  # rows turn within a step: first order
        left.append(np.abs(balance.remainder).max() / balance.scale)
    assert left[0] < 0.02 and left[1] < 0.4 * left[0]


def test_sparse_records_have_the_exact_work(fall, box):
    """Summed over all steps, not over the samples."""
    thin = kt.simulate(
        box, TUMBLING, SPEED, duration=1.0, ground=Ground(friction=0.5), record=kt.Record(every=10)
    )  # fmt: skip
    assert np.array_equal(thin.contacts.forces, fall.contacts.forces[::10])
    for source in ("contact", "contact friction"):
        np.testing.assert_allclose(
            thin.energy_balance.works[source], fall.energy_balance.works[source][::10], rtol=1e-9
        )


def test_touches_are_the_intervals_with_a_force(fall):
    """Their impulses sum up to those of the record; the last ones end with the run."""
    touches, contacts = fall.contacts.touches, fall.contacts
    total = sum(x.impulse for x in touches)
    assert total == pytest.approx(contacts.normal_forces[:-1].sum() * 1e-3)
    first = touches[0]
    assert first.begin == fall.time[np.argmax(contacts.touching.any(axis=1))] and first.largest > 100.0
    assert {x.label for x in touches if x.end == fall.time[-1]} == {contacts.labels[k] for k in range(4)}


# Records --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".npz", ".nc"])
def test_files_hold_the_contacts(fall, suffix, tmp_path):
    """Forces, gaps, points, normals, bodies and work, without the model; written again they are the same."""
    again = kt.Trajectory.load(fall.save(tmp_path / f"run{suffix}"))
    for name in ("forces", "gaps", "points", "normals"):
        assert np.array_equal(getattr(again.contacts, name), getattr(fall.contacts, name))
    assert again.contacts.candidates == fall.contacts.candidates
    assert again.energy_balance.work("contact") == fall.energy_balance.work("contact")
    twice = kt.Trajectory.load(again.save(tmp_path / f"again{suffix}"))
    assert [x.name for x in twice.extra] == [x.name for x in again.extra]


def test_tables_and_labels_have_the_contacts(fall, tmp_path):
    """Columns of forces and gaps, with units."""
    again = kt.Trajectory.load(fall.save(tmp_path / "run.csv"))
    assert np.array_equal(again.channels["contact_force"].values, fall.channels["contact_force"].values)
    assert np.array_equal(again.channels["contact_gap"]["ground/box.1"], fall.contacts.gaps[:, 1])
    assert fall.channels["contact_force"]["ground/box.1.n"] is not None and fall.channels["contact_gap"].unit == "m"
    data = fall.to_xarray()
    assert data["contact_point"].shape == (len(fall), 12) and data["contact_force"].attrs["units"] == "N"


def test_parts_of_runs_keep_their_contacts(fall):
    """Slices, parts, several runs as one, other times."""
    assert np.array_equal(fall[::7].contacts.gaps, fall.contacts.gaps[::7])
    one, two = fall.between(0.0, 0.5), fall.between(0.5, 1.0)
    both = kt.Trajectory.concatenate([one, two])
    assert both.energy_balance.work("contact") == pytest.approx(fall.energy_balance.work("contact"))
    assert np.array_equal(both.contacts.forces, fall.contacts.forces)
    even = fall.resample(dt=0.01)
    assert len(even.contacts.gaps) == 101 and even.a[-1] == pytest.approx(fall.a[-1], abs=1e-9)


def test_a_run_goes_on_to_the_same_bits(box, fall, tmp_path):
    """From a snapshot in a file, by another object, with the impulses as the first guess; and single steps."""
    sim = kt.Simulation(box, TUMBLING, SPEED, ground=Ground(friction=0.5))
    sim.advance(0.3)
    sim.save().save(tmp_path / "run.ckpt")
    other = kt.Simulation(box, TUMBLING, SPEED, ground=Ground(friction=0.5))
    other.restore(tmp_path / "run.ckpt")
    for _ in range(100):
        other.step()
    other.advance(0.6)
    run = other.trajectory()
    assert np.array_equal(run.q, fall.q) and np.array_equal(run.contacts.forces, fall.contacts.forces)
    assert other.contact_forces.sum(axis=0) == pytest.approx((0.0, 0.0, 9.81), abs=1e-9)


def test_an_interrupted_run_has_its_contacts(box):
    """Ctrl-C in a controller."""

    def controller(t, q, v):
        if t > 0.3:
            raise KeyboardInterrupt
        return np.zeros(6)

    with pytest.raises(KeyboardInterrupt) as stopped:
        kt.simulate(box, TUMBLING, SPEED, duration=1.0, ground=Ground(friction=0.5), controller=controller)
    run = stopped.value.trajectory
    assert run.contacts.touching.any() and run.ended_early


def test_events_and_contact(box):
    """An event on the height ends the run at its time; a kick is an impulse event, contact goes on after it."""
    low = kt.Event(lambda t, q, v: q[2] - 0.3, terminal=True, name="low")
    run = kt.simulate(box, TUMBLING, SPEED, duration=1.0, ground=Ground(friction=0.5), events=low)
    assert run.q[-1, 2] == pytest.approx(0.3, abs=1e-9) and run.time[-1] < 0.25
    kick = kt.Event(lambda t, q, v: t - 0.5, name="kick", action=lambda t, q, v: (q, v + [0, 0, 0, 1.0, 0, 0]))
    run = kt.simulate(box, duration=1.0, ground=Ground(friction=0.5), events=kick)
    assert run.q[-1, 0] == pytest.approx(1.0 / (2 * 0.5 * 9.81), abs=2e-3)
    assert run.energy_balance.work("impulses") == pytest.approx(0.5)
    assert run.energy_balance.work("contact friction") == pytest.approx(-0.5, abs=0.01)


# Output ---------------------------------------------------------------------------------------------------------------


def test_a_report_has_the_contacts(fall):
    """Largest force, penetration and residuals of the solver."""
    report = fall.report()
    (note,) = (x for x in report.notes if x.startswith("Contact"))
    assert f"{fall.contacts.normal_forces.max():.4g} N" in note and "residual" in note
    assert not [x for x in report.findings if x.kind == "contact"]


def test_contacts_are_drawn(fall):
    """Normal forces, friction and gaps by body; in the plot of the run, too."""
    normal, friction, gaps = fall.plot_contacts().get_axes()
    (line,) = (x for x in normal.get_lines() if x.get_label() == "box")
    assert np.array_equal(line.get_ydata(), fall.contacts.normal_forces.sum(axis=1))
    assert gaps.get_ylabel() == "gap [mm]" and len(friction.get_lines()) == 2
    assert "normal force" in {axes.get_title(loc="left").partition(",")[0] for axes in fall.plot().get_axes()}
    with pytest.raises(KinetreeError, match="no contacts"):
        kt.simulate(kt.models.pendulum(), duration=0.1).plot_contacts()


def test_event_driven_runs_have_contacts_and_agree(box, fall):
    """The same record by the other method; where the box rests, to the order of dt."""
    run = kt.simulate(
        box, TUMBLING, SPEED, duration=0.3, ground=Ground(friction=0.5), integrator="event_driven"
    )  # fmt: skip
    assert run.contacts.labels == fall.contacts.labels
    first = fall.contacts.touches[0]
    assert run.contacts.touches[0].label == first.label and abs(run.contacts.touches[0].begin - first.begin) < 3e-3
    assert np.abs(run.q[230] - fall.q[230]).max() < 2e-3
    assert "residual" not in str(run.report())


def test_the_command_line_puts_a_robot_on_the_ground(capsys, tmp_path):
    """The root of a URDF moves freely then; the summary has the contacts."""
    from kinetree.cli import main

    with pytest.raises(SystemExit) as end:
        main(
            [
                "simulate",
                "quadruped",
                "--ground",
                "--friction",
                "0.5",
                "--duration",
                "0.02",
                "--save",
                str(tmp_path / "x"),
            ]
        )
    assert end.value.code == 0
    assert "candidate points touch at the end, 127.7 N in all" in capsys.readouterr().out
    assert kt.Trajectory.load(tmp_path / "x.npz").contacts.candidates[0].friction == 0.5


def test_meshes_on_the_ground_are_their_convex_hulls(tmp_path):
    """``ground=True`` takes a robot whose shapes are meshes; a note states how they touch."""
    file = tmp_path / "die.stl"
    solids.write_stl(file, *solids.box((0.2, 0.2, 0.2)))
    builder = kt.ModelBuilder("die")
    builder.add_body("die", joint=kt.joints.Free(), mass=1.0, inertia=0.01 * np.eye(3))
    builder.add_geometry("die", kt.model.Geometry("mesh", mesh=str(file), name="die"))
    run = kt.simulate(builder.build(), duration=0.05, dt=5e-3, ground=True)
    assert any("convex hulls" in note and note.endswith(": 1") for note in run.notes)
    assert run.contacts["die"].normal_forces[-1].sum() == pytest.approx(9.81, rel=1e-6)
