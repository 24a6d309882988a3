"""Functions for JAX: they compose with jit, grad, vmap, and run wherever XLA does.

XLA does not take thousands of scalar operations as they are: it copies shared values into everything that uses them, so
that the inverse dynamics of a 7-joint arm ran 10000 times slower than the machine code, and that of a humanoid did not
compile within minutes. A program is therefore run as a *table*: a loop (``lax.scan``) whose every turn takes up to
`WIDTH` operations of one kind, gathers their operands from an array of live values, and writes the results there. XLA
compiles one turn per kind of operation, whatever the length of the program.

Almost all operations are of one kind, (α a)(β b) + γ c, with factors from the table: sums, products, differences and
values that depend on the model's numbers.

*Derivatives* are JAX's own, forward and reverse. Where a ``where`` chooses, the side that is not chosen contributes
nothing, even where it is singular: arguments of singular functions that matter on one side only are replaced by 1 on
the other. At a singularity that is chosen the derivative is infinite or NaN, as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import prod

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_compiled_function, checked
from kinetree.compiler.fused import flattened
from kinetree.errors import UnsupportedError, unknown_name
from kinetree.export.wrapper import Wrapper, imported, params_of
from kinetree.trace.program import SIGNATURES, Program, leading_axes

WIDTH = 8
"""Operations per turn of the loop, at most. From 4 to 16 speed is the same within a factor of two."""

ONE, SPARE = 0, 1  # places of the constant 1 and of unused results

# Operation -> its factors (alpha, beta, gamma) and which argument stands where; None is the constant 1.
_LINEAR = {
    "mul": ((1.0, 1.0, 0.0), (0, 1, None)),
    "add": ((1.0, 1.0, 1.0), (0, None, 1)),
    "sub": ((1.0, 1.0, -1.0), (0, None, 1)),
    "neg": ((-1.0, 1.0, 0.0), (0, None, None)),
    "fma": ((1.0, 1.0, 1.0), (0, 1, 2)),
    "fms": ((1.0, 1.0, -1.0), (0, 1, 2)),
    "fnma": ((-1.0, 1.0, 1.0), (0, 1, 2)),
    # Booleans are the numbers 0 and 1.
    "and": ((1.0, 1.0, 0.0), (0, 1, None)),
    "not": ((-1.0, 1.0, 1.0), (0, None, None)),
}
_SINGULAR = {"div": 1, "sqrt": 0, "log": 0, "arctan2": 1}
"""Operations without a derivative somewhere, and the argument that is kept away from there."""


@checked(function=a_compiled_function)
def to_jax(function, *, derivatives: str = "any") -> JaxFunction:
    """A compiled function as a function of JAX arrays, for jit, grad and vmap.

    Parameters
    ----------
    function : Function
        Made by `kinetree.compile`. Its checks do not apply: JAX cannot raise from compiled code. Inputs that are not
        finite give NaN, and quaternions are taken as they are.
    derivatives : {"any", "reverse"}
        "any": JAX differentiates the loop itself, in both modes; reverse mode costs a hundred times the function.
        "reverse": gradients are a second table, that of the library's reverse mode, at a few times the cost of the
        function; JAX then refuses forward mode, except over a gradient: ``jacfwd(grad(g))``.

    Returns
    -------
    JaxFunction
        ``g(*arrays)`` with the inputs of the function, ``(..., *shape)`` with leading axes that broadcast; float64 if
        an array is and JAX's ``jax_enable_x64`` is set, else float32. One array, or a named tuple of them.

    Raises
    ------
    MissingDependencyError
        JAX is not installed.

    Notes
    -----
    Derivatives with respect to a position that holds quaternions are those of its four entries, as if they were free;
    `kinetree.differentiate` moves along the sphere. For speed on a CPU call the function itself.

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.export.jax import to_jax
    >>> energy = to_jax(kt.compile(kt.models.double_pendulum(), "potential_energy"))   # doctest: +SKIP
    >>> jax.vmap(jax.grad(energy))(jax.numpy.zeros((1000, 2))).shape                    # doctest: +SKIP
    (1000, 2)
    """
    return JaxFunction(function, derivatives)


class JaxFunction(Wrapper):
    """A compiled function called with JAX arrays; made by `jax`.

    Attributes
    ----------
    function : Function
        The compiled function.
    derivatives : str
        How JAX differentiates it.
    """

    package = "JAX"

    def __init__(self, function, derivatives: str) -> None:
        if derivatives not in ("any", "reverse"):
            raise unknown_name("choice of derivatives", derivatives, ("any", "reverse"), "functions for JAX")
        jax = imported(
            "jax", "functions for JAX need the package jax, which is not installed: pip install jax (or jax[cuda12])."
        )
        super().__init__(function)
        self.derivatives = derivatives
        evaluate = _evaluation(jax, self)
        self._compiled = jax.jit(evaluate if derivatives == "any" else _with_gradient(jax, self, evaluate))

    def __call__(self, *args, **named):
        return self._compiled(*self.bound(args, named))

    def __reduce__(self):
        return JaxFunction, (self.function, self.derivatives)


def _evaluation(jax, wrapper: JaxFunction) -> Callable:
    """The table of a function on any leading axes."""
    jnp, function = jax.numpy, wrapper.function
    program, pack, caller = function.program, function._pack, f"{function.name}: "
    table = tabulate(program, params_of(function))
    # Params of every state are a last input, which no caller gives.
    further = [function.params[np.dtype(np.float64)]] if function is not wrapper.plain else []

    def evaluate(*arrays):
        arrays = [jnp.asarray(x) for x in arrays]
        dtype = jnp.result_type(jnp.float32, *(x.dtype for x in arrays))
        arrays += [jnp.asarray(x, dtype) for x in further]
        declared = zip(arrays, program.inputs, strict=True)
        batches = [leading_axes(name, x.shape, shape, caller) for x, (name, shape) in declared]
        batch = jnp.broadcast_shapes(*batches)
        count = prod(batch)
        rows = [
            jnp.broadcast_to(x.astype(dtype), (*batch, *shape)).reshape(count, prod(shape)).T
            for x, (_, shape) in zip(arrays, program.inputs, strict=True)
        ]
        outputs = _run(jax, table, jnp.concatenate(rows), count, dtype)
        outputs = [y.T.reshape(*batch, *shape) for y, (_, shape) in zip(outputs, program.outputs, strict=True)]
        return pack(outputs)

    return evaluate


def _with_gradient(jax, wrapper: JaxFunction, evaluate) -> Callable:
    """The function with the library's reverse mode as its gradient."""
    function, product = wrapper.function, []
    if function.name not in ALGORITHMS and not function.spec.parts:
        raise UnsupportedError(f'{function.name} is a derivative itself: derivatives="any" differentiates it.')

    def gradient(arrays, cotangents):
        if not product:
            product.append(JaxFunction(wrapper.derivative("vjp", wrapper.plain.input_names), "any"))
        found = product[0](*arrays, *flattened(cotangents))
        found = found if isinstance(found, tuple) else (found,)
        return tuple(_summed(y, jax.numpy.shape(x)).astype(x.dtype) for x, y in zip(arrays, found, strict=True))

    differentiable = jax.custom_vjp(evaluate)
    differentiable.defvjp(lambda *arrays: (evaluate(*arrays), arrays), gradient)
    # Whole numbers have no gradients: they become floats before.
    floats = jax.numpy.float32
    return lambda *arrays: differentiable(
        *(jax.numpy.asarray(x, jax.numpy.result_type(jax.numpy.asarray(x).dtype, floats)) for x in arrays)
    )


def _summed(y, shape):
    """A cotangent of the whole batch, for an array that was broadcast to it."""
    if y.shape == shape:
        return y
    extra = y.ndim - len(shape)
    axes = tuple(k for k in range(y.ndim) if k < extra or (shape[k - extra] == 1 and y.shape[k] != 1))
    return y.sum(axes).reshape(shape)


@dataclass(frozen=True, slots=True)
class Table:
    """A program as turns of a loop.

    Parameters
    ----------
    kinds : tuple of str
        The kinds of operations that occur; the first is the linear one, "linear".
    kind : (turns,) int array
        Kind of each turn.
    sources : (turns, WIDTH, 3) int array
        Places of the operands.
    factors : (turns, WIDTH, 3) array
        Factors of the operands.
    targets : (turns, WIDTH) int array
        Places of the results.
    places : int
        How many values live at once, at most.
    entries, starts : int arrays
        Entries of the inputs, counted through, and the places where they are at first.
    results : tuple of (places, factors)
        Where each output stands at the end.
    """

    kinds: tuple[str, ...]
    kind: np.ndarray
    sources: np.ndarray
    factors: np.ndarray
    targets: np.ndarray
    places: int
    entries: np.ndarray
    starts: np.ndarray
    results: tuple[tuple[np.ndarray, np.ndarray], ...]


def _last_turns(code, turns, results) -> dict[int, int]:
    """The turn that takes a value last; the one after all others for outputs."""
    last: dict[int, int] = {}
    for turn, (_, values) in enumerate(turns):
        for value in values:
            last.update(dict.fromkeys(_arguments(code[value]), turn))
    return last | dict.fromkeys(results, len(turns))


def tabulate(program: Program, params: np.ndarray | None) -> Table:
    """Arrange a program in turns of at most `WIDTH` operations of one kind.

    Parameters
    ----------
    program : Program
    params : array or None
        Values of its prologue.
    """
    code = guarded(program)
    results = [value for result in program.results for value in result]
    turns = _turns(code, results)
    offsets = np.cumsum([0, *(prod(shape) for _, shape in program.inputs)])

    # Places: a value has one from the turn that makes it to the turn that takes it last, an output to the end.
    last = _last_turns(code, turns, results)
    place: dict[int, int] = {}
    inputs = [value for value, operation in enumerate(code) if operation[0] == "input" and value in last]
    for value in inputs:
        place[value] = len(place) + 2
    count = len(place) + 2
    free: list[int] = []
    ending: dict[int, list[int]] = {}
    for value, t in last.items():
        ending.setdefault(t, []).append(value)
    kinds = ["linear"]
    sources = np.full((len(turns), WIDTH, 3), ONE)
    factors = np.ones((len(turns), WIDTH, 3))
    targets = np.full((len(turns), WIDTH), SPARE)
    kind = np.zeros(len(turns), int)

    def operand(value) -> tuple[int, float]:
        op, *args = code[value]
        if op == "const":
            return ONE, args[0]
        return (ONE, float(params[args[0]])) if op == "param" else (place[value], 1.0)

    for t, (name, values) in enumerate(turns):
        if name not in kinds:
            kinds.append(name)
        kind[t] = kinds.index(name)
        for slot, value in enumerate(values):
            op, *args = code[value]
            signs, order = _LINEAR.get(op, ((1.0, 1.0, 1.0), (*range(len(args)), *[None] * (3 - len(args)))))
            for position, (sign, argument) in enumerate(zip(signs, order, strict=True)):
                where, factor = (ONE, 1.0) if argument is None else operand(args[argument])
                sources[t, slot, position], factors[t, slot, position] = where, sign * factor
        for value in ending.get(t, ()):  # operands are read before results are written
            if code[value][0] not in ("const", "param"):
                free.append(place[value])
        for slot, value in enumerate(values):
            if free:
                place[value] = free.pop()
            else:
                place[value], count = count, count + 1
            targets[t, slot] = place[value]
    ends = []
    for result in program.results:
        found = [operand(value) for value in result]
        ends.append((np.array([where for where, _ in found], int), np.array([factor for _, factor in found])))
    return Table(
        kinds=tuple(kinds),
        kind=kind,
        sources=sources,
        factors=factors,
        targets=targets,
        places=count,
        entries=np.array([offsets[code[value][1]] + code[value][2] for value in inputs], int),
        starts=np.array([place[value] for value in inputs], int),
        results=tuple(ends),
    )


def guarded(program: Program) -> list[tuple]:
    """The program's code, with the arguments of singular operations replaced by 1 where a `where` discards the result.

    The value does not change, and the derivative of the discarded side becomes zero instead of zero times infinity.
    Operations that are added stand at the end of the list: it is no longer in order.
    """
    code = list(program.code)
    needed: dict[int, frozenset | None] = {v: frozenset() for result in program.results for v in result}
    # value -> the (condition, truth) under which alone it matters; absent: it does not matter at all
    for k in range(len(code) - 1, -1, -1):
        op, *args = code[k]
        if k not in needed or op not in SIGNATURES:
            continue
        for position, a in enumerate(args):
            under = needed[k]
            if op == "where" and position:
                under = under | {(args[0], position == 1)}
            needed[a] = needed[a] & under if a in needed else under
    guards: dict[frozenset, int] = {}

    def added(*operation) -> int:
        code.append(operation)
        return len(code) - 1

    for k in range(len(program.code)):
        op, *args = code[k]
        if op not in _SINGULAR or not needed.get(k):
            continue
        under = needed[k]
        if under not in guards:
            literals = [c if truth else added("not", c) for c, truth in sorted(under)]
            guard = literals[0]
            for literal in literals[1:]:
                guard = added("and", guard, literal)
            guards[under] = guard
        position = _SINGULAR[op]
        args[position] = added("where", guards[under], args[position], added("const", 1.0))
        code[k] = (op, *args)
    return code


def _arguments(operation: tuple) -> list[int]:
    return list(operation[1:]) if operation[0] in SIGNATURES else []


def _turns(code: list[tuple], results: list[int]) -> list[tuple[str, list[int]]]:
    """The order: (kind, operations), each turn with the operation that has waited longest and others of its kind."""
    live, stack = set(), list(results)
    while stack:
        value = stack.pop()
        if value not in live:
            live.add(value)
            stack += _arguments(code[value])
    users: dict[int, list[int]] = {}
    waiting = {}
    for value in live:
        arguments = {a for a in _arguments(code[value]) if code[a][0] in SIGNATURES}
        waiting[value] = len(arguments)
        for a in arguments:
            users.setdefault(a, []).append(value)
    ready: dict[str, list[int]] = {}
    for value in live:
        if code[value][0] in SIGNATURES and not waiting[value]:
            ready.setdefault(_kind(code[value]), []).append(value)
    for heap in ready.values():
        heapify(heap)
    turns = []
    while ready:
        kind = min(ready, key=lambda name: ready[name][0])
        heap = ready[kind]
        values = [heappop(heap) for _ in range(min(WIDTH, len(heap)))]
        if not heap:
            del ready[kind]
        for value in values:
            for user in users.get(value, ()):
                waiting[user] -= 1
                if not waiting[user]:
                    heappush(ready.setdefault(_kind(code[user]), []), user)
        turns.append((kind, values))
    return turns


def _kind(operation: tuple) -> str:
    return "linear" if operation[0] in _LINEAR else operation[0]


def _run(jax, table: Table, rows, count: int, dtype) -> list:
    """Evaluate a table for `count` states; `rows` holds one row for every entry of the inputs."""
    jnp = jax.numpy
    meaning = {
        "linear": lambda a, b, c: a * b + c,
        "div": lambda a, b, c: a / b,
        "sqrt": lambda a, b, c: jnp.sqrt(a),
        "sin": lambda a, b, c: jnp.sin(a),
        "cos": lambda a, b, c: jnp.cos(a),
        "abs": lambda a, b, c: jnp.abs(a),
        "exp": lambda a, b, c: jnp.exp(a),
        "log": lambda a, b, c: jnp.log(a),
        "tanh": lambda a, b, c: jnp.tanh(a),
        "arctan2": lambda a, b, c: jnp.arctan2(a, b),
        "lt": lambda a, b, c: (a < b).astype(dtype),
        "le": lambda a, b, c: (a <= b).astype(dtype),
        "eq": lambda a, b, c: (a == b).astype(dtype),
        "or": lambda a, b, c: jnp.maximum(a, b),
        "where": lambda a, b, c: jnp.where(a != 0, b, c),
    }
    branches = [meaning[kind] for kind in table.kinds]
    values = jnp.zeros((table.places, count), dtype).at[ONE].set(1.0)
    if len(table.starts):
        values = values.at[table.starts].set(rows[table.entries])

    def turn(values, step):
        kind, sources, factors, targets = step
        operands = [factors[:, k, None] * values[sources[:, k]] for k in range(3)]
        made = branches[0](*operands) if len(branches) == 1 else jax.lax.switch(kind, branches, *operands)
        return values.at[targets].set(made, mode="promise_in_bounds"), None

    steps = (table.kind, table.sources, jnp.asarray(table.factors, dtype), table.targets)
    if len(table.kind):
        values, _ = jax.lax.scan(turn, values, steps)
    return [jnp.asarray(factors, dtype)[:, None] * values[places] for places, factors in table.results]
