"""The methods of the dynamics, as a table: a new method is one line.

Every method is compared with plain matrices (`plain`), which shares nothing with the algorithms but the joints, and is
computed in extended precision.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np

from kinetree.compiler.factorization import factorize
from kinetree.compiler.interpret import interpreted
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.plain import skew, solve_symmetric
from kinetree.verification.terms import EPS

PLAIN = "plain matrices"


@dataclass(frozen=True)
class Quantity:
    """A quantity: its name, its value by the plain matrices, its rounding tolerance, its axes."""

    name: str
    of: Callable
    rounding: Callable
    axes: tuple[str, ...] = ("v",)

    def value(self, s):
        """The quantity by the plain matrices, computed once for all methods."""
        return s.once(("value", self.name), lambda: self.of(s))

    def tolerance(self, s):
        """Its rounding, entry by entry."""
        return s.once(("tolerance", self.name), lambda: self.rounding(s))


@dataclass(frozen=True)
class Method:
    """A method for a quantity; ``loss`` is an additional factor of its tolerance (see `losses`)."""

    quantity: str
    name: str
    compute: Callable
    loss: str = ""


def _both(first, second):
    """Two results side by side, as one array over all velocity coordinates."""
    return np.concatenate([first, second], axis=-1)


# Quantities ----------------------------------------------------------------------------------------------------------


def _half(s) -> list[str]:
    """The joints of known force of a hybrid problem: every second one; coupled joints as their masters."""
    model, chosen = s.model, set(s.model.joint_names[::2])
    for c in model.couplings:
        (chosen.add if c.master in chosen else chosen.discard)(c.joint)
    return [model.joint_name(i) for i in model.outward() if model.joint_name(i) in chosen and model.joints[i].nv]


def _free(s, names) -> np.ndarray:
    mask = np.zeros(s.model.nv, bool)
    for name in names:
        mask[s.model.v_index(name)] = True
    return mask


def _part(s, M):
    """Rows and columns of half the joints; zeros elsewhere, as in `crba_restricted`."""
    free = _free(s, _half(s))
    return np.where(free[:, None] & free, M, 0.0)


def _blocks(s):
    """M and the bias out of the parts of the equation of motion of a floating base (eq. 9.13)."""
    _falling(s)
    I_0, F, H, p_0, C = s.once("eq. 9.13", lambda: s.call("floating_base_coefficients", s.q, s.v, s.f_ext))
    return np.block([[I_0, F], [np.swapaxes(F, 1, 2), H]]), _both(p_0, C)


def _hybrid(s, free, tau):
    """Accelerations and forces where the forces of some coordinates are known, by the permuted equation of motion."""
    known = np.where(free, 0.0, s.a)
    M, a = s.M, known.astype(s.M.dtype)
    if free.any():
        right = (tau - s.bias - (M @ known.astype(M.dtype)[..., None])[..., 0])[:, free]
        a[:, free] = solve_symmetric(M[:, free][:, :, free], right[..., None])[..., 0]
    needed = (M @ a[..., None])[..., 0] + s.bias
    needed[:, free] = tau[:, free]
    return _both(a, needed)


def _hybrid_tolerance(s, free, tau):
    a, needed = np.split(np.abs(_hybrid(s, free, tau)).astype(float), 2, axis=1)
    wrong = s.tolerances.forces(a) + s.tolerances.u * needed + s.tolerances.solved(a)
    da = np.zeros_like(a)
    if free.any():
        part = s.M[:, free][:, :, free]
        eye = np.broadcast_to(np.eye(part.shape[1]), part.shape)
        inverse = np.abs(solve_symmetric(part, eye)).astype(float)
        da[:, free] = (inverse @ wrong[:, free, None])[..., 0]
    # Accelerations that are off by rounding move the forces of all others.
    return _both(da, wrong + (np.abs(s.M).astype(float) @ da[..., None])[..., 0])


def _falling(s):
    """Whether the base floats: the freedoms of its pose first."""
    nb = s.model.nv_base
    if not nb:
        raise LeftOut("the base does not float")
    free = np.zeros(s.model.nv, bool)
    free[:nb] = True
    return free


# With ``hybrid``, `_hybrid` or `_hybrid_tolerance`:


def _half_free(s, hybrid):
    return hybrid(s, _free(s, _half(s)), s.tau)


def _base_free(s, hybrid):
    """Accelerations and forces with no force on the base, known accelerations of the joints."""
    free, n = _falling(s), s.model.nv_base
    a, tau = np.split(hybrid(s, free, np.where(free, 0.0, s.tau)), 2, axis=1)
    return _both(a[:, :n], tau[:, n:])


def _all_free(s, hybrid):
    """Accelerations with no force on the base, known forces of the joints."""
    tau = np.where(_falling(s), 0.0, s.tau)
    return hybrid(s, np.ones(s.model.nv, bool), tau)[:, : s.model.nv]


def _accelerations_tolerance(s, world=False):
    return s.tolerances.accelerations(s.acceleration, s.tau, world=world)


QUANTITIES = {
    name: Quantity(name, *rest)
    for name, *rest in (
        ("joint forces", lambda s: s.forces, lambda s: s.tolerances.forces(s.a)),
        ("joint forces, about the world", lambda s: s.forces, lambda s: s.tolerances.forces(s.a, world=True)),
        ("bias forces", lambda s: s.bias, lambda s: s.tolerances.forces(0.0 * s.a)),
        ("mass matrix", lambda s: s.M, lambda s: s.tolerances.matrix(), ("v", "v")),
        ("accelerations", lambda s: s.acceleration, _accelerations_tolerance),
        ("accelerations, about the world", lambda s: s.acceleration, lambda s: _accelerations_tolerance(s, world=True)),
        ("mass matrix, half the joints", lambda s: _part(s, s.M), lambda s: _part(s, s.tolerances.matrix()),
         ("v", "v")),
        ("inverse of M", lambda s: s.M_inverse, lambda s: s.tolerances.inverse(), ("v", "v")),
        ("M^-1 x", lambda s: _solution(s), lambda s: s.tolerances.solution(_solution(s))),
        *((name, partial(free, hybrid=_hybrid), partial(free, hybrid=_hybrid_tolerance)) for name, free in (
            ("hybrid, half the joints", _half_free),
            ("floating base, joint forces known", _all_free),
            ("floating base, joint motion known", _base_free),
        )),
    )
}  # fmt: skip


def _solution(s):
    """M^-1 x for x = tau."""
    return solve_symmetric(s.M, s.tau[..., None])[..., 0]


def _factorized(s):
    if s.model.time_dependent or s.model.geared:
        return s.call("articulated_solve", *s.call("articulated_factorization", s.q), s.tau)
    with nullcontext() if s.compiled else interpreted():
        return factorize(s.model, s.q).solve(s.tau)


def _joints(s, names=None):
    """The argument ``forward`` of hybrid dynamics."""
    names = s.model.joint_names if names is None else names
    return {"forward": tuple(s.model.joint(name) for name in names)}


def _by_hybrid(name, pick, names=None):
    """A hybrid method, of which one end, or both for half the joints, are taken."""

    def compute(s):
        a, tau = s.call(name, s.q, s.v, s.tau, s.a, s.f_ext, **_joints(s, _half(s) if names == "half" else names))
        return _both(a, tau) if pick == "both" else a if pick == "a" else tau

    return compute


def _joints_alone(s, x):
    return x[:, s.model.nv_base :]


def _floating_forward(s):
    _falling(s)
    return _both(*s.call("floating_base_forward_dynamics", s.q, s.v, _joints_alone(s, s.tau), s.f_ext))


def _floating_inverse(s):
    _falling(s)
    return _both(*s.call("floating_base_inverse_dynamics", s.q, s.v, _joints_alone(s, s.a), s.f_ext))


# Methods --------------------------------------------------------------------------------------------------------------


def _calls(quantity: str, name: str, arguments: str, loss: str = "") -> Method:
    """The algorithm of this name, called with these arrays of the states."""
    return Method(quantity, name, lambda s: s.call(name, *(getattr(s, x) for x in arguments.split())), loss)


METHODS = (
    _calls("joint forces", "rnea", "q v a f_ext"),
    _calls("joint forces", "newton_euler", "q v a f_ext"),
    _calls("joint forces, about the world", "rnea_world", "q v a f_ext"),
    Method("joint forces", "bias_forces + inertial_forces", lambda s: (
        s.call("bias_forces", s.q, s.v, s.f_ext) + s.call("inertial_forces", s.q, s.a))),
    Method("joint forces", "hybrid_aba, no joint forward", _by_hybrid("hybrid_aba", "tau", ())),
    Method("joint forces", "hybrid_crba, no joint forward", _by_hybrid("hybrid_crba", "tau", ())),
    Method("joint forces", "hybrid_recursive, no joint forward", _by_hybrid("hybrid_recursive", "tau", ())),
    _calls("bias forces", "bias_forces", "q v f_ext"),
    Method("bias forces", "gravity + coriolis + external forces", lambda s: (
        s.call("gravity_forces", s.q) + s.call("coriolis_forces", s.q, s.v)
        + s.call("external_forces", s.q, s.f_ext))),
    _calls("mass matrix", "crba", "q"),
    _calls("mass matrix", "mass_matrix_jacobians", "q"),
    _calls("mass matrix", "mass_matrix_columns", "q"),
    Method("mass matrix", "L^T L of ltl", lambda s: _gram(s.call("ltl", s.q))),
    Method("mass matrix", "L^T D L of ltdl", lambda s: _gram(*s.call("ltdl", s.q))),
    Method("mass matrix", "floating_base_coefficients", lambda s: _blocks(s)[0]),
    Method("bias forces", "floating_base_coefficients", lambda s: _blocks(s)[1]),
    Method("mass matrix, half the joints", "crba_restricted", lambda s: (
        s.call("crba_restricted", s.q, **_joints(s, _half(s))))),
    _calls("accelerations", "aba", "q v tau f_ext"),
    _calls("accelerations", "forward_dynamics_crba", "q v tau f_ext"),
    _calls("accelerations", "divide_and_conquer", "q v tau f_ext", "links"),
    _calls("accelerations, about the world", "aba_world", "q v tau f_ext"),
    _calls("accelerations", "aba_inverse_inertias", "q v tau f_ext", "inertias"),
    _calls("accelerations", "aba_implicit_joints", "q v tau f_ext", "inertias"),
    Method("accelerations", "hybrid_aba, all joints forward", _by_hybrid("hybrid_aba", "a")),
    Method("accelerations", "hybrid_crba, all joints forward", _by_hybrid("hybrid_crba", "a")),
    Method("accelerations", "hybrid_recursive, all joints forward", _by_hybrid("hybrid_recursive", "a")),
    Method("hybrid, half the joints", "hybrid_aba", _by_hybrid("hybrid_aba", "both", "half")),
    Method("hybrid, half the joints", "hybrid_crba", _by_hybrid("hybrid_crba", "both", "half")),
    Method("hybrid, half the joints", "hybrid_recursive", _by_hybrid("hybrid_recursive", "both", "half")),
    _calls("inverse of M", "inverse_mass_matrix", "q"),
    _calls("M^-1 x", "inverse_mass_product", "q tau"),
    Method("M^-1 x", "factorize, solve", _factorized),
    Method("M^-1 x", "ltdl, ltdl_solve", lambda s: s.call("ltdl_solve", *s.call("ltdl", s.q), s.tau)),
    Method("floating base, joint forces known", "floating_base_forward_dynamics", _floating_forward),
    Method("floating base, joint motion known", "floating_base_inverse_dynamics", _floating_inverse),
)  # fmt: skip


def _gram(L, D=None):
    """L^T L, or L^T D L."""
    return np.swapaxes(L, -1, -2) @ (L if D is None else D[..., None] * L)


def losses(s, kind: str) -> float:
    """Loss of accuracy of a method beyond the condition of M.

    "links": joints are eliminated with the inertia of their own link; "inertias": bodies' own inertias are inverted.
    Where a subtree is much heavier than its root body, that many digits are lost.
    """
    return s.once(("loss", kind), lambda: _loss(s, kind)) if kind else 1.0


def _loss(s, kind: str) -> float:
    model, plain = s.model, s.plain
    own = [None] + [plain.inertia(i).astype(float) for i in model.outward()]
    whole = [x if x is None else x.copy() for x in own]
    worst = 1.0
    for i in model.inward():
        if kind == "links":
            S, armature = plain.S[i].astype(float), np.asarray(model.armature)[model.v_slice[i]]
            for k in range(S.shape[2]):
                part, all_ = (
                    np.einsum("ni,nij,nj->n", S[:, :, k], I[i], S[:, :, k]) + armature[k] for I in (own, whole)
                )
                some = part > 1e-9 * all_  # links without inertia of their own are joined with the next link first
                worst = max(worst, float((all_ / part)[some].max(initial=1.0)))
        else:
            values = np.linalg.eigvals(np.linalg.solve(own[i], whole[i])) if np.all(np.linalg.det(own[i])) else [np.inf]
            worst = max(worst, float(np.abs(values).max()))
        p = model.parent[i]
        if p:
            r = plain.offset[i].astype(float)
            shift = np.broadcast_to(np.eye(6), (s.n, 6, 6)).copy()
            shift[:, 3:, :3] = -skew(r)  # a motion moved by r: v + w x r
            whole[p] = whole[p] + np.swapaxes(shift, 1, 2) @ whole[i] @ shift
    return worst


def _compare(method: Method) -> Callable:
    quantity = QUANTITIES[method.quantity]

    def compare(s):
        found = method.compute(s)
        return Compared(found, quantity.value(s), quantity.tolerance(s) * losses(s, method.loss), quantity.axes)

    return compare


def checks(methods=METHODS) -> list[Check]:
    """The table's lines, and properties of M itself."""
    lines = [
        Check(m.quantity, m.name, PLAIN, _compare(m), cause=5, inverts_bodies=m.loss == "inertias") for m in methods
    ]
    at = next(k for k, line in enumerate(lines) if line.quantity == "accelerations")
    own = [
        Check("mass matrix", "crba", "its transpose", _symmetric),
        Check("mass matrix", "crba", "zeros of the tree", _zeros, "entries of unrelated joints are not zero"),
        Check("mass matrix", "crba", "positive definite", _definite,
              "the kinetic energy can be negative or zero: an impossible inertia, or joints that move no mass"),
    ]  # fmt: skip
    return lines[:at] + own + lines[at:]


def _symmetric(s):
    M = s.call("crba", s.q)
    return Compared(M, np.swapaxes(M, 1, 2), 0.0, ("v", "v"))


def _zeros(s):
    M, pattern = s.call("crba", s.q), s.model.mass_matrix_pattern()
    return Compared(np.where(pattern, 0.0, M), 0.0, 0.0, ("v", "v"))


def _definite(s):
    """The amount by which the smallest eigenvalue of the scaled M is below zero; rounding may give n u."""
    M = s.call("crba", s.q)
    scale = 1.0 / np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    values, vectors = np.linalg.eigh(M * scale[:, :, None] * scale[:, None, :])
    short = np.zeros(M.shape[:2])
    short[range(s.n), np.argmax(np.abs(vectors[:, :, 0]), axis=1)] = np.minimum(values[:, 0], 0.0)
    return Compared(short, 0.0, EPS * s.model.nv, ("v",))
