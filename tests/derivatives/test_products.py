"""Products with Jacobians and Hessians: jvp, vjp and hvp."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.calls import public_call
from tests.derivatives.states import BALL, LONG, close, second_difference, state, tree

ROUTES = 1e-13  # extended precision; see test_routes
SECOND = 1e-9  # second differences: 1e-11 of the function's size, and h^4 times its sixth derivatives
NUMBERS = (0, 1, 7, 25)


def moved(model, q, *rest):
    """The state displaced by x, whose parts are tangents of q and of the further arrays."""

    def to(x):
        parts = np.split(x, len(rest) + 1, axis=-1)
        return kt.integrate(model, q, parts[0]), *(y + part for y, part in zip(rest, parts[1:], strict=True))

    return to


@pytest.mark.parametrize("number", NUMBERS)
def test_products_are_those_of_the_jacobian(number):
    """jvp: J x forward; vjp: y^T J in reverse."""
    model = tree(number)
    q, v, a, _, f_ext = state(model, 1, LONG)
    rng = np.random.default_rng(number)
    J = kt.rnea_derivatives(model, q, v, a, f_ext)
    x, y = rng.standard_normal((3, model.nv)).astype(LONG), rng.standard_normal(model.nv).astype(LONG)
    choice = {"wrt": ("q", "v", "a"), "optional": ("f_ext",)}
    jvp, vjp = (kt.differentiate(model, "rnea", mode, **choice) for mode in ("jvp", "vjp"))
    close(jvp(q, v, a, f_ext, *x), sum(part @ direction for part, direction in zip(J, x, strict=True)), ROUTES)
    for found, part in zip(vjp(q, v, a, f_ext, y), J, strict=True):
        close(found, y @ part, ROUTES)


@pytest.mark.parametrize("name", ["rnea", "aba"])
@pytest.mark.parametrize("number", NUMBERS)
def test_hessian_of_the_dynamics(name, number):
    """hvp is the second difference of y . f along all coordinates, and x1 . H x2 = x2 . H x1."""
    model = tree(number)
    q, v, third, _, _ = state(model, 2, LONG)
    rng = np.random.default_rng(number)
    d, e = rng.standard_normal((2, 3, model.nv)).astype(LONG)
    y = rng.standard_normal(model.nv).astype(LONG)
    hvp = kt.differentiate(model, name, "hvp", wrt=("q", "v", {"rnea": "a", "aba": "tau"}[name]))
    along_d, along_e = (np.concatenate(hvp(q, v, third, *x, y)) for x in (d, e))
    close(along_d @ e.ravel(), along_e @ d.ravel(), 1e-12)
    to = moved(model, q, v, third)
    expected = second_difference(lambda x: public_call(name)(model, *to(x)) @ y, d.ravel(), e.ravel())
    close(along_d @ e.ravel(), expected, SECOND)


@pytest.mark.parametrize("number", NUMBERS)
def test_hessian_of_the_kinetic_energy(number):
    """In v it is the inertia matrix; in q it is symmetric."""
    model = tree(number)
    q, v, d, e, _ = state(model, 3, LONG)
    in_v = kt.differentiate(model, "kinetic_energy", "hvp", wrt="v")
    close(in_v(q, v, d, LONG(1.0)), kt.crba(model, q) @ d, ROUTES)
    in_q = kt.differentiate(model, "kinetic_energy", "hvp", wrt="q")
    close(in_q(q, v, d, LONG(1.0)) @ e, in_q(q, v, e, LONG(1.0)) @ d, 1e-12)


@pytest.mark.parametrize("number", NUMBERS)
def test_gradient_and_hessian_of_the_potential_energy(number):
    """The gradient is the gravity force; the Hessian along the manifold is symmetric and a second difference."""
    model = tree(number)
    q, d, e, *_ = state(model, 4, LONG)
    one = LONG(1.0)
    close(kt.differentiate(model, "potential_energy", "vjp", wrt="q")(q, one), kt.gravity_forces(model, q), ROUTES)
    hvp = kt.differentiate(model, "potential_energy", "hvp", wrt="q")
    close(hvp(q, d, one) @ e, hvp(q, e, one) @ d, 1e-13)
    to = moved(model, q)
    expected = second_difference(lambda x: kt.potential_energy(model, *to(x)), d, e)
    close(hvp(q, d, one) @ e, expected, SECOND)


def test_compiled_products_agree_with_extended_precision():
    """One state and batches of compiled jvp, vjp and hvp."""
    model = BALL
    rng = np.random.default_rng(5)
    q, v, a, _, _ = (np.stack(parts) for parts in zip(*(state(model, seed) for seed in range(9)), strict=True))
    x, y = rng.standard_normal((2, 9, model.nv))
    for mode, extra in (("jvp", (x,)), ("vjp", (y,)), ("hvp", (x, y))):
        f = kt.differentiate(model, "rnea", mode, wrt="q")
        exact = f(*(z.astype(LONG) for z in (q, v, a, *extra)))
        found = f(q, v, a, *extra)
        close(found, exact, 1e-11)
        assert np.array_equal(f(q[3], v[3], a[3], *(z[3] for z in extra)), found[3])
