"""A joint whose position is a polynomial of another's: cams, linkages given by a fit, MuJoCo's joint equalities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.arguments import number, refuse, text
from kinetree.constraints.contract import Constraint
from kinetree.constraints.coupling import Coupling, check_single
from kinetree.constraints.position_constraint import PositionConstraint


def polynomial(coefficients: Sequence, x):
    """``c_0 + c_1 x + c_2 x^2 + ...`` over any scalars, by Horner's rule."""
    *lower, total = coefficients
    for c in reversed(lower):
        total = total * x + c
    return total


def numbers_of(what: str, values, least: int = 1) -> tuple[float, ...]:
    """A sequence of finite numbers as a tuple.

    Raises
    ------
    ArgumentError
    """
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__") or len(tuple(values)) < least:
        refuse(what, values, f"a sequence of {least} or more numbers")
    return tuple(number(what, x) for x in values)


@dataclass(frozen=True, slots=True)
class PolynomialCoupling(PositionConstraint):
    """One joint follows another by a polynomial: ``y - y0 = c0 + c1 (x - x0) + c2 (x - x0)^2 + ...``.

    Parameters
    ----------
    joint : str
        The joint with the position y; of one freedom.
    master : str or None
        The joint with the position x; of one freedom. None: y stays at ``y0 + c0``.
    coefficients : sequence of float
        c0, c1, ... [unit of y per power of the unit of x].
    joint_reference, master_reference : float
        y0 and x0 [rad or m].
    name : str

    Notes
    -----
    A model holds a linear one as a `Coupling`, and one without a master eliminates the joint, as `Lock` does. Others
    are rows: ratios ``v_joint = p'(x) v_master`` that depend on the position would have a rate, which all projected
    equations and steps would have to add; a row has it in its bias.

    Source: MuJoCo, XML reference, ``equality/joint``.

    Examples
    --------
    >>> import kinetree as kt
    >>> cam = kt.constraints.PolynomialCoupling("elbow", "shoulder", (0.0, 0.0, 0.5))
    >>> arm = kt.models.double_pendulum().with_constraints(cam)
    >>> a = kt.forward_dynamics(arm, [0.4, 0.08], [1.0, 0.4], [0.0, 0.0])
    >>> bool(abs(a[1] - (0.4 * a[0] + 1.0)) < 1e-12)
    True
    """

    joint: str
    master: str | None
    coefficients: tuple[float, ...]
    joint_reference: float = 0.0
    master_reference: float = 0.0
    name: str = ""

    joint_fields = ("joint", "master")
    number_fields = ("coefficients", "joint_reference", "master_reference")
    verb = "coupled"

    def __post_init__(self) -> None:
        text("polynomial coupling: joint", self.joint, "the name of a joint")
        if self.master is not None:
            text("polynomial coupling: master", self.master, "the name of a joint, or None")
        found = numbers_of(f"{self}: coefficients", self.coefficients)
        object.__setattr__(self, "coefficients", found)
        for what in ("joint_reference", "master_reference"):
            object.__setattr__(self, what, number(f"{self}: {what}", getattr(self, what)))
        if self.master is None and any(found[1:]):
            refuse(f"{self}: coefficients", found, "one number where there is no master")
        if self.master is None and self.master_reference:
            refuse(f"{self}: master_reference", self.master_reference, "none where there is no master")

    def check(self, model) -> None:
        """Both joints have one freedom, and differ."""
        check_single(self, model)
        if self.joint == self.master:
            refuse(f"{self}: master", self.master, "another joint")

    def simplified(self) -> Constraint:
        """A coupling with constant ratio if it is linear."""
        c0, c1, *higher = (*self.coefficients, 0.0)
        if self.master is None or any(higher):
            return self
        if c1 == 0.0:
            return PolynomialCoupling(self.joint, None, (c0,), self.joint_reference, 0.0, self.name)
        offset = self.joint_reference + c0 - c1 * self.master_reference
        return Coupling(self.joint, self.master, c1, offset, self.name)

    def where_locked(self, positions) -> Constraint | None:
        """A fixed position if the master is locked."""
        if self.master not in positions or self.joint in positions:
            return PositionConstraint.where_locked(self, positions)
        (x,) = positions[self.master]
        value = polynomial(self.coefficients, x - self.master_reference)
        return PolynomialCoupling(self.joint, None, (value,), self.joint_reference, 0.0, self.name)

    def phi(self, kin):
        """``y - y0 - p(x - x0)``."""
        x = 0.0 if self.master is None else kin.coordinate(self.master) - self.master_reference
        return kin.coordinate(self.joint) - self.joint_reference - polynomial(self.coefficients, x)

    def velocity_map(self, kin) -> dict:
        """Without a master the joint does not move."""
        return {kin.dof(self.joint): []} if self.master is None else {}

    @classmethod
    def examples(cls, model, rng):
        """A cubic; a line; a joint that stays where it is."""
        single = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
        if len(single) > 1:
            shift = {"joint_reference": -0.5 + 0.3 * 0.2 - 0.7 * 0.04 + 0.1 * 0.008 * 4, "master_reference": 0.2}
            yield (cls(single[-1], single[0], (0.5, 0.3, 0.7, 0.4), **shift),)
            yield (cls(single[0], single[-1], (0.4, -2.0), -0.4),)
        yield (cls(single[0], None, (0.3,), -0.3),)
