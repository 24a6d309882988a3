"""Dynamics of a step with joint constraints: velocities without impulses, inertias, positions."""

from __future__ import annotations

from kinetree.algorithms.complete import (
    COMPLETE,
    refuse_unsupported,
    semi_implicit_acceleration,
)
from kinetree.algorithms.constrained import constrained_accelerations, velocity_response
from kinetree.algorithms.crba import crba
from kinetree.algorithms.implicit_forces import implicit_terms, state_responses, stepped_state_changes
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.passive import joint_forces, passive_terms
from kinetree.algorithms.spec import Spec
from kinetree.forces.contract import present
from kinetree.integrators.kernels import axpy, finished
from kinetree.spatial.scalar import is_zero
from kinetree.state_kinematics import Kinematics


def free_velocities(model, q, v, tau, dt, f_ext=None, u=None):
    """``v_free``, and the velocities by unit joint impulses, the inverse of ``M + dt D + dt^2 K`` under couplings.

    Those of semi-implicit Euler: forces at q, dampers and springs at the end of the step. Internal states of force
    elements follow the velocities; impulses change those that follow lengths.
    """
    v, x = v[: model.nv], v[model.nv :]
    a = semi_implicit_acceleration(model, q, v, tau, dt, f_ext, x, u)
    _, damping, stiffness = passive_terms(model, q, v, x, u)
    diagonal = [dt * (d + dt * k) for d, k in zip(damping, stiffness, strict=True)]
    v_free = axpy(v, a, dt)
    changes = stepped_state_changes(model, q, v, x, u, dt, v_free)
    added = implicit_terms(model, q, v, dt, x, u)[0] if model.laws else None
    response = _response(model, q, diagonal, added)
    if model.nx:
        moving, impulses = state_responses(model, Kinematics(model, q, v), x, u, dt), range(model.nv)
        velocities = response[: model.nv]
        response[model.nv :] = [
            [sum((y * velocities[k][j] for k, y in enumerate(row) if not is_zero(y)), start=0.0) for j in impulses]
            for row in moving
        ]
    return [*v_free, *(x_k + dx for x_k, dx in zip(x, changes, strict=True))], response


def middle_velocities(model, q, v, rates, tau, dt, f_ext=None, u=None):
    """The same with all forces at the middle of the step: positions ``q (+) dt v / 2``, velocities ``rates``.

    Dampers act at the end of the step, so that they cannot reverse a motion. Springs act at the mean of both ends,
    ``q_mid + dt (v_next - v) / 4``, which keeps their energy, blended with ``q_mid + dt v_next`` by the
    weight ``x = y / (1 + y)``, ``y = dt^2 K_k / M_kk``, which damps springs that the step does not resolve. The energy
    that a spring loses by this is of order 3. Internal states take the implicit midpoint rule, linearized.
    """
    refuse_unsupported(model, "aba")
    v, x, rates = v[: model.nv], v[model.nv :], rates[: model.nv]
    q_mid = integrate(model, q, [0.5 * dt * v_k for v_k in v])
    half = stepped_state_changes(model, q_mid, rates, x, u, 0.5 * dt)
    x_mid, x_free = ([x_k + n * dx for x_k, dx in zip(x, half, strict=True)] for n in (1.0, 2.0))
    elastic, damping, stiffness = passive_terms(model, q_mid, v, x_mid, u)
    force = [tau[k] + elastic[k] - damping[k] * v[k] for k in range(model.nv)]
    added = [dt * d for d in damping]
    sprung = [
        k
        for coordinates, spring, at in joint_forces(model, q_mid, v)
        if not spring.kinked
        for k, slope in zip(coordinates, spring.stiffness_diagonal(at), strict=True)
        if present(slope)
    ]
    M = crba(model, q_mid) if sprung else None
    for k in sprung:
        y = dt * dt * stiffness[k]
        part = y / (M[k][k] + y)
        force[k] = force[k] - dt * stiffness[k] * part * v[k]
        added[k] = added[k] + y * (0.25 + 0.75 * part)
    diagonal = [armature + more for armature, more in zip(model.armature, added, strict=True)]
    a = constrained_accelerations(model, q_mid, rates, force, f_ext, diagonal)
    return [*axpy(v, a, dt), *x_free], _response(model, q_mid, added)


def inertia(model, q):
    """Velocities by unit joint impulses."""
    return _response(model, q)


def _response(model, q, diagonal=None, added=None):
    return [*velocity_response(model, q, diagonal, added), *([0.0] * model.nv for _ in range(model.nx))]


def drift(model, q, rate, v, dt):
    """Positions after a time at constant rates, and velocities in the coordinates of their charts."""
    return finished(model, integrate(model, q, [dt * x for x in rate]), v)


_STATE, _FORCES = {"q": ("nq",), "v": ("nw",)}, {"tau": ("nv",), "dt": ()}
_MORE, _FOUND = {"f_ext": ("nb", 6), "u": ("nu",)}, {"v_free": ("nw",), "A": ("nw", "nv")}
FREE = Spec("joint_free_velocities", free_velocities, _STATE | _FORCES, _MORE, _FOUND, domains=COMPLETE)
MIDDLE = Spec("joint_middle_velocities", middle_velocities, _STATE | {"rates": ("nw",)} | _FORCES, _MORE, _FOUND,
              domains=COMPLETE)  # fmt: skip
INERTIA = Spec("joint_impact_inertia", inertia, {"q": ("nq",)}, {}, {"A": ("nw", "nv")})
DRIFT = Spec("joint_drift", drift, {"q": ("nq",), "rate": ("nv",), "v": ("nw",), "dt": ()}, {},
             {"q_next": ("nq",), "v_next": ("nw",)})  # fmt: skip
