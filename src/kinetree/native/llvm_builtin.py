"""The CPython builtin: one state evaluated at the cost of a few dozen nanoseconds around the arithmetic.

The function ``kinetree_call(self, args, nargs)`` is compiled into the kernel's own module and follows CPython's
METH_FASTCALL convention, so a call from Python reaches the straight-line code without any argument parsing.

* ``f(a0, a1, ..., out0, ...)`` writes into the outputs given; ``f(a0, a1, ...)`` makes new ones. Both return the
  output, or a tuple of outputs when the program has several.
* Every array must be exactly a `numpy.ndarray` of the kernel's dtype and the declared shape, C-contiguous and aligned,
  outputs writeable and apart from all other arrays. A single number, such as a step, may also be a float or int of
  Python or a scalar of NumPy (`llvm_number`). For anything else, and when the status is not zero, it returns
  ``NotImplemented``, and the caller takes the general path, which explains.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.native.builtin import CONTEXT, FIELDS, NUMBER, READABLE, ROOM, WRITEABLE
from kinetree.native.llvm_module import STACK, Module, frame_line
from kinetree.native.llvm_number import NUMBER_IR
from kinetree.native.llvm_state import state_arguments


def emit_builtin(module: Module) -> None:
    """Add ``kinetree_call``."""
    inputs, outputs = module.program.inputs, module.program.outputs
    if not outputs:
        return
    numbers = [k for k, (_, shape) in enumerate(inputs) if not shape]
    if numbers:
        module.parts.append(NUMBER_IR)
    for shape in sorted({shape for _, shape in (*inputs, *outputs)}):
        values = ", ".join(f"i64 {n}" for n in shape)
        module.parts.append(f"{_table(shape)} = internal constant [{max(len(shape), 1)} x i64] [{values or 'i64 0'}]")
    frame = module.state_frame
    # The frame is made at the entry, where the stack is set up once.
    lines = [frame_line(frame)] if frame <= STACK else []
    lines += [f"  %in{k}_room = alloca [{ROOM} x i8], align 16" for k in numbers]
    lines += _read_context(len(inputs), len(outputs))
    if frame > STACK:
        lines.append(frame_line(frame))
    lines.append("  br i1 %fits, label %types, label %refuse")
    # First the types of all arguments, since nothing else may be read from objects that are not arrays.
    lines.append("types:")
    _check_types(lines, "in", 0, len(inputs), "contents", numbers, module.scalar.size)
    lines.append("contents:")
    checks = []
    for k, (_, shape) in enumerate(inputs):
        _read_fields(lines, f"in{k}")
        checks += _check_fields(lines, f"in{k}", shape, READABLE)
    _branch_all(lines, checks, "inputs_good", "inputs")
    lines += ("inputs_good:", "  br i1 %given, label %outtypes, label %make")
    _take_outputs(lines, module)
    for k, (_, shape) in enumerate(outputs):
        lines += _make_output(k, shape)
    lines.append("  br label %run")
    lines += _run_state(module)
    lines += _return_results(len(outputs))
    text = "\n".join(lines)
    module.parts.append(f"define ptr @kinetree_call(ptr %self, ptr %args, i64 %nargs) #0 {{\nentry:\n{text}\n}}")


def _table(shape: tuple[int, ...]) -> str:
    """Name of the constant that holds a shape."""
    return "@shape_" + "x".join(map(str, shape))


def _read_context(inputs: int, outputs: int) -> list[str]:
    """The pointers of the context, and whether there are as many arguments as inputs, or as inputs and outputs."""
    lines = ["  %context_at = getelementptr inbounds i8, ptr %self, i64 16", "  %context = load ptr, ptr %context_at"]
    for k, name in enumerate(CONTEXT):
        lines.append(f"  %{name}_at = getelementptr inbounds ptr, ptr %context, i64 {k}")
        lines.append(f"  %{name} = load ptr, ptr %{name}_at")
    return [
        *lines,
        f"  %numbers = getelementptr inbounds ptr, ptr %context, i64 {CONTEXT.index(NUMBER[0])}",
        f"  %given = icmp eq i64 %nargs, {inputs + outputs}",
        f"  %fresh = icmp eq i64 %nargs, {inputs}",
        "  %fits = or i1 %given, %fresh",
    ]


def _take_outputs(lines: list[str], module: Module) -> None:
    """The outputs that are given: checked, apart from all other arrays, and with a reference more."""
    inputs, outputs = module.program.inputs, module.program.outputs
    lines.append("outtypes:")
    _check_types(lines, "old", len(inputs), len(outputs), "outcontents")
    lines.append("outcontents:")
    checks = []
    for k, (_, shape) in enumerate(outputs):
        _read_fields(lines, f"old{k}")
        checks += _check_fields(lines, f"old{k}", shape, WRITEABLE)
    sizes = {f"in{k}": n * module.scalar.size for k, n in enumerate(module.input_sizes)}
    sizes |= {f"old{k}": n * module.scalar.size for k, n in enumerate(module.output_sizes)}
    for k in range(len(outputs)):
        for other in (*(f"in{j}" for j in range(len(inputs))), *(f"old{j}" for j in range(k))):
            checks.append(_apart(lines, f"old{k}", other, sizes))
    _branch_all(lines, checks, "outputs_good", "outputs")
    lines.append("outputs_good:")
    lines += (f"  call void %incref(ptr %old{k})" for k in range(len(outputs)))
    lines += ("  br label %run", "make:")


def _make_output(k: int, shape: tuple[int, ...]) -> list[str]:
    """A new array for an output; where there is no memory for it, those before are given back."""
    return [
        "  call void %incref(ptr %descr)",  # the constructor takes a reference to it
        f"  %new{k} = call ptr %new_array(ptr %array_type, ptr %descr, i32 {len(shape)}, "
        f"ptr {_table(shape)}, ptr null, ptr null, i32 0, ptr null)",
        f"  %failed{k} = icmp eq ptr %new{k}, null",
        f"  br i1 %failed{k}, label %undo{k}, label %made{k}",
        f"undo{k}:",
        *(f"  call void %decref(ptr %new{j})" for j in range(k)),
        "  ret ptr null",
        f"made{k}:",
        f"  %new{k}data_at = getelementptr inbounds i8, ptr %new{k}, i64 {FIELDS['data']}",
        f"  %new{k}data = load ptr, ptr %new{k}data_at",
    ]


def _run_state(module: Module) -> list[str]:
    """The call of ``@state`` with the arrays that are given or made."""
    count = len(module.output_sizes)
    made = f"%made{count - 1}"
    lines = ["run:"]
    for k in range(count):
        lines.append(f"  %out{k}object = phi ptr [ %old{k}, %outputs_good ], [ %new{k}, {made} ]")
    for k in range(count):
        lines.append(f"  %out{k}data = phi ptr [ %old{k}data, %outputs_good ], [ %new{k}data, {made} ]")
    arguments = state_arguments(module, False)
    for kind, arrays in (("in", len(module.input_sizes)), ("out", count)):
        for k in reversed(range(arrays)):
            arguments = arguments.replace(f"ptr %{kind}{k},", f"ptr %{kind}{k}data,")
    lines.append(f"  %status = call fastcc i32 @state({arguments}, ptr %frame)")
    return [*lines, "  %fine = icmp eq i32 %status, 0", "  br i1 %fine, label %good, label %bad"]


def _return_results(count: int) -> list[str]:
    """The array, or a tuple of them; the arrays given back and ``NotImplemented`` where the status is not zero."""
    give_back = [f"  call void %decref(ptr %out{k}object)" for k in range(count)]
    lines = ["bad:", *give_back, "  br label %refuse", "good:"]
    if count == 1:
        lines.append("  ret ptr %out0object")
    else:
        lines += (
            f"  %tuple = call ptr %tuple_new(i64 {count})",
            "  %no_tuple = icmp eq ptr %tuple, null",
            "  br i1 %no_tuple, label %release, label %fill",
            "release:",
            *give_back,
            "  ret ptr null",
            "fill:",
            *(f"  call i32 %tuple_set(ptr %tuple, i64 {k}, ptr %out{k}object)" for k in range(count)),
            "  ret ptr %tuple",
        )
    return [*lines, "refuse:", "  call void %incref(ptr %not_implemented)", "  ret ptr %not_implemented"]


def _check_types(
    lines: list[str], kind: str, first: int, count: int, then: str, numbers: Sequence[int] = (), item: int = 0
) -> None:
    checks = []
    for k in range(count):
        name = f"{kind}{k}"
        read = f"%{name} = load ptr, ptr %{name}_arg"
        if k in numbers:
            read = f"%{name}_given = load ptr, ptr %{name}_arg"
        lines += (f"  %{name}_arg = getelementptr inbounds ptr, ptr %args, i64 {first + k}", f"  {read}")
        if k in numbers:
            given = f"ptr %{name}_given, ptr %{name}_room, ptr %numbers, i64 {item}"
            lines.append(f"  %{name} = call ptr @kinetree_number({given})")
        lines += (
            f"  %{name}type_at = getelementptr inbounds i8, ptr %{name}, i64 {FIELDS['type']}",
            f"  %{name}type = load ptr, ptr %{name}type_at",
            f"  %{name}array = icmp eq ptr %{name}type, %array_type",
        )
        checks.append(f"%{name}array")
    _branch_all(lines, checks, then, kind + "types")


def _read_fields(lines: list[str], name: str) -> None:
    kinds = {"data": "ptr", "nd": "i32", "shape": "ptr", "descr": "ptr", "flags": "i32"}
    for field, kind in kinds.items():
        lines.append(f"  %{name}{field}_at = getelementptr inbounds i8, ptr %{name}, i64 {FIELDS[field]}")
        lines.append(f"  %{name}{field} = load {kind}, ptr %{name}{field}_at")


def _check_fields(lines: list[str], name: str, shape: tuple[int, ...], flags: int) -> list[str]:
    """Truth values that all hold when the array is as declared.

    The shape is read only for the declared number of axes; where the array has fewer, this reads NumPy's own memory
    (strides stand behind shapes), and the number of axes refuses the array anyway. An array without axes has no shape
    to read, so what stands there is replaced by a valid address first.
    """
    lines += (
        f"  %{name}ndgood = icmp eq i32 %{name}nd, {len(shape)}",
        f"  %{name}descrgood = icmp eq ptr %{name}descr, %descr",
        f"  %{name}flagbits = and i32 %{name}flags, {flags}",
        f"  %{name}flagsgood = icmp eq i32 %{name}flagbits, {flags}",
    )
    checks = [f"%{name}ndgood", f"%{name}descrgood", f"%{name}flagsgood"]
    if shape:
        lines.append(f"  %{name}shapesafe = select i1 %{name}ndgood, ptr %{name}shape, ptr {_table(shape)}")
    for axis, size in enumerate(shape):
        lines += (
            f"  %{name}axis{axis}_at = getelementptr inbounds i64, ptr %{name}shapesafe, i64 {axis}",
            f"  %{name}axis{axis} = load i64, ptr %{name}axis{axis}_at",
            f"  %{name}axis{axis}good = icmp eq i64 %{name}axis{axis}, {size}",
        )
        checks.append(f"%{name}axis{axis}good")
    return checks


def _apart(lines: list[str], a: str, b: str, sizes: dict[str, int]) -> str:
    """Truth value: two arrays do not overlap."""
    name = f"%{a}_{b}"
    for x in (a, b):
        lines.append(f"  {name}_{x} = ptrtoint ptr %{x}data to i64")
        lines.append(f"  {name}_{x}end = add i64 {name}_{x}, {sizes[x]}")
    lines += (
        f"  {name}_before = icmp ule i64 {name}_{a}end, {name}_{b}",
        f"  {name}_after = icmp ule i64 {name}_{b}end, {name}_{a}",
        f"  {name}_apart = or i1 {name}_before, {name}_after",
    )
    return f"{name}_apart"


def _branch_all(lines: list[str], conditions: list[str], then: str, label: str) -> None:
    """Go on if all hold, else refuse: one branch, which is always predicted."""
    total = "true"
    for k, condition in enumerate(conditions):
        lines.append(f"  %{label}_all{k} = and i1 {total}, {condition}")
        total = f"%{label}_all{k}"
    lines.append(f"  br i1 {total}, label %{then}, label %refuse")
