"""The cost of the first result: import, load, compile, call in fresh processes, with and without a filled cache.

``python -m benchmarks.startup`` prints the table and writes ``benchmarks/results/startup.json``. Times are CPU seconds
of the whole process since it began, the interpreter's own start included; "callable" is the wall time from the trace
to machine code.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks.contenders import ALGORITHMS
from benchmarks.machine import machine, versions
from benchmarks.store import write
from tests.engines.robots import ROBOTS, robot_path

REPEATS = 3

KINETREE = """
import time, json, sys
marks = {"interpreter": time.process_time()}
import kinetree as kt, numpy as np
marks["import"] = time.process_time()
path, floating, algorithm, count = sys.argv[1], sys.argv[2] == "True", sys.argv[3], int(sys.argv[4])
model = kt.load(path, floating_base=floating, inertia="accept")
marks["load"] = time.process_time()
f = kt.compile(model, algorithm)
marks["compile"] = time.process_time()
q = np.zeros(model.nq)
if floating: q[3] = 1.0
f(*([q] + [np.ones(model.nv)] * (count - 1)))
marks["first result"] = time.process_time()
marks["callable"] = sum(f.seconds.values())
print(json.dumps(marks))
"""

PINOCCHIO = """
import time, json, sys
marks = {"interpreter": time.process_time()}
import pinocchio as pin, numpy as np
marks["import"] = time.process_time()
path, floating, algorithm, count = sys.argv[1], sys.argv[2] == "True", sys.argv[3], int(sys.argv[4])
model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(path)
data = model.createData()
marks["load"] = marks["compile"] = time.process_time()
names = {"rnea_derivatives": "computeRNEADerivatives", "aba_derivatives": "computeABADerivatives"}
call = getattr(pin, names.get(algorithm, algorithm))
call(model, data, pin.neutral(model), *[np.ones(model.nv)] * (count - 1))
marks["first result"] = time.process_time()
print(json.dumps(marks))
"""


def fresh_process(script: str, robot: str, algorithm: str, cache: str) -> dict[str, float]:
    """CPU seconds since the process began, at each mark of ``script``, run in a process of its own."""
    arguments = [robot_path(robot), str(ROBOTS[robot].floating_base), algorithm, str(len(ALGORITHMS[algorithm]))]
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**_environment(), "KINETREE_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{robot} {algorithm}: the fresh process failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _environment() -> dict[str, str]:
    """The environment, bytecode allowed: installed packages have theirs, a checkout must be able to keep its own."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _median(samples: list[dict[str, float]]) -> dict[str, float]:
    return {mark: statistics.median(sample[mark] for sample in samples) for mark in samples[0]}


def first_results(robot: str, algorithm: str, repeats: int = REPEATS) -> dict[str, object]:
    """Marks of kinetree with an empty cache, with the cache that run left, and of Pinocchio; medians of processes."""
    cold, cached, rival = [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="kinetree-cache-") as cache:
            cold.append(fresh_process(KINETREE, robot, algorithm, cache))
            cached.append(fresh_process(KINETREE, robot, algorithm, cache))
            rival.append(fresh_process(PINOCCHIO, robot, algorithm, cache))
    return {
        "robot": robot,
        "algorithm": algorithm,
        "processes": repeats,
        "cold": _median(cold),
        "cached": _median(cached),
        "pinocchio": _median(rival),
    }


def import_times(module: str, most: int = 12) -> dict[str, object]:
    """Import time of a module as ``-X importtime`` reports it (wall seconds), with the modules that take most of it."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"import {module}"],
        env=_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    rows = []
    for line in done.stderr.splitlines():
        own, cumulative, name = line.removeprefix("import time:").split("|")
        if own.strip().isdigit():
            rows.append((name.strip(), int(own) / 1e6, int(cumulative) / 1e6))
    total = next(cumulative for name, _, cumulative in rows if name == module)
    slowest = sorted(rows, key=lambda row: -row[1])[:most]
    return {"module": module, "total": total, "slowest": [{"module": name, "own": own} for name, own, _ in slowest]}


def main(arguments: list[str] | None = None) -> None:
    """Measure, print and write."""
    imports = [import_times(module) for module in ("numpy", "kinetree")]
    for entry in imports:
        print(f"import {entry['module']}: {entry['total']:.3f} s")
    rows = []
    for robot in ("panda", "anymal_b", "talos_reduced"):
        row = first_results(robot, "rnea")
        rows.append(row)
        shown = ", ".join(f"{method} {row[method]['first result']:.2f} s" for method in ("cold", "cached", "pinocchio"))
        print(f"{robot} rnea, CPU until the first result: {shown}")
    write("startup", {"machine": machine(), "versions": versions(), "imports": imports, "first_results": rows})


if __name__ == "__main__":
    main()
