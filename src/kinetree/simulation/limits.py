"""Position limits of joints in simulations: soft stops where the model has none, and a monitor that ends runs there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetree.algorithms.projection import has_loops
from kinetree.arguments import a_model, an_array, checked
from kinetree.errors import LimitError, ShapeError
from kinetree.integrators.events import Event
from kinetree.integrators.system import System, time_argument
from kinetree.simulation.events import Events
from kinetree.state_kinematics import Kinematics

ROUNDING = 1e-9  # [rad or m] so close to a limit, a position is not beyond it
STOP_TIME_CONSTANT = 0.02  # [s]
DEEPEST = (0.02, 0.2)  # [rad or m] how far beyond a soft stop a start may be: as wide as the range, between these


def bounded_coordinates(model) -> list[tuple[int, int, int]]:
    """Coordinates with position limits as (joint i, entry of q, entry of v)."""
    found = []
    for i in model.outward():
        q_slice, v_slice = model.q_slice[i], model.v_slice[i]
        for m, k in enumerate(range(v_slice.start, v_slice.stop)):
            if model.has_limit(k):
                found.append((i, q_slice.start + m, k))
    return found


def check_inside(model, q: np.ndarray, what: str, time: float | None = None, only=None) -> None:
    """Raise if a coordinate of q is outside its limits.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions [rad or m].
    what : str
        Opens the message: "q0", "the motion".
    time : float, optional
        Time of the state [s].
    only : sequence of int, optional
        Velocity coordinates to check.

    Raises
    ------
    LimitError
        Names the joint, its value and its limits.
    """
    for i, j, k in bounded_coordinates(model):
        if (only is None or k in only) and not float(model.lower[k]) <= q[j] <= float(model.upper[k]):
            raise _limit_error(model, i, k, float(q[j]), what, time)


def limited_in_loops(model, q: np.ndarray, t: float = 0.0) -> list[tuple]:
    """The coordinates of loop joints that have limits: name, value for each of the positions (..., nq), both limits."""
    now = model.at(t) if model.time_dependent else model
    kin = Kinematics(now, list(np.moveaxis(q, -1, 0)))
    return [
        (name, *rest)
        for name, loop in model.loop_joints()
        for _, *rest in (loop.counted(kin.loop_position(name)) if loop.has_limits else ())
    ]


def beyond_stops(model, q: np.ndarray, what: str) -> list[str]:
    """Allow a start beyond limits with soft stops, as runs have such states, with a note.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions [rad or m].
    what : str
        Opens the message.

    Returns
    -------
    list of str
        None or one: a note.

    Raises
    ------
    LimitError
        A coordinate is farther outside than motions press it into the stops that are added: by more than 0.2 rad or m,
        or by more than its whole range. Where the model gives the stop itself, any position is as good.
    """
    beyond = []
    for i, j, k in bounded_coordinates(model):
        lower, upper = float(model.lower[k]), float(model.upper[k])
        excess = max(lower - q[j], q[j] - upper)
        if not excess <= 0.0:
            deepest = float(np.clip(upper - lower, *DEEPEST))  # at 0.2 it came at 27 rad/s or m/s
            if not (excess <= deepest or model.has_stop(k)):
                raise _limit_error(model, i, k, float(q[j]), what, None)
            beyond.append(f"{model.joint_name(i)!r} by {excess:.3g}")
    return [f"{what} is beyond the limits of {', '.join(beyond)}: soft stops push back"] if beyond else []


def _limit_error(model, i: int, k: int, x: float, what: str, time: float | None) -> LimitError:
    name, fix = model.joint_name(i), ""
    for c in model.couplings:
        if c.joint == name and time is None:
            fix += f" Its position is {c.ratio:g} times that of joint {c.master!r}, its master."
    return _outside(name, x, float(model.lower[k]), float(model.upper[k]), what, time, fix)


def _outside(name: str, x: float, lower: float, upper: float, what: str, time: float | None, more: str = ""):
    at = "" if time is None else f" at t = {time:.6g} s"
    fix = (
        "Start inside the limits, or simulate model.without_limits()."
        if time is None
        else "Without the LimitMonitor the joint gets a soft stop there; in model.without_limits() it passes."
    ) + more
    return LimitError(
        f"simulate: {what} leaves the limits of joint {name!r}{at}: {x + 0.0:.9g} against [{lower:.6g}, {upper:.6g}]. "
        f"{fix}",
        joint=name,
        time=time,
        value=x,
        lower=lower,
        upper=upper,
    )


def with_soft_stops(model, q0: np.ndarray):
    """The model with a stop at every limit that has none, and a note on them.

    Parameters
    ----------
    model : Model
    q0 : (nq,) array
        Position at which the stops are scaled [rad or m].

    Returns
    -------
    model : Model
    notes : list of str
        None or one: the rule, the joints and the range of stiffness; the numbers are in the model.

    Notes
    -----
    Rule: with M_kk the diagonal of the joint-space inertia matrix at q0 and w = 1 / (0.02 s), the stiffness is
    k = M_kk w^2 and the damping d = 2 M_kk w: critically damped in the joint's own motion, so a joint that runs into
    the stop comes to rest within a few hundredths of a second and does not bounce. A joint that hits it with velocity v
    passes the limit by v (0.02 s) / e. In mechanisms with loops, where joints do not move alone, M_kk is the inertia
    of the closed mechanism along the joint.
    """
    bare = [(i, k) for i, _, k in bounded_coordinates(model) if not model.has_stop(k)]
    loops = {name: loop for name, loop in model.loop_joints() if loop.has_limits and not model.loop_has_stop(name)}
    if not bare and not loops:
        return model, []
    M = System(model.without_limits()).function("crba")(q0, *time_argument(model, 0.0))
    model, notes = _with_stops_in_loops(model, loops, q0, M)
    if not bare:
        return model, notes
    w, inertia = 1.0 / STOP_TIME_CONSTANT, M.diagonal()
    if has_loops(model):
        inertia = _closed_inertias(model, Kinematics(model, q0.tolist()), M, np.eye(model.nv))
    stiffness = np.array(model.limit_stiffness, dtype=float)
    damping = np.array(model.limit_damping, dtype=float)
    for _, k in bare:
        stiffness[k], damping[k] = inertia[k] * w**2, 2.0 * inertia[k] * w
    names = list(dict.fromkeys(model.joint_name(i) for i, _ in bare))
    joints = f"{len(names)} joints" if len(names) > 3 else "joint" + "s" * (len(names) > 1) + " " + ", ".join(names)
    note = (
        f"soft stops added at the limits of {joints}: critically damped, time constant {STOP_TIME_CONSTANT:g} s, "
        f"stiffness {_ranges(model, bare, stiffness)} (each in trajectory.model.limit_stiffness)"
    )
    return model.replace(limit_stiffness=stiffness, limit_damping=damping), [*notes, note]


def needs_stops(model) -> bool:
    """Whether a joint, or a loop joint, has limits and no stop."""
    joints = any(not model.has_stop(k) for _, _, k in bounded_coordinates(model))
    return joints or any(loop.has_limits and not model.loop_has_stop(name) for name, loop in model.loop_joints())


def _with_stops_in_loops(model, bare: dict, q0: np.ndarray, M: np.ndarray):
    """The model with stops in these loop joints, by the same rule."""
    if not bare:
        return model, []
    kin, w, stopped, found = Kinematics(model, q0.tolist()), 1.0 / STOP_TIME_CONSTANT, {}, []
    for name, loop in bare.items():
        inertia = np.zeros(loop.joint.nv)
        limited = [n for n, *_ in loop.counted(kin.loop_position(name))]
        inertia[limited] = _closed_inertias(model, kin, M, _dense(model, [kin.row(name, n) for n in limited]))
        stiffness, damping = (tuple((inertia * x).tolist()) for x in (w**2, 2.0 * w))
        stopped[id(loop)] = replace(loop, limit_stiffness=stiffness, limit_damping=damping)
        found.append(f"{name} ({', '.join(f'{k:.4g}' for k in stiffness if k)})")
    loops = tuple(stopped.get(id(loop), loop) for loop in model.loops)
    note = f"soft stops added at the limits of loop joints, with their stiffness: {', '.join(found)}"
    return model.replace(equipment=replace(model.equipment, loops=loops)), [note]


def _closed_inertias(model, kin, M: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Inertias of the closed mechanism along coordinates whose rates have these rows."""
    held = [(row, c) for c in model.constraints for row in c.rows(kin)]
    kept = [row for n, (row, c) in enumerate(held) if c.row_kind == "equality" and n in model.independent_rows()]
    free = rows @ (allowed := _null_space(_dense(model, kept)))
    mobilities = np.einsum("rn,rn->r", free, np.linalg.solve(allowed.T @ M @ allowed, free.T).T)
    return 1.0 / np.maximum(mobilities, 1.0 / M.diagonal().max())


def _dense(model, rows) -> np.ndarray:
    """Rows that are given by their entries, as a matrix."""
    dense = np.zeros((len(rows), model.nv))
    for n, row in enumerate(rows):
        dense[n, list(row)] = list(row.values())
    return dense


def _null_space(G: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the velocities that the rows allow."""
    _, sizes, V = np.linalg.svd(G)
    return V[np.count_nonzero(sizes > 1e-9 * max(sizes, default=0.0)) :].T


def _ranges(model, bare, stiffness: np.ndarray) -> str:
    """The smallest and largest stiffness of each unit."""
    by_unit: dict[str, list[float]] = {}
    units = model.velocity_units
    for _, k in bare:
        unit = {"rad/s": "N m/rad", "m/s": "N/m"}.get(units[k], "J")
        by_unit.setdefault(unit, []).append(float(stiffness[k]))
    ranges = []
    for unit, values in by_unit.items():
        low, high = f"{min(values):.4g}", f"{max(values):.4g}"
        ranges.append(f"{low} {unit}" if low == high else f"{low} to {high} {unit}")
    return ", ".join(ranges)


class LimitMonitor(Events):
    """Ends a run with an error where a joint leaves its limits: a component of a simulation.

    Parameters
    ----------
    model : Model
        With the limits.

    Raises
    ------
    LimitError
        In `simulate`: a joint leaves its limits, or starts outside; names the joint, the time and the position.

    Examples
    --------
    >>> import kinetree as kt
    >>> pole = kt.load("cart_pole")
    >>> monitor = kt.simulation.LimitMonitor(pole)
    >>> kt.simulate(pole, v0=[20.0, 0.0], duration=1.0, components=[monitor])
    Traceback (most recent call last):
    kinetree.errors.LimitError: simulate: the motion leaves the limits of joint 'slider' at t = ...
    """

    name = "limits"

    @checked(model=a_model)
    def __init__(self, model) -> None:
        self._model, self._bounded = model, bounded_coordinates(model)
        self._looped = any(loop.has_limits for _, loop in model.loop_joints())
        self._entries, k = [j for _, j, _ in self._bounded], [k for _, _, k in self._bounded]
        self._lower, self._upper = (np.asarray(bound, dtype=float)[k] for bound in (model.lower, model.upper))

        def inside(t, q, v):
            return float(self._margins(q, t).min()) + ROUNDING

        leaving = Event(inside, direction=-1, action=self._refuse, name="limits")
        super().__init__((leaving,) if self._bounded or self._looped else ())

    def reset(self, simulation) -> None:
        """Before the first step."""
        check_inside(self._model, simulation.q, "q0")
        if self._looped and self._margins(simulation.q, simulation.time).min() < -ROUNDING:
            self._refuse_loop(None, simulation.q, "q0")
        super().reset(simulation)

    @checked(q=an_array)
    def margin(self, q) -> np.ndarray:
        """Distance of the closest coordinate to its limit [rad or m], negative outside; infinite without limits.

        Parameters
        ----------
        q : (..., nq) array
            Positions [rad or m; quaternions unit], as rollouts give them, too.

        Returns
        -------
        (...) array
            Distance [rad or m].

        Raises
        ------
        ShapeError
        """
        q = np.asarray(q, dtype=float)
        if q.shape[-1:] != (self._model.nq,):
            raise ShapeError(f"LimitMonitor.margin: q has shape {q.shape}, expected (..., {self._model.nq}).")
        return np.min(self._margins(q), axis=-1, initial=np.inf)

    def _margins(self, q: np.ndarray, t: float = 0.0) -> np.ndarray:
        x = q[..., self._entries]
        found = np.minimum(x - self._lower, self._upper - x)
        if not self._looped:
            return found
        in_loops = [np.minimum(x - low, high - x) for _, x, low, high in limited_in_loops(self._model, q, t)]
        return np.concatenate([found, np.stack(in_loops, axis=-1)], axis=-1)

    def _refuse(self, t, q, v):
        least = int(np.argmin(self._margins(q, t)))
        if least >= len(self._bounded):
            self._refuse_loop(t, q, "the motion")
        i, j, k = self._bounded[least]
        raise _limit_error(self._model, i, k, float(q[j]), "the motion", t)

    def _refuse_loop(self, t: float | None, q, what: str):
        found = limited_in_loops(self._model, q, t or 0.0)
        name, x, lower, upper = min(found, key=lambda each: min(each[1] - each[2], each[3] - each[1]))
        raise _outside(name, float(x), float(lower), float(upper), what, t)
