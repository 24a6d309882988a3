"""Constraints on a model: part of its structure, checked when it is made, kept by surgery and pickles."""

from __future__ import annotations

import pickle

import pytest

import kinetree as kt
from kinetree import errors
from kinetree.constraints import CONSTRAINTS, Constraint, Coupling, register


def pair(*constraints):
    return kt.models.double_pendulum().with_constraints(*constraints)


def test_constraints_are_structure():
    """Names do not count, ratios and joints do; a copy has them."""
    one, other = Coupling("elbow", "shoulder", 2.0), Coupling("elbow", "shoulder", 2.0, name="gear")
    assert pair(one).structure() == pair(other).structure() != pair(Coupling("elbow", "shoulder", 3.0)).structure()
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
