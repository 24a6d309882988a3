"""REDMAX on random trees: Jacobians, the reduced equation, its steps, and the agreement of all formulations."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.calls import plain_call
from kinetree.integrators.linearly_implicit import STEPS
from tests.forces import loaded
from tests.maximal_coordinates.test_models import alike, of_bodies, tree
from tests.tendons.test_mujoco_tendons import HEAVY
from tests.trees.geared import geared_tree

EXACT = 1e-12  # relative: the same numbers by another order of additions, of some 1e3 terms


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


def same(found, expected, tolerance=EXACT):
    """Equal relative to the largest entry."""
    scale = np.max(np.abs(expected), initial=1.0)
    assert np.max(np.abs(np.asarray(found) - expected), initial=0.0) <= tolerance * scale


@pytest.mark.seeds(20)
def test_jacobians(seed):
    """S2.01: algorithms 1 and 2 against the Jacobians of frames, differences in time, and the products of O(n)."""
    model, q, v, *_ = tree(seed, forces=False)
    J, J_dot = kt.redmax.jacobian(model, q), kt.redmax.jacobian_rate(model, q, v)
    same(J, kt.kinematics.frame_jacobians(model, q, reference="local")[: model.nb])
    h = 1e-5
    ends = [kt.redmax.jacobian(model, kt.integrate(model, q, s * h * v)) for s in (-1, 1)]
    same(J_dot, (ends[1] - ends[0]) / (2 * h), 1e-6)  # O(h^2) times third derivatives, and rounding / h
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal(model.nv), rng.standard_normal(J.shape[:2])
    y[0] = 0.0
    same(kt.kinematics.body_jacobian_product(model, q, x, reference="local"), J @ x)
    same(kt.kinematics.body_jacobian_rate_product(model, q, v, x, reference="local"), J_dot @ x)
    same(kt.kinematics.body_jacobian_transpose_product(model, q, y, reference="local"), np.einsum("bri,br->i", J, y))


@pytest.mark.seeds(20)
def test_reduced_equation(seed):
    """S2.02: J^T M J is the composite-body matrix, J^T (f - M Jdot v) the Newton-Euler forces, to 1e-12."""
    model, q, v, tau, f_ext = tree(seed)
    M, f = kt.redmax.equation(model, q, v, tau, f_ext)
    same(M, kt.crba(model, q))
    passive = kt.dynamics.passive_joint_forces(model, q, v)
    same(f, tau + passive - kt.bias_forces(model, q, v, f_ext))


def test_joints_that_depend_on_time():
    """Their velocities and accelerations are in f_r."""
    model = kt.models.random_tree(12, seed=5, time_dependent=True, armature=False)
    rng = np.random.default_rng(0)
    q, v, tau = model.random_q(rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    assert model.time_dependent
    M, f = kt.redmax.equation(model, q, v, tau, t=0.3)
    same(np.linalg.solve(M, f), kt.aba(model, q, v, tau, t=0.3), 1e-9)


@pytest.mark.seeds(20)
def test_all_formulations_agree(seed):
    """REDMAX, maximal coordinates, RNEA with CRBA, and ABA, under force elements of all kinds."""
    agreement(seed)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(200, 300))
def test_all_formulations_agree_on_further_trees(seed):
    """The same, up to 300 trees."""
    agreement(seed)


def agreement(seed):
    """All accelerations to 1e-9, at positions that the poses of the bodies give."""
    model, rng = loaded.tree(seed), np.random.default_rng(seed)
    system, more = kt.maximal(model), loaded.internal(model, seed)
    state = system.state(model.random_q(rng), rng.standard_normal(model.nv))
    q, v = system.reduced_state(*state)
    tau, f_ext = rng.standard_normal(model.nv), rng.standard_normal((model.nb, 6))
    expected = kt.forward_dynamics(model, q, v, tau, f_ext, **more)  # ABA
    M, f = kt.redmax.equation(model, q, v, tau, f_ext, **more)
    alike(np.linalg.solve(M, f), expected)
    alike(kt.redmax.accelerations(model, q, v, tau, f_ext=f_ext, method="dual", **more).values, expected)
    forces = tau - kt.bias_forces(model, q, v, f_ext)
    for name in ("passive_joint_forces", "actuator_joint_forces"):
        forces = forces + getattr(kt.dynamics, name)(model, q, v, **more)
    alike(np.linalg.solve(kt.crba(model, q), forces), expected)
    inertial = np.max(np.abs(M) @ np.abs(expected), initial=1.0)
    alike(kt.inverse_dynamics(model, q, v, expected, f_ext, **more), tau, inertial)
    found = system.accelerations(*state, tau, f_ext, **more)
    alike(found.accelerations, of_bodies(model, q, v, expected))


@pytest.mark.seeds(20)
def test_all_formulations_agree_with_loops(seed):
    """The same with loops, whose rows REDMAX takes as constraints and as a second Jacobian."""
    bare, q, v = kt.models.random_loops(seed, bodies=4 + seed % 4, loops=1 + seed % 2)
    model = loaded.loaded(bare, seed, share=0.3)
    system, more = kt.maximal(model), loaded.internal(model, seed)
    state = system.state(q, v)
    q, v = system.reduced_state(*state)  # positions of composite joints are not unique; tau belongs to these
    tau = np.random.default_rng(seed).standard_normal(model.nv)
    expected, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True, **more)
    alike(system.accelerations(*state, tau, **more).accelerations, of_bodies(model, q, v, expected))
    rows = [kt.redmax.model_rows(model, q, v)]
    for method in ("kkt", "dual"):
        found = kt.redmax.accelerations(model, q, v, tau, rows, method=method, **more)
        alike(found.values, expected)
        alike(found.multipliers, lam[list(model.independent_rows())])
    M_R, f_R = kt.redmax.hyper_reduced(model, q, v, tau, **more)
    independent = list(model.independent_velocities())
    alike(np.linalg.solve(M_R, f_R), expected[independent])


@pytest.mark.seeds(10)
def test_steps(seed):
    """S2.03, S2.07: semi-implicit Euler is M v+ = M v + h f; linearly implicit Euler the step of the integrators."""
    model, q, v, tau, f_ext = tree(seed)
    h = 1e-3
    M, f = kt.redmax.equation(model, q, v, tau, f_ext)
    q_1, v_1 = kt.redmax.step(model, q, v, tau, h, f_ext)
    expected = v + h * np.linalg.solve(M, f)
    q_e, v_e = kt.kinematics.reparameterize(model, kt.integrate(model, q, h * expected), expected)
    same(v_1, v_e, 1e-9)
    same(q_1, q_e, 1e-9)
    implicit = kt.redmax.implicit_step(model, q, v, tau, h, f_ext)
    step = plain_call(STEPS["passive", "symmetric"])
    for found, other in zip(implicit, step(model, q, v, tau, h, f_ext), strict=True):
        same(found, other, 1e-8)


def test_implicit_steps_are_stable():
    """A chain with springs from 1e2 to 1e9 N m/rad at steps of 10 ms; the explicit step explodes."""
    for stiffness in (1e2, 1e5, 1e9):
        model = kt.models.chain_gu(5).replace(stiffness=stiffness, damping=1.0)
        q, v, zero = np.full(5, 0.1), np.zeros(5), np.zeros(5)
        for _ in range(50):
            q, v = kt.redmax.implicit_step(model, q, v, zero, 0.01)
        assert np.abs(q).max() < 1.0 and np.abs(v).max() < 100.0
    q, v = kt.redmax.step(model, q + 0.1, v, zero, 0.01)
    assert np.abs(v).max() > 1e3


@pytest.mark.seeds(4)
def test_geared_rotors(seed):
    """Their inertia and gyroscopic moments, in the equation, and by chained Jacobians."""
    model = geared_tree(4 + seed % 4, seed, floating=seed % 3 == 0, near=seed % 2 == 0)
    rng = np.random.default_rng(seed)
    q, v, tau = model.random_q(rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    f_ext = rng.standard_normal((model.nb, 6))
    M, f = kt.redmax.equation(model, q, v, tau, f_ext)
    same(M, kt.crba(model, q))
    same(f, tau - kt.bias_forces(model, q, v, f_ext))
    alike(kt.redmax.accelerations(model, q, v, tau, f_ext=f_ext).values, kt.forward_dynamics(model, q, v, tau, f_ext))
    M_R, f_R = kt.redmax.hyper_reduced(model, q, v, tau, f_ext)  # of a model without constraints the same
    same(M_R, M)
    same(f_R, f)


def test_rotors_in_chained_jacobians():
    """An arm whose elbow turns by a function of its shoulder: the rotor turns with the difference of both."""
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    b.add_rotor("motor", "elbow", 6.0, 2e-3, body="upper", axis=(0, 1, 0), mass=0.3, transverse_inertia=1.5e-3)
    curved = kt.constraints.PolynomialCoupling("elbow", "shoulder", (0.1, -0.7, 0.4), name="cam")
    model = b.build().with_constraints(curved)
    q, v = np.array([0.3, 0.1 - 0.7 * 0.3 + 0.4 * 0.3**2]), 1.3 * np.array([1.0, -0.7 + 0.8 * 0.3])
    M_R, f_R = kt.redmax.hyper_reduced(model, q, v, [0.5, 0.7])
    alike(f_R / M_R[0], kt.forward_dynamics(model, q, v, [0.5, 0.7])[list(model.independent_velocities())])


def test_inertia_of_tendons():
    """As in the complete dynamics."""
    model, rng = kt.load(HEAVY), np.random.default_rng(0)
    q, v, tau = model.random_q(rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    for M, f in (kt.redmax.equation(model, q, v, tau), kt.redmax.hyper_reduced(model, q, v, tau)):
        alike(np.linalg.solve(M, f), kt.forward_dynamics(model, q, v, tau))


def test_cost_of_the_products_is_linear():
    """S2.12: J x, Jdot x and J^T y: each further body costs the same operations; J itself grows with the square."""
    for name in ("body_jacobian_product", "body_jacobian_rate_product", "body_jacobian_transpose_product"):
        counts = [kt.compile(kt.models.chain_gu(n), name, reference="local").operations.total for n in (8, 16, 24)]
        assert counts[2] - counts[1] == pytest.approx(counts[1] - counts[0], rel=0.01), name
    squares = [kt.compile(kt.models.chain_gu(n), "redmax_jacobian").operations.total for n in (6, 12)]
    assert squares[1] > 3.0 * squares[0]
