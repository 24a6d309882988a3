"""Rotations from angles, quaternions and rotation vectors, over any scalar.

Conventions. A rotation is described as that of frame B relative to frame A, and every function that returns a
:class:`Rotation` returns the *coordinate* rotation E from A to B, which is the transpose of the matrix R that turns A's
axes into B's. Quaternions are (w, x, y, z), and the product of quaternions composes as R does: ``R(p q) = R(p) R(q)``.
Rotation vectors are axis times angle [rad].

Near a zero angle the closed forms are 0/0; there smooth series take over, chosen by :func:`where`, with the arguments
of divisions and roots guarded, so that values and derivatives are accurate and traced code has no branch.
"""

from __future__ import annotations

from kinetree.errors import JointError
from kinetree.spatial.rotation import AxialRotation, GeneralRotation, IdentityRotation, Rotation
from kinetree.spatial.scalar import arctan2, sincos, sqrt, where
from kinetree.spatial.vectors import Matrix3, Vector3

EULER_SEQUENCES = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")


def rx(angle) -> AxialRotation:
    """Coordinate rotation for a frame turned by ``angle`` [rad] about x: ``[[1, 0, 0], [0, c, s], [0, -s, c]]``."""
    s, c = sincos(angle)
    return AxialRotation(0, c, s)


def ry(angle) -> AxialRotation:
    """Coordinate rotation for a frame turned by ``angle`` [rad] about y: ``[[c, 0, -s], [0, 1, 0], [s, 0, c]]``."""
    s, c = sincos(angle)
    return AxialRotation(1, c, s)


def rz(angle) -> AxialRotation:
    """Coordinate rotation for a frame turned by ``angle`` [rad] about z: ``[[c, s, 0], [-s, c, 0], [0, 0, 1]]``."""
    s, c = sincos(angle)
    return AxialRotation(2, c, s)


def euler(sequence: str, angles) -> Rotation:
    """Coordinate rotation of a frame turned about three axes in succession.

    Parameters
    ----------
    sequence : str
        Three of x, y, z, the first rotation first. Each rotation is about an axis of the frame as it stands then
        (intrinsic axes), like three revolute joints in a row. 'zyx' is yaw, pitch, roll; URDF's rpy (r, p, y) is
        ``euler('zyx', (y, p, r))``.
    angles : sequence of three scalars
        [rad], in the order of the sequence.

    Returns
    -------
    Rotation
        ``E_3 E_2 E_1``.

    Raises
    ------
    JointError
        If the sequence is none of the twelve.

    Notes
    -----
    SciPy writes intrinsic sequences in capitals: its 'ZYX' is 'zyx' here.

    Examples
    --------
    >>> euler("zxz", (0.0, 0.0, 0.0)) @ Vector3(1.0, 2.0, 3.0)
    Vector3(1.0, 2.0, 3.0)
    """
    if sequence not in EULER_SEQUENCES:
        raise JointError(
            f"Euler sequence {sequence!r} is unknown; expected lower-case axes of the turned frame, one of "
            f"{', '.join(EULER_SEQUENCES)}.",
            sequence=sequence,
        )
    first, second, third = (_ABOUT[axis](angle) for axis, angle in zip(sequence, angles, strict=True))
    return third @ (second @ first)


_ABOUT = {"x": rx, "y": ry, "z": rz}


# Quaternions ---------------------------------------------------------------------------------------------------------


def quaternion_to_rotation(q) -> GeneralRotation:
    """Coordinate rotation of a unit quaternion (Featherstone eq. 4.12).

    Parameters
    ----------
    q : sequence of four scalars
        (w, x, y, z), of unit length.

    Returns
    -------
    GeneralRotation
        E, the transpose of R(q).
    """
    w, x, y, z = q
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return GeneralRotation(
        Matrix3(
            (
                (1.0 - (yy + zz), xy + wz, xz - wy),
                (xy - wz, 1.0 - (xx + zz), yz + wx),
                (xz + wy, yz - wx, 1.0 - (xx + yy)),
            )
        )
    )


def quaternion_from_rotation(E: Rotation) -> tuple:
    """Unit quaternion of a rotation, the one of the two whose largest component is positive; no branch, no singularity.

    Parameters
    ----------
    E : Rotation

    Returns
    -------
    tuple of four scalars
        (w, x, y, z).

    Notes
    -----
    The rows of ``4 q q^T`` are linear in E; the one with the largest diagonal entry, normalized, is q (Shepperd).
    """
    if E.__class__ is IdentityRotation:
        return 1.0, 0.0, 0.0, 0.0
    (E11, E12, E13), (E21, E22, E23), (E31, E32, E33) = E.matrix.rows
    wx, wy, wz = E23 - E32, E31 - E13, E12 - E21
    xy, xz, yz = E12 + E21, E13 + E31, E23 + E32
    ww, xx = 1.0 + E11 + E22 + E33, 1.0 + E11 - E22 - E33
    yy, zz = 1.0 - E11 + E22 - E33, 1.0 - E11 - E22 + E33
    largest, row = ww, (ww, wx, wy, wz)
    for size, candidate in ((xx, (wx, xx, xy, xz)), (yy, (wy, xy, yy, yz)), (zz, (wz, xz, yz, zz))):
        larger = size > largest
        largest = where(larger, size, largest)
        row = tuple(where(larger, new, old) for new, old in zip(candidate, row, strict=True))
    return quaternion_normalize(row)


def quaternion_product(p, q) -> tuple:
    """Hamilton's product (16m + 12a); ``R(p q) = R(p) R(q)``."""
    a, b, c, d = p
    w, x, y, z = q
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def quaternion_inverse(q) -> tuple:
    """The inverse of a unit quaternion: its conjugate."""
    w, x, y, z = q
    return w, -x, -y, -z


def quaternion_normalize(q) -> tuple:
    """The quaternion divided by its length; NaN for the zero quaternion of arrays, an error for that of floats."""
    w, x, y, z = q
    length = sqrt(w * w + x * x + y * y + z * z)
    return w / length, x / length, y / length, z / length


def quaternion_exp(v: Vector3) -> tuple:
    """The unit quaternion of a rotation vector [rad]: ``(cos(a/2), sin(a/2) v/a)``, a = |v|.

    Examples
    --------
    >>> quaternion_exp(Vector3(0.0, 0.0, 0.0))
    (1.0, 0.0, 0.0, 0.0)
    """
    cosine, sinc = _cos_sinc(0.25 * v.dot(v))
    half = 0.5 * sinc
    return cosine, half * v.x, half * v.y, half * v.z


def quaternion_log(q) -> Vector3:
    """The rotation vector [rad] of at most half a turn; q and -q give the same, and the length of q does not matter.

    Examples
    --------
    >>> quaternion_log((-1.0, 0.0, 0.0, 0.0))
    Vector3(-0.0, -0.0, -0.0)
    """
    w, x, y, z = q
    flip = where(w < 0.0, -1.0, 1.0)
    w = w * flip
    nn, ww = x * x + y * y + z * z, w * w
    small = nn < 0.01 * ww
    n = sqrt(where(small, 1.0, nn))
    t = where(small, nn, 0.0) / where(small, ww, 1.0)
    near = _series(_ARCTAN, t) / where(small, w, 1.0)  # arctan(n / w) / n
    factor = flip * where(small, near, arctan2(n, w) / n)
    factor = factor + factor
    return Vector3(factor * x, factor * y, factor * z)


# The exponential of SO(3), its logarithm and its tangent maps --------------------------------------------------------


def exp_so3(v: Vector3) -> GeneralRotation:
    """Coordinate rotation of a frame turned by the rotation vector v [rad].

    Parameters
    ----------
    v : Vector3
        Axis times angle; its coordinates in A and B are the same.

    Returns
    -------
    GeneralRotation
        ``E = exp(-v x) = 1 - A (v x) + B (v x)^2``, with ``A = sin(a)/a``, ``B = (1 - cos a)/a^2``, a = |v|.
    """
    A, B, _ = _exp_coefficients(v.dot(v))
    return GeneralRotation(_quadratic(v, -A, B))


def log_so3(E: Rotation) -> Vector3:
    """Rotation vector [rad] of at most half a turn, accurate from tiny angles up to a half turn.

    Parameters
    ----------
    E : Rotation

    Returns
    -------
    Vector3
        With ``exp_so3(log_so3(E)) = E``. At exactly half a turn v and -v are the same rotation, and one is returned.
    """
    if E.__class__ is IdentityRotation:
        return Vector3.zero()
    if E.__class__ is AxialRotation:
        return Vector3.unit(E.axis) * arctan2(E.s, E.c)
    return quaternion_log(quaternion_from_rotation(E))


def right_jacobian(v: Vector3) -> Matrix3:
    """``1 - B (v x) + C (v x)^2``: takes the rate of a rotation vector to the angular velocity in body coordinates."""
    _, B, C = _exp_coefficients(v.dot(v))
    return _quadratic(v, -B, C)


def left_jacobian(v: Vector3) -> Matrix3:
    """``1 + B (v x) + C (v x)^2``: the rate of a rotation vector to the angular velocity in fixed coordinates."""
    _, B, C = _exp_coefficients(v.dot(v))
    return _quadratic(v, B, C)


def right_jacobian_inverse(v: Vector3) -> Matrix3:
    """``1 + v x / 2 + D (v x)^2``: angular velocity in body coordinates to the rate of the rotation vector."""
    return _quadratic(v, 0.5, _log_coefficient(v.dot(v)))


def left_jacobian_inverse(v: Vector3) -> Matrix3:
    """``1 - v x / 2 + D (v x)^2``: angular velocity in fixed coordinates to the rate of the rotation vector."""
    return _quadratic(v, -0.5, _log_coefficient(v.dot(v)))


def right_jacobian_apply(v: Vector3, x: Vector3) -> Vector3:
    """``right_jacobian(v) @ x`` without forming the matrix."""
    _, B, C = _exp_coefficients(v.dot(v))
    return _quadratic_apply(v, -B, C, x)


def left_jacobian_apply(v: Vector3, x: Vector3) -> Vector3:
    """``left_jacobian(v) @ x`` without forming the matrix."""
    _, B, C = _exp_coefficients(v.dot(v))
    return _quadratic_apply(v, B, C, x)


def right_jacobian_solve(v: Vector3, x: Vector3) -> Vector3:
    """``right_jacobian_inverse(v) @ x`` without forming the matrix."""
    return _quadratic_apply(v, 0.5, _log_coefficient(v.dot(v)), x)


def left_jacobian_solve(v: Vector3, x: Vector3) -> Vector3:
    """``left_jacobian_inverse(v) @ x`` without forming the matrix."""
    return _quadratic_apply(v, -0.5, _log_coefficient(v.dot(v)), x)


def _quadratic(v, p, q):
    """1 + p (v x) + q (v x)^2."""
    x, y, z = v.x, v.y, v.z
    px, py, pz = p * x, p * y, p * z
    qx, qy, qz = q * x, q * y, q * z
    xx, yy, zz = qx * x, qy * y, qz * z
    xy, xz, yz = qx * y, qx * z, qy * z
    return Matrix3(
        ((1.0 - (yy + zz), xy - pz, xz + py), (xy + pz, 1.0 - (xx + zz), yz - px), (xz - py, yz + px, 1.0 - (xx + yy)))
    )


def _quadratic_apply(v, p, q, x):
    """x + p v x x + q v x (v x x)."""
    first = v.cross(x)
    return x + first * p + v.cross(first) * q


# Functions of the squared angle t, smooth at t = 0. Below t = 1 by series: there the closed forms cancel. -------------


def _inverse_factorials(first):
    """(-1)^k / (first + 2k)! for k = 0..9: the first omitted term is below 1e-20 of the sum for t < 1."""
    terms, factorial = [], 1
    for n in range(1, first + 19):
        factorial *= n
        if n >= first and (n - first) % 2 == 0:
            terms.append((-1.0) ** ((n - first) // 2) / factorial)
    return tuple(terms)


_COS = (1.0, *(-c for c in _inverse_factorials(2)))  # cos(sqrt(t))
_SINC = _inverse_factorials(1)  # A = sin(a) / a
_COSC = _inverse_factorials(2)  # B = (1 - cos a) / a^2
_SINCC = _inverse_factorials(3)  # C = (a - sin a) / a^3
_ARCTAN = tuple((-1.0) ** k / (2 * k + 1) for k in range(10))  # arctan(x) / x, used below x^2 = 0.01
_COTC = (  # D = (1 - (a/2) cot(a/2)) / a^2 = sum |B_2k| / (2k)! t^(k-1), the B_2k being Bernoulli's numbers
    1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600,
    3617 / 10670622842880000, 43867 / 5109094217170944000, 174611 / 802857662698291200000,
    77683 / 14101100039391805440000, 236364091 / 1693824136731743669452800000,
)  # fmt: skip


def _series(coefficients, t):
    """Horner's rule."""
    value = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * t + c
    return value


def _series_rate(coefficients, t):
    """Derivative of the series with respect to t."""
    return _series([k * c for k, c in enumerate(coefficients)][1:], t)


def _guarded(t):
    """(t < 1, t with 1 in place of the small ones, sin and cos of its root, the root)."""
    small = t < 1.0
    safe = where(small, 1.0, t)
    angle = sqrt(safe)
    s, c = sincos(angle)
    return small, safe, s, c, angle


def _cos_sinc(t):
    """cos(a) and sin(a)/a."""
    small, _, s, c, angle = _guarded(t)
    return where(small, _series(_COS, t), c), where(small, _series(_SINC, t), s / angle)


def _exp_coefficients(t):
    """A, B, C of the exponential and its tangent maps."""
    small, safe, s, c, angle = _guarded(t)
    A = s / angle
    B = (1.0 - c) / safe
    C = (1.0 - A) / safe
    return (
        where(small, _series(_SINC, t), A),
        where(small, _series(_COSC, t), B),
        where(small, _series(_SINCC, t), C),
    )


def _log_coefficient(t):
    """D of the inverse tangent maps; singular at a full turn, where the logarithm is."""
    small, safe, s, c, angle = _guarded(t)
    D = (1.0 - 0.5 * angle * s / (1.0 - c)) / safe
    return where(small, _series(_COTC, t), D)


def _exp_coefficient_rates(t):
    """dA/dt, dB/dt, dC/dt."""
    small, safe, s, c, angle = _guarded(t)
    A = s / angle
    B = (1.0 - c) / safe
    C = (1.0 - A) / safe
    dA = (c - A) / (2.0 * safe)
    dB = (0.5 * A - B) / safe
    dC = (-dA - C) / safe
    return (
        where(small, _series_rate(_SINC, t), dA),
        where(small, _series_rate(_COSC, t), dB),
        where(small, _series_rate(_SINCC, t), dC),
    )


def _log_coefficient_rate(t):
    """dD/dt."""
    small, safe, s, c, angle = _guarded(t)
    A, B = s / angle, (1.0 - c) / safe
    dA, dB = (c - A) / (2.0 * safe), (0.5 * A - B) / safe
    D = (1.0 - A / (2.0 * B)) / safe
    dD = (-(dA * B - A * dB) / (2.0 * B * B) - D) / safe
    return where(small, _series_rate(_COTC, t), dD)
