"""Laws of piles for one contact or one body, over any scalar.

Velocities are scaled: ``z = (sqrt(m) v, sqrt(I) R^T w)`` in principal axes, so that kinetic energy is ``|z|^2 / 2``,
the rows of a contact are ``W = J M^{-1/2}``, and its own 3 x 3 block is ``B = W W^T``. Fixed bodies have rows of zeros.

A *row* of a contact holds all that its visits need, a *frame* of a body its pose and its scales.
"""

from __future__ import annotations

from kinetree.collision.axes import contact_axes
from kinetree.liegroup.so3 import quaternion_exp
from kinetree.spatial import Matrix3, Vector3
from kinetree.spatial.rotations import quaternion_normalize, quaternion_product, quaternion_to_rotation
from kinetree.spatial.scalar import absolute, sqrt, where

FRAME = 16
"""Position, orientation by rows, 1/sqrt(m), 1/sqrt(I)."""

ROW = 45
"""Axes (t1, t2, n), 1/sqrt(m) of both, angular rows of both, B, its inverse (lower triangles), mu, two step sizes, and
the normal compliance, which B contains."""

SLIP = 1.4
"""Relaxation of slipping contacts that are strongly coupled, where normal and tangent in turns would not converge."""


def body_frame(x, quaternion, v, w, scale):
    """The frame and the scaled velocity of a body; ``scale`` is (sqrt(m), sqrt(I)), zeros of a fixed body."""
    E = quaternion_to_rotation(quaternion)
    E_w = E @ Vector3(*w)
    inverse = [where(s > 0.0, 1.0 / where(s > 0.0, s, 1.0), 0.0) for s in scale]
    z = [scale[0] * v_k for v_k in v] + [s * w_k for s, w_k in zip(scale[1:], E_w, strict=True)]
    return [*x, *(e for row in E.matrix.T.rows for e in row), *inverse], z


def contact_row(a, b, normal, position, friction, softness):
    """The row of a contact between the bodies of two frames; it yields by a part of B_nn."""
    axes, p = contact_axes(Vector3(*normal)), Vector3(*position)
    angular = [_angular(frame, p, axes) for frame in (a, b)]
    masses = a[12] * a[12] + b[12] * b[12]
    B = [
        [sum((x[i].dot(x[k]) for x in angular), start=masses if i == k else 0.0) for k in range(i + 1)]
        for i in range(3)
    ]
    compliance = softness * B[2][2]
    B[2][2] = B[2][2] + compliance
    inverse = _inverse(B)
    half = 0.5 * (B[0][0] + B[1][1])
    apart = 0.5 * (B[0][0] - B[1][1])
    largest = half + sqrt(apart * apart + B[1][0] * B[1][0])
    coupling = friction * sqrt(B[2][0] * B[2][0] + B[2][1] * B[2][1]) / B[2][2]
    relaxation = SLIP / (1.0 + coupling)
    relaxation = where(relaxation < 1.0, relaxation, 1.0)
    flat = [x for matrix in (B, inverse) for row in matrix for x in row]
    spatial = [x for of_body in angular for axis in of_body for x in axis]
    steps = relaxation / B[2][2], relaxation / largest
    return [*(x for axis in axes for x in axis), a[12], b[12], *spatial, *flat, friction, *steps, compliance]


def _angular(frame, p: Vector3, axes) -> list[Vector3]:
    """``I^{-1/2} R^T (r x axis)`` for each axis."""
    r, R = p - Vector3(*frame[:3]), Matrix3((frame[3:6], frame[6:9], frame[9:12]))
    turned = [R.T @ r.cross(axis) for axis in axes]
    return [Vector3(*(s * x for s, x in zip(frame[13:16], t, strict=True))) for t in turned]


def _inverse(B) -> list[list]:
    """The inverse of a symmetric matrix, lower triangles."""
    (a,), (b, d), (c, e, f) = B
    A, D, C = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1.0 / (a * A + b * D + c * C)
    return [
        [scale * A],
        [scale * D, scale * (a * f - c * c)],
        [scale * C, scale * (b * c - a * e), scale * (a * d - b * b)],
    ]


def _product(M, x) -> list:
    """A symmetric matrix, given by its lower triangle, times a vector."""
    (a, b, d, c, e, f), (x0, x1, x2) = M, x
    return [a * x0 + b * x1 + c * x2, b * x0 + d * x1 + e * x2, c * x0 + e * x1 + f * x2]


def _parts(row):
    axes = [Vector3(*row[3 * k : 3 * k + 3]) for k in range(3)]
    angular = [[Vector3(*row[start + 3 * k : start + 3 * k + 3]) for k in range(3)] for start in (11, 20)]
    return axes, row[9:11], angular, row[29:35], row[35:41], row[41:]


def relative_velocity(za, zb, row) -> list:
    """The relative velocity in contact axes, second body minus first."""
    axes, (ma, mb), (turn_a, turn_b), *_ = _parts(row)
    linear = Vector3(*zb[:3]) * mb - Vector3(*za[:3]) * ma
    wa, wb = Vector3(*za[3:]), Vector3(*zb[3:])
    return [axes[k].dot(linear) + turn_b[k].dot(wb) - turn_a[k].dot(wa) for k in range(3)]


def push(za, zb, row, impulse):
    """The scaled velocities after an impulse, in contact axes, on the second body and its opposite on the first."""
    axes, (ma, mb), (turn_a, turn_b), *_ = _parts(row)
    total = [sum((axis * x for axis, x in zip(of, impulse, strict=True)), start=Vector3.zero())
             for of in (axes, turn_a, turn_b)]  # fmt: skip
    linear, moment_a, moment_b = total
    return (
        [x - y for x, y in zip(za, (*(linear * ma), *moment_a), strict=True)],
        [x + y for x, y in zip(zb, (*(linear * mb), *moment_b), strict=True)],
    )


def visit(za, zb, row, offset, impulse):
    """One contact of a sweep: the impulse that solves it alone, and the velocities that follow.

    The conditions are those of Signorini on ``w_n + offset`` and of Coulomb on w_t. Results: velocities, impulse, its
    step, the energy of the step [J], and the largest change of a component of the contact's velocity [m/s].
    """
    *_, B, inverse, (friction, normal_step, tangent_step, compliance) = _parts(row)
    w = relative_velocity(za, zb, row)
    w[2] = w[2] + offset + compliance * impulse[2]
    found = local_impulse(w, B, inverse, impulse, friction, normal_step, tangent_step)
    step = [new - old for new, old in zip(found, impulse, strict=True)]
    za, zb = push(za, zb, row, step)
    change = _product(B, step)
    energy = sum(x * y for x, y in zip(change, step, strict=True))
    x, y, n = map(absolute, change)
    x = where(x > y, x, y)
    return za, zb, found, step, energy, where(x > n, x, n)


def extrapolate(za, zb, row, impulse, direction, step, factor):
    """The impulse and the velocities of a contact moved further along its last steps, if it sticks.

    Of contacts that slip or open the next solution is no linear function of the others'.
    """
    *_, (friction, *_) = _parts(row)
    t0, t1, n = impulse
    size, radius = t0 * t0 + t1 * t1, friction * n
    sticks = (n > 0.0) & ((size < 0.9999 * radius * radius) | (friction <= 0.0))
    more = [where(sticks, factor * x, 0.0) for x in direction]
    za, zb = push(za, zb, row, more)
    impulse = [x + y for x, y in zip(impulse, more, strict=True)]
    return za, zb, impulse, [x + y for x, y in zip(more, step, strict=True)]


def local_impulse(w, B, inverse, old, friction, normal_step, tangent_step, inner: int = 2) -> list:
    """The impulse of one contact: the one that sticks where it lies in the cone, else relaxed projections.

    Notes
    -----
    In turns the normal component is put on ``n >= 0`` and the tangential ones on the disk of radius mu n, both with
    their own step; the 3 x 3 solution for a sticking contact is exact and ends the iteration of such contacts.
    """
    stick = [x - y for x, y in zip(old, _product(inverse, w), strict=True)]
    radius = friction * stick[2]
    sticks = (stick[2] > 0.0) & (stick[0] * stick[0] + stick[1] * stick[1] <= radius * radius)
    a, b, d, c, e, f = B
    t0, t1, n = old
    w0, w1, wn = w
    for _ in range(inner):
        new = n - normal_step * wn
        new = where(new > 0.0, new, 0.0)
        step = new - n
        w0, w1, wn, n = w0 + c * step, w1 + e * step, wn + f * step, new
        u0, u1 = t0 - tangent_step * w0, t1 - tangent_step * w1
        size, radius = u0 * u0 + u1 * u1, friction * n
        outside = size > radius * radius
        scale = where(outside, radius / sqrt(where(outside, size, 1.0)), 1.0)
        u0, u1 = u0 * scale, u1 * scale
        s0, s1 = u0 - t0, u1 - t1
        w0, w1, wn = w0 + a * s0 + b * s1, w1 + b * s0 + d * s1, wn + c * s0 + e * s1
        t0, t1 = u0, u1
    return [where(sticks, x, y) for x, y in zip(stick, (t0, t1, n), strict=True)]


def advance(x, quaternion, scale, frame, z, start, in_contact, step):
    """The pose and the velocities at the end of a step.

    Angular momentum is kept while the body turns, by the angular velocity at half the step. A body without active
    contacts moves with its mean velocity, which is exact under constant forces; ``start`` is its velocity before.
    """
    inverse, R = frame[12:], Matrix3((frame[3:6], frame[6:9], frame[9:12]))
    v = [inverse[0] * z_k for z_k in z[:3]]
    mean = [where(in_contact > 0.0, new, 0.5 * (new + old)) for new, old in zip(v, start, strict=True)]
    momentum = R @ Vector3(*(s * z_k for s, z_k in zip(scale[1:], z[3:], strict=True)))

    def spin(q) -> Vector3:
        E = quaternion_to_rotation(q)
        return E.T @ Vector3(*(s * s * h for s, h in zip(inverse[1:], E @ momentum, strict=True)))

    half = quaternion_product(quaternion_exp(spin(quaternion) * (0.5 * step)), quaternion)
    end = quaternion_normalize(quaternion_product(quaternion_exp(spin(half) * step), quaternion))
    return [x_k + step * v_k for x_k, v_k in zip(x, mean, strict=True)], list(end), v, [*spin(end)]
