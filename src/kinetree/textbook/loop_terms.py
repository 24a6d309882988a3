r"""Terms of the equation of motion of closed-loop systems: C - tau^a, K, k, and the stabilization of k.

Book (tables 8.1-8.4)            here
``v_i, a^vp_i, f_i``             ``V[i], A[i], f[i]``, in body coordinates; ``a^vp_0 = -a_g``
``X_P(l), X_S(l)``               ``loop.X_P, loop.X_S``, after those of the frames that they are placed on
``p(k), s(k)``                   ``p, s``
``T, delta``                     of the joint's ``implicit(X)``; T in base coordinates is ``T``
``T^a tau_k``                    `active_force`
``i_X_0``                        ``X_0[i]``; with ``root`` to that body's coordinates

The formulas are written over scalars of any kind; the public functions take the arrays of one state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.algorithms.domain import UNIT_QUATERNIONS
from kinetree.algorithms.force_basis import force_basis
from kinetree.algorithms.gears import refuse_gears
from kinetree.algorithms.kinematics import link_transform, motion_subspace
from kinetree.arguments import (
    a_mapping,
    a_model,
    a_number_not_negative,
    a_positive_number,
    a_word,
    an_array,
    array,
    checked,
    choice,
    refuse,
)
from kinetree.constraints import LoopJoint
from kinetree.errors import UnsupportedError, unknown_name
from kinetree.spatial import Columns, Force
from kinetree.spatial.algebra import SPATIAL
from kinetree.textbook.loop_joints import loop_position


class LoopConstraints(NamedTuple):
    """``K a = k`` of all loop joints.

    Attributes
    ----------
    K : (nc, nv) array
        [1 and m, or 1/m and 1 for sliding joints].
    k : (nc,) array
        ``k + k_stab`` [rad/s^2 and m/s^2].
    delta : (nc,) array
        Errors of position, one for each row [rad and m].
    """

    K: np.ndarray
    k: np.ndarray
    delta: np.ndarray


# The state -----------------------------------------------------------------------------------------------------------


def loop_joints(model, who: str) -> tuple[LoopJoint, ...]:
    """The loop joints of a model that has no other constraints, gears or time."""
    refuse_gears(model, who)
    others = [c for c in model.constraints if not isinstance(c, LoopJoint)]
    if others or model.time_dependent or model.algebra.dimension != 6:
        found = str(others[0]) if others else "joints that depend on time" if model.time_dependent else "two dimensions"
        raise UnsupportedError(
            f"{who}: model {model.name!r} has {found}; chapter 8 has loop joints in trees of three dimensions. "
            "kt.forward_dynamics computes the others"
        )
    return model.constraints


def scalars_of(model, who: str, q, v=None, **others) -> list:
    """The arrays of one state as lists of floats, or None, after checks of their shapes and of quaternions."""
    shapes = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "f_ext": (model.nb, 6)}
    given = {"q": q, "v": v} | others
    found = {name: x if x is None else array(f"{who}: {name}", x, shape=shapes[name]) for name, x in given.items()}
    inputs = {"q": found["q"].tolist()}
    for index, broken in enumerate(UNIT_QUATERNIONS.violations(model, inputs)):
        if broken:
            raise UNIT_QUATERNIONS.explain(model, inputs, index)
    return [x if x is None else x.tolist() for x in found.values()]


def transforms_from(model, q, root: int = 0) -> list:
    """``i_X_root`` of the bodies that the root supports, None for the others."""
    X = [None] * model.nb
    X[root] = model.algebra.Transform.identity()
    for i in model.outward():
        p = model.parent[i]
        if i > root and X[p] is not None:
            X[i] = link_transform(model, i, q).collapse() @ X[p]
    return X


def velocity_products(model, q, v):
    """First loop of table 8.3: V, the velocity-product accelerations A, and the links' transforms."""
    X, V, A = ([None] * model.nb for _ in range(3))
    V[0] = model.algebra.Motion.zero()
    A[0] = model.algebra.Motion(model.algebra.no_rotation, -model.gravity)
    for i in model.outward():
        p, joint, q_i, v_i = model.parent[i], model.joints[i], model.q_of(i, q), model.v_of(i, v)
        X[i], v_J = link_transform(model, i, q).collapse(), joint.velocity(q_i, v_i)
        V[i] = X[i] @ V[p] + v_J
        A[i] = X[i] @ A[p] + joint.bias(q_i, v_i) + V[i].cross(v_J)  # c_J + v_i x v_J, without S qdd
    return X, V, A


def placements(model, loop, X_0):
    """p, s, X_p and X_s: the bodies of a loop joint, and the transforms to its frames."""
    P, S = model.frame(loop.predecessor), model.frame(loop.successor)
    return P.body, S.body, loop.X_P @ (P.X_FB @ X_0[P.body]), loop.X_S @ (S.X_FB @ X_0[S.body])


# C - tau^a ------------------------------------------------------------------------------------------------------------


def bias_and_loop_forces(model, q, v, f_ext=None, active: Mapping[str, Sequence] | None = None) -> list:
    """C - tau^a by tables 8.2 and 8.3; ``active`` has tau_k by the names of loop joints."""
    X, V, A = velocity_products(model, q, v)
    X_0, f = transforms_from(model, q), [Force.zero()] + [None] * (model.nb - 1)
    for i in model.outward():
        f[i] = model.I[i] @ A[i] + V[i].cross(model.I[i] @ V[i])
        if f_ext is not None:
            f[i] = f[i] - X_0[i] @ model.algebra.external(f_ext[i])
    for loop in model.constraints:
        if active and loop.name in active:
            p, s, X_p, X_s = placements(model, loop, X_0)
            f_a = X_s.inverse_apply(active_force(loop, X_s @ X_p.inverse(), active[loop.name]))  # base coordinates
            f[s], f[p] = f[s] - X_0[s] @ f_a, f[p] + X_0[p] @ f_a
    C = [0.0] * model.nv
    for i in model.inward():
        p, slot = model.parent[i], model.v_slice[i]
        C[slot] = motion_subspace(model, i, q).T @ f[i]
        if p:
            f[p] = f[p] + X[i].inverse_apply(f[i])
    return C


def active_force(loop, X, tau) -> Force:
    """``T^a tau_k`` in successor coordinates, with ``T_a^T S = 1``, where the loop joint is at X."""
    joint = loop.joint
    position = joint.neutral() if joint.constant_subspace else loop_position(joint, X)
    _, T_a = force_basis(SPATIAL, joint.motion_subspace(position))
    return T_a @ list(tau)


@checked(model=a_model, q=an_array, v=an_array, f_ext=an_array, loop_forces=a_mapping)
def loop_bias_forces(model, q, v, f_ext=None, *, loop_forces=None) -> np.ndarray:
    r"""Bias forces of the spanning tree less those that active loop joints exert on it, C - tau^a.

    .. math:: \tau^a = \sum_l J_{L l}^T f^a_k, \qquad f^a_k = T^a_k \tau_k

    Parameters
    ----------
    model : Model
        Its constraints are loop joints.
    q : (nq,) array
        Joint positions [rad or m; quaternions unit].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    f_ext : (nb, 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    loop_forces : mapping of str to (nv_k,) array, optional
        Forces of loop joints along their own velocities, by name [N m or N]; zero for loop joints that are not named.

    Returns
    -------
    (nv,) array
        [N m or N].

    Raises
    ------
    UnsupportedError
        The model has constraints of other kinds, gears, or joints that depend on time.
    UnknownNameError
        A name in ``loop_forces`` is that of no loop joint.

    Notes
    -----
    Source: Featherstone (2008), tables 8.2 and 8.3. Differs: the first loop of table 8.3 is that of table 5.1 without
    joint accelerations; T^a is computed at the loop joint's position, so it need not be constant. Passive joint forces
    are not included. Identity: without loop forces it is `bias_forces`.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v = kt.models.random_loops(1, bodies=5, loops=1, kinds=["revolute"], family="planar")
    >>> bool(np.allclose(kt.textbook.loop_bias_forces(model, q, v), kt.bias_forces(model, q, v)))
    True
    """
    loops = {loop.name: loop for loop in loop_joints(model, "loop_bias_forces")}
    q, v, f_ext = scalars_of(model, "loop_bias_forces", q, v, f_ext=f_ext)
    active = named_forces(loops, loop_forces, "loop_bias_forces")
    return np.array(bias_and_loop_forces(model, q, v, f_ext, active), float)


def named_forces(loops, given, who: str) -> dict:
    """tau_k of loop joints by name, checked."""
    found = {}
    for name, tau in (given or {}).items():
        if name not in loops:
            raise unknown_name("loop joint", name, loops, who)
        found[name] = array(f"{who}: the force of loop joint {name!r}", tau, shape=(loops[name].joint.nv,)).tolist()
    return found


# K, k and k_stab ------------------------------------------------------------------------------------------------------


def constraint_terms(model, q, v, alpha=0.0, beta=0.0, root: int = 0):
    """K, ``k + k_stab`` and delta by table 8.4."""
    _, V, A = velocity_products(model, q, v)
    X_0, K, k, errors = transforms_from(model, q, root), [], [], []
    for loop in model.constraints:
        p, s, X_p, X_s = placements(model, loop, X_0)
        v_p, v_s = X_0[p].inverse_apply(V[p]), X_0[s].inverse_apply(V[s])
        a_p, a_s = X_0[p].inverse_apply(A[p]), X_0[s].inverse_apply(A[s])
        X = X_s @ X_p.inverse()
        delta, T = loop.joint.implicit(X)
        T_ring = loop.joint.force_basis_rate(X, X_s @ (v_s - v_p))
        T, T_ring = (X_s.inverse_apply(Columns(basis, Force)) for basis in (T, T_ring))
        k_stab = [-2.0 * alpha * t.dot(v_s - v_p) - beta * beta * d for t, d in zip(T, delta, strict=True)]
        # k = -T^T (a_s - a_p + v_s x v_p), and -T_ring^T (v_s - v_p) where T moves in the successor
        a = a_s - a_p + v_s.cross(v_p)
        k += [stab - t.dot(a) - dt.dot(v_s - v_p) for t, dt, stab in zip(T, T_ring, k_stab, strict=True)]
        rows = [[0.0] * model.nv for _ in delta]
        i, j = p, s
        while i != j:  # back to the common ancestor, the higher number first
            sign, at = (-1.0, i) if i > j else (1.0, j)
            S = X_0[at].inverse_apply(motion_subspace(model, at, q))
            for row, t in zip(rows, T, strict=True):
                row[model.v_slice[at]] = [sign * t.dot(S_k) for S_k in S]
            i, j = (model.parent[i], j) if i > j else (i, model.parent[j])
        K += rows
        errors += delta
    return K, k, errors


@checked(
    model=a_model, q=an_array, v=an_array, T_stab=a_positive_number, alpha=a_number_not_negative,
    beta=a_number_not_negative, root=a_word,
)  # fmt: skip
def loop_constraints(model, q, v, *, T_stab=None, alpha=None, beta=None, root="world") -> LoopConstraints:
    r"""The constraint Jacobian K of the loops, the right-hand side k of ``K a = k`` with its stabilization, and errors.

    .. math:: K_{lj} = \varepsilon_{lj} T_k^T S_j, \qquad
        k_l = -T_k^T (a^{vp}_s - a^{vp}_p + v_s \times v_p) - \mathring{T}_k^T (v_s - v_p) + k_{stab}

    Parameters
    ----------
    model : Model
        Its constraints are loop joints.
    q : (nq,) array
        Joint positions [rad or m; quaternions unit]; the loops need not be closed.
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    T_stab : float, optional
        Time constant of errors [s]: ``alpha = beta = 1 / T_stab``.
    alpha, beta : float, optional
        Stabilization of velocities and positions [1/s]. Default: zero, no stabilization.
    root : str
        The body in whose coordinates all is combined: a floating base far from the world's origin.

    Returns
    -------
    LoopConstraints
        ``K, k, delta``, rows in the order of the loops and of the columns of T.

    Raises
    ------
    UnsupportedError
        The model has constraints of other kinds, gears, or joints that depend on time.
    ArgumentError
        ``T_stab`` and ``alpha`` or ``beta`` are given together, or ``root`` does not support both bodies of a loop.

    Notes
    -----
    Source: Featherstone (2008), table 8.4, eqs. 8.15-8.24. Differs: T may move in the successor (a ring over T), and
    ``k_stab`` has the sign of eq. 8.22, not that of the listing, which subtracts it. Errors e decay as
    ``e'' + 2 alpha e' + beta^2 e = 0``. Rounding grows with the distance of the loops from ``root``.
    *Identities* ``K v = T^T v_J = d delta/dt`` and ``k = -dK/dt v`` where the loops are closed.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v = kt.models.random_loops(1, bodies=6, loops=1)
    >>> K, k, delta = kt.textbook.loop_constraints(model, q, v)
    >>> a = kt.forward_dynamics(model, q, v, np.zeros(model.nv))
    >>> bool(np.allclose(K @ a, k)), bool(np.abs(K @ v).max() < 1e-12 > np.abs(delta).max())
    (True, True)
    """
    who = "loop_constraints"
    loops = loop_joints(model, who)
    alpha, beta = stabilization(who, T_stab, alpha, beta)
    number = 0 if root == "world" else model.body(root)
    inside = model.subtree(number)
    for loop in loops if number else ():
        for frame in loop.frames:
            if model.frame(frame).body not in inside:
                refuse(f"{who}: root", root, f"a body that supports both bodies of {loop}")
    q, v = scalars_of(model, who, q, v)
    K, k, delta = constraint_terms(model, q, v, alpha, beta, number)
    return LoopConstraints(np.array(K, float).reshape(-1, model.nv), np.array(k, float), np.array(delta, float))


def stabilization(who: str, T_stab, alpha=None, beta=None) -> tuple[float, float]:
    """alpha and beta of eq. 8.22."""
    if T_stab is not None and (alpha is not None or beta is not None):
        refuse(f"{who}: T_stab", T_stab, "either T_stab, or alpha and beta")
    return (alpha or 0.0, beta or 0.0) if T_stab is None else (1.0 / T_stab, 1.0 / T_stab)


# Table 8.1 ------------------------------------------------------------------------------------------------------------


def _point_error(X):
    return [X[4, 0] * X[2, 0] + X[4, 1] * X[2, 1] + X[4, 2] * X[2, 2],
            X[5, 0] * X[0, 0] + X[5, 1] * X[0, 1] + X[5, 2] * X[0, 2],
            X[3, 0] * X[1, 0] + X[3, 1] * X[1, 1] + X[3, 2] * X[1, 2]]  # fmt: skip


_POSITION_ERRORS = {
    "fixed": lambda X: [0.5 * x for x in (
        X[1, 2] - X[2, 1], X[2, 0] - X[0, 2], X[0, 1] - X[1, 0],
        X[4, 2] - X[5, 1], X[5, 0] - X[3, 2], X[3, 1] - X[4, 0])],
    "revolute": lambda X: [X[1, 2], -X[0, 2], X[4, 2], -X[3, 2], X[3, 0] * X[1, 0] + X[3, 1] * X[1, 1]],
    "prismatic": lambda X: [
        0.5 * (X[1, 2] - X[2, 1]), 0.5 * (X[2, 0] - X[0, 2]), 0.5 * (X[0, 1] - X[1, 0]), X[4, 2], -X[3, 2]],
    "cylindrical": lambda X: [X[1, 2], -X[0, 2], X[4, 2], -X[3, 2]],
    "spherical": _point_error,
}  # fmt: skip


@checked(kind=a_word, X=an_array)
def loop_position_error(kind: str, X) -> np.ndarray:
    """The position error delta of a loop joint, by the entries of its 6 x 6 transform.

    Parameters
    ----------
    kind : {"fixed", "revolute", "prismatic", "cylindrical", "spherical"}
        Axes are z.
    X : (6, 6) array
        From the joint's predecessor frame to its successor frame [1 and m].

    Returns
    -------
    (n_c,) array
        ``T^T d`` with ``1 - d x`` the error of X, to first order [rad and m]; T has the columns e1 to e6 that the
        joint constrains, in this order.

    Raises
    ------
    ArgumentError
        The kind is none of these.

    Notes
    -----
    Source: Featherstone (2008), table 8.1 and eqs. 8.25-8.27. The joints' own ``implicit(X)`` agree to first order, for
    any axis and for all kinds.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> tilted = kt.spatial.Transform(kt.spatial.rotations.rx(1e-4), kt.spatial.Vector3(0.0, 0.0, 2.0)).matrix()
    >>> kt.textbook.loop_position_error("cylindrical", tilted).round(6) + 0.0
    array([0.0001, 0.    , 0.    , 0.    ])
    """
    choice("loop_position_error: kind", kind, _POSITION_ERRORS)
    return np.array(_POSITION_ERRORS[kind](array("loop_position_error: X", X, shape=(6, 6))))
