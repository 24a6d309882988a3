"""Spline curves: against matrices, other splines and the joints that they contain; across knots and beyond the ends."""

import math
import pickle

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.linalg import expm, logm

from kinetree.errors import JointError
from kinetree.joints import Helical, Joint, Prismatic, Reversed, Revolute, SplineCurve
from kinetree.joints.spline_curve import transform_of
from kinetree.liegroup.se3 import exp_se3
from kinetree.spatial import Motion, Transform, Vector3
from kinetree.spatial.rotations import rz

from .calculus import columns, cross, matrix, six

ROUNDING = 2e-14  # three products of 6x6 matrices with entries of order ten


def random_frames(n, seed=0):
    """Poses along x whose neighbors differ by up to a radian or so."""
    rng = np.random.default_rng(seed)
    return [((float(k), *rng.uniform(-1.0, 1.0, 2)), rng.uniform(-0.8, 0.8, 3)) for k in range(n)]


CURVES = {
    f"{n} frames, {'periodic' if periodic else 'open'}": SplineCurve(random_frames(n, n), periodic)
    for n in (4, 5, 12)
    for periodic in (False, True)
}


@pytest.fixture(params=CURVES)
def curve(request):
    return CURVES[request.param]


def S_of(curve, q):
    return columns(curve.motion_subspace([q]))[:, 0]


def dS_of(curve, q):
    return columns(curve.subspace_rate([q], [1.0]))[:, 0]


# Algorithm 3, as matrices -------------------------------------------------------------------------------------------


def homogeneous(frame):
    """4x4 matrix of the pose of a control frame."""
    return np.linalg.inv(transform_of(frame).homogeneous())


def twist(bracket):
    return np.array([bracket[2, 1], bracket[0, 2], bracket[1, 0], *bracket[:3, 3]])


def adjoint_of_inverse(Q):
    """Ad(Q^-1) on twists (angular, linear)."""
    R, p = Q[:3, :3], Q[:3, 3]
    p_cross = np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ p_cross, R.T]])


def algorithm_3(four, q, last_factor):
    """Q, S and dS/dq of one segment with SciPy's matrix functions; ``last_factor`` is the order of B in line 10."""
    B = np.array([[1, -3, 3, -1], [4, 0, -6, 3], [1, 3, 3, -3], [0, 0, 0, 1]]) / 6.0  # eq. 2.61
    powers = np.array([[1, q, q * q, q**3], [0, 1, 2 * q, 3 * q * q], [0, 0, 2, 6 * q]])
    cumulative = np.array([[(B @ power)[i:].sum() for i in range(4)] for power in powers])  # eq. 2.65, 2.66
    differences = [np.real(logm(np.linalg.inv(C) @ D)) for C, D in zip(four, four[1:], strict=False)]
    Q, S, dS = four[0], np.zeros(6), np.zeros(6)
    for i, bracket in enumerate(differences, start=1):
        Q_i, d = expm(bracket * cumulative[0, i]), twist(bracket)
        Ad = adjoint_of_inverse(Q_i)
        Q = Q @ Q_i
        dS = d * cumulative[2, i] + Ad @ (dS + cross(Motion.of(S)) @ d * cumulative[last_factor, i])
        S = d * cumulative[1, i] + Ad @ S
    return Q, S, dS


def test_transform_subspace_and_its_rate_are_those_of_algorithm_3(curve):
    """Sueda, algorithm 3 with B' in line 10, by matrix exponentials and logarithms, on every segment."""
    frames = [homogeneous(frame) for frame in curve.frames] * 2
    for k in range(curve.length):
        for u in (0.0, 0.3, 0.95):
            Q, S, dS = algorithm_3(frames[k : k + 4], u, last_factor=1)
            pose = np.linalg.inv(np.array(curve.transform([k + u]).homogeneous()))
            np.testing.assert_allclose(pose, Q, atol=1e-12)  # logm keeps about 13 digits
            np.testing.assert_allclose(S_of(curve, k + u), S, atol=1e-12)
            np.testing.assert_allclose(dS_of(curve, k + u), dS, atol=1e-11)


def test_line_10_as_printed_is_not_the_derivative():
    """With B instead of B' dS/dq is off by a tenth and more."""
    curve = CURVES["4 frames, open"]
    printed = algorithm_3([homogeneous(frame) for frame in curve.frames], 0.4, last_factor=0)[2]
    assert np.abs(printed - dS_of(curve, 0.4)).max() > 0.1


def test_explicit_rate_equals_the_differentiated_subspace(curve):
    """The recursion for dS/dq and Duals in S give the same, inside and outside."""
    for q in (-0.4, 0.5, 1.2, curve.length + 0.7):
        by_duals = Joint.subspace_rate(curve, [q], [1.3])
        np.testing.assert_allclose(1.3 * dS_of(curve, q), columns(by_duals)[:, 0], atol=ROUNDING)


# Smoothness, ends, periods --------------------------------------------------------------------------------------------


def test_curve_is_C2_across_knots(curve):
    """X, S and dS/dq on the two sides of every inner knot agree to the distance times their rates of change."""
    knots = range(curve.length + 1) if curve.periodic else range(1, curve.length)
    h = 1e-9
    for knot in knots:
        before, after = knot - h, knot + h
        gap = matrix(curve.transform([after])) - matrix(curve.transform([before]))
        assert np.abs(gap).max() < 100 * h
        assert np.abs(S_of(curve, after) - S_of(curve, before)).max() < 100 * h
        assert np.abs(dS_of(curve, after) - dS_of(curve, before)).max() < 200 * h


def test_third_derivative_jumps_at_knots():
    """Cubic splines are C2 and no more: what the test above finds smooth is not smooth for another reason."""
    curve = CURVES["12 frames, open"]
    h = 1e-4
    slopes = [(dS_of(curve, q + h) - dS_of(curve, q)) / h for q in (4.0 - 2 * h, 4.0 + h)]
    assert np.abs(slopes[1] - slopes[0]).max() > 0.1


@pytest.mark.parametrize("n", [4, 5, 12])
def test_open_curve_goes_on_along_its_tangent(n):
    """Beyond the ends S is that of the end, dS/dq is zero, and X = exp(e S) X_end, also a thousand knots away."""
    curve = CURVES[f"{n} frames, open"]
    for end, side in ((0.0, -1.0), (float(curve.length), 1.0)):
        S = Motion.of(S_of(curve, end))
        for distance in (1e-9, 0.3, 4.0, 1000.0):
            e = side * distance
            np.testing.assert_allclose(S_of(curve, end + e), six(S), atol=ROUNDING)
            np.testing.assert_array_equal(dS_of(curve, end + e), 0.0)
            expected = matrix(exp_se3(S * e) @ curve.transform([end]))
            np.testing.assert_allclose(matrix(curve.transform([end + e])), expected, atol=ROUNDING * (1 + distance))


@pytest.mark.parametrize("n", [4, 5, 12])
def test_tangent_begins_where_the_curve_ends(n):
    """S and X are continuous at both ends; dS/dq jumps there, as documented."""
    curve, h = CURVES[f"{n} frames, open"], 1e-9
    for end, inwards in ((0.0, h), (float(curve.length), -h)):
        assert np.abs(S_of(curve, end + inwards) - S_of(curve, end - inwards)).max() < 100 * h
        assert np.abs(dS_of(curve, end + inwards)).max() > 0.1 > np.abs(dS_of(curve, end - inwards)).max()


@pytest.mark.parametrize("n", [4, 5, 12])
def test_periodic_curve_repeats(n):
    """q and q + 7 n are the same position; the wrapped parameter loses the digits that q itself has lost."""
    curve = CURVES[f"{n} frames, periodic"]
    for q in np.linspace(0.0, n, 23):
        for turns in (-7, 1, 7):
            other = q + turns * n
            np.testing.assert_allclose(
                matrix(curve.transform([other])), matrix(curve.transform([q])), atol=1e-13 * n * abs(turns)
            )


def test_nan_stays_nan():
    """A parameter that is no number gives no numbers."""
    for curve in CURVES.values():
        assert all(math.isnan(x) for x in S_of(curve, math.nan))


# Splines that are something else --------------------------------------------------------------------------------------


@pytest.mark.parametrize("periodic", [False, True])
def test_frames_on_a_circle_make_a_revolute_joint(periodic):
    """Control frames turned by 60 deg each about a distant axis: S is constant, X that of the revolute joint."""
    axis, angle = Vector3(2.0, 0.0, 0.0), math.pi / 3
    out, back = (Transform(rz(0.0), r) for r in (axis, -axis))
    circle = SplineCurve([back @ Revolute().transform([k * angle]) @ out for k in range(6)], periodic=periodic)
    S = six(back @ Motion(Vector3(0.0, 0.0, angle), Vector3.zero()))
    for q in (-3.7, 0.0, 0.4, 1.0, 2.5, 3.0, 8.9):
        np.testing.assert_allclose(S_of(circle, q), S, atol=4e-15)
        np.testing.assert_allclose(dS_of(circle, q), 0.0, atol=4e-15)
        expected = back @ Revolute().transform([(q + 1.0) * angle]) @ out
        np.testing.assert_allclose(matrix(circle.transform([q])), matrix(expected), atol=ROUNDING)


def test_frames_on_a_helix_make_a_helical_joint():
    """Control frames one radian of a screw apart about a skew axis: the joint is that screw, k + 1 rad at knot k."""
    screw = Helical((1, -2, 2), pitch=0.3)
    spline = SplineCurve([screw.transform([float(k)]) for k in range(9)])
    for q in (-2.0, 0.0, 0.3, 4.6, 6.0, 9.0):
        np.testing.assert_allclose(S_of(spline, q), six(screw.motion_subspace([0.0])[0]), atol=4e-15)
        expected = matrix(screw.transform([q + 1.0]))
        np.testing.assert_allclose(matrix(spline.transform([q])), expected, atol=2e-14)


def test_equal_steps_without_rotation_make_a_prismatic_joint():
    """Control points at equal distances on a line."""
    line = SplineCurve([((0.0, 0.0, 0.5 * k), (0.0, 0.0, 0.0)) for k in range(5)])
    for q in (-1.0, 0.7, 3.5):
        expected = matrix(Prismatic().transform([0.5 * (q + 1.0)]))
        np.testing.assert_allclose(matrix(line.transform([q])), expected, atol=1e-15)


def test_translations_are_an_ordinary_B_spline():
    """Without rotations the origin runs along SciPy's B-spline of the control points."""
    points = np.random.default_rng(5).uniform(-1.0, 1.0, (8, 3))
    curve = SplineCurve([(p, (0.0, 0.0, 0.0)) for p in points])
    spline = BSpline(np.arange(-3.0, 9.0), points, 3)
    for q in np.linspace(0.0, 4.999, 41):
        np.testing.assert_allclose(list(curve.transform([q]).r), spline(q), atol=1e-15)
        np.testing.assert_allclose(S_of(curve, q)[3:], spline(q, 1), atol=1e-14)
        np.testing.assert_allclose(dS_of(curve, q)[3:], spline(q, 2), atol=1e-14)


def test_small_rotations_do_not_cancel():
    """Frames turned by 1e-9 rad on a circle of a kilometer's radius: S is the twist between neighbors to 13 digits."""
    d = Motion.of([0.0, 0.0, 1e-9, 1.0, 0.5, 1e-6])
    curve = SplineCurve([exp_se3(d * float(k)) for k in range(5)])
    np.testing.assert_allclose(list(curve.transform([0.37]).r), list(exp_se3(d * 1.37).r), rtol=1e-13)


# Control frames ------------------------------------------------------------------------------------------------------


def test_forms_of_a_pose_are_the_same():
    """Transform, (R, p), 4x4 array, (xyz, quaternion) and (xyz, rpy) of the same poses make the same curve."""
    rpy = random_frames(4, seed=3)
    curve = SplineCurve(rpy)
    poses = [homogeneous(frame) for frame in curve.frames]
    for other in (
        [transform_of(frame) for frame in curve.frames],
        [(pose[:3, :3], pose[:3, 3]) for pose in poses],
        poses,
        curve.frames,
    ):
        for mine, its in zip(curve.frames, SplineCurve(other).frames, strict=True):
            np.testing.assert_allclose(mine[0], its[0], atol=1e-15)
            np.testing.assert_allclose(mine[1], its[1], atol=1e-15)


def test_quarter_turns_are_exact():
    """Rounding of pi leaves no residue in control frames, so that kernels see the zeros."""
    curve = SplineCurve([((0, 0, k), (0, 0, k * math.pi / 2)) for k in range(4)], periodic=True)
    assert curve.frames[2] == ((0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0))


def test_pickled_curve_is_equal():
    """Splines are values."""
    for curve in CURVES.values():
        copy = pickle.loads(pickle.dumps(curve))
        assert copy == curve and copy.transform([0.3]).r.x == curve.transform([0.3]).r.x
    assert Reversed(CURVES["4 frames, open"]) != Reversed(CURVES["4 frames, periodic"])


POSE = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("frames", "periodic", "message"),
    [
        ([POSE] * 3, False, "at least 4 control frames, got 3"),
        (7, False, "frames must be a sequence of poses; got 7"),
        (random_frames(5)[:3] + [((0, 0), (0, 0, 0))], False, r"frame 3: .* is not a pose; give a Transform"),
        (random_frames(4)[:3] + [((0, 0, math.inf), (0, 0, 0))], False, "frame 3: .* is not finite"),
        (random_frames(4)[:3] + [((0, 0, 0), (1, 1, 0, 0))], False, "frame 3: .* is off a rotation by 0.414"),
        (random_frames(4)[:3] + [(np.diag([1, 1, -1]), (0, 0, 0))], False, "frame 3: .* is off a rotation"),
        ([POSE, *random_frames(3), ((3, 0, 0), (math.pi, 0, 0)), ((4, 0, 0), (0, 0, 0))], False, "half a turn apart"),
        ([((x, 0, 0), (0, 0, 0)) for x in (0, 1, 1, 1, 1, 2)], False, "frames 1 to 4 are the same"),
    ],
)
def test_malformed_curves_are_refused(frames, periodic, message):
    """Errors name the frame and what to do."""
    with pytest.raises(JointError, match=f"spline_curve joint: .*{message}"):
        SplineCurve(frames, periodic)


def test_closing_step_counts_when_periodic():
    """Frames that turn by less than half a turn each, but by half a turn from the last to the first."""
    frames = [((0.0, 0.0, float(k)), (0.0, 0.0, k * math.pi / 3)) for k in range(4)]
    SplineCurve(frames)
    with pytest.raises(JointError, match="frames 3 and 0 are half a turn apart"):
        SplineCurve(frames, periodic=True)
