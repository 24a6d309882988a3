"""The results of simulated samples, as measures get them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.function import Function
from kinetree.errors import UnsupportedError
from kinetree.once import made_once


@dataclass(frozen=True, eq=False)
class Batch:
    """Samples of a sweep after their simulation.

    Attributes
    ----------
    model : Model
        As it was simulated; its numbers are those of no sample, see ``numbers``.
    index : (n,) array
        Of the samples in the sweep [1].
    values : mapping of str to (n, ...) array
        Of the parameters [as each].
    t : (rows,) array
        Times of the recorded states [s]; the start and the end alone for measures that need no more.
    q : (n, rows, nq) array
        Positions [rad or m].
    v : (n, rows, nv) array
        Velocities [rad/s or m/s].
    x : (n, rows, nx) array
        Internal states of force elements [as they define them].
    impulses : (n, rows, n_impulses) array or None
        Of contacts, for measures that need them [N s or N m s].
    numbers : (n, numbers) array or None
        Numbers of the model of each sample, in the order of ``model.numbers().names`` [SI]; None where
        they do not vary.
    """

    model: object
    index: np.ndarray
    values: Mapping[str, np.ndarray]
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    x: np.ndarray
    impulses: np.ndarray | None
    numbers: np.ndarray | None
    _forces: object = field(default=None, repr=False)
    _own_frames: bool = field(default=False, repr=False)

    def __len__(self) -> int:
        return len(self.index)

    @property
    def tau(self) -> np.ndarray:
        """Joint forces of controller and inputs at the recorded states (n, rows, nv) [N m or N]."""
        return self._forces(self)

    def take(self, which) -> Batch:
        """Some of the samples.

        Parameters
        ----------
        which : (m,) array of int or bool
        """
        parts = {name: getattr(self, name) for name in ("index", "q", "v", "x", "impulses", "numbers")}
        chosen = {name: None if x is None else x[which] for name, x in parts.items()}
        return replace(self, values={name: x[which] for name, x in self.values.items()}, **chosen)

    def evaluate(self, algorithm: str, *arrays, **static) -> np.ndarray:
        """An algorithm of the library at states of all samples, with the numbers that each sample has.

        Parameters
        ----------
        algorithm : str
            Its name: "kinetic_energy", "frame_poses".
        *arrays : (n, rows, ...) array
            Its inputs in order [as each].
        **static
            Its other arguments, such as ``frame="hand"``.

        Returns
        -------
        (n, rows, ...) array, or a tuple of them
            [as the algorithm defines]

        Raises
        ------
        UnsupportedError
            The model depends on time.
        """
        spec = ALGORITHMS[algorithm]
        if self.model.time_dependent:
            raise UnsupportedError(f"{algorithm}: samples of models that depend on time are not evaluated.")
        f = _function(self.model, spec, static, self._own_frames)
        if self.numbers is not None:
            f = f.with_parameters(self.numbers[:, None, :])
        return f(*arrays)


def _function(model, spec, static: dict, own_frames: bool) -> Function:
    """An algorithm without checks, kept beside the model."""

    def make():
        f = Function(spec, model, (), static, False, 1)
        return f.in_own_frames() if own_frames else f

    return made_once(model.functions, ("sweep", spec.name, own_frames, *sorted(static.items())), make)
