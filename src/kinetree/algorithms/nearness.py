"""Which pairs of shapes may touch within a step, by bounds of the shapes and of the speeds of their points.

A pair that is far away costs this test alone: a distance from a plane, or of two centers, against the largest distance
that both can go. Normals, contact points and rows are computed where it fails.
"""

from __future__ import annotations

from itertools import islice

from kinetree.algorithms.contacts import BodyPlaces
from kinetree.algorithms.free_step import FASTEST
from kinetree.collision.bounds import extent, radius
from kinetree.collision.laws import ContactPoint
from kinetree.collision.shape import ENDLESS
from kinetree.spatial import Matrix3, Vector3
from kinetree.spatial.scalar import guarded, is_zero, settled, sqrt, where
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
            return self._above(pair, pair.second, pair.first)
        if pair.first.kind == "plane":
            return self._above(pair, pair.first, pair.second)
        for bowl, shape in (pair.shapes, pair.shapes[::-1]):
            if bowl.kind == "bowl":
                return self._at_wall(pair, bowl, shape)
        reach = radius(pair.first) + radius(pair.second) + self.way(pair)
        apart = self._center(pair.first) - self._center(pair.second)
        return apart.dot(apart) < reach * reach

    def way(self, pair):
        """How far the shapes of a pair may come nearer within the step [m]; an impact may turn all of their speed."""
        speed = 0.0
        for shape, other in (pair.shapes, pair.shapes[::-1]):
            i = self._model.frame(shape.body).body
            if self._model.support(i):
                if i not in self._speeds:
                    V = self._twists[i]
                    self._speeds[i] = sqrt(V.linear.dot(V.linear)), sqrt(V.angular.dot(V.angular))
                linear, angular = self._speeds[i]
                speed = speed + linear + angular * self._arm(i, shape, other)
        return self._dt * (self._fastest + 2.0 * speed)

    def _above(self, pair, plane, shape):
        """Whether a shape may touch a plane."""
        i, j = (self._model.frame(x.body).body for x in (plane, shape))
        X_j, upward = self._kin.X_0[j], Vector3(*(row[2] for row in plane.R))
        n = self._kin.X_0[i].E.inverse_apply(self._model.frame(plane.body).X_FB.E.inverse_apply(upward))
        n_j = X_j.E @ n
        slopes = Matrix3(shape.R).T @ (self._model.frame(shape.body).X_FB.E @ n_j)
        height = n.dot(X_j.r) + n_j.dot(self._position(shape)) - n.dot(self._center(plane))
        return height - extent(shape, [*slopes]) < self.way(pair)

    def _at_wall(self, pair, bowl, shape):
        """Whether a shape may touch the wall of a bowl that it is in."""
        left = bowl.size[0] - radius(shape) - self.way(pair)
        apart = self._center(bowl) - self._center(shape)
        return (left < 0.0) | (apart.dot(apart) > left * left)

    def _arm(self, i: int, shape, other):
        """Distance of the farthest point of a shape from the origin of its body i; of a plane where the other is."""
        if shape.kind not in ENDLESS:
            p = self._position(shape)
            return sqrt(p.dot(p)) + radius(shape)
        arm = self._center(other) - self._kin.X_0[i].r
        return sqrt(arm.dot(arm)) + radius(other)

    def _position(self, shape) -> Vector3:
        """The position of a shape in the axes of its body."""
        X = self._model.frame(shape.body).X_FB
        return X.r + X.E.inverse_apply(Vector3(*shape.p))

    def _center(self, shape) -> Vector3:
        """The same in the world."""
        X = self._kin.X_0[self._model.frame(shape.body).body]
        return X.r + X.E.inverse_apply(self._position(shape))


def near_points(model, kin: Kinematics, dt, many: bool) -> list[tuple]:
    """For each candidate point its pair, whether it may touch within the step, and the point.

    The condition is True of points without friction, and of all unless there are many. Points have any value where
    their pair is far away. That of a pair with one alone is None: to find it costs little more than the test.
    """
    nearness = Nearness(model, kin, dt, FASTEST)
    skipped = [pair for pair in model.contacts if many and not is_zero(pair.friction)]
    near = {pair.name: settled(nearness.near(pair)) for pair in skipped}
    several = [(pair, nearness.way(pair)) for pair in skipped if pair.count > 1]
    points = {pair.name: _searched(model, kin, pair, near[pair.name], way) for pair, way in several}
    found = []
    for pair in model.contacts:
        if pair.name in points:
            found += [(pair, close > 0.5, point) for close, point in points[pair.name]]
        elif pair.name in near:
            found.append((pair, near[pair.name], None))
        else:
            found += [(pair, True, point) for point in BodyPlaces(model, kin).points(pair)]
    return found


def _searched(model, kin, pair, near, way) -> list[tuple]:
    """1 or 0 for each point of a pair, whether it may touch; and the point, which has any value unless its pair may."""
    points = []

    def computed():
        points.extend(BodyPlaces(model, kin).points(pair))
        close = [where(x.gap < way, 1.0, 0.0) for x in points]
        return [*close, *(number for x in points for number in numbers(x))]

    def numbers(x):
        return x.gap, *x.position, *x.normal

    found = guarded(near, [0.0] * pair.count, computed)
    close, rest = found[: pair.count], iter(found[pair.count :])
    for n, x in enumerate(points):  # constants stay constants
        gap, *axes = [
            new if hasattr(old, "graph") else old for old, new in zip(numbers(x), islice(rest, 7), strict=True)
        ]
        points[n] = ContactPoint(gap, Vector3(*axes[:3]), Vector3(*axes[3:]))
    return list(zip(close, points, strict=True))
