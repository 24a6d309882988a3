"""Free motion in two steps, translation and rotation: in the plane and in space."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.errors import JointError
from kinetree.joints.contract import Joint, gradients
from kinetree.joints.elementary import displacements
from kinetree.joints.free import Free
from kinetree.joints.planar import Planar, PlanarLocal
from kinetree.joints.spherical import quaternion_rate, turn_between, turned, turns
from kinetree.liegroup.so3 import right_jacobian_solve
from kinetree.spatial import Force, Motion, Transform, Vector3
from kinetree.spatial.rotations import quaternion_from_rotation, quaternion_to_rotation, rz

FIRST = ("translation", "rotation")
AXES = tuple(Vector3.unit(k) for k in range(3))


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """Joints whose position r and orientation E are apart; a base before ``Joint``.

    They have the constants ``TURNS`` and ``SLIDES``, their directions of rotation and translation.
    """

    first: str = "translation"

    def __post_init__(self) -> None:
        if not isinstance(self.first, str) or self.first not in FIRST:
            raise JointError(
                f"{self.kind} joint: first={self.first!r}, expected 'translation' (position and its rate in "
                "predecessor coordinates) or 'rotation' (in successor coordinates).",
                first=self.first,
            )

    def transform(self, q):
        E, r = self._parts(q)
        return Transform(E, r if self.first == "translation" else E.inverse_apply(r))

    def motion_subspace(self, q):
        (E, r), zero = self._parts(q), Vector3.zero()
        if self.first == "translation":
            return (*(Motion(e, zero) for e in self.TURNS), *(Motion(zero, E @ e) for e in self.SLIDES))
        return (*(Motion(e, e.cross(r)) for e in self.TURNS), *(Motion(zero, e) for e in self.SLIDES))

    def velocity(self, q, v):
        (E, r), (w, rate) = self._parts(q), self._rates(v)
        return Motion(w, E @ rate if self.first == "translation" else rate + w.cross(r))

    def bias(self, q, v):
        (E, _), (w, rate) = self._parts(q), self._rates(v)
        # The axes of the successor turn under E v; or w x r grows with r.
        return Motion(Vector3.zero(), (E @ rate).cross(w) if self.first == "translation" else w.cross(rate))

    @classmethod
    def examples(cls, rng):
        yield from (cls(first) for first in FIRST)


@dataclass(frozen=True, slots=True, eq=False)
class PlanarSplit(_Split, Joint):
    """Motion in the plane, position and angle apart: q = (angle, x, y), v = q_dot.

    Parameters
    ----------
    first : {"translation", "rotation"}
        The part next to the predecessor. "translation": (x, y) and its rate are in predecessor coordinates,
        as two slides and a hinge in a row. "rotation": they are in successor coordinates, as a hinge and two slides.

    Notes
    -----
    *Source* Sueda, section 2.4.10, eqs. 2.53-2.56 (the 2D free joint, in the order x, y, angle) is the first.
    *Differs* Eq. 2.56 prints -Q^xy in the second column, where -Q^yx is meant. The rate matrix printed in
    example 4.5 of Featherstone belongs to the second: S = ((0, 0, 1, -y, x, 0), e4, e5) (see :class:`Planar`).

    See Also
    --------
    Planar : the same motion with the velocity in successor coordinates and a constant S.

    Examples
    --------
    >>> PlanarSplit("translation").q_dot([0.3, 1.0, 2.0], [1.0, 2.0, 3.0])
    [1.0, 2.0, 3.0]
    """

    kind = "planar_split"
    nq = nv = 3
    regroupable = ("P.zz",)
    position_names, position_units = ("angle", "x", "y"), ("rad", "m", "m")
    velocity_names, velocity_units = ("angular velocity", "x rate", "y rate"), ("rad/s", "m/s", "m/s")
    TURNS, SLIDES = AXES[2:], AXES[:2]
    random, implicit, wraps = Planar.random, Planar.implicit, Planar.wraps

    def loop_coordinates(self, X):
        return self._position(X), gradients(self._position, X)

    def _position(self, X) -> list:
        return (Planar() if self.first == "translation" else PlanarLocal()).loop_coordinates(X)[0]

    def _parts(self, q):
        return rz(q[0]), Vector3(q[1], q[2], 0.0)

    def _rates(self, v):
        return Vector3(0.0, 0.0, v[0]), Vector3(v[1], v[2], 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class FreeSplit(_Split, Joint):
    """Unrestrained motion, position and orientation apart: q = (position, quaternion), v = (angular velocity, rate).

    The unit quaternion is (w, x, y, z), the angular velocity [rad/s] in successor coordinates, the rate that of the
    position itself [m/s].

    Parameters
    ----------
    first : {"translation", "rotation"}
        The part next to the predecessor. "translation": the position and its rate are in predecessor
        coordinates, so a thrown body keeps its velocity while it spins. "rotation": they are in successor coordinates.

    Notes
    -----
    *Source* Sueda, section 2.4.11, eqs. 2.57-2.59 is the second, with S = [[S_1, 0], [-[q_2] S_1, 1]], here with a
    quaternion; his 3D free joint with a rotation vector is ``Composite((SphericalExponential(), Translational()))``.
    ``integrate`` is the exponential of SO(3) x R^3, exact for constant v. The first is MuJoCo's free joint, whose v
    however has the linear velocity first.

    See Also
    --------
    Free : the same motion with the twist in successor coordinates and a constant S.

    Examples
    --------
    >>> FreeSplit("translation").integrate([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 1.0, 2.0, 3.0])[:3]
    [1.0, 2.0, 3.0]
    """

    kind = "free_split"
    nq, nv = 7, 6
    position_names, position_units = Free.position_names, Free.position_units
    velocity_names, velocity_units = ("wx", "wy", "wz", "x rate", "y rate", "z rate"), ("rad/s",) * 3 + ("m/s",) * 3
    TURNS = SLIDES = AXES
    neutral, random, normalize, defect, implicit = (
        Free.neutral, Free.random, Free.normalize, Free.defect, Free.implicit,
    )  # fmt: skip

    def loop_coordinates(self, X):
        r = X.r if self.first == "translation" else X.E @ X.r
        slides = displacements(X)
        if self.first == "rotation":
            slides = tuple(Force(e.cross(r), e) for e in AXES)
        return [*r, *quaternion_from_rotation(X.E)], (*turns(), *slides)

    def _parts(self, q):
        return quaternion_to_rotation(q[3:7]), Vector3(*q[:3])

    def _rates(self, v):
        return Vector3(*v[:3]), Vector3(*v[3:])

    def q_dot(self, q, v):
        return [*v[3:], *quaternion_rate(q[3:7], v[:3])]

    def integrate(self, q, dv):
        return [*(x + dx for x, dx in zip(q[:3], dv[3:], strict=True)), *turned(q[3:7], dv[:3])]

    def difference(self, q0, q1):
        return [*turn_between(q0[3:7], q1[3:7]), *(b - a for a, b in zip(q0[:3], q1[:3], strict=True))]

    def tangent_rate(self, xi, v):
        return [*right_jacobian_solve(Vector3(*xi[:3]), Vector3(*v[:3])), *v[3:]]
