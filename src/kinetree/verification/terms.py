"""Bounds of rounding errors: the sizes of all terms that an algorithm sums, and the error that follows from them.

A sum of n products is computed with an error of at most n u times the sum of the products' sizes, u = 2^-53, for any
cancellation among them. So inverse dynamics is evaluated once more on sizes: lengths of vectors instead of vectors,
sums instead of differences, paths along the tree instead of distances. The result bounds the rounding of every
method for the same joint force.

Forward dynamics solves M a = tau - c. A method that is stable gives the exact solution for an M and a c that are off by
their rounding, so that ``|da| <= |M^-1| (|dM| |a| + |dc|)``: the condition of M, entry by entry.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kinetree.verification.plain import gear_sizes

EPS = float(np.finfo(np.float64).eps)
PER_BODY = 16
"""Roundings that a number undergoes, one after the other, from one body to the next: a vector is turned (3 + 3),
moved (2 + 1), multiplied by an inertia (4) and added (1), and sines, axes and bias are rounded themselves (2)."""


def norm(x):
    """Length of the vectors along the second axis."""
    return np.sqrt(np.sum(np.asarray(x, float) ** 2, axis=1))


class Terms:
    """Sizes of the terms of a mechanism's dynamics at a batch of states.

    Parameters
    ----------
    plain : Plain
        Kinematics at the states.
    a : (n, nv) array
    f_ext : (n, nb, 6) array or None
    world : bool
        Of algorithms that refer everything to the origin of the world, however far it is.
    longer : float
        Added to the length of every path [m].
    faster : float
        Added to the size of every velocity [rad/s or m/s].

    Attributes
    ----------
    tau : (n, nv) array
        Of joint forces.
    M : (n, nv, nv) array
        Of the mass matrix.
    reach : float
        Longest path in the tree [m].
    """

    def __init__(self, plain, a, f_ext=None, *, world=False, longer=0.0, faster=0.0):
        model, n = plain.model, plain.n
        self.model, self.n = model, n
        v, a = np.abs(np.asarray(plain.v, float)) + faster, np.abs(np.asarray(a, float))
        zero = np.zeros(n)
        path, W, L, dW, dL = ([zero] + [None] * (model.nb - 1) for _ in range(5))
        turn, shift = np.zeros((n, model.nb, model.nv)), np.zeros((n, model.nb, model.nv))
        gravity = float(np.sqrt(sum(float(x) ** 2 for x in model.gravity)))
        dL[0] = zero + gravity
        mass, first, second = np.zeros((n, model.nb)), np.zeros((n, model.nb)), np.zeros((n, model.nb))
        for i in model.outward():
            p, k = model.parent[i], model.v_slice[i]
            length = norm(plain.offset[i]) + longer
            path[i] = path[p] + length
            ang, lin = norm(plain.S[i][:, :3]), norm(plain.S[i][:, 3:])
            w_J = norm(plain.V_J[i][:, :3]) + ang.sum(axis=1) * faster
            v_J = norm(plain.V_J[i][:, 3:]) + lin.sum(axis=1) * faster
            W_J, A_J = ang * a[:, k], lin * a[:, k]
            # velocity and acceleration of the body's origin, term by term
            W[i], L[i] = W[p] + w_J, L[p] + W[p] * length + v_J
            c = norm(plain.c_J[i][:, :3]), norm(plain.c_J[i][:, 3:])
            rate = (1.0 + faster) ** 2
            dW[i] = dW[p] + W_J.sum(axis=1) + c[0] * rate + W[p] * w_J
            dL[i] = dL[p] + (dW[p] + W[p] ** 2) * length + A_J.sum(axis=1) + c[1] * rate + (2.0 * W[p] + w_J) * v_J
            turn[:, i], shift[:, i] = turn[:, p], shift[:, p] + turn[:, p] * length[:, None]
            turn[:, i, k], shift[:, i, k] = ang, lin
            body = model.I[i]
            mass[:, i] = float(body.m)
            first[:, i] = np.linalg.norm([float(x) for x in body.h]) + body.m * longer
            second[:, i] = np.linalg.norm(np.array(body.I.matrix.rows, float))
        away = np.stack([norm(p) for p in plain.p], axis=1) if world else np.zeros((n, model.nb))
        W, L, dW, dL = (np.stack(x, axis=1) for x in (W, L, dW, dL))
        # About a point that is `away` from the body's origin, and as spatial accelerations.
        L, dL = L + W * away, dL + dW * away + W * L * (1.0 if world else 0.0)
        second = second + 2.0 * first * away + mass * away**2
        first = first + mass * away
        shift = shift + turn * away[..., None]
        F = mass * dL + first * (dW + W**2) + mass * W * L
        N = second * (dW + W**2) + first * dL + first * W * L
        if f_ext is not None:
            n_ext, f = np.linalg.norm(f_ext[..., :3], axis=-1), np.linalg.norm(f_ext[..., 3:], axis=-1)
            far = np.stack([norm(p) for p in plain.p], axis=1) * (1.0 if not world else 0.0)
            F, N = F + f, N + n_ext + far * f
            N[:, 0] = F[:, 0] = 0.0
        self.turn, self.shift, self.paths = turn, shift, np.stack(path, axis=1)
        self.reach = float(self.paths.max(initial=0.0))
        self.F, self.N = F, N
        self.mass, self.first, self.second = mass, first, second
        tau = np.einsum("bik,bi->bk", turn, N) + np.einsum("bik,bi->bk", shift, F)
        self.tau = tau + np.asarray(model.armature) * a
        for k, b, J, ratio in gear_sizes(model):
            self.tau += turn[:, b] * (J * (a[:, k] + W[:, b] * v[:, k]))[:, None]
            self.tau[:, k] += J * (dW[:, b] + ratio * a[:, k])

    @cached_property
    def M(self) -> np.ndarray:
        turn, shift, model = self.turn, self.shift, self.model
        mixed = np.swapaxes(turn * self.first[..., None], 1, 2) @ shift
        M = np.swapaxes(turn * self.second[..., None], 1, 2) @ turn + mixed + np.swapaxes(mixed, 1, 2)
        M = M + np.swapaxes(shift * self.mass[..., None], 1, 2) @ shift
        M[:, range(model.nv), range(model.nv)] += np.asarray(model.armature)
        for k, b, J, ratio in gear_sizes(model):
            M[:, k, :] += J * turn[:, b]
            M[:, :, k] += J * turn[:, b]
            M[:, k, k] += J * ratio
        return M


class Tolerances:
    """The rounding errors that each quantity may have, entry by entry.

    Parameters
    ----------
    model : Model
    plain : Plain
    v, a, tau : (n, nv) array
    f_ext : (n, nb, 6) array
    M_inverse : (n, nv, nv) array
        Its entries' sizes bound errors of accelerations by errors of forces.
    """

    def __init__(self, model, plain, a, f_ext, M_inverse) -> None:
        self.model, self._plain, self._f_ext = model, plain, f_ext
        self.near = Terms(plain, a, f_ext)
        self.M_inverse = np.abs(np.asarray(M_inverse, float))
        steps = PER_BODY * (max(model.depth) + 2)
        self.u = EPS * steps  # two methods, each with roundings of size 2^-53 = EPS / 2
        self.u_solve = self.u + EPS * model.nv  # elimination sums nv products more

    @cached_property
    def far(self) -> Terms:
        """Of algorithms that refer all to the origin of the world."""
        return Terms(self._plain, np.zeros_like(self.near.tau), self._f_ext, world=True)

    def forces(self, a, *, world=False, f_ext=True) -> np.ndarray:
        """Of joint forces for these accelerations, (n, nv)."""
        terms = Terms(self._plain, a, self._f_ext if f_ext else None, world=world)
        return self.u * terms.tau

    def matrix(self, *, world=False) -> np.ndarray:
        """Of the mass matrix, (n, nv, nv)."""
        return self.u * (self.far if world else self.near).M

    @property
    def root(self) -> np.ndarray:
        """Square roots of the diagonal of M's sizes: a bound of an entry at every stage of elimination."""
        return np.sqrt(np.diagonal(self.near.M, axis1=1, axis2=2))

    def solved(self, x, *, world=False) -> np.ndarray:
        """Error of the right-hand side that stands for the rounding of M when the solution is x, (n, nv)."""
        s = np.sqrt(np.diagonal(self.far.M, axis1=1, axis2=2)) if world else self.root
        return self.u_solve * s * np.sum(s * np.abs(np.asarray(x, float)), axis=1, keepdims=True)

    def accelerations(self, a, tau, M_inverse=None, *, world=False) -> np.ndarray:
        """Of forward dynamics with this result, (n, nv)."""
        wrong = self.forces(a, world=world) + self.u * np.abs(tau) + self.solved(a, world=world)
        inverse = self.M_inverse if M_inverse is None else np.abs(np.asarray(M_inverse, float))
        return (inverse @ wrong[..., None])[..., 0]

    def inverse(self) -> np.ndarray:
        """Of M^-1, (n, nv, nv)."""
        wrong = self.u_solve * self.root[:, :, None] * self.root[:, None, :]
        return self.M_inverse @ wrong @ self.M_inverse

    def solution(self, x) -> np.ndarray:
        """Of M^-1 b with the result x, (n, nv)."""
        return (self.M_inverse @ self.solved(x)[..., None])[..., 0]

    def force_derivatives(self, a) -> tuple[np.ndarray, np.ndarray]:
        """Of the derivatives of joint forces in q and in v, (n, nv, nv) each.

        Sizes are sums of products of lengths, velocities and sines with positive coefficients: such a function f has
        ``f'(x) <= (f(x + d) - f(x)) / d``, and turning changes no size. So a whole reach is added to every path, and
        one unit to every velocity.
        """
        f_ext, reach = self._f_ext, max(self.near.reach, 1e-300)
        wide = Terms(self._plain, a, f_ext, longer=reach).tau
        turn, shift = self.near.turn.max(axis=1), np.zeros_like(self.near.tau)
        for i in self.model.outward():
            shift[:, self.model.v_slice[i]] = norm(self._plain.S[i][:, 3:])
        dq = wide[:, :, None] * (turn + shift / reach)[:, None, :]
        fast = Terms(self._plain, a, f_ext, faster=1.0).tau
        dv = np.broadcast_to(fast[:, :, None], dq.shape)
        return self.u * dq, self.u * dv
