"""Section 6.6: the algorithms as Gaussian elimination of one system, and as factorizations of the mass matrix.

Inventory C06.16, C06.17; Featherstone (2008), section 6.6; Ascher, Pai and Cloutier (1997); Rodriguez (1987).
Bodies, the forces through their joints and the joint accelerations are the unknowns of one linear system, in world
coordinates: I a - P f = - p, P^T a - S qdd = c, S^T f = tau.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial.dense import rot, xlt
from tests.identities.systems import close, state
from tests.trees.maximal import Bodies, _diagonal

SEEDS = range(8)


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


class System:
    """The system of a random tree, with the places of its unknowns."""

    def __init__(self, seed: int) -> None:
        model = kt.models.random_tree(4 + seed % 5, seed=500 + seed, floating=seed % 2 == 0, armature=False)
        self.q, self.v, _, self.tau = state(model, seed)
        self.model, self.bodies = model, Bodies(model, self.q, self.v)
        _, _, P, _, _ = self.bodies.system(self.tau)
        I, S = _diagonal(self.bodies.I[1:]), _diagonal(self.bodies.S[1:])
        n, N = model.nv, 6 * (model.nb - 1)
        self.matrix = np.block(
            [[I, -P, np.zeros((N, n))], [-P.T, np.zeros((N, N)), S], [np.zeros((n, N)), S.T, np.zeros((n, n))]]
        )
        bias = np.concatenate([self.bodies.bias[i] for i in model.outward()])
        self.right = np.r_[-self.bodies.p[1:].ravel(), -bias, self.tau]
        self.a = [slice(6 * i - 6, 6 * i) for i in range(1, model.nb)]
        self.f = [slice(N + 6 * i - 6, N + 6 * i) for i in range(1, model.nb)]
        self.qdd = [slice(2 * N + k.start, 2 * N + k.stop) for k in model.v_slice[1:]]

    def places(self, *slices):
        return np.concatenate([np.arange(s.start, s.stop) for s in slices]).astype(int)


def eliminated(matrix, right, kept):
    """Schur complement and right-hand side of the unknowns kept, and the condition of what was eliminated."""
    gone = np.setdiff1d(np.arange(len(matrix)), kept)
    solved = np.linalg.solve(matrix[np.ix_(gone, gone)], np.c_[matrix[np.ix_(gone, kept)], right[gone]])
    rest = matrix[np.ix_(kept, gone)] @ solved
    lost = np.linalg.cond(matrix[np.ix_(gone, gone)]) if len(gone) else 1.0
    return matrix[np.ix_(kept, kept)] - rest[:, :-1], right[kept] - rest[:, -1], lost


@pytest.mark.parametrize("seed", SEEDS)
def test_bodies_first_is_the_mass_matrix(seed):
    """C06.16: with accelerations of bodies and forces eliminated, H qdd = tau - C is left: crba and rnea."""
    system = System(seed)
    H, rest, lost = eliminated(system.matrix, system.right, system.places(*system.qdd))
    close(H, kt.crba(system.model, system.q), scale=lost)
    close(rest, system.tau - kt.bias_forces(system.model, system.q, system.v), scale=lost)


@pytest.mark.parametrize("seed", SEEDS)
def test_leaves_first_is_the_articulated_body_inertia(seed):
    """C06.16: with all that body i carries eliminated, f = I^A a + p^A is left of its row: articulated bodies."""
    system = System(seed)
    model = system.model
    R, p = kt.forward_kinematics(model, system.q)
    for i in model.outward():
        beyond = [k - 1 for k in model.subtree(i) if k != i]
        inside = [s[k] for k in beyond for s in (system.a, system.f, system.qdd)]
        part = system.places(system.a[i - 1], *inside)
        IA, minus_pA, lost = eliminated(system.matrix[np.ix_(part, part)], system.right[part], np.arange(6))
        expected, bias = kt.dynamics.articulated_inertia(
            model, system.q, system.v, system.tau, handles=model.body_names[i], method="assembly",
            bodies=[model.body_names[k] for k in model.subtree(i)],
        )  # fmt: skip
        to_world = np.linalg.inv(rot(R[i].T) @ xlt(p[i]))
        close(to_world.T @ IA @ to_world, expected, scale=lost * np.abs(expected).max(), ulps=1e5)
        close(-to_world.T @ minus_pA, bias, scale=lost * np.abs(bias).max(), ulps=1e5)


@pytest.mark.parametrize("seed", SEEDS)
def test_square_factors_of_the_mass_matrix(seed):
    """C06.17: H = (1 + K) D (1 + K)^T with D of the articulated bodies and 1 + K = L^T of L^T D L."""
    model = kt.models.random_tree(4 + seed % 5, seed=500 + seed, joints=[kt.joints.Revolute()], armature=False)
    q, *_ = state(model, seed)
    L, D = kt.sparse.ltdl(model, q)
    for i in model.outward():
        names = [model.body_names[k] for k in model.subtree(i)]
        IA, _ = kt.dynamics.articulated_inertia(model, q, handles=model.body_names[i], bodies=names)
        S = model.joints[i].motion_subspace([q[i - 1]])[0].array()
        close(D[i - 1], S @ IA @ S, scale=np.linalg.cond(IA) * np.abs(IA).max())
    close(L.T @ np.diag(D) @ L, kt.crba(model, q))
    # H^-1 = (1 + K)^-T D^-1 (1 + K)^-1, the product that articulated bodies compute without H
    tau = np.random.default_rng(seed).standard_normal(model.nv)
    u = kt.sparse.lower_transpose_solve(model, L, tau)
    found = kt.sparse.lower_solve(model, L, u / D)
    close(found, kt.dynamics.inverse_mass_product(model, q, tau), scale=np.linalg.cond(kt.crba(model, q)))
