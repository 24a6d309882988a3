"""Contenders of a sweep: the loops that one writes without it, over Pinocchio and over MuJoCo, on two cores.

Each takes starts, velocities and joint forces (n, nv) and gives the last states; they make the same steps as
kinetree's "semi_implicit" (implicit in the damping of joints, as MuJoCo's Euler) and "rk4".
"""

from __future__ import annotations

import numpy as np

TASKS = 16  # of joblib's for each process: less to send than one for each simulation


def pinocchio_motions(urdf: str, damping: float, q, v, tau, dt: float, steps: int, integrator: str):
    """Last states by loops in Python over `pin.aba` and `pin.integrate`."""
    import pinocchio as pin

    model = pin.buildModelFromXML(urdf)
    model.damping[:] = 0.0  # it is part of the forces here
    model.armature[:] = damping * dt if integrator == "semi_implicit" else 0.0
    data, q, v = model.createData(), q.copy(), v.copy()
    for k in range(len(q)):
        step = _euler if integrator == "semi_implicit" else _rk4
        q[k], v[k] = step(pin, model, data, q[k], v[k], tau[k], damping, dt, steps)
    return q, v


def _euler(pin, model, data, q, v, tau, damping, dt, steps):
    for _ in range(steps):
        v = v + dt * pin.aba(model, data, q, v, tau - damping * v)
        q = pin.integrate(model, q, dt * v)
    return q, v


def _rk4(pin, model, data, q, v, tau, damping, dt, steps):
    for _ in range(steps):
        a1 = pin.aba(model, data, q, v, tau - damping * v)
        v2 = v + 0.5 * dt * a1
        a2 = pin.aba(model, data, pin.integrate(model, q, 0.5 * dt * v), v2, tau - damping * v2)
        v3 = v + 0.5 * dt * a2
        a3 = pin.aba(model, data, pin.integrate(model, q, 0.5 * dt * v2), v3, tau - damping * v3)
        v4 = v + dt * a3
        a4 = pin.aba(model, data, pin.integrate(model, q, dt * v3), v4, tau - damping * v4)
        q = pin.integrate(model, q, dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4))
        v = v + dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    return q, v


def joblib_pinocchio(urdf: str, damping: float, dt: float, steps: int, integrator: str, processes: int):
    """A function of starts, velocities and forces: the loop above in joblib's processes, which are kept."""
    from joblib import Parallel, delayed

    def run(q, v, tau):
        parts = np.array_split(np.arange(len(q)), min(len(q), TASKS * processes))
        found = Parallel(n_jobs=processes)(
            delayed(pinocchio_motions)(urdf, damping, q[k], v[k], tau[k], dt, steps, integrator) for k in parts
        )
        return tuple(np.concatenate(x) for x in zip(*found, strict=True))

    return run


def mujoco_rollouts(kt, model, dt: float, steps: int, integrator: str, threads: int):
    """A function of starts, velocities and forces: `mujoco.rollout` with threads that are kept."""
    import mujoco
    from mujoco import rollout

    from tests.engines.mujoco_bridge import MujocoBridge

    written = kt.io.to_mjcf(model, meshes="drop", unsupported="drop")
    bridge = MujocoBridge(model, mujoco.MjModel.from_xml_string(written))
    mj, there, nq, nv = bridge.mj_model, bridge.there, model.nq, model.nv
    mj.opt.timestep = dt
    name = {"semi_implicit": "mjINT_EULER", "rk4": "mjINT_RK4"}[integrator]
    mj.opt.integrator = getattr(mujoco.mjtIntegrator, name)
    data, pool = [mujoco.MjData(mj) for _ in range(threads)], rollout.Rollout(nthread=threads if threads > 1 else 0)
    size = mujoco.mj_stateSize(mj, mujoco.mjtState.mjSTATE_FULLPHYSICS)

    def run(q, v, tau):
        start = np.zeros((len(q), size))
        start[:, 1 : 1 + nq], start[:, 1 + nq : 1 + nq + nv] = there.q_to(q), there.v_to(q, v)
        forces = np.repeat(there.tau_to(q, tau)[:, None], steps, axis=1)
        states, _ = pool.rollout(
            [mj] * len(q), data, start, forces, control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED), nstep=steps
        )
        last = states[:, -1]
        q = there.q_from(last[:, 1 : 1 + nq])
        return q, there.v_from(q, last[:, 1 + nq : 1 + nq + nv])

    return run
