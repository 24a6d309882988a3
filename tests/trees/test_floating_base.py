"""Floating bases in their own form give what the free joint gives, and what only they give obeys its laws."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.floating_base import (
    floating_base_coefficients,
    floating_base_forward_dynamics,
    floating_base_inverse_dynamics,
    floating_base_reduced_coefficients,
)
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.sparse import ltdl_factors, solve_ltdl
from kinetree.joints import Free, Planar, Prismatic, Reversed, Revolute
from kinetree.model.planar import PlanarModel
from kinetree.model.topology import ancestors_of
from tests.identities.systems import close, state

ROBOT = kt.load("quadruped", floating_base=True)


@pytest.fixture(autouse=True)
def interpreted_source():
    """Each of these trees is used once; that compiled functions give the same is tested in tests/compile."""
    with kt.interpreted():
        yield


def system(seed: int, armature: bool | None = None):
    """A floating tree with joints of every kind, a state, and external wrenches."""
    armature = seed % 2 == 0 if armature is None else armature
    model = kt.models.random_tree(5 + seed % 5, seed=seed, floating=True, armature=armature)
    return model, *state(model, seed), np.random.default_rng(seed).standard_normal((model.nb, 6))


def blocks(M):
    """I_0^c, F and H of a mass matrix."""
    return M[:6, :6], M[:6, 6:], M[6:, 6:]


def condition(model, q):
    return np.linalg.cond(kt.crba(model, q))


# Equal to the free joint ----------------------------------------------------------------------------------------------


@pytest.mark.seeds(20)
def test_forward_dynamics(seed):
    """Table 9.4 is aba with no force in the free joint."""
    model, q, v, _, tau, f_ext = system(seed)
    a_base, a_joints = kt.floating_base.forward_dynamics(model, q, v, tau[6:], f_ext)
    tau[:6] = 0.0
    expected = kt.aba(model, q, v, tau, f_ext)
    close(np.r_[a_base, a_joints], expected, scale=condition(model, q))


@pytest.mark.seeds(20)
def test_inverse_dynamics(seed):
    """Table 9.6: rnea of the answer needs no force in the free joint, and the joint forces found."""
    model, q, v, a, _, f_ext = system(seed)
    a_base, tau_joints = kt.floating_base.inverse_dynamics(model, q, v, a[6:], f_ext)
    expected = kt.rnea(model, q, v, np.r_[a_base, a[6:]], f_ext)
    close(np.r_[np.zeros(6), tau_joints], expected, scale=condition(model, q))


@pytest.mark.seeds(20)
def test_inverse_dynamics_is_hybrid_dynamics(seed):
    """With the free joint alone in forward, on all three methods."""
    model, q, v, a, _, f_ext = system(seed)
    a_base, tau_joints = kt.floating_base.inverse_dynamics(model, q, v, a[6:], f_ext)
    for method in (kt.dynamics.hybrid_aba, kt.dynamics.hybrid_crba, kt.textbook.hybrid_recursive):
        result = method(model, q, v, np.zeros(model.nv), a, f_ext, forward=[model.joint_names[0]])
        close(result.a_all[:6], a_base, scale=condition(model, q))
        close(result.tau_all[6:], tau_joints, scale=condition(model, q))


@pytest.mark.seeds(20)
def test_forward_after_inverse_is_the_identity(seed):
    """FD(ID) = id, the acceleration of the base included."""
    model, q, v, a, _, f_ext = system(seed)
    a_base, tau_joints = kt.floating_base.inverse_dynamics(model, q, v, a[6:], f_ext)
    again = kt.floating_base.forward_dynamics(model, q, v, tau_joints, f_ext)
    scale = condition(model, q)
    close(again.a_base, a_base, scale=scale)
    close(again.a_joints, a[6:], scale=scale)


@pytest.mark.seeds(20)
def test_coefficients(seed):
    """Eq. 9.13: the blocks of crba and bias_forces; solved by the sparse factors of the whole matrix."""
    model, q, v, _, tau, f_ext = system(seed)
    eq = kt.floating_base.coefficients(model, q, v, f_ext)
    M, c = kt.crba(model, q), kt.bias_forces(model, q, v, f_ext)
    for found, expected in zip((eq.I0c, eq.F, eq.H), blocks(M), strict=True):
        close(found, expected)
    close(np.r_[eq.p0c, eq.C], c)
    above = ancestors_of(model.dof_parent())
    whole = np.block([[eq.I0c, eq.F], [eq.F.T, eq.H]])
    force = np.r_[-eq.p0c, tau[6:] - eq.C]
    a = solve_ltdl(*ltdl_factors(whole.tolist(), above), force.tolist(), above)
    a_base, a_joints = kt.floating_base.forward_dynamics(model, q, v, tau[6:], f_ext)
    close(a, np.r_[a_base, a_joints], scale=condition(model, q))


@pytest.mark.seeds(20)
def test_reduced_coefficients(seed):
    """Eq. 9.14-9.16: symmetric, positive definite, the same accelerations; H_fl^-1 is the joints' block of M^-1."""
    model, q, v, _, tau, f_ext = system(seed)
    H_fl, C_fl = kt.floating_base.reduced_coefficients(model, q, v, f_ext)
    _, a_joints = kt.floating_base.forward_dynamics(model, q, v, tau[6:], f_ext)
    scale = condition(model, q)
    np.testing.assert_array_equal(H_fl, H_fl.T)
    assert np.all(np.linalg.eigvalsh(H_fl) > 0.0)
    close(np.linalg.solve(H_fl, tau[6:] - C_fl), a_joints, scale=scale)
    close(np.linalg.inv(H_fl), np.linalg.inv(kt.crba(model, q))[6:, 6:], scale=scale)


@pytest.mark.seeds(8)
@pytest.mark.parametrize("reference", ["local", "world", "local_world_aligned"])
def test_jacobian(seed, reference):
    """Example 9.4 in the coordinates of the reference: J_joints - J_base I0c^-1 F, for each body and the world."""
    model, q, *_ = system(seed)
    I0c, F, _ = blocks(kt.crba(model, q))
    for frame in model.body_names:
        J = kt.jacobian(model, q, frame=frame, reference=reference)
        found = kt.floating_base.jacobian(model, q, frame=frame, reference=reference)
        close(found, J[:, 6:] - J[:, :6] @ np.linalg.solve(I0c, F), scale=np.linalg.cond(I0c))


# Laws of floating bases -----------------------------------------------------------------------------------------------


@pytest.mark.seeds(20)
def test_joints_do_not_feel_gravity(seed):
    """The same bits of a_joints, tau_joints and C_fl whatever gravity is; the base falls with it."""
    model, q, v, a, tau, f_ext = system(seed, armature=False)
    other = model.replace(gravity=(1.3, -2.4, 7.1))
    R_WB, _ = kt.forward_kinematics(model, q)
    fall = np.r_[np.zeros(3), R_WB[1].T @ (np.array([1.3, -2.4, 7.1]) - list(model.gravity))]
    for call, given in ((kt.floating_base.forward_dynamics, tau[6:]), (kt.floating_base.inverse_dynamics, a[6:])):
        here, there = call(model, q, v, given, f_ext), call(other, q, v, given, f_ext)
        np.testing.assert_array_equal(here[1], there[1])
        close(there.a_base - here.a_base, fall, scale=np.abs(here.a_base).max())
    one, two = (kt.floating_base.reduced_coefficients(m, q, v, f_ext).C_fl for m in (model, other))
    np.testing.assert_array_equal(one, two)


@pytest.mark.seeds(20)
def test_momentum_of_the_tree(seed):
    """Example 9.3: the sum of all I_i v_i is I0c v_0 + F qd, about the origin of the base and in its axes."""
    model, q, v, *_ = system(seed, armature=False)
    eq = kt.floating_base.coefficients(model, q, v)
    R_WB, p_WB = kt.forward_kinematics(model, q)
    h = kt.momentum(model, q, v)
    moment = h[:3] - np.cross(p_WB[1], h[3:])
    close(eq.I0c @ v[:6] + eq.F @ v[6:], np.r_[R_WB[1].T @ moment, R_WB[1].T @ h[3:]])


@pytest.mark.seeds(20)
def test_kinetic_energy(seed):
    """Half the quadratic form of the whole matrix in the base's twist and the joints' velocities."""
    model, q, v, *_ = system(seed)
    eq = kt.floating_base.coefficients(model, q, v)
    twice = v[:6] @ eq.I0c @ v[:6] + 2.0 * v[:6] @ eq.F @ v[6:] + v[6:] @ eq.H @ v[6:]
    close(0.5 * twice, kt.kinetic_energy(model, q, v))


@pytest.mark.seeds(20)
def test_momentum_changes_by_the_external_wrench_alone(seed):
    """Without gravity and wrenches the spatial momentum stays, whatever the joints do: d(I0c v_0 + F qd)/dt = 0."""
    model, q, v, _, tau, _ = system(seed, armature=False)
    model = model.replace(gravity=(0.0, 0.0, 0.0))
    a = np.concatenate(kt.floating_base.forward_dynamics(model, q, v, tau[6:]))
    h = 1e-3 / max(10.0, np.abs(v).max(), np.sqrt(np.abs(a).max()))  # a thousandth of the time in which q changes

    def momentum(t):
        return kt.momentum(model, kt.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a)

    rate = (momentum(h) - momentum(-h)) / (2.0 * h)
    rate = (4.0 * (momentum(h / 2) - momentum(-h / 2)) / h - rate) / 3.0  # errors h^4 and eps / h
    size = max(1.0, np.abs(kt.momentum(model, q, v)).max(), np.abs(kt.crba(model, q) @ a).max())
    assert np.abs(rate).max() < 1e-8 * size


@pytest.mark.seeds(12)
def test_impulses_within_the_robot(seed):
    """Example 9.4: joint impulses change the twist of every frame by J_fl dqd."""
    model, q, *_, impulse, _ = system(seed)
    impulse[:6] = 0.0
    dv = np.linalg.solve(kt.crba(model, q), impulse)
    for frame in model.body_names[1:]:
        twist = kt.jacobian(model, q, frame=frame, reference="local") @ dv
        J_fl = kt.floating_base.jacobian(model, q, frame=frame, reference="local")
        close(J_fl @ dv[6:], twist, scale=condition(model, q) * np.abs(dv).max())


@pytest.mark.seeds(12)
def test_motion_without_momentum(seed):
    """From rest the base recoils so that I0c v_0 = -F qd; then J_fl qd is the twist of every frame."""
    model, q, v, *_ = system(seed, armature=False)
    eq = kt.floating_base.coefficients(model, q, v)
    v[:6] = -np.linalg.solve(eq.I0c, eq.F @ v[6:])
    scale = np.linalg.cond(eq.I0c)
    close(kt.momentum(model, q, v), np.zeros(6), scale=scale)
    for frame in model.body_names[1:]:
        twist = kt.velocity(model, q, v, frame=frame, reference="world")
        close(kt.floating_base.jacobian(model, q, frame=frame, reference="world") @ v[6:], twist, scale=scale)


# What floats ----------------------------------------------------------------------------------------------------------


def test_what_counts_as_a_floating_base():
    """A joint whose velocity is the twist in body coordinates, under all other bodies."""
    ball = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}

    def base(joint, *more):
        b = kt.ModelBuilder("base")
        b.add_body("base", "world", joint, **ball)
        for k, (parent, child) in enumerate(more):
            b.add_body(f"body{k}", parent, child, **ball)
        return b.build().nv_base

    assert base(Free()) == base(Free(), ("base", Revolute())) == 6
    assert base(Free(), ("world", Revolute())) == 0  # the world carries another body
    assert base(Reversed(Free())) == base(Revolute()) == base(Planar()) == 0
    assert ROBOT.nv_joints == 12 and kt.models.pendulum().nv_joints == 1


def test_a_fixed_base_has_no_freedoms():
    """The same calls on a robot that does not float: empty blocks, and the plain algorithms."""
    model = kt.models.chain_gu(4)
    q, v, a, tau = state(model, 1)
    eq = kt.floating_base.coefficients(model, q, v)
    assert eq.I0c.shape == (0, 0) and eq.F.shape == (0, 4) and eq.p0c.shape == (0,)
    np.testing.assert_array_equal(eq.H, kt.crba(model, q))
    close(eq.C, kt.bias_forces(model, q, v))
    close(kt.floating_base.forward_dynamics(model, q, v, tau).a_joints, kt.aba(model, q, v, tau))
    close(kt.floating_base.inverse_dynamics(model, q, v, a).tau_joints, kt.rnea(model, q, v, a))
    J = kt.jacobian(model, q, frame="body4", reference="local")
    close(kt.floating_base.jacobian(model, q, frame="body4", reference="local"), J)


def test_a_planar_base():
    """Three freedoms on the planar algebra; the planar joint of the spatial model gives the same."""
    b = kt.ModelBuilder("planar robot")
    b.gravity = (0.0, -9.81, 0.0)
    for k, joint in enumerate((Planar(), Revolute((0, 0, 1)), Prismatic((0.6, 0.8, 0)), Revolute((0, 0, 1)))):
        b.add_body(
            f"body{k}", f"body{k // 2 if k > 1 else 0}" if k else "world", joint,
            placement=((0.3, 0.2 * k, 0.0), (0.0, 0.0, 0.4)), mass=1.0 + k, com=(0.1, 0.2, 0.0),
            inertia=(0.1, 0.1, 0.2),
        )  # fmt: skip
    model = b.build()
    tree = PlanarModel(model)
    assert tree.nv_base == 3 and model.nv_base == 0
    q, v, a, tau = (x.tolist() for x in state(model, 2))
    a_base, a_joints = floating_base_forward_dynamics(tree, q, v, tau[3:])
    expected = kt.aba(model, q, v, [0.0, 0.0, 0.0, *tau[3:]])
    close(a_base + a_joints, expected)
    a_base, tau_joints = floating_base_inverse_dynamics(tree, q, v, a[3:])
    close(rnea(model, q, v, a_base + a[3:]), [0.0, 0.0, 0.0, *tau_joints])
    M = kt.crba(model, q)
    I0c, F, H, p0c, C = floating_base_coefficients(tree, q, v)
    close(np.block([[np.array(I0c), np.array(F)], [np.array(F).T, np.array(H)]]), M)
    close(p0c + C, kt.bias_forces(model, q, v))
    H_fl, C_fl = floating_base_reduced_coefficients(tree, q, v)
    close(np.linalg.solve(H_fl, np.subtract(tau[3:], C_fl)), a_joints)


# Cost -----------------------------------------------------------------------------------------------------------------


def test_the_special_form_costs_less():
    """Than aba, than hybrid dynamics in general; the coefficients cost what crba and bias_forces do together."""

    def total(name, **static):
        return kt.compile(ROBOT, name, **static).operations.total

    assert total("floating_base_forward_dynamics") < total("aba")
    assert total("floating_base_inverse_dynamics") < total("hybrid_aba", forward=(1,))
    assert total("floating_base_coefficients") <= total(["crba", "bias_forces"])
