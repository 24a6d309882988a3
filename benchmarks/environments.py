"""Vector environments by kinetree and by MuJoCo: the same task, observations, rewards and resets, another engine below.

Both contenders are `kinetree.environments.VectorEnvironment`; for MuJoCo the steps of a batch are one call of
`mujoco.rollout` on one thread with the same model, time step and forces, so the loop around the engine is the same.
Cart-pole: RK4 in both engines, states are equal to rounding. Quadruped: four spheres on a plane with the same friction,
springs and dampers; MuJoCo's contact is soft on purpose and its integrator implicit in the damping alone, so motions
are alike, not equal: both must stand at the same height before anything is timed. gymnasium's own InvertedPendulum-v5
is not like for like (other model, integrator and step; a loop over environments in Python): it is the speed of a user
of it. ``python -m benchmarks.environments`` writes ``benchmarks/results/environments.json``; ``--quick`` checks the
harness and says nothing about speed.
"""

from __future__ import annotations

import argparse
import os

import numpy as np

from benchmarks import contact, machine, store, timing
from benchmarks.rollout import WrongAnswer, repeated
from benchmarks.table import ROOT, machine_line, put

CASES = {"CartPole": (1, 64, 1024, 4096), "Quadruped": (1, 64, 1024)}
ACTIONS = 20  # of each environment in a block


def feet(kt, task):
    """MuJoCo's model of the quadruped on its feet."""

    class Feet(contact.Task):
        def __init__(self) -> None:
            self.kt, self.dt, self.floating, self.model = (
                kt,
                task.dt,
                task.model.replace(contacts=()),
                task.model,
            )

        def shapes(self, i: int) -> list:
            return [shape for shape in super().shapes(i) if shape.kind == "sphere"]

    return Feet().mujoco()


def cart(kt, task):
    """MuJoCo's model of the cart-pole, with RK4."""
    import mujoco

    from tests.engines.mujoco_bridge import MujocoBridge

    bridge = MujocoBridge(task.model, mujoco.MjModel.from_xml_string(kt.io.to_mjcf(task.model)))
    bridge.mj_model.opt.timestep, bridge.mj_model.opt.integrator = task.dt, mujoco.mjtIntegrator.mjINT_RK4
    return bridge


def by_mujoco(kt, task, n: int):
    """A vector environment whose steps are those of `mujoco.rollout`."""
    import mujoco
    from mujoco import rollout

    from kinetree.environments.batch import Batch

    bridge = (feet if task.model.contacts else cart)(kt, task)
    there, mj, nq, nv = bridge.there, bridge.mj_model, task.model.nq, task.model.nv
    models, data, pool = [mj] * n, [mujoco.MjData(mj)], rollout.Rollout(nthread=0)
    start = np.zeros((n, mujoco.mj_stateSize(mj, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    out, forces = np.empty((n, task.substeps, start.shape[1])), np.empty((n, task.substeps, nv))

    class ByMujoco(Batch):
        def integrated(self, q, v, tau):
            start[:, 1 : 1 + nq], start[:, 1 + nq : 1 + nq + nv] = there.q_to(q), there.v_to(q, v)
            forces[...] = there.tau_to(q, tau)[:, None]
            pool.rollout(models, data, start, forces, control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED),
                         nstep=task.substeps, state=out, skip_checks=True)  # fmt: skip
            q = there.q_from(out[:, -1, 1 : 1 + nq])
            return q, there.v_from(q, out[:, -1, 1 + nq : 1 + nq + nv])

    envs = kt.environments.VectorEnvironment(task, n, threads=1)
    envs.batch = ByMujoco(task, n, 1)
    return envs


def verify(kt, task) -> float:
    """How far the states of both engines are apart: after a motion of the cart-pole, when the quadruped stands."""
    rng, found = np.random.default_rng(0), []
    for envs in (kt.environments.VectorEnvironment(task, 4, threads=1), by_mujoco(kt, task, 4)):
        envs.reset(seed=1)
        rng = np.random.default_rng(0)
        for _ in range(100 if task.model.contacts else 15):
            envs.step(0.2 * rng.uniform(-1, 1, (4, task.nu)) * (not task.model.contacts))
        found.append(envs.batch.state.q[:, 2] if task.model.contacts else envs.batch.state.q)
    apart = float(np.abs(found[0] - found[1]).max())
    if not apart < (0.01 if task.model.contacts else 1e-10):
        raise WrongAnswer(f"{task.name}: the states of both engines are {apart:.1e} apart")
    return apart


def played(envs):
    """Random actions of a block, and what applies them."""
    envs.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (ACTIONS, *envs.action_space.shape))

    def run():
        for action in actions:
            envs.step(action)

    return run


def measure(kt, cases, repeats: int) -> dict[str, object]:
    """Verify, then time, every task."""
    import gymnasium

    rows = []
    for name, sizes in cases.items():
        task = kt.environments.TASKS[name]()
        apart = verify(kt, task)
        for n in sizes:
            contenders = {"kinetree": kt.environments.VectorEnvironment(task, n, threads=1),
                          "mujoco": by_mujoco(kt, task, n)}  # fmt: skip
            if name == "CartPole" and n <= 64:
                contenders["InvertedPendulum-v5"] = gymnasium.make_vec("InvertedPendulum-v5", n, "sync")
            runs = {each: repeated(played(envs)) for each, envs in contenders.items()}
            times = timing.interleaved(runs, n * ACTIONS, repeats)
            row = {"task": name, "n": n, "apart": apart, "steps per action": task.substeps,
                   "seconds": {each: timing.summary(x) for each, x in times.items()},
                   "ratio": timing.ratios(times["mujoco"], times["kinetree"])}  # fmt: skip
            rows.append(row)
            shown = ", ".join(f"{each} {1 / x['median']:.3g}/s" for each, x in row["seconds"].items())
            print(f"{name}, {n}: {shown}; {row['ratio']['median']:.1f}x", flush=True)
    return {
        "machine": machine.machine(),
        "versions": machine.versions((*machine.PACKAGES, "mujoco", "gymnasium")),
        "method": {"clock": "CPU time of the process per environment and action", "repeats": repeats,
                   "actions": "uniform from -1 to 1, resets included"},
        "rows": rows,
    }  # fmt: skip


def table(result: dict[str, object]) -> str:
    """The table of ``docs/environments.md``."""
    lines = ["| task | environments | kinetree, steps per second | MuJoCo below, the same task | ratio "
             "| gymnasium's InvertedPendulum-v5, sync |", "| --- | ---: | ---: | ---: | ---: | ---: |"]  # fmt: skip
    for row in result["rows"]:
        speed = {name: f"{1.0 / each['median']:.2g}" for name, each in row["seconds"].items()}
        lines.append(
            f"| {row['task']} | {row['n']} | {speed['kinetree']} | {speed['mujoco']} "
            f"| **{row['ratio']['median']:.1f}x** | {speed.get('InvertedPendulum-v5', '')} |"
        )
    apart = {row["task"]: row["apart"] for row in result["rows"]}
    text = ", ".join(f"{name} {x:.0e}" for name, x in apart.items())
    load = result["machine"]["load_average"][0]
    return "\n".join(
        [*lines, "", f"States of both engines are apart by: {text}. {machine_line(result)} Load {load:.1f}."]
    )


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.environments", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="check the harness: few states, nothing is written")
    chosen = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"

    import kinetree as kt

    if chosen.quick:
        measure(kt, {name: (4,) for name in CASES}, 2)
        return
    found = measure(kt, CASES, chosen.repeats)
    print(f"wrote {store.write('environments', found).name}")
    put(ROOT / "docs" / "environments.md", "environments", table(store.read("environments")))


if __name__ == "__main__":
    main()
