"""Drag of a fluid on a point of a body."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import ForceElement, norm, present
from kinetree.forces.fields import set_numbers, set_vectors
from kinetree.spatial import Vector3


@dataclass(frozen=True)
class Drag(ForceElement):
    """Drag on a point in a fluid: ``-(c1 + c2 |v|) v``, v the velocity relative to the fluid.

    Parameters
    ----------
    name, frame : str
    linear : float
        c1 [N s/m], of slow motion.
    quadratic : float
        c2 [N s^2/m^2]: half the density of the fluid times area and drag coefficient.
    at : sequence of float
        The point, in coordinates of the frame, shape (3,) [m].
    wind : sequence of float
        Velocity of the fluid, world axes, shape (3,) [m/s].

    Raises
    ------
    ArgumentError
        A number is not finite or a coefficient is negative, or a vector is not three numbers.

    Notes
    -----
    The force is the negative gradient of ``c1 v^2 / 2 + c2 |v|^3 / 3`` with respect to the velocity, so D is symmetric
    and positive semidefinite. Without wind the power is never positive. For the rotation, and for coefficients that
    differ from axis to axis, see `BodyDamping`.

    Examples
    --------
    >>> import kinetree as kt
    >>> ball = kt.models.free_body().with_forces(Drag("air", "body", quadratic=0.02))
    >>> kt.dynamics.passive_joint_forces(ball, ball.neutral(), [0, 0, 0, 10.0, 0, 0])[3].round(9)
    np.float64(-2.0)
    """

    name: str
    frame: str
    linear: float = 0.0
    quadratic: float = 0.0
    at: tuple = (0.0, 0.0, 0.0)
    wind: tuple = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        set_numbers(self, "linear", "quadratic", least=0.0)
        set_vectors(self, "at", "wind")

    @property
    def passive(self) -> bool:
        """Whether the fluid is at rest."""
        return not any(map(present, self.wind))

    @classmethod
    def example(cls, model, rng) -> Drag:
        """On any frame, in a fluid at rest, for the tests."""
        return super().example(model, rng)._with({"wind": (0.0, 0.0, 0.0)})

    def dissipation(self, kin):
        v = kin.velocity(self.frame, self.at) - Vector3(*self.wind)
        return (0.5 * self.linear + self.quadratic * norm(v) / 3.0) * v.dot(v)
