"""Signed distances, nearest points and normals of the shapes of a model, and the pairs that collide."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_model, a_truth_value, checked, number
from kinetree.model.parts import read_only
from kinetree.queries.nearest import nearest
from kinetree.queries.scene import Scene, placed


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """Signed distances of pairs of shapes at one state; all positions are in the world.

    Attributes
    ----------
    pairs : tuple of (str, str)
        Names of the first and the second shape of each pair.
    distance : (n,) array
        Positive: apart; negative: the least translation that separates them [m].
    first, second : (n, 3) array
        The nearest points of both shapes, or those that reach most deeply into the other [m].
    normal : (n, 3) array
        Unit normal from the first to the second shape [1].
    """

    pairs: tuple[tuple[str, str], ...]
    distance: np.ndarray
    first: np.ndarray
    second: np.ndarray
    normal: np.ndarray

    def __post_init__(self) -> None:
        for name in ("distance", "first", "second", "normal"):
            read_only(getattr(self, name))

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def closest(self) -> tuple[str, str] | None:
        """The names of the pair with the smallest distance; None if there is no pair."""
        return self.pairs[int(np.argmin(self.distance))] if self.pairs else None

    def __str__(self) -> str:
        lines = [f"{self.distance[k]:12.6g} m  {a} / {b}" for k, (a, b) in enumerate(self.pairs)]
        return "\n".join(lines) or "no pairs"


@checked(model=a_model)
def distances(
    model, q, pairs=None, *, within: float = math.inf, meshes: str = "hull", refine: bool = False, t=None
) -> Distances:
    """Signed distances of pairs of shapes, with nearest points and normals.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    pairs : sequence of (str, str) or ContactPair, optional
        Names of two shapes each. By default all pairs that may touch: collision shapes of different bodies but
        neighbors in the tree, exclusions, and different filter bits, and pairs of the model's contacts with the ground.
    within : float
        Leave out pairs farther apart than this [m].
    meshes : {"hull", "triangles"}
        Meshes are their convex hulls, or surfaces without an inside, whose distance is zero or more unless a triangle
        reaches into the other shape.
    refine : bool
        Newton's method on the normals of cylinders and ellipsoids: to rounding where it converges, for some 0.3 ms a
        pair.
    t : float, optional
        Time [s], for models that depend on it.

    Returns
    -------
    Distances

    Raises
    ------
    UnknownNameError
        There is no shape of a name; the message lists those that exist.
    GeometryError
        A mesh is missing, broken, or flat.
    MissingDependencyError
        coal (``pip install coal``), or trimesh for meshes, is not installed.

    Notes
    -----
    Source: GJK and EPA of coal (Pan et al. 2012; Montaut et al. 2022), to 1e-8 m for curved shapes (1e-6 m in some deep
    penetrations), 1e-10 m for boxes and hulls. Depths are certified by support functions. Objects of coal are made on
    the first call and kept with the model; threads share them.

    Identity: ``second - first = distance * normal``.

    Examples
    --------
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("two balls")
    >>> for name in ("a", "b"):
    ...     ball = kt.model.Geometry("sphere", (0.1,), name=name)
    ...     b.add_body(name, joint=kt.joints.Prismatic((1.0, 0.0, 0.0)), mass=1.0, geometry=[ball])
    >>> print(kt.collision.distances(b.build(), [0.0, 0.5]))
             0.3 m  a / b
    """
    a_truth_value("distances: refine", refine)
    scene = Scene.of(model, meshes)
    is_limited = not (isinstance(within, float) and within == math.inf)
    if is_limited:
        number("distances: within", within, "a distance [m]")
    chosen, (R, p) = scene.chosen(pairs), scene.poses(q, t)
    if is_limited:
        chosen = chosen[scene.near(chosen, R, p, within)]
    poses, solids, names = placed(R, p), scene.solids, scene.names(chosen)
    found = [
        nearest(solids[k], poses[k], solids[n], poses[n], f"shapes {a!r} and {b!r}", refine)
        for (k, n), (a, b) in zip(chosen.tolist(), names, strict=True)
    ]
    kept = [x.distance <= within for x in found]
    found = [x for x, is_kept in zip(found, kept, strict=True) if is_kept]
    names = tuple(pair for pair, is_kept in zip(names, kept, strict=True) if is_kept)
    points = [np.array([getattr(x, what) for x in found]).reshape(-1, 3) for what in ("first", "second", "normal")]
    return Distances(names, np.array([x.distance for x in found]), *points)


@checked(model=a_model)
def colliding_pairs(model, q, *, margin: float = 0.0, meshes: str = "hull", t=None) -> tuple[tuple[str, str], ...]:
    """The pairs of shapes that touch or penetrate each other.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    margin : float
        Pairs that are at most this far apart count, too [m].
    meshes : {"hull", "triangles"}
        See `distances`.
    t : float, optional
        Time [s], for models that depend on it.

    Returns
    -------
    tuple of (str, str)
        Names of the shapes, among the pairs that may touch.

    Raises
    ------
    GeometryError, MissingDependencyError

    Notes
    -----
    Boxes along the axes of the world leave out most pairs in one array operation; those that remain are measured.

    Examples
    --------
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("two balls")
    >>> for name in ("a", "b"):
    ...     ball = kt.model.Geometry("sphere", (0.1,), name=name)
    ...     b.add_body(name, joint=kt.joints.Prismatic((1.0, 0.0, 0.0)), mass=1.0, geometry=[ball])
    >>> kt.collision.colliding_pairs(b.build(), [0.0, 0.19])
    (('a', 'b'),)
    """
    number("colliding_pairs: margin", margin, "a distance [m]")
    return distances(model, q, within=margin, meshes=meshes, t=t).pairs
