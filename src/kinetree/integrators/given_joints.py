"""Prescribed joints in any fixed-step method, by a reduced model of the other coordinates; and locked joints."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.constraints import Lock, PrescribedMotion
from kinetree.errors import SimulationError
from kinetree.forces.registry import POSITION_PARAMETERS
from kinetree.integrators.dense import hermite
from kinetree.integrators.joint_steps import INERTIA
from kinetree.integrators.system import System, time_argument
from kinetree.joints import Prescribed
from kinetree.model import Model
from kinetree.model.builder import JOINT_DATA
from kinetree.model.planar import PlanarModel
from kinetree.state_kinematics import Kinematics

PER_VELOCITY = tuple(what for what in JOINT_DATA if what not in POSITION_PARAMETERS)


def reduced_model(model, rows):
    """The model whose prescribed coordinates are functions of time, and the entries of q and v that remain.

    Parameters
    ----------
    model : Model
    rows : JointRows
        Only the prescribed coordinates are used.

    Returns
    -------
    model : Model
    position, velocity : numpy.ndarray of int
        Entries of q and v that it has.

    Raises
    ------
    SimulationError
        The model is planar, has gears, or a prescribed joint leads another.
    """
    if isinstance(model, PlanarModel):
        raise SimulationError(
            f"simulate: model {model.name!r} is planar, where integrator='semi_implicit' alone takes prescribed "
            "joints; or simulate model.spatial."
        )
    given = {int(rows.master[m]): m for m in rows.moving}
    joints, no_q, no_v = list(model.joints), [], []
    for i in model.outward():
        entries = range(model.v_slice[i].start, model.v_slice[i].stop)
        if not any(k in given for k in entries):
            continue
        if any(model.joint_name(i) in c.joints for c in model.couplings) or model.geared:
            raise SimulationError(
                f"simulate: joint {model.joint_name(i)!r} is prescribed in a model with couplings to it, or "
                "with gears: use integrator='semi_implicit' there.",
                joint=model.joint_name(i),
            )
        first = model.q_slice[i].start
        joints[i] = Prescribed(joints[i], [rows.motion[given[k]] if k in given else None for k in entries])
        no_q += [first + n for n, k in enumerate(entries) if k in given]
        no_v += [k for k in entries if k in given]
    position, velocity = (np.setdiff1d(np.arange(n), no) for n, no in ((model.nq, no_q), (model.nv, no_v)))
    changed = {what: np.asarray(getattr(model, what))[velocity] for what in PER_VELOCITY}
    changed |= {what: np.asarray(getattr(model, what))[position] for what in POSITION_PARAMETERS}
    arguments = model._arguments() | changed | {"joints": joints, "equipment": None, "geometry": None}
    return Model(**arguments), position, velocity


class GivenJoints:
    """A fixed step of the whole model, computed by the integrator on the reduced one.

    Parameters
    ----------
    method : callable
        The integrator for a system.
    system : System
        Of the whole model.
    rows : JointRows

    Notes
    -----
    Source: Featherstone (2008), section 9.2: of joints whose motion is given only the forces are unknown. The step
    keeps its order, and its stability; prescribed coordinates have the motion's values and rates.
    """

    def __init__(self, method, system, rows) -> None:
        self.system, self.rows = system, rows
        model, self._position, self._velocity = reduced_model(system.model, rows)
        self._reduced = System(model, system.wrenches)
        self._inner, self._moves = method(self._reduced), bool(len(self._velocity))
        self._skip = int(system.model.time_dependent)
        self.name, self.order = method.name, method.order
        for what in ("reset", "get_state", "set_state"):
            if hasattr(self._inner, what):
                setattr(self, what, getattr(self._inner, what))
        self._last = None

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        q_next, v_next = q.copy(), v.copy()
        if self._moves:
            q_next[self._position], v_next[self._velocity] = self._inner.step(
                t, h, *self._own(q, v), lambda s: np.ascontiguousarray(tau(s)[self._velocity]),
                lambda s: self._arrays(s, f_ext),
            )  # fmt: skip
        self.rows.put(t + h, q_next, v_next)
        self._last = (t, q, v), (t + h, q_next, v_next), tau, f_ext
        return q_next, v_next

    def interpolant(self):
        """The cubic of the last step, with the accelerations of both ends."""
        (t0, q0, v0), (t1, q1, v1), tau, f_ext = self._last
        ends = [(q, v, self._accelerations(t, q, v, tau, f_ext)) for t, q, v in ((t0, q0, v0), (t1, q1, v1))]
        return hermite(self.system, t0, t1, *ends)

    def _accelerations(self, t, q, v, tau, f_ext):
        a = np.zeros_like(v)
        if self._moves:
            dynamics = self._reduced.function("forward_dynamics", checks=False)
            a[self._velocity] = dynamics(*self._own(q, v), tau(t)[self._velocity], *self._arrays(t, f_ext))
        for m, (_, _, acceleration) in self.rows.prescribed(t):
            a[self.rows.master[m]] = acceleration
        return a

    def _own(self, q, v):
        return np.ascontiguousarray(q[self._position]), np.ascontiguousarray(v[self._velocity])

    def _arrays(self, t, f_ext):
        return (*time_argument(self._reduced.model, t), *f_ext(t)[self._skip :])


class LockedStep:
    """A step of a model with locks: locked joints keep their positions to the last bit, also after events.

    Parameters
    ----------
    inner : object
        The step of the model.
    position, velocity : sequence of int
        Entries of q and v of the locked joints.
    """

    def __init__(self, inner, position, velocity) -> None:
        self._inner, self._position, self._velocity = inner, position, velocity

    def __getattr__(self, name: str):
        if name == "_inner":  # of an object that is being made from a pickle
            raise AttributeError(name)
        return getattr(self._inner, name)

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]."""
        if v[self._velocity].any():
            v = v.copy()
            v[self._velocity] = 0.0
        q_next, v_next = self._inner.step(t, h, q, v, tau, f_ext)
        q_next[self._position], v_next[self._velocity] = q[self._position], 0.0
        return q_next, v_next


def given_forces(system, rows, t, q, v, tau, arrays) -> tuple[np.ndarray, np.ndarray]:
    """Forces of locks and of prescribed motions on the independent velocities, (ny,) [N m or N]."""
    spec = ALGORITHMS["forward_dynamics"].variants["multipliers"]
    dynamics, moving = system.function(spec, checks=False), list(rows.moving)
    locks, motions = np.zeros(len(rows.master)), np.zeros(len(rows.master))
    kept = system.model.has_given_motions
    if moving and not kept:
        wanted = np.array([acceleration for _, (_, _, acceleration) in rows.prescribed(t)])
        k = rows.master[moving]
        W = system.function(INERTIA, checks=False)(q, *arrays[: int(system.model.time_dependent)])[np.ix_(k, k)]
        motions[moving] = np.linalg.solve(W, wanted - dynamics(q, v, tau, *arrays)[0][k])
        tau = tau.copy()
        tau[k] += motions[moving]
    if rows.locked.any() or kept:
        multipliers, place = dynamics(q, v, tau, *arrays)[1], {k: m for m, k in enumerate(rows.master.tolist())}
        for c, numbers in system.model.constraint_rows():
            if isinstance(c, (Lock, PrescribedMotion)):
                for n, k in zip(numbers, c.velocity_map(Kinematics(system.model, ())), strict=False):
                    (locks if isinstance(c, Lock) else motions)[place[k]] = multipliers[n]
    return locks, motions
