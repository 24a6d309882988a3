"""Names that readers and surgery invent, beside a file that has the same ones."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DuplicateNameError
from kinetree.joints import Free
from kinetree.surgery import reroot, with_base

I = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
URDF = f"""<robot name="r"><link name="base">{I}</link><link name="a">{I}</link><link name="b">{I}</link>
<joint name="NAME" type="TYPE"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>{LIMIT}</joint>
<joint name="other" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>{LIMIT}</joint></robot>"""
SDF = """<sdf version="1.7"><model name="m"><pose>1 2 3 0 0 0</pose><link name="base"/><link name="a"/><link name="b"/>
<joint name="NAME" type="TYPE"><parent>base</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint>
<joint name="other" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>"""
MJCF = """<mujoco><worldbody><body name="base" pos="1 2 3"><geom size=".1"/>
<body name="a"><joint name="NAME"/><geom size=".1"/>
<body name="b"><joint name="other"/><geom size=".1"/></body></body></body></worldbody></mujoco>"""
FILES = [(URDF, "revolute"), (URDF, "fixed"), (SDF, "revolute"), (SDF, "fixed"), (MJCF, "hinge")]


def text(file, kind, name="root_joint"):
    """A file with a joint of this name."""
    if file is MJCF:
        pytest.importorskip("mujoco")
    return file.replace("NAME", name).replace("TYPE", kind)


@pytest.mark.parametrize(("file", "kind"), FILES)
def test_a_floating_base_leaves_the_file_its_root_joint(file, kind):
    """The free joint gets a number, whether the file's joint moves or is merged, and the report says so."""
    model = kt.load(text(file, kind), floating_base=True)
    assert isinstance(model.joints[1], Free) and model.joint_names[0] == "root_joint_2"
    assert ("root_joint" in model.joint_names) == (kind != "fixed")
    assert "base is named 'root_joint_2', for the file has a joint 'root_joint'" in str(model.report)
    if file is not URDF:  # what stands elsewhere than at the origin starts there
        np.testing.assert_array_equal(model.keyframe("initial")[0][:3], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(("file", "kind"), FILES)
@pytest.mark.parametrize("name", ["chosen", "other"])
def test_a_name_that_was_asked_for_is_given_or_refused(file, kind, name):
    """Never another one: base_joint= names a joint that code relies on."""
    with pytest.raises(DuplicateNameError, match=rf"base_joint='{name}' is the name of another joint of the file"):
        kt.load(text(file, kind, "chosen"), floating_base=True, base_joint=name)
    assert kt.load(text(file, kind), floating_base=True, base_joint="base").joint_names[0] == "base"


@pytest.mark.parametrize("kind", ["revolute", "fixed"])
@pytest.mark.parametrize("file", [URDF, SDF])
def test_the_weld_of_a_root_takes_no_name_of_the_file(file, kind):
    """base_to_world, which a reader calls the fixed joint of a root link."""
    model = kt.load(text(file, kind, "base_to_world"), floating_base=False, merge_fixed=False)
    assert len(set(model.joint_names)) == len(model.joint_names) and "base_to_world" in model.joint_names


def test_the_second_body_of_a_planar_joint_takes_no_name_of_the_file():
    """A planar joint whose normal is not z becomes two bodies, a_plane and a."""
    file = text(URDF, "planar", "a_plane").replace('name="b"', 'name="a_plane"').replace('"b"', '"a_plane"')
    model = kt.load(file.replace('<axis xyz="0 0 1"/>', '<axis xyz="1 0 0"/>', 1), merge_fixed=False)
    assert len(set(model.body_names)) == len(model.body_names) == 6 - 1
    assert len(set(model.joint_names)) == len(model.joint_names)


@pytest.mark.parametrize("kind", ["revolute", "fixed"])
@pytest.mark.parametrize("change", [lambda m: with_base(m, "floating"), lambda m: with_base(m, "fixed"),
                                    lambda m: reroot(m, "b")], ids=["floating", "fixed", "reroot"])  # fmt: skip
def test_surgery_takes_no_name_of_another_joint(kind, change):
    """All joints, merged ones included, have names of their own, so the model can be written and read again."""
    model = change(kt.load(text(URDF, kind)))
    names = [*model.joint_names, *model.welded]
    assert len(set(names)) == len(names) and "root_joint" in names
    assert kt.load(kt.io.to_urdf(model)).nv == model.nv
    assert "the root joint is named 'root_joint_2'" in str(model.report)


def test_surgery_gives_a_name_that_was_asked_for_or_refuses():
    """with_base and reroot never take another one."""
    model = kt.load(text(URDF, "fixed"))
    with pytest.raises(DuplicateNameError, match="name='other' is that of another joint"):
        with_base(model, "floating", name="other")
    with pytest.raises(DuplicateNameError, match="name='other' is that of another joint"):
        reroot(model, "b", name="other")
    assert with_base(model, "floating", name="free").joint_names[0] == "free"
