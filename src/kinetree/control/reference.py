"""References of controllers: motions of the joints as functions of time, from positions, functions or trajectories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_model, refuse
from kinetree.errors import ShapeError
from kinetree.integrators.user_code import copied
from kinetree.model import Model

FORMS = "positions (nq,), a function of time that returns q, (q, v) or (q, v, a), or a Trajectory"


@dataclass(frozen=True, eq=False)
class JointReference:
    """The motion that a controller of the joints follows.

    Parameters
    ----------
    model : Model
    source : (nq,) array_like, callable or Trajectory
        Constant positions [rad or m]; a function of time [s] that returns q, (q, v) or (q, v, a), in which velocities
        and accelerations that are left out are zero; or a run, which is interpolated and rests before its start and
        after its end.

    Raises
    ------
    ArgumentError, ShapeError
        From calls, too: a function is read when it is called.
    """

    model: Model
    source: object

    def __post_init__(self) -> None:
        a_model("JointReference: model", self.model)
        if isinstance(self.source, type):
            refuse("reference", self.source, FORMS)
        run = hasattr(self.source, "state") and hasattr(self.source, "time")
        if run and self.source.q.shape[1:] != (self.model.nq,):
            self._refuse(self.source.q[0], "of the trajectory")
        if not run and not callable(self.source):
            constant = self._arrays((self.source,), "")
            object.__setattr__(self, "source", constant[0])
            object.__setattr__(self, "_constant", constant)

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, velocities and accelerations at a time [s]."""
        if not callable(self.source):
            return self._of_run(t) if hasattr(self.source, "state") else self._constant
        found = self.source(t)
        return self._arrays(found if isinstance(found, tuple) else (found,), f" at t = {t:.9g} s")

    def _of_run(self, t: float):
        run, rest = self.source, np.zeros(self.model.nv)
        if not run.time[0] <= t <= run.time[-1]:
            return run.q[0 if t < run.time[0] else -1], rest, rest
        return *run.state(t), np.array([np.interp(t, run.time, a) for a in run.a.T])

    def _arrays(self, given: tuple, at: str):
        sizes = (self.model.nq, self.model.nv, self.model.nv)
        if not 1 <= len(given) <= 3:
            refuse(f"reference{at}", given, "q, (q, v) or (q, v, a)")
        found = []
        for name, size, value in zip("qva", sizes, given, strict=False):
            try:
                x = copied(value)
            except (TypeError, ValueError):
                refuse(f"reference{at}", value, FORMS)
            if x.shape != (size,):
                self._refuse(x, f"for {name}{at}", size)
            if not np.isfinite(x).all():
                refuse(f"reference: {name}{at}", value, "finite numbers")
            found.append(x)
        return *found, *(np.zeros(size) for size in sizes[len(found) :])

    def _refuse(self, x, where: str, size: int | None = None):
        size = self.model.nq if size is None else size
        raise ShapeError(
            f"reference: the array {where or 'for q'} has shape {x.shape}, expected ({size},) for model "
            f"{self.model.name!r} (nq = {self.model.nq}, nv = {self.model.nv}).",
            found=x.shape,
        )


def joint_reference(model: Model, source) -> JointReference:
    """A reference as an object; one that is such an object already is kept."""
    return source if isinstance(source, JointReference) else JointReference(model, source)
