"""One robot on another, and payloads: energies add, places agree, names do not clash."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DuplicateNameError, InertiaError, TopologyError, UnknownNameError
from kinetree.joints import Free, Revolute
from kinetree.model import Actuator, Equipment, Geometry, Keyframe, LoopJoint, ModelBuilder, Tendon
from kinetree.surgery import StateMap, add_payload, attach, lock, prune, rename, submodel, with_base
from tests.identities.systems import close
from tests.surgery.systems import dressed, fingerprint, homogeneous, placement, same_places, state

SEEDS = range(1, 11, 3)


def carried(model, other, both, at: str, X, q, v, base: str):
    """States of the carrier alone and of the guest floating with the frame, from a state of both."""
    mine = np.concatenate([q[both.q_index(name)] for name in model.joint_names])
    mine_v = np.concatenate([v[both.v_index(name)] for name in model.joint_names])
    guest = with_base(rename(other, prefix="g_"), "floating", base=base)
    states = StateMap(both, guest)
    return mine, mine_v, guest, states.q(q), states.v(q, v)


@pytest.mark.parametrize("seed", SEEDS)
def test_energies_add(seed):
    """T and the potential energy are those of the carrier plus those of the guest, moved with the frame."""
    model, other = dressed(seed + 1), dressed(seed + 3).replace(name="guest")
    model, other = (m if not isinstance(m.joints[1], Free) else m.replace(armature=0.0) for m in (model, other))
    X = placement(np.random.default_rng(seed))
    at = f"{model.body_names[-1]}_mark"
    both = attach(model, other, at=at, placement=X, prefix="g_", free_base="keep")
    assert both.nv == model.nv + other.nv
    q, v, *_ = state(both, seed)
    mine, mine_v, guest, theirs, theirs_v = carried(model, other, both, at, X, q, v, "g_socket")
    for energy in (kt.kinetic_energy, lambda m, q, v: kt.potential_energy(m, q)):
        close(energy(both, q, v), energy(model, mine, mine_v) + energy(guest, theirs, theirs_v), scale=100.0)
    same_places(model, mine, both, q)
    same_places(guest, theirs, both, q, only_common=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_base_is_where_it_is_put(seed):
    """X_W(world of the guest) = X_W(at) placement; with on=, that frame is there instead."""
    model, other = dressed(seed), dressed(seed + 2).replace(name="guest")
    X = placement(np.random.default_rng(seed))
    for on, frame in ((None, "g_world"), ("socket", "g_socket")):
        both = attach(model, other, at="body2", placement=X, prefix="g_", on=on, free_base="keep")
        q = both.random_q(np.random.default_rng(seed))
        there = homogeneous(*kt.pose(both, q, frame="body2")) @ X
        close(homogeneous(*kt.pose(both, q, frame=frame)), there, ulps=1e5)


@pytest.mark.parametrize("on", [None, "socket"])
def test_a_joint_between_the_two_locked_is_a_weld(on):
    """lock(attach(..., joint=J), J) = attach(...)."""
    model, other = dressed(4), dressed(7).replace(name="guest")
    X = placement(np.random.default_rng(0))
    moving = attach(model, other, at="body3_mark", placement=X, prefix="g_", joint=Revolute((1, 0, 0)), on=on)
    welded = attach(model, other, at="body3_mark", placement=X, prefix="g_", on=on)
    assert moving.joint_name(model.nb) == "g_world" and moving.nv == welded.nv + 1
    again = lock(moving, "g_world")
    q, v, *_ = state(welded, 1)
    close(kt.crba(again, q), kt.crba(welded, q))
    close(kt.bias_forces(again, q, v), kt.bias_forces(welded, q, v))
    same_places(welded, q, again, q)


def test_cut_and_attached_again_is_the_same_robot():
    """prune and submodel take a robot apart, attach puts it together: the same M, forces and places."""
    robot = kt.load("humanoid", floating_base=True)
    arm, rest = submodel(robot, "left_upper_arm"), prune(robot, "left_upper_arm")
    q, v, *_ = state(robot, 0)
    where = np.linalg.inv(homogeneous(*kt.pose(robot, robot.neutral(), frame="left_collar")))
    both = attach(rest, arm, at="left_collar", placement=where)
    states = StateMap(robot, both)
    G = states.velocity_matrix(q)
    close(G.T @ kt.crba(both, states.q(q)) @ G, kt.crba(robot, q))
    close(kt.rnea(both, states.q(q), states.v(q, v), 0 * v), G @ kt.rnea(robot, q, v, 0 * v))
    same_places(robot, q, both, states.q(q))


def gripper(floating: bool = True):
    """Two fingers on a palm, with a scene around it."""
    b = ModelBuilder("gripper")
    inertia = {"mass": 0.2, "com": (0.0, 0.0, 0.05), "inertia": (1e-3, 1e-3, 1e-3)}
    b.add_body("palm", joint=Free() if floating else None, joint_name="palm_joint", **inertia)
    b.add_body("finger", "palm", Revolute((1, 0, 0)), **inertia)
    b.add_frame("bottom", "palm", ((0.0, 0.0, -0.1), (0.0, 0.0, 0.3)))
    b.add_frame("stand", "world", ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    b.add_geometry("world", Geometry("plane", name="floor"))
    b.equipment = Equipment(
        loops=(LoopJoint("rope", kt.joints.Spherical(), "finger", "world"),),
        keyframes=(Keyframe("home", {"finger": (0.3,)}),),
    )
    return b.build()


def test_a_floating_gripper_gives_up_its_free_joint():
    """The free body is the base; its world, with floor and ropes, stays behind, which the report says."""
    arm = prune(kt.load("arm7"), ["left_finger", "right_finger"])
    b = ModelBuilder.of(arm)
    b.equipment += Equipment(keyframes=(Keyframe("home", {"elbow_pitch": (0.5,)}),))
    both = attach(b.build(), gripper(), at="tool", on="bottom")
    assert both.nv == arm.nv + 1 and both.frame("palm").body == both.body("flange_link")
    q = both.random_q(np.random.default_rng(0))
    close(homogeneous(*kt.pose(both, q, frame="bottom")), homogeneous(*kt.pose(both, q, frame="tool")))
    assert both.loops == () and "'rope'" in str(both.report.at_level("dropped")[-1])
    assert "left behind on its world: stand, floor" in str(both.report)
    home, _ = both.keyframe("home")  # one state of both
    assert home[both.q_index("elbow_pitch")] == 0.5 and home[both.q_index("finger")] == 0.3


def test_a_fixed_gripper_brings_what_is_welded_to_its_world():
    """Its world becomes a frame, to which ropes still lead; only the endless floor stays behind."""
    arm = prune(kt.load("arm7"), ["left_finger", "right_finger"])
    both = attach(arm, gripper(floating=False), at="tool")
    assert both.frame("stand").body == both.frame("gripper_world").body == both.body("flange_link")
    assert both.loops[0].successor == "gripper_world"
    assert "floor" in str(both.report) and not any(s.kind == "plane" for on in both.geometry for s in on)


def test_free_bases_may_stay_free():
    """free_base="keep": the guest floats relative to the frame."""
    both = attach(kt.load("arm7"), gripper(), at="tool", free_base="keep")
    assert both.joints[both.joint("palm_joint")] == Free()
    assert both.parent[both.body("palm")] == both.body("flange_link")


def test_clashes_are_named_and_a_prefix_helps():
    """Bodies, joints, frames and equipment of both models with one name."""
    arm = kt.load("arm7")
    with pytest.raises(DuplicateNameError, match="both have body or frame 'base'.*give prefix='second_'"):
        attach(arm, arm, at="tool")
    two = attach(arm, arm, at="tool", prefix="second_")
    assert two.nv == 2 * arm.nv and two.couplings[1].joint == "second_right_finger_slide"
    drive = Equipment(tendons=(Tendon("t", ()),), actuators=(Actuator("m", "tendon", "t"),))
    one, other = gripper().replace(equipment=drive), kt.models.double_pendulum().replace(equipment=drive)
    with pytest.raises(DuplicateNameError, match="tendon 't', actuator 'm'"):
        attach(one, other, at="finger")
    assert attach(one, other, at="finger", prefix="p_").actuators[1].target == "p_t"


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda a: attach(a, gripper(), at="tol"), UnknownNameError, "Did you mean 'tool'"),
        (lambda a: attach(a, gripper(), at="tool", on="finger"), TopologyError, "not on the base.*palm, bottom"),
        (lambda a: attach(a, gripper(), at="tool", free_base="drop"), TopologyError, "known: replace, keep"),
        (lambda a: attach(a, two_bodies(), at="tool"), TopologyError, "2 bodies on its world"),
        (lambda a: add_payload(a, "tol", 1.0), UnknownNameError, "Did you mean 'tool'"),
        (lambda a: add_payload(a, "tool", -1.0), InertiaError, "mass -1 kg is negative"),
        (lambda a: add_payload(a, "tool", 1.0, inertia=(1.0, 0.1, 0.1)), InertiaError, "payload at tool"),
    ],
)
def test_wrong_requests_are_named(make, error, text):
    """Unknown frames, frames that are not on the base, ambiguous bases, impossible loads."""
    with pytest.raises(error, match=text):
        make(kt.load("arm7"))


def two_bodies():
    b = ModelBuilder("scene")
    for name in ("one", "two"):
        b.add_body(name, joint=Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    return b.build()


def test_what_was_merged_or_accepted_stays_so():
    """Joints that were merged away keep their names, and a guest with impossible inertias is taken as it is."""
    arm = kt.load("arm7")
    two = attach(arm, arm, at="tool", prefix="second_")
    assert two.welded["second_hand_fixed"] == "second_hand" and two.welded["hand_fixed"] == "hand"
    b = ModelBuilder("guest", accept_impossible_inertia=True)
    b.add_body("odd", joint=Revolute(), mass=1.0, inertia=(1.0, 0.1, 0.1))
    both = attach(arm, b.build(), at="tool")
    assert both.accept_impossible_inertia and "impossible inertia" in str(both.report)


def test_gravity_is_that_of_the_carrier():
    """A difference is a warning."""
    both = attach(kt.load("arm7"), gripper().replace(gravity=(0, 0, -1.62)), at="tool")
    assert both.gravity == kt.load("arm7").gravity or list(both.gravity) == list(kt.load("arm7").gravity)
    assert "gravity is that of 'arm7'" in str(both.report.at_level("warning")[-1])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_payload_adds_its_kinetic_energy(seed):
    """T grows by that of a body that is moved with the frame; the structure, and so the compiled code, is the same."""
    model = dressed(seed)
    at = f"{model.body_names[-1]}_mark"
    load = {"mass": 2.0, "com": (0.1, 0.2, -0.3), "inertia": (0.1, 0.2, 0.25)}
    loaded = add_payload(model, at, **load)
    q, v, *_ = state(model, seed)
    twist = kt.velocity(model, q, v, frame=at, reference="local")
    b = ModelBuilder("load")
    b.add_body("load", joint=Free(), **load)
    lone = kt.kinetic_energy(b.build(), [0, 0, 0, 1, 0, 0, 0], twist)
    close(kt.kinetic_energy(loaded, q, v), kt.kinetic_energy(model, q, v) + lone)
    assert loaded.structure() == model.structure()


def test_the_models_are_not_touched():
    """Input models are what they were."""
    one, other = dressed(1), dressed(2)
    before = fingerprint(one), fingerprint(other)
    attach(one, other, at="body2", prefix="g_", free_base="keep")
    add_payload(one, "body1", 1.0)
    assert (fingerprint(one), fingerprint(other)) == before
