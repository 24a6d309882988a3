"""Contact forces of a run in its dynamics and in its energy balance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.algorithms.contacts import detect
from kinetree.integrators.kernels import part
from kinetree.integrators.system import System
from kinetree.integrators.user_code import Around
from kinetree.simulation.components import Channel, Component
from kinetree.simulation.contacts import FORCE
from kinetree.simulation.interpolation import arriving_velocities
from kinetree.state_kinematics import Kinematics

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
    """Contact of the samples of a run.

    Attributes
    ----------
    forces : (T, 3 n) array
        Along the axes of the contacts [N].
    joint_forces : (T, nv) array
        Their joint forces [N m or N].
    work : (T, 2) array
        Of normal and of tangential forces since the start [J].
    """

    forces: np.ndarray
    joint_forces: np.ndarray
    work: np.ndarray


def contact_record(system, rows, samples, dt: float, ahead) -> ContactRecord:
    """The contact forces of a record, and their work: exact for impulses, with the mean of the velocities at both ends.

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
    joint, powers = system.function(ACTION, checks=False)(q, mean, forces)
    if "work" in rows:
        work = rows["work"] if ahead is None else np.vstack((rows["work"], ahead[1]))
    else:
        work = np.concatenate((np.zeros((1, 2)), np.cumsum(powers[:-1] * np.diff(time)[:, None], axis=0)))
    return ContactRecord(forces, joint, work)


def joint_forces(system, q, forces) -> np.ndarray:
    """Joint forces of contact forces along the axes of the contacts, (T, nv) [N m or N]."""
    rest = np.zeros((len(q), system.model.nv))
    return system.function(ACTION, checks=False)(q, rest, np.ascontiguousarray(forces))[0]


class SummedWork(Around):
    """Steps whose contact work is summed, for runs that do not record every step.

    Parameters
    ----------
    stepper : object
        With ``impulses``, those of its last step.
    system : System

    Attributes
    ----------
    work : (2,) array
        Of normal and of tangential forces since the start [J].
    """

    def __init__(self, stepper, system) -> None:
        super().__init__(stepper)
        self._action, self._nv = system.function(ACTION, checks=False), system.model.nv
        self.work = np.zeros(2)

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        q_next, v_next = self._inner.step(t, h, q, v, tau, f_ext)
        mean = 0.5 * (v + v_next)[: self._nv]
        self.work = self.work + self._action(q, mean, self._inner.impulses)[1]
        return q_next, v_next

    def get_state(self):
        """The memory of the steps, and the work."""
        return self._inner.get_state(), self.work

    def set_state(self, state) -> None:
        """Restore a state of `get_state`."""
        memory, self.work = state
        self._inner.set_state(memory)


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
