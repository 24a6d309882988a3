"""Several quantities in one function, and the poses of all frames as one array, against separate calls and Pinocchio.

``python -m benchmarks.fused`` first proves every answer (all frames and the dynamics against Pinocchio, fused functions
against the calls of their parts), then times everything interleaved in one process, writes
``benchmarks/results/fused.json`` and the tables of ``docs/compiling.md``. Run it on a quiet machine from the root of
the repository; ``--quick`` checks that the harness works and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import pathlib

import numpy as np
import pinocchio as pin

from benchmarks import machine, store, timing
from benchmarks.contenders import BATCH_STATES, CALL_STATES, SEED, Task, _loop
from benchmarks.verify import WrongAnswer
from tests.engines.pinocchio_bridge import all_frames_of

ROBOTS = ("panda", "anymal_b", "talos_reduced")
FRAMES_OF = "talos_reduced"
SETS = {
    "dynamics and a Jacobian": ("rnea", "crba", "jacobian:{}:local_world_aligned"),
    "inverse dynamics and its derivatives": ("rnea", "crba", "rnea_derivatives"),
    "forward dynamics and its derivatives": ("aba", "aba_derivatives"),
    "all frames": ("frame_transforms", "frame_velocities:world", "frame_jacobians:world"),
    "centroidal": ("center_of_mass", "centroidal_momentum_matrix", "crba"),
}
FRAMES_AGREE = 1e-12  # zeros of the file within 1e-13 are snapped
DYNAMICS_AGREE = 1e-10
PAGE = pathlib.Path(__file__).parent.parent / "docs" / "compiling.md"


def flat(result) -> list:
    """The arrays of a result, nested or not."""
    return [x for part in result for x in flat(part)] if isinstance(result, tuple) else [result]


def prove(what: str, found, expected, tolerance: float) -> float:
    """The largest error relative to the largest entry of each array; `WrongAnswer` beyond the tolerance."""
    error = 0.0
    for x, y in zip(flat(found), flat(expected), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape:
            raise WrongAnswer(f"{what}: shape {x.shape}, expected {y.shape}")
        error = max(error, float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-300)))
    if not error <= tolerance:
        raise WrongAnswer(f"{what}: error {error:.1e}, tolerance {tolerance:.1e}")
    return error


# All frames -----------------------------------------------------------------------------------------------------------


def measure_frames(kt, repeats: int, block: float, batch: int) -> dict[str, object]:
    """The poses of all of Pinocchio's frames, one position a call, in arrays of the user; and a batch of ours."""
    task = Task(kt, FRAMES_OF, CALL_STATES)
    pin_model, data = task.pin_model, task.bridge.data
    model = all_frames_of(task.bridge)
    order = [0 if frame.name == "universe" else model.frames.index(model.frame(frame.name))
             for frame in pin_model.frames]  # fmt: skip
    both, split = (kt.compile(model, name, threads=1) for name in ("frame_transforms", "frame_poses"))
    T_WF = np.empty((pin_model.nframes, 4, 4))

    def all_read(q):
        """What a user of Pinocchio writes to have all placements as one array."""
        pin.framesForwardKinematics(pin_model, data, q)
        for k, placement in enumerate(data.oMf):
            T_WF[k] = placement.homogeneous
        return T_WF

    def all_viewed(q):
        """References to the rotation and translation of every frame, without copies."""
        pin.framesForwardKinematics(pin_model, data, q)
        return [(placement.rotation, placement.translation) for placement in data.oMf]

    Q, Q_pin = task.states["q"], task.pin_states["q"]
    expected = np.array([all_read(q).copy() for q in Q_pin])
    found = both(Q)[:, order]
    error = prove("all frames", found, expected, FRAMES_AGREE)
    R_WF, p_WF = split(Q)
    prove("all frames, R and p", (R_WF[:, order], p_WF[:, order]), (found[..., :3, :3], found[..., :3, 3]), 0.0)
    rows, pin_rows = [(q.copy(),) for q in Q], [(q.copy(),) for q in Q_pin]
    contenders = {
        "kinetree out=": _loop(both, rows, out=np.empty(found[0].shape)),
        "kinetree": _loop(both, rows),
        "kinetree, R and p": _loop(split, rows),
        "pinocchio, computing alone": _loop(pin.framesForwardKinematics, pin_rows, (pin_model, data)),
        "pinocchio, all read": _loop(all_read, pin_rows),
        "pinocchio, references": _loop(all_viewed, pin_rows),
    }
    times = timing.interleaved(contenders, CALL_STATES, repeats, block)
    many = np.tile(Q, (batch // CALL_STATES, 1))
    batches = {
        f"kinetree {name} {dtype} out=": _loop(f, [(many.astype(dtype),)], out=f(many.astype(dtype)))
        for name, f in (("4 x 4", both), ("R and p", split))
        for dtype in ("float64", "float32")
    }
    batch_times = timing.interleaved(batches, len(many), repeats, block)
    return {
        "robot": FRAMES_OF,
        "frames": pin_model.nframes,
        "operations": both.operations.total,
        "error": error,
        "call": {name: timing.summary(each) for name, each in times.items()},
        "ratios": {
            name: timing.ratios(times[name], times["kinetree"])["median"]
            for name in times
            if name.startswith("pinocchio")
        },
        "batch": {name: timing.summary(each) for name, each in batch_times.items()},
    }


# Fused functions ------------------------------------------------------------------------------------------------------


def _pinocchio_set(task: Task, frame: str):
    """The three calls of Pinocchio that give dynamics and a Jacobian."""
    p, d, frame_id = task.pin_model, task.bridge.data, task.bridge.frame_id(frame)
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

    def call(q, v, a):
        return pin.rnea(p, d, q, v, a), pin.crba(p, d, q), pin.computeFrameJacobian(p, d, q, frame_id, aligned)

    return call


def _one_by_one(parts, takes, outs=None):
    """A function that calls the parts one after the other, as a user writes it."""
    scope = {f"f{k}": part for k, part in enumerate(parts)} | {f"out{k}": out for k, out in enumerate(outs or ())}
    calls = [
        f"f{k}({', '.join(f'x{n}' for n in each)}{f', out=out{k}' if outs else ''})" for k, each in enumerate(takes)
    ]
    arguments = ", ".join(f"x{n}" for n in range(1 + max(n for each in takes for n in each)))
    exec(f"def call({arguments}): return {', '.join(calls)}", scope)
    return scope["call"]


def measure_set(kt, robot: str, what: str, repeats: int, block: float, batch: int) -> dict[str, object]:
    """One set of quantities of one robot: fused, separate, and Pinocchio where it has the same calls."""
    few = Task(kt, robot, CALL_STATES)
    frame = few.model.frames[few.model.nb - 1].name
    names = [name.format(frame) for name in SETS[what]]
    fused = kt.compile(few.model, names, threads=1)
    parts = [kt.compile(few.model, name, threads=1) for name in names]
    takes = [tuple(fused.input_names.index(x) for x in part.input_names) for part in parts]

    separate = _one_by_one(parts, takes)
    arrays = [few.states[name] for name in fused.input_names]
    tolerance = DYNAMICS_AGREE
    if "aba" in names:  # both solve with M
        tolerance = max(tolerance, 100 * np.finfo(float).eps * few.condition_number())
    error = prove(f"{robot}: {what}", tuple(fused(*arrays)), tuple(separate(*arrays)), tolerance)
    rows = list(zip(*([row.copy() for row in x] for x in arrays), strict=True))
    contenders = {"fused": _loop(fused, rows), "separate": _loop(separate, rows)}
    if what == "dynamics and a Jacobian":
        call = _pinocchio_set(few, frame)
        pin_rows = list(zip(*([x.copy() for x in few.pin_states[name]] for name in ("q", "v", "a")), strict=True))
        for row, pin_row in zip(rows, pin_rows, strict=True):
            tau, M, J = call(*pin_row)
            bridge = few.bridge
            expected = bridge.v_from_pin(tau), bridge.symmetric_from_pin(M), bridge.jacobian_from_pin(J)
            prove(f"{robot}: {what} against Pinocchio", tuple(fused(*row)), expected, DYNAMICS_AGREE)
        contenders["pinocchio"] = _loop(call, pin_rows)
    times = timing.interleaved(contenders, CALL_STATES, repeats, block)
    many = tuple(np.tile(x, (batch // CALL_STATES, 1)) for x in arrays)
    outs = [part(*[many[k] for k in each]) for part, each in zip(parts, takes, strict=True)]

    separate_batch = _one_by_one(parts, takes, outs)
    batches = {"fused": _loop(fused, [many], out=fused(*many)), "separate": _loop(separate_batch, [many])}
    batch_times = timing.interleaved(batches, len(many[0]), repeats, block)
    return {
        "robot": robot,
        "nv": few.model.nv,
        "set": what,
        "quantities": names,
        "error": error,
        "operations": {"fused": fused.operations.total, "separate": sum(part.operations.total for part in parts)},
        "sincos": {"fused": fused.operations["sincos"], "separate": sum(part.operations["sincos"] for part in parts)},
        "call": {name: timing.summary(each) for name, each in times.items()},
        "call_ratios": {name: timing.ratios(each, times["fused"])["median"] for name, each in times.items()},
        "batch": {name: timing.summary(each) for name, each in batch_times.items()},
        "batch_ratio": timing.ratios(batch_times["separate"], batch_times["fused"])["median"],
    }


def measure(kt, robots, repeats=timing.REPEATS, block=timing.BLOCK, batch=BATCH_STATES) -> dict[str, object]:
    """Verify, then time; the result is what `store.write` writes."""
    frames = measure_frames(kt, repeats, block, batch)
    print(frames_table(frames), flush=True)
    rows = []
    for robot in robots:
        for what in SETS:
            rows.append(measure_set(kt, robot, what, repeats, block, batch))
            print(line(rows[-1]), flush=True)
    return {
        "machine": machine.machine(),
        "versions": machine.versions(),
        "method": {
            "clock": "CPU time of the whole process, seconds per state", "repeats": repeats, "block": block,
            "call_states": CALL_STATES, "batch_states": batch, "seed": SEED, "threads": 1,
        },
        "frames": frames,
        "rows": rows,
    }  # fmt: skip


# Tables ---------------------------------------------------------------------------------------------------------------


def line(row) -> str:
    """One row of the table of fused functions."""
    call, batch, count = row["call"], row["batch"], row["operations"]
    rival = f"{row['call_ratios']['pinocchio']:.1f}" if "pinocchio" in call else ""
    cells = [
        f"{row['robot']} ({row['nv']})", row["set"], str(count["fused"]), f"{count['fused'] / count['separate']:.2f}",
        f"{1e6 * call['fused']['median']:.2f}", f"{row['call_ratios']['separate']:.2f}", rival,
        f"{1e9 * batch['fused']['median']:.0f}", f"{row['batch_ratio']:.2f}",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def frames_table(frames) -> str:
    """The table of all frames."""
    lines = ["| poses of all frames | us a call | against ours |", "| --- | ---: | ---: |"]
    for name, each in frames["call"].items():
        ratio = frames["ratios"].get(name)
        lines.append(f"| {name} | {1e6 * each['median']:.2f} | {f'{ratio:.1f}' if ratio else ''} |")
    lines += ["", "| batches | ns per position |", "| --- | ---: |"]
    lines += [f"| {name} | {1e9 * each['median']:.0f} |" for name, each in frames["batch"].items()]
    return "\n".join(lines)


def tables(result) -> str:
    """The tables of the page."""
    about, frames = result["machine"], result["frames"]
    return "\n".join([
        f"{frames['robot']}, {frames['frames']} frames, as Pinocchio counts them:", "", frames_table(frames), "",
        "| robot (nv) | set | operations | of the parts' | call [us] | separate / fused | Pinocchio / fused | "
        "batch [ns] | separate / fused |",
        "| --- | --- |" + " ---: |" * 7, *map(line, result["rows"]), "",
        f"{about['processor']}, one core, Python {about['python']}, Pinocchio {result['versions']['pin']}; CPU time, "
        f"medians of {result['method']['repeats']} interleaved repeats, batches of {result['method']['batch_states']} "
        f"states with `out=`; {result.get('date', '')}.",
    ])  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fused", description=__doc__.splitlines()[0])
    parser.add_argument("--robots", nargs="+", default=ROBOTS, metavar="ROBOT")
    parser.add_argument("--repeats", type=int, default=timing.REPEATS)
    parser.add_argument("--quick", action="store_true", help="check the harness: short blocks, nothing is written")
    chosen = parser.parse_args(arguments)
    for variable in ("OMP_NUM_THREADS", "KINETREE_NUM_THREADS"):
        os.environ[variable] = "1"

    import kinetree as kt

    if chosen.quick:
        measure(kt, chosen.robots, repeats=3, block=0.002, batch=256)
        return
    store.write("fused", measure(kt, chosen.robots, chosen.repeats))
    head, marker, tail = PAGE.read_text().partition("<!-- results -->")
    _, end, rest = tail.partition("<!-- end of results -->")
    PAGE.write_text(f"{head}{marker}\n\n{tables(store.read('fused'))}\n\n{end}{rest}")


if __name__ == "__main__":
    main()
