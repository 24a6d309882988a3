"""Solutions of coupled systems within tolerances, by SciPy's methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kinetree.deformables.accelerations import accelerations
from kinetree.deformables.system import CoupledSystem, State
from kinetree.errors import SimulationError
from kinetree.integrators.methods import Adaptive

METHODS = {"dop853": "DOP853", "dp54": "RK45", "bs32": "RK23"}
"""Methods of `Adaptive` that SciPy has under another name."""


def solve_adaptive(
    scene: CoupledSystem, start: State, times, load_at: Callable, options: Adaptive, tick: Callable
) -> Iterator[tuple[float, State]]:
    """States at the times, by a method of `scipy.integrate.solve_ivp` over (q, v, x, u) of joints and free nodes."""
    from scipy.integrate import solve_ivp

    free = scene.elements.free
    nq, nv, n = len(start.q), len(start.v), 3 * len(free)
    cuts = np.cumsum([nq, nv, n, n])

    def unpacked(y) -> State:
        q, v, x, u, z = np.split(y, cuts)
        if nv:
            q = scene.rigid.function("normalize")(q)
        state = State(q, v, start.x.copy(), start.u.copy(), z if len(z) else None)
        state.x[free], state.u[free] = x.reshape(-1, 3), u.reshape(-1, 3)
        return scene.placed(state)

    def rate(t, y):
        tick(t)
        state = unpacked(y)
        load = load_at(t, state)
        dv, du = accelerations(scene, state, load)
        q_dot = scene.rigid.function("q_dot")(state.q, state.v) if nv else state.q
        states = scene.rigid.function("force_state_rates") if load.z is not None else None
        z_dot = states(state.q, state.v, *load.of_elements) if states else none
        return np.concatenate((q_dot, dv, state.u[free].ravel(), du.ravel(), z_dot))

    none = np.zeros(0)
    z0 = none if start.z is None else start.z
    y0 = np.concatenate((start.q, start.v, start.x[free].ravel(), start.u[free].ravel(), z0))
    method = METHODS.get(options.method, options.method.removeprefix("scipy:"))
    found = solve_ivp(
        rate, (times[0], times[-1]), y0, method, times, rtol=options.rtol, atol=options.atol, max_step=options.longest
    )
    if not found.success:
        raise SimulationError(f"simulate: {options} stopped at t = {found.t[-1]:g} s: {found.message}")
    for t, y in zip(found.t, found.y.T, strict=True):
        yield t, unpacked(y)
