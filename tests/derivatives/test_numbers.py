"""Derivatives with respect to the model's numbers: masses, first moments, inertias, offsets, gravity, joint data."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.spec import ALGORITHMS
from tests.derivatives.states import BALL, LONG, along, close, state, tree

ROUTES = 1e-13
DIFFERENCES = 1e-11
INERTIAL = ("*.mass", "*.h.?", "*.I.??")
NUMBERS = (0, 1, 7, 25)


def chosen(model, patterns):
    """Places of the numbers that `patterns` name, found without the code under test: by their last parts."""
    kinds = {pattern.removeprefix("*").replace("?", "") for pattern in patterns}
    return [j for j, name in enumerate(model.numbers().names) if any(kind in name for kind in kinds)]


def with_numbers(model, name, places, *arrays):
    """The algorithm as a function of some of the model's numbers (leading axes are batches), in extended precision."""

    def evaluated(values):
        numbers = [LONG(x) for x in model.number_values()]
        for j, x in zip(places, np.moveaxis(values, -1, 0), strict=True):
            numbers[j] = x
        result = ALGORITHMS[name].function(model.with_numbers(numbers), *arrays)
        return np.stack(np.broadcast_arrays(*result), axis=-1)

    return evaluated


@pytest.mark.parametrize("number", NUMBERS)
def test_inverse_dynamics_is_linear_in_the_inertial_parameters(number):
    """tau = Y pi with ten parameters for each body: Y is the regressor, gravity included, the same for any pi."""
    model = tree(number)
    q, v, a, _, _ = state(model, 1, LONG)
    f = kt.differentiate(model, "rnea", wrt="numbers", numbers=INERTIAL)
    Y, places = f(q, v, a), chosen(model, INERTIAL)
    assert Y.shape == (model.nv, 10 * (model.nb - 1)) == (model.nv, len(places))
    pi = model.number_values()[places].astype(LONG)
    close(Y @ pi, kt.rnea(model, q, v, a) - model.armature * a, ROUTES)
    heavier = model.number_values().copy()
    heavier[places] *= 3.0
    other = kt.differentiate(model.replace(I=model.with_numbers(heavier).I), "rnea", wrt="numbers", numbers=INERTIAL)
    close(other(q, v, a), Y, ROUTES)


def test_regressor_holds_parameters_that_are_zero():
    """A column whose parameter is zero in the model, here a product of inertia, is the force that it would cause."""
    model = kt.models.pendulum(length=2.0, mass=3.0)
    zero = [j for j, x in enumerate(model.number_values()) if ".I." in model.numbers().names[j] and x == 0.0]
    assert zero
    Y = kt.differentiate(model, "rnea", wrt="numbers", numbers=INERTIAL)([0.3], [0.5], [0.7])
    assert Y.shape == (1, 10) and np.isfinite(Y).all()
    turned = chosen(model, ("*.I.yy",))
    unit = kt.differentiate(model, "rnea", wrt="numbers", numbers=("*.I.yy",))([0.3], [0.5], [0.7])
    assert unit.shape == (1, len(turned))
    close(unit, [[0.7]], 1e-15)  # the pendulum turns about y: tau = I_yy a


# Steps: forces are linear in gravity; accelerations turn sharply with the armature of a light joint.
STEPS = {INERTIAL: 1e-5, ("*.r.?",): 1e-5, ("gravity.?",): 1e-2, ("*.armature",): 1e-6}


@pytest.mark.parametrize("patterns", STEPS, ids=lambda p: p[0])
@pytest.mark.parametrize("name", ["rnea", "aba"])
def test_numbers_against_finite_differences(name, patterns):
    """Both dynamics in inertial parameters, offsets, gravity and armatures."""
    model = tree(7)
    q, v, x, _, _ = state(model, 2, LONG)
    places = chosen(model, patterns)
    found = kt.differentiate(model, name, wrt="numbers", numbers=patterns)(q, v, x)
    function = with_numbers(model, name, places, q, v, x)
    values = model.number_values()[places].astype(LONG)
    close(found, along(function, lambda s: values + s, len(places), STEPS[patterns]), DIFFERENCES)


@pytest.mark.parametrize("method", ["forward", "reverse"])
def test_forward_and_inverse_dynamics_answer_to_parameters_as_m_inverse(method):
    """da/dpi = -M^-1 dtau/dpi at the same motion, forward and reverse."""
    model = tree(1)
    q, v, _, tau, _ = state(model, 3, LONG)
    a = kt.aba(model, q, v, tau)
    choice = {"wrt": "numbers", "numbers": INERTIAL, "method": method}
    Y = kt.differentiate(model, "rnea", **choice)(q, v, a)
    close(kt.crba(model, q) @ kt.differentiate(model, "aba", **choice)(q, v, tau), -Y, 1e-11)


def test_derivative_by_gravity_gives_the_gravity_forces():
    """Gravity forces are linear in gravity."""
    model = tree(1)
    q, *_ = state(model, 4, LONG)
    slope = kt.differentiate(model, "gravity_forces", wrt="numbers", numbers=("gravity.?",))(q)
    close(slope @ np.array([*model.gravity], LONG), kt.gravity_forces(model, q), ROUTES)


def test_gradient_of_a_fit_by_reverse_mode():
    """vjp of the numbers: the gradient of |tau - measured|^2 / 2 is Y^T (tau - measured), over a batch, compiled."""
    model = BALL
    q, v, a, measured, _ = (np.stack(parts) for parts in zip(*(state(model, s) for s in range(5)), strict=True))
    residual = kt.rnea(model, q, v, a) - measured
    vjp = kt.differentiate(model, "rnea", "vjp", wrt="numbers", numbers=INERTIAL)
    Y = kt.differentiate(model, "rnea", wrt="numbers", numbers=INERTIAL)
    close(vjp(q, v, a, residual), np.einsum("nij,ni->nj", Y(q, v, a), residual), 1e-12)


@functools.cache
def passive():
    """A chain with springs, damping and dry friction on all joints, stops on none."""
    rng = np.random.default_rng(6)
    n = 3
    return kt.models.chain_gu(n, seed=6).replace(
        damping=rng.uniform(0.1, 1.0, n),
        stiffness=rng.uniform(1.0, 9.0, n),
        spring_reference=rng.uniform(-1.0, 1.0, n),
        dry_friction=rng.uniform(0.1, 0.5, n),
    )


def test_joint_data():
    """tau = ... + d v + k (q - q_ref) + tau_c sign(v): the slopes of the complete inverse dynamics in each."""
    model = passive()
    q, v, a, _, _ = state(model, 5)
    expected = {
        "damping": v,
        "stiffness": q - model.spring_reference,
        "spring_reference": -np.asarray(model.stiffness),
        "dry_friction": np.sign(v),
    }
    for kind, slopes in expected.items():
        found = kt.differentiate(model, "inverse_dynamics", wrt="numbers", numbers=(f"*.{kind}",))(q, v, a)
        close(found, np.diag(slopes), 1e-14)


def test_physics_that_is_absent_may_be_a_variable():
    """A damping of zero is structure; asked for as a variable it is there, and its slope is the velocity."""
    model = kt.models.chain_gu(3, seed=1)
    q, v, a, _, _ = state(model, 6)
    found = kt.differentiate(model, "inverse_dynamics", wrt="numbers", numbers=("*.damping",))(q, v, a)
    close(found, np.diag(v), 1e-15)
