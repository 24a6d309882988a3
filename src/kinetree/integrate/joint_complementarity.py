"""Semi-implicit Euler with exact dry friction, hard stops, locked and prescribed joints, solved at velocity level."""

from __future__ import annotations

import math

import numpy as np

from kinetree.algorithms.complete import COMPLETE, semi_implicit_acceleration
from kinetree.algorithms.crba import crba
from kinetree.algorithms.inverse_mass import inverse_mass_matrix
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.passive import passive_terms
from kinetree.algorithms.spec import Spec
from kinetree.integrate.complementarity import HELD, boxed_impulses
from kinetree.integrate.dense import hermite
from kinetree.integrate.kernels import settled

MOST_IMPACTS = 64  # within one step; later ones do not rebound
TOGETHER = 1e-9  # of the step: impacts that are closer together are one


def _implicit_diagonal(model, q, v, dt):
    """``dt D + dt^2 K``: what dampers and springs at the step's end add to the inertia."""
    _, damping, stiffness = passive_terms(model, q, v)
    return [dt * (d + dt * k) for d, k in zip(damping, stiffness, strict=True)]


def free_velocities(model, q, v, tau, dt, f_ext=None):
    """``v_free``, and the inverse of the step's matrix ``A = M + dt D + dt^2 K``; A itself if joints are coupled."""
    a = semi_implicit_acceleration(model, q, v, tau, dt, f_ext)
    v_free = [v_k + dt * a_k for v_k, a_k in zip(v, a, strict=True)]
    diagonal = _implicit_diagonal(model, q, v, dt)
    if not model.couplings:
        return v_free, inverse_mass_matrix(model, q, diagonal)
    A = [list(row) for row in crba(model, q)]
    for k in range(model.nv):
        A[k][k] = A[k][k] + diagonal[k]
    return v_free, A


def inertia(model, q):
    """The inverse of M; M itself if joints are coupled."""
    return crba(model, q) if model.couplings else inverse_mass_matrix(model, q)


def drift(model, q, rate, v, dt):
    """Positions after a time at constant rates, and velocities v as they are then read."""
    return settled(model, integrate(model, q, [dt * x for x in rate]), v)


_STATE = {"q": ("nq",), "v": ("nv",)}
FREE = Spec("joint_free_velocities", free_velocities, _STATE | {"tau": ("nv",), "dt": ()}, {"f_ext": ("nb", 6)},
            {"v_free": ("nv",), "A": ("nv", "nv")}, domains=COMPLETE)  # fmt: skip
INERTIA = Spec("joint_impact_inertia", inertia, {"q": ("nq",)}, {}, {"A": ("nv", "nv")})
DRIFT = Spec("joint_drift", drift, {"q": ("nq",), "rate": ("nv",), "v": ("nv",), "dt": ()}, {},
             {"q_next": ("nq",), "v_next": ("nv",)})  # fmt: skip


class JointComplementarity:
    """v+ = v_free + A^-1 (h lambda), the impulses between their bounds and complementary to what they hold.

    Parameters
    ----------
    system : System
        Of the model without dry friction and stops.
    laws : JointLaws
    account : callable
        ``account(t, kind, work)``: energy (ny,) [J] that entered at the joints until t, called where it is not zero.
    impacted : callable, optional
        ``impacted(t, hit, q, before, after)``: independent velocities that met a stop at t, the position then, and the
        velocities before and after.

    Notes
    -----
    For each independent velocity with dry friction tau_c, the impulse is between -h tau_c and h tau_c; it is at a bound
    where the joint moves, and holds it otherwise. A joint that rests at its lower stop takes any upper bound; a locked
    or prescribed one has none. All are one boxed problem over the joints. Velocities that are held are set, not
    computed, and positions of joints at rest are copied: nothing creeps.

    Impacts are found within the step. The velocities of semi-implicit Euler are those of half a step before (Hairer,
    Lubich, Wanner: Geometric Numerical Integration, section I.1.4), so with the step's acceleration a, the motion in it
    is ``q(s) = q + s (v + (h + s) a / 2)``, which constant forces make exact. At an impact ``v' = v + M^-1 Lambda``
    with ``v'_k >= -e v_k`` at the joints that hit, complementary (Newton's restitution). A rebound that would last
    less than a step comes to rest: resting contact, without chatter.

    Source: Stewart and Trinkle (1996), Moreau (1988) for velocities and impulses.
    """

    name = "semi_implicit"
    order = 1

    def __init__(self, system, laws, account, impacted=None) -> None:
        self.system, self.laws, self._account, self._impacted = system, laws, account, impacted
        self._free = system.function(FREE, checks=False)
        self._inertia = system.function(INERTIA, checks=False)
        self._drift = system.function(DRIFT, checks=False)
        self._resting = self._joints_at_rest(system.model)
        self._plain = np.where(laws.given, np.inf, laws.friction)
        self._held_by_default = np.flatnonzero(self._plain > 0.0)
        self._identity = laws.G is None
        self.reset()

    def reset(self) -> None:
        """Forget the last answer."""
        self._guess, self._last = np.zeros(len(self.laws.master), dtype=int), None

    def get_state(self):
        """What a snapshot has to hold: which joints were held, the first guess of the next step."""
        return self._guess.copy()

    def set_state(self, state) -> None:
        """Take up what `get_state` gave."""
        self._guess = np.array(state)

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        laws, arrays = self.laws, f_ext(t)
        if len(laws.bounded) and (hit := self._running_in(q, v)):
            v = self._impact(t, t + h, h, q, v, np.zeros_like(v), hit, True)
        v_next, impulses, _ = self._solved(t, h, q, v, tau(t), arrays)
        q_next, v_new = self._drift(q, v_next, v_next, np.array(h))
        if len(laws.bounded) and self._beyond(q_next).any():
            q_next, v_new = self._with_impacts(t, h, q, v, v_next, impulses, tau(t), arrays)
        else:
            self._book(t + h, impulses, v_next, h, h * v_next)
            self._keep_rest(q, q_next, v_next)
        laws.put(t + h, q_next, v_new)
        self._last = t, t + h, (q, v), (q_next, v_new), (v_next - v) / h
        return q_next, v_new

    def interpolant(self):
        """The motion within the last step, with the acceleration that all forces together gave."""
        t0, t1, start, end, a = self._last
        return hermite(self.system, t0, t1, (*start, a), (*end, a))

    def forces(self, t, h, q, v, tau, arrays) -> dict[str, np.ndarray]:
        """Forces of each kind on the independent velocities during a step from here, (ny,) [N m or N]."""
        guess = self._guess
        v_next, impulses, _ = self._solved(t, h, q, v, tau, arrays)
        self._guess = guess
        return {kind: x / h for kind, x in self._split(impulses, v_next, h).items()}

    # Velocities ----------------------------------------------------------------------------------------------------

    def _solved(self, t, h, q, v, tau, arrays):
        """Velocities after h, the impulses on independent velocities, and which of these are held."""
        laws = self.laws
        v_free, A = self._free(q, v, tau, np.array(h), *arrays)
        lower, upper, some = -h * self._plain, h * self._plain, self._held_by_default
        if len(laws.bounded):
            x, bounded = q[laws.position[laws.bounded]], laws.bounded
            at_lower, at_upper = bounded[x <= laws.lower[bounded]], bounded[x >= laws.upper[bounded]]
            if len(at_lower) or len(at_upper):
                upper[at_lower], lower[at_upper] = np.inf, -np.inf
                some = np.flatnonzero((upper > 0.0) | (lower < 0.0))
        impulses = np.zeros(len(laws.master))
        if not len(some):
            return v_free, impulses, some
        target = np.zeros(len(laws.master))
        for m, (_, _, acceleration) in laws.prescribed(t):
            target[m] = v[laws.master[m]] + h * acceleration
        columns, W = self._response(A, some)
        u = v_free[laws.master[some]] - target[some]
        x, where = boxed_impulses(W, u, lower[some], upper[some], self._guess[some])
        self._guess = np.zeros(len(laws.master), dtype=int)
        self._guess[some] = where
        impulses[some] = x
        held = some[where == HELD]
        v_next = v_free + columns @ x
        v_next[laws.master[held]] = target[held]
        return self._coupled(v_next), impulses, held

    def _response(self, A, some):
        """Velocities by impulse: columns for all velocities, and the square block of some independent ones."""
        if self._identity:
            columns = A[:, some]
            return columns, columns[some]
        G = self.laws.G
        inverse = np.linalg.inv(G.T @ A @ G)
        return G @ inverse[:, some], inverse[np.ix_(some, some)]

    def _coupled(self, v):
        return v if self._identity else self.laws.G @ v[self.laws.master]

    def _split(self, impulses, v_next, h) -> dict[str, np.ndarray]:
        """Impulses by kind: what friction gives, as far as it can, and what stops, locks and drives add."""
        laws, most = self.laws, h * self.laws.friction
        friction = np.clip(impulses, -most, most)
        if laws.given.any():  # a driven joint moves whatever friction does; a locked one needs none
            friction = np.where(laws.given, -np.sign(v_next[laws.master]) * most, friction)
        rest = impulses - friction
        return {
            "friction": friction,
            "stops": np.where(laws.given, 0.0, rest),
            "locks": np.where(laws.locked, rest, 0.0),
            "motions": np.where(laws.given & ~laws.locked, rest, 0.0),
        }

    def _book(self, t, impulses, v_next, h, way) -> None:
        """Account for the work of impulses over h along a way; the work of drives is the integral of their power."""
        if not (way.any() and (impulses.any() or self.laws.moving)):
            return
        y = way[self.laws.master]
        for kind, impulse in self._split(impulses, v_next, h).items():
            work = impulse * y / h
            if kind != "motions" and work.any():
                self._account(t, kind, work)

    # Positions -----------------------------------------------------------------------------------------------------

    @staticmethod
    def _joints_at_rest(model) -> list[tuple[slice, slice]]:
        """Where a step at velocity zero could change the last bit of q: not where it adds zero to a number."""
        follows = {c.joint for c in model.couplings}
        return [(model.q_slice[i], model.v_slice[i]) for i in model.outward()
                if model.joints[i].nv and (model.joints[i].nq > 1 or i in follows)]  # fmt: skip

    def _keep_rest(self, q, q_next, rate) -> None:
        """Joints at rest stay where they are to the last bit."""
        for q_slice, v_slice in self._resting:
            if not rate[v_slice].any():
                q_next[q_slice] = q[q_slice]

    def _beyond(self, q) -> np.ndarray:
        laws, bounded = self.laws, self.laws.bounded
        x = q[laws.position[bounded]]
        return (x < laws.lower[bounded]) | (x > laws.upper[bounded])

    # Impacts -------------------------------------------------------------------------------------------------------

    def _running_in(self, q, v) -> tuple[int, ...]:
        """Joints that are on their stop at a step's beginning and move into it: as a run or an event may begin."""
        laws, bounded = self.laws, self.laws.bounded
        x, y = q[laws.position[bounded]], v[laws.master[bounded]]
        into = ((x <= laws.lower[bounded]) & (y < 0.0)) | ((x >= laws.upper[bounded]) & (y > 0.0))
        return tuple(bounded[into].tolist()) if into.any() else ()

    def _with_impacts(self, t, h, q, v, v_next, impulses, tau, arrays):
        """A step cut at the impacts in it; w is the velocity now, v that of semi-implicit Euler, half a step before."""
        laws, bounded = self.laws, self.laws.bounded
        a = (v_next - v) / h
        w, left = v + 0.5 * h * a, h
        for n in range(MOST_IMPACTS):
            s, hit = self._first_impact(q, w, a, left)
            if s is None:
                break
            rate = w + 0.5 * s * a
            q_hit, w = self._drift(q, rate, w + s * a, np.array(s))
            self._book(t + h, impulses, v_next, h, s * rate)
            self._keep_rest(q, q_hit, rate)
            q, left = q_hit, left - s
            for m in hit:
                bounds = (laws.lower[m], laws.upper[m])
                q[laws.position[m]] = min(bounds, key=lambda b, x=q[laws.position[m]]: abs(x - b))
            w = self._impact(t + h - left, t + h, h, q, w, a, hit, n + 1 < MOST_IMPACTS)
            v_next, impulses, _ = self._solved(t, h, q, w, tau, arrays)
            a = (v_next - w) / h
        rate = w + 0.5 * left * a
        q_next, v_next_half = self._drift(q, rate, w + (left - 0.5 * h) * a, np.array(left))
        self._book(t + h, impulses, v_next, h, left * rate)
        self._keep_rest(q, q_next, rate)
        where = laws.position[bounded]
        q_next[where] = np.clip(q_next[where], laws.lower[bounded], laws.upper[bounded])
        return q_next, v_next_half

    def _first_impact(self, q, w, a, left):
        """When a joint first comes to its stop within a time, and which do then; None if none does."""
        laws, found = self.laws, []
        for m in laws.bounded:
            x, k = q[laws.position[m]], laws.master[m]
            for gap, sign in ((x - laws.lower[m], 1.0), (laws.upper[m] - x, -1.0)):
                speed, rate = sign * w[k], sign * a[k]
                if gap + left * (speed + 0.5 * left * rate) < 0.0:
                    found.append((_root(max(gap, 0.0), speed, rate), int(m)))
        if not found:
            return None, ()
        first = min(s for s, _ in found)
        slack = TOGETHER * left
        return min(first, left), tuple(m for s, m in found if s <= first + slack)

    def _impact(self, t, end, h, q, w, a, hit, rebounds: bool):
        """Velocities after joints have hit their stops at a time t, in the step h that ends at ``end`` [s]."""
        laws, ny = self.laws, len(self.laws.master)
        x = np.where(laws.position >= 0, q[laws.position], 0.0)
        y = w[laws.master]
        at_lower, at_upper = ~laws.given & (x <= laws.lower), ~laws.given & (x >= laws.upper)
        lower, upper, target = np.zeros(ny), np.zeros(ny), np.where(laws.given, y, 0.0)
        upper[at_lower | laws.given], lower[at_upper | laws.given] = np.inf, -np.inf
        for m in hit:
            away = -laws.restitution[m] * y[m]
            # A flight that ends within two steps is none: the joint comes to rest, after finitely many rebounds.
            back = abs(a[laws.master[m]]) if away * a[laws.master[m]] < 0.0 else 0.0
            if rebounds and abs(away) > h * back:
                target[m] = away
        some = np.flatnonzero((upper > 0.0) | (lower < 0.0))
        columns, W = self._response(self._inertia(q), some)
        impulse, where = boxed_impulses(W, y[some] - target[some], lower[some], upper[some])
        after = w + columns @ impulse
        held = some[where == HELD]
        after[laws.master[held]] = target[held]
        after = self._coupled(after)
        work = np.zeros(ny)
        work[some] = 0.5 * impulse * (y[some] + after[laws.master[some]])
        for kind, which in (("stops", ~laws.given), ("motions", laws.given & ~laws.locked)):
            if (work * which).any():
                self._account(end, kind, work * which)
        if self._impacted is not None:
            self._impacted(t, hit, q, w, after)
        return after


def _root(gap: float, speed: float, rate: float) -> float:
    """The first positive time at which ``gap + speed s + rate s^2 / 2`` is zero; it is negative later."""
    root = math.sqrt(max(speed * speed - 2.0 * rate * gap, 0.0))
    if speed > 0.0:
        return (speed + root) / -rate
    return 2.0 * gap / (root - speed) if gap > 0.0 else 0.0
