"""Contact manifolds: corners of faces, ends of edges, and their reduction by positive dependence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

import kinetree as kt
from kinetree.errors import ArgumentError, NonFiniteError
from kinetree.model import Geometry
from tests.queries.pairs_of_shapes import pair, random_q, two_shapes

UPRIGHT = (1.0, 0.0, 0.0, 0.0)
ON_ITS_SIDE = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)  # z along -y


@pytest.mark.parametrize(("kind", "height", "turn", "count"), [
    ("box", 0.05, UPRIGHT, 4), ("box", 0.1, ON_ITS_SIDE, 4), ("cylinder", 0.15, UPRIGHT, 12),
    ("cylinder", 0.1, ON_ITS_SIDE, 2), ("capsule", 0.1, ON_ITS_SIDE, 2), ("capsule", 0.25, UPRIGHT, 1),
    ("sphere", 0.15, UPRIGHT, 1), ("ellipsoid", 0.3, UPRIGHT, 1),
])  # fmt: skip
@pytest.mark.parametrize("gap", [-1e-4, 5e-4])
def test_shapes_on_a_plane(kind, height, turn, count, gap):
    """Four corners, a polygon, a line, a point, in the middle between both surfaces."""
    found = kt.collision.contact_manifold(pair("plane", kind), [0.3, -0.2, height + gap, *turn])
    assert len(found) == count and set(found.pairs) == {("a", "b")}
    np.testing.assert_allclose(found.gap, gap, atol=1e-9)
    np.testing.assert_allclose(found.position[:, 2], gap / 2.0, atol=1e-9)
    np.testing.assert_allclose(found.normal, np.tile((0.0, 0.0, 1.0), (count, 1)), atol=1e-9)
    if count > 1:  # about the center of the shape
        np.testing.assert_allclose(found.position[:, :2].mean(axis=0), (0.3, -0.2), atol=1e-9)


def test_faces_of_two_boxes_are_cut_to_their_common_area():
    """Of the same box turned by 45 degrees about its normal: an octagon with the area of the intersection."""
    cube = Geometry("box", (2.0, 2.0, 0.2), name="a")
    model = two_shapes(cube, Geometry("box", (2.0, 2.0, 0.2), name="b"))
    q = [0.0, 0.0, 0.2, np.cos(np.pi / 8), 0.0, 0.0, np.sin(np.pi / 8)]
    found = kt.collision.contact_manifold(model, q)
    assert len(found) == 8
    assert ConvexHull(found.position[:, :2]).volume == pytest.approx(8.0 * (np.sqrt(2.0) - 1.0), abs=1e-6)


def test_apart_there_is_no_contact():
    found = kt.collision.contact_manifold(pair("box", "box"), [1.0, 0.0, 0.0, *UPRIGHT])
    assert len(found) == 0 and found.position.shape == (0, 3)
    assert len(found.of("a", "b")) == 0


def test_a_box_on_hills():
    """Points on the triangles below it, with their normals; no contact with the walls between prisms."""
    heights = np.add.outer(np.linspace(0.0, 0.3, 7), np.zeros(9))  # a slope of 0.1
    field = Geometry("heightfield", (4.0, 3.0, 0.5), heights=heights, name="a")
    model = two_shapes(field, Geometry("box", (0.8, 0.8, 0.2), name="b"))
    n = np.array([0.0, -0.1, 1.0]) / np.sqrt(1.01)
    angle = 0.5 * np.arctan(0.1)
    q = [*(np.array([0.1, 0.2, 0.15 + 0.02]) + 0.1 * n), np.cos(angle), np.sin(angle), 0.0, 0.0]
    found = kt.collision.contact_manifold(model, q, margin=0.05)
    assert len(found) >= 4
    np.testing.assert_allclose(found.normal, np.tile(n, (len(found), 1)), atol=1e-4)  # tolerance of coal over the gap
    wrenches = kt.collision.contact_wrenches(found.position, found.normal)
    assert len(kt.collision.minimal_contact_set(wrenches, tolerance=1e-3)) == 4


# Minimal sets ------------------------------------------------------------------------------------------------------


def flat(points):
    """Normals along z at points of the xy plane, as spatial forces."""
    positions = np.column_stack([points, np.zeros(len(points))])
    return kt.collision.contact_wrenches(positions, np.tile((0.0, 0.0, 1.0), (len(points), 1)))


def test_pentagon():
    """The book's example (figure 11.7): of points inside and on a pentagon its corners remain."""
    corners = np.array([(np.cos(x), np.sin(x)) for x in 2.0 * np.pi * np.arange(5) / 5.0])
    rng = np.random.default_rng(0)
    inside = rng.dirichlet(np.ones(5), size=20) @ corners
    edges = 0.3 * corners + 0.7 * np.roll(corners, 1, axis=0)
    order = rng.permutation(30)
    points = np.concatenate([corners, inside, edges])[order]
    found = kt.collision.minimal_contact_set(flat(points))
    assert sorted(order[found.kept]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("seed", range(10))
def test_convex_hull_of_a_face(seed):
    """Of random points on a face, wherever it is, the corners of their convex hull remain."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(25, 2))
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    positions = np.column_stack([points, np.zeros(25)]) @ Q.T + rng.normal(size=3) * 100.0
    wrenches = kt.collision.contact_wrenches(positions, np.tile(Q[:, 2], (25, 1)))
    assert sorted(kt.collision.minimal_contact_set(wrenches).kept) == sorted(ConvexHull(points).vertices)


def test_forces_are_redistributed():
    """With the same total wrench, none of them pulling."""
    rng = np.random.default_rng(1)
    wrenches = flat(rng.normal(size=(40, 2)))
    found, forces = kt.collision.minimal_contact_set(wrenches), rng.random(40)
    new = found.redistribute(forces)
    assert (new >= 0.0).all() and len(new) == len(found) < 40
    np.testing.assert_allclose(new @ wrenches[found.kept], forces @ wrenches, atol=1e-12)
    np.testing.assert_allclose(found.shares.T @ wrenches[found.kept], wrenches, atol=1e-12)


def test_a_line_on_a_plane_has_two_points():
    """All points between its ends are superfluous."""
    t = np.linspace(-1.0, 2.0, 7)
    assert kt.collision.minimal_contact_set(flat(np.outer(t, (1.0, 2.0)))).kept.tolist() == [0, 6]


def test_ruled_surface_and_disc_need_all_points():
    """A line on z = x tan(y) has another normal at each point; a disc has no corner: no sample is superfluous."""
    x = np.linspace(-1.0, 1.0, 9)
    normals = np.column_stack([np.zeros(9), -x, np.ones(9)])  # of z = x tan(y) along y = 0
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    ruled = kt.collision.contact_wrenches(np.column_stack([x, np.zeros(9), np.zeros(9)]), normals)
    assert len(kt.collision.minimal_contact_set(ruled)) == 9
    phi = np.linspace(0.0, 2.0 * np.pi, 30, endpoint=False)
    assert len(kt.collision.minimal_contact_set(flat(np.column_stack([np.cos(phi), np.sin(phi)])))) == 30


@pytest.mark.parametrize("seed", range(10))
def test_nothing_more_can_be_removed(seed):
    """Of random wrenches, some of them sums of others: the rest is the same cone, and irredundant."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(5, 6)) + np.array([0.0, 0.0, 0.0, 0.0, 0.0, 4.0])
    wrenches = np.concatenate([own, rng.random((4, 5)) @ own])[rng.permutation(9)]
    found = kt.collision.minimal_contact_set(wrenches)
    assert len(found) == 5
    for k in range(5):
        others = np.delete(wrenches[found.kept], k, axis=0)
        assert nnls(others.T, wrenches[found.kept[k]])[1] > 1e-6


def test_opposite_normals_stay():
    """A slot: two walls; of three normals in a plane that balance, none is a sum of the others with factors above 0."""
    assert len(kt.collision.minimal_contact_set([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])) == 2
    star = [[np.cos(x), np.sin(x), 0.0] for x in (0.0, 2.1, 4.2)]
    assert len(kt.collision.minimal_contact_set(star)) == 3
    assert len(kt.collision.minimal_contact_set([[0.0, 0.0, 1.0]] * 4)) == 1


def test_manifold_of_a_disc_is_minimal():
    """A manifold can be given itself."""
    found = kt.collision.contact_manifold(pair("plane", "box"), [0.3, -0.2, 0.05, *UPRIGHT])
    assert sorted(kt.collision.minimal_contact_set(found).kept) == [0, 1, 2, 3]


@pytest.mark.parametrize(("value", "error", "message"), [
    ("no", ArgumentError, "wrenches is 'no', expected contact normals as spatial forces"),
    ([1.0, 2.0], ArgumentError, r"of shape \(any, any\)|wrenches"),
    ([[np.nan] * 6], NonFiniteError, "wrenches: one is .nan."),
])  # fmt: skip
def test_wrong_wrenches(value, error, message):
    with pytest.raises(error, match=message):
        kt.collision.minimal_contact_set(value)


def test_manifolds_of_random_states_are_finite():
    """Of all kinds, deep and shallow."""
    rng = np.random.default_rng(3)
    for a in ("box", "cylinder", "capsule", "ellipsoid", "plane"):
        model = pair(a, "cylinder")
        for _ in range(5):
            found = kt.collision.contact_manifold(model, random_q(rng, 0.05, 0.3))
            assert np.isfinite([*found.position.ravel(), *found.normal.ravel(), *found.gap]).all()
