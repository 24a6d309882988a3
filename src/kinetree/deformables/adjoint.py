"""Adjoints of the steps of deformables without a model: from derivatives by the end of a step to those by its start.

Fields with the derivatives of the objective are called x and u, as the positions and velocities of the nodes. A step
that solves ``A du = r`` is differentiated by one solution with ``A^T``. The matrix of linearly implicit steps is
symmetric and is solved as in the step. That of BDF has the exact second derivatives, where the step's has positive
semidefinite ones: it is solved by GMRES, with factors of the step's matrix as preconditioner.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kinetree.deformables.element_derivatives import Weights, derivatives
from kinetree.deformables.nodes import Nodes
from kinetree.deformables.system import CoupledSystem
from kinetree.errors import SimulationError

EXACT = 1e-13  # residual of the solutions of BDF's equation, relative
ITERATIONS = 50


class Field(NamedTuple):
    """Derivatives of the objective by positions and velocities of all nodes (n, 3)."""

    x: np.ndarray
    u: np.ndarray

    def plus(self, other: Field) -> Field:
        """The sum with another one."""
        return Field(self.x + other.x, self.u + other.u)


class Totals:
    """Derivatives of the objective by the numbers of the nodes and elements, summed over the steps.

    Attributes
    ----------
    masses : (n,) array
    drag : (n,) array
        By the damping in proportion to mass of each node.
    elements : list of (ne, k) array
        By the parameters of each block of elements.
    """

    def __init__(self, nodes: Nodes) -> None:
        self.masses, self.drag = np.zeros((2, len(nodes)))
        self.elements = [np.zeros_like(block.parameters) for block in nodes.blocks]


class Adjoint:
    """The adjoint of the steps of one run.

    Parameters
    ----------
    scene : CoupledSystem
        Without a model.
    x, u : (T + 1, n, 3) array
        The motion.
    h : float
        The step [s].
    """

    def __init__(self, scene: CoupledSystem, x: np.ndarray, u: np.ndarray, h: float) -> None:
        self.nodes, self.matrix, self.x, self.u, self.h = scene.elements, scene.matrix.unused(), x, u, h
        self.free, self.totals = scene.elements.free, Totals(scene.elements)
        self.alpha = (self.nodes.drag / self.nodes.masses)[:, None]

    def back(self, n: int, end: Field) -> Iterator[tuple[int, Field]]:
        """The parts of the derivatives by earlier states, with their numbers, from those by state n + 1."""
        raise NotImplementedError

    def of_elements(self, x, u, left, right, weights: Weights) -> tuple[Field, list[np.ndarray]]:
        """Sums over the elements of the derivatives of `element_derivatives`, and those by parameters."""
        total, found = Field(np.zeros_like(x), np.zeros_like(x)), []
        for block in self.nodes.blocks:
            at, moving, m, n = (each[block.nodes] for each in (x, u, left, right))
            by_x, by_u, by_p = derivatives(block.law, at, moving, block.parameters, m, n, weights)
            total = total.plus(Field(self.nodes.summed(block, by_x), self.nodes.summed(block, by_u)))
            found.append(by_p)
        return total, found

    def count(self, by_parameters: list[np.ndarray], mu, u, a, h: float = 1.0) -> None:
        """Add the derivatives of ``h mu.(f + m g - alpha m u - m a)`` by numbers."""
        for total, more in zip(self.totals.elements, by_parameters, strict=True):
            total += more
        self.totals.masses += h * np.einsum("ni,ni->n", mu, self.nodes.gravity - self.alpha * u - a)
        self.totals.drag -= h * self.nodes.masses * np.einsum("ni,ni->n", mu, u)

    def on_all(self, free: np.ndarray) -> np.ndarray:
        """A field of the free nodes, zero on the others."""
        found = np.zeros((len(self.nodes), 3))
        found[self.free] = free.reshape(-1, 3)
        return found


class SemiImplicitAdjoint(Adjoint):
    """Of ``du = h f / m``, ``dx = h (u + du)``."""

    def back(self, n, end):
        x, u, h = self.x[n], self.u[n], self.h
        g = self.on_all((end.u + h * end.x)[self.free])
        mu = h * g / self.nodes.masses[:, None]
        found, by_parameters = self.of_elements(x, u, mu, 0.0 * mu, Weights(forces=1.0))
        self.count(by_parameters, mu, u, (self.u[n + 1] - u) / h)
        yield n, Field(end.x + found.x, g + found.u - self.nodes.drag[:, None] * mu)


class EulerAdjoint(Adjoint):
    """Of ``(M + h D + h^2 K) du = h (f - h K u)``, ``dx = h (u + du)``."""

    def back(self, n, end):
        x, u, h = self.x[n], self.u[n], self.h
        entries, _ = self.nodes.matrix(x, u, h * h, h)
        ff, _, _ = self.matrix.blocks(entries, 1.0)
        g = (end.u + h * end.x)[self.free]
        mu = self.on_all(self.matrix.solve(ff, g.reshape(-1, 1)))
        du = self.u[n + 1] - u
        found, by_parameters = self.of_elements(x, u, mu, du, Weights(h, h * h, h * h, h))
        self.count(by_parameters, mu, self.u[n + 1], du / h, h)
        yield n, Field(end.x + found.x, self.on_all(g) + found.u - h * self.nodes.drag[:, None] * mu)


class BDFAdjoint(Adjoint):
    """Of ``M c0 (u - u_h) = f(x, u)``, ``x = x_h + c1 u`` at the end; x_h and u_h are sums of earlier states."""

    order = 1

    def formula(self, n: int) -> tuple[float, float, dict[int, float]]:
        """c0, c1, and the factors of the states in x_h and u_h by their numbers."""
        if n == 0 or self.order == 1:
            return 1.0 / self.h, self.h, {n: 1.0}
        return 1.5 / self.h, self.h / 1.5, {n: 4.0 / 3.0, n - 1: -1.0 / 3.0}

    def back(self, n, end):
        c0, c1, states = self.formula(n)
        x, u, free, nodes = self.x[n + 1], self.u[n + 1], self.free, self.nodes
        mass, drag = nodes.masses[:, None], nodes.drag[:, None]

        def pulled(mu):
            return self.of_elements(x, u, mu, 0.0 * mu, Weights(forces=1.0))

        def transposed(y):
            mu = self.on_all(y)
            found, _ = pulled(mu)
            return ((c0 * mass + drag) * mu - found.u - c1 * found.x)[free].ravel()

        entries, _ = nodes.matrix(x, u, c1, 1.0)
        ff, _, _ = self.matrix.blocks(entries, c0)
        mu = self.on_all(_solved(transposed, self.matrix.inverse(ff), (end.u + c1 * end.x)[free].ravel()))
        found, by_parameters = pulled(mu)
        held = sum(factor * self.u[k] for k, factor in states.items())
        self.count(by_parameters, mu, u, c0 * (u - held))
        x, u, still = end.x + found.x, c0 * mass * mu, np.zeros_like(mu)
        still[nodes.fixed], x[nodes.fixed] = x[nodes.fixed], 0.0  # fixed nodes are where they were a step before
        for k, factor in states.items():
            yield k, Field(factor * x, factor * u)
        yield n, Field(still, 0.0 * still)


class BDF2Adjoint(BDFAdjoint):
    """Of BDF2, whose first step is one of BDF1."""

    order = 2


ADJOINTS = {
    "linearly_implicit": EulerAdjoint,
    "semi_implicit": SemiImplicitAdjoint,
    "bdf1": BDFAdjoint,
    "bdf2": BDF2Adjoint,
}
"""Adjoints of steps by the name of the integrator."""


def _solved(product, inverse, right: np.ndarray) -> np.ndarray:
    """The solution of a linear equation by GMRES with a preconditioner."""
    from scipy.sparse.linalg import LinearOperator, gmres

    if not np.any(right):
        return np.zeros_like(right)
    shape = right.size, right.size
    operator, preconditioner = (LinearOperator(shape, each, dtype=float) for each in (product, inverse))
    found, _ = gmres(operator, right, inverse(right), M=preconditioner, rtol=EXACT, restart=ITERATIONS, maxiter=2)
    if np.linalg.norm(product(found) - right) > 1e-9 * np.linalg.norm(right):
        raise SimulationError(
            "rollout_gradient: GMRES does not solve the adjoint equation of a step. Use a smaller dt, or "
            "integrator='linearly_implicit'."
        )
    return found
