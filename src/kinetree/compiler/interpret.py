"""The same source without a compiler: algorithms on floats, NumPy batches and extended precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

import numpy as np

from kinetree.algorithms.regularity import collected_pivots
from kinetree.errors import SingularityError
from kinetree.native.arrays import explain, nested
from kinetree.native.singularity import singularity

_interpreted: ContextVar[bool] = ContextVar("kinetree_interpreted", default=False)
opened: list[bool] = []  # not empty once any context was opened; until then plain calls need not read the variable


@contextmanager
def interpreted() -> Iterator[None]:
    """Run the algorithms as plain Python in this context: for debugging, extended precision, platforms without LLVM.

    Notes
    -----
    Source: the same lines that are compiled otherwise. Arrays of ``numpy.longdouble`` are always interpreted. The
    model's own data are doubles: rotations and axes off the coordinate axes are orthogonal to 1e-16 only.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.double_pendulum()
    >>> with kt.interpreted():
    ...     a = kt.aba(model, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    >>> bool(np.allclose(a, kt.aba(model, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0]), rtol=1e-12))
    True
    """
    opened[:] = [True]
    token = _interpreted.set(True)
    try:
        yield
    finally:
        _interpreted.reset(token)


is_interpreted = _interpreted.get  # whether this context interprets; read at plain calls


def interpret(spec, model, arrays: Mapping[str, np.ndarray], batch, dtype, static, checks=True) -> list[np.ndarray]:
    """Evaluate an algorithm over NumPy arrays; one array of shape ``(*batch, *shape)`` for each output."""
    if checks and (error := explain(spec, model, arrays, batch)):
        raise error
    scalars = {name: nested(_read_only(x, dtype), len(spec.shape(name, model))) for name, x in arrays.items()}
    numbers = model if dtype == np.float64 else _in_precision(model, dtype)
    try:
        with np.errstate(all="ignore"), nullcontext() if checks else collected_pivots():
            results = spec.function(numbers, **scalars, **static)
    except SingularityError:
        raise singularity(spec, model, arrays, batch) from None
    if len(spec.outputs) == 1:
        results = (results,)
    return [
        _assembled(result, spec.shape(name, model), batch, dtype)
        for name, result in zip(spec.outputs, results, strict=True)
    ]


def _in_precision(model, dtype):
    """The model over numbers of this precision: quantities of these alone would else be computed in doubles."""
    number = np.dtype(dtype).type
    return model.with_numbers([number(x) if free else x for free, x in model.number_pattern()])


def _read_only(x: np.ndarray, dtype) -> np.ndarray:
    """The array in a precision, for algorithms and joints that may compute in place: over a batch they get views."""
    x = x.astype(dtype, copy=False).view()
    x.setflags(write=False)
    return x


def _assembled(result, shape, batch, dtype) -> np.ndarray:
    out = np.empty((*batch, *shape), dtype)
    for index in np.ndindex(*shape):
        entry = result
        for k in index:
            entry = entry[k]
        out[(..., *index)] = entry
    return out
