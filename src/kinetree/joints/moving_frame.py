"""A frame in prescribed motion: a joint without freedoms whose transform is a given function of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kinetree.errors import JointError
from kinetree.joints.rheonomic import Instant, Rheonomic
from kinetree.joints.time_functions import (
    FourierSeries,
    Polynomial,
    Sinusoid,
    TimeSpline,
    derivatives,
    time_function,
    value_at,
)
from kinetree.spatial import IdentityRotation, Motion, Transform, Vector3
from kinetree.spatial.rotations import rx, ry, rz

_ABOUT = {"x": rx, "y": ry, "z": rz}


@dataclass(frozen=True, slots=True, eq=False)
class MovingFrame(Rheonomic):
    """The successor frame moves along a path and turns about axes, both given as functions of time.

    Prescribed pivots, shaken bases, turntables, ships: with a body it is one that nothing can deflect; in a `Composite`
    with another joint it is that joint on a moving support.

    Parameters
    ----------
    position : sequence of 3 functions of time or numbers
        Of the origin, in predecessor coordinates [m].
    axes : str
        About which axes of the frame as turned so far it turns, any number of "x", "y", "z".
    angles : sequence of functions of time or numbers
        One for each of the axes [rad].

    Raises
    ------
    JointError
        If something is no function of time, or the axes and angles do not match.

    Notes
    -----
    A function of time is a number, a `Polynomial`, a `Sinusoid`, a `FourierSeries`, a `TimeSpline` or any callable over
    scalars; the numbers in it are baked into compiled code.

    *Source* Featherstone, section 3.4 (a prismatic joint as a function of time is a rheonomic joint of 0 DoF) and eqs.
    3.31-3.44: v_J = sigma(t), c_J its apparent rate, found step by step outward through the turns.

    Examples
    --------
    The pivot of Kapitza's pendulum, 1 cm up and down:

    >>> pivot = MovingFrame((0.0, 0.0, Sinusoid(0.01, omega=300.0)))
    >>> float(pivot.at(0.0).velocity((), ()).linear.z)
    3.0
    """

    position: tuple[Callable | float, ...] = (0.0, 0.0, 0.0)
    axes: str = ""
    angles: tuple[Callable | float, ...] = ()

    kind = "moving_frame"
    nq = nv = 0

    def __post_init__(self) -> None:
        for name in ("position", "angles"):
            given = getattr(self, name)
            if not isinstance(given, (tuple, list)):
                raise JointError(
                    f"moving_frame joint: {name} is {given!r}, expected a sequence of functions of time, "
                    f"{'three' if name == 'position' else 'one for each of the axes'}.",
                    found=given,
                )
            functions = tuple(time_function(f, f"moving_frame joint: {name}[{k}]") for k, f in enumerate(given))
            object.__setattr__(self, name, functions)
        if len(self.position) != 3:
            raise JointError(
                f"moving_frame joint: position has {len(self.position)} functions, expected 3: along x, y and z.",
                found=self.position,
            )
        if not isinstance(self.axes, str) or not set(self.axes) <= set("xyz") or len(self.axes) != len(self.angles):
            raise JointError(
                f"moving_frame joint: axes {self.axes!r} and {len(self.angles)} angles; expected one letter x, y or z "
                "for each angle, as axes='zx', angles=(f, g).",
                axes=self.axes,
            )

    def transform_at(self, t, q):
        X = Transform(IdentityRotation(), Vector3(*(value_at(f, t) for f in self.position)))
        for axis, f in zip(self.axes, self.angles, strict=True):
            X = Transform(_ABOUT[axis](value_at(f, t)), Vector3.zero()) @ X
        return X

    def at(self, t):
        p, v, a = zip(*(derivatives(f, t) for f in self.position), strict=True)
        X = Transform(IdentityRotation(), Vector3(*p))
        V, A = Motion(Vector3.zero(), Vector3(*v)), Motion(Vector3.zero(), Vector3(*a))
        for axis, f in zip(self.axes, self.angles, strict=True):
            angle, rate, rate_of_rate = derivatives(f, t)
            turn = Transform(_ABOUT[axis](angle), Vector3.zero())
            e = Motion(Vector3.unit("xyz".index(axis)), Vector3.zero())
            # V' = R V + e f',  A' = R A + R V x e f' + e f''
            X, V, spin = turn @ X, turn @ V, e * rate
            A = turn @ A + V.cross(spin) + e * rate_of_rate
            V = V + spin
        return Instant(X, V, A)

    @classmethod
    def examples(cls, rng):
        """A shaken pivot, a tilting turntable on a spline, all six, and a sway that starts from rest."""
        sway, heave = Sinusoid(0.3, 2.0, 0.5), FourierSeries(1.3, (0.2, 0.05), (0.0, 0.1), 0.4)
        path = TimeSpline((0.0, 0.5, 1.25, 2.0), tuple(float(x) for x in rng.normal(size=4)))
        yield cls((0.0, 0.0, sway))
        yield cls((0.0, 0.2, 0.0), "zx", (Polynomial((0.1, 0.7)), path))
        yield cls((sway, Polynomial((0.0, 0.3, -0.2), start=0.2), heave), "xyz", (heave, sway, path))
        yield cls((TimeSpline((0.0, 1.0), (0.0, 0.4), ends="rest"), 0.0, 0.0), "y", (Polynomial((0.0, 0.0, 0.0, 0.1)),))
