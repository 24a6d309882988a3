"""Scenes: poses of shapes against Pinocchio, surfaces against coal's and closed forms, stick figures."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.model.parts import Geometry
from kinetree.viewer import scene as scene_module
from kinetree.viewer import surfaces
from kinetree.viewer.scene import Scene
from kinetree.viewer.triangles import Triangles, cut_at_edges, height_field, triangles_of
from tests.engines.robots import ROBOTS, robot_path

pin = pytest.importorskip("pinocchio")
SHARE = str(Path(robot_path("panda")).parents[4])
ANYMAL = Path(robot_path("anymal_c_simple_description/urdf/anymal.urdf")).parents[1] / "meshes"


def matrix(pose) -> np.ndarray:
    """Homogeneous matrix of a row of `Scene.poses`, by Pinocchio."""
    return pin.XYZQUATToSE3(np.r_[pose[:3], pose[4:], pose[3]]).homogeneous


def in_pinocchio(path: str, floating: bool):
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    model = pin.buildModelFromUrdf(path, *root)
    return model, pin.buildGeomFromUrdf(model, path, pin.GeometryType.VISUAL, package_dirs=[SHARE])


@pytest.fixture
def no_meshes(monkeypatch):
    """Every mesh is one small triangle."""
    monkeypatch.setattr(scene_module, "surfaces_of", lambda g: (Triangles(np.eye(3), np.array([[0, 1, 2]])),))


@pytest.mark.parametrize("name", ["panda", "solo12"])
def test_placements_of_visual_shapes_are_those_of_pinocchio(name, no_meshes):
    """All shapes at random positions, in a batch of three; rounding of products of rotations along the tree."""
    path, floating = robot_path(name), ROBOTS[name].floating_base
    model = kt.load(path, floating_base=floating, package_dirs=[SHARE], inertia="project")
    theirs, shapes = in_pinocchio(path, floating)
    data, places = theirs.createData(), shapes.createData()
    rng = np.random.default_rng(1)
    Q = np.array([model.random_q(rng) for _ in range(3)])
    scene = Scene.of(model)
    assert len(scene.parts) == shapes.ngeoms
    there = kt.conventions.Pinocchio(model, theirs)
    for q, poses in zip(Q, scene.poses(Q), strict=True):
        pin.updateGeometryPlacements(theirs, data, shapes, places, there.q_to(q))
        found = np.array([matrix(poses[part.body]) @ part.X for part in scene.parts])
        expected = np.array([place.homogeneous for place in places.oMg])
        for X in expected:  # the order of shapes differs
            assert np.abs(found - X).max(axis=(1, 2)).min() < 1e-12
        for X in found:
            assert np.abs(expected - X).max(axis=(1, 2)).min() < 1e-12


def test_meshes_are_those_that_coal_reads():
    """Boxes of all meshes of a robot, with scales and turned nodes of DAE files, read by assimp; float32 rounding."""
    path = robot_path("ur5")
    model = kt.load(path, package_dirs=[SHARE])
    _, shapes = in_pinocchio(path, False)
    scene = Scene.of(model)
    expected = []
    for shape in shapes.geometryObjects:
        shape.geometry.computeLocalAABB()
        box = shape.geometry.aabb_local
        expected.append(np.r_[box.min_, box.max_])
    assert not scene.notes and len(expected) == len(scene.parts) > 5
    for part in scene.parts:
        corners = np.concatenate([x.vertices for x in part.triangles()])
        box = np.r_[corners.min(axis=0), corners.max(axis=0)]
        assert np.abs(np.array(expected) - box).max(axis=1).min() < 1e-6, part.name


def test_images_of_meshes_are_read(tmp_path):
    """The trunk of anymal has the picture of its file, smaller, and corners inside it."""
    image = pytest.importorskip("PIL.Image")
    textured = [x for x in surfaces.surfaces_of(Geometry("mesh", mesh=str(ANYMAL / "base.dae"))) if x.image]
    assert len(textured) == 1
    found, original = image.open(io.BytesIO(textured[0].image)), image.open(ANYMAL / "base.jpg")
    assert max(found.size) == surfaces.WIDEST < max(original.size)
    small = np.asarray(original.convert("RGB").resize(found.size), float)
    assert np.abs(np.asarray(found, float) - small).mean() < 4.0  # of 255: two compressions
    assert textured[0].uv.min() >= 0.0 and textured[0].uv.max() <= 1.0 and np.ptp(textured[0].uv) > 0.3


def test_mesh_files_open_images_only(tmp_path):
    """A material that names a file elsewhere gets none; the mesh is read all the same."""
    (tmp_path / "secret.txt").write_text("newmtl red\nKd 1 0 0\n")
    (tmp_path / "cube.obj").write_text("mtllib secret.txt\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (surface,) = surfaces.surfaces_of(Geometry("mesh", mesh=str(tmp_path / "cube.obj"), scale=(2.0, 1.0, -1.0)))
    assert surface.color != (1.0, 0.0, 0.0, 1.0)
    a, b, c = surface.vertices[surface.faces[0]]
    assert np.cross(b - a, c - a)[2] == -2.0  # turned around, as the scale mirrors


@pytest.mark.parametrize(
    ("kind", "size", "volume"),
    [("box", (1.0, 2.0, 3.0), 6.0), ("sphere", (0.5,), np.pi / 6.0), ("cylinder", (0.5, 2.0), np.pi / 2.0),
     ("capsule", (0.5, 2.0), np.pi / 2.0 + np.pi / 6.0), ("ellipsoid", (1.0, 2.0, 0.5), 4.0 / 3.0 * np.pi)],
)  # fmt: skip
def test_surfaces_of_primitives_enclose_their_volume(kind, size, volume):
    """By the divergence theorem: all triangles look outwards; the chords of 32 edges miss up to 2 %."""
    x = triangles_of(kind, size)
    corners = x.vertices[x.faces].astype(float)
    found = np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert 0.97 * volume < found <= volume * (1.0 + 1e-6)
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    assert areas.min() > 0.0


def test_surfaces_are_cut_at_edges_alone():
    """A cube has three corners at each corner; a sphere given without shared corners gets its shared ones again."""
    for kind, size, expected in (("box", (1.0, 1.0, 1.0), 24), ("sphere", (1.0,), 32 * 15 + 2)):
        x = triangles_of(kind, size)
        corners = x.vertices[x.faces].reshape(-1, 3)
        vertices, faces, _ = cut_at_edges(corners, np.arange(len(corners)).reshape(-1, 3))
        assert len(vertices) == expected
        assert np.allclose(vertices[faces], x.vertices[x.faces], atol=1e-5)


def test_height_fields_have_their_heights():
    """A corner for each height at its place; up is outside."""
    x = height_field((2.0, 1.0, 0.5), np.array([[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]]))
    assert x.vertices[4].tolist() == pytest.approx([0.0, 0.5, 0.4])
    a, b, c = (x.vertices[x.faces[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0.0).all()


def test_stick_figures_have_the_joints_of_a_linkage():
    """Links of a four-bar end at its joints, also those of loops; its axes are the joints'."""
    model = kt.models.four_bar()
    scene = Scene.of(model)
    assert "stick figure" in scene.notes[0]
    (poses,) = scene.poses(kt.assemble(model))
    ends = []
    for part in scene.parts:
        X = matrix(poses[part.body]) @ part.X
        if part.kind == "capsule":
            ends += [X[:3, 3] + side * 0.5 * part.size[1] * X[:3, 2] for side in (-1.0, 1.0)]
        else:
            assert part.kind == "cylinder" and abs(X[1, 2]) + abs(X[2, 2]) == pytest.approx(1.0)
    joints = poses[1:, :3]
    assert all(np.linalg.norm(np.array(ends) - x, axis=1).min() < 1e-6 for x in joints)
    loop = model.loops[0]
    frame = model.frame(loop.predecessor)
    end = matrix(poses[frame.body])[:3, :3] @ frame.p_BF + poses[frame.body, :3]
    assert np.linalg.norm(np.array(ends) - end, axis=1).min() < 1e-6 or frame.body == 0


def test_missing_meshes_become_sticks(tmp_path):
    """The body whose mesh is not there is a stick, the others keep their shapes; the note names the file."""
    text = kt.data.path("double_pendulum").read_text()
    path = tmp_path / "robot.urdf"
    path.write_text(text.replace('<cylinder radius="0.03" length="1"/>', '<mesh filename="gone.stl"/>', 1))
    scene = Scene.of(kt.load(path))
    assert any("gone.stl" in note for note in scene.notes)
    assert {part.role for part in scene.parts} == {"visual", "stick"}


def test_ground_of_a_simulation_is_drawn():
    """Contacts with the ground add its plane, wider than the robot."""
    run = kt.simulate(kt.models.free_shape("box"), duration=0.01, ground=True)
    (plane,) = [part for part in Scene.of(run.model).parts if part.kind == "plane"]
    lower, upper = Scene.of(run.model).bounds(run.q)
    assert plane.body == 0 and plane.size[0] > 2.0 * (upper - lower).max()


def test_bounds_are_those_of_all_corners():
    """At several positions, for boxes of parts that turn: never smaller, and exact for boxes."""
    model = kt.models.free_shape("box")
    scene, rng = Scene.of(model), np.random.default_rng(3)
    Q = np.array([model.random_q(rng) for _ in range(4)])
    (part,) = [part for part in scene.parts if part.kind == "box"]
    points = np.array([[matrix(x[part.body]) @ [*c, 1.0] for c in part.corners()] for x in scene.poses(Q)])
    lower, upper = scene.bounds(Q)
    assert np.allclose(lower, points[..., :3].min(axis=(0, 1))) and np.allclose(upper, points[..., :3].max(axis=(0, 1)))


def test_wrong_arguments_are_named():
    """Roles, models and shapes of positions."""
    model = kt.models.pendulum()
    for call in (lambda: Scene.of(model, "looks"), lambda: Scene.of(3), lambda: Scene.of(model).poses(np.zeros(3))):
        with pytest.raises(KinetreeError, match="Scene"):
            call()
