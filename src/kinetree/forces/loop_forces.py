"""Springs, friction, stops and motors in a joint that closes a loop: forces along its own coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter

from kinetree.arguments import whole
from kinetree.errors import ModelError
from kinetree.forces.contract import ForceElement, JointForce, present
from kinetree.forces.motor import Motor
from kinetree.forces.registry import JOINT_FORCES, PARAMETERS, register
from kinetree.joints.contract import Joint
from kinetree.spatial.scalar import where

TURN, LIMITS = 2.0 * math.pi, ("lower", "upper")


@dataclass(frozen=True)
class LoopForce(ForceElement):
    """A joint force in a loop joint: the law of a kind, along the loop joint's own coordinates.

    A model makes them of the data of its loop joints, `kinetree.constraints.LoopJoint`; they are among
    ``model.forces``.

    Parameters
    ----------
    name : str
    joint : str
        The loop joint.
    law : subclass of JointForce
    values : tuple of (str, float or tuple of floats)
        Parameters of the law, such as ``"damping"``, and for stops the limits ``"lower"`` and ``"upper"``, in the units
        of the joint [SI]: numbers of a joint of one freedom, else one for each velocity or position.
    kind_of_joint : Joint
        Its manifold of positions. Angles are counted within half a turn of the spring's reference, or of the middle of
        the limits.

    Notes
    -----
    The coordinates are ``Joint.loop_coordinates`` of the relative pose of the two frames, their rates those of the
    relative twist. Energies, forces, stiffness and damping follow as for any other element: a spring is the gradient of
    its energy ``k (q (-) q_ref)^2 / 2``.
    """

    name: str
    joint: str
    law: type[JointForce]
    values: tuple
    kind_of_joint: Joint

    passive = True

    @property
    def is_spring(self):
        return bool(self.law.energy_channel) and not self.law.kinked

    def energy(self, kin):
        if not self.law.energy_channel:
            return 0.0
        return self._law().energy(_Along(self, kin, moving=False))

    def force(self, kin):
        if not self.law.power_channel:
            return
        at = _Along(self, kin)
        for rate, d in zip(at.v, self._law().dissipative(at), strict=True):
            if present(d):
                yield rate, -(d * rate)

    def _law(self) -> JointForce:
        values = dict(self.values)
        return self.law(self.joint, *(_entries(values[parameter.name]) for parameter in self.law.parameters))

    def numbers(self):
        found = {}
        for what, x in self.values:
            found |= {f"{what}.{n}": x_n for n, x_n in enumerate(x)} if isinstance(x, tuple) else {what: x}
        return found

    def with_numbers(self, values):
        source, new = iter(values), []
        for what, x in self.values:
            new.append((what, tuple(next(source) for _ in x) if isinstance(x, tuple) else next(source)))
        return self._with({"values": tuple(new)})

    def structure(self):
        return self.kind, self.law.__module__, self.law.__qualname__, repr(self.kind_of_joint)


for _what in ("kinked", "stiff_at_rest", "beyond_limits"):
    setattr(LoopForce, _what, property(attrgetter(f"law.{_what}")))


def _entries(x) -> tuple:
    return x if isinstance(x, tuple) else (x,)


class _Along:
    """A loop joint in a state, the argument of a `JointForce`."""

    __slots__ = ("_joint", "_q", "lower", "q", "upper", "v")

    def __init__(self, force: LoopForce, kin, moving: bool = True) -> None:
        joint, values = force.kind_of_joint, dict(force.values)
        self._joint, single = joint, joint.nq == joint.nv == 1
        self._q = [kin.coordinate(force.joint, *(() if single else (n,))) for n in range(joint.nq)]
        self.v = [kin.rate(force.joint, *(() if single else (n,))) if moving else 0.0 for n in range(joint.nv)]
        self.lower, self.upper = (list(_entries(values.get(what, (0.0,) * joint.nq))) for what in LIMITS)
        self.q = list(self._q)
        for n, ends in enumerate(zip(self.lower, self.upper, strict=True)):
            if joint.wraps[n] and not any(isinstance(x, float) and math.isinf(x) for x in ends):
                self.q[n] = self._near(n, 0.5 * (ends[0] + ends[1]))

    def _near(self, n: int, reference):
        """A coordinate; of angles the one within half a turn of the reference."""
        if not self._joint.wraps[n] or not present(reference):
            return self._q[n]
        x = self._q[n] - reference
        return reference + (x - where(x > math.pi, TURN, where(x < -math.pi, -TURN, 0.0)))

    def deflection(self, reference):
        near = [self._near(n, x) for n, x in enumerate(reference)]
        return self._joint.difference(list(reference), near)


def loop_forces(name: str, loop) -> tuple[LoopForce, ...]:
    """The forces of a loop joint, by the kinds of joint forces whose coefficients it has.

    Parameters
    ----------
    name : str
        By which the model names it.
    loop : LoopJoint
    """
    found, joint = [], loop.joint
    for kind in JOINT_FORCES:
        if any(map(present, loop.along(kind.parameters[0].name))):
            values = {parameter.name: loop.along(parameter.name) for parameter in kind.parameters}
            if kind.beyond_limits:
                values |= {what: loop.along(what) for what in LIMITS}
                turns = [_turns(*ends) if joint.wraps[n] else 0.0 for n, ends in enumerate(loop.limits)]
                values |= {what: tuple(x - t for x, t in zip(values[what], turns, strict=True)) for what in LIMITS}
            for what, x in values.items():  # the coordinates have no whole turns
                if what in PARAMETERS and PARAMETERS[what].position:
                    each = zip(x, joint.wraps, strict=True)
                    values[what] = tuple(math.remainder(x_n, TURN) if wraps else x_n for x_n, wraps in each)
            if joint.nv == 1:
                values = {what: x[0] if len(x) == 1 else x for what, x in values.items()}
            found.append(LoopForce(f"{name} {kind.kind}", name, kind, tuple(values.items()), joint))
    return tuple(found)


def _turns(lower: float, upper: float) -> float:
    """The whole turns in the middle of two limits."""
    middle = 0.5 * (lower + upper)
    return middle - math.remainder(middle, TURN) if math.isfinite(middle) else 0.0


@register
@dataclass(frozen=True)
class LoopMotor(Motor):
    """A motor in a loop joint, whose command is an input of the model, ``u``.

    Parameters
    ----------
    joint : str
        The loop joint.
    gear_ratio, torque_limit, speed_limit, rated_speed, efficiency
        As for `Motor`.
    coordinate : int
        The number of the joint's velocity along which it acts, from 0.

    Raises
    ------
    ModelError
        A parameter is out of range, or the motor has an inertia or a lag: these need a joint of the tree.

    Notes
    -----
    Motors of joints of the tree turn commanded joint forces tau into delivered ones. A loop joint has no entry of tau,
    so its motor has the input ``"motor <joint>.command"`` [N m or N], which functions and simulations take as ``u``.
    """

    coordinate: int = 0

    commanded = False
    inputs = ("command",)

    @property
    def name(self) -> str:
        """That of the joint, with the number of the velocity from the second on."""
        return f"motor {self.joint}" + (f" {self.coordinate}" if self.coordinate else "")

    def __post_init__(self) -> None:
        Motor.__post_init__(self)
        object.__setattr__(self, "coordinate", whole("LoopMotor: coordinate", self.coordinate, least=0))
        for what in ("armature", "time_constant"):
            if getattr(self, what):
                raise ModelError(
                    f"LoopMotor of joint {self.joint!r}: {what} is {getattr(self, what)!r}, expected 0: a motor in a "
                    "loop joint has no inertia and no lag. Put the joint into the tree by kinetree.surgery.retree, and "
                    "give it a Motor.",
                    joint=self.joint,
                )

    def force(self, kin, x, u):
        rate = kin.rate(self.joint, self.coordinate)
        yield rate, self.delivered(rate, u.command)
