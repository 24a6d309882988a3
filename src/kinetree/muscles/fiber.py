"""The fiber of a Hill muscle in series with a tendon: geometry, forces, rates; over any scalar.

A muscle m is any object with the attributes of `kinetree.forces.Muscle`: the isometric force F0, optimal fiber length,
tendon slack length, pennation and so on, over scalars. Lengths are along the tendon (``y``) or along the fiber (``l``),
whose height ``h = l sin(alpha)`` is constant: ``y = sqrt(l^2 - h^2)``.
"""

from __future__ import annotations

from typing import NamedTuple

from kinetree.spatial.scalar import cos, maximum, sin, sqrt, where

SHORTEST = 0.01
"""Least length of a fiber along the tendon, over the optimal length."""


def height(m):
    """Height of the fiber over the tendon's line [m]."""
    return m.optimal_fiber_length * sin(m.pennation)


def least_projection(m):
    """The fiber's length along the tendon at the largest pennation, and not less than `SHORTEST` [m]."""
    steepest = height(m) * cos(m.max_pennation) / sin(m.max_pennation)
    return maximum(SHORTEST * m.optimal_fiber_length, steepest)


def pennated(m, y):
    """Fiber length and cosine of the pennation, from the length along the tendon."""
    least = least_projection(m)
    y, h = where(y < least, least, y), height(m)
    length = sqrt(y * y + h * h)
    return length, y / length


def projected(m, length):
    """Fiber length within its bound, its length along the tendon and the cosine of the pennation."""
    least, h = least_projection(m), height(m)
    shortest = sqrt(least * least + h * h)
    length = where(length < shortest, shortest, length)
    y = sqrt(length * length - h * h)
    return length, y, y / length


def active_gain(m, activation, length):
    """Isometric active force over F0: activation, not below its minimum, times the curve over the length."""
    activation = where(activation < m.minimum_activation, m.minimum_activation, activation)
    return activation * m.curve_set.active_force_length(length / m.optimal_fiber_length)


def passive_force(m, length):
    """Passive force along the fiber, over F0."""
    return m.curve_set.passive_force_length(length / m.optimal_fiber_length)


def velocity(m, activation, rate):
    """Normalized velocity of the fiber, for the damping and for the curve."""
    v = rate / (m.max_contraction_velocity * m.optimal_fiber_length)
    return v, v / m.curve_set.velocity_scale(activation)


def contraction(m, activation, length, rate):
    """Forces of the contractile element and of the damping along the fiber, over F0."""
    v, scaled = velocity(m, activation, rate)
    return active_gain(m, activation, length) * m.curve_set.force_velocity(scaled), m.fiber_damping * v


def tendon_force(m, tendon_length):
    """Force along the tendon, over F0."""
    return m.curve_set.tendon_force_length(tendon_length / m.tendon_slack_length)


def fiber_rate(m, activation, length, tendon_length):
    """Rate of the fiber length at which fiber and tendon are in equilibrium [m/s].

    Notes
    -----
    ``(a fl(l) fv(v) + fp(l) + b v) cos(alpha) = ft(lT)``, damped equilibrium (Millard et al. 2013, eq. 5). A fiber at
    its least length does not shorten further.
    """
    bounded, _, cosine = projected(m, length)
    scale = m.curve_set.velocity_scale(activation)
    force = tendon_force(m, tendon_length) / cosine - passive_force(m, bounded)
    v = m.curve_set.force_velocity.balance(active_gain(m, activation, bounded), m.fiber_damping * scale, force)
    rate = v * scale * m.max_contraction_velocity * m.optimal_fiber_length
    return where((length < bounded) & (rate < 0.0), 0.0, rate)


class MuscleParts(NamedTuple):
    """Quantities of a muscle in one state.

    Attributes
    ----------
    tension : scalar
        Along the path [N].
    fiber_length, fiber_rate : scalar
        [m, m/s]
    cosine : scalar
        Of the pennation.
    tendon_energy, fiber_energy : scalar
        Stored [J].
    active_power, lost_power : scalar
        Given by the contractile element; lost by the damping [W].
    """

    tension: object
    fiber_length: object
    fiber_rate: object
    cosine: object
    tendon_energy: object
    fiber_energy: object
    active_power: object
    lost_power: object


def parts(m, length, rate, x) -> MuscleParts:
    """The quantities of a muscle, given length and rate of its path and its states: activation, fiber length."""
    F, slack, energy = m.max_isometric_force, m.tendon_slack_length, 0.0
    if m.tendon == "compliant":
        fiber, y, cosine = projected(m, x[1])
        l_dot = fiber_rate(m, x[0], x[1], length - y)
        tension = F * tendon_force(m, length - y)
        energy = F * slack * m.curve_set.tendon_force_length.integral((length - y) / slack)
    else:
        fiber, cosine = pennated(m, length - slack)
        l_dot = rate * cosine
        tension = F * (sum(contraction(m, x[0], fiber, l_dot)) + passive_force(m, fiber)) * cosine
    active, damping = (F * f for f in contraction(m, x[0], fiber, l_dot))
    return MuscleParts(
        tension, fiber, l_dot, cosine, energy, passive_energy(m, fiber), -(active * l_dot), damping * l_dot
    )


def passive_energy(m, length):
    """Energy stored in the passive fiber [J]."""
    strength = m.max_isometric_force * m.optimal_fiber_length
    return strength * m.curve_set.passive_force_length.integral(length / m.optimal_fiber_length)
