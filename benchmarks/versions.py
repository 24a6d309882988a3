"""Two versions of the library beside each other: results, operation counts and compile times of every algorithm.

``python -m benchmarks.versions write FILE`` records the version that is imported; ``python -m benchmarks.versions
compare OLD NEW`` prints what differs between two such records. Run the first with the sources of either version:
``PYTHONPATH=other/src python -m benchmarks.versions write old.npz``. Programs and machine code are taken from no cache.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np

ROBOTS = {"cart_pole": {}, "double_pendulum": {}, "arm7": {}, "quadruped": {"floating_base": True}, "humanoid": {}}
STATES = 3
SLOWER = 1.1  # times the old compile time; beyond it is printed
LEAST_TIME = 0.2  # [s] shorter compile times are noise


def inputs_of(spec, model) -> dict[str, np.ndarray]:
    """Arguments of an algorithm by what its inputs are called, the same for every version."""
    rng = np.random.default_rng(zlib.crc32(model.name.encode()))
    pairs = [model.random_state(rng) for _ in range(STATES)]
    found = {}
    for name in spec.inputs:
        shape = spec.shape(name, model)
        if name in ("q", "q0", "q1"):
            x = np.array([pairs[k - (name == "q1")][0] for k in range(STATES)])
        elif name == "v":
            x = np.array([pair[1] for pair in pairs])
        elif name == "dt":
            x = np.full(STATES, 1e-3)
        else:
            x = rng.standard_normal((STATES, *shape))
            if shape == (model.nv, model.nv):  # well conditioned, whether it stands for M or for a factor of it
                x = 0.1 * (x + np.swapaxes(x, 1, 2)) + 2.0 * model.nv * np.eye(model.nv)
                x = x * model.mass_matrix_pattern()
            elif name in ("D", "D_inv"):
                x = 1.0 + np.abs(x)
        found[name] = x
    return found


def static_of(spec, model) -> dict[str, object]:
    """Choices that are not arrays: the last frame, in world coordinates; every second joint has a known force."""
    joints = [name for name in model.joint_names if name is not None]  # older versions have None for the world
    choices = {
        "frame": model.frames[-1].name,
        "reference": "local" if spec.name == "joint_wrenches" else "world",
        "kind": "spatial",
        "forward": tuple(joints[::2]),
    }
    return {name: choices[name] for name in spec.static if name in choices}


def record(path: Path, robots: list[str], names: list[str]) -> None:
    """Write results, counts and compile times of the version that is imported."""
    os.environ["KINETREE_CACHE_DIR"] = tempfile.mkdtemp()
    import kinetree as kt
    from kinetree.algorithms.spec import ALGORITHMS

    facts, arrays = {}, {}
    for robot in robots:
        model = kt.load(robot, **ROBOTS.get(robot, {}))
        for name in names or sorted(ALGORITHMS):
            spec, key = ALGORITHMS[name], f"{robot} {name}"
            try:
                start = time.process_time()
                f = kt.compile(model, name, **static_of(spec, model))
                given = inputs_of(spec, model)
                one = [x[0] for x in given.values()]
                f(*one)
                facts[key] = {"compile": time.process_time() - start}
                facts[key]["operations"] = f.operations.total
                results = f(*given.values())
                for k, y in enumerate(results if isinstance(results, tuple) else (results,)):
                    arrays[f"{key} {k}"] = np.asarray(y)
            except Exception as error:  # a version may refuse what another computes: that is compared, too
                facts[key] = {"error": type(error).__name__}
        print(f"{robot}: {sum(key.startswith(robot + ' ') for key in facts)} algorithms", flush=True)
    np.savez_compressed(path, facts=np.array(json.dumps(facts)), **arrays)


def compare(old: Path, new: Path, renamed: dict[str, str]) -> int:
    """Print what differs between two records; the number of different results and increased counts."""
    with np.load(old) as a, np.load(new) as b:
        before, after = json.loads(str(a["facts"])), json.loads(str(b["facts"]))
        worst, found, slower = 0.0, 0, []
        for key, fact in before.items():
            robot, name = key.split(" ")
            other = f"{robot} {renamed.get(name, name)}"
            if other not in after:
                print(f"{key}: gone")
                found += 1
                continue
            now = after[other]
            if "error" in fact or "error" in now:
                if fact.get("error") != now.get("error"):
                    print(f"{key}: {summary(fact)} -> {summary(now)}")
                    found += 1
                continue
            if fact["operations"] != now["operations"]:
                print(f"{key}: {summary(fact)} -> {summary(now)}")
                found += now["operations"] > fact["operations"]
            if now["compile"] > SLOWER * fact["compile"] and now["compile"] > LEAST_TIME:
                slower.append(f"{key}: {fact['compile']:.2f} -> {now['compile']:.2f} s")
            k = 0
            while f"{key} {k}" in a:
                x, y = a[f"{key} {k}"], b[f"{other} {k}"]
                error = float(np.max(np.abs(x - y), initial=0.0) / max(float(np.max(np.abs(x), initial=0.0)), 1e-300))
                if x.shape != y.shape or not error <= 1e-9:
                    print(f"{key}: result {k} differs by {error:.1e}")
                    found += 1
                worst, k = max(worst, error), k + 1
        totals = [sum(fact.get("compile", 0.0) for fact in facts.values()) for facts in (before, after)]
        print(f"{len(before)} pairs of robot and algorithm, {found} differences; largest relative one {worst:.1e}")
        print(f"compile times: {totals[0]:.1f} -> {totals[1]:.1f} s of CPU in all", *slower, sep="\n  ")
    return found


def summary(fact: dict) -> str:
    """One record in a few words."""
    return fact.get("error") or f"{fact['operations']} operations"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write")
    write.add_argument("file", type=Path)
    write.add_argument("--robots", nargs="*", default=list(ROBOTS))
    write.add_argument("--algorithms", nargs="*", default=[])
    pair = commands.add_parser("compare")
    pair.add_argument("old", type=Path)
    pair.add_argument("new", type=Path)
    pair.add_argument("--renamed", nargs="*", default=[], metavar="OLD=NEW")
    given = parser.parse_args()
    if given.command == "write":
        record(given.file, given.robots, given.algorithms)
    else:
        raise SystemExit(bool(compare(given.old, given.new, dict(x.split("=") for x in given.renamed))))


if __name__ == "__main__":
    main()
