"""Forces of a fluid on an ellipsoid: drag, added mass, and the lifts of Magnus and of Kutta and Joukowski."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.arguments import refuse
from kinetree.forces.contract import ForceElement, norm, present
from kinetree.forces.fields import set_numbers, set_vectors
from kinetree.spatial import Vector3
from kinetree.spatial.scalar import maximum, sqrt

LEAST = 1e-15  # of denominators, as MuJoCo's mjMINVAL
FLAT = 1e-60  # under a square root that is zero at rest, so that its slope is finite
COEFFICIENTS = ("blunt", "slender", "angular", "kutta", "magnus")


@dataclass(frozen=True)
class EllipsoidDrag(ForceElement):
    """Forces of a fluid on an ellipsoid: MuJoCo's ``fluidshape="ellipsoid"``.

    Parameters
    ----------
    name, frame : str
        The frame is at the center, its axes are those of the ellipsoid.
    semiaxes : sequence of float
        Shape (3,) [m].
    density : float
        Of the fluid [kg/m^3].
    viscosity : float
        Of the fluid [Pa s].
    wind : sequence of float
        Velocity of the fluid, world axes, shape (3,) [m/s].
    blunt, slender, angular, kutta, magnus : float
        Coefficients of drag across and along the flow, of drag on rotation, and of both lifts [1]. The defaults are
        MuJoCo's.
    virtual_mass : sequence of float, optional
        Added mass along each axis over the density, shape (3,) [m^3]; default that of the ellipsoid.
    virtual_inertia : sequence of float, optional
        Added moments of inertia over the density, shape (3,) [m^5]; default those of the ellipsoid.

    Raises
    ------
    ArgumentError
        A number is not finite or negative, or a semi-axis is not positive.

    Notes
    -----
    Source: MuJoCo, "Computation: Fluid forces", ellipsoid model; H. Lamb, *Hydrodynamics*, sections 114 and 373, for
    added mass. Accelerations of the fluid by the body are left out, as in MuJoCo: added mass acts through velocities
    alone.

    Examples
    --------
    >>> import kinetree as kt
    >>> ball = EllipsoidDrag("water", "body", (0.1, 0.1, 0.1), density=1000.0)
    >>> [round(x / (4 / 3 * 3.141592653589793 * 0.1**3), 6) for x in ball.virtual_mass]
    [0.5, 0.5, 0.5]
    """

    name: str
    frame: str
    semiaxes: tuple
    density: float = 0.0
    viscosity: float = 0.0
    wind: tuple = (0.0, 0.0, 0.0)
    blunt: float = 0.5
    slender: float = 0.25
    angular: float = 1.5
    kutta: float = 1.0
    magnus: float = 1.0
    virtual_mass: tuple | None = None
    virtual_inertia: tuple | None = None

    def __post_init__(self) -> None:
        set_numbers(self, "density", "viscosity", *COEFFICIENTS, least=0.0)
        set_vectors(self, "semiaxes", "wind")
        if not min(self.semiaxes) > 0.0:
            refuse(f"EllipsoidDrag {self.name!r}: semiaxes", self.semiaxes, "three positive lengths")
        mass, inertia = added_mass(self.semiaxes)
        for field, default in (("virtual_mass", mass), ("virtual_inertia", inertia)):
            if getattr(self, field) is None:
                object.__setattr__(self, field, default)
        set_vectors(self, "virtual_mass", "virtual_inertia")

    @property
    def passive(self) -> bool:
        """Whether the fluid is at rest."""
        return not any(map(present, self.wind))

    def force(self, kin):
        R = kin.rotation(self.frame)
        velocity, angular_velocity = kin.velocity(self.frame), kin.angular_velocity(self.frame)
        v, w = R.T @ (velocity - Vector3(*self.wind)), R.T @ angular_velocity
        momentum, spin = _scaled(self.density, self.virtual_mass, v), _scaled(self.density, self.virtual_inertia, w)
        yield velocity, R @ (momentum.cross(w) + self._lift(v, w) - v * self._linear_drag(v))
        yield angular_velocity, R @ (momentum.cross(v) + spin.cross(w) - w * self._angular_drag(w))

    def _area(self, v):
        """Area of the projection along the velocity [m^2], and its terms: numerator, denominator, normal."""
        a, b, c = self.semiaxes
        squares = [(b * c) ** 2, (c * a) ** 2, (a * b) ** 2]
        above = sum(s * s * x * x for s, x in zip(squares, v, strict=True))
        below = sum(s * x * x for s, x in zip(squares, v, strict=True))
        area = math.pi * sqrt(maximum(above / maximum(below, LEAST), FLAT))
        return area, below, above, Vector3(*(s * x for s, x in zip(squares, v, strict=True)))

    def _lift(self, v, w):
        a, b, c = self.semiaxes
        area, below, above, normal = self._area(v)
        magnus = w.cross(v) * (self.magnus * self.density * (4.0 / 3.0 * math.pi) * a * b * c)
        cosine = below / maximum(norm(v) * above, LEAST)
        return magnus + normal.cross(v).cross(v) * (self.kutta * self.density * cosine * area)

    def _linear_drag(self, v):
        a, b, c = self.semiaxes
        most, area = math.pi * a * b * c / _least(self.semiaxes), self._area(v)[0]
        facing = area * self.blunt + self.slender * (most - area)
        return 2.0 * math.pi * self.viscosity * (a + b + c) + self.density * norm(v) * facing

    def _angular_drag(self, w):
        largest = maximum(maximum(*self.semiaxes[:2]), self.semiaxes[2])
        middle = sum(self.semiaxes[1:], start=self.semiaxes[0]) - largest - _least(self.semiaxes)
        most = 8.0 / 15.0 * math.pi * middle * largest**4
        moments = []
        for i, x in enumerate(w):
            across = maximum(self.semiaxes[i - 2], self.semiaxes[i - 1])
            own = 8.0 / 15.0 * math.pi * self.semiaxes[i] * across**4
            moments.append(x * (self.angular * own + self.slender * (most - own)))
        mean = 2.0 / 3.0 * sum(self.semiaxes[1:], start=self.semiaxes[0])
        return math.pi * self.viscosity * mean**3 + self.density * norm(Vector3(*moments))

    @classmethod
    def example(cls, model, rng) -> EllipsoidDrag:
        """On any frame, in a fluid at rest, for the tests."""
        names = [frame.name for frame in model.frames]
        return cls("ellipsoid_drag", str(rng.choice(names)), rng.uniform(0.2, 0.6, 3), 3.0, 0.5)


def added_mass(semiaxes) -> tuple[tuple, tuple]:
    """Added mass and moments of inertia of an ellipsoid in an ideal fluid, over the density [m^3], [m^5].

    Source: Lamb, sections 114 and 115; the integrals are Carlson's R_D.
    """
    from scipy.special import elliprd

    a = [float(x) for x in semiaxes]
    volume, squares = 4.0 / 3.0 * math.pi * a[0] * a[1] * a[2], [x * x for x in a]
    integrals = [float(elliprd(squares[i - 2], squares[i - 1], squares[i])) for i in range(3)]
    alpha = [2.0 / 3.0 * a[0] * a[1] * a[2] * x for x in integrals]
    mass, inertia = [], []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        mass.append(volume * alpha[i] / (2.0 - alpha[i]))
        less, turned = squares[j] - squares[k], alpha[k] - alpha[j]
        below = 2.0 * less - (squares[j] + squares[k]) * turned
        inertia.append(volume / 5.0 * less * less * turned / below if less else 0.0)
    return tuple(mass), tuple(inertia)


def _scaled(density, factors, x) -> Vector3:
    return Vector3(*(density * f * y for f, y in zip(factors, x, strict=True)))


def _least(semiaxes):
    """The least of three numbers."""
    a, b, c = semiaxes
    return -maximum(maximum(-a, -b), -c)
