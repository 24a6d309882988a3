"""Implicit steps with many springs and muscles: costs of slopes, and conjugate gradients on stiff chains.

``python -m benchmarks.implicit_steps`` verifies first: conjugate gradients against the direct solution, Gauss-Newton
steps against their dense equation. It writes ``benchmarks/results/implicit_steps.json``, the tables and the plot of
``docs/integrators.md``.
"""

from __future__ import annotations

import math
import os
import pathlib
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import kinetree as kt
from benchmarks import store, timing
from benchmarks.figure_style import pyplot
from benchmarks.machine import machine, versions
from benchmarks.verify import WrongAnswer
from kinetree.integrators import LinearlyImplicit, System
from kinetree.integrators.conjugate_gradients import MatrixFreeStep

BATCH, STEPS, DT = 1024, 10, 1e-2
STIFFNESSES = 10.0 ** np.arange(2, 10)
LINKS = (10, 20, 50, 100, 200)
DIRECT_MOST = 50  # links; beyond, its compilation takes minutes
LONG = 3
FAST = LinearlyImplicit("passive", "gauss_newton")
DOCS = pathlib.Path(__file__).parent.parent / "docs"
STEPS_BLOCK, CHAIN_BLOCK = ("<!-- implicit steps:begin -->\n", "<!-- implicit steps:end -->"), (
    "<!-- stiff chains:begin -->\n", "<!-- stiff chains:end -->",
)  # fmt: skip


def arm(elements: str):
    """Twenty hinges, each about another axis than the one before, and 50 springs or muscles across one to three."""
    rng, b, names = np.random.default_rng(0), kt.ModelBuilder("arm20"), ["world", *(f"b{n}" for n in range(20))]
    for n, name in enumerate(names[1:]):
        b.add_body(name, names[n], kt.joints.Revolute(tuple(np.eye(3)[n % 3])), placement=((0.1, 0.02, 0), (0, 0, 0)),
                   mass=1.0, com=(0.05, 0, 0), inertia=np.diag([0.01, 0.02, 0.02]))  # fmt: skip
    forces = []
    for n in range(50):
        i = int(rng.integers(0, 20))
        bodies = names[i : min(i + int(rng.integers(2, 5)), 21)]
        points = rng.uniform(-0.1, 0.1, (len(bodies), 3))
        if elements == "springs":
            at = tuple(points[0]), tuple(points[-1])
            forces.append(kt.forces.PointSpring(f"s{n}", bodies[0], bodies[-1], 100.0, 0.1, 1.0, *at))
        else:
            path = tuple(kt.tendons.ViaPoint(body, tuple(at)) for body, at in zip(bodies, points, strict=True))
            forces.append(kt.forces.Muscle(f"m{n}", path, 20.0, 0.2, 0.1, curves="degroote_fregly"))
    return b.build().with_forces(*forces)


def step_costs(elements: str) -> dict:
    """Operations, and seconds per step single and in a batch, of explicit and implicit steps."""
    model, rng = arm(elements), np.random.default_rng(1)
    q, v = rng.uniform(-1.0, 1.0, (2, BATCH, 20))
    given = {"x": np.full((BATCH, model.nx), 0.3), "u": np.full((BATCH, model.nu), 0.5)} if model.nx else {}
    optional = tuple(given)
    steps = {name: kt.compile(model, name, optional=optional)
             for name in ("forward_dynamics", "semi_implicit_step")}  # fmt: skip
    tau, dt = np.zeros((BATCH, 20)), np.full(BATCH, 1e-3)
    runs, units = {}, {}
    for name, f in steps.items():
        args = (q, v, tau, *(() if name == "forward_dynamics" else (dt,)), *given.values())
        first = [np.array(x[0]) for x in args]
        runs[name, "batch"] = lambda n, f=f, args=args: [f(*args) for _ in range(n)]
        runs[name, "single"] = lambda n, f=f, args=first: [f(*args) for _ in range(n)]
        units |= {(name, "batch"): BATCH, (name, "single"): 1}
    seconds = timing.interleaved(runs, units)
    return {
        "operations": {name: f.operations.total for name, f in steps.items()},
        "ns": {f"{name}, {form}": 1e9 * float(np.median(x)) for (name, form), x in seconds.items()},
    }


def stiff_chain(links: int, k: float, every: int = 2):
    """Hanging links; stiff springs across every second joint, three between links that are five apart, relaxed."""
    b, names = kt.ModelBuilder("stiff chain"), ["world", *(f"b{n}" for n in range(links))]
    for n, name in enumerate(names[1:]):
        axis = (0, 1, 0) if n % 2 else (1, 0, 0)
        b.add_body(name, names[n], kt.joints.Revolute(axis), placement=((0, 0, -0.1 * bool(n)), (0, 0, 0)), mass=0.1,
                   com=(0, 0, -0.05), inertia=1e-4 * np.eye(3))  # fmt: skip
    model, q0, side = b.build(), 0.3 * np.cos(np.arange(links)), (0.02, 0.02, -0.05)
    R, p = kt.kinematics.frame_poses(model, q0)
    ends = [(n, n + 1) for n in range(1, links, every)]
    ends += [(1 + 2 * n, 6 + 2 * n) for n in range(LONG) if 6 + 2 * n <= links]
    points = {n: p[n] + R[n] @ np.array(side) for n in range(links + 1)}
    springs = [
        kt.forces.PointSpring(f"s{n}", names[a], names[c], k, math.dist(points[a], points[c]), 0.0, side, side)
        for n, (a, c) in enumerate(ends)
    ]
    return model.with_forces(*springs), q0


def march(method, q, links: int):
    """The state after some steps, and the time of one [s]."""
    rest = np.zeros(links)
    state = method.step(0.0, DT, q, rest, lambda t: rest, lambda t: ())
    start = time.process_time()
    for n in range(1, STEPS):
        state = method.step(n * DT, DT, *state, lambda t: rest, lambda t: ())
    return state, (time.process_time() - start) / (STEPS - 1)


def iterations(links: int, k: float) -> dict:
    """Iterations of conjugate gradients with and without the preconditioner, after a check against the direct ones."""
    model, q0 = stiff_chain(links, k)
    system, found = System(model), {"links": links, "k": k}
    start = time.process_time()
    method = MatrixFreeStep(system)
    (_, v), found["step"] = march(method, q0, links)
    found["compile"] = time.process_time() - start - STEPS * found["step"]
    plain = MatrixFreeStep(system, preconditioned=False)
    (_, v_plain), _ = march(plain, q0, links)
    if np.abs(v_plain - v).max() > 1e-3 * np.abs(v).max():  # residuals are Euclidean there, errors larger
        raise WrongAnswer(f"{links} links, {k:g} N/m: with and without preconditioner {np.abs(v_plain - v).max():.1e}")
    if links <= DIRECT_MOST:
        start = time.process_time()
        (_, v_direct), found["direct step"] = march(FAST(system), q0, links)
        found["direct compile"] = time.process_time() - start - STEPS * found["direct step"]
        if np.abs(v_direct - v).max() > 1e-7 * np.abs(v).max():
            raise WrongAnswer(f"{links} links, {k:g} N/m: direct {np.abs(v_direct - v).max():.1e}")
    return found | {"preconditioned": max(method.iterations), "plain": max(plain.iterations)}


def table(result: dict) -> tuple[str, str]:
    """Markdown of both tables."""
    lines = ["| 50 elements | explicit: operations | implicit | ratio | batch [ns] | implicit | ratio "
             "| single [us] | implicit | ratio |", "| --- |" + " ---: |" * 9]  # fmt: skip
    for name, row in result["arm"].items():
        cells = [name]
        for values, scale, digits in (
            (row["operations"], 1.0, 0),
            ({k.partition(",")[0]: x for k, x in row["ns"].items() if "batch" in k}, 1.0, 0),
            ({k.partition(",")[0]: x for k, x in row["ns"].items() if "single" in k}, 1e-3, 2),
        ):
            a, b = (scale * values[k] for k in ("forward_dynamics", "semi_implicit_step"))
            cells += [f"{a:.{digits}f}", f"{b:.{digits}f}", f"**{b / a:.2f}**"]
        lines.append(f"| {' | '.join(cells)} |")
    chains = ["| links | preconditioned: iterations | without | step [us] | compile [s] | direct: step [us] "
              "| compile [s] |", "| ---: |" + " ---: |" * 6]  # fmt: skip
    for row in result["by links"]:
        times = []
        for name in ("", "direct "):
            known = name + "step" in row
            times += [f"{1e6 * row[name + 'step']:.0f}", f"{row[name + 'compile']:.1f}"] if known else ["", ""]
        cells = [str(row["links"]), str(row["preconditioned"]), str(row["plain"]), *times]
        chains.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n", "\n".join(chains) + "\n"


def plot(result: dict) -> None:
    """Iterations against the stiffness and against the number of links."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 2.8), layout="constrained")
    for axis, key, rows, label in (
        (axes[0], "k", result["by stiffness"], "stiffness [N/m], 50 links"),
        (axes[1], "links", result["by links"], "links, 1e6 N/m"),
    ):
        for name, text in (("plain", "without preconditioner"), ("preconditioned", "articulated bodies")):
            axis.loglog([row[key] for row in rows], [row[name] for row in rows], ".-", label=text)
        axis.set(xlabel=label, ylim=(1, 2000))
    axes[0].set_ylabel("iterations, most of 10 steps")
    axes[0].legend()
    figure.savefig(DOCS / "conjugate_gradients.svg", metadata={"Date": None})
    plt.close(figure)


def write_docs(result: dict) -> None:
    page = DOCS / "integrators.md"
    text = page.read_text()
    for (begin, end), rows in zip((STEPS_BLOCK, CHAIN_BLOCK), table(result), strict=True):
        before, _, rest = text.partition(begin)
        text = before + begin + rows + end + rest.partition(end)[2]
    page.write_text(text)
    plot(result)


def main() -> None:
    result = {"machine": machine(), "versions": versions()}
    result["arm"] = {elements: step_costs(elements) for elements in ("springs", "muscles")}
    result["by links"] = [iterations(n, 1e6) for n in LINKS]
    result["by stiffness"] = [iterations(50, k) for k in STIFFNESSES]
    store.write("implicit_steps", result)
    write_docs(result)


if __name__ == "__main__":
    main()
