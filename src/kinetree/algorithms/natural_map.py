"""Residuals of the contacts of a step: the natural map of Signorini's condition with Coulomb's law of friction.

As `kinetree.contact.natural_map`, over any scalar: ``|lambda - P_K(lambda - m (u + mu |u_t| n))| / m``, with the mass m
that an impulse moves, ``3 / trace(G_ii)``. Detection, rows and velocities are those of the step, but not its sweeps.
"""

from __future__ import annotations

from kinetree.algorithms.contact_sweeps import TINY, product
from kinetree.algorithms.contacts import detect
from kinetree.algorithms.free_step import FreeStep, normal_target
from kinetree.algorithms.hunt_crossley import HuntCrossley
from kinetree.spatial.scalar import sqrt, where


def contact_natural_maps(model, step: FreeStep, dt, velocities, impulses) -> list:
    """The natural map of each candidate point of contact [m/s].

    Parameters
    ----------
    model : Model or ScalarModel
    step : FreeStep
    dt : scalar
        [s].
    velocities : sequence of scalars
        At the end of the step, in the axes of its start [rad/s or m/s].
    impulses : sequence of scalars
        Those of the contacts first [N s].
    """
    found = []
    for k, c in enumerate(detect(model, step.kin)):
        impulse, rates = impulses[3 * k : 3 * k + 3], c.rates(velocities)
        response = sum((product(w, w) for w in map(step.space.row, c.rows)), start=0.0)
        if c.pair.law == "hunt_crossley":  # as far as the rate is from the one that belongs to the impulse
            law = HuntCrossley(c.gap, dt, c.pair.stiffness, c.pair.dissipation, c.pair.exponent)
            force, slope = law.impulse(rates[2])
            rates[2] = (impulse[2] - force) / (slope + TINY)
        else:
            arriving, predicted = (c.rates(v)[2] for v in (step.before, step.predicted))
            least, compliance = normal_target(c.pair, c.gap, dt, arriving, predicted)
            rates[2], response = rates[2] - least + compliance * impulse[2], response + compliance
        found.append(natural_map(impulse, rates, c.pair.friction, response * (1.0 / 3.0) + TINY))
    return found


def natural_map(impulse, rates, friction, response):
    """Of one contact with the given rate for a unit of impulse, ``1 / m``."""
    shift = friction * sqrt(rates[0] * rates[0] + rates[1] * rates[1] + TINY * TINY)
    u = (*rates[:2], rates[2] + shift)
    x, y, n = (f - u_k / response for f, u_k in zip(impulse, u, strict=True))
    size = sqrt(x * x + y * y + TINY * TINY)
    inside = (size <= friction * n) & (n > 0.0)
    surface = (n + friction * size) / (1.0 + friction * friction)
    surface = where(surface > 0.0, surface, 0.0)
    scale = where(inside, 1.0, friction * surface / size)
    apart = (impulse[0] - x * scale, impulse[1] - y * scale, impulse[2] - where(inside, n, surface))
    return response * sqrt(sum((d * d for d in apart), start=0.0))
