"""Rheonomic joints: those that move by themselves as time goes by (Featherstone, sections 3.4 and 3.5).

Algorithms use the ordinary joint of an instant, ``at(t)``, whose velocity is ``v_J = S v + sigma`` and whose bias
``c_J`` includes the apparent rate of sigma.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.errors import JointError
from kinetree.joints.contract import Joint, SameCoordinates
from kinetree.joints.dual import Dual, rate_of, value_of
from kinetree.joints.elementary import Fixed
from kinetree.spatial import Columns, Matrix3, Motion, Transform, Vector3


class Rheonomic(Joint):
    """Base class of joints whose transform depends on time.

    A joint of your own gives ``transform_at``, and ``nq`` and ``nv`` if it has freedoms besides; velocity and bias
    follow by differentiation. The manifold of its positions (``q_dot``, ``integrate``, ...) does not depend on time.

    Notes
    -----
    *Source* Featherstone, eqs. 3.31-3.33 and 3.40-3.44; ``jcalc`` with the time as a further argument, section 4.4.
    Velocities come from ``dX_J/dt = -v_J x X_J``.

    Examples
    --------
    A turntable that gets faster and faster:

    >>> from kinetree.spatial import Transform, Vector3
    >>> from kinetree.spatial.rotations import rz
    >>> class Spinning(Rheonomic):
    ...     def transform_at(self, t, q):
    ...         return Transform(rz(t * t), Vector3.zero())
    >>> now = Spinning().at(3.0)
    >>> round(float(now.velocity((), ()).angular.z), 12), round(float(now.bias((), ()).angular.z), 12)
    (6.0, 2.0)
    """

    __slots__ = ()

    nq = nv = 0
    time_dependent = True

    def transform_at(self, t, q: Sequence) -> Transform:
        """X_J(q, t): the coordinate transform from predecessor to successor coordinates."""
        raise NotImplementedError

    def motion_subspace_at(self, t, q: Sequence) -> tuple[Motion, ...]:
        """S(q, t); by default from ``transform_at``, along each velocity in turn."""
        columns = []
        for k in range(self.nv):
            rates = self.q_dot(q, [float(m == k) for m in range(self.nv)])
            moving = [Dual(x, rate) for x, rate in zip(q, rates, strict=True)]
            columns.append(twist_of(self.transform_at(Dual(t, 0.0), moving)))
        return tuple(columns)

    def at(self, t) -> Joint:
        if self.nv or self.nq:
            return AtTime(self, t)
        V = twist_of(self.transform_at(Dual(Dual(t, 1.0), 1.0), ()))
        return Instant(self.transform_at(t, ()), Motion.of(map(value_of, V)), Motion.of(map(rate_of, V)))

    def _timeless(self, *_):
        raise JointError(
            f"{self!r} depends on time, so its position needs one; joint.at(t) is the joint at a time "
            "t [s], model.at(t) the tree.",
            joint=self,
        )

    transform = motion_subspace = velocity = bias = subspace_rate = implicit = _timeless


class Instant(Joint):
    """A moving frame at an instant: a joint without freedoms that has a velocity.

    Parameters
    ----------
    X : Transform
    V : Motion
        v_J = sigma.
    A : Motion
        c_J, the apparent rate of sigma.
    """

    kind = "instant"
    nq = nv = 0
    rheonomic = True

    def __init__(self, X: Transform, V: Motion, A: Motion) -> None:
        self.X, self.V, self.A = X, V, A

    def transform(self, q):
        return self.X

    def motion_subspace(self, q):
        return ()

    def velocity(self, q, v):
        return self.V

    def bias(self, q, v):
        return self.A

    def subspace_rate(self, q, v):
        return ()

    def implicit(self, X):
        return Fixed().implicit(X @ self.X.inverse())


class AtTime(SameCoordinates, Joint):
    """A rheonomic joint at a time: every quantity from its transform, by differentiation.

    Parameters
    ----------
    joint : Rheonomic
    t : scalar
        [s].
    """

    kind = "at a time"
    rheonomic = True

    def __init__(self, joint: Rheonomic, t) -> None:
        self.joint, self.t = joint, t

    def transform(self, q):
        return self.joint.transform_at(self.t, q)

    def motion_subspace(self, q):
        return self.joint.motion_subspace_at(self.t, q)

    def sigma(self, q):
        return twist_of(self.joint.transform_at(Dual(self.t, 1.0), [Dual(x, 0.0) for x in q]))

    def velocity(self, q, v):
        return Columns(self.motion_subspace(q), Motion) @ v + self.sigma(q)

    def bias(self, q, v):
        then, moving = self._moving(q, v)
        return Motion.of(map(rate_of, then.velocity(moving, v)))

    def subspace_rate(self, q, v):
        then, moving = self._moving(q, v)
        return tuple(Motion.of(map(rate_of, column)) for column in then.motion_subspace(moving))

    def _moving(self, q, v):
        """This joint and its position as time goes by."""
        return AtTime(self.joint, Dual(self.t, 1.0)), [
            Dual(x, rate) for x, rate in zip(q, self.q_dot(q, v), strict=True)
        ]


def twist_of(X: Transform) -> Motion:
    """The velocity of the successor, in its coordinates, from a transform whose entries are dual numbers."""
    rows = X.E.matrix.rows
    E = Matrix3(tuple(tuple(map(value_of, row)) for row in rows))
    W = Matrix3(tuple(tuple(map(rate_of, row)) for row in rows)) @ E.T  # dE/dt E^T = -[w]x
    return Motion(Vector3(W[1, 2], W[2, 0], W[0, 1]), E @ Vector3(*map(rate_of, X.r)))
