"""Tetrahedra of constant strain: linear, corotated and neo-Hookean elasticity.

The strain is the deformation gradient ``F = D_s B``, B the inverse of the rest edges (Sifakis and Barbic, "FEM
simulation of 3D deformable solids", SIGGRAPH 2012 courses, section 4.1). ``I1 = |F|^2``, ``I2 = |cof F|^2`` and
``J = det F`` are the invariants of the Cauchy-Green tensor.
"""

from __future__ import annotations

from types import MappingProxyType

from kinetree.deformables.contract import ElementLaw
from kinetree.spatial.scalar import log, maximum, sqrt

ITERATIONS = 8  # of Newton's method from above: 1e-15 for principal stretches whose ratio is below 10
LEAST_SLOPE = 1e-9  # of the quartic, relative: next to its double root, an element that is flat in two directions


class Tetrahedron(ElementLaw):
    """Tetrahedra of four nodes; ``inverse`` is B by rows, ``mu`` and ``lam`` are Lame's parameters."""

    size = 4
    parameters = MappingProxyType({"inverse": 9, "volume": 1, "mu": 1, "lam": 1})
    projection = "isotropic"

    def strain(self, x, p):
        edges = [[x[a + 1][i] - x[0][i] for a in range(3)] for i in range(3)]
        return [sum(edges[i][a] * p.inverse[3 * a + j] for a in range(3)) for i in range(3) for j in range(3)]

    def energy(self, s, p, fixed):
        return p.volume * self.density(s, p.mu, p.lam, fixed)

    def density(self, F, mu, lam, fixed):
        """Energy per rest volume [J/m^3]."""
        raise NotImplementedError


class LinearTetrahedron(Tetrahedron):
    """``mu |e|^2 + lam tr(e)^2 / 2`` with the small strain ``e = sym(F) - 1``: turned bodies are strained."""

    kind = "linear"
    projection = "none"

    def density(self, F, mu, lam, fixed):
        e = [F[0] - 1.0, F[4] - 1.0, F[8] - 1.0]
        shear = [F[1] + F[3], F[2] + F[6], F[5] + F[7]]
        trace = e[0] + e[1] + e[2]
        return mu * (sum(x * x for x in e) + 0.5 * sum(x * x for x in shear)) + 0.5 * lam * trace * trace


class CorotatedTetrahedron(Tetrahedron):
    """``mu |F - R|^2 + lam tr(S - 1)^2 / 2`` with the polar decomposition ``F = R S``.

    Notes
    -----
    ``|F - R|^2 = I1 - 2 f + 3`` with ``f = tr S``, the largest root of ``f^4 - 2 I1 f^2 - 8 J f + I1^2 - 4 I2``: no
    rotation is computed. Newton's method runs down to it from ``sqrt(3 I1)``; two more steps from the root, taken as
    constant, give its first and second derivatives exactly. Source: Lin et al., "Isotropic ARAP energy using
    Cauchy-Green invariants" (2022), for the quartic.
    """

    kind = "corotated"

    def density(self, F, mu, lam, fixed):
        I1, I2, J = invariants(F)
        constant = I1 * I1 - 4.0 * I2

        def newton(f):
            value = ((f * f - 2.0 * I1) * f - 8.0 * J) * f + constant
            slope = maximum(4.0 * (f * f - I1) * f - 8.0 * J, LEAST_SLOPE * I1 * f)
            return f - value / slope

        f = sqrt(3.0 * I1)
        for _ in range(ITERATIONS):
            f = newton(f)
        f = newton(newton(fixed(f)))
        stretch = f - 3.0
        return mu * (I1 - 2.0 * f + 3.0) + 0.5 * lam * stretch * stretch


class NeoHookeanTetrahedron(Tetrahedron):
    """``mu (I1 - 3) / 2 - mu log J + lam log(J)^2 / 2``: infinite where an element is flat, NaN where inverted.

    Notes
    -----
    Source: Bonet and Wood, *Nonlinear Continuum Mechanics for Finite Element Analysis*, eq. 6.27.
    """

    kind = "neo_hookean"
    is_bounded = True

    def density(self, F, mu, lam, fixed):
        I1, _, J = invariants(F)
        ln = log(J)
        return 0.5 * mu * (I1 - 3.0) - mu * ln + 0.5 * lam * ln * ln


class StableNeoHookeanTetrahedron(Tetrahedron):
    """Neo-Hookean elasticity that is finite for flat and inverted elements, and recovers from them.

    Notes
    -----
    Source: Smith, de Goes and Kim, "Stable neo-Hookean flesh simulation" (2018), eq. 14, with their parameters from
    Lame's: ``4/3 mu`` and ``lam + 5/6 mu``.
    """

    kind = "stable_neo_hookean"

    def density(self, F, mu, lam, fixed):
        I1, _, J = invariants(F)
        m, k = 4.0 / 3.0 * mu, lam + 5.0 / 6.0 * mu
        alpha = 1.0 + 0.75 * m / k
        bulge, rest = J - alpha, 1.0 - alpha
        return 0.5 * (m * (I1 - 3.0 - log(0.25 * (I1 + 1.0))) + k * (bulge * bulge - rest * rest))


def invariants(F):
    """``I1 = |F|^2``, ``I2 = |cof F|^2`` and ``J = det F``."""
    a, b, c = F[0:3], F[3:6], F[6:9]
    cofactors = [_cross(b, c), _cross(c, a), _cross(a, b)]
    I2 = sum(x * x for row in cofactors for x in row)
    return sum(x * x for x in F), I2, sum(x * y for x, y in zip(a, cofactors[0], strict=True))


def _cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


TETRAHEDRA = {
    law.kind: law
    for law in (
        LinearTetrahedron(),
        CorotatedTetrahedron(),
        NeoHookeanTetrahedron(),
        StableNeoHookeanTetrahedron(),
    )
}
"""The laws of tetrahedra by kind."""
