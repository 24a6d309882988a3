"""Constraints on velocities that are no rates of a position error: rolling without slip, blades."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.constraints.leaves import PARTIALS, RATES, VALUES, Leaves
from kinetree.constraints.position_constraint import PositionConstraint, as_list
from kinetree.joints.dual import rate_of, value_of


class VelocityConstraint(PositionConstraint):
    """A nonholonomic constraint stated by velocities ``psi(q, v, t)`` that vanish: rows and bias follow.

    A subclass is a frozen dataclass with a method ``psi``, and fields as those of a `PositionConstraint`. It may also
    have position errors ``phi``; these come first. ``count(model)`` is the number of both.

    Attributes
    ----------
    position_errors : int
        Number of entries of phi.

    Notes
    -----
    ``psi(kin)`` returns a scalar or a sequence of scalars that are linear in the velocities; ``kin`` gives those that
    it gives to ``phi``, and ``rate(joint, n)``, ``velocity(frame, at, relative_to)`` and ``angular_velocity(frame,
    relative_to)``, both in the axes of the frame itself.

    Examples
    --------
    A cart that cannot slip sideways, without a steering wheel:

    >>> import kinetree as kt
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class NoSideslip(kt.constraints.VelocityConstraint):
    ...     frame: str
    ...     frame_fields = ("frame",)
    ...     def psi(self, kin):
    ...         return kin.velocity(self.frame).y
    >>> b = kt.ModelBuilder("cart")
    >>> _ = b.add_body("cart", joint=kt.joints.Planar(), mass=1.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> cart = b.build().with_constraints(NoSideslip("cart"))
    >>> v = [0.5, 2.0, 0.0]  # it turns at 0.5 rad/s and goes ahead with 2 m/s
    >>> a, force = kt.forward_dynamics(cart, [0, 0, 0], v, [0, 0, 0], multipliers=True)
    >>> [round(float(x), 12) + 0.0 for x in (*a, *force)]
    [0.0, 0.0, 0.0, 1.0]
    """

    __slots__ = ()
    _stated = "psi, with phi,"

    position_errors: int = 0

    def phi(self, kin) -> Sequence:
        """No position error."""
        return ()

    def psi(self, kin):
        """The velocities that vanish, over leaves of the kinematics: a scalar, or one for each row."""
        raise NotImplementedError

    def position_level(self, model) -> tuple[bool, ...]:
        """True for the rows of phi, which are first."""
        return tuple(n < self.position_errors for n in range(self.count(model)))

    def residual(self, kin) -> list | None:
        """phi, and zeros for the rows of psi; None without phi."""
        if not self.position_errors:
            return None
        phi = as_list(self.phi(Leaves(self, kin, VALUES)))
        return phi + [0.0] * (self.count(kin.model) - len(phi))

    def rows(self, kin) -> list[dict]:
        """The derivatives of phi along the velocity coordinates, and those of psi with respect to them."""
        found = [leaves.row(rate_of(x)) for leaves, law in self._both(kin, PARTIALS) for x in law]
        self._check_count(kin.model, found)
        return found

    def rate(self, kin) -> list:
        """The rate of phi, and psi."""
        (_, phi), (_, psi) = self._both(kin, RATES)
        return [rate_of(value_of(x)) for x in phi] + [value_of(x) for x in psi]

    def bias(self, kin) -> list:
        """The second rate of phi and the rate of psi, without accelerations."""
        (_, phi), (_, psi) = self._both(kin, RATES)
        return [rate_of(rate_of(x)) for x in phi] + [rate_of(x) for x in psi]

    def _both(self, kin, order: int):
        positions, velocities = (Leaves(self, kin, order, of_velocities) for of_velocities in (False, True))
        return (positions, as_list(self.phi(positions))), (velocities, as_list(self.psi(velocities)))
