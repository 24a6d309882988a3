"""The exponential of SE(3), its logarithm and its tangent maps, over any scalar.

A constant twist u draws a screw. ``exp_se3(u)`` is the transform from the frame where the motion started to where it is
after one unit of time: ``X = exp(-u x)`` on motions; as a pose, ``[[R, p], [0, 1]]`` is the matrix
exponential of ``[[w x, v], [0, 0]]`` with ``R = E^T`` and ``p = r``.

The tangent maps need no formulas of their own. ``u x = [[w x, 0], [v x, w x]]`` multiplies like the dual number
``w x + eps v x``, so every function f of it has f(w x) on the diagonal and the derivative of f along v below.
"""

from __future__ import annotations

from kinetree.spatial.motion import Motion
from kinetree.spatial.rotations import (
    _exp_coefficient_rates,
    _exp_coefficients,
    _log_coefficient,
    _log_coefficient_rate,
    exp_so3,
    log_so3,
)
from kinetree.spatial.rotations import (
    left_jacobian_apply as _twist_to_chord,
)
from kinetree.spatial.rotations import (
    left_jacobian_solve as _chord_to_twist,
)
from kinetree.spatial.transform import Transform


def exp_se3(u: Motion) -> Transform:
    """The transform to a frame that has moved with the constant twist u for one unit of time.

    Parameters
    ----------
    u : Motion
        Twist [rad, m], in the moving frame's coordinates (at the start and at the end they are the same).

    Returns
    -------
    Transform
        ``E = exp_so3(w)``, ``r = left_jacobian(w) v``.

    Examples
    --------
    >>> exp_se3(Motion.of([0.0, 0.0, 0.0, 1.0, 2.0, 3.0])).r
    Vector3(1.0, 2.0, 3.0)
    """
    return Transform(exp_so3(u.angular), _twist_to_chord(u.angular, u.linear))


def log_se3(X: Transform) -> Motion:
    """The twist u of at most half a turn with ``exp_se3(u) = X`` [rad, m]; invariant under X.

    Examples
    --------
    >>> log_se3(Transform.identity()).linear
    Vector3(0.0, 0.0, 0.0)
    """
    X = X.collapse()
    w = log_so3(X.E)
    return Motion(w, _chord_to_twist(w, X.r))


def left_jacobian_apply(u: Motion, x: Motion) -> Motion:
    """Rate x of the twist u to the velocity of the moved frame in the coordinates of the frame where it started."""
    return _exponential_map(u, 1.0, x)


def right_jacobian_apply(u: Motion, x: Motion) -> Motion:
    """Rate x of the twist u to the velocity of the moved frame in its own coordinates."""
    return _exponential_map(u, -1.0, x)


def left_jacobian_solve(u: Motion, x: Motion) -> Motion:
    """Velocity in the coordinates of the start to the rate of the twist: the inverse of `left_jacobian_apply`."""
    return _logarithm_map(u, -0.5, x)


def right_jacobian_solve(u: Motion, x: Motion) -> Motion:
    """Velocity in the moved frame's coordinates to the rate of the twist: the inverse of `right_jacobian_apply`."""
    return _logarithm_map(u, 0.5, x)


def _exponential_map(u, sign, x):
    """1 + sign B (u x) + C (u x)^2, B and C being functions of a dual number too."""
    t = u.angular.dot(u.angular)
    _, B, C = _exp_coefficients(t)
    _, dB, dC = _exp_coefficient_rates(t)
    rate = 2.0 * u.angular.dot(u.linear)
    first = u.cross(x)
    second = u.cross(first)
    drift = first.angular * (sign * dB * rate) + second.angular * (dC * rate)
    result = x + first * (sign * B) + second * C
    return Motion(result.angular, result.linear + drift)


def _logarithm_map(u, half, x):
    """1 +- (u x)/2 + D (u x)^2."""
    t = u.angular.dot(u.angular)
    D, dD = _log_coefficient(t), _log_coefficient_rate(t)
    rate = 2.0 * u.angular.dot(u.linear)
    first = u.cross(x)
    second = u.cross(first)
    result = x + first * half + second * D
    return Motion(result.angular, result.linear + second.angular * (dD * rate))
