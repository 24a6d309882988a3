"""Numbers of a contact's material, and the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from kinetree.arguments import choice, number, refuse
from kinetree.errors import ArgumentError
from kinetree.spatial.scalar import exp, log, where

LEAST = {"friction": 0.0, "restitution": 0.0, "stiffness": 0.0, "relaxation_time": 0.0, "margin": 0.0}
"""The numbers of a contact, and their least values."""
HUNT_CROSSLEY = {"dissipation": 0.0, "exponent": 1.0}
HERTZ = 1.5  # exponent of a ball on a plane, the default
"""The same of the further ones of the law of Hunt and Crossley."""
LAWS = ("linear", "hunt_crossley")


def check_material(what: str, owner) -> None:
    """Friction, restitution, stiffness, relaxation time and margin of a frozen dataclass, as floats.

    Raises
    ------
    ArgumentError
        One of them is not finite, negative, or restitution is above 1.
    """
    choice("law", owner.law, LAWS, what)
    for name, least in (LEAST | HUNT_CROSSLEY).items():
        x = getattr(owner, name)
        if name == "stiffness" and isinstance(x, float) and x == math.inf:
            object.__setattr__(owner, name, math.inf)
            continue
        x = number(f"{what}: {name}", x, f"a finite number not below {least:g}", least=least)
        if name == "restitution" and x > 1.0:
            refuse(f"{what}: restitution", x, "a number from 0 (plastic) to 1 (elastic)")
        if name == "stiffness" and x == 0.0:
            refuse(f"{what}: stiffness", x, "a positive stiffness [N/m], or math.inf for rigid contact")
        object.__setattr__(owner, name, x)
    if owner.law == "hunt_crossley":
        _check_hunt_crossley(what, owner)
    elif owner.dissipation:
        expected = "0, or law='hunt_crossley'; law='linear' is damped by its relaxation_time"
        refuse(f"{what}: dissipation", owner.dissipation, expected)
    elif owner.exponent != HERTZ:
        refuse(f"{what}: exponent", owner.exponent, "the default, 1.5, or law='hunt_crossley'; law='linear' has none")


def _check_hunt_crossley(what: str, owner) -> None:
    if owner.stiffness == math.inf:
        refuse(f"{what}: stiffness", owner.stiffness, "a finite stiffness for law='hunt_crossley' [N/m^exponent]")
    for name in ("restitution", "relaxation_time"):
        if getattr(owner, name):
            refuse(f"{what}: {name}", getattr(owner, name), "0: law='hunt_crossley' loses energy by its dissipation")


def yielding_force(law: str, numbers, gap, rate):
    """The normal force of a compliant contact without states, over any scalar; zero at a gap, and never a pull.

    Parameters
    ----------
    law : str
        Of `LAWS`.
    numbers : tuple
        Stiffness, damping (dissipation of "hunt_crossley") and exponent.
    gap, rate : scalar
        [m], [m/s]
    """
    stiffness, damping, exponent = numbers
    touched = gap < 0.0
    if law == "hunt_crossley":
        depth = where(touched, -gap, 1.0)
        f = stiffness * exp(exponent * log(depth)) * (1.0 - damping * rate)
    else:
        f = -(stiffness * gap + damping * rate)
    return where(touched & (f > 0.0), f, 0.0)


@dataclass(frozen=True, slots=True)
class Material:
    """The numbers of the contacts of a pair.

    Parameters
    ----------
    friction : float
        Coefficient of Coulomb friction mu [1].
    restitution : float
        Coefficient of restitution, 0 (plastic) to 1 (elastic) [1].
    stiffness : float
        K of compliant contact [N/m], or [N/m^exponent] of "hunt_crossley"; infinite: rigid.
    relaxation_time : float
        Damping of compliant contact, the ratio of damping to stiffness [s].
    margin : float
        Gap below which a point counts as near [m].
    law : {"linear", "hunt_crossley"}
        The normal force of compliant contact for a gap p < 0: "linear" is ``-K (p + relaxation_time p')``,
        "hunt_crossley" ``K (-p)^exponent (1 - dissipation p')``; never a pull.
    dissipation : float
        Of "hunt_crossley" [s/m].
    exponent : float
        Of "hunt_crossley", at least 1; 1.5 for spheres (Hertz) [1].

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.collision.Material(friction=0.5).restitution
    0.0
    """

    friction: float = 0.8
    restitution: float = 0.0
    stiffness: float = math.inf
    relaxation_time: float = 0.0
    margin: float = 0.0
    law: str = "linear"
    dissipation: float = 0.0
    exponent: float = HERTZ

    def __post_init__(self) -> None:
        check_material("Material", self)


@dataclass(frozen=True, slots=True)
class Ground:
    """The ground: everything below a plane of the world.

    Parameters
    ----------
    friction, restitution, stiffness, relaxation_time
        See `Material`.
    height : float
        Distance of the plane from the world's origin along its normal [m].
    normal : tuple of 3 floats
        Upward normal in world coordinates, of any length [1].
    margin, law, dissipation, exponent
        See `Material`.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import kinetree as kt
    >>> slope = kt.collision.Ground(friction=0.4, normal=(0.0, -0.1, 1.0))
    """

    friction: float = 0.8
    restitution: float = 0.0
    height: float = 0.0
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    stiffness: float = math.inf
    relaxation_time: float = 0.0
    margin: float = 0.0
    law: str = "linear"
    dissipation: float = 0.0
    exponent: float = HERTZ

    def __post_init__(self) -> None:
        check_material("Ground", self)
        object.__setattr__(self, "height", number("Ground: height", self.height))
        try:
            n = [number("Ground: normal", x) for x in self.normal]
        except TypeError:
            n = []
        size = math.hypot(*n) if len(n) == 3 else 0.0
        if size == 0.0:
            refuse("Ground: normal", self.normal, "three coordinates, not all zero")
        object.__setattr__(self, "normal", tuple(x / size for x in n))

    @classmethod
    def of(cls, ground) -> Ground:
        """The ground that an argument ``ground=`` gives: True, a height [m], or a Ground.

        Raises
        ------
        ArgumentError
        """
        if isinstance(ground, Ground):
            return ground
        if ground is True:
            return cls()
        try:
            return cls(height=number("ground", ground))
        except ArgumentError:
            refuse("ground", ground, "True (a floor at z = 0), the height of the floor [m], or a kt.collision.Ground")

    @property
    def material(self) -> Material:
        """Its numbers as those of a pair."""
        return Material(**{field.name: getattr(self, field.name) for field in fields(Material)})
