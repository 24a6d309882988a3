"""Printed equations of Sueda's notes on maximal coordinates, by hand: K of point forces and springs, steps, slopes.

Inventory S1.07 to S1.14. Twists are [angular; linear] in body coordinates, ``K = -d(force)/d(position)``.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.maximal_coordinates import Body, System
from kinetree.spatial.dense import skew

A, B = np.array([0.3, -0.1, 0.2]), np.array([-0.2, 0.4, 0.1])


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


def bodies(*forces):
    """Two free bodies "a" and "b" under these forces, a state, and poses."""
    pair = [Body(name, 2.0, inertia=(0.3, 0.4, 0.5)) for name in "ab"]
    model = System(pair, gravity=(0, 0, 0), forces=forces).model
    rng = np.random.default_rng(4)
    q, v = model.random_q(rng), rng.standard_normal(12)
    return model, q, v, [kt.pose(model, q, frame=name) for name in "ab"]


def material_jacobian(x):
    """Gamma(x) = [[x]^T, 1]: velocity of a point in body coordinates (eq. 1.12 without R)."""
    return np.hstack([skew(x).T, np.eye(3)])


def slopes(model, q, v, method="exact"):
    return (getattr(kt.dynamics, f"{name}_matrix")(model, q, v, method=method) for name in ("stiffness", "damping"))


def test_stiffness_of_a_point_force():
    """Eq. 1.31-1.33: ``f = Gamma^T R^T s``; a rotation w of the body turns the force in it by ``[R^T s] w``."""
    force = np.array([2.0, -1.0, 0.5])
    model, q, v, ((R, _), _) = bodies(kt.forces.PointForce("push", "a", force, A))
    f = kt.dynamics.passive_joint_forces(model, q, v)
    np.testing.assert_allclose(f[:6], material_jacobian(A).T @ R.T @ force, rtol=0, atol=1e-13)
    K, D = slopes(model, q, v)
    expected = np.zeros((12, 12))
    expected[:6, :3] = -material_jacobian(A).T @ skew(R.T @ force)
    np.testing.assert_allclose(K, expected, rtol=0, atol=1e-13)
    assert not D.any()


def spring_rows(poses):
    """Rows of the relative velocity of both points, in world axes: ``R_b Gamma_b Phi_b - R_a Gamma_a Phi_a``."""
    (R_a, _), (R_b, _) = poses
    return np.hstack([-R_a @ material_jacobian(A), R_b @ material_jacobian(B)])


def spring_stiffness(poses, force, along):
    """K of a force on point b, ``-force`` on point a, whose derivative by the distance is ``-along`` (3, 3)."""
    rows, turned = spring_rows(poses), np.zeros((12, 12))
    for k, (R, point, sign) in enumerate(((poses[0][0], A, -1.0), (poses[1][0], B, 1.0))):
        block = slice(6 * k, 6 * k + 6), slice(6 * k, 6 * k + 3)
        turned[block] = -sign * material_jacobian(point).T @ skew(R.T @ force)
    return rows.T @ along @ rows + turned


def test_stiffness_of_a_spring_of_no_length():
    """Eq. 1.35-1.37: wrenches on both bodies, the energy ``k |x_b - x_a|^2 / 2`` and all 12 x 12 entries of K."""
    k = 30.0
    model, q, v, poses = bodies(kt.forces.PointSpring("spring", "a", "b", k, start_at=A, end_at=B))
    (R_a, p_a), (R_b, p_b) = poses
    stretch = p_b + R_b @ B - p_a - R_a @ A
    rows = spring_rows(poses)
    assert kt.dynamics.elastic_energy(model, q) == pytest.approx(0.5 * k * stretch @ stretch, rel=1e-13)
    f = kt.dynamics.passive_joint_forces(model, q, v)
    np.testing.assert_allclose(f, -k * rows.T @ stretch, rtol=0, atol=1e-12)
    K, _ = slopes(model, q, v)
    np.testing.assert_allclose(K, spring_stiffness(poses, -k * stretch, k * np.eye(3)), rtol=0, atol=1e-11)
    K, _ = slopes(model, q, v, "gauss_newton")
    np.testing.assert_allclose(K, k * rows.T @ rows, rtol=0, atol=1e-11)


def test_stiffness_and_damping_of_a_spring_with_rest_length():
    """Eq. 1.65-1.68: tension ``k (L - L0) + d dL/dt`` along the line; its K has the turning of the line, too."""
    k, d, rest = 30.0, 2.0, 0.7
    spring = kt.forces.PointSpring("spring", "a", "b", k, rest, d, A, B)
    model, q, v, poses = bodies(spring)
    (R_a, p_a), (R_b, p_b) = poses
    stretch = p_b + R_b @ B - p_a - R_a @ A
    L = np.linalg.norm(stretch)
    n, rows = stretch / L, spring_rows(poses)
    rate = n @ rows @ v
    tension = k * (L - rest) + d * rate
    f = kt.dynamics.passive_joint_forces(model, q, v)
    np.testing.assert_allclose(f, -tension * rows.T @ n, rtol=0, atol=1e-12)
    across = (np.eye(3) - np.outer(n, n)) / L
    K, _ = slopes(model, q, 0 * v)  # at rest, where the rate has no slope over positions
    along = k * np.outer(n, n) + k * (L - rest) * across
    np.testing.assert_allclose(K, spring_stiffness(poses, -k * (L - rest) * n, along), rtol=0, atol=1e-11)
    _, D = slopes(model, q, v)
    np.testing.assert_allclose(D, d * rows.T @ np.outer(n, n) @ rows, rtol=0, atol=1e-12)


def test_slopes_of_the_curves_of_the_notes():
    """Slopes that eq. 1.40 to 1.46 ask for: the passive curve is the line of slope 1 / 0.35 beyond 1.7, f_V'(0) = 5."""
    curves = kt.muscles.curves("cubic")
    passive, velocity = curves.passive_force_length, curves.force_velocity
    assert passive.slope(1.7) == pytest.approx(2.857142857142857, rel=1e-10)
    assert passive(1.8) == pytest.approx(1.0 + 0.1 * 2.857142857142857, rel=1e-10)
    assert velocity.slope(0.0) == pytest.approx(5.0, rel=1e-12) and velocity.slope(-1.0) == pytest.approx(0.0, abs=1e-9)


def test_free_flight_in_maximal_coordinates():
    """Eq. 1.28-1.29: the discrete parabola of semi-implicit Euler, turned by exponentials about a principal axis."""
    g, h, n, w = 9.81, 0.01, 100, 3.0
    system = System([Body("stone", 2.0, inertia=(0.3, 0.4, 0.5))], gravity=(0, 0, -g))
    q, v = system.start, np.array([0, 0, w, 0, 0, 0.0])
    for _ in range(n):
        q, v, *_ = system.step(q, v, dt=h)
    R, p = kt.pose(system.model, q, frame="stone")
    angle = w * n * h
    np.testing.assert_allclose(R[:2, 0], [np.cos(angle), np.sin(angle)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(p, [0, 0, -0.5 * g * h * h * n * (n + 1)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(v, [0, 0, w, 0, 0, -g * h * n], rtol=0, atol=1e-12)


def test_a_linearly_implicit_step_of_damping():
    """Eq. 1.30 with D = d 1: ``(M + h D) Phi+ = M Phi``, in closed form of a body that spins about an axis."""
    d, h = 2.0, 0.1
    damper = kt.forces.BodyDamping("air", "stone", angular=d, linear=d)
    system = System([Body("stone", 2.0, inertia=(0.3, 0.4, 0.5))], gravity=(0, 0, 0), forces=[damper])
    v = np.array([0, 0, 3.0, 0, 0, 1.0])
    step = system.step(system.start, v, dt=h, slopes="exact")
    np.testing.assert_allclose(step.v, [0, 0, 3.0 * 0.5 / (0.5 + h * d), 0, 0, 2.0 / (2.0 + h * d)], rtol=0, atol=1e-13)
