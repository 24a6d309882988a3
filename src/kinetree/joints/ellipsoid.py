"""Ellipsoid joint: the successor's origin moves on an ellipsoid, and its z axis follows the surface."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.arguments import a_truth_value
from kinetree.errors import JointError
from kinetree.joints.contract import Joint
from kinetree.joints.elementary import finite
from kinetree.joints.euler import SphericalEuler
from kinetree.spatial import Force, Motion, Transform, Vector3
from kinetree.spatial.scalar import sqrt

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
            radii = tuple(finite(x, "ellipsoid", "a radius", "m") for x in self.radii)
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

    @classmethod
    def examples(cls, rng):
        yield cls((0.3, 0.5, 0.8))
        yield cls((0.9, 0.4, 0.6), True)
