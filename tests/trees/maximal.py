"""The equations of all bodies and all joints at once, in world coordinates (Featherstone, section 3.7).

An independent method: NumPy matrices of six by six, constraint forces instead of recursions. It shares with the library
the joints' transforms and motion subspaces, and the numbers of the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.spatial.dense import crf, crm
from kinetree.spatial.subspaces import complement


@dataclass(frozen=True)
class Chord:
    """A loop-closing constraint: bodies p and s, and in world coordinates the constraint forces T, which s carries."""

    p: int
    s: int
    T: np.ndarray


@dataclass(frozen=True)
class Solution:
    """What comes out: accelerations of the bodies (from 0, the world), the forces through all joints, qdd, residual."""

    a: np.ndarray
    f_J: np.ndarray
    qdd: np.ndarray
    lam: np.ndarray


class Bodies:
    """A model in a state, taken apart: inertias, bias forces, and for each joint S, T, T_a and its bias.

    The model has no armatures, rotors or couplings: bodies and joints are all there is.
    """

    def __init__(self, model, q, v, f_ext=None):
        self.model, n = model, model.nb
        self.I, self.p, self.V = np.zeros((n, 6, 6)), np.zeros((n, 6)), np.zeros((n, 6))
        self.S, self.T, self.T_a, self.bias = ([None] * n for _ in range(4))
        X_0 = [np.eye(6)] * n
        weight = np.r_[0.0, 0.0, 0.0, np.array(list(model.gravity))]
        for i in model.outward():
            joint, parent = model.joints[i], model.parent[i]
            q_i, v_i = list(q[model.q_slice[i]]), list(v[model.v_slice[i]])
            X_0[i] = (joint.transform(q_i) @ model.X_T[i]).matrix() @ X_0[parent]
            to_world = np.linalg.inv(X_0[i])
            S = np.array([s.array() for s in joint.motion_subspace(q_i)], dtype=float).reshape(-1, 6).T
            self.S[i] = to_world @ S
            V_J, c_J = to_world @ joint.velocity(q_i, v_i).array(), to_world @ joint.bias(q_i, v_i).array()
            self.V[i] = self.V[parent] + V_J
            self.bias[i] = c_J + crm(self.V[i]) @ V_J  # eq. 3.40
            self.T[i] = complement(self.S[i])
            self.T_a[i] = np.linalg.pinv(self.S[i]).T  # T_a^T S = 1
            self.I[i] = X_0[i].T @ model.I[i].matrix() @ X_0[i]
            self.p[i] = crf(self.V[i]) @ self.I[i] @ self.V[i] - self.I[i] @ weight
            if f_ext is not None:
                self.p[i] -= f_ext[i]

    def system(self, tau, chords=()):
        """Coefficients and right-hand side of eq. 3.74, and P, T and P T_a tau, for the joints and then the chords."""
        model, n_B = self.model, self.model.nb - 1
        ends = [(model.parent[i], i) for i in model.outward()] + [(chord.p, chord.s) for chord in chords]
        T = [self.T[i] for i in model.outward()] + [chord.T for chord in chords]
        P = np.zeros((6 * n_B, 6 * len(ends)))  # eq. 3.69; the world has no row
        for j, (p, s) in enumerate(ends):
            for body, sign in ((s, 1.0), (p, -1.0)):
                if body:
                    P[6 * body - 6 : 6 * body, 6 * j : 6 * j + 6] = sign * np.eye(6)
        active = [self.T_a[i] @ tau[model.v_slice[i]] for i in model.outward()] + [np.zeros(6) for _ in chords]
        # T^T a_J = T^T (c_J + v_s x v_J) for joints (eq. 3.44), - Tdot^T v_J for chords, whose T turns with body s
        rates = [self.T[i].T @ self.bias[i] for i in model.outward()]
        rates += [-(crf(self.V[chord.s]) @ chord.T).T @ (self.V[chord.s] - self.V[chord.p]) for chord in chords]
        I, PT = _diagonal(self.I[1:]), P @ _diagonal(T)
        matrix = np.block([[I, PT], [PT.T, np.zeros((PT.shape[1], PT.shape[1]))]])
        right = np.r_[P @ np.concatenate(active) - self.p[1:].ravel(), np.concatenate(rates)]
        return matrix, right, P, _diagonal(T), np.concatenate(active)

    def solve(self, tau, chords=()) -> Solution:
        """Eq. 3.74 solved; constraints may be redundant, then lambda is the shortest one."""
        matrix, right, _, T, active = self.system(tau, chords)
        size = 6 * (self.model.nb - 1)
        found = np.linalg.lstsq(matrix, right, rcond=1e-13)[0]
        a, lam = np.vstack([np.zeros(6), found[:size].reshape(-1, 6)]), -found[size:]
        f_J = (active + T @ lam).reshape(-1, 6)
        qdd = np.zeros(self.model.nv)
        for i in self.model.outward():  # T_a^T a_J = qdd + T_a^T (c_J + v_s x v_J)
            qdd[self.model.v_slice[i]] = self.T_a[i].T @ (a[i] - a[self.model.parent[i]] - self.bias[i])
        return Solution(a, f_J, qdd, lam)


def _diagonal(blocks) -> np.ndarray:
    """Block-diagonal matrix of blocks of any shapes, also such as have no columns."""
    blocks = [np.asarray(block) for block in blocks]
    whole = np.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)))
    row = column = 0
    for b in blocks:
        whole[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return whole
