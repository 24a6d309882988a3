"""Systems of bodies put together by hand: joints of every kind, closed forms, steps, stabilization, errors."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import LoopJoint
from kinetree.errors import (
    ArgumentError,
    ConstraintError,
    InertiaError,
    ShapeError,
    SingularityError,
    UnknownNameError,
)
from kinetree.joints import Fixed, Prismatic, Revolute, Spherical, Universal, examples
from kinetree.maximal_coordinates import Body, System
from kinetree.maximal_coordinates.saddle_point import SaddlePoint
from kinetree.maximal_coordinates.terms import bodies_of
from kinetree.spatial.rotation import rotation_from_matrix
from kinetree.spatial.rotations import quaternion_from_rotation
from tests.forces.user_elements import Thruster

UP = ((0, 0, 1), (0, 0, 0))


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


def rod(name: str, pose=((0, 0, -1), (0, 0, 0)), **more):
    """A rod of 2 m and 3 kg along z, its origin at the center."""
    return Body(name, 3.0, inertia=(1.0, 1.0, 0.01), pose=pose, **more)


def pendulum(**options):
    """A rod on a hinge about y at its upper end."""
    return System([rod("rod")], [LoopJoint("hinge", Revolute((0, 1, 0)), "world", "rod", X_S=UP)], **options)


def tilted(angle: float) -> np.ndarray:
    """Positions of the pendulum's rod, turned about y."""
    return np.array([-np.sin(angle), 0, -np.cos(angle), np.cos(angle / 2), 0, np.sin(angle / 2), 0])


def test_newton_and_euler():
    """Eq. 1.21 for a free body whose origin is not its center of mass, against its momenta in world axes."""
    body = Body("stone", 2.0, com=(0.1, -0.2, 0.3), inertia=(0.3, 0.5, 0.4))
    system, rng, h = System([body], gravity=(0, 0, -9.81)), np.random.default_rng(0), 1e-5
    q, v = system.model.random_q(rng), rng.standard_normal(6)
    a = system.accelerations(q, v).accelerations.ravel()
    ends = [(kt.integrate(system.model, q, s * h * v + 0.5 * h * h * a), v + s * h * a) for s in (-1, 1)]
    rates = (kt.momentum(system.model, *ends[1]) - kt.momentum(system.model, *ends[0])) / (2 * h)
    weight = np.array([0, 0, -2.0 * 9.81])
    c = kt.center_of_mass(system.model, q)
    assert np.allclose(rates, np.r_[np.cross(c, weight), weight], rtol=0, atol=1e-6)  # O(h^2), rounding / h


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_those_that_the_joint_leaves(seed):
    """Eq. 1.69 for joints of every kind: 6 - nv rows, zero for the motions of the joint, of full rank."""
    rng = np.random.default_rng(seed)
    for kind, joint in list(examples(rng))[seed::12]:
        if isinstance(joint, Fixed) or joint.nv == 6:
            continue
        bodies = [Body("a", 1.0, inertia=(1, 1, 1)), Body("b", 1.0, inertia=(1, 1, 1))]
        loop = LoopJoint("joint", joint, "a", "b", ((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)), ((-0.3, 0, 0.1), (1, 0, 0)))
        system = System(bodies, [loop], redundant="drop")
        assert system.nc == 6 - joint.nv, kind
        model = _connected(joint, loop)
        q, v = model.random_q(rng), rng.standard_normal(model.nv)
        places = [[frame.name for frame in model.frames].index(name) for name in "ab"]
        R, p = (x[places] for x in kt.kinematics.frame_poses(model, q))
        turns = [quaternion_from_rotation(rotation_from_matrix(R_i.T.tolist())) for R_i in R]
        poses = [[*p_i, *turn] for p_i, turn in zip(p, turns, strict=True)]
        twists = kt.kinematics.frame_velocities(model, q, v, reference="local")[places]
        state = np.ravel(poses), twists.ravel()
        e = system.equation(*state)
        size = np.max(np.abs(state[1]))
        assert np.max(np.abs(e.G @ state[1]), initial=0.0) < 1e-9 * size, kind
        assert np.linalg.matrix_rank(e.G.toarray()) == system.nc
        h = 1e-5  # Gdot Phi by differences: O(h^2) times third derivatives, and rounding / h
        ends = [kt.integrate(system.model, state[0], s * h * state[1]) for s in (-1, 1)]
        G_dot = np.subtract(*(system.equation(q_s, state[1]).G.toarray() for q_s in reversed(ends))) / (2 * h)
        assert np.allclose(G_dot @ state[1], e.bias, rtol=0, atol=1e-6 * size**3), kind


def _connected(joint, loop):
    """Body a floats, body b is on it by the joint."""
    b = kt.MechanismBuilder("pair")
    for name in "ab":
        b.add_body(name, mass=1.0, inertia=(1, 1, 1))
    b.add_joint("base", "world", "a", kt.joints.Free())
    b.add_joint("joint", "a", "b", joint, at_predecessor=loop.X_P, at_successor=loop.X_S)
    return b.build()


def test_a_pendulum():
    """Angular acceleration and the force in the hinge in closed form, at any angle and rate."""
    system, angle, w = pendulum(), 0.7, 1.3
    moment, m, g = 1.0 + 3.0, 3.0, 9.81
    found = system.accelerations(tilted(angle), np.array([0, w, 0, -w, 0, 0]))
    alpha = -m * g * np.sin(angle) / moment
    assert found.accelerations[0, 1] == pytest.approx(-alpha if found.accelerations[0, 1] * alpha < 0 else alpha)
    along = m * w * w + m * g * np.cos(angle)  # towards the hinge
    assert found.wrenches[0, 5] == pytest.approx(along)
    assert abs(found.wrenches[0, 3]) == pytest.approx(m * g * np.sin(angle) - m * abs(alpha))


def test_drift_and_its_remedies():
    """Eq. 1.82: without it the lower hinge opens; at the level of velocities and by closing positions it does not."""
    system, dt = kt.maximal(kt.models.double_pendulum()), 0.02
    gaps = {}
    for name, more in (("none", {}), ("baumgarte", {"baumgarte": 0.2 / dt}), ("stabilized", {"stabilize": True})):
        q, v = system.state([1.0, 0.5], [0.0, 0.0])
        for _ in range(500 if more else 200):  # 10 s, bounded; 4 s
            q, v, *_ = system.step(q, v, dt=dt, **more)
        gaps[name] = np.abs(system.equation(q, v).phi).max()
    assert gaps["none"] > 0.02
    assert gaps["baumgarte"] < 0.1 * gaps["none"]
    assert gaps["stabilized"] < 1e-3 * gaps["none"]
    open_, _ = system.state([1.0, 0.5], [0.0, 0.0])
    open_[7:10] += 0.05
    assert np.abs(system.equation(system.closed(open_, steps=4), v).phi).max() < 1e-12


def test_an_initial_error_decays():
    """phi'' + 2 alpha phi' + beta^2 phi = 0, in the steps of semi-implicit Euler."""
    system, dt, alpha, beta = pendulum(), 1e-3, 10.0, 12.0
    q, v = tilted(0.4), np.zeros(6)
    q[2] += 1e-6
    x, x_dot = (start := system.equation(q, v).phi), np.zeros(5)
    for _ in range(200):
        a = system.accelerations(q, v, baumgarte=(alpha, beta)).accelerations.ravel()
        v = v + dt * a
        q = kt.integrate(system.model, q, dt * v)
        x_dot = x_dot - dt * (2.0 * alpha * x_dot + beta**2 * x)
        x = x + dt * x_dot
    size = np.abs(start).max()
    assert np.abs(x).max() < 0.5 * size
    assert np.abs(np.linalg.norm(system.equation(q, v).phi) - np.linalg.norm(x)) < 0.01 * size  # rows turn with the rod


def test_velocity_and_acceleration_level_agree():
    """(v+ - v) / h tends to the accelerations, the multipliers to the forces."""
    system, h = pendulum(), 1e-6
    q, v = tilted(0.7), np.array([0, 1.3, 0, -1.3, 0, 0])
    exact, step = system.accelerations(q, v), system.step(q, v, dt=h)
    assert np.allclose((step.v - v) / h, exact.accelerations.ravel(), rtol=0, atol=1e-3)
    assert np.allclose(step.wrenches, exact.wrenches, rtol=0, atol=1e-3)


def test_linearly_implicit_steps_of_stiff_springs():
    """k = 1e9 N/m and h = 1e-2: the explicit step explodes, the implicit one rests; for soft springs both agree."""
    frames = {"hook": ((0.5, 0, 0), (0, 0, 0))}
    for stiffness, stable in ((1e9, False), (10.0, True)):
        spring = kt.forces.PointSpring("spring", "rod", "hook", stiffness, 0.9, 0.1)
        system = pendulum(forces=[spring], frames=frames)
        for slopes in ("gauss_newton", "exact") if stable else ("gauss_newton",):
            q, v = tilted(0.2), np.zeros(6)
            for _ in range(100):
                q, v, *_ = system.step(q, v, dt=0.01, slopes=slopes, stabilize=True)
            assert np.abs(v).max() < (10.0 if stable else 1.0)
    K, D = system.slopes(tilted(0.2), np.zeros(6), "exact")
    direction, h = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), 1e-6
    f = [system.equation(kt.integrate(system.model, tilted(0.2), s * h * direction), np.zeros(6)).f for s in (-1, 1)]
    gravity = pendulum()
    f = [x - gravity.equation(kt.integrate(system.model, tilted(0.2), s * h * direction), np.zeros(6)).f
         for x, s in zip(f, (-1, 1), strict=True)]  # fmt: skip
    assert np.allclose(-K @ direction, (f[1] - f[0]) / (2 * h), rtol=0, atol=1e-5)
    assert D.shape == (6, 6)


def test_redundant_rows_are_named_or_dropped():
    """A planar four-bar of four hinges: three rows follow from the others."""
    bodies = [rod(name, ((x, 0, -1), (0, 0, 0))) for name, x in (("left", 0.0), ("right", 2.0))]
    bodies.append(Body("bar", 1.0, inertia=(0.01, 1, 1), pose=((1, 0, -2), (0, 0, 0))))
    y, end = Revolute((0, 1, 0)), ((0, 0, -1), (0, 0, 0))
    joints = [
        LoopJoint("A", y, "world", "left", X_S=UP),
        LoopJoint("B", y, "left", "bar", X_P=end, X_S=((-1, 0, 0), (0, 0, 0))),
        LoopJoint("C", y, "bar", "right", X_P=((1, 0, 0), (0, 0, 0)), X_S=end),
        LoopJoint("D", y, "world", "right", X_P=((2, 0, 0), (0, 0, 0)), X_S=UP),
    ]
    with pytest.raises(ConstraintError, match=r"over-determined: .*(A|B|C|D): .*redundant='drop'"):
        System(bodies, joints)
    system = System(bodies, joints, redundant="drop")
    found = system.accelerations(system.start, np.zeros(18), tau=[1.0, 0, 0, 0])
    assert np.allclose(system.equation(system.start, np.zeros(18)).G @ found.accelerations.ravel(), 0.0, atol=1e-9)
    # parallelogram: both rods turn about their ends, the bar moves as their lower ends do
    moment = 2 * (1.0 + 3.0) + 1.0 * 4.0
    assert found.accelerations[0, 1] == pytest.approx(1.0 / moment)


def test_order_of_elimination():
    """The pivots of bodies are positive, those of rows negative, in any tree and with loops: no pivot is exchanged."""
    model, q, v = kt.models.random_loops(3, bodies=6, loops=2)
    system = kt.maximal(model)
    e = system.equation(*system.state(q, v))
    from kinetree.maximal_coordinates.sparse_solution import Factors

    saddle = system._saddle
    signs = np.empty(len(saddle.order))
    signs[saddle.order] = np.sign(Factors(saddle.assembly(e.M, e.G).matrix(e.M, e.G)).D)
    assert (signs[: system.nv] == 1).all() and (signs[system.nv :] == -1).all()


def test_fill_is_linear():
    """Entries of the factors of chains and of chains with a loop every third body: the same for each further body."""
    for loops in (False, True):
        fill = [_fill(n, loops) for n in (9, 18, 27, 36)]
        steps = np.diff(fill)
        assert np.max(np.abs(steps - steps[0])) <= 0.02 * steps[0], fill


def test_rows_that_become_dependent_are_named_by_compiled_factors():
    """Two rods in line on three hinges, whose ends cannot move along the line: there the rows depend on each other."""
    up, down = UP, ((0, 0, -1), (0, 0, 0))
    hinge = Revolute((0, 1, 0))
    rods = [rod("upper"), rod("lower", ((0, 0, -3), (0, 0, 0)))]
    joints = [
        LoopJoint("top", hinge, "world", "upper", X_S=up),
        LoopJoint("middle", hinge, "upper", "lower", X_P=down, X_S=up),
        LoopJoint("bottom", kt.joints.Cylindrical((0, 1, 0)), "world", "lower", ((0, 0, -4), (0, 0, 0)), down),
    ]
    for method in ("sparse", "compiled"):
        with pytest.raises(ConstraintError, match="over-determined"):
            system = System(rods, joints, redundant="drop")
            system._saddle = SaddlePoint(
                system._bodies, [([*numbers], bodies_of(system._bodies, c))
                                 for c, numbers in system._bodies.constraint_rows()],
                np.arange(system.nc), 0.0, ("System", system.model.body_names[1:], system.row_names),
            )  # fmt: skip
            system.accelerations(system.start, np.zeros(12), method=method)


def test_symmetric_factors_have_half_the_entries():
    """``L^T D L`` of a chain: the same for each further body, half of L and U together; pivots are those of SuperLU."""
    from kinetree.maximal_coordinates.sparse_solution import Factors, filled

    entries = []
    for n in (4, 8, 12):
        model = kt.models.chain_gu(n)
        system = kt.maximal(model)
        e = system.equation(*system.state(np.linspace(0.1, 0.9, n), np.zeros(n)))
        places = system._saddle.assembly(e.M, e.G)
        lower = [(places.size - 1 - r, places.size - 1 - c) for r, c in zip(places.rows, places.columns, strict=True)]
        above = filled([(i, j) for i, j in lower if i > j], places.size)
        entries.append(sum(map(len, above)) + places.size)
    assert entries[2] - entries[1] == entries[1] - entries[0]
    factors = Factors(places.matrix(e.M, e.G))
    assert entries[2] <= 0.55 * factors.fill
    call = system._saddle.factorized(e.M, e.G, "compiled")
    right, rows = np.linspace(1.0, 2.0, system.nv), np.linspace(-1.0, 1.0, system.nc)
    dense = system._saddle.factorized(e.M, e.G, "dense")
    for found, expected in zip(call.solve(right, rows), dense.solve(right, rows), strict=True):
        assert np.allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def _fill(n: int, loops: bool) -> int:
    from kinetree.maximal_coordinates.sparse_solution import Factors, elimination_order

    joints = [(i,) if i == 1 else (i - 1, i) for i in range(1, n + 1)]
    joints += [(i, i + 2) for i in range(1, n - 1, 3)] if loops else []
    size = 6 * n + 2 * len(joints)
    rng, matrix = np.random.default_rng(0), np.zeros((size, size))
    matrix[: 6 * n, : 6 * n] = 10 * np.eye(6 * n)
    for m, bodies in enumerate(joints):
        for i in bodies:
            block = slice(6 * n + 2 * m, 6 * n + 2 * m + 2), slice(6 * i - 6, 6 * i)
            matrix[block] = rng.standard_normal((2, 6))
            matrix[block[::-1]] = matrix[block].T
    order = []
    for kind, m in elimination_order(n, joints):
        order += range(6 * m - 6, 6 * m) if kind == "body" else range(6 * n + 2 * m, 6 * n + 2 * m + 2)
    from scipy.sparse import csc_array

    return Factors(csc_array(matrix[np.ix_(order, order)])).fill


def test_bad_systems_are_named():
    """Bodies without mass, joints to missing bodies, joints on nothing, singular inertias, wrong arguments."""
    hinge = LoopJoint("hinge", Revolute(), "world", "rood")
    with pytest.raises(UnknownNameError, match=r"rood.*rod"):
        System([rod("rod")], [hinge])
    with pytest.raises(SingularityError, match=r"System: body 'dust'.* can move without moving mass"):
        System([Body("dust", 0.0)])
    with pytest.raises(InertiaError, match="body 'dust': mass is 0, but the rotational inertia is not"):
        System([Body("dust", 0.0, inertia=(1.0, 1.0, 1.0))])
    thin = Body("thin", 1.0, inertia=(1.0, 1.0, 0.0))
    with pytest.raises(SingularityError, match=r"System: body 'thin'.* can move without moving mass"):
        System([thin], [LoopJoint("ball", Spherical(), "world", "thin", X_S=UP)])
    assert System([thin], [LoopJoint("cardan", Universal(), "world", "thin", X_S=UP)]).nc == 4
    with pytest.raises(ArgumentError, match=r"System: bodies is 'rod', expected a sequence of .*Body"):
        System(["rod"])
    with pytest.raises(ArgumentError, match=r"System: joints is .*expected a sequence of .*LoopJoint"):
        System([rod("rod")], [Prismatic((0, 0, 1))])
    system = pendulum(forces=[Thruster("rotor", "rod", 1.0, 0.1, 0.2)])
    step = system.step(tilted(0.1), np.zeros(6), dt=0.01, u=[1.0])
    assert step.x.shape == (system.model.nx,) and np.abs(step.x).max() > 0.0
    with pytest.raises(ShapeError, match=r"accelerations: q has shape \(3, 7\), expected \(7,\): .* one state at a"):
        system.accelerations(np.tile(tilted(0.1), (3, 1)), np.zeros((3, 6)))
    with pytest.raises(ArgumentError, match=r"step: dt is -0.1, expected a positive number"):
        system.step(tilted(0.1), np.zeros(6), dt=-0.1)
    with pytest.raises(ArgumentError, match="baumgarte"):
        system.accelerations(tilted(0.1), np.zeros(6), baumgarte=3.0)
