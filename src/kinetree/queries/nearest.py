"""The signed distance of two solids: GJK and EPA of coal, certified by support functions where shapes penetrate.

coal 3.0.3 fails in some deep penetrations at tight tolerances, and finds a direction that is not the shortest way out
for some pairs of boxes, cylinders, capsules and spheres. The separation along a direction is a lower bound of the
signed distance, so the largest one counts: along coal's normals, the axes of both shapes and their cross products.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.errors import GeometryError
from kinetree.queries.features import FLAT, SAME, Feature, contact_matrix, feature, solved, tangents
from kinetree.queries.solids import Solid, Terrain, coal
from kinetree.queries.supports import Placed, likely_normals, separation

TIGHT, SAFE = 1e-8, 1e-6  # [m], of GJK and EPA
MOST_STEPS = 1000
CURVED = {"ellipsoid", "cylinder"}  # kinds that coal measures by iterations
NEWTON_STEPS = 8
ROUNDING, CONVERGED = 1e-15, 1e-12
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


def nearest(first: Solid, X: object, second: Solid, Y: object, what: str, refine: bool = False) -> Nearest:
    """The nearest points of two solids at their poses.

    Parameters
    ----------
    first, second : Solid
    X, Y : coal.Transform3s
    what : str
        Opens the message of an error.
    refine : bool
        Newton's method on the normals of round shapes.

    Raises
    ------
    GeometryError
        If coal finds none.
    """
    if isinstance(first, Terrain):
        return _below(first, X, second, Y, what)
    if isinstance(second, Terrain):
        return _below(second, Y, first, X, what).turned()
    return _of_solids(first, X, second, Y, what, refine)


def _of_solids(first: Solid, X, second: Solid, Y, what: str, refine: bool = False) -> Nearest:
    found = _solved(first.shape, X, second.shape, Y, TIGHT)
    refine = refine and not CURVED.isdisjoint((_kind(first), _kind(second)))
    if found is not None and found.distance > 0.0 and not refine:
        return found
    more = None if found is not None and found.distance > 0.0 else _solved(first.shape, X, second.shape, Y, SAFE)
    attempts = [x for x in (found, more) if x is not None]
    if first.support is not None and second.support is not None:
        a, b = (Placed(s.support, T.getRotation(), T.getTranslation()) for s, T in ((first, X), (second, Y)))
        best = found if more is None and found is not None else _certified(a, b, attempts)
        return _refined(a, b, best) if refine else best
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


def _kind(solid: Solid) -> str:
    return "" if solid.support is None else solid.support.kind


def _refined(first: Placed, second: Placed, found: Nearest) -> Nearest:
    """The same to rounding, where Newton's method converges; corners near coal's plane of support may be on an edge."""
    attempts = (_newton(first, second, found, same) for same in (SAME, FLAT))
    return next((x for x in attempts if x is not None), found)


def _newton(first: Placed, second: Placed, found: Nearest, same: float) -> Nearest | None:
    """Newton's method on the normal: both points are where it is normal to their surfaces, and it joins them.

    A step that lowers the separation, which is a lower bound of the distance, is not taken.
    """
    best, misfit, size = found, np.inf, np.abs([found.first, found.second]).max()
    least = separation(first, second, found.normal)
    for _ in range(NEWTON_STEPS):
        n, sides = found.normal, []
        T, points = tangents(n), []
        for shape, outward, at in ((first, n, found.first), (second, -n, found.second)):
            local = feature(shape.support, shape.R.T @ outward, shape.R.T @ (at - shape.p), same)
            sides.append(Feature(local.axes @ shape.R.T, local.radii))
            top = shape.point(outward)
            flat = sides[-1].axes[~np.isfinite(local.radii)]  # along which all points support
            points.append(top + flat.T @ (flat @ (at - top)))
        x, y = points
        right = np.concatenate([_tilts(sides[0], n), -_tilts(sides[1], n), T @ (y - x)])
        distance, bound = float(n @ (y - x)), separation(first, second, n)
        if bound < least - ROUNDING * size or np.linalg.norm(right) >= misfit:
            break
        best, misfit, least = Nearest(distance, x, y, n), np.linalg.norm(right), bound
        step, _ = solved(contact_matrix(distance, T, *sides), right)
        if step is None or misfit <= ROUNDING * size:
            break
        new = n + T.T @ step[:2]
        found = Nearest(distance, x + T.T @ step[2:4], y + T.T @ step[4:], new / np.linalg.norm(new))
    return best if misfit <= CONVERGED * size else None


def _tilts(surface: Feature, n: np.ndarray) -> np.ndarray:
    """How far the normal is off those of flat directions."""
    return np.where(np.isfinite(surface.radii), 0.0, surface.axes @ n)


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
