"""Derivatives of any algorithm, compiled like the algorithm itself: Jacobians, products with them, with Hessians.

A derivative is a `Spec` of its own. Its function records the algorithm on a graph, differentiates there
(`differentiate.py`) and evaluates the result on the scalars that it was given, so it is traced, compiled, cached,
batched, checked and interpreted like every algorithm.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType

from kinetree.algorithms.regularity import collected_pivots, require_regular
from kinetree.algorithms.spec import Shape, Spec, sized
from kinetree.arguments import a_model, a_truth_value, a_word, checked, some_names
from kinetree.compiler.function import Function, check_static
from kinetree.compiler.fused import resolved
from kinetree.compiler.time_argument import timed
from kinetree.errors import DuplicateNameError, UnknownNameError, unknown_name
from kinetree.model.numbers import ScalarModel, entries, is_free
from kinetree.once import once
from kinetree.trace.differentiate import adjoints, tangents
from kinetree.trace.evaluate import evaluate
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph

MODES = ("jacobian", "jvp", "vjp", "hvp")
METHODS = ("auto", "forward", "reverse")
NUMBERS = "numbers"


class DerivativeFunction(Function):
    """A derivative of an algorithm for a model, called like every `Function`; made by :func:`differentiate`."""

    def __init__(self, spec: Spec, model, static, checks: bool, threads: int | None, request: dict):
        super().__init__(spec, model, (), static, checks, threads)
        self._request = request

    def __reduce__(self):
        options = {**self._request, "checks": self.checks, "threads": self.threads, **self.static}
        return functools.partial(differentiate, **options), (self.model,)


@checked(
    model=a_model, mode=a_word, wrt=some_names, of=some_names, optional=some_names,
    numbers=some_names, tangent=a_truth_value, method=a_word, checks=a_truth_value,
)  # fmt: skip
def differentiate(
    model,
    name: str | Sequence[str],
    mode: str = "jacobian",
    *,
    wrt: str | Sequence[str],
    of: str | Sequence[str] | None = None,
    optional: Sequence[str] = (),
    numbers: Sequence[str] = ("*",),
    tangent: bool = True,
    method: str = "auto",
    checks: bool = True,
    threads: int | None = None,
    **static,
) -> DerivativeFunction:
    r"""Compile a derivative of any algorithm for a model.

    Parameters
    ----------
    model : Model
    name : str or list of str
        The algorithm y = f(x): "rnea", "forward_dynamics", "pose" and so on; several as for `compile`.
    mode : {"jacobian", "jvp", "vjp", "hvp"}
        "jacobian": the matrices ``dy_dx``. "jvp": the product ``dy/dx x_tangent``, forward. "vjp": the product
        ``y_cotangent^T dy/dx``, reverse, at a few times the cost of f for any number of variables. "hvp": the
        product of the second derivative of ``y_cotangent . y`` with ``x_tangent``, forward over reverse.
    wrt : str or sequence of str
        The variables: inputs of the algorithm, and "numbers", the numbers of the model.
    of : str or sequence of str, optional
        The outputs to differentiate; default all.
    optional : sequence of str
        Optional inputs that the function shall take; those in ``wrt`` are taken anyway.
    numbers : sequence of str
        Which of ``model.numbers().names``; ``*`` and ``?`` stand for any characters: ``("*.mass", "forearm.I.*")``.
    tangent : bool
        Whether positions vary along the manifold. Then every position variable has nv directions, those of the
        velocities: ``d/ds f(integrate(q, s e_k))`` at s = 0. Otherwise its nq entries vary one by one, as if the
        quaternion were four free numbers; only the part along the sphere is meaningful.
    method : {"auto", "forward", "reverse"}
        Mode of differentiation of a Jacobian; "auto" takes reverse if there are fewer results than variables.
    checks : bool
    threads : int, optional
        As for :func:`kinetree.compile`.
    **static
        Static arguments of the algorithm, such as ``frame="hand", reference="world"``.

    Returns
    -------
    DerivativeFunction
        Its inputs are those of the algorithm, then ``x_tangent`` of every variable (jvp, hvp), then ``y_cotangent`` of
        every output (vjp, hvp). Its outputs are ``dy_dx`` of shape ``(*y, *x)`` for every output and variable
        (jacobian), ``y_tangent`` (jvp), ``x_cotangent`` (vjp) or ``x_hvp`` (hvp).

    Raises
    ------
    UnknownNameError
        No algorithm, input, output, number, mode or method has this name.
    DuplicateNameError
        A variable or an output is named twice.

    Notes
    -----
    Source: Griewank and Walther (2008), chapter 3, on the graph of the algorithm; exact. Rates of outputs that are
    positions (``integrate``) are those of their nq entries. The second derivative is that of ``f(integrate(q, x))``
    with respect to x at x = 0, so it is symmetric.
    Numbers that are zero in the model may be variables: their derivative is that at zero.
    Cost: jacobian, up to nv times that of the algorithm; `rnea_derivatives` and `aba_derivatives` are much cheaper for
    the dynamics. jvp and vjp, about twice, hvp, four times that of the algorithm, for any number of variables.

    See Also
    --------
    rnea_derivatives, aba_derivatives, compile

    Examples
    --------
    The derivative of a pendulum's gravity torque m g l sin(q), with respect to the angle and to the mass:

    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.pendulum(length=2.0, mass=3.0)
    >>> f = kt.differentiate(model, "gravity_forces", wrt=("q", "numbers"), numbers=["*.h.z"])
    >>> f.output_names
    ('dg_dq', 'dg_dnumbers')
    >>> bool(np.allclose(f([0.0]).dg_dq, 3.0 * 9.81 * 2.0))
    True
    """
    base, static = resolved(model, name, static)
    base = timed(base, model)
    check_static(base, model, static)
    name = base.parts or base.name
    wrt, of, optional = _names(wrt), _names(of if of is not None else base.outputs), _names(optional)
    for kind, found, known in (
        ("mode", (mode,), MODES),
        ("method", (method,), METHODS),
        ("variable", wrt, (*base.inputs, *base.optional, NUMBERS)),
        ("output", of, base.outputs),
        ("optional input", optional, base.optional),
    ):
        for entry in found:
            if entry not in known:
                raise unknown_name(kind, entry, known, f"the derivatives of {base.name!r}")
            if found.count(entry) > 1:
                raise DuplicateNameError(f"the {kind} {entry!r} is named twice", name=entry)
    if not (wrt and of):
        raise TypeError(f"the derivatives of {base.name!r} need a variable and an output, found wrt={wrt!r}, of={of!r}")
    chosen = chosen_numbers(model, numbers) if NUMBERS in wrt else ()
    present = tuple(x for x in base.optional if x in optional or x in wrt)
    spec = derivative_spec(base, mode, wrt, of, present, chosen, len(model.numbers()), tangent, method)
    request = {
        "name": name, "mode": mode, "wrt": wrt, "of": of, "optional": present, "numbers": tuple(numbers),
        "tangent": tangent, "method": method,
    }  # fmt: skip
    return DerivativeFunction(spec, model, static, checks, threads, request)


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def chosen_numbers(model, patterns: Sequence[str]) -> tuple[int, ...]:
    """The places of the numbers whose names fit one of the patterns."""
    names = model.numbers().names
    for pattern in _names(patterns):
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UnknownNameError(
                f"no number of model {model.name!r} is called {pattern!r}; the names are those of "
                f"model.numbers().names: {', '.join(names[:12])}, ...",
                kind="number",
                name=pattern,
            )
    return tuple(j for j, name in enumerate(names) if any(fnmatchcase(name, p) for p in _names(patterns)))


@once(most=256)
def derivative_spec(
    base: Spec, mode: str, wrt: tuple[str, ...], of: tuple[str, ...], present: tuple[str, ...] = (),
    chosen: tuple[int, ...] = (), total: int = 0, tangent: bool = True, method: str = "auto",
) -> Spec:  # fmt: skip
    """The Spec of a derivative; the same object for the same request, so that machine code is shared.

    Parameters
    ----------
    base : Spec
    mode, wrt, of, tangent, method
        As for `differentiate`.
    present : tuple of str
        Optional inputs that are given.
    chosen : tuple of int
        Places of the model's numbers that are variables, among ``total``.
    """
    shapes = dict(base.inputs) | {x: base.optional[x] for x in present}
    variables = {x: _variable_shape(shapes[x], tangent) if x != NUMBERS else (str(len(chosen)),) for x in wrt}
    inputs = dict(shapes)
    if mode in ("jvp", "hvp"):
        inputs |= {f"{x}_tangent": shape for x, shape in variables.items()}
    if mode in ("vjp", "hvp"):
        inputs |= {f"{y}_cotangent": base.outputs[y] for y in of}
    outputs = {
        "jacobian": {f"d{y}_d{x}": base.outputs[y] + shape for y in of for x, shape in variables.items()},
        "jvp": {f"{y}_tangent": base.outputs[y] for y in of},
        "vjp": {f"{x}_cotangent": shape for x, shape in variables.items()},
        "hvp": {f"{x}_hvp": shape for x, shape in variables.items()},
    }[mode]
    name = "_".join([base.name, mode, *wrt])
    if (of, present, chosen, tangent, method) != (tuple(base.outputs), (), (), True, "auto"):
        request = repr((of, present, chosen, total, tangent, method))
        name += "_" + hashlib.sha256(request.encode()).hexdigest()[:12]
    derivative = _Derivative(base, mode, wrt, of, present, chosen, tangent, method, tuple(outputs.values()))

    def differentiated(model, *arrays, **static):
        return derivative(model, dict(zip(inputs, arrays, strict=False)) | static)

    return Spec(
        name=name,
        function=differentiated,
        inputs=MappingProxyType(inputs),
        optional=MappingProxyType({}),
        outputs=MappingProxyType(outputs),
        static=base.static,
        domains=base.domains,
        # Numbers of the model belong to its own body frames, not to those that are turned for speed.
        body_frames=base.body_frames or NUMBERS in wrt,
        symbols=base.symbols,
    )


def _variable_shape(shape: Shape, tangent: bool) -> Shape:
    return ("nv",) if tangent and shape == ("nq",) else shape


class _Derivative:
    """The function of a derivative's Spec, over scalars of any kind."""

    def __init__(self, base: Spec, mode, wrt, of, present, chosen, tangent, method, shapes):
        self.base, self.mode, self.wrt, self.of = base, mode, wrt, of
        self.present, self.chosen, self.tangent, self.method, self.shapes = present, chosen, tangent, method, shapes

    def __call__(self, model, given: dict):
        base = self.base
        static = {x: given.pop(x) for x in base.static if x in given}
        graph = Graph()
        names = (*base.inputs, *self.present)
        arrays = {x: _inputs(graph, a, given[x]) for a, x in enumerate(names)}
        numbers = [x for _, x in entries(model)]
        symbols = [graph.param(j) if j in set(self.chosen) or _varies(x) else x for j, x in enumerate(numbers)]
        smodel = ScalarModel.over(model, symbols)  # forces whose numbers are variables are present, even if zero now
        with collected_pivots() as pivots:
            results = base.function(smodel, **arrays, **static)
        results = dict(zip(base.outputs, results if len(base.outputs) > 1 else (results,), strict=True))
        variables = [
            [graph.param(j).id for j in self.chosen] if x == NUMBERS else [e.id for e in _flat(arrays[x])]
            for x in self.wrt
        ]
        movers = [self._mover(graph, smodel, x, arrays) for x in self.wrt]
        roots = [[_node(graph, y) for y in _flat(results[name])] for name in self.of]

        # The further inputs of this derivative follow those of the algorithm.
        extra = {x: _inputs(graph, len(names) + a, given[x]) for a, x in enumerate(k for k in given if k not in names)}
        directions = [[_node(graph, e) for e in _flat(extra.get(f"{x}_tangent", []))] for x in self.wrt]
        weights = [[_node(graph, e) for e in _flat(extra.get(f"{y}_cotangent", []))] for y in self.of]
        found = getattr(self, f"_{self.mode}")(graph, roots, variables, movers, directions, weights)

        found += [[_node(graph, x) for x in pair] for pair in pivots.pairs]
        tables = [list(_flat(given[x])) for x in (*names, *extra)]
        values = iter(
            evaluate(
                graph,
                [k for part in found for k in part],
                lambda op, args: tables[args[0]][args[1]] if op == "input" else numbers[args[0]],
            )
        )
        outputs = [_nested(values, sized(shape, model)) for shape in self.shapes]
        for _ in pivots.pairs:
            require_regular(next(values), next(values))
        return outputs if len(outputs) > 1 else outputs[0]

    def _mover(self, graph, model, x, arrays):
        """Which entries each direction of a variable moves, and how fast: rows of (entry, node of the rate)."""
        if x == NUMBERS:
            return [[(j, graph.ONE)] for j in range(len(self.chosen))]
        shape = {**self.base.inputs, **self.base.optional}[x]
        count = sum(1 for _ in _flat(arrays[x]))
        if not (self.tangent and shape == ("nq",)):
            return [[(j, graph.ONE)] for j in range(count)]
        rows = []
        for i in model.outward():
            slot, nv = model.q_slice[i], model.joints[i].nv
            for k in range(nv):
                rate = model.joints[i].q_dot(arrays[x][slot], [1.0 if m == k else 0.0 for m in range(nv)])
                nodes = [(slot.start + j, _node(graph, r)) for j, r in enumerate(rate)]
                rows.append([(j, r) for j, r in nodes if r != graph.ZERO])
        return rows

    # The four modes; each gives lists of nodes, one for each output of the Spec ---------------------------------------

    def _jacobian(self, graph, roots, variables, movers, directions, weights):
        flat = [k for part in roots for k in part]
        columns = sum(len(mover) for mover in movers)
        if self.method == "reverse" or (self.method == "auto" and len(flat) < columns):
            rows = [self._pulled_back(graph, {k: graph.ONE}, variables, movers) for k in flat]
            by_variable = [[row[x] for row in rows] for x in range(len(variables))]
        else:
            seeds: dict[int, dict] = {}
            for x, (leaves, mover) in enumerate(zip(variables, movers, strict=True)):
                for d, row in enumerate(mover):
                    for j, rate in row:
                        seeds.setdefault(leaves[j], {})[x, d] = rate
            rates = tangents(graph, flat, seeds)
            by_variable = [
                [[rate.get((x, d), graph.ZERO) for d in range(len(mover))] for rate in rates]
                for x, mover in enumerate(movers)
            ]
        found, start = [], 0
        for part in roots:
            stop = start + len(part)
            found += [[k for row in rows[start:stop] for k in row] for rows in by_variable]
            start = stop
        return found

    def _jvp(self, graph, roots, variables, movers, directions, weights):
        seeds = _along(graph, variables, movers, directions)
        return [_rates(graph, part, seeds) for part in roots]

    def _vjp(self, graph, roots, variables, movers, directions, weights):
        return self._pulled_back(graph, _weighted(graph, roots, weights), variables, movers)

    def _hvp(self, graph, roots, variables, movers, directions, weights):
        """Forward over reverse, with the second derivative of the path ``integrate(q, x)`` at x = 0.

        With q' = m(q) d the path of the constant velocity d has q'' = (dm/dq m d) d, and the mixed derivative of
        ``integrate(q, s d + t e)`` is the symmetric part of (dm/dq m d) e.
        """
        seeds = _along(graph, variables, movers, directions)
        gradient = _gradients(graph, _weighted(graph, roots, weights), variables)
        changes = _split(_rates(graph, [k for part in gradient for k in part], seeds), gradient)
        found = []
        for leaves, mover, slopes, rates, d in zip(variables, movers, gradient, changes, directions, strict=True):
            turned = _turned(graph, leaves, mover, seeds, slopes, d)
            found.append([_dot(graph, rates, row, bend) for row, bend in zip(mover, turned, strict=True)])
        return found

    @staticmethod
    def _pulled_back(graph, weights, variables, movers):
        """Gradient along the directions of each variable."""
        gradients = _gradients(graph, weights, variables)
        both = zip(gradients, movers, strict=True)
        return [[_dot(graph, part, row, graph.ZERO) for row in mover] for part, mover in both]


def _gradients(graph, weights, variables):
    return _split(adjoints(graph, weights, [k for part in variables for k in part]), variables)


def _split(flat, parts):
    """A list in parts as long as these."""
    entries = iter(flat)
    return [[next(entries) for _ in part] for part in parts]


def _along(graph, variables, movers, directions):
    """Seeds of the one direction 0: the entries' rates under the given tangents."""
    seeds: dict[int, dict[int, int]] = {}
    for leaves, mover, direction in zip(variables, movers, directions, strict=True):
        rates = _moved(graph, leaves, mover, direction)
        seeds.update((leaf, {0: rate}) for leaf, rate in zip(leaves, rates, strict=True) if rate != graph.ZERO)
    return seeds


def _moved(graph, leaves, mover, direction):
    """The rates of a variable's entries along a direction."""
    rates = [graph.ZERO] * len(leaves)
    for row, d in zip(mover, direction, strict=True):
        for j, rate in row:
            rates[j] = graph.add(rates[j], graph.mul(rate, d))
    return rates


def _rates(graph, nodes, seeds):
    """The rates of nodes along the one direction 0 of the seeds."""
    return [rate.get(0, graph.ZERO) for rate in tangents(graph, nodes, seeds)]


def _dot(graph, x, row, total):
    """``total`` and the products of entries of x with their rates in a row of a mover."""
    for j, rate in row:
        total = graph.add(total, graph.mul(x[j], rate))
    return total


def _turned(graph, leaves, mover, seeds, gradient, direction):
    """``gradient . (dm e_k [m d] + dm d [m e_k]) / 2`` for each direction e_k: zero where the mover m is constant."""
    # Both terms are derivatives of the mover's entries along one direction: of column k along d, of all along e_k.
    half, found = graph.const(0.5), []
    moved = iter(_rates(graph, [rate for row in mover for _, rate in row], seeds))
    along_d = [[(j, next(moved)) for j, _ in row] for row in mover]
    swept = _moved(graph, leaves, mover, direction)
    for k, row in enumerate(mover):
        along_k = _rates(graph, swept, {leaves[j]: {0: rate} for j, rate in row})
        total = _dot(graph, gradient, along_d[k], graph.ZERO)
        found.append(graph.mul(half, _dot(graph, gradient, enumerate(along_k), total)))
    return found


def _weighted(graph, roots, weights) -> dict[int, int]:
    total: dict[int, int] = {}
    for part, w in zip(roots, weights, strict=True):
        for k, x in zip(part, w, strict=True):
            total[k] = graph.add(total[k], x) if k in total else x
    return total


# Scalars and nested lists ---------------------------------------------------------------------------------------------


def _flat(nested):
    if isinstance(nested, (list, tuple)):
        for part in nested:
            yield from _flat(part)
    else:
        yield nested


def _nested(values, shape):
    return [_nested(values, shape[1:]) for _ in range(shape[0])] if shape else next(values)


def _inputs(graph: Graph, array: int, like):
    """Input expressions in the arrangement of nested lists."""
    count = iter(range(1 << 30))

    def build(part):
        if isinstance(part, (list, tuple)):
            return [build(x) for x in part]
        return graph.input(array, next(count))

    return build(like)


def _node(graph: Graph, x) -> int:
    return x.id if isinstance(x, Expr) else graph.const(x)


def _varies(x) -> bool:
    """Whether a number of the model is one at run time: a float that is zero or infinite is structure."""
    return is_free(x) if isinstance(x, float) else True
