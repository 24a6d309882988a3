r"""Articulated bodies with any handles: the response of a mechanism, or of a part of it, to forces on some bodies.

.. math:: \begin{bmatrix} a_1 \\ a_2 \\ \vdots \end{bmatrix} =
    \begin{bmatrix} \Phi_1 & \Phi_{12} & \cdots \\ \Phi_{21} & \Phi_2 & \\ \vdots & & \ddots \end{bmatrix}
    \begin{bmatrix} f_1 \\ f_2 \\ \vdots \end{bmatrix} + \begin{bmatrix} b_1 \\ b_2 \\ \vdots \end{bmatrix}

On arrays, whose leading axes are the batch. Two methods: the projection of the equations of motion on the handles, and
the assembly of the bodies joint by joint, which applies to closed loops as well.
"""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from collections.abc import Sequence

import numpy as np

from kinetree.algorithms.force_basis import force_basis
from kinetree.algorithms.gears import refuse_gears
from kinetree.algorithms.kinematics import link_transform, motion_subspace
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_model, a_sequence, a_word, checked, of_kind, refuse, some_names
from kinetree.errors import InertiaError, ModelError, SingularityError, TopologyError, unknown_name
from kinetree.model.planar import refuse_planar
from kinetree.native.arrays import as_arrays, explain, nested
from kinetree.native.singularity import singularity
from kinetree.spatial import Columns
from kinetree.spatial.vectors import assemble

InverseInertia = namedtuple("InverseInertia", ("Phi", "b"))
Inertia = namedtuple("Inertia", ("IA", "pA"))

# A direction in which the handles accelerate less than this part of the acceleration of free bodies is none: eps times
# some hundred operations.
SINGULAR = 1e-11
ROUNDING = 1e-15  # a rounded zero eigenvalue of a matrix with a diagonal of ones


# Articulated bodies ------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
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

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> rod = kt.dynamics.ArticulatedBody(("rod",), np.linalg.inv(np.diag([0.1, 0.1, 0.01, 2, 2, 2])), np.zeros(6))
    >>> ball = kt.dynamics.ArticulatedBody(("ball",), np.eye(6), np.zeros(6))
    >>> both = rod.beside(ball)
    >>> both.handles, both.Phi.shape
    (('rod', 'ball'), (12, 12))
    >>> np.allclose(both.keeping(["ball"]).Phi, ball.Phi)
    True
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
    """One rigid body: ``Phi = I^-1, b = -I^-1 p``; the world does not move under any force."""
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


# Calls ---------------------------------------------------------------------------------------------------------------


@checked(model=a_model, handles=some_names, bodies=some_names, method=a_word)
def articulated_inverse_inertia(
    model, q, v=None, tau=None, f_ext=None, *, handles, bodies=None, method: str = "projection"
) -> InverseInertia:
    r"""Inverse inertia and bias acceleration of a mechanism, or of a part of it, about some frames.

    .. math:: a = \Phi^A f + b^A

    Parameters
    ----------
    model : Model
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array, optional
        Joint velocities [rad/s or m/s]; default zero.
    tau : (..., nv) array, optional
        Joint forces [N m or N]; default zero.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench on each body beside those on the handles [N m, N], world coordinates about the world's origin.
    handles : str or sequence of str
        Frames on which the forces f act and whose accelerations a are returned; a body's name is that of its frame.
    bodies : sequence of str, optional
        The articulated body: these bodies and the joints among them. All other joints are cut, and bodies distal to
        them are left out. Include the world's name to keep the joints on it. Default: the whole mechanism.
    method : {"projection", "assembly"}
        The equations of motion projected on the handles; or single bodies joined one after the other, for which every
        body needs an invertible inertia.

    Returns
    -------
    Phi : (..., 6*m, 6*m) array
        For m handles, block (i, j) maps a wrench on handle j [N m, N] to the spatial acceleration of handle i [rad/s^2,
        m/s^2], both in local coordinates of the frame; symmetric, of as high a rank as the handles have freedoms.
    b : (..., 6*m) array
        Spatial accelerations of the handles without such wrenches [rad/s^2, m/s^2], gravity at work.

    Raises
    ------
    UnknownNameError
        No frame or body has this name.
    TopologyError
        A handle is on none of the bodies.
    ShapeError, NonFiniteError, QuaternionError, InertiaError

    Notes
    -----
    Source: Featherstone (2008), eq. 7.3-7.14 (projection), 7.57-7.63 (assembly). Of the whole mechanism it is the
    inverse of the operational-space inertia. Cost: projection O(n^3), assembly O(n m^2).
    Identity: both methods agree; without handles' forces b is the acceleration that `aba` causes.

    See Also
    --------
    articulated_inertia

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.load("arm7")
    >>> Phi, b = kt.dynamics.articulated_inverse_inertia(arm, arm.neutral(), handles="tool")
    >>> Phi.shape, bool(np.allclose(Phi, Phi.T))
    ((6, 6), True)
    """
    return InverseInertia(*_answers(model, q, v, tau, f_ext, handles, bodies, method))


@checked(model=a_model, handles=some_names, bodies=some_names, method=a_word)
def articulated_inertia(
    model, q, v=None, tau=None, f_ext=None, *, handles, bodies=None, method: str = "projection"
) -> Inertia:
    r"""Articulated-body inertia and bias force of a mechanism, or of a part of it, about some frames.

    .. math:: f = I^A a + p^A

    Parameters
    ----------
    model : Model
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array, optional
        Joint velocities [rad/s or m/s]; default zero.
    tau : (..., nv) array, optional
        Joint forces [N m or N]; default zero.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench on each body beside those on the handles [N m, N], world coordinates about the world's origin.
    handles : str or sequence of str
        Frames on which the forces f act; a body's name is that of its frame.
    bodies : sequence of str, optional
        The articulated body, as for `articulated_inverse_inertia`; default the whole mechanism.
    method : {"projection", "assembly"}
        As for `articulated_inverse_inertia`.

    Returns
    -------
    IA : (..., 6*m, 6*m) array
        For m handles, block (i, j) maps the spatial acceleration of handle j [rad/s^2, m/s^2] to a wrench on handle i
        [N m, N], both in local coordinates of the frame.
    pA : (..., 6*m) array
        Wrenches that keep the handles from accelerating [N m, N].

    Raises
    ------
    ModelError
        The handles cannot accelerate in all directions, so there is no such inertia.
    UnknownNameError, TopologyError, ShapeError, NonFiniteError, QuaternionError, InertiaError

    Notes
    -----
    Source: Featherstone (2008), eq. 7.1-7.2, 7.14. Of the whole mechanism it is the operational-space inertia.
    Identity: of a body and its subtree it is the I^A of the articulated-body algorithm (table 7.1).

    See Also
    --------
    articulated_inverse_inertia : it always exists.

    Examples
    --------
    A box of 2 kg with a cylinder of 1 kg that turns about x and slides along y (Featherstone, example 7.1):

    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.box_cylinder(2.0, 0.5, 1.0, 0.3)
    >>> bodies = ["box", *model.body_names[2:]]
    >>> IA, pA = kt.dynamics.articulated_inertia(model, model.neutral(), handles="box", bodies=bodies)
    >>> np.diag(IA).round(12).tolist()
    [0.5, 0.8, 0.8, 3.0, 2.0, 3.0]
    """
    Phi, b = _answers(model, q, v, tau, f_ext, handles, bodies, method)
    scale = np.sqrt(np.einsum("...ii->...i", Phi))
    with np.errstate(all="ignore"):
        scaled = Phi / (scale[..., :, None] * scale[..., None, :])
    freedoms = [_rank(x) for x in scaled.reshape(-1, *Phi.shape[-2:])]
    if min(freedoms, default=Phi.shape[-1]) < Phi.shape[-1]:
        raise ModelError(
            f"the handles {_names(handles)} of model {model.name!r} have {min(freedoms)} freedoms of acceleration, "
            f"expected {Phi.shape[-1]}: no finite inertia describes them. articulated_inverse_inertia always exists.",
            freedoms=min(freedoms),
            expected=Phi.shape[-1],
        )
    IA = np.linalg.inv(scaled) / (scale[..., :, None] * scale[..., None, :])
    IA = 0.5 * (IA + np.swapaxes(IA, -1, -2))
    return Inertia(IA, -(IA @ b[..., None])[..., 0])


def _rank(scaled) -> int:
    moving = np.isfinite(np.diag(scaled))
    return int(np.sum(np.linalg.eigvalsh(scaled[np.ix_(moving, moving)]) > SINGULAR))


def _answers(model, q, v, tau, f_ext, handles, bodies, method):
    """Phi and b at the frames."""
    if method not in METHODS:
        raise unknown_name("method", method, METHODS, "articulated_inverse_inertia")
    refuse_gears(model, "articulated_inverse_inertia")
    zero = np.zeros(model.nv, np.float32)  # the narrowest: q determines the precision of the result
    given = {"q": q, "v": zero if v is None else v, "tau": zero if tau is None else tau}
    spec = ALGORITHMS["aba"]
    arrays, batch, dtype = as_arrays(spec, model, given | ({} if f_ext is None else {"f_ext": f_ext}))
    if error := explain(spec, model, arrays, batch):
        raise error
    frames = [model.frame(name) for name in _names(handles)]
    if not frames:
        refuse("handles", handles, "the names of one frame or more")
    chosen = list(range(model.nb)) if bodies is None else sorted({model.body(name) for name in _names(bodies)})
    for frame in frames:
        if frame.body not in chosen:
            raise TopologyError(
                f"the handle {frame.name!r} is on body {model.body_names[frame.body]!r}, which is not among the bodies "
                f"{[model.body_names[i] for i in chosen]}.",
                frame=frame.name,
            )
    shapes = {name: spec.shape(name, model) for name in arrays}
    given = {name: np.broadcast_to(x, (*batch, *shapes[name])).astype(float) for name, x in arrays.items()}
    state = {name: nested(x, len(shapes[name])) for name, x in given.items()}
    bodies_with_handles = list(dict.fromkeys(frame.body for frame in frames))
    try:
        body = METHODS[method](_Pieces(model, batch, **state), chosen, bodies_with_handles)
    except SingularityError:
        named = dataclasses.replace(spec, name="articulated_inverse_inertia")
        raise singularity(named, model, arrays, batch) from None
    places = [6 * bodies_with_handles.index(frame.body) for frame in frames]
    X = [frame.X_FB.matrix() for frame in frames]
    at = list(zip(X, [slice(r, r + 6) for r in places], strict=True))
    Phi = [[X_m @ body.Phi[..., rows, columns] @ X_n.T for X_n, columns in at] for X_m, rows in at]
    b = [body.b[..., rows] @ X_m.T for X_m, rows in at]
    kind = np.float32 if dtype == np.float32 else np.float64  # NumPy factorizes in no other precision
    return np.block(Phi).astype(kind), np.concatenate(b, axis=-1).astype(kind)


def _names(names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
