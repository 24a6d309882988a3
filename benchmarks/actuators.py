"""Robots under their own actuators against MuJoCo: accelerations single and in a batch, and steps of rollouts.

``python -m benchmarks.actuators`` verifies the accelerations against ``mj_forward`` (contacts and constraints off on
both sides), then times both in turn, and writes ``benchmarks/results/actuators.json``. The robots are those of the
packages mujoco-mjx and mujoco-warp; those that are not installed are left out.
"""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import metadata

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco
import numpy as np
from mujoco import rollout

import kinetree as kt
from benchmarks import store, timing
from benchmarks.machine import machine, versions
from benchmarks.verify import WrongAnswer
from kinetree.conventions import MuJoCo

ROBOTS = {
    "humanoid, 21 motors": ("mujoco-mjx", "test_data/humanoid/humanoid.xml"),
    "Shadow Hand, servos and tendons": ("mujoco-mjx", "test_data/shadow_hand/right_hand.xml"),
    "two ViperX arms, servos": ("mujoco-warp", "test_data/aloha_pot/scene.xml"),
    "arm26, 6 muscles": ("mujoco-mjx", "test_data/actuator/arm26.xml"),
}
BATCH, STEPS, ROLLOUTS = 2048, 200, 64
OFF = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_SENSOR


def robot(package: str, inside: str) -> tuple | None:
    """File and MuJoCo's model, with ranges of muscles' lengths that MuJoCo 4 does not find; None if not installed."""
    try:
        files = metadata.files(package) or ()
    except metadata.PackageNotFoundError:
        return None
    path = next((str(f.locate()) for f in files if str(f).endswith(inside)), None)
    if path is None:
        return None
    spec = mujoco.MjSpec.from_file(path)
    if "arm26" in inside:
        spec.compiler.LRopt.mode = 0
        mj, rng = spec.compile(), np.random.default_rng(0)
        data, lengths = mujoco.MjData(mj), []
        for _ in range(10_000):
            data.qpos[:] = rng.uniform(*mj.jnt_range.T)
            mujoco.mj_fwdPosition(mj, data)
            lengths.append(data.ten_length.copy())
        for actuator in spec.actuators:
            of_tendon = np.array(lengths)[:, mj.tendon(actuator.target).id]
            actuator.lengthrange = [of_tendon.min(), of_tendon.max()]
    return path, spec.compile()


def measured(path: str, mj) -> dict:
    """Seconds per state and per step of both, after a check that the accelerations are MuJoCo's."""
    mj.opt.disableflags |= int(OFF)
    model = kt.load(path, unsupported="drop").without_limits().replace(dry_friction=0.0, constraints=())
    if any(a.not_computed for a in model.actuators):  # the ranges of lengths that were found above
        numbers = zip(map(tuple, mj.actuator_lengthrange.tolist()), mj.actuator_acc0.tolist(), strict=True)
        found = {mj.actuator(k).name: each for k, each in enumerate(numbers)}
        ranged = tuple(replace(a, length_range=found[a.name][0], acc0=found[a.name][1]) for a in model.actuators)
        model = model.replace(equipment=replace(model.equipment, actuators=ranged))
    there, data, rng = MuJoCo(model, mj, by_order=True), mujoco.MjData(mj), np.random.default_rng(0)
    q = np.array([model.random_q(rng) for _ in range(BATCH)])
    given = [q, rng.normal(size=(BATCH, model.nv)), np.zeros((BATCH, model.nv))]
    optional = tuple(name for name in ("x", "u") if getattr(model, f"n{name}"))
    given += [rng.uniform(size=(BATCH, getattr(model, f"n{name}"))) for name in optional]
    f = kt.compile(model, "forward_dynamics", optional=optional)
    a, order = f(*given), [mj.actuator(name).id for name in model.actuator_names]
    for n in range(20):
        data.qpos[:], data.qvel[:] = there.q_to(q[n]), there.v_to(q[n], given[1][n])
        data.ctrl[[mj.actuator_ctrladr[k] for k in order]] = given[-1][n]
        data.act[[mj.actuator_actadr[k] for k in order if mj.actuator_actnum[k]]] = given[3][n] if model.nx else []
        mujoco.mj_forward(mj, data)
        expected = there.a_from(q[n], given[1][n], data.qacc)
        if np.abs(a[n] - expected).max() > 1e-9 * max(1.0, np.abs(expected).max()):
            raise WrongAnswer(f"{path}: acceleration off by {np.abs(a[n] - expected).max():.1e}")
    one, starts = [x[0] for x in given], np.zeros((ROLLOUTS, 1 + mj.nq + mj.nv + mj.na))
    starts[:, 1 : 1 + mj.nq] = mj.qpos0
    control = 0.1 * rng.normal(size=(ROLLOUTS, STEPS, mj.nu))
    q0, ours = np.tile(there.q_from(mj.qpos0), (ROLLOUTS, 1)), control[..., [mj.actuator_ctrladr[k] for k in order]]
    roll = kt.simulation.Rollout(model, integrator="semi_implicit")
    contenders = {
        "batch": lambda n: [f(*given) for _ in range(n)],
        "single": lambda n: [f(*one) for _ in range(n)],
        "mj_forward": lambda n: [mujoco.mj_forward(mj, data) for _ in range(n)],
        "rollout": lambda n: [roll(q0, None, None, float(mj.opt.timestep), control=ours) for _ in range(n)],
        "mujoco.rollout": lambda n: [
            rollout.rollout(mj, data, initial_state=starts, control=control) for _ in range(n)
        ],
    }  # fmt: skip
    units = {"batch": BATCH, "rollout": ROLLOUTS * STEPS, "mujoco.rollout": ROLLOUTS * STEPS}
    times = timing.interleaved(contenders, {name: units.get(name, 1) for name in contenders}, repeats=7)
    rows = {name: timing.summary(each)["median"] for name, each in times.items()}
    pairs = ("batch", "mj_forward"), ("single", "mj_forward"), ("rollout", "mujoco.rollout")
    ratios = {fast: timing.ratios(times[slow], times[fast])["median"] for fast, slow in pairs}
    return {"nv": model.nv, "actuators": model.n_actuators, "seconds": rows, "ratios": ratios}


def main() -> None:
    """Measure, print a table and write the result."""
    result = {"machine": machine(), "versions": versions(), "robots": {}}
    for name, (package, inside) in ROBOTS.items():
        found = robot(package, inside)
        if found is None:
            print(f"{name}: {package} is not installed")
            continue
        row = result["robots"][name] = measured(*found)
        s, r = row["seconds"], row["ratios"]
        print(f"| {name} | {row['nv']} | {1e9 * s['batch']:.0f} | **{r['batch']:.0f}x** | {1e6 * s['single']:.2f} | "
              f"**{r['single']:.1f}x** | {1e9 * s['rollout']:.0f} | **{r['rollout']:.0f}x** |")  # fmt: skip
    store.write("actuators", result)


if __name__ == "__main__":
    main()
