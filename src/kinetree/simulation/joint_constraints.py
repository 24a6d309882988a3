"""Constraints of single joints in a simulation: sticking friction, hard limits, locks and prescribed motions."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.bounded_rows import bounded_constraints
from kinetree.algorithms.constrained import remaining_rows
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.constraints import HardLimits, Lock, PrescribedMotion, StickingFriction
from kinetree.errors import SimulationError
from kinetree.integrators.coordinates import Coordinates
from kinetree.integrators.events import Occurrence
from kinetree.integrators.joint_complementarity import JointComplementarity
from kinetree.integrators.joint_constraints import KINDS, JointRows
from kinetree.integrators.locked_joints import LockedStep
from kinetree.integrators.system import System, dynamics_time, internal_arguments
from kinetree.integrators.user_code import copied
from kinetree.model.ranges import position_ranges
from kinetree.simulation.components import Channel, Component
from kinetree.simulation.quadrature import accumulated, entered
from kinetree.state_kinematics import Kinematics

HANDLED = (StickingFriction, HardLimits, Lock, PrescribedMotion)
ELIMINATED = (Lock, PrescribedMotion)
ROWS = {"friction": "dry friction", "stops": "stops", "locks": "locked joints", "motions": "prescribed motions"}
NEAR = 1e-9  # [rad, m, per second] a start closer to the prescribed motion counts as on it


class JointConstraints(Component):
    """Exact constraints of joints, solved together in every step.

    Parameters
    ----------
    constraints : sequence of Constraint
        Those of the model that steps solve for: `HANDLED`.
    reduced : bool
        For other methods than semi-implicit Euler, and beside loops: locks and prescribed motions stay in the model,
        whose dynamics eliminate them.
    in_contacts : bool
        For event-driven contact: limits and friction are contacts of its steps, which record them.

    Notes
    -----
    See `kinetree.integrators.joint_complementarity.JointComplementarity`. Rows of the energy balance: power and work
    of "dry friction", "stops", "prescribed motions", and the forces of each kind at the samples.
    """

    name = "joints"
    is_built_in = True

    def __init__(self, constraints, reduced: bool = False, in_contacts: bool = False) -> None:
        self.constraints, self._reduced, self._in_contacts = tuple(constraints), reduced, in_contacts
        self.friction = any(isinstance(c, StickingFriction) for c in self.constraints)
        self.stops = any(isinstance(c, HardLimits) for c in self.constraints)
        self.rows, self._dt, self._start = None, 1.0, None
        self._log: list[tuple] = []  # of steps: (time of its end, entries (kind, energies of independent velocities))
        self._step = None
        self.occurrences: list[Occurrence] = []  # impacts at stops

    @property
    def eliminated(self) -> bool:
        """Whether all constraints are eliminated by the dynamics of the model as simulated, as locks are."""
        return self._reduced and all(isinstance(c, ELIMINATED) for c in self.constraints)

    @property
    def moving(self) -> tuple[str, ...]:
        """Names of the joints with prescribed motions."""
        return tuple(c.joint for c in self.constraints if isinstance(c, PrescribedMotion))

    @property
    def words(self) -> str:
        """Names of its constraints, for messages."""
        return ", ".join(map(str, self.constraints))

    @property
    def settings(self) -> str:
        """Settings that snapshots must match; a reduced model includes the positions of locked joints."""
        return f"{self.words} {self._start[self._locked_entries].tolist()}" if self._reduced else self.words

    def prepare(self, model):
        """The model without these constraints, the friction and the limits that are solved for here."""
        self.rows, self._nv = joint_rows(model, self.constraints), model.nv
        self._joints = np.array(Coordinates.of(model).velocity_joints)[self.rows.master].tolist()
        slices = (model.q_index(c.joint) for c in self.constraints if isinstance(c, Lock))
        self._locked_entries = [n for s in slices for n in range(s.start, s.stop)]
        left = model.replace(constraints=tuple(c for c in model.constraints if c not in self.constraints))
        sticking = [k for c in self.constraints if isinstance(c, StickingFriction) for k in c.coordinates(model)]
        self.hard = [k for c in self.constraints if isinstance(c, HardLimits) for k in c.coordinates(model)]
        return left.replace(dry_friction=_changed(left.dry_friction, sticking, 0.0)) if sticking else left

    def completed(self, model):
        """The model as simulated, without the limits that are hard, and with what its dynamics eliminate."""
        kept = [c for c in self.constraints if isinstance(c, ELIMINATED)]
        if self._reduced and kept:
            model = model.with_constraints(*kept)
        if not self.hard:
            return model
        infinite = {"lower": -np.inf, "upper": np.inf, "limit_stiffness": 0.0, "limit_damping": 0.0}
        return model.replace(**{what: _changed(getattr(model, what), self.hard, x) for what, x in infinite.items()})

    def start(self, model, q, v) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """The initial state that satisfies the rows, with notes on changes."""
        rows, notes = self.rows, []
        q_new, v_new = q.copy(), v.copy()
        rows.put(0.0, q_new, v_new)
        if max(np.abs(q_new - q).max(initial=0.0), np.abs(v_new - v).max(initial=0.0)) > NEAR:
            notes.append("joints with a prescribed motion start where it does, at its speed")
        at_rest = v_new.copy()
        at_rest[rows.master[rows.locked]] = 0.0
        at_rest = at_rest if rows.G is None else rows.G @ at_rest[rows.master]
        if not np.array_equal(at_rest, v_new):
            notes.append("locked joints start at rest")
        self._start = q_new
        return q_new, at_rest, notes

    def held(self, t, q, v) -> tuple[np.ndarray, np.ndarray]:
        """A state that an event's action gave, with locked joints at rest and prescribed ones on their motion."""
        q, v = q.copy(), v.copy()
        v[self.rows.master[self.rows.locked]] = 0.0
        self.rows.put(t, q, v)
        return q, v

    def wrap(self, stepper, system):
        """The step that solves for all of it, instead of semi-implicit Euler's; or another one that keeps locks."""
        if self._in_contacts and (self.friction or self.stops):
            self._step = stepper = stepper.with_joints(self.rows, self._joints)
        if self._reduced:
            locked = self.rows.master[self.rows.locked]
            return LockedStep(stepper, self._locked_entries, locked) if len(locked) else stepper
        self._step = JointComplementarity(system, self.rows, self._record_work, self._impacted, self.stops)
        return self._step

    def reset(self, simulation) -> None:
        """Before the first step."""
        self._dt, self._log, self.occurrences = simulation.dt, [], []

    def after_reset(self, t: float) -> None:
        """The run continues from a time within the last step: records later than that are discarded."""
        if self._in_contacts:
            if self._step is not None:
                self._step.cut(t)
            return
        while self.occurrences and self.occurrences[-1].time > t:
            self.occurrences.pop()
        if self._log and self._log[-1][0] > t:
            self._log.pop()
            self._step.cut(t)

    def get_state(self):
        """The work and the impacts so far."""
        return list(self._log), list(self.occurrences)

    def set_state(self, state) -> None:
        """Restore a state of `get_state`."""
        self._log, self.occurrences = map(list, state)

    def _impacted(self, t, hit, q, before, after) -> None:
        """Record an impact for each joint that met its stop."""
        rows, nv = self.rows, self._nv
        at, v, v_after = map(copied, (q, before[:nv], after[:nv]))
        for m in hit:
            side = "lower" if v[rows.master[m]] < 0.0 else "upper"
            self.occurrences.append(Occurrence("impact", float(t), at, v, at, v_after, self._joints[m], side))

    def _record_work(self, t, entries) -> None:
        self._log.append((t, tuple(entries)))

    # The energy balance --------------------------------------------------------------------------------------------

    def reactions(self, system, time, q, v, tau, arrays) -> np.ndarray:
        """All forces of these rows at the samples, (T, nv) [N m or N].

        ``arrays`` are the other arguments of the dynamics: the time, wrenches, internal states, inputs.
        """
        forces = self._forces(system, time, q, v, tau, arrays)
        return sum(forces.values(), np.zeros(v.shape))

    def channels(self, run) -> dict[str, Channel]:
        """Power and work by kind, and the forces of each kind."""
        model, wrenches = run.model, run.metadata.wrenches
        given = (() if wrenches is None else (wrenches,)) + internal_arguments(model, run.x, run.u)
        arrays = (*dynamics_time(model, run.time), *given)
        forces = self._forces(System(model, wrenches is not None), run.time, run.q, run.v, run.tau, arrays)
        works, found = self._works(run.time, run.v.shape), {}
        for k in self._rubbing_driven():
            work = accumulated(run.time, forces["friction"][:, k] * run.v[:, k])
            works.setdefault("friction", np.zeros(run.v.shape))[:, k] += work
        for kind, row in ROWS.items():
            if kind not in works and not np.any(forces[kind]):
                continue
            if kind != "locks":
                power, work = forces[kind] * run.v, works.get(kind, np.zeros(run.v.shape))
                if kind == "motions":  # the records are impacts
                    work = work + accumulated(run.time, power)
                found[row] = Channel("power", power, work=work)
            found[f"force.{row}"] = Channel("other", forces[kind], "N m or N")
        return found

    def _works(self, time, shape) -> dict[str, np.ndarray]:
        """Work by kind until each sample, (T, nv)."""
        found, tolerance = {}, 1e-6 * self._dt  # the end of a step is its sample, up to rounding
        log = self._log
        if self._in_contacts and self._step is not None:
            log = [(x.end, [(kind, work) for kind, work in zip(KINDS, x.works, strict=False) if work.any()])
                   for x in self._step.log]  # fmt: skip
        for kind in {name: None for _, entries in log for name, _ in entries}:
            records = [(t, work) for t, entries in log for name, work in entries if name == kind]
            found[kind] = np.zeros(shape)
            found[kind][:, self.rows.master] = entered(time, records, tolerance)
        return found

    def _forces(self, system, time, q, v, tau, arrays) -> dict[str, np.ndarray]:
        """Forces by kind during the step that begins at each sample, (T, nv)."""
        found, model = {kind: np.zeros(v.shape) for kind in KINDS}, system.model
        if self._in_contacts and self._step is not None:
            self._recorded(found, time)
            for k in self._rubbing_driven():  # against the motion that is given
                found["friction"][:, k] = -self.rows.friction[self.rows.master == k] * np.sign(v[:, k])
            tau = tau + found["friction"] + found["stops"]
        if self._reduced:
            spec = ALGORITHMS["forward_dynamics"].variants["multipliers"]
            multipliers = system.function(spec, checks=False)(*map(np.ascontiguousarray, (q, v, tau)), *arrays)[1]
            for c, numbers in model.constraint_rows():
                if isinstance(c, ELIMINATED):
                    kind = "locks" if isinstance(c, Lock) else "motions"
                    found[kind][:, list(c.velocity_map(Kinematics(model, ())))] = multipliers[:, list(numbers)]
            return found
        if self._in_contacts:
            return found
        step = JointComplementarity(system, self.rows, self._record_work)
        place = len(arrays) - bool(model.nu) - bool(model.nx)
        x, others = (arrays[place], (*arrays[:place], *arrays[place + 1 :])) if model.nx else (v[:, :0], arrays)
        w = np.concatenate((v, x), axis=1)
        for n, t in enumerate(time.tolist()):
            state = map(np.ascontiguousarray, (q[n], w[n], tau[n]))
            for kind, force in step.forces(t, self._dt, *state, [np.ascontiguousarray(x[n]) for x in others]).items():
                found[kind][n, self.rows.master] = force
        return found

    def _rubbing_driven(self) -> list[int]:
        """Velocities with friction that move as prescribed, in event-driven steps: no set of contacts has them."""
        rows = self.rows
        return [int(rows.master[m]) for m in rows.moving if self._in_contacts and rows.friction[m] > 0.0]

    def _recorded(self, found, time) -> None:
        """Forces of friction and of limits at the samples, as event-driven steps record them."""
        log = self._step.log
        begins = np.array([x.begin for x in log])
        for n, t in enumerate(time.tolist()):
            at = int(np.searchsorted(begins, t + 1e-6 * self._dt)) - 1
            ended = at < 0 or t > log[at].end - 1e-6 * self._dt
            for kind, force in zip(KINDS, self._step.joint_forces if ended else log[at].forces, strict=False):
                found[kind][n, self.rows.master] = force


def requested(model, integrator) -> JointConstraints | None:
    """The component for the constraints of a model and a method, or "auto"; None if there are none for it.

    Bounded forces beside loops, and by time stepping, stay in the model, as in rollouts: the step itself solves for
    them. Event-driven contact has those of `HANDLED` among its own rows, also beside loops.
    """
    looped = bool(remaining_rows(model)) or any(c.replaces_in_loops for c in bounded_constraints(model))
    stepped = bool(model.contacts) if integrator == "auto" else integrator.name == "time_stepping"
    in_contacts = integrator != "auto" and integrator.name == "event_driven"
    if in_contacts:
        constraints = [c for c in model.constraints if isinstance(c, HANDLED)]
        return JointConstraints(constraints, True, True) if constraints else None
    kinds = ELIMINATED if stepped or (looped and bounded_constraints(model)) else HANDLED
    constraints = [c for c in model.constraints if isinstance(c, kinds)]
    reduced = looped or stepped or (integrator != "auto" and integrator.name != "semi_implicit")
    return JointConstraints(constraints, reduced) if constraints else None


def hard_coordinates(model) -> list[int]:
    """Velocity coordinates with hard limits."""
    return [k for c in model.constraints if isinstance(c, HardLimits) for k in c.coordinates(model)]


def refuse_methods(asked: JointConstraints, integrator: str) -> None:
    """Raise an error for sticking friction and hard limits by a method that has no step for them."""
    if integrator in ("semi_implicit", "event_driven") or not (asked.friction or asked.stops):
        return
    raise SimulationError(
        f"simulate: {asked.words}: hard limits and sticking friction are part of integrators 'semi_implicit', "
        f"'time_stepping' and 'event_driven'; integrator {integrator!r} has no such step. Use one of these; or leave "
        "these constraints out of model.constraints, with soft stops and rounded friction instead, or an Event.",
        integrator=integrator,
    )


def _changed(array, entries, value) -> np.ndarray:
    array = np.array(array, dtype=float)
    array[entries] = value
    return array


def joint_rows(model, constraints) -> JointRows:
    """The constraints of a model's independent velocities."""
    follower = {model.joint(c.joint): c for c in model.couplings}
    entries = [k for i in model.outward() if i not in follower
               for k in range(model.v_slice[i].start, model.v_slice[i].stop)]  # fmt: skip
    number = {k: m for m, k in enumerate(entries)}
    ny = len(entries)
    position = np.full(ny, -1)
    for i in model.outward():
        if i not in follower and model.joints[i].nq == model.joints[i].nv:
            for n, k in enumerate(range(model.v_slice[i].start, model.v_slice[i].stop)):
                position[number[k]] = model.q_slice[i].start + n
    friction, lower, upper, e = np.zeros(ny), np.full(ny, -np.inf), np.full(ny, np.inf), np.zeros(ny)
    sticking = [k for c in constraints if isinstance(c, StickingFriction) for k in c.coordinates(model)]
    hard = {k: c.restitution for c in constraints if isinstance(c, HardLimits) for k in c.coordinates(model)}
    for k in sticking:
        if k in number:
            friction[number[k]] = float(model.dry_friction[k])
    if hard:
        limits = {what: np.full(model.nv, most) for what, most in (("lower", -np.inf), ("upper", np.inf))}
        for what, bound in limits.items():
            bound[list(hard)] = np.asarray(getattr(model, what), dtype=float)[list(hard)]
        e[:] = [hard.get(k, 0.0) for k in entries]
        lower, upper = (np.where(position < 0, most, x[entries]) for x, most in zip(
            position_ranges(model, **limits), (-np.inf, np.inf), strict=True))  # fmt: skip
    couplings = []
    for c in model.couplings:
        k, m = model.v_index(c.joint).start, number[model.v_index(c.master).start]
        if k in sticking:  # of the same sign as the motion of the master, times the displacement
            friction[m] += abs(c.ratio) * float(model.dry_friction[k])
        if k in hard and entries[m] not in hard:
            e[m] = hard[k]
        couplings.append((model.q_index(c.joint).start, model.q_index(c.master).start, k, m, c.ratio, c.offset))
    locked, motion = np.zeros(ny, dtype=bool), [None] * ny
    for c in constraints:
        if isinstance(c, Lock):
            slot = model.v_index(c.joint)
            locked[[number[k] for k in range(slot.start, slot.stop)]] = True
        elif isinstance(c, PrescribedMotion):
            for n, f in enumerate(c.functions(model)):
                motion[number[model.v_index(c.joint).start + n]] = f
    G = None
    if model.couplings:
        G = np.zeros((model.nv, ny))
        G[entries, np.arange(ny)] = 1.0
        for _, _, k, m, ratio, _ in couplings:
            G[k, m] = ratio
    return JointRows(G, np.array(entries, dtype=int), position, friction, lower, upper, e, locked, tuple(motion),
                     tuple(couplings))  # fmt: skip
