"""Sweeps over contacts and bounded rows, of plain rows: against dense algebra and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constrained import ConstrainedSystem
from kinetree.algorithms.contact_sweeps import BoundedRow, Cone, FactorSpace, product, swept
from kinetree.constraints.row_law import RowLaw
from kinetree.state_kinematics import Kinematics
from tests.constraints.test_constrained_system import looped

DRAWS = 30  # of contacts, among which are some of 9 independent rows, of most trees


def space_of(model, q):
    """The space of the factors at a position, with the dense mass matrix and the rows of loops."""
    M = kt.crba(model, q)
    system = ConstrainedSystem(model, M.tolist(), Kinematics(model, q.tolist()), {})
    K = np.array([[row.get(k, 0.0) for k in range(model.nv)] for row in system.rows]).reshape(-1, model.nv)
    return FactorSpace(system), M, K


def random_contacts(model, q, rng, count: int):
    """Points on random frames with random normals: dense rows, and the same as dicts."""
    names, found = [frame.name for frame in model.frames][1:], []
    for _ in range(count):
        J = kt.jacobian(model, q, frame=names[rng.integers(len(names))], reference="local_world_aligned")
        arm = np.cross(np.eye(3), 0.3 * rng.standard_normal(3))
        axes = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        found.append(axes @ (J[3:] + arm @ J[:3]))
    J = np.concatenate(found)
    return J, [[dict(enumerate(row)) for row in block.tolist()] for block in found]


def natural_map(A, b, mu, impulses) -> float:
    """The largest residual of Signorini's and Coulomb's laws [m/s], by projections of each contact."""
    w, worst = A @ impulses + b, 0.0
    for n in range(len(mu)):
        at = slice(3 * n, 3 * n + 3)
        (x, y, push), u = impulses[at], w[at]
        if not A[at, at].any():  # on a body that does not move
            assert not u.any() and not impulses[at].any()
            continue
        scale = 1.0 / np.linalg.eigvalsh(A[at, at]).max()
        slid = np.array([x, y]) - scale * u[:2]
        slid *= min(1.0, mu[n] * push / max(np.linalg.norm(slid), 1e-300))
        worst = max(worst, np.linalg.norm(slid - [x, y]) / scale, abs(push - max(0.0, push - scale * u[2])) / scale)
    return worst


@pytest.mark.seeds(4)
def test_vectors_of_the_space_are_those_of_dense_algebra(seed):
    """Velocities, rates and responses; with loops those of the dynamics that keep them closed."""
    model, q, _ = looped(seed)
    if seed % 2:
        model = model.replace(constraints=())
    space, M, K = space_of(model, q)
    rng = np.random.default_rng(seed)
    f, target = rng.standard_normal(model.nv), rng.standard_normal(len(K))
    J, rows = random_contacts(model, q, rng, 1)
    A = np.block([[M, -K.T], [K, np.zeros((len(K),) * 2)]])

    def solved(right, rates):
        return np.linalg.solve(A, np.concatenate([right, rates]))[: model.nv]

    v, still = solved(f, 0.0 * target), np.zeros((len(K), 3))
    z, w = space.momentum(f.tolist()), [space.row(row) for row in rows[0]]
    assert np.array(space.velocities(z)) == pytest.approx(v, rel=1e-8, abs=1e-9 * np.abs(v).max())
    # Loops may hold the point: then all is rounding, of the size of what they take away.
    free, alone = np.linalg.solve(M, f), np.linalg.solve(M, J.T)
    assert [product(a, z) for a in w] == pytest.approx(J @ v, rel=1e-8, abs=1e-9 * (np.abs(J) @ np.abs(free)).max())
    response = J @ solved(J.T, still)
    found = np.array([[product(a, b) for b in w] for a in w])
    assert found == pytest.approx(response, rel=1e-8, abs=1e-9 * (J @ alone).max())
    if len(K):
        v = solved(0.0 * f, target)
        assert np.array(space.closing(target.tolist())) == pytest.approx(v, rel=1e-8, abs=1e-9 * np.abs(v).max())


def sticking_rate(J, M) -> float:
    """What a sweep leaves of the velocities that contacts end, if all stick: the rate of alternating projections."""
    W, left = np.linalg.solve(np.linalg.cholesky(M), J.T).T, np.eye(len(M))
    for w in W.reshape(-1, 3, len(M)):
        left = left @ (np.eye(len(M)) - np.linalg.pinv(w, rcond=1e-7) @ w)
    rates = np.abs(np.linalg.eigvals(left))
    return rates[rates < 1.0 - 1e-9].max(initial=0.0)  # 1 is that of velocities along which no contact acts


@pytest.mark.seeds(8)
def test_many_sweeps_solve_the_contact_problem(seed):
    """Sticking, sliding and opening contacts of a tree: the laws hold in all, and the velocities are those of them.

    Sweeps over contacts that stick are alternating projections onto the velocities that each of them leaves; where a
    sweep leaves less than 0.8, 200 leave 4e-20. No theorem covers contacts that slide, of which the margin is meant.
    Contacts with dependent rows have impulses without effect, which set the limits of friction of each other and
    may creep for thousands of sweeps: there, and in slower problems, sweeps have to come closer to the laws only.
    """
    rng, count = np.random.default_rng(seed), 3
    model = kt.models.random_tree(6, seed=seed)
    q, _ = model.random_state(rng)
    space, M, _ = space_of(model, q)
    mu, f = rng.uniform(0.1, 0.9, count), rng.standard_normal(model.nv)
    drawn = [random_contacts(model, q, rng, count) for _ in range(DRAWS)]
    quick = [np.linalg.matrix_rank(J, 1e-6) == 3 * count and sticking_rate(J, M) < 0.8 for J, _ in drawn]
    for n in sorted({0, *np.flatnonzero(quick)[:2]}):
        J, rows = drawn[n]
        blocks = [Cone(map(space.row, row), [0.0] * 3, float(x), [0.0] * 3) for row, x in zip(rows, mu, strict=True)]
        A, b, misfits = J @ np.linalg.solve(M, J.T), J @ np.linalg.solve(M, f), []
        for sweeps in (10, 190):  # the second time from the impulses of the first
            z, residual = swept(blocks, space.momentum(f.tolist()), sweeps=sweeps)
            impulses = np.concatenate([block.impulses for block in blocks])
            misfits.append(natural_map(A, b, mu, impulses))
        if quick[n]:
            assert misfits[1] < 1e-9 and residual < 1e-9
        assert misfits[1] < max(1e-9, 0.5 * misfits[0])
        v = np.linalg.solve(M, f + J.T @ impulses)
        assert np.array(space.velocities(z)) == pytest.approx(v, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(("response", "speed"), [(1.0, 1.0), (1e9, 1.0), (1e-6, 1e-6)])
@pytest.mark.parametrize("mu", [0.3, 1.0, 2.0])
def test_a_contact_alone_is_solved_in_a_few_visits(mu, response, speed):
    """Sliding too, in all units: friction and normal are coupled strongly here, so that some contacts jam at first."""
    rng, found = np.random.default_rng(0), []
    for _ in range(100):
        G = rng.standard_normal((3, 4))
        B, b = response * (G @ G.T), speed * rng.standard_normal(3)
        b[2] = -abs(b[2])
        rows, z = [dict(enumerate(w)) for w in np.linalg.cholesky(B).tolist()], [0.0] * 3
        cone = Cone(rows, b.tolist(), mu, [0.0] * 3)
        for _ in range(8):
            cone.visit(z)
        found.append(natural_map(B, b, [mu], np.array(cone.impulses)) / speed)
    found = np.sort(found)  # one of a hundred may need more visits
    assert found[98] < 1e-10


def test_contacts_of_few_freedoms_are_solved():
    """A pendulum's tip on a wall: its rows have rank one, so that only the normal impulse is unique."""
    model = kt.models.pendulum()
    space, M, _ = space_of(model, np.zeros(1))
    rows = [{}, {0: 0.3}, {0: 1.0}]
    contact = Cone([space.row(row) for row in rows], [0.0, 0.0, 0.0], 0.5, [0.0] * 3)
    z, _ = swept([contact], space.momentum([-2.0]))
    assert abs(space.velocities(z)[0]) < 1e-12
    x, y, n = contact.impulses
    assert x == 0.0 and n > 0.0 and abs(y) <= 0.5 * n
    assert 0.3 * y + n == pytest.approx(2.0, rel=1e-9)


def test_bounded_rows_and_contacts_share_the_sweeps():
    """A sliding block pushed into a limit: friction of the joint, limit and contact in closed form."""
    builder = kt.ModelBuilder("block")
    builder.add_body("x", joint=kt.joints.Prismatic((1, 0, 0)), joint_name="along", mass=2.0)
    builder.add_body("z", "x", kt.joints.Prismatic((0, 0, 1)), "up", mass=2.0)
    model = builder.build()
    space, _, _ = space_of(model, np.zeros(2))  # masses 4 along x, 2 along z
    x, z = (model.v_index(name).start for name in ("along", "up"))
    ground = Cone([space.row({x: 1.0}), {}, space.row({z: 1.0})], [0.0] * 3, 0.5, [0.0] * 3)
    drag = BoundedRow(space.row({x: 1.0}), 0.0, RowLaw(resistance=1.0), [0.0])
    f = [0.0, 0.0]
    f[x], f[z] = 7.0, -4.0
    found, _ = swept([drag, ground], space.momentum(f))
    v = space.velocities(found)  # 7 N s less 1 of the joint and 0.5 * 4 of the ground
    assert v[x] == pytest.approx((7.0 - 1.0 - 2.0) / 4.0, rel=1e-9) and abs(v[z]) < 1e-15
    stop = BoundedRow(space.row({x: 1.0}), 0.0, RowLaw(upper=0.25), [0.0])
    ground.impulses, drag = [0.0] * 3, BoundedRow(space.row({x: 1.0}), 0.0, RowLaw(resistance=1.0), [0.0])
    found, _ = swept([stop, drag, ground], space.momentum(f), sweeps=40)
    assert space.velocities(found)[x] == pytest.approx(0.25, rel=1e-9)
    assert stop.impulses[0] == pytest.approx(-(7.0 - 1.0 - 2.0 - 1.0), rel=1e-6)
    assert drag.impulses[0] == pytest.approx(-1.0)
