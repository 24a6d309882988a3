"""Sweeps of a robot arm through a Dask cluster on this machine, against the bare kernel and against naive loops.

The work: 100,000 simulations of the 7-joint panda, 1 s in steps of 1 ms, starts, velocities and joint forces drawn at
random; the joints have the friction that the robot's file names beside its damping (D = 1 N m s/rad), with which RK4 is
right to 1e-7 rad. The bare kernel is one call of `Rollout` for all samples with their arrays at hand, with as many
threads as the cluster has workers. Before anything is timed, the sweep has the bits of the kernel, and Pinocchio and
MuJoCo make the same motion to rounding.

``python -m benchmarks.sweeps`` writes ``benchmarks/results/sweeps.json`` and the table of ``docs/scale.md``;
``--only kills`` repeats a part and keeps the others; ``--quick`` checks the harness and says nothing about speed. A
cluster that is started imports modules in each process: run it without ``PYTHONDONTWRITEBYTECODE``, which would compile
them each time, as no installed package does.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import numpy as np

from benchmarks import machine, store
from benchmarks.rollout import WrongAnswer, plain_robot, plain_urdf
from benchmarks.sweep_kills import digests, disturbed, finished
from benchmarks.sweep_loops import joblib_pinocchio, mujoco_rollouts
from benchmarks.sweep_memory import Memory
from benchmarks.table import ROOT, machine_line, put

SAMPLES, DT, STEPS, DAMPING, SEED = 100_000, 1e-3, 1000, 1.0, 20261128
INTEGRATORS = ("rk4", "semi_implicit")
LOOPED = {"joblib over pinocchio": 64, "mujoco.rollout": 512}  # simulations of naive loops, whose time is proportional
TOLERANCE = 1e-9  # rounding of a thousand steps of a damped motion
CORES = 2
PARTS = ("throughput", "memory", "loops", "kills")
PATH = 100  # samples of the path that are kept, in the part "memory"


class Work:
    """The sweep at some size.

    Parameters
    ----------
    kt : module
        kinetree.
    samples, steps : int
    folder : Path
        For stores.
    """

    def __init__(self, kt, samples: int, steps: int, folder: pathlib.Path) -> None:
        self.kt, self.samples, self.steps, self.folder = kt, samples, steps, folder
        self.urdf, self.model = plain_urdf("panda", DAMPING), plain_robot(kt, "panda", DAMPING)
        one = np.ones(self.model.nv)
        self.over = {
            "q0": kt.sweeps.uniform(-one, one),
            "v0": kt.sweeps.uniform(-one, one),
            "tau": kt.sweeps.uniform(-5.0 * one, 5.0 * one),
        }

    def sweep(self, integrator: str, path: pathlib.Path | None = None, **options):
        """The sweep, into a new store unless a path is given."""
        if path is None:
            path = self.folder / "runs.zarr"
            shutil.rmtree(path, ignore_errors=True)
        simulate = {"duration": self.steps * DT, "dt": DT, "integrator": integrator} | options.pop("simulate", {})
        given = {"samples": self.samples, "seed": SEED, "progress": False} | options
        return self.kt.sweep(self.model, self.over, simulate, store=path, **given)

    def arrays(self, run) -> list[np.ndarray]:
        """Starts, velocities and forces of all samples, as the store has them."""
        return [np.ascontiguousarray(run.data[name].values) for name in self.over]

    def kernel(self, integrator: str, arrays):
        """The bare kernel."""
        q, v, tau = arrays
        roll = self.kt.simulation.Rollout(self.model, integrator, threads=CORES, checks=False)
        record = self.kt.Record(every=self.steps)

        def run():
            found = roll(q, v, tau[:, None], DT, steps=self.steps, record=record)
            return found.q[:, -1], found.v[:, -1]

        return run

    def loops(self, integrator: str) -> dict:
        """The naive loops."""
        return {
            "joblib over pinocchio": joblib_pinocchio(self.urdf, DAMPING, DT, self.steps, integrator, CORES),
            "mujoco.rollout": mujoco_rollouts(self.kt, self.model, DT, self.steps, integrator, CORES),
        }


def cluster_of(workers: int):
    """A cluster of Dask on this machine."""
    import distributed

    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")


def seconds(run) -> float:
    """Wall time [s]."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def throughput(work: Work, repeats: int) -> list[dict[str, object]]:
    """Sweeps through a cluster that runs, through one that is started, and in this process, against the kernel."""
    import distributed

    rows = []
    with cluster_of(CORES) as cluster:
        with distributed.Client(cluster) as client:
            for integrator in INTEGRATORS:
                first = seconds(lambda: work.sweep(integrator, client=client, samples=work.samples))  # noqa: B023
                run = work.sweep(integrator, client=client)
                kernel = work.kernel(integrator, work.arrays(run))
                q, v = kernel()
                if not (np.array_equal(run.data["q_end"], q) and np.array_equal(run.data["v_end"], v)):
                    raise WrongAnswer(f"{integrator}: the sweep has not the bits of the kernel")
                contenders = {
                    "kernel": kernel,
                    "sweep, running cluster": lambda: work.sweep(integrator, client=client),  # noqa: B023
                    "sweep, this process": lambda: work.sweep(integrator, client=False, workers=CORES),  # noqa: B023
                    "sweep, cluster started": lambda: work.sweep(integrator, client="local", workers=CORES),  # noqa: B023
                }
                times: dict[str, list[float]] = {name: [] for name in contenders}
                with Memory() as memory:
                    for _ in range(repeats):
                        for name, contender in contenders.items():
                            times[name].append(seconds(contender))
                medians = {name: statistics.median(each) for name, each in times.items()}
                rows.append({
                    "integrator": integrator,
                    "samples": work.samples,
                    "steps": work.steps,
                    "chunk": run.chunk,
                    "seconds": times,
                    "seconds of the first sweep": first,
                    "simulations per second": {name: work.samples / each for name, each in medians.items()},
                    "throughput / kernel": {
                        name: statistics.median(k / s for k, s in zip(times["kernel"], each, strict=True))
                        for name, each in times.items()
                    },
                    "memory": memory.summary(),
                })  # fmt: skip
                print(integrator, {name: f"{1e6 * each / work.samples:.1f} us" for name, each in medians.items()})
                ratios = rows[-1]["throughput / kernel"]
                print("  of the kernel's", {name: round(x, 3) for name, x in ratios.items()}, flush=True)
    return rows


def memory_of(work: Work) -> list[dict[str, object]]:
    """Memory of a sweep that keeps paths, at a tenth of its size and in full: it must not grow with the size."""
    import distributed

    rows = []
    every = max(1, work.steps // PATH)
    for samples in (max(1, work.samples // 10), work.samples):
        with cluster_of(CORES) as cluster:
            with distributed.Client(cluster) as client, Memory() as memory:
                options = {"measure": ["path"], "samples": samples, "client": client}
                took = seconds(
                    lambda: work.sweep("rk4", simulate={"record": work.kt.Record(every=every)}, **options)  # noqa: B023
                )
        size = sum(file.stat().st_size for file in (work.folder / "runs.zarr").rglob("*") if file.is_file())
        rows.append({"samples": samples, "store [MB]": size / 1e6, "seconds": took, "memory": memory.summary()})
        print("memory", samples, rows[-1]["memory"]["largest [MB]"], f"store {size / 1e6:.0f} MB", flush=True)
    return rows


def naive(work: Work, repeats: int) -> list[dict[str, object]]:
    """Verify, then time, the naive loops on some of the samples."""
    rows = []
    most = max(LOOPED.values())
    run = work.sweep("rk4", client=False, workers=CORES, samples=min(work.samples, most))
    arrays = work.arrays(run)
    for integrator in INTEGRATORS:
        loops, errors, times = work.loops(integrator), {}, {}
        for name, loop in loops.items():
            part = [x[: LOOPED[name]] for x in arrays]
            expected, found = work.kernel(integrator, part)(), loop(*part)  # this also starts joblib's processes
            errors[name] = max(float(np.abs(x - y).max()) for x, y in zip(expected, found, strict=True))
            if not errors[name] < TOLERANCE:
                raise WrongAnswer(f"{name}, {integrator}: off by {errors[name]:.1e}, tolerance {TOLERANCE:.0e}")
            times[name] = [seconds(lambda: loop(*part)) / len(part[0]) for _ in range(repeats)]  # noqa: B023
        rows.append({"integrator": integrator, "errors": errors, "seconds of a simulation": times})
        shown = {name: f"{1e6 * min(each):.0f} us" for name, each in times.items()}
        print("loops", integrator, shown, errors, flush=True)
    return rows


def error_of_step(work: Work) -> dict[str, float]:
    """Errors of the integrators' last positions against RK4 at a tenth of the step [rad]: median, largest."""
    arrays = work.arrays(work.sweep("rk4", client=False, samples=min(work.samples, 256)))
    q, v, tau = arrays
    fine = work.kt.Record(every=10 * work.steps)
    exact = work.kt.rollout(
        work.model, q, v, tau[:, None], DT / 10, steps=10 * work.steps, integrator="rk4", record=fine
    ).q[:, -1]
    found = {}
    for integrator in INTEGRATORS:
        off = np.abs(work.kernel(integrator, arrays)()[0] - exact).max(axis=1)
        found[integrator] = {"median": float(np.median(off)), "largest": float(off.max())}
    return found


def kills(work: Work, chunk: int) -> dict[str, object]:
    """The sweep with three deaths against the undisturbed one."""
    quiet = work.folder / "quiet.zarr"
    work.sweep("rk4", path=quiet, client=False, workers=CORES, chunk=chunk)

    def command(address: str, path: pathlib.Path) -> list[str]:
        return [sys.executable, "-m", "benchmarks.sweeps", "--client", address, "--store", str(path),
                "--samples", str(work.samples), "--steps", str(work.steps), "--chunk", str(chunk)]  # fmt: skip

    chunks = finished(quiet)
    found = disturbed(work.folder, command, chunks, CORES)
    same = digests(quiet) == digests(work.folder / "killed.zarr")
    found |= {"samples": work.samples, "steps": work.steps, "files": len(digests(quiet)), "same files": same}
    print("kills", found, flush=True)
    if not same:
        raise WrongAnswer("the store of the sweep that was killed is not that of the undisturbed one")
    return found


def table(result: dict[str, object]) -> str:
    """The tables of ``docs/scale.md``."""
    names = ["sweep, running cluster", "sweep, cluster started", "sweep, this process"]
    heads = [
        "integrator", "kernel, 2 threads [us]", *(f"{name} [us]" for name in names), "of the kernel's throughput",
        "joblib over Pinocchio [us]", "`mujoco.rollout` [us]", "ratios",
    ]  # fmt: skip
    lines = [
        f"| {' | '.join(heads)} |",
        "| --- |" + " ---: |" * 8,
    ]
    loops = {row["integrator"]: row["seconds of a simulation"] for row in result["loops"]}
    for row in result["throughput"]:
        each = {name: statistics.median(x) / row["samples"] for name, x in row["seconds"].items()}
        naive_times = [statistics.median(loops[row["integrator"]][name]) for name in LOOPED]
        ratios = ", ".join(f"{x / each['sweep, running cluster']:.0f}x" for x in naive_times)
        cells = [f"{1e6 * x:.1f}" for x in (each["kernel"], *(each[name] for name in names))]
        cells += [", ".join(f"{100 * row['throughput / kernel'][name]:.0f} %" for name in names)]
        cells += [f"{1e6 * x:.0f}" for x in naive_times] + [f"**{ratios}**"]
        lines.append(f"| `{row['integrator']}` | " + " | ".join(cells) + " |")
    memory = "; ".join(
        f"{row['samples']:,} samples ({row['store [MB]']:.0f} MB of results): client with scheduler "
        f"{row['memory']['largest [MB]']['client']:.0f} MB, worker {row['memory']['largest [MB]']['worker']:.0f} MB"
        for row in result["memory"]
    )
    killed = result["kills"]
    events = [x for x in killed["events"] if x["killed"] != "nothing"]
    deaths = ", ".join(f"{x['killed']} after {x['finished chunks']}" for x in events)
    line, load = machine_line(result).replace(" one core,", ""), result["machine"]["load_average"][0]
    busy = " **Measured on a busy machine.**" if load > CORES + 0.5 else ""
    return "\n".join([
        *lines, "",
        f"Wall time of a simulation, {result['throughput'][0]['samples']:,} simulations of {STEPS} steps (naive loops: "
        f"{' and '.join(map(str, LOOPED.values()))}), two cores. {line} Load {load:.1f}.{busy}", "",
        f"Largest resident memory with paths kept: {memory}.", "",
        f"Killed by SIGKILL: {deaths} of {killed['chunks']} chunks, each of {killed['chunk']} samples; all "
        f"{killed['files']} files of the store are those of the undisturbed sweep, byte by byte.",
    ])  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweeps", description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--quick", action="store_true", help="check the harness: few samples, nothing is written")
    parser.add_argument("--client", help="sweep over the cluster of this address and stop")
    parser.add_argument("--store", type=pathlib.Path, help="of that sweep")
    parser.add_argument("--chunk", type=int, help="of that sweep")
    chosen = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"

    import kinetree as kt

    if chosen.quick:
        chosen.samples, chosen.steps, chosen.repeats = 200, 20, 1
    with tempfile.TemporaryDirectory(prefix="kinetree-sweeps-") as folder:
        work = Work(kt, chosen.samples, chosen.steps, pathlib.Path(folder))
        if chosen.client:
            work.sweep("rk4", path=chosen.store, client=chosen.client, chunk=chosen.chunk)
            return
        result = measure(work, chosen)
    if chosen.quick:
        return
    if set(chosen.only) != set(PARTS):
        result = store.read("sweeps") | result
        result.pop("date", None)
    path = store.write("sweeps", result)
    print(f"wrote {path.name}")
    put(ROOT / "docs" / "scale.md", "sweeps", table(store.read("sweeps")))


def measure(work: Work, chosen) -> dict[str, object]:
    """The chosen parts."""
    result: dict[str, object] = {
        "machine": machine.machine(),
        "versions": machine.versions((*machine.PACKAGES, "mujoco", "joblib", "dask", "distributed")),
        "method": {
            "clock": "wall time",
            "repeats": chosen.repeats,
            "dt": DT,
            "damping": DAMPING,
            "seed": SEED,
            "modules compiled": not sys.dont_write_bytecode,
        },
        "error of the step [rad]": error_of_step(work),
    }
    print("errors", result["error of the step [rad]"], flush=True)
    if "loops" in chosen.only:
        result["loops"] = naive(work, chosen.repeats)
    if "throughput" in chosen.only:
        result["throughput"] = throughput(work, chosen.repeats)
    if "memory" in chosen.only:
        result["memory"] = memory_of(work)
    if "kills" in chosen.only:
        chunk = max(1, min(1024, work.samples // 20))
        result["kills"] = kills(work, chunk) | {"chunk": chunk}
    return result


if __name__ == "__main__":
    main()
