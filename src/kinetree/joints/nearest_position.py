"""The position of a joint next to a relative pose, for joints without a closed form of it when they close a loop.

The nearest of some sampled positions starts Gauss-Newton steps on the manifold, of a fixed number, over any scalar.
The last ones also carry the derivatives of the pose, so that these are exact where the joint can reach it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kinetree.errors import UnsupportedError
from kinetree.joints.dual import Dual, value_of
from kinetree.liegroup.se3 import log_se3
from kinetree.once import once
from kinetree.spatial import Force, Transform, Vector3
from kinetree.spatial.rotation import rotation_from_matrix
from kinetree.spatial.scalar import sqrt, where

SAMPLES = 24  # for each freedom, up to three
STEPS = 6
SHIFT = 1e-13  # of the squares of S: its rank may drop at single positions
RANK = 1e-6  # of S, from rank to rounding


def nearest_position(joint, X: Transform) -> list:
    """The q whose pose ``joint.transform(q)`` is next to X, of those near one of the samples.

    Notes
    -----
    With the error u = log(X X_J^-1), a twist in successor coordinates as S is, q moves by the dv for which S dv is
    nearest to u.
    """
    X = X.collapse()
    E, plain = X.E.matrix.rows, X
    if moving := any(isinstance(x, Dual) for x in (*X.r, *(x for row in E for x in row))):
        turn = [[value_of(x) for x in row] for row in E]
        plain = Transform(rotation_from_matrix(turn), Vector3(*(value_of(x) for x in X.r)))
    q = _start(joint, plain)
    for _ in range(STEPS):
        q = _improved(joint, q, plain)
    for _ in range(2 if moving else 0):
        q = _improved(joint, q, X)
    return q


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


def _start(joint, X: Transform) -> list:
    """The sampled position with the least distance of pose, squared."""
    E, squares = X.E.matrix.rows, []
    for q, turn, place in _samples(joint):
        square = -2.0 * sum((_product(row, other) for row, other in zip(E, turn, strict=True)), start=0.0)
        for x, y in zip(X.r, place, strict=True):
            square = square + (x - y) * (x - y)
        squares.append((square, q))
    return of_least(squares)


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
def _samples(joint) -> tuple:
    """Positions all over the joint's range, and the orientation and the place of each."""
    rng, found = np.random.default_rng(0), []
    many = SAMPLES * min(joint.nv, 3)
    for q in (joint.neutral(), *(joint.random(rng) for _ in range(many if joint.nv else 0))):
        X = joint.transform(q).collapse()
        turn = tuple(tuple(float(x) for x in row) for row in X.E.matrix.rows)
        found.append((tuple(map(float, q)), turn, tuple(map(float, X.r))))
    return tuple(found)


@once(most=1)
def _frame() -> np.ndarray:
    """Six orthonormal columns in no special direction, so that no S of an ordinary joint is opposite to one."""
    return np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]


def _improved(joint, q, X: Transform) -> list:
    error = log_se3(X @ joint.transform(q).inverse())
    S = [list(column) for column in joint.motion_subspace(q)]
    return list(joint.integrate(q, _least(S, list(error))))


def _least(S, u) -> list:
    """The v for which S v is nearest to u, by the normal equations."""
    A = [[_product(a, b) for b in S] + [_product(a, u)] for a in S]
    shift = sum((row[k] for k, row in enumerate(A)), start=0.0) * SHIFT
    for k, row in enumerate(A):
        row[k] = row[k] + shift
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
