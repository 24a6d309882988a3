"""Springs and constraints of lengths around shapes: slopes of second order, motions, constraints, energy."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.force_elements import gauss_newton_slopes
from kinetree.algorithms.implicit_forces import exact_slopes
from kinetree.errors import ArgumentError, ModelError
from kinetree.forces import TendonForce
from kinetree.tendons import JointTerm, ViaPoint
from tests.tendons.test_wrapping import CASES, arm, detour


def wrapped_states(model, path, n: int):
    """Positions at which the path touches its shape, with velocities."""
    from kinetree.constraints import Kinematics

    rng = np.random.default_rng(8)
    q = [model.random_q(rng) for _ in range(20 * n)]
    found = [x for x in q if detour(path, Kinematics(model, x.tolist())) > 1e-3][:n]
    assert len(found) == n
    return [(x, rng.normal(size=model.nv)) for x in found]


@pytest.mark.parametrize(("kind", "side"), CASES)
def test_forces_and_slopes_of_springs_around_shapes(kind, side):
    """Forces against the energy, K and D against the forces by central differences, where the path touches."""
    model, path = arm(kind, side)
    model = model.with_forces(TendonForce("cord", path, 30.0, 0.4, damping=2.0))
    h, f = 1e-5, kt.dynamics.passive_joint_forces
    with kt.interpreted():
        for q, v in wrapped_states(model, path, 2):
            ends = [(kt.integrate(model, q, h * e), kt.integrate(model, q, -h * e)) for e in np.eye(model.nv)]
            energy = [(kt.dynamics.elastic_energy(model, a) - kt.dynamics.elastic_energy(model, b)) for a, b in ends]
            assert f(model, q, 0.0 * v) == pytest.approx(-np.array(energy) / (2 * h), abs=1e-6)
            K, D = (np.array(x, float) for x in exact_slopes(model, q.tolist(), v.tolist()))
            expected = -np.stack([f(model, a, v) - f(model, b, v) for a, b in ends], axis=-1) / (2 * h)
            np.testing.assert_allclose(K, expected, atol=1e-6 * max(1.0, np.abs(K).max()))
            rates = [f(model, q, v + h * e) - f(model, q, v - h * e) for e in np.eye(model.nv)]
            np.testing.assert_allclose(D, -np.stack(rates, axis=-1) / (2 * h), atol=1e-7 * np.abs(D).max())
            D_gn = np.array(gauss_newton_slopes(model, q.tolist(), v.tolist())[1], float)
            np.testing.assert_allclose(D_gn, D, atol=1e-12 * np.abs(D).max())


def test_a_bead_on_a_cord_over_a_drum():
    """A constraint of length around a drum: the bead moves along an involute at constant speed, and winds itself up."""
    b = kt.ModelBuilder("bead", gravity=(0, 0, 0))
    b.add_body("bead", joint=kt.joints.Translational(), mass=2.0, inertia=np.eye(3))
    b.add_frame("drum", "world")
    b.add_frame("side", "world", ((-1.0, 0.0, 0.0), (0, 0, 0)))
    shape = kt.tendons.WrapShape("cylinder", "drum", 0.2, "side")
    path = ViaPoint("world", (0.2, -1.0, 0.0)), shape, ViaPoint("bead")
    start = np.array([1.0, 1.0, 0.0])
    free = kt.constraints.TendonLength(path)
    L = free.residual(kt.constraints.Kinematics(b.build(), start.tolist()))[0]
    model = b.build().with_constraints(kt.constraints.TendonLength(path, reference=float(L)))
    with kt.interpreted():
        v = kt.closed_loops.project_velocity(model, start, [1.0, -1.0, 0.0])
    run = kt.simulate(model, start, v / np.linalg.norm(v), duration=0.8, dt=2e-3)
    speed = np.linalg.norm(run.v, axis=1)
    assert np.abs(speed - 1.0).max() < 1e-6
    with kt.interpreted():
        assert np.abs([kt.closed_loops.error(model, q)[0] for q in run.q[::40]]).max() < 1e-9
    assert np.linalg.norm(run.q[-1] - start) > 0.6


def test_a_rope_of_joint_terms():
    """Slack range over a sum of joint positions, also below zero, and dry friction against its motion."""
    terms = JointTerm("shoulder", 1.0), JointTerm("elbow", -2.0)
    model = kt.models.double_pendulum().with_forces(TendonForce("sum", terms, 5.0, (-0.5, 0.2), dry_friction=0.3))
    with kt.interpreted():
        for q, excess in (([0.1, 0.1], 0.0), ([0.5, 0.1], 0.1), ([0.0, 0.5], -0.5)):
            tau = kt.dynamics.passive_joint_forces(model, q, [0.0, 0.0])
            assert tau == pytest.approx(-5.0 * excess * np.array([1.0, -2.0]), abs=1e-15)
        tau = kt.dynamics.passive_joint_forces(model, [0.1, 0.1], [0.0, 1.0])
        assert tau == pytest.approx(0.3 * np.array([1.0, -2.0]))


PATH = ViaPoint("world"), ViaPoint("lower")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"stiffness": -1.0}, ArgumentError, "'cord': stiffness is -1.0, expected a finite number that is not neg"),
        ({"damping": float("nan")}, ArgumentError, "'cord': damping is nan"),
        ({"rest_length": -0.1}, ArgumentError, "rest_length is -0.1, expected a length that is not negative"),
        ({"rest_length": (0.5, 0.2)}, ArgumentError, "were they exchanged"),
        ({"rest_length": (0.1, 0.2, 0.3)}, ArgumentError, "a length, or a range"),
        ({"lower": 2.0, "upper": 1.0}, ArgumentError, "at most upper, 1.0; were they exchanged"),
        ({"path": (ViaPoint("world"),)}, ModelError, "'cord': path has a branch of fewer than two points"),
        ({"path": (ViaPoint("world"), ViaPoint("world"))}, ModelError, "'cord': path collapses"),
        ({"name": 3}, ArgumentError, "name"),
    ],
)
def test_impossible_forces_are_refused(given, error, message):
    """By name, with the value found and the values expected."""
    with pytest.raises(error, match=message):
        TendonForce(**{"name": "cord", "path": PATH, "stiffness": 1.0} | given)


def test_an_unknown_tendon_has_no_curve():
    """Its name is compared with those of the model."""
    with pytest.raises(kt.errors.UnknownNameError, match="no tendon named 'rope'"):
        kt.tendons.path_points(kt.models.double_pendulum(), [0.0, 0.0], "rope")


def test_nan_stays_nan():
    """In lengths, springs with slack and limits, unchecked; a radius that is NaN is refused."""
    path = ViaPoint("world", (0.1, 0.0, 0.2)), kt.tendons.WrapShape("sphere", "upper", 0.1), ViaPoint("lower")
    model = kt.models.double_pendulum().with_forces(TendonForce("cord", path, 2.0, (0.1, 0.2)))
    f = kt.compile(model, "elastic_energy", checks=False)
    assert np.isnan(f([np.nan, 0.3])) and f([0.2, 0.3]) > 0.0
    with pytest.raises((ArgumentError, kt.errors.NonFiniteError)):
        f.with_parameters({"cord.path.1.radius": np.nan})
