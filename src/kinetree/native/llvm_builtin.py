"""The CPython builtin: one state evaluated at the cost of a few dozen nanoseconds around the arithmetic.

The function ``kinetree_call(self, args, nargs)`` is compiled into the kernel's own module and follows CPython's
METH_FASTCALL convention, so a call from Python reaches the straight-line code without any argument parsing.

* ``f(a0, a1, ..., out0, ...)`` writes into the outputs given; ``f(a0, a1, ...)`` makes new ones. Both return the
  output, or a tuple of outputs when the program has several.
* Every array must be exactly a `numpy.ndarray` of the kernel's dtype and the declared shape, C-contiguous and aligned,
  outputs writeable and apart from all other arrays. A single number, such as a step, may also be a float or int of
  Python or a scalar of NumPy (`NUMBER`). For anything else, and when the status is not zero, it returns
  ``NotImplemented``, and the caller takes the general path that explains.

The code reads the fields of array objects at the offsets of `FIELDS`; `available` compares them with NumPy's own
answers on arrays made for the purpose before any builtin is made. Where they differ (PyPy, free-threaded builds),
`Kernel` calls through ctypes instead. Objects hold no addresses: those that the code needs stand in a context, an array
of pointers that is the builtin's ``self``, so that kernels with different params share one piece of code.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinetree.once import once

if TYPE_CHECKING:
    from kinetree.native.llvm_module import Module

NUMBER = ("array_type", "descr", "float_type", "number_type", "int_type", "int_value", "clear_error")
"""Names of the pointers that `number_ir` needs, a part of every table."""

CONTEXT = (
    *("params", "heap", *NUMBER, "not_implemented"),
    *("new_array", "incref", "decref", "tuple_new", "tuple_set"),
)
"""Names of the pointers in the context, in order."""

FIELDS = {"type": 8, "data": 16, "nd": 24, "shape": 32, "descr": 56, "flags": 64}
"""Byte offsets in array objects of CPython with the GIL, all NumPy versions from 1.7 on."""

VALUE = 16
"""Byte offset of the number in Python's floats and in NumPy's scalars."""

READABLE = 0x1 | 0x100  # C-contiguous, aligned
WRITEABLE = READABLE | 0x400
ROOM = 80  # bytes of the array that stands for a number, and of the number behind it
_NEW_FROM_DESCR = 94  # place of PyArray_NewFromDescr in NumPy's table, part of its stable interface


def emit_builtin(module: Module) -> None:
    """Add ``kinetree_call``."""
    from kinetree.native.llvm_module import STACK, frame_line
    from kinetree.native.llvm_state import state_arguments

    inputs, outputs = module.program.inputs, module.program.outputs
    count_in, count_out = len(inputs), len(outputs)
    if not count_out:
        return
    lines: list[str] = []
    parts = []
    if any(not shape for _, shape in inputs):
        parts.append(number_ir())
    shapes = {shape for _, shape in (*inputs, *outputs)}
    names = {shape: "@shape_" + "x".join(map(str, shape)) for shape in sorted(shapes)}
    for shape, name in names.items():
        values = ", ".join(f"i64 {n}" for n in shape)
        parts.append(f"{name} = internal constant [{max(len(shape), 1)} x i64] [{values or 'i64 0'}]")

    lines.append("  %context_at = getelementptr inbounds i8, ptr %self, i64 16")
    lines.append("  %context = load ptr, ptr %context_at")
    for k, name in enumerate(CONTEXT):
        lines.append(f"  %{name}_at = getelementptr inbounds ptr, ptr %context, i64 {k}")
        lines.append(f"  %{name} = load ptr, ptr %{name}_at")
    lines.append(f"  %given = icmp eq i64 %nargs, {count_in + count_out}")
    lines.append(f"  %fresh = icmp eq i64 %nargs, {count_in}")
    lines.append("  %fits = or i1 %given, %fresh")
    lines.append("  br i1 %fits, label %types, label %refuse")
    # First the types of all arguments, since nothing else may be read from objects that are not arrays.
    lines.append("types:")
    numbers = [k for k, (_, shape) in enumerate(inputs) if not shape]
    lines.append(f"  %numbers = getelementptr inbounds ptr, ptr %context, i64 {CONTEXT.index(NUMBER[0])}")
    _check_types(lines, "in", 0, count_in, "contents", numbers, module.scalar.size)
    lines.append("contents:")
    checks = []
    for k, (_, shape) in enumerate(inputs):
        _read_fields(lines, f"in{k}")
        checks += _check_fields(lines, f"in{k}", shape, READABLE)
    _branch_all(lines, checks, "inputs_good", "inputs")
    lines.append("inputs_good:")
    lines.append("  br i1 %given, label %outtypes, label %make")

    lines.append("outtypes:")
    _check_types(lines, "old", count_in, count_out, "outcontents")
    lines.append("outcontents:")
    checks = []
    for k, (_, shape) in enumerate(outputs):
        _read_fields(lines, f"old{k}")
        checks += _check_fields(lines, f"old{k}", shape, WRITEABLE)
    sizes = {f"in{k}": n * module.scalar.size for k, n in enumerate(module.input_sizes)}
    sizes |= {f"old{k}": n * module.scalar.size for k, n in enumerate(module.output_sizes)}
    for k in range(count_out):
        for other in (*(f"in{j}" for j in range(count_in)), *(f"old{j}" for j in range(k))):
            checks.append(_apart(lines, f"old{k}", other, sizes))
    _branch_all(lines, checks, "outputs_good", "outputs")
    lines.append("outputs_good:")
    for k in range(count_out):
        lines.append(f"  call void %incref(ptr %old{k})")
    lines.append("  br label %run")

    lines.append("make:")
    for k, (_, shape) in enumerate(outputs):
        lines += (
            "  call void %incref(ptr %descr)",  # the constructor takes a reference to it
            f"  %new{k} = call ptr %new_array(ptr %array_type, ptr %descr, i32 {len(shape)}, "
            f"ptr {names[shape]}, ptr null, ptr null, i32 0, ptr null)",
            f"  %failed{k} = icmp eq ptr %new{k}, null",
            f"  br i1 %failed{k}, label %undo{k}, label %made{k}",
            f"undo{k}:",
            *(f"  call void %decref(ptr %new{j})" for j in range(k)),
            "  ret ptr null",
            f"made{k}:",
            f"  %new{k}data_at = getelementptr inbounds i8, ptr %new{k}, i64 {FIELDS['data']}",
            f"  %new{k}data = load ptr, ptr %new{k}data_at",
        )
    lines.append("  br label %run")

    lines.append("run:")
    last = f"%made{count_out - 1}"
    for k in range(count_out):
        lines.append(f"  %out{k}object = phi ptr [ %old{k}, %outputs_good ], [ %new{k}, {last} ]")
    for k in range(count_out):
        lines.append(f"  %out{k}data = phi ptr [ %old{k}data, %outputs_good ], [ %new{k}data, {last} ]")
    arguments = state_arguments(module, False)
    for kind, count in (("in", count_in), ("out", count_out)):
        for k in reversed(range(count)):
            arguments = arguments.replace(f"ptr %{kind}{k},", f"ptr %{kind}{k}data,")
    lines.append(f"  %status = call fastcc i32 @state({arguments}, ptr %frame)")
    lines.append("  %fine = icmp eq i32 %status, 0")
    lines.append("  br i1 %fine, label %good, label %bad")
    lines.append("bad:")
    for k in range(count_out):
        lines.append(f"  call void %decref(ptr %out{k}object)")
    lines.append("  br label %refuse")
    lines.append("good:")
    if count_out == 1:
        lines.append("  ret ptr %out0object")
    else:
        lines.append(f"  %tuple = call ptr %tuple_new(i64 {count_out})")
        lines.append("  %no_tuple = icmp eq ptr %tuple, null")
        lines.append("  br i1 %no_tuple, label %release, label %fill")
        lines.append("release:")
        for k in range(count_out):
            lines.append(f"  call void %decref(ptr %out{k}object)")
        lines.append("  ret ptr null")
        lines.append("fill:")
        for k in range(count_out):
            lines.append(f"  call i32 %tuple_set(ptr %tuple, i64 {k}, ptr %out{k}object)")
        lines.append("  ret ptr %tuple")
    lines.append("refuse:")
    lines.append("  call void %incref(ptr %not_implemented)")
    lines.append("  ret ptr %not_implemented")

    # The frame is made at the entry, where the stack is set up once.
    frame = module.state_frame
    start = [frame_line(frame)] if frame <= STACK else []
    start += [f"  %in{k}_room = alloca [{ROOM} x i8], align 16" for k in numbers]
    if frame > STACK:
        at = lines.index("  br i1 %fits, label %types, label %refuse")
        lines.insert(at, "  %frame = getelementptr inbounds i8, ptr %heap, i64 0")
    parts.append(
        "define ptr @kinetree_call(ptr %self, ptr %args, i64 %nargs) #0 {\nentry:\n"
        + "\n".join([*start, *lines])
        + "\n}"
    )
    module.parts += parts


def number_ir() -> str:
    """Text of ``kinetree_number(x, room, table, item) -> ptr``: x itself, or an array without axes that stands for it.

    A float of Python, a scalar of NumPy in the precision of the kernel and an int that is a double exactly become an
    array object in ``room`` with the fields that are looked at (`FIELDS`), so that the checks of arrays need not know
    about numbers. ``table`` holds the pointers of `NUMBER`, ``item`` is the size of the kernel's numbers.
    """
    pointers = "\n".join(
        f"  %{name}_at = getelementptr inbounds ptr, ptr %table, i64 {k}\n  %{name} = load ptr, ptr %{name}_at"
        for k, name in enumerate(NUMBER)
    )
    held = {"type": "ptr %array_type", "data": "ptr %place", "nd": "i32 0", "shape": "ptr null", "descr": "ptr %descr"}
    held["flags"] = f"i32 {READABLE}"
    fields = "\n".join(
        f"  %{name}_field = getelementptr inbounds i8, ptr %room, i64 {FIELDS[name]}\n"
        f"  store {value}, ptr %{name}_field"
        for name, value in held.items()
    )
    return f"""
define internal ptr @kinetree_number(ptr %x, ptr %room, ptr %table, i64 %item) {{
begin:
  %kind_at = getelementptr inbounds i8, ptr %x, i64 {FIELDS["type"]}
  %kind = load ptr, ptr %kind_at
{pointers}
  %value_at = getelementptr inbounds i8, ptr %x, i64 {VALUE}
  %place = getelementptr inbounds i8, ptr %room, i64 {ROOM - 8}
  %wide = icmp eq i64 %item, 8
  %is_array = icmp eq ptr %kind, %array_type
  br i1 %is_array, label %itself, label %look
look:
  %is_float = icmp eq ptr %kind, %float_type
  br i1 %is_float, label %double, label %scalar
scalar:
  %is_scalar = icmp eq ptr %kind, %number_type
  br i1 %is_scalar, label %own, label %whole
own:
  br i1 %wide, label %double, label %single
single:
  %narrow = load float, ptr %value_at
  store float %narrow, ptr %place
  br label %made
double:
  %read = load double, ptr %value_at
  br label %keep
whole:
  %is_int = icmp eq ptr %kind, %int_type
  br i1 %is_int, label %convert, label %itself
convert:
  %converted = call double %int_value(ptr %x)
  %unclear = fcmp oeq double %converted, -1.0
  br i1 %unclear, label %clear, label %range
clear:
  call void %clear_error()
  br label %itself
range:
  %below = fcmp ole double %converted, {2.0**53:.1f}
  %above = fcmp oge double %converted, {-(2.0**53):.1f}
  %exact = and i1 %below, %above
  br i1 %exact, label %keep, label %itself
keep:
  %value = phi double [ %read, %double ], [ %converted, %range ]
  br i1 %wide, label %keep_double, label %keep_single
keep_double:
  store double %value, ptr %place
  br label %made
keep_single:
  %rounded = fptrunc double %value to float
  store float %rounded, ptr %place
  br label %made
made:
{fields}
  ret ptr %room
itself:
  ret ptr %x
}}
"""


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
        table = "@shape_" + "x".join(map(str, shape))
        lines.append(f"  %{name}shapesafe = select i1 %{name}ndgood, ptr %{name}shape, ptr {table}")
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


@once
def available() -> bool:
    """Whether this interpreter and NumPy have the layout that builtins rely on."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return False
    if "free-threading" in sys.version:  # sysconfig would say it in 2 ms
        return False
    try:
        return (
            all(
                _layout_holds(array)
                for array in (np.empty((3, 5)), np.empty((2, 3, 4), np.float32)[:, ::2], np.empty(()), np.empty(7)[1:])
            )
            and _number_layout_holds()
            and bool(_new_array())
        )
    except Exception:
        return False


def _layout_holds(array: np.ndarray) -> bool:
    at = id(array)

    def pointer(place: int) -> int | None:
        return ctypes.c_void_p.from_address(place).value

    def integer(place: int) -> int:
        return ctypes.c_int32.from_address(place).value

    flags = integer(at + FIELDS["flags"])
    shape = pointer(at + FIELDS["shape"])
    return (
        pointer(at + FIELDS["type"]) == id(np.ndarray)
        and pointer(at + FIELDS["data"]) == array.ctypes.data
        and integer(at + FIELDS["nd"]) == array.ndim
        and (not array.ndim or tuple((ctypes.c_int64 * array.ndim).from_address(shape)) == array.shape)
        and pointer(at + FIELDS["descr"]) == id(array.dtype)
        and bool(flags & 0x1) == array.flags.c_contiguous
        and bool(flags & 0x100) == array.flags.aligned
        and bool(flags & 0x400) == array.flags.writeable
    )


def _number_layout_holds() -> bool:
    """Whether floats and scalars hold their number where the code reads it."""
    numbers = ((0.1, ctypes.c_double), (np.float64(0.3), ctypes.c_double), (np.float32(0.7), ctypes.c_float))
    return all(kind.from_address(id(x) + VALUE).value == float(x) for x, kind in numbers)


@once
def _new_array() -> int:
    """Address of PyArray_NewFromDescr."""
    try:
        from numpy._core import _multiarray_umath as core
    except ImportError:  # NumPy 1
        from numpy.core import _multiarray_umath as core
    # A prototype of our own: attributes of ctypes.pythonapi's functions are shared by the whole process.
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    get = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    table = get(core._ARRAY_API, None)
    return (ctypes.c_void_p * (_NEW_FROM_DESCR + 1)).from_address(table)[_NEW_FROM_DESCR]


_FASTCALL, _KEYWORDS = 0x80, 0x02


class _Context(np.ndarray):
    """The array of pointers that is a builtin's ``self``; it keeps alive what they point to."""


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def make_builtin(address: int, dtype: np.dtype, params: np.ndarray | None, heap: np.ndarray | None, owner: object):
    """Make the Python function from compiled code.

    Parameters
    ----------
    address : int
        Address of ``kinetree_call``.
    dtype : numpy.dtype
        Type of all arrays.
    params, heap : numpy.ndarray or None
        Run-time params, and the memory for frames too large for the stack. The GIL guards the latter.
    owner : object
        What must live as long as the function: the code.
    """
    pointers = dict(interpreter_pointers(dtype))
    pointers["params"] = 0 if params is None else params.ctypes.data
    pointers["heap"] = 0 if heap is None else heap.ctypes.data
    table = [pointers[name] for name in CONTEXT]
    doc = b"Evaluate one state; NotImplemented means: take the general path."
    return make_method(address, table, (dtype, params, heap, owner), doc)


_definitions: list[_MethodDef] = []
"""Definitions of builtins that are gone, to be used again. None is ever freed: the interpreter looks at a builtin's
definition while it frees the builtin, and the garbage collector may have emptied the context before."""


def make_method(address: int, table: list[int], owners: tuple, doc: bytes, keywords: bool = False):
    """A Python function from compiled code of the METH_FASTCALL convention.

    Parameters
    ----------
    address : int
        Of ``function(self, args, nargs)``, or with keywords of ``function(self, args, nargs, names)``.
    table : list of int
        64-bit integers; an array of them is ``self``.
    owners : tuple
        What must live as long as the function: the code, and all that the table points to.
    doc : bytes
    keywords : bool
    """
    context = np.array(table, np.uint64).view(_Context)
    try:
        definition = _definitions.pop()
    except IndexError:
        definition = _MethodDef(name=b"call")
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(definition))  # at the interpreter's end the list goes first
    definition.function, definition.flags, definition.doc = address, _FASTCALL | (_KEYWORDS if keywords else 0), doc
    context.keep = (definition, *owners)  # the builtin holds the context, the context all else
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    builtin = prototype(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(definition), context, None)
    weakref.finalize(builtin, _definitions.append, definition).atexit = False
    return builtin


def address_of(function) -> int:
    """Address of the code of a function made by `make_method`; 0 for all others."""
    context = getattr(function, "__self__", None)
    return context.keep[0].function if isinstance(context, _Context) else 0


@once
def interpreter_pointers(dtype: np.dtype) -> dict[str, int]:
    """Addresses of what compiled code needs of the interpreter and of NumPy, by name."""

    def function(name: str) -> int:
        return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value

    return {
        "array_type": id(np.ndarray),
        "descr": id(dtype),
        "float_type": id(float),
        "number_type": id(dtype.type),
        "int_type": id(int),
        "int_value": function("PyLong_AsDouble"),
        "clear_error": function("PyErr_Clear"),
        "not_implemented": id(NotImplemented),
        "new_array": _new_array(),
        "incref": function("Py_IncRef"),
        "decref": function("Py_DecRef"),
        "tuple_new": function("PyTuple_New"),
        "tuple_set": function("PyTuple_SetItem"),
        "save_thread": function("PyEval_SaveThread"),
        "restore_thread": function("PyEval_RestoreThread"),
        "allocate": function("PyMem_RawMalloc"),
        "free": function("PyMem_RawFree"),
    }
