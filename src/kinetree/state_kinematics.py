"""Kinematics of a tree at one state: transforms, twists, and the inputs of the laws of forces and constraints.

Symbols: ``X[i]`` takes coordinates of the parent to coordinates of body i (book: ``i_X_lambda(i) = X_J X_T(i)``), ``V``
is the twist of a body, ``S`` the joint's motion subspace.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.arguments import number, refuse
from kinetree.errors import ShapeError
from kinetree.spatial import Columns, FactoredTransform, Force, Matrix3, Motion, Transform, Vector2, Vector3
from kinetree.spatial.scalar import is_zero

ORIGIN = (0.0, 0.0, 0.0)
HERE = Transform.identity()


def point_of(what: str, value) -> tuple[float, float, float]:
    """Three finite numbers as a tuple; the world's origin itself for zeros.

    Raises
    ------
    ArgumentError
    """
    if not isinstance(value, (Sequence, Vector3)) and not hasattr(value, "tolist") or len(tuple(value)) != 3:
        refuse(what, value, "three coordinates [m]")
    found = tuple(number(what, x) for x in value)
    return found if any(found) else ORIGIN


def link_transform(model, i, q):
    """``i_X_lambda(i) = X_J X_T(i)``, kept as its two factors (book, section 4.2)."""
    return FactoredTransform(model.joints[i].transform(model.q_of(i, q)), model.X_T[i])


def motion_subspace(model, i, q):
    """S of joint i, in the coordinates of its body."""
    return Columns(model.joints[i].motion_subspace(model.q_of(i, q)), model.algebra.Motion)


def world_transforms(model, q, bodies=None):
    """``i_X_0`` of every body, or of these bodies, as single transforms (book, example 4.3)."""
    X_0 = [model.algebra.Transform.identity()] + [None] * (model.nb - 1)
    for i in model.outward() if bodies is None else bodies:
        X_0[i] = link_transform(model, i, q).collapse() @ X_0[model.parent[i]]
    return X_0


def body_twists(model, q, v, bodies=None):
    """``X[i]`` and the twists ``V[i]`` in body coordinates (book, eq. 5.14), of all bodies or of these."""
    X, V = [None] * model.nb, [model.algebra.Motion.zero()] + [None] * (model.nb - 1)
    for i in model.outward() if bodies is None else bodies:
        X[i] = link_transform(model, i, q)
        V[i] = X[i] @ V[model.parent[i]] + model.joints[i].velocity(model.q_of(i, q), model.v_of(i, v))
    return X, V


@dataclass(frozen=True, slots=True)
class RelativeMotion:
    """Motion of a frame S relative to a frame P, in the coordinates of S.

    Attributes
    ----------
    X : Transform
        From P to S coordinates.
    columns : dict of int to Motion
        The relative twist for a unit of each velocity coordinate.
    velocity : Motion
    bias : Motion
        The apparent rate of ``velocity`` without accelerations of the joints.
    """

    X: Transform
    columns: dict[int, Motion]
    velocity: Motion
    bias: Motion


class Kinematics:
    """Kinematic quantities of one state, by name, computed when first used; points and rotations in world coordinates.

    Parameters
    ----------
    model : Model or ScalarModel
        At a time, if it depends on time.
    q, v : sequence of scalars
        v may be left out, as zero, where no velocity is used.
    """

    def __init__(self, model, q: Sequence, v: Sequence | None = None) -> None:
        self.model, self.q, self.v = model, q, [0.0] * model.nv if v is None else v
        self._relative: dict[tuple, RelativeMotion] = {}
        self._measured: dict[str, tuple] = {}

    @functools.cached_property
    def t(self):
        """The time [s]."""
        return self.model._clock[0]

    # Joints ----------------------------------------------------------------------------------------------------------

    def dof(self, joint: str, n: int = 0) -> int:
        """The velocity coordinate that is the n-th of a joint."""
        return self.dofs(joint).start + n

    def dofs(self, joint: str) -> range:
        """The velocity coordinates of a joint."""
        return self.dofs_of(self.model.joint(joint))

    def dofs_of(self, body: int) -> range:
        """The velocity coordinates of a body's joint."""
        return range(*self.model.v_slice[body].indices(self.model.nv))

    def coordinate(self, joint: str, n: int | None = None):
        """The n-th position coordinate of a joint [rad or m]; n may be left out where the joint has only one.

        Of a loop joint that of the poses of its frames, an angle of a hinge from -pi to pi.
        """
        i = self._checked(joint, n)
        return self._loop(joint)[0][n or 0] if i is None else self.q[self.model.q_slice[i].start + (n or 0)]

    def rate(self, joint: str, n: int | None = None):
        """The n-th velocity coordinate of a joint [rad/s or m/s]; n may be left out where the joint has only one."""
        i = self._checked(joint, n)
        if i is not None:
            return self.v[self.model.v_slice[i].start + (n or 0)]
        _, W, motion = self._loop(joint)
        kind, rate = self._kind(joint, None), W[n or 0].dot(motion.velocity)
        return rate + self.model.loop_joint(joint).driven_velocity(motion, kind)[n or 0] if kind.rheonomic else rate

    def loop_position(self, joint: str) -> list:
        """All position coordinates of a loop joint."""
        return self._loop(joint)[0]

    def coordinate_rate(self, joint: str, n: int | None = None):
        """The rate of the n-th position coordinate of a joint [rad/s or m/s]."""
        m = n or 0
        return sum((x * self.rate(joint, k) for k, x in self._position_rates(joint, n)[m].items()), start=0.0)

    def row(self, joint: str, n: int | None = None) -> dict[int, object]:
        """The n-th velocity of a joint under a unit of each velocity coordinate; time may add to it."""
        i = self._checked(joint, n)
        if i is not None:
            return {self.dofs_of(i)[n or 0]: 1.0}
        _, W, motion = self._loop(joint)
        return {k: W[n or 0].dot(column) for k, column in motion.columns.items()}

    def rate_bias(self, joint: str, n: int | None = None):
        """The rate of the n-th velocity of a loop joint without accelerations of the tree's joints."""
        _, W, motion = self._loop(joint)
        loop = self.model.loop_joint(joint)
        kind = loop.joint_in_time(self)
        bias = W[n or 0].dot(motion.bias) + loop.measured_rate(motion, kind)[n or 0].dot(motion.velocity)
        return bias + loop.driven_acceleration(motion, kind)[n or 0] if kind.rheonomic else bias

    def coordinate_row(self, joint: str, n: int | None = None) -> dict[int, object]:
        """The rate of the n-th position of a joint under a unit of each velocity coordinate."""
        found: dict[int, object] = {}
        for m, ratio in self._position_rates(joint, n)[n or 0].items():
            for k, x in self.row(joint, m).items():
                found[k] = found.get(k, 0.0) + ratio * x
        return found

    def _position_rates(self, joint: str, n: int | None) -> list[dict]:
        """For each position of a joint its rates under a unit of each of the joint's velocities, without zeros."""
        i = self._checked(joint, n)
        kind, q = self._kind(joint, i), self._loop(joint)[0] if i is None else self.model.q_of(i, self.q)
        columns = [kind.q_dot(q, [float(k == m) for k in range(kind.nv)]) for m in range(kind.nv)]
        return [{m: x for m, x in enumerate(row) if not is_zero(x)} for row in zip(*columns, strict=True)]

    def _loop(self, joint: str) -> tuple:
        """Of a loop joint: position, forces along its velocities, the relative motion."""
        if joint not in self._measured:
            loop = self.model.loop_joint(joint)
            motion = self.relative(loop.predecessor, loop.successor, loop.X_P, loop.X_S)
            self._measured[joint] = *loop.measured(motion.X, self._kind(joint, None)), motion
        return self._measured[joint]

    def _kind(self, joint: str, i: int | None):
        return self.model.loop_joint(joint).joint_now(self) if i is None else self.model.joints[i]

    def _checked(self, joint: str, n: int | None) -> int | None:
        """The number of a joint of the tree, None for a loop joint; n is left out where it has one coordinate only."""
        i = None if self.model.is_loop(joint) else self.model.joint(joint)
        kind = self._kind(joint, i)
        if n is None and not kind.nq == kind.nv == 1:
            raise ShapeError(
                f"a law uses the coordinate of joint {joint!r}, which has {kind.nq} positions and {kind.nv} "
                "velocities, expected one. Give its number, or use point, velocity, rotation and angular_velocity of "
                "its body.",
                joint=joint,
            )
        return i

    # Frames ----------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def X_0(self):
        """``i_X_0`` of every body."""
        return world_transforms(self.model, self.q)

    @functools.cached_property
    def twists(self):
        """Twists of all bodies about the world's origin."""
        _, V = body_twists(self.model, self.q, self.v)
        return [V[0], *(self.X_0[i].inverse_apply(V[i]) for i in self.model.outward())]

    @functools.cached_property
    def columns(self):
        """``S_k`` of every joint about the world's origin."""
        return [(), *(self.X_0[i].inverse_apply(motion_subspace(self.model, i, self.q)) for i in self.model.outward())]

    def body(self, frame: str) -> int:
        """The number of a frame's body."""
        return self.model.frame(frame).body

    def _pose(self, frame: str):
        place = self.model.frame(frame)
        X = place.X_FB @ self.X_0[place.body]
        if self._plane is None:
            return X.E.T.matrix, X.r
        R = self._plane.T @ X.spatial().E.T @ place.axes
        return R.matrix, self._plane.inverse_apply(Vector3(X.r.x, X.r.y, place.height))

    @functools.cached_property
    def _plane(self):
        """Of a planar model the rotation from the axes of the world to those of the plane, else None."""
        return None if self.model.algebra.dimension == 6 else self.model.frames[0].axes

    def in_space(self, motion) -> Motion:
        """A motion of the model's algebra about the world's origin, as a spatial one in the axes of the world."""
        if self._plane is None:
            return motion
        raised = motion.spatial()
        return Motion(self._plane.inverse_apply(raised.angular), self._plane.inverse_apply(raised.linear))

    def wrench(self, moment: Vector3, force: Vector3):
        """A wrench about the world's origin, given in the axes of the world, in the model's algebra."""
        if self._plane is None:
            return Force(moment, force)
        n, f = self._plane @ moment, self._plane @ force
        return self.model.algebra.Force(n.z, Vector2(f.x, f.y))

    def seen_from(self, frame: str) -> Kinematics:
        """Points and rotations that a law needs relative to a frame, in any axes: here those of the world."""
        return self

    def point(self, frame: str, at: Sequence = ORIGIN) -> Vector3:
        """Position of a point given in a frame [m]."""
        R, p = self._pose(frame)
        return p + R @ Vector3(*at)

    def velocity(self, frame: str, at: Sequence = ORIGIN) -> Vector3:
        """Velocity of a point given in a frame [m/s]."""
        V = self.in_space(self.twists[self.body(frame)])
        return V.linear + V.angular.cross(self.point(frame, at))

    def rotation(self, frame: str) -> Matrix3:
        """Orientation of a frame, R_WF [1]."""
        return self._pose(frame)[0]

    def angular_velocity(self, frame: str) -> Vector3:
        """Angular velocity of a frame [rad/s]."""
        return self.in_space(self.twists[self.body(frame)]).angular

    # Two frames ------------------------------------------------------------------------------------------------------

    def relative(self, predecessor: str, successor: str, X_P: Transform, X_S: Transform) -> RelativeMotion:
        """Motion of a frame on the successor relative to one on the predecessor.

        Parameters
        ----------
        predecessor, successor : str
            Frames of the model.
        X_P, X_S : Transform
            From these to the frames P and S whose relative motion is computed.

        Notes
        -----
        Seen from the common ancestor of the two bodies, so that nothing large cancels far from the world's origin:
        with the twists of both frames relative to it, ``V = V_S - X V_P`` and ``dV = dV_S - X dV_P + V x X V_P``.
        """
        key = predecessor, successor, id(X_P), id(X_S)
        if key not in self._relative:  # with the transforms, which live as long as their ids are keys
            self._relative[key] = self._seen(predecessor, successor, X_P, X_S), X_P, X_S
        return self._relative[key][0]

    def point_motion(self, frame: str, at: Sequence, reference: str) -> RelativeMotion:
        """Motion of a point given in a frame, with the frame's axes, relative to another frame."""
        key = frame, reference, *map(id, at)
        if key not in self._relative:
            if self.model.algebra.dimension != 6:
                motion = self._raised(frame, at, reference)
            else:
                motion = self._seen(reference, frame, HERE, HERE if at is ORIGIN else Transform.shift(Vector3(*at)))
            self._relative[key] = motion, at
        return self._relative[key][0]

    def _raised(self, frame: str, at: Sequence, reference: str) -> RelativeMotion:
        """The same of a planar model, in the coordinates of the spatial frames."""
        P, S = (self.model.frame(name) for name in (reference, frame))
        place, algebra = S.axes @ Vector3(*at), self.model.algebra
        here, there = algebra.Transform.identity(), algebra.Transform.shift(Vector2(place.x, place.y))
        motion = self._seen(reference, frame, here, there)

        def turned(m):
            return Motion(S.axes.inverse_apply(m.spatial().angular), S.axes.inverse_apply(m.spatial().linear))

        r = P.axes.inverse_apply(Vector3(motion.X.r.x, motion.X.r.y, S.height + place.z - P.height))
        X = Transform.of(S.axes.T @ motion.X.spatial().E @ P.axes, r)
        columns = {k: turned(column) for k, column in motion.columns.items()}
        return RelativeMotion(X, columns, turned(motion.velocity), turned(motion.bias))

    def _seen(self, predecessor, successor, X_P, X_S) -> RelativeMotion:
        P, S = (self.model.frame(name) for name in (predecessor, successor))
        ancestor = self.model.common_ancestor(P.body, S.body)
        X_Pc, P_columns, V_P, A_P = self._branch(ancestor, P.body, X_P @ P.X_FB)
        X_Sc, columns, V_S, A_S = self._branch(ancestor, S.body, X_S @ S.X_FB)
        X = X_Sc @ X_Pc.inverse()
        columns |= {k: -(X @ column) for k, column in P_columns.items()}
        X_V_P = X @ V_P
        V = V_S - X_V_P
        return RelativeMotion(X, columns, V, A_S - X @ A_P + V.cross(X_V_P))

    def _branch(self, ancestor: int, body: int, X: Transform):
        """Of a frame on a body, relative to an ancestor: the transform, twists per velocity, twist and its rate."""
        model, path = self.model, []
        while body != ancestor:
            path.append(body)
            body = model.parent[body]
        links = {i: link_transform(model, i, self.q).collapse() for i in path}
        V = A = model.algebra.Motion.zero()
        for i in reversed(path):
            joint, q_i, v_i = model.joints[i], model.q_of(i, self.q), model.v_of(i, self.v)
            v_J = joint.velocity(q_i, v_i)
            V = links[i] @ V + v_J
            A = links[i] @ A + joint.bias(q_i, v_i) + V.cross(v_J)
        X_of, columns = X, {}
        for i in path:
            columns |= zip(self.dofs_of(i), X_of @ motion_subspace(model, i, self.q), strict=True)
            X_of = X_of @ links[i]
        return X_of, columns, X @ V, X @ A
