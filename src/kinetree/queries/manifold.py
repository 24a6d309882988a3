"""Contact manifolds: several points of contacts of faces and edges, by the patches of coal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_model, checked, number
from kinetree.model.parts import read_only
from kinetree.queries.nearest import LARGEST, Nearest, box_in, nearest
from kinetree.queries.scene import Scene, placed
from kinetree.queries.solids import Solid, Terrain, coal

MOST_PATCHES = 64  # of one pair: surfaces of triangles and height fields have many

STEEPEST = 0.7  # cosine between the normal of a contact with a height field and that of its triangle


@dataclass(frozen=True, slots=True, eq=False)
class Manifold:
    """Points of contact of a model at one state; all vectors are in the world.

    Attributes
    ----------
    pairs : tuple of (str, str)
        Names of the first and the second shape of each point.
    position : (n, 3) array
        In the middle between both surfaces [m].
    normal : (n, 3) array
        Unit normals from the first to the second shape [1].
    gap : (n,) array
        Distance of the surfaces along the normal, negative where they penetrate [m].
    """

    pairs: tuple[tuple[str, str], ...]
    position: np.ndarray
    normal: np.ndarray
    gap: np.ndarray

    def __post_init__(self) -> None:
        for name in ("position", "normal", "gap"):
            read_only(getattr(self, name))

    def __len__(self) -> int:
        return len(self.pairs)

    def of(self, first: str, second: str) -> Manifold:
        """The points of one pair; empty if it has none.

        Parameters
        ----------
        first, second : str
            Names of the shapes, in their order in ``pairs``.
        """
        k = [i for i, pair in enumerate(self.pairs) if pair == (first, second)]
        return Manifold(tuple(self.pairs[i] for i in k), self.position[k], self.normal[k], self.gap[k])


@checked(model=a_model)
def contact_manifold(model, q, pairs=None, *, margin: float = 1e-3, meshes: str = "hull", t=None) -> Manifold:
    """The points where shapes touch: corners of the common area of faces, ends of the common line of edges.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    pairs : sequence of (str, str) or ContactPair, optional
        As in `distances`.
    margin : float
        Distance up to which shapes count as touching [m].
    meshes : {"hull", "triangles"}
        See `distances`.
    t : float, optional
        Time [s], for models that depend on it.

    Returns
    -------
    Manifold

    Raises
    ------
    UnknownNameError, GeometryError, MissingDependencyError

    Notes
    -----
    Source: contact patches of coal 3: the faces of both shapes, cut to their common area; round faces are polygons of
    12 corners. A contact at a point is one point, one along a line two. The gap is that of the pair at its nearest
    points. `minimal_contact_set` removes points that others make superfluous.

    Examples
    --------
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("box")
    >>> box = kt.model.Geometry("box", (0.4, 0.2, 0.2), name="box")
    >>> b.add_body("box", joint=kt.joints.Free(), mass=1.0, inertia=(1.0, 1.0, 1.0), geometry=[box])
    >>> b.add_geometry("world", kt.model.Geometry("plane", name="floor"))
    >>> found = kt.collision.contact_manifold(b.build(), [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0])
    >>> sorted(found.position[:, :2].round(6).tolist())
    [[-0.2, -0.1], [-0.2, 0.1], [0.2, -0.1], [0.2, 0.1]]
    """
    scene = Scene.of(model, meshes)
    number("contact_manifold: margin", margin, "a distance of 0 or more [m]", least=0.0)
    chosen, (R, p) = scene.chosen(pairs), scene.poses(q, t)
    chosen = chosen[scene.near(chosen, R, p, margin)]
    poses, points, owners = placed(R, p), [], []
    for k, n in chosen.tolist():
        found = _points(scene.solids[k], poses[k], scene.solids[n], poses[n], margin)
        points += found
        owners += [(scene.shapes[k].name, scene.shapes[n].name)] * len(found)
    position, normal = (np.array([x[i] for x in points]).reshape(-1, 3) for i in (0, 1))
    return Manifold(tuple(owners), position, normal, np.array([x[2] for x in points]))


def _points(first: Solid, X, second: Solid, Y, margin: float) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Position, normal and gap of each point of one pair."""
    if isinstance(second, Terrain):
        return [(at, -normal, gap) for at, normal, gap in _points(second, Y, first, X, margin)]
    if not isinstance(first, Terrain):
        found = _patches(first.shape, X, second.shape, Y, margin)
        return found if found is not None else _one_point(nearest(first, X, second, Y, "contact_manifold"), margin)
    lower, upper = box_in(first, X, second, Y, margin)
    found = []
    for prism in first.pieces(lower, upper):
        up = X.getRotation() @ prism.up  # the walls between prisms are no surfaces
        patches = _patches(prism.shape, X, second.shape, Y, margin) or []
        found += [x for x in patches if x[1] @ up > STEEPEST]
    return found


def _one_point(found: Nearest, margin: float) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """The middle between the nearest points, where coal finds no patch."""
    return [(0.5 * (found.first + found.second), found.normal, found.distance)] if found.distance <= margin else []


def _patches(first, X, second, Y, margin: float) -> list[tuple[np.ndarray, np.ndarray, float]] | None:
    """Points of the patches of coal; None where its deep penetrations fail."""
    library = coal()
    request, result = library.CollisionRequest(library.CONTACT, MOST_PATCHES), library.CollisionResult()
    request.security_margin = margin
    if not library.collide(first, X, second, Y, request, result):
        return []
    wanted, patches = library.ContactPatchRequest(request), library.ContactPatchResult()
    wanted.max_num_patch = MOST_PATCHES
    library.computeContactPatch(first, X, second, Y, result, wanted, patches)
    found = (patches.getContactPatch(k) for k in range(patches.numContactPatches()))
    points = [
        (np.array(patch.getPoint(k)), np.array(patch.getNormal()), float(patch.penetration_depth))
        for patch in found
        for k in range(patch.size())
    ]
    is_valid = all((np.abs([*at, *normal, gap]) < LARGEST).all() for at, normal, gap in points)  # not for NaN
    return points if points and is_valid else None
