"""The collision shapes of a model as shapes of contacts: their names, materials and meshes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from kinetree.arguments import choice
from kinetree.collision.material import Material
from kinetree.collision.shape import LENGTHS, Shape
from kinetree.errors import ModelError
from kinetree.model.parts import Geometry

MESHES = ("error", "hull", "box", "skip")
MOST_VERTICES = 16
FLAT, APART = 0.01, 0.15  # shares of the extent: of points on one face, and between corners of it
EVERYTHING = 2**32 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A collision shape of a model that may take part in contacts.

    Attributes
    ----------
    shape : Shape
    geometry : Geometry
        That it is made of, with friction and filter bits.
    body : int
        Number of the body.
    link : str
        The link of the file that it came with, which may be welded to the body.
    """

    shape: Shape
    geometry: Geometry
    body: int
    link: str

    def passes(self, other: Candidate) -> bool:
        """Whether the filter bits of two shapes let them touch."""
        a, b = self.geometry, other.geometry
        return bool(a.contype & b.conaffinity or b.contype & a.conaffinity)


def collision_shapes(
    model, bodies: Iterable[int], meshes: str, left_out: list[str], only: Collection[str] = ()
) -> list[Candidate]:
    """The shapes of role "collision" or "both" of bodies that touch anything.

    Parameters
    ----------
    model : Model
    bodies : iterable of int
    meshes : {"error", "hull", "box", "skip"}
        See `Model.with_contacts`.
    left_out : list of str
        The names of shapes that are left out are added.
    only : collection of str
        Names of shapes, links or bodies; by default all.

    Raises
    ------
    ModelError
        There are meshes, and ``meshes`` is "error".
    """
    choice("with_contacts: meshes", meshes, MESHES)
    found = []
    for i in bodies:
        for geometry in model.geometry[i]:
            if geometry.role != "visual" and (geometry.contype or geometry.conaffinity):
                found.append((i, geometry.link or model.body_names[i], geometry))
    counts, taken = Counter(link for _, link, g in found if not g.name), Counter(g.name for *_, g in found)
    numbers: Counter = Counter()
    candidates, refused = [], []
    for i, link, geometry in found:
        name = geometry.name if taken[geometry.name] == 1 else f"{link}.{geometry.name}"
        if not geometry.name:
            name = link if counts[link] == 1 else f"{link}.{numbers[link]}"
            numbers[link] += 1
        if only and not {name, link, model.body_names[i]}.intersection(only):
            continue
        if geometry.kind not in LENGTHS and meshes == "error":
            refused.append(f"{name!r} ({geometry.kind})")
        elif shape := _shape(model, i, geometry, name, meshes):
            candidates.append(Candidate(shape, geometry, i, link))
        else:
            left_out.append(f"{name} ({geometry.kind})")
    if refused:
        more = f" and {len(refused) - 6} more" if len(refused) > 6 else ""
        raise ModelError(
            f"with_contacts: shapes of model {model.name!r} have no law for compiled contact: "
            f"{', '.join(refused[:6])}{more}. meshes='hull' takes their convex hulls of at most {MOST_VERTICES} "
            "vertices, 'box' their bounding boxes, 'skip' leaves them out; bodies= names the bodies that take part"
        )
    return candidates


def _shape(model, i: int, geometry: Geometry, name: str, meshes: str) -> Shape | None:
    """The shape on its body; None for one that is left out."""
    R, p, kind, size, vertices = geometry.R_BG, geometry.p_BG, geometry.kind, geometry.size, ()
    if kind not in LENGTHS:
        if kind != "mesh" or meshes == "skip":
            return None
        points = _corners(geometry)
        if meshes == "box":
            low, high = points.min(axis=0), points.max(axis=0)
            p, kind, size = p + R @ (0.5 * (low + high)), "box", tuple(high - low)
        else:
            kind, vertices = "hull", extreme_points(points, MOST_VERTICES)
    R, p = tuple(map(tuple, R.tolist())), tuple(p.tolist())
    return Shape(model.body_names[i], kind, size, R, p, name, vertices)


def _corners(geometry: Geometry) -> np.ndarray:
    from kinetree.geometry.meshes import read_mesh

    return read_mesh(geometry).vertices


def extreme_points(points: np.ndarray, most: int) -> np.ndarray:
    """At most so many corners of the convex hull of points, those that take most of it in.

    Parameters
    ----------
    points : (n, 3) array
        [m].
    most : int
        At least 8.

    Notes
    -----
    First those that touch the bounding box, and up to four corners of each face that an axis points to, so that soles
    stay flat; then again and again the corner that is farthest outside of the hull of those that are taken.
    """
    from scipy.spatial import ConvexHull

    points = points[ConvexHull(points).vertices]
    if len(points) <= most:
        return points
    unit = points / np.ptp(points, axis=0)
    taken = list(dict.fromkeys([*unit.argmin(axis=0).tolist(), *unit.argmax(axis=0).tolist()]))
    for k, sign in product(range(3), (-1.0, 1.0)):
        height = sign * unit[:, k]
        face = np.flatnonzero(height >= height.max() - FLAT)
        for s, t in product((-1.0, 1.0), repeat=2):
            far = int(face[(unit[face] @ np.roll((0.0, s, t), k)).argmax()])
            if all(np.linalg.norm(unit[far] - unit[other]) > APART for other in taken) and len(taken) < most:
                taken.append(far)
    while len(taken) < most:
        planes = ConvexHull(points[taken], qhull_options="QJ").equations
        beyond = (points @ planes[:, :3].T + planes[:, 3]).max(axis=1)
        beyond[taken] = -math.inf
        taken.append(int(beyond.argmax()))
    return points[taken]


def mixed(first: Geometry, second: Geometry, default: Material) -> Material:
    """The material of the contacts of two shapes, by their own numbers.

    The shape with the higher priority gives friction and restitution; of equal ones the greater numbers count, as in
    MuJoCo. Springs of both surfaces are in series. What no shape states is that of ``default``.
    """
    sides = [first, second] if first.priority == second.priority else [max(first, second, key=lambda g: g.priority)]
    friction = [g.friction[0] for g in sides if g.friction is not None]
    restitution = [g.restitution for g in sides if g.restitution is not None]
    springs = [g for g in (first, second) if g.stiffness]
    compliance = sum(1.0 / g.stiffness for g in springs)
    times = [g.damping / g.stiffness for g in springs if g.damping is not None]
    return Material(
        friction=max(friction, default=default.friction),
        restitution=max(restitution, default=default.restitution),
        stiffness=1.0 / compliance if compliance else default.stiffness,
        relaxation_time=max(times, default=default.relaxation_time),
        margin=max(first.margin, second.margin, default.margin),
    )
