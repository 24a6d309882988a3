"""Functions on CUDA devices: the kernels of `cuda_source` run by CuPy on device arrays.

CuPy is imported when the first array arrives; writing the source needs neither it nor a device.
"""

from __future__ import annotations

from math import prod

import numpy as np

from kinetree.arguments import a_compiled_function, a_truth_value, a_word, checked
from kinetree.compiler.fused import flattened
from kinetree.errors import CompilationError, NonFiniteError, ShapeError
from kinetree.export.cuda_source import CudaSource, emit
from kinetree.export.wrapper import Wrapper, imported, params_of
from kinetree.native.arrays import explain
from kinetree.native.c_names import identifier
from kinetree.once import made_once
from kinetree.trace.program import leading_axes

OPTIONS = ("--std=c++17", "--fmad=false")
"""For NVRTC. Sums and products are fused in the program; fused further, results would differ from those of the CPU."""

_CUDA = 2  # DLPack's number for memory of CUDA devices


@checked(function=a_compiled_function)
def to_cuda(function, *, checks: bool | None = None) -> CudaFunction:
    """A compiled function on CUDA devices: ``to_cuda(f)(q, v, a)`` with CuPy arrays.

    Parameters
    ----------
    function : Function
        Made by `kinetree.compile`.
    checks : bool, optional
        Whether inputs that are not finite or outside the algorithm's domain are refused; then every call waits for the
        device. Default: as the function was compiled.

    Returns
    -------
    CudaFunction

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.export.cuda import to_cuda
    >>> f = to_cuda(kt.compile(kt.models.double_pendulum(), "aba", checks=False))
    >>> f
    <CudaFunction aba for model 'double_pendulum'>
    >>> q = cupy.zeros((1_000_000, 2), "float32")                                       # doctest: +SKIP
    >>> f(q, q, q).shape                                                                # doctest: +SKIP
    (1000000, 2)
    """
    return CudaFunction(function, function.checks if checks is None else checks)


@checked(
    function=a_compiled_function,
    dtype=a_word,
    checks=a_truth_value,
)
def cuda_source(function, dtype: str = "float32", *, checks: bool = False, **options) -> CudaSource:
    """The CUDA C++ source of a compiled function, with its launch parameters.

    Parameters
    ----------
    function : Function
    dtype : str
        ``"float32"`` or ``"float64"``, the type of all arrays.
    checks : bool
        Whether the kernel reports inputs outside the domain in its status word.
    **options
        Those of `kinetree.export.cuda_source.emit`: ``shared``, ``access``, ``threads``, ``blocks``.

    Returns
    -------
    CudaSource
        ``.text``, ``.name``, ``.threads`` and so on.

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.export.cuda import cuda_source
    >>> source = cuda_source(kt.compile(kt.models.double_pendulum(), "rnea"))
    >>> source.name, source.threads
    ('kinetree_rnea', 128)
    """
    return emit(function.program, dtype, checks=checks, name=identifier(f"kinetree_{function.name}"), **options)


def packed_params(function, dtype) -> np.ndarray | None:
    """The values of the program's params for the function's model, as the kernel takes them by value; None without."""
    params = params_of(function)
    if params is None:
        return None
    packed = np.zeros((), dtype=[("x", dtype, params.shape)])
    packed["x"] = params
    return packed


class CudaFunction(Wrapper):
    """An algorithm for a model on CUDA devices, called with device arrays. Made by `cuda`.

    Arrays are those of CuPy, or anything that shares device memory by ``__cuda_array_interface__`` or DLPack (PyTorch,
    JAX): nothing is copied. They are C-contiguous, all float32 or all float64, ``(..., *shape)`` with the same leading
    axes; an array without them holds for all states. Kernels are compiled at the first call for each type, and run in
    CuPy's current stream on the device of the arrays.

    Attributes
    ----------
    function : Function
        The compiled function.
    checks : bool
        Whether calls refuse inputs outside the domain (and wait for the device).
    options : dict
        Options of `emit` beside the type, for experiments: ``access``, ``threads``, ``blocks``.
    """

    package = "CUDA"

    def __init__(self, function, checks: bool, **options) -> None:
        super().__init__(function)
        self.checks = checks
        self.options = options
        self._launches: dict[tuple, _Launch] = {}

    def __call__(self, *args, out=None, **named):
        cupy = imported(
            "cupy",
            "CUDA functions run through CuPy, which is not installed: pip install cupy-cuda12x (or cupy-cuda13x, as "
            "your driver has it).",
        )
        f = self.function
        names = f.input_names
        given = zip(names, f._bound(args, named), strict=True)
        arrays = [_device_array(cupy, f.name, name, x) for name, x in given]
        shapes = [f.spec.shape(name, f.model) for name in names]
        dtype = arrays[0].dtype
        if dtype not in (np.float32, np.float64) or any(x.dtype != dtype for x in arrays):
            found = ", ".join(f"{name} {x.dtype}" for name, x in zip(names, arrays, strict=True))
            raise ShapeError(f"{f.name}: on a device all arrays are float32 or all float64; found {found}.")
        batch, shared = _batch(f, names, arrays, shapes)
        with arrays[0].device:
            results = self._outputs(cupy, out, batch, dtype, arrays)
            n = prod(batch)
            if n:
                launch = self._launch(cupy, dtype, shared)
                status = cupy.zeros(1, np.uint32) if self.checks else launch.status
                launch(arrays, results, n, status)
                if self.checks and int(status[0]):
                    host = {name: x.get() for name, x in zip(names, arrays, strict=True)}
                    error = explain(f.spec, f.model, host, batch)
                    raise error or NonFiniteError(f"{f.name}: an input is outside the algorithm's domain.")
        return f._pack(results)

    def source(self, dtype: str = "float32", shared: tuple[str, ...] = ()) -> CudaSource:
        """The kernel for arrays of a type, of which those in ``shared`` hold for all states."""
        return cuda_source(self.function, dtype, checks=self.checks, shared=shared, **self.options)

    def _outputs(self, cupy, out, batch, dtype, arrays) -> list:
        f = self.function
        shapes = [(*batch, *f.spec.shape(name, f.model)) for name in f.output_names]
        if out is None:
            return [cupy.empty(shape, dtype) for shape in shapes]
        given = list(flattened(out))
        if len(given) != len(shapes):
            raise ShapeError(f"{f.name}: out needs {len(shapes)} arrays ({', '.join(f.output_names)}).")
        given = [_device_array(cupy, f.name, "out", x) for x in given]
        extents = [_extent(x) for x in arrays]
        for name, x, shape in zip(f.output_names, given, shapes, strict=True):
            if x.shape != shape or x.dtype != dtype or not x.flags.c_contiguous:
                raise ShapeError(
                    f"{f.name}: out for {name} must be a C-contiguous array of shape {shape} and type {dtype}, found "
                    f"shape {x.shape}, {x.dtype}.",
                    expected=shape,
                )
            start, end = _extent(x)
            if any(start < e and s < end for s, e in extents):
                raise ShapeError(f"{f.name}: out for {name} overlaps another array of the call.")
            extents.append((start, end))
        return given

    def _launch(self, cupy, dtype, shared) -> _Launch:
        key = (cupy.cuda.Device().id, dtype.name, shared)
        launch = self._launches.get(key)
        return made_once(self._launches, key, self._launch_of, cupy, dtype, shared) if launch is None else launch

    def _launch_of(self, cupy, dtype, shared) -> _Launch:
        return _Launch(cupy, self.source(dtype.name, shared), packed_params(self.function, dtype))


class _Launch:
    """A kernel on one device with its params."""

    def __init__(self, cupy, source: CudaSource, params: np.ndarray | None) -> None:
        module = cupy.RawModule(code=source.text, options=OPTIONS)
        try:
            self.kernel = module.get_function(source.name)
            self.kernel.num_regs  # noqa: B018 - compiles and loads now
        except Exception as error:
            raise CompilationError(f"CUDA refuses the kernel {source.name}: {error}", source=source.text) from error
        self.source = source
        self.status = cupy.zeros(1, np.uint32)
        if params is not None and not source.by_value:
            params = cupy.asarray(params["x"])
        self.params = () if params is None else (params,)

    def __call__(self, arrays, results, n: int, status) -> None:
        grid = -(-n // self.source.threads)
        self.kernel((grid,), (self.source.threads,), (*arrays, *results, np.int64(n), status, *self.params))


def _device_array(cupy, caller: str, name: str, x):
    """The array as one of CuPy's over the same memory."""
    if isinstance(x, cupy.ndarray):
        return x
    if hasattr(x, "__cuda_array_interface__"):
        return cupy.asarray(x)
    if hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] == _CUDA:
        return cupy.from_dlpack(x)
    raise ShapeError(
        f"{caller}: {name} is a {type(x).__module__}.{type(x).__name__}, expected an array on a CUDA device. Move it "
        "there with cupy.asarray(x): the copy takes longer than the computation, so it is left to you.",
        name=name,
    )


def _batch(f, names, arrays, shapes) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The leading axes of the call, and the inputs without leading axes in a batched call."""
    leading = {}
    for name, x, shape in zip(names, arrays, shapes, strict=True):
        leading[name] = leading_axes(name, x.shape, shape, f"{f.name} for model {f.model.name!r}: ")
        if not x.flags.c_contiguous:
            raise ShapeError(f"{f.name}: {name} is not C-contiguous; cupy.ascontiguousarray(x) copies it.", name=name)
    batch = max(leading.values(), key=len)
    if any(axes not in (batch, ()) for axes in leading.values()):
        shown = ", ".join(f"{name}: {axes}" for name, axes in leading.items())
        raise ShapeError(f"{f.name}: the leading (batch) axes must be equal, or absent; found {shown}.")
    return batch, tuple(name for name, axes in leading.items() if axes != batch)


def _extent(x) -> tuple[int, int]:
    return x.data.ptr, x.data.ptr + x.nbytes
