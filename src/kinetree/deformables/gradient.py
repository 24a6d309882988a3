"""Gradients of objectives of simulations of deformables: by the start, and by the numbers of nodes and elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np

from kinetree.arguments import choice, instance, shown, whole
from kinetree.deformables.adjoint import ADJOINTS, Adjoint, Field
from kinetree.deformables.element_derivatives import variables
from kinetree.deformables.material import Material
from kinetree.deformables.rigid import Load
from kinetree.deformables.steps import STEPS
from kinetree.deformables.system import CoupledSystem, State
from kinetree.errors import ArgumentError, SimulationError, unknown_name
from kinetree.native.kernel import Kernel
from kinetree.once import once
from kinetree.simulation.memory import check_room
from kinetree.spatial import Vector3
from kinetree.trace.differentiate import adjoints
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower


@dataclass(frozen=True, eq=False)
class DeformableGradient:
    """An objective of a simulation of deformables, and its gradient.

    Attributes
    ----------
    value : float
        The objective [in its unit].
    nodes, velocities : (n, 3) array
        By the start of all nodes, body after body [per m, per m/s]; velocities of fixed nodes do not count.
    masses : (n,) array
        By the masses of the nodes [per kg].
    mass_damping : mapping of str to float
        By the damping in proportion to mass of each body [per 1/s].
    elements : mapping of (str, str) to mapping of str to array
        For a body and the kind of a law, by each parameter (ne,) or (ne, k): "stiffness", "mu", "viscosity" and others,
        but those of the shape at rest.

    Examples
    --------
    >>> import kinetree as kt
    >>> rope = kt.deformables.strand((0, 0, 0), (1, 0, 0), 2, mass=0.2, axial_stiffness=50.0, fixed=[0])
    >>> scene = kt.deformables.Coupled(None, rope)
    >>> found = scene.rollout_gradient(0.1, 1e-2, terminal=lambda s: s.position(2).z)
    >>> sorted(found.elements), sorted(found.elements["strand", "spring"])
    ([('strand', 'spring')], ['damping', 'rest_length', 'stiffness', 'viscosity'])
    """

    value: float
    nodes: np.ndarray
    velocities: np.ndarray
    masses: np.ndarray
    mass_damping: Mapping[str, float]
    elements: Mapping[tuple[str, str], Mapping[str, np.ndarray]]
    _masses: Mapping[str, tuple[np.ndarray, np.ndarray]]  # of each body: slopes by its masses, and these

    def of_material(self, body: str, material: Material) -> dict[str, float]:
        """The gradient by the numbers of the material that a body is made of.

        Parameters
        ----------
        body : str
        material : Material
            That of the body.

        Returns
        -------
        dict of str to float
            By "young_modulus" [per Pa], "poisson_ratio", "density" [per kg/m^3], "viscosity" [per s], "mass_damping".

        Raises
        ------
        UnknownNameError
            There is no such body, or it has no elements of the material's law.
        """
        instance("of_material: material", material, Material, "a Material")
        known = [name for name, kind in self.elements if kind == material.law]
        if body not in known:
            raise unknown_name("body", body, known, f"the bodies with elements of law {material.law!r}")
        found, (mu, lam) = self.elements[body, material.law], material.lame
        by_mu, by_lam = float(found["mu"].sum()), float(found["lam"].sum())
        E, nu = material.young_modulus, material.poisson_ratio
        by_ratio = lam * (1.0 + 2.0 * nu * nu) / (nu * (1.0 + nu) * (1.0 - 2.0 * nu)) if nu else E
        slopes, masses = self._masses[body]
        return {
            "young_modulus": (mu * by_mu + lam * by_lam) / E,
            "poisson_ratio": -mu / (1.0 + nu) * by_mu + by_ratio * by_lam,
            "density": float(slopes @ masses) / material.density,
            "viscosity": float(found["viscosity"].sum()),
            "mass_damping": float(self.mass_damping[body]),
        }


class NodeInstant:
    """The nodes at an instant, the argument of objectives: positions and velocities as vectors of scalars."""

    def __init__(self, bodies: tuple[tuple[str, int], ...], graph: Graph) -> None:
        self._bodies, self._graph, self.used = bodies, graph, {}

    def position(self, node: int, body: str | None = None) -> Vector3:
        """The position of a node [m].

        Parameters
        ----------
        node : int
            Its number in the body.
        body : str, optional
            May be left out if there is only one.

        Returns
        -------
        Vector3
        """
        return self._vector(0, node, body)

    def velocity(self, node: int, body: str | None = None) -> Vector3:
        """The velocity of a node [m/s].

        Parameters
        ----------
        node : int
            Its number in the body.
        body : str, optional
            May be left out if there is only one.

        Returns
        -------
        Vector3
        """
        return self._vector(1, node, body)

    def _vector(self, array: int, node: int, body: str | None) -> Vector3:
        names = [name for name, _ in self._bodies]
        if body is None and len(names) > 1:
            several = f"and there are several: {', '.join(names)}"
            raise ArgumentError(f"the objective names no body of node {node!r}, {several}")
        k = names.index(choice("objective: body", names[0] if body is None else body, names))
        last = self._bodies[k][1] - 1
        expected = f"a node of {names[k]!r}, 0 to {last}"
        number = whole("objective: node", node, expected, least=0, most=last) + sum(n for _, n in self._bodies[:k])
        place = self.used.setdefault(number, len(self.used))
        return Vector3(*(self._graph.input(array, 3 * place + i) for i in range(3)))


class NodeObjective:
    """A traced function of a `NodeInstant`, compiled with its gradient.

    Parameters
    ----------
    bodies : tuple of (str, int)
        Names and numbers of nodes.
    function : callable
    """

    def __init__(self, bodies: tuple[tuple[str, int], ...], function: Callable) -> None:
        graph = Graph()
        at = NodeInstant(bodies, graph)
        value = function(at)
        if not isinstance(value, (Real, Expr)) or isinstance(value, bool):
            raise ArgumentError(f"the objective {function!r} gives {shown(value)}, expected a number.")
        self.used = np.array(list(at.used), dtype=int)
        self.constant, self.kernel, shape = None, None, (len(self.used), 3)
        if not isinstance(value, Expr) or not self.used.size:
            self.constant = float(value) if isinstance(value, Real) else 0.0
            return
        leaves = [graph.input(array, k).id for array in range(2) for k in range(3 * len(self.used))]
        slopes = [Expr(graph, k) for k in adjoints(graph, {value.id: graph.ONE}, leaves)]
        outputs = [("value", (), [value]), ("x", shape, slopes[: 3 * shape[0]]), ("u", shape, slopes[3 * shape[0] :])]
        program = lower(graph, [("x", shape), ("u", shape)], outputs)
        self.kernel = Kernel(program, checks=False, what="compiling an objective of nodes")

    def evaluate(self, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values (T,) and slopes (T, m, 3) by positions and velocities of the nodes that it uses."""
        if self.kernel is None:
            return np.full(len(x), self.constant), *np.zeros((2, len(x), 0, 3))
        given = [np.ascontiguousarray(each[:, self.used]) for each in (x, u)]
        found = np.empty(len(x)), np.empty_like(given[0]), np.empty_like(given[0])
        self.kernel.batch(given, found, len(x), [given[0][0].size] * 2, None)
        return found


@once(most=64)
def node_objective(bodies: tuple[tuple[str, int], ...], function: Callable) -> NodeObjective:
    """The objective of a function; the same one for the same arguments, as it is compiled."""
    return NodeObjective(bodies, function)


def node_gradient(
    scene: CoupledSystem, state: State, steps: int, dt: float, integrator: str, running, terminal
) -> DeformableGradient:
    """The gradient of an objective of a run from a state; arguments as of `Coupled.rollout_gradient`."""
    choice("rollout_gradient: integrator", integrator, STEPS, "rollout_gradient")
    x, u = _motion(scene, state, steps, dt, integrator)
    adjoint = ADJOINTS[integrator](scene, x, u, dt)
    value, slopes = 0.0, Field(*np.zeros((2, steps + 1, *state.x.shape)))
    for function, at, weight in ((running, slice(0, steps), dt), (terminal, slice(steps, None), 1.0)):
        if function is not None:
            cost = node_objective(tuple((body.name, len(body.nodes)) for body in scene.bodies), function)
            values, by_x, by_u = cost.evaluate(x[at], u[at])
            value += weight * float(values.sum())
            slopes.x[at, cost.used] += weight * by_x
            slopes.u[at, cost.used] += weight * by_u
    for n in reversed(range(steps)):
        for k, part in adjoint.back(n, Field(slopes.x[n + 1], slopes.u[n + 1])):
            slopes.x[k] += part.x
            slopes.u[k] += part.u
    slopes.u[0, scene.elements.fixed] = 0.0
    if not (np.isfinite(slopes.x[0]).all() and np.isfinite(slopes.u[0]).all()):
        raise SimulationError("rollout_gradient: the gradient is not finite: an element is flat or two nodes coincide.")
    return _result(scene, adjoint, value, slopes)


def _motion(scene, state: State, steps: int, dt: float, integrator: str) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of all nodes at all steps."""
    size = 8.0 * 4 * state.x.size
    check_room("rollout_gradient: the states", steps + 1, size, lambda n: f"Take steps that are {n} times as long.")
    x, u = np.empty((2, steps + 1, *state.x.shape))
    stepper = STEPS[integrator](scene)
    for n in range(steps + 1):
        x[n], u[n] = state.x, state.u
        if n < steps:
            state = stepper.step(state, Load(state.v), dt)
    if not np.isfinite(x[-1]).all():
        raise SimulationError("rollout_gradient: the motion is not finite; use a smaller dt, or another integrator.")
    return x, u


def _result(scene, adjoint: Adjoint, value: float, slopes: Field) -> DeformableGradient:
    totals, elements, filled = adjoint.totals, {}, [0] * len(adjoint.nodes.blocks)
    places = {block.law: k for k, block in enumerate(adjoint.nodes.blocks)}
    damping, masses = {}, {}
    for body, start, end in zip(scene.bodies, scene.starts[:-1], scene.starts[1:], strict=True):
        damping[body.name] = float(totals.drag[start:end].sum())
        masses[body.name] = totals.masses[start:end], body.masses
        for each in body.elements:
            k, count = places[each.law], len(each.nodes)
            rows = totals.elements[k][filled[k] : filled[k] + count]
            filled[k] += count
            elements[body.name, each.law.kind] = _named(each.law, rows)
    return DeformableGradient(value, slopes.x[0], slopes.u[0], totals.masses, damping, elements, masses)


def _named(law, rows: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of a law's parameters by name."""
    found, start = {}, 0
    for name, count in (*law.parameters.items(), ("viscosity", 1)):
        if name in variables(law):
            found[name] = rows[:, start] if count == 1 else rows[:, start : start + count]
        start += count
    return found
