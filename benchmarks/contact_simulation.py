"""Single steps with contact from Python: ``Simulation.step`` against ``mj_step``.

ANYmal stands on four feet, by joint springs and dampers that both engines have, or jumps about under random joint
forces. Before anything is timed both must stand: with the same weight on the feet and heights that agree, MuJoCo's
contacts being as stiff as its step allows. It is timed with its defaults, which are faster; its feet creep then.
``python -m benchmarks.contact_simulation`` writes
``benchmarks/results/contact_simulation.json``; ``--quick`` checks that the harness works and says nothing about speed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import xml.etree.ElementTree as ET

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks import machine, store
from benchmarks.rollout import WrongAnswer

DT, STEPS, REPEATS, SEED, STIFFNESS, DAMPING = 1e-3, 2000, 7, 0, 200.0, 5.0
BENT = {"LF_HFE": 0.4, "RF_HFE": 0.4, "LH_HFE": -0.4, "RH_HFE": -0.4,
        "LF_KFE": -0.8, "RF_KFE": -0.8, "LH_KFE": 0.8, "RH_KFE": 0.8}  # fmt: skip
SETTLED = {"height": 1e-3, "weight": 1e-2}  # [m] and relative


def robot(kt):
    """ANYmal with its feet on the ground z = 0, and its position."""
    from tests.engines.robots import robot_path

    model = kt.load(robot_path("anymal_b"), floating_base=True, inertia="project")
    q = model.neutral()
    for joint, angle in BENT.items():
        q[model.q_index(joint).start] = angle
    hinges = [model.joint_name(i) for i in model.outward() if model.joints[i].nv == 1]
    model = model.without_limits().replace(
        stiffness=dict.fromkeys(hinges, STIFFNESS), damping=dict.fromkeys(hinges, DAMPING),
        spring_reference={name: float(q[model.q_index(name).start]) for name in hinges},
    )  # fmt: skip
    feet = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
    touching = model.with_contacts(kt.collision.Ground(friction=0.7), bodies=feet)
    q[2] -= kt.collision.contact_gaps(touching, q).min()
    return model, touching, q


class MuJoCo:
    """The same robot in MuJoCo: the tree that kinetree writes, with the spheres of the feet and a floor."""

    def __init__(self, kt, model, touching, q, stiff: bool = False) -> None:
        import mujoco

        from tests.engines.mujoco_bridge import MujocoBridge

        root = ET.fromstring(kt.io.to_mjcf(model, meshes="drop", unsupported="drop"))
        for body in root.iter("body"):
            for geom in body.findall("geom"):
                body.remove(geom)
        bodies = {body.get("name"): body for body in root.iter("body")}
        for n, pair in enumerate(touching.contacts):
            frame, at = touching.frame(pair.second.body), foot(touching, n)
            ET.SubElement(bodies[touching.body_names[frame.body]], "geom", type="sphere", size=str(pair.second.size[0]),
                          pos=" ".join(map(repr, map(float, at))), mass="0", friction="0.7 0 0")  # fmt: skip
        ET.SubElement(root.find("worldbody"), "geom", type="plane", size="0 0 1", friction="0.7 0 0")
        self.mujoco, self.model = mujoco, mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
        self.model.opt.timestep, self.model.opt.cone = DT, mujoco.mjtCone.mjCONE_ELLIPTIC
        if stiff:
            self.model.geom_solref[:], self.model.geom_solimp[:, :2] = (2.0 * DT, 1.0), (0.99, 0.9999)
        self.there = MujocoBridge(model, self.model).there
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = self.there.q_to(q)

    def stand(self, steps: int) -> None:
        """Steps from Python."""
        step, model, data = self.mujoco.mj_step, self.model, self.data
        for _ in range(steps):
            step(model, data)

    def jump(self, forces) -> None:
        """The same under joint forces."""
        step, model, data = self.mujoco.mj_step, self.model, self.data
        for tau in forces:
            data.qfrc_applied[:] = tau
            step(model, data)


def foot(model, n: int) -> np.ndarray:
    """Center of a foot in the coordinates of its body [m]."""
    import kinetree as kt

    q, pair = model.neutral(), model.contacts[n]
    points, normals, gaps = kt.collision.contact_points(model, q)
    center = points[n] + (pair.second.size[0] + 0.5 * gaps[n]) * normals[n]
    R, p = kt.pose(model, q, frame=model.body_names[model.frame(pair.second.body).body])
    return R.T @ (center - p)


def verified(kt, model, touching, q, steps: int) -> dict[str, float]:
    """Heights and weights of both after some time of standing."""
    run = kt.simulate(touching, q, duration=steps * DT, dt=DT)
    rival, soft = (MuJoCo(kt, model, touching, q, stiff) for stiff in (True, False))
    rival.stand(steps)
    soft.stand(steps)
    force = np.zeros(6)
    total = 0.0
    for n in range(rival.data.ncon):
        rival.mujoco.mj_contactForce(rival.model, rival.data, n, force)
        total += force[0]
    weight = float(touching.total_mass) * 9.81
    found = {
        "height": float(run.q[-1, 2]), "height there": float(rival.data.qpos[2]),
        "with its defaults": float(soft.data.qpos[2]),
        "weight": float(run.contacts.normal_forces[-1].sum()), "weight there": float(total),
        "penetration": float(max(-run.contacts.gaps[-1].min(), 0.0)),
        "residual 99 %": float(np.quantile(kt_residuals(run), 0.99)),
        "speed at rest": float(np.abs(run.v[-1]).max()),
    }  # fmt: skip
    if abs(found["height"] - found["height there"]) > SETTLED["height"]:
        raise WrongAnswer(f"heights differ: {found}")
    for name in ("weight", "weight there"):
        if abs(found[name] - weight) > SETTLED["weight"] * weight:
            raise WrongAnswer(f"the feet carry {found[name]:g} N of {weight:g} N")
    return found


def kt_residuals(run) -> np.ndarray:
    """Residuals of the solver at all samples [m/s]."""
    from kinetree.simulation.contact_report import contact_residuals

    return contact_residuals(run).max(axis=1)


def measured(kt, model, touching, q, steps: int, repeats: int) -> dict[str, dict[str, float]]:
    """Microseconds for a step, medians of interleaved repeats of both."""
    rng = np.random.default_rng(SEED)
    forces = np.zeros((steps, touching.nv))
    forces[:, 6:] = rng.uniform(-40.0, 40.0, (steps // 20 + 1, touching.nv - 6)).repeat(20, axis=0)[:steps]
    rival = MuJoCo(kt, model, touching, q)
    there = np.ascontiguousarray(rival.there.tau_to(np.tile(q, (steps, 1)), forces))
    place = [0]

    def controller(t, q, v):
        place[0] += 1
        return forces[place[0] % steps]

    standing = kt.Simulation(touching, q, dt=DT)
    jumping = kt.Simulation(touching, q, dt=DT, controller=controller)

    def own(simulation):
        step = simulation.step
        for _ in range(steps):
            step()

    jumper = MuJoCo(kt, model, touching, q)
    contenders = {
        ("stand", "kinetree"): lambda: own(standing), ("stand", "MuJoCo"): lambda: rival.stand(steps),
        ("jump", "kinetree"): lambda: own(jumping), ("jump", "MuJoCo"): lambda: jumper.jump(there),
    }  # fmt: skip
    times = {key: [] for key in contenders}
    for _ in range(repeats):
        for key, call in contenders.items():
            start = time.process_time()
            call()
            times[key].append((time.process_time() - start) / steps * 1e6)
    found = {}
    for motion in ("stand", "jump"):
        mine, theirs = (statistics.median(times[motion, who]) for who in ("kinetree", "MuJoCo"))
        found[motion] = {"kinetree us": mine, "MuJoCo us": theirs, "ratio": theirs / mine}
    return found


def measure(kt, steps: int, repeats: int) -> dict:
    """Answers and times."""
    model, touching, q = robot(kt)
    answers = verified(kt, model, touching, q, max(steps, 500))
    print("\n".join(f"{name:<16} {value:.6g}" for name, value in answers.items()))
    found = measured(kt, model, touching, q, steps, repeats)
    for motion, row in found.items():
        print(f"{motion:<8} kinetree {row['kinetree us']:.2f} us, MuJoCo {row['MuJoCo us']:.2f} us, "
              f"{row['ratio']:.2f} times")  # fmt: skip
    return {
        "machine": machine.machine(),
        "versions": machine.versions((*machine.PACKAGES, "mujoco")),
        "method": {"clock": "CPU time of the process per step", "repeats": repeats, "dt": DT, "seed": SEED},
        "verified": answers,
        "steps": found,
    }


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.contact_simulation", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--quick", action="store_true", help="check the harness: few steps, nothing is written")
    chosen = parser.parse_args(arguments)

    import kinetree as kt

    if chosen.quick:
        measure(kt, 200, 2)
        return
    print(f"wrote {store.write('contact_simulation', measure(kt, STEPS, chosen.repeats)).name}")


if __name__ == "__main__":
    main()
