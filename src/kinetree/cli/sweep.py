"""``kinetree sweep``: sweeps of simulation files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinetree.arguments import choice
from kinetree.cli import completion
from kinetree.cli.options import Quiet, argument, option
from kinetree.cli.printing import Output, print_rows, print_table
from kinetree.cli.registration import command
from kinetree.errors import KinetreeError

SHOWN = 5  # failed samples
TITLES = ("mean", "deviation", "least", "greatest")


@command
def sweep(
    file: Annotated[
        Path,
        argument("A simulation file with the section sweep: .yaml or .yml.", completion.files(*completion.SIMULATIONS)),
    ],
    client: Annotated[
        str,
        option(
            "Who computes: local (processes of this machine), none (this process), or the address of a Dask "
            "scheduler; auto is none for less than ten seconds of work, else local.",
            default=True, complete=completion.words("auto local none tcp://"),
        ),
    ] = "auto",
    workers: Annotated[int | None, option("Processes of this machine, or threads.", default="all cores", min=1)] = None,
    store: Annotated[
        Path | None, option("The folder of the results.", default="as the file says", complete=completion.files())
    ] = None,
    overwrite: Annotated[bool, option("Remove the store of another sweep.", "--overwrite")] = False,
    device: Annotated[
        str, option("Where steps are computed: cpu or cuda.", default=True, complete=completion.words("cpu cuda"))
    ] = "cpu",
    quiet: Quiet = False,
) -> Output:  # fmt: skip
    """Simulate a model over values of its parameters, and keep measures of each simulation in a Zarr store.

    The same command continues a sweep that was interrupted. The section sweep of a simulation file has parameters and
    measures: docs/sweeps.md.
    """
    from kinetree.simulation.rollout_device import DEVICES
    from kinetree.simulation_files.simulation_file import SimulationFile
    from kinetree.simulation_files.sweeping import store_of, swept

    choice("device", device, DEVICES)
    if file.suffix.lower() not in completion.SIMULATIONS:
        raise KinetreeError(f"{file}: this is no simulation file; its suffix is {' or '.join(completion.SIMULATIONS)}.")
    read = SimulationFile.read(file)
    target = store_of(read) if store is None else store
    if not target.absolute().parent.is_dir():
        raise KinetreeError(f"{target}: there is no folder {str(target.parent)!r} to write to.")
    who = {"auto": None, "none": False}.get(client, client)
    try:
        run = swept(
            read, who, workers=workers, store=target, device=device, overwrite=overwrite,
            progress=False if quiet else None,
        )  # fmt: skip
    except KeyboardInterrupt as error:
        error.kept = f"finished chunks are kept in {target}, and the same command continues."
        raise
    failures, statistics = run.failures, run.statistics()

    def show() -> None:
        if quiet:
            return
        was = f", {run.chunks - run.computed} of them were there" if run.computed < run.chunks else ""
        rows = [
            ("sweep", f"{file}, {run.samples} samples"),
            ("store", f"{run.store}, {run.chunks} chunks of {run.chunk} samples{was}"),
            ("time", f"{run.seconds:.3g} s on {', '.join(run.processors)}"),
            ("failed", f"{len(failures)}"),
        ]
        print_rows([*rows, *(("", str(failure)) for failure in failures[:SHOWN])])
        typer.echo()
        table = [(name, *(f"{x:.5g}" for x in values)) for name, values in statistics.items()]
        print_table(("measure", *TITLES), table, right=TITLES)

    data = {
        "file": file, "store": run.store, "samples": run.samples, "chunk": run.chunk, "chunks": run.chunks,
        "computed": run.computed, "seconds": run.seconds, "processors": run.processors,
        "failures": [
            {"index": x.index, "seed": x.seed, "message": x.message, "values": x.values} for x in failures
        ],
        "statistics": {name: x._asdict() for name, x in statistics.items()},
    }  # fmt: skip
    return Output(data, show)
