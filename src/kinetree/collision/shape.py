"""Shapes that take part in contact, and their poses at a state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinetree.arguments import number, refuse, text
from kinetree.errors import ModelError, unknown_name
from kinetree.spatial import Matrix3, Vector3
from kinetree.spatial.scalar import SNAP
from kinetree.state_kinematics import ORIGIN, point_of

LENGTHS = {
    "plane": (),
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "box": ("x", "y", "z"),
    "cylinder": ("radius", "length"),
    "ellipsoid": ("x", "y", "z"),
}
"""Kinds of shapes, and the meaning of their lengths [m]; they are those of `kinetree.model.Geometry`."""

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape S fixed to a frame F of a model, as data of contacts.

    Parameters
    ----------
    body : str
        Name of the frame: a body, another frame, or "world".
    kind : str
        "plane" (solid below z = 0), "sphere" (radius), "capsule" and "cylinder" (radius, length along z, for the
        capsule without its caps), "box" (x, y, z edge lengths), "ellipsoid" (x, y, z semi-axes).
    size : tuple of float
        The lengths listed for the kind [m].
    R : (3, 3) nested tuple
        Orientation of S in F [1].
    p : tuple of 3 floats
        Position of S in F [m].
    name : str
        Of the shape, unique among the shapes of a model.

    Raises
    ------
    ModelError

    Notes
    -----
    Lengths and position are numbers of the model, run-time inputs of compiled code; the orientation is structure.

    Examples
    --------
    >>> import kinetree as kt
    >>> foot = kt.collision.Shape("bob", "sphere", (0.02,), p=(0.0, 0.0, -1.0), name="foot")
    >>> foot.numbers()
    {'radius': 0.02, 'p.x': 0.0, 'p.y': 0.0, 'p.z': -1.0}
    """

    body: str
    kind: str
    size: tuple = ()
    R: tuple = AXES
    p: tuple = ORIGIN
    name: str = ""

    def __post_init__(self) -> None:
        text("Shape: name", self.name)
        text(f"shape {self.name!r}: body", self.body, "the name of a body or frame")
        text(f"shape {self.name!r}: kind", self.kind, f"one of {', '.join(LENGTHS)}")
        if self.kind not in LENGTHS:
            raise unknown_name("kind of shape", self.kind, LENGTHS, "kinetree.collision")
        what, lengths = f"{self.kind} {self.name!r}", LENGTHS[self.kind]
        size = self.size if isinstance(self.size, Sequence) or hasattr(self.size, "tolist") else (self.size,)
        if len(size) != len(lengths):
            refuse(f"{what}: size", self.size, f"{len(lengths)} lengths [m] ({', '.join(lengths) or 'none'})")
        found = tuple(
            number(f"{what}: {length}", x, "a positive length [m]", above=0.0)
            for length, x in zip(lengths, size, strict=True)
        )
        object.__setattr__(self, "size", found)
        object.__setattr__(self, "p", point_of(f"{what}: p", self.p))
        object.__setattr__(self, "R", _rotation(what, self.R))

    def numbers(self) -> dict[str, object]:
        """The run-time inputs of compiled code, by name."""
        lengths = dict(zip(LENGTHS[self.kind], self.size, strict=True))
        return lengths | {f"p.{axis}": x for axis, x in zip("xyz", self.p, strict=True)}

    def with_numbers(self, values: Sequence) -> Shape:
        """The same shape over other scalars, in the order of ``numbers()``."""
        n = len(self.size)
        return _unchecked(self, size=tuple(values[:n]), p=tuple(values[n:]))

    def structure(self) -> tuple:
        """All that is no number, hashable."""
        return self.name, self.body, self.kind, self.R

    def renamed(self, frame, name: str) -> Shape:
        """The same on the frame that the function names, under another name."""
        return replace(self, body=frame(self.body), name=name)

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.body!r}"


def _unchecked(shape: Shape, **changes) -> Shape:
    """A copy over scalars of any kind."""
    made = object.__new__(Shape)
    for what in ("body", "kind", "size", "R", "p", "name"):
        object.__setattr__(made, what, changes.get(what, getattr(shape, what)))
    return made


def snapped(x: float) -> float:
    """The entry of a rotation, exact where it is 0, 1 or -1 but for rounding."""
    near = round(x)
    return float(near) if abs(x - near) <= SNAP else x


def _rotation(what: str, R) -> tuple:
    """Rows of an orthonormal matrix without reflection."""
    try:
        rows = tuple(tuple(snapped(float(x)) for x in row) for row in R)
    except (TypeError, ValueError):
        rows = ()
    if len(rows) != 3 or any(len(row) != 3 for row in rows):
        refuse(f"{what}: R", R, "a rotation matrix, three rows of three numbers")
    M = [Vector3(*row) for row in rows]
    defect = max(abs(a.dot(b) - float(i == k)) for i, a in enumerate(M) for k, b in enumerate(M))
    if not defect < 1e-8 or M[0].cross(M[1]).dot(M[2]) < 0.0 or not math.isfinite(defect):
        raise ModelError(f"{what}: R is not a rotation: R R^T - 1 has an entry {defect:.3g}, or R is a reflection")
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class PlacedShape:
    """A shape at a state.

    Attributes
    ----------
    kind : str
    size : tuple of scalars
    p : Vector3
        Position in world coordinates [m].
    R : Matrix3
        Orientation: columns are the axes of the shape in the world.
    """

    kind: str
    size: tuple
    p: Vector3
    R: Matrix3

    @classmethod
    def of(cls, shape: Shape, kin) -> PlacedShape:
        """The shape at the state of ``kin``, which has ``point(frame, at)`` and ``rotation(frame)``."""
        return cls(shape.kind, shape.size, kin.point(shape.body, shape.p), kin.rotation(shape.body) @ Matrix3(shape.R))

    def axis(self, k: int) -> Vector3:
        """Axis k of the shape in world coordinates."""
        return Vector3(*(row[k] for row in self.R.rows))
