r"""One contact alone, solved exactly: separation, sticking or sliding of a point under Signorini's and Coulomb's laws.

``u = B lambda + b`` with a positive definite B. Sliding: ``u_n = 0`` and ``u_t = -alpha lambda_t`` with alpha > 0, so
``lambda_t = -(S + alpha)^-1 c`` with the Schur complement S of B_nn, and ``|lambda_t| = mu lambda_n`` is an equation
for alpha alone, of degree four. It has a root whenever the contact neither separates nor sticks: at alpha = 0 the
impulse is outside of the cone, for large alpha inside.

Source: O. Bonnefon, G. Daviet, Quartic formulation of Coulomb 3D frictional contact (2011), with another unknown.
"""

from __future__ import annotations

from math import hypot

STEPS = 200


def solve_contact(B, b, mu: float) -> tuple[float, float, float]:
    """The impulse (t1, t2, n) of one contact; B as three rows of floats, b as three floats."""
    (xx, xy, xn), (_, yy, yn), (_, _, nn) = B
    b1, b2, bn = b
    if bn >= 0.0:
        return 0.0, 0.0, 0.0
    normal = -bn / nn  # without friction
    if mu == 0.0:
        return 0.0, 0.0, normal
    s11, s12, s22 = xx - xn * xn / nn, xy - xn * yn / nn, yy - yn * yn / nn
    c1, c2 = b1 - xn * bn / nn, b2 - yn * bn / nn
    trace, least = s11 + s22, 1e-14 * (xx + yy + nn)

    def impulse(alpha):
        a11, a22 = s11 + alpha, s22 + alpha
        det = a11 * a22 - s12 * s12
        t1, t2 = (s12 * c2 - a22 * c1) / det, (s12 * c1 - a11 * c2) / det
        return t1, t2, normal - (xn * t1 + yn * t2) / nn

    def excess(t1, t2, n):
        return hypot(t1, t2) - mu * n

    stick = impulse(least)
    if excess(*stick) <= 0.0:
        return stick
    low, high = least, max(trace, least)
    while excess(*impulse(high)) > 0.0:
        low, high = high, 4.0 * high
    return _root(impulse, excess, low, high)


def _root(impulse, excess, low: float, high: float) -> tuple[float, float, float]:
    """Between a point outside of the cone and one inside: the Illinois rule, never worse than a bracket."""
    below, above = excess(*impulse(low)), excess(*impulse(high))
    side = 0
    for _ in range(STEPS):
        middle = (low * above - high * below) / (above - below)
        if not low < middle < high:
            middle = 0.5 * (low + high)
        point = impulse(middle)
        value = excess(*point)
        if abs(value) <= 1e-16 * abs(point[2]) or high - low <= 1e-16 * high:
            break
        if value > 0.0:
            low, below = middle, value
            above, side = (0.5 * above, 1) if side == 1 else (above, 1)
        else:
            high, above = middle, value
            below, side = (0.5 * below, -1) if side == -1 else (below, -1)
    return point
