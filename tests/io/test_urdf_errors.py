"""Every malformed URDF file gives its named error, with the line."""

import re
import sys

import pytest

import kinetree as kt
from kinetree.errors import InertiaError, KinetreeError, ModelError, UnknownNameError, UnsupportedError, URDFError
from kinetree.io import load_urdf
from kinetree.io.lint.codes import CODES

LINK = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    "</link>"
)
A, B, C = LINK.format("a"), LINK.format("b"), LINK.format("c")
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def joint(name="j", type_="revolute", parent="a", child="b", inside=LIMIT):
    return f'<joint name="{name}" type="{type_}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def robot(*lines):
    return "\n".join(['<robot name="r">', *lines, "</robot>"])


MALFORMED = {
    "wrong root": ("<mujoco/>", r":1: the root element is <mujoco> \(MJCF\), expected <robot>"),
    "no links": ("<robot name='r'/>", ":1: the robot has no <link>"),
    "xacro element": (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro">\n<xacro:include filename="x"/></robot>',
        ":2: this is a xacro macro file .found include.; expand it first",
    ),
    "xacro expression": (robot('<link name="${prefix}a"/>'), ":2: this is a xacro macro file"),
    "link without name": (robot("<link/>"), ":2: robot/link has no attribute 'name'"),
    "empty name": (robot('<link name=" "/>'), ":2: .* attribute 'name' is empty"),
    "duplicate link": (robot(A, A), r":3: link name 'a' is taken \(first on line 2\)"),
    "duplicate joint": (robot(A, B, C, joint(), joint(child="c")), r":6: joint name 'j' is taken \(first on line 5\)"),
    "unknown child": (robot(A, B, joint(child="bb")), r":4: the child of joint 'j' is 'bb', .* did you mean 'b'\?"),
    "unknown parent": (robot(A, B, joint(parent="q")), ":4: the parent of joint 'j' is 'q', and there is no such link"),
    "joint to itself": (robot(A, joint(child="a")), ":3: joint 'j' connects link 'a' to itself"),
    "two parents": (
        robot(A, B, C, joint(), joint("k", parent="c"), joint("l", child="c")),
        ":6: link 'b' has two parents: 'a' by joint 'j' .line 5. and 'c' by joint 'k'",
    ),
    "two roots": (robot(A, B), r":3: 2 links have no parent: 'a' \(line 2\), 'b' \(line 3\)"),
    "cycle": (robot(A, B, joint(), joint("k", parent="b", child="a")), "form a cycle: '.' -> '.' -> '.'"),
    "cycle beside the tree": (
        robot(A, B, C, joint(parent="c"), joint("k", parent="b", child="c")),
        "the joints '.', '.' form a cycle",
    ),
    "unknown type": (
        robot(A, B, joint(type_="gearbox")),
        ":4: joint 'j' has type 'gearbox'. Known types: revolute, continuous, prismatic, fixed, floating, planar",
    ),
    "spherical": (robot(A, B, joint(type_="spherical")), "has type 'spherical'"),
    "type missing": (robot(A, B, '<joint name="j"/>'), ":4: .* has no attribute 'type'"),
    "parent missing": (robot(A, B, '<joint name="j" type="fixed"/>'), r":4: robot/joint\[j\] has no <parent>"),
    "zero axis": (robot(A, B, joint(inside='<axis xyz="0 0 0"/>' + LIMIT)), ":4: joint 'j' has the axis .* nowhere"),
    "short axis": (robot(A, B, joint(inside='<axis xyz="0 1"/>' + LIMIT)), ":4: .* 2 numbers, expected 3"),
    "comma": (robot(A, B, joint(inside='<origin xyz="1,0 2 3"/>' + LIMIT)), ":4: .*The decimal separator is a point"),
    "nan": (robot(A, B, joint(inside='<origin rpy="0 nan 0"/>' + LIMIT)), ":4: .*'nan' is not a finite number"),
    "limits the wrong way": (
        robot(A, B, joint(inside='<limit lower="1" upper="-1" effort="1" velocity="1"/>')),
        ":4: joint 'j' has lower limit 1.* above its upper limit -1",
    ),
    "negative effort": (
        robot(A, B, joint(inside='<limit lower="0" upper="1" effort="-1" velocity="1"/>')),
        ":4: joint 'j' has the effort limit -1.0, which is negative",
    ),
    "negative damping": (robot(A, B, joint(inside=LIMIT + '<dynamics damping="-1"/>')), "would create energy"),
    "mimics itself": (robot(A, B, joint(inside=LIMIT + '<mimic joint="j"/>')), "joint 'j' mimics itself"),
    "mimics a fixed joint": (
        robot(A, B, C, joint("k", "fixed"), joint(child="c", inside=LIMIT + '<mimic joint="k"/>')),
        ":6: joint 'j' mimics 'k', a fixed joint",
    ),
    "mimics in a ring": (
        robot(
            A, B, C, joint("j", inside=LIMIT + '<mimic joint="k"/>'),
            joint("k", child="c", inside=LIMIT + '<mimic joint="j"/>'),
        ),
        "the joints '.', '.' mimic each other",
    ),
    "two inertials": (robot('<link name="a"><inertial/>\n<inertial/></link>'), ":3: .* holds <inertial> twice"),
    "mass missing": (robot('<link name="a"><inertial/></link>'), "has no <mass>"),
    "ixy missing": (
        robot('<link name="a"><inertial><mass value="1"/><inertia ixx="1"/></inertial></link>'),
        "has no attribute 'ixy'",
    ),
    "no shape": (
        robot('<link name="a"><visual><geometry/></visual></link>'),
        "holds nothing, expected exactly one of box, cylinder, sphere, capsule, mesh",
    ),
    "negative size": (
        robot('<link name="a"><visual><geometry><sphere radius="-1"/></geometry></visual></link>'),
        "lengths are not negative",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_file_is_named_with_its_line(case):
    """The error says what is wrong and on which line."""
    text, message = MALFORMED[case]
    with pytest.raises(URDFError, match=message) as error:
        load_urdf(text)
    assert error.value.line is not None and str(error.value).startswith(f"<string>:{error.value.line}: ")
    assert CODES[error.value.code] == "error"
    assert error.value.element.startswith(("robot", "mujoco"))
    assert error.value.summary in str(error.value) and error.value.repair[1:] in str(error.value)


def test_impossible_inertia_names_file_line_link_rule_and_repair():
    """The placeholder inertia of ANYmal B and HyQ is refused with all that is needed to decide."""
    text = robot(
        A,
        '<link name="b">\n<inertial><mass value="1"/>\n'
        '<inertia ixx="1" ixy="1" ixz="1" iyy="1" iyz="1" izz="1"/></inertial></link>',
        joint(),
    )
    with pytest.raises(InertiaError) as error:
        load_urdf(text)
    moments = "<string>:5: link 'b': principal moments (0, 0, 3) break I3 <= I1 + I2 by 3 kg m^2"
    for part in (moments, "inertia='project'"):
        assert part in str(error.value)
    assert (error.value.line, error.value.link) == (5, "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            robot(A, B, joint(type_="floating", inside='<dynamics damping="1"/>')),
            ":4: joint 'j' is floating and has damping or friction",
        ),
        (
            robot(
                A, B, C, joint(type_="planar", inside=""),
                joint("k", child="c", inside=LIMIT + '<mimic joint="j"/>'),
            ),
            ":6: joint 'k' mimics 'j', which is planar",
        ),
        (
            robot(A, B, joint(inside=LIMIT + '<mimic joint="x"/>')),
            ":4: joint 'j' mimics 'x', and there is no such joint",
        ),
        (
            robot(A, B, joint(), '<gazebo><joint name="loop" type="revolute"/></gazebo>'),
            r":5: .*closes a kinematic loop",
        ),
        (
            robot(A, B, joint(), '<gazebo reference="j"><springStiffness>3</springStiffness></gazebo>'),
            r":5: <gazebo reference='j'> states a spring .springStiffness 3.",
        ),
    ],
)  # fmt: skip
def test_physics_that_cannot_be_honored_raises_unless_dropped(text, message):
    """What the file says and the model cannot hold is an error, or a line of the report if the user says 'drop'."""
    with pytest.raises((UnsupportedError, URDFError), match=f"{message}.*unsupported='drop'"):
        load_urdf(text)
    model = load_urdf(text, unsupported="drop")
    assert any("dropped" in str(note) for note in model.report)


def test_gravity_that_gazebo_turns_off_is_a_warning():
    """The model has one gravity for all bodies; that another program leaves a link floating is said."""
    report = load_urdf(robot(A, '<gazebo reference="a"><turnGravityOff>true</turnGravityOff></gazebo>')).report
    assert "<gazebo reference='a'> turns gravity off in Gazebo" in report.at_level("warning")[0].message


@pytest.mark.parametrize(
    ("mass", "tensor", "code", "message"),
    [
        (-1, 1, "negative-mass", "link 'b': mass -1 kg is negative. No repair exists for a negative mass"),
        (0, 1, "inertia-without-mass", "mass is 0, but the inertia is not .* give it the mass it has"),
        (1, -1, "impossible-inertia", "principal moments .* are not all positive.* inertia='project'"),
        (1, 3, "impossible-inertia", "principal moments .* break I3 <= I1 [+] I2 by 1 kg m.2.* inertia='project'"),
    ],
)
def test_masses_and_tensors_that_no_body_has(mass, tensor, code, message):
    """Link, value, rule and repair."""
    inertial = LINK.format("b").replace('mass value="1"', f'mass value="{mass}"').replace('ixx="1"', f'ixx="{tensor}"')
    with pytest.raises(InertiaError, match=f"<string>:3: .*{message}") as error:
        load_urdf(robot(A, inertial, joint()))
    assert (error.value.code, error.value.element) == (code, "robot/link[b]/inertial/inertia")


def test_a_massless_moving_leaf_names_joint_and_repair():
    """A moving link without mass at the end of a chain."""
    with pytest.raises(ModelError, match=":4: link 'b' has no inertia that resists .*'j'.*massless='lock'") as error:
        load_urdf(robot(A, '<link name="b"/>', joint()))
    assert error.value.code == "massless-leaf"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (robot(A, B, joint(inside=LIMIT.replace("effort", "efort"))), "'efort' would .* mean 'effort'"),
        (robot(A, B, joint(inside=LIMIT.replace("lower", "Lower"))), "'Lower' would .* mean 'lower'"),
        (robot(A, B, joint(inside=LIMIT + '<dynamics dampening="1"/>')), "'dampening' would .* mean 'damping'"),
        (robot(A, B, joint(inside=LIMIT + '<dynamic damping="1"/>')), "dynamic would .* mean <dynamics>"),
        (robot(A, B, joint(inside=LIMIT + '<mimick joint="k"/>')), "mimick would .* mean <mimic>"),
        (robot(A, B.replace("inertial>", "inertal>"), joint("j", "fixed")), "inertal would .* mean <inertial>"),
        (robot(A, B, joint(), '<Joint name="k"/>'), "Joint.k. would .* mean <joint>"),
        (robot(A, B, joint(inside=LIMIT + '<dynamics spring_stiffness="1"/>')), "'spring_stiffness' would change"),
        (
            robot(A, B, joint(inside=LIMIT + '<d:rotor_inertia value="1"/>')).replace("<robot", '<robot xmlns:d="d"'),
            "rotor_inertia would change",
        ),
    ],
)
def test_misspelled_and_foreign_physics_is_refused_unless_dropped(text, message):
    """What is spelled wrong would otherwise be missing in silence."""
    with pytest.raises(UnsupportedError, match=f"{message}.*unsupported='drop' leaves it out"):
        load_urdf(text)
    report = load_urdf(text, unsupported="drop").report
    assert any("would change" in entry.message for entry in report.at_level("dropped"))


FULL = robot(
    '<material name="grey"><color rgba="1 1 1 1"/></material>',
    A,
    '<link name="b"><inertial><origin xyz="0 0 1" rpy="0 0 0"/><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>',
    '<visual name="v"><origin xyz="0 0 0"/><geometry><box size="1 1 1"/></geometry><material name="grey"/></visual>',
    '<collision><geometry><mesh filename="a.stl" scale="1 1 1"/></geometry></collision></link>',
    C,
    joint(
        inside='<origin xyz="0 0 1" rpy="0 0 0"/><axis xyz="0 0 1"/>' + LIMIT + '<dynamics damping="1" friction="1"/>'
    ),
    joint("k", child="c", inside=LIMIT + '<mimic joint="j" multiplier="2" offset="1"/>'),
)  # fmt: skip
OPENINGS = [match.start() for match in re.finditer(r"<\w+", FULL)]


@pytest.mark.parametrize("name", ["zzz", "value", "effort", "inertial", "joint", "{x}", "gazebo", "xyz"])
@pytest.mark.parametrize("kind", ["attribute", "element"])
def test_nothing_is_ignored_in_silence(kind, name):
    """An attribute or an element put in anywhere changes the model, raises, or stands in the report with its line."""
    before = load_urdf(FULL)
    for at in OPENINGS:
        head = re.compile(r"<\w+[^>]*?(?=/?>)").match(FULL, at)
        line = FULL.count("\n", 0, at) + 1
        if kind == "attribute":
            if f" {name}=" in head[0]:
                continue
            text = f'{FULL[: head.end()]} {name.strip("{}")}_="1"{FULL[head.end() :]}'
            if name == "value":  # one that is known elsewhere
                text = text.replace("value_=", "value=")
        else:
            end = head.end()
            inner = f"<{name.strip('{}')}/>"
            if FULL[end] == "/":
                text = f"{FULL[:end]}>{inner}</{head[0][1:].split()[0]}{FULL[end + 1 :]}"
            else:
                text = f"{FULL[: end + 1]}{inner}{FULL[end + 1 :]}"
        try:
            model = load_urdf(text)
        except KinetreeError as error:
            assert f":{line}: " in str(error) or "first on line" in str(error) or "expected exactly one" in str(error)
            continue
        added = [entry for entry in model.report if entry not in tuple(before.report)]
        assert any(entry.where.endswith(f":{line}") for entry in added), (text[at : at + 80], str(model.report))


def test_a_report_is_json():
    """Level, place and message of every entry."""
    import json

    text = FULL.replace("<axis", "<axis twist='1'")
    entries = json.loads(load_urdf(text).report.to_json())
    assert {"level", "where", "message"} == set(entries[0])
    assert any("'twist'" in entry["message"] and entry["level"] == "info" for entry in entries)


MESH_TRICKS = [
    "../../../etc/passwd", "/etc/passwd", "package://r/../../../etc/passwd", "file:///etc/passwd", "C:\\a.stl",
    "http://example.org/a.stl", "package://r/%2e%2e/%2e%2e/secret", "\\\\server\\share\\a.stl", "a" * 5000,
]  # fmt: skip


OPENED: list[str] | None = None  # the files that Python opens, while somebody wants to know


@sys.addaudithook
def watch(event, arguments):
    """Hooks cannot be removed, so this one sleeps outside its test."""
    if OPENED is not None and event == "open":
        OPENED.append(str(arguments[0]))


@pytest.mark.parametrize("name", MESH_TRICKS)
def test_mesh_names_never_fail_nor_open_a_file(name, tmp_path, monkeypatch):
    """Mesh names are data: a trick is found or reported, and no mesh is opened while a robot loads."""
    path = tmp_path / "robot.urdf"
    path.write_text(FULL.replace("a.stl", name))
    opened = []
    monkeypatch.setattr(sys.modules[__name__], "OPENED", opened)
    model = load_urdf(path)
    monkeypatch.undo()
    assert str(path) in opened
    assert not [each for each in opened if each.endswith(("passwd", "secret", ".stl", "aaa"))]
    mesh = next(shape for shapes in model.geometry for shape in shapes if shape.kind == "mesh")
    missing = [entry for entry in model.report if "not found: " in entry.message]
    assert mesh.mesh == name if missing else mesh.mesh.endswith("passwd")


def test_shipped_robots_have_nothing_to_say():
    """The robots of the package need no repair and no remark but that a base is welded."""
    for name in kt.data.robots():
        assert all("welded" in entry.message for entry in kt.load(name).report), name


@pytest.mark.parametrize("option", ["unsupported", "inertia", "massless"])
def test_unknown_options_list_the_choices(option):
    """A misspelled choice is no silent default."""
    with pytest.raises(UnknownNameError, match=f"no choice named .no. in load_urdf.*{option}=.* Known: raise, "):
        load_urdf(robot(A), **{option: "no"})
