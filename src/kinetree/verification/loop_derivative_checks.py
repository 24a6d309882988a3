"""Derivatives of accelerations and multipliers of constrained models, against differences in extended precision."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.derivative_methods import FEW, WIDE
from kinetree.verification.differences import H, by_position, derivative, steps
from kinetree.verification.loop_checks import closed, responses, rounding, row_sizes, row_terms
from kinetree.verification.plain import PRECISE

AXES = {"a": ("v", "v"), "lambda": ("row", "v")}


def _states(s):
    if s.model.nv > WIDE:
        raise LeftOut(f"more than {WIDE} velocity coordinates")
    if s.model.elements:
        raise LeftOut("force elements take part, whose own rows have their slopes")
    s = closed(s)
    return s.once("few", lambda: s.few(FEW))


def _found(s) -> dict:
    """All derivatives, by name."""
    spec = ALGORITHMS["forward_dynamics_derivatives"]
    found = s.once("derivatives", lambda: s.interpret(spec, q=s.q, v=s.v, tau=s.tau, f_ext=s.f_ext))
    return dict(zip(spec.outputs, found, strict=True))


def _solution(s, q, v, tau):
    """Accelerations and multipliers side by side, in extended precision; leading axes as those of the arrays."""
    spec = replace(ALGORITHMS["forward_dynamics"].variants["multipliers"], domains=())  # off closed loops, too
    given = {name: np.asarray(x, PRECISE) for name, x in (("q", q), ("v", v), ("tau", tau), ("f_ext", s.f_ext))}
    return np.concatenate(s.interpret(spec, **given), axis=-1)


def _differences(s) -> dict:
    """Derivatives of both in q, v and tau, with the errors of the differences.

    Values are rounded as solutions are: by the sizes of the terms of forces and rows, each through its response. Both
    are affine in tau, so that steps of one have no error but rounding, which they divide by one.
    """
    directions = steps()[:, None, None, None] * np.eye(s.model.nv, dtype=PRECISE)[:, None, :]
    size = np.abs(_solution(s, s.q, s.v, s.tau)).astype(float) + 1.0
    size = size + np.concatenate(rounding(s), axis=-1) / s.tolerances.u
    found = {"q": by_position(s, lambda q, t: _solution(s, q, s.v, s.tau), size)}
    for name, unit, solutions in (
        ("v", 1.0, lambda step: _solution(s, s.q, s.v + step, s.tau)),
        ("tau", 1.0 / PRECISE(H), lambda step: _solution(s, s.q, s.v, s.tau + step)),
    ):
        values = solutions(unit * directions)
        rate, error = derivative(values, size[None] + np.abs(values).max(axis=0).astype(float))
        found[name] = np.moveaxis(rate / unit, 0, -1), np.moveaxis(error / float(unit), 0, -1)
    return found


def _rounding(s, which: str) -> tuple[np.ndarray, np.ndarray]:
    """Of the derivatives of a and lambda: that of the slopes of forces and of rows, each through its response.

    Unit forces are first multiplied by M^-1, with the rounding of a solution, and then freed of their part across the
    constraints.
    """
    a, f, P, Q, A_inverse = responses(s)
    t, inverse = s.tolerances, s.tolerances.M_inverse
    if which == "tau":
        root = t.root
        wrong = t.u_solve * root[:, :, None] * np.sum(root[:, :, None] * inverse, axis=1, keepdims=True)
        rows = row_sizes(s) @ inverse  # of K M^-1, and of A = K M^-1 K^T times the result
        of_rows = t.u * (rows + rows @ np.swapaxes(row_sizes(s), 1, 2) @ np.swapaxes(Q, 1, 2))
    else:
        condition = np.linalg.cond(s.M.astype(float))[:, None, None]
        slopes = dict(zip("qv", t.force_derivatives(a), strict=True))[which]
        wrong = slopes + t.u * (f[:, :, None] + condition * np.eye(s.model.nv))
        of_rows = 2.0 * t.u * row_terms(s)[:, :, None]
    return 16.0 * (P @ wrong + Q @ of_rows), 16.0 * (np.swapaxes(Q, 1, 2) @ wrong + A_inverse @ of_rows)


def _compare(s, of: str, which: str) -> Compared:
    s = _states(s)
    expected, error = s.once("differences", lambda: _differences(s))[which]
    part = slice(0, s.model.nv) if of == "a" else slice(s.model.nv, None)
    expected, error = expected[:, part], error[:, part]
    size = np.abs(expected).astype(float).max(axis=(1, 2), initial=0.0)[:, None, None]
    allowed = error + _rounding(s, which)[of == "lambda"] + s.tolerances.u * size
    return Compared(_found(s)[f"d{of}_d{which}"], expected, allowed, AXES[of])


CHECKS = tuple(
    Check(f"d{of}/d{which}, constrained", "forward_dynamics_derivatives", "differences",
          partial(_compare, of=of, which=which), cause=8)
    for of in ("a", "lambda")
    for which in ("q", "v", "tau")
)  # fmt: skip
