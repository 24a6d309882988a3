"""Tendons of MuJoCo's files: lengths, Jacobians, rates and passive forces are MuJoCo's; files keep them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.conventions import MuJoCo
from kinetree.errors import UnsupportedError
from kinetree.io.mjcf.read import load_mjcf
from kinetree.tendons import WrapShape

needs_winding_rule = pytest.mark.skipif(
    not mujoco.__version__.startswith("4."), reason="MuJoCo before 4 chooses the side of a path by another rule"
)
NONE = 'contype="0" conaffinity="0"'
ROBOT = f"""<mujoco><compiler autolimits="true"/><worldbody>
<site name="w" pos="0 .1 2"/><geom name="post" type="cylinder" size=".1 .4" pos=".3 0 1.4" euler="40 20 0" {NONE}/>
<site name="beside" pos=".2 .5 1.4"/>
<body name="a" pos="0 0 1"><joint name="ball" type="ball"/><geom size=".1" pos=".2 0 0" {NONE}/>
<site name="s" pos=".3 0 0"/>
<geom name="bulb" size=".15" pos=".3 0 .1" {NONE}/><site name="within" pos=".3 .05 .1"/>
<body name="b" pos=".4 0 0"><joint name="hinge" axis="0 1 0"/><geom size=".08" pos=".2 0 0" {NONE}/>
<site name="t" pos=".3 .05 0"/>
<body name="c" pos=".3 0 0"><joint name="slide" type="slide" axis="1 0 .2"/><geom size=".1" {NONE}/><site name="u"/>
</body></body></body></worldbody>
<tendon>{{tendons}}</tendon></mujoco>"""
TENDONS = {
    "sum": '<fixed name="sum" stiffness="3" damping=".4" springlength=".2"><joint joint="hinge" coef="2"/>'
           '<joint joint="slide" coef="-1"/></fixed>',
    "cord": '<spatial name="cord" stiffness="50" springlength=".4 .9" damping="2"><site site="w"/><site site="s"/>'
            '<site site="u"/></spatial>',
    "tackle": '<spatial name="tackle" stiffness="20"><site site="w"/><site site="s"/><pulley divisor="2"/>'
              '<site site="s"/><geom geom="post"/><site site="u"/><pulley divisor="1.5"/><site site="w"/>'
              '<site site="t"/></spatial>',
    "around": '<spatial name="around" stiffness="30" damping="1"><site site="w"/><geom geom="bulb"/><site site="t"/>'
              '<geom geom="post" sidesite="beside"/><site site="u"/></spatial>',
    "through": '<spatial name="through"><site site="w"/><geom geom="bulb" sidesite="within"/><site site="t"/>'
               '</spatial>',
}  # fmt: skip


def robot(*names: str, extra: str = "") -> str:
    return ROBOT.format(tendons="".join(map(TENDONS.get, names)) + extra)


def jacobian(mj, data) -> np.ndarray:
    """MuJoCo's, dense."""
    J = np.zeros((mj.ntendon, mj.nv))
    sparse = mj if hasattr(mj, "ten_J_rownnz") else data
    where = (getattr(sparse, f"ten_J_{what}").ravel() for what in ("rownnz", "rowadr", "colind"))
    mujoco.mju_sparse2dense(J, data.ten_J.ravel(), *where)
    return J


def assert_same(model, mj, states: int, tolerance: float = 1e-12) -> None:
    """Equal lengths, Jacobians, rates at random states; a relative tolerance of each array's largest entry."""
    there, data, rng = MuJoCo(model, mj, by_order=True), mujoco.MjData(mj), np.random.default_rng(0)
    calls = [kt.compile(model, f"tendon_{what}") for what in ("lengths", "jacobian", "velocities")]
    for _ in range(states):
        q, v = model.random_q(rng), rng.normal(size=model.nv)
        data.qpos[:], data.qvel[:] = there.q_to(q), there.v_to(q, v)
        mujoco.mj_forward(mj, data)
        J = np.array([there.tau_from(q, row) for row in jacobian(mj, data)])
        found = calls[0](q), calls[1](q), calls[2](q, v)
        for x, expected in zip(found, (data.ten_length, J, data.ten_velocity), strict=True):
            np.testing.assert_allclose(x, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


@needs_winding_rule
def test_lengths_rates_and_jacobians_are_mujocos():
    """Sums of joints, points, pulleys, shapes with and without side sites, of all kinds of joints."""
    text = robot("sum", "cord", "tackle", "around")
    model, mj = load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert model.tendon_names == ("sum", "cord", "tackle", "around") and model.n_tendons == 4
    assert_same(model, mj, 20)


@needs_winding_rule
def test_inside_of_a_shape():
    """A side site within the shape makes it a ring. MuJoCo's iteration leaves errors of 1e-6 in its Jacobian."""
    model, mj = load_mjcf(robot("through")), mujoco.MjModel.from_xml_string(robot("through"))
    assert model.tendons[0].path[1] == WrapShape("sphere", "bulb", 0.15, "within", inside=True)
    assert_same(model, mj, 20, 1e-5)
    q = model.random_q(np.random.default_rng(3))
    steps = [kt.integrate(model, q, s * e) for e in np.eye(model.nv) for s in (1e-5, -1e-5)]
    lengths = kt.dynamics.tendon_lengths(model, np.array(steps))[:, 0].reshape(-1, 2)
    differences = (lengths[:, 0] - lengths[:, 1]) / 2e-5
    np.testing.assert_allclose(kt.dynamics.tendon_jacobian(model, q)[0], differences, atol=1e-9)


@needs_winding_rule
@pytest.mark.parametrize("name", ["sum", "cord", "tackle", "around"])
def test_passive_forces_are_mujocos(name):
    """Springs with and without slack, and dampers, along every kind of path; accelerations too."""
    text = robot(name)
    model, mj = load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert model.unsupported == () and [force.name for force in model.forces] == [f"tendon {name}"]
    there, data, rng = MuJoCo(model, mj, by_order=True), mujoco.MjData(mj), np.random.default_rng(1)
    for _ in range(8):
        q, v = model.random_q(rng), rng.normal(size=model.nv)
        data.qpos[:], data.qvel[:] = there.q_to(q), there.v_to(q, v)
        mujoco.mj_forward(mj, data)
        expected = there.tau_from(q, data.qfrc_passive)
        found = kt.dynamics.passive_joint_forces(model, q, v)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))
        a, expected = kt.forward_dynamics(model, q, v, np.zeros(model.nv)), there.a_from(q, v, data.qacc)
        np.testing.assert_allclose(a, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_files_keep_tendons():
    """Written and read again: the same tendons, with springs, limits and their softness."""
    limited = ('<spatial name="short" range="0 .8" solreflimit=".03 .7" frictionloss=".3"><site site="w"/>'
               '<site site="u"/></spatial>')  # fmt: skip
    model = load_mjcf(robot(*TENDONS, extra=limited))
    again = load_mjcf(kt.io.to_mjcf(model))
    for found, expected in zip(again.tendons, model.tendons, strict=True):
        assert (found.path, found.rest_length, found.limit_softness) == (
            expected.path, expected.rest_length, expected.limit_softness)  # fmt: skip
        for what in ("stiffness", "damping", "dry_friction", "lower", "upper", "limit_stiffness", "limit_damping"):
            assert getattr(found, what) == pytest.approx(getattr(expected, what), rel=1e-9)
    assert "1 tendon has limits" in str(model.report) and "1 tendon has dry friction" in str(model.report)


def test_a_limit_stops_the_tendon():
    """Beyond its limit a mass on a cord is held with MuJoCo's stiffness per mass, 1 / (d t z)^2, critically damped."""
    text = """<mujoco><option gravity="0 0 -10"/><worldbody><site name="w"/><body><joint type="slide" axis="0 0 1"/>
    <geom size=".1" mass="2" pos="0 0 -.5"/><site name="u" pos="0 0 -.5"/></body></worldbody><tendon>
    <spatial name="cord" limited="true" range="0 .6" solreflimit=".05 1"><site site="w"/><site site="u"/></spatial>
    </tendon></mujoco>"""
    model = load_mjcf(text)
    (cord,) = model.forces
    assert cord.limit_stiffness == pytest.approx(2.0 / (0.95 * 0.05) ** 2) and cord.lower == 0.0
    assert cord.limit_damping == pytest.approx(2.0 * np.sqrt(cord.limit_stiffness * 2.0))
    run = kt.simulate(model, duration=2.0, dt=1e-3)
    assert run.q[-1, 0] == pytest.approx(-0.1 - 20.0 / cord.limit_stiffness, abs=1e-9)


HEAVY = robot(extra='<spatial name="rope" armature=".7"><site site="w"/><site site="s"/><pulley divisor="2"/>'
              '<site site="s"/><site site="u"/></spatial><fixed name="sum" armature=".4">'
              '<joint joint="hinge" coef="2"/><joint joint="slide" coef="-1"/></fixed>')  # fmt: skip


def test_accelerations_with_inertia_along_tendons_are_mujocos():
    """The armature is part of the mass matrix; the forces of a motion give the motion."""
    model, mj = load_mjcf(HEAVY), mujoco.MjModel.from_xml_string(HEAVY)
    there, data, zero = MuJoCo(model, mj), mujoco.MjData(mj), np.zeros(model.nv)
    bare = model.replace(equipment=replace(model.equipment, tendons=()))
    for seed in range(4):
        q, v = model.random_state(np.random.default_rng(seed))
        data.qpos[:], data.qvel[:] = there.q_to(q), there.v_to(q, v)
        mujoco.mj_forward(mj, data)
        expected = there.a_from(q, v, data.qacc)
        with kt.interpreted():
            found = [kt.forward_dynamics(model, q, v, zero, method=method) for method in ("auto", "crba")]
            tau, other = kt.inverse_dynamics(model, q, v, expected), kt.forward_dynamics(bare, q, v, zero)
        np.testing.assert_allclose(found, [expected] * 2, atol=1e-11 * np.abs(expected).max())
        np.testing.assert_allclose(tau, zero, atol=1e-11 * np.abs(expected).max())
        assert np.abs(expected - other).max() > 0.1


def test_runs_with_inertia_along_tendons_keep_their_energy():
    """Its kinetic energy is part of the balance; methods that do not compute it refuse by name."""
    model = load_mjcf(HEAVY)
    q, v = model.random_state(np.random.default_rng(0))
    run = kt.simulate(model, q, v, duration=0.2, integrator=kt.integrators.Adaptive("dop853", rtol=1e-10, atol=1e-10))
    assert np.ptp(run.energy_balance.energy) < 1e-7 * run.energy_balance.scale
    rates = np.array([kt.dynamics.tendon_velocities(model, q, v) for q, v in zip(run.q, run.v, strict=True)])
    along = 0.5 * rates**2 @ [0.7, 0.4]
    np.testing.assert_allclose(run.kinetic_energy - kt.kinetic_energy(model, run.q, run.v), along, rtol=1e-9)
    for call in (
        lambda: kt.simulate(model, duration=0.1, dt=0.01, integrator="implicit_midpoint"),
        lambda: kt.forward_dynamics(model, q, v, v, method="aba"),
    ):
        with pytest.raises(UnsupportedError, match="tendon rope"):
            call()


def test_other_numbers_at_run_time():
    """Stiffness and a point of a tendon of the file, in a batch, as in models made with them."""
    model = load_mjcf(robot("cord"))
    q, v = model.random_state(np.random.default_rng(2))
    names = ("tendon cord.stiffness", "tendon cord.rest_length.1")
    f = kt.compile(model, "passive_joint_forces")
    found = f.with_parameters(dict(zip(names, np.array([[50.0, 80.0], [0.9, 0.5]]), strict=True)))(np.array([q, q]), v)
    text = robot("cord").replace('stiffness="50"', 'stiffness="80"').replace('".4 .9"', '".4 .5"')
    stiffer = load_mjcf(text)
    one = f.with_parameters({names[0]: 80.0, names[1]: 0.5})(q, v)
    expected = kt.dynamics.passive_joint_forces(stiffer, q, v)
    np.testing.assert_allclose(found[0], f(q, v), rtol=1e-12)
    np.testing.assert_allclose([found[1], one], [expected, expected], rtol=1e-12)
    assert np.abs(expected - found[0]).max() > 1e-3


@needs_winding_rule
def test_mujocos_own_example():
    """The file that MuJoCo's package ships."""
    path = Path(mujoco.__file__).parent / "testdata" / "model.xml"
    if not path.exists():
        pytest.skip("this MuJoCo ships no test data")
    assert_same(load_mjcf(path, unsupported="drop"), mujoco.MjModel.from_xml_path(str(path)), 3)


def test_planar_models():
    """Sums of joints and paths over points in space have their lengths there."""
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    terms = tuple(map(kt.tendons.JointTerm, ("shoulder", "elbow"), (1.0, 2.0)))
    b.equipment = kt.model.Equipment(tendons=(kt.model.Tendon("sum", terms),))
    with kt.interpreted():
        assert kt.dynamics.tendon_lengths(b.build().planar(), [0.3, 0.4]) == pytest.approx([1.1])
        points = kt.tendons.ViaPoint("world"), kt.tendons.ViaPoint("lower", (0.0, 0.0, 0.3))
        b.equipment = kt.model.Equipment(tendons=(kt.model.Tendon("cord", points),))
        model = b.build()
        for call in (kt.dynamics.tendon_lengths, kt.dynamics.tendon_jacobian):
            expected = call(model, [0.3, 0.4])
            np.testing.assert_allclose(call(model.planar(), [0.3, 0.4]), expected, rtol=1e-12)


def test_lengths_over_joints_that_depend_on_time():
    """Tendons without forces take the time, too."""
    b = kt.ModelBuilder("driven")
    b.add_body("cart", joint=kt.joints.Prescribed(kt.joints.Prismatic(), (kt.joints.Sinusoid(0.5, 2.0),)))
    b.add_body("bob", "cart", kt.joints.Revolute((0, 1, 0)), mass=1.0, inertia=np.eye(3))
    points = kt.tendons.ViaPoint("world", (0.0, 0.0, -2.0)), kt.tendons.ViaPoint("bob")
    b.equipment = kt.model.Equipment(tendons=(kt.model.Tendon("cord", points),))
    with kt.interpreted():
        length = kt.dynamics.tendon_lengths(b.build(), [0.3], t=0.4)
    assert length == pytest.approx([2.0 + 0.5 * np.sin(2.0 * 0.4)])
