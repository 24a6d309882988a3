"""All kinds of constraints, by name: the built-in ones and those that users register."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.constraints.contract import Constraint
from kinetree.constraints.coupling import Coupling, resolved
from kinetree.constraints.distance import Distance
from kinetree.constraints.explicit_constraint import ExplicitConstraint, in_order
from kinetree.constraints.guided_point import PointOnCurve, PointOnSurface
from kinetree.constraints.joint_bounds import HardLimits, StickingFriction
from kinetree.constraints.linear_coupling import LinearCoupling
from kinetree.constraints.lock import Lock
from kinetree.constraints.loop_bounds import HardLoopLimits, StickingLoopFriction
from kinetree.constraints.loop_joint import LoopJoint
from kinetree.constraints.polynomial_coupling import PolynomialCoupling
from kinetree.constraints.prescribed_motion import PrescribedMotion
from kinetree.constraints.rolling import KnifeEdge, RollingBall, RollingDisk, RollingWheel
from kinetree.constraints.tendon_length import TendonLength
from kinetree.errors import ConstraintError, DuplicateNameError, ModelError
from kinetree.kinds import enter
from kinetree.state_kinematics import Kinematics

CONSTRAINTS: dict[str, type[Constraint]] = {}


def register(cls: type[Constraint]) -> type[Constraint]:
    """Enter a constraint class into ``CONSTRAINTS`` under its ``kind``, so that the tests cover it; a decorator.

    Parameters
    ----------
    cls : subclass of Constraint
        Its classmethod ``examples(cls, rng)`` yields pairs of a model and constraints.

    Raises
    ------
    ModelError
        If ``cls`` is not a constraint class.
    DuplicateNameError
        If another class has this kind.
    """
    return enter(CONSTRAINTS, Constraint, cls, "constraint", ModelError)


for _cls in (
    Coupling, LinearCoupling, PolynomialCoupling, ExplicitConstraint, Lock, PrescribedMotion, HardLimits,
    StickingFriction, LoopJoint, HardLoopLimits, StickingLoopFriction, Distance, TendonLength, PointOnCurve,
    PointOnSurface, KnifeEdge, RollingWheel, RollingDisk, RollingBall,
):  # fmt: skip
    register(_cls)


def check_constraint(where: str, found) -> None:
    """Raise an error unless it is a constraint."""
    if not isinstance(found, Constraint):
        raise ModelError(
            f"{where}: {found!r} is not a constraint; kinetree.constraints has them, such as "
            "kt.constraints.Coupling('elbow', 'shoulder', ratio=2.0)",
            found=found,
        )


def checked_constraints(model, constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """The constraints of a model: their names exist and differ, and chains of couplings are followed to their end.

    Raises
    ------
    ModelError, UnknownNameError, DuplicateNameError, CouplingError
    """
    constraints = list(constraints)
    for c in constraints:
        check_constraint(f"model {model.name!r}", c)
    seen: set[str] = set()
    for c in constraints:
        for name in c.joints:
            model.joint(name)
        for name in c.frames:
            model.frame(name)
        c.check(model)
        if getattr(c, "name", "") and c.name in seen:
            raise DuplicateNameError(
                f"model {model.name!r}: two constraints are named {c.name!r}", kind="constraint", name=c.name
            )
        seen.add(getattr(c, "name", ""))
    constraints = [c.simplified() for c in constraints]
    _refuse_twice(model, constraints)
    in_order(constraints)
    couplings = resolved([c for c in constraints if isinstance(c, Coupling)])
    return (*couplings, *(c for c in constraints if not isinstance(c, Coupling)))


def _refuse_twice(model, constraints: Sequence[Constraint]) -> None:
    """Refuse two constraints that determine one velocity, or that replace one law."""
    taken: set[tuple[str, str]] = set()
    for c in constraints:
        for joint in (c.joints or model.joint_names) if c.replaces else ():
            if (c.replaces, joint) in taken:
                raise ConstraintError(f"joint {joint!r} is in two constraints of kind {c.kind}: {c}", joint=joint)
            taken.add((c.replaces, joint))
    owner: dict[int, Constraint] = {}
    for c in sorted(constraints, key=lambda c: not isinstance(c, Coupling)):
        for k in c.velocity_map(Kinematics(model, ())):
            first = owner.setdefault(k, c)
            if first is c or isinstance(c, Coupling):  # couplings are followed to their end
                continue
            joint = next(name for name in c.joints if k in Kinematics(model, ()).dofs(name))
            if isinstance(first, Coupling):
                raise ConstraintError(
                    f"joint {joint!r} follows joint {first.master!r}, so it cannot be {c.verb} itself; name "
                    f"{first.master!r}",
                    joint=joint,
                )
            raise ConstraintError(f"joint {joint!r} is both {first.verb} and {c.verb}", joint=joint)
