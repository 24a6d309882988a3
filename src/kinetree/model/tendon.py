"""A tendon of a model as data: its path, and the forces along it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from kinetree.constraints.loop_joint import Softness
from kinetree.model.parts import freeze
from kinetree.tendons.path import Path, is_fixed, path_of

INFINITE = float("inf")
EVERYWHERE = (-INFINITE, INFINITE)


@dataclass(frozen=True, slots=True)
class Tendon:
    """A length that depends on the position, with forces along it.

    Parameters
    ----------
    name : str
    path : tuple of JointTerm, or of ViaPoint, WrapShape and Pulley
        A fixed tendon is a sum of joint positions, a spatial one the shortest path over points and shapes.
    stiffness, damping, dry_friction, armature : float
        Along the length [N/m, N s/m, N, kg].
    higher_stiffness, higher_damping : tuple of float
        Coefficients of the second and third power [N/m^2, N/m^3; N s^2/m^2, N s^3/m^3].
    rest_length : tuple of 2 floats
        The spring is slack between the two [m].
    lower, upper : float
        Limits of the length [m].
    limit_stiffness, limit_damping : float
        Of the spring and damper beyond the limits [N/m, N s/m].
    limit_softness : Softness, optional
        The file's, which is relative to the inertia along the tendon.
    actuator_force_range : tuple of 2 floats
        Limits of the sum of the actuators' forces on it [N].

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> terms = [kt.tendons.JointTerm(name, 0.05) for name in arm.joint_names]  # over pulleys of 5 cm
    >>> cable = kt.model.Tendon("cable", tuple(terms), stiffness=1000.0)
    >>> model = arm.replace(equipment=kt.model.Equipment(tendons=(cable,)))
    >>> with kt.interpreted():
    ...     print(kt.dynamics.tendon_lengths(model, [0.3, 0.1]).round(9))
    [0.02]
    """

    name: str
    path: Path
    stiffness: float = 0.0
    damping: float = 0.0
    dry_friction: float = 0.0
    armature: float = 0.0
    higher_stiffness: tuple[float, ...] = ()
    higher_damping: tuple[float, ...] = ()
    rest_length: tuple[float, float] = (0.0, 0.0)
    lower: float = -INFINITE
    upper: float = INFINITE
    actuator_force_range: tuple[float, float] = EVERYWHERE
    limit_stiffness: float = 0.0
    limit_damping: float = 0.0
    limit_softness: Softness | None = None

    refers = MappingProxyType({})

    def __post_init__(self) -> None:
        freeze(self)
        if self.path:
            object.__setattr__(self, "path", path_of(f"tendon {self.name!r}: path", self.path))

    @property
    def is_fixed(self) -> bool:
        """Whether the length is a sum of joint positions."""
        return is_fixed(self.path)

    @property
    def forces(self) -> tuple[str, ...]:
        """Forces along it without an actuator: "stiffness", "damping", "dry friction", "armature", "limit"."""
        there = {
            "stiffness": self.stiffness or any(self.higher_stiffness),
            "damping": self.damping or any(self.higher_damping),
            "dry friction": self.dry_friction,
            "armature": self.armature,
            "limit": self.is_limited,
        }
        return tuple(what for what, value in there.items() if value)

    @property
    def is_limited(self) -> bool:
        """Whether the length has a limit."""
        return bool(np.isfinite(self.lower) or np.isfinite(self.upper))

    def without_forces(self) -> Tendon:
        """Its length alone."""
        none = dict(stiffness=0.0, damping=0.0, dry_friction=0.0, armature=0.0, lower=-INFINITE, upper=INFINITE)
        return replace(self, **none, higher_stiffness=(), higher_damping=())

    @property
    def not_computed(self) -> str:
        """The reason why its forces are not computed: "hard limits"; empty if they are."""
        return "hard limits" if self.is_limited and not (self.limit_stiffness or self.limit_damping) else ""

    def __str__(self) -> str:
        return f"tendon {self.name!r}" + (f" ({', '.join(self.forces)})" if self.forces else "")
