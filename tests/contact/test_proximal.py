"""Proximal steps of contact problems against the laws of contact and the search of exact solutions."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.contact.proximal import Island, proximal

TOLERANCE = 1e-10


def problem(rng, n=6, k=8, m=2):
    """Rows of more contacts than velocities can tell apart, and of m bounded rows; some velocities open all contacts.

    So a solution exists (Acary, Cadoux, Lemaréchal, Malick 2011).
    """
    W = rng.normal(size=(3 * n + m, k))
    b = W @ rng.normal(size=k)
    b[2 : 3 * n : 3] += 0.1
    b[3 * n :] = rng.normal(size=m)
    return W, b, rng.uniform(0.1, 0.6, n), np.zeros(n), np.tile([-0.1, 0.2], (m, 1))


@pytest.mark.seeds(20)
def test_impulses_obey_the_laws(seed):
    """From no impulses: the natural map of all contacts, the bounds of rows, and the velocities of the exact solver."""
    W, b, friction, compliance, bounds = problem(np.random.default_rng(seed))
    island, n = Island(W, b, friction, compliance, bounds), 3 * len(friction)
    impulses, residual = proximal(island, np.zeros(len(b)), TOLERANCE)
    assert residual <= TOLERANCE
    u = W @ (impulses @ W) + b
    mass = 1.0 / island.response[:n:3]
    misfits = kt.contact.natural_map(impulses[:n].reshape(-1, 3), u[:n].reshape(-1, 3), friction, mass)
    assert misfits.max() < 1e-8
    rows, rates = impulses[n:], u[n:]
    assert rows == pytest.approx(np.clip(rows - rates / island.response[n:], -0.1, 0.2), abs=1e-8)
    again, _ = proximal(island, impulses, TOLERANCE)
    assert again == pytest.approx(impulses, abs=1e-7)  # a solution is kept


def test_impulses_are_continuous_where_the_rigid_ones_jump():
    """A plate on four feet whose gaps differ by rounding: from equal impulses, all remain nearly equal."""
    arms = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    W = np.zeros((12, 6))
    for k, (x, y) in enumerate(arms):
        W[3 * k], W[3 * k + 1], W[3 * k + 2] = np.eye(6)[3], np.eye(6)[4], (y, -x, 0.0, 0.0, 0.0, 1.0)
    b = np.zeros(12)
    b[2::3] = -0.01
    start = np.zeros(12)
    start[2::3] = 0.0025
    friction, none = np.full(4, 0.5), np.zeros(4)
    rigid = kt.contact.ContactProblem(W @ W.T, b, friction)
    for corner in range(4):
        gaps = b.copy()
        gaps[3 * corner + 2] += 1e-9
        impulses, residual = proximal(Island(W, gaps, friction, none, np.zeros((0, 2))), start, 1e-8)
        assert residual < 1e-8
        assert impulses == pytest.approx(start, abs=1e-5)
    assert rigid.solve().impulses[:, 2].sum() == pytest.approx(0.01, abs=1e-9)
