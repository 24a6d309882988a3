"""Bounded forces (friction that sticks, hard limits): accelerations against a bounded least-squares problem.

At rest they are those of least constraint (Gauss): with P the response of accelerations to joint forces under all
equalities, and B the rows, the forces f minimize ``|R^T (B^T f + r)|^2``, ``P = R R^T``, within their bounds: an
active-set method of SciPy, on dense matrices, without exchanges by projection or sparse factors. In motion friction is
known. Bounds and rows come from the data of the joints.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import lsq_linear

from kinetree.algorithms.constrained import remaining_rows
from kinetree.constraints import HardLimits, HardLoopLimits, StickingFriction, StickingLoopFriction
from kinetree.constraints.contract import dense
from kinetree.errors import ConstraintError
from kinetree.state_kinematics import Kinematics
from kinetree.verification import loop_checks
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.loop_checks import _passive, _saddle_point

KINDS = (HardLimits, HardLoopLimits, StickingFriction, StickingLoopFriction)
SOLVED = 1e-8  # relative accuracy of the reference, whose matrix R is a square root
LARGEST = 60  # velocities


def _states(s):
    """The states, with closed positions in mechanisms with loops; every other one at rest."""
    model = s.model
    bounded = [c for c in model.constraints if c.row_kind != "equality"]
    if not bounded:
        raise LeftOut("no forces of constraints are bounded")
    if not all(isinstance(c, KINDS) for c in bounded):
        raise LeftOut("bounded forces of a user's own constraints")
    if model.time_dependent or any(c.time_dependent for c in model.constraints):
        raise LeftOut("constraints or joints depend on time")
    if model.nv > LARGEST:
        raise LeftOut(f"more than {LARGEST} velocity coordinates")
    if remaining_rows(model):
        bare = s.at(s.q, s.v)
        bare.model = model.replace(constraints=[c for c in model.constraints if c.row_kind == "equality"])
        closed = loop_checks.closed(bare)
        s = s.at(closed.q, closed.v)
    v = s.coupled(s.v)
    v[::2] = 0.0
    return s.at(s.q, v)


def _friction(model, kin) -> tuple[np.ndarray, np.ndarray]:
    """Rows and coefficients of friction that sticks."""
    rows, most = [], []
    for c in model.constraints:
        if isinstance(c, StickingFriction):
            of = [k for name in c.of or model.joint_names for k in range(*model.v_index(name).indices(model.nv))]
            rows += [{k: 1.0} for k in of]
            most += [float(getattr(model, c.replaces)[k]) for k in of]
        elif isinstance(c, StickingLoopFriction):
            for name, loop in model.loop_joints():
                if not c.of or name in c.of:
                    rows += [kin.row(name, n) for n in range(loop.joint.nv)]
                    most += [float(x) for x in loop.along(c.replaces_in_loops)]
    return dense(rows, model.nv), np.array(most)


def _limited(model, kin) -> list[tuple]:
    """Hard limits: row, value, loop joint or None and the number of its coordinate, lower and upper limit."""
    found = []
    for c in model.constraints:
        if isinstance(c, HardLimits):
            for k, j in c.positions(model).items():
                found.append(({k: 1.0}, float(kin.q[j]), None, k, float(model.lower[k]), float(model.upper[k])))
        elif isinstance(c, HardLoopLimits):
            for name, loop in model.loop_joints():
                if loop.has_limits and (not c.of or name in c.of):
                    each = loop.counted(kin.loop_position(name))
                    found += [(kin.row(name, n), float(x), name, n, low, high) for n, x, low, high in each]
    return found


def _pressed(model, limited, sides):
    """The model with one limit of each limited coordinate where it is."""
    arrays = {"lower": np.array(model.lower, float), "upper": np.array(model.upper, float)}
    loops = {name: loop for name, loop in model.loop_joints()}
    for (_, x, name, k, *_), side in zip(limited, sides, strict=True):
        what, other, far = ("lower", "upper", x + 1.0) if side > 0 else ("upper", "lower", x - 1.0)
        if name is None:
            arrays[what][k], arrays[other][k] = x, far
        else:
            limits = {w: list(loops[name].along(w)) for w in ("lower", "upper")}
            limits[what][k], limits[other][k] = x, far
            loops[name] = replace(loops[name], **{w: tuple(values) for w, values in limits.items()})
    others = [c for c in model.constraints if c.kind != "loop_joint"]
    return model.replace(constraints=[*others, *loops.values()], **arrays)


def _reference(s, j, kin, limited, sides) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of state j, and the size of their terms; ``sides`` +1 where a lower limit is reached."""
    model, v = s.model, s.v[j]
    equalities = [c for c in model.constraints if c.row_kind == "equality"]
    G = dense([row for c in equalities for row in c.rows(kin)], model.nv)
    k = -np.array([float(x) for c in equalities for x in c.bias(kin)])
    right = (s.tau + _passive(s) - s.bias)[j].astype(float)
    B, most = _friction(model, kin)
    moves = np.abs(B @ v) > 0.0
    right = right - B[moves].T @ (most[moves] * np.sign(B[moves] @ v))
    M = s.M[j].astype(float)
    a, _, P, _, _ = _saddle_point(M, G, right, k) if len(G) else _free(M, right)
    size = np.abs(P) @ (np.abs(right) + np.abs(M) @ np.abs(a))
    rows = np.concatenate([B[~moves], dense([row for row, *_ in limited], model.nv)])
    most, never = most[~moves], np.zeros(len(sides))
    least = np.concatenate([-most, np.where(sides > 0, never, -np.inf)])
    most = np.concatenate([most, np.where(sides > 0, np.inf, never)])
    acts = least < most
    if not v.any() and acts.any():
        rows, w, U = rows[acts], *np.linalg.eigh(0.5 * (P + P.T))
        R = U * np.sqrt(np.maximum(w, 0.0))
        solved = lsq_linear(R.T @ rows.T, -R.T @ right, (least[acts], most[acts]), "bvls", tol=1e-15)
        a = P @ (right + rows.T @ solved.x)
        size = size + np.abs(P) @ np.abs(rows.T @ solved.x)
    return a.astype(float), size


def _free(M, right):
    inverse = np.linalg.inv(M)
    return inverse @ right, None, inverse, None, None


def _outside(limited) -> bool:
    return any(not low < x < high for _, x, _, _, low, high in limited)


def _compared(s, pressing):
    """At the states, whose limits are far away; or at rest, with a limit of each limited coordinate where it is."""
    s, each, missed = _states(s), [], 0
    for j, (q, v) in enumerate(zip(s.q, s.v, strict=True)):
        kin = Kinematics(s.model, q.tolist(), v.tolist())
        limited, form = _limited(s.model, kin), {}
        if v.any() if pressing else _outside(limited):
            continue
        sides = np.random.default_rng(j).choice([-1.0, 1.0], len(limited))
        if pressing:
            form = {"model": _pressed(s.model, limited, sides), "form": "interpreted"}
        inputs = [q, v, s.tau[j], s.f_ext[j], *([x[j] for x in s.internal] if s.model.elements else [])]
        try:
            found = s.call("forward_dynamics", *(x[None] for x in inputs), **form)[0]
        except ConstraintError:  # compiled code makes so many exchanges and no more
            missed += 1
            continue
        a, size = _reference(s, j, kin, *((limited, sides) if pressing else ([], np.zeros(0))))
        each.append((found, a, SOLVED * (size + 1.0)))
    note = f"{missed} states without a solution in as many exchanges as compiled code makes" if missed else ""
    if not each:
        raise LeftOut(note or "no state is inside the limits")
    return Compared(*(np.array(x) for x in zip(*each, strict=True)), ("v",), note)


def friction(s):
    """Sticking where nothing moves, and sliding."""
    return _compared(s, False)


def limits(s):
    """All limited coordinates at a limit, at rest, with friction."""
    if not any(isinstance(c, (HardLimits, HardLoopLimits)) for c in s.model.constraints):
        raise LeftOut("the model has no hard limits")
    return _compared(s, True)


AGAINST = "bounded least squares"
CHECKS = (
    Check("bounded forces", "forward_dynamics", AGAINST, friction, cause=8),
    Check("bounded forces", "forward_dynamics, at limits", AGAINST, limits, cause=8),
)
