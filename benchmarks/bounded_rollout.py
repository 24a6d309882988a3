"""Rollouts with dry friction that sticks and hard limits, against `simulate` and MuJoCo's rollouts.

N states of a mechanism start at random, are pushed at random and come to rest. kinetree's steps are exact, MuJoCo's
constraints are soft: both take the same model, written by `to_mjcf`, with MuJoCo's friction as stiff as its step
allows. Before anything is timed the rollout must be the motion of `simulate` (to rounding under friction alone, to the
order of dt with limits), and MuJoCo's the same to what softness leaves. ``python -m benchmarks.bounded_rollout`` writes
``benchmarks/results/bounded_rollout.json``; ``--quick`` checks that the harness works and says nothing about speed.
"""

from __future__ import annotations

import argparse
import statistics

import numpy as np

from benchmarks import machine, store, timing
from benchmarks.rollout import WrongAnswer, repeated

STATES, STEPS, DT, SEED = 1024, 300, 1e-3, 20260101
SIMULATED = 2  # states that `simulate` steps
TOLERANCES = {"friction": (1e-8, 2e-2), "friction and limits": (5e-2, 2e-1)}  # of positions: simulate, MuJoCo's median


def mechanisms(kt) -> dict[str, object]:
    """Models by name, with friction and limits."""
    tree = kt.models.random_tree(12, seed=1, joints=[kt.joints.Revolute()])
    inertia = np.diagonal(kt.crba(tree, tree.neutral()))
    tree = tree.replace(dry_friction=0.5 * inertia, lower=-0.6, upper=0.6)
    return {
        "pendulum": kt.models.pendulum().replace(dry_friction=2.0, lower=-0.6, upper=0.6),
        "arm7": kt.load("arm7").replace(constraints=()),
        "tree of 12 hinges": tree,
    }


class Task:
    """A mechanism in both engines, with starts and joint forces."""

    def __init__(self, kt, name: str, kind: str, states: int, steps: int) -> None:
        import mujoco

        from tests.engines.mujoco_bridge import MujocoBridge

        base = mechanisms(kt)[name]
        limited = kind != "friction"
        self.plain = base if limited else base.without_limits()
        rows = [kt.constraints.StickingFriction(), *([kt.constraints.HardLimits()] if limited else [])]
        self.kt, self.name, self.kind, self.model = kt, name, kind, self.plain.with_constraints(*rows)
        written = kt.io.to_mjcf(self.plain, meshes="drop", unsupported="drop")
        self.bridge = MujocoBridge(self.plain, mujoco.MjModel.from_xml_string(written))
        mj_model, self.mujoco = self.bridge.mj_model, mujoco
        mj_model.opt.timestep = DT
        mj_model.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
        mj_model.dof_solref[:] = mj_model.jnt_solref[:] = (2.0 * DT, 1.0)
        mj_model.dof_solimp[:, :2] = mj_model.jnt_solimp[:, :2] = (0.99, 0.9999)
        rng = np.random.default_rng(SEED)
        nv = self.model.nv
        self.q0, self.v0 = 0.5 * rng.uniform(-1.0, 1.0, (states, nv)), rng.uniform(-1.0, 1.0, (states, nv))
        low, high = (np.asarray(x, float) for x in (base.lower, base.upper))
        self.q0 = np.clip(self.q0, low + 0.1 * (high - low), high - 0.1 * (high - low))
        inertia = np.diagonal(kt.crba(self.model, self.model.neutral()))
        pushes = rng.standard_normal((states, steps // 100 or 1, nv)).repeat(100, axis=1)[:, :steps]
        self.tau = 2.0 * inertia * pushes
        self.start = np.zeros((states, mujoco.mj_stateSize(mj_model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        there = self.bridge.there
        self.start[:, 1 : 1 + nv] = there.q_to(self.q0)
        self.start[:, 1 + nv : 1 + 2 * nv] = there.v_to(self.q0, self.v0)
        self.mj_tau = np.ascontiguousarray(there.tau_to(self.q0[:, None], self.tau))

    def rollout(self, soft: bool = False):
        """The compiled rollout; ``soft`` has rounded friction and soft stops."""
        roll = self.kt.simulation.Rollout(self.plain if soft else self.model, "semi_implicit", threads=1)
        return lambda: roll(self.q0, self.v0, self.tau, DT)

    def simulate(self):
        """Exact steps of some states, one by one."""

        def run():
            runs = [
                self.kt.simulate(self.model, q, v, duration=DT * len(tau), dt=DT, integrator="semi_implicit",
                                 controller=lambda t, q, v, tau=tau: tau[min(int(round(t / DT)), len(tau) - 1)])
                for q, v, tau in zip(self.q0[:SIMULATED], self.v0, self.tau, strict=False)
            ]  # fmt: skip
            return np.array([run.q for run in runs])

        return run

    def mujoco_rollout(self):
        """MuJoCo's own."""
        from mujoco import rollout

        mj, mj_model = self.mujoco, self.bridge.mj_model
        data, pool = mj.MjData(mj_model), rollout.Rollout(nthread=0)
        states = np.empty((*self.tau.shape[:2], self.start.shape[1]))

        def run():
            pool.rollout(
                [mj_model] * len(self.start), [data], self.start, self.mj_tau,
                control_spec=int(mj.mjtState.mjSTATE_QFRC_APPLIED), nstep=self.tau.shape[1], state=states,
                skip_checks=True,
            )  # fmt: skip
            return self.bridge.there.q_from(states[:, -1, 1 : 1 + self.model.nq])

        return run

    def verify(self) -> dict[str, float]:
        """Differences of positions from `simulate` (largest) and from MuJoCo (median over states)."""
        q, v = self.rollout()()
        exact, soft = TOLERANCES[self.kind]
        errors = {
            "simulate": float(np.abs(q[:SIMULATED] - self.simulate()()).max()),
            "mujoco": float(np.median(np.abs(q[:, -1] - self.mujoco_rollout()()).max(axis=-1))),
        }
        for other, tolerance in (("simulate", exact), ("mujoco", soft)):
            if not errors[other] <= tolerance:
                raise WrongAnswer(f"{self.name}, {self.kind}: off {other} by {errors[other]:.1e}, {tolerance:.0e}")
        return errors | {"share of velocities at rest": float((v[:, -1] == 0.0).mean())}


def measure(kt, states: int, steps: int, repeats: int) -> dict[str, object]:
    """Verify, then time, every mechanism."""
    rows = []
    for name in mechanisms(kt):
        for kind in TOLERANCES:
            task = Task(kt, name, kind, states, steps)
            errors = task.verify()
            contenders = {
                "rollout": task.rollout(), "rollout, rounded friction and soft stops": task.rollout(soft=True),
                "simulate": task.simulate(), "mujoco rollout": task.mujoco_rollout(),
            }  # fmt: skip
            work = dict.fromkeys(contenders, states * steps) | {"simulate": SIMULATED * steps}
            times = timing.interleaved({key: repeated(run) for key, run in contenders.items()}, work, repeats)
            row = {
                "mechanism": name, "nv": task.model.nv, "kind": kind, "errors": errors,
                "seconds": {key: timing.summary(each) for key, each in times.items()},
                "mujoco / rollout": timing.ratios(times["mujoco rollout"], times["rollout"]),
            }  # fmt: skip
            rows.append(row)
            shown = ", ".join(f"{key} {1e9 * statistics.median(each):.0f}" for key, each in times.items())
            print(f"{name} ({task.model.nv}), {kind}: {errors}; ns per step: {shown}", flush=True)
    return {
        "machine": machine.machine(),
        "versions": machine.versions((*machine.PACKAGES, "mujoco")),
        "method": {"clock": "CPU time of the process per state and step", "repeats": repeats, "dt": DT, "seed": SEED},
        "rows": rows,
    }


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bounded_rollout", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="check the harness: few states, nothing is written")
    chosen = parser.parse_args(arguments)

    import kinetree as kt

    if chosen.quick:
        measure(kt, 16, 100, 3)
        return
    print(f"wrote {store.write('bounded_rollout', measure(kt, STATES, STEPS, chosen.repeats)).name}")


if __name__ == "__main__":
    main()
