"""Numbers in MJCF files that are not finite, and masses that no body has, end in an error with file and line."""

from __future__ import annotations

import pytest

from kinetree.errors import InertiaError, MJCFError, ModelError
from kinetree.io.mjcf import load_mjcf

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
    assert load_mjcf(file(joint='<joint name="nan"/>')).joint_names[1:] == ("nan",)


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
    assert "joint 'j': its range 60 to 30 is upside down" in str(model.report.at_level("warning"))
