"""Compiled contact by the law of Hunt and Crossley: closed forms, and the same law as a force of another integrator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.collision import Ground
from kinetree.errors import ArgumentError, UnsupportedError
from tests.time_stepping.bodies import BOX, at, body

HERTZ = {"law": "hunt_crossley", "stiffness": 1e5, "dissipation": 0.3}


def bounce(dt: float, friction: float, speed: float, mass: float = 0.5):
    """Deepest penetration and speed afterwards of a ball that hits a floor without gravity."""
    ball = kt.models.free_shape("sphere", 0.1, mass=mass).replace(gravity=(0.0, 0.0, 0.0))
    model = ball.with_contacts(ground=Ground(friction=friction, **HERTZ))
    q, v = kt.rollout(model, at(ball, (0.0, 0.0, 0.1)), [0, 0, 0, 0, 0, -speed], None, dt, steps=round(0.03 / dt))
    return 0.1 - q[:, 2].min(), v[-1, 5]


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_bounces_tend_to_the_closed_form(friction):
    """``m dv/dt = K x^n (1 + d v)`` has the integral ``x_max^(n+1) K/(n+1) = G(v)``, ``G(v) = G(-v')``.

    ``G(v) = m (d v - log(1 + d v)) / d^2`` (Hunt and Crossley 1975). Order 1 in the step: each half has half the error.
    """
    d, K, n, m, v = HERTZ["dissipation"], HERTZ["stiffness"], 1.5, 0.5, 2.0

    def G(v):
        return m * (d * v - np.log1p(d * v)) / d**2

    expected = (G(v) * (n + 1.0) / K) ** (1.0 / (n + 1.0)), brentq(lambda w: G(-w) - G(v), 0.0, v)
    errors = np.array([np.subtract(bounce(dt, friction, v), expected) for dt in (2e-4, 1e-4, 5e-5)])
    np.testing.assert_allclose(errors[1:] / errors[:-1], 0.5, atol=0.05)
    assert (np.abs(2.0 * errors[2] - errors[1]) < 1e-3 * np.array(expected)).all()  # extrapolated


@pytest.fixture(scope="module")
def crate():
    """A box on a floor that yields."""
    return body("box").with_contacts(ground=Ground(friction=0.4, **HERTZ))


def test_motions_tend_to_those_of_soft_contact(crate):
    """A tilted box lands on a corner, and slides: `SoftContact` by an adaptive method, its tangential springs stiff.

    Errors of the compiled steps are of order 1, those of the springs below them.
    """
    law = {**HERTZ, "damping": HERTZ["dissipation"], "tangential_stiffness": 2e5, "tangential_damping": 100.0}
    del law["dissipation"]
    soft = crate.replace(contacts=()).with_forces(*kt.forces.SoftContact.of_contacts(crate, **law))
    q0, v0 = at(crate, (0.0, 0.0, 0.14), (1.0, 0.1, 0.05, 0.2)), np.array([0.0, 0.0, 0.0, 1.5, 0.5, 0.0])
    run = kt.simulate(soft, q0, v0, duration=0.2, integrator=kt.integrators.Adaptive("dop853", rtol=1e-9, atol=1e-11))
    errors = []
    for dt in (4e-4, 2e-4, 1e-4):
        end = kt.rollout(crate, q0, v0, None, dt, steps=round(0.2 / dt)).q[-1]
        errors.append(np.abs(kt.difference(crate, end, run.q[-1])).max())
    np.testing.assert_allclose(np.divide(errors[1:], errors[:-1]), 0.5, atol=0.06)
    assert errors[2] < 5e-3


def test_rest_is_that_of_the_law(crate):
    """Four corners carry the weight: ``4 K x^1.5 = m g``; nothing creeps on a slope that friction holds."""
    down = 9.81 * np.array([np.sin(0.2), 0.0, -np.cos(0.2)])
    slope = crate.replace(gravity=tuple(down))
    q, v = kt.rollout(slope, at(slope, (0.0, 0.0, 0.1)), None, None, 1e-3, steps=6000)
    assert np.abs(v[-1]).max() < 1e-12
    forces = HERTZ["stiffness"] * np.maximum(-kt.collision.contact_gaps(slope, q[-1]), 0.0) ** 1.5
    assert forces.sum() == pytest.approx(2.0 * 9.81 * np.cos(0.2), rel=1e-9)


def test_residuals_are_those_of_the_law(crate):
    """Normal impulses are ``dt K depth^1.5 (1 - d u)`` of the end of the step, but for the residual."""
    rng, dt = np.random.default_rng(0), 1e-3
    q0 = np.array([at(crate, (0.0, 0.0, 0.22), turn) for turn in rng.standard_normal((6, 4))])
    v0 = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, -2.0], (6, 1))
    found = kt.rollout(crate, q0, v0, None, dt, steps=200, record=kt.Record(residuals=True))
    q, impulses = found.q[:, :-1], found.impulses[:, 1:].reshape(6, 200, 4, 3)
    gaps, J = kt.collision.contact_gaps(crate, q), kt.collision.contact_jacobian(crate, q).reshape(6, 200, 4, 3, 6)
    v, R = found.v[:, 1:].copy(), [Rotation.from_quat(x[..., [4, 5, 6, 3]].reshape(-1, 4)) for x in (q, found.q[:, 1:])]
    v[..., 3:] = (R[0].inv() * R[1]).apply(v[..., 3:].reshape(-1, 3)).reshape(6, 200, 3)  # in axes of the step's start
    u = np.einsum("knciv,knv->knci", J, v)
    K, d, n = HERTZ["stiffness"], HERTZ["dissipation"], 1.5
    depth, push = np.maximum(-(gaps + dt * u[..., 2]), 0.0), 1.0 - d * u[..., 2]
    force = dt * K * depth**n * push
    slope = dt * K * (n * depth ** (n - 1.0) * dt * push + d * depth**n)
    u[..., 2] = (impulses[..., 2] - force) / (slope + 1e-30)
    B = np.einsum("knciv,vw,kncjw->kncij", J, np.linalg.inv(kt.crba(crate, q0[0])), J)
    mass = 3.0 / np.trace(B, axis1=-2, axis2=-1)
    expected = kt.contact.natural_map(impulses, u, 0.4, mass).max(axis=-1)
    np.testing.assert_allclose(found.residuals[:, 1:], expected, rtol=1e-4, atol=1e-10)
    assert expected.max() < 1e-2 and np.median(expected) < 1e-9 and impulses[..., 2].max() > 0.1


def test_derivatives_of_a_step(crate):
    """By central differences, in contact that slides."""
    q, v = at(crate, (0.0, 0.0, BOX[2] / 2 - 2e-3), (1.0, 1e-4, 2e-4, 0.3)), np.array([0.0, 0.0, 0.2, 0.5, 0.3, 0.0])
    tau, impulses, dt, h = np.array([0.0, 0.0, 0.0, 1.0, 0.5, -2.0]), np.zeros(crate.n_impulses), 1e-3, 1e-6
    for _ in range(20):
        *_, impulses = kt.integrators.contact_step(crate, q, v, impulses, tau, dt)
    found = kt.differentiate(crate, "contact_step", "jacobian", wrt=["v"])(q, v, impulses, tau, dt).dv_next_dv
    ahead, behind = (v + s * h * np.eye(6) for s in (1.0, -1.0))
    ends = [kt.integrators.contact_step(crate, q, x, impulses, tau, dt)[1] for x in (ahead, behind)]
    expected = ((ends[0] - ends[1]) / (2.0 * h)).T
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_what_does_not_belong_to_the_law_is_refused(crate):
    """Rigid contact, restitution, relaxation times; dissipation of another law; and problems over cones."""
    for more, text in (
        ({"stiffness": np.inf}, "stiffness is inf, expected a finite stiffness for law='hunt_crossley'"),
        ({"restitution": 0.5}, "restitution is 0.5, expected 0: law='hunt_crossley' loses energy by its dissipation"),
        ({"relaxation_time": 0.1}, "relaxation_time is 0.1, expected 0"),
        ({"law": "hertz"}, "no law named 'hertz' in Ground. Known: linear, hunt_crossley"),
        ({"exponent": 0.5}, "exponent is 0.5, expected a finite number not below 1"),
        ({"law": "linear"}, "dissipation is 0.3, expected 0, or law='hunt_crossley'"),
        ({"law": "linear", "dissipation": 0.0, "exponent": 2.0}, "exponent is 2.0, expected the default, 1.5, or law="),
    ):
        with pytest.raises((ArgumentError, kt.errors.UnknownNameError), match=text):
            Ground(**HERTZ | more)
    q, v = at(crate, (0.0, 0.0, 0.1)), np.zeros(6)
    with pytest.raises(UnsupportedError, match="has the law 'hunt_crossley'"):
        kt.contact.ContactProblem.of(crate, q, v, v, 1e-3)
