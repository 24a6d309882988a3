"""A stand-in for CuPy and a CUDA device: arrays are those of NumPy, kernels run in the emulation of `cuda_shim`."""

from __future__ import annotations

import sys
import types

import numpy as np

from kinetree.export import cuda
from tests.compiler.cuda_shim import ShimKernel


class Array(np.ndarray):
    """A NumPy array that passes for one of CuPy's."""

    device = property(lambda self: Nothing())
    get = lambda self: np.array(self)  # noqa: E731

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.ctypes.data)


class Nothing:
    """A device, as a context."""

    id = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def on_device(x) -> Array:
    """An array as one of the device."""
    return np.require(x, None, "C").view(Array)


def emulate(monkeypatch, folder, count: int = 1) -> types.SimpleNamespace:
    """Let a module of the name cupy be there, with the part of CuPy that calls use.

    Parameters
    ----------
    monkeypatch : pytest.MonkeyPatch
    folder : path
        Where kernels are built.
    count : int
        Of devices.

    Returns
    -------
    SimpleNamespace
        The module; ``launches`` are the names of kernels that ran, ``built`` those that were compiled.
    """
    written, original = {}, cuda.emit

    def emit(program, *args, **options):
        source = original(program, *args, **options)
        written[source.text] = program, source
        return source

    monkeypatch.setattr(cuda, "emit", emit)
    built: list[str] = []
    launches: list[str] = []

    class RawModule:
        def __init__(self, code, options):
            self.code = code

        def get_function(self, name):
            program, source = written[self.code]
            built.append(name)
            place = folder / f"kernel{len(built)}"
            place.mkdir()
            kernels = {}  # for the params of each call

            def launch(grid, block, arguments):
                ins, outs = len(program.inputs), len(program.outputs)
                n = int(arguments[ins + outs])
                assert block == (source.threads,) and grid == (-(-n // source.threads),)
                if "kernel" not in kernels:
                    kernels["kernel"] = ShimKernel(source, program, None, place)
                kernel = kernels["kernel"]
                if len(arguments) > ins + outs + 2:
                    params = arguments[-1]
                    params = params["x"] if params.dtype.names else params
                    kernel.params = np.ascontiguousarray(params, kernel.dtype)
                results, status = kernel([np.asarray(x) for x in arguments[:ins]], n)
                for target, result in zip(arguments[ins : ins + outs], results, strict=True):
                    target[...] = result.reshape(target.shape)
                arguments[ins + outs + 1][0] |= status
                launches.append(name)

            launch.num_regs = 0
            return launch

    fake = types.SimpleNamespace(
        ndarray=Array,
        RawModule=RawModule,
        cuda=types.SimpleNamespace(Device=Nothing, runtime=types.SimpleNamespace(getDeviceCount=lambda: count)),
        zeros=lambda *x: np.zeros(*x).view(Array),
        empty=lambda *x: np.empty(*x).view(Array),
        asarray=on_device,
        launches=launches,
        built=built,
    )
    monkeypatch.setitem(sys.modules, "cupy", fake)
    return fake
