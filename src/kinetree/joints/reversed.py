"""Joints with predecessor and successor exchanged."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinetree.joints.contract import Joint, SameCoordinates, of_the_joint
from kinetree.joints.elementary import Cylindrical, Fixed, Helical, Prismatic, Revolute

ALONG_AN_AXIS = (Revolute, Prismatic, Helical, Cylindrical)  # reversed by turning the axis round


@dataclass(frozen=True, slots=True, eq=False)
class Reversed(SameCoordinates, Joint):
    """The same mechanism, seen from the other side: its variables and rates are the same.

    Parameters
    ----------
    joint : Joint
        The joint from the new successor to the new predecessor.

    Notes
    -----
    *Source* Featherstone, table 4.2. *Differs* T becomes -p_X_s* T, with the star (the basis consists of forces).

    *Identities* X' X = 1, T'^T S' = 0, v_J' = -X' v_J.

    Examples
    --------
    >>> from kinetree.joints import Prismatic
    >>> Reversed(Prismatic()).motion_subspace([0.4])[0].linear.z
    -1.0
    """

    joint: Joint

    kind = "reversed"

    @property
    def constant_subspace(self) -> bool:
        # S'-ring = -X^-1 (S-ring + v_J x S), and v_J x S = 0 if S has one column.
        return self.joint.constant_subspace and self.joint.nv <= 1

    def at(self, t):
        return Reversed(self.joint.at(t)) if self.time_dependent else self

    def transform(self, q):
        return self.joint.transform(q).inverse()

    def motion_subspace(self, q):
        X = self.joint.transform(q)
        return tuple(-X.inverse_apply(column) for column in self.joint.motion_subspace(q))

    def velocity(self, q, v):
        return -self.joint.transform(q).inverse_apply(self.joint.velocity(q, v))

    def bias(self, q, v):
        return -self.joint.transform(q).inverse_apply(self.joint.bias(q, v))

    def subspace_rate(self, q, v):
        # S' = -X^-1 S and dX^-1/dt = X^-1 v_J x
        X, v_J = self.joint.transform(q), self.joint.velocity(q, v)
        columns, rates = self.joint.motion_subspace(q), self.joint.subspace_rate(q, v)
        return tuple(-X.inverse_apply(rate + v_J.cross(s)) for rate, s in zip(rates, columns, strict=True))

    def implicit(self, X):
        delta, T = self.joint.implicit(X.inverse())
        return delta, tuple(-(X @ force) for force in T)

    def loop_coordinates(self, X):
        q, W = self.joint.loop_coordinates(X.inverse())
        return q, tuple(-(X @ force) for force in W)

    def canonical(self):
        R, joint = self.joint.canonical()
        return R, self if joint is self.joint else Reversed(joint)

    @classmethod
    def examples(cls, rng):
        """None of its own: the battery reverses the examples of every other kind."""
        return iter(())


of_the_joint(Reversed, "regroupable", "time_dependent", "rheonomic", "wraps", "searched")


def reversed_joint(joint: Joint) -> Joint:
    """The joint between the same frames, exchanged, with the same q, v and forces.

    Parameters
    ----------
    joint : Joint

    Returns
    -------
    Joint
        Joints along an axis get the opposite axis, reversed ones become their originals, others become ``Reversed``.

    Notes
    -----
    *Source* Featherstone, table 4.2.

    Examples
    --------
    >>> reversed_joint(Revolute((0, 0, 1))).axis
    (0.0, 0.0, -1.0)
    """
    if isinstance(joint, Reversed):
        return joint.joint
    if type(joint) in ALONG_AN_AXIS:
        return replace(joint, axis=tuple(-x for x in joint.axis))
    return joint if joint.nq == joint.nv == 0 and isinstance(joint, Fixed) else Reversed(joint)
