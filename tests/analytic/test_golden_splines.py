"""Published scenes with spline joints: energies of the notes' own implementation (Sueda, scenes 21 and 22)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Revolute, SplineCurve, SplineSurface

GRAVITY = (0.0, 0.0, -980.0)  # the scenes are in cm, g, s
X, Y = (1, 0, 0), (0, 1, 0)


def cuboid(sides, offset):
    """Mass properties of a box of density 1 with its center at ``offset``."""
    a, b, c = sides
    m = a * b * c
    inertia = m / 12.0 * np.array([b * b + c * c, c * c + a * a, a * a + b * b])
    return {"mass": m, "com": offset, "inertia": inertia}


def chain(name, *bodies):
    """A chain of (joint, position of the joint in its parent's joint frame, sides, offset)."""
    b = kt.ModelBuilder(name, gravity=GRAVITY)
    for k, (joint, at, sides, offset) in enumerate(bodies):
        parent = f"b{k}" if k else "world"
        b.add_body(f"b{k + 1}", parent, joint, f"j{k + 1}", placement=(at, (0, 0, 0)), **cuboid(sides, offset))
    return b.build()


def track():
    """Scene 21: a pendulum, a body on a closed curve of poses, a pendulum on that."""
    turns = (math.pi, math.pi / 2, 0.0, -math.pi / 2)
    places = ((-10, 0, 0), (0, 0, -2), (10, 0, 0), (0, 0, 2))
    curve = SplineCurve([(p, (0, angle, 0)) for p, angle in zip(places, turns, strict=True)], periodic=True)
    model = chain(
        "track",
        (Revolute(Y), (0, 0, 0), (1, 1, 10), (0, 0, -5)),
        (curve, (0, 0, -10), (10, 1, 1), (5, 0, 0)),
        (Revolute(Y), (10, 0, 0), (10, 1, 1), (5, 0, 0)),
    )
    return model, [0.0, 0.0, 15 * math.pi / 16]


def bowl():
    """Scene 22: a pendulum, a body on a patch of poses, a pendulum on that."""

    def value(i, k):
        x, y, turn = -15.0 + 10.0 * i, -15.0 + 10.0 * k, -math.pi / 4 + i * math.pi / 6
        return (x, y, 0.05 * (x * x + y * y), turn, turn, 0.0)

    # The scene counts i with its second parameter.
    surface = SplineSurface([[value(i, k) for i in range(4)] for k in range(4)])
    model = chain(
        "bowl",
        (Revolute(X), (0, 0, 0), (1, 1, 10), (0, 0, -5)),
        (surface, (0, 0, -14), (1, 1, 10), (0, 0, -5)),
        (Revolute(Y), (0, 0, -10), (1, 1, 10), (0, 0, -5)),
    )
    return model, [math.pi / 8, 0.5, 0.5, math.pi / 4]


@pytest.mark.parametrize(
    ("scene", "h", "energy"), [(track, 5e-3, -30627.8479814097263443), (bowl, 1e-2, 2154.9740571399888722)]
)
def test_energy_after_two_seconds_is_the_published_one(scene, h, energy):
    """S2.05, S2.06: T + V - V(0) after 2 s of v += h a, q += h v, as their MATLAB code prints it.

    Its ten digits come from 200 and 400 steps in another order of operations; the motion is not chaotic enough to
    lose more than five of sixteen.
    """
    model, q0 = scene()
    q, v, tau = np.array(q0), np.zeros(model.nv), np.zeros(model.nv)
    start = kt.potential_energy(model, q)
    for _ in range(round(2.0 / h)):
        v = v + h * kt.aba(model, q, v, tau)
        q = q + h * v
    found = kt.kinetic_energy(model, q, v) + kt.potential_energy(model, q) - start
    assert found == pytest.approx(energy, rel=1e-9)


@pytest.mark.parametrize("scene", [track, bowl])
def test_energy_of_the_exact_motion_is_constant(scene):
    """The scenes are conservative: adaptive integration keeps the energy, zero at the start, to its tolerance.

    ode45 of the notes' code drifts by -18.5 and -1.46 g cm^2/s^2.
    """
    model, q0 = scene()
    run = kt.simulate(model, q0, duration=2.0, integrator=kt.integrators.Adaptive(rtol=1e-11, atol=1e-11), dt=0.02)
    drift = np.abs(run.energy - run.energy[0]).max()
    assert drift < 1e-7 * np.abs(run.kinetic_energy).max()
