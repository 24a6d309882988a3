"""Forces, energies and powers of every element on its own."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.forces.actuator import FrameActuator
from tests.forces.loaded import internal, joint_forces, tree
from tests.forces.test_elements import along, machine
from tests.identities.systems import close, state


@pytest.mark.seeds(5)
def test_they_add_up_to_the_forces_of_the_model(seed):
    """Rows of tau are the forces of models with one element; energies and powers are those of the model."""
    model = tree(seed)
    q, v, *_ = state(model, seed)
    given = internal(model, seed)
    with kt.interpreted():
        found = kt.dynamics.forces_by_element(model, q, v, **given)
        assert len(found.tau) == len(model.element_names) == model.n_elements > 0
        joints = model.replace(forces=[force for force in model.forces if force not in model.elements])
        close(found.tau.sum(axis=0), joint_forces(model, q, v, **given) - joint_forces(joints, q, v))
        close(found.energy.sum(), kt.dynamics.elastic_energy(model, q) - kt.dynamics.elastic_energy(joints, q))
        for k, element in enumerate(model.elements):
            if not element.joints:  # between frames
                close(found.tau[k], -kt.dynamics.external_forces(model, q, found.wrenches[k]))
                # Action and reaction; those of MuJoCo's actuators at sites act at the origins of both frames.
                if len(element.frames) > 1 and not isinstance(element, FrameActuator):
                    close(found.wrenches[k].sum(axis=0), 0.0, scale=np.abs(found.wrenches[k]).max())


def test_power_is_that_of_the_energy_balance():
    """tau v = power - dE/dt for each element; the names are those of runs."""
    model = machine(kt.forces.Bushing).with_forces(kt.forces.PointSpring("s", "world", "b2", 3.0, 0.4, 2.0))
    q, v, *_ = state(model, 0)
    found = kt.dynamics.forces_by_element(model, q, v)
    slope = along(model, lambda x: kt.dynamics.forces_by_element(model, x, v).energy, q)
    np.testing.assert_allclose(found.tau @ v, found.power - slope @ v, atol=1e-6 * np.abs(found.tau @ v).max())


def test_the_tension_of_a_rope_over_a_run():
    """Length, rate and tension of a spring-damper from positions, for all samples of a run in one call."""
    rope = kt.forces.PointSpring("rope", "world", "bob", 40.0, 0.5, 3.0, start_at=(0.3, 0.0, 1.0))
    model = kt.models.pendulum().with_forces(kt.forces.Drag("air", "bob", 0.1), rope)
    run = kt.simulate(model, [0.4], [0.0], duration=0.2, dt=1e-2)
    found = kt.dynamics.forces_by_element(model, run.q, run.v)
    k = model.element_names.index("rope")
    p = kt.pose(model, run.q, frame="bob").p_WF - [0.3, 0.0, 1.0]
    length = np.linalg.norm(p, axis=-1)
    velocity = kt.velocity(model, run.q, run.v, frame="bob", reference="local_world_aligned")[..., 3:]
    rate = np.einsum("ni,ni->n", velocity, p) / length
    np.testing.assert_allclose(found.length[:, k], length, rtol=1e-12)
    np.testing.assert_allclose(found.rate[:, k], rate, atol=1e-12)
    np.testing.assert_allclose(found.tension[:, k], 40.0 * (length - 0.5) + 3.0 * rate, atol=1e-11)
    np.testing.assert_allclose(found.energy[:, k], run.energy_balance.energies["force rope"], rtol=1e-12)
    np.testing.assert_allclose(found.power[:, k], -3.0 * rate**2, atol=1e-11)
    other = np.linalg.norm(found.wrenches[:, k, 1, 3:], axis=-1)
    np.testing.assert_allclose(other, np.abs(found.tension[:, k]), rtol=1e-12)


def test_models_without_elements_have_no_rows():
    """Arrays without entries."""
    found = kt.dynamics.forces_by_element(kt.models.double_pendulum(), np.zeros((3, 2)), np.zeros((3, 2)))
    assert found.tau.shape == (3, 0, 2) and found.wrenches.shape == (3, 0, 3, 6) and found.tension.shape == (3, 0)
