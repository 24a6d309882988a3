"""A soft limit of the rotation of a ball joint."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.arguments import a_name, number
from kinetree.forces.contract import ForceElement, norm
from kinetree.forces.fields import set_numbers
from kinetree.spatial import Vector3
from kinetree.spatial.scalar import absolute, arctan2, where

HALF_TURN = 3.141592653589793


@dataclass(frozen=True)
class RotationStop(ForceElement):
    """A spring and a damper that act while a ball joint is turned beyond an angle from its neutral position.

    Parameters
    ----------
    name : str
    joint : str
        A spherical joint of the tree.
    angle : float
        Largest free rotation, about any axis, at most half a turn [rad].
    stiffness : float
        k, against the rotation beyond it [N m/rad].
    damping : float
        d, against its rate there [N m s/rad].

    Raises
    ------
    ArgumentError
        A number is negative or not finite, or the angle exceeds half a turn.

    Notes
    -----
    The rotation is the length of the rotation vector, 0 to half a turn, and the moment ``k e + d e'`` acts about that
    vector. No rotation lies beyond half a turn, where the vector changes its sign: with that angle the stop never acts.
    Source: MuJoCo, XML reference, ``joint/range`` of ball joints, a soft constraint there.

    Examples
    --------
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("arm")
    >>> _ = b.add_body("upper", joint=kt.joints.Spherical(), joint_name="shoulder", mass=1.0, inertia=(0.1, 0.1, 0.1))
    >>> arm = b.build().with_forces(RotationStop("stop", "shoulder", angle=0.5, stiffness=100.0))
    >>> turned = [kt.integrate(arm, arm.neutral(), [angle, 0.0, 0.0]) for angle in (0.4, 0.7)]
    >>> [float(kt.dynamics.passive_joint_forces(arm, q, [0.0, 0.0, 0.0])[0].round(9)) for q in turned]
    [0.0, -20.0]
    """

    name: str
    joint: str
    angle: float
    stiffness: float = 0.0
    damping: float = 0.0

    kinked = passive = True
    joint_kind = "spherical"

    def __post_init__(self) -> None:
        a_name("RotationStop: name", self.name)
        set_numbers(self, "stiffness", "damping", least=0.0)
        label, expected = f"RotationStop {self.name!r}: angle", "a rotation from 0 to half a turn [rad]"
        object.__setattr__(self, "angle", number(label, self.angle, expected, least=0.0, most=HALF_TURN))

    def length(self, kin):
        w, *vector = (kin.coordinate(self.joint, n) for n in range(4))
        return 2.0 * arctan2(norm(Vector3(*vector)), absolute(w))

    def stored(self, length):
        beyond = self._beyond(length)
        return 0.5 * self.stiffness * beyond * beyond

    def tension(self, length, rate):
        return where(length < self.angle, 0.0, self.damping) * rate

    def _beyond(self, length):
        return where(length < self.angle, 0.0, length - self.angle)

    @classmethod
    def example(cls, model, rng) -> RotationStop:
        """On the first ball joint."""
        joint = next(model.joint_name(i) for i in model.outward() if model.joints[i].kind == cls.joint_kind)
        angle, k, d = rng.uniform(0.2, 1.0, 3).tolist()
        return cls(cls.kind, joint, angle, k, d)
