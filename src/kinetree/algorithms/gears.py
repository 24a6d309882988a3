r"""Contributions of geared rotors to the dynamics of the tree.

A rotor turns in its stator b, about the axis a fixed there, with ``rho v_k``, k the velocity of the joint to which it
is geared. It is symmetric about a, so with mass and all of its inertia it belongs to the stator's ``I[b]``. Its kinetic
energy besides that of a rotor locked in its stator is

.. math:: J\,\rho v_k\,(a \cdot \omega_b) + \tfrac{1}{2} J (\rho v_k)^2,

so it adds the angular momentum ``J rho v_k a`` to its stator, whose rate is a couple on the stator (the second term is
gyroscopic), and its joint exerts the rate of ``dT/dv_k``:

====================================================  ==============================
couple on b                                           ``J rho (a a_k + w_b x a v_k)``
force at k                                            ``J rho (a . dw_b + rho a_k)``
====================================================  ==============================

The couple does no work and has no point of attack, so only angular velocities take part. Reflected inertia, the
armature ``J rho^2``, is the last term alone (Featherstone, example 9.5): right for a stator that does not turn about a.
"""

from __future__ import annotations

from typing import NamedTuple

from kinetree.errors import UnsupportedError


def has_gears(model) -> bool:
    """Whether joints turn rotors."""
    return bool(model.rotors)


def refuse_gears(model, name: str) -> None:
    """Raise UnsupportedError for a model whose rotors an algorithm would leave out.

    Raises
    ------
    UnsupportedError
    """
    if model.rotors:
        names = ", ".join(repr(rotor.name) for rotor in model.rotors[:4]) + (", ..." if len(model.rotors) > 4 else "")
        raise UnsupportedError(
            f"{name} does not compute geared rotors; model {model.name!r} has {names}. kt.surgery.expand_gears(model) "
            "makes bodies and couplings of them; model.replace(rotors=()) locks them in their stators",
            algorithm=name,
            model=model.name,
        )


def without_gears(model):
    """A copy whose rotors are locked in their stators."""
    return model.replace(rotors=()) if model.rotors else model


class Gear(NamedTuple):
    """A gear by numbers: velocity coordinate and stator, with the rotor's axis there, ``J rho`` and rho."""

    velocity: int
    stator: int
    axis: tuple
    momentum: float
    ratio: float


def gears_of(model) -> list[Gear]:
    """The gears of a spatial model."""
    return [
        Gear(geared_velocity(model, x), x.body, tuple(x.axis), x.axial_inertia * x.ratio, x.ratio) for x in model.rotors
    ]


def along_axis(model, rotor):
    """The couple of one newton meter about a rotor's axis."""
    return model.algebra.Force(rotor.axis, model.algebra.Force.zero().linear)


def geared_velocity(model, rotor) -> int:
    """The velocity to which the rotor is geared."""
    return model.v_slice[rotor.joint].start


def _turning(model, motion):
    return model.algebra.Motion(motion.angular, model.algebra.Motion.zero().linear)


def _stator_motions(model, X, S, q, v, a):
    """Angular velocity and acceleration of the stators and of their supports, as motions."""
    zero = model.algebra.Motion.zero()
    W, dW = [zero] + [None] * (model.nb - 1), [zero] + [None] * (model.nb - 1)
    for i in sorted({i for rotor in model.rotors for i in model.support(rotor.body)} - {0}):
        p = model.parent[i]
        V_J = A_J = zero
        if v is not None:
            q_i, v_i = model.q_of(i, q), model.v_of(i, v)
            V_J, A_J = model.joints[i].velocity(q_i, v_i), model.joints[i].bias(q_i, v_i)
        if a is not None:
            A_J = A_J + S[i] @ model.v_of(i, a)
        V_J = _turning(model, V_J)
        # dw' = dw + A_J + w x w_J,  w' = w + w_J
        w = _turning(model, X[i] @ W[p])
        dW[i] = _turning(model, X[i] @ dW[p]) + _turning(model, A_J) + w.cross(V_J)
        W[i] = w + V_J
    return W, dW


def gear_forces(model, X, S, f, q, v, a):
    """Add the couples of the rotors to the forces ``f`` on their stators; return the forces at their joints.

    ``v`` or ``a`` may be None, as for the outward pass of `rnea`.
    """
    tau = [0.0] * model.nv
    if not model.rotors:
        return tau
    W, dW = _stator_motions(model, X, S, q, v, a)
    for rotor in model.rotors:
        b, k, axis = rotor.body, geared_velocity(model, rotor), along_axis(model, rotor)
        momentum = rotor.axial_inertia * rotor.ratio
        if a is not None:
            tau[k] = tau[k] + momentum * rotor.ratio * a[k]
        if not b:  # the world does not turn
            continue
        tau[k] = tau[k] + axis.dot(dW[b]) * momentum
        if a is not None:
            f[b] = f[b] + axis * (momentum * a[k])
        if v is not None:
            f[b] = f[b] + W[b].cross(axis * (momentum * v[k]))
    return tau


def add_gear_inertia(model, X, S, M):
    """Add ``J rho (e_k s^T + s e_k^T) + J rho^2 e_k e_k^T`` to M, ``s = a . S`` of the stator's supports."""
    for rotor in model.rotors:
        k, momentum = geared_velocity(model, rotor), rotor.axial_inertia * rotor.ratio
        M[k][k] = M[k][k] + momentum * rotor.ratio
        F, i = along_axis(model, rotor) * momentum, rotor.body
        while i:
            for n, S_n in enumerate(S[i], model.v_slice[i].start):
                s_n = S_n.dot(F)
                M[n][k] = M[k][n] = M[k][n] + (s_n + s_n if n == k else s_n)
            F, i = X[i].inverse_apply(F), model.parent[i]


def gear_energy(model, V, v):
    """Twice the kinetic energy of the rotors minus that of locked ones."""
    twice = 0.0
    for rotor in model.rotors:
        spin = rotor.ratio * v[geared_velocity(model, rotor)]
        twice = twice + rotor.axial_inertia * spin * spin
        if rotor.body:
            twice = twice + along_axis(model, rotor).dot(V[rotor.body]) * (rotor.axial_inertia * spin * 2.0)
    return twice


def add_gear_coriolis(model, X_0, V, S, S_dot, v, C):
    r"""Add the rotors' Coriolis matrix, everything in world coordinates.

    With ``s_n = a . S_n`` the forces besides M a are ``J rho v_k S_n . (w x a)`` at n and ``J rho a . (dS/dt v)`` at k.
    Half of the former is the skew matrix ``J rho v_k S_n . (S_m x a) / 2``; the other half is in column k, and row
    k takes the rest of ``ds/dt``, so that the sum of C and its transpose is the rate of M.
    """
    for rotor in model.rotors:
        if not rotor.body:
            continue
        k, momentum = geared_velocity(model, rotor), rotor.axial_inertia * rotor.ratio
        axis = X_0[rotor.body].inverse_apply(along_axis(model, rotor))
        gyroscopic = _turning(model, V[rotor.body]).cross(axis) * (0.5 * momentum)
        columns = _columns(model, rotor.body, S, S_dot)
        skew = [_turning(model, S_m).cross(axis) * (0.5 * momentum * v[k]) for _, S_m, _ in columns]
        for n, S_n, S_dot_n in columns:
            beta = S_n.dot(gyroscopic)
            C[n][k] = C[n][k] + beta
            C[k][n] = C[k][n] + (S_dot_n.dot(axis) * momentum + beta)
            for (m, _, _), couple in zip(columns, skew, strict=True):
                if m != n:
                    C[n][m] = C[n][m] + S_n.dot(couple)


def _columns(model, b, *parts):
    """(velocity, S_n, ...) of all joints that support body b, and of its own."""
    return [
        (n, *entries)
        for i in model.support(b)
        for n, entries in enumerate(zip(*(part[i] for part in parts), strict=True), model.v_slice[i].start)
    ]


def add_gear_derivatives(model, motions, columns, v, a, dq, dv, M):
    """Add the derivatives of the rotors' forces; motions and columns are those of `derivatives`, in root coordinates.

    A rigid displacement S_m of the stator turns the couple W with it; relative to that, the angular velocity of the
    stator changes by ``psi_dot_m`` and its acceleration by ``psi_ddot_m - V x psi_dot_m``; along v_m they change by
    ``S_m`` and ``psi_S_dot_m - V x S_m``.
    """
    for rotor in model.rotors:
        b, k, momentum = rotor.body, geared_velocity(model, rotor), rotor.axial_inertia * rotor.ratio
        M[k][k] = M[k][k] + momentum * rotor.ratio
        if not b:
            continue
        axis = motions.X[b].inverse_apply(along_axis(model, rotor)) * momentum
        V = motions.V[b]
        gyroscopic = _turning(model, V).cross(axis)  # of a unit velocity v_k
        W = axis * a[k] + gyroscopic * v[k]
        supports = _columns(model, b, motions.S, columns.psi_dot, columns.psi_ddot, columns.psi_S_dot)
        owner = {n: i for i in model.support(b) for n in range(model.v_slice[i].start, model.v_slice[i].stop)}
        for n, S_n, *_ in supports:
            M[n][k] = M[n][k] + S_n.dot(axis)
            M[k][n] = M[k][n] + S_n.dot(axis)
            dv[n][k] = dv[n][k] + S_n.dot(gyroscopic)
        for m, S_m, psi_dot, psi_ddot, psi_S_dot in supports:
            dq[k][m] = dq[k][m] + axis.dot(psi_ddot - V.cross(psi_dot))
            dv[k][m] = dv[k][m] + axis.dot(psi_S_dot - V.cross(S_m))
            by_q = _turning(model, psi_dot).cross(axis * v[k])
            by_v = _turning(model, S_m).cross(axis * v[k])
            turned = by_q + S_m.cross(W)
            for n, S_n, *_ in supports:
                inward = owner[n] < owner[m]  # for such rows the couple turns, too
                dq[n][m] = dq[n][m] + S_n.dot(turned if inward else by_q)
                dv[n][m] = dv[n][m] + S_n.dot(by_v)
        for i in model.support(b):
            for m, dS_m in enumerate(columns.dS_dq[i] or (), model.v_slice[i].start):
                for n, dS_mn in enumerate(dS_m, model.v_slice[i].start):
                    dq[n][m] = dq[n][m] + dS_mn.dot(W)


def add_gear_momentum(model, v, h):
    """Add the angular momenta ``J rho v_k a`` of the rotors to those of their stators."""
    for rotor in model.rotors:
        if rotor.body:  # rotors on the world are no more part of the tree than bodies fixed there
            spin = rotor.ratio * v[geared_velocity(model, rotor)]
            h[rotor.body] = h[rotor.body] + along_axis(model, rotor) * (rotor.axial_inertia * spin)


def add_gear_momentum_columns(model, X_0, columns):
    """The same by velocity, in world coordinates."""
    for rotor in model.rotors:
        if rotor.body:
            k, momentum = geared_velocity(model, rotor), rotor.axial_inertia * rotor.ratio
            columns[k] = columns[k] + X_0[rotor.body].inverse_apply(along_axis(model, rotor) * momentum)
