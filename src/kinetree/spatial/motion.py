"""Spatial vectors: motions (velocities, accelerations, subspaces) and forces (forces, momenta, impulses).

The two belong to dual spaces and are different types: only a motion and a force have a scalar product, sums are of
one kind, and a motion crosses a motion into a motion and a force into a force (Featherstone, sections 2.1, 2.9, A.3).
"""

from __future__ import annotations

import numpy as np

from kinetree.spatial.columns import Columns
from kinetree.spatial.vectors import Quantity, Vector3, assemble, refuse, writers


def by_columns(function, left, operation: str, right, allowed: str, kind: type | None = None) -> Columns:
    """The function of each column of `Columns`, of class ``kind`` if it is another; any other operand is refused."""
    if right.__class__ is Columns:
        return right.each(function, kind)
    raise refuse(left, operation, right, allowed)


class SpatialVector(Quantity):
    """Base of motions and forces: two three-dimensional parts, about the origin of one frame."""

    __slots__ = ("angular", "linear")

    def __init__(self, angular: Vector3, linear: Vector3):
        _vector_angular(self, angular)
        _vector_linear(self, linear)

    @classmethod
    def of(cls, six):
        """Build from six scalars, angular part first; a plain NumPy vector becomes Python floats."""
        x, y, z, u, v, w = six.tolist() if isinstance(six, np.ndarray) and six.ndim == 1 else six
        return cls(Vector3(x, y, z), Vector3(u, v, w))

    @classmethod
    def zero(cls):
        """The zero vector, with structural zeros."""
        return cls(Vector3.zero(), Vector3.zero())

    def __iter__(self):
        yield from self.angular
        yield from self.linear

    def __add__(self, other):
        if other.__class__ is not self.__class__:
            raise refuse(self, "+", other, self._SUM)
        return self.__class__(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other):
        if other.__class__ is not self.__class__:
            raise refuse(self, "-", other, self._SUM)
        return self.__class__(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self):
        return self.__class__(-self.angular, -self.linear)

    def __mul__(self, scale):
        if isinstance(scale, Quantity):
            raise refuse(self, "*", scale, f"{type(self).__name__} * scalar, Motion.dot(Force), Motion.cross(...)")
        return self.__class__(self.angular * scale, self.linear * scale)

    __rmul__ = __mul__

    def __truediv__(self, scale):
        if isinstance(scale, Quantity):
            raise refuse(self, "/", scale, f"{type(self).__name__} / scalar")
        return self.__class__(self.angular / scale, self.linear / scale)

    def array(self) -> np.ndarray:
        """NumPy array of shape (..., 6), angular part first."""
        return assemble(list(self))


_vector_angular, _vector_linear = writers(SpatialVector)


class Motion(SpatialVector):
    """A spatial motion vector: velocity, acceleration, or a direction of motion.

    Parameters
    ----------
    angular : Vector3
        Angular part [rad/s for a velocity].
    linear : Vector3
        Linear part [m/s]: the velocity of the body-fixed point at the frame's origin.

    Examples
    --------
    >>> spin = Motion.of([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    >>> spin.cross(Motion.of([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])).linear
    Vector3(0.0, 1.0, 0.0)
    """

    __slots__ = ()
    _SUM = "Motion +- Motion, Force +- Force"

    def dot(self, force: Force):
        """Power of a force: ``w . n + v . f`` (6m + 5a; Featherstone eq. 2.9)."""
        if force.__class__ is not Force:
            raise refuse(self, ".dot", force, "Motion.dot(Force), Force.dot(Motion)")
        return self.angular.dot(force.angular) + self.linear.dot(force.linear)

    def cross(self, other):
        """``v x m`` of a motion, ``v x* f`` of a force (18m + 12a; Featherstone eq. 2.31-2.34).

        Parameters
        ----------
        other : Motion or Force

        Returns
        -------
        Motion or Force
            The rate at which ``other`` changes when it moves along with the velocity ``self``.
        """
        w, v = self.angular, self.linear
        if other.__class__ is Motion:
            return Motion(w.cross(other.angular), w.cross(other.linear) + v.cross(other.angular))
        if other.__class__ is Force:
            return Force(w.cross(other.angular) + v.cross(other.linear), w.cross(other.linear))
        return by_columns(self.cross, self, ".cross", other, "Motion.cross(Motion), Motion.cross(Force)")

    def velocity_at(self, point: Vector3) -> Vector3:
        """Linear velocity of the body-fixed point at ``point`` [m]: ``v + w x p`` (Featherstone eq. 2.5)."""
        return self.linear + self.angular.cross(point)


class Force(SpatialVector):
    """A spatial force vector: force, momentum, impulse, or a direction of force.

    Parameters
    ----------
    angular : Vector3
        Moment about the frame's origin [N m].
    linear : Vector3
        Force [N].
    """

    __slots__ = ()
    _SUM = "Force +- Force, Motion +- Motion"

    @classmethod
    def at_point(cls, force: Vector3, point: Vector3) -> Force:
        """The pure force whose line of action passes through ``point``: moment ``p x f``."""
        return cls(point.cross(force), force)

    def dot(self, motion: Motion):
        """Power on a motion: ``w . n + v . f`` (6m + 5a)."""
        if motion.__class__ is not Motion:
            raise refuse(self, ".dot", motion, "Force.dot(Motion), Motion.dot(Force)")
        return motion.angular.dot(self.angular) + motion.linear.dot(self.linear)

    def cross(self, other):
        """Not defined: a force is not an operator (Featherstone, section 2.9)."""
        raise refuse(self, ".cross", other, "Motion.cross(Motion), Motion.cross(Force)")

    def moment_about(self, point: Vector3) -> Vector3:
        """Moment about ``point`` [m]: ``n + f x p`` (Featherstone eq. 2.6)."""
        return self.angular + self.linear.cross(point)
