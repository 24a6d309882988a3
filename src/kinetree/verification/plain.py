"""The reference implementation: six-vectors in the axes of the world, 6 x 6 matrices, NumPy arrays over a batch.

Nothing here is shared with the algorithms but the joints (``transform``, ``motion_subspace``,
``velocity``, ``bias``) and the model's data. It runs in extended precision where the machine has it, so that its own
rounding does not matter.

A six-vector of body i is in the axes of the world about the origin of body i.
"""

from __future__ import annotations

import numpy as np

PRECISE = np.longdouble
"""Extended precision: 64 bits on x86, the same as float64 on some machines."""


def spread(values, n: int, dtype) -> np.ndarray:
    """Scalars of any kind as the last axis of an array over the batch, (n, len(values))."""
    out = np.empty((n, len(values)), dtype)
    for k, x in enumerate(values):
        out[:, k] = x
    return out


def matrix(entries, n: int, dtype) -> np.ndarray:
    """A Matrix3 over the batch, (n, 3, 3)."""
    return spread([entries[i, j] for i in range(3) for j in range(3)], n, dtype).reshape(n, 3, 3)


def turned(R, six):
    """Both halves of six-vectors (n, 6) or of their columns (n, 6, m), turned by R (n, 3, 3)."""
    columns = six[..., None] if six.ndim == 2 else six
    out = np.concatenate([R @ columns[:, :3], R @ columns[:, 3:]], axis=1)
    return out[..., 0] if six.ndim == 2 else out


def cross(x, y):
    """The cross product along the second axis of (n, 3) or (n, 3, m)."""
    return np.cross(x, y, axis=1)


def shifted(motion, offset):
    """A motion at an offset: ``v + w x r``."""
    r = offset if motion.ndim == 2 else offset[..., None]
    return np.concatenate([motion[:, :3], motion[:, 3:] + cross(motion[:, :3], r)], axis=1)


def shifted_back(force, offset):
    """A force at an offset, as at its beginning: ``n + r x f``."""
    return np.concatenate([force[:, :3] + cross(offset, force[:, 3:]), force[:, 3:]], axis=1)


def motion_cross(V, W):
    """``V x W`` of two motions."""
    return np.concatenate([cross(V[:, :3], W[:, :3]), cross(V[:, :3], W[:, 3:]) + cross(V[:, 3:], W[:, :3])], axis=1)


def force_cross(V, F):
    """``V x* F``."""
    return np.concatenate([cross(V[:, :3], F[:, :3]) + cross(V[:, 3:], F[:, 3:]), cross(V[:, :3], F[:, 3:])], axis=1)


def skew(x):
    """``x x`` as matrices, (n, 3, 3)."""
    o = np.zeros_like(x[:, 0])
    rows = [[o, -x[:, 2], x[:, 1]], [x[:, 2], o, -x[:, 0]], [-x[:, 1], x[:, 0], o]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


class Plain:
    """A mechanism at a batch of states.

    Parameters
    ----------
    model : Model
    q, v : (n, nq), (n, nv) array
    t : (n,) array or None
        For models that depend on time.
    dtype : dtype

    Attributes
    ----------
    R, p : list of (n, 3, 3) and (n, 3) array
        Poses of the bodies in the world.
    offset : list of (n, 3) array
        From the origin of the parent to that of the body.
    S : list of (n, 6, nv_i) array
    V_J, c_J, V : list of (n, 6) array
        Velocity and bias of the joint, velocity of the body.
    """

    def __init__(self, model, q, v, t=None, dtype=PRECISE) -> None:
        self.model, self.n, self.dtype = model, len(q), np.dtype(dtype)
        q, v = np.asarray(q, dtype), np.asarray(v, dtype)
        self.v = v
        tree = model if t is None else model.at(np.asarray(t, dtype))
        n, nb, zero = self.n, model.nb, np.zeros((self.n, 6), dtype)
        self.R, self.p, self.offset, self.S = [None] * nb, [None] * nb, [None] * nb, [None] * nb
        self.V_J, self.c_J, self.V = [zero] + [None] * (nb - 1), [zero] + [None] * (nb - 1), [zero] + [None] * (nb - 1)
        self.R[0] = np.broadcast_to(np.eye(3, dtype=dtype), (n, 3, 3))
        self.p[0] = self.offset[0] = np.zeros((n, 3), dtype)
        for i in model.outward():
            p, joint = model.parent[i], tree.joints[i]
            q_i, v_i = list(model.q_of(i, q.T)), list(model.v_of(i, v.T))
            X_J, X_T = joint.transform(q_i), model.X_T[i]
            E_T, r_T = matrix(X_T.E.matrix, n, dtype), spread([*X_T.r], n, dtype)
            E_J, r_J = matrix(X_J.E.matrix, n, dtype), spread([*X_J.r], n, dtype)
            # X = X_J X_T: the joint's origin in parent coordinates is r_T + E_T^T r_J.
            r = r_T + (np.swapaxes(E_T, 1, 2) @ r_J[..., None])[..., 0]
            self.R[i] = self.R[p] @ np.swapaxes(E_J @ E_T, 1, 2)
            self.offset[i] = (self.R[p] @ r[..., None])[..., 0]
            self.p[i] = self.p[p] + self.offset[i]
            columns = [spread([*S_k], n, dtype) for S_k in joint.motion_subspace(q_i)]
            own = np.stack(columns, axis=-1) if columns else np.zeros((n, 6, 0), dtype)
            self.S[i] = turned(self.R[i], own)
            self.V_J[i] = turned(self.R[i], spread([*joint.velocity(q_i, v_i)], n, dtype))
            self.c_J[i] = turned(self.R[i], spread([*joint.bias(q_i, v_i)], n, dtype))
            self.V[i] = shifted(self.V[p], self.offset[i]) + self.V_J[i]

    # Inertias ------------------------------------------------------------------------------------------------------

    def inertia(self, i: int) -> np.ndarray:
        """The spatial inertia of body i as matrices, (n, 6, 6)."""
        body, n, R = self.model.I[i], self.n, self.R[i]
        I = R @ matrix(body.I.matrix, n, self.dtype) @ np.swapaxes(R, 1, 2)
        h = skew((R @ spread([*body.h], n, self.dtype)[..., None])[..., 0])
        m = np.broadcast_to(np.eye(3, dtype=self.dtype) * self.dtype.type(body.m), (n, 3, 3))
        return np.concatenate([np.concatenate([I, h], axis=2), np.concatenate([-h, m], axis=2)], axis=1)

    def jacobians(self) -> np.ndarray:
        """Jacobians of all bodies, (n, nb, 6, nv)."""
        J = np.zeros((self.n, self.model.nb, 6, self.model.nv), self.dtype)
        for i in self.model.outward():
            J[:, i] = shifted(J[:, self.model.parent[i]], self.offset[i])
            J[:, i, :, self.model.v_slice[i]] += self.S[i]
        return J

    def mass_matrix(self) -> np.ndarray:
        """``M = sum J^T I J``, with armatures and rotors, (n, nv, nv)."""
        model, J = self.model, self.jacobians()
        M = np.zeros((self.n, model.nv, model.nv), self.dtype)
        M[:, range(model.nv), range(model.nv)] = np.asarray(model.armature, self.dtype)
        for i in model.outward():
            M += np.swapaxes(J[:, i], 1, 2) @ (self.inertia(i) @ J[:, i])
        for rotor, k, axis in self._rotors():
            along = (axis[:, None, :] @ J[:, rotor.body, :3])[:, 0] * (rotor.axial_inertia * rotor.ratio)
            M[:, k, :] += along
            M[:, :, k] += along
            M[:, k, k] += rotor.axial_inertia * rotor.ratio**2
        return M

    def _rotors(self):
        for rotor in self.model.rotors:
            axis = (self.R[rotor.body] @ spread([*rotor.axis], self.n, self.dtype)[..., None])[..., 0]
            yield rotor, self.model.v_slice[rotor.joint].start, axis

    # Motion and forces ---------------------------------------------------------------------------------------------

    def accelerations(self, a, gravity: bool = False) -> list:
        """Spatial accelerations of the bodies, (n, 6) each; less gravity on request."""
        model, a = self.model, np.asarray(a, self.dtype)
        A = [np.zeros((self.n, 6), self.dtype)] + [None] * (model.nb - 1)
        if gravity:
            A[0][:, 3:] = [-self.dtype.type(x) for x in model.gravity]
        for i in model.outward():
            A_J = (self.S[i] @ a[:, model.v_slice[i], None])[..., 0] + self.c_J[i]
            A[i] = shifted(A[model.parent[i]], self.offset[i]) + A_J + motion_cross(self.V[i], self.V_J[i])
        return A

    def body_forces(self, a, gravity: bool = True) -> list:
        """Forces that the bodies need for their motion, (n, 6) each; couples of spinning rotors included."""
        A, a, F = self.accelerations(a, gravity), np.asarray(a, self.dtype), [None] * self.model.nb
        for i in self.model.outward():
            I = self.inertia(i)
            F[i] = (I @ A[i][..., None])[..., 0] + force_cross(self.V[i], (I @ self.V[i][..., None])[..., 0])
        for rotor, k, axis in self._rotors():
            b, J = rotor.body, rotor.axial_inertia * rotor.ratio
            F[b][:, :3] += J * (axis * a[:, k, None] + cross(self.V[b][:, :3], axis) * self.v[:, k, None])
        return F

    def joint_forces(self, a, f_ext=None) -> np.ndarray:
        """Inverse dynamics of the bare tree, (n, nv)."""
        model, F, tau = self.model, self.body_forces(a), np.zeros((self.n, self.model.nv), self.dtype)
        a = np.asarray(a, self.dtype)
        if f_ext is not None:
            for i in model.outward():
                F[i] = F[i] - shifted_back(np.asarray(f_ext[:, i], self.dtype), -self.p[i])
        if self.model.rotors:
            A = self.accelerations(a)
            for rotor, k, axis in self._rotors():
                spin = np.sum(axis * A[rotor.body][:, :3], axis=1) + rotor.ratio * a[:, k]
                tau[:, k] += rotor.axial_inertia * rotor.ratio * spin
        for i in model.inward():
            tau[:, model.v_slice[i]] += (np.swapaxes(self.S[i], 1, 2) @ F[i][..., None])[..., 0]
            p = model.parent[i]
            if p:
                F[p] = F[p] + shifted_back(F[i], self.offset[i])
        return tau + np.asarray(model.armature, self.dtype) * a

    def momentum(self) -> np.ndarray:
        """Momentum of all bodies and spinning rotors about the world's origin, (n, 6)."""
        total = np.zeros((self.n, 6), self.dtype)
        for i in self.model.outward():
            total += shifted_back((self.inertia(i) @ self.V[i][..., None])[..., 0], self.p[i])
        for rotor, k, axis in self._rotors():
            total[:, :3] += axis * (rotor.axial_inertia * rotor.ratio * self.v[:, k, None])
        return total

    def kinetic_energy(self) -> np.ndarray:
        """Of all bodies, armatures and rotors, (n,)."""
        T = np.sum(np.asarray(self.model.armature, self.dtype) * self.v**2, axis=1)
        for i in self.model.outward():
            T = T + np.sum(self.V[i] * (self.inertia(i) @ self.V[i][..., None])[..., 0], axis=1)
        for rotor, k, axis in self._rotors():
            spin, J = rotor.ratio * self.v[:, k], rotor.axial_inertia
            T = T + J * spin * (spin + 2.0 * np.sum(axis * self.V[rotor.body][:, :3], axis=1))
        return T / 2

    def potential_energy(self) -> np.ndarray:
        """Of all bodies in the gravity field, (n,)."""
        g, V = np.array([float(x) for x in self.model.gravity], self.dtype), np.zeros(self.n, self.dtype)
        for i in self.model.outward():
            body = self.model.I[i]
            lever = body.m * self.p[i] + (self.R[i] @ spread([*body.h], self.n, self.dtype)[..., None])[..., 0]
            V = V - lever @ g
        return V


# Linear algebra in any precision -------------------------------------------------------------------------------------


def solve_symmetric(M, b) -> np.ndarray:
    """``M^-1 b`` for positive definite M (n, m, m) and b (n, m, k), by Gaussian elimination in the precision of M."""
    M, b = M.copy(), b.astype(M.dtype)
    m = M.shape[1]
    if M.dtype == np.float64:
        return np.linalg.solve(M, b)
    with np.errstate(all="ignore"):
        for k in range(m):
            factor = M[:, k + 1 :, k] / M[:, k, k, None]
            M[:, k + 1 :, k:] -= factor[..., None] * M[:, None, k, k:]
            b[:, k + 1 :] -= factor[..., None] * b[:, None, k]
        for k in reversed(range(m)):
            b[:, k] = (b[:, k] - (M[:, None, k, k + 1 :] @ b[:, k + 1 :])[:, 0]) / M[:, k, k, None]
    return b


def gear_sizes(model) -> list[tuple[int, int, float, float]]:
    """Velocity, stator, ``J |rho|`` and ``|rho|`` of every rotor."""
    return [
        (model.v_slice[rotor.joint].start, rotor.body, rotor.axial_inertia * abs(rotor.ratio), abs(rotor.ratio))
        for rotor in model.rotors
    ]
