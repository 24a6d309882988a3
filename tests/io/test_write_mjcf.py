"""MJCF files written from models: reading them gives the models again; what the format does not support is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnsupportedError
from kinetree.io.mjcf.write import mjcf_text
from kinetree.io.mjcf.write_inertia import principal
from kinetree.joints import (
    Composite,
    Cylindrical,
    Ellipsoid,
    Fixed,
    Free,
    FreeLocal,
    FreeSplit,
    Helical,
    Planar,
    PlanarLocal,
    PlanarSplit,
    Prismatic,
    Reversed,
    Revolute,
    Spherical,
    SphericalEuler,
    SphericalExponential,
    Translational,
    Universal,
)
from kinetree.model.equipment import (
    Actuator,
    Equality,
    Equipment,
    Keyframe,
    LoopJoint,
    RotationLimit,
    Tendon,
)
from kinetree.model.parts import Geometry, transform_of_pose
from kinetree.tendons import JointTerm, Pulley, ViaPoint, WrapShape
from tests.io.models_alike import assert_alike, assert_shapes_alike
from tests.io.random_models import random_model
from tests.io.round_trips import SNAPPED, dynamics_differ

BODY = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.12, 0.15)}


def arm(joint=None, **data):
    """Two bodies on revolute joints, or the first on another."""
    b = kt.ModelBuilder("arm")
    b.add_body("upper", joint=joint or Revolute((0, 1, 0)), joint_name="shoulder", **BODY, **data)
    b.add_body("lower", "upper", Revolute((0, 1, 0)), "elbow", ((0, 0, -1), (0.1, 0.2, 0.3)), **BODY)
    return b


def read(model):
    """Written and read, and the report of writing."""
    text, report = mjcf_text(model)
    return kt.load(text), str(report)


@pytest.mark.parametrize("seed", range(12))
def test_read_again_is_the_model(seed):
    """Writing and reading is the identity on bodies, joints, numbers, frames, couplings and shapes."""
    model = random_model("mjcf", seed)
    again, _ = read(model)
    assert_alike(again, model)
    for ours, theirs in zip(again.geometry, model.geometry, strict=True):
        assert [(g.kind, g.role, g.name) for g in ours] == [(g.kind, g.role, g.name) for g in theirs]
        for g, h in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(g.R_BG, h.R_BG, rtol=0, atol=4e-15)
            np.testing.assert_allclose(g.p_BG, h.p_BG, rtol=1e-15, atol=1e-15)
            np.testing.assert_allclose(g.size, h.size, rtol=1e-15)


@pytest.mark.parametrize("name", kt.data.robots())
def test_shipped_robots(name):
    """With a free base too, they come back, and writing once more gives the same text."""
    for floating in (False, True):
        model = kt.load(name, floating_base=floating).replace(velocity_limit=np.inf)
        text = kt.io.to_mjcf(model)
        assert_alike(kt.load(text), model)
        assert kt.io.to_mjcf(kt.load(text)) == text


CHAINS = """<mujoco model="chains"><compiler angle="radian"/><worldbody>
  <body name="planar" pos="0 0 1"><joint name="x" type="slide" axis="1 0 0" ref="0.25"/>
    <joint name="z" type="slide" axis="0 0 1" ref="1.25"/><joint name="y" axis="0 1 0" pos="0 0 0.1" ref="0.5"/>
    <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <body name="leg" pos="0.1 0 -0.2"><joint name="a" axis="1 0 0" pos="0 0 0.3" springref="0.2" stiffness="2"/>
      <joint name="b" axis="0 1 0" pos="0 0.1 0.3" ref="-0.5"/><joint name="c" axis="0 0.6 0.8" pos="0.2 0 0"/>
      <inertial pos="0.1 0 0" mass="2" diaginertia="1 2 2.5"/><site name="foot" pos="0 0 -0.5"/>
      <body name="boot" pos="0 0 -0.4"><geom size="0.1" mass="0.5"/></body></body></body>
  <body name="free" pos="1 2 3" quat="1 1 0 0"><freejoint name="root"/><geom size="0.1"/>
    <body name="ball" pos="0 0 1"><geom size="0.1"/>
      <joint name="socket" type="ball" pos="0 0 0.1" range="0 1" limited="true" damping="1"/></body></body>
  <geom name="floor" type="plane" size="1 1 1"/></worldbody>
  <equality><joint joint1="a" joint2="b" polycoef="0.1 2 0 0 0"/>
    <joint name="curve" joint1="c" joint2="b" polycoef="0.1 2 3 0 0"/></equality>
  <keyframe><key name="up" qpos="1 2 3 0.1 0.2 0.3 1 2 3 1 0 1 0 0 1 0 0"
    qvel="0 0 0 0 0 0 1 2 3 4 5 6 0 0 0"/></keyframe>
</mujoco>"""


def test_several_joints_on_a_body():
    """Anchors, references, chains of joints and the bodies' own frames come back, as do states and limits."""
    model = kt.load(CHAINS)
    again, report = read(model)
    assert report == "nothing to report"
    assert_alike(again, model)
    assert_shapes_alike(again, model)
    assert again.keyframes == model.keyframes == ("up", "initial")
    for key in model.keyframes:
        for ours, theirs in zip(again.keyframe(key), model.keyframe(key), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=4e-15)
    assert again.equalities == model.equalities
    assert again.body_names[1:4] == ("planar/x", "planar/z", "planar")


def test_mujoco_computes_what_it_computed_before():
    """MuJoCo's own dynamics of the original and of the rewritten file agree at the keyframe."""
    M, bias = [], []
    for text in (CHAINS, kt.io.to_mjcf(kt.load(CHAINS))):
        m = mujoco.MjModel.from_xml_string(text)
        d = mujoco.MjData(m)
        mujoco.mj_resetDataKeyframe(m, d, 0)
        mujoco.mj_forward(m, d)
        full = np.empty((m.nv, m.nv))
        mujoco.mj_fullM(m, d, full)
        M.append(full)
        bias.append(d.qfrc_bias + 0.0)
    np.testing.assert_allclose(M[1], M[0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(bias[1], bias[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("limits", [(-1.0, 1.0), (-math.inf, 1.0), (0.0, math.inf), (-math.inf, math.inf)])
def test_limits(limits):
    """On no, one or both sides."""
    again, _ = read(arm(lower=limits[0], upper=limits[1]).build())
    assert (again.lower[0], again.upper[0]) == limits


IN_A_ROW = [
    Universal(), Cylindrical((1, 2, 3)), SphericalEuler("zyx"), SphericalEuler("xyx"), Translational(),
    PlanarSplit("rotation"), Composite((Revolute((1, 2, 3)), Reversed(Prismatic((0, 1, 0))))),
    Composite((Prismatic(), Composite((Universal(), Translational())))),
]  # fmt: skip


@pytest.mark.parametrize("joint", IN_A_ROW)
def test_joints_made_of_hinges_and_slides(joint):
    """They are written in a row and reported; the mass matrix and the bias stay what they are."""
    model = arm(joint).build()
    again, report = read(model)
    assert f"written as {joint.nv} joints" in report
    assert dynamics_differ(again, model) < 1e-13


def test_planar_joint_as_three():
    """Two slides and a hinge: the same energy at the same place and rate."""
    model = arm(Planar()).build()
    again, report = read(model)
    assert "x, y, angle" in report
    q, v = np.array([0.4, 0.7, -0.2, 0.3]), np.array([1.0, 0.3, 0.2, -0.5])
    rate = kt.q_dot(model, q, v)
    other = [1, 2, 0, 3]
    energy = kt.kinetic_energy(model, q, v)
    np.testing.assert_allclose(kt.kinetic_energy(again, q[other], rate[other]), energy, rtol=1e-13)
    with pytest.raises(UnsupportedError, match="damping of planar joints"):
        kt.io.to_mjcf(arm(Planar(), damping=1.0).build())


def test_split_planar_joint_as_three():
    """Its v is the rate of its q, so that damping can be written; the order becomes x, y, angle."""
    model = arm(PlanarSplit("translation"), damping=(1.0, 2.0, 3.0)).build()
    again, report = read(model)
    assert "q and v have the order x, y, angle" in report
    q, v, other = np.array([0.4, 0.7, -0.2, 0.3]), np.array([1.0, 0.3, 0.2, -0.5]), [1, 2, 0, 3]
    tau = kt.inverse_dynamics(model, q, v, v)
    np.testing.assert_allclose(kt.inverse_dynamics(again, q[other], v[other], v[other]), tau[other], atol=1e-13)


def test_reversed_joints_turn_their_axis():
    """The same mass matrix and bias."""
    model = arm(Reversed(Revolute((1, 2, 3)))).build()
    assert dynamics_differ(read(model)[0], model) < 1e-13


@pytest.mark.parametrize(
    "joint",
    [
        Helical(pitch=0.1), Reversed(Free()), FreeLocal(), FreeSplit(), PlanarLocal(), SphericalExponential(),
        Ellipsoid((1.0, 2.0, 3.0)), Composite((Planar(), Prismatic())), Composite((Spherical(), Prismatic())),
    ],
)  # fmt: skip
def test_joints_that_mjcf_does_not_have(joint):
    """They cannot be left out, so they are refused by name."""
    with pytest.raises(UnsupportedError, match="'shoulder'"):
        kt.io.to_mjcf(arm(joint).build(), unsupported="drop")


def test_free_joint_off_the_world():
    """MuJoCo has free joints on the world alone."""
    b = arm()
    b.add_body("drone", "lower", Free(), **BODY)
    with pytest.raises(UnsupportedError, match="'drone'"):
        kt.io.to_mjcf(b.build())


def test_free_joint_with_a_placement():
    """Its q becomes the pose in the world; keyframes are converted, and the report warns."""
    b = kt.ModelBuilder("placed")
    b.add_body("drone", joint=Free(), placement=((1, 2, 3), (0.1, 0.2, 0.3)), **BODY)
    up = Keyframe("up", {"drone": (1, 0, 0, 0.6, 0.8, 0, 0)}, {"drone": (1, 2, 3, 4, 5, 6)})
    b.equipment = Equipment(keyframes=(up,))
    model = b.build()
    again, report = read(model)
    assert "pose in the world" in report
    poses = (kt.forward_kinematics(m, m.keyframe("up")[0]) for m in (again, model))
    for ours, theirs in zip(*poses, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)
    np.testing.assert_allclose(again.keyframe("up")[1], model.keyframe("up")[1], atol=1e-14)


def test_what_mujoco_refuses_of_inertias():
    """Massless bodies, points and rods get the smallest numbers that MuJoCo takes, with a warning each."""
    b = kt.ModelBuilder("thin")
    b.add_body("cross", joint=Revolute((1, 0, 0)))
    b.add_body("point", "cross", Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -1))
    b.add_body(
        "rod",
        "point",
        Revolute((0, 1, 0)),
        placement=((0, 0, -1), (0.1, 0.7, 0.3)),
        mass=1.0,
        com=(0, 0, -1),
        inertia=((0.5, 0.1, 0.0), (0.1, 0.5, 0.0), (0.0, 0.0, 1.0)),
    )
    model = b.build()
    again, report = read(model)
    assert "'cross': has no mass" in report and "'point': moments" in report and "'rod'" not in report
    assert again.body_names == model.body_names
    assert dynamics_differ(again, model) < 1e-13


def test_impossible_inertia():
    """MuJoCo refuses it; dropping it means the nearest possible one."""
    b = kt.ModelBuilder("odd", accept_impossible_inertia=True)
    b.add_body("link", joint=Revolute((1, 0, 0)), mass=1.0, inertia=(1, 1, 3))
    with pytest.raises(UnsupportedError, match="'link': principal moments"):
        kt.io.to_mjcf(b.build())
    assert kt.load(kt.io.to_mjcf(b.build(), unsupported="drop")).I[1].I.xx == pytest.approx(1.5)


def test_principal_axes_are_near_the_body():
    """Moments and axes give the tensor back within 2e-15 of it, also where two or three moments are equal."""
    rng = np.random.default_rng(2)
    for moments in [(1, 2, 2.5), (1, 1, 1.5), (1, 1, 1), (1, 1 + 1e-9, 1.5), (1e-6, 1, 1)]:
        for _ in range(10):
            Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            I = (Q * moments) @ Q.T
            I = 0.5 * (I + I.T)
            found, q = principal(I)
            m = mujoco.MjModel.from_xml_string(
                f'<mujoco><worldbody><body quat="{" ".join(map(repr, q or (1, 0, 0, 0)))}"/></worldbody></mujoco>'
            )
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, m.body_quat[1])
            R = R.reshape(3, 3)
            np.testing.assert_allclose((R * found) @ R.T, I, rtol=0, atol=4e-15 * max(moments))


@pytest.mark.parametrize("turn", [0.0, 1e-9, 1e-8, 5e-7])
@pytest.mark.parametrize("offset", [0.0, 1e-9, 5e-7, 0.1])
def test_small_offsets_of_inertia_are_not_left_out_by_mujoco(turn, offset):
    """MuJoCo takes an inertial frame within 1e-6 of the body's for that one; the file must not lead it there."""
    c, s = math.cos(turn), math.sin(turn)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    I = (R * (1e-5, 2e-5, 2.5e-5)) @ R.T
    b = kt.ModelBuilder("tilted")
    b.add_body("link", joint=Spherical(), mass=0.01, com=(0.0, offset, 0.0), inertia=0.5 * (I + I.T))
    model = b.build()
    m = mujoco.MjModel.from_xml_string(kt.io.to_mjcf(model))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    M = np.empty((3, 3))
    mujoco.mj_fullM(m, d, M)
    # A few roundings of entries of 1e-5 to 1e-4; the turns and offsets above make differences of 1e-14 to 1e-11.
    np.testing.assert_allclose(M, kt.crba(model, model.neutral()), rtol=0, atol=1e-18 if offset < 0.1 else 1e-17)
    exact = turn == 0.0 and offset in (0.0, 0.1)
    assert exact or int(m.body_sameframe[1]) == 0


def test_no_mass_is_read_from_shapes():
    """Shapes of any size do not add to the inertia that is stated."""
    model = arm(geometry=[Geometry("box", (1, 2, 3)), Geometry("sphere", (4,), role="visual")]).build()
    assert_alike(read(model)[0], model)


def test_names_of_shapes_are_made_unique():
    """MuJoCo has one space of names for geoms."""
    model = arm(geometry=[Geometry("sphere", (1,), name="a"), Geometry("sphere", (2,), name="a")]).build()
    again, report = read(model)
    assert [g.name for g in again.geometry[1]] == ["a", "a_2"]
    assert "'a_2'" in report


def test_planes_on_moving_bodies():
    """MuJoCo refuses them, so they are lost by name; on the world they stay."""
    with pytest.raises(UnsupportedError, match="planes on moving bodies"):
        kt.io.to_mjcf(arm(geometry=[Geometry("plane")]).build())
    b = arm()
    b.add_geometry("world", Geometry("plane"))
    assert read(b.build())[0].geometry[0][0].kind == "plane"


def test_missing_meshes(tmp_path):
    """A mesh that is not there is written with a warning; one that MuJoCo can never read is left out, or both are."""
    shapes = [Geometry("mesh", mesh="package://far/away.dae"), Geometry("mesh", mesh=str(tmp_path / "no.stl"))]
    text, report = mjcf_text(arm(geometry=shapes).build())
    assert "away.dae" not in text and "no.stl" in text
    assert "reads no .dae files" in str(report) and "there is no file" in str(report)
    text, report = mjcf_text(arm(geometry=shapes).build(), meshes="drop")
    assert "mesh" not in text and len(report) == 2


@pytest.mark.parametrize("where", ["keep", "relative"])
def test_meshes_that_are_there(tmp_path, where):
    """Their file, scale and pose come back, though MuJoCo moves meshes to their principal axes."""
    mesh = tmp_path / "meshes" / "tetra.obj"
    mesh.parent.mkdir()
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    pose = transform_of_pose(np.eye(3)[[1, 2, 0]], (0.1, 0.2, 0.3))
    shape = Geometry("mesh", mesh=str(mesh), scale=(1.0, 2.0, 0.5), color=(1, 0, 0, 1)).seen_from(pose)
    path = tmp_path / "arm.xml"
    kt.save(arm(geometry=[shape]).build(), path, meshes=where)
    assert_shapes_alike(kt.load(path), arm(geometry=[shape]).build(), SNAPPED)
    assert ('file="meshes/tetra.obj"' in path.read_text()) == (where == "relative")


# Equipment --------------------------------------------------------------------------------------------------------


def equipped(*, frames=(), **pieces):
    """The arm with equipment."""
    b = arm()
    for name, body, p in frames:
        b.add_frame(name, body, (p, (0, 0, 0)))
    b.equipment = Equipment(**pieces)
    return b.build()


def test_connect_where_the_points_meet():
    """A ball joint between two bodies whose points coincide in the shown position needs no further frames."""
    X_P, X_S = transform_of_pose(np.eye(3), (0, 0, -1)), transform_of_pose(np.eye(3), (0, 0, 0))
    model = equipped(loops=(LoopJoint("close", Spherical(), "upper", "lower", X_P, X_S),))
    again, _ = read(model)
    (loop,) = again.loops
    assert (loop.name, loop.predecessor, loop.successor) == ("close", "upper", "lower")
    np.testing.assert_allclose([*loop.X_P.r, *loop.X_S.r], [0, 0, -1, 0, 0, 0], atol=1e-15)
    assert again.nf == model.nf


def test_connect_where_they_do_not():
    """Two sites say where the points are, and the report names them."""
    X_P, X_S = transform_of_pose(np.eye(3), (0, 0, 5)), transform_of_pose(np.eye(3), (0, 1, 0))
    again, report = read(equipped(loops=(LoopJoint("close", Spherical(), "world", "lower", X_P, X_S, active=False),)))
    (loop,) = again.loops
    assert not loop.active and "'close_1'" in report
    assert again.frame(loop.predecessor).p_BF.tolist() == [0, 0, 5]
    assert again.frame(loop.successor).p_BF.tolist() == [0, 1, 0]


def test_weld_and_sites():
    """A weld keeps both poses; between sites it is written as such."""
    R = np.eye(3)[[1, 2, 0]]
    X_P, X_S = transform_of_pose(R, (1, 2, 3)), transform_of_pose(np.eye(3), (0, 1, 0))
    weld = LoopJoint("weld", Fixed(), "upper", "lower", X_P, X_S)
    sites = LoopJoint("sites", Fixed(), "s", "t")
    model = equipped(loops=(weld, sites), frames=[("s", "upper", (1, 0, 0)), ("t", "lower", (0, 1, 0))])
    again, _ = read(model)
    found = again.loops[0]
    np.testing.assert_allclose(np.array(found.X_P.E.matrix.rows), R.T, atol=1e-15)
    np.testing.assert_allclose([*found.X_P.r, *found.X_S.r], [1, 2, 3, 0, 1, 0], atol=1e-15)
    assert str(again.loops[1]) == str(sites)


def test_other_loop_joints_are_lost_by_name():
    """MuJoCo closes loops by points and welds alone."""
    model = equipped(loops=(LoopJoint("slide", Prismatic(), "upper", "world", stiffness=1.0),))
    with pytest.raises(UnsupportedError, match="stiffness of loop joints.*'slide'.*besides ball joints") as error:
        kt.io.to_mjcf(model)
    assert len(error.value.lost) == 2
    assert kt.load(kt.io.to_mjcf(model, unsupported="drop")).loops == ()


@pytest.mark.parametrize("name", ["four_bar", "bennett", "spatial_slider_crank", "delta_robot"])
def test_closed_mechanisms_move_alike(name):
    """Hinges become two points on their axis: the same mobility, and the same accelerations of a closed state."""
    model = getattr(kt.models, name)()
    again = kt.load(kt.io.to_mjcf(model))
    assert again.ny == model.ny and again.unsupported == ()
    q, v = kt.assemble(model, v=np.random.default_rng(2).standard_normal(model.nv))
    with kt.interpreted():
        a, found = (kt.forward_dynamics(m, q, v, np.zeros(m.nv)) for m in (model, again))
    np.testing.assert_allclose(found, a, atol=1e-8 * np.abs(a).max())


def test_polynomials_about_other_references():
    """A file's polynomial is about its own positions: the same values of the follower, at any of the master."""
    P = Equality("curve", "joint", "elbow", "shoulder", (0.1, 2.0, -0.5, 0.25), 0.3, -0.7)
    (Q,) = read(equipped(equalities=(P,)))[0].equalities
    for x in np.linspace(-2, 2, 7):
        values = [
            c.follower_reference + np.polynomial.polynomial.polyval(x - c.master_reference, c.coefficients)
            for c in (P, Q)
        ]
        assert values[0] == pytest.approx(values[1], abs=1e-14)


def test_tendons_and_actuators():
    """Fixed and spatial tendons, wraps, pulleys, muscles and sites come back as they were."""
    frames = [("a", "world", (0, 0, 1)), ("b", "upper", (1, 0, 0)), ("side", "upper", (0, 1, 0))]
    b = arm(geometry=[Geometry("cylinder", (0.1, 0.4), name="drum")])
    for name, body, p in frames:
        b.add_frame(name, body, (p, (0, 0, 0)))
    b.add_frame("drum", "upper")
    path = (ViaPoint("a"), WrapShape("cylinder", "drum", 0.1, "side"), ViaPoint("b"))
    path = (*path, Pulley(2.0), ViaPoint("a"), ViaPoint("b"))
    fixed = Tendon("sum", (JointTerm("shoulder", 1.0), JointTerm("elbow", -2.0)), 3.0, 0.1, 0.2, 0.3, (-1, 1))
    spatial = Tendon("cable", path, stiffness=2.0, rest_length=(0.5, 0.5))
    muscle = Actuator(
        "muscle", "tendon", "cable", dynamics="muscle", gain="muscle", bias="muscle",
        dynamics_parameters=(0.01, 0.04), gain_parameters=(0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2),
        bias_parameters=(0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2), control_range=(0, 1), length_range=(0.1, 2),
    )  # fmt: skip
    servo = Actuator("servo", "joint", "elbow", (5.0, 0, 0, 0, 0, 0), bias="affine", bias_parameters=(0, -9.0),
                     dynamics_parameters=(), gain_parameters=(9.0,), force_range=(-3, 3))  # fmt: skip
    thrust = Actuator("thrust", "site", "b", (0, 0, 1, 0, 0, 0.1), reference="a")
    b.equipment = Equipment(tendons=(fixed, spatial), actuators=(muscle, servo, thrust))
    model = b.build()
    again, report = read(model)
    assert report == "nothing to report"
    assert again.tendons == model.tendons
    computed = replace(again.actuators[0], acc0=0.0)  # by MuJoCo's compiler
    assert again.actuators[0].acc0 > 0.0 and (computed, *again.actuators[1:]) == model.actuators
    b.equipment = replace(b.equipment, actuators=again.actuators)
    assert_alike(again, b.build(), frames_in_order=False)


def test_what_refers_to_bodies_instead_of_sites():
    """A tendon over the frame of a body gets a site there, and a wrap without a shape gets a geom; both reported."""
    path = (ViaPoint("world"), WrapShape("sphere", "w", 0.1), ViaPoint("lower"))
    again, report = read(equipped(tendons=(Tendon("cable", path),), frames=[("w", "upper", (0, 0, 0))]))
    assert "'lower_site'" in report and "'w_wrap'" in report
    assert [str(type(part).__name__) for part in again.tendons[0].path] == ["ViaPoint", "WrapShape", "ViaPoint"]


def test_stops_are_lost_by_name():
    """MuJoCo's stops are relative to the inertia, so a constant stiffness cannot be said."""
    with pytest.raises(UnsupportedError, match="stop stiffness"):
        kt.io.to_mjcf(arm(lower=0.0, upper=1.0, limit_stiffness=10.0).build())


def test_limits_of_a_ball_joint():
    """They stand at the joint with the file's softness; a stop of another stiffness is refused by name."""
    b = arm(Spherical())
    b.equipment = Equipment(equalities=(RotationLimit("shoulder", 0.5),))
    again = read(b.build())[0]
    (limit,), (stop,) = again.equalities, again.elements
    assert (limit.joint, limit.angle, stop.joint, stop.angle) == ("shoulder", 0.5, "shoulder", 0.5)
    assert limit.softness.solref == (0.02, 1.0) and read(again)[0].elements == (stop,)
    b.add_force(kt.forces.RotationStop("stop", "shoulder", 0.5, 100.0, 1.0))
    with pytest.raises(UnsupportedError, match="force elements"):
        kt.io.to_mjcf(b.build())


def test_velocity_limits_are_reported():
    """No dynamics depend on them, so they are left out with a note instead of an error."""
    assert "velocity limits (joint 'shoulder')" in read(arm(velocity_limit=3.0).build())[1]


def test_inertia_welded_to_the_world():
    """It is on a body without joints."""
    b = arm()
    b.add_body("table", placement=((1, 2, 3), (0.1, 0.2, 0.3)), **BODY)
    model = b.build()
    I, J = model.I[0], read(model)[0].I[0]
    np.testing.assert_allclose([J.m, *J.h, *J.I], [I.m, *I.h, *I.I], rtol=1e-13)


def test_body_frames_that_mujoco_cannot_have():
    """The frame of a sliding body off its joint, or a turned one, is written as a site with another name."""
    b = kt.ModelBuilder("slider")
    b.add_body("cart", joint=Prismatic((1, 0, 0)), **BODY)
    b.add_frame("cart", "cart", ((0, 0, 1), (0, 0, 0)))
    again, report = read(b.build())
    assert "'cart_frame'" in report
    assert again.frame("cart_frame").p_BF.tolist() == [0, 0, 1]


def test_fixed_bodies_that_were_kept():
    """Bodies on fixed joints stay bodies if the file is read like that."""
    b = arm()
    b.add_body("hand", "lower", placement=((0, 0, -1), (0, 0, 0)), **BODY)
    model = b.build(merge_fixed=False)
    again = kt.load(kt.io.to_mjcf(model), merge_fixed=False)
    assert_alike(again, model)
