"""The kinds of joints as text: one row for each that is registered, with an example of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.errors import UnsupportedError
from kinetree.joints import (
    JOINTS,
    Composite,
    Cylindrical,
    Joint,
    MovingFrame,
    Prescribed,
    Prismatic,
    RackAndPinion,
    Reversed,
    Revolute,
    Sinusoid,
    SphericalEuler,
    SplineCurve,
    SplineSurface,
)

_LOOP = [
    ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.7, 0.7, 0.4), (0.0, 0.5, 1.0)),
    ((-0.2, 0.9, 0.0), (0.0, 0.0, 2.0)),
    ((-1.0, 0.2, -0.3), (0.0, -0.6, 3.0)),
    ((-0.6, -0.8, 0.3), (0.5, 0.0, 4.0)),
    ((0.5, -0.9, 0.2), (0.0, 0.0, 5.2)),
]
_BUMP = (-0.56, -0.06, -0.06, -0.56)
_HILL = [
    [(0.6 * i - 0.9, 0.6 * k - 0.9, _BUMP[i] + _BUMP[k], 0.6 - 0.4 * k, 0.4 * i - 0.6, 0.0) for k in range(4)]
    for i in range(4)
]
# Kinds whose first example in the battery of tests is not the typical one.
_TYPICAL = {
    "spherical_euler": SphericalEuler("zyx"),
    "composite": Composite((Revolute(), Prismatic((1, 0, 0)))),
    "spline_curve": SplineCurve(_LOOP, periodic=True),
    "spline_surface": SplineSurface(_HILL),
    "moving_frame": MovingFrame((Sinusoid(0.6, omega=3.0), 0.0, 0.0), "y", (Sinusoid(0.7, omega=3.0),)),
    "prescribed": Prescribed(Cylindrical(), {"displacement": Sinusoid(0.6, omega=3.0)}),
    "reversed": Reversed(RackAndPinion(0.4)),
}


@dataclass(frozen=True, slots=True)
class JointKind:
    """Properties of one kind of joint.

    Parameters
    ----------
    kind : str
        Its name in the registry.
    joint : Joint
        An example.
    implicit : bool
        Whether it can close a loop.
    """

    kind: str
    joint: Joint
    implicit: bool

    def __str__(self) -> str:
        nq, nv = self.sizes
        loop = "" if self.implicit else "; cannot close a loop"
        return f"{self.name}: nq = {nq}, nv = {nv}; q = ({self.position}); v = ({self.velocity}){loop}"

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self.joint).__name__

    @property
    def sizes(self) -> tuple[str, str]:
        """nq and nv; "any" where they depend on the parameters."""
        cls = type(self.joint)
        return tuple(str(n) if isinstance(n := getattr(cls, x, None), int) else "any" for x in ("nq", "nv"))

    @property
    def position(self) -> str:
        """The coordinates of the example and their units."""
        return coordinates(self.joint.position_names, self.joint.position_units)

    @property
    def velocity(self) -> str:
        """The velocities of the example and their units."""
        return coordinates(self.joint.velocity_names, self.joint.velocity_units)


def joint_kinds() -> list[JointKind]:
    """All registered kinds of joints, in the registry's order.

    Examples
    --------
    >>> revolute = joint_kinds()[0]
    >>> revolute.name, revolute.sizes, revolute.position
    ('Revolute', ('1', '1'), 'angle [rad]')
    """
    return [JointKind(kind, joint := example(kind), _has_implicit_form(joint)) for kind in JOINTS]


def example(kind: str) -> Joint:
    """A typical joint of a registered kind."""
    return _TYPICAL.get(kind) or next(iter(JOINTS[kind].examples(np.random.default_rng(0))))


def coordinates(names: tuple[str, ...], units: tuple[str, ...]) -> str:
    """Names with units, a unit that several share behind the last: "x, y, z [m], wx [rad/s]"."""
    text = []
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        last = k + 1 == len(units) or units[k + 1] != unit
        text.append(f"{name} [{unit}]" if last else name)
    return ", ".join(text)


def _has_implicit_form(joint: Joint) -> bool:
    if joint.time_dependent:
        joint = joint.at(0.0)
    try:
        joint.implicit(joint.transform(joint.neutral()))
    except UnsupportedError:
        return False
    return True
