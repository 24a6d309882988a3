"""Inverse kinematics: positions of the joints for poses of frames, within limits, couplings and closed loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kinetree.algorithms.constraint_rows import CONSTRAINT_ERROR, CONSTRAINT_JACOBIAN
from kinetree.arguments import (
    a_count,
    a_mapping,
    a_model,
    a_number_not_negative,
    a_positive_number,
    a_seed,
    a_truth_value,
    array,
    checked,
    choice,
    refuse,
)
from kinetree.compiler.calls import public_call
from kinetree.control.damped_least_squares import METHODS, Problem, minimize
from kinetree.control.frame_laws import pose_rows
from kinetree.control.frame_reference import FORMS, frame_reference
from kinetree.control.operational_space import compiled_part
from kinetree.control.tasks import PARTS
from kinetree.errors import UnsupportedError
from kinetree.integrators.kernels import part
from kinetree.model import Model
from kinetree.state_kinematics import Kinematics

POSE_ROWS = part("pose_rows", pose_rows, "q[nq] R_d[3,3] p_d[3]", "e[6] G[6,nv]", static=("frame",))
LOOPS = 1e2  # weight of the rows of constraints [1/rad or 1/m], whose errors have to vanish
CLOSED = 1e-9  # largest error of constraints in a solution [rad or m]
POSTURE = 1e-3  # weight of the posture beside tasks of weight 1: it bends them by its square, and is then left out


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """Positions of the joints that `inverse_kinematics` found.

    Attributes
    ----------
    q : (nq,) array
        The best positions [rad or m; quaternions unit].
    success : bool
        Whether all targets are reached within the tolerances, and all constraints hold.
    message : str
        One sentence; of a failure the largest misfit.
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


@checked(
    model=a_model, targets=a_mapping, position_tolerance=a_positive_number, rotation_tolerance=a_positive_number,
    limits=a_truth_value, max_iterations=a_count, restarts=a_number_not_negative, seed=a_seed,
)  # fmt: skip
def inverse_kinematics(
    model: Model,
    targets: Mapping[str, object],
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
) -> InverseKinematics:
    """Positions of the joints in which frames have given poses.

    Parameters
    ----------
    model : Model
    targets : mapping of str
        By frame: a pose, (4, 4) or (R, p), a position (3,), or an orientation (3, 3), in the world [1 and m].
    q0 : (nq,) array_like, optional
        The start [rad or m; quaternions unit]; moved inside the limits. Default: the model's neutral position.
    method : {"levenberg_marquardt", "qp"}
        Damped least squares, whose coordinates are held at limits that they would leave; or steps that are solutions of
        quadratic programs within the limits: up to twice as long, and better where limits bind.
    weights : mapping of str, optional
        By frame: a number, or a pair of those of rotation and position [1/rad, 1/m]; default 1. They matter where
        targets contradict each other.
    posture : (nq,) array_like, optional
        Positions to which the joints move as far as the targets leave freedom [rad or m; quaternions unit].
    position_tolerance : float
        [m]
    rotation_tolerance : float
        [rad]
    limits : bool
        Whether the joints stay inside their limits.
    max_iterations : int
        Of one start.
    restarts : int
        Random starts after the first, until one succeeds.
    seed : int
        Of the random starts.

    Returns
    -------
    InverseKinematics
        A target out of reach is no error: ``success`` is False, and ``message`` has the size of the misfit.

    Raises
    ------
    ArgumentError, ShapeError, UnknownNameError, UnsupportedError

    Notes
    -----
    Source: K. Levenberg (1944), D. W. Marquardt (1963) with the damping of H. B. Nielsen, *Damping parameter in
    Marquardt's method* (1999); errors and their derivatives on the manifold, exact. The error of a rotation is its
    rotation vector. Rows of couplings and closed loops join with a weight; the solution has them below 1e-9.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.load("arm7")
    >>> R, p = kt.pose(arm, np.r_[0.3, 0.6, -0.2, 1.2, 0.1, 0.5, 0.4, 0.0, 0.0], frame="tool")
    >>> found = kt.control.inverse_kinematics(arm, {"tool": (R, p)})
    >>> found.success, bool(np.abs(kt.pose(arm, found.q, frame="tool")[1] - p).max() < 1e-6)
    (True, True)
    >>> kt.control.inverse_kinematics(arm, {"tool": [0.0, 0.0, 3.0]}).message.split(":")[0]
    "frame 'tool' is 1.72 m from its target"
    """
    choice("inverse_kinematics: method", method, METHODS)
    if model.time_dependent or model.algebra.dimension != 6:
        raise UnsupportedError(f"inverse_kinematics: model {model.name!r} is planar or depends on time.")
    if not targets:
        refuse("inverse_kinematics: targets", targets, "a mapping of frames to poses, with one at least")
    weights = {} if weights is None else a_mapping("inverse_kinematics: weights", weights)
    if unknown := [name for name in weights if name not in targets]:
        refuse("inverse_kinematics: weights", unknown, f"frames among {', '.join(map(str, targets))}")
    tasks = [_Target.of(model, name, given, weights) for name, given in targets.items()]
    tolerances = rotation_tolerance, position_tolerance
    search = _Search(model, tasks, posture, limits, method, max_iterations, tolerances)
    start = model.neutral() if q0 is None else array("inverse_kinematics: q0", q0, shape=(model.nq,))
    rng, best, iterations = np.random.default_rng(seed), None, 0
    for attempt in range(1 + int(restarts)):
        found = search.from_start(start if attempt == 0 else model.random_q(rng))
        iterations += found[1]
        if best is None or found[2] < best[2]:
            best = found
        if search.reached(best[0]):
            break
    return search.result(best[0], iterations, attempt + 1)


@dataclass(frozen=True)
class _Target:
    """A frame, its pose, the rows of its error that count, and their weights."""

    frame: str
    R: np.ndarray
    p: np.ndarray
    rows: slice
    weights: np.ndarray

    @classmethod
    def of(cls, model, name, given, weights) -> _Target:
        model.frame(name)
        what = f"inverse_kinematics: the target of {name!r}"
        part = "pose"
        if not isinstance(given, tuple) and np.shape(given) == (3, 3):
            part, given = "orientation", (given, (0.0, 0.0, 0.0))
        if callable(given):
            refuse(what, given, FORMS)
        reference = frame_reference(given)
        R, p, _, _ = reference(0.0)
        if reference.of_position:
            part, R = "position", np.eye(3)
        w = np.asarray(weights.get(name, 1.0))
        if w.dtype.kind not in "fiu" or w.shape not in ((), (2,)) or not (np.isfinite(w) & (w > 0.0)).all():
            refuse(f"inverse_kinematics: the weight of {name!r}", weights[name], "a positive number, or two of them")
        return cls(name, R, p, PARTS[part], np.repeat(np.broadcast_to(w, 2), 3).astype(float)[PARTS[part]])


@dataclass(frozen=True)
class _Search:
    """The equations of one problem, and the search from a start."""

    model: Model
    tasks: list
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
        kin, rows = Kinematics(model, model.neutral()), []
        for c in model.constraints:
            held = c.row_kind == "equality" and c.residual(kin) is not None
            rows += [held] * c.count(model)
        set_(self, "closing", np.flatnonzero(rows))

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
        return public_call("integrate")(self.model, q, step) if step.any() else q

    def errors(self, q):
        """Per task the six entries of its error, and G; then those of the constraints."""
        if q is not self.last[0]:
            self.last[:] = q, self._errors(q)
        return self.last[1]

    def _errors(self, q):
        found = [compiled_part(self.model, POSE_ROWS, frame=task.frame)(q, task.R, task.p) for task in self.tasks]
        if not len(self.closing):
            return found, (np.zeros(0), np.zeros((0, self.model.nv)))
        phi = compiled_part(self.model, CONSTRAINT_ERROR)(q)[self.closing]
        return found, (-phi, compiled_part(self.model, CONSTRAINT_JACOBIAN)(q)[self.closing])

    def rows(self, q, posture: float):
        """Residual and its matrix, weighted: ``r(q (+) d) = r - J d``."""
        found, (phi, K) = self.errors(q)
        r = [task.weights * e[task.rows] for task, (e, _) in zip(self.tasks, found, strict=True)]
        J = [task.weights[:, None] * G[task.rows] for task, (_, G) in zip(self.tasks, found, strict=True)]
        r, J = [*r, LOOPS * phi], [*J, LOOPS * K]
        if posture:
            r.append(posture * public_call("difference")(self.model, q, self.posture))
            J.append(posture * np.eye(self.model.nv))
        return np.concatenate(r), np.concatenate(J)

    def from_start(self, q):
        """The position that a start leads to, the iterations and the misfit."""
        q, count = self.clipped(q), 0
        phases = (0.0,) if self.posture is None else (0.0, POSTURE, 0.0)
        for posture in phases:
            problem = Problem(
                lambda x, posture=posture: self.rows(x, posture),
                lambda x, d: public_call("integrate")(self.model, x, d),
                self.room,
                (lambda x: False) if posture else self.finished,
            )
            q, n = minimize(problem, q, self.method, self.max_iterations)
            count += n
            if not posture and not self.reached(q):
                break
        r, _ = self.rows(q, 0.0)
        return q, count, float(r @ r)

    def misfits(self, q):
        """By task the angle and the distance that are left, NaN for parts that it does not have; and of constraints."""
        found, (phi, _) = self.errors(q)
        rest = []
        for task, (e, _) in zip(self.tasks, found, strict=True):
            masked = np.full(6, np.nan)
            masked[task.rows] = e[task.rows]
            rest.append((float(np.linalg.norm(masked[:3])), float(np.linalg.norm(masked[3:]))))
        return rest, float(np.abs(phi).max(initial=0.0))

    def reached(self, q) -> bool:
        """Whether all targets are reached and the constraints hold."""
        rest, closure = self.misfits(q)
        far = any(x > limit for pair in rest for x, limit in zip(pair, self.tolerances, strict=True))  # NaN is not
        return bool(np.isfinite(q).all()) and not far and closure <= CLOSED

    def finished(self, q) -> bool:
        """Whether the search may end: far below the tolerances, which costs one more step."""
        rest, closure = self.misfits(q)
        far = any(x > 0.01 * limit for pair in rest for x, limit in zip(pair, self.tolerances, strict=True))
        return not far and closure <= 0.01 * CLOSED

    def joints_at_limits(self, q):
        """The joints at a limit, and those of them that would leave it towards the targets."""
        (below, above), (r, J) = self.room(q), self.rows(q, 0.0)
        pull, lower, upper = J.T @ r, below > -1e-9, above < 1e-9
        pulled = np.abs(pull) > 1e-6 * np.abs(pull).max(initial=0.0)
        found = lower | upper, pulled & ((lower & (pull < 0.0)) | (upper & (pull > 0.0)))
        bodies = [(i, self.model.v_slice[i]) for i in self.model.outward()]
        return (tuple(self.model.joint_name(i) for i, slot in bodies if flags[slot].any()) for flags in found)

    def result(self, q, iterations, attempts) -> InverseKinematics:
        """The result with its message."""
        rest, closure = self.misfits(q)
        success, names = self.reached(q), [task.frame for task in self.tasks]
        rotation = {name: angle for name, (angle, _) in zip(names, rest, strict=True) if not np.isnan(angle)}
        position = {name: way for name, (_, way) in zip(names, rest, strict=True) if not np.isnan(way)}
        active, binding = self.joints_at_limits(q)
        message = "all targets are reached"
        if not success:
            parts = zip((position, rotation), ("m", "rad"), self.tolerances[::-1], strict=True)
            worst = [f"frame {n!r} is {x:.3g} {unit} from its target" for table, unit, limit in parts
                     for n, x in table.items() if x > limit]  # fmt: skip
            worst += [f"constraints are off by {closure:.3g}"] if closure > CLOSED else []
            message = "; ".join(worst) or "no finite position was found"
            message += ": out of reach" + (f" within the limits of {', '.join(binding)}" if binding else "")
            message += ", or another start is needed (restarts=10)."
        length = None
        if self.posture is not None:
            length = float(np.linalg.norm(public_call("difference")(self.model, q, self.posture)))
        q = np.array(q)
        q.setflags(write=False)
        return InverseKinematics(q, success, message, rotation, position, closure, length, active, iterations, attempts)
