"""Every way to take a state through a time, with its end and the number of evaluations of the dynamics.

All of them are prepared as their user would (models compiled, arrays there). A `Runner` then does the whole way in
``run()``, which is what is timed; ``end(run())`` is ``((q, v), evaluations)``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

BATCH = 64  # states that share a native call, where the time per state is told
LOOPED = ("semi_implicit", "rk4", "dp54", "dop853")  # measured through `simulate` and in batches too
SCIPY = ("RK23", "RK45", "DOP853", "LSODA", "Radau", "BDF")
CORRECTIONS = {  # evaluations a step without a tableau, in rollouts; with derivatives where it is implicit
    "semi_implicit": 1,
    "linearly_implicit": 1,
    "rk4": 4,
    "implicit_midpoint": 4,
    "bdf1": 4,
    "variational": 8,
}
MUJOCO = {"Euler": 1, "RK4": 4, "implicit": 1, "implicitfast": 1}  # evaluations a step


class Unable(Exception):
    """The solver gives no answer with this step or tolerance."""


class Runner(NamedTuple):
    """One way to the end: ``run`` is timed, ``end`` converts what it returns."""

    run: Callable
    end: Callable = lambda found: found


# kinetree ------------------------------------------------------------------------------------------------------------


def evaluations_per_step(method) -> int | None:
    """Those of a step that is always the same; None where an iteration decides."""
    tableau = getattr(method, "tableau", None)
    if tableau is not None:
        return tableau.evaluations
    return CORRECTIONS.get(method.name)


def rollout(model, q0, v0, duration: float, name: str, steps: int, states: int = 1) -> Runner:
    """One native call."""
    import kinetree as kt
    from kinetree.integrators import FIXED_STEP

    roll, per_step = (
        kt.simulation.Rollout(model.without_limits(), name, threads=1),
        evaluations_per_step(FIXED_STEP[name]),
    )
    starts = [np.repeat(x[None], states, axis=0) for x in (q0, v0)] if states > 1 else [q0, v0]

    def runner():
        try:
            return roll(*starts, None, duration / steps, steps=steps, record=kt.Record(every=steps))
        except kt.errors.KinetreeError as error:
            raise Unable(str(error)) from None

    def end(found):
        q, v = (x[..., -1, :].reshape(states, -1)[0] for x in found)
        return (q, v), per_step and per_step * steps

    return Runner(runner, end)


def stepped(model, q0, v0, duration: float, name: str, steps: int) -> Runner:
    """A loop in Python over the method's steps: the way of those that remember or iterate."""
    import kinetree as kt
    from kinetree.integrators import FIXED_STEP, System

    system, none, h = System(model), np.zeros(model.nv), duration / steps

    def runner():
        method = FIXED_STEP[name](system)
        q, v, step = q0, v0, method.step
        try:
            for n in range(steps):
                q, v = step(n * h, h, q, v, lambda t: none, lambda t: ())
        except kt.errors.KinetreeError as error:
            raise Unable(str(error)) from None
        newton = getattr(method, "_newton", method)
        evaluations = getattr(newton, "iterations", None)
        if evaluations is None:
            per_step = evaluations_per_step(method)
            evaluations = per_step and per_step * steps
        return (q, v), evaluations

    return Runner(runner)


def simulated(model, q0, v0, duration: float, name: str, steps: int) -> Runner:
    """`simulate` as it is called, with its energy balance, of which the last state is recorded."""
    import kinetree as kt
    from kinetree.integrators import FIXED_STEP

    per_step = evaluations_per_step(FIXED_STEP[name])

    def runner():
        try:
            run = kt.simulate(model, q0, v0, duration=duration, dt=duration / steps, integrator=name,
                              record=kt.Record(every=steps), progress=False)  # fmt: skip
        except kt.errors.KinetreeError as error:
            raise Unable(str(error)) from None
        return (run.q[-1], run.v[-1]), per_step and per_step * steps

    return Runner(runner)


def adaptive(model, q0, v0, duration: float, method: str, rtol: float, atol: float) -> Runner:
    """kinetree's adaptive solvers: embedded pairs on the manifold, SciPy's and SUNDIALS' in its hands."""
    import kinetree as kt
    from kinetree.integrators import Adaptive, System

    options = Adaptive(method, rtol=rtol, atol=atol)
    system, none, times = System(model), np.zeros(model.nv), np.array([0.0, duration])

    def runner():
        try:
            solution = options.solve(system, q0, v0, times, lambda t, q, v: none, lambda t: ())
        except kt.errors.KinetreeError as error:
            raise Unable(str(error)) from None
        return (solution.q[-1], solution.v[-1]), solution.evaluations

    return Runner(runner)


# SciPy ---------------------------------------------------------------------------------------------------------------


def scipy_direct(model, q0, v0, duration: float, method: str, rtol: float, atol: float) -> Runner:
    """``solve_ivp`` on `kt.aba` as a user writes it; the quaternion's rate from `kt.q_dot` where there is one."""
    from scipy.integrate import solve_ivp

    import kinetree as kt

    nq, tau, count = model.nq, np.zeros(model.nv), [0]
    plain = nq == model.nv

    def rate(t, y):
        count[0] += 1
        q, v = y[:nq], y[nq:]
        if plain:
            return np.concatenate((v, kt.aba(model, q, v, tau)))
        q = kt.normalize(model, q)
        return np.concatenate((kt.q_dot(model, q, v), kt.aba(model, q, v, tau)))

    y0 = np.concatenate((q0, v0))

    def runner():
        count[0] = 0
        try:
            solution = solve_ivp(rate, (0.0, duration), y0, method, [duration], rtol=rtol, atol=atol)
        except kt.errors.KinetreeError as error:
            raise Unable(str(error)) from None
        if solution.status:
            raise Unable(solution.message)
        return (solution.y[:nq, -1], solution.y[nq:, -1]), count[0]

    return Runner(runner)


# MuJoCo --------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def quiet_mujoco():
    """Motions that blow up with long steps are expected: no warnings, no file of them."""
    import mujoco

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


class MujocoRunner:
    """The same model in MuJoCo, written by `to_mjcf`, whose accelerations must be the same before it moves."""

    def __init__(self, model) -> None:
        import mujoco

        import kinetree as kt
        from tests.engines.mujoco_bridge import MujocoBridge

        text = kt.io.to_mjcf(model, meshes="drop", unsupported="drop")
        self.model, self.mujoco = model, mujoco
        self.bridge = MujocoBridge(model, mujoco.MjModel.from_xml_string(text))
        self.mj_model, self.data = self.bridge.mj_model, self.bridge.data

    def verify(self, states: int = 8) -> float:
        """The largest relative difference of accelerations at random states, from `kt.aba`; else `WrongAnswer`."""
        import kinetree as kt
        from benchmarks.verify import EPS, WrongAnswer

        rng, worst, tolerance = np.random.default_rng(0), 0.0, 1e-10
        for _ in range(states):
            q = kt.integrate(self.model, np.array(self.model.neutral(), float), rng.uniform(-1.0, 1.0, self.model.nv))
            v, tau = rng.standard_normal((2, self.model.nv))
            tolerance = max(tolerance, 100 * EPS * float(np.linalg.cond(kt.crba(self.model, q))))
            reference = kt.aba(self.model, q, v, tau)
            found = self.bridge.forward_dynamics(q, v, tau)
            worst = max(worst, float(np.abs(found - reference).max() / np.abs(reference).max()))
        if not worst <= tolerance:
            raise WrongAnswer(
                f"{self.model.name} in MuJoCo: accelerations differ by {worst:.1e}, more than {tolerance:.1e}"
            )
        return worst

    def runner(self, q0, v0, duration: float, name: str, steps: int) -> Runner:
        """``mj_step`` with all steps in one native call."""
        mj, m, d = self.mujoco, self.mj_model, self.data
        integrator = getattr(mj.mjtIntegrator, f"mjINT_{name.upper()}")
        there, start = self.bridge.there, (self.bridge.q_to_mujoco(q0), self.bridge.v_to_mujoco(q0, v0))

        def runner():
            m.opt.integrator, m.opt.timestep = integrator, duration / steps
            mj.mj_resetData(m, d)
            d.qpos[:], d.qvel[:] = start
            mj.mj_step(m, d, steps)
            if d.warning.number.any() or not np.isfinite(d.qpos).all():  # it starts anew after a motion that blew up
                raise Unable("MuJoCo reset the motion")
            q = there.q_from(d.qpos.copy())
            return (q, there.v_from(q, d.qvel.copy())), MUJOCO[name] * steps

        return Runner(runner)
