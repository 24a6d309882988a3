"""Solvers of contact problems on the same random problems: residual, time and failures.

``python -m benchmarks.contact_solvers`` proves that the exact solutions are such, runs every method of
``kinetree.contact`` on all problems, one after the other in one process, and writes
``benchmarks/results/contact_solvers.json`` and the tables of ``docs/contact_solvers.md``. Two methods need clarabel.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pathlib
import time

import numpy as np

import kinetree as kt
from benchmarks import store
from benchmarks.machine import machine, versions
from benchmarks.verify import WrongAnswer
from kinetree.collision import ContactPair, Shape
from kinetree.contact import METHODS, ContactProblem, solve_lcp
from tests.contact.problems import KINDS, random_problem

COUNT, LCPS = 50, 200  # problems of each set
DT = 2e-3  # s
PAGE = pathlib.Path(__file__).parent.parent / "docs" / "contact_solvers.md"
LCP_METHODS = ("lemke", "principal_pivoting", "gauss_seidel", "qp", "qp_complementarity")


def robot_problems() -> list[ContactProblem]:
    """Steps of a quadruped on the ground in random postures, four feet and random torques."""
    robot = kt.load("quadruped", floating_base=True)
    floor = Shape("world", "plane", name="floor")
    feet = [name for name in robot.body_names if name.endswith("shank")]
    pairs = [
        ContactPair(name, floor, Shape(name, "sphere", (0.02,), p=(0.0, 0.0, -0.2), name=name), 0.7) for name in feet
    ]
    model, found = robot.replace(contacts=pairs), []
    for seed in range(COUNT):
        rng = np.random.default_rng(seed)
        q = model.neutral()
        q[7:] = np.tile([0.0, 0.7, -1.4], 4) + 0.2 * rng.standard_normal(12)
        q[2] = 0.0
        q[2] -= np.median(kt.collision.contact_gaps(model, q))
        v, tau = 0.3 * rng.standard_normal(18), np.concatenate([np.zeros(6), 15.0 * rng.standard_normal(12)])
        found.append(ContactProblem.of(model, q, v, tau, DT))
    return found


def measured(problems: list[ContactProblem]) -> dict[str, dict]:
    """For each method failures, residuals over the largest free velocity, and CPU time."""
    found = {}
    for method in METHODS:
        solutions, seconds = [], []
        for problem in problems:
            start = time.process_time()
            solutions.append(problem.solve(method))
            seconds.append(time.process_time() - start)
        residuals = np.array([
            s.residuals.natural_map / np.abs(p.terms().b).max() for s, p in zip(solutions, problems, strict=True)
        ])  # fmt: skip
        failed = sum(s.status != "solved" for s in solutions)
        if method == "exact" and (failed or residuals.max() > 1e-8):
            raise WrongAnswer(f"exact: {failed} failures, residual {residuals.max():.1e}")
        found[method] = {
            "failed": failed / len(problems),
            "median": float(np.median(residuals)),
            "most": float(residuals.max()),
            "ms": 1e3 * float(np.median(seconds)),
            "ms_most": 1e3 * float(np.max(seconds)),
        }
        print(method, found[method], flush=True)
    return found


def lcps() -> dict[str, dict]:
    """The same for complementarity problems with redundant rows."""
    found = {}
    for method in LCP_METHODS:
        solutions, seconds = [], []
        for seed in range(LCPS):
            rng = np.random.default_rng(seed)
            n = int(rng.integers(2, 30))
            N = rng.normal(size=(n, int(rng.integers(1, n + 3))))
            N[rng.integers(n)] = N[rng.integers(n)]
            M, d = N @ N.T, N @ rng.normal(size=N.shape[1])
            start = time.process_time()
            solutions.append(solve_lcp(M, d, method, iterations=2000 if method == "gauss_seidel" else None))
            seconds.append(time.process_time() - start)
        found[method] = {
            "failed": sum(s.status != "solved" for s in solutions) / LCPS,
            "median": float(np.median([s.residual for s in solutions])),
            "most": float(max(s.residual for s in solutions)),
            "ms": 1e3 * float(np.median(seconds)),
            "ms_most": 1e3 * float(np.max(seconds)),
        }
        print(method, found[method], flush=True)
    return found


def table(rows: dict[str, dict]) -> str:
    """One line for each method."""
    lines = [
        "| method | failures | residual, median | residual, worst | time, median [ms] | time, worst [ms] |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, row in rows.items():
        lines.append(
            f"| `{name}` | {100 * row['failed']:.3g} % | {row['median']:.0e} | {row['most']:.0e} | {row['ms']:.2g} | "
            f"{row['ms_most']:.3g} |"
        )
    return "\n".join(lines) + "\n"


def write(result: dict) -> None:
    """The tables into the page."""
    text = PAGE.read_text()
    for name, rows in result["sets"].items():
        begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
        before, _, rest = text.partition(begin)
        text = before + begin + table(rows) + end + rest.partition(end)[2]
    PAGE.write_text(text)


def main() -> None:
    """Measure, and write the results and the tables."""
    sets = {kind: measured([random_problem(seed, kind) for seed in range(COUNT)]) for kind in KINDS}
    sets["robot"] = measured(robot_problems())
    sets["complementarity"] = lcps()
    store.write("contact_solvers", {"sets": sets, "machine": machine(), "versions": versions()})
    write(store.read("contact_solvers"))


if __name__ == "__main__":
    main()
