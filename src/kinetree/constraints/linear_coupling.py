"""Joints whose weighted positions add up to a constant: gears, differentials, belts."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinetree.arguments import names, number, refuse
from kinetree.constraints.contract import Constraint
from kinetree.constraints.coupling import Coupling, check_single
from kinetree.constraints.polynomial_coupling import PolynomialCoupling, numbers_of
from kinetree.constraints.position_constraint import PositionConstraint


@dataclass(frozen=True, slots=True)
class LinearCoupling(PositionConstraint):
    """A weighted sum of joint positions is constant: ``sum_i ratio_i q_i = total``.

    Parameters
    ----------
    joints : sequence of str
        Two or more joints of one freedom.
    ratios : sequence of float
        One for each, none zero.
    total : float
        In the unit of a position times a ratio.
    name : str

    Notes
    -----
    The multiplier exerts ``ratio_i lambda`` at joint i. Gears and belts between two wheels have two joints; a model
    holds them as a `Coupling`. A differential, or a planetary gear by Willis' equation, has three: ``(1, 1, -2)`` for
    the two wheels and the cage. These are rows: eliminating one joint would fill the mass matrix as much as a row does.

    Examples
    --------
    A belt around three pulleys of radii 0.1, 0.1 and 0.2 m, whose length does not change:

    >>> import kinetree as kt
    >>> arm = kt.models.n_pendulum(3)
    >>> belt = kt.constraints.LinearCoupling(arm.joint_names, (0.1, 0.1, -0.2), name="belt")
    >>> a = kt.forward_dynamics(arm.with_constraints(belt), [0, 0, 0], [0, 0, 0], [1.0, 0, 0])
    >>> bool(abs(0.1 * a[0] + 0.1 * a[1] - 0.2 * a[2]) < 1e-12)
    True
    """

    joints: tuple[str, ...] = field()  # named as a property of the base
    ratios: tuple[float, ...]
    total: float = 0.0
    name: str = ""

    joint_fields = ("joints",)
    number_fields = ("ratios", "total")
    verb = "coupled"

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", names("linear coupling: joints", self.joints))
        n = len(self.joints)
        if n < 2 or len(set(self.joints)) < n:
            refuse("linear coupling: joints", self.joints, "two or more different names of joints")
        object.__setattr__(self, "ratios", numbers_of(f"{self}: ratios", self.ratios))
        object.__setattr__(self, "total", number(f"{self}: total", self.total))
        if len(self.ratios) != n or not all(self.ratios):
            refuse(f"{self}: ratios", self.ratios, f"{n} numbers that are not zero, one for each joint")

    def check(self, model) -> None:
        """All joints have one freedom."""
        check_single(self, model)

    def simplified(self) -> Constraint:
        """A coupling of two joints."""
        if len(self.joints) > 2:
            return self
        (joint, master), (r, s) = self.joints, self.ratios
        return Coupling(joint, master, -s / r, self.total / r, self.name)

    def where_locked(self, positions) -> Constraint | None:
        """The sum over the other joints."""
        terms = list(zip(self.joints, self.ratios, strict=True))
        total = self.total - sum(r * positions[joint][0] for joint, r in terms if joint in positions)
        left = [(joint, r) for joint, r in terms if joint not in positions]
        if len(left) == 1:
            [(joint, r)] = left
            return PolynomialCoupling(joint, None, (total / r,), name=self.name)
        return LinearCoupling(*zip(*left, strict=True), total, self.name) if left else None

    def phi(self, kin):
        """``sum_i ratio_i q_i - total``."""
        return sum((kin.coordinate(j) * r for j, r in zip(self.joints, self.ratios, strict=True)), start=-self.total)

    @classmethod
    def examples(cls, model, rng):
        """A pair, and three joints where there are so many."""
        single = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
        for n in range(2, min(len(single), 3) + 1):
            yield (cls(single[-n:], (1.0, -2.0, 0.5)[:n]),)
