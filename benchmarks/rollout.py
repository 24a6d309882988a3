"""Rollouts against MuJoCo's: N states of a robot taken through T steps under given joint forces.

MuJoCo's model is the one that kinetree read, written by `to_mjcf` (so links that do not move are merged in both), and
both take the same steps: MuJoCo's Euler and RK4 are kinetree's semi-implicit Euler and RK4 for robots with hinges and
slides only, whose bases and fingers are fixed. With a free base ("floating") they differ by what the methods are off,
as MuJoCo counts its velocity in the world's axes. Contacts, limits and dry friction are off. The last states of both
must agree before anything is timed. ``python -m benchmarks.rollout`` writes ``benchmarks/results/rollout.json``;
``--quick`` checks that the harness works and says nothing about speed.
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import statistics
import time

import numpy as np

from benchmarks import machine, store, timing
from benchmarks.table import ROOT, machine_line, put

ROBOTS = {  # how many states are taken at a time
    "panda": 4096,
    "solo12": 4096,
    "anymal_b": 4096,
    "anymal_b floating": 2048,
    "talos_reduced": 1024,
    "talos_reduced floating": 1024,
}
STEPS, DT, SEED = 100, 1e-3, 20080101
CALL_STATES = 8  # states that are stepped one call at a time
SLOW_STATES = 512  # states of MuJoCo's RK4, at most: a state takes it as long in every batch
TOLERANCE = 1e-9  # rounding of each step, grown by the motion's own sensitivity over a tenth of a second
FLOATING = {"semi_implicit": 2e-2, "rk4": 1e-6}  # what the methods are off in that time, relative


def plain_urdf(robot: str, damping: float | None = None) -> str:
    """The URDF of a robot of ``ROBOTS`` with fingers fixed; other damping of its joints [N m s/rad] if given."""
    from tests.engines.robots import robot_path

    with open(robot_path(robot.partition(" ")[0]), encoding="utf-8") as file:
        text = re.sub(r"<mimic [^>]*/>", "", file.read())
    text = re.sub(r'(<joint name="[^"]*finger_joint[^"]*" type=")prismatic"', r'\1fixed"', text)
    return text if damping is None else re.sub(r' damping="[^"]*"', f' damping="{damping}"', text)


def plain_robot(kt, robot: str, damping: float | None = None):
    """The same as a model without limits and dry friction."""
    text = plain_urdf(robot, damping)
    model = kt.load(text, floating_base=robot.endswith(" floating"), inertia="accept").without_limits()
    return model.replace(dry_friction=0.0)


class WrongAnswer(AssertionError):
    """A contender does not compute the motion; nothing is timed."""


class Task:
    """One robot in both engines, with starts and joint forces.

    Parameters
    ----------
    kt : module
        kinetree.
    robot : str
        A key of ``ROBOTS``.
    states, steps : int
    """

    def __init__(self, kt, robot: str, states: int, steps: int) -> None:
        import mujoco

        from tests.engines.mujoco_bridge import MujocoBridge

        floating = robot.endswith(" floating")
        self.kt, self.robot, self.n, self.steps = kt, robot, states, steps
        self.model = plain_robot(kt, robot)
        written = kt.io.to_mjcf(self.model, meshes="drop", unsupported="drop")
        self.bridge = MujocoBridge(self.model, mujoco.MjModel.from_xml_string(written))
        self.mj_model, self.mujoco, self.floating = self.bridge.mj_model, mujoco, floating
        self.mj_model.opt.timestep = DT
        rng = np.random.default_rng(SEED)
        nq, nv = self.model.nq, self.model.nv
        self.v0 = rng.uniform(-1.0, 1.0, (states, nv))
        self.q0 = kt.integrate(self.model, self.model.neutral(), rng.uniform(-1.0, 1.0, (states, nv)))
        inertia = np.diagonal(kt.crba(self.model, self.model.neutral()))
        self.tau = 10.0 * inertia * rng.standard_normal((states, steps, nv))  # about 10 rad/s^2
        there = self.bridge.there
        if floating:
            self.tau[..., :6] = 0.0  # whose frame would turn within a step
        start = np.zeros((states, mujoco.mj_stateSize(self.mj_model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        start[:, 1 : 1 + nq] = there.q_to(self.q0)
        start[:, 1 + nq : 1 + nq + nv] = there.v_to(self.q0, self.v0)
        self.mj_start, self.mj_tau = start, np.ascontiguousarray(there.tau_to(self.q0[:, None], self.tau))
        self.mj_states = np.empty((states, steps, start.shape[1]))

    # --- the contenders, each leaving the last states -------------------------------------------------------------

    def kinetree(self, threads: int = 1, dtype: str = "float64", every: int = 1, integrator: str = "semi_implicit"):
        """The rollout, into arrays that are there."""
        roll = self.kt.simulation.Rollout(self.model, integrator, threads=threads)
        arrays = [x.astype(dtype) for x in (self.q0, self.v0, self.tau)]
        rows = self.steps // every + 1
        out = tuple(np.empty((self.n, rows, x.shape[-1]), dtype) for x in arrays[:2])

        record = self.kt.Record(every=every)

        def run():
            return tuple(x[:, -1] for x in roll(*arrays, DT, record=record, out=out))

        return run

    def batches(self):
        """The step as a compiled function, called for all states in every step."""
        f, dt = self.kt.compile(self.model, "semi_implicit_step", threads=1), np.array(DT)
        tau = np.ascontiguousarray(self.tau.transpose(1, 0, 2))
        outs = [tuple(np.empty_like(x) for x in (self.q0, self.v0)) for _ in range(2)]

        def run():
            q, v = self.q0, self.v0
            for t in range(self.steps):
                q, v = f(q, v, tau[t], dt, out=outs[t % 2])
            return q, v

        return run

    def calls(self):
        """The step as a compiled function, called for some of the states one by one."""
        f, dt = self.kt.compile(self.model, "semi_implicit_step"), np.array(DT)
        starts = [tuple(x[k].copy() for x in (self.q0, self.v0)) for k in range(CALL_STATES)]
        forces = [[row.copy() for row in self.tau[k]] for k in range(CALL_STATES)]

        def run():
            last = []
            for (q, v), tau in zip(starts, forces, strict=True):
                for row in tau:
                    q, v = f(q, v, row, dt)
                last.append((q, v))
            return tuple(np.array(x) for x in zip(*last, strict=True))

        return run

    def mujoco_rollout(self, threads: int = 1, integrator: str = "Euler", states: int | None = None):
        """MuJoCo's own rollout, into an array that is there, its threads kept between calls."""
        from mujoco import rollout

        mj = self.mujoco
        mj_model = copy.copy(self.mj_model)
        mj_model.opt.integrator = getattr(mj.mjtIntegrator, f"mjINT_{integrator.upper()}")
        models, data = [mj_model] * (states or self.n), [mj.MjData(mj_model) for _ in range(threads)]
        pool = rollout.Rollout(nthread=threads if threads > 1 else 0)
        nq, nv, there = self.model.nq, self.model.nv, self.bridge.there

        def run():
            pool.rollout(
                models,
                data,
                self.mj_start[:states],
                self.mj_tau[:states],
                control_spec=int(mj.mjtState.mjSTATE_QFRC_APPLIED),
                nstep=self.steps,
                state=self.mj_states[:states],
                skip_checks=True,
            )
            last = self.mj_states[:states, -1]
            q = there.q_from(last[:, 1 : 1 + nq])
            return q, there.v_from(q, last[:, 1 + nq : 1 + nq + nv])

        return run

    def mujoco_rk4(self):
        """The same with RK4, of fewer states."""
        return self.mujoco_rollout(integrator="RK4", states=min(self.n, SLOW_STATES))

    def verify(self) -> dict[str, float]:
        """Largest differences of the last states from MuJoCo's, relative to the largest entry."""
        references = {
            "semi_implicit": [x.copy() for x in self.mujoco_rollout()()],
            "rk4": [x.copy() for x in self.mujoco_rk4()()],
        }
        exact = FLOATING if self.floating else dict.fromkeys(FLOATING, TOLERANCE)
        euler = exact["semi_implicit"]
        runners = {
            "rollout": (self.kinetree(), "semi_implicit", euler),
            "rollout, 2 threads": (self.kinetree(threads=2), "semi_implicit", euler),
            "rollout, last state only": (self.kinetree(every=self.steps), "semi_implicit", euler),
            "rollout, float32": (self.kinetree(dtype="float32"), "semi_implicit", 2e-2),
            "rollout, rk4": (self.kinetree(integrator="rk4"), "rk4", exact["rk4"]),
            "rollout, dp54": (self.kinetree(integrator="dp54"), "rk4", 5e-2),  # another method: it agrees to its step
            "step in batches": (self.batches(), "semi_implicit", euler),
            "step by calls": (self.calls(), "semi_implicit", euler),
        }
        errors = {}
        for name, (run, method, tolerance) in runners.items():
            q, v = run()
            count = min(len(q), len(references[method][0]))
            q, v, reference_q, reference_v = (x[:count] for x in (q, v, *references[method]))
            off = self.kt.difference(self.model, reference_q, np.asarray(q, float)), v - reference_v
            sizes = max(1.0, np.abs(reference_q).max()), np.abs(reference_v).max()
            each = [float(np.abs(x).max() / size) for x, size in zip(off, sizes, strict=True)]
            worst = max(each) if np.isfinite(each).all() else np.inf
            if not worst <= tolerance:
                raise WrongAnswer(f"{self.robot}, {name}: off by {worst:.1e}, tolerance {tolerance:.1e}")
            errors[name] = worst
        return errors


def repeated(run):
    """``run(n)``: n times the work."""

    def runs(n):
        for _ in range(n):
            run()

    return runs


def wall(contenders: dict, units: int, repeats: int) -> dict[str, list[float]]:
    """Seconds of wall time per unit of work, interleaved: what several threads gain shows in no other clock."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for run in contenders.values():
        run()
    for _ in range(repeats):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - start) / units)
    return times


def measure(kt, robots: dict[str, int], steps: int, repeats: int) -> dict[str, object]:
    """Verify, then time, every robot; the result is what `store.write` writes."""
    rows = []
    for robot, states in robots.items():
        task = Task(kt, robot, states, steps)
        errors, units = task.verify(), states * steps
        one_core = {
            "rollout": task.kinetree(),
            "rollout, last state only": task.kinetree(every=steps),
            "rollout, float32": task.kinetree(dtype="float32"),
            "rollout, rk4": task.kinetree(integrator="rk4"),
            "rollout, dp54": task.kinetree(integrator="dp54"),
            "step in batches": task.batches(),
            "mujoco rollout": task.mujoco_rollout(),
            "mujoco rollout, rk4": task.mujoco_rk4(),
        }
        work = dict.fromkeys(one_core, units) | {"mujoco rollout, rk4": min(states, SLOW_STATES) * steps}
        times = timing.interleaved({name: repeated(run) for name, run in one_core.items()}, work, repeats)
        calls = timing.interleaved({"step by calls": repeated(task.calls())}, CALL_STATES * steps, repeats)
        cores = os.cpu_count() or 1
        threaded = wall(
            {
                "rollout, 1 thread": task.kinetree(),
                f"rollout, {cores} threads": task.kinetree(threads=cores),
                "mujoco rollout, 1 thread": task.mujoco_rollout(),
                f"mujoco rollout, {cores} threads": task.mujoco_rollout(threads=cores),
            },
            units,
            repeats,
        )
        times |= calls
        row = {
            "robot": robot,
            "nv": task.model.nv,
            "states": states,
            "steps": steps,
            "errors": errors,
            "seconds": {name: timing.summary(each) for name, each in times.items()},
            "mujoco / rollout": timing.ratios(times["mujoco rollout"], times["rollout"]),
            "mujoco / rollout, rk4": timing.ratios(times["mujoco rollout, rk4"], times["rollout, rk4"]),
            "states x steps per second": {name: 1.0 / statistics.median(each) for name, each in times.items()},
            "wall seconds": {name: timing.summary(each) for name, each in threaded.items()},
        }
        rows.append(row)
        shown = ", ".join(f"{name} {1e9 * statistics.median(each):.0f}" for name, each in (times | threaded).items())
        print(
            f"{robot} ({task.model.nv}): {row['mujoco / rollout']['median']:.1f}x, rk4 "
            f"{row['mujoco / rollout, rk4']['median']:.1f}x; ns per step: {shown}",
            flush=True,
        )
    return {
        "machine": machine.machine(),
        "versions": machine.versions((*machine.PACKAGES, "mujoco")),
        "method": {
            "clock": "CPU time of the process per state and step; wall time where threads are compared",
            "repeats": repeats,
            "dt": DT,
            "call_states": CALL_STATES,
            "seed": SEED,
        },
        "rows": rows,
    }


def table(result: dict[str, object]) -> str:
    """The table of ``docs/rollout.md``."""
    columns = {
        "rollout": "semi_implicit", "rollout, last state only": "last state only", "rollout, float32": "float32",
        "rollout, rk4": "rk4", "rollout, dp54": "dp54", "step in batches": "step in a Python loop: batches",
        "step by calls": "one by one", "mujoco rollout": "`mujoco.rollout`, Euler", "mujoco rollout, rk4": "RK4",
    }  # fmt: skip
    heads = [*columns.values(), "ratio, Euler", "ratio, RK4", "states x steps per second, semi_implicit", "rk4"]
    lines = ["| robot (nv), states | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    for row in result["rows"]:
        cells = [f"{1e9 * row['seconds'][name]['median']:.0f}" for name in columns]
        cells += [f"**{row[name]['median']:.0f}x**" for name in ("mujoco / rollout", "mujoco / rollout, rk4")]
        cells += [f"{row['states x steps per second'][name]:.2g}" for name in ("rollout", "rollout, rk4")]
        lines.append(f"| {row['robot']} ({row['nv']}), {row['states']} | " + " | ".join(cells) + " |")
    load = result["machine"]["load_average"][0]
    busy = " **Measured on a busy machine.**" if load > 2.0 else ""
    foot = (
        f"{machine_line(result)} Medians of {result['method']['repeats']} interleaved repeats. Load {load:.1f} on "
        f"{result['machine']['cores']} cores.{busy}"
    )
    return "\n".join([*lines, "", foot])


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rollout", description=__doc__.splitlines()[0])
    parser.add_argument("--robots", nargs="+", default=tuple(ROBOTS), choices=tuple(ROBOTS))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="check the harness: few states, nothing is written")
    chosen = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"

    import kinetree as kt

    if chosen.quick:
        measure(kt, dict.fromkeys(chosen.robots, 32), 10, 3)
        return
    path = store.write("rollout", measure(kt, {name: ROBOTS[name] for name in chosen.robots}, STEPS, chosen.repeats))
    print(f"wrote {path.name}")
    if len(chosen.robots) == len(ROBOTS):
        put(ROOT / "docs" / "rollout.md", "rollout", table(store.read("rollout")))


if __name__ == "__main__":
    main()
