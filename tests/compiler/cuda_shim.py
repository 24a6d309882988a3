"""Emitted CUDA kernels, executed on the CPU: compiled as C++ against ``cuda_shim.h``, thread by thread."""

from __future__ import annotations

import ctypes
import pathlib
import shutil
import subprocess

import numpy as np

from kinetree.export.cuda_source import CudaSource
from kinetree.trace.program import Program

COMPILER = shutil.which("g++") or shutil.which("clang++")


class ShimKernel:
    """A `CudaSource` that runs on NumPy arrays.

    Parameters
    ----------
    source : CudaSource
    program : Program
        The program it was written from.
    params : ndarray or None
        Values of the program's prologue.
    folder : path
        Where to build.
    level : int
        Optimization level of the compiler: long kernels take it minutes at 1.
    """

    def __init__(self, source: CudaSource, program: Program, params, folder: pathlib.Path, level: int = 0) -> None:
        self.source, self.program = source, program
        self.dtype = np.dtype(source.dtype)
        ins, outs = len(program.inputs), len(program.outputs)
        arguments = [f"in[{k}]" for k in range(ins)] + [f"out[{k}]" for k in range(outs)] + ["n", "status"]
        if program.params:
            arguments.append("*(const Params *)params" if source.by_value else "params")
        text = f"""#include "{pathlib.Path(__file__).with_name("cuda_shim.h")}"
{source.text}
extern "C" int run(const Real **in, Real **out, long long n, unsigned int *status, const Real *params, int backwards) {{
  return shim::run_grid(n, {source.threads}, backwards, [=] {{ {source.name}({", ".join(arguments)}); }});
}}
"""
        path = pathlib.Path(folder) / f"{source.name}.cpp"
        path.write_text(text)
        library = path.with_suffix(".so")
        options = [f"-O{level}", "-std=c++17", "-ffp-contract=off", "-w", "-shared", "-fPIC"]
        built = subprocess.run(
            [COMPILER, *options, str(path), "-o", str(library)], capture_output=True, text=True, check=False
        )
        if built.returncode:
            raise AssertionError(f"the emitted kernel is no C++:\n{built.stderr[:3000]}")
        self._run = ctypes.CDLL(str(library)).run
        self.params = None if params is None else np.ascontiguousarray(params, self.dtype)

    def __call__(self, arrays, n: int, backwards: bool = False) -> tuple[list[np.ndarray], int]:
        """The outputs, flat rows that were poisoned before, and the status."""
        arrays = [np.ascontiguousarray(x, self.dtype) for x in arrays]
        outs = [np.full((n, *shape), np.nan, self.dtype) for _, shape in self.program.outputs]
        status = ctypes.c_uint(0)
        pointers = [(ctypes.c_void_p * max(1, len(xs)))(*(x.ctypes.data for x in xs)) for xs in (arrays, outs)]
        params = None if self.params is None else ctypes.c_void_p(self.params.ctypes.data)
        agreed = self._run(*pointers, ctypes.c_longlong(n), ctypes.byref(status), params, int(backwards))
        assert agreed, "some lanes of a warp missed a barrier that others waited at"
        return outs, status.value
