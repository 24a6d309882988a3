"""``kinetree bench``: times of compiled functions of a robot on this machine."""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np

from kinetree.cli import completion
from kinetree.cli.options import Load, Robot, TreeOnly, option
from kinetree.cli.printing import Output, print_rows, print_table
from kinetree.cli.registration import command
from kinetree.errors import KinetreeError

REPEATS, SHORTEST = 5, 0.02  # the median of blocks of so many seconds of CPU time
AGREEMENT = 1e-9  # relative to the largest entry: compiled and interpreted results differ by rounding alone
ADVICE = "give another function, such as rnea."
HEADINGS = ("function", "operations", "compile s", "one call us", "batch ns/state")


@command
def bench(
    load: Load,
    robot: Robot,
    function: Annotated[
        list[str] | None,
        option(
            "An algorithm. Repeatable. Default: rnea, crba, aba and their derivatives.", "--function", "-f",
            complete=completion.algorithms,
        ),
    ] = None,
    batch: Annotated[int, option("The number of states of a batch.", default=True, min=1, max=1_000_000)] = 1024,
    seed: Annotated[int, option("The seed of the random states.", default=True, min=0)] = 0,
    tree_only: TreeOnly = False,
) -> Output:  # fmt: skip
    """Measure the compiled functions of a robot on this machine, on one core.

    Each function is first compared with its uncompiled form. Times are CPU times, medians of five blocks.
    docs/benchmarks.md compares with other libraries.
    """
    model = load()
    model = model.without_unsupported() if tree_only else model
    names = function or ["rnea", "crba", "aba", "rnea_derivatives", "aba_derivatives"]
    rows = [measured(model, name, batch, seed) for name in names]

    def show() -> None:
        print_rows([("robot", f"{model.name}: nq={model.nq}, nv={model.nv}"), ("batch", f"{batch} states, one core")])
        print_table(
            HEADINGS,
            [
                (row["function"], str(row["operations"]), f"{row['compile_s']:.3f}", f"{row['call_us']:.2f}",
                 f"{row['batch_ns_per_state']:.0f}")
                for row in rows
            ],
            right=HEADINGS[1:],
        )  # fmt: skip

    return Output({"robot": model.name, "nv": model.nv, "batch": batch, "functions": rows}, show)


def measured(model, name: str, batch: int, seed: int) -> dict:
    """Times of one function: compilation [s], one call [us], one state of a batch [ns].

    Parameters
    ----------
    model : Model
    name : str
        An algorithm that takes positions, velocities, accelerations and joint forces alone.
    batch : int
    seed : int
    """
    import kinetree as kt
    from kinetree.compiler.fused import parsed

    spec, chosen = parsed(model, name)
    if missing := [key for key in spec.static if key not in chosen]:
        raise KinetreeError(f"--function {name} needs {', '.join(missing)}, which bench does not take; {ADVICE}")
    start = time.process_time()
    f = kt.compile(model, name)
    compiled = time.process_time() - start
    rng = np.random.default_rng(seed)
    states = {"q": np.stack([model.random_state(rng)[0] for _ in range(min(batch, 64))])}
    states |= {key: rng.uniform(-1.0, 1.0, (len(states["q"]), model.nv)) for key in ("v", "a", "tau", "x")}
    if missing := [key for key in f.input_names if key not in states]:
        needs = f"--function {name} needs {', '.join(missing)}"
        raise KinetreeError(f"{needs}; bench has states q, v, a, tau alone; {ADVICE}")
    rows = [np.resize(states[key], (batch, states[key].shape[1])) for key in f.input_names]
    _check(model, name, f, [row[0] for row in rows])
    return {
        "function": name, "operations": f.operations.total, "compile_s": compiled,
        "call_us": 1e6 * seconds(f, [row[0].copy() for row in rows]),
        "batch_ns_per_state": 1e9 * seconds(f, rows) / batch,
    }  # fmt: skip


def _check(model, name: str, f, state: list[np.ndarray]) -> None:
    """Compare a compiled function with the same algorithm uncompiled."""
    import kinetree as kt

    compiled = f(*state)
    with kt.interpreted():
        expected = kt.compile(model, name)(*state)
    pairs = zip(compiled, expected, strict=True) if isinstance(compiled, tuple) else [(compiled, expected)]
    for found, reference in pairs:
        error = np.max(np.abs(found - reference), initial=0.0)
        if not error <= AGREEMENT * max(1.0, np.max(np.abs(reference), initial=0.0)):
            raise KinetreeError(f"{name}: compiled and uncompiled results differ by {error:.2g}; kinetree verify.")


def seconds(f, arguments: list[np.ndarray]) -> float:
    """CPU time of one call [s]: the median of several blocks.

    Parameters
    ----------
    f : callable
    arguments : list of array
    """
    f(*arguments)
    count, blocks = 1, []
    while len(blocks) < REPEATS:
        start = time.process_time()
        for _ in range(count):
            f(*arguments)
        passed = time.process_time() - start
        if passed < SHORTEST:
            count *= 2
        else:
            blocks.append(passed / count)
    return sorted(blocks)[REPEATS // 2]
