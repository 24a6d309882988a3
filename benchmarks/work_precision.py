"""Work-precision diagrams: the error at the end of a motion against CPU time and evaluations, for every integrator.

Five mechanisms (`benchmarks.problems`), every method of kinetree with fixed and with adaptive steps, SciPy's
``solve_ivp`` called directly on `kt.aba`, and MuJoCo's integrators on the same model. The ends of the motions and the
accelerations of MuJoCo's models are verified first. ``python -m benchmarks.work_precision`` writes
``benchmarks/results/work_precision.json``, ``docs/work_precision.svg`` and the tables of ``docs/work_precision.md``;
``--quick`` checks that the harness works and says nothing about speed.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import time
from collections.abc import Callable

from benchmarks import machine, solvers, store, tumbling_top
from benchmarks.problems import PROBLEMS, Problem

ROUNDS = 3  # every point is timed so often, all points of a problem in turn
BLOCK = 0.003  # seconds of CPU time of a timing, at least
MOST = 0.06  # seconds: a way that takes longer is the last of its contender
ENOUGH = 1e-12  # an error that ends a contender's sweep
TOLERANCES = tuple(10.0**-n for n in range(2, 14))
QUICK_KNOBS = 3
WILD = 10.0  # rad, m or per second: a larger error is no answer


class Contender:
    """A method with its runner: ``make(knob)`` is a way with so many steps, or with such a tolerance."""

    __slots__ = ("family", "knob", "knobs", "make", "name")

    def __init__(self, family: str, name: str, knob: str, knobs, make: Callable) -> None:
        self.family, self.name, self.knob, self.knobs, self.make = family, name, knob, knobs, make


def contenders(problem: Problem, mujoco: solvers.MujocoRunner) -> list[Contender]:
    """All that take part, in the order of the tables."""
    from kinetree.integrators import ADAPTIVE, FIXED_STEP

    way = problem.model, problem.q0, problem.v0, problem.duration
    found = []

    def fixed(family: str, name: str, order: int, make: Callable) -> None:
        # Methods of low order need a thousand times as many steps where others need ten times as many.
        factor, first = (4 if order <= 2 else 2), math.ceil(problem.duration / problem.longest)
        found.append(Contender(family, name, "steps", [first * factor**k for k in range(16)], make))

    def tolerant(family: str, name: str, solver: Callable) -> None:
        found.append(Contender(family, name, "tolerance", TOLERANCES, lambda tol: solver(*way, name, tol, tol)))

    for name, method in FIXED_STEP.items():
        runner = solvers.stepped if method.algorithm is None else solvers.rollout
        family = "kinetree, Python loop" if method.algorithm is None else "kinetree, rollout"
        fixed(family, name, method.order, lambda n, runner=runner, name=name: runner(*way, name, n))
    for name in solvers.LOOPED:
        order = FIXED_STEP[name].order
        fixed("kinetree, simulate", name, order, lambda n, name=name: solvers.simulated(*way, name, n))
        family = f"kinetree, rollout of {solvers.BATCH}"
        fixed(family, name, order, lambda n, name=name: solvers.rollout(*way, name, n, solvers.BATCH))
    for name in ADAPTIVE:
        if not name.startswith(("CVODE", "IDA")) or _has("sksundae"):
            tolerant("kinetree, adaptive", name, solvers.adaptive)
    for name in solvers.SCIPY:
        tolerant("SciPy on kt.aba", name, solvers.scipy_direct)
    for name in solvers.MUJOCO:
        order = 4 if name == "RK4" else 1
        fixed("MuJoCo", name, order, lambda n, name=name: mujoco.runner(*way[1:], name, n))
    return found


def _has(package: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(package) is not None


class Curve:
    """What a contender reaches: errors, evaluations and seconds by knob."""

    __slots__ = ("contender", "errors", "evaluations", "knobs", "runners", "seconds", "why")

    def __init__(self, contender: Contender) -> None:
        self.contender, self.why = contender, None
        self.knobs, self.errors, self.evaluations, self.runners, self.seconds = [], [], [], [], []

    def sweep(self, problem: Problem, knobs) -> None:
        """Go the ways from the longest steps to the shortest, until nothing is won or it takes too long."""
        warm = False
        for knob in knobs:
            try:
                runner = self.contender.make(knob)
                if not warm:
                    runner.run()  # compiles
                    warm = True
                start = time.process_time()
                found = runner.run()
                seconds = time.process_time() - start
                state, evaluations = runner.end(found)
            except solvers.Unable as error:
                self.why = str(error)
                continue  # a shorter step may do
            error = problem.error(*state)
            if not error <= WILD:
                continue
            self.knobs.append(knob)
            self.errors.append(error)
            self.evaluations.append(evaluations)
            self.runners.append(runner)
            self.seconds.append([seconds])
            if seconds > MOST or error < max(ENOUGH, problem.uncertainty):
                return
            if len(self.errors) > 3 and min(self.errors[-2:]) > self.errors[-4]:
                return  # rounding alone

    def time(self) -> None:
        """Time every way once more."""
        for runner, seconds in zip(self.runners, self.seconds, strict=True):
            count = max(1, math.ceil(BLOCK / max(min(seconds), 1e-7)))
            start = time.process_time()
            for _ in range(count):
                runner.run()
            seconds.append((time.process_time() - start) / count)

    def result(self) -> dict[str, object]:
        """For `store.write`; seconds are the best of the rounds, of a batch per state."""
        c = self.contender
        share = solvers.BATCH if c.family.endswith(f"of {solvers.BATCH}") else 1
        return {
            "family": c.family,
            "name": c.name,
            c.knob: self.knobs,
            "errors": self.errors,
            "evaluations": self.evaluations,
            "seconds": [min(each[1:] or each) / share for each in self.seconds],
        }


def measure_problem(problem: Problem, quick: bool) -> dict[str, object]:
    """Verify, sweep and time all contenders of a problem."""
    mujoco = solvers.MujocoRunner(problem.model)
    agreement = mujoco.verify()
    curves = [Curve(contender) for contender in contenders(problem, mujoco)]
    with solvers.quiet_mujoco():
        for curve in curves:
            curve.sweep(problem, curve.contender.knobs[: QUICK_KNOBS if quick else None])
        gc.collect()
        gc.disable()
        try:
            for _ in range(0 if quick else ROUNDS):
                for curve in curves:
                    curve.time()
        finally:
            gc.enable()
    for curve in curves:
        if not curve.errors:
            label = f"{curve.contender.family} {curve.contender.name}"
            print(f"{problem.name}: no answer from {label}: {curve.why or 'errors above ' + str(WILD)}")
    return {
        "problem": problem.name,
        "about": problem.about,
        "nv": problem.model.nv,
        "duration": problem.duration,
        "reference": problem.reference,
        "uncertainty": problem.uncertainty,
        "mujoco_accelerations": agreement,
        "curves": [curve.result() for curve in curves],
    }


def measure(names, quick: bool = False) -> dict[str, object]:
    """All problems; the result is what `store.write` writes."""
    load, rows = machine.machine()["load_average"], []
    for name in names:
        start = time.perf_counter()
        row = measure_problem(PROBLEMS[name](), quick)
        rows.append(row)
        count, points = len(row["curves"]), sum(len(curve["errors"]) for curve in row["curves"])
        print(f"{name}: {count} contenders, {points} points, reference known to {row['uncertainty']:.0e}, MuJoCo's "
              f"accelerations within {row['mujoco_accelerations']:.0e}; {time.perf_counter() - start:.0f} s",
              flush=True)  # fmt: skip
    return {
        "machine": {**machine.machine(), "load_average_before": load},
        "versions": machine.versions((*machine.PACKAGES, "scipy", "mujoco", "scikit-sundae")),
        "method": {
            "clock": "CPU time of the process for the whole motion, the best of the rounds",
            "rounds": ROUNDS,
            "batch": solvers.BATCH,
            "error": "largest entry of the difference from the end, on the manifold, positions and velocities",
        },
        "problems": rows,
        "tumbling_top": [] if quick else tumbling_top.measure(),
    }


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.work_precision", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=tuple(PROBLEMS), choices=tuple(PROBLEMS))
    parser.add_argument("--quick", action="store_true", help="check the harness: few points, nothing is written")
    parser.add_argument("--page", action="store_true", help="write page and picture anew from the result, and stop")
    chosen = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"
    from benchmarks import work_precision_page

    if not chosen.page:
        result = measure(chosen.problems, chosen.quick)
        if chosen.quick or len(chosen.problems) < len(PROBLEMS):
            return
        print(f"wrote {store.write('work_precision', result).name}")
    work_precision_page.update()


if __name__ == "__main__":
    main()
