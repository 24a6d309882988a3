"""Forward dynamics in maximal coordinates: bodies that move by themselves, and joints by their motions alone.

Unknowns are the accelerations of all bodies, the wrenches through all joints, tree joints and loop joints alike, and
the accelerations of all joint velocities. A joint enters by S and its bias, at a position that Newton's method finds
for loop joints: no implicit form, no basis of constraint forces, no mass matrix and no constraint Jacobian of loops is
used. The equations are solved by elimination with complete pivoting in extended precision, so redundant loops need no
choice of rows (Featherstone, 2008, section 3.7; Sueda's notes, section 2.10, for the same with a mass matrix).

A six-vector of body i is in the axes of the world about the origin of body i, one of a loop joint about the origin of
its successor frame.
"""

from __future__ import annotations

import numpy as np

from kinetree.constraints import LoopJoint
from kinetree.constraints.contract import dense
from kinetree.spatial import GeneralRotation, Matrix3, Transform, Vector3
from kinetree.state_kinematics import Kinematics
from kinetree.textbook.loop_elimination import eliminated
from kinetree.textbook.loop_joints import loop_position
from kinetree.verification.plain import Plain, force_cross, motion_cross, shifted, shifted_back, spread, turned

PIVOT = 1e-13  # of the largest entry of a row: what is less is a dependent equation


class Maximal:
    """Accelerations of a model at a batch of states.

    Parameters
    ----------
    model : Model
        Without gears.
    plain : Plain
        Its kinematics.
    q, v, tau : (n, nq), (n, nv), (n, nv) array
        Forces of the joints, passive ones included.
    f_ext : (n, nb, 6) array

    Attributes
    ----------
    a : (n, nv) array
        Accelerations of the tree joints.
    forces : (n, nv) array
        Joint forces that all constraints exert on the tree.
    misfit : float
        The largest error of the equations that follow from others.
    """

    def __init__(self, model, plain: Plain, q, v, tau, f_ext) -> None:
        self.model, self.plain, self.dtype = model, plain, plain.dtype
        self._q, self._v = np.asarray(q, self.dtype), np.asarray(v, self.dtype)
        self._tau, self._f_ext = np.asarray(tau, self.dtype), np.asarray(f_ext, self.dtype)
        self._loops = [c for c in model.constraints if isinstance(c, LoopJoint)]
        self._others = [c for c in model.constraints if not isinstance(c, LoopJoint)]
        solved = [self._solve(n) for n in range(plain.n)]
        self.a, self.misfit = np.array([a for a, _ in solved]), max((gap for _, gap in solved), default=0.0)
        M_a = plain.joint_forces(self.a, f_ext)
        self.forces = M_a - self._tau

    def _solve(self, n: int):
        """Accelerations at state n."""
        model, plain, nb, nv = self.model, self.plain, self.model.nb, self.model.nv
        sizes = [6 * (nb - 1), 6 * (nb - 1), nv]
        sizes += [size for loop in self._loops for size in (6, loop.joint.nv)]
        sizes.append(sum(c.count(model) for c in self._others))
        at = np.cumsum([0, *sizes])
        A, f, qdd = (slice(at[k], at[k + 1]) for k in range(3))
        matrix, right = [], []

        def add(rows, values):
            matrix.append(rows)
            right.append(values)

        def empty(count):
            return np.zeros((count, at[-1]), self.dtype)

        def acceleration(body, offset):
            """Spatial acceleration of a point of a body from the unknowns, (6, unknowns)."""
            rows = empty(6)
            if body:
                rows[:, A.start + 6 * (body - 1) : A.start + 6 * body] = _shift(offset)
            return rows

        balance = {i: empty(6) for i in model.outward()}
        rest = {i: self._rest(i, n) for i in model.outward()}
        for i in model.outward():
            p, k = model.parent[i], model.v_slice[i]
            own = slice(f.start + 6 * (i - 1), f.start + 6 * i)
            balance[i][:, A.start + 6 * (i - 1) : A.start + 6 * i] += plain.inertia(i)[n]
            balance[i][:, own] -= np.eye(6, dtype=self.dtype)
            if p:
                balance[p][:, own] += _shift(plain.offset[i][n]).T
            rows = acceleration(i, np.zeros(3)) - acceleration(p, plain.offset[i][n])
            rows[:, qdd.start + k.start : qdd.start + k.stop] -= plain.S[i][n]
            V, V_J = plain.V[i][n : n + 1], plain.V_J[i][n : n + 1]
            add(rows, plain.c_J[i][n] + motion_cross(V, V_J)[0])
        for number, loop in enumerate(self._loops):
            force, rate = (slice(at[k], at[k + 1]) for k in (3 + 2 * number, 4 + 2 * number))
            (p, to_p), (s, to_s), S, bias = self._loop(loop, n)
            for body, sign, offset in ((s, 1.0, to_s), (p, -1.0, to_p)):
                if body:
                    balance[body][:, force] -= sign * _shift(offset).T
            rows = acceleration(s, to_s) - acceleration(p, to_p)
            rows[:, rate] -= S
            add(rows, bias)
            rows = empty(loop.joint.nv)
            rows[:, force] = S.T
            add(rows, np.zeros(loop.joint.nv, self.dtype))
        for i in model.outward():
            add(balance[i], rest[i])
        add(*self._joint_forces(n, empty(nv), f, qdd, slice(at[-2], at[-1])))
        add(*self._further(n, empty, qdd))
        found = eliminated(np.concatenate(matrix), np.concatenate(right), small=PIVOT, least=0.0)
        return found.g[qdd], found.misfit

    def _rest(self, i, n):
        """``I g - v x* I v`` and the wrench on body i."""
        plain = self.plain
        I, V = plain.inertia(i)[n], plain.V[i][n : n + 1]
        gravity = np.array([0.0, 0.0, 0.0, *map(float, self.model.gravity)], self.dtype)
        wrench = shifted_back(self._f_ext[n : n + 1, i], -plain.p[i][n : n + 1])[0]
        return I @ gravity - force_cross(V, (I @ V[0])[None])[0] + wrench

    def _joint_forces(self, n, rows, f, qdd, further):
        """``S^T f + armature qdd = tau + G^T mu`` of the tree joints."""
        model = self.model
        for i in model.outward():
            k = model.v_slice[i]
            rows[k, f.start + 6 * (i - 1) : f.start + 6 * i] = self.plain.S[i][n].T
        rows[range(model.nv), range(qdd.start, qdd.stop)] += np.asarray(model.armature, self.dtype)
        rows[:, further] = -self._rows(n)[0].T
        return rows, self._tau[n]

    def _further(self, n, empty, qdd):
        """Rows of constraints that are no loop joints, as they state them: ``G qdd = -bias``."""
        G, bias = self._rows(n)
        rows = empty(len(G))
        rows[:, qdd] = G
        return rows, -bias

    def _rows(self, n):
        kin = Kinematics(self.model, list(self._q[n]), list(self._v[n]))
        G = dense([row for c in self._others for row in c.rows(kin)], self.model.nv, self.dtype)
        return G, np.array([x for c in self._others for x in c.bias(kin)], self.dtype)

    def _loop(self, loop, n):
        """Both bodies with the offsets of the successor frame from them, S, and the bias of the relative acceleration.

        The joint's position is that of the frames, its velocity the part of their relative twist along S.
        """
        plain, ends = self.plain, []
        for name, X in ((loop.predecessor, loop.X_P), (loop.successor, loop.X_S)):
            frame = self.model.frame(name)
            placed = X @ frame.X_FB
            E = np.array([[placed.E.matrix[i, j] for j in range(3)] for i in range(3)], self.dtype)
            R_W = plain.R[frame.body][n]
            ends.append((frame.body, R_W @ E.T, R_W @ np.array([*placed.r], self.dtype)))
        (p, R_P, to_P), (s, R_S, to_S) = ends
        p_P, p_S = plain.p[p][n] + to_P, plain.p[s][n] + to_S
        E, r = R_S.T @ R_P, R_P.T @ (p_S - p_P)
        X = Transform(GeneralRotation(Matrix3(tuple(map(tuple, E)))), Vector3(*r))
        joint, position = loop.joint, loop_position(loop.joint, X)
        position = [self.dtype.type(x) for x in position]
        columns = [spread([*S_k], 1, self.dtype)[0] for S_k in joint.motion_subspace(position)]
        S = np.stack(columns, axis=-1) if columns else np.zeros((6, 0), self.dtype)
        to_p = p_S - plain.p[p][n]
        V_P = shifted(plain.V[p][n : n + 1], to_p[None])[0]
        V_S = shifted(plain.V[s][n : n + 1], to_S[None])[0]
        relative = turned(R_S.T[None], (V_S - V_P)[None])[0]
        rates = eliminated(S.T @ S, S.T @ relative).g if joint.nv else np.zeros(0, self.dtype)
        c = spread([*joint.bias(position, list(rates))], 1, self.dtype)
        S_W, c_W = turned(R_S[None], S[None])[0], turned(R_S[None], c)[0]
        return (p, to_p), (s, to_S), S_W, c_W + motion_cross(V_S[None], (V_S - V_P)[None])[0]


def _shift(offset) -> np.ndarray:
    """The matrix that gives a motion at an offset: ``v + w x r``; its transpose takes a force back."""
    x, y, z = offset
    out = np.eye(6, dtype=np.asarray(offset).dtype)
    out[3:, :3] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    return out
