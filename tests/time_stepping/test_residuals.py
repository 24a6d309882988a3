"""Residuals of compiled steps: against those of `ContactProblem`, which are computed from dense matrices in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import Ground
from kinetree.contact import ContactProblem
from tests.time_stepping.bodies import at, body

DT = 2e-3


@pytest.fixture(scope="module")
def falling():
    """A box on the ground, and states of eight that fall onto it in random attitudes, after each of 100 steps."""
    box, rng = body("box").with_contacts(ground=Ground(friction=0.6)), np.random.default_rng(3)
    turns = rng.standard_normal((8, 4))
    q0 = np.array([at(box, (0.0, 0.0, 0.25), turn) for turn in turns])
    v0 = np.concatenate([rng.standard_normal((8, 3)), np.tile([0.5, 0.0, -2.0], (8, 1))], axis=1)
    return box, kt.rollout(box, q0, v0, None, DT, steps=100, record=kt.Record(residuals=True))


def test_residuals_of_rollouts_are_those_of_the_contact_problem(falling):
    """The natural map of `ContactProblem.evaluate` of the impulses, for each state and step: in flight, on impact."""
    box, found = falling
    for k in range(8):
        for n in (*range(0, 100, 30), int(found.residuals[k, 1:].argmax())):
            problem = ContactProblem.of(box, found.q[k, n], found.v[k, n], np.zeros(6), DT)
            expected = problem.evaluate(found.impulses[k, n + 1]).residuals.natural_map
            assert found.residuals[k, n + 1] == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert found.residuals.max() > 1e-6  # not all is rounding


def test_motions_are_those_without_residuals(falling):
    """The same bits; the worst residual is the largest until then, also where few states are recorded."""
    box, found = falling
    q0, v0 = found.q[:, 0], found.v[:, 0]
    plain = kt.rollout(box, q0, v0, None, DT, steps=100, record=kt.Record(impulses=True))
    for name in plain._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
    assert not found.residuals[:, 0].any()
    np.testing.assert_array_equal(found.worst_residuals, np.maximum.accumulate(found.residuals, axis=1))
    few = kt.rollout(box, q0, v0, None, DT, steps=100, record=kt.Record(every=50, residuals=True))
    np.testing.assert_array_equal(few.worst_residuals, found.worst_residuals[:, ::50])
    with kt.interpreted():
        slow = kt.rollout(box, q0[0], v0[0], None, DT, steps=3, record=kt.Record(residuals=True))
    np.testing.assert_allclose(slow.residuals, found.residuals[0, :4], atol=1e-12)


def test_residuals_of_a_step_are_of_each_contact_and_row():
    """Of a double pendulum with two balls on an oblique wall and dry friction in its joints, far from converged.

    Eight sweeps from a first guess that is far off.
    """
    R = ((0.0, 0.6, 0.8), (1.0, 0.0, 0.0), (0.0, 0.8, -0.6))
    wall = kt.collision.Shape("world", "plane", R=R, p=tuple(-0.65 * np.array(R)[:, 2]), name="wall")
    tree = kt.models.double_pendulum().replace(dry_friction=[3e3, 2e3])
    tree, q = tree.with_constraints(kt.constraints.StickingFriction()), np.array([0.4, 0.5])

    def touching(radii):
        places = {"upper": (0.0, 0.1, -0.8), "lower": (0.0, 0.1, -1.0)}
        sizes = zip(places.items(), radii, strict=True)
        balls = [kt.collision.Shape(name, "sphere", (r,), p=p, name=name) for (name, p), r in sizes]
        return tree.replace(contacts=[kt.collision.ContactPair(ball.name, wall, ball, 0.9) for ball in balls])

    model = touching(0.1 + kt.collision.contact_gaps(touching([0.1, 0.1]), q) + 1e-4)
    v, tau, guess = np.array([2.0, -1.0]), np.array([3.0, 1.0]), np.array([5.0, -3.0, 9.0, -5.0, 2.0, 7.0, 1.0, -1.0])
    *_, impulses, residuals = kt.integrators.contact_step(model, q, v, guess, tau, DT, residuals=True)
    expected = ContactProblem.of(model, q, v, tau, DT).terms().misfits(impulses)[3]
    np.testing.assert_allclose(residuals, expected, rtol=1e-6, atol=1e-14)
    assert residuals.shape == (model.n_residuals,) == (4,) and (residuals > 1e-12).any()


def test_only_time_stepping_has_residuals():
    """Another method is refused by name."""
    with pytest.raises(kt.errors.UnsupportedError, match="'rk4' has no impulses, which .* residuals=True"):
        record = kt.Record(residuals=True)
        kt.rollout(kt.models.pendulum(), [0.1], None, None, DT, steps=2, integrator="rk4", record=record)
