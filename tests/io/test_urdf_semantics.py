"""What each URDF element means in the model."""

import math

import numpy as np
import pytest

from kinetree import load
from kinetree.errors import ModelError, UnsupportedError, URDFError
from kinetree.io import load_urdf
from kinetree.joints import Fixed, Free, Planar, Prismatic, Revolute
from kinetree.model.parts import pose_of_transform, rotation_of_rpy


def link(name, mass=1.0, xyz="0 0 0", rpy="0 0 0", diagonal=(1.0, 1.0, 1.0), inside=""):
    inertial = (
        f'<inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/><inertia ixx="{diagonal[0]}" ixy="0" '
        f'ixz="0" iyy="{diagonal[1]}" iyz="0" izz="{diagonal[2]}"/></inertial>'
        if mass
        else ""
    )
    return f'<link name="{name}">{inertial}{inside}</link>'


def joint(name, type_, parent, child, inside='<limit lower="-1" upper="2" effort="3" velocity="4"/>'):
    return f'<joint name="{name}" type="{type_}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def robot(*parts):
    return '<robot name="r">\n' + "\n".join(parts) + "\n</robot>"


def one(type_, inside="", **options):
    return load_urdf(robot(link("a"), link("b"), joint("j", type_, "a", "b", inside)), **options)


@pytest.mark.parametrize(
    ("type_", "class_", "nq"),
    [("revolute", Revolute, 1), ("continuous", Revolute, 1), ("prismatic", Prismatic, 1), ("floating", Free, 7),
     ("planar", Planar, 3)],
)  # fmt: skip
def test_joint_types(type_, class_, nq):
    """Each type is its joint; a continuous joint has one position variable, the angle."""
    model = one(type_, '<axis xyz="0 0 1"/>')
    assert isinstance(model.joints[1], class_) and model.nq == nq


def test_the_default_axis_is_x():
    """Without <axis> a joint turns about x."""
    assert one("revolute").joints[1].axis == (1.0, 0.0, 0.0)


def test_axes_are_normalized_and_reported():
    """A longer axis gives the same joint, and a line in the report."""
    model = one("revolute", '<axis xyz="0 3 4"/>')
    assert model.joints[1].axis == pytest.approx((0.0, 0.6, 0.8), abs=1e-15)
    assert "normalized, its length is 5" in str(model.report)


def test_origin_is_roll_pitch_yaw_about_fixed_axes():
    """R = Rz(yaw) Ry(pitch) Rx(roll): with yaw 90 degrees after roll 90 degrees, z of the child points along x."""
    model = one("revolute", f'<origin xyz="1 2 3" rpy="{math.pi / 2} 0 {math.pi / 2}"/>')
    R, p = pose_of_transform(model.X_T[1])
    assert R @ [0, 0, 1] == pytest.approx([1, 0, 0], abs=1e-15) and p.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "rpy", [(1e-7, 0, 0), (0, 1e-11, 0), (1e-7, -2e-7, 3e-7), (math.pi / 2, 1e-7, 0), (3.14159265359,) * 3]
)
def test_small_angles_survive(rpy):
    """The cosine of a small angle is 1 in floating point; its sine stays (Talos' gripper is turned by 1e-11)."""
    model = one("revolute", '<origin rpy="{!r} {!r} {!r}"/>'.format(*rpy))
    assert np.allclose(pose_of_transform(model.X_T[1])[0], rotation_of_rpy(*rpy), rtol=0, atol=1.01e-13)  # the snapping


def test_inertia_turns_with_its_origin():
    """A tensor given in turned axes is turned to link axes, and moved from the center of mass to the link's origin."""
    turned = link("b", 2.0, "0 0 3", f"0 0 {math.pi / 2}", (0.3, 0.4, 0.5))
    model = load_urdf(robot(link("a"), turned, joint("j", "revolute", "a", "b")))
    I = model.I[1]
    assert I.m == 2.0 and list(I.h) == pytest.approx([0, 0, 6])
    expected = np.diag([0.4 + 18.0, 0.3 + 18.0, 0.5])
    assert np.array(I.I.matrix.rows) == pytest.approx(expected, abs=1e-15)


def test_limits_and_dynamics_arrive():
    """lower, upper, effort, velocity, damping and friction stand in the model's arrays."""
    inside = '<limit lower="-1" upper="2" effort="3" velocity="4"/><dynamics damping="5" friction="6"/>'
    model = one("prismatic", inside)
    found = (
        model.lower, model.upper, model.effort_limit, model.velocity_limit, model.damping, model.dry_friction
    )  # fmt: skip
    assert [float(x[0]) for x in found] == [-1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("inside", "range_", "message"),
    [
        ("", (-np.inf, np.inf), "has no limits, though the format requires them"),
        ('<limit effort="1" velocity="1"/>', (-np.inf, np.inf), "states no range: unlimited"),
        ('<limit lower="-1" effort="1" velocity="1"/>', (-1, 0), "states no upper limit: 0"),
        ('<limit upper="1" effort="1" velocity="1"/>', (0, 1), "states no lower limit: 0"),
    ],
)
def test_missing_limits_are_reported(inside, range_, message):
    """What a <limit> leaves out is a warning in the report, never silent."""
    model = one("revolute", inside)
    assert (float(model.lower[0]), float(model.upper[0])) == range_
    assert any(message in entry.message for entry in model.report.at_level("warning"))


def test_a_fixed_base_stands_on_the_world():
    """The root link is the world's; its inertia is not dynamic, and its name is a frame."""
    model = one("revolute")
    assert (model.nb, model.nq, model.parent) == (2, 1, (-1, 0))
    assert model.frame("a").body == 0


def test_a_floating_base_has_a_free_root_joint():
    """The root link moves by a free joint named root_joint, or as the user says."""
    model = one("revolute", floating_base=True)
    assert isinstance(model.joints[1], Free) and model.joint_names == ("root_joint", "j")
    assert one("revolute", floating_base=True, base_joint="float").joint_names[0] == "float"


def test_fixed_links_are_merged_with_their_inertia():
    """A link on a fixed joint becomes a frame of its parent; mass and first moment add up; or it stays a body."""
    text = robot(
        link("a"), link("b"), link("c", 3.0), joint("j", "revolute", "a", "b"),
        joint("k", "fixed", "b", "c", '<origin xyz="0 0 2"/>'),
    )  # fmt: skip
    merged, kept = load_urdf(text), load_urdf(text, merge_fixed=False)
    assert merged.nb == 2 and merged.I[1].m == 4.0 and list(merged.I[1].h) == [0, 0, 6]
    frame = merged.frame("c")
    assert frame.body == 1 and frame.p_BF.tolist() == [0, 0, 2]
    assert kept.nv == 1 and [type(x) for x in kept.joints[1:]] == [Fixed, Revolute, Fixed]


def test_bodies_are_depth_first_in_the_order_of_the_file():
    """Subtrees are contiguous; siblings keep the order of their joints."""
    names = "abcde"
    text = robot(
        *map(link, names), joint("jb", "revolute", "a", "b"), joint("jc", "revolute", "a", "c"),
        joint("jd", "revolute", "b", "d"), joint("je", "revolute", "c", "e"),
    )  # fmt: skip
    model = load_urdf(text)
    assert model.joint_names == ("jb", "jd", "jc", "je")


def test_mimic_joints_are_coupled_and_chains_resolved():
    """q_k = 2 q_j + 1 and q_l = 3 q_k + 4 give q_l = 6 q_j + 7."""
    text = robot(
        *map(link, "abcd"), joint("j", "revolute", "a", "b"),
        joint("k", "revolute", "b", "c", '<mimic joint="j" multiplier="2" offset="1"/>'),
        joint("l", "revolute", "c", "d", '<mimic joint="k" multiplier="3" offset="4"/>'),
    )  # fmt: skip
    found = [(c.joint, c.master, c.ratio, c.offset) for c in load_urdf(text).couplings]
    assert found == [("k", "j", 2.0, 1.0), ("l", "j", 6.0, 7.0)]


def test_a_mimic_on_a_fixed_joint_is_ignored_and_reported():
    """Many reduced robots keep the element on joints that they fixed."""
    text = robot(
        *map(link, "abc"), joint("j", "revolute", "a", "b"), joint("k", "fixed", "b", "c", '<mimic joint="j"/>')
    )
    model = load_urdf(text)
    assert not model.couplings and "fixed joint 'k' mimics 'j': it cannot move" in str(model.report)


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 0), (0, -1, 0), (0, 0, -1), (1, 2, 3)])
def test_planar_joints_move_in_the_plane_normal_to_their_axis(normal):
    """Every position keeps the link's origin in the plane, turns it about the normal only, and q = 0 is no motion."""
    import kinetree as kt

    inside = '<origin xyz="1 2 3"/><axis xyz="{} {} {}"/>'.format(*normal)
    model = one("planar", inside)
    n = np.array(normal) / np.linalg.norm(normal)
    with kt.interpreted():
        R, p = kt.pose(model, np.zeros(3), frame="b")
        R_moved, p_moved = kt.pose(model, np.array([0.7, 0.3, -0.5]), frame="b")
    assert np.allclose(R, np.eye(3), atol=1e-15) and np.allclose(p, [1, 2, 3], atol=1e-15)
    shift = p_moved - [1, 2, 3]
    # A few roundings of numbers of size 1 to 4.
    assert np.allclose(R_moved @ n, n, atol=4e-15) and abs(n @ shift) < 4e-15
    assert math.isclose(math.acos((np.trace(R_moved) - 1) / 2), 0.7)
    assert math.isclose(np.linalg.norm(shift), math.hypot(0.3, 0.5))


def test_massless_leaves_raise_or_are_locked():
    """A joint that moves nothing is named with its line; massless='lock' makes it fixed and says so."""
    joints = joint("j", "revolute", "a", "b"), joint("k", "revolute", "b", "tool")
    text = robot(link("a"), link("b"), link("tool", 0), *joints)
    with pytest.raises(ModelError, match="<string>:6: link 'tool' has no inertia that resists its revolute joint 'k'"):
        load_urdf(text)
    model = load_urdf(text, massless="lock")
    assert model.nv == 1 and "joint 'k' moves no inertia: made fixed" in str(model.report)


def test_a_point_mass_on_the_axis_of_its_joint_is_massless():
    """A link with all its mass on the axis of a revolute joint has no moment about it."""
    text = robot(link("a"), link("b", 1.0, "0.3 0 0", "0 0 0", (0, 0, 0)), joint("j", "revolute", "a", "b"))
    with pytest.raises(ModelError, match=":4: link 'b' has no inertia that resists"):
        load_urdf(text)


def test_massless_links_within_a_chain_are_normal():
    """Files write a joint of two freedoms as two joints with a massless link between."""
    text = robot(
        link("a"), link("b", 0), link("c"), joint("j", "revolute", "a", "b"),
        joint("k", "revolute", "b", "c", '<axis xyz="0 1 0"/>'),
    )  # fmt: skip
    assert load_urdf(text).nv == 2


def test_what_is_ignored_is_reported_with_its_line():
    """Transmissions, sensors, unknown elements and attributes each give a line."""
    text = robot(
        link("a", inside="<contact/>"), '<transmission name="t"><x/></transmission>',
        '<gazebo reference="a"><selfCollide>true</selfCollide></gazebo>',
    )  # fmt: skip
    text = text.replace("<link ", '<link color="red" ')
    shown = [str(entry) for entry in load_urdf(text, floating_base=True).report]
    assert len(shown) == 4
    assert shown[0] == "info: <string>:2: robot/link[a] ignored: attribute 'color' is no part of the URDF format"
    assert "<string>:2: robot/link[a]/contact ignored" in shown[1]
    assert "<string>:3: robot/transmission[t] ignored: actuators" in shown[2]
    assert "<string>:4: robot/gazebo ignored: settings of the Gazebo simulator" in shown[3]


def test_a_complete_file_leaves_an_empty_report():
    """Nothing is reported where nothing was left out."""
    assert len(load("arm7", floating_base=True).report) == 0


def test_what_is_welded_to_the_world_is_reported():
    """Links with mass that fixed joints hold to the world are named: they are in no total."""
    text = robot(
        link("a", 2.0), link("b", 3.0), link("c", 4.0), joint("j", "fixed", "a", "b"), joint("k", "revolute", "b", "c")
    )
    model = load_urdf(text)
    (entry,) = (entry for entry in model.report if "welded" in entry.message)
    assert entry.level == "info" and entry.message.startswith("links 'a' with 2 kg, 'b' with 3 kg are welded to")
    assert model.total_mass == 4.0 and model.I[0].m == 5.0
    assert "welded" not in str(load_urdf(text, floating_base=True).report)


def test_a_file_with_nothing_that_moves_loads():
    """A single link is a valid file: a model without coordinates, its mass welded to the world."""
    model = load_urdf(robot(link("a", 2.0)))
    assert (model.nv, model.I[0].m) == (0, 2.0)


def test_shapes_arrive_with_pose_color_and_role(tmp_path):
    """Boxes, cylinders, spheres, capsules and meshes are data of the body; a mesh that is missing is reported."""
    (tmp_path / "pack" / "mesh").mkdir(parents=True)
    (tmp_path / "pack" / "mesh" / "part.stl").touch()
    shapes = {
        "box": '<box size="1 2 3"/>', "cylinder": '<cylinder radius="1" length="2"/>', "sphere": '<sphere radius="1"/>',
        "capsule": '<capsule radius="1" length="2"/>',
        "mesh": '<mesh filename="package://pack/mesh/part.stl" scale="1 2 3"/>',
    }  # fmt: skip
    visuals = "".join(
        f'<visual><origin xyz="1 0 0"/><geometry>{shape}</geometry><material name="red"/></visual>'
        for shape in shapes.values()
    )
    gone = '<collision><geometry><mesh filename="package://pack/gone.stl"/></geometry></collision>'
    text = robot(
        '<material name="red"><color rgba="1 0 0 1"/></material>', link("a"), link("b", inside=visuals + gone),
        joint("j", "revolute", "a", "b"),
    )  # fmt: skip
    model = load_urdf(text, package_dirs=[tmp_path])
    found = model.geometry[1]
    assert [shape.kind for shape in found[:5]] == list(shapes)
    assert all(shape.color == (1, 0, 0, 1) and shape.role == "visual" and shape.p_BG[0] == 1 for shape in found[:5])
    assert found[0].size == (1, 2, 3) and found[1].size == (1, 2)
    assert found[4].mesh == str(tmp_path / "pack" / "mesh" / "part.stl") and found[4].scale == (1, 2, 3)
    assert found[5].role == "collision" and "mesh 'package://pack/gone.stl' not found" in str(model.report)


def test_a_root_named_world_is_the_world():
    """The usual massless root 'world' is body 0; elsewhere the name is taken."""
    model = load_urdf(robot(link("world", 0), link("b"), joint("j", "revolute", "world", "b")))
    assert (model.body_names, model.nv) == (("world", "b"), 1)
    text = robot(link("b"), link("world"), joint("j", "revolute", "b", "world"))
    with pytest.raises(URDFError, match="a link is named 'world'"):
        load_urdf(text)


def test_load_finds_shipped_robots_files_and_text(tmp_path):
    """A bare name, a path and text all load; an unknown name lists the shipped robots."""
    from kinetree import data

    assert load("cart_pole").name == load(data.path("cart_pole")).name == "cart_pole"
    assert load(data.path("cart_pole").read_text()).nv == 2
    with pytest.raises(KeyError, match="no robot named 'cart_pol'.*no such file.*Did you mean 'cart_pole'.*arm7"):
        load("cart_pol")
    with pytest.raises(FileNotFoundError, match="no such file"):
        load(tmp_path / "x.urdf")


@pytest.mark.parametrize("name", ["a.xml", "a.sdf", "a.urdf", "a"])
def test_the_root_element_tells_the_format(tmp_path, name):
    """A URDF file is read as one whatever it is called."""
    (tmp_path / name).write_text(robot(link("a")))
    assert load(tmp_path / name).nv == 0


def test_other_formats_are_named(tmp_path):
    """USD is refused by name, not read wrongly."""
    (tmp_path / "a.usda").write_text("#usda 1.0")
    with pytest.raises(UnsupportedError, match="USD"):
        load(tmp_path / "a.usda")


WORLD_ROOT = """<robot name="r"><link name="world"/>
<link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial></link>
<joint name="weld" type="{type}"><parent link="world"/><child link="base"/><origin xyz="0 0 1"/></joint></robot>"""


def test_floating_base_frees_the_weld_of_a_root_called_world():
    """The link 'world' stays the fixed frame; the one fixed joint that holds the robot there becomes free, reported."""
    model = load(WORLD_ROOT.format(type="fixed"), floating_base=True)
    assert model.joint_names == ("root_joint",) and (model.nq, model.nv) == (7, 6)
    assert "'weld'" in str(model.report)


def test_floating_base_refuses_a_root_called_world_that_carries_a_moving_joint():
    """A joint that already moves is not replaced in silence."""
    with pytest.raises(URDFError, match=r"frees the one fixed joint .* 'weld' \(continuous\)"):
        load(WORLD_ROOT.format(type="continuous"), floating_base=True)


SHAPED = """<robot name="shaped"><link name="base"/>
<link name="rod"><collision><origin xyz="0 0 0.5"/><geometry><cylinder radius="0.1" length="1"/></geometry></collision>
</link>
<joint name="j" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


def test_inertia_from_shapes():
    """Links without <inertial> get the mass of their shapes on request, and the report says so with the line."""
    with pytest.raises(ModelError, match="inertia_from"):
        load_urdf(SHAPED)
    model = load_urdf(SHAPED, inertia_from="collision", density=7800.0)
    mass = 7800.0 * np.pi * 0.01
    assert model.total_mass == pytest.approx(mass, rel=1e-14)
    np.testing.assert_allclose(list(model.I[1].com), (0.0, 0.0, 0.5), atol=1e-15)
    assert model.I[1].I.yy == pytest.approx(mass * (0.01 / 4 + 1 / 12 + 0.25), rel=1e-12)
    (entry,) = model.report.at_level("warning")
    assert "'rod'" in entry.message and entry.where == "<string>:2"
    with pytest.raises(ModelError, match="'rod'.*density"):
        load_urdf(SHAPED, inertia_from="collision", density=-1.0)


def test_a_shape_of_another_program_is_physics_that_may_be_dropped():
    """An endless plane is refused with its line, and left out and reported on request."""
    plane = '<collision><geometry><plane normal="0 0 1"/></geometry></collision>'
    file = f'<robot name="r">{link("base", inside=plane)}</robot>'
    with pytest.raises(UnsupportedError, match="plane is no shape.*unsupported='drop'"):
        load_urdf(file)
    model = load_urdf(file, unsupported="drop")
    assert model.geometry == ((),) and [entry.level for entry in model.report].count("dropped") == 1
