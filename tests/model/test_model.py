"""The model as data: frozen, picklable, changed by copies; names, labels and sets."""

import dataclasses
import json
import pickle

import numpy as np
import pytest

import kinetree as kt
import kinetree.models as library
from kinetree.joints import Free, Revolute
from kinetree.model import ModelBuilder, Report
from kinetree.models import chain_gu, double_pendulum, pendulum, random_tree


def test_a_model_cannot_be_changed():
    """Attributes, arrays and slots are read-only."""
    model = double_pendulum()
    with pytest.raises(dataclasses.FrozenInstanceError, match=r"replace\(nv=...\)"):
        model.nv = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        del model.name
    for array in (model.damping, model.lower, model.spring_reference, model.number_values(), model.frames[0].R_BF):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_a_model_does_not_see_later_changes_of_what_it_was_made_of():
    """Arrays are copied."""
    damping = np.array([0.1, 0.2])
    model = double_pendulum().replace(damping=damping)
    damping[0] = 9.0
    assert model.damping.tolist() == [0.1, 0.2]


def test_models_are_equal_by_identity():
    """They serve as keys of caches."""
    a, b = pendulum(), pendulum()
    assert a != b and len({a, b, a}) == 2
    assert a.structure() == b.structure()


@pytest.mark.parametrize("seed", range(3))
def test_a_model_survives_pickling(seed):
    """Another process gets the same structure and numbers; compiled functions stay behind."""
    model = random_tree(12, seed=seed)
    model.functions["x"] = lambda: None
    again = pickle.loads(pickle.dumps(model))
    assert again.structure() == model.structure()
    assert again.numbers().as_dict() == model.numbers().as_dict()
    assert again.functions == {}


def test_replace_changes_what_it_names_and_nothing_else():
    """A mapping leaves the joints that it does not name."""
    model = chain_gu(3).replace(damping=0.5, gravity=(0.0, 0.0, 0.0))
    other = model.replace(damping={"joint2": 2.0}, lower={"joint1": -1.0})
    assert other.damping.tolist() == [0.5, 2.0, 0.5]
    assert other.lower.tolist() == [-1.0, -np.inf, -np.inf]
    before, after = model.numbers().as_dict(), other.numbers().as_dict()
    assert {name for name in before if before[name] != after[name]} == {"joint2.damping", "joint1.lower"}


def test_without_limits_removes_stops_too():
    """Nothing of the limits remains."""
    model = pendulum().replace(lower=-1.0, upper=1.0, limit_stiffness=5.0, limit_damping=1.0)
    assert model.has_limit(0) and model.has_stop(0)
    free = model.without_limits()
    assert not free.has_limit(0) and not free.has_stop(0)
    assert free.structure() == pendulum().structure()


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"damping": 1.0}, "damping"),
        ({"dry_friction": 1.0}, "dry_friction"),
        ({"stiffness": 1.0}, "spring"),
        ({"upper": 1.0}, None),
        ({"limit_stiffness": 1.0}, "soft_stop"),
    ],
)
def test_physics_that_is_present_is_structure(change, kind):
    """Absent physics is known to be absent, and its presence is seen in the structure."""
    model, other = pendulum(), pendulum().replace(**change)
    assert model.forces == () and [force.kind for force in other.forces] == ([kind] if kind else [])
    assert not model.has_limit(0) and other.has_limit(0) == (kind is None)
    assert not model.has_stop(0) and other.has_stop(0) == (kind == "soft_stop")
    assert model.structure() != other.structure()


def test_names_of_bodies_and_joints_are_separate():
    """A body and its joint may share a name."""
    b = ModelBuilder()
    b.add_body("x", joint=Free(), joint_name="y", mass=1.0, inertia=(1, 1, 1))
    b.add_body("y", "x", Revolute(), "x", mass=1.0, inertia=(1, 1, 1))
    model = b.build()
    assert (model.body("x"), model.joint("x"), model.body("y"), model.joint("y")) == (1, 2, 2, 1)
    assert (model.body(0), model.joint(2), model.frame(1).name) == (0, 2, "x")


def test_every_body_is_a_frame():
    """The first nb frames are those of the bodies, unturned and at the origin."""
    model = random_tree(5, seed=0)
    for i, name in enumerate(model.body_names):
        frame = model.frame(name)
        assert frame is model.frames[i] and frame.body == i
        np.testing.assert_array_equal(frame.X_FB.matrix(), np.eye(6))


def test_labels_name_the_joint_and_its_coordinate():
    """One label and one unit per entry of q and v."""
    b = ModelBuilder()
    b.add_body("base", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    b.add_body("leg", "base", Revolute(), "knee", mass=1.0, inertia=(1, 1, 1))
    model = b.build()
    assert model.position_labels[::7] == ("base.x", "knee") and model.position_units[::7] == ("m", "rad")
    assert model.velocity_labels[::6] == ("base.wx", "knee") and model.velocity_units[3:] == ("m/s",) * 3 + ("rad/s",)


def test_slices_partition_the_coordinates():
    """Every entry of q and v belongs to one joint."""
    model = random_tree(30, seed=2)
    for n, slices, of in ((model.nq, model.q_slice, model.q_of), (model.nv, model.v_slice, model.v_of)):
        entries = list(range(n))
        assert [k for i in model.outward() for k in of(i, entries)] == entries
        assert slices[0] == slice(0, 0)


def test_a_joint_name_gives_its_entries():
    """q_index and v_index of a joint are where its labels stand, for one coordinate and for many."""
    dog = kt.load("quadruped", floating_base=True)
    assert dog.position_labels[dog.q_index("FL_knee")] == ("FL_knee",) == dog.velocity_labels[dog.v_index("FL_knee")]
    assert (dog.q_index("root_joint"), dog.v_index("root_joint")) == (slice(0, 7), slice(0, 6))
    with pytest.raises(kt.errors.UnknownNameError, match="no joint named 'FL_kne'.*Did you mean 'FL_knee'"):
        dog.v_index("FL_kne")


def test_dof_parent_is_the_pattern_of_the_mass_matrix():
    """Counted from 0, -1 for the world: two hinges on a floating body both hang on its sixth freedom."""
    b = ModelBuilder()
    b.add_body("base", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    for name in "ab":
        b.add_body(name, "base", Revolute(), mass=1.0, inertia=(1, 1, 1))
    assert b.build().dof_parent() == (-1, 0, 1, 2, 3, 4, 5, 5)


@pytest.mark.parametrize("seed", range(3))
def test_random_positions_are_valid(seed):
    """Within limits where there are any, quaternions of unit length, and different every time."""
    rng = np.random.default_rng(seed)
    model = random_tree(150, seed=seed)  # more bodies than examples of joints
    i = next(i for i in model.outward() if isinstance(model.joints[i], Revolute))
    model = model.replace(lower={model.joint_name(i): 0.1}, upper={model.joint_name(i): 0.2})
    q = model.random_q(rng)
    defects = [float(x) for j in model.outward() for x in model.joints[j].defect(model.q_of(j, q.tolist()))]
    assert np.abs(defects).max() < 1e-14
    assert 0.1 <= q[model.q_slice[i]] <= 0.2
    assert not np.any(model.random_q(rng) == q) or model.nq > len(np.unique(q))


def test_a_report_is_a_list_that_prints():
    """Immutable; the builder's notes reach the model."""
    b = ModelBuilder("robot")
    b.add_body("a", joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    b.note("dropped", "robot.xml:3", "tendon 't'")
    model = b.build()
    assert str(model.report) == "dropped: robot.xml:3: tendon 't'"
    assert [e.message for e in model.report.at_level("dropped")] == ["tendon 't'"]
    assert json.loads(model.report.to_json())[0] == {
        "level": "dropped", "where": "robot.xml:3", "message": "tendon 't'"
    }  # fmt: skip
    assert str(Report()) == "nothing to report" and not Report()


@pytest.mark.parametrize("name", library.__all__)
def test_library_models_build(name):
    """Each has a documented, valid default."""
    make = getattr(library, name)
    model = make(5) if name == "auto_tree" else make()
    model = model.model if name == "random_loops" else model
    assert model.nv > 0 and make.__doc__
