r"""Articulated bodies with any handles: the response of a mechanism, or of a part of it, to forces on some bodies.

.. math:: \begin{bmatrix} a_1 \\ a_2 \\ \vdots \end{bmatrix} =
    \begin{bmatrix} \Phi_1 & \Phi_{12} & \cdots \\ \Phi_{21} & \Phi_2 & \\ \vdots & & \ddots \end{bmatrix}
    \begin{bmatrix} f_1 \\ f_2 \\ \vdots \end{bmatrix} + \begin{bmatrix} b_1 \\ b_2 \\ \vdots \end{bmatrix}

On arrays, whose leading axes are the batch. Two methods: the projection of the equations of motion on the handles, and
the assembly of the bodies joint by joint, which serves closed loops as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.force_basis import force_basis
from kinetree.algorithms.kinematics import link_transform, motion_subspace
from kinetree.arguments import a_sequence, checked, of_kind, refuse
from kinetree.errors import InertiaError, SingularityError
from kinetree.model.plane import refuse_planar
from kinetree.spatial import Columns
from kinetree.spatial.vectors import assemble

# A direction in which the handles accelerate less than this part of the acceleration of free bodies is none: eps times
# some hundred operations.
SINGULAR = 1e-11
ROUNDING = 1e-15  # a rounded zero eigenvalue of a matrix with a diagonal of ones


# Articulated bodies ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArticulatedBody:
    """Bodies that may be joined, with the responses of some of them, the handles, to forces on these.

    Attributes
    ----------
    handles : tuple
        Names of the handles.
    Phi : (..., 6*m, 6*m) array
        Inverse inertia [1/kg, ...]: accelerations of all m handles for forces on all of them.
    b : (..., 6*m) array
        Accelerations of the handles without such forces [rad/s^2, m/s^2].
    """

    handles: tuple
    Phi: np.ndarray
    b: np.ndarray

    def __post_init__(self) -> None:
        self.Phi.setflags(write=False)
        self.b.setflags(write=False)

    @checked(other=of_kind("ArticulatedBody", "handles", "Phi"))
    def beside(self, other: ArticulatedBody) -> ArticulatedBody:
        """Two articulated bodies as one, with no joint between them yet: Phi is block diagonal."""
        n, m = self.b.shape[-1], other.b.shape[-1]
        batch = np.broadcast_shapes(self.b.shape[:-1], other.b.shape[:-1])
        Phi, b = np.zeros((*batch, n + m, n + m), self.Phi.dtype), np.zeros((*batch, n + m), self.Phi.dtype)
        Phi[..., :n, :n], Phi[..., n:, n:] = self.Phi, other.Phi
        b[..., :n], b[..., n:] = self.b, other.b
        return ArticulatedBody((*self.handles, *other.handles), Phi, b)

    def joined(self, first, second, X, P, E, active, c) -> ArticulatedBody:
        """With a joint from one handle to another, of two bodies or of the same (a closed loop).

        Parameters
        ----------
        first, second
            The handles with the joint's predecessor and successor.
        X : (..., 6, 6) array
            From coordinates of the first to those of the second [1 and m].
        P : (..., 6, k) array
            Basis of the constraint forces (T) and, scaled by the root of the armature, of active forces [1 and m].
        E : (..., k) array
            0 for a constraint force, 1 for an armature [1].
        active : (..., 6) array
            ``T_a tau`` [N m, N].
        c : (..., 6) array
            Acceleration of the second relative to the first without joint acceleration [rad/s^2, m/s^2].

        Notes
        -----
        Source: Featherstone (2008), eq. 7.57-7.63 (with errata), for any number of handles: ``G`` stands for T on the
        second handle and -T on the first, so that ``Y = G^T Phi G`` and ``Phi^A = Phi - Phi G Y^-1 G^T Phi``.
        """
        i, j = (slice(6 * k, 6 * k + 6) for k in (self.handles.index(first), self.handles.index(second)))
        G, f = np.zeros((*P.shape[:-2], self.b.shape[-1], P.shape[-1]), self.Phi.dtype), np.zeros_like(self.b)
        G[..., j, :] += P
        G[..., i, :] -= _T(X) @ P
        f[..., j] += active
        f[..., i] -= _times(_T(X), active)
        U, b = self.Phi @ G, self.b + _times(self.Phi, f)
        # x = Y^-1 (P^T c - G^T b)
        z = _times(_T(P), c) - _times(_T(G), b)
        solved = _solve(_T(G) @ U + _diagonal(E), np.concatenate([_T(U), z[..., None]], axis=-1))
        return ArticulatedBody(self.handles, self.Phi - U @ solved[..., :-1], b + _times(U, solved[..., -1]))

    def keeping(self, handles: Sequence) -> ArticulatedBody:
        """With these handles alone, in this order."""
        a_sequence("keeping: handles", handles)
        known = [h for h in handles if any(h is k or (type(h) is type(k) and h == k) for k in self.handles)]
        if not known or len(known) != len(handles):
            refuse("keeping: handles", handles, f"some of {', '.join(map(repr, self.handles))}")
        rows = np.concatenate([np.arange(6) + 6 * self.handles.index(h) for h in handles])
        return ArticulatedBody(tuple(handles), self.Phi[..., rows[:, None], rows], self.b[..., rows])


def _T(A):
    return np.swapaxes(A, -1, -2)


def _times(A, x):
    return (A @ x[..., None])[..., 0]


def _diagonal(E):
    return E[..., None] * np.eye(E.shape[-1])


def _solve(Y, B):
    return np.linalg.solve(Y, B) if Y.shape[-1] else np.zeros((*B.shape[:-2], 0, B.shape[-1]))


# A mechanism as arrays ---------------------------------------------------------------------------------------------


class _Pieces:
    """Of every body, as arrays in its own coordinates: X, S, c, P, E, T_a tau of its joint; I and p."""

    def __init__(self, model, batch, q, v, tau, f_ext=None):
        refuse_planar(model, "the articulated body of any handles")
        self.model, self.batch, nb = model, batch, model.nb
        for name in ("X", "S", "c", "P", "E", "active", "I", "p"):
            setattr(self, name, [None] * nb)
        X_0, V = [model.algebra.Transform.identity()], [model.algebra.Motion.zero()]
        for i in model.outward():
            joint, p, q_i, v_i = model.joints[i], model.parent[i], model.q_of(i, q), model.v_of(i, v)
            X, S, V_J = link_transform(model, i, q).collapse(), motion_subspace(model, i, q), joint.velocity(q_i, v_i)
            X_0.append(X @ X_0[p])
            V.append(X @ V[p] + V_J)
            gravity = X_0[i] @ model.algebra.Motion(model.algebra.no_rotation, model.gravity)
            force = V[i].cross(model.I[i] @ V[i]) - model.I[i] @ gravity
            if f_ext is not None:
                force = force - X_0[i] @ model.algebra.external(f_ext[i])
            T, T_a = force_basis(model.algebra, S)
            armature = [float(x) for x in model.armature[model.v_slice[i]]]
            weighted = [(T_k, x**0.5) for T_k, x in zip(T_a, armature, strict=True) if x > 0.0]
            self.X[i], self.S[i] = X.matrix(), self.columns(S)
            self.c[i] = self.vector(joint.bias(q_i, v_i) + V[i].cross(V_J))
            self.P[i] = self.columns(Columns([*T, *(T_k * x for T_k, x in weighted)], T.kind))
            self.E[i] = np.array([0.0] * len(T) + [1.0] * len(weighted))
            self.active[i] = self.vector(T_a @ model.v_of(i, tau))
            self.I[i], self.p[i] = model.I[i].matrix(), self.vector(force)
        self.tau = [np.asarray(x) for x in tau]

    def vector(self, six):
        return np.broadcast_to(assemble(list(six)), (*self.batch, 6))

    def columns(self, columns):
        if not columns:
            return np.zeros((*self.batch, 6, 0))
        return np.stack([self.vector(column) for column in columns], axis=-1)


def _by_projection(pieces, bodies, handles) -> ArticulatedBody:
    """``Phi = J H^-1 J^T, b = J_dot qd - J H^-1 (C - tau)`` (eq. 7.5-7.14), with the handles' own freedoms in H."""
    model, batch = pieces.model, pieces.batch
    places, n = {}, 0
    for i in bodies:
        free = model.parent[i] not in bodies
        size = 0 if i == 0 else 6 if free else model.joints[i].nv
        places[i], n = (slice(n, n + size), free), n + size
    J, d = {}, {}
    H, rest = np.zeros((*batch, n, n)), np.zeros((*batch, n))
    for i in bodies:
        own, free = places[i]
        if i == 0 or free:  # a body that no joint holds moves as it likes; the world does not
            J[i], d[i] = np.zeros((*batch, 6, n)), np.zeros((*batch, 6))
            J[i][..., own] = np.eye(6)[:, : own.stop - own.start]
        else:
            p, slot = model.parent[i], model.v_slice[i]
            J[i], d[i] = pieces.X[i] @ J[p], _times(pieces.X[i], d[p]) + pieces.c[i]
            J[i][..., own] += pieces.S[i]
            for k, m in zip(range(slot.start, slot.stop), range(own.start, own.stop), strict=True):
                H[..., m, m] += model.armature[k]
                rest[..., m] += pieces.tau[k]
        if i:
            H += _T(J[i]) @ pieces.I[i] @ J[i]
            rest -= _times(_T(J[i]), _times(pieces.I[i], d[i]) + pieces.p[i])
    scale = np.sqrt(np.diagonal(H, axis1=-2, axis2=-1))
    if np.any(scale <= 0.0) or np.any(np.linalg.eigvalsh(H / (scale[..., None] * scale[..., None, :])) <= ROUNDING):
        raise SingularityError("the joint-space inertia has no inverse.")
    rows = np.concatenate([J[i] for i in handles], axis=-2)
    solved = _solve(H, np.concatenate([_T(rows), rest[..., None]], axis=-1))
    b = np.concatenate([d[i] for i in handles], axis=-1) + _times(rows, solved[..., -1])
    return ArticulatedBody(tuple(handles), rows @ solved[..., :-1], b)


def _by_assembly(pieces, bodies, handles) -> ArticulatedBody:
    """Single bodies joined one by one; a body is no handle any more when nothing else is to be joined to it."""
    model = pieces.model
    whole, open_joints = None, {i: sum(c in bodies for c in model.children(i)) for i in bodies}
    for i in sorted(bodies):
        whole = _single(pieces, i) if whole is None else whole.beside(_single(pieces, i))
        p = model.parent[i]
        if i and p in bodies:
            joint = (pieces.X[i], pieces.P[i], pieces.E[i], pieces.active[i], pieces.c[i])
            whole = whole.joined(p, i, *joint)
            open_joints[p] -= 1
        whole = whole.keeping([h for h in whole.handles if h in handles or open_joints[h]])
    return whole.keeping(handles)


def _single(pieces, i) -> ArticulatedBody:
    """One rigid body: ``Phi = I^-1, b = -I^-1 p``; the world does not move whatever acts on it."""
    if i == 0:
        return ArticulatedBody((0,), np.zeros((*pieces.batch, 6, 6)), np.zeros((*pieces.batch, 6)))
    name = pieces.model.body_names[i]
    scale = np.sqrt(np.diag(pieces.I[i]))
    if not np.all(scale > 0.0) or np.linalg.eigvalsh(pieces.I[i] / np.outer(scale, scale))[0] < SINGULAR:
        raise InertiaError(
            f"body {name!r} is massless, a point or a rod, so it has no inverse inertia from which to start an "
            'assembly; use method="projection".',
            body=name,
        )
    Phi = np.broadcast_to(np.linalg.inv(pieces.I[i]), (*pieces.batch, 6, 6))
    return ArticulatedBody((i,), Phi, -_times(Phi, pieces.p[i]))


METHODS = {"projection": _by_projection, "assembly": _by_assembly}


def articulated_body(
    model, state: Mapping, batch: tuple[int, ...], bodies: Sequence[int], handles: Sequence[int], method: str
) -> ArticulatedBody:
    """The articulated body of some bodies, about some of them, at a state of nested lists (q, v, tau, f_ext)."""
    return METHODS[method](_Pieces(model, batch, **state), bodies, handles)
