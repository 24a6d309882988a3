"""Leaves of the laws of constraints: points, rotations, coordinates and velocities that carry derivatives.

Numbers that carry their partial derivatives along the scalars of the leaves give the rows of a law, by the chain rule;
numbers that carry their rates in the motion of the state, without accelerations of the joints, give the bias. Each leaf
has the scalars x of the state with x', x'', and the rates of x for a unit of each velocity coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.errors import ModelError, UnsupportedError
from kinetree.joints.dual import Dual, Partials, rate_of, vanishes
from kinetree.spatial import Matrix3, Vector3
from kinetree.state_kinematics import ORIGIN, Kinematics

VALUES, PARTIALS, RATES = range(3)


class Leaves:
    """The kinematics of a state for the law of a constraint: scalars that carry derivatives.

    Parameters
    ----------
    law : Constraint
        Whose joints and frames are available.
    kin : Kinematics
    order : {VALUES, PARTIALS, RATES}
        Scalars as they are; with partial derivatives along the scalars of all leaves; with rates along the motion.
    of_velocities : bool
        Whether the law is one of velocities: then partial derivatives are those along velocities, and scalars carry one
        rate, otherwise two.
    """

    def __init__(self, law, kin: Kinematics, order: int, of_velocities: bool = False) -> None:
        self._law, self._kin, self._order, self._of_velocities = law, kin, order, of_velocities
        self._found: dict[tuple, tuple] = {}
        self._names = {"joint": set(law.joints), "frame": {*law.frames, kin.model.frames[0].name}}

    @property
    def model(self):
        """The model of the state."""
        return self._kin.model

    @property
    def t(self):
        """The time [s]."""
        t = self._kin.t
        return self._with_rates(t, 1.0, 0.0) if self._order == RATES else t

    # Positions --------------------------------------------------------------------------------------------------------

    def coordinate(self, joint: str, n: int | None = None):
        """The n-th position coordinate of a joint [rad or m]; n may be left out where the joint has only one."""
        self._check("joint", joint)
        return self._leaf(("coordinate", joint, n or 0), lambda: _Coordinate(self._kin, joint, n))[0]

    def point(self, frame: str, at: Sequence = ORIGIN, relative_to: str | None = None) -> Vector3:
        """Position of a point given in a frame, in the coordinates of the world or of another frame [m]."""
        if any(isinstance(x, Dual) for x in at):
            return self.point(frame, ORIGIN, relative_to) + self.rotation(frame, relative_to) @ Vector3(*at)
        return Vector3(*self._of_frames(_Point, frame, at, relative_to))

    def seen_from(self, frame: str) -> Seen:
        """Points and rotations in the coordinates of a frame, so that nothing large cancels far from the world."""
        return Seen(self, frame)

    def rotation(self, frame: str, relative_to: str | None = None) -> Matrix3:
        """Orientation of a frame: from its coordinates to those of the world or of another frame [1]."""
        x = self._of_frames(_Rotation, frame, ORIGIN, relative_to)
        return Matrix3((x[0:3], x[3:6], x[6:9]))

    def center_of_mass(self, bodies: Sequence[str] | None = None) -> Vector3:
        """Center of mass of all bodies, or of those of some frames, in world coordinates [m]."""
        for name in bodies or ():
            self._check("frame", name)
        model = self._kin.model
        if model.algebra.dimension != 6:
            raise UnsupportedError(f"{self._law}: planar models have no center of mass in space; use the spatial model")
        chosen = tuple(model.outward() if bodies is None else sorted({self._kin.body(name) for name in bodies}))
        return Vector3(*self._leaf(("center of mass", chosen), lambda: _CenterOfMass(self._kin, chosen)))

    # Velocities -------------------------------------------------------------------------------------------------------

    def rate(self, joint: str, n: int | None = None):
        """The n-th velocity coordinate of a joint [rad/s or m/s]; n may be left out where the joint has only one."""
        self._check("joint", joint)
        return self._leaf(("rate", joint, n or 0), lambda: _Rate(self._kin, joint, n), moving=True)[0]

    def velocity(self, frame: str, at: Sequence = ORIGIN, relative_to: str | None = None) -> Vector3:
        """Velocity of a point given in a frame relative to the world or another frame, in the frame's axes [m/s]."""
        return Vector3(*self._of_frames(_Velocity, frame, at, relative_to, moving=True))

    def angular_velocity(self, frame: str, relative_to: str | None = None) -> Vector3:
        """Angular velocity of a frame relative to the world or another frame, in the frame's axes [rad/s]."""
        return Vector3(*self._of_frames(_AngularVelocity, frame, ORIGIN, relative_to, moving=True))

    def _of_frames(self, kind: type, frame: str, at: Sequence, relative_to: str | None, moving: bool = False):
        reference = self._kin.model.frames[0].name if relative_to is None else relative_to
        for name in (frame, reference):
            self._check("frame", name)
        key = kind, frame, reference, *map(id, at)
        return self._leaf(key, lambda: kind(self._kin.point_motion(frame, at, reference)), at, moving=moving)

    def _check(self, what: str, name: str) -> None:
        if name not in self._names[what]:
            raise ModelError(
                f"{self._law}: the law uses {what} {name!r}, which is none of those that the constraint names: "
                f"{', '.join(sorted(self._names[what])) or 'none'}. List its field in {what}_fields of class "
                f"{type(self._law).__name__}, so that the name is checked, and changed with the model's"
            )

    def _leaf(self, key: tuple, made, *kept, moving: bool = False):
        """The scalars of a leaf; the objects whose ids are in the key are kept."""
        if key not in self._found:
            if moving and not self._of_velocities:
                raise ModelError(
                    f"{self._law}: phi uses the velocity of {key[1]!r}, expected positions alone; a law of velocities "
                    "is psi of a kinetree.constraints.VelocityConstraint"
                )
            leaf = made()
            if self._order == RATES:
                scalars = [self._with_rates(*rates) for rates in zip(leaf.values(), *leaf.rates(), strict=True)]
            elif self._order == VALUES or moving != self._of_velocities:
                scalars = leaf.values()
            else:
                scalars = [Dual(x, Partials({(key, c): 1.0})) for c, x in enumerate(leaf.values())]
            self._found[key] = leaf, scalars, kept
        return self._found[key][1]

    def _with_rates(self, x, x_dot, x_ddot=None):
        return Dual(x, x_dot) if self._of_velocities else Dual(Dual(x, x_dot), Dual(x_dot, x_ddot))

    def row(self, partials) -> dict[int, object]:
        """Derivatives along the velocity coordinates, of partial derivatives along the scalars of the leaves."""
        along: dict[tuple, dict] = {}
        for (key, c), x in partials.along.items() if isinstance(partials, Partials) else ():
            along.setdefault(key, {})[c] = x
        found: dict[int, object] = {}
        for key, slopes in along.items():
            leaf, scalars, _ = self._found[key]
            for k, x in leaf.row([slopes.get(c, 0.0) for c in range(len(scalars))]).items():
                found[k] = found[k] + x if k in found else x
        return {k: x for k, x in found.items() if not vanishes(x)}


class Seen:
    """Points and rotations relative to a frame, whose own are constant."""

    def __init__(self, leaves: Leaves, reference: str) -> None:
        self._leaves, self._reference = leaves, reference

    def point(self, frame: str, at: Sequence = ORIGIN) -> Vector3:
        """Position of a point given in a frame [m]."""
        own = frame == self._reference
        return Vector3(*at) if own else self._leaves.point(frame, at, self._reference)

    def rotation(self, frame: str) -> Matrix3:
        """Orientation of a frame [1]."""
        return Matrix3.identity() if frame == self._reference else self._leaves.rotation(frame, self._reference)


class _Coordinate:
    """A position coordinate of a joint."""

    def __init__(self, kin: Kinematics, joint: str, n: int | None) -> None:
        self._value, i = kin.coordinate(joint, n), kin.model.joint(joint)
        self._joint, self._n, self._dofs = kin.model.joints[i], n or 0, kin.dofs(joint)
        self._q, self._v = kin.model.q_of(i, kin.q), kin.model.v_of(i, kin.v)

    def values(self) -> list:
        return [self._value]

    def rates(self):
        rates = self._joint.q_dot(self._q, self._v)
        moving = [Dual(x, x_dot) for x, x_dot in zip(self._q, rates, strict=True)]
        return [rates[self._n]], [rate_of(self._joint.q_dot(moving, self._v)[self._n])]

    def row(self, slopes) -> dict[int, object]:
        units = ([float(m == c) for m in range(self._joint.nv)] for c in range(self._joint.nv))
        rates = ((k, self._joint.q_dot(self._q, unit)[self._n]) for k, unit in zip(self._dofs, units, strict=True))
        return {k: slopes[0] * x for k, x in rates if not vanishes(x)}


class _Rate:
    """A velocity coordinate of a joint."""

    def __init__(self, kin: Kinematics, joint: str, n: int | None) -> None:
        self._value, self._k = kin.rate(joint, n), kin.dof(joint, n or 0)

    def values(self) -> list:
        return [self._value]

    def rates(self):
        return ([0.0],)

    def row(self, slopes) -> dict[int, object]:
        return {self._k: slopes[0]}


class _OfFrames:
    """Of the relative motion of a frame S to a frame P."""

    def __init__(self, motion) -> None:
        self._motion = motion


class _Point(_OfFrames):
    """The origin of S in the coordinates of P: its rate is that of the relative motion, turned."""

    def values(self) -> list:
        return list(self._motion.X.r)

    def rates(self):
        X, V, A = self._motion.X, self._motion.velocity, self._motion.bias
        return list(X.E.inverse_apply(V.linear)), list(X.E.inverse_apply(A.linear + V.angular.cross(V.linear)))

    def row(self, slopes) -> dict[int, object]:
        f = self._motion.X.E @ Vector3(*slopes)
        return {k: f.dot(column.linear) for k, column in self._motion.columns.items()}


class _Rotation(_OfFrames):
    """R, from the coordinates of S to those of P, row by row: ``R' = R [w]x``, ``R'' = R ([w]x [w]x + [w']x)``."""

    def values(self) -> list:
        return [x for row in self._motion.X.E.T.matrix.rows for x in row]

    def rates(self):
        R = self._motion.X.E.T.matrix
        W, dW = (Matrix3.cross(m.angular) for m in (self._motion.velocity, self._motion.bias))
        return ([x for row in (R @ rate).rows for x in row] for rate in (W, W @ W + dW))

    def row(self, slopes) -> dict[int, object]:
        E, n = self._motion.X.E, Vector3.zero()
        for c in range(3):
            n = n + Vector3.unit(c).cross(E @ Vector3(*slopes[c::3]))
        return {k: n.dot(column.angular) for k, column in self._motion.columns.items()}


class _Velocity(_OfFrames):
    """The velocity of the origin of S relative to P, in the coordinates of S."""

    def values(self) -> list:
        return list(self._motion.velocity.linear)

    def rates(self):
        return (list(self._motion.bias.linear),)

    def row(self, slopes) -> dict[int, object]:
        f = Vector3(*slopes)
        return {k: f.dot(column.linear) for k, column in self._motion.columns.items()}


class _AngularVelocity(_OfFrames):
    """The angular velocity of S relative to P, in the coordinates of S."""

    def values(self) -> list:
        return list(self._motion.velocity.angular)

    def rates(self):
        return (list(self._motion.bias.angular),)

    def row(self, slopes) -> dict[int, object]:
        n = Vector3(*slopes)
        return {k: n.dot(column.angular) for k, column in self._motion.columns.items()}


class _CenterOfMass:
    """``c = sum m_i c_i / sum m_i`` of some bodies, by sums over the bodies that each joint carries."""

    def __init__(self, kin: Kinematics, bodies: Sequence[int]) -> None:
        self._kin, zero = kin, Vector3.zero()
        self._masses = [0.0] * kin.model.nb
        self._moments = [zero] * kin.model.nb  # about the world's origin
        for i in bodies:
            I, X = kin.model.I[i], kin.X_0[i]
            self._masses[i], self._moments[i] = I.m, X.E.inverse_apply(I.h) + X.r * I.m
        self._bodies, self._scale = bodies, 1.0 / sum(self._masses)

    def values(self) -> list:
        return list(_sum(self._moments[i] for i in self._bodies) * self._scale)

    def rates(self):
        model, kin, A = self._kin.model, self._kin, [None] * self._kin.model.nb
        A[0] = model.algebra.Motion.zero()
        for i in model.outward():
            p = model.parent[i]
            bias = model.joints[i].bias(model.q_of(i, kin.q), model.v_of(i, kin.v))
            A[i] = A[p] + kin.X_0[i].inverse_apply(bias) + kin.twists[i].cross(kin.twists[i] - kin.twists[p])
        momenta, forces = [], []
        for i in self._bodies:
            m, h, V = self._masses[i], self._moments[i], kin.twists[i]
            momenta.append(V.linear * m + V.angular.cross(h))
            forces.append(A[i].linear * m + A[i].angular.cross(h) + V.angular.cross(momenta[-1]))
        return (list(_sum(each) * self._scale) for each in (momenta, forces))

    def row(self, slopes) -> dict[int, object]:
        model, masses, moments, found = self._kin.model, list(self._masses), list(self._moments), {}
        f = Vector3(*slopes) * self._scale
        for i in model.inward():
            if not vanishes(masses[i]):
                p, n = model.parent[i], moments[i].cross(f)
                for k, S in zip(self._kin.dofs_of(i), self._kin.columns[i], strict=True):
                    found[k] = f.dot(S.linear) * masses[i] + n.dot(S.angular)
                masses[p], moments[p] = masses[p] + masses[i], moments[p] + moments[i]
        return found


def _sum(vectors) -> Vector3:
    first, *others = vectors
    return sum(others, start=first)
