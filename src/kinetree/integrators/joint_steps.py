"""Dynamics of a step with joint constraints: velocities without impulses, inertias, positions."""

from __future__ import annotations

from kinetree.algorithms.complete import (
    COMPLETE,
    refuse_unsupported,
    semi_implicit_acceleration,
)
from kinetree.algorithms.constrained import constrained_accelerations, velocity_response
from kinetree.algorithms.crba import crba
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.passive import joint_forces, passive_terms
from kinetree.algorithms.spec import Spec
from kinetree.forces.contract import present
from kinetree.integrators.kernels import axpy, finished


def free_velocities(model, q, v, tau, dt, f_ext=None):
    """``v_free``, and the velocities by unit joint impulses, the inverse of ``M + dt D + dt^2 K`` under couplings.

    Those of semi-implicit Euler: forces at q, dampers and springs at the end of the step.
    """
    a = semi_implicit_acceleration(model, q, v, tau, dt, f_ext)
    _, damping, stiffness = passive_terms(model, q, v)
    diagonal = [dt * (d + dt * k) for d, k in zip(damping, stiffness, strict=True)]
    return axpy(v, a, dt), velocity_response(model, q, diagonal)


def middle_velocities(model, q, v, w, tau, dt, f_ext=None):
    """The same with all forces at the middle of the step: positions ``q (+) dt v / 2``, rates w.

    Dampers act at the end of the step, so that they cannot reverse a motion. Springs act at the mean of both ends,
    ``q_mid + dt (v_next - v) / 4``, which keeps their energy, blended with ``q_mid + dt v_next`` by the
    weight ``x = y / (1 + y)``, ``y = dt^2 K_k / M_kk``, which damps springs that the step does not resolve. The energy
    that a spring loses by this is of order 3.
    """
    refuse_unsupported(model, "aba")
    q_mid = integrate(model, q, [0.5 * dt * x for x in v])
    elastic, damping, stiffness = passive_terms(model, q_mid, v)
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
        x = y / (M[k][k] + y)
        force[k] = force[k] - dt * stiffness[k] * x * v[k]
        added[k] = added[k] + y * (0.25 + 0.75 * x)
    diagonal = [armature + x for armature, x in zip(model.armature, added, strict=True)]
    a = constrained_accelerations(model, q_mid, w, force, f_ext, diagonal)
    return axpy(v, a, dt), velocity_response(model, q_mid, added)


def inertia(model, q):
    """Velocities by unit joint impulses."""
    return velocity_response(model, q)


def drift(model, q, rate, v, dt):
    """Positions after a time at constant rates, and velocities v in the coordinates of their charts."""
    return finished(model, integrate(model, q, [dt * x for x in rate]), v)


_STATE = {"q": ("nq",), "v": ("nv",)}
_FORCES = {"tau": ("nv",), "dt": ()}
_WRENCHES, _FOUND = {"f_ext": ("nb", 6)}, {"v_free": ("nv",), "A": ("nv", "nv")}
FREE = Spec("joint_free_velocities", free_velocities, _STATE | _FORCES, _WRENCHES, _FOUND, domains=COMPLETE)
MIDDLE = Spec("joint_middle_velocities", middle_velocities, _STATE | {"w": ("nv",)} | _FORCES, _WRENCHES, _FOUND,
              domains=COMPLETE)  # fmt: skip
INERTIA = Spec("joint_impact_inertia", inertia, {"q": ("nq",)}, {}, {"A": ("nv", "nv")})
DRIFT = Spec("joint_drift", drift, {"q": ("nq",), "rate": ("nv",), "v": ("nv",), "dt": ()}, {},
             {"q_next": ("nq",), "v_next": ("nv",)})  # fmt: skip
