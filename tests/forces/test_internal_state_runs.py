"""Internal states and inputs of force elements in simulations: closed forms, orders, restarts, events, files."""

from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.forces import ForceElement
from kinetree.integrators.methods import FIXED_STEP
from tests.forces.test_elements import machine, state
from tests.forces.test_internal_states import flyer
from tests.forces.user_elements import Drag, Servo, Thruster

CONTROL = {"jet.command": 1.5, "biceps.excitation": lambda t: 0.5 + 0.3 * np.sin(20.0 * t), "servo.position": 0.2}
SMOOTH = [name for name, method in FIXED_STEP.items() if getattr(method, "internal_states", False)]


def run(integrator, duration=0.1, dt=1e-3, model=None, control=None, **options):
    """A run of the flyer from a slow state."""
    model = flyer().replace(gravity=(0.0, 0.0, 0.0)) if model is None else model
    q, v = state(model, 1)
    inputs = kt.Inputs(control=CONTROL if control is None else control)
    return kt.simulate(model, q, 0.1 * v, duration=duration, dt=dt, integrator=integrator, inputs=inputs, **options)


@pytest.mark.parametrize("integrator", ["rk4", "cg4", "terze", kt.integrators.Adaptive("Radau", rtol=1e-9, atol=1e-9)])
def test_methods_agree_and_a_lag_has_its_closed_form(integrator):
    """q, v and x by methods of order 4 and implicit ones; x of the thruster is 1.5 + (x0 - 1.5) exp(-t / T)."""
    reference = run(kt.integrators.Adaptive("dop853"))
    found = run(integrator)
    for name in ("q", "v", "x", "a"):
        exact = getattr(reference, name)
        np.testing.assert_allclose(getattr(found, name), exact, atol=1e-7 * max(1.0, np.abs(exact).max()))
    np.testing.assert_allclose(found.x[:, 0], 1.5 - 0.8 * np.exp(-found.time / 0.2), atol=1e-9)
    assert np.abs(found.energy_balance.remainder).max() < 1e-8 * found.energy_balance.scale
    np.testing.assert_allclose(found.u[:, 1], 0.5 + 0.3 * np.sin(20.0 * found.time), atol=1e-12)
    assert found.model.state_names == found.channels["x"].labels


IMPLICIT = ["linearly_implicit", "bdf1", "implicit_midpoint", "variational", "bdf2", "generalized_alpha"]


@pytest.mark.parametrize("integrator", ["semi_implicit", "euler", "heun", "rk4", *IMPLICIT])
def test_errors_fall_with_the_order(integrator):
    """Halving dt divides the error of (q, x) by 2^order."""
    exact = run(kt.integrators.Adaptive("dop853"), dt=0.02)
    errors = []
    for dt in (0.02, 0.01) if integrator == "rk4" else (2e-3, 1e-3):
        found = run(integrator, dt=dt)
        errors.append(np.abs(np.concatenate((found.q[-1] - exact.q[-1], found.x[-1] - exact.x[-1]))).max())
    order = FIXED_STEP[integrator].order
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


def test_a_lag_that_is_shorter_than_the_step_does_not_blow_up():
    """Linearly implicit Euler in x: semi_implicit follows where explicit Euler with dt = 50 T diverges."""
    model = machine(Drag).with_forces(Thruster("jet", "tip", 0.0, 2e-5, 0.0))
    found = run("semi_implicit", model=model, control=[1.0])
    np.testing.assert_allclose(found.x[20:, 0], 1.0, atol=1e-12)
    with pytest.raises(kt.errors.SimulationError, match="the first bad coordinate is the internal state 'jet.thrust'"):
        run("euler", model=machine(Drag).with_forces(Thruster("jet", "world", 0.0, 2e-5, 0.0)), control=[1.0])


def test_inputs_of_the_state_are_those_of_a_controller():
    """A servo's bias commanded by u(t, q, v), held over each step, is the controller's joint force."""
    model = kt.models.pendulum().replace(forces=[Servo("servo", "pivot", 0.0, 0.0)])
    bare = model.replace(forces=[])
    law = lambda t, q, v: -2.0 * q - 0.3 * v + np.sin(9.0 * t)  # noqa: E731
    for integrator in ("rk4", "semi_implicit", "adaptive"):
        options = {"duration": 0.2, "dt": 0.01, "integrator": integrator}
        found = kt.simulate(model, [0.5], inputs=kt.Inputs(control={"servo.bias": law}), **options)
        expected = kt.simulate(bare, [0.5], controller=law, **options)
        np.testing.assert_allclose(found.q, expected.q, atol=1e-12)
        np.testing.assert_allclose(found.u[:, 1], expected.tau[:, 0], atol=1e-10)
    pulse = kt.signals.Pulse([3.0], start=0.05, duration=0.033)
    found = kt.simulate(model, [0.5], inputs=kt.Inputs(control={"servo.bias": pulse}), **options)
    expected = kt.simulate(bare, [0.5], inputs=kt.Inputs(tau=pulse), **options)
    np.testing.assert_allclose(found.q, expected.q, atol=1e-9)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "dp54", "bdf2", "generalized_alpha", "adaptive"])
def test_a_run_in_pieces_has_its_bits(integrator, tmp_path):
    """Saved, restored in another object from a file, and gone on: x, u and the samples."""
    model = flyer()
    q, v = state(model, 1)

    def made():
        return kt.Simulation(model, q, 0.1 * v, x0=[0.1, 0.2, 0.3], dt=1e-3, integrator=integrator,
                             inputs=kt.Inputs(control=CONTROL | {"servo.bias": lambda t, q, v: q[0]}))  # fmt: skip

    whole, first, second = made(), made(), made()
    whole.advance(0.02)
    whole.advance(0.03)
    first.advance(0.02)
    second.restore(first.save().save(tmp_path / "run.ckpt"))
    np.testing.assert_array_equal(second.x, first.x)
    second.advance(0.03)
    for name in ("time", "q", "v", "x", "u", "a", "tau"):
        one, other = getattr(whole.trajectory(), name), getattr(second.trajectory(), name)
        np.testing.assert_array_equal(one, other, err_msg=name)
    np.testing.assert_array_equal(whole.trajectory().x[0], [0.1, 0.2, 0.3])


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "dp54", "adaptive"])
def test_events_keep_internal_states(integrator):
    """At a located event x is that of the motion, and the run goes on from there; components get v without x."""
    model = machine(Drag).with_forces(Thruster("jet", "tip", 0.0, 0.05, 0.0))
    seen = []

    class Watch:
        name = "watch"

        def after_step(self, step):
            seen.append((len(step.v1), *step.x1))

    when = 0.0312
    event = kt.Event(lambda t, q, v: t - when, action=lambda t, q, v: (q, 0.5 * v))
    found = run(integrator, model=model, control=[1.0], events=[event], components=[Watch()])
    row = int(np.argmin(np.abs(found.time - when)))
    assert found.time[row] == pytest.approx(when, abs=1e-9)
    tolerance = 2e-2 if integrator == "semi_implicit" else 1e-6
    np.testing.assert_allclose(found.x[:, 0], 1.0 - np.exp(-found.time / 0.05), atol=tolerance)
    assert {n for n, _ in seen} == {model.nv}


def test_parts_files_and_tables_keep_them(tmp_path):
    """Slices, other times, sums, npz and csv; the accelerations of a resampled run are those of its x and u."""
    found = run("rk4")
    np.testing.assert_array_equal(found[::10].x, found.x[::10])
    finer = found.resample(times=found.time[:-1] + 5e-4)
    np.testing.assert_allclose(finer.a[3], 0.5 * (found.a[3] + found.a[4]), rtol=1e-2, atol=1e-2)
    joined = kt.Trajectory.concatenate([found.between(0.0, 0.05), found.between(0.05, 0.1)])
    np.testing.assert_array_equal(joined.x, found.x)
    for name in ("run.npz", "run.csv"):
        again = kt.Trajectory.load(found.save(tmp_path / name), model=found.model)
        np.testing.assert_allclose(again.x, found.x, rtol=1e-12)
        np.testing.assert_allclose(again.u, found.u, rtol=1e-12)
    bare = kt.simulate(kt.models.pendulum(), duration=0.01)
    assert bare.x.shape == (len(bare), 0) and bare.u.shape == (len(bare), 0) and "x" not in bare.channels
    with pytest.raises(KinetreeError, match="the run of 'pendulum' has 'x'; choose another name"):
        bare.with_channel("x", bare.time, "s")
    assert found.report() is not None


class Bare(FIXED_STEP["rk4"]):
    """A method of a user's own that makes no claim."""

    name, internal_states = "bare", False


@pytest.mark.parametrize(("options", "message"), [
    ({"control": {"jet.comand": 1.0}}, "no input named 'jet.comand' in model 'machine'. Did you mean 'jet.command'"),
    ({"control": {"jet.command": [1.0, 2.0]}}, r"control of 'jet.command' is \[1.0, 2.0\].*, expected a number"),
    ({"control": {"jet.command": lambda t: np.nan}}, "control of 'jet.command' is nan at t = 0 s; inputs must be"),
    ({"control": {"jet.command": lambda: 1.0}}, r"control of 'jet.command' .*expected u\(t\)"),
    ({"control": [1.0]}, r"control is \[1.0\].*expected an array of shape \(4,\) or a mapping of names"),
    ({"x0": [1.0]}, r"x0 has shape \(1,\), expected \(3,\) .*: jet.thrust, biceps.activation, biceps.filtered"),
    ({"x0": [1.0, np.inf, 0.0]}, r"x0\[1\] is inf \('biceps.activation'\)"),
    ({"integrator": Bare}, "which integrator 'bare' does not support. Supported by: 'semi_implicit', 'rk4'"),
])  # fmt: skip
def test_what_is_wrong_is_named(options, message):
    """Names, shapes, numbers and methods."""
    with pytest.raises(KinetreeError, match=message):
        run(**({"integrator": "rk4"} | options))


def test_a_model_without_inputs_refuses_them():
    """By name."""
    with pytest.raises(KinetreeError, match="control is given, but no force element of model 'pendulum' has inputs"):
        kt.simulate(kt.models.pendulum(), duration=0.01, inputs=kt.Inputs(control=[1.0]))


SWING = kt.joints.Sinusoid(amplitude=0.4, omega=5.0, offset=0.3)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "adaptive"])
@pytest.mark.parametrize("made", [
    lambda j1, j2: (kt.constraints.Lock(j2),),
    lambda j1, j2: (kt.constraints.PrescribedMotion(j2, SWING), kt.constraints.Lock(j1)),
    lambda j1, j2: (kt.constraints.StickingFriction(of=(j1, j2)),),
], ids=["lock", "motion and lock", "friction"])  # fmt: skip
def test_locks_motions_and_friction_beside_internal_states(made, integrator):
    """The run is the rollout, whose steps solve for the rows in another way; adaptive ones agree with a fine one."""
    model = flyer().replace(gravity=(0.0, 0.0, 0.0))
    joints = [name for name in model.joint_names if model.v_index(name).stop - model.v_index(name).start == 1][:2]
    constraints = made(*joints)
    friction = isinstance(constraints[0], kt.constraints.StickingFriction)
    if friction and integrator != "semi_implicit":
        pytest.skip("bounded forces are those of semi_implicit")
    held = model.replace(dry_friction=0.5 if friction else 0.0).with_constraints(*constraints)
    q, v = state(model, 1)
    U, X0, h = np.tile([1.5, 0.4, 0.2, -3.0], (40, 1)), [0.7, 0.2, 0.4], 1e-3
    first = kt.simulate(held, q, 0.1 * v, x0=X0, duration=40 * h, dt=h, integrator=integrator,
                        inputs=kt.Inputs(control=U[0]))  # fmt: skip
    start = first.q[0], first.v[0]
    method, n = ("rk4", 1) if integrator == "adaptive" else (integrator, 1)
    rolled = kt.rollout(held, *start, None, h, integrator=method, x0=X0, control=U[: 40 * n])
    tolerance = 1e-8 if integrator == "adaptive" else 1e-11
    for name in ("q", "v", "x"):
        assert getattr(rolled, name) == pytest.approx(getattr(first, name), abs=tolerance), name
    assert np.ptp(first.x[:, 0]) > 0.1 and np.ptp(first.q, axis=0).max() > 1e-3
    if not friction:
        _, tau = kt.hybrid_dynamics(model, first.q[9], first.v[9], np.zeros(model.nv), first.a[9], x=first.x[9], u=U[9],
                                    forward=[n for n in model.joint_names if n not in joints])  # fmt: skip
        others, k = first.energy_balance.others, model.v_index(joints[1]).start
        force = others["force.prescribed motions" if len(constraints) > 1 else "force.locked joints"]
        assert force[9, k] == pytest.approx(tau[k], rel=1e-8)


def test_a_lagging_thrust_against_a_hard_stop():
    """A slider pushed by x' = (u - x) / T meets its stop at the time of the closed form, with errors of order 2."""
    b = kt.ModelBuilder("slider")
    b.add_body("block", joint=kt.joints.Prismatic((0, 0, 1)), joint_name="rail", mass=2.0, inertia=np.eye(3),
               lower=-1.0, upper=0.02)  # fmt: skip
    slider = b.build().replace(gravity=(0.0, 0.0, 0.0), forces=[Thruster("jet", "block", 0.0, 0.05, 0.0)])
    slider = slider.with_constraints(kt.constraints.HardLimits(restitution=0.5))
    push, T, m = 6.0, 0.05, 2.0
    times = np.linspace(0.0, 0.3, 3_000_001)
    z = push / m * (0.5 * times**2 - T * times + T * T * (1.0 - np.exp(-times / T)))
    exact = float(np.interp(0.02, z, times))
    errors = []
    for dt in (4e-3, 2e-3):
        run = kt.simulate(slider, [0.0], duration=0.5, dt=dt, inputs=kt.Inputs(control=[push]))
        errors.append(run.events[0].time - exact)
        speed = push / m * (exact - T * (1.0 - np.exp(-exact / T)))
        assert run.events[0].v == pytest.approx([speed], rel=2e-3) and run.events[0].v_after == -0.5 * run.events[0].v
        assert run.x[:, 0] == pytest.approx(push * (1.0 - np.exp(-run.time / T)), abs=push * (dt / T) ** 2)
        assert run.q[-1] == 0.02 and run.energy_balance.others["force.stops"][-1] == pytest.approx([-run.x[-1, 0]])
        free = run.energy_balance.remainder[run.time < exact - 2.0 * dt]  # powers are cubics through samples
        assert np.abs(free).max() < 1e-4 * run.energy_balance.scale
    assert abs(errors[1]) < 1e-4 and 3.0 < errors[0] / errors[1] < 5.0


@dataclass(frozen=True)
class Maxwell(ForceElement):
    """A spring in series with a damper, whose length is the state."""

    name: str
    joint: str
    stiffness: float
    damping: float
    states = ("length",)

    def force(self, kin, x, u):
        yield kin.rate(self.joint), self.stiffness * (x.length - kin.coordinate(self.joint))

    def state_rate(self, kin, x, u):
        return [self.stiffness / self.damping * (kin.coordinate(self.joint) - x.length)]


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_states_that_are_stiff_by_the_motion(integrator):
    """A spring of 1e5 N m/rad in series with a damper: beyond 30 rad of phase in a step, it is the damper alone."""
    pendulum = kt.models.pendulum()
    model = pendulum.replace(forces=[Maxwell("strut", "pivot", 1e5, 10.0)])
    damped = kt.simulate(pendulum.replace(damping=10.0), [0.5], duration=0.5, dt=1e-2, integrator="adaptive")
    found = kt.simulate(model, [0.5], x0=[0.5], duration=0.5, dt=1e-2, integrator=integrator)
    assert found.q[-1] == pytest.approx(damped.q[-1], rel=3e-3)
    if FIXED_STEP[integrator].order == 1:  # whose error at this step is larger than the tolerance below
        return
    slow = kt.simulate(model.replace(forces=[Maxwell("strut", "pivot", 20.0, 2.0)]), [0.5], duration=0.5, dt=1e-2,
                       integrator=integrator)  # fmt: skip
    exact = kt.simulate(slow.model, [0.5], duration=0.5, dt=1e-2, integrator="rk4")
    assert slow.q[-1] == pytest.approx(exact.q[-1], abs=1e-3) and slow.x[-1] == pytest.approx(exact.x[-1], abs=1e-3)


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_internal_states_beside_loops(integrator):
    """A four-bar whose crank has a lagging drive, in implicit steps against a fine run of rk4; orders 1 and 2."""
    bar = kt.models.four_bar()
    model = bar.with_forces(Thruster("jet", "coupler", 0.0, 0.1, 0.0), Maxwell("strut", "rocker", 50.0, 5.0))
    inputs = kt.Inputs(control={"jet.command": 5.0})
    exact = kt.simulate(model, duration=0.2, dt=1e-3, integrator="rk4", inputs=inputs)
    ends = [kt.simulate(model, duration=0.2, dt=dt, integrator=integrator, inputs=inputs) for dt in (4e-3, 2e-3)]
    errors = [np.abs(np.concatenate((x.q[-1] - exact.q[-1], x.x[-1] - exact.x[-1]))).max() for x in ends]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(FIXED_STEP[integrator].order, abs=0.3)
    assert np.abs(kt.closed_loops.error(bar, ends[1].q)).max() < 1e-11


@pytest.mark.parametrize("integrator", ["implicit_midpoint", "linearly_implicit", "variational"])
def test_rollouts_of_implicit_steps(integrator):
    """q, v and x under inputs that are held over each step; a fixed number of corrections is at rounding."""
    model = flyer()
    q, v = state(model, 1)
    X0, U = np.array([0.3, 0.2, 0.5]), np.array([1.0, 0.4, 0.2, -0.5])
    rolled = kt.rollout(model, q, 0.1 * v, None, 1e-3, integrator=integrator, x0=X0, control=np.tile(U, (20, 1)))
    found = kt.simulate(model, q, 0.1 * v, x0=X0, duration=0.02, dt=1e-3, integrator=integrator,
                        inputs=kt.Inputs(control=U))  # fmt: skip
    for name in ("q", "v", "x"):
        assert getattr(rolled, name) == pytest.approx(getattr(found, name), abs=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "euler", "cg3"])
def test_a_rollout_is_the_simulation(integrator):
    """q, v and x under inputs that are held over each step, one state and a batch, in double and single precision."""
    model = flyer()
    q, v = state(model, 1)
    rng = np.random.default_rng(0)
    U, X0 = rng.normal(size=(3, 20, 4)), rng.uniform(0.1, 1.0, size=(3, 3))
    rolled = kt.rollout(model, q, 0.1 * v, None, 1e-3, integrator=integrator, x0=X0, control=U)
    for n in range(3):
        hold = lambda t, q, v: U[n, min(round(t / 1e-3), 19)]  # noqa: B023, E731
        simulated = kt.simulate(model, q, 0.1 * v, x0=X0[n], duration=0.02, dt=1e-3, integrator=integrator,
                                inputs=kt.Inputs(control=hold))  # fmt: skip
        for name in ("q", "v", "x"):
            np.testing.assert_allclose(getattr(rolled, name)[n], getattr(simulated, name), rtol=1e-13, atol=1e-13)
    out = tuple(np.empty_like(x, order="C") for x in rolled)
    kt.rollout(model, q, 0.1 * v, None, 1e-3, integrator=integrator, x0=X0, control=U, out=out)
    assert all(np.array_equal(x, y) for x, y in zip(out, rolled, strict=True))
    with kt.interpreted():
        slow = kt.rollout(model, q, 0.1 * v, None, 1e-3, integrator=integrator, x0=X0[0], control=U[0, :3])
    np.testing.assert_allclose(slow.x, rolled.x[0, :4], rtol=1e-9)
    single = kt.rollout(model, q, 0.1 * v, None, 1e-3, integrator=integrator, x0=X0, control=U, dtype=np.float32)
    np.testing.assert_allclose(single.x, rolled.x, rtol=1e-3, atol=1e-4)


def test_inputs_of_rollouts_by_name():
    """Numbers and arrays over time by name are the whole array; hard limits act beside; what is wrong is named."""
    model = flyer()
    q, v = state(model, 1)
    U = np.zeros((10, 4))
    U[:, 0], U[:, 3] = 1.0, np.arange(10)
    whole = kt.rollout(model, q, None, None, 1e-3, control=U)
    named = kt.rollout(model, q, None, None, 1e-3, control={"jet.command": 1.0, "servo.bias": np.arange(10)})
    assert np.array_equal(whole.x, named.x) and np.array_equal(whole.q, named.q)
    pendulum = kt.models.pendulum().replace(forces=[Servo("servo", "pivot", 0.0, 0.0)], lower=-0.1, upper=0.1)
    stopped = pendulum.with_constraints(kt.constraints.HardLimits())
    q1, _ = kt.rollout(stopped, [0.0], None, None, 1e-3, control={"servo.bias": np.full(400, 30.0)})
    assert q1.max() == pytest.approx(0.1, abs=1e-12)
    for options, message in (
        ({"control": {"jet": 1.0}}, "no input named 'jet' in model"),
        ({"control": {"jet.command": "fast"}}, "control of 'jet.command' is 'fast', expected a number or an array"),
        ({"control": np.ones((10, 3))}, r"control has shape \(10, 3\), expected \(..., 4\)"),
        ({"x0": np.ones(2), "steps": 3}, r"x0 has shape \(2,\), expected \(..., 3\)"),
        ({"integrator": Bare, "steps": 3}, "'bare' does not support"),
        ({"out": (np.empty((4, model.nq)),) * 2, "steps": 3}, r"out needs a tuple of 3 arrays \(q, v, x\)"),
    ):
        with pytest.raises(KinetreeError, match=message):
            kt.rollout(model, q, v, None, 1e-3, **options)
