"""Inverse dynamics of closed loops: published torques, round trips, the least norm, and what motors can do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_bias, constraint_jacobian
from kinetree.errors import ConstraintError, UnknownNameError
from tests.compiler.test_c_source import GCC, run_harness

# Crank angle, effective inertia and its slope, potential energy and its slope: Lagrange's equation of the one
# coordinate, with rods of mass = length 1, 3, 2.5 and the ground 3 (`four_bar`). Torques at crank rates (2, 0) and
# (2, 3), and at rest.
GOLDEN = [
    (0.3, 7.356965445018, 13.694526120505, 18.822184727708),
    (1.0, 17.618332006429, 24.175854154190, 10.813521895409),
    (2.0, -16.927038236068, -4.245628146216, -16.872770399060),
]


def rows(model, q, v):
    """All rows of loops, and the right-hand sides of accelerations."""
    return np.array(constraint_jacobian(model, q.tolist())), -np.array(
        constraint_bias(model, q.tolist(), v.tolist()), float
    )


def closed_motion(model, q, v, rng):
    """Random accelerations that keep loops closed."""
    G, k = rows(model, q, v)
    a = rng.standard_normal(model.nv)
    return a + np.linalg.pinv(G, rcond=1e-9) @ (k - G @ a)


def crank_motion(angle, rate, acceleration):
    """The state of the four-bar with a crank that moves as given."""
    model = kt.models.four_bar(angle=angle)
    q, _ = model.keyframe("initial")
    G, _ = rows(model, q, np.zeros(3))
    v = np.array([rate, *-np.linalg.pinv(G[:, 1:], rcond=1e-9) @ G[:, 0] * rate])
    _, k = rows(model, q, v)
    a = np.array([acceleration, *np.linalg.pinv(G[:, 1:], rcond=1e-9) @ (k - G[:, 0] * acceleration)])
    return model, q, v, a


@pytest.mark.parametrize("angle, moving, accelerated, static", GOLDEN)
def test_the_torque_of_a_four_bars_crank_is_that_of_lagranges_equation(angle, moving, accelerated, static):
    """To the digits of the table; and any three torques that cause the motion have the same power."""
    for rate, acceleration, expected in ((2.0, 0.0, moving), (2.0, 3.0, accelerated), (0.0, 0.0, static)):
        model, q, v, a = crank_motion(angle, rate, acceleration)
        tau = kt.inverse_dynamics(model, q, v, a, actuated=["crank"])
        assert tau == pytest.approx([expected, 0.0, 0.0], abs=2e-10) and tau[1:].tolist() == [0.0, 0.0]
        shared = kt.inverse_dynamics(model, q, v, a)
        assert np.linalg.norm(shared) < np.linalg.norm(tau) and shared @ v == pytest.approx(tau @ v, abs=1e-9)
        two = kt.inverse_dynamics(model, q, v, a, actuated=["rocker", "crank"])
        assert two[1] == 0.0 and two @ v == pytest.approx(tau @ v, abs=1e-9)


MECHANISMS = [("spatial", 1), ("spatial", 2), ("planar", 3), ("spherical", 4)]


@pytest.fixture(scope="module", params=MECHANISMS, ids=lambda each: each[0] + str(each[1]))
def mechanism(request):
    """A random mechanism with loops, its state, and a motion that keeps them closed."""
    family, seed = request.param
    model, q, v = kt.models.random_loops(seed, bodies=7, loops=1 + seed % 2, family=family)
    return model, q, v, closed_motion(model, q, v, np.random.default_rng(seed))


def test_forward_dynamics_inverts_it_and_has_the_same_multipliers(mechanism):
    """The round trip of accelerations and of the forces in the loops."""
    model, q, v, a = mechanism
    tau, lam = kt.inverse_dynamics(model, q, v, a, multipliers=True)
    again, same = kt.forward_dynamics(model, q, v, tau, multipliers=True)
    assert again == pytest.approx(a, rel=1e-9, abs=1e-9 * np.abs(a).max())
    assert same == pytest.approx(lam, rel=1e-7, abs=1e-8 * max(1.0, np.abs(lam).max()))


def test_its_norm_is_the_least_of_the_family(mechanism):
    """Against the family from a singular value decomposition, with weights; internal forces cause no motion."""
    model, q, v, a = mechanism
    w = np.random.default_rng(9).uniform(0.2, 5.0, model.nv)
    tau = kt.inverse_dynamics(model, q, v, a, weights=w)
    family = kt.closed_loops.torque_family(model, q, v, a, weights=w)
    assert tau == pytest.approx(family.tau, rel=1e-8, abs=1e-9 * np.abs(tau).max())
    assert family.null_space.shape == (model.nv, len(model.independent_rows())) and not family.lacking
    assert np.abs(family.null_space.T @ (w * tau)).max() < 1e-9 * np.abs(w * tau).max()
    inside = family.null_space @ np.random.default_rng(1).standard_normal(family.null_space.shape[1])
    still = kt.forward_dynamics(model, q, v, tau + inside)
    assert still == pytest.approx(a, rel=1e-8, abs=1e-9 * np.abs(a).max())


def test_as_many_motors_as_degrees_of_freedom_leave_no_choice(mechanism):
    """Motors at independent velocities: then inverse dynamics is hybrid dynamics of the other joints."""
    model, q, v, a = mechanism
    chosen = [model.velocity_labels[k] for k in model.independent_velocities()]
    tau = kt.inverse_dynamics(model, q, v, a, actuated=chosen)
    assert set(np.flatnonzero(tau)) <= set(model.independent_velocities())
    assert kt.forward_dynamics(model, q, v, tau) == pytest.approx(a, rel=1e-8, abs=1e-8 * np.abs(a).max())
    family = kt.closed_loops.torque_family(model, q, v, a, actuated=chosen)
    assert family.actuation == "properly actuated" and np.abs(family.missing).max() < 1e-9 * np.abs(tau).max()
    assert family.tau == pytest.approx(tau, rel=1e-7, abs=1e-8 * np.abs(tau).max())


def test_batches_have_the_same_results_as_single_states():
    """Compiled, with weights of each state."""
    motions = [crank_motion(angle, 2.0, 3.0) for angle in (0.3, 1.0, 2.0)]
    model = motions[0][0]
    q, v, a = (np.stack([each[n] for each in motions]) for n in (1, 2, 3))
    w = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    found = kt.inverse_dynamics(model, q, v, a, weights=w)
    for n in range(3):
        assert found[n] == pytest.approx(kt.inverse_dynamics(model, q[n], v[n], a[n], weights=w[n]), abs=1e-12)


@pytest.mark.skipif(GCC is None, reason="no C compiler")
def test_c_code_and_names_with_choices(tmp_path):
    """The crank's torque in C, at accelerations that keep the loop closed; choices behind a name; copies."""
    model, q, v, a = crank_motion(1.0, 2.0, 3.0)
    code = kt.export.to_c(kt.compile(model, "inverse_dynamics:crank"))
    run_harness(code, tmp_path)
    assert kt.export.to_c(kt.compile(model, "inverse_dynamics")).name == "four_bar_inverse_dynamics"
    both = kt.compile(model, ["inverse_dynamics:crank+rocker", "closed_loops_null_space:rocker"])
    tau, G = both(q, v, a)
    assert tau == pytest.approx(kt.inverse_dynamics(model, q, v, a, actuated=["crank", "rocker"]))
    assert G[2, 0] == 1.0 and pickle.loads(pickle.dumps(both))(q, v, a)[1] == pytest.approx(G)


def test_a_missing_motor_is_named_and_the_rest_is_told():
    """No motor at all, and a mechanism of two degrees of freedom with one motor."""
    model, q, v, a = crank_motion(1.0, 2.0, 3.0)
    with pytest.raises(ConstraintError, match="1 degrees of freedom, and motors at no joint have no influence on 1"):
        kt.inverse_dynamics(model, q, v, a, actuated=[])
    family = kt.closed_loops.torque_family(model, q, v, a, actuated=[])
    assert family.actuation == "underactuated" and family.lacking == 1 and not family.tau.any()
    assert family.missing @ v == pytest.approx(2.0 * GOLDEN[1][2]) and "missing" in str(family)
    with pytest.raises(UnknownNameError, match="shoulder"):
        kt.inverse_dynamics(model, q, v, a, actuated=["shoulder"])
    free = kt.models.double_pendulum()
    with pytest.raises(ConstraintError, match="motors at shoulder have no influence on 1"):
        kt.inverse_dynamics(free, np.zeros(2), np.zeros(2), np.zeros(2), actuated=["shoulder"])


def test_at_a_dead_center_of_the_motor_the_family_finds_that_it_is_lacking():
    """The rocker's motor has no influence on a crank in line with the coupler; the crank's has."""
    model = kt.models.four_bar(lengths=(3.0, 1.0, 3.0, 2.5))
    # Crank and coupler in line: a triangle of sides 4 (or 2), 3, 2.5.
    cosine = (3.0**2 + 4.0**2 - 2.5**2) / (2 * 3.0 * 4.0)
    q = np.array([np.arccos(cosine), 0.0, 0.0])
    tip = 4.0 * np.array([np.cos(q[0]), np.sin(q[0])]) - [3.0, 0.0]
    q[2] = np.arctan2(tip[1], tip[0])
    zero = np.zeros(3)
    assert kt.closed_loops.torque_family(model, q, zero, zero, actuated=["rocker"]).lacking == 1
    assert kt.closed_loops.torque_family(model, q, zero, zero, actuated=["crank"]).lacking == 0
    both = kt.inverse_dynamics(model, q, zero, zero, actuated=["crank", "rocker"])
    assert both == pytest.approx(kt.closed_loops.torque_family(model, q, zero, zero, actuated=["crank", "rocker"]).tau)


def test_accelerations_that_open_a_loop_are_refused():
    """With the size of the misfit, and the call that gives consistent ones."""
    model, q, v, a = crank_motion(1.0, 2.0, 3.0)
    with pytest.raises(ConstraintError, match=r"a breaks the loop joint 'closure'.* by .*closed_loops.accelerations"):
        kt.inverse_dynamics(model, q, v, a + [1e-3, 0.0, 0.0])


def test_hybrid_dynamics_shares_loads_as_inverse_dynamics_does(mechanism):
    """No joint with a known force; then some, whose accelerations are those of forward dynamics."""
    model, q, v, a = mechanism
    zero = np.zeros(model.nv)
    found, tau, lam = kt.hybrid_dynamics(model, q, v, zero, a, forward=[], multipliers=True)
    expected, same = kt.inverse_dynamics(model, q, v, a, multipliers=True)
    assert found == pytest.approx(a) and tau == pytest.approx(expected, rel=1e-8, abs=1e-9 * np.abs(tau).max())
    assert lam == pytest.approx(same, rel=1e-7, abs=1e-8 * np.abs(lam).max(initial=1.0))


@pytest.mark.parametrize("forward", [["crank"], ["coupler"], ["rocker"], ["crank", "rocker"], ["crank", "coupler"]])
def test_joints_with_known_forces_beside_prescribed_ones(forward):
    """A four-bar with one and two known forces: its motion, the known forces, and the least of the others."""
    model, q, v, a = crank_motion(1.0, 2.0, 3.0)
    known = np.array([2.0, -1.0, 0.5])
    read = [name in forward for name in model.joint_names]
    given = np.where(read, 0.0, a)
    found, tau, lam = kt.hybrid_dynamics(model, q, v, known, given, forward=forward, multipliers=True)
    assert found == pytest.approx(a, abs=1e-9) and tau[read] == pytest.approx(known[read], abs=0)
    again, same = kt.forward_dynamics(model, q, v, tau, multipliers=True)
    assert again == pytest.approx(a, abs=1e-9) and same == pytest.approx(lam, abs=1e-8)
    # Internal forces of the prescribed joints alone add to their norm.
    G = kt.closed_loops.null_space(model, q)
    prescribed = np.flatnonzero(~np.array(read))
    _, sigma, V = np.linalg.svd(G[prescribed].T)
    for inside in V[int((sigma > 1e-9).sum()) :]:
        assert abs(inside @ tau[prescribed]) < 1e-9


def test_prescribed_accelerations_that_open_a_loop_are_refused():
    """Two joints of a four-bar whose accelerations contradict each other."""
    model, q, v, a = crank_motion(1.0, 2.0, 3.0)
    with pytest.raises(kt.errors.SingularityError, match="given accelerations, which have to keep it closed"):
        kt.hybrid_dynamics(model, q, v, np.zeros(3), a + [0.0, 0.0, 1e-3], forward=["crank"])
