"""kinetree against Pinocchio in one process: rnea, crba and aba for an arm, a quadruped and a humanoid.

``python -m benchmarks`` first proves the answers of every road, then times all roads interleaved: (1) one state per
call from Python, (2) a batch of 4096 states on one core. Compilation and first calls are measured apart, in fresh
processes. It writes ``benchmarks/results/<name>.json`` and the table in the README. Run it on a quiet
machine from the root of the repository; ``--quick`` checks that the harness works and says nothing about speed.
"""

from __future__ import annotations

import argparse
import os

from benchmarks import machine, store, table, timing
from benchmarks.contenders import ALGORITHMS, BATCH_STATES, CALL_STATES, SEED, Task
from benchmarks.startup import first_results
from benchmarks.verify import verify

ROBOTS = ("panda", "anymal_b", "talos_reduced")


def compare(contenders: dict, units: int, repeats: int, block: float) -> dict[str, object]:
    """Times of every contender, and the ratio of Pinocchio's best road to each of kinetree's."""
    times = timing.interleaved(contenders, units, repeats, block)
    summaries = {name: timing.summary(each) for name, each in times.items()}
    rivals = [name for name in times if name.startswith("pinocchio")]
    rival = min(rivals, key=lambda name: summaries[name]["median"])
    return {
        "seconds": summaries,
        "rival": rival,
        "ratios": {name: timing.ratios(times[rival], times[name]) for name in times if name not in rivals},
    }


def measure(
    kt, robots, algorithms, repeats=timing.REPEATS, block=timing.BLOCK, batch=BATCH_STATES, processes=3
) -> dict[str, object]:
    """Verify, then time, everything asked for; the result is what `store.write` writes."""
    verified, rows, first = [], [], []
    for robot in robots:
        few, many = Task(kt, robot, CALL_STATES), Task(kt, robot, batch)
        for algorithm in algorithms:
            verified.append(verify(few, algorithm))
            row = {
                "robot": robot,
                "algorithm": algorithm,
                "nq": few.model.nq,
                "nv": few.model.nv,
                "operations": str(getattr(few.kt.compile(few.model, algorithm), "operations", "")),
                "call": compare(few.calls(algorithm), CALL_STATES, repeats, block),
                "batch": compare(many.batches(algorithm), batch, repeats, block),
            }
            rows.append(row)
            call, tile = row["call"]["ratios"], row["batch"]["ratios"]
            print(
                f"{robot:14} {algorithm}: call {call['kinetree out=']['median']:.1f}x (out=), "
                f"{call['kinetree']['median']:.1f}x, plain {call['kinetree plain']['median']:.1f}x; "
                f"batch {tile['kinetree out=']['median']:.1f}x (out=), {tile['kinetree']['median']:.1f}x",
                flush=True,
            )
            if processes:
                first.append(first_results(robot, algorithm, processes))
    return {
        "machine": machine.machine(),
        "versions": machine.versions(),
        "method": {
            "clock": "CPU time of the whole process, seconds per state",
            "repeats": repeats,
            "block": block,
            "call_states": CALL_STATES,
            "batch_states": batch,
            "seed": SEED,
            "threads": 1,
        },
        "verification": verified,
        "rows": rows,
        "first_results": first,
    }


def main(arguments: list[str] | None = None) -> None:
    """Command line of the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="pinocchio", help="name of the result (default: pinocchio)")
    parser.add_argument("--robots", nargs="+", default=ROBOTS, metavar="ROBOT")
    parser.add_argument("--algorithms", nargs="+", default=tuple(ALGORITHMS), choices=tuple(ALGORITHMS))
    parser.add_argument("--repeats", type=int, default=timing.REPEATS)
    parser.add_argument("--quick", action="store_true", help="check the harness: short blocks, nothing is written")
    chosen = parser.parse_args(arguments)
    for variable in ("OMP_NUM_THREADS", "KINETREE_NUM_THREADS"):
        os.environ[variable] = "1"

    import kinetree as kt

    if chosen.quick:
        measure(kt, chosen.robots, chosen.algorithms, repeats=3, block=0.002, batch=256, processes=1)
        return
    path = store.write(chosen.name, measure(kt, chosen.robots, chosen.algorithms, chosen.repeats))
    print(f"wrote {path.name}")
    if chosen.name == table.SOURCE:
        table.update_readme()


if __name__ == "__main__":
    main()
