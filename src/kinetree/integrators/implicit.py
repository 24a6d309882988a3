"""Parts of implicit steps, over scalars: slopes of the forces, Newton's equations, their solution.

An implicit step solves for accelerations a that satisfy the dynamics in the state to which they lead: at the position
``q (+) (x0 + x1 a)`` and the velocity ``w0 + w1 a``,

    r(a) = ID(q (+) (x0 + x1 a), w0 + w1 a, a) - tau = 0,

ID the inverse dynamics with passive forces and couplings. The methods differ in x0, x1, w0 and w1 alone. Newton's
matrix takes the derivatives of inverse dynamics in closed form,

    dr/da = M + w1 dID/dv + x1 dID/dq T(xi),

T the tangent map (right Jacobian) of the joints' exponentials.
"""

from __future__ import annotations

from kinetree.algorithms.complete import COMPLETE, refuse_unsupported, stepped_constraints
from kinetree.algorithms.constrained import equality_rows, given_accelerations
from kinetree.algorithms.couplings import coupling_columns, expanded, projected, weighted, weighted_row
from kinetree.algorithms.derivatives import rnea_derivatives
from kinetree.algorithms.implicit_forces import exact_slopes, implicit_state_changes
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.matrices import dot
from kinetree.algorithms.passive import joint_forces as elements
from kinetree.algorithms.passive import law_forces
from kinetree.algorithms.projection import has_loops, with_given_motions
from kinetree.algorithms.regularity import require_regular
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.shared_results import joint_forces
from kinetree.algorithms.spec import Spec
from kinetree.integrators.kernels import END, FORCES, finished, part
from kinetree.joints.contract import tangent_inverse
from kinetree.spatial.scalar import absolute, detach, is_zero, maximum, where
from kinetree.state_kinematics import Kinematics

FRESH, FRESH_OF_STATES = 2, 4  # corrections with new derivatives, in models without and with internal states
LOOPED = 4  # further corrections under loops, whose rows have no slopes in the matrix
KINKED = 8  # further corrections where slopes of passive forces are discontinuous
UNSOLVED = 1e-3  # where the last correction is larger than this fraction of the speed, there is no solution
REST = 1e-3  # [rad/s or m/s] changes of velocity are relative to this speed where all velocities vanish


# Slopes of the forces ------------------------------------------------------------------------------------------------


def passive_slopes(model, q, v, stuck=None, x=None, u=None, lag=None):
    """Stiffness and damping of passive joint forces: ``K = d force / dq`` along the manifold, ``D = - d force / dv``.

    Parameters
    ----------
    model : Model
    q, v : sequence of scalars
    stuck : list, optional
        1 for velocities that are assumed to be below v_s, as `reversals` returns them; else 0.
    x, u : sequence of scalars, optional
        Internal states and inputs of force elements.
    lag : scalar, optional
        Length of an implicit step [s] in which internal states follow q and v.

    Returns
    -------
    K : list of list
        Rows of forces; not symmetric for springs of ball joints.
    D : list of list
    """
    K, D = joint_slopes(model, q, v, stuck)
    if model.laws:
        K_elements, D_elements = exact_slopes(model, q, v, x, u, lag)
        K = [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(K, K_elements, strict=True)]
        D = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(D, D_elements, strict=True)]
    return K, D


def joint_slopes(model, q, v, stuck=None):
    """K and D of `passive_slopes` for the forces of joints alone."""
    K, D = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(2))
    for coordinates, force, at in elements(model, q, v):
        for k, row in zip(coordinates, force.stiffness_rows(at), strict=True):
            for n, slope in zip(coordinates, row, strict=True):
                K[k][n] = K[k][n] - slope
        slopes, rest = force.dissipative_slope(at), force.dissipative_at_rest(at)
        for k, slope, resting in zip(coordinates, slopes, rest, strict=True):
            if stuck is not None and force.stiff_at_rest:
                slope = slope + stuck[k] * (resting - slope)
            D[k][k] = D[k][k] + slope
    return K, D


def force_slopes(model, q, v, a, f_ext=None, x=None, u=None, lag=None):
    """``(dr_dq, dr_dv, M)`` of the complete inverse dynamics ``r(q, v, a)``, couplings aside."""
    dq, dv, M = rnea_derivatives(model, q, v, a, f_ext)
    K, D = passive_slopes(model, q, v, None, x, u, lag)
    dq = [[x - k for x, k in zip(row, K_row, strict=True)] for row, K_row in zip(dq, K, strict=True)]
    dv = [[x + d for x, d in zip(row, D_row, strict=True)] for row, D_row in zip(dv, D, strict=True)]
    return dq, dv, M


def residual(model, q, v, a, tau, f_ext=None, x=None, u=None, *, beside_slopes: bool = True):
    """``ID(q, v, a) - tau`` with the joints' passive forces, couplings aside.

    ``beside_slopes``: whether `force_slopes` of this state are computed, too, whose passes are shared then.
    """
    if beside_slopes:
        arrays = {"q": q, "v": v, "a": a} | ({} if f_ext is None else {"f_ext": f_ext})
        forces = joint_forces(model, arrays, ())
    else:
        forces = rnea(model, q, v, a, f_ext)
    passive = law_forces(model, q, v, x, u)
    return [f - p - t for f, p, t in zip(forces, passive, tau, strict=True)]


def sticking(model, q, v, stuck) -> list:
    """Additional friction where velocities are assumed to be below v_s: ``(d(0) - d(v)) v``.

    Beside `passive_slopes` with the same ``stuck`` it makes Newton's step the one to the velocity at which friction
    holds. An iteration with slopes alone would alternate between both directions.
    """
    excess = [0.0] * model.nv
    for coordinates, force, at in elements(model, q, v):
        if force.stiff_at_rest:
            parts = zip(coordinates, force.dissipative_at_rest(at), force.dissipative(at), strict=True)
            for k, rest, damping in parts:
                excess[k] = excess[k] + stuck[k] * ((rest - damping) * v[k])
    return excess


# Tangent maps of the joints -------------------------------------------------------------------------------------------


def times_tangent(model, rows, xi):
    """``R T(xi)`` for the rows of a matrix: T is the inverse of the result of `tangent_inverse`, joint by joint."""
    rows = [list(row) for row in rows]
    for i in model.outward():
        slot, inverse = model.v_slice[i], tangent_inverse(model.joints[i], xi[model.v_slice[i]])
        if _is_identity(inverse):
            continue
        factors = Elimination([list(column) for column in zip(*inverse, strict=True)])
        for row in rows:
            if not all(is_zero(x) for x in row[slot]):
                row[slot] = factors.solve(row[slot])  # z T^-1 = y
    return rows


def _is_identity(rows) -> bool:
    return all(isinstance(x, float) and x == float(m == k) for m, row in enumerate(rows) for k, x in enumerate(row))


# Linear equations -----------------------------------------------------------------------------------------------------


class Elimination:
    """``A = U L`` by elimination from the leaves inward, without pivots: the tree's zeros stay zeros.

    A is an inertia matrix with additions of the order of the step, not symmetric; only structural zeros are skipped.
    """

    def __init__(self, A) -> None:
        rows, n = [list(row) for row in A], len(A)
        self._scale = [0.0] * n
        for k in reversed(range(n)):
            require_regular(absolute(rows[k][k]), absolute(A[k][k]))
            self._scale[k] = 1.0 / rows[k][k]
            for i in range(k):
                if is_zero(rows[i][k]):
                    continue
                rows[i][k] = rows[i][k] * self._scale[k]
                for j in range(k):
                    if not is_zero(rows[k][j]):
                        rows[i][j] = rows[i][j] - rows[i][k] * rows[k][j]
        self._rows = rows

    def solve(self, b) -> list:
        """``A^-1 b``."""
        rows, x = self._rows, list(b)
        for k in reversed(range(len(x))):
            for i in range(k):
                if not is_zero(rows[i][k]):
                    x[i] = x[i] - rows[i][k] * x[k]
        for k in range(len(x)):
            for j in range(k):
                if not is_zero(rows[k][j]):
                    x[k] = x[k] - rows[k][j] * x[j]
            x[k] = x[k] * self._scale[k]
        return x


class Reduced:
    """A linear system of the tree on its independent velocities: ``G^T A G y = G^T b``, and ``x = G y``."""

    def __init__(self, model, A) -> None:
        self._model, self._columns = model, coupling_columns(model) if model.constraints else None
        if self._columns is not None:
            A = [[projected(A, left, right) for right in self._columns] for left in self._columns]
        self._factors = Elimination(A)

    def solve(self, b) -> list:
        """The x of all velocities."""
        if self._columns is None:
            return self._factors.solve(b)
        y = self._factors.solve([weighted(b, column) for column in self._columns])
        return expanded(self._model, self._columns, y)

    def under_rows(self, b, kin, a=None, given=None) -> list:
        """The x of ``A x = b + K^T lambda`` under the rows of loops, ``K x = K a - k``, or ``K x = k`` without a.

        ``given`` are parts of accelerations that are not in x, by velocity coordinate.
        """
        if not has_loops(self._model):
            return self.solve(b)
        _, rows, k = equality_rows(self._model, kin, given or {})
        if a is not None:
            k = [sum(x * a[m] for m, x in row.items()) - k_m for row, k_m in zip(rows, k, strict=True)]
        return self.constrained(b, rows, rows, k)[0]

    def constrained(self, b, forces, rows, right) -> tuple[list, list]:
        """x and lambda of ``A x = b + forces^T lambda``, ``rows x = right``; rows are mappings or lists."""
        push, pull = ([[weighted_row(row, column) for column in self._columns] for row in G] for G in (forces, rows))
        y = self._factors.solve([weighted(b, column) for column in self._columns])
        responses = [self._factors.solve(row) for row in push]
        S = [[dot(row, response) for response in responses] for row in pull]
        lam = Elimination(S).solve([k - dot(row, y) for k, row in zip(right, pull, strict=True)])
        for response, factor in zip(responses, lam, strict=True):
            y = [y_k + x * factor for y_k, x in zip(y, response, strict=True)]
        return expanded(self._model, self._columns, y), lam


# One iteration --------------------------------------------------------------------------------------------------------


def stage(model, q, x0, w0, a, x1, w1):
    """Step, position and velocity to which the accelerations lead, prescribed coordinates where they have to be.

    Internal states of force elements follow the velocities, and their rates the accelerations.
    """
    xi = [x + x1 * a_k for x, a_k in zip(x0, a, strict=False)]
    Q, w = integrate(model, q, xi), [w + w1 * a_k for w, a_k in zip(w0, a, strict=True)]
    if not model.has_given_motions:
        return xi, Q, w
    Q, v = with_given_motions(model, Q, w[: model.nv])
    return xi, Q, [*v, *w[model.nv :]]


def with_given_accelerations(model, a) -> list:
    """Accelerations, with those of prescribed motions put in; no correction changes these."""
    given = given_accelerations(model, Kinematics(model, ()))
    return [given.get(k, a_k) for k, a_k in enumerate(a)]


def with_internal_rates(model, Q, w, a, w1, u=None):
    """``(w, a)`` after a correction of the rates of internal states, ``x' = f(x)`` at the stage; and its size.

    With the slopes of forces by `passive_slopes`, in which x follows, the corrections of x and of the accelerations
    are Newton's step of both together.
    """
    nv = model.nv
    if not model.nx:
        return w, a, 0.0
    x, rates = w[nv:], a[nv:]
    changes = implicit_state_changes(model, Q, w[:nv], x, u, w1, rates)
    w = [*w[:nv], *(x_k + dx for x_k, dx in zip(x, changes, strict=True))]
    a = [*a[:nv], *(r + dx / w1 for r, dx in zip(rates, changes, strict=True))]
    return w, a, relative_change(changes, x)


def known_rates(model, a) -> list:
    """Rates of a solution as constants; those of coupled coordinates by their masters, zero where they are given."""
    a = [detach(x) for x in a]
    if not model.constraints:
        return a
    columns = coupling_columns(model)
    joints = expanded(model, columns, [a[column[0][0]] for column in columns])
    return [*joints, *a[model.nv :]]


class Linearization:
    """``M + w1 D + x1 K T(xi)`` of the tree at a stage, without the slopes of passive forces."""

    def __init__(self, model, xi, Q, w, a, x1, w1, f_ext=None) -> None:
        dq, dv, M = rnea_derivatives(model, Q, w[: model.nv], a[: model.nv], f_ext)
        dq, n = times_tangent(model, dq, xi), range(model.nv)
        self._rigid = [[_sum(M[m][k], w1 * dv[m][k], x1 * dq[m][k]) for k in n] for m in n]
        self._model, self._stage, self._weights = model, (xi, Q, w), (x1, w1)

    def factorized(self, stuck=None, later=None, u=None, constant: bool = False) -> Reduced:
        """The matrix with the slopes of passive forces at this stage, or at ``later = (xi, Q, w)``.

        No derivative is taken of a ``constant`` one.
        """
        model, (x1, w1), (xi, Q, w) = self._model, self._weights, later or self._stage
        K, D = passive_slopes(model, Q, w[: model.nv], stuck, w[model.nv :], u, w1)
        K, matrix = times_tangent(model, K, xi), [list(row) for row in self._rigid]
        for m, row in enumerate(matrix):
            for k, (slope, d) in enumerate(zip(K[m], D[m], strict=True)):
                if not is_zero(d):
                    row[k] = row[k] + w1 * d
                if not is_zero(slope):
                    row[k] = row[k] - x1 * slope
        if constant:
            matrix = [[detach(x) for x in row] for row in matrix]
        return Reduced(model, matrix)


def has_kinks(model) -> bool:
    """Whether slopes of passive forces are discontinuous: dry friction at rest, stops where they begin."""
    return any(force.kinked for force in model.forces)


def reversals(before, now) -> list:
    """1 for velocities that changed their direction from one iterate to the next: friction may hold them."""
    return [where(x * y < 0.0, 1.0, 0.0) for x, y in zip(before, now, strict=True)]


def corrected(model, matrix: Reduced, Q, w, a, tau, w1, stuck=None, f_ext=None, u=None, *, fresh: bool = True):
    """a after one correction, its change as a fraction of the speed, and the residual before.

    ``fresh``: whether the matrix is that of this stage, and is differentiated where the residual is. Accelerations obey
    the rows of loops at the stage, ``K a = k``, by forces ``K^T lambda``.
    """
    nv = model.nv
    v, x, rates, a = w[:nv], w[nv:], a[nv:], a[:nv]
    r = residual(model, Q, v, a, tau, f_ext, x, u, beside_slopes=fresh)
    excess = [0.0] * nv if stuck is None else sticking(model, Q, v, stuck)
    change = matrix.under_rows([f + y for f, y in zip(r, excess, strict=True)], Kinematics(model, Q, v), a)
    a = [a_k - da for a_k, da in zip(a, change, strict=True)]
    return [*a, *rates], relative_change([w1 * da for da in change], v), r


def relative_change(change, v):
    """The largest change of a velocity over the largest velocity; against `REST` where all velocities vanish."""
    return largest(change) / (largest(v) + REST)


def largest(values):
    """max |x|."""
    total = 0.0
    for x in values:
        total = maximum(total, absolute(x)) if not is_zero(total) else absolute(x)
    return total


def _sum(*terms):
    return sum((x for x in terms if not is_zero(x)), start=0.0)


def solved_rates(model, q, w0, before, h, tau, f_ext=None, u=None, w_end=None):
    """Rates a with which the dynamics hold at ``w = w0 + h a``, ``Q = q (+) (before + h w)``; the last correction.

    By a fixed number of corrections, of a model at the time of the stage; or by one around the solution w_end, whose
    first derivatives are those of the solution by the theorem of implicit functions: the matrix is a constant there.
    """
    refuse_unsupported(model, "aba", computed=stepped_constraints(model))
    x0, x1 = [x + h * v for x, v in zip(before, w0, strict=False)], h * h
    if w_end is not None:
        a = known_rates(model, [(end - w) / h for end, w in zip(w_end, w0, strict=True)])
        a = with_given_accelerations(model, a)
        xi, Q, w = stage(model, q, x0, w0, a, x1, h)
        w, a, _ = with_internal_rates(model, Q, w, a, h, u)
        matrix = Linearization(model, xi, Q, w, a, x1, h, f_ext).factorized(u=u, constant=True)
        a, change, _ = corrected(model, matrix, Q, w, a, tau, h, None, f_ext, u, fresh=False)
        _, Q, w = stage(model, q, x0, w0, a, x1, h)
        return with_internal_rates(model, Q, w, a, h, u)[1], change
    a, last, kinks = with_given_accelerations(model, [0.0] * model.nw), w0, has_kinks(model)
    stuck = matrix = None
    later = (KINKED if kinks else 2) + (LOOPED if has_loops(model) else 0)
    for fresh in (*[True] * (FRESH_OF_STATES if model.nx else FRESH), *[False] * later):
        xi, Q, w = stage(model, q, x0, w0, a, x1, h)
        w, a, moved = with_internal_rates(model, Q, w, a, h, u)
        now = xi, Q, w
        if kinks:
            stuck, last = reversals(last, w), w
        if fresh:
            slopes = Linearization(model, *now, a, x1, h, f_ext)
        if fresh or kinks:
            matrix = slopes.factorized(stuck, now, u)
        a, change, _ = corrected(model, matrix, Q, w, a, tau, h, stuck, f_ext, u, fresh=fresh)
    return a, maximum(change, moved) if model.nx else change


def solved_step(model, q, v, tau, dt, part, f_ext=None, x=None, u=None, *, x_next=False, w_end=None):
    """A step whose dynamics hold after a part of it, by a fixed number of corrections: implicit midpoint rule, Euler.

    ``w = v + part dt a``, ``Q = q (+) part dt w``, ``q+ = q (+) dt w``, ``v+ = v + dt a``. Around the known end w_end,
    by one correction.
    """
    ahead = part * dt
    w0 = [*v, *(model.initial_internal() if x is None else x)]
    middle = None if w_end is None else [w + part * (end - w) for end, w in zip(w_end, w0, strict=True)]
    a, change = solved_rates(model.after(ahead), q, w0, [0.0] * model.nv, ahead, tau, f_ext, u, middle)
    q_next = integrate(model, q, [dt * (v_k + ahead * a_k) for v_k, a_k in zip(v, a, strict=False)])
    w_next = [where(change < UNSOLVED, w_k + dt * a_k, float("inf")) for w_k, a_k in zip(w0, a, strict=True)]
    q_next, w_next = finished(model.after(dt), q_next, w_next)
    return (q_next, w_next[: model.nv], w_next[model.nv :]) if x_next else (q_next, w_next[: model.nv])


def around_end(name: str, fraction: float) -> Spec:
    """The declaration of `solved_step` around its end, an input, for adjoints: its first derivatives are exact."""

    def step(model, q, v, tau, dt, v_end, f_ext=None, u=None):
        nv = model.nv
        q, v, x = solved_step(model, q, v[:nv], tau, dt, fraction, f_ext, v[nv:], u, x_next=True, w_end=v_end)
        return q, [*v, *x]

    step.__name__ = name
    return part(name, step, "q[nq] v[nw] tau[nv] dt v_end[nw]", END, FORCES, domains=COMPLETE)


def _newton_update(model, q, x0, w0, a, tau, x1, w1, before, f_ext=None, u=None):
    refuse_unsupported(model, "aba", computed=stepped_constraints(model))
    a = with_given_accelerations(model, a)
    xi, Q, w = stage(model, q, x0, w0, a, x1, w1)
    w, a, moved = with_internal_rates(model, Q, w, a, w1, u)
    stuck = reversals(before, w)
    matrix = Linearization(model, xi, Q, w, a, x1, w1, f_ext).factorized(stuck, u=u)
    a, change, r = corrected(model, matrix, Q, w, a, tau, w1, stuck, f_ext, u)
    return a, w, maximum(change, moved) if model.nx else change, r


def _constrained_update(model, q, x0, w0, a, tau, x1, w1, before, lam, f_ext=None, u=None):
    """The same with rows: ``r(a) = G^T lambda`` and ``phi(Q) = 0``, or ``G w = 0`` for rows that have no position."""
    refuse_unsupported(model, "aba", computed=stepped_constraints(model))
    a = with_given_accelerations(model, a)
    xi, Q, w = stage(model, q, x0, w0, a, x1, w1)
    w, a, moved = with_internal_rates(model, Q, w, a, w1, u)
    stuck = reversals(before, w)
    matrix = Linearization(model, xi, Q, w, a, x1, w1, f_ext).factorized(stuck, u=u)
    nv, n = model.nv, range(model.nv)
    v, x, rates, a = w[:nv], w[nv:], a[nv:], a[:nv]
    kin = Kinematics(model, Q, v)
    numbers, rows, _ = equality_rows(model, kin, {})
    tangent = times_tangent(model, [[row.get(k, 0.0) for k in n] for row in rows], xi)
    errors = [
        (held, (c.residual(kin) if held else c.rate(kin))[n])
        for c in model.constraints
        for n, held in enumerate(c.position_level(model))
    ]
    phi, along = [], []
    for number, row, turned in zip(numbers, rows, tangent, strict=True):
        held, error = errors[number]
        phi.append(error / (x1 if held else w1))
        along.append(dict(enumerate(turned)) if held else row)
    r = residual(model, Q, v, a, tau, f_ext, x, u)
    for number, row in zip(numbers, rows, strict=True):
        r = [f - row[k] * lam[number] if k in row else f for k, f in enumerate(r)]
    excess = sticking(model, Q, v, stuck)
    change, dlam = matrix.constrained([f + y for f, y in zip(r, excess, strict=True)], rows, along, phi)
    a, lam = [a_k - da for a_k, da in zip(a, change, strict=True)], list(lam)
    for number, dl in zip(numbers, dlam, strict=True):
        lam[number] = lam[number] - dl
    change = relative_change([w1 * da for da in change], v)
    return [*a, *rates], w, maximum(change, moved) if model.nx else change, r, lam


def _end(model, q, xi, v):
    return finished(model, integrate(model, q, xi), v, closing=0)


def _closed_end(model, q, xi, v):
    return finished(model, integrate(model, q, xi), v)


_STAGE = "q[nq] x0[nv] w0[nw] a[nw] tau[nv] x1 w1 before[nw]"
NEWTON_UPDATE = part("implicit_newton_update", _newton_update, _STAGE, "a_next[nw] w[nw] change r[nv]", FORCES)
CONSTRAINED_UPDATE = part("implicit_constrained_update", _constrained_update, f"{_STAGE} lam[nc]",
                          "a_next[nw] w[nw] change r[nv] lam_next[nc]", FORCES)  # fmt: skip
STEP_END = part("implicit_step_end", _end, "q[nq] xi[nv] v[nw]", END, body_frames="loops")
CLOSED_END = part("implicit_closed_end", _closed_end, "q[nq] xi[nv] v[nw]", END, body_frames="loops")
FORCE_SLOPES = part(
    "force_slopes", force_slopes, "q[nq] v[nv] a[nv]", "dr_dq[nv,nv] dr_dv[nv,nv] M[nv,nv]", "f_ext[nb,6] x[nx] u[nu]"
)
