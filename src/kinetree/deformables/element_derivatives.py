"""Derivatives of what steps take from elements: of forces, of their rates, and of the projected matrix.

A step takes from an element with strain s, rate of strain r and viscosity c the stress ``t = -(E_s + R_r + c H_+ r)``,
E the energy, R the dissipation, H the second derivative of E and H_+ that without its negative eigenvalues, the rate
``-H r``, and the matrix ``(k + d c) H_+ + d D`` with ``D = R_rr``. For the strains m and n of two fields on the nodes,
this is the derivative of

    a m.t - b m.H r - m.((k + d c) H_+ + d D) n

by positions, velocities and parameters. H_+ is differentiated as a function of H (Daleckii and Krein): no decomposition
of the kernels is, whose derivatives are infinite where singular values are equal.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from kinetree.deformables.contract import ElementLaw
from kinetree.deformables.element_kernels import P, TracedLaw, parameter_count
from kinetree.native.kernel import Kernel
from kinetree.once import once
from kinetree.trace.differentiate import adjoints, tangents
from kinetree.trace.expr import Expr
from kinetree.trace.lowering import lower
from kinetree.trace.program import Program
from kinetree.trace.simplify import live

LEFT, RIGHT, ALONG, SLOPES, WEIGHTS = range(4, 9)  # inputs of the law's trace beside STRAIN, RATE, P and FIXED
EQUAL = 1e-12  # of eigenvalues over the largest: as zero, or as one


class Weights(NamedTuple):
    """The factors of the parts: forces a, their rate b, stiffness k and damping d of the matrix."""

    forces: float = 0.0
    rate: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0


@once
def variables(law: ElementLaw) -> tuple[str, ...]:
    """Names of the parameters with derivatives, in the order of the columns: all on which the strain does not depend.

    The others are the shape at rest.
    """
    t = TracedLaw(law)
    nodes = (t.graph.nodes[k] for k in live(t.graph, [x.id for x in t.strain]))
    reached = {node[2] for node in nodes if node[:2] == ("input", P)}
    places, start = {}, 0
    for name, count in (*law.parameters.items(), ("viscosity", 1)):
        places[name], start = range(start, start + count), start + count
    return tuple(name for name, place in places.items() if reached.isdisjoint(place))


def derivatives(law: ElementLaw, x, u, p, left, right, weights: Weights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The derivatives of all elements by x, u (ne, size, 3) and p (ne, n), for two fields on their nodes."""
    m, n, r = (strains(law, each, p) for each in (left, right, u))
    viscosity, k = p[:, -1], weights.stiffness + weights.damping * p[:, -1]
    y, W, of_viscosity = np.zeros_like(m), np.zeros((*m.shape, m.shape[1])), None
    if k.any() or viscosity.any() or (weights.damping and np.any(n)):
        H = np.empty_like(W)
        x = np.ascontiguousarray(x)
        _kernel(law, "curvature").batch([x, x, p], (H,), len(p), [3 * law.size, 3 * law.size, p.shape[1]], None)
        curved = _Curvature(H, law.projection)
        stress = weights.forces * viscosity[:, None]
        W = curved.slopes(m, k[:, None] * n + stress * r)
        y = -stress * curved.product(m)
        of_viscosity = -curved.product(m, weights.damping * n + weights.forces * r)
    kernel, size = _kernel(law, "derivatives"), 3 * law.size
    inputs = [np.ascontiguousarray(each) for each in (x, u, p, m, n, y, W)]
    strides = [size, size, p.shape[1], *(m.shape[1],) * 3, m.shape[1] ** 2, 0]
    found = np.empty_like(inputs[0]), np.empty_like(inputs[0]), np.empty_like(p)
    factors = np.array([weights.forces, weights.rate, weights.damping])
    kernel.batch([*inputs, factors], found, len(p), strides, None)
    if of_viscosity is not None:
        found[2][:, -1] += of_viscosity
    return found


def strains(law: ElementLaw, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The strain of a field on the nodes of each element (ne, size, 3), (ne, k)."""
    named, start = {}, 0
    for name, count in law.parameters.items():
        columns = [p[:, k] for k in range(start, start + count)]
        named[name], start = columns if count > 1 else columns[0], start + count
    nodes = [[x[:, a, i] for i in range(3)] for a in range(law.size)]
    return np.ascontiguousarray(np.stack(law.strain(nodes, SimpleNamespace(**named)), axis=-1))


class _Curvature:
    """Second derivatives H (ne, k, k) of energies, and H_+."""

    def __init__(self, H: np.ndarray, projection: str) -> None:
        self.H, self.values = H, None
        if projection != "none":
            self.values, self.vectors = np.linalg.eigh(H)
            largest = np.abs(self.values).max(axis=1, keepdims=True)
            self.values[np.abs(self.values) <= EQUAL * largest] = 0.0

    def product(self, m, n=None) -> np.ndarray:
        """``H_+ m``, or ``n.H_+ m``."""
        if self.values is None:
            found = np.einsum("eij,ej->ei", self.H, m)
        else:
            along = np.einsum("eji,ej->ei", self.vectors, m) * np.maximum(self.values, 0.0)
            found = np.einsum("eij,ej->ei", self.vectors, along)
        return found if n is None else np.einsum("ei,ei->e", found, n)

    def slopes(self, m, n) -> np.ndarray:
        """``W`` with ``m.dH_+ n = sum(W * dH)``, symmetric; at an eigenvalue of zero the mean of both sides."""
        if self.values is not None:
            m, n = (np.einsum("eji,ej->ei", self.vectors, each) for each in (m, n))
        W = 0.5 * (m[:, :, None] * n[:, None, :] + n[:, :, None] * m[:, None, :])
        if self.values is None:
            return W
        a, b = self.values[:, :, None], self.values[:, None, :]
        gap, limit = a - b, EQUAL * np.abs(self.values).max(axis=1)[:, None, None]
        near = np.abs(gap) <= limit
        ratio = (np.maximum(a, 0.0) - np.maximum(b, 0.0)) / np.where(near, 1.0, gap)
        W *= np.where(near, 0.5 + 0.5 * np.sign(a), ratio)
        return self.vectors @ W @ self.vectors.transpose(0, 2, 1)


# Kernels --------------------------------------------------------------------------------------------------------------


def derivative_program(law: ElementLaw) -> Program:
    """The program of `derivatives` for one element."""
    t = _Weighted(law)
    count, size, n = len(t.s), (law.size, 3), parameter_count(law)
    inputs = [("x", size), ("u", size), ("p", (n,)), *((name, (count,)) for name in ("m", "n", "y"))]
    inputs += [("W", (count, count)), ("weights", (3,))]
    by_strain, by_rate, by_parameters = t.derivatives()
    outputs = [("x", size, t.nodal(by_strain)), ("u", size, t.nodal(by_rate)), ("p", (n,), by_parameters)]
    return lower(t.graph, inputs, outputs)


def curvature_program(law: ElementLaw) -> Program:
    """The program of H for one element, over its positions, velocities and parameters."""
    t = TracedLaw(law)
    H = t.slopes(t.gradient(t.energy, t.s), t.s)
    inputs = [("x", (law.size, 3)), ("u", (law.size, 3)), ("p", (parameter_count(law),))]
    return lower(t.graph, inputs, [("H", (len(H), len(H)), [x for row in H for x in row])])


class _Weighted(TracedLaw):
    """A law with the weighted sum of its parts, over the inputs of the inner trace."""

    outer_inputs = {LEFT: 3, RIGHT: 4, ALONG: 5, SLOPES: 6, WEIGHTS: 7}

    def derivatives(self) -> tuple[list, list, list]:
        """The derivatives of the sum by strain, rate and parameters, over the element."""
        count, g = len(self.s), self.inner
        m, n, y = ([g.input(source, k) for k in range(count)] for source in (LEFT, RIGHT, ALONG))
        a, b, d = (g.input(WEIGHTS, k) for k in range(3))
        elastic, damped = self.gradient(self.energy, self.s), self.gradient(self.dissipation, self.s_rate)
        H, D = self._inner_slopes(elastic, self.s), self._inner_slopes(damped, self.s_rate)
        total = 0.0
        for i in range(count):
            total = total - a * m[i] * (Expr(g, elastic[i]) + Expr(g, damped[i])) + y[i] * self.s_rate[i]
            for j in range(count):
                total = total - g.input(SLOPES, count * i + j) * H[i][j]
                total = total - m[i] * (b * H[i][j] * self.s_rate[j] + d * D[i][j] * n[j])
        p = [g.input(P, k) for k in range(parameter_count(self.law))]
        leaves = [*self.s, *self.s_rate, *p]
        found = self.outer(adjoints(g, {total.id: g.ONE}, [leaf.id for leaf in leaves]))
        return found[:count], found[count : 2 * count], found[2 * count :]

    def _inner_slopes(self, nodes, leaves) -> list[list[Expr]]:
        g = self.inner
        rows = tangents(g, nodes, {leaf.id: {k: g.ONE} for k, leaf in enumerate(leaves)})
        return [[Expr(g, row.get(k, g.ZERO)) for k in range(len(leaves))] for row in rows]


@once
def _kernel(law: ElementLaw, quantity: str) -> Kernel:
    program = {"derivatives": derivative_program, "curvature": curvature_program}[quantity](law)
    return Kernel(program, checks=False, what=f"compiling {quantity} of {law.kind} elements")
