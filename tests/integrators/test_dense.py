"""Dense output: the order of the interpolants, their ends, and batches of times."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.integrators import FIXED_STEP, System
from kinetree.integrators.dense import hermite
from kinetree.integrators.embedded import PAIRS, EmbeddedRungeKutta
from kinetree.joints import Free, Spherical
from tests.analytic.mechanisms import rigid_body, rotation_matrix
from tests.integrators import asymmetric_top as top

INSIDE = np.array((0.15, 0.4, 0.75, 0.9))
OWN = [name for name, m in FIXED_STEP.items() if getattr(m, "tableau", None) is not None and m.tableau.dense
       and len(m.tableau.dense) <= m.tableau.evaluations]  # fmt: skip


def no_force(model):
    rest = np.zeros(model.nv)
    return (lambda t: rest), (lambda t: ())


@pytest.fixture(scope="module")
def tree():
    model = kt.models.random_tree(3, seed=7, joints=(Free(), Spherical(), Spherical())).without_limits()
    rng = np.random.default_rng(0)
    return model, np.array(model.random_q(rng), dtype=float), rng.uniform(-1, 1, model.nv)


def reference(model, q0, v0, times):
    rest = np.zeros(model.nv)
    exact = kt.integrators.Adaptive("scipy:DOP853", rtol=1e-13, atol=1e-14)
    return exact.solve(System(model), q0, v0, np.append(0.0, times), lambda t, q, v: rest, lambda t: ())


def off(model, found, exact):
    """Largest error of states (q, v) in rows."""
    return np.abs(np.hstack((kt.difference(model, exact[0], found[0]), found[1] - exact[1]))).max()


@pytest.mark.parametrize("name", OWN)
def test_own_continuous_solutions_have_their_order(name, tree):
    """Within one step from exact values the error goes with h^(order + 1), to 0.25 of the exponent."""
    model, q0, v0 = tree
    method = FIXED_STEP[name](System(model))

    def error(h):
        method.step(0.0, h, q0, v0, *no_force(model))
        motion = method.interpolant()
        exact = reference(model, q0, v0, INSIDE * h)
        return off(model, motion(INSIDE * h), (exact.q[1:], exact.v[1:]))

    order = method.tableau.dense_order
    h = {1: 0.001, 2: 0.004, 3: 0.01}[order]
    assert method.interpolant() is None
    measured = np.log(error(h) / error(h / 1.6)) / np.log(1.6)
    assert measured == pytest.approx(order + 1, abs=0.25)


@pytest.mark.parametrize("name, h", [("bs32", 0.02), ("dp54", 0.04), ("dop853", 0.08)])
def test_continuous_solutions_of_the_pairs_have_their_order(name, h, tree):
    """3 for bs32, 4 for dp54, 7 for DOP853, whose further stages are made for it: exponents 4, 5, 8 of one step."""
    model, q0, v0 = tree
    rest, nothing = np.zeros(model.nv), ()

    def error(h):
        solver = EmbeddedRungeKutta(System(model), PAIRS[name], lambda t, q, v: rest, lambda t: nothing, 1e9, 1e9)
        solver.start(0.0, q0, v0, h)
        solver._h = h
        solver.step(h)
        assert solver.steps == 1
        exact = reference(model, q0, v0, INSIDE * h)
        return off(model, solver.interpolant()(INSIDE * h), (exact.q[1:], exact.v[1:]))

    order = PAIRS[name].dense_order
    measured = np.log(error(h) / error(h / 1.5)) / np.log(1.5)
    assert measured == pytest.approx(order + 1, abs=0.5)


def test_hermite_on_the_top_in_closed_form():
    """The cubic through exact states and accelerations is off by h^4: orders of rates and attitude."""
    model = rigid_body(top.MOMENTS, joint=Spherical())
    system = System(model)

    def error(h):
        ends = []
        for t in (0.5, 0.5 + h):
            w, R = top.motion(t)
            q = top.quaternion(R)
            ends.append((q, w, system.function("forward_dynamics")(q, w, np.zeros(3))))
        motion, times = hermite(system, 0.5, 0.5 + h, *ends), 0.5 + INSIDE * h
        exact = [top.motion(t) for t in times]
        q, v = motion(times)
        return max(np.abs(v - [w for w, _ in exact]).max(), np.abs(rotation_matrix(q) - [R for _, R in exact]).max())

    assert np.log2(error(0.1) / error(0.05)) == pytest.approx(4.0, abs=0.15)


def test_heun_is_the_quadratic_of_the_book():
    """Featherstone, eq. 11.50 and 11.51, on q'' = -sin q with numbers put in by hand."""
    from tests.analytic.mechanisms import G, pendulum

    model, h, q0, v0 = pendulum(), 0.1, 0.7, 0.2
    method = FIXED_STEP["heun"](System(model))
    end = method.step(0.0, h, np.array([q0]), np.array([v0]), *no_force(model))
    k1 = np.array((v0, -G * np.sin(q0)))
    k2 = np.array((v0 + 2 / 3 * h * k1[1], -G * np.sin(q0 + 2 / 3 * h * k1[0])))
    for delta in (0.3, 1.0):
        expected = np.array((q0, v0)) + h * ((delta - 0.75 * delta**2) * k1 + 0.75 * delta**2 * k2)
        assert np.ravel(method.interpolant()(delta * h)) == pytest.approx(expected, abs=1e-14)
    assert np.ravel(end) == pytest.approx(expected, abs=1e-14)


def test_ends_and_batches(tree):
    """The interpolant meets both ends of the step; a batch of times gives what single times give."""
    model, q0, v0 = tree
    method = FIXED_STEP["rk38"](System(model))
    q1, v1 = method.step(0.0, 0.01, q0, v0, *no_force(model))
    assert method.interpolant() is None  # it has none of its own
    dynamics = System(model).function("forward_dynamics")
    ends = [(q, v, dynamics(q, v, np.zeros(model.nv))) for q, v in ((q0, v0), (q1, v1))]
    motion = hermite(System(model), 0.0, 0.01, *ends)
    for t, q, v in ((0.0, q0, v0), (0.01, q1, v1)):
        found = motion(t)
        assert kt.difference(model, q, found[0]) == pytest.approx(np.zeros(model.nv), abs=1e-14)
        assert found[1] == pytest.approx(v, abs=1e-14)
    times = np.linspace(0.0, 0.01, 6).reshape(2, 3)
    batch = motion(times)
    assert batch[0].shape == (2, 3, model.nq)
    assert batch[0][1, 2] == pytest.approx(motion(times[1, 2])[0], abs=1e-15)
