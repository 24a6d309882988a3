"""``kt.sweep``: simulations of a model over values of its parameters, into a store."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from kinetree.arguments import a_path, a_truth_value, refuse, shown, whole
from kinetree.errors import ArgumentError, SweepError
from kinetree.model import Model
from kinetree.simulation.progress import Progress
from kinetree.simulation.rollout_device import a_device
from kinetree.sweeps import cluster
from kinetree.sweeps.chunk import Failure
from kinetree.sweeps.design import Design
from kinetree.sweeps.here import Here
from kinetree.sweeps.identity import described, digest, refuse_other
from kinetree.sweeps.measures import Measure, measures_of
from kinetree.sweeps.plan import Plan
from kinetree.sweeps.probe import first_model, here, probed, simulation_seconds
from kinetree.sweeps.runs import Runs
from kinetree.sweeps.statistics import Statistics, statistics
from kinetree.sweeps.store import FORMAT, Store

_ADDRESS = re.compile(r"\w+://\S+|[\w.-]+:\d+")
WORTHWHILE = 10.0  # s of work of one core, from which on a cluster is started by default


@dataclass(frozen=True, eq=False)
class SweepRun:
    """A finished sweep.

    Attributes
    ----------
    store : Path
        Of the Zarr store.
    samples, chunk, chunks : int
        Numbers of samples, of samples in a chunk, of chunks.
    computed : int
        Chunks of this call; the others were finished before.
    seconds : float
        Wall time of this call [s].
    processors : tuple of str
        That computed chunks; results are equal to the bit on one kind, to rounding on several.
    """

    store: Path
    samples: int
    chunk: int
    chunks: int
    computed: int
    seconds: float
    processors: tuple[str, ...]

    @property
    def data(self):
        """All values, as an `xarray.Dataset` over the dimension "sample"; parameters are coordinates, "status" is 2 of
        samples that failed."""
        return self._opened().open_dataset()

    @property
    def failures(self) -> list[Failure]:
        """Samples that failed, with seed, values and message."""
        return self._opened().failures()

    def statistics(self) -> dict[str, Statistics]:
        """Mean, standard deviation, least and greatest value of the measures over the samples that did not fail, by
        names such as "energy_end" and "q_end.elbow"; paths are left out. Read chunk by chunk."""
        return statistics(self._opened())

    def damaged(self) -> list[int]:
        """Chunks whose files have changed since they were written, by their checksums."""
        return self._opened().damaged()

    def _opened(self) -> Store:
        return Store.opened(self.store)

    def __repr__(self) -> str:
        return f"<SweepRun of {self.samples} samples in {str(self.store)!r}, {len(self.failures)} failed>"


def sweep(
    model,
    over,
    simulate,
    measure=("q_end", "v_end"),
    store=None,
    *,
    design: str = "grid",
    sampling: str = "random",
    samples: int | None = None,
    seed: int = 0,
    client=None,
    workers: int | None = None,
    chunk: int | None = None,
    device: str = "cpu",
    retries: int = 2,
    overwrite: bool = False,
    progress: bool | None = None,
) -> SweepRun:
    """Simulate a model over values of its parameters, on all cores or a cluster, and keep measures of each simulation.

    Parameters
    ----------
    model : Model or callable
        The mechanism; or a function that makes it, whose arguments are parameters of the sweep.
    over : mapping of str to values
        Parameters: a list of values, a distribution (`kinetree.sweeps.uniform`, `normal`, `log_uniform`, or a frozen
        one of `scipy.stats`), or a function of a random generator. Names are those of ``model.numbers()``
        ("link.mass", "gravity.z", "elbow.damping"), "link.density" (a factor of mass and inertia), "q0", "v0", "tau",
        "x0", "control" or one entry of these ("q0.elbow"), "controller.kp" and other gains, "controller.target",
        "contact.friction" (of all contacts), or arguments of the factory [as each].
    simulate : mapping or Runs
        The simulation, where it does not vary: duration [s], dt [s], start, inputs, controller, ground; see
        `kinetree.sweeps.Runs`.
    measure : list of str or callable, or mapping
        What is kept of each simulation: names of ``kinetree.sweeps.MEASURES``, measures, or functions of a
        `kinetree.sweeps.Batch` that return an array (n, ...); by name in a mapping.
    store : path-like, optional
        Folder of the Zarr store. If it holds a part of this sweep, that is completed. Default: a temporary one, until
        the process ends.
    design : {"grid", "zip"}
        Whether lists are combined all with all, or side by side.
    sampling : {"random", "sobol", "latin_hypercube"}
        Points at which distributions are drawn.
    samples : int, optional
        Draws of the distributions, for each combination of the lists.
    seed : int
        With it the index of a sample determines its values.
    client : None, False, "local", str or distributed.Client, optional
        Who computes: this process (False), a cluster on this machine ("local"), the cluster of a client or of the
        address of a scheduler. By default this process for less than ten seconds of work, else a cluster on this
        machine.
    workers : int, optional
        Processes of the cluster on this machine, or threads of this process; default all cores.
    chunk : int, optional
        Samples that are computed and written together; default by the measured speed and memory, about a second.
    device : {"cpu", "cuda"}
        Where steps are computed.
    retries : int
        How often a chunk that fails as a whole is computed again, such as by an error of a worker's system. Those
        whose workers die are computed alone at the end, to find the sample that ends them.
    overwrite : bool
        Whether a store that is there is removed first.
    progress : bool, optional
        Show a progress bar on stderr; by default, if it takes longer than a second and stderr is a terminal.

    Returns
    -------
    SweepRun
        ``.data`` is an `xarray.Dataset`, ``.failures`` lists samples that failed.

    Raises
    ------
    UnknownNameError
        A parameter or measure does not exist; with the closest name.
    SweepError
        The store is of another sweep, the connection to the cluster is lost, or chunks cannot be computed. Finished
        chunks are kept, and the same call continues.
    FileWriteError
        The store cannot be written, such as on a full disk; finished chunks are kept.
    ArgumentError, ShapeError, MissingDependencyError

    Notes
    -----
    A chunk is one call of `rollout` with numbers of the model, starts, inputs and gains of its own for each sample, and
    without checks: a motion that is no longer finite, a simulation or a measure that raises an error is a failed
    sample, with the message beside the results. Values of a sample depend on the seed and its index alone, and its
    bits neither on the size of chunks nor on who computes them, given functions of measures with this property. A chunk
    counts as finished when all of it is on the disk, so a sweep that was killed loses those in flight.

    See Also
    --------
    rollout, simulate

    Examples
    --------
    >>> import kinetree as kt
    >>> run = kt.sweep(
    ...     kt.models.pendulum(),
    ...     over={"q0": [[0.5], [1.0]], "pivot.damping": kt.sweeps.uniform(0.0, 0.1)},
    ...     simulate={"duration": 1.0, "dt": 0.01}, measure=["q_end", "energy_end"], samples=100, client=False,
    ... )
    >>> run.data["energy_end"].shape
    (200,)
    """
    began = time.perf_counter()
    device = a_device("sweep", device)
    a_truth_value("sweep: overwrite", overwrite)
    if progress is not None:
        a_truth_value("sweep: progress", progress)
    if store is not None:
        a_path("sweep: store", store)
    retries = whole("sweep: retries", retries, "a whole number from 0", least=0)
    workers = None if workers is None else whole("sweep: workers", workers, "a positive whole number", least=1)
    chunk = None if chunk is None else whole("sweep: chunk", chunk, "a positive whole number", least=1)
    if not isinstance(model, Model) and not callable(model):
        refuse("sweep: model", model, "a kinetree.Model, or a function that makes one")
    _check_client(client, workers)
    threads = workers if client in (None, False) else 1
    designed = Design.of(over, design, sampling, samples, seed)
    plan = Plan(model, designed, Runs.of(simulate), measures_of(measure), device, threads)
    temporary = None if store is not None else Path(tempfile.mkdtemp(prefix="kinetree-sweep-"))
    path = Path(store) if temporary is None else temporary / "runs.zarr"
    found = Store.opened(path)
    unfinished = plan.design.count
    if found is not None and not overwrite:
        unfinished = sum(stop - start for start, stop in map(found.range_of, _waiting(found)))
    if not unfinished or (client is None and device == "cuda"):
        client = False
    with ExitStack() as stack:
        connect = _connect(stack, client, workers)
        factory = not isinstance(model, Model)
        call = here(plan) if connect is None or not factory else cluster.Sharing(connect(), plan).call
        if factory:
            plan = plan.but(known=first_model(plan, call))
        plan.check()
        description = described(plan)
        if found is not None and overwrite:
            found.remove()
            found = None
        if found is not None:
            _refuse(path, found, description, chunk)
        probe = None
        if client is None:
            probe, client = _chosen(plan, unfinished)
            connect = _connect(stack, client, workers)
        computer = Here(plan) if connect is None else cluster.Sharing(connect(), plan)
        if found is None:
            probe = probe or probed(plan, computer.call)
            size = min(plan.design.count, chunk or computer.chunk(probe, plan.design.count))
            found = Store.made(path, _about(plan, probe, description, size))
            _refuse(path, found, description, chunk)  # where another process has made it meanwhile
        waiting = _waiting(found)
        if waiting:
            _compute(computer, found, waiting, retries, progress)
    if not found.is_complete:
        found.finish()
    run = SweepRun(
        path, found.count, found.chunk, found.chunks, len(waiting), time.perf_counter() - began,
        tuple(found.processors()),
    )  # fmt: skip
    if temporary is not None:
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)  # arrays are read from it when they are used
    return run


def _waiting(store: Store) -> list[int]:
    """Chunks that are not finished."""
    finished = set(store.finished())
    return [k for k in range(store.chunks) if k not in finished]


def _refuse(path, store: Store, description, chunk: int | None) -> None:
    """Raise an error for the store of another sweep, or one with other chunks."""
    refuse_other(path, store.about["description"], description)
    if chunk is not None and min(chunk, store.count) != store.chunk:
        raise SweepError(
            f"sweep: {path} has chunks of {store.chunk} samples, and chunk is {chunk}. Leave it out, or give "
            "overwrite=True."
        )


def _connect(stack: ExitStack, client, workers: int | None):
    """A function that returns the client of a cluster; None where this process computes, or it is not known yet."""
    if client is None or client is False:
        return None
    if isinstance(client, str) and client == "local":
        return stack.enter_context(cluster.starting(workers))
    connection = stack.enter_context(cluster.connected(client))
    return lambda: connection


def _chosen(plan, unfinished: int):
    """Who computes by default, and the first samples where they were computed here.

    Functions of the user are not called before it is clear that the simulations alone are not worth a cluster.
    """
    known = isinstance(plan.source, Model) and any(not isinstance(x, Measure) for x in plan.measures.values())
    if known and unfinished * simulation_seconds(plan) >= WORTHWHILE:
        return None, "local"
    probe = probed(plan, here(plan))
    return probe, "local" if unfinished * probe.seconds >= WORTHWHILE else False


def _compute(computer, store: Store, waiting, retries: int, progress) -> None:
    """Compute and write chunks here or on a cluster."""
    bar = Progress("sweep", float(store.count), progress)
    todo = sum(stop - start for start, stop in map(store.range_of, waiting))
    left = {"done": store.count - todo, "failed": 0}

    def report(result) -> None:
        left["done"] += result.stop - result.start
        left["failed"] += len(result.failures)
        bar.tick(left["done"], f"{left['failed']} failed" if left["failed"] else "")

    names = set(store.about["parameters"])
    variables = tuple(v for v in store.variables if v.name not in names)
    try:
        computer.run(store, variables, waiting, retries, report)
    finally:
        bar.close()


def _about(plan, probe, description, chunk: int) -> dict:
    """The description of a new store."""
    variables = [
        {"name": v.name, "shape": list(v.shape), "dtype": v.dtype, "labels": v.labels and list(v.labels)}
        for v in probe.variables
    ]
    names = {v.name for v in probe.measures}
    return {
        "format": FORMAT,
        "samples": plan.design.count,
        "chunk": chunk,
        "parameters": [v.name for v in probe.variables if v.name not in names],
        "variables": variables,
        "times": plan.times.tolist() if len(plan.times) <= 100_000 else [],
        "description": description,
        "digest": digest({**description, "chunk": chunk, "variables": variables}),
    }


def _check_client(client, workers: int | None) -> None:
    if client is None or client is False or (isinstance(client, str) and client == "local"):
        return
    if workers is not None:
        raise ArgumentError(
            f"sweep: workers = {workers} is for this machine, and client gives a cluster with workers of its own. "
            "Leave workers out.",
            argument="workers",
        )
    if isinstance(client, str):
        if not _ADDRESS.fullmatch(client):
            refuse("sweep: client", client, "the address of a scheduler such as 'tcp://192.168.0.5:8786', or 'local'")
        return
    if not all(hasattr(client, name) for name in ("submit", "scheduler_info", "status")):
        raise ArgumentError(
            f"sweep: client is {shown(client)}, expected None, False, 'local', the address of a scheduler or a "
            "distributed.Client.",
            argument="client",
        )
    if getattr(client, "asynchronous", False):
        raise ArgumentError(
            "sweep: client is asynchronous, expected an ordinary one: distributed.Client(address).", argument="client"
        )
