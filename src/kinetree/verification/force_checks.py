"""Laws of force elements: forces against energies, and slopes against differences, at random internal states."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.force_elements import dissipative_forces, element_energies, element_forces, exact_slopes
from kinetree.algorithms.matrices import minus
from kinetree.algorithms.spec import Spec
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.differences import by_position, derivative, steps
from kinetree.verification.plain import PRECISE

TOLERANCE = 1e-12  # of the largest force or slope: rounding of laws, which may be any functions
_MOVING = {"q": ("nq",), "v": ("nv",), "x": ("nx",), "u": ("nu",)}


def _conservative(model, q, v, x, u):
    forces = element_forces(model, q, v, x, u)
    for part in dissipative_forces(model, q, v, x, u):
        forces = minus(forces, part)
    return forces


_ENERGY = Spec("element_energy", lambda model, q: sum(element_energies(model, q)), {"q": ("nq",)}, {}, {"E": ()})
_FORCES = Spec("element_forces", element_forces, _MOVING, {}, {"tau": ("nv",)})
_CONSERVATIVE = Spec("conservative_forces", _conservative, _MOVING, {}, {"tau": ("nv",)})
_SLOPES = Spec("element_slopes", exact_slopes, _MOVING, {}, {"K": ("nv", "nv"), "D": ("nv", "nv")})


def _call(s, spec, *arrays):
    """A function of the laws at states, interpreted in extended precision."""
    if not s.model.laws:
        raise LeftOut("the model has no force elements but those of joints")
    if s.t is not None:
        raise LeftOut("joints depend on time")
    arrays = (np.asarray(x, PRECISE) for x in (*arrays, *s.internal)[: len(spec.inputs)])
    return s.interpret(spec, **dict(zip(spec.inputs, arrays, strict=True)))


def _scale(*arrays) -> float:
    return max(1.0, *(float(np.abs(x).max(initial=0.0)) for x in arrays))


def gradient(s):
    """Forces of stored energy = -dE/dq."""
    found = _call(s, _CONSERVATIVE, s.q, s.v)
    energy = _call(s, _ENERGY, s.q)
    rate, error = by_position(s, lambda q, t: _call(s, _ENERGY, q), np.abs(energy) + _scale(found))
    return Compared(found, -rate, error + TOLERANCE * _scale(found), ("v",))


def stiffness(s):
    """K = -df/dq."""
    K, _ = _call(s, _SLOPES, s.q, s.v)
    size = _scale(K, _call(s, _FORCES, s.q, s.v)) * np.ones((len(s.q), s.model.nv))
    rate, error = by_position(s, lambda q, t: _call(s, _FORCES, q, s.v), size)
    return Compared(K, -rate, error + TOLERANCE * _scale(K), ("v", "v"))


def damping(s):
    """D = -df/dv."""
    _, D = _call(s, _SLOPES, s.q, s.v)
    size = _scale(D, _call(s, _FORCES, s.q, s.v))
    directions = steps()[:, None, None, None] * np.eye(s.model.nv, dtype=PRECISE)[:, None, :]
    rate, error = derivative(_call(s, _FORCES, s.q, s.v + directions), size)
    rate, error = (np.moveaxis(x, 0, -1) for x in (rate, error))
    return Compared(D, -rate, error + TOLERANCE * _scale(D), ("v", "v"))


CHECKS = (
    Check("force elements", "conservative forces", "gradient of the stored energy", gradient, cause=7),
    Check("force elements", "stiffness K", "differences of the forces", stiffness, cause=7),
    Check("force elements", "damping D", "differences of the forces", damping, cause=7),
)
