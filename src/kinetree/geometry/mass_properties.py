"""Mass, center of mass and inertia of shapes that are filled with matter of one density."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_sequence, array, checked, choice, number
from kinetree.errors import GeometryError, InertiaError, ModelError, unknown_name
from kinetree.geometry import meshes
from kinetree.model.parts import Geometry, read_only
from kinetree.model.validation import check_inertia

ROLES = ("collision", "visual", "both")
HULLS = (False, True, "if_needed")


@dataclass(frozen=True, slots=True, eq=False)
class MassProperties:
    """Mass, center of mass and inertia of a body of given shape and density.

    Parameters
    ----------
    mass : float
        [kg].
    com : (3,) array
        Center of mass in the body [m].
    inertia : (3, 3) array
        Rotational inertia about the center of mass, in the axes of the body [kg m^2].
    volume : float
        [m^3].
    notes : tuple of str
        Assumptions, for example a convex hull.

    Notes
    -----
    ``builder.add_body(name, mass=p.mass, com=p.com, inertia=p.inertia, ...)`` takes them as they are.
    """

    mass: float
    com: np.ndarray
    inertia: np.ndarray
    volume: float
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("mass", "volume"):
            number(f"MassProperties: {name}", getattr(self, name))
        for name, shape in (("com", (3,)), ("inertia", (3, 3))):
            values = array(f"MassProperties: {name}", getattr(self, name), shape=shape)
            object.__setattr__(self, name, read_only(values))

    @property
    def density(self) -> float:
        """Mean density [kg/m^3]."""
        return self.mass / self.volume

    @property
    def principal(self) -> tuple[np.ndarray, np.ndarray]:
        """Principal moments about the center of mass, and the axes that they belong to.

        Returns
        -------
        moments : (3,) array
            In ascending order [kg m^2].
        axes : (3, 3) array
            A rotation, right-handed, whose columns are the axes in the body: ``axes @ diag(moments) @ axes.T`` is the
            inertia [1].

        Notes
        -----
        Source: Sueda, eq. 1.25-1.26.

        Examples
        --------
        >>> from kinetree.model.parts import Geometry
        >>> bars = (Geometry("box", (2.0, 0.1, 0.1)), Geometry("box", (0.1, 2.0, 0.1), p_BG=(0.0, 1.0, 0.0)))
        >>> moments, axes = body_mass_properties(bars, mass=10.0).principal
        >>> moments.round(3).tolist(), round(float(np.linalg.det(axes)), 12)
        ([1.679, 4.179, 5.842], 1.0)
        """
        return principal_axes(self.inertia)

    def scaled_to(self, mass: float) -> MassProperties:
        """The same shape with another mass.

        Parameters
        ----------
        mass : float
            [kg].
        """
        ratio = mass / self.mass
        return MassProperties(float(mass), self.com, self.inertia * ratio, self.volume, self.notes)

    def seen_from(self, R: np.ndarray, p: np.ndarray) -> MassProperties:
        """The same matter in the coordinates of a frame A.

        Parameters
        ----------
        R : (3, 3) array
            Orientation of this frame in A [1].
        p : (3,) array
            Position of its origin in A [m].
        """
        inertia = R @ self.inertia @ R.T
        return MassProperties(self.mass, R @ self.com + p, 0.5 * (inertia + inertia.T), self.volume, self.notes)

    def __add__(self, other: MassProperties) -> MassProperties:
        """Both together, about their common center of mass; where they overlap, both count."""
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass
        inertia = self.inertia + other.inertia
        for part in (self, other):
            d = part.com - com
            inertia = inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return MassProperties(mass, com, inertia, self.volume + other.volume, self.notes + other.notes)


def principal_axes(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of a symmetric (3, 3) matrix, and a rotation whose columns are its eigenvectors."""
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return moments, axes


@checked(shape=meshes.one_shape)
def mass_properties(
    shape: Geometry, *, density: float | None = None, mass: float | None = None, convex_hull: bool | str = False
) -> MassProperties:
    """Mass properties of one solid shape of constant density, in body coordinates.

    Parameters
    ----------
    shape : Geometry
        Any kind but "plane", which has no volume.
    density : float, optional
        [kg/m^3].
    mass : float, optional
        Instead of the density [kg].
    convex_hull : bool or "if_needed"
        For meshes: fill the convex hull of the mesh instead of the mesh itself; "if_needed": only if the mesh bounds no
        solid, with an entry in ``notes``.

    Returns
    -------
    MassProperties

    Raises
    ------
    GeometryError
        If the shape has no volume: a plane, or a mesh that cannot be read or bounds no solid
        (`kinetree.geometry.meshes.check_solid` lists the checks). ``check`` and ``file`` are attributes.
    MissingDependencyError
        If the shape is a mesh and trimesh is not installed.
    ModelError
        If not exactly one of ``density`` and ``mass`` is given, or it is not positive.

    Notes
    -----
    Boxes, spheres, cylinders, capsules and ellipsoids by closed forms; meshes by trimesh's integrals over triangles (D.
    Eberly, Polyhedral Mass Properties).

    Examples
    --------
    >>> from kinetree.model.parts import Geometry
    >>> brick = mass_properties(Geometry("box", (0.2, 0.1, 0.1), p_BG=(0.1, 0.0, 0.0)), density=1000.0)
    >>> round(brick.mass, 9), brick.com.tolist()
    (2.0, [0.1, 0.0, 0.0])
    >>> brick.inertia.diagonal().round(6).tolist()
    [0.003333, 0.008333, 0.008333]
    """
    matter = _amount(density, mass)
    if not isinstance(convex_hull, (bool, np.bool_, str)) or convex_hull not in HULLS:
        raise unknown_name("choice", str(convex_hull), map(str, HULLS), "convex_hull=")
    volume, com, inertia, notes = _of_unit_density(shape, convex_hull)
    if not (0.0 < volume < math.inf):
        raise GeometryError(f"{shape.kind} {shape.name!r}: its volume is {volume} m^3", check="volume", found=volume)
    filled = MassProperties(volume, com, inertia, volume, notes).scaled_to(volume * matter if mass is None else matter)
    return filled.seen_from(shape.R_BG, shape.p_BG)


def body_mass_properties(
    shapes: Iterable[Geometry],
    *,
    density: float | None = None,
    mass: float | None = None,
    role: str = "collision",
    convex_hull: bool | str = False,
) -> MassProperties:
    """Mass properties of a body that consists of several shapes of one density.

    Parameters
    ----------
    shapes : iterable of Geometry
        Shapes of one body; those of another role are left out.
    density : float, optional
        [kg/m^3].
    mass : float, optional
        Of all shapes together, instead of the density [kg].
    role : {"collision", "visual", "both"}
        Which shapes are solid matter; a shape of role "both" always is. "both" takes all.
    convex_hull : bool or "if_needed"
        As in `mass_properties`.

    Returns
    -------
    MassProperties

    Raises
    ------
    GeometryError
        If no shape has this role, or one has no volume.

    Notes
    -----
    Shapes are summed. Where two overlap, their matter counts twice: collision shapes that were laid over each other
    give too much mass there. ``mass=`` keeps the total right, but not its distribution.

    Examples
    --------
    >>> from kinetree.model.parts import Geometry
    >>> halves = [Geometry("box", (1.0, 1.0, 1.0), p_BG=(x, 0.0, 0.0)) for x in (-0.5, 0.5)]
    >>> body = body_mass_properties(halves, mass=2.0)
    >>> body.com.tolist(), body.inertia.diagonal().round(6).tolist()
    ([0.0, 0.0, 0.0], [0.333333, 0.833333, 0.833333])
    """
    amount = _amount(density, mass)
    chosen = of_role(shapes, role)
    if not chosen:
        raise GeometryError(f"no shape of role '{role}' to take mass and inertia from", check="shapes", role=role)
    filling = amount if mass is None else 1.0
    total, *others = (mass_properties(shape, density=filling, convex_hull=convex_hull) for shape in chosen)
    for part in others:
        total = total + part
    return total if mass is None else total.scaled_to(mass)


def of_role(shapes: Iterable[Geometry], role: str) -> list[Geometry]:
    """The shapes of a role; those of role "both" have every role."""
    choice("role", role, ROLES, "role=")
    a_sequence("shapes", shapes)
    shapes = list(shapes)
    for shape in shapes:
        meshes.one_shape("one of shapes", shape)
    return [shape for shape in shapes if role == "both" or shape.role in (role, "both")]


def _amount(density: float | None, mass: float | None) -> float:
    if (density is None) == (mass is None):
        raise ModelError("give either density= [kg/m^3] or mass= [kg], not both and not none")
    what, value, unit = ("density", density, "kg/m^3") if mass is None else ("mass", mass, "kg")
    try:
        amount = float(value)
    except (TypeError, ValueError, OverflowError):
        amount = math.nan
    if not (math.isfinite(amount) and amount > 0.0):
        raise ModelError(f"{what} is {value!r} {unit}, expected a positive finite number", **{what: value})
    return amount


# Closed forms: volume [m^3] and moments about the center at density 1 [m^5], axes of the shape ----------------------


def _box(x: float, y: float, z: float) -> tuple[float, list[float]]:
    V = x * y * z
    return V, [V / 12.0 * (y * y + z * z), V / 12.0 * (z * z + x * x), V / 12.0 * (x * x + y * y)]


def _ellipsoid(a: float, b: float, c: float) -> tuple[float, list[float]]:
    V = 4.0 / 3.0 * math.pi * a * b * c
    return V, [V / 5.0 * (b * b + c * c), V / 5.0 * (c * c + a * a), V / 5.0 * (a * a + b * b)]


def _sphere(r: float) -> tuple[float, list[float]]:
    return _ellipsoid(r, r, r)


def _cylinder(r: float, length: float) -> tuple[float, list[float]]:
    V = math.pi * r * r * length
    across = V * (r * r / 4.0 + length * length / 12.0)
    return V, [across, across, V * r * r / 2.0]


def _capsule(r: float, length: float) -> tuple[float, list[float]]:
    V, (across, _, along) = _cylinder(r, length)
    caps, (ball, _, _) = _sphere(r)
    # The centroid of a half ball is 3/8 r from its flat side, which is length/2 from the center.
    across += ball + caps * length * (length / 4.0 + 3.0 / 8.0 * r)
    return V + caps, [across, across, along + ball]


_CLOSED_FORMS = {"box": _box, "sphere": _sphere, "cylinder": _cylinder, "capsule": _capsule, "ellipsoid": _ellipsoid}


def _of_unit_density(shape: Geometry, convex_hull: bool | str) -> tuple[float, np.ndarray, np.ndarray, tuple[str, ...]]:
    """Volume, centroid and inertia about it in the shape's own frame, and the assumptions."""
    if shape.kind == "mesh":
        return _of_mesh(shape, convex_hull)
    if shape.kind not in _CLOSED_FORMS:
        message = f"{shape.kind} {shape.name!r} has no volume, so no mass; give it role='visual', or the body its mass"
        raise GeometryError(message, check="kind", kind=shape.kind)
    volume, moments = _CLOSED_FORMS[shape.kind](*shape.size)
    return volume, np.zeros(3), np.diag(moments), ()


def _of_mesh(shape: Geometry, convex_hull: bool | str) -> tuple[float, np.ndarray, np.ndarray, tuple[str, ...]]:
    mesh, notes = meshes.read_mesh(shape), ()
    if convex_hull is True:
        mesh = meshes.convex_hull(mesh)
    try:
        meshes.check_solid(mesh)
    except GeometryError as error:
        if convex_hull != "if_needed":
            raise
        mesh, notes = meshes.convex_hull(mesh), (f"convex hull of mesh {shape.mesh} taken ({error.check})",)
        meshes.check_solid(mesh)
    volume, com, inertia = meshes.integrals(mesh)
    try:
        check_inertia(f"mesh {shape.mesh}", volume, inertia)
    except InertiaError as error:
        fault = f"the integrals over its triangles are those of no body ({error.message})"
        repair = "Repair the mesh, or take its convex hull with convex_hull=True"
        raise mesh.fail("inertia", f"{fault}; pieces of it overlap or are inside out. {repair}") from error
    return volume, com, inertia, notes
