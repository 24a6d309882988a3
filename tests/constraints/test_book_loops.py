"""Chapter 8 of the book: terms of loops, the three methods, elimination, clusters, loop-closure functions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_bias, constraint_error, constraint_jacobian
from kinetree.constraints import LoopJoint
from kinetree.constraints.redundancy import _moved
from kinetree.errors import ArgumentError, SingularityError, UnknownNameError, UnsupportedError
from kinetree.joints import Cylindrical, Fixed, Prismatic, Revolute, Spherical
from kinetree.spatial import Force, Motion, Transform, Vector3
from kinetree.spatial.rotations import rx, ry, rz
from kinetree.spatial.scalar import arctan2, cos, sin, sqrt
from kinetree.textbook.loop_joints import loop_position
from kinetree.textbook.loop_methods import METHODS

book = kt.textbook
FAMILIES = ("spatial", "planar", "spherical")


def mechanism(seed, bodies=7):
    return kt.models.random_loops(seed, bodies=bodies, loops=1 + seed // 3 % 3, family=FAMILIES[seed % 3])


# Tables 8.1 to 8.4 ----------------------------------------------------------------------------------------------------

BOOK_COLUMNS = {  # the rows of T that table 8.1 orders: unit vectors of force
    Fixed(): (0, 1, 2, 3, 4, 5),
    Revolute(): (0, 1, 3, 4, 5),
    Prismatic(): (0, 1, 2, 3, 4),
    Cylindrical(): (0, 1, 3, 4),
    Spherical(): (3, 4, 5),
}


@pytest.mark.parametrize("joint", BOOK_COLUMNS, ids=lambda joint: joint.kind)
def test_table_8_1_is_the_displacement_along_the_constraint_forces(joint):
    """delta = T^T d to first order, and the joints' own implicit forms agree with it, row by row up to a basis."""
    rng = np.random.default_rng(3)
    X_J = joint.transform(joint.random(rng))
    for size in (1e-3, 1e-4):
        d = size * rng.standard_normal(6)
        turn = rx(d[0]) @ ry(d[1]) @ rz(d[2])
        X = Transform(turn, Vector3(*d[3:])) @ X_J
        delta = book.loop_position_error(joint.kind, X.matrix())
        assert np.abs(delta - d[list(BOOK_COLUMNS[joint])]).max() < 30.0 * size**2
        own, T = joint.implicit(X)
        expected = [sum(a * b for a, b in zip(t, d, strict=True)) for t in T]
        assert np.abs(np.array(own, float) - expected).max() < 30.0 * size**2
    assert np.abs(book.loop_position_error(joint.kind, X_J.matrix())).max() < 1e-15


def test_the_transform_of_example_8_1_has_another_block():
    """A cylinder's X_J: the printed lower left block lacks products of z with sine and cosine; delta is the same."""
    angle, z = 0.7, 0.4
    X = Cylindrical().transform([angle, z]).matrix()
    s, c = np.sin(angle), np.cos(angle)
    assert X[3:, :3] == pytest.approx(np.array([[-z * s, z * c, 0], [-z * c, -z * s, 0], [0, 0, 0]]), abs=1e-15)
    printed = X.copy()
    printed[3:, :3] = [[0, z, 0], [-z, 0, 0], [0, 0, 0]]
    assert not np.allclose(X, printed)
    assert not book.loop_position_error("cylindrical", printed).any()


@pytest.mark.seeds(12)
def test_tables_8_2_to_8_4_give_the_rows_and_biases_of_the_constraints(seed):
    """K = G and k = -bias where the loops are closed; C is that of the tree."""
    model, q, v = mechanism(seed)
    K, k, delta = book.loop_constraints(model, q, v)
    G, bias = constraint_jacobian(model, q.tolist()), constraint_bias(model, q.tolist(), v.tolist())
    size = 1.0 + np.abs(v).max() ** 2
    assert np.abs(K - G).max() < 1e-12 * np.abs(K).max() and np.abs(delta).max() < 1e-13
    assert np.abs(k + np.array(bias, float)).max() < 1e-11 * size * np.abs(K).max()
    with kt.interpreted():
        C = kt.bias_forces(model, q, v)
    assert book.loop_bias_forces(model, q, v) == pytest.approx(C, rel=1e-11, abs=1e-11 * np.abs(C).max())


@pytest.mark.seeds(6)
def test_k_and_delta_are_derivatives_of_k_v_by_finite_differences(seed):
    """d delta/dt = K v and d(K v)/dt = -k, central differences along the motion."""
    model, q, v = mechanism(seed)
    K, k, _ = book.loop_constraints(model, q, v)
    h = 1e-5
    before, after = (book.loop_constraints(model, _moved(model, q, s * h * v), v) for s in (-1.0, 1.0))
    size = (1.0 + np.abs(v).max()) ** 3 * (1.0 + np.abs(K).max())
    assert np.abs((after.delta - before.delta) / (2 * h) - K @ v).max() < 1e-7 * size
    # along the geodesic v is constant but for the joints whose v is no rate; both sides use the same motion
    assert np.abs((after.K - before.K) @ v / (2 * h) + k).max() < 1e-6 * size


def test_stabilization_has_the_sign_of_eq_8_22():
    """k_stab = -2 alpha K v - beta^2 delta, zero without constants; T_stab sets both."""
    model, q, v = mechanism(1)
    q = _moved(model, q, 1e-3 * np.ones(model.nv))
    v = v + 1.0
    K, k, delta = book.loop_constraints(model, q, v)
    stable = book.loop_constraints(model, q, v, alpha=3.0, beta=5.0).k
    assert stable == pytest.approx(k - 6.0 * (K @ v) - 25.0 * delta, abs=1e-12)
    assert book.loop_constraints(model, q, v, T_stab=0.1).k == pytest.approx(k - 20 * (K @ v) - 100 * delta, abs=1e-10)
    with pytest.raises(ArgumentError, match="either T_stab, or alpha and beta"):
        book.loop_constraints(model, q, v, T_stab=0.1, alpha=1.0)


def test_rounding_grows_with_the_distance_from_the_root():
    """A mechanism on a floating base 1e6 m away: base coordinates lose digits, those of the base do not (8.7)."""
    b = kt.ModelBuilder("far")
    b.add_body("base", joint=kt.joints.Free(), mass=1.0, inertia=np.eye(3))
    for name, parent in (("crank", "base"), ("rod", "crank"), ("rocker", "rod")):
        b.add_body(name, parent, Revolute(), placement=((0.5, 0.1, 0), (0, 0, 0)), mass=1.0, inertia=np.eye(3))
    model = b.build().with_constraints(LoopJoint("closure", Revolute(), "base", "rocker"))
    rng = np.random.default_rng(0)
    q, v = model.random_q(rng), rng.standard_normal(model.nv)
    near = book.loop_constraints(model, q, v)
    q = _moved(model, q, np.array([0.0, 0.0, 0.0, 1e6, 1e6, 1e6, 0.0, 0.0, 0.0]))
    world, own = book.loop_constraints(model, q, v), book.loop_constraints(model, q, v, root="base")
    assert np.abs(own.K - near.K).max() < 1e-14 and np.abs(own.k - near.k).max() < 1e-13
    assert np.abs(world.K - near.K).max() > 1e-12
    with pytest.raises(ArgumentError, match="a body that supports both bodies of loop joint 'closure'"):
        book.loop_constraints(model, q, v, root="rod")


@pytest.mark.seeds(6)
def test_active_loop_forces_do_the_work_of_the_loop_joints(seed):
    """tau^a v = tau_k v_k on motions of the closed mechanism, v_k the loop joint's own velocity (eq. 8.28)."""
    model, q, v = mechanism(seed)
    rng = np.random.default_rng(seed)
    forces = {c.name: rng.standard_normal(c.joint.nv) for c in model.constraints}
    tau_a = book.loop_bias_forces(model, q, v) - book.loop_bias_forces(model, q, v, loop_forces=forces)
    kin, power = kt.constraints.Kinematics(model, q.tolist(), v.tolist()), 0.0
    for c in model.constraints:
        motion = kin.relative(c.predecessor, c.successor, c.X_P, c.X_S)
        S = c.joint.motion_subspace(loop_position(c.joint, motion.X))
        columns = np.array([[float(x) for x in S_k] for S_k in S]).reshape(-1, 6).T
        v_k, *_ = np.linalg.lstsq(columns, np.array([*motion.velocity], float), rcond=None)
        power += forces[c.name] @ v_k
    assert tau_a @ v == pytest.approx(power, rel=1e-8, abs=1e-10)
    with pytest.raises(UnknownNameError, match="no loop joint named 'lop1'"):
        book.loop_bias_forces(model, q, v, loop_forces={"lop1": [1.0]})


def test_an_active_force_is_the_part_of_a_force_along_the_freedoms():
    """A force f on the successor, -f on the predecessor: its part along S enters C - tau^a, the rest is J_L^T of it."""
    model, q, _ = kt.models.random_loops(4, bodies=8, loops=1, kinds=["cylindrical"])
    loop, zero = model.constraints[0], np.zeros(model.nv)
    f = Force.of(np.random.default_rng(1).standard_normal(6))
    kin = kt.constraints.Kinematics(model, q.tolist())
    relative = kin.relative(loop.predecessor, loop.successor, loop.X_P, loop.X_S)
    S = loop.joint.motion_subspace(loop_position(loop.joint, relative.X))
    columns = np.array([[float(x) for x in S_k] for S_k in S])
    along = [float(S_k.dot(f)) for S_k in S]
    across = f - Force.of(np.linalg.pinv(columns) @ along)

    def on_tree(force):
        return np.array([force.dot(relative.columns.get(k, Motion.zero())) for k in range(model.nv)], float)

    passive = book.loop_bias_forces(model, q, zero)
    tau_a = passive - book.loop_bias_forces(model, q, zero, loop_forces={loop.name: along})
    assert tau_a + on_tree(across) == pytest.approx(on_tree(f), abs=1e-12) and np.abs(tau_a).max() > 0.01


# Section 8.5 ----------------------------------------------------------------------------------------------------------


@pytest.mark.seeds(12)
def test_the_three_methods_agree_with_forward_dynamics(seed):
    """Accelerations, and K^T lambda; redundant rows too."""
    model, q, v = mechanism(seed)
    rng = np.random.default_rng(seed)
    tau, f_ext = rng.standard_normal(model.nv), rng.standard_normal((model.nb, 6))
    with kt.interpreted():
        a, lam = kt.forward_dynamics(model, q, v, tau, f_ext, multipliers=True)
    K = np.array(constraint_jacobian(model, q.tolist()), float)
    for method in METHODS:
        found = book.loop_dynamics(model, q, v, tau, f_ext, method=method)
        assert np.abs(found.a - a).max() < 1e-9 * (1.0 + np.abs(a).max()), method
        assert np.abs(K.T @ (found.multipliers - lam)).max() < 1e-8 * (1.0 + np.abs(K.T @ lam).max()), method


@pytest.mark.parametrize("method", METHODS)
def test_slightly_inconsistent_rows_change_accelerations_slightly(method):
    """Positions 1e-9 off their loops: redundant rows contradict one another by as much (C08.13)."""
    model, q, v = mechanism(4, bodies=6)
    tau = np.ones(model.nv)
    a = book.loop_dynamics(model, q, v, tau, method=method).a
    off = _moved(model, q, 1e-9 * np.ones(model.nv))
    assert np.abs(book.loop_dynamics(model, off, v, tau, method=method).a - a).max() < 1e-5


def test_baumgarte_lets_errors_decay():
    """An error of position decays as (1 + t / T) exp(-t / T); without stabilization it stays or grows (8.3)."""
    model, q, v = kt.models.random_loops(7, bodies=5, loops=1, kinds=["revolute"], family="planar")
    model, v0, T = model.replace(gravity=(0, 0, 0)), np.zeros(model.nv), 0.05
    start = _moved(model, q, 1e-4 * np.ones(model.nv))
    gaps = {}
    for T_stab in (T, None):
        x, w, h = start, v0, 0.002
        for _ in range(100):  # 4 T; midpoint rule
            half = w + 0.5 * h * book.loop_dynamics(model, x, w, 0 * v0, T_stab=T_stab).a
            middle = _moved(model, x, 0.5 * h * w)
            slope = book.loop_dynamics(model, middle, half, 0 * v0, T_stab=T_stab).a
            x, w = _moved(model, x, h * half), w + h * slope
        gaps[T_stab] = np.abs(constraint_error(model, x.tolist())).max()
    first = np.abs(constraint_error(model, start.tolist())).max()
    assert gaps[None] > 0.5 * first
    assert gaps[T] == pytest.approx(5.0 * np.exp(-4.0) * first, rel=0.05)


def test_two_rows_across_the_hinge_close_a_four_bar():
    """Sueda, eqs. 2.93-2.101: velocities of the common point are equal across the hinge axis, by two rows, not three.

    At the acceleration level the motion is that of the hinge's five rows, of which two are kept; at the velocity level
    it is the projection of the free step, least in the metric of M.
    """
    model, h = kt.models.four_bar(), 0.01
    q, _ = model.keyframe("initial")
    loop = model.constraints[0]
    K, *_ = book.loop_constraints(model, q, np.zeros(model.nv))
    v = np.linalg.svd(K)[2][-1]
    tau = np.array([0.3, -0.2, 0.1])
    axis = np.array(loop.joint.axis)
    R = kt.pose(model, q, frame=loop.predecessor)[0]
    a = R @ axis
    v_1 = np.eye(3)[np.argmin(np.abs(a))]
    v_2 = np.cross(a, v_1) / np.linalg.norm(np.cross(a, v_1))
    across = np.array([np.cross(v_2, a) / np.linalg.norm(np.cross(v_2, a)), v_2])
    J, J_dot = (
        sum(sign * across @ f(frame)[3:] for sign, frame in ((1.0, loop.successor), (-1.0, loop.predecessor)))
        for f in (
            lambda frame: kt.jacobian(model, q, frame=frame, reference="local_world_aligned"),
            lambda frame: kt.kinematics.jacobian_rate(model, q, v, frame=frame, reference="local_world_aligned"),
        )
    )
    M, c = kt.crba(model, q), kt.bias_forces(model, q, v)
    whole = np.block([[M, J.T], [J, np.zeros((2, 2))]])
    found = np.linalg.solve(whole, np.concatenate([tau - c, -J_dot @ v]))[: model.nv]
    assert found == pytest.approx(kt.forward_dynamics(model, q, v, tau), rel=1e-9, abs=1e-9)
    after = np.linalg.solve(whole, np.concatenate([M @ v + h * (tau - c), np.zeros(2)]))[: model.nv]
    free = v + h * np.linalg.solve(M, tau - c)
    assert after == pytest.approx(kt.closed_loops.project_velocity(model, q, free), rel=1e-9, abs=1e-9)


# Sections 8.8 and 8.9 -------------------------------------------------------------------------------------------------


@pytest.mark.seeds(8)
def test_elimination_gives_all_solutions(seed):
    """K G = 0, K g = k, unit rows at y, (n - r)(n - r - 1) zeros; rank 0 and rank n as well."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 8, 2)
    r = int(rng.integers(0, min(m, n) + 1))
    K = rng.standard_normal((m, r)) @ rng.standard_normal((r, n))
    k = K @ rng.standard_normal(n)
    for found in (book.solve_constraints(K, k), book.solve_constraints(K, k, rank=r)):
        G, g, y = found.G, found.g, list(found.independent)
        assert found.rank == r and G.shape == (n, n - r) and np.array_equal(G[y], np.eye(n - r))
        assert np.abs(K @ G).max(initial=0.0) < 1e-10 and np.abs(K @ g - k).max() < 1e-10 and not g[y].any()
        assert (G == 0.0).sum() >= (n - r) * (n - r - 1) and found.misfit < 1e-10
    if 0 < r < n:
        again = book.solve_constraints(K, k, independent=found.independent)
        assert again.G == pytest.approx(found.G, abs=1e-8) and again.g == pytest.approx(found.g, abs=1e-8)


def test_elimination_says_why_it_cannot():
    """Independent entries that leave the others undetermined, a rank that is too high, columns that do not exist."""
    K, k = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]]), np.array([1.0, 2.5])
    assert book.solve_constraints(K, k).misfit == pytest.approx(0.5)
    with pytest.raises(SingularityError, match="column 2 follows from the others"):
        book.solve_constraints(K, k, independent=[0, 1])
    with pytest.raises(SingularityError, match="only 1 pivots"):
        book.solve_constraints(K, k, rank=2)
    with pytest.raises(ArgumentError, match="independent is 5, expected different columns from 0 to 2"):
        book.solve_constraints(K, k, independent=[5])
    assert book.solve_constraints(K, k, participating=[1]).independent == (0, 2)


def figure_8_1():
    """Four loops of planar hinges: 1 and 2 share joints, 3 and 4 share none; tree joints outside of loops."""
    b = kt.ModelBuilder("figure 8.1")
    parents = [0, 1, 2, 3, 2, 5, 3, 1, 8, 9, 10, 9, 8, 13, 14, 15, 1, 17, 18, 18]
    for i, p in enumerate(parents, start=1):
        place = ((0.3, 0.1 * (i % 3), 0.0), (0.0, 0.0, 0.0))
        b.add_body(f"b{i}", f"b{p}" if p else "world", Revolute(), f"j{i}", place, mass=1.0, inertia=np.eye(3))
    ends = {"j21": (4, 6), "j22": (7, 4), "j23": (11, 12), "j24": (19, 20)}
    return b.build().with_constraints(
        *(LoopJoint(name, Revolute(), f"b{p}", f"b{s}") for name, (p, s) in ends.items())
    )  # fmt: skip


def test_clusters_of_figure_8_1():
    """Three clusters; a regular numbering that keeps each together; K has blocks, and G is solved by blocks."""
    model = figure_8_1()
    clusters = book.loop_clusters(model)
    assert [c.loops for c in clusters] == [("j21", "j22"), ("j23",), ("j24",)]
    assert [c.joints for c in clusters] == [(3, 4, 5, 6, 7), (10, 11, 12), (19, 20)]
    order = book.cluster_numbering(model)
    assert sorted(order) == list(range(model.nb))
    assert all(order.index(model.parent[i]) < order.index(i) for i in range(1, model.nb))
    for c in clusters:
        places = [order.index(i) for i in c.joints]
        assert places == list(range(places[0], places[0] + len(places)))
    rng = np.random.default_rng(0)
    K, k, _ = book.loop_constraints(model, rng.standard_normal(model.nv), rng.standard_normal(model.nv))
    for c in clusters:
        outside = np.ones(model.nv, bool)
        outside[list(c.columns)] = False
        assert not K[np.ix_(c.rows, outside)].any() and K[np.ix_(c.rows, c.columns)].any()


@pytest.mark.seeds(6)
def test_blocks_give_the_global_solution(seed):
    """The same space of solutions: each solves the other's equations, and the ranks are equal."""
    model, q, v = kt.models.random_loops(seed, bodies=12, loops=3, family="planar")
    K, k, _ = book.loop_constraints(model, q, v)
    blocks, whole = book.solve_by_clusters(model, K, k), book.solve_constraints(K, k)
    assert blocks.rank == whole.rank == np.linalg.matrix_rank(K, 1e-9)
    assert np.abs(K @ blocks.G).max() < 1e-11 and np.abs(K @ blocks.g - k).max() < 1e-9 * (1.0 + np.abs(k).max())
    assert np.linalg.matrix_rank(np.hstack([blocks.G, whole.G])) == model.nv - whole.rank


# Section 8.11 ---------------------------------------------------------------------------------------------------------

L1, L2 = 0.7, 1.1


def actuated_arm(l1=L1, l2=L2):
    """Figure 8.3: an arm of two links, and between the base and the first link a cylinder and a piston."""
    b = kt.ModelBuilder("figure 8.3", gravity=(0.0, -9.81, 0.0))
    rod = {"mass": 1.3, "com": (0.4, 0.05, 0.0), "inertia": np.diag([0.02, 0.1, 0.12])}
    b.add_body("arm", joint=Revolute(), joint_name="joint1", **rod)
    b.add_body("cylinder", joint=Revolute(), joint_name="joint2", placement=((l1, 0, 0), (0, 0, 0)), **rod)
    b.add_body("piston", "cylinder", Prismatic((1, 0, 0)), "joint3", **rod)
    b.add_body("forearm", "arm", Revolute(), "joint4", placement=((1.4, 0.0, 0.0), (0, 0, 0)), **rod)
    b.add_frame("pin", "arm", ((l2, 0.0, 0.0), (0, 0, 0)))
    return b.build().with_constraints(LoopJoint("joint5", Revolute(), "pin", "piston"))


def gamma(y):
    """q_1 is y_1, q_4 is y_2; the triangle l1, l2, d gives the others."""
    s, c = sin(y[0]), cos(y[0])
    return [y[0], arctan2(L2 * s, L2 * c - L1), sqrt(L1 * L1 + L2 * L2 - 2.0 * L1 * L2 * c), y[1]]


def book_G(y):
    c, s = np.cos(y[0]), np.sin(y[0])
    d = np.sqrt(L1**2 + L2**2 - 2 * L1 * L2 * c)
    return [[1, 0], [(L2**2 - L1 * L2 * c) / d**2, 0], [L1 * L2 * s / d, 0], [0, 1]]


def book_g(y, y_dot):
    c, s = np.cos(y[0]), np.sin(y[0])
    d = np.sqrt(L1**2 + L2**2 - 2 * L1 * L2 * c)
    u_2 = L1 * L2 * s / d
    u_3 = (L1**2 - L2**2) * L1 * L2 * s * y_dot[0] ** 2 / d**4
    return [0.0, u_3, (L1 * L2 * c - u_2**2) * y_dot[0] ** 2 / d, 0.0]


@pytest.mark.parametrize("angle", [0.4, 1.3, 2.6, -0.9])
def test_worked_example_of_figure_8_3(angle):
    """gamma, G and g of the figure: by differentiation, by its formulas, by K and k, and the same motion."""
    model, y, y_dot = actuated_arm(), np.array([angle, -0.7]), np.array([1.3, 0.4])
    tau = np.array([0.3, -0.2, 1.5, 0.8])
    found = book.closure_dynamics(model, gamma, y, y_dot, tau)
    given = book.closure_dynamics(model, gamma, y, y_dot, tau, G=book_G, g=book_g)
    assert found.G == pytest.approx(given.G, abs=1e-13) and found.g == pytest.approx(given.g, abs=1e-12)
    assert found.y_ddot == pytest.approx(given.y_ddot, rel=1e-11)
    K, k, delta = book.loop_constraints(model, found.q, found.v)
    assert np.abs(delta).max() < 1e-14 and np.abs(K @ found.v).max() < 1e-14  # no loop-closure errors
    solved = book.solve_constraints(K, k, independent=[0, 3])
    assert solved.G == pytest.approx(found.G, abs=1e-12) and solved.g == pytest.approx(found.g, abs=1e-11)
    with kt.interpreted():
        a = kt.forward_dynamics(model, found.q, found.v, tau)
    assert found.a == pytest.approx(a, rel=1e-10, abs=1e-10)


def test_actuator_forces_of_example_8_2():
    """u = [1/u_2, u_1/u_2, 1, 0; 0, 0, 0, 1] tau_ID at joints 3 and 4 gives the motion; it is no generalized force."""
    model, y, y_dot, y_ddot = actuated_arm(), np.array([1.1, 0.3]), np.array([0.5, -0.4]), np.array([2.0, -1.0])
    G, g = np.array(book_G(y)), np.array(book_g(y, y_dot))
    q, v, a = np.array(gamma(list(y))), G @ y_dot, G @ y_ddot + g
    with kt.interpreted():
        tau_ID = kt.rnea(model, q, v, a)
    u_1, u_2 = G[1, 0], G[2, 0]
    u = np.array([[1 / u_2, u_1 / u_2, 1, 0], [0, 0, 0, 1]]) @ tau_ID
    assert np.linalg.solve(G[[2, 3]].T, G.T @ tau_ID) == pytest.approx(u, rel=1e-12)
    found = book.closure_dynamics(model, gamma, y, y_dot, [0.0, 0.0, *u])
    assert found.y_ddot == pytest.approx(y_ddot, rel=1e-11)
    assert u @ y_dot != pytest.approx(np.array([0.0, 0.0, *u]) @ v, rel=1e-3)


def test_closure_needs_velocities_that_are_rates():
    """A ball joint's are not; constraints other than loop joints are refused by name."""
    ball = kt.models.random_tree(2, joints=[Spherical()])
    with pytest.raises(UnsupportedError, match=r"the velocity of joint 'joint1' .* give G and g"):
        book.closure_dynamics(ball, lambda y: [1.0, 0.0, 0.0, 0.0] * 2, [0.1], [0.0], np.zeros(6))
    with pytest.raises(UnsupportedError, match="chapter 8 has loop joints in trees of three dimensions"):
        book.loop_dynamics(kt.models.geared_arm(), np.zeros(2), np.zeros(2), np.zeros(2))


def test_a_zero_freedom_joint_closes_any_loop():
    """C08.07: a hinge between two bodies is a third body on a hinge, welded to the second; here it has a mass."""
    pin = {"mass": 0.4, "com": (0.02, 0.01, 0.0), "inertia": np.diag([0.01, 0.01, 0.02])}

    def built(name, welded):
        b = kt.ModelBuilder(name, gravity=(0.0, -9.81, 0.0))
        rod = {"mass": 1.3, "com": (0.4, 0.05, 0.0), "inertia": np.diag([0.02, 0.1, 0.12])}
        b.add_body("arm", joint=Revolute(), joint_name="joint1", **rod)
        b.add_body("cylinder", joint=Revolute(), joint_name="joint2", placement=((L1, 0, 0), (0, 0, 0)), **rod)
        b.add_body("piston", "cylinder", Prismatic((1, 0, 0)), "joint3", **rod)
        if welded:
            b.add_body("pin", "piston", Revolute(), "pin joint", **pin)
        else:
            b.add_body("pin", "arm", Fixed(), placement=((L2, 0, 0), (0, 0, 0)), **pin)
        b.add_frame("hole", "arm", ((L2, 0.0, 0.0), (0, 0, 0)))
        closure = (Fixed(), "hole", "pin") if welded else (Revolute(), "hole", "piston")
        return b.build().with_constraints(LoopJoint("closure", *closure))

    angle, rate = 0.8, 1.1
    q, G = gamma([angle, 0.0]), book_G([angle])
    v = np.array(G)[:, 0] * rate
    tau = np.array([0.3, -0.2, 1.5])
    expected = book.loop_dynamics(built("hinge", False), q[:3], v[:3], tau)
    model = built("weld", True)
    assert np.abs(book.loop_constraints(model, [*q[:3], q[0] - q[1]], v)[2]).max() < 1e-14
    spin = v[0] - v[1]
    a = book.loop_dynamics(model, [*q[:3], q[0] - q[1]], [*v[:3], spin], [*tau, 0.0]).a
    assert a[:3] == pytest.approx(expected.a, rel=1e-10) and a[3] == pytest.approx(a[0] - a[1], rel=1e-9)


# Section 8.13 ---------------------------------------------------------------------------------------------------------


@pytest.mark.seeds(9)
def test_sparse_maximal_coordinates_agree(seed):
    """Accelerations and multipliers of independent rows; the block pattern of section 8.13."""
    model, q, v = mechanism(seed)
    rng = np.random.default_rng(seed)
    tau, f_ext = rng.standard_normal(model.nv), rng.standard_normal((model.nb, 6))
    with kt.interpreted():
        a, lam = kt.forward_dynamics(model, q, v, tau, f_ext, multipliers=True)
    equation = book.maximal_equation(model, q, v, tau, f_ext)
    found = equation.solve()
    assert np.abs(found.a - a).max() < 1e-8 * (1.0 + np.abs(a).max())
    assert np.abs(found.multipliers - lam).max() < 1e-8 * (1.0 + np.abs(lam).max())
    assert abs(equation.matrix - equation.matrix.T).max() < 1e-14


def ladder(rungs):
    """Figure 8.4: rungs 12, 34, 56, ... and rails 13, 24, 35, ...; ball joints, so that it is properly constrained."""
    b, loops, body = kt.ModelBuilder("ladder"), [], {"mass": 1.0, "inertia": np.diag([0.1, 0.12, 0.15])}
    for n in range(1, 2 * rungs + 1):
        parent = "world" if n == 1 else f"{1 if n == 2 else n - 2}"
        joint = "01" if n == 1 else "12" if n == 2 else f"{n - 2},{n}"
        b.add_body(str(n), parent, Spherical(), joint, ((0.3, 0.1 * n, 0.2 * (n % 3)), (0, 0, 0)), **body)
    for n in range(3, 2 * rungs, 2):
        loops.append((f"{n},{n + 1}", str(n), str(n + 1)))
    model = b.build()
    rng = np.random.default_rng(0)
    q = model.random_q(rng)
    kin, joints = kt.constraints.Kinematics(model, q.tolist()), []
    for name, p, s in loops:  # two pins of a rung meet where they are
        X_P = Transform.shift(Vector3(0.1, 0.2, 0.3))
        at = kin.point(p, (0.1, 0.2, 0.3))
        R, p_s = kin.rotation(s), kin.point(s)
        X_S = Transform.shift(Vector3(*(sum(R[r, c] * (at[r] - p_s[r]) for r in range(3)) for c in range(3))))
        joints.append(LoopJoint(name, Spherical(), p, s, X_P, X_S))
    return model.with_constraints(*joints), q


def ladder_order(rungs):
    """Figure 8.4: 1, 2, 12, 13, 24, 3, 4, 34, 35, 46, 5, ...: each rung's bodies, then their joints."""
    order = ["joint 01", "body 1", "body 2", "joint 12"]
    for n in range(3, 2 * rungs, 2):
        order += [f"joint {n - 2},{n}", f"joint {n - 1},{n + 1}", f"body {n}", f"body {n + 1}", f"joint {n},{n + 1}"]
    return order


def test_a_ladder_has_a_fixed_bandwidth_in_the_order_of_figure_8_4():
    """Three blocks beside the diagonal, however long; the factors grow linearly, the mass matrix quadratically."""
    fill, entries = {}, {}
    for rungs in (4, 8, 16):
        model, q = ladder(rungs)
        v, tau = np.zeros(model.nv), np.ones(model.nv)
        equation = book.maximal_equation(model, q, v, tau)
        order = ladder_order(rungs)
        assert equation.bandwidth(order) == 3 < equation.bandwidth(equation.names)
        found, again = equation.solve(order), equation.solve()
        assert found.a == pytest.approx(again.a, rel=1e-6, abs=1e-6 * np.abs(again.a).max())
        from scipy.sparse.linalg import splu

        factors = splu(equation.permuted(equation.numbered(order))[0], permc_spec="NATURAL")
        fill[rungs], entries[rungs] = factors.L.nnz + factors.U.nnz, model.mass_matrix_pattern().sum()
    assert (fill[16] - fill[8]) < 2.2 * (fill[8] - fill[4])  # linear
    assert (entries[16] - entries[8]) > 3.5 * (entries[8] - entries[4])  # quadratic
    small, q = ladder(3)
    assert np.abs(book.maximal_equation(small, q, np.zeros(small.nv), np.ones(small.nv)).solve(ladder_order(3)).a
                  - book.loop_dynamics(small, q, np.zeros(small.nv), np.ones(small.nv)).a).max() < 1e-8  # fmt: skip


def test_orders_are_checked_by_name():
    """An unknown block, a block that is missing."""
    model, q = ladder(2)
    equation = book.maximal_equation(model, q, np.zeros(model.nv), np.zeros(model.nv))
    with pytest.raises(UnknownNameError, match="no block named 'body 7'"):
        equation.solve(["body 7"])
    with pytest.raises(ArgumentError, match="expected each of the 9 blocks once"):
        equation.bandwidth(["body 1", "joint 12"])


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical"])
def test_springs_of_loop_joints_are_active_forces(kind):
    """A spring and a damper in a loop joint are tau_k of section 8.4: on motions of the closed mechanism, and in a."""
    model, q, v = kt.models.random_loops(3, bodies=7, loops=1, kinds=[kind])
    loop = model.constraints[0]
    motion = kt.constraints.Kinematics(model, q.tolist(), v.tolist()).relative(*loop.frames, loop.X_P, loop.X_S)
    (x,), (S,) = loop_position(loop.joint, motion.X), loop.joint.motion_subspace(loop_position(loop.joint, motion.X))
    rate = float(np.dot([*S], [*motion.velocity]) / np.dot([*S], [*S]))
    rest = x - 0.2
    sprung = dataclasses.replace(loop, stiffness=3.0, damping=0.4, spring_reference=rest)
    force = {loop.name: [-3.0 * (x - rest) - 0.4 * rate]}
    tau = np.ones(model.nv)
    with kt.interpreted():
        loaded = model.replace(constraints=(sprung,))
        a, passive = kt.forward_dynamics(loaded, q, v, tau), kt.dynamics.passive_joint_forces(loaded, q, v)
    assert book.loop_dynamics(model, q, v, tau, loop_forces=force).a == pytest.approx(a, rel=1e-9, abs=1e-9)
    tau_a = book.loop_bias_forces(model, q, v) - book.loop_bias_forces(model, q, v, loop_forces=force)
    Z = book.solve_constraints(*book.loop_constraints(model, q, v)[:2]).G
    assert Z.T @ tau_a == pytest.approx(Z.T @ passive, abs=1e-11) and np.abs(Z.T @ tau_a).max() > 0.01
