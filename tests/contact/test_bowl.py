"""Bodies in a bowl, a hollow sphere: gaps, rolling and its period, event-driven and by time stepping."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ellipk

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.errors import UnsupportedError

G, R, r = 9.81, 1.0, 0.1
BOWL = Shape("world", "bowl", (R,), p=(0.0, 0.0, R), name="bowl")


def free(shape, inertia=0.4 * r * r, **material):
    b = kt.ModelBuilder("body")
    b.add_body("body", joint=kt.joints.Free(), mass=1.0, inertia=inertia * np.eye(3))
    return b.build().replace(contacts=[ContactPair("bowl/body", BOWL, shape, **material)])


BALL = free(Shape("body", "sphere", (r,), name="ball"), friction=0.8)


def at(angle, depth=0.0):
    """The ball at an angle from the lowest point of the bowl, on its wall."""
    d = R - r + depth
    return np.array([d * math.sin(angle), 0.0, R - d * math.cos(angle), 1.0, 0.0, 0.0, 0.0])


def period(angle):
    """4 K(sin(angle / 2)) / omega, with omega^2 = 5 g / 7 (R - r): a pendulum."""
    return 4.0 * ellipk(math.sin(0.5 * angle) ** 2) / math.sqrt(5.0 * G / (7.0 * (R - r)))


@pytest.mark.parametrize(("kind", "size"), [("sphere", (r,)), ("capsule", (0.05, 0.3)), ("box", (0.2, 0.3, 0.1))])
def test_gaps_are_distances_from_the_wall(kind, size):
    """Least gap by sampled points of the surface; rates of gaps by differences; normals point to the center."""
    model = free(Shape("body", kind, size, p=(0.03, -0.02, 0.05), name="shape"))
    rng = np.random.default_rng(8)
    q = np.concatenate(([0.2, -0.1, 0.6], rng.normal(size=4)))
    q[3:] /= np.linalg.norm(q[3:])
    points, normals, gaps = kt.collision.contact_points(model, q)
    rotation, p = kt.pose(model, q, frame="body")
    unit = rng.normal(size=(200000, 3))
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    if kind == "box":
        surface = unit / np.abs(unit).max(axis=1)[:, None] * np.array(size) / 2.0
    else:
        shift = np.zeros(3) if kind == "sphere" else [0.0, 0.0, 0.5 * size[1]]
        surface = unit * size[0] + np.sign(unit[:, 2:]) * shift
    world = p + (surface + [0.03, -0.02, 0.05]) @ rotation.T
    nearest = (R - np.linalg.norm(world - np.array(BOWL.p), axis=1)).min()
    assert gaps.min() == pytest.approx(nearest, abs=2e-3) and gaps.min() <= nearest + 1e-12
    assert np.einsum("nk,nk->n", normals, np.array(BOWL.p) - points) == pytest.approx(
        np.linalg.norm(np.array(BOWL.p) - points, axis=1), abs=1e-12
    )
    v, h = rng.normal(size=6), 1e-6
    ahead, back = (kt.collision.contact_gaps(model, kt.integrate(model, q, s * h * v)) for s in (1.0, -1.0))
    J = kt.collision.contact_jacobian(model, q)
    assert J[2::3] @ v == pytest.approx((ahead - back) / (2.0 * h), abs=1e-8)


def test_a_ball_in_a_bowl_rolls_with_the_period_of_its_closed_form():
    """T = 2 pi sqrt(7 (R - r) / 5 g) times the elliptic factor of the amplitude; the energy stays; no event."""
    small, T = 0.01, 2.0 * math.pi * math.sqrt(7.0 * (R - r) / (5.0 * G))
    assert period(small) == pytest.approx(T, rel=1e-5)
    for angle in (small, 0.5):
        run = kt.simulate(BALL, at(angle), duration=period(angle), dt=period(angle) / 8.0, integrator="event_driven")
        assert run.q[-1, :3] == pytest.approx(at(angle)[:3], abs=2e-8)
        assert run.q[4, 0] == pytest.approx(-at(angle)[0], abs=2e-8)
        assert np.ptp(run.energy) < 1e-9 and not run.events
        turned = (R - r) / r * 2.0 * angle  # from side to side: w r is the speed of the center
        assert abs(run.q[4, 3]) == pytest.approx(abs(math.cos(0.5 * turned)), abs=1e-7)


def test_a_ball_without_friction_slides_as_a_pendulum():
    """T = 4 K / sqrt(g / (R - r)): no rotation."""
    smooth = BALL.replace(contacts=[ContactPair("bowl/body", BOWL, BALL.contacts[0].second, friction=0.0)])
    T = 4.0 * ellipk(math.sin(0.25) ** 2) / math.sqrt(G / (R - r))
    run = kt.simulate(smooth, at(0.5), duration=T, dt=T / 8.0, integrator="event_driven")
    assert run.q[-1, :3] == pytest.approx(at(0.5)[:3], abs=2e-8) and run.q[:, 3] == pytest.approx(1.0, abs=1e-12)


def test_a_ball_circles_in_a_bowl():
    """Without friction a circle at 60 degrees: omega^2 (R - r) cos = g, and the wall carries m g / cos."""
    smooth = BALL.replace(contacts=[ContactPair("bowl/body", BOWL, BALL.contacts[0].second, friction=0.0)])
    d = R - r
    omega = math.sqrt(G / (d * math.cos(math.pi / 3.0)))
    v = [0, 0, 0, 0, omega * d * math.sin(math.pi / 3.0), 0]
    run = kt.simulate(smooth, at(math.pi / 3.0), v, duration=2.0, dt=0.25, integrator="event_driven")
    assert run.q[:, 2] == pytest.approx(R - d * 0.5, abs=1e-8)
    assert np.linalg.norm(run.contacts.world_forces[0, 0]) == pytest.approx(2.0 * G, rel=1e-8)


def test_time_stepping_tends_to_the_period_and_keeps_the_energy():
    """Error and change of energy after 0.7 periods, where the ball is fast, fall at least as dt."""
    T, errors, changes = 0.7 * period(0.5), [], []
    exact = kt.simulate(BALL, at(0.5), duration=T, dt=T / 4.0, integrator="event_driven").q[-1, :3]
    for steps in (500, 1000, 2000):
        run = kt.simulate(BALL, at(0.5), duration=T, dt=T / steps, integrator="time_stepping")
        errors.append(np.abs(run.q[-1, :3] - exact).max())
        changes.append(abs(run.energy[-1] - run.energy[0]))
        assert kt.collision.contact_gaps(BALL, run.q).min() > -1e-4
    assert errors[0] < 2e-3 and errors[0] / errors[2] > 3.7
    assert changes[0] < 5e-3 and changes[0] / changes[2] > 3.7


def test_rollouts_skip_no_wall():
    """With friction and many candidates, the test of nearness sees walls that a body comes to within a step."""
    box = free(Shape("body", "box", (0.2, 0.3, 0.1), name="box"), inertia=0.01, friction=0.5)
    q = [0.3, 0.0, 1.2, 1, 0, 0, 0]
    run = kt.simulate(box, q, [3.0, 2.0, 1.0, 2.0, 1.0, 0.0], duration=2.0, dt=2e-3)
    assert kt.collision.contact_gaps(box, run.q).min() > -2e-3
    found = kt.rollout(box, q, [3.0, 2.0, 1.0, 2.0, 1.0, 0.0], None, 2e-3, steps=1000)
    assert np.isfinite(found.q).all() and kt.collision.contact_gaps(box, found.q[-1]).min() > -1e-4


def test_what_has_no_law_in_a_bowl_is_named():
    with pytest.raises(UnsupportedError, match="no law for a bowl and a cylinder"):
        ContactPair("c", BOWL, Shape("body", "cylinder", (0.1, 0.2), name="c"))
    with pytest.raises(UnsupportedError, match="'bowl'.*hollow.*contact_points"):
        kt.collision.distances(BALL, at(0.0))


def test_a_bowl_is_drawn_from_inside():
    """Triangles below the center, whose fronts are toward it."""
    from kinetree.viewer.scene import Scene

    (part,) = [x for x in Scene.of(BALL).parts if x.name == "bowl"]
    (mesh,) = part.mesh
    a, b, c = np.moveaxis(np.asarray(mesh.vertices)[np.asarray(mesh.faces)], 1, 0)
    assert (np.einsum("nk,nk->n", np.cross(b - a, c - a), -(a + b + c)) > 0.0).all()
    assert mesh.vertices[:, 2].max() < 1e-12
