"""Event-driven simulation of contact: smooth motion between the instants at which contacts change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetree.arguments import a_number_not_negative, a_positive_number, choice
from kinetree.contact.accelerations import SPEED, contact_states, unsolved
from kinetree.contact.active_laws import ContactLaws, solve_laws
from kinetree.contact.impacts import LAWS, impact
from kinetree.errors import ContactError
from kinetree.integrators.contact_dynamics import BLEND, STICKS, ContactDynamics, Here, Modes, Slip
from kinetree.integrators.contact_events import ContactEvents
from kinetree.integrators.contact_pair import ContactPair, parts_of
from kinetree.integrators.contact_rows import ContactRows
from kinetree.integrators.embedded import PAIRS
from kinetree.integrators.events import Occurrence
from kinetree.integrators.memory import Memory
from kinetree.integrators.user_code import copied

TOUCHING = 1e-8  # [m] surfaces this close touch
MOST_AT_ONCE = 50  # events at one instant
VANISHING = 1e-6  # [m/s] change of velocities in a step of vanishing length
STALLED = 4  # events at one instant: sliding contacts next to jamming leave their laws as soon as they obey them
INSTANT = 1e-8  # [s]
LATER = 1e-5  # [s] between events of contacts with a stiffness that creep
LAST = 8.0  # of the spacing of numbers: a shorter rest of a step is rounding
NUDGE = 1e-9  # [s] beyond an event at which nothing changes: points of contact may jump to other corners there


@dataclass(frozen=True, slots=True)
class EventDriven:
    """Event-driven contact with its options; ``integrator="event_driven"`` is ``EventDriven()``.

    Between events the motion is smooth: active contacts are equality constraints, slip has its direction, and an
    embedded Runge-Kutta pair follows it within tolerances. Every step is interpolated back to its earliest event: a
    contact that is gained, slip that ends, forces that pull or leave their cone. There impacts and the sets of
    contacts are solved for. It gives digits where time stepping gives order 1; many contacts make many events.

    Parameters
    ----------
    method : {"dp54", "bs32", "dop853"}
        The pair.
    rtol, atol : float
        Relative and absolute tolerance of each entry of (q, v) in a step.
    law : {"newton", "poisson", "sequential"}
        Of impacts, see `kinetree.contact.impact`.
    rest_speed : float
        Approach below this speed has no rebound [m/s]. So bounces that accumulate end after finitely many.
    max_step : float, optional
        The longest step [s]; default: no bound but the simulation's dt.

    Raises
    ------
    ArgumentError

    Notes
    -----
    Source: Featherstone (2008), table 11.1, with eq. 11.41, 11.42 and 11.45-11.51. Contacts are those of
    ``model.contacts``, with the true Coulomb cone; the normal force of those with a stiffness is known at a state.
    Hard limits of joints are contacts, too, and sticking friction in joints is one whose load is its bound; locks and
    prescribed motions are part of the dynamics between events.

    ``run.events`` has impacts ("impact"), contacts that break ("lift-off"), slip that begins ("slip") and ends
    ("stick"), and impulses without a collision ("jam"), with which sliding contacts that have no consistent forces
    (Painlevé) come to stick; if they cannot, a ContactError names them.

    Examples
    --------
    A ball of e = 0.5 bounces, and comes to rest at t1 (1 + e) / (1 - e):

    >>> import kinetree as kt, numpy as np
    >>> b = kt.ModelBuilder("ball")
    >>> _ = b.add_body("ball", joint=kt.joints.Free(), mass=1.0, inertia=0.4 * np.eye(3))
    >>> sphere = kt.collision.Shape("ball", "sphere", (1.0,), name="sphere")
    >>> floor = kt.collision.Shape("world", "plane", name="floor")
    >>> pair = kt.collision.ContactPair("floor/ball", floor, sphere, restitution=0.5)
    >>> ball = b.build().replace(contacts=[pair])
    >>> run = kt.simulate(ball, [0, 0, 2, 1, 0, 0, 0], duration=2.0, dt=0.05, integrator="event_driven")
    >>> [round(x.time, 9) for x in run.events[:3]], float(run.q[-1, 2].round(9))
    ([0.451523641, 0.903047282, 1.128809102], 1.0)
    """

    method: str = "dp54"
    rtol: float = 1e-10
    atol: float = 1e-10
    law: str = "newton"
    rest_speed: float = 1e-6
    max_step: float | None = None

    name = "event_driven"
    contacts = True
    order = 5
    internal_states = True
    algorithm = None  # the number of events is not known ahead: no rollouts

    def __post_init__(self) -> None:
        choice("EventDriven: method", self.method, PAIRS)
        choice("EventDriven: law", self.law, LAWS)
        for option in ("rtol", "atol") if self.max_step is None else ("rtol", "atol", "max_step"):
            a_positive_number(f"EventDriven: {option}", getattr(self, option))
        a_number_not_negative("EventDriven: rest_speed", self.rest_speed)

    def __str__(self) -> str:
        if self == EventDriven():
            return self.name
        return f"{self.name} ({self.method}, rtol={self.rtol:g}, atol={self.atol:g}, {self.law})"

    @property
    def longest(self) -> float:
        """The longest step [s]; infinite without a bound."""
        return math.inf if self.max_step is None else float(self.max_step)

    def __call__(self, system):
        """The method for the dynamics of one model."""
        return EventDrivenStep(system, self)


class RowStep(NamedTuple):
    """Limits and friction in joints over a step, by independent velocities: friction first, then limits, (2, ny).

    Attributes
    ----------
    begin, end : float
        [s]
    forces : (2, ny) array
        Where the step begins [N or N m].
    works : (2, ny) array
        Over the step [J].
    """

    begin: float
    end: float
    forces: np.ndarray
    works: np.ndarray


class EventDrivenStep:
    """Steps of `EventDriven`.

    Parameters
    ----------
    system : System
    options : EventDriven
    joints : JointRows, optional
        Limits of joints and friction in them.
    names : sequence of str
        Of the joint of each independent velocity.

    Attributes
    ----------
    impulses : (3*n,) array
        Of contacts in the last step, impacts included [N s].
    work : (2,), (1,) or (3,) array
        Since the start [J]: of normal and of tangential contact forces, and of joints that depend on time.
    occurrences : list of Occurrence
        Events of contacts so far.
    log : list of RowStep
        With limits or friction in joints: the steps so far.
    """

    name, order, internal_states = "event_driven", 5, True

    def __init__(self, system, options: EventDriven, joints=None, names=()) -> None:
        model = system.model
        self.system, self._options, self._rows = system, options, ContactRows(system, joints, names)
        self._nv, self._restitution, self._labels = model.nv, self._rows.restitution, self._rows.labels
        self._names, self._logs = names, len(self._rows) > self._rows.count
        self._dynamics = ContactDynamics(system, self._rows, lambda t, q, w: self._tau(t), lambda t: self._f_ext(t))
        self._pair = ContactPair(system, self._dynamics, options)
        self._events = ContactEvents(self._dynamics, self._pair, TOUCHING)
        self._memory, self._tau, self._f_ext = Memory(), None, None
        self.impulses, self.occurrences, self.log = np.zeros(3 * self._rows.count), [], []
        self._work = np.zeros(2 * len(self._rows) + model.time_dependent)
        self._last = None  # where the last step began, and its pieces
        self._at_once, self._creeping, self._since = 0, 0, -math.inf

    def with_joints(self, joints, names) -> EventDrivenStep:
        """The same with limits of joints and friction in them."""
        return EventDrivenStep(self.system, self._options, joints, names)

    @property
    def work(self) -> np.ndarray:
        """Work since the start [J]: of normal and of tangential contact forces, and of joints that depend on time."""
        n, m = self._rows.count, 2 * len(self._rows)
        contacts = self._work[: 2 * n].reshape(n, 2).sum(axis=0)
        return np.concatenate((contacts[: 2 * bool(n)], self._work[m:]))

    @property
    def joint_forces(self) -> np.ndarray:
        """Forces of friction in joints and of limits at the end of the last step, (2, ny) [N or N m]."""
        return self._rows.joint_forces(self._pair.forces)

    def reset(self) -> None:
        """Discard the data of the last step: the sets of contacts are found again."""
        self._memory.clear()

    def get_state(self):
        """The state for snapshots."""
        sums = self._work.copy(), list(self.occurrences), list(self.log), self._last
        return self._memory.get_state(), sums, self._pair.pace

    def set_state(self, state) -> None:
        """Restore a state of `get_state`."""
        memory, (work, occurrences, log, self._last), self._pair.pace = state
        self._memory.set_state(memory)
        self._work, self.occurrences, self.log = work.copy(), list(occurrences), list(log)

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        self._tau, self._f_ext, pair, end = tau, f_ext, self._pair, t + h
        self.cut(t)
        self._last = t, q, self._work, len(self.occurrences), []
        self._sums, known = np.zeros_like(self._pair.sums), self._memory.at(t, h, q, v)
        here = self._dynamics.at(t, q, v)
        if known is not None and self._dynamics.is_consistent(here, known[0]):
            self._events.fresh = known[1]
            pair.place(here, known[0])
        else:
            self._settle(here, Modes() if known is None else known[0])
        work, forces = self._last[2], self.joint_forces if self._logs else None
        while end - pair.t > LAST * np.spacing(end):
            if not self._advance(end):
                raise pair.trials.stopped(self._options.method, "Its steps have become as short as rounding.")
        self._memory.keep(end, pair.q, pair.v, (pair.modes, self._events.fresh))
        self.impulses = self._sums[: 3 * self._rows.count]
        if self._logs:
            self.log.append(RowStep(t, end, forces, self._works(self._work - work)))
        return pair.q, pair.v

    def interpolant(self):
        """The motion within the last step."""
        t, q, _, _, pieces = self._last
        return Pieces(t, q, tuple(piece for piece, _ in pieces))

    # Between events ------------------------------------------------------------------------------------------------

    def _advance(self, end: float) -> bool:
        """One step of the pair, or to its first event, after which the sets of contacts are new."""
        pair = self._pair
        if not pair.step(end):
            return False
        event = self._events.first()
        if event is not None:
            event = self._events.arrive(event)
        self._add(pair.sums)
        self._last[-1].append((pair.motion(), self._work))
        if event is None:
            pair.keep()
        else:
            self._count(pair.t)
            self._settle(pair.ahead(min(NUDGE, end - pair.t)) if self._at_once > 1 else pair.here, pair.modes)
        return True

    def _add(self, sums) -> None:
        self._sums += sums
        self._work = self._work + sums[3 * len(self._rows) :]

    def _works(self, work) -> np.ndarray:
        """Work of all contacts as that of friction in joints and of limits, (2, ny)."""
        return self._rows.by_joint(work[: 2 * len(self._rows)].reshape(-1, 2).sum(axis=1))

    def _count(self, t: float) -> None:
        """Raise an error where events follow each other without end."""
        current, distance = list(self._pair.modes.current), t - self._since
        rubs = any(i < self._rows.count and not self._rows.rigid[i] for i in current)
        creeps = rubs and distance <= LATER and np.abs(self._pair.here.u[current, :2]).max() <= BLEND
        self._at_once = self._at_once + 1 if distance <= INSTANT else 0
        self._creeping = self._creeping + 1 if creeps else 0
        self._since = t
        if max(self._at_once, self._creeping) > MOST_AT_ONCE:
            labels = [self._labels[i] for i in current]
            other = (
                "kt.forces.SoftContact, whose friction is that of springs"
                if rubs
                else ("a larger rest_speed of kt.integrators.EventDriven")
            )
            raise ContactError(
                f"simulate: contacts {', '.join(map(repr, labels[:6]))} change without end at t = {t:.9g} s. Take "
                f"integrator='time_stepping', or {other}.",
                contact=labels[0] if labels else "",
                status="accumulation",
            )

    def cut(self, t: float) -> None:
        """The run continues from a time within the last step: later records are discarded."""
        if self._last is None:
            return
        begin, _, work, count, pieces = self._last
        if not pieces or t >= pieces[-1][0].t1:
            return
        start = work
        if t <= begin:
            kept = self.occurrences[:count]
        else:
            kept = [x for n, x in enumerate(self.occurrences) if n < count or x.time <= t]
            for piece, after in pieces:
                part = min((t - piece.t0) / (piece.t1 - piece.t0), 1.0)
                work = work + part * (after - work)
                if part < 1.0:
                    break
        self._work, self.occurrences = work, kept
        if self._logs and self.log and self.log[-1].begin == begin:
            last = self.log.pop()
            if t > begin:
                self.log.append(last._replace(end=t, works=self._works(work - start)))

    # At events -----------------------------------------------------------------------------------------------------

    def _settle(self, here: Here, before: Modes) -> None:
        """Impacts, and the contacts that follow; the pair goes on from there (table 11.1, steps 4 to 6)."""
        rigid, slow = self._rows.rigid, SPEED
        states = contact_states(here.gaps, np.where(rigid, here.u[:, 2], 0.0), length=TOUCHING, speed=SPEED)
        if "colliding" in states:
            fastest = -here.u[rigid, 2].min()
            slow = max(SPEED, self._options.rest_speed if fastest < self._options.rest_speed else 0.0)
            touching = [i for i, state in enumerate(states) if state != "apart" and rigid[i]]
            here = self._hit(here, touching, "impact")
        some = self._touching(here, slow)
        found = self._dynamics.settled(here, some) if self._at_once < STALLED else self._dynamics.released(here, some)
        if found is None:
            here, slow = self._jam(here, some), 2.0 * VANISHING
            some = self._touching(here, slow)
            found = self._dynamics.settled(here, some)
        if found is None:
            raise unsolved(f"simulate: at t = {here.t:.9g} s", [self._labels[i] for i in some], True)
        modes = found[0]
        self._report(here, before, modes)
        self._events.fresh = frozenset(i for i, gap in enumerate(here.gaps) if gap <= TOUCHING) - {*modes.current}
        self._pair.place(here, modes)
        if slow > SPEED:
            self._pair.keep()

    def _touching(self, here: Here, slow: float) -> list[int]:
        """Contacts that touch and do not separate faster than this."""
        stay = ~self._rows.rigid | (here.u[:, 2] <= slow)
        return np.flatnonzero((here.gaps <= TOUCHING) & stay).tolist()

    def _hit(self, here: Here, some, name: str, impulses=None) -> Here:
        """The state after an impact at these contacts."""
        rows = [3 * i + k for i in some for k in range(3)]
        J, u = here.J[rows], here.u[some]
        response = self._dynamics.response(here, J.T)
        A = J @ response
        if impulses is None:
            e = self._restitution[some] * (-u[:, 2].min() >= self._options.rest_speed)
            friction = self._dynamics.friction[some]
            try:
                impulses = impact(0.5 * (A + A.T), u, friction=friction, restitution=e, law=self._options.law).impulses
            except ContactError as error:
                error.message = f"simulate: at t = {here.t:.9g} s: {error.message}"
                error.args = (error.message,)
                raise
        w = here.w.copy()
        w[: self._nv] += response @ impulses.ravel()
        mean = impulses * (u + 0.5 * (A @ impulses.ravel()).reshape(-1, 3))
        n, sums, works = len(self._rows), np.zeros_like(self._sums), np.zeros((len(self._rows), 2))
        sums[rows], works[some] = impulses.ravel(), parts_of(mean)
        sums[3 * n : 5 * n] = works.ravel()
        if len(sums) > 5 * n:
            sums[-1] = self._dynamics.driven(here, w - here.w, sums[: 3 * n].reshape(n, 3))[1]
        self._add(sums)
        q, v, after = map(copied, (here.q, here.w[: self._nv], w[: self._nv]))
        for place, i in enumerate(some):
            if impulses[place, 2] > SPEED * impulses[:, 2].max():
                self._occur(name, i, here.t, q, v, after)
        return self._dynamics.at(here.t, here.q, w)

    def _jam(self, here: Here, some) -> Here:
        """Where sliding contacts have no consistent forces: the impulses of a vanishing step, if there are any.

        Source: J. J. Moreau (1988): there the problem of impulses has a solution, after which the contacts stick or
        separate.
        """
        problem, *_ = self._dynamics.problem(here, some)
        rigid = [n for n, i in enumerate(some) if self._rows.rigid[i]]
        rows, some = [3 * n + k for n in rigid for k in range(3)], [some[n] for n in rigid]
        M, d = problem.M[np.ix_(rows, rows)], problem.d[rows]
        b = here.u[some].ravel() + d * (VANISHING / np.abs(d).max(initial=1e-300))
        impulses, misfit = solve_laws(M, b, ContactLaws(problem.laws.friction[rigid]))
        if not (problem.laws.slip and misfit < np.inf and impulses.any()):
            raise unsolved(f"simulate: at t = {here.t:.9g} s", [self._labels[i] for i in some], bool(problem.laws.slip))
        return self._hit(here, some, "jam", impulses)

    def _report(self, here: Here, before: Modes, modes: Modes) -> None:
        """Record contacts that broke, and slip that began or ended."""
        q, v = copied(here.q), copied(here.w[: self._nv])
        for i in before.current:
            if i not in modes.current:
                self._occur("lift-off", i, here.t, q, v, v)
        for i, mode in modes.active.items():
            old = before.active.get(i)
            if mode == STICKS and isinstance(old, Slip):
                self._occur("stick", i, here.t, q, v, v)
            elif isinstance(mode, Slip) and old == STICKS:
                self._occur("slip", i, here.t, q, v, v)

    def _occur(self, name: str, i: int, t: float, q, v, after) -> None:
        stop = self._rows.stop_of(i)
        if stop is not None and name == "impact":
            side = "lower" if stop.sign > 0.0 else "upper"
            found = Occurrence(name, float(t), q, v, q, after, self._names[stop.m], side)
        else:
            found = Occurrence(f"{name} of {self._labels[i]}", float(t), q, v, q, after)
        self.occurrences.append(found)


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The motion within a step from ``q0`` at ``t0``, from event to event."""

    t0: float
    q0: np.ndarray
    parts: tuple

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """(q, w) at a time of the step; after the impact at the time of one."""
        return next((part for part in reversed(self.parts) if part.t0 <= t), self.parts[0])(t)
