"""A variational integrator: the discrete Euler-Lagrange equations of the midpoint rule, on the joints' groups.

The action of a step from q0 to q1 = q0 exp(h u) is taken as h L(q_m, u), q_m = q0 exp(h u / 2) in the middle. The
discrete Legendre transforms of this Lagrangian give the momenta p0 and p1 at its ends. With x = h u / 2, the tangent
maps T(x) and T(-x) (right Jacobians of the exponential), and momenta taken to the middle, pi_0 = T(-x)^T p0 and pi_1 =
T(x)^T p1, its variations along u and along q_m are

    (pi_0 + pi_1) / 2 = dL/du (q_m, u),
    T(-x)^-T pi_1 - T(x)^-T pi_0 = h (dL/dq (q_m, u) + f),

f the forces without a potential (Lagrange-d'Alembert). For joints whose positions add, T = 1: the implicit midpoint
rule in (q, p). The state (q, v) is (q, p) by the continuous Legendre transform ``p = M(q) v``, so there is no history.
"""

from __future__ import annotations

import math

import numpy as np

from kinetree.algorithms.complete import COMPLETE, refuse_unsupported, stepped_constraints
from kinetree.algorithms.constrained import equality_rows, given_rates, remaining_rows
from kinetree.algorithms.crba import crba
from kinetree.algorithms.derivatives import body_maps, external_wrenches, joint_motions, rnea_derivatives, summed
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.matrices import transposed
from kinetree.algorithms.passive import law_forces
from kinetree.algorithms.projection import has_loops, position_errors
from kinetree.algorithms.spec import algorithm
from kinetree.errors import UnsupportedError
from kinetree.integrators import implicit
from kinetree.integrators.implicit import KINKED, LOOPED, UNSOLVED
from kinetree.integrators.kernels import END, FORCES, finished, part
from kinetree.integrators.newton import ENOUGH, EXACT, MOST, no_convergence
from kinetree.joints.contract import tangent_inverse
from kinetree.spatial import Columns
from kinetree.spatial.scalar import is_zero, maximum, where
from kinetree.state_kinematics import Kinematics


class Variational:
    """Symplectic, and keeps every symmetry: conserved momenta are constant to rounding, for any step.

    Energy oscillates within a bound proportional to h^2 over very long times. Order 2. Springs count as
    forces of the step's middle, dampers, friction and actuators do, too.

    Parameters
    ----------
    system : System
        The dynamics.

    Raises
    ------
    UnsupportedError
        The model has gears or joints that depend on time, which the Lagrangian lacks.

    Notes
    -----
    Source: Marsden, West (2001), "Discrete mechanics and variational integrators", sections 1.3, 2.3 and 3.2; on groups
    Bou-Rabee, Marsden (2009), "Hamilton-Pontryagin integrators on Lie groups". Position-momentum form. The equations
    are solved to rounding in `simulate`; the rollout takes `variational_step`, a fixed number of corrections.
    Loops by RATTLE (Hairer, Lubich, Wanner 2006, section VII.1.4): positions are closed by impulses at the beginning of
    the step, momenta by impulses at its end, which is symplectic on the closed positions. Prescribed joints move at
    their mean rate over the step; internal states of force elements take the implicit midpoint rule.
    """

    name = "variational"
    algorithm = "variational_step"  # the step under constant forces, for rollouts
    order = 2
    closes_loops = internal_states = True

    def __init__(self, system) -> None:
        _refuse(system.model)
        self._system, self.iterations = system, 0
        self._momentum = system.function(MOMENTUM, checks=False)
        self._update = system.function(CLOSED_UPDATE if system.has_loops else VARIATIONAL_UPDATE, checks=False)
        self._end = system.function(VARIATIONAL_END, checks=False)
        self._h, self._h_array, self._nv, self._end_time = None, None, system.model.nv, system.end_time

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        if h != self._h:  # compiled functions take arrays; the step is almost always the same
            self._h, self._h_array = h, np.array(h)
        step = self._h_array
        middle = t + 0.5 * h
        forces, wrenches = tau(middle), f_ext(middle)
        p, M = self._momentum(q, v[: self._nv], *self._end_time(t))
        u = np.concatenate((v[: self._nv], np.zeros(len(v) - self._nv)))  # rates; those of internal states follow
        before, previous = u, math.inf
        for n in range(MOST):
            u_next, change, r, *p_end = self._update(q, u, v, p, M, forces, step, before, *wrenches)
            change = float(change)
            self.iterations += 1
            if change <= EXACT or (change <= ENOUGH and change >= 0.5 * previous):
                return self._end(q, u_next, v, p_end[0] if p_end else p, step, *self._end_time(t + h))
            if not math.isfinite(change) or n + 1 == MOST:
                break
            previous, before, u = change, u, u_next
        raise no_convergence(self._system, self.name, middle, n + 1, (u_next - u)[: self._nv], r)


def _refuse(model) -> None:
    """Raise an error for models with terms that this Lagrangian leaves out."""
    free = next((c for c in remaining_rows(model) if not all(c.position_level(model))), None)
    what = "gears" if model.geared else "joints that depend on time" if model.time_dependent else None
    what = what or (f"constraints of velocities such as the {free}" if free is not None else None)
    if what:
        raise UnsupportedError(
            f"the variational integrator does not support {what}, which model {model.name!r} has; "
            "integrator='implicit_midpoint' is also of order 2 and symmetric in time.",
            model=model.name,
        )


# The Lagrangian -------------------------------------------------------------------------------------------------------


def legendre(model, q, u, f_ext=None):
    """``dL/du`` and ``dL/dq`` along the manifold, the latter with the forces of external wrenches.

    A displacement along the column S_k of joint k moves its subtree, whose velocities change by ``psi_k = v_p x S_k +
    (dS/dq_k) u`` relative to it: with the subtree's momentum H and weight F, ``dL/du_k = S_k . H`` and ``dL/dq_k =
    psi_k . H + S_k . F``.
    """
    motions = joint_motions(model, q, u)
    I, _ = body_maps(model, motions)
    gravity, h, F = ([None] * model.nb for _ in range(3))
    W = external_wrenches(model, q, f_ext) if f_ext is not None else None
    for i in model.outward():
        gravity[i] = gravity[model.parent[i]] if model.parent[i] else motions.gravity[i]  # upward, as an acceleration
        h[i], F[i] = I[i] @ motions.V[i], -(I[i] @ gravity[i])
        if W is not None:
            F[i] = F[i] + W[i]
    H, F = summed(model, h), summed(model, F)
    p, slope = [0.0] * model.nv, [0.0] * model.nv
    for i in model.outward():
        psi = motions.parent_rate[i]
        if not model.joints[i].constant_subspace:
            psi = [x + eta for x, eta in zip(psi, _apparent(model, i, q, u, motions.X[i]), strict=True)]
        for k, (S_k, psi_k) in enumerate(zip(motions.S[i], psi, strict=True), model.v_slice[i].start):
            p[k] = S_k.dot(H[i]) + model.armature[k] * u[k]
            slope[k] = psi_k.dot(H[i]) + S_k.dot(F[i])
    return p, slope


def _apparent(model, i, q, u, X_i):
    """``(dS/dq_k) u`` of a joint whose subspace changes, in the coordinates of the root."""
    joint, q_i, u_i = model.joints[i], model.q_of(i, q), model.v_of(i, u)
    units = [[1.0 if m == k else 0.0 for m in range(joint.nv)] for k in range(joint.nv)]
    return [X_i.inverse_apply(Columns(joint.subspace_along(q_i, unit), model.algebra.Motion) @ u_i) for unit in units]


# The step -------------------------------------------------------------------------------------------------------------


class Middle:
    """Position in the middle of the step u from q, with ``T(x)^-1`` and ``T(-x)^-1`` of its half."""

    def __init__(self, model, q, u, h) -> None:
        x = [0.5 * h * u_k for u_k in u]
        self.position = integrate(model, q, x)
        self._slots = [(model.joints[i], model.v_slice[i]) for i in model.outward()]
        self._forward = [tangent_inverse(joint, x[slot]) for joint, slot in self._slots]
        self._backward = [tangent_inverse(joint, [-x_k for x_k in x[slot]]) for joint, slot in self._slots]

    def from_start(self, p):
        """``pi_0 = T(-x)^T p_0``."""
        return self._each(self._backward, p, lambda inverse, p_i: implicit.Elimination(transposed(inverse)).solve(p_i))

    def backward(self, p):
        """``T(-x)^-T p``."""
        return self._each(self._backward, p, _transposed_product)

    def forward(self, p):
        """``T(x)^-T p``, which also takes pi_1 to p_1."""
        return self._each(self._forward, p, _transposed_product)

    def _each(self, inverses, p, apply):
        result = list(p)
        for (_, slot), inverse in zip(self._slots, inverses, strict=True):
            result[slot] = apply(inverse, p[slot])
        return result


def _transposed_product(A, x):
    return [sum((a * b for a, b in zip(row, x, strict=True) if not is_zero(a)), start=0.0) for row in transposed(A)]


def variational_matrix(model, q, u, M, h, slopes, stuck=None, x=None, inputs=None) -> implicit.Reduced:
    """The derivative of `variational_residual` in u, to the second order of h, factorized.

    ``M(q_m) + h/2 d(M u)/dq - h/2 (d(M u)/dq)^T - h^2/4 d(dL/dq + f)/dq`` is ``M(q) + h/2 dc/du + h^2/4 dr/dq``; the
    slopes of the tree from `variational_slopes`, those of passive forces from here. x are the internal states there.
    """
    (dq, dv), n, half = slopes, range(model.nv), 0.5 * h
    K, D = implicit.passive_slopes(model, integrate(model, q, [half * u_k for u_k in u]), u, stuck, x, inputs, half)
    matrix = [[M[m][k] + half * (dv[m][k] + D[m][k] + half * (dq[m][k] - K[m][k])) for k in n] for m in n]
    return implicit.Reduced(model, matrix)


def variational_slopes(model, q, u, h, f_ext=None):
    """``dc/dq`` and ``dc/du`` of the tree in the middle of the step."""
    Q = integrate(model, q, [0.5 * h * u_k for u_k in u])
    return rnea_derivatives(model, Q, u, [0.0] * model.nv, f_ext)[:2]


def variational_residual(model, q, u, p, tau, h, f_ext=None, x=None, inputs=None):
    """Half the sum of the discrete Euler-Lagrange equations, zero at the u of the step that begins with momenta p."""
    middle = Middle(model, q, u, h)
    m, slope = legendre(model, middle.position, u, f_ext)
    passive = law_forces(model, middle.position, u, x, inputs)
    turned, start = middle.backward(m), middle.forward(middle.from_start(p))
    return [turned[k] - 0.5 * (p[k] + start[k] + h * (slope[k] + passive[k] + tau[k])) for k in range(model.nv)]


def prepared(model, q, rates, w, h, inputs=None):
    """Mean rates with those of prescribed joints put in; internal states in the middle, after a correction of their
    rates, which follow those of the joints; and the size of that correction.

    w are the velocities and internal states at the beginning, the model is that of the middle's time.
    """
    rates, half = with_mean_rates(model, q, rates, h), 0.5 * h
    middle = [*rates[: model.nv], *(x + half * r for x, r in zip(w[model.nv :], rates[model.nv :], strict=True))]
    Q = integrate(model, q, [half * u_k for u_k in rates[: model.nv]]) if model.nx else q
    middle, rates, moved = implicit.with_internal_rates(model, Q, middle, rates, half, inputs)
    return rates, middle[model.nv :], moved


def with_mean_rates(model, q, rates, h):
    """Rates whose entries of prescribed motions are the mean ones of the step: no correction changes these."""
    if not model.has_given_motions:
        return rates
    ends, found = [Kinematics(model.after(s * h), q) for s in (-0.5, 0.5)], list(rates)
    for c in model.constraints:
        if given := c.given_rates(ends[0]):
            for k, before, after in zip(given, *(c.residual(kin) for kin in ends), strict=True):
                found[k] = (before - after) / h
    given = implicit.given_accelerations(model, ends[0])
    for c in model.constraints:
        for k, pairs in c.velocity_map(ends[0]).items():
            for m, ratio in pairs:
                if m in given:
                    found[k] = ratio * found[m]
    return found


def _corrected(model, matrix, q, u, p, tau, h, stuck=None, f_ext=None, x=None, inputs=None):
    """u after one correction, its change as a fraction of the speed, the residual, and the momenta with impulses.

    Loops are closed at the end, ``phi(q exp(h u)) = 0``, by impulses ``K(q)^T mu`` at the beginning (RATTLE); those at
    the end are the projection of its velocities.
    """
    r = variational_residual(model, q, u, p, tau, h, f_ext, x, inputs)
    excess = [0.0] * model.nv
    if stuck is not None:
        excess = implicit.sticking(model, integrate(model, q, [0.5 * h * u_k for u_k in u]), u, stuck)
    total = [f + 0.5 * h * y for f, y in zip(r, excess, strict=True)]
    if not has_loops(model):
        change = matrix.solve(total)
    else:
        start, push, pull, errors = _rows(model, q, u, h)
        change, mu = matrix.constrained(total, push, pull, errors)
        for row, impulse in zip(start, mu, strict=True):
            p = [p_k - row.get(k, 0.0) * impulse for k, p_k in enumerate(p)]
    u = [u_k - du for u_k, du in zip(u, change, strict=True)]
    return u, implicit.relative_change(change, u), r, p


def _rows(model, q, u, h):
    """Rows of loops at both ends of the step: those of impulses at its start, their effect in the residual, the slopes
    of the errors of position at its end divided by h, and these errors."""
    move = [h * u_k for u_k in u]
    Q, middle, half = integrate(model, q, move), Middle(model, q, u, h), 0.5 * h
    numbers, start, _ = equality_rows(model, Kinematics(model.after(-half), q), {})
    _, end, _ = equality_rows(model, Kinematics(model.after(half), Q), {})
    push = []
    for row in start:
        k0 = [row.get(k, 0.0) for k in range(model.nv)]
        turned = middle.forward(middle.from_start(k0))
        push.append({k: 0.5 * (x + y) for k, (x, y) in enumerate(zip(k0, turned, strict=True))})
    pull = implicit.times_tangent(model, [[row.get(k, 0.0) for k in range(model.nv)] for row in end], move)
    errors = [x / h for x in position_errors(model.after(half), numbers, Q)]
    return start, push, [dict(enumerate(row)) for row in pull], errors


def _closed_update(model, q, rates, w, p, M, tau, h, before, f_ext=None, u=None):
    nv = model.nv
    rates, x, moved = prepared(model, q, rates, w, h, u)
    stuck, mean = implicit.reversals(before[:nv], rates[:nv]), rates[:nv]
    matrix = variational_matrix(model, q, mean, M, h, variational_slopes(model, q, mean, h, f_ext), stuck, x, u)
    mean, change, r, p = _corrected(model, matrix, q, mean, p, tau, h, stuck, f_ext, x, u)
    return [*mean, *rates[nv:]], maximum(change, moved) if model.nx else change, r, p


def _update(model, q, rates, w, p, M, tau, h, before, f_ext=None, u=None):
    return _closed_update(model, q, rates, w, p, M, tau, h, before, f_ext, u)[:3]


def _momentum(model, q, v):
    refuse_unsupported(model, "aba", computed=stepped_constraints(model))
    return legendre(model, q, v)[0], crba(model, q)


def _end(model, q, rates, w, p, h):
    """The state at the end, for a model at its time."""
    u, r = rates[: model.nv], rates[model.nv :]
    middle = Middle(model, q, u, h)
    m, _ = legendre(model, middle.position, u)
    p_next = middle.forward([2.0 * m_k - p_k for m_k, p_k in zip(m, middle.from_start(p), strict=True)])
    q_next = integrate(model, q, [h * u_k for u_k in u])
    M = crba(model, q_next)
    for k, (rate, _) in given_rates(model, Kinematics(model, q_next)).items():
        p_next = [x - row[k] * rate for x, row in zip(p_next, M, strict=True)]
    x_next = [x + h * rate for x, rate in zip(w[model.nv :], r, strict=True)]
    return finished(model, q_next, [*implicit.Reduced(model, M).solve(p_next), *x_next])


@algorithm(
    inputs="q v tau dt",
    optional="f_ext x u",
    outputs="q_next v_next",
    further="x_next",
    domains=COMPLETE,
    symbols={
        "tau": "Actuator forces during the step [N m or N].",
        "v_next": "; infinite where the corrections have not converged (the last one above 1e-3 of the speed), "
        "so that no inaccurate result is used.",
        "UnsupportedError": "The model has gears or joints that depend on time, which the Lagrangian lacks.",
    },
    raises="UnsupportedError",
    geared=False,
)
def variational_step(model, q, v, tau, dt, f_ext=None, x=None, u=None, *, x_next=False):
    """One step of the variational midpoint rule under constant forces, by a fixed number of corrections.

    Notes
    -----
    Source: Marsden, West (2001), sections 2.3 and 3.2, with ``p = M(q) v`` at both ends. Two corrections with new
    derivatives, six with the last ones, each of which divides the error by about 8 / (h v)^2; `simulate` iterates until
    nothing changes.

    See Also
    --------
    implicit_midpoint_step, simulate
    """
    _refuse(model)
    (p, M), nv, middle = _momentum(model, q, v), model.nv, model.after(0.5 * dt)
    w = [*v, *(model.initial_internal() if x is None else x)]
    rates, before, kinks, stuck = [*v, *[0.0] * model.nx], v, implicit.has_kinks(model), None
    for n in range(2 + (KINKED if kinks else 6) + (LOOPED if has_loops(model) else 0)):
        rates, states, moved = prepared(middle, q, rates, w, dt, u)
        mean = rates[:nv]
        if kinks:
            stuck, before = implicit.reversals(before, mean), mean
        if n < 2:
            slopes = variational_slopes(middle, q, mean, dt, f_ext)
        if n < 2 or kinks:
            matrix = variational_matrix(middle, q, mean, M, dt, slopes, stuck, states, u)
        mean, change, _, p_end = _corrected(middle, matrix, q, mean, p, tau, dt, stuck, f_ext, states, u)
        rates = [*mean, *rates[nv:]]
    q_next, w_next = _end(model.after(dt), q, rates, w, p_end, dt)
    change = maximum(change, moved) if model.nx else change
    w_next = [where(change < UNSOLVED, y, float("inf")) for y in w_next]
    return (q_next, w_next[:nv], w_next[nv:]) if x_next else (q_next, w_next)


MOMENTUM = part("variational_momentum", _momentum, "q[nq] v[nv]", "p[nv] M[nv,nv]")
_STEP = "q[nq] rates[nw] w[nw] p[nv] M[nv,nv] tau[nv] h before[nw]"
VARIATIONAL_UPDATE = part("variational_update", _update, _STEP, "rates_next[nw] change r[nv]", FORCES)
CLOSED_UPDATE = part("variational_closed_update", _closed_update, _STEP, "rates_next[nw] change r[nv] p_end[nv]",
                     FORCES)  # fmt: skip
VARIATIONAL_END = part("variational_end", _end, "q[nq] rates[nw] w[nw] p[nv] h", END)
