"""Joint formulas against what is printed: table 4.1, equations 4.7-4.13, examples 4.5 and 4.6; and simple geometry."""

import math

import numpy as np
import pytest

from kinetree.joints import (
    Cylindrical,
    Free,
    Helical,
    Planar,
    Prismatic,
    RackAndPinion,
    Reversed,
    Revolute,
    SphereInCylinder,
    Spherical,
    SphericalEuler,
    Universal,
)
from kinetree.spatial import AxialRotation, IdentityRotation

from .calculus import TOLERANCE, along, columns, derivative, matrix, six

Q = (0.7, -0.4, 1.1)
V = (0.3, -1.2, 0.5)


def rotation(X):
    return matrix(X)[:3, :3]


@pytest.mark.parametrize(
    ("example", "S"),
    [
        (Revolute(), [[0, 0, 1, 0, 0, 0]]),
        (Prismatic(), [[0, 0, 0, 0, 0, 1]]),
        (Helical(pitch=0.2), [[0, 0, 1, 0, 0, 0.2]]),
        (Cylindrical(), [[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]]),
        (Planar(), [[0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]]),
        (Spherical(), np.eye(6)[:3]),
        (Free(), np.eye(6)),
    ],
    ids=lambda x: getattr(x, "kind", ""),
)
def test_motion_subspaces_of_table_4_1(example, S):
    """Featherstone, table 4.1, column S; the entries are exact."""
    q = example.random(np.random.default_rng(1))
    np.testing.assert_array_equal(columns(example.motion_subspace(q)).T, np.array(S, dtype=float))


def test_yaw_pitch_roll_transform():
    """Eq. 4.7 written out: E = rx(q3) ry(q2) rz(q1)."""
    (c1, c2, c3), (s1, s2, s3) = np.cos(Q), np.sin(Q)
    expected = [
        [c1 * c2, s1 * c2, -s2],
        [c1 * s2 * s3 - s1 * c3, s1 * s2 * s3 + c1 * c3, c2 * s3],
        [c1 * s2 * c3 + s1 * s3, s1 * s2 * c3 - c1 * s3, c2 * c3],
    ]
    np.testing.assert_allclose(rotation(SphericalEuler("zyx").transform(Q)), expected, atol=1e-15)


def test_yaw_pitch_roll_subspace():
    """Eq. 4.8."""
    (_, c2, c3), (_, s2, s3) = np.cos(Q), np.sin(Q)
    expected = np.array([[-s2, 0, 1], [c2 * s3, c3, 0], [c2 * c3, -s3, 0], [0] * 3, [0] * 3, [0] * 3])
    np.testing.assert_allclose(columns(SphericalEuler("zyx").motion_subspace(Q)), expected, atol=1e-15)


def test_yaw_pitch_roll_bias():
    """Eq. 4.9."""
    (_, c2, c3), (_, s2, s3) = np.cos(Q), np.sin(Q)
    v1, v2, v3 = V
    expected = [
        -c2 * v1 * v2,
        -s2 * s3 * v1 * v2 + c2 * c3 * v1 * v3 - s3 * v2 * v3,
        -s2 * c3 * v1 * v2 - c2 * s3 * v1 * v3 - c3 * v2 * v3,
        0, 0, 0,
    ]  # fmt: skip
    np.testing.assert_allclose(six(SphericalEuler("zyx").bias(Q, V)), expected, atol=1e-15)


def test_yaw_pitch_roll_determinant():
    """The 3x3 part of S has determinant -cos q2: singular at a pitch of 90 degrees (section 4.5)."""
    S = columns(SphericalEuler("zyx").motion_subspace(Q))[:3]
    assert np.linalg.det(S) == pytest.approx(-math.cos(Q[1]), abs=1e-15)


@pytest.mark.parametrize(
    ("sequence", "middle"), [("xyz", math.pi / 2), ("zyx", -math.pi / 2), ("zxz", 0.0), ("yxy", math.pi)]
)
def test_euler_angles_are_singular_where_first_and_third_axis_align(sequence, middle):
    """Section 4.5: middle angle +-90 deg with three different axes, 0 or 180 deg otherwise."""
    S = columns(SphericalEuler(sequence).motion_subspace([0.3, middle, -0.9]))[:3]
    assert abs(np.linalg.det(S)) < 1e-15
    away = columns(SphericalEuler(sequence).motion_subspace([0.3, middle + 0.5, -0.9]))[:3]
    assert abs(np.linalg.det(away)) == pytest.approx(math.sin(0.5), abs=1e-14)


@pytest.mark.parametrize("sequence", "xyz xzy yxz yzx zxy zyx xyx xzx yxy yzy zxz zyz".split())
def test_euler_angles_agree_with_scipy(sequence):
    """SciPy's intrinsic rotations (upper-case letters) are the pose of the successor: E transposed."""
    from scipy.spatial.transform import Rotation

    R = Rotation.from_euler(sequence.upper(), Q).as_matrix()
    np.testing.assert_allclose(rotation(SphericalEuler(sequence).transform(Q)).T, R, atol=4e-16)


def test_quaternion_rotation_matrix_and_rates():
    """Eqs. 4.12 and 4.13 with p = (p0, p1, p2, p3), w in successor coordinates."""
    p = np.array([0.5, -0.1, 0.7, 0.5])
    p /= np.linalg.norm(p)
    p0, p1, p2, p3 = p
    E = 2 * np.array([
        [p0**2 + p1**2 - 0.5, p1 * p2 + p0 * p3, p1 * p3 - p0 * p2],
        [p1 * p2 - p0 * p3, p0**2 + p2**2 - 0.5, p2 * p3 + p0 * p1],
        [p1 * p3 + p0 * p2, p2 * p3 - p0 * p1, p0**2 + p3**2 - 0.5],
    ])  # fmt: skip
    rates = 0.5 * np.array([[-p1, -p2, -p3], [p0, -p3, p2], [p3, p0, -p1], [-p2, p1, p0]])
    q = [float(x) for x in p]
    np.testing.assert_allclose(rotation(Spherical().transform(q)), E, atol=4e-16)
    np.testing.assert_allclose(Spherical().q_dot(q, V), rates @ V, atol=4e-16)


@pytest.mark.parametrize("example", [Spherical(), Free()], ids=lambda joint: joint.kind)
def test_quaternion_rates_keep_the_length(example):
    """p . dp/dt = 0 (eq. 4.13), also where |p| is not 1: the rates themselves never make a quaternion drift."""
    rng = np.random.default_rng(4)
    for scale in (1.0, 1.3):
        q, v = example.random(rng), rng.normal(size=example.nv).tolist()
        q[-4:] = [scale * x for x in q[-4:]]
        p, rate = np.array(q[-4:]), np.array(example.q_dot(q, v)[-4:])
        assert np.linalg.norm(rate) > 0.1
        assert abs(p @ rate) <= 4 * np.finfo(float).eps * np.linalg.norm(p) * np.linalg.norm(rate)


def test_quaternion_sign_does_not_matter():
    """p and -p are one orientation; the difference between them is zero."""
    q = Spherical().random(np.random.default_rng(3))
    minus = [-x for x in q]
    np.testing.assert_array_equal(matrix(Spherical().transform(q)), matrix(Spherical().transform(minus)))
    np.testing.assert_allclose(Spherical().difference(q, minus), 0.0, atol=1e-15)


def test_half_turns_are_found():
    """The logarithm of exactly half a turn has length pi."""
    step = Spherical().difference([1.0, 0.0, 0.0, 0.0], [0.0, 0.6, 0.0, -0.8])
    assert np.linalg.norm(step) == pytest.approx(math.pi, abs=1e-15)


def test_planar_rates_of_corrected_example_4_5():
    """Example 4.5 with predecessor translations: q_dot = [[1, 0, 0], [0, c, -s], [0, s, c]] v, without q2 and q3."""
    c, s = math.cos(Q[0]), math.sin(Q[0])
    expected = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ V
    np.testing.assert_allclose(Planar().q_dot(Q, V), expected, atol=1e-16)
    np.testing.assert_array_equal(Planar().q_dot((Q[0], 1e6, -1e6), V), Planar().q_dot(Q, V))


FAR = 1e6


@pytest.mark.parametrize(
    ("example", "position", "spin"),
    [(Planar(), slice(1, 3), [2.0, 0.0, 0.0]), (Free(), slice(0, 3), [0.3, -0.2, 2.0, 0.0, 0.0, 0.0])],
    ids=["planar", "free"],
)
def test_spin_far_away_moves_no_position(example, position, spin):
    """Translations in predecessor coordinates rest while a distant body spins in place (example 4.5)."""
    q = example.random(np.random.default_rng(6))
    q[position] = [FAR, -2.0 * FAR, 3.0 * FAR][: len(q[position])]
    assert example.q_dot(q, spin)[position] == [0.0] * len(q[position])
    assert example.integrate(q, spin)[position] == q[position]


def test_free_body_spinning_far_away_in_successor_coordinates():
    """The book's translations E r of the 6-DoF joint change by v - w x (E r), which grows with the distance."""
    example, rng = Free(), np.random.default_rng(7)
    q, v = example.random(rng), rng.normal(size=6).tolist()
    q[:3] = [30.0, -10.0, 20.0]
    path = along(example, q, v)

    def translation(t):
        X = example.transform(path(t))
        return np.array(list(X.E @ X.r))

    w, linear = np.array(v[:3]), np.array(v[3:])
    expected = linear - np.cross(w, translation(0.0))
    np.testing.assert_allclose(derivative(translation), expected, atol=100 * TOLERANCE)  # positions of order 100
    assert np.linalg.norm(expected) > 5.0 * np.linalg.norm(example.q_dot(q, v)[:3])
    near = [0.0, 0.0, 0.0, *q[3:]]
    np.testing.assert_array_equal(example.q_dot(q, v), example.q_dot(near, v))


def test_planar_full_turn_ends_where_it_began():
    """A constant twist with w = 2 pi draws a full circle."""
    end = Planar().integrate([0.2, 1.0, 2.0], [2.0 * math.pi, 3.0, -1.0])
    np.testing.assert_allclose(end, [0.2 + 2.0 * math.pi, 1.0, 2.0], atol=1e-15)


def test_free_joint_draws_a_circle():
    """Linear velocity 1 along x and w = pi / 2 about z: a quarter of the circle of radius 2 / pi around (0, 2 / pi)."""
    end = Free().integrate(Free().neutral(), [0.0, 0.0, math.pi / 2, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(end[:3], [2 / math.pi, 2 / math.pi, 0.0], atol=1e-16)


def test_rack_and_pinion_of_example_4_6():
    """Example 4.6: S and c_J as printed."""
    r, q, v = 0.4, 0.9, 1.7
    c, s = math.cos(q), math.sin(q)
    joint = RackAndPinion(r)
    np.testing.assert_allclose(six(joint.motion_subspace([q])[0]), [0, 0, 1, r * c, -r * s, 0], atol=1e-16)
    np.testing.assert_allclose(six(joint.bias([q], [v])), [0, 0, 0, -r * s * v**2, -r * c * v**2, 0], atol=1e-15)


def test_rack_and_pinion_of_radius_zero_is_revolute():
    """No travel: the revolute joint."""
    np.testing.assert_array_equal(matrix(RackAndPinion(0.0).transform([0.3])), matrix(Revolute().transform([0.3])))


def test_helical_of_pitch_zero_is_revolute():
    """Pitch 0: X and S of the revolute joint."""
    axis = (1.0, 2.0, -2.0)
    X = [matrix(joint.transform([0.3])) for joint in (Helical(axis, 0.0), Revolute(axis))]
    np.testing.assert_array_equal(*X)


def test_helical_pitch_is_the_pitch_of_the_screw():
    """w . v / w . w of the column of S is the pitch."""
    s = Helical((1.0, 2.0, -2.0), 0.37).motion_subspace([0.0])[0]
    assert s.angular.dot(s.linear) / s.angular.dot(s.angular) == pytest.approx(0.37, abs=1e-15)


def test_universal_joint_axes():
    """The first axis leans by q2 as seen from the successor; E x and y stay perpendicular, exactly."""
    q = [0.8, 0.5]
    S = columns(Universal().motion_subspace(q))[:3]
    np.testing.assert_allclose(S[:, 0], [math.cos(0.5), 0.0, math.sin(0.5)], atol=1e-16)
    np.testing.assert_array_equal(S[:, 1], [0.0, 1.0, 0.0])
    assert rotation(Universal().transform(q))[1, 0] == 0.0


def test_sphere_in_cylinder_stays_on_the_line():
    """The center of the sphere has x = y = 0 in the cylinder's coordinates."""
    joint = SphereInCylinder()
    X = joint.transform(joint.random(np.random.default_rng(5)))
    assert (X.r.x, X.r.y) == (0.0, 0.0)


def test_reversing_twice_gives_the_joint_back():
    """Polarity reversal is an involution, in its results."""
    joint = RackAndPinion(0.4)
    twice = Reversed(Reversed(joint))
    np.testing.assert_allclose(matrix(twice.transform([0.3])), matrix(joint.transform([0.3])), atol=1e-16)
    np.testing.assert_allclose(six(twice.bias([0.3], [2.0])), six(joint.bias([0.3], [2.0])), atol=1e-15)


@pytest.mark.parametrize("axis", [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])
def test_axes_along_coordinates_are_axial_rotations(axis):
    """The cheap rotation, with the sign in s, and structural floats in S; nothing is gained by another frame."""
    joint = Revolute(tuple(1e-3 * x for x in axis))
    E = joint.transform([0.3]).E
    index = [abs(x) for x in axis].index(1)
    assert isinstance(E, AxialRotation) and E.axis == index and E.s == sum(axis) * math.sin(0.3)
    assert all(type(x) is float for x in joint.motion_subspace([0.3])[0])
    R, same = joint.canonical()
    assert isinstance(R, IdentityRotation) and same is joint


def test_nearly_aligned_axes_are_aligned_only_within_round_off():
    """1e-14 off the axis is an artefact of rotation matrices, 1e-9 is a direction."""
    assert Revolute((1e-14, 0.0, 1.0)) == Revolute()
    assert Revolute((1e-9, 0.0, 1.0)).axis[0] == pytest.approx(1e-9)
    assert not isinstance(Revolute((1e-9, 0.0, 1.0)).transform([0.3]).E, AxialRotation)
