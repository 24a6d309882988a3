"""Whether constraints are solved cluster by cluster or by the matrices of the whole tree: by operation counts.

The matrices of the whole tree are those of one cluster on the world that has all joints, so one count serves both.
"""

from __future__ import annotations

from typing import NamedTuple

from kinetree.algorithms.axes import turns_about_several_axes
from kinetree.algorithms.couplings import coupling_columns
from kinetree.model.clusters import Cluster
from kinetree.model.topology import filled_rows

GAIN = 0.8
"""Part of the operations that clusters may take at most. Counted on 18 mechanisms of 3 to 30 velocities, clusters then
take 0.3 to 0.99 of the operations; where they are not chosen, 0.95 to 1.08."""
LARGE = 20_000
"""Inner steps of the factorization of M (D2) from which clusters always pay: they grow with the cube of the depth."""


class Prices(NamedTuple):
    """Operations for each transport of a force, of a rigid and of an articulated inertia, for a joint eliminated alone,
    for a velocity of a cluster that is not on the world; and the number of entries of a force."""

    force: int
    rigid: int
    articulated: int
    alone: int
    dyad: int
    entries: int


SPATIAL = Prices(20, 60, 100, 36, 42, 6)
PARALLEL = Prices(6, 12, 20, 10, 12, 3)  # all joints turn about parallel axes: most entries are zeros


def clusters_pay(model) -> bool:
    """Whether articulated bodies over loop clusters take fewer operations than the matrices of the whole tree."""
    if model.geared or any(c.row_kind != "equality" for c in model.constraints):
        return False
    rows, large = model.loop_rows().coordinates, model.branching().D2 > LARGE
    if large or not rows:
        return large
    whole = Cluster(0, tuple(range(1, model.nb)), tuple(rows))
    return operations(model, model.clusters()) < GAIN * operations(model, [whole])


def operations(model, clusters) -> int:
    """Operations of the elimination, without those that all choices share."""
    prices = SPATIAL if turns_about_several_axes(model) else PARALLEL
    columns, body = coupling_columns(model), _bodies(model)
    articulated, total = set(), 0  # bodies that support eliminated ones
    for cluster in sorted(clusters, reverse=True):
        members = set(cluster.bodies)
        mine = [column for column in columns if body[column[0][0]] in members]
        if len(members) == 1 and cluster.base and not cluster.rows:
            total += prices.articulated + prices.alone * len(mine)
        else:
            for i in reversed(cluster.bodies):
                p, steps = model.parent[i], len(_path(model, i, cluster.base)) - (not cluster.base)
                total += prices.force * model.joints[i].nv * steps
                articulated |= {p} if i in articulated else set()
                total += (prices.articulated if i in articulated else prices.rigid) if p else 0
            above = _pattern(model, cluster, mine, body)
            entries = sum(map(len, above))
            total += sum(len(row) * (len(row) + 1) for row in above) + 5 * entries
            total += (2 * prices.entries * entries + prices.dyad * len(above)) if cluster.base else 0
        articulated.add(cluster.base)
    return total


def _bodies(model) -> list[int]:
    """The body that each velocity coordinate moves."""
    return [i for i in range(1, model.nb) for _ in range(model.joints[i].nv)]


def _path(model, i: int, base: int) -> list[int]:
    """Body i and those between it and the base."""
    found = []
    while i != base:
        found.append(i)
        i = model.parent[i]
    return found


def _pattern(model, cluster, columns, body):
    """The entries of the factor L of a cluster, as `kinetree.algorithms.loop_clusters` orders its unknowns."""
    column_of = {k: n for n, column in enumerate(columns) for k, _ in column}
    first = [min(k for k, _ in column) for column in columns]
    touched = {}
    for r in cluster.rows:
        touched[r] = {column_of[k] for k in model.loop_rows().coordinates[r] if k in column_of}
    keys = [(first[n], 1, n) for n in range(len(columns))]
    keys += [(min((first[n] for n in of), default=0), 0, r) for r, of in touched.items()]
    place = {key[1:]: at for at, key in enumerate(sorted(keys))}
    pairs = [((0, r), (1, n)) for r, of in touched.items() for n in of]
    for n, column in enumerate(columns):
        for k, _ in column:
            for i in _path(model, body[k], cluster.base):
                numbers = range(model.v_slice[i].start, model.v_slice[i].stop)
                pairs += [((1, n), (1, column_of[m])) for m in numbers if m in column_of]
    rows = [set() for _ in place]
    for one, other in pairs:
        low, high = sorted((place[one], place[other]))
        if low != high:
            rows[high].add(low)
    return filled_rows(rows)
