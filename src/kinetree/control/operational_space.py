"""Control of frames with priorities: tasks within the motions that the tasks before them leave free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetree.arguments import a_model, a_number_not_negative, checked, refuse
from kinetree.compiler.calls import public_call
from kinetree.compiler.derivative_functions import differentiate
from kinetree.compiler.function import Function
from kinetree.control.controller import Controller
from kinetree.control.frame_laws import frame_compliance, frame_task
from kinetree.control.joint_laws import joint_task
from kinetree.control.tasks import PARTS, FrameTask, JointTask
from kinetree.integrators.kernels import part
from kinetree.integrators.system import time_argument
from kinetree.model import Model

TOLERANCE = 1e-4
GAINS = "q[nq] v[nv] R_d[3,3] p_d[3] V_d[6] A_d[6]"
FRAME_TASK = part(
    "frame_task", frame_task, f"{GAINS} kp[6,6] kd[6,6]", "J[6,nv] b[6] e[6] e_dot[6]", static=("frame", "axes")
)
FRAME_COMPLIANCE = part(
    "frame_compliance", frame_compliance, f"{GAINS} K[6,6] D[6,6] push[6] mobility[6,6]", "J[6,nv] b[6]",
    static=("frame", "axes"),
)  # fmt: skip
JOINT_TASK = part(
    "joint_task", joint_task, "q[nq] v[nv] q_d[nq] v_d[nv] a_d[nv] kp[nv,nv] kd[nv,nv]", "a[nv]", body_frames=None
)


class OperationalSpaceTerms(NamedTuple):
    """The equation of motion of a frame, ``F = Lambda A + mu + p``, and the consistent inverse of its Jacobian.

    Attributes
    ----------
    Lambda : (6, 6) array
        Its inertia [kg m^2, kg m, kg].
    mu : (6,) array
        Coriolis and centrifugal wrench [N m, N].
    p : (6,) array
        The wrench of gravity [N m, N].
    J_bar : (nv, 6) array
        ``M^-1 J^T Lambda`` [1 or 1/m]: of all inverses of J the one that moves with the least kinetic energy.
    """

    Lambda: np.ndarray
    mu: np.ndarray
    p: np.ndarray
    J_bar: np.ndarray


@checked(model=a_model, tolerance=a_number_not_negative)
def operational_space_terms(
    model: Model, q, v, *, frame: str, reference: str = "local_world_aligned", tolerance: float = TOLERANCE
) -> OperationalSpaceTerms:
    """The equation of motion of a frame of a tree.

    Parameters
    ----------
    model : Model
    q : (nq,) array_like
        Positions [rad or m; quaternions unit].
    v : (nv,) array_like
        Velocities [rad/s or m/s].
    frame : str
        Name of the frame or body.
    reference : {"local", "world", "local_world_aligned"}
        Axes and origin of the six-vectors.
    tolerance : float
        Directions in which the frame is more than 1/tolerance times heavier than along its axes count as directions in
        which it cannot move: Lambda decreases to zero there.

    Returns
    -------
    OperationalSpaceTerms
        ``F = Lambda A + mu + p`` with the rate A of the twist of this reference.

    Raises
    ------
    ArgumentError, ShapeError, UnknownNameError

    Notes
    -----
    Source: O. Khatib (1987), eq. 14-16, 34 (see `inverse_task_inertia`).

    See Also
    --------
    inverse_task_inertia, OperationalSpace

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("arm7")
    >>> terms = kt.control.operational_space_terms(arm, arm.neutral() + 0.3, arm.neutral(), frame="tool")
    >>> terms.Lambda.shape
    (6, 6)
    """
    rest, at = np.zeros(model.nv), dict(frame=frame, reference=reference)
    J = public_call("jacobian")(model, q, **at)
    bias = public_call("acceleration")(model, q, v, rest, kind="spatial", **at)
    gravity = public_call("gravity_forces")(model, q)
    c = public_call("bias_forces")(model, q, v) - gravity
    M_inv = public_call("inverse_mass_matrix")(model, q)
    A = J @ M_inv @ J.T
    Lambda = inverse(A, sizes(A), tolerance)
    J_bar = M_inv @ J.T @ Lambda
    return OperationalSpaceTerms(Lambda, J_bar.T @ c - Lambda @ bias, J_bar.T @ gravity, J_bar)


@dataclass(frozen=True, eq=False)
class OperationalSpace(Controller):
    """Tasks of frames and joints with strict priorities, by inverse dynamics.

    Parameters
    ----------
    model : Model
    tasks : sequence of FrameTask and JointTask, or of sequences of them
        From the most important to the least; those of one inner sequence share a priority.
    tolerance : float
        Directions of a task in which the frame is more than 1/tolerance times heavier than along its axes are given up
        gradually: near singular positions, and where tasks before it leave no freedom.
    effort_limit, actuated : optional
        See `Controller`.

    Raises
    ------
    ArgumentError, ShapeError, UnknownNameError

    Notes
    -----
    Source: O. Khatib (1987); L. Sentis, O. Khatib, "Synthesis of whole-body behaviors through hierarchical control of
    behavioral primitives", International Journal of Humanoid Robotics 2 (2005). With the dynamically consistent inverse
    ``J_bar = M^-1 J^T Lambda`` of each task within the null space of those before it, no task accelerates one before
    it. Torques beside those of the tasks compensate the bias forces, so motions without a task are not damped: end
    with a `JointTask`.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.load("arm7")
    >>> q = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0, 0.0, 0.0])
    >>> R, p = kt.pose(arm, q, frame="tool")
    >>> tasks = [kt.control.FrameTask("tool", (R, p + [0.1, 0.0, 0.0]), kp=100.0), kt.control.JointTask(q, kp=25.0)]
    >>> controller = kt.control.OperationalSpace(arm, tasks)
    >>> run = kt.simulate(arm, q, duration=1.0, dt=2e-3, controller=controller)
    >>> (kt.pose(arm, run.q[-1], frame="tool")[1] - p).round(2).tolist()[0]
    0.1
    """

    tasks: tuple
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.tasks, (list, tuple)) or not self.tasks:
            refuse("OperationalSpace: tasks", self.tasks, "a sequence of FrameTask and JointTask")
        a_number_not_negative("OperationalSpace: tolerance", self.tolerance)
        levels = [level if isinstance(level, (list, tuple)) else (level,) for level in self.tasks]
        self._set("tasks", tuple(tuple(bound_task(self.model, task) for task in level) for level in levels))

    def law(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces before they are cut to their bounds [N m or N]."""
        return self._computed("inverse_dynamics", t, q, v, self.accelerations(t, q, v))

    def accelerations(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Accelerations of the joints that the tasks give [rad/s^2 or m/s^2]; arguments as of a call."""
        Y, a, N = freedom(self, t, q, v)
        for level in self.tasks:
            found = [task_rows(self, task, t, q, v) for task in level]
            J, b = (np.concatenate(x) for x in zip(*found, strict=True))
            if N is not None and len(level) == 1 and len(J) == len(a) and isinstance(level[0], JointTask):
                return a + N @ (J.T @ b - a)  # of all joints: no inverse, and no freedom is left
            groups = [3 if isinstance(task, FrameTask) else 1 for task in level]
            J_bar, N = consistent_inverse(Y, J, N, self.tolerance, groups, [len(x) for _, x in found])
            a = a + J_bar @ (b - J @ a)
        return a


def bound_task(model: Model, task):
    """A task checked for a model."""
    if isinstance(task, FrameTask):
        model.frame(task.frame)
        return task
    if not isinstance(task, JointTask):
        refuse("tasks: one of them", task, "a FrameTask or a JointTask")
    return task.bound(model)


def task_rows(controller: Controller, task, t: float, q, v):
    """J and ``b = A - J' v`` of a task: its rows ``J a = b`` for the accelerations of the joints."""
    model = controller.model
    if isinstance(task, FrameTask):
        f = compiled_part(model, FRAME_TASK, frame=task.frame, axes="world")
        J, b, _, _ = f(q, v, *task.target(t), task.kp, task.kd, *time_argument(model, t))
        return J[PARTS[task.part]], b[PARTS[task.part]]
    rows = task.rows(model)
    f = compiled_part(model, JOINT_TASK)
    a = f(q, v, *task.reference(t), task.kp, task.kd, *time_argument(model, t))
    return np.eye(model.nv)[rows], a[rows]


def freedom(controller: Controller, t: float, q, v):
    """`response`, the least accelerations that constraints allow, and the projector on all motions (None: any)."""
    Y, a = response(controller, t, q, v), np.zeros(controller.model.nv)
    if not controller.model.constraints:
        return Y, a, None
    N = Y @ controller._computed("crba", t, q)
    a = controller._computed("forward_dynamics", t, q, v, a)
    return Y, a - N @ a, N


def response(controller: Controller, t: float, q, v) -> np.ndarray:
    """Accelerations by joint forces: the inverse mass matrix, of a model with constraints within them."""
    model = controller.model
    if not model.constraints:
        return controller._computed("inverse_mass_matrix", t, q)
    f = model.functions.get("control response")
    if f is None:
        new = differentiate(model, "forward_dynamics", wrt="tau", checks=False)
        f = model.functions.setdefault("control response", new)
    return f(q, v, np.zeros(model.nv), *time_argument(model, t))


def compiled_part(model: Model, spec, **static) -> Function:
    """A part of a law, compiled without checks of the state and kept beside the model."""
    key = ("control", spec.name, *static.values())
    f = model.functions.get(key)
    return model.functions.setdefault(key, Function(spec, model, (), static, False)) if f is None else f


def consistent_inverse(Y: np.ndarray, J: np.ndarray, N: np.ndarray | None, tolerance: float, groups=(3,), counts=None):
    """``J_bar`` of a task within a null space with the projector N (None: all), and the projector after it.

    ``groups`` are the numbers of rows of one unit, for each of the tasks whose numbers of rows are ``counts``.
    """
    J_free = J if N is None else J @ N
    Y_J = Y @ J_free.T
    whole = J @ Y @ J.T if N is not None else J_free @ Y_J
    ends = np.cumsum(counts or [len(J)])
    blocks = (whole[end - n : end, end - n : end] for n, end in zip(counts or [len(J)], ends, strict=True))
    scale = np.concatenate([sizes(block, group) for block, group in zip(blocks, groups, strict=True)])
    J_bar = Y_J @ inverse(J_free @ Y_J, scale, tolerance)
    return J_bar, (np.eye(len(Y)) if N is None else N) - J_bar @ J_free


def sizes(A: np.ndarray, group: int = 3) -> np.ndarray:
    """Scales of the rows of ``J Y J^T``: the largest diagonal entry of those with the same unit, angular or linear."""
    return np.repeat(np.diagonal(A).reshape(-1, group).max(axis=1), group)


def inverse(A: np.ndarray, scale: np.ndarray, tolerance: float) -> np.ndarray:
    """The inverse of a positive semidefinite matrix, whose eigenvalues are compared in units of ``scale``.

    Eigenvalues below the tolerance fade to zero.
    """
    if not np.isfinite(A).all():
        return np.full_like(A, np.nan)
    scale = 1.0 / np.sqrt(np.where(scale > 0.0, scale, 1.0))
    values, vectors = np.linalg.eigh(A * np.outer(scale, scale))
    kept = values > tolerance
    reciprocals = np.where(kept, 1.0, np.maximum(values, 0.0) / (tolerance**2 or 1.0))
    reciprocals[kept] = 1.0 / values[kept]
    vectors = scale[:, None] * vectors
    return (vectors * reciprocals) @ vectors.T
