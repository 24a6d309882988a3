"""Contact data of files: kept by the readers, written and read again, followed by surgery, refused where impossible."""

from __future__ import annotations

import math
import pickle

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DuplicateNameError, KinetreeError, ModelError, UnknownNameError
from kinetree.model import ContactExclude, Equipment, Geometry, GeometryPair
from tests.io.models_alike import assert_shapes_alike
from tests.io.sdf_text import inertial, link, model

SCENE = """<mujoco><asset><hfield name="h" nrow="2" ncol="3" size="1 2 .5 .1" elevation="0 1 2 3 4 5"/></asset>
<default><geom friction=".9 .01 .001"/></default><worldbody><geom name="floor" type="plane" size="1 1 1" friction=".8"/>
<geom type="hfield" hfield="h" name="hill" pos="0 0 -5"/>
<body name="a"><freejoint/><geom name="g" size=".1" priority="2" condim="4" solref=".01 1" contype="3" margin=".02"/>
<body name="b"><geom name="k" size=".1 .2" type="capsule"/>
<body name="c"><joint name="j"/><geom name="x" size=".1" contype="0" conaffinity="0"/><geom size=".1" group="3"/>
</body></body></body></worldbody>
<contact><pair name="p" geom1="floor" geom2="x" friction=".7 .7 .01 .002 .002" margin=".01" condim="6"/>
<pair geom1="k" geom2="x" friction=".7 .6 .01 .002 .001" solref=".03 1"/>
<exclude body1="c" body2="b"/><exclude name="e" body1="a" body2="c"/></contact></mujoco>"""


@pytest.fixture(scope="module")
def scene():
    return kt.load(SCENE)


def shape(model, name):
    return next(g for body in model.geometry for g in body if g.name == name)


def test_contact_data_of_geoms_are_those_that_mujoco_compiles(scene):
    """Friction, filters, margin, dimension, priority; shapes without bits are for contacts if a pair names them."""
    mj = mujoco.MjModel.from_xml_string(SCENE)
    for g in range(mj.ngeom):
        if not (name := mj.geom(g).name):
            continue
        ours = shape(scene, name)
        assert ours.friction == tuple(mj.geom_friction[g])
        assert (ours.contype, ours.conaffinity) == (mj.geom_contype[g], mj.geom_conaffinity[g])
        assert (ours.margin, ours.condim, ours.priority) == (
            mj.geom_margin[g], mj.geom_condim[g], mj.geom_priority[g],
        )  # fmt: skip
        assert (ours.softness.solref if ours.softness else (0.02, 1.0)) == tuple(mj.geom_solref[g])
    assert [g.role for g in scene.geometry[scene.body("c")]] == ["both", "collision"]
    assert [(g.name, g.link) for g in scene.geometry[scene.body("a")]] == [("g", ""), ("k", "b")]


def test_heights_of_a_field_are_those_of_mujoco(scene):
    """Sizes are whole lengths, heights are meters, rows from the lower edge."""
    mj, ours = mujoco.MjModel.from_xml_string(SCENE), shape(scene, "hill")
    assert ours.size == (2.0, 4.0, 0.1)
    np.testing.assert_array_equal(ours.heights.ravel(), 0.5 * mj.hfield_data.astype(float))
    np.testing.assert_allclose(ours.heights, [[0.3, 0.4, 0.5], [0.0, 0.1, 0.2]], atol=1e-7)  # single precision


def test_pairs_and_exclusions(scene):
    """Names of bodies and links, and of shapes; three coefficients where both directions have the same."""
    assert sorted(map(sorted, scene.equipment.contact_excludes)) == [["a", "c"], ["b", "c"]]
    first, second = scene.equipment.contact_pairs
    assert (*first, first.friction, first.margin, first.condim) == ("floor", "x", (0.7, 0.01, 0.002), 0.01, 6)
    assert second.friction == (0.7, 0.6, 0.01, 0.002, 0.001) and second.softness.solref == (0.03, 1.0)
    assert not scene.unsupported


def test_mjcf_written_and_read_again(scene):
    """All contact data survive; a second time the text is the same."""
    text = kt.io.to_mjcf(scene)
    again = kt.load(text)
    named = scene.geometry[scene.body("a")], again.geometry[again.body("a")]
    assert_shapes_alike(again, scene)
    np.testing.assert_array_equal(shape(again, "hill").heights, shape(scene, "hill").heights)
    assert again.equipment.contact_pairs == scene.equipment.contact_pairs
    apart = [{frozenset(exclude) for exclude in m.equipment.contact_excludes} for m in (again, scene)]
    assert apart[0] == apart[1] == {frozenset("ac"), frozenset("bc")}
    assert [g.condim for g in named[0]] == [g.condim for g in named[1]]
    assert kt.io.to_mjcf(again) == kt.io.to_mjcf(kt.load(kt.io.to_mjcf(again)))


def test_a_field_below_its_origin_is_written_where_it_is():
    """MuJoCo scales heights to 0 to 1, so the lowest point becomes the origin; points stay where they are."""
    heights = np.array([[-0.3, 0.1], [0.2, 0.4], [0.0, 0.0]])
    field = Geometry("heightfield", (2.0, 3.0, 1.0), p_BG=(0.0, 0.0, 0.5), heights=heights, name="h")
    builder = kt.ModelBuilder("field")
    builder.add_geometry("world", field)
    builder.add_body("a", joint=kt.joints.Free(), mass=1.0, inertia=(1.0, 1.0, 1.0))
    again = shape(kt.load(kt.io.to_mjcf(builder.build())), "h")
    np.testing.assert_allclose(again.heights + again.p_BG[2], heights + 0.5, atol=1e-7)  # single precision
    assert again.p_BG[2] - again.size[2] == pytest.approx(-0.5)
    low, high = kt.geometry.bounding_box(field)
    assert (low.tolist(), high.tolist()) == ([-1.0, -1.5, -0.5], [1.0, 1.5, 0.9])


def test_urdf_of_pybullet_and_gazebo():
    """<contact> of a link, else mu1, kp and kd of Gazebo, go to the shapes for contacts; written as <contact>."""
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
        '<visual><geometry><sphere radius="1"/></geometry></visual>'
        '<collision><geometry><sphere radius="1"/></geometry></collision>'
    )
    text = f"""<robot name="r"><link name="w"/><link name="a">{inertial}<contact><lateral_friction value="0.7"/>
    <rolling_friction value="0.01"/><restitution value="0.2"/></contact></link><link name="b">{inertial}</link>
    <joint name="j" type="continuous"><parent link="w"/><child link="a"/></joint>
    <joint name="k" type="continuous"><parent link="a"/><child link="b"/></joint>
    <gazebo reference="a"><mu1>0.3</mu1><kp>1e6</kp></gazebo>
    <gazebo reference="b"><mu1>0.5</mu1><kp>1e5</kp><kd>10</kd><material>Red</material></gazebo></robot>"""
    loaded = kt.load(text)
    for robot in (loaded, kt.load(kt.io.to_urdf(loaded))):
        a, b = (robot.geometry[robot.body(name)] for name in "ab")
        assert (a[1].friction, a[1].restitution, a[1].stiffness) == ((0.7, 0.0, 0.01), 0.2, 1e6)
        assert (b[1].friction, b[1].stiffness, b[1].damping, b[1].restitution) == ((0.5,), 1e5, 10.0, None)
        assert a[0].friction is None
    assert "mu1, kp and kd are kept" in str(loaded.report) and "PyBullet" in str(loaded.report)


SURFACE = """<surface><bounce><restitution_coefficient>.4</restitution_coefficient><threshold>9</threshold></bounce>
<friction><ode><mu>.6</mu><mu2>.5</mu2><slip1>1</slip1></ode><torsional><coefficient>.2</coefficient>
<patch_radius>.05</patch_radius></torsional><bullet><rolling_friction>.01</rolling_friction></bullet></friction>
<contact><collide_bitmask>0x06</collide_bitmask><category_bitmask>1</category_bitmask><ode><kp>1e5</kp><kd>3</kd>
<max_vel>1</max_vel></ode></contact></surface>"""
BALL = "<geometry><sphere><radius>1</radius></sphere></geometry>"


def test_sdf_surface():
    """Friction, restitution, stiffness and filter bits; the torque of a patch; the rest is in the report."""
    inside = f"<collision name='k'>{BALL}{SURFACE}</collision><collision name='l'>{BALL}</collision>"
    loaded = kt.load(model(link("a", inside=inertial() + inside)))
    k, free = loaded.geometry[1]
    assert k.friction == pytest.approx((0.6, 3.0 * math.pi / 16.0 * 0.05 * 0.2, 0.01), rel=1e-15)
    assert (k.restitution, k.stiffness, k.damping, k.contype, k.conaffinity) == (0.4, 1e5, 3.0, 1, 6)
    assert (free.contype, free.conaffinity, free.friction) == (0xFFFF, 0xFFFF, None)
    report = str(loaded.report)
    for said in ("threshold", "mu2 ignored", "slip1", "max_vel"):
        assert said in report
    assert "no part of the SDF format" not in report


@pytest.mark.parametrize(("surface", "message"), [
    ("<friction><ode><mu>-1</mu></ode></friction>", "mu is -1, expected 0 or more. Is the sign wrong"),
    ("<bounce><restitution_coefficient>2</restitution_coefficient></bounce>", "is 2, expected 0 to 1"),
    ("<contact><collide_bitmask>all</collide_bitmask></contact>", "'all', expected filter bits"),
])  # fmt: skip
def test_bad_numbers_of_a_surface(surface, message):
    inside = f"<collision name='k'>{BALL}<surface>{surface}</surface></collision>"
    with pytest.raises(kt.errors.SDFError, match=message):
        kt.load(model(link("a", inside=inertial() + inside)))


@pytest.mark.parametrize(("data", "message"), [
    ({"friction": -0.1}, "sphere 'ball': friction is -0.1, expected a finite number of 0 or more; is the sign wrong"),
    ({"friction": (1.0,) * 4}, "expected 1 to 3 numbers: sliding, torsional, rolling"),
    ({"friction": "rough"}, "expected numbers"),
    ({"restitution": 1.2}, "restitution is 1.2, expected 0 .plastic. to 1 .elastic."),
    ({"restitution": math.nan}, "restitution is nan"),
    ({"margin": -1.0}, "margin is -1"),
    ({"contype": 1.5}, "contype is 1.5, expected filter bits"),
    ({"conaffinity": -1}, "conaffinity is -1"),
    ({"condim": 2}, "condim is 2; known dimensions of a contact force: 1, 3, 4, 6"),
    ({"heights": np.zeros((2, 2))}, "heights= belongs to heightfields"),
])  # fmt: skip
def test_impossible_contact_data_are_refused(data, message):
    """Each by a named error."""
    with pytest.raises(ModelError, match=message):
        Geometry("sphere", (0.1,), name="ball", **data)


@pytest.mark.parametrize(("heights", "message"), [
    (None, "heights= belongs to heightfields"),
    (np.zeros(4), r"heights have shape \(4,\), expected \(rows, columns\)"),
    ([[0.0, math.inf], [0.0, 0.0]], "heights: one is .inf. m, expected finite"),
    ([[0.0, -1.5], [0.0, 0.0]], "lowest height is -1.5 m, and the ground ends 1 m below z = 0; give a greater depth"),
])  # fmt: skip
def test_bad_heights(heights, message):
    with pytest.raises(KinetreeError, match=message):
        Geometry("heightfield", (1.0, 1.0, 1.0), heights=heights)


def test_data_are_frozen_and_pickled(scene):
    """With arrays that stay read-only."""
    again = pickle.loads(pickle.dumps(scene))
    assert again.equipment.contact_pairs == scene.equipment.contact_pairs
    with pytest.raises(ValueError, match="read-only"):
        shape(again, "hill").heights[0, 0] = 1.0


def test_surgery_follows(scene):
    """New names of bodies, links and shapes; pairs and exclusions of removed bodies go; links stay."""
    two = kt.surgery.rename(scene, prefix="l_")
    assert sorted(map(sorted, two.equipment.contact_excludes)) == [["l_a", "l_c"], ["l_b", "l_c"]]
    assert [tuple(pair) for pair in two.equipment.contact_pairs] == [("l_floor", "l_x"), ("l_k", "l_x")]
    assert shape(two, "l_k").link == "l_b"
    locked = kt.surgery.lock(scene, {"j": 0.3})
    assert shape(locked, "x").link == "c" and len(locked.equipment.contact_excludes) == 2
    cut = kt.surgery.prune(scene, "c")
    assert cut.equipment.contact_pairs == cut.equipment.contact_excludes == ()


def test_names_must_exist(scene):
    """Of bodies in exclusions, of shapes in pairs; a shape's name must be that of one shape."""
    with pytest.raises(UnknownNameError, match="no frame named 'd'"):
        scene.replace(equipment=Equipment(contact_excludes=(ContactExclude("a", "d"),)))
    with pytest.raises(UnknownNameError, match="no shape named 'flor'.*Did you mean 'floor'"):
        scene.replace(equipment=Equipment(contact_pairs=(GeometryPair("flor", "x"),)))
    builder = kt.ModelBuilder.of(scene)
    builder.add_geometry("c", Geometry("sphere", (1.0,), name="x"))
    with pytest.raises(DuplicateNameError, match="two shapes are named 'x'"):
        builder.build()
