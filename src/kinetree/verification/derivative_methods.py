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


class Inverse:
    """Derivatives of inverse dynamics by differences of the plain matrices, at a few states."""

    def __init__(self, s, a) -> None:
        self.s, self.a = s, np.asarray(a, float)
        model, nv = s.model, s.model.nv
        dq_tolerance, dv_tolerance = s.tolerances.force_derivatives(self.a)
        size = s.tolerances.forces(self.a) / s.tolerances.u

        def forces(q, v):
            """Joint forces on arrays with leading axes, all of them flattened for the plain matrices."""
            lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
            flat = [np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, v, self.a)]
            t = None if s.t is None else np.broadcast_to(s.t, lead).reshape(-1)
            f_ext = np.broadcast_to(s.f_ext, (*lead, *s.f_ext.shape[1:])).reshape(-1, *s.f_ext.shape[1:])
            return Plain(model, flat[0], flat[1], t).joint_forces(flat[2], f_ext).reshape(*lead, nv)

        self.dq, error = by_position(s, lambda q, t: forces(q, s.v.astype(PRECISE)), size)
        self.dq_tolerance = error + dq_tolerance
        directions = steps()[:, None, None, None] * np.eye(nv, dtype=PRECISE)[:, None, :]
        found, error = derivative(forces(s.q.astype(PRECISE), s.v + directions), size[None])
        self.dv, self.dv_tolerance = np.moveaxis(found, 0, -1), np.moveaxis(error, 0, -1) + dv_tolerance


def _inverse(s):
    return s.once("dtau", lambda: Inverse(s, s.a))


def _forward(s):
    """Derivatives of forward dynamics: those of inverse dynamics at its result, multiplied by M^-1; with tolerances."""
    reference = Inverse(s, s.acceleration)
    inverse, found, tolerance = s.tolerances.M_inverse, [], []
    root, u = s.tolerances.root, s.tolerances.u_solve
    for d, wrong in ((reference.dq, reference.dq_tolerance), (reference.dv, reference.dv_tolerance)):
        x = -(s.M_inverse @ d)
        scaled = u * root[:, :, None] * np.sum(root[:, :, None] * np.abs(x).astype(float), axis=1, keepdims=True)
        found.append(x)
        tolerance.append(inverse @ (wrong + scaled))
    # An acceleration that is off by its own rounding turns up times the derivative of M.
    drift, u = s.tolerances.accelerations(s.acceleration, s.tau) / s.tolerances.u, s.tolerances.force_derivatives
    tolerance[0] = tolerance[0] + inverse @ (u(np.abs(s.acceleration).astype(float) + drift)[0] - u(s.acceleration)[0])
    return found, tolerance


def _generic(s, name, method):
    """Jacobians by the graph, forward or reverse: interpreted, since they are compiled for no one else."""
    f = differentiate(s.model, name, wrt=("q", "v"), optional=("f_ext",), method=method)
    last = {"a": s.a} if name == "rnea" else {"tau": s.tau}
    return s.interpret(f.spec, q=s.q, v=s.v, **last, f_ext=s.f_ext)


def _found(s, name, how):
    if how != "analytical":
        return _generic(s, name, how)
    return s.call(f"{name}_derivatives", s.q, s.v, s.a if name == "rnea" else s.tau, s.f_ext)


AXES = ("v", "v")


def _compare(name, which, how):
    def compare(states):
        s, k = _few(states), "qv".index(which)
        found = s.once((name, how), lambda: _found(s, name, how))[k]
        if name == "rnea":
            reference = _inverse(s)
            return Compared(
                found, (reference.dq, reference.dv)[k], (reference.dq_tolerance, reference.dv_tolerance)[k], AXES
            )
        expected, tolerance = s.once("da", lambda: _forward(s))
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
