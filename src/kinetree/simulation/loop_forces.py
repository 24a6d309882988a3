"""Forces of loops, and of other rows that are not eliminated, along a run."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.constrained import remaining_rows
from kinetree.errors import UnsupportedError
from kinetree.simulation.components import Channel, Component


class LoopForces(Component):
    """The multipliers of a method that keeps loops closed, at the samples: ``force.<label>.<row>``.

    Parameters
    ----------
    model : Model
    """

    name = "constraints"
    is_built_in = True

    def __init__(self, model) -> None:
        left, self._names = remaining_rows(model), []
        for c in model.constraints:
            self._names += [f"force.{c.label}.{n}" if c in left else "" for n in range(c.count(model))]
        self._stepper, self._log = None, []

    def wrap(self, stepper, system):
        """The same step."""
        self._stepper = stepper
        return stepper

    def reset(self, simulation) -> None:
        """Before the first step."""
        self._log = []

    def after_step(self, step) -> None:
        """Keep the multipliers at its end."""
        before, after = self._stepper.multipliers
        self._log += [(step.t0, before)] if not self._log else []
        self._log.append((step.t1, after))

    def after_reset(self, t) -> None:
        """The run continues from a time within the last step."""
        if len(self._log) > 1 and self._log[-1][0] > t:
            self._log[-1] = (t, self._log[-1][1])

    def get_state(self):
        """The multipliers so far."""
        return list(self._log)

    def set_state(self, state) -> None:
        """Restore a state of `get_state`."""
        self._log = list(state)

    def channels(self, run) -> dict[str, Channel]:
        """Forces along each row [N or N m]; constraints do no work."""
        if not self._log:
            return {}
        times, values = np.array([t for t, _ in self._log]), np.array([x for _, x in self._log])
        after = np.clip(np.searchsorted(times, run.time), 1, len(times) - 1)
        rows = after - (run.time - times[after - 1] < times[after] - run.time)
        return {name: Channel("other", values[rows, n], "N or N m") for n, name in enumerate(self._names) if name}


def requested_loops(model, method, others) -> LoopForces | None:
    """The component for the rows of a model that steps have to keep; None if there are none, or not by this method.

    Raises
    ------
    UnsupportedError
        The method keeps them, but not beside prescribed motions, friction or limits.
    """
    left = remaining_rows(model)
    if not left or not getattr(method, "keeps_loops", False):
        return None
    if others is not None and not others.locks_alone:
        raise UnsupportedError(
            f"simulate: {left[0]} beside {others.words}: steps keep the one or the other. Take one of them out of "
            "model.constraints.",
            model=model.name,
        )
    return LoopForces(model)
