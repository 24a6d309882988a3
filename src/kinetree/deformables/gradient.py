"""Gradients of objectives of simulations of deformables: by the start, and by the numbers of nodes and elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from kinetree.arguments import choice, instance, shown, whole
from kinetree.deformables.adjoint import ADJOINTS, Adjoint, Motion, Slopes
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
    q0, v0 : (nv,) array
        By the start of the joints, along the manifold [per rad or m, per rad/s or m/s]; empty without a model.
    x0 : (nx,) array
        By the internal states of the model's force elements at the start [per unit of each].
    tau : (T, nv) array
        By the actuator forces during each step [per N m or N].
    control : (T, nu) array
        By the inputs of force elements during each step [per unit of each].
    numbers : mapping of str to float
        By the model's numbers that are variables [per unit of each].

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
    q0: np.ndarray
    v0: np.ndarray
    x0: np.ndarray
    tau: np.ndarray
    control: np.ndarray
    numbers: Mapping[str, float]
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
    """An instant, the argument of objectives: positions and velocities of nodes as vectors of scalars.

    Attributes
    ----------
    q, v : list of scalars
        Of the joints [rad or m, and per second].
    tau : list of scalars
        Actuator forces during the step that begins here [N m or N]; empty at the end.
    """

    def __init__(self, bodies: tuple[tuple[str, int], ...], graph: Graph, sizes: Sequence[int] = (0, 0, 0)) -> None:
        self._bodies, self._graph, self.used = bodies, graph, {}
        self.q, self.v, self.tau = ([graph.input(2 + n, k) for k in range(size)] for n, size in enumerate(sizes))

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
    sizes : tuple of int
        Entries of q, v and tau.
    function : callable
    """

    def __init__(self, bodies: tuple[tuple[str, int], ...], sizes: tuple[int, ...], function: Callable) -> None:
        graph = Graph()
        at = NodeInstant(bodies, graph, sizes)
        value = function(at)
        if not isinstance(value, (Real, Expr)) or isinstance(value, bool):
            raise ArgumentError(f"the objective {function!r} gives {shown(value)}, expected a number.")
        self.used = np.array(list(at.used), dtype=int)
        self.shapes = [(len(self.used), 3)] * 2 + [(size,) for size in sizes]
        self.constant, self.kernel = float(value) if isinstance(value, Real) else None, None
        if self.constant is None:
            named = [(f"part{n}", shape) for n, shape in enumerate(self.shapes) if math.prod(shape)]
            leaves = [graph.input(int(name[4:]), k) for name, shape in named for k in range(math.prod(shape))]
            slopes = iter(Expr(graph, k) for k in adjoints(graph, {value.id: graph.ONE}, [x.id for x in leaves]))
            outputs = [(name, shape, [next(slopes) for _ in range(math.prod(shape))]) for name, shape in named]
            program = lower(graph, [(f"part{n}", shape) for n, shape in enumerate(self.shapes)],
                            [("value", (), [value]), *outputs])  # fmt: skip
            self.kernel = Kernel(program, checks=False, what="compiling an objective of nodes")

    def evaluate(self, x, u, q, v, tau) -> tuple[np.ndarray, list[np.ndarray]]:
        """Values (T,), and slopes by positions and velocities of the nodes that it uses, by q, v and tau."""
        given = [np.ascontiguousarray(each) for each in (x[:, self.used], u[:, self.used], q, v, tau)]
        slopes = [np.zeros_like(each) for each in given]
        if self.kernel is None:
            return np.full(len(x), self.constant), slopes
        values = np.empty(len(x))
        found = (values, *(each for each in slopes if each[0].size))
        self.kernel.batch(given, found, len(x), [each[0].size for each in given], None)
        return values, slopes


@once(most=64)
def node_objective(bodies: tuple[tuple[str, int], ...], sizes: tuple[int, ...], function: Callable) -> NodeObjective:
    """The objective of a function; the same one for the same arguments, as it is compiled."""
    return NodeObjective(bodies, sizes, function)


def node_gradient(
    scene: CoupledSystem, state: State, tau, control, steps: int, dt: float, integrator: str, running, terminal, numbers
) -> DeformableGradient:
    """The gradient of an objective of a run from a state; arguments as of `Coupled.rollout_gradient`."""
    choice("rollout_gradient: integrator", integrator, STEPS, "rollout_gradient")
    motion = _room(state, tau, control, steps)
    adjoint = ADJOINTS[integrator](scene, motion, dt, numbers)
    _fill(motion, scene, state, dt, integrator)
    value, slopes = 0.0, Slopes(*(np.zeros_like(each) for each in motion[:5]))
    none = np.zeros((1, 0))
    bodies = tuple((body.name, len(body.nodes)) for body in scene.bodies)
    for function, at, weight in ((running, slice(0, steps), dt), (terminal, slice(steps, None), 1.0)):
        if function is not None:
            given = motion.q[at], motion.v[at], motion.tau if at.stop else none
            cost = node_objective(bodies, tuple(each.shape[1] for each in given), function)
            values, (by_x, by_u, by_q, by_v, by_tau) = cost.evaluate(motion.x[at], motion.u[at], *given)
            value += weight * float(values.sum())
            slopes.x[at, cost.used] += weight * by_x
            slopes.u[at, cost.used] += weight * by_u
            slopes.q[at] += weight * by_q
            slopes.v[at] += weight * by_v
            if at.stop:
                adjoint.tau += weight * by_tau
    for n in reversed(range(steps)):
        adjoint.settle(n + 1, slopes)
        adjoint.back(n, slopes)
    adjoint.settle(0, slopes)
    slopes.u[0, scene.elements.fixed] = 0.0
    if not all(np.isfinite(each[0]).all() for each in slopes):
        raise SimulationError("rollout_gradient: the gradient is not finite: an element is flat or two nodes coincide.")
    return _result(scene, adjoint, value, slopes)


def check_states(state: State, steps: int) -> None:
    """Refuse more steps than memory has room for the states of."""
    check_room("rollout_gradient: the states", steps + 1, 8.0 * 2 * sum(map(np.size, _parts(state))),
               lambda n: f"Take steps that are {n} times as long.")  # fmt: skip


def _parts(state: State) -> list[np.ndarray]:
    return [state.q, state.v, np.zeros(0) if state.z is None else state.z, state.x, state.u]


def _room(state: State, tau, control, steps: int) -> Motion:
    """Arrays for the states at all steps."""
    check_states(state, steps)
    return Motion(*(np.empty((steps + 1, *each.shape)) for each in _parts(state)), tau, control)


def _fill(motion: Motion, scene, state: State, dt: float, integrator: str) -> None:
    """Simulate from a state."""
    stepper, has_inputs, steps = STEPS[integrator](scene), bool(motion.control.shape[1]), len(motion.tau)
    for n in range(steps + 1):
        for name in ("q", "v", "x", "u", "z"):
            value = getattr(state, name)
            if value is not None:
                getattr(motion, name)[n] = value
        if n < steps:
            given = Load(motion.tau[n], None, state.z, motion.control[n] if has_inputs else None)
            load = scene.ahead(given, state, dt)
            state = stepper.step(state, load, dt)
            state.z = load.z
    if not (np.isfinite(motion.x[-1]).all() and np.isfinite(motion.q[-1]).all()):
        raise SimulationError("rollout_gradient: the motion is not finite; use a smaller dt, or another integrator.")


def _result(scene, adjoint: Adjoint, value: float, slopes: Slopes) -> DeformableGradient:
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
    q0, rigid = slopes.q[0], adjoint.rigid
    model = (q0, slopes.v[0], slopes.z[0], adjoint.tau, adjoint.control, {})
    if rigid is not None:
        model = (rigid.along(adjoint.motion.q[0], q0), *model[1:5], rigid.by_numbers())
    return DeformableGradient(value, slopes.x[0], slopes.u[0], totals.masses, damping, elements, *model, masses)


def _named(law, rows: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of a law's parameters by name."""
    found, start = {}, 0
    for name, count in (*law.parameters.items(), ("viscosity", 1)):
        if name in variables(law):
            found[name] = rows[:, start] if count == 1 else rows[:, start : start + count]
        start += count
    return found
