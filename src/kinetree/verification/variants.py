"""Variants of the same source: compiled, one state at a time, in extended precision, in other body frames."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.constrained import remaining_rows
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.methods import QUANTITIES
from kinetree.verification.plain import PRECISE

# name, arguments, and the quantity whose tolerance is right
ALGORITHMS = (
    ("rnea", lambda s: (s.q, s.v, s.a, s.f_ext), "joint forces"),
    ("crba", lambda s: (s.q,), "mass matrix"),
    ("aba", lambda s: (s.q, s.v, s.tau, s.f_ext), "accelerations"),
    ("inverse_mass_matrix", lambda s: (s.q,), "inverse of M"),
)


# Each form of an algorithm: its result at the states, from the name and the arguments --------------------------------


def as_it_is(s, name, arguments):
    """The call of all other checks."""
    return s.call(name, *arguments)


def compiled(s, name, arguments):
    """Machine code."""
    if not s.compiled:
        raise LeftOut("fast: nothing is compiled")
    return s.call(name, *arguments)


def interpreted(s, name, arguments):
    """The same lines of Python."""
    return s.call(name, *arguments, form="interpreted")


def one_by_one(s, name, arguments):
    """The states one at a time, which give the bits of the batch."""
    t = [None] * s.n if s.t is None else s.t
    return np.stack([s.call(name, *(x[k] for x in arguments), t=t[k]) for k in range(s.n)])


def precise(s, name, arguments):
    """Extended precision, for the actual rounding error."""
    if np.finfo(PRECISE).eps == np.finfo(float).eps:
        raise LeftOut("this machine has no extended precision")
    return s.call(name, *arguments, form="precise")


def reframed(s, name, arguments):
    """Bodies seen from the frames in which compiled code computes."""
    return s.call(name, *arguments, form="interpreted", model=s.model.reframed())


STALE = "machine code and source disagree: a stale cache (kinetree cache --clear) or a fault of the compiler"
# label, against, the two forms, factor of the quantity's tolerance, interpretation of a deviation
FORMS = (
    ("compiled", "interpreted", compiled, interpreted, 2.0, STALE),
    ("batch", "single calls, all bits", compiled, one_by_one, 0.0, ""),
    ("float64", "extended precision", as_it_is, precise, 1.0, ""),
    ("re-framed", "user's frames", reframed, interpreted, 4.0, ""),
)


def _compare(found, expected, factor, name, arguments, quantity):
    def compare(s):
        results = found(s, name, arguments(s)), expected(s, name, arguments(s))
        return Compared(*results, factor * QUANTITIES[quantity].tolerance(s), QUANTITIES[quantity].axes)

    return compare


def forward_after_inverse(s):
    """forward_dynamics(q, v, inverse_dynamics(q, v, a)) = a, with springs, friction and couplings."""
    if s.model.constraints and remaining_rows(s.model):
        raise LeftOut("the model has loops, whose dynamics are compared at closed states")
    left_out = (*s.model.unsupported, *(str(c) for c in s.model.constraints if c.time_dependent))
    if left_out:
        raise LeftOut(f"the model holds {', '.join(left_out[:2])}, which complete dynamics refuse or need a time for")
    G = couplings(s.model)
    internal = s.internal if s.model.elements else ()
    tau = s.call("inverse_dynamics", s.q, s.v, s.a, s.f_ext, *internal)
    found = s.call("forward_dynamics", s.q, s.v, tau, s.f_ext, *internal)
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
    *(
        Check("forms", f"{name}, {label}", against, _compare(found, expected, factor, name, *rest), means, 8)
        for label, against, found, expected, factor, means in FORMS
        for name, *rest in ALGORITHMS
    ),
)
