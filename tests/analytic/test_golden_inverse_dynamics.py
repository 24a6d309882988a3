"""What chapter 5 of the book says in numbers and equations: recurrences, the correspondences of table 5.2.

Inventory C05.02-C05.07; Featherstone (2008), sections 5.2-5.4.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.trees.test_sparse_factors import Tally

EXACT = {"rtol": 0.0, "atol": 1e-12}


def skew(x) -> np.ndarray:
    """x cross, as a matrix."""
    return np.cross(x, -np.eye(3))


@pytest.mark.parametrize("n", [1, 2, 6, 10])
def test_cost_of_the_recurrence(n):
    """C05.02, eq. 5.2-5.3: velocities by recurrence take n (m + a), by closed form (n (n+1) m + n (n-1) a) / 2."""

    def spent(velocities):
        counts = {}
        velocities([Tally(counts) for _ in range(n)], [Tally(counts) for _ in range(n)], Tally(counts))
        return counts.get("m", 0), counts.get("a", 0)

    def recurrence(s, rates, v):
        for s_i, rate in zip(s, rates, strict=True):
            v = v + s_i * rate

    def closed_form(s, rates, v):
        for i in range(n):
            v = s[0] * rates[0]
            for j in range(1, i + 1):
                v = v + s[j] * rates[j]

    assert spent(recurrence) == (n, n)
    assert spent(closed_form) == (n * (n + 1) // 2, n * (n - 1) // 2)


@pytest.fixture(scope="module")
def chain():
    """Five revolute joints in a row, a state, and what the bodies do in it, in their own coordinates."""
    model = kt.models.chain_gu(5, seed=4)
    q, v, a = np.random.default_rng(4).standard_normal((3, 5))
    with kt.interpreted():
        V = kt.kinematics.body_velocities(model, q, v, reference="local")
        A = kt.kinematics.body_accelerations(model, q, v, a, reference="local", kind="spatial_offset")
        classical = kt.kinematics.body_accelerations(model, q, v, a, reference="local", kind="classical_offset")
        poses = kt.forward_kinematics(model, q)
    return model, (q, v, a), V, A, classical, poses


def test_accelerations_of_table_5_2(chain):
    """C05.07: a_hat = [dw; dv - w x v]; dw and dv obey the original recursion, gravity in dv_0."""
    model, (_, v, a), V, A, classical, (R_WB, p_WB) = chain
    np.testing.assert_allclose(A[:, :3], classical[:, :3], **EXACT)
    np.testing.assert_allclose(A[:, 3:], classical[:, 3:] - np.cross(V[:, :3], V[:, 3:]), **EXACT)
    z = np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(classical[0], [0.0, 0.0, 0.0, 0.0, 0.0, 9.81])
    for i in model.outward():
        E, r = R_WB[i].T @ R_WB[i - 1], R_WB[i - 1].T @ (p_WB[i] - p_WB[i - 1])
        w, dw, dv = V[i - 1, :3], classical[i - 1, :3], classical[i - 1, 3:]
        np.testing.assert_allclose(V[i, :3], E @ w + z * v[i - 1], **EXACT)
        np.testing.assert_allclose(classical[i, :3], E @ dw + z * a[i - 1] + np.cross(E @ w, z * v[i - 1]), **EXACT)
        expected = E @ (dv + np.cross(dw, r) + np.cross(w, np.cross(w, r)))
        np.testing.assert_allclose(classical[i, 3:], expected, **EXACT)


def test_forces_and_inertias_of_table_5_2(chain):
    """C05.07: f^B = [N + c x F; F] is I a + v x* I v, with I = [[I_cm - m c x c x, m c x], [-m c x, m 1]]."""
    model, _, V, A, classical, _ = chain
    for i in model.outward():
        I = model.I[i]
        m, c = I.m, np.array(list(I.com))
        matrix = I.matrix()
        I_cm = matrix[:3, :3] + m * skew(c) @ skew(c)
        np.testing.assert_allclose(np.linalg.eigvalsh(I_cm) > 0.0, True)
        blocks = [[I_cm - m * skew(c) @ skew(c), m * skew(c)], [-m * skew(c), m * np.eye(3)]]
        np.testing.assert_allclose(matrix, np.block(blocks), **EXACT)
        w, dw, dv = V[i, :3], classical[i, :3], classical[i, 3:]
        F = m * (dv + np.cross(dw, c) + np.cross(w, np.cross(w, c)))
        N = I_cm @ dw + np.cross(w, I_cm @ w)
        h = matrix @ V[i]
        bias = np.concatenate([np.cross(w, h[:3]) + np.cross(V[i, 3:], h[3:]), np.cross(w, h[3:])])
        np.testing.assert_allclose(matrix @ A[i] + bias, np.concatenate([N + np.cross(c, F), F]), **EXACT)


def test_the_original_equations_on_a_chain(chain):
    """C05.07: the joint forces of table 5.2 are those of table 5.1 and of eq. 5.7-5.11, at about the same cost."""
    model, state, *_ = chain
    with kt.interpreted():
        expected = kt.rnea(model, *state)
        np.testing.assert_allclose(kt.textbook.newton_euler(model, *state), expected, **EXACT)
        np.testing.assert_allclose(kt.textbook.rnea_world(model, *state), expected, **EXACT)


def test_conservative_part_is_the_gradient_of_the_potential_energy():
    """C05.05, eq. 5.12-5.13: the holding force of gravity has the sign of +dV/dq; Coriolis forces vanish at rest."""
    model, q, h = kt.models.chain_gu(5, seed=4), np.full(5, 0.3), 1e-3
    with kt.interpreted():
        for k, e in enumerate(np.eye(5)):
            V = [kt.potential_energy(model, q + n * h * e) for n in (-2, -1, 1, 2)]
            slope = (V[0] - 8.0 * V[1] + 8.0 * V[2] - V[3]) / (12.0 * h)
            np.testing.assert_allclose(kt.gravity_forces(model, q)[k], slope, rtol=0.0, atol=1e-9)  # h^4 and eps / h
        assert not np.any(kt.dynamics.coriolis_forces(model, q, np.zeros(5)))
