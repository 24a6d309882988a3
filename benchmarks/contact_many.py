"""Contact of many shapes and of many robots: a humanoid with self-collision, and 1,024 robots on all cores.

The humanoid of Gymnasium (17 capsules and spheres) has all pairs of its shapes but those of neighbors, and those with
the ground, as `model.with_contacts(ground=True, self_collision=True)` chooses them; MuJoCo gets the same pairs. States
are those of kinetree's motion under random joint forces, and lying after a fall. Before anything is timed both engines
move for 20 ms from the same states, MuJoCo's contact as stiff as its step allows. 1,024 robots are ANYmal on four feet,
as in `benchmarks.contact`, in wall time. ``python -m benchmarks.contact_many`` writes
``benchmarks/results/contact_many.json``; ``--quick`` checks that the harness works and says nothing about speed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pathlib
import statistics
import time

import numpy as np

from benchmarks import contact, machine, store, timing
from benchmarks.contact import FRICTION, SEED, Task, quantiles
from benchmarks.rollout import WrongAnswer, repeated
from benchmarks.table import ROOT, machine_line, put

SETS, THREADS, ROBOTS, APART = ("walk", "lie"), 2, 1024, 5e-3


class Humanoid(Task):
    """The humanoid with self-collision in both engines."""

    force = 20.0

    def __init__(self, kt, states: int, steps: int, dt: float = contact.DT) -> None:
        self.kt, self.case, self.n, self.steps, self.dt = kt, "humanoid, self-collision", states, steps, dt
        found = importlib.util.find_spec("gymnasium")
        if found is None:
            raise SystemExit("this benchmark takes the humanoid of Gymnasium: pip install gymnasium")
        path = pathlib.Path(found.origin).parent / "envs" / "mujoco" / "assets" / "humanoid.xml"
        self.floating = kt.load(str(path), unsupported="drop").without_limits().replace(dry_friction=0.0)
        material = kt.collision.Material(friction=FRICTION)
        self.model = self.floating.with_contacts(ground=True, self_collision=True, material=material)
        self.q = self.model.neutral()
        ground = [pair.first.kind == "plane" for pair in self.model.contacts for _ in range(pair.count)]
        self.q[2] -= kt.collision.contact_gaps(self.model, self.q)[ground].min()
        self.roll = kt.simulation.Rollout(self.model, threads=1, checks=False)
        self.rng = np.random.default_rng(SEED)

    def mujoco(self, cone: str = "elliptic", stiff: bool = False):
        """MuJoCo's model with the same pairs, one by one."""
        import mujoco

        from tests.engines.mujoco_bridge import MujocoBridge

        spec = mujoco.MjSpec.from_string(self.kt.io.to_mjcf(self.floating, meshes="drop", unsupported="drop"))
        for geom in list(spec.geoms):
            spec.delete(geom)
        self._add_geoms(mujoco, spec)
        for pair in self.model.contacts:
            names = [shape.name for shape in pair.shapes]
            made = spec.add_pair(geomname1=names[0], geomname2=names[1], condim=3, friction=[FRICTION] * 2 + [0.0] * 3)
            if stiff:
                made.solref, made.solimp = (2.0 * self.dt, 1.0), (0.99, 0.9999, 0.001, 0.5, 2.0)
        found = spec.compile()
        found.opt.timestep, found.opt.cone = self.dt, getattr(mujoco.mjtCone, f"mjCONE_{cone.upper()}")
        found.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        bridge = MujocoBridge(self.floating, found)
        bridge.mj_model.opt.disableflags = 0
        return bridge

    def _add_geoms(self, mujoco, spec) -> None:
        """The shapes of the pairs, which collide by pairs alone."""
        kinds = {name: getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}") for name in ("plane", "sphere", "capsule")}
        for shape in {shape.name: shape for pair in self.model.contacts for shape in pair.shapes}.values():
            turn = np.empty(4)
            mujoco.mju_mat2Quat(turn, np.array(shape.R).ravel())
            size = {"plane": (50.0, 50.0, 1.0), "sphere": (*shape.size, 0.0, 0.0)}.get(shape.kind)
            size = size or (shape.size[0], 0.5 * shape.size[1], 0.0)
            body = spec.worldbody if shape.body == "world" else spec.body(shape.body)
            made = body.add_geom(name=shape.name, type=kinds[shape.kind], size=size, quat=turn, pos=shape.p, mass=0.0)
            made.contype = made.conaffinity = 0

    def verify(self) -> dict[str, object]:
        """Both engines move alike for 20 ms, also where shapes touch; the joint springs are those of the file."""
        states, kept = 32, self.steps
        found = {}
        for which in SETS:
            q, v, tau = self.starts(which)
            given = q[:states], v[:states], None if tau is None else tau[:states, :20]
            self.steps = 20
            rival = self.mujoco_rollout(self.mujoco(stiff=True), given, states)()[0]
            own = self.rolled(*given, 20, every=20)[0][:, -1]
            self.steps = kept
            found[which] = float(np.median(np.abs(self.kt.difference(self.model, own, rival)).max(axis=1)))
            if not found[which] < APART:
                raise WrongAnswer(f"humanoid, {which}: {found[which]:.1e} rad or m apart after 20 ms")
        return found


def humanoid(kt, states: int, rival_states: int, steps: int, repeats: int) -> dict[str, object]:
    """Times and residuals of the humanoid."""
    task = Humanoid(kt, states, steps)
    verified = task.verify()
    bridge, pyramid = task.mujoco(), task.mujoco("pyramidal")
    row = {"case": task.case, "pairs": len(task.model.contacts), "candidates": task.model.n_contacts,
           "verified": verified, "sets": {}}  # fmt: skip
    for which in SETS:
        start = task.starts(which)
        contenders = {
            "kinetree": task.kinetree(start),
            "elliptic": task.mujoco_rollout(bridge, start, rival_states),
            "pyramidal": task.mujoco_rollout(pyramid, start, rival_states),
        }
        units = {name: (task.n if name == "kinetree" else rival_states) * steps for name in contenders}
        times = timing.interleaved({name: repeated(run) for name, run in contenders.items()}, units, repeats)
        row["sets"][which] = {
            "seconds": {name: timing.summary(each) for name, each in times.items()},
            "ratios": {name: timing.ratios(times[name], times["kinetree"]) for name in ("elliptic", "pyramidal")},
            "residual": quantiles(task.residuals(which, min(32, task.n))),
        }
        print(which, {name: round(1e9 * statistics.median(each)) for name, each in times.items()},
              row["sets"][which]["residual"], flush=True)  # fmt: skip
    return row


def all_cores(kt, robots: int, steps: int, repeats: int) -> dict[str, object]:
    """Wall time of many robots in both engines, on two threads."""
    task, found = Task(kt, "anymal_b, 4 feet", robots, steps), {}
    task.verify()
    task.roll = kt.simulation.Rollout(task.model, threads=THREADS, checks=False)
    bridge = task.mujoco()
    for which in ("stand", "walk"):
        start = task.starts(which)
        rival = task.mujoco_rollout(bridge, start, robots, THREADS)
        contenders = {"kinetree": task.kinetree(start), "MuJoCo": rival}
        times = timing.interleaved(
            {name: repeated(run) for name, run in contenders.items()}, robots * steps, repeats, clock=time.perf_counter
        )
        found[which] = {"seconds": {name: timing.summary(each) for name, each in times.items()},
                        "ratio": timing.ratios(times["MuJoCo"], times["kinetree"])}  # fmt: skip
        print(which, {name: f"{1e-6 / statistics.median(each):.2f} million steps/s" for name, each in times.items()},
              flush=True)  # fmt: skip
    return found


def table(result: dict[str, object]) -> str:
    """The tables of ``docs/compiled_contact.md``."""
    row, lines = result["humanoid"], []
    lines += ["| humanoid, self-collision | kinetree, ns | `mujoco.rollout`, elliptic | pyramidal | ratio "
              "| ratio, pyramidal | residual, median | 99 % |", "| --- |" + " ---: |" * 7]  # fmt: skip
    for which, found in row["sets"].items():
        cells = [f"{1e9 * each['median']:.0f}" for each in found["seconds"].values()]
        cells += [f"**{each['median']:.0f}x**" for each in found["ratios"].values()]
        cells += [f"{found['residual'][part]:.0e}" for part in ("median", "99 %")]
        lines.append(f"| {which} | " + " | ".join(cells) + " |")
    apart = ", ".join(f"{which} {x:.0e}" for which, x in row["verified"].items())
    lines += ["", f"{row['pairs']} pairs, {row['candidates']} candidate points. Both engines after 20 ms, median of "
              f"the largest difference of a coordinate [rad or m]: {apart}.", "",
              f"| {ROBOTS} robots, {THREADS} threads, wall time | kinetree, million steps/s | `mujoco.rollout` "
              "| ratio |", "| --- | ---: | ---: | ---: |"]  # fmt: skip
    for which, found in result["all cores"].items():
        speeds = [f"{1e-6 / each['median']:.2f}" for each in found["seconds"].values()]
        lines.append(f"| anymal_b, 4 feet, {which} | {' | '.join(speeds)} | **{found['ratio']['median']:.0f}x** |")
    return "\n".join([*lines, "", f"{machine_line(result)} Load {result['machine']['load_average'][0]:.1f}."])


def measure(kt, states: int, rival_states: int, steps: int, repeats: int, robots: int) -> dict[str, object]:
    """Both parts."""
    return {
        "humanoid": humanoid(kt, states, rival_states, steps, repeats),
        "all cores": all_cores(kt, robots, steps, repeats),
        "machine": machine.machine(),
        "versions": machine.versions((*machine.PACKAGES, "mujoco", "gymnasium")),
        "method": {"repeats": repeats, "dt": contact.DT, "seed": SEED, "friction": FRICTION, "steps": steps},
    }


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contact_many", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="check the harness: few states, nothing is written")
    chosen = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"

    import kinetree as kt

    if chosen.quick:
        measure(kt, 32, 32, 40, 2, 32)
        return
    print(f"wrote {store.write('contact_many', measure(kt, 512, 64, 100, chosen.repeats, ROBOTS)).name}")
    put(ROOT / "docs" / "compiled_contact.md", "contact_many", table(store.read("contact_many")))


if __name__ == "__main__":
    main()
