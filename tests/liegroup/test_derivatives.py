"""Derivatives of exponentials and tangent maps: against duals and differences."""

import numpy as np
import pytest

from kinetree.joints.dual import Dual, rate_of
from kinetree.liegroup import se3, so3
from kinetree.spatial import Motion, Vector3
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower
from tests.spatial import samples

from .rotation_vectors import turn

RNG = np.random.default_rng(5)
ANGLES = [0.0, 1e-12, 1e-6, 1e-3, 0.5, 0.999, 1.001, 2.0, 3.0, np.pi - 1e-8, np.pi, 5.0]
MAPS = ("right_jacobian", "left_jacobian", "right_jacobian_inverse", "left_jacobian_inverse")
PRODUCTS = ("right_jacobian_apply", "left_jacobian_apply", "right_jacobian_solve", "left_jacobian_solve")
TOLERANCE = 2e-14  # a few dozen roundings; values are of order 1, those of the inverses at 5 rad of order 10


def moving(vector, rate):
    """A vector whose components carry their rates of change."""
    return type(vector)(*(Dual(x, dx) for x, dx in zip(vector, rate, strict=True)))


def moving_twist(u, rate):
    return Motion(moving(u.angular, rate.angular), moving(u.linear, rate.linear))


def rates(matrix):
    return np.array([[rate_of(x) for x in row] for row in matrix.rows])


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("name", MAPS)
def test_rates_of_the_maps_of_so3(name, angle):
    """``_rate`` is the derivative of the matrix along a change of v, as duals have it."""
    v, dv = turn(angle), samples.vector(RNG)
    expected = rates(getattr(so3, name)(moving(v, dv)))
    found = getattr(so3, f"{name}_rate")(v, dv).array()
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=10 * TOLERANCE)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_gradients_of_the_products_of_so3(name, angle):
    """``_gradient`` times a rate of v is the derivative of the product along it."""
    v, dv, x = turn(angle), samples.vector(RNG), samples.vector(RNG)
    expected = [rate_of(y) for y in getattr(so3, name)(moving(v, dv), x)]
    found = getattr(so3, f"{name}_gradient")(v, x) @ dv
    np.testing.assert_allclose(found.array(), expected, rtol=0.0, atol=10 * TOLERANCE)


@pytest.mark.parametrize("angle", ANGLES)
def test_rate_of_the_exponential_of_so3(angle):
    """dE/dt = -(J_r v') x E, as duals have it."""
    v, dv = turn(angle), samples.vector(RNG)
    expected = rates(so3.exp_so3(moving(v, dv)).matrix)
    np.testing.assert_allclose(so3.exp_so3_rate(v, dv).array(), expected, atol=TOLERANCE)


@pytest.mark.parametrize("angle", ANGLES)
def test_rate_of_the_exponential_of_se3(angle):
    """Those of E and r, as duals have them."""
    u, du = Motion(turn(angle), samples.vector(RNG)), samples.motion(RNG)
    X = se3.exp_se3(moving_twist(u, du))
    E_rate, r_rate = se3.exp_se3_rate(u, du)
    np.testing.assert_allclose(E_rate.array(), rates(X.E.matrix), atol=TOLERANCE)
    np.testing.assert_allclose(r_rate.array(), [rate_of(x) for x in X.r], atol=2 * TOLERANCE)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_rates_of_the_products_of_se3(name, angle):
    """``_rate`` is the derivative of the product along a change of u, as duals have it."""
    u, du, x = Motion(turn(angle), samples.vector(RNG)), samples.motion(RNG), samples.motion(RNG)
    expected = [rate_of(y) for y in getattr(se3, name)(moving_twist(u, du), x)]
    found = getattr(se3, f"{name}_rate")(u, du, x).array()
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=20 * TOLERANCE)


@pytest.mark.parametrize("name", PRODUCTS)
def test_rates_of_se3_by_differences(name):
    """Central differences know nothing of duals: error h^2 + eps / h = 1e-9."""
    u, du, x = (samples.motion(RNG) for _ in range(3))
    h, product = 1e-5, getattr(se3, name)
    expected = (product(u + du * h, x).array() - product(u + du * -h, x).array()) / (2 * h)
    np.testing.assert_allclose(getattr(se3, f"{name}_rate")(u, du, x).array(), expected, atol=1e-8)


def test_derivative_of_the_logarithm():
    """log(exp(u) exp(s x)) has at s = 0 the rate J_r^-1 x: the inverse maps are the derivatives of the logarithm."""
    u, x, h = Motion(turn(1.7), samples.vector(RNG)), samples.motion(RNG), 1e-5
    after, before = (se3.log_se3(se3.exp_se3(x * s) @ se3.exp_se3(u)).array() for s in (h, -h))
    np.testing.assert_allclose((after - before) / (2 * h), se3.right_jacobian_solve(u, x).array(), atol=1e-8)


def test_second_derivatives_commute():
    """d/ds d/dt of T^-1(u + s a + t b) x is symmetric: closed-form rates of numbers that carry their rates."""
    u, a, b, x = (samples.motion(RNG) for _ in range(4))

    def second(first, then):
        rate = se3.right_jacobian_solve_rate(moving_twist(u, then), first, x)
        return np.array([rate_of(y) for y in rate])

    np.testing.assert_allclose(second(a, b), second(b, a), rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.7, 1.3, 3.1])
def test_batches_extended_precision_and_traces(angle):
    """Arrays, long doubles and traced code give what floats give, each to its own rounding."""
    u = np.array([*turn(angle), *RNG.normal(size=3)])
    du, x = RNG.normal(size=(2, 6))

    def everything(numbers):
        u, du, x = (Motion(Vector3(*numbers[k : k + 3]), Vector3(*numbers[k + 3 : k + 6])) for k in (0, 6, 12))
        X, (E_rate, r_rate) = se3.exp_se3(u), se3.exp_se3_rate(u, du)
        products = [getattr(se3, f"{name}_rate")(u, du, x) for name in PRODUCTS]
        gradients = [getattr(so3, f"{name}_gradient")(u.angular, x.angular) for name in PRODUCTS]
        matrices = [X.E.matrix, E_rate, *gradients]
        return [*X.r, *r_rate, *se3.log_se3(X), *(y for p in products for y in p),
                *(y for M in matrices for row in M.rows for y in row)]  # fmt: skip

    numbers = np.concatenate((u, du, x))
    floats = np.array(everything(numbers.tolist()))
    batch = np.array(np.broadcast_arrays(*everything(list(np.stack([numbers, 0.5 * numbers], axis=1)))))
    np.testing.assert_allclose(batch[:, 0], floats, rtol=0.0, atol=1e-14)
    extended = everything(list(numbers.astype(np.longdouble)))
    assert all(getattr(y, "dtype", None) == np.longdouble for y in extended if not isinstance(y, float))
    np.testing.assert_allclose(np.array(extended, dtype=float), floats, rtol=0.0, atol=1e-13)
    graph = Graph()
    results = everything([graph.input(0, k) for k in range(len(numbers))])
    traced = lower(graph, [("x", (len(numbers),))], [("y", (len(results),), results)])
    (found,) = traced.interpret([numbers[None]])
    np.testing.assert_allclose(found[0], floats, rtol=0.0, atol=1e-13)


def test_extended_precision_is_used():
    """exp and log of SE(3) undo each other to 1e-18 in long doubles, from 1e-10 rad to nearly half a turn."""
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("long doubles are doubles here")
    for angle in (1e-10, 0.3, 0.99, 1.01, 3.1):
        w = RNG.normal(size=3)
        u = [np.longdouble(y) for y in (*(angle * w / np.linalg.norm(w)), *RNG.normal(size=3))]
        back = se3.log_se3(se3.exp_se3(Motion(Vector3(*u[:3]), Vector3(*u[3:]))))
        errors = [abs(float(y - z)) for y, z in zip(back, u, strict=True)]
        assert max(errors[:3]) < 20 * np.finfo(np.longdouble).eps * angle
        assert max(errors[3:]) < 1e-18 * 20


@pytest.mark.parametrize("angle", [np.pi - 1e-3, np.pi - 1e-9, np.pi - 1e-13])
def test_logarithm_close_to_half_a_turn(angle):
    """Axis and angle come back to a few roundings, where sin(angle) has lost nearly all its digits."""
    v = turn(angle)
    np.testing.assert_allclose(so3.log_so3(so3.exp_so3(v)).array(), v.array(), rtol=0.0, atol=4e-15)
