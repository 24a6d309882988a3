"""Derivatives: the closed forms against Pinocchio's, and the routes through the graph against the closed forms.

``python -m benchmarks.derivatives`` first proves every answer (the closed forms against Pinocchio's, packed results
against whole ones, other routes against the closed forms), then times them interleaved in one process: one state a call
from Python against Pinocchio's Python call, batches on one core against its C++ loop (where there is no compiler, its
Python call less an empty one). The first result is measured in fresh processes. It writes
``benchmarks/results/derivatives.json`` and the tables of ``docs/derivatives.md``. Run it on a quiet machine from the
root of the repository; ``--quick`` checks that the harness works and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import pathlib

import numpy as np
import pinocchio as pin

from benchmarks import machine, store, timing
from benchmarks.contenders import BATCH_STATES, CALL_STATES, SEED, Task, _loop
from benchmarks.rivals.pinocchio_cpp import NoCompiler
from benchmarks.startup import first_results
from benchmarks.throughput import ROBOTS, measure_batches, measure_calls
from benchmarks.verify import WrongAnswer, relative_error, verify

ALGORITHMS = ("rnea_derivatives", "aba_derivatives")
INERTIAL = ("*.mass", "*.h.?", "*.I.??")
SMALL = 20  # velocities up to which whole Jacobians are taken through the graph
ROUTES_AGREE = 1e-10
PAGE = pathlib.Path(__file__).parent.parent / "docs" / "derivatives.md"


class DerivativesTask(Task):
    """The contenders of `Task` and, in batches, packed results and batches that stay in the cache."""

    def packed(self, algorithm: str):
        """The function that writes distinct entries only."""
        return self.kt.compiler.packed(self.function(algorithm))

    def batches(self, algorithm: str) -> dict:
        found = super().batches(algorithm)
        names = ("q", "v", "a" if algorithm.startswith("rnea") else "tau")
        arguments = tuple(np.ascontiguousarray(self.states[name]) for name in names)
        f, g = self.function(algorithm), self.packed(algorithm)
        for label, arrays in (("", arguments), (" float32", tuple(x.astype(np.float32) for x in arguments))):
            found[f"kinetree packed{label} out="] = _loop(g, [arrays], out=g(*arrays))
        # The same number of states, 64 at a time, into the same arrays: what remains is the arithmetic.
        count = len(arguments[0])
        rows = [tuple(x[k : k + CALL_STATES] for x in arguments) for k in range(0, count, CALL_STATES)]
        found["kinetree by 64 out="] = _loop(f, rows, out=tuple(np.empty_like(x) for x in f(*rows[0])))
        return found

    def prove_packed(self, algorithm: str) -> None:
        """Packed results hold the bits of whole ones."""
        names = ("q", "v", "a" if algorithm.startswith("rnea") else "tau")
        arguments = [self.states[name] for name in names]
        g = self.packed(algorithm)
        for whole, found in zip(self.function(algorithm)(*arguments), g.unpack(*g(*arguments)), strict=True):
            if not np.array_equal(whole, found):
                raise WrongAnswer(f"{self.robot} {algorithm}: packed results differ from whole ones")

    def routes(self) -> dict[str, tuple]:
        """Other derivatives of inverse dynamics: name -> (function, further arrays, what it must give)."""
        rng, (q, v, a) = np.random.default_rng(SEED), (self.states[name] for name in ("q", "v", "a"))
        x, y = rng.standard_normal((2, *v.shape))
        closed = self.kt.rnea_derivatives(self.model, q, v, a)
        by_state = {"wrt": "q", "threads": 1}
        found = {
            "jvp in q": (self._derivative("jvp", **by_state), (x,), np.einsum("nij,nj->ni", closed.dtau_dq, x)),
            "vjp in q": (self._derivative("vjp", **by_state), (y,), np.einsum("ni,nij->nj", y, closed.dtau_dq)),
            "vjp in q, v, a": (
                self._derivative("vjp", wrt=("q", "v", "a")),
                (y,),
                [np.einsum("ni,nij->nj", y, part) for part in closed],
            ),
            "hvp in q": (self._derivative("hvp", **by_state), (x, y), None),
            "regressor": (self._derivative("jacobian", wrt="numbers", numbers=INERTIAL), (), self._regressor()),
        }
        if self.model.nv <= SMALL:
            for method in ("forward", "reverse"):
                f = self._derivative("jacobian", wrt=("q", "v", "a"), method=method)
                found[f"Jacobians, {method}"] = f, (), list(closed)
        return found

    def _derivative(self, mode: str, threads: int = 1, **choices):
        f = self.kt.differentiate(self.model, "rnea", mode, **choices)
        f.threads = threads
        return f

    def _regressor(self) -> np.ndarray:
        """Pinocchio's, in our order: it has the ten parameters of a body in the order of `Model.numbers`."""
        p, d, bridge, model = self.pin_model, self.bridge.data, self.bridge, self.model
        joints = {p.names[j]: j for j in range(1, p.njoints)}
        places = [joints.get(model.joint_name(i), 1) - 1 for i in model.outward()]
        rows = zip(*(self.pin_states[name] for name in ("q", "v", "a")), strict=True)
        found = [bridge.v_from_pin(pin.computeJointTorqueRegressor(p, d, *row).T).T for row in rows]
        return np.reshape(found, (len(found), model.nv, -1, 10))[:, :, places].reshape(len(found), model.nv, -1)


def measure_routes(few: Task, many: Task, repeats: int, block: float) -> list[dict[str, object]]:
    """Operations and batch time of every route, beside those of rnea and of the closed form."""
    rows, contenders = [], {}
    arguments = tuple(many.states[name] for name in ("q", "v", "a"))
    proofs = few.routes()
    for name, (f, extra, _) in many.routes().items():
        g, more, expected = proofs[name]
        error = None
        if expected is not None:
            found = g(*(few.states[n] for n in ("q", "v", "a")), *more)
            parts = zip(
                found if isinstance(found, tuple) else (found,),
                expected if isinstance(expected, list) else (expected,),
                strict=True,
            )
            error = max(relative_error(x.reshape(len(x), -1), y.reshape(len(y), -1)) for x, y in parts)
            if not error <= ROUTES_AGREE:
                raise WrongAnswer(f"{few.robot} {name}: error {error:.1e}, tolerance {ROUTES_AGREE:.1e}")
        rows.append({"route": name, "operations": f.operations.total, "error": error})
        given = (*arguments, *extra)
        contenders[name] = _loop(f, [given], out=f(*given))
    for name in ("rnea", "rnea_derivatives"):
        f = many.function(name)
        rows.append({"route": name, "operations": f.operations.total, "error": None})
        contenders[name] = _loop(f, [arguments], out=f(*arguments))
    times = timing.interleaved(contenders, len(arguments[0]), repeats, block)
    for row in rows:
        row["seconds"] = timing.summary(times[row["route"]])
        row["against_rnea"] = timing.ratios(times[row["route"]], times["rnea"])["median"]
    return rows


def measure(kt, robots, repeats=timing.REPEATS, block=timing.BLOCK, batch=BATCH_STATES, processes=3):
    """Verify, then time; the result is what `store.write` writes."""
    verified, rows, first, routes, compiler = [], [], [], {}, None
    for robot in robots:
        few, many = DerivativesTask(kt, robot, CALL_STATES), DerivativesTask(kt, robot, batch)
        try:
            compiler = few.cpp.about
        except NoCompiler as error:
            print(f"Pinocchio's C++ is left out, its Python call less an empty one stands for it: {error}")
        for algorithm in ALGORITHMS:
            verified.append(verify(few, algorithm, cpp=compiler is not None))
            few.prove_packed(algorithm)
            g = few.packed(algorithm)
            row = {
                "robot": robot,
                "algorithm": algorithm,
                "nv": few.model.nv,
                "total": few.function(algorithm).operations.total,
                "operations": str(few.function(algorithm).operations),
                "entries": {name: places.size for name, places in g.places.items()},
                "packed": {name: int(places.max()) + 1 for name, places in g.places.items()},
                "call": measure_calls(few, algorithm, repeats, block),
                "batch": measure_batches(few, many, algorithm, compiler is not None, repeats, block),
            }
            rows.append(row)
            print(line(row), flush=True)
            if processes:
                first.append(first_results(robot, algorithm, processes))
        routes[robot] = measure_routes(few, many, repeats, block)
    return {
        "machine": machine.machine(),
        "versions": machine.versions(),
        "method": {
            "clock": "CPU time of the whole process, seconds per state", "repeats": repeats, "block": block,
            "call_states": CALL_STATES, "batch_states": batch, "seed": SEED, "threads": 1, "compiler": compiler,
        },
        "verification": verified, "rows": rows, "routes": routes, "first_results": first,
    }  # fmt: skip


def line(row) -> str:
    """What matters of one row."""
    call, batch = row["call"]["ratios"], row["batch"]["ratios"]
    seconds = row["batch"]["seconds"]
    single = seconds["kinetree out="]["median"] / seconds["kinetree float32 out="]["median"]
    return (
        f"{row['robot']:14} {row['algorithm']}: call {call['kinetree']['median']:.1f}x; "
        f"batch {batch['kinetree out=']['median']:.1f}x, packed {batch['kinetree packed out=']['median']:.1f}x, "
        f"by 64 {batch['kinetree by 64 out=']['median']:.1f}x; float32 {single:.2f}x float64"
    )


def tables(result) -> str:
    """The tables of the page."""
    text = [
        "| robot (nv) | derivatives of | operations | call [us] | Pinocchio's Python / ours | batch [ns] | "
        "Pinocchio / ours | packed [ns] | ratio | in the cache [ns] | ratio | float64 / float32 | "
        "CPU until the first result: compiled, cached [s] |",
        "| --- | --- |" + " --- |" * 11,
    ]
    first = {(row["robot"], row["algorithm"]): row for row in result["first_results"]}
    for row in result["rows"]:
        call, batch, start = row["call"], row["batch"], first.get((row["robot"], row["algorithm"]))
        cells = [f"{row['robot']} ({row['nv']})", row["algorithm"].partition("_")[0], str(row["total"])]
        cells += [f"{1e6 * call['seconds']['kinetree']['median']:.2f}", f"{call['ratios']['kinetree']['median']:.1f}"]
        for name in ("kinetree out=", "kinetree packed out=", "kinetree by 64 out="):
            cells += [f"{1e9 * batch['seconds'][name]['median']:.0f}", f"{batch['ratios'][name]['median']:.1f}"]
        ratio = batch["seconds"]["kinetree out="]["median"] / batch["seconds"]["kinetree float32 out="]["median"]
        cells.append(f"{ratio:.2f}")
        spent = (
            [start[cache]["first result"] - start[cache]["compile"] for cache in ("cold", "cached")] if start else []
        )
        cells.append(", ".join(f"{seconds:.2f}" for seconds in spent))
        text.append("| " + " | ".join(cells) + " |")
    text += ["", "| inverse dynamics of | " + " | ".join(result["routes"]) + " |"]
    text.append("| --- |" + " --- |" * len(result["routes"]))
    names = list(dict.fromkeys(row["route"] for rows in result["routes"].values() for row in rows))
    for name in names:
        cells = []
        for rows in result["routes"].values():
            row = next((row for row in rows if row["route"] == name), None)
            cells.append(
                f"{row['operations']}, {1e9 * row['seconds']['median']:.0f} ns, {row['against_rnea']:.1f}"
                if row
                else "-"
            )
        text.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(text)


def main(arguments: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.derivatives", description=__doc__.splitlines()[0])
    parser.add_argument("--robots", nargs="+", default=ROBOTS, metavar="ROBOT")
    parser.add_argument("--repeats", type=int, default=timing.REPEATS)
    parser.add_argument("--quick", action="store_true", help="check the harness: short blocks, nothing is written")
    chosen = parser.parse_args(arguments)
    for variable in ("OMP_NUM_THREADS", "KINETREE_NUM_THREADS"):
        os.environ[variable] = "1"

    import kinetree as kt

    if chosen.quick:
        print(tables(measure(kt, chosen.robots, repeats=3, block=0.002, batch=256, processes=0)))
        return
    result = measure(kt, chosen.robots, chosen.repeats)
    text = tables(result)
    print(text)
    store.write("derivatives", result)
    update_page(text)


def update_page(text: str) -> None:
    """Put the tables between the marks of the page."""
    head, marker, tail = PAGE.read_text().partition("<!-- results -->")
    _, end, rest = tail.partition("<!-- end of results -->")
    PAGE.write_text(f"{head}{marker}\n\n{text}\n\n{end}{rest}")


if __name__ == "__main__":
    main()
