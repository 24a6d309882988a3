"""BDF2 in Euler angles whose sequence changes before it becomes singular."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from scipy.spatial.transform import Rotation

from kinetree.integrators.bdf2 import BDF2
from kinetree.integrators.system import System
from kinetree.joints import SphericalEuler

SEQUENCES = (
    *("".join(p) for p in permutations("xyz")),
    *(f"{a}{b}{a}" for a, b in product("xyz", repeat=2) if a != b),
)
LEAST = 0.5  # determinant of the map from rates to angular velocity below which the sequence changes
SIZE = 3  # coordinates of a joint


class ChartedBDF2:
    """BDF2 of a model whose joints are all `SphericalEuler`, in the sequences that the source takes.

    After a step where ``|det|`` of the map from the rates of a joint to its angular velocity is at most 0.5, the joint
    gets the sequence with the largest determinant at this step's end or beginning, whichever is smaller. Positions and
    velocities of both are converted, so that the formula goes on.

    Parameters
    ----------
    build : callable
        ``build(sequences)`` gives the model.
    count : int
        Number of joints.

    Notes
    -----
    Source: the scheme of differentiable REDMAX (MATLAB, `JointSpherical`). A step depends on the coordinates, by an
    error of its order; methods on the manifold of rotations need no such changes.
    """

    def __init__(self, build, count: int) -> None:
        self._build, self.sequences = build, ["xyz"] * count
        self._start()

    def _start(self) -> None:
        self.model = self._build(tuple(self.sequences))
        self._method = BDF2(System(self.model))

    def states(self, q, v, h: float, steps: int):
        """Positions and velocities of all times in the sequence "xyz"."""
        rest, found = np.zeros(self.model.nv), [(q, v)]
        for n in range(steps):
            before = q, v
            q, v = self._method.step(n * h, h, q, v, lambda t: rest, lambda t: ())
            found.append(self._plain(q, v))
            if any(abs(self._det(k, self.sequences[k], q)) <= LEAST for k in range(len(self.sequences))):
                q, v = self._changed((n + 1) * h, h, before, (q, v))
        return map(np.array, zip(*found, strict=True))

    def _changed(self, t, h, before, now):
        old = list(self.sequences)
        for k, sequence in enumerate(old):
            if abs(self._det(k, sequence, now[0])) <= LEAST:
                angles = [[_angles(sequence, q[_of(k)], s) for q, _ in (before, now)] for s in SEQUENCES]
                least = [
                    min(abs(np.linalg.det(_map(s, x))) for x in both) for s, both in zip(SEQUENCES, angles, strict=True)
                ]
                self.sequences[k] = SEQUENCES[int(np.argmax(least))]
        (q0, v0), (q1, v1) = (_converted(old, self.sequences, *state) for state in (before, now))
        q1 = q0 + np.angle(np.exp(1j * (q1 - q0)))
        self._start()
        past = v0, q1 - q0, h, (v1 - v0) / h, np.zeros(0)
        self._method.set_state(((t, q1, v1), past))
        return q1, v1

    def _det(self, k: int, sequence: str, q) -> float:
        return float(np.linalg.det(_map(sequence, q[_of(k)])))

    def _plain(self, q, v):
        return _converted(self.sequences, ["xyz"] * len(self.sequences), q, v)


def _of(k: int) -> slice:
    return slice(SIZE * k, SIZE * (k + 1))


def _map(sequence: str, angles) -> np.ndarray:
    """The matrix from rates to the angular velocity in successor axes."""
    return np.array([list(column.angular) for column in SphericalEuler(sequence).motion_subspace(list(angles))]).T


def _angles(old: str, angles, new: str) -> np.ndarray:
    return Rotation.from_euler(old.upper(), angles).as_euler(new.upper())


def _converted(old, new, q, v) -> tuple[np.ndarray, np.ndarray]:
    """A state in other sequences: the same rotations, the same angular velocities."""
    q_new, v_new = np.array(q, dtype=float), np.array(v, dtype=float)
    for k, (a, b) in enumerate(zip(old, new, strict=True)):
        if a != b:
            q_new[_of(k)] = _angles(a, q[_of(k)], b)
            v_new[_of(k)] = np.linalg.solve(_map(b, q_new[_of(k)]), _map(a, q[_of(k)]) @ v[_of(k)])
    return q_new, v_new
