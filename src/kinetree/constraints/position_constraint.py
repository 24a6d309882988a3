"""Constraints stated by their position error alone: rows and biases follow by differentiation.

The law ``phi(q, t)`` is written over leaves: points and rotations of frames, coordinates of joints, the time. Numbers
that carry their partial derivatives along the scalars of the leaves give the rows, by the chain rule; numbers that
carry their first and second rate along the velocity give the bias.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.constraints.contract import Constraint
from kinetree.errors import ModelError
from kinetree.joints.dual import Dual, Partials, rate_of, value_of, vanishes
from kinetree.spatial import Matrix3, Vector3
from kinetree.state_kinematics import ORIGIN, Kinematics

VALUES, PARTIALS, RATES = range(3)


class PositionConstraint(Constraint):
    """A constraint stated by its position error ``phi(q, t)``: rows and bias follow by differentiation.

    A subclass is a frozen dataclass with a method ``phi``. Its joints and frames are named by fields that are listed
    in ``joint_fields`` and ``frame_fields``; if phi uses the time, ``time_dependent = True``; if it has more rows than
    one, ``count(model)`` gives their number.

    Notes
    -----
    ``phi(kin)`` returns a scalar, or a sequence with one scalar for each row. ``kin`` gives ``point(frame, at,
    relative_to)``, ``rotation(frame, relative_to)``, ``coordinate(joint, n)`` and the time ``t``; functions of scalars
    are those of `kinetree.spatial.scalar`. Positions relative to another frame than the world lead to rows without the
    joints that move both, which are cheaper and more accurate.

    Rows are ``dphi/dq`` along the velocity coordinates; the bias is the second rate of phi without accelerations, as
    a Taylor coefficient. Entries that are zero by structure do not occur in compiled code.

    Examples
    --------
    A point of a body slides on a parabola:

    >>> import kinetree as kt
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Parabola(kt.constraints.PositionConstraint):
    ...     frame: str
    ...     curvature: float
    ...     frame_fields, number_fields = ("frame",), ("curvature",)
    ...     def phi(self, kin):
    ...         p = kin.point(self.frame)
    ...         return p.z - 0.5 * self.curvature * p.x * p.x
    >>> b = kt.ModelBuilder("bead")
    >>> _ = b.add_body("bead", joint=kt.joints.Translational(), mass=1.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> bead = b.build().with_constraints(Parabola("bead", 2.0))
    >>> a = kt.forward_dynamics(bead, [0, 0, 0], [3.0, 0, 0], [0, 0, 0])  # at the vertex it turns with v^2 / r
    >>> [float(x) for x in a]
    [0.0, 0.0, 18.0]
    """

    __slots__ = ()

    joint_fields: tuple[str, ...] = ()

    def phi(self, kin):
        """The position error over leaves of the kinematics: a scalar, or one for each row."""
        raise NotImplementedError

    def count(self, model) -> int:
        """One."""
        return 1

    def check(self, model) -> None:
        """phi can be differentiated, has as many entries as there are rows, and all of them move."""
        rng = np.random.default_rng(0)
        q = [x for i in model.outward() for x in model.joints[i].random(rng)]
        kin = Kinematics(model, q)
        kin.t = 0.375  # any time
        try:
            rows = [] if model.time_dependent else self.rows(kin)
        except (TypeError, AttributeError) as failure:
            raise ModelError(
                f"{self}: phi cannot be differentiated ({failure}). It takes points, rotations and coordinates from "
                "kin, and functions such as sin and sqrt from kinetree.spatial.scalar instead of math or numpy"
            ) from failure
        for n, row in enumerate(rows):
            if not row:
                raise ModelError(
                    f"{self}: row {n} does not depend on any coordinate of model {model.name!r}; does the constraint "
                    "connect a body with itself, or with one that is fixed to it?"
                )

    def residual(self, kin) -> list:
        """phi."""
        return self._phi(kin, VALUES)[1]

    def rows(self, kin) -> list[dict]:
        """The derivatives of phi along the velocity coordinates."""
        leaves, found = self._phi(kin, PARTIALS)
        return [leaves.row(rate_of(x)) for x in found]

    def bias(self, kin) -> list:
        """The second rate of phi without accelerations."""
        return [rate_of(rate_of(x)) for x in self._phi(kin, RATES)[1]]

    def rate(self, kin) -> list:
        """The rate of phi."""
        return [rate_of(value_of(x)) for x in self._phi(kin, RATES)[1]]

    def _phi(self, kin, order: int):
        leaves = Leaves(self, kin, order)
        found = self.phi(leaves)
        found = list(found) if isinstance(found, (Sequence, Vector3)) else [found]
        if len(found) != self.count(kin.model):
            raise ModelError(
                f"{self}: phi has {len(found)} entries, expected {self.count(kin.model)}, as count(model) of class "
                f"{type(self).__name__} states"
            )
        return leaves, found


class Leaves:
    """The kinematics of a state for a law ``phi``: scalars that carry derivatives.

    Parameters
    ----------
    law : Constraint
        Whose joints and frames are available.
    kin : Kinematics
    order : {VALUES, PARTIALS, RATES}
        Scalars as they are; with partial derivatives along the scalars of all leaves; with two rates along the motion.
    """

    def __init__(self, law, kin: Kinematics, order: int) -> None:
        self._law, self._kin, self._order = law, kin, order
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
        return Dual(Dual(t, 1.0), 1.0) if self._order == RATES else t

    def coordinate(self, joint: str, n: int | None = None):
        """The n-th position coordinate of a joint [rad or m]; n may be left out where the joint has only one."""
        self._check("joint", joint)
        key = "coordinate", joint, n or 0
        if key not in self._found:
            self._enter(key, _Coordinate(self._kin, joint, n))
        return self._found[key][1][0]

    def point(self, frame: str, at: Sequence = ORIGIN, relative_to: str | None = None) -> Vector3:
        """Position of a point given in a frame, in the coordinates of the world or of another frame [m]."""
        if any(isinstance(x, Dual) for x in at):
            return self.point(frame, ORIGIN, relative_to) + self.rotation(frame, relative_to) @ Vector3(*at)
        return Vector3(*self._of_frames(_Point, frame, at, relative_to))

    def rotation(self, frame: str, relative_to: str | None = None) -> Matrix3:
        """Orientation of a frame: from its coordinates to those of the world or of another frame [1]."""
        x = self._of_frames(_Rotation, frame, ORIGIN, relative_to)
        return Matrix3((x[0:3], x[3:6], x[6:9]))

    def _of_frames(self, kind: type, frame: str, at: Sequence, relative_to: str | None):
        reference = self._kin.model.frames[0].name if relative_to is None else relative_to
        for name in (frame, reference):
            self._check("frame", name)
        key = kind, frame, reference, *map(id, at)
        if key not in self._found:
            self._enter(key, kind(self._kin.point_motion(frame, at, reference)), at)
        return self._found[key][1]

    def _check(self, what: str, name: str) -> None:
        if name not in self._names[what]:
            raise ModelError(
                f"{self._law}: phi uses {what} {name!r}, which is none of those that the constraint names: "
                f"{', '.join(sorted(self._names[what])) or 'none'}. List its field in {what}_fields of class "
                f"{type(self._law).__name__}, so that the name is checked, and changed with the model's"
            )

    def _enter(self, key: tuple, leaf, *kept) -> None:
        """A leaf, its scalars, and the objects whose ids are in the key."""
        if self._order == VALUES:
            scalars = leaf.values()
        elif self._order == PARTIALS:
            scalars = [Dual(x, Partials({(key, c): 1.0})) for c, x in enumerate(leaf.values())]
        else:
            rates = zip(leaf.values(), *leaf.rates(), strict=True)
            scalars = [Dual(Dual(x, x_dot), Dual(x_dot, x_ddot)) for x, x_dot, x_ddot in rates]
        self._found[key] = leaf, scalars, kept

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


class _Point:
    """The origin of a frame S in the coordinates of a frame P: its rate is that of the relative motion, turned."""

    def __init__(self, motion) -> None:
        self._motion = motion

    def values(self) -> list:
        return list(self._motion.X.r)

    def rates(self):
        X, V, A = self._motion.X, self._motion.velocity, self._motion.bias
        return list(X.E.inverse_apply(V.linear)), list(X.E.inverse_apply(A.linear + V.angular.cross(V.linear)))

    def row(self, slopes) -> dict[int, object]:
        f = self._motion.X.E @ Vector3(*slopes)
        return {k: f.dot(column.linear) for k, column in self._motion.columns.items()}


class _Rotation:
    """R, from the coordinates of S to those of P, row by row: ``R' = R [w]x``, ``R'' = R ([w]x [w]x + [w']x)``."""

    def __init__(self, motion) -> None:
        self._motion = motion

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
