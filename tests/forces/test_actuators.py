"""Actuators of MuJoCo files: lengths, moments, forces, rates and accelerations are MuJoCo's, for every law."""

from __future__ import annotations

import itertools
from contextlib import nullcontext

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.force_elements import gauss_newton_slopes
from kinetree.algorithms.implicit_forces import exact_slopes
from kinetree.conventions import MuJoCo
from kinetree.errors import ModelError, UnknownNameError
from kinetree.io.mjcf.read import load_mjcf

mujoco = pytest.importorskip("mujoco")

ROBOT = """<mujoco><option timestep=".004">{flags}</option><worldbody><site name="w" pos="0 0 2"/>
<body name="a" pos="0 0 1"><joint name="hinge" axis="0 1 0" {hinge}/><geom size=".1" pos=".2 0 0"/>
<site name="s" pos=".3 0 0" euler="20 30 40"/>
<body name="b" pos=".4 0 0"><joint name="ball" type="ball"/><geom type="ellipsoid" size=".1 .05 .03" pos=".1 0 0"/>
<site name="t" pos=".1 .05 0" euler="-20 50 70"/>
<body name="c" pos=".3 0 0"><joint name="slide" type="slide" axis="1 0 0" {slide}/><geom size=".1"/>
<site name="u" euler="50 -10 20"/></body></body></body>
<body name="f" pos="1 1 1"><freejoint name="free"/><geom type="box" size=".1 .2 .3"/></body></worldbody>
<tendon><spatial name="cord" {cord}><site site="w"/><site site="s"/><pulley divisor="2"/><site site="s"/>
<site site="t"/></spatial>
<fixed name="sum"><joint joint="hinge" coef=".7"/><joint joint="slide" coef="-.3"/></fixed></tendon>
<actuator>{actuators}</actuator></mujoco>"""
FLAGS = '<flag contact="disable" constraint="disable"/>'
GEAR = 'gear="1.1 .4 -.3 .2 .5 -.6"'
TRANSMISSIONS = {
    "hinge": 'joint="hinge"', "slide": 'jointinparent="slide"', "ball": 'joint="ball"',
    "ball in parent": 'jointinparent="ball"', "free": 'joint="free"', "free in parent": 'jointinparent="free"',
    "cord": 'tendon="cord"', "sum": 'tendon="sum"', "site": 'site="t"', "site from site": 'site="t" refsite="s"',
    "site from world": 'site="u" refsite="w"', "site from outer site": 'site="s" refsite="u"',
    "crank": 'cranksite="s" slidersite="u" cranklength=".9"',
    "short crank": 'cranksite="s" slidersite="u" cranklength=".05"',
}  # fmt: skip
MUSCLE = ".75 1.05 {} 200 .5 1.6 1.5 1.3 1.2"
GAINS = {"fixed": "2", "affine": ".3 .5 .7", "muscle": MUSCLE.format(5)}
BIASES = {"none": "0", "affine": ".4 -3 -.2", "muscle": MUSCLE.format(-1)}
DYNAMICS = {"none": "0", "integrator": "0", "filter": ".1", "filterexact": ".1", "muscle": ".01 .04 .3"}


def robot(*actuators, hinge="", slide="", cord=""):
    """A file with these actuators."""
    text = "".join(actuators)
    return ROBOT.format(actuators=text, hinge=hinge, slide=slide, cord=cord, flags=FLAGS)


def both(text):
    """The model, and MuJoCo's."""
    return load_mjcf(text), mujoco.MjModel.from_xml_string(text)


def theirs(model, mj, q, v, x, u):
    """MuJoCo's numbers in the order of the model's actuators: of each actuator, of states, joint forces, qacc."""
    there, data = MuJoCo(model, mj, by_order=True), mujoco.MjData(mj)
    numbers = [numbered(mj, name) for name in model.actuator_names]
    data.qpos[:], data.qvel[:] = there.q_to(q), there.v_to(q, v)
    data.ctrl[[mj.actuator_ctrladr[k] for k in numbers]] = u
    states = [mj.actuator_actadr[k] for k in numbers if mj.actuator_actnum[k]]
    data.act[states] = x
    mujoco.mj_forward(mj, data)
    return {
        "length": data.actuator_length[numbers], "velocity": data.actuator_velocity[numbers],
        "force": data.actuator_force[numbers], "rate": data.act_dot[states],
        "joint": there.tau_from(q, data.qfrc_actuator), "acceleration": there.a_from(q, v, data.qacc),
    }  # fmt: skip


def numbered(mj, name):
    """The number of an actuator, by its name or by the one that the reader gives those without."""
    number = mujoco.mj_name2id(mj, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
    return number if number >= 0 else int(name.rpartition("_")[2])


def ours(model, q, v, x, u):
    """The same of this library."""
    given, d = (q, v), kt.dynamics
    now = {"x": x, "u": u}
    found = {
        "length": d.actuator_lengths(model, q), "velocity": d.actuator_velocities(model, q, v),
        "force": d.actuator_forces(model, *given, **now), "rate": d.force_state_rates(model, *given, **now),
        "joint": d.actuator_joint_forces(model, *given, **now),
    }  # fmt: skip
    if not model.unsupported:
        found["acceleration"] = kt.forward_dynamics(model, q, v, np.zeros(model.nv), **now)
    moments = np.asarray(d.actuator_moments(model, q), dtype=float)
    np.testing.assert_allclose(moments @ v, np.asarray(found["velocity"], float), atol=1e-12 * (1 + np.abs(v).max()))
    return found


def assert_same(model, mj, states=3, seed=0, compiled=False):
    """Equal at random states, controls and activations; rounding of some hundred products, and of M^-1."""
    for n in range(states):
        rng = np.random.default_rng((seed, n))
        q, v = model.random_q(rng), rng.normal(size=model.nv)
        x, u = rng.uniform(0.05, 0.5, size=model.nx), rng.normal(size=model.nu)
        expected = theirs(model, mj, q, v, x, u)
        with nullcontext() if compiled else kt.interpreted():
            found = ours(model, q, v, x, u)
        for what in found:
            numbers = expected[what]
            scale = max(1.0, float(np.abs(numbers).max(initial=0.0)))
            np.testing.assert_allclose(np.asarray(found[what], float), numbers, 0.0, 1e-11 * scale, err_msg=what)


# Laws ----------------------------------------------------------------------------------------------------------------


def test_every_law_on_every_transmission_is_mujocos():
    """All combinations of activation, gain and bias, each with clamps, dealt over all transmissions."""
    combinations = itertools.product(DYNAMICS, GAINS, BIASES)
    ends, texts = itertools.cycle(TRANSMISSIONS), []
    for n, (d, g, b) in enumerate(combinations):
        for k in range(2):
            early = ' actearly="true"' if d != "none" and (n + k) % 2 else ""
            early += ' actlimited="true" actrange="-.1 .6"' if early else ""
            clamps = ' forcerange="-3 2"' if (n + k) % 3 else ""
            texts.append(
                f'<general name="{d} {g} {b} {k}" {TRANSMISSIONS[next(ends)]} {GEAR} dyntype="{d}" gaintype="{g}" '
                f'biastype="{b}" dynprm="{DYNAMICS[d]}" gainprm="{GAINS[g]}" biasprm="{BIASES[b]}" '
                f'lengthrange="-.4 1.5" ctrlrange="-.5 .8"{early}{clamps}/>'
            )
    model, mj = both(robot(*texts))
    assert model.n_actuators == len(texts) == 90 and model.unsupported == ()
    assert_same(model, mj, states=2)


@pytest.mark.parametrize("end", TRANSMISSIONS)
def test_every_transmission_is_mujocos(end):
    """A motor and a position servo, whose set point is the nearest one where the length is an angle."""
    servo = f'<position name="servo" {TRANSMISSIONS[end]} {GEAR} kp="9" kv="2"/>'
    turning = '<position name="turn" site="t" refsite="s" gear="0 0 0 .4 .3 2" kp="20" timeconst=".1"/>'
    model, mj = both(robot(f'<motor name="motor" {TRANSMISSIONS[end]} {GEAR}/>', servo, turning))
    assert_same(model, mj, states=4, seed=1)


ELEMENTS = (
    '<motor name="e0" joint="hinge" gear="50" armature=".1" damping=".2"/>',
    '<velocity name="e1" joint="hinge" kv="3"/>', '<intvelocity name="e2" joint="slide" kp="3" actrange="-1 1"/>',
    '<damper name="e3" joint="hinge" kv="3" ctrlrange="0 1"/>',
    '<cylinder name="e4" joint="slide" timeconst="1" area="2" bias="1 2 3"/>',
    '<muscle name="e5" tendon="cord" lengthrange=".8 2.4"/>',
    '<position name="e6" tendon="sum" kp="20" dampratio="1"/>',
    '<muscle name="e7" joint="hinge" lengthrange="-1 1" force="30" tausmooth=".3"/>',
    '<position name="e8" joint="slide" kp="200" kv="3" timeconst=".1" forcerange="-5 5"/>',
)  # fmt: skip


@pytest.fixture(scope="module")
def machine():
    """A model with every element of MuJoCo's section, and MuJoCo's."""
    return both(robot(*ELEMENTS, hinge='actuatorfrcrange="-8 11"'))


def test_every_element_is_compiled_and_batched(machine):
    """Compiled functions give MuJoCo's numbers; a batch those of its states; gains vary within a batch."""
    model, mj = machine
    assert_same(model, mj, states=4, seed=2, compiled=True)
    rng = np.random.default_rng(3)
    q, v = np.array([model.random_q(rng) for _ in range(4)]), rng.normal(size=(4, model.nv))
    x, u, tau = rng.uniform(size=(4, model.nx)), rng.normal(size=(4, model.nu)), np.zeros(model.nv)
    a = kt.forward_dynamics(model, q, v, tau, x=x, u=u)
    for n in range(4):
        one = kt.forward_dynamics(model, q[n], v[n], tau, x=x[n], u=u[n])
        np.testing.assert_allclose(a[n], one, rtol=1e-12, atol=1e-10)
    f = kt.compile(model, "actuator_forces", optional=("x", "u"))
    assert "e1.gain_parameters.0" in model.numbers().names
    found = f.with_parameters({"e1.gain_parameters.0": np.array([3.0, 6.0, 9.0, 12.0])})(q, v, x, u)
    k = model.actuator_names.index("e1")
    servo = -3.0 * v[:, model.coordinate("hinge")] + np.arange(1, 5) * 3.0 * u[:, k]
    np.testing.assert_allclose(found[:, k], servo, rtol=1e-12)


CONTROLLERS = (
    '<pid {} kp="3" kv=".5"/>', '<pid {} kp="3" kv=".5" ki="2" imax=".4"/>',
    '<pid {} kp="3" kv=".5" ki="2" imax="1" slewmax="40"/>', '<pid {} kp="3" input="pos" forcerange="-.5 .5"/>',
    '<pid {} kv="3" input="vel"/>',
    '<pid {} kp="3" kv=".4" input="pos vel ff" posrange="-1 1" velrange="-.2 .2" ffrange="-.3 .3"/>',
)  # fmt: skip
MOTOR = '<dcmotor {} motorconst=".1" resistance="2" '
THERMAL = 'thermal="3 400 .01 .004 30" '
DC_MOTORS = (
    MOTOR + "/>", MOTOR + 'inductance=".03"/>', MOTOR + 'inductance=".03" input="none"/>', MOTOR + THERMAL + "/>",
    MOTOR + 'input="pos" controller="3 2 .5 7 .2 4"/>', MOTOR + 'input="pos vel" controller="3 2 .5 0 0 0"/>',
    MOTOR + 'input="vel" controller="3 0 .5 0 1.5 4"/>', MOTOR + 'lugre="30 2 .4 .5 .1" cogging=".3 6 .2"/>',
    MOTOR + THERMAL + 'inductance=".03" saturation=".1 .02 .3" input="pos ff" controller="3 2 .5 7 1.5 4" '
    'lugre="30 2 .4 .5 .1"/>',
)  # fmt: skip
NEW = pytest.mark.skipif(not hasattr(mujoco.mjtGain, "mjGAIN_PID"), reason="these are elements of MuJoCo 4")


@NEW
@pytest.mark.parametrize("element", [*CONTROLLERS, *DC_MOTORS])
def test_controllers_and_dc_motors_are_mujocos(element):
    """Forces and rates of all internal states, on a hinge and on a ball joint, whose set points are angles."""
    for target in ('joint="hinge" gear="2"', 'joint="ball" gear="1 2 -1"'):
        model, mj = both(robot(element.format(f'name="a" {target}')))
        assert model.n_actuators == 1 and model.unsupported == ()
        for seed in range(8):
            rng = np.random.default_rng(seed)
            q, v = model.random_q(rng), rng.normal(size=model.nv)
            x, u = rng.normal(size=model.nx), 10.0 * rng.normal(size=model.nu)
            there, data = MuJoCo(model, mj, by_order=True), mujoco.MjData(mj)
            data.qpos[:], data.qvel[:], data.ctrl[:], data.act[:] = there.q_to(q), there.v_to(q, v), u, x
            mujoco.mj_forward(mj, data)
            with kt.interpreted():
                force = kt.dynamics.actuator_forces(model, q, v, x=x, u=u)
                rates = kt.dynamics.force_state_rates(model, q, v, x=x, u=u)
            np.testing.assert_allclose(np.array(force, float), data.actuator_force, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(np.array(rates, float), data.act_dot, rtol=1e-10, atol=1e-10)


@NEW
def test_controllers_have_inputs_by_name_and_are_written():
    """Two targets reached together; an integral removes the sag; files keep them, but for DC motors."""
    text = ARM.split("<actuator>")[0] + """<actuator><pid name="servo" joint="shoulder" kp="30" kv="8" ki="20"/>
      <pid name="feed" joint="elbow" kp="20" kv="2" ki="20" input="pos vel ff" slewmax="2"/></actuator></mujoco>"""
    model = load_mjcf(text.format(dt=0.01))
    names = "servo.position", "servo.velocity", "feed.position", "feed.velocity", "feed.feedforward"
    assert model.input_names == names
    assert model.state_names == ("servo.integral", "feed.set_point", "feed.integral")
    targets = {"servo.position": 0.4, "feed.position": -0.6}
    run = kt.simulate(model, duration=8.0, dt=5e-3, inputs=kt.Inputs(control=targets))
    np.testing.assert_allclose(run.q[-1], [0.4, -0.6], atol=2e-3)
    assert load_mjcf(kt.io.to_mjcf(model)).actuators == model.actuators
    motor = load_mjcf(robot(DC_MOTORS[0].format('name="a" joint="hinge"')))
    with pytest.raises(kt.errors.UnsupportedError, match="law is kept in part only"):
        kt.io.to_mjcf(motor)


def test_derivatives_by_controls_gains_and_activations(machine):
    """d(acceleration)/du, dx and d(gain) are difference quotients, and M da/du is the moment arm times the gain."""
    model, _ = machine
    model = model.replace(equipment=kt.model.Equipment(tendons=model.tendons, actuators=model.actuators))
    rng = np.random.default_rng(1)
    q, v, tau = model.random_q(rng), 0.3 * rng.normal(size=model.nv), np.zeros(model.nv)
    x, u = rng.uniform(0.2, 0.6, size=model.nx), rng.uniform(0.1, 0.4, size=model.nu)

    def a(x, u):
        return kt.forward_dynamics(model, q, v, tau, x=x, u=u)

    for name, at, f in (("x", x, lambda z: a(z, u)), ("u", u, lambda z: a(x, z))):
        found = kt.differentiate(model, "forward_dynamics", wrt=name, optional=("x", "u"))(q, v, tau, x, u)
        steps = 1e-6 * np.eye(len(at))
        expected = np.stack([(f(at + h) - f(at - h)) / 2e-6 for h in steps], axis=-1)
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
    k = model.actuator_names.index("e0")
    moment = kt.dynamics.actuator_moments(model, q)[k]
    found = kt.differentiate(model, "forward_dynamics", wrt="u", optional=("x", "u"))(q, v, tau, x, u)[:, k]
    np.testing.assert_allclose(kt.mass_matrix(model, q) @ found, moment, atol=1e-9 * np.abs(moment).max())


# Clamps over sums ----------------------------------------------------------------------------------------------------


def test_forces_on_a_tendon_with_a_range_are_scaled_together():
    """The sum before the clamps of each, in MuJoCo's order; another tendon is not touched."""
    actuators = (
        '<motor name="m0" tendon="cord" gear="3"/>', '<motor name="m1" tendon="sum"/>',
        '<position name="m2" tendon="cord" kp="5" forcerange="-2 2"/>',
        '<general name="m3" tendon="cord" dyntype="filter" dynprm=".1" gainprm="4"/>',
    )  # fmt: skip
    model, mj = both(robot(*actuators, cord='actuatorfrcrange="-1.5 1"'))
    assert model.actuator_names == ("m0", "m2", "m3", "m1") == model.input_names
    assert model.state_names == ("m3.activation",)
    assert (model.u_index("m2"), model.x_index("m3")) == (slice(1, 2), slice(0, 1))
    assert_same(model, mj, states=8, seed=4)


MIXED = (
    '<motor name="m0" joint="hinge" gear="3"/>', '<motor name="m1" tendon="cord" gear="2"/>',
    '<position name="m2" site="t" gear="1 2 3" kp="5"/>', '<velocity name="m3" joint="hinge" kv="2"/>',
    '<motor name="m4" joint="slide" gear="5"/>',
)  # fmt: skip


def test_the_sum_of_all_forces_on_a_joint_is_clamped():
    """Of joints, tendons and sites; below, within and above the range; a joint without one is not touched."""
    model, mj = both(robot(*MIXED, hinge='actuatorfrcrange="-2 3"', slide='actuatorfrcrange="-.5 4"'))
    ranges = [(x.joint, x.lower, x.upper) for x in model.equipment.force_ranges]
    assert ranges == [("hinge", -2.0, 3.0), ("slide", -0.5, 4.0)]
    assert_same(model, mj, states=8, seed=5)


def test_slopes_are_those_of_the_forces():
    """Exact K and D against differences, beside and within clamps; Gauss-Newton ones vanish where a clamp acts."""
    model, _ = both(robot(*MIXED, *ELEMENTS[5:], hinge='actuatorfrcrange="-40 50"'))
    clamped, f = 0, kt.compile(model, "actuator_joint_forces", optional=("x", "u"))
    k = model.coordinate("hinge")
    for seed in range(4):
        rng = np.random.default_rng(seed)
        q, v, u = model.random_q(rng), rng.normal(size=model.nv), 4.0 * rng.normal(size=model.nu)
        x = rng.uniform(0.1, 0.9, size=model.nx)
        K, D = (np.array(s, float) for s in exact_slopes(model, q.tolist(), v.tolist(), x.tolist(), u.tolist()))
        along = [(f(kt.integrate(model, q, h), v, x, u) - f(kt.integrate(model, q, -h), v, x, u)) / 2e-6
                 for h in 1e-6 * np.eye(model.nv)]  # fmt: skip
        np.testing.assert_allclose(K, -np.stack(along, axis=-1), atol=1e-6 * max(1.0, np.abs(K).max()))
        across = [(f(q, v + h, x, u) - f(q, v - h, x, u)) / 2e-6 for h in 1e-6 * np.eye(model.nv)]
        np.testing.assert_allclose(D, -np.stack(across, axis=-1), atol=1e-6 * max(1.0, np.abs(D).max()))
        if f(q, v, x, u)[k] in (-40.0, 50.0):
            clamped += 1
            K_gn, D_gn = gauss_newton_slopes(model, q.tolist(), v.tolist(), x.tolist(), u.tolist())
            assert not any(map(float, (*K_gn[k], *D_gn[k])))
    assert 0 < clamped < 4


# Motion --------------------------------------------------------------------------------------------------------------

ARM = """<mujoco><option timestep="{dt}" gravity="0 0 -9.81"><flag contact="disable"/></option><worldbody>
<body><joint name="shoulder" axis="0 1 0" damping=".3"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".04"/>
<site name="p" pos=".05 0 -.1"/><body pos="0 0 -.4"><joint name="elbow" axis="0 1 0" damping=".1"/>
<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03"/><site name="d" pos=".04 0 -.1"/></body></body></worldbody>
<tendon><spatial name="biceps"><site site="p"/><site site="d"/></spatial></tendon>
<actuator><position name="servo" joint="shoulder" kp="30" kv="2" timeconst=".05"/>
<muscle name="muscle" tendon="biceps" lengthrange=".1 .45" force="60"/></actuator></mujoco>"""


def stepped(dt, duration, u):
    """The end of MuJoCo's own motion from rest."""
    mj = mujoco.MjModel.from_xml_string(ARM.format(dt=dt))
    data = mujoco.MjData(mj)
    data.qpos[:] = 0.3, 0.5
    for n in range(round(duration / dt)):
        data.ctrl[:] = u(n * dt)
        mujoco.mj_step(mj, data)
    return np.array([*data.qpos, *data.qvel, *data.act])


def test_a_simulation_is_the_limit_of_mujocos_steps():
    """The difference from MuJoCo's steps halves with them, down to that of the simulation: order one, MuJoCo's."""
    model = load_mjcf(ARM.format(dt=0.01))
    assert model.state_names == ("servo.activation", "muscle.activation") and model.input_names == ("servo", "muscle")
    control = {"servo": lambda t: 0.5 * np.sin(3.0 * t), "muscle": lambda t: 0.5 + 0.4 * np.sin(5.0 * t)}
    exact = kt.integrators.Adaptive("dop853", rtol=1e-9, atol=1e-10)
    run = kt.simulate(model, [0.3, 0.5], duration=0.4, integrator=exact, inputs=kt.Inputs(control=control))
    end = np.array([*run.q[-1], *run.v[-1], *run.x[-1]])
    steps = 1e-3, 5e-4, 2.5e-4
    errors = [np.abs(stepped(dt, 0.4, lambda t: [f(t) for f in control.values()]) - end).max() for dt in steps]
    assert 1.8 < errors[0] / errors[1] < 2.2 and 1.8 < errors[1] / errors[2] < 2.2 and errors[2] < 5e-3
    assert np.abs(run.energy_balance.remainder).max() < 1e-6 * run.energy_balance.scale
    assert run.u[-1] == pytest.approx([f(0.4) for f in control.values()])


def test_a_rollout_is_mujocos_to_its_order():
    """Controls by name over time; rollouts of both with halved steps approach each other at order one."""
    from mujoco import rollout

    def apart(dt):
        steps = round(0.3 / dt)
        t = dt * np.arange(steps)
        control = np.stack([0.5 * np.sin(3.0 * t), 0.5 + 0.4 * np.sin(5.0 * t)], axis=-1)
        mj = mujoco.MjModel.from_xml_string(ARM.format(dt=dt))
        data = mujoco.MjData(mj)
        start = np.concatenate([[0.0, 0.3, 0.5], np.zeros(mj.nv + mj.na)])
        states, _ = rollout.rollout(mj, data, initial_state=start, control=control)
        theirs = states[0, -1][1:]
        named = {"servo": control[:, 0], "muscle": control[:, 1]}
        q, v, x = kt.rollout(load_mjcf(ARM.format(dt=dt)), [0.3, 0.5], None, None, dt, control=named)
        return np.abs(np.concatenate([q[-1], v[-1], x[-1]]) - theirs).max()

    errors = [apart(dt) for dt in (2e-3, 1e-3, 5e-4)]
    assert 1.7 < errors[0] / errors[1] < 2.3 and 1.7 < errors[1] / errors[2] < 2.3


def test_steps_with_ranges_converge():
    """Semi-implicit steps with a stiff servo, saturated by the range of its joint and of a tendon: order one."""
    text = ARM.replace('<joint name="shoulder"', '<joint name="shoulder" actuatorfrcrange="-3 4"')
    text = text.replace('<spatial name="biceps"', '<spatial name="biceps" actuatorfrcrange="-9 9"')
    model = load_mjcf(text.replace('kp="30" kv="2"', 'kp="300" kv="20"').format(dt=0.01))
    inputs = kt.Inputs(control={"servo": lambda t: np.sin(3.0 * t), "muscle": 0.7})
    ends = [
        np.array([*run.q[-1], *run.v[-1], *run.x[-1]])
        for given in ({"integrator": kt.integrators.Adaptive("dop853", rtol=1e-8)},
                      *({"integrator": "semi_implicit", "dt": dt} for dt in (2e-3, 1e-3, 5e-4)))
        for run in [kt.simulate(model, [0.3, 0.5], duration=0.4, inputs=inputs, **given)]
    ]  # fmt: skip
    tau = kt.dynamics.actuator_joint_forces(model, [0.3, 0.5], [0.0, 0.0], u=[0.5, 0.7])
    assert -3.0 <= tau[0] <= 4.0
    errors = [np.abs(end - ends[0]).max() for end in ends[1:]]
    assert 1.6 < errors[0] / errors[1] < 2.4 and 1.6 < errors[1] / errors[2] < 2.4


def test_an_activation_stops_at_the_ends_of_its_range():
    """An integrated control goes to the end of its range and back at once, as MuJoCo clamps it."""
    text = ARM.replace("</actuator>", '<intvelocity name="winch" joint="elbow" kp="2" actrange="-.2 .3"/></actuator>')
    model = load_mjcf(text.format(dt=0.01))
    inputs = kt.Inputs(control={"winch": lambda t: 1.0 - 2.0 * (t > 0.5)})
    run = kt.simulate(model, [0.0, 0.0], duration=1.0, dt=1e-3, inputs=inputs)
    x = run.x[:, model.x_index("winch")][:, 0]
    assert x.max() == pytest.approx(0.3, abs=1.1e-3) and x[500] == x.max()
    np.testing.assert_allclose(x[700], 0.3 - 0.2, atol=3e-3)
    assert x.min() >= -0.2011


# Data ----------------------------------------------------------------------------------------------------------------


def test_actuators_stay_through_files_and_surgery(machine, tmp_path):
    """Written and read, renamed, and dropped with their joint; ranges of joints too."""
    model, mj = machine
    path = tmp_path / "again.xml"
    kt.save(model, path)
    again = kt.load(path)
    assert again.equipment.force_ranges == model.equipment.force_ranges
    assert_same(again, mj, states=1)
    rng = np.random.default_rng(0)
    q, v, u = model.random_q(rng), rng.normal(size=model.nv), rng.normal(size=model.nu)
    renamed = kt.surgery.rename(model, prefix="left_")
    assert renamed.input_names == tuple(f"left_{name}" for name in model.input_names)
    np.testing.assert_array_equal(*(kt.dynamics.actuator_joint_forces(m, q, v, u=u) for m in (model, renamed)))
    locked = kt.surgery.lock(model, {"hinge": 0.2})
    assert not locked.equipment.force_ranges and "e0" not in locked.actuator_names and "e4" in locked.actuator_names
    assert model.replace(forces=[]).elements == model.elements == model.with_forces().elements


def test_keyframes_have_controls_and_activations():
    """A file's "home" is held by its own controls; renamed, locked, attached and written, they stay."""
    key = '<keyframe><key name="home" qpos=".4 .2" ctrl=".5 .3" act=".45 .2"/></keyframe>'
    text = ARM.replace("</actuator>", f"</actuator>{key}")
    model = load_mjcf(text.format(dt=0.01))
    assert model.keyframe_controls("home") == {"servo": 0.5, "muscle": 0.3}
    assert model.keyframe_activations("home").tolist() == [0.45, 0.2]
    assert "ignored, a keyframe" not in str(model.report)
    mj = mujoco.MjModel.from_xml_string(text.format(dt=0.01))
    data = mujoco.MjData(mj)
    mujoco.mj_resetDataKeyframe(mj, data, 0)
    mujoco.mj_forward(mj, data)
    (q, v), control = model.keyframe("home"), list(model.keyframe_controls("home").values())
    a = kt.forward_dynamics(model, q, v, np.zeros(2), x=model.keyframe_activations("home"), u=control)
    np.testing.assert_allclose(a, data.qacc, rtol=1e-9)
    assert load_mjcf(kt.io.to_mjcf(model)).equipment.keyframes[0].controls == model.equipment.keyframes[0].controls
    renamed = kt.surgery.rename(model, prefix="left_")
    assert renamed.keyframe_controls(renamed.keyframes[0]) == {"left_servo": 0.5, "left_muscle": 0.3}
    locked = kt.surgery.lock(model, {"shoulder": 0.1})
    assert locked.keyframe_controls("home") == {"muscle": 0.3} and locked.keyframe_activations("home").tolist() == [0.2]
    with pytest.raises(UnknownNameError, match="no keyframe named 'hom'"):
        model.keyframe_controls("hom")


def test_the_time_step_of_early_activations_is_written():
    """It is a number of their law."""
    text = robot('<general name="g" joint="hinge" dyntype="filter" dynprm=".1" actearly="true"/>')
    model, mj = both(text)
    again = load_mjcf(kt.io.to_mjcf(model))
    assert again.actuators == model.actuators and again.actuators[0].early == 0.004
    assert_same(again, mj, states=1)


def test_wrong_controls_and_ranges_are_named(machine):
    """Unknown names with the closest ones, wrong shapes, reversed ranges, missing joints, joints of other freedoms."""
    model, _ = machine
    with pytest.raises(UnknownNameError, match=r"no input named 'e33' in model .* Did you mean 'e3'"):
        kt.simulate(model, duration=0.01, inputs=kt.Inputs(control={"e33": 1.0}))
    with pytest.raises(kt.errors.ShapeError, match="control of 'e3' is .*, expected a number"):
        kt.simulate(model, duration=0.01, inputs=kt.Inputs(control={"e3": [1.0, 2.0]}))
    given = model.neutral(), np.zeros(model.nv), np.zeros((5, model.nv)), 0.01
    with pytest.raises(kt.errors.ShapeError, match=r"control.* has shape \(5, 2\)"):
        kt.rollout(model, *given, control=np.zeros((5, 2)))
    with pytest.raises(UnknownNameError, match="no input named 'e33'"):
        kt.rollout(model, *given, control={"e33": np.zeros(5)})
    with pytest.raises(kt.errors.ShapeError, match=r"u has shape \(2,\)"):
        kt.forward_dynamics(model, model.neutral(), np.zeros(model.nv), np.zeros(model.nv), u=np.zeros(2))
    with pytest.raises(kt.errors.NonFiniteError, match=rf"u\[2\] is nan \(input '{model.input_names[2]}'\)"):
        u = np.where(np.arange(model.nu) == 2, np.nan, 0.0)
        kt.forward_dynamics(model, model.neutral(), np.zeros(model.nv), np.zeros(model.nv), u=u)
    record, arm = kt.model.Actuator, kt.models.double_pendulum()
    with pytest.raises(ModelError, match=r"actuator 'a': control_range is \(1.0, -1.0\), expected \(lower, upper\)"):
        record("a", "joint", "elbow", control_range=(1.0, -1.0))
    with pytest.raises(ModelError, match=r"actuator 'a': gear is \(2.0,\), expected 6 numbers"):
        record("a", "joint", "elbow", gear=(2.0,))
    with pytest.raises(kt.errors.KinetreeError, match="actuator 'a': gain_parameters is nan, expected"):
        record("a", "joint", "elbow", gain_parameters=(float("nan"),))
    with pytest.raises(ModelError, match="3 is no kinetree.model.Actuator"):
        arm.with_actuators(3)
    with pytest.raises(UnknownNameError, match="no joint named 'elbo'"):
        arm.with_actuators(record("a", "joint", "elbo"))
    b = kt.ModelBuilder("x")
    b.add_body("b", joint=kt.joints.Planar(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match=r"actuator 'a' .* has 3 velocities, expected a joint of one"):
        b.build().replace(equipment=kt.model.Equipment(actuators=(record("a", "joint", "b"),)))
    with pytest.raises(kt.errors.SimulationError, match="actuator 'a' .* adhesion"):
        off = arm.replace(equipment=kt.model.Equipment(actuators=(record("a", "body", "lower"),)))
        kt.simulate(off, duration=0.01, inputs=kt.Inputs(control={"a": 1.0}))
