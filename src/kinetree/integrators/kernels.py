"""The steps of the integrators over scalars, so that each compiles into one function of the model.

A step under constant forces is one function, an algorithm of the library; `rollout` takes it through all steps of time.
Where forces vary within a Runge-Kutta step, as in `simulate`, it is made of parts: four stages and their sum.
"""

from __future__ import annotations

from kinetree.algorithms.bounded_rows import bounded_constraints
from kinetree.algorithms.complete import COMPLETE, semi_implicit_velocities, step_accelerations
from kinetree.algorithms.domain import UNIT_QUATERNIONS
from kinetree.algorithms.manifold import apply_couplings, integrate, reparameterize, tangent_rate
from kinetree.algorithms.spec import Spec, algorithm


@algorithm(
    inputs="q v tau dt",
    optional="f_ext",
    outputs="q_next v_next",
    domains=COMPLETE,
    symbols={"tau": "Actuator forces during the step [N m or N]."},
)
def semi_implicit_step(model, q, v, tau, dt, f_ext=None):
    """One step of semi-implicit Euler, the passive joint forces taken at its end.

    Notes
    -----
    Source: Sueda, eq. 1.28-1.29 and 2.19-2.20: ``v+ = v + dt a``, ``q+ = integrate(q, dt v+)`` with the acceleration of
    `semi_implicit_acceleration`.

    See Also
    --------
    simulate
    """
    v_next = semi_implicit_velocities(model, q, v, tau, dt, f_ext)
    q_next = integrate(model, q, [dt * x for x in v_next])
    for c in bounded_constraints(model):
        for j, x in c.landed(model, q, q_next).items():
            q_next[j] = x
    return finished(model, q_next, v_next)


@algorithm(
    inputs="q v tau dt",
    optional="f_ext",
    outputs="q_next v_next",
    domains=COMPLETE,
    symbols={"tau": "Actuator forces during the step [N m or N]."},
)
def rk4_step(model, q, v, tau, dt, f_ext=None):
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
    half = 0.5 * dt
    x1, a1 = v, step_accelerations(model, q, v, tau, f_ext)
    middle, end = model.after(half), model.after(dt)
    x2, a2 = _runge_kutta_stage(middle, q, v, x1, a1, tau, half, f_ext)
    x3, a3 = _runge_kutta_stage(middle, q, v, x2, a2, tau, half, f_ext)
    x4, a4 = _runge_kutta_stage(end, q, v, x3, a3, tau, dt, f_ext)
    return _runge_kutta_sum(model, q, v, dt, x1, a1, x2, a2, x3, a3, x4, a4)


def _runge_kutta_stage(model, q, v, xi_dot, a, tau, h, f_ext=None):
    """Rates (xi', v') at the stage point q (+) h xi_dot, v + h a."""
    xi, w = [h * x for x in xi_dot], axpy(v, a, h)
    return tangent_rate(model, xi, w), step_accelerations(model, integrate(model, q, xi), w, tau, f_ext)


def _runge_kutta_sum(model, q, v, h, x1, a1, x2, a2, x3, a3, x4, a4):
    """The end of a classical Runge-Kutta step: weights 1/6, 1/3, 1/3, 1/6."""
    x, a = _simpson(x1, x2, x3, x4), _simpson(a1, a2, a3, a4)
    return finished(model, integrate(model, q, [h * x_k for x_k in x]), axpy(v, a, h))


def finished(model, q, v):
    """The end of a step: joints in coordinates far from their singularities; coupled ones computed from their masters.

    So rounding does not add up over steps, and a tumbling body does not come to the end of its chart.
    """
    q, v = reparameterize(model, q, v)
    return apply_couplings(model, q, v) if model.couplings else (q, v)


def axpy(v, a, h):
    """``v + h a``."""
    return [v_k + h * a_k for v_k, a_k in zip(v, a, strict=True)]


def _simpson(k1, k2, k3, k4):
    return [(s1 + 2.0 * (s2 + s3) + s4) * (1.0 / 6.0) for s1, s2, s3, s4 in zip(k1, k2, k3, k4, strict=True)]


# Parts of a step are no algorithms of the library: they are compiled like them, but not registered.
RUNGE_KUTTA_STAGE = Spec(
    name="runge_kutta_stage",
    function=_runge_kutta_stage,
    inputs={"q": ("nq",), "v": ("nv",), "xi_dot": ("nv",), "a": ("nv",), "tau": ("nv",), "h": ()},
    optional={"f_ext": ("nb", 6)},
    outputs={"xi_dot_next": ("nv",), "a_next": ("nv",)},
    domains=(UNIT_QUATERNIONS,),
)
RUNGE_KUTTA_SUM = Spec(
    name="runge_kutta_sum",
    function=_runge_kutta_sum,
    inputs={"q": ("nq",), "v": ("nv",), "h": ()} | {f"{rate}{s}": ("nv",) for s in (1, 2, 3, 4) for rate in ("x", "a")},
    optional={},
    outputs={"q_next": ("nq",), "v_next": ("nv",)},
    domains=(UNIT_QUATERNIONS,),
    body_frames=None,
)
