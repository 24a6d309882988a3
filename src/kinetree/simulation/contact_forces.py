"""Contact forces of a run in its dynamics and in its energy balance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.algorithms.contacts import detect
from kinetree.integrators.kernels import part
from kinetree.integrators.system import System
from kinetree.integrators.user_code import Around
from kinetree.simulation.bounded_forces import bounded_forces, force_channels
from kinetree.simulation.components import Channel, Component
from kinetree.simulation.contact_touches import Touches, is_watched
from kinetree.simulation.contacts import FORCE, candidates_of, force_channel
from kinetree.simulation.interpolation import arriving_velocities
from kinetree.state_kinematics import Kinematics

WATCHED = 64  # steps whose contacts are watched together
ROWS = ("contact", "contact friction")  # of the energy balance: normal and tangential forces


def _contact_action(model, q, v, impulses):
    """Joint forces J^T lambda, and the products of normal and tangential parts with the contact velocities."""
    joint, powers = [0.0] * model.nv, [0.0, 0.0]
    for n, contact in enumerate(detect(model, Kinematics(model, q))):
        for axis, row in enumerate(contact.rows):
            x = impulses[3 * n + axis]
            for k, entry in row.items():
                joint[k] = joint[k] + entry * x
            rate = sum(entry * v[k] for k, entry in row.items())
            powers[axis < 2] = powers[axis < 2] + x * rate
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
        Of the metadata: work since the start [J] of normal and of tangential forces, (T, 2), of friction and of limits
        by velocity coordinate, (T, 2 nv).
    """

    channels: tuple
    joint_forces: object
    works: dict


def contact_record(system, rows, samples, dt: float, ahead) -> ContactRecord:
    """The forces of a record, and their work: exact for impulses, with the mean of the velocities at both ends.

    Parameters
    ----------
    system : System
    rows : dict
        Of the recorder: impulses, and the work where not every step is recorded.
    samples : (time, q, v, events)
    dt : float
        Step [s].
    ahead : tuple or None
        Impulses and work at the last sample, if that is not recorded.
    """
    time, q, v, events = samples
    impulses = rows["impulses"] if ahead is None else np.vstack((rows["impulses"], ahead[0]))
    forces = impulses / dt
    arriving = arriving_velocities(time, v, events)
    mean = 0.5 * (v + np.concatenate((arriving[1:], v[-1:])))
    powers, joint, bounded = _actions(system, q, mean, forces)
    if "work" in rows:
        work = rows["work"] if ahead is None else np.vstack((rows["work"], ahead[1]))
    else:
        work = np.cumsum(powers[:-1] * np.diff(time)[:, None], axis=0)
        work = np.concatenate((np.zeros((1, powers.shape[1])), work))
    channels, works, n = (), {}, 0
    if system.model.n_contacts:
        contacts = np.ascontiguousarray(forces[:, : system.model.n_contact_rows])
        channels, n = (force_channel(time, candidates_of(system.model), contacts),), 2
        works["contact_work"] = work[:, :2]
    if bounded is not None:
        channels, works["bounded_work"] = (*channels, *force_channels(system, time, bounded)), work[:, n:]
    return ContactRecord(channels, joint, works)


def _actions(system, q, v, forces):
    """Powers of contacts and of bounded rows, joint forces of contacts, and those of bounded rows, (..., 2, nv)."""
    model, powers, joint, bounded = system.model, [], 0.0, None
    if model.n_contacts:
        contacts = np.ascontiguousarray(forces[..., : model.n_contact_rows])
        joint, power = system.function(ACTION, checks=False)(q, v, contacts)
        powers.append(power)
    if forces.shape[-1] > model.n_contact_rows:
        bounded = bounded_forces(system, q, v, forces)
        powers.append((bounded * v[..., None, :]).reshape(*v.shape[:-1], -1))
    return np.concatenate(powers, axis=-1), joint, bounded


def joint_forces(system, q, forces) -> np.ndarray:
    """Joint forces of contact forces along the axes of the contacts, (T, nv) [N m or N]."""
    rest = np.zeros((len(q), system.model.nv))
    return system.function(ACTION, checks=False)(q, rest, np.ascontiguousarray(forces))[0]


class SummedWork(Around):
    """Steps whose work of contacts and bounded rows is summed, and contacts watched, where not every step is recorded.

    Parameters
    ----------
    stepper : object
        With ``impulses``, those of its last step.
    system : System

    Attributes
    ----------
    work : (2,), (2 nv,) or (2 + 2 nv,) array
        Since the start [J]: of normal and of tangential forces, of friction and of limits by velocity coordinate.
    """

    def __init__(self, stepper, system) -> None:
        super().__init__(stepper)
        self._system, self._nv, model = system, system.model.nv, system.model
        self._touches, self._unseen = Touches(system) if is_watched(model) else None, []
        self.work = np.zeros(2 * bool(model.n_contacts) + 2 * model.nv * (len(stepper.impulses) > model.n_contact_rows))

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        q_next, v_next = self._inner.step(t, h, q, v, tau, f_ext)
        mean = 0.5 * (v + v_next)[: self._nv]
        self.work = self.work + h * _actions(self._system, q, mean, self._inner.impulses / h)[0]
        if self._touches is not None:
            self._unseen.append((t, q, v[: self._nv], self._inner.impulses))
            if len(self._unseen) == WATCHED:
                self._watch()
        return q_next, v_next

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
        joint, powers = System(run.model).function(ACTION, checks=False)(run.q, run.v, np.ascontiguousarray(forces))
        work = run.metadata.contact_work
        found = {name: Channel("power", powers[:, n], work=work[:, n] - work[0, n]) for n, name in enumerate(ROWS)}
        return found | {"force.contact": Channel("other", joint, "N m or N")}
