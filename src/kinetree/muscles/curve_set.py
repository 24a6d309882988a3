"""The four curves of a muscle model."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.arguments import instance, number, text
from kinetree.muscles.curve import Curve, VelocityCurve


@dataclass(frozen=True, slots=True)
class MuscleCurves:
    """The four normalized curves of a muscle model, functions over any scalar.

    Parameters
    ----------
    name : str
    active_force_length, passive_force_length : Curve
        Forces over the isometric force, at fiber lengths over the optimal one.
    force_velocity : VelocityCurve
        Factor of the active force, at fiber velocities over the largest one; negative while the fiber shortens.
    tendon_force_length : Curve
        Force over the isometric one, at tendon lengths over the slack length.
    velocity_at_rest : float
        The largest velocity of an inactive fiber, over that of an active one; between them it is linear.

    Raises
    ------
    ArgumentError
        A field is of another kind.

    Examples
    --------
    Other passive forces, a parabola, in the place of one of the published curves:

    >>> import dataclasses
    >>> import kinetree as kt
    >>> from kinetree.spatial.scalar import maximum
    >>> @dataclasses.dataclass(frozen=True)
    ... class Parabola(kt.muscles.Curve):
    ...     stiffness: float
    ...
    ...     def __call__(self, x):
    ...         return self.stiffness * maximum(x - 1.0, 0.0) ** 2
    ...
    ...     def slope(self, x):
    ...         return 2.0 * self.stiffness * maximum(x - 1.0, 0.0)
    ...
    ...     def integral(self, x):
    ...         return self.stiffness / 3.0 * maximum(x - 1.0, 0.0) ** 3
    >>> curves = dataclasses.replace(kt.muscles.curves("millard"), name="soft", passive_force_length=Parabola(2.0))
    >>> curves.passive_force_length(1.5)
    0.5
    """

    name: str
    active_force_length: Curve
    passive_force_length: Curve
    force_velocity: VelocityCurve
    tendon_force_length: Curve
    velocity_at_rest: float = 1.0

    def __post_init__(self) -> None:
        text("muscle curves: name", self.name)
        for field in ("active_force_length", "passive_force_length", "tendon_force_length"):
            instance(f"muscle curves: {field}", getattr(self, field), Curve, "a Curve")
        instance("muscle curves: force_velocity", self.force_velocity, VelocityCurve, "a VelocityCurve")
        number("muscle curves: velocity_at_rest", self.velocity_at_rest, "a positive number", above=0.0)

    def velocity_scale(self, activation):
        """The largest velocity at an activation over that at full activation [1]."""
        rest = self.velocity_at_rest
        return 1.0 if rest == 1.0 else rest + (1.0 - rest) * activation
