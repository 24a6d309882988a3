"""The complete dynamics: passive joint forces and couplings on top of the tree."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Prismatic, Revolute
from tests.identities.systems import close, state


def chain(n=4, seed=0, **options):
    """A GU(n) chain with springs, damping and armature, but no dry friction."""
    rng = np.random.default_rng(seed)
    return kt.models.chain_gu(n, seed=seed).replace(
        damping=rng.uniform(0.1, 1.0, n),
        stiffness=rng.uniform(1.0, 9.0, n),
        spring_reference=rng.uniform(-1.0, 1.0, n),
        armature=rng.uniform(0.01, 0.1, n),
        **options,
    )


def test_forward_after_inverse_is_the_identity():
    """forward_dynamics(q, v, inverse_dynamics(q, v, a)) = a with springs, damping, friction and armature."""
    model = chain(dry_friction=[0.3, 0.2, 0.1, 0.4])
    q, v, a, _ = state(model, 1)
    tau = kt.inverse_dynamics(model, q, v, a)
    close(kt.forward_dynamics(model, q, v, tau), a, scale=np.linalg.cond(kt.crba(model, q)))


def test_passive_forces_are_their_laws():
    """-k (q - q_ref) - d v - tau_c sign(v), above the rounding speed."""
    model = chain(dry_friction=[0.3, 0.2, 0.1, 0.4])
    q, v, *_ = state(model, 2)
    expected = -model.stiffness * (q - model.spring_reference) - model.damping * v - model.dry_friction * np.sign(v)
    close(kt.dynamics.passive_joint_forces(model, q, v), expected)


def test_dry_friction_is_rounded_off_at_rest():
    """Below v_s = 1e-3 the dry friction is -tau_c v / v_s: zero at rest, continuous."""
    model = kt.models.pendulum().replace(dry_friction=[2.0])
    assert kt.dynamics.passive_joint_forces(model, [0.0], [0.0]) == 0.0
    close(kt.dynamics.passive_joint_forces(model, [0.0], [5e-4]), [-1.0])
    close(kt.dynamics.passive_joint_forces(model, [0.0], [1e-3]), [-2.0])


def test_elastic_energy_has_the_spring_forces_as_its_gradient():
    """d(elastic energy)/dt = -(spring force) . v."""
    model = chain()
    q, v, *_ = state(model, 3)
    h = 1e-5
    rate = (kt.dynamics.elastic_energy(model, q + h * v) - kt.dynamics.elastic_energy(model, q - h * v)) / (2 * h)
    force = -model.stiffness * (q - model.spring_reference)
    assert rate == pytest.approx(-force @ v, rel=1e-8)


def test_soft_stop_pushes_back_beyond_the_limit_only():
    """The stop's force is -k_l e - d_l v beyond a limit by e, zero inside; its energy is k_l e^2 / 2."""
    model = kt.models.pendulum().replace(lower=[-1.0], upper=[1.0], limit_stiffness=[50.0], limit_damping=[3.0])
    close(kt.dynamics.passive_joint_forces(model, [0.9], [1.0]), [0.0])
    close(kt.dynamics.passive_joint_forces(model, [1.2], [0.5]), [-50.0 * 0.2 - 3.0 * 0.5])
    close(kt.dynamics.passive_joint_forces(model, [-1.1], [-0.5]), [50.0 * 0.1 + 3.0 * 0.5])
    close(kt.dynamics.elastic_energy(model, [1.2]), 25.0 * 0.2**2)


def test_a_limit_without_a_stop_is_an_error_beyond_it():
    """The complete dynamics do not leave the stop's unknown force out in silence."""
    model = kt.models.pendulum().replace(lower=[-1.0], upper=[1.0])
    kt.forward_dynamics(model, [0.9], [0.0], [0.0])
    with pytest.raises(kt.errors.LimitError, match=r"outside its limits \[-1, 1\]"):
        kt.forward_dynamics(model, [1.5], [0.0], [0.0])
    kt.forward_dynamics(model.without_limits(), [1.5], [0.0], [0.0])


def test_semi_implicit_acceleration_takes_damping_at_the_end_of_the_step():
    """(M + h D + h^2 K) a = tau - c - K (q - q_ref) - (D + h K) v."""
    model, h = chain(), 0.02
    q, v, _, tau = state(model, 4)
    M, c = kt.crba(model, q), kt.bias_forces(model, q, v)
    D, K = np.diag(model.damping), np.diag(model.stiffness)
    right = tau - c - K @ (q - model.spring_reference) - (D + h * K) @ v
    expected = np.linalg.solve(M + h * D + h * h * K, right)
    close(kt.dynamics.semi_implicit_acceleration(model, q, v, tau, h), expected, scale=np.linalg.cond(M))


def test_semi_implicit_friction_stops_but_never_reverses():
    """A sliding mass under strong dry friction comes to rest within a step and stays on its side."""
    b = kt.ModelBuilder("slider")
    b.add_body("mass", joint=Prismatic((1.0, 0.0, 0.0)), mass=2.0, inertia=np.eye(3), dry_friction=100.0)
    model = b.build()
    h, v = 0.1, 0.5
    v_next = v + h * float(kt.dynamics.semi_implicit_acceleration(model, [0.0], [v], [0.0], h)[0])
    assert 0.0 <= v_next < v


def coupled():
    """A two-finger gripper on an arm: the second finger follows the first, and an elbow follows the shoulder by -2."""
    b = kt.ModelBuilder("coupled")
    inertia = np.diag([0.02, 0.03, 0.04])
    b.add_body("upper", joint=Revolute((0, 1, 0)), joint_name="shoulder", mass=2.0, com=(0.1, 0, 0.2), inertia=inertia)
    b.add_body(
        "lower",
        parent="upper",
        joint=Revolute((0, 1, 0)),
        joint_name="elbow",
        placement=((0, 0, 0.5), (0.1, 0.2, 0.3)),
        mass=1.5,
        com=(0, 0.1, 0.2),
        inertia=inertia,
        damping=0.2,
    )
    for name, side in (("left", 1.0), ("right", -1.0)):
        b.add_body(
            name,
            parent="lower",
            joint=Prismatic((0, side, 0)),
            joint_name=name,
            placement=((0, 0, 0.4), (0, 0, 0)),
            mass=0.2,
            inertia=0.01 * inertia,
        )
    b.add_coupling("elbow", "shoulder", ratio=-2.0, offset=0.3)
    b.add_coupling("right", "left", ratio=1.0)
    return b.build()


def test_coupled_forward_dynamics_solve_the_projected_equations():
    """G^T M G ydd = G^T (tau - c), by explicit matrices."""
    model = coupled()
    q, v, _, tau = state(model, 5)
    q, v = kt.kinematics.apply_couplings(model, q, v)
    k = {name: model.v_index(name).start for name in ("shoulder", "elbow", "left", "right")}
    G = np.zeros((4, 2))
    G[k["shoulder"], 0], G[k["elbow"], 0] = 1.0, -2.0
    G[k["left"], 1] = G[k["right"], 1] = 1.0
    passive = kt.dynamics.passive_joint_forces(model, q, v)
    M, c = kt.crba(model, q), kt.bias_forces(model, q, v)
    expected = G @ np.linalg.solve(G.T @ M @ G, G.T @ (tau + passive - c))
    close(kt.forward_dynamics(model, q, v, tau), expected, scale=np.linalg.cond(M))


def test_coupled_inverse_dynamics_puts_the_force_at_the_masters():
    """forward(inverse(a)) = a for coupled accelerations, with no force at the coupled joints."""
    model = coupled()
    q, v, a, _ = state(model, 6)
    q, v = kt.kinematics.apply_couplings(model, q, v)
    _, a = kt.kinematics.apply_couplings(model, q, a)
    tau = kt.inverse_dynamics(model, q, v, a)
    for name in ("elbow", "right"):
        assert tau[model.v_index(name).start] == 0.0
    close(kt.forward_dynamics(model, q, v, tau), a, scale=1e3)


def test_a_state_that_breaks_a_coupling_is_an_error():
    """The message names both joints, the law and the residual."""
    model = coupled()
    q, v = kt.kinematics.apply_couplings(model, model.neutral(), np.zeros(4))
    q[model.q_index("elbow").start] += 0.1
    with pytest.raises(kt.errors.CouplingError, match=r"elbow = -2 shoulder \+ 0.3 by 0.1"):
        kt.forward_dynamics(model, q, v, np.zeros(4))
