"""Pairs of bodies of a pile that may touch, and their candidate points: both as arrays.

SciPy's tree of points finds the pairs of spheres around the bodies, since SciPy is a dependency and its search is
compiled. Pairs are kept while no body has moved further than half the distance by which the search reached beyond the
surfaces (lists of neighbors, L. Verlet 1967), and so are their *colors*: pairs of one color share no body.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import kinetree.collision.pairs  # noqa: F401  # enters the laws
from kinetree.collision.laws import law_of
from kinetree.collision.shape import LENGTHS, PlacedShape
from kinetree.compiler.row_function import RowFunction
from kinetree.contact.pile_rows import FRAME
from kinetree.errors import UnsupportedError
from kinetree.native.drivers import Indexed
from kinetree.once import once
from kinetree.spatial import Matrix3, Vector3

SIZES = 3
"""Lengths of a shape, filled up with zeros."""

POINTS = 64
"""More than the candidate points of any pair."""

LARGE = 3.0
"""Bodies so many times larger than the median are compared with all others one by one."""


@dataclass(frozen=True, slots=True)
class PointLaw:
    """The candidate points of two kinds of shapes as a function over rows."""

    count: int
    points: RowFunction


@once
def point_law(first: str, second: str) -> PointLaw:
    """The law of two kinds; inputs are frames and sizes of both, a row of the result has 7 numbers for each point.

    Raises
    ------
    UnsupportedError
        There is none.
    """
    if (found := law_of(first, second)) is None:
        raise UnsupportedError(f"pile: no contact law for a {first} and a {second}")
    law, turned = found
    lengths = {kind: len(LENGTHS[kind]) for kind in (first, second)}

    def placed(kind, frame, size) -> PlacedShape:
        R = Matrix3((tuple(frame[3:6]), tuple(frame[6:9]), tuple(frame[9:12])))
        return PlacedShape(kind, tuple(size[: lengths[kind]]), Vector3(*frame[:3]), R)

    def points(a, size_a, b, size_b) -> list:
        shapes = placed(first, a, size_a), placed(second, b, size_b)
        found = law.points(*shapes[:: -1 if turned else 1])
        sign = -1.0 if turned else 1.0
        return [x for p in found for x in (p.gap, *p.position, *(p.normal * sign))]

    unit = [0.0] * 3 + [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] + [1.0] * 4
    far = [0.3, 0.4, 5.0, *unit[3:]]
    count = len(points(unit, [1.0] * SIZES, far, [1.0] * SIZES)) // 7
    name = f"contact points of {first} and {second}"
    inputs = f"a[{FRAME}] size_a[{SIZES}] b[{FRAME}] size_b[{SIZES}]"
    function = RowFunction(name, points, inputs, f"points[{7 * count}]")
    return PointLaw(count, function)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidate points of pairs, in the order of their keys; n points.

    Attributes
    ----------
    rows : (n,) array of int64
        Their places in `points`.
    first, second : (n,) array of int64
        Rows of the bodies.
    color : (n,) array of int
        Points of one color share no body that moves.
    keys : (n,) array of int64
        The same for the same point of two bodies in all searches.
    points : (n + 1, 7) array
        Gap, position and normal, as of the last call of `Neighbors.evaluate`; the last row stands for no point.
    """

    rows: np.ndarray
    first: np.ndarray
    second: np.ndarray
    color: np.ndarray
    keys: np.ndarray
    points: np.ndarray


class Neighbors:
    """The pairs of a pile that may touch, searched again when bodies have moved.

    Parameters
    ----------
    kinds : sequence of str
        Of the bodies, then of the planes.
    sizes : (n, SIZES) array
    radii : (n,) array
        Of spheres around the bodies; infinite for planes.
    moves : (n,) array of bool
        Two bodies that do not move make no pair.
    frames : (n + 1, FRAME) array
        Read at every search and by `evaluate`.
    """

    def __init__(self, kinds, sizes, radii, moves, frames) -> None:
        self.kinds, self.sizes, self.radii, self.moves, self.frames = np.array(kinds), sizes, radii, moves, frames
        self.bodies = np.flatnonzero(np.isfinite(radii))
        self.planes = np.flatnonzero(~np.isfinite(radii))
        self.candidates: Candidates
        self._laws: list[Indexed] = []
        self.skin, self.at = 0.0, None
        self.searches = 0

    def update(self, reach: np.ndarray) -> None:
        """Search where needed: afterwards all points with a gap below the sum of both bodies' reach are found."""
        x = self.frames[self.bodies, :3]
        if self.at is not None:
            moved = np.sqrt(((x - self.at) ** 2).sum(axis=1)) + reach[self.bodies]
            if 2.0 * moved.max(initial=0.0) < self.skin:
                return
        typical = np.median(self.radii[self.bodies]) if len(self.bodies) else 0.0
        self.skin = max(0.1 * typical, 6.0 * reach.max(initial=0.0))
        self.at = x.copy()
        self._search(x)

    def evaluate(self) -> None:
        """The candidate points of all pairs at the present frames."""
        for law in self._laws:
            law()

    def _search(self, x: np.ndarray) -> None:
        self.searches += 1
        found = np.concatenate([self._of_planes(x), self._of_bodies(x)])
        found = found[self.moves[found].any(axis=1)]
        color = colors(found, self.moves)
        kinds = np.char.add(np.char.add(self.kinds[found[:, 0]], "/"), self.kinds[found[:, 1]]) if len(found) else []
        chosen = {both: np.flatnonzero(kinds == both) for both in sorted(set(kinds))}
        laws = [point_law(*both.split("/")) for both in chosen]
        total = sum(law.count * len(which) for law, which in zip(laws, chosen.values(), strict=True))
        points = np.zeros((total + 1, 7))
        points[-1, -1] = 1.0
        self._laws, pair, place, done = [], np.empty(total, np.int64), np.empty(total, np.int64), 0
        for law, which in zip(laws, chosen.values(), strict=True):
            of_law = slice(done, done := done + law.count * len(which))
            pair[of_law], place[of_law] = np.repeat(which, law.count), np.tile(np.arange(law.count), len(which))
            self._laws.append(self._evaluation(law, found[which], points[of_law].reshape(-1, 7 * law.count)))
        first, second = found[pair].T
        keys = (first * len(self.frames) + second) * POINTS + place
        order = np.argsort(keys)
        given = (np.ascontiguousarray(x[order]) for x in (first, second, color[pair] * POINTS + place, keys))
        self.candidates = Candidates(order, *given, points)

    def _evaluation(self, law: PointLaw, rows: np.ndarray, points: np.ndarray) -> Indexed:
        """The call that evaluates the points of pairs of two kinds."""
        a, b = np.ascontiguousarray(rows.T)
        given = {"a": (self.frames, a), "b": (self.frames, b), "size_a": (self.sizes, a), "size_b": (self.sizes, b)}
        return law.points.indexed(len(rows), given, {"points": points})

    def _of_planes(self, x: np.ndarray) -> np.ndarray:
        """Pairs of planes and bodies."""
        found = [np.empty((0, 2), np.int64)]
        for plane in self.planes:
            normal, origin = self.frames[plane, [5, 8, 11]], self.frames[plane, :3]
            near = (x - origin) @ normal - self.radii[self.bodies] < self.skin
            second = self.bodies[near]
            found.append(np.stack([np.full_like(second, plane), second], axis=1))
        return np.concatenate(found)

    def _of_bodies(self, x: np.ndarray) -> np.ndarray:
        """Pairs of bodies whose spheres are nearer than the skin, each with the kind of lesser name first."""
        from scipy.spatial import cKDTree  # here: it takes 0.1 s

        radii = self.radii[self.bodies]
        large = radii > LARGE * np.median(radii) if len(radii) else np.zeros(0, bool)
        small = np.flatnonzero(~large)
        tree = cKDTree(x[small])
        reach = 2.0 * radii[small].max(initial=0.0) + self.skin
        found = [small[tree.query_pairs(reach, output_type="ndarray").reshape(-1, 2)]]
        for k in np.flatnonzero(large):
            others = np.flatnonzero(~large | (np.arange(len(radii)) > k))
            found.append(np.stack([np.full_like(others, k), others], axis=1))
        pairs = np.concatenate(found)
        a, b = pairs.T
        d = x[a] - x[b]
        near = np.einsum("nk,nk->n", d, d) < (radii[a] + radii[b] + self.skin) ** 2
        pairs = self.bodies[pairs[near]]
        names = self.kinds[pairs]
        turned = (names[:, 0] > names[:, 1]) | ((names[:, 0] == names[:, 1]) & (pairs[:, 0] > pairs[:, 1]))
        pairs[turned] = pairs[turned, ::-1]
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def colors(pairs: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Colors of pairs such that those of one color share no body that moves: for each the first one that is free."""
    used = [0] * len(moves)
    free = moves.tolist()
    found = np.empty(len(pairs), np.int64)
    for k, (a, b) in enumerate(pairs.tolist()):
        taken = (used[a] if free[a] else 0) | (used[b] if free[b] else 0)
        bit = ~taken & (taken + 1)
        used[a] |= bit
        used[b] |= bit
        found[k] = bit.bit_length() - 1
    return found
