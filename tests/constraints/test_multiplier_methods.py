"""Methods by multipliers: the same accelerations and forces; any rank; multipliers of least norm."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error, constraint_jacobian
from kinetree.algorithms.pivoted_rows import PivotedRows
from kinetree.constraints import Lock, StickingFriction
from kinetree.errors import SingularityError, UnsupportedError

METHODS = ("dense", "sparse", "clusters", "inverse_mass_products", "pivoted")
REDUCED = ("null_space", "partitioning", "pseudovelocities")


@functools.cache
def mechanism(seed: int):
    family = ("spatial", "planar", "spherical")[seed % 3]
    return kt.models.random_loops(seed + 40, bodies=6 + seed % 3, loops=1 + seed % 2, family=family)


def jacobian(model, q):
    return np.array(constraint_jacobian(model, q.tolist()))


@pytest.mark.parametrize("method", METHODS + REDUCED)
@pytest.mark.seeds(8)
def test_methods_agree(seed, method):
    """Accelerations of all; multipliers where they are unique; and K^T lambda, which is unique always."""
    model, q, v = mechanism(seed)
    tau = np.random.default_rng(seed).standard_normal(model.nv)
    with kt.interpreted():
        a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True)
        b, mu = kt.forward_dynamics(model, q, v, tau, method=method, multipliers=True)
        alone = kt.forward_dynamics(model, q, v, tau, method=method)
    scale = 1e-15 * np.linalg.cond(kt.crba(model, q)) * 1e4
    assert b == pytest.approx(a, rel=0, abs=scale * np.abs(a).max()) and alone == pytest.approx(b, rel=1e-12)
    K = jacobian(model, q)
    assert K.T @ mu == pytest.approx(K.T @ lam, rel=0, abs=scale * np.abs(lam).max())
    if method != "pivoted":
        assert mu == pytest.approx(lam, rel=0, abs=scale * np.abs(lam).max())


@pytest.mark.parametrize("method", METHODS + REDUCED)
def test_methods_compiled_with_a_lock(method):
    """A locked and geared mechanism in a batch, compiled: as the default."""
    model = kt.models.four_bar_chain(2)
    q, v = model.keyframe("initial")
    chosen = kt.compile(model.with_constraints(Lock("coupler2")), "forward_dynamics", method=method, multipliers=True)
    auto = kt.compile(model.with_constraints(Lock("coupler2")), "forward_dynamics", multipliers=True)
    tau = np.random.default_rng(0).standard_normal((3, model.nv))
    (a, lam), (b, mu) = (f(np.tile(q + [0.3, -0.3, 0.3, -0.3, 0.3], (3, 1)), 0 * tau, tau) for f in (auto, chosen))
    assert b == pytest.approx(a, abs=1e-10) and (method == "pivoted" or mu == pytest.approx(lam, abs=1e-10))


@pytest.mark.seeds(10)
def test_pseudo_inverses_of_any_rank(seed):
    """Of random semidefinite matrices, against the singular value decomposition; ranks below the number of pivots."""
    rng = np.random.default_rng(seed)
    m, r = 2 + seed % 5, 1 + seed % 3
    B = rng.standard_normal((m, min(r, m)))
    A = B @ B.T
    for steps in {min(r, m), m}:
        found = PivotedRows([row[: k + 1] for k, row in enumerate(A.tolist())], steps)
        b = rng.standard_normal(m)
        assert found.rank == min(r, m)
        expected = np.linalg.pinv(A, rcond=1e-10) @ b
        assert found.solve(b.tolist()) == pytest.approx(expected, rel=1e-6, abs=1e-8 * np.abs(expected).max())


def test_a_flat_parallelogram_has_an_answer():
    """Its rows depend on each other there: least squares by "pivoted"; the default raises the error of the loop."""
    model = kt.models.parallelogram()
    q, v = model.keyframe("initial")
    flat = flattened(model, q)
    rank, pivot, error = kt.closed_loops.regularity(model, flat)
    assert rank == 1 and pivot == 0.0 and error < 1e-12
    with pytest.raises(SingularityError, match="depend on each other"):
        kt.forward_dynamics(model, flat, 0 * v, 0 * v)
    tau = np.array([1.0, 0.5, -0.3])
    a, lam = kt.forward_dynamics(model, flat, 0 * v, tau, multipliers=True, method="pivoted")
    M, K, c = kt.crba(model, flat), jacobian(model, flat), kt.bias_forces(model, flat, 0 * v)
    sizes = np.array([model.loop_rows().natural[n] for n in range(model.nc)])
    K_s = K / sizes[:, None]
    expected = np.linalg.pinv(K_s @ np.linalg.solve(M, K_s.T), rcond=1e-10) @ (-K_s @ np.linalg.solve(M, tau - c))
    assert lam * sizes == pytest.approx(expected, abs=1e-9)
    assert M @ a == pytest.approx(tau - c + K.T @ lam, abs=1e-12) and pytest.approx(0.0, abs=1e-10) == K @ a


@pytest.mark.parametrize("angle", [1e-1, 1e-3, -1e-3, -1e-1])
def test_both_sides_of_a_singular_position_are_regular(angle):
    """Near the flat parallelogram "pivoted" is the default to the digits that its condition leaves."""
    model = kt.models.parallelogram()
    q, v = model.keyframe("initial")
    near = flattened(model, q) + angle * np.array([1.0, -1.0, 1.0])
    rank, pivot, _ = kt.closed_loops.regularity(model, near)
    assert rank == 2 and 0.01 * angle**2 < pivot < 10.0 * angle**2
    tau = np.array([1.0, 0.5, -0.3])
    expected = kt.forward_dynamics(model, near, 0 * v, tau)
    a = kt.forward_dynamics(model, near, 0 * v, tau, method="pivoted")
    assert a == pytest.approx(expected, abs=1e-13 / angle**2)


def flattened(model, q):
    """All rods in one line: the crank turned to it, the coupler along, the rocker as the crank."""
    for crank in (0.0, np.pi / 2, -np.pi / 2, np.pi):
        flat = q + (crank - q[0]) * np.array([1.0, -1.0, 1.0])
        if np.abs(constraint_error(model, flat.tolist())).max() < 1e-12:
            K = jacobian(model, flat)
            if np.linalg.matrix_rank(K, tol=1e-9) == 1:
                return flat
    raise AssertionError("no flat position")


def test_least_multipliers_share_the_load():
    """A body welded twice to the world: each weld carries half; the default leaves the second one free of load."""
    b = kt.ModelBuilder("twice")
    b.add_body("plate", joint=kt.joints.Free(), mass=2.0, inertia=np.eye(3))
    weld = [kt.constraints.LoopJoint(name, kt.joints.Fixed(), "world", "plate") for name in ("one", "other")]
    model = b.build().with_constraints(*weld)
    q, zero = model.neutral(), np.zeros(6)
    _, lam = kt.forward_dynamics(model, q, zero, zero, multipliers=True, method="pivoted")
    assert lam[:6] == pytest.approx(lam[6:], abs=1e-12) and np.abs(lam).max() == pytest.approx(9.81)
    _, lam = kt.forward_dynamics(model, q, zero, zero, multipliers=True)
    assert np.abs(lam).max() == pytest.approx(2 * 9.81) and not lam[list(model.loop_rows().redundant)].any()


@pytest.mark.parametrize("name", ["bennett", "four_bar", "parallelogram", "four_bar_chain", "cassie_leg"])
def test_least_multipliers_of_redundant_loops(name):
    """NumPy's pseudo-inverse in the units of moments; the joint forces are those of the default."""
    model = getattr(kt.models, name)()
    q, v = model.keyframe("initial")
    choice, rng = model.loop_rows(), np.random.default_rng(5)
    tau, v = rng.standard_normal(model.nv), kt.closed_loops.project_velocity(model, q, rng.standard_normal(model.nv))
    a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True, method="pivoted")
    b, mu = kt.forward_dynamics(model, q, v, tau, multipliers=True)
    used = sorted({*choice.kept, *choice.redundant})
    sizes = np.array([choice.natural[n] or 1.0 for n in used])
    K, bias = jacobian(model, q)[used] / sizes[:, None], kt.closed_loops.bias(model, q, v)[used] / sizes
    M, f = kt.crba(model, q), tau - kt.bias_forces(model, q, v) + kt.dynamics.passive_joint_forces(model, q, v)
    free = -bias - K @ np.linalg.solve(M, f)
    expected = np.linalg.pinv(K @ np.linalg.solve(M, K.T), rcond=1e-9) @ free
    size = np.abs(expected).max()
    assert lam[used] * sizes == pytest.approx(expected, abs=1e-8 * size) and not lam[list(choice.rounding)].any()
    assert a == pytest.approx(b, abs=1e-8 * np.abs(a).max())
    assert K.T @ (lam[used] * sizes) == pytest.approx(K.T @ (mu[used] * sizes), abs=1e-8 * size)
    assert np.linalg.norm(lam[used] * sizes) < np.linalg.norm(mu[used] * sizes) * (1.0 + 1e-9)


def test_unsupported_choices_are_refused():
    """Bounded forces, and methods of trees."""
    model = kt.models.four_bar()
    q, v = model.keyframe("initial")
    with pytest.raises(UnsupportedError, match="methods 'auto'"):
        kt.forward_dynamics(model, q, v, 0 * v, method="aba")
    stuck = kt.models.double_pendulum().replace(dry_friction=1.0).with_constraints(StickingFriction())
    for method in ("dense", "clusters", "inverse_mass_products", "pivoted"):
        with pytest.raises(UnsupportedError, match=f"'{method}'"):
            kt.forward_dynamics(stuck, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0], method=method)
