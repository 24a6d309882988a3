"""Spline curve: a body guided through poses, with one freedom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_truth_value
from kinetree.errors import JointError
from kinetree.joints.contract import Joint
from kinetree.joints.spline_basis import Segments, cumulative_basis, wrapped
from kinetree.liegroup.se3 import exp_se3, log_se3
from kinetree.once import once
from kinetree.spatial import GeneralRotation, Matrix3, Motion, Transform, Vector3
from kinetree.spatial.rotations import euler, quaternion_from_rotation, quaternion_to_rotation
from kinetree.spatial.scalar import SNAP, sincos, where

KIND = "spline_curve"
Row = tuple[float, ...]
ControlFrame = tuple[tuple[float, float, float], tuple[float, float, float, float]]
"""Position of the origin [m] and unit quaternion (w, x, y, z), in predecessor coordinates."""

_FORMS = (
    "a Transform, a pair (xyz, quaternion (w, x, y, z)), a pair (xyz, rpy), a pair (R, p) or a 4x4 array of the pose"
)
HALF_TURN = math.pi - 1e-6  # beyond, rounding determines the direction of the logarithm


@dataclass(frozen=True, slots=True, eq=False)
class SplineCurve(Joint):
    """The successor moves along a uniform cubic B-spline of poses.

    Parameters
    ----------
    frames : sequence of at least 4 poses
        Control frames in predecessor coordinates, each a Transform, a pair (xyz [m], quaternion (w, x, y, z)), a pair
        (xyz [m], rpy [rad]), a pair (R, p) or a 4x4 array of the pose. Kept as pairs (xyz, quaternion). Neighbors are
        less than half a turn apart.
    periodic : bool
        Join the last frame to the first: a closed track, round which q goes any number of times.

    Raises
    ------
    JointError
        If there are fewer than 4 frames, one is no pose, two neighbors are half a turn apart, or four neighbors are the
        same, so that S would vanish there.

    Notes
    -----
    q counts knots: n frames make n segments of length 1 if periodic, with q and q + n the same position, and n - 3 if
    not, for q in [0, n - 3]. The curve approaches its control frames and passes through them only where three
    neighbors differ by the same twist; at knot k it is next to frame k + 1. It is C2: S and dS/dq are continuous.

    Beyond its ends an open curve goes on with the twist that it has there, along the tangent screw: S is continuous and
    constant outside, where dS/dq is zero, so velocities and energies do not jump, and S has no zeros that it does not
    have on the curve. To stop the body there, give the joint limits. Accelerations have kinks at the knots and
    jumps at the ends, where integrators with fixed steps are of second and of first order only.

    The pose is ``C_k exp(d_1 B_1(u)) exp(d_2 B_2(u)) exp(d_3 B_3(u))`` on segment k, with u = q - k, the
    differences ``d_i = log(C_{k+i-1}^-1 C_{k+i})`` and the cumulative basis functions B_i. The constants of the segment
    are selected, then three exponentials are taken, however many frames there are.

    *Source* Sueda, section 2.4.12, eqs. 2.64-2.67 and algorithm 3, after Lee and Terzopoulos (2008).

    *Differs* Line 10 of algorithm 3 needs the derivative of the basis function:
    ``dS = d_i B_i'' + Ad_i (dS + ad(S) d_i B_i')``. As a loop joint it finds the pose of the curve next to a
    given one by iterations, from q in [0, n].

    *Identities* If all neighbors differ by the same twist d, then S = d: circles and helices are exact.

    Examples
    --------
    A quarter turn about z from each frame to the next is a revolute joint:

    >>> from math import pi
    >>> circle = SplineCurve([((0, 0, 0), (0, 0, k * pi / 2)) for k in range(4)], periodic=True)
    >>> round(float(circle.motion_subspace([1.7])[0].angular.z), 12) == round(pi / 2, 12)
    True
    """

    frames: tuple[ControlFrame, ...]
    periodic: bool = False

    kind = KIND
    nq = nv = 1
    position_names, position_units = ("parameter",), ("1",)
    velocity_names, velocity_units = ("parameter rate",), ("1/s",)

    def __post_init__(self) -> None:
        try:
            frames = list(self.frames)
        except TypeError:
            raise JointError(f"{KIND} joint: frames must be a sequence of poses; got {self.frames!r}.") from None
        if len(frames) < 4:
            raise JointError(
                f"{KIND} joint: a cubic spline needs at least 4 control frames, got {len(frames)}.", frames=self.frames
            )
        object.__setattr__(
            self, "frames", tuple(control_frame(x, f"{KIND} joint: frame {k}") for k, x in enumerate(frames))
        )
        a_truth_value(f"{KIND} joint: periodic", self.periodic)
        object.__setattr__(self, "periodic", bool(self.periodic))
        _segments(self.frames, self.periodic)

    @property
    def length(self) -> int:
        """The number of segments, which is the range of q: its period, or where an open curve ends."""
        return len(self.frames) if self.periodic else len(self.frames) - 3

    def transform(self, q):
        X, factors = self._factors(q[0])
        for screw, B, _, _ in factors:
            X = screw.exp(B) @ X
        return X

    def motion_subspace(self, q):
        _, factors = self._factors(q[0])
        S = Motion.zero()
        for screw, B, dB, _ in factors:
            S = screw.exp(B) @ S + screw.twist * dB
        return (S,)

    def subspace_rate(self, q, v):
        _, factors = self._factors(q[0])
        S = dS = Motion.zero()
        for screw, B, dB, ddB in factors:
            Ad, d = screw.exp(B), screw.twist
            S, dS = Ad @ S + d * dB, Ad @ (dS + S.cross(d * dB)) + d * ddB
        return (dS * v[0],)

    def _factors(self, q):
        """C_k as a transform, and of each exponential the screw, B, B' and B'', at the parameter q."""
        if self.periodic:
            q = wrapped(q, self.length)
        rows, breaks = _segments(self.frames, self.periodic)
        segments = Segments(q, breaks)
        knot, *numbers = (segments.choose(column) for column in zip(*rows, strict=True))
        X = _frame(numbers[:12])
        screws = [_Screw(*numbers[12 + 13 * k : 25 + 13 * k]) for k in range(3)]
        u = q - knot
        if self.periodic:
            return X, list(zip(screws, *cumulative_basis(u), strict=True))
        # Outside, the first screw is the tangent, traversed by u; the other two are zero.
        inside = (q >= 0.0) & (q < float(self.length))
        B, dB, ddB = cumulative_basis(where(inside, u, 0.0))
        first = where(inside, B[0], u), where(inside, dB[0], 1.0), where(inside, ddB[0], 0.0)
        return X, list(zip(screws, (first[0], *B[1:]), (first[1], *dB[1:]), (first[2], *ddB[1:]), strict=True))

    def random(self, rng):
        return [float(rng.uniform(0.0, self.length))]

    @classmethod
    def examples(cls, rng):
        def pose(k):
            turn = [round(float(x), 1) for x in rng.uniform(-0.8, 0.8, 3)]
            return (round(0.5 * k, 1), *(round(float(x), 1) for x in rng.uniform(-1.0, 1.0, 2))), turn

        half = math.sqrt(0.5)
        swing = ((0.0, 1.0), (half, half), (1.0, 0.0), (half, -half))  # halves of rotations about y
        places = ((-1.0, 0.0, 0.0), (0.0, 0.0, -0.2), (1.0, 0.0, 0.0), (0.0, 0.0, 0.2))
        yield cls([(p, (c, 0.0, s, 0.0)) for p, (c, s) in zip(places, swing, strict=True)], periodic=True)
        yield cls([pose(k) for k in range(4)])
        yield cls([pose(k) for k in range(7)])
        yield cls([pose(k) for k in range(5)], periodic=True)
        yield cls([((x, 0.0, z), (0.0, 0.0, 0.0)) for x, z in ((0, 0), (1, 0.2), (2, -0.3), (3, 0.5), (4, 0.1))])


class _Screw:
    """Multiples b d of a constant twist d = (a n, v), whose direction n, angle a and products with v are given."""

    __slots__ = ("n", "a", "v", "first", "second")

    def __init__(self, *numbers) -> None:
        self.a = numbers[0]
        self.n, self.v, self.first, self.second = (Vector3(*numbers[k : k + 3]) for k in (1, 4, 7, 10))

    @staticmethod
    def numbers(d: Motion) -> tuple[float, ...]:
        """a, n, v, (n x v) / a, n x (n x v) / a: a translation has zeros for all but v."""
        w, v = _snapped(d.angular), _snapped(d.linear)
        a = math.hypot(*w)
        if a < SNAP:
            return (0.0,) * 4 + tuple(v) + (0.0,) * 6
        n = w / a
        first = n.cross(v)
        return (a, *n, *v, *(first / a), *(n.cross(first) / a))

    @property
    def twist(self) -> Motion:
        return Motion(self.n * self.a, self.v)

    def exp(self, b) -> Transform:
        """exp_se3(b d), by Rodrigues' formula in the half angle, where nothing cancels for small angles."""
        angle = self.a * b
        s, c = sincos(0.5 * angle)
        sin, versine = 2.0 * s * c, 2.0 * s * s  # versine = 1 - cos
        x, y, z = self.n
        dx, dy, dz = versine * x, versine * y, versine * z
        xy, yz, zx = dx * y, dy * z, dz * x
        xx, yy, zz = dx * x, dy * y, dz * z
        sx, sy, sz = sin * x, sin * y, sin * z
        E = Matrix3((
            (1.0 - (yy + zz), xy + sz, zx - sy),
            (xy - sz, 1.0 - (zz + xx), yz + sx),
            (zx + sy, yz - sx, 1.0 - (xx + yy)),
        ))  # fmt: skip
        r = self.v * b + self.first * versine + self.second * (angle - sin)
        return Transform(GeneralRotation(E), r)


def _snapped(v: Vector3) -> Vector3:
    """Residues of a logarithm become exact zeros."""
    size = SNAP * max(map(abs, v))
    return Vector3(*(0.0 if abs(x) <= size else x for x in v))


@once(most=256)
def _segments(frames: tuple[ControlFrame, ...], periodic: bool) -> tuple[tuple[Row, ...], tuple[float, ...]]:
    """Rows of the segments: the knot, C_k and three screws, as floats; and the parameters that divide the segments.

    An open curve has a segment more at each end, which is the tangent there.
    """
    X = [transform_of(frame) for frame in frames]
    n = len(frames)
    pairs = [(k, (k + 1) % n) for k in range(n if periodic else n - 1)]
    d = []
    for k, after in pairs:
        step = log_se3(X[after] @ X[k].inverse())
        if math.hypot(*step.angular) > HALF_TURN:
            raise JointError(
                f"{KIND} joint: frames {k} and {after} are half a turn apart, so the way between them is not "
                "determined; put a frame between them.",
                frames=(k, after),
            )
        d.append(_Screw.numbers(step))
    count = n if periodic else n - 3
    rows = []
    for k in range(count):
        three = [d[(k + j) % n] for j in range(3)]
        if not any(x for screw in three for x in screw):
            raise JointError(
                f"{KIND} joint: frames {k} to {(k + 3) % n} are the same, so the body would not move between them "
                "whatever the parameter's rate; leave out repeated frames.",
                frames=tuple((k + j) % n for j in range(4)),
            )
        rows.append((float(k), *_entries(X[k]), *(x for screw in three for x in screw)))
    if periodic:
        return tuple(rows), tuple(float(k) for k in range(1, count))
    ends = [_tangent(rows[0], 0.0), _tangent(rows[-1], 1.0)]
    return (ends[0], *rows, ends[1]), tuple(float(k) for k in range(count + 1))


def _frame(entries: Sequence) -> Transform:
    """The transform with these nine entries of E, row by row, and three of r."""
    return Transform(GeneralRotation(Matrix3((entries[0:3], entries[3:6], entries[6:9]))), Vector3(*entries[9:12]))


def _entries(X: Transform) -> tuple[float, ...]:
    return (*(float(x) for row in X.E.matrix.rows for x in row), *(float(x) for x in X.r))


def _tangent(row: Row, u: float) -> Row:
    """The row of the screw motion that goes on where the segment is at u, 0 or 1."""
    X, S = _frame(row[1:13]), Motion.zero()
    for k, B, dB in zip(range(3), *cumulative_basis(u)[:2], strict=True):
        screw = _Screw(*row[13 + 13 * k : 26 + 13 * k])
        step = exp_se3(screw.twist * B)
        X, S = step @ X, step @ S + screw.twist * dB
    return (row[0] + u, *_entries(X), *_Screw.numbers(S), *(0.0,) * 26)


# Control frames: poses as numbers of a joint --------------------------------------------------------------------------


def control_frame(frame, what: str) -> ControlFrame:
    """A pose from any of the accepted forms.

    Parameters
    ----------
    frame : Transform, (xyz, quaternion), (xyz, rpy), (R, p) or (4, 4) array
        The transform to the frame; its position [m] and unit quaternion (w, x, y, z); position and roll-pitch-yaw
        angles [rad]; rotation matrix and position; the homogeneous matrix of both.
    what : str
        Opens the message of an error.

    Raises
    ------
    JointError
        If it is none of these, not finite, or not a rotation.

    Examples
    --------
    >>> control_frame(((1, 2, 3), (0, 0, 0)), "frame")
    ((1.0, 2.0, 3.0), (1.0, 0.0, 0.0, 0.0))
    """
    if isinstance(frame, Transform):
        position, rotation = list(frame.r), np.array(frame.E.matrix.rows, dtype=float).T
    elif getattr(frame, "shape", None) == (4, 4):
        position, rotation = frame[:3, 3], np.array(frame[:3, :3], dtype=float)
    else:
        try:
            position, rotation = (np.array(part, dtype=float) for part in frame)
        except (TypeError, ValueError, OverflowError):
            position = rotation = np.empty(0)
        if position.shape == (3, 3):
            position, rotation = rotation, position
    position = np.array(position, dtype=float)
    if position.shape != (3,) or rotation.shape not in ((3,), (4,), (3, 3)):
        raise JointError(f"{what}: {frame!r} is not a pose; give {_FORMS}.", frame=frame)
    if not (np.isfinite(position).all() and np.isfinite(rotation).all()):
        raise JointError(f"{what}: {frame!r} is not finite.", frame=frame)
    return tuple(position.tolist()), _quaternion(rotation, what)


def transform_of(frame: ControlFrame) -> Transform:
    """The coordinate transform to the control frame."""
    position, quaternion = frame
    return Transform(quaternion_to_rotation(quaternion), Vector3(*position))


def _quaternion(rotation: np.ndarray, what: str) -> tuple[float, ...]:
    """The unit quaternion of a quaternion, of roll-pitch-yaw angles or of a rotation matrix; residues become exact."""
    if rotation.shape == (4,):
        quaternion, defect = rotation.tolist(), abs(math.hypot(*rotation) - 1.0)
    elif rotation.shape == (3,):
        roll, pitch, yaw = rotation.tolist()
        quaternion, defect = quaternion_from_rotation(euler("zyx", (yaw, pitch, roll))), 0.0
    else:
        defect = float(np.abs(rotation @ rotation.T - np.eye(3)).max()) + float(np.linalg.det(rotation) < 0.0)
        rows = tuple(map(tuple, rotation.T.tolist()))
        quaternion = quaternion_from_rotation(GeneralRotation(Matrix3(rows)))
    if not defect < 1e-6:
        raise JointError(
            f"{what}: {rotation.tolist()!r} is off a rotation by {defect:.3g}; a quaternion (w, x, y, z) must have "
            "unit length, a matrix must be orthonormal with determinant 1.",
            defect=defect,
        )
    return _unit(quaternion)


def _unit(quaternion: Sequence[float]) -> tuple[float, ...]:
    exact = [0.0 if abs(x) < SNAP else float(x) for x in quaternion]
    length = math.hypot(*exact)
    if abs(length - 1.0) < 1e-15:  # a unit quaternion stays as it is, so that a repr gives the same joint back
        return tuple(exact)
    exact = [x / length for x in exact]
    return tuple(float(round(x)) if abs(abs(x) - 1.0) < SNAP else x for x in exact)
