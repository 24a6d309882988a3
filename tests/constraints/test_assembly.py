"""Closed positions from guesses, consistent velocities, and starts of runs that are closed or refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error, constraint_jacobian
from kinetree.errors import ArgumentError, AssemblyError, ConstraintError, UnknownNameError
from kinetree.model.equipment import Equipment
from tests.constraints.test_loop_steps import angles, four_bar, misfit


def gap(model, q) -> float:
    return max(abs(float(x)) for x in constraint_error(model, np.asarray(q).tolist()))


def test_the_branch_of_a_four_bar_is_that_of_the_guess():
    """With its crank fixed it has two closed positions, in closed form; each guess leads to the next one."""
    model = four_bar()
    for crank in (0.4, 1.3, 2.4):
        open_branch = angles(crank)
        q = kt.assemble(model, [crank, *(open_branch[1:] + [0.4, -0.3])], fixed="crank")
        assert q == pytest.approx(open_branch, abs=1e-12)
        crossed = kt.models.four_bar(angle=crank, crossed=True).keyframe("initial")[0]
        q = kt.assemble(model, [crank, *(crossed[1:] + [-0.3, 0.3])], fixed="crank")
        assert q == pytest.approx(crossed, abs=1e-12) and gap(model, q) < 1e-14


@pytest.mark.seeds(12)
def test_random_mechanisms_are_assembled(seed):
    """From positions half a radian away, all joint kinds; the default guess, too."""
    family = ("spatial", "planar", "spherical")[seed % 3]
    model, q, _ = kt.models.random_loops(seed, bodies=6, loops=2, family=family)
    rng = np.random.default_rng(seed)
    away = kt.integrate(model, q, 0.5 * rng.standard_normal(model.nv))
    found = kt.assemble(model, away)
    assert gap(model, away) > 0.01 and gap(model, found) < 1e-9
    assert kt.assemble(model, found) == pytest.approx(found, abs=1e-9)


def test_a_stewart_platform_follows_its_legs():
    """Six legs fixed: the platform is where their lengths are; all free: the nearest closed position."""
    model = kt.models.stewart_platform()
    legs = [f"prismatic{k}" for k in range(1, 7)]
    guess = model.neutral()
    for n, leg in enumerate(legs):
        guess[model.q_index(leg)] = 0.05 * (-1) ** n
    q = kt.assemble(model, guess, fixed=legs)
    assert gap(model, q) < 1e-13 and all(q[model.q_index(leg)] == guess[model.q_index(leg)] for leg in legs)
    for k in range(1, 7):  # the length of each leg, from its anchors
        foot, head = (kt.pose(model, q, frame=name).p_WF for name in (f"lower{k}", f"anchor{k}"))
        start = np.linalg.norm(np.subtract(*(kt.pose(model, model.neutral(), frame=x).p_WF
                                             for x in (f"lower{k}", f"anchor{k}"))))  # fmt: skip
        assert np.linalg.norm(head - foot) - start == pytest.approx(guess[model.q_index(legs[k - 1])][0], abs=1e-12)


def test_limits_are_kept_where_that_is_possible():
    """A stop between the guess and the next closed position leads to another one; without any inside, it is passed."""
    model = four_bar()
    free = kt.assemble(model, [1.0, 0.0, 1.6])
    limited = model.replace(lower={"crank": 0.3, "coupler": -0.1}, upper={"crank": 3.0, "coupler": 2.0})
    q = kt.assemble(limited, [1.0, 0.0, 1.6])
    assert free[1] < -0.1 <= q[1] and 0.3 <= q[0] <= 3.0 and gap(model, q) < 1e-12
    nowhere = model.replace(lower={"coupler": 3.5}, upper={"coupler": 3.6})
    assert gap(model, kt.assemble(nowhere, [1.0, 0.0, 1.6])) < 1e-12


def test_couplings_and_locks_are_constraints_of_the_search():
    """A coupled joint follows its master, a locked one keeps the guess."""
    chain = kt.models.n_pendulum(5)
    names = chain.joint_names
    X = kt.spatial.Transform.shift(kt.spatial.Vector3(2.2, 0.0, -0.4))
    pin = kt.constraints.LoopJoint("pin", kt.joints.Revolute((0, 1, 0)), "world", "rod5", X)
    model = chain.with_constraints(
        kt.constraints.Coupling(names[1], names[0], -0.5, 0.1), kt.constraints.Lock(names[2]), pin
    )  # fmt: skip
    q = kt.assemble(model, [-0.9, 0.0, 0.3, -1.0, 0.4])
    assert gap(model, q) < 1e-12 and q[2] == 0.3 and q[1] == pytest.approx(0.1 - 0.5 * q[0], abs=1e-12)


def test_velocities_are_made_consistent():
    """The least change in the metric of M, with the crank's speed kept; overdetermined ones are an error."""
    model = four_bar()
    q, v = kt.assemble(model, [1.0, -0.4, 1.5], "crank", v=[1.0, 0.0, 0.0])
    assert v[0] == 1.0 and v == pytest.approx(angles(q[0] + 1e-30j).imag / 1e-30, abs=1e-12)
    q, v = kt.assemble(model, q, v=[1.0, 2.0, 3.0])
    assert v == pytest.approx(kt.closed_loops.project_velocity(model, q, [1.0, 2.0, 3.0]), abs=1e-12)
    with pytest.raises(AssemblyError, match="no velocities obey constraint 'closure' with those of 'crank', 'rocker'"):
        kt.assemble(model, q, ("crank", "rocker"), v=[1.0, 0.0, 3.0])


def test_what_cannot_close_is_an_error_with_its_gap():
    """A rod that is too short by 1.5 m, and one by 6.5 m: the distance that is missing, and where it was found."""
    model = four_bar()
    with pytest.raises(AssemblyError, match="with 'crank', 'rocker' fixed.*loop joint 'closure'.* by 1.5 m") as error:
        kt.assemble(model, [0.0, 0.0, 0.0], ("crank", "rocker"))
    assert error.value.gap == pytest.approx(1.5, abs=1e-6) and error.value.constraint == "closure"
    assert gap(model, error.value.q) == pytest.approx(1.5, abs=1e-6)
    away = kt.spatial.Transform.shift(kt.spatial.Vector3(10.0, 0.0, 0.0))
    loop = model.constraints[0]
    broken = model.replace(constraints=(
        kt.constraints.LoopJoint("far", loop.joint, loop.predecessor, loop.successor, away),
    ))  # fmt: skip
    with pytest.raises(AssemblyError, match="does not close: near the guess the loop joint 'far'.* by 6.5 m"):
        kt.assemble(broken)


def test_joints_by_name():
    """Those that are not named are at the keyframe or at neutral, and their velocities zero."""
    model = kt.models.four_bar()
    guess, _ = model.keyframe("initial")
    guess[0] = 1.1
    q, v = kt.assemble(model, {"crank": 1.1}, fixed="crank", v={"crank": [2.0]})
    expected = kt.assemble(model, guess, fixed="crank", v=[2.0, 0.0, 0.0])
    assert np.array_equal(q, expected.q) and np.array_equal(v, expected.v)
    delta = kt.models.delta_robot()
    arms = {"arm1": 0.7, "arm2": 0.6, "arm3": 0.5}
    q = kt.assemble(delta, arms, fixed=list(arms))
    assert [q[delta.q_index(name)][0] for name in arms] == list(arms.values())
    with pytest.raises(UnknownNameError, match="no joint named 'crnk'.*Did you mean 'crank'"):
        kt.assemble(model, {"crnk": 1.0})
    with pytest.raises(ArgumentError, match=r"q_guess of joint 'crank' is .*shape \(1,\), not \(2,\)"):
        kt.assemble(model, {"crank": [1.0, 2.0]})
    with pytest.raises(ArgumentError, match="expected finite positions"):
        kt.assemble(model, {"crank": np.nan})


def test_wrong_arguments():
    """By name."""
    model = four_bar()
    with pytest.raises(kt.errors.UnknownNameError, match="crnak"):
        kt.assemble(model, fixed="crnak")
    with pytest.raises(kt.errors.KinetreeError, match="assemble: q_guess"):
        kt.assemble(model, [0.0, 1.0])
    with pytest.raises(kt.errors.KinetreeError, match="assemble: v"):
        kt.assemble(model, v=[0.0, 1.0])


# Starts of runs ------------------------------------------------------------------------------------------------------


def test_default_starts_are_closed_with_a_note():
    """The keyframe "initial", or a closed position next to the neutral or the drawn one."""
    model = four_bar()
    run = kt.simulate(model, duration=0.01)
    assert run.q[0] == pytest.approx(angles(1.0), abs=1e-12) and "keyframe 'initial'" in run.notes[0]
    plain = model.replace(equipment=Equipment(loops=model.equipment.loops))
    for settings in ({}, {"seed": 3}, {"integrator": "adaptive"}):
        run = kt.simulate(plain, duration=0.01, **settings)
        assert max(misfit(run)) < 1e-12 and any("kt.assemble" in note for note in run.notes)


def test_small_misfits_of_starts_are_projected_with_a_note():
    """1e-7 rad is closed; a tenth is refused with the loop, the gap and the repair, and so are velocities."""
    model = four_bar()
    q, v = model.keyframe("initial")
    run = kt.simulate(model, q + [0.0, 1e-7, 0.0], duration=0.01)
    assert max(misfit(run)) < 1e-13 and any("closed by projection: positions by" in note for note in run.notes)
    assert not kt.simulate(model, q, duration=0.01).notes
    with pytest.raises(ConstraintError, match=r"\(q0, v0\): q breaks the loop joint 'closure'.* by 0.*kt.assemble"):
        kt.simulate(model, q + [0.0, 0.1, 0.0], duration=0.01)
    with pytest.raises(ConstraintError, match=r"v breaks the loop joint 'closure'.* by 3 m/s.*project_velocity"):
        kt.simulate(model, q, [1.0, 0.0, 0.0], duration=0.01)
    consistent = kt.closed_loops.project_velocity(model, q, [1.0, 0.0, 0.0])
    assert kt.simulate(model, q, consistent, duration=0.01).v[0].tolist() == consistent.tolist()


def test_starts_of_rollouts_are_checked():
    """The first open state of a batch is named; without checks nothing is refused."""
    model = four_bar()
    q, v = model.keyframe("initial")
    many = np.stack([q, q, q + [0.0, 0.0, 0.1]])
    with pytest.raises(ConstraintError, match="rollout, at the start, state 2: q breaks the loop joint 'closure'"):
        kt.rollout(model, many, None, None, 1e-3, steps=3)
    with pytest.raises(ConstraintError, match="rollout, at the start: v breaks the loop joint 'closure'"):
        kt.rollout(model, q, [1.0, 0.0, 0.0], None, 1e-3, steps=3)
    assert kt.rollout(model, many, None, None, 1e-3, steps=3, checks=False).q.shape == (3, 4, 3)
    assert kt.rollout(model, q.astype(np.float32), None, None, 1e-3, steps=3).q.dtype == np.float32
    assert max(abs(np.array(constraint_jacobian(model, q.tolist())) @ v)) < 1e-15


def test_decimals_of_a_file_do_not_keep_loops_open():
    """A crank whose axis is tilted by 1e-5: rows across the plane are rounding, and the others are closed exactly."""
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": np.diag([0.01, 0.1, 0.1])}
    b, tilt = kt.ModelBuilder("bar"), 1e-5
    turn = ((0, 0, 0), (tilt, 0, 0))
    b.add_body("crank", joint=kt.joints.Revolute(), joint_name="crank", placement=turn, **rod)
    b.add_body("coupler", "crank", kt.joints.Revolute(), "coupler", placement=((1, 0, 0), (0, 0, 0)), **rod)
    b.add_body("rocker", joint=kt.joints.Revolute(), joint_name="rocker", placement=((3, 0, 0), (0, 0, 0)), **rod)
    b.add_frame("coupler_tip", "coupler", ((3, 0, 0), (0, 0, 0)))
    b.add_frame("rocker_tip", "rocker", ((2.5, 0, 0), (0, 0, 0)))
    hinge = kt.constraints.LoopJoint("closure", kt.joints.Revolute(), "coupler_tip", "rocker_tip")
    model = b.build().with_constraints(hinge)
    kept, rounding = list(model.independent_rows()), list(model.loop_rows().rounding)
    q = kt.assemble(model, [1.0, -0.3, 1.4], fixed="crank")
    phi = np.abs(constraint_error(model, q.tolist()))
    assert len(kept) == 2 and rounding and phi[kept].max() < 1e-12
    assert 1e-6 < phi[rounding].max() < 1e-3 and q == pytest.approx(angles(1.0), abs=1e-3)
