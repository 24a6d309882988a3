"""The contact problem of models: single bodies, trees, closed mechanisms and maximal coordinates give one solution."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.contact import ContactProblem
from kinetree.errors import ArgumentError, ModelError, UnsupportedError

DT = 1e-3


def on_plane(model, points, height, friction=0.5, normal=None, **more):
    """Balls of 5 cm on bodies above a plane; ``points`` are (body, place)."""
    R = np.eye(3) if normal is None else normal
    floor = Shape("world", "plane", p=tuple(height * R[:, 2]), R=tuple(map(tuple, R)), name="floor")
    pairs = [
        ContactPair(f"{body} {n}", floor, Shape(body, "sphere", (0.05,), p=p, name=f"{body} {n}"), friction, **more)
        for n, (body, p) in enumerate(points)
    ]
    return model.replace(contacts=pairs)


@pytest.fixture(scope="module")
def box():
    """A body with four feet on the floor."""
    feet = [("body", (x, y, -0.2)) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]
    return on_plane(kt.models.free_body(mass=3.0), feet, -0.25)


@pytest.mark.seeds(5)
def test_a_single_body_has_the_textbook_matrix(seed, box):
    """G = J M^-1 J^T and b = J (v + dt M^-1 (tau - c)) by dense matrices (eq. 11.11-11.22), impulses by any method."""
    rng = np.random.default_rng(seed)
    q = box.neutral()
    v, tau = 0.1 * rng.normal(size=6), rng.normal(size=6)
    problem = ContactProblem.of(box, q, v, tau, DT)
    J, M = kt.collision.contact_jacobian(box, q), kt.crba(box, q)
    assert problem.matrix == pytest.approx(J @ np.linalg.solve(M, J.T), abs=1e-12)
    free = v + DT * np.linalg.solve(M, tau - straight_bias(box, q, v))
    assert problem.free_velocity == pytest.approx(J @ free, abs=1e-12)
    assert problem.labels == box.contact_labels and problem.count == 4
    found = problem.solve()
    assert found.status == "solved"
    after = free + np.linalg.solve(M, J.T @ found.impulses.ravel())
    assert problem.joint_velocities(found) == pytest.approx(after, abs=1e-12)


def straight_bias(model, q, v):
    """Bias forces of a free body whose velocity is constant in fixed axes: its acceleration in its own is -w x v."""
    omega, linear = v[:3], v[3:]
    return kt.rnea(model, q, v, np.concatenate([np.zeros(3), -np.cross(omega, linear)]))


def test_a_box_at_rest_carries_its_weight(box):
    """The sum of the normal impulses is m g dt, whatever the method; the impulses of four feet are not unique."""
    problem = ContactProblem.of(box, box.neutral(), np.zeros(6), np.zeros(6), DT)
    for method in ("exact", "admm", "lemke", "anitescu", "block_gauss_seidel"):
        found = problem.solve(method)
        assert found.status == "solved"
        assert found.impulses[:, 2].sum() == pytest.approx(3.0 * 9.81 * DT)
        assert np.abs(problem.joint_velocities(found)).max() < 1e-9


@pytest.fixture(scope="module")
def arm():
    """A double pendulum that reaches 0.1 mm below an oblique floor, and its position."""
    tree = kt.models.double_pendulum()
    q = np.array([0.4, 0.5])
    normal = tilted()
    tips = [("upper", (0.0, 0.0, -0.9)), ("lower", (0.1, 0.0, -1.0))]
    height = min(kt.collision.contact_gaps(on_plane(tree, tips, 0.0, normal=normal), q))
    return on_plane(tree, tips, height + 1e-4, 0.4, normal), q


def tilted():
    """Axes of a plane that the pendulum's plane cuts obliquely."""
    n = np.array([0.5, 0.3, 1.0]) / np.linalg.norm([0.5, 0.3, 1.0])
    t = np.cross([0.0, 1.0, 0.0], n) / np.linalg.norm(np.cross([0.0, 1.0, 0.0], n))
    return np.column_stack([t, np.cross(n, t), n])


def test_maximal_coordinates_have_the_impulses_of_the_tree(arm):
    """Bodies that move freely, joints as eliminated rows: the same matrix, free velocities, impulses and twists."""
    tree, q = arm
    system, v = kt.maximal(tree), np.zeros(2)
    assert_same(ContactProblem.of(tree, q, v, np.zeros(2), DT), system, *system.state(q, v), 1e-6)


def test_parts_that_are_not_in_the_bodies_are_refused(arm):
    """Armatures and limits act along joints; the bodies' model alone would leave them out."""
    tree, q = arm
    system = kt.maximal(tree.replace(armature=0.1))
    with pytest.raises(UnsupportedError, match=r"in maximal coordinates has armatures, which act along"):
        ContactProblem.of(system, *system.state(q, np.zeros(2)), np.zeros(system.model.nv), DT)


def assert_same(problem, system, q, v, tolerance):
    """The problem in maximal coordinates is the same, and so is the solution.

    At rest: rows of joints hold in the axes at the start of a step, which bodies in motion leave at first order in dt.
    The rows of joints between bodies of small inertia have a condition of 1e9; times eps, that is the tolerance.
    """
    maximal = ContactProblem.of(system, q, v, np.zeros(system.model.nv), DT)
    assert maximal.labels == problem.labels
    assert maximal.matrix == pytest.approx(problem.matrix, abs=tolerance)
    assert maximal.free_velocity == pytest.approx(problem.free_velocity, abs=tolerance)
    one, other = problem.solve(), maximal.solve()
    assert one.status == other.status == "solved" and one.impulses[:, 2].max() > 1e-3
    assert other.impulses == pytest.approx(one.impulses, abs=tolerance)


def test_a_closed_mechanism_has_the_problem_of_its_bodies():
    """A four-bar as a tree with one loop joint, and as free bodies with four: by other rows the same solution."""
    bar = kt.models.four_bar()
    q, _ = bar.keyframe("initial")
    g = np.array([*bar.gravity])
    n = -g / np.linalg.norm(g)
    t = np.cross(n, [0.0, 0.0, 1.0]) if abs(n[2]) < 0.9 else np.cross(n, [0.0, 1.0, 0.0])
    t /= np.linalg.norm(t)
    normal = np.column_stack([t, np.cross(n, t), n])
    point = [("coupler", (0.0, 0.0, 0.0))]
    gap = kt.collision.contact_gaps(on_plane(bar, point, 0.0, normal=normal), q)[0]
    model = on_plane(bar, point, gap + 1e-4, 0.3, normal)
    system, v = kt.maximal(model), np.zeros(3)
    assert_same(ContactProblem.of(model, q, v, np.zeros(3), DT), system, *system.state(q, v), 1e-6)


def test_limits_and_friction_of_joints_are_rows():
    """Dry friction that holds one joint, a limit that stops the other: their impulses obey their bounds."""
    q, tree = [0.4, 0.5], on_plane(kt.models.double_pendulum(), [("lower", (0.1, 0.0, -1.0))], -9.0)
    model = tree.replace(dry_friction={"shoulder": 1e4}, lower={"elbow": 0.5}, upper={"elbow": 2.0})
    model = model.with_constraints(kt.constraints.StickingFriction(), kt.constraints.HardLimits())
    problem = ContactProblem.of(model, q, np.array([0.0, -1.0]), np.zeros(2), DT)
    found = problem.solve()
    assert found.status == "solved" and found.residuals.natural_map < 1e-9
    after = problem.joint_velocities(found)
    assert after == pytest.approx([0.0, 0.0], abs=1e-10)
    friction, lower, upper = found.row_impulses
    assert 0.1 < abs(friction) < 10.0 and lower > 0.1 and upper == 0.0


def test_the_impulses_of_time_stepping_are_checked(box):
    """The compiled step's impulses, evaluated in the problem of the same step, have the residual of its sweeps."""
    rng = np.random.default_rng(2)
    q, v, tau = box.neutral(), 0.3 * rng.normal(size=6), np.zeros(6)
    *_, impulses = kt.integrators.contact_step(box, q, v, np.zeros(box.n_impulses), tau, DT)
    problem = ContactProblem.of(box, q, v, tau, DT)
    assert problem.evaluate(impulses).residuals.natural_map < 1e-2
    assert problem.evaluate(problem.solve().impulses).residuals.natural_map < 1e-12


def test_soft_contact_is_in_the_problem(box):
    """Stiffness and relaxation time give compliance; the resting impulse is still the weight's after the gap closes."""
    soft = box.replace(contacts=[p.__class__(**fields(p), stiffness=1e4, relaxation_time=0.01) for p in box.contacts])
    problem = ContactProblem.of(soft, soft.neutral(), np.zeros(6), np.zeros(6), DT)
    assert problem.compliance == pytest.approx(np.full(4, 1.0 / (1e4 * DT * (DT + 0.01))))


def fields(pair) -> dict:
    """Name, shapes and friction."""
    return dict(name=pair.name, first=pair.first, second=pair.second, friction=pair.friction)


def test_models_without_contacts_are_refused():
    """The message has the model's name and the call that adds contacts."""
    model = kt.models.pendulum()
    with pytest.raises(ModelError, match="'pendulum' has no contact pairs and .* model.with_contacts"):
        ContactProblem.of(model, [0.0], [0.0], [0.0], DT)
    with pytest.raises(ArgumentError, match="dt is -1, expected a positive time"):
        ContactProblem.of(model, [0.0], [0.0], [0.0], -1)
