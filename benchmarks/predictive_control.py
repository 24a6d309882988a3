"""Predictive control in closed loop: time per control step, and its rollouts against MuJoCo's.

The closed loops are those of ``examples/42_reach_around_an_obstacle.py`` (seven joints with stops, MPPI, 20 steps of 20
ms) and ``examples/43_trot_by_sampling.py`` (a quadruped on four feet with friction, 20 controls of two steps of 10 ms,
float32), on two threads. Each gives the wall time of all of its control steps, and what it reached. Beside them stand
the rollouts of one control step alone, in kinetree and by `mujoco.rollout` with as many threads: the same forces from
the same state, in CPU time of all threads. The arm has no stops there; both engines must end in the same states to
rounding. MuJoCo's contact is soft: with steps of 1 ms and contact as stiff as they allow, half of the quadruped's
motions must end within 3 cm; how far steps of 10 ms are from those of 1 ms is measured for each engine. Last come the
searches of iLQR and DDP.
``python -m benchmarks.predictive_control`` writes ``benchmarks/results/predictive_control.json`` and the figure of
``docs/predictive_control.md``; ``--quick`` checks the harness and says nothing about speed.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import os
import statistics
import time

import numpy as np

from benchmarks import environments, machine, store, timing
from benchmarks.rollout import WrongAnswer
from benchmarks.table import ROOT, machine_line, put

THREADS, SEED = 2, 20261128
SAMPLES, QUICK = {"arm": (1024, 4096), "quadruped": (256, 1024, 4096)}, {"arm": (64,), "quadruped": (32,)}
CONTROLS, DT, SUBSTEPS, SMALL = 20, 0.02, {"arm": 1, "quadruped": 2}, 20
FIGURE = ROOT / "docs" / "predictive_control.svg"


def example(name: str):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def quantiles(reports) -> dict[str, float]:
    """Wall times of control steps [s], without the first one, which compiles."""
    seconds = [report.seconds for report in reports[1:]]
    return {"median": float(np.median(seconds)), "99 %": float(np.quantile(seconds, 0.99)), "most": max(seconds)}


class Arm:
    """The arm of the example: its closed loop, and rollouts without stops in both engines."""

    name = "arm"

    def __init__(self, kt) -> None:
        import mujoco

        from tests.engines.mujoco_bridge import MujocoBridge

        self.kt, self.example = kt, example("42_reach_around_an_obstacle")
        self.model = self.example.ARM.without_limits().replace(dry_friction=0.0)
        self.q = np.array([0.7, 0.5, 0.0, 1.2, 0.0, 1.2, 0.0])
        self.joints, self.force = None, 6.0 * np.diagonal(kt.crba(self.model, self.q))
        self.hold = kt.gravity_forces(self.model, self.q)
        written = kt.io.to_mjcf(self.model, meshes="drop", unsupported="drop")
        self.bridge = MujocoBridge(self.model, mujoco.MjModel.from_xml_string(written))

    def closed_loop(self, samples: int) -> dict[str, object]:
        """Times and what is reached; curves for the figure."""
        points, off, gap, mppi = self.example.moved(self.example.reach_around, samples)
        reached = f"{1e3 * np.linalg.norm(off):.0f} mm from the goal, {1e3 * gap:.0f} mm from the ball"
        return {"seconds": quantiles(mppi.reports), "curves": (points, mppi.reports), "reached": reached}

    def verify(self) -> dict[str, float]:
        """How far the motions of both engines end apart [rad]: to rounding."""
        own, rival = rollouts(self, 64)
        apart = float(np.abs(own() - rival()).max())
        if not apart < 1e-9:
            raise WrongAnswer(f"arm: both engines end {apart:.1e} rad apart")
        return {"apart": apart}


class Quadruped:
    """The quadruped of the example: its closed loop, and rollouts with contact in both engines."""

    name = "quadruped"

    def __init__(self, kt) -> None:
        self.kt, self.example = kt, example("43_trot_by_sampling")
        self.model, self.q = self.example.ROBOT, self.example.STAND
        self.joints, self.force, self.hold = self.model.joint_names[1:], 10.0, 0.0
        self.bridge = environments.feet(kt, self.example.TASK)

    def closed_loop(self, samples: int) -> dict[str, object]:
        """Times and what is reached; curves for the figure."""
        run, mppi = self.example.walked(samples)
        speed = np.ptp(run.q[100:, 0]) / np.ptp(run.time[100:])
        reached = f"{speed:.2f} of {self.example.SPEED} m/s"
        return {"seconds": quantiles(mppi.reports), "curves": (run, mppi.reports), "reached": reached}

    def verify(self) -> dict[str, float]:
        """Distances of the trunks at the end [m]: of both engines with small steps, of large steps from small ones."""
        mj, own, rival = self.bridge.mj_model, {}, {}
        for substeps in (SUBSTEPS[self.name], SMALL):
            soft = mj.geom_solref.copy(), mj.geom_solimp.copy()
            own[substeps], rival[substeps] = (run()[:, :3] for run in rollouts(self, 64, substeps=substeps))
            mj.geom_solref[:], mj.geom_solimp[:] = (2.0 * DT / substeps, 1.0), (0.99, 0.9999, 0.001, 0.5, 2.0)
            stiff = rollouts(self, 64, substeps=substeps)[1]()[:, :3]
            mj.geom_solref[:], mj.geom_solimp[:] = soft
        between = lambda a, b: float(np.median(np.linalg.norm(a - b, axis=1)))  # noqa: E731
        found = {"apart": between(own[SMALL], stiff)}
        if not found["apart"] < 0.03:
            raise WrongAnswer(f"quadruped: with small steps the trunks end {found['apart']:.1e} m apart")
        for name, ends in (("kinetree", own), ("mujoco", rival)):
            found[f"{name}, steps of 10 ms"] = between(ends[SUBSTEPS[self.name]], ends[SMALL])
        return found


def rollouts(task, samples: int, dtype=np.float64, substeps: int | None = None):
    """The rollouts of a control step by each engine: functions that give the last positions (N, nq)."""
    import mujoco
    from mujoco import rollout

    from kinetree.predictive_control.controlled_rollout import ControlledRollout

    substeps, model = substeps or SUBSTEPS[task.name], task.model
    own = ControlledRollout(
        "benchmark", model, DT, CONTROLS, task.joints, "model", substeps, threads=THREADS, dtype=dtype,
        integrator="semi_implicit" if task.joints is None else "auto",
    )  # fmt: skip
    noise = np.random.default_rng(SEED).standard_normal((samples, CONTROLS, own.nu))
    u = own.clipped(task.hold + task.force * noise)
    mj, there, nq, nv = task.bridge.mj_model, task.bridge.there, model.nq, model.nv
    start = np.zeros((samples, mujoco.mj_stateSize(mj, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + nq] = there.q_to(task.q)
    forces = np.ascontiguousarray(there.tau_to(task.q, own.forces(u)).repeat(substeps, axis=1))
    out = np.empty((samples, CONTROLS * substeps, start.shape[1]))
    mj.opt.timestep = DT / substeps
    models, data = [mj] * samples, [mujoco.MjData(mj) for _ in range(THREADS)]
    pool, rest = rollout.Rollout(nthread=THREADS), np.zeros(nv)

    def by_kinetree():
        return own.motions(0.0, task.q, rest, u).q[:, -1]

    def by_mujoco():
        pool.rollout(models, data, start, forces, control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED),
                     nstep=CONTROLS * substeps, state=out, skip_checks=True)  # fmt: skip
        return there.q_from(out[:, -1, 1 : 1 + nq])

    return by_kinetree, by_mujoco


def measured(task, samples: int, repeats: int) -> dict[str, object]:
    """A row: the closed loop, and the rollouts of a control step."""
    single, rival = rollouts(task, samples, np.float32)
    double, _ = rollouts(task, samples)
    runs = {"kinetree": double, "kinetree, float32": single, "mujoco": rival}
    for run in runs.values():
        run()
    times = {name: [] for name in runs}
    for k in range(repeats):
        for name in [*runs][k % 3 :] + [*runs][: k % 3]:
            began = time.process_time()
            runs[name]()
            times[name].append(time.process_time() - began)
    ratios = {name: timing.ratios(times["mujoco"], times[name]) for name in runs if name != "mujoco"}
    row = {"task": task.name, "samples": samples, **task.closed_loop(samples), "ratios": ratios,
           "rollouts": {name: timing.summary(each) for name, each in times.items()}}  # fmt: skip
    shown = ", ".join(f"{name} {1e3 * each['median']:.1f} ms" for name, each in row["rollouts"].items())
    step = ", ".join(f"{name} {1e3 * each:.1f} ms" for name, each in row["seconds"].items())
    print(f"{task.name}, {samples}: control step {step}; {row['reached']}; rollouts {shown}", flush=True)
    return row


def panda(kt, method: str):
    """A reach of the panda by 1 s of 50 steps, with the costs of the arm's example but for its joint limits."""
    from tests.engines.robots import robot_path

    model = kt.load(robot_path("panda"), inertia="accept", unsupported="drop")
    model = kt.surgery.lock(model, [name for name in model.joint_names if "finger" in name]).without_limits()
    goal, q0 = (0.3, 0.5, 0.3), np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.5])

    def effort(s):
        return 1e-3 * sum(x * x for x in s.tau) + 1e-2 * sum(x * x for x in s.v)

    def there_at_rest(s):
        p = s.point("panda_hand")
        return 2000.0 * sum((p[k] - goal[k]) ** 2 for k in range(3)) + 10.0 * sum(x * x for x in s.v)

    options = {"dt": DT, "horizon": 50, "integrator": "semi_implicit", "method": method}
    solve = kt.control.iLQR(model, effort, there_at_rest, **options)
    return lambda: solve(q0, plan=kt.gravity_forces(model, q0))


def searches(kt, repeats: int) -> list[dict[str, object]]:
    """iLQR and DDP of the examples and of the panda: iterations, time of one, gradient that is left."""
    reach, swing = example("44_reach_by_ilqr"), example("45_swing_up_by_ddp")
    cases = {f"panda, {name}": panda(kt, name.lower()) for name in ("iLQR", "DDP")}
    cases |= {"arm7, iLQR": reach.planned}
    cases |= {f"cart-pole, {name}": functools.partial(swing.swung_up, name.lower()) for name in ("iLQR", "DDP")}
    rows = []
    for name, solve in cases.items():
        found = [solve() for _ in range(repeats + 1)][1:]
        each = statistics.median(plan.seconds / plan.iterations for plan in found)
        rows.append({"search": name, "iterations": found[0].iterations, "seconds": each, "cost": found[0].cost,
                     "gradient": found[0].gradient, "message": found[0].message})  # fmt: skip
        print(f"{name}: {found[0].iterations} iterations of {1e3 * each:.1f} ms, {found[0].message}", flush=True)
    return rows


def measure(kt, cases, repeats: int) -> tuple[dict[str, object], dict[str, list]]:
    """All rows, and the curves of the figure."""
    tasks = Arm(kt), Quadruped(kt)
    verified = {task.name: task.verify() for task in tasks}
    print(verified, flush=True)
    rows = [measured(task, n, repeats) for task in tasks for n in cases[task.name]]
    curves: dict[str, list] = {}
    for row in rows:
        curves.setdefault(row["task"], []).append((row["samples"], *row.pop("curves")))
    result = {
        "verified": verified,
        "rows": rows,
        "searches": searches(kt, max(1, repeats // 5)),
        "machine": machine.machine(),
        "versions": machine.versions((*machine.PACKAGES, "mujoco")),
        "method": {"clock": "wall time; CPU time of all threads for rollouts", "threads": THREADS, "repeats": repeats,
                   "controls": CONTROLS, "dt": DT, "substeps": SUBSTEPS, "seed": SEED},
    }  # fmt: skip
    return result, curves


def draw(kt, curves) -> None:
    """The closed loops above, times per control step below."""
    import matplotlib.pyplot as plt

    plt.style.use(kt.viz.STYLE)
    fig, ((reach, trot), *below) = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    arm = example("42_reach_around_an_obstacle")
    reach.add_patch(plt.Circle(arm.BALL[:2], arm.RADIUS, alpha=0.4, label="ball"))
    for samples, points, _ in curves["arm"]:
        reach.plot(*points[0, :, :2].T, label=f"hand, {samples} samples")
    reach.set(title="arm around a ball", xlabel="x [m]", ylabel="y [m]", aspect="equal", xlim=(0.1, 1.3))
    for samples, run, _ in curves["quadruped"]:
        trot.plot(run.time, run.v[:, 3], label=f"{samples} samples")
    trot.axhline(0.5, linestyle="--", color="gray", label="asked for")
    trot.set(title="trot", xlabel="time [s]", ylabel="forward speed of the trunk [m/s]")
    for ax, name in zip(below[0], ("arm", "quadruped"), strict=True):
        for samples, _, reports in curves[name]:
            each = 1e3 * np.sort([report.seconds for report in reports[1:]])
            ax.step(each, np.arange(1, len(each) + 1) / len(each), where="post", label=f"{samples} samples")
        ax.axvline(1e3 * DT, linestyle="--", color="gray", label="real time")
        ax.set(xlabel="time per control step [ms]", ylabel="part of the control steps", xscale="log", ylim=(0, 1.02))
    for ax in fig.axes:
        ax.legend()
    fig.savefig(FIGURE, metadata={"Date": None})


def table(result: dict[str, object]) -> str:
    """The tables of ``docs/predictive_control.md``."""
    lines = ["| task | samples | control step, ms | 99 % | closed loop | its rollouts, float64, CPU ms | float32 "
             "| `mujoco.rollout`, CPU ms | ratio | float32 |",
             "| --- " + "| ---: " * 3 + "| --- " + "| ---: " * 5 + "|"]  # fmt: skip
    for row in result["rows"]:
        alone = [f"{1e3 * each['median']:.1f}" for each in row["rollouts"].values()]
        ratios = [f"**{each['median']:.0f}x**" for each in row["ratios"].values()]
        seconds = row["seconds"]
        lines.append(
            f"| {row['task']} | {row['samples']} | **{1e3 * seconds['median']:.1f}** | {1e3 * seconds['99 %']:.1f} "
            f"| {row['reached']} | {' | '.join((*alone, *ratios))} |"
        )
    arm, quadruped = (result["verified"][name] for name in ("arm", "quadruped"))
    off = [f"{1e3 * quadruped[f'{name}, steps of 10 ms']:.0f} mm" for name in ("kinetree", "mujoco")]
    lines += [
        "",
        f"Both engines end apart by {arm['apart']:.0e} rad (arm, largest) and {1e3 * quadruped['apart']:.0f} mm "
        f"(quadruped, steps of 1 ms, median). Steps of 10 ms, which are timed, end {off[0]} from those of 1 ms in "
        f"kinetree and {off[1]} in MuJoCo.",
        "",
        "| search | iterations | an iteration, ms | gradient left |",
        "| --- | ---: | ---: | ---: |",
    ]
    for row in result["searches"]:
        cells = f"{row['iterations']} | {1e3 * row['seconds']:.1f} | {row['gradient']:.0e}"
        lines.append(f"| {row['search']} | {cells} |")
    about = machine_line(result).replace("one core", f"{THREADS} threads")
    load = result["machine"]["load_average"][0]
    busy = " **Measured on a busy machine.**" if load > THREADS + 0.5 else ""
    return "\n".join([*lines, "", f"{about} Control steps and iterations: wall time. Load {load:.1f}.{busy}"])


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.predictive_control", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="check the harness: few samples, nothing is written")
    chosen = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"

    import kinetree as kt

    if chosen.quick:
        measure(kt, QUICK, 3)
        return
    result, curves = measure(kt, SAMPLES, chosen.repeats)
    print(f"wrote {store.write('predictive_control', result).name}")
    draw(kt, curves)
    put(ROOT / "docs" / "predictive_control.md", "predictive_control", table(store.read("predictive_control")))


if __name__ == "__main__":
    main()
