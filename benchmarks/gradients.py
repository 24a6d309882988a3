"""Gradients through rollouts by the adjoint of the steps, against the rollouts themselves.

A seven-joint arm with three spring-dampers between its links and the world, 1,000 steps of 2 ms under random joint
forces; the objective is the distance of the hand from a target and the effort. Before anything is timed the gradient
must agree with extrapolated difference quotients along random directions. ``python -m benchmarks.gradients`` writes
``benchmarks/results/gradients.json`` and the table of ``docs/rollout.md``; ``--quick`` checks that the harness works.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
from datetime import date

import numpy as np

from benchmarks import machine, store, table, timing
from benchmarks.rollout import repeated

STEPS, DT, SEED = 1000, 2e-3, 20261123
BATCHES = (1, 256)
INTEGRATORS = ("semi_implicit", "rk4", "linearly_implicit", "bdf1", "bdf2")
TOLERANCE = 1e-6  # of the difference quotients, relative to the largest derivative
PAGE = pathlib.Path(__file__).parent.parent / "docs" / "rollout.md"


def arm(kt):
    """The arm, its gripper locked, with springs, without stops and dry friction."""
    model = kt.load("arm7")
    fingers = {name: 0.0 for name in model.joint_names if "finger" in name}
    model = kt.surgery.lock(model, fingers).replace(dry_friction=0.0).without_limits()  # no kinks
    frames = [frame.name for frame in model.frames]
    names = (frames[-1], frames[-2], frames[-3])
    springs = [
        kt.forces.PointSpring(f"spring {k}", frames[0], name, stiffness=20.0, rest_length=0.1, damping=1.0)
        for k, name in enumerate(names)
    ]
    return model.with_forces(*springs), names[0]


def differentiable(kt, model, hand: str, integrator: str):
    """The compiled rollout and gradient."""
    target = kt.spatial.Vector3(0.3, 0.2, 0.5)

    def effort(s):
        return 1e-3 * sum((x * x for x in s.tau), start=0.0)

    def miss(s):
        d = s.point(hand) - target
        return d.dot(d)

    return kt.simulation.DifferentiableRollout(model, effort, miss, integrator=integrator, threads=1)


def verify(kt, roll, q, v, tau) -> float:
    """The error of the gradient by the start and by the forces, for one rollout."""
    found, worst = roll(q, v, tau, DT), 0.0
    for x, slopes, function in (
        (q, found.q0, lambda x: roll(x, v, tau, DT).value),
        (v, found.v0, lambda x: roll(q, x, tau, DT).value),
        (tau, found.tau, lambda x: roll(q, v, x, DT).value),
    ):
        check = kt.check_gradient(function, x, slopes, directions=3, vectorized=True, step=1e-3)
        if check.error > TOLERANCE:
            raise SystemExit(f"the gradient is wrong:\n{check}")
        worst = max(worst, check.error)
    return worst


def rows(kt, steps: int, batches, repeats: int, block: float) -> list[dict]:
    """The timings of each integrator and batch."""
    model, hand = arm(kt)
    rng, found = np.random.default_rng(SEED), []
    for integrator in INTEGRATORS:
        roll = differentiable(kt, model, hand, integrator)
        for count in batches:
            q, v = 0.3 * rng.normal(size=(count, model.nv)), np.zeros((count, model.nv))
            tau = 0.5 * rng.normal(size=(count, steps, model.nv))
            error = verify(kt, roll, q[0], v[0], tau[0])
            contenders = {
                "rollout": repeated(lambda q=q, v=v, tau=tau, r=roll.rollout: r(q, v, tau, DT)),
                "gradient": repeated(lambda q=q, v=v, tau=tau, r=roll: r(q, v, tau, DT)),
            }
            times = timing.interleaved(contenders, count * steps, repeats, block)
            medians = {name: statistics.median(each) for name, each in times.items()}
            ratio = statistics.median(b / a for a, b in zip(times["rollout"], times["gradient"], strict=True))
            found.append(
                {"integrator": integrator, "states": count, "error": error, "ratio": ratio, "seconds": medians}
            )
            print(integrator, count, f"{medians['rollout'] * 1e9:.0f} ns, ratio {ratio:.2f}, error {error:.1g}")
    return found


def shown(result: dict) -> str:
    """The table of the page."""
    lines = [
        "| integrator | rollouts at once | rollout, ns per step | with gradient | ratio | relative error |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        ns = {name: f"{1e9 * x:.0f}" for name, x in row["seconds"].items()}
        lines.append(
            f"| {row['integrator']} | {row['states']} | {ns['rollout']} | {ns['gradient']} "
            f"| **{row['ratio']:.1f}** | {row['error']:.0e} |"
        )
    return "\n".join([*lines, "", table.machine_line(result)])


def main() -> None:
    import kinetree as kt

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few steps, nothing written")
    quick = parser.parse_args().quick
    found = rows(kt, 20 if quick else STEPS, (1, 8) if quick else BATCHES, 1 if quick else 9, 0.01 if quick else 0.1)
    if not quick:
        result = {"date": date.today().isoformat(), "machine": machine.machine(), "versions": machine.versions()}
        result |= {"method": {}, "rows": found}
        store.write("gradients", result)
        table.put(PAGE, "gradients", shown(result))


if __name__ == "__main__":
    main()
