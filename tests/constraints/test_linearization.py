"""Linearization in independent positions and velocities: closed forms, differences on the manifold, and the flow."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error, constraint_jacobian
from kinetree.errors import ConstraintError, UnsupportedError

G = 9.81


def test_a_cart_with_a_pole_has_the_textbook_matrices():
    """Point pole of mass m on a cart M: Ogata's equations about the upright position."""
    b, M, m, length = kt.ModelBuilder("cart"), 2.0, 0.3, 0.7
    b.add_body("cart", joint=kt.joints.Prismatic((1, 0, 0)), joint_name="slide", mass=M, inertia=np.eye(3))
    b.add_body(
        "pole", "cart", kt.joints.Revolute((0, 1, 0)), "hinge", mass=m, com=(0, 0, length), inertia=np.zeros((3, 3))
    )
    found = kt.closed_loops.linearize(b.build(), [0.0, 0.0], actuated=["slide"])
    expected = np.zeros((4, 4))
    expected[:2, 2:] = np.eye(2)
    expected[2, 1], expected[3, 1] = -m * G / M, (M + m) * G / (M * length)
    assert found.A == pytest.approx(expected, abs=1e-12)
    assert found.B[:, 0] == pytest.approx([0.0, 0.0, 1 / M, -1 / (M * length)], abs=1e-12)
    assert found.states == ("slide", "hinge") and found.inputs == ("slide",) and not found.tau.any()


def test_a_parallelogram_swings_as_a_pendulum():
    """Inertia 5/3, weight moment 2 m g l: at rest below, frequency sqrt(2 g / (5/3)) about the vertical."""
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": np.diag([0.01, 1 / 12, 1 / 12])}
    b, one = kt.ModelBuilder("bar"), ((1, 0, 0), (0, 0, 0))
    b.add_body("crank", joint=kt.joints.Revolute(), joint_name="crank", **rod)
    b.add_body("coupler", "crank", kt.joints.Revolute(), "coupler", placement=one, **rod)
    b.add_body("rocker", "coupler", kt.joints.Revolute(), "rocker", placement=one, **rod)
    b.add_frame("end", "rocker", one)
    b.add_frame("ground", "world", one)
    closure = kt.constraints.LoopJoint("closure", kt.joints.Revolute(), "ground", "end")
    model = b.build().replace(gravity=(0, -G, 0)).with_constraints(closure)
    angle = -np.pi / 2
    found = kt.closed_loops.linearize(model, [angle, -angle, angle - np.pi], independent=["crank"], actuated=["crank"])
    assert found.A == pytest.approx(np.array([[0.0, 1.0], [-2 * G / (5 / 3), 0.0]]), abs=1e-9)
    assert found.B[:, 0] == pytest.approx([0.0, 3 / 5]) and np.abs(found.tau).max() < 1e-12


MECHANISMS = [("planar", 1), ("planar", 3), ("spherical", 2)]


@pytest.mark.parametrize("family, seed", MECHANISMS)
def test_differences_on_closed_positions_agree(family, seed):
    """Positions closed after steps of the independent ones, velocities G y; differences of fourth order."""
    model, q, v = kt.models.random_loops(seed, bodies=6, loops=1 + seed % 2, family=family)
    free, rng = list(model.independent_velocities()), np.random.default_rng(0)
    bound = [k for k in range(model.nv) if k not in free]
    tau, kept = rng.standard_normal(model.nv), list(model.independent_rows())
    A, B = kt.closed_loops.linearization(model, q, v, tau)
    find = kt.compile(model, "forward_dynamics", checks=False)

    def rate(dx, dy, dtau):
        step = np.zeros(model.nv)
        step[free] = dx
        x = kt.integrate(model, q, step)
        for _ in range(6):  # the dependent joints alone close the loops
            K = np.array(constraint_jacobian(model, x.tolist()), float)[kept]
            step = np.zeros(model.nv)
            step[bound] = -np.linalg.solve(K[:, bound], np.array(constraint_error(model, x.tolist()), float)[kept])
            x = kt.integrate(model, x, step)
        w = kt.closed_loops.null_space(model, x) @ (v[free] + dy)
        return find(x, w, tau + dtau)[free]

    def central(dx, dy, h=2e-5):
        slopes = [(rate(s * dx, s * dy, 0.0) - rate(-s * dx, -s * dy, 0.0)) / (2 * s) for s in (h, 2 * h)]
        return (4 * slopes[0] - slopes[1]) / 3

    n = model.ny
    assert all(model.joints[i].nq == model.joints[i].nv for i in model.outward() if model.v_slice[i].start in free)
    for k in range(n):
        unit = np.eye(n)[k]
        for column, expected in ((A[n:, k], central(unit, 0.0)), (A[n:, n + k], central(0.0, unit))):
            assert column == pytest.approx(expected, rel=1e-6, abs=1e-6 * max(1.0, np.abs(expected).max()))
    unit = rng.standard_normal(model.nv)
    assert B[n:] @ unit == pytest.approx(rate(0.0, 0.0, unit) - rate(0.0, 0.0, 0.0 * unit), rel=1e-8, abs=1e-8)
    assert A[:n].tolist() == np.hstack((np.zeros((n, n)), np.eye(n))).tolist() and not B[:n].any()


def test_changes_of_a_turning_body_turn_with_it():
    """The upper rows on a floating base: rates of `difference` between two motions, by differences of time."""
    model = kt.load("quadruped", floating_base=True).without_limits()
    rng, n = np.random.default_rng(2), model.nv
    q, v = model.random_state(rng)
    A, _ = kt.closed_loops.linearization(model, q, v, np.zeros(n))
    dx, dy, h, size = rng.standard_normal(n), rng.standard_normal(n), 1e-4, 1e-4

    def apart(t, s):
        start = kt.integrate(model, q, s * dx)
        return kt.difference(model, kt.integrate(model, q, t * v), kt.integrate(model, start, t * (v + s * dy)))

    slope = [(apart(t, size) - apart(t, -size)) / (2 * size) for t in (h, -h)]
    assert A[:n] @ np.concatenate((dx, dy)) == pytest.approx((slope[0] - slope[1]) / (2 * h), rel=1e-5, abs=1e-5)


def test_torques_that_hold_a_state_are_found_or_refused():
    """A four-bar by its crank, in motion, too; a pole that leans falls whatever the cart does."""
    model = kt.models.four_bar()
    q, _ = model.keyframe("initial")
    found = kt.closed_loops.linearize(model, q, actuated=["crank"], independent="crank")
    assert found.tau == pytest.approx([10.813521895409, 0.0, 0.0], abs=1e-9) and np.abs(found.a).max() < 1e-9
    moving = kt.closed_loops.linearize(model, q, 2.0 * found.G[:, 0], actuated=["crank"], independent="crank")
    assert moving.tau[0] == pytest.approx(17.618332006429) and moving.a[0] == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(ConstraintError, match="no torques at slider hold this state"):
        cart = kt.models.cart_pole().without_limits()
        kt.closed_loops.linearize(cart, [0.0, 0.3], actuated=[cart.joint_names[0]])


def test_models_that_depend_on_time_are_linearized_at_a_time():
    """A pendulum on a shaken stand weighs as much as the stand accelerates; a driven crank takes one torque."""
    b, t = kt.ModelBuilder("shaken"), 0.3
    shaken = kt.joints.Prescribed(kt.joints.Prismatic((0, 0, 1)), kt.joints.Sinusoid(0.1, omega=5.0))
    b.add_body("stand", joint=shaken, mass=1.0, inertia=np.eye(3))
    b.add_body("arm", "stand", kt.joints.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -0.5), inertia=np.zeros((3, 3)))
    model = b.build()
    found = kt.closed_loops.linearize(model, [0.0], t=t)
    assert found.A == pytest.approx(np.array([[0.0, 1.0], [-(G - 2.5 * np.sin(5.0 * t)) / 0.5, 0.0]]))
    with pytest.raises(TypeError, match="missing t.*joint 'stand' depends on time"):
        kt.closed_loops.linearize(model, [0.0])
    bar = kt.models.four_bar()
    driven = bar.with_constraints(kt.constraints.PrescribedMotion("crank", kt.joints.Polynomial((1.0, 2.0))))
    q, v = kt.assemble(bar, [1.0, 0.0, 1.5], fixed="crank", v=[2.0, 0.0, 0.0])
    a = kt.closed_loops.accelerations(bar, q, v, [0.0], independent="crank")
    family = kt.closed_loops.torque_family(driven, q, v, a, t=0.0)
    assert family.null_space.shape == (3, 3) and not family.tau.any()  # the constraint moves it


def test_a_state_is_linearized_in_batches():
    """Compiled, at several crank angles."""
    angles = (0.4, 1.0, 1.7)
    model, Q = kt.models.four_bar(), np.stack([kt.models.four_bar(angle=x).keyframe("initial")[0] for x in angles])
    zero = np.zeros((3, 3))
    A, B = kt.closed_loops.linearization(model, Q, zero, zero)
    for n in range(3):
        one = kt.closed_loops.linearization(model, Q[n], zero[n], zero[n])
        assert A[n] == pytest.approx(one.A, rel=1e-12) and B[n] == pytest.approx(one.B, rel=1e-12)


def test_rows_that_hold_velocities_alone_are_refused():
    """A sleigh has three freedoms of position and two of velocity."""
    model = kt.models.chaplygin_sleigh()
    with pytest.raises(UnsupportedError, match="positions have more freedoms than velocities"):
        kt.closed_loops.linearize(model, model.neutral())
