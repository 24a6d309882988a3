"""Muscles: the arm with two joints and six muscles against OpenSim, one with 20 joints and 50 muscles against MuJoCo.

``python -m benchmarks.muscles --opensim PYTHON`` names a Python that has OpenSim (``pip install opensim`` in an
environment of its own); without it that part is left out. ``--models FOLDER`` has OpenSim's own files (``arm26.osim``
and ``gait14dof22musc_20170320.osim`` of the sources of osim-rl, ``pip download --no-deps osim-rl``): a gait model with
14 freedoms and 22 muscles, and the time of both files as they are. Results are compared before anything is timed: with
OpenSim the arm without wraps, since its wraps are not exact. It writes ``benchmarks/results/muscles.json`` and the
table of ``docs/muscles.md``. OpenSim is timed in its own process, just before and after; all else interleaved in one.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from benchmarks import muscle_arms, store, timing
from benchmarks.machine import machine, versions
from benchmarks.table import ROOT, put
from benchmarks.verify import WrongAnswer

STATES, FEW, BATCH, STEPS, SEED = 200, 40, 4096, 50, 3
RIVALS = pathlib.Path(__file__).parent / "rivals"
QUANTITIES = ["forward_dynamics", "force_state_rates"]


def straight(kt, model):
    """The arm without wraps."""
    forces = [
        dataclasses.replace(m, path=tuple(part for part in m.path if isinstance(part, kt.tendons.ViaPoint)))
        for m in model.muscles
    ]
    return model.replace(forces=forces)


ARM, GAIT = "arm26", "gait14dof22musc_20170320"


def states(kt, model, many: int) -> dict[str, np.ndarray]:
    """Random positions, velocities, activations, excitations; fibers near equilibrium."""
    rng = np.random.default_rng(SEED)
    bound = 0.1 if model.nv == 14 else 0.3  # beyond, OpenSim sets forces of short fibers to zero
    low, high = ([-0.5, 0.2], [0.6, 2.0]) if model.nv == 2 else (-bound, bound)
    found = {"q": rng.uniform(low, high, (many, model.nq)), "v": rng.normal(size=(many, model.nv)),
             "tau": np.zeros((many, model.nv)), "u": rng.uniform(0.02, 1.0, (many, model.nu))}  # fmt: skip
    x = rng.uniform(0.05, 1.0, (many, model.nx))
    if "fiber_length" in model.muscles[0].states if model.muscles else False:
        x[:, 1::2] = 0.1
        x = kt.muscles.equilibrate(model, found["q"], x=x)
        x[:, 1::2] *= rng.uniform(0.999, 1.0, x[:, 1::2].shape)
    return found | {"x": x}


def compiled(kt, model):
    f = kt.compile(model, QUANTITIES, optional=("x", "u"))
    return lambda s: f(s["q"], s["v"], s["tau"], s["x"], s["u"])


def contenders(kt, model, name: str) -> tuple[dict, dict]:
    """Single calls and a batch; and the states in each."""
    f = kt.compile(model, QUANTITIES, optional=("x", "u"))
    many = [states(kt, model, BATCH)[what] for what in ("q", "v", "tau", "x", "u")]
    one = [x[0].copy() for x in many]

    def call(n: int) -> None:
        for _ in range(n):
            f(*one)

    def batch(n: int) -> None:
        for _ in range(n):
            f(*many)

    return {f"{name} call": call, f"{name} batch": batch}, {f"{name} call": 1, f"{name} batch": BATCH}


# OpenSim --------------------------------------------------------------------------------------------------------------


def run_opensim(python: str, script: str, path) -> dict:
    """The result of one of the scripts that run in OpenSim's Python."""
    command = [python, str(RIVALS / script), str(pathlib.Path(path).resolve())]
    with tempfile.TemporaryDirectory() as folder:  # OpenSim writes a log there
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        raise RuntimeError(f"OpenSim's side failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout[done.stdout.index('{"') :])


def opensim(kt, python: str, model, curves: str, tendon: str, wrapped: bool, at, found=None) -> dict:
    """Its results and time at some states."""
    data = muscle_arms.opensim_data(kt, model, curves, tendon, wrapped, found)
    of_one = model.nx // model.n_muscles
    fiber = at["x"][:, 1::2] if of_one == 2 else np.zeros((len(at["q"]), model.n_muscles))
    if of_one == 2 and curves == "degroote_fregly":  # its state is the tendon's force
        fiber = kt.muscles.tensions(model, at["q"], at["v"], x=at["x"]) / [m.max_isometric_force for m in model.muscles]
    data["states"] = [
        {
            "q": q.tolist(),
            "v": v.tolist(),
            "activation": a.tolist(),
            "fiber_length": l.tolist(),
            "excitation": u.tolist(),
        }
        for q, v, a, l, u in zip(at["q"], at["v"], at["x"][:, ::of_one], fiber, at["u"], strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "arm.json"
        path.write_text(json.dumps(data))
        return run_opensim(python, "opensim_muscles.py", path)


def difference(kt, python: str, model, curves: str, tendon: str, found: dict | None) -> dict:
    """The largest differences to OpenSim at random states, paths straight."""
    damping = 0.1 if curves == "millard" or tendon == "rigid" else 1e-9  # OpenSim's has none there
    smooth = curves == "degroote_fregly"
    forces = [dataclasses.replace(m, fiber_damping=damping, smooth_activation=smooth) for m in model.muscles]
    plain = straight(kt, model.replace(forces=forces))
    at = states(kt, plain, FEW)
    theirs = opensim(kt, python, plain, curves, tendon, False, at, found)
    ours = compiled(kt, plain)(at)
    of_one = plain.nx // plain.n_muscles
    pairs = {
        "acceleration": ours.forward_dynamics,
        "tension": kt.muscles.tensions(plain, at["q"], at["v"], x=at["x"]),
        "length": kt.muscles.lengths(plain, at["q"]),
        "activation_rate": ours.force_state_rates[:, ::of_one],
    }
    if of_one == 2:
        pairs |= {"fiber_rate": ours.force_state_rates[:, 1::2]}
    off = {}
    for what, x in pairs.items():
        other = np.array([case[what] for case in theirs["states"]])
        off[what] = float(np.abs(x - other).max() / np.abs(other).max())
    if max(off.values()) > (1e-8 if damping > 1e-3 else 1e-4):
        raise WrongAnswer(f"{model.name}, {curves}, {tendon}: differs from OpenSim by {off}")
    return off


def against_opensim(kt, python: str, folder: str | None) -> list[dict]:
    """Differences and times for each mechanism, and each kind of curves and tendons."""
    rows = []
    for name in (ARM, GAIT) if folder else (ARM,):
        file = pathlib.Path(folder or "", f"{name}.osim")
        found = run_opensim(python, "opensim_model.py", file) if name == GAIT else None
        for curves in ("millard", "degroote_fregly"):
            for tendon in ("rigid", "compliant"):
                made = kt.models.arm26 if found is None else functools.partial(muscle_arms.of_opensim, kt, found)
                model = made(tendon=tendon, curves=curves)
                off = difference(kt, python, model, curves, tendon, found)
                runs, units = contenders(kt, model, "ours")
                wrapped = found is None

                def theirs(model=model, curves=curves, tendon=tendon, wrapped=wrapped, found=found) -> float:
                    return opensim(kt, python, model, curves, tendon, wrapped, states(kt, model, STATES), found)["us"]

                before, own = theirs(), [run_opensim(python, "opensim_model.py", file)["us"]] if folder else []
                times = {key: timing.summary(x)["median"] for key, x in timing.interleaved(runs, units).items()}
                after, own = theirs(), [*own, *([run_opensim(python, "opensim_model.py", file)["us"]] if own else [])]
                rows.append({"model": name, "curves": curves, "tendon": tendon, "differences": off,
                             "opensim_us": [before, after], "files_us": own, "call_us": 1e6 * times["ours call"],
                             "batch_ns": 1e9 * times["ours batch"]})  # fmt: skip
                print(rows[-1], flush=True)
    return rows


# MuJoCo ---------------------------------------------------------------------------------------------------------------


def against_mujoco(kt) -> list[dict]:
    """Calls, batches and rollouts of the arm with 50 muscles."""
    import mujoco
    from mujoco import rollout

    there = mujoco.MjModel.from_xml_string(muscle_arms.arm20_mjcf())
    data = mujoco.MjData(there)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "arm20.xml"
        path.write_text(muscle_arms.arm20_mjcf())
        arm = kt.load(str(path))
    models = {"MuJoCo's law": arm}
    for curves, tendon in (("millard", "rigid"), ("millard", "compliant"), ("degroote_fregly", "compliant")):
        models[f"{curves}, {tendon}"] = muscle_arms.with_hill_muscles(kt, arm, tendon, curves)
    at = states(kt, arm, FEW)
    found, off = compiled(kt, arm)(at), 0.0

    def put_state(k: int) -> None:
        data.qpos[:], data.qvel[:], data.act[:], data.ctrl[:] = (at[what][k] for what in ("q", "v", "x", "u"))

    for k in range(FEW):
        put_state(k)
        mujoco.mj_forward(there, data)
        off = max(off, float(np.abs(data.qacc - found.forward_dynamics[k]).max() / np.abs(data.qacc).max()),
                  float(np.abs(data.act_dot - found.force_state_rates[k]).max()))  # fmt: skip
    if off > 1e-9:
        raise WrongAnswer(f"MuJoCo's law differs by {off:.1e}")

    def forward(n: int) -> None:
        for _ in range(n):
            put_state(0)
            mujoco.mj_forward(there, data)

    size = mujoco.mj_stateSize(there, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros((1, size))
    put_state(0)
    mujoco.mj_getState(there, data, start[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    pool, control = rollout.Rollout(nthread=0), np.tile(at["u"][0], (1, STEPS, 1))

    def their_rollout(n: int) -> None:
        for _ in range(n):
            pool.rollout([there], [data], start, control, nstep=STEPS)

    runs, units = {"mj_forward": forward, "mujoco.rollout": their_rollout}, {"mj_forward": 1, "mujoco.rollout": STEPS}
    for name, model in models.items():
        made, counts = contenders(kt, model, name)
        runs, units = runs | made, units | counts
        begin = states(kt, model, 256)
        roll = kt.simulation.Rollout(model, "semi_implicit", threads=1)
        drive = {label: 0.3 for label in model.input_names}

        def ours(n: int, roll=roll, begin=begin, drive=drive) -> None:
            for _ in range(n):
                roll(begin["q"], begin["v"], None, 1e-3, steps=STEPS, x0=begin["x"], control=drive)

        runs[f"{name} rollout"], units[f"{name} rollout"] = ours, 256 * STEPS
    times = {name: timing.summary(x)["median"] for name, x in timing.interleaved(runs, units, repeats=7).items()}
    theirs, rolled = times["mj_forward"], times["mujoco.rollout"]
    return [
        {"law": name, "difference": off if name == "MuJoCo's law" else None, "mj_forward_us": 1e6 * theirs,
         "mujoco_rollout_us": 1e6 * rolled, "call_us": 1e6 * times[f"{name} call"],
         "batch_ns": 1e9 * times[f"{name} batch"], "rollout_ns": 1e9 * times[f"{name} rollout"]}
        for name in models
    ]  # fmt: skip


def table(result: dict) -> str:
    """The tables of the page."""
    lines = []
    if result["opensim"]:
        lines += ["| model, curves, tendon | largest difference | OpenSim, us | its own file, us | one call, us | "
                  "ratio | batch, ns | ratio |",
                  "| --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
        for row in result["opensim"]:
            built, worst = min(row["opensim_us"]), max(row["differences"].values())
            own = min(us[row["tendon"]] for us in row["files_us"]) if row["files_us"] else built
            lines.append(f"| {row['model'].split('_')[0]}, {row['curves']}, {row['tendon']} | {worst:.0e} | "
                         f"{built:.0f} | {own:.0f} | {row['call_us']:.2f} | **{own / row['call_us']:.0f}x** | "
                         f"{row['batch_ns']:.0f} | **{1e3 * own / row['batch_ns']:.0f}x** |")  # fmt: skip
        lines.append("")
    lines += ["| 20 joints, 50 muscles | one call, us | `mj_forward`, us | ratio | batch, ns | ratio | rollout step, ns | `mujoco.rollout`, us | ratio |",  # noqa: E501
              "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for row in result["mujoco"]:
        forward, rolled = row["mj_forward_us"], row["mujoco_rollout_us"]
        lines.append(f"| {row['law']} | {row['call_us']:.1f} | {forward:.1f} | {forward / row['call_us']:.1f}x | "
                     f"{row['batch_ns']:.0f} | **{1e3 * forward / row['batch_ns']:.1f}x** | {row['rollout_ns']:.0f} | "
                     f"{rolled:.1f} | **{1e3 * rolled / row['rollout_ns']:.1f}x** |")  # fmt: skip
    host = result["machine"]
    lines += ["", f"{host.get('processor', host)}; medians of CPU time, one core; {result['date']}."]
    return "\n".join(lines)


def main() -> None:
    """Measure, or write the page again."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.muscles", description=__doc__)
    parser.add_argument("--docs", action="store_true", help="rewrite the page from the stored result")
    parser.add_argument("--opensim", metavar="PYTHON", help="an interpreter with OpenSim")
    parser.add_argument("--models", metavar="FOLDER", help="OpenSim's own files")
    chosen = parser.parse_args()
    if not chosen.docs:
        os.environ["KINETREE_NUM_THREADS"] = "1"
        import kinetree as kt

        result = {"machine": machine(), "versions": versions(("kinetree", "numpy", "llvmlite", "mujoco"))}
        result["mujoco"] = against_mujoco(kt)
        result["opensim"] = against_opensim(kt, chosen.opensim, chosen.models) if chosen.opensim else []
        store.write("muscles", result)
    text = table(store.read("muscles"))
    put(ROOT / "docs" / "muscles.md", "muscles", text)
    print(text)


if __name__ == "__main__":
    main()
