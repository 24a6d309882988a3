"""The signed distance of two solids: GJK and EPA of coal, certified by support functions where shapes penetrate.

coal 3.0.3 fails in some deep penetrations at tight tolerances, and finds a direction that is not the shortest way out
for some pairs of boxes, cylinders, capsules and spheres. The separation along a direction is a lower bound of the
signed distance, so the largest one counts: along coal's normals, the axes of both shapes and their cross products.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.errors import GeometryError
from kinetree.queries.solids import Solid, Terrain, coal
from kinetree.queries.supports import Placed, likely_normals, separation

TIGHT, SAFE = 1e-8, 1e-6  # [m], of GJK and EPA
MOST_STEPS = 1000
LARGEST = 1e100  # failures of coal have coordinates near the largest float


class Nearest(NamedTuple):
    """Signed distance [m], the points of both shapes [m], the unit normal from the first to the second [1]."""

    distance: float
    first: np.ndarray
    second: np.ndarray
    normal: np.ndarray

    def turned(self) -> Nearest:
        """The same of the shapes in the other order."""
        return Nearest(self.distance, self.second, self.first, -self.normal)


def nearest(first: Solid, X: object, second: Solid, Y: object, what: str) -> Nearest:
    """The nearest points of two solids at their poses.

    Parameters
    ----------
    first, second : Solid
    X, Y : coal.Transform3s
    what : str
        Opens the message of an error.

    Raises
    ------
    GeometryError
        If coal finds none.
    """
    if isinstance(first, Terrain):
        return _below(first, X, second, Y, what)
    if isinstance(second, Terrain):
        return _below(second, Y, first, X, what).turned()
    return _of_solids(first, X, second, Y, what)


def _of_solids(first: Solid, X, second: Solid, Y, what: str) -> Nearest:
    found = _solved(first.shape, X, second.shape, Y, TIGHT)
    if found is not None and found.distance > 0.0:
        return found
    attempts = [x for x in (found, _solved(first.shape, X, second.shape, Y, SAFE)) if x is not None]
    if first.support is not None and second.support is not None:
        a, b = (Placed(s.support, T.getRotation(), T.getTranslation()) for s, T in ((first, X), (second, Y)))
        return _certified(a, b, attempts)
    if not attempts:
        raise GeometryError(f"{what}: coal found no nearest points; are two surfaces of triangles in each other?")
    return attempts[0]


def _certified(first: Placed, second: Placed, attempts: list[Nearest]) -> Nearest:
    """The direction along which two penetrating shapes overlap least."""
    own = [separation(first, second, x.normal) for x in attempts]
    others = likely_normals(first, second)
    bounds = [separation(first, second, n) for n in others]
    for found, bound in zip(attempts, own, strict=True):
        if bound >= max(*own, *bounds) - SAFE and abs(bound - found.distance) <= SAFE:
            return found
    n = others[int(np.argmax(bounds))]
    distance, point = max(bounds), first.point(n)
    return Nearest(distance, point, point + distance * n, n)


def _solved(first, X, second, Y, tolerance: float) -> Nearest | None:
    library = coal()
    request, result = library.DistanceRequest(True, 0.0, 0.0), library.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = tolerance
    request.gjk_max_iterations = request.epa_max_iterations = MOST_STEPS
    distance = library.distance(first, X, second, Y, request, result)
    found = Nearest(distance, result.getNearestPoint1(), result.getNearestPoint2(), np.array(result.normal))
    all_numbers = np.array([distance, *found.first, *found.second, *found.normal])
    return found if (np.abs(all_numbers) < LARGEST).all() else None  # of failures also NaN


def _below(field: Terrain, X, other: Solid, Y, what: str) -> Nearest:
    """A height field and a solid: from outside by the surface, else by the prism that holds the other most deeply.

    To leave a union of prisms is to leave each of them; while the other solid reaches less deep than a cell is wide,
    the deepest prism is that whose top it has to leave.
    """
    outside = _of_solids(Solid(field.shape, False, field.lower, field.upper), X, other, Y, what)
    if not other.convex:
        return outside
    lower, upper = box_in(field, X, other, Y)
    prisms = field.pieces(lower, upper) if (lower <= field.upper).all() and (upper >= field.lower).all() else ()
    inside = [found for prism in prisms if (found := _of_solids(prism, X, other, Y, what)).distance <= 0.0]
    return min(inside, key=lambda found: found.distance, default=outside)


def box_in(field: Terrain, X, other: Solid, Y, margin: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A box in the axes of a height field that holds another solid; of a plane, all of the field."""
    if not np.isfinite(other.upper).all():
        return field.lower, field.upper
    R = X.getRotation().T @ Y.getRotation()
    p = X.getRotation().T @ (Y.getTranslation() - X.getTranslation())
    reach = np.abs(R) @ (0.5 * (other.upper - other.lower)) + margin
    middle = p + R @ (0.5 * (other.lower + other.upper))
    return middle - reach, middle + reach
