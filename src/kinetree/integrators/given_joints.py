"""Locked and prescribed joints for any fixed step: it is made by a model that has only the other freedoms."""

from __future__ import annotations

import numpy as np

from kinetree.errors import SimulationError
from kinetree.forces.registry import POSITION_PARAMETERS
from kinetree.integrators.dense import hermite
from kinetree.integrators.system import System, time_argument
from kinetree.joints import Fixed, Prescribed
from kinetree.model import Model
from kinetree.model.builder import JOINT_DATA
from kinetree.model.planar import PlanarModel

PER_VELOCITY = tuple(what for what in JOINT_DATA if what not in POSITION_PARAMETERS)


def reduced_model(model, rows, q):
    """The model whose given coordinates are functions of time or constant, and the entries of q and v that remain.

    Parameters
    ----------
    model : Model
    rows : JointRows
        Of which the locked and prescribed coordinates count.
    q : (nq,) array
        Positions of locked joints [rad or m].

    Returns
    -------
    model : Model
    position, velocity : numpy.ndarray of int
        Entries of q and v that it has.

    Raises
    ------
    SimulationError
        The model is planar, has gears, or a given joint leads another.
    """
    if isinstance(model, PlanarModel):
        raise SimulationError(
            f"simulate: model {model.name!r} is planar, where integrator='semi_implicit' alone takes locked and "
            "prescribed joints; or simulate model.spatial."
        )
    given = {int(rows.master[m]): m for m in np.flatnonzero(rows.given)}
    joints, X_T, no_q, no_v = list(model.joints), list(model.X_T), [], []
    for i in model.outward():
        entries = range(model.v_slice[i].start, model.v_slice[i].stop)
        if not any(k in given for k in entries):
            continue
        if any(model.joint_name(i) in c.joints for c in model.couplings) or model.geared:
            raise SimulationError(
                f"simulate: joint {model.joint_name(i)!r} is locked or prescribed in a model with couplings to it, "
                "or with gears: use integrator='semi_implicit' there.",
                joint=model.joint_name(i),
            )
        first = model.q_slice[i].start
        if all(k in given and rows.locked[given[k]] for k in entries):
            X_T[i] = joints[i].transform(model.q_of(i, q.tolist())) @ X_T[i]
            joints[i] = Fixed()
            no_q += range(first, model.q_slice[i].stop)
        else:
            joints[i] = Prescribed(joints[i], [rows.motion[given[k]] if k in given else None for k in entries])
            no_q += [first + n for n, k in enumerate(entries) if k in given]
        no_v += [k for k in entries if k in given]
    position, velocity = (np.setdiff1d(np.arange(n), no) for n, no in ((model.nq, no_q), (model.nv, no_v)))
    changed = {what: np.asarray(getattr(model, what))[velocity] for what in PER_VELOCITY}
    changed |= {what: np.asarray(getattr(model, what))[position] for what in POSITION_PARAMETERS}
    arguments = model._arguments() | changed | {"joints": joints, "X_T": X_T, "equipment": None, "geometry": None}
    return Model(**arguments), position, velocity


class GivenJoints:
    """A fixed step of the whole model, made by the integrator on the reduced one.

    Parameters
    ----------
    method : type
        Of the integrator.
    system : System
        Of the whole model.
    rows : JointRows
    q : (nq,) array
        Positions of locked joints [rad or m].

    Notes
    -----
    Source: Featherstone (2008), section 9.2: of joints whose motion is given only the forces are unknown. The step
    keeps its order, and its stability; prescribed coordinates have the motion's values and rates.
    """

    def __init__(self, method, system, rows, q) -> None:
        self.system, self.rows = system, rows
        model, self._position, self._velocity = reduced_model(system.model, rows, q)
        self._reduced = System(model, system.wrenches)
        self._inner, self._moves = method(self._reduced), bool(len(self._velocity))
        self._locked = rows.master[rows.locked]
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
        v_next[self._locked] = 0.0
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


def given_forces(system, rows, t, q, v, tau, arrays) -> np.ndarray:
    """Forces on the independent velocities that make the given accelerations, (ny,) [N m or N]."""
    from kinetree.integrators.joint_steps import INERTIA

    given, force = np.flatnonzero(rows.given), np.zeros(len(rows.master))
    a = system.function("forward_dynamics", checks=False)(q, v, tau, *arrays)
    wanted = np.zeros(len(rows.master))
    for m, (_, _, acceleration) in rows.prescribed(t):
        wanted[m] = acceleration
    k = rows.master[given]
    W = system.function(INERTIA, checks=False)(q, *arrays[: int(system.model.time_dependent)])[np.ix_(k, k)]
    force[given] = np.linalg.solve(W, wanted[given] - a[k])
    return force
