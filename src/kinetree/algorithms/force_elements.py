"""Force elements with laws over leaves: energies, joint forces and slopes on any mechanism.

The law is recorded in a trace of its own whose inputs are its leaves, differentiated there, and evaluated over the
scalars of the state. Forces at leaves become wrenches of bodies, and one inward pass serves all elements.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kinetree.algorithms.force_terms import transposed_product
from kinetree.algorithms.leaves import Leaf, Leaves
from kinetree.algorithms.matrices import plus
from kinetree.errors import ModelError
from kinetree.model.numbers import entries
from kinetree.model.scalar_model import ScalarModel
from kinetree.spatial.scalar import is_zero
from kinetree.state_kinematics import Kinematics
from kinetree.trace.differentiate import adjoints, tangents
from kinetree.trace.evaluate import evaluate
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph

POSITIONS = ("point", "rotation", "coordinate")


@dataclass
class Law:
    """The law of one element, differentiated: nodes of its trace.

    Attributes
    ----------
    energy : int
        Stored energy.
    conservative, other : list of (Leaf, list of int)
        Forces along the scalars of each leaf: those of the stored energy, and all others.
    slopes : list of (rows, K, D)
        ``-d force / d leaves = rows^T H rows`` for positions (K) and velocities (D); each row is a list of (Leaf, list
        of int), H is symmetric, its rows mappings.
    """

    leaves: Leaves
    energy: int
    conservative: list = field(default_factory=list)
    other: list = field(default_factory=list)
    slopes: list = field(default_factory=list)


def differentiated(element) -> Law:
    """Record and differentiate the law of an element.

    Raises
    ------
    ModelError
        The element states no law.
    """
    graph = Graph()
    numbers = list(element.numbers().values())
    symbols = [x if isinstance(x, float) else graph.param(j) for j, x in enumerate(numbers)]
    law = element.with_numbers(symbols)
    leaves = Leaves(graph, element, numbers)
    found = Law(leaves, graph.ZERO)
    if element.states("energy"):
        energy = _expr(graph, law.energy(leaves))
        _refuse_velocities(element, "energy", "dissipation(kin)", leaves.found)
        found.energy = energy.id
        rows, hessian = _add_potential(graph, energy, leaves.found, found.conservative)
        found.slopes.append((rows, hessian, [{}] * len(rows)))
    if element.states("dissipation"):
        potential = _expr(graph, law.dissipation(leaves))
        moving = [leaf for leaf in leaves.found if leaf.name not in POSITIONS]
        rows, hessian = _add_potential(graph, potential, moving, found.other)
        found.slopes.append((rows, [{}] * len(rows), hessian))
    if element.states("length"):
        _add_length(found, graph, law, element)
    if not (found.conservative or found.other):
        raise ModelError(
            f"force element {element.name!r} of class {type(element).__name__} states no law: define energy(kin), "
            "dissipation(kin), or length(kin) with stored(length) or tension(length, rate), over points, rotations, "
            "velocities or coordinates that kin gives.",
            element=element.name,
        )
    return found


def _refuse_velocities(element, law: str, instead: str, leaves) -> None:
    """A law of positions that uses a velocity is an error: its forces would not be those of the law."""
    moving = next((leaf for leaf in leaves if leaf.name not in POSITIONS), None)
    if moving:
        raise ModelError(
            f"force element {element.name!r}: {law}(kin) uses the {moving.name} of {moving.target!r}, expected "
            f"positions alone: {', '.join(POSITIONS)}. State forces on velocities in {instead}.",
            element=element.name,
        )


def _expr(graph: Graph, x) -> Expr:
    return x if isinstance(x, Expr) else graph.constant(float(x))


def _gradient(graph: Graph, root: Expr, leaves) -> list[tuple[Leaf, list[int]]]:
    flat = adjoints(graph, {root.id: graph.ONE}, [x.id for leaf in leaves for x in leaf.symbols])
    entries = iter(flat)
    return [(leaf, [next(entries) for _ in leaf.symbols]) for leaf in leaves]


def _add_potential(graph: Graph, potential: Expr, leaves, forces: list) -> tuple[list, list]:
    """Forces ``-dP/dx`` along leaves x of a potential; the rows of the unit matrix, and the Hessian over them."""
    gradient = _gradient(graph, potential, leaves)
    forces += [(leaf, [graph.neg(k) for k in ids]) for leaf, ids in gradient]
    n = [x.id for leaf in leaves for x in leaf.symbols]
    hessian = tangents(graph, [k for _, ids in gradient for k in ids], {k: {m: graph.ONE} for m, k in enumerate(n)})
    units = [
        [(leaf, [graph.ONE if m == c else graph.ZERO for m in range(len(leaf.symbols))])]
        for leaf in leaves
        for c in range(len(leaf.symbols))
    ]
    return units, hessian


def _add_length(found: Law, graph: Graph, law, element) -> None:
    """Forces ``-(dE/dL + T(L, dL/dt)) dL/dx`` along a length L, which shorten it where the bracket is positive."""
    before = len(found.leaves.found)
    length = _expr(graph, law.length(found.leaves))
    _refuse_velocities(element, "length", "tension(length, rate)", found.leaves.found[before:])
    row = _gradient(graph, length, [leaf for leaf in found.leaves.found if leaf.name in POSITIONS])
    along, stiffness, damping = {length.id: {0: graph.ONE}}, graph.ZERO, graph.ZERO
    if law.states("stored"):
        energy = _expr(graph, law.stored(length))
        found.energy = graph.add(found.energy, energy.id)
        tension = tangents(graph, [energy.id], along)[0].get(0, graph.ZERO)
        stiffness = tangents(graph, [tension], along)[0].get(0, graph.ZERO)
        found.conservative += _pulled(graph, tension, row)
    if law.states("tension"):
        rate = graph.constant(0.0)
        for leaf, ids in row:
            for k, x_dot in zip(ids, found.leaves.rate_of(leaf), strict=True):
                rate = rate + Expr(graph, k) * x_dot
        tension = _expr(graph, law.tension(length, rate)).id
        found.other += _pulled(graph, tension, row)
        (slopes,) = tangents(graph, [tension], along | {rate.id: {1: graph.ONE}})
        stiffness, damping = graph.add(stiffness, slopes.get(0, graph.ZERO)), slopes.get(1, graph.ZERO)
    found.slopes.append(([row], [{0: stiffness}], [{0: damping}]))


def _pulled(graph: Graph, tension: int, row) -> list:
    return [(leaf, [graph.neg(graph.mul(tension, k)) for k in ids]) for leaf, ids in row]


def element_energies(model, q) -> list:
    """The stored energy of every element [J]."""
    kin = Kinematics(model, q)
    laws = (differentiated(element) for element in model.laws)
    return [law.leaves.outer([law.energy], kin)[0] for law in laws]


def element_forces(model, q, v) -> list:
    """The joint forces of all elements together [N m or N]."""
    return _joint_forces(model, Kinematics(model, q, v), model.laws)


def dissipative_forces(model, q, v) -> list[list]:
    """Of every element the joint forces that no stored energy explains [N m or N]."""
    kin = Kinematics(model, q, v)
    return [_joint_forces(model, kin, [element], stored=False) for element in model.laws]


def _joint_forces(model, kin: Kinematics, elements, stored: bool = True) -> list:
    wrenches, tau = [model.algebra.Force.zero() for _ in range(model.nb)], [0.0] * model.nv
    for element in elements:
        law = differentiated(element)
        forces = [*(law.conservative if stored else ()), *law.other]
        values = iter(law.leaves.outer([k for _, ids in forces for k in ids], kin))
        for leaf, ids in forces:
            leaf.push(kin, [next(values) for _ in ids], wrenches, tau)
    if all(wrench.angular.is_zero and wrench.linear.is_zero for wrench in wrenches[1:]):
        return tau
    return plus(tau, transposed_product(model, kin.q, kin.X_0, wrenches))


def gauss_newton_slopes(model, q, v):
    """``-df/dq`` and ``-df/dv`` of the elements where leaves are taken as linear in the coordinates: (K, D), symmetric.

    Left out are the turning of the forces with the mechanism, and the dependence of dissipation on q.
    """
    K, D = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(2))
    for J, *slopes in _slopes(model, Kinematics(model, q, v)):
        for hessian, into in zip(slopes, (K, D), strict=True):
            _add_congruence(J, hessian, into)
    return K, D


def implicit_terms(model, q, v, dt):
    """``dt D + dt^2 K`` and ``K v`` with the slopes of `gauss_newton_slopes`."""
    added, turning = [[0.0] * model.nv for _ in range(model.nv)], [0.0] * model.nv
    for J, stiffness, damping in _slopes(model, Kinematics(model, q, v)):
        hessian = [
            {n: dt * (d.get(n, 0.0) + dt * k.get(n, 0.0)) for n in {**k, **d}}
            for k, d in zip(stiffness, damping, strict=True)
        ]
        _add_congruence(J, hessian, added)
        rates = [sum((x * v[k] for k, x in row.items()), start=0.0) for row in J]
        for row, weights in zip(J, stiffness, strict=True):
            force = sum((weight * rates[n] for n, weight in weights.items()), start=0.0)
            for k, x in row.items():
                turning[k] = turning[k] + x * force
    return added, turning


def _slopes(model, kin: Kinematics):
    """Of each law the rows J in the velocity coordinates, as mappings, and the values of K and D over them."""
    for element in model.laws:
        law = differentiated(element)
        for rows, *hessians in law.slopes:
            values = [
                [dict(zip(row, law.leaves.outer(list(row.values()), kin), strict=True)) for row in hessian]
                for hessian in hessians
            ]
            yield [_row(law, kin, row) for row in rows], *values


def _add_congruence(J, hessian, into) -> None:
    """``into += J^T H J``."""
    for left, weights in zip(J, hessian, strict=True):
        product: dict[int, object] = {}
        for n, weight in weights.items():
            for k, x in J[n].items():
                product[k] = product.get(k, 0.0) + weight * x
        for k, x in left.items():
            for m, y in product.items():
                into[k][m] = into[k][m] + x * y


def _row(law: Law, kin: Kinematics, row) -> dict[int, object]:
    found: dict[int, object] = {}
    for leaf, ids in row:
        weights = law.leaves.outer(ids, kin)
        for k, column in leaf.columns(kin).items():
            for weight, x in zip(weights, column, strict=True):
                if not is_zero(weight) and not is_zero(x):
                    found[k] = found.get(k, 0.0) + weight * x
    return found


def exact_slopes(model, q, v):
    """``-df/dq`` along the manifold and ``-df/dv`` of the elements: (K, D), K not symmetric in general.

    In a model at a time, whose joints hold scalars of the outer trace, those of `gauss_newton_slopes`.
    """
    if model._clock is not None:
        return gauss_newton_slopes(model, q, v)
    graph = Graph()
    numbers = [x for _, x in entries(model)]
    inner = ScalarModel.over(model, [x if isinstance(x, float) else graph.param(j) for j, x in enumerate(numbers)])
    q_in, v_in = ([graph.input(a, k) for k in range(n)] for a, n in enumerate((model.nq, model.nv)))
    forces = element_forces(inner, q_in, v_in)
    seeds: dict[int, dict[int, int]] = {x.id: {} for x in q_in}
    for i in model.outward():
        q_i = model.q_of(i, q_in)
        for m, k in enumerate(range(model.v_slice[i].start, model.v_slice[i].stop)):
            unit = [float(m == n) for n in range(model.joints[i].nv)]
            for x, rate in zip(q_i, model.joints[i].q_dot(q_i, unit), strict=True):
                if not is_zero(rate):
                    seeds[x.id][k] = _expr(graph, rate).id
    seeds |= {x.id: {model.nv + k: graph.ONE} for k, x in enumerate(v_in)}
    rates = tangents(graph, [_expr(graph, f).id for f in forces], seeds)
    places = [(k, d, node) for k, row in enumerate(rates) for d, node in row.items()]
    values = evaluate(graph, [node for *_, node in places], lambda op, args: (
        numbers[args[0]] if op == "param" else (q, v)[args[0]][args[1]]
    ))  # fmt: skip
    K, D = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(2))
    for (k, d, _), x in zip(places, values, strict=True):
        (K if d < model.nv else D)[k][d % model.nv] = -x
    return K, D
