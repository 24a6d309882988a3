"""Motion and force vectors, two types that never mix (Featherstone, sections 2.2-2.9 and A.3)."""

from __future__ import annotations

from kinetree.spatial.vectors import Quantity, Vector3, assemble


class _SixVector(Quantity):
    """What motions and forces share: two 3-vectors, (angular, linear), and the linear operations of one kind."""

    __slots__ = ("angular", "linear")

    def __init__(self, angular: Vector3, linear: Vector3):
        self.angular = angular
        self.linear = linear

    @classmethod
    def zero(cls):
        """The vector of structural zeros."""
        return cls(Vector3.zero(), Vector3.zero())

    @classmethod
    def of(cls, six):
        """Build from a sequence of six scalars, angular first."""
        a, b, c, d, e, f = six
        return cls(Vector3(a, b, c), Vector3(d, e, f))

    def __iter__(self):
        yield from self.angular
        yield from self.linear

    def __repr__(self):
        return f"{type(self).__name__}({self.angular!r}, {self.linear!r})"

    def __add__(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self.__class__(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self.__class__(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self):
        return self.__class__(-self.angular, -self.linear)

    def __mul__(self, scale):
        if isinstance(scale, Quantity):
            return NotImplemented
        return self.__class__(self.angular * scale, self.linear * scale)

    __rmul__ = __mul__

    def array(self):
        """NumPy array of shape (..., 6), angular first."""
        return assemble(list(self))


class Motion(_SixVector):
    """A motion vector: velocity, acceleration, or an axis of either.

    Parameters
    ----------
    angular, linear : Vector3
        For a velocity: angular velocity [rad/s], velocity of the body's point at the origin [m/s].

    Notes
    -----
    Source: Featherstone (2008), sections 2.2 and 2.9.
    """

    __slots__ = ()

    def cross(self, other):
        """``v x m`` of a motion, ``v x* f`` of a force (18m + 12a each; eq. 2.31-2.34)."""
        w, v = self.angular, self.linear
        if other.__class__ is Motion:
            return Motion(w.cross(other.angular), w.cross(other.linear) + v.cross(other.angular))
        if other.__class__ is Force:
            return Force(w.cross(other.angular) + v.cross(other.linear), w.cross(other.linear))
        raise TypeError(f"Motion.cross takes a Motion or a Force, not {type(other).__name__}")

    def dot(self, force):
        """Power of a force along this motion (6m + 5a)."""
        if force.__class__ is not Force:
            raise TypeError(f"Motion.dot takes a Force, not {type(force).__name__}: only motion times force is a scalar")
        return self.angular.dot(force.angular) + self.linear.dot(force.linear)


class Force(_SixVector):
    """A force vector: wrench, momentum or impulse.

    Parameters
    ----------
    angular, linear : Vector3
        Moment about the origin [N m], force [N].

    Notes
    -----
    Source: Featherstone (2008), sections 2.3 and 2.9. Only motions act on forces: there is no ``Force.cross``.
    """

    __slots__ = ()

    def dot(self, motion):
        """Power along a motion (6m + 5a)."""
        if motion.__class__ is not Motion:
            raise TypeError(f"Force.dot takes a Motion, not {type(motion).__name__}: only motion times force is a scalar")
        return motion.dot(self)

    def cross(self, other):
        """Not defined: the cross product acts from a motion on a motion or a force."""
        raise TypeError(f"Force.cross is not defined (other operand: {type(other).__name__}); use Motion.cross(Force)")
