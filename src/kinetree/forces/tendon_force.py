"""Springs, dampers, friction and soft limits along the path of a tendon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.arguments import a_name, number, refuse
from kinetree.forces.contract import ForceElement, present
from kinetree.forces.dry_friction import FRICTION_VELOCITY
from kinetree.forces.fields import set_coefficients, set_numbers
from kinetree.spatial.scalar import absolute, maximum, where
from kinetree.tendons import ViaPoint, path_length
from kinetree.tendons.path import Path, is_fixed, path_of


@dataclass(frozen=True)
class TendonForce(ForceElement):
    """Forces along a path: a spring with a slack range, a damper, dry friction, soft limits of the length.

    Parameters
    ----------
    name : str
    path : sequence of ViaPoint, WrapShape and Pulley, or of JointTerm
        Of the length L. For joint terms all lengths are sums of joint positions [rad or m].
    stiffness : float
        k [N/m].
    rest_length : float or sequence of 2 floats
        L0, or the range (lower, upper) in which the spring is slack [m]; of a rope ``(0, L0)``.
    damping : float
        d [N s/m].
    dry_friction : float
        c [N]: ``c v / max(|v|, v_s)`` at the rate v of the length, v_s = 1e-3 m/s.
    lower, upper : float, optional
        Limits of the length [m].
    limit_stiffness, limit_damping : float
        Of the spring and damper that act beyond a limit [N/m, N s/m].
    armature : float
        Inertia m along the length, with the kinetic energy ``m (dL/dt)^2 / 2``, as of a drum [kg].
    higher_stiffness, higher_damping : sequence of at most 2 floats
        Coefficients of ``e^2, e^3`` [N/m^2, N/m^3] and of ``v |v|, v^3`` [N s^2/m^2, N s^3/m^3].

    Raises
    ------
    ModelError
        The path is none, collapses, or has a shape that is not between two points.
    ArgumentError
        A number is not finite, or one of those that cannot be negative is; limits or rest lengths in wrong order.

    Notes
    -----
    The tension, positive where it shortens the path, is ``k e + d v + friction``, e the signed distance from the slack
    range, v the rate of the length. With coefficients of even order springs need not be stable.
    Source: MuJoCo, XML reference, ``tendon/spatial``; friction and limits are soft constraints there.

    Examples
    --------
    A cord of 0.9 m over the tip of a double pendulum is slack while the ends are nearer:

    >>> import kinetree as kt
    >>> via, model = kt.tendons.ViaPoint, kt.models.double_pendulum()
    >>> cord = TendonForce("cord", (via("world"), via("lower", at=(0.0, 0.0, -0.5))), 100.0, (0.0, 0.9))
    >>> model = model.with_forces(cord)
    >>> [float(kt.dynamics.elastic_energy(model, [0.3, elbow]).round(9)) for elbow in (0.0, 2.9)]
    [18.0, 0.0]
    """

    name: str
    path: Path
    stiffness: float = 0.0
    rest_length: tuple = 0.0
    damping: float = 0.0
    dry_friction: float = 0.0
    lower: float | None = None
    upper: float | None = None
    limit_stiffness: float = 0.0
    limit_damping: float = 0.0
    armature: float = 0.0
    higher_stiffness: tuple = ()
    higher_damping: tuple = ()

    joint_fields, frame_fields = (), ()

    @property
    def passive(self) -> bool:
        """Whether no damping of higher order is negative."""
        return all(not isinstance(d, float) or d >= 0.0 for d in self.higher_damping)

    def __post_init__(self) -> None:
        a_name("TendonForce: name", self.name)
        label = f"TendonForce {self.name!r}"
        object.__setattr__(self, "path", path_of(f"{label}: path", self.path))
        set_numbers(self, "stiffness", "damping", "dry_friction", "limit_stiffness", "limit_damping", least=0.0)
        set_numbers(self, "armature", least=0.0)
        set_coefficients(self, "higher_stiffness", "higher_damping", most=2)
        object.__setattr__(self, "rest_length", self._rest_lengths(f"{label}: rest_length"))
        for what in ("lower", "upper"):
            if getattr(self, what) is not None:
                set_numbers(self, what)
        if None not in (self.lower, self.upper) and self.lower > self.upper:
            refuse(f"{label}: lower", self.lower, f"at most upper, {self.upper}; were they exchanged?")

    def _rest_lengths(self, label: str) -> tuple[float, ...]:
        """One number, or two that differ."""
        given = self.rest_length if isinstance(self.rest_length, Sequence) else (self.rest_length,)
        if len(given) not in (1, 2):
            refuse(label, self.rest_length, "a length, or a range (lower, upper) [m]")
        least = -math.inf if is_fixed(self.path) else 0.0
        found = [number(label, x, "a length that is not negative [m]", least=least) for x in given]
        if found[0] > found[-1]:
            refuse(label, self.rest_length, "a range (lower, upper) [m]; were they exchanged?")
        return tuple(dict.fromkeys(found))

    @property
    def acts(self) -> bool:
        """Whether there is a force at some length and rate."""
        limited = (present(self.limit_stiffness) or present(self.limit_damping)) and self._has_limit
        higher = (*self.higher_stiffness, *self.higher_damping)
        return limited or any(map(present, (self.stiffness, self.damping, self.dry_friction, *higher)))

    @property
    def _has_limit(self) -> bool:
        return self.lower is not None or self.upper is not None

    @property
    def kinked(self) -> bool:
        slack = len(self.rest_length) == 2 and any(map(present, (self.stiffness, *self.higher_stiffness)))
        return slack or present(self.dry_friction) or self._has_limit

    def length(self, kin):
        return path_length(self.path, kin)

    def stored(self, length):
        e, beyond = _excess(length, self.rest_length[0], self.rest_length[-1])[0], self._beyond(length)[0]
        energy, power = 0.5 * self.stiffness * e * e + 0.5 * self.limit_stiffness * beyond * beyond, e * e
        for n, k in enumerate(self.higher_stiffness, 3):
            power = power * e
            energy = energy + k * power * (1.0 / n)
        return energy

    def tension(self, length, rate):
        friction = self.dry_friction * rate / maximum(absolute(rate), FRICTION_VELOCITY)
        at_limit = self.limit_damping * self._beyond(length)[1]
        coefficient, power = self.damping + at_limit, 1.0
        for d in self.higher_damping:
            power = power * absolute(rate)
            coefficient = coefficient + d * power
        return coefficient * rate + friction

    def _beyond(self, length):
        return _excess(length, self.lower, self.upper)

    @classmethod
    def example(cls, model, rng) -> TendonForce:
        """All forces along a path from a point of the world to one of a body."""
        world, *others = model.frames
        end = others[int(rng.choice([k for k, frame in enumerate(others) if frame.body]))]
        path = tuple(ViaPoint(name, tuple(rng.normal(size=3))) for name in (world.name, end.name))
        k, d, c, k_limit, d_limit = rng.uniform(0.5, 2.0, 5).tolist()
        return cls(cls.kind, path, k, (0.3, 0.6), d, c, 0.5, 1.5, k_limit, d_limit, 0.0, (0.1, 0.4), (0.2, 0.3))


def _excess(length, lower, upper) -> tuple:
    """The signed distance from a range, and whether the length is at its border or beyond; None for no limit."""
    if lower is upper and lower is not None:
        return length - lower, 1.0
    excess, outside = 0.0, 0.0
    if lower is not None:
        within = length > lower  # false for NaN, which stays NaN
        excess, outside = where(within, 0.0, length - lower), where(within, 0.0, 1.0)
    if upper is not None:
        within = length < upper
        excess, outside = where(within, excess, length - upper), where(within, outside, 1.0)
    return excess, outside
