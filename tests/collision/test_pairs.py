"""Pairs of shapes at random poses: distances and normals by other engines and closed forms, rates by differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.collision.shape import PlacedShape
from kinetree.errors import ArgumentError, GeometryError
from kinetree.spatial import Matrix3, Vector3
from tests.collision.systems import LENGTHS, rotation

SOLIDS = (*LENGTHS, "hull")
PAIRS = [
    *(("plane", kind) for kind in SOLIDS),
    *(("sphere", kind) for kind in SOLIDS),
    ("capsule", "capsule"),
    ("capsule", "box"),
]


def random_shape(kind: str, rng, body: str = "world", name: str = "") -> Shape:
    """A shape of random size in its own frame; a hull of 12 points."""
    vertices = tuple(map(tuple, rng.uniform(-0.3, 0.3, (12, 3)).tolist())) if kind == "hull" else ()
    size = tuple(rng.uniform(0.1, 0.5, LENGTHS.get(kind, 0)).tolist())
    return Shape(body, kind, size, name=name or kind, vertices=vertices)


def placed(shape: Shape, R, p) -> PlacedShape:
    """The shape at a pose in the world."""
    return PlacedShape.at(shape, Vector3(*map(float, p)), Matrix3(np.asarray(R).tolist()))


def points(first: Shape, second: Shape, *poses):
    """Candidate points of two shapes at poses."""
    pair = ContactPair("pair", first, second)
    found = pair.points_of(*(placed(shape, *pose) for shape, pose in zip(pair.shapes, poses, strict=True)))
    assert len(found) == pair.count
    return found


def coal_shape(shape: Shape):
    """The same shape for the library coal."""
    coal = pytest.importorskip("coal")
    size = shape.size
    if shape.kind == "plane":
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if shape.kind == "hull":
        cloud = coal.StdVec_Vec3s()
        cloud.extend([np.array(x) for x in shape.vertices])
        return coal.Convex.convexHull(cloud, True, "")
    if shape.kind == "box":
        return coal.Box(*size)
    return {"sphere": coal.Sphere, "capsule": coal.Capsule, "cylinder": coal.Cylinder, "ellipsoid": coal.Ellipsoid}[
        shape.kind
    ](*size)


def by_coal(first: Shape, second: Shape, *poses):
    """Signed distance and normal from the first to the second."""
    coal = pytest.importorskip("coal")
    request, result = coal.DistanceRequest(True, True), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    places = [coal.Transform3s(np.asarray(R), np.asarray(p, dtype=float)) for R, p in poses]
    coal.distance(coal_shape(first), places[0], coal_shape(second), places[1], request, result)
    return result.min_distance, np.array(result.normal)


def poses(rng, reach: float):
    """Two poses whose origins are apart by a part of a length."""
    p = rng.normal(size=3)
    return (rotation(rng), np.zeros(3)), (rotation(rng), p * rng.uniform(0.4, 1.0) * reach / np.linalg.norm(p))


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.seeds(10)
def test_distances_are_those_of_coal(first, second, seed):
    """Apart and penetrating, the least gap is the signed distance; the normals agree where coal's is accurate.

    Tolerance: that of coal's iterations for curved shapes, with sizes below 1. Where the center of a sphere is inside
    the other solid, coal's translation is not always the least one, so that one is an upper bound of the depth.
    """
    rng = np.random.default_rng([seed, *map(ord, first + second)])
    shapes = random_shape(first, rng, name="a"), random_shape(second, rng, name="b")
    at = poses(rng, 0.9)
    found = points(*shapes, *at)
    nearest = min(found, key=lambda x: x.gap)
    distance, normal = by_coal(*shapes, *at)
    deep = first == "sphere" and distance < -shapes[0].size[0]
    assert -2e-6 < nearest.gap - distance and (deep or nearest.gap - distance < 2e-6)
    n = np.array(list(nearest.normal))
    assert abs(np.linalg.norm(n) - 1.0) < 1e-12
    if abs(distance) > 1e-3 and not deep:
        np.testing.assert_allclose(n, normal, atol=2e-3)


@pytest.mark.parametrize("kind", [*LENGTHS])
@pytest.mark.seeds(5)
def test_distances_of_a_sphere_are_those_of_mujoco(kind, seed):
    """By ``mj_geomDistance``, to its tolerance; the 35 iterations of its default leave 3e-4 of some deep ellipsoids."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng([seed, len(kind)])
    shapes = random_shape("sphere", rng, name="a"), random_shape(kind, rng, name="b")
    (R_1, p_1), (R_2, p_2) = poses(rng, 0.9)
    spec = mujoco.MjSpec()
    for shape, R, p in ((shapes[0], R_1, p_1), (shapes[1], R_2, p_2)):
        body = spec.worldbody.add_body(pos=p)
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, R.ravel())
        body.quat = quat
        half = {"capsule": (1.0, 0.5), "cylinder": (1.0, 0.5), "box": (0.5,) * 3}.get(shape.kind, (1.0,) * 3)
        size = [x * y for x, y in zip(shape.size, half, strict=False)]
        body.add_geom(type=getattr(mujoco.mjtGeom, f"mjGEOM_{shape.kind.upper()}"), size=size + [0.0] * (3 - len(size)))
    spec.option.ccd_tolerance, spec.option.ccd_iterations = 1e-10, 1000
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    expected = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None)
    (found,) = points(*shapes, (R_1, p_1), (R_2, p_2))
    assert abs(found.gap - expected) < 1e-7


def test_a_pair_in_the_other_order_is_turned():
    """The same gaps and points, the opposite normals."""
    rng = np.random.default_rng(0)
    box, plane = random_shape("box", rng, name="a"), Shape("world", "plane", name="b")
    at = poses(rng, 0.5)
    for one, other in zip(points(box, plane, *at), points(plane, box, *at[::-1]), strict=True):
        assert one.gap == other.gap and list(one.position) == list(other.position)
        assert list(one.normal) == [-x for x in other.normal]


def test_upright_and_lying_cylinder():
    """Upright the lower rim has three points of one height, lying the line of contact has two."""
    cylinder, plane = Shape("world", "cylinder", (0.2, 1.0), name="a"), Shape("world", "plane", name="b")
    floor = np.eye(3), np.zeros(3)
    upright = points(plane, cylinder, floor, (np.eye(3), (0.0, 0.0, 0.5)))
    rim = [np.array(list(x.position)) for x in upright if abs(x.gap) < 1e-12]
    assert len(rim) == 3 and np.allclose([np.hypot(*x[:2]) for x in rim], 0.2)
    assert all(abs(np.linalg.norm(a - b) - 0.2 * np.sqrt(3.0)) < 1e-12 for a in rim for b in rim if a is not b)
    lying = points(plane, cylinder, floor, ([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], (0.0, 0.0, 0.2)))
    line = sorted(float(x.position.x) for x in lying if abs(x.gap) < 1e-12)
    np.testing.assert_allclose(line, [-0.5, 0.5], atol=1e-12)


def test_parallel_capsules_have_two_points():
    """At both ends of the stretch they have in common."""
    one, other = (Shape("world", "capsule", (0.1, length), name=name) for name, length in (("a", 1.0), ("b", 0.6)))
    found = points(one, other, (np.eye(3), np.zeros(3)), (np.eye(3), (0.25, 0.0, 0.4)))
    assert sorted(round(float(x.position.z), 12) for x in found) == [0.1, 0.5]
    np.testing.assert_allclose([x.gap for x in found], 0.05, atol=1e-12)


@pytest.mark.parametrize("tilt", [0.0, 1e-9, 1e-3])
def test_stacked_boxes_have_four_corners(tilt):
    """Of a small box on a large one and the reverse, turned about the normal."""
    small, large = Shape("world", "box", (0.2, 0.3, 0.1), name="a"), Shape("world", "box", (1.0, 1.0, 0.2), name="b")
    c, s = np.cos(0.6), np.sin(0.6)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array([[1, 0, tilt], [0, 1, 0], [-tilt, 0, 1]])
    for order, at in ((1, 0.149), (-1, -0.149)):
        found = points(*(large, small)[::order], *((np.eye(3), np.zeros(3)), (turn, (0.1, 0.2, at)))[::order])
        places = sorted(tuple(np.round(list(x.position), 9)[:2]) for x in found)
        corners = [turn[:2, :2] @ (x, y) + (0.1, 0.2) for x in (-0.1, 0.1) for y in (-0.15, 0.15)]
        corners = sorted(tuple(np.round(corner, 9)) for corner in corners)
        np.testing.assert_allclose(places, corners, atol=2.0 * tilt + 1e-9)
        np.testing.assert_allclose([x.gap for x in found], -0.001, atol=0.2 * tilt + 1e-12)


def test_aligned_boxes_have_four_corners():
    """Equal boxes on each other that differ by rounding, as in a stack that glides: their sides cross anywhere."""
    one, other = (Shape("world", "box", (0.2, 0.2, 0.2), name=name) for name in "ab")
    poses = []
    for place, (x, y, z) in (
        ((0.0004990189981620061, -9.510450215441218e-13, 0.09999999999999963),
         (-5.579923522103667e-13, 1.074805588370625e-12, -1.4665615040370576e-12)),
        ((0.0004990189990179055, -5.069178588717506e-13, 0.29999999999999927),
         (-1.5307941461045261e-12, 2.9511062866670697e-12, -1.5085795304791446e-12)),
    ):  # fmt: skip
        turn = np.array([[1.0, -2.0 * z, 2.0 * y], [2.0 * z, 1.0, -2.0 * x], [-2.0 * y, 2.0 * x, 1.0]])
        poses.append((turn, place))
    found = points(one, other, *poses)
    places = sorted(tuple(np.round(list(x.position), 9)[:2] - (0.000499019, 0.0)) for x in found)
    np.testing.assert_allclose(places, [(x, y) for x in (-0.1, 0.1) for y in (-0.1, 0.1)], atol=2e-9)


def deepest(first: Shape, second: Shape, poses, n):
    """Where the second box is deepest below the first one's face along n, within its sides, and how deep.

    By a linear program; the last result is whether that point is on the face that is turned most to n.
    """
    (A, p), (B, center) = poses
    k = int(np.argmax(np.abs(A.T @ n)))
    G, h = [], []
    for axes, origin, size, kept in ((A, p, first.size, {0, 1, 2} - {k}), (B, center, second.size, range(3))):
        for i in kept:
            for sign in (1.0, -1.0):
                G.append(sign * axes[:, i])
                h.append(0.5 * size[i] + sign * axes[:, i] @ origin)
    found = linprog(n, G, h, bounds=(None, None))
    facing = B.T @ n
    j = int(np.argmax(np.abs(facing)))
    along = B[:, j] @ (found.x - center) * -np.sign(facing[j])
    return found.x, n @ p + 0.5 * first.size[k] - found.fun, bool(along > 0.5 * second.size[j] - 1e-9)


@pytest.mark.seeds(20)
def test_boxes_in_light_contact(seed):
    """From a depth of 5 mm on, the point deepest below a face is as deep as coal's least translation, or up to a slack.

    The four points are as deep as that one, but for a tilt of one in 20, if it is on the incident face. Between edges
    they have the least translation. The boxes are moved along coal's normal until they penetrate by 5 mm.
    """
    rng = np.random.default_rng(seed)
    shapes = random_shape("box", rng, name="a"), random_shape("box", rng, name="b")
    first, (R, p) = poses(rng, 1.0)
    for _ in range(8):
        distance, normal = by_coal(*shapes, first, (R, p))
        p = p - normal * (distance + 0.005)
    distance, _ = by_coal(*shapes, first, (R, p))
    assert abs(distance + 0.005) < 1e-6
    found, slack = points(*shapes, first, (R, p)), 0.01 * sum(shapes[0].size)
    gaps, n = np.array([x.gap for x in found]), np.array(list(found[0].normal))
    assert 0.0 < -gaps.min() < 0.005 + slack
    if np.abs(first[0].T @ n).max() > 1.0 - 1e-12:
        x, depth, on_face = deepest(*shapes, (first, (R, p)), n)
    elif np.abs(R.T @ n).max() > 1.0 - 1e-12:
        x, depth, on_face = deepest(*shapes[::-1], ((R, p), first), -n)
    else:
        assert np.abs(gaps + 0.005).max() < 2e-6
        return
    assert 0.005 - 2e-6 < depth < 0.005 + slack
    if on_face:
        away = [np.linalg.norm(np.cross(n, list(point.position) - x)) for point in found]
        assert (gaps > -depth - 1e-9).all() and (gaps < -depth + np.array(away) / 20.0 + 1e-9).all()


@pytest.mark.seeds(10)
def test_crossed_edges(seed):
    """Two cubes meet edge to edge: one gap, the distance of the edges, along their common perpendicular."""
    rng = np.random.default_rng(seed)
    cube = [Shape("world", "box", (1.0, 1.0, 1.0), name=name) for name in "ab"]
    r = np.sqrt(0.5)
    up, gap = np.array([[1, 0, 0], [0, r, -r], [0, r, r]]), rng.uniform(-0.05, 0.05)  # stands on an edge along x
    angle = rng.uniform(0.6, 2.5)
    c, s = np.cos(angle), np.sin(angle)
    turn, offset = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), (*rng.uniform(-0.1, 0.1, 2), 2.0 * r + gap)
    for x in points(*cube, (up, np.zeros(3)), (turn @ up, offset)):
        assert abs(x.gap - gap) < 1e-12 and abs(x.position.z - (r + 0.5 * gap)) < 1e-12
        np.testing.assert_allclose(list(x.normal), [0, 0, 1], atol=1e-12)


def moving(first: str, second: str, rng) -> kt.Model:
    """Two free bodies with shapes that may touch."""
    b = kt.ModelBuilder("two")
    for name in ("one", "two"):
        b.add_body(name, joint=kt.joints.Free(), mass=1.0, inertia=np.eye(3))
    names = ("world" if first == "plane" else "one"), "two"
    ends = enumerate(zip((first, second), names, strict=True))
    shapes = [random_shape(kind, rng, name, f"{kind} {n}") for n, (kind, name) in ends]
    return b.build().replace(contacts=[ContactPair("pair", *shapes)])


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_rates(first, second):
    """Gap, normal and velocity rows change at the rates of the normal row and of the bias, by central differences.

    Of cylinders on a plane the first two points, of a capsule and a box the first one; the others slide along the rim
    and along the axis.
    """
    rng, h = np.random.default_rng([3, *map(ord, first + second)]), 1e-5
    model = moving(first, second, rng)
    kept = range({("plane", "cylinder"): 2, ("capsule", "box"): 1}.get((first, second), model.n_contacts))
    c = kt.collision
    for _ in range(3):
        q, v = model.random_state(rng)
        q[model.q_index("two")][:3] = q[model.q_index("one")][:3] + rng.normal(size=3) * 0.4
        ahead, behind = (kt.integrate(model, q, s * h * v) for s in (1.0, -1.0))
        J, (bias, normal_rates) = c.contact_jacobian(model, q), c.contact_bias(model, q, v)
        (_, n_1, g_1), (_, n_0, g_0) = (c.contact_points(model, x) for x in (ahead, behind))
        w_1, w_0 = (c.contact_jacobian(model, x) @ v for x in (ahead, behind))
        for k in kept:
            assert abs((g_1[k] - g_0[k]) / (2 * h) - J[3 * k + 2] @ v) < 1e-6
            np.testing.assert_allclose((n_1[k] - n_0[k]) / (2 * h), normal_rates[k], atol=1e-5, rtol=1e-5)
            rows = slice(3 * k, 3 * k + 3)
            np.testing.assert_allclose((w_1[rows] - w_0[rows]) / (2 * h), bias[rows], atol=1e-4, rtol=1e-5)


def test_a_capsule_on_a_box():
    """Lying it has two points, at its ends or at the edges of the face; upright one touches, and so across edges."""
    box, floor = Shape("world", "box", (1.0, 1.0, 0.2), name="b"), (np.eye(3), np.zeros(3))
    lie = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    for length, ends in ((0.6, (-0.1, 0.5)), (3.0, (-0.5, 0.5))):
        capsule = Shape("world", "capsule", (0.1, length), name="a")
        for tilt in (0.0, 1e-13, -1e-9):
            c, s = np.cos(tilt), np.sin(tilt)
            found = points(capsule, box, (np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) @ lie, (0.2, 0.3, 0.19)), floor)
            np.testing.assert_allclose([x.gap for x in found], -0.01, atol=2.0 * abs(tilt) + 1e-15)
            np.testing.assert_allclose(sorted(x.position.x for x in found), ends, atol=1e-8)
            np.testing.assert_allclose([list(x.normal) for x in found], [[0, 0, -1]] * 2, atol=1e-8)
    near, far = points(Shape("world", "capsule", (0.1, 0.6), name="a"), box, (np.eye(3), (0.2, 0.3, 0.49)), floor)
    np.testing.assert_allclose([near.gap, far.gap], [-0.01, 0.59], atol=1e-12)
    turn = np.array([[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, 1]]) @ lie  # across the edge at x = 0.5, beside it
    for x in points(Shape("world", "capsule", (0.1, 3.0), name="a"), box, (turn, (0.5, 0.0, -0.01)), floor):
        assert x.gap == pytest.approx(-0.19) and list(x.normal) == pytest.approx([0, 0, 1])  # the shortest way out
    turn = np.array([[0.6, 0, -0.8], [0, 1, 0], [0.8, 0, 0.6]])
    for depth in (0.05, 0.15):  # beyond the radius, too
        p = np.array([0.5, 0.2, 0.1]) + (0.1 - depth) * turn[:, 0] + 0.3 * turn[:, 2]
        near, _ = points(Shape("world", "capsule", (0.1, 3.0), name="a"), box, (turn, p), floor)
        assert near.gap == pytest.approx(-depth)
        np.testing.assert_allclose(list(near.normal), -turn[:, 0], atol=1e-12)


@pytest.mark.sweep
@pytest.mark.parametrize("parallel", [False, True])
def test_capsules_and_boxes_are_those_of_coal(parallel):
    """Gaps and normals to rounding at any depth of 5,000 poses, of parallel axes, too, and of sizes over three orders.

    Where the axis touches the box, there are many normals.
    """
    rng = np.random.default_rng(int(parallel))
    for _ in range(5000):
        capsule = Shape("world", "capsule", tuple((10.0 ** rng.uniform(-2.5, 0.5, 2)).tolist()), name="capsule")
        shapes = capsule, random_shape("box", rng)
        (R, p), (turn, q) = poses(rng, rng.choice([0.1, 0.4, 0.9, 2.0]))
        turn = R @ np.eye(3)[list(rng.permutation(3))] if parallel else turn
        at = (R, p), (turn * np.linalg.det(turn), q)
        near = min(points(*shapes, *at), key=lambda x: x.gap)
        distance, normal = by_coal(*shapes, *at)
        assert abs(near.gap - distance) < 1e-10
        if abs(distance + capsule.size[0]) > 1e-6:
            n = np.array(list(near.normal))
            assert abs(np.linalg.norm(n) - 1.0) < 1e-12
            np.testing.assert_allclose(n, normal, atol=1e-6)


def test_hulls():
    """A cube of 8 vertices and one within; faces point outward; flat and bad vertices are named."""
    corners = [(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]
    cube = Shape("world", "hull", name="cube", vertices=(*corners, (0.1, 0.2, 0.3)))
    assert sorted(cube.vertices) == sorted(corners) and len(cube.faces) == 12
    for a, b, c in (np.array([cube.vertices[k] for k in face]) for face in cube.faces):
        assert np.cross(b - a, c - a) @ a > 0.0
    with pytest.raises(GeometryError, match="hull 'flat': the 4 vertices are in a plane"):
        Shape("world", "hull", name="flat", vertices=[(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])
    with pytest.raises(ArgumentError, match="hull 'few': vertices is .*, expected at least four points"):
        Shape("world", "hull", name="few", vertices=[(0, 0, 0), (1, 0, 0)])
    with pytest.raises(ArgumentError, match="sphere 'a': radius is -1.0, expected a positive length"):
        Shape("world", "sphere", (-1.0,), name="a")
    with pytest.raises(ArgumentError, match="box 'a': size is .*expected 3 lengths"):
        Shape("world", "box", (1.0,), name="a")
