"""Rows with bounded impulses along the coordinates of loop joints: hard limits, and dry friction that sticks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinetree.arguments import names, number
from kinetree.constraints.contract import BOX, Constraint
from kinetree.constraints.joint_bounds import HardLimits, StickingFriction
from kinetree.constraints.loop_joint import LoopJoint
from kinetree.constraints.row_law import RowLaw, infinite, limited, sticking
from kinetree.errors import unknown_name
from kinetree.forces.contract import present

RETURN = 0.2  # of the distance beyond a limit, made up for in each step: rows turn with the mechanism


class LoopBounds(Constraint):
    """One row for each coordinate of some loop joints, or of all to which it applies: the rate of the coordinate.

    It takes the place of the forces in these loop joints that have the parameter ``replaces_in_loops``.
    """

    __slots__ = ()

    row_kind = BOX
    joint_fields = ()

    def check(self, model) -> None:
        """The names are those of loop joints."""
        for name in self.of:
            if not model.is_loop(name):
                raise unknown_name("loop joint", name, tuple(model._loop_numbers), f"model {model.name!r}")

    def renamed(self, joint, frame) -> LoopBounds:
        """The same under other names of joints."""
        return replace(self, of=tuple(map(joint, self.of)))

    def _concerns(self, loop, n: int) -> bool:
        raise NotImplementedError

    def coordinates(self, model) -> list[int]:
        """None: its rows are of several velocities."""
        return []

    def places(self, model) -> list[tuple[str, int]]:
        """Loop joint and number of each coordinate with a row."""
        return [
            (name, n)
            for name, loop in model.loop_joints()
            if not self.of or name in self.of
            for n in range(loop.joint.nv)
            if self._concerns(loop, n)
        ]

    def joint_of(self, model, n: int) -> str:
        """The name of the loop joint of row n."""
        return self.places(model)[n][0]

    def takes(self, model, force) -> bool:
        """Whether it takes the place of a force in a loop joint."""
        parameter = force.law.parameters[0].name
        return parameter == self.replaces_in_loops and (not self.of or force.joint in self.of)

    def count(self, model) -> int:
        """One for each coordinate."""
        return len(self.places(model))

    def rows(self, kin) -> list[dict]:
        """The rate of each coordinate under a unit of each velocity."""
        return [kin.row(name, n) for name, n in self.places(kin.model)]

    def bias(self, kin) -> list:
        """The rate of the rates, without accelerations."""
        return [kin.rate_bias(name, n) for name, n in self.places(kin.model)]

    def structure(self, model) -> tuple:
        """The loop joints, by the numbers of their constraints."""
        return self.kind, tuple(model._loop_numbers[name] for name in self.of)

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')} of {', '.join(map(repr, self.of)) or 'all loop joints'}"

    @classmethod
    def examples(cls, model, rng):
        """Of a hinge that holds the last body."""
        for loop, *_ in LoopJoint.examples(model, rng):
            if loop.joint.nv == 1:
                yield replace(loop, lower=-0.5, upper=1.0, **{StickingFriction.replaces: 0.7}), cls()


@dataclass(frozen=True, slots=True)
class HardLoopLimits(LoopBounds):
    """Rigid limits of loop joints, with impacts and with rest at the limit, instead of soft stops.

    Parameters
    ----------
    restitution : float
        Coefficient of restitution: 0 ends at rest, 1 conserves the energy.
    of : str or sequence of str
        Loop joints; default all with limits.
    name : str

    Raises
    ------
    UnknownNameError
        In a model: there is no such loop joint.

    Notes
    -----
    As `HardLimits` of joints of the tree, by the rates of the loop joint's own coordinates, which are sums over several
    velocities. Steps do not end at impacts: these are off by the order of dt, and so is the rest at a limit.

    Examples
    --------
    >>> import kinetree as kt
    >>> from dataclasses import replace
    >>> linkage = kt.models.four_bar()
    >>> loop = replace(linkage.loops[0], lower=0.5)
    >>> stopped = linkage.replace(constraints=[loop, kt.constraints.HardLoopLimits()])
    >>> stopped.nc, stopped.constraint_labels[0]
    (6, 'hard_loop_limits')
    """

    restitution: float = 0.0
    of: tuple[str, ...] = ()
    name: str = ""

    number_fields = ("restitution",)
    replaces_in_loops = HardLimits.replaces

    def __post_init__(self) -> None:
        e = number("hard loop limits: restitution", self.restitution,
                   "a number from 0 (comes to rest) to 1 (keeps the energy)", least=0.0, most=1.0)  # fmt: skip
        object.__setattr__(self, "restitution", e)
        object.__setattr__(self, "of", names("hard loop limits: of", self.of))

    def _concerns(self, loop, n: int) -> bool:
        return not all(map(infinite, loop.limits[n]))

    def laws(self, kin, dt=None, predicted=None) -> list[RowLaw]:
        """At a limit, rates that do not leave it; in a step, velocities that do not pass it within the step."""
        counted = {(name, n): rest for name, loop in kin.model.loop_joints()
                   for n, *rest in loop.counted(kin.loop_position(name))}  # fmt: skip
        found = []
        for name, n in self.places(kin.model):
            x, *limits = counted[name, n]
            row = kin.row(name, n)
            then = None if predicted is None else sum((r * predicted[k] for k, r in row.items()), start=0.0)
            found.append(limited(limits, x, kin.rate(name, n), dt, self.restitution, then, RETURN))
        return found


@dataclass(frozen=True, slots=True)
class StickingLoopFriction(LoopBounds):
    """Dry friction of loop joints by Coulomb's law, not rounded off: they do not move below their breakaway load.

    Parameters
    ----------
    of : str or sequence of str
        Loop joints; default all with dry friction.
    name : str

    Raises
    ------
    UnknownNameError
        In a model: there is no such loop joint.

    Notes
    -----
    As `StickingFriction` of joints of the tree, with the coefficients of the loop joints.

    Examples
    --------
    >>> import kinetree as kt
    >>> linkage = kt.models.four_bar()  # its loop joint has no friction, so no row either
    >>> linkage.with_constraints(kt.constraints.StickingLoopFriction()).nc == linkage.nc
    True
    """

    of: tuple[str, ...] = ()
    name: str = ""

    replaces_in_loops = StickingFriction.replaces

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", names("sticking loop friction: of", self.of))

    def _concerns(self, loop, n: int) -> bool:
        return present(loop.along(self.replaces_in_loops)[n])

    def laws(self, kin, dt=None, predicted=None) -> list[RowLaw]:
        """Resistance where a coordinate can stick, and the force of sliding where it moves in any case."""
        load = kin.model.loop_coefficients(self.replaces_in_loops)
        return [sticking(load[name][n], kin.rate(name, n), dt) for name, n in self.places(kin.model)]
