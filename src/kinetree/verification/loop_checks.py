"""Constraints that are not eliminated, loops above all: their rows, every method of dynamics, and the multipliers.

The states are closed ones. Two references share nothing with the solution: the equation of motion with multipliers,
of the plain mass matrix and rows checked by differences, and bodies in maximal coordinates (`maximal`), both solved by
elimination with complete pivoting in extended precision.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from kinetree.algorithms.constrained import remaining_rows
from kinetree.algorithms.constraint_rows import CONSTRAINT_BIAS, CONSTRAINT_ERROR, CONSTRAINT_JACOBIAN
from kinetree.algorithms.domain import LIMITS
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.function import compile
from kinetree.constraints import LoopJoint
from kinetree.errors import ConstraintError
from kinetree.model.closing import closed_position
from kinetree.state_kinematics import Kinematics
from kinetree.textbook.loop_elimination import eliminated
from kinetree.textbook.loop_joints import loop_position
from kinetree.textbook.loop_methods import METHODS, loop_dynamics
from kinetree.textbook.sparse_maximal import maximal_equation
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.differences import along, by_position
from kinetree.verification.maximal import Maximal
from kinetree.verification.plain import PRECISE
from kinetree.verification.terms import EPS

CLOSED, TRIES, NEWTON = 1e-12, 6, 40  # gap of closed positions [m, rad], starts for each state, steps from each
H = 1e-6  # step of differences for Newton's method
SPREAD = 0.3  # [rad, m] of random starts about a closed or the neutral position
ROUNDING = 1e-9  # of the largest row: rows that are smaller hold nothing, as those across planar loops
RANK = 1e-8  # singular values of rows of length one: below, rows are dependent
LOOPS = "maximal coordinates"
KKT = "plain matrices, multipliers"
FIXED_COORDINATES = ("null_space", "partitioning")


def applies(model) -> None:
    """Raise LeftOut unless the model has rows that are neither eliminated nor bounded."""
    if not model.constraints or not remaining_rows(model):
        raise LeftOut("the model has no loops")
    if model.armatures:
        raise LeftOut("tendons have inertia")
    if any(c.row_kind != "equality" for c in model.constraints):
        raise LeftOut("forces of some constraints are bounded")
    if model.time_dependent or any(c.time_dependent for c in model.constraints):
        raise LeftOut("constraints or joints depend on time")


def closed(s):
    """The same states with positions and velocities that obey the constraints."""
    applies(s.model)
    states = s.once("closed", lambda: _closed_states(s))
    if len(states) < s.n:
        found = f"{len(states)} closed positions were found about the neutral one and the keyframes"
        raise LeftOut(f"{found}, expected {s.n}")
    return s.once("at closed states", lambda: s.at(*map(np.array, zip(*states, strict=True))))


def _closed_states(s) -> list:
    """Positions and velocities, as many as are found."""
    model, rng, found = s.model, np.random.default_rng(s.seed), []
    starts = [model.neutral(), *(model.keyframe(name)[0] for name in model.keyframes)]
    for trial in range(TRIES * s.n):
        start = _moved(s, starts[-1 - trial % len(starts)], SPREAD * rng.standard_normal(model.nv))
        slope = _differences if trial % 3 == 2 else _stated
        q = _closed_position(s, start, slope)
        if _is_outside(model, start if q is None else q):
            q = _closed_position(s, _inside(model, start), slope)
        if q is not None and not _is_outside(model, q):
            G, v = _stated(s, q), rng.standard_normal(model.nv)
            for _ in range(2):
                v = v - np.linalg.pinv(G, rcond=RANK) @ (G @ v)
            found.append((q, v))
        if len(found) == s.n:
            break
    return found


def _is_outside(model, q) -> bool:
    """Whether a joint is beyond a limit that has no stop, where forces are not defined."""
    return any(LIMITS.violations(model, {"q": q.tolist()}))


def _inside(model, q):
    """A closed position inside limits near a start, or the start."""
    try:
        return closed_position(model, q)
    except ConstraintError:
        return q


def _stated(s, q):
    """G, which leads away from positions where phi is zero half a turn off."""
    return s.interpret(CONSTRAINT_JACOBIAN, q=q)


def _differences(s, q):
    """d phi/dq by differences, right even where G is wrong."""
    after, other = (s.interpret(CONSTRAINT_ERROR, q=_moved(s, q, h * np.eye(s.model.nv))) for h in (H, -H))
    return (after - other).T / (2.0 * H)


def _closed_position(s, q, slope):
    """Newton's method with steps of at most a radian, until rounding; None if it does not close the loops."""
    gap = np.inf
    for _ in range(NEWTON):
        phi = s.interpret(CONSTRAINT_ERROR, q=q)
        before, gap = gap, float(np.abs(phi).max())
        if not np.isfinite(gap) or gap < CLOSED and not gap < 0.5 * before:
            break
        step = -np.linalg.lstsq(slope(s, q), phi, rcond=RANK)[0]
        q = _moved(s, q, step * min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-300)))
    return q if gap < CLOSED and _at_a_position(s.model, q) else None


def _at_a_position(model, q) -> bool:
    """Whether the loop joints can be where they are, not half a turn away from it."""
    kin = Kinematics(model, q.tolist())
    try:
        for c in model.constraints:
            if isinstance(c, LoopJoint):
                loop_position(c.joint, kin.relative(c.predecessor, c.successor, c.X_P, c.X_S).X)
    except ConstraintError:
        return False
    return True


def _moved(s, q, step):
    """The positions that steps reach."""
    return s.call("integrate", np.broadcast_to(q, (*step.shape[:-1], len(q))), step, form="interpreted")


# Rows -----------------------------------------------------------------------------------------------------------------


def row_sizes(s) -> np.ndarray:
    """Bounds of the rows' entries: lever arms of both bodies and the entries themselves, (n, nc, nv)."""
    near, G = s.tolerances.near, np.abs(_G(s)).astype(float)
    for c, rows in s.model.constraint_rows():
        for frame in c.frames:
            body = s.model.frame(frame).body
            G[:, rows] += (near.turn[:, body] * (1.0 + near.reach) + near.shift[:, body])[:, None]
    return G


def _rounding(model) -> list[int]:
    """Rows that follow from others but for the decimals of a file, and are left out on purpose."""
    return list(model.loop_rows().rounding)


def _bias_size(s, v=None) -> np.ndarray:
    """Bound of the terms of ``dG/dt v``, (n, nc)."""
    v = np.abs(s.v if v is None else v).astype(float)
    turning = np.einsum("nbk,nk->nb", s.tolerances.near.turn, v).max(axis=1) + np.abs(v).max(axis=1)
    return 4.0 * turning[:, None] * np.einsum("nck,nk->nc", row_sizes(s), v)


def _G(s) -> np.ndarray:
    call = partial(s.interpret, CONSTRAINT_JACOBIAN, q=s.q.astype(PRECISE))
    return s.once("rows", lambda: np.asarray(call()))


def _gap(s) -> float:
    """100 times the largest error of position: rows are the derivatives of phi where it is zero."""
    phi = s.once("phi", lambda: s.interpret(CONSTRAINT_ERROR, q=s.q.astype(PRECISE)))
    return 100.0 * float(np.abs(phi).max())


def _bias(s) -> np.ndarray:
    call = partial(s.interpret, CONSTRAINT_BIAS, q=s.q.astype(PRECISE), v=s.v.astype(PRECISE))
    return s.once("row biases", lambda: np.asarray(call()))


def closes(s):
    """phi at the states."""
    s = closed(s)
    phi = s.interpret(CONSTRAINT_ERROR, q=s.q.astype(PRECISE))
    return Compared(phi, 0.0, CLOSED * np.ones_like(phi, float), ("row",))


def jacobian(s):
    """G = d phi/dq, of rows that hold positions."""
    s = closed(s)
    phi, error = by_position(s, lambda q, t: s.interpret(CONSTRAINT_ERROR, q=q), row_sizes(s).max(axis=2))
    held = np.concatenate([c.position_level(s.model) for c in s.model.constraints])
    if not held.any():
        raise LeftOut("all rows hold velocities alone")
    allowed = error + (s.tolerances.u + _gap(s)) * row_sizes(s)
    return Compared(_G(s)[:, held], phi[:, held], allowed[:, held], ("row", "v"))


def bias(s):
    """Gdot v along the motion, less ``G a``."""
    s = closed(s)
    size = _bias_size(s) + np.einsum("nck,nk->nc", row_sizes(s), np.abs(s.a))

    def rates(q, v, t):
        return np.einsum("...ck,...k->...c", s.interpret(CONSTRAINT_JACOBIAN, q=q), v)

    rate, error = along(s, rates, size)
    found = _bias(s) + np.einsum("nck,nk->nc", _G(s), s.a)
    return Compared(found, rate, error + (s.tolerances.u + _gap(s)) * size, ("row",))


def kept_rows(s):
    """Numbers of rows, kept ones and all: their ranks at the states are equal to the number of kept rows."""
    s = closed(s)
    kept, G = list(s.model.independent_rows()), _G(s).astype(float)
    G[:, _rounding(s.model)] = 0.0
    length = np.linalg.norm(G, axis=2, keepdims=True)
    G = G / np.maximum(length, 1e-3 * length.max())  # rows of rounding stay small
    ranks = [[np.linalg.matrix_rank(x, RANK) for x in (each[kept], each)] for each in G]
    note = ", ".join(s.model.constraint_labels[n] + f" row {n}" for n in range(s.model.nc) if n not in kept)
    decimals = ", ".join(map(str, _rounding(s.model)))
    note = (f"left out: {note}" if note else "") + (f"; but for decimals: {decimals}" if decimals else "")
    return Compared(ranks, len(kept), 0.5, ("",), note)


# Dynamics -------------------------------------------------------------------------------------------------------------


def _passive(s) -> np.ndarray:
    internal = s.internal if s.model.elements else ()
    laws = "passive_joint_forces", *(("actuator_joint_forces",) if s.model.n_actuators else ())
    return s.once("passive", lambda: sum(np.asarray(s.call(law, s.q, s.v, *internal)) for law in laws))


def _by_multipliers(s):
    """Accelerations, forces ``G^T lambda``, and the response to errors of forces and of rows, at each state."""

    def solve():
        M, G, right = s.M, _G(s).copy(), s.tau + _passive(s) - s.bias
        G[:, _rounding(s.model)] = 0.0
        solved = [_saddle_point(*each) for each in zip(M, G, right, -_bias(s), strict=True)]
        return [np.array(x) for x in zip(*solved, strict=True)]

    return s.once("multipliers", solve)


def _saddle_point(M, G, right, k):
    """a and ``G^T lambda`` of ``M a = right + G^T lambda``, ``G a = k``, da/dright, da/dk, and dlambda/dk."""
    nv, size = len(M), np.abs(G).max(axis=1, initial=0.0)
    scale = np.where(size > ROUNDING * size.max(initial=0.0), size, np.inf)  # others are zero but for rounding
    matrix = np.block([[M, -G.T], [G / scale[:, None], np.zeros((len(G), len(G)), M.dtype)]])
    found = eliminated(matrix, np.concatenate([right, k / scale]), small=1e-11, least=0.0).g
    inverse, G = np.linalg.inv(M.astype(float)), G.astype(float)
    A_inverse = np.linalg.pinv(G @ inverse @ G.T, rcond=RANK, hermitian=True)
    Q = inverse @ G.T @ A_inverse
    return found[:nv], G.T @ found[nv:], inverse - Q @ G @ inverse, Q, A_inverse


def _maximal(s) -> Maximal:
    if s.model.geared:
        raise LeftOut("gears couple bodies that are not joined")
    if _rounding(s.model):
        raise LeftOut("loops are redundant but for the decimals of the file")
    if s.n * (18 * s.model.nb) ** 3 > 3e10:
        raise LeftOut("the model is too large for a dense matrix of its bodies")
    make = partial(Maximal, s.model, s.plain, s.q, s.v, s.tau + _passive(s), s.f_ext)
    return s.once("maximal", make)


def responses(s) -> list[np.ndarray]:
    """Sizes of a, ``G^T lambda``, and of the responses of a to forces and rows, and of lambda to rows."""
    return [np.abs(x).astype(float) for x in _by_multipliers(s)]


def row_terms(s) -> np.ndarray:
    """Sizes of the terms of ``G a - k``, those without constraints too, (n, nc)."""
    a = responses(s)[0] + np.abs(_unconstrained(s))
    return np.einsum("nck,nk->nc", row_sizes(s), a) + _bias_size(s)


def _unconstrained(s) -> np.ndarray:
    """Accelerations without constraints, (n, nv)."""
    forces = (s.tau + _passive(s) - s.bias).astype(float)
    return np.linalg.solve(s.M.astype(float), forces[..., None])[..., 0]


def _tolerance(s) -> np.ndarray:
    """Rounding of accelerations, (n, nv)."""
    return rounding(s)[0]


def rounding(s) -> tuple[np.ndarray, np.ndarray]:
    """Of accelerations and of multipliers: errors of forces and of rows, each through its response; (n, nv), (n, nc).

    Methods that solve for multipliers first subtract the rates of the rows under the accelerations without constraints,
    which may be much larger than those with them.
    """
    a, f, P, Q, A_inverse = responses(s)
    t = s.tolerances
    wrong = t.forces(a) + t.u * (np.abs(s.tau) + np.abs(_passive(s)) + f) + t.solved(a)
    rows = t.u * row_terms(s) + _gap(s) * (np.einsum("nck,nk->nc", row_sizes(s), a) + _bias_size(s))
    wrong, rows = wrong[..., None], rows[..., None]
    return 4.0 * (P @ wrong + Q @ rows)[..., 0], 4.0 * (np.swapaxes(Q, 1, 2) @ wrong + A_inverse @ rows)[..., 0]


def _of_fixed_coordinates(s) -> np.ndarray:
    """Loss of methods whose independent velocities are chosen once: the condition of the reduced mass matrix."""
    H = s.call("closed_loops_reduced_mass_matrix", s.q, form="interpreted", independent=None)
    a = np.abs(_by_multipliers(s)[0]).astype(float).max(axis=1, initial=0.0)
    return (EPS * s.model.nv * np.linalg.cond(H) * a)[:, None]


def _accelerations(s, compute, loss=None):
    s = closed(s)
    try:
        reference, note = _maximal(s).a, ""
    except LeftOut as reason:
        reference, note = _by_multipliers(s)[0], f"against {KKT}: {reason}"
    allowed = _tolerance(s) + (loss(s) if loss else 0.0)
    return Compared(compute(s), reference, allowed, ("v",), note)


def maximal_against_multipliers(s):
    """The two references."""
    s = closed(s)
    return Compared(_maximal(s).a, _by_multipliers(s)[0], _tolerance(s), ("v",))


def _internal(s):
    return s.internal if s.model.elements else ()


def _forward(s, method: str):
    """``forward_dynamics`` by one of its methods."""
    if method == "auto":
        return s.call("forward_dynamics", s.q, s.v, s.tau, s.f_ext, *_internal(s))
    spec = ALGORITHMS["forward_dynamics"].by(method)
    if s.compiled:
        optional = ("f_ext", *(("x", "u") if s.model.elements else ()))
        f = s.once(("function", method), lambda: compile(s.model, spec.name, optional=optional))
        return f(s.q, s.v, s.tau, s.f_ext, *_internal(s))
    return _interpreted(s, spec)


def _interpreted(s, spec):
    given = dict(zip(("q", "v", "tau", "f_ext", "x", "u"), (s.q, s.v, s.tau, s.f_ext, *_internal(s)), strict=False))
    return s.interpret(spec, **given)


def _inverse(s):
    """Accelerations of the forces that inverse dynamics gives for those of the reference."""
    if _rounding(s.model):
        raise LeftOut("loops are redundant but for the decimals of the file")
    a = _by_multipliers(s)[0].astype(float)
    tau = s.call("inverse_dynamics", s.q, s.v, a, s.f_ext, *_internal(s))
    return s.call("forward_dynamics", s.q, s.v, tau, s.f_ext, *_internal(s))


def _book(s, compute):
    """An algorithm of chapter 8, state by state; its model has loop joints alone."""
    if s.model.geared or not all(isinstance(c, LoopJoint) for c in s.model.constraints):
        raise LeftOut("the book has loop joints alone")
    if _rounding(s.model):
        raise LeftOut("loops are redundant but for the decimals of the file")
    tau = s.tau + _passive(s)
    return np.array([compute(s.model, *x) for x in zip(s.q, s.v, tau, s.f_ext, strict=True)])


def _books(s, method: str):
    return _book(s, lambda model, *state: loop_dynamics(model, *state, method=method).a)


def _sparse(s):
    return _book(s, lambda model, *state: maximal_equation(model, *state).solve().a)


def constraint_forces(s, method):
    """``G^T lambda`` of a method of forward dynamics: redundant rows share it in many ways."""
    s = closed(s)
    lam = _interpreted(s, ALGORITHMS["forward_dynamics"].by(method).variants["multipliers"])[1]
    a, f, *_ = _by_multipliers(s)
    wrong = s.tolerances.forces(np.abs(a).astype(float)) + s.tolerances.u * np.abs(s.tau) + s.tolerances.solved(a)
    allowed = 4.0 * wrong + (np.abs(s.M).astype(float) @ _tolerance(s)[..., None])[..., 0]
    return Compared((np.swapaxes(_G(s), 1, 2) @ lam[..., None])[..., 0], f, allowed, ("v",))


def forward_methods() -> list[str]:
    """Methods of forward dynamics that take constraints; those of trees refuse them, and are left out."""
    return list(ALGORITHMS["forward_dynamics"].methods)


def _check(quantity, method, against, compare, cause=8):
    return Check(quantity, method, against, compare, cause=cause)


def checks() -> list[Check]:
    """The table's lines."""
    return [
        _check("constraints", "phi", "zero at closed states", closes, 3),
        _check("constraints", "G", "differences of phi", jacobian, 3),
        _check("constraints", "bias", "differences of G v", bias, 3),
        _check("constraints", "kept rows", "rank of G", kept_rows, 3),
        _check("accelerations, constrained", LOOPS, KKT, maximal_against_multipliers),
        *(
            _check("accelerations, constrained", f"forward_dynamics, {name}", LOOPS,
                   partial(_accelerations, compute=partial(_forward, method=name),
                           loss=_of_fixed_coordinates if name in FIXED_COORDINATES else None))
            for name in forward_methods()
        ),
        _check("accelerations, constrained", "of inverse_dynamics' forces", LOOPS,
               partial(_accelerations, compute=_inverse)),
        *(
            _check("accelerations, constrained", f"loop_dynamics, {name}", LOOPS,
                   partial(_accelerations, compute=partial(_books, method=name)))
            for name in METHODS
        ),
        _check("accelerations, constrained", "maximal_equation", LOOPS, partial(_accelerations, compute=_sparse)),
        *(
            _check("constraint forces", f"forward_dynamics, {name}", KKT, partial(constraint_forces, method=name))
            for name in forward_methods() if ALGORITHMS["forward_dynamics"].by(name).variants
        ),
    ]  # fmt: skip
