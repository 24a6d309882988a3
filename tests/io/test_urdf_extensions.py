"""Physics in URDF files that one program reads, or none: refused or said, and accepted where it has no effect."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnsupportedError
from kinetree.io.urdf.read import load_urdf

I = '<inertial><mass value="1"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial>'
DYNAMICS = '<dynamics damping=".1" friction=".2" {}/>'


def robot(joint="", extension="", link=""):
    """A robot with more in its joint j, its link a, and at its end."""
    return f"""<robot name="r" xmlns:drake="drake"><link name="w"/><link name="a">{I}{link}</link>
<joint name="j" type="revolute"><parent link="w"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/>
{joint}</joint>
{extension}</robot>"""


def gazebo(text, reference="j"):
    return {"extension": f'<gazebo reference="{reference}">{text}</gazebo>'}


IDLE = [
    ({"joint": DYNAMICS.format('spring_reference=".3"')}, "a reference without a stiffness has no effect"),
    ({"joint": DYNAMICS.format('spring_reference=".3" spring_stiffness="0"')}, "a reference without a stiffness"),
    ({"joint": DYNAMICS.format('spring_stiffness="0.0"')}, "'spring_stiffness' ignored: zero has no effect"),
    ({"joint": DYNAMICS.format('armature="0"')}, "'armature' ignored: zero has no effect"),
    ({"joint": '<drake:rotor_inertia value="0"/>'}, "rotor_inertia ignored: zero has no effect"),
    ({"joint": '<drake:gear_ratio value="100"/>'}, "a gear without the inertia of a rotor has no effect"),
    (gazebo("<springReference>.3</springReference>"), "settings of the Gazebo simulator"),
    (gazebo("<springStiffness>0</springStiffness><springReference>.3</springReference>"), "settings of the Gazebo"),
    (gazebo("<dampingFactor>0</dampingFactor>", "a"), "settings of the Gazebo simulator"),
    (gazebo("<velocity_decay><linear>0</linear></velocity_decay>", "a"), "settings of the Gazebo simulator"),
]
ACTING = [
    ({"joint": DYNAMICS.format('spring_reference=".3" spring_stiffness="4"')}, "'spring_reference' would change"),
    ({"joint": DYNAMICS.format('spring_stiffness="4"')}, "'spring_stiffness' would .* as other readers of URDF do"),
    ({"joint": DYNAMICS.format('spring_stiffness="stiff"')}, "'spring_stiffness' would change the physics"),
    ({"joint": DYNAMICS.format('armature=".1"')}, "'armature' would change the physics"),
    ({"joint": '<drake:rotor_inertia value="1e-4"/><drake:gear_ratio value="100"/>'}, "rotor_inertia would change"),
    (gazebo("<springStiffness>2</springStiffness>"), "states a spring"),
    (gazebo("<springStiffness>2</springStiffness><springReference>.3</springReference>"), "states a spring"),
    (gazebo("<dampingFactor>.01</dampingFactor>", "a"), r"states a damping of the link \(dampingFactor\)"),
    (gazebo("<velocity_decay><angular>.1</angular></velocity_decay>", "a"), r"damping of the link \(velocity_decay\)"),
    ({"extension": '<gazebo><joint name="loop" type="revolute"/></gazebo>'}, "closes a kinematic loop"),
]
SAID = [
    ({"extension": "<gazebo><static>true</static></gazebo>"}, "warning", "takes the robot out of Gazebo's dynamics"),
    (gazebo("<kinematic>1</kinematic>", "a"), "warning", "takes the link out of Gazebo's dynamics"),
    (gazebo("<turnGravityOff>true</turnGravityOff>", "a"), "warning", "turns gravity off in Gazebo"),
    ({"extension": '<mujoco><option gravity="0 0 0" density="1"/></mujoco>'}, "warning", "in MuJoCo alone: gravity"),
    ({"extension": '<mujoco><option><flag gravity="disable"/></option></mujoco>'}, "warning", "alone: no gravity"),
    ({"extension": '<mujoco><compiler fusestatic="false"/></mujoco>'}, "info", "settings of the MuJoCo compiler"),
    ({"link": '<contact><inertia_scaling value="3.0"/></contact>'}, "info", "PyBullet multiplies the inertia by 3.0"),
    ({"extension": '<transmission name="t"/>'}, "info", "actuators and gear ratios are not modeled"),
    ({"joint": '<safety_controller k_velocity="10" soft_lower_limit="-.5"/>'}, "info", "soft limits of a controller"),
]


@pytest.mark.parametrize(("parts", "message"), IDLE)
def test_what_has_no_effect_is_no_reason_to_refuse_a_file(parts, message):
    """Zeros, a spring's reference without a stiffness, a gear without a rotor: an info, and a sound file for lint."""
    model = load_urdf(robot(**parts))
    assert any(message in entry.message for entry in model.report.at_level("info"))
    assert not model.report.at_level("warning") and not model.report.at_level("dropped")
    assert not kt.lint(robot(**parts)).errors and not kt.lint(robot(**parts)).warnings


@pytest.mark.parametrize(("parts", "message"), ACTING)
def test_what_would_act_is_refused_until_it_is_dropped(parts, message):
    """Springs, rotors, damped links and loops: the robot is another one in the program that reads them."""
    with pytest.raises(UnsupportedError, match=message):
        load_urdf(robot(**parts))
    model = load_urdf(robot(**parts), unsupported="drop")
    assert model.report.at_level("dropped")
    assert kt.lint(robot(**parts)).of("unsupported")


@pytest.mark.parametrize(("parts", "level", "message"), SAID)
def test_what_one_program_states_for_itself_is_said(parts, level, message):
    """The robot of the file is the same without it."""
    report = load_urdf(robot(**parts)).report
    assert any(message in entry.message for entry in report.at_level(level))


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_no_other_reader_knows_springs_of_urdf(engine):
    """Pinocchio (urdfdom) and MuJoCo read damping and friction of <dynamics> and nothing else, as the format says."""
    module = pytest.importorskip(engine)
    text = robot(joint=DYNAMICS.format('spring_reference=".3" spring_stiffness="4"'))
    if engine == "mujoco":
        mj = module.MjModel.from_xml_string(text)
        assert (mj.dof_damping[0], mj.dof_frictionloss[0], mj.jnt_stiffness[0]) == (0.1, 0.2, 0.0)
    else:
        pin = module.buildModelFromXML(text)
        assert (pin.damping[0], pin.friction[0]) == (0.1, 0.2) and not hasattr(pin, "stiffness")
    ours = load_urdf(text, unsupported="drop")
    np.testing.assert_array_equal([ours.damping[0], ours.dry_friction[0], ours.stiffness[0]], [0.1, 0.2, 0.0])


def test_writing_never_uses_an_extension():
    """A spring is refused, or left out and reported; its reference alone is no loss, and is noted."""
    model = kt.load(robot())
    sprung = model.replace(stiffness=3.0, spring_reference=[0.4])
    with pytest.raises(UnsupportedError, match=r"stiffness \(joint 'j'\)"):
        kt.io.to_urdf(sprung)
    assert "spring" not in kt.io.to_urdf(sprung, unsupported="drop")
    assert "spring" not in kt.io.to_urdf(model.replace(spring_reference=[0.4]))
