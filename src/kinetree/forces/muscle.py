"""Hill muscles along paths, with rigid or compliant tendon."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.arguments import a_truth_value, choice, number, refuse
from kinetree.forces.contract import ForceElement
from kinetree.muscles.activation import activation_rate
from kinetree.muscles.curve_set import MuscleCurves
from kinetree.muscles.fiber import (
    MuscleParts,
    contraction,
    fiber_rate,
    parts,
    passive_energy,
    pennated,
    projected,
    tendon_force,
)
from kinetree.muscles.library import curves
from kinetree.tendons import ViaPoint, path_length
from kinetree.tendons.path import Path, path_of

BOUNDS = {
    "max_isometric_force": ("a positive force in N", {"above": 0.0}),
    "optimal_fiber_length": ("a positive length in m", {"above": 0.0}),
    "tendon_slack_length": ("a length in m, positive or zero", {"least": 0.0}),
    "pennation": ("an angle in rad, 0 or more and less than pi/2", {"least": 0.0, "most": 1.57}),
    "max_contraction_velocity": ("a positive number of optimal fiber lengths per second", {"above": 0.0}),
    "activation_time": ("a positive time in s", {"above": 0.0}),
    "deactivation_time": ("a positive time in s", {"above": 0.0}),
    "minimum_activation": ("a number from 0 to 1", {"least": 0.0, "most": 1.0}),
    "fiber_damping": ("a number, positive or zero", {"least": 0.0}),
    "max_pennation": ("an angle in rad, positive and less than pi/2", {"above": 0.0, "most": 1.57}),
}
"""Of every number of a muscle the value expected and the bounds."""


@dataclass(frozen=True)
class Muscle(ForceElement):
    """A Hill muscle: a pennated fiber, active and passive, in series with a tendon, along a path.

    Parameters
    ----------
    name : str
    path : sequence of ViaPoint, WrapShape and Pulley, or of JointTerm
        From origin to insertion; its length is that of fiber and tendon together.
    max_isometric_force : float
        F0 [N].
    optimal_fiber_length : float
        [m]
    tendon_slack_length : float
        [m]; zero for none, with a rigid tendon.
    pennation : float
        Angle between fiber and tendon at the optimal fiber length [rad]; the fiber's height is constant.
    max_contraction_velocity : float
        In optimal fiber lengths per second [1/s].
    activation_time, deactivation_time : float
        Time constants of the activation [s].
    minimum_activation : float
        Lower bound of excitation and activation [1].
    fiber_damping : float
        Force over F0 at the largest velocity [1]; positive for compliant tendons.
    max_pennation : float
        Bounds the length of the fiber from below [rad].
    curves : {"millard", "degroote_fregly", "thelen", "cubic"} or MuscleCurves
    tendon : {"rigid", "compliant"}
        A rigid tendon keeps its slack length; the fiber follows the path. A compliant one stretches: then the fiber
        length is an internal state.
    smooth_activation : bool
        Whether the switch between rising and falling activation is smooth.

    Attributes
    ----------
    curve_set : MuscleCurves

    Raises
    ------
    ArgumentError
        Impossible parameters: lengths, forces or times that are not positive, pennation of a right angle or more.
    ModelError
        The path is none.

    Notes
    -----
    The input is ``excitation``, the states are ``activation`` and, with a compliant tendon, ``fiber_length`` [m]. With
    a rigid tendon the tension along the path is ``F0 (a fl(l) fv(v) + fp(l) + b v) cos(alpha)``, of which the passive
    part is stored energy; with a compliant one it is ``F0 ft(lT)``, and the fiber moves so that both are equal:
    ``kinetree.muscles.fiber.fiber_rate``. `kinetree.muscles.equilibrate` gives fiber lengths in equilibrium.

    *Source*: Millard, Uchida, Seth and Delp (2013); Sueda's notes, section 1.5, for rigid tendons.

    Examples
    --------
    >>> import kinetree as kt
    >>> path = (kt.tendons.ViaPoint("world", (0.1, 0.0, 0.0)), kt.tendons.ViaPoint("bob", (0.0, 0.0, -0.2)))
    >>> flexor = kt.forces.Muscle("flexor", path, 100.0, 0.1, 0.12)
    >>> model = kt.models.pendulum().with_forces(flexor)
    >>> model.state_names, model.input_names
    (('flexor.activation',), ('flexor.excitation',))
    >>> float(kt.dynamics.passive_joint_forces(model, [0.1], [0.0], x=[0.5])[0]) != 0.0
    True
    """

    name: str
    path: Path
    max_isometric_force: float
    optimal_fiber_length: float
    tendon_slack_length: float
    pennation: float = 0.0
    max_contraction_velocity: float = 10.0
    activation_time: float = 0.01
    deactivation_time: float = 0.04
    minimum_activation: float = 0.01
    fiber_damping: float = 0.1
    max_pennation: float = 1.4706289056333368
    curves: str | MuscleCurves = "millard"
    tendon: str = "rigid"
    smooth_activation: bool = False

    inputs = ("excitation",)

    def __post_init__(self) -> None:
        what = f"muscle {self.name!r}"
        object.__setattr__(self, "path", path_of(f"{what}: path", self.path))
        if not isinstance(self.curves, MuscleCurves):
            curves(self.curves)
        a_truth_value(f"{what}: smooth_activation", self.smooth_activation)
        choice(f"{what}: tendon", self.tendon, ("rigid", "compliant"))
        for field, (expected, bounds) in BOUNDS.items():
            object.__setattr__(self, field, number(f"{what}: {field}", getattr(self, field), expected, **bounds))
        if self.max_pennation <= self.pennation:
            refuse(f"{what}: max_pennation", self.max_pennation, f"more than the pennation, {self.pennation} rad")
        for field in ("tendon_slack_length", "fiber_damping"):
            if self.tendon == "compliant" and getattr(self, field) == 0.0:
                refuse(
                    f"{what}: {field}", 0.0, "a positive number where the tendon is compliant: the velocity of the "
                    "fiber follows from its damping and from the tendon's stretch. tendon='rigid' needs neither"
                )  # fmt: skip

    @property
    def curve_set(self) -> MuscleCurves:
        return self.curves if isinstance(self.curves, MuscleCurves) else curves(self.curves)

    @property
    def states(self) -> tuple[str, ...]:
        return ("activation", "fiber_length") if self.tendon == "compliant" else ("activation",)

    def initial_state(self):
        return [self.minimum_activation, self.optimal_fiber_length][: len(self.states)]

    def _values(self):
        return {what: value for what, value in super()._values().items() if what != "curves"}

    # The law ---------------------------------------------------------------------------------------------------------

    def length(self, kin):
        return path_length(self.path, kin)

    def stored(self, length):
        if self.tendon == "compliant":
            return 0.0
        fiber, _ = pennated(self, length - self.tendon_slack_length)
        return passive_energy(self, fiber)

    def tension(self, length, rate, x, u):
        if self.tendon == "compliant":
            _, y, _ = projected(self, x.fiber_length)
            return self.max_isometric_force * tendon_force(self, length - y)
        fiber, cosine = pennated(self, length - self.tendon_slack_length)
        return self.max_isometric_force * sum(contraction(self, x.activation, fiber, rate * cosine)) * cosine

    def parts(self, length, rate, x) -> MuscleParts:
        """Tension, fiber length and rate, energies and powers, given those of the path and the states x."""
        return parts(self, length, rate, x)

    def state_rate(self, kin, x, u):
        activation = activation_rate(
            x.activation, u.excitation, self.activation_time, self.deactivation_time, self.minimum_activation,
            self.smooth_activation,
        )  # fmt: skip
        if self.tendon == "rigid":
            return [activation]
        _, y, _ = projected(self, x.fiber_length)
        return [activation, fiber_rate(self, x.activation, x.fiber_length, self.length(kin) - y)]

    @classmethod
    def example(cls, model, rng) -> Muscle:
        """A compliant muscle between two frames, for the tests."""
        frames = [str(name) for name in rng.permutation([frame.name for frame in model.frames])]
        path = (ViaPoint(frames[0], tuple(rng.normal(size=3))), ViaPoint(frames[1]))
        return cls(cls.kind, path, 2.0, 1.0, 0.5, 0.2, tendon="compliant")
