"""Numbers in MJCF files that are not finite, and masses that no body has, end in an error with file and line."""

from __future__ import annotations

import pytest

import kinetree as kt
from kinetree.errors import FileFormatError, InertiaError, MJCFError, ModelError
from kinetree.io.mjcf.read import load_mjcf
from kinetree.model.parts import pose_of_transform

pytest.importorskip("mujoco")


def file(body="", joint='<joint name="j" axis="0 0 1"/>', inertial='mass="1" diaginertia="1 1 1"', option=""):
    return (
        f'<mujoco>\n<option {option}/>\n<worldbody>\n<body name="b" {body}>\n{joint}\n'
        f'<inertial pos="0 0 0" {inertial}/>\n</body>\n</worldbody>\n</mujoco>'
    )


NOT_A_NUMBER = {
    "mass": (file(inertial='mass="nan" diaginertia="1 1 1"'), 6),
    "tensor": (file(inertial='mass="1" fullinertia="nan 1 1 0 0 0"'), 6),
    "limit": (file(joint='<joint range="NaN 1"/>'), 5),
    "axis": (file(joint='<joint axis="-nan 0 1"/>'), 5),
    "position": (file(body='pos="0 nan(12) 0"'), 4),
    "gravity": (file(option='gravity="0 0 nan"'), 2),
}


@pytest.mark.parametrize("case", NOT_A_NUMBER)
@pytest.mark.parametrize("massless", ["raise", "lock"])
def test_nan_never_becomes_a_finite_number(case, massless):
    """MuJoCo compiles NaN in a limit or a tensor into zeros, with no more than a warning."""
    text, line = NOT_A_NUMBER[case]
    with pytest.raises(MJCFError, match="NaN is not a finite number") as caught:
        load_mjcf(text, massless=massless, inertia="accept", unsupported="drop")
    assert (caught.value.line, caught.value.code) == (line, "bad-number")


def test_nan_may_be_a_name():
    """Names are no numbers."""
    assert load_mjcf(file(joint='<joint name="nan"/>')).joint_names == ("nan",)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (file(joint='<joint stiffness="inf"/>'), 5),
        (file(joint='<joint pos="inf 0 0"/>'), 5),
        (file(option='gravity="0 0 -inf"'), 2),
        (file(inertial='mass="1" fullinertia="inf 1 1 0 0 0"'), 6),
    ],
)
def test_infinite_numbers_are_named_with_their_line(text, line):
    """Infinity is a number to MuJoCo, and no length, mass or stiffness."""
    with pytest.raises(MJCFError, match="this number must be finite") as caught:
        load_mjcf(text, massless="lock")
    assert caught.value.line == line


def test_infinite_limits_mean_no_limit():
    """Infinity in a range is the absence of a limit on that side."""
    model = load_mjcf(
        file(joint='<joint range="-1 inf" limited="true"/>').replace("<option", "<compiler angle='radian'/><option")
    )
    assert (model.lower[0], model.upper[0]) == (-1.0, float("inf"))


@pytest.mark.parametrize("massless", ["raise", "lock"])
def test_a_negative_mass_has_no_repair(massless):
    """It is refused as such, not as a body without mass."""
    with pytest.raises(InertiaError, match="<string>:6: body 'b': mass -1 kg is negative") as caught:
        load_mjcf(file(inertial='mass="-1" diaginertia="1 1 1"'), massless=massless, inertia="accept")
    assert caught.value.code == "negative-mass"


def test_rules_of_the_model_carry_the_line_and_a_code():
    """What the model itself refuses points to the element, as what the reader refuses."""
    with pytest.raises(ModelError, match="<string>:5: joint 'j': damping -1 is negative") as caught:
        load_mjcf(file(joint='<joint name="j" damping="-1"/>'))
    assert (caught.value.line, caught.value.code) == (5, "negative-dissipation")
    with pytest.raises(InertiaError, match="<string>:4: body 'b': mass is 0, but the rotational inertia is not"):
        load_mjcf(file(inertial='mass="0" diaginertia="1 1 1"'), massless="lock")
    with pytest.raises(ModelError, match="<string>:6: body 'b' moves with mass 0 kg") as caught:
        load_mjcf(file(inertial='mass="0" diaginertia="0 0 0"'))
    assert (caught.value.line, caught.value.code) == (6, "massless-leaf")


def test_a_range_upside_down_is_no_limit_and_a_warning():
    """MuJoCo limits a joint by itself only if the lower end of its range is below the upper one."""
    model = load_mjcf(file(joint='<joint name="j" range="60 30"/>'))
    assert not model.has_limit(0)
    assert "joint 'j': its range 60 to 30 is reversed" in str(model.report.at_level("warning"))


# One grammar for all formats ------------------------------------------------------------------------------------------

# What a word is: a number, or None if every reader refuses it.
WORDS = {
    "1": 1.0, "+1": 1.0, "1.": 1.0, ".5": 0.5, "+.5": 0.5, "-.5e1": -5.0, "1E+2": 100.0, "010": 10.0, "1e49": 1e49,
    **dict.fromkeys((
        "0x10", "-0X1F", "0x1p3", "0x1.8p1", "1e51", "-1e300", "1e400", "1e-400", "1" + "0" * 60,
        "0." + "0" * 400 + "1", "1_000", "1,5", "1d3", "1f", "0b1", "0o7", "--1", "+-1", "1e", "e5", ".", "nan",
        "NaN(1)", "inf", "-Infinity", "\u0661", "\uff11", "\u00bd", "1\u00a02", "1e1.5", "1;", "''",
    )),
}  # fmt: skip
INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
FORMS = {
    "urdf": f'<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>{INERTIA}</inertial></link>'
            '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><origin xyz="{} 0 0"/></joint>'
            "</robot>",
    "sdf": '<sdf version="1.7"><model name="m"><link name="a"><inertial><mass>1</mass></inertial></link>'
           '<link name="b"><pose>{} 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link><joint name="j" '
           'type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>',
    "mjcf": '<mujoco><worldbody><body name="a"><freejoint/><geom size=".1"/><body name="b" pos="{} 0 0">'
            '<joint name="j"/><geom size=".1"/></body></body></worldbody></mujoco>',
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("word", WORDS)
def test_all_formats_read_the_same_numbers(form, word):
    """The position of a body: where one reader takes a word, all do, and for the same number."""
    text = FORMS[form].replace("{}", word)
    if WORDS[word] is None:
        with pytest.raises(FileFormatError) as caught:
            kt.load(text)
        assert caught.value.line == 1
        assert caught.value.code in [found.code for found in kt.lint(text).errors]
    else:
        model = kt.load(text)
        assert pose_of_transform(model.X_T[model.body_names.index("b")])[1][0] == WORDS[word]
        assert not kt.lint(text, isolate=False).errors


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        (file(joint='<joint damping="0x10"/>'), "damping"),
        (file(joint='<joint damping="1e300"/>'), "damping"),
        (file(joint='<joint range="0x1 0x2"/>'), "range"),
        (file(body='pos="0 0 0x10"'), "pos"),
        (file(option='gravity="0 0 -0x9"'), "gravity"),
        (file(joint='<joint group="0x1"/>'), "group"),
        (file(inertial='mass="0x1" diaginertia="1 1 1"'), "mass"),
    ],
)
def test_numbers_that_only_mujoco_reads_are_named(text, attribute):
    """MuJoCo would take hexadecimal numbers, and lengths whose products overflow."""
    with pytest.raises(MJCFError, match=f"attribute '{attribute}' is .* is (not a finite number|too large)") as caught:
        load_mjcf(text)
    assert caught.value.code == "bad-number" and caught.value.line > 1
    assert [found.line for found in kt.lint(text).errors if found.code == "bad-number"] == [caught.value.line]


def test_names_files_and_limits_are_not_taken_for_numbers():
    """Names like 0x10, references to them, limits that mean none, and what serves MuJoCo alone."""
    text = (
        '<mujoco model="0x1"><statistic extent="1e300"/><worldbody><body name="0x10">'
        '<joint name="1e300" range="-1e300 1e300"/><geom size=".1"/></body></worldbody>'
        '<actuator><motor joint="1e300" forcerange="-1e300 1e300"/></actuator>'
        '<custom><numeric name="n" data="1e300 0x10"/></custom></mujoco>'
    )
    assert load_mjcf(text).joint_names == ("1e300",)
