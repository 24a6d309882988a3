"""Derivatives: the analytical algorithms, both modes of differentiation and finite differences."""

from __future__ import annotations

import numpy as np

from kinetree.compiler.derivative_functions import differentiate
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.differences import by_position, derivative, steps
from kinetree.verification.plain import PRECISE, Plain

WIDE = 60  # velocity coordinates beyond which the graphs of generic derivatives are left out: quadratic in size
FEW = 3  # states for differences, which take 12 nv evaluations each


def _few(s):
    if s.model.nv > WIDE:
        raise LeftOut(f"more than {WIDE} velocity coordinates")
    if s.model.nv == 0:
        raise LeftOut("nothing moves")
    return s.once("few", lambda: s.few(FEW))


def _inverse(s, a):
    """Derivatives of inverse dynamics in q and in v, by differences of the plain matrices; with tolerances."""
    a, nv = np.asarray(a, float), s.model.nv
    dq_tolerance, dv_tolerance = s.tolerances.force_derivatives(a)
    size = s.tolerances.forces(a) / s.tolerances.u

    def forces(q, v):
        """Joint forces on arrays with leading axes, all of them flattened for the plain matrices."""
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        flat = [np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, v, a)]
        t = None if s.t is None else np.broadcast_to(s.t, lead).reshape(-1)
        f_ext = np.broadcast_to(s.f_ext, (*lead, *s.f_ext.shape[1:])).reshape(-1, *s.f_ext.shape[1:])
        return Plain(s.model, flat[0], flat[1], t).joint_forces(flat[2], f_ext).reshape(*lead, nv)

    dq, dq_error = by_position(s, lambda q, t: forces(q, s.v.astype(PRECISE)), size)
    directions = steps()[:, None, None, None] * np.eye(nv, dtype=PRECISE)[:, None, :]
    dv, dv_error = (
        np.moveaxis(x, 0, -1) for x in derivative(forces(s.q.astype(PRECISE), s.v + directions), size[None])
    )
    return (dq, dv), (dq_error + dq_tolerance, dv_error + dv_tolerance)


def _forward(s):
    """Derivatives of forward dynamics: those of inverse dynamics at its result, multiplied by M^-1; with tolerances."""
    inverse, found, tolerance = s.tolerances.M_inverse, [], []
    root, u = s.tolerances.root, s.tolerances.u_solve
    for d, wrong in zip(*_inverse(s, s.acceleration), strict=True):
        x = -(s.M_inverse @ d)
        scaled = u * root[:, :, None] * np.sum(root[:, :, None] * np.abs(x).astype(float), axis=1, keepdims=True)
        found.append(x)
        tolerance.append(inverse @ (wrong + scaled))
    # An acceleration that is off by its own rounding turns up times the derivative of M.
    drift, u = s.tolerances.accelerations(s.acceleration, s.tau) / s.tolerances.u, s.tolerances.force_derivatives
    tolerance[0] = tolerance[0] + inverse @ (u(np.abs(s.acceleration).astype(float) + drift)[0] - u(s.acceleration)[0])
    return found, tolerance


def _found(s, name, how):
    """All derivatives of `rnea` or `aba`; by the graph interpreted, since they are compiled for no one else."""
    last = {"a": s.a} if name == "rnea" else {"tau": s.tau}
    if how == "analytical":
        return s.call(f"{name}_derivatives", s.q, s.v, *last.values(), s.f_ext)
    f = differentiate(s.model, name, wrt=("q", "v"), optional=("f_ext",), method=how)
    return s.interpret(f.spec, q=s.q, v=s.v, **last, f_ext=s.f_ext)


AXES = ("v", "v")


def _compare(name, which, how):
    def compare(states):
        s, k = _few(states), "qv".index(which)
        found = s.once((name, how), lambda: _found(s, name, how))[k]
        reference = _forward if name == "aba" else lambda s: _inverse(s, s.a)
        expected, tolerance = s.once(("differences", name), lambda: reference(s))
        return Compared(found, expected[k], tolerance[k], AXES)

    return compare


def _third(name):
    """dtau/da = M, da/dtau = M^-1."""

    def compare(states):
        s = _few(states)
        found = s.once((name, "analytical"), lambda: _found(s, name, "analytical"))[2]
        if name == "rnea":  # in coordinates of the root
            return Compared(found, s.M, s.tolerances.matrix(world=True), AXES)
        return Compared(found, s.M_inverse, s.tolerances.inverse(), AXES)

    return compare


HOW = {
    "analytical": "{name}_derivatives",
    "forward": "differentiate {name}, forward",
    "reverse": "differentiate {name}, reverse",
}
QUANTITY = {"rnea": "dtau/d{x}", "aba": "da/d{x}"}

CHECKS = tuple(
    Check(QUANTITY[name].format(x=x), HOW[how].format(name=name), "differences", _compare(name, x, how), cause=7)
    for name in ("rnea", "aba")
    for x in ("q", "v")
    for how in HOW
) + (
    Check("dtau/da", "rnea_derivatives", "plain M", _third("rnea"), cause=7),
    Check("da/dtau", "aba_derivatives", "plain M^-1", _third("aba"), cause=7),
)
