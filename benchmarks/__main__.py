"""``python -m benchmarks``: the whole set, one measurement after the other; ``--only NAME ...`` chooses.

Each is a module with a ``main()``, runs in a process of its own (so none warms up another, and each may set its
environment), verifies before it times, and writes ``benchmarks/results/NAME.json``. Their output goes to
``build/benchmarks/NAME.log``. Run it on a quiet machine from the root of the repository.
"""

from __future__ import annotations

import argparse
import importlib.util
import pathlib
import subprocess
import sys
import time

SUITE = {
    "throughput": "one state a call and batches, against Pinocchio's Python and C++",
    "rivals": "every engine that is installed, on the same robots and states",
    "startup": "import, compilation and the first result in fresh processes",
    "operations": "operation counts against the published ones",
    "derivatives": "derivatives by several routes",
    "fused": "several quantities in one function",
    "rollout": "whole steps and rollouts",
    "bounded_rollout": "friction that sticks and hard limits, against exact steps and MuJoCo",
    "contact": "robots on the ground against MuJoCo's rollouts",
    "predictive_control": "MPPI of an arm and of a quadruped in closed loop, its rollouts against MuJoCo's, iLQR",
    "environments": "vector environments for reinforcement learning against MuJoCo",
    "contact_solvers": "residual, time and failures of the solvers of contact problems",
    "contact_simulation": "single steps with contact from Python against MuJoCo's",
    "loops": "mechanisms with loops against Pinocchio and MuJoCo, and up to 128 loops in a row",
    "loop_steps": "steps of mechanisms with loops against MuJoCo's and Exudyn's",
    "implicit_steps": "implicit steps with springs and muscles, conjugate gradients on stiff chains",
    "deformables": "elements and steps of elastic solids, and forces of MuJoCo's flexes",
    "muscles": "arms with muscles against OpenSim and MuJoCo",
    "work_precision": "error against time of every integrator, SciPy's and MuJoCo's too",
    "tendons": "lengths and Jacobians of tendons around shapes against MuJoCo",
    "actuators": "robots under their own motors, servos and muscles against MuJoCo",
    "piles": "a thousand balls and a stack of boxes against MuJoCo",
    "big_models": "chains of thousands of bodies",
    "sweeps": "100,000 simulations through a cluster, killed and resumed, against naive loops",
    "cluster_simulation": "a plan for 1e12 evaluations on 1,000 machines, by a simulation of the scheduler",
    "redmax": "REDMAX, its dual, ABA and maximal coordinates on chains",
    "viewer": "replay of a humanoid with meshes in the live viewer, and runs that are watched",
    "viewer_export": "pages, pictures and films of robots with meshes: sizes, times to write and to open",
    "gpu": "kernels on a CUDA device, where there is one",
}
QUICK = ("throughput", "rivals", "work_precision", "sweeps", "cluster_simulation")  # that can check their harness
LOGS = pathlib.Path(__file__).parent.parent / "build" / "benchmarks"


def present() -> dict[str, str]:
    """The measurements of the suite that this checkout and this machine have."""
    found = {n: about for n, about in SUITE.items() if importlib.util.find_spec(f"benchmarks.{n}") is not None}
    if importlib.util.find_spec("cupy") is None:
        found.pop("gpu", None)
    return found


def run(name: str, arguments: list[str], log: pathlib.Path, tick) -> tuple[int, float]:
    """Run one measurement in its own process; its exit status and wall seconds."""
    start = time.perf_counter()
    with log.open("w") as output:
        command = [sys.executable, "-u", "-m", f"benchmarks.{name}", *arguments]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                tick(_last_line(log))
                time.sleep(0.5)
        except BaseException:
            process.terminate()
            raise
    return process.returncode, time.perf_counter() - start


def _last_line(log: pathlib.Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def main(arguments: list[str] | None = None) -> int:
    """Run what is chosen with a progress bar; the exit status says whether all went through."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=tuple(SUITE), metavar="NAME", help=", ".join(SUITE))
    parser.add_argument("--list", action="store_true", help="name the measurements and stop")
    parser.add_argument("--quick", action="store_true", help="check the harnesses that can; writes no results")
    chosen = parser.parse_args(arguments)
    names = present()
    if chosen.list:
        for name, about in SUITE.items():
            print(f"{name:12} {about}{'' if name in names else ' (not on this machine)'}")
        return 0
    if chosen.only:
        names = {name: SUITE[name] for name in chosen.only}
    if chosen.quick:
        names = {name: about for name, about in names.items() if name in QUICK}

    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    LOGS.mkdir(parents=True, exist_ok=True)
    console, failed = Console(), []
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}")
    with Progress(*columns, TimeElapsedColumn(), TextColumn("{task.fields[line]}"), console=console) as progress:
        task = progress.add_task("benchmarks", total=len(names), line="")
        for name in names:
            log = LOGS / f"{name}.log"
            progress.update(task, description=name)
            status, seconds = run(
                name, ["--quick"] if chosen.quick else [], log,
                lambda line: progress.update(task, line=escape(line[: max(20, console.width - 60)])),
            )  # fmt: skip
            if status:
                failed.append(name)
            word = f"failed with status {status}, see {log}" if status else "done"
            progress.console.print(f"{name}: {word} ({seconds:.0f} s)")
            progress.advance(task)
    if not failed and not chosen.quick and {"throughput", "rivals"} & set(names):
        from benchmarks import table

        table.update_documents()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
