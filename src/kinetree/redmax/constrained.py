r"""Accelerations and velocities under rows of constraints: the KKT system, the quadratic program, and the dual.

Sueda                                       here
``M_r, f_r`` (eq. 2.18)                     `redmax_equation` (method "kkt"), or never formed ("dual")
KKT system (eq. 2.98-2.103)                 `_saddle_point`
QP (eq. 2.105)                              its dual (eq. 2.127) in `_multipliers`
``G M_r^-1 G^T`` (eq. 2.123)                algorithm 10 and algorithms 5, 6 for each row, O(n)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinetree.arguments import a_model, array, checked, choice, number
from kinetree.compiler.calls import public_call
from kinetree.compiler.factorization import factorize
from kinetree.compiler.time_argument import time_input
from kinetree.errors import ConstraintError
from kinetree.redmax.rows import stacked, tree_time

METHODS = ("kkt", "dual")
SLOPES = ("exact", "symmetric", "gauss_newton")
MISFIT = 1e-7  # of rows that contradict each other, relative


class Constrained(NamedTuple):
    """A solution under rows of constraints.

    Attributes
    ----------
    values : (nv,) array
        Accelerations [rad/s^2 or m/s^2], or velocities [rad/s or m/s].
    multipliers : (m,) array
        Forces along the rows [N m or N], or impulses [N m s or N s].
    """

    values: np.ndarray
    multipliers: np.ndarray


@checked(model=a_model)
def accelerations(model, q, v, tau, rows=(), *, f_ext=None, x=None, u=None, t=None, method: str = "kkt") -> Constrained:
    r"""Accelerations of a tree under rows of constraints, and their forces.

    .. math:: \min_{\ddot q}\ \tfrac12 \ddot q^T M_r \ddot q - \ddot q^T f_r \quad \text{subject to the rows}

    Parameters
    ----------
    model : Model
        Its own constraints are not rows by themselves: `model_rows` gives them.
    q : (nq,) array
        Joint positions [rad or m].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    tau : (nv,) array
        Actuator forces [N m or N].
    rows : sequence of Rows
    f_ext : (nb, 6) array, optional
        External wrenches in world coordinates [N m, N].
    x : (nx,) array, optional
        Internal states of force elements [as the elements define them].
    u : (nu,) array, optional
        Inputs of force elements [as the elements define them].
    t : float, optional
        Time [s], of models that depend on it.
    method : {"kkt", "dual"}
        "kkt": dense M_r, O(n^3). "dual": the multipliers from ``G M^-1 G^T``, each column by one solution in O(n).

    Returns
    -------
    Constrained

    Raises
    ------
    ConstraintError
        Rows contradict each other; those that are missed are named.
    ShapeError

    Notes
    -----
    Source: Sueda, eq. 2.98-2.107 and 2.121-2.127. Rows that others imply share their force by least norm.

    See Also
    --------
    velocities, model_rows, prescribed, point_rows

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.double_pendulum()
    >>> state = [0.1, 0.2], [0.0, 0.0], [0.0, 0.0]
    >>> rows = [kt.redmax.prescribed(arm, {"shoulder": 0.0})]
    >>> both = [kt.redmax.accelerations(arm, *state, rows, method=method).values for method in ("kkt", "dual")]
    >>> bool(np.allclose(*both))
    True
    """
    given, now = _given(f_ext, x, u), tree_time("accelerations", model, t)
    G, G_m, target, bias, inequality, names = stacked(model, rows)
    if G_m is not None:  # of the twists of bodies: G_m (J a + Jdot v)
        rates = _of_bodies("rate_product", model, q, v, v) if not now else _without_accelerations(model, q, v, now)
        bias = bias + np.einsum("mbr,br->m", G_m, rates)
    return _solved(model, q, v, tau, given, now, (G, G_m, target - bias, inequality, names), None, method)


@checked(model=a_model)
def velocities(
    model,
    q,
    v,
    tau,
    rows=(),
    *,
    dt,
    f_ext=None,
    x=None,
    u=None,
    t=None,
    slopes: str | None = None,
    method: str = "kkt",
) -> Constrained:
    r"""Velocities at the end of a step under rows of constraints, and their impulses.

    .. math:: (M_r + h D + h^2 K)\, \dot q_r^{+} = M_r \dot q_r + h (f_r + D \dot q_r) + G^T \lambda

    without K and D unless ``slopes`` is given.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions [rad or m].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    tau : (nv,) array
        Actuator forces [N m or N].
    rows : sequence of Rows
        On the velocities at the end of the step.
    dt : float
        Length of the step h [s].
    f_ext : (nb, 6) array, optional
        External wrenches in world coordinates [N m, N].
    x : (nx,) array, optional
        Internal states of force elements [as the elements define them].
    u : (nu,) array, optional
        Inputs of force elements [as the elements define them].
    t : float, optional
        Time at the start of the step [s], of models that depend on it.
    slopes : {None, "exact", "symmetric", "gauss_newton"}
        Linearly implicit in the stiffness and damping of joints and force elements, by `stiffness_matrix` and
        `damping_matrix` of this method; None: explicit forces.
    method : {"kkt", "dual"}
        As for `accelerations`; with slopes each solution of the dual is a dense one.

    Returns
    -------
    Constrained
        Positions follow by ``kt.integrate(model, q, dt * values)``.

    Raises
    ------
    ConstraintError, ShapeError

    Notes
    -----
    Source: Sueda, eq. 2.99, 2.101, 2.107; with slopes 2.72-2.79.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> rows = [kt.redmax.prescribed(arm, {"shoulder": 0.5})]
    >>> kt.redmax.velocities(arm, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0], rows, dt=0.01).values[0].round(12)
    np.float64(0.5)
    """
    h = number("velocities: dt", dt, above=0.0)
    if slopes is not None:
        choice("velocities: slopes", slopes, SLOPES)
    now = tree_time("velocities", model, t)
    G, G_m, target, _, inequality, names = stacked(model, rows)
    if G_m is not None and now:  # what time adds to the twists J v
        twists = public_call("body_velocities")(model, q, np.zeros(model.nv), **now, reference="local")
        target = target - np.einsum("mbr,br->m", G_m, twists)
    return _solved(model, q, v, tau, _given(f_ext, x, u), now, (G, G_m, target, inequality, names), h, method, slopes)


def _given(f_ext, x, u) -> dict:
    return {name: value for name, value in (("f_ext", f_ext), ("x", x), ("u", u)) if value is not None}


def _of_bodies(what: str, model, *arguments, **now):
    return public_call(f"body_jacobian_{what}")(model, *arguments, **now, reference="local")


def _without_accelerations(model, q, v, now):
    """Rates of the twists of all bodies where the joints have no accelerations, with what time adds."""
    rest = np.zeros(model.nv)
    return public_call("body_accelerations")(model, q, v, rest, **now, reference="local", kind="spatial")


def _solved(model, q, v, tau, given, now, rows, h, method, slopes=None) -> Constrained:
    """The solution of ``A y = b + G^T lambda``, ``G y (>=) right``: accelerations, or velocities with a step h."""
    choice("method", method, METHODS)
    G, G_m, right, inequality, names = rows
    v = array("v", v, shape=(model.nv,))
    if G_m is not None:  # J^T G_m^T, algorithm 6
        each = np.broadcast_to(np.asarray(q, float), (len(G), model.nq))
        G = G + _of_bodies("transpose_product", model, each, G_m, **now)
    if method == "kkt" or slopes:
        A, f = public_call("redmax_equation")(model, q, v, tau, **now, **given)
        b = f if h is None else A @ v + h * f
        if slopes:
            of = {name: value for name, value in given.items() if name != "f_ext"}
            names = "stiffness_matrix", "damping_matrix"
            K, D = (
                public_call(name)(model, q, v, method=slopes, **time_input(name, model, now.get("t")), **of)
                for name in names
            )
            A, b = A + h * D + h * h * K, b + h * (D @ v)
        if method == "kkt" and not inequality.any():
            y, lam = _saddle_point(A, b, G, right)
            return _checked(y, lam, G, right, inequality, names)

        def solve(b):
            return np.linalg.solve(A, b.T).T

        free = solve(b)
    else:
        f, solve = _forces(model, q, v, tau, given, now), _inverse(model, q, now)
        free = solve(f) if h is None else v + h * solve(f)
    response = solve(G)  # M^-1 G^T by rows
    lam = _multipliers(response @ G.T, right - G @ free, inequality)
    return _checked(free + lam @ response, lam, G, right, inequality, names)


def _inverse(model, q, now) -> Callable:
    """The solution with M_r of right-hand sides in rows, O(n) each."""
    if not now:
        return factorize(model, q).solve
    product = public_call("inverse_mass_product")
    return lambda b: product(model, np.broadcast_to(np.asarray(q, float), (*b.shape[:-1], model.nq)), b, **now)


def _forces(model, q, v, tau, given, now) -> np.ndarray:
    """f_r in O(n), without M_r."""
    wrenches = {name: value for name, value in given.items() if name == "f_ext"}
    elements = {name: value for name, value in given.items() if name != "f_ext"}
    f = array("tau", tau, shape=(model.nv,)) - public_call("bias_forces")(model, q, v, **now, **wrenches)
    for name in ("passive_joint_forces", "actuator_joint_forces"):
        f = f + public_call(name)(model, q, v, **time_input(name, model, now.get("t")), **elements)
    return f


def _saddle_point(M, b, G, right) -> tuple[np.ndarray, np.ndarray]:
    """eq. 2.103; with redundant rows the shortest multipliers."""
    n = len(b)
    matrix = np.block([[M, -G.T], [G, np.zeros((len(G), len(G)))]])
    try:
        found = np.linalg.solve(matrix, np.concatenate([b, right]))
        if not np.allclose(G @ found[:n], right, rtol=0.0, atol=1e-9 * (1.0 + np.abs(right).max(initial=0.0))):
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        found = np.linalg.lstsq(matrix, np.concatenate([b, right]), rcond=1e-12)[0]
    return found[:n], found[n:]


def _multipliers(A, b, inequality) -> np.ndarray:
    """The dual (eq. 2.123, 2.127): ``min lambda^T A lambda / 2 - b^T lambda``, lambda >= 0 at inequalities.

    ``A = W^T W``, so it is the dual of ``min |x|`` subject to ``W^T x (>=) b``, least distance programming. SciPy's
    nonnegative least squares solves it exactly after finitely many changes of the active set (Lawson and Hanson 1974,
    chapter 23), also where rows oppose each other, as the two limits of a joint. Rows that cannot hold have no forces.
    """
    if not inequality.any():
        return np.linalg.lstsq(A, b, rcond=1e-13)[0]
    from scipy.optimize import nnls

    scale = np.sqrt(np.maximum(np.diag(A), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(A / np.outer(scale, scale))
    roots = np.sqrt(np.maximum(values, 0.0))
    kept = roots > 1e-8 * roots.max(initial=0.0)
    rows, b_s = vectors[:, kept] * roots[kept], b / scale  # W^T
    equal = rows[~inequality]
    x = np.linalg.lstsq(equal, b_s[~inequality], rcond=1e-12)[0]
    _, sizes, directions = np.linalg.svd(equal)
    free = directions[(sizes > 1e-12 * sizes.max(initial=0.0)).sum() :]
    C, d = rows[inequality] @ free.T, b_s[inequality] - rows[inequality] @ x
    size = np.abs(d).max()
    lam, pushing = np.zeros(len(b)), np.zeros(len(d))
    if (d > 0.0).any():
        u, _ = nnls(np.vstack([C.T, d / size]), np.append(np.zeros(len(free)), 1.0))
        left = 1.0 - d @ u / size
        pushing = u * size / left if left > 1e-14 else pushing
    lam[inequality] = pushing
    active = ~inequality | (lam > 0.0)
    lam[active] = np.linalg.lstsq(A[np.ix_(active, active)], b[active], rcond=1e-13)[0]
    if (lam[inequality] >= 0.0).all():
        return lam
    lam[inequality] = pushing / scale[inequality]  # of redundant rows the shortest multipliers may pull
    rest = b[~inequality] - A[np.ix_(~inequality, inequality)] @ lam[inequality]
    lam[~inequality] = np.linalg.lstsq(A[np.ix_(~inequality, ~inequality)], rest, rcond=1e-13)[0]
    return lam


def _checked(y, lam, G, right, inequality, names) -> Constrained:
    """The solution, unless rows are missed."""
    misfit = G @ y - right
    misfit[inequality] = np.minimum(misfit[inequality], 0.0)
    size = np.abs(G).sum(axis=1) * np.abs(y).max(initial=0.0) + np.abs(right).max(initial=0.0)
    missed = np.flatnonzero(np.abs(misfit) > MISFIT * size)
    if len(missed):
        shown = ", ".join(f"{names[n]} (row {n}, by {misfit[n]:.3g})" for n in missed[:4])
        if not G[missed].any():
            raise ConstraintError(
                f"no joint velocity changes what these rows hold, and it is not what they ask for: {shown}. Their "
                "coefficients are zero, as those of points of a body that is fixed, or moves as a function of time "
                "alone. Leave rows out, or make their targets agree.",
                rows=tuple(missed.tolist()),
            )
        raise ConstraintError(
            f"the rows contradict each other, the system is over-constrained: {shown} cannot hold with the others. "
            "Leave rows out, or make their targets agree.",
            rows=tuple(missed.tolist()),
        )
    return Constrained(y, lam)
