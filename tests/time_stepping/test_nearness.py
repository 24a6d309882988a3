"""The test of pairs that are far away: it never leaves out one that may touch within the step."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.nearness import Nearness
from kinetree.collision import ContactPair, Ground, Shape
from kinetree.collision.bounds import extent, radius
from kinetree.collision.shape import PlacedShape
from kinetree.integrators.time_stepping import stepped_velocities
from kinetree.spatial import Matrix3, Vector3
from kinetree.state_kinematics import Kinematics
from tests.collision.systems import rotation

SIZES = {"sphere": (0.2,), "capsule": (0.1, 0.5), "cylinder": (0.15, 0.4), "box": (0.2, 0.3, 0.5),
         "ellipsoid": (0.1, 0.2, 0.3), "hull": ()}  # fmt: skip


def shape(kind: str, body: str, rng) -> Shape:
    vertices = tuple(map(tuple, rng.normal(size=(7, 3)) * 0.1)) if kind == "hull" else ()
    R, p = rotation(rng).tolist(), rng.normal(size=3) * 0.1
    return Shape(body, kind, SIZES[kind], R, tuple(p), name=f"{kind} of {body}", vertices=vertices)


@pytest.mark.seeds(3)
@pytest.mark.parametrize("kind", SIZES)
def test_extents_are_those_of_the_lowest_points(kind, seed):
    """Along the normal of a plane: the height of a shape less its extent is its gap; a sphere around it holds it."""
    rng = np.random.default_rng(seed)
    solid, plane = shape(kind, "body", rng), Shape("world", "plane", name="plane")
    R, p = Matrix3(rotation(rng).tolist()), Vector3(*rng.normal(size=3).tolist())
    placed = PlacedShape.at(solid, p, R)
    points = ContactPair("pair", plane, solid).points_of(PlacedShape.at(plane, Vector3(0.0, 0.0, 0.0), _unit()), placed)
    gap, reach = min(x.gap for x in points), extent(solid, [*R.rows[2]])
    if kind == "hull":
        assert p.z - reach <= gap
    else:
        assert p.z - reach == pytest.approx(gap, abs=1e-14)
    assert reach <= radius(solid) + 1e-15


def _unit() -> Matrix3:
    return Matrix3([[float(i == k) for k in range(3)] for i in range(3)])


@pytest.fixture(scope="module")
def tree():
    """A tree with a shape on each body, above a slope and a plane that moves."""
    rng, tree = np.random.default_rng(2), kt.models.random_tree(12, seed=5)
    bodies, kinds = tree.body_names[1:], list(SIZES)
    shapes = [shape(kinds[k % len(kinds)], body, rng) for k, body in enumerate(bodies)]
    pairs = [ContactPair(f"lid/{x.name}", Shape(bodies[0], "plane", name="lid"), x) for x in shapes[1:6]]
    round_ones = [x for x in shapes if x.kind in ("sphere", "capsule")]
    pairs += [ContactPair(f"{a.name}/{b.name}", a, b) for a, b in zip(round_ones, round_ones[1:], strict=False)]
    floor = Shape("world", "plane", (), rotation(rng).tolist(), (0.0, 0.0, -1.0), name="floor")
    pairs += [ContactPair(f"floor/{x.name}", floor, x) for x in shapes]
    return tree.replace(contacts=pairs)


@pytest.mark.seeds(3)
def test_pairs_that_may_touch_are_near(tree, seed):
    """Gaps below the way of a contact point at its present speed and 1 m/s more, by the Jacobian; few others."""
    rng, dt = np.random.default_rng(seed), 0.01
    near, touching, total = 0, 0, 0
    for _ in range(40):
        q, v = tree.random_state(rng)
        gaps, J = kt.collision.contact_gaps(tree, q), kt.collision.contact_jacobian(tree, q)
        speeds = np.linalg.norm((J @ v).reshape(-1, 3), axis=1)
        may_touch, first = gaps < dt * (1.0 + speeds), 0
        tests = Nearness(tree, Kinematics(tree, q.tolist(), v.tolist()), dt, 1.0)
        for pair in tree.contacts:
            found, expected = tests.near(pair), may_touch[first : first + pair.count].any()
            first += pair.count
            assert found or not expected, pair.name
            near, touching, total = near + bool(found), touching + expected, total + 1
    assert 0 < touching < 0.7 * total and near < 1.6 * touching


@pytest.fixture(scope="module")
def table():
    """A table with a box, cylinders, a capsule and a ball, 15 candidate points, on a floor."""
    builder = kt.ModelBuilder("table")
    builder.add_body("top", joint=kt.joints.Free(), mass=4.0, inertia=np.diag([0.2, 0.3, 0.4]))
    builder.add_geometry("top", kt.model.Geometry("box", (0.8, 0.5, 0.05), name="board"))
    for k, kind in enumerate(("cylinder", "cylinder", "capsule", "sphere")):
        leg = kt.model.Geometry(kind, SIZES[kind], p_BG=(0.3 - 0.2 * k, 0.1 * (-1.0) ** k, -0.2), name=f"leg{k}")
        builder.add_geometry("top", leg)
    return builder.build().with_contacts(ground=Ground(friction=0.6))


def test_steps_are_those_with_all_contacts(table):
    """Compiled, in one batch from far to touching: velocities and impulses of a step without tests of distance."""
    rng, n = np.random.default_rng(0), 32
    q = np.concatenate([np.zeros((n, 2)), rng.uniform(0.0, 1.5, (n, 1)), rng.normal(size=(n, 4))], axis=1)
    q = kt.normalize(table, q)
    q[: n // 2, 2] -= kt.collision.contact_gaps(table, q[: n // 2]).min(axis=1)
    v, tau, none = rng.normal(size=(n, 6)), np.zeros(6), np.zeros(table.n_impulses)
    _, v_next, found = kt.integrators.contact_step(table, q, v, none, tau, 0.002)
    touching = 0
    for k in range(n):
        given = q[k].tolist(), v[k].tolist(), none.tolist(), tau.tolist(), 0.002
        after, impulses, _ = stepped_velocities(table, *given, many=False)
        np.testing.assert_allclose(found[k], impulses, atol=1e-8)
        speeds = np.linalg.norm(after[:3]), np.linalg.norm(after[3:])  # those of the step are in axes of its start
        np.testing.assert_allclose((np.linalg.norm(v_next[k, :3]), np.linalg.norm(v_next[k, 3:])), speeds, atol=1e-8)
        touching += any(impulses)
    assert n // 4 < touching < n


def test_ground_on_a_slope_and_far_shapes():
    """A ball high above a slope is far, and near at a distance of its radius and 1 mm."""
    builder = kt.ModelBuilder("ball")
    builder.add_body("ball", joint=kt.joints.Free(), mass=1.0, inertia=np.eye(3))
    builder.add_geometry("ball", kt.model.Geometry("sphere", (0.1,)))
    ball = builder.build().with_contacts(ground=Ground(height=0.5, normal=(0.0, 0.6, 0.8)))
    for height, expected in ((0.1 + 1e-3, True), (0.1 + 0.1, False)):
        q = [0.0, 0.6 * (0.5 + height), 0.8 * (0.5 + height), 1.0, 0.0, 0.0, 0.0]
        found = Nearness(ball, Kinematics(ball, q, [0.0] * 6), 0.01, 1.0).near(ball.contacts[0])
        assert bool(found) is expected
