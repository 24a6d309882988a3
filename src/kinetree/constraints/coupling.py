"""A joint that turns with another at a constant ratio: a gear, a URDF mimic joint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kinetree.arguments import number, text
from kinetree.constraints.contract import Constraint
from kinetree.errors import CouplingError


def check_single(constraint: Constraint, model, joints: Sequence[str] | None = None) -> None:
    """Joints that are coupled, all of a constraint by default, have one freedom.

    Raises
    ------
    CouplingError
    """
    for name in constraint.joints if joints is None else joints:
        joint = model.joints[model.joint(name)]
        if joint.nq != 1 or joint.nv != 1:
            raise CouplingError(
                f"{constraint}: joint {name!r} ({joint!r}) has nq={joint.nq} and nv={joint.nv}; only joints of one "
                "freedom can be coupled",
                joint=name,
            )


@dataclass(frozen=True, slots=True)
class Coupling(Constraint):
    """One joint turns with another: ``q_joint = ratio q_master + offset``.

    Parameters
    ----------
    joint : str
        The joint that follows; of one freedom.
    master : str
        The joint that it follows; of one freedom. In a model no master follows another joint: chains are followed to
        their end when it is made.
    ratio : float
    offset : float
        [rad or m].
    name : str

    Notes
    -----
    Source: Featherstone (2008), eq. 3.20-3.21: constraints ``q = gamma(y)`` are eliminated, ``v = G y``. The
    multiplier is the force on the joint; that on its master is ``-ratio`` times as large.

    Examples
    --------
    >>> import kinetree as kt
    >>> pair = kt.models.double_pendulum().with_constraints(kt.constraints.Coupling("elbow", "shoulder", -2.0))
    >>> pair.nc, pair.neutral().tolist()
    (1, [0.0, 0.0])
    """

    joint: str
    master: str
    ratio: float = 1.0
    offset: float = 0.0
    name: str = ""
    varies: bool = field(default=False, repr=False, compare=False)  # whether the ratio is a number at any value

    joint_fields = ("joint", "master")
    verb = "coupled"

    def __post_init__(self) -> None:
        for what in ("joint", "master"):
            text(f"coupling: {what}", getattr(self, what), "the name of a joint")
        numbers = {what: getattr(self, what) for what in ("ratio", "offset")}
        if any(isinstance(x, float) and not math.isfinite(x) for x in numbers.values()):
            raise CouplingError(f"{self}: ratio {self.ratio} and offset {self.offset} must be finite", joint=self.joint)
        for what, x in numbers.items():
            object.__setattr__(self, what, number(f"{self}: {what}", x))

    @property
    def number_fields(self) -> tuple[str, ...]:
        """Ratio and offset; a ratio of 0, 1 or -1 is structure, which saves products."""
        free = self.varies or abs(self.ratio) not in (0.0, 1.0)
        return ("ratio", "offset") if free else ("offset",)

    def with_numbers(self, values) -> Coupling:
        """The same with other numbers, of any scalar type, in the order of ``numbers``."""
        made = Constraint.with_numbers(self, values)
        object.__setattr__(made, "varies", len(self.number_fields) == 2)
        return made

    def structure(self, model) -> tuple:
        """The joints, and a ratio that is no number."""
        ratio = () if "ratio" in self.number_fields else (self.ratio,)
        return self.kind, model.joint(self.joint), model.joint(self.master), *ratio

    def count(self, model) -> int:
        """One."""
        return 1

    def check(self, model) -> None:
        """Both joints have one freedom."""
        check_single(self, model)

    def where_locked(self, positions) -> Coupling | None:
        """Nothing: a joint that follows is locked with its master, at any master's position if the ratio is zero."""
        return None if self.joint in positions else self

    def residual(self, kin) -> list:
        """``q_joint - ratio q_master - offset``."""
        return [kin.coordinate(self.joint) - kin.coordinate(self.master) * self.ratio - self.offset]

    def rows(self, kin) -> list[dict]:
        """1 at the joint and ``-ratio`` at its master."""
        return [{kin.dof(self.joint): 1.0, kin.dof(self.master): -self.ratio}]

    def bias(self, kin) -> list:
        """Zero."""
        return [0.0]

    def violation(self, at: str, n: int, residual: float) -> CouplingError:
        """The error, with the function that sets coupled joints from their masters."""
        offset = f" + {self.offset:g}" if at == "q" and self.offset else ""
        return CouplingError(
            f"{at} breaks the coupling {self.joint} = {self.ratio:g} {self.master}{offset} by {residual:.3g}; "
            f"kt.kinematics.apply_couplings(model, q, v) sets the coupled joints from their masters.",
            joint=self.joint,
            master=self.master,
            residual=residual,
        )

    def velocity_map(self, kin) -> dict:
        """``v_joint = ratio v_master``."""
        return {kin.dof(self.joint): [(kin.dof(self.master), self.ratio)]}

    def __str__(self) -> str:
        return f"coupling of joint {self.joint!r} to {self.master!r}"

    @classmethod
    def examples(cls, model, rng):
        """One joint that follows another; a chain of two."""
        single = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
        if len(single) > 1:
            yield (cls(single[-1], single[0], -1.5, 0.2),)
        if len(single) > 2:
            yield cls(single[1], single[0], 0.5), cls(single[2], single[1], 2.0, -0.3)


def resolved(couplings: Sequence[Coupling]) -> tuple[Coupling, ...]:
    """Couplings with every chain followed to the joint that moves freely.

    Parameters
    ----------
    couplings : sequence of Coupling

    Returns
    -------
    tuple of Coupling
        No master follows another joint: of q1 = r1 q2 + o1 and q2 = r2 q3 + o2 comes q1 = r1 r2 q3 + (r1 o2 + o1).

    Raises
    ------
    CouplingError
        A joint that follows twice, or follows itself (directly or around a circle).
    """
    followed: dict[str, Coupling] = {}
    for c in couplings:
        if c.joint in followed:
            raise CouplingError(
                f"joint {c.joint!r} follows both {followed[c.joint].master!r} and {c.master!r}; it can follow one",
                joint=c.joint,
            )
        followed[c.joint] = c

    ends: dict[str, Coupling] = {}
    for joint in followed:
        path: dict[str, None] = {}  # in order; each joint is on one path only
        while joint in followed and joint not in ends:
            if joint in path:
                circle = [*list(path)[list(path).index(joint) :], joint]
                shown = " -> ".join(circle if len(circle) <= 13 else [*circle[:12], f"... ({len(circle) - 1} in all)"])
                raise CouplingError(f"joints follow each other in a circle: {shown}", joints=circle)
            path[joint] = None
            joint = followed[joint].master
        end = ends.get(joint)
        master, ratio, offset = (end.master, end.ratio, end.offset) if end else (joint, 1.0, 0.0)
        for name in reversed(path):
            c = followed[name]
            ratio, offset = c.ratio * ratio, c.ratio * offset + c.offset
            ends[name] = replace(c, master=master, ratio=ratio, offset=offset)
    return tuple(ends[joint] for joint in followed)
