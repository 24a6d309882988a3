"""Overlays of runs: forces, paths and points beside independent computations."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer.overlays import ACTIVE, REST, Arrows, Ellipsoids, Frames, Lines, Points, Surfaces, overlays_of
from kinetree.viewer.scene import Scene


def by_name(run) -> dict:
    return {x.name: x for x in overlays_of(run)}


@pytest.fixture(scope="module")
def dropped():
    """A box that lies on the ground and is pushed."""
    model = kt.models.free_shape("box")
    push = {model.body_names[1]: [0.0, 0.0, 0.0, 0.5, 0.0, 0.0]}
    return kt.simulate(model, duration=0.05, ground=True, inputs=kt.Inputs(f_ext=push))


def test_contact_forces_carry_the_weight(dropped):
    """The arrows over their scale sum up to weight and friction, at the points of contact."""
    arrows = by_name(dropped)["contact forces"]
    assert isinstance(arrows, Arrows) and arrows.unit == "N"
    total = arrows.vectors[-1].sum(axis=0) / arrows.scale
    assert total == pytest.approx([-0.5, 0.0, 9.81], abs=1e-6)
    assert np.abs(arrows.points[-1, :, 2]).max() < 1e-6


def test_wrenches_are_drawn_on_their_lines_of_action(dropped):
    """A force through the world's origin: force and arm give back the moment, here none."""
    arrows = by_name(dropped)["external forces"]
    force, point = arrows.vectors[-1, 0] / arrows.scale, arrows.points[-1, 0]
    assert force == pytest.approx([0.5, 0.0, 0.0])
    assert np.cross(point, force) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert "external moments" not in by_name(dropped)


@pytest.fixture(scope="module")
def pulled():
    """A pendulum between two muscles, one of them over a cylinder and excited, and a spring."""
    via, world, bob = kt.tendons.ViaPoint, "world", "bob"
    around = kt.tendons.WrapShape("cylinder", world, 0.05)
    spring = kt.forces.PointSpring("spring", world, bob, 5.0, start_at=(0.3, 0.0, 0.0), end_at=(0.0, 0.0, -1.0))
    paths = (
        (via(world, (0.1, 0.0, 0.05)), via(bob, (0.0, 0.0, -0.2))),
        (via(world, (0, -0.1, 0.2)), around, via(bob, (0, -0.1, -0.3))),
    )
    flexor, extensor = (kt.forces.Muscle(f"muscle {k}", path, 10.0, 0.1, 0.2) for k, path in enumerate(paths))
    model = kt.models.pendulum().with_forces(flexor, extensor, spring)
    return kt.simulate(model, [0.4], duration=0.02, dt=5e-3, inputs=kt.Inputs(control={"muscle 1.excitation": 1.0}))


def test_muscles_have_their_lengths_and_the_colors_of_their_activation(pulled):
    """Curves are as long as the compiled paths, without the chords of arcs; red is full activation."""
    found, lengths = by_name(pulled), kt.muscles.lengths(pulled.model, pulled.q)
    for k, muscle in enumerate(pulled.model.muscles):
        paths = found[muscle.name]
        for n in range(len(pulled)):
            length = np.linalg.norm(np.diff(paths.points[n], axis=0), axis=1).sum()
            assert lengths[n, k] * (1.0 - 1e-3) < length <= lengths[n, k] * (1.0 + 1e-9)
        share = (paths.colors - REST) @ (ACTIVE - REST) / ((ACTIVE - REST) @ (ACTIVE - REST))
        assert share == pytest.approx(pulled.x[:, k])
    assert found["muscle 1"].colors[-1, 0] > found["muscle 0"].colors[-1, 0] + 0.1


def test_centers_of_mass_frames_and_axes_of_a_robot():
    """Against the compiled center of mass, poses of frames, and turns about the axes."""
    model = kt.load("arm7")
    run = kt.simulate(model, duration=0.02, dt=1e-2, seed=3)
    found = by_name(run)
    assert found["center of mass of all"].points[:, 0] == pytest.approx(kt.center_of_mass(model, run.q))
    frames = found["frames"]
    assert isinstance(frames, Frames)
    assert frames.poses[..., :3] == pytest.approx(kt.kinematics.frame_poses(model, run.q)[1][:, 1:])
    axes, J = found["joint axes"], kt.jacobian(model, run.q, frame="tool", reference="local_world_aligned")
    for k in range(7):
        axis = axes.vectors[:, k] / np.linalg.norm(axes.vectors[:, k], axis=-1, keepdims=True)
        assert axis == pytest.approx(J[:, :3, k])
        middle = axes.points[:, k] + 0.5 * axes.vectors[:, k]
        arm = kt.pose(model, run.q, frame="tool")[1] - middle
        assert np.cross(axis, arm) == pytest.approx(J[:, 3:, k])


def test_ellipsoids_have_the_inertia_of_the_bodies():
    """Of a homogeneous ellipsoid with these semi-axes, at the same orientation."""
    model = kt.models.free_body()
    run = kt.simulate(model, duration=0.01, dt=1e-2, seed=1)
    x = by_name(run)["inertia ellipsoids"]
    assert isinstance(x, Ellipsoids)
    mass = float(model.I[1].m)
    a, b, c = x.semiaxes[0]
    moments = mass / 5.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    R = kt.conventions.rotations.rotation_matrix(x.poses[-1, 0, 3:])
    R_WB = kt.forward_kinematics(model, run.q[-1])[0][1]
    expected = R_WB @ np.array(model.I[1].I.matrix.rows, float) @ R_WB.T
    assert R @ np.diag(moments) @ R.T == pytest.approx(expected, abs=1e-9)


def test_ends_of_loops_meet_where_loops_are_closed():
    """Both ends of each loop joint of a closed four-bar are one point."""
    model = kt.models.four_bar()
    run = kt.simulate(model, kt.assemble(model), duration=0.02, dt=1e-2)
    loops = by_name(run)["loops"]
    assert isinstance(loops, Points)
    assert loops.points[:, ::2] == pytest.approx(loops.points[:, 1::2], abs=1e-6)


def test_springs_between_points_are_lines(pulled):
    """From point to point of both frames."""
    line = by_name(pulled)["spring"]
    R, p = kt.pose(pulled.model, pulled.q, frame="bob")
    assert line.points[:, 0] == pytest.approx(np.tile([0.3, 0.0, 0.0], (len(pulled), 1)))
    assert line.points[:, 1] == pytest.approx(p + R @ [0.0, 0.0, -1.0])


def test_deformables_are_surfaces_and_lines():
    """A cloth and a strand: nodes of the run, faces and springs within them."""
    D = kt.deformables
    cloth = D.cloth((0, 0, 1), (0.2, 0, 0), (0, 0.2, 0), (2, 2), mass=0.1, stretch_stiffness=50.0, name="cloth")
    strand = D.strand((0, 0, 1), (0.3, 0, 1), 3, mass=0.1, axial_stiffness=100.0, name="strand")
    run = D.Coupled(None, [cloth, strand]).simulate(duration=0.01, dt=5e-3)
    found = by_name(run)
    assert isinstance(found["cloth"], Surfaces) and isinstance(found["strand"], Lines)
    assert np.array_equal(found["cloth"].vertices, run.nodes("cloth"))
    assert found["cloth"].faces.max() < found["cloth"].vertices.shape[1]
    assert found["strand"].pairs.tolist() == [[0, 1], [1, 2], [2, 3]]


def test_overlays_of_one_position_are_those_of_a_run():
    """The same points, without forces."""
    from kinetree.viewer.overlays import overlays_at

    model = kt.models.four_bar()
    run = kt.simulate(model, kt.assemble(model), duration=0.01, dt=1e-2)
    found, expected = {x.name: x for x in overlays_at(Scene.of(model), run.q[-1])}, by_name(run)
    assert found["loops"].points[0] == pytest.approx(expected["loops"].points[-1])
    assert found.keys() == expected.keys()
