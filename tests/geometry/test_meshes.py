"""Mass properties of meshes: an own sum over tetrahedra, golden numbers, scaling, formats, and what is refused."""

import math

import numpy as np
import pytest

from kinetree.errors import GeometryError, MissingDependencyError
from kinetree.geometry import body_mass_properties, mass_properties, meshes, read_mesh
from kinetree.model.parts import Geometry
from tests.geometry import solids
from tests.geometry.test_primitives import assert_same

pytest.importorskip("trimesh")


def mesh(file, **values):
    """A mesh as a shape."""
    return Geometry("mesh", mesh=str(file), **values)


def lumpy(rng, levels=2):
    """A closed solid without any symmetry: an icosphere with every corner moved."""
    vertices, faces = solids.icosphere(0.3, levels)
    return vertices * rng.uniform(0.8, 1.2, (len(vertices), 1)) + rng.uniform(-1.0, 1.0, 3), faces


# Values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_integrals_are_those_of_the_tetrahedra(tmp_path, seed):
    """Volume, centroid and inertia against signed tetrahedra summed here; 1e-12 is a thousand roundings."""
    vertices, faces = lumpy(np.random.default_rng(seed))
    V, c, I = solids.tetrahedra_sums(vertices, faces)
    found = mass_properties(mesh(solids.write_obj(tmp_path / "a.obj", vertices, faces)), density=1.0)
    assert found.volume == pytest.approx(V, rel=1e-12)
    np.testing.assert_allclose(found.com, c, atol=1e-12)
    np.testing.assert_allclose(found.inertia, I, atol=1e-12 * np.abs(I).max())


def test_golden_tetrahedron(tmp_path):
    """The corner of the unit cube: V = 1/6, centroid 1/4, I = V (3/40 1 + 1/80 ones) about it, by hand.

    The second moments about the origin are V/20 (1 + 1) = V/10 on the diagonal and V/20 off it; about the centroid they
    lose V/16 everywhere, so Sigma = V (3/80 on the diagonal, -1/80 off it), and I = tr(Sigma) 1 - Sigma.
    """
    vertices = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    found = mass_properties(mesh(solids.write_obj(tmp_path / "a.obj", vertices, faces)), density=6.0)
    assert found.mass == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(found.com, [0.25] * 3, rtol=1e-14)
    np.testing.assert_allclose(found.inertia, (5.0 * np.eye(3) + np.ones((3, 3))) / 80.0, rtol=1e-13)


def test_golden_cuboid_with_a_corner_off(tmp_path):
    """RedMax, scene 26: a cuboid (1, 2, 3) with a corner moved by 1e-6 in y; the numbers reproduce its energies."""
    vertices, faces = solids.box((1.0, 2.0, 3.0))
    moved = int(np.flatnonzero(np.all(vertices == (-0.5, 1.0, 1.5), axis=1))[0])
    vertices[moved, 1] = 1.000001
    upper = np.all(vertices[faces][:, :, 1] > 0.9, axis=1)
    faces[upper] = [(2, 3, 6), (3, 7, 6)]  # the diagonal of the face y = 1 ends at the moved corner
    assert moved == 3
    found = mass_properties(mesh(solids.write_obj(tmp_path / "a.obj", vertices, faces)), density=1.0)
    assert found.mass == pytest.approx(6.000001, abs=1e-12)
    np.testing.assert_allclose(found.com, [-2.0833e-8, 1.66667e-7, 6.25e-8], atol=1e-12)
    expected = [[6.500001675, 1.25e-7, 7.5e-8], [1.25e-7, 5.00000075, -3.75e-7], [7.5e-8, -3.75e-7, 2.500001075]]
    np.testing.assert_allclose(found.inertia, expected, atol=2e-12)


def test_fine_meshes_approach_the_closed_form(tmp_path):
    """An icosphere's error against the sphere falls by four with every split of its triangles: order 2."""
    errors = []
    for levels in (1, 2, 3):
        file = solids.write_obj(tmp_path / f"{levels}.obj", *solids.icosphere(0.5, levels))
        found = mass_properties(mesh(file), density=1.0)
        exact = mass_properties(Geometry("sphere", (0.5,)), density=1.0)
        errors.append(1.0 - found.inertia[0, 0] / exact.inertia[0, 0])
    ratios = np.array(errors[:-1]) / errors[1:]
    assert np.all((ratios > 3.5) & (ratios < 4.5)), ratios


def test_far_and_small_meshes_keep_their_digits(tmp_path):
    """A millimeter cube 100 m away: the sums are about its center, so 1e-5 relative errors of the file remain."""
    side, center = 1e-3, np.array((100.0, -50.0, 25.0))
    found = mass_properties(mesh(solids.write_obj(tmp_path / "a.obj", *solids.box([side] * 3, center))), density=1.0)
    eps = 100.0 * 2.0**-52 / side  # rounding of the corners in units of the side
    assert found.volume == pytest.approx(side**3, rel=10.0 * eps)
    np.testing.assert_allclose(found.com, center, rtol=1e-15)
    np.testing.assert_allclose(found.inertia, side**5 / 6.0 * np.eye(3), atol=10.0 * eps * side**5)
    tiny = mass_properties(mesh(solids.write_obj(tmp_path / "b.obj", *solids.box([1e-6] * 3))), density=1.0)
    np.testing.assert_allclose(tiny.inertia, 1e-30 / 6.0 * np.eye(3), atol=1e-42)


@pytest.mark.parametrize("scale", [(2.0, 2.0, 2.0), (0.5, 2.0, 3.0), (-1.0, 1.0, 1.0), (-1.0, 2.0, -0.5), (-1.0,) * 3])
def test_scale_and_mirror(tmp_path, scale):
    """x -> S x: V grows by |det S|, c -> S c, second moments -> |det S| S Sigma S; a mirrored solid stays positive."""
    vertices, faces = lumpy(np.random.default_rng(4), levels=1)
    file = solids.write_obj(tmp_path / "a.obj", vertices, faces)
    one, two = mass_properties(mesh(file), density=1.0), mass_properties(mesh(file, scale=scale), density=1.0)
    S, det = np.diag(scale), abs(np.prod(scale))
    assert two.volume == pytest.approx(det * one.volume, rel=1e-13)
    np.testing.assert_allclose(two.com, S @ one.com, atol=1e-13)
    Sigma = det * S @ (0.5 * np.trace(one.inertia) * np.eye(3) - one.inertia) @ S
    expected = np.trace(Sigma) * np.eye(3) - Sigma
    np.testing.assert_allclose(two.inertia, expected, atol=1e-12 * np.abs(expected).max())


def test_pose_of_a_mesh(tmp_path):
    """c_B = p + R c_G and I_B = R I_G R^T, the scale acting first, in the mesh's own axes."""
    rng = np.random.default_rng(5)
    vertices, faces = lumpy(rng, levels=1)
    file = solids.write_obj(tmp_path / "a.obj", vertices, faces)
    R, p, scale = solids.random_rotation(rng), rng.standard_normal(3), (1.0, 2.0, -3.0)
    V, c, I = solids.tetrahedra_sums(vertices * scale, faces[:, ::-1])
    found = mass_properties(mesh(file, scale=scale, R_BG=R, p_BG=p), mass=7.0)
    np.testing.assert_allclose(found.com, R @ c + p, atol=1e-12)
    np.testing.assert_allclose(found.inertia, 7.0 / V * R @ I @ R.T, atol=1e-11)


def test_a_box_cut_in_two_meshes_is_the_box(tmp_path):
    """Sum of parts: halves of different size, as files, against the closed form of the whole."""
    low = solids.write_obj(tmp_path / "low.obj", *solids.box((0.2, 0.4, 0.2), (0.0, 0.0, 0.1)))
    high = solids.write_obj(tmp_path / "high.obj", *solids.box((0.2, 0.4, 0.4), (0.0, 0.0, 0.4)))
    whole = Geometry("box", (0.2, 0.4, 0.6), p_BG=(0.0, 0.0, 0.3))
    assert_same(body_mass_properties([mesh(low), mesh(high)], density=1.0), mass_properties(whole, density=1.0))


def test_cavities_are_empty(tmp_path):
    """A closed piece inside out within another one is a hole: the box minus the inner box."""
    outer, faces = solids.box((1.0, 1.0, 1.0))
    inner, _ = solids.box((0.5, 0.5, 0.5))
    both = np.concatenate([outer, inner]), np.concatenate([faces, faces[:, ::-1] + 8])
    found = mass_properties(mesh(solids.write_obj(tmp_path / "a.obj", *both)), density=1.0)
    assert found.volume == pytest.approx(1.0 - 0.125, rel=1e-14)
    np.testing.assert_allclose(found.inertia, (1.0 - 0.5**5) / 6.0 * np.eye(3), atol=1e-14)


def test_edges_shared_by_four_triangles_are_fine(tmp_path):
    """Two boxes that touch along an edge bound a solid, though no manifold."""
    a, faces = solids.box((1.0, 1.0, 1.0))
    both = np.concatenate([a, a + (1.0, 1.0, 0.0)]), np.concatenate([faces, faces + 8])
    found = mass_properties(mesh(solids.write_obj(tmp_path / "a.obj", *both)), density=1.0)
    assert found.volume == pytest.approx(2.0, rel=1e-14)


def test_the_hull_of_a_dent_is_the_box(tmp_path):
    """A box with one corner pushed in: the hull of its corners and of the missing one is the box again."""
    vertices, faces = solids.box((1.0, 1.0, 1.0))
    extra = np.concatenate([vertices, [(0.25, 0.25, 0.25)]])
    faces[faces == 7] = 8
    file = solids.write_obj(tmp_path / "a.obj", extra, faces)
    dented = mass_properties(mesh(file), density=1.0)
    assert dented.volume < 0.9
    hull = mass_properties(mesh(file), density=1.0, convex_hull=True)
    assert dented.volume < hull.volume <= 1.0
    whole = mass_properties(mesh(solids.write_obj(tmp_path / "b.obj", *solids.box())), density=1.0, convex_hull=True)
    assert_same(whole, mass_properties(Geometry("box", (1.0, 1.0, 1.0)), density=1.0))


# Formats ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix, precision", [("stl", 1e-6), ("obj", 1e-13), ("ply", 1e-13), ("glb", 1e-6)])
def test_formats_agree(tmp_path, suffix, precision):
    """The same solid from every format; STL and GLB hold single precision."""
    vertices, faces = lumpy(np.random.default_rng(6))
    file = getattr(solids, f"write_{suffix}")(tmp_path / f"a.{suffix.upper()}", vertices, faces)
    V, c, I = solids.tetrahedra_sums(vertices, faces)
    found = mass_properties(mesh(file), density=1.0)
    assert found.volume == pytest.approx(V, rel=precision)
    np.testing.assert_allclose(found.com, c, atol=precision)
    np.testing.assert_allclose(found.inertia, I, atol=precision * np.abs(I).max())


def test_corners_apart_by_single_precision_are_one(tmp_path):
    """Exporters round the same corner differently in different triangles; the solid is closed all the same."""
    rng = np.random.default_rng(7)
    vertices, faces = solids.icosphere(1.0, 1)
    loose = vertices[faces].reshape(-1, 3)
    loose = loose * (1.0 + 5e-8 * rng.uniform(-1.0, 1.0, loose.shape))
    file = solids.write_obj(tmp_path / "a.obj", loose, np.arange(len(loose)).reshape(-1, 3))
    V, _, _ = solids.tetrahedra_sums(vertices, faces)
    assert mass_properties(mesh(file), density=1.0).volume == pytest.approx(V, rel=1e-6)
    assert len(read_mesh(mesh(file)).vertices) == len(vertices)


def test_dae_with_a_unit(tmp_path):
    """COLLADA files say how many meters their unit has; a part that the reader cannot take is not left out."""
    pytest.importorskip("collada")
    import trimesh

    vertices, faces = solids.box((1.0, 2.0, 3.0))
    content = trimesh.Trimesh(vertices, faces, process=False).export(file_type="dae")
    (tmp_path / "a.dae").write_bytes(content)
    assert mass_properties(mesh(tmp_path / "a.dae"), density=1.0).volume == pytest.approx(6.0, rel=1e-6)
    (tmp_path / "b.dae").write_bytes(content.replace(b"<up_axis>", b'<unit name="mm" meter="0.001"/><up_axis>'))
    assert mass_properties(mesh(tmp_path / "b.dae"), density=1.0).volume == pytest.approx(6e-9, rel=1e-6)
    (tmp_path / "c.dae").write_bytes(content.replace(b"<library_geometries>", b"<library_of_none>").replace(
        b"</library_geometries>", b"</library_of_none>"))  # fmt: skip
    refused(tmp_path / "c.dae", "format", "cannot be read as DAE")


def test_dae_without_its_reader_names_the_package(tmp_path):
    """DAE needs pycollada; the error says so, and how else to go on."""
    try:
        import collada  # noqa: F401
    except ImportError:
        pass
    else:
        pytest.skip("pycollada is installed")
    (tmp_path / "a.dae").write_text("<COLLADA/>")
    with pytest.raises(MissingDependencyError, match="pip install pycollada"):
        mass_properties(mesh(tmp_path / "a.dae"), density=1.0)


def test_trimesh_is_named_if_it_is_missing(tmp_path, monkeypatch):
    """Meshes need the extra; primitives do not."""
    import sys

    monkeypatch.setitem(sys.modules, "trimesh", None)
    file = solids.write_obj(tmp_path / "a.obj", *solids.box())
    with pytest.raises(MissingDependencyError, match="pip install trimesh"):
        mass_properties(mesh(file), density=1.0)
    assert mass_properties(Geometry("sphere", (1.0,)), density=1.0).mass > 0.0


def test_an_obj_opens_no_other_file(tmp_path):
    """Names of material libraries in a mesh file lead nowhere, be they missing or out of the folder."""
    file = tmp_path / "a.obj"
    solids.write_obj(file, *solids.box())
    file.write_text("mtllib ../../../../etc/passwd\nusemtl skin\n" + file.read_text())
    assert mass_properties(mesh(file), density=1.0).volume == pytest.approx(1.0, rel=1e-14)


def test_units_and_document_types_of_dae():
    """<unit meter> is read; a document type, which could hold entities, is refused before they are expanded."""

    def fail(check, message):
        return GeometryError(message, check=check)

    text = '<COLLADA xmlns="x"><asset><unit name="mm" meter="0.001"/></asset></COLLADA>'
    assert meshes._unit_of_dae(text.encode(), fail) == 0.001
    assert meshes._unit_of_dae(b"<COLLADA/>", fail) == 1.0
    with pytest.raises(GeometryError, match="document type"):
        meshes._unit_of_dae(b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><COLLADA>&b;</COLLADA>', fail)
    with pytest.raises(GeometryError, match="expected a positive number"):
        meshes._unit_of_dae(text.replace("0.001", "-1").encode(), fail)


# What is refused --------------------------------------------------------------------------------------------------


def refused(file, check, text, **values):
    """The shape is refused by one check, with the file and the repair in the message."""
    with pytest.raises(GeometryError, match=text) as caught:
        mass_properties(mesh(file, **values), density=1.0)
    assert caught.value.check == check
    assert caught.value.file == str(file)
    assert str(file) in str(caught.value)


def test_an_open_mesh_encloses_nothing(tmp_path):
    """A box without lid: its four edges border on one triangle each (the diagonal went with the lid)."""
    vertices, faces = solids.box()
    file = solids.write_obj(tmp_path / "a.obj", vertices, faces[2:])
    refused(file, "closed", r"is open: 4 of 17 edges .* convex_hull=True")


def test_a_hull_mends_an_open_mesh_and_says_so(tmp_path):
    """convex_hull="if_needed" is for whole robots: sound meshes as they are, others by their hull, with a note."""
    vertices, faces = solids.box()
    whole = mass_properties(Geometry("box", (1.0, 1.0, 1.0)), density=1.0)
    opened = mesh(solids.write_obj(tmp_path / "a.obj", vertices, faces[2:]))
    found = mass_properties(opened, density=1.0, convex_hull="if_needed")
    assert_same(found, whole)
    assert found.notes == (f"convex hull of mesh {opened.mesh} taken (closed)",)
    sound = mesh(solids.write_obj(tmp_path / "b.obj", vertices, faces))
    assert mass_properties(sound, density=1.0, convex_hull="if_needed").notes == ()


def test_an_inverted_mesh_is_refused(tmp_path):
    """All triangles look inwards: the volume is negative, which is an error and not turned around in silence."""
    vertices, faces = solids.box()
    file = solids.write_obj(tmp_path / "a.obj", vertices, faces[:, ::-1])
    refused(file, "positive", r"its volume is -1 m\^3: it is inside out")
    refused(file, "positive", "inside out", scale=(-1.0, 1.0, 1.0))


def test_inconsistent_winding_is_refused(tmp_path):
    """One triangle turned around: its three edges are passed twice in the same direction."""
    vertices, faces = solids.box()
    faces[4] = faces[4][::-1]
    refused(solids.write_obj(tmp_path / "a.obj", vertices, faces), "winding", "at 3 of 18 edges")


def test_a_piece_inside_out_beside_others_is_refused(tmp_path):
    """A small inverted box beside a big one would take its mass away; the total volume is still positive."""
    a, faces = solids.box((1.0, 1.0, 1.0))
    b, _ = solids.box((0.5, 0.5, 0.5), (2.0, 0.0, 0.0))
    both = np.concatenate([a, b]), np.concatenate([faces, faces[:, ::-1] + 8])
    refused(solids.write_obj(tmp_path / "a.obj", *both), "winding", r"one of its 2 pieces \(12 triangles")


def test_a_flat_mesh_is_refused(tmp_path):
    """A sheet with two sides is closed and has no volume; nor has its hull."""
    vertices, faces = solids.box((1.0, 1.0, 1.0))
    vertices[:, 2] = 0.25
    file = solids.write_obj(tmp_path / "a.obj", vertices, faces)
    refused(file, "degenerate", "it is flat")
    with pytest.raises(GeometryError, match="all corners lie in one plane"):
        mass_properties(mesh(file), density=1.0, convex_hull=True)


def test_a_thin_plate_is_a_solid(tmp_path):
    """A tenth of a millimeter of a meter is a plate, not a flaw."""
    found = mass_properties(mesh(solids.write_stl(tmp_path / "a.stl", *solids.box((1.0, 1.0, 1e-4)))), density=1.0)
    assert found.volume == pytest.approx(1e-4, rel=1e-6)


def test_pieces_in_each_other_exceed_the_box(tmp_path):
    """The same box twice has twice its volume, which no solid within the bounding box can have."""
    vertices, faces = solids.box()
    second = vertices * 0.999
    both = np.concatenate([vertices, second]), np.concatenate([faces, faces + 8])
    refused(solids.write_obj(tmp_path / "a.obj", *both), "bounding box", "count twice")


def test_corners_that_are_not_finite_are_refused(tmp_path):
    """NaN in a file is named, with the number of bad corners."""
    vertices, faces = solids.box()
    vertices[3, 1], vertices[5, 0] = math.nan, math.inf
    refused(solids.write_stl(tmp_path / "a.stl", vertices, faces), "finite", "corners are not finite")


@pytest.mark.parametrize("scale", [(1.0, 0.0, 1.0), (1.0, math.nan, 1.0), (1.0, 1.0)])
def test_scales_that_flatten_are_refused(tmp_path, scale):
    """A scale of zero leaves no volume."""
    file = solids.write_obj(tmp_path / "a.obj", *solids.box())
    refused(file, "scale", "expected three finite numbers, none of them 0", scale=scale)


def test_files_that_are_not_there_are_named(tmp_path):
    """Missing files, folders, and names that loading could not resolve, with what to do."""
    refused(tmp_path / "none.stl", "file", "no such file")
    (tmp_path / "folder.stl").mkdir()
    refused(tmp_path / "folder.stl", "file", "this is a folder, no ordinary file")
    refused("package://arm/a.stl", "file", "package_dirs=")


@pytest.mark.parametrize("name", ["a.stl", "a.obj", "a.ply", "a.glb"])
@pytest.mark.parametrize("content", [b"", b"\0" * 90, b"solid nothing\nendsolid\n", b"\xff\xfe garbage \x00 v 1 2"])
def test_broken_files_are_refused(tmp_path, name, content):
    """Whatever a loader raises becomes one error that names the file."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GeometryError, match=name):
        mass_properties(mesh(tmp_path / name), density=1.0)


def test_triangles_without_corners_are_refused(tmp_path):
    """A face that names a corner beyond the last one."""
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n")
    with pytest.raises(GeometryError, match=r"a\.obj"):
        mass_properties(mesh(tmp_path / "a.obj"), density=1.0)


def test_unknown_formats_are_named(tmp_path):
    """Archives and drawings are not meshes; the message lists what is."""
    (tmp_path / "a.zip").touch()
    refused(tmp_path / "a.zip", "format", r"'\.zip' is not read; known: \.stl")


def test_unknown_choice_of_hull():
    """A misspelled choice is named."""
    with pytest.raises(KeyError, match="if_needed"):
        mass_properties(Geometry("sphere", (1.0,)), density=1.0, convex_hull="ifneeded")
