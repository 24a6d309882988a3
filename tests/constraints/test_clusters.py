"""Loop clusters: their joints, the same results as dense matrices in extended precision, and linear cost."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.cluster_choice import clusters_pay
from kinetree.algorithms.constrained import (
    ConstrainedSystem,
    cluster_accelerations,
    equality_rows,
    given_accelerations,
)
from kinetree.algorithms.crba import crba
from kinetree.algorithms.loop_clusters import ClusterSystem
from kinetree.algorithms.rnea import bias_forces
from kinetree.constraints import Coupling, Lock, LoopJoint
from kinetree.joints import Revolute, Spherical
from kinetree.model.clusters import minimal_clusters
from kinetree.state_kinematics import Kinematics
from tests.constraints.test_constrained_system import looped

FAMILIES = ("spatial", "planar", "spherical")


@functools.cache
def mechanism(seed: int):
    """Trees with one to three loops in all families, and closed states."""
    family = FAMILIES[seed % 3]
    return kt.models.random_loops(seed, bodies=6 + seed % 5, loops=1 + seed % 3, family=family)


def solved(A, b):
    """The solution by elimination with complete row exchanges, in the precision of the arrays."""
    A, b = A.copy(), b.copy()
    for k in range(len(b)):
        p = k + int(np.argmax(np.abs(A[k:, k])))
        A[[k, p]], b[[k, p]] = A[[p, k]], b[[p, k]]
        factors = A[k + 1 :, k] / A[k, k]
        A[k + 1 :] -= factors[:, None] * A[k]
        b[k + 1 :] -= factors * b[k]
    x = np.zeros_like(b)
    for k in reversed(range(len(b))):
        x[k] = (b[k] - A[k, k + 1 :] @ x[k + 1 :]) / A[k, k]
    return x


def reference(model, q, v, tau):
    """Accelerations and the kept multipliers from [[M, -K^T], [K, 0]], everything in extended precision."""
    long = [[np.longdouble(x) for x in given] for given in (q, v, tau)]
    kin = Kinematics(model, *long[:2])
    numbers, rows, k = equality_rows(model, kin, {})
    K = np.array([[row.get(j, 0.0) for j in range(model.nv)] for row in rows], dtype=np.longdouble)
    M = np.array(crba(model, long[0]), dtype=np.longdouble)
    f = np.array(long[2]) - np.array(bias_forces(model, *long[:2]), dtype=np.longdouble)
    A = np.block([[M, -K.T], [K, np.zeros((len(K), len(K)), dtype=np.longdouble)]])
    x = solved(A, np.concatenate([f, np.array(k, dtype=np.longdouble)]))
    return x[: model.nv].astype(float), x[model.nv :].astype(float), np.linalg.cond(A.astype(float))


@pytest.mark.seeds(15)
def test_clusters_solve_the_whole_system(seed):
    """Accelerations and multipliers of the dense system, with the error that its condition allows."""
    model, q, v = mechanism(seed)
    tau = np.random.default_rng(seed).standard_normal(model.nv)
    expected, forces, condition = reference(model, q, v, tau)
    a, lam = cluster_accelerations(model, q.tolist(), v.tolist(), tau.tolist(), None, model.armature, True)
    close = 1e-15 * condition
    assert a == pytest.approx(expected, rel=0, abs=close * np.abs(expected).max())
    kept = [n for n in model.independent_rows() if n in model.loop_rows().coordinates]
    assert np.array(lam)[kept] == pytest.approx(forces, rel=0, abs=close * np.abs(forces).max() + 1e-12)


@pytest.mark.seeds(10)
def test_both_systems_have_the_same_corrections(seed):
    """`ClusterSystem` and `ConstrainedSystem` of trees with gears, locks and loops, for any right-hand sides."""
    model, q, v = looped(seed)
    rng = np.random.default_rng(seed)
    single = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
    if len(single) > 3:
        follower, master = (q[model.q_index(single[n])][0] for n in (-1, 0))
        gear = Coupling(single[-1], single[0], 0.7, follower - 0.7 * master)
        model = model.with_constraints(gear, Lock(single[1]))
    kin = Kinematics(model, q.tolist(), v.tolist())
    given = given_accelerations(model, kin)
    M = kt.crba(model, q).tolist()
    one = ConstrainedSystem(model, M, kin, given)
    other = ClusterSystem(model, kin, model.armature.tolist(), equality_rows(model, kin, given))
    f, r = rng.standard_normal(model.nv).tolist(), rng.standard_normal(len(one.rows)).tolist()
    (a, lam), (b, mu) = one.accelerations(f, r), other.accelerations(f, r)
    scale = np.linalg.cond(M)
    assert b == pytest.approx(a, rel=0, abs=1e-15 * scale * np.abs(a).max())
    assert mu == pytest.approx(lam, rel=0, abs=1e-14 * scale * np.abs(lam).max())
    dv = np.array(one.correction(r))
    assert other.correction(r) == pytest.approx(dv, rel=0, abs=1e-15 * scale * np.abs(dv).max())


def test_clusters_of_the_book():
    """Featherstone (2008), fig. 8.1: four loops by joints 21 to 24; the first two share joints, the others none."""
    # bodies 3..7 carry loops 1 and 2, 10..12 loop 3, 19 and 20 loop 4
    parent = (-1, 0, 1, 2, 3, 4, 2, 6, 7, 1, 9, 10, 9, 8, 13, 13, 15, 16, 8, 18, 18)
    rows = {0: (3, 4, 5), 1: (5, 6, 7), 2: (10, 11, 12), 3: (19, 20)}
    found = {c.bodies: c for c in minimal_clusters(parent, rows) if c.rows}
    assert {bodies: (c.base, c.rows) for bodies, c in found.items()} == {
        (3, 4, 5, 6, 7): (2, (0, 1)),
        (10, 11, 12): (9, (2,)),
        (19, 20): (18, (3,)),
    }


def test_rows_between_distant_joints_take_the_path_between_them():
    """One row over the first and the last joint of a chain makes one cluster of all; the branch stays outside."""
    parent = (-1, 0, 1, 2, 3, 2)
    (whole, branch) = minimal_clusters(parent, {0: (1, 4)})
    assert whole.bodies == (1, 2, 3, 4) and whole.base == 0 and branch.bodies == (5,) and branch.base == 2


def test_a_ladder_costs_in_proportion_to_its_cells():
    """Operations of further cells are constant; the accelerations are those of the whole matrix."""
    count = {
        n: kt.compile(kt.models.ladder(n), "forward_dynamics", checks=False).operations.total for n in (10, 13, 16)
    }
    assert all(clusters_pay(kt.models.ladder(n)) for n in count) and not clusters_pay(kt.models.ladder(1))
    assert abs((count[16] - count[13]) - (count[13] - count[10])) <= 0.02 * (count[13] - count[10])
    model = kt.models.ladder(6)
    q, v = model.keyframe("initial")
    tau = np.random.default_rng(0).standard_normal(model.nv)
    a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True)
    expected, forces, _ = reference(model, q, v, tau)
    assert a == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert lam[list(model.independent_rows())] == pytest.approx(forces, rel=1e-10, abs=1e-10)


def test_large_models_are_compiled_in_pieces():
    """A ladder in space of 30 cells: 90 bodies, clusters alike, so few different pieces; as interpreted."""
    model = spatial_ladder(30)
    q, v = model.neutral(), np.zeros(model.nv)
    tau = np.random.default_rng(0).standard_normal(model.nv)
    f = kt.compile(model, "forward_dynamics", multipliers=True, checks=False)
    a, lam = f(q, v, tau)
    with kt.interpreted():
        expected, forces = kt.forward_dynamics(model, q, v, tau, multipliers=True)
    assert a == pytest.approx(expected, rel=1e-8, abs=1e-8 * np.abs(expected).max())
    assert lam == pytest.approx(forces, rel=1e-8, abs=1e-8 * np.abs(forces).max())
    assert f.operations.total < 30 * 4000


def spatial_ladder(n: int):
    """Square cells with ball joints at the tips and hinges at the rails, each on the rung of the one before."""
    b, loops, below = kt.ModelBuilder("ladder in space"), [], "world"
    rod = {"mass": 1.0, "com": (0.0, 0.0, 0.5), "inertia": np.diag([0.1, 0.1, 0.01])}
    beam = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": np.diag([0.01, 0.1, 0.1])}
    for k in range(n):
        b.add_body(f"left{k}", below, Revolute((1, 0, 0)), **rod)
        b.add_body(f"rung{k}", f"left{k}", Revolute((0, 1, 0)), placement=((0, 0, 1), (0, 0, 0)), **beam)
        b.add_body(f"right{k}", below, Spherical(), placement=((1, 0, 0), (0, 0, 0)), **rod)
        b.add_frame(f"end{k}", f"rung{k}", ((1, 0, 0), (0, 0, 0)))
        b.add_frame(f"tip{k}", f"right{k}", ((0, 0, 1), (0, 0, 0)))
        loops.append(LoopJoint(f"pin{k}", Spherical(), f"end{k}", f"tip{k}"))
        below = f"rung{k}"
    return b.build().with_constraints(*loops)
