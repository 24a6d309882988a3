"""The steps of the integrators over scalars, so that each compiles into one function of the model.

A step under constant forces is one function, an algorithm of the library; `rollout` takes it through all steps of time.
Where forces vary within a Runge-Kutta step, as in `simulate`, it is made of parts: four stages and their sum. Internal
states of force elements follow the velocities there: ``w = (v, x)``, whose size is ``nw``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kinetree.algorithms.bounded_rows import bounded_constraints
from kinetree.algorithms.complete import COMPLETE, semi_implicit_velocities, step_accelerations
from kinetree.algorithms.domain import GIVEN_MOTIONS, UNIT_QUATERNIONS
from kinetree.algorithms.implicit_forces import stepped_state_changes
from kinetree.algorithms.manifold import apply_couplings, integrate, normalize, reparameterize, tangent_rate
from kinetree.algorithms.projection import closed
from kinetree.algorithms.spec import ALGORITHMS, Spec, algorithm
from kinetree.algorithms.tendon_inertia import tendon_kinetic_energy
from kinetree.once import once


@algorithm(
    inputs="q v tau dt",
    optional="f_ext x u",
    outputs="q_next v_next",
    further="x_next",
    domains=COMPLETE,
    symbols={"tau": "Actuator forces during the step [N m or N]."},
)
def semi_implicit_step(model, q, v, tau, dt, f_ext=None, x=None, u=None, *, x_next=False):
    """One step of semi-implicit Euler, the passive joint forces taken at its end.

    Notes
    -----
    Source: Sueda, eq. 1.28-1.29 and 2.19-2.20: ``v+ = v + dt a``, ``q+ = integrate(q, dt v+)`` with the acceleration of
    `semi_implicit_acceleration`. Internal states by linearly implicit Euler, ``(1 - dt dx'/dx) dx = dt x'``.

    See Also
    --------
    simulate
    """
    v_next = semi_implicit_velocities(model, q, v, tau, dt, f_ext, x, u)
    q_next = integrate(model, q, [dt * v_k for v_k in v_next])
    for c in bounded_constraints(model):
        for j, q_j in c.landed(model, q, q_next).items():
            q_next[j] = q_j
    found = finished(model.after(dt), q_next, v_next, closing=3)
    if not x_next:
        return found
    return *found, implicit_states(model, q, v, x, u, dt, v_next)


def implicit_states(model, q, v, x, u, dt, v_next=None) -> list:
    """Internal states after a step of linearly implicit Euler; with the velocities at its end along the motion."""
    x = model.initial_internal() if x is None else x
    return [x_k + dx for x_k, dx in zip(x, stepped_state_changes(model, q, v, x, u, dt, v_next), strict=True)]


@algorithm(
    inputs="q v tau dt",
    optional="f_ext x u",
    outputs="q_next v_next",
    further="x_next",
    domains=COMPLETE,
    symbols={"tau": "Actuator forces during the step [N m or N]."},
)
def rk4_step(model, q, v, tau, dt, f_ext=None, x=None, u=None, *, x_next=False):
    """One step of the classical Runge-Kutta method on the manifold, under forces that are constant during the step.

    Notes
    -----
    Source: H. Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Applied Numerical Mathematics 29 (1999), with
    the exact inverse of the tangent map.
    Cost: four forward dynamics, explicit: stiff springs, stops and dampers must be resolved by dt.

    See Also
    --------
    semi_implicit_step, simulate
    """
    half, w = 0.5 * dt, [*v, *(model.initial_internal() if x is None else x)]
    x1, a1 = v, step_accelerations(model, q, w, tau, f_ext, u)
    middle, end = model.after(half), model.after(dt)
    x2, a2 = _runge_kutta_stage(middle, q, w, x1, a1, tau, half, f_ext, u)
    x3, a3 = _runge_kutta_stage(middle, q, w, x2, a2, tau, half, f_ext, u)
    x4, a4 = _runge_kutta_stage(end, q, w, x3, a3, tau, dt, f_ext, u)
    q, w = _runge_kutta_sum(end, q, w, dt, x1, a1, x2, a2, x3, a3, x4, a4)
    return (q, w[: model.nv], w[model.nv :]) if x_next else (q, w[: model.nv])


def _runge_kutta_stage(model, q, w, xi_dot, a, tau, h, f_ext=None, u=None):
    """Rates (xi', w') at the stage point q (+) h xi_dot, w + h a."""
    xi, w = [h * x for x in xi_dot], axpy(w, a, h)
    rate = tangent_rate(model, xi, w[: model.nv])
    return rate, step_accelerations(model, integrate(model, q, xi), w, tau, f_ext, u)


def _runge_kutta_sum(model, q, w, h, x1, a1, x2, a2, x3, a3, x4, a4):
    """The end of a classical Runge-Kutta step: weights 1/6, 1/3, 1/3, 1/6."""
    x, a = _simpson(x1, x2, x3, x4), _simpson(a1, a2, a3, a4)
    return finished(model, integrate(model, q, [h * x_k for x_k in x]), axpy(w, a, h))


def finished(model, q, w, closing: int = 2):
    """The end of a step, for a model at that time: joints in coordinates far from their singularities, coupled ones
    computed from their masters.

    So rounding does not accumulate over steps, and a tumbling body does not reach the end of its chart. Loops are
    closed by projection, with so many chord steps of the positions; by none where the method closes them itself.
    """
    q, v = reparameterize(model, q, w[: model.nv])
    q, v = apply_couplings(model, q, v) if model.couplings else (q, v)
    q, v = closed(model, q, v, closing)
    return q, [*v, *w[model.nv :]]


def axpy(v, a, h):
    """``v + h a``."""
    return [v_k + h * a_k for v_k, a_k in zip(v, a, strict=True)]


def _simpson(k1, k2, k3, k4):
    return [(s1 + 2.0 * (s2 + s3) + s4) * (1.0 / 6.0) for s1, s2, s3, s4 in zip(k1, k2, k3, k4, strict=True)]


# Parts of a step are compiled like algorithms of the library, but are not registered as such.


def part(name: str, function: Callable, inputs: str, outputs: str, optional: str = "", **more) -> Spec:
    """The declaration of a part of a step.

    Parameters
    ----------
    name : str
    function : callable
    inputs, outputs, optional : str
        Names of arrays with their shapes, as "q[nq] M[nv,nv] h"; sizes of vectors as numbers, which are smaller in
        planar models, others as "#3".
    **more
        Of `Spec`; by default, the inputs are on the domain of unit quaternions, and constraints may depend on time.
    """
    domains = UNIT_QUATERNIONS, GIVEN_MOTIONS
    return Spec(name, function, *map(_shapes, (inputs, optional, outputs)), **{"domains": domains} | more)


def _shapes(text: str) -> dict[str, tuple]:
    found = re.findall(r"(\w+)(?:\[([\w,#]+)\])?", text)
    return {
        name: tuple(int(x) if x.isdigit() else x.removeprefix("#") for x in sizes.split(",") if x)
        for name, sizes in found
    }


ALONG_TENDONS = part("tendon_kinetic_energy", tendon_kinetic_energy, "q[nq] v[nv]", "T", domains=(UNIT_QUATERNIONS,))
"""The kinetic energy of inertia along tendons, which belongs to no tree."""


def whole_step(name: str, step: Callable, domains=COMPLETE) -> Spec:
    """The declaration of a step under constant forces; v are the velocities and the internal states of forces."""
    step.__name__ = name
    return part(name, step, "q[nq] v[nw] tau[nv] dt", END, FORCES, domains=domains)


def _closed_state(model, q, w):
    return finished(model, normalize(model, q), w)


def _rate_and_multipliers(model, q, w, tau, f_ext=None, u=None):
    return step_accelerations(model, q, w, tau, f_ext, u, multipliers=True)


FORCES = "f_ext[nb,6] u[nu]"
END = "q_next[nq] v_next[nw]"
STAGE = "q[nq] w[nw] xi_dot[nv] a[nw] tau[nv] h", "xi_dot_next[nv] a_next[nw]", FORCES
RATE = part("state_rate", step_accelerations, "q[nq] w[nw] tau[nv]", "w_dot[nw]", FORCES)
RATE_AND_MULTIPLIERS = part("state_rate_multipliers", _rate_and_multipliers, "q[nq] w[nw] tau[nv]",
                            "w_dot[nw] multipliers[nc]", FORCES)  # fmt: skip
RUNGE_KUTTA_STAGE = part("runge_kutta_stage", _runge_kutta_stage, *STAGE)
CLOSED_STATE = part("closed_state", _closed_state, "q[nq] w[nw]", END, domains=(), body_frames="loops")
_SLOPES = " ".join(f"x{s}[nv] a{s}[nw]" for s in (1, 2, 3, 4))
RUNGE_KUTTA_SUM = part("runge_kutta_sum", _runge_kutta_sum, f"q[nq] w[nw] h {_SLOPES}", END, body_frames="loops")


def step_of(step: str | Spec, model) -> Spec:
    """A step of the library, or one by its name; for a model with internal states as one of w."""
    spec = ALGORITHMS[step] if isinstance(step, str) else step
    return _joined(spec) if model.nx and spec.inputs["v"] == ("nv",) else spec


def with_motors(spec: Spec, model) -> Spec:
    """A step under commanded joint forces, limited by the model's motors in the state at its beginning, if it has some.

    Or what a method computes before its first step, which has no state at its end.
    """
    if not model.motors:
        return spec
    ends = next(iter(spec.outputs)) == "q_next"
    return replace(spec, name=f"{spec.name}_with_motors", function=_driven(spec.function, ends))


@once
def _driven(function, ends: bool):
    def driven(model, q, v, tau, dt, **given):
        tau, later = list(tau), {}
        for element, place in model.internal_places():
            if not element.commanded:
                continue
            k = model.coordinate(element.joint)
            command = element.delivered(v[k], tau[k])
            tau[k] = command
            for n in range(model.nv + place.start, model.nv + place.stop):
                tau[k] = element.delivered(v[k], v[n])
                later[n] = element.lagged(v[n], command, dt)
        found = function(model, q, v, tau=tau, dt=dt, **given)
        if not ends:
            return found
        q, v, *memory = found
        return q, [later.get(n, x) for n, x in enumerate(v)], *memory

    driven.__name__ = f"{function.__name__}_with_motors"
    return driven


@once
def _joined(spec: Spec) -> Spec:
    def step(model, q, v, tau, dt, f_ext=None, u=None):
        q, v, x = spec.function(model, q, v[: model.nv], tau, dt, f_ext, v[model.nv :], u, x_next=True)
        return q, [*v, *x]

    return whole_step(f"{spec.name}_of_w", step, spec.domains)


class WholeStep:
    """Steps by one compiled function of q, v, tau, dt and the other arguments of the dynamics.

    Parameters
    ----------
    system : System
        The dynamics.
    step : str or Spec
    """

    def __init__(self, system, step) -> None:
        self._step, self._h, self._h_array = system.function(step, checks=False), None, None

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        if h != self._h:  # compiled functions take arrays; the step is almost always the same
            self._h, self._h_array = h, np.array(h)
        return self._step(q, v, tau(t), self._h_array, *f_ext(t))
