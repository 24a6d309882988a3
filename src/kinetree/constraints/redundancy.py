"""Independent rows of loops: a subset that is valid at every generic position, chosen once.

In mechanisms such as a planar four-bar, loops have redundant rows. Which rows to leave out must not depend on the
state, so they are chosen from the rank of G at many closed positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from kinetree.constraints.contradictions import cannot_close, least_errors
from kinetree.errors import ConstraintError
from kinetree.state_kinematics import Kinematics

SAMPLES, NEWTON, ENOUGH = 24, 60, 20  # positions; iterations at most, and if some positions are closed
CLOSED = 1e-10  # [m, rad]
ROUNDING = 1e-9  # of the natural size of a row: less is left of rows that others imply exactly
INEXACT = 1e-8  # of the natural size: larger misfits are decimals of a file or errors of placements
DEPENDENT = 5e-3  # of the natural size: less are the decimals of a file, and deflections that real joints allow
MISFIT = 1e-2  # of the natural size: larger least errors are contradictions
FREQUENT = 0.75  # a row is needed if it is independent at a quarter of the positions, as on one of several branches
EXCHANGES, GAIN = 3, 1.2  # of rows for others; only for singular values that are larger by so much
SINGULAR = 1e-3  # positions at which all rows together lose a rank decide nothing
SMALLEST = 1e-6  # of what is left of a row at one position, so that a singular one among many decides nothing
WALKS, FAR = 4, 0.8  # steps along the motions that are left, and the size of each [rad, m]
SPREAD = 0.1  # [rad, m] by which each start is farther from the neutral position than the one before
LARGE = 64  # velocities of loops that share joints, from which steps are by normal equations instead of SVD


class LoopRows(NamedTuple):
    """The choice among the rows of a model.

    Attributes
    ----------
    kept : tuple of int
        Numbers of the rows that are solved for; those of eliminated constraints and of bounded forces are all kept.
    typical : mapping
        Of rows that are not eliminated: for each velocity coordinate in a row, its typical entry.
    natural : mapping
        Of the same rows, the size of entries that are not rounding: 1 for moments, levers for forces.
    redundant : tuple of int
        Rows that others imply.
    rounding : tuple of int
        Rows that others imply but for rounding, such as the decimals of a file.
    misfits : mapping
        Of both, how far others imply them: of the row, relative to its natural size, and of its error of position.
    gap : float
        The largest error of position of the best closed position found [m or rad].
    positions : (samples, nq) array or None
        The closed positions from which the rows were chosen; None without loops.
    """

    kept: tuple[int, ...]
    typical: Mapping[int, Mapping[int, float]]
    natural: Mapping[int, float]
    redundant: tuple[int, ...] = ()
    rounding: tuple[int, ...] = ()
    misfits: Mapping[int, float] = MappingProxyType({})
    gap: float = 0.0
    positions: np.ndarray | None = None

    @property
    def inexact(self) -> frozenset[int]:
        """Rows that are left out and do not hold exactly where the others do: no state is refused for them."""
        return frozenset(self.rounding).union(n for n in self.redundant if self.misfits[n] > INEXACT)

    @property
    def coordinates(self) -> dict[int, dict[int, float]]:
        """``typical`` of the kept rows."""
        kept = set(self.kept)
        return {n: entries for n, entries in self.typical.items() if n in kept}


def loop_rows(model) -> LoopRows:
    """The rows to solve for among those of ``model.constraints``.

    Notes
    -----
    Closed positions are found by Newton's method from random ones about the neutral position. Rows are divided by their
    natural sizes; then the row is taken, one after another, of which most remains beside those taken before: by the
    product of the geometric mean over the samples and the lower decile. Rows of eliminated constraints come first. Then
    rows are exchanged while their least singular value, relative to that of all rows, grows at the worst sample: of the
    ten pairs of rows of Bennett's linkage two are regular all around, and the better of these is taken.
    Where a mechanism has branches of several ranks, rows are taken for the largest.
    """
    equalities, loops = _equalities(model)
    everything = range(model.nc)
    if not loops:
        return LoopRows(tuple(everything), MappingProxyType({}), MappingProxyType({}))
    samples = closed_positions(model, np.random.default_rng(0))
    G, numbers, free = samples.rows, samples.numbers, {n for _, of in loops for n in of}
    size, natural = np.abs(G).max(axis=(0, 2)), np.ones(len(numbers))
    for c, of in equalities:
        mine = np.isin(numbers, of)
        natural[mine] = c.natural_sizes(model, size[mine])
    _require_closed(model, samples, natural)
    scaled = G / np.where(natural > 0.0, natural, 1.0)[None, :, None]
    given = np.array([n not in free for n in numbers])
    chosen, exact, misfits = set(), set(), {}
    errors = np.median(np.abs(samples.errors), axis=0) / np.where(natural > 0.0, natural, 1.0)
    for rows, columns in samples.groups:
        taken, rest = _independent(scaled[:, rows][:, :, columns], given[rows])
        chosen |= {numbers[m] for m in rows[taken]}
        exact |= {numbers[m] for m in rows[~taken & (rest < ROUNDING)]}
        misfits |= {numbers[m]: float(max(x, errors[m])) for m, x in zip(rows[~taken], rest[~taken], strict=True)}
    entries = np.sqrt((G * G).mean(axis=0))
    of_loops = [(m, n) for m, n in enumerate(numbers) if n in free]
    typical = {
        n: MappingProxyType({k: float(entries[m, k]) for k in sorted(samples.coordinates[m])}) for m, n in of_loops
    }
    samples.q.setflags(write=False)
    return LoopRows(
        tuple(n for n in everything if n in chosen or n not in free),
        MappingProxyType(typical),
        MappingProxyType({n: float(natural[m]) for m, n in of_loops}),
        tuple(sorted(exact)),
        tuple(sorted(free - chosen - exact)),
        MappingProxyType({n: misfits.get(n, 0.0) for n in sorted(free - chosen)}),
        samples.gap,
        samples.q,
    )


def kept_equalities(model, positions, eliminated: bool = True) -> np.ndarray:
    """The rows (n, rows, nv) that are kept, eliminated ones or not, at positions (n, nq)."""
    choice = model.loop_rows()
    kept = [n for n in choice.kept if eliminated or n in choice.typical]
    equalities, _ = _equalities(model)
    rows = _equations(model.snapshot(0.0), [c for c, _ in equalities], positions)[1]
    return rows[:, np.isin([n for _, of in equalities for n in of], kept)]


def _independent(rows, given):
    """Which rows (samples, rows, columns) to take besides those given, and what is left of each at most."""
    left, taken = rows, given.copy()
    for row in np.flatnonzero(taken):
        left = _without(left, row)
    while not taken.all():
        norms = np.linalg.norm(left, axis=2)
        usable = ~taken & (np.quantile(norms, FREQUENT, axis=0) > DEPENDENT)
        if not usable.any():
            break
        norms = np.maximum(norms, SMALLEST)
        score = np.exp(np.log(norms).mean(axis=0)) * np.quantile(norms, 0.1, axis=0)
        row = int(np.argmax(np.where(usable, score, 0.0)))
        taken[row] = True
        left = _without(left, row)
    return _exchanged(rows, taken, given), np.linalg.norm(left, axis=2).max(axis=0, initial=0.0)


def _exchanged(rows, taken, given):
    """Rows whose least singular value is nearest to that of all rows everywhere, by exchanges of one row at a time."""
    size = np.abs(rows).max(axis=(0, 2))
    if not (taken & ~given).any() or not (~taken & (size > DEPENDENT)).any():
        return taken
    unit = rows / np.where(size > 0.0, size, 1.0)[None, :, None]
    possible = np.linalg.svd(unit, compute_uv=False)[:, taken.sum() - 1]
    regular = possible > SINGULAR * possible.max()

    def quality(mask) -> float:
        least = np.linalg.svd(unit[regular][:, mask], compute_uv=False)[:, -1]
        return float((least / possible[regular]).min())

    for _ in range(EXCHANGES):
        found, best = taken, GAIN * quality(taken)
        for old in np.flatnonzero(taken & ~given):
            for new in np.flatnonzero(~taken & (size > DEPENDENT)):
                other = taken.copy()
                other[[old, new]] = False, True
                if (found_quality := quality(other)) > best:
                    found, best = other, found_quality
        if found is taken:
            break
        taken = found
    return taken


def _equalities(model):
    """The equality constraints with the numbers of their rows: all, and those that are not eliminated."""
    found = [(c, numbers) for c, numbers in model.constraint_rows() if c.row_kind == "equality"]
    return found, [(c, numbers) for c, numbers in found if not c.velocity_map(Kinematics(model, ()))]


def _without(left, row: int):
    """Rows (samples, rows, nv) without their parts along one of them."""
    norms = np.linalg.norm(left[:, row], axis=1)
    unit = left[:, row] / np.where(norms > 0.0, norms, 1.0)[:, None]
    return left - (left @ unit[:, :, None]) * unit[:, None, :]


class Samples(NamedTuple):
    """Closed positions, or the best that Newton's method found.

    Attributes
    ----------
    q : (samples, nq) array
    errors : (samples, rows) array
        phi of the rows of equalities.
    rows : (samples, rows, nv) array
    coordinates : list of set of int
        For each row the velocity coordinates in it.
    numbers : list of int
        Of the rows among those of the model.
    groups : list of (array, array)
        Rows, and velocity coordinates, of constraints that share joints.
    """

    q: np.ndarray
    errors: np.ndarray
    rows: np.ndarray
    coordinates: list[set[int]]
    numbers: list[int]
    groups: list[tuple[np.ndarray, np.ndarray]]

    @property
    def gap(self) -> float:
        """The largest error of position [m or rad] of the best sample."""
        return float(np.abs(self.errors).max(axis=1, initial=0.0).min())


def _require_closed(model, samples, natural) -> None:
    """Raise ConstraintError for loops that cannot close, by more than the decimals of a file."""
    now, (equalities, _) = model.snapshot(0.0), _equalities(model)
    by_row, scale = [c for c, of in equalities for _ in of], np.where(natural > 0.0, natural, 1.0)
    for rows, columns in samples.groups:
        gaps = np.nan_to_num(np.abs(samples.errors[:, rows] / scale[rows]), nan=np.inf).max(axis=1)
        if gaps.min() <= MISFIT:
            continue
        every = [c for c, _ in equalities]
        misfits, stuck = _misfits(now, every, samples.q, rows, columns, by_row)
        if not stuck or max(misfits.values()) <= CLOSED:
            continue
        alone = []
        for c in misfits:
            mine = np.array([n for n in rows if by_row[n] is c])
            (own,), surely = _misfits(now, every, samples.q, mine, columns, by_row)[0].values(), stuck
            if surely and own > MISFIT * scale[mine].max():
                alone.append((c, own))
        raise cannot_close(model, misfits, alone)


def _misfits(model, constraints, q, rows, columns, by_row) -> tuple[dict, bool]:
    """The error of each constraint at the position of least error, and whether there is a minimum."""
    _, errors, stationary = least_errors(
        model, lambda q: _equations(model, constraints, q)[:2], lambda q, step: _moved(model, q, step), q, rows, columns
    )
    found: dict = {}
    for n, x in zip(rows, errors, strict=True):
        found[by_row[n]] = float(np.hypot(found.get(by_row[n], 0.0), x))
    return found, stationary


def closed_positions(model, rng, count: int = SAMPLES) -> Samples:
    """Closed positions by Newton's method, for all samples at once, from random starts about the neutral position.

    The last starts are about the model's keyframes, up to half of them: those of files are closed as a rule.
    From there some walk on along the motions that are left, if there are rows to choose from: these may be independent
    in one part of a motion alone. Constraints that share no joints are closed apart. Of each group positions that were
    not closed are replaced by others that were.
    """
    start, spread = np.tile(model.neutral(), (count, 1)), SPREAD * np.arange(1, count + 1)
    for n, name in enumerate(getattr(model, "keyframes", ())[: count // 2], start=1):
        start[-n], spread[-n] = model.keyframe(name)[0], SPREAD
    model = model.snapshot(0.0)
    equalities, _ = _equalities(model)
    constraints, numbers = [c for c, _ in equalities], [n for _, of in equalities for n in of]
    q = _moved(model, start, _with_gears(model, spread[:, None] * rng.standard_normal((count, model.nv))))
    phi, G, coordinates = _equations(model, constraints, q)
    groups = _groups(coordinates)
    q, phi, G = _closed(model, constraints, groups, q, phi, G)
    ahead = rng.standard_normal((count, model.nv))
    for n in range(WALKS if _leave_choices(groups, G) else 0):
        ahead = _along(groups, G, ahead)
        walks = np.arange(count) % (WALKS + 1) > n
        start = _moved(model, q, np.where(walks[:, None], FAR * ahead, 0.0))
        found = _closed(model, constraints, groups, start, *_equations(model, constraints, start)[:2])
        arrived = walks & (np.abs(found[1]).max(axis=1, initial=0.0) <= CLOSED)
        q, phi, G = (np.where(arrived.reshape(-1, *[1] * (new.ndim - 1)), new, old)
                     for new, old in zip(found, (q, phi, G), strict=True))  # fmt: skip
    for rows, columns in groups:
        gaps = np.nan_to_num(np.abs(phi[:, rows]).max(axis=1), nan=np.inf)
        if not np.isfinite(gaps).any():
            raise _nowhere_finite(model, equalities, {numbers[n] for n in rows[~np.isfinite(phi[:, rows]).any(axis=0)]})
        best = np.flatnonzero(gaps <= max(CLOSED, 10.0 * gaps.min()))
        at = _positions(model, set(columns.tolist()))
        q[:, at] = q[:, at][best[np.arange(count) % len(best)]]
    phi, G, _ = _equations(model, constraints, q)
    return Samples(q, phi, G, coordinates, numbers, groups)


def _nowhere_finite(model, equalities, numbers) -> ConstraintError:
    """The error for laws whose functions have no value at any of the positions."""
    bad = [c for c, of in equalities if not numbers.isdisjoint(of)] or [c for c, _ in equalities]
    return ConstraintError(
        f"model {model.name!r}: the {bad[0]} has no finite value at any position tried about the neutral one and the "
        "keyframes; is its function defined there? Give the model a keyframe inside the domain of the function"
    )


def _closed(model, constraints, groups, q, phi, G):
    """Positions by Newton's method, their errors and rows."""
    count = len(q)
    for n in range(NEWTON):
        step, unfinished = np.zeros((count, model.nv)), False
        for rows, columns in groups:
            gaps, block = np.abs(phi[:, rows]).max(axis=1), G[:, rows][:, :, columns]
            away = (gaps > CLOSED) & np.isfinite(gaps) & np.isfinite(block).all(axis=(1, 2))
            unfinished |= away.mean() > (0.7 if n >= ENOUGH else 0.0)
            change = -_least(block[away], phi[:, rows][away])
            step[np.ix_(away, columns)] = change / np.maximum(1.0, np.abs(change).max(axis=1, keepdims=True))
        if not unfinished:
            break
        q = _moved(model, q, step)  # of at most a radian
        phi, G, _ = _equations(model, constraints, q)
    return q, phi, G


def _least(G, phi) -> np.ndarray:
    """The least changes x with ``G x = phi`` (samples, columns), or of least error."""
    if G.shape[2] < LARGE:
        return (np.linalg.pinv(G, rcond=1e-9) @ phi[:, :, None])[:, :, 0]
    used = np.abs(G).max(axis=(0, 2), initial=0.0) > 0.0
    G, phi = G[:, used], phi[:, used]
    A = G @ G.transpose(0, 2, 1)
    size = np.trace(A, axis1=1, axis2=2)[:, None, None] / max(1, A.shape[1])
    return (G.transpose(0, 2, 1) @ np.linalg.solve(A + 1e-10 * size * np.eye(A.shape[1]), phi[:, :, None]))[:, :, 0]


def _leave_choices(groups, G) -> bool:
    """Whether there are more rows than ranks in some group, beside those that are zero."""
    for rows, columns in groups:
        block = np.nan_to_num(G[:, rows][:, :, columns])
        size = np.abs(block).max(axis=(0, 2))
        rank = np.median(np.linalg.matrix_rank(block, tol=ROUNDING * max(1.0, size.max(initial=0.0))))
        if (size > ROUNDING * size.max(initial=0.0)).sum() > rank:
            return True
    return False


def _along(groups, G, v) -> np.ndarray:
    """The parts of velocities that all rows allow, with largest entries of 1."""
    found = v.copy()
    for rows, columns in groups:
        block = np.nan_to_num(G[:, rows][:, :, columns])
        own = v[:, columns]
        own = own - (np.linalg.pinv(block, rcond=1e-9) @ (block @ own[:, :, None]))[:, :, 0]
        found[:, columns] = own / np.maximum(np.abs(own).max(axis=1, keepdims=True), 1e-12)
    return found


def _with_gears(model, steps) -> np.ndarray:
    """Steps that obey couplings; masters of slow joints, such as motors, go as far as moves these as others."""
    for c in model.couplings:
        slow = min(abs(c.ratio), 1.0)
        steps[:, model.v_index(c.master)] /= slow if slow > SMALLEST else 1.0
    return model.constrained_velocities(steps)


def _groups(coordinates) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows that share coordinates, directly or by others, and their coordinates."""
    groups: list[tuple[list[int], set[int]]] = []
    for n, mine in enumerate(coordinates):
        rows, joined = [n], set(mine)
        for group in [group for group in groups if group[1] & mine]:
            groups.remove(group)
            rows, joined = group[0] + rows, joined | group[1]
        groups.append((rows, joined))
    return [(np.array(rows), np.array(sorted(joined), dtype=int)) for rows, joined in groups]


def _positions(model, columns: set[int]) -> list[int]:
    """The position coordinates of the joints that have some of these velocities."""
    return [
        j
        for i in range(1, model.nb)
        if not columns.isdisjoint(range(model.v_slice[i].start, model.v_slice[i].stop))
        for j in range(model.q_slice[i].start, model.q_slice[i].stop)
    ]


def _equations(model, constraints, q):
    """Errors of position (samples, rows), zero where there are none; rows (samples, rows, nv); their coordinates."""
    kin, count = Kinematics(model, list(q.T)), len(q)
    with np.errstate(invalid="ignore", divide="ignore"):  # a user's function may have a smaller domain
        rows = [row for c in constraints for row in c.rows(kin)]
        errors = [x for c in constraints for x in c.residual(kin) or [0.0] * c.count(model)]
    G = np.zeros((count, len(rows), model.nv))
    for n, row in enumerate(rows):
        for k, x in row.items():
            G[:, n, k] = x
    phi = np.stack([np.broadcast_to(x, count) for x in errors], axis=1) if errors else np.zeros((count, 0))
    return phi, G, [set(row) for row in rows]


def closed_state(model, rng) -> tuple[np.ndarray, np.ndarray]:
    """A random position near the neutral one and a velocity that obey all loops; the last try if none is found."""
    samples = closed_positions(model, rng)
    G, v = samples.rows[0], rng.standard_normal(model.nv)
    return samples.q[0], model.constrained_velocities(v - np.linalg.pinv(G, rcond=1e-9) @ (G @ v))


def _moved(model, q, step) -> np.ndarray:
    """The positions (..., nq) reached by steps (..., nv)."""
    shape, q, step = q.shape[:-1], list(q.T), list(step.T)
    moved = [x for i in model.outward()
             for x in model.joints[i].integrate(model.q_of(i, q), model.v_of(i, step))]  # fmt: skip
    return np.stack([np.broadcast_to(x, shape) for x in moved], axis=-1)
