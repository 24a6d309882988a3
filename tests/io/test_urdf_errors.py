"""Every malformed URDF file gives its named error, with the line."""

import pytest

from kinetree.errors import InertiaError, UnknownNameError, UnsupportedError, URDFError
from kinetree.io import load_urdf

LINK = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    "</link>"
)
A, B, C = LINK.format("a"), LINK.format("b"), LINK.format("c")
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def joint(name="j", type_="revolute", parent="a", child="b", inside=LIMIT):
    return (
        f'<joint name="{name}" type="{type_}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'
    )


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
    "comma": (robot(A, B, joint(inside='<origin xyz="1,0 2 3"/>' + LIMIT)), ":4: .*the decimal separator is a point"),
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
    ],
)  # fmt: skip
def test_physics_that_cannot_be_honored_raises_unless_dropped(text, message):
    """What the file says and the model cannot hold is an error, or a line of the report if the user says 'drop'."""
    with pytest.raises((UnsupportedError, URDFError), match=f"{message}.*unsupported='drop'"):
        load_urdf(text)
    model = load_urdf(text, unsupported="drop")
    assert any("dropped" in str(note) for note in model.report)


@pytest.mark.parametrize("option", ["unsupported", "inertia", "massless"])
def test_unknown_options_list_the_choices(option):
    """A misspelled choice is no silent default."""
    with pytest.raises(UnknownNameError, match=f"no choice named .no. in load_urdf.*{option}=.* Known: raise, "):
        load_urdf(robot(A), **{option: "no"})
