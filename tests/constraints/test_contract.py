"""Constraints on a model: part of its structure, checked when it is made, kept by surgery and pickles."""

from __future__ import annotations

import pickle

import pytest

import kinetree as kt
from kinetree import errors
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler import program_cache
from kinetree.constraints import (
    CONSTRAINTS,
    Constraint,
    Coupling,
    Distance,
    Lock,
    LoopJoint,
    PrescribedMotion,
    RollingDisk,
    register,
)  # fmt: skip


def pair(*constraints):
    return kt.models.double_pendulum().with_constraints(*constraints)


def test_constraints_are_structure():
    """Names and ratios do not count, joints and ratios of 1 do; a copy has them."""
    one, other = Coupling("elbow", "shoulder", 2.0), Coupling("elbow", "shoulder", 3.0, name="gear")
    assert pair(one).structure() == pair(other).structure() != pair(Coupling("elbow", "shoulder", 1.0)).structure()
    assert pair(one).structure() != pair(Coupling("shoulder", "elbow", 2.0)).structure()
    again = pickle.loads(pickle.dumps(pair(other)))
    assert again.constraints == (other,) and again.nc == 1 and again.couplings == (other,)
    assert kt.surgery.rename(pair(one), prefix="left_").constraints[0].joints == ("left_elbow", "left_shoulder")
    assert kt.ModelBuilder.of(pair(other)).build().constraints == (other,)


def test_constraints_are_checked_when_the_model_is_made():
    """Unknown joints with the closest name; two of one name; what is no constraint."""
    with pytest.raises(errors.UnknownNameError, match="elbw"):
        pair(Coupling("elbw", "shoulder"))
    with pytest.raises(errors.ModelError, match="'gear' is not a constraint; kinetree.constraints has them"):
        pair("gear")
    long = kt.models.random_tree(3, seed=0, joints=[kt.joints.Revolute()], branching=0.0)
    a, b, c = long.joint_names
    with pytest.raises(errors.DuplicateNameError, match="two constraints are named 'gear'"):
        long.with_constraints(Coupling(a, c, name="gear"), Coupling(b, c, name="gear"))
    with pytest.raises(errors.ModelError, match="row_kind is 'soft'"):
        type("Odd", (Constraint,), {"row_kind": "soft"})
    with pytest.raises(errors.DuplicateNameError, match="kind 'coupling'"):
        register(type("Coupling", (Constraint,), {}))
    assert CONSTRAINTS["coupling"] is Coupling


class Doubled(Coupling):
    """A kind of this file: its code may change without the library noticing."""


def test_programs_of_constrained_models_are_kept_on_disk_if_their_code_is_the_librarys():
    """Loops and locks are cached like anything else; a kind or a motion of a user's own is traced in every process."""
    arm = kt.models.double_pendulum()
    spec = ALGORITHMS["forward_dynamics"]
    kept = (Distance("world", "lower", 0.7), RollingDisk("lower", 0.3), Lock("elbow"),
            LoopJoint("loop", kt.joints.Spherical(), "world", "lower"),
            PrescribedMotion("elbow", kt.joints.Sinusoid(0.1, 2.0)))  # fmt: skip
    keys = [program_cache._key(spec, arm.with_constraints(c)) for c in kept]
    assert all(keys) and len({*keys, program_cache._key(spec, arm)}) == 6
    for c in (Doubled("elbow", "shoulder"), PrescribedMotion("elbow", lambda t: t)):
        assert program_cache._key(spec, arm.with_constraints(c)) is None
