"""Geared rotors: the same dynamics as with bodies and couplings, and the theorems of dynamics with their terms."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.aba import aba as aba_source
from kinetree.algorithms.rnea import rnea as rnea_source
from kinetree.algorithms.spec import ALGORITHMS, algorithm
from kinetree.compiler.calls import public_call
from kinetree.errors import (
    DuplicateNameError,
    InertiaError,
    ModelError,
    NonFiniteError,
    TopologyError,
    UnknownNameError,
    UnsupportedError,
)
from kinetree.joints import Free, Prismatic, Revolute, Spherical
from kinetree.model.planar import PlanarModel
from tests.identities.systems import along, close, state
from tests.trees.geared import geared_tree

NEAR = pytest.mark.parametrize("near", [True, False], ids=["at the joint", "anywhere on the path"])


@pytest.fixture(autouse=True)
def interpreted_source():
    """That compiled code gives the same is tested below, for a few."""
    with kt.interpreted():
        yield


def tree(seed: int, near: bool):
    return geared_tree(5 + seed % 4, seed, floating=seed % 3 == 0, near=near)


def with_rotors_following(explicit, model, q, v, a):
    """State of the expanded model, in which rotors are joints, without passive forces and limits."""
    x = [np.zeros(explicit.nq), np.zeros(explicit.nv), np.zeros(explicit.nv)]
    for whole, part in zip(x, (q, v, a), strict=True):
        whole[: len(part)] = part
    q, v = kt.kinematics.apply_couplings(explicit, x[0], x[1])
    return q, v, kt.kinematics.apply_couplings(explicit, q, x[2])[1]


# The same as bodies of their own ------------------------------------------------------------------------------------


@NEAR
@pytest.mark.seeds(20)
def test_joint_forces_are_those_of_rotors_that_are_bodies(seed, near):
    """rnea with rotors = inverse dynamics of the tree in which they are bodies, coupled to their joints."""
    model = tree(seed, near)
    explicit = kt.surgery.expand_gears(model)
    q, v, a, _ = state(model, seed)
    expected = kt.inverse_dynamics(explicit, *with_rotors_following(explicit, model, q, v, a))
    found = kt.rnea(model, q, v, a)
    assert np.max(np.abs(found - expected[: model.nv]), initial=0.0) <= 1e-12 * np.max(np.abs(found), initial=1.0)


@NEAR
@pytest.mark.seeds(20)
def test_accelerations_are_those_of_rotors_that_are_bodies(seed, near):
    """aba with rotors = forward dynamics of the explicit mechanism, whose G^T M G is the mass matrix."""
    model = tree(seed, near)
    explicit = kt.surgery.expand_gears(model)
    q, v, _, tau = state(model, seed)
    state_there = with_rotors_following(explicit, model, q, v, tau)[:2]
    forces = np.concatenate([tau, np.zeros(explicit.nv - model.nv)])
    expected = kt.forward_dynamics(explicit, *state_there, forces)[: model.nv]
    scale = np.linalg.cond(kt.crba(model, q)) * np.max(np.abs(expected), initial=1.0)
    close(kt.aba(model, q, v, tau), expected, scale=scale, ulps=10.0)


@pytest.mark.seeds(20)
def test_mass_matrix_is_the_projected_one(seed):
    """crba = G^T M G of the explicit mechanism (book, eq. 9.27)."""
    model = tree(seed, False)
    explicit = kt.surgery.expand_gears(model)
    q = model.random_q(np.random.default_rng(seed))
    zero = np.zeros(model.nv)
    G = np.eye(explicit.nv, model.nv)
    for c in explicit.couplings:
        G[explicit.v_index(c.joint), explicit.v_index(c.master)] = c.ratio
    q_there = with_rotors_following(explicit, model, q, zero, zero)[0]
    M = kt.crba(model, q)
    assert np.max(np.abs(G.T @ kt.crba(explicit, q_there) @ G - M)) <= 1e-12 * np.max(np.abs(M))


@pytest.mark.parametrize("seed", range(0, 24, 3))
def test_momentum_is_that_of_rotors_that_are_bodies(seed):
    """Momentum of a floating mechanism, the spin of the rotors included; those on the world have no part in it."""
    model = tree(seed, False)
    model = model.replace(rotors=[rotor for rotor in model.rotors if rotor.body])
    explicit = kt.surgery.expand_gears(model)
    q, v, a, _ = state(model, seed)
    q_there, v_there, _ = with_rotors_following(explicit, model, q, v, a)
    close(kt.momentum(model, q, v), kt.momentum(explicit, q_there, v_there))
    close(kt.centroidal.momentum_matrix(model, q) @ v, kt.centroidal.momentum(explicit, q_there, v_there))


# The theorems -------------------------------------------------------------------------------------------------------


@NEAR
@pytest.mark.seeds(20)
def test_forward_after_inverse_is_the_identity(seed, near):
    """aba(q, v, rnea(q, v, a)) = a."""
    model = tree(seed, near)
    q, v, a, _ = state(model, seed)
    condition = np.linalg.cond(kt.crba(model, q))
    close(kt.aba(model, q, v, kt.rnea(model, q, v, a)), a, scale=condition, ulps=1e3)


@NEAR
@pytest.mark.seeds(20)
def test_inertia_and_bias_make_the_joint_forces(seed, near):
    """rnea = crba a + bias_forces; bias_forces = gravity_forces + C v; T = v M v / 2."""
    model = tree(seed, near)
    q, v, a, _ = state(model, seed)
    M, c = kt.crba(model, q), kt.bias_forces(model, q, v)
    close(kt.rnea(model, q, v, a), M @ a + c)
    close(c, kt.gravity_forces(model, q) + kt.coriolis_matrix(model, q, v) @ v)
    close(kt.kinetic_energy(model, q, v), v @ M @ v / 2.0)


@NEAR
@pytest.mark.seeds(20)
def test_mass_matrix_rate_minus_twice_coriolis_is_skew(seed, near):
    """dM/dt = C + C^T (finite differences, error 1e-10 relative)."""
    model = tree(seed, near)
    q, v, *_ = state(model, seed)
    C = kt.coriolis_matrix(model, q, v)
    rate = along(model, q, v, lambda q: kt.crba(model, q))
    assert np.max(np.abs(rate - C - C.T)) < 1e-9 * max(1.0, np.max(np.abs(kt.crba(model, q))), np.max(np.abs(C)))


def test_coriolis_forces_are_those_of_christoffel():
    """C v = (dM/dt) v - dT/dq: Lagrange's equations, for a chain of revolute and prismatic joints."""
    model = geared_tree(6, 4, near=False, joints=[Revolute((0, 1, 0)), Revolute(), Prismatic()], branching=0.0)
    q, v, *_ = state(model, 4)
    unit = np.eye(model.nv)
    gradient = [along(model, q, e, lambda q: kt.kinetic_energy(model, q, v)) for e in unit]
    expected = along(model, q, v, lambda q: kt.crba(model, q)) @ v - gradient
    assert len(model.rotors) > 2
    close(kt.coriolis_matrix(model, q, v) @ v, expected, ulps=1e7)  # finite differences: 1e-9 relative


@pytest.mark.seeds(20)
def test_power_of_joint_forces_is_the_rate_of_kinetic_energy(seed):
    """(tau - g) . v = v M a + v (dM/dt) v / 2."""
    model = tree(seed, False)
    q, v, a, _ = state(model, seed)
    M, rate = kt.crba(model, q), along(model, q, v, lambda q: kt.crba(model, q))
    power = (kt.rnea(model, q, v, a) - kt.gravity_forces(model, q)) @ v
    expected = v @ M @ a + v @ rate @ v / 2.0
    assert abs(power - expected) < 1e-9 * max(1.0, abs(power), np.max(np.abs(M)) * (v @ v))


@pytest.mark.seeds(20)
def test_derivatives_of_inverse_dynamics(seed):
    """rnea_derivatives along random directions (finite differences), and dtau_da = crba."""
    model = tree(seed, False)
    q, v, a, w = state(model, seed)
    dq, dv, M = kt.rnea_derivatives(model, q, v, a)
    close(M, kt.crba(model, q))
    by_q = along(model, q, w, lambda q: kt.rnea(model, q, v, a))
    assert np.max(np.abs(dq @ w - by_q)) < 1e-9 * max(1.0, np.max(np.abs(by_q)), np.max(np.abs(dq)))
    by_v = (kt.rnea(model, q, v + w, a) - kt.rnea(model, q, v - w, a)) / 2.0  # quadratic in v: exact
    close(dv @ w, by_v, scale=np.max(np.abs(kt.rnea(model, q, v + w, a))))


@NEAR
@pytest.mark.seeds(6)
def test_derivatives_of_forward_dynamics(seed, near):
    """da = -M^-1 dtau, and da_dtau = M^-1."""
    model = tree(seed, near)
    q, v, a, _ = state(model, seed)
    dq, dv, M = kt.rnea_derivatives(model, q, v, a)
    found = kt.aba_derivatives(model, q, v, kt.rnea(model, q, v, a))
    for entry, expected in zip(found, (-dq, -dv, np.eye(model.nv)), strict=True):
        close(M @ entry, expected, scale=np.linalg.cond(M) * np.max(np.abs(expected)), ulps=1e3)


def test_linear_cost_of_articulated_bodies():
    """Operations of aba grow linearly with the length of a geared chain."""
    counts = []
    for n in (10, 20, 40):
        model = geared_tree(n, 1, joints=[Revolute()], branching=0.0)
        rotors = [r for r in model.rotors if r.body]
        counts.append(kt.compile(model.replace(rotors=rotors), "aba").operations.total)
    assert counts[2] - counts[1] < 2.3 * (counts[1] - counts[0])


@NEAR
@pytest.mark.seeds(8)
def test_other_methods_agree(seed, near):
    """Parts of the joint forces, mass matrices by columns and by Jacobians, its factors and its inverse."""
    model = tree(seed, near)
    q, v, a, tau = state(model, seed)
    M, c, g = kt.crba(model, q), kt.bias_forces(model, q, v), kt.gravity_forces(model, q)
    close(kt.dynamics.inertial_forces(model, q, a), M @ a)
    close(kt.dynamics.coriolis_forces(model, q, v), c - g, scale=np.max(np.abs(c)))
    close(kt.textbook.mass_matrix_columns(model, q), M)
    close(kt.textbook.mass_matrix_jacobians(model, q), M)
    condition = np.linalg.cond(M)
    close(M @ kt.dynamics.inverse_mass_matrix(model, q), np.eye(model.nv), scale=condition, ulps=1e2)
    close(M @ kt.dynamics.inverse_mass_product(model, q, a), a, scale=condition, ulps=1e2)
    L, D = kt.sparse.ltdl(model, q)
    close(L.T @ np.diag(D) @ L, M)
    close(kt.dynamics.forward_dynamics_crba(model, q, v, c + M @ a), a, scale=condition, ulps=1e3)


@NEAR
@pytest.mark.seeds(8)
def test_hybrid_dynamics(seed, near):
    """Accelerations wanted and forces found satisfy the equation of motion, by all methods that cover rotors."""
    model = tree(seed, near)
    q, v, a, tau = state(model, seed)
    forward = [model.joint_name(i) for i in model.outward() if i % 2]
    for method in (kt.dynamics.hybrid_aba, kt.dynamics.hybrid_crba, kt.hybrid_dynamics):
        a_all, tau_all = method(model, q, v, tau, a, forward=forward)
        for i in model.outward():
            slot, known = model.v_slice[i], (tau, tau_all) if i % 2 else (a, a_all)
            assert np.array_equal(known[0][slot], known[1][slot])
        scale = np.linalg.cond(kt.crba(model, q)) * np.max(np.abs(tau_all), initial=1.0)
        close(kt.rnea(model, q, v, a_all), tau_all, scale=scale, ulps=1e2)


def test_fused_functions_take_dynamics_from_derivatives():
    """Companions: the dynamics beside their derivatives, with rotors too."""
    model = geared_tree(5, 4)
    q, v, a, tau = state(model, 4)
    function = kt.compile(model, ["rnea", "crba", "rnea_derivatives"])
    found = function(q, v, a)
    close(found.rnea, kt.rnea(model, q, v, a))
    close(found.crba, kt.crba(model, q))
    close(kt.compile(model, ["aba", "aba_derivatives"])(q, v, tau).aba, kt.aba(model, q, v, tau), ulps=1e6)


def test_energy_and_momentum_of_a_floating_mechanism_are_conserved():
    """Simulated without gravity: gyroscopic moments do no work, and what the rotors take the bodies give."""
    chain = kt.models.random_tree(4, 8, joints=[Revolute()], floating=True, branching=0.0, armature=False)
    b = kt.ModelBuilder.of(chain.replace(gravity=(0.0, 0.0, 0.0)))
    for i in (2, 3, 4):
        b.add_rotor(f"rotor{i}", chain.joint_name(i), 20.0 * i, 2e-3, axis=(1, i, 0), mass=0.2)
    model = b.build()
    q, v, *_ = state(model, 8)
    run = kt.simulate(model, q0=q, v0=0.3 * v, duration=1.0, dt=0.002, integrator="rk4")
    q1, v1 = run.q[-1], run.v[-1]
    assert np.max(np.abs(q1 - q)) > 0.1
    close(kt.kinetic_energy(model, q1, v1), kt.kinetic_energy(model, q, 0.3 * v), ulps=1e6)  # error of RK4
    close(kt.momentum(model, q1, v1), kt.momentum(model, q, 0.3 * v), ulps=1e6)


# Reflected inertia --------------------------------------------------------------------------------------------------


def test_reflected_inertia_is_the_limit_of_light_fast_rotors():
    """At J rho^2 fixed the difference between rotor and armature falls with 1 / rho (book, example 9.5)."""
    plain = kt.models.random_tree(6, 2, joints=[Revolute()], branching=0.3, armature=False)
    q, v, a, _ = state(plain, 2)
    expected = kt.rnea(plain.replace(armature=0.4), q, v, a)
    off = []
    for ratio in (1e2, 1e3, 1e4):
        b = kt.ModelBuilder.of(plain)
        for i in plain.outward():
            b.add_rotor(f"rotor{i}", plain.joint_name(i), ratio, 0.4 / ratio**2, axis=(1, 1, 0))
        off.append(np.max(np.abs(kt.rnea(b.build(), q, v, a) - expected)))
    assert off[0] > 1e-4
    np.testing.assert_allclose([off[0] / off[1], off[1] / off[2]], 10.0, rtol=0.05)


def test_rotor_on_the_world_is_an_armature():
    """A stator that stands still feels nothing that matters: J rho^2 at the joint, exactly."""
    plain = kt.models.random_tree(5, 3, joints=[Revolute()], armature=False)
    b = kt.ModelBuilder.of(plain)
    b.add_rotor("rotor", "joint3", 20.0, 1e-3, body="world", mass=1.0)
    q, v, a, tau = state(plain, 3)
    reflected = plain.replace(armature={"joint3": 0.4})
    close(kt.rnea(b.build(), q, v, a), kt.rnea(reflected, q, v, a))
    close(kt.aba(b.build(), q, v, tau), kt.aba(reflected, q, v, tau))


def test_a_wheel_turns_its_floating_stator_the_other_way():
    """A reaction wheel: driving it with rate change a_w turns the free satellite by -J a_w / (I + J) about its axis."""
    b = kt.ModelBuilder("satellite", gravity=(0, 0, 0))
    b.add_body("bus", joint=Free(), joint_name="base", mass=5.0, inertia=(2.0, 3.0, 4.0))
    b.add_body("slider", "bus", Prismatic(), mass=1e-3)
    b.add_rotor("wheel", "slider", 100.0, 0.1, axis=(0, 1, 0), mass=1.0)
    a = kt.aba(b.build(), [0, 0, 0, 1, 0, 0, 0, 0], np.zeros(7), [0, 0, 0, 0, 0, 0, 10.0])
    np.testing.assert_allclose(a[1], -0.1 * 100.0 * a[6] / 3.1, rtol=1e-12)  # bus 3 and wheel 0.1 about y


# Compiled, other scalars, planar ------------------------------------------------------------------------------------


@NEAR
def test_compiled_equals_interpreted(near):
    """All dynamics of a random tree, batches of states."""
    model = geared_tree(6, 7, floating=True, near=near)
    rng = np.random.default_rng(7)
    q = np.array([model.random_q(rng) for _ in range(5)])
    v, a, tau = rng.standard_normal((3, 5, model.nv))
    arguments = {"rnea": (q, v, a), "crba": (q,), "aba": (q, v, tau), "kinetic_energy": (q, v), "momentum": (q, v),
                 "coriolis_matrix": (q, v), "forward_dynamics": (q, v, tau)}  # fmt: skip
    model = model.without_limits()
    for name, values in arguments.items():
        expected = public_call(name)(model, *values)
        close(kt.compile(model, name)(*values), expected, ulps=1e6)  # of batches and of ill-conditioned solves


def test_numbers_of_rotors_are_run_time_numbers():
    """Ratio and axial inertia do not change the structure, so that machine code is shared; zeros do."""
    model = geared_tree(5, 2, joints=[Revolute()])
    first = model.rotors[0]
    other = dataclasses.replace(first, ratio=first.ratio * 2.0, axial_inertia=first.axial_inertia / 3.0)
    changed = model.replace(rotors=(other, *model.rotors[1:]))
    assert f"{first.name}.ratio" in model.numbers().names
    assert changed.structure() == model.structure()
    assert model.replace(rotors=()).structure() != model.structure()
    q, v, a, _ = state(model, 2)
    values = changed.number_values().tolist()
    close(rnea_source(model.with_numbers(values), q.tolist(), v.tolist(), a.tolist()), kt.rnea(changed, q, v, a))


def test_functions_take_rotors_of_other_models():
    """Numbers of rotors by name or from another model of the same structure; a model without any is refused."""
    model, q = geared_arm(), [0.3, -0.5]
    function = kt.compile(model, "crba")
    other = model.replace(rotors=[dataclasses.replace(rotor, ratio=7.0) for rotor in model.rotors])
    expected = kt.crba(other, q)
    close(function.with_parameters(other)(q), expected)
    close(function.with_parameters({"motor.ratio": 7.0, "flywheel.ratio": 7.0})(q), expected)
    ratios = function.with_parameters({"flywheel.axial_inertia": np.array([1e-2, 2e-2])})
    close(ratios(q)[0], kt.crba(model, q))
    with pytest.raises(ModelError, match="rotors"):
        function.with_parameters(model.replace(rotors=()))


def test_planar_models_have_rotors():
    """In the plane the part of the axis across it counts, and the gyroscopic moment is carried by the joints."""
    b = kt.ModelBuilder("planar", gravity=(0, -9.81, 0))
    for k, parent in enumerate(("world", "body1", "body2"), 1):
        b.add_body(f"body{k}", parent, Revolute(), f"joint{k}", ((0.3, 0.1 * k, 0), (0, 0, 0.2)), mass=k,
                   com=(0.2, 0.1, 0), inertia=(1, 1, 1))  # fmt: skip
        b.add_rotor(f"rotor{k}", f"joint{k}", 10.0 * k, 0.01, axis=(0.1, 0.2, 1.0), mass=0.1)
    model = b.build()
    plane = PlanarModel(model)
    q, v, a, tau = (x.tolist() for x in state(model, 0))
    np.testing.assert_allclose(rnea_source(plane, q, v, a), kt.rnea(model, q, v, a), rtol=1e-13)
    np.testing.assert_allclose(aba_source(plane, q, v, tau), kt.aba(model, q, v, tau), rtol=1e-12)


# As data ------------------------------------------------------------------------------------------------------------


def test_rotors_survive_pickling_and_rebuilding():
    """Pickle, copy, ModelBuilder.of and replace keep every number."""
    model = geared_tree(20, 5)
    q, v, a, _ = state(model, 5)
    expected = kt.rnea(model, q, v, a)
    for made in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), kt.ModelBuilder.of(model).build(
            merge_fixed=False), model.replace(name="other")):  # fmt: skip
        assert len(made.rotors) == len(model.rotors) > 0
        assert np.array_equal(kt.rnea(made, q, v, a), expected)


def test_reframed_models_have_turned_rotors():
    """The re-framed model has the same joint forces."""
    model = geared_tree(8, 6, near=False)
    q, v, a, _ = state(model, 6)
    close(kt.rnea(model.reframed(), q, v, a), kt.rnea(model, q, v, a))


def geared_arm():
    """Two links, a rotor in the first for the second joint, and one in the second."""
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    b.add_rotor("motor", "elbow", 50.0, 1e-3, axis=(0, 1, 0), center=(0, 0, -0.1), mass=0.2)
    b.add_rotor("flywheel", "elbow", 2.0, 1e-2, body="lower", axis=(1, 1, 0), mass=0.1)
    return b.build()


def test_locked_joints_lock_their_rotors():
    """With the joint locked, the rotor is a part of its stator, as model.I already says."""
    model = geared_arm()
    locked = kt.surgery.lock(model, {"elbow": 0.3})
    assert locked.rotors == ()
    assert locked.total_mass == pytest.approx(model.total_mass)
    close(kt.crba(locked, [0.2]), kt.crba(model, [0.2, 0.3])[:1, :1])


def test_rerooted_mechanisms_move_the_same():
    """The energy at mapped states, with rotors in what is now beyond the joint."""
    model = kt.surgery.with_base(geared_arm(), "floating", base="upper")
    turned = kt.surgery.reroot(model, "lower")
    states = kt.surgery.StateMap(model, turned)
    q, v = model.random_state(np.random.default_rng(0))
    close(kt.kinetic_energy(turned, states.q(q), states.v(q, v)), kt.kinetic_energy(model, q, v))
    G = states.velocity_matrix(q)
    close(G.T @ kt.crba(turned, states.q(q)) @ G, kt.crba(model, q))
    condition = np.linalg.cond(kt.crba(turned, states.q(q)))
    v_there = states.v(q, v)
    a = np.ones(turned.nv)
    close(kt.aba(turned, states.q(q), v_there, kt.rnea(turned, states.q(q), v_there, a)), a, scale=condition)


def test_submodels_keep_rotors_in_what_stands_still():
    """The forearm alone: its motor, in the upper arm that now stands still, is an armature."""
    model = geared_arm()
    part = kt.surgery.submodel(model, "lower")
    assert {rotor.name: rotor.body for rotor in part.rotors} == {"motor": 0, "flywheel": 1}
    close(kt.crba(part, [0.7]), kt.crba(model, [0.0, 0.7])[1:, 1:])


def test_pruned_joints_leave_locked_rotors():
    """Without the forearm its motor is dead mass in the upper arm, and the report says so."""
    rest = kt.surgery.prune(geared_arm(), "lower")
    assert rest.rotors == () and rest.total_mass == pytest.approx(geared_arm().I[1].m)
    assert "'motor' is locked in 'upper'" in str(rest.report)


def test_attached_and_renamed_robots_keep_their_rotors():
    """Two arms on one body, with prefixes."""
    b = kt.ModelBuilder("torso")
    b.add_body("torso", joint=Free(), mass=3.0, inertia=(1, 1, 1))
    both = b.build()
    for side in ("left_", "right_"):
        both = kt.surgery.attach(both, geared_arm(), at="torso", prefix=side)
    assert [rotor.name for rotor in both.rotors] == ["left_motor", "left_flywheel", "right_motor", "right_flywheel"]
    q, v = both.random_state(np.random.default_rng(1))
    explicit = kt.surgery.expand_gears(both)
    q_there, v_there, _ = with_rotors_following(explicit, both, q, v, v)
    close(kt.kinetic_energy(both, q, v), kt.kinetic_energy(explicit, q_there, v_there))


@pytest.mark.parametrize("write", [kt.io.to_urdf, kt.io.to_mjcf])
def test_writers_do_not_leave_rotors_out_in_silence(write):
    """Neither format can say a rotor: it is refused, or dropped on request."""
    with pytest.raises(UnsupportedError, match="geared rotors"):
        write(geared_arm())
    assert "<" in write(geared_arm(), unsupported="drop")


# Refused ------------------------------------------------------------------------------------------------------------


def test_algorithms_that_know_no_rotors_refuse_them():
    """A user's own algorithm that does not declare that it is right for gears names itself and the way out."""

    @algorithm(inputs={"q": "nq"}, outputs={"n": ()})
    def knows_no_rotors(model, q):
        return 0.0 * q[0]

    spec = ALGORITHMS.pop("knows_no_rotors")
    assert spec.function(kt.models.double_pendulum(), [1.0, 2.0]) == 0.0
    with pytest.raises(UnsupportedError, match=r"knows_no_rotors .*'motor', 'flywheel'.*expand_gears"):
        spec.function(geared_arm(), [1.0, 2.0])


def test_independent_methods_without_gears_refuse_them():
    """Those that declare ``geared=False``, before they look at their arrays."""
    refusing = [name for name, spec in ALGORITHMS.items() if hasattr(spec.function, "__wrapped__")]
    assert {"divide_and_conquer", "newton_euler", "rnea_world", "hybrid_recursive"} <= set(refusing)
    for name in refusing:
        with pytest.raises(UnsupportedError, match=f"^{name} does not compute geared rotors"):
            ALGORITHMS[name].function(geared_arm())


def test_what_depends_on_inertias_depends_on_gears():
    """Every algorithm of q, v, a, tau that changes with the masses of the bodies changes with the rotors' inertia.

    But weight and mass, and what is linear in the inertial parameters: rotors are balanced, and no part of these. An
    algorithm that leaves gears out would leave them out in silence unless it declares ``geared=False``.
    """
    model = geared_tree(6, 7, near=False)
    assert any(rotor.body for rotor in model.rotors)
    heavier = model.replace(I=[I * 1.5 for I in model.I])
    lighter = model.replace(rotors=[dataclasses.replace(r, axial_inertia=0.9 * r.axial_inertia) for r in model.rotors])
    q, v, a, tau = map(list, state(model, 0))
    values = {"q": q, "v": v, "a": a, "tau": tau, "x": a, "dt": 0.01}
    balanced = {"gravity_forces", "potential_energy"}
    found = 0
    for name, spec in ALGORITHMS.items():
        if hasattr(spec.function, "__wrapped__") or spec.static or not spec.inputs.keys() <= values.keys():
            continue
        given = [values[key] for key in spec.inputs]
        try:
            plain, with_mass, with_rotors = (flat(spec.function(m, *given)) for m in (model, heavier, lighter))
        except UnsupportedError as error:
            assert "gears" in str(error), name
            continue
        if np.allclose(plain, with_mass, rtol=1e-9, atol=0.0) or name in balanced:
            continue
        assert not np.allclose(plain, with_rotors, rtol=1e-9, atol=0.0), f"{name} leaves gears out"
        found += 1
    assert found >= 20


def flat(value) -> list:
    """The numbers of nested lists."""
    return [x for part in value for x in flat(part)] if isinstance(value, (list, tuple)) else [float(value)]


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(1000))
def test_sweep_of_methods(seed):
    """Inverse and forward dynamics of 1,000 geared trees, explicit bodies included."""
    test_joint_forces_are_those_of_rotors_that_are_bodies(seed, seed % 2 == 0)
    test_forward_after_inverse_is_the_identity(seed, seed % 2 == 0)
    test_inertia_and_bias_make_the_joint_forces(seed, seed % 2 == 0)


def builder():
    b = kt.ModelBuilder()
    b.add_body("base", joint=Spherical(), joint_name="ball", mass=1.0, inertia=(1, 1, 1))
    for name in ("left", "right"):
        b.add_body(name, "base", Revolute(), mass=1.0, inertia=(1, 1, 1))
    return b


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        (("r", "ball", 2.0, 0.1), {}, ModelError, "3 freedoms; a gear ratio needs one"),
        (("r", "left", 2.0, 0.1), {"body": "right"}, TopologyError, "different branches"),
        (("r", "left", 2.0, -0.1), {}, InertiaError, "negative"),
        (("r", "left", 2.0, 0.1), {"transverse_inertia": 0.01}, InertiaError, "flatter than a disk"),
        (("r", "left", 2.0, 0.1), {"mass": 3.0, "included": True}, InertiaError, "cannot contain its rotors 'r'"),
        (("r", "left", 2.0, 5.0), {"included": True}, InertiaError, "cannot contain its rotors 'r'"),
        (("r", "left", np.nan, 5.0), {}, NonFiniteError, "ratio is nan"),
        (("r", "left", 2.0, 0.1), {"axis": (0, 0, 0)}, ModelError, "not all zero"),
        (("r", "elbow", 2.0, 0.1), {}, UnknownNameError, "no joint named 'elbow'"),
    ],
)
def test_rotors_that_cannot_be_are_refused(arguments, options, error, words):
    """Each error names the rotor and what is wrong with it."""
    b = builder()
    with pytest.raises(error, match=words):
        b.add_rotor(*arguments, **options)
        b.build()


def test_two_rotors_have_two_names():
    """Names are what a report and a rename go by."""
    b = builder()
    b.add_rotor("r", "left", 2.0, 0.1)
    with pytest.raises(DuplicateNameError, match="'r'"):
        b.add_rotor("r", "right", 2.0, 0.1)
