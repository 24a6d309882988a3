"""Random mechanisms with 1 to 4 loops of every kind of joint: all methods agree, and with maximal coordinates.

20 mechanisms in the ordinary run, 300 with ``-m sweep``. The reference (`kinetree.verification.maximal`) has no rows of
loops, no mass matrix and no choice of rows; it is solved in extended precision.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error, constraint_jacobian
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.errors import SingularityError, UnsupportedError
from kinetree.joints import Reversed, examples
from kinetree.model.library.random_loops import ITERATED
from kinetree.textbook.loop_methods import METHODS
from kinetree.verification.maximal import Maximal
from kinetree.verification.plain import Plain

EPS = np.finfo(float).eps
AGREEMENT = 1e-9  # relative to the largest acceleration, and to the largest load
FIXED_COORDINATES = {"null_space", "partitioning"}
"""Methods whose independent velocities are chosen once: near a position at which these do not determine the others, the
reduced mass matrix has a large condition, and as many digits are lost."""
TREES_ALONE = {"aba", "divide_and_conquer", "world", "inverse_inertias", "implicit_joints"}
KINDS = (
    "revolute", "prismatic", "helical", "cylindrical", "planar", "spherical", "spherical_euler", "universal",
    "rack_and_pinion", "sphere_in_cylinder", "fixed", "translational", "planar_local", "planar_split", "ellipsoid",
    "spherical_exponential",
)  # fmt: skip
FAMILIES = ("spatial", "spatial", "planar", "spatial", "spherical")
SEEDS = [*range(20), *(pytest.param(seed, marks=pytest.mark.sweep) for seed in range(20, 300))]


def kinds_of(seed: int) -> list[str] | None:
    """Two kinds of loop joints for each spatial mechanism, so that the first 14 have all; others take all."""
    if FAMILIES[seed % 5] != "spatial":
        return None
    n = 3 * (seed // 5) + (0, 1, None, 2)[seed % 5]
    return [KINDS[2 * n % len(KINDS)], KINDS[(2 * n + 1) % len(KINDS)]]


def mechanism(seed: int):
    """With 1 to 4 loops."""
    return kt.models.random_loops(seed, bodies=6 + seed % 4, loops=1 + seed // 2 % 4, kinds=kinds_of(seed),
                                  family=FAMILIES[seed % 5])  # fmt: skip


def compare(model, q, v, seed: int, compiled: bool = False) -> None:
    """Accelerations of every method, and the joint forces of the constraints, at one closed state."""
    assert np.abs(constraint_error(model, q.tolist())).max() < 1e-12
    rng = np.random.default_rng(seed)
    tau, f_ext = rng.standard_normal(model.nv), rng.standard_normal((model.nb, 6))
    reference = Maximal(model, Plain(model, q[None], v[None]), q[None], v[None], tau[None], f_ext[None])
    a, forces = reference.a[0].astype(float), reference.forces[0].astype(float)
    size = AGREEMENT * (1.0 + np.abs(a).max())
    with kt.interpreted():
        loads = np.abs(kt.bias_forces(model, q, v, f_ext)).max()
        condition = np.linalg.cond(kt.closed_loops.reduced_mass_matrix(model, q))
    lost = max(size, 64.0 * EPS * condition * np.abs(a).max())
    weight = AGREEMENT * (1.0 + np.abs(forces).max() + loads)
    G = np.array(constraint_jacobian(model, q.tolist()), float)
    found = {}
    with kt.interpreted():
        for method in ALGORITHMS["forward_dynamics"].methods:
            try:
                found[method] = kt.forward_dynamics(model, q, v, tau, f_ext, method=method)
            except UnsupportedError:
                assert method in TREES_ALONE, f"{method} refuses loops"
            if method not in TREES_ALONE:
                lam = kt.forward_dynamics(model, q, v, tau, f_ext, method=method, multipliers=True)[1]
                most = weight * (lost / size if method in FIXED_COORDINATES else 1.0)
                assert np.abs(G.T @ lam - forces).max() < most, method
        lam = kt.forward_dynamics(model, q, v, tau, f_ext, multipliers=True)[1]
        torques, more = kt.inverse_dynamics(model, q, v, a, f_ext, multipliers=True)
        found["inverse dynamics"] = kt.forward_dynamics(model, q, v, torques, f_ext)
    for method in METHODS:
        found[f"book, {method}"], each = kt.textbook.loop_dynamics(model, q, v, tau, f_ext, method=method)
        assert np.abs(G.T @ each - forces).max() < weight, method
    found["book, sparse"], _ = kt.textbook.maximal_equation(model, q, v, tau, f_ext).solve()
    if compiled:
        found["compiled"] = kt.forward_dynamics(model, q, v, tau, f_ext)
    allowed = {name: lost if name in FIXED_COORDINATES else size for name in found}
    off = {name: np.abs(x - a).max() for name, x in found.items() if not np.abs(x - a).max() < allowed[name]}
    assert not off, off
    assert np.abs(torques + G.T @ more - tau - forces).max() < 10.0 * weight  # the same load, shared otherwise
    check_left_out(model, G, lam)


def check_left_out(model, G, lam) -> None:
    """Rows that are left out have no multiplier, follow from the others, and are as many as the rank lacks."""
    kept = list(model.independent_rows())
    out = [n for n in range(model.nc) if n not in kept]
    assert not np.asarray(lam)[out].any() and len(model.constraint_labels) == model.nc
    length = np.linalg.norm(G, axis=1)
    unit = G / np.maximum(length, 1e-3 * length.max())[:, None]  # rows of rounding stay small
    assert np.linalg.matrix_rank(unit, 1e-8) == np.linalg.matrix_rank(unit[kept], 1e-8) == len(kept)
    rest = unit[out] - (unit[out] @ np.linalg.pinv(unit[kept])) @ unit[kept]
    assert np.abs(rest).max(initial=0.0) < 1e-8


@pytest.mark.parametrize("seed", SEEDS)
def test_all_methods_agree(seed):
    """At a random closed state, with random joint forces and wrenches."""
    model, q, v = mechanism(seed)
    compare(model, q, v, seed, compiled=seed % 10 == 0)


def test_every_kind_of_loop_joint_occurs():
    """In the mechanisms of the ordinary run; the list above is that of the registry."""
    every = {(x.joint if isinstance(x, Reversed) else x).kind for _, x in examples(np.random.default_rng(0))
             if x.nv < 6}  # fmt: skip
    assert every == {*KINDS, *ITERATED}
    chosen = {kind for seed in range(20) for kind in kinds_of(seed) or ()}
    assert chosen == set(KINDS)


@pytest.mark.parametrize("kind", ITERATED)
def test_joints_whose_position_is_found_by_iterations(kind):
    """Splines, and composites of several moving parts."""
    for seed in range(2):
        compare(*kt.models.random_loops(seed, bodies=5, loops=1, kinds=[kind]), seed)


REDUNDANT = {  # mechanism, redundant rows, freedoms
    "four-bar of hinges": (lambda: kt.models.four_bar(), 3, 1),
    "parallelogram": (lambda: kt.models.parallelogram(), 3, 1),
    "Bennett": (lambda: kt.models.bennett(), 3, 1),
    "chain of four-bars": (lambda: kt.models.four_bar_chain(2), 6, 1),
    "ladder": (lambda: kt.models.ladder(3), 9, 3),
}


@pytest.mark.parametrize("name", REDUNDANT)
def test_redundant_mechanisms_agree_and_their_rows_are_named(name):
    """Hinges that close planar or overconstrained loops: which rows are left out is stated by name."""
    make, redundant, freedoms = REDUNDANT[name]
    model = make()
    q, _ = model.keyframe("initial")
    G = np.array(constraint_jacobian(model, q.tolist()), float)
    rng = np.random.default_rng(1)
    v = rng.standard_normal(model.nv)
    for _ in range(2):
        v = v - np.linalg.pinv(G, rcond=1e-9) @ (G @ v)
    compare(model, q, v, 1)
    kept = model.independent_rows()
    assert model.nc - len(kept) == redundant and model.nv - len(kept) == freedoms
    labels = [model.constraint_labels[n] for n in range(model.nc) if n not in kept]
    assert set(labels) == {c.name for c in model.constraints}


@pytest.mark.parametrize("cells", [1, 2])
def test_at_a_flat_position_any_rank_is_solved_for(cells):
    """Parallelograms at rest, stretched out flat: rank falls with each, and accelerations are still unique."""
    model = kt.models.ladder(cells)
    q, _ = model.keyframe("initial")
    v, rng = np.zeros(model.nv), np.random.default_rng(2)
    for joint in model.joint_names:
        q[model.q_index(joint)] = 0.0
    assert np.abs(constraint_error(model, q.tolist())).max() < 1e-14
    G = np.array(constraint_jacobian(model, q.tolist()), float)
    assert np.linalg.matrix_rank(G, 1e-9) == cells < len(model.independent_rows())
    tau, f_ext = rng.standard_normal(model.nv), rng.standard_normal((model.nb, 6))
    reference = Maximal(model, Plain(model, q[None], v[None]), q[None], v[None], tau[None], f_ext[None])
    a = reference.a[0].astype(float)
    with kt.interpreted():
        found = {"pivoted": kt.forward_dynamics(model, q, v, tau, f_ext, method="pivoted")}
        with pytest.raises(SingularityError):
            kt.forward_dynamics(model, q, v, tau, f_ext)
    for method in METHODS:
        found[method] = kt.textbook.loop_dynamics(model, q, v, tau, f_ext, method=method).a
    assert all(np.abs(x - a).max() < AGREEMENT * (1.0 + np.abs(a).max()) for x in found.values()), found
