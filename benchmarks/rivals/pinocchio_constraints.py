"""Pinocchio's constrained dynamics in C++ in this process, compiled and called like `benchmarks.rivals.pinocchio_cpp`.

The model travels as text, constraints as joints and placements. ``computeJointMinimalOrdering`` has set up the order in
which ``lcaba`` eliminates joints; it takes the same tree and the same point constraints as ``constraintDynamics``.
"""

from __future__ import annotations

import ctypes
import pathlib
import tempfile
from collections.abc import Callable

import numpy as np

from benchmarks.rivals.pinocchio_cpp import library

SOURCE = pathlib.Path(__file__).with_name("pinocchio_constraints.cpp")
NUMBERS = {"constraintDynamics": 0, "lcaba": 1, "derivatives": 2}
"""Of the algorithms in the C++ source; "derivatives" are those of accelerations and multipliers, dynamics included."""


class PinocchioCpp:
    """A C++ loop over states of a mechanism.

    Parameters
    ----------
    pin_model : pinocchio.Model
    constraints : sequence of pinocchio.RigidConstraintModel
        Points of two joints that stay together.
    q, v, tau : (n, nq), (n, nv), (n, nv) ndarray
        States in Pinocchio's order.
    """

    def __init__(self, pin_model, constraints, q, v, tau) -> None:
        self._library, self.about = library(SOURCE)
        rows = [np.ascontiguousarray(x, float) for x in (q, v, tau)]
        self.count, self._nv, self._nc = len(rows[0]), pin_model.nv, 3 * len(constraints)
        joints = np.array([(c.joint1_id, c.joint2_id) for c in constraints], dtype=ctypes.c_long)
        sides = [X for c in constraints for X in (c.joint1_placement, c.joint2_placement)]
        places = np.array([[*X.rotation.ravel(), *X.translation] for X in sides])
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (joints, places, *rows)]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "model.txt"
            pin_model.saveToText(str(file))
            name, sizes = str(file).encode(), (ctypes.c_long(len(constraints)), ctypes.c_long(self.count))
            address = self._library.robot_open(name, sizes[0], *pointers[:2], sizes[1], *pointers[2:])
        if not address:
            raise RuntimeError("Pinocchio's C++ could not read the mechanism that its Python package wrote")
        self._robot = ctypes.c_void_p(address)

    def choose(self, algorithm: str, accuracy: float, mu: float, iterations: int) -> None:
        """Settings of the proximal iterations of an algorithm."""
        numbers = ctypes.c_double(accuracy), ctypes.c_double(mu), ctypes.c_int(iterations)
        self._library.robot_settings(self._robot, NUMBERS[algorithm], *numbers)

    def runner(self, algorithm: str) -> Callable[[int], None]:
        """``run(n)``: n times all states; the result of each stays in Pinocchio's Data."""
        run, robot, number = self._library.robot_run, self._robot, NUMBERS[algorithm]
        return lambda n: run(robot, number, ctypes.c_long(n))

    def accelerations(self, algorithm: str) -> np.ndarray:
        """Of all states: (n, nv)."""
        return np.array([self._result(algorithm, k, self._nv) for k in range(self.count)])

    def derivatives(self) -> np.ndarray:
        """Of accelerations, then of multipliers, by q, v and tau: (n, nv + nc, 3 nv)."""
        nv, nc, found = self._nv, self._nc, []
        for k in range(self.count):
            flat = self._result("derivatives", k, 3 * nv * (nv + nc))
            a, forces = flat[: 3 * nv * nv].reshape(3, nv, nv), flat[3 * nv * nv :].reshape(3, nc, nv)
            found.append(np.vstack([np.hstack(list(a)), np.hstack(list(forces))]))
        return np.array(found)

    def _result(self, algorithm: str, state: int, size: int) -> np.ndarray:
        out = np.full(size, np.nan)
        place = out.ctypes.data_as(ctypes.c_void_p)
        self._library.robot_result(self._robot, NUMBERS[algorithm], ctypes.c_long(state), place)
        return out

    def __del__(self) -> None:
        if getattr(self, "_robot", None):
            self._library.robot_close(self._robot)
