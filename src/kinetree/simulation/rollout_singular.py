"""Rollouts through singular positions of loops: found in the recorded states, and repeated by the special step.

The distances from singular positions are looked at some steps apart. Where they fall to zero within the next looks at
their present rate, the whole rollout is repeated with the model that `Model.passing` gives, whose steps are those of
the model elsewhere.
"""

from __future__ import annotations

from math import prod

import numpy as np

from kinetree.algorithms.singular_positions import loop_pivot
from kinetree.compiler.rollout import own_axes, roll
from kinetree.integrators.kernels import part

APART = 8  # steps between two looks at a state, where they are recorded; at most, so that looks are near to each other
AHEAD = 1.5  # looks
CLOSE, SURE = 0.3, 1e-3  # [rad] distances: larger ones are none, smaller ones are singular at any rate
PIVOT = part("loop_pivot", loop_pivot, "q[nq]", "pivot", body_frames="loops")


def through_singular(pivot, function, status, arrays, batch, steps: int, every: int) -> int:
    """Repeat the rollouts that go through singular positions; the status of the kernel.

    Parameters
    ----------
    pivot : Function
        Of `PIVOT`, without checks.
    function : callable
        Gives the special step when it is needed.
    status : int
        Of the rollouts so far; if it is not zero, all are repeated.
    arrays : (states, inputs, records)
        As for `roll`; the records are filled in.
    batch : tuple of int
    steps, every : int
    """
    states, inputs, records = arrays
    if not status and every > APART:
        return status
    passing = np.ones(batch, bool) if status else goes_through(pivot, records[0], max(1, APART // every))
    if not passing.any():
        return status
    f = function()
    shapes = [shape for _, shape in f._kernel(records[0].dtype).program.inputs[len(states) :]]
    states = [_chosen(x, batch, 1, passing) for x in states]
    inputs = [_chosen(x, batch, 1 + len(shape), passing) for x, shape in zip(inputs, shapes, strict=True)]
    found = [np.empty((int(passing.sum()), *x.shape[len(batch) :]), x.dtype) for x in records]
    status = roll(f, found[0].shape[:1], states, inputs, found, steps, every)
    if not status:
        for x, new in zip(records, found, strict=True):
            x[passing] = new
    return status


def _chosen(x, batch, own: int, which):
    """The rows of an array with leading axes that broadcast to the batch; as it is where all rollouts share it."""
    if prod(x.shape[: x.ndim - own]) == 1:
        return x.reshape(x.shape[x.ndim - own :])
    return np.ascontiguousarray(np.broadcast_to(x, (*batch, *x.shape[x.ndim - own :]))[which])


def goes_through(pivot, q, apart: int) -> np.ndarray:
    """Which of the rollouts, (..., rows, nq), pass a singular position."""
    looks = q[..., ::apart, :]
    d = pivot(np.ascontiguousarray(looks))
    d = np.sqrt(np.where(d > 0.0, d, 0.0))  # NaN is a singular position
    change = np.abs(np.diff(d, axis=-1))
    if change.shape[-1] == 0:
        return (d < SURE).any(axis=-1)
    least = np.minimum(d[..., 1:], d[..., :-1])
    most = change.copy()
    most[..., 1:] = np.maximum(most[..., 1:], change[..., :-1])
    most[..., :-1] = np.maximum(most[..., :-1], change[..., 1:])
    return ((least < CLOSE) & (least <= AHEAD * most)).any(axis=-1) | (d < SURE).any(axis=-1)


def is_repeated(model, f, kind) -> bool:
    """Whether rollouts are repeated: of one model in doubles, whose loops do not depend on time."""
    given = model.time_dependent or model.has_given_motions
    return kind == np.float64 and not given and not own_axes(f)
