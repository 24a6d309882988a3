"""Identities of mechanics: energy, momentum and kinematics, each formula against its definition.

All of it is evaluated in extended precision, so that finite differences are good to about 1e-13.
"""

from __future__ import annotations

import numpy as np

from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.differences import along, by_position
from kinetree.verification.plain import PRECISE, gear_sizes, shifted_back
from kinetree.verification.terms import EPS, PER_BODY

WORLD_AXES = {"reference": "local_world_aligned"}


def _rounding(s):
    """Of sums along a path of the tree."""
    return EPS * PER_BODY * (max(s.model.depth) + 2)


def _energy_size(s):
    """Kinetic energy of the sizes, and weights times the reach: the sizes of the terms of energies, (n,)."""
    near = s.tolerances.near
    v = np.abs(s.v)
    kinetic = np.einsum("nk,nkl,nl->n", v, near.M, v)
    return kinetic + near.mass.sum(axis=1) * 10.0 * (near.reach + 1e-3) + near.first.sum(axis=1) * 10.0


def _momentum_size(s):
    """(n, 1): momenta of all bodies about the world's origin."""
    near, v = s.tolerances.near, np.abs(s.v)
    W, L = (np.einsum("nbk,nk->nb", x, v) for x in (near.turn, near.shift))
    away = np.stack([np.linalg.norm(p.astype(float), axis=1) for p in s.plain.p], axis=1)
    for b in range(1, s.model.nb):  # bodies that move without freedoms
        V = s.plain.V[b].astype(float)
        W[:, b] += np.linalg.norm(V[:, :3], axis=1)
        L[:, b] += np.linalg.norm(V[:, 3:], axis=1)
    P = near.mass * L + near.first * W
    spin = sum(J * v[:, k] for k, _, J, _ in gear_sizes(s.model))
    return ((near.second * W + near.first * L + P * (1.0 + away)).sum(axis=1) + spin)[:, None]


# Energy --------------------------------------------------------------------------------------------------------------


def kinetic_energy(s):
    """T = sum of V . I V / 2."""
    found = s.call("kinetic_energy", s.q, s.v)
    return Compared(found, s.plain.kinetic_energy(), _rounding(s) * _energy_size(s))


def potential_energy(s):
    """U = - sum of m g . c."""
    return Compared(s.call("potential_energy", s.q), s.plain.potential_energy(), _rounding(s) * _energy_size(s))


def quadratic_form(s):
    """T = v . M v / 2."""
    M = s.call("crba", s.q, form="precise")
    found = s.call("kinetic_energy", s.q, s.v, form="precise")
    return Compared(found, np.einsum("nk,nkl,nl->n", s.v, M, s.v) / 2.0, _rounding(s) * _energy_size(s))


def power(s):
    """d(T + U)/dt = tau . v, and the power of motions that are prescribed."""

    def energy(q, v, t):
        T = s.call("kinetic_energy", q, v, t=t, form="precise")
        return T + s.call("potential_energy", q, t=t, form="precise")

    rate, error = along(s, energy, _energy_size(s))
    tau = s.call("rnea", s.q, s.v, s.a, form="precise")
    supplied = np.sum(tau * s.v, axis=1)
    if s.t is not None:
        supplied = supplied + s.call("prescribed_power", s.q, s.v, s.a, form="precise")
    size = np.sum(s.tolerances.near.tau * np.abs(s.v), axis=1) + _energy_size(s)
    return Compared(supplied, rate, error + _rounding(s) * size)


def gradient(s):
    """gravity_forces = dU/dq."""
    rate, error = by_position(s, lambda q, t: s.call("potential_energy", q, t=t, form="precise"), _energy_size(s))
    found = s.call("gravity_forces", s.q, form="precise")
    return Compared(found, rate, error + _rounding(s) * s.tolerances.near.tau, ("v",))


def mass_rate(s):
    """dM/dt = C + C^T."""
    size = s.tolerances.far.M  # C is summed in coordinates of the world
    rate, error = along(s, lambda q, v, t: s.call("crba", q, form="precise"), s.tolerances.near.M)
    C = s.call("coriolis_matrix", s.q, s.v, form="precise")
    fast = _rounding(s) * size * (1.0 + np.abs(s.v).sum(axis=1)[:, None, None])
    return Compared(C + np.swapaxes(C, 1, 2), rate, error + fast, ("v", "v"))


def coriolis(s):
    """C v = bias forces less gravity."""
    C = s.call("coriolis_matrix", s.q, s.v)
    expected = s.plain.joint_forces(0.0 * s.a) - s.call("gravity_forces", s.q, form="precise")
    found = (C @ s.v[..., None])[..., 0]
    # Entries of C sum the terms over pairs of velocities that the bias sums over bodies.
    size = (s.tolerances.far.M * (np.abs(s.v).sum(axis=1) ** 2)[:, None, None]).sum(axis=2) + s.tolerances.near.tau
    return Compared(found, expected, _rounding(s) * size, ("v",))


# Momentum ------------------------------------------------------------------------------------------------------------


def momentum(s):
    """p = sum of I V, about the world's origin."""
    return Compared(s.call("momentum", s.q, s.v), s.plain.momentum(), _rounding(s) * _momentum_size(s))


def momentum_rate(s):
    """dp/dt = sum of the forces that bodies need for their motion."""
    size = _momentum_size(s)
    rate, error = along(s, lambda q, v, t: s.call("momentum", q, v, t=t, form="precise"), size)
    F = s.plain.body_forces(s.a, gravity=False)
    total = sum(shifted_back(F[i], s.plain.p[i]) for i in s.model.outward())
    force = (s.tolerances.near.F * (1.0 + s.tolerances.near.reach) + s.tolerances.near.N).sum(axis=1)[:, None]
    return Compared(rate, total, error + _rounding(s) * (force + size))


def centroidal(s):
    """The momentum about the center of mass, and its linear part as mass times velocity."""
    h, c = s.call("centroidal_momentum", s.q, s.v), s.call("center_of_mass", s.q)
    expected = shifted_back(s.plain.momentum(), -np.asarray(c, PRECISE))
    velocity = s.model.total_mass * s.call("center_of_mass_velocity", s.q, s.v)
    found, expected = np.concatenate([h, velocity], axis=1), np.concatenate([expected, expected[:, 3:]], axis=1)
    return Compared(found, expected, _rounding(s) * _momentum_size(s) * (1.0 + np.abs(c).max()))


def centroidal_matrix(s):
    """A v = the centroidal momentum."""
    found = (s.call("centroidal_momentum_matrix", s.q) @ s.v[..., None])[..., 0]
    c = np.abs(s.call("center_of_mass", s.q)).max()
    expected = s.call("centroidal_momentum", s.q, s.v, form="precise")
    return Compared(found, expected, _rounding(s) * _momentum_size(s) * (1.0 + c))


def center_of_mass(s):
    """The velocity of the center of mass is the rate of its position."""
    size = np.full((s.n, 1), s.tolerances.near.reach + 1e-3)
    rate, error = along(s, lambda q, v, t: s.call("center_of_mass", q, t=t, form="precise"), size)
    found = s.call("center_of_mass_velocity", s.q, s.v, form="precise")
    return Compared(found, rate, error + _rounding(s) * (_momentum_size(s) / s.model.total_mass))


def center_of_mass_by_jacobian(s):
    """J v = the velocity of the center of mass."""
    found = (s.call("center_of_mass_jacobian", s.q) @ s.v[..., None])[..., 0]
    expected = s.plain.momentum()[:, 3:] / s.model.total_mass
    return Compared(found, expected, _rounding(s) * (_momentum_size(s) / s.model.total_mass))


def regressors(s):
    """Energies and momentum as linear functions of the inertial parameters."""
    from kinetree.model.inertial_parameters import inertial_parameters

    if s.model.geared or np.any(s.model.armature):
        raise LeftOut("regressors leave armatures and gears out")
    pi = inertial_parameters(s.model)
    T = s.call("kinetic_energy_regressor", s.q, s.v) @ pi
    U = s.call("potential_energy_regressor", s.q) @ pi
    h = s.call("momentum_regressor", s.q, s.v) @ pi
    found = np.concatenate([T[:, None], U[:, None], h], axis=1)
    energies = s.plain.kinetic_energy()[:, None], s.plain.potential_energy()[:, None]
    expected = np.concatenate([*energies, s.plain.momentum()], axis=1)
    sizes = np.repeat(_energy_size(s)[:, None], 2, axis=1), np.repeat(_momentum_size(s), 6, axis=1)
    size = np.concatenate(sizes, axis=1)
    return Compared(found, expected, 4.0 * _rounding(s) * size)


def regressor(s):
    """Joint forces as a linear function of the inertial parameters."""
    from kinetree.model.inertial_parameters import inertial_parameters

    if s.model.geared:
        raise LeftOut("regressors leave gears out")
    found = s.call("joint_torque_regressor", s.q, s.v, s.a) @ inertial_parameters(s.model)
    expected = s.plain.joint_forces(s.a) - np.asarray(s.model.armature) * s.a
    return Compared(found, expected, s.tolerances.forces(s.a), ("v",))


# Kinematics ----------------------------------------------------------------------------------------------------------


def _reach(s):
    """Paths to the bodies and one meter's scale of their own, (n, nb)."""
    away = np.stack([np.linalg.norm(p.astype(float), axis=1) for p in s.plain.p], axis=1)
    return s.tolerances.near.paths + away + 1e-3


def _motion_size(s, six):
    """Sizes of velocities or accelerations at the end of a path, (n, nb, 1)."""
    size = np.abs(np.asarray(six, float))
    return np.maximum.accumulate(size.max(axis=2), axis=1)[..., None] * (1.0 + _reach(s)[..., None])


def poses(s):
    """R and p of all bodies."""
    R, p = s.call("forward_kinematics", s.q)
    found = np.concatenate([R.reshape(s.n, -1, 9), p], axis=2)
    expected = np.stack(
        [np.concatenate([R.reshape(s.n, 9), p], axis=1) for R, p in zip(s.plain.R, s.plain.p, strict=True)], axis=1
    )
    size = np.concatenate([np.ones((s.n, s.model.nb, 9)), np.repeat(_reach(s)[..., None], 3, axis=2)], axis=2)
    return Compared(found, expected, _rounding(s) * size, ("body",))


def velocities(s):
    """Twists of all bodies."""
    found, expected = s.call("body_velocities", s.q, s.v, **WORLD_AXES), np.stack(s.plain.V, axis=1)
    return Compared(found, expected, _rounding(s) * _motion_size(s, expected), ("body",))


def velocities_by_differences(s):
    """Twists of all bodies are the rates of their poses: R' = w x R, p' = v."""

    def flat(q, v, t):
        R, p = s.call("forward_kinematics", q, t=t, form="precise")
        return np.concatenate([R.reshape(*R.shape[:-2], 9), p], axis=-1)

    size = np.concatenate([np.ones((s.n, s.model.nb, 9)), np.repeat(_reach(s)[..., None], 3, axis=2)], axis=2)
    rate, error = along(s, flat, size)
    V = s.call("body_velocities", s.q, s.v, **WORLD_AXES, form="precise")
    R = s.call("forward_kinematics", s.q, form="precise")[0]
    R_dot = np.cross(V[:, :, None, :3], np.swapaxes(R, 2, 3))  # rows of R^T are the body's axes
    found = np.concatenate([np.swapaxes(R_dot, 2, 3).reshape(s.n, -1, 9), V[:, :, 3:]], axis=2)
    return Compared(found, rate, error + _rounding(s) * _motion_size(s, V), ("body",))


def accelerations(s):
    """Classical accelerations of all bodies: the spatial ones and w x v."""
    found = s.call("body_accelerations", s.q, s.v, s.a, **WORLD_AXES, kind="classical")
    expected, V = np.stack(s.plain.accelerations(s.a), axis=1), np.stack(s.plain.V, axis=1)
    expected[..., 3:] += np.cross(V[..., :3], V[..., 3:])
    size = _motion_size(s, expected) + _motion_size(s, V) ** 2
    return Compared(found, expected, _rounding(s) * size, ("body",))


def accelerations_by_differences(s):
    """Classical accelerations of all bodies are the rates of their velocities in world axes."""
    V = np.stack(s.plain.V, axis=1)
    size = _motion_size(s, V) ** 2 + _motion_size(s, V)

    def velocity(q, v, t):
        return s.call("body_velocities", q, v, t=t, **WORLD_AXES, form="precise")

    rate, error = along(s, velocity, size)
    found = s.call("body_accelerations", s.q, s.v, s.a, **WORLD_AXES, kind="classical", form="precise")
    return Compared(found, rate, error + _rounding(s) * (size + _motion_size(s, found)), ("body",))


def jacobians(s):
    """Jacobians of all frames, in world axes about their own origins."""
    model, J = s.model, s.call("frame_jacobians", s.q, **WORLD_AXES)
    near, expected = s.tolerances.near, s.plain.jacobians()[:, [frame.body for frame in model.frames]]
    size = (near.turn + near.shift)[:, [frame.body for frame in model.frames]]
    expected, size = expected.copy(), size.copy()
    R, p = s.call("frame_poses", s.q)
    for k, frame in enumerate(model.frames):
        away = p[:, k] - s.plain.p[frame.body].astype(float)
        expected[:, k, 3:] += np.cross(expected[:, k, :3], away[..., None], axis=1)
        size[:, k] += (
            near.turn[:, frame.body] * (np.linalg.norm(away, axis=1) + np.linalg.norm(p[:, k], axis=1))[:, None]
        )
    return Compared(J, expected, _rounding(s) * size[:, :, None, :], ("frame", "", "v"))


def _tip(model):
    """The frame at the end of the longest path."""
    return model.frames[max(range(model.nf), key=lambda k: model.depth[model.frames[k].body])].name


def jacobian_rate(s):
    """The rate of the Jacobian of the frame at the end of the longest path."""
    frame, near = _tip(s.model), s.tolerances.near
    size = (near.turn + near.shift)[:, None, s.model.frame(frame).body] + np.zeros((1, 6, 1))

    def J(q, v, t):
        return s.call("jacobian", q, t=t, frame=frame, **WORLD_AXES, form="precise")

    rate, error = along(s, J, size + _reach(s).max() * size)
    found = s.call("jacobian_rate", s.q, s.v, frame=frame, **WORLD_AXES, form="precise")
    fast = 1.0 + _motion_size(s, np.stack(s.plain.V, axis=1)).max(axis=(1, 2))[:, None, None]
    return Compared(found, rate, error + _rounding(s) * size * fast, ("", "v"))


def positions(s):
    """q_dot is the rate of the position, difference the inverse of integrate."""
    rate, error = along(s, lambda q, v, t: q, np.abs(s.q) + 1.0)
    size = 1.0 + np.abs(s.q).max(axis=1, initial=0.0) + np.abs(s.v).max(axis=1, initial=0.0)
    return Compared(s.call("q_dot", s.q, s.v), rate, error + _rounding(s) * size[:, None], ("q",))


def steps_back(s):
    """difference(q, integrate(q, dv)) = dv for a step that turns no joint by more than 1 rad."""
    turn = max((np.linalg.norm(V[:, :3].astype(float), axis=1).max() for V in s.plain.V_J), default=0.0)
    dv = s.v / (1.0 + turn)
    found = s.call("difference", s.q, s.call("integrate", s.q, dv))
    size = 1.0 + np.abs(s.q).max(axis=1, initial=0.0) + np.abs(s.v).max(axis=1, initial=0.0)
    return Compared(found, dv, _rounding(s) * size[:, None], ("v",))


DIFFERENCES, PLAIN = "differences", "plain matrices"

CHECKS = (
    Check("poses", "forward_kinematics", PLAIN, poses, cause=3),
    Check("velocities", "body_velocities", PLAIN, velocities, cause=3),
    Check("velocities", "body_velocities", f"{DIFFERENCES} of poses", velocities_by_differences, cause=3),
    Check("accelerations of bodies", "body_accelerations", PLAIN, accelerations, cause=3),
    Check("accelerations of bodies", "body_accelerations", f"{DIFFERENCES} of velocities", accelerations_by_differences,
          cause=3),
    Check("Jacobians", "frame_jacobians", PLAIN, jacobians, cause=3),
    Check("Jacobians", "jacobian_rate", f"{DIFFERENCES} of jacobian", jacobian_rate, cause=3),
    Check("positions", "q_dot", f"{DIFFERENCES} of integrate", positions, cause=3),
    Check("positions", "difference", "integrate", steps_back, cause=3),
    Check("energy", "kinetic_energy", PLAIN, kinetic_energy, cause=4),
    Check("energy", "kinetic_energy", "v M v / 2", quadratic_form, cause=6, by_velocities=True),
    Check("energy", "potential_energy", PLAIN, potential_energy, cause=4),
    Check("energy", "power of rnea's forces", "dE/dt", power, "joint forces do work that is nowhere in the energy",
          cause=6),
    Check("energy", "gravity_forces", "gradient of potential_energy", gradient, cause=6),
    Check("Coriolis matrix", "C + C^T", "dM/dt", mass_rate, cause=6, by_velocities=True),
    Check("Coriolis matrix", "C v", "bias less gravity", coriolis, cause=6, by_velocities=True),
    Check("momentum", "momentum", PLAIN, momentum, cause=4),
    Check("momentum", "d momentum / dt", "forces of the bodies", momentum_rate, cause=6),
    Check("momentum", "centroidal_momentum", PLAIN, centroidal, cause=4),
    Check("momentum", "centroidal_momentum_matrix v", "centroidal_momentum", centroidal_matrix, cause=6,
          by_velocities=True),
    Check("momentum", "center_of_mass_velocity", DIFFERENCES, center_of_mass, cause=4),
    Check("momentum", "center_of_mass_jacobian v", PLAIN, center_of_mass_by_jacobian, cause=4, by_velocities=True),
    Check("regressors", "energies and momentum", PLAIN, regressors, cause=5),
    Check("regressors", "joint_torque_regressor pi", PLAIN, regressor, cause=5),
)  # fmt: skip
