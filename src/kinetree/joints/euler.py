"""Rotations about successive axes: the spherical joint by Euler angles, the universal and the ellipsoid joint."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.arguments import a_truth_value
from kinetree.errors import JointError
from kinetree.joints.axes import finite
from kinetree.joints.contract import Joint, gradients
from kinetree.joints.spherical import implicit_point
from kinetree.spatial import AxialRotation, Force, IdentityRotation, Motion, Transform, Vector3
from kinetree.spatial.rotations import EULER_SEQUENCES
from kinetree.spatial.scalar import arctan2, sincos, sqrt


class _SuccessiveRotations(Joint):
    """Rotation about the first axis, then about the second of the turned frame, and so on; v = q_dot.

    With coordinate rotations E_k about unit vectors e_k, E = E_n ... E_1, and column k of S is E_n ... E_{k+1} e_k:
    outwards through the axes, every earlier column turns along.
    """

    __slots__ = ()

    nq = nv = 3

    axes: tuple[int, ...]  # as numbers 0, 1, 2, first rotation first
    regroupable = ("m",)
    position_units, velocity_units = ("rad",) * 3, ("rad/s",) * 3

    def rotations(self, q):
        """One coordinate rotation per axis."""
        return [AxialRotation(axis, *reversed(sincos(angle))) for axis, angle in zip(self.axes, q, strict=True)]

    def transform(self, q):
        E = IdentityRotation()
        for E_k in self.rotations(q):
            E = E_k @ E
        return Transform(E, Vector3.zero())

    def motion_subspace(self, q):
        columns = []
        for axis, E_k in zip(self.axes, self.rotations(q), strict=True):
            columns = [*(E_k @ s for s in columns), Vector3.unit(axis)]
        return tuple(Motion(s, Vector3.zero()) for s in columns)

    def velocity(self, q, v):
        w = Vector3.zero()
        for axis, E_k, v_k in zip(self.axes, self.rotations(q), v, strict=True):
            w = E_k @ w + Vector3.unit(axis) * v_k
        return Motion(w, Vector3.zero())

    def bias(self, q, v):
        # c <- E_k c + (E_k w) x e_k v_k: the recursion of eq. 2.43 through massless intermediate frames.
        w, c = Vector3.zero(), Vector3.zero()
        for axis, E_k, v_k in zip(self.axes, self.rotations(q), v, strict=True):
            w, turn = E_k @ w, Vector3.unit(axis) * v_k
            c = E_k @ c + w.cross(turn)
            w = w + turn
        return Motion(c, Vector3.zero())


@dataclass(frozen=True, slots=True, eq=False)
class SphericalEuler(_SuccessiveRotations):
    """Spherical joint by three Euler angles; v are their rates.

    Parameters
    ----------
    sequence : str
        Three of the letters x, y, z, no two neighbors equal: the axes of the successive rotations, each about an axis
        of the frame as already turned ("intrinsic"). ``"zyx"`` is yaw, pitch, roll.

    Raises
    ------
    JointError
        If the sequence is not one of the twelve.

    Notes
    -----
    Singular where the first and third axis align: middle angle +-90 deg for three different letters, 0 and 180 deg
    otherwise. There S has rank 2 and forward dynamics has no solution;
    :class:`~kinetree.joints.spherical.Spherical` has no singularity.

    *Source* Featherstone, section 4.5, eqs. 4.7-4.9 for ``"zyx"``: E = rx(q3) ry(q2) rz(q1).

    *Differs* In SciPy, upper-case letters have this meaning; lower case is about fixed axes.

    Examples
    --------
    >>> SphericalEuler("zyx").position_names
    ('angle z', 'angle y', 'angle x')
    """

    sequence: str = "zyx"

    kind = "spherical_euler"

    def __post_init__(self) -> None:
        if not isinstance(self.sequence, str) or self.sequence not in EULER_SEQUENCES:
            raise JointError(
                f"spherical_euler joint: sequence {self.sequence!r} is not one of {', '.join(EULER_SEQUENCES)} "
                "(lower case, rotations about the axes of the turning frame).",
                sequence=self.sequence,
            )

    @property
    def axes(self):
        return tuple("xyz".index(letter) for letter in self.sequence)

    @property
    def position_names(self):
        return tuple(f"angle {letter}" for letter in _numbered(self.sequence))

    @property
    def velocity_names(self):
        return tuple(f"rate {letter}" for letter in _numbered(self.sequence))

    def random(self, rng):
        # Ten degrees away from the singular middle angles.
        first, middle, third = (float(x) for x in rng.uniform(-1.0, 1.0, 3))
        quarter = (math.pi / 2.0 - math.radians(10.0)) * middle
        proper = self.sequence[0] == self.sequence[2]
        return [math.pi * first, quarter + math.pi / 2.0 if proper else quarter, math.pi * third]

    def implicit(self, X):
        return implicit_point(X)

    wraps = (True, False, True)

    def loop_coordinates(self, X):
        """The middle angle is within a quarter turn of zero, in sequences like "zxz" from zero to half a turn."""
        return self._angles(X), gradients(self._angles, X)

    def _angles(self, X) -> list:
        i, j, k = self.axes
        proper, third = i == k, 3 - i - j
        sign = 1.0 if (j - i) % 3 == 1 else -1.0  # of the permutation (i, j, third)
        last, first = X.E.inverse_apply(Vector3.unit(k)), X.E @ Vector3.unit(i)
        n, m = list(last), list(first)
        if proper:
            around = n[j], n[third] * -sign
            middle = arctan2(sqrt(n[j] * n[j] + n[third] * n[third]), n[i])
            return [arctan2(*around), middle, arctan2(m[j], m[third] * sign)]
        middle = arctan2(n[i] * sign, sqrt(n[j] * n[j] + n[k] * n[k]))
        return [arctan2(n[j] * -sign, n[k]), middle, arctan2(m[j] * -sign, m[i])]

    @classmethod
    def examples(cls, rng):
        yield from (cls(sequence) for sequence in EULER_SEQUENCES)


@dataclass(frozen=True, slots=True, eq=False)
class Universal(_SuccessiveRotations):
    """Hooke's joint: rotation by q[0] about x, then by q[1] about y of the turned frame; v = q_dot.

    The first axis is fixed in the predecessor, the second in the successor; they are perpendicular and meet.

    Notes
    -----
    *Source* Sueda, section 2.2 (universal joint); the columns of S as in Featherstone, eq. 4.8.
    Constraint forces: any force through the center, and a moment about the common normal of the two axes.

    Examples
    --------
    >>> [float(x) for x in Universal().motion_subspace([0.7, 0.0])[0].angular]
    [1.0, 0.0, 0.0]
    """

    kind = "universal"
    nq = nv = 2
    axes = (0, 1)
    position_names = ("angle x", "angle y")
    velocity_names = ("rate x", "rate y")
    position_units, velocity_units = ("rad",) * 2, ("rad/s",) * 2

    def random(self, rng):
        return [float(x) for x in rng.uniform(-math.pi, math.pi, 2)]

    def implicit(self, X):
        x, y = X.E @ Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0)
        delta, T = implicit_point(X)
        return [-x.dot(y), *delta], (Force(x.cross(y), Vector3.zero()), *T)

    wraps = (True, True)

    def loop_coordinates(self, X):
        return self._angles(X), gradients(self._angles, X)

    @staticmethod
    def _angles(X) -> list:
        E = X.E.matrix
        return [arctan2(E[1, 2], E[1, 1]), arctan2(E[2, 0], E[0, 0])]


def _numbered(sequence: str) -> list[str]:
    """Letters, with a number if one comes twice: z1, y, z2."""
    return [
        letter if sequence.count(letter) == 1 else f"{letter}{1 + sequence[:k].count(letter)}"
        for k, letter in enumerate(sequence)
    ]


ANGLES = SphericalEuler("xyz")


@dataclass(frozen=True, slots=True, eq=False)
class Ellipsoid(Joint):
    """The successor turns by three angles and moves on the surface of an ellipsoid of the predecessor with its z axis.

    q = (angle x, angle y, angle z): rotations about x, then y, then z of the frame as already turned; v = q_dot. With
    E = rz(q3) ry(q2) rx(q1), the successor's z axis in predecessor coordinates is
    n = E^T z = (sin q2, -sin q1 cos q2, cos q1 cos q2), and its origin lies, D = diag(radii), at

        r = D n                            (``exact_normal=False``, the joint of OpenSim and of Pinocchio)
        r = D^2 n / sqrt(n . D^2 n)        (``exact_normal=True``).

    Parameters
    ----------
    radii : sequence of 3 floats
        Semi-axes a, b, c along x, y, z of the predecessor, which is at the center [m]; positive.
    exact_normal : bool
        True: n is the outward normal of the surface at r. False: n is the point of the unit sphere that the surface is
        stretched from; it is the normal on a sphere and on the axes, and off by an angle of order of the differences
        of the radii elsewhere.

    Raises
    ------
    JointError
        If a radius is not positive.

    Notes
    -----
    The frames are parallel at q = 0 but never coincide: r = (0, 0, c). Singular where q2 = +-90 deg, like all such
    angles: there the successor is at x = +-a.

    *Source* Seth, Sherman, Eastman and Delp, "Minimal formulation of joint motion for biomechanisms", Nonlinear
    Dynamics 62 (2010), and the EllipsoidJoint of OpenSim. *Differs* their velocity variables are the angular velocity
    in predecessor coordinates; their texts call n the normal, which it is on spheres only. The implicit form is ours:
    three forces at the moving point, with moments so that they have no power as it slides on the surface.

    Examples
    --------
    >>> scapula = Ellipsoid((0.03, 0.06, 0.08))
    >>> [float(x) for x in scapula.transform([0.0, 0.0, 0.5]).r]
    [0.0, 0.0, 0.08]
    """

    radii: tuple[float, float, float]
    exact_normal: bool = False

    kind = "ellipsoid"
    nq = nv = 3
    position_names, position_units = ANGLES.position_names, ("rad",) * 3
    velocity_names, velocity_units = ANGLES.velocity_names, ("rad/s",) * 3

    def __post_init__(self) -> None:
        try:
            radii = tuple(finite(x, "ellipsoid joint: a radius", "m") for x in self.radii)
        except TypeError:
            radii = ()
        if len(radii) != 3 or min(radii) <= 0.0:
            raise JointError(
                f"ellipsoid joint: radii must be three positive lengths [m] along x, y, z; got {self.radii!r}.",
                radii=self.radii,
            )
        object.__setattr__(self, "radii", radii)
        a_truth_value("ellipsoid joint: exact_normal", self.exact_normal)
        object.__setattr__(self, "exact_normal", bool(self.exact_normal))

    def transform(self, q):
        E = ANGLES.transform(q).E
        return Transform(E, self._point(E.inverse_apply(Vector3.unit(2)))[0])

    def motion_subspace(self, q):
        X = ANGLES.transform(q)
        return tuple(self._moved(X.E, S.angular) for S in ANGLES.motion_subspace(q))

    def velocity(self, q, v):
        return self._moved(ANGLES.transform(q).E, ANGLES.velocity(q, v).angular)

    def _moved(self, E, w: Vector3) -> Motion:
        """The velocity with the angular part w: n moves with w x z, and r with n, all in successor coordinates."""
        n_dot = E.inverse_apply(Vector3(w.y, -w.x, 0.0))
        return Motion(w, E @ self._point(E.inverse_apply(Vector3.unit(2)), n_dot)[1])

    def _point(self, n: Vector3, n_dot: Vector3 | None = None) -> tuple[Vector3, Vector3 | None]:
        """r(n) and its rate; as a map of n_dot the rate is symmetric."""
        a, b, c = self.radii
        if not self.exact_normal:
            return Vector3(a * n.x, b * n.y, c * n.z), n_dot and Vector3(a * n_dot.x, b * n_dot.y, c * n_dot.z)
        aa, bb, cc = a * a, b * b, c * c
        m = Vector3(aa * n.x, bb * n.y, cc * n.z)
        height = sqrt(n.dot(m))  # of the tangent plane above the center
        r = m / height
        if n_dot is None:
            return r, None
        return r, (Vector3(aa * n_dot.x, bb * n_dot.y, cc * n_dot.z) - r * r.dot(n_dot)) / height

    def random(self, rng):
        return ANGLES.random(rng)

    def implicit(self, X):
        # d = (theta, x) moves n by theta x z and r by x, so E (r - r(n)) changes by x - G (theta x z) with the
        # symmetric G of the surface in successor coordinates: row k is e_k . x - (z x G e_k) . theta.
        z, axes = Vector3.unit(2), [Vector3.unit(k) for k in range(3)]
        n = X.E.inverse_apply(z)
        delta = X.E @ (X.r - self._point(n)[0])
        G = [X.E @ self._point(n, X.E.inverse_apply(e))[1] for e in axes]
        return list(delta), tuple(Force(-z.cross(G_k), e) for G_k, e in zip(G, axes, strict=True))

    wraps = SphericalEuler.wraps

    def loop_coordinates(self, X):
        return ANGLES.loop_coordinates(X)

    @classmethod
    def examples(cls, rng):
        yield cls((0.3, 0.5, 0.8))
        yield cls((0.9, 0.4, 0.6), True)
