"""Coarse copies of surfaces: few triangles, on the surface, with its edges, its volume and its image."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer.coarse import FEW, coarsened
from kinetree.viewer.triangles import Triangles, height_field, triangles_of
from tests.view.test_page import swinging

pytest.importorskip("trimesh")
RADIUS, MOST = 0.1, 2000


def ball(subdivisions: int = 5) -> Triangles:
    """A sphere of 20 * 4^n triangles."""
    import trimesh

    mesh = trimesh.creation.icosphere(subdivisions=subdivisions, radius=RADIUS)
    return Triangles(mesh.vertices, mesh.faces)


def volume(surface: Triangles) -> float:
    """Of a closed surface, by the divergence theorem [m^3]."""
    a, b, c = surface.vertices[surface.faces].astype(float).transpose(1, 0, 2)
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6.0)


def test_a_ball_stays_a_ball():
    """Corners are on the sphere and the volume is kept within 2 %; of 100 triangles at most one is turned over."""
    [copy] = coarsened([ball()], MOST)
    assert 0.3 * MOST < len(copy.faces) <= MOST
    assert np.linalg.norm(copy.vertices, axis=1) == pytest.approx(RADIUS, rel=0.02)
    assert volume(copy) == pytest.approx(4.0 / 3.0 * np.pi * RADIUS**3, rel=0.02)
    a, b, c = copy.vertices[copy.faces].astype(float).transpose(1, 0, 2)
    assert (np.einsum("fi,fi->f", np.cross(b - a, c - a), a) > 0.0).mean() > 0.99


def test_edges_of_a_box_stay():
    """The planes of a box of many triangles meet in the corners of the copy, which has its volume."""
    import trimesh

    mesh = trimesh.creation.box((0.2, 0.3, 0.5)).subdivide_to_size(0.012)
    [copy] = coarsened([Triangles(mesh.vertices, mesh.faces)], MOST)
    assert len(copy.faces) <= MOST < len(mesh.faces)
    assert np.abs(copy.vertices).max(axis=0) == pytest.approx([0.1, 0.15, 0.25], rel=1e-3)
    assert volume(copy) == pytest.approx(0.2 * 0.3 * 0.5, rel=2e-3)


def test_surfaces_that_are_drawn_often_have_one_copy():
    """Each use counts, small surfaces stay what they are, and few triangles are not changed at all."""
    many, cube = ball(), triangles_of("box", (0.1, 0.1, 0.1))
    first, small, second = coarsened([many, cube, many], MOST)
    assert first is second and small is cube and 2 * len(first.faces) + len(cube.faces) <= MOST
    few = ball(3)
    assert len(few.faces) > FEW and coarsened([few, cube], MOST) == [few, cube]


def test_images_stay_where_they_are():
    """On a plane with an image the place in the image goes on with that in the plane."""
    flat = height_field((1.0, 1.0, 0.1), np.zeros((80, 80)))
    [copy] = coarsened([Triangles(flat.vertices, flat.faces, flat.vertices[:, :2] + 0.5, b"image")], MOST)
    assert len(copy.faces) <= MOST and copy.image == b"image"
    assert np.abs(copy.uv - copy.vertices[:, :2] - 0.5).max() < 1.0 / 20.0


def test_the_viewer_draws_coarse_shapes(tmp_path):
    """By an option, with fewer pixels in the address; the page can change it, and back again."""
    pytest.importorskip("viser")
    import trimesh

    from tests.view.test_viewer import until, user_sets

    trimesh.creation.icosphere(subdivisions=5, radius=RADIUS).export(tmp_path / "ball.stl")
    model = swinging(tmp_path, f'<mesh filename="{tmp_path / "ball.stl"}"/>', duration=0.01).model
    with kt.view(model, detail="coarse", port=18470, quiet=True) as viewer:
        stage = viewer.stage

        def drawn() -> list[int]:
            shapes = stage._bodies._shapes.values()
            return [len(node.faces) for nodes in shapes for node in nodes if node.visible]

        assert viewer.url.endswith("/?fixedDpr=0.5") and not viewer.shadows.value
        assert 0 < drawn()[0] <= 8000
        for coarse in (False, True):
            user_sets(stage.display._coarse, coarse)
            until(lambda coarse=coarse: (drawn()[0] <= 8000) == coarse and len(drawn()) == 1)
        assert stage.display.shapes == ("visual", True)
