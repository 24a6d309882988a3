"""Forward dynamics of mechanisms with loops, and derivatives, against Pinocchio and MuJoCo; the cost of many loops.

``python -m benchmarks.loops`` proves accelerations against the whole saddle-point matrix in extended precision and
derivatives against differences, and then times all engines interleaved. MuJoCo solves a softer problem, so only its
accelerations without constraints are compared. It writes ``benchmarks/results/loops.json``, and the tables and the plot
of ``docs/loops.md``.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import time
from importlib.metadata import distribution

import numpy as np

from benchmarks import store, timing
from benchmarks.figure_style import pyplot
from benchmarks.machine import machine, versions
from benchmarks.rivals.mechanisms import MuJoCo, Pinocchio
from benchmarks.rivals.pinocchio_cpp import NoCompiler
from benchmarks.verify import WrongAnswer

STATES, BATCH, FEW, SEED = 16, 1024, 64, 8
TOLERANCE = 1e-9  # of the largest acceleration, times the condition of the mass matrix over 1e5
CELLS = (1, 2, 4, 8, 16, 32, 64, 128)
FAMILIES = {"ladder": "ladder", "chain": "four_bar_chain"}
DOCS = pathlib.Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- loops:begin -->", "<!-- loops:end -->"


def robots() -> pathlib.Path:
    """The folder of example-robot-data."""
    return distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")


def by_balls(kt, model):
    """The same with balls that close the loops, as the other engines have it; in a plane they do the same."""
    ball = kt.joints.Spherical()
    loops = [kt.constraints.LoopJoint(c.name, ball, c.predecessor, c.successor, c.X_P, c.X_S) for c in model.loops]
    return model.replace(constraints=loops)


def standing(kt):
    """ANYmal with its four feet held where they are."""
    path = robots() / "anymal_b_simple_description/robots/anymal.urdf"
    model = kt.load(path, floating_base=True, unsupported="drop", inertia="project").without_limits()
    q, loops = model.neutral(), []
    for foot in ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"):
        X = kt.spatial.Transform.shift(kt.spatial.Vector3(*kt.pose(model, q, frame=foot).p_WF.tolist()))
        loops.append(kt.constraints.LoopJoint(foot, kt.joints.Spherical(), "world", foot, X))
    return model.with_constraints(*loops)


def cassie(kt):
    """The robot Cassie: rods of both legs by balls; rows of the plantar rods follow from others but for decimals."""
    return kt.load(robots() / "cassie_description/robots/cassie_v2.sdf").without_limits()


def arms(kt):
    """Two UR5 that hold a body of 4 kg with a ball joint in its middle."""
    arm = kt.load(robots() / "ur_description/urdf/ur5_robot.urdf").without_limits()
    half = kt.control.Held("tool0", 2.0, (0.0, 0.01, 0.1), (0.0, 0.0, 0.25), (0.02, 0.02, 0.005))
    return kt.control.TwoArms.hold(arm, arm, half, half, placement=((0.9, 0.0, 0.0), (0.0, 0.0, np.pi)))


CASES = {
    "four-bar": lambda kt: by_balls(kt, kt.models.four_bar()),
    "slider-crank": lambda kt: by_balls(kt, kt.models.slider_crank(angle=0.6)),
    "Stewart platform": lambda kt: kt.models.stewart_platform(),
    "leg of Cassie": lambda kt: by_balls(kt, kt.models.cassie_leg()),
    "two UR5 and a box": arms,
    "ANYmal, four feet held": standing,
    "Cassie": cassie,
}


def closed_states(kt, model, rng):
    """Closed positions and velocities, and forces: arrays of `STATES` rows."""
    from kinetree.constraints.redundancy import closed_positions

    q = closed_positions(model, rng, STATES).q
    q = np.array([kt.closed_loops.project_position(model, x) for x in q])
    v = np.array([kt.closed_loops.project_velocity(model, x, rng.standard_normal(model.nv)) for x in q])
    return q, v, rng.standard_normal((STATES, model.nv)) * 10.0


def reference(kt, model, q, v, tau):
    """Accelerations in extended precision by the dense saddle-point matrix."""
    from kinetree.algorithms.forward_dynamics_multipliers import forward_dynamics_dense

    return np.array(forward_dynamics_dense(model, *([np.longdouble(x) for x in y] for y in (q, v, tau))), dtype=float)


def residual(kt, model, q, v, tau, a) -> float:
    """The largest force that accelerations lack beside those of constraints, and the largest opening of a loop."""
    from kinetree.algorithms.constraint_rows import constraint_bias, constraint_jacobian

    with kt.interpreted():
        _, forces = kt.forward_dynamics(model, q, v, tau, multipliers=True)
        K = np.array(constraint_jacobian(model, q.tolist()))
        needed = kt.rnea(model, q, v, a)
    lacking = needed - tau - K.T @ forces
    opening = K @ a + np.array(constraint_bias(model, q.tolist(), v.tolist()))
    return float(max(np.abs(lacking).max() / np.abs(needed).max(), np.abs(opening).max() / np.abs(a).max()))


def measure(name: str, repeats: int, block: float) -> dict:
    """Verify and time one mechanism."""
    import kinetree as kt

    model = CASES[name](kt).replace(stiffness=0.0, damping=0.0, dry_friction=0.0)
    q, v, tau = closed_states(kt, model, np.random.default_rng(SEED))
    f = kt.compile(model, "forward_dynamics", checks=False)
    exact = np.array([reference(kt, model, *state) for state in zip(q, v, tau, strict=True)])
    scale, out, batch_out = np.abs(exact).max(), np.empty(model.nv), np.empty((BATCH, model.nv))
    allowed = TOLERANCE * max(1.0, max(np.linalg.cond(kt.crba(model, x)) for x in q) / 1e5)
    errors = {"kinetree": float(np.abs(f(q, v, tau) - exact).max() / scale)}
    if not errors["kinetree"] <= allowed:
        raise WrongAnswer(f"{name}: error {errors['kinetree']:.1e}, tolerance {allowed:.1e}")
    rows = [tuple(np.ascontiguousarray(x) for x in state) for state in zip(q, v, tau, strict=True)]
    many = [np.resize(x, (BATCH, x.shape[1])) for x in (q, v, tau)]
    contenders = {
        "kinetree": _calls(lambda k: f(*rows[k], out=out)),
        "kinetree, batch": lambda n: [f(*many, out=batch_out) for _ in range(n)],
    }
    there = Pinocchio(kt, model)
    states = [(there.q(a), there.v(b), there.v(c)) for a, b, c in rows]
    cpp = _in_cpp(there, states)
    for algorithm in there.SETTINGS:
        found = _settings(there, cpp, algorithm, states, exact, scale, allowed)
        if found is None:
            continue
        errors[algorithm] = found
        call = there.runner(algorithm)
        contenders[algorithm] = _calls(lambda k, call=call: call(*states[k]))
        if cpp:
            contenders[f"{algorithm}, C++"] = cpp.runner(algorithm)
    soft = MuJoCo(kt, model)
    theirs, tree = [soft.state(*row) for row in rows], model.replace(constraints=())
    for k, state in enumerate(theirs[:4]):
        soft.call(*state)
        error = np.abs(soft.smooth() - kt.forward_dynamics(tree, *rows[k])[soft.plain]).max() / scale
        errors["MuJoCo, tree"] = max(errors.get("MuJoCo, tree", 0.0), float(error))
    if errors["MuJoCo, tree"] < 1e-6:
        contenders["MuJoCo"] = _calls(lambda k: soft.call(*theirs[k]))
    times = timing.interleaved(contenders, _units(contenders), repeats, block)
    return {
        "name": name, "nv": model.nv, "rows": len(model.loop_rows().coordinates), "errors": errors,
        "operations": f.operations.total, "seconds": {engine: timing.summary(x) for engine, x in times.items()},
        "settings": there.chosen, "derivatives": derivatives(kt, model, there, cpp, rows, states, repeats, block),
        "compiler": cpp.about if cpp else None,
    }  # fmt: skip


def _units(contenders) -> dict[str, int]:
    return {name: BATCH if "batch" in name else FEW if "cache" in name else STATES for name in contenders}


def _in_cpp(there, states):
    """Pinocchio's C++, if it can be compiled here."""
    try:
        return there.in_cpp(states)
    except NoCompiler as error:
        print(f"without Pinocchio's C++: {error}", flush=True)
        return None


def _settings(there, cpp, algorithm, states, exact, scale, allowed) -> float | None:
    """Choose the fastest of the settings that are as right as kinetree must be, in both languages; the error."""
    times = {}
    for settings in there.SETTINGS[algorithm]:
        there.choose(algorithm, *settings)
        call = there.runner(algorithm)
        found = [np.array([there.v(call(*state), back=True) for state in states])]
        run = _calls(lambda k, call=call: call(*states[k]))
        if cpp:
            cpp.choose(algorithm, *settings)
            found.append(np.array([there.v(a, back=True) for a in cpp.accelerations(algorithm)]))
            run = cpp.runner(algorithm)
        error = float(max(np.abs(x - exact).max() for x in found) / scale)
        if error <= allowed:
            times[settings] = min(timing.interleaved({"": run}, STATES, 3)[""]), error
    if not times:
        return None
    best = min(times, key=times.get)
    there.choose(algorithm, *best)
    if cpp:
        cpp.choose(algorithm, *best)
    return times[best][1]


def derivatives(kt, model, there, cpp, rows, states, repeats: int, block: float) -> dict:
    """Verify and time derivatives of accelerations and multipliers by q, v and tau."""
    f = kt.compile(model, "forward_dynamics_derivatives", checks=False)

    def ours(x, u, h):
        with kt.interpreted():
            moved = kt.integrate(model, x[0], h * u[0]), x[1] + h * u[1], x[2] + h * u[2]
            return np.concatenate(kt.forward_dynamics(model, *moved, multipliers=True))

    if "constraintDynamics" not in there.chosen:
        there.choose("constraintDynamics", *there.SETTINGS["constraintDynamics"][-1])
    both = there.runner("derivatives")
    found, theirs = _stacked(f(*rows[0])), _stacked(both(*states[0]))
    errors = {"kinetree": _slopes(found, ours, rows[0], model.nv, 1e-7)}
    errors["Pinocchio"] = _slopes(theirs, there.values, states[0], model.nv, 1e-6)
    mutual = np.array([there.v(column, back=True) for column in theirs[: model.nv, 2 * model.nv :].T])
    mutual = np.array([there.v(row, back=True) for row in mutual.T]) - found[: model.nv, 2 * model.nv :]
    errors["mutual"] = float(np.abs(mutual).max() / np.abs(found[: model.nv, 2 * model.nv :]).max())
    if max(errors["kinetree"]) > 1e-5:
        raise WrongAnswer(f"derivatives of {model.name}: errors {errors}")
    if max(*errors["Pinocchio"][1:], errors["mutual"]) > 1e-5:  # no rival to compare with
        return {"operations": f.operations.total, "errors": errors, "seconds": {}}
    many = [np.resize([row[k] for row in rows], (BATCH, len(rows[0][k]))) for k in range(3)]
    few = [x[:FEW] for x in many]
    outs = [f(*x) for x in (many, few)]
    contenders = {
        "kinetree": _calls(lambda k: f(*rows[k])),
        "kinetree, batch": lambda n: [f(*many, out=outs[0]) for _ in range(n)],
        "kinetree, in the cache": lambda n: [f(*few, out=outs[1]) for _ in range(n)],
        "Pinocchio": _calls(lambda k: both(*states[k])),
    }
    if cpp:
        cpp.choose("derivatives", *there.chosen["constraintDynamics"])
        error = np.abs(cpp.derivatives()[0] - theirs).max() / np.abs(theirs).max()
        if not error < 1e-9:
            raise WrongAnswer(f"derivatives of {model.name} in C++: error {error:.1e}")
        contenders["Pinocchio, C++"] = cpp.runner("derivatives")
    times = timing.interleaved(contenders, _units(contenders), repeats, block)
    return {
        "operations": f.operations.total, "errors": errors,
        "seconds": {engine: timing.summary(x) for engine, x in times.items()},
    }  # fmt: skip


def _stacked(parts) -> np.ndarray:
    """Slopes of accelerations, then of multipliers, by q, v and tau."""
    return np.vstack([np.hstack(parts[:3]), np.hstack(parts[3:])])


def _slopes(J, values, x, nv: int, h: float) -> list[float]:
    """Errors of J against differences of ``values(x, direction, h)``, by q, v and tau, accelerations and the rest."""
    rng, found = np.random.default_rng(SEED), []
    for k in range(3):
        u = [np.zeros(nv)] * 3
        u[k] = rng.standard_normal(nv)
        slope = (values(x, u, h) - values(x, u, -h)) / (2.0 * h)
        error = np.abs(J @ np.concatenate(u) - slope)
        parts = slice(None, nv), slice(nv, None)
        found.append(float(max(error[part].max() / np.abs(slope[part]).max() for part in parts)))
    return found


def _calls(method):
    def run(n: int) -> None:
        for _ in range(n):
            for k in range(STATES):
                method(k)

    return run


def cells(family: str, n: int, repeats: int, block: float) -> dict:
    """Operations and time of a ladder or a chain of n four-bars, and of its tree."""
    import kinetree as kt

    model, rng = getattr(kt.models, FAMILIES[family])(n), np.random.default_rng(SEED)
    start = time.process_time()
    os.environ["KINETREE_CACHE"] = "0"
    f = kt.compile(model, "forward_dynamics", checks=False)
    q, v = model.keyframe("initial")
    tau = rng.standard_normal(model.nv)
    a = f(q, v, tau)
    seconds = time.process_time() - start
    del os.environ["KINETREE_CACHE"]
    error = residual(kt, model, q, v, tau, a)
    if not error <= TOLERANCE:
        raise WrongAnswer(f"{family} of {n} cells: error {error:.1e}, tolerance {TOLERANCE:.0e}")
    tree = kt.compile(model.replace(constraints=()), "aba", checks=False)
    many = [np.tile(x, (BATCH, 1)) for x in (q, v, tau)]
    contenders = {"loops": lambda k: [f(*many) for _ in range(k)], "tree": lambda k: [tree(*many) for _ in range(k)]}
    times = timing.interleaved(contenders, BATCH, repeats, block)
    return {
        "family": family, "n": n, "nv": model.nv, "operations": f.operations.total, "tree": tree.operations.total,
        "compile": seconds, "error": error, "seconds": {what: timing.summary(x) for what, x in times.items()},
    }  # fmt: skip


ENGINES = {
    "constraintDynamics": "Pinocchio, Python", "constraintDynamics, C++": "C++", "lcaba": "lcaba, Python",
    "lcaba, C++": "C++", "MuJoCo": "MuJoCo",
}  # fmt: skip


def _table(heads, rows) -> list[str]:
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]


def table(result: dict) -> str:
    """Markdown: microseconds per call, nanoseconds per state of a batch, and ratios."""
    calls, slopes, names = [], [], [*ENGINES]
    for row in result["rows"]:
        t, e = {engine: each["median"] for engine, each in row["seconds"].items()}, row["errors"]
        fastest = min(t[engine] for engine in names if engine in t)
        calls.append([
            row["name"], row["nv"], row["rows"], row["operations"], f"{t['kinetree'] * 1e6:.2f}",
            f"{t['kinetree, batch'] * 1e9:.0f}", *[f"{t[x] * 1e6:.1f}" if x in t else "" for x in names],
            f"{fastest / t['kinetree']:.1f}", f"{fastest / t['kinetree, batch']:.0f}",
            *[f"{e[x]:.0e}" if x in e else "" for x in ("kinetree", "constraintDynamics", "lcaba")],
        ])  # fmt: skip
        d, e = row["derivatives"], row["derivatives"]["errors"]
        if not d["seconds"]:
            slopes.append(
                [
                    row["name"],
                    d["operations"],
                    *[""] * 8,
                    f"not timed, off by {max(e['mutual'], e['Pinocchio'][0]):.1g}",
                ]
            )
            continue
        t = {engine: each["median"] for engine, each in d["seconds"].items()}
        fastest = min(t[x] for x in ("Pinocchio", "Pinocchio, C++") if x in t)
        batches = t["kinetree, batch"], t["kinetree, in the cache"]
        slopes.append([
            row["name"], d["operations"], f"{t['kinetree'] * 1e6:.2f}", *[f"{x * 1e9:.0f}" for x in batches],
            *[f"{t[x] * 1e6:.1f}" if x in t else "" for x in ("Pinocchio", "Pinocchio, C++")],
            f"{fastest / t['kinetree']:.1f}", *[f"{fastest / x:.0f}" for x in batches],
            "right" if e["Pinocchio"][0] < 1e-5 else f"off by {e['Pinocchio'][0]:.1g}",
        ])  # fmt: skip
    lines = _table(
        ["mechanism", "nv", "rows", "operations", "call [us]", "batch [ns]", *[f"{x} [us]" for x in ENGINES.values()],
         "fastest / call", "fastest / batch", "error", "Pinocchio's", "lcaba's"], calls,
    )  # fmt: skip
    lines += ["Derivatives of accelerations and multipliers by q, v and tau, forward dynamics included:", ""]
    lines += _table(
        ["mechanism", "operations", "call [us]", "batch [ns]", "in the cache [ns]", "Pinocchio, Python [us]",
         "C++ [us]", "fastest / call", "fastest / batch", "in the cache", "Pinocchio's by q"], slopes,
    )  # fmt: skip
    lines += _table(
        ["cells", "nv", "operations", "tree", "batch [ns]", "tree [ns]", "compile [s]"],
        [[f"{row['family']}, {row['n']}", row["nv"], row["operations"], row["tree"],
          *[f"{row['seconds'][what]['median'] * 1e9:.0f}" for what in ("loops", "tree")], f"{row['compile']:.1f}"]
         for row in result["cells"]],
    )  # fmt: skip
    about, used, compiler = result["machine"], result["versions"], result["rows"][0]["compiler"]
    load = about["load_average"][0]
    return "\n".join(lines) + (
        f"\nCPU time of one core, medians of {result['repeats']} interleaved repeats, with a load of {load:.0f} on "
        f"{about['cores']} cores; batches of {BATCH} states (in the cache: {FEW}); closed states, without checks. "
        "Error: of accelerations relative to the largest one, against extended precision. "
        f"{about['processor']}, Python {about['python']}, Pinocchio {used['pin']} (constraintDynamics unless named; of "
        "some settings of mu and iterations the fastest that are right), "
        + (f"its C++ by {compiler['compiler']}, a loop over {STATES} states; " if compiler else "without its C++; ")
        + f"MuJoCo {used['mujoco']} (mj_forward, its own softer constraints), from Python; {result['date']}."
    )


def plot(result: dict) -> None:
    """Operations and time of ladders and chains against the number of cells."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.0), layout="constrained")
    for family, color in zip(FAMILIES, ("C0", "C1"), strict=True):
        rows = [row for row in result["cells"] if row["family"] == family]
        n = [row["n"] for row in rows]
        for what, style in (("loops", ".-"), ("tree", ".:")):
            count = "operations" if what == "loops" else "tree"
            label = f"{family}, loops closed" if what == "loops" else f"{family}, aba of the tree"
            axes[0].loglog(n, [row[count] for row in rows], style, color=color, label=label)
            axes[1].loglog(n, [row["seconds"][what]["median"] * 1e9 for row in rows], style, color=color)
    axes[0].set_ylabel("operations")
    axes[1].set_ylabel("ns per state of a batch")
    for axis in axes:
        axis.set_xlabel("cells")
    axes[0].legend()
    figure.savefig(DOCS / "loops.svg", metadata={"Date": None})
    plt.close(figure)


def write_docs() -> None:
    """The tables between the markers of the page, and its plot."""
    result, page = store.read("loops"), DOCS / "loops.md"
    before, _, rest = page.read_text().partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"{page.name} lacks the markers {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n{table(result)}\n{END}{after}")
    plot(result)


def main() -> None:
    """Measure all mechanisms and rows of cells, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", action="store_true", help="rewrite the page from the stored result")
    parser.add_argument("--part", choices=("rows", "cells"), help="measure mechanisms or rows of cells alone")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--block", type=float, default=timing.BLOCK)
    chosen = parser.parse_args()
    if not chosen.docs:
        os.environ["KINETREE_NUM_THREADS"] = "1"
        found = store.read("loops") if chosen.part else {}
        if chosen.part != "cells":
            found["rows"] = [measure(name, chosen.repeats, chosen.block) for name in CASES]
        if chosen.part != "rows":
            found["cells"] = [cells(family, n, chosen.repeats, chosen.block) for family in FAMILIES for n in CELLS]
        used = versions(("kinetree", "numpy", "llvmlite", "pin", "mujoco"))
        about = {"machine": machine(), "versions": used, "repeats": chosen.repeats}
        store.write("loops", about | {part: found[part] for part in ("rows", "cells")})
    write_docs()
    print(table(store.read("loops")))


if __name__ == "__main__":
    main()
