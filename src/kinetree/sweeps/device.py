"""Rollouts on a CUDA device: all samples of a chunk take one step in one launch, states stay on the device."""

from __future__ import annotations

import numpy as np

from kinetree.compiler.function import StatewiseFunction
from kinetree.export.cuda import to_cuda
from kinetree.export.wrapper import imported

NEEDS = (
    "device='cuda' runs through CuPy, which is not installed: pip install cupy-cuda12x (or cupy-cuda13x, as your "
    "driver has it). device='cpu' needs nothing."
)


def require_device() -> None:
    """Raise an error where there is no CUDA device.

    Raises
    ------
    MissingDependencyError
    """
    from kinetree.errors import MissingDependencyError

    cupy = imported("cupy", NEEDS)
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # of the driver, in many forms
        count, reason = 0, f": {error}"
    else:
        reason = ""
    if not count:
        raise MissingDependencyError(f"sweep: device='cuda', but there is no CUDA device{reason}. Take device='cpu'.")


def rolled_on_device(f, batch, states, inputs, records, steps: int, every: int) -> None:
    """All steps of a batch; arguments as of `kinetree.compiler.rollout.roll`.

    Notes
    -----
    The kernels compute the bits of the CPU (on processors with FMA), so a sweep may be resumed on the other one.
    """
    cupy = imported("cupy", NEEDS)
    dtype = records[0].dtype
    step = to_cuda(f, checks=False)
    if isinstance(f, StatewiseFunction):
        inputs = [*inputs, f.params[dtype][..., None, :]]
    sizes = [len(shape) for _, shape in f.program.inputs[len(states) :]]
    state = [_sent(cupy, np.broadcast_to(x, (*batch, x.shape[-1])), dtype) for x in states]
    sent = [_of_time(cupy, x, own, batch, dtype) for x, own in zip(inputs, sizes, strict=True)]
    for t in range(steps + 1):
        if t % every == 0:
            for x, record in zip(state, records, strict=False):
                record[..., t // every, :] = x.get()
        if t < steps:
            state = list(step(*state, *(given(t) for given in sent)))


def _of_time(cupy, x, own: int, batch, dtype):
    """An input as a function of the step; constants are sent once."""
    lead, shape = x.shape[: x.ndim - own - 1], x.shape[x.ndim - own :]

    def at(t: int):
        now = x[(..., min(t, x.shape[len(lead)] - 1), *(slice(None),) * own)]
        shared = all(n == 1 for n in lead)
        return _sent(cupy, now.reshape(shape) if shared else np.broadcast_to(now, (*batch, *shape)), dtype)

    if x.shape[len(lead)] == 1:
        constant = at(0)
        return lambda t: constant
    return at


def _sent(cupy, x, dtype):
    return cupy.asarray(np.ascontiguousarray(x, dtype))
