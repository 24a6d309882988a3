"""Values that are used alike: groups by what is done with them, and where equal parts begin."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial import scalar
from kinetree.trace.alike import beginnings, groups, uses
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower
from kinetree.trace.packing import Packed, pack

ALL = ["forward_dynamics", "force_state_rates"]


def chain(color_of):
    """Colors of a program of three values through `exp(x) / (1 + x)` and one through something else."""
    graph = Graph()
    q = [graph.input(0, k) for k in range(6)]
    ends = [scalar.exp(x) / (1.0 + x) for x in (q[0] * q[1], scalar.sin(q[2]), q[3] + 0.3 * q[4])]
    program = lower(graph, [("x", (6,))], [("y", (4,), [*ends, scalar.exp(q[5] * q[4])])])
    live = [v for v, operation in enumerate(program.code) if operation[0] not in ("input", "const")]
    results = {v for result in program.results for v in result}
    return program, live, groups(color_of(program, live, results), live)


def test_groups_have_equal_uses_of_some_steps():
    """Found by refinement, and by writing out all paths of users: three of each value of the three parts."""

    def paths(program, live, results):
        users = [[(u, k) for u in live for k, a in enumerate(program.code[u][1:]) if a == v] for v, _ in
                 enumerate(program.code)]  # fmt: skip

        def written(v, steps):
            ways = [(program.code[u][0], k, written(u, steps - 1)) for u, k in users[v]] if steps else []
            return repr((v in results and steps >= 0, sorted(ways)))

        names = [written(v, 4) for v in range(len(program.code))]
        return [names.index(name) for name in names]

    def refined(program, live, results):
        return uses(program.code, live, results, lambda operation, k: (operation[0], k), 4)

    program, live, found = chain(refined)
    assert sorted(map(sorted, itertools.chain(*found.values()))) == sorted(
        map(sorted, itertools.chain(*chain(paths)[2].values()))
    )
    curve = [x for x in live if program.code[x][0] in ("exp", "add")]
    x = sorted({program.code[v][1] for v in curve if len({v} & set(itertools.chain(*found[3])))})
    first = beginnings(found[3], {v: program.code[v][1:] for v in live}, list(range(len(program.code))))
    assert len(x) == 3 and sorted(first) == x and len(set(first.values())) == 1


@pytest.mark.parametrize("curves", ["millard", "degroote_fregly"])
@pytest.mark.parametrize("tendon", ["rigid", "compliant"])
def test_curves_of_muscles_share_vectors(curves, tendon):
    """Six muscles with different paths: their curves are in lanes; the numbers are those of batches to the bit."""
    same_in_lanes(kt.models.arm26(tendon, curves), 0.9)


def test_more_parts_than_lanes_take_several_vectors():
    """Ten muscles: five lanes each of two vectors."""
    arm = kt.models.arm26("compliant", "degroote_fregly")
    more = [dataclasses.replace(m, name=f"{m.name} again", pennation=0.1) for m in arm.muscles[2:]]
    packed = same_in_lanes(arm.with_forces(*more), 0.65)
    assert sum(op == "exp" and width == 8 for (op, *_), width in zip(packed.code, packed.widths, strict=True)) >= 10


def same_in_lanes(arm, share):
    """The packed program of an arm, not longer than a share of the plain one; the numbers are those of batches."""
    f = kt.compile(arm, ALL, optional=("x", "u"))
    packed = pack(f.program, True)
    assert isinstance(packed, Packed) and len(packed.code) < share * len(f.program.code)
    rng = np.random.default_rng(2)
    q, v, tau = rng.uniform(0.2, 0.6, (3, 5, 2))
    x, u = np.tile([0.3, 0.1], (5, arm.nu))[:, : arm.nx], rng.uniform(0, 1, (5, arm.nu))
    batch = f(q, v, tau, x, u)
    for k in range(5):
        for one, many in zip(f(q[k], v[k], tau[k], x[k], u[k]), batch, strict=True):
            np.testing.assert_array_equal(one, many[k])
    return packed
