"""Forward dynamics of mechanisms with loops, against Pinocchio and MuJoCo; the cost of ladders.

``python -m benchmarks.loops`` proves kinetree's accelerations against the whole saddle-point matrix in extended
precision and Pinocchio's against kinetree's, and then times all of them interleaved. MuJoCo solves a softer problem, so
only its accelerations without constraints are compared. It writes ``benchmarks/results/loops.json``, and the table and
the plot of ``docs/loops.md``.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import time
from importlib.metadata import distribution

import numpy as np

from benchmarks import store, timing
from benchmarks.machine import machine, versions
from benchmarks.verify import WrongAnswer

STATES, BATCH, SEED = 16, 1024, 8
TOLERANCE = 1e-9  # of the largest acceleration, times the condition of the mass matrix over 1e5
LADDERS = (1, 2, 4, 8, 16, 32, 64, 128)
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


class Pinocchio:
    """constraintDynamics of the same tree, built joint by joint, with point constraints."""

    def __init__(self, kt, model) -> None:
        import pinocchio as pin

        self.pin, self.there, self.kt_model = pin, pin.Model(), model
        self.there.gravity.linear = np.array([float(x) for x in model.gravity])
        ends, self.parts = {0: 0}, []
        for i in _depth_first(model):
            X = model.X_T[i]
            placement, at = _se3(pin, X), ends[model.parent[i]]
            for n, made in enumerate(_joints(pin, model.joints[i])):
                at = self.there.addJoint(at, made, placement if n == 0 else pin.SE3.Identity(), f"{i}.{n}")
                self.parts.append((i, n, at))
            ends[i] = at
            I = model.I[i]
            if float(I.m) > 0.0:
                c = np.array([float(x) for x in I.com])
                about = np.array(I.I.matrix.rows, dtype=float) - float(I.m) * (c @ c * np.eye(3) - np.outer(c, c))
                self.there.appendBodyToJoint(at, pin.Inertia(float(I.m), c, about), pin.SE3.Identity())
        self.data, contacts = self.there.createData(), []
        for loop in model.loops:
            sides = []
            for name, X in ((loop.predecessor, loop.X_P), (loop.successor, loop.X_S)):
                frame = model.frame(name)
                sides += [ends[frame.body], _se3(pin, X @ frame.X_FB)]
            contacts.append(
                pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.there, *sides, pin.ReferenceFrame.LOCAL)
            )
        self.contacts = pin.StdVec_RigidConstraintModel(contacts)
        self.found = pin.StdVec_RigidConstraintData([c.createData() for c in contacts])
        self.settings = pin.ProximalSettings(1e-12, 1e-10, 10)
        pin.initConstraintDynamics(self.there, self.data, self.contacts, self.found)

    def q(self, q) -> np.ndarray:
        """Positions."""
        found = np.empty(self.there.nq)
        for i, n, j in self.parts:
            mine, joint = q[self.kt_model.q_slice[i]], self.there.joints[j]
            x = mine if joint.nq != 1 else mine[n : n + 1]
            if joint.nq == 7:  # position, and quaternion w first
                x = [*x[:3], *x[4:], x[3]]
            elif joint.nq == 4:
                x = [*x[1:], x[0]]
            found[joint.idx_q : joint.idx_q + joint.nq] = x
        return found

    def v(self, v, back: bool = False) -> np.ndarray:
        """Velocities, accelerations or forces, or ``back``."""
        found = np.empty(self.there.nv)
        for i, n, j in self.parts:
            slot, joint = self.kt_model.v_slice[i], self.there.joints[j]
            mine = range(slot.start, slot.stop) if joint.nv > 1 else range(slot.start + n, slot.start + n + 1)
            theirs = range(joint.idx_v, joint.idx_v + joint.nv)
            if joint.nv == 6:  # linear before angular
                theirs = [*theirs[3:], *theirs[:3]]
            for k, m in zip(mine, theirs, strict=True):
                found[k if back else m] = v[m if back else k]
        return found

    def call(self, q, v, tau):
        """Accelerations in its order."""
        return self.pin.constraintDynamics(self.there, self.data, q, v, tau, self.contacts, self.found, self.settings)


def _depth_first(model, i: int = 0):
    """The bodies in Pinocchio's order, in which those of a subtree follow each other."""
    for child in model.children(i):
        yield child
        yield from _depth_first(model, child)


def _se3(pin, X):
    return pin.SE3(np.array(X.E.matrix.rows, dtype=float).T, np.array([float(x) for x in X.r]))


def _joints(pin, joint) -> list:
    """One joint, or one after the other."""
    kind = type(joint).__name__
    if kind == "Free":
        return [pin.JointModelFreeFlyer()]
    if kind == "Spherical":
        return [pin.JointModelSpherical()]
    if kind == "Universal":
        return [pin.JointModelRX(), pin.JointModelRY()]
    if kind == "Fixed":
        return []
    axis = np.array([float(x) for x in joint.axis])
    aligned = {(0.0, 0.0, 1.0): "Z", (0.0, 1.0, 0.0): "Y", (1.0, 0.0, 0.0): "X"}.get(tuple(axis))
    letter = {"Revolute": "R", "Prismatic": "P"}[kind]
    if aligned:
        return [getattr(pin, f"JointModel{letter}{aligned}")()]
    return [getattr(pin, f"JointModel{kind}Unaligned")(axis)]


class MuJoCo:
    """mj_forward of the MJCF file that kinetree writes."""

    def __init__(self, kt, model) -> None:
        import mujoco as mj

        self.mj, self.kt, self.model = mj, kt, model
        self.there = mj.MjModel.from_xml_string(kt.io.to_mjcf(model))
        self.there.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT  # of shapes with each other
        self.data, self.parts = mj.MjData(self.there), []
        for i in model.outward():
            name, joint = model.joint_name(i), model.joints[i]
            several = joint.nv > 1 and type(joint).__name__ == "Universal"
            names = [f"{name}_{n + 1}" for n in range(joint.nv)] if several else [name] * (joint.nv > 0)
            self.parts += [(i, n, self.there.joint(each)) for n, each in enumerate(names)]
        self.plain = [model.v_slice[i].start + n for i, n, _ in self.parts if type(model.joints[i]).__name__ != "Free"]

    def state(self, q, v, tau) -> tuple[np.ndarray, ...]:
        """Positions, velocities and forces of a state."""
        found = np.zeros(self.there.nq), np.zeros(self.there.nv), np.zeros(self.there.nv)
        for i, n, joint in self.parts:
            at_q, at_v = joint.qposadr[0], joint.dofadr[0]
            mine, free = self.model.v_slice[i], type(self.model.joints[i]).__name__ == "Free"
            if free:  # in the world, linear before angular
                R, p = self.kt.pose(self.model, q, frame=self.model.body_names[i])
                self.mj.mju_mat2Quat(quaternion := np.empty(4), np.ascontiguousarray(R).ravel())
                found[0][at_q : at_q + 7] = [*p, *quaternion]
            else:
                found[0][at_q] = q[self.model.q_slice[i].start + n]
            for theirs, x in zip(found[1:], (v, tau), strict=True):
                theirs[at_v : at_v + 6] = [*(R @ x[mine][3:]), *x[mine][:3]] if free else theirs[at_v : at_v + 6]
                theirs[at_v] = theirs[at_v] if free else x[mine.start + n]
        return found

    def smooth(self) -> np.ndarray:
        """The last accelerations without constraints, of all but free joints."""
        return np.array([
            self.data.qacc_smooth[joint.dofadr[0]] for i, _, joint in self.parts
            if type(self.model.joints[i]).__name__ != "Free"
        ])  # fmt: skip

    def call(self, q, v, tau):
        """Accelerations in its order."""
        data = self.data
        data.qpos, data.qvel, data.qfrc_applied = q, v, tau
        self.mj.mj_forward(self.there, data)
        return data.qacc


def measure(name: str, repeats: int, block: float) -> dict:
    """Verify and time one mechanism."""
    import kinetree as kt

    model = CASES[name](kt).replace(stiffness=0.0, damping=0.0, dry_friction=0.0)
    rng = np.random.default_rng(SEED)
    q, v, tau = closed_states(kt, model, rng)
    f = kt.compile(model, "forward_dynamics", checks=False)
    exact = np.array([reference(kt, model, *state) for state in zip(q, v, tau, strict=True)])
    scale, out = np.abs(exact).max(), np.empty(model.nv)
    errors = {"kinetree": float(np.abs(f(q, v, tau) - exact).max() / scale)}
    allowed = TOLERANCE * max(1.0, max(np.linalg.cond(kt.crba(model, x)) for x in q) / 1e5)
    if not errors["kinetree"] <= allowed:
        raise WrongAnswer(f"{name}: error {errors['kinetree']:.1e}, tolerance {allowed:.1e}")
    rows = [tuple(np.ascontiguousarray(x) for x in state) for state in zip(q, v, tau, strict=True)]
    many = [np.resize(x, (BATCH, x.shape[1])) for x in (q, v, tau)]
    batch_out = np.empty((BATCH, model.nv))
    contenders = {
        "kinetree": _calls(lambda k: f(*rows[k], out=out)),
        "kinetree, batch": lambda n: [f(*many, out=batch_out) for _ in range(n)],
    }
    there = Pinocchio(kt, model)
    states = [(there.q(a), there.v(b), there.v(c)) for a, b, c in rows]
    found = np.array([there.v(there.call(*state), back=True) for state in states])
    errors["Pinocchio"] = float(np.abs(found - exact).max() / scale)
    if errors["Pinocchio"] < 1e-3:
        contenders["Pinocchio"] = _calls(lambda k: there.call(*states[k]))
    soft = MuJoCo(kt, model)
    theirs, tree = [soft.state(*row) for row in rows], model.replace(constraints=())
    for k, state in enumerate(theirs[:4]):
        soft.call(*state)
        error = np.abs(soft.smooth() - kt.forward_dynamics(tree, *rows[k])[soft.plain]).max() / scale
        errors["MuJoCo, tree"] = max(errors.get("MuJoCo, tree", 0.0), float(error))
    if errors["MuJoCo, tree"] < 1e-6:
        contenders["MuJoCo"] = _calls(lambda k: soft.call(*theirs[k]))
    units = {engine: BATCH if engine == "kinetree, batch" else STATES for engine in contenders}
    times = timing.interleaved(contenders, units, repeats, block)
    return {
        "name": name, "nv": model.nv, "rows": len(model.loop_rows().coordinates), "errors": errors,
        "operations": f.operations.total, "seconds": {engine: timing.summary(x) for engine, x in times.items()},
    }  # fmt: skip


def _calls(method):
    def run(n: int) -> None:
        for _ in range(n):
            for k in range(STATES):
                method(k)

    return run


def ladder(n: int, repeats: int, block: float) -> dict:
    """Operations and time of a ladder of n cells, and of its tree."""
    import kinetree as kt

    model, rng = kt.models.ladder(n), np.random.default_rng(SEED)
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
        raise WrongAnswer(f"ladder of {n} cells: error {error:.1e}, tolerance {TOLERANCE:.0e}")
    tree = kt.compile(model.replace(constraints=()), "aba", checks=False)
    many = [np.tile(x, (BATCH, 1)) for x in (q, v, tau)]
    contenders = {"loops": lambda k: [f(*many) for _ in range(k)], "tree": lambda k: [tree(*many) for _ in range(k)]}
    times = timing.interleaved(contenders, BATCH, repeats, block)
    return {
        "n": n, "nv": model.nv, "operations": f.operations.total, "tree": tree.operations.total, "compile": seconds,
        "error": error, "seconds": {what: timing.summary(x) for what, x in times.items()},
    }  # fmt: skip


def table(result: dict) -> str:
    """Markdown: microseconds per call, nanoseconds per state of a batch, and ratios."""
    lines = [
        "| mechanism | nv | rows | operations | call [us] | batch [ns] | Pinocchio [us] | MuJoCo [us] "
        "| fastest / call | fastest / batch | error | Pinocchio's |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        t = {engine: each["median"] for engine, each in row["seconds"].items()}
        cells = [row["name"], row["nv"], row["rows"], row["operations"], f"{t['kinetree'] * 1e6:.2f}"]
        cells += [f"{t['kinetree, batch'] * 1e9:.0f}"]
        cells += [f"{t[engine] * 1e6:.1f}" if engine in t else "" for engine in ("Pinocchio", "MuJoCo")]
        fastest = min(t[engine] for engine in ("Pinocchio", "MuJoCo") if engine in t)
        cells += [f"{fastest / t['kinetree']:.1f}", f"{fastest / t['kinetree, batch']:.0f}"]
        cells += [f"{row['errors']['kinetree']:.0e}", f"{row['errors']['Pinocchio']:.0e}"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "| cells | nv | operations | tree | batch [ns] | tree [ns] | compile [s] |",
              "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]  # fmt: skip
    for row in result["ladders"]:
        ns = [f"{row['seconds'][what]['median'] * 1e9:.0f}" for what in ("loops", "tree")]
        cells = [row["n"], row["nv"], row["operations"], row["tree"], *ns, f"{row['compile']:.1f}"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    about, used = result["machine"], result["versions"]
    lines += [
        "",
        f"CPU time of one core, medians of {result['repeats']} interleaved repeats; batches of {BATCH} states; all at "
        "closed states, without checks. Error: of accelerations relative to the largest one, against extended "
        f"precision. {about['processor']}, Python {about['python']}, Pinocchio {used['pin']} (constraintDynamics, "
        f"mu 1e-10, at most 10 iterations), MuJoCo {used['mujoco']} (mj_forward, its own softer constraints), called "
        f"from Python; {result['date']}.",
    ]
    return "\n".join(lines)


def plot(result: dict) -> None:
    """Operations and time of ladders against the number of cells."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "kinetree", "svg.fonttype": "none", "font.size": 8})
    import matplotlib.pyplot as plt

    rows = result["ladders"]
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.0), layout="constrained")
    n = [row["n"] for row in rows]
    axes[0].loglog(n, [row["operations"] for row in rows], ".-", label="forward_dynamics, loops closed")
    axes[0].loglog(n, [row["tree"] for row in rows], ".-", label="aba of the tree")
    axes[0].set_ylabel("operations")
    for what, label in (("loops", "loops closed"), ("tree", "tree")):
        axes[1].loglog(n, [row["seconds"][what]["median"] * 1e9 for row in rows], ".-", label=label)
    axes[1].set_ylabel("ns per state of a batch")
    for axis in axes:
        axis.set_xlabel("cells of the ladder")
        axis.grid(alpha=0.3)
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
    """Measure all mechanisms and ladders, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", action="store_true", help="rewrite the page from the stored result")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--block", type=float, default=timing.BLOCK)
    chosen = parser.parse_args()
    if not chosen.docs:
        os.environ["KINETREE_NUM_THREADS"] = "1"
        rows = [measure(name, chosen.repeats, chosen.block) for name in CASES]
        ladders = [ladder(n, chosen.repeats, chosen.block) for n in LADDERS]
        used = versions(("kinetree", "numpy", "llvmlite", "pin", "mujoco"))
        store.write(
            "loops",
            {"machine": machine(), "versions": used, "repeats": chosen.repeats, "rows": rows, "ladders": ladders},
        )
    write_docs()
    print(table(store.read("loops")))


if __name__ == "__main__":
    main()
