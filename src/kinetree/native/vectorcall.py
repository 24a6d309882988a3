"""Calls without Python in between: the code of ``f(q, v, a)`` and ``f(q, v, a, out=tau)`` for plain arrays.

A class with a ``__call__`` written in Python costs 110 ns more than the arithmetic's entry, and a keyword 200 ns more:
as much as the inverse dynamics of an arm. So a Function whose entry exists gets a class of its own, whose ``__call__``
is compiled too (`llvm_driver`). Only when the entry refuses the arguments does it call the method written in
Python, which takes all kinds of arguments and explains.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import sys

import numpy as np

from kinetree.native import builtin, drivers
from kinetree.native.builtin import TUPLE_ITEMS, TUPLE_SIZE, VECTORCALL
from kinetree.once import once


@once
def available() -> bool:
    """Whether this interpreter lays out tuples as the code reads them."""
    if not builtin.available():
        return False
    names = ("a", "b", "c")
    at = id(names)
    return (
        ctypes.c_int64.from_address(at + TUPLE_SIZE).value == len(names)
        and ctypes.c_void_p.from_address(at + TUPLE_ITEMS).value == id(names[0])
        and hasattr(ctypes.pythonapi, "PyObject_Vectorcall")
    )


def make_direct(function) -> None:
    """Make calls of a function go to its entry directly.

    Parameters
    ----------
    function : Function
        With one array or one flat named tuple as its result, so that ``function.single`` is the builtin of its kernel.
    """
    entry, kind = function.single, type(function)
    address = builtin.address_of(entry)
    if not address or not available():
        return
    fallback = functools.partial(kind.__call__, function)
    out_name = sys.intern("out")
    values = dict(builtin.interpreter_pointers(np.dtype(np.float64)))
    values |= {"entry": address, "entry_self": id(entry.__self__)}
    values |= {"inputs": len(function.input_names), "out_name": id(out_name), "fallback": id(fallback)}
    values["vectorcall"] = ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value
    code_address, code = drivers.vectorcall_code()
    owners = (entry, fallback, out_name, code)
    call = builtin.make_method(code_address, [values[name] for name in VECTORCALL], owners, b"Evaluate.", keywords=True)
    body = {"__slots__": (), "__module__": kind.__module__, "__doc__": kind.__doc__, "__qualname__": kind.__qualname__}
    body |= {"__call__": call, "__signature__": _signature(function)}
    function.__class__ = type(kind.__name__, (kind,), body)


def _signature(function) -> inspect.Signature:
    """The signature: the names of the arrays, all of them required."""
    arrays = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in function.input_names]
    return inspect.Signature([*arrays, inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)])
