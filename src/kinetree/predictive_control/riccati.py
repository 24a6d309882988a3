"""The backward pass of differential dynamic programming: feedback from quadratic models of costs and steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from kinetree.predictive_control.box_quadratic import box_quadratic


@dataclass(slots=True, eq=False)
class QuadraticModel:
    """Costs and steps about a motion of T steps, for states x = (dq, dv) of n and controls of m entries.

    Attributes
    ----------
    A, B : (T, n, n), (T, n, m) array
        Of ``x' = A x + B u`` [units of the states and forces].
    l_x, l_u : (T + 1, n), (T, m) array
        Gradients of the costs [cost per unit].
    l_xx, l_uu, l_ux : (T + 1, n, n), (T, m, m), (T, m, n) array
        Hessians [cost per squared unit].
    curvature : callable or None
        ``curvature(k, V_x)``: Hessian (n + m, n + m) of ``V_x . step`` in (x, u) at step k; None leaves it out.
    """

    A: np.ndarray
    B: np.ndarray
    l_x: np.ndarray
    l_u: np.ndarray
    l_xx: np.ndarray
    l_uu: np.ndarray
    l_ux: np.ndarray
    curvature: object = None


@dataclass(slots=True, eq=False)
class Policy:
    """Changes of controls ``a k + K x`` for a step length a.

    Attributes
    ----------
    k, K : (T, m), (T, m, n) array
        [N m or N], [N m/rad, N m s/rad and so on]
    V_x, V_xx : (n,), (n, n) array
        Gradient and Hessian of the cost from the start on [cost per unit, per squared unit].
    linear, quadratic : float
        Expected change of the cost: ``a linear + a^2 quadratic``.
    slope : float
        Largest entry of the gradient with respect to free controls [cost per N m or N].
    """

    k: np.ndarray
    K: np.ndarray
    V_x: np.ndarray
    V_xx: np.ndarray
    linear: float
    quadratic: float
    slope: float


def backward_pass(model: QuadraticModel, damping: float, bounds=None) -> Policy | None:
    """The policy that minimizes the quadratic model; None where it has no minimum.

    Parameters
    ----------
    model : QuadraticModel
    damping : float
        Added to the diagonal of the Hessian of the remaining cost (Tassa et al. 2012, eq. 10) and to that of u.
    bounds : tuple of (T, m) arrays, optional
        Smallest and largest changes of the controls.

    Notes
    -----
    Source: Y. Tassa, T. Erez, E. Todorov, "Synthesis and stabilization of complex behaviors through online trajectory
    optimization", IROS 2012, eq. 5 to 11; with bounds Y. Tassa, N. Mansard, E. Todorov, "Control-limited differential
    dynamic programming", ICRA 2014.
    """
    T, n, m = model.B.shape
    k, K, unit = np.zeros((T, m)), np.zeros((T, m, n)), np.eye(m)
    V_x, V_xx = model.l_x[T], model.l_xx[T]
    linear = quadratic = slope = 0.0
    for t in reversed(range(T)):
        A, B = model.A[t], model.B[t]
        VA, VB = V_xx @ A, V_xx @ B
        Q_x, Q_u = model.l_x[t] + V_x @ A, model.l_u[t] + V_x @ B
        Q_xx, Q_uu, Q_ux = model.l_xx[t] + A.T @ VA, model.l_uu[t] + B.T @ VB, model.l_ux[t] + B.T @ VA
        if model.curvature is not None:
            H = model.curvature(t, V_x)
            Q_xx, Q_uu, Q_ux = Q_xx + H[:n, :n], Q_uu + H[n:, n:], Q_ux + H[n:, :n]
        damped, mixed = Q_uu, Q_ux
        if damping:
            damped, mixed = Q_uu + damping * (B.T @ B + unit), Q_ux + damping * (B.T @ A)
        factor, failed = dpotrf(damped, lower=1)
        if failed:
            return None
        free = None
        k[t] = -dpotrs(factor, Q_u, lower=1)[0]
        if bounds is not None and ((k[t] < bounds[0][t]) | (k[t] > bounds[1][t])).any():
            k[t], free = box_quadratic(damped, Q_u, bounds[0][t], bounds[1][t], k[t])
        if free is None or free.all():
            K[t] = -dpotrs(factor, mixed, lower=1)[0]
            slope = max(slope, np.abs(Q_u).max())
        elif free.any():
            K[t][free] = -np.linalg.solve(damped[np.ix_(free, free)], mixed[free])
            slope = max(slope, np.abs(Q_u[free]).max())
        linear += k[t] @ Q_u
        quadratic += 0.5 * k[t] @ Q_uu @ k[t]
        V_x = Q_x + K[t].T @ (Q_uu @ k[t] + Q_u) + Q_ux.T @ k[t]
        V_xx = Q_xx + K[t].T @ (Q_uu @ K[t] + Q_ux) + Q_ux.T @ K[t]
        V_xx = 0.5 * (V_xx + V_xx.T)
    return Policy(k, K, V_x, V_xx, float(linear), float(quadratic), float(slope))
