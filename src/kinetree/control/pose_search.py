"""Inverse kinematics: positions of the joints for poses of frames, within limits, couplings and closed loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinetree.algorithms.constraint_rows import CONSTRAINT_ERROR, CONSTRAINT_JACOBIAN
from kinetree.arguments import (
    a_count,
    a_model,
    a_number_not_negative,
    a_positive_number,
    a_seed,
    a_truth_value,
    array,
    checked,
    choice,
)
from kinetree.compiler.calls import public_call
from kinetree.control.damped_least_squares import METHODS, Problem, minimize, motions
from kinetree.control.frame_laws import pose_rows
from kinetree.control.operational_space import compiled_part
from kinetree.control.pose_targets import levels_of
from kinetree.errors import ShapeError, UnsupportedError
from kinetree.integrators.kernels import part
from kinetree.model import Model
from kinetree.model.closing import closed_position, usual_position
from kinetree.state_kinematics import Kinematics

POSE_ROWS = part("pose_rows", pose_rows, "q[nq] R_d[3,3] p_d[3]", "e[6] G[6,nv]", static=("frame",))
CLOSED = 1e-9  # largest error of constraints in a solution [rad or m]
KEPT = 1e-10  # largest error of constraints and of targets of higher priority after a step [rad or m]
CLOSING = 50  # most steps that close constraints
FREE = 1e-9  # start of the damping of steps that close constraints, which are nearly those of Newton's method
ORDER = ("first", "second", "third", "fourth")


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """Positions of the joints that `inverse_kinematics` found.

    Attributes
    ----------
    q : (nq,) array
        The best positions [rad or m; quaternions unit].
    success : bool
        Whether all targets of the first priority are reached within the tolerances, and all constraints hold.
    reached : tuple of bool
        The same of each priority.
    message : str
        One sentence; of a failure the misfits.
    rotation_error, position_error : dict of str to float
        By frame: the angle [rad] and the distance [m] that are left, of the parts that its target has.
    constraint_error : float
        Largest error of couplings and closed loops [rad or m].
    posture_distance : float or None
        Length of the step to the posture [rad or m].
    active_limits : tuple of str
        Joints at a limit.
    iterations : int
        Of all attempts.
    attempts : int
        Starts that were tried.
    """

    q: np.ndarray
    success: bool
    reached: tuple[bool, ...]
    message: str
    rotation_error: dict[str, float]
    position_error: dict[str, float]
    constraint_error: float
    posture_distance: float | None
    active_limits: tuple[str, ...]
    iterations: int
    attempts: int

    def __str__(self) -> str:
        return f"{self.message} ({self.iterations} iterations, {self.attempts} starts)"


class InverseKinematicsBatch(tuple):
    """Results of `inverse_kinematics` for a batch of targets: a tuple of `InverseKinematics`.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.load("arm7")
    >>> line = np.linspace([0.4, 0.0, 0.9], [0.4, 0.3, 0.9], 5)
    >>> found = kt.inverse_kinematics(arm, {"tool": line}, path=True)
    >>> found.q.shape, found.success.all().item(), len(found), found[0].reached
    ((5, 9), True, 5, (True,))
    """

    __slots__ = ()

    @property
    def q(self) -> np.ndarray:
        """The best positions of all, (N, nq) [rad or m; quaternions unit]."""
        return np.array([found.q for found in self])

    @property
    def success(self) -> np.ndarray:
        """Whether the targets of the first priority are reached and all constraints hold, (N,)."""
        return np.array([found.success for found in self], dtype=bool)

    def __str__(self) -> str:
        done = self.success
        text = f"{done.sum()} of {len(self)} targets are reached"
        if done.all():
            return text
        first = int(np.argmin(done))
        return f"{text}; the first that is not, number {first}: {self[first].message}"


@checked(
    model=a_model, position_tolerance=a_positive_number, rotation_tolerance=a_positive_number,
    limits=a_truth_value, max_iterations=a_count, restarts=a_number_not_negative, seed=a_seed, path=a_truth_value,
)  # fmt: skip
def inverse_kinematics(
    model: Model,
    targets: Mapping[str, object] | Sequence[Mapping[str, object]],
    q0=None,
    *,
    method: str = "levenberg_marquardt",
    weights: Mapping[str, object] | None = None,
    posture=None,
    position_tolerance: float = 1e-6,
    rotation_tolerance: float = 1e-6,
    limits: bool = True,
    max_iterations: int = 100,
    restarts: int = 0,
    seed: int = 0,
    path: bool = False,
) -> InverseKinematics | InverseKinematicsBatch:
    """Positions of the joints in which frames have given poses.

    Parameters
    ----------
    model : Model
    targets : mapping of str, or sequence of mappings
        By frame: a pose, (4, 4) or (R, p), a position (3,) or (None, p), or an orientation (3, 3) or (R, None), in the
        world [1 and m]; each may have a first axis of N targets (three positions only as (None, p)). Of a
        sequence the first mapping has the highest priority: later ones are approached as far as those before allow.
    q0 : (nq,) or (N, nq) array_like, optional
        The start [rad or m; quaternions unit]; moved inside the limits, and to a closed position. Default: the keyframe
        "initial" if there is one, else the model's neutral position.
    method : {"levenberg_marquardt", "qp"}
        Damped least squares, whose coordinates are held at limits that they would leave; or steps that are solutions of
        quadratic programs within the limits.
    weights : mapping of str, optional
        By frame: a number, or a pair of those of rotation and position [1/rad, 1/m]; default 1. They matter where
        targets of one priority contradict each other.
    posture : (nq,) array_like, optional
        Positions to which the joints move as far as the targets leave freedom [rad or m; quaternions unit].
    position_tolerance : float
        [m]
    rotation_tolerance : float
        [rad]
    limits : bool
        Whether the joints stay inside their limits.
    max_iterations : int
        Of one start and one priority.
    restarts : int
        Random starts after the first, until all targets are reached.
    seed : int
        Of the random starts.
    path : bool
        Whether the N targets are points of a path: each search starts from the result of the one before.

    Returns
    -------
    InverseKinematics
        A target out of reach is no error: ``success`` is False, and ``message`` has the size of the misfit.
    InverseKinematicsBatch
        Of targets with a first axis: a tuple of results, with ``q`` (N, nq) and ``success`` (N,).

    Raises
    ------
    AssemblyError
        Constraints do not close from the start; see `kinetree.assemble`.
    ArgumentError, ShapeError, UnknownNameError, UnsupportedError

    Notes
    -----
    Source: K. Levenberg (1944), D. W. Marquardt (1963) with the damping of H. B. Nielsen, *Damping parameter in
    Marquardt's method* (1999); errors and their derivatives on the manifold, exact. The error of a rotation is its
    rotation vector. Couplings, closed loops and targets of higher priority are equations: steps are made in the null
    space of their rows, and further steps let them hold again, so all positions of a search are closed. Steps within
    limits: C. L. Lawson, R. J. Hanson, *Solving Least Squares Problems* (1974), problem LSI of chapter 23. Limits of
    loop joints are not considered.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.load("arm7")
    >>> R, p = kt.pose(arm, np.r_[0.3, 0.6, -0.2, 1.2, 0.1, 0.5, 0.4, 0.0, 0.0], frame="tool")
    >>> found = kt.inverse_kinematics(arm, {"tool": (R, p)})
    >>> found.success, bool(np.abs(kt.pose(arm, found.q, frame="tool")[1] - p).max() < 1e-6)
    (True, True)
    >>> kt.inverse_kinematics(arm, {"tool": [0.0, 0.0, 3.0]}).message.split(":")[0]
    "frame 'tool' is 1.72 m from its target"
    """
    choice("inverse_kinematics: method", method, METHODS)
    model.check_held("inverse_kinematics")
    if model.time_dependent or model.algebra.dimension != 6:
        raise UnsupportedError(f"inverse_kinematics: model {model.name!r} is planar or depends on time.")
    n, batch = levels_of(model, targets, weights)
    q0 = usual_position(model) if q0 is None else array("inverse_kinematics: q0", q0)
    if q0.shape not in {(model.nq,), (n, model.nq)} or (path and q0.ndim > 1):
        array("inverse_kinematics: q0", q0, shape=(model.nq,))
    if path and n is None:
        raise ShapeError(
            "inverse_kinematics: path=True needs targets with a first axis of N points, found one target of each frame."
        )
    results = []
    for k, levels in enumerate(batch):
        start = results[-1].q if path and results else q0 if q0.ndim == 1 else q0[k]
        search = _Search(
            model, levels, posture, limits, method, max_iterations, (rotation_tolerance, position_tolerance)
        )
        results.append(_searched(search, start, int(restarts), seed))
    return results[0] if n is None else InverseKinematicsBatch(results)


def _searched(search: _Search, start, restarts: int, seed) -> InverseKinematics:
    """The best result of one start and random ones."""
    rng, best, iterations = np.random.default_rng(seed), None, 0
    for attempt in range(1 + restarts):
        found = search.from_start(start if attempt == 0 else search.model.random_q(rng), attempt == 0)
        iterations += found[1]
        if best is None or found[2] < best[2]:
            best = found
        if all(search.reached(best[0])):
            break
    return search.result(best[0], iterations, attempt + 1)


@dataclass(frozen=True)
class _Search:
    """The equations of one problem, and the search from a start."""

    model: Model
    levels: list
    posture: object
    limits: bool
    method: str
    max_iterations: int
    tolerances: tuple
    bounds: tuple = field(init=False)
    closing: np.ndarray = field(init=False)
    last: list = field(init=False, default_factory=lambda: [None, None])  # the position of the last errors, and these

    def __post_init__(self) -> None:
        model, set_ = self.model, object.__setattr__
        if self.posture is not None:
            set_(self, "posture", array("inverse_kinematics: posture", self.posture, shape=(model.nq,)))
        lower, upper = np.array(model.lower, dtype=float), np.array(model.upper, dtype=float)
        if not self.limits:
            lower, upper = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
        set_(self, "bounds", (lower, upper))
        kin, rows = Kinematics(model, ()), []
        for c in model.constraints:
            held = c.position_level(model)  # or a lock, which has no residual
            locked = not any(held) and bool(c.velocity_map(kin))
            rows += [c.row_kind == "equality" and (x or locked) for x in held]
        set_(self, "closing", np.array([n for n in model.independent_rows() if rows[n]], dtype=int))

    def coordinates(self, q) -> np.ndarray:
        """For each velocity coordinate the position coordinate that a limit of it refers to."""
        slots = zip(self.model.q_slice[1:], self.model.v_slice[1:], strict=True)
        return np.concatenate([q[a][: b.stop - b.start] for a, b in slots]) if self.model.nv else np.zeros(0)

    def room(self, q):
        """The least and the largest step of each coordinate."""
        x = self.coordinates(q)
        return np.minimum(self.bounds[0] - x, 0.0), np.maximum(self.bounds[1] - x, 0.0)

    def clipped(self, q) -> np.ndarray:
        """The position moved inside the limits."""
        x = self.coordinates(q)
        step = np.clip(x, *self.bounds) - x
        return self.integrated(q, step) if step.any() else q

    def integrated(self, q, step) -> np.ndarray:
        """The position after a step, which may open the constraints."""
        return public_call("integrate")(self.model, q, step)

    # Equations -------------------------------------------------------------------------------------------------------

    def errors(self, q):
        """Per priority and target the six entries of its error, and G; and those of the constraints."""
        if q is not self.last[0]:
            self.last[:] = q, self._errors(q)
        return self.last[1]

    def _errors(self, q):
        found = [
            [compiled_part(self.model, POSE_ROWS, frame=task.frame)(q, task.R, task.p) for task in level]
            for level in self.levels
        ]
        if not len(self.closing):
            return found, (np.zeros(0), np.zeros((0, self.model.nv)))
        phi = compiled_part(self.model, CONSTRAINT_ERROR)(q)[self.closing]
        return found, (-phi, compiled_part(self.model, CONSTRAINT_JACOBIAN)(q)[self.closing])

    def rows(self, q, level: int, weighted: bool = True):
        """Residuals of a priority and their matrix, ``r(q (+) d) = r - J d``; last those of the posture."""
        if level == len(self.levels):
            return public_call("difference")(self.model, q, self.posture), np.eye(self.model.nv)
        r, J = [], []
        for task, (e, G) in zip(self.levels[level], self.errors(q)[0][level], strict=True):
            w = task.weights if weighted else np.ones(len(task.weights))
            r.append(w * e[task.rows])
            J.append(w[:, None] * G[task.rows])
        return np.concatenate(r), np.concatenate(J)

    def equations(self, q, kept=()):
        """Residuals of the constraints and, less values to keep, of the first priorities; and their matrix."""
        phi, K = self.errors(q)[1]
        before = [self.rows(q, level, weighted=False) for level in range(len(kept))]
        r = [phi, *(r - value for (r, _), value in zip(before, kept, strict=True))]
        return np.concatenate(r), np.concatenate([K, *(J for _, J in before)])

    # Search ----------------------------------------------------------------------------------------------------------

    def closed(self, q, kept=()):
        """The position near another at which the equations hold, and whether they do."""

        def hold(x):
            return np.abs(self.equations(x, kept)[0]).max(initial=0.0) <= KEPT

        problem = Problem(
            lambda x: self.equations(x, kept), lambda x: np.zeros((0, self.model.nv)), self.integrated, self.room, hold
        )
        q, _ = minimize(problem, q, METHODS[0], CLOSING, FREE)
        return q, hold(q)

    def from_start(self, q, first: bool):
        """The position that a start leads to, the iterations and the misfits of all priorities."""
        q, holds = self.closed(self.clipped(q))
        if not holds and first:
            q, holds = self.closed(closed_position(self.model, q))
        kept, count, misfits = [], 0, [not holds]
        for level in range(len(self.levels) + (self.posture is not None)):

            def moved(x, d, kept=tuple(kept)):
                x, holds = self.closed(self.integrated(x, d), kept)
                return x if holds else None

            problem = Problem(
                lambda x, level=level: self.rows(x, level),
                lambda x, kept=tuple(kept): self.equations(x, kept)[1],
                moved, self.room, lambda x, level=level: self.near(x, level, 0.01),
            )  # fmt: skip
            q, n = minimize(problem, q, self.method, self.max_iterations) if holds else (q, 0)
            r, _ = self.rows(q, level)
            misfits.append(0.0 if self.near(q, level) else float(r @ r))
            count, kept = count + n, [*kept, self.rows(q, level, weighted=False)[0]]
        return q, count, misfits

    def misfits(self, q):
        """By priority and target the angle and the distance that are left, NaN for parts that it does not have."""
        rest = []
        for level, errors in zip(self.levels, self.errors(q)[0], strict=True):
            masked = np.full((len(level), 6), np.nan)
            for entry, task, (e, _) in zip(masked, level, errors, strict=True):
                entry[task.rows] = e[task.rows]
            rest.append([(float(np.linalg.norm(e[:3])), float(np.linalg.norm(e[3:]))) for e in masked])
        return rest

    def closure(self, q) -> float:
        """Largest error of the constraints."""
        return float(np.abs(self.errors(q)[1][0]).max(initial=0.0))

    def near(self, q, level: int, factor: float = 1.0) -> bool:
        """Whether the targets of one priority are reached within their tolerances times a factor."""
        if level == len(self.levels) or not np.isfinite(q).all():
            return False
        pairs = self.misfits(q)[level]  # of which NaN is not far
        return not any(x > factor * most for pair in pairs for x, most in zip(pair, self.tolerances, strict=True))

    def reached(self, q) -> tuple[bool, ...]:
        """For each priority whether its targets are reached and the constraints hold."""
        closed = self.closure(q) <= CLOSED
        return tuple(closed and self.near(q, level) for level in range(len(self.levels)))

    def joints_at_limits(self, q):
        """The joints at a limit, and those of them that would leave it towards the first target that is not reached."""
        missed = next((n for n, done in enumerate(self.reached(q)) if not done), 0)
        (below, above), (r, J) = self.room(q), self.rows(q, missed)
        _, K = self.equations(q, [0.0] * missed)
        lower, upper, Z = below > -1e-9, above < 1e-9, motions(K)
        pull = Z @ (Z.T @ (J.T @ r))
        pulled = np.abs(pull) > 1e-6 * np.abs(pull).max(initial=0.0)
        found = lower | upper, pulled & ((lower & (pull < 0.0)) | (upper & (pull > 0.0)))
        bodies = [(i, self.model.v_slice[i]) for i in self.model.outward()]
        return (tuple(self.model.joint_name(i) for i, slot in bodies if flags[slot].any()) for flags in found)

    # Result ----------------------------------------------------------------------------------------------------------

    def result(self, q, iterations, attempts) -> InverseKinematics:
        """The result with its message."""
        reached, rotation, position = self.reached(q), {}, {}
        for level, rest in zip(self.levels, self.misfits(q), strict=True):
            for task, (angle, distance) in zip(level, rest, strict=True):
                rotation |= {} if np.isnan(angle) else {task.frame: angle}
                position |= {} if np.isnan(distance) else {task.frame: distance}
        active, binding = self.joints_at_limits(q)
        length = None
        if self.posture is not None:
            length = float(np.linalg.norm(public_call("difference")(self.model, q, self.posture)))
        q = np.array(q)
        q.setflags(write=False)
        message = self.message(q, reached, binding)
        return InverseKinematics(
            q, reached[0], reached, message, rotation, position, self.closure(q), length, active, iterations, attempts
        )

    def message(self, q, reached, binding) -> str:
        """One sentence on all targets."""
        if all(reached):
            return "all targets are reached"
        worst = [
            f"frame {task.frame!r} is {x:.3g} {unit} from its target"
            + (f" of {ORDER[level] if level < len(ORDER) else f'{level + 1}th'} priority" if len(reached) > 1 else "")
            for level, rest in enumerate(self.misfits(q)) for task, pair in zip(self.levels[level], rest, strict=True)
            for x, unit, most in zip(pair[::-1], ("m", "rad"), self.tolerances[::-1], strict=True) if x > most
        ]  # fmt: skip
        worst += [f"constraints are off by {self.closure(q):.3g}"] if self.closure(q) > CLOSED else []
        message = "; ".join(worst) or "no finite position was found"
        message += ": out of reach" + (f" within the limits of {', '.join(binding)}" if binding else "")
        return message + ", or another start is needed (restarts=10)."
