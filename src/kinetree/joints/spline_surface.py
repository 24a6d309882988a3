"""Spline surface: a body guided over a net of poses, with two freedoms."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from kinetree.errors import JointError
from kinetree.joints.contract import Joint
from kinetree.joints.spline_basis import Segments, basis
from kinetree.spatial import Motion, Transform, Vector3
from kinetree.spatial.rotations import rx, ry, rz
from kinetree.spatial.scalar import is_zero, where

KIND = "spline_surface"
SMALL = 0.25 * math.pi * (1.0 + 1e-12)
GIMBAL_LOCK = 0.5 * math.pi
Values = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class SplineSurface(Joint):
    """The successor lies on a surface of poses: a tensor product of uniform cubic B-splines, q its two parameters.

    Parameters
    ----------
    control : nested sequence of shape (m, n, 6), m and n at least 4
        Control values (x, y, z, a, b, g): the origin in predecessor coordinates [m], and the angles [rad] of successive
        rotations about x, y and z of the turning frame. The first index belongs to q[0], the second to q[1].

    Raises
    ------
    JointError
        If the shape is another one, a value is not finite, or an angle b about y reaches 90 deg, where the three
        rotations lock.

    Warns
    -----
    UserWarning
        If an angle exceeds 45 deg: the surface bends away from the shortest way between orientations there.

    Notes
    -----
    q counts knots: the surface has (m - 3) x (n - 3) patches of size 1, for q in [0, m - 3] x [0, n - 3]. It approaches
    its control values, and stays among them: the angle b is never larger than those given. It is C2.

    Beyond its edges each of the six values goes on linearly, so that S is continuous and dS/dq jumps at the edge. The
    angles grow there, too: keep the body near the surface by limits.

    *Source* Sueda, section 2.4.13, eqs. 2.68-2.71 and algorithm 4, after Lee and Terzopoulos (2008): the pose is
    ``T(x, y, z) Rx(a) Ry(b) Rz(g)``, translation first.

    *Differs* Any number of control values from 4 x 4 on. As a loop joint it finds the pose of the
    surface next to a given one by iterations.

    Examples
    --------
    A saddle that does not turn:

    >>> saddle = SplineSurface([[(i, k, 0.1 * (i * i - k * k), 0, 0, 0) for k in range(4)] for i in range(4)])
    >>> [round(float(x), 12) for x in saddle.motion_subspace([0.5, 0.5])[0].linear]
    [1.0, 0.0, 0.3]
    """

    control: tuple[tuple[Values, ...], ...]

    kind = KIND
    nq = nv = 2
    position_names, position_units = ("parameter 1", "parameter 2"), ("1", "1")
    velocity_names, velocity_units = ("parameter rate 1", "parameter rate 2"), ("1/s", "1/s")

    def __post_init__(self) -> None:
        try:
            control = tuple(tuple(tuple(map(float, values)) for values in row) for row in self.control)
        except (TypeError, ValueError):
            raise JointError(
                f"{KIND} joint: control must be rows of six numbers (x, y, z, a, b, g); got {self.control!r}."
            ) from None
        lengths = sorted({len(row) for row in control})
        if len(control) < 4 or len(lengths) != 1 or lengths[0] < 4:
            raise JointError(
                f"{KIND} joint: control must be a grid of at least 4 x 4 control values, got {len(control)} rows of "
                f"{' or '.join(map(str, lengths)) or 'no'} values.",
                control=self.control,
            )
        for i, row in enumerate(control):
            for k, values in enumerate(row):
                _check(values, f"{KIND} joint: control[{i}][{k}]")
        object.__setattr__(self, "control", control)
        steep = max(abs(angle) for row in control for values in row for angle in values[3:])
        if steep > SMALL:
            warnings.warn(
                f"{KIND} joint: an angle of {math.degrees(steep):.1f} deg among the control values is above 45 deg, "
                "where Euler angles distort the motion; place the joint's frames so that the angles are small.",
                stacklevel=3,
            )

    @property
    def size(self) -> tuple[int, int]:
        """The number of patches in both directions, which is the range of q."""
        return len(self.control) - 3, len(self.control[0]) - 3

    def transform(self, q):
        x, y, z, a, b, g = self._values(q, (0, 0))
        return Transform(rz(g) @ (ry(b) @ rx(a)), Vector3(x, y, z))

    def motion_subspace(self, q):
        f, f_i = self._values(q, (0, 0)), (self._values(q, (1, 0)), self._values(q, (0, 1)))
        S = [Motion(Vector3.zero(), Vector3(*f_1[:3])) for f_1 in f_i]
        for k, E_k in enumerate((rx(f[3]), ry(f[4]), rz(f[5]))):
            Ad, e = Transform(E_k, Vector3.zero()), Motion(Vector3.unit(k), Vector3.zero())
            S = [Ad @ s + e * f_1[3 + k] for s, f_1 in zip(S, f_i, strict=True)]
        return tuple(S)

    def subspace_rate(self, q, v):
        # Algorithm 4, its index j summed with v_j; f_v and f_iv are derivatives along v.
        f, f_i = self._values(q, (0, 0)), (self._values(q, (1, 0)), self._values(q, (0, 1)))
        f_11, f_12, f_22 = (self._values(q, order) for order in ((2, 0), (1, 1), (0, 2)))
        f_v, *f_iv = (
            [x * v[0] + y * v[1] for x, y in zip(*pair, strict=True)] for pair in (f_i, (f_11, f_12), (f_12, f_22))
        )
        S = [Motion(Vector3.zero(), Vector3(*f_1[:3])) for f_1 in f_i]
        dS = [Motion(Vector3.zero(), Vector3(*f_2[:3])) for f_2 in f_iv]
        for k, E_k in enumerate((rx(f[3]), ry(f[4]), rz(f[5]))):
            Ad, e = Transform(E_k, Vector3.zero()), Motion(Vector3.unit(k), Vector3.zero())
            S = [Ad @ s for s in S]
            dS = [Ad @ ds + s.cross(e * f_v[3 + k]) + e * f_2[3 + k] for s, ds, f_2 in zip(S, dS, f_iv, strict=True)]
            S = [s + e * f_1[3 + k] for s, f_1 in zip(S, f_i, strict=True)]
        return tuple(dS)

    def _values(self, q, order: tuple[int, int]):
        """The six values f(C_k, q), or a derivative of this order in q[0] and q[1]."""
        N, M = (_functions(x, count) for x, count in zip(q, self.size, strict=True))
        i, j = order
        return [
            _blend(N[i], i, [_blend(M[j], j, [value[k] for value in row]) for row in self.control]) for k in range(6)
        ]

    def random(self, rng):
        return [float(rng.uniform(0.0, count)) for count in self.size]

    @classmethod
    def examples(cls, rng):
        def bowl(i, k):
            x, y, turn = -15.0 + 10.0 * i, -15.0 + 10.0 * k, -0.78 + 0.52 * i
            return (x / 10.0, y / 10.0, round(0.005 * (x * x + y * y), 4), turn, turn, 0.0)

        def rough(i, k):
            return (0.5 * i, 0.6 * k, *(round(float(x), 1) for x in rng.uniform(-0.6, 0.6, 4)))

        yield cls([[bowl(i, k) for k in range(4)] for i in range(4)])
        yield cls([[rough(i, k) for k in range(4)] for i in range(6)])


def _functions(q, count: int):
    """Basis functions of all count + 3 control values along one parameter, their first and their second derivatives.

    Beyond the ends they go on linearly. Each is one of the four functions of a segment, or zero.
    """
    end = float(count)
    inside = (q >= 0.0) & (q <= end)
    near = where(q < 0.0, 0.0, where(q > end, end, q))
    outside = q - near
    segments = Segments(near, [float(k) for k in range(1, count)])
    N, dN, ddN = basis(near - segments.choose([float(k) for k in range(count)]))
    N = [x + dx * outside for x, dx in zip(N, dN, strict=True)]
    ddN = [where(inside, x, 0.0) for x in ddN]
    return [
        [segments.choose([four[i - k] if 0 <= i - k <= 3 else 0.0 for k in range(count)]) for i in range(count + 3)]
        for four in (N, dN, ddN)
    ]


def _blend(functions, order: int, values):
    """The sum of control values times basis functions, which add up to one, or times their derivatives."""
    one = values[0]
    if all(isinstance(x, float) and x == one for x in values):
        return one if order == 0 else 0.0
    terms = [x * function for x, function in zip(values, functions, strict=True) if not is_zero(x)]
    return sum(terms[1:], start=terms[0])


def _check(values: tuple[float, ...], what: str) -> None:
    if len(values) != 6:
        raise JointError(
            f"{what} has {len(values)} numbers, expected six: x, y, z [m] and a, b, g [rad].", found=values
        )
    if not all(map(math.isfinite, values)):
        raise JointError(f"{what} = {values!r} is not finite.", found=values)
    if abs(values[4]) >= GIMBAL_LOCK:
        raise JointError(
            f"{what} turns by {math.degrees(values[4]):.1f} deg about y; rotations about x, y and z lock at 90 deg; "
            "place the joint's frames so that the angles are small.",
            found=values,
        )
