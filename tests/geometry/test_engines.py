"""Mass properties against MuJoCo's compiler, and of real robots' meshes against the inertias in their files."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.geometry import body_mass_properties, inertia_of_shapes, mass_properties
from kinetree.model.parts import Geometry
from kinetree.model.validation import central_inertia
from tests.engines.robots import robot_path
from tests.geometry import solids

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("trimesh")

# Our lengths, and MuJoCo's half lengths.
SIZES = {
    "box": ((0.3, 0.5, 0.7), (0.15, 0.25, 0.35)),
    "sphere": ((0.4,), (0.4,)),
    "cylinder": ((0.2, 0.9), (0.2, 0.45)),
    "capsule": ((0.2, 0.5), (0.2, 0.25)),
    "ellipsoid": ((0.2, 0.3, 0.5), (0.2, 0.3, 0.5)),
}


def compiled(geoms, assets=""):
    """Mass, center of mass and inertia about it in body axes, as MuJoCo computes them for a body."""
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><asset>{assets}</asset><worldbody><body><freejoint/>{geoms}</body></worldbody></mujoco>"
    )
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[1])
    R = R.reshape(3, 3)
    return model.body_mass[1], model.body_ipos[1], R @ np.diag(model.body_inertia[1]) @ R.T


def pose(rng):
    """A pose for us and for MuJoCo, which takes the first two axes of the shape."""
    R, p = solids.random_rotation(rng), rng.uniform(-1.0, 1.0, 3)
    axes = " ".join(repr(x) for x in R[:, :2].T.reshape(-1).tolist())
    return R, p, f'xyaxes="{axes}" pos="{" ".join(map(repr, p.tolist()))}"'


def assert_agrees(found, mass, com, inertia, rtol):
    """The same to rtol of each quantity's size."""
    assert found.mass == pytest.approx(mass, rel=rtol)
    np.testing.assert_allclose(found.com, com, atol=rtol)
    np.testing.assert_allclose(found.inertia, inertia, atol=rtol * np.abs(inertia).max())


@pytest.mark.parametrize("kind", SIZES)
def test_primitives_agree_with_mujoco(kind):
    """Closed forms of both, posed at random; MuJoCo's quaternions of inertia round to 1e-12."""
    ours, theirs = SIZES[kind]
    R, p, where = pose(np.random.default_rng(8))
    size = " ".join(map(repr, theirs))
    expected = compiled(f'<geom type="{kind}" size="{size}" density="700" {where}/>')
    assert_agrees(mass_properties(Geometry(kind, ours, R, p), density=700.0), *expected, rtol=1e-9)


def test_bodies_of_several_shapes_agree_with_mujoco():
    """Both sum shapes, and count overlaps twice."""
    rng = np.random.default_rng(9)
    shapes, geoms = [], ""
    for kind, (ours, theirs) in SIZES.items():
        R, p, where = pose(rng)
        shapes.append(Geometry(kind, ours, R, p))
        geoms += f'<geom type="{kind}" size="{" ".join(map(repr, theirs))}" density="1300" {where}/>'
    assert_agrees(body_mass_properties(shapes, density=1300.0), *compiled(geoms), rtol=1e-9)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.5, 2.0, 1.5), (-1.0, 1.0, 2.0)])
def test_meshes_agree_with_mujoco(tmp_path, scale):
    """A dented mesh, exact inertia, scaled and mirrored; MuJoCo holds corners in single precision: 1e-6."""
    rng = np.random.default_rng(10)
    vertices, faces = solids.icosphere(0.4, 2)
    vertices = vertices * rng.uniform(0.6, 1.4, (len(vertices), 1))
    file = solids.write_obj(tmp_path / "a.obj", vertices, faces)
    R, p, where = pose(rng)
    size = " ".join(map(repr, scale))
    expected = compiled(
        f'<geom type="mesh" mesh="a" density="900" {where}/>',
        f'<mesh name="a" file="{file}" scale="{size}" inertia="exact"/>',
    )
    found = mass_properties(Geometry("mesh", mesh=file, scale=scale, R_BG=R, p_BG=p), density=900.0)
    assert_agrees(found, *expected, rtol=3e-6)


def test_hulls_agree_with_mujoco(tmp_path):
    """The convex hull of the same mesh, which is MuJoCo's inertia="convex"."""
    rng = np.random.default_rng(11)
    vertices, faces = solids.icosphere(0.4, 2)
    vertices = vertices * rng.uniform(0.6, 1.4, (len(vertices), 1))
    file = solids.write_obj(tmp_path / "a.obj", vertices, faces)
    expected = compiled(
        '<geom type="mesh" mesh="a" density="900"/>', f'<mesh name="a" file="{file}" inertia="convex"/>'
    )
    found = mass_properties(Geometry("mesh", mesh=file), density=900.0, convex_hull=True)
    assert_agrees(found, *expected, rtol=3e-6)


def both(robot, role="collision"):
    """(from the file, from the shapes at the mass of the file) of every link that has both."""
    model = kt.load(robot_path(robot), merge_fixed=False, floating_base=True)
    for i in model.outward():
        if model.I[i].m > 0.0:
            found = inertia_of_shapes(model.geometry[i], mass=model.I[i].m, role=role)
            if found is not None:
                yield model.body_names[i], model.I[i], found


def test_links_of_steel():
    """The links of double_pendulum were computed from their meshes, of steel; the file has 3 to 4 digits."""
    links = [(I, found) for name, I, found in both("double_pendulum") if name.startswith("link")]
    assert len(links) == 2
    for I, found in links:
        assert found.density == pytest.approx(7990.0, rel=1e-3)
        np.testing.assert_allclose(found.com, list(I.com), atol=1e-4)
        np.testing.assert_allclose(found.inertia, central_inertia(I), atol=4e-3 * np.abs(found.inertia).max())


@pytest.mark.parametrize("robot", ["solo12", "talos_reduced"])
def test_meshes_of_real_robots_are_plausible(robot):
    """A link is no block of one density, but near it: the median link's moments agree within a third, its center
    within a fifth of the edge of a cube of its volume (talos has motors at one end of its links)."""
    moments, centers = [], []
    for _, I, found in both(robot):
        given = np.linalg.eigvalsh(central_inertia(I))
        if given[0] > 0.0:  # some small parts are points in the file
            moments.append(np.linalg.eigvalsh(found.inertia) / given)
        centers.append(np.linalg.norm(found.com - list(I.com)) / found.volume ** (1.0 / 3.0))
    assert len(centers) >= 15
    assert np.all(np.abs(np.log(np.median(moments, axis=0))) < np.log(4.0 / 3.0))
    assert np.median(centers) < 0.2
