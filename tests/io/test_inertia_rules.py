"""Impossible inertias are told from possible ones, and each repair does what it says."""

import numpy as np
import pytest

from kinetree.errors import InertiaError
from kinetree.io.inertia_rules import project, settle, violation


def body(rng, points):
    """Mass and tensor about the center of mass of random mass points."""
    m, x = rng.uniform(0.1, 1.0, points), rng.normal(size=(points, 3))
    x = x - m @ x / m.sum()
    return m.sum(), sum(mk * (xk @ xk * np.eye(3) - np.outer(xk, xk)) for mk, xk in zip(m, x, strict=True))


@pytest.mark.parametrize("points", [1, 2, 3, 10])
def test_every_cloud_of_mass_points_is_possible(points):
    """Any distribution of mass, down to a point, a rod and a plate, passes: these lie on the boundary of the rule."""
    rng = np.random.default_rng(points)
    for _ in range(100):
        assert violation(*body(rng, points)) is None


def test_the_rule_knows_the_triangle_inequality():
    """Moments (1, 1, 2) are a plate; (1, 1, 2.01) are no body."""
    assert violation(1.0, np.diag([1.0, 1.0, 2.0])) is None
    assert "break I3 <= I1 + I2 by 0.01" in violation(1.0, np.diag([1.0, 1.0, 2.01]))


def test_negative_moments_and_masses_are_impossible():
    """Both are named."""
    assert "not all positive" in violation(1.0, np.diag([-1.0, 1.0, 1.0]))
    assert "mass -1 kg is negative" in violation(-1.0, np.eye(3))
    assert "mass is 0" in violation(0.0, np.eye(3))
    assert violation(0.0, np.zeros((3, 3))) is None


def test_rounding_of_the_decimals_is_no_violation():
    """A plate whose moments were written with seven digits passes."""
    assert violation(1.0, np.diag([0.3333333, 0.3333333, 0.6666667])) is None


def test_projection_is_possible_and_nearest():
    """The projection is possible, idempotent, and no possible tensor tried is nearer in second moments."""
    rng = np.random.default_rng(3)

    def second_moments(I):
        return 0.5 * np.trace(I) * np.eye(3) - I

    for _ in range(50):
        A = rng.normal(size=(3, 3))
        I = A + A.T
        P = project(1.0, I)
        assert violation(1.0, P) is None
        assert np.allclose(project(1.0, P), P, atol=1e-13 * np.abs(I).max() * 10)
        distance = np.linalg.norm(second_moments(P) - second_moments(I))
        for _ in range(20):
            _, other = body(rng, 4)
            mixed = P + rng.uniform() * (other - P)
            assert np.linalg.norm(second_moments(mixed) - second_moments(I)) >= distance * (1 - 1e-12)


def fail(message, error, *, repair, **values):
    """An error as a reader builds it."""
    return error(f"robot.urdf:3: {message}. {repair}", **values)


def test_a_possible_tensor_is_not_touched():
    """Every choice returns the same array for a possible body."""
    m, I = body(np.random.default_rng(0), 5)
    for choice in ("raise", "project", "diagonal", "accept"):
        assert settle(m, I, choice, "x", fail) == (I, None)


def test_choices_on_an_impossible_tensor():
    """raise names the repair; diagonal drops products; project is possible; accept keeps the numbers."""
    I = np.full((3, 3), 1e-6)  # the placeholder of ANYmal B and HyQ
    with pytest.raises(
        InertiaError, match="robot.urdf:3: link 'base': principal moments .* inertia='project'"
    ) as error:
        settle(1e-6, I, "raise", "link 'base'", fail)
    assert error.value.mass == 1e-6
    kept, change = settle(1e-6, I, "diagonal", "x", fail)
    assert (kept == np.diag([1e-6] * 3)).all() and "products of inertia were dropped" in change
    kept, change = settle(1e-6, I, "project", "x", fail)
    assert violation(1e-6, kept) is None and "nearest possible" in change
    kept, change = settle(1e-6, I, "accept", "x", fail)
    assert kept is I and "as it is" in change


def test_diagonal_does_not_pretend():
    """A tensor whose diagonal is impossible by itself is not mended by dropping the rest."""
    with pytest.raises(InertiaError, match="inertia='project'"):
        settle(0.05, np.diag([0.001, 0.001, 0.01]), "diagonal", "x", fail)
