"""Packed results: fewer numbers, the same bits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ShapeError
from kinetree.joints import Free, Revolute

TREE = kt.models.random_tree(6, seed=3, joints=[Revolute()], floating=True)


def state(*batch):
    rng = np.random.default_rng(1)
    q = np.stack([TREE.random_q(rng) for _ in range(int(np.prod(batch)))]).reshape(*batch, TREE.nq)
    return q, *rng.standard_normal((2, *batch, TREE.nv))


@pytest.mark.parametrize("name", ["crba", "rnea_derivatives"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.longdouble])
@pytest.mark.parametrize("batch", [(), (1,), (3, 7)])
def test_unpacked_results_are_the_whole_arrays(name, dtype, batch):
    """One state and batches, in all precisions; every structural zero is +0."""
    f = kt.compile(TREE, name)
    g = kt.compiler.packed(f)
    arrays = [x.astype(dtype) for x in state(*batch)][: len(f.input_names)]
    whole, vectors = f(*arrays), g(*arrays)
    whole, vectors = (x if isinstance(x, tuple) else (x,) for x in (whole, vectors))
    found = g.unpack(*vectors)
    for x, y, vector in zip(found if isinstance(found, tuple) else (found,), whole, vectors, strict=True):
        assert x.dtype == vector.dtype == dtype
        assert np.array_equal(x, y)
        assert vector.shape[-1] < x.shape[-1] * x.shape[-2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.longdouble])
def test_long_vectors_end_with_the_line(dtype):
    """From 128 entries on vectors are whole cache lines of either type; what stands for no entry is zero."""
    tree = kt.models.random_tree(14, seed=3, joints=[Revolute()], floating=True)
    f = kt.compile(tree, "rnea_derivatives")
    g, rng = kt.compiler.packed(f), np.random.default_rng(2)
    q = np.stack([tree.random_q(rng) for _ in range(3)])
    arrays = [x.astype(dtype) for x in (q, *rng.standard_normal((2, 3, tree.nv)))]
    vectors = g(*arrays)
    for vector, places in zip(vectors, g.places.values(), strict=True):
        used = places.max() + 1
        assert 128 <= used <= vector.shape[-1] < used + 16 and vector.shape[-1] % 16 == 0
        assert not vector[:, used:].any() and vector[:, :used].any(axis=0).all()
    for x, y in zip(g.unpack(*vectors), f(*arrays), strict=True):
        np.testing.assert_array_equal(x, y)


def test_what_is_left():
    """Of M: the pairs of velocities of which one carries the other, each once."""
    g = kt.compiler.packed(kt.compile(TREE, "crba"))
    related = sum(
        1 for i in TREE.outward() for j in TREE.support(i) for _ in range(TREE.joints[i].nv * TREE.joints[j].nv)
    )
    free = next(i for i in TREE.outward() if isinstance(TREE.joints[i], Free))
    pairs = related - TREE.joints[free].nv * (TREE.joints[free].nv - 1) // 2
    places = g.places["M"]
    assert np.array_equal(places, places.T)
    assert g(state()[0]).size <= pairs
    assert np.array_equal(places == -1, np.isclose(kt.crba(TREE, state()[0]), 0.0, atol=0.0))


def test_out_and_parameters():
    """``out=`` takes vectors; other numbers keep the pattern; a set for every state is refused."""
    f = kt.compile(TREE, "crba")
    g, (q, *_) = kt.compiler.packed(f), state(9)
    out = np.full_like(g(q), np.nan)
    assert g(q, out=out) is out
    assert np.array_equal(out, g(q))
    heavier = TREE.replace(armature=TREE.armature * 2.0)
    assert np.array_equal(g.unpack(g.with_parameters(heavier)(q)), f.with_parameters(heavier)(q))
    with pytest.raises(TypeError, match="one set of numbers"):
        g.with_parameters({"body2.mass": np.array([1.0, 2.0])})
    with pytest.raises(TypeError, match="takes 1 vectors, 2 were given"):
        g.unpack(out, out)


def test_copies():
    """Pickles and copies compute the same."""
    g, (q, *_) = kt.compiler.packed(kt.compile(TREE, "crba")), state()
    assert np.array_equal(pickle.loads(pickle.dumps(g))(q), g(q))


def test_derivatives_of_a_graph_can_be_packed():
    """Slices of dM/dq are symmetric and mostly zero: a few entries are left."""
    f = kt.differentiate(TREE, "crba", wrt="q")
    g, (q, *_) = kt.compiler.packed(f), state(5)
    vectors = g(q)
    assert vectors.shape[-1] < TREE.nv**3 / 2
    assert np.array_equal(g.unpack(vectors), f(q))


def test_c_source():
    """C is written for the packed form too: its outputs are the vectors."""
    g = kt.compiler.packed(kt.compile(kt.models.double_pendulum(), "crba"))
    assert "double *M" in kt.export.to_c(g).header


def test_what_cannot_be_packed_or_unpacked():
    """Each is named when it is given, not when the function is called."""
    f = kt.compile(TREE, "crba")
    mass = TREE.numbers().names[next(i for i, name in enumerate(TREE.numbers().names) if name.endswith("mass"))]
    with pytest.raises(TypeError, match="packed takes a compiled function, found Model"):
        kt.compiler.packed(TREE)
    with pytest.raises(TypeError, match="crba: a packed function takes one set of numbers"):
        kt.compiler.packed(f.with_parameters({mass: [1.0, 2.0]}))
    with pytest.raises(TypeError, match="a packed function takes one set of numbers"):
        kt.compiler.packed(f).with_parameters({mass: [1.0, 2.0]})
    g = kt.compiler.packed(f)
    (length,) = g(state()[0]).shape
    with pytest.raises(ShapeError, match=rf"the vector of M has shape \({length - 1},\), expected \(..., {length}\)"):
        g.unpack(np.zeros(length - 1))


def test_a_whole_result_is_unpacked():
    """With or without a star, also where quantities have several arrays each."""
    q, v, a = state(3)
    g = kt.compiler.packed(kt.compile(TREE, ["crba", "rnea_derivatives"]))
    result = g(q, v, a)
    for whole in (g.unpack(result), g.unpack(*result)):
        np.testing.assert_array_equal(whole.crba, g.whole(q, v, a).crba)
        np.testing.assert_array_equal(whole.rnea_derivatives.dtau_dv, g.whole(q, v, a).rnea_derivatives.dtau_dv)
