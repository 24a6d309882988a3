"""Steps of mechanisms with loops: rollouts against MuJoCo's, single motions against Exudyn's, at equal step sizes.

``python -m benchmarks.loop_steps`` compares last states with those at a quarter of the step before anything is timed;
Exudyn's (``pip install exudyn``; left out if it is absent) must be off by its own error, which falls by 16 there. It
writes ``benchmarks/results/loop_steps.json`` and the tables of ``docs/loops.md``.
"""

from __future__ import annotations

import argparse
import copy
import os
import sys

import numpy as np

from benchmarks import store, timing
from benchmarks.loops import CASES
from benchmarks.machine import machine, versions
from benchmarks.rivals.mechanisms import MuJoCo
from benchmarks.table import ROOT, put
from benchmarks.verify import WrongAnswer

STATES, SLOW_STATES, STEPS, LONG, SEED = 1024, 64, 100, 500, 8
DT = {"leg of Cassie": 2.5e-4}  # [s], of others 1 ms: the leg has stiff springs
NAMES = ("four-bar", "slider-crank", "Stewart platform", "leg of Cassie")
SPEED = 0.5  # of random velocities [rad/s, m/s]


class Task:
    """One mechanism, from its keyframe with random velocities, without joint forces."""

    def __init__(self, kt, name: str) -> None:
        self.kt, self.name, self.dt = kt, name, DT.get(name, 1e-3)
        self.model = CASES[name](kt)  # the leg with its springs
        q, self.rest = self.model.keyframe("initial")
        rng = np.random.default_rng(SEED)
        self.q0 = np.tile(kt.closed_loops.project_position(self.model, q), (STATES, 1))
        v = SPEED * rng.standard_normal((STATES, self.model.nv))
        self.v0 = np.array([kt.closed_loops.project_velocity(self.model, self.q0[0], each) for each in v])
        self.roll = kt.simulation.Rollout(self.model, "rk4", threads=1)

    def verify(self) -> dict[str, float]:
        """The error of the last states, relative to the change, and the worst gap at the end."""
        last, _ = (x[:, -1] for x in self.roll(self.q0, self.v0, None, self.dt, steps=STEPS))
        few = slice(0, SLOW_STATES)
        fine = self.roll(self.q0[few], self.v0[few], None, self.dt / 4, steps=4 * STEPS)[0][:, -1]
        moved = np.abs(self.kt.difference(self.model, self.q0[few], fine)).max()
        error = float(np.abs(self.kt.difference(self.model, fine, last[few])).max() / moved)
        gap = max(float(np.abs(self.kt.closed_loops.error(self.model, q)).max()) for q in last)
        if not (error < 1e-4 and gap < 1e-10):
            raise WrongAnswer(f"{self.name}: error {error:.1e}, gap {gap:.1e}")
        return {"error": error, "gap": gap}

    def rollout(self):
        """All states, every step recorded."""
        out = tuple(np.empty((STATES, STEPS + 1, x.shape[1])) for x in (self.q0, self.v0))
        return lambda n: [self.roll(self.q0, self.v0, None, self.dt, steps=STEPS, out=out) for _ in range(n)]

    def mujoco_rollout(self):
        """`mujoco.rollout` by RK4 of some of the states, and the worst gap and the largest difference at their ends."""
        from mujoco import rollout

        there, mj_model = MuJoCo(self.kt, self.model), None
        mj, mj_model = there.mj, copy.copy(there.there)
        mj_model.opt.integrator, mj_model.opt.timestep = mj.mjtIntegrator.mjINT_RK4, self.dt
        size = mj.mj_stateSize(mj_model, mj.mjtState.mjSTATE_FULLPHYSICS)
        start, states = np.zeros((SLOW_STATES, size)), np.empty((SLOW_STATES, STEPS, size))
        nq, nv, none = mj_model.nq, mj_model.nv, np.zeros(self.model.nv)
        for row, q, v in zip(start, self.q0, self.v0, strict=False):
            row[1 : 1 + nq], row[1 + nq : 1 + nq + nv], _ = there.state(q, v, none)
        pool, models, data = rollout.Rollout(nthread=0), [mj_model] * SLOW_STATES, [mj.MjData(mj_model)]

        def run(n: int) -> None:
            for _ in range(n):
                pool.rollout(models, data, start, nstep=STEPS, state=states, skip_checks=True)

        run(1)
        last, gap = self.roll(self.q0[:SLOW_STATES], self.v0[:SLOW_STATES], None, self.dt, steps=STEPS)[0][:, -1], 0.0
        off = 0.0
        for row, q in zip(states[:, -1], last, strict=True):
            data[0].qpos, data[0].qvel = row[1 : 1 + nq], row[1 + nq : 1 + nq + nv]
            off = max(off, float(np.abs(there.state(q, none, none)[0] - data[0].qpos).max()))
            mj.mj_forward(mj_model, data[0])
            gap = max(gap, float(np.abs(data[0].efc_pos[: data[0].ne]).max()))
        if not off < 0.1:
            raise WrongAnswer(f"{self.name}: MuJoCo is off by {off:.1e}")
        return run, {"gap": gap, "off": off}

    def one(self):
        """A motion from rest: by `simulate`, and as a rollout of one state."""
        q, v = self.q0[0], self.rest
        out = tuple(np.empty((LONG + 1, x.shape[0])) for x in (q, v))
        duration = LONG * self.dt
        return {
            "simulate": lambda n: [
                self.kt.simulate(self.model, q, v, duration=duration, dt=self.dt, integrator="rk4") for _ in range(n)
            ],
            "rollout of one": lambda n: [self.roll(q, v, None, self.dt, steps=LONG, out=out) for _ in range(n)],
        }

    def exudyn(self):
        """The same motion in Exudyn, and the errors of both engines: of poses of bodies, largest entries."""
        from tests.engines.exudyn_mechanisms import Mechanism

        q, v = self.q0[0], self.rest
        there = Mechanism(self.model, q)
        exact = there.poses(self.roll(q, v, None, self.dt / 4, steps=4 * LONG)[0][-1])
        mine = there.poses(self.roll(q, v, None, self.dt, steps=LONG)[0][-1])
        settings = there.settings(LONG * self.dt, LONG)
        coarse, fine = (there.run(x) for x in (settings, there.settings(LONG * self.dt, 4 * LONG, 1e-10)))
        errors = {"kinetree": mine - exact, "Exudyn": coarse - exact, "Exudyn, fine": fine - exact}
        errors = {name: float(np.abs(x).max()) for name, x in errors.items()}
        if not 14.0 < errors["Exudyn"] / errors["Exudyn, fine"] < 18.0:
            raise WrongAnswer(f"{self.name}: Exudyn is off by {errors}")
        return lambda n: [there.run(settings) for _ in range(n)], errors


def measure(kt, name: str, repeats: int) -> dict:
    """Verify and time one mechanism."""
    task = Task(kt, name)
    row = {"name": name, "nv": task.model.nv, "errors": task.verify()}
    row["operations"] = kt.compile(task.model, "rk4_step").operations.total
    contenders = {"rollout": task.rollout(), **task.one()}
    contenders["mujoco rollout"], row["MuJoCo"] = task.mujoco_rollout()
    units = {"rollout": STATES * STEPS, "mujoco rollout": SLOW_STATES * STEPS}
    if "exudyn" in sys.modules and name != "leg of Cassie":  # whose motors have armatures
        contenders["Exudyn"], row["Exudyn"] = task.exudyn()
    times = timing.interleaved(contenders, {x: units.get(x, LONG) for x in contenders}, repeats, 0.1)
    return {**row, "seconds": {x: timing.summary(each) for x, each in times.items()}}


def table(result: dict) -> str:
    """The tables of ``docs/loops.md``."""
    lines = [
        "| mechanism (nv) | operations of a step | `kt.rollout` [ns] | gap [m] | `mujoco.rollout` [ns] | gap [m] "
        "| ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        t = {x: each["median"] * 1e9 for x, each in row["seconds"].items()}
        cells = [f"{row['name']} ({row['nv']})", row["operations"], f"{t['rollout']:.0f}"]
        cells += [f"{row['errors']['gap']:.0e}", f"{t['mujoco rollout']:.0f}", f"{row['MuJoCo']['gap']:.0e}"]
        lines.append("| " + " | ".join(map(str, [*cells, f"{t['mujoco rollout'] / t['rollout']:.0f}"])) + " |")
    lines += [
        "",
        "| mechanism | `kt.simulate` [us] | rollout of one state [us] | error | Exudyn [us] | error "
        "| Exudyn / simulate | Exudyn / rollout | Exudyn / rollout of many |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        if "Exudyn" not in row:
            continue
        t, e = {x: each["median"] for x, each in row["seconds"].items()}, row["Exudyn"]
        cells = [row["name"], f"{t['simulate'] * 1e6:.2f}", f"{t['rollout of one'] * 1e6:.2f}", f"{e['kinetree']:.0e}"]
        cells += [f"{t['Exudyn'] * 1e6:.1f}", f"{e['Exudyn']:.0e}"]
        cells += [f"{t['Exudyn'] / t[x]:.0f}" for x in ("simulate", "rollout of one", "rollout")]
        lines.append("| " + " | ".join(cells) + " |")
    about, used = result["machine"], result["versions"]
    return "\n".join(lines) + (
        f"\n\nCPU time of one core for each state and step of 1 ms (leg: 0.25), medians of {result['repeats']} "
        f"interleaved repeats, with a load of {about['load_average'][0]:.0f} on {about['cores']} cores. Above: "
        f"{STATES} states of {STEPS} steps by RK4, of MuJoCo {SLOW_STATES}. "
        f"Below: {LONG} steps from rest; errors of poses [m and entries of R]. "
        f"{about['processor']}, Python {about['python']}, MuJoCo {used['mujoco']}, Exudyn {used['exudyn']}; "
        f"{result['date']}."
    )


def main() -> None:
    """Measure all mechanisms, or write the page again."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loop_steps", description=__doc__)
    parser.add_argument("--docs", action="store_true", help="rewrite the page from the stored result")
    parser.add_argument("--repeats", type=int, default=7)
    chosen = parser.parse_args()
    if not chosen.docs:
        os.environ["KINETREE_NUM_THREADS"] = "1"
        sys.exudynFast = True  # its variant without checks of ranges
        try:
            import exudyn  # noqa: F401
        except ImportError as error:
            print(f"without Exudyn: {error}")
        import kinetree as kt

        rows = [measure(kt, name, chosen.repeats) for name in NAMES]
        used = versions(("kinetree", "numpy", "llvmlite", "mujoco", "exudyn"))
        store.write("loop_steps", {"machine": machine(), "versions": used, "repeats": chosen.repeats, "rows": rows})
    text = table(store.read("loop_steps"))
    put(ROOT / "docs" / "loops.md", "loop_steps", text)
    print(text)


if __name__ == "__main__":
    main()
