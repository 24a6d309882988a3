"""Constraints on reduced and maximal coordinates, hybrid dynamics, hyper-reduced coordinates, inequalities."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, ConstraintError, NonFiniteError, ShapeError, UnknownNameError
from kinetree.redmax import Rows
from tests.maximal_coordinates.test_models import alike, tree


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


@pytest.mark.seeds(12)
def test_hybrid_dynamics(seed):
    """S2.11, eq. 2.106: prescribed rows; their multipliers are the joint forces of the recursive algorithm."""
    model, q, v, tau, f_ext = tree(seed, forces=False)
    joints = [model.joint_name(i) for i in model.outward() if model.joints[i].nv]
    given, rng = joints[::2], np.random.default_rng(seed)
    target = {name: rng.standard_normal(model.joints[model.joint(name)].nv) for name in given}
    slots = [model.v_slice[model.joint(name)] for name in given]
    a_in, tau_in = np.zeros(model.nv), tau.copy()
    for slot, numbers in zip(slots, target.values(), strict=True):
        a_in[slot], tau_in[slot] = numbers, 0.0
    forward = [name for name in joints if name not in given]
    a, forces = kt.dynamics.hybrid_aba(model, q, v, tau_in, a_in, f_ext, forward=forward)
    for method in ("kkt", "dual"):
        found = kt.redmax.accelerations(
            model, q, v, tau_in, [kt.redmax.prescribed(model, target)], f_ext=f_ext, method=method
        )
        alike(found.values, a)
        alike(found.multipliers, np.concatenate([forces[slot] for slot in slots]))


@pytest.mark.seeds(8)
def test_reduced_and_maximal_rows_together(seed):
    """Eq. 2.102-2.103: a coupling of joints and a point on a plane; both hold, forces do no work on free motions."""
    model, q, v, tau, f_ext = tree(seed)
    rng = np.random.default_rng(seed)
    coupling = Rows(reduced=rng.standard_normal((1, model.nv)), target=[0.3], bias=[0.1], name="coupling")
    body = model.body_names[-1]
    point = kt.redmax.point_rows(model, q, v, body, rng.standard_normal((1, 3)), at=(0.1, 0.2, 0.3), target=[-0.4])
    solutions = [
        kt.redmax.accelerations(model, q, v, tau, [coupling, point], f_ext=f_ext, method=method)
        for method in ("kkt", "dual")
    ]
    alike(solutions[0].values, solutions[1].values)
    alike(solutions[0].multipliers, solutions[1].multipliers)
    a, lam = solutions[0]
    J = kt.redmax.jacobian(model, q)
    G = np.vstack([coupling.reduced, np.einsum("mbr,bri->mi", point.maximal, J)])
    M, f = kt.redmax.equation(model, q, v, tau, f_ext)
    alike(M @ a, f + G.T @ lam)
    assert coupling.reduced[0] @ a + 0.1 == pytest.approx(0.3, abs=1e-8)


def test_rows_of_points_against_differences():
    """G_m and its bias: the velocity and acceleration of a point along directions, by differences in time."""
    model, q, v, tau, _ = tree(4)
    n, at, h = np.array([[0.3, -0.5, 0.8], [1.0, 0.0, 0.0]]), (0.1, 0.2, -0.3), 1e-5
    body, a = model.body_names[-1], np.random.default_rng(0).standard_normal(model.nv)
    rows = kt.redmax.point_rows(model, q, v, body, n, at=at)

    def point(s):
        R, p = kt.pose(model, kt.integrate(model, q, s * v + 0.5 * s * s * a), frame=body)
        return n @ (p + R @ np.array(at))

    twists = kt.kinematics.body_velocities(model, q, v, reference="local")
    A = kt.kinematics.body_accelerations(model, q, v, a, reference="local", kind="spatial")
    velocity = np.einsum("mbr,br->m", rows.maximal, twists)
    assert np.allclose(velocity, (point(h) - point(-h)) / (2 * h), rtol=0, atol=1e-7)
    free = kt.redmax.accelerations(model, q, v, tau, [Rows(maximal=rows.maximal, bias=rows.bias, target=[0.0, 0.0])])
    assert len(free.multipliers) == 2
    second = (point(h) - 2 * point(0.0) + point(-h)) / h**2
    scleronomic = all(model.joints[i].constant_subspace for i in model.outward())
    if scleronomic:
        assert np.allclose(np.einsum("mbr,br->m", rows.maximal, A) + rows.bias, second, rtol=0, atol=1e-3)


@pytest.mark.parametrize("n", [2, 5, 9])
def test_equal_angles_are_one_degree_of_freedom(n):
    """S2.08, eq. 2.81: n joints that turn alike; against constraints, and against a chain that has them as rows."""
    chain = kt.models.n_pendulum(n)
    first, *others = chain.joint_names
    curl = chain.with_constraints(*(kt.constraints.Coupling(name, first) for name in others))
    q, v, tau = np.full(n, 0.2), np.full(n, 1.3), np.linspace(-1.0, 1.0, n)
    M_R, f_R = kt.redmax.hyper_reduced(curl, q, v, tau)
    assert M_R.shape == (1, 1)
    alike(np.full(n, f_R[0] / M_R[0, 0]), kt.forward_dynamics(curl, q, v, tau))
    rows = Rows(reduced=np.eye(n)[1:] - np.eye(n)[:1])
    alike(np.full(n, f_R[0] / M_R[0, 0]), kt.redmax.accelerations(chain, q, v, tau, [rows]).values)


def test_a_second_jacobian_that_varies():
    """Eq. 2.82 with Jdot_rR: the positions of two joints are nonlinear functions of a third."""
    arm = kt.models.n_pendulum(3)
    names = arm.joint_names
    cam = arm.with_constraints(
        kt.constraints.PolynomialCoupling(names[1], names[0], (0.1, 0.5, -0.8), name="cam"),
        kt.constraints.PolynomialCoupling(names[2], names[0], (0.0, -0.3, 0.6, 0.2), name="other"),
    )
    x, v0, tau = 0.7, 1.9, np.array([0.3, -0.2, 0.5])
    q = np.array([x, 0.1 + 0.5 * x - 0.8 * x * x, -0.3 * x + 0.6 * x * x + 0.2 * x**3])
    v = v0 * np.array([1.0, 0.5 - 1.6 * x, -0.3 + 1.2 * x + 0.6 * x * x])
    M_R, f_R = kt.redmax.hyper_reduced(cam, q, v, tau, independent=[names[0]])
    a = kt.forward_dynamics(cam, q, v, tau)
    assert f_R[0] / M_R[0, 0] == pytest.approx(a[0], rel=1e-10)
    alike(M_R, kt.closed_loops.reduced_mass_matrix(cam, q, independent=[names[0]]))


# Inequalities --------------------------------------------------------------------------------------------------------


@pytest.mark.seeds(12)
def test_inequalities_obey_the_conditions_of_optimality(seed):
    """S2.10, eq. 2.105, 2.127: feasible, forces that only push, none where a row moves away; both methods."""
    model, q, v, tau, _ = tree(seed)
    rng = np.random.default_rng(seed)
    m = max(1, model.nv // 2)
    C = Rows(reduced=rng.standard_normal((m, model.nv)), target=rng.standard_normal(m), inequality=True, name="bounds")
    G = Rows(reduced=rng.standard_normal((1, model.nv)), name="equality")
    M, f = kt.redmax.equation(model, q, v, tau)
    found = [kt.redmax.accelerations(model, q, v, tau, [C, G], method=method) for method in ("kkt", "dual")]
    alike(found[0].values, found[1].values)
    for a, lam in found:
        gap, size = C.reduced @ a - C.target, np.abs(a).max()
        assert (gap > -1e-8 * size).all()
        assert (lam[:m] >= 0.0).all()
        assert np.abs(gap * lam[:m]).max() <= 1e-8 * size * (1.0 + np.abs(lam).max())
        assert abs(G.reduced[0] @ a) <= 1e-8 * size
        alike(M @ a, f + C.reduced.T @ lam[:m] + G.reduced.T @ lam[m:])
    values = 0.5 * a @ M @ a - a @ f  # no feasible neighbor is better
    for _ in range(20):
        other = a + 0.1 * size * rng.standard_normal(model.nv)
        other -= G.reduced[0] * (G.reduced[0] @ other) / (G.reduced[0] @ G.reduced[0])
        if (C.reduced @ other >= C.target).all():
            assert 0.5 * other @ M @ other - other @ f >= values


@pytest.mark.seeds(8)
def test_rows_that_oppose_each_other(seed):
    """Bounds from both sides of all velocities, with twice the same and a row that couples them: a box."""
    model, q, v, tau, _ = tree(seed)
    rng, n, h = np.random.default_rng(seed), model.nv, 0.01
    M, f = kt.redmax.equation(model, q, v, tau)
    free = v + h * np.linalg.solve(M, f)
    lower, upper = free - rng.uniform(-0.3, 1.0, n), free + rng.uniform(0.4, 1.0, n)
    lo = Rows(reduced=np.eye(n), target=lower, inequality=True)
    up = Rows(reduced=-np.eye(n), target=-upper, inequality=True)
    row = rng.standard_normal((1, n))
    coupling = Rows(reduced=row, target=row @ (0.5 * (lower + upper)))
    for method in ("kkt", "dual"):
        y, lam = kt.redmax.velocities(model, q, v, tau, [lo, up, lo, coupling], dt=h, method=method)
        gaps, size = np.concatenate([y - lower, upper - y, y - lower]), np.abs(y).max()
        assert (gaps > -1e-8 * size).all() and (lam[:-1] >= 0.0).all()
        assert np.abs(gaps * lam[:-1]).max() <= 1e-8 * size * (1.0 + np.abs(lam).max())
        alike(coupling.reduced @ y, coupling.target, size)
        G = np.vstack([np.eye(n), -np.eye(n), np.eye(n), coupling.reduced])
        alike(M @ (y - v), h * f + G.T @ lam, np.abs(M).sum(axis=1).max() * size)


@pytest.mark.seeds(6)
def test_joints_that_depend_on_time(seed):
    """Given accelerations of points and of bodies include what time adds; velocities too. The time is asked for."""
    trees = (
        kt.models.random_tree(4 + seed % 4, seed=k, time_dependent=True, armature=False) for k in range(seed, 99, 6)
    )
    model = next(tree for tree in trees if tree.time_dependent)
    rng, t = np.random.default_rng(seed), 0.7
    q, v, tau = model.random_q(rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    alike(kt.redmax.accelerations(model, q, v, tau, t=t).values, kt.forward_dynamics(model, q, v, tau, t=t))
    n = rng.standard_normal((1, 3))
    moves = kt.redmax.jacobian(model, q, t=t).any(axis=(1, 2))  # not as a function of time alone
    body = model.body_names[int(np.flatnonzero(moves)[-1])]
    row = kt.redmax.point_rows(model, q, v, body, n, at=(0.1, 0.2, 0.3), t=t, target=[-0.4])
    where = dict(frame=body, reference="local_world_aligned")
    arm = kt.pose(model, q, t=t, frame=body).R_WF @ (0.1, 0.2, 0.3)
    for method in ("kkt", "dual"):
        a = kt.redmax.accelerations(model, q, v, tau, [row], t=t, method=method).values
        rate, acceleration = np.split(kt.acceleration(model, q, v, a, t=t, kind="classical", **where), 2)
        w, _ = np.split(kt.velocity(model, q, v, t=t, **where), 2)
        of_point = acceleration + np.cross(rate, arm) + np.cross(w, np.cross(w, arm))
        assert n[0] @ of_point == pytest.approx(-0.4, abs=1e-8)
        v_1 = kt.redmax.velocities(model, q, v, tau, [row], dt=0.01, t=t, method=method).values
        w, speed = np.split(kt.velocity(model, q, v_1, t=t, **where), 2)
        assert n[0] @ (speed + np.cross(w, arm)) == pytest.approx(-0.4, abs=1e-8)
    for index in np.flatnonzero(~moves)[1:]:
        row = kt.redmax.point_rows(model, q, v, model.body_names[index], n, t=t, target=[-0.4])
        with pytest.raises(ConstraintError, match=r"no joint velocity .* point of body\d \(row 0"):
            kt.redmax.accelerations(model, q, v, tau, [row], t=t)
    with pytest.raises(ArgumentError, match="accelerations: t is None, expected the time"):
        kt.redmax.accelerations(model, q, v, tau)


def test_prescribed_motions_of_a_model():
    """Rows with the accelerations of the motion, and Baumgarte's terms with its rate."""
    motion = kt.constraints.PrescribedMotion("elbow", kt.joints.Sinusoid(0.2, 3.0, 0.4))
    model, t, state = kt.models.double_pendulum().with_constraints(motion), 0.3, ([0.1, 0.2], [1.0, 2.0])
    rows = kt.redmax.model_rows(model, *state, t=t, baumgarte=(5.0, 7.0))
    a = kt.redmax.accelerations(model, *state, [0.0, 0.0], [rows]).values  # time enters by the rows alone
    value, rate = 0.2 * np.sin(3.0 * t + 0.4), 0.6 * np.cos(3.0 * t + 0.4)
    assert a[1] == pytest.approx(-9.0 * value - 10.0 * (2.0 - rate) - 49.0 * (0.2 - value), rel=1e-12)
    with pytest.raises(ArgumentError, match="model_rows: t is None, expected the time"):
        kt.redmax.model_rows(model, *state)


def test_bounds_that_do_not_act():
    """A joint that moves between two bounds of its velocity is left alone."""
    arm = kt.models.double_pendulum()
    rows = [Rows(reduced=[[s, 0.0]], target=[limit], inequality=True) for s, limit in ((1.0, -0.2), (-1.0, -0.1))]
    y, lam = kt.redmax.velocities(arm, [0.0, 0.0], [0.09, 0.0], [0.0, 0.0], rows, dt=0.1)
    assert (lam == 0.0).all() and y == pytest.approx([0.09, 0.0])


def test_a_block_on_a_floor():
    """A free body between two unilateral rows: it is borne where it would sink, and leaves where it is pulled."""
    model = kt.models.free_body()
    q, v = model.neutral(), np.zeros(6)
    floor = kt.redmax.point_rows(model, q, v, model.body_names[1], [[0, 0, 1]], inequality=True)
    a, force = kt.redmax.accelerations(model, q, v, np.zeros(6), [floor])
    weight = -model.I[1].m * model.gravity.z
    assert force[0] == pytest.approx(weight)
    assert np.abs(a).max() < 1e-9
    a, force = kt.redmax.accelerations(model, q, v, [0, 0, 0, 0, 0, 2 * weight], [floor], method="dual")
    assert force[0] == 0.0 and a[5] == pytest.approx(-model.gravity.z)


def test_velocity_level():
    """Eq. 2.99: rows hold at the end of the step; impulses over h tend to the forces."""
    model, q, v, tau, _ = tree(3)
    joint = next(model.joint_name(i) for i in model.outward() if model.joints[i].nv == 1)
    k, h = model.v_slice[model.joint(joint)].start, 1e-7
    v[k] = 0.0
    rows = [kt.redmax.prescribed(model, {joint: 0.0})]
    a = kt.redmax.accelerations(model, q, v, tau, rows)
    for method in ("kkt", "dual"):
        step = kt.redmax.velocities(model, q, v, tau, rows, dt=h, method=method)
        assert abs(step.values[k]) < 1e-12
        assert np.allclose((step.values - v) / h, a.values, rtol=1e-5, atol=1e-5)
        assert np.allclose(step.multipliers / h, a.multipliers, rtol=1e-5, atol=1e-5)


@pytest.mark.seeds(4)
def test_velocities_with_slopes(seed):
    """Eq. 2.72-2.79 with 2.99: without rows the linearly implicit step, with rows by both methods."""
    model, q, v, tau, f_ext = tree(seed)
    h = 0.01
    free = kt.redmax.velocities(model, q, v, tau, dt=h, f_ext=f_ext, slopes="symmetric").values
    q_next, v_next = kt.redmax.implicit_step(model, q, v, tau, h, f_ext)
    moved = kt.kinematics.reparameterize(model, kt.integrate(model, q, h * free), free)
    for found, expected in zip(moved, (q_next, v_next), strict=True):
        alike(found, expected)
    rng = np.random.default_rng(seed)
    rows = [Rows(reduced=rng.standard_normal((1, model.nv)), target=[0.2])]
    rows.append(Rows(reduced=rng.standard_normal((2, model.nv)), target=rng.standard_normal(2), inequality=True))
    for given in (rows, rows[:1]):
        found = [
            kt.redmax.velocities(model, q, v, tau, given, dt=h, slopes="gauss_newton", method=method)
            for method in ("kkt", "dual")
        ]
        alike(found[0].values, found[1].values)
        alike(found[0].multipliers, found[1].multipliers, np.abs(found[0].multipliers).max())
    assert rows[0].reduced[0] @ found[0].values == pytest.approx(0.2, abs=1e-8)
    with pytest.raises(ArgumentError, match=r"velocities: slopes is 'all'"):
        kt.redmax.velocities(model, q, v, tau, dt=h, slopes="all")


def test_baumgarte():
    """Rows of a model get the accelerations -2 alpha G v - beta^2 phi."""
    bar = kt.models.four_bar()
    q, v = bar.keyframe("initial")
    q = q + [0.0, 0.01, 0.0]
    rows = kt.redmax.model_rows(bar, q, v, baumgarte=(3.0, 5.0))
    phi = kt.closed_loops.error(bar, q)[list(bar.independent_rows())]
    assert np.allclose(rows.target, -6.0 * rows.reduced @ v - 25.0 * phi)
    assert np.abs(rows.target).max() > 0.01


def test_bad_rows_are_named():
    """Contradictions, wrong shapes, unknown joints."""
    arm = kt.models.double_pendulum()
    state = [0.1, 0.2], [0.0, 0.0], [0.0, 0.0]
    still = kt.redmax.prescribed(arm, {"elbow": 0.0})
    moving = Rows(reduced=[[0.0, 1.0]], target=[1.0], name="drive")
    for method in ("kkt", "dual"):
        with pytest.raises(ConstraintError, match=r"over-constrained: .*(drive|prescribed)"):
            kt.redmax.accelerations(arm, *state, [still, moving], method=method)
        fixed = kt.redmax.point_rows(arm, *state[:2], "world", [[0, 0, 1]], target=[1.0])
        with pytest.raises(ConstraintError, match=r"no joint velocity changes .*: point of world \(row 1, by -1\)"):
            kt.redmax.accelerations(arm, *state, [still, fixed], method=method)
        again = kt.redmax.accelerations(arm, *state, [still, still], method=method)  # redundant, not contradictory
        alike(again.values, kt.redmax.accelerations(arm, *state, [still]).values)
        assert again.multipliers[0] == pytest.approx(again.multipliers[1])
    with pytest.raises(ShapeError, match=r"Rows 'rows': reduced has rows of shape \(3,\), expected \(2,\)"):
        kt.redmax.accelerations(arm, *state, [Rows(reduced=[[1.0, 0.0, 0.0]])])
    with pytest.raises(ShapeError, match=r"Rows 'rows': maximal has shape \(1, 2\), expected \(m, nb, 6\)"):
        Rows(maximal=[[1.0, 2.0]])
    with pytest.raises(ArgumentError, match=r"expected rows of reduced coordinates, of maximal ones, or of both"):
        Rows()
    with pytest.raises(NonFiniteError, match="Rows 'rows': reduced has an entry that is NaN or infinite"):
        Rows(reduced=[[1.0, np.nan]])
    with pytest.raises(UnknownNameError, match="wrist"):
        kt.redmax.prescribed(arm, {"wrist": 0.0})
    with pytest.raises(ArgumentError, match=r"rows is .*expected a sequence of kt.redmax.Rows"):
        kt.redmax.accelerations(arm, *state, ["still"])
