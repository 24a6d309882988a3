"""Motors: closed forms of saturation, torque-speed lines, rotors, gears, lag."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError
from tests.analytic.mechanisms import slider

MASS, RATIO = 2.0, 10.0


def test_saturation_and_reflected_inertia():
    """a = r tau_max / (m + r^2 J), whatever more the controller asks; the energy balance has what was refused."""
    motor = kt.forces.Motor("rail", gear_ratio=RATIO, torque_limit=0.3, rotor_inertia=0.01)
    run = kt.simulate(slider(MASS).with_forces(motor), duration=0.5, controller=lambda t, q, v: [7.0])
    assert run.tau == pytest.approx(3.0) and run.a == pytest.approx(3.0 / (MASS + 1.0))
    assert run.v[-1, 0] == pytest.approx(0.5, rel=1e-12)
    others = run.energy_balance.others
    assert others["motor rail: refused"] == pytest.approx(4.0) and others["motor rail: torque"] == pytest.approx(0.3)
    assert others["motor rail: speed"] == pytest.approx(RATIO * run.v[:, 0])
    assert run.energy_balance.energies["armature"][-1] == pytest.approx(0.5 * 1.0 * 0.25)


def test_a_dc_motor_runs_up_exponentially():
    """m dv/dt = r tau_0 (1 - r v / omega_0): v = omega_0 / r (1 - exp(-t / T)), T = m omega_0 / (r^2 tau_0)."""
    motor = kt.forces.Motor("rail", gear_ratio=RATIO, torque_limit=0.5, speed_limit=30.0)
    T, h = MASS * 30.0 / (RATIO**2 * 0.5), 1e-3
    run = kt.simulate(slider(MASS).with_forces(motor), duration=5.0, dt=h, controller=lambda t, q, v: [100.0])
    assert run.v[:, 0] == pytest.approx(3.0 * -np.expm1(-run.time / T), abs=3.0 * h / T)
    assert run.v.max() <= 3.0


def test_the_whole_torque_up_to_the_rated_speed_and_for_braking():
    """Beyond the rated speed the limit falls linearly; against the motion it is always there."""
    motor = kt.forces.Motor("x", gear_ratio=-2.0, torque_limit=1.0, speed_limit=10.0, rated_speed=6.0)
    assert motor.range(3.0) == (-2.0, 2.0) and motor.range(4.0) == (-2.0, 1.0) and motor.range(6.0) == (-2.0, 0.0)
    assert motor.range(-4.0) == (-1.0, 2.0)


def test_losses_of_the_gear_help_to_brake():
    """The joint gets eta r tau where the motor drives, r tau / eta where it brakes; the shaft has tau at most."""
    motor = kt.forces.Motor("rail", gear_ratio=RATIO, torque_limit=0.3, efficiency=0.8)
    assert motor.range(1.0) == pytest.approx((-3.75, 2.4))
    run = kt.simulate(slider(MASS).with_forces(motor), v0=[-1.0], duration=2.0, controller=lambda t, q, v: [9.0])
    shaft = run.energy_balance.others["motor rail: torque"]
    assert shaft == pytest.approx(0.3, rel=1e-12) and {round(float(x), 9) for x in run.tau[:, 0]} == {3.75, 2.4}


def test_lag_is_exponential():
    """A step of the command: the force at the samples is 1 - exp(-t / T), exactly, as the command is held."""
    motor = kt.forces.Motor("rail", time_constant=0.05)
    run = kt.simulate(slider(MASS).with_forces(motor), duration=0.3, controller=lambda t, q, v: [2.0])
    assert run.tau[:, 0] == pytest.approx(-2.0 * np.expm1(-run.time / 0.05), abs=1e-12)


def test_saved_in_the_middle_of_a_lag():
    """Restored: the same bits, the same log."""

    def make():
        model = slider(MASS).with_forces(kt.forces.Motor("rail", torque_limit=2.0, time_constant=0.02))
        return kt.Simulation(model, [0.1], controller=lambda t, q, v: -50.0 * q)

    sim = make()
    sim.advance(0.3)
    saved = sim.save()
    sim.advance(0.3)
    other = make()
    other.restore(saved)
    other.advance(0.3)
    one, two = sim.trajectory(), other.trajectory()
    assert np.array_equal(one.q, two.q) and np.array_equal(
        one.energy_balance.others["motor rail: refused"], two.energy_balance.others["motor rail: refused"]
    )


def test_limits_of_the_model_on_request():
    """Motors of the effort limits: forces are those of the model's drives; the report says that they saturate."""
    model = slider(MASS).replace(effort_limit=3.0)
    model = model.with_forces(*kt.forces.Motor.of_effort_limits(model))
    run = kt.simulate(model, duration=0.5, controller=lambda t, q, v: [7.0 if t > 0.2 else 1.0])
    assert run.tau.max() == 3.0
    assert any(finding.kind == "saturation" for finding in run.report().findings)
    assert kt.forces.Motor.of_effort_limits(slider()) == ()


def test_works_with_other_integrators():
    """Motors change forces only: rk4 and adaptive solvers take them."""
    motor = kt.forces.Motor("rail", torque_limit=3.0)
    for integrator in ("rk4", "adaptive"):
        model = slider(MASS).with_forces(motor)
        run = kt.simulate(model, duration=0.5, integrator=integrator, controller=lambda t, q, v: [7.0])
        assert run.v[-1, 0] == pytest.approx(0.75, rel=1e-9)


@pytest.mark.parametrize("method", ["dop853", "bs32", "Radau", "LSODA"])
def test_a_lag_under_adaptive_methods(method):
    """The force is a state: m v = F (t - T (1 - exp(-t / T))) for a constant command F; saturated, and with feedback,
    fine fixed steps have the same motion."""
    T, F = 0.05, 2.0
    motor = kt.forces.Motor("rail", time_constant=T)
    integrator = kt.integrators.Adaptive(method, 1e-9, 1e-9)
    run = kt.simulate(slider(MASS).with_forces(motor), duration=0.3, dt=0.01, integrator=integrator,
                      inputs=kt.Inputs(tau=[F]))  # fmt: skip
    lagging = -F * np.expm1(-run.time / T)
    assert run.tau[:, 0] == pytest.approx(lagging, abs=1e-7) and run.x[:, 0] == pytest.approx(lagging, abs=1e-7)
    assert run.v[:, 0] == pytest.approx((F * run.time - T * lagging) / MASS, abs=1e-7)
    assert np.abs(run.energy_balance.remainder).max() < 1e-6  # powers are cubics through samples, 5 in a time constant
    limited = slider(MASS).with_forces(kt.forces.Motor("rail", time_constant=T, torque_limit=4.0))
    law = lambda t, q, v: -60.0 * q - 5.0 * v  # noqa: E731
    run = kt.simulate(limited, [0.1], duration=0.5, dt=0.05, integrator=integrator, controller=law)
    fine = kt.simulate(limited, [0.1], duration=0.5, dt=2e-5, integrator="rk4", controller=law)
    assert run.q[:, 0] == pytest.approx(fine.q[::2500, 0], abs=1e-5)
    assert np.abs(fine.energy_balance.others["motor rail: refused"]).max() > 1.5  # 6 N are commanded at first


@pytest.mark.parametrize("integrator", ["bdf2", "generalized_alpha", "variational", "dp54"])
def test_a_lag_beside_methods_with_memory_and_constraints(integrator):
    """The command is held over steps: the order of the method stays, and so does the closed form of the lag."""
    motor = kt.forces.Motor("elbow", time_constant=0.05)
    swing = kt.constraints.PrescribedMotion("shoulder", kt.joints.Sinusoid(0.3, 4.0))
    model = kt.models.double_pendulum().with_forces(motor).with_constraints(swing)
    command = {"duration": 0.2, "inputs": kt.Inputs(tau=[0.0, 0.3])}
    runs = [kt.simulate(model, [0.0, 0.4], dt=dt, integrator=integrator, **command) for dt in (4e-3, 2e-3)]
    exact = kt.simulate(model, [0.0, 0.4], dt=2e-3, integrator="adaptive", **command)
    for run in runs:
        assert run.tau[:, 1] == pytest.approx(-0.3 * np.expm1(-run.time / 0.05), abs=1e-12)
    errors = [np.abs(run.q[-1] - exact.q[-1]).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.2)  # by the torque that is held over steps


@pytest.mark.parametrize(
    "settings",
    [{"gear_ratio": 0.0}, {"torque_limit": -1.0}, {"efficiency": 0.0}, {"rated_speed": 5.0, "speed_limit": 4.0}],
)
def test_numbers_that_no_motor_has(settings):
    """Refused by name."""
    with pytest.raises(ModelError, match=f"Motor of joint 'x': {next(iter(settings))}"):
        kt.forces.Motor("x", **settings)


def test_joints_that_no_motor_drives():
    """A free joint has six velocities; anything but a Motor is refused."""
    b = kt.ModelBuilder("top")
    b.add_body("body", joint=kt.joints.Free(), joint_name="joint", mass=1.0, inertia=np.eye(3))
    with pytest.raises(ModelError, match="6 velocities"):
        b.build().with_forces(kt.forces.Motor("joint"))
    with pytest.raises(ModelError, match="3.0 is no force element"):
        slider().with_forces(3.0)


def test_motors_are_data_of_the_model():
    """Two runs of one model share nothing; algorithms take delivered forces."""
    motor = kt.forces.Motor("rail", torque_limit=2.0, time_constant=0.02)
    model = slider(MASS).with_forces(motor)
    assert model.motors == (motor,) and model.laws == () and model.forces == (motor,)
    command = lambda t, q, v: [1.0]  # noqa: E731
    one, other = (kt.Simulation(model, [0.0], controller=command) for _ in range(2))
    one.advance(0.1)
    other.advance(0.1)
    assert np.array_equal(one.trajectory().tau, other.trajectory().tau)
    assert kt.forward_dynamics(model, [0.0], [0.0], [9.0]) == pytest.approx(9.0 / MASS)
    assert kt.surgery.rename(model, prefix="a_").motors == (
        kt.forces.Motor("a_rail", torque_limit=2.0, time_constant=0.02),
    )


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "implicit_midpoint"])
@pytest.mark.parametrize("settings", [
    {"torque_limit": 0.3, "speed_limit": 6.0, "rated_speed": 2.0, "efficiency": 0.8, "rotor_inertia": 0.01},
    {"gear_ratio": -4.0, "torque_limit": 0.5},
    {"torque_limit": 0.4, "speed_limit": 8.0, "time_constant": 0.03},
    {"time_constant": 0.02},
], ids=["losses", "reversed", "lag", "unlimited"])  # fmt: skip
def test_a_rollout_is_the_simulation(integrator, settings):
    """Commands over time, saturated, with losses and lag: the same motion; a batch is its states."""
    model = kt.models.double_pendulum().with_forces(kt.forces.Motor("elbow", **({"gear_ratio": 3.0} | settings)))
    commands = 4.0 * np.random.default_rng(0).normal(size=(2, 60, 2))
    rolled = kt.rollout(model, [0.5, 0.2], None, commands, 5e-3, integrator=integrator)
    for n in range(2):
        hold = lambda t, q, v: commands[n, min(round(t / 5e-3), 59)]  # noqa: B023, E731
        run = kt.simulate(model, [0.5, 0.2], duration=0.3, dt=5e-3, integrator=integrator, controller=hold)
        np.testing.assert_allclose(rolled.q[n], run.q, atol=1e-11)
        np.testing.assert_allclose(rolled.v[n], run.v, atol=1e-10)
        if "time_constant" in settings:
            lagging = kt.simulation.Rollout(model).model
            assert lagging.state_names == ("motor elbow.force",) and rolled.x[n, 0] == 0.0
            rest = kt.rollout(model, run.q[30], run.v[30], commands[n, 30:], 5e-3, integrator=integrator,
                              x0=rolled.x[n, 30])  # fmt: skip
            np.testing.assert_allclose(rest.q[-1], run.q[-1], atol=1e-11)


def test_numbers_of_motors_are_those_of_a_batch():
    """Torque limits of a batch, of one kernel, as of models of their own."""
    motor = kt.forces.Motor("rail", gear_ratio=RATIO, torque_limit=0.3)
    model = slider(MASS).with_forces(motor)
    limits = np.array([0.1, 0.2, 0.5])
    roll = kt.simulation.Rollout(model, "semi_implicit").with_parameters({"motor rail.torque_limit": limits})
    q, v = roll([0.0], None, [[100.0]], 1e-2, steps=10)
    np.testing.assert_allclose(v[:, -1, 0], 0.1 * RATIO * limits / MASS, rtol=1e-12)


def test_a_rollout_is_pickled_with_its_motors():
    """Rotors count once: made again, and simulated by the rollout's own model."""
    motor = kt.forces.Motor("rail", gear_ratio=RATIO, rotor_inertia=0.01, time_constant=0.02)
    roll = kt.simulation.Rollout(slider(MASS).with_forces(motor), "rk4")
    assert roll.model.armature[0] == pytest.approx(1.0)
    q, v, x = roll([0.0], None, [[3.0]], 1e-2, steps=10)
    again = pickle.loads(pickle.dumps(roll))([0.0], None, [[3.0]], 1e-2, steps=10)
    assert np.array_equal(again.v, v) and again.x[-1, 0] == pytest.approx(-3.0 * np.expm1(-0.1 / 0.02))
    run = kt.simulate(roll.model, [0.0], duration=0.1, dt=1e-2, integrator="rk4", controller=lambda t, q, v: [3.0])
    np.testing.assert_allclose(run.v, v, rtol=1e-12)
    np.testing.assert_allclose(run.x, x, rtol=1e-12)
    late = kt.simulate(roll.model, run.q[4], run.v[4], x0=run.x[4], duration=0.06, dt=1e-2, integrator="rk4",
                       controller=lambda t, q, v: [3.0])  # fmt: skip
    np.testing.assert_allclose(late.q, run.q[4:], rtol=1e-12)


@pytest.mark.parametrize("lag", [0.0, 0.05])
def test_rollouts_by_bdf2_begin_with_limited_forces(lag):
    """Also the stage before the first step has the force that the motor gives, not the one that is asked for."""
    motor = kt.forces.Motor("rail", gear_ratio=RATIO, torque_limit=0.3, time_constant=lag)
    model, tau = slider(MASS).with_forces(motor), np.array([7.0])
    run = kt.simulate(model, duration=0.05, dt=0.01, integrator="bdf2", inputs=kt.Inputs(tau=tau))
    path = kt.rollout(model, [0.0], None, tau, 0.01, steps=5, integrator="bdf2")
    np.testing.assert_allclose(path.v, run.v, atol=1e-12)
    if not lag:
        np.testing.assert_allclose(path.v[:, 0], 3.0 / MASS * run.time, atol=1e-12)
