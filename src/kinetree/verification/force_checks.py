"""Force elements, one by one: forces, energies, powers and slopes, at random states, internal states and inputs."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.force_elements import (
    dissipative_forces,
    element_energies,
    element_joint_forces,
    force_state_rates,
    gauss_newton_slopes,
    laws,
)
from kinetree.algorithms.implicit_forces import implicit_state_changes
from kinetree.algorithms.matrices import minus
from kinetree.algorithms.spec import Spec
from kinetree.algorithms.state_slopes import state_slopes
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.differences import along, by_position, derivative, steps
from kinetree.verification.plain import PRECISE

TOLERANCE = 1e-12  # of the largest force or slope: rounding of laws, which may be any functions
LAG = 0.01  # [s] of the implicit step of internal states that is checked


_MOVING = {"q": ("nq",), "v": ("nv",), "x": ("nx",), "u": ("nu",)}


def _energies(model, q, v, x, u):
    return element_energies(model, q)


def _conservative(model, q, v, x, u):
    parts = zip(element_joint_forces(model, q, v, x, u), dissipative_forces(model, q, v, x, u), strict=True)
    return [minus(force, part) for force, part in parts]


def _exact(model, q, v, x, u):
    """K and D."""
    n, nx = model.nv, len(x)

    def forces(inner, q, v, given):
        return [f for of_one in element_joint_forces(inner, q, v, given[:nx], given[nx:]) for f in of_one]

    K, D = ([[[0.0] * n for _ in range(n)] for _ in model.laws] for _ in range(2))
    for k, row in enumerate(state_slopes(model, q, v, forces, [*x, *u])):
        for d, slope in row.items():
            (K if d < n else D)[k // n][k % n][d % n] = -slope
    return K, D


def _gauss_newton(model, q, v, x, u):
    """D by the slopes of the laws."""
    return [gauss_newton_slopes(model, q, v, of=[law])[1] for law in laws(model, x, u)]


def _changes(model, q, v, x, u):
    """Changes of the internal states in an implicit step."""
    return implicit_state_changes(model, q, v, x, u, LAG)


def _call(s, function, outputs: dict, q, v, x=None):
    """A function of the laws at states, interpreted in extended precision; sizes "force" are those of the laws."""
    if not s.model.laws:
        raise LeftOut("the model has no force elements but those of joints")
    if s.t is not None:
        raise LeftOut("joints depend on time")
    shapes = {name: tuple(len(s.model.laws) if n == "force" else n for n in shape) for name, shape in outputs.items()}
    arrays = (np.asarray(given, PRECISE) for given in (q, v, s.internal[0] if x is None else x, s.internal[1]))
    spec = Spec(function.__name__, function, _MOVING, {}, shapes)
    return s.interpret(spec, **dict(zip(_MOVING, arrays, strict=True)))


def _energy(s, q):
    return _call(s, _energies, {"E": ("force",)}, q, s.v)


def _forces(s, function, q, v):
    return _call(s, function, {"f": ("force", "nv")}, q, v)


def _slopes(s):
    """Exact K and D."""
    matrix = ("force", "nv", "nv")
    return s.once("slopes of elements", lambda: _call(s, _exact, {"K": matrix, "D": matrix}, s.q, s.v))


def _scale(*arrays) -> float:
    return max(1.0, *(float(np.abs(x).max(initial=0.0)) for x in arrays))


def gradient(s):
    """Forces of stored energy = -dE/dq."""
    found, energy = _forces(s, _conservative, s.q, s.v), _energy(s, s.q)
    rate, error = by_position(s, lambda q, t: _energy(s, q), np.abs(energy) + _scale(found))
    return Compared(found, -rate, error + TOLERANCE * _scale(found), ("force", "v"))


def power(s):
    """Power of an element = that of its forces which store nothing, less the rate of its energy along the motion."""
    forces, rest = (_forces(s, f, s.q, s.v) for f in (element_joint_forces, dissipative_forces))
    found, entered = (np.einsum("nkv,nv->nk", f, s.v) for f in (forces, rest))
    energy = _energy(s, s.q)
    rate, error = along(s, lambda q, v, t: _energy(s, q), np.abs(energy) + _scale(found))
    return Compared(found, entered - rate, error + TOLERANCE * _scale(found), ("force",))


def passivity(s):
    """Elements that declare it give no more energy than they have stored."""
    passive = np.array([element.passive for element in s.model.laws], bool)
    rest = _forces(s, dissipative_forces, s.q, s.v)
    found = np.where(passive, np.maximum(np.einsum("nkv,nv->nk", rest, s.v), 0.0), 0.0)
    if not passive.any():
        raise LeftOut("no force element is declared passive")
    return Compared(found, np.zeros_like(found), TOLERANCE * _scale(rest), ("force",))


def stiffness(s):
    """K = -df/dq."""
    K, _ = _slopes(s)
    size = _scale(K, _forces(s, element_joint_forces, s.q, s.v)) * np.ones(K.shape[:-1])
    rate, error = by_position(s, lambda q, t: _forces(s, element_joint_forces, q, s.v), size)
    return Compared(K, -rate, error + TOLERANCE * _scale(K), ("force", "v", "v"))


def damping(s):
    """D = -df/dv."""
    _, D = _slopes(s)
    size = _scale(D, _forces(s, element_joint_forces, s.q, s.v)) * np.ones(D.shape[:-1])
    directions = steps()[:, None, None, None] * np.eye(s.model.nv, dtype=PRECISE)[:, None, :]
    rate, error = derivative(_forces(s, element_joint_forces, s.q, s.v + directions), size)
    rate, error = (np.moveaxis(x, 0, -1) for x in (rate, error))
    return Compared(D, -rate, error + TOLERANCE * _scale(D), ("force", "v", "v"))


def gauss_newton(s):
    """D by the slopes of the laws = the symmetric part of the exact one."""
    _, D = _slopes(s)
    found = _call(s, _gauss_newton, {"D": ("force", "nv", "nv")}, s.q, s.v)
    return Compared(found, 0.5 * (D + np.swapaxes(D, -1, -2)), TOLERANCE * _scale(D), ("force", "v", "v"))


def internal_states(s):
    """The implicit step ``dx = h (x' + dx'/dx dx)`` of internal states."""
    if not s.model.nx:
        raise LeftOut("the model has no internal states")
    x = np.asarray(s.internal[0], PRECISE)

    def rates(x):
        return _call(s, force_state_rates, {"x_dot": ("nx",)}, s.q, s.v, x)

    found, now = _call(s, _changes, {"dx": ("nx",)}, s.q, s.v), rates(x)
    slope, error = derivative(rates(x + steps()[:, None, None] * found), _scale(now))
    return Compared(found, LAG * (now + slope), LAG * error + TOLERANCE * _scale(found, now))


CHECKS = tuple(
    Check("force elements", method, against, compare, means, cause=7)
    for method, against, compare, means in (
        ("conservative forces", "gradient of the stored energy", gradient, ""),
        ("power", "rate of the stored energy", power, ""),
        ("passive elements", "no power", passivity, "it gives energy, but is declared passive"),
        ("stiffness K", "differences of the forces", stiffness, ""),
        ("damping D", "differences of the forces", damping, ""),
        ("Gauss-Newton D", "symmetric part of D", gauss_newton, ""),
        ("implicit internal states", "differences of their rates", internal_states, ""),
    )
)
