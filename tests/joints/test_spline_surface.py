"""Spline surfaces: against matrices and another B-spline, across knots and beyond the edges."""

import math
import pickle
import warnings

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.linalg import expm

from kinetree.errors import JointError
from kinetree.joints import Joint, SplineSurface

from .calculus import columns, matrix

SIZES = ((4, 4), (4, 6), (7, 5))


def control_values(size, seed=0):
    """A rough net about the x-y plane, with angles below 45 deg; shape (m, n, 6)."""
    rng = np.random.default_rng(seed)
    m, n = size
    values = rng.uniform(-0.7, 0.7, (m, n, 6))
    values[..., 0] += np.arange(m)[:, None]
    values[..., 1] += np.arange(n)
    return values


@pytest.fixture(params=SIZES, ids=str)
def surface(request):
    return SplineSurface(control_values(request.param))


def states(surface):
    """Positions in all patches, on an edge, at a corner and outside."""
    m, n = surface.size
    rng = np.random.default_rng(1)
    inner = [[float(i + rng.uniform()), float(k + rng.uniform())] for i in range(m) for k in range(n)]
    return [*inner, [0.0, 0.4], [float(m), float(n)], [-0.7, 0.3], [m + 0.5, n + 2.0]]


def six_values(surface, q, order=(0, 0)):
    """The six splines by SciPy, going on linearly outside; shape (6,)."""
    values = np.array(surface.control)
    for axis in (0, 1):  # each blending takes away the first axis
        count = values.shape[0] - 3
        spline = BSpline(np.arange(-3.0, count + 4.0), values, 3)
        near = min(max(q[axis], 0.0), count)
        inside = spline(near, order[axis])
        beyond = q[axis] - near
        if order[axis] == 0:
            inside = inside + beyond * spline(near, 1)
        values = inside if order[axis] < 2 or beyond == 0.0 else 0.0 * inside
    return values


def bracket(xi):
    """4x4 matrix of a twist (angular, linear)."""
    w, v = xi[:3], xi[3:]
    return np.array([[0, -w[2], w[1], v[0]], [w[2], 0, -w[0], v[1]], [-w[1], w[0], 0, v[2]], [0, 0, 0, 0]])


def algorithm_4(surface, q):
    """Q, S (6, 2) and dS/dq (6, 2, 2) with SciPy's matrix exponential (Sueda, eq. 2.70-2.71 and algorithm 4)."""
    E = np.eye(6)[[3, 4, 5, 0, 1, 2]]  # eq. 2.70: the translations come first
    f = six_values(surface, q)
    f_i = [six_values(surface, q, order) for order in ((1, 0), (0, 1))]
    mixed = six_values(surface, q, (1, 1))
    f_ij = [[six_values(surface, q, (2, 0)), mixed], [mixed, six_values(surface, q, (0, 2))]]
    Q, S, dS = np.eye(4), np.zeros((6, 2)), np.zeros((6, 2, 2))
    for k, e in enumerate(E):
        Q_k = expm(bracket(e * f[k]))
        R, p = Q_k[:3, :3], Q_k[:3, 3]
        Ad = np.block([[R.T, np.zeros((3, 3))], [-R.T @ bracket([*p, 0, 0, 0])[:3, :3], R.T]])
        Q = Q @ Q_k
        for i in range(2):
            ad = np.block([[bracket(S[:, i])[:3, :3], np.zeros((3, 3))], [_cross3(S[3:, i]), _cross3(S[:3, i])]])
            S[:, i] = e * f_i[i][k] + Ad @ S[:, i]
            for j in range(2):
                dS[:, i, j] = e * f_ij[i][j][k] + Ad @ (dS[:, i, j] + ad @ e * f_i[j][k])
    return Q, S, dS


def _cross3(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def test_transform_subspace_and_its_rate_are_those_of_algorithm_4(surface):
    """Sueda, algorithm 4, by matrix exponentials and SciPy's splines, in every patch and outside."""
    for q in states(surface):
        Q, S, dS = algorithm_4(surface, q)
        np.testing.assert_allclose(np.linalg.inv(surface.transform(q).homogeneous()), Q, atol=2e-14)
        np.testing.assert_allclose(columns(surface.motion_subspace(q)), S, atol=2e-14)
        for v in ([1.0, 0.0], [0.0, 1.0], [0.3, -2.0]):
            np.testing.assert_allclose(columns(surface.subspace_rate(q, v)), dS @ v, atol=5e-14)


def test_explicit_rate_equals_the_differentiated_subspace(surface):
    """The recursion for dS/dq and Duals in S give the same."""
    for q in states(surface):
        by_duals = Joint.subspace_rate(surface, q, [0.7, -1.3])
        np.testing.assert_allclose(columns(surface.subspace_rate(q, [0.7, -1.3])), columns(by_duals), atol=2e-14)


def test_surface_is_C2_across_knots():
    """X, S and dS/dq on the two sides of inner knots agree to the distance times their rates of change."""
    surface, h = SplineSurface(control_values((7, 5))), 1e-9
    sides = [([k - h, 0.3], [k + h, 0.3]) for k in (1.0, 2.0, 3.0)] + [([0.3, 1.0 - h], [0.3, 1.0 + h])]
    for before, after in sides:
        assert np.abs(matrix(surface.transform(after)) - matrix(surface.transform(before))).max() < 100 * h
        for function in (surface.motion_subspace, lambda q: surface.subspace_rate(q, [1.0, 0.5])):
            assert np.abs(columns(function(after)) - columns(function(before))).max() < 200 * h


def test_surface_is_C1_across_edges():
    """X and S are continuous where the values begin to go on linearly, at edges and corners; dS/dq jumps."""
    surface, h = SplineSurface(control_values((4, 4))), 1e-9
    for before, after in (([-h, 0.3], [h, 0.3]), ([0.7, 1 - h], [0.7, 1 + h]), ([1 - h, -h], [1 + h, h])):
        assert np.abs(matrix(surface.transform(after)) - matrix(surface.transform(before))).max() < 100 * h
        S_before, S_after = (columns(surface.motion_subspace(q)) for q in (before, after))
        assert np.abs(S_after - S_before).max() < 100 * h


def test_equal_angles_cost_nothing():
    """Where the angles are the same everywhere, the surface does not turn: S has structural zeros."""
    flat = control_values((5, 4))
    flat[..., 3:] = (0.1, 0.2, -0.3)
    S = SplineSurface(flat).motion_subspace([0.4, 0.6])
    assert all(list(column.angular) == [0.0, 0.0, 0.0] for column in S)


def test_plane_is_exact():
    """Equal distances: a point of the plane, S its sides."""
    plane = SplineSurface([[(2.0 * i, 3.0 * k, 0, 0, 0, 0) for k in range(5)] for i in range(4)])
    for q in ([0.2, 0.9], [-3.0, 7.0]):
        np.testing.assert_allclose(list(plane.transform(q).r), [2 * (q[0] + 1), 3 * (q[1] + 1), 0], atol=1e-14)
        expected = np.zeros((6, 2))
        expected[3, 0], expected[4, 1] = 2.0, 3.0
        np.testing.assert_allclose(columns(plane.motion_subspace(q)), expected, atol=4e-15)


def test_pickled_surface_is_equal(surface):
    """Splines are values, and array and tuple make the same one."""
    assert pickle.loads(pickle.dumps(surface)) == surface
    assert SplineSurface(surface.control) == surface == SplineSurface(np.array(surface.control))


def test_steep_angles_are_warned_of():
    """45 deg are silent, 46 are not; the warning points at the caller."""
    values = control_values((4, 4))
    values[2, 1, 3] = math.pi / 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SplineSurface(values)
    values[2, 1, 5] = math.radians(-46.0)
    with pytest.warns(UserWarning, match=r"an angle of 46.0 deg among the control values is above 45 deg") as caught:
        SplineSurface(values)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x[:3], "at least 4 x 4 control values, got 3 rows of 4 values"),
        (lambda x: [*x[:3].tolist(), x[3, :3].tolist()], "got 4 rows of 3 or 4 values"),
        (lambda x: [], "got 0 rows of no values"),
        (lambda x: x[..., :5], r"control\[0\]\[0\] has 5 numbers, expected six"),
        (lambda x: 3.0, "control must be rows of six numbers"),
        (lambda x: np.where(np.arange(6) == 1, math.nan, x), r"control\[0\]\[0\] = .* is not finite"),
        (lambda x: np.where(np.arange(6) == 4, math.pi / 2, x), r"control\[0\]\[0\] turns by 90.0 deg about y"),
    ],
)
def test_malformed_surfaces_are_refused(change, message):
    """Errors name the control value and the rule."""
    with pytest.raises(JointError, match=f"spline_surface joint: .*{message}"):
        SplineSurface(change(control_values((4, 4))))
