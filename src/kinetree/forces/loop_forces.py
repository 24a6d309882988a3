"""Springs, friction, stops and motors in a joint that closes a loop: forces along its own coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter

from kinetree.errors import ModelError
from kinetree.forces.contract import ForceElement, JointForce, present
from kinetree.forces.motor import Motor
from kinetree.forces.registry import JOINT_FORCES, PARAMETERS, register
from kinetree.spatial.scalar import where

TURN, LIMITS = 2.0 * math.pi, ("lower", "upper")


@dataclass(frozen=True)
class LoopForce(ForceElement):
    """A joint force in a loop joint of one freedom: the law of a kind, along the loop joint's coordinate.

    A model makes them of the data of its loop joints, `kinetree.constraints.LoopJoint`; they are among
    ``model.forces``.

    Parameters
    ----------
    name : str
    joint : str
        The loop joint.
    law : subclass of JointForce
    values : tuple of (str, float)
        Parameters of the law, such as ``"damping"``, and for stops the limits ``"lower"`` and ``"upper"``, in the units
        of the joint [SI].
    wraps : bool
        Whether the coordinate is an angle that whole turns leave as it is: then it is counted within half a turn of the
        spring's reference, or of the middle of the limits.

    Notes
    -----
    The coordinate is ``Joint.loop_coordinate`` of the relative pose of the two frames, its rate that of the relative
    twist. Energies, forces, stiffness and damping follow as for any other element.
    """

    name: str
    joint: str
    law: type[JointForce]
    values: tuple
    wraps: bool = False

    @property
    def is_spring(self):
        return bool(self.law.energy_channel) and not self.law.kinked

    def energy(self, kin):
        if not self.law.energy_channel:
            return 0.0
        return self._law().energy(_Along(self, kin.coordinate(self.joint), 0.0))

    def force(self, kin):
        if not self.law.power_channel:
            return
        rate = kin.rate(self.joint)
        at = _Along(self, kin.coordinate(self.joint), rate)
        yield rate, -(self._law().dissipative(at)[0] * rate)

    def _law(self) -> JointForce:
        values = dict(self.values)
        return self.law(self.joint, *((values[parameter.name],) for parameter in self.law.parameters))

    def numbers(self):
        return dict(self.values)

    def with_numbers(self, values):
        return self._with({"values": tuple(zip(self.numbers(), values, strict=True))})

    def structure(self):
        return self.kind, self.law.__module__, self.law.__qualname__, self.wraps


for _what in ("kinked", "stiff_at_rest", "beyond_limits"):
    setattr(LoopForce, _what, property(attrgetter(f"law.{_what}")))


class _Along:
    """A loop joint in a state, the argument of a `JointForce`."""

    __slots__ = ("_wraps", "_q", "lower", "q", "upper", "v")

    def __init__(self, force: LoopForce, q, rate) -> None:
        values = force.numbers()
        self._q, self._wraps, self.v = q, force.wraps, [rate]
        self.lower, self.upper = ([values.get(what, 0.0)] for what in LIMITS)
        self.q = [q]
        if not any(isinstance(x, float) and math.isinf(x) for x in (*self.lower, *self.upper)):
            middle = 0.5 * (self.lower[0] + self.upper[0])
            self.q = [middle + self._from(middle)]

    def _from(self, reference):
        """The displacement from a reference; of angles the one below half a turn."""
        x = self._q - reference
        if not self._wraps or not present(reference):
            return x
        return x - where(x > math.pi, TURN, where(x < -math.pi, -TURN, 0.0))

    def deflection(self, reference):
        return [self._from(reference[0])]


def loop_forces(name: str, loop) -> tuple[LoopForce, ...]:
    """The forces of a loop joint, by the kinds of joint forces whose coefficients it has.

    Parameters
    ----------
    name : str
        By which the model names it.
    loop : LoopJoint
    """
    found = []
    for kind in JOINT_FORCES:
        if getattr(loop, kind.parameters[0].name):
            values = {parameter.name: getattr(loop, parameter.name) for parameter in kind.parameters}
            if kind.beyond_limits:
                values |= {what: getattr(loop, what) for what in LIMITS}
            if loop.joint.wraps:  # the coordinate has no whole turns
                ends = [values[what] for what in LIMITS if kind.beyond_limits and math.isfinite(values[what])]
                turns = sum(ends) / 2 - math.remainder(sum(ends) / 2, TURN) if len(ends) == 2 else 0.0
                for what, x in values.items():
                    if what in LIMITS:
                        values[what] = x - turns
                    elif PARAMETERS[what].position:
                        values[what] = math.remainder(x, TURN)
            found.append(LoopForce(f"{name} {kind.kind}", name, kind, tuple(values.items()), loop.joint.wraps))
    return tuple(found)


@register
@dataclass(frozen=True)
class LoopMotor(Motor):
    """A motor in a loop joint of one freedom, whose command is an input of the model, ``u``.

    Parameters
    ----------
    joint : str
        The loop joint.
    gear_ratio, torque_limit, speed_limit, rated_speed, efficiency
        As for `Motor`.

    Raises
    ------
    ModelError
        A parameter is out of range, or the motor has an inertia or a lag: these need a joint of the tree.

    Notes
    -----
    Motors of joints of the tree turn commanded joint forces tau into delivered ones. A loop joint has no entry of tau,
    so its motor has the input ``"motor <joint>.command"`` [N m or N], which functions and simulations take as ``u``.
    """

    commanded = False
    inputs = ("command",)

    def __post_init__(self) -> None:
        Motor.__post_init__(self)
        for what in ("armature", "time_constant"):
            if getattr(self, what):
                raise ModelError(
                    f"LoopMotor of joint {self.joint!r}: {what} is {getattr(self, what)!r}, expected 0: a motor in a "
                    "loop joint has no inertia and no lag. Put the joint into the tree by kinetree.surgery.retree, and "
                    "give it a Motor.",
                    joint=self.joint,
                )

    def force(self, kin, x, u):
        rate = kin.rate(self.joint)
        yield rate, self.delivered(rate, u.command)
