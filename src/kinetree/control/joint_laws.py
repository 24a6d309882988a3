"""Laws of control in the space of the joints, over any scalar: compiled, batched and exported like other algorithms.

``e, e', s, v_r, a_r`` are those of `kinetree.control.manifold_error`. ``ID`` is `inverse_dynamics`: the complete model
with its passive joint forces, couplings and constraints.
"""

from __future__ import annotations

from kinetree.algorithms.complete import inverse_dynamics
from kinetree.algorithms.constrained import remaining_rows
from kinetree.algorithms.coriolis import coriolis_product
from kinetree.algorithms.couplings import at_masters
from kinetree.algorithms.domain import UNIT_QUATERNIONS, unit_quaternions
from kinetree.algorithms.loop_inverse_dynamics import shared_with_loops
from kinetree.algorithms.matrices import apply, minus, plus
from kinetree.algorithms.null_space import closed_loops_accelerations
from kinetree.algorithms.spec import algorithm
from kinetree.control.manifold_error import ManifoldError
from kinetree.state_kinematics import Kinematics

STATES = (UNIT_QUATERNIONS, unit_quaternions("q_d"))
TAU = {"tau": "Joint forces to apply [N m or N]."}


@algorithm(inputs="q v q_d v_d", outputs="e e_dot", domains=STATES, body_frames=None)
def tracking_error(model, q, v, q_d, v_d):
    """The step from the position to that of a reference, and its rate.

    Notes
    -----
    Source: ``e = difference(q, q_d)``, differentiated exactly; ``v_d - v`` for joints whose positions form a vector
    space.

    Examples
    --------
    >>> import kinetree as kt
    >>> e, e_dot = kt.control.tracking_error(kt.models.double_pendulum(), [0.1, 0.2], [0, 0], [0.3, 0.2], [1.0, 0.0])
    >>> e.round(3).tolist(), e_dot.tolist()
    ([0.2, 0.0], [1.0, 0.0])
    """
    error = ManifoldError.of_joints(model, q, v, q_d, v_d)
    return error.e, error.e_dot


@algorithm(
    inputs="q v q_d v_d a_d kp kd", outputs="tau", static=("actuated",), domains=STATES, symbols=TAU,
    raises="UnsupportedError",
)  # fmt: skip
def computed_torque(model, q, v, q_d, v_d, a_d, kp, kd, *, actuated=None):
    r"""Joint forces under which the tracking error obeys a linear equation, by inverse dynamics.

    .. math:: \ddot e + K_d \dot e + K_p e = 0

    Notes
    -----
    Source: J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "Resolved-acceleration control of mechanical manipulators", IEEE
    Transactions on Automatic Control 25 (1980); Siciliano et al., *Robotics* (2009), section 8.5.2. For rotations e is
    a rotation vector, and its second derivative is exact: the equation holds for joints of every kind, while no
    rotation is off by half a turn. With couplings and closed loops it holds for the independent joints, the actuated
    ones where these are as many, if the gains couple them with no others.

    See Also
    --------
    ComputedTorque, inverse_dynamics

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm, q, v = kt.models.double_pendulum(), [0.1, 0.2], [0.0, 0.0]
    >>> tau = kt.control.computed_torque(arm, q, v, [0.3, 0.2], v, v, 25.0 * np.eye(2), 10.0 * np.eye(2))
    >>> kt.forward_dynamics(arm, q, v, tau).round(9).tolist()[0]  # kp e
    5.0
    """
    a = joint_task(model, q, v, q_d, v_d, a_d, kp, kd)
    return inverse_dynamics(model, q, v, allowed(model, q, v, a, actuated), actuated=actuated)


def joint_task(model, q, v, q_d, v_d, a_d, kp, kd):
    """The accelerations for which ``e'' + kd e' + kp e = 0``."""
    error = ManifoldError.of_joints(model, q, v, q_d, v_d, a_d)
    return error.accelerations([-x for x in plus(apply(kp, error.e), apply(kd, error.e_dot))])


@algorithm(
    inputs="q v q_d v_d kp kd", outputs="tau", static=("actuated",), domains=STATES, symbols=TAU,
    raises="UnsupportedError",
)  # fmt: skip
def pd_gravity_compensation(model, q, v, q_d, v_d, kp, kd, *, actuated=None):
    r"""Joint forces of springs and dampers to a reference, and those that hold the position.

    .. math:: \tau = B^T K_p e + K_d (v_r - v) + \mathrm{ID}(q, 0, 0)

    Notes
    -----
    Source: M. Takegaki, S. Arimoto, "A new feedback method for dynamic control of manipulators", ASME Journal of
    Dynamic Systems, Measurement and Control 103 (1981). The springs are the gradient of ``e . K_p e / 2``, also for
    rotations. Identity: with a constant reference the kinetic energy and that of the springs together change at the
    rate ``-v . K_d v``, less the power that dampers of the model take. Springs of the model are held, too.

    See Also
    --------
    PDGravityCompensation, gravity_forces
    """
    error, rest = ManifoldError.of_joints(model, q, v, q_d, v_d), [0.0] * model.nv
    feedback = minus(error.pulled_back(apply(kp, error.e)), apply(kd, error.s))
    held = inverse_dynamics(model, q, rest, rest, actuated=actuated)
    return plus(held, delivered(model, q, v, feedback, actuated))


@algorithm(
    inputs="q v q_d v_d a_d stiffness damping", outputs="tau", static=("actuated",), domains=STATES, symbols=TAU,
    raises="UnsupportedError",
)  # fmt: skip
def joint_impedance(model, q, v, q_d, v_d, a_d, stiffness, damping, *, actuated=None):
    r"""Joint forces that give the joints a stiffness and a damping about a moving reference, with their own inertia.

    .. math:: \tau = \mathrm{ID}(q, v, a_r) - C (v - v_r) + B^T K e + D (v_r - v)

    Notes
    -----
    Source: B. Paden, R. Panja, "Globally asymptotically stable 'PD+' controller for robot manipulators", International
    Journal of Control 47 (1988); N. Hogan, "Impedance control", ASME Journal of Dynamic Systems, Measurement and
    Control 107 (1985). With the matrix C of `coriolis_matrix`, for which ``dM/dt - 2 C`` is skew, the closed loop is
    ``M s' + C s + D s = B^T K e + tau_ext``, s = v - v_r.
    Identity: ``s . M s / 2 + e . K e / 2`` changes at the rate ``-s . D s + s . tau_ext``: passive for any reference.

    See Also
    --------
    JointImpedance, computed_torque
    """
    error = ManifoldError.of_joints(model, q, v, q_d, v_d, a_d)
    feedback = minus(error.pulled_back(apply(stiffness, error.e)), apply(damping, error.s))
    feedback = minus(feedback, coriolis_product(model, q, v, error.s))
    motion = inverse_dynamics(model, q, v, allowed(model, q, v, error.a_r, actuated), actuated=actuated)
    return plus(motion, delivered(model, q, v, feedback, actuated))


def allowed(model, q, v, a, actuated):
    """The accelerations that constraints allow, with those of independent joints as given."""
    if not any(c.row_kind == "equality" for c in model.constraints):
        return a
    proper = actuated is not None and len(actuated) == model.ny
    chosen = actuated if proper else model.independent_velocities()
    return closed_loops_accelerations(model, q, v, [a[k] for k in chosen], independent=chosen)


def delivered(model, q, v, f, actuated=None):
    """The forces of the actuated joints with the effect of given ones on all motions that constraints allow."""
    if remaining_rows(model) or actuated is not None:
        return shared_with_loops(model, Kinematics(model, q, v), f, actuated)[0]
    return at_masters(model, f)
