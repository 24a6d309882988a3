"""What the explicit methods have in common, and what sets their charts apart."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.integrators import FIXED_STEP, System, crouch_grossman, explicit, explicit_method
from kinetree.integrators.charts import EXACT_TANGENT, TRUNCATED_TANGENTS
from kinetree.integrators.tableaus import RK4, RK38
from kinetree.joints import Composite, Free, MovingFrame, Revolute, Spherical
from kinetree.joints.time_functions import Sinusoid
from kinetree.liegroup.se3 import right_jacobian_solve
from kinetree.spatial import Motion
from tests.analytic.mechanisms import rigid_body

METHODS = [m.name for m in (*explicit.METHODS, *crouch_grossman.METHODS)]


@pytest.fixture(scope="module")
def tree():
    return kt.models.random_tree(3, seed=7, joints=(Free(), Spherical(), Free())).without_limits()


def start(model, seed=0):
    rng = np.random.default_rng(seed)
    return np.array(model.random_q(rng), dtype=float), rng.uniform(-1, 1, model.nv)


def ad(u, v):
    return u.cross(v)


def test_truncated_rates_are_the_series_with_brackets():
    """Of a free joint: v, v + [xi, v]/2, v + [xi, v]/2 + [xi, [xi, v]]/12, the bracket being the cross product."""
    model = rigid_body((1.0, 2.0, 3.0))
    rng = np.random.default_rng(3)
    xi, v = rng.normal(size=(2, 6)).tolist()
    u, w = Motion.of(xi), Motion.of(v)
    series = [w, w + ad(u, w) * 0.5, w + ad(u, w) * 0.5 + ad(u, ad(u, w)) * (1.0 / 12.0)]
    for chart, expected in zip(TRUNCATED_TANGENTS, series, strict=True):
        assert chart.rate(model, None, xi, v) == pytest.approx(list(expected), abs=1e-14)
    exact = list(right_jacobian_solve(u, w))
    small = list(right_jacobian_solve(u * 0.01, w))
    assert EXACT_TANGENT.rate(model, None, xi, v) == pytest.approx(exact, abs=1e-14)
    # The next term, with four brackets, is 1/720 of 1e-8 |ad xi|^4 |v|, about 3^4 * 3, at a hundredth of the step.
    assert TRUNCATED_TANGENTS[2].rate(model, None, [0.01 * x for x in xi], v) == pytest.approx(small, abs=4e-9)


@pytest.mark.parametrize("name", METHODS)
def test_rollouts_are_the_same_motion(name, tree):
    """The whole step as one kernel and its stages one by one differ by rounding."""
    q0, v0 = start(tree)
    tau = np.linspace(-1.0, 1.0, tree.nv)
    rolled = kt.rollout(tree, q0, v0, tau, 5e-3, steps=4, integrator=name)
    run = kt.simulate(tree, q0, v0, duration=0.02, dt=5e-3, integrator=name, inputs=kt.Inputs(tau=tau))
    assert rolled.q == pytest.approx(run.q, abs=1e-11)
    assert rolled.v == pytest.approx(run.v, abs=1e-11)


@pytest.mark.parametrize("name", ["dp54", "rkmk3", "cg3", "terze"])
def test_joints_that_depend_on_time(name):
    """A body on a shaken support: the stages stand at their own times, in a simulation as in a rollout."""
    b = kt.ModelBuilder("shaken")
    moving = Composite((MovingFrame((Sinusoid(0.1, omega=9.0), 0.0, 0.0)), Revolute((0, 1, 0))))
    b.add_body("support", joint=moving, mass=1.0, inertia=np.eye(3))
    b.add_body("bob", parent="support", joint=Spherical(), mass=1.0, com=(0.0, 0.0, -0.5), inertia=0.01 * np.eye(3))
    model = b.build()
    q0, v0 = start(model)
    run = kt.simulate(model, q0, v0, duration=0.3, dt=2e-3, integrator=name)
    exact = kt.simulate(model, q0, v0, duration=0.3, dt=0.3, integrator=kt.integrators.Adaptive(rtol=1e-12, atol=1e-12))
    rolled = kt.rollout(model, q0, v0, None, 2e-3, steps=150, integrator=name)
    assert run.v[-1] == pytest.approx(exact.v[-1], abs=1e-6)  # h^3 of (1 + 7 rad/s)^4 / 100
    assert rolled.v[-1] == pytest.approx(run.v[-1], abs=1e-12)


def test_tableau_of_rk4_gives_rk4(tree):
    """The generic step with Kutta's tableau is the hand-written one, to rounding."""
    q0, v0 = start(tree)
    generic = explicit_method("rk4_generic", RK4)(System(tree))
    special = FIXED_STEP["rk4"](System(tree))
    tau = np.ones(tree.nv)
    for x, y in zip(*(m.step(0.0, 0.01, q0, v0, lambda t: tau, lambda t: ()) for m in (generic, special)), strict=True):
        assert x == pytest.approx(y, abs=1e-13)


def test_terze_needs_no_normalization():
    """2000 steps of the bare kernel leave the quaternion at length 1 to 1e-13: exponentials keep it (Terze, 2016)."""
    model = rigid_body((5.2988, 1.1775, 4.3568), joint=Spherical())
    method = FIXED_STEP["terze"](System(model))
    q, v = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.01, 0.0, 100.0])
    for n in range(2000):
        q, v = method.step(n * 5e-4, 5e-4, q, v, lambda t: np.zeros(3), lambda t: ())
    assert abs(np.linalg.norm(q) - 1.0) < 1e-13


def test_terze_and_munthe_kaas_agree_on_rotations():
    """For a body that only turns the charts are the same (the paper finds the same errors for both)."""
    model = rigid_body((5.2988, 1.1775, 4.3568), joint=Spherical())
    runs = [
        kt.simulate(model, v0=[0.01, 0.0, 100.0], duration=0.1, dt=1e-3, integrator=name) for name in ("terze", "rk4")
    ]
    assert runs[0].v == pytest.approx(runs[1].v, abs=1e-11)


def test_a_steady_screw_is_exact_for_every_exponential():
    """A body that turns about and moves along its principal axis: any step is exact, in both charts."""
    model = rigid_body((1.0, 2.0, 3.0))
    v0 = np.array([0.0, 0.0, 3.0, 0.0, 0.0, 2.0])
    for name in ("euler", "terze", "rkmk3", "cg3", "dp54"):
        run = kt.simulate(model, v0=v0, duration=1.0, dt=0.25, integrator=name)
        assert run.q[-1, :3] == pytest.approx((0.0, 0.0, 2.0), abs=1e-13)
        assert run.q[-1, 3:] == pytest.approx((np.cos(1.5), 0.0, 0.0, np.sin(1.5)), abs=1e-13)


@pytest.mark.parametrize("name", ["rk4", "rk38", "dp54", "rkmk4", "terze", "cg4"])
def test_ten_seconds_of_a_tumbling_top_at_two_milliseconds(name):
    """I = (1, 2, 3)e-2 at 10 rad/s about the intermediate axis: energy to 1e-9, omega(T) to 1e-6 rad/s.

    Two references by different pairs at 3e-14 agree to 1e-8: the motion amplifies rounding by exp(6 t) at every flip.
    """
    model = rigid_body((0.01, 0.02, 0.03))
    v0 = [0.01, 10.0, 0.01, 0.0, 0.0, 0.0]
    exact = [
        kt.simulate(
            model, v0=v0, duration=10.0, dt=10.0, integrator=kt.integrators.Adaptive(m, rtol=3e-14, atol=1e-14)
        ).v[-1]
        for m in ("scipy:DOP853", "dop853")
    ]
    assert exact[0] == pytest.approx(exact[1], abs=2e-8)
    run = kt.simulate(model, v0=v0, duration=10.0, dt=2e-3, integrator=name, record=kt.Record(every=10))
    assert np.max(np.abs(run.energy / run.energy[0] - 1.0)) < 1e-9
    assert run.v[-1] == pytest.approx(exact[0], abs=1e-6)


def test_a_method_of_ones_own():
    """A tableau becomes a method that simulations take as a class."""
    mine = explicit_method("mine", RK38)
    run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.1, integrator=mine)
    same = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.1, integrator="rk38")
    assert run.integrator == "mine" and np.array_equal(run.q, same.q)


def test_rollouts_with_these_methods_can_be_pickled(tree):
    """Their step is no registered algorithm; the rollout remembers the method's name."""
    roll = kt.simulation.Rollout(tree, "heun")
    q0, v0 = start(tree)
    again = pickle.loads(pickle.dumps(roll))
    assert np.array_equal(roll(q0, v0, None, 0.01, steps=3).q, again(q0, v0, None, 0.01, steps=3).q)


def test_every_listed_method_says_what_it_is():
    """Name, order and docstring; the names are unique and lower case."""
    for name, method in FIXED_STEP.items():
        assert method.name == name == name.lower() and method.order >= 1 and method.__doc__
