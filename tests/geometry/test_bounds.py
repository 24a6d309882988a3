"""Boxes around shapes: what random points on the shape reach, and no more."""

import numpy as np
import pytest

from kinetree.geometry import bounding_box
from kinetree.model.parts import Geometry
from tests.geometry import solids

SHAPES = {
    "box": (0.3, 0.5, 0.7),
    "sphere": (0.4,),
    "cylinder": (0.2, 0.9),
    "capsule": (0.2, 0.5),
    "ellipsoid": (0.2, 0.3, 0.5),
}


def farthest(kind, size, direction):
    """The point of a shape, in its own axes, that lies farthest along a direction."""
    d = direction
    if kind == "box":
        return np.sign(d) * size / 2.0
    if kind == "ellipsoid":
        return size**2 * d / np.linalg.norm(size * d)
    if kind == "sphere":
        return size[0] * d / np.linalg.norm(d)
    if kind == "cylinder":
        return np.array([*(size[0] * d[:2] / np.linalg.norm(d[:2])), np.sign(d[2]) * size[1] / 2.0])
    return size[0] * d / np.linalg.norm(d) + np.array([0.0, 0.0, np.sign(d[2]) * size[1] / 2.0])


@pytest.mark.parametrize("kind", SHAPES)
def test_the_box_touches_the_shape_on_all_sides(kind):
    """Each side of the box passes through the farthest point of the shape in that direction."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        R, p = solids.random_rotation(rng), rng.standard_normal(3)
        lower, upper = bounding_box(Geometry(kind, SHAPES[kind], R, p))
        for axis in range(3):
            e = np.eye(3)[axis]
            for sign, side in ((1.0, upper), (-1.0, lower)):
                point = R @ farthest(kind, np.array(SHAPES[kind]), R.T @ (sign * e)) + p
                assert side[axis] == pytest.approx(point[axis], abs=1e-14)


def test_box_of_a_mesh(tmp_path):
    """A turned, stretched and mirrored mesh reaches as far as its corners; corners of no triangle do not count."""
    pytest.importorskip("trimesh")
    rng = np.random.default_rng(2)
    vertices, faces = solids.icosphere(0.5, 1)
    vertices = vertices * (1.0, 2.0, 0.5)
    file = solids.write_obj(tmp_path / "a.obj", np.concatenate([vertices, [(9.0, 9.0, 9.0)]]), faces)
    R, p, scale = solids.random_rotation(rng), rng.standard_normal(3), (1.0, -2.0, 3.0)
    lower, upper = bounding_box(Geometry("mesh", mesh=file, scale=scale, R_BG=R, p_BG=p))
    corners = vertices * scale @ R.T + p
    np.testing.assert_allclose(lower, corners.min(axis=0), atol=1e-14)
    np.testing.assert_allclose(upper, corners.max(axis=0), atol=1e-14)


def test_a_plane_is_infinite_but_along_its_normal():
    """z = 1 is bounded in z alone; an inclined plane in nothing."""
    lower, upper = bounding_box(Geometry("plane", p_BG=(0.0, 0.0, 1.0)))
    assert lower.tolist() == [-np.inf, -np.inf, 1.0] and upper.tolist() == [np.inf, np.inf, 1.0]
    R = solids.random_rotation(np.random.default_rng(3))
    assert np.all(np.isinf(bounding_box(Geometry("plane", R_BG=R))))
