"""Joints over symbols: what is recorded computes what floats give, and structure costs nothing."""

import numpy as np
import pytest

from kinetree.joints import Cylindrical, Free, Helical, Planar, Prismatic, Revolute
from kinetree.spatial import AxialRotation, IdentityRotation

from .conftest import has_implicit_form

graph = pytest.importorskip("kinetree.trace.graph")
lowering = pytest.importorskip("kinetree.trace.lowering")


def flat(joint, q, v):
    """Every kinematic result of a joint as one list of scalars."""
    X = joint.transform(q)
    moved = joint.integrate(q, v)
    results = [x for row in X.E.matrix.rows for x in row] + list(X.r)
    for motion in (*joint.motion_subspace(q), joint.velocity(q, v), joint.bias(q, v), *joint.subspace_rate(q, v)):
        results += list(motion)
    delta, T = joint.implicit(X) if has_implicit_form(joint) else ([], ())
    results += [*joint.q_dot(q, v), *moved, *joint.difference(q, moved), *joint.defect(q), *joint.normalize(q), *delta]
    return results + [x for force in T for x in force]


def traced(joint):
    g = graph.Graph()
    q = [g.input(0, k) for k in range(joint.nq)]
    v = [g.input(1, k) for k in range(joint.nv)]
    results = flat(joint, q, v)
    shapes = [("q", (joint.nq,)), ("v", (joint.nv,))]
    return lowering.lower(g, shapes, [("y", (len(results),), results)])


def test_traced_joint_computes_what_floats_give(joint, rng):
    """Record X, S, v_J, c_J, the manifold maps and the implicit form; interpret the record; compare."""
    if not joint.nq:
        pytest.skip("no variables")
    program = traced(joint)
    for step in (1.0, 1e-9):
        q = joint.random(rng)
        v = [float(step * x) for x in rng.normal(size=joint.nv)]
        (y,) = program.interpret([np.array(q), np.array(v)])
        expected = np.array([float(x) for x in flat(joint, q, v)])
        np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "example", [Revolute(), Prismatic((0, -1, 0)), Helical(pitch=0.1), Cylindrical((1, 0, 0)), Planar(), Free()]
)
def test_constant_subspaces_stay_floats(example):
    """S of these joints has float entries even when q is symbolic: nothing is recorded for it."""
    g = graph.Graph()
    before = len(g)
    q = [g.input(0, k) for k in range(example.nq)]
    assert all(type(x) is float for column in example.motion_subspace(q) for x in column)
    assert len(g) == before + example.nq


@pytest.mark.parametrize("example", [Helical((0, 0, -1), 0.1), Cylindrical((1, 0, 0))])
def test_screws_along_an_axis_are_seen_as_such(example):
    """The offset keeps its structural zeros, so the transform takes the cheap path of axial screws."""
    g = graph.Graph()
    X = example.transform([g.input(0, k) for k in range(example.nq)])
    assert isinstance(X.E, AxialRotation) and X.is_screw


def test_prismatic_joint_does_not_rotate():
    """The rotation is the identity by type."""
    assert isinstance(Prismatic((1, 2, 3)).transform([0.3]).E, IdentityRotation)
