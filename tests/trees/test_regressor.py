"""Regressors: what they say of the parameters is what the algorithms say of the model, for every joint."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.errors import InertiaError, NonFiniteError, ShapeError, UnsupportedError
from tests.engines.pinocchio_bridge import Bridge, pinocchio_model
from tests.engines.robots import ROBOTS, robot_path
from tests.identities.systems import along, close, state
from tests.trees.geared import geared_tree

NOW = 0.6  # [s], for joints that depend on time


@pytest.fixture
def interpreted_source():
    with kt.interpreted():
        yield


def case(seed: int):
    """A random tree of all kinds of joints, its parameters and a state."""
    model = kt.models.random_tree(4 + seed % 7, seed=500 + seed, floating=seed % 3 == 0)
    return model, kt.identify.inertial_parameters(model), *state(model, seed)[:3]


@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_joint_torques_are_linear_in_the_parameters(seed):
    """Y pi is the inverse dynamics less the forces of the armatures."""
    model, pi, q, v, a = case(seed)
    close(kt.regressors.joint_torque(model, q, v, a) @ pi + model.armature * a, kt.rnea(model, q, v, a))


@pytest.mark.sweep
@pytest.mark.usefixtures("interpreted_source")
def test_joint_torques_are_linear_on_a_thousand_trees():
    """The same, to 1e-9 relative, on 1000 trees."""
    for seed in range(1000):
        model, pi, q, v, a = case(seed)
        expected = kt.rnea(model, q, v, a)
        error = np.abs(kt.regressors.joint_torque(model, q, v, a) @ pi + model.armature * a - expected)
        assert np.max(error, initial=0.0) <= 1e-9 * np.max(np.abs(expected), initial=1.0), f"seed {seed}"


@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_any_parameters_will_do(seed):
    """The regressor of one model gives the forces of another with other inertias: Y holds nothing of pi."""
    model, pi, q, v, a = case(seed)
    scales = np.repeat(np.random.default_rng(seed).uniform(0.5, 2.0, model.nb - 1), 10)
    other = kt.identify.with_inertial_parameters(model, scales * pi)
    close(kt.regressors.joint_torque(model, q, v, a) @ (scales * pi) + model.armature * a, kt.rnea(other, q, v, a))


@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_energies_and_momenta_are_linear_in_the_parameters(seed):
    """Each regressor times the parameters is the quantity of its name, without armature."""
    model, pi, q, v, _ = case(seed)
    bare = model.replace(armature=0.0) if model.nv else model
    close(kt.regressors.kinetic_energy(model, q, v) @ pi, 0.5 * v @ kt.crba(model, q) @ v - 0.5 * model.armature @ v**2)
    close(kt.regressors.potential_energy(model, q) @ pi, kt.potential_energy(model, q))
    close(kt.regressors.momentum(model, q, v) @ pi, kt.momentum(bare, q, v))
    close(kt.regressors.generalized_momentum(model, q, v) @ pi, (kt.crba(model, q) - np.diag(model.armature)) @ v)


@pytest.mark.seeds(8)
@pytest.mark.usefixtures("interpreted_source")
def test_power_is_the_rate_of_energy_parameter_by_parameter(seed):
    """v . Y = d/dt (y_T + y_V) for each column: the work of the joint forces, whatever the inertias.

    Of models in which nothing moves by itself. The difference quotient is right to 1e-11 of the energies' size.
    """
    model = kt.models.random_tree(6, seed=700 + seed, floating=seed % 2 == 0)
    q, v = state(model, seed)[:2]

    # Along a motion of constant v the acceleration is zero.
    def energies(q):
        return kt.regressors.kinetic_energy(model, q, v) + kt.regressors.potential_energy(model, q)

    rates = along(model, q, v, energies)
    close(v @ kt.regressors.joint_torque(model, q, v, np.zeros(model.nv)), rates, ulps=1e6)


@pytest.mark.seeds(6)
def test_joints_that_depend_on_time(seed):
    """Linear, too, where joints move by themselves."""
    rng = np.random.default_rng(seed)
    pool = [joint for _, joint in kt.joints.examples(rng, time_dependent=True)]
    moving = [joint for joint in pool if joint.time_dependent]
    model = kt.models.random_tree(6, seed=seed, joints=[*moving, *pool[:4]], floating=seed % 2 == 0)
    assert model.time_dependent
    pi, (q, v, a) = kt.identify.inertial_parameters(model), state(model, seed)[:3]
    with kt.interpreted():
        Y = kt.regressors.joint_torque(model, q, v, a, t=NOW)
        close(Y @ pi + model.armature * a, kt.rnea(model, q, v, a, t=NOW))
        y = kt.regressors.kinetic_energy(model, q, v, t=NOW)
        close(y @ pi + 0.5 * model.armature @ v**2, kt.kinetic_energy(model, q, v, t=NOW))


@pytest.mark.seeds(6)
@pytest.mark.usefixtures("interpreted_source")
def test_rotors_add_what_does_not_depend_on_the_parameters(seed):
    """With geared rotors the forces of two sets of inertias differ by Y times the difference."""
    model = geared_tree(7, seed, floating=seed % 2 == 0)
    pi, (q, v, a) = kt.identify.inertial_parameters(model), state(model, seed)[:3]
    heavier = kt.identify.with_inertial_parameters(model, 3.0 * pi)
    close(2.0 * kt.regressors.joint_torque(model, q, v, a) @ pi, kt.rnea(heavier, q, v, a) - kt.rnea(model, q, v, a))


def test_bodies_that_a_joint_does_not_carry_are_structural_zeros():
    """Compiled code holds exact zeros there, and none of its operations goes into them."""
    tree = kt.models.binary_tree(3)
    q, v, a = np.random.default_rng(0).standard_normal((3, tree.nv))
    Y = kt.regressors.joint_torque(tree, q, v, a).reshape(tree.nv, tree.nb - 1, 10)
    for i in tree.outward():
        for j in tree.outward():
            carried = i in tree.support(j)
            assert np.any(Y[i - 1, j - 1] != 0.0) == carried
    star = kt.models.star(7)
    assert kt.compile(star, "joint_torque_regressor").operations.total < 0.5 * kt.compile(
        tree, "joint_torque_regressor"
    ).operations.total  # fmt: skip


def test_batches_compiled_are_the_interpreted_source():
    """A batch of states through compiled code, against plain Python."""
    model, rng = kt.load("quadruped", floating_base=True), np.random.default_rng(0)
    q = np.array([model.random_q(rng) for _ in range(5)])
    v, a = rng.standard_normal((2, 5, model.nv))
    Y = kt.regressors.joint_torque(model, q, v, a)
    assert Y.shape == (5, model.nv, model.n_inertial) and len(model.inertial_labels) == model.n_inertial
    with kt.interpreted():
        close(Y, kt.regressors.joint_torque(model, q, v, a))


def test_the_derivative_in_the_numbers_is_the_same():
    """Another method: rnea differentiated in masses, moments and inertias."""
    model = kt.models.chain_gu(4)
    q, v, a = np.random.default_rng(3).standard_normal((3, 4))
    Y = kt.differentiate(model, "rnea", wrt="numbers", numbers=("*.mass", "*.h.?", "*.I.??"))
    close(kt.regressors.joint_torque(model, q, v, a), Y(q, v, a))


@pytest.mark.parametrize("robot", ["ur5", "solo12"])
def test_pinocchio_has_the_same_regressors(robot):
    """Column by column, in the same order of parameters, for a fixed and a floating base.

    Bodies are paired by their joints; Pinocchio numbers branches by name.
    """
    urdf, floating = robot_path(robot), ROBOTS[robot].floating_base
    model = kt.load(urdf, floating_base=floating, unsupported="drop")
    pin_model = pinocchio_model(urdf, floating)
    bridge, data = Bridge(model, pin_model), pin_model.createData()
    rng = np.random.default_rng(1)
    (q, v), a = model.random_state(rng), rng.standard_normal(model.nv)
    theirs = pin.computeJointTorqueRegressor(
        pin_model, data, bridge.q_to_pin(q), bridge.v_to_pin(v), bridge.v_to_pin(a)
    )
    order = [10 * (bridge._joint_of_body[i] - 1) + k for i in model.outward() for k in range(10)]
    with kt.interpreted():
        ours = kt.regressors.joint_torque(model, q, v, a)
        kinetic, potential = kt.regressors.kinetic_energy(model, q, v), kt.regressors.potential_energy(model, q)
    close(ours, np.array([bridge.v_from_pin(column) for column in theirs.T[order]]).T)
    q_pin, v_pin = bridge.q_to_pin(q), bridge.v_to_pin(v)
    close(kinetic, pin.computeKineticEnergyRegressor(pin_model, data, q_pin, v_pin)[order])
    close(potential, pin.computePotentialEnergyRegressor(pin_model, data, q_pin)[order])
    pi = np.concatenate([pin_model.inertias[bridge._joint_of_body[i]].toDynamicParameters() for i in model.outward()])
    close(kt.identify.inertial_parameters(model), pi)


def test_planar_models_have_four_parameters_for_each_body():
    """The planar algebra: Y (m, h_x, h_y, I_zz) is its inverse dynamics, and so for energies and momenta."""
    spatial, rng = kt.models.zigzag_arm(4).replace(gravity=(1.0, -9.0, 0.0)), np.random.default_rng(1)
    model, (q, v, a) = spatial.planar(), rng.standard_normal((3, 4))
    pi = kt.identify.inertial_parameters(model)
    assert pi.shape == (model.n_inertial,) == (16,)
    assert model.inertial_labels[:4] == ("link1.mass", "link1.h.x", "link1.h.y", "link1.I.zz")
    close(kt.regressors.joint_torque(model, q, v, a) @ pi, kt.rnea(spatial, q, v, a))
    close(kt.regressors.kinetic_energy(model, q, v) @ pi, kt.kinetic_energy(spatial, q, v))
    close(kt.regressors.potential_energy(model, q) @ pi, kt.potential_energy(spatial, q))
    close(kt.regressors.generalized_momentum(model, q, v) @ pi, kt.crba(spatial, q) @ v)
    close(kt.regressors.momentum(model, q, v) @ pi, kt.momentum(model, q, v))
    assert kt.identify.base_parameters(model).rank == kt.identify.base_parameters(spatial).rank
    with pytest.raises(UnsupportedError, match="planar"):
        kt.identify.with_inertial_parameters(model, pi)


# The vector of parameters --------------------------------------------------------------------------------------------


@pytest.mark.seeds(10)
def test_parameters_make_the_model_again(seed):
    """There and back: the same numbers, the same names, everything else of the model unchanged."""
    model = kt.models.random_tree(7, seed=seed)
    pi = kt.identify.inertial_parameters(model)
    again = kt.identify.with_inertial_parameters(model, pi)
    np.testing.assert_array_equal(again.number_values(), model.number_values())
    assert again.structure() == model.structure()
    numbers = model.numbers().as_dict()
    assert [numbers[label] for label in model.inertial_labels] == pi.tolist()


def test_sets_of_parameters_go_to_compiled_functions_by_name():
    """f.with_parameters takes the columns of many parameter vectors, one for each state."""
    model, rng = kt.models.chain_gu(3), np.random.default_rng(0)
    q, v, a = rng.standard_normal((3, 4, 3))
    pi = kt.identify.inertial_parameters(model) * rng.uniform(0.5, 2.0, (4, 1))
    f = kt.compile(model, "rnea").with_parameters(dict(zip(model.inertial_labels, pi.T, strict=True)))
    Y = kt.regressors.joint_torque(model, q, v, a)
    close(f(q, v, a), np.einsum("nij,nj->ni", Y, pi))


def test_impossible_parameters_are_refused_by_name():
    """No body has these moments; who means it says so."""
    model = kt.models.chain_gu(2)
    pi = kt.identify.inertial_parameters(model)
    pi[14:20] = [1.0, 0.0, 1.0, 0.0, 0.0, 5.0]
    with pytest.raises(InertiaError, match="body2"):
        kt.identify.with_inertial_parameters(model, pi)
    assert kt.identify.with_inertial_parameters(model, pi, accept_impossible=True).I[2].I.zz == 5.0


def test_wrong_vectors_are_refused():
    """Their length, and numbers that are none, with the parameter's name."""
    model = kt.models.chain_gu(2)
    with pytest.raises(ShapeError, match=r"expected \(20,\)"):
        kt.identify.with_inertial_parameters(model, np.zeros(10))
    pi = kt.identify.inertial_parameters(model)
    pi[13] = np.nan
    with pytest.raises(NonFiniteError, match=r"body2\.h\.z is nan"):
        kt.identify.with_inertial_parameters(model, pi)
