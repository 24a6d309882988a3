"""Forces of loops, and of other rows that are not eliminated, along a run."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.bounded_rows import bounded_constraints
from kinetree.algorithms.constrained import remaining_rows
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.constraints import HardLimits, HardLoopLimits
from kinetree.integrators.singular_steps import sampled_dynamics
from kinetree.integrators.system import System, dynamics_time, internal_arguments
from kinetree.simulation.bounded_forces import FORCES, recorded_forces
from kinetree.simulation.components import Channel, Component
from kinetree.simulation.contact_forces import joint_forces
from kinetree.simulation.contacts import FORCE
from kinetree.state_kinematics import Kinematics


class LoopForces(Component):
    """The multipliers of loops at the samples, by the equations of motion: ``force.<label>.<row>``.

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

    def channels(self, run) -> dict[str, Channel]:
        """Forces along each row [N or N m], which do no work; power of bounded forces, impacts left out."""
        values = self._multipliers(run)
        found = {name: Channel("other", values[:, n], "N or N m") for n, name in enumerate(self._names) if name}
        return found | self._bounded(run, values)

    @staticmethod
    def _bounded(run, values) -> dict[str, Channel]:
        """Power of bounded forces, and these forces."""
        found, bounded = {}, {}
        model = run.model.at(run.time) if run.model.time_dependent else run.model
        kin = Kinematics(model, list(run.q.T), list(run.v.T))
        for c, numbers in model.constraint_rows():
            if c.row_kind == "box":
                kind = "stops" if isinstance(c, (HardLimits, HardLoopLimits)) else "dry friction"
                forces = bounded.setdefault(kind, np.zeros(run.v.shape))
                for n, row in zip(numbers, c.rows(kin), strict=True):
                    for k, x in row.items():
                        forces[:, k] += x * values[:, n]
        for kind, forces in bounded.items():
            found[kind] = Channel("power", forces * run.v)
            found[f"force.{kind}"] = Channel("other", forces, "N m or N")
        return found

    def _multipliers(self, run) -> np.ndarray:
        """Of all rows, (T, nc)."""
        return multipliers(run, run.model, run.tau)


def multipliers(run, model, tau) -> np.ndarray:
    """Of all rows of a model at the samples of a run under joint forces, (T, nc)."""
    wrenches = run.metadata.wrenches
    given = (() if wrenches is None else (wrenches,)) + internal_arguments(model, run.x, run.u)
    q, v, tau = (np.ascontiguousarray(x) for x in (run.q, run.v, tau))
    arguments = q, v, tau, *dynamics_time(model, run.time), *given
    spec = ALGORITHMS["forward_dynamics"].variants["multipliers"]
    return sampled_dynamics(System(model, wrenches is not None), spec, arguments)[1]


class SteppedLoopForces(LoopForces):
    """Those of time stepping: contacts act on the loops; bounded forces and their work are those of the steps."""

    def channels(self, run) -> dict[str, Channel]:
        """Forces along each row [N or N m], which do no work; power, work and forces of limits and friction."""
        return super().channels(run) if any(self._names) else self._bounded(run, None)

    def _multipliers(self, run) -> np.ndarray:
        pushed = (joint_forces(System(run.model), run.q, x.values, run.time) for x in run.extra if x.name == FORCE)
        return multipliers(run, run.model, sum(pushed, run.tau))

    @staticmethod
    def _bounded(run, values) -> dict[str, Channel]:
        found, forces, work = {}, recorded_forces(run), run.metadata.bounded_work
        for kind, own in zip(FORCES, () if work is None else np.hsplit(work - work[0], len(FORCES)), strict=False):
            if kind in forces:
                found[kind] = Channel("power", forces[kind] * run.v, work=own)
                found[f"force.{kind}"] = Channel("other", forces[kind], "N m or N")
        return found


class KeptLoopForces(LoopForces):
    """The multipliers of a method that solves for them in its steps.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model) -> None:
        super().__init__(model)
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

    def _multipliers(self, run) -> np.ndarray:
        if not self._log:
            return np.zeros((len(run.time), len(self._names)))
        times, values = np.array([t for t, _ in self._log]), np.array([x for _, x in self._log])
        after = np.clip(np.searchsorted(times, run.time), 1, len(times) - 1)
        return values[after - (run.time - times[after - 1] < times[after] - run.time)]


def requested_loops(model, method) -> LoopForces | None:
    """The component for the rows of a model that steps have to keep; None if there are none."""
    if not remaining_rows(model) and not bounded_constraints(model):
        return None
    if getattr(method, "name", "") == "time_stepping":
        return SteppedLoopForces(model)
    return (KeptLoopForces if getattr(method, "keeps_loops", False) else LoopForces)(model)
