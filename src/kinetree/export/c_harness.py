"""The test program that goes with generated C: the library's results at some states, and a timing loop."""

from __future__ import annotations

from math import prod

import numpy as np

from kinetree.algorithms.constrained import remaining_rows
from kinetree.algorithms.null_space import closed_acceleration
from kinetree.algorithms.spec import sized
from kinetree.compiler.fused import flattened
from kinetree.constraints.redundancy import closed_state
from kinetree.export import c_layout
from kinetree.export.c_code import FLAGS, Dialect

_FLOOR = {"float64": 1e-13, "float32": 1e-5}
_MARGIN = 100.0  # times the difference that rounding products before sums makes in the library's own evaluation


def states_of(model, declared, names, count: int, seed: int = 0) -> list[list[np.ndarray]]:
    """States for the inputs of an algorithm: within limits and couplings, quaternions of unit length.

    Parameters
    ----------
    model : Model
    declared : sequence of tuple
        Shapes of the inputs in names of sizes.
    names : sequence of str
        Their names; those of velocities start with ``v``.
    count : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    states = []
    for _ in range(count):
        state, q, v = [], None, None
        if remaining_rows(model):
            q, v = closed_state(model, rng)
        for name, shape in zip(names, declared, strict=True):
            sizes = sized(shape, model)
            if tuple(shape) == ("nq",):
                state.append(model.random_q(rng) if q is None else q)
            elif name == "v" and v is not None:
                state.append(v)
            elif name == "a" and v is not None:
                state.append(closed_acceleration(model, q, v, rng))
            elif tuple(shape) == ("nv",) and name.startswith(("v", "a")):
                state.append(model.random_state(rng)[1])  # couplings hold for velocities and accelerations alike
            elif not sizes:
                state.append(np.asarray(rng.uniform(0.5e-3, 1.5e-3)))  # a step
            else:
                state.append(rng.standard_normal(sizes))
        states.append(state)
    return states


def harness(writer, count: int) -> str:
    """The text of ``test_NAME.c``.

    Parameters
    ----------
    writer : object
        That of `c_source`: function, program, names.
    count : int
        States with golden values.
    """
    name, real, program = writer.name, writer.real, writer.program
    dialect = Dialect(real)
    names = [array for array, _ in program.inputs]
    states = states_of(writer.model, writer.declared()[: len(names)], names, count)
    states = [[x.astype(writer.dtype) for x in state] for state in states]
    results = []
    for state in states:
        result = writer.function(*state)
        results.append([np.asarray(y) for y in flattened(result)])
    tolerance = _tolerance(writer, states, results)
    sizes = [prod(shape) for _, shape in (*program.inputs, *program.outputs)]

    tables, checks, buffers = [], [], []
    inputs = list(zip(writer.inputs, sizes[: len(names)], strict=True))
    outputs = list(zip(writer.outputs, sizes[len(names) :], strict=True))
    used = [(k, array, size) for k, (array, size) in enumerate(inputs) if size]
    for k, array, size in used:
        tables.append(_table(dialect, real, f"{array}_of", size, [state[k] for state in states]))
    for k, (array, size) in enumerate(outputs):
        if size:
            tables.append(_table(dialect, real, f"{array}_golden", size, [result[k] for result in results]))
            checks.append(f'        same &= compare("{array}", {array}, {array}_golden[n], {size});')
        buffers.append(f"    static {real} {array}[{max(size, 1)}];")
    main = _main(writer, inputs, outputs, buffers, checks)
    title = c_layout.block(
        [
            *writer.title(f"test_{name}.c"),
            "",
            f"Compares {count} states with the results of the library, then measures the time of a call:",
            f"cc {FLAGS} {name}.c test_{name}.c -lm -o test_{name}",
            "Exit code 0: all results are right. Optional argument: the number of calls that are timed.",
        ]
    )
    return f"""\
{title}
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "{name}.h"

#define STATES {count}
#define TOLERANCE {tolerance:.1e} /* of the largest entry: {_MARGIN:g} times the change by another order of rounding */

{"".join(tables)}
static int failures = 0;
static double largest_error = 0.0;

{_compare_function(real)}

{main}"""


def _main(writer, inputs: list, outputs: list, buffers: list[str], checks: list[str]) -> str:
    """C text of ``main``: NaN is reported, the golden values are met, the time of a call."""
    name, real = writer.name, writer.real
    first = [f"{array}_of[n]" if size else "0" for array, size in inputs]
    params = ["params"] if writer.as_input else []
    call = f"{name}({', '.join([*first, *params, *writer.outputs])})"
    bad = ""
    used = [(k, array, size) for k, (array, size) in enumerate(inputs) if size]
    if writer.function.checks and used:
        bad = _nan_test(name, first, [*params, *writer.outputs], *used[0])
        buffers.append(f"    static {real} bad[{used[0][2]}];")
    prepared = ""
    if writer.as_input:
        buffers.append(f"    static {real} params[{max(writer.program.params, 1)}];")
        prepared = f"""\
    if ({name}_prepare({name}_default_numbers(), params)) {{
        printf("the default numbers were refused\\n");
        failures++;
    }}
"""
    spread = next((array for array, size in outputs if size), None)
    sink = f"sink += (double){spread}[0];" if spread else ""
    return f"""\
int main(int argc, char **argv)
{{
{chr(10).join(buffers)}
    long call, calls = argc > 1 ? atol(argv[1]) : 200000L;
    int n = 0, same = 1;
    volatile double sink = 0.0;
    clock_t start;
{prepared}{bad}\
    for (n = 0; n < STATES; ++n) {{
        const int status = {call};
        if (status) {{
            printf("state %d: status %d\\n", n, status);
            failures++;
        }}
{chr(10).join(checks)}
    }}
    printf("{name}: %d states, %s, largest error %g\\n", STATES,
           failures ? "FAILED" : same ? "the same bits as the library" : "right, other bits", largest_error);
    if (calls > 0) {{
        start = clock();
        for (call = 0; call < calls; ++call) {{
            n = (int)(call % STATES);
            (void){call};
            {sink}
        }}
        printf("%.4g ns per call\\n", 1e9 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)calls);
    }}
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}}
"""


def _table(dialect: Dialect, real: str, table: str, size: int, values: list[np.ndarray]) -> str:
    """C text of an array of rows."""
    texts = [
        ",\n     ".join(
            ", ".join(dialect.literal(float(x)).strip("()") for x in y.reshape(-1)[k : k + 6])
            for k in range(0, size, 6)
        )
        for y in values
    ]
    body = ",\n".join(f"    {{{text}}}" for text in texts)
    return f"static const {real} {table}[{len(values)}][{size}] = {{\n{body}\n}};\n"


def _nan_test(name: str, inputs: list[str], others: list[str], k: int, array: str, size: int) -> str:
    """C text that calls the function with NaN in its input k, which it must report."""
    wrong = [*inputs[:k], "bad", *inputs[k + 1 :]]
    return f"""\
    for (int k = 0; k < {size}; ++k) bad[k] = {array}_of[0][k];
    bad[0] = NAN;
    if (!({name}({", ".join([*wrong, *others])}) & 1)) {{
        printf("NaN in {array} was not reported\\n");
        failures++;
    }}
"""


def _compare_function(real: str) -> str:
    return f"""\
/* Whether all entries have the golden bits; counts a failure if the error is beyond the tolerance. */
static int compare(const char *what, const {real} *found, const {real} *golden, int size)
{{
    int same = 1;
    double error = 0.0, scale = 0.0;
    for (int k = 0; k < size; ++k) {{
        const double difference = fabs((double)found[k] - (double)golden[k]);
        if (!(difference <= error)) error = difference; /* NaN too */
        if (fabs((double)golden[k]) > scale) scale = fabs((double)golden[k]);
        if (!(found[k] == golden[k])) same = 0;
    }}
    if (scale > 0.0) error /= scale;
    if (!(error <= largest_error)) largest_error = error;
    if (!(error <= TOLERANCE)) {{
        printf("%s: error %g of the largest entry, allowed %g\\n", what, error, (double)TOLERANCE);
        failures++;
    }}
    return same;
}}"""


def _tolerance(writer, states, results) -> float:
    """From the difference between the library's kernel and its interpreter, which rounds products before sums."""
    numbers = writer.basis.number_values() if writer.program.prologue is not None else None
    worst = 0.0
    for state, result in zip(states, results, strict=True):
        for found, golden in zip(writer.program.interpret(state, numbers), result, strict=True):
            if golden.size and np.isfinite(golden).all() and np.any(golden):
                worst = max(worst, float(np.max(np.abs(found - golden)) / np.max(np.abs(golden))))
    return max(_MARGIN * worst, _FLOOR[writer.dtype])
