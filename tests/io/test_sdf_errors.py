"""Every malformed SDF file gives its named error with the line; what is ignored or assumed stands in the report."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import InertiaError, KinetreeError, ModelError, SDFError, UnknownNameError, UnsupportedError
from kinetree.io.sdf.read import load_sdf
from tests.io.sdf_text import inertial, joint, link, model, world

A, B = link("a"), link("b")
Z = "<axis><xyz>0 0 1</xyz></axis>"


def limit(inside):
    return f"<axis><xyz>0 0 1</xyz><limit>{inside}</limit></axis>"


MALFORMED = {
    "another format": ('<robot name="r"/>', r":1: the root element is <robot>, expected <sdf>", "wrong-root"),
    "no version": ("<sdf><model name='m'/></sdf>", "has no attribute 'version'", "missing-attribute"),
    "no such version": (model(A, version="2.0"), "version 2.0 is not known; versions 1.0 to 1.12 are", "version"),
    "version is no number": (model(A, version="new"), "version 'new' is no version such as 1.7", "version"),
    "no model": ('<sdf version="1.7"/>', "holds no model. <sdf> holds <model>", "no-model"),
    "two models": (
        '<sdf version="1.6"><model name="m"><link name="a"/></model>\n<model name="n"><link name="a"/></model></sdf>',
        r":2: the file holds 2 models outside a world \('m', 'n'\). Choose one: model='m'",
        "several-models",
    ),
    "no link": (model("<pose/>"), "model 'm' has no link", "no-links"),
    "link without name": (model("<link/>"), ":3: .*link has no attribute 'name'", "missing-attribute"),
    "two links": (model(A, A), ":4: link 'a' is named like the link on line 3", "duplicate-name"),
    "link and frame": (model(A, '<frame name="a"/>'), ":4: frame 'a' is named like the link", "duplicate-name"),
    "joint and link": (
        model(A, B, joint("a", "ball", "world", "b", "")), ":5: joint 'a' is named like", "duplicate-name"
    ),
    "reserved name": (model(link("__x__")), "'__x__': this name is reserved. Rename it", "reserved-name"),
    "link named world": (model(link("world")), "link 'world': this name is reserved", "reserved-name"),
    "separator in a name": (model(link("a::b"), version="1.8"), "'::' separates", "reserved-name"),
    "no joint type": (model(A, B, "<joint name='j'/>"), ":5: .*joint.j. has no attribute 'type'", "missing-attribute"),
    "unknown joint type": (
        model(A, B, joint("j", "Ball", "a", "b", "")),
        ":5: joint 'j' has type 'Ball'. Known types: revolute.*Did you mean 'ball'",
        "unknown-joint-type",
    ),
    "no parent": (
        model(A, "<joint name='j' type='fixed'><child>a</child></joint>"), ":4: .* has no <parent>", "missing-element"
    ),
    "empty child": (
        model(A, "<joint name='j' type='fixed'><parent>a</parent><child/></joint>"), "child is empty", "empty-element"
    ),
    "unknown parent": (
        model(link("arm"), B, joint("j", "ball", "arn", "b", "")),
        ":5: no frame named 'arn' in model 'm'. Did you mean 'arm'",
        "unknown-name",
    ),
    "joint of a link with itself": (
        model(A, joint("j", "ball", "a", "a", "")),
        ":4: joint 'j' connects 'a'", "self-joint",
    ),
    "joint of a link with its frame": (
        model(A, '<frame name="f" attached_to="a"/>', joint("j", "ball", "f", "a", "")), "connects 'a'", "self-joint"
    ),
    "joint that carries itself": (model(A, joint("j", "ball", "a", "j", "")), "the joint itself", "self-joint"),
    "the world as a child": (
        model(A, joint("j", "ball", "a", "world", "")), "the child is the world. Exchange parent and child", "bad-child"
    ),
    "no axis": (
        model(A, joint("j", "revolute", "world", "a", "")),
        "of type revolute and has no <axis>", "missing-element",
    ),
    "zero axis": (
        model(A, joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>")),
        ":4: .*no direction", "zero-axis",
    ),
    "parallel axes": (
        model(A, joint("j", "revolute2", "world", "a", Z + "<axis2><xyz>0 0 -1</xyz></axis2>")),
        "parallel", "parallel-axes",
    ),
    "screw without thread": (
        model(A, joint("j", "screw", "world", "a")),
        "a screw without a thread", "missing-element",
    ),
    "pitch of zero": (
        model(A, joint("j", "screw", "world", "a", Z + "<thread_pitch>0</thread_pitch>")), "0 radians per", "bad-number"
    ),
    "limits exchanged": (
        model(A, joint("j", "revolute", "world", "a", limit("<lower>1</lower><upper>-1</upper>"))),
        ":4: .*lower limit 1 is above the upper limit -1. Were they exchanged",
        "limit-order",
    ),
    "negative damping": (
        model(A, joint("j", "revolute", "world", "a", "<axis><dynamics><damping>-1</damping></dynamics></axis>")),
        "damping is -1, expected 0 or more",
        "negative-dissipation",
    ),
    "axis flag of old versions": (
        model(A, joint("j", "revolute", "world", "a",
                       "<axis><xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>")),
        "left the format with SDF 1.7. Write <xyz expressed_in='__model__'>",
        "version",
    ),
    "too few numbers": (model(link("a", "1 2 3")), ":3: .*pose is '1 2 3': 3 numbers, expected 6", "bad-number"),
    "commas": (model(link("a", "1,2,3,0,0,0")), "separated by spaces, not by commas", "bad-number"),
    "no number": (model(link("a", "x 0 0 0 0 0")), "'x' is not a finite number", "bad-number"),
    "nan": (model(link("a", "nan 0 0 0 0 0")), "'nan' is not a finite number", "bad-number"),
    "infinite mass": (model(link("a", inside=inertial("inf"))), "'inf' is not a finite number", "bad-number"),
    "too large": (model(link("a", inside=inertial("1e60"))), "too large: beyond 1e.50", "bad-number"),
    "no truth": (model("<static>maybe</static>", A), "static is 'maybe', expected true or false", "bad-boolean"),
    "two masses": (
        model(link("a", inside="<inertial><mass>1</mass>\n<mass>1</mass></inertial>")),
        ":4: .*<mass> twice", "repeated-element",
    ),
    "no unit quaternion": (
        model(link("a", "0 0 0 0 0 0 2", attributes='rotation_format="quat_xyzw"')),
        "has length 2, expected 1", "bad-quaternion",
    ),
    "unknown rotation": (
        model(link("a", "0 0 0 0 0 0", attributes='rotation_format="wxyz"')),
        "'wxyz'; known", "bad-choice",
    ),
    "inertial elsewhere": (
        model(link("a", inside='<inertial><pose relative_to="a">0 0 0 0 0 0</pose></inertial>')),
        "not allowed", "bad-frame",
    ),
    "no geometry": (model(link("a", inside='<collision name="c"/>')), "has no <geometry>", "missing-element"),
    "two geometries": (
        model(link("a", inside='<visual name="c"><geometry><box/><mesh/></geometry></visual>')),
        "<box> and <mesh>", "repeated-element",
    ),
    "mimic of nothing": (
        model(A, joint("j", "revolute", "world", "a", '<axis><xyz>0 0 1</xyz><mimic joint="k"/></axis>')),
        "mimics 'k', and there is no such joint",
        "mimic-unknown",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_files_are_refused(case):
    """The message says where, what, and which rule; code, line and file are attributes."""
    text, message, code = MALFORMED[case]
    with pytest.raises(SDFError, match=message) as caught:
        load_sdf(text)
    error = caught.value
    assert error.code == code and error.file == "<string>" and error.line >= 1
    assert str(error).startswith(f"<string>:{error.line}: ")


PHYSICS = {
    "no gravity": link("a", inside=inertial() + "<gravity>0</gravity>"),
    "kinematic": link("a", inside=inertial() + "<kinematic>true</kinematic>"),
    "drag": link("a", inside=inertial() + "<velocity_decay><linear>0.1</linear></velocity_decay>"),
    "added mass": link("a", inside="<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia>"
                                   "<fluid_added_mass><xx>1</xx></fluid_added_mass></inertial>"),
    "misspelled inertia": link("a", inside="<inertial><mass>1</mass><inertai><ixx>3</ixx></inertai></inertial>"),
    "misspelled damping": A + joint("j", "revolute", "world", "a",
                                    "<axis><xyz>0 0 1</xyz><dynamics><dampening>1</dampening></dynamics></axis>"),
    "misspelled attribute": link("a", "0 0 0 0 0 0", attributes='relativ_to="x"'),
    "extension": A + '<d:linear_bushing_rpy xmlns:d="drake.mit.edu"/>',
}  # fmt: skip


@pytest.mark.parametrize("case", PHYSICS)
def test_physics_that_is_not_held_is_refused(case):
    """It raises, with its line, unless it is dropped; then it is in the report."""
    with pytest.raises(UnsupportedError, match=r"^<string>:3: .*unsupported='drop'"):
        load_sdf(model(PHYSICS[case]))
    loaded = load_sdf(model(PHYSICS[case]), unsupported="drop")
    (entry,) = loaded.report.at_level("dropped")
    assert entry.where == "<string>:3"


def test_wind_is_refused_where_something_feels_it():
    """Wind over links that do not ask for it, and asking for it in still air, are without effect."""
    wind = "<wind><linear_velocity>1 0 0</linear_velocity></wind>"
    feels = f'<model name="m"><enable_wind>true</enable_wind>{A}</model>'
    numb = f'<model name="m">{A}</model>'
    with pytest.raises(UnsupportedError, match="the wind is not modeled"):
        load_sdf(world(wind, feels))
    assert "no wind" in str(load_sdf(world(feels)).report)
    assert not load_sdf(world(wind, numb)).report.at_level("dropped")


def test_every_ignored_element_is_reported():
    """Sensors, plugins, contact parameters and what is no part of the format, each with its line and reason."""
    loaded = load_sdf(model(
        A.replace("</link>", '\n<sensor name="s" type="imu"><x/></sensor></link>'),
        '<plugin name="p" filename="p.so"><gain>1</gain></plugin>',
        "<self_collide>1</self_collide>",
        '<nonsense color="red"/>',
    ))  # fmt: skip
    found = {entry.where: entry.message for entry in loaded.report}
    assert found == {
        "<string>:4": "sdf/model[m]/link[a]/sensor[s] ignored: sensors are not modeled",
        "<string>:5": "sdf/model[m]/plugin[p] ignored: plugins are programs of a simulator, and are not run",
        "<string>:6": "sdf/model[m]/self_collide ignored: pairs are chosen by model.with_contacts(...)",
        "<string>:7": "sdf/model[m]/nonsense ignored: no part of the SDF format",
    }


def test_the_masses_that_sdf_assumes_are_warnings():
    """Without <inertial> a link has 1 kg and 1 kg m^2; so has one that states part of it."""
    loaded = load_sdf(model(link("a", inside="")))
    assert loaded.total_mass == 1.0
    np.testing.assert_array_equal(loaded.I[1].I.matrix.rows, np.eye(3))
    assert "no <inertial>" in loaded.report.at_level("warning")[0].message
    half = load_sdf(model(link("a", inside="<inertial><inertia><ixx>0.9</ixx></inertia></inertial>")))
    assert [entry.message for entry in half.report.at_level("warning")] == [
        "sdf/model[m]/link[a]/inertial states no mass: 1 kg, the format's default",
        "sdf/model[m]/link[a]/inertial/inertia states no iyy, izz: 1 kg m^2, the format's default",
    ]


def test_impossible_inertias():
    """The rule that is broken and the choices; each repair is reported."""
    text = model(link("a", inside=inertial(1.0, (1.0, 1.0, 3.0))))
    with pytest.raises(InertiaError, match=r"<string>:3: link 'a': .*break I3 <= I1.*inertia='project'") as caught:
        load_sdf(text)
    assert caught.value.code == "impossible-inertia" and caught.value.link == "a"
    for choice in ("project", "accept"):
        assert load_sdf(text, inertia=choice).report.at_level("warning")


def test_joints_that_move_no_inertia():
    """Refused with the line of the joint; locked on request."""
    text = model(link("a", inside=inertial(0.0, (0.0, 0.0, 0.0))), "\n" + joint("j", "revolute", "world", "a"))
    with pytest.raises(ModelError, match=r"<string>:5: massless moving leaf: joint 'j'.*massless='lock'"):
        load_sdf(text)
    loaded = load_sdf(text, massless="lock")
    assert loaded.nv == 0 and "joint 'j' moves no inertia: made fixed" in str(loaded.report)


@pytest.mark.parametrize("option", ["unsupported", "inertia", "massless"])
def test_options_have_choices(option):
    """A misspelled choice is refused, not taken for the default."""
    with pytest.raises(UnknownNameError, match=f"load_sdf.*{option}="):
        load_sdf(model(A), **{option: "rase"})


def test_masses_by_density():
    """auto='true': 10 kg/m^3 in a box of 1 x 2 x 3 m, and a ball of another density beside it (closed forms)."""
    box = '<collision name="c"><geometry><box><size>1 2 3</size></box></geometry></collision>'
    ball = (
        '<collision name="d"><pose>0 0 2 0 0 0</pose><density>30</density>'
        "<geometry><sphere><radius>0.5</radius></sphere></geometry></collision>"
    )
    auto = '<inertial auto="true"><density>10</density></inertial>'
    loaded = load_sdf(model(link("a", "5 0 0 0 0 0.3", auto + box + ball), version="1.11"))
    m, n = 60.0, 30.0 * 4.0 / 3.0 * np.pi * 0.125
    I = m / 12.0 * np.diag([13.0, 10.0, 5.0]) + n * (0.4 * 0.25 * np.eye(3) + np.diag([4.0, 4.0, 0.0]))
    assert loaded.total_mass == pytest.approx(m + n, rel=1e-14)
    np.testing.assert_allclose(list(loaded.I[1].com), [0.0, 0.0, 2.0 * n / (m + n)], atol=1e-14)
    np.testing.assert_allclose(loaded.I[1].I.matrix.rows, I, atol=1e-12)
    with pytest.raises(InertiaError, match="none with a volume"):
        load_sdf(model(link("a", inside=auto), version="1.11"))
    with pytest.raises(SDFError, match="auto='true', so that its <mass> is computed"):
        load_sdf(model(link("a", inside='<inertial auto="1"><mass>1</mass></inertial>' + box), version="1.11"))


def test_shapes_have_sizes_poses_colors_and_meshes_their_files(tmp_path):
    """Each shape is posed in its body; a plane is turned to its normal; what is not held is reported."""
    (tmp_path / "m.stl").write_text("solid\nendsolid\n")
    shapes = {
        "box": "<size>1 2 3</size>", "cylinder": "<radius>1</radius><length>2</length>", "sphere": "<radius>1</radius>",
        "capsule": "<radius>1</radius><length>2</length>", "ellipsoid": "<radii>1 2 3</radii>",
        "plane": "<normal>1 0 0</normal><size>4 4</size>", "mesh": "<uri>m.stl</uri><scale>2 2 2</scale>",
        "cone": "<radius>1</radius><length>2</length>",
    }  # fmt: skip
    visuals = "".join(
        f'<visual name="{kind}"><pose>1 0 0 0 0 0</pose><geometry><{kind}>{inside}</{kind}></geometry>'
        "<transparency>0.5</transparency><material><diffuse>1 0 0 1</diffuse></material></visual>"
        for kind, inside in shapes.items()
    )
    path = tmp_path / "robot.sdf"
    path.write_text(model(link("a", inside=inertial() + visuals)))
    loaded = load_sdf(path)
    found = {shape.kind: shape for shape in loaded.geometry[1]}
    assert set(found) == set(shapes) - {"cone"} and "a shape of kind cone" in str(loaded.report)
    assert found["box"].size == (1.0, 2.0, 3.0) and found["capsule"].size == (1.0, 2.0)
    np.testing.assert_array_equal(found["box"].p_BG, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(found["plane"].R_BG[:, 2], [1.0, 0.0, 0.0])
    assert found["mesh"].mesh == str(tmp_path / "m.stl") and found["mesh"].scale == (2.0, 2.0, 2.0)
    assert found["box"].color == (1.0, 0.0, 0.0, 0.5) and found["box"].role == "visual"


def test_kt_load_recognizes_the_format():
    """By the root element; errors are of one family."""
    assert kt.load(model(A), floating_base=False).nv == 0
    with pytest.raises(UnknownNameError, match="option"):
        kt.load(model(A), flaoting_base=True)
    with pytest.raises(KinetreeError):
        kt.load("<sdf")
