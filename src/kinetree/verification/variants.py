"""Variants of the same source: compiled, one state at a time, in extended precision, in other body frames."""

from __future__ import annotations

import numpy as np

from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.methods import QUANTITIES
from kinetree.verification.plain import PRECISE
from kinetree.verification.states import interpreted, timed_spec

# name, arguments, and the quantity whose tolerance is right
ALGORITHMS = (
    ("rnea", lambda s: (s.q, s.v, s.a, s.f_ext), "joint forces"),
    ("crba", lambda s: (s.q,), "mass matrix"),
    ("aba", lambda s: (s.q, s.v, s.tau, s.f_ext), "accelerations"),
    ("inverse_mass_matrix", lambda s: (s.q,), "inverse of M"),
)


def _compiled(s):
    if not s.compiled:
        raise LeftOut("fast: nothing is compiled")


def compiled_is_interpreted(name, arguments, quantity):
    """Machine code against the same lines of Python."""

    def compare(s):
        _compiled(s)
        found, expected = s.call(name, *arguments(s)), s.call(name, *arguments(s), form="interpreted")
        return Compared(found, expected, 2.0 * QUANTITIES[quantity].tolerance(s), QUANTITIES[quantity].axes)

    return compare


def batch_is_single(name, arguments, quantity):
    """A batch gives the bits that its states give one by one."""

    def compare(s):
        _compiled(s)
        batch, given = s.call(name, *arguments(s)), arguments(s)
        t = [None] * s.n if s.t is None else s.t
        one_by_one = np.stack([s.call(name, *(x[k] for x in given), t=t[k]) for k in range(s.n)])
        return Compared(batch, one_by_one, 0.0, QUANTITIES[quantity].axes)

    return compare


def precise_is_double(name, arguments, quantity):
    """Extended precision against float64: what rounding really does."""

    def compare(s):
        if np.finfo(PRECISE).eps == np.finfo(float).eps:
            raise LeftOut("this machine has no extended precision")
        found = s.call(name, *arguments(s), form="precise")
        return Compared(
            s.call(name, *arguments(s)), found, QUANTITIES[quantity].tolerance(s), QUANTITIES[quantity].axes
        )

    return compare


def reframed(name, arguments, quantity):
    """Bodies seen from the frames in which compiled code computes, against those of the user."""

    def compare(s):
        other = s.model.reframed()
        spec = timed_spec(name, other)
        given = dict(zip((*spec.inputs, "f_ext"), arguments(s), strict=False))
        if s.t is not None:
            given = dict(zip((*[x for x in spec.inputs if x != "t"], "f_ext"), arguments(s), strict=False)) | {"t": s.t}
        expected = s.call(name, *arguments(s), form="interpreted")
        found = interpreted(spec, other, given, {})
        return Compared(found, expected, 4.0 * QUANTITIES[quantity].tolerance(s), QUANTITIES[quantity].axes)

    return compare


def forward_after_inverse(s):
    """forward_dynamics(q, v, inverse_dynamics(q, v, a)) = a, with springs, friction and couplings."""
    left_out = (*s.model.unsupported, *(str(c) for c in s.model.constraints if c.time_dependent))
    if left_out:
        raise LeftOut(f"the model holds {', '.join(left_out[:2])}, which complete dynamics refuse or need a time for")
    G = couplings(s.model)
    tau = s.call("inverse_dynamics", s.q, s.v, s.a, s.f_ext)
    found = s.call("forward_dynamics", s.q, s.v, tau, s.f_ext)
    M = s.M.astype(float)
    inverse = np.abs(G @ np.linalg.inv(np.swapaxes(G[None], 1, 2) @ M @ G) @ G.T)
    passive = np.abs(tau - s.forces.astype(float))
    allowed = s.tolerances.accelerations(s.a, np.abs(tau) + passive, inverse)
    return Compared(found, s.a, 2.0 * allowed, ("v",))


def couplings(model) -> np.ndarray:
    """The matrix that gives all velocities from those of joints that follow no other."""
    G = model.constrained_velocities(np.eye(model.nv)).T
    return G[:, np.any(G, axis=0)]


CHECKS = (
    Check("complete dynamics", "forward_dynamics", "inverse_dynamics", forward_after_inverse, cause=8),
    *(Check("forms", f"{name}, compiled", "interpreted", compiled_is_interpreted(name, *rest),
            "machine code and source disagree: a stale cache (kinetree cache --clear) or a fault of the compiler", 8)
      for name, *rest in ALGORITHMS),
    *(Check("forms", f"{name}, batch", "single calls, all bits", batch_is_single(name, *rest), cause=8)
      for name, *rest in ALGORITHMS),
    *(Check("forms", f"{name}, float64", "extended precision", precise_is_double(name, *rest), cause=8)
      for name, *rest in ALGORITHMS),
    *(Check("forms", f"{name}, re-framed", "user's frames", reframed(name, *rest), cause=8)
      for name, *rest in ALGORITHMS),
)  # fmt: skip
