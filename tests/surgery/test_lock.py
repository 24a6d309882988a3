"""Locked joints: the rest moves as the whole does when these stand still."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import CouplingError, NonFiniteError, QuaternionError, ShapeError, UnknownNameError
from kinetree.joints import Prismatic, Revolute, Spherical
from kinetree.model import ModelBuilder
from kinetree.surgery import StateMap, lock, merge_fixed
from tests.identities.systems import close
from tests.surgery.systems import all_mass, dressed, fingerprint, same_dynamics, same_places, state

SEEDS = range(12)


def chosen(model, seed: int) -> list[str]:
    """A random half of the joints; of two that are coupled, both or none."""
    rng = np.random.default_rng(seed)
    names = {name for name in model.joint_names if rng.random() < 0.5}
    for c in model.couplings:
        if c.master not in names:
            names.discard(c.joint)
    return sorted(names)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rest_has_its_part_of_the_mass_matrix_and_of_the_forces(seed):
    """M of the locked model is M[free, free]; with the locked joints at rest, tau is tau[free]."""
    model = dressed(seed)
    q, v, a, _ = state(model, seed)
    names = chosen(model, seed)
    locked = lock(model, {name: q[model.q_index(name)] for name in names})
    still = {c.joint for c in model.couplings if c.master in names} | set(names)
    free = np.concatenate(
        [np.arange(model.nv)[model.v_slice[i]] for i in model.outward() if model.joint_name(i) not in still] + [[]]
    ).astype(int)
    rest = np.ones(model.nv, dtype=bool)
    rest[free] = False
    v[rest] = a[rest] = 0.0
    states = StateMap(model, locked)
    assert locked.nv == len(free)
    close(kt.crba(locked, states.q(q)), kt.crba(model, q)[np.ix_(free, free)])
    close(kt.rnea(locked, states.q(q), v[free], a[free]), kt.rnea(model, q, v, a)[free])
    close(states.v(q, v), v[free])
    for array in ("armature", "damping", "stiffness", "lower", "upper"):
        np.testing.assert_array_equal(getattr(locked, array), getattr(model, array)[free])


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_moves_when_joints_are_locked(seed):
    """All frames and shapes, by the same names, are where they were; no mass is lost; the joint is known as welded."""
    model = dressed(seed)
    q, *_ = state(model, seed)
    names = chosen(model, seed + 100)
    locked = lock(model, {name: q[model.q_index(name)] for name in names})
    same_places(model, q, locked, StateMap(model, locked).q(q))
    assert {frame.name for frame in locked.frames} == {frame.name for frame in model.frames}
    close(all_mass(locked), all_mass(model))
    for name in names:
        assert locked.welded[name] == model.body_names[model.joint(name)]
        with pytest.raises(UnknownNameError, match="fixed"):
            locked.joint(name)


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_everything_can_be_locked(seed):
    """A model without freedoms is a model: its frames stand where they were."""
    model = dressed(seed)
    q, *_ = state(model, seed)
    rigid = lock(model, {name: q[model.q_index(name)] for name in model.joint_names})
    assert (rigid.nb, rigid.nq, rigid.nv) == (1, 0, 0)
    same_places(model, q, rigid, np.zeros(0))
    assert kt.crba(rigid, np.zeros(0)).shape == (0, 0)
    close(rigid.I[0].m, all_mass(model))


def test_names_alone_lock_at_neutral():
    """A list of names, one name, and None all mean the neutral position."""
    model = kt.models.random_tree(8, seed=5)
    names = list(model.joint_names[1:4])
    one, two = lock(model, names), lock(model, dict.fromkeys(names))
    three = lock(model, {name: model.neutral()[model.q_index(name)] for name in names})
    for other in (two, three):
        np.testing.assert_array_equal(one.number_values(), other.number_values())
    assert lock(model, "joint3").welded["joint3"] == "body3"


def test_locking_in_two_steps_is_locking_at_once():
    """lock(lock(m, A), B) = lock(m, A and B)."""
    model = kt.models.random_tree(8, seed=3)
    q, *_ = state(model, 3)
    at = {name: q[model.q_index(name)] for name in model.joint_names[1:5]}
    first, second = dict(list(at.items())[:2]), dict(list(at.items())[2:])
    once, twice = lock(model, at), lock(lock(model, first), second)
    same_dynamics(once, StateMap(model, once).q(q), twice, StateMap(model, twice).q(q))


@pytest.mark.parametrize("seed", SEEDS)
def test_merging_fixed_joints_changes_no_motion(seed):
    """merge_fixed leaves M, the forces and all places as they are, and no joint without freedom."""
    model = dressed(seed)
    merged = merge_fixed(model)
    q, *_ = state(model, seed)
    assert all(joint.nv for joint in merged.joints[1:])
    same_dynamics(model, q, merged, q)
    same_places(model, q, merged, q)


def test_merging_fixed_joints_is_what_loading_does():
    """load(merge_fixed=False), merged afterwards, is load()."""
    for robot in kt.data.robots():
        late, early = merge_fixed(kt.load(robot, merge_fixed=False)), kt.load(robot)
        assert late.body_names == early.body_names and dict(late.welded) == dict(early.welded)
        q = early.random_q(np.random.default_rng(0))
        same_dynamics(late, q, early, q)
        same_places(early, q, late, q)


def coupled():
    """Three sliders in a row; the second and third follow the first."""
    b = kt.ModelBuilder("coupled")
    parent = "world"
    for name in ("first", "second", "third"):
        b.add_body(name, parent, Prismatic((1, 0, 0)), mass=1.0, lower=-1.0, upper=1.0)
        parent = name
    b.add_coupling("second", "first", ratio=2.0, offset=0.1)
    b.add_coupling("third", "first", ratio=0.0, offset=0.3)
    return b.build()


def test_what_follows_a_locked_joint_is_locked_where_it_follows():
    """The followers stand at ratio q + offset, and the coupling is gone."""
    locked = lock(coupled(), {"first": 0.2})
    assert locked.nv == 0 and locked.couplings == ()
    assert locked.frame("second").p_BF[0] == pytest.approx(0.2 + 0.5, abs=1e-15)
    assert locked.frame("third").p_BF[0] == pytest.approx(0.2 + 0.5 + 0.3, abs=1e-15)


def test_a_follower_cannot_be_locked_alone():
    """The message says where its master would have to be; consistent positions and constant followers are fine."""
    with pytest.raises(CouplingError, match=r"lock 'first' at 0.2, and 'second' is locked at 0.5 with it"):
        lock(coupled(), {"second": 0.5})
    with pytest.raises(CouplingError, match="which puts it at 0.5; it cannot be locked at 0.6"):
        lock(coupled(), {"first": 0.2, "second": 0.6})
    assert lock(coupled(), {"first": 0.2, "second": 0.5, "third": None}).nv == 0
    constant = lock(coupled(), {"third": 0.3})
    assert constant.joint_names == ("first", "second") and len(constant.couplings) == 1


def test_beyond_its_limits_a_joint_is_locked_with_a_warning():
    """A position beyond the limits is allowed and reported."""
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    model = b.build().replace(lower={"elbow": -1.0}, upper={"elbow": 1.0})
    [warning] = lock(model, {"elbow": 1.5}).report.at_level("warning")
    assert "'elbow' is locked at 1.5, beyond its limits [-1, 1]" in str(warning)
    assert not lock(model, {"elbow": 0.5}).report.at_level("warning")


@pytest.mark.parametrize(
    ("joints", "error", "text"),
    [
        ({"elbo": 0.0}, UnknownNameError, "Did you mean 'elbow'"),
        ({"elbow": (0.0, 1.0)}, ShapeError, r"'elbow': position has shape \(2,\), expected \(1,\)"),
        ({"ball": (1.0, 0.0, 0.0)}, ShapeError, r"shape \(3,\), expected \(4,\): quaternion w"),
        ({"ball": (1.0, 0.1, 0.0, 0.0)}, QuaternionError, "not of unit length: its square is off by 0.01"),
        ({"elbow": float("nan")}, NonFiniteError, "'elbow': position is"),
        ({"elbow": "bent"}, kt.errors.ModelError, "expected numbers"),
    ],
)
def test_wrong_positions_are_named(joints, error, text):
    """Unknown joints, wrong sizes, quaternions that are not unit, NaN."""
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    b.add_body("hand", "lower", Spherical(), "ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    with pytest.raises(error, match=text):
        lock(b.build(), joints)


def test_a_quaternion_is_normalized():
    """One within the tolerance of the plain calls locks at a rotation, not at something that is almost one."""
    b = ModelBuilder("ball")
    b.add_body("ball", joint=Spherical(), mass=1.0, com=(1.0, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    q = np.array([0.6, 0.0, 0.8, 0.0]) * (1.0 + 4e-7)
    R = lock(b.build(), {"ball": q}).frame("ball").R_BF
    close(R @ R.T, np.eye(3), ulps=10)


def test_massless_bodies_between_others_stay_allowed():
    """A universal joint of two hinges has a massless body; each of its hinges may be locked, and so may the last."""
    b = ModelBuilder("universal")
    b.add_body("cross", joint=Revolute((1, 0, 0)), joint_name="x")
    b.add_body("arm", "cross", Revolute((0, 1, 0)), "y", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    b.add_body("tip", "arm", Revolute((0, 0, 1)), "z", mass=0.1, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    model, q = b.build(), np.array([0.4, -0.3, 0.8])
    M = kt.crba(model, q)
    for joints in (["x"], ["y"], ["z"], ["x", "y"], ["y", "z"], ["x", "z"]):
        locked = lock(model, {name: q[model.q_index(name)] for name in joints})
        free = [k for k, name in enumerate("xyz") if name not in joints]
        close(kt.crba(locked, q[free]), M[np.ix_(free, free)])


def test_impossible_inertias_stay_accepted():
    """A model that was taken with impossible inertias is locked without a complaint."""
    b = ModelBuilder("impossible", accept_impossible_inertia=True)
    b.add_body("a", joint=Revolute(), mass=1.0, inertia=(1.0, 0.1, 0.1))
    b.add_body("b", "a", Revolute(), mass=1e-3, inertia=(1.0, 0.1, 0.1))
    assert lock(b.build(), "b").accept_impossible_inertia


def test_the_model_is_not_touched():
    """Surgery reads its input: afterwards all its numbers, frames and names are what they were."""
    model = dressed(1)
    before = fingerprint(model)
    q, *_ = state(model, 1)
    lock(model, {name: q[model.q_index(name)] for name in model.joint_names})
    merge_fixed(model)
    assert fingerprint(model) == before
