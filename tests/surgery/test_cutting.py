"""Subtrees, chains and robots without limbs: the part moves as it does on the whole."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError, TopologyError, UnknownNameError
from kinetree.joints import Fixed, Free
from kinetree.model import Actuator, Equality, Equipment, Keyframe, LoopJoint, ModelBuilder, Tendon
from kinetree.surgery import StateMap, lock, prune, submodel
from kinetree.tendons import JointTerm
from tests.identities.systems import close
from tests.surgery.systems import all_mass, dressed, fingerprint, same_dynamics, same_places, state

SEEDS = range(12)


def case(seed: int):
    """A tree, one of its bodies, and the names of the joints that this body's subtree holds."""
    model = dressed(seed)
    i = 1 + seed % (model.nb - 1)
    inside = [model.joint_name(k) for k in model.subtree(i)]
    return model, model.body_names[i], inside


def held_outside(model, q, inside):
    """The model with all joints locked but these, and what these follow free of their masters."""
    b = ModelBuilder.of(model)
    b._constraints = [c for c in b._constraints if set(c.joints) <= set(inside)]
    free = b.build(merge_fixed=False)
    return lock(free, {name: q[free.q_index(name)] for name in free.joint_names if name not in inside})


@pytest.mark.parametrize("seed", SEEDS)
def test_a_subtree_moves_as_on_the_whole_with_the_rest_locked(seed):
    """submodel(m, b, q=q) has M, forces and places of the subtree of m when all other joints stand still at q."""
    model, root, inside = case(seed)
    q, *_ = state(model, seed)
    part = submodel(model, root, q=q)
    whole = held_outside(model, q, inside)
    q_part = StateMap(model, part).q(q) if not isinstance(part.joints[1], Free) else _copied(model, part, q)
    assert list(part.joint_names) == inside
    same_dynamics(part, q_part, whole, q_part)
    same_places(part, q_part, whole, q_part, only_common=True)
    assert {f"{name}_mark" for name in part.body_names[1:]} <= {frame.name for frame in part.frames}
    for array in ("armature", "damping", "lower"):
        np.testing.assert_array_equal(getattr(part, array), getattr(whole, array))


def _copied(model, part, q):
    return np.concatenate([[], *(q[model.q_index(name)] for name in part.joint_names)])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_welded_root_is_a_locked_one(seed):
    """submodel(m, b, joint=Fixed(), q=q) is the submodel with its root joint locked at q."""
    model, root, inside = case(seed)
    q, *_ = state(model, seed)
    welded = submodel(model, root, joint=Fixed(), q=q)
    own = submodel(model, root, q=q)
    own = held_outside(own, _copied(model, own, q), inside[1:])
    q_part = _copied(model, own, q)
    same_dynamics(welded, q_part, own, q_part)
    same_places(welded, q_part, own, q_part)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_free_root_moves_like_the_root_of_the_whole(seed):
    """With the twist that the root has on the whole, a floating subtree has its share of the kinetic energy."""
    model, root, inside = case(seed)
    model = model.replace(armature=0.0)
    q, v, *_ = state(model, seed)
    part = submodel(model, root, joint=Free())
    rest = prune(model, root)
    states, others = StateMap(model, part), StateMap(model, rest)
    energy = kt.kinetic_energy(part, states.q(q), states.v(q, v))
    energy += kt.kinetic_energy(rest, others.q(q), others.v(q, v))
    close(energy, kt.kinetic_energy(model, q, v))
    same_places(part, states.q(q), model, q)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_part_and_the_rest_are_the_whole(seed):
    """No frame, shape, joint or mass is lost or doubled when a model is cut in two."""
    model, root, _ = case(seed)
    part, rest = submodel(model, root), prune(model, root)
    assert sorted(part.joint_names + rest.joint_names) == sorted(model.joint_names)
    names = [{frame.name for frame in m.frames} - {"world"} for m in (model, part, rest)]
    assert names[1] | names[2] == names[0] and not names[1] & names[2]
    close(all_mass(part) + all_mass(rest), all_mass(model))
    shapes = [sum(map(len, m.geometry)) for m in (model, part, rest)]
    assert shapes[0] == shapes[1] + shapes[2]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_left_after_pruning_stays_as_it_was(seed):
    """The rest has the places of the whole, and M of the whole without the inertia of the pruned bodies."""
    model, root, inside = case(seed)
    q, v, *_ = state(model, seed)
    rest = prune(model, root)
    states = StateMap(model, rest)
    same_places(rest, states.q(q), model, q)
    gone = [model.body_names[k] for k in model.subtree(model.body(root))]
    kept = [k for i in model.outward() if model.body_names[i] not in gone for k in range(*_span(model, i))]
    from kinetree.spatial import Inertia

    I = [Inertia.zero() if name in gone else I for name, I in zip(model.body_names, model.I, strict=True)]
    light = model.replace(I=I, armature=np.where(np.isin(np.arange(model.nv), kept), model.armature, 1.0))
    close(kt.crba(rest, states.q(q)), kt.crba(light, q)[np.ix_(kept, kept)])


def _span(model, i):
    return model.v_slice[i].start, model.v_slice[i].stop


def test_a_chain_ends_at_its_tips():
    """With tips, only the bodies on the paths to them stay; a tip may be a merged link's frame."""
    robot = kt.load("humanoid", floating_base=True)
    arms = submodel(robot, "chest", joint=Fixed(), tips=["left_hand", "right_hand"])
    assert "head" not in [frame.name for frame in arms.frames]
    assert {name.split("_")[0] for name in arms.joint_names} == {"left", "right"}
    sole = submodel(robot, "left_thigh", tips="left_sole")
    assert sole.frame("left_sole").body == sole.nb - 1
    with pytest.raises(TopologyError, match="tip 'right_hand' is on body 'right_hand', which 'left_thigh' does not"):
        submodel(robot, "left_thigh", tips="right_hand")


def equipped():
    """Two arms on a trunk, with equipment within the left one, across, and on the trunk."""
    b = ModelBuilder("two_arms")
    inertia = {"mass": 1.0, "com": (0.1, 0.0, 0.0), "inertia": (0.1, 0.1, 0.1)}
    b.add_body("trunk", joint=kt.joints.Revolute(), **inertia)
    for side in ("left", "right"):
        b.add_body(f"{side}_arm", "trunk", kt.joints.Revolute((0, 1, 0)), **inertia)
        b.add_body(f"{side}_hand", f"{side}_arm", kt.joints.Revolute((1, 0, 0)), **inertia)
    b.add_coupling("right_hand", "left_hand", -1.0)
    b.equipment = Equipment(
        loops=(LoopJoint("grip", Fixed(), "left_hand", "right_hand"), LoopJoint("pin", Fixed(), "left_hand", "world")),
        equalities=(Equality("curve", "joint", "left_hand", "left_arm", (0.0, 1.0, 1.0)),),
        tendons=(Tendon("cord", (JointTerm("left_arm", 1.0), JointTerm("left_hand", 1.0)), stiffness=1.0),
                 Tendon("span", (JointTerm("left_arm", 1.0), JointTerm("right_arm", 1.0)), stiffness=1.0),
                 Tendon("ruler", (JointTerm("left_arm", 1.0), JointTerm("trunk", 1.0)))),
        actuators=(Actuator("winch", "tendon", "cord"), Actuator("motor", "joint", "trunk")),
        keyframes=(Keyframe("home", {"left_arm": (0.1,), "trunk": (0.2,)}),),
    )  # fmt: skip
    return b.build()


def names_of(equipment):
    kinds = ("loops", "equalities", "tendons", "actuators", "keyframes")
    return {piece.name for kind in kinds for piece in getattr(equipment, kind)}


def test_equipment_within_stays_and_what_crosses_the_cut_is_reported():
    """Physics across the cut is "dropped", lengths and states are "info", what lies on the other side is no news."""
    part = submodel(equipped(), "left_arm")
    assert names_of(part.equipment) == {"pin", "curve", "cord", "winch", "home"}
    assert part.couplings == ()
    dropped = "\n".join(map(str, part.report.at_level("dropped")))
    assert all(name in dropped for name in ("'grip'", "'span'", "coupling of joint 'right_hand' to 'left_hand'"))
    info = "\n".join(map(str, part.report.at_level("info")))
    assert "'ruler'" in info and "'home'" in info and "left out 'right_arm', 'right_hand', 'trunk' with 3 kg" in info
    assert "motor" not in str(part.report)
    q, _ = part.keyframe("home")
    assert q.tolist() == [0.1, 0.0]


def test_pruning_reports_the_same_way():
    """Without the right arm, the grip, the span and the coupling are dropped."""
    rest = prune(equipped(), "right_arm")
    assert names_of(rest.equipment) == {"pin", "curve", "cord", "ruler", "winch", "motor", "home"}
    assert len(rest.report.at_level("dropped")) == 3


def test_what_lies_wholly_beyond_the_cut_is_no_news():
    """A coupling and a gear that are cut off with both their joints are not reported."""
    arm = kt.load("arm7")
    assert not prune(arm, ["left_finger", "right_finger"]).report.at_level("dropped")
    assert not submodel(arm, "left_finger").couplings


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda m: submodel(m, "lefthand"), UnknownNameError, "Did you mean 'left_hand'"),
        (lambda m: submodel(m, "world"), ModelError, "the world is no part of a robot"),
        (lambda m: prune(m, ["left_arm", "lefthand"]), UnknownNameError, "'left_hand'"),
        (lambda m: submodel(m, "left_arm", tips="nose"), UnknownNameError, "no frame named 'nose'"),
        (lambda m: submodel(m, "left_arm", q=np.zeros(3)), kt.errors.ShapeError, r"expected \(5,\)"),
        (lambda m: prune(m, "trunk"), ModelError, "without trunk nothing would be left of model 'two_arms'"),
        (lambda m: prune(kt.load("arm7"), "tool"), UnknownNameError, "it is a frame on body"),
    ],
)
def test_wrong_names_are_named(make, error, text):
    """Unknown bodies, tips and positions; a merged link cannot be cut off."""
    with pytest.raises(error, match=text):
        make(equipped())


def test_the_model_is_not_touched():
    """Input models are what they were."""
    model = equipped()
    before = fingerprint(model)
    submodel(model, "left_arm", joint=Fixed())
    prune(model, "right_arm")
    assert fingerprint(model) == before
