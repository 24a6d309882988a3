"""Derivatives of accelerations and multipliers with loops: the graph's, differences, Pinocchio's, and identities."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_jacobian
from kinetree.constraints import LoopJoint
from kinetree.errors import UnsupportedError
from kinetree.joints import Spherical
from tests.surgery.test_pinocchio import both, bridge

MECHANISMS = [("spatial", 1), ("planar", 3), ("spherical", 2)]
PAIRS = {"da": "da", "dlambda": "dmultipliers"}


def largest(x):
    """The size that errors are compared with."""
    return max(1.0, np.abs(x).max(initial=0.0))


@pytest.fixture(scope="module", params=MECHANISMS, ids=lambda each: each[0] + str(each[1]))
def mechanism(request):
    """A random mechanism with loops, its state, forces, and the derivatives there."""
    family, seed = request.param
    model, q, v = kt.models.random_loops(seed, bodies=5, loops=1, family=family)
    model = model.replace(damping=0.3)
    tau = np.random.default_rng(seed).standard_normal(model.nv)
    return model, q, v, tau, kt.dynamics.forward_dynamics_derivatives(model, q, v, tau)


def central(model, q, v, tau, x, direction, h=1e-5):
    """Differences of fourth order of accelerations and multipliers, off closed loops as well."""
    f = kt.compile(model, "forward_dynamics", multipliers=True, checks=False)

    def at(s):
        step = s * direction
        if x == "q":
            return np.concatenate(f(kt.integrate(model, q, step), v, tau))
        return np.concatenate(f(q, v + step * (x == "v"), tau + step * (x == "tau")))

    return (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)


@pytest.mark.parametrize("x", ["q", "v", "tau"])
def test_differences_agree(mechanism, x):
    """Along random directions, to 1e-8 of the largest entry: errors h^4 and eps / h."""
    model, q, v, tau, d = mechanism
    rng = np.random.default_rng(4)
    for _ in range(2):
        u = rng.standard_normal(model.nv)
        found = np.concatenate((getattr(d, f"da_d{x}") @ u, getattr(d, f"dlambda_d{x}") @ u))
        expected = central(model, q, v, tau, x, u)
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-8 * largest(expected))


def test_the_derivative_of_the_whole_graph_is_the_same():
    """`differentiate` goes through the factorization; both are exact."""
    model = kt.models.four_bar()
    q, v = model.keyframe("initial")
    v, tau = 2.0 * kt.closed_loops.null_space(model, q)[:, 0], np.array([1.0, -2.0, 0.5])
    d = kt.dynamics.forward_dynamics_derivatives(model, q, v, tau)
    f = kt.differentiate(model, "forward_dynamics", wrt=("q", "v", "tau"), multipliers=True)
    found = f(q, v, tau)
    for ours, theirs in PAIRS.items():
        for x in ("q", "v", "tau"):
            expected = getattr(found, f"{theirs}_d{x}")
            assert getattr(d, f"{ours}_d{x}") == pytest.approx(expected, abs=1e-12 * largest(expected))
    assert kt.compile(model, "forward_dynamics_derivatives").operations.total < 0.5 * f.operations.total


def test_forces_move_what_loops_allow(mechanism):
    """K da_dtau = 0; da_dtau is symmetric, of rank ny, and that of the reduced system; H da - K^T dlambda = 1."""
    model, q, _, _, d = mechanism
    G, K = kt.closed_loops.null_space(model, q), np.array(constraint_jacobian(model, q.tolist()))
    S = d.da_dtau
    assert np.abs(K @ S).max() < 1e-10 * largest(S) and np.abs(S - S.T).max() < 1e-12 * largest(S)
    reduced = G @ np.linalg.solve(kt.closed_loops.reduced_mass_matrix(model, q), G.T)
    assert S == pytest.approx(reduced, abs=1e-9 * largest(S))
    balance = kt.crba(model, q) @ S - K.T @ d.dlambda_dtau
    assert balance == pytest.approx(np.eye(model.nv), abs=1e-8 * largest(d.dlambda_dtau))


def test_trees_have_those_of_articulated_bodies_and_passive_forces():
    """Springs and dampers act like torques of actuators."""
    model = kt.models.puma_like().replace(damping=0.4, stiffness=2.0)
    q, v, tau = np.full(6, 0.3), np.ones(6), np.arange(6.0)
    d = kt.dynamics.forward_dynamics_derivatives(model, q, v, tau)
    bare = kt.aba_derivatives(model, q, v, tau + kt.dynamics.passive_joint_forces(model, q, v))
    assert d.da_dv == pytest.approx(bare.da_dv - 0.4 * bare.da_dtau, rel=1e-10)
    assert d.da_dq == pytest.approx(bare.da_dq - 2.0 * bare.da_dtau, rel=1e-10)
    assert d.dlambda_dq.shape == (0, 6)


def test_couplings_and_locks_have_their_multipliers():
    """Eliminated rows: derivatives of the rest of the equation of motion, beside a loop."""
    b = kt.ModelBuilder.of(kt.models.four_bar())
    b.add_body("flywheel", joint=kt.joints.Revolute(), joint_name="flywheel", mass=2.0, inertia=np.eye(3) * 0.3)
    model = b.build().with_constraints(kt.constraints.Coupling("flywheel", "crank", -2.0)).replace(damping=0.5)
    q = np.append(kt.models.four_bar().keyframe("initial")[0], 0.0)
    q[3] = -2.0 * q[0]
    v, tau = kt.closed_loops.null_space(model, q)[:, 0], np.array([1.0, 0.0, 2.0, 3.0])
    d = kt.dynamics.forward_dynamics_derivatives(model, q, v, tau)
    u = np.array([0.3, -0.2, 0.5, 0.7])
    for x in ("q", "v", "tau"):
        found = np.concatenate((getattr(d, f"da_d{x}") @ u, getattr(d, f"dlambda_d{x}") @ u))
        assert found == pytest.approx(central(model, q, v, tau, x, u), rel=1e-8, abs=1e-8)


def test_pinocchio_has_the_same_on_a_quadruped_with_pinned_feet():
    """computeConstraintDynamicsDerivatives, feet of two legs pinned by points; dv by differences of h^2."""
    pin = pytest.importorskip("pinocchio")
    model, pin_model = both("anymal_b")
    b, rng = bridge.Bridge(model, pin_model), np.random.default_rng(3)
    q, data, loops, held = model.random_q(rng), pin_model.createData(), [], []
    q[:3] = 0.0  # pinned feet: no derivative depends on where
    for foot in ("LF_FOOT", "RH_FOOT"):
        p = kt.pose(model, q, frame=foot).p_WF
        X = kt.spatial.Transform.shift(kt.spatial.Vector3(*p.tolist()))
        loops.append(LoopJoint(foot, Spherical(), "world", foot, X))
        frame = pin_model.frames[pin_model.getFrameId(foot)]
        held.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, pin_model, frame.parentJoint, frame.placement,
                                             pin.ReferenceFrame.LOCAL))  # fmt: skip
    closed = model.with_constraints(*loops).replace(damping=0.0, dry_friction=0.0).without_limits()
    v = kt.closed_loops.project_velocity(closed, q, rng.standard_normal(model.nv))
    tau = rng.standard_normal(model.nv)
    d = kt.dynamics.forward_dynamics_derivatives(closed, q, v, tau)
    held = pin.StdVec_RigidConstraintModel(held)
    found = pin.StdVec_RigidConstraintData([c.createData() for c in held])
    settings = pin.ProximalSettings(1e-14, 0.0, 10)
    pin.initConstraintDynamics(pin_model, data, held, found)
    pin.constraintDynamics(pin_model, data, b.q_to_pin(q), b.v_to_pin(v), b.tau_to_pin(tau), held, found, settings)
    pin.computeConstraintDynamicsDerivatives(pin_model, data, held, found, settings)
    # Theirs are classical accelerations of the feet, ours spatial ones: the same while the feet rest. So states change
    # as pinned feet allow: dv in the null space, or dq there with the dv that keeps the feet at rest.
    G, y = kt.closed_loops.null_space(closed, q), rng.standard_normal(closed.ny)

    def turned(h):
        K = np.array(constraint_jacobian(closed, kt.integrate(model, q, h * G @ y).tolist()), float)
        return K @ v / h

    K = np.array(constraint_jacobian(closed, q.tolist()), float)
    dv = -np.linalg.pinv(K) @ (turned(1e-5) + turned(-1e-5)) / 2.0
    for du, dw, dtau in ((0.0 * v, G @ y, 0.0 * v), (0.0 * v, 0.0 * v, tau), (G @ y, dv, 0.0 * v)):
        expected = b.a_from_pin(data.ddq_dq @ b.v_to_pin(du) + data.ddq_dv @ b.v_to_pin(dw)
                                + data.ddq_dtau @ b.tau_to_pin(dtau))  # fmt: skip
        found = d.da_dq @ du + d.da_dv @ dw + d.da_dtau @ dtau
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6 * largest(expected))


def test_bounded_forces_have_no_derivatives():
    """Friction that sticks is refused by name."""
    model = kt.models.cart_pole().replace(dry_friction=1.0).with_constraints(kt.constraints.StickingFriction())
    with pytest.raises(UnsupportedError, match="sticking friction.*no derivatives"):
        kt.dynamics.forward_dynamics_derivatives(model, np.zeros(2), np.zeros(2), np.zeros(2))
