r"""Forward dynamics of closed-loop systems by the three methods of section 8.5, and by loop-closure functions.

Book (sections 8.5, 8.11)        here
``H, C - tau^a, K, k + k_stab``  ``H``, ``C``, ``K, k``
``Y, z, A, b``                   ``Y, z, A, b``
``G, g, y``                      those of `solve_constraints`, or of the loop-closure function
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinetree.algorithms.crba import crba
from kinetree.algorithms.inverse_mass import inverse_mass_product
from kinetree.algorithms.mass_factors import above
from kinetree.algorithms.rnea import bias_forces
from kinetree.algorithms.sparse import ltl_factors, solve_lower_transpose, solve_ltl
from kinetree.arguments import (
    a_callable,
    a_mapping,
    a_model,
    a_positive_number,
    a_word,
    an_array,
    array,
    checked,
    choice,
)
from kinetree.errors import UnsupportedError
from kinetree.joints.dual import Dual, rate_of, value_of
from kinetree.textbook.loop_elimination import LEAST, eliminated
from kinetree.textbook.loop_terms import (
    bias_and_loop_forces,
    constraint_terms,
    loop_joints,
    named_forces,
    scalars_of,
    stabilization,
)


class LoopDynamics(NamedTuple):
    """Accelerations and constraint forces.

    Attributes
    ----------
    a : (nv,) array
        [rad/s^2 or m/s^2].
    multipliers : (nc,) array
        Constraint forces along the columns of T [N m or N].
    """

    a: np.ndarray
    multipliers: np.ndarray


@checked(
    model=a_model, q=an_array, v=an_array, tau=an_array, f_ext=an_array, method=a_word, T_stab=a_positive_number,
    loop_forces=a_mapping,
)  # fmt: skip
def loop_dynamics(model, q, v, tau, f_ext=None, *, method="loop_forces", T_stab=None, loop_forces=None) -> LoopDynamics:
    r"""Forward dynamics of the tree and its loop joints by one of the methods of the book.

    .. math:: \begin{bmatrix} H & K^T \\ K & 0 \end{bmatrix} \begin{bmatrix} a \\ -\lambda \end{bmatrix} =
        \begin{bmatrix} \tau - C + \tau^a \\ k + k_{stab} \end{bmatrix}

    Parameters
    ----------
    model : Model
        Its constraints are loop joints.
    q : (nq,) array
        Joint positions [rad or m; quaternions unit].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    tau : (nv,) array
        Joint forces [N m or N]; passive ones are not added.
    f_ext : (nb, 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    method : {"loop_forces", "kkt", "null_space", "dual"}
        Method 2: ``A lambda = b`` first, with the sparse factor of H. Method 1: the whole equation at once, without
        rows that others imply. Method 3: ``a = G y + g`` first. "dual": method 2 without H, by products with its
        inverse in linear time.
    T_stab : float, optional
        Time constant of the stabilization [s]; none by default.
    loop_forces : mapping of str to (nv_k,) array, optional
        Active forces of loop joints along their own velocities [N m or N].

    Returns
    -------
    LoopDynamics
        ``a, multipliers``. If rows are dependent, multipliers are the least ones, in the scale of A or for "null_space"
        in that of K; "kkt" has zeros for the rows that it leaves out.

    Raises
    ------
    UnsupportedError
        The model has constraints of other kinds, gears, or joints that depend on time.
    ArgumentError
        The method is none of these.

    Notes
    -----
    Source: Featherstone (2008), section 8.5, eqs. 8.34-8.46; Sueda, section 2.12, eqs. 2.121-2.124 for
    "dual". Dependent rows may be slightly inconsistent, by rounding
    and by errors of position; then the accelerations differ by as much between the methods. *Identities* The
    methods give the same a and ``K^T lambda`` as `forward_dynamics`.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v = kt.models.random_loops(4, bodies=6, loops=1, family="planar")
    >>> a, force = kt.textbook.loop_dynamics(model, q, v, np.ones(model.nv))
    >>> for method in ("kkt", "null_space"):
    ...     other = kt.textbook.loop_dynamics(model, q, v, np.ones(model.nv), method=method)
    ...     assert np.allclose(other.a, a, rtol=1e-9)
    """
    who = "loop_dynamics"
    loops = {loop.name: loop for loop in loop_joints(model, who)}
    choice(f"{who}: method", method, METHODS)
    q, v, tau, f_ext = scalars_of(model, who, q, v, tau=tau, f_ext=f_ext)
    C = bias_and_loop_forces(model, q, v, f_ext, named_forces(loops, loop_forces, who))
    K, k, _ = constraint_terms(model, q, v, *stabilization(who, T_stab))
    force = [t - c for t, c in zip(tau, C, strict=True)]
    K, k = np.array(K, float).reshape(-1, model.nv), np.array(k, float)
    return LoopDynamics(*METHODS[method](model, q, force, K, k))


def by_kkt(model, q, force, K, k):
    """Method 1: eq. 8.36 without rows that others imply."""
    H, rows = crba(model, q), sorted(eliminated(K, k).rows)
    n, kept = model.nv, K[rows]
    whole = np.block([[np.array(H, float), kept.T], [kept, np.zeros((len(rows), len(rows)))]])
    found = np.linalg.solve(whole, np.concatenate([force, k[rows]]))
    lam = np.zeros(len(k))
    lam[rows] = -found[n:]
    return found[:n], lam


def by_loop_forces(model, q, force, K, k):
    """Method 2: the procedure of six steps after eq. 8.41, with the pseudoinverse of A."""
    rows = above(model)
    L = ltl_factors(crba(model, q), rows)
    Y = np.array([solve_lower_transpose(L, row, rows) for row in K.tolist()], float).reshape(-1, model.nv).T
    z = np.array(solve_lower_transpose(L, force, rows), float)
    lam = _least(Y.T @ Y, k - Y.T @ z)
    return np.array(solve_ltl(L, (force + K.T @ lam).tolist(), rows), float), lam


def by_dual(model, q, force, K, k):
    """A and the free accelerations by solutions with articulated bodies, without a mass matrix."""
    free = np.array(inverse_mass_product(model, q, force), float)
    columns = np.array([inverse_mass_product(model, q, row) for row in K.tolist()], float).reshape(-1, model.nv).T
    lam = _least(K @ columns, k - K @ free)
    return free + columns @ lam, lam


def _least(A, b):
    """``A^+ b``, with rows scaled, which have different units; those of rounding stay small."""
    size = np.sqrt(np.abs(np.diagonal(A)))
    scale = 1.0 / np.maximum(size, LEAST * size.max(initial=0.0) or 1.0)
    return scale * (np.linalg.pinv(A * scale[:, None] * scale, rcond=1e-12, hermitian=True) @ (scale * b))


def by_null_space(model, q, force, K, k):
    """Method 3: eqs. 8.42-8.46; multipliers from eq. 8.34."""
    found, H = eliminated(K, k), np.array(crba(model, q), float)
    G, g = found.G, found.g
    y = np.linalg.solve(G.T @ H @ G, G.T @ (force - H @ g))
    a = G @ y + g
    return a, np.linalg.lstsq(K.T, H @ a - force, rcond=1e-10)[0] if len(K) else np.zeros(0)


METHODS = {"loop_forces": by_loop_forces, "kkt": by_kkt, "null_space": by_null_space, "dual": by_dual}


# Loop-closure functions -----------------------------------------------------------------------------------------------


class ClosureDynamics(NamedTuple):
    """Motion of a closed-loop system by its independent variables.

    Attributes
    ----------
    y_ddot : (n - r,) array
        Accelerations of the independent variables [rad/s^2 or m/s^2].
    q, v, a : (nq,), (nv,), (nv,) array
        Positions, velocities and accelerations of the joints of the tree [rad or m, per second, per second^2].
    G : (nv, n - r) array
        ``v = G y_dot`` [1 or m].
    g : (nv,) array
        ``a = G y_ddot + g`` [rad/s^2 or m/s^2].
    """

    y_ddot: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    G: np.ndarray
    g: np.ndarray


@checked(model=a_model, gamma=a_callable, y=an_array, y_dot=an_array, tau=an_array, f_ext=an_array, G=a_callable,
         g=a_callable)  # fmt: skip
def closure_dynamics(
    model, gamma: Callable, y, y_dot, tau, f_ext=None, *, G: Callable | None = None, g: Callable | None = None
) -> ClosureDynamics:
    r"""Forward dynamics by a function that gives the positions of all joints from independent variables.

    .. math:: q = \gamma(y), \qquad v = G \dot y, \qquad a = G \ddot y + g, \qquad
        G^T H G\, \ddot y = G^T (\tau - C - H g)

    Parameters
    ----------
    model : Model
        The tree; loop joints are not read.
    gamma : callable
        ``gamma(y)``, the nq joint positions, of scalars that may be more than floats: use `kinetree.spatial.scalar`.
    y, y_dot : (n - r,) array
        Independent variables and their rates [rad or m, rad/s or m/s].
    tau : (nv,) array
        Joint forces [N m or N].
    f_ext : (nb, 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    G, g : callable, optional
        ``G(y)``, an (nv, n - r) matrix, and ``g(y, y_dot)``, nv numbers. By default gamma is differentiated.

    Returns
    -------
    ClosureDynamics
        ``y_ddot, q, v, a, G, g``.

    Raises
    ------
    UnsupportedError
        G or g is not given, and a joint's velocity is not the rate of its coordinates.

    Notes
    -----
    Source: Featherstone (2008), section 8.11, eqs. 8.56-8.60 and 8.45. Integrate y: then loops cannot open, so nothing
    is stabilized.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, gamma = kt.models.double_pendulum(), lambda y: [y[0], -2.0 * y[0]]
    >>> found = kt.textbook.closure_dynamics(model, gamma, [0.3], [1.0], [0.0, 0.0])
    >>> found.G.tolist(), found.g.tolist()
    ([[1.0], [-2.0]], [0.0, 0.0])
    """
    who = "closure_dynamics"
    y, y_dot = array(f"{who}: y", y, shape=(None,)), array(f"{who}: y_dot", y_dot, shape=(np.shape(y)[0],))
    y, y_dot = y.tolist(), y_dot.tolist()
    if G is None or g is None:
        _refuse_other_rates(model, who)
        slope, curvature = _differentiated(gamma, y, y_dot)
    q, v, tau, f_ext = scalars_of(model, who, [value_of(x) for x in gamma(y)], None, tau=tau, f_ext=f_ext)[:4]
    G_y = array(f"{who}: G", slope if G is None else G(y), shape=(model.nv, len(y)))
    g_y = array(f"{who}: g", curvature if g is None else g(y, y_dot), shape=(model.nv,))
    v = G_y @ y_dot
    H, C = np.array(crba(model, q), float), np.array(bias_forces(model, q, v.tolist(), f_ext), float)
    y_ddot = np.linalg.solve(G_y.T @ H @ G_y, G_y.T @ (np.array(tau) - C - H @ g_y))
    return ClosureDynamics(y_ddot, np.array(q), v, G_y @ y_ddot + g_y, G_y, g_y)


def _differentiated(gamma, y, y_dot):
    """G = d gamma/dy, and g = dG/dt y_dot: second derivatives along y_dot, by dual numbers of dual numbers."""
    columns = [[rate_of(x) for x in gamma([Dual(x, float(m == k)) for m, x in enumerate(y)])] for k in range(len(y))]
    moving = gamma([Dual(Dual(x, dx), Dual(dx, 0.0)) for x, dx in zip(y, y_dot, strict=True)])
    return np.array(columns, float).T, [float(rate_of(rate_of(x))) for x in moving]


def _refuse_other_rates(model, who: str) -> None:
    rng = np.random.default_rng(0)
    for i in model.outward():
        joint, units = model.joints[i], np.eye(model.joints[i].nv).tolist()
        if joint.nq != joint.nv or [joint.q_dot(joint.random(rng), unit) for unit in units] != units:
            raise UnsupportedError(
                f"{who}: the velocity of joint {model.joint_name(i)!r} ({joint!r}) is not the rate of its coordinates, "
                "so gamma is not enough; give G and g"
            )
