"""The step loop of coupled systems, and the records of its states."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import choice, refuse
from kinetree.deformables.adaptive import solve_adaptive
from kinetree.deformables.rigid import Load
from kinetree.deformables.run import ENERGIES, CoupledRun
from kinetree.deformables.steps import STEPS
from kinetree.deformables.system import CoupledSystem, State
from kinetree.errors import SimulationError
from kinetree.integrators.methods import Adaptive
from kinetree.simulation.components import Components
from kinetree.simulation.inputs import BoundInputs
from kinetree.simulation.memory import check_room
from kinetree.simulation.options import Inputs
from kinetree.simulation.progress import Progress


def simulated(
    scene: CoupledSystem, state: State, duration, dt, integrator, controller, inputs, record, progress, notes
) -> CoupledRun:
    """The run from a state; arguments as of `Coupled.simulate`."""
    steps, every = max(1, round(duration / dt)), record.steps(dt)
    if abs(steps * dt - duration) > 1e-6 * dt * steps:
        refuse("simulate: duration", duration, f"a multiple of dt = {dt:g} s")
    integrator = _integrator(integrator)
    adaptive = isinstance(integrator, Adaptive)
    load = _Loads(scene, controller, inputs, None if adaptive else dt)
    size = 8.0 * (len(state.q) + len(state.v) + 6 * len(scene.elements) + 6)
    check_room(f"simulate: the records of {duration:g} s", steps // every + 1, size, _advice)
    recorder = _Recorder(scene, steps // every + 1)
    bar = Progress("simulate", duration, progress, is_time=True)
    try:
        if adaptive:
            times = dt * every * np.arange(steps // every + 1)
            for t, sample in solve_adaptive(scene, state, times, load.at, integrator, bar.tick):
                recorder.add(t, sample, load.at(t, sample))
            return recorder.run(str(integrator), notes)
        stepper = STEPS[integrator](scene)
        for n in range(steps + 1):
            now = load.at(n * dt, state)
            if n % every == 0:
                recorder.add(n * dt, state, now)
            if n < steps:
                now = scene.ahead(now, state, dt)
                state = stepper.step(state, now, dt)
                state.z = now.z
                if not (np.isfinite(state.x).all() and np.isfinite(state.q).all()):
                    raise _diverged((n + 1) * dt, state, integrator)
            bar.tick(n * dt)
    finally:
        bar.close()
    return recorder.run(integrator, notes)


def _integrator(given) -> str | Adaptive:
    """The name of a fixed-step method, or an adaptive one."""
    if isinstance(given, Adaptive):
        return given
    if not isinstance(given, str):
        names = ", ".join(map(repr, STEPS))
        refuse("simulate: integrator", given, f"one of {names}, or kt.integrators.Adaptive(...)")
    name = choice("integrator", given, [*STEPS, Adaptive.name], "simulate of coupled deformables")
    return Adaptive() if name == Adaptive.name else name


class _Loads:
    """The inputs of the model at the start of each step."""

    def __init__(self, scene: CoupledSystem, controller, inputs: Inputs | None, dt: float | None) -> None:
        self._bound = None
        if scene.model is not None:
            self._bound = BoundInputs(scene.model, controller, inputs or Inputs(), Components(()))
            self._bound.check_delays(dt)
            self._bound.reset()
        elif controller is not None or inputs is not None:
            given = "controller" if controller is not None else "inputs"
            raise SimulationError(f"simulate: {given} is given, but there is no model.")

    def at(self, t: float, state: State) -> Load:
        """Forces, wrenches and inputs at a time [s] and a state."""
        if self._bound is None:
            return Load(state.v)
        bound = self._bound
        bound.begin(t, state.q, state.v)
        given = list(bound.f_ext(t))
        f_ext = given.pop(0) if bound.has_wrenches else None
        return Load(bound.hold(t), f_ext, state.z, *given)


def _advice(times: int) -> str:
    return f"Use record=kt.Record(every=...) that is {times} times as large."


def _diverged(t: float, state: State, integrator: str) -> SimulationError:
    bad = np.flatnonzero(~np.isfinite(state.x).all(axis=1))
    where = f"node {bad[0]} of {len(state.x)}" if bad.size else "the model"
    repair = "'linearly_implicit'" if integrator == "semi_implicit" else "'bdf1' or a smaller dt"
    return SimulationError(
        f"simulate: the state is not finite at t = {t:g} s ({where}): elements were inverted, or the step is too long; "
        f"use integrator {repair}.",
        time=t,
    )


class _Recorder:
    """Arrays of a run, filled record by record."""

    def __init__(self, scene: CoupledSystem, count: int) -> None:
        self.scene, self.filled = scene, 0
        state = scene.state()
        n, nx = len(scene.elements), 0 if state.z is None else len(state.z)
        sizes = {"q": state.q.shape, "v": state.v.shape, "internal": (nx,)}
        self.arrays = {name: np.empty((count, *shape)) for name, shape in sizes.items()}
        self.arrays |= {name: np.empty((count, n, 3)) for name in ("x", "u")}
        self.arrays |= {name: np.empty(count) for name in ("time", *ENERGIES)}
        self.powers = np.zeros((count, 2))
        self.parents = np.array([0] if scene.model is None else [p or 0 for p in scene.model.parent])
        self.arrays["origins"] = np.zeros((count, len(self.parents), 3))

    def add(self, t: float, state: State, load: Load) -> None:
        k, self.filled = self.filled, self.filled + 1
        for name, value in self.scene.energies(state).items():
            self.arrays[name][k] = value
        self.arrays["time"][k] = t
        for name in ("q", "v", "x", "u"):
            self.arrays[name][k] = getattr(state, name)
        self.arrays["internal"][k] = () if state.z is None else state.z
        if self.scene.rigid is not None:
            self.arrays["origins"][k] = self.scene.rigid.function("frame_poses")(state.q)[1][: len(self.parents)]
        nodes, still = self.scene.elements, np.zeros_like(state.u)
        dampers = nodes.forces(state.x, state.u) - nodes.forces(state.x, still)
        rigid = (0.0, 0.0) if self.scene.rigid is None else self.scene.rigid.powers(state.q, state.v, load)
        self.powers[k] = rigid[0], rigid[1] - float(np.sum(dampers * state.u))

    def run(self, integrator: str, notes: tuple[str, ...]) -> CoupledRun:
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
            notes=notes,
        )
