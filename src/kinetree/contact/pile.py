"""Piles: many rigid bodies without joints, in contact with each other and with planes."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_count, a_number_not_negative, a_positive_number, checked, number, refuse
from kinetree.compiler.row_function import RowFunction
from kinetree.contact.pile_bodies import bodies_of, finite, poses_of
from kinetree.contact.pile_pairs import Neighbors
from kinetree.contact.pile_rows import FRAME, advance, body_frame
from kinetree.contact.pile_run import PileContacts, PileRun
from kinetree.contact.pile_solver import NEVER, Contacts
from kinetree.errors import ModelError, SimulationError
from kinetree.spatial.rotations import quaternion_to_rotation

CORRECTION, FASTEST = 0.2, 1.0
"""Part of a penetration that a step undoes, and the velocity at which it does at most [m/s]."""

DEEPEST = 0.1
"""Part of the smaller body's radius that bodies may be in each other at the start."""

ROUNDS = 10
"""Impacts that follow from each other in one step."""

MOST_STEPS = 10**9
"""Steps of one call: a year of small piles."""

_POSE = "x[3] quaternion[4]"
BODY_FRAME = RowFunction(
    "frames of bodies", body_frame, f"{_POSE} v[3] w[3] scale[4]", f"frame[{FRAME}] z[6]"
)  # fmt: skip
ADVANCE = RowFunction(
    "poses of bodies",
    advance,
    f"{_POSE} scale[4] frame[{FRAME}] z[6] start[3] in_contact step",
    "x_next[3] quaternion_next[4] v[3] w[3]",
)


class Pile:
    """Many rigid bodies in contact with each other and with planes, stepped together.

    Parameters
    ----------
    shapes : Geometry or sequence of Geometry
        "sphere", "box", "capsule", "cylinder" or "ellipsoid", of constant density; one for all bodies, or one each.
    positions : (n, 3) array_like
        Centers of mass, world coordinates [m].
    orientations : (n, 4) array_like, optional
        Quaternions (w, x, y, z) of the shapes in the world [1].
    velocities, angular_velocities : (n, 3) array_like, optional
        World axes [m/s], [rad/s]; default zero.
    density : float or (n,) array_like, optional
        [kg/m^3]; default 1000, where no mass is given.
    mass : float or (n,) array_like, optional
        [kg].
    fixed : (n,) array_like of bool, optional
        Bodies that do not move.
    friction : float or (n,) array_like
        Coefficient of Coulomb friction [1]; of two bodies the larger one holds, as in MuJoCo.
    restitution : float or (n,) array_like
        Coefficient of restitution [1], likewise.
    ground : bool, float, Ground or sequence of them, optional
        Planes; their coefficients are those of contacts with them. True: a floor at z = 0; a number: its height [m];
        None or False: none.
    gravity : (3,) array_like
        [m/s^2].
    softness : float
        Normal velocity by which a contact yields to its own impulse, over the one that the impulse causes [1]; 0 is
        rigid. Bodies at rest penetrate by about 5 softness g dt^2 for each that they carry, 4e-9 m by default at 2 ms.
        Between rigid flat faces rounding decides which points carry, which tall stacks do not bear.
    tolerance : float
        Sweeps end when none of their visits changes the velocity of a contact by more [m/s].
    sweeps : int
        At most so many in one step.

    Attributes
    ----------
    time : float
        [s].
    positions : (n, 3) array
        Centers of mass [m]; like the rest of the state new arrays after each step.
    orientations : (n, 4) array
        Unit quaternions [1].
    velocities, angular_velocities : (n, 3) array
        World axes [m/s], [rad/s].
    forces, torques : (n, 3) array
        Applied at the centers of mass, world axes [N], [N m]; zero at first, to be set as wanted.
    mass : (n,) array
        [kg].
    sweeps_done : int
        Of the last step.

    Raises
    ------
    ArgumentError
        An argument has another shape, or is out of its range.
    ModelError
        Bodies are in each other by more than a tenth of the smaller one's radius: the message names both.
    UnsupportedError
        There is no contact law for two of the shapes.

    Notes
    -----
    One step: candidate points of all near pairs; impacts; velocities under forces; impulses that satisfy Signorini's
    condition on ``w_n + gap/dt`` and Coulomb's law on the true cone, by block Gauss-Seidel from the impulses of the
    last step; positions. Of a penetration a step undoes a fifth, at 1 m/s at most, so bodies that start in each other
    are pushed apart slowly. Where a contact with restitution is about to close faster than gravity acts in two steps,
    its velocity is reversed before forces act, with the speeds that it would have at its surface; slower ones are
    plastic. Bodies turn with constant angular momentum, and move with their mean velocity while no contact acts on
    them, which is exact under constant forces.

    *Source*: M. Anitescu, F. Potra, Formulating dynamic multi-rigid-body contact problems with friction (1997), for the
    velocity-level step; J. J. Moreau, Numerical aspects of the sweeping process (1999), for restitution in steps.

    *Identities*: without contact linear and angular momentum are constant; contacts between bodies keep them, too.

    Examples
    --------
    >>> import kinetree as kt
    >>> pile = kt.contact.Pile(kt.model.Geometry("sphere", (0.1,)), [[0.0, 0.0, 0.1], [0.0, 0.0, 0.3]], mass=1.0)
    >>> run = pile.advance(0.1, dt=1e-3)
    >>> (pile.contacts.impulses[:, 2] / 1e-3).round(6).tolist()
    [9.81, 19.62]
    """

    @checked(softness=a_number_not_negative, tolerance=a_positive_number, sweeps=a_count)
    def __init__(
        self,
        shapes,
        positions,
        orientations=None,
        *,
        velocities=None,
        angular_velocities=None,
        density=None,
        mass=None,
        fixed=None,
        friction=0.8,
        restitution=0.0,
        ground=True,
        gravity=(0.0, 0.0, -9.81),
        softness: float = 1e-4,
        tolerance: float = 1e-6,
        sweeps: int = 200,
    ) -> None:
        self.positions, self.orientations = poses_of(positions, orientations)
        n = len(self.positions)
        density = 1000.0 if density is None and mass is None else density
        self._bodies = bodies = bodies_of(shapes, n, mass, density, fixed, friction, restitution, ground)
        self.velocities, self.angular_velocities = (
            np.zeros((n, 3)) if given is None else finite(name, given, (n, 3))
            for name, given in (("velocities", velocities), ("angular_velocities", angular_velocities))
        )
        self.mass, self.gravity = bodies.mass, finite("gravity", gravity, (3,))
        self.forces, self.torques = np.zeros((n, 3)), np.zeros((n, 3))
        self.softness, self.tolerance, self.sweeps = float(softness), float(tolerance), int(sweeps)
        self.time, self.sweeps_done = 0.0, 0
        # After the bodies come the planes, then the body of contacts that fill a group of visits.
        self._total = n + len(bodies.ground) + 1
        self._frames, self._z = np.zeros((self._total, FRAME)), np.zeros((self._total, 6))
        self._frames[n:-1, :12] = bodies.plane_poses()
        self._frames[-1, [3, 7, 11, 12, 13, 14, 15]] = 1.0
        moves = np.zeros(self._total, bool)
        moves[:n] = bodies.moves
        self._neighbors = Neighbors(bodies.kinds, bodies.sizes, bodies.radii, moves, self._frames)
        self._candidates, self._keys, self._impulses = None, np.empty(0, np.int64), np.empty((0, 3))
        self._make_calls()
        self._place_bodies()
        self._detect(np.zeros(self._total))
        self._refuse_deep()

    def __len__(self) -> int:
        return len(self._bodies)

    @checked(dt=a_positive_number)
    def step(self, dt: float = 1e-3) -> None:
        """Take one step.

        Parameters
        ----------
        dt : float
            [s].

        Raises
        ------
        SimulationError
            The state is no longer finite; it stays as it was before the step.
        """
        n, z, scale = len(self), self._z, self._bodies.scale
        self._place_bodies()
        acceleration = self._accelerations()
        self._detect(self._reach(dt, acceleration))
        contacts, gap = self._contacts, self._points[:, 0]
        start = self.velocities
        if self._rebounds and self._impacts(dt, acceleration):
            start = z[:n, :3] * self._frames[:n, 12:13]
        z[:n, :3] += dt * scale[:, :1] * acceleration
        if self.torques.any():
            z[:n, 3:] += dt * self._frames[:n, 13:] * np.einsum("nij,ni->nj", self._rotations(), self.torques)
        contacts.set_offset(np.where(gap > 0.0, gap / dt, np.maximum(CORRECTION * gap / dt, -FASTEST)))
        contacts.start(self._remembered())
        self.sweeps_done = contacts.solve(self.tolerance, self.sweeps)
        after = self._advanced(dt, start)
        if not np.isfinite(after[2]).all():
            k = int(np.argmin(np.isfinite(after[2]).all(axis=1)))
            raise SimulationError(
                f"pile at t = {self.time:.6g} s: the velocity of body {k} is not finite after a step."
            )
        self._impulses = contacts.world_impulses()
        self.positions, self.orientations, self.velocities, self.angular_velocities = after
        self.time += dt

    def advance(self, duration: float, dt: float = 1e-3, every: int = 1) -> PileRun:
        """Take steps for some time, and record.

        Parameters
        ----------
        duration : float
            [s]; rounded to whole steps.
        dt : float
            [s].
        every : int
            Steps from one recorded state to the next.

        Returns
        -------
        PileRun
            The first state is the present one.
        """
        number("Pile.advance: duration", duration, "a time in seconds, not negative", least=0.0)
        a_positive_number("Pile.advance: dt", dt)
        a_count("Pile.advance: every", every)
        steps = round(min(duration / dt, 2.0 * MOST_STEPS))
        if steps > MOST_STEPS:
            refuse("Pile.advance: duration", duration, f"at most {MOST_STEPS} steps of dt = {dt:g} s in one call")
        rows = [self._record()]
        for k in range(1, steps + 1):
            self.step(dt)
            if k % every == 0:
                rows.append(self._record())
        return PileRun(*map(np.array, zip(*rows, strict=True)))

    @property
    def contacts(self) -> PileContacts:
        """The contacts of the last step, also open ones that were about to close."""
        bodies = np.where(self._pair >= len(self), len(self) - 1 - self._pair, self._pair)
        return PileContacts(bodies, self._points[:, 0], self._points[:, 1:4], self._points[:, 4:], self._impulses)

    @property
    def residual(self) -> float:
        """How far the last step is from Signorini's condition and Coulomb's law: the largest natural map [m/s]."""
        return float(self._contacts.natural_map().max(initial=0.0)) if self.time else 0.0

    def kinetic_energy(self) -> float:
        """Of all bodies that move [J]."""
        R = np.array(quaternion_to_rotation(self.orientations.T).matrix.rows)
        w = np.einsum("ijn,nj->ni", R, self.angular_velocities)
        scale = self._bodies.scale
        return 0.5 * float(((scale[:, :1] * self.velocities) ** 2).sum() + ((scale[:, 1:] * w) ** 2).sum())

    def potential_energy(self) -> float:
        """Of gravity, zero at the world's origin [J]."""
        return -float((self.mass * self._bodies.moves) @ (self.positions @ self.gravity))

    def _record(self) -> tuple:
        state = self.positions, self.orientations, self.velocities, self.angular_velocities
        return self.time, *state, self.kinetic_energy(), self.potential_energy()

    # Parts of a step ------------------------------------------------------------------------------------------------

    def _make_calls(self) -> None:
        """The calls that compute all bodies, of arrays of their own: those of the state are new after each step."""
        n, scale = len(self), self._bodies.scale
        self._state = x, quaternion, v, w = [np.empty((n, size)) for size in (3, 4, 3, 3)]
        self._start, self._active, self._dt = np.empty((n, 3)), np.empty(self._total), np.empty(())
        pose = {"x": x, "quaternion": quaternion, "scale": scale}
        placed = {"frame": self._frames[:n], "z": self._z[:n]}
        self._frame_bodies = BODY_FRAME.indexed(n, pose | {"v": v, "w": w}, placed)
        given = {"start": self._start, "in_contact": self._active[:n], "step": self._dt}
        after = {"x_next": x, "quaternion_next": quaternion, "v": v, "w": w}
        self._advance_bodies = ADVANCE.indexed(n, pose | placed | given, after)

    def _place_bodies(self) -> None:
        names = "positions", "orientations", "velocities", "angular_velocities"
        for mine, name in zip(self._state, names, strict=True):
            value = getattr(self, name)
            if np.shape(value) != mine.shape:
                refuse(f"Pile: {name}", value, f"an array of shape {mine.shape}")
            mine[:] = value
        self._frame_bodies()

    def _rotations(self) -> np.ndarray:
        return self._frames[: len(self), 3:12].reshape(-1, 3, 3)

    def _accelerations(self) -> np.ndarray:
        a = np.where(self._bodies.moves[:, None], self.gravity, 0.0)
        return a + self.forces * self._frames[: len(self), 12:13] ** 2 if self.forces.any() else a

    def _reach(self, dt: float, acceleration: np.ndarray) -> np.ndarray:
        """How far surfaces of bodies can come in a step."""
        found = np.zeros(self._total)
        v, w, a = (np.sqrt((x * x).sum(axis=1)) for x in (self.velocities, self.angular_velocities, acceleration))
        found[: len(self)] = dt * (v + w * self._bodies.radii[: len(self)] + dt * a)
        return found

    def _detect(self, reach: np.ndarray) -> None:
        """Contacts that may act in the step; they are in the order of their keys."""
        neighbors, bodies = self._neighbors, self._bodies
        neighbors.update(reach)
        neighbors.evaluate()
        found = neighbors.candidates
        which = np.flatnonzero(found.points[found.rows, 0] <= reach[found.first] + reach[found.second])
        self._last = self._keys, self._impulses
        if found is self._candidates and np.array_equal(which, self._which):
            self._contacts.move()
        else:
            self._candidates, self._which, self._keys = found, which, found.keys[which]
            self._rows, self._pair = found.rows[which], np.stack([found.first[which], found.second[which]], axis=1)
            friction, e = (bodies.of_contacts(x, self._pair) for x in (bodies.friction, bodies.restitution))
            self._restitution, self._rebounds = e, bool(e.any())
            self._contacts = Contacts(self._frames, self._z, found, which, friction, self.softness)
        self._points = found.points[self._rows]
        self._impulses = np.zeros((len(which), 3))

    def _remembered(self) -> np.ndarray:
        """Impulses of the last step at the contacts of this one, world axes."""
        keys, impulses = self._last
        if keys is self._keys:
            return impulses
        found = np.zeros((len(self._keys), 3))
        if len(keys):
            place = np.minimum(np.searchsorted(keys, self._keys), len(keys) - 1)
            same = keys[place] == self._keys
            found[same] = impulses[place[same]]
        return found

    def _impacts(self, dt: float, acceleration: np.ndarray) -> bool:
        """Change the velocities by impacts of contacts that close in this step; whether there are any."""
        contacts, gap, e = self._contacts, self._points[:, 0], self._restitution
        of_all = np.zeros((self._total, 3))
        of_all[: len(self)] = acceleration
        a, b = self._pair.T
        # Twice the energy per mass that forces give on the way from here to the surface.
        along = np.einsum("nk,nk->n", of_all[b] - of_all[a], self._points[:, 4:])
        gain = -2.0 * gap * along
        slow = 2.0 * dt * np.linalg.norm(self.gravity)
        for round in range(ROUNDS):
            rate = contacts.gap_rates()
            hits = (rate < -slow) & (gap + dt * (rate + dt * along) < 0.0)
            if not (hits & (e > 0.0)).any():
                break
            if round == 0:
                contacts.soften(0.0)
            after = np.sqrt(np.maximum(e * e * np.maximum(rate * rate + gain, 0.0) - gain, 0.0))
            contacts.set_offset(np.where(hits, -after, np.where(gap <= 0.0, e * rate, NEVER)))
            contacts.solve(self.tolerance, self.sweeps)
            contacts.impulse[:] = 0.0
        if round > 0:
            contacts.soften(self.softness)
        return round > 0

    def _advanced(self, dt: float, start: np.ndarray) -> list[np.ndarray]:
        """Positions, orientations, velocities and angular velocities at the end of the step."""
        contacts, active = self._contacts, self._active
        active[:] = 0.0
        pressed = contacts.impulse[:, 2] > 0.0
        active[contacts.first[pressed]] = active[contacts.second[pressed]] = 1.0
        self._start[:], self._dt[()] = start, dt
        self._advance_bodies()
        return [x.copy() for x in self._state]

    def _refuse_deep(self) -> None:
        """Raise the error for bodies that start in each other."""
        depth, radii = -self._points[:, 0], self._bodies.radii
        most = DEEPEST * radii[self._pair].min(axis=1) if len(depth) else depth
        if not (depth > most).any():
            return
        k = int(np.argmax(depth - most))
        kinds, both = self._bodies.kinds, self._pair[k].tolist()
        names = [f"body {b} ({kinds[b]})" if b < len(self) else "a plane" for b in both]
        raise ModelError(
            f"Pile: {names[0]} and {names[1]} are {depth[k]:.3g} m in each other at the start, more than "
            f"{most[k]:.3g} m, a tenth of the smaller radius. Place them further apart.",
            bodies=tuple(both),
            depth=float(depth[k]),
        )
