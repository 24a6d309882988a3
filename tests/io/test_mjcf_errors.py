"""Every MJCF file that cannot be read honestly ends in an error with file and line; every omission is in the report."""

from __future__ import annotations

import pytest

import kinetree as kt
from kinetree import load
from kinetree.errors import MJCFError, ModelError, UnknownNameError, UnsupportedError
from kinetree.io.mjcf.read import load_mjcf

mujoco = pytest.importorskip("mujoco")
BODY = '<body name="b">\n<joint name="j"/>\n<geom name="g" size=".1"/>\n</body>'


def world(content=BODY, head="", tail=""):
    return f"<mujoco>\n{head}<worldbody>\n{content}\n</worldbody>\n{tail}</mujoco>"


# Formats -------------------------------------------------------------------------------------------------------------


def test_load_tells_mjcf_by_its_root_whatever_the_file_is_called(tmp_path):
    """A comment, a declaration and a byte order mark may come first; text works too."""
    text = '\ufeff<?xml version="1.0"?>\n<!-- <robot/> -->\n' + world()
    for name in ("a.xml", "a.mjcf", "a.urdf", "a"):
        (tmp_path / name).write_text(text)
        assert load(tmp_path / name).joint_names == ("j",)
    assert load(text).joint_names == load(world()).joint_names == ("j",)


def test_options_are_those_of_the_format():
    """An option of another reader is named with those that exist."""
    with pytest.raises(UnknownNameError, match="no option named 'scale' in kt.load of an MJCF file.*floating_base"):
        load(world(), scale=1)


def test_other_roots_are_refused():
    """A part for inclusion is no model; URDF goes to its own reader."""
    with pytest.raises(MJCFError, match=r"<string>:1: the root element is <mujocoinclude>: .* Load the file that"):
        load("<mujocoinclude><body/></mujocoinclude>")
    with pytest.raises(MJCFError, match=r"<string>:1: the root element is <robot> \(URDF\), expected <mujoco>"):
        load_mjcf("<robot/>")


def test_a_file_without_anything_is_refused():
    """Settings that other files include are no model."""
    with pytest.raises(ModelError, match="<string>:1: the file holds no body and no shape"):
        load("<mujoco><option timestep='.1'/></mujoco>")


# What MuJoCo refuses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (world('<body>\n<geom sizze=".1"/></body>'), r"<string>:4: MuJoCo: .*unrecognized attribute: 'sizze'.*<geom>"),
        (world('<body name="b">\n<joint/></body>'), "<string>:3: body 'b' moves with mass 0 kg"),
        (world(tail='<actuator>\n<motor name="m" joint="k"/></actuator>\n'), "<string>:9: MuJoCo: .*'k'.*'m'"),
        (world("<body>"), "<string>:4: not well-formed XML"),
        ("<!DOCTYPE mujoco [<!ENTITY a 'b'>]>" + world(), "<string>:1: the document type declares entities"),
    ],
)
def test_broken_files_end_in_an_error_with_a_line(text, message):
    """MuJoCo's own words, with file and line in front."""
    with pytest.raises((MJCFError, ModelError), match=message):
        load_mjcf(text)


def test_errors_in_included_files_name_those(tmp_path):
    """MuJoCo gives no line in included files; the element is looked up."""
    (tmp_path / "main.xml").write_text(world('<include file="part.xml"/>'))
    (tmp_path / "part.xml").write_text('<mujocoinclude>\n\n<body><geom sizze=".1"/></body></mujocoinclude>')
    with pytest.raises(MJCFError, match=r"part\.xml:3: MuJoCo: .*'sizze'"):
        load(tmp_path / "main.xml")
    (tmp_path / "part.xml").write_text('<mujocoinclude>\n<body name="c">\n<joint/></body></mujocoinclude>')
    with pytest.raises(ModelError, match=r"part\.xml:2: body 'c' moves with mass 0 kg"):
        load(tmp_path / "main.xml")
    (tmp_path / "part.xml").write_text("<!DOCTYPE a [<!ENTITY b 'c'>]><mujocoinclude/>")
    with pytest.raises(MJCFError, match=r"part\.xml:1: the document type declares entities"):
        load(tmp_path / "main.xml")


def test_an_include_that_is_missing_is_named(tmp_path):
    """With the line of the element that asks for it."""
    (tmp_path / "main.xml").write_text(world('<include file="part.xml"/>'))
    with pytest.raises(MJCFError, match=r"main\.xml:3: MuJoCo: .*part\.xml"):
        load(tmp_path / "main.xml")


def test_nothing_is_printed_and_no_log_is_left(tmp_path, monkeypatch, capfd, recwarn):
    """MuJoCo's warnings are in the report, not on the screen or in the working folder."""
    monkeypatch.chdir(tmp_path)
    model = load(world(head='<compiler settotalmass="2"/>'))
    assert list(tmp_path.iterdir()) == [] and capfd.readouterr() == ("", "") and not recwarn.list
    assert model.I[1].m == pytest.approx(2.0)


def test_without_mujoco_the_error_says_how_to_get_it(monkeypatch):
    """The package is an extra."""
    import sys

    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(kt.errors.MissingDependencyError, match="pip install mujoco"):
        load(world())


# Physics without a place ---------------------------------------------------------------------------------------------

FREE = '<body name="b">\n<joint name="f" type="free" {}/>\n<geom size=".1"/></body>'
CASES = {
    "free armature": (world(FREE.format('armature="1"')), ":4: armature of free joint 'f'.*<freejoint/>"),
    "free friction": (world(FREE.format('frictionloss="1"')), ":4: dry friction of free joint 'f'"),
    "flex": (
        world(
            '<flexcomp name="f" type="grid" count="2 2 2" spacing=".1 .1 .1" dim="3" radius=".01">'
            '<elasticity young="1e4"/></flexcomp>' + BODY
        ),
        ":3: 1 deformable bodies",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_physics_that_a_model_cannot_hold_is_refused_or_dropped_on_request(case):
    """The error names element, file and line, and the way around, which leaves an entry "dropped" in the report."""
    text, message = CASES[case]
    with pytest.raises(UnsupportedError, match=f"<string>{message}.*unsupported='drop' loads without it"):
        load_mjcf(text)
    dropped = load_mjcf(text, unsupported="drop").report.at_level("dropped")
    assert len(dropped) == 1


@pytest.mark.parametrize(
    ("attribute", "what"),
    [('stiffness="1 2 3"', "spring of higher order"), ('damping="1 2 3"', "damping of higher order")],
)
def test_nonlinear_springs_and_dampers_are_refused(attribute, what):
    """Polynomials of MuJoCo 3.7 and later keep their linear part when they are dropped."""
    text = world(BODY.replace('name="j"', f'name="j" type="ball" {attribute}'))
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip("this MuJoCo has no such polynomials")
    with pytest.raises(UnsupportedError, match=f"<string>:4: joint 'j' has .*{what}"):
        load_mjcf(text)
    model = load_mjcf(text, unsupported="drop")
    assert model.damping[0] + model.stiffness[0] == 1.0


def test_every_refused_feature_is_named_at_once():
    """One run shows what stands in the way."""
    other = FREE.replace('"b"', '"c"').replace('"f"', '"g"')
    text, second = world(FREE.format('frictionloss="1"') + other.format('armature="1"')), "armature of free joint 'g'"
    with pytest.raises(UnsupportedError, match=f"dry friction of free joint 'f'.*Also: .*{second}") as caught:
        load_mjcf(text)
    assert len(caught.value.features) == 2


# The report ----------------------------------------------------------------------------------------------------------


def test_what_is_ignored_is_reported_once_per_kind_with_the_first_line():
    """Elements with their number, attributes with their reason."""
    model = load_mjcf(world(
        '<light pos="0 0 1"/><camera name="c"/>\n<light pos="0 0 2"/>' + BODY.replace("<geom", '<geom solmix="1"'),
        head='<option timestep="1e-3"/>\n',
        tail='<sensor><jointpos joint="j"/><jointvel joint="j"/></sensor>',
    ))  # fmt: skip
    entries = [str(entry) for entry in model.report]
    assert "info: <string>:4: <light> ignored (2 elements): lights are not drawn" in entries
    assert "info: <string>:4: <camera> ignored: cameras are not modeled" in entries
    assert any(entry.startswith("info: <string>:7: <geom>: solmix ignored: a setting of") for entry in entries)
    assert any(entry.startswith("info: <string>:2: <option>: timestep ignored") for entry in entries)
    assert any("<sensor> ignored (2 elements)" in entry for entry in entries)


def test_every_attribute_of_the_files_is_used_or_reported():
    """Attributes that no part of the reader uses appear by name, also those of defaults and drives."""
    model = load_mjcf(world(
        '<body sleep="never"><joint name="j" margin=".1" group="2" user="1"/><geom size=".1" solmix="1"/></body>',
        head='<size nuser_jnt="1" nuser_geom="1" nuser_actuator="1"/><default><geom gap=".1"/><tendon '
             'rgba="1 0 0 1"/></default>',
        tail='<actuator><motor joint="j" group="1" user="3"/></actuator>',
    )) if hasattr(mujoco.MjSpec().worldbody, "sleep") else pytest.skip("older schema")  # fmt: skip
    text = str(model.report)
    for found in ("<body>: sleep", "<joint>: margin", "solmix", "gap", "<tendon>: rgba", "<motor>: group", "<size>"):
        assert found in text
    assert "not known to this reader" not in text


def test_a_plain_file_has_an_empty_report():
    """Nothing to say where everything is held, but for contacts, which geoms have by default."""
    model = load_mjcf(world(BODY.replace("<geom", '<geom contype="0" conaffinity="0"')))
    assert len(model.report) == 0


def test_includes_are_part_of_the_report(tmp_path):
    """With their own file and line."""
    (tmp_path / "main.xml").write_text(world(BODY + '<include file="lights.xml"/>'))
    (tmp_path / "lights.xml").write_text("<mujocoinclude>\n<light/></mujocoinclude>")
    assert "lights.xml:2: <light> ignored" in str(load(tmp_path / "main.xml").report)


def test_contacts_are_reported_once_with_their_number():
    """Shapes that may collide, pairs and exclusions."""
    model = load_mjcf(world(BODY + '<geom size=".1"/>'))
    assert "2 geoms for contacts: kept as data, for model.with_contacts(...)" in str(model.report)


def test_files_of_any_name_find_their_includes_and_meshes(tmp_path):
    """MuJoCo opens only .xml by itself; what others refer to is relative to them all the same."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "leg.xml").write_text("<mujocoinclude>\n<body name='leg'><joint/><geom size='.1'/></body>\n"
                                                "</mujocoinclude>")  # fmt: skip
    (tmp_path / "robot.mjcf").write_text(world('<include file="parts/leg.xml"/>'))
    assert load(tmp_path / "robot.mjcf").body_names == ("world", "leg")


def test_what_is_dropped_is_not_in_the_model():
    """Armature and friction of a free joint, which MuJoCo lets act along the world's axes, leave nothing behind."""
    model = load_mjcf(world(FREE.format('armature="1" frictionloss="2"')), unsupported="drop")
    assert not model.armature.any() and not model.dry_friction.any() and not model.forces
    assert len(model.report.at_level("dropped")) == 2


def test_physics_that_touches_nothing_hinders_nothing():
    """A fluid around a scene where nothing moves, and gravity compensation of what stands still."""
    still = '<body name="b" gravcomp="1">\n<geom name="g" size=".1"/>\n</body>'
    model = load_mjcf(world(still, head='<option density="1.2"/>\n'))
    assert model.nv == 0 and not model.own_elements


def test_a_geom_of_astronomical_size_is_named():
    """MuJoCo computes infinite moments for it; the attribute is named, with its line."""
    file = world('<body name="huge"><freejoint/><geom type="cylinder" fromto="0 -.1 0 0 .1 0" size="5e148"/></body>')
    with pytest.raises(MJCFError, match=r"^<string>:3: .*body\[huge\]/geom: attribute 'size' is '5e148'.*too large"):
        load_mjcf(file)
