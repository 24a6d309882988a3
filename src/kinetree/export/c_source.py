"""C99 source of a compiled function: a header, a source file and a test program, for machines without Python.

The source is the program that the library compiles, operation by operation. It includes ``<math.h>`` only, allocates
nothing, keeps nothing between calls and so may be called from any thread.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np

from kinetree.arguments import a_compiled_function, a_name, checked, choice
from kinetree.errors import CompilationError, UnsupportedError
from kinetree.export import c_layout
from kinetree.export.c_code import FLAGS, Dialect, Routine, sincos_text
from kinetree.export.c_elementary import FUNCTIONS, elementary_text
from kinetree.export.c_harness import harness
from kinetree.files import write_text
from kinetree.native.c_names import comment, identifier, identifiers, is_free
from kinetree.trace.program import Operations, Program

_REAL = {"float64": "double", "float32": "float"}
_PER_LINE = 6


@dataclass(frozen=True, slots=True)
class CSource:
    """C99 source of one function for one robot.

    Attributes
    ----------
    name : str
        The C function, and the stem of the files.
    header, source, test : str
        Texts of ``name.h``, ``name.c`` and ``test_name.c``.
    operations : Operations
        Of one evaluation.
    scratch_bytes : int
        Stack that the function's own array takes, without the compiler's own.
    """

    name: str
    header: str = field(repr=False)
    source: str = field(repr=False)
    test: str = field(repr=False)
    operations: Operations
    scratch_bytes: int

    @property
    def files(self) -> dict[str, str]:
        """Text by file name."""
        return {f"{self.name}.h": self.header, f"{self.name}.c": self.source, f"test_{self.name}.c": self.test}

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Write the files into a folder, which is created if it does not exist.

        Parameters
        ----------
        folder : str or Path

        Returns
        -------
        tuple of Path
            The files written: header, source, test program.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for file, text in self.files.items():
            paths.append(folder / file)
            write_text(paths[-1], text)
        return tuple(paths)


@checked(function=a_compiled_function, name=a_name)
def to_c(
    function,
    *,
    name: str | None = None,
    dtype: str = "float64",
    parameters: str = "baked",
    sincos: str = "own",
    states: int = 4,
) -> CSource:
    """C99 source of a function.

    Parameters
    ----------
    function : Function
        Made by ``kt.compile``; with ``checks=False`` the C code has no checks either.
    name : str, optional
        The C function. Default: robot, algorithm and static choices.
    dtype : {"float64", "float32"}
        ``double`` or ``float``.
    parameters : {"baked", "input"}
        ``"input"``: masses, inertias, offsets and the other numbers of the model are arguments; ``NAME_prepare``
        computes from them once the numbers that all evaluations share.
    sincos : {"own", "libm"}
        ``"own"`` emits the library's sine and cosine, and its exp, log, tanh and atan2, for equal bits; ``"libm"``
        calls the C library's.
    states : int
        States with the library's own results in the test program.

    Returns
    -------
    CSource

    Raises
    ------
    CompilationError
        The name is not a C identifier, or a number of the model is NaN.
    UnknownNameError
        An option has another value than those above.
    UnsupportedError
        The function's numbers differ from state to state.

    Notes
    -----
    Source: Featherstone (2008), section 10.4, the two-stage generator of figure 10.6. The same model gives the same
    text. With ``sincos="own"``, a processor with fused multiply-add that the C compiler may use, and no fusing of its
    own (the flags in the header), results are the library's bit for bit; else they differ by rounding.
    With ``parameters="input"`` the numbers are those of ``model.numbers()``; where the library turns body axes for
    speed, this program does not, and agrees to rounding only.

    Examples
    --------
    >>> import kinetree as kt
    >>> c = kt.export.to_c(kt.compile(kt.models.pendulum(), "rnea"))
    >>> c.name, [line for line in c.header.splitlines() if line.startswith("int")]
    ('pendulum_rnea', ['int pendulum_rnea(const double *q, const double *v, const double *a, double *tau);'])
    """
    if hasattr(function, "base"):  # numbers that differ from state to state
        raise UnsupportedError(
            f"{function.name}: its numbers differ from state to state; the source of the function of the model with "
            'parameters="input" takes them as an argument.'
        )
    for what, value, known in (
        ("dtype", dtype, tuple(_REAL)),
        ("parameters", parameters, ("baked", "input")),
        ("sincos", sincos, ("own", "libm")),
    ):
        choice(what, value, known, "c_source")
    if name is None:
        name = identifier("_".join([function.model.name, function.name, *map(str, function.static.values())]))
    elif not is_free(name):
        raise CompilationError(f"{name!r} is no name for a C function; try {identifier(name)!r}.", name=name)
    return _Writer(function, name, dtype, parameters == "input", sincos == "own").written(states)


class _Writer:
    """The parts that header, source and test program share."""

    def __init__(self, function, name: str, dtype: str, as_input: bool, own: bool) -> None:
        self.function, self.name, self.dtype = function, name, dtype
        self.real = _REAL[dtype]
        self.model, self.spec = function.model, function.spec
        self.program, self.basis, structure = _resolved(function, as_input)
        self.as_input = as_input and self.program.prologue is not None
        names = [array for array, _ in (*self.program.inputs, *self.program.outputs)]
        self.arrays = tuple(identifiers(names, {name}))
        count = len(self.program.inputs)
        self.inputs, self.outputs = self.arrays[:count], self.arrays[count:]
        self.dialect = Dialect(self.real, own=name if own else None)
        self.numbers = self.basis.numbers() if self.program.prologue is not None else None
        self.free = structure.numbers().free

    def written(self, states: int) -> CSource:
        source, scratch = self._source()
        test = harness(self, states)
        return CSource(self.name, self._header(scratch), source, test, self.program.operations, scratch)

    @property
    def signature(self) -> str:
        """The prototype without a semicolon."""
        arguments = [f"const {self.real} *{array}" for array in self.inputs]
        if self.as_input:
            arguments.append(f"const {self.real} *params")
        arguments += [f"{self.real} *{array}" for array in self.outputs]
        return f"int {self.name}({', '.join(arguments) or 'void'})"

    # Header --------------------------------------------------------------------------------------------------------

    def _header(self, scratch: int) -> str:
        guard = f"KT_{self.name.upper()}_H"
        parts = [
            c_layout.block([*self.title(f"{self.name}.h"), "", *self._contract(scratch), "", *self._layouts()]),
            f'#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n',
        ]
        taken = {self.name}
        for array, declared in zip(self.arrays, self.declared(), strict=True):
            parts.append("\n".join(c_layout.enumeration(self.name, self.model, array, declared, taken)) + "\n\n")
        if self.as_input:
            n, m = len(self.numbers), self.program.params
            parts.append(c_layout.block(self._number_lines()))
            parts.append(f"enum {{\n    {self.name}_numbers_size = {n},\n    {self.name}_params_size = {m}\n}};\n\n")
            parts.append(f"const double *{self.name}_default_numbers(void);\n")
            parts.append(f"int {self.name}_prepare(const double *numbers, {self.real} *params);\n")
        parts.append(f"{self.signature};\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n")
        return "".join(parts)

    def title(self, file: str) -> list[str]:
        summary = (self.spec.function.__doc__ or "").strip().partition("\n")[0]
        static = ", ".join(f"{key} {value!r}" for key, value in self.function.static.items())
        about = f"{self.spec.name}" + (f" ({static})" if static else "")
        return [
            f"{file}: {about} of the robot {self.model.name!r}. {summary}",
            "",
            f"Generated by kinetree {_version()}: change the model and generate it anew, rather than this file.",
            "SPDX-License-Identifier: Apache-2.0",
        ]

    def _contract(self, scratch: int) -> list[str]:
        counts = self.program.operations
        status = ["Returns 0, or the sum of the bits of all faults of the inputs; the results are then not to be used:"]
        if self.function.checks:
            status.append("  1: an input is NaN or infinite")
            status += [f"  {line}" for line in c_layout.check_lines(self.program, self.model, self.spec, self.inputs)]
        else:
            status = ["Returns 0. Inputs are not checked: NaN goes through to every result that depends on it."]
        return [
            *status,
            "",
            f"Arrays of {self.real}, plain and without gaps; inputs and outputs must not overlap. Nothing is kept",
            "between calls and nothing is allocated, so calls may run in many threads at once.",
            f"One call: {counts.total} operations ({counts.multiplications} multiplications, {counts.additions} "
            f"additions, {counts.divisions} divisions),",
            f"{counts['sincos']} sines and cosines; {scratch} bytes of scratch on the stack.",
            "Compile for example with",
            f"  cc {FLAGS} -c {self.name}.c",
            "On a processor with fused multiply-add the results are then the bits of the library, else they differ by",
            "rounding.",
        ]

    def declared(self) -> list[tuple]:
        """Shapes of all arrays in names of sizes, as the algorithm declares them."""
        tables = {**self.spec.inputs, **self.spec.optional}
        inputs = [tables.get(name, shape) for name, shape in self.program.inputs]
        return [*inputs, *(self.spec.outputs.get(name, shape) for name, shape in self.program.outputs)]

    def _layouts(self) -> list[str]:
        lines = []
        listed: dict[tuple, str] = {}
        arrays = (*self.program.inputs, *self.program.outputs)
        for k, ((name, shape), array, declared) in enumerate(zip(arrays, self.arrays, self.declared(), strict=True)):
            kind = "input" if k < len(self.inputs) else "output"
            lines.append(f"{array}[{prod(shape)}], {kind}. {self.spec.meaning(name)}")
            table = c_layout.table(self.model, declared, name)
            before = listed.setdefault(tuple(table), array)
            lines += [f"  {line}" for line in (table if before == array else [f"as {before}"])]
            lines.append("")
        return lines[:-1]

    def _number_lines(self) -> list[str]:
        numbers = self.numbers
        used = {args[1] for op, *args in self.program.prologue.code if op == "input"}
        lines = [
            "The model's numbers, from which the params follow:",
            "  double numbers[...]; copy the default numbers and change some of them;",
            "  prepare(numbers, params) computes the params, once for all calls. It returns 0, or the sum of",
            "    1: a number is NaN",
            "    2: a number that is structure was changed (zeros, infinite limits): generate the source anew",
            "Moments are about the origin of the body's frame, in its axes; h is the first moment, mass times center.",
            "",
        ]
        for k, (name, value, free) in enumerate(zip(numbers.names, numbers.values, self.free, strict=True)):
            note = "" if free and k in used else "  structure" if not free else "  not used here"
            lines.append(f"  [{k}] {name} = {value:.6g} [{c_layout.number_unit(self.model, name)}]{note}")
        return lines

    # Source --------------------------------------------------------------------------------------------------------

    def _source(self) -> tuple[str, int]:
        name, dialect = self.name, self.dialect
        params = "params" if self.as_input else f"{name}_params"
        routine = Routine(self.program, name, dialect, self.arrays, params, self.function.checks)
        functions, declarations, body = routine.parts()
        used = {op for op, *_ in self.program.code}
        title = c_layout.block(self.title(f"{name}.c"))
        parts = [title, f'\n#include <math.h>\n#include "{name}.h"\n\n', dialect.preamble()]
        if dialect.own and used & {"sin", "cos"}:
            parts.append("\n" + sincos_text(dialect.elementary("sincos"), self.real))
        if dialect.own and used & set(FUNCTIONS):
            parts.append("\n" + elementary_text(dialect, used))
        if self.as_input:
            parts += ["\n", *self._prepare()]
        elif self.program.prologue is not None:
            (values,) = self.program.prologue.interpret([self.basis.number_values()])
            parts += ["\n/* Values from the model's numbers alone. */\n", self._table(params, self.real, values)]
        parts += [f"\n{function}" for function in functions]
        text = "\n".join(body)
        unused = [f"(void){array};" for array in self.inputs if not _mentions(text, array)]
        if self.as_input and not _mentions(text, "params"):
            unused.append("(void)params;")
        parts.append(f"\n{self.signature.replace(' *', ' *KT_RESTRICT ')}\n{{\n")
        result = "return status;" if self.function.checks else "return 0;"
        parts += [f"    {line}\n" for line in (*declarations, *unused, *body, result)]
        parts.append("}\n")
        return "".join(parts), routine.scratch * (8 if self.real == "double" else 4)

    def _prepare(self) -> list[str]:
        """The prologue as a function of the numbers; in doubles, and rounded twice as the library does it."""
        name, n = self.name, len(self.numbers)
        dialect = Dialect("double", fused=False)
        routine = Routine(
            self.program.prologue, f"{name}_prepare", dialect, ("numbers", "params"), checks=False, stored=self.real
        )
        functions, scratch, body = routine.parts()
        fixed = [int(not free) for free in self.free]
        rows = [", ".join(map(str, fixed[k : k + 30])) for k in range(0, n, 30)]
        table = f"static const unsigned char {name}_structure[{n}] = {{\n    " + ",\n    ".join(rows) + "\n};\n"
        head = [
            "int status = 0;",
            f"for (int k = 0; k < {n}; ++k) {{",
            "    if (!(numbers[k] == numbers[k])) status |= 1;",
            f"    if ({name}_structure[k] && !(numbers[k] == {name}_numbers[k])) status |= 2;",
            "}",
        ]
        lines = [*scratch, *head, *body, "return status;"]
        arguments = f"const double *KT_RESTRICT numbers, {self.real} *KT_RESTRICT params"
        return [
            self._table(f"{name}_numbers", "double", self.numbers.values),
            table,
            *(f"\n{function}" for function in functions),
            f"\nconst double *{name}_default_numbers(void)\n{{\n    return {name}_numbers;\n}}\n",
            f"\nint {name}_prepare({arguments})\n{{\n",
            *(f"    {line}\n" for line in lines),
            "}\n",
        ]

    def _table(self, name: str, real: str, values: np.ndarray) -> str:
        if np.isnan(values).any():
            raise CompilationError(f"{self.model.name!r}: a value from the model's numbers is NaN.", name=name)
        texts = [Dialect(real).literal(x).strip("()") for x in values.tolist()]
        rows = [", ".join(texts[k : k + _PER_LINE]) for k in range(0, len(texts), _PER_LINE)]
        return f"static const {real} {name}[{len(texts)}] = {{\n    " + ",\n    ".join(rows) + "\n};\n"


def _resolved(function, as_input: bool) -> tuple[Program, object, object]:
    """The program, the model whose numbers its prologue takes, and the one whose zeros it was made for."""
    from kinetree.compiler.program_cache import cached_program, signature_of
    from kinetree.compiler.tracing import numbers_model

    spec, model = function.spec, function.model
    structure = getattr(function, "structure_model", model)  # which zeros the program was made for
    basis = numbers_model(spec, model)
    if not as_input or basis is model:
        return function.program, basis, numbers_model(spec, structure)
    # Numbers that a user is to change must be those of the robot's own body axes.
    spec = dataclasses.replace(spec, body_frames=True)
    present = tuple(name for name in function.input_names if name in spec.optional)
    signature = signature_of(spec, structure, present, function.static)
    return cached_program(spec, structure, present, function.static, signature), model, structure


def _mentions(text: str, array: str) -> bool:
    return re.search(rf"\b{array}\b", text) is not None


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return comment(version("kinetree"))
    except PackageNotFoundError:
        return "from source"
