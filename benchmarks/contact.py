"""Rollouts with contact against MuJoCo's: robots that stand, walk at random and fall on flat ground.

kinetree's contact is rigid with the true Coulomb cone, MuJoCo's soft; both have the same robots, the same shapes, the
same friction and the same springs and dampers in the joints, the ground included. Before anything is timed, robots
stand still in both engines: the same rest positions, to the depth by which MuJoCo's default contact gives way.
Residuals of both are those of Signorini's and Coulomb's laws (natural map, worst contact of a state [m/s]), from states
and contact forces alone. States are those of kinetree's motion: standing, walking (random forces of 40 N m, held for 20
ms), and tumbling after a fall. ``python -m benchmarks.contact`` writes ``benchmarks/results/contact.json``; ``--quick``
checks that the harness works and says nothing about speed.
"""

from __future__ import annotations

import argparse
import os
import statistics

import numpy as np

from benchmarks import machine, store, timing
from benchmarks.rollout import WrongAnswer, repeated
from benchmarks.table import ROOT, machine_line, put

DT, FRICTION, STEPS, SEED = 1e-3, 0.7, 100, 20261101
STATES, RIVAL_STATES, DROPS = 1024, 64, 1024
CASES = ("anymal_b, 4 feet", "talos_reduced, 8 sole corners", "anymal_b, 16 candidates", "anymal_b, all shapes")
SETS = ("stand", "walk", "fall")
LEGS = ("LF", "RF", "LH", "RH")


def spheres(robot: str, which: str) -> list[tuple[str, tuple, float]]:
    """Frame, position [m] and radius [m] of the spheres of a case."""
    if robot == "talos_reduced":
        corners = [(x, y, 0.005) for x in (-0.1, 0.1) for y in (-0.06, 0.06)]
        return [(f"{side}_sole_link", p, 0.005) for side in ("left", "right") for p in corners]
    found = [(f"{leg}_FOOT", (0.0, 0.0, 0.02), 0.03) for leg in LEGS]
    if which == "16 candidates":
        found += [(f"{leg}_SHANK", (0.0, 0.0, 0.0), 0.05) for leg in LEGS]
        found += [("base", (0.28 * x, 0.14 * y, 0.1 * z), 0.02) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    return found


class Task:
    """One case in both engines.

    Parameters
    ----------
    kt : module
        kinetree.
    case : str
        Of ``CASES``.
    states, steps : int
    dt : float
        Step [s].
    """

    force = 40.0  # of random joint forces [N m]

    def __init__(self, kt, case: str, states: int, steps: int, dt: float = DT) -> None:
        from tests.engines.robots import robot_path

        self.kt, self.case, self.n, self.steps, self.dt = kt, case, states, steps, dt
        robot, _, which = case.partition(", ")
        base = kt.load(robot_path(robot), floating_base=True, inertia="accept", unsupported="drop").without_limits()
        base = base.replace(dry_friction=0.0)
        builder = kt.ModelBuilder.of(base)
        if which != "all shapes":
            for body in builder._bodies.values():
                body.geometry.clear()
            for k, (frame, p, radius) in enumerate(spheres(robot, which)):
                at = base.frame(frame)
                p = np.array([*(at.X_FB.r + at.X_FB.E.T.matrix @ kt.spatial.Vector3(*p))])
                shape = kt.model.Geometry("sphere", (radius,), p_BG=p, name=f"candidate{k}")
                builder.add_geometry(base.body_names[at.body], shape)
        stiff = 200.0 if robot == "anymal_b" else 2000.0
        q = posture(base)
        joints = base.joint_names[1:]
        held = {name: float(q[base.q_index(name)][0]) for name in joints}
        self.floating = builder.build().replace(
            stiffness=dict.fromkeys(joints, stiff),
            damping=dict.fromkeys(joints, stiff / 40.0),
            spring_reference=held,
        )
        self.model = self.floating.with_contacts(ground=kt.collision.Ground(friction=FRICTION))
        q[2] -= kt.collision.contact_gaps(self.model, q).min()
        self.q = q
        self.roll = kt.simulation.Rollout(self.model, threads=1, checks=False)
        self.rng = np.random.default_rng(SEED)

    # --- kinetree -------------------------------------------------------------------------------------------------

    def starts(self, which: str) -> tuple:
        """States, first guesses being zero, and joint forces of a set."""
        n, nv = self.n, self.model.nv
        q, tau = np.tile(self.q, (n, 1)), None
        if which == "walk":
            tau = self.force * self.rng.normal(size=(n, -(-self.steps // 20), nv))
            tau = tau.repeat(20, axis=1)[:, : self.steps]
            tau[..., :6] = 0.0
        if which in ("fall", "lie"):
            turn = self.rng.standard_normal((n, 4))
            q[:, 2] += 0.5
            q[:, 3:7] = turn / np.linalg.norm(turn, axis=1)[:, None]
        before = {"stand": 0.3, "walk": 0.1, "fall": 0.35, "lie": 1.5}[which]
        steps = round(before / self.dt)
        early = None if tau is None else tau[:, np.arange(steps) % self.steps]
        q, v = (x[:, -1] for x in self.rolled(q, None, early, steps, every=steps))
        return q, v, tau

    def rolled(self, q, v, tau, steps: int, every: int = 1, **more):
        """A rollout by kinetree."""
        return self.roll(q, v, tau, self.dt, steps=steps, record=self.kt.Record(every=every, **more))

    def kinetree(self, start, dtype: str = "float64"):
        """The rollout of a set, the last state alone recorded."""
        q, v, tau = (x if x is None else x.astype(dtype) for x in start)

        def run():
            return self.rolled(q, v, tau, self.steps, every=self.steps)

        return run

    # --- MuJoCo ---------------------------------------------------------------------------------------------------

    def mujoco(self, cone: str = "elliptic", stiff: bool = False):
        """MuJoCo's model of the same, and conversions: `to_mjcf`, with the shapes and the ground as geoms."""
        import mujoco

        from tests.engines.mujoco_bridge import MujocoBridge

        bare = self.floating
        written = self.kt.io.to_mjcf(bare, meshes="drop", unsupported="drop")
        spec = mujoco.MjSpec.from_string(written)
        for geom in list(spec.geoms):
            spec.delete(geom)
        solver = {"solref": (2.0 * self.dt, 1.0), "solimp": (0.99, 0.9999, 0.001, 0.5, 2.0)} if stiff else {}
        friction = (FRICTION, 0.0, 0.0)
        plane = mujoco.mjtGeom.mjGEOM_PLANE
        spec.worldbody.add_geom(type=plane, size=(50, 50, 1), contype=0, conaffinity=1, friction=friction, **solver)
        kinds = {name: getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}") for name in ("sphere", "box", "cylinder")}
        for i in bare.outward():
            for shape in self.shapes(i):
                size = np.asarray(shape.size, float) * {"sphere": 1.0, "box": 0.5, "cylinder": (1.0, 0.5)}[shape.kind]
                turn = np.empty(4)
                mujoco.mju_mat2Quat(turn, np.asarray(shape.R_BG, float).ravel())
                spec.body(bare.body_names[i]).add_geom(
                    type=kinds[shape.kind], size=np.append(size, np.zeros(3 - len(size))), quat=turn,
                    pos=np.asarray(shape.p_BG, float), contype=1, conaffinity=0, friction=friction, mass=0.0, **solver,
                )  # fmt: skip
        found = spec.compile()
        found.opt.timestep, found.opt.cone = self.dt, getattr(mujoco.mjtCone, f"mjCONE_{cone.upper()}")
        found.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        bridge = MujocoBridge(bare, found)
        bridge.mj_model.opt.disableflags = 0  # which compares bare trees otherwise
        return bridge

    def shapes(self, i: int) -> list:
        """The collision shapes of body i."""
        return [shape for shape in self.floating.geometry[i] if shape.role != "visual"]

    def mujoco_rollout(self, bridge, start, states: int, threads: int = 0):
        """MuJoCo's own rollout of some states of a set."""
        import mujoco
        from mujoco import rollout

        q, v, tau = (x if x is None else x[:states] for x in start)
        there, mj = bridge.there, bridge.mj_model
        nq, nv = self.model.nq, self.model.nv
        first = np.zeros((states, mujoco.mj_stateSize(mj, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        first[:, 1 : 1 + nq], first[:, 1 + nq : 1 + nq + nv] = there.q_to(q), there.v_to(q, v)
        out = np.empty((states, self.steps, first.shape[1]))
        given = np.zeros((states, self.steps, nv))
        if tau is not None:
            given[...] = there.tau_to(q[:, None], tau)
        models, data = [mj] * states, [mujoco.MjData(mj) for _ in range(max(threads, 1))]
        pool = rollout.Rollout(nthread=threads)

        def run():
            pool.rollout(models, data, first, given, control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED),
                         nstep=self.steps, state=out, skip_checks=True)  # fmt: skip
            last = out[:, -1]
            q = there.q_from(last[:, 1 : 1 + nq])
            return q, there.v_from(q, last[:, 1 + nq : 1 + nq + nv])

        return run

    # --- laws -----------------------------------------------------------------------------------------------------

    def residuals(self, which: str, states: int = 64) -> np.ndarray:
        """The natural map of kinetree's steps [m/s], one number for each state and step."""
        q, v, tau = self.starts(which)
        q, v, tau = (x if x is None else x[:states] for x in (q, v, tau))
        found = self.rolled(q, v, tau, self.steps, impulses=True)
        later = slice(self.steps // 4, None)  # the first guesses of the start are zero
        q0, q1, v1, impulses = (
            x[:, later] for x in (found.q[:, :-1], *(y[:, 1:] for y in (found.q, found.v, found.impulses)))
        )
        return natural_map(self.kt, self.model, self.dt, *(x.reshape(-1, x.shape[-1]) for x in (q0, q1, v1, impulses)))

    def mujoco_residuals(self, bridge, which: str, states: int = 16) -> np.ndarray:
        """The same of MuJoCo's steps, from its contact forces and velocities [m/s]."""
        import mujoco

        q, v, tau = self.starts(which)
        there, mj, found = bridge.there, bridge.mj_model, []
        data, force, jacobian = mujoco.MjData(mj), np.zeros(6), np.zeros((3, mj.nv))
        for n in range(states):
            mujoco.mj_resetData(mj, data)
            data.qpos[:], data.qvel[:] = there.q_to(q[n]), there.v_to(q[n], v[n])
            for t in range(self.steps):
                if tau is not None:
                    data.qfrc_applied[:] = there.tau_to(q[n], tau[n, t])
                mujoco.mj_step1(mj, data)
                mujoco.mj_step2(mj, data)
                worst = 0.0
                for k in range(data.ncon):  # those of the start of the step, at the velocity of its end
                    contact = data.contact[k]
                    mujoco.mj_contactForce(mj, data, k, force)
                    body = mj.geom_bodyid[contact.geom2]
                    mujoco.mj_jac(mj, data, jacobian, None, contact.pos, body)
                    u, f = contact.frame.reshape(3, 3) @ jacobian @ data.qvel, force[:3]
                    worst = max(worst, coulomb(u[1:], f[1:], f[0]), -u[0] - max(contact.dist, 0.0) / self.dt)
                found.append(worst)
        return np.array(found).reshape(states, -1)[:, self.steps // 4 :].ravel()

    def verify(self) -> dict[str, object]:
        """Robots stand still: rest positions of both engines, depth and creep of the feet."""
        compared, steps = round(2.0 / self.dt), round(10.0 / self.dt)
        found = self.rolled(self.q, None, None, steps, every=compared)
        J = self.kt.collision.contact_jacobian(self.model, found.q[-1])
        gaps = self.kt.collision.contact_gaps(self.model, found.q[-1])
        closed = gaps < 1e-6
        creep = float(np.abs((J @ found.v[-1]).reshape(-1, 3)[closed]).max())
        bridge, kept = self.mujoco(stiff=True), self.steps
        self.steps = compared  # later the feet have slid in soft contact
        q = self.mujoco_rollout(bridge, (self.q[None], np.zeros((1, self.model.nv)), None), 1)()[0][0]
        self.steps = kept
        apart = float(np.abs(self.kt.difference(self.model, q, found.q[1])).max())
        if not (apart < 0.02 and creep < 1e-9 and -gaps.min() < 1e-6):
            raise WrongAnswer(f"{self.case}: rest {apart:.1e}, creep {creep:.1e} m/s, depth {-gaps.min():.1e} m")
        return {"rest apart": apart, "creep": creep, "depth": float(-gaps.min()), "closed": int(closed.sum())}


def posture(model) -> np.ndarray:
    """A standing posture."""
    q = model.neutral()
    for name in model.joint_names[1:]:
        side = -1.0 if name.startswith(("LH", "RH")) else 1.0
        angles = {"HFE": 0.6 * side, "KFE": -1.2 * side}
        angles |= {"leg_left_3_joint": -0.4, "leg_left_4_joint": 0.8, "leg_left_5_joint": -0.4}
        angles |= {"leg_right_3_joint": -0.4, "leg_right_4_joint": 0.8, "leg_right_5_joint": -0.4}
        q[model.q_index(name)] = angles.get(name, angles.get(name[3:], 0.0))
    return q


def coulomb(u, friction, normal: float) -> float:
    """Distance of a contact from Coulomb's law [m/s]: slip where it could stick, or friction not against the slip."""
    speed, size = float(np.linalg.norm(u)), FRICTION * normal
    if normal <= 0.0:
        return 0.0
    held = np.linalg.norm(friction) < 0.999 * size
    return speed if held else float(np.linalg.norm(u + speed * np.asarray(friction) / max(size, 1e-300)))


def natural_map(kt, model, dt: float, q, q1, v1, impulses) -> np.ndarray:
    """Distance of steps from Signorini's and Coulomb's laws [m/s], the worst contact of each."""
    count, nv = model.n_contacts, model.nv
    J = kt.collision.contact_jacobian(model, q).reshape(len(q), count, 3, nv)
    gaps = kt.collision.contact_gaps(model, q)
    u = v1.copy()  # velocities of a step are in the axes of the base at its start
    u[:, 3:6] = np.einsum("nji,njk,nk->ni", rotation(q[:, 3:7]), rotation(q1[:, 3:7]), v1[:, 3:6])
    w = np.einsum("nckv,nv->nck", J, u)
    w[..., 2] += np.where(gaps > 0.0, gaps / dt, np.maximum(0.2 * gaps / dt, -1.0))
    H = kt.crba(model, q) + np.diag(dt * np.asarray(model.damping) + dt * dt * np.asarray(model.stiffness))
    B = np.einsum("nckv,nvu,nclu->nckl", J, np.linalg.inv(H), J)
    force = impulses.reshape(len(q), count, 3)
    normal, tangent = 1.0 / B[..., 2, 2], 1.0 / np.linalg.eigvalsh(B[..., :2, :2])[..., -1]
    pushed = np.maximum(0.0, force[..., 2] - normal * w[..., 2])
    slid = force[..., :2] - tangent[..., None] * w[..., :2]
    size = np.linalg.norm(slid, axis=-1)
    radius = FRICTION * np.maximum(force[..., 2], 0.0)
    slid *= np.where(size > radius, radius / np.maximum(size, 1e-300), 1.0)[..., None]
    errors = np.abs(force[..., 2] - pushed) / normal, np.linalg.norm(force[..., :2] - slid, axis=-1) / tangent
    return np.maximum(*errors).max(axis=1)


def rotation(quaternion) -> np.ndarray:
    """Matrices whose columns are the axes of the body."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = [[w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]]  # fmt: skip
    return np.moveaxis(np.array(rows), -1, 0)


def quantiles(x) -> dict[str, float]:
    """Median, 99 % and the largest."""
    return dict(zip(("median", "99 %", "max"), map(float, np.quantile(x, (0.5, 0.99, 1.0))), strict=True))


def drops(kt, case: str, count: int, seconds: float) -> dict[str, object]:
    """Falls from 0.5 m in random attitudes with steps of 1, 5 and 10 ms: how many stay finite, depth and creep."""
    found = {}
    for dt in (1e-3, 5e-3, 1e-2):
        task = Task(kt, case, count, 1, dt)
        task.n = count
        turn = task.rng.standard_normal((count, 4))
        q = np.tile(task.q, (count, 1))
        q[:, 2] += 0.5
        q[:, 3:7] = turn / np.linalg.norm(turn, axis=1)[:, None]
        steps = round(seconds / dt)
        end, _ = (x[:, -1] for x in task.rolled(q, None, None, steps, every=steps))
        depth = -kt.collision.contact_gaps(task.model, end).min(axis=1)
        found[f"{1e3 * dt:g} ms"] = {"finite": int(np.isfinite(end).all(axis=1).sum()), "depth": quantiles(depth)}
    return found


def measure(kt, cases, states: int, rival_states: int, steps: int, repeats: int, dropped: int) -> dict[str, object]:
    """Verify, then time, every case; the result is what `store.write` writes."""
    rows = []
    for case in cases:
        task = Task(kt, case, states if "all" not in case else max(16, states // 4), steps)
        verified = task.verify()
        bridge, pyramid = task.mujoco(), task.mujoco("pyramidal")
        row = {"case": case, "nv": task.model.nv, "candidates": task.model.n_contacts, "verified": verified, "sets": {}}
        for which in SETS:
            start = task.starts(which)
            contenders = {
                "kinetree": task.kinetree(start),
                "kinetree, float32": task.kinetree(start, "float32"),
                "mujoco, elliptic": task.mujoco_rollout(bridge, start, rival_states),
                "mujoco, pyramidal": task.mujoco_rollout(pyramid, start, rival_states),
            }
            units = {name: (task.n if "kin" in name else rival_states) * steps for name in contenders}
            times = timing.interleaved({name: repeated(run) for name, run in contenders.items()}, units, repeats)
            own, rival = task.residuals(which, min(64, task.n)), task.mujoco_residuals(bridge, which, min(16, task.n))
            row["sets"][which] = {
                "seconds": {name: timing.summary(each) for name, each in times.items()},
                "ratios": {
                    name: timing.ratios(times[f"mujoco, {name}"], times["kinetree"])
                    for name in ("elliptic", "pyramidal")
                },
                "residual": quantiles(own),
                "residual, mujoco": quantiles(rival),
            }
            shown = ", ".join(f"{name} {1e9 * statistics.median(each):.0f}" for name, each in times.items())
            ratios = row["sets"][which]["ratios"]
            print(
                f"{case} ({task.model.n_contacts}), {which}: {ratios['elliptic']['median']:.1f}x, pyramidal "
                f"{ratios['pyramidal']['median']:.1f}x; ns per step: {shown}; residuals "
                + ", ".join(f"{x:.1e}" for x in (*quantiles(own).values(), *quantiles(rival).values())),
                flush=True,
            )
        rows.append(row)
    falls = drops(kt, "anymal_b, 16 candidates", dropped, 5.0 if dropped > 100 else 0.2)
    print(falls, flush=True)
    return {
        "machine": machine.machine(),
        "versions": machine.versions((*machine.PACKAGES, "mujoco")),
        "method": {"clock": "CPU time of the process per state and step", "repeats": repeats, "dt": DT, "seed": SEED,
                   "friction": FRICTION, "steps": steps},
        "rows": rows,
        "drops": falls,
    }  # fmt: skip


def table(result: dict[str, object]) -> str:
    """The table of ``docs/compiled_contact.md``."""
    heads = ["float64, ns", "float32", "`mujoco.rollout`, elliptic", "pyramidal", "ratio", "ratio, pyramidal",
             "residual, median", "99 %", "MuJoCo's, median", "99 %"]  # fmt: skip
    lines = ["| robot, candidates | states | " + " | ".join(heads) + " |", "| --- | --- |" + " ---: |" * len(heads)]
    for row in result["rows"]:
        for which, found in row["sets"].items():
            cells = [f"{1e9 * each['median']:.0f}" for each in found["seconds"].values()]
            cells += [f"**{each['median']:.0f}x**" for each in found["ratios"].values()]
            cells += [
                f"{found[name][part]:.0e}" for name in ("residual", "residual, mujoco") for part in ("median", "99 %")
            ]
            lines.append(f"| {row['case']} ({row['candidates']}) | {which} | " + " | ".join(cells) + " |")
    falls = "; ".join(
        f"{dt}: {found['finite']} of {DROPS} finite, deepest at rest {found['depth']['max']:.1e} m (99 %: "
        f"{found['depth']['99 %']:.0e})"
        for dt, found in result["drops"].items()
    )
    rest = "; ".join(
        f"{row['case']}: creep {row['verified']['creep']:.0e} m/s, depth {max(0.0, row['verified']['depth']):.0e} m"
        for row in result["rows"]
    )
    foot = f"{machine_line(result)} Load {result['machine']['load_average'][0]:.1f}."
    return "\n".join([*lines, "", f"After 10 s of standing: {rest}. Falls from 0.5 m, 5 s: {falls}.", "", foot])


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contact", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", default=CASES, choices=CASES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="check the harness: few states, nothing is written")
    chosen = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"

    import kinetree as kt

    if chosen.quick:
        measure(kt, chosen.cases[:1], 32, 4, 40, 3, 16)
        return
    found = measure(kt, chosen.cases, STATES, RIVAL_STATES, STEPS, chosen.repeats, DROPS)
    print(f"wrote {store.write('contact', found).name}")
    put(ROOT / "docs" / "compiled_contact.md", "contact", table(store.read("contact")))


if __name__ == "__main__":
    main()
