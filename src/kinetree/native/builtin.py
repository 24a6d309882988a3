"""Python functions from compiled code: the pointers they need, the layout of array objects, and their construction.

Compiled code reads the fields of array objects at the offsets of `FIELDS`; `available` compares them with NumPy's own
values on arrays made for the purpose before any builtin is made. Where they differ (PyPy, free-threaded builds),
`Kernel` calls through ctypes instead. Objects hold no addresses: those that the code needs stand in a context, an array
of pointers that is the builtin's ``self``, so that kernels with different params share one piece of code.
"""

from __future__ import annotations

import ctypes
import sys
import weakref

import numpy as np

from kinetree.once import once

NUMBER = ("array_type", "descr", "float_type", "number_type", "int_type", "int_value", "clear_error")
"""Names of the pointers that `llvm_python` needs, a part of every table."""

CONTEXT = (
    *("params", "heap", *NUMBER, "not_implemented"),
    *("new_array", "incref", "decref", "tuple_new", "tuple_type", "tuple_set"),
)
"""Names of the pointers in the context, in order."""

MAX_ARRAYS = 32
"""Arrays of one kernel, inputs and outputs together, that the drivers take."""

MAX_AXES = 4
"""Axes of one array, those of the batch not counted."""

BATCH_ENTRY = (
    *("batch", "scalar", "params", *NUMBER, "not_implemented", "new_array", "incref", "decref"),
    *("tuple_new", "tuple_type", "tuple_set", "save_thread", "restore_thread", "allocate", "free"),
    *("inputs", "outputs", "item", "release", "most", "batch_heap", "scalar_heap"),
)
"""Head of the table of ``kinetree_batch_entry``: pointers, then numbers. From ``release`` states on the GIL is
released; more than ``most`` states are refused, and all while ``batch`` is 0; one state goes to ``scalar`` where that
is not 0. The heaps are the bytes that these two need beside their stack. Every array follows, as its number of axes,
its size and its axes."""

ENTRY_ARRAY = 2 + MAX_AXES

SHARE = ("next", "n", "block", "batch", "params", "inputs", "outputs")
"""Head of the job of ``kinetree_share``; then for every input (address, bytes per row, entries per row), for every
output (address, bytes per row, 0)."""

ROLLOUT = ("next", "n", "block", "batch", "params", "states", "inputs", "steps", "every")
"""Head of the job of ``kinetree_rollout``; then for every array of the state (bytes of a row, entries, address of the
first states, bytes between them, address of the record, bytes from one state's record to the next, bytes from row to
row), for every other input (address, bytes between states, entries between states, bytes between steps)."""

INDEXED = ("n", "block", "batch", "params", "inputs", "outputs")
"""Head of the job of ``kinetree_indexed``; then for every input and every output (address, bytes per row, entries per
row, address of the row numbers or 0)."""

SWEEPS = (
    *("visit", "visit_memory", "visit_heap", "further", "further_memory", "further_heap"),
    *("change", "energy", "step", "direction", "factor", "tolerance", "n", "bytes", "most"),
)
"""Job of ``kinetree_sweeps``: jobs, memory and heaps of two calls of ``kinetree_indexed``; addresses of arrays of n
numbers, of arrays of so many bytes, and of two numbers; n, a multiple of 8; bytes; sweeps."""

VECTORCALL = (
    *("entry", "entry_self", "inputs", "out_name", "array_type", "not_implemented", "fallback"),
    *("vectorcall", "decref"),
)
"""Table of ``kinetree_vectorcall``: pointers, and how many inputs there are."""

TUPLE_SIZE, TUPLE_ITEMS = 16, 24  # byte offsets in tuples of CPython with the GIL

FIELDS = {"type": 8, "data": 16, "nd": 24, "shape": 32, "descr": 56, "flags": 64}
"""Byte offsets in array objects of CPython with the GIL, all NumPy versions from 1.7 on."""

VALUE = 16
"""Byte offset of the number in Python's floats and in NumPy's scalars."""

READABLE = 0x1 | 0x100  # C-contiguous, aligned
WRITEABLE = READABLE | 0x400
ROOM = 80  # bytes of the array that stands for a number, and of the number behind it
_NEW_FROM_DESCR = 94  # place of PyArray_NewFromDescr in NumPy's table, part of its stable interface


@once
def available() -> bool:
    """Whether this interpreter and NumPy have the layout that builtins rely on."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return False
    if "free-threading" in sys.version:  # sysconfig takes 2 ms
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
    """The array of pointers that is a builtin's ``self``; it keeps their targets alive."""


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def make_builtin(address: int, dtype: np.dtype, params, heap, result: type, owner: object):
    """Make the Python function from compiled code.

    Parameters
    ----------
    address : int
        Address of ``kinetree_call``.
    dtype : numpy.dtype
        Type of all arrays.
    params, heap : numpy.ndarray or None
        Run-time params, and the memory for frames too large for the stack. The GIL guards the latter.
    result : type
        Class of several results: tuple, or that of a named tuple.
    owner : object
        Object that must live as long as the function: the code.
    """
    pointers = dict(interpreter_pointers(dtype))
    pointers["params"] = 0 if params is None else params.ctypes.data
    pointers["heap"] = 0 if heap is None else heap.ctypes.data
    pointers["tuple_type"] = id(result)
    table = [pointers[name] for name in CONTEXT]
    doc = b"Evaluate one state; NotImplemented means: take the general path."
    return make_method(address, table, (dtype, params, heap, result, owner), doc)


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
        Objects that must live as long as the function: the code, and all that the table points to.
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
    """Addresses that compiled code needs of the interpreter and of NumPy, by name."""

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
        "tuple_new": function("PyType_GenericAlloc"),  # of tuples and of named tuples
        "tuple_set": function("PyTuple_SetItem"),
        "save_thread": function("PyEval_SaveThread"),
        "restore_thread": function("PyEval_RestoreThread"),
        "allocate": function("PyMem_RawMalloc"),
        "free": function("PyMem_RawFree"),
    }
