"""Files that are something else say what they are, and what to do."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, ModelError, UnsupportedError
from kinetree.io.foreign import _BY_ROOT, _BY_SUFFIX
from kinetree.joints import Revolute

XACRO = '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:include filename="a.xacro"/></robot>'


def refused(path):
    """The error of loading; lint has one of the same rule."""
    with pytest.raises(KinetreeError) as error:
        kt.load(path)
    found = kt.lint(path).errors
    assert error.value.code in [each.code for each in found]
    assert str(path) in str(error.value)
    return error.value


@pytest.mark.parametrize("suffix", _BY_SUFFIX)
@pytest.mark.parametrize("content", [b"v 0 0 0\nrobot: 1\n", b"\x00\x01\xff\xfe\x80 binary", b"\xe9t\xe9"])
def test_files_of_other_formats_are_named_by_their_suffix(tmp_path, suffix, content):
    """Text, binary, and text in another encoding, in capitals too."""
    for name in (f"robot{suffix}", f"ROBOT{suffix.upper()}"):
        (tmp_path / name).write_bytes(content)
        error = refused(tmp_path / name)
        assert isinstance(error, UnsupportedError) and error.code == "not-xml"
        assert f"this is {_BY_SUFFIX[suffix][0]} by its name" in str(error)
        assert "it reads URDF, MJCF and SDF" in str(error)


@pytest.mark.parametrize("tag", _BY_ROOT)
@pytest.mark.parametrize("name", ["robot.xml", "robot.osim", "robot.urdf", "robot"])
def test_xml_of_other_formats_is_named_by_its_root(tmp_path, tag, name):
    """Whatever the file is called."""
    path = tmp_path / name
    path.write_text(f'<?xml version="1.0"?>\n<{tag} Version="40000"><x/></{tag}>')
    error = refused(path)
    assert isinstance(error, UnsupportedError) and error.code == "wrong-root"
    assert f":2: this is {_BY_ROOT[tag][0]}, which kinetree does not read" in str(error)


def test_an_opensim_model_says_what_to_do(tmp_path):
    """The file of the format that is asked for most."""
    path = tmp_path / "gait.osim"
    path.write_text('<OpenSimDocument Version="30000"><Model name="gait"/></OpenSimDocument>')
    assert "this is an OpenSim model" in str(refused(path)) and "Convert it to MJCF" in str(refused(path))


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("arm.xacro", "xacro arm.xacro > arm.urdf"),
        ("arm.urdf.xacro", "xacro arm.urdf.xacro > arm.urdf"),
        ("arm.urdf", "xacro arm.urdf > arm.expanded.urdf"),
        ("arm.xml", "xacro arm.xml > arm.xml.urdf"),
        ("arm", "xacro arm > arm.urdf"),
    ],
)
def test_xacro_files_name_the_command_and_a_urdf_file(tmp_path, name, command):
    """By their content, with the suffix or without."""
    (tmp_path / name).write_text(XACRO)
    error = refused(tmp_path / name)
    assert error.code == "xacro" and f"expand it first: {command}" in str(error)


def test_a_xacro_file_without_macros_is_a_urdf_file(tmp_path):
    """There is nothing to expand."""
    (tmp_path / "arm.urdf.xacro").write_text('<robot name="r"><link name="a"/></robot>')
    assert kt.load(tmp_path / "arm.urdf.xacro").name == "r" and not kt.lint(tmp_path / "arm.urdf.xacro").errors


@pytest.mark.parametrize("suffix", ["", ".urdf", ".xml", ".sdf", ".osim", ".zip"])
def test_empty_files_and_folders(tmp_path, suffix):
    """Whatever they are called."""
    (tmp_path / f"empty{suffix}").write_bytes(b"")
    assert refused(tmp_path / f"empty{suffix}").code == "empty-file"
    (tmp_path / f"folder{suffix}").mkdir()
    assert refused(tmp_path / f"folder{suffix}").code == "not-a-file"


def test_an_unknown_root_names_what_is_read(tmp_path):
    """What nobody knows is still no robot."""
    (tmp_path / "a.xml").write_text("<machine/>")
    assert refused(tmp_path / "a.xml").code == "wrong-root"


# Names that a file cannot hold ------------------------------------------------------------------------------------

HIDDEN = ("a\tb", "a\nb", "\r", "\x00", "a\u202eb", "\u200b", "  ", "x" * 1001)


@pytest.mark.parametrize("name", HIDDEN, ids=repr)
def test_names_that_no_reader_takes_are_refused_when_a_model_is_built(name):
    """Bodies, joints and frames, by a builder, by renaming, and from MJCF, whose parser takes them."""
    for body, joint in ((name, "j"), ("a", name)):
        builder = kt.ModelBuilder("m")
        with pytest.raises(ModelError, match="is named .*names are of visible characters, at most 1000"):
            builder.add_body(body, joint=Revolute((0.0, 0.0, 1.0)), joint_name=joint, mass=1.0, inertia=np.eye(3))
            builder.build()
    pendulum = kt.models.pendulum()
    with pytest.raises(ModelError, match="names are of visible characters"):
        kt.surgery.rename(pendulum, bodies={pendulum.body_names[1]: name})


@pytest.mark.parametrize("code", ["&#9;", "&#10;", "&#8238;"])
def test_names_of_mjcf_files_are_visible(code):
    """MuJoCo takes them; written again, they would not be read."""
    text = f'<mujoco><worldbody><body name="a{code}b"><joint/><geom size=".1"/></body></worldbody></mujoco>'
    with pytest.raises(ModelError, match="names are of visible characters"):
        kt.load(text)
    assert kt.lint(text).errors


@pytest.mark.parametrize("to_text", [kt.io.to_urdf, kt.io.to_mjcf])
def test_writers_write_no_hidden_characters(to_text):
    """The model's own name, which no reader needs."""
    model = kt.models.pendulum().replace(name="a\tb")
    with pytest.raises(UnsupportedError, match="XML cannot hold 'a.tb'.* rename it"):
        to_text(model)
