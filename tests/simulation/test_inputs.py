"""What goes into a simulation: initial states, controllers, forces, schedules, and the errors for what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import (
    CouplingError,
    LimitError,
    NonFiniteError,
    QuaternionError,
    ShapeError,
    SimulationError,
    UnknownNameError,
)
from kinetree.model import Equipment, Keyframe
from tests.analytic.mechanisms import pendulum, rigid_body, slider


def test_a_digital_controller_is_sampled_once_per_step_and_held():
    """With fixed steps the controller is called at 0, h, 2h, ... and the end; its answers are what is recorded."""
    times = []

    def controller(t, q, v):
        times.append(t)
        return [len(times)]

    run = kt.simulate(slider(), duration=0.1, dt=0.01, integrator="rk4", controller=controller)
    assert times == pytest.approx(0.01 * np.arange(11))
    assert run.tau[:, 0].tolist() == list(range(1, 12))


def test_a_held_force_moves_a_mass_exactly():
    """tau = F on a free mass: RK4 is exact for x = F t^2 / (2 m)."""
    run = kt.simulate(slider(2.0), duration=1.0, dt=0.1, integrator="rk4", controller=lambda t, q, v: [3.0])
    assert run.q[:, 0] == pytest.approx(3.0 * run.time**2 / 4.0, abs=1e-14)


def test_an_adaptive_run_sees_a_continuous_controller():
    """A spring in the controller gives the oscillation cos(w t) with w^2 = k / m."""
    run = kt.simulate(
        slider(2.0), [1.0], duration=3.0, dt=0.1, integrator="adaptive", controller=lambda t, q, v: -8.0 * q
    )
    assert run.q[:, 0] == pytest.approx(np.cos(2.0 * run.time), abs=1e-8)
    assert run.tau[:, 0] == pytest.approx(-8.0 * run.q[:, 0])


def test_a_controller_object_is_reset_before_the_run():
    """A controller with a state starts every run afresh."""

    class Counter:
        calls = 0

        def reset(self):
            self.calls = 0

        def __call__(self, t, q, v):
            self.calls += 1
            return [0.0]

    counter = Counter()
    for _ in range(2):
        kt.simulate(slider(), duration=0.05, dt=0.01, controller=counter)
    assert counter.calls == 6


def test_controller_of_wrong_shape_is_named_with_its_time():
    """The message names the controller, the time, what came and what was expected."""

    def two_forces(t, q, v):
        return [0.0] if t < 0.0195 else [0.0, 1.0]

    with pytest.raises(SimulationError, match=r"two_forces' returned an array of shape \(2,\) at t = 0.02 s.*\(1,\)"):
        kt.simulate(slider(), duration=0.1, dt=0.01, controller=two_forces)


def test_controller_without_return_is_told_so():
    """The commonest slip has its own hint."""
    with pytest.raises(SimulationError, match="returned None at t = 0 s.*lack a return statement"):
        kt.simulate(slider(), duration=0.1, controller=lambda t, q, v: None)


@pytest.mark.parametrize("integrator", ["semi_implicit", "adaptive"])
def test_controller_with_nan_is_named_with_time_and_entry(integrator):
    """NaN from a controller never reaches the state."""
    with pytest.raises(SimulationError, match=r"returned tau\[0\] = nan for joint 'rail' at t = "):
        kt.simulate(slider(), duration=0.1, integrator=integrator, controller=lambda t, q, v: [np.nan])


def test_an_exception_in_the_controller_keeps_its_type_and_gets_the_time():
    """The user's own error passes, with a note on when it happened."""

    def broken(t, q, v):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        kt.simulate(slider(), duration=0.1, controller=broken)
    assert "broken' at t = 0 s" in caught.value.__notes__[0]


def test_controller_and_tau_together_are_an_error():
    """It would not be clear which forces act."""
    with pytest.raises(SimulationError, match="both controller and inputs.tau"):
        kt.simulate(slider(), duration=0.1, inputs=kt.Inputs(tau=[1.0]), controller=lambda t, q, v: [0.0])


def test_tau_as_a_function_of_time_is_integrated_in_time():
    """A force cos(t) on a unit mass: v = sin(t), to RK4's order inside the steps."""
    run = kt.simulate(slider(1.0), duration=2.0, dt=0.01, integrator="rk4", inputs=kt.Inputs(tau=lambda t: [np.cos(t)]))
    assert run.v[:, 0] == pytest.approx(np.sin(run.time), abs=1e-11)  # h^4 / 2880


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "adaptive"])
def test_external_wrenches_push_a_body(integrator):
    """A force of 4 N along the rail on 2 kg gives 2 m/s^2, by name, by row, and as a function of time."""
    model = slider(2.0)
    rows = np.zeros((2, 6))
    rows[1, 3] = 4.0
    for f_ext in ({"mass": [0, 0, 0, 4.0, 0, 0]}, rows, lambda t: rows):
        run = kt.simulate(model, duration=1.0, dt=0.1, integrator=integrator, inputs=kt.Inputs(f_ext=f_ext))
        assert run.v[-1, 0] == pytest.approx(2.0, abs=1e-9)
        assert run.a[:, 0] == pytest.approx(2.0)


def test_start_defaults_to_the_neutral_position_at_rest():
    """Without q0 and v0 nothing moves in a hanging pendulum."""
    run = kt.simulate(pendulum(), duration=0.05)
    assert not run.q.any() and not run.v.any() and run.notes == ()


def test_neutral_start_outside_the_limits_is_moved_inside_and_noted():
    """The default start of a joint limited to [0.5, 1.5] is the middle, and the notes say so."""
    model = pendulum(lower=0.5, upper=1.5)
    run = kt.simulate(model, duration=0.01)
    assert run.q[0, 0] == 1.0
    assert any("neutral position of joint 'hinge' is outside its limits" in note for note in run.notes)


def test_seed_draws_the_same_random_start_twice():
    """A random start is reproducible, is noted, and differs between seeds."""
    runs = [kt.simulate(pendulum(), duration=0.01, seed=seed) for seed in (3, 3, 4)]
    assert runs[0].q[0] == runs[1].q[0] != runs[2].q[0] and runs[0].v[0] == runs[1].v[0] != 0.0
    assert "random initial position and velocity (standard normal), seed 3" in runs[0].notes


def test_initial_position_of_wrong_shape_names_the_joints():
    """A velocity passed for a position is recognized."""
    with pytest.raises(
        ShapeError, match=r"q0 has shape \(6,\), expected \(7,\).*'joint' 7\).*velocities for positions"
    ):
        kt.simulate(rigid_body((1, 2, 2.5)), np.zeros(6), duration=0.1)


def test_non_unit_quaternion_is_named():
    """The initial quaternion is checked before the run."""
    with pytest.raises(QuaternionError, match="simulate: the quaternion of joint 'joint' in q0 has length 2"):
        kt.simulate(rigid_body((1, 2, 2.5)), [0, 0, 0, 2, 0, 0, 0], duration=0.1)


def test_nan_in_the_initial_state_names_the_joint():
    """NaN is refused at the door."""
    with pytest.raises(NonFiniteError, match=r"v0\[0\] is nan \(joint 'hinge'\)"):
        kt.simulate(pendulum(), v0=[np.nan], duration=0.1)


def test_initial_position_outside_the_limits_names_the_joint():
    """A start beyond a limit is an error, unless the model has none."""
    model = pendulum(lower=-1.0, upper=1.0)
    with pytest.raises(LimitError, match=r"simulate: q0 leaves .*joint 'hinge': 1.5 against \[-1, 1\].*Start inside"):
        kt.simulate(model, [1.5], duration=0.1)
    assert kt.simulate(model.without_limits(), [1.5], duration=0.01).q[0] == 1.5


def test_a_broken_coupling_at_the_start_is_told_about_q0_and_v0():
    """The fingers of the arm move together; a start that says otherwise names simulate, not an algorithm."""
    arm = kt.load("arm7")
    for what in ("q0", "v0"):
        start = {what: np.where(np.arange(arm.nv) == 8, 0.01, 0.0)}
        with pytest.raises(CouplingError, match=rf"^simulate: .*\(q0, v0\): {what[0]} breaks.*right_finger_slide"):
            kt.simulate(arm, **start, duration=0.1)


def test_a_wrench_on_a_merged_link_names_the_body_that_holds_it():
    """The tool of the arm is a frame: the message says on which body."""
    with pytest.raises(UnknownNameError, match="'tool'.*frame on body 'flange_link'"):
        kt.simulate(kt.load("arm7"), duration=0.1, inputs=kt.Inputs(f_ext={"tool": np.zeros(6)}))


@pytest.mark.parametrize(
    "settings, remedy",
    [
        ({"integrator": "rk4"}, "semi_implicit"),
        ({"integrator": "adaptive"}, "LSODA"),
        ({"integrator": kt.integrators.Adaptive("Radau")}, None),
        ({}, None),
    ],
)
def test_explicit_methods_warn_of_dry_friction(settings, remedy):
    """Friction is stiff about rest: notes of explicit runs say so and name a remedy, others are silent."""
    run = kt.simulate(pendulum(dry_friction=0.1), [1.0], duration=0.01, **settings)
    notes = [note for note in run.notes if "dry friction" in note]
    assert len(notes) == (remedy is not None) and all("0.001 rad/s" in note and remedy in note for note in notes)
    assert not kt.simulate(pendulum(damping=0.1), [1.0], duration=0.01, **settings).notes


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"integrator": "rk45"}, "no integrator 'rk45'. Did you mean 'rk4'"),
        ({"limits": "raise"}, "limits is no option of its own.*without_limits.*LimitMonitor"),
        ({"dt": 0.0}, "dt is 0.0, expected a positive time"),
        ({"duration": np.inf}, "duration is inf"),
        (lambda: {"record": kt.Record(every=0)}, "Record: every is 0"),
        ({"record": kt.Record(period=0.0015)}, "not a multiple of dt = 0.001 s; the closest are 0.001 and 0.002"),
        (lambda: {"integrator": kt.integrators.Adaptive("RK54")}, "Adaptive: no method 'RK54'.*Known: .*Radau"),
        ({"integrator": "Radau"}, r"give integrator=kt.integrators.Adaptive\('Radau'\)"),
        ({"tau": [1.0]}, r"simulate: tau is no option of its own; give inputs=kt.Inputs\(tau=...\)"),
        ({"recrod": 1}, "simulate: there is no option 'recrod'. Did you mean 'record'. Options: model, q0"),
        (
            {"inputs": kt.Inputs(tau=[1.0, 2.0])},
            r"tau is an array of shape \(2,\), expected joint forces of shape \(1,\)",
        ),
        ({"inputs": kt.Inputs(f_ext=np.zeros((1, 6)))}, r"f_ext has shape \(1, 6\), expected \(2, 6\)"),
        ({"inputs": kt.Inputs(f_ext=lambda t: np.zeros(6))}, r"f_ext at t = 0 s has shape \(6,\), expected \(2, 6\)"),
        ({"inputs": kt.Inputs(f_ext="push")}, r"f_ext is 'push', expected an array of shape \(2, 6\) or a mapping"),
        ({"inputs": kt.Inputs(f_ext=np.full((2, 6), np.nan))}, r"f_ext\[0, 0\] is nan \(body 'world'\)"),
        ({"inputs": kt.Inputs(f_ext={"bobb": np.zeros(6)})}, "no body named 'bobb'.*Did you mean 'bob'"),
        (
            {"inputs": kt.Inputs(f_ext={"bob": np.zeros(3)})},
            r"simulate: the wrench on body 'bob' has shape \(3,\), expected \(..., 6\)",
        ),
        ({"controller": lambda t, q: [0.0]}, r"takes \(t, q\) .*expected controller\(t, q, v\) -> \(1,\)"),
        ({"inputs": kt.Inputs(tau=lambda: [0.0])}, r"tau .*takes \(\) .*expected tau\(t\) -> \(1,\)"),
        ({"inputs": kt.Inputs(f_ext=lambda t, q: None)}, r"f_ext .*takes \(t, q\) .*expected f_ext\(t\) -> \(2, 6\)"),
    ],
)
def test_wrong_settings_are_named(wrong, message):
    """Each setting that cannot be is refused with the valid choices."""
    with pytest.raises(kt.errors.KinetreeError, match=message):
        kt.simulate(pendulum(), **({"duration": 0.1} | (wrong() if callable(wrong) else wrong)))


def test_last_step_is_shortened_to_end_at_the_duration():
    """A duration that is no multiple of dt is met exactly, with full accuracy."""
    run = kt.simulate(slider(axis=(0, 0, 1)), duration=0.025, dt=0.01, integrator="rk4")
    assert run.time == pytest.approx([0.0, 0.01, 0.02, 0.025])
    assert run.q[-1, 0] == pytest.approx(-0.5 * 9.81 * 0.025**2, rel=1e-12)


def test_recording_less_often_leaves_the_motion_alone():
    """Every tenth sample of a full record is the record of every tenth step, and the final state is there."""
    full = kt.simulate(pendulum(), [1.0], duration=0.105, dt=1e-3)
    thin = kt.simulate(pendulum(), [1.0], duration=0.105, dt=1e-3, record=kt.Record(period=0.01))
    assert len(thin) == 12 and thin.time[-1] == 0.105
    assert np.array_equal(thin.q[:-1], full.q[:101:10]) and np.array_equal(thin.q[-1], full.q[-1])


def test_a_motion_that_blows_up_names_time_coordinate_and_remedy():
    """An unstable step size gives an error, not a trajectory of NaN."""
    model = slider(1.0)
    with pytest.raises(SimulationError, match="no longer finite at t = .*'rail'.*smaller dt.*'adaptive'"):
        kt.simulate(model.replace(stiffness=1e8), [1.0], duration=500.0, dt=0.5, integrator="rk4")


def test_a_controller_that_overflows_with_the_state_is_not_blamed():
    """When the state has run away, its controller's infinite answer is a consequence: the step size is named."""
    with np.errstate(over="ignore"), pytest.raises(SimulationError, match="no longer finite at t = .*smaller dt"):
        kt.simulate(slider(1.0), [1.0], duration=500.0, dt=0.5, integrator="rk4", controller=lambda t, q, v: -1e8 * q)


def test_a_diverging_force_stops_the_adaptive_solver_with_time_and_cause():
    """x'' = x^2 reaches infinity in finite time: the solver's failure is an error that names the time."""
    with pytest.raises(SimulationError, match=r"finite after t = 1 s \(dop853\).*grew beyond"):
        kt.simulate(slider(1.0), [6.0], [12.0], duration=5.0, integrator="adaptive", dt=1.0,
                    controller=lambda t, q, v: q * q)  # fmt: skip


def test_a_run_starts_at_a_keyframe():
    """q0 may be the name of a keyframe; the one called "initial" is the default, and the notes say so."""
    bent = Keyframe("bent", {"elbow": (0.3,)}, {"shoulder": (2.0,)})
    initial = Keyframe("initial", {"shoulder": (0.1,)})
    model = kt.models.double_pendulum().replace(equipment=Equipment(keyframes=(bent, initial)))
    run = kt.simulate(model, "bent", duration=0.01)
    assert run.q[0].tolist() == [0.0, 0.3] and run.v[0].tolist() == [2.0, 0.0]
    assert kt.simulate(model, "bent", [0.0, 0.0], duration=0.01).v[0].tolist() == [0.0, 0.0]
    run = kt.simulate(model, duration=0.01)
    assert run.q[0].tolist() == [0.1, 0.0] and any("initial" in note for note in run.notes)
    assert kt.simulate(model, duration=0.01, seed=3).q[0].tolist() != [0.1, 0.0]
    with pytest.raises(UnknownNameError, match="bent"):
        kt.simulate(model, "bend", duration=0.01)
