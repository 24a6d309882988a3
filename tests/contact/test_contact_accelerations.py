"""Contact forces of a state: closed forms, linear complementarity, Gauss's principle, and states without forces."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.contact.accelerations import AccelerationProblem
from kinetree.contact.kinematics import kinematics_function
from kinetree.errors import ArgumentError, ContactError
from tests.contact.test_event_driven import BALL, BOX, G, flat_on, on, slope


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


def test_states_of_a_bouncing_ball():
    """1 -> 2a -> 2b -> 1, and 3 at rest (book, figure 11.4)."""
    states = kt.contact.contact_states([0.3, 1e-12, 0.0, 0.2, 0.0], [-1.0, -2.0, 1.6, 1.0, 1e-12])
    assert states == ("apart", "colliding", "separating", "apart", "touching")
    with pytest.raises(ArgumentError, match="rates"):
        kt.contact.contact_states([0.0], [0.0, 1.0])


@pytest.mark.seeds(4)
def test_forces_of_a_box_solve_the_equations_of_motion(seed):
    """M a + c = tau + J^T forces; no corner sinks; forces are in their cones and oppose slip."""
    rng = np.random.default_rng(seed)
    floor, R = slope(0.2, rng.uniform(0.0, 6.0))
    mu = 0.4
    box, q = on(BOX, floor, friction=mu), flat_on(R, 0.05)
    v = np.array([0, 0, rng.normal(), *rng.normal(size=2), 0.0]) * (seed % 2)
    tau = rng.standard_normal(6) * [0.1, 0.1, 0.1, 3.0, 3.0, 3.0]
    found = kt.contact.contact_accelerations(box, q, v, tau)
    J = kt.collision.contact_jacobian(box, q)
    assert np.allclose(kt.rnea(box, q, v, found.a), tau + J.T @ found.forces.ravel(), atol=1e-9)
    size = np.hypot(*found.forces[:, :2].T)
    assert (size <= mu * found.forces[:, 2] + 1e-9).all() and found.forces[:, 2].min() >= 0.0
    assert found.accelerations[:, 2].min() > -1e-9 and np.abs(found.accelerations * found.forces)[:, 2].max() < 1e-7
    if seed % 2:
        slip = (J @ v).reshape(-1, 3)[:, :2]
        slip /= np.linalg.norm(slip, axis=1)[:, None]
        assert np.allclose(found.forces[:, :2], -mu * found.forces[:, 2:] * slip, atol=1e-9)


def test_the_turning_of_normals_is_in_the_acceleration():
    """A ball that passes the top of a sphere: m g - m v^2 / R, and none beyond v^2 = g R (book, eq. 11.8)."""
    hill = Shape("world", "sphere", (1.0,), name="hill")
    ball = BALL.replace(contacts=[ContactPair("hill", hill, BALL.contacts[0].second, friction=0.0)])
    for speed in (0.0, 2.0, math.sqrt(1.1 * G) + 1e-6, 5.0):
        v = np.array([0, 0, 0, speed, 0, 0])
        found = kt.contact.contact_accelerations(ball, [0, 0, 1.1, 1, 0, 0, 0], v, np.zeros(6))
        assert found.forces[0, 2] == pytest.approx(max(G - speed**2 / 1.1, 0.0), abs=1e-12)
        assert found.a[5] == pytest.approx(max(-(speed**2) / 1.1, -G), abs=1e-12)


@pytest.mark.seeds(3)
def test_frictionless_forces_by_complementarity_and_by_gauss(seed):
    """The LCP of eq. 11.42, the quadratic program of eq. 11.43 and Gauss's principle (eq. 11.44): one acceleration."""
    rng = np.random.default_rng(seed)
    box, q = on(BOX, friction=0.0), np.array([0, 0, 0.05, 1, 0, 0, 0])
    v, tau = np.array([0, 0, 1.0, 0.5, 0.3, 0]), np.array([0.2, 0.3, 0.1, 1, 1, 8.0]) * rng.standard_normal(6)
    found = kt.contact.contact_accelerations(box, q, v, tau)
    T = kt.collision.contact_jacobian(box, q)[2::3]
    normal = found.problem.M[2::3, 2::3], found.problem.d[2::3]
    lcp = kt.contact.solve_lcp(*normal)
    assert np.allclose(T.T @ lcp.x, T.T @ found.forces[:, 2], atol=1e-8)
    bias = kinematics_function(box)(q, v)[1][2::3]
    H, free = kt.crba(box, q), kt.aba(box, q, v, tau)
    L = np.linalg.cholesky(H)
    gauss = minimize(
        lambda y: 0.5 * y @ y,
        np.zeros(6),
        jac=lambda y: y,
        method="SLSQP",
        constraints=LinearConstraint(T @ np.linalg.inv(L.T), lb=-(T @ free + bias)),
        options={"ftol": 1e-15, "maxiter": 300},
    )
    assert np.allclose(free + np.linalg.solve(L.T, gauss.x), found.a, atol=2e-6)


def test_contact_problems_give_the_same_forces():
    """The exact solver of `ContactProblem` on M and d, for a box that starts to slip and for one that sticks."""
    for angle in (0.2, 0.6):
        floor, R = slope(angle, 0.3)
        box = on(BOX, floor, friction=0.4)
        found = kt.contact.contact_accelerations(box, flat_on(R, 0.05), np.zeros(6), np.zeros(6))
        other = kt.contact.ContactProblem(found.problem.M, found.problem.d.reshape(-1, 3), 0.4).solve()
        J = kt.collision.contact_jacobian(box, flat_on(R, 0.05))
        assert np.allclose(J.T @ other.impulses.ravel(), J.T @ found.forces.ravel(), atol=1e-6)
        assert (np.abs(found.a).max() < 1e-9) == (angle == 0.2)


def test_bodies_between_closing_walls_have_no_forces():
    """The disc in a narrowing slot (book, example 11.1): no solution exactly if d1 + d2 < 0."""
    walls = [
        Shape("world", "plane", p=(x, 0, 0), R=((0, 0, -x / 0.1), (0, 1, 0), (x / 0.1, 0, 0)), name=f"wall{x}")
        for x in (0.1, -0.1)
    ]
    ball = BALL.contacts[0].second
    slot = BALL.replace(contacts=[ContactPair(f"c{n}", wall, ball, friction=0.0) for n, wall in enumerate(walls)])
    q, v = [0, 0, 5.0, 1, 0, 0, 0], np.zeros(6)
    found = kt.contact.contact_accelerations(slot, q, v, [0, 0, 0, 3.0, 0, 0])
    assert np.ptp(found.forces[:, 2]) == pytest.approx(3.0, abs=1e-12)
    M, d = found.problem.M, np.zeros(6)
    for more, solvable in ((1e-3, True), (0.0, True), (-1e-3, False)):
        d[2], d[5] = 1.0 + more, -1.0
        problem = AccelerationProblem(M, d, found.problem.laws)
        assert problem.solve()[2] is solvable


def test_a_colliding_contact_needs_an_impact():
    """The contact is named."""
    with pytest.raises(ContactError, match=r"'floor/body' is colliding at 0.5 m/s"):
        kt.contact.contact_accelerations(BALL, [0, 0, 0.1, 1, 0, 0, 0], [0, 0, 0, 0, 0, -0.5], np.zeros(6))
