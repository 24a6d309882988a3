"""Steps of chains by REDMAX, by its dual, by ABA and in maximal coordinates: time against the number of bodies.

``python -m benchmarks.redmax`` proves that all agree, times them interleaved on one core, and writes
``benchmarks/results/redmax.json``, the table and the plot of ``docs/redmax.md``, and a table of the factors of the KKT
matrix in ``docs/maximal.md``; ``python -m benchmarks.redmax factors`` this one alone.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import datetime
import functools
import pathlib
import sys

import numpy as np

import kinetree as kt
from benchmarks import store, timing
from benchmarks.figure_style import pyplot
from benchmarks.machine import machine, versions
from benchmarks.verify import WrongAnswer

METHODS = ("sparse", "compiled", "dense")
SIZES = (5, 10, 20, 50, 100, 200)
DENSE_MOST = 100  # n; the compiled Jacobian has n^2 entries, which take minutes to compile beyond
WHOLE_MOST = 50  # n; one straight function of all operations, a third of n^3 dot products
STEP = np.array(0.05)  # [s]; long, so that the accelerations count among the positions
TOLERANCE = 1e-9
DOCS = pathlib.Path(__file__).parent.parent / "docs"
BEGIN_FACTORS, END_FACTORS = "<!-- factors:begin -->\n", "<!-- factors:end -->"
BEGIN, END = "<!-- redmax:begin -->\n", "<!-- redmax:end -->"
NAMES = {
    "redmax": "REDMAX, J and f compiled, J^T M J: O(n^3)",
    "redmax_step": "REDMAX, one function: O(n^3)",
    "dual": "REDMAX, algorithm 10: O(n)",
    "aba": "ABA: O(n)",
    "maximal": "maximal, sparse: O(n)",
    "maximal_compiled": "maximal, compiled: O(n)",
    "maximal_dense": "maximal, dense: O(n^3)",
}


def contenders(n: int):
    """Functions of one state that take a step of semi-implicit Euler, by name; they give the positions after it."""
    from scipy.linalg import cho_factor, cho_solve

    model, rng = kt.models.chain_gu(n), np.random.default_rng(7)
    q, v, tau = model.random_q(rng), rng.standard_normal(n), rng.standard_normal(n)
    inertias = np.array([model.I[i].matrix() for i in model.outward()], float)
    system = kt.maximal(model)
    state = system.state(q, v)

    def redmax():
        J = kt.redmax.jacobian(model, q)[1:]
        M = J.reshape(-1, n).T @ (inertias @ J).reshape(-1, n)
        return cho_solve(cho_factor(M, check_finite=False), tau - kt.bias_forces(model, q, v), check_finite=False)

    def dual():
        return kt.dynamics.factorize(model, q).solve(tau - kt.bias_forces(model, q, v))

    def step_of(accelerations):
        return lambda: kt.integrate(model, q, STEP * (v + STEP * accelerations()))

    def maximal(method="sparse"):
        return system.reduced_accelerations(*state, system.accelerations(*state, tau, method=method).accelerations)

    found = {"dual": dual, "aba": lambda: kt.aba(model, q, v, tau), "maximal": maximal}
    if n <= DENSE_MOST:
        found |= {
            "redmax": redmax,
            "maximal_dense": lambda: maximal("dense"),
            "maximal_compiled": lambda: maximal("compiled"),
        }
    found = {name: step_of(function) for name, function in found.items()}
    if n <= WHOLE_MOST:
        found["redmax_step"] = lambda: kt.redmax.step(model, q, v, tau, STEP)[0]
    return found


def factors(n: int) -> dict:
    """Entries and seconds of the factors of the KKT matrix of a chain: SuperLU's L and U, and ``L^T D L``."""
    from kinetree.maximal_coordinates.sparse_solution import Factors, compiled_solution, filled

    model, rng = kt.models.chain_gu(n), np.random.default_rng(7)
    system = kt.maximal(model)
    state = system.state(model.random_q(rng), rng.standard_normal(n))
    e = system.equation(*state)
    places = system._saddle.assembly(e.M, e.G)
    matrix, right = places.matrix(e.M, e.G), rng.standard_normal(places.size)
    last, pairs = places.size - 1, zip(places.rows.tolist(), places.columns.tolist(), strict=True)
    above = filled([(last - r, last - c) for r, c in pairs if r < c], places.size)
    found = {"n": n, "lu": Factors(matrix).fill, "ldl": sum(map(len, above)) + places.size}
    call = compiled_solution(system._bodies, places.rows, places.columns, places.size)
    entries = places.values(e.M, e.G)[places.rows <= places.columns]
    x = Factors(matrix).solve(right)
    misfit = np.max(np.abs(call(entries, right)[0] - x)) / np.max(np.abs(x))
    if misfit > TOLERANCE:
        raise WrongAnswer(f"the factors of {n} bodies are off by {misfit:.1e}")
    made = {"lu": lambda: Factors(matrix).solve(right), "ldl": lambda: call(entries, right)}
    made |= {method: functools.partial(system.accelerations, *state, method=method) for method in METHODS}
    found_by = [made[method]().accelerations for method in METHODS]
    misfit = max(np.max(np.abs(x - found_by[0])) / np.max(np.abs(found_by[0])) for x in found_by)
    if misfit > TOLERANCE:
        raise WrongAnswer(f"the methods of {n} bodies are off by {misfit:.1e}")
    times = timing.interleaved({name: repeated(function) for name, function in made.items()}, repeats=7)
    return found | {"times": {name: timing.summary(each) for name, each in times.items()}}


def repeated(function):
    """The function, k times."""

    def run(k):
        for _ in range(k):
            function()

    return run


def measure(n: int) -> dict:
    """Seconds of one evaluation of each, proved to agree first."""
    made = contenders(n)
    expected = made["aba"]()
    for name, function in made.items():
        misfit = np.max(np.abs(function() - expected)) / np.max(np.abs(expected))
        if misfit > TOLERANCE:
            raise WrongAnswer(f"{name} of {n} bodies is off by {misfit:.1e}")

    times = timing.interleaved({name: repeated(function) for name, function in made.items()}, repeats=7)
    return {name: timing.summary(each) for name, each in times.items()}


def plot(result: dict) -> None:
    """Time against n, with slopes 1 and 3."""
    plt = pyplot()
    figure, axis = plt.subplots(figsize=(7.5, 4.0), layout="constrained")
    for name, label in NAMES.items():
        rows = [(row["n"], 1e6 * row["times"][name]["median"]) for row in result["rows"] if name in row["times"]]
        axis.loglog(*zip(*rows, strict=True), marker="o", markersize=3, label=label)
    axis.set_xlabel("bodies")
    axis.set_ylabel("time of one step [us]")
    figure.legend(loc="outside right upper")
    figure.savefig(DOCS / "redmax.svg", metadata={"Date": None})
    plt.close(figure)


def table(result: dict) -> str:
    """The medians, in microseconds."""
    lines = ["| bodies | " + " | ".join(f"{label} [us]" for label in NAMES.values()) + " |"]
    lines.append("| ---: " * (len(NAMES) + 1) + "|")
    for row in result["rows"]:
        cells = [f"{1e6 * row['times'][name]['median']:.3g}" if name in row["times"] else "" for name in NAMES]
        lines.append(f"| {row['n']} | " + " | ".join(cells) + " |")
    about, libraries = result["machine"], result["versions"]
    lines.append(
        f"\n{about['processor']}, one core, CPU time, medians of 7 interleaved repeats; Python {about['python']}, "
        f"numpy {libraries['numpy']}; {result['date']}."
    )
    return "\n".join(lines) + "\n"


def measured_factors() -> dict:
    """`factors` of all sizes, and when."""
    rows = []
    for n in SIZES:
        if n <= DENSE_MOST:
            rows.append(factors(n))
            print(rows[-1], flush=True)
    return {"date": datetime.date.today().isoformat(), "rows": rows}


def write_factors() -> None:
    """The table of the factors in the page of maximal coordinates."""
    page = DOCS / "maximal.md"
    before, _, rest = page.read_text().partition(BEGIN_FACTORS)
    table = factor_table(store.read("redmax")["factors"])
    page.write_text(before + BEGIN_FACTORS + table + END_FACTORS + rest.partition(END_FACTORS)[2])


def factor_table(result: dict) -> str:
    """Entries and medians of the factorizations and solutions."""
    names = ("bodies", "L and U by SuperLU: entries", "factors and solution [us]", "compiled L^T D L: entries",
             "factors and solution [us]", "`accelerations`, sparse [us]", "compiled [us]", "dense [us]")  # fmt: skip
    lines = ["| " + " | ".join(names) + " |", "| ---: " * len(names) + "|"]
    for row in result["rows"]:
        cells = [row["n"], row["lu"], us(row["times"]["lu"]), row["ldl"], us(row["times"]["ldl"])]
        cells += [us(row["times"][method]) for method in METHODS]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + f"\n\nMedians of 7 interleaved repeats, {result['date']}.\n"


def us(times: dict) -> str:
    """The median in microseconds."""
    return f"{1e6 * times['median']:.3g}"


def main(*parts: str) -> None:
    """Measure, and write the results, the tables and the plot; of the part "factors" that alone."""
    if "factors" in parts:
        store.write("redmax", {**store.read("redmax"), "factors": measured_factors()})
        write_factors()
        return
    rows = []
    for n in SIZES:
        rows.append({"n": n, "times": measure(n)})
        print(n, {name: f"{1e6 * x['median']:.3g} us" for name, x in rows[-1]["times"].items()}, flush=True)
    store.write(
        "redmax", {"rows": rows, "factors": measured_factors(), "machine": machine(), "versions": versions()}
    )
    result = store.read("redmax")
    page = DOCS / "redmax.md"
    before, _, rest = page.read_text().partition(BEGIN)
    page.write_text(before + BEGIN + table(result) + END + rest.partition(END)[2])
    write_factors()
    plot(result)


if __name__ == "__main__":
    main(*sys.argv[1:])
