"""The bodies of a pile and its planes as arrays, from checked arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, product

import numpy as np

from kinetree.arguments import array, instance, refuse
from kinetree.collision.axes import contact_axes
from kinetree.collision.material import Ground
from kinetree.contact.pile_pairs import SIZES, point_law
from kinetree.errors import ModelError, QuaternionError
from kinetree.geometry.mass_properties import mass_properties
from kinetree.model.parts import Geometry
from kinetree.spatial import Vector3

RADIUS = {
    "sphere": lambda r: r,
    "capsule": lambda r, length: r + 0.5 * length,
    "cylinder": lambda r, length: float(np.hypot(r, 0.5 * length)),
    "box": lambda x, y, z: 0.5 * float(np.hypot(np.hypot(x, y), z)),
    "ellipsoid": max,
}
"""Radius of the sphere around a shape with a volume."""

AT_ORIGIN = "a shape at the origin of its body; bodies have their own positions and orientations"


@dataclass(frozen=True, eq=False)
class Bodies:
    """Constant data of n bodies, then of the planes.

    Attributes
    ----------
    shapes : tuple of Geometry
    ground : tuple of Ground
    mass : (n,) array
        [kg].
    inertia : (n, 3) array
        About the axes of the shape [kg m^2].
    moves : (n,) array of bool
    friction, restitution : (n + planes,) array
        [1].
    """

    shapes: tuple[Geometry, ...]
    ground: tuple[Ground, ...]
    mass: np.ndarray
    inertia: np.ndarray
    moves: np.ndarray
    friction: np.ndarray
    restitution: np.ndarray

    def __len__(self) -> int:
        return len(self.shapes)

    @cached_property
    def scale(self) -> np.ndarray:
        """(n, 4): roots of mass and inertia, zeros of fixed bodies."""
        return np.where(self.moves[:, None], np.sqrt(np.column_stack([self.mass, self.inertia])), 0.0)

    @cached_property
    def kinds(self) -> list[str]:
        """Of all shapes, planes included."""
        return [shape.kind for shape in self.shapes] + ["plane"] * len(self.ground)

    @cached_property
    def radii(self) -> np.ndarray:
        """Of spheres around all shapes [m]; infinite for planes."""
        found = [RADIUS[shape.kind](*shape.size) for shape in self.shapes]
        return np.array(found + [np.inf] * len(self.ground))

    @cached_property
    def sizes(self) -> np.ndarray:
        """(n + planes, SIZES): lengths of all shapes, filled up with zeros."""
        lengths = [shape.size for shape in self.shapes] + [()] * len(self.ground)
        return np.array([[*size, *[0.0] * (SIZES - len(size))] for size in lengths])

    def plane_poses(self) -> np.ndarray:
        """(planes, 12): position, and orientation by rows with the normal as third axis."""
        found = [np.empty((0, 12))]
        for plane in self.ground:
            n = np.array(plane.normal)
            R = np.array([[*axis] for axis in contact_axes(Vector3(*plane.normal))]).T
            found.append(np.concatenate([plane.height * n, R.ravel()])[None])
        return np.concatenate(found)

    def of_contacts(self, values: np.ndarray, bodies: np.ndarray) -> np.ndarray:
        """Coefficients of contacts: those of a plane, or the larger of both bodies'."""
        both = values[bodies]
        of_plane = bodies >= len(self)
        return np.where(of_plane.any(axis=1), np.where(of_plane, both, 0.0).max(axis=1), both.max(axis=1))


def bodies_of(shapes, n: int, mass, density, fixed, friction, restitution, ground) -> Bodies:
    """Check the arguments of a pile of n bodies.

    Raises
    ------
    ArgumentError, ModelError, UnsupportedError
    """
    shapes = _shapes(shapes, n)
    if fixed is None:
        fixed = np.zeros(n, bool)
    fixed = np.asarray(fixed)
    if fixed.dtype != bool or fixed.shape != (n,):
        refuse("Pile: fixed", fixed, f"{n} truth values, one for each body")
    ground = _ground(ground)
    of_planes = ([getattr(plane, name) for plane in ground] for name in ("friction", "restitution"))
    coefficients = [
        np.concatenate([_each(name, value, n, 0.0, most), others])
        for (name, value, most), others in zip(
            (("friction", friction, np.inf), ("restitution", restitution, 1.0)), of_planes, strict=True
        )
    ]
    masses = None if mass is None else _each("mass", mass, n, above=True)
    densities = None if density is None else _each("density", density, n, above=True)
    if (masses is None) == (densities is None):
        refuse("Pile: density", density, "either density= [kg/m^3] or mass= [kg], a number or one for each body")
    made: dict[tuple, tuple] = {}
    matter = []
    for k, shape in enumerate(shapes):
        amount = {"density": float(densities[k])} if masses is None else {"mass": float(masses[k])}
        key = shape.kind, shape.size, *amount.values()
        if key not in made:
            found = mass_properties(shape, **amount)
            made[key] = found.mass, found.inertia.diagonal()
        matter.append(made[key])
    found = Bodies(
        shapes, ground, np.array([m for m, _ in matter]), np.array([i for _, i in matter]), ~fixed, *coefficients
    )
    kinds = sorted({shape.kind for shape in shapes})
    for pair in [
        *(combinations_with_replacement(kinds, 2) if n > 1 else ()),
        *product(["plane"] if ground else [], kinds),
    ]:
        point_law(*pair)
    return found


def poses_of(positions, orientations) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, 3) and unit quaternions (n, 4).

    Raises
    ------
    ArgumentError, QuaternionError
    """
    x = finite("positions", positions, (None, 3))
    if not len(x):
        refuse("Pile: positions", positions, "at least one body")
    if orientations is None:
        return x, np.tile([1.0, 0.0, 0.0, 0.0], (len(x), 1))
    q = finite("orientations", orientations, (len(x), 4))
    size = np.linalg.norm(q, axis=1)
    if (size == 0.0).any():
        k = int(np.argmin(size))
        raise QuaternionError(f"Pile: the quaternion of body {k} is zero, so it is no orientation", norm=0.0)
    return x, q / size[:, None]


def finite(what: str, value, shape: tuple) -> np.ndarray:
    """An array of finite numbers of a shape, of its own."""
    found = array(f"Pile: {what}", value, shape=shape)
    if not np.isfinite(found).all():
        refuse(f"Pile: {what}", value, "finite numbers")
    return np.ascontiguousarray(found)


def _each(what: str, value, n: int, least: float = 0.0, most: float = np.inf, above: bool = False) -> np.ndarray:
    """A number for each body."""
    found = array(f"Pile: {what}", value)
    valid = np.isfinite(found) & (found <= most) & ((found > least) if above else (found >= least))
    if found.shape not in ((), (n,)) or not valid.all():
        bounds = f"{'above' if above else 'not below'} {least:g}" + (f", at most {most:g}" if most < np.inf else "")
        refuse(f"Pile: {what}", value, f"a number {bounds}, or one for each of the {n} bodies")
    return np.broadcast_to(found, n).copy()


def _shapes(shapes, n: int) -> tuple[Geometry, ...]:
    if isinstance(shapes, Geometry):
        shapes = (shapes,) * n
    instance("Pile: shapes", shapes, Sequence, f"a Geometry, or a sequence of {n}, one for each position")
    if len(shapes) != n:
        refuse("Pile: shapes", shapes, f"one Geometry for all bodies, or {n}, as there are positions")
    for k, shape in enumerate(shapes):
        instance(f"Pile: shape {k}", shape, Geometry, "a kinetree Geometry")
        if shape.kind not in RADIUS:
            raise ModelError(f"Pile: shape {k} is a {shape.kind}; known: {', '.join(RADIUS)}. Planes are ground=.")
        if np.any(shape.p_BG != 0.0) or np.any(shape.R_BG != np.eye(3)):
            refuse(f"Pile: shape {k}", shape, AT_ORIGIN)
    return tuple(shapes)


def _ground(ground) -> tuple[Ground, ...]:
    if ground is None or ground is False:
        return ()
    return tuple(map(Ground.of, ground if isinstance(ground, (list, tuple)) else (ground,)))
