"""The state of a run at one instant, from which it continues to the same bits, in this process or another."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinetree.arguments import a_path, checked
from kinetree.errors import FileFormatError, SimulationError
from kinetree.files import replacing
from kinetree.integrators.user_code import lock

HEADER = b"kinetree snapshot 1\n"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Snapshot:
    """The complete state of a simulation.

    Attributes
    ----------
    time : float
        [s]
    q : (nq,) array
        Positions [rad or m; quaternions unit].
    v : (nv,) array
        Velocities [rad/s or m/s].
    x : (nx,) array
        Internal states of force elements [as the elements define them].
    settings : dict
        Settings that a simulation must match to be restored: model, integrator, step.
    run_state : tuple
        Origin of the time, steps since then, steps in all, and whether the controller was called for this instant.
    inputs, stepper, components : object
        The states of controllers, signals, the integrator and the components.
    record : dict or None
        The samples so far.
    impulses : tuple of ImpulseEvent
        Changes of state in an instant, so far.
    """

    time: float
    q: np.ndarray
    v: np.ndarray
    x: np.ndarray
    settings: dict
    run_state: tuple
    inputs: object
    stepper: object
    components: object
    record: dict | None
    impulses: tuple

    def __post_init__(self) -> None:
        lock(self.q, self.v, *(self.record or {}).values())

    def __repr__(self) -> str:
        samples = "without samples" if self.record is None else f"{len(self.record['time'])} samples"
        return f"Snapshot of {self.settings['model']!r} at t = {self.time:.9g} s, {samples}"

    @checked(path=a_path)
    def save(self, path) -> Path:
        """Write the snapshot to a file, which is replaced only when the new one is complete.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        pathlib.Path
        """
        path = Path(path)
        try:
            with replacing(path) as file:
                file.write(HEADER)
                pickle.dump(self, file, protocol=4)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise SimulationError(
                f"simulate: the state of a controller or component cannot be written to a file ({error}). Give it "
                "get_state() and set_state() with plain data.",
                file=str(path),
            ) from error
        return path

    @staticmethod
    @checked(path=a_path)
    def load(path) -> Snapshot:
        """Read a snapshot. The file is a pickle: load only files that you trust.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        Snapshot

        Raises
        ------
        FileFormatError
            The file is no snapshot, or not complete.
        """
        data = Path(path).read_bytes()
        if not data.startswith(HEADER):
            raise FileFormatError(f"{path}: not a snapshot of a simulation.", file=str(path))
        try:
            snapshot = pickle.loads(data[len(HEADER) :])
        except Exception as error:
            raise FileFormatError(f"{path}: the snapshot cannot be read ({error!r}).", file=str(path)) from error
        return snapshot


def fingerprint(model) -> str:
    """A digest of a model's numbers and shape: equal for the same model in another process."""
    digest = hashlib.sha256()
    shape = (tuple(model.body_names), tuple(model.joint_names), tuple(model.parent), model.nq, model.nv)
    kinds = tuple(type(model.joints[i]).__qualname__ for i in model.outward())
    digest.update(repr((shape, kinds)).encode())
    digest.update(np.ascontiguousarray(model.number_values(), dtype=float).tobytes())
    return digest.hexdigest()[:16]


def check_settings(theirs: dict, mine: dict) -> None:
    """Raise an error for a snapshot of another run."""
    differ = [name for name in mine if theirs.get(name) != mine[name]]
    if differ:
        shown = "; ".join(f"{name} {theirs.get(name)!r} there, {mine[name]!r} here" for name in differ)
        raise SimulationError(
            f"simulate: the snapshot is of another simulation: {shown}. Make the simulation as the one that saved it.",
            differ=differ,
        )
