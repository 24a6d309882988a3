"""The position of a joint next to a relative pose, for joints without a closed form of it when they close a loop.

The nearest of some sampled positions starts steps on the manifold, of a fixed number, over any scalar: Gauss-Newton's
where these find all of a joint's positions from their poses, else Levenberg and Marquardt's from several starts. How
many are needed is tried out for each joint. The last steps also carry the derivatives of the pose, so that these are
exact where the joint can reach it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kinetree.errors import UnsupportedError
from kinetree.joints.dual import value_of
from kinetree.liegroup.se3 import log_se3
from kinetree.once import once
from kinetree.spatial import Force, Transform, Vector3
from kinetree.spatial.rotation import rotation_from_matrix
from kinetree.spatial.scalar import arctan2, detach, repeated, sincos, sqrt, where

LAST = 3  # steps of Gauss and Newton at the end of each search
THOROUGH, STEPS = 4000, 20  # positions of `least_gap`, and the steps from the best tenth of them
SHIFT = 1e-13  # of the squares of S: its rank may drop at single positions
WAY = 1e-12  # of the squares of coordinates, beside the square of an error
TINY = 1e-300  # where all of S vanishes
RANK = 1e-6  # of S, from rank to rounding
DAMPING, LESS, MORE = 1e-2, 0.1, 10.0  # of Levenberg and Marquardt's steps, relative to the squares of each velocity
TRIED, FOUND = 1000, 1e-6  # positions of each extent where a search is tried out; of an orientation's matrix, a place


@dataclass(frozen=True, slots=True)
class Search:
    """How many ways a search follows at once, and for how many steps, before it goes on with the best of them."""

    samples: int
    """Of which the nearest one begins each way."""
    stages: tuple[tuple[int, int], ...]


SEARCHES = (Search(24, ((4, 10),)), Search(12, ((12, 4), (4, 8))), Search(8, ((40, 2), (10, 4), (2, 8))))
"""In the order of their costs, for joints that single steps of Gauss and Newton do not find."""

EXTENTS = 1.0, 1.0, 2.0, 4.0
"""Of their samples in turn, as multiples of random positions: screws and racks turn more than once."""

QUICK = 24  # samples of the search with Gauss and Newton's steps alone, for each freedom, up to three
FAR = 2.0  # extent of the positions that a search must find


def nearest_position(joint, X: Transform) -> list:
    """The q whose pose ``joint.transform(q)`` is next to X, of those that are reached from samples.

    Of several at the same pose it is that next to the neutral position; angles have no whole turns.

    Notes
    -----
    With the error u = log(X X_J^-1), a twist in successor coordinates as S is, q moves by the dv for which S dv is
    nearest to u.
    """
    return _found(joint, X, _search(joint))


def least_gap(joint, X: Transform, now=None) -> float:
    """The least distance [rad, m] from a pose that is found from thousands of positions: the joint's reach, or nearly.

    Parameters
    ----------
    joint : Joint
    X : Transform
        In floats.
    now : Joint, optional
        The joint at the time, if it depends on time.
    """
    now = now or joint
    q = _positions(joint)
    with np.errstate(all="ignore"):
        squares = _square(X.collapse(), now.transform(list(q)).collapse())
        nearest = np.argsort(np.broadcast_to(squares, q.shape[1:]))[: THOROUGH // 10]
        return float(np.sqrt(np.nanmin(_descended(now, list(q[:, nearest]), X, STEPS)[0])))


@once(most=16)
def _positions(joint) -> np.ndarray:
    """Those of `least_gap`, one in each column."""
    rng, joint = np.random.default_rng(2), joint.at(0.0)
    return np.array([random_position(joint, rng, EXTENTS[n % len(EXTENTS)]) for n in range(THOROUGH)]).T


def _found(joint, X: Transform, search: Search | None) -> list:
    X = X.collapse()
    plain = [[detach(value_of(x)) for x in row] for row in (*X.E.matrix.rows, X.r)]
    at = Transform(rotation_from_matrix(plain[:3]), Vector3(*plain[3]))
    if search is None:
        q = _start(_samples(joint, QUICK * min(joint.nv, 3) + 1, (1.0,)), at)
        for _ in range(LAST):
            q = _improved(joint, q, at)
    else:
        q = _best(joint, at, search)
    q = [arctan2(*sincos(detach(x))) if wraps else detach(x) for x, wraps in zip(q, joint.wraps, strict=True)]
    if joint.several_charts:  # samples of large extents are near the edges of their charts
        q = joint.reparameterize(q, [0.0] * joint.nv)[0]
    for _ in range(LAST):
        q = _improved(joint, q, X)
    return q


def _best(joint, X: Transform, search: Search) -> list:
    """The end of the best way from samples."""
    many = search.stages[0][0]
    samples = _samples(joint, many * search.samples, tuple(x for x in EXTENTS for _ in range(many)))
    ways = [_start(samples[k::many], X) for k in range(many)]
    for (_, steps), (kept, _) in pairwise((*search.stages, (1, 0))):
        ends = [_judged(joint, *_descended(joint, q, X, steps)) for q in ways]
        ways = [of_least(ends[k::kept]) for k in range(kept)]
    return ways[0]


def _judged(joint, square, q) -> tuple:
    """The error with a small part for the way from the neutral position, which decides where several ways arrive."""
    way = [x - y for x, y in zip(q, joint.neutral(), strict=True)]
    return square + WAY * _product(way, way), q


@once(most=64)
def _search(joint) -> Search | None:
    """The cheapest search that finds random positions of the joint from their poses; None if single steps do."""
    rng = np.random.default_rng(1)
    tried = [random_position(joint, rng, extent) for extent in (1.0, FAR) for _ in range(TRIED)]
    q = list(np.array(tried, dtype=float).T)
    with np.errstate(all="ignore"):
        X = joint.transform(q).collapse()
        for search in (None, *SEARCHES[:-1]):
            E = X @ joint.transform(_found(joint, X, search)).inverse()
            turned = [abs(x - (m == n)) for m, row in enumerate(E.E.matrix.rows) for n, x in enumerate(row)]
            if all(np.all(x < FOUND) for x in (*turned, *map(abs, E.r))):
                return search
    return SEARCHES[-1]


def nearest_form(joint, X: Transform) -> tuple[list, tuple[Force, ...]]:
    """`Joint.implicit` about the nearest position: the components of the remaining twist across the motions of S.

    Notes
    -----
    T is the part, orthogonal to S, of an orthonormal frame of six generic columns that Householder's reflections turn
    into S: smooth, and without a pivot, wherever S has full rank and is not opposite to the frame.
    """
    q = nearest_position(joint, X)
    S = [list(column) for column in joint.motion_subspace(q)]
    frame = _frame().tolist()
    reflections = []
    for k, column in enumerate(_orthonormal(S)):
        for u, scale in reflections:
            column = _reflected(column, u, scale)
        along = sum((x * y for x, y in zip(column, frame[k], strict=True)), start=0.0)
        reflections.append(([x + y for x, y in zip(column, frame[k], strict=True)], 1.0 / (1.0 + along)))
    T = []
    for column in frame[len(S) :]:
        for u, scale in reversed(reflections):
            column = _reflected(column, u, scale)
        T.append(Force.of(column))
    error = log_se3(X @ joint.transform(q).inverse())
    return [column.dot(error) for column in T], tuple(T)


def nearest_coordinates(joint, X: Transform) -> tuple[list, tuple[Force, ...]]:
    """`Joint.loop_coordinates` of the nearest position; exact where the joint can reach X."""
    q = nearest_position(joint, X)
    S = [list(column) for column in joint.motion_subspace(q)]
    units = [[float(k == n) for k in range(6)] for n in range(6)]
    columns = [_least(S, unit) for unit in units]
    return q, tuple(Force.of([column[m] for column in columns]) for m in range(joint.nv))


def require_form(joint) -> None:
    """Raise an error unless a joint has a nearest position: its motions are independent somewhere, and without time.

    Raises
    ------
    UnsupportedError
    """
    if joint.rheonomic:
        raise UnsupportedError(
            f"{joint!r} has no implicit form: it has freedoms and depends on time, so it cannot close a loop. Put it "
            "into the tree and close the loop with another joint. A Prescribed joint whose velocities are the rates of "
            "its coordinates, or a moving frame without freedoms have one.",
            joint=joint,
        )
    _require_full_rank(joint)


@once(most=256)
def _require_full_rank(joint) -> None:
    rng, best = np.random.default_rng(0), 0
    for q in (joint.neutral(), *(joint.random(rng) for _ in range(4))):
        S = np.array([list(column) for column in joint.motion_subspace(q)], dtype=float).reshape(-1, 6)
        best = max(best, int((np.linalg.svd(S, compute_uv=False) > RANK).sum()))
    if best < joint.nv:
        raise UnsupportedError(
            f"{joint!r} has {joint.nv} velocities and {best} independent motions, so it has no implicit form and "
            "cannot close a loop; put it into the tree and close the loop with another joint, or give "
            f"{type(joint).__name__} an implicit(X) method.",
            joint=joint,
        )


def _start(samples, X: Transform) -> list:
    """The sampled position with the least distance of pose, squared."""
    return of_least([(_square(X, place), q) for q, place in samples])


def _square(X: Transform, other: Transform):
    """The square of the distance of two poses, less a constant."""
    pairs = zip(X.E.matrix.rows, other.E.matrix.rows, strict=True)
    square = -2.0 * sum((_product(row, turned) for row, turned in pairs), start=0.0)
    for x, y in zip(X.r, other.r, strict=True):
        square = square + (x - y) * (x - y)
    return square


def of_least(candidates: Iterable[tuple[object, Sequence]]) -> list:
    """The list with the least number, of pairs of a number and a list, over any scalar."""
    least, found = None, []
    for x, values in candidates:
        if least is None:
            least, found = x, list(values)
            continue
        nearer = x < least
        least = where(nearer, x, least)
        found = [where(nearer, new, old) for new, old in zip(values, found, strict=True)]
    return found


@once(most=64)
def _samples(joint, many: int, extents: tuple[float, ...]) -> tuple:
    """Positions all over the joint's range, and the poses there."""
    rng = np.random.default_rng(0)
    found = (joint.neutral(), *(random_position(joint, rng, extents[n % len(extents)]) for n in range(1, many)))
    return tuple((tuple(map(float, q)), joint.transform(q).collapse()) for q in found)


def random_position(joint, rng, extent: float) -> list[float]:
    """A random position, by so many times its way from the neutral one."""
    q = joint.random(rng)
    if extent == 1.0:
        return q
    neutral = joint.neutral()
    return [float(x) for x in joint.integrate(neutral, [extent * x for x in joint.difference(neutral, q)])]


@once(most=1)
def _frame() -> np.ndarray:
    """Six orthonormal columns in no special direction, so that no S of an ordinary joint is opposite to one."""
    return np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]


def _error(joint, q, X: Transform) -> list:
    return list(log_se3(X @ joint.transform(q).inverse()))


def _improved(joint, q, X: Transform) -> list:
    """A step of Gauss and Newton."""
    S = [list(column) for column in joint.motion_subspace(q)]
    return list(joint.integrate(q, _least(S, _error(joint, q, X))))


def _descended(joint, q, X: Transform, steps: int) -> tuple:
    """Levenberg and Marquardt's steps: the square of the error, which they never increase, and the position there."""
    u, S = _error(joint, q, X), [list(column) for column in joint.motion_subspace(q)]
    square, damping = _product(u, u), DAMPING
    for _ in repeated(range(steps), [square]):
        tried = list(joint.integrate(q, _least(S, u, damping)))
        u_tried, S_tried = _error(joint, tried, X), joint.motion_subspace(tried)
        square_tried = _product(u_tried, u_tried)
        better = square_tried < square
        q, u = _chosen(better, tried, q), _chosen(better, u_tried, u)
        S = [_chosen(better, list(new), old) for new, old in zip(S_tried, S, strict=True)]
        square, damping = where(better, square_tried, square), damping * where(better, LESS, MORE)
    return square, q


def _chosen(condition, new, old) -> list:
    return [where(condition, x, y) for x, y in zip(new, old, strict=True)]


def _least(S, u, damping=0.0) -> list:
    """The v for which S v is nearest to u, by the normal equations; shorter with damping."""
    A = [[_product(a, b) for b in S] + [_product(a, u)] for a in S]
    shift = sum((row[k] for k, row in enumerate(A)), start=0.0) * SHIFT + TINY
    for k, row in enumerate(A):
        row[k] = row[k] * (1.0 + damping) + shift
    n = len(S)
    for k in range(n):  # Gauss and Jordan
        A[k] = [x / A[k][k] for x in A[k]]
        for m in range(n):
            if m != k:
                A[m] = [x - A[m][k] * y for x, y in zip(A[m], A[k], strict=True)]
    return [row[n] for row in A]


def _orthonormal(S) -> list[list]:
    """Gram and Schmidt, twice is enough."""
    found: list[list] = []
    for column in S:
        for _ in range(2):
            for other in found:
                along = _product(column, other)
                column = [x - along * y for x, y in zip(column, other, strict=True)]
            size = 1.0 / sqrt(_product(column, column))
            column = [x * size for x in column]
        found.append(column)
    return found


def _reflected(x, u, scale) -> list:
    along = _product(x, u) * scale
    return [a - along * b for a, b in zip(x, u, strict=True)]


def _product(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0.0)
