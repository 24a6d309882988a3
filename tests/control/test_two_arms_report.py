"""Unseren's equations of the parts: forces at the grasps, bodies of the object, and the step between his two choices.

The library adds the bodies to the links that hold them; here they are bodies of their own, by Newton and Euler.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt

HELD = (
    ((0.01, -0.02, 0.1), (0.0, 0.02, 0.25), 2.0, np.diag([0.02, 0.022, 0.005])),
    ((0.0, 0.03, 0.12), (0.01, 0.0, 0.3), 1.5, np.diag([0.02, 0.015, 0.006])),
)


@functools.cache
def arm():
    return kt.models.puma_like()


@functools.cache
def two_arms(choice: str = "center_of_mass"):
    grasp = arm().frames[arm().nb - 1].name
    first, second = (kt.control.Held(grasp, m, com, ball, I) for com, ball, m, I in HELD)
    model = kt.control.TwoArms.hold(arm(), arm(), first, second, placement=((0.9, 0, 0), (0, 0, np.pi)))
    return kt.control.TwoArms(model, choice, q=np.resize([0.2, -1.2, 1.4, 0.5, 0.7, 0.3], 12))


def state(seed: int):
    """A closed position, velocities that keep it so, and torques."""
    arms, rng = two_arms(), np.random.default_rng(seed)
    q = kt.assemble(arms.model, np.resize([0.2, -1.2, 1.4, 0.5, 0.7, 0.3], 12) + 0.1 * rng.standard_normal(12))
    return q, arms.velocity(q, rng.standard_normal(9)), 20.0 * rng.standard_normal(12)


def cross(r) -> np.ndarray:
    """``r x``."""
    return np.cross(np.eye(3), r)


@pytest.mark.parametrize("seed", range(3))
def test_forces_at_the_grasps(seed):
    """U02, U03 (eq. 3, 5-12): the wrench that balances each body, L_m and L_s, is that which loads the bare arm."""
    arms = two_arms()
    model, (q, v, tau) = arms.model, state(seed)
    a = kt.forward_dynamics(model, q, v, tau)
    ball_force, gravity = arms.contact_force(q, v, tau), np.array(model.gravity, float)
    for n, (slot, sign, front) in enumerate(((slice(0, 6), -1.0, ""), (slice(6, 12), 1.0, "second_"))):
        com, ball, mass, inertia = HELD[n]
        frame = {"frame": f"object_{n + 1}.center", "reference": "local_world_aligned"}
        R = kt.pose(model, q, frame=frame["frame"]).R_WF
        W = kt.velocity(model, q, v, **frame)[:3]
        A = kt.acceleration(model, q, v, a, kind="classical", **frame)
        I = R @ inertia @ R.T
        balance = np.concatenate([mass * (A[3:] - gravity), I @ A[:3] + np.cross(W, I @ W)])  # force, moment
        zero, one = np.zeros((3, 3)), np.eye(3)
        L_m = np.block([[one, zero], [cross(R @ (0.0 - np.array(com))), one]])  # from the grasp to the center of mass
        L_s = np.vstack([one, cross(R @ (np.array(ball) - com))])
        assert np.linalg.det(L_m) == pytest.approx(1.0)
        force, moment = np.split(np.linalg.solve(L_m, balance - sign * L_s @ ball_force), 2)
        J = kt.jacobian(model, q, frame=front + arm().frames[arm().nb - 1].name, reference="local_world_aligned")
        alone = arm() if n == 0 else arm().replace(gravity=np.diag([-1.0, -1.0, 1.0]) @ gravity)
        load = J[:3, slot].T @ moment + J[3:, slot].T @ force
        assert kt.rnea(alone, q[slot], v[slot], a[slot]) + load == pytest.approx(tau[slot], abs=1e-8)


def test_the_mass_matrix_has_a_block_for_each_arm():
    """U05, eq. 24: no inertia couples the arms; both blocks are positive definite."""
    q, v, _ = state(4)
    D = two_arms().terms(q, v).D
    assert not D[:6, 6:].any() and not D[6:, :6].any() and np.linalg.eigvalsh(D).min() > 0.0


@pytest.mark.parametrize("seed", range(3))
def test_both_choices_differ_by_a_matrix_of_determinant_one(seed):
    """U09, C.11-C.18: the velocity of the ball instead of the center of mass; the same motion and accelerations."""
    q, v, tau = state(seed)
    center, ball = two_arms(), two_arms("ball_joint")
    x, y = center.terms(q, v), ball.terms(q, v)
    turn = y.B @ x.Sigma
    assert np.linalg.det(turn) == pytest.approx(1.0, rel=1e-9)
    arm_of = (
        kt.pose(center.model, q, frame="object_1.ball").p_WF - kt.pose(center.model, q, frame="object_1.center").p_WF
    )
    expected = np.eye(9)
    expected[3:6, 6:] = -cross(arm_of)
    assert turn == pytest.approx(expected, abs=1e-10)
    assert x.Sigma == pytest.approx(y.Sigma @ turn, abs=1e-9 * np.abs(x.Sigma).max())
    a = [arms.terms(q, v).Sigma @ arms.pseudoacceleration(q, arms.pseudovelocity(q, v), tau)
         - z.Pi @ z.A_rate - z.Sigma @ z.B_rate for arms, z in ((center, x), (ball, y))]  # fmt: skip
    assert a[0] == pytest.approx(a[1], abs=1e-8 * np.abs(a[0]).max())
