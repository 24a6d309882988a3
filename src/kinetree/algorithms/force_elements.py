"""Force elements with laws over leaves: energies, joint forces and slopes on any mechanism.

The law is recorded in a trace of its own whose inputs are its leaves, differentiated there, and evaluated over the
scalars of the state. Forces at leaves become wrenches of bodies, and one inward pass is enough for all elements.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, field

from kinetree.algorithms.force_ranges import range_shares, within_ranges
from kinetree.algorithms.force_terms import transposed_product
from kinetree.algorithms.leaves import OF_JOINTS, POSITIONS, Leaves, paired, scalars
from kinetree.algorithms.matrices import minus, plus
from kinetree.algorithms.spec import algorithm
from kinetree.errors import CompilationError, KinetreeError, ModelError
from kinetree.spatial import Vector3
from kinetree.spatial.scalar import is_zero, maximum, where
from kinetree.state_kinematics import Kinematics
from kinetree.trace.differentiate import adjoints, tangents
from kinetree.trace.evaluate import evaluate
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph

_LENGTHS, _RATES = -1, -2  # arrays of inputs that stand for lengths and their rates


@dataclass
class Law:
    """The law of one element, differentiated: nodes of its trace.

    Attributes
    ----------
    energy : int
        Stored energy.
    conservative, other : list of (Leaf, list of int)
        Forces along the scalars of each leaf: those of the stored energy, and all others.
    slopes : list of (rows, K, D, tensions)
        ``-d force / d leaves = rows^T H rows`` for positions (K) and velocities (D); each row is a list of (Leaf, list
        of int), H is symmetric, its rows mappings. Forces of lengths are ``-rows^T tensions``, else tensions are zero.
    apart : list of (Leaf, list of int)
        Forces that are not those of lengths.
    actuates : bool
        Whether it is the law of an actuator.
    lengths : list of (int, row, int)
        Of a law over lengths each, its row, and the tension along it.
    rates, rate_slopes : list of int, list of dict of int to int
        Rates of the internal states, and their derivatives by number of the state.
    follows, pulls : list of int
        Where there is one length that some rates depend on, their derivatives by it, and those of the tension by each
        state.
    gain, shift : scalar
        How the tension of that length follows it through the states, and its change by them at constant positions, in
        the state's scalars: `laws_ahead`.
    """

    leaves: Leaves
    energy: int
    actuates: bool = False
    conservative: list = field(default_factory=list)
    other: list = field(default_factory=list)
    slopes: list = field(default_factory=list)
    apart: list = field(default_factory=list)
    lengths: list = field(default_factory=list)
    rates: list = field(default_factory=list)
    rate_slopes: list = field(default_factory=list)
    follows: list = field(default_factory=list)
    pulls: list = field(default_factory=list)
    gain: object = 0.0
    shift: object = 0.0


def differentiated(element, x, u) -> Law:
    """Record and differentiate the law of an element over its internal states and inputs.

    Raises
    ------
    ModelError
        The element states no law, or one that cannot be recorded.
    CompilationError
        The law branches on a value.
    """
    what = f"force element {element.name!r} of class {type(element).__name__}"
    try:
        return _differentiated(element, x, u)
    except CompilationError as error:
        raise CompilationError(f"{what}: {error.message}", element=element.name) from error
    except (TypeError, ValueError) as error:
        if isinstance(error, KinetreeError):
            raise
        raise ModelError(
            f"{what}: its law cannot be recorded: {error}. Laws run on floats, arrays and expressions: take sqrt, "
            "where, exp, tanh, ... of kinetree.spatial.scalar in place of NumPy's.",
            element=element.name,
        ) from error


def _differentiated(element, x, u) -> Law:
    graph = Graph()
    numbers = list(element.numbers().values())
    given = [*numbers, *x, *u]
    states = range(len(numbers), len(numbers) + len(x))  # rates are differentiated with respect to them
    symbols = [
        value if isinstance(value, float) and j not in states else graph.param(j) for j, value in enumerate(given)
    ]
    law = element.with_numbers(symbols[: len(numbers)])
    now = _by_name(element, symbols[len(numbers) :]) if x or u else ()
    leaves = Leaves(graph, element, given)
    found = Law(leaves, graph.ZERO, element.actuates)
    if element.defines("energy"):
        energy = _expr(graph, law.energy(leaves))
        _refuse_velocities(element, "energy", "dissipation(kin)", leaves.found)
        found.energy = energy.id
        rows, hessian = _add_potential(graph, energy, leaves.found, found.conservative)
        found.slopes.append((rows, hessian, [{}] * len(rows), [graph.ZERO] * len(rows)))
    if element.defines("dissipation"):
        potential = _expr(graph, law.dissipation(leaves))
        rows, hessian = _add_potential(graph, potential, leaves.velocities, found.other)
        found.slopes.append((rows, [{}] * len(rows), hessian, [graph.ZERO] * len(rows)))
    found.apart = [*found.conservative, *found.other]
    if element.defines("length"):
        _add_lengths(found, graph, law, element, now)
    if element.defines("force"):
        before = len(found.other)
        _add_forces(found, graph, list(law.force(leaves, *now)), element)
        found.apart += found.other[before:]
    if not (found.conservative or found.other or element.defines("force")):
        raise ModelError(
            f"force element {element.name!r} of class {type(element).__name__} states no law: define energy(kin), "
            "dissipation(kin), length(kin) with stored(length) or tension(length, rate), or force(kin), over points, "
            "rotations, velocities or coordinates that kin gives.",
            element=element.name,
        )
    if x:
        rates = list(law.state_rate(leaves, *now))
        if len(rates) != len(x):
            raise ModelError(
                f"force element {element.name!r}: state_rate gives {len(rates)} rates, expected {len(x)}, one for each "
                f"of its states: {', '.join(element.states)}.",
                element=element.name,
            )
        found.rates = [_expr(graph, rate).id for rate in rates]
        seeds = {symbols[j].id: {k: graph.ONE} for k, j in enumerate(states)}
        found.rate_slopes = tangents(graph, found.rates, seeds)
        if len(found.lengths) == 1:
            ((length, _, pull),) = found.lengths
            along = tangents(graph, found.rates, {length: {0: graph.ONE}})
            if any(along):
                found.follows = [rate.get(0, graph.ZERO) for rate in along]
                (by_state,) = tangents(graph, [pull], seeds)
                found.pulls = [by_state.get(k, graph.ZERO) for k in range(len(x))]
    return found


def _by_name(element, values) -> tuple:
    """The internal states and inputs of an element as named tuples."""
    n = len(element.states)
    return namedtuple("x", element.states)(*values[:n]), namedtuple("u", element.inputs)(*values[n:])


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


def _add_potential(graph: Graph, potential: Expr, leaves, forces: list) -> tuple[list, list]:
    """Forces ``-dP/dx`` along leaves x of a potential; the rows of the unit matrix, and the Hessian over them."""
    gradient = adjoints(graph, {potential.id: graph.ONE}, scalars(leaves))
    forces += paired(leaves, [graph.neg(k) for k in gradient])
    return _units(graph, leaves), tangents(graph, gradient, _freely(graph, leaves))


def _freely(graph: Graph, leaves) -> dict:
    """Seeds: every scalar of the leaves is varied on its own."""
    return {k: {m: graph.ONE} for m, k in enumerate(scalars(leaves))}


def _units(graph: Graph, leaves) -> list:
    """Rows of the unit matrix over leaves."""
    return [
        [(leaf, [graph.ONE if m == c else graph.ZERO for m in range(len(leaf.symbols))])]
        for leaf in leaves
        for c in range(len(leaf.symbols))
    ]


def _add_forces(found: Law, graph: Graph, pairs, element) -> None:
    """Forces along velocities, which depend linearly on those of leaves; of their slopes the symmetric part of D."""
    weights: dict[int, int] = {}
    for pair in pairs:
        for velocity, force in _components(graph, pair, element):
            weights[velocity] = graph.add(weights[velocity], force) if velocity in weights else force
    moving = found.leaves.velocities
    seeds = _freely(graph, moving)
    if not all(tangents(graph, list(weights), seeds)):
        raise ModelError(
            f"force element {element.name!r}: force(kin) gives a force along something that does not move, expected "
            "pairs (velocity, force) with a velocity that kin gives: velocity, angular_velocity, rate or "
            "time_derivative.",
            element=element.name,
        )
    forces = adjoints(graph, weights, scalars(moving))
    found.other += [(leaf, ids) for leaf, ids in paired(moving, forces) if any(k != graph.ZERO for k in ids)]
    slopes = tangents(graph, forces, seeds)
    D = _symmetric(graph, [{n: graph.neg(x) for n, x in row.items()} for row in slopes])
    found.slopes.append((_units(graph, moving), [{}] * len(D), D, [graph.ZERO] * len(D)))


def _components(graph: Graph, pair, element) -> Iterator[tuple[int, int]]:
    """Nodes of a velocity and of the force along it, for scalars or component by component."""
    is_pair = isinstance(pair, tuple) and len(pair) == 2
    if not is_pair or isinstance(pair[0], Vector3) != isinstance(pair[1], Vector3):
        raise ModelError(
            f"force element {element.name!r}: force(kin) gives {pair!r}, expected pairs (velocity, force) of two "
            "vectors or two scalars.",
            element=element.name,
        )
    velocity, force = ([*part] if isinstance(part, Vector3) else [part] for part in pair)
    for x, f in zip(velocity, force, strict=True):
        yield _expr(graph, x).id, _expr(graph, f).id


def _add_lengths(found: Law, graph: Graph, law, element, now) -> None:
    """Forces ``-(dE/dL + T(L, dL/dt)) dL/dx`` along lengths L, which shorten them where the bracket is positive.

    Energy and tensions are differentiated over inputs in the place of the lengths and their rates.
    """
    before = len(found.leaves.found)
    lengths = law.length(found.leaves)
    several = isinstance(lengths, (list, tuple))
    lengths = [_expr(graph, x) for x in (lengths if several else [lengths])]
    _refuse_velocities(element, "length", "tension(length, rate)", found.leaves.found[before:])
    rows, n = [found.leaves.gradient(length) for length in lengths], len(lengths)
    L, L_dot = ([graph.input(array, k) for k in range(n)] for array in (_LENGTHS, _RATES))
    given = (L, L_dot) if several else (*L, *L_dot)
    energy, stored, tensions, rates = graph.ZERO, [graph.ZERO] * n, [graph.ZERO] * n, []
    if law.defines("stored"):
        energy = _expr(graph, law.stored(given[0])).id
        stored = adjoints(graph, {energy: graph.ONE}, [x.id for x in L])
    if law.defines("tension"):
        tension = law.tension(*given, *now)
        tensions = [_expr(graph, x).id for x in (tension if several else [tension])]
        rates = [found.leaves.time_derivative(length) for length in lengths]
    slopes = _tension_slopes(graph, stored, tensions, L, L_dot)
    ids = [energy, *stored, *tensions, *(k for hessian in slopes for row in hessian for k in row.values())]
    values = iter(_in_place(graph, ids, {_LENGTHS: lengths, _RATES: rates}))
    found.energy = graph.add(found.energy, next(values))
    total = [graph.ZERO] * n
    moving = any(k != graph.ZERO for k in tensions)  # then the rates need the rows anyway
    for forces in (found.conservative, found.other):
        pulls = [next(values) for _ in rows]
        if moving:
            forces += [force for pull, row in zip(pulls, rows, strict=True) for force in _pulled(graph, pull, row)]
        else:
            forces += _pulled_together(found.leaves, graph, zip(lengths, pulls, strict=True))
        total = [graph.add(a, b) for a, b in zip(total, pulls, strict=True)]
    found.lengths = [(length.id, row, pull) for length, row, pull in zip(lengths, rows, total, strict=True)]
    found.slopes.append((rows, *([{k: next(values) for k in row} for row in hessian] for hessian in slopes), total))


def _tension_slopes(graph: Graph, stored, tensions, L, L_dot) -> tuple[list, list]:
    """K and D over lengths, symmetric; tensions of one length that fall with it count as constant, so K is no less than
    that of the stored energy.
    """
    by_length = {x.id: {k: graph.ONE} for k, x in enumerate(L)}
    by_rate = {x.id: {k: graph.ONE} for k, x in enumerate(L_dot)}
    K, more = (tangents(graph, ids, by_length) for ids in (stored, tensions))
    D = tangents(graph, tensions, by_rate)
    if len(L) == 1:
        more = [{k: maximum(Expr(graph, x), 0.0).id for k, x in row.items()} for row in more]
    K = [{k: graph.add(row.get(k, graph.ZERO), other.get(k, graph.ZERO)) for k in {**row, **other}}
         for row, other in zip(K, _symmetric(graph, more), strict=True)]  # fmt: skip
    return K, _symmetric(graph, D)


def _symmetric(graph: Graph, rows: list[dict]) -> list[dict]:
    """The symmetric part of a sparse matrix."""
    half, found = graph.const(0.5), [{} for _ in rows]
    for m, row in enumerate(rows):
        for n, x in row.items():
            for r, c in {(m, n), (n, m)} if m != n else ((m, m),):
                part = x if m == n else graph.mul(half, x)
                found[r][c] = graph.add(found[r][c], part) if c in found[r] else part
    return found


def _in_place(graph: Graph, ids, arrays: dict) -> list[int]:
    """Nodes with expressions in the place of the inputs of some arrays."""

    def leaf(op, args):
        if op == "param":
            return graph.param(args[0])
        return arrays[args[0]][args[1]] if args[0] in arrays else graph.input(*args)

    return [_expr(graph, x).id for x in evaluate(graph, ids, leaf)]


def _pulled_together(leaves: Leaves, graph: Graph, pulls) -> list:
    """Forces by one reverse pass of all tensions, without the derivatives of each length."""
    weights: dict[int, int] = {}
    for length, tension in pulls:
        weights[length.id] = graph.add(weights[length.id], tension) if length.id in weights else tension
    positions = [leaf for leaf in leaves.found if leaf.name in POSITIONS]
    return paired(positions, [graph.neg(k) for k in adjoints(graph, weights, scalars(positions))])


def _pulled(graph: Graph, tension: int, row) -> list:
    return [(leaf, [graph.neg(graph.mul(tension, k)) for k in ids]) for leaf, ids in row]


def element_energies(model, q) -> list:
    """The stored energy of every element [J]."""
    kin = Kinematics(model, q)
    return [law.leaves.outer([law.energy], kin)[0] for law in laws(model)]


def laws(model, x=None, u=None) -> list[Law]:
    """The laws of the elements, differentiated; x by default the initial states, u zero."""
    return [differentiated(*each) for each in model.with_internal(x, u) if not each[0].commanded]


def element_forces(model, q, v, x=None, u=None, actuators: bool | None = None) -> list:
    """The joint forces of all elements together, of actuators alone, or of all others [N m or N]."""
    kin, found = Kinematics(model, q, v), laws(model, x, u)
    if actuators is None and not model._force_ranges:
        return law_joint_forces(model, kin, found)
    tau = [0.0] * model.nv
    if actuators is not True:
        tau = law_joint_forces(model, kin, [law for law in found if not law.actuates])
    if actuators is not False:
        tau = plus(tau, within_ranges(model, law_joint_forces(model, kin, [law for law in found if law.actuates])))
    return tau


def actuator_cuts(model, q, v, x=None, u=None) -> list:
    """What ranges of the sums of actuators' forces on joints add to these: zero within the ranges [N m or N]."""
    total = law_joint_forces(model, Kinematics(model, q, v), [law for law in laws(model, x, u) if law.actuates])
    return minus(within_ranges(model, total), total)


def element_joint_forces(model, q, v, x=None, u=None) -> list[list]:
    """Of every element its joint forces [N m or N]."""
    return _by_element(model, q, v, x, u, stored=True)


def dissipative_forces(model, q, v, x=None, u=None) -> list[list]:
    """Of every element the joint forces that no stored energy explains [N m or N]."""
    return _by_element(model, q, v, x, u, stored=False)


def _by_element(model, q, v, x, u, stored: bool) -> list[list]:
    kin, found = Kinematics(model, q, v), laws(model, x, u)
    forces = [law_joint_forces(model, kin, [law], stored) for law in found]
    for k, part in range_shares(model, [f for f, law in zip(forces, found, strict=True) if law.actuates]).items():
        for f, law in zip(forces, found, strict=True):
            f[k] = f[k] * part if law.actuates else f[k]
    return forces


@algorithm(
    inputs="q v",
    optional="x u",
    outputs={"x_dot": ("nx",)},
    body_frames="laws",
    symbols={"x_dot": "Rates of the internal states [unit of each state, per second]."},
)
def force_state_rates(model, q, v, x=None, u=None):
    """Rates of the internal states of force elements: activations, bristles, lags.

    Notes
    -----
    Source: ``state_rate`` of each of ``model.forces``, in the order of ``model.state_names``.

    See Also
    --------
    forward_dynamics, passive_joint_forces
    """
    kin, found = Kinematics(model, q, v), []
    for element, x_e, u_e in model.with_internal(x, u):
        law = None if element.commanded or not x_e else differentiated(element, x_e, u_e)
        found += law.leaves.outer(law.rates, kin) if law else [0.0] * len(x_e)
    return found


def law_joint_forces(model, kin: Kinematics, laws, stored: bool = True) -> list:
    """The joint forces of laws together [N m or N]."""
    forces = [(law.leaves, [*(law.conservative if stored else ()), *law.other]) for law in laws]
    return pushed(model, kin, forces)


def wrenches_of(model, kin: Kinematics, forces) -> tuple[list, list]:
    """Wrenches on bodies about the world's origin, and joint forces along coordinates, of forces along leaves.

    Forces are pairs of `Leaves`, and of leaves with the nodes of forces.
    """
    wrenches, tau = [model.algebra.Force.zero() for _ in range(model.nb)], [0.0] * model.nv
    for leaves, along in forces:
        values = iter(leaves.outer([k for _, ids in along for k in ids], kin))
        for leaf, ids in along:
            leaf.push(kin, [next(values) for _ in ids], wrenches, tau)
    return wrenches, tau


def pushed(model, kin: Kinematics, forces) -> list:
    """Joint forces of forces along leaves, wrenches included."""
    wrenches, tau = wrenches_of(model, kin, forces)
    if all(is_zero(x) for wrench in wrenches[1:] for x in wrench):
        return tau
    return plus(tau, transposed_product(model, kin.q, kin.X_0, wrenches))


def gauss_newton_slopes(model, q, v, x=None, u=None, of=None):
    """``-df/dq`` and ``-df/dv`` of the elements where leaves are taken as linear in the coordinates: (K, D), symmetric.

    Left out are the turning of the forces with the mechanism, the dependence of dissipation on q, and of forces
    without a law the dependence on q and the part of D that is not symmetric. ``of`` are the laws that take part, by
    default those of all elements.
    """
    K, D = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(2))
    kin, of = Kinematics(model, q, v), laws(model, x, u) if of is None else of
    actuators = [law for law in of if law.actuates] if model._force_ranges else ()
    free = unbounded(model, law_joint_forces(model, kin, actuators)) if actuators else ()
    for law in of:
        for J, *slopes, _ in slopes_of(law, kin):
            for hessian, into in zip(slopes, (K, D), strict=True):
                add_congruence(along_free(J, free) if law.actuates else J, hessian, into)
    return K, D


def actuator_cut_slopes(model, q, v, x=None, u=None):
    """What ranges of the sums of actuators' forces add to the slopes of `gauss_newton_slopes`, as `actuator_cuts`."""
    K, D = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(2))
    kin, of = Kinematics(model, q, v), [law for law in laws(model, x, u) if law.actuates]
    free = unbounded(model, law_joint_forces(model, kin, of))
    for law in of:
        for J, *slopes, _ in slopes_of(law, kin):
            for hessian, into in zip(slopes, (K, D), strict=True):
                add_congruence(along_free(J, free), hessian, into)
                add_congruence(J, [{n: -x for n, x in row.items()} for row in hessian], into)
    return K, D


def unbounded(model, tau) -> dict[int, object]:
    """By coordinates with a range of actuator forces 1, or 0 where the range bounds them, so that they are constant."""
    return {k: where((tau[k] < low) | (tau[k] > high), 0.0, 1.0) for k, low, high in model._force_ranges}


def along_free(J, free) -> list[dict]:
    """Rows without coordinates along which forces are constant."""
    return [{k: x * free[k] if k in free else x for k, x in row.items()} for row in J] if free else J


def slopes_of(law: Law, kin: Kinematics):
    """The rows J in the velocity coordinates, as mappings, the values of K and D over them, and the tensions along,
    with the law's shift.
    """
    for rows, *values, tensions in hessians_of(law, kin):
        pulls = law.leaves.outer(tensions, kin)
        if not is_zero(law.shift) and tensions == [pull for _, _, pull in law.lengths]:
            pulls = [pulls[0] + law.shift]
        yield [in_coordinates(law.leaves, kin, row) for row in rows], *values, pulls


def hessians_of(law: Law, kin: Kinematics):
    """The rows, the values of K and D over them, and the nodes of tensions; K with the law's gain, at least zero."""
    for rows, *hessians, tensions in law.slopes:
        K, D = (
            [dict(zip(row, law.leaves.outer(list(row.values()), kin), strict=True)) for row in hessian]
            for hessian in hessians
        )
        if not is_zero(law.gain) and tensions == [pull for _, _, pull in law.lengths]:
            K = [{0: maximum(K[0].get(0, 0.0) + law.gain, 0.0)}]
        yield rows, K, D, tensions


def add_congruence(J, hessian, into) -> None:
    """``into += J^T H J``."""
    for left, weights in zip(J, hessian, strict=True):
        product: dict[int, object] = {}
        for n, weight in weights.items():
            for k, x in J[n].items():
                product[k] = product.get(k, 0.0) + weight * x
        for k, x in left.items():
            for m, y in product.items():
                into[k][m] = into[k][m] + x * y


def in_coordinates(leaves: Leaves, kin: Kinematics, row) -> dict[int, object]:
    """A row in the velocity coordinates: ``S_k . F``, F the wrench of the weights on the leaves that k moves.

    Coordinates that move all leaves of a length together do not change it.
    """
    model, found = kin.model, {}
    wrenches, tau = [model.algebra.Force.zero() for _ in range(model.nb)], [0.0] * model.nv
    for leaf, ids in row:
        leaf.push(kin, leaves.outer(ids, kin), wrenches, tau)
    moved: dict[int, list[int]] = {}  # joint -> bodies with leaves beyond it
    bodies = {kin.body(leaf.target) for leaf, _ in row if leaf.name not in OF_JOINTS}
    for b in bodies:
        for i in model.support(b) if b else ():
            moved.setdefault(i, []).append(b)
    together = len(bodies) if leaves.is_relative(row) else 0
    for i, beyond in moved.items():
        if len(beyond) == together:
            continue
        F = sum((wrenches[b] for b in beyond[1:]), start=wrenches[beyond[0]])
        for k, S in zip(kin.dofs_of(i), kin.columns[i], strict=True):
            found[k] = S.dot(F)
    for k, x in enumerate(tau):
        if not is_zero(x):
            found[k] = found.get(k, 0.0) + x
    return {k: x for k, x in found.items() if not is_zero(x)}
