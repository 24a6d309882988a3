"""URDF 1.0, 1.1 and 1.2: what each adds is read, other versions are refused; urdfdom, in Pinocchio, is the oracle."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnsupportedError, URDFError
from kinetree.io.urdf.read import load_urdf

INERTIA = '<mass value="2"/><inertia ixx="0.3" ixy="0.02" ixz="-0.01" iyy="0.25" iyz="0.04" izz="0.2"/>'
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="3"/>'


def arm(version=None, origin="", inertial="", limit=LIMIT, kind="revolute", shape=""):
    """Two links on two joints, with one place for each thing that a version changes."""
    stated = "" if version is None else f' version="{version}"'
    return f"""<robot name="r"{stated}>
<link name="base"/>
<link name="upper"><inertial><origin {inertial}/>{INERTIA}</inertial>{shape}</link>
<link name="lower"><inertial><origin xyz="0 0.1 0.2"/>{INERTIA}</inertial></link>
<joint name="shoulder" type="{kind}"><parent link="base"/><child link="upper"/><origin {origin}/><axis xyz="0 0.6 0.8"/>
{limit}</joint>
<joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/><axis xyz="1 0 0"/>{LIMIT}</joint>
</robot>"""


def pinocchio_torque(text, q, v, a):
    """Inverse dynamics of Pinocchio on the same text."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(text)
    return pin.rnea(model, model.createData(), q, v, a)


@pytest.mark.parametrize("version", [None, "1.0", "1.1", "1.2", "01.1", " 1.1"])
def test_versions_that_exist_are_read(version):
    """No version means 1.0; so do Pinocchio's."""
    pin = pytest.importorskip("pinocchio")
    assert load_urdf(arm(version)).nv == pin.buildModelFromXML(arm(version)).nv == 2


@pytest.mark.parametrize(
    "version", ["1.3", "1.10", "2.0", "0.9", "1", "1.", ".1", "", "1.1.0", "-1.0", "1,1", "1.0~pre6", "one", "1e0.1"]
)
def test_versions_that_do_not_exist_are_refused(version):
    """By us with line and choice, by lint alike, and by Pinocchio."""
    pin = pytest.importorskip("pinocchio")
    with pytest.raises(ValueError, match="valid URDF"):
        pin.buildModelFromXML(arm(version))
    with pytest.raises(URDFError, match=r"^<string>:1: <robot> states version .*known: 1.0, 1.1, 1.2") as error:
        load_urdf(arm(version))
    assert error.value.code == "version"
    assert [(found.code, found.line) for found in kt.lint(arm(version)).errors] == [("version", 1)]


@pytest.mark.parametrize("version", ["1.1", "1.2"])
@pytest.mark.parametrize("seed", range(5))
def test_quaternions_mean_what_they_mean_to_pinocchio(version, seed):
    """The torque of a robot whose joint and inertia are turned by quaternions; rounding of both sides, of size 1e2."""
    rng = np.random.default_rng(seed)
    joint, inertial = rng.standard_normal((2, 4))
    joint, inertial = joint / np.linalg.norm(joint), inertial / np.linalg.norm(inertial)
    text = arm(
        version,
        f'xyz="1 2 3" quat_xyzw="{" ".join(map(repr, map(float, joint)))}"',
        f'quat_xyzw="{" ".join(map(repr, map(float, inertial)))}" xyz="0.1 -0.2 0.3"',
    )
    model = load_urdf(text)
    q, v, a = rng.uniform(-1.0, 1.0, (3, 2))
    assert np.allclose(kt.rnea(model, q, v, a), pinocchio_torque(text, q, v, a), rtol=0.0, atol=1e-12)


def test_a_quaternion_of_a_shape_is_read():
    """Shapes have origins too: a quarter turn about x."""
    shape = '<visual><origin quat_xyzw="1 0 0 1"/><geometry><box size="1 2 3"/></geometry></visual>'
    (found,) = load_urdf(arm("1.1", shape=shape)).geometry[1]
    assert np.allclose(found.R_BG, [[1, 0, 0], [0, 0, -1], [0, 1, 0]], atol=1e-15)


def test_a_quaternion_in_a_file_of_version_1_0_is_refused():
    """Other programs ignore it there, so the file means two robots."""
    for version in (None, "1.0"):
        message = r":5: .*origin: 'quat_xyzw' is read since URDF 1.1, and this file is of version 1.0.*State <robot"
        with pytest.raises(URDFError, match=message) as error:
            load_urdf(arm(version, 'quat_xyzw="0 0 1 0"'))
        assert error.value.code == "version"


@pytest.mark.parametrize(
    ("origin", "message", "code"),
    [
        ('rpy="0 0 0" quat_xyzw="0 0 0 1"', "gives the orientation twice, as 'rpy' and as 'quat_xyzw'", "bad-choice"),
        ('quat_xyzw="0 0 0 0"', "has no length. No turn is 0 0 0 1", "bad-quaternion"),
        ('quat_xyzw="0 0 1"', "3 numbers, expected 4", "bad-number"),
        ('quat_xyzw=""', "0 numbers, expected 4", "bad-number"),
        ('quat_xyzw="nan 0 0 1"', "is not a finite number", "bad-number"),
    ],
)
def test_quaternions_that_say_nothing_are_refused(origin, message, code):
    """Each is one error of lint, with the line of the origin."""
    with pytest.raises(URDFError, match=f":5: .*{message}"):
        load_urdf(arm("1.1", origin))
    assert [(found.code, found.line) for found in kt.lint(arm("1.1", origin)).errors] == [(code, 5)]


def test_a_quaternion_of_another_length_is_normalized_with_a_warning():
    """As urdfdom does, in silence; the torque is Pinocchio's."""
    text = arm("1.1", 'quat_xyzw="0 0 2 2"')
    model = load_urdf(text)
    (entry,) = [entry for entry in model.report if "normalized" in entry.message and "quaternion" in entry.message]
    assert entry.level == "warning" and entry.where == "<string>:5" and "length is 2.82843" in entry.message
    q, v, a = np.array([0.3, 0.1]), np.array([0.5, -0.2]), np.array([1.0, 2.0])
    assert np.allclose(kt.rnea(model, q, v, a), pinocchio_torque(text, q, v, a), rtol=0.0, atol=1e-13)
    assert not load_urdf(arm("1.1", 'quat_xyzw="0 0 0.70711 0.70711"')).report


@pytest.mark.parametrize("attribute", ["quat_wxyz", "quat", "quaternion", "quat_xyz", "Quat_xyzw"])
def test_other_spellings_of_quaternions_are_refused(attribute):
    """An orientation that nobody reads is another robot."""
    with pytest.raises(UnsupportedError, match=f"attribute '{attribute}' would change the physics"):
        load_urdf(arm("1.1", f'{attribute}="0 0 1 0"'))


@pytest.mark.parametrize(
    "limit",
    ["", '<limit effort="1" velocity="1"/>', '<limit lower="-1" effort="1" velocity="1"/>', '<limit upper="1"/>'],
)
def test_version_1_2_requires_a_range(limit):
    """Where earlier versions have the default 0, of which we make no limit with a warning; Pinocchio refuses it too."""
    pin = pytest.importorskip("pinocchio")
    with pytest.raises(ValueError, match="valid URDF"):
        pin.buildModelFromXML(arm("1.2", limit=limit))
    with pytest.raises(URDFError, match="'shoulder' states no range: URDF 1.2 requires lower and upper of revolute"):
        load_urdf(arm("1.2", limit=limit))
    assert [found.code for found in kt.lint(arm("1.2", limit=limit)).errors] == ["missing-attribute"]
    assert load_urdf(arm("1.1", limit=limit)).nv == 2
    assert load_urdf(arm("1.2", limit=limit, kind="continuous")).nv == 2


def test_version_1_2_does_without_effort_and_velocity():
    """They are infinite, and nothing is said about it."""
    limit = '<limit lower="-1" upper="1"/>'
    model = load_urdf(arm("1.2", limit=limit))
    assert model.effort_limit[0] == model.velocity_limit[0] == np.inf and not model.report
    assert "no effort and velocity limit, which the format requires" in str(load_urdf(arm("1.1", limit=limit)).report)


def test_limits_of_acceleration_and_jerk_are_reported():
    """No dynamics depend on them, so a model does not hold them; before 1.2 there are none."""
    limit = LIMIT.replace("/>", ' acceleration="5" deceleration="7" jerk="90"/>')
    (entry,) = load_urdf(arm("1.2", limit=limit)).report
    assert entry.level == "info" and "acceleration 5, deceleration 7, jerk 90 are not held" in entry.message
    early = [entry.message for entry in load_urdf(arm("1.1", limit=limit)).report]
    assert len(early) == 3 and all("exists since URDF 1.2" in message for message in early)


@pytest.mark.parametrize("name", ["acceleration", "deceleration", "jerk"])
def test_negative_limits_of_motion_are_refused(name):
    """As those of effort and velocity are."""
    limit = LIMIT.replace("/>", f' {name}="-1"/>')
    with pytest.raises(URDFError, match=f"'shoulder' has the {name} limit -1.0, which is negative") as error:
        load_urdf(arm("1.2", limit=limit))
    assert error.value.code == "negative-limit"
    with pytest.raises(URDFError, match=f"'{name}' is 'fast'"):
        load_urdf(arm("1.2", limit=LIMIT.replace("/>", f' {name}="fast"/>')))


CAPSULE = '<collision><geometry><capsule radius="0.1" length="0.5"/></geometry></collision>'


def test_capsules_are_reported_before_version_1_1():
    """They are read all the same: only the shape is at stake, and many simulators read it."""
    (entry,) = load_urdf(arm(shape=CAPSULE)).report
    assert "capsules exist since URDF 1.1" in entry.message and entry.where == "<string>:3"
    model = load_urdf(arm("1.1", shape=CAPSULE))
    assert not model.report and model.geometry[1][0].kind == "capsule"


def test_a_written_capsule_is_seen_by_other_programs():
    """A file with one states version 1.1, without which urdfdom leaves it out; others state none."""
    pin = pytest.importorskip("pinocchio")
    text = kt.io.to_urdf(load_urdf(arm("1.1", shape=CAPSULE)))
    model = pin.buildModelFromXML(text)
    assert pin.buildGeomFromUrdfString(model, text, pin.GeometryType.COLLISION).ngeoms == 1
    assert "version=" not in kt.io.to_urdf(load_urdf(arm())).partition("<robot")[2]
