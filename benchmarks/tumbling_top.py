"""Ten seconds of a free top that flips: what every engine makes of it at its defaults, and every integrator at 2 ms.

The moments are 1, 2, 3 times 0.01 kg m^2, the top turns at 10 rad/s about the middle one. Nothing acts on it, so its
energy is constant; its rates at the end are known in closed form, evaluated in 50 digits.
"""

from __future__ import annotations

import time

import numpy as np

MOMENTS = (0.01, 0.02, 0.03)  # [kg m^2]
RATES = (0.01, 10.0, 0.01)  # at the start [rad/s]
DURATION, DT = 10.0, 2e-3  # [s]


def exact_rates(t: float, moments=MOMENTS, start=RATES, digits: int = 50) -> np.ndarray:
    """The rates of a free top at time t [s], for positive rates at the start with ``L^2 > 2 T I_2``.

    Landau and Lifshitz, Mechanics, section 37: Omega = (a cn, b sn, c dn) of ``p t + u_0``. So near the separatrix the
    functions lose digits in doubles, hence mpmath.
    """
    import mpmath as mp

    with mp.workdps(digits):
        I1, I2, I3 = (mp.mpf(x) for x in moments)
        w = [mp.mpf(x) for x in start]
        T2 = sum(i * x**2 for i, x in zip((I1, I2, I3), w, strict=True))
        L2 = sum((i * x) ** 2 for i, x in zip((I1, I2, I3), w, strict=True))
        if not (L2 > T2 * I2 and min(w) > 0):
            raise ValueError("exact_rates: the start is on the other side of the separatrix")
        a = mp.sqrt((T2 * I3 - L2) / (I1 * (I3 - I1)))
        b = mp.sqrt((T2 * I3 - L2) / (I2 * (I3 - I2)))
        c = mp.sqrt((L2 - T2 * I1) / (I3 * (I3 - I1)))
        p = mp.sqrt((I3 - I2) * (L2 - T2 * I1) / (I1 * I2 * I3))
        m = (I2 - I1) * (T2 * I3 - L2) / ((I3 - I2) * (L2 - T2 * I1))
        u = mp.ellipf(mp.atan2(w[1] / b, w[0] / a), m) + p * mp.mpf(t)
        cn, sn, dn = (mp.ellipfun(name, u, m=m) for name in ("cn", "sn", "dn"))
        return np.array([float(a * cn), float(b * sn), float(c * dn)])


def measure() -> list[dict[str, object]]:
    """One row for each engine and method: energy and rates that are off, and the CPU time."""
    import kinetree as kt
    from kinetree.integrators import ADAPTIVE, FIXED_STEP

    model = kt.models.free_body(1.0, MOMENTS, gravity=(0.0, 0.0, 0.0))
    v0, end, rows = np.array([*RATES, 0.0, 0.0, 0.0]), exact_rates(DURATION), []

    def add(engine: str, method: str, dt: float | None, run) -> None:
        try:
            run(0.1)  # compiles
            start = time.process_time()
            rates = run(DURATION)
            seconds = time.process_time() - start
        except kt.errors.KinetreeError as error:
            print(f"tumbling top, {engine} {method}: {error}")
            return
        energy = (np.square(rates) * MOMENTS).sum(axis=1)
        rows.append({
            "engine": engine,
            "method": method,
            "dt": dt,
            "energy": float(np.abs(energy / energy[0] - 1.0).max()),
            "rates": float(np.abs(rates[-1] - end).max()),
            "seconds": seconds,
        })  # fmt: skip

    def simulated(**options):
        return lambda duration: kt.simulate(model, v0=v0, duration=duration, progress=False, **options).v[:, :3]

    usual = kt.simulate(model, v0=v0, duration=0.01)
    name = f"`kt.simulate(model, v0=v0, duration=10)`: {usual.integrator}"
    add("kinetree", name, float(usual.time[1] - usual.time[0]), simulated())
    add("kinetree", f"the same with dt=2e-3: {usual.integrator}", DT, simulated(dt=DT))
    for name in FIXED_STEP:
        add("kinetree", name, DT, simulated(dt=DT, integrator=name))
    for name in ADAPTIVE:
        add("kinetree", f"adaptive, {name}", None, simulated(dt=DT, integrator="adaptive", method=name))
    add("Pinocchio", "loop: v += aba dt, q = integrate(q, v dt)", DT, pinocchio_loop())
    for name in ("Euler", "RK4", "implicit", "implicitfast"):
        add("MuJoCo", f"{name} (the default)" if name == "Euler" else name, DT, mujoco_steps(model, v0, name))
    return rows


def pinocchio_loop():
    """What a user of Pinocchio writes."""
    import pinocchio as pin

    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.diag(MOMENTS)), pin.SE3.Identity())
    model.gravity = pin.Motion.Zero()
    data, tau = model.createData(), np.zeros(6)

    def run(duration):
        q, v = pin.neutral(model), np.array([0.0, 0.0, 0.0, *RATES])
        rates = [v[3:]]
        for _ in range(round(duration / DT)):
            v = v + pin.aba(model, data, q, v, tau) * DT
            q = pin.integrate(model, q, v * DT)
            rates.append(v[3:])
        return np.array(rates)

    return run


def mujoco_steps(model, v0, name: str):
    """MuJoCo with its default step of 2 ms."""
    import mujoco as mj

    from benchmarks.solvers import MujocoRunner

    runner = MujocoRunner(model)
    runner.verify()
    m, d = runner.mj_model, runner.data

    def run(duration):
        m.opt.integrator, m.opt.timestep = getattr(mj.mjtIntegrator, f"mjINT_{name.upper()}"), DT
        mj.mj_resetData(m, d)
        d.qvel[:] = runner.bridge.v_to_mujoco(np.array(model.neutral(), float), v0)
        rates = [d.qvel[3:].copy()]
        for _ in range(round(duration / DT)):
            mj.mj_step(m, d)
            rates.append(d.qvel[3:].copy())
        return np.array(rates)

    return run
