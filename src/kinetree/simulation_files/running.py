"""Runs of simulation files, and their outputs."""

from __future__ import annotations

from pathlib import Path

from kinetree.simulation.options import Inputs, Record
from kinetree.simulation.simulation import Simulation
from kinetree.simulation.trajectory import Trajectory
from kinetree.simulation_files.building import (
    controller_of,
    ground_of,
    integrator_of,
    model_of,
    start_of,
    state,
)


def simulated(file, progress: bool | None = None) -> Trajectory:
    """The run that a file describes.

    Parameters
    ----------
    file : SimulationFile
    progress : bool, optional
        As for `simulate`.
    """
    content = file.content
    model, components = model_of(file)
    start = start_of(file, model)
    record = content.get("record", {})
    with file.blaming("record"):
        recorded = Record(**record)
    if "joint_forces" in content and "controller" in content:
        raise file.fault(("joint_forces",), "and controller both give joint forces", "Leave one.")
    control = {key: float(value) for key, value in content["controls"].items()} if "controls" in content else None
    tau = state(file, ("joint_forces",), model, "v") if "joint_forces" in content else None
    options = {
        "dt": content.get("dt", 1e-3), "ground": ground_of(file), "integrator": integrator_of(file),
        "self_collision": content.get("self_collision", False), "record": recorded, "components": components, **start,
    }  # fmt: skip
    with file.blaming():
        if "controller" in content:
            # Without a target the joints are held where they start, which is where an empty run starts.
            q0 = Simulation(model, **{key: options[key] for key in ("ground", *start)}).q
            options["controller"] = controller_of(file, model, q0)
        simulation = Simulation(model, inputs=Inputs(tau=tau, control=control), **options)
    simulation.advance(content["duration"], progress)
    return simulation.trajectory(end=None if simulation.is_over else content["duration"])


def written(file, run: Trajectory) -> list[Path]:
    """Write the outputs of a file.

    Parameters
    ----------
    file : SimulationFile
    run : Trajectory

    Returns
    -------
    list of Path
    """
    found = []
    for kind, path in file.outputs().items():
        with file.blaming("outputs", kind):
            run.plot(path=path) if kind == "plot" else run.save(path)
        found.append(path)
    return found
