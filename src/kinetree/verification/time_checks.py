"""Rows that depend on time: their rates and biases by differences in time, and accelerations by multipliers.

Each state has a time of its own, at which its position is closed. All equalities take part, those that are eliminated
too: prescribed motions, locks, couplings.
"""

from __future__ import annotations

import numpy as np

from kinetree.constraints.contract import dense
from kinetree.state_kinematics import Kinematics
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.differences import derivative, steps
from kinetree.verification.loop_checks import CLOSED, NEWTON, RANK, SPREAD, TRIES, _saddle_point
from kinetree.verification.plain import PRECISE, Plain

LATEST = 1.5  # [s]
RATE = 1e-9  # relative accuracy of rates by differences of rows that hold to `CLOSED`


class Rows:
    """The equalities of a model at a state and a time: errors, rates, entries and biases."""

    def __init__(self, model, q, v, t) -> None:
        now = model.at(t)
        kin = Kinematics(now, list(q), list(v))
        self.phi, self.rate, self.bias, rows = [], [], [], []
        for c in now.constraints:
            if c.row_kind == "equality":
                rows += c.rows(kin)
                self.rate += c.rate(kin)
                self.bias += c.bias(kin)
                phi, held = c.residual(kin), c.position_level(model)
                self.phi += [x if at else None for x, at in zip(phi or [None] * len(held), held, strict=True)]
        self.G = dense(rows, model.nv, np.result_type(*map(np.asarray, (q, v, t))))
        self.rate, self.bias = (np.array(x, self.G.dtype) for x in (self.rate, self.bias))
        self.held = np.array([x is not None for x in self.phi], bool)
        self.errors = np.array([x for x in self.phi if x is not None], self.G.dtype)


def _moved(s, q, dv):
    return s.call("integrate", np.broadcast_to(q, (*dv.shape[:-1], len(q))), dv, form="precise")


def _states(s) -> list[tuple]:
    """Positions, velocities and times that obey the rows."""
    model, rng, found = s.model, np.random.default_rng(s.seed), []
    if not model.constraints or not (model.time_dependent or any(c.time_dependent for c in model.constraints)):
        raise LeftOut("no constraints depend on time, and no joints beside some")
    if any(c.row_kind != "equality" for c in model.constraints):
        raise LeftOut("forces of some constraints are bounded")
    starts = [model.neutral(), *(model.keyframe(name)[0] for name in model.keyframes)]
    for trial in range(TRIES * s.n):
        t, spread = float(rng.uniform(0.0, LATEST)), SPREAD * rng.standard_normal(model.nv)
        q = _closed(s, _moved(s, starts[-1 - trial % len(starts)], spread).astype(float), t)
        if q is not None:
            rows = Rows(model, q.tolist(), [0.0] * model.nv, t)
            inverse, v = np.linalg.pinv(rows.G, rcond=RANK), rng.standard_normal(model.nv)
            for _ in range(2):
                v = v - inverse @ (rows.G @ v + rows.rate)
            if np.abs(rows.G @ v + rows.rate).max() < 1e-9 * (1.0 + np.abs(v).max()):
                found.append((q, v, t))
        if len(found) == s.n:
            return found
    raise LeftOut(f"{len(found)} closed states were found about the neutral position and the keyframes, expected {s.n}")


def _closed(s, q, t):
    """Newton's method at a time; None if it does not close the loops."""
    gap = np.inf
    for _ in range(NEWTON):
        rows = Rows(s.model, q.tolist(), [0.0] * s.model.nv, t)
        before, gap = gap, float(np.abs(rows.errors).max(initial=0.0))
        if not np.isfinite(gap) or gap < CLOSED and not gap < 0.5 * before:
            break
        step = -np.linalg.lstsq(rows.G[rows.held], rows.errors, rcond=RANK)[0]
        q = _moved(s, q, step * min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-300))).astype(float)
    return q if gap < CLOSED else None


def _along(s, what):
    """A quantity of the rows, its rate by differences along the motion, and the error of these, at each state."""
    found = []
    for (q, v, t), a in zip(s.once("closed in time", lambda: _states(s)), s.a, strict=True):
        h = steps()[:, None]
        moving = v.astype(PRECISE) + h * a
        path = _moved(s, q.astype(PRECISE), h * v.astype(PRECISE) + 0.5 * h * h * a)
        ends = [Rows(s.model, list(x), list(y), PRECISE(t) + z) for x, y, z in zip(path, moving, steps(), strict=True)]
        size = 1.0 + np.abs(v).max() ** 2 + np.abs(a).max()
        rows = Rows(s.model, q.tolist(), v.tolist(), t)
        found.append((rows, *derivative(np.array([getattr(end, what) for end in ends]), size), size, a))
    return found


def rates(s):
    """G v + g = d phi/dt, with the part that time alone gives."""
    each = _along(s, "errors")
    found, expected = [r.rate[r.held] for r, *_ in each], [rate for _, rate, *_ in each]
    allowed = [error + RATE * size for _, _, error, size, _ in each]
    return Compared(np.array(found), np.array(expected), np.array(allowed), ("row",))


def biases(s):
    """G a + bias = d(G v + g)/dt."""
    each = _along(s, "rate")
    found = [r.G @ a + r.bias for r, *_, a in each]
    allowed = [error + RATE * size for _, _, error, size, _ in each]
    return Compared(np.array(found), np.array([rate for _, rate, *_ in each]), np.array(allowed), ("row",))


def accelerations(s):
    """Those of forward dynamics, and of the plain mass matrix with multipliers of all rows."""
    found, expected, allowed = [], [], []
    for j, (q, v, t) in enumerate(s.once("closed in time", lambda: _states(s))):
        at = (q[None], v[None], None if s.t is None else np.array([t]))
        plain, rows = Plain(s.model, *at), Rows(s.model, q.tolist(), v.tolist(), t)
        internal = [x[j : j + 1] for x in s.internal] if s.model.elements else []
        now = np.array([t])
        laws = "passive_joint_forces", *(("actuator_joint_forces",) if s.model.n_actuators else ())
        passive = sum(s.call(law, *at[:2], *internal, form="interpreted", t=now)[0] for law in laws)
        M, bias = plain.mass_matrix()[0], plain.joint_forces(np.zeros((1, s.model.nv)), s.f_ext[j : j + 1])[0]
        right = (M @ s.a[j]).astype(float) + s._noise[j]
        tau = right + bias.astype(float) - passive
        a, _, P, Q, _ = _saddle_point(M.astype(PRECISE), rows.G.astype(PRECISE), right.astype(PRECISE), -rows.bias)
        got = s.call("forward_dynamics", *at[:2], tau[None], s.f_ext[j : j + 1], *internal, t=now)[0]
        size = np.abs(P) @ (np.abs(right) + np.abs(bias) + np.abs(M) @ np.abs(a)) + np.abs(Q) @ np.abs(rows.bias)
        found.append(got)
        expected.append(a.astype(float))
        allowed.append(1e-9 * (1.0 + size.astype(float)))
    return Compared(np.array(found), np.array(expected), np.array(allowed), ("v",))


CHECKS = (
    Check("rows in time", "G v + g", "differences of phi", rates, cause=3),
    Check("rows in time", "bias", "differences of G v + g", biases, cause=3),
    Check("rows in time", "forward_dynamics", "plain matrices, multipliers", accelerations, cause=8),
)
