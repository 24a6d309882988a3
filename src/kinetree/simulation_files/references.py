"""Moving references of controllers: functions of time by names of joints, or a run that was saved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.joints.time_functions import TIME_FUNCTIONS, derivatives
from kinetree.simulation.trajectory import Trajectory


def reference_of(file, model, q0):
    """The motion that a controller follows.

    Parameters
    ----------
    file : SimulationFile
    model : Model
    q0 : (nq,) array
        Positions of the joints without a function.
    """
    given = file.content["controller"]["reference"]
    if isinstance(given, str):
        with file.blaming("controller", "reference"):
            return Trajectory.load(file.beside(given), model=model)
    functions = {}
    for name, entry in given.items():
        with file.blaming("controller", "reference", name):
            i = model.joint(name)
            if not model.joints[i].nq == model.joints[i].nv == 1:
                raise KinetreeError(f"the joint has {model.joints[i].nq} positions, expected one")
            values = {key: tuple(x) if isinstance(x, list) else x for key, x in entry.items() if key != "kind"}
            functions[name] = TIME_FUNCTIONS[entry["kind"]](**values)
    return TimeReference(model, q0, functions)


class TimeReference:
    """Positions, velocities and accelerations of the joints as functions of time.

    Parameters
    ----------
    model : Model
    q0 : (nq,) array
        Positions of all other joints, which rest.
    functions : mapping of str to function
        By names of joints of one freedom; of `kinetree.joints.time_functions`.
    """

    def __init__(self, model, q0, functions: Mapping[str, object]) -> None:
        self._q, self._nv = np.array(q0, dtype=float), model.nv
        slots = [(model.q_slice[i].start, model.v_slice[i].start) for i in map(model.joint, functions)]
        self._functions = list(zip(slots, functions.values(), strict=True))

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v and a at a time [s]."""
        q, v, a = self._q.copy(), np.zeros(self._nv), np.zeros(self._nv)
        for (at, rate), function in self._functions:
            q[at], v[rate], a[rate] = map(float, derivatives(function, t))
        return q, v, a
