"""Positions in which all constraints hold: damped Gauss-Newton steps on the manifold of the positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.constraints.contract import dense
from kinetree.errors import AssemblyError
from kinetree.state_kinematics import Kinematics

HELD = 1e-6  # [rad or m] as complete calls take it
LOOSE = 1e-2  # [rad or m] that the decimals of a file may leave open
EXACT = 1e-14
INSIDE = 1e-9  # [rad or m] so far inside their limits loop joints come
STEPS, TRIES = 80, 24
LONGEST = 0.7  # [rad, m] of a step
RANK = 1e-8  # of the largest singular value: smaller ones come from rows that others imply
WEAK = 1e-2  # of the largest singular value
NEAREST = 0.1  # [rad, m] the spread of the first random guess; it grows to three times a radian


class Closing:
    """Search for closed positions of a model.

    Parameters
    ----------
    model : Model
    fixed : sequence of str
        Joints that keep their positions, beside locked ones.
    limits : bool
        Whether joints stay within their limits.

    Attributes
    ----------
    free : array of int
        Velocity coordinates whose positions are searched.
    left_out : frozenset of int
        Numbers of rows that need not hold.
    reach : array
        How far each moves beside the others: motors behind gears as far as moves their joints as others.
    """

    def __init__(self, model, fixed: Sequence[str] = (), limits: bool = True) -> None:
        model.check_held("assemble")
        self.model, tree = model, model.at(0.0)
        self._tree, kin = tree, Kinematics(tree, ())
        self.fixed = tuple(fixed)
        held = {k for name in fixed for k in range(*model.v_index(name).indices(model.nv))}
        self._constraints, self.left_out = [], frozenset()  # constraints with the numbers of their rows
        for c, numbers in model.constraint_rows():
            if c.row_kind == "equality" and self._residual(c, model.neutral()) is None:
                held |= {k for k, pairs in c.velocity_map(kin).items() if not pairs}
            elif c.row_kind == "equality":
                self._constraints.append((c, numbers))
        self.free = np.array([k for k in range(model.nv) if k not in held], dtype=int)
        slow = {model.v_index(c.master).start: min(abs(float(c.ratio)), 1.0) for c in model.couplings if c.ratio}
        self.reach = np.array([1.0 / slow.get(int(k), 1.0) for k in self.free])
        self._bounded = [
            (j, k)
            for i in model.outward() if model.joints[i].nq == model.joints[i].nv
            for j, k in zip(*(range(s[i].start, s[i].stop) for s in (model.q_slice, model.v_slice)), strict=True)
            if limits and k not in held and np.isfinite([model.lower[k], model.upper[k]]).any()
        ]  # fmt: skip

        self._loops = [(name, loop) for name, loop in model.loop_joints() if limits and loop.has_limits]

    def _residual(self, c, q):
        return c.residual(Kinematics(self._tree, q.tolist()))

    def _phi(self, q) -> np.ndarray:
        kin = Kinematics(self._tree, q.tolist())
        errors = [x for c, numbers in self._constraints for x in self._held(c, numbers, c.residual(kin))]
        return np.array([*map(float, errors), *self._beyond(kin)])

    def _held(self, c, numbers, values) -> list:
        """Those of a constraint's values that belong to rows of positions, without rows that are left out."""
        levels = zip(values, c.position_level(self.model), numbers, strict=True)
        return [x for x, held, n in levels if held and n not in self.left_out]

    def _beyond(self, kin) -> list[float]:
        """The excess of each loop joint with limits over them; zero inside."""
        found = []
        for _, _, x, lower, upper in self._limited(kin):
            margin, x = min(INSIDE, 0.5 * (upper - lower)), float(x)
            found.append(x - min(max(x, lower + margin), upper - margin))
        return found

    def _limited(self, kin) -> list[tuple]:
        """The coordinates of loop joints with limits: name, number, value, lower and upper limit."""
        return [(name, *each) for name, loop in self._loops for each in loop.counted(kin.loop_position(name))]

    def gap(self, q) -> float:
        """The largest error of position [m or rad]."""
        return float(np.abs(self._phi(q)).max(initial=0.0))

    def opened(self, q) -> list[tuple[float, str, object]]:
        """Constraints that do not hold, with their errors of position and units, the largest one first."""
        found = []
        for c, numbers in self._constraints:
            kept = self._held(c, numbers, enumerate(self._residual(c, q)))
            gap, n = max(((abs(float(x)), n) for n, x in kept), default=(0.0, 0))
            found += [] if gap <= HELD else [(gap, c.unit(n), c)]
        return sorted(found, key=lambda x: -x[0])

    def _jacobian(self, q) -> np.ndarray:
        kin = Kinematics(self._tree, q.tolist())
        rows = [row for c, numbers in self._constraints for row in self._held(c, numbers, c.rows(kin))]
        beyond = zip(self._limited(kin), self._beyond(kin), strict=True)
        rows += [kin.coordinate_row(name, n) if excess else {} for (name, n, *_), excess in beyond]
        return dense(rows, self.model.nv)[:, self.free] * self.reach

    def moved(self, q, step) -> np.ndarray:
        """The position that a step of the free velocities reaches, in units of their reach."""
        dv = np.zeros(self.model.nv)
        dv[self.free] = step * self.reach
        q, dv = q.tolist(), dv.tolist()
        tree = self._tree
        moved = [
            x for i in tree.outward()
            for x in tree.joints[i].normalize(tree.joints[i].integrate(tree.q_of(i, q), tree.v_of(i, dv)))
        ]  # fmt: skip
        return self._inside(np.array(moved, dtype=float))

    def _inside(self, q) -> np.ndarray:
        for j, k in self._bounded:
            q[j] = min(max(q[j], float(self.model.lower[k])), float(self.model.upper[k]))
        return q

    def near(self, q) -> np.ndarray:
        """The position that Gauss-Newton steps reach from a guess: the best one on the way.

        Each step is the shortest that closes the linearized constraints; it is damped where the errors do not fall
        (Levenberg-Marquardt), and leaves out coordinates at a limit that it would pass.
        """
        q = self._inside(np.array(q, dtype=float))
        phi, damping = self._phi(q), 0.0
        for _ in range(STEPS):
            size = np.linalg.norm(phi)
            if np.abs(phi).max(initial=0.0) < EXACT:
                break
            J, at_limit = self._jacobian(q), np.zeros(len(self.free), dtype=bool)
            if not np.isfinite(J).all():  # outside the domain of a user's function
                break
            for _ in range(2):
                step = _damped(np.where(at_limit, 0.0, J), phi, damping)
                at_limit |= self._outward(q, step)
            step *= min(1.0, LONGEST / max(np.abs(step).max(initial=0.0), 1e-300))
            trial = self.moved(q, step)
            phi_trial = self._phi(trial)
            if np.linalg.norm(phi_trial) < size:
                q, phi, damping = trial, phi_trial, (0.1 * damping if damping > 1e-6 else 0.0)
            elif damping > 1e4 or size < HELD:
                break
            else:
                damping = max(8.0 * damping, 1e-3)
        return q

    def _outward(self, q, step) -> np.ndarray:
        """Which of the free velocities would leave the limits at which they are."""
        found = np.zeros(len(self.free), dtype=bool)
        place = {int(k): n for n, k in enumerate(self.free)}
        for j, k in self._bounded:
            n = place[k]
            low, high = q[j] <= self.model.lower[k], q[j] >= self.model.upper[k]
            found[n] = (low and step[n] < 0.0) or (high and step[n] > 0.0)
        return found

    def _is_weak(self, q) -> bool:
        """Whether constraints are open here, or some rows almost follow from others."""
        sizes = np.linalg.svd(self._jacobian(q), compute_uv=False)
        largest = sizes.max(initial=0.0)
        return self.gap(q) > HELD or bool(((sizes > RANK * largest) & (sizes < WEAK * largest)).any())

    def search(self, q) -> np.ndarray | None:
        """A closed position, from a guess and then from random positions farther and farther from it; None if none."""
        rng, guess = np.random.default_rng(0), np.array(q, dtype=float)
        held = NEAREST * self._jacobian(guess).any(axis=0)  # others stay where they are
        for n in range(TRIES):
            start = guess if n == 0 else self.moved(guess, 1.15**n * held * rng.standard_normal(len(held)))
            found = self.near(start)
            if n == 0 and self.gap(found) < LOOSE and self._is_weak(found):
                # Rows from the decimals of a file may contradict the others, or be closed only far from the guess.
                self.left_out = self.model.loop_rows().inexact
                found = self.near(start) if self.left_out else found
            if self.gap(found) <= HELD:
                return found
        return None


def inside_limits(model, positions) -> np.ndarray:
    """Closed positions with all joints inside their limits near closed ones, or these where there are none."""
    if not np.isfinite([model.lower, model.upper]).any():
        return np.array(positions)
    closing = Closing(model)
    closing.left_out = model.loop_rows().inexact
    found = [q for q in map(closing.near, positions) if closing.gap(q) <= HELD]
    return np.array(found or positions)


def _damped(J, phi, damping: float) -> np.ndarray:
    """``-J^T (J J^T + damping s^2)^-1 phi`` with the largest singular value s, of the rank of J."""
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    largest = s[0] if len(s) else 0.0
    kept = s > RANK * max(largest, 1e-300)
    weights = np.where(kept, s / (s * s + damping * largest**2 + 1e-300), 0.0)
    return -Vt.T @ (weights * (U.T @ phi))


def usual_position(model) -> np.ndarray:
    """The keyframe "initial", or else the neutral position."""
    return model.keyframe("initial")[0] if "initial" in model.keyframes else model.neutral()


def closed_position(model, q, fixed: Sequence[str] = ()) -> np.ndarray:
    """Positions near q in which all constraints hold: with joints inside their limits if there are such.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        A guess [rad or m].
    fixed : sequence of str
        Joints that keep their positions.

    Raises
    ------
    AssemblyError
        A constraint stays open.
    """
    for limits in (True, False):
        search = Closing(model, fixed, limits)
        found = search.search(q)
        if found is not None:
            return found
    nearest = search.near(q)
    opened = search.opened(nearest)
    gap, unit, first = opened[0]
    with_fixed = f" with {', '.join(map(repr, fixed))} fixed" if fixed else ""
    others = "".join(f", the {c} by {x:.3g} {u}" for x, u, c in opened[1:4])
    raise AssemblyError(
        f"assemble: model {model.name!r} does not close{with_fixed}: near the guess the {first} stays open by "
        f"{gap:.3g} {unit}{others}, and searches from {TRIES - 1} other positions about it fail, too. Check lengths "
        f"and placements{', fix fewer joints' if fixed else ''}, or give another q_guess",
        gap=gap,
        constraint=first.label,
        q=nearest,
    )
