"""Rollouts in which each sample has its own numbers of the model, start, inputs and gains of a controller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetree.simulation.rollout import Rollout
from kinetree.sweeps.control_laws import Law


class SweepRollout(Rollout):
    """Rollouts for sweeps: a `Rollout` with a law of control in its steps, on the CPU or on a CUDA device.

    Parameters
    ----------
    model : Model
    law : Law, optional
    diagonal : bool
        Whether gains are diagonals.
    own_frames : bool
        Whether code is for the user's own frames: needed where offsets of joints vary so that no zeros of better
        frames stay. One choice for all samples, so that bits do not depend on the others of a chunk.
    device : {"cpu", "cuda"}
    **options
        Of `Rollout`: integrator, ground, closure, threads.

    Notes
    -----
    States are not checked: a motion that blows up stays in its own sample.
    """

    def __init__(self, model, law: Law | None, diagonal: bool, own_frames: bool, device: str, **options) -> None:
        super().__init__(model, checks=False, device=device, **options)
        self._law, self._diagonal, self._own_frames = law, diagonal, own_frames
        self._given: dict[str, np.ndarray] = {}
        self._plain = self

    def with_inputs(self, given: dict[str, np.ndarray]) -> SweepRollout:
        """The same with these references (n, time, size) and gains (n, 1, nv, nv) of the law."""
        found = self._again(self._parameters)
        found._given, found._functions = given, self._functions
        return found

    def _again(self, parameters: tuple) -> SweepRollout:
        found = object.__new__(SweepRollout)
        vars(found).update(vars(self), _parameters=parameters, _functions={}, _chosen={})
        if not parameters:
            found._plain = found
        return found

    def _step_declaration(self):
        spec = super()._step_declaration()
        if self._law is not None:
            spec = self._law.step(spec, self._diagonal)
        return replace(spec, body_frames=True) if self._own_frames else spec

    def _function(self, present, spec=None, passing=False):
        if spec is None and self._law is not None:
            present = (*present, *self._law.shapes())
        if not self._parameters:
            return super()._function(present, spec, passing)
        # The function of the model's own numbers, whose code all sets share, is kept from chunk to chunk.
        key = (present, spec and spec.name, passing)
        found = self._functions.get(key)
        if found is None:
            found = super(SweepRollout, self._plain)._function(present, spec, passing)
            for parameters in self._parameters:
                found = found.with_parameters(parameters)
            found = self._functions.setdefault(key, found)
        return found

    def _run_kernel(self, f, batch, start, inputs, present, records, steps: int, every: int) -> None:
        given = [self._given[name].astype(records[0].dtype, copy=False) for name in self._given]
        super()._run_kernel(f, batch, start, [*inputs, *given], present, records, steps, every)

    def _at(self, inputs, present, t: int):
        return super()._at(inputs[: len(inputs) - len(self._given)] if self._given else inputs, present, t)
