"""Rollouts against MuJoCo's: N states of a robot taken through T steps under given joint forces.

Both engines read the same URDF text and take the same steps: MuJoCo's Euler integrator is kinetree's semi-implicit one
for robots with hinges and slides only, so bases and fingers are fixed. Contacts, limits and dry friction are off. The
last states of both must agree before anything is timed. ``python -m benchmarks.rollout`` writes
``benchmarks/results/rollout.json``; ``--quick`` checks that the harness works and says nothing about speed.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import time

import numpy as np

from benchmarks import machine, store, timing

ROBOTS = {"panda": 4096, "solo12": 4096, "talos_reduced": 1024}  # how many states are taken at a time
STEPS, DT, SEED = 100, 1e-3, 20080101
CALL_STATES = 8  # states that are stepped one call at a time
TOLERANCE = 1e-9  # rounding of each step, grown by the motion's own sensitivity over a tenth of a second


class WrongAnswer(AssertionError):
    """A contender does not compute the motion; nothing is timed."""


class Task:
    """One robot in both engines, with starts and joint forces.

    Parameters
    ----------
    kt : module
        kinetree.
    robot : str
    states, steps : int
    """

    def __init__(self, kt, robot: str, states: int, steps: int) -> None:
        import mujoco

        from tests.engines.mujoco_bridge import MujocoBridge, mujoco_model
        from tests.engines.robots import robot_path

        with open(robot_path(robot), encoding="utf-8") as file:
            text = re.sub(r"<mimic [^>]*/>", "", file.read())
        text = re.sub(r'(<joint name="[^"]*finger_joint[^"]*" type=")prismatic"', r'\1fixed"', text)
        self.kt, self.robot, self.n, self.steps = kt, robot, states, steps
        model = kt.load(text, floating_base=False, inertia="accept").without_limits()
        self.model = model.replace(dry_friction=0.0)
        self.bridge = MujocoBridge(self.model, mujoco_model(text))
        self.mj_model, self.mujoco = self.bridge.mj_model, mujoco
        self.mj_model.opt.timestep = DT
        rng = np.random.default_rng(SEED)
        self.q0 = rng.uniform(-1.0, 1.0, (states, self.model.nq))
        self.v0 = rng.uniform(-1.0, 1.0, (states, self.model.nv))
        inertia = np.diagonal(kt.crba(self.model, self.model.neutral()))
        self.tau = 10.0 * inertia * rng.standard_normal((states, steps, self.model.nv))  # about 10 rad/s^2
        self.order = self.bridge.q_to_mujoco(np.arange(self.model.nq)).astype(int)  # the same for q and v: hinges
        start = np.zeros((states, mujoco.mj_stateSize(self.mj_model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        nq, nv = self.model.nq, self.model.nv
        start[:, 1 : 1 + nq], start[:, 1 + nq : 1 + nq + nv] = self.q0[:, self.order], self.v0[:, self.order]
        self.mj_start, self.mj_tau = start, np.ascontiguousarray(self.tau[..., self.order])
        self.mj_states = np.empty((states, steps, start.shape[1]))

    # --- the contenders, each leaving the last states -------------------------------------------------------------

    def kinetree(self, threads: int = 1, dtype: str = "float64", every: int = 1, integrator: str = "semi_implicit"):
        """The rollout, into arrays that are there."""
        roll = self.kt.Rollout(self.model, integrator, threads=threads)
        arrays = [x.astype(dtype) for x in (self.q0, self.v0, self.tau)]
        rows = self.steps // every + 1
        out = tuple(np.empty((self.n, rows, x.shape[-1]), dtype) for x in arrays[:2])

        def run():
            return tuple(x[:, -1] for x in roll(*arrays, DT, every=every, out=out))

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

    def mujoco_rollout(self, threads: int = 1):
        """MuJoCo's own rollout, into an array that is there, its threads kept between calls."""
        from mujoco import rollout

        mj = self.mujoco
        models, data = [self.mj_model] * self.n, [mj.MjData(self.mj_model) for _ in range(threads)]
        pool = rollout.Rollout(nthread=threads if threads > 1 else 0)
        nq, nv = self.model.nq, self.model.nv
        back = np.argsort(self.order)

        def run():
            pool.rollout(
                models,
                data,
                self.mj_start,
                self.mj_tau,
                control_spec=int(mj.mjtState.mjSTATE_QFRC_APPLIED),
                nstep=self.steps,
                state=self.mj_states,
                skip_checks=True,
            )
            last = self.mj_states[:, -1]
            return last[:, 1 : 1 + nq][:, back], last[:, 1 + nq : 1 + nq + nv][:, back]

        return run

    def verify(self) -> dict[str, float]:
        """Largest differences of the last states from MuJoCo's, relative to the largest entry."""
        reference = [x.copy() for x in self.mujoco_rollout()()]
        roads = {
            "rollout": (self.kinetree(), TOLERANCE),
            "rollout, 2 threads": (self.kinetree(threads=2), TOLERANCE),
            "rollout, last state only": (self.kinetree(every=self.steps), TOLERANCE),
            "rollout, float32": (self.kinetree(dtype="float32"), 1e-2),
            "rollout, rk4": (self.kinetree(integrator="rk4"), 1e-1),  # another method: it agrees to its step
            "step in batches": (self.batches(), TOLERANCE),
            "step by calls": (self.calls(), TOLERANCE),
        }
        errors = {}
        for name, (run, tolerance) in roads.items():
            worst = 0.0
            for found, expected in zip(run(), reference, strict=True):
                error = np.abs(found - expected[: len(found)]).max() / np.abs(expected).max()
                worst = max(worst, float(error)) if np.isfinite(error) else np.inf
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
            "step in batches": task.batches(),
            "mujoco rollout": task.mujoco_rollout(),
        }
        times = timing.interleaved({name: repeated(run) for name, run in one_core.items()}, units, repeats)
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
            "wall seconds": {name: timing.summary(each) for name, each in threaded.items()},
        }
        rows.append(row)
        shown = ", ".join(f"{name} {1e9 * statistics.median(each):.0f}" for name, each in (times | threaded).items())
        print(f"{robot} ({task.model.nv}): {row['mujoco / rollout']['median']:.1f}x; ns per step: {shown}", flush=True)
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


if __name__ == "__main__":
    main()
