"""Fiber and tendon in equilibrium: published values, whole grids, initial states, the balance of energy."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError
from kinetree.muscles.curves_millard import bezier_chain
from kinetree.muscles.equilibrium import fiber_length
from kinetree.muscles.fiber import contraction, fiber_rate, passive_force, projected, tendon_force

PATH = (kt.tendons.ViaPoint("world"), kt.tendons.ViaPoint("bob", (0.0, 0.0, -0.1)))
# OpenSim 4.6, F0 = 100 N, optimal fiber length 0.1 m, slack length 0.2 m: path, activation, pennation; fiber, force.
STATIC = [
    ("millard", 0.28, 0.05, 0.0, 0.078904024, 4.30563303),
    ("millard", 0.28, 1.0, 0.0, 0.071686134, 79.14862856),
    ("millard", 0.30, 0.5, 0.0, 0.093876706, 49.41454035),
    ("millard", 0.30, 1.0, 0.0, 0.090479184, 96.08287643),
    ("millard", 0.30, 1.0, 0.3, 0.095275893, 94.71194176),
    ("millard", 0.32, 1.0, 0.0, 0.110410814, 97.04214416),
    ("thelen", 0.30, 1.0, 0.0, 0.092064934, 98.61051544),
    ("thelen", 0.30, 0.5, 0.3, 0.098959334, 47.70699802),
    ("thelen", 0.34, 1.0, 0.0, 0.132534198, 88.56902097),
]
SIZE = 50


def muscle(curves="millard", pennation=0.0, **options):
    return kt.forces.Muscle("m", PATH, 100.0, 0.1, 0.2, pennation, curves=curves, tendon="compliant", **options)


@pytest.mark.parametrize(("curves", "length", "activation", "pennation", "fiber", "force"), STATIC)
def test_published_equilibrium(curves, length, activation, pennation, fiber, force):
    """All printed digits of the fiber length; OpenSim's own solution stops within 3e-7 N."""
    m = muscle(curves, pennation)
    found = fiber_length(m, activation, length)
    assert found == pytest.approx(fiber, abs=5.1e-10)
    assert 100.0 * tendon_force(m, length - projected(m, found)[1]) == pytest.approx(force, abs=3e-7)


@pytest.mark.parametrize("curves", kt.muscles.CURVES)
def test_fiber_length_on_the_whole_grid(curves):
    """Static and moving: on 100 % of a grid of activation, path length and fiber velocity the forces are equal."""
    m = muscle(curves, 0.2)
    a, L, v = np.meshgrid(
        np.linspace(0.01, 1.0, SIZE), np.linspace(0.255, 0.36, SIZE), np.linspace(-1.0, 1.0, SIZE), indexing="ij"
    )
    l = fiber_length(m, a, L, v)
    _, y, cosine = projected(m, l)
    force = sum(contraction(m, a, l, v)) + passive_force(m, l)
    residual = np.maximum(force, 0.0) * cosine - tendon_force(m, L - y)
    assert np.abs(residual).max() < 1e-10


@pytest.mark.parametrize("curves", kt.muscles.CURVES)
@pytest.mark.parametrize("damping", [0.01, 0.1])
def test_fiber_rate_on_the_whole_grid(curves, damping):
    """On 100 % of a grid of activation, fiber length and tendon length: a fl fv(v) + fp + b v = ft / cos(alpha)."""
    m = muscle(curves, 0.2, fiber_damping=damping)
    a, l, tendon = np.meshgrid(
        np.linspace(0.01, 1.0, SIZE), np.linspace(0.05, 0.16, SIZE), np.linspace(0.199, 0.213, SIZE), indexing="ij"
    )
    v = fiber_rate(m, a, l, tendon)
    _, _, cosine = projected(m, l)
    residual = (sum(contraction(m, a, l, v)) + passive_force(m, l)) * cosine - tendon_force(m, tendon)
    assert np.abs(residual).max() < 1e-10


@pytest.fixture(scope="module", params=["rigid", "compliant"])
def arm(request):
    return kt.models.arm26(request.param)


def test_equilibrate(arm):
    """Batches; at rest no fiber moves; activations stay; with velocities fibers move as with rigid tendons."""
    rng = np.random.default_rng(0)
    q, x = rng.uniform(0.2, 1.2, (5, 2)), np.tile(arm.initial_internal(), (5, 1))
    of_one = arm.nx // arm.n_muscles
    x[:, ::of_one] = rng.uniform(0.05, 1.0, (5, 6))
    found = kt.muscles.equilibrate(arm, q, x=x)
    np.testing.assert_array_equal(found[:, ::of_one], x[:, ::of_one])
    np.testing.assert_allclose(found[2], kt.muscles.equilibrate(arm, q[2], x=x[2]), rtol=1e-14)
    if of_one == 2:
        rates = kt.dynamics.force_state_rates(arm, q, np.zeros((5, 2)), x=found)
        np.testing.assert_allclose(rates[:, 1::2], 0.0, atol=1e-8)
        v = 0.1 * rng.normal(size=(5, 2))
        found = kt.muscles.equilibrate(arm, q, v, x)
        rates = kt.dynamics.force_state_rates(arm, q, v, x=found)[:, 1::2]
        rigid = [m.optimal_fiber_length for m in arm.muscles] * np.ones((5, 1))
        lengths = -np.einsum("nmk,nk->nm", kt.muscles.moment_arms(arm, q), v)
        assert np.abs(rates - lengths).max() < 0.2 * np.abs(lengths).max() and np.all(found[:, 1::2] < 2.0 * rigid)


def test_tensions_give_the_joint_forces(arm):
    """R^T T is the joint force; R is -dL/dq, and energies balance the power, by differences."""
    rng = np.random.default_rng(1)
    q, v, u = rng.uniform(0.2, 1.2, 2), rng.normal(size=2), rng.uniform(0.0, 1.0, 6)
    x = np.array(arm.initial_internal(), dtype=float)
    of_one = arm.nx // arm.n_muscles
    x[::of_one] = rng.uniform(0.1, 1.0, 6)
    x = kt.muscles.equilibrate(arm, q, x=x)
    if of_one == 2:
        x[1::2] *= rng.uniform(0.97, 1.01, 6)
    T, R = kt.muscles.tensions(arm, q, v, x=x), kt.muscles.moment_arms(arm, q)
    np.testing.assert_allclose(R.T @ T, kt.dynamics.passive_joint_forces(arm, q, v, x=x), rtol=1e-11)
    h = 1e-6
    slopes = [(kt.muscles.lengths(arm, q + h * e) - kt.muscles.lengths(arm, q - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(R, -np.transpose(slopes), atol=1e-9)

    x_dot = kt.dynamics.force_state_rates(arm, q, v, x=x, u=u)
    ahead, behind = (kt.muscles.energies(arm, q + s * v, v, x=x + s * x_dot)[0] for s in (1e-6, -1e-6))
    rate = (ahead - behind).sum(axis=1) / 2e-6
    _, power = kt.muscles.energies(arm, q, v, x=x)
    np.testing.assert_allclose(T * (R @ v), power[:, 0] - power[:, 1] - rate, rtol=1e-6, atol=1e-6 * np.abs(rate).max())
    assert np.all(power[:, 1] >= 0.0)


def test_compliant_tendons_converge_to_rigid_ones():
    """Stiffer tendons: the tension in equilibrium at rest approaches that of a rigid one, as 1 / stiffness."""
    millard, gaps = kt.muscles.curves("millard"), []
    for k in (1.0, 10.0, 100.0):
        knots = [(1.0, 0.0, 0.0), (1.0 + 0.03 / k, 0.5, 25.0 * k), (1.0 + 0.05 / k, 1.1, 35.0 * k)]
        stiff = bezier_chain(knots, [0.5] * 2)
        curves = kt.muscles.MuscleCurves(
            "stiff", millard.active_force_length, millard.passive_force_length, millard.force_velocity, stiff
        )
        models = [
            kt.models.pendulum().with_forces(
                kt.forces.Muscle("m", PATH, 100.0, 0.1, 0.02, 0.1, curves=curves, tendon=tendon)
            )
            for tendon in ("rigid", "compliant")
        ]
        found = []
        for model in models:
            with kt.interpreted():
                x = kt.muscles.equilibrate(model, [0.3], x=[0.7, 0.1][: model.nx])
                found.append(float(kt.muscles.tensions(model, [0.3], [0.0], x=x)[0]))
        gaps.append(abs(found[1] - found[0]))
    assert gaps[1] < 0.2 * gaps[0] and gaps[2] < 0.2 * gaps[1]


def test_a_path_too_short_for_its_tendon():
    """No fiber length is in equilibrium: the error has the lengths and the likely fix."""
    long = kt.forces.Muscle("m", PATH, 100.0, 0.1, 5.0, tendon="compliant")
    with pytest.raises(ModelError, match=r"muscle 'm': its path is .* shorter than its slack tendon.*too long"):
        kt.muscles.equilibrate(kt.models.pendulum().with_forces(long), [0.0])
