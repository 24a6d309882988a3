"""Kinds of force elements: closed forms, external wrenches, and errors by name."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.algorithms.force_elements import gauss_newton_slopes
from kinetree.forces import JointForce
from tests.forces.test_elements import machine, state

POINT = (0.1, -0.2, 0.3)


@pytest.fixture(scope="module")
def body():
    """A free body of 2 kg without gravity."""
    return kt.models.free_body().replace(gravity=(0.0, 0.0, 0.0))


def passive(model, q, v, **given):
    return kt.dynamics.passive_joint_forces(model, q, v, **given)


@pytest.mark.parametrize("axes", ["world", "frame"])
def test_a_point_force_is_an_external_wrench(axes):
    """The same accelerations by f_ext; an input scales it, and is zero by default."""
    bare = machine(kt.forces.Drag).replace(forces=[])
    q, v = state(bare, 5)
    R, p = kt.pose(bare, q, frame="tip")
    f, m = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.2, -0.1])
    if axes == "frame":
        f, m = R @ f, R @ m
    f_ext = np.zeros((bare.nb, 6))
    f_ext[bare.frame("tip").body] = np.concatenate((m + np.cross(p + R @ POINT, f), f))
    tau = np.zeros(bare.nv)
    expected = kt.forward_dynamics(bare, q, v, tau, f_ext)
    push = kt.forces.PointForce("push", "tip", (1.0, -2.0, 0.5), POINT, (0.3, 0.2, -0.1), axes)
    np.testing.assert_allclose(kt.forward_dynamics(bare.with_forces(push), q, v, tau), expected, rtol=1e-9)
    push = kt.forces.PointForce("push", "tip", (0.5, -1.0, 0.25), POINT, (0.15, 0.1, -0.05), axes, scaled=True)
    scaled = bare.with_forces(push)
    np.testing.assert_allclose(kt.forward_dynamics(scaled, q, v, tau, u=[2.0]), expected, rtol=1e-9)
    assert not np.any(passive(scaled, q, v))


def test_a_force_that_follows_its_input_in_time(body):
    """m v' = F sin(w t): the velocity is F (1 - cos(w t)) / (m w)."""
    push = kt.forces.PointForce("push", "body", (0.0, 0.0, 1.0), scaled=True)
    model = body.with_forces(push)
    control = {"push.scale": lambda t: 3.0 * np.sin(5.0 * t)}
    run = kt.simulate(model, model.neutral(), duration=0.5, dt=1e-3, inputs=kt.Inputs(control=control))
    mass = kt.crba(model, model.neutral())[5, 5]
    np.testing.assert_allclose(run.v[:, 5], 3.0 * (1.0 - np.cos(5.0 * run.time)) / (5.0 * mass), atol=5e-3)
    assert run.energy_balance.work("force push") == pytest.approx(run.kinetic_energy[-1], rel=1e-2)


def test_damping_and_drag_of_a_body_by_their_closed_forms(body):
    """v0 exp(-d t / m) for viscous damping, v0 / (1 + c v0 t / m) for quadratic drag, the speed of the wind at last."""
    v0, t = np.array([0.0, 0.0, 0.0, 4.0, 0.0, 0.0]), 0.5
    mass = kt.crba(body, body.neutral())[5, 5]
    for force, expected in (
        (kt.forces.BodyDamping("air", "body", linear=0.7), 4.0 * np.exp(-0.7 * t / mass)),
        (kt.forces.Drag("air", "body", linear=0.7), 4.0 * np.exp(-0.7 * t / mass)),
        (kt.forces.Drag("air", "body", quadratic=0.3), 4.0 / (1.0 + 0.3 * 4.0 * t / mass)),
    ):
        run = kt.simulate(body.with_forces(force), body.neutral(), v0, duration=t, dt=5e-3)
        assert run.v[-1, 3] == pytest.approx(expected, rel=1e-9)
        assert run.energy_balance.work("force air") == pytest.approx(run.kinetic_energy[-1] - 8.0 * mass, rel=1e-4)
    wind = body.with_forces(kt.forces.Drag("air", "body", 50.0, 1.0, wind=(1.0, -2.0, 0.5)))
    run = kt.simulate(wind, wind.neutral(), v0, duration=2.0, dt=1e-2)
    np.testing.assert_allclose(run.v[-1], [0, 0, 0, 1.0, -2.0, 0.5], atol=1e-9)


def test_damping_by_axis_acts_in_the_frame():
    """Coefficients that differ are along the axes of the frame: the joint forces are J^T of the wrench."""
    model = machine(kt.forces.Drag).replace(forces=[kt.forces.BodyDamping("d", "tip", (1, 2, 3), (4, 5, 6))])
    q, v = state(model, 3)
    J = kt.jacobian(model, q, frame="tip", reference="local")
    np.testing.assert_allclose(passive(model, q, v), -J.T @ (np.arange(1.0, 7.0) * (J @ v)), atol=1e-12)


def test_a_bushing_has_the_energy_of_euler_parameters(body):
    """Against SciPy's quaternions at any rotation, also half turns; k sin(angle) about one axis."""
    k, kw = np.array([100.0, 200.0, 300.0]), np.array([3.0, 5.0, 11.0])
    mount = kt.forces.Bushing("mount", "world", "body", k, kw, start_at=(0.1, 0.2, 0.3), end_at=POINT)
    model = body.with_forces(mount)
    rng = np.random.default_rng(0)
    for q in (*(model.random_q(rng) for _ in range(10)), [1.0, 2.0, 3.0, 0.0, 0.6, 0.8, 0.0]):
        R, p = kt.pose(model, np.asarray(q, float), frame="body")
        d, e = p + R @ POINT - [0.1, 0.2, 0.3], Rotation.from_matrix(R).as_quat()[:3]
        expected = 0.5 * (k @ d**2 + kw @ (2.0 * e) ** 2)
        assert kt.dynamics.elastic_energy(model, q) == pytest.approx(expected, rel=1e-12)
    single = body.with_forces(kt.forces.Bushing("mount", "world", "body", 0.0, kw))
    for angle in (0.1, 1.0, 3.0, np.pi):
        q = kt.integrate(single, single.neutral(), [0.0, angle, 0.0, 0.0, 0.0, 0.0])
        expected = np.array([0.0, -5.0 * np.sin(angle), 0.0, 0.0, 0.0, 0.0])
        np.testing.assert_allclose(passive(single, q, np.zeros(6)), expected, atol=1e-14)


def test_a_bushing_dissipates_nothing_where_both_bodies_move_as_one():
    """Its rates are those of one body relative to the other; there D has the axes of the first frame."""
    model = machine(kt.forces.Bushing)
    (mount,) = model.elements
    mount = mount._with({"start": "b1", "end": "tip", "stiffness": 0.0, "turning_stiffness": 0.0})
    model = model.replace(forces=[mount])
    q, v = state(model, 1)
    v[[model.coordinate("j2"), model.coordinate("j3")]] = 0.0  # the joints between the two frames
    np.testing.assert_allclose(passive(model, q, v), 0.0, atol=1e-12)


def test_slopes_of_a_bushing_at_rest_are_its_coefficients(body):
    """Gauss-Newton slopes where the frames coincide, and positive semidefinite ones anywhere."""
    coefficients = np.arange(1.0, 7.0)
    mount = kt.forces.Bushing("mount", "world", "body", (4, 5, 6), (1, 2, 3), (4, 5, 6), (1, 2, 3))
    model = body.with_forces(mount)
    K, D = (np.array(x, float) for x in gauss_newton_slopes(model, model.neutral().tolist(), [0.0] * 6))
    np.testing.assert_allclose(K, np.diag(coefficients), atol=1e-14)
    np.testing.assert_allclose(D, np.diag(coefficients), atol=1e-14)
    rng = np.random.default_rng(1)
    for _ in range(10):
        K, _ = gauss_newton_slopes(model, model.random_q(rng).tolist(), rng.normal(size=6).tolist())
        assert np.linalg.eigvalsh(np.array(K, float)).min() > -1e-12


def test_a_spring_of_no_length_is_stiff_along_all_directions(body):
    """Energy k r.r / 2, force k r at the points; K is k on all translations, also where the points coincide."""
    spring = kt.forces.PointSpring("s", "world", "body", 30.0, start_at=(1.0, 0.0, 0.0), end_at=POINT)
    model = body.with_forces(spring)
    q = model.random_q(np.random.default_rng(2))
    R, p = kt.pose(model, q, frame="body")
    r = p + R @ POINT - [1.0, 0.0, 0.0]
    assert kt.dynamics.elastic_energy(model, q) == pytest.approx(15.0 * r @ r, rel=1e-12)
    f = -30.0 * R.T @ r
    np.testing.assert_allclose(passive(model, q, np.zeros(6)), np.concatenate((np.cross(POINT, f), f)), atol=1e-12)
    at_rest = body.with_forces(kt.forces.PointSpring("s", "world", "body", 30.0))
    K, _ = gauss_newton_slopes(at_rest, at_rest.neutral().tolist(), [0.0] * 6)
    np.testing.assert_allclose(np.array(K, float), np.diag([0.0] * 3 + [30.0] * 3), atol=1e-14)


def test_points_of_a_spring_are_those_of_frames():
    """Given by coordinates or by frames at these points, the forces are the same."""
    model = machine(kt.forces.Drag).replace(forces=[])
    b = kt.ModelBuilder.of(model)
    b.add_frame("p", "b1", (POINT, (0, 0, 0)))
    b.add_frame("q", "b3", ((-0.4, 0.2, 0.1), (0, 0, 0)))
    model = b.build()
    q, v = state(model, 2)
    by_frames = kt.forces.PointSpring("s", "p", "q", 30.0, 0.5, 2.0)
    by_points = kt.forces.PointSpring("s", "b1", "b3", 30.0, 0.5, 2.0, POINT, (-0.4, 0.2, 0.1))
    mine, theirs = (passive(model.with_forces(s), q, v) for s in (by_points, by_frames))
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-13)


def test_an_inverse_square_force_keeps_an_orbit(body):
    """A circular orbit closes after 2 pi sqrt(r^3 / mu)."""
    mass = kt.crba(body, body.neutral())[5, 5]
    model = body.with_forces(kt.forces.InverseSquareForce("sun", "world", "body", 4.0 * mass))
    q = kt.integrate(model, model.neutral(), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    v = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 0.0])
    run = kt.simulate(model, q, v, duration=np.pi, dt=np.pi / 1000)
    np.testing.assert_allclose(run.q[-1], q, atol=1e-8)
    assert np.ptp(run.energy) < 1e-9 * mass and run.energy[0] == pytest.approx(mass * (2.0 - 4.0))


def test_impossible_elements_are_named():
    """Negative coefficients, numbers that are not finite, points of another size, unknown axes."""
    forces, error = kt.forces, kt.errors.ArgumentError
    negative, numbers = "expected a finite number that is not negative", "expected three finite numbers"
    for make, message in (
        (lambda: forces.PointSpring("s", "a", "b", -1.0), f"PointSpring 's': stiffness is -1.0, {negative}"),
        (lambda: forces.PointSpring("s", "a", "b", 1.0, -0.1), f"PointSpring 's': rest_length is -0.1, {negative}"),
        (lambda: forces.PointSpring("s", "a", "b", 1.0, 0.1, -2), f"PointSpring 's': damping is -2, {negative}"),
        (lambda: forces.PointSpring("s", "a", "b", np.nan), "PointSpring 's': stiffness is nan"),
        (lambda: forces.PointSpring("s", "a", "b", 1.0, start_at=(1, 2)), r"'s': start_at is \(1, 2\), expected"),
        (lambda: forces.Drag("d", "a", quadratic=-1.0), f"Drag 'd': quadratic is -1.0, {negative}"),
        (lambda: forces.Drag("d", "a", wind=(0, 0, np.inf)), f"Drag 'd': wind is .*, {numbers}"),
        (lambda: forces.BodyDamping("d", "a", (1, -1, 1)), r"BodyDamping 'd': angular is \(1, -1, 1\), expected a"),
        (lambda: forces.Bushing("m", "a", "b", 1, -2.0), "Bushing 'm': turning_stiffness is -2.0, expected a finite"),
        (lambda: forces.PointForce("f", "a", (0, 0, np.nan)), f"PointForce 'f': vector is .*, {numbers}"),
        (lambda: forces.PointForce("f", "a", (0, 0, 1), axes="body"), "PointForce 'f': axes is 'body'"),
        (lambda: forces.InverseSquareForce("g", "a", "b", "1"), "InverseSquareForce 'g': strength is '1', expected"),
        (lambda: forces.BoxDrag("w", "a", (1, -1, 1)), r"BoxDrag 'w': size is .*, expected three edges"),
        (lambda: forces.BoxDrag("w", "a", (1, 1, 1), orientation=(1, 1, 0, 0)), "'w': orientation .* its length"),
        (lambda: forces.EllipsoidDrag("w", "a", (1, 0, 1)), "'w': semiaxes is .*, expected three positive lengths"),
        (lambda: forces.BoxDrag.of_bodies(3), "BoxDrag.of_bodies: model is 3"),
        (lambda: forces.PointSpring(3, "a", "b", 1.0), "PointSpring: name is 3"),
        (lambda: forces.RotationStop("s", "a", 4.0), "RotationStop 's': angle is 4.0, expected a rotation from 0"),
        (lambda: forces.RotationStop("s", "a", 1.0, -1.0), f"RotationStop 's': stiffness is -1.0, {negative}"),
    ):
        with pytest.raises((error, kt.errors.UnknownNameError), match=message):
            make()
    model = kt.models.pendulum()
    with pytest.raises(kt.errors.UnknownNameError, match="Drag 'd': no frame named 'hand'"):
        model.with_forces(forces.Drag("d", "hand"))
    for line in (forces.PointSpring, forces.InverseSquareForce):
        with pytest.raises(kt.errors.ModelError, match=r"'s': its line collapses: both .* \(1.0, 0.0, 0.0\)"):
            line("s", "bob", "bob", 1.0, start_at=(1, 0, 0), end_at=(1, 0, 0))
    with pytest.raises(kt.errors.ModelError, match="RotationStop 's': joint '.*' is Revolute.*, expected a spher"):
        model.with_forces(forces.RotationStop("s", model.joint_names[0], 1.0))


def test_box_drag_is_mujocos_fluid():
    """Accelerations of a swimming tree with tilted inertias, in wind: density and viscosity on all bodies."""
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><compiler angle="radian"/><option {} gravity="0 0 0"/><worldbody>
      <body name="a"><freejoint name="a"/><inertial mass="1.5" pos=".1 .2 .3" fullinertia=".2 .3 .4 .02 .03 .01"/>
        <body name="b" pos="0 0 -.8" euler=".3 .2 .1"><joint name="b" axis="1 1 0" pos=".1 0 .2"/>
          <inertial mass=".7" pos=".1 0 .2" fullinertia=".02 .03 .04 .002 .003 .001"/></body></body>
      </worldbody></mujoco>"""
    fluid = 'density="900" viscosity="0.7" wind="0.3 -0.2 0.5"'
    mj = mujoco.MjModel.from_xml_string(text.format(fluid))
    data, bare = mujoco.MjData(mj), kt.io.load_mjcf(text.format(""))
    model = bare.with_forces(*kt.forces.BoxDrag.of_bodies(bare, 900.0, 0.7, (0.3, -0.2, 0.5)))
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = model.random_state(rng)
        theirs = kt.conventions.to_mujoco(model, mj, q=q, v=v, a=kt.forward_dynamics(model, q, v, np.zeros(7)))
        data.qpos[:], data.qvel[:] = theirs["q"], theirs["v"]
        mujoco.mj_forward(mj, data)
        np.testing.assert_allclose(theirs["a"], data.qacc, atol=1e-10 * np.abs(data.qacc).max())


def test_fluids_and_compensation_of_files_are_mujocos():
    """Ellipsoids of all shapes with coefficients of their own, boxes, wind, gravcomp: passive forces, accelerations."""
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><compiler angle="radian"/><option density="900" viscosity="0.7" wind=".3 -.2 .5"/><worldbody>
      <body name="a"><freejoint name="a"/><geom name="g" type="ellipsoid" size=".1 .2 .3" mass="2" pos=".1 .2 .3"
        fluidshape="ellipsoid" euler=".3 .4 .5" fluidcoef=".4 .2 1.1 .8 .9"/>
      <geom type="sphere" size=".1" fluidshape="ellipsoid" pos="0 .5 0" mass="1"/>
      <body name="b" pos="0 0 -.8" euler=".3 .2 .1" gravcomp=".6"><joint name="b" axis="1 1 0"/>
        <joint name="c" axis="0 1 0"/>
        <geom type="capsule" size=".05 .2" mass="1" fluidshape="ellipsoid" pos=".05 0 0"/>
      <body name="d" pos="0 0 -.3" gravcomp="1"><joint name="d" axis="0 0 1" pos=".2 .1 0"/>
        <inertial mass=".7" pos=".1 0 .2" fullinertia=".02 .03 .04 .002 .003 .001"/></body></body></body>
      </worldbody></mujoco>"""
    mj, model = mujoco.MjModel.from_xml_string(text), kt.io.load_mjcf(text)
    data, rng = mujoco.MjData(mj), np.random.default_rng(1)
    kinds = [type(force).__name__ for force in model.forces]
    assert [kinds.count(name) for name in ("EllipsoidDrag", "BoxDrag", "PointForce")] == [3, 1, 2]
    for _ in range(4):
        q, v = model.random_state(rng)
        theirs = kt.conventions.to_mujoco(model, mj, q=q, v=v, a=kt.forward_dynamics(model, q, v, np.zeros(model.nv)))
        data.qpos[:], data.qvel[:] = theirs["q"], theirs["v"]
        mujoco.mj_forward(mj, data)
        np.testing.assert_allclose(theirs["a"], data.qacc, atol=1e-11 * np.abs(data.qacc).max())
        passive = kt.conventions.from_mujoco(model, mj, q=data.qpos, tau=data.qfrc_fluid + data.qfrc_gravcomp)["tau"]
        ours = kt.dynamics.passive_joint_forces(model, q, v)
        np.testing.assert_allclose(ours, passive, atol=1e-12 * np.abs(passive).max())


def test_fluids_compensation_and_higher_orders_are_written():
    """Written and read again: the same passive forces; what the format does not hold is refused by name."""
    pytest.importorskip("mujoco")
    text = """<mujoco><option density="90" viscosity=".7" wind=".3 -.2 .5"/><worldbody>
      <body name="a" gravcomp=".3"><freejoint name="a"/>
        <inertial mass="1.5" pos=".1 .2 .3" fullinertia=".2 .3 .4 .02 .03 .01"/>
        <body name="b" pos="0 0 -.8" euler="9 8 7" gravcomp="1">
          <joint name="b" axis="1 1 0" pos=".2 .1 0" stiffness="2 .4 .3" springref="10" damping=".1 .2"/>
          <inertial mass=".7" pos=".1 0 .2" fullinertia=".02 .03 .04 .002 .003 .001"/></body></body>
      </worldbody></mujoco>"""
    model = kt.io.load_mjcf(text)
    again = kt.io.load_mjcf(kt.io.to_mjcf(model))
    assert [force.name for force in again.own_elements] == [force.name for force in model.own_elements]
    assert len(model.own_elements) == 5
    for seed in range(3):
        q, v = model.random_state(np.random.default_rng(seed))
        with kt.interpreted():
            found, expected = (kt.dynamics.passive_joint_forces(m, q, v) for m in (again, model))
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())
    box, weight = (next(f for f in model.own_elements if f.name.startswith(x)) for x in ("fluid", "gravcomp"))
    for changed in (replace(box, size=(0.1, 0.2, 0.3)), replace(box, density=1.0), replace(weight, vector=(1.0, 0, 0)),
                    replace(weight, at=(0.0, 0.0, 0.0))):  # fmt: skip
        others = [changed if f.name == changed.name else f for f in model.own_elements]
        with pytest.raises(kt.errors.UnsupportedError, match=f"force elements .*'{changed.name}'"):
            kt.io.to_mjcf(model.replace(forces=[*(f for f in model.forces if isinstance(f, JointForce)), *others]))


@pytest.mark.parametrize("axes", [(0.1, 0.2, 0.3), (0.05, 0.05, 0.25), (0.2, 0.2, 0.2)])
def test_added_mass_of_ellipsoids(axes):
    """MuJoCo's quadrature to its six digits; half the displaced mass of a sphere."""
    mujoco = pytest.importorskip("mujoco")
    size = " ".join(map(str, axes))
    text = f'<mujoco><worldbody><body><freejoint/><geom type="ellipsoid" size="{size}" fluidshape="ellipsoid"/></body>'
    fluid = mujoco.MjModel.from_xml_string(text + "</worldbody></mujoco>").geom_fluid[0]
    drag = kt.forces.EllipsoidDrag("w", "a", axes)
    np.testing.assert_allclose([*drag.virtual_mass, *drag.virtual_inertia], fluid[6:], rtol=1e-5, atol=1e-12)
    if len(set(axes)) == 1:
        np.testing.assert_allclose(drag.virtual_mass, 2 / 3 * np.pi * axes[0] ** 3)


@pytest.mark.parametrize("damping", [0.0, 1e6])
def test_stiff_bushings_do_not_make_the_implicit_step_unstable(body, damping):
    """1e9 N/m and 1e8 N m/rad, from a rotation of 3 rad, in steps of 10 ms: the energy never exceeds the first."""
    mount = kt.forces.Bushing("b", "world", "body", (1e9, 2e9, 5e8), (1e8, 3e7, 2e8), damping, 0.1 * damping)
    model = body.with_forces(mount)
    step = kt.compile(model, "semi_implicit_step")
    q = kt.integrate(body, body.neutral(), [3.0, 0.2, 0.1, 0.1, 0.2, 0.3])
    v, energies = np.array([1.0, -1.0, 0.5, 0.3, 0.2, 0.1]), []
    for _ in range(200):
        energies.append(kt.kinetic_energy(model, q, v) + kt.dynamics.elastic_energy(model, q))
        q, v = step(q, v, np.zeros(6), 1e-2)
    assert max(energies) == energies[0] and energies[-1] < 1e-3 * energies[0]
