"""Dynamics of random trees and mechanisms with loops under force elements of every kind."""

import numpy as np
import pytest

import kinetree as kt
from tests.forces.loaded import internal, joint_forces, loaded, tree
from tests.identities.systems import state


def agree(found, expected, relative=1e-9):
    """To 1e-9 of the largest entry."""
    np.testing.assert_allclose(found, expected, atol=relative * max(1.0, np.abs(expected).max(initial=0.0)))


@pytest.mark.seeds(30)
def test_forward_inverse_and_hybrid_dynamics_agree(seed):
    """ABA with the forces inside = the mass matrix solved with RNEA's forces and theirs; inverse and hybrid dynamics
    recover forces and accelerations.
    """
    model = tree(seed)
    q, v, _, tau = state(model, seed)
    given = internal(model, seed)
    with kt.interpreted():
        a = kt.forward_dynamics(model, q, v, tau, **given)
        forces = tau + joint_forces(model, q, v, **given)
        agree(a, np.linalg.solve(kt.crba(model, q), forces - kt.bias_forces(model, q, v)))
        agree(kt.aba(model, q, v, forces), a)
        agree(kt.inverse_dynamics(model, q, v, a, **given), tau)
        joints = [name for name in model.joint_names if model.joints[model.joint(name)].nv]
        forward = joints[: len(joints) // 2]
        known = np.concatenate([np.arange(model.nv)[model.v_slice[model.joint(name)]] for name in forward])
        mixed_a, mixed_tau = a.copy(), tau.copy()
        mixed_a[known], mixed_tau[np.setdiff1d(np.arange(model.nv), known)] = 0.0, 0.0
        found_a, found_tau = kt.hybrid_dynamics(model, q, v, mixed_tau, mixed_a, forward=forward, **given)
    agree(found_a, a, 1e-8)
    agree(found_tau, tau, 1e-8)


@pytest.mark.seeds(10)
def test_loops_and_elements_agree_with_maximal_coordinates(seed):
    """Accelerations of a random mechanism with two loops = those of its bodies in maximal coordinates."""
    bare, q, v = kt.models.random_loops(seed, bodies=6, loops=2)
    model = loaded(bare, seed)
    given, tau = internal(model, seed), np.random.default_rng(seed).normal(size=model.nv)
    with kt.interpreted():
        forces = tau + joint_forces(model, q, v, **given)
        found = kt.forward_dynamics(model, q, v, tau, **given)
    agree(found, kt.textbook.maximal_equation(bare, q, v, forces).solve().a, 1e-8)


@pytest.mark.parametrize("seed", [0, 2])
def test_simulations_are_rollouts_and_explain_their_energy(seed):
    """Under random forces of joints and elements, internal states and inputs among them, without gravity."""
    model = tree(seed).replace(gravity=(0.0, 0.0, 0.0), dry_friction=0.0, stiffness=0.0)
    q, v, *_ = state(model, seed)
    x, u = model.initial_state(), internal(model, seed).get("u", np.zeros(0))
    control = dict(zip(model.input_names, u.tolist(), strict=True))
    inputs = kt.Inputs(control=control) if control else None
    run = kt.simulate(model, q, 0.3 * v, duration=0.005, dt=2.5e-4, integrator="rk4", inputs=inputs)
    assert np.abs(run.energy_balance.remainder).max() < 1e-4 * run.energy_balance.scale
    more = {"x0": x} if len(x) else {}
    more |= {"control": np.tile(u, (20, 1))} if control else {}
    rolled = kt.rollout(model, q, 0.3 * v, np.zeros((20, model.nv)), 2.5e-4, integrator="rk4", **more)
    agree(rolled.q[-1], run.q[-1])
    agree(rolled.v[-1], run.v[-1])


def four_bar():
    """A four-bar in the plane with an elastic support, a spring, drag and damping; the elements by name."""
    forces = (
        kt.forces.PointSpring("spring", "world", "coupler", 30.0, 0.4, 2.0, (1.0, 1.5, 0.0), (0.3, 0.1, 0.0)),
        kt.forces.Bushing("support", "world", "rocker", (90.0, 60.0, 30.0), (3.0, 4.0, 5.0), 2.0, (0.1, 0.2, 0.3)),
        kt.forces.Drag("air", "coupler", 0.3, 0.2, (0.5, 0.0, 0.0)),
    )
    return kt.models.four_bar().with_forces(*forces)


def wrenches(model, q, v):
    """The forces of these elements on the bodies [moment; force], about the world's origin, from vectors by hand."""
    spring, support, air = model.elements
    found = np.zeros((model.nb, 6))

    def point(frame, at):
        R, p = kt.pose(model, q, frame=frame)
        V = kt.velocity(model, q, v, frame=frame, reference="local_world_aligned")
        r = R @ at
        return R, p + r, V[3:] + np.cross(V[:3], r), V[:3]

    def push(frame, p, f, moment=0.0):
        found[model.frame(frame).body] += np.concatenate((np.cross(p, f) + moment, f))

    _, p, v_p, _ = point("coupler", spring.end_at)
    line = p - spring.start_at
    length = np.linalg.norm(line)
    n = line / length
    push("coupler", p, -(30.0 * (length - 0.4) + 2.0 * n @ v_p) * n)
    R, p, v_p, w = point("rocker", (0.0, 0.0, 0.0))
    half = 6.0 - np.array(support.turning_stiffness)  # (3 + 4 + 5) / 2 - k
    moment = sum(half[c] * np.cross(R[:, c], np.eye(3)[c]) for c in range(3)) - np.array([0.1, 0.2, 0.3]) * w
    push("rocker", p, -np.array(support.stiffness) * p - 2.0 * v_p, moment)
    _, p, v_p, _ = point("coupler", air.at)
    push("coupler", p, -(0.3 + 0.2 * np.linalg.norm(v_p)) * v_p)
    return found


def test_elements_on_a_four_bar_are_wrenches_on_bodies_in_maximal_coordinates():
    """Forces by vector algebra on the bodies, loops by the sparse matrix of bodies and joints; energy is explained."""
    model = four_bar()
    bare = kt.models.four_bar()
    for angle in (0.4, 1.2, 2.9):
        q, v = kt.assemble(bare, {"crank": angle}, fixed="crank", v={"crank": 1.5})
        expected = kt.textbook.maximal_equation(bare, q, v, np.ones(3), wrenches(model, q, v)).solve().a
        agree(kt.forward_dynamics(model, q, v, np.ones(3)), expected)
    run = kt.simulate(model, q, v, duration=0.5, dt=2e-3)
    balance = run.energy_balance
    assert {"force spring", "force support"} <= set(balance.energies)
    assert {"force spring", "force support", "force air"} <= set(balance.powers)
    assert balance.work("force air") < 0.0 and np.abs(balance.remainder).max() < 1e-4 * balance.scale
