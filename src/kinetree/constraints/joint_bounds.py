"""Rows whose impulses are bounded: position limits that nothing passes, and dry friction that sticks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import names, number
from kinetree.constraints.contract import BOX, Constraint


class JointBounds(Constraint):
    """One row for each velocity coordinate of some joints, or of all that it can concern.

    Their impulses are found in the steps of ``kt.simulate`` (integrator "semi_implicit"); accelerations alone cannot
    tell them, so the complete dynamics refuse a model with such rows.
    """

    __slots__ = ()

    row_kind = BOX
    joint_fields = ("of",)

    def _concerns(self, model, k: int) -> bool:
        raise NotImplementedError

    def coordinates(self, model) -> list[int]:
        """The velocity coordinates with a row."""
        chosen = [model.joint(name) for name in self.of] or model.outward()
        entries = (range(*model.v_slice[i].indices(model.nv)) for i in chosen)
        return [k for each in entries for k in each if self._concerns(model, k)]

    def count(self, model) -> int:
        """One for each coordinate."""
        return len(self.coordinates(model))

    def rows(self, kin) -> list[dict]:
        """1 at each velocity."""
        return [{k: 1.0} for k in self.coordinates(kin.model)]

    def bias(self, kin) -> list:
        """Zero."""
        return [0.0 for _ in self.coordinates(kin.model)]

    def structure(self, model) -> tuple:
        """The joints."""
        return self.kind, tuple(map(model.joint, self.of))


@dataclass(frozen=True, slots=True)
class HardLimits(JointBounds):
    """Position limits met by impacts and rested on without penetration, instead of soft stops.

    Parameters
    ----------
    restitution : float
        0 comes to rest, 1 keeps the energy.
    of : str or sequence of str
        Joints; default all with limits.
    name : str

    Notes
    -----
    Rows ``v >= 0`` at a lower limit, impulses 0 to infinity, and the other way round at an upper one; Newton's
    restitution. See `kinetree.integrators.joint_complementarity.JointComplementarity`.

    Examples
    --------
    >>> import kinetree as kt
    >>> cart = kt.load("cart_pole").with_constraints(kt.constraints.HardLimits(restitution=0.5))
    >>> run = kt.simulate(cart, [1.79, 0.0], [1.0, 0.0], duration=0.03)
    >>> run.events[0].side
    'upper'
    """

    restitution: float = 0.0
    of: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        e = number("hard limits: restitution", self.restitution,
                   "a number from 0 (comes to rest) to 1 (keeps the energy)", least=0.0, most=1.0)  # fmt: skip
        object.__setattr__(self, "restitution", e)
        object.__setattr__(self, "of", names("hard limits: of", self.of))

    def _concerns(self, model, k: int) -> bool:
        return bool(np.isfinite(model.lower[k]) or np.isfinite(model.upper[k]))

    @classmethod
    def examples(cls, model, rng):
        """Limits of all joints that have some, and of one joint."""
        yield (cls(0.5),)


@dataclass(frozen=True, slots=True)
class StickingFriction(JointBounds):
    """Dry friction as Coulomb's law has it: joints below their breakaway load do not move at all.

    Parameters
    ----------
    of : str or sequence of str
        Joints; default all with dry friction.
    name : str

    Notes
    -----
    Rows ``v = 0`` with forces up to ``dry_friction``, at the bound against the motion otherwise. Without it dry
    friction is rounded off below 1e-3 rad/s or m/s, and a loaded joint creeps.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum().replace(dry_friction=100.0)
    >>> held = arm.with_constraints(kt.constraints.StickingFriction())
    >>> bool((kt.simulate(held, [1.0, 0.5], duration=0.1).q == [1.0, 0.5]).all())
    True
    """

    of: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", names("sticking friction: of", self.of))

    def _concerns(self, model, k: int) -> bool:
        return model.dry_friction[k] != 0.0

    @classmethod
    def examples(cls, model, rng):
        """Of all joints that have some."""
        yield (cls(),)
