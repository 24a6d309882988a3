"""Shapes that take part in contact, and their poses at a state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kinetree.arguments import array, number, refuse, text
from kinetree.errors import GeometryError, ModelError, unknown_name
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
    "hull": (),
    "bowl": ("radius",),
}
"""Kinds of shapes, and the meaning of their lengths [m]; all but "hull" and "bowl" are of `kinetree.model.Geometry`."""

ENDLESS = ("plane", "bowl")
"""Kinds that are solid to all distances."""

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
        capsule without its caps), "box" (x, y, z edge lengths), "ellipsoid" (x, y, z semi-axes), "hull" (convex hull
        of vertices), "bowl" (hollow sphere of a radius, solid outside of it; spheres, capsules and boxes are inside).
    size : tuple of float
        The lengths listed for the kind [m].
    R : (3, 3) nested tuple
        Orientation of S in F [1].
    p : tuple of 3 floats
        Position of S in F [m].
    name : str
        Of the shape, unique among the shapes of a model.
    vertices : tuple of points
        Of a hull, in S [m]: at least four that are in no plane. Those inside the hull are left out.

    Attributes
    ----------
    faces : tuple of (int, int, int)
        Of a hull: numbers of the vertices of triangles, counterclockwise seen from outside.

    Raises
    ------
    ModelError

    Notes
    -----
    Lengths, position and vertices are numbers of the model, run-time inputs of compiled code; the orientation and the
    faces are structure.

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
    vertices: tuple = ()
    faces: tuple = field(default=(), init=False)

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
        if self.kind == "hull":
            vertices, faces = hull_of(what, self.vertices)
            object.__setattr__(self, "vertices", vertices)
            object.__setattr__(self, "faces", faces)
        elif not isinstance(self.vertices, (tuple, list)) or self.vertices:
            refuse(f"{what}: vertices", self.vertices, "none: only shapes of kind 'hull' have vertices")

    def numbers(self) -> dict[str, object]:
        """The run-time inputs of compiled code, by name."""
        lengths = dict(zip(LENGTHS[self.kind], self.size, strict=True))
        lengths |= {f"p.{axis}": x for axis, x in zip("xyz", self.p, strict=True)}
        points = enumerate(self.vertices)
        return lengths | {f"vertex{k}.{axis}": x for k, point in points for axis, x in zip("xyz", point, strict=True)}

    def with_numbers(self, values: Sequence) -> Shape:
        """The same shape over other scalars, in the order of ``numbers()``."""
        source = iter(values)
        size, p, *vertices = (
            tuple(next(source) for _ in part) for part in (self.size, self.p, *self.vertices)
        )
        return _unchecked(self, size=size, p=p, vertices=tuple(vertices))

    def structure(self) -> tuple:
        """All that is no number, hashable."""
        return self.name, self.body, self.kind, self.R, self.faces

    def renamed(self, frame, name: str) -> Shape:
        """The same on the frame that the function names, under another name."""
        return replace(self, body=frame(self.body), name=name)

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.body!r}"


def _unchecked(shape: Shape, **changes) -> Shape:
    """A copy over scalars of any kind."""
    made = object.__new__(Shape)
    for what in ("body", "kind", "size", "R", "p", "name", "vertices", "faces"):
        object.__setattr__(made, what, changes.get(what, getattr(shape, what)))
    return made


def snapped(x: float) -> float:
    """The entry of a rotation, exact where it is 0, 1 or -1 but for rounding."""
    near = round(x)
    return float(near) if abs(x - near) <= SNAP else x


def hull_of(what: str, vertices) -> tuple[tuple, tuple]:
    """The extreme points among vertices, and the triangles of their convex hull.

    Raises
    ------
    GeometryError
        There are fewer than four points, or all of them are in a plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    points = array(f"{what}: vertices", vertices)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
        refuse(f"{what}: vertices", vertices, "at least four points, an array of shape (n, 3) [m]")
    try:
        hull = ConvexHull(points)
    except QhullError:
        raise GeometryError(f"{what}: the {len(points)} vertices are in a plane, expected a solid") from None
    kept = sorted(hull.vertices.tolist())
    number_of = {old: new for new, old in enumerate(kept)}
    middle, faces = points.mean(axis=0), []
    for triangle in hull.simplices.tolist():
        a, b, c = points[triangle]
        outward = np.cross(b - a, c - a) @ (a - middle) > 0.0
        faces.append(tuple(number_of[k] for k in (triangle if outward else triangle[::-1])))
    return tuple(map(tuple, points[kept].tolist())), tuple(sorted(faces))


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
    vertices, faces : tuple
        Of a hull, as those of the shape.
    """

    kind: str
    size: tuple
    p: Vector3
    R: Matrix3
    vertices: tuple = ()
    faces: tuple = ()

    @classmethod
    def of(cls, shape: Shape, kin) -> PlacedShape:
        """The shape at the state of ``kin``, which has ``point(frame, at)`` and ``rotation(frame)``."""
        if shape.body == "world":
            return cls.at(shape, Vector3(*shape.p), Matrix3(shape.R))
        return cls.at(shape, kin.point(shape.body, shape.p), kin.rotation(shape.body) @ Matrix3(shape.R))

    @classmethod
    def at(cls, shape: Shape, p: Vector3, R: Matrix3) -> PlacedShape:
        """The shape at a pose."""
        return cls(shape.kind, shape.size, p, R, shape.vertices, shape.faces)

    def axis(self, k: int) -> Vector3:
        """Axis k of the shape in world coordinates."""
        return Vector3(*(row[k] for row in self.R.rows))
