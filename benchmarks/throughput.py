"""kinetree against Pinocchio in one process: an arm, a quadruped and a humanoid, one state a call and in batches.

``python -m benchmarks.throughput`` first verifies the results of every method, then times all interleaved: (1) one
state per call from Python, against Pinocchio's Python call; (2) batches on one core, against Pinocchio's C++ called in
a loop (`rivals.pinocchio_cpp`; where there is no compiler its Python call less an empty one); (3) a large batch, and
two threads. Compilation is measured apart, in fresh processes. It writes ``benchmarks/results/throughput.json``, the
tables of ``docs/benchmarks.md`` and of the README. Run it on a quiet machine from the root of the repository;
``--quick`` checks that the harness works and says nothing about speed.
"""

from __future__ import annotations

import argparse
import os
import time

from benchmarks import machine, store, timing
from benchmarks.contenders import ALGORITHMS, BATCH_STATES, CALL_STATES, SEED, Task
from benchmarks.rivals.pinocchio_cpp import NoCompiler
from benchmarks.startup import first_results
from benchmarks.verify import verify

ROBOTS = ("panda", "anymal_b", "talos_reduced")
THREADS = 2


def compare(times: dict[str, list[float]], rivals: list[str]) -> dict[str, object]:
    """Summaries of all contenders, and the ratio of the fastest rival to each of the others, repeat by repeat."""
    summaries = {name: timing.summary(each) for name, each in times.items()}
    rival = min(rivals, key=lambda name: summaries[name]["median"])
    return {
        "seconds": summaries,
        "rival": rival,
        "ratios": {name: timing.ratios(times[rival], times[name]) for name in times if name not in rivals},
    }


def measure_calls(task: Task, algorithm: str, repeats: int, block: float) -> dict[str, object]:
    """One state per call from Python."""
    times = timing.interleaved(task.calls(algorithm), CALL_STATES, repeats, block)
    return compare(times, [name for name in times if name.startswith("pinocchio")])


def measure_batches(few: Task, many: Task, algorithm: str, cpp: bool, repeats: int, block: float) -> dict[str, object]:
    """Batches on one core against Pinocchio's loop over states."""
    ours, pools = many.batches(algorithm), many.pools(algorithm)
    loops = few.compiled(algorithm) if cpp else few.python_calls(algorithm)
    batch = len(many.states["q"])
    units = {**dict.fromkeys([*ours, *pools], batch), **dict.fromkeys(loops, CALL_STATES)}
    times = timing.interleaved({**ours, **pools, **loops}, units, repeats, block)
    if not cpp:  # what the binding takes is not Pinocchio's fault
        empty = times.pop("empty call")
        loops.pop("empty call")
        for name in loops:
            times[name] = [whole - call for whole, call in zip(times[name], empty, strict=True)]
    return compare(times, [*loops, *pools])


def measure_scale(many: Task, algorithm: str, repeats: int, block: float) -> dict[str, object]:
    """The large batch [CPU seconds per state], and half of it by one and by two threads [wall seconds per state]."""
    count, run = many.large_batch(algorithm)
    large = timing.interleaved({"large": run}, count, max(3, repeats // 3), block)["large"]
    del run
    shared, alone = many.threaded(algorithm, 1)
    pair = {"1": alone, str(THREADS): many.threaded(algorithm, THREADS)[1]}
    wall = timing.interleaved(pair, shared, repeats, block, clock=time.perf_counter)
    return {
        "large_batch": {"states": count, **timing.summary(large)},
        "threads": {name: timing.summary(each) for name, each in wall.items()},
        "speedup": timing.ratios(wall["1"], wall[str(THREADS)]),
    }


def measure(
    kt, robots, algorithms, repeats=timing.REPEATS, block=timing.BLOCK, batch=BATCH_STATES, processes=3
) -> dict[str, object]:
    """Verify, then time, everything asked for; the result is what `store.write` writes."""
    verified, rows, first, compiler = [], [], [], None
    for robot in robots:
        few, many = Task(kt, robot, CALL_STATES), Task(kt, robot, batch)
        try:
            compiler = few.cpp.about
        except NoCompiler as error:
            print(f"Pinocchio's C++ is left out, its Python call less an empty one stands for it: {error}")
        for algorithm in algorithms:
            verified.append(verify(few, algorithm, cpp=compiler is not None))
            row = {
                "robot": robot,
                "algorithm": algorithm,
                "nq": few.model.nq,
                "nv": few.model.nv,
                "operations": str(getattr(few.function(algorithm), "operations", "")),
                "call": measure_calls(few, algorithm, repeats, block),
                "batch": measure_batches(few, many, algorithm, compiler is not None, repeats, block),
                "scale": measure_scale(many, algorithm, repeats, block),
            }
            rows.append(row)
            print(line(row), flush=True)
            if processes:
                first.append(first_results(robot, algorithm, processes))
    return {
        "machine": machine.machine(),
        "versions": machine.versions(),
        "method": {
            "clock": "CPU time of the whole process, seconds per state; wall time where threads are compared",
            "repeats": repeats,
            "block": block,
            "call_states": CALL_STATES,
            "batch_states": batch,
            "seed": SEED,
            "threads": 1,
            "pinocchio_cpp": compiler,
        },
        "verification": verified,
        "rows": rows,
        "first_results": first,
    }


def line(row: dict) -> str:
    """A row in one line."""
    call, batch, scale = row["call"]["ratios"], row["batch"], row["scale"]
    seconds = batch["seconds"]
    single = seconds["kinetree out="]["median"] / seconds["kinetree float32 out="]["median"]
    plain = row["call"]["seconds"]["kinetree plain"]["median"] - row["call"]["seconds"]["kinetree"]["median"]
    small = batch["ratios"].get("kinetree packed out=")
    packed = f"packed {small['median']:.1f}x, " if small else ""
    return (
        f"{row['robot']:14} {row['algorithm']:16} "
        f"call {call['kinetree']['median']:5.1f}x (plain +{1e9 * plain:.0f} ns); "
        f"batch {1e9 * seconds['kinetree out=']['median']:5.0f} ns, "
        f"{batch['ratios']['kinetree out=']['median']:5.1f}x of {batch['rival']} "
        f"{1e9 * seconds[batch['rival']]['median']:.0f} ns, "
        f"fresh {batch['ratios']['kinetree']['median']:.1f}x, {packed}"
        f"float32 {single:.2f}x, large {1e9 * scale['large_batch']['median']:.0f} ns, "
        f"{THREADS} threads {scale['speedup']['median']:.2f}x"
    )


def main(arguments: list[str] | None = None) -> None:
    """Command line of the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput", description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="throughput", help="name of the result (default: throughput)")
    parser.add_argument("--robots", nargs="+", default=ROBOTS, metavar="ROBOT")
    parser.add_argument("--algorithms", nargs="+", default=tuple(ALGORITHMS), choices=tuple(ALGORITHMS))
    parser.add_argument("--repeats", type=int, default=timing.REPEATS)
    parser.add_argument("--quick", action="store_true", help="check the harness: short blocks, nothing is written")
    chosen = parser.parse_args(arguments)
    for variable in ("OMP_NUM_THREADS", "KINETREE_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

    import kinetree as kt

    if chosen.quick:
        measure(kt, chosen.robots, chosen.algorithms, repeats=3, block=0.002, batch=256, processes=0)
        return
    path = store.write(chosen.name, measure(kt, chosen.robots, chosen.algorithms, chosen.repeats))
    print(f"wrote {path.name}")
    if chosen.name == "throughput":
        from benchmarks import table

        table.update_documents()


if __name__ == "__main__":
    main()
