"""SO(3) and the unit quaternions: exponential, logarithm, tangent maps and all their derivatives, over any scalar.

A rotation vector v is axis times angle [rad]. Frame B is frame A turned by v, and E = ``exp_so3(v)`` is the coordinate
rotation from A to B, ``exp(-v x)``, which is the transpose of R = ``exp(v x)``.

Tangent maps come in two forms. While v changes at the rate v', B turns with the angular velocity

* ``right_jacobian(v) @ v'`` in B's own coordinates, ``(R^T R') = (J_r v') x``: the T of Holzinger et al. and of Bruls
  and Cardona, the body form;
* ``left_jacobian(v) @ v'`` in A's coordinates, ``(R' R^T) = (J_l v') x``: its transpose, Sola's J_l.

Each map exists as a matrix, as a product without the matrix (``_apply``), as the product with its inverse (``_solve``),
and with derivatives: ``_rate`` is the derivative along a change of v, and ``_gradient`` the matrix of all of them. The
inverses are singular at full turns, where the logarithm is: a `SingularityError` for numbers.
"""

from __future__ import annotations

from kinetree.liegroup.coefficients import ARCTAN, cos_sinc, exp_coefficients, log_coefficient
from kinetree.spatial.rotation import AxialRotation, GeneralRotation, IdentityRotation, Rotation
from kinetree.spatial.rotations import quaternion_from_rotation, require_direction
from kinetree.spatial.scalar import arctan2, sqrt, where
from kinetree.spatial.vectors import Matrix3, Vector3

# Exponentials and logarithms -----------------------------------------------------------------------------------------


def quaternion_exp(v: Vector3) -> tuple:
    """The unit quaternion of a rotation vector [rad]: ``(cos(a/2), sin(a/2) v/a)``, ``a = |v|``.

    Examples
    --------
    >>> quaternion_exp(Vector3(0.0, 0.0, 0.0))
    (1.0, 0.0, 0.0, 0.0)
    """
    cosine, sinc = cos_sinc(0.25 * v.dot(v))
    half = 0.5 * sinc
    return cosine, half * v.x, half * v.y, half * v.z


def quaternion_log(q) -> Vector3:
    """The rotation vector [rad] of at most half a turn; q and -q give the same, and the length of q does not matter.

    Raises
    ------
    QuaternionError
        q is zero.

    Examples
    --------
    >>> quaternion_log((-1.0, 0.0, 0.0, 0.0))
    Vector3(-0.0, -0.0, -0.0)
    """
    w, x, y, z = q
    flip = where(w < 0.0, -1.0, 1.0)
    w = w * flip
    nn, ww = x * x + y * y + z * z, w * w
    require_direction(q, nn + ww)
    small = nn < 0.01 * ww
    n = sqrt(where(small, 1.0, nn))
    t = where(small, nn, 0.0) / where(small, ww, 1.0)
    near = ARCTAN(t) / where(small, w, 1.0)  # arctan(n / w) / n
    factor = flip * where(small, near, arctan2(n, w) / n)
    factor = factor + factor
    return Vector3(factor * x, factor * y, factor * z)


def exp_so3(v: Vector3) -> GeneralRotation:
    """Coordinate rotation of a frame turned by the rotation vector v [rad].

    Parameters
    ----------
    v : Vector3
        Axis times angle; its coordinates in A and B are the same.

    Returns
    -------
    GeneralRotation
        ``E = exp(-v x) = 1 - A (v x) + B (v x)^2``, with ``A = sin(a)/a``, ``B = (1 - cos a)/a^2``, ``a = |v|``.

    Notes
    -----
    *Source* Holzinger et al., eq. 14, of which it is the transpose.
    """
    A, B, _ = exp_coefficients(v.dot(v))
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


# Tangent maps --------------------------------------------------------------------------------------------------------


def right_jacobian(v: Vector3) -> Matrix3:
    """``1 - B (v x) + C (v x)^2``: takes the rate of a rotation vector to the angular velocity in body coordinates.

    The tangent operator T of Holzinger et al., eq. 15.
    """
    _, B, C = exp_coefficients(v.dot(v))
    return _quadratic(v, -B, C)


def left_jacobian(v: Vector3) -> Matrix3:
    """``1 + B (v x) + C (v x)^2``: the rate of a rotation vector to the angular velocity in fixed coordinates."""
    _, B, C = exp_coefficients(v.dot(v))
    return _quadratic(v, B, C)


def right_jacobian_inverse(v: Vector3) -> Matrix3:
    """``1 + v x / 2 + D (v x)^2``: angular velocity in body coordinates to the rate of the rotation vector.

    Holzinger et al., eq. 76; their eq. 16 is misprinted.
    """
    return _quadratic(v, 0.5, log_coefficient(v.dot(v)))


def left_jacobian_inverse(v: Vector3) -> Matrix3:
    """``1 - v x / 2 + D (v x)^2``: angular velocity in fixed coordinates to the rate of the rotation vector."""
    return _quadratic(v, -0.5, log_coefficient(v.dot(v)))


def right_jacobian_apply(v: Vector3, x: Vector3) -> Vector3:
    """``right_jacobian(v) @ x`` without forming the matrix."""
    _, B, C = exp_coefficients(v.dot(v))
    return _quadratic_apply(v, -B, C, x)


def left_jacobian_apply(v: Vector3, x: Vector3) -> Vector3:
    """``left_jacobian(v) @ x`` without forming the matrix."""
    _, B, C = exp_coefficients(v.dot(v))
    return _quadratic_apply(v, B, C, x)


def right_jacobian_solve(v: Vector3, x: Vector3) -> Vector3:
    """``right_jacobian_inverse(v) @ x`` without forming the matrix."""
    return _quadratic_apply(v, 0.5, log_coefficient(v.dot(v)), x)


def left_jacobian_solve(v: Vector3, x: Vector3) -> Vector3:
    """``left_jacobian_inverse(v) @ x`` without forming the matrix."""
    return _quadratic_apply(v, -0.5, log_coefficient(v.dot(v)), x)


# Derivatives along a rate of v ---------------------------------------------------------------------------------------


def exp_so3_rate(v: Vector3, rate: Vector3) -> Matrix3:
    """The derivative of ``exp_so3(v)`` while v changes at this rate: ``-(J_r(v) v') x E``.

    Examples
    --------
    >>> exp_so3_rate(Vector3.zero(), Vector3(0.0, 0.0, 2.0)).rows[0]
    (-0.0, 2.0, -0.0)
    """
    return -(Matrix3.cross(right_jacobian_apply(v, rate)) @ exp_so3(v).matrix)


def right_jacobian_rate(v: Vector3, rate: Vector3) -> Matrix3:
    """The derivative of ``right_jacobian(v)`` while v changes at this rate."""
    return _quadratic_rate(v, rate, *_tangent(v, -1.0))


def left_jacobian_rate(v: Vector3, rate: Vector3) -> Matrix3:
    """The derivative of ``left_jacobian(v)`` while v changes at this rate."""
    return _quadratic_rate(v, rate, *_tangent(v, 1.0))


def right_jacobian_inverse_rate(v: Vector3, rate: Vector3) -> Matrix3:
    """The derivative of ``right_jacobian_inverse(v)`` while v changes at this rate."""
    return _quadratic_rate(v, rate, *_inverse_tangent(v, 0.5))


def left_jacobian_inverse_rate(v: Vector3, rate: Vector3) -> Matrix3:
    """The derivative of ``left_jacobian_inverse(v)`` while v changes at this rate."""
    return _quadratic_rate(v, rate, *_inverse_tangent(v, -0.5))


# Derivatives of products with respect to v: the matrix that takes any rate of v to the rate of the product -----------


def right_jacobian_apply_gradient(v: Vector3, x: Vector3) -> Matrix3:
    """d/dv of ``right_jacobian(v) @ x``, x constant: ``gradient @ rate == right_jacobian_rate(v, rate) @ x``."""
    return _quadratic_gradient(v, x, *_tangent(v, -1.0))


def left_jacobian_apply_gradient(v: Vector3, x: Vector3) -> Matrix3:
    """d/dv of ``left_jacobian(v) @ x``, x constant."""
    return _quadratic_gradient(v, x, *_tangent(v, 1.0))


def right_jacobian_solve_gradient(v: Vector3, x: Vector3) -> Matrix3:
    """d/dv of ``right_jacobian_inverse(v) @ x``, x constant: the stiffness of its equation of motion."""
    return _quadratic_gradient(v, x, *_inverse_tangent(v, 0.5))


def left_jacobian_solve_gradient(v: Vector3, x: Vector3) -> Matrix3:
    """d/dv of ``left_jacobian_inverse(v) @ x``, x constant."""
    return _quadratic_gradient(v, x, *_inverse_tangent(v, -0.5))


# Functions 1 + p(t) (v x) + q(t) (v x)^2 of v, t = v . v --------------------------------------------------------------


def _tangent(v, sign):
    """p, q, dp/dt, dq/dt of the tangent maps."""
    t = v.dot(v)
    _, B, C = exp_coefficients(t)
    _, dB, dC = exp_coefficients(t, 1)
    return sign * B, C, sign * dB, dC


def _inverse_tangent(v, half):
    """p, q, dp/dt, dq/dt of the inverse tangent maps."""
    t = v.dot(v)
    return half, log_coefficient(t), 0.0, log_coefficient(t, 1)


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


def _quadratic_rate(v, rate, p, q, dp, dq):
    """The derivative of 1 + p (v x) + q (v x)^2."""
    t_rate = 2.0 * v.dot(rate)
    V, dV = Matrix3.cross(v), Matrix3.cross(rate)
    return V * (dp * t_rate) + dV * p + (V @ V) * (dq * t_rate) + (V @ dV + dV @ V) * q


def _quadratic_gradient(v, x, p, q, dp, dq):
    """d/dv of x + p v x x + q v x (v x x)."""
    first = v.cross(x)
    steep = (first * dp + v.cross(first) * dq) * 2.0
    V, X = Matrix3.cross(v), Matrix3.cross(x)
    outer = Matrix3([[a * b for b in v] for a in steep])
    return outer - X * p - (Matrix3.cross(first) + V @ X) * q
