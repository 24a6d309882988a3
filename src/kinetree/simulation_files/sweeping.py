"""Sweeps of simulation files: the section ``sweep`` varies what the other entries describe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path

import numpy as np

from kinetree.arguments import a_path, a_truth_value, checked
from kinetree.errors import (
    FileFormatError,
    FileWriteError,
    KinetreeError,
    MemoryLimitError,
    MissingDependencyError,
    SweepError,
)
from kinetree.simulation.options import Record
from kinetree.simulation.simulation import Simulation
from kinetree.simulation_files.building import controller_of, ground_of, integrator_of, model_of, start_of, state
from kinetree.simulation_files.simulation_file import SimulationFile
from kinetree.sweeps.control_laws import LAWS
from kinetree.sweeps.distributions import DISTRIBUTIONS
from kinetree.sweeps.measures import MEASURES
from kinetree.sweeps.runs import Runs
from kinetree.sweeps.sweep import SweepRun, sweep

# Arguments of the call, not of the file; errors about these, and of what happens later, have no place in the file.
CALL = ("client", "workers", "device", "overwrite", "progress", "store")
LATER = (SweepError, FileWriteError, MemoryLimitError, MissingDependencyError)


@checked(path=a_path, overwrite=a_truth_value)
def run_file(path, client=None, *, workers=None, store=None, device="cpu", overwrite=False, progress=None):
    """Compute the sweep that a simulation file describes in its section ``sweep``.

    Parameters
    ----------
    path : path-like
        A YAML file; see docs/simulation_files.md for its entries.
    client : None, False, "local", str or distributed.Client, optional
        Who computes, as for `kinetree.sweep`.
    workers : int, optional
        Processes of this machine, or threads of this process.
    store : path-like, optional
        Instead of ``sweep.store`` of the file.
    device : {"cpu", "cuda"}
        Where steps are computed.
    overwrite : bool
        Whether a store that is there is removed first.
    progress : bool, optional
        Show a progress bar, as for `kinetree.sweep`.

    Returns
    -------
    SweepRun

    Raises
    ------
    FileFormatError
        The file breaks the schema, or a value does not fit the model; with the line and the path of the value.
    SweepError, FileWriteError
        As for `kinetree.sweep`.

    Examples
    --------
    >>> import kinetree as kt
    >>> from pathlib import Path
    >>> lines = ["model: double_pendulum", "duration: 0.5", "sweep: {over: {q0.elbow: [0, 0.5, 1]}, measure: [q_end]}"]
    >>> _ = Path("starts.yaml").write_text("\\n".join(lines))
    >>> run = kt.sweeps.run_file("starts.yaml", client=False)
    >>> run.data["q_end"].shape, run.store.name
    ((3, 2), 'starts.zarr')
    """
    file = SimulationFile.read(path)
    return swept(
        file, client, workers=workers, store=store, device=device, overwrite=overwrite, progress=progress
    )  # fmt: skip


def store_of(file: SimulationFile) -> Path:
    """The store of the sweep of a file: beside it.

    Parameters
    ----------
    file : SimulationFile
    """
    return file.beside(_section(file).get("store", f"{file.path.stem}.zarr"))


def swept(file: SimulationFile, client=None, *, store=None, **options) -> SweepRun:
    """The sweep of a file.

    Parameters
    ----------
    file : SimulationFile
    client, store, **options
        As for `run_file`.
    """
    given = _section(file)
    model, components = model_of(file)
    if components:
        raise file.fault(("model", "limits"), "is 'raise', which sweeps do not take", "Write soft or ignore.")
    over = {}
    for name, entry in given["over"].items():
        with file.blaming("sweep", "over", name):
            over[name] = _values(entry)
    measures = given.get("measure", ["q_end", "v_end"])
    by_name = isinstance(measures, dict)
    made = {key: _measure(file, key, x) for key, x in (measures.items() if by_name else enumerate(measures))}
    measures = made if by_name else list(made.values())
    model, runs = _runs(file, model)
    design = {name: given[name] for name in ("design", "sampling", "samples", "seed", "chunk") if name in given}
    with _blaming(file):
        return sweep(model, over, runs, measures, store_of(file) if store is None else store, client=client, **design,
                     **options)  # fmt: skip


def _section(file: SimulationFile) -> dict:
    if "sweep" not in file.content:
        raise file.fault(("sweep",), "is missing", "Write 'sweep: {over: ...}', docs/simulation_files.md shows how.")
    return file.content["sweep"]


def _values(entry: object) -> object:
    """Values of a parameter, as `sweep` takes them."""
    if not isinstance(entry, dict):
        return entry
    values = {key: x for key, x in entry.items() if key != "kind"}
    if entry["kind"] == "linspace":
        return np.linspace(values["start"], values["stop"], values["count"])
    return DISTRIBUTIONS[entry["kind"]](**values)


def _measure(file: SimulationFile, key: str | int, entry: object) -> object:
    path = ("sweep", "measure", key)
    if isinstance(entry, str):
        needed = [f.name for f in fields(MEASURES[entry]) if f.default is MISSING]
        if needed:
            example = ", ".join(f"{name}: ..." for name in needed)
            raise file.fault(path, f"is '{entry}', which has no default", f"Write {{kind: {entry}, {example}}}.")
        return entry
    values = {key: tuple(x) if isinstance(x, list) else x for key, x in entry.items() if key != "kind"}
    with file.blaming(*path):
        return MEASURES[entry["kind"]](**values)


def _runs(file: SimulationFile, model) -> tuple:
    """The model with its contacts, and the simulation that all samples share."""
    content = file.content
    if "joint_forces" in content and "controller" in content:
        raise file.fault(("joint_forces",), "and controller both give joint forces", "Leave one.")
    kinds = [cls.__name__ for cls in LAWS]
    ground = ground_of(file)
    if content.get("self_collision", False):
        with file.blaming("self_collision"):
            model, ground = model.with_contacts(ground or None, True, meshes="hull"), None
    start = start_of(file, model)
    with file.blaming("initial"):
        first = Simulation(model, ground=ground, **start)  # where a run of `kinetree simulate` starts
    options = {"q0": first.q, "v0": first.v}
    controller = controller_of(file, model, first.q)
    if controller is not None:
        if type(controller) not in LAWS:
            raise file.fault(
                ("controller", "kind"), f"is '{content['controller']['kind']}', which is not part of compiled steps",
                f"Sweeps take {', '.join(_word(name) for name in kinds)}.",
            )  # fmt: skip
        options["controller"] = controller
    if "joint_forces" in content:
        options["tau"] = state(file, ("joint_forces",), model, "v")
    if "controls" in content:
        options["control"] = {key: float(value) for key, value in content["controls"].items()}
    integrator = integrator_of(file)
    if not isinstance(integrator, str) or integrator == "adaptive":
        raise file.fault(("integrator",), "is adaptive, and samples of a sweep share their steps", "Write auto.")
    with file.blaming("record"):
        options["record"] = Record(**content["record"]) if "record" in content else None
    with file.blaming("duration"):
        return model, Runs(
            content["duration"], content.get("dt", 1e-3), integrator=integrator, ground=ground, **options
        )


def _word(name: str) -> str:
    """The kind of a controller in files: ComputedTorque is computed_torque."""
    from kinetree.simulation_files.schema import CONTROLLERS

    return next(kind for kind, cls in CONTROLLERS.items() if cls.__name__ == name)


@contextmanager
def _blaming(file: SimulationFile) -> Iterator[None]:
    """Give errors about entries of the section their place."""
    section = file.content["sweep"]
    try:
        yield
    except LATER:
        raise
    except FileFormatError:
        raise
    except KinetreeError as error:
        words = str(getattr(error, "argument", "")).removeprefix("sweep: "), str(getattr(error, "name", ""))
        if words[0] in CALL:
            raise
        path = next((("over", name) for name in section["over"] if name in words), ())
        path = path or next(((word,) for word in words if word in section), ())
        # q0 and v0 are names of parameters here, so the words of messages stay.
        raise file.fault(("sweep", *path), f": {str(error).removeprefix('sweep: ')}") from error
