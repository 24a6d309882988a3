"""The heavy top of Bruls, Cardona and Arnold: with its point constraint in absolute coordinates, and as a tree."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error
from kinetree.integrators import GeneralizedAlpha
from kinetree.joints import Composite, Free, Revolute, Spherical, Translational
from kinetree.model.equipment import Equipment, LoopJoint

OMEGA = np.array([0.0, 150.0, -4.61538])
INERTIA = np.diag([0.234375, 0.46875, 0.234375])
# Center of mass, by DOP853 at 1e-13 on minimal coordinates.
GOLDEN = {
    0.01: (0.046113597054, 0.998935003609, -0.001547491785),
    0.1: (0.421296658925, 0.894571974346, -0.149164700562),
    1.0: (0.173343964098, 0.640088592070, -0.748490791134),
}
REACTION = (0.0, -319.525988166, -317.262461538)


@functools.cache
def absolute(group: str):
    """The top in six coordinates, held by a loop joint at the pivot; its center of mass is the body's origin."""
    joint = Free() if group == "SE(3)" else Composite((Translational(), Spherical()))
    b = kt.ModelBuilder(f"heavy top on {group}")
    b.add_body("top", joint=joint, mass=15.0, com=(0, 0, 0), inertia=INERTIA)
    b.add_frame("pivot", "top", ((0, -1, 0), (0, 0, 0)))
    return b.build().replace(equipment=Equipment(loops=(LoopJoint("pivot", Spherical(), "world", "pivot"),)))


def run(group: str, dt: float, duration: float = 0.1, rho: float = 0.9):
    """The benchmark's motion; positions start with those of the center of mass in both groups."""
    linear = np.cross(OMEGA, (0, 1, 0))
    v0 = np.concatenate((OMEGA, linear) if group == "SE(3)" else (linear, OMEGA))
    return kt.simulate(absolute(group), [0, 1, 0, 1, 0, 0, 0], v0, duration=duration, dt=dt,
                       integrator=GeneralizedAlpha(rho))  # fmt: skip


def multipliers(found) -> np.ndarray:
    """Forces along the rows of the pivot (T, 3) [N]."""
    return np.stack([found.energy_balance.others[f"force.pivot.{n}"] for n in range(3)], axis=-1)


def drift(found) -> float:
    """The largest error of position in a loop."""
    return np.abs([constraint_error(found.model, q) for q in found.q.tolist()]).max()


groups = pytest.mark.parametrize("group", ["SE(3)", "R3 x SO(3)"])


@groups
def test_the_first_reaction(group):
    """m (x'' - g) at the start: (0, -319.525988166, -317.262461538) N, the multipliers themselves."""
    assert multipliers(run(group, 1e-3, 1e-3))[0] == pytest.approx(REACTION, abs=1e-8)


@groups
def test_golden_positions(group):
    """At 0.01 and 0.1 s with h = 0.1 ms: to 3e-4 m, that is (h w)^2 = 2e-4 times some factor, as h^2 demands."""
    found = run(group, 1e-4)
    for t, x in GOLDEN.items():
        if t <= 0.1:
            assert found.q[round(t / 1e-4), :3] == pytest.approx(x, abs=3e-4)


@groups
def test_order_two_and_the_constraint_to_rounding(group):
    """Errors of the position at 0.1 s for h = 0.5, 0.25, 0.125 ms: order 2 within 0.1; the pivot stays to 1e-14 m."""
    errors = []
    for n in (200, 400, 800):
        found = run(group, 0.1 / n)
        errors.append(np.abs(found.q[-1, :3] - GOLDEN[0.1]).max())
        assert drift(found) < 1e-14
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(2.0, abs=0.1)


def test_multipliers_on_se3_converge_from_the_first_step_on():
    """On SE(3) multipliers have order 2 everywhere; on R^3 x SO(3) order 1 in the first steps (Bruls et al. 2012)."""
    order = {}
    for group in ("SE(3)", "R3 x SO(3)"):
        reference, errors = multipliers(run(group, 0.1 / 3200)), []
        for n in (200, 400):
            found = multipliers(run(group, 0.1 / n))
            errors.append(np.abs(found - reference[:: 3200 // n]).max())
        order[group] = np.log2(errors[0] / errors[1])
    assert order["SE(3)"] == pytest.approx(2.0, abs=0.1)
    assert order["R3 x SO(3)"] == pytest.approx(1.0, abs=0.2)


def test_the_tree_meets_the_benchmark():
    """The same top on a ball joint, generalized alpha at h = 0.1 ms, extrapolated: 1e-5 m at 0.1 s."""
    b = kt.ModelBuilder("top")
    b.add_body("top", joint=Spherical(), mass=15.0, com=(0, 1, 0), inertia=INERTIA)
    model, found = b.build(), []
    for dt in (2e-4, 1e-4):
        end = kt.simulate(
            model, v0=OMEGA, duration=0.1, dt=dt, integrator="generalized_alpha", record=kt.Record(every=10000)
        )
        pose = kt.forward_kinematics(model, end.q[-1])
        found.append(pose.R_WB[1] @ (0, 1, 0))
    assert (4 * found[1] - found[0]) / 3 == pytest.approx(GOLDEN[0.1], abs=1e-5)


def test_a_four_bar_closes_and_keeps_its_energy():
    """A closed chain of hinges, whose loop says three things twice in space: drift 1e-12 m, energy to h^2."""
    b = kt.ModelBuilder("four bar")
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": np.diag([0.01, 1 / 12, 1 / 12])}
    b.add_body("crank", joint=Revolute(), **rod)
    b.add_body("coupler", "crank", Revolute(), placement=((1, 0, 0), (0, 0, 0)), **rod)
    b.add_body("rocker", "coupler", Revolute(), placement=((1, 0, 0), (0, 0, 0)), **rod)
    b.add_frame("end", "rocker", ((1, 0, 0), (0, 0, 0)))
    b.add_frame("ground", "world", ((1, 0, 0), (0, 0, 0)))
    model = b.build().replace(
        gravity=(0.0, -9.81, 0.0), equipment=Equipment(loops=(LoopJoint("closure", Revolute(), "ground", "end"),))
    )
    q0, v0 = np.array([1.2, -1.2, -1.2]), np.array([1.0, -1.0, 1.0])  # a parallelogram
    q0[2] = -(np.pi - 1.2)
    found = kt.simulate(model, q0, v0, duration=1.0, dt=1e-3, integrator="generalized_alpha")
    assert found.integrator == "generalized_alpha"
    energy = kt.kinetic_energy(model, found.q, found.v) + kt.potential_energy(model, found.q)
    assert drift(found) < 1e-12
    assert np.abs(energy - energy[0]).max() < 1e-4 * np.ptp(kt.potential_energy(model, found.q))
    other = kt.simulate(model, q0, v0, duration=1.0, dt=1e-3, integrator="bdf2")
    assert drift(other) < 1e-12 and other.q[-1] == pytest.approx(found.q[-1], abs=1e-4)


def test_runs_in_pieces_have_the_forces_and_the_bits_of_one():
    """A snapshot in the middle; the forces of the loop go on, too."""
    start = [0, 1, 0, 1, 0, 0, 0], np.concatenate((OMEGA, np.cross(OMEGA, (0, 1, 0))))
    whole = kt.Simulation(absolute("SE(3)"), *start, dt=1e-3, integrator="generalized_alpha")
    whole.advance(0.005)
    saved = whole.save()
    whole.advance(0.005)
    again = kt.Simulation(absolute("SE(3)"), *start, dt=1e-3, integrator="generalized_alpha")
    again.restore(saved)
    again.advance(0.005)
    assert (again.q == whole.q).all() and (again.v == whole.v).all()
    assert (multipliers(again.trajectory()) == multipliers(whole.trajectory())).all()


def test_a_start_that_breaks_the_loop_is_refused():
    """The message names the loop and by how much."""
    with pytest.raises(kt.errors.ConstraintError, match="the initial state.*q breaks the loop joint 'pivot'.* by"):
        kt.simulate(absolute("SE(3)"), [0, 1.1, 0, 1, 0, 0, 0], duration=1e-3, integrator="generalized_alpha")


def test_loops_stand_beside_locks_and_given_motions():
    """A locked joint is the model of surgery; a constant motion is a lock, and a swinging one that of `rk4`."""
    model, q = absolute("SE(3)"), [0, 1, 0, 1, 0, 0, 0]
    b = kt.ModelBuilder.of(model.replace(constraints=(), gravity=(0, 0, -9.81)))
    b.add_body("bob", "top", Revolute((1, 0, 0)), "bob", mass=1.0, com=(0, 0, -0.3), inertia=0.1 * np.eye(3))
    whole = b.build().with_constraints(*model.constraints)
    locked = whole.with_constraints(kt.constraints.Lock("bob"))
    run = kt.simulate(locked, [*q, 0.4], duration=0.2, integrator="generalized_alpha")
    assert (run.q[:, 7] == 0.4).all() and drift(run) < 1e-13 and np.ptp(run.q[:, 1]) > 0.01
    one = kt.simulate(kt.surgery.lock(whole, {"bob": 0.4}), q, duration=0.2, integrator="generalized_alpha")
    assert run.q[-1, :7] == pytest.approx(one.q[-1], abs=1e-11)
    still = whole.with_constraints(kt.constraints.PrescribedMotion("bob", 0.4))
    held = kt.simulate(still, [*q, 0.4], duration=0.2, integrator="generalized_alpha")
    assert held.q == pytest.approx(run.q, abs=1e-10)
    assert np.abs(kt.closed_loops.error(still, held.q, held.time)).max() < 1e-13
    moved = whole.with_constraints(kt.constraints.PrescribedMotion("bob", kt.joints.Sinusoid(0.3, 8.0, offset=0.4)))
    exact = kt.simulate(moved, [*q, 0.4], duration=0.2, dt=1e-3, integrator="rk4")
    for integrator in ("generalized_alpha", "bdf2", "implicit_midpoint", "variational"):
        errors = [np.abs(kt.simulate(moved, exact.q[0], exact.v[0], duration=0.2, dt=dt, integrator=integrator).q[-1]
                         - exact.q[-1]).max() for dt in (4e-3, 2e-3)]  # fmt: skip
        assert errors[1] < 1e-3 and 3.0 < errors[0] / errors[1] < 6.0
