"""Other names: nothing else changes, and everything that refers to a name follows."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DuplicateNameError, UnknownNameError
from kinetree.model import Actuator, Equality, Equipment, Keyframe, LoopJoint, RotationLimit, Tendon
from kinetree.surgery import rename
from kinetree.tendons import JointTerm, ViaPoint
from tests.surgery.systems import dressed, fingerprint, state


@pytest.mark.parametrize("seed", range(12))
def test_numbers_are_the_same_to_the_last_bit(seed):
    """M, forces, frames and all numbers of the model."""
    model = dressed(seed)
    new = rename(model, prefix="left_", suffix="_1")
    q, v, a, _ = state(model, seed)
    np.testing.assert_array_equal(new.number_values(), model.number_values())
    np.testing.assert_array_equal(kt.crba(new, q), kt.crba(model, q))
    np.testing.assert_array_equal(kt.rnea(new, q, v, a), kt.rnea(model, q, v, a))
    for one, other in zip(kt.kinematics.frame_poses(new, q), kt.kinematics.frame_poses(model, q), strict=True):
        np.testing.assert_array_equal(one, other)
    assert [f.name for f in new.frames[1:]] == [f"left_{f.name}_1" for f in model.frames[1:]]
    assert new.joint_names == tuple(f"left_{name}_1" for name in model.joint_names)
    assert [c.structure(new) for c in new.couplings] == [c.structure(model) for c in model.couplings]


@pytest.mark.parametrize("seed", range(3))
def test_back_is_where_it_came_from(seed):
    """Renaming by the inverse function gives the model back."""
    model = dressed(seed)
    there = rename(model, **dict.fromkeys(("bodies", "joints", "frames", "equipment"), lambda name: f"x{name}"))
    back = rename(there, **dict.fromkeys(("bodies", "joints", "frames", "equipment"), lambda name: name[1:]))
    assert fingerprint(back) == fingerprint(model)


def test_mappings_change_what_they_hold():
    """Bodies take their frames along; joints that were merged away can be renamed too."""
    arm = kt.load("arm7")
    new = rename(arm, bodies={"flange_link": "flange"}, joints={"tool_fixed": "weld"}, frames={"tool": "tcp"})
    assert new.frame("flange").body == new.frame("tcp").body == new.body("flange") == arm.body("flange_link")
    assert new.welded["weld"] == "tcp" and new.joint_names == arm.joint_names


def test_equipment_follows():
    """Every reference to a frame, a joint or a tendon gets the new name."""
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    b.add_body("ball", "lower", kt.joints.Spherical(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.equipment = Equipment(
        loops=(LoopJoint("loop", kt.joints.Fixed(), "lower", "world"),),
        equalities=(Equality("eq", "joint", "elbow", "shoulder", (0.0, 1.0, 1.0)), RotationLimit("ball", 1.0)),
        tendons=(Tendon("cord", (JointTerm("elbow", 1.0),)), Tendon("wire", (ViaPoint("upper"), ViaPoint("world")))),
        actuators=(Actuator("m", "tendon", "cord"), Actuator("n", "site", "lower", reference="upper")),
        keyframes=(Keyframe("home", {"elbow": (0.2,)}),),
    )
    new = rename(b.build(), joints={"elbow": "knee"}, equipment={"cord": "rope"}, prefix="a_")
    assert (new.loops[0].name, new.loops[0].predecessor, new.loops[0].successor) == ("a_loop", "a_lower", "world")
    assert (new.equalities[0].follower, new.equalities[1].joint) == ("a_knee", "a_ball")
    assert new.tendons[0].name == new.actuators[0].target == "a_rope"
    assert new.tendons[1].path == (ViaPoint("a_upper"), ViaPoint("world"))
    assert (new.actuators[1].target, new.actuators[1].reference) == ("a_lower", "a_upper")
    assert new.keyframe("a_home")[0][new.q_index("a_knee")] == 0.2


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"bodies": {"uper": "a"}}, UnknownNameError, "Did you mean 'upper'"),
        ({"bodies": {"world": "a"}}, UnknownNameError, "no body named 'world'"),
        ({"joints": {"elbw": "a"}}, UnknownNameError, "Did you mean 'elbow'"),
        ({"frames": {"upper": "a"}}, UnknownNameError, "no frame named 'upper'"),
        ({"equipment": {"x": "a"}}, UnknownNameError, "no piece of equipment"),
        ({"bodies": {"upper": "lower"}}, DuplicateNameError, "'upper' and 'lower' would both be named 'lower'"),
        ({"bodies": {"upper": "world"}}, DuplicateNameError, "would both be named 'world'"),
        ({"joints": lambda name: "j"}, DuplicateNameError, "would both be named 'j'"),
    ],
)
def test_wrong_names_are_named(changes, error, text):
    """Names that are not there, and two things of one name."""
    with pytest.raises(error, match=text):
        rename(kt.models.double_pendulum(), **changes)


def test_the_model_is_not_touched():
    """Input models are what they were."""
    model = dressed(1)
    before = fingerprint(model)
    rename(model, prefix="a_")
    assert fingerprint(model) == before
