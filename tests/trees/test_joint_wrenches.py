"""The wrenches that joints transmit: projections are joint forces, and other methods lead to the rest.

Inventory C05.04, C03.17; Featherstone (2008), f_i of table 5.1 and eq. 3.34.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial.dense import rot, xlt
from tests.engines.pinocchio_bridge import _SWAP, Bridge, pinocchio_model
from tests.engines.robots import robot_path
from tests.identities.systems import close, state
from tests.trees.geared import geared_tree
from tests.trees.maximal import Bodies
from tests.trees.test_time import tree


def case(seed: int, **options):
    model = kt.models.random_tree(5 + seed % 4, seed=900 + seed, floating=seed % 3 == 0, **options)
    q, v, a, tau = state(model, seed)
    return model, q, v, a, tau, np.random.default_rng(seed).standard_normal((model.nb, 6))


@pytest.mark.seeds(12)
def test_part_along_the_joint_is_the_joint_force(seed):
    """S^T F = tau - armature a, for joints of every kind, with external wrenches."""
    model, q, v, a, _, f_ext = case(seed)
    with kt.interpreted():
        F, tau = kt.dynamics.joint_wrenches(model, q, v, a, f_ext, reference="local"), kt.rnea(model, q, v, a, f_ext)
    assert not F[0].any()
    for i in model.outward():
        S = model.joints[i].motion_subspace(list(q[model.q_slice[i]]))
        k = model.v_slice[i]
        close([np.dot(s.array(), F[i]) for s in S], tau[k] - np.array(model.armature)[k] * a[k], scale=np.abs(F).max())


@pytest.mark.seeds(12)
def test_constraint_forces_of_maximal_coordinates(seed):
    """T_a tau + T lambda of eq. 3.74, by the system of all bodies and joints, at the accelerations of aba."""
    model, q, v, _, tau, f_ext = case(seed, armature=False)
    bodies = Bodies(model, q, v, f_ext)
    with kt.interpreted():
        a = kt.aba(model, q, v, tau, f_ext)
        F = kt.dynamics.joint_wrenches(model, q, v, a, f_ext, reference="world")
    values = np.linalg.svd(bodies.system(tau)[0], compute_uv=False)
    close(F[1:], bodies.solve(tau).f_J, scale=values[0] / values[-1], ulps=1e3)


@pytest.mark.seeds(6)
def test_references_are_coordinates_of_one_wrench(seed):
    """Local and world-aligned ones are the world's, moved by the force transform and turned."""
    model, q, v, a, _, f_ext = case(seed)
    with kt.interpreted():
        world, aligned, local = (
            kt.dynamics.joint_wrenches(model, q, v, a, f_ext, reference=r)
            for r in ("world", "local_world_aligned", "local")
        )
        R, p = kt.forward_kinematics(model, q)
    for i in range(model.nb):
        moved = np.linalg.inv(xlt(p[i])).T @ world[i]
        close(aligned[i], moved, scale=np.abs(world).max())
        close(local[i], rot(R[i].T) @ moved, scale=np.abs(world).max())


@pytest.mark.seeds(4)
def test_what_stands_on_the_world_is_carried_by_it(seed):
    """The sum over the roots is the rate of momentum less weight and external wrenches."""
    model, q, v, a, _, f_ext = case(seed)
    with kt.interpreted():
        F = kt.dynamics.joint_wrenches(model, q, v, a, f_ext, reference="world")
        h, moved = 2e-4, []
        for s in (-2, -1, 1, 2):
            there = kt.integrate(model, q, s * h * v + 0.5 * (s * h) ** 2 * a)
            moved.append(kt.momentum(model, there, v + s * h * a))
        p = kt.center_of_mass(model, q)
    rate = (moved[0] - 8.0 * moved[1] + 8.0 * moved[2] - moved[3]) / (12.0 * h)
    weight = model.total_mass * np.array(list(model.gravity))
    found = F[list(model.children(0))].sum(axis=0) + np.r_[np.cross(p, weight), weight] + f_ext[1:].sum(axis=0)
    np.testing.assert_allclose(found, rate, atol=1e-8 * np.abs(F).max())


@pytest.mark.parametrize("floating", [False, True])
def test_joint_forces_of_pinocchio(floating):
    """data.f of pinocchio.rnea, in the frames of its joints."""
    file = robot_path("anymal_b" if floating else "ur5")
    model = kt.load(file, floating_base=floating, inertia="accept")
    bridge = Bridge(model, pinocchio_model(file, floating))
    q, v, a, _ = bridge.random_state(np.random.default_rng(3))
    F = kt.dynamics.joint_wrenches(model, q, v, a, reference="local")
    bridge.rnea(q, v, a)
    for i in model.outward():
        name = model.joint_name(i)
        j = bridge.pin_model.getJointId(name) if bridge.pin_model.existJointName(name) else 1
        close(F[i], bridge.data.f[j].vector[_SWAP], scale=np.abs(F).max())


@pytest.mark.seeds(4)
def test_rotors_are_parts_of_their_stators(seed):
    """What the bodies' joints carry is the same when the rotors are bodies of their own."""
    model = geared_tree(6, seed)
    explicit = kt.surgery.expand_gears(model)
    q, v, a, _ = state(model, seed)
    more = explicit.nv - model.nv
    with kt.interpreted():
        q_all, v_all = kt.kinematics.apply_couplings(explicit, np.r_[q, np.zeros(more)], np.r_[v, np.zeros(more)])
        _, a_all = kt.kinematics.apply_couplings(explicit, np.r_[q, np.zeros(more)], np.r_[a, np.zeros(more)])
        F = kt.dynamics.joint_wrenches(model, q, v, a, reference="world")
        every = kt.dynamics.joint_wrenches(explicit, q_all, v_all, a_all, reference="world")
    for i in model.outward():
        close(F[i], every[explicit.body(model.body_names[i])], scale=np.abs(every).max())


def test_compiled_on_a_batch():
    """A robot with a free base: machine code gives what the source gives, state by state."""
    model, rng = kt.load("quadruped", floating_base=True), np.random.default_rng(0)
    q, v = np.array([model.random_q(rng) for _ in range(3)]), rng.standard_normal((3, model.nv))
    found = kt.dynamics.joint_wrenches(model, q, v, v, reference="local_world_aligned")
    with kt.interpreted():
        for k in range(3):
            close(
                found[k],
                kt.dynamics.joint_wrenches(model, q[k], v[k], v[k], reference="local_world_aligned"),
                scale=100.0,
            )


def test_power_of_prescribed_motions():
    """F . sigma of all joints is what `prescribed_power` says, on a tree whose joints move by themselves."""
    model, t = tree(0), 0.83
    rng = np.random.default_rng(0)
    q, (v, a) = model.random_q(rng), rng.standard_normal((2, model.nv))
    with kt.interpreted():
        F = kt.dynamics.joint_wrenches(model, q, v, a, t, reference="local")
        power = kt.dynamics.prescribed_power(model, q, v, a, t)
    now = model.at(t)
    driven = [i for i in model.outward() if now.joints[i].rheonomic]
    sigma = [np.array(now.joints[i].sigma(list(q[model.q_slice[i]])).array(), dtype=float) for i in driven]
    assert driven
    close(sum(s @ F[i] for s, i in zip(sigma, driven, strict=True)), power, scale=np.abs(F).max())
