"""The step loop of coupled systems, and the records of its states."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.arguments import array, choice, refuse
from kinetree.deformables.adaptive import solve_adaptive
from kinetree.deformables.run import ENERGIES, CoupledRun
from kinetree.deformables.steps import STEPS
from kinetree.deformables.system import CoupledSystem, State
from kinetree.errors import SimulationError
from kinetree.integrators.methods import Adaptive
from kinetree.simulation.memory import check_room
from kinetree.simulation.progress import Progress


def simulated(
    scene: CoupledSystem, state: State, duration, dt, integrator, tau, controller, record_every, progress
) -> CoupledRun:
    """The run from a state; arguments as of `Coupled.simulate`."""
    steps = max(1, round(duration / dt))
    if abs(steps * dt - duration) > 1e-6 * dt * steps:
        refuse("simulate: duration", duration, f"a multiple of dt = {dt:g} s")
    force = _forces(scene, tau, controller)
    size = 8.0 * (len(state.q) + len(state.v) + 6 * len(scene.elements) + 6)
    check_room(f"simulate: the records of {duration:g} s", steps // record_every + 1, size, _advice)
    record = _Recorder(scene, force, steps // record_every + 1)
    bar = Progress("simulate", duration, progress, is_time=True)
    try:
        if isinstance(integrator, Adaptive):
            times = dt * record_every * np.arange(steps // record_every + 1)
            for t, sample in solve_adaptive(scene, state, times, force, integrator, bar.tick):
                record.add(t, sample)
            return record.run(str(integrator))
        stepper = STEPS[choice("simulate: integrator", integrator, STEPS, "simulate")](scene)
        record.add(0.0, state)
        for n in range(steps):
            t = n * dt
            state = stepper.step(state, force(t, state.q, state.v), dt)
            if not (np.isfinite(state.x).all() and np.isfinite(state.q).all()):
                raise _diverged(scene, t + dt, state, integrator)
            if (n + 1) % record_every == 0:
                record.add((n + 1) * dt, state)
            bar.tick(t + dt)
    finally:
        bar.close()
    return record.run(integrator)


def _advice(times: int) -> str:
    return f"Give a record_every that is {times} times as large."


def _diverged(scene: CoupledSystem, t: float, state: State, integrator: str) -> SimulationError:
    bad = np.flatnonzero(~np.isfinite(state.x).all(axis=1))
    where = f"node {bad[0]} of {len(state.x)}" if bad.size else "the model"
    repair = "'linearly_implicit'" if integrator == "semi_implicit" else "'bdf1' or a smaller dt"
    return SimulationError(
        f"simulate: the state is not finite at t = {t:g} s ({where}): elements were inverted, or the step is too long; "
        f"use integrator {repair}.",
        time=t,
    )


def _forces(scene: CoupledSystem, tau, controller) -> Callable:
    nv = 0 if scene.model is None else scene.model.nv
    if tau is not None and controller is not None:
        raise SimulationError("simulate: tau and controller are both given, expected one of them.")
    constant = np.zeros(nv) if tau is None else array("simulate: tau", tau, "actuator forces", shape=(nv,))
    if controller is None:
        return lambda t, q, v: constant
    return lambda t, q, v: array("simulate: result of the controller", controller(t, q, v), shape=(nv,))


class _Recorder:
    """Arrays of a run, filled record by record."""

    def __init__(self, scene: CoupledSystem, force: Callable, count: int) -> None:
        self.scene, self.force, self.count, self.filled = scene, force, count, 0
        state = scene.state()
        n, sizes = len(scene.elements), {"q": state.q.shape, "v": state.v.shape}
        self.arrays = {name: np.empty((count, *shape)) for name, shape in sizes.items()}
        self.arrays |= {name: np.empty((count, n, 3)) for name in ("x", "u")}
        self.arrays |= {name: np.empty(count) for name in ("time", *ENERGIES)}
        self.powers = np.zeros((count, 2))
        self.parents = np.array([0] if scene.model is None else [p or 0 for p in scene.model.parent])
        self.arrays["origins"] = np.zeros((count, len(self.parents), 3))

    def add(self, t: float, state: State) -> None:
        k, self.filled = self.filled, self.filled + 1
        for name, value in self.scene.energies(state).items():
            self.arrays[name][k] = value
        self.arrays["time"][k] = t
        for name in ("q", "v", "x", "u"):
            self.arrays[name][k] = getattr(state, name)
        if self.scene.rigid is not None:
            self.arrays["origins"][k] = self.scene.rigid.function("frame_poses")(state.q)[1][: len(self.parents)]
        tau = self.force(t, state.q, state.v)
        self.powers[k] = float(tau @ state.v), self._dissipation(state)

    def _dissipation(self, state: State) -> float:
        """Power that dampers of nodes and joints take [W]."""
        nodes, still = self.scene.elements, np.zeros_like(state.u)
        power = -float(np.sum((nodes.forces(state.x, state.u) - nodes.forces(state.x, still)) * state.u))
        if self.scene.rigid is not None:
            passive = self.scene.rigid.function("passive_joint_forces")
            power -= float((passive(state.q, state.v) - passive(state.q, np.zeros_like(state.v))) @ state.v)
        return power

    def run(self, integrator: str) -> CoupledRun:
        time = self.arrays["time"]
        middle = 0.5 * (self.powers[1:] + self.powers[:-1]) * np.diff(time)[:, None]
        work, dissipated = np.vstack((np.zeros(2), np.cumsum(middle, axis=0))).T
        scene = self.scene
        springs = [block.nodes for block in scene.elements.blocks if block.law.size == 2]
        triangles = [body.triangles + start for body, start in zip(scene.bodies, scene.starts, strict=False)]
        return CoupledRun(
            **self.arrays,
            work=work,
            dissipated=dissipated,
            names=tuple(body.name for body in scene.bodies),
            starts=scene.starts,
            triangles=np.concatenate(triangles),
            lines=np.concatenate(springs) if springs else np.zeros((0, 2), int),
            parents=self.parents,
            integrator=integrator,
            notes=scene.notes,
        )
