r"""Dynamics with some contacts as equality constraints: accelerations, forces, and which contacts press, stick or slip.

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
from kinetree.contact.kinematics import CONTACT_KINEMATICS
from kinetree.integrators.trials import TrialDynamics

DECIDED = 1e-11  # of the accelerations that add up: a separation acceleration beyond that is one
VIOLATED = 1e-9  # the same for what ends a set of contacts: beyond `DECIDED`, so that another one follows
RELEASED = 1e-6  # the same where sliding contacts are next to jamming, and nearly without a force
DEPENDENT = 1e-10  # of the largest singular value: smaller ones are rounding
STICKS = "sticks"
STILL = 1e-7  # [m/s] slower contacts do not slip, at events
BLEND = 1e-5  # [m/s]
BLENDED = 1e-3  # [m/s] slip below this speed is blended


@dataclass(frozen=True, slots=True, eq=False)
class Slip:
    """A contact that slips.

    Attributes
    ----------
    reference : (2,) array
        Its direction where the step began.
    blend : float
        Speed along the reference that is added to slow slip, whose direction would be stiff otherwise [m/s].
    """

    reference: np.ndarray
    blend: float

    @classmethod
    def along(cls, u: np.ndarray, speed: float) -> Slip:
        """Slip in the direction of a vector, at a speed."""
        return cls(u / np.hypot(*u), BLEND if speed < BLENDED else 0.0)

    def direction(self, u: np.ndarray) -> np.ndarray:
        """The direction at a velocity, on the side of the reference: it goes on through the event of a reversal."""
        w = u + self.blend * self.reference
        size = np.hypot(*w)
        if not size > 0.0:
            return self.reference
        return w / size if w @ self.reference >= 0.0 else -w / size

    def turned(self, u: np.ndarray) -> Slip:
        """With the direction of a velocity as the reference."""
        return Slip.along(u, np.hypot(*u)) if u @ self.reference > 0.0 else self


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
    """

    t: float
    q: np.ndarray
    w: np.ndarray
    free: np.ndarray
    J: np.ndarray
    bias: np.ndarray
    gaps: np.ndarray
    u: np.ndarray


class ContactDynamics:
    """The dynamics of a system with contacts.

    Parameters
    ----------
    system : System
    friction : (n,) array
        Coefficients of all candidate points.
    tau, f_ext : callable
        As for `TrialDynamics`.
    """

    def __init__(self, system, friction, tau, f_ext) -> None:
        self._system, self.friction, self._tau, self._f_ext = system, friction, tau, f_ext
        self.trials, self._nv = TrialDynamics(system, tau, f_ext), system.model.nv
        self._kinematics = system.function(CONTACT_KINEMATICS, checks=False) if len(friction) else None
        self._is_tree = not (system.model.constraints or system.model.armatures)
        self._inertia = system.function("crba", checks=False) if self._is_tree else None
        self._dynamics = None if self._is_tree else system.function(system.rate, checks=False)

    def at(self, t, q, w) -> Here:
        """The state with its contacts."""
        free, v = self.trials.acceleration(t, q, w), w[: self._nv]
        if self._kinematics is None:
            none = np.zeros(0)
            return Here(t, q, w, free, np.zeros((0, self._nv)), none, none, none.reshape(0, 3))
        J, bias, gaps = self._kinematics(q, v)
        return Here(t, q, w, free, J, bias, gaps, (J @ v).reshape(-1, 3))

    def gaps(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        """Gaps and contact velocities alone."""
        J, _, gaps = self._kinematics(q, v)
        return gaps, (J @ v).reshape(-1, 3)

    def response(self, here: Here, forces: np.ndarray) -> np.ndarray:
        """Joint accelerations by these joint forces, columns (nv, m)."""
        if not forces.shape[1]:
            return np.zeros_like(forces)
        if self._is_tree:
            return np.linalg.solve(self._inertia(here.q), forces)
        tau, more = self._tau(here.t, here.q, here.w), self._f_ext(here.t)
        a = np.array([self._dynamics(here.q, here.w, tau + f, *more) for f in forces.T])
        return (a - here.free).T[: self._nv]

    def held(self, here: Here, modes: Modes) -> tuple[np.ndarray, np.ndarray]:
        """Rates of w while the active contacts are equality constraints, and the contact forces (n, 3)."""
        forces = np.zeros_like(here.u)
        if not modes.active or not np.isfinite(here.free).all():
            return here.free, forces
        rows, directions = self._equations(here, modes)
        response = self.response(here, here.J.T @ directions.T)
        right = -(here.J[rows] @ here.free[: self._nv] + here.bias[rows])
        x = _least(here.J[rows] @ response, right)
        forces = (directions.T @ x).reshape(-1, 3)
        rate = here.free.copy()
        rate[: self._nv] += response @ x
        return rate, forces

    def _equations(self, here: Here, modes: Modes) -> tuple[list[int], np.ndarray]:
        """Rows of the equality constraints, and the unit forces that go with them, (m, 3n)."""
        rows, directions = [], []
        for i, mode in modes.active.items():
            if mode == STICKS:
                rows += range(3 * i, 3 * i + 3)
                directions += np.eye(len(here.bias))[3 * i : 3 * i + 3].tolist()
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
            t, n = np.hypot(*forces[i, :2]), forces[i, 2]
            worst = max(worst, -sinking[3 * i + 2] / scale)
            if i in modes.active:
                worst = max(worst, -n / force_scale)
            if modes.active.get(i) == STICKS:
                worst = max(worst, (t - self.friction[i] * n) / force_scale)
        if worst <= VIOLATED:
            return True
        found = self.settled(here, modes.current) if self._shares(here, modes) else None
        return found is not None and bool(np.abs(found[1] - rate).max() <= VIOLATED * np.abs(here.free).max())

    def _shares(self, here: Here, modes: Modes) -> bool:
        """Whether the forces of active contacts depend on each other."""
        _, directions = self._equations(here, modes)
        return _rank(here.J.T @ directions.T) < len(directions)

    def _scales(self, here: Here) -> tuple[float, float]:
        """The size of the accelerations that add up at contacts [m/s^2], and of forces that give these [N]."""
        scale = float((np.abs(here.J) @ np.abs(here.free[: self._nv]) + np.abs(here.bias)).max(initial=0.0))
        normal = here.J[2::3]
        inertia = self._inertia(here.q) if self._is_tree else np.eye(self._nv)
        lightest = np.einsum("nk,kn->n", normal, np.linalg.solve(inertia, normal.T)).max(initial=0.0)
        return scale or 1.0, (scale or 1.0) / (lightest or 1.0)

    def problem(self, here: Here, some) -> tuple[AccelerationProblem, np.ndarray]:
        """The problem of accelerations of contacts that touch, and the response to their forces."""
        rows = [3 * i + k for i in some for k in range(3)]
        J = here.J[rows]
        response, d = self.response(here, J.T), J @ here.free[: self._nv] + here.bias[rows]
        M = J @ response
        u, friction = here.u[list(some), :2], self.friction[list(some)]
        return AccelerationProblem.of(0.5 * (M + M.T), d, u, friction, STILL), response

    def settled(self, here: Here, some) -> tuple[Modes, np.ndarray, np.ndarray] | None:
        """The modes that follow at a state where these contacts touch, the rates, and the forces; None without any.

        Source: Featherstone (2008), section 11.5: the current contacts are those whose separation acceleration is zero,
        the active ones a basis of their normals with every contact that has a force.
        """
        some = tuple(some)
        if not some:
            return Modes(), here.free, np.zeros_like(here.u)
        problem, response = self.problem(here, some)
        found, accelerations, solved = problem.solve()
        if not solved:
            return None
        scale, force_scale = self._scales(here)
        rate, forces = here.free.copy(), np.zeros_like(here.u)
        rate[: self._nv] += response @ found.ravel()
        forces[list(some)] = found
        current, active = [], {}
        for place, i in enumerate(some):
            presses = found[place, 2] > DECIDED * force_scale
            if not presses and accelerations[place, 2] > DECIDED * scale:
                continue
            current.append(i)
            if presses:
                active[i] = self._mode(i, here.u[i, :2], found[place], accelerations[place], scale)
        modes = self._independent(here, Modes(tuple(current), active), forces)
        return self._completed(here, modes), rate, forces

    def released(self, here: Here, some) -> tuple[Modes, np.ndarray, np.ndarray] | None:
        """The same where sliding contacts have lost their forces; None if they would sink."""
        slides = [i for i in some if self.friction[i] > 0.0 and np.hypot(*here.u[i, :2]) > STILL]
        found = self.settled(here, [i for i in some if i not in slides])
        if found is None:
            return None
        sinking = (here.J @ found[1][: self._nv] + here.bias)[[3 * i + 2 for i in slides]]
        return found if sinking.min(initial=0.0) >= -RELEASED * self._scales(here)[0] else None

    def _mode(self, i, u, force, acceleration, scale):
        """Whether a contact with a force sticks or slips."""
        if not self.friction[i] > 0.0:
            return None
        if np.hypot(*u) > STILL:
            return Slip.along(u, np.hypot(*u))
        size = np.hypot(*force[:2])
        slips = np.hypot(*acceleration[:2])
        inside = self.friction[i] * force[2] - size > slips * force[2] / scale  # one of both is zero but for rounding
        if inside or slips <= DECIDED * scale or not size > 0.0:
            return STICKS
        return Slip.along(-force[:2], 0.0)

    def _independent(self, here, modes: Modes, forces) -> Modes:
        """A basic solution: contacts that slip and whose forces depend on each other lose some, the others take it."""
        active = dict(modes.active)
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
        return Modes(modes.current, active)

    def _completed(self, here, modes: Modes) -> Modes:
        """With current contacts without a force whose normals the active ones do not have among theirs."""
        active, rows = dict(modes.active), [3 * i + 2 for i in modes.active]
        rank = _rank(here.J[rows].T)
        for i in modes.current:
            if i in active or _rank(here.J[[*rows, 3 * i + 2]].T) == rank:
                continue
            speed = np.hypot(*here.u[i, :2])
            moves = Slip.along(here.u[i, :2], speed) if speed > STILL else STICKS
            active[i] = moves if self.friction[i] > 0.0 else None
            rows.append(3 * i + 2)
            rank += 1
        return Modes(modes.current, active)

    def kept(self, here: Here, modes: Modes) -> tuple[np.ndarray, np.ndarray]:
        """Displacement (nv,) to the surfaces of active contacts, and velocities (nv,) that obey their equations."""
        v = here.w[: self._nv]
        if not modes.active:
            return np.zeros(self._nv), v
        normals = [3 * i + 2 for i in modes.active]
        rows, _ = self._equations(here, modes)
        J = here.J[rows]
        response = self.response(here, J.T)
        A = J @ response
        v = v - response @ _least(A, J @ v)
        places = [rows.index(row) for row in normals]
        shift = -response[:, places] @ _least(A[np.ix_(places, places)], here.gaps[list(modes.active)])
        return shift, v


def _least(A, b) -> np.ndarray:
    """The shortest solution of A x = b."""
    if len(A) == 1:
        return b / A[0, 0] if A[0, 0] != 0.0 else np.zeros(1)
    return np.linalg.lstsq(A, b, rcond=DEPENDENT)[0]


def _rank(columns) -> int:
    sizes = np.linalg.svd(columns, compute_uv=False) if columns.size else np.zeros(0)
    return int(np.count_nonzero(sizes > DEPENDENT * sizes.max(initial=0.0)))
