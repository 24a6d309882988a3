"""Motions of mechanisms with loops through singular positions, from there, and at rest there."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetree as kt
from kinetree.algorithms.crba import crba
from kinetree.algorithms.singular_positions import PassingSystem
from kinetree.state_kinematics import Kinematics

G = 9.81
CHANGE_POINTS = {
    "kite": (2.0, 1.0, 1.0, 2.0),
    "other kite": (1.0, 2.0, 2.0, 1.0),
    "longest and shortest as long as the others": (1.5, 1.0, 3.0, 2.5),
    "parallelogram": (3.0, 1.0, 3.0, 1.0),
}


@functools.cache
def linkage(name):
    return kt.models.four_bar(CHANGE_POINTS[name])


@functools.cache
def rhombus():
    """Flat, all rods 1 m and 1 kg: on its branch a pendulum of inertia 5/3 and moment of mass 2."""
    return kt.models.parallelogram(angle=0.0)


def started(model, speed):
    """A state at which the crank turns with this speed."""
    q, _ = model.keyframe("initial")
    _, v = kt.assemble(model, q, fixed="crank", v=[speed, 0.0, 0.0])
    return q, v * (speed / v[0])


def gap(run) -> float:
    return float(np.abs(kt.closed_loops.error(run.model, run.q)).max())


@pytest.mark.parametrize("name", CHANGE_POINTS)
@pytest.mark.seeds(3)
def test_energy_and_gap_through_change_points(name, seed):
    """Steps hit flat positions at random distances; the energy is off by the error of RK4 elsewhere, of order 4.

    Steps are of about the same angle at all speeds: with it the error grows, a hundredfold from 5 to 25 rad/s.
    """
    model, speed = linkage(name), 5.0 + 0.137 * seed + 0.02 * seed**2
    dt = 5e-3 / speed
    run = kt.simulate(model, *started(model, speed), duration=1500 * dt, dt=dt)
    pivots = kt.closed_loops.regularity(model, run.q)[1]
    assert pivots.min() < 1e-3, "no singular position on the way"
    assert gap(run) < 1e-10 and np.abs(run.energy - run.energy[0]).max() < 3e-7 * run.kinetic_energy.max()
    notes = [note for note in run.notes if note.startswith("singular position near")]
    assert notes and "loop 'closure': 1 row dependent on others" in notes[0]
    times = [float(note.split("t = ")[1].split(" s")[0]) for note in notes]
    assert min(abs(run.time[np.argmin(pivots)] - t) for t in times) < 2.0 * dt


@pytest.mark.parametrize(("method", "tolerance"), [("dop853", 1e-10), ("dp54", 1e-8)])
@pytest.mark.parametrize("name", CHANGE_POINTS)
def test_adaptive_pairs_pass_change_points(name, method, tolerance):
    """Energy to 1e3 tolerances of 150 J, as much as special steps of 5e-4 rad are off; the motion is that of RK4."""
    model, pair = linkage(name), kt.integrators.Adaptive(method, rtol=tolerance, atol=tolerance)
    state = started(model, 5.2)
    run = kt.simulate(model, *state, duration=1.2, dt=1e-2, integrator=pair)
    assert np.ptp(run.energy) < 1e3 * tolerance * run.kinetic_energy.max() and gap(run) < 1e-10
    fixed = kt.simulate(model, *state, duration=1.2, dt=5e-4)
    assert run.q[-1] == pytest.approx(fixed.q[-1], abs=2e-6)
    if name != "parallelogram":  # whose singular position a step may cross without a stage near to it
        assert any(note.startswith("singular position near") for note in run.notes)


@pytest.mark.parametrize("name", ["kite", "longest and shortest as long as the others"])
def test_motions_through_change_points_converge(name):
    """The motion does not depend on how steps hit the singular position: 1 ms against 0.4 ms, of order 4."""
    model = linkage(name)
    state = started(model, 5.3)
    coarse, fine = (kt.simulate(model, *state, duration=1.2, dt=dt) for dt in (1e-3, 4e-4))
    assert len(coarse.notes) == len(fine.notes) >= 1
    assert coarse.q[-1] == pytest.approx(fine.q[-1], abs=3e-6) and coarse.v[-1] == pytest.approx(fine.v[-1], abs=5e-5)


@pytest.mark.parametrize("speed", [3.0, 1e-3, -2.0])
def test_a_start_in_the_flat_position_keeps_its_branch(speed):
    """phi'' = -(g 2 / (5/3)) cos(phi), by SciPy; from the singular position, with a velocity of the branch."""
    model, factor = rhombus(), G * 2.0 / (5.0 / 3.0)
    run = kt.simulate(model, [0.0, 0.0, 0.0], np.array([1.0, -1.0, 1.0]) * speed, duration=1.5, dt=1e-3)
    found = solve_ivp(lambda t, y: [y[1], -factor * math.cos(y[0])], (0, 1.5), [0, speed], rtol=1e-12, atol=1e-12)
    phi, rate = found.y[:, -1]
    assert run.q[-1] == pytest.approx([phi, -phi, phi], abs=1e-8)
    assert run.v[-1] == pytest.approx([rate, -rate, rate], abs=1e-8)
    assert run.a[0] == pytest.approx(np.array([-1.0, 1.0, -1.0]) * factor, rel=1e-6) and np.isfinite(run.a).all()
    assert "singular position near t = 0 s, loop 'closure': 1 row dependent on others" in run.notes


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "dp54", "adaptive"])
def test_a_start_at_rest_in_a_singular_position(integrator):
    """Not determined by the loops: accelerations are those of "pivoted", of least constraint forces, with a note."""
    model, zero = rhombus(), np.zeros(3)
    run = kt.simulate(model, zero, duration=0.3, dt=1e-3, integrator=integrator)
    expected = kt.forward_dynamics(model, zero, zero, zero, method="pivoted")
    assert run.a[0] == pytest.approx(expected, abs=1e-9) and gap(run) < 1e-10
    note = next(note for note in run.notes if note.startswith("singular position near t = 0 s"))
    assert note.endswith("at rest there: accelerations are those of least constraint forces")
    still = kt.simulate(model.replace(gravity=(0, 0, 0)), zero, duration=0.05, dt=1e-3, integrator=integrator)
    assert not still.q.any() and not still.v.any()


def test_velocities_that_no_motion_has():
    """The rows of the flat position allow them, but not their rates: the run continues on a branch, and notes it."""
    model = rhombus()
    allowed = kt.closed_loops.mobility(model, np.zeros(3)).motions[:, 0]
    run = kt.simulate(model, np.zeros(3), 2.0 * allowed, duration=0.05, dt=1e-3)
    assert any("no motion through it has the velocities there" in note for note in run.notes)


@pytest.mark.parametrize("closure", ["revolute", "planar"])
def test_slider_crank_with_rods_of_one_length(closure):
    """theta' from the energy at all samples: E = I(theta) theta'^2 / 2 + V(theta); folded at theta = 90 degrees.

    The crank (1 kg, l) turns by theta, the rod (2 kg, l) by -theta, the slider (3 kg) is at 2 l cos(theta).
    """
    l = 0.7
    model = kt.models.slider_crank((l, l), angle=0.5, closure=closure)
    q, _ = model.keyframe("initial")
    q, v = kt.assemble(model, q, fixed="crank", v=[8.0, 0.0, 0.0])
    run = kt.simulate(model, q, v * (8.0 / v[0]), duration=1.0, dt=1e-3)
    theta, rate = run.q[:, 0], run.v[:, 0]
    s, c = np.sin(theta), np.cos(theta)
    inertia = l**2 * (1 / 3 + 2 * (2.25 * s**2 + 0.25 * c**2 + 1 / 12) + 3 * 4 * s**2)
    potential = G * l * s * (0.5 + 2 * 0.5)
    energy = 0.5 * inertia * rate**2 + potential
    early = run.time < 0.4  # through the singular position at 0.218 s; the largest speeds are beyond
    assert energy[early] == pytest.approx(energy[0], abs=2e-8) and energy == pytest.approx(energy[0], abs=3e-5)
    assert theta[-1] > math.pi and gap(run) < 1e-10
    assert sum(note.startswith("singular position near") for note in run.notes) == 2


def test_a_run_in_pieces_through_a_singular_position():
    """The same bits as in one, also from a snapshot, and with a component that stops steps."""
    model = linkage("kite")
    state = started(model, 5.3)
    whole = kt.simulate(model, *state, duration=0.7, dt=1e-3)
    sim = kt.Simulation(model, *state, dt=1e-3)
    for _ in range(7):
        sim.advance(0.05)
    snapshot = sim.save()
    sim.advance(0.35)
    first = sim.q
    sim.restore(snapshot)
    sim.advance(0.35)
    assert np.array_equal(sim.q, whole.q[-1]) and np.array_equal(first, whole.q[-1])
    assert sim.trajectory().notes == whole.notes


def test_regular_mechanisms_have_no_notes():
    """A crank-rocker and a Stewart platform far from singular positions."""
    for model in (kt.models.four_bar(), kt.models.stewart_platform()):
        run = kt.simulate(model, duration=0.3, dt=1e-3)
        assert not any("singular" in note for note in run.notes)


def test_interpreted_runs_pass_singular_positions():
    """The flat start without machine code, where singular factors are errors of their own."""
    model = rhombus()
    with kt.interpreted():
        run = kt.simulate(model, [0.0, 0.0, 0.0], [3.0, -3.0, 3.0], duration=0.003, dt=1e-3)
    compiled = kt.simulate(model, [0.0, 0.0, 0.0], [3.0, -3.0, 3.0], duration=0.003, dt=1e-3)
    assert run.q[-1] == pytest.approx(compiled.q[-1], abs=1e-12)


@pytest.mark.parametrize("name", ["kite", "parallelogram"])
def test_rollouts_through_change_points(name):
    """A batch in which all rollouts pass one, at random distances: energy, gap, and the motion of `simulate`."""
    model = linkage(name)
    states = [started(model, 5.0 + 0.037 * k) for k in range(24)]
    q, v = (np.array(x).reshape(4, 6, 3) for x in zip(*states, strict=True))
    found = kt.rollout(model, q, v, np.zeros((900, 3)), 1e-3, integrator="rk4")
    energy = kt.kinetic_energy(model, found.q, found.v) + kt.potential_energy(model, found.q)
    assert np.abs(energy - energy[..., :1]).max() < 3e-7 * energy.max()
    assert np.abs(kt.closed_loops.error(model, found.q)).max() < 1e-10
    run = kt.simulate(model, *states[7], duration=0.9, dt=1e-3)
    assert run.notes and found.q[1, 1, -1] == pytest.approx(run.q[-1], abs=1e-5)


def test_rollouts_of_which_some_are_singular():
    """From the flat position, beside rollouts elsewhere, whose steps stay the usual ones."""
    model = rhombus()
    turn = np.array([1.0, -1.0, 1.0])
    q, v = np.array([0.0, 1.0, 1.2])[:, None] * turn, np.array([3.0, 0.2, 0.2])[:, None] * turn
    found, usual = (kt.rollout(model, q[k:], v[k:], None, 1e-3, steps=200, integrator="rk4") for k in (0, 1))
    assert found.q[1:] == pytest.approx(usual.q, abs=1e-12) and found.v[1:] == pytest.approx(usual.v, abs=1e-11)
    run = kt.simulate(model, q[0], v[0], duration=0.2, dt=1e-3)
    assert found.q[0] == pytest.approx(run.q, abs=1e-9)
    rare = kt.rollout(model, q[0], v[0], None, 1e-3, steps=200, integrator="rk4", record=kt.Record(every=4))
    assert rare.q == pytest.approx(run.q[::4], abs=1e-9)


def test_rollouts_elsewhere_take_the_usual_step():
    """No special step is compiled for a crank-rocker or a Stewart platform."""
    for model in (kt.models.four_bar(), kt.models.stewart_platform()):
        roll = kt.simulation.Rollout(model, "rk4")
        q, _ = model.keyframe("initial")
        roll(np.tile(q, (3, 1)), None, None, 1e-3, steps=100)
        assert not any(passing for *_, passing in roll._functions)


class FullWeight(PassingSystem):
    """Rates with weight 1, anywhere."""

    def _weight(self):
        return 1.0


@pytest.mark.seeds(4)
def test_rates_of_rows_along_a_motion(seed):
    """``K da/dt + R a = r`` along the motion, da/dt by differences of accelerations; rows turn with the bodies."""
    family = ("spatial", "planar", "spatial", "spherical")[seed % 4]
    model, q, v = kt.models.random_loops(seed + 3, bodies=5, loops=1, family=family)
    h, tau = 1e-4, np.zeros(model.nv)
    with kt.interpreted():
        a = kt.forward_dynamics(model, q, v, tau)
        ahead, behind = (kt.rollout(model, q, sign * v, None, h, steps=1, integrator="rk4") for sign in (1.0, -1.0))
        after, before = (kt.forward_dynamics(model, x.q[-1], x.v[-1], tau) for x in (ahead, behind))
        jerk = (after - before) / (2.0 * h)
        lists = q.tolist(), v.tolist()
        system = FullWeight(model, crba(model, lists[0]), Kinematics(model, *lists))
        K, R = (np.array([[float(row.get(k, 0.0)) for k in range(model.nv)] for row in rows])
                for rows in (system.rows, system.rates[0]))  # fmt: skip
        right = np.array([float(x) for x in system.rates[1]])
    size = np.abs(K @ jerk).max() + np.abs(R @ a).max() + np.abs(right).max()
    rounding = 1e-14 * np.abs(a).max() / h * np.abs(K).sum(axis=1).max()
    assert K @ jerk + R @ a == pytest.approx(right, abs=1e-4 * size + rounding)
    assert size > 0.1 or seed > 3, "rows that do not turn have no rates; among the first there are none"


@pytest.mark.parametrize("integrator", ["generalized_alpha", "linearly_implicit", kt.integrators.Adaptive("Radau")])
def test_methods_without_special_steps_refuse_singular_starts(integrator):
    """With the loop and the methods that have such steps."""
    with pytest.raises(kt.errors.SimulationError, match="1 row dependent on others. Steps .* use 'rk4'"):
        kt.simulate(rhombus(), np.zeros(3), [2.0, -2.0, 2.0], duration=0.1, integrator=integrator)
