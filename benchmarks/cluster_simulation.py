"""A plan for 1e12 state evaluations on 1,000 machines: measured costs of `kt.sweep`, and a simulation of the scheduler.

Kernels, chunks and messages are measured here; `cluster_events` simulates the cluster. The simulation must first agree
with closed forms, and with two sweeps over a cluster of Dask on this machine whose samples sleep, so that they need no
processor: one undisturbed, one whose worker is killed. ``python -m benchmarks.cluster_simulation`` writes
``benchmarks/results/cluster_simulation.json``, the tables and the figure of ``docs/scale.md``; ``--quick`` checks the
harness.
"""

from __future__ import annotations

import argparse
import math
import os
import pathlib
import tempfile

import numpy as np

from benchmarks import machine, store
from benchmarks.cluster_costs import EACH, PROCESSES, kernels, messages, real
from benchmarks.cluster_events import Cluster, Load, Simulation, expected_lost, expected_time, ideal_makespan
from benchmarks.figure_style import pyplot
from benchmarks.rollout import WrongAnswer
from benchmarks.sweeps import DT
from benchmarks.table import ROOT, machine_line, put

FIGURE = ROOT / "docs" / "scale.svg"
EVALUATIONS, MACHINES, THREADS = 1e12, 1000, 16
SIDE_BY_SIDE = 20  # sweeps
PRICE, POWER = 0.04, 8.0  # assumed: USD for an hour of a core, W of a core with its share of memory and cooling
BANDWIDTH = 1e10  # assumed: byte/s into a store of many disks
HOUR, YEAR = 3600.0, 365.25 * 24 * 3600.0
MTBF = {"spot": 20.0 * HOUR, "owned": YEAR}  # assumed: machines that may be taken away, machines that break
CLUSTER = {"repair": 300.0, "notice": 1.0, "spread": 0.05, "slow": 0.02, "slowness": 3.0, "start": 20.0}
AGREEMENT = {  # of real sweeps: Dask's own rules of placing chunks are not simulated, and a new worker loads modules
    "undisturbed [s]": 0.15,  # while the others need the cores
    "worker killed [s]": 0.3,
}


def cases(costs: dict[str, float]) -> dict[str, tuple[float, float, float]]:
    """By name: samples, seconds and bytes of each; 1e12 evaluations in simulations of 1 s in steps of 1 ms."""
    e, steps = costs["seconds of an evaluation"], 1.0 / DT
    arm = EVALUATIONS / (4 * steps)
    stand, shapes = (costs[f"seconds of a step, anymal_b, {name}"] for name in ("4 feet", "all shapes"))
    ends = 8.0 * (4 * 19 + 4 * 18) + 1.0  # floating base: starts and ends, with as many parameters
    return {
        "panda, RK4, ends kept": (arm, 4 * steps * e, costs["bytes, ends kept"]),
        "panda, RK4, 100 states of each path kept": (arm, 4 * steps * e, costs["bytes, paths kept"]),
        "ANYmal on its feet, ends kept": (EVALUATIONS / steps, steps * stand, ends),
        "ANYmal with all shapes, ends kept": (EVALUATIONS / steps, steps * shapes, ends),
    }


def best_chunk(work: float, threads: int, service: float, overhead: float) -> float:
    """Length of chunks [s]: the rule of `kinetree.sweeps.probe.chunk_size`, without its limit of memory."""
    from kinetree.sweeps.probe import TARGET

    few = math.sqrt(2.0 * overhead * work / threads)
    return max(min(TARGET, few), min(threads * service, math.sqrt(work * service)))


def planned(case, threads: int, found: dict, mtbf: float, sweeps: int = 1) -> dict:
    """One way to run a case, by sweeps side by side: their simulations, and what follows from them."""
    samples, seconds, size = case
    service, overhead = found["service [s]"], found["overhead [s]"]
    machines = max(1, threads // THREADS // sweeps)
    threads = machines * THREADS
    samples /= sweeps
    work = samples * seconds
    chunk = best_chunk(work, threads, service, overhead)
    chunks = max(1, round(work / chunk))
    chunk = work / chunks
    load = Load(chunks, chunk, overhead, service, samples * size / chunks, BANDWIDTH / sweeps)
    warm = found["first chunk of a process [s]"]
    cluster = Cluster(machines, THREADS, mtbf, warm=warm, **CLUSTER)
    outcomes = [Simulation(load, cluster, seed).run() for seed in range(sweeps)]
    makespan = max(x.makespan for x in outcomes)
    rented = sweeps * threads * makespan / HOUR
    return {
        "threads": sweeps * threads,
        "sweeps": sweeps,
        "chunks": sweeps * chunks,
        "chunk [s]": chunk,
        "core hours": sweeps * work / HOUR,
        "ideal [s]": work / threads,
        "makespan [s]": makespan,
        "machines that failed": sum(x.failures for x in outcomes),
        "chunks lost": sum(x.lost for x in outcomes),
        "chunks lost, expected": expected_lost(sweeps * chunks, chunk + overhead, mtbf),
        "core hours lost": sum(x.wasted for x in outcomes) / HOUR,
        "client busy": max(x.client for x in outcomes),
        "store busy": max(x.store for x in outcomes),
        "stored [byte]": sweeps * samples * size,
        "core hours rented": rented,
        "USD": rented * PRICE,
        "kWh": rented * POWER / 1000.0,
    }


def plan(costs, found: dict, quick: bool) -> list[dict]:
    """All cases: with the threads that one client keeps busy, with all machines, with these and sweeps side by side."""
    rows = []
    for name, case in cases(costs).items():
        work = case[0] * case[1]
        worth = int(min(MACHINES * THREADS, max(THREADS, math.sqrt(work / found["service [s]"]))))
        for threads, sweeps in ((worth, 1), (MACHINES * THREADS, 1), (MACHINES * THREADS, SIDE_BY_SIDE)):
            rows.append({"case": name, **planned(case, threads, found, MTBF["spot"], sweeps)})
            print(f"{name}, {threads} threads, {sweeps} sweeps: {rows[-1]['makespan [s]']:.0f} s", flush=True)
        if quick:
            break
    return rows


def curves(costs, costs_of_chunks: dict, quick: bool) -> dict[str, object]:
    """What the figure shows."""
    chosen = cases(costs)
    counts = [16, 64] if quick else [16, 64, 256, 1024, 2048, 4096, 8192, 16_000]
    names = ("panda, RK4, ends kept", "ANYmal with all shapes, ends kept")
    scaling = {
        name: [planned(chosen[name], n, costs_of_chunks, MTBF["spot"])["makespan [s]"] for n in counts]
        for name in names
    }
    lengths = np.geomspace(0.03, 3.0, 5 if quick else 9)  # of the mean time between failures
    lost = []
    for x in lengths:
        found = Simulation(Load(400 if quick else 4000, float(x)), Cluster(64, mtbf=1.0, repair=0.0), seed=1).run()
        lost.append(found.wasted / found.useful)
    case = chosen[names[1]]
    work, threads = case[0] * case[1], 2000 if not quick else 64
    chunks = 20 * threads
    slow = Cluster(threads // 8, 8, slow=0.02, slowness=5.0, spread=0.05)
    tails = {}
    for copies in (False, True):
        load = Load(chunks, work / chunks, costs_of_chunks["overhead [s]"], duplicates=copies)
        found = Simulation(load, slow, seed=2).run()
        ordered = np.sort(found.written)
        points = np.unique(np.geomspace(1, chunks, 200).astype(int))
        tails[str(copies)] = [(float(ordered[-k]), int(k - 1)) for k in points[::-1]] + [(found.makespan, 0)]
    works = {name: chosen[name][0] * chosen[name][1] for name in names}
    return {
        "threads": counts, "makespan [s]": scaling, "work [s]": works,
        "chunk / mtbf": lengths.tolist(), "lost / useful": lost, "tails": tails, "chunk of tails [s]": work / chunks,
    }  # fmt: skip


def draw(result: dict[str, object]) -> None:
    """The figure."""
    from kinetree.viz.style import COLORS, INK

    plt = pyplot()
    c, service = result["curves"], result["real"]["service [s]"]
    figure, axes = plt.subplots(1, 3, figsize=(9.0, 3.1))
    n = np.array(c["threads"])
    for k, (name, times) in enumerate(c["makespan [s]"].items()):
        axes[0].plot(n, times, "o", color=COLORS[k], markersize=4, label=name.partition(",")[0])
        axes[0].plot(n, c["work [s]"][name] / n, "-", color=COLORS[k], linewidth=1.0)
        axes[0].axvline(math.sqrt(c["work [s]"][name] / service), color=COLORS[k], linewidth=0.8, linestyle=":")
    axes[0].set(xscale="log", yscale="log", xlabel="threads", ylabel="time [s]", title="1e12 evaluations")
    axes[0].margins(x=0.06)
    axes[0].legend(loc="lower left")
    x = np.array(c["chunk / mtbf"])
    axes[1].plot(x, np.expm1(x) / x - 1.0, "-", color=INK, linewidth=1.0, label="closed form")
    axes[1].plot(x, c["lost / useful"], "o", color=COLORS[0], markersize=4, label="simulated")
    axes[1].set(
        xscale="log", yscale="log", xlabel="length of a chunk / time between failures", ylabel="lost / useful time",
        title="Failures",
    )  # fmt: skip
    axes[1].margins(x=0.06)
    axes[1].legend(loc="upper left")
    for k, (copies, points) in enumerate(c["tails"].items()):
        t, left = np.array(points).T
        label = "with duplicates" if copies == "True" else "without duplicates"
        axes[2].step(t, left + 1, where="post", color=COLORS[k], label=label)
    end = max(t for points in c["tails"].values() for t, _ in points)
    axes[2].set(
        yscale="log", xlabel="time [s]", ylabel="chunks left + 1", title="Stragglers",
        xlim=(0.7 * end, 1.02 * end), ylim=(0.7, 3e4),
    )  # fmt: skip
    axes[2].legend(loc="upper right")
    figure.tight_layout()
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)


# Documents -----------------------------------------------------------------------------------------------------------


def table(result: dict[str, object]) -> str:
    """The table of the plan."""
    columns = {
        "work": lambda row: row["case"],
        "threads": lambda row: f"{row['threads']:,}",
        "sweeps": lambda row: f"{row['sweeps']}",
        "chunks": lambda row: f"{row['chunks']:,}",
        "chunk [s]": lambda row: f"{row['chunk [s]']:.3g}",
        "core hours": lambda row: f"{row['core hours']:.3g}",
        "ideal [s]": lambda row: f"{row['ideal [s]']:.3g}",
        "simulated [s]": lambda row: f"{row['makespan [s]']:.3g}",
        "client busy": lambda row: f"{100 * row['client busy']:.0f} %",
        "chunks lost (expected)": lambda row: f"{row['chunks lost']} ({row['chunks lost, expected']:.2g})",
        "stored": lambda row: _bytes(row["stored [byte]"]),
        "messages": lambda row: _bytes(row["chunks"] * costs["bytes of messages"]),
        "core hours rented": lambda row: f"{row['core hours rented']:.3g}",
        "USD": lambda row: f"{row['USD']:.3g}",
        "kWh": lambda row: f"{row['kWh']:.2g}",
    }
    costs, found = result["measured"], result["real"]
    lines = [f"| {' | '.join(columns)} |", "| --- |" + " ---: |" * (len(columns) - 1)]
    lines += [f"| {' | '.join(cell(row) for cell in columns.values())} |" for row in result["plan"]]
    (a, b), (c, d) = found["undisturbed [s]"], found["worker killed [s]"]
    load = result["machine"]["load_average"][0]
    busy = " **Measured on a busy machine.**" if load > 2.5 else ""
    ms = {name: 1e3 * found[f"{name} [s]"] for name in ("service", "overhead")}
    measured = (
        f"Measured: an evaluation of the panda's forward dynamics, {1e9 * costs['seconds of an evaluation']:.0f} ns of "
        f"a core; a sample with its ends, {costs['bytes, ends kept']:.0f} bytes, with 100 states, "
        f"{costs['bytes, paths kept']:.0f} bytes; a chunk, {ms['service']:.1f} ms of client and scheduler, "
        f"{ms['overhead']:.0f} ms of its worker, {costs['bytes of messages'] / 1e3:.0f} kB of messages; the first "
        f"chunk of a process, {found['first chunk of a process [s]']:.1f} s."
    )
    compared = (
        f"Sweeps of {found['chunks']} chunks that sleep, on {PROCESSES} x {EACH} threads: undisturbed {a:.2f} s, "
        f"simulated {b:.2f} s; with a worker killed, which is back after {found['back after [s]']:.1f} s, {c:.2f} s, "
        f"simulated {d:.2f} s. {machine_line(result).replace(' one core,', '')} Load {load:.1f}.{busy}"
    )
    return "\n".join([*lines, "", measured, "", compared])


def _bytes(x: float) -> str:
    return f"{x / 1e12:.1f} TB" if x >= 1e12 else f"{x / 1e9:.1f} GB"


def closed_forms() -> dict[str, list[float]]:
    """Simulated and expected: rounds without disturbance, lost computations, time of a chunk with them."""
    rounds = Simulation(Load(1000, 2.0), Cluster(8, 8)).run().makespan
    found = Simulation(Load(20_000, 1.0), Cluster(100, mtbf=3.0, repair=0.0), seed=5).run()
    pairs = {
        "makespan": [rounds, ideal_makespan(1000, 2.0, 64, 0.0)],
        "lost": [found.lost, expected_lost(20_000, 1.0, 3.0)],
        "time of a chunk": [(found.useful + found.wasted) / 20_000, expected_time(1.0, 3.0)],
    }
    for name, (x, expected) in pairs.items():
        if abs(x / expected - 1.0) > 0.05:
            raise WrongAnswer(f"{name}: simulated {x:.4g}, closed form {expected:.4g}")
    return pairs


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cluster_simulation", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="check the harness: few samples, nothing is written")
    chosen = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"

    import kinetree as kt

    result: dict[str, object] = {
        "machine": machine.machine(),
        "versions": machine.versions((*machine.PACKAGES, "dask", "distributed")),
        "method": {"price": PRICE, "power": POWER, "bandwidth": BANDWIDTH, "mtbf": MTBF, "cluster": CLUSTER},
        "closed forms": closed_forms(),
    }
    with tempfile.TemporaryDirectory(prefix="kinetree-cluster-") as folder:
        path = pathlib.Path(folder)
        costs = kernels(kt, path, 64 if chosen.quick else 2048)
        costs["bytes of messages"] = messages(kt)
        found = real(kt, path, 24 if chosen.quick else 240)
    for name, tolerance in AGREEMENT.items():
        measured, simulated = found[name]
        if not chosen.quick and abs(simulated / measured - 1.0) > tolerance:
            raise WrongAnswer(f"{name}: measured {measured:.2f}, simulated {simulated:.2f}")
    result |= {"measured": costs, "real": found, "plan": plan(costs, found, chosen.quick)}
    result["curves"] = curves(costs, found, chosen.quick)
    if chosen.quick:
        table(result | {"date": ""})
        return
    print(f"wrote {store.write('cluster_simulation', result).name}")
    result = store.read("cluster_simulation")
    put(ROOT / "docs" / "scale.md", "plan", table(result))
    draw(result)


if __name__ == "__main__":
    main()
