"""Steps with exact dry friction, hard stops, locked and prescribed joints, solved at velocity level."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinetree.integrators.complementarity import STICKING, boxed_impulses
from kinetree.integrators.dense import hermite
from kinetree.integrators.joint_steps import DRIFT, FREE, INERTIA, MIDDLE

MOST_IMPACTS = 64  # within one step; later ones do not rebound
TOGETHER = 1e-9  # of the step: impacts that are closer together are one
TIME_TOLERANCE = 1e-12  # of the step: a shorter remainder after an impact is rounding


class JointComplementarity:
    """v+ = v_free + A^-1 (h lambda), the impulses between their bounds and complementary to joint velocities.

    Internal states of force elements follow the velocities everywhere; no impulse changes them.

    Parameters
    ----------
    system : System
        Of the model without dry friction and stops.
    rows : JointRows
    record_work : callable
        ``record_work(t, entries)``: the work that entered at the joints in the step that ends at t, as (kind, energies
        (ny,) [J]); called where there is any.
    impacted : callable, optional
        ``impacted(t, hit, q, before, after)``: independent velocities that met a stop at t, the position then, and the
        velocities before and after.
    stops : bool
        With hard stops: the step is Moreau's, else semi-implicit Euler.

    Notes
    -----
    For each independent velocity with dry friction tau_c, the impulse is between -h tau_c and h tau_c; it is at a bound
    where the joint moves, and holds it otherwise. A joint that rests at its lower stop takes any upper bound; a locked
    or prescribed one has none. All are one boxed problem over the joints. Velocities of sticking joints are set, not
    computed, and positions of joints at rest are copied: nothing creeps.

    With stops, forces act at the middle of the step, ``q (+) h v / 2``, and positions move at the mean velocity, so the
    motion in it is ``q (+) s (v + s a / 2)``: exact under constant forces, of order 2 under smooth ones that do not
    depend on velocities, and as steady as semi-implicit Euler, whose steps are the same from half to half. The step is
    cut where a joint comes to its stop, and continues from there after the impact, ``v' = v + M^-1 Lambda`` with
    ``v'_k >= -e v_k`` at the joints that hit, complementary (Newton's restitution). A rebound that would last less than
    two steps comes to rest: resting contact, without chatter.

    Source: Moreau (1988, 1999), the midpoint rule for unilateral constraints; Stewart and Trinkle (1996) for velocities
    and impulses; Hairer, Lubich, Wanner: Geometric Numerical Integration, section I.1.4, for its kinship with
    semi-implicit Euler.
    """

    name = "semi_implicit"
    order = 1

    def __init__(self, system, rows, record_work, impacted=None, stops=False) -> None:
        self.system, self.rows, self._record, self._impacted = system, rows, record_work, impacted
        self._free = system.function(FREE, checks=False)
        self._middle = system.function(MIDDLE, checks=False) if stops else None
        self._inertia = system.function(INERTIA, checks=False)
        self._drift = system.function(DRIFT, checks=False)
        self._resting = self._joints_at_rest(system.model)
        self._plain = np.where(rows.given, np.inf, rows.friction)
        self._held_by_default = np.flatnonzero(self._plain > 0.0)
        self._identity, self._nv = rows.G is None, system.model.nv
        self.reset()

    def reset(self) -> None:
        """Discard the data of previous steps."""
        self._guess, self._rate = np.zeros(len(self.rows.master), dtype=int), np.zeros(self.system.model.nw)
        self._parts, self._start, self._end = [], None, None

    def get_state(self):
        """The state for snapshots: which joints stick, the first guess of the next step; the acceleration."""
        return self._guess.copy(), self._rate.copy()

    def set_state(self, state) -> None:
        """Restore a state of `get_state`."""
        self._guess, self._rate = (np.array(x) for x in state)

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        self._parts, self._start = [], (t, q, v)
        if len(self.rows.bounded) and (hit := self._running_in(q, v)):
            v = self._impact(t, h, q, v, np.zeros_like(v), hit, True)
        q, v = (self._euler if self._middle is None else self._flights)(t, h, q, v, tau, f_ext)
        self.rows.put(t + h, q, v)
        self._end = t + h, q, v
        self._record_work(t + h)
        return q, v

    def cut(self, t) -> None:
        """The run continues from a time within the last step: record the work until then."""
        self._record_work(t)

    def interpolant(self):
        """The motion within the last step."""
        (t0, q0, v0), (t1, q1, v1) = self._start, self._end
        if self._middle is not None:
            flights = tuple(part for part in self._parts if isinstance(part, Flight))
            return Flights(t0, q0, flights, self.system.function("integrate", checks=False))
        a = self._parts[-1].a  # acceleration by all forces
        return hermite(self.system, t0, t1, (q0, v0, a), (q1, v1, a))

    def forces(self, t, h, q, v, tau, arrays) -> dict[str, np.ndarray]:
        """Forces of each kind on the independent velocities at a sample, (ny,) [N m or N]."""
        guess = self._guess
        v_free, A = self._free(q, v, tau, np.array(h), *arrays)
        v_next, impulses = self._solved(t, h, q, v, v_free, A)
        self._guess = guess
        return {kind: x / h for kind, x in self._split(impulses, v_next, h).items()}

    # Steps ---------------------------------------------------------------------------------------------------------

    def _euler(self, t, h, q, v, tau, f_ext):
        """A step of semi-implicit Euler, which moves at the velocity of its end."""
        v_free, A = self._free(q, v, tau(t), np.array(h), *f_ext(t))
        v_next, impulses = self._solved(t, h, q, v, v_free, A)
        rate = v_next[: self._nv]
        q_next, v_new = self._drift(q, rate, v_next, np.array(h))
        self._keep_rest(q, q_next, rate)
        self._parts.append(Flight(t, t + h, q, v, (v_next - v) / h, h * rate, h, impulses, v_next))
        return q_next, v_new

    def _flights(self, t, h, q, v, tau, f_ext):
        """Moreau's step, cut at the impacts in it."""
        rows, now, left = self.rows, t, h
        for n in range(MOST_IMPACTS + 1):
            middle = now + 0.5 * left
            v_free, A = self._middle(q, v, v + 0.5 * left * self._rate, tau(middle), np.array(left), *f_ext(middle))
            v_next, impulses = self._solved(middle, left, q, v, v_free, A)
            a = self._rate = (v_next - v) / left
            s, hit = self._first_impact(q, v, v_next, left) if n < MOST_IMPACTS else (left, ())
            v_end = v + s * a if hit else v_next
            rate = 0.5 * (v + v_end)[: self._nv]
            q_end, v_end = self._drift(q, rate, v_end, np.array(s))
            self._keep_rest(q, q_end, rate)
            self._parts.append(Flight(now, now + s, q, v, a, s * rate, left, impulses, v_next))
            q, v, now, left = q_end, v_end, now + s, left - s
            for m in hit:
                bounds = (rows.lower[m], rows.upper[m])
                q[rows.position[m]] = min(bounds, key=lambda b, x=q[rows.position[m]]: abs(x - b))
            where = rows.position[rows.bounded]
            q[where] = np.clip(q[where], rows.lower[rows.bounded], rows.upper[rows.bounded])
            if hit:
                v = self._impact(now, h, q, v, a, hit, n + 1 < MOST_IMPACTS)
            if left <= TIME_TOLERANCE * h:
                break
        return q, v

    # Velocities ----------------------------------------------------------------------------------------------------

    def _solved(self, t, h, q, v, v_free, A):
        """Velocities after h, and the impulses on independent velocities."""
        rows = self.rows
        lower, upper, some = -h * self._plain, h * self._plain, self._held_by_default
        if len(rows.bounded):
            x, bounded = q[rows.position[rows.bounded]], rows.bounded
            at_lower, at_upper = bounded[x <= rows.lower[bounded]], bounded[x >= rows.upper[bounded]]
            if len(at_lower) or len(at_upper):
                upper[at_lower], lower[at_upper] = np.inf, -np.inf
                some = np.flatnonzero((upper > 0.0) | (lower < 0.0))
        impulses = np.zeros(len(rows.master))
        if not len(some):
            return v_free, impulses
        target = np.zeros(len(rows.master))
        for m, (_, _, acceleration) in rows.prescribed(t):
            target[m] = v[rows.master[m]] + h * acceleration
        columns, W = self._columns(A, some)
        u = v_free[rows.master[some]] - target[some]
        x, where = boxed_impulses(W, u, lower[some], upper[some], self._guess[some])
        self._guess = np.zeros(len(rows.master), dtype=int)
        self._guess[some] = where
        impulses[some] = x
        sticking = some[where == STICKING]
        v_next = v_free + columns @ x
        v_next[rows.master[sticking]] = target[sticking]
        return self._coupled(v_next), impulses

    def _columns(self, A, some):
        """Velocities by impulse: columns for all velocities, and the square block of some independent ones."""
        master = self.rows.master[some]
        columns = A[:, master]
        return columns, columns[master]

    def _coupled(self, v):
        return v if self._identity else np.concatenate((self.rows.G @ v[self.rows.master], v[self._nv :]))

    def _split(self, impulses, v_next, h) -> dict[str, np.ndarray]:
        """Impulses by kind: friction up to its bounds; the rest by stops, locks and prescribed motions."""
        rows, most = self.rows, h * self.rows.friction
        friction = np.clip(impulses, -most, most)
        if rows.given.any():  # the motion of a prescribed joint does not depend on friction; a locked one needs none
            friction = np.where(rows.given, -np.sign(v_next[rows.master]) * most, friction)
        rest = impulses - friction
        return {
            "friction": friction,
            "stops": np.where(rows.given, 0.0, rest),
            "locks": np.where(rows.locked, rest, 0.0),
            "motions": np.where(rows.given & ~rows.locked, rest, 0.0),
        }

    def _record_work(self, t) -> None:
        """Record the work of impulses until t; the work of prescribed motions is the integral of their power."""
        entries = []
        for part in self._parts:
            if isinstance(part, Impact):
                entries += [(kind, work) for kind, work in part.works.items() if part.t <= t]
            elif part.begin < t and part.displacement.any() and (part.impulses.any() or self.rows.moving):
                displacement = part.displacement if t >= part.end else self._displacement(part, t)
                y = displacement[self.rows.master] / part.h
                kinds = self._split(part.impulses, part.v_next, part.h)
                entries += [(kind, impulse * y) for kind, impulse in kinds.items() if kind != "motions"]
        entries = [(kind, work) for kind, work in entries if work.any()]
        if entries:
            self._record(t, entries)

    def _displacement(self, part, t) -> np.ndarray:
        """The displacement of the velocities in the part of a flight that ends at t."""
        if self._middle is not None:
            s = t - part.begin
            return s * (part.v + 0.5 * s * part.a)[: self._nv]
        return self.system.function("difference", checks=False)(part.q, self.interpolant()(t)[0])

    # Positions -----------------------------------------------------------------------------------------------------

    @staticmethod
    def _joints_at_rest(model) -> list[tuple[slice, slice]]:
        """Entries of q whose last bit a step at velocity zero may change: not those to which zero is added."""
        follows = {model.joint(c.joint) for c in model.couplings}
        return [(model.q_slice[i], model.v_slice[i]) for i in model.outward()
                if model.joints[i].nv and (model.joints[i].nq > 1 or i in follows)]  # fmt: skip

    def _keep_rest(self, q, q_next, rate) -> None:
        """Joints at rest stay where they are to the last bit."""
        for q_slice, v_slice in self._resting:
            if not rate[v_slice].any():
                q_next[q_slice] = q[q_slice]

    # Impacts -------------------------------------------------------------------------------------------------------

    def _running_in(self, q, v) -> tuple[int, ...]:
        """Joints that are on their stop at a step's beginning and move into it: as a run or an event may begin."""
        rows, bounded = self.rows, self.rows.bounded
        x, y = q[rows.position[bounded]], v[rows.master[bounded]]
        into = ((x <= rows.lower[bounded]) & (y < 0.0)) | ((x >= rows.upper[bounded]) & (y > 0.0))
        return tuple(bounded[into].tolist()) if into.any() else ()

    def _first_impact(self, q, v, v_next, left):
        """Time after which a joint first meets its stop, at most ``left``, and the joints that meet theirs then."""
        rows, found = self.rows, []
        bounded = rows.bounded
        x, k = q[rows.position[bounded]], rows.master[bounded]
        reach = left * np.maximum(np.abs(v[k]), np.abs(v_next[k]))
        near = np.minimum(x - rows.lower[bounded], rows.upper[bounded] - x) < reach
        for m in bounded[near].tolist() if near.any() else ():
            x, k = float(q[rows.position[m]]), rows.master[m]
            w, a = float(v[k]), float(v_next[k] - v[k]) / left
            for gap, sign in ((x - float(rows.lower[m]), 1.0), (float(rows.upper[m]) - x, -1.0)):
                s = first_contact(gap, sign * w, sign * a, left)
                if s is not None:
                    found.append((s, m))
        if not found:
            return left, ()
        first = min(s for s, _ in found)
        slack = TOGETHER * left
        return first, tuple(m for s, m in found if s <= first + slack)

    def _impact(self, t, h, q, w, a, hit, rebounds: bool):
        """Velocities after joints have hit their stops at a time t in a step h [s]."""
        rows, ny = self.rows, len(self.rows.master)
        x = np.where(rows.position >= 0, q[rows.position], 0.0)
        y = w[rows.master]
        at_lower, at_upper = ~rows.given & (x <= rows.lower), ~rows.given & (x >= rows.upper)
        lower, upper, target = np.zeros(ny), np.zeros(ny), np.where(rows.given, y, 0.0)
        upper[at_lower | rows.given], lower[at_upper | rows.given] = np.inf, -np.inf
        for m in hit:
            away = -rows.restitution[m] * y[m]
            # A flight that ends within two steps is none: the joint comes to rest, after finitely many rebounds.
            back = abs(a[rows.master[m]]) if away * a[rows.master[m]] < 0.0 else 0.0
            if rebounds and abs(away) > h * back:
                target[m] = away
        some = np.flatnonzero((upper > 0.0) | (lower < 0.0))
        columns, W = self._columns(self._inertia(q), some)
        impulse, where = boxed_impulses(W, y[some] - target[some], lower[some], upper[some])
        after = w + columns @ impulse
        sticking = some[where == STICKING]
        after[rows.master[sticking]] = target[sticking]
        after = self._coupled(after)
        work = np.zeros(ny)
        work[some] = 0.5 * impulse * (y[some] + after[rows.master[some]])
        self._parts.append(Impact(t, {"stops": work * ~rows.given, "motions": work * (rows.given & ~rows.locked)}))
        if self._impacted is not None:
            self._impacted(t, hit, q, w, after)
        return after


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """A part of a step without impacts.

    Attributes
    ----------
    begin, end : float
        [s]
    q, v : numpy.ndarray
        Position and velocity at its beginning.
        Internal states of force elements follow it, here and in ``a`` and ``v_next``.
    a : (nw,) array
        Acceleration by all forces.
    displacement : (nv,) array
        Integral of the velocities over the part [rad or m].
    h : float
        Length of the step for which the impulses were computed [s].
    impulses : (ny,) array
        Of the constraints on the independent velocities, over h [N m s or N s].
    v_next : (nw,) array
        Velocity after h.
    """

    begin: float
    end: float
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    displacement: np.ndarray
    h: float
    impulses: np.ndarray
    v_next: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Impact:
    """Time of contact with stops [s], and work of each kind of impulse on independent velocities [J]."""

    t: float
    works: dict[str, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Flights:
    """The motion within a step from ``q0`` at ``t0``: parabolas from impact to impact."""

    t0: float
    q0: np.ndarray
    parts: tuple[Flight, ...]
    integrate: object

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) at a time of the step; after the impact at the time of one."""
        part = next((part for part in reversed(self.parts) if part.begin <= t), self.parts[0])
        s, nv = t - part.begin, len(part.displacement)
        return self.integrate(part.q, s * (part.v + 0.5 * s * part.a)[:nv]), part.v + s * part.a


def first_contact(gap: float, speed: float, rate: float, left: float) -> float | None:
    """The first time within ``left`` at which ``gap + speed s + rate s^2 / 2`` becomes negative; None if it does not.

    Examples
    --------
    >>> first_contact(1.0, 0.0, -2.0, 2.0), first_contact(1.0, -1.9, 2.0, 2.0) is None
    (1.0, True)
    >>> first_contact(1.0, -2.0, 1.5, 2.0)  # down and up again
    0.6666666666666666
    """
    turn = -speed / rate if speed < 0.0 < rate else left
    s = min(turn, left)
    if not gap + s * (speed + 0.5 * s * rate) < 0.0:
        return None
    root = math.sqrt(max(speed * speed - 2.0 * rate * gap, 0.0))
    found = (speed + root) / -rate if speed > 0.0 else 2.0 * max(gap, 0.0) / (root - speed)
    return min(found, left)
