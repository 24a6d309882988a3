r"""Dynamics with some contacts as equality constraints: accelerations, forces, and which contacts press, stick or slip.

Limits of joints, friction in joints and soft contacts are contacts here, too (`kinetree.integrators.contact_rows`).

Book                                          here
active contacts (section 11.5)                `Modes.active`: contacts with a force, and equations of their own
current contacts                              `Modes.current`: those whose separation acceleration is zero
eq. 11.41 with equality constraints           `ContactDynamics.held`
eq. 11.42, to find both sets                  `ContactDynamics.settled`
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinetree.contact.accelerations import AccelerationProblem
from kinetree.integrators.driven_power import driven_powers
from kinetree.integrators.system import time_argument
from kinetree.integrators.trials import TrialDynamics

DECIDED = 1e-11  # of the accelerations that add up: a separation acceleration beyond that is one
VIOLATED = 1e-9  # the same for what ends a set of contacts: beyond `DECIDED`, so that another one follows
RELEASED = 1e-6  # the same where sliding contacts are next to jamming, and nearly without a force
DEPENDENT = 1e-10  # of the largest singular value: smaller ones are rounding
STICKS = "sticks"
STILL = 1e-7  # [m/s] slower contacts do not slip, at events
BLEND = 1e-5  # [m/s]
BLENDED = 1e-3  # [m/s] slip below this speed is blended
FOLLOWED = 0.995  # cosine, of 0.1 rad, between such slip and the reference that still serves it


@dataclass(frozen=True, slots=True, eq=False)
class Slip:
    """A contact that slips.

    Attributes
    ----------
    reference : (2,) array
        Its direction where the step began.
    blend : float
        Speed along the reference that is added to slow slip, whose direction would be stiff otherwise [m/s].
    start : float
        Speed along the reference where it began, if that is negative: it ends below [m/s].
    """

    reference: np.ndarray
    blend: float
    start: float = 0.0

    @classmethod
    def along(cls, u: np.ndarray, speed: float) -> Slip:
        """Slip in the direction of a vector, at a speed."""
        return cls(u / np.hypot(*u), BLEND if speed < BLENDED else 0.0)

    @classmethod
    def begun(cls, pull: np.ndarray, u: np.ndarray) -> Slip:
        """Slip that begins in the direction of a vector, of a contact whose velocity is zero but for rounding."""
        reference = pull / np.hypot(*pull)
        return cls(reference, BLEND, min(float(u @ reference), 0.0))

    def direction(self, u: np.ndarray) -> np.ndarray:
        """The direction at a velocity, on the side of the reference: it goes on through the event of a reversal."""
        w = u + self.blend * self.reference
        size = np.hypot(*w)
        if not size > 0.0:
            return self.reference
        return w / size if w @ self.reference >= 0.0 else -w / size

    def turned(self, u: np.ndarray) -> Slip:
        """With the direction of a velocity as the reference; of slow slip only where it has turned away from it.

        A reference that followed slow slip would put rounding of its direction into the forces of the next step.
        """
        speed, along = np.hypot(*u), u @ self.reference
        stays = along <= 0.0 or (self.blend > 0.0 and speed < BLENDED and along > FOLLOWED * speed)
        return self if stays else Slip.along(u, speed)


@dataclass(frozen=True, slots=True, eq=False)
class Modes:
    """A set of contacts that stays as it is until an event.

    Attributes
    ----------
    current : tuple of int
        Contacts that touch and do not separate.
    active : dict
        Those of them with a force: number to "sticks", to a `Slip`, or to None without friction.
    """

    current: tuple[int, ...] = ()
    active: dict = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Here:
    """A state with its contacts.

    Attributes
    ----------
    t, q, w : float, (nq,) and (nw,) arrays
    free : (nw,) array
        Rates of w without contact forces.
    J : (3*n, nv) array
    bias : (3*n,) array
        Rates of the contact velocities without accelerations [m/s^2].
    gaps : (n,) array
        [m]
    u : (n, 3) array
        Contact velocities in contact axes [m/s].
    loads : (n,) array
        Forces of soft contacts, and bounds of friction in joints [N or N m].
    """

    t: float
    q: np.ndarray
    w: np.ndarray
    free: np.ndarray
    J: np.ndarray
    bias: np.ndarray
    gaps: np.ndarray
    u: np.ndarray
    loads: np.ndarray


class ContactDynamics:
    """The dynamics of a system with contacts.

    Parameters
    ----------
    system : System
    rows : ContactRows
    tau, f_ext : callable
        As for `TrialDynamics`.
    """

    def __init__(self, system, rows, tau, f_ext) -> None:
        self._system, self.rows, self.friction, self._tau, self._f_ext = system, rows, rows.friction, tau, f_ext
        self.trials, self._nv = TrialDynamics(system, tau, f_ext), system.model.nv
        self._is_tree = not (system.model.constraints or system.model.armatures)
        self._inertia = system.function("crba", checks=False) if self._is_tree else None
        self._dynamics = None if self._is_tree else system.function(system.rate, checks=False)

    def at(self, t, q, w) -> Here:
        """The state with its contacts."""
        return Here(t, q, w, self.trials.acceleration(t, q, w), *self.rows.at(t, q, w[: self._nv]))

    def gaps(self, t, q, v) -> tuple[np.ndarray, np.ndarray]:
        """Gaps and contact velocities alone."""
        _, _, gaps, u, _ = self.rows.at(t, q, v)
        return gaps, u

    def response(self, here: Here, forces: np.ndarray) -> np.ndarray:
        """Joint accelerations by these joint forces, columns (nv, m)."""
        if not forces.shape[1]:
            return np.zeros_like(forces)
        if self._is_tree:
            return np.linalg.solve(self._mass(here), forces)
        tau, more = self._tau(here.t, here.q, here.w), self._f_ext(here.t)
        a = np.array([self._dynamics(here.q, here.w, tau + f, *more) for f in forces.T])
        return (a - here.free).T[: self._nv]

    def driven(self, here: Here, rate, forces) -> np.ndarray:
        """Powers of joints that depend on time: by the motion, and by these rates of w and contact forces (n, 3)."""
        own = forces[: self.rows.count].ravel()
        return driven_powers(self._system, here.q, here.w, rate[: self._nv], own, self._f_ext(here.t))

    def _mass(self, here: Here) -> np.ndarray:
        return self._inertia(here.q, *time_argument(self._system.model, here.t))

    def held(self, here: Here, modes: Modes) -> tuple[np.ndarray, np.ndarray]:
        """Rates of w while the active contacts are equality constraints, and the contact forces (n, 3)."""
        if not modes.active or not np.isfinite(here.free).all():
            return here.free, np.zeros_like(here.u)
        forces = self._known(here, modes)
        rows, directions = self._equations(here, modes)
        response = self.response(here, here.J.T @ np.vstack((directions, forces.ravel())).T)
        rate = here.free.copy()
        rate[: self._nv] += response[:, -1]
        if rows:
            right = -(here.J[rows] @ rate[: self._nv] + here.bias[rows])
            x = _least(here.J[rows] @ response[:, :-1], right)
            forces += (directions.T @ x).reshape(-1, 3)
            rate[: self._nv] += response[:, :-1] @ x
        return rate, forces

    def _known(self, here: Here, modes: Modes) -> np.ndarray:
        """Forces that the state gives (n, 3): of soft contacts, and friction of these and of joints that move."""
        forces = np.zeros_like(here.u)
        for i, mode in modes.active.items():
            if self.rows.rigid[i]:
                continue
            if i < self.rows.count:
                forces[i, 2] = here.loads[i]
            if isinstance(mode, Slip):
                forces[i, :2] = -self.friction[i] * here.loads[i] * mode.direction(here.u[i, :2])
        return forces

    def _equations(self, here: Here, modes: Modes) -> tuple[list[int], np.ndarray]:
        """Rows of the equality constraints, and the unit forces that go with them, (m, 3n)."""
        rows, directions = [], []
        for i, mode in modes.active.items():
            if mode == STICKS:
                own = [3 * i + k for k in self.rows.own[i]]
                rows += own
                directions += np.eye(len(here.bias))[own].tolist()
                continue
            if not self.rows.rigid[i]:
                continue
            direction = np.zeros(len(here.bias))
            direction[3 * i + 2] = 1.0
            if mode is not None:
                direction[3 * i : 3 * i + 2] = -self.friction[i] * mode.direction(here.u[i, :2])
            rows.append(3 * i + 2)
            directions.append(direction)
        return rows, np.array(directions).reshape(-1, len(here.bias))

    def is_consistent(self, here: Here, modes: Modes) -> bool:
        """Whether the forces of these modes press, those of sticking contacts are in their cones, and no contact sinks.

        Where contacts are redundant their forces are not unique: then the accelerations decide.
        """
        rate, forces = self.held(here, modes)
        scale, force_scale = self._scales(here)
        sinking = here.J @ rate[: self._nv] + here.bias
        worst = 0.0
        for i in modes.current:
            t, n = np.hypot(*forces[i, :2]), self._pressure(here, forces, i)
            if self.rows.rigid[i]:
                worst = max(worst, -sinking[3 * i + 2] / scale)
                if i in modes.active:
                    worst = max(worst, -n / force_scale)
            if modes.active.get(i) == STICKS:
                worst = max(worst, (t - self.friction[i] * n) / force_scale)
        if worst <= VIOLATED:
            return True
        found = self.settled(here, modes.current) if self._shares(here, modes) else None
        return found is not None and bool(np.abs(found[1] - rate).max() <= VIOLATED * np.abs(here.free).max())

    def _pressure(self, here: Here, forces, i: int) -> float:
        """The force of contact i that bounds its friction."""
        return float(forces[i, 2] if self.rows.rigid[i] else here.loads[i])

    def _shares(self, here: Here, modes: Modes) -> bool:
        """Whether the forces of active contacts depend on each other."""
        _, directions = self._equations(here, modes)
        return _rank(here.J.T @ directions.T) < len(directions)

    def _scales(self, here: Here) -> tuple[float, float]:
        """The size of the accelerations that add up at contacts [m/s^2], and of forces that give these [N]."""
        scale = float((np.abs(here.J) @ np.abs(here.free[: self._nv]) + np.abs(here.bias)).max(initial=0.0))
        own = here.J[[3 * i + rows[-1] for i, rows in enumerate(self.rows.own) if rows]]
        inertia = self._mass(here) if self._is_tree else np.eye(self._nv)
        lightest = np.einsum("nk,kn->n", own, np.linalg.solve(inertia, own.T)).max(initial=0.0)
        return scale or 1.0, (scale or 1.0) / (lightest or 1.0)

    def problem(self, here: Here, some) -> tuple[AccelerationProblem, np.ndarray, np.ndarray]:
        """The problem of accelerations of contacts that touch, the response to their forces, and forces that are known.

        Those are of soft contacts, and of friction where these or joints move. Friction of a soft contact or a joint at
        rest is a cone whose normal force is the load: its normal moves by that force alone, and rests under the load.
        """
        some = list(some)
        rows = [3 * i + k for i in some for k in range(3)]
        J, bias, given = here.J[rows], here.bias[rows], [n for n, i in enumerate(some) if not self.rows.rigid[i]]
        response = self.response(here, J.T)
        known = self._known(here, Modes(tuple(some), {some[n]: self._moving(here, some[n]) for n in given}))[some]
        d = J @ (here.free[: self._nv] + response @ known.ravel()) + bias
        M, u, friction = J @ response, here.u[some, :2].copy(), self.friction[some].copy()
        M = 0.5 * (M + M.T)
        for n in given:
            mobility, i = float(np.diagonal(M)[3 * n : 3 * n + 2].max()), 3 * n + 2
            M[i], M[:, i], M[i, i] = 0.0, 0.0, mobility or 1.0
            d[i], u[n] = -M[i, i] * here.loads[some[n]], 0.0
            if self._moving(here, some[n]) is not None:
                friction[n] = 0.0
        return AccelerationProblem.of(M, d, u, friction, STILL), response, known

    def _moving(self, here: Here, i: int) -> Slip | None:
        """The slip of a contact that moves."""
        speed = np.hypot(*here.u[i, :2])
        return Slip.along(here.u[i, :2], speed) if speed > STILL and self.friction[i] > 0.0 else None

    def settled(self, here: Here, some) -> tuple[Modes, np.ndarray, np.ndarray] | None:
        """The modes that follow at a state where these contacts touch, the rates, and the forces; None without any.

        Source: Featherstone (2008), section 11.5: the current contacts are those whose separation acceleration is zero,
        the active ones a basis of their normals with every contact that has a force.
        """
        some = tuple(some)
        if not some:
            return Modes(), here.free, np.zeros_like(here.u)
        problem, response, known = self.problem(here, some)
        found, accelerations, solved = problem.solve()
        if not solved:
            return None
        found[~self.rows.rigid[list(some)], 2] = 0.0
        found = found + known
        scale, force_scale = self._scales(here)
        rate, forces = here.free.copy(), np.zeros_like(here.u)
        rate[: self._nv] += response @ found.ravel()
        forces[list(some)] = found
        current, active = [], {}
        for place, i in enumerate(some):
            presses = not self.rows.rigid[i] or found[place, 2] > DECIDED * force_scale
            if not presses and accelerations[place, 2] > DECIDED * scale:
                continue
            current.append(i)
            if presses:
                load = self._pressure(here, forces, i)
                active[i] = self._mode(i, here.u[i, :2], found[place], accelerations[place], scale, load)
        modes = self._independent(here, Modes(tuple(current), active), forces)
        return self._completed(here, modes), rate, forces

    def released(self, here: Here, some) -> tuple[Modes, np.ndarray, np.ndarray] | None:
        """The same where sliding contacts have lost their forces; None if they would sink."""
        slides = [i for i in some if self.rows.rigid[i] and self._moving(here, i) is not None]
        found = self.settled(here, [i for i in some if i not in slides])
        if found is None:
            return None
        sinking = (here.J @ found[1][: self._nv] + here.bias)[[3 * i + 2 for i in slides]]
        return found if sinking.min(initial=0.0) >= -RELEASED * self._scales(here)[0] else None

    def _mode(self, i, u, force, acceleration, scale, load):
        """Whether a contact with a force sticks or slips."""
        if not self.friction[i] > 0.0:
            return None
        if np.hypot(*u) > STILL:
            return Slip.along(u, np.hypot(*u))
        size = np.hypot(*force[:2])
        slips = np.hypot(*acceleration[:2])
        if not load > 0.0 and slips > DECIDED * scale:  # the force of a soft contact begins
            return Slip.begun(acceleration[:2], u)
        inside = self.friction[i] * load - size > slips * load / scale  # one of both is zero but for rounding
        if inside or slips <= DECIDED * scale or not size > 0.0:
            return STICKS
        return Slip.begun(-force[:2], u)

    def _independent(self, here, modes: Modes, forces) -> Modes:
        """A basic solution: contacts that slip and whose forces depend on each other lose some, the others take it."""
        given = {i: mode for i, mode in modes.active.items() if not self.rows.rigid[i]}
        active = {i: mode for i, mode in modes.active.items() if i not in given}
        if any(mode == STICKS for mode in active.values()):
            return modes
        sizes = {i: forces[i, 2] for i in active}
        while len(active) > 1:
            _, directions = self._equations(here, Modes(modes.current, active))
            columns = here.J.T @ directions.T
            if _rank(columns) == columns.shape[1]:
                break
            z = np.linalg.svd(columns)[2][-1]
            z = z if z.max() >= -z.min() else -z
            names = list(active)
            steps = [sizes[i] / z_i if z_i > 0.0 else np.inf for i, z_i in zip(names, z, strict=True)]
            least = int(np.argmin(steps))
            for i, z_i in zip(names, z, strict=True):
                sizes[i] -= steps[least] * z_i
            del active[names[least]]
        return Modes(modes.current, active | given)

    def _completed(self, here, modes: Modes) -> Modes:
        """With current contacts without a force whose normals the active ones do not have among theirs."""
        active, rows = dict(modes.active), [3 * i + 2 for i in modes.active if self.rows.rigid[i]]
        rank = _rank(here.J[rows].T)
        for i in modes.current:
            if i in active or not self.rows.rigid[i] or _rank(here.J[[*rows, 3 * i + 2]].T) == rank:
                continue
            active[i] = (self._moving(here, i) or STICKS) if self.friction[i] > 0.0 else None
            rows.append(3 * i + 2)
            rank += 1
        return Modes(modes.current, active)

    def kept(self, here: Here, modes: Modes) -> tuple[np.ndarray, np.ndarray]:
        """Displacement (nv,) to the surfaces of active contacts, and velocities (nv,) that obey their equations."""
        v = here.w[: self._nv]
        if not modes.active:
            return np.zeros(self._nv), v
        pressing = [i for i in modes.active if self.rows.rigid[i]]
        rows, _ = self._equations(here, modes)
        if not rows:
            return np.zeros(self._nv), v
        J = here.J[rows]
        response = self.response(here, J.T)
        A = J @ response
        v = v - response @ _least(A, here.u.ravel()[rows])
        places = [rows.index(3 * i + 2) for i in pressing]
        shift = -response[:, places] @ _least(A[np.ix_(places, places)], here.gaps[pressing])
        return shift, v


def _least(A, b) -> np.ndarray:
    """The shortest solution of A x = b."""
    if len(A) == 1:
        return b / A[0, 0] if A[0, 0] != 0.0 else np.zeros(1)
    return np.linalg.lstsq(A, b, rcond=DEPENDENT)[0]


def _rank(columns) -> int:
    sizes = np.linalg.svd(columns, compute_uv=False) if columns.size else np.zeros(0)
    return int(np.count_nonzero(sizes > DEPENDENT * sizes.max(initial=0.0)))
