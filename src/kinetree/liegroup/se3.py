"""SE(3): exponential, logarithm, tangent maps and all their derivatives, over any scalar.

The path of a constant twist u is a screw. ``exp_se3(u)`` is the transform from the initial frame to the frame after
one unit of time: ``X = exp(-u x)`` on motions; as a pose, ``[[R, p], [0, 1]]`` is the matrix
exponential of ``[[w x, v], [0, 0]]`` with ``R = E^T`` and ``p = r``.

While u changes at the rate u', the displaced frame has the velocity ``right_jacobian_apply(u, u')`` in its own
coordinates (the T of Holzinger et al. and of Bruls and Cardona) and ``left_jacobian_apply(u, u')`` in initial ones.
``_solve`` is the inverse, ``_rate`` a derivative along a change of u. Twists are (angular, linear), as everywhere here;
those papers have (linear, angular).

The tangent maps need no formulas of their own. ``u x = [[w x, 0], [v x, w x]]`` multiplies like the dual number
``w x + eps v x``, so every function f of it has f(w x) on the diagonal and the derivative of f along v below.
"""

from __future__ import annotations

from kinetree.liegroup import so3
from kinetree.liegroup.coefficients import exp_coefficients, log_coefficient
from kinetree.spatial.motion import Motion
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Matrix3, Vector3


def exp_se3(u: Motion) -> Transform:
    """The transform to a frame after one unit of time with the constant twist u.

    Parameters
    ----------
    u : Motion
        Twist [rad, m], in the moving frame's coordinates (at the start and at the end they are the same).

    Returns
    -------
    Transform
        ``E = exp_so3(w)``, ``r = left_jacobian(w) v``.

    Notes
    -----
    *Source* Holzinger et al., eq. 13, whose pose H is ``[[E^T, r], [0, 1]]``. H exp(n) is ``exp_se3(n) @ X`` here.

    Examples
    --------
    >>> exp_se3(Motion.of([0.0, 0.0, 0.0, 1.0, 2.0, 3.0])).r
    Vector3(1.0, 2.0, 3.0)
    """
    return Transform(so3.exp_so3(u.angular), so3.left_jacobian_apply(u.angular, u.linear))


def log_se3(X: Transform) -> Motion:
    """The twist u of at most half a turn with ``exp_se3(u) = X`` [rad, m]; invariant under X.

    Examples
    --------
    >>> log_se3(Transform.identity()).linear
    Vector3(0.0, 0.0, 0.0)
    """
    X = X.collapse()
    w = so3.log_so3(X.E)
    return Motion(w, so3.left_jacobian_solve(w, X.r))


def exp_se3_rate(u: Motion, rate: Motion) -> tuple[Matrix3, Vector3]:
    """The derivatives of E and r of ``exp_se3(u)`` while u changes at this rate.

    Returns
    -------
    Matrix3, Vector3
        ``-w x E`` and ``E^T v``, where (w, v) is the velocity ``right_jacobian_apply(u, rate)`` of the displaced frame.

    Examples
    --------
    >>> exp_se3_rate(Motion.zero(), Motion.of([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]))[1]
    Vector3(1.0, 2.0, 3.0)
    """
    V = right_jacobian_apply(u, rate)
    E = so3.exp_so3(u.angular)
    return -(Matrix3.cross(V.angular) @ E.matrix), E.inverse_apply(V.linear)


# Tangent maps --------------------------------------------------------------------------------------------------------


def left_jacobian_apply(u: Motion, x: Motion) -> Motion:
    """Rate x of the twist u to the velocity of the displaced frame in the coordinates of the frame where it started."""
    return _exponential_map(u, 1.0, x)


def right_jacobian_apply(u: Motion, x: Motion) -> Motion:
    """Rate x of the twist u to the velocity of the displaced frame in its own coordinates."""
    return _exponential_map(u, -1.0, x)


def left_jacobian_solve(u: Motion, x: Motion) -> Motion:
    """Velocity in the coordinates of the start to the rate of the twist: the inverse of `left_jacobian_apply`."""
    return _logarithm_map(u, -0.5, x)


def right_jacobian_solve(u: Motion, x: Motion) -> Motion:
    """Velocity in the displaced frame's coordinates to the rate of the twist: the inverse of `right_jacobian_apply`.

    Holzinger et al., eqs. 72 to 78; their eqs. 17 and 78 are misprinted.
    """
    return _logarithm_map(u, 0.5, x)


# Derivatives along a rate of u ---------------------------------------------------------------------------------------


def left_jacobian_apply_rate(u: Motion, rate: Motion, x: Motion) -> Motion:
    """The derivative of ``left_jacobian_apply(u, x)`` while u changes at this rate with x constant."""
    return _polynomial_rate(u, rate, x, *_tangent(u, 1.0))


def right_jacobian_apply_rate(u: Motion, rate: Motion, x: Motion) -> Motion:
    """The derivative of ``right_jacobian_apply(u, x)`` while u changes at this rate with x constant."""
    return _polynomial_rate(u, rate, x, *_tangent(u, -1.0))


def left_jacobian_solve_rate(u: Motion, rate: Motion, x: Motion) -> Motion:
    """The derivative of ``left_jacobian_solve(u, x)`` while u changes at this rate with x constant."""
    return _polynomial_rate(u, rate, x, *_inverse_tangent(u, -0.5))


def right_jacobian_solve_rate(u: Motion, rate: Motion, x: Motion) -> Motion:
    """The derivative of ``right_jacobian_solve(u, x)`` while u changes at this rate with x constant."""
    return _polynomial_rate(u, rate, x, *_inverse_tangent(u, 0.5))


# Functions 1 + p(t) (u x) + q(t) (u x)^2 of u, t = w . w + eps 2 w . v ------------------------------------------------


def _exponential_map(u, sign, x):
    """1 + sign B (u x) + C (u x)^2, B and C being functions of a dual number too."""
    t = u.angular.dot(u.angular)
    _, B, C = exp_coefficients(t)
    _, dB, dC = exp_coefficients(t, 1)
    rate = 2.0 * u.angular.dot(u.linear)
    first = u.cross(x)
    second = u.cross(first)
    drift = first.angular * (sign * dB * rate) + second.angular * (dC * rate)
    result = x + first * (sign * B) + second * C
    return Motion(result.angular, result.linear + drift)


def _logarithm_map(u, half, x):
    """1 +- (u x)/2 + D (u x)^2."""
    t = u.angular.dot(u.angular)
    D, dD = log_coefficient(t), log_coefficient(t, 1)
    rate = 2.0 * u.angular.dot(u.linear)
    first = u.cross(x)
    second = u.cross(first)
    result = x + first * half + second * D
    return Motion(result.angular, result.linear + second.angular * (dD * rate))


def _tangent(u, sign):
    """p and q of the tangent maps, each with two derivatives with respect to t."""
    t = u.angular.dot(u.angular)
    values, rates, second = exp_coefficients(t), exp_coefficients(t, 1), exp_coefficients(t, 2)
    return tuple(sign * f[1] for f in (values, rates, second)), tuple(f[2] for f in (values, rates, second))


def _inverse_tangent(u, half):
    """p and q of the inverse tangent maps, each with two derivatives with respect to t."""
    t = u.angular.dot(u.angular)
    return (half, 0.0, 0.0), (log_coefficient(t), log_coefficient(t, 1), log_coefficient(t, 2))


def _polynomial_rate(u, rate, x, p, q):
    """The derivative of x + p u x x + q u x (u x x), of whose coefficients t takes an infinitesimal part along, too."""
    (w, v), (dw, dv) = (u.angular, u.linear), (rate.angular, rate.linear)
    s, t_rate = 2.0 * w.dot(v), 2.0 * w.dot(dw)  # the infinitesimal part of t, and the derivatives of both
    s_rate = 2.0 * (dw.dot(v) + w.dot(dv))
    first = u.cross(x)
    second, dfirst = u.cross(first), rate.cross(x)
    dsecond = rate.cross(first) + u.cross(dfirst)
    result, drift = Motion.zero(), Vector3.zero()
    for (f, df, ddf), column, dcolumn in ((p, first, dfirst), (q, second, dsecond)):
        result = result + column * (df * t_rate) + dcolumn * f
        drift = drift + column.angular * (ddf * t_rate * s + df * s_rate) + dcolumn.angular * (df * s)
    return Motion(result.angular, result.linear + drift)
