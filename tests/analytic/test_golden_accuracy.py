"""Numbers of Featherstone (2008), chapter 10: how sensitive a zigzag arm is, and how a far-away origin costs digits.

C10.01 to C10.06; the integrators of C10.04 have their orders tested in tests/simulate.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Planar
from kinetree.spatial.planar import PlanarInertia, PlanarMotion, PlanarTransform, Vector2

# Section 10.2 --------------------------------------------------------------------------------------------------------

ZIGZAG = np.deg2rad([75.0, -75.0, 75.0, -75.0, 75.0, -75.0])
# The book prints four decimals; the further digits come from an independent computation of M times ones.
TAU_D = (126.4936759426, 97.4663236170, 69.9762284355, 43.7998475335, 21.9371809109, 6.1646857030)
TAU_A = (126.0, 97.5, 70.0, 43.8, 21.9, 6.16)  # TAU_D to three figures


@pytest.fixture(scope="module")
def arm():
    """Six links of 1 m and 1 kg in the plane (figure 10.3)."""
    return kt.models.zigzag_arm(6)


def test_zigzag_forces_for_unit_accelerations(arm):
    """At rest tau = M 1: the desired forces of the example."""
    np.testing.assert_allclose(kt.rnea(arm, ZIGZAG, np.zeros(6), np.ones(6)), TAU_D, rtol=0.0, atol=5e-11)


def test_zigzag_mass_matrix(arm):
    """Entries of M, the last one exactly 1/3, and its condition number 725."""
    M = kt.crba(arm, ZIGZAG)
    found = [M[0, 0], M[0, 1], M[0, 5], M[5, 5]]
    np.testing.assert_allclose(found, [46.0586665786, 33.7841904070, 1.7215619010, 1.0 / 3.0], rtol=0.0, atol=5e-11)
    assert np.linalg.cond(M) == pytest.approx(725.3876, abs=5e-5)


def test_zigzag_amplifies_an_error_of_half_a_percent(arm):
    """C10.05: forces off by less than 0.5 % give accelerations off by up to 41 %.

    The book's text prints 0.6952 for the first acceleration: two digits swapped (erratum 2).
    """
    a = kt.aba(arm, ZIGZAG, np.zeros(6), np.array(TAU_A))
    np.testing.assert_allclose(a, (0.6592, 1.3654, 1.3808, 0.5894, 0.9057, 1.0705), rtol=0.0, atol=5e-5)
    force_error = np.max(np.abs(np.array(TAU_A) / TAU_D - 1.0))
    assert force_error < 0.005
    assert np.max(np.abs(a - 1.0)) > 80.0 * force_error


@pytest.mark.parametrize(("n", "expected"), [(6, 5685.0), (10, 43523.0)])
def test_straight_arm_is_near_the_worst_condition(n, expected):
    """cond(M) of the stretched arm; the worst case of chains of identical links is about 4 n^4 (5184 and 40000)."""
    condition = np.linalg.cond(kt.crba(kt.models.zigzag_arm(n), np.zeros(n)))
    assert condition == pytest.approx(expected, abs=0.5)
    assert condition == pytest.approx(4.0 * n**4, rel=0.1)


def test_condition_grows_with_the_fourth_power_of_the_number_of_links():
    """The slope of log cond(M) over log n is 4 within 5 % between 8 and 32 links."""
    n = np.array([8, 16, 32])
    with kt.interpreted():  # one evaluation each: compiling would take longer
        conditions = [np.linalg.cond(kt.crba(kt.models.zigzag_arm(k), np.zeros(k))) for k in n]
    slopes = np.diff(np.log(conditions)) / np.diff(np.log(n))
    np.testing.assert_allclose(slopes, 4.0, rtol=0.05)


def test_branched_trees_are_less_sensitive_than_chains():
    """The same 7, 15, 31 links as a binary tree have a smaller condition number than as a chain."""
    with kt.interpreted():
        for n in (7, 15, 31):
            q = np.zeros(n)
            chain, tree = (np.linalg.cond(kt.crba(kt.models.auto_tree(n, branching), q)) for branching in (1, 2))
            assert tree < 0.2 * chain


# Section 10.1 --------------------------------------------------------------------------------------------------------


def far_body(c):
    """A body of unit mass and unit central inertia that moves in the plane, its center of mass at c."""
    b = kt.ModelBuilder("far body", gravity=(0.0, 0.0, 0.0))
    b.add_body("body", joint=Planar(), mass=1.0, com=(*c, 0.0), inertia=np.ones(3))
    return b.build()


def planar_problem(c):
    """v_O, f_O and the exact a_O for v_C = (1, 0, 0) and f_C = (1, -1, 1)."""
    x, y = c
    return np.array([1.0, y, -x]), np.array([1.0 + x + y, -1.0, 1.0]), np.array([1.0, y - 1.0, 1.0 - x])


def test_planar_body_far_away():
    """c = (100, 10): I_O, cond(I_O) = 1.02e8, and the acceleration to the eight digits that this leaves (eq. 10.1)."""
    x, y = c = (100.0, 10.0)
    I_O = PlanarInertia.from_com(1.0, Vector2(*c), 1.0).matrix()
    np.testing.assert_array_equal(I_O, [[10101.0, -y, x], [-y, 1.0, 0.0], [x, 0.0, 1.0]])
    assert np.linalg.cond(I_O) == pytest.approx(1.0205e8, rel=5e-5)
    v, f, a = planar_problem(c)
    with kt.interpreted():
        found = kt.aba(far_body(c), np.zeros(3), v, f)
    np.testing.assert_allclose(found, a, rtol=0.0, atol=1.0205e8 * np.finfo(float).eps * 100.0)


@pytest.mark.parametrize("c", [(100.0, 10.0), (0.3, -0.4)])
def test_planar_body_has_no_gyroscopic_force(c):
    """I_O v_O = (1, 0, 0), so v x* I v vanishes although the body turns."""
    v = PlanarMotion.of(planar_problem(c)[0].tolist())
    I = PlanarInertia.from_com(1.0, Vector2(*c), 1.0)
    # Products of size |c|^2 cancel.
    np.testing.assert_allclose(list(I @ v), [1.0, 0.0, 0.0], rtol=0.0, atol=1e-15 * (1.0 + c[0] ** 2))
    np.testing.assert_allclose(list(v.cross(I @ v)), 0.0, rtol=0.0, atol=1e-15 * (1.0 + c[0] ** 2))


def acceleration_errors(distance, rng, samples=200):
    """Root mean square error of the acceleration at the center of mass, for directions at random."""
    squares = 0.0
    for angle in rng.uniform(0.0, 2.0 * np.pi, samples):
        c = distance * np.cos(angle), distance * np.sin(angle)
        v, f, _ = planar_problem(c)
        I = PlanarInertia.from_com(1.0, Vector2(*c), 1.0)
        bias = PlanarMotion.of(v.tolist()).cross(I @ PlanarMotion.of(v.tolist()))
        a = np.linalg.solve(I.matrix(), f - list(bias))
        a_C = PlanarTransform.from_angle(0.0, Vector2(*c)) @ PlanarMotion.of(a.tolist())
        squares += np.sum((np.array(list(a_C)) - [1.0, -1.0, 1.0]) ** 2)
    return np.sqrt(squares / samples)


def test_error_grows_with_the_square_of_the_distance():
    """Slope 2 on logarithmic axes between |c| = 10 and 1e4; below |c| = 1 the error does not depend on the distance."""
    rng = np.random.default_rng(0)
    distances = np.array([10.0, 100.0, 1e3, 1e4])
    errors = [acceleration_errors(d, rng) for d in distances]
    slope = np.polyfit(np.log(distances), np.log(errors), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.25)
    near = [acceleration_errors(d, rng) for d in (0.01, 0.1, 1.0)]
    assert max(near) < 10.0 * np.finfo(float).eps


def test_eight_digits_are_lost_and_twelve_remain():
    """C10.02: cond(I_O) = 1.02e8 could cost eight digits; the accelerations are off by about 1e-12 of their size."""
    v, f, exact = planar_problem((100.0, 10.0))
    I_O = PlanarInertia.from_com(1.0, Vector2(100.0, 10.0), 1.0).matrix()
    errors = []
    rng = np.random.default_rng(3)
    for _ in range(50):  # other right-hand sides of the same size
        a = exact * rng.uniform(0.5, 1.5, 3)
        b = np.array([float(x) for x in I_O.astype(np.longdouble) @ a.astype(np.longdouble)])
        errors.append(np.max(np.abs(np.linalg.solve(I_O, b) - a)) / np.max(np.abs(a)))
    assert 1e-14 < np.median(errors) < 1e-11
    assert max(errors) < 1.0205e8 * np.finfo(float).eps


# What makes round-off grow (section 10.1) ----------------------------------------------------------------------------


def test_ten_times_the_size_is_a_thousand_times_the_mass():
    """C10.01: of the same material, scaled by 10: 1000 times the mass, 1e5 times the rotational inertia."""
    from kinetree.model import Geometry

    small, large = (
        kt.geometry.mass_properties(Geometry("box", tuple(k * x for x in (0.1, 0.2, 0.3))), density=1000.0)
        for k in (1.0, 10.0)
    )
    assert large.mass == pytest.approx(1e3 * small.mass, rel=1e-14)
    np.testing.assert_allclose(large.inertia, 1e5 * np.asarray(small.inertia), rtol=1e-14)


def errors_of_chain(n, seed=0, states=4):
    """Errors of rnea, aba, and of M^-1 (tau - c), of a chain of n general links against extended precision."""
    model, rng = kt.models.chain_gu(n), np.random.default_rng(seed)
    q, v, a = rng.standard_normal((3, states, n))
    with kt.interpreted():
        wide = [x.astype(np.longdouble) for x in (q, v, a)]
        exact_tau = kt.rnea(model, *wide)
        tau = exact_tau.astype(float)
        exact = kt.aba(model, *wide[:2], tau.astype(np.longdouble))
        forces, direct = kt.rnea(model, q, v, a), kt.aba(model, q, v, tau)
        M, c = kt.crba(model, q), kt.bias_forces(model, q, v)
    solved = np.linalg.solve(M, (tau - c)[..., None])[..., 0]

    def error(x, y):
        return float(np.median(np.max(np.abs(x - y), axis=-1) / np.max(np.abs(y), axis=-1)))

    return error(forces, exact_tau), error(direct, exact), error(solved, exact)


@pytest.mark.parametrize("n", [10, 100, 2000])
def test_algorithms_stay_accurate_on_long_chains(n):
    """C10.03: rnea of 10 to 2000 links to 1e-13, and aba gives accelerations that need the given forces to 1e-12.

    How far these are from the exact ones is a matter of the condition, less than 4 n^4.
    """
    model, rng = kt.models.chain_gu(n), np.random.default_rng(n)
    q, v, a = rng.standard_normal((3, n))
    wide = [x.astype(np.longdouble) for x in (q, v, a)]
    with kt.interpreted():
        exact = kt.rnea(model, *wide)
        assert np.max(np.abs(kt.rnea(model, q, v, a) - exact)) < 1e-13 * np.max(np.abs(exact))
        found = kt.aba(model, q, v, exact.astype(float))
        needed = kt.rnea(model, *wide[:2], found.astype(np.longdouble))
    assert np.max(np.abs(needed - exact)) < 1e-12 * np.max(np.abs(exact))
    assert np.max(np.abs(found - a)) < 4.0 * n**4 * np.finfo(float).eps


def test_articulated_bodies_are_more_accurate_than_the_mass_matrix():
    """C10.03: the method by M loses more, twice as much with 20 and 40 links."""
    for n in (20, 40):
        forces, direct, solved = errors_of_chain(n)
        assert forces < 1e-14
        assert direct < solved


# The report (kt.accuracy) --------------------------------------------------------------------------------------------


def test_the_report_has_the_numbers_of_the_zigzag_arm(arm):
    """C10.05: 725.3876, and 12.8 digits of accelerations; the errors measured are smaller than the bound."""
    report = kt.accuracy(arm, ZIGZAG, np.zeros(6), np.ones(6))
    assert report.condition.value == pytest.approx(725.3876, abs=5e-5)
    assert report.condition.digits == pytest.approx(16.0 - np.log10(2.220446 * 725.3876), abs=1e-3)
    for precision, eps in (("double", 2.0**-52), ("single", 2.0**-23)):
        for name in ("aba", "crba and solve"):
            assert 0.0 < report.error(name, precision).worst < 725.4 * eps
        for name in ("rnea", "crba"):
            assert report.error(name, precision).worst < 10.0 * eps


def test_the_report_names_the_body_far_away():
    """C10.02: 100.5 m from its frame, one radius of gyration: four digits."""
    with kt.interpreted():
        report = kt.accuracy(far_body((100.0, 10.0)))
    (body,) = report.far
    assert body.distance == pytest.approx(np.hypot(100.0, 10.0), rel=1e-12)
    assert body.radius_of_gyration == pytest.approx(1.0, rel=1e-9)
    assert report.condition.value == pytest.approx(1.0205e8, rel=1e-3)
    assert 1e-13 < report.error("aba").worst < 1e-11  # four digits lost, not eight
    assert any("'body' is 100 radii of gyration" in finding for finding in report.findings)
