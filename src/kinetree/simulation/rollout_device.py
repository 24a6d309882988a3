"""Rollouts on a CUDA device: all states of a batch take one step in one launch, and stay on the device in between."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import choice
from kinetree.compiler.function import Function, StatewiseFunction
from kinetree.errors import CompilationError, KinetreeError, MissingDependencyError, ShapeError
from kinetree.export.wrapper import imported
from kinetree.once import made_once

DEVICES = ("cpu", "cuda")
_NEEDS = (
    "device='cuda' runs through CuPy, which is not installed: pip install cupy-cuda12x (or cupy-cuda13x, as your "
    "driver has it). device='cpu' needs nothing."
)


def a_device(caller: str, device: object) -> str:
    """The argument ``device=``; a CUDA device must be there.

    Parameters
    ----------
    caller : str
        Opens the message.
    device : {"cpu", "cuda"}

    Raises
    ------
    UnknownNameError, ArgumentError, MissingDependencyError
    """
    if choice(f"{caller}: device", device, DEVICES) == "cpu":
        return "cpu"
    cupy = imported("cupy", f"{caller}: {_NEEDS}")
    try:
        count, reason = cupy.cuda.runtime.getDeviceCount(), ""
    except Exception as error:  # of the driver, in many forms
        count, reason = 0, f" ({error})"
    if not count:
        raise MissingDependencyError(
            f"{caller}: device='cuda', but there is no CUDA device{reason}. Take device='cpu'.", package="cupy"
        )
    return "cuda"


def rolled_on_device(f: Function, batch, states, inputs, records, steps: int, every: int) -> int:
    """All steps of a batch; arguments and result as of `kinetree.compiler.rollout.roll`.

    Notes
    -----
    Kernels compute the bits of the CPU (on processors with FMA). With checks, each step waits for the device.
    """
    cupy = imported("cupy", _NEEDS)
    dtype = records[0].dtype
    step, program = _on_device(f), f.program
    if isinstance(f, StatewiseFunction):
        inputs = [*inputs, f.params[dtype][..., None, :]]
    sizes = [len(shape) for _, shape in program.inputs[len(states) :]]
    state = [_sent(cupy, np.broadcast_to(x, (*batch, x.shape[-1])), dtype) for x in states]
    given = [_over_time(cupy, x, own, batch, dtype) for x, own in zip(inputs, sizes, strict=True)]
    for t in range(steps + 1):
        if t % every == 0:
            for x, record in zip(state, records, strict=False):
                record[..., t // every, :] = x.get()
        if t < steps:
            try:
                state = list(step(*state, *(at(t) for at in given)))
            except KinetreeError as error:
                if f.checks and not isinstance(error, (CompilationError, ShapeError)):
                    return 1  # an input out of its domain: which, and at which step, is found on the CPU
                raise
    return 0


def _on_device(f: Function):
    """The function of device arrays, kept with the code that it has."""
    from kinetree.export.cuda import to_cuda

    kept = f.base.statewise if isinstance(f, StatewiseFunction) else f._own
    return made_once(kept, ("cuda", f.checks), to_cuda, f)


def _over_time(cupy, x, own: int, batch, dtype):
    """An input as a function of the step; constants are sent once."""
    lead, time, shape = x.shape[: x.ndim - own - 1], x.shape[x.ndim - own - 1], x.shape[x.ndim - own :]
    shared = all(n == 1 for n in lead)

    def at(t: int):
        now = x[(*(slice(None),) * len(lead), t)]
        return _sent(cupy, now.reshape(shape) if shared else np.broadcast_to(now, (*batch, *shape)), dtype)

    if time == 1:
        constant = at(0)
        return lambda t: constant
    return at


def _sent(cupy, x, dtype):
    """An array on the device; not `numpy.ascontiguousarray`, which gives single numbers an axis."""
    return cupy.asarray(np.require(x, dtype, "C"))
