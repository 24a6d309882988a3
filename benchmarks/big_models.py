"""Chains and trees of up to 10 000 bodies: what compiling costs, and what a body costs then.

``python -m benchmarks.big_models`` proves the answers of every engine against extended precision, then times kinetree,
Pinocchio and MuJoCo interleaved. Every model has a process of its own, so that its memory can be told. It writes
``benchmarks/results/big_models.json``, the table and the plot of ``docs/big_models.md``. ``--only GU 1000`` prints one
model's result.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks import store, timing
from benchmarks.figure_style import pyplot
from benchmarks.machine import machine, versions
from benchmarks.verify import WrongAnswer

CASES = (
    *(("GU", n) for n in (10, 30, 100, 300, 1000, 3000, 10000)),
    ("equal links", 1000), ("binary tree", 255), ("binary tree", 1023), ("random tree", 300), ("random tree", 1000),
    ("balls", 100), ("balls", 1000),
)  # fmt: skip
PINOCCHIO_MOST = 400  # nv; its Data holds four tensors of nv^3 numbers, 32 GB for 1000
MUJOCO_MOST = 1000  # its mass matrix of a chain has n^2 / 2 entries, and a step takes time in proportion
TOLERANCE = 1e-9
BATCH = 64
SEED = 20080901
DOCS = pathlib.Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- big models:begin -->", "<!-- big models:end -->"


def build(kt, kind: str, n: int):
    """The model: GU(n) is the chain of general geometry of Featherstone's table 10.1, every link different."""
    joints = kt.joints
    if kind == "GU":
        return kt.models.chain_gu(n)
    if kind == "equal links":
        return kt.models.auto_tree(n, bf=1.0, skew=0.3)
    if kind == "binary tree":
        return kt.models.binary_tree(n.bit_length())
    if kind == "random tree":
        pool, branching = [joints.Revolute(), joints.Prismatic()], 0.3
    else:
        pool, branching = [joints.Spherical()], 0.0
    return kt.models.random_tree(n, 3, joints=pool, branching=branching, armature=False)


def pinocchio_model(model):
    """The same tree, built joint by joint: the reader of URDF files needs too much stack for 10 000 of them."""
    import pinocchio as pin

    kinds = {"revolute": pin.JointModelRZ, "prismatic": pin.JointModelPZ, "spherical": pin.JointModelSpherical}
    made, number = pin.Model(), {0: 0}
    made.gravity.linear = np.array(list(model.gravity), dtype=float)
    for i in model.outward():
        joint, X, I = model.joints[i], model.X_T[i], model.I[i]
        if joint.nv == 1 and tuple(joint.axis) != (0.0, 0.0, 1.0):
            raise ValueError(f"joint {model.joint_name(i)!r} is not along z")
        placement = pin.SE3(np.array(X.E.matrix.rows, dtype=float).T, np.array(list(X.r), dtype=float))
        number[i] = made.addJoint(number[model.parent[i]], kinds[joint.kind](), placement, model.joint_name(i))
        c = np.array(list(I.com), dtype=float)
        about_com = np.array(I.I.matrix.rows, dtype=float) - I.m * (c @ c * np.eye(3) - np.outer(c, c))
        made.appendBodyToJoint(number[i], pin.Inertia(float(I.m), c, about_com), pin.SE3.Identity())
    return made


class Contest:
    """One model, random states, and for each engine a function per quantity, of the index of a state."""

    def __init__(self, kt, kind: str, n: int) -> None:
        self.model = model = build(kt, kind, n)
        rng = np.random.default_rng(SEED)
        self.q = np.stack([model.random_q(rng) for _ in range(BATCH)])
        self.v, self.a = rng.uniform(-1.0, 1.0, (2, BATCH, model.nv))
        self.kt, self.compiled, self.seconds, self.methods = kt, {}, {}, {}
        for name in ("rnea", "aba"):
            start, cpu = time.perf_counter(), time.process_time()
            f = self.compiled[name] = kt.compile(model, name)
            f(self.q[0], self.v[0], self.a[0])
            self.seconds[name] = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - start}
        # Other engines are not part of the memory.
        self.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        self.tau = self.compiled["rnea"](self.q, self.v, self.a)
        self._kinetree()
        if model.nv <= PINOCCHIO_MOST:
            self._pinocchio(kind)
        if kind in ("GU", "equal links", "binary tree") and n <= 1.1 * MUJOCO_MOST:
            self._mujoco()

    def third(self, name: str) -> np.ndarray:
        """The third argument: accelerations, or the forces that give them."""
        return self.a if name == "rnea" else self.tau

    def _kinetree(self) -> None:
        out = np.empty(self.model.nv)
        for name, f in self.compiled.items():
            rows = list(zip(self.q.copy(), self.v.copy(), self.third(name).copy(), strict=True))
            self.methods["kinetree", name] = lambda k, f=f, rows=rows: f(*rows[k], out=out)

    def _pinocchio(self, kind: str) -> None:
        import pinocchio as pin

        there = pinocchio_model(self.model)
        data = there.createData()
        q = self.q
        if kind == "balls":  # (w, x, y, z) to (x, y, z, w)
            q = np.roll(q.reshape(BATCH, -1, 4), -1, axis=2).reshape(BATCH, -1)
        rows = {name: list(zip(q.copy(), self.v, self.third(name), strict=True)) for name in self.compiled}
        local, world = pin.Convention.LOCAL, pin.Convention.WORLD
        self.methods["Pinocchio", "rnea"] = lambda k: pin.rnea(there, data, *rows["rnea"][k])
        self.methods["Pinocchio", "aba"] = lambda k: pin.aba(there, data, *rows["aba"][k], world)
        self.methods["Pinocchio, local", "aba"] = lambda k: pin.aba(there, data, *rows["aba"][k], local)

    def _mujoco(self) -> None:
        """The least that gives each quantity; mj_forward's own order of steps for the forward dynamics."""
        import mujoco as mj

        from tests.engines.mujoco_bridge import MujocoBridge, mujoco_model

        bridge = MujocoBridge(self.model, mujoco_model(self.kt.io.to_urdf(self.model)))
        there, data = bridge.mj_model, bridge.data
        force = np.empty(there.nv)
        there_map = bridge.velocity_map(self.q[0])
        thirds, back = {name: self.third(name) @ there_map.T for name in self.compiled}, there_map.T
        q, v = np.stack([bridge.q_to_mujoco(x) for x in self.q]), self.v @ there_map.T

        def rnea(k):
            data.qpos, data.qvel, data.qacc = q[k], v[k], thirds["rnea"][k]
            mj.mj_kinematics(there, data)
            mj.mj_comPos(there, data)
            mj.mj_comVel(there, data)
            mj.mj_rne(there, data, 1, force)
            return force

        def aba(k):
            data.qpos, data.qvel, data.qfrc_applied = q[k], v[k], thirds["aba"][k]
            mj.mj_forward(there, data)
            return data.qacc

        self.methods["MuJoCo", "rnea"], self.methods["MuJoCo", "aba"] = rnea, aba
        self.back = lambda x: back @ x

    def answer(self, engine: str, name: str, k: int) -> np.ndarray:
        """One result in kinetree's order."""
        found = np.array(self.methods[engine, name](k))
        return self.back(found) if engine == "MuJoCo" else found

    def errors(self, states: int = 2) -> dict[str, dict[str, float]]:
        """Largest errors of all methods, batches included. What is beyond `TOLERANCE` is not timed; ours raises.

        The reference is the same source in extended precision (where long double is more than double). Of rnea: the
        error relative to the largest force. Of aba: the force that the accelerations lack, relative to the largest one.
        The accelerations themselves are off by that times the condition of M, which no engine can help. (Pinocchio's
        aba loses digits in proportion to the exponential of the length where joints have several freedoms.)
        """
        wide, rnea = np.longdouble, self.kt.rnea
        found: dict[str, dict[str, float]] = {}
        batches = {name: f(self.q, self.v, self.third(name)) for name, f in self.compiled.items()}
        for k in range(states):
            q, v, a = (x[k].astype(wide) for x in (self.q, self.v, self.a))
            exact = rnea(self.model, q, v, a)
            scale = np.abs(exact).max()
            answers = {method: self.answer(*method, k) for method in self.methods}
            answers |= {("kinetree, batch", name): batch[k] for name, batch in batches.items()}
            for (engine, name), x in answers.items():
                lacking = x - exact if name == "rnea" else rnea(self.model, q, v, x.astype(wide)) - self.tau[k]
                error = float(np.abs(lacking).max() / scale)
                known = found.setdefault(name, {})
                known[engine] = max(error, known.get(engine, 0.0))
        for name, known in found.items():
            for engine, error in known.items():
                if not error <= TOLERANCE:
                    if engine.startswith("kinetree"):
                        raise WrongAnswer(f"{engine}, {name}: error {error:.1e}, tolerance {TOLERANCE:.0e}")
                    del self.methods[engine, name]
        return found

    def times(self, repeats: int, block: float) -> dict[str, dict[str, dict[str, float]]]:
        """CPU seconds per state: calls, and one batch on one thread."""
        result = {}
        for name, f in self.compiled.items():
            states = 8
            contenders = {key[0]: _calls(method, states) for key, method in self.methods.items() if key[1] == name}
            arguments, out = (self.q, self.v, self.third(name)), np.empty((BATCH, self.model.nv))
            contenders["kinetree, batch"] = lambda n, f=f, arguments=arguments, out=out: [
                f(*arguments, out=out) for _ in range(n)
            ]
            units = {engine: BATCH if engine == "kinetree, batch" else states for engine in contenders}
            each = timing.interleaved(contenders, units, repeats, block)
            result[name] = {engine: timing.summary(times) for engine, times in each.items()}
        return result


def _calls(method, states: int):
    def run(n: int) -> None:
        for _ in range(n):
            for k in range(states):
                method(k)

    return run


def measure(kind: str, n: int, repeats: int = 7, block: float = timing.BLOCK) -> dict[str, object]:
    """Verify and time one model, in this process."""
    import kinetree as kt

    contest = Contest(kt, kind, n)
    errors = contest.errors()
    model = contest.model
    programs = {name: f.operations.total for name, f in contest.compiled.items()}
    return {
        "kind": kind, "n": model.nb - 1, "nv": model.nv, "depth": int(max(model.depth)), "operations": programs,
        "compile": contest.seconds, "memory": contest.memory, "errors": errors,
        "seconds": contest.times(repeats, block),
    }  # fmt: skip


def in_a_process(kind: str, n: int) -> dict[str, object]:
    """The same in a process of its own, without the cache."""
    command = [sys.executable, "-m", "benchmarks.big_models", "--only", kind, str(n)]
    environment = {**os.environ, "KINETREE_CACHE": "0", "KINETREE_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{kind} of {n} bodies failed with status {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def table(result: dict) -> str:
    """Markdown: nanoseconds per body, and what compiling costs."""
    lines = [
        "| model | bodies | algorithm | compile | memory | call | batch | Pinocchio | MuJoCo | error | Pinocchio's |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        for name, seconds in row["seconds"].items():
            cells = [row["kind"], str(row["n"]), name, f"{row['compile'][name]['cpu']:.1f}"]
            cells.append(f"{row['memory'] / 1e6:.0f}")
            for engines in (("kinetree",), ("kinetree, batch",), ("Pinocchio", "Pinocchio, local"), ("MuJoCo",)):
                each = [seconds[engine]["median"] for engine in engines if engine in seconds]
                tried = any(engine in row["errors"][name] for engine in engines)
                cells.append(_digits(min(each) / row["n"] * 1e9) if each else "wrong" if tried else "")
            errors = row["errors"][name]
            cells.append(f"{max(x for engine, x in errors.items() if engine.startswith('kinetree')):.0e}")
            theirs = [x for engine, x in errors.items() if engine.startswith("Pinocchio")]
            cells.append(f"{min(theirs):.0e}" if theirs else "")
            lines.append("| " + " | ".join(cells) + " |")
    about, used = result["machine"], result["versions"]
    lines += [
        "",
        "Columns call to MuJoCo: nanoseconds per body and state, CPU time of one core, medians of "
        f"{result['repeats']} interleaved repeats; batches of {BATCH} states; Pinocchio in the faster of its "
        "conventions that are right. Compile: CPU seconds from the model to the first result, without the cache. "
        "Memory: MB, the largest "
        "resident size of a process that compiles rnea, then aba. Error: of rnea relative to the largest force; of aba "
        "the forces that are missing when its accelerations are handed back. "
        f"{about['processor']}, Python {about['python']}, Pinocchio {used['pin']}, MuJoCo {used['mujoco']}, called "
        f"from Python; {result['date']}.",
    ]
    return "\n".join(lines)


def _digits(x: float) -> str:
    return f"{x:.1f}" if x < 100 else f"{x:.0f}"


def plot(result: dict) -> None:
    """Cost of a body against the number of links, for the chains."""
    plt = pyplot()
    rows = [row for row in result["rows"] if row["kind"] == "GU"]
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.0), sharey=True, layout="constrained")
    for axis, name in zip(axes, ("rnea", "aba"), strict=True):
        for engine in ("MuJoCo", "Pinocchio", "kinetree", "kinetree, batch"):
            points = [
                (row["n"], row["seconds"][name][engine]["median"] / row["n"] * 1e9)
                for row in rows
                if engine in row["seconds"][name]
            ]
            if not points:
                continue
            axis.loglog(*zip(*points, strict=True), ".-", label=engine)
        axis.set_title(name)
        axis.set_xlabel("links of the chain")
    axes[0].set_ylabel("ns per body and state")
    axes[1].legend()
    figure.savefig(DOCS / "big_models.svg", metadata={"Date": None})
    plt.close(figure)


def write_docs() -> None:
    """The table between the markers of the page, and its plot."""
    result, page = store.read("big_models"), DOCS / "big_models.md"
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"{page.name} lacks the markers {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n{table(result)}\n{END}{after}")
    plot(result)


def main() -> None:
    """Measure all models, or print one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs=2, metavar=("KIND", "N"), help="measure one model in this process, print JSON")
    parser.add_argument("--docs", action="store_true", help="rewrite the page from the stored result")
    chosen = parser.parse_args()
    if chosen.only:
        print(json.dumps(measure(chosen.only[0], int(chosen.only[1]))))
        return
    if not chosen.docs:
        rows = []
        for kind, n in CASES:
            row = in_a_process(kind, n)
            rows.append(row)
            shown = ", ".join(
                f"{name} {engine} {each['median'] / row['n'] * 1e9:.1f}"
                for name, engines in row["seconds"].items()
                for engine, each in engines.items()
            )
            compiled = ", ".join(f"{each['cpu']:.1f}" for each in row["compile"].values())
            print(f"{kind} {n}: compiled in {compiled} s; ns per body: {shown}", flush=True)
        about = {"machine": machine(), "versions": versions(("kinetree", "numpy", "llvmlite", "pin", "mujoco"))}
        store.write("big_models", {**about, "repeats": 7, "batch": BATCH, "tolerance": TOLERANCE, "rows": rows})
    write_docs()


if __name__ == "__main__":
    main()
