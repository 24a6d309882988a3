"""A joint whose coordinates are given functions of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kinetree.arguments import text
from kinetree.constraints.contract import Constraint
from kinetree.errors import KinetreeError, ModelError
from kinetree.joints import Prescribed, Sinusoid
from kinetree.joints.time_functions import derivatives


@dataclass(frozen=True, slots=True, eq=False)
class PrescribedMotion(Constraint):
    """A joint that follows functions of time: ``q = f(t)``, with the force that this requires.

    Parameters
    ----------
    joint : str
        With one velocity for each position (no quaternions).
    motion : function of time, sequence or mapping
        The function of the only coordinate; one for each coordinate, None where it is free; or functions by number or
        name of the coordinate. A number, `kinetree.joints.Polynomial`, `Sinusoid`, ..., or any callable over scalars.
    name : str

    Notes
    -----
    Eliminated. Multipliers are the forces of the drive. The complete dynamics of such a model take the time as their
    last input. `kinetree.joints.Prescribed` is a joint that has no such coordinates at all.

    Source: Featherstone (2008), section 9.2 (hybrid dynamics).

    Examples
    --------
    >>> import math
    >>> import kinetree as kt
    >>> swing = kt.joints.Sinusoid(amplitude=0.1, omega=8.0, phase=math.pi / 2)
    >>> arm = kt.models.double_pendulum().with_constraints(kt.constraints.PrescribedMotion("shoulder", swing))
    >>> a = kt.forward_dynamics(arm, [0.1, 0.5], [0.0, 0.0], [0.0, 0.0], 0.0)
    >>> round(float(a[0]), 9)
    -6.4
    """

    joint: str
    motion: object
    name: str = ""

    time_dependent = True
    verb = "prescribed"

    def __post_init__(self) -> None:
        text("prescribed motion: joint", self.joint, "the name of a joint")

    def functions(self, model) -> tuple[Callable | float | None, ...]:
        """A function of time for each coordinate of the joint, None where it is free."""
        joint = model.joints[model.joint(self.joint)]
        motion = dict(self.motion) if isinstance(self.motion, Mapping) else self.motion
        try:
            whole = Prescribed(joint, motion)
        except KinetreeError as error:
            raise ModelError(f"{self}: {error}", joint=self.joint) from error
        if not whole._is_plain:
            raise ModelError(
                f"{self}: the velocities of {joint!r} are not the rates of its positions; build the model with "
                "kinetree.joints.Prescribed instead",
                joint=self.joint,
            )
        return whole.motion

    def check(self, model) -> None:
        """The joint's coordinates can be given."""
        self.functions(model)

    def count(self, model) -> int:
        """Coordinates that are given."""
        return len(self._given(model))

    def _given(self, model) -> dict[int, Callable | float]:
        return {n: f for n, f in enumerate(self.functions(model)) if f is not None}

    def residual(self, kin) -> list:
        """``q - f(t)``."""
        given = self._given(kin.model)
        return [kin.coordinate(self.joint, n) - derivatives(f, kin.t)[0] for n, f in given.items()]

    def rows(self, kin) -> list[dict]:
        """1 at each velocity that is given."""
        return [{kin.dof(self.joint, n): 1.0} for n in self._given(kin.model)]

    def bias(self, kin) -> list:
        """``- d2f/dt2``."""
        return [-derivatives(f, kin.t)[2] for f in self._given(kin.model).values()]

    def velocity_map(self, kin) -> dict:
        """No velocity of the model gives them."""
        return {kin.dof(self.joint, n): [] for n in self._given(kin.model)}

    def given_rates(self, kin) -> dict[int, tuple]:
        """``(df/dt, d2f/dt2)``."""
        given = self._given(kin.model)
        return {kin.dof(self.joint, n): derivatives(f, kin.t)[1:] for n, f in given.items()}

    @property
    def code(self) -> tuple:
        """The class, and the functions of time."""
        motion = self.motion.values() if isinstance(self.motion, Mapping) else self.motion
        return type(self), *(motion if isinstance(motion, Iterable) else (motion,))

    def structure(self, model) -> tuple:
        """The joint and its functions."""
        return self.kind, model.joint(self.joint), tuple(map(repr, self.functions(model)))

    @classmethod
    def examples(cls, model, rng):
        """The first joint of one coordinate swings."""
        plain = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
        yield (cls(plain[0], Sinusoid(0.3, 2.0, phase=0.4)),)
