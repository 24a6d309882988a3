"""The variational integrator: momenta to rounding, energy within bounds for a million steps."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.integrators.variational import legendre
from kinetree.joints import Spherical, SphericalExponential
from kinetree.model.gears import GearedRotor
from kinetree.spatial import Vector3
from tests.simulation.test_orders import start, tree


def floating_tree():
    """A free base with a ball joint and hinges, no gravity, no damping."""
    return tree().replace(gravity=(0.0, 0.0, 0.0), damping=0.0)


def test_momentum_is_kept_to_rounding_at_any_step():
    """20 ms steps of a tumbling tree: linear and angular momentum about the world's origin to 1e-12 after 200 steps.

    Other methods of order 2 lose it to the order of the step.
    """
    model = floating_tree()
    q0, v0 = start(model)
    lost = {}
    for name in ("variational", "implicit_midpoint"):
        run = kt.simulate(model, q0, v0, duration=4.0, dt=0.02, integrator=name)
        h = kt.momentum(model, run.q, run.v)
        lost[name] = np.abs(h - h[0]).max() / np.abs(h[0]).max()
    assert lost["variational"] < 1e-12 and lost["implicit_midpoint"] > 1e-6


def test_a_step_back_leads_back():
    """The method is symmetric: h and then -h is the identity to rounding."""
    model = tree().replace(damping=0.0)
    q0, v0 = start(model)
    q1, v1 = kt.integrators.variational_step(model, q0, v0, np.zeros(model.nv), 0.004)
    q, v = kt.integrators.variational_step(model, q1, v1, np.zeros(model.nv), -0.004)
    assert np.abs(kt.difference(model, q0, q)).max() < 1e-12 and v == pytest.approx(v0, abs=1e-11)


def test_a_step_is_symplectic():
    """The Jacobian F of (q, p) -> (q+, p+) of a double pendulum obeys F^T J F = J, to 1e-7 (central differences)."""
    model, h, e = kt.models.double_pendulum(), 0.02, 1e-4

    def step(x):
        q, p = x[:2], x[2:]
        q1, v1 = kt.integrators.variational_step(model, q, np.linalg.solve(kt.crba(model, q), p), np.zeros(2), h)
        return np.concatenate((q1, kt.crba(model, q1) @ v1))

    x = np.concatenate(([1.0, 0.5], kt.crba(model, np.array([1.0, 0.5])) @ [0.3, -0.8]))
    F = np.array([(step(x + e * d) - step(x - e * d)) / (2 * e) for d in np.eye(4)]).T
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    assert F.T @ J @ F == pytest.approx(J, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_slopes_of_the_lagrangian(seed):
    """dL/dv = M v and dL/dq by central differences of T - V along the manifold, on joints of all kinds."""
    model = kt.models.random_tree(6, seed=seed, floating=seed % 2 == 0)
    rng = np.random.default_rng(seed)
    q, v, e = model.random_q(rng), rng.standard_normal(model.nv), 1e-6
    p, slope = (np.array(x, float) for x in legendre(model, list(q), list(v)))
    assert p == pytest.approx(kt.crba(model, q) @ v, rel=1e-10, abs=1e-10)

    def L(x):
        moved = kt.integrate(model, q, x)
        return kt.kinetic_energy(model, moved, v) - kt.potential_energy(model, moved)

    found = [(L(e * d) - L(-e * d)) / (2 * e) for d in np.eye(model.nv)]
    assert slope == pytest.approx(found, abs=1e-7 * max(1.0, np.abs(slope).max()))


def heavy_top():
    b = kt.ModelBuilder("heavy top")
    b.add_body("top", joint=Spherical(), mass=15.0, com=(0, 1, 0), inertia=np.diag([0.234375, 0.46875, 0.234375]))
    return b.build()


def energy_errors(model, q0, v0, h, steps, integrator):
    """Energy less that of the start, every hundred steps."""
    q, v = kt.rollout(model, q0, v0, None, h, steps=steps, record=kt.Record(every=100), integrator=integrator)
    energy = kt.kinetic_energy(model, q, v) + kt.potential_energy(model, q)
    return energy - energy[0]


SYSTEMS = {
    "double pendulum": (kt.models.double_pendulum, [1.0, 0.5], [0.0, 0.0], 0.01),
    "heavy top": (heavy_top, [1.0, 0.0, 0.0, 0.0], [0.0, 150.0, -4.61538], 2e-4),
}


@pytest.mark.parametrize("steps", [100_000, pytest.param(1_000_000, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("system", SYSTEMS)
def test_energy_stays_within_its_bound(system, steps):
    """The last tenth of the run is no worse than 1.3 times the first, the means differ by 5 % of the bound.

    RK4, of order 4, drifts ten times as far in the last tenth as in the first, on both systems.
    """
    make, q0, v0, h = SYSTEMS[system]
    error = energy_errors(make(), q0, v0, h, steps, "variational")
    n = len(error) // 10
    first, last = error[:n], error[-n:]
    assert np.abs(last).max() < 1.3 * np.abs(first).max()
    assert abs(last.mean() - first.mean()) < 0.05 * np.abs(first).max()
    drifting = energy_errors(make(), q0, v0, h, steps, "rk4")
    assert np.abs(drifting[-n:]).max() > 5.0 * np.abs(drifting[:n]).max()


def test_what_is_not_in_the_lagrangian_is_refused():
    """Geared rotors, by name."""
    body = kt.models.double_pendulum()
    rotor = GearedRotor("rotor", 1, 0, 50.0, Vector3(0.0, 1.0, 0.0), 1e-4, 1e-4)
    arm = body.replace(rotors=(rotor,))
    with pytest.raises(kt.errors.UnsupportedError, match="gears"):
        kt.simulate(arm, duration=0.01, integrator="variational")


def test_charts_change_on_the_way():
    """A ball joint in exponential coordinates turns through several full turns: kinetic energy is kept to 1e-6."""
    b = kt.ModelBuilder("ball")
    b.add_body("ball", joint=SphericalExponential(), mass=1.0, com=(0, 0, 0), inertia=np.diag([0.2, 0.3, 0.4]))
    model = b.build()
    run = kt.simulate(model, v0=[1.0, 9.0, 0.5], duration=2.0, dt=1e-3, integrator="variational")
    assert run.energy == pytest.approx(run.energy[0], rel=1e-4)
