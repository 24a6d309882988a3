"""Linear quadratic regulators about a state of equilibrium, from compiled derivatives of the complete dynamics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, expm, solve_continuous_are, solve_discrete_are

from kinetree.arguments import a_model, a_positive_number, array, checked, names
from kinetree.compiler.calls import public_call
from kinetree.compiler.derivative_functions import differentiate
from kinetree.control.controller import Controller, gain_matrix
from kinetree.errors import ArgumentError, SimulationError, UnsupportedError
from kinetree.model import Model

AT_REST = 1e-6  # largest acceleration of an equilibrium [rad/s^2 or m/s^2], beside 1 plus those of gravity
RANK = 1e-9  # of singular values that count as zero, relative to the largest


@dataclass(frozen=True, eq=False)
class LinearQuadraticRegulator(Controller):
    """Linear feedback of positions and velocities about an equilibrium; made by `lqr`.

    Attributes
    ----------
    q0 : (nq,) array
        Positions [rad or m; quaternions unit]; those at t = 0 where the joints move.
    v0 : (nv,) array
        Velocities [rad/s or m/s].
    tau0 : (nv,) array
        Forces that keep the accelerations zero [N m or N].
    K : (nv, 2*nv) array
        Gain of ``x = (difference(q0, q), v - v0)`` [N m/rad, N m s/rad and so on]: ``tau = tau0 - K x``.
    directions : (nv, n) array
        Independent velocities [1 or m], the columns of G: ``x = (G y, G y')`` within constraints; the unit matrix
        without them.
    A : (2*n, 2*n) array
        Of ``(y, y')' = A (y, y') + B u`` [1/s, 1/s^2], for the next sample with dt.
    B : (2*n, nu) array
        The same of the forces of the actuated coordinates [1/(kg m^2), 1/kg].
    cost : (2*n, 2*n) array
        ``(y, y') . cost (y, y')`` is the cost from there on [cost of Q times s].
    poles : (2*n,) array
        Of the closed loop [1/s]; with dt, of the step [1].
    dt : float or None
        Sample time [s].
    """

    q0: np.ndarray
    v0: np.ndarray
    tau0: np.ndarray
    K: np.ndarray
    directions: np.ndarray
    A: np.ndarray
    B: np.ndarray
    cost: np.ndarray
    poles: np.ndarray
    dt: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("q0", "v0", "tau0", "K", "directions", "A", "B", "cost", "poles"):
            self._set(name, np.array(getattr(self, name)))

    def law(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces before they are cut to their bounds [N m or N]."""
        q0 = self._computed("integrate", t, self.q0, t * self.v0) if self.v0.any() else self.q0
        step = self._computed("difference", t, q0, q)
        return self.tau0 - self.K @ np.concatenate((step, v - self.v0))


@checked(model=a_model, dt=a_positive_number)
def lqr(model: Model, q, v=None, tau=None, *, Q, R, actuated=None, dt=None, effort_limit=None):
    r"""The linear feedback that minimizes a quadratic cost about an equilibrium.

    .. math:: \min \int x^T Q\, x + u^T R\, u\; dt, \qquad \tau = \tau_0 - K x

    Parameters
    ----------
    model : Model
    q : (nq,) array_like
        Positions of the equilibrium [rad or m; quaternions unit].
    v : (nv,) array_like, optional
        Its velocities [rad/s or m/s]: of joints that turn or slide on at a constant speed. Default: rest.
    tau : (nv,) array_like, optional
        Its joint forces [N m or N]. Default: the least forces of the actuated joints that keep it.
    Q : float, (2*nv,) or (2*nv, 2*nv) array_like
        Weight of ``x = (difference(q0, q), v - v0)`` [1/rad^2, s^2/rad^2, or of m], positive semidefinite.
    R : float, (nu,) or (nu, nu) array_like
        Weight of the nu forces of the actuated coordinates [1/(N m)^2 or 1/N^2], positive definite.
    actuated : str or sequence of str, optional
        Joints with actuators; default all.
    dt : float, optional
        Sample time [s] of a digital controller with a zero-order hold. Default: continuous.
    effort_limit : optional
        See `Controller`.

    Returns
    -------
    LinearQuadraticRegulator

    Raises
    ------
    ArgumentError, ShapeError, UnknownNameError, UnsupportedError
    SimulationError
        The state is no equilibrium; or there is a motion that is not stable and that no actuator changes.

    Notes
    -----
    Source: R. E. Kalman, "Contributions to the theory of optimal control", Boletin de la Sociedad Matematica Mexicana 5
    (1960); Riccati's equations by SciPy, the model's equations by `forward_dynamics_derivatives`, of the complete
    dynamics with springs, dampers, couplings and closed loops. With constraints the state is that of independent
    velocities, an orthogonal basis of the motions that the constraints allow.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.cart_pole()
    >>> balance = kt.control.lqr(model, [0.0, 0.0], Q=1.0, R=0.1, actuated="slider")
    >>> run = kt.simulate(model, [0.0, 0.3], duration=8.0, dt=0.01, controller=balance)
    >>> bool(np.abs(run.q[-1]).max() < 1e-3)
    True
    """
    q = array("lqr: q", q, shape=(model.nq,))
    v = np.zeros(model.nv) if v is None else array("lqr: v", v, shape=(model.nv,))
    given = None if tau is None else array("lqr: tau", tau, shape=(model.nv,))
    if model.time_dependent:
        raise UnsupportedError(f"lqr: model {model.name!r} depends on time, so it has no equilibrium.")
    if v.any() and model.constraints:
        raise UnsupportedError("lqr: with constraints the equilibrium has to be at rest; leave v out.")
    columns = _coordinates(model, actuated)
    tau, a = _held(model, q, v, given, columns)
    Q = gain_matrix("lqr: Q", Q, 2 * model.nv, "cost per squared state", definite=False)
    R = gain_matrix("lqr: R", R, len(columns), "cost per squared force")
    A, B, G = _linearized(model, q, v, tau, columns)
    step = None if dt is None else float(dt)
    weight = block_diag(G, G).T @ Q @ block_diag(G, G)
    K, P, poles = _optimal(model, A, B, weight, R, G, step)
    gain = np.zeros((model.nv, 2 * model.nv))
    gain[columns] = K @ block_diag(G.T, G.T)
    return LinearQuadraticRegulator(
        model, q, v, tau, gain, G, *_sampled(A, B, step), P, poles, step, effort_limit=effort_limit
    )


def _coordinates(model, actuated) -> np.ndarray:
    """Velocity coordinates of the joints with actuators."""
    if actuated is None:
        return np.arange(model.nv)
    joints = names("lqr: actuated", actuated)
    found = [k for name in joints for k in range(model.nv)[model.v_slice[model.joint(name)]]]
    if not found:
        raise ArgumentError("lqr: actuated is empty, so there is no force to control with.", argument="actuated")
    return np.array(found)


def _held(model, q, v, given, columns):
    """The forces that keep an equilibrium, and the accelerations under them, which have to vanish."""
    forward = public_call("forward_dynamics")
    tau = np.zeros(model.nv) if given is None else given
    a = forward(model, q, v, tau)
    size = 1.0 + np.abs(a).max(initial=0.0)
    if given is None:
        da_dtau = public_call("forward_dynamics_derivatives")(model, q, v, tau).da_dtau[:, columns]
        tau[columns] = -np.linalg.lstsq(da_dtau, a, rcond=RANK)[0]
        a = forward(model, q, v, tau)
    if not np.abs(a).max(initial=0.0) <= AT_REST * size:
        k = int(np.argmax(np.abs(a)))
        joint = next(model.joint_name(i) for i in model.outward() if k in range(model.nv)[model.v_slice[i]])
        how = "with the forces tau" if given is not None else "with any forces of the actuated joints"
        raise SimulationError(
            f"lqr: the state is no equilibrium: {how} joint {joint!r} accelerates by {a[k]:.3g}. Give a state at rest "
            "(or leave tau out: the forces are then found), or actuate more joints.",
            acceleration=a,
        )
    return tau, a


def _linearized(model, q, v, tau, columns):
    """A and B of the independent velocities' state, and their directions G."""
    found = public_call("forward_dynamics_derivatives")(model, q, v, tau)
    G = np.eye(model.nv)
    if model.constraints:
        left, values, _ = np.linalg.svd(found.da_dtau)
        G = left[:, values > RANK * values[0]]
    n = G.shape[1]
    turning = np.zeros((n, n))
    if v.any():  # the axes in which the step is seen turn with the reference
        f = differentiate(model, "tracking_error", wrt="q_d", of="e_dot")
        turning = f(q, v, q, v)
    A = np.block([[turning, np.eye(n)], [G.T @ found.da_dq @ G, G.T @ found.da_dv @ G]])
    return A, np.concatenate((np.zeros((n, len(columns))), G.T @ found.da_dtau[:, columns])), G


def _sampled(A, B, dt):
    """The matrices of one step with a force that is constant during it; without dt the same ones."""
    if dt is None:
        return A, B
    n, m = B.shape
    whole = expm(dt * np.block([[A, B], [np.zeros((m, n + m))]]))
    return whole[:n, :n], whole[:n, n:]


def _optimal(model, A, B, Q, R, G, dt):
    """Gain, cost and poles; errors name motions that the actuators do not reach."""
    _check_stabilizable(model, A, B, G)
    A, B = _sampled(A, B, dt)
    if not np.isfinite(A).all():
        raise ArgumentError(f"lqr: dt is {dt:g} s, in which motions grow beyond all numbers.", argument="dt", found=dt)
    try:
        if dt is None:
            P = solve_continuous_are(A, B, Q, R)
            K = np.linalg.solve(R, B.T @ P)
        else:
            P = solve_discrete_are(A, B, Q, R)
            K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise SimulationError(
            f"lqr: Riccati's equation has no solution ({error}). Q has to weight every motion that is not stable of "
            "itself."
        ) from None
    poles = np.linalg.eigvals(A - B @ K)
    worst = poles.real.max() if dt is None else np.abs(poles).max() - 1.0
    if not worst < 0.0:
        raise SimulationError(
            f"lqr: the closed loop is not stable (largest pole {worst:.3g}): Q has to weight every motion that is not "
            "stable of itself."
        )
    return K, P, poles


def _check_stabilizable(model, A, B, G) -> None:
    """Hautus' test for every pole that is not stable."""
    poles, vectors = np.linalg.eig(A.T)
    size = np.abs(A).max(initial=1.0)
    for pole, left in zip(poles, vectors.T, strict=True):
        if pole.real < -1e-9 * size or np.abs(left @ B).max() > RANK * np.abs(B).max() * np.abs(left).max():
            continue
        moved = np.abs(G @ np.abs(left[: G.shape[1]]))
        moved = moved if moved.max() > RANK else np.abs(G @ np.abs(left[G.shape[1] :]))
        k = int(np.argmax(moved))
        joint = next(model.joint_name(i) for i in model.outward() if k in range(model.nv)[model.v_slice[i]])
        raise SimulationError(
            f"lqr: no actuated joint changes the motion with the pole {pole:.3g} 1/s, which is not stable; joint "
            f"{joint!r} has the largest part in it. Actuate more joints, or leave its coordinates out of the model.",
            pole=pole,
        )
