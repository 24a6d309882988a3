"""Poses, frames and scopes of SDF: where everything is."""

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError, SDFError, UnknownNameError, UnsupportedError
from kinetree.io.sdf.read import load_sdf
from kinetree.model.parts import rotation_of_rpy
from tests.io.sdf_text import inertial, joint, link, model, world

FIXED = '<joint name="hold" type="fixed"><parent>world</parent><child>{}</child></joint>'


def place(loaded, frame, q=None):
    """(R, p) of a frame in the world, by default at the pose of the file."""
    if q is None:
        q = loaded.keyframe("initial")[0] if "initial" in loaded.keyframes else loaded.neutral()
    with kt.interpreted():
        return kt.pose(loaded, q, frame=frame)


def same_place(found, R, p, tolerance=1e-12):
    np.testing.assert_allclose(found[0], R, atol=tolerance)
    np.testing.assert_allclose(found[1], p, atol=tolerance)


def pose(text):
    x = [float(word) for word in text.split()]
    return rotation_of_rpy(*x[3:]), np.array(x[:3])


def after(outer, inner):
    return outer[0] @ inner[0], outer[0] @ inner[1] + outer[1]


A, B, C = "1 2 3 0.3 -0.4 0.5", "-0.2 0.7 0.1 1.1 0.2 -2", "0.4 0 -0.6 -0.7 0.9 0.3"


def test_links_are_posed_in_the_model_and_the_model_in_the_world():
    """X_world_link = X_world_model X_model_link; the free joint's q at "initial" is that pose."""
    loaded = load_sdf(model(f"<pose>{A}</pose>", link("a", B)))
    same_place(place(loaded, "a"), *after(pose(A), pose(B)))


def test_relative_to_chains_of_links_frames_and_joints():
    """A pose is taken in the frame that it names, through any chain, whatever the order in the file."""
    loaded = load_sdf(model(
        f'<frame name="f"><pose relative_to="b">{C}</pose></frame>',
        link("c", A, attributes='relative_to="j"'),
        link("b", B, attributes='relative_to="a"'),
        link("a", A),
        joint("j", "revolute", "a", "b", f"<pose>{C}</pose><axis><xyz>0 0 1</xyz></axis>"),
        joint("k", "fixed", "b", "c", ""),
    ))  # fmt: skip
    b = after(pose(A), pose(B))
    same_place(place(loaded, "b"), *b)
    same_place(place(loaded, "f"), *after(b, pose(C)))
    # The pose of joint j is in its child b, and c is in the joint.
    same_place(place(loaded, "c"), *after(after(b, pose(C)), pose(A)))


def test_a_frame_is_posed_in_what_it_is_attached_to_and_moves_with_it():
    """Without relative_to a frame is posed in attached_to; it turns with the link at the end of that chain."""
    loaded = load_sdf(model(
        link("a"), link("b", A), joint("j", "revolute", "a", "b"),
        f'<frame name="f" attached_to="b"><pose>{B}</pose></frame>',
        f'<frame name="g" attached_to="f"><pose>{C}</pose></frame>',
        f'<frame name="h" attached_to="j"><pose relative_to="__model__">{C}</pose></frame>',
        '<frame name="own"/>',
    ))  # fmt: skip
    same_place(place(loaded, "g"), *after(after(pose(A), pose(B)), pose(C)))
    same_place(place(loaded, "h"), *pose(C))
    b = loaded.frame("b").body
    assert [loaded.frame(name).body for name in ("f", "g", "h")] == [b, b, b]
    assert loaded.frame("own").body == loaded.frame("a").body  # the canonical link's


def test_the_canonical_link_carries_the_model_frame():
    """A frame attached to nothing moves with canonical_link, by default the first link."""
    parts = (link("a"), link("b", A), joint("j", "revolute", "a", "b"), '<frame name="own"/>')
    loaded = load_sdf(model(*parts, attributes='canonical_link="b"'))
    assert loaded.frame("own").body == loaded.frame("b").body
    same_place(place(loaded, "own"), np.eye(3), np.zeros(3))


def test_a_placement_frame_is_what_the_pose_of_the_model_places():
    """X_world_model = pose * inverse(X_model_frame), so that the named frame is at the pose."""
    loaded = load_sdf(model(f"<pose>{A}</pose>", link("a", B), link("b", C), joint("j", "fixed", "a", "b", ""),
                            version="1.8", attributes='placement_frame="b"'))  # fmt: skip
    same_place(place(loaded, "b"), *pose(A))


def test_degrees_and_quaternions():
    """Angles in degrees, and quaternions (x, y, z, w), are the same rotation as radians."""
    R, p = pose(A)
    degrees = " ".join(str(math.degrees(float(x))) for x in A.split()[3:])
    loaded = load_sdf(model(link("a", f"1 2 3 {degrees}", attributes='degrees="true"')))
    same_place(place(loaded, "a"), R, p)
    half = math.sin(0.35), math.cos(0.35)
    text = f"0 0 0 0 {half[0]} 0 {half[1]}"
    loaded = load_sdf(model(link("a", text, attributes='rotation_format="quat_xyzw"'), version="1.9"))
    same_place(place(loaded, "a"), rotation_of_rpy(0.0, 0.7, 0.0), np.zeros(3))


def test_nested_models_are_scopes():
    """Names in a nested model have its prefix; joints reach into it, and its frame is posed in the outer model."""
    in_a = link("b", A, attributes='relative_to="a"')
    nested = (
        f'<model name="arm"><pose>{B}</pose>{link("a", C)}{in_a}'
        f'{joint("j", "revolute", "a", "b")}<frame name="tool" attached_to="b"/></model>'
    )
    loaded = load_sdf(model(link("a", A), nested, joint("j", "fixed", "a", "arm::a", ""), version="1.8"))
    assert {frame.name for frame in loaded.frames} >= {"a", "arm::a", "arm::b", "arm::tool"}
    assert loaded.joint_names == ("root_joint", "arm::j")
    inner = after(pose(B), pose(C))
    same_place(place(loaded, "arm::a"), *inner)
    same_place(place(loaded, "arm::tool"), *after(inner, pose(A)))


def test_poses_relative_to_nested_models_and_their_links():
    """relative_to takes a nested model (its frame) and names inside it."""
    nested = f'<model name="arm"><pose>{B}</pose>{link("a", C)}</model>'
    loaded = load_sdf(model(
        nested, link("x", A, attributes='relative_to="arm"'), link("y", A, attributes='relative_to="arm::a"'),
        joint("j", "fixed", "arm::a", "x", ""), joint("k", "fixed", "x", "y", ""), version="1.8",
    ))  # fmt: skip
    same_place(place(loaded, "x"), *after(pose(B), pose(A)))
    same_place(place(loaded, "y"), *after(after(pose(B), pose(C)), pose(A)))


@pytest.mark.parametrize("merge", [False, True])
def test_includes(tmp_path, merge):
    """An include is a nested model with another pose and name; merged, its names join the outer scope."""
    (tmp_path / "arm").mkdir()
    (tmp_path / "arm" / "model.config").write_text(
        '<model><name>arm</name><sdf version="1.4">old.sdf</sdf><sdf version="1.9">arm.sdf</sdf></model>'
    )
    inner = (link("a", C), link("b", A), joint("j", "revolute", "a", "b"), '<frame name="f"/>')
    (tmp_path / "arm" / "arm.sdf").write_text(model(*inner, name="arm", version="1.9"))
    include = f'<include merge="{str(merge).lower()}"><uri>model://arm</uri><name>left</name><pose>{B}</pose></include>'
    path = tmp_path / "robot.sdf"
    prefix = "" if merge else "left::"
    path.write_text(model(link("base"), include, joint("hold", "fixed", "base", f"{prefix}a", ""), version="1.9"))
    loaded = load_sdf(path, package_dirs=[tmp_path])
    same_place(place(loaded, f"{prefix}b"), *after(pose(B), pose(A)))
    same_place(place(loaded, f"{prefix}f"), *pose(B))
    assert loaded.joint_names[1] == f"{prefix}j"


def test_a_merged_model_can_be_placed_by_one_of_its_frames(tmp_path):
    """The placement_frame of an include is where its pose says, merged or not."""
    (tmp_path / "arm.sdf").write_text(model(link("a", C), link("b", A), joint("j", "fixed", "a", "b", ""), name="arm"))
    for merge, name in (("true", "b"), ("false", "arm::b")):
        path = tmp_path / "robot.sdf"
        inside = f"<uri>arm.sdf</uri><placement_frame>b</placement_frame><pose>{B}</pose>"
        path.write_text(model(f'<include merge="{merge}">{inside}</include>', version="1.9"))
        same_place(place(load_sdf(path), name), *pose(B))


def test_an_include_that_is_missing_or_includes_itself_is_refused(tmp_path):
    """Both name the URI and the line; what is missing can be dropped."""
    path = tmp_path / "loop.sdf"
    path.write_text(model(link("a"), "<include><uri>loop.sdf</uri></include>"))
    with pytest.raises(SDFError, match=r"loop\.sdf:4: .*includes itself"):
        load_sdf(path)
    text = model(link("a"), "<include><uri>model://nowhere</uri></include>")
    with pytest.raises(SDFError, match="'model://nowhere' not found") as caught:
        load_sdf(text)
    assert caught.value.line == 4 and caught.value.code == "include-not-found"
    loaded = load_sdf(text, unsupported="drop")
    assert loaded.report.at_level("dropped")


def test_a_world_of_several_models_is_one_mechanism_with_scoped_names():
    """Every model of a world is loaded; a static one stands still; joints of the world connect them."""
    static = f'<model name="table"><static>true</static><pose>{A}</pose>{link("top", B)}</model>'
    ball = f'<model name="ball"><pose>{C}</pose>{link("b")}</model>'
    text = world("<gravity>0 0 -1.6</gravity>", static, ball)
    loaded = load_sdf(text)
    assert loaded.joint_names == ("root_joint",) and loaded.body_names == ("world", "ball::b")
    assert list(loaded.gravity) == [0.0, 0.0, -1.6]
    same_place(place(loaded, "table::top"), *after(pose(A), pose(B)))
    same_place(place(loaded, "ball::b"), *pose(C))
    alone = load_sdf(text, model="ball")
    assert alone.body_names == ("world", "b") and "left out" in str(alone.report)
    with pytest.raises(UnknownNameError, match="no model named 'bell'.*Did you mean 'ball'"):
        load_sdf(text, model="bell")


def test_a_world_without_gravity_has_that_of_the_format():
    """SDF's default is 9.8 m/s^2; a model outside a world has kinetree's."""
    body = f'<model name="b">{link("a")}</model>'
    assert list(load_sdf(world(body)).gravity) == [0.0, 0.0, -9.8]
    assert list(load_sdf(model(link("a"))).gravity) == [0.0, 0.0, -9.81]
    old = world("<physics><gravity>0 0 -3</gravity></physics>", body, version="1.5")
    assert list(load_sdf(old).gravity) == [0.0, 0.0, -3.0]


# What stands free -----------------------------------------------------------------------------------------------------


def test_what_no_joint_holds_is_free_and_starts_where_the_file_puts_it():
    """Each part that no joint connects to the world has a free joint of its own."""
    loaded = load_sdf(model(link("a", A), link("b", B)))
    assert loaded.joint_names == ("root_joint", "root_joint_2") and loaded.nv == 12
    same_place(place(loaded, "a"), *pose(A))
    same_place(place(loaded, "b"), *pose(B))


def test_a_model_at_the_origin_has_no_initial_keyframe():
    """The neutral position is the pose of the file."""
    assert load_sdf(model(link("a"))).keyframes == ()


@pytest.mark.parametrize(("option", "nv"), [(None, 6), (False, 0), (True, 6)])
def test_floating_base(option, nv):
    """None is as the file says, False welds in place, True frees."""
    loaded = load_sdf(model(link("a", A)), floating_base=option)
    assert loaded.nv == nv
    same_place(place(loaded, "a"), *pose(A))


def test_floating_base_replaces_what_fixes_to_the_world():
    """A fixed joint to the world is freed by True; any other is refused, since it is a motion of its own."""
    text = model(link("a", A), FIXED.format("a"))
    assert load_sdf(text).nv == 0
    loaded = load_sdf(text, floating_base=True)
    assert loaded.nv == 6
    same_place(place(loaded, "a"), *pose(A))
    with pytest.raises(ModelError, match="floating_base=True frees"):
        load_sdf(model(link("a"), joint("j", "revolute", "world", "a")), floating_base=True)


def test_static_models():
    """Nothing in a static model moves, its joints neither; alone in a file it can be freed."""
    text = model("<static>1</static>", link("a", A), link("b", B), joint("j", "revolute", "a", "b"))
    loaded = load_sdf(text)
    assert loaded.nv == 0 and "between static links" in str(loaded.report)
    same_place(place(loaded, "b"), *pose(B))
    assert load_sdf(text, floating_base=True).nv == 7


def test_impossible_masses_of_static_links_do_not_matter():
    """A floor of no mass and unit inertia stands still; the report says that its mass is left out."""
    floor = link("floor", inside=inertial(0.0))
    loaded = load_sdf(model("<static>true</static>", floor))
    assert loaded.nv == 0 and "its mass is left out" in str(loaded.report)


# Refused --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ((link("a", A, attributes='relative_to="b"'), link("b", A, attributes='relative_to="a"')),
         "circle: a -> b -> a"),
        ((link("a", A, attributes='relative_to="a"'),), "circle: a -> a"),
        ((link("a"), '<frame name="f" attached_to="g"/>', '<frame name="g" attached_to="f"/>'), "circle"),
        ((link("a"), '<frame name="f" attached_to="g"/>', '<frame name="g" attached_to="f"/>',
          '<frame name="h"><pose relative_to="a"/></frame>'), "circle"),
        ((link("a", A, attributes='relative_to="c"'), link("bc")), "no frame named 'c' in model 'm'"),
    ],
)  # fmt: skip
def test_circles_and_unknown_frames_are_refused(parts, words):
    """A pose that leads back to itself, or to nothing, is named with the line that says so."""
    with pytest.raises(SDFError, match=words) as caught:
        load_sdf(model(*parts))
    assert caught.value.line > 2


def test_frames_attached_in_a_circle_are_refused_even_if_their_poses_are_known():
    """attached_to is followed apart from relative_to."""
    frames = (
        '<frame name="f" attached_to="g"><pose relative_to="a"/></frame>',
        '<frame name="g" attached_to="f"><pose relative_to="a"/></frame>',
    )
    with pytest.raises(SDFError, match="attached to each other in a circle: f -> g -> f"):
        load_sdf(model(link("a"), *frames))


def test_a_long_chain_of_poses_is_no_deep_recursion():
    """3000 links, each posed in the one before, at the end of the file first."""
    n = 3000
    links = [link(f"l{k}", "0.001 0 0 0 0 0", attributes=f'relative_to="l{k - 1}"') for k in range(n, 0, -1)]
    loaded = load_sdf(model(link("l0"), *links[-1:], *links[:-1], joint("j", "fixed", "l0", f"l{n}", "")),
                      model=None)  # fmt: skip
    assert place(loaded, f"l{n}")[1][0] == pytest.approx(0.001 * n, abs=n * 1e-16 * 3)


def test_attributes_of_later_versions_are_refused():
    """Before 1.7 programs ignore relative_to, so that the file would mean something else than it says."""
    with pytest.raises(SDFError, match="came with SDF 1.7"):
        load_sdf(model(link("a"), link("b", A, attributes='relative_to="a"'), version="1.6"))
    old = model(link("a"), link("b", A, attributes='frame="a"'), version="1.6")
    with pytest.raises(UnsupportedError, match="attribute 'frame'"):
        load_sdf(old)
    same_place(place(load_sdf(old, unsupported="drop"), "b"), *pose(A))


def test_inertias_stand_in_the_frame_of_inertial():
    """I in the link is R I R^T about the center of mass, which is the origin of <inertial>."""
    loaded = load_sdf(model(link("a", inside=inertial(2.0, (1.0, 2.0, 2.5), C))))
    R, p = pose(C)
    assert loaded.I[1].m == 2.0
    np.testing.assert_allclose(list(loaded.I[1].com), p, atol=1e-15)
    about_com = np.array(loaded.I[1].I.matrix.rows) - 2.0 * ((p @ p) * np.eye(3) - np.outer(p, p))
    np.testing.assert_allclose(about_com, R @ np.diag([1.0, 2.0, 2.5]) @ R.T, atol=1e-14)
