"""Explicit constraints q = gamma(y): the same mechanisms as by loop joints, the book's equations, exact steps in y."""

from __future__ import annotations

import functools
import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.null_space import null_space_at
from kinetree.constraints import ExplicitConstraint
from kinetree.errors import ArgumentError, ConstraintError, CouplingError, ModelError, UnknownNameError
from kinetree.joints import Polynomial
from kinetree.spatial.scalar import arctan2, cos, sin, sqrt
from tests.compiler.test_c_source import GCC, run_harness

METHODS = ("dense", "sparse", "clusters", "inverse_mass_products", "pivoted",
           "null_space", "partitioning", "pseudovelocities")  # fmt: skip


def crank_rocker(crank, ground, a, b, r):
    """Coupler relative to the crank, and rocker, of a four-bar whose coupler is above the diagonal."""
    x, y = ground - a * cos(crank), -a * sin(crank)
    square = x * x + y * y
    along = b * b + square - r * r
    slope = arctan2(y, x) + arctan2(sqrt(4.0 * b * b * square - along * along), along)
    return slope - crank, arctan2(b * sin(slope) - y, b * cos(slope) - x)


def crank_and_slide(crank, a, b):
    rise = a * sin(crank) / b
    level = sqrt(1.0 - rise * rise)
    return -crank - arctan2(rise, level), a * cos(crank) + b * level


def opposite_sides(crank):
    return -crank, crank


def cam(angle, lift):
    """A Fourier polynomial."""
    return lift * (1.0 - cos(angle)) + 0.25 * lift * sin(2.0 * angle)


@dataclass
class Case:
    """A mechanism by gamma, the same by loop joints or by rows of their own, and a state."""

    model: object
    implicit: object
    q: np.ndarray
    v: np.ndarray


def of_library(implicit, dependent, gamma, parameters=(), angle=0.7):
    explicit = ExplicitConstraint(gamma, dependent, "crank", parameters)
    return joined(implicit.replace(constraints=()).with_constraints(explicit), implicit, angle)


def joined(model, implicit, *y):
    q = np.zeros(model.nq)
    q[: len(y)] = y
    q, v = kt.assemble(model, q, model.joint_names[: len(y)], v=[1.5, *[-0.8] * (model.nv - 1)])
    return Case(model, implicit, q, v)


def follower():
    """A cam on a turntable lifts a slide, by gamma and by a polynomial through the same Taylor series."""
    b = kt.ModelBuilder("cam", gravity=(0, 0, -9.81))
    b.add_body("cam", joint=kt.joints.Revolute(), joint_name="crank", mass=1.0, inertia=0.02 * np.eye(3))
    b.add_body("slide", joint=kt.joints.Prismatic((0, 0, 1)), joint_name="lift", mass=3.0, inertia=np.eye(3))
    tree, lift = b.build(), 0.1
    series = [0.0] * 24
    for n in range(1, 24):
        sign = (-1) ** (n // 2) / math.factorial(n)
        series[n] = -lift * sign if n % 2 == 0 else 0.25 * lift * sign * 2**n
    polynomial = kt.constraints.PolynomialCoupling("lift", "crank", series)
    model = tree.with_constraints(ExplicitConstraint(cam, "lift", "crank", (lift,)))
    return joined(model, tree.with_constraints(polynomial), 0.7)


@functools.cache
def cases():
    return {
        "four bar": of_library(kt.models.four_bar(), ("coupler", "rocker"), crank_rocker, (3.0, 1.0, 3.0, 2.5)),
        "slider crank": of_library(kt.models.slider_crank(), ("rod", "slider"), crank_and_slide, (0.5, 2.0)),
        "parallelogram": of_library(kt.models.parallelogram(), ("coupler", "rocker"), opposite_sides),
        "cam": follower(),
    }


every = pytest.mark.parametrize("name", ["four bar", "slider crank", "parallelogram", "cam"])


@every
def test_every_method_gives_the_motion_of_loop_joints(name):
    """Accelerations of all methods; inverse dynamics at the crank; multipliers balance the forces."""
    case = cases()[name]
    model, implicit, tau = case.model, case.implicit, np.linspace(1.0, -0.6, case.model.nv)
    a = kt.forward_dynamics(implicit, case.q, case.v, tau)
    assert model.ny == 1 and model.independent_velocities() == (0,) and model.nc == model.nv - 1
    for method in ("auto", *METHODS):
        assert kt.forward_dynamics(model, case.q, case.v, tau, method=method) == pytest.approx(a, rel=1e-10), method
    torque = kt.inverse_dynamics(implicit, case.q, case.v, a, actuated=["crank"])
    assert kt.inverse_dynamics(model, case.q, case.v, a, actuated=["crank"]) == pytest.approx(torque, rel=1e-10)
    _, forces = kt.forward_dynamics(model, case.q, case.v, tau, multipliers=True)
    rest = kt.rnea(model, case.q, case.v, a) - tau
    assert rest == pytest.approx(kt.closed_loops.jacobian(model, case.q).T @ forces, abs=1e-10)


@every
def test_the_reduced_system_is_that_of_the_book(name):
    """G, g and y'' by NumPy from gamma alone (eqs. 8.56-8.60); linearization and derivatives along the motion."""
    case = cases()[name]
    model, implicit = case.model, case.implicit
    (c,) = model.constraints

    def gamma(y):
        rest = c.gamma(y[0], *c.parameters)
        return [y[0], *(rest if isinstance(rest, tuple) else (rest,))]

    tau = np.linspace(0.3, 1.1, model.nv)
    found = kt.textbook.closure_dynamics(model, gamma, case.q[:1], case.v[:1], tau)
    assert case.q == pytest.approx(found.q, abs=1e-15) and case.v == pytest.approx(found.v, rel=1e-13)
    assert kt.closed_loops.null_space(model, case.q) == pytest.approx(found.G, rel=1e-13)
    assert kt.closed_loops.accelerations(model, case.q, case.v, [0.0]) == pytest.approx(found.g, rel=1e-12, abs=1e-13)
    assert kt.forward_dynamics(model, case.q, case.v, tau, method="null_space") == pytest.approx(found.a, rel=1e-11)
    for of in (kt.closed_loops.reduced_mass_matrix, kt.closed_loops.null_space):
        assert of(model, case.q, independent=["crank"]) == pytest.approx(of(implicit, case.q, independent=["crank"]))
        last = [model.joint_names[-1]]
        assert of(model, case.q, independent=last) == pytest.approx(of(implicit, case.q, independent=last))
    h, expected = (
        kt.closed_loops.reduced_bias_forces(m, case.q, case.v, independent="crank") for m in (model, implicit)
    )
    assert h == pytest.approx(expected, rel=1e-11)
    for m, n in zip(*(kt.closed_loops.linearization(x, case.q, case.v, tau, independent="crank")
                      for x in (model, implicit)), strict=True):  # fmt: skip
        assert m == pytest.approx(n, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["four bar", "cam"])
def test_derivatives_are_differences(name):
    """Of the default method's accelerations and multipliers, and by the graph of the null space, in all directions."""
    case = cases()[name]
    model, tau, h = case.model, np.linspace(0.5, -0.4, case.model.nv), 1e-4
    direction, still = np.random.default_rng(0).standard_normal((3, model.nv)), np.zeros((3, model.nv))
    closed = kt.dynamics.forward_dynamics_derivatives(model, case.q, case.v, tau)
    graph = kt.differentiate(model, "forward_dynamics_null_space", wrt=["q", "v", "tau"])(case.q, case.v, tau)
    many = kt.compile(model, "forward_dynamics", multipliers=True, checks=False)
    null = kt.compile(model, "forward_dynamics_null_space", checks=False)
    for n, x in enumerate(("q", "v", "tau")):
        step = still.copy()
        step[n] = direction[n]

        def at(s, f, step=step):
            found = f(case.q + s * step[0], case.v + s * step[1], tau + s * step[2])
            return np.concatenate(found) if isinstance(found, tuple) else found

        slope = [(8 * (at(h, f) - at(-h, f)) - (at(2 * h, f) - at(-2 * h, f))) / (12 * h) for f in (many, null)]
        expected = np.concatenate([getattr(closed, f"{y}_d{x}") @ direction[n] for y in ("da", "dlambda")])
        assert slope[0] == pytest.approx(expected, rel=1e-7, abs=1e-7 * np.abs(expected).max())
        assert slope[1] == pytest.approx(graph[n] @ direction[n], rel=1e-7, abs=1e-7 * np.abs(slope[1]).max())


def runge_kutta(case, count, h):
    """The classical method for y alone, by NumPy and gamma: q, v at the end."""
    (c,) = case.model.constraints

    def rate(x):
        found = kt.textbook.closure_dynamics(
            case.model.replace(constraints=()), lambda y: [y[0], *c.gamma(y[0], *c.parameters)], x[:1], x[1:],
            np.zeros(case.model.nv),
        )  # fmt: skip
        return np.array([x[1], found.y_ddot[0]]), found

    x = np.array([case.q[0], case.v[0]])
    for _ in range(count):
        k1 = rate(x)[0]
        k2 = rate(x + h / 2 * k1)[0]
        k3 = rate(x + h / 2 * k2)[0]
        k4 = rate(x + h * k3)[0]
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return rate(x)[1]


def test_steps_are_those_of_y():
    """Runs and rollouts are the method for y alone to rounding, with large steps; dependent joints are gamma."""
    case, count, h = cases()["four bar"], 20, 0.02
    (c,) = case.model.constraints
    expected = runge_kutta(case, count, h)
    run = kt.simulate(case.model, case.q, case.v, duration=count * h, dt=h)
    many = kt.rollout(case.model, case.q, case.v, None, h, steps=count, integrator="rk4")
    for q, v in ((run.q[-1], run.v[-1]), (many.q[-1], many.v[-1])):
        assert q == pytest.approx(expected.q, abs=1e-12) and v == pytest.approx(expected.v, abs=1e-12)
    gamma = np.array([c.gamma(crank, *c.parameters) for crank in run.q[:, 0]])
    assert np.abs(run.q[1:, 1:] - gamma[1:]).max() < 5e-16
    G = kt.closed_loops.null_space(case.model, run.q)[:, :, 0]
    assert run.v == pytest.approx(G * run.v[:, :1], rel=1e-13, abs=1e-13)
    other = kt.simulate(case.implicit, case.q, case.v, duration=count * h, dt=h / 20)
    assert run.q[-1] == pytest.approx(other.q[-1], abs=2e-5)


@pytest.mark.parametrize("integrator", ["semi_implicit", "dp54", "implicit_midpoint", "generalized_alpha"])
def test_other_integrators_keep_it_closed(integrator):
    """And with the motion of the loop joint, to the order of the method."""
    case = cases()["slider crank"]
    runs = [kt.simulate(m, case.q, case.v, duration=0.2, dt=1e-3, integrator=integrator)
            for m in (case.model, case.implicit)]  # fmt: skip
    assert np.abs(kt.closed_loops.error(case.model, runs[0].q)).max() < 1e-9
    assert runs[0].q[-1] == pytest.approx(runs[1].q[-1], abs=3e-4 if integrator == "semi_implicit" else 1e-6)


def test_parameters_are_numbers_of_the_model():
    """A batch varies them without new code; each row is the mechanism built with its own."""
    case = cases()["slider crank"]
    names = [name for name in case.model.numbers().names if "parameters" in name]
    f = kt.compile(case.model, "closed_loops_null_space", checks=False)
    for r, b in ((0.5, 2.0), (0.3, 1.1)):
        changed = f.with_parameters(dict(zip(names, (r, b), strict=True)))
        rod, slide = -r * math.cos(0.7) / math.sqrt(b * b - (r * math.sin(0.7)) ** 2), -r * math.sin(0.7)
        slide += slide * r * math.cos(0.7) / math.sqrt(b * b - (r * math.sin(0.7)) ** 2)
        assert changed(case.q)[:, 0] == pytest.approx([1.0, rod - 1.0, slide], rel=1e-13)
    numbers = case.model.numbers()
    sets = np.tile(numbers.values, (3, 1))
    sets[:, [numbers.names.index(name) for name in names]] = (0.5, 2.0), (0.3, 1.1), (0.2, 3.0)
    many = f.with_parameters(sets)(np.tile(case.q, (3, 1)))
    assert all(np.array_equal(many[k], f.with_parameters(sets[k])(case.q)) for k in range(3))


@pytest.mark.skipif(GCC is None, reason="no C compiler")
def test_c_code(tmp_path):
    """Of the method by gamma: written, built and run against its golden values."""
    run_harness(kt.export.to_c(kt.compile(cases()["four bar"].model, "forward_dynamics_null_space")), tmp_path)


def chain():
    """Joint 1 turns joint 2, which turns 3 and 4; 5 is coupled to 4; the loop joint of a planar linkage beside them."""
    b = kt.ModelBuilder("chain", gravity=(0, -9.81, 0))
    rod = {"mass": 1.0, "com": (0.4, 0.1, 0), "inertia": 0.1 * np.eye(3)}
    for n in range(1, 6):
        b.add_body(f"b{n}", f"b{n - 1}" if n > 1 else "world", kt.joints.Revolute(), f"j{n}",
                   placement=((0.5, 0, 0), (0, 0, 0)), **rod)  # fmt: skip
    b.add_body("bar", joint=kt.joints.Revolute(), joint_name="bar", placement=((0, 2, 0), (0, 0, 0)), **rod)
    b.add_body("link", "bar", kt.joints.Revolute(), "link", placement=((1, 0, 0), (0, 0, 0)), **rod)
    model = b.build()
    return model.with_constraints(
        ExplicitConstraint(lambda y: (sin(y), y * y), ("j3", "j4"), "j2", name="later"),
        ExplicitConstraint(lambda y: 0.5 * sin(2.0 * y), "j2", "j1", name="earlier"),
        kt.constraints.Coupling("j5", "j4", -2.0, 0.1),
        kt.constraints.Distance("b2", "link", 1.4, (0.5, 0, 0), (1, 0, 0)),
    )


def test_chains_beside_loops_and_couplings():
    """In whatever order they are declared: methods agree, steps close all of it, and G satisfies all rows."""
    model = chain()
    q, v = kt.assemble(model, [0.4, 0, 0, 0, 0, -0.5, 0.3], ("j1", "bar"), v=[1.0, 0, 0, 0, 0, 0.7, 0])
    expected = [0.4, 0.5 * np.sin(0.8), np.sin(q[1]), q[1] ** 2, 0.1 - 2 * q[1] ** 2]
    assert q[:5] == pytest.approx(expected, abs=1e-12) and model.ny == 2
    assert set(model.independent_velocities()) < {0, 5, 6}
    tau = np.linspace(-1.0, 1.0, 7)
    a = kt.forward_dynamics(model, q, v, tau)
    for method in METHODS:
        assert kt.forward_dynamics(model, q, v, tau, method=method) == pytest.approx(a, rel=1e-9, abs=1e-9), method
    K, G = kt.closed_loops.jacobian(model, q), kt.closed_loops.null_space(model, q)
    assert np.abs(K @ G).max() < 1e-13 and np.linalg.matrix_rank(G) == 2
    by_j2 = kt.closed_loops.null_space(model, q, independent=["j2", "bar"])  # a dependent joint as independent one
    assert by_j2 == pytest.approx(G @ np.linalg.inv(G[[1, 5]]), rel=1e-10, abs=1e-12)
    run = kt.simulate(model, q, v, duration=0.3, dt=2e-3)
    assert np.abs(kt.closed_loops.error(model, run.q)).max() < 1e-12 and np.ptp(run.energy) < 1e-7
    space = null_space_at(model, q.tolist(), v.tolist())
    assert len(space.K) == 1 and len(space.left) == 3  # one row of the distance; j2, j3 and j4 are substituted


def test_driven_followers():
    """A dependent joint that is locked, or moves in time, holds or drives the others."""
    case = cases()["slider crank"]
    locked = case.model.with_constraints(kt.constraints.Lock("slider"))
    assert locked.ny == 0
    a, force = kt.forward_dynamics(locked, case.q, 0.0 * case.v, [2.0, 0.0, 0.0], multipliers=True)
    assert np.abs(a).max() < 1e-12 and np.abs(force).min() > 0.1
    drive = kt.constraints.PrescribedMotion("slider", Polynomial((case.q[2], -0.2)))
    models = [m.with_constraints(drive) for m in (case.model, case.implicit)]
    q, v = case.q, [kt.assemble(m, case.q, v=np.zeros(3)).v for m in models]
    assert v[0] == pytest.approx(v[1], rel=1e-9) and v[0][2] == pytest.approx(-0.2)
    runs = [kt.simulate(m, q, v[0], duration=0.4, dt=2e-3) for m in models]
    assert runs[0].q[-1] == pytest.approx(runs[1].q[-1], abs=1e-9)
    assert runs[0].q[:, 2] == pytest.approx(case.q[2] - 0.2 * runs[0].time, abs=1e-13)
    assert np.abs(kt.closed_loops.error(case.model, runs[0].q)).max() < 1e-12


def test_platform_with_legs_by_its_pose():
    """A body that moves freely, and a leg whose length follows from the position of its coordinates."""
    b = kt.ModelBuilder("leg")
    b.add_body("plate", joint=kt.joints.Free(), joint_name="base", mass=2.0, inertia=np.diag([0.1, 0.2, 0.25]))
    b.add_body("leg", joint=kt.joints.Prismatic((0, 0, 1)), joint_name="leg", mass=1.0, inertia=np.eye(3))
    height = b.build().with_constraints(ExplicitConstraint(lambda base: base[2] + 0.5, "leg", "base"))
    q = height.neutral()
    q[:7] = 0.3, -0.2, 1.5, 0.5, 0.1, -0.7, 0.5
    q, v = kt.assemble(height, q, "base", v=[0.3, -1.0, 0.2, 0.4, 0.5, -0.6, 0.0])
    assert q[7] == pytest.approx(2.0, abs=1e-12)
    a = kt.forward_dynamics(height, q, v, np.zeros(7), method="null_space")
    assert a == pytest.approx(kt.forward_dynamics(height, q, v, np.zeros(7)), rel=1e-10)
    A = kt.acceleration(height, q, v, a, frame="plate", reference="local_world_aligned", kind="classical")
    assert A[5] == pytest.approx(a[6], abs=1e-12)


def test_a_domain_that_random_positions_leave():
    """A rocker-rocker, whose crank turns by part of a turn only: the rows are chosen at its keyframe."""
    implicit = kt.models.four_bar((3.0, 2.0, 1.0, 1.5), angle=0.3)
    case = of_library(implicit, ("coupler", "rocker"), crank_rocker, (3.0, 2.0, 1.0, 1.5), angle=0.3)
    a = kt.forward_dynamics(case.model, case.q, case.v, np.zeros(3))
    assert a == pytest.approx(kt.forward_dynamics(implicit, case.q, case.v, np.zeros(3)), rel=1e-9)
    q = case.q.copy()
    q[0] = 2.5
    assert np.isnan(kt.forward_dynamics(case.model, q, case.v, np.zeros(3), method="null_space")).all()
    with pytest.raises(kt.errors.AssemblyError):
        kt.assemble(case.model, q, "crank")


def test_functions_without_values_are_named():
    """Nowhere about the neutral position: an error with the repair; a start outside of the domain is one, too."""
    root = kt.models.double_pendulum().with_constraints(
        ExplicitConstraint(lambda y: sqrt(y - 40.0), "elbow", "shoulder")
    )
    with pytest.raises(ConstraintError, match="explicit constraint of 'elbow', 'shoulder' has no finite .* keyframe"):
        root.independent_rows()
    near = kt.models.double_pendulum().with_constraints(
        ExplicitConstraint(lambda y: sqrt(y - 1.0), "elbow", "shoulder")
    )
    assert kt.assemble(near, [2.0, 0.0], "shoulder")[1] == pytest.approx(1.0)
    with pytest.raises(kt.errors.AssemblyError, match="explicit constraint"):
        kt.assemble(near, [0.5, 0.0], "shoulder")


def test_gamma_chooses_the_branch_and_verification_covers_it():
    """One assembly branch instead of two; bodies in maximal coordinates give the same accelerations."""
    case = cases()["four bar"]
    assert len(kt.closed_loops.branches(case.implicit, driver={"crank": 1.0})) == 2
    (q,) = kt.closed_loops.branches(case.model, driver={"crank": 1.0})
    assert q == pytest.approx([1.0, *crank_rocker(1.0, 3.0, 1.0, 3.0, 2.5)], abs=1e-12)
    assert kt.verify(case.model, states=2, fast=True).ok
    report = kt.closed_loops.mobility(case.model, case.q, actuated=["crank"])
    assert (report.rows, report.rank, report.mobility, report.redundancy) == (2, 2, 1, 0)


def test_it_is_data():
    """Equal functions are told apart by identity, renamed joints follow, functions at module level can be pickled."""
    case = cases()["four bar"]
    again = pickle.loads(pickle.dumps(case.model))
    assert (
        kt.forward_dynamics(again, case.q, case.v, np.zeros(3)).tolist()
        == kt.forward_dynamics(case.model, case.q, case.v, np.zeros(3)).tolist()
    )
    pair = [kt.models.double_pendulum().with_constraints(ExplicitConstraint(f, "elbow", "shoulder"))
            for f in (lambda y: 2.0 * y, lambda y: 3.0 * y)]  # fmt: skip
    G = [kt.closed_loops.null_space(m, [0.0, 0.0], independent="shoulder")[1, 0] for m in pair]
    assert G == [2.0, 3.0] and pair[0].structure() != pair[1].structure()
    renamed = kt.surgery.rename(case.model, joints={"crank": "motor"})
    assert renamed.constraints[0].independent == ("motor",)


def test_wrong_data_is_named():
    """Each error has the joint or the count, and how it is written."""
    arm, two = kt.models.double_pendulum(), lambda y: (y, y)
    with pytest.raises(ModelError, match="gamma has 2 entries, expected 1, one for each dependent joint"):
        arm.with_constraints(ExplicitConstraint(two, "elbow", "shoulder"))
    with pytest.raises(ModelError, match=r"gamma cannot be differentiated .*kinetree.spatial.scalar"):
        arm.with_constraints(ExplicitConstraint(math.sin, "elbow", "shoulder"))
    with pytest.raises(ArgumentError, match="each joint once, but 'elbow' is there again"):
        ExplicitConstraint(two, "elbow", "elbow")
    with pytest.raises(ArgumentError, match="gamma is 3, expected a function"):
        ExplicitConstraint(3, "elbow", "shoulder")
    with pytest.raises(UnknownNameError, match="knee"):
        arm.with_constraints(ExplicitConstraint(two, "elbow", "knee"))
    circle = [ExplicitConstraint(sin, "elbow", "shoulder"), ExplicitConstraint(sin, "shoulder", "elbow")]
    with pytest.raises(ConstraintError, match="in a circle by explicit constraints: 'elbow', 'shoulder'"):
        arm.with_constraints(*circle)
    with pytest.raises(ConstraintError, match="'elbow' follows others by two constraints"):
        arm.with_constraints(circle[0], kt.constraints.Coupling("elbow", "shoulder", 2.0))
    ball = kt.models.random_tree(2, joints=[kt.joints.Spherical(), kt.joints.Revolute()])
    with pytest.raises(CouplingError, match="only joints of one freedom can be coupled"):
        names = sorted(ball.joint_names, key=lambda name: ball.joints[ball.joint(name)].nv)
        ball.with_constraints(ExplicitConstraint(sin, names[1], names[0]))
    with pytest.raises(ConstraintError, match="q breaks the explicit constraint of 'elbow', 'shoulder' by 0.3"):
        kt.forward_dynamics(arm.with_constraints(circle[0]), [0.0, 0.3], [0.0, 0.0], [0.0, 0.0])
