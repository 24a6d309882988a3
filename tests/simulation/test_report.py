"""Reports: what is off is said, with the joint and the time; what is right is left in peace."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import SimulationError
from kinetree.joints import Free
from kinetree.simulation.summary import summary_rows
from tests.analytic.mechanisms import pendulum, slider


def kinds(run):
    return {finding.kind for finding in run.report().findings}


def only(run, kind):
    """The one finding of a kind."""
    (found,) = [finding for finding in run.report().findings if finding.kind == kind]
    return found


def test_a_good_run_is_left_in_peace():
    """Nothing is off in a pendulum at 1 ms, and the report says so."""
    report = kt.simulate(pendulum(), [1.0], duration=2.0, integrator="rk4").report()
    assert report.ok and not report.findings and "Nothing is off" in str(report)


def test_energy_from_nowhere_is_named_with_time_and_joint():
    """Explicit Euler on a pendulum gains energy: more than 1 % from some time on, which the energy balance confirms."""
    run = kt.simulate(pendulum(), [1.0], duration=5.0, dt=0.01, integrator="euler")
    found = only(run, "energy")
    share = np.abs(run.energy_balance.remainder) / run.energy_balance.scale
    assert not run.report().ok and found.joint == "hinge" and "gained" in found.text
    assert share[run.time < found.time].max() <= 0.01 < share[run.time == found.time][0]


def test_the_joint_at_fault_is_the_one_that_vibrates():
    """A light, stiff tip on a slow pendulum: the elbow's step errs."""
    model = kt.models.double_pendulum().replace(stiffness=np.array([0.0, 60.0]))
    run = kt.simulate(model, [0.3, 0.4], duration=1.0, dt=0.02, integrator="heun")
    assert only(run, "energy").joint == "elbow" and only(run, "step").joint == "elbow"


@pytest.mark.parametrize("integrator, dt", [("semi_implicit", 0.02), ("rk4", 0.1)])
def test_what_half_steps_change_is_measured(integrator, dt):
    """The report's number is that of a second run with half the step."""
    model = kt.models.double_pendulum()
    run, half = (kt.simulate(model, [1.0, 0.5], duration=3.0, dt=h, integrator=integrator) for h in (dt, dt / 2))
    found = only(run, "step")
    weight = np.sqrt(np.diagonal(kt.crba(model, run.q[len(run) // 2])))
    change = np.linalg.norm(weight * (run.v - half.v[::2]), axis=1) / np.linalg.norm(weight * np.abs(run.v).max(axis=0))
    assert f"by {change.max():.2g} of" in found.text
    assert "step" not in kinds(kt.simulate(model, [1.0, 0.5], duration=3.0, dt=1e-3, integrator="rk4"))


def test_controllers_that_saturate_are_named():
    """A clipped controller stands at its limit; the joint and the first time are said."""
    run = kt.simulate(kt.models.double_pendulum(), [1.0, 0.0], duration=1.0,
                      controller=lambda t, q, v: np.clip(-80 * q - 8 * v, -9, 9))  # fmt: skip
    found = only(run, "saturation")
    assert found.joint == "shoulder" and found.time == 0.0 and "9 in" in found.text and not found.serious


def test_forces_and_speeds_beyond_what_drives_can_do_are_named():
    """The limits are data of the model which the dynamics do not use."""
    model = pendulum(effort_limit=1.0, velocity_limit=0.5)
    run = kt.simulate(model, [0.0], inputs=kt.Inputs(tau=[2.0]), duration=1.0)
    assert "effort_limit of 1" in only(run, "saturation").text
    found = only(run, "velocity")
    n = int(np.searchsorted(run.time, found.time))
    assert abs(run.v[n, 0]) > 0.5 >= abs(run.v[n - 1, 0])


def test_jitter_at_a_stop_is_named():
    """A stiff undamped stop under a constant load, stepped explicitly: the joint leaves and meets it all the time."""
    model = slider(1.0, upper=0.1, limit_stiffness=1e6, limit_damping=0.0)
    run = kt.simulate(model, [0.0999], inputs=kt.Inputs(tau=[50.0]), duration=1.0, integrator="rk4")
    found = only(run, "stop")
    assert found.joint == "rail" and "jitters" in found.text and found.time < 0.2
    steady = kt.simulate(model.replace(limit_damping=200.0), [0.0999], inputs=kt.Inputs(tau=[50.0]), duration=1.0)
    assert "stop" not in kinds(steady)


def test_momentum_that_drifts_is_named():
    """A tumbling quadruped in free fall at order 1: its momentum drifts, and the report says from when on."""
    run = kt.simulate(kt.load("quadruped", floating_base=True).without_limits(), seed=1, duration=0.5, dt=4e-3)
    assert "momentum" in kinds(run) and "angular momentum drifts" in str(run.report())


def test_a_broken_manifold_is_named():
    """A quaternion that was put off its length by hand, as no integrator of the library would."""
    import dataclasses

    run = kt.simulate(kt.load("quadruped", floating_base=True), duration=0.02)
    q = run.q.copy()
    q[10:, 3:7] *= 1.0 + 1e-8
    off = dataclasses.replace(run, q=q, metadata=dataclasses.replace(run.metadata, kept={}))
    assert only(off, "quaternion").time == run.time[10]


# Rounding ------------------------------------------------------------------------------------------------------------


def held_arm():
    """arm7 held where it starts by gravity compensation and springs: moved by rounding alone."""
    arm, start = kt.load("arm7"), np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0, 0.0, 0.0])
    hold = lambda t, q, v: kt.gravity_forces(arm, q) + 50.0 * (start - q) - 5.0 * v  # noqa: E731
    return kt.simulate(arm, start, duration=0.5, controller=hold)


def hanging():
    """A double pendulum that stands on its head to the last bit of pi."""
    return kt.simulate(kt.models.double_pendulum(), [np.pi, 0.0], duration=0.5)


def held_without_drives():
    """A pendulum whose file gives no effort and no speed (zero), held by a controller."""
    model = pendulum(effort_limit=0.0, velocity_limit=0.0)
    return kt.simulate(model, [0.0], duration=0.5, controller=lambda t, q, v: 1e-17 * np.sin(1e3 * t) - 1e-3 * q)


def drifting():
    """A free body with friction in its one joint, at rest but for controllers of 1e-17 N m."""
    b = kt.ModelBuilder("pair", gravity=(0, 0, 0))
    b.add_body("body", joint=Free(), mass=2.0, com=(0.1, 0.2, 0.3), inertia=np.eye(3))
    b.add_body("wheel", "body", kt.joints.Revolute((0, 0, 1)), mass=1.0, inertia=np.eye(3), dry_friction=0.1)
    return kt.simulate(b.build(), duration=0.5, controller=lambda t, q, v: [0.0] * 6 + [1e-17 * np.sin(300.0 * t)])


def resting_on_an_end():
    """A finger pressed on nothing, exactly at its soft stop: it leaves it by units in the last place."""
    model = slider(1.0, upper=0.3)
    return kt.simulate(model, [0.3], duration=0.5, controller=lambda t, q, v: 1e-13 * np.sin(700.0 * t) * np.ones(1))


@pytest.mark.parametrize("run", [held_arm, hanging, held_without_drives, drifting, resting_on_an_end])
def test_rounding_is_no_finding(run):
    """Energies of 1e-30 J and velocities of 1e-17 are in every share of themselves; next to the forces that balance
    there, a machine epsilon of which is made anew in every step, they are nothing."""
    run = run()
    assert np.any(run.v) or run.v.shape[1] == 2  # something does move, by rounding
    assert run.report().findings == ()
    assert "damping" not in run.energy_balance.table() and run.energy_balance.rounding < 1e-9


def test_the_command_line_does_not_measure_rounding_by_itself():
    """A double pendulum on its head is at rest: no drift in shares of 1e-28 J, and the note that nothing moves."""
    run = hanging()
    rows = summary_rows(run, run.model, "double_pendulum", [])
    assert "energy drift" not in [name for name, _ in rows]
    assert any(text.startswith("nothing moves") for name, text in rows if name == "note")


@pytest.mark.parametrize("size", [1e-3, 1e-6])
def test_small_motions_are_no_rounding(size):
    """What is found of a large motion is found of a small one: an oscillator by explicit Euler gains energy, and its
    step is large, whatever its amplitude, down to velocities of 1e-6 and energies of 1e-12 J."""
    model = slider(1.0, stiffness=100.0)
    found = [kinds(kt.simulate(model, [x], duration=2.0, dt=5e-3, integrator="euler")) for x in (1.0, size)]
    assert found[0] == found[1] == {"energy", "step"}


def test_a_joint_that_rests_on_its_stop_is_no_finding():
    """Put on its soft stop, dropped on it, and on a hard one: no finding, though the stop takes all of the energy in a
    few steps; that it rests there is said."""
    ball = slider(1.0, axis=(0, 0, 1), lower=0.0)
    hard = ball.with_constraints(kt.constraints.HardLimits())
    for height, model in ((0.0, ball), (0.1, ball), (0.0, hard), (0.1, hard)):
        report = kt.simulate(model, [height], duration=1.0).report()
        assert report.findings == () and "Nothing is off" in str(report)
        assert report.notes == ("At rest on their stops at the end, with the stops' forces: 'rail' (lower, 9.81 N).",)
    above = kt.simulate(ball, [5.0], duration=0.1).report()
    assert above.notes == () and "rest" not in str(above)


def test_losses_at_a_stop_do_not_hide_those_elsewhere():
    """A joint on its stop beside an oscillator that explicit Euler drives: that gain is found."""
    b = kt.ModelBuilder("pair")
    inertia = np.eye(3)
    b.add_body("ball", joint=kt.joints.Prismatic((0, 0, 1)), mass=1.0, inertia=inertia, lower=0.0)
    b.add_body("bob", joint=kt.joints.Prismatic((1, 0, 0)), mass=1.0, inertia=inertia, stiffness=100.0)
    run = kt.simulate(b.build(), [0.0, 0.3], duration=2.0, dt=2e-3, integrator="euler")
    assert only(run, "energy").serious and "gained" in only(run, "energy").text


def gusts(t, q, v):
    """A wind that depends on the velocity and comes and goes ten times a second."""
    return [[0.0] * 6, [0.0] * 6, [0.0] * 3 + [20.0 * np.sin(63.0 * t) - v[0], 0.0, 0.0]]


@pytest.mark.parametrize("every", [1, 97, 100, 500])
@pytest.mark.parametrize("integrator", ["rk4", "adaptive"])
def test_forces_that_come_and_go_between_the_samples_raise_no_alarm(every, integrator):
    """With every step recorded the energy is accounted for; with few samples, also such that meet the force at nearly
    the same phase, nothing can be told of it, and that is what the report says, if anything."""
    integrator = kt.integrators.Adaptive(rtol=1e-8, atol=1e-8) if integrator == "adaptive" else integrator
    settings = {"dt": 1e-3, "record": kt.Record(every=every), "integrator": integrator}
    run = kt.simulate(kt.models.double_pendulum(), [1.0, 0.5], duration=2.0, inputs=kt.Inputs(f_ext=gusts), **settings)
    assert run.report().ok
    found = [finding.text for finding in run.report().findings if finding.kind == "energy"]
    assert every > 1 or not found
    assert all("is undecided: the samples are" in text and "'external wrenches'" in text for text in found)


def test_forces_of_controllers_between_the_samples_raise_no_alarm():
    """The same for controllers: sampled at 1 kHz, recorded at 10 Hz."""
    push = lambda t, q, v: np.array([8.0 * np.sin(70.0 * t), 0.0])  # noqa: E731
    run = kt.simulate(
        kt.models.double_pendulum(), [1.0, 0.5], duration=2.0, controller=push, record=kt.Record(every=100)
    )
    assert run.report().ok


def test_errors_of_the_step_are_found_from_few_samples_too():
    """Explicit Euler gains energy beside a damper: what its work is uncertain by, from samples ten steps apart, is far
    less."""
    run = kt.simulate(
        pendulum(damping=0.05), [1.0], duration=5.0, dt=0.01, integrator="euler", record=kt.Record(every=5)
    )
    assert only(run, "energy").serious


def test_a_force_that_holds_is_no_limit():
    """A controller that brings a joint to rest against a spring ends at its largest force: it holds."""
    model = slider(1.0, stiffness=400.0)  # the motion ends as exp(-20 t), below a machine epsilon after 2 s
    run = kt.simulate(model, duration=4.0, controller=lambda t, q, v: 400.0 * (1.0 - np.exp(-20.0 * t)) - 40.0 * v)
    assert "saturation" not in kinds(run)


def diverging(**settings):
    with np.errstate(all="ignore"), pytest.raises(SimulationError) as caught:
        kt.simulate(**settings)
    return caught.value


def test_a_run_that_diverges_keeps_its_trajectory_and_says_why():
    """A spring that the step does not resolve: the error names joint, time and remedy, and holds finite samples."""
    error = diverging(model=slider(1.0, stiffness=1e6), q0=[1.0], duration=5.0, dt=0.01, integrator="rk4")
    run = error.trajectory
    assert len(run) > 2 and np.isfinite(run.q).all() and np.isfinite(run.energy_balance.remainder).all()
    assert error.joint == "rail" and "stiffness" in str(error) and "smaller dt" in str(error)
    assert run.report().findings[0].kind == "divergence" and not run.report().ok


def test_a_controller_with_the_wrong_sign_is_blamed():
    """Negative damping at the elbow: the controller feeds that joint, from the beginning."""
    error = diverging(model=kt.models.double_pendulum(), q0=[1.0, 0.5], duration=5.0,
                      controller=lambda t, q, v: np.array([0, 20.0]) * v)  # fmt: skip
    assert "the controller feeds it" in str(error) and "at joint 'elbow'" in str(error)


def test_a_gain_too_high_for_the_step_is_blamed():
    """A digital damper with d h / m = 3 flips the velocity at every step: a vibration that the controller feeds."""
    error = diverging(model=slider(1.0), v0=[1e-3], duration=5.0, dt=0.01, controller=lambda t, q, v: -300.0 * v)
    assert "changes its sign from sample to sample" in str(error) and "gains are too high" in str(error)
    assert error.began < 0.2


def test_quiet_before_the_storm():
    """A motion that is good for a second and then driven to infinity: growth begins where the driving does."""
    error = diverging(
        model=pendulum(damping=0.1), q0=[0.5], duration=9.0, integrator="rk4",
        controller=lambda t, q, v: (30.0 if t > 1.0 else 0.0) * v,
    )  # fmt: skip
    assert error.began == pytest.approx(1.0, abs=0.15) and error.joint == "hinge"


def test_an_adaptive_run_that_ends_keeps_its_trajectory():
    """x'' = x^2 from (6, 12) is x = 6 / (1 - t)^2: infinite at 1 s; what came before is kept, to the tolerance."""
    error = diverging(
        model=slider(1.0), q0=[6.0], v0=[12.0], duration=5.0, integrator="adaptive", dt=0.05,
        controller=lambda t, q, v: q * q,
    )  # fmt: skip
    run = error.trajectory
    near = run.time < 0.9
    assert near.sum() > 10 and run.q[near, 0] == pytest.approx(6.0 / (1.0 - run.time[near]) ** 2, rel=1e-6)
    assert "the controller feeds it" in str(error)
