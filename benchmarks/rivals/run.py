"""kinetree and every rival that is installed, on the same robots and states, in one process.

``python -m benchmarks.rivals`` verifies every answer against Pinocchio (1e-9 of the largest entry of a state, unless an
offer says and explains another tolerance), then times all offers of a quantity interleaved, on one core, in CPU time.
Absent rivals are named. It writes ``benchmarks/results/rivals.json``, the tables and the plot of
``docs/benchmarks.md``. The time until the first result (building, tracing, compiling) is reported apart.
"""

from __future__ import annotations

import argparse
import os
import statistics
import warnings

import numpy as np

ROBOTS = ("ur5", "panda_arm", "panda", "anymal_b", "talos_reduced")
VARIANTS = {"panda_arm": ("panda", "finger")}
"""Robots with locked joints: adam's CasADi side fails on prismatic joints, so the arm alone is compared too."""
PACKAGES = (
    "kinetree", "numpy", "llvmlite", "pin", "mujoco", "drake", "jax", "frax", "mujoco-mjx", "adam-robotics", "casadi",
)  # fmt: skip
BATCH = 4096
SEED = 20080101
REPEATS = 7
BLOCK = 0.03
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "KINETREE_NUM_THREADS": "1",
    "KINETREE_CACHE": "0",  # the time until the first result includes compiling, for all alike
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
    # What frax's own pages recommend for one core; and without the newer code generator of XLA's CPU back end, which
    # computes a parent anew for every child: MJX then takes exponential time in the depth of a chain, 12 ms a state for
    # an arm instead of 6 us, and frax and adam up to a quarter longer.
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false --xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED "
    "--xla_cpu_use_fusion_emitters=false",
}


def rivals() -> dict:
    """A function ``(robot, batch) -> offers`` per rival, besides Pinocchio and kinetree."""
    from benchmarks.rivals import casadi_code, engines, jax_engines

    return {
        "MuJoCo": engines.mujoco,
        "Drake": engines.drake,
        "CasADi code": casadi_code.casadi_code,
        "frax": jax_engines.frax,
        "adam": jax_engines.adam,
        "MJX": jax_engines.mjx,
    }


def gather(robot, pinocchio, chosen, batch: int) -> tuple[list, dict[str, str]]:
    """All offers for a robot, and why rivals are absent."""
    from benchmarks.rivals.contest import Absent
    from benchmarks.rivals.ours import kinetree

    offers, absent = [*kinetree(robot, batch), *pinocchio.offers()], {}
    for name, rival in chosen.items():
        count = len(offers)
        try:
            for offer in rival(robot, batch):
                offers.append(offer)
        except Absent as error:
            absent[name] = str(error)
        except Exception as error:  # a rival that fails is reported; the others go on
            absent[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else ''}"
        if name in absent:
            print(f"  {robot.name}: {name} ({len(offers) - count} offers): {absent[name]}", flush=True)
    return offers, absent


def verified(offers, pinocchio) -> tuple[list, list[dict]]:
    """The offers whose answers are right, and the errors of all."""
    right, errors, references = [], [], {}
    for offer in offers:
        key = offer.quantity, offer.states
        if offer.reference is None and key not in references:
            references[key] = pinocchio.reference(*key)
        reference = references[key] if offer.reference is None else offer.reference()
        found = np.asarray(offer.result())
        per_state = np.abs(found - reference).max(axis=1) / np.abs(reference).max(axis=1)
        # An ill-conditioned state amplifies rounding in forward dynamics: there the median must keep the tolerance.
        forward = offer.quantity.startswith("aba")
        error, worst = float(np.median(per_state) if forward else per_state.max()), float(per_state.max())
        ok = bool(error <= offer.tolerance)
        errors.append(
            {
                "rival": offer.rival, "quantity": offer.quantity, "mode": offer.mode, "note": offer.note,
                "error": error, "worst": worst, "tolerance": offer.tolerance, "right": ok,
            }
        )  # fmt: skip
        if ok:
            right.append(offer)
        else:
            print(f"  WRONG: {offer.rival} {offer.quantity} {offer.mode}: error {error:.1e}", flush=True)
    return right, errors


def timed(offers, repeats: int, block: float) -> list[dict]:
    """Seconds per state of each offer, all offers of a quantity interleaved, and how much longer than kinetree's best.

    The ratio of an offer is taken repeat by repeat to kinetree's call (mode "call") or batch (all others).
    """
    from benchmarks import timing

    rows = []
    for quantity in dict.fromkeys(offer.quantity for offer in offers):
        group = [offer for offer in offers if offer.quantity == quantity]
        names = [f"{k}" for k in range(len(group))]
        times = timing.interleaved(
            {name: offer.run for name, offer in zip(names, group, strict=True)},
            {name: offer.states for name, offer in zip(names, group, strict=True)},
            repeats, block,
        )  # fmt: skip
        base = {o.mode: times[n] for n, o in zip(names, group, strict=True) if o.rival == "kinetree"}
        for name, offer in zip(names, group, strict=True):
            own = base["call" if offer.mode == "call" else "batch"]
            rows.append(
                {
                    "rival": offer.rival, "quantity": quantity, "mode": offer.mode, "note": offer.note,
                    "states": offer.states, "seconds": timing.summary(times[name]), "build": offer.build,
                    "ratio": statistics.median(t / o for t, o in zip(times[name], own, strict=True)),
                }
            )  # fmt: skip
    return rows


def main(arguments: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals", description=__doc__.splitlines()[0])
    parser.add_argument("--robots", nargs="+", default=ROBOTS, metavar="ROBOT")
    parser.add_argument("--only", nargs="+", metavar="RIVAL", help="some of the rivals")
    parser.add_argument("--name", default="rivals", help="name of the result")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--quick", action="store_true", help="check the harness: short blocks, nothing is written")
    chosen = parser.parse_args(arguments)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    warnings.filterwarnings("ignore", module="mujoco|frax|adam|jax")

    import kinetree as kt
    from benchmarks import machine, store
    from benchmarks.rivals.contest import Robot
    from benchmarks.rivals.ours import Pinocchio
    from tests.engines.robots import ROBOTS as FILES
    from tests.engines.robots import robot_path

    contenders = {n: r for n, r in rivals().items() if chosen.only is None or n in chosen.only}
    batch, repeats, block = (256, 3, 0.002) if chosen.quick else (BATCH, chosen.repeats, BLOCK)
    found, about = [], None
    affinity = one_core()
    try:
        for name in chosen.robots:
            file, locked = VARIANTS.get(name, (name, ""))
            robot = Robot(kt, name, robot_path(file), FILES[file].floating_base, batch, SEED, locked)
            pinocchio = Pinocchio(robot, batch)
            offers, absent = gather(robot, pinocchio, contenders, batch)
            right, errors = verified(offers, pinocchio)
            rows = timed(right, repeats, block)
            about = getattr(pinocchio, "compiler", about)
            found.append(
                {"robot": name, "nq": robot.model.nq, "nv": robot.model.nv, "absent": absent, "errors": errors,
                 "rows": rows}
            )  # fmt: skip
            for row in rows:
                print(
                    f"{name:14} {row['quantity']:17} {row['mode']:5} {row['rival']:21}"
                    f" {1e9 * row['seconds']['median']:10.0f} ns  {row['ratio']:8.1f}x  {row['build']:6.1f} s"
                    f"  {row['note']}",
                    flush=True,
                )
            if chosen.quick:
                continue
            method = {
                "clock": "CPU time of the process on one core, seconds per state", "repeats": repeats, "block": block,
                "batch": batch, "seed": SEED, "environment": ENVIRONMENT, "pinocchio_cpp": about,
            }  # fmt: skip
            versions = machine.versions(PACKAGES)
            result = {"machine": machine.machine(), "versions": versions, "method": method, "robots": found}
            print(f"wrote {store.write(chosen.name, result).name}")  # robot by robot: a long run may be ended
    finally:
        if affinity:
            os.sched_setaffinity(0, affinity)
    if chosen.name == "rivals" and not chosen.quick:
        from benchmarks import plot, table

        plot.rivals()
        table.update_documents()


def one_core() -> set[int] | None:
    """Keep this process on one core, so that no rival's thread pool is an advantage; returns what it was."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    return before
