"""Signed distances against support functions, MuJoCo, compiled laws and closed forms."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import (
    ArgumentError,
    DuplicateNameError,
    GeometryError,
    MissingDependencyError,
    UnknownNameError,
)
from kinetree.model import Geometry
from tests.queries.pairs_of_shapes import (
    SHAPES,
    pair,
    random_q,
    rotation_of,
    separation,
    signed_distance,
    support,
    two_shapes,
)

SOLIDS = [kind for kind in SHAPES if kind != "plane"]
PAIRS = list(itertools.combinations_with_replacement(SOLIDS, 2))
GJK = 1e-7  # [m]: ten times the tolerance of coal's iterations


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_signed_distance_is_the_largest_separation(a, b):
    """Of all pairs of parallel planes that touch both shapes, those along the normal are farthest apart."""
    rng, model = np.random.default_rng(1), pair(a, b)
    for _ in range(12):
        q = random_q(rng)
        found = kt.collision.distances(model, q)
        d, n = found.distance[0], found.normal[0]
        error = 2e-6 if d < 0.0 else GJK  # twice the tolerance where coal fails with the tight one
        assert separation(a, b, q, n) == pytest.approx(d, abs=error)
        assert signed_distance(a, b, q, n) == pytest.approx(d, abs=error)
        others = rng.normal(size=(300, 3))
        assert max(separation(a, b, q, x / np.linalg.norm(x)) for x in others) <= d + error
        np.testing.assert_allclose(found.second[0] - found.first[0], d * n, atol=1e-12)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_distances_are_those_of_mujoco(a, b):
    """While apart; in each other MuJoCo's special cases give other directions."""
    rng, model = np.random.default_rng(2), pair(a, b)
    mj = mujoco.MjModel.from_xml_string(kt.io.to_mjcf(model))
    mj.opt.ccd_tolerance, mj.opt.ccd_iterations = 1e-10, 500
    data, segment, apart = mujoco.MjData(mj), np.zeros(6), 0
    for _ in range(10):
        q = random_q(rng, 0.3, 0.8)
        found = kt.collision.distances(model, q)
        data.qpos[:] = q
        mujoco.mj_kinematics(mj, data)
        theirs = mujoco.mj_geomDistance(mj, data, 0, 1, 10.0, segment)
        if found.distance[0] > 0.0:
            apart += 1
            assert found.distance[0] == pytest.approx(theirs, abs=GJK)
    assert apart > 3


@pytest.mark.parametrize("b", SOLIDS)
def test_distance_from_a_plane(b):
    """The lowest point of the other shape, by its support function; the plane is solid below, at any depth."""
    rng, model = np.random.default_rng(3), pair("plane", b)
    for _ in range(10):
        q = random_q(rng)
        found = kt.collision.distances(model, q)
        expected = q[2] - support(b, SHAPES[b], rotation_of(q).T @ np.array([0.0, 0.0, -1.0]))
        assert found.distance[0] == pytest.approx(expected, abs=1e-10)  # coal widens flat shapes by 1e-11 m
        np.testing.assert_allclose(found.normal[0], (0.0, 0.0, 1.0), atol=1e-12)
        assert found.first[0, 2] == pytest.approx(0.0, abs=1e-10)


def test_compiled_laws_have_the_same_gaps():
    """The deepest candidate point of each pair of a model's contacts; the ground is a shape of the contacts alone."""
    b = kt.ModelBuilder("bodies")
    for k, kind in enumerate(("sphere", "box", "capsule", "cylinder", "ellipsoid")):
        if kt.collision.PAIR_LAWS.get(("plane", kind)) is None:
            continue
        shape = Geometry(kind, SHAPES[kind], name=kind, p_BG=(0.1, 0.0, 0.05))
        b.add_body(f"{k}", joint=kt.joints.Free(), mass=1.0, inertia=(1.0, 1.0, 1.0), geometry=[shape])
    ground = kt.collision.Ground(height=-0.1, normal=(0.1, 0.2, 1.0))
    model, rng = b.build().with_contacts(ground=ground), np.random.default_rng(4)
    for _ in range(5):
        q = np.concatenate([random_q(rng) for _ in range(model.nb - 1)])
        gaps, found = kt.collision.contact_gaps(model, q), kt.collision.distances(model, q, model.contacts)
        assert len(found) == len(model.contacts) >= 2
        for contact, d in zip(model.contacts, found.distance, strict=True):
            of_pair = [gap for gap, label in zip(gaps, model.contact_labels, strict=True)
                       if label.rsplit(".", 1)[0] == contact.name or label == contact.name]  # fmt: skip
            assert min(of_pair) == pytest.approx(d, abs=1e-10)


@pytest.mark.parametrize(("a", "b"), [x for x in PAIRS if {"cylinder", "ellipsoid"} & {*x}])
def test_refined_distances_are_exact(a, b):
    """The points are on the normal, the separation along it is the distance, and no smaller than coal's."""
    rng, model, converged = np.random.default_rng(11), pair(a, b), 0
    for _ in range(10):
        q = random_q(rng, 0.3, 0.8)
        coarse, found = (kt.collision.distances(model, q, refine=x) for x in (False, True))
        d, n = found.distance[0], found.normal[0]
        converged += abs(separation(a, b, q, n) - d) < 1e-14
        assert d == pytest.approx(coarse.distance[0], abs=2e-6)
        assert separation(a, b, q, n) >= separation(a, b, q, coarse.normal[0]) - 1e-15
    assert converged >= 8


def test_order_and_frames_do_not_matter():
    """The pair in the other order has the opposite normal; a turned world the same distance."""
    rng, model = np.random.default_rng(5), pair("box", "ellipsoid")
    turned = pair("box", "ellipsoid", p_BG=(1.0, -2.0, 3.0))
    for _ in range(5):
        q = random_q(rng)
        found = kt.collision.distances(model, q, [("a", "b"), ("b", "a")])
        np.testing.assert_allclose(found.distance[0], found.distance[1], atol=GJK)
        np.testing.assert_allclose(found.normal[0], -found.normal[1], atol=1e-3)  # square root of the tolerance
        moved = kt.collision.distances(turned, q + np.array([1.0, -2.0, 3.0, 0.0, 0.0, 0.0, 0.0]))
        np.testing.assert_allclose(moved.distance, found.distance[:1], atol=GJK)


# Meshes and height fields ------------------------------------------------------------------------------------------

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture(scope="module")
def tetrahedron(tmp_path_factory):
    path = tmp_path_factory.mktemp("meshes") / "tetrahedron.obj"
    path.write_text(TETRAHEDRON)
    return str(path)


def test_hull_and_triangles_of_a_mesh(tetrahedron):
    """Outside both are the same; inside the hull has a depth, the surface a distance."""
    mesh = Geometry("mesh", mesh=tetrahedron, scale=(0.5, 0.5, 0.5), name="a")
    model = two_shapes(mesh, Geometry("sphere", (0.05,), name="b"))
    outside, inside = [-0.3, 0.2, 0.2, 1, 0, 0, 0], [0.15, 0.2, 0.2, 1, 0, 0, 0]
    for meshes in ("hull", "triangles"):
        assert kt.collision.distances(model, outside, meshes=meshes).distance[0] == pytest.approx(0.25, abs=1e-10)
    slanted = (0.5 - 0.15 - 0.2 * 0.5 - 0.2 / 3.0) / np.linalg.norm((1.0, 0.5, 1.0 / 3.0))  # the nearest face
    nearest = min(0.15, slanted)
    hull = kt.collision.distances(model, inside).distance[0]
    assert hull == pytest.approx(-nearest - 0.05, abs=1e-9)
    surface = kt.collision.distances(model, inside, meshes="triangles").distance[0]
    assert surface == pytest.approx(nearest - 0.05, abs=1e-9)


def test_bad_meshes_are_named(tmp_path, tetrahedron):
    """A missing file, and one whose hull has no volume; as a surface it is fine."""
    flat = tmp_path / "flat.obj"
    flat.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    ball = Geometry("sphere", (0.05,), name="b")
    q = [0.2, 0.2, 0.5, 1, 0, 0, 0]
    sheet = two_shapes(Geometry("mesh", mesh=str(flat), name="a"), ball)
    with pytest.raises(GeometryError, match="flat.obj: its convex hull has no volume.*meshes='triangles'"):
        kt.collision.distances(sheet, q)
    assert kt.collision.distances(sheet, q, meshes="triangles").distance[0] == pytest.approx(0.45, abs=1e-10)
    with pytest.raises(GeometryError, match="no-such.obj: there is no such file"):
        kt.collision.distances(two_shapes(Geometry("mesh", mesh=str(tmp_path / "no-such.obj"), name="a"), ball), q)


def test_a_hull_with_many_corners_on_one_face(tmp_path):
    """Of a disc of 400 corners: coal takes no corner with more than 255 neighbors."""
    phi = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    rim = np.column_stack([np.cos(phi), np.sin(phi), np.zeros(400)])
    lines = [f"v {x:.12f} {y:.12f} {z:.12f}" for x, y, z in [*rim, *(rim + (0.0, 0.0, 0.5))]]
    lines += [f"f {k} {k + 1} {k + 401}" for k in range(1, 400)]
    path = tmp_path / "disc.obj"
    path.write_text("\n".join(lines))
    model = two_shapes(Geometry("mesh", mesh=str(path), name="a"), Geometry("sphere", (0.1,), name="b"))
    assert kt.collision.distances(model, [0.3, 0.2, 1.0, 1, 0, 0, 0]).distance[0] == pytest.approx(0.4, abs=1e-9)
    assert kt.collision.distances(model, [0.3, 0.2, 0.4, 1, 0, 0, 0]).distance[0] == pytest.approx(-0.2, abs=1e-9)


@pytest.fixture(scope="module")
def hills():
    rng = np.random.default_rng(6)
    field = Geometry("heightfield", (4.0, 3.0, 0.5), heights=rng.random((7, 9)) * 0.3, name="a")
    return two_shapes(field, Geometry("sphere", (0.1,), name="b"))


def test_a_ball_above_hills(hills):
    """The distance from the nearest triangle, sampled; MuJoCo's diagonals are ours."""
    rng, samples = np.random.default_rng(7), np.linspace(0.0, 1.0, 21)
    from kinetree.queries.solids import surface_points

    points = surface_points(hills.geometry[0][0])
    corners = points[:-1, :-1], points[1:, :-1], points[:-1, 1:], points[1:, 1:]
    s, t = np.meshgrid(samples, samples)
    lower = s + t <= 1.0
    grid = []
    for a, b, c in (corners[:3], corners[3:0:-1]):
        for u, v in zip(s[lower], t[lower], strict=True):
            grid.append((a + u * (b - a) + v * (c - a)).reshape(-1, 3))
    grid = np.concatenate(grid)
    for _ in range(20):
        q = np.array([*rng.uniform(-1.5, 1.5, 2), rng.uniform(0.55, 1.2), 1.0, 0.0, 0.0, 0.0])
        d = kt.collision.distances(hills, q).distance[0]
        sampled = np.linalg.norm(grid - q[:3], axis=1).min() - 0.1
        assert d <= sampled + 1e-12 and sampled - d < 0.02  # a sample is within 0.02 m of every point


def test_a_ball_in_hills(hills):
    """Shallow: the depth below the plane of its triangle; deeper than its radius the normal still points up."""
    field = hills.geometry[0][0]
    z, step = field.heights, (0.5, 0.5)
    a, b, c = ((-2.0 + step[0] * j, -1.5 + step[1] * i, z[i, j]) for i, j in ((2, 3), (3, 3), (2, 4)))
    a, b, c = map(np.array, (a, b, c))
    n = np.cross(c - a, b - a)
    n /= np.linalg.norm(n)
    middle = (a + b + c) / 3.0
    for depth in (0.005, 0.15):
        q = [*(middle + (0.1 - depth) * n), 1.0, 0.0, 0.0, 0.0]
        found = kt.collision.distances(hills, q)
        assert found.distance[0] == pytest.approx(-depth, abs=1e-7)
        np.testing.assert_allclose(found.normal[0], n, atol=1e-4)
        other = kt.collision.distances(hills, q, [("b", "a")])
        np.testing.assert_allclose(other.normal[0], -n, atol=1e-4)


# Choice of pairs ---------------------------------------------------------------------------------------------------


def chain(**extra):
    b = kt.ModelBuilder("chain")
    b.add_geometry("world", Geometry("plane", name="floor"))
    b.add_geometry("world", Geometry("sphere", (0.1,), name="picture", role="visual"))
    parent = "world"
    for k in range(4):
        ball = Geometry("sphere", (0.1,), name=f"ball{k}", **extra.get(f"ball{k}", {}))
        joint = kt.joints.Revolute((0.0, 1.0, 0.0))
        rigid = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0), "geometry": [ball]}
        b.add_body(f"link{k}", parent, joint, placement=((0.3, 0.0, 0.0), (0.0, 0.0, 0.0)), **rigid)
        parent = f"link{k}"
    return b


def names(model):
    return set(map(frozenset, kt.collision.distances(model, model.neutral()).pairs))


def test_default_pairs():
    """Not neighbors in the tree, not visual shapes; the floor touches all."""
    found = names(chain().build())
    assert {frozenset(("floor", f"ball{k}")) for k in range(4)} <= found
    assert found - {x for x in found if "floor" in x} == {
        frozenset(x) for x in (("ball0", "ball2"), ("ball0", "ball3"), ("ball1", "ball3"))
    }


def test_filters_exclusions_and_stated_pairs():
    """Bits that do not meet, and excluded links, are left out; a pair that the model states is there in any case."""
    from kinetree.model import ContactExclude, Equipment, GeometryPair

    b = chain(ball0={"contype": 2, "conaffinity": 4})
    assert not any("ball0" in x for x in names(b.build()))
    b.equipment += Equipment(contact_excludes=(ContactExclude("link1", "link3"),),
                             contact_pairs=(GeometryPair("ball0", "ball1"),))  # fmt: skip
    found = names(b.build())
    assert frozenset(("ball1", "ball3")) not in found and frozenset(("ball0", "ball1")) in found


def test_pairs_by_name_and_within():
    """Only those that are asked for, or near."""
    model = chain().build()
    found = kt.collision.distances(model, model.neutral(), [("ball0", "ball1"), ("floor", "ball3")])
    np.testing.assert_allclose(found.distance, [0.1, -0.1], atol=1e-12)
    near = kt.collision.distances(model, model.neutral(), within=0.45)
    assert all(d <= 0.45 for d in near.distance) and len(near) == 6
    assert kt.collision.colliding_pairs(model, model.neutral()) == tuple(("floor", f"ball{k}") for k in range(4))


def test_boxes_leave_out_no_pair():
    """Pairs within a distance are the same by boxes and by all distances."""
    rng = np.random.default_rng(8)
    b = kt.ModelBuilder("heap")
    b.add_geometry("world", Geometry("plane", name="floor", R_BG=rotation_of(random_q(rng))))
    for k in range(12):
        kind = SOLIDS[k % len(SOLIDS)]
        R, p = rotation_of(random_q(rng)), rng.normal(size=3) * 0.1
        shape = Geometry(kind, SHAPES[kind], R, p, name=f"{k}")
        b.add_body(f"{k}", joint=kt.joints.Free(), mass=1.0, inertia=(1.0, 1.0, 1.0), geometry=[shape])
    model = b.build()
    for _ in range(4):
        q = np.concatenate([random_q(rng) for _ in range(12)])
        every = kt.collision.distances(model, q)
        for within in (-0.05, 0.0, 0.1):
            expected = [x for x, d in zip(every.pairs, every.distance, strict=True) if d <= within]
            assert list(kt.collision.distances(model, q, within=within).pairs) == expected
            assert 0 < len(expected) < len(every)


# Use ---------------------------------------------------------------------------------------------------------------


def test_threads_share_the_objects():
    """Eight threads get the bits of one."""
    model, rng = pair("ellipsoid", "cylinder"), np.random.default_rng(9)
    states = [random_q(rng) for _ in range(100)]
    alone = [kt.collision.distances(model, q).distance[0] for q in states]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda q: kt.collision.distances(model, q).distance[0], states)) == alone


@pytest.mark.parametrize(("pairs", "error", "message"), [
    ([("a", "c")], UnknownNameError, "no shape named 'c' in model 'two'. Known: a, b"),
    ([("a", "a")], DuplicateNameError, "a shape has no distance from itself"),
    ([("a",)], ArgumentError, "pairs of names of shapes"),
    ("ab", ArgumentError, "pairs of names of shapes"),
    (7, ArgumentError, "pairs of names of shapes"),
])  # fmt: skip
def test_wrong_pairs(pairs, error, message):
    with pytest.raises(error, match=message):
        kt.collision.distances(pair("box", "box"), [1, 0, 0, 1, 0, 0, 0], pairs)


def test_without_coal(monkeypatch):
    """The error has the line that installs it."""
    import kinetree.queries.solids as solids

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(solids, "import_module", absent)
    with pytest.raises(MissingDependencyError, match="pip install coal"):
        kt.collision.distances(pair("box", "sphere"), [1, 0, 0, 1, 0, 0, 0])
