"""Random well-conditioned programs over all operations, with the states to run them on.

Each operation is evaluated while it is drawn, in working and in higher precision, and kept only if its rounding error
stays small and no comparison is close to a tie. Any correct evaluation then agrees within a few rounding errors.
"""

import numpy as np

from kinetree.trace.program import _MEANING, SIGNATURES, Program

STATES = 96
OPERATIONS = tuple(SIGNATURES)
COMMON = ("add", "sub", "mul", "fma", "fms", "fnma", "neg")
SINGULAR = {"div": 1, "sqrt": 0, "log": 0, "arctan2": 0}
"""Argument that must keep away from zero, where one rounding error more or less decides."""
KEPT = {"float64": 2e-15, "float32": 1e-6}
"""Largest error of a value that is kept, relative to 1 + |value|."""
AGREEMENT = {"float64": 1e-14, "float32": 5e-6}
"""What two evaluations of a kept value may differ by, likewise: a few times the error of either."""
SHAPES = (("q", (7,)), ("v", (3, 2)), ("s", ()), ("x", (19,)))


def random_states(seed, inputs=SHAPES, count=STATES, dtype="float64"):
    """Inputs of `count` states."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2, 2, (count, *shape)).astype(dtype) for _, shape in inputs]


def random_program(seed, size, outputs=((5,), (4, 4), (), (33,)), dtype="float64", params=True, inputs=SHAPES):
    """A program of about `size` operations, the states it is good for, and its numbers."""
    rng = np.random.default_rng(seed)
    arrays = random_states(seed, inputs, dtype=dtype)
    numbers = rng.uniform(0.5, 2.0, 6)
    prologue = None
    if params:
        code = [("input", 0, k) for k in range(6)] + [("mul", 0, 1), ("sin", 2)]
        prologue = Program(
            inputs=(("numbers", (6,)),), outputs=(("params", (8,)),), code=tuple(code), results=(tuple(range(8)),)
        )
    code, low, high = [], [], []
    high_type = np.longdouble if dtype == "float64" else np.float64

    def keep(operation, working, exact):
        code.append(operation)
        low.append(working)
        high.append(exact)

    flat = [a.reshape(STATES, -1) for a in arrays]
    for array, values in enumerate(flat):
        for entry in range(values.shape[1]):
            keep(("input", array, entry), values[:, entry], values[:, entry].astype(high_type))
    for x in (0.0, -0.0, 1.0, 0.1, -2.5):
        keep(("const", x), np.full(STATES, x, dtype), np.full(STATES, np.dtype(dtype).type(x), high_type))
    if params:
        for j, x in enumerate(prologue.interpret([numbers])[0]):
            keep(("param", j), np.full(STATES, x, dtype), np.full(STATES, np.dtype(dtype).type(x), high_type))
    floats = list(range(len(code)))
    booleans = []
    while len(code) < size:
        op = rng.choice(COMMON) if rng.random() < 0.7 else rng.choice(OPERATIONS)
        kinds = SIGNATURES[op][0]
        if "b" in kinds and len(booleans) < 3:
            op, kinds = "lt", "ff"
        # Mostly recent values, as in real programs, and some old ones, which cross chunks.
        pools = {"f": floats[-60:] if rng.random() < 0.7 else floats, "b": booleans}
        arguments = [int(rng.choice(pools[kind])) for kind in kinds]
        if op == "eq" and rng.random() < 0.5:
            arguments[1] = arguments[0]
        if op in SINGULAR and np.abs(high[arguments[SINGULAR[op]]]).min() < 1e-2:
            continue
        with np.errstate(all="ignore"):
            working = _MEANING[op](*(low[k] for k in arguments))
            exact = _MEANING[op](*(high[k] for k in arguments))
        if SIGNATURES[op][1] == "b":
            if kinds == "ff" and arguments[0] != arguments[1]:
                if np.abs(high[arguments[0]] - high[arguments[1]]).min() < 1e-4:
                    continue
            booleans.append(len(code))
        else:
            if not np.isfinite(exact).all() or np.abs(exact).max() > 50:
                continue
            if (np.abs(working - exact) > KEPT[dtype] * (1 + np.abs(exact))).any():
                continue
            floats.append(len(code))
        keep((str(op), *arguments), working, exact)
    results = tuple(
        tuple(int(k) for k in rng.choice(floats[-200:] if rng.random() < 0.5 else floats, int(np.prod(shape))))
        for shape in outputs
    )
    # The last output leans on constants and repetition, as mass matrices do.
    results = (*results[:-1], tuple(int(rng.choice([k, floats[50], floats[45]])) for k in results[-1]))
    program = Program(
        inputs=tuple(inputs),
        outputs=tuple((f"y{k}", shape) for k, shape in enumerate(outputs)),
        code=tuple(code),
        results=results,
        checks=tuple((f"check {k}", int(b)) for k, b in enumerate(booleans[:3])),
        prologue=prologue,
    )
    return program, arrays, numbers if params else None


def assert_agree(found, expected, dtype="float64"):
    """Within the rounding errors that the generator allows."""
    for y, z in zip(found, expected, strict=True):
        z = np.asarray(z)
        assert np.isfinite(y).all()
        np.testing.assert_array_less(np.abs(y.reshape(z.shape) - z), AGREEMENT[dtype] * (1 + np.abs(z)))


def run_batch(kernel, arrays, n, strides=None):
    """Evaluate n states into outputs filled with NaN; outputs have guard rows that must stay NaN."""
    dtype = kernel.dtype
    sizes = [int(np.prod(shape)) for _, shape in kernel.program.outputs]
    outs = [np.full((n + 2, size), np.nan, dtype) for size in sizes]
    inner = [out[1 : n + 1] for out in outs]
    status = kernel.batch([a[:n] if a.ndim > 1 or a.shape == (n,) else a for a in arrays], inner, n, strides)
    for out in outs:
        assert np.isnan(out[0]).all() and np.isnan(out[-1]).all()
    return status, inner


def run_scalar(kernel, arrays, n):
    """Evaluate n states one by one."""
    rows = []
    for s in range(n):
        out = tuple(np.full(shape, np.nan, kernel.dtype) for _, shape in kernel.program.outputs)
        kernel.scalar(*(np.ascontiguousarray(a[s]) for a in arrays), out=out)
        rows.append([y.reshape(-1) for y in out])
    return [np.array([row[k] for row in rows]) for k in range(len(kernel.program.outputs))]
