"""Projection on closed loops: least in the metric of M, by dense linear algebra; convergence, energy, couplings."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error, constraint_jacobian
from kinetree.constraints import LoopJoint
from kinetree.joints import Revolute, Spherical
from tests.constraints.test_loops import rhombus


@functools.cache
def quadruped():
    """A floating base with two feet pinned to the ground, and a closed position."""
    model = kt.load("quadruped", floating_base=True).without_limits()
    q = model.random_q(np.random.default_rng(1))
    feet = [name for name in model.body_names if not model.children(model.body(name))][:2]
    pins = []
    for foot in feet:
        _, p = kt.pose(model, q, frame=foot)
        pins.append(LoopJoint(foot, Spherical(), "world", foot, kt.spatial.Transform.shift(kt.spatial.Vector3(*p))))
    return model.with_constraints(*pins), q


@functools.cache
def geared():
    """A chain closed by a pin, in which the second joint follows the first and the third is locked."""
    chain = kt.models.n_pendulum(5)
    names, q = chain.joint_names, np.array([-0.9, 0.45, 0.3, -1.5, 0.4])
    p = kt.pose(chain, q, frame="rod5").p_WF
    pin = LoopJoint("pin", Revolute((0.0, 1.0, 0.0)), "world", "rod5",
                    kt.spatial.Transform.shift(kt.spatial.Vector3(*p)))  # fmt: skip
    return chain.with_constraints(
        kt.constraints.Coupling(names[1], names[0], -0.5), kt.constraints.Lock(names[2]), pin
    ), q  # fmt: skip


CASES = {"four-bar": lambda: (rhombus(), np.array([1.2, -1.2, 1.2 - np.pi])), "quadruped": quadruped, "geared": geared}


def gap(model, q) -> float:
    return max(abs(float(x)) for x in constraint_error(model, np.asarray(q).tolist()))


def across(model, q):
    """M, and the rows of all constraints, redundant ones among them."""
    G = np.array(constraint_jacobian(model, np.asarray(q).tolist()), dtype=float)
    return kt.crba(model.replace(constraints=()), q), G


def least(model, q, error):
    """The dense solution of min dv^T M dv with G dv = -error, by the pseudoinverse of all rows."""
    M, G = across(model, q)
    half = np.linalg.cholesky(np.linalg.inv(M))
    return -half @ np.linalg.pinv(G @ half, rcond=1e-9) @ error


@pytest.mark.parametrize("case", CASES)
def test_the_change_of_velocity_is_the_least_in_the_metric_of_the_mass_matrix(case):
    """Against dense linear algebra with all rows; nothing is left across them, and kinetic energy never rises."""
    model, q = CASES[case]()
    rng = np.random.default_rng(4)
    v = rng.standard_normal((5, model.nv))
    if case == "geared":  # couplings are applied first: their masters keep their velocity
        v[:, 1], v[:, 2] = -0.5 * v[:, 0], 0.0
        lost = v + [0.0, 0.7, 0.3, 0.0, 0.0]  # dependent velocities are those of their constraints
        assert kt.closed_loops.project_velocity(model, q, lost) == pytest.approx(
            kt.closed_loops.project_velocity(model, q, v), abs=1e-13
        )
    found = kt.closed_loops.project_velocity(model, q, v)
    M, G = across(model, q)
    for x, y in zip(v, found, strict=True):
        assert y == pytest.approx(x + least(model, q, G @ x), abs=1e-9 * np.abs(x).max())
        assert np.abs(G @ y).max() < 1e-11 * np.abs(G).max() * np.abs(y).max()
        assert y @ M @ y <= x @ M @ x * (1.0 + 1e-12)
    assert kt.closed_loops.project_velocity(model, q, found) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_positions_are_closed_by_the_least_step(case):
    """The first step is that of dense linear algebra up to its square; a gap of 1e-3 vanishes to rounding."""
    model, q = CASES[case]()
    rng = np.random.default_rng(5)
    free = [k for k in range(model.nv) if not (case == "geared" and k in (1, 2))]
    for size in (1e-5, 1e-3):
        dv = np.zeros(model.nv)
        dv[free] = size * rng.standard_normal(len(free))
        if case == "geared":
            dv[1] = -0.5 * dv[0]
        away = kt.integrate(model, q, dv)
        near = kt.closed_loops.project_position(model, away)
        assert gap(model, away) > 0.05 * size and gap(model, near) < 2e-14
        moved = kt.difference(model, away, near)
        expected = least(model, away, np.array(constraint_error(model, away.tolist())))
        assert moved == pytest.approx(expected, abs=100.0 * size**2)


def test_trees_keep_their_states():
    """A model without loops gets back the state that it gave, at no cost."""
    model = kt.models.n_pendulum(3)
    q, v = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0])
    assert kt.closed_loops.project_position(model, q).tolist() == q.tolist()
    assert kt.closed_loops.project_velocity(model, q, v).tolist() == v.tolist()
    assert kt.compile(model, "closed_loops_project_position").operations.total == 0


def test_batches_and_float32():
    """Many states at once, and single precision."""
    model, angles = rhombus(), np.linspace(0.3, 2.8, 9)
    q = np.stack([angles, -angles, angles - np.pi], axis=-1) + 1e-3 * np.random.default_rng(0).standard_normal((9, 3))
    near = kt.closed_loops.project_position(model, q)
    assert max(gap(model, x) for x in near) < 1e-14
    for row, x in zip(near, q, strict=True):
        assert kt.closed_loops.project_position(model, x) == pytest.approx(row, abs=1e-14)
    single = kt.closed_loops.project_position(model, q.astype(np.float32))
    assert single.dtype == np.float32 and single == pytest.approx(near, abs=1e-6)
