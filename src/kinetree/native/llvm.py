"""LLVM IR of a Program: straight-line code over one state (scalar variant) or over a tile of states (SIMD variant).

Both variants do the same operations, so they agree bit for bit; those for batches may stand in another order
(`interleave`). FMAs are those of the program; no
fast-math flag is ever set. The text is written directly: about a microsecond per operation.

Each variant is a module of its own, compiled when it is first needed. The functions of the scalar variant:

* ``kinetree_scalar(inputs, outputs, params, heap) -> i32`` evaluates one state; inputs and outputs are arrays of
  pointers;
* ``kinetree_call(self, args, nargs)`` is the CPython builtin (`llvm_builtin`).

That of the SIMD variant:

* ``kinetree_batch(inputs, strides, outputs, n, params, heap, whole) -> i32`` evaluates n states of a batch of `whole`
  (`llvm_batch`).

``kinetree_layout`` is an array of one 64-bit integer: the bytes that the variant needs at ``heap``.

The integer returned is a set of bits: 1 for NaN or infinity among the inputs, ``2 << k`` for check k.

Each evaluation works in a *frame*: a status word, then slots for sines, cosines and values that cross a chunk, in the
SIMD variant also the tiles of inputs and results. Frames live on the stack up to `STACK` bytes, others at ``heap``.
"""

from __future__ import annotations

from kinetree.native.engine import Target
from kinetree.native.interleave import interleaved
from kinetree.native.llvm_batch import emit_batch
from kinetree.native.llvm_builtin import emit_builtin
from kinetree.native.llvm_module import Module
from kinetree.native.llvm_plan import CHUNK
from kinetree.native.llvm_state import emit_state
from kinetree.trace.packing import pack
from kinetree.trace.program import Program


def emit(
    program: Program,
    dtype: str,
    target: Target,
    checks: bool = True,
    chunk: int = CHUNK,
    builtin: bool = True,
    variant: str = "scalar",
) -> str:
    """IR text of one variant of a program for one machine.

    Parameters
    ----------
    program : Program
        The program to evaluate.
    dtype : str
        ``"float64"`` or ``"float32"``.
    target : Target
        The machine; its vector width is the number of states in a tile.
    checks : bool
        Whether checks are evaluated for the returned status.
    chunk : int
        Operations per function.
    builtin : bool
        Whether the scalar variant includes the CPython builtin.
    variant : str
        ``"scalar"`` or ``"batch"``.
    """
    if variant == "scalar" and target.vector_bytes >= 32:
        program = pack(program, checks)
    elif variant == "batch":
        program = interleaved(program)
    module = Module(program, {"float64": "double", "float32": "float"}[dtype], target, checks, chunk)
    if variant == "batch":
        emit_batch(module)
    else:
        emit_state(module)
        if builtin:
            emit_builtin(module)
    return module.text()
