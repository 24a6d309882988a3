"""Exact dry friction, hard stops, locked and prescribed joints, as an element of a simulation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.arguments import number
from kinetree.errors import KinetreeError, SimulationError
from kinetree.integrators.events import Occurrence
from kinetree.integrators.given_joints import GivenJoints, given_forces
from kinetree.integrators.joint_complementarity import JointComplementarity
from kinetree.integrators.joint_constraints import KINDS, JointLaws
from kinetree.integrators.methods import one_of
from kinetree.integrators.system import System, time_argument
from kinetree.integrators.user_code import copied
from kinetree.joints import Prescribed
from kinetree.model.ranges import position_ranges
from kinetree.simulation.components import Channel, Element
from kinetree.simulation.quadrature import accumulated

ROWS = {"friction": "dry friction", "stops": "stops", "locks": "locked joints", "motions": "prescribed motions"}
NEAR = 1e-9  # [rad, m, per second] a start that is so close to the prescribed motion is meant to be on it


class JointConstraints(Element):
    """What holds joints exactly, solved together in every step.

    Parameters
    ----------
    friction : bool
        Dry friction of the model holds joints below tau_c, without rounding.
    stops : bool
        Position limits are hard stops.
    restitution : float or mapping of joint name to float
        Of the stops: 0 comes to rest, 1 keeps the energy.
    locked : sequence of str
        Joints that stay where they start.
    prescribed : mapping of joint name to a function of time
        Joints that move as told; several coordinates as in `kinetree.joints.Prescribed`.

    Notes
    -----
    See `kinetree.integrators.joint_complementarity.JointComplementarity`. Rows of the energy balance: power and work
    of "dry friction", "stops", "prescribed motions", and the forces of each kind at the samples.
    """

    name = "joints"

    def __init__(self, friction=False, stops=False, restitution=0.0, locked=(), prescribed=None) -> None:
        self.friction, self.stops, self.restitution = bool(friction), bool(stops), restitution
        self.locked = (locked,) if isinstance(locked, str) else tuple(locked)
        self.prescribed = dict(prescribed or {})
        self.laws, self._dt, self._reduced, self._start = None, 1.0, False, None
        self._log: list[tuple] = []  # of steps: (time of its end, entries (kind, energies of independent velocities))
        self._step = None
        self.occurrences: list[Occurrence] = []  # impacts at stops

    @property
    def words(self) -> str:
        """What is asked for, in short."""
        parts = ["friction='exact'"] * self.friction + ["limits='hard'"] * self.stops
        parts += ["locked"] * bool(self.locked) + ["prescribed"] * bool(self.prescribed)
        return ", ".join(parts)

    @property
    def settings(self) -> str:
        """What a snapshot must have in common: where joints are locked is part of a reduced model."""
        return f"{self.words} {self._start[self._locked_entries].tolist()}" if self._reduced else self.words

    def prepare(self, model):
        """The model without the friction that is solved for here."""
        self.laws = joint_laws(model, self)
        names = {k: model.joint_name(i) for i in model.outward() for k in range(*model.v_slice[i].indices(model.nv))}
        self._joints = [names[k] for k in self.laws.master]
        slices = (model.q_slice[model.joint(name)] for name in self.locked)
        self._locked_entries = [n for s in slices for n in range(s.start, s.stop)]
        if not self.friction or not np.any(model.dry_friction):
            return model
        return model.replace(dry_friction=0.0)

    def start(self, model, q, v) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """The initial state as the laws want it, with notes on what was changed."""
        laws, notes = self.laws, []
        q_new, v_new = q.copy(), v.copy()
        laws.put(0.0, q_new, v_new)
        if max(np.abs(q_new - q).max(initial=0.0), np.abs(v_new - v).max(initial=0.0)) > NEAR:
            notes.append("joints with a prescribed motion start where it does, at its speed")
        moved = v_new.copy()
        moved[laws.master[laws.locked]] = 0.0
        moved = moved if laws.G is None else laws.G @ moved[laws.master]
        if not np.array_equal(moved, v_new):
            notes.append("locked joints start at rest")
        self._start = q_new
        return q_new, moved, notes

    def wrap(self, stepper, system):
        """The step that solves for all of it, instead of semi-implicit Euler's; or others for given motions alone."""
        self._reduced = stepper.name != "semi_implicit"
        if self._reduced:
            return GivenJoints(type(stepper), system, self.laws, self._start)
        self._step = JointComplementarity(system, self.laws, self._account, self._impacted, self.stops)
        return self._step

    def reset(self, simulation) -> None:
        """Before the first step."""
        self._dt, self._log, self.occurrences = simulation.dt, [], []

    def landed(self, t: float) -> None:
        """The run goes on from a time within the last step: what was booked later than that has not happened."""
        while self.occurrences and self.occurrences[-1].time > t:
            self.occurrences.pop()
        if self._log and self._log[-1][0] > t:
            self._log.pop()
            self._step.cut(t)

    def get_state(self):
        """The work and the impacts so far."""
        return list(self._log), list(self.occurrences)

    def set_state(self, state) -> None:
        """Take up what `get_state` gave."""
        self._log, self.occurrences = map(list, state)

    def _impacted(self, t, hit, q, before, after) -> None:
        """Note an impact for each joint that met its stop."""
        laws, (at, v, v_after) = self.laws, map(copied, (q, before, after))
        for m in hit:
            side = "lower" if v[laws.master[m]] < 0.0 else "upper"
            self.occurrences.append(Occurrence("impact", float(t), at, v, at, v_after, self._joints[m], side))

    def _account(self, t, entries) -> None:
        self._log.append((t, tuple(entries)))

    # The energy balance --------------------------------------------------------------------------------------------

    def reactions(self, model, time, q, v, tau, wrenches) -> np.ndarray:
        """All forces of these laws at the samples, (T, nv) [N m or N]."""
        forces = self._forces(model, time, q, v, tau, wrenches)
        return sum(forces.values(), np.zeros(v.shape))

    def channels(self, run) -> dict[str, Channel]:
        """Power and work by kind, and the forces of each kind."""
        forces = self._forces(run.model, run.time, run.q, run.v, run.tau, run.metadata.wrenches)
        works, found = self._works(run.time, run.v.shape), {}
        for kind, row in ROWS.items():
            if kind not in works and not np.any(forces[kind]):
                continue
            if kind != "locks":
                power, work = forces[kind] * run.v, works.get(kind, np.zeros(run.v.shape))
                if kind == "motions":  # what is booked are impacts
                    work = work + accumulated(run.time, power)
                found[row] = Channel("power", power, work=work)
            found[f"force.{row}"] = Channel("other", forces[kind], "N m or N")
        return found

    def _works(self, time, shape) -> dict[str, np.ndarray]:
        """Work by kind until each sample, (T, nv)."""
        laws, found = self.laws, {}
        sliver = 1e-6 * self._dt  # the end of a step is its sample, whatever rounding says
        for kind in KINDS:
            rows = [(t, work) for t, entries in self._log for name, work in entries if name == kind]
            if not rows:
                continue
            gains = np.zeros((len(time) + 1, len(laws.master)))
            samples = np.searchsorted(time, [t - sliver for t, _ in rows])
            np.add.at(gains, samples, [work for _, work in rows])
            total = np.zeros(shape)
            total[:, laws.master] = np.cumsum(gains, axis=0)[:-1]
            found[kind] = total
        return found

    def _forces(self, model, time, q, v, tau, wrenches) -> dict[str, np.ndarray]:
        """Forces by kind during the step that begins at each sample, (T, nv)."""
        found = {kind: np.zeros(v.shape) for kind in KINDS}
        step = JointComplementarity(System(model, wrenches is not None), self.laws, self._account)
        q, v, tau = (np.ascontiguousarray(x) for x in (q, v, tau))
        for n, t in enumerate(time.tolist()):
            pushed = () if wrenches is None else (np.ascontiguousarray(wrenches[n]),)
            arrays = (*time_argument(model, t), *pushed)
            if self._reduced:
                force = given_forces(step.system, self.laws, t, q[n], v[n], tau[n], arrays)
                for kind, which in (("locks", self.laws.locked), ("motions", self.laws.given & ~self.laws.locked)):
                    found[kind][n, self.laws.master] = force * which
                continue
            for kind, force in step.forces(t, self._dt, q[n], v[n], tau[n], arrays).items():
                found[kind][n, self.laws.master] = force
        return found


def requested(model, friction, limits, restitution, locked, prescribed) -> JointConstraints | None:
    """The element for the settings of a simulation; None if they ask for nothing of it."""
    one_of("simulate: friction", friction, ("smooth", "exact"))
    found = JointConstraints(friction == "exact", limits == "hard", restitution, locked, prescribed)
    if not found.stops and np.any(np.asarray(restitution if not isinstance(restitution, Mapping) else 1.0)):
        raise SimulationError(f"simulate: restitution is that of hard stops; limits is {limits!r}, expected 'hard'.")
    return found if found.words else None


def refuse_methods(asked: JointConstraints, integrator: str) -> None:
    """Refuse what an integrator cannot do: friction and stops but for semi-implicit Euler, given motions adaptively."""
    if integrator == "semi_implicit" or (integrator != "adaptive" and not (asked.friction or asked.stops)):
        return
    raise SimulationError(
        f"simulate: {asked.words} is part of fixed steps, friction and stops of integrator 'semi_implicit' alone; "
        f"integrator {integrator!r} has no such step. Use integrator='semi_implicit'; or friction='smooth', "
        "limits='soft', kinetree.surgery.lock, a model with kinetree.joints.Prescribed, or an Event.",
        integrator=integrator,
    )


def joint_laws(model, asked: JointConstraints) -> JointLaws:
    """The laws of a model's independent velocities.

    Raises
    ------
    SimulationError
        A joint is both locked and prescribed, follows another, or its motion cannot be given; the restitution is not
        between 0 and 1.
    """
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
    if asked.friction:
        friction[:] = np.asarray(model.dry_friction, dtype=float)[entries]
    if asked.stops:
        restitution = _restitution(model, asked.restitution)
        e[:] = restitution[entries]
        lower, upper = (np.where(position < 0, most, x[entries])
                        for x, most in zip(position_ranges(model), (-np.inf, np.inf), strict=True))  # fmt: skip
    rows = []
    for c in model.couplings:
        k, m = model.v_index(c.joint).start, number[model.v_index(c.master).start]
        if asked.friction:  # of the same sign as the motion of the master, times the way
            friction[m] += abs(c.ratio) * float(model.dry_friction[k])
        if asked.stops and model.has_limit(k) and not model.has_limit(entries[m]):
            e[m] = restitution[k]
        rows.append((model.q_index(c.joint).start, model.q_index(c.master).start, k, m, c.ratio, c.offset))
    locked, motion = np.zeros(ny, dtype=bool), [None] * ny
    for name in asked.locked:
        i = _own(model, name, follower, "locked")
        for k in range(model.v_slice[i].start, model.v_slice[i].stop):
            locked[number[k]] = True
    for name, f in asked.prescribed.items():
        i = _own(model, name, follower, "prescribed")
        for n, f_n in enumerate(_motion(model, i, f)):
            m = number[model.v_slice[i].start + n]
            motion[m] = f_n
            if f_n is not None and locked[m]:
                raise SimulationError(f"simulate: joint {name!r} is both locked and prescribed.", joint=name)
    G = None
    if model.couplings:
        G = np.zeros((model.nv, ny))
        G[entries, np.arange(ny)] = 1.0
        for _, _, k, m, ratio, _ in rows:
            G[k, m] = ratio
    return JointLaws(G, np.array(entries, dtype=int), position, friction, lower, upper, e, locked, tuple(motion),
                     tuple(rows))  # fmt: skip


def _own(model, name: str, follower, what: str) -> int:
    i = model.joint(name)
    if i in follower:
        master = follower[i].master
        raise SimulationError(
            f"simulate: joint {name!r} follows joint {master!r}, so it cannot be {what} itself; name {master!r}.",
            joint=name,
        )
    return i


def _motion(model, i: int, f) -> tuple:
    """Functions of time for the coordinates of a joint, None where it is free."""
    joint, name = model.joints[i], model.joint_name(i)
    try:
        whole = Prescribed(joint, f)
    except KinetreeError as error:
        raise SimulationError(f"simulate: prescribed[{name!r}]: {error}", joint=name) from error
    if not whole._is_plain:
        raise SimulationError(
            f"simulate: prescribed[{name!r}]: the velocities of {joint!r} are not the rates of its positions; build "
            "the model with kinetree.joints.Prescribed instead.",
            joint=name,
        )
    return whole.motion


def _restitution(model, e) -> np.ndarray:
    found, expected = np.zeros(model.nv), "a number from 0 (comes to rest) to 1 (keeps the energy)"
    if not isinstance(e, Mapping):
        expected += ", or a mapping of joint names to such"
        found[:] = number("simulate: restitution", e, expected, least=0.0, most=1.0)
        return found
    for name, value in e.items():
        slot, what = model.v_slice[model.joint(name)], f"simulate: restitution[{name!r}]"
        found[slot] = number(what, value, expected, least=0.0, most=1.0)
    return found
