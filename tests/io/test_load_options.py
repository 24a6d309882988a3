"""Options of loading mean the same in all formats, in functions and on the command line."""

from __future__ import annotations

import inspect

import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.errors import FileFormatError, UnknownNameError
from kinetree.io.xml import source

MESH = {
    "urdf": '<robot name="r"><link name="a"><visual><geometry><mesh filename="package://p/m.stl"/></geometry></visual>'
    "</link></robot>",
    "sdf": '<sdf version="1.7"><model name="m"><link name="a"><visual name="v"><geometry><mesh><uri>package://p/m.stl'
    "</uri></mesh></geometry></visual></link></model></sdf>",
    "mjcf": '<mujoco><asset><mesh name="m" file="package://p/m.stl"/></asset><worldbody><body name="a"><freejoint/>'
    '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
}
SOLID = """<robot name="r">
<link name="a"/>
<link name="b"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
</robot>"""


def run(*arguments):
    """Run the command line in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("form", MESH)
def test_package_dirs_may_be_one_folder_a_list_or_a_generator(form, tmp_path):
    """A string is a folder, not a sequence of letters."""
    if form == "mjcf":
        pytest.importorskip("mujoco")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "m.stl").write_bytes(b"solid\nendsolid\n")
    for folders in (str(tmp_path), tmp_path, [tmp_path], (each for each in [str(tmp_path)])):
        model = kt.load(MESH[form], package_dirs=folders)
        meshes = [shape.mesh for shapes in model.geometry for shape in shapes]
        assert meshes == [str(tmp_path / "p" / "m.stl")]
    assert not kt.lint(MESH["urdf"], package_dirs=str(tmp_path)).of("mesh-missing")


def test_readers_share_the_names_and_defaults_of_their_options():
    """Only the choice of a model (SDF), and masses from shapes (URDF), belong to one format."""
    from kinetree.io.mjcf.read import load_mjcf
    from kinetree.io.sdf.read import load_sdf

    options = [
        {p.name: p.default for p in inspect.signature(reader).parameters.values() if p.kind is p.KEYWORD_ONLY}
        for reader in (kt.io.load_urdf, load_mjcf, load_sdf)
    ]
    names = [set(each) for each in options]
    assert names[0] - names[1] == {"inertia_from", "density", "loops"} and not names[1] - names[0]
    assert names[2] - names[1] == {"model"} and not names[1] - names[2]
    for name in names[1] - {"floating_base"}:  # None, as the file says, where a file says it
        assert len({repr(each[name]) for each in options}) == 1


@pytest.mark.parametrize("command", ["info", "simulate", "convert"])
def test_commands_fill_shapes_with_matter(command, tmp_path):
    """--inertia-from and --density are the options of load; zero is a density, too, and an impossible one."""
    path = tmp_path / "r.urdf"
    path.write_text(SOLID)
    more = {"convert": [tmp_path / "b.urdf"], "simulate": ["--duration", "0.01"]}.get(command, [])
    refused = run(command, path, *more)
    assert refused.exit_code == 2 and "--inertia-from collision" in refused.stderr
    assert run(command, path, *more, "--inertia-from", "collision", "--density", 700).exit_code == 0
    refused = run(command, path, *more, "--inertia-from", "collision", "--density", 0)
    assert refused.exit_code == 2 and "density is 0.0" in refused.stderr


def test_errors_of_the_command_line_name_its_options(tmp_path):
    """Advice reads as one would type it."""
    path = tmp_path / "r.urdf"
    path.write_text(SOLID)
    message = run("info", path).stderr
    assert "--massless lock" in message and "massless='" not in message
    assert "no choice named 'fix' for --massless" in run("info", path, "--massless", "fix").stderr
    path.write_text(SOLID.replace("</robot>", '<Joint name="k"/></robot>'))
    assert "--drop leaves it out" in run("info", path, "--massless", "lock").stderr


def test_a_keyframe_that_does_not_exist_is_answered_with_those_that_do(tmp_path):
    """--q0 takes numbers or the name of a keyframe."""
    path = tmp_path / "r.sdf"
    path.write_text('<sdf version="1.7"><model name="m"><link name="a"/><pose>0 0 1 0 0 0</pose></model></sdf>')
    assert "or a keyframe: initial." in run("simulate", path, "--q0", "intial").stderr
    assert run("simulate", path, "--q0", "initial", "--duration", "0.01").exit_code == 0


def test_convert_refuses_an_unknown_suffix_before_it_reads(tmp_path):
    """The mistake of the user comes before those of the file."""
    assert "suffix '.usd' names no format to write" in run("convert", tmp_path / "none.urdf", tmp_path / "a.usd").stderr


def test_a_frame_where_a_body_is_wanted_is_told_with_the_option_that_keeps_it():
    """A gripper behind a fixed joint is cut off a robot that was loaded with merge_fixed=False."""
    with pytest.raises(UnknownNameError, match=r"'tool' .*kt\.load\(\.\.\., merge_fixed=False\)"):
        kt.surgery.submodel(kt.load("arm7"), "tool")
    assert kt.surgery.submodel(kt.load("arm7", merge_fixed=False), "hand").nv == 2


def test_a_file_that_could_be_of_any_format_is_refused_for_what_it_is(tmp_path):
    """An empty .xml file breaks no rule of URDF."""
    path = tmp_path / "robot.xml"
    path.write_text("")
    with pytest.raises(FileFormatError, match="robot.xml: the file is empty") as caught:
        kt.load(path)
    assert type(caught.value) is FileFormatError


@pytest.mark.parametrize("form", MESH)
@pytest.mark.parametrize(
    ("option", "value"), [("floating_base", "false"), ("unsupported", "ignore"), ("inertia", ""), ("massless", None)]
)
def test_a_value_that_an_option_does_not_have_is_refused(form, option, value):
    """Also for floating_base, where any text would be true."""
    if form == "mjcf":
        pytest.importorskip("mujoco")
    with pytest.raises(UnknownNameError, match=rf"no choice named '{value}' in load_{form}\(\.\.\., {option}=\.\.\.\)"):
        kt.load(MESH[form], **{option: value})


@pytest.mark.parametrize("form", ["urdf", "sdf"])
def test_a_file_is_read_once(form, tmp_path, monkeypatch):
    """The bytes that tell the format are those that its reader parses."""
    path = tmp_path / f"robot.{form}"
    link = '<link name="base"/>'
    path.write_text(
        f'<robot name="r">{link}</robot>'
        if form == "urdf"
        else f'<sdf version="1.7"><model name="r">{link}</model></sdf>'
    )
    read, opened = source.read_ordinary, []
    monkeypatch.setattr(source, "read_ordinary", lambda file, most: opened.append(str(file)) or read(file, most))
    model = kt.load(path)
    assert opened == [str(path)] and model.name == "r"
