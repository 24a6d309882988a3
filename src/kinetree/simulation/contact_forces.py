"""Contact forces of a run in its dynamics and in its energy balance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.algorithms.contacts import detect
from kinetree.integrators.driven_power import driven_powers
from kinetree.integrators.kernels import part
from kinetree.integrators.system import System, time_argument
from kinetree.integrators.user_code import Around
from kinetree.simulation.bounded_forces import bounded_forces, force_channels
from kinetree.simulation.components import Channel, Component
from kinetree.simulation.contact_touches import Touches, is_watched
from kinetree.simulation.contacts import FORCE, candidates_of, force_channel
from kinetree.simulation.interpolation import arriving_velocities
from kinetree.simulation.quadrature import accumulated
from kinetree.state_kinematics import Kinematics

WATCHED = 64  # steps whose contacts are watched together
ROWS = ("contact", "contact friction")  # of the energy balance: normal and tangential forces
WORKS = CONTACT, DRIVEN, BOUNDED = "contact_work", "driven_work", "bounded_work"  # of the metadata, since the start


def _contact_action(model, q, v, impulses):
    """Joint forces J^T lambda, and the products of normal and tangential parts with the contact velocities."""
    joint, powers = [0.0] * model.nv, [0.0, 0.0]
    for n, contact in enumerate(detect(model, Kinematics(model, q))):
        for axis, row in enumerate(contact.rows):
            x = impulses[3 * n + axis]
            for k, entry in row.items():
                joint[k] = joint[k] + entry * x
        for axis, rate in enumerate(contact.rates(v)):
            powers[axis < 2] = powers[axis < 2] + impulses[3 * n + axis] * rate
    return joint, powers


ACTION = part(
    "contact_action", _contact_action, "q[nq] v[nv] impulses[n_contact_rows]", "tau[nv] powers[#2]", domains=()
)


class ContactRecord(NamedTuple):
    """Contact of the samples of a run, and bounded forces of the same steps.

    Attributes
    ----------
    channels : tuple of Quantity
        Forces along the axes of the contacts [N], and those of limits and sticking friction [N m or N].
    joint_forces : (T, nv) array or float
        Those of contacts [N m or N]; zero without any.
    works : dict
        Of the metadata: work since the start [J] of normal and of tangential forces, (T, 2), of joints that depend on
        time, (T,), of friction and of limits by velocity coordinate, (T, 2 nv).
    """

    channels: tuple
    joint_forces: object
    works: dict


def contact_record(system, rows, samples, dt: float, ahead, given=()) -> ContactRecord:
    """The forces of a record, and their work: exact for impulses, with the mean of the velocities at both ends.

    Parameters
    ----------
    system : System
    rows : dict
        Of the recorder: impulses, and the work where not every step is recorded.
    samples : (time, q, w, events)
        Internal states may follow the velocities.
    dt : float
        Step [s].
    ahead : tuple or None
        Impulses and work at the last sample, if that is not recorded.
    given : tuple
        Other arguments of the dynamics at the samples: the time, wrenches, internal states, inputs of force elements.
    """
    (time, q, w, events), model = samples, system.model
    impulses, v = rows.get("impulses", np.zeros((len(rows["time"]), 0))), w[:, : model.nv]
    impulses = impulses if ahead is None else np.vstack((impulses, ahead[0]))
    forces, now = impulses / dt, time_argument(model, time)
    then = np.concatenate((arriving_velocities(time, v, events)[1:], v[-1:]))
    powers, joint, bounded = _actions(system, q, 0.5 * (v + then), forces, now)
    if "work" in rows:
        work = rows["work"] if ahead is None else np.vstack((rows["work"], ahead[1]))
    else:
        h = np.diff(time)[:, None]
        work = {kind: _sums(power[:-1] * h) for kind, power in powers.items()}
        if model.time_dependent:
            a = np.concatenate(((then - v)[:-1] / h, np.zeros_like(v[:1])))
            others = given[: len(given) - bool(model.nu) - bool(model.nx)] + given[len(given) - bool(model.nu) :]
            smooth, sudden = driven_powers(system, q, w, a, forces[:, : model.n_contact_rows], others).T
            work[DRIVEN] = accumulated(time, smooth)[:, None] + _sums(sudden[:-1, None] * h)
        work = np.concatenate([work[kind] for kind in WORKS if kind in work], axis=1)
    channels, works, first = (), {}, 0
    for kind, size in work_columns(model, bounded is not None).items():
        works[kind], first = work[:, first : first + size], first + size
    if model.n_contacts:
        channels = (force_channel(time, candidates_of(model), np.ascontiguousarray(forces[:, : model.n_contact_rows])),)
    if bounded is not None:
        channels = (*channels, *force_channels(system, time, bounded))
    return ContactRecord(channels, joint, works)


def work_columns(model, bounded: bool) -> dict[str, int]:
    """The number of works of each kind that runs record, in this order."""
    sizes = {CONTACT: 2 * bool(model.n_contacts), DRIVEN: int(model.time_dependent), BOUNDED: 2 * model.nv * bounded}
    return {kind: size for kind, size in sizes.items() if size}


def _sums(gains: np.ndarray) -> np.ndarray:
    """Sums of the gains from each sample to the next, since the first."""
    return np.concatenate((np.zeros((1, gains.shape[1])), np.cumsum(gains, axis=0)))


def _actions(system, q, v, forces, now):
    """Powers of contacts and of bounded rows, joint forces of contacts, and those of bounded rows, (..., 2, nv)."""
    model, powers, joint, bounded = system.model, {}, 0.0, None
    if model.n_contacts:
        contacts = np.ascontiguousarray(forces[..., : model.n_contact_rows])
        joint, powers[CONTACT] = system.function(ACTION, checks=False)(q, v, contacts, *now)
    if forces.shape[-1] > model.n_contact_rows:
        bounded = bounded_forces(system, q, v, forces, now)
        powers[BOUNDED] = (bounded * v[..., None, :]).reshape(*v.shape[:-1], -1)
    return powers, joint, bounded


def joint_forces(system, q, forces, time) -> np.ndarray:
    """Joint forces of contact forces along the axes of the contacts, (T, nv) [N m or N]."""
    rest, now = np.zeros((len(q), system.model.nv)), time_argument(system.model, time)
    return system.function(ACTION, checks=False)(q, rest, np.ascontiguousarray(forces), *now)[0]


class SummedWork(Around):
    """Steps whose work of contacts and bounded rows is summed, and contacts watched, where not every step is recorded.

    Parameters
    ----------
    stepper : object
        With ``impulses``, those of its last step.
    system : System

    Attributes
    ----------
    work : array
        Since the start [J], see `work_columns`: of normal and of tangential forces, of joints that depend on time, of
        friction and of limits by velocity coordinate.
    """

    def __init__(self, stepper, system) -> None:
        super().__init__(stepper)
        self._system, self._nv, model = system, system.model.nv, system.model
        self._touches, self._unseen = Touches(system) if is_watched(model) else None, []
        self.work = np.zeros(sum(work_columns(model, len(stepper.impulses) > model.n_contact_rows).values()))

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        q_next, v_next = self._inner.step(t, h, q, v, tau, f_ext)
        mean, forces, model = 0.5 * (v + v_next)[: self._nv], self._inner.impulses / h, self._system.model
        works = {kind: h * x for kind, x in _actions(self._system, q, mean, forces, time_argument(model, t))[0].items()}
        if model.time_dependent:
            works[DRIVEN] = self._driven_work((t, q, v), (t + h, q_next, v_next), forces[: model.n_contact_rows], f_ext)
        self.work = self.work + np.concatenate([works[kind] for kind in WORKS if kind in works])
        if self._touches is not None:
            self._unseen.append((t, q, v[: self._nv], self._inner.impulses))
            if len(self._unseen) == WATCHED:
                self._watch()
        return q_next, v_next

    def _driven_work(self, begin, end, forces, f_ext):
        """Work of joints that depend on time in a step."""
        (t0, q0, w0), (t1, q1, w1) = begin, end
        h, nv = t1 - t0, self._nv
        smooth, sudden = driven_powers(self._system, q0, w0, (w1 - w0)[:nv] / h, forces, f_ext(t0))
        later, _ = driven_powers(self._system, q1, w1, np.zeros(nv), forces, f_ext(t1))
        return [h * (0.5 * (smooth + later) + sudden)]

    def _watch(self) -> None:
        if self._unseen:
            self._touches.add(*(np.array(x) for x in zip(*self._unseen, strict=True)))
            self._unseen = []

    @property
    def occurrences(self) -> list:
        """Contacts that have begun and ended."""
        self._watch()
        return [] if self._touches is None else self._touches.occurrences

    def get_state(self):
        """The memory of the steps, the work, and the contacts."""
        self._watch()
        return self._inner.get_state(), self.work, self._touches and self._touches.get_state()

    def set_state(self, state) -> None:
        """Restore a state of `get_state`."""
        memory, self.work, touches = state
        self._inner.set_state(memory)
        self._unseen = []
        if touches is not None:
            self._touches.set_state(touches)


class ContactPower(Component):
    """Power and work of contact in the energy balance: of normal forces (losses of impacts) and of friction."""

    name = "contacts"
    is_built_in = True

    def channels(self, run) -> dict[str, Channel]:
        """Power and work of normal and of tangential forces, and the joint forces of all contacts."""
        forces = next(x.values for x in run.extra if x.name == FORCE)
        now = time_argument(run.model, run.time)
        joint, powers = System(run.model).function(ACTION, checks=False)(
            run.q, run.v, np.ascontiguousarray(forces), *now
        )
        work = run.metadata.contact_work
        found = {name: Channel("power", powers[:, n], work=work[:, n] - work[0, n]) for n, name in enumerate(ROWS)}
        return found | {"force.contact": Channel("other", joint, "N m or N")}
