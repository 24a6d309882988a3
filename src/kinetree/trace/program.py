"""Program: the straight-line code that every back end takes, and the interpreter that defines its meaning.

A Program is data only: tuples of short strings, integers and floats. Every operation of the code is one value, numbered
by its position; there are no jumps, so one evaluation does the same operations in the same order for every input.

==================================  =======================================================================
operation                           value
==================================  =======================================================================
``("const", x)``                    the float x
``("input", array, index)``         entry `index` (flat, C order) of input number `array`
``("param", j)``                    output j of the prologue
``("neg", a)``                      -a
``("add" | "sub", a, b)``           a + b, a - b
``("mul" | "div", a, b)``           a b, a / b
``("fma", a, b, c)``                a b + c, rounded once
``("fms", a, b, c)``                a b - c, rounded once
``("fnma", a, b, c)``               c - a b, rounded once
``("sqrt" | "sin" | "cos", a)``     functions of one value; also ``abs``, ``exp``, ``log``, ``tanh``
``("arctan2", a, b)``               the angle of the point (b, a)
``("lt" | "le" | "eq", a, b)``      booleans: a < b, a <= b, a = b; false when a or b is NaN
``("and" | "or", a, b)``            booleans of booleans; also ``("not", a)``
``("where", cond, a, b)``           a where cond holds, else b
==================================  =======================================================================
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from kinetree.errors import CompilationError, ShapeError
from kinetree.trace.operations import Operations

FORMAT = 5
"""Version of the serialized form; raise it when that or the meaning of any operation changes."""

# Operation -> (types of the arguments, type of the value): f float, b boolean.
SIGNATURES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("neg", "sqrt", "sin", "cos", "abs", "exp", "log", "tanh"), ("f", "f")),
    **dict.fromkeys(("add", "sub", "mul", "div", "arctan2"), ("ff", "f")),
    **dict.fromkeys(("fma", "fms", "fnma"), ("fff", "f")),
    **dict.fromkeys(("lt", "le", "eq"), ("ff", "b")),
    **dict.fromkeys(("and", "or"), ("bb", "b")),
    "not": ("b", "b"),
    "where": ("bff", "f"),
}
LEAVES = ("const", "input", "param")
ARGUMENTS = {"const": 0, "input": 2, "param": 1, **{op: len(expected) for op, (expected, _) in SIGNATURES.items()}}
"""How many integers an operation holds."""


def is_zero(operation: tuple) -> bool:
    """Whether an operation is the constant 0, and not -0."""
    return operation[0] == "const" and operation[1].hex() == "0x0.0p+0"


def leading_axes(name: str, found: tuple[int, ...], shape: tuple[int, ...], caller: str = "") -> tuple[int, ...]:
    """The leading axes of an array of some shape, whose last ones must be those declared."""
    split = len(found) - len(shape)
    if split < 0 or found[split:] != shape:
        expected = ", ".join(["...", *map(str, shape)])
        message = f"{caller}{name} has shape {found}, expected ({expected})."
        raise ShapeError(message, name=name, expected=shape, found=found)
    return found[:split]


@dataclass(frozen=True, slots=True)
class Program:
    """Straight-line code over flat arrays, the common input of all back ends.

    Parameters
    ----------
    inputs, outputs : tuple of (str, tuple of int)
        Name and shape of each array; entries are numbered flat, in C order.
    code : tuple of tuple
        ``code[k]`` computes value k from values before it; the operations stand in the module's table.
    results : tuple of tuple of int
        For each output the value numbers of its entries.
    checks : tuple of (str, int)
        Label and boolean value; true means that the input lies outside the domain.
    prologue : Program or None
        Computes the params from one input ``numbers``, the model's numbers; its single output is ``params``. It is None
        when the code has no params.
    cuts : tuple of int
        Positions in the code, ascending, at which stretches of it begin that may repeat others: back ends that share
        code between them do so for stretches from cut to cut. They mean nothing for the values.
    guards : tuple of (int, int, tuple, tuple)
        Stretches of the code from cut to cut, as (start, stop, values, pairs): where one of these values is 0, the
        first value of each pair is the second one, and no other value of the stretch matters outside, so that back ends
        may skip it.

    Raises
    ------
    CompilationError
        The parts do not fit together: an argument that is not an earlier value, a boolean where a float belongs.
    """

    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    code: tuple[tuple, ...]
    results: tuple[tuple[int, ...], ...]
    checks: tuple[tuple[str, int], ...] = ()
    prologue: Program | None = None
    cuts: tuple[int, ...] = ()
    guards: tuple[tuple[int, int, tuple[int, ...], tuple[tuple[int, int], ...]], ...] = ()
    size: int = field(default=0, init=False, repr=False, compare=False)  # number of values
    _late: bytes = field(default=b"", init=False, repr=False, compare=False)  # the parts that are not read yet
    _digest: str = field(default="", init=False, repr=False, compare=False)
    packs: list | None = field(default=None, init=False, repr=False, compare=False)  # see `packing`

    def __post_init__(self) -> None:
        _validate(self)
        object.__setattr__(self, "size", len(self.code))

    def __getattr__(self, name: str):
        """The parts that a program from the cache reads on first use; its machine code is there."""
        if name not in _LATE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        try:
            parts = _unpack_late(json.loads(self._late))
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise _unreadable(error) from error
        for part, value in zip(_LATE, parts, strict=True):
            object.__setattr__(self, part, value)
        return getattr(self, name)

    def keep_packs(self, packs: list) -> None:
        """Note what `packing` found."""
        object.__setattr__(self, "packs", packs)

    @property
    def params(self) -> int:
        """Number of params, values that depend on model numbers alone."""
        return 0 if self.prologue is None else len(self.prologue.results[0])

    @property
    def operations(self) -> Operations:
        """Operation counts by kind."""
        return Operations.of(self.code)

    def is_boolean(self, value: int) -> bool:
        """Whether a value is a truth value."""
        return SIGNATURES.get(self.code[value][0], "ff")[1] == "b"

    def needed(self, checks: bool) -> list[bool]:
        """Which values the results need, and the checks if they are evaluated."""
        needed = [False] * self.size
        for value in (*itertools.chain(*self.results), *(value for _, value in self.checks if checks)):
            needed[value] = True
        for value in range(self.size - 1, -1, -1):
            op, *args = self.code[value]
            if needed[value] and op in SIGNATURES:
                for a in args:
                    needed[a] = True
        return needed

    def interpret(self, arrays: Sequence | Mapping, numbers: object = None) -> tuple[np.ndarray, ...]:
        """Evaluate with NumPy: the reference of every back end, in any float type.

        Parameters
        ----------
        arrays : sequence or mapping of array_like
            The inputs in order or by name, each of shape ``(..., *shape)``; the leading axes broadcast.
        numbers : array_like, optional
            The model's numbers, shape ``(..., n)``. Needed if the program has a prologue.

        Returns
        -------
        tuple of ndarray
            The outputs, each of shape ``(..., *shape)``, in the common float type of the inputs.

        Raises
        ------
        ShapeError
            An array's trailing axes are not the declared ones.

        Notes
        -----
        Fused operations are computed with two roundings here. Values outside a function's domain give NaN or infinity,
        without warnings.
        """
        values, batch, dtype = self._values(arrays, numbers)
        outputs = []
        for (_, shape), result in zip(self.outputs, self.results, strict=True):
            flat = np.empty((*batch, len(result)), dtype)
            for k, value in enumerate(result):
                flat[..., k] = values[value]
            outputs.append(flat.reshape((*batch, *shape)))
        return tuple(outputs)

    def violations(self, arrays: Sequence | Mapping, numbers: object = None) -> tuple[tuple[str, np.ndarray], ...]:
        """Evaluate the checks: label and boolean array over the batch, true where the input is outside the domain.

        Parameters
        ----------
        arrays, numbers
            As for `interpret`.
        """
        values, batch, _ = self._values(arrays, numbers)
        return tuple((label, np.broadcast_to(np.asarray(values[value]), batch)) for label, value in self.checks)

    def _values(self, arrays, numbers) -> tuple[list, tuple[int, ...], np.dtype]:
        if isinstance(arrays, Mapping):
            arrays = [arrays[name] for name, _ in self.inputs]
        arrays = [np.asarray(array) for array in arrays]
        if len(arrays) != len(self.inputs):
            raise ShapeError(
                f"program takes the arrays {[name for name, _ in self.inputs]}, found {len(arrays)} of them.",
                expected=len(self.inputs),
                found=len(arrays),
            )
        if self.prologue is not None and numbers is None:
            raise ShapeError("program depends on model numbers, but none were given: pass numbers=.")
        floats = [array.dtype for array in arrays if array.dtype.kind == "f"]
        if numbers is not None:
            numbers = np.asarray(numbers)
        dtype = np.result_type(*floats) if floats else np.dtype(float) if numbers is None else numbers.dtype
        flat, batches = [], []
        for array, (name, shape) in zip(arrays, self.inputs, strict=True):
            batches.append(leading_axes(name, array.shape, shape))
            flat.append(array.astype(dtype, copy=False).reshape(*batches[-1], prod(shape)))
        params = None
        if self.prologue is not None:
            (params,) = self.prologue.interpret([numbers.astype(dtype, copy=False)])
            batches.append(params.shape[:-1])
        values: list = []
        with np.errstate(all="ignore"):
            for op, *args in self.code:
                if op == "const":
                    value = dtype.type(args[0])
                elif op == "input":
                    value = flat[args[0]][..., args[1]]
                elif op == "param":
                    value = params[..., args[0]]
                else:
                    value = _MEANING[op](*(values[arg] for arg in args))
                values.append(value)
        return values, np.broadcast_shapes(*batches), dtype

    def to_bytes(self) -> bytes:
        """Serialize exactly (floats in hexadecimal); two lines of JSON, so reading them back runs no code."""
        prologue = self.prologue
        head = [FORMAT, self.size, self.inputs, self.outputs, prologue and [_pack(prologue, part) for part in (0, 1)]]
        return b"\n".join(json.dumps(part, separators=(",", ":")).encode() for part in (head, _pack(self, 1)))

    @classmethod
    def from_bytes(cls, data: bytes, trusted: bool = False) -> Program:
        """Read the bytes written by `to_bytes`.

        Parameters
        ----------
        data : bytes
        trusted : bool
            Whether a checksum has shown the bytes to be those written: then the parts are not examined, and
            the code is read on first use. That is nine tenths of the time.

        Raises
        ------
        CompilationError
            The bytes are not a program of this version.
        """
        try:
            head, _, late = data.partition(b"\n")
            version, size, inputs, outputs, prologue = json.loads(head)
            if version != FORMAT:
                raise CompilationError(f"serialized program has format {version}, expected {FORMAT}: compile it again.")
            early = *_unpack_early(inputs, outputs), prologue and _unpack_prologue(*prologue, trusted)
            if not trusted:
                code, *rest = _unpack_late(json.loads(late))
                program = cls(*early[:2], code, *rest[:2], early[2], *rest[2:])
                if program.size != size:
                    raise ValueError(f"{program.size} values, expected {size}")
                return program
            if not late:
                raise ValueError("the code is missing")
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise _unreadable(error) from error
        digest = hashlib.sha256(data).hexdigest()
        inputs, outputs, prologue = early
        return _unexamined(
            inputs=inputs, outputs=outputs, prologue=prologue, size=size, _late=late, _digest=digest,
        )  # fmt: skip

    def digest(self) -> str:
        """SHA-256 of the whole content, in hexadecimal: equal programs have equal digests in every process."""
        if not self._digest:
            object.__setattr__(self, "_digest", hashlib.sha256(self.to_bytes()).hexdigest())
        return self._digest


_LATE = ("code", "results", "checks", "cuts", "guards")


def _unreadable(error: Exception) -> CompilationError:
    return CompilationError(f"not a serialized program: {error}. Delete the file and compile again.")


_NUMPY = {
    **{op: op for op in ("add", "sqrt", "sin", "cos", "abs", "exp", "log", "tanh", "arctan2", "where")},
    **{"neg": "negative", "sub": "subtract", "mul": "multiply", "div": "divide"},
    **{"lt": "less", "le": "less_equal", "eq": "equal"},
    **{op: f"logical_{op}" for op in ("and", "or", "not")},
}
_MEANING = {
    **{op: getattr(np, name) for op, name in _NUMPY.items()},
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
}


def _validate(program: Program) -> None:
    """Raise CompilationError unless every part refers to something that exists and has the right type."""

    def reject(what: str) -> None:
        raise CompilationError(f"malformed program: {what}.", program=program)

    sizes = [prod(shape) for _, shape in program.inputs]
    types: list[str] = []
    for k, (op, *args) in enumerate(program.code):
        if op in SIGNATURES:
            expected, kind = SIGNATURES[op]
            if len(args) != len(expected):
                reject(f"value {k} = {op}{tuple(args)} takes {len(expected)} arguments")
            for arg, wanted in zip(args, expected, strict=True):
                if not 0 <= arg < k:
                    reject(f"value {k} = {op}{tuple(args)} uses value {arg}, which does not come before it")
                if types[arg] != wanted:
                    found, wanted = ("a boolean", "a float") if wanted == "f" else ("a float", "a boolean")
                    reject(f"value {k} = {op}{tuple(args)} needs {wanted}, but value {arg} is {found}")
            types.append(kind)
            continue
        if op == "const":
            if len(args) != 1 or type(args[0]) is not float:
                reject(f"value {k} = const{tuple(args)} is not one Python float")
        elif op == "input":
            if len(args) != 2 or not (0 <= args[0] < len(sizes) and 0 <= args[1] < sizes[args[0]]):
                reject(f"value {k} = input{tuple(args)} is not an entry of the inputs {program.inputs}")
        elif op == "param":
            if len(args) != 1 or not 0 <= args[0] < program.params:
                reject(f"value {k} = param{tuple(args)}, but the prologue computes {program.params} params")
        else:
            reject(f"value {k} has the unknown operation {op!r}; known: {', '.join((*LEAVES, *SIGNATURES))}")
        types.append("f")
    if len(program.results) != len(program.outputs):
        reject(f"{len(program.results)} results for {len(program.outputs)} outputs")
    for (name, shape), result in zip(program.outputs, program.results, strict=True):
        if len(result) != prod(shape):
            reject(f"output {name!r} of shape {shape} has {len(result)} results")
        for value in result:
            if not 0 <= value < len(types) or types[value] != "f":
                reject(f"output {name!r} refers to value {value}, which is not a float value")
    for label, value in program.checks:
        if not 0 <= value < len(types) or types[value] != "b":
            reject(f"check {label!r} refers to value {value}, which is not a boolean value")
    bounds = (0, *program.cuts, len(types)) if program.cuts else ()  # a program without operations has no code to cut
    if any(not low < high for low, high in itertools.pairwise(bounds)):
        reject("the cuts do not ascend within the code")
    _validate_guards(program, types, reject)
    prologue = program.prologue
    if prologue is not None and (
        len(prologue.inputs) != 1 or len(prologue.outputs) != 1 or prologue.prologue is not None or prologue.checks
    ):
        reject("the prologue has one input, one output, no checks and no prologue of its own")


def _validate_guards(program: Program, types: list[str], reject: Callable[[str], None]) -> None:
    """Guards are of stretches from cut to cut, by floats that are there before."""
    end, bounds = 0, {0, *program.cuts, len(types)}

    def is_before(value: int, start: int) -> bool:
        there = 0 <= value < start or (0 <= value < len(types) and program.code[value][0] in LEAVES)
        return there and types[value] == "f"

    for start, stop, values, pairs in program.guards:
        known = bool(values) and all(is_before(value, start) for value in values)
        if not (start in bounds and stop in bounds and end <= start < stop and known):
            reject(f"the guard of values {start} to {stop} by values {values} is not one of stretches between cuts")
        if any(not (start <= a < stop and types[a] == "f" and is_before(b, start)) for a, b in pairs):
            reject(f"the guard of values {start} to {stop} has pairs that are not a value of it and one before it")
        end = stop


def _pack(program: Program, part: int) -> list:
    """Inputs and outputs, or the late parts, as JSON takes them; the code in three long lists, which are read much
    faster than many short ones."""
    if part == 0:
        return [program.inputs, program.outputs]
    operations = " ".join([operation[0] for operation in program.code])
    arguments = [x for operation in program.code if operation[0] != "const" for x in operation[1:]]
    constants = [operation[1].hex() for operation in program.code if operation[0] == "const"]
    return [(operations, arguments, constants), program.results, program.checks, program.cuts, program.guards]


def _unpack_early(inputs: list, outputs: list) -> tuple[tuple, tuple]:
    return tuple([tuple((name, tuple(shape)) for name, shape in part) for part in (inputs, outputs)])


def _unpack_late(packed: list) -> tuple[tuple, tuple, tuple, tuple, tuple]:
    """The parts named in `_LATE`."""
    (operations, arguments, constants), results, checks, cuts, guards = packed
    code, place, found = [], 0, 0
    for op in operations.split():
        end = place + ARGUMENTS[op]
        if op == "const":
            code.append(("const", float.fromhex(constants[found])))
            found += 1
        else:
            code.append((op, *arguments[place:end]))
        place = end
    if (place, found) != (len(arguments), len(constants)):
        raise ValueError("operations and arguments differ in number")
    guards = tuple((start, stop, tuple(values), tuple(map(tuple, pairs))) for start, stop, values, pairs in guards)
    checks = tuple((label, value) for label, value in checks)
    return tuple(code), tuple(map(tuple, results)), checks, tuple(cuts), guards


def _unpack_prologue(early: list, late: list, trusted: bool) -> Program:
    early, (code, results, checks, *rest) = _unpack_early(*early), _unpack_late(late)
    if not trusted:
        return Program(*early, code, results, checks, None, *rest)
    parts = dict(zip(("inputs", "outputs", *_LATE), (*early, code, results, checks, *rest), strict=True))
    return _unexamined(**parts, prologue=None, size=len(code), _late=b"", _digest="")


def _unexamined(**parts: object) -> Program:
    program = object.__new__(Program)
    for name, part in {"packs": None, **parts}.items():
        object.__setattr__(program, name, part)
    return program
