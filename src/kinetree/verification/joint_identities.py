"""Identities of every joint: its velocity is the rate of its transform, its bias that of its velocity, and so on.

These are the basis of all methods, the plain one too: a joint whose motion subspace is wrong makes all methods
agree on wrong dynamics.
"""

from __future__ import annotations

import numpy as np

from kinetree.errors import UnsupportedError
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.differences import derivative, steps
from kinetree.verification.plain import PRECISE, cross, matrix, spread
from kinetree.verification.terms import EPS, PER_BODY

ROUNDING = PER_BODY * EPS


def joints_of(states, h=None):
    """Each joint with its coordinates: ``i, joint, q_i, v_i``; at a time later by h, if it depends on time."""
    model = states.model
    tree = model if states.t is None else model.at(states.t + (0.0 if h is None else h))
    q, v = states.q.astype(PRECISE), states.v.astype(PRECISE)
    for i in model.outward():
        yield i, tree.joints[i], list(model.q_of(i, q.T)), list(model.v_of(i, v.T))


def pose(joint, q, n):
    """E and r of a joint's transform as one row of twelve numbers, (n, 12)."""
    X = joint.transform(q)
    return np.concatenate([matrix(X.E.matrix, n, PRECISE).reshape(n, 9), spread([*X.r], n, PRECISE)], axis=1)


def columns(joint, q, n):
    """S, (n, 6, nv)."""
    S = [spread([*S_k], n, PRECISE) for S_k in joint.motion_subspace(q)]
    return np.stack(S, axis=-1) if S else np.zeros((n, 6, 0), PRECISE)


def size_of(x):
    """Largest entry of each state, (n, 1)."""
    return np.abs(np.asarray(x, float)).reshape(len(x), -1).max(axis=1, initial=0.0)[:, None]


def per_joint(identity, width: int, none: str = ""):
    """Rows by joint of ``identity(s, i, joint, q, v) -> found, expected, tolerance``, arrays of (n, width) or less.

    It gives None for a joint that does not have it; if none has, the check is left out for the reason ``none``.
    """

    def compare(s):
        deviation, tolerance = (np.zeros((s.n, s.model.nb, max(width, _widest(s.model)))) for _ in range(2))
        some = False
        for i, joint, q, v in joints_of(s):
            result = identity(s, i, joint, q, v)
            if result is not None:
                some, (found, expected, allowed) = True, result
                part = slice(found.shape[1])
                deviation[:, i, part] = (found - expected).astype(float)  # in extended precision until it is rounded
                tolerance[:, i, part] = allowed
        if none and not some:
            raise LeftOut(none)
        return Compared(deviation, 0.0, tolerance, ("joint",))

    return compare


def _widest(model) -> int:
    return max((joint.nq + joint.nv for joint in model.joints[1:]), default=0)


def moving(states, i, value):
    """Values of ``value(joint, q)`` at the steps of a motion with the states' velocity, (6, n, ...)."""
    found = []
    for h in steps():
        for k, joint, q, v in joints_of(states, h):
            if k == i:
                found.append(value(joint, joint.integrate(q, [h * x for x in v])))
                break
    return np.array(found)


def transform_rate(s, i, joint, q, v):
    """dX/dt = -v_J x X: E' = -w x E and r' = E^T v."""
    rates, error = derivative(moving(s, i, lambda joint, q: pose(joint, q, s.n)), size_of(pose(joint, q, s.n)))
    V = spread([*joint.velocity(q, v)], s.n, PRECISE)
    E = pose(joint, q, s.n)[:, :9].reshape(-1, 3, 3)
    E_dot = -cross(V[:, :3, None] + np.zeros((1, 3, 3)), E)
    r_dot = (np.swapaxes(E, 1, 2) @ V[:, 3:, None])[..., 0]
    expected = np.concatenate([E_dot.reshape(-1, 9), r_dot], axis=1)
    return rates, expected, error + ROUNDING * size_of(expected)


def velocity_is_subspace(s, i, joint, q, v):
    """v_J = S v + sigma."""
    V = spread([*joint.velocity(q, v)], s.n, PRECISE)
    S, v = columns(joint, q, s.n), spread(v, s.n, PRECISE)
    expected = (S @ v[..., None])[..., 0] + spread([*joint.sigma(q)], s.n, PRECISE)
    return V, expected, ROUNDING * (size_of(S) * size_of(np.concatenate([v, V], axis=1)) + size_of(V))


def bias_is_rate(s, i, joint, q, v):
    """c_J is the apparent rate of v_J while v is constant."""

    def velocity(joint, q):
        return spread([*joint.velocity(q, v)], s.n, PRECISE)

    rate, error = derivative(moving(s, i, velocity), size_of(velocity(joint, q)))
    c = spread([*joint.bias(q, v)], s.n, PRECISE)
    return c, rate, error + ROUNDING * (size_of(c) + size_of(spread(v, s.n, PRECISE)) ** 2 + size_of(rate))


def subspace_rate(s, i, joint, q, v):
    """subspace_rate = the rates of the columns of S."""
    if not joint.nv:
        return None
    rate, error = derivative(
        moving(s, i, lambda joint, q: columns(joint, q, s.n)), size_of(columns(joint, q, s.n))[..., None]
    )
    stated = np.stack([spread([*x], s.n, PRECISE) for x in joint.subspace_rate(q, v)], axis=-1)
    flat = (x.reshape(s.n, -1) for x in (stated, rate, error + ROUNDING * (size_of(stated) + 1.0)[..., None]))
    return tuple(flat)


def manifold(s, i, joint, q, v):
    """dq/dt = q_dot(q, v) along integrate, and difference(q, integrate(q, dv)) = dv."""
    if not joint.nv:
        return None
    rate, error = derivative(moving(s, i, lambda joint, q: spread(q, s.n, PRECISE)), size_of(spread(q, s.n, PRECISE)))
    stated = spread(joint.q_dot(q, v), s.n, PRECISE)
    turn = np.linalg.norm(spread([*joint.velocity(q, v)], s.n, float)[:, :3], axis=1)
    dv = [x / (1.0 + turn) for x in v]  # beyond half a turn another step leads to the same position
    back = spread(joint.difference(q, joint.integrate(q, dv)), s.n, PRECISE)
    given = spread(dv, s.n, PRECISE)
    size = size_of(spread(q, s.n, PRECISE)) + size_of(given) + 1.0
    found, expected = np.concatenate([stated, back], axis=1), np.concatenate([rate, given], axis=1)
    allowed = np.concatenate([error + ROUNDING * size, np.broadcast_to(ROUNDING * size, given.shape)], axis=1)
    return found, expected, allowed


def implicit_form(s, i, joint, q, v):
    """delta = 0 at the joint's position, and T^T S = 0: constraint forces do no work."""
    try:
        delta, T = joint.implicit(joint.transform(q))
    except UnsupportedError:
        return None
    if not T:
        return None
    S, delta = columns(joint, q, s.n), spread(delta, s.n, PRECISE)
    T = np.stack([spread([*T_k], s.n, PRECISE) for T_k in T], axis=-1)
    work = (np.swapaxes(T, 1, 2) @ S).reshape(s.n, -1)
    found = np.concatenate([delta, work], axis=1)
    size = size_of(T) * (size_of(S) + size_of(pose(joint, q, s.n)))
    return found, np.zeros_like(found), ROUNDING * (size + np.zeros_like(found))


CHECKS = (
    Check("joints: dX/dt", "-v_J x X", "differences", per_joint(transform_rate, 12),
          "the velocity is not the rate of the joint's transform: its motion subspace or its transform is wrong", 1),
    Check("joints: v_J", "velocity", "S v + sigma", per_joint(velocity_is_subspace, 6),
          "the joint's velocity and its motion subspace disagree", 1),
    Check("joints: c_J", "bias", "differences", per_joint(bias_is_rate, 6),
          "the bias of this joint is not the rate of its velocity at constant v", 1),
    Check("joints: dS/dt", "subspace_rate", "differences", per_joint(subspace_rate, 36),
          "the stated rate of this joint's motion subspace is not its rate", 1),
    Check("joints: q_dot, difference", "stated", "integrate", per_joint(manifold, 14),
          "the joint's q_dot, difference and integrate do not fit each other", 1),
    Check("joints: delta, T^T S", "implicit", "zero", per_joint(implicit_form, 42, "no joint has an implicit form"),
          "the implicit form of this joint does not fit its motion subspace or its transform", 1),
)  # fmt: skip
