"""Rows with bounded impulses: hard position limits, and dry friction that sticks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinetree.arguments import names, number
from kinetree.constraints.contract import BOX, Constraint
from kinetree.constraints.row_law import RowLaw, infinite, limited, sticking
from kinetree.forces.contract import present
from kinetree.spatial.scalar import where

REACHED = 1e-9  # of the distance to a limit: the part left after a step that ends there


class JointBounds(Constraint):
    """One row for each velocity coordinate of some joints, or of all joints to which it applies.

    Its force depends on the row's rate by a `RowLaw`, without the law of the joint that it ``replaces``.
    """

    __slots__ = ()

    row_kind = BOX
    joint_fields = ("of",)

    def where_locked(self, positions):
        """The same of the other joints."""
        left = tuple(joint for joint in self.of if joint not in positions)
        return None if self.of and not left else replace(self, of=left)

    def _concerns(self, model, k: int) -> bool:
        raise NotImplementedError

    def coordinates(self, model) -> list[int]:
        """The velocity coordinates with a row."""
        chosen = [model.joint(name) for name in self.of] or model.outward()
        entries = (range(*model.v_slice[i].indices(model.nv)) for i in chosen)
        return [k for each in entries for k in each if self._concerns(model, k)]

    def joint_of(self, model, n: int) -> str:
        """The name of the joint of row n."""
        k = self.coordinates(model)[n]
        return next(model.joint_name(i) for i in model.outward() if k < model.v_slice[i].stop)

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

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')} of {', '.join(map(repr, self.of)) or 'all joints'}"


@dataclass(frozen=True, slots=True)
class HardLimits(JointBounds):
    """Rigid position limits, with impacts and with rest at the limit without penetration, instead of soft stops.

    Parameters
    ----------
    restitution : float
        Coefficient of restitution: 0 ends at rest, 1 conserves the energy.
    of : str or sequence of str
        Joints; default all with limits.
    name : str

    Notes
    -----
    Rows ``v >= 0`` at a lower limit, impulses 0 to infinity, and the other way round at an upper one; Newton's
    restitution. Soft stops of these joints have no effect.

    Accelerations: at or beyond a lower limit ``a >= 0`` where v <= 0, and at an upper one ``a <= 0`` where v >= 0, with
    forces that are zero where a is not; a joint that moves into its limit is about to have an impact, which is not part
    of accelerations. In inverse dynamics the actuators take the load. Steps of `simulate` are cut at impacts, see
    `kinetree.integrators.joint_complementarity.JointComplementarity`; those of `rollout` end at the limit.

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

    number_fields = ("restitution",)
    replaces = "limit_stiffness"

    def __post_init__(self) -> None:
        e = number("hard limits: restitution", self.restitution,
                   "a number from 0 (comes to rest) to 1 (keeps the energy)", least=0.0, most=1.0)  # fmt: skip
        object.__setattr__(self, "restitution", e)
        object.__setattr__(self, "of", names("hard limits: of", self.of))

    def _concerns(self, model, k: int) -> bool:
        return model.has_limit(k)

    def positions(self, model) -> dict[int, int]:
        """The entry of q that belongs to each velocity coordinate with a row."""
        entry = {
            k: j
            for i in model.outward()
            if model.joints[i].nq == model.joints[i].nv
            for k, j in zip(*(range(s[i].start, s[i].stop) for s in (model.v_slice, model.q_slice)), strict=True)
        }
        return {k: entry[k] for k in self.coordinates(model)}

    def laws(self, kin, dt=None, predicted=None) -> list[RowLaw]:
        """At a limit, rates that do not leave it; in a step, velocities that do not pass it within the step."""
        found, model = [], kin.model
        for k, j in self.positions(model).items():
            limits, arriving = (model.lower[k], model.upper[k]), None if predicted is None else predicted[k]
            found.append(limited(limits, kin.q[j], kin.v[k], dt, self.restitution, arriving))
        return found

    def landed(self, model, q, q_next) -> dict[int, object]:
        """Positions at a limit, or so near to it after a step that rounding alone is between them."""
        found = {}
        for k, j in self.positions(model).items():
            for limit, sign in ((model.lower[k], 1.0), (model.upper[k], -1.0)):
                if not infinite(limit):
                    left, before = sign * (q_next[j] - limit), sign * (q[j] - limit)
                    found[j] = where(left > REACHED * before, found.get(j, q_next[j]), limit)
        return found

    @classmethod
    def examples(cls, model, rng):
        """Limits of all joints that have some, and of one joint."""
        yield (cls(0.5),)


@dataclass(frozen=True, slots=True)
class StickingFriction(JointBounds):
    """Dry friction by Coulomb's law, not rounded off: joints below their breakaway load do not move.

    Parameters
    ----------
    of : str or sequence of str
        Joints; default all with dry friction.
    name : str

    Notes
    -----
    Rows ``v = 0`` with forces up to ``dry_friction``, at the bound against the motion otherwise. Without it dry
    friction is rounded off below 1e-3 rad/s or m/s, and a loaded joint creeps.

    Accelerations: where v is exactly zero the joint stays at rest if forces within the bound keep it there, and starts
    against all of it otherwise. Inverse dynamics of a joint that stays at rest has no friction: any force within the
    bound is a solution, and that of the actuator alone is one of them.

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

    replaces = "dry_friction"

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", names("sticking friction: of", self.of))

    def _concerns(self, model, k: int) -> bool:
        return present(model.dry_friction[k])

    def laws(self, kin, dt=None, predicted=None) -> list[RowLaw]:
        """Resistance where a coordinate can stick, and the force of sliding where it moves in any case."""
        return [sticking(kin.model.dry_friction[k], kin.v[k], dt) for k in self.coordinates(kin.model)]

    @classmethod
    def examples(cls, model, rng):
        """Of all joints that have some."""
        yield (cls(),)
