"""All ways to assemble a mechanism with given driver positions: Newton's method from many starts, all at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.algorithms.constraint_rows import CONSTRAINT_ERROR, CONSTRAINT_JACOBIAN
from kinetree.arguments import a_count, a_model, array, checked, names, number
from kinetree.compiler.calls import public_call
from kinetree.errors import ModelError, UnsupportedError
from kinetree.integrators.system import System
from kinetree.model import Model
from kinetree.model.closing import usual_position
from kinetree.state_kinematics import Kinematics

STEPS, LONGEST = 60, 0.7  # of Newton's method; [rad, m] of a step
CLOSED = 1e-12  # [m, rad]
SAME = 1e-4  # [m, rad] between poses of joints: at singular positions errors are the root of those of the rows
RANK = 1e-7  # of the largest singular value
ROUNDS = 6  # each with as many starts as all before, until one finds no new branch


@checked(model=a_model, starts=a_count)
def branches(
    model: Model,
    q_guess=None,
    *,
    driver: str | Sequence[str] | Mapping[str, float] | None = None,
    starts: int = 64,
) -> np.ndarray:
    """All assembly branches of a small mechanism: the closed positions that some joints leave to the others.

    Parameters
    ----------
    model : Model
    q_guess : (nq,) array, optional
        Positions of the drivers [rad or m]; the others are ignored, but for the scale of sliding joints. Default: the
        keyframe "initial", or the neutral position.
    driver : str, sequence of str, or mapping of str to float, optional
        Joints whose positions are given: names, with the positions of ``q_guess``, or positions by name [rad or m].
        Default: the joints of independent velocities.
    starts : int
        Number of starts of the first round. Each further round has as many as all before it; the search ends after the
        first round that finds no new branch, and after six rounds.

    Returns
    -------
    (n, nq) array
        [rad or m]; angles of hinges from -pi to pi, in ascending order of the first coordinate in which branches
        differ. None can close if n = 0.

    Raises
    ------
    ModelError
        With these drivers held, the mechanism still moves: the message has the number of motions.
    UnsupportedError
        Constraints depend on time, or hold velocities alone.
    UnknownNameError, ShapeError, ArgumentError

    Notes
    -----
    Source: Featherstone (2008), section 8.10, on positions that drivers do not determine; here by Newton's method with
    the pseudo-inverse. Starts are random, always the same ones: angles uniform, slides within the size of the
    mechanism. In mechanisms of a few joints a large share of the starts reaches each branch, so all are found with near
    certainty. Positions are the same if all joints have the same poses. Limits do not count.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.closed_loops.branches(kt.models.four_bar(), driver={"crank": 1.0}).round(4).tolist()
    [[1.0, -2.2449, -2.2139], [1.0, -0.4144, 1.5546]]
    """
    _refuse(model)
    q = (
        usual_position(model)
        if q_guess is None
        else array("branches: q_guess", q_guess, "a position", shape=(model.nq,))
    )
    held = _drivers(model, q, driver)
    free = np.array([k for k in range(model.nv) if k not in held], dtype=int)
    search = _Search(model, q, free)
    found: list[tuple] = []  # poses, position
    rng, count, motions = np.random.default_rng(0), starts, []
    for _ in range(ROUNDS):
        known = len(found)
        closed, rank = search.closed(search.starts(rng, count))
        motions += (len(free) - rank).tolist()
        for each in closed:
            poses = search.poses(each)
            if not any(np.abs(poses - other).max() < SAME for other, _ in found):
                found.append((poses, each))
        count *= 1 if known == 0 else 2
        if len(found) == known:
            break
    if motions and np.median(motions) > 0:
        drivers = ", ".join(map(repr, sorted({model.velocity_labels[k] for k in held}))) or "none"
        raise ModelError(
            f"branches: with drivers {drivers} model {model.name!r} still has {int(np.median(motions))} motions, so "
            "its positions are no isolated branches; give as many drivers as its mobility (kt.closed_loops.mobility)"
        )
    return _sorted(np.array([each for _, each in found]).reshape(-1, model.nq))


def _refuse(model) -> None:
    kin = Kinematics(model, model.neutral().tolist())
    for c in model.constraints:
        if c.time_dependent or (c.row_kind == "equality" and c.residual(kin) is None):
            raise UnsupportedError(f"branches: the {c} has no error of position, or depends on time; leave it out")


def _drivers(model, q, driver) -> set[int]:
    """The velocity coordinates of the drivers, whose positions are put into q."""
    if driver is None:
        return set(model.independent_velocities())
    held = set()
    for name in driver if isinstance(driver, Mapping) else names("branches: driver", driver):
        i = model.joint(name)
        held |= set(range(*model.v_slice[i].indices(model.nv)))
        if isinstance(driver, Mapping):
            x = driver[name]
            one = model.joints[i].nq == 1
            q[model.q_slice[i]] = number(f"branches: driver {name!r}", x) if one else array(
                f"branches: driver {name!r}", x, "positions of the joint", shape=(model.joints[i].nq,)
            )  # fmt: skip
    return held


def _sorted(positions: np.ndarray) -> np.ndarray:
    return positions[np.lexsort(positions.round(6).T[::-1])] if len(positions) else positions


class _Search:
    """Newton's method on many positions at once, with some velocities held."""

    def __init__(self, model, q, free) -> None:
        self.model, self.q, self.free = model, q, free
        system = System(model)
        self.phi = system.function(CONSTRAINT_ERROR, checks=False)
        self.jacobian = system.function(CONSTRAINT_JACOBIAN, checks=False)
        self.size = max([1.0, *(float(np.linalg.norm(list(X.r))) for X in model.X_T[1:]), *map(abs, q.tolist())])

    def starts(self, rng, count: int) -> np.ndarray:
        """Random positions with the drivers where they are given."""
        model, found = self.model, np.tile(self.q, (count, 1))
        for i in model.outward():
            if not set(range(*model.v_slice[i].indices(model.nv))) <= set(self.free.tolist()):
                continue
            joint, place = model.joints[i], model.q_slice[i]
            scale = np.array([self.size if unit == "m" else 1.0 for unit in joint.position_units])
            for q in found:
                q[place] = scale * joint.random(rng)
        return found

    def closed(self, q) -> tuple[np.ndarray, np.ndarray]:
        """The closed positions that are reached, and the ranks of the rows there."""
        done, ranks = [], []
        for _ in range(STEPS):
            phi, J = self.phi(q), self.jacobian(q)[..., self.free]
            arrived = np.abs(phi).max(axis=1, initial=0.0) < CLOSED
            for each, rows in zip(q[arrived], J[arrived], strict=True):
                done.append(each)
                ranks.append(np.linalg.matrix_rank(rows, tol=RANK * max(1.0, float(np.abs(rows).max(initial=0.0)))))
            q, phi, J = q[~arrived], phi[~arrived], J[~arrived]
            if not len(q):
                break
            step = np.zeros((len(q), self.model.nv))
            step[:, self.free] = -np.einsum("bij,bj->bi", np.linalg.pinv(J, rcond=1e-9), phi)
            step *= np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-12))
            q = public_call("integrate")(self.model, q, step)
        canonical = [self.canonical(each) for each in done]
        return np.array(canonical).reshape(-1, self.model.nq), np.array(ranks, dtype=int)

    def canonical(self, q) -> np.ndarray:
        """The same position with angles of hinges from -pi to pi."""
        q = q.copy()
        for i in self.model.outward():
            for k, wraps in enumerate(self.model.joints[i].wraps, self.model.q_slice[i].start):
                q[k] = math.remainder(q[k], 2.0 * math.pi) if wraps else q[k]
        return q

    def poses(self, q) -> np.ndarray:
        """The transforms of all joints."""
        model = self.model
        each = (model.joints[i].transform(model.q_of(i, q.tolist())) for i in model.outward())
        return np.array([x for X in each for x in (*np.ravel(X.E.matrix.rows), *X.r)], dtype=float)
