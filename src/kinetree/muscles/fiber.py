"""The fiber of a Hill muscle in series with a tendon: geometry, forces, rates; over any scalar.

A muscle m is any object with the attributes of `kinetree.forces.Muscle`: the isometric force F0, optimal fiber length,
tendon slack length, pennation and so on, over scalars. Lengths are along the tendon (``y``) or along the fiber (``l``),
whose height ``h = l sin(alpha)`` is constant: ``y = sqrt(l^2 - h^2)``.
"""

from __future__ import annotations

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


def velocity_scale(m, activation):
    """The largest velocity of the fiber [m/s]."""
    return m.curve_set.velocity_scale(activation) * m.max_contraction_velocity * m.optimal_fiber_length


def fiber_force(m, activation, length, rate):
    """Force of the contractile element and of the damping along the fiber, over F0; without the passive force."""
    v = rate / (m.max_contraction_velocity * m.optimal_fiber_length)
    scaled = v / m.curve_set.velocity_scale(activation)
    return active_gain(m, activation, length) * m.curve_set.force_velocity(scaled) + m.fiber_damping * v


def passive_force(m, length):
    """Passive force along the fiber, over F0."""
    return m.curve_set.passive_force_length(length / m.optimal_fiber_length)


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
    rate = v * velocity_scale(m, activation)
    return where((length < bounded) & (rate < 0.0), 0.0, rate)
