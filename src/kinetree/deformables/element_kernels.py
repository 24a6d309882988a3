"""Element laws as compiled kernels: one evaluation for each element, run as a batch over all of them.

The energy is recorded over the strain in a trace of its own and differentiated there; forces and stiffness of the nodes
follow by the rows of the strain, which is linear in their positions. One trace serves all elements of a law: parameters
are inputs, as positions are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType, SimpleNamespace

import numpy as np

from kinetree.deformables.contract import ElementLaw
from kinetree.deformables.projection import projected
from kinetree.native.kernel import Kernel
from kinetree.once import once
from kinetree.trace.differentiate import adjoints, tangents
from kinetree.trace.evaluate import evaluate
from kinetree.trace.expr import Expr, traced_code
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower
from kinetree.trace.program import Program

X, V, P, WEIGHTS = range(4)
STRAIN, RATE, FIXED = 0, 1, 3  # inputs of the law's trace; parameters are P


def parameter_count(law: ElementLaw) -> int:
    """Parameters of each element: those of the law, and the viscosity."""
    return sum(law.parameters.values()) + 1


class TracedLaw:
    """A law over the positions and velocities of the nodes of one element.

    Attributes
    ----------
    outer_inputs : mapping of int to int
        Inputs of the element for further inputs of the law's trace.
    """

    outer_inputs: Mapping[int, int] = MappingProxyType({})

    def __init__(self, law: ElementLaw) -> None:
        self.law, self.graph, self.inner, self.frozen = law, Graph(), Graph(), []
        self.x = [[self.graph.input(X, 3 * a + i) for i in range(3)] for a in range(law.size)]
        self.v = [[self.graph.input(V, 3 * a + i) for i in range(3)] for a in range(law.size)]
        p = _parameters(law, self.graph)
        self.viscosity = p.viscosity
        with traced_code(f"element law {law.kind!r}"):
            self.strain, self.rate = law.strain(self.x, p), law.strain(self.v, p)
        self.rows = tangents(self.graph, [s.id for s in self.strain], {
            x.id: {k: self.graph.ONE} for k, x in enumerate(x for node in self.x for x in node)
        })  # fmt: skip
        self.s = [self.inner.input(STRAIN, k) for k in range(len(self.strain))]
        self.s_rate = [self.inner.input(RATE, k) for k in range(len(self.strain))]
        p = _parameters(law, self.inner)
        with traced_code(f"element law {law.kind!r}"):
            self.energy = law.energy(self.s, p, self._fixed)
        self.dissipation = law.dissipation(self.s, self.s_rate, p)

    def _fixed(self, value):
        """An input in place of a value, which stands for it when the derivatives are evaluated."""
        if not isinstance(value, Expr):
            return value
        self.frozen.append(value.id)
        return self.inner.input(FIXED, len(self.frozen) - 1)

    def outer(self, nodes: Sequence[int]) -> list:
        """Nodes of the law's trace over the positions, velocities and parameters of the element."""
        given = {STRAIN: self.strain, RATE: self.rate}
        frozen: dict[int, object] = {}

        def leaf(op, args):
            source, k = args
            if source == FIXED:
                if k not in frozen:
                    (frozen[k],) = evaluate(self.inner, [self.frozen[k]], leaf)
                return frozen[k]
            return given[source][k] if source in given else self.graph.input(self.outer_inputs.get(source, P), k)

        return evaluate(self.inner, nodes, leaf)

    def gradient(self, potential, leaves) -> list[int]:
        """Nodes of the derivatives of a potential; zeros of a number."""
        if not isinstance(potential, Expr):
            return [self.inner.ZERO] * len(leaves)
        return adjoints(self.inner, {potential.id: self.inner.ONE}, [leaf.id for leaf in leaves])

    def slopes(self, nodes, leaves) -> list[list]:
        """Derivatives of nodes, over the element."""
        n = len(leaves)
        rows = tangents(self.inner, nodes, {leaf.id: {k: self.inner.ONE} for k, leaf in enumerate(leaves)})
        flat = self.outer([row.get(k, self.inner.ZERO) for row in rows for k in range(n)])
        return [flat[k : k + n] for k in range(0, n * n, n)]

    def nodal(self, along) -> list:
        """Values along the strain as values along the nodes' coordinates, by the transposed rows of the strain."""
        found = []
        for k in range(3 * self.law.size):
            entries = [Expr(self.graph, row[k]) * x for row, x in zip(self.rows, along, strict=True) if k in row]
            found.append(sum(entries, start=0.0))
        return found

    def nodal_matrix(self, T) -> list:
        """The lower triangle of the matrix of the nodes' coordinates, by rows."""
        half = [self.nodal(row) for row in T]
        columns = [self.nodal([row[k] for row in half]) for k in range(3 * self.law.size)]
        return [columns[m][n] for m in range(len(columns)) for n in range(m + 1)]


def _parameters(law: ElementLaw, graph: Graph) -> SimpleNamespace:
    found, place = {}, 0
    for name, count in law.parameters.items():
        symbols = [graph.input(P, place + k) for k in range(count)]
        found[name], place = symbols if count > 1 else symbols[0], place + count
    return SimpleNamespace(**found, viscosity=graph.input(P, place))


def element_program(law: ElementLaw, quantity: str) -> Program:
    """The program of a law for one element.

    Parameters
    ----------
    law : ElementLaw
    quantity : {"energy", "forces", "viscous_forces", "matrix"}
        Inputs are positions x (size, 3), velocities v (size, 3), parameters p and, of "matrix", weights (a, b).
        Outputs: "energy" [J]; "forces" on the nodes (size, 3) [N], with dampers; "viscous_forces" with those of
        viscosity, too; "matrix": the lower triangle of ``a K + b D`` by rows, and the rate of elastic forces along v.
    """
    t = TracedLaw(law)
    size = 3 * law.size
    inputs = [("x", (law.size, 3)), ("v", (law.size, 3)), ("p", (parameter_count(law),))]
    if quantity == "energy":
        (energy,) = t.outer([t.energy.id])
        return lower(t.graph, inputs, [("energy", (), [energy])])
    elastic, damped = t.gradient(t.energy, t.s), t.gradient(t.dissipation, t.s_rate)
    if quantity == "forces":
        forces = [-(a + b) for a, b in zip(t.outer(elastic), t.outer(damped), strict=True)]
        return lower(t.graph, inputs, [("forces", (law.size, 3), t.nodal(forces))])
    H = t.slopes(elastic, t.s)
    H_plus = projected(law.projection, t.strain, H)
    if quantity == "viscous_forces":
        forces = [
            -(a + b + t.viscosity * sum(h * r for h, r in zip(row, t.rate, strict=True)))
            for a, b, row in zip(t.outer(elastic), t.outer(damped), H_plus, strict=True)
        ]
        return lower(t.graph, inputs, [("forces", (law.size, 3), t.nodal(forces))])
    a, b = (t.graph.input(WEIGHTS, k) for k in range(2))
    weight, D = a + b * t.viscosity, t.slopes(damped, t.s_rate)
    T = [[weight * x + b * y for x, y in zip(*rows, strict=True)] for rows in zip(H_plus, D, strict=True)]
    along = [-sum(h * r for h, r in zip(row, t.rate, strict=True)) for row in H]
    outputs = [("matrix", (size * (size + 1) // 2,), t.nodal_matrix(T)), ("rate", (law.size, 3), t.nodal(along))]
    return lower(t.graph, [*inputs, ("weights", (2,))], outputs)


@once
def _kernel(law: ElementLaw, quantity: str) -> Kernel:
    what = f"compiling {quantity} of {law.kind} elements"
    return Kernel(element_program(law, quantity), checks=False, what=what)


def run(law: ElementLaw, quantity: str, x, v, p, weights=None, threads: int | None = None):
    """Evaluate all elements of a law.

    Parameters
    ----------
    law : ElementLaw
    quantity : str
        As of `element_program`.
    x, v : (ne, size, 3) array
    p : (ne, n) array
    weights : (2,) array, optional
        Shared by all elements.
    threads : int, optional
        None leaves it to the number of elements.

    Returns
    -------
    tuple of array
    """
    kernel, n = _kernel(law, quantity), len(p)
    arrays, strides = [x, v, p], [3 * law.size, 3 * law.size, p.shape[1]]
    if weights is not None:
        arrays, strides = [*arrays, weights], [*strides, 0]
    outputs = tuple(np.empty((n, *shape)) for _, shape in kernel.program.outputs)
    kernel.batch(arrays, outputs, n, strides, threads)
    return outputs
