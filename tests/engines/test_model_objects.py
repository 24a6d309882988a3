"""Models to and from objects of Pinocchio and MuJoCo: their own results are those of the model here."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnsupportedError
from tests.engines.robots import ROBOTS, robot_path

pin = pytest.importorskip("pinocchio")
mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-12  # of the largest entry: some thousand roundings, of two algorithms
ROBOT_NAMES = ("panda", "ur5", "anymal_b", "talos_reduced")


def close(a, b) -> bool:
    return np.abs(np.asarray(a) - np.asarray(b)).max(initial=0.0) <= TOLERANCE * max(1.0, np.abs(a).max(initial=0.0))


def pinocchio_of(robot: str):
    path, floating = robot_path(robot), ROBOTS[robot].floating_base
    root = {"ur5": pin.JointModelPlanar()}.get(robot, pin.JointModelFreeFlyer() if floating else None)  # a mobile base
    return pin.buildModelFromUrdf(path) if root is None else pin.buildModelFromUrdf(path, root)


def check_pinocchio(model, there, seed: int) -> None:
    """Mass matrix, bias forces and all frames at a random state."""
    maps, data, rng = kt.conventions.Pinocchio(model, there), there.createData(), np.random.default_rng(seed)
    pin.seed(seed)
    span = 3.0 * np.ones(there.nq)
    q, v = maps.q_from(pin.randomConfiguration(there, -span, span)), rng.standard_normal(model.nv)
    q_there, v_there, a_there = maps.q_to(q), maps.v_to(q, v), maps.a_to(q, v, np.zeros(model.nv))
    with kt.interpreted():
        assert close(kt.crba(model, q), maps.M_from(q, pin.crba(there, data, q_there)))
        bias = pin.rnea(there, data, q_there, v_there, a_there)
        assert close(kt.bias_forces(model, q, v), maps.tau_from(q, bias))
        pin.framesForwardKinematics(there, data, q_there)
        names, checked = {frame.name for frame in model.frames}, 0
        for frame in there.frames:
            if str(frame.type) != "JOINT" and frame.name in names - {"world"}:  # here the ground, in ur5 a link
                R, p = kt.pose(model, q, frame=frame.name)
                place = data.oMf[there.getFrameId(frame.name, frame.type)]
                assert close(R, place.rotation) and close(p, place.translation), frame.name
                checked += 1
        assert checked >= there.njoints - 1


def check_mujoco(model, there, seed: int) -> None:
    """Mass matrix, bias forces and all bodies at a random state."""
    maps, data, rng = kt.conventions.MuJoCo(model, there), mujoco.MjData(there), np.random.default_rng(seed)
    q, v = kt.normalize(model, rng.standard_normal(model.nq)), rng.standard_normal(model.nv)
    data.qpos[:], data.qvel[:] = maps.q_to(q), maps.v_to(q, v)
    mujoco.mj_forward(there, data)
    M = np.empty((there.nv, there.nv))
    mujoco.mj_fullM(there, data, M)
    with kt.interpreted():
        assert close(kt.crba(model, q), maps.M_from(q, M))
        bias = data.qfrc_bias + M @ maps.a_to(q, v, np.zeros(model.nv))
        assert close(kt.bias_forces(model, q, v), maps.tau_from(q, bias))
        for i in model.outward():
            R, p = kt.pose(model, q, frame=model.body_names[i])
            body = data.body(model.body_names[i])
            assert close(R, body.xmat.reshape(3, 3)) and close(p, body.xpos)


def unusual_joints():
    """Joints of every kind in Pinocchio, composite ones with and without placements between their parts."""
    pin.seed(1)
    apart = pin.JointModelComposite(pin.JointModelRX(), pin.SE3.Random())
    apart.addJoint(pin.JointModelSpherical(), pin.SE3.Random())
    apart.addJoint(pin.JointModelPZ(), pin.SE3.Random())
    row = pin.JointModelComposite(pin.JointModelRUBY(), pin.SE3.Random())
    row.addJoint(pin.JointModelSpherical(), pin.SE3.Identity())
    x, y, z = np.eye(3)
    oblique = np.array([0.6, 0.0, 0.8])
    there, j = pin.Model(), 0
    there.name = "unusual"
    for k, joint in enumerate((
        pin.JointModelPlanar(), apart, row, pin.JointModelRUBY(), pin.JointModelSphericalZYX(),
        pin.JointModelHelicalUnaligned(oblique, 0.2), pin.JointModelUniversal(x, y), pin.JointModelUniversal(y, z),
        pin.JointModelTranslation(), pin.JointModelEllipsoid(0.1, 0.2, 0.3), pin.JointModelRevoluteUnaligned(oblique),
        pin.JointModelPrismaticUnaligned(oblique), pin.JointModelHZ(0.1), pin.JointModelFreeFlyer(),
    )):  # fmt: skip
        j = there.addJoint(0 if k == 5 else j, joint, pin.SE3.Random(), f"joint{k}")
        there.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
        there.addFrame(pin.Frame(f"frame{k}", j, 0, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    there.armature[:] = np.linspace(0.0, 1.0, there.nv)
    there.referenceConfigurations["ready"] = pin.randomConfiguration(there, -np.ones(there.nq), np.ones(there.nq))
    return there


@pytest.mark.parametrize("robot", ROBOT_NAMES)
def test_robots_from_pinocchio_and_back(robot):
    """A robot of Pinocchio here, and that model there again."""
    there = pinocchio_of(robot)
    model = kt.load(there, inertia="accept")
    assert [*there.names][1:] == [model.joint_name(i) for i in model.outward()] and model.report is not None
    check_pinocchio(model, there, 1)
    check_pinocchio(model, kt.io.to_pinocchio(model), 2)


def test_all_joints_from_pinocchio_and_back():
    """Composite joints become chains where their parts are apart; keyframes, armature and limits survive."""
    there = unusual_joints()
    model = kt.load(there, inertia="accept")
    check_pinocchio(model, there, 1)
    again = kt.io.to_pinocchio(model)
    check_pinocchio(model, again, 2)
    assert {"joint1.1", "joint1.2", "joint1.3", "joint2"} < set(model.joint_names)
    ready = there.referenceConfigurations["ready"]
    maps = kt.conventions.Pinocchio(model, there)
    assert close(maps.q_to(model.keyframe("ready")[0]), ready)
    back = kt.conventions.Pinocchio(model, again)
    assert close(back.q_from(again.referenceConfigurations["ready"]), model.keyframe("ready")[0])


def test_numbers_of_joints_from_pinocchio_and_back():
    """Limits, friction, damping and armature, of which none acts in Pinocchio's dynamics but the armature."""
    model = kt.load("arm7")
    again = kt.load(kt.io.to_pinocchio(model, unsupported="drop"))  # the coupling of its fingers
    for what in ("lower", "upper", "velocity_limit", "effort_limit", "damping", "dry_friction", "armature"):
        assert np.array_equal(getattr(again, what), getattr(model, what)), what
    assert again.body_names == model.body_names and {f.name for f in again.frames} == {f.name for f in model.frames}
    assert np.array_equal(again.gravity, model.gravity)


def test_shapes_from_pinocchio():
    """Shapes of a geometry model lie where they lie there."""
    text = kt.io.to_urdf(kt.load("arm7"))
    there = pin.buildModelFromXML(text)
    shapes = pin.buildGeomFromUrdfString(there, text, pin.GeometryType.VISUAL)
    model = kt.load(there, visual=shapes)
    mine = {shape.name: shape for body in model.geometry for shape in body}
    assert len(mine) == len(shapes.geometryObjects) > 0
    for item in shapes.geometryObjects:
        shape = mine[item.name]
        assert close(shape.R_BG, item.placement.rotation) and close(shape.p_BG, item.placement.translation)
        assert shape.role == "visual" and shape.kind in type(item.geometry).__name__.lower()


def test_unknown_joints_are_refused_by_name():
    """A mimic joint does not tell Python which joint it is; a spline joint does not exist in Pinocchio."""
    there = pin.Model()
    first = there.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "leader")
    there.appendBodyToJoint(first, pin.Inertia.Random(), pin.SE3.Identity())
    there.addJoint(first, pin.JointModelMimic(there.joints[first], 2.0, 0.0), pin.SE3.Identity(), "follower")
    with pytest.raises(UnsupportedError, match="joint 'follower'.*JointModelMimic.*mimic=False"):
        kt.load(there)
    builder = kt.ModelBuilder("rack")
    builder.add_body("pinion", joint=kt.joints.RackAndPinion(0.4), mass=1.0, inertia=(1.0, 1.0, 1.0))
    with pytest.raises(UnsupportedError, match="joint 'pinion'"):
        kt.io.to_pinocchio(builder.build())
    sprung = kt.ModelBuilder("sprung")
    sprung.add_body("rod", joint=kt.joints.Revolute(), mass=1.0, inertia=(1.0, 1.0, 1.0), stiffness=1.0)
    with pytest.raises(UnsupportedError, match="stiffness .joint 'rod"):
        kt.io.to_pinocchio(sprung.build())
    assert kt.io.to_pinocchio(sprung.build(), unsupported="drop").nv == 1


def mobile_base():
    builder = kt.ModelBuilder("mobile")
    builder.add_body("rail", joint=kt.joints.Prismatic((1, 0, 0)))
    builder.add_body("cart", "rail", kt.joints.Prismatic((0, 1, 0)))
    builder.add_body("base", "cart", kt.joints.Revolute(), mass=40.0, inertia=(1.0, 1.0, 2.0))
    return builder.build()


def test_specifications_of_mujoco():
    """A specification is read as compiled, and stays as it was; a mesh keeps its file."""
    spec = mujoco.MjSpec.from_string(kt.io.to_mjcf(kt.load("quadruped", floating_base=True)))
    spec.body("trunk").mass = 10.0
    before = spec.to_xml()
    model = kt.load(spec, name="heavy")
    assert model.name == "heavy" and model.I[model.body("trunk")].m == 10.0 and spec.to_xml() == before
    assert model.body_names == kt.load("quadruped", floating_base=True).body_names
    with pytest.raises(kt.errors.UnknownNameError, match="package_dirs"):
        kt.load(spec, package_dirs=".")
    with pytest.raises(UnsupportedError, match="isolate"):
        kt.load(spec, isolate=True)


@pytest.mark.parametrize("robot", ROBOT_NAMES)
def test_robots_to_mujoco_and_back(robot):
    """A model in MuJoCo, and MuJoCo's compiled model here again."""
    model = kt.load(robot_path(robot), floating_base=ROBOTS[robot].floating_base, inertia="project", unsupported="drop")
    if robot == "ur5":
        model = kt.surgery.attach(mobile_base(), model, at="base", prefix="arm_")
    there = kt.io.to_mujoco(model, meshes="drop", unsupported="drop")
    check_mujoco(model, there, 1)
    check_mujoco(kt.load(there), there, 2)
