"""Which pairs of shapes may touch within a step, by bounds of the shapes and of the speeds of their points.

A pair that is far away costs this test alone: a distance from a plane, or of two centers, against the largest distance
that both can go. Normals, contact points and rows are computed where it fails.
"""

from __future__ import annotations

from kinetree.collision.bounds import extent, radius
from kinetree.spatial import Matrix3, Vector3
from kinetree.spatial.scalar import sqrt
from kinetree.state_kinematics import Kinematics, body_twists


class Nearness:
    """The shapes of a model at a state.

    Parameters
    ----------
    model : Model or ScalarModel
    kin : Kinematics
        Of the same model.
    dt : scalar
        Length of the step [s].
    fastest : float
        Rate at which all points may move besides the speed that they have [m/s].
    """

    def __init__(self, model, kin: Kinematics, dt, fastest: float) -> None:
        self._model, self._kin, self._dt, self._fastest = model, kin, dt, fastest
        self._twists = body_twists(model, kin.q, kin.v)[1]
        self._speeds: dict[int, tuple] = {}

    def near(self, pair):
        """Whether the shapes of a pair may touch: a condition that also holds where they touch now."""
        if pair.second.kind == "plane":
            return self._above(pair.second, pair.first)
        if pair.first.kind == "plane":
            return self._above(pair.first, pair.second)
        (i, p_i), (j, p_j) = map(self._place, pair.shapes)
        reach = radius(pair.first) + radius(pair.second)
        reach = reach + self._way(self._speed(i, pair.first) + self._speed(j, pair.second))
        apart = self._world(i, p_i) - self._world(j, p_j)
        return apart.dot(apart) < reach * reach

    def _above(self, plane, shape):
        """Whether a shape may touch a plane."""
        (i, p_i), (j, p_j) = map(self._place, (plane, shape))
        n = self._kin.X_0[i].E.inverse_apply(self._turned(plane, Vector3(*(row[2] for row in Matrix3(plane.R).rows))))
        n_j = self._kin.X_0[j].E @ n
        R = Matrix3(shape.R)
        slopes = R.T @ (self._model.frame(shape.body).X_FB.E @ n_j)
        height = n.dot(self._kin.X_0[j].r) + n_j.dot(p_j) - n.dot(self._world(i, p_i))
        speed = self._speed(j, shape)
        if self._model.support(i):
            arm = self._world(j, p_j) - self._kin.X_0[i].r
            speed = speed + self._speed(i, plane, sqrt(arm.dot(arm)) + radius(shape))
        return height - extent(shape, [*slopes]) < self._way(speed)

    def _way(self, speed):
        """How far two shapes may come nearer; an impact may turn all of their speed."""
        return self._dt * (self._fastest + 2.0 * speed)

    def _place(self, shape):
        """The body of a shape, and its position in the axes of the body."""
        frame = self._model.frame(shape.body)
        return frame.body, frame.X_FB.r + frame.X_FB.E.T @ Vector3(*shape.p)

    def _turned(self, shape, x: Vector3) -> Vector3:
        """A vector in the axes of a shape's frame in those of its body."""
        return self._model.frame(shape.body).X_FB.E.T @ x

    def _world(self, i: int, p: Vector3) -> Vector3:
        X = self._kin.X_0[i]
        return X.r + X.E.inverse_apply(p)

    def _speed(self, i: int, shape, arm=None):
        """The largest speed of a point of a shape, or of a point of its body at a distance from the body's origin."""
        if not self._model.support(i):
            return 0.0
        if i not in self._speeds:
            V = self._twists[i]
            self._speeds[i] = sqrt(V.linear.dot(V.linear)), sqrt(V.angular.dot(V.angular))
        if arm is None:
            p = self._place(shape)[1]
            arm = sqrt(p.dot(p)) + radius(shape)
        linear, angular = self._speeds[i]
        return linear + angular * arm
