"""Bodies that start in each other: which pair, how deep, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, GeometryError
from kinetree.model import Geometry


@pytest.fixture(scope="module")
def stack():
    """Three boxes of 0.2 m on a floor, one above the other."""
    b = kt.ModelBuilder("stack")
    for k in range(3):
        box = Geometry("box", (0.2, 0.2, 0.2), name=f"box{k}")
        joint = kt.joints.Prismatic((0.0, 0.0, 1.0))
        b.add_body(f"box{k}", joint=joint, mass=1.0, inertia=(1.0, 1.0, 1.0), geometry=[box])
    b.add_geometry("world", Geometry("plane", name="floor"))
    return b.build()


def test_depth_of_each_pair(stack):
    """The deepest first; touching and separate shapes are not in the list."""
    q = [0.09, 0.285, 0.6]
    found = kt.collision.check_start(stack, q, allowed=np.inf)
    assert found.pairs == (("floor", "box0"), ("box0", "box1"))
    np.testing.assert_allclose(found.depth, [0.01, 0.005], atol=1e-9)


def test_a_deep_start_is_refused(stack):
    """The message has the pairs, the depths and the repair; a shallow one passes."""
    message = "'floor' and 'box0' by 0.02 m; allowed are 0.01 m. Move them apart"
    with pytest.raises(GeometryError, match=message) as caught:
        kt.collision.check_start(stack, [0.08, 0.3, 0.6])
    assert caught.value.pairs == (("floor", "box0"),) and caught.value.depth[0] == pytest.approx(0.02)
    assert len(kt.collision.check_start(stack, [0.0995, 0.3, 0.6])) == 1
    assert str(kt.collision.check_start(stack, [0.11, 0.4, 0.8])) == "no shapes are in each other"


def test_contacts_of_a_model_need_no_library(stack, monkeypatch):
    """Compiled gaps give the depths of pairs with contacts; they agree with coal's."""
    touching, q = stack.with_contacts(ground=True, pairs=[("box0", "box1")]), [0.09, 0.285, 0.6]
    by_coal = kt.collision.check_start(touching, q, touching.contacts, allowed=np.inf)
    import kinetree.queries.solids as solids

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(solids, "import_module", absent)
    found = kt.collision.check_start(touching, q, allowed=np.inf)
    assert found.pairs == by_coal.pairs and len(found) == 2
    np.testing.assert_allclose(found.depth, by_coal.depth, atol=1e-9)


@pytest.mark.parametrize("allowed", [-1.0, np.nan, "deep"])
def test_wrong_depths(stack, allowed):
    with pytest.raises(ArgumentError, match="check_start: allowed is"):
        kt.collision.check_start(stack, [0.1, 0.3, 0.5], allowed=allowed)
