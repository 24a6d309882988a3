"""Laws of control of a frame, over any scalar: pose errors, stiffness and damping of a frame, its inertia.

Six-vectors are [angular; linear] at the origin of the frame, in the world's axes or the frame's own. References are in
the world's axes always.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.algorithms import sparse
from kinetree.algorithms.complete import inverse_dynamics
from kinetree.algorithms.crba import crba
from kinetree.algorithms.jacobian import jacobian
from kinetree.algorithms.kinematics import acceleration, pose
from kinetree.algorithms.mass_factors import above
from kinetree.algorithms.matrices import apply, dot, minus, mirrored, plus, transposed
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.spec import algorithm
from kinetree.control.joint_laws import delivered
from kinetree.control.manifold_error import ManifoldError
from kinetree.errors import UnsupportedError
from kinetree.joints.spherical import quaternion_rate, turn_between
from kinetree.spatial import GeneralRotation, Matrix3, Vector3
from kinetree.spatial.rotations import quaternion_from_rotation, quaternion_product, quaternion_to_rotation

REFERENCES = {"world": "local_world_aligned", "local": "local"}
"""Of Jacobians, by axes."""


@dataclass(frozen=True)
class PoseGap:
    """The manifold of poses ``x = (position, quaternion)`` with twists in one kind of axes.

    ``difference`` is (log(R1 R0^T), p1 - p0) in the world's axes, (log(R0^T R1), R0^T (p1 - p0)) in local ones.
    """

    axes: str

    def q_dot(self, x, V) -> list:
        """dx/dt."""
        if self.axes == "local":
            return [*quaternion_to_rotation(x[3:]).inverse_apply(Vector3(*V[3:])), *quaternion_rate(x[3:], V[:3])]
        half = (0.0, *(0.5 * w for w in V[:3]))
        return [*V[3:], *quaternion_product(half, tuple(x[3:]))]

    def difference(self, x0, x1) -> list:
        """The rotation vector and the step from one pose to another."""
        step = Vector3(*(b - a for a, b in zip(x0[:3], x1[:3], strict=True)))
        if self.axes == "local":
            return [*turn_between(x0[3:], x1[3:]), *(quaternion_to_rotation(x0[3:]) @ step)]
        return [*(-w for w in turn_between(_inverse(x0[3:]), _inverse(x1[3:]))), *step]


def _inverse(quaternion):
    w, x, y, z = quaternion
    return w, -x, -y, -z


def _position(R, p) -> list:
    """A pose as a position of `PoseGap`."""
    return [*p, *quaternion_from_rotation(GeneralRotation(Matrix3(R).T))]


def _in_axes(axes, R_d, V_d, A_d):
    """A twist and its rate in the world's axes, in the axes of the errors."""
    if axes != "local" or V_d is None:
        return V_d, A_d
    E = GeneralRotation(Matrix3(R_d).T)
    w, v = Vector3(*V_d[:3]), Vector3(*V_d[3:])
    V = [*(E @ w), *(E @ v)]
    return V, None if A_d is None else [*(E @ Vector3(*A_d[:3])), *(E @ (Vector3(*A_d[3:]) - w.cross(v)))]


def pose_error(model, q, v, R_d, p_d, V_d, A_d, frame, axes):
    """The error of a frame's pose, and its Jacobian.

    Returns
    -------
    error : ManifoldError
    J : list of lists
    """
    if model.algebra.dimension != 6:
        raise UnsupportedError(f"model {model.name!r} is planar: laws of frames are those of space.")
    J = jacobian(model, q, frame=frame, reference=REFERENCES[axes])
    V_d, A_d = _in_axes(axes, R_d, V_d, A_d)
    x, x_d = _position(*pose(model, q, frame=frame)), _position(R_d, p_d)
    return ManifoldError([(PoseGap(axes), x, apply(J, v), x_d, V_d, A_d)]), J


@algorithm(
    inputs="q v R_d p_d V_d frame_stiffness frame_damping",
    outputs="tau",
    static=("frame", "axes", "actuated"),
    symbols={"tau": "Joint forces to apply [N m or N]."},
    raises="UnsupportedError",
)
def cartesian_impedance(model, q, v, R_d, p_d, V_d, frame_stiffness, frame_damping, *, frame, axes, actuated=None):
    r"""Joint forces that give a frame a stiffness and a damping about a pose, and hold the weight.

    .. math:: \tau = J^T (B^T K e + D (V_r - V)) + \mathrm{ID}(q, 0, 0)

    Notes
    -----
    Source: N. Hogan, "Impedance control", ASME Journal of Dynamic Systems, Measurement and Control 107 (1985); C. Ott,
    *Cartesian Impedance Control of Redundant and Flexible-Joint Robots* (2008), section 4.2. e is a rotation vector and
    a step; the wrench of the stiffness is the gradient of ``e . K e / 2``, for any rotation below half a turn. No
    inverse is taken, so singular positions need no care. Identity: with a constant pose the kinetic energy and that of
    the stiffness change together at the rate ``-V . D V``, and the power of external forces.

    See Also
    --------
    CartesianImpedance

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm, q, still = kt.models.double_pendulum(), np.array([0.3, 0.6]), np.zeros(6)
    >>> tip = arm.body_names[-1]
    >>> K, D = np.diag([0, 0, 0, 400.0, 0, 400.0]), np.diag([0, 0, 0, 40.0, 0, 40.0])
    >>> with kt.interpreted():
    ...     R, p = kt.pose(arm, q, frame=tip)
    ...     at = {"frame": tip, "axes": "world"}
    ...     held = kt.control.cartesian_impedance(arm, q, [0, 0], R, p, still, K, D, **at)
    ...     pulled = kt.control.cartesian_impedance(arm, q, [0, 0], R, p + [0.01, 0, 0], still, K, D, **at)
    ...     J = kt.jacobian(arm, q, frame=tip, reference="local_world_aligned")
    ...     weight = kt.gravity_forces(arm, q)
    >>> np.allclose(held, weight), np.allclose(pulled - weight, 400.0 * 0.01 * J[3])
    (True, True)
    """
    error, J = pose_error(model, q, v, R_d, p_d, V_d, None, frame, axes)
    wrench = minus(error.pulled_back(apply(frame_stiffness, error.e)), apply(frame_damping, error.s))
    rest = [0.0] * model.nv
    held = inverse_dynamics(model, q, rest, rest, actuated=actuated)
    return plus(held, delivered(model, q, v, apply(transposed(J), wrench), actuated))


@algorithm(inputs="q", outputs="Lambda_inv", static=("frame", "reference"), raises="SingularityError")
def inverse_task_inertia(model, q, *, frame, reference):
    r"""The inverse of the inertia of a frame as its environment feels it.

    .. math:: \Lambda^{-1} = J M^{-1} J^T

    Notes
    -----
    Source: O. Khatib, "A unified approach for motion and force control of robot manipulators: the operational space
    formulation", IEEE Journal of Robotics and Automation 3 (1987), eq. 14; Featherstone (2008), eq. 7.3, where it is
    Phi^A of one handle. It exists everywhere, and is singular where the frame cannot move in some direction.

    See Also
    --------
    operational_space_terms, articulated_inverse_inertia

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> kt.control.inverse_task_inertia(arm, [0.1, 0.2], frame="lower", reference="local_world_aligned").shape
    (6, 6)
    """
    J, rows = jacobian(model, q, frame=frame, reference=reference), above(model)
    L, D = sparse.ltdl_factors(crba(model, q), rows, inertia_scales(model))
    W = [sparse.solve_lower_transpose(L, row, rows, unit=True) for row in J]  # Lambda^-1 = W D^-1 W^T
    scaled = [[x / d for x, d in zip(row, D, strict=True)] for row in W]
    return mirrored([[dot(row, other) for other in scaled[: k + 1]] for k, row in enumerate(W)])


def frame_task(model, q, v, R_d, p_d, V_d, A_d, kp, kd, *, frame, axes):
    """J, the joint accelerations' part ``A - J' v`` of a linear error equation, and the errors e and e'.

    A is the rate of the frame's twist for which ``e'' + kd e' + kp e = 0``.
    """
    error, J = pose_error(model, q, v, R_d, p_d, V_d, A_d, frame, axes)
    e_ddot = [-x for x in plus(apply(kp, error.e), apply(kd, error.e_dot))]
    return J, minus(error.accelerations(e_ddot), _bias(model, q, v, frame, axes)), error.e, error.e_dot


def frame_compliance(model, q, v, R_d, p_d, V_d, A_d, K, D, push, mobility, *, frame, axes):
    """J and ``A - J' v`` of a frame with the inertia ``mobility^-1``, stiffness K and damping D under a wrench."""
    error, J = pose_error(model, q, v, R_d, p_d, V_d, A_d, frame, axes)
    wrench = plus(push, minus(error.pulled_back(apply(K, error.e)), apply(D, error.s)))
    return J, minus(plus(error.a_r, apply(mobility, wrench)), _bias(model, q, v, frame, axes))


def _bias(model, q, v, frame, axes):
    """``J' v``."""
    return acceleration(model, q, v, [0.0] * model.nv, frame=frame, reference=REFERENCES[axes], kind="spatial")


def pose_rows(model, q, R_d, p_d, *, frame):
    """The error e of a frame's pose in the world's axes, and the matrix G of its decrease: ``de = -G dq``."""
    rest, still = [0.0] * model.nv, [0.0] * 6
    error, J = pose_error(model, q, rest, R_d, p_d, still, None, frame, "world")
    return error.e, error.decrease(J)
