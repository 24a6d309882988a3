"""The numbers of a model: their order, their way out and back, and what is structure instead."""

import json

import numpy as np
import pytest

from kinetree.model.numbers import VELOCITY_ARRAYS, numbers_of
from kinetree.models import chain_gu, pendulum, random_tree
from tests.model.kinematics import mass_matrix


def passive(model):
    rng, n = np.random.default_rng(0), model.nv
    return model.replace(
        damping=rng.uniform(0, 1, n), stiffness=rng.uniform(0, 1, n), limit_stiffness=rng.uniform(0, 1, n),
        limit_damping=rng.uniform(0, 1, n), dry_friction=rng.uniform(0, 1, n), gravity=rng.normal(size=3),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_numbers_go_out_and_come_back(seed):
    """A ScalarModel over the model's own numbers has these numbers again, bit for bit."""
    model = passive(random_tree(12, seed=seed))
    again = model.with_numbers(model.number_values().tolist())
    assert numbers_of(again).as_dict() == model.numbers().as_dict()


def test_names_are_unique():
    """One name per number."""
    names = random_tree(20, seed=1).numbers().names
    assert len(set(names)) == len(names)


def test_each_number_goes_to_its_own_place():
    """With numbers 1, 2, 3, ... every attribute holds the number of its own name."""
    model = passive(random_tree(6, seed=4))
    count = {name: float(k) for k, name in enumerate(model.numbers().names, start=1)}
    scalar = model.with_numbers(list(count.values()))
    i = 3
    body, joint = model.body_names[i], model.joint_name(i)
    assert list(scalar.X_T[i].r) == [count[f"{joint}.r.{axis}"] for axis in "xyz"]
    assert scalar.I[i].m == count[f"{body}.mass"]
    assert scalar.I[i].I.xz == count[f"{body}.I.xz"] and scalar.I[i].h.y == count[f"{body}.h.y"]
    assert scalar.gravity.z == count["gravity.z"]
    k = model.nv - 1
    label = model.velocity_labels[k]
    for name in VELOCITY_ARRAYS:
        assert getattr(scalar, name)[k] == count[f"{label}.{name}"]
    assert scalar.spring_reference[-1] == count[f"{model.position_labels[-1]}.spring_reference"]


def test_a_scalar_model_runs_where_a_model_runs():
    """Batches of masses: the mass matrix is linear in them."""
    model = chain_gu(4)
    values, q = model.number_values(), model.random_q(np.random.default_rng(0))
    names = model.numbers().names
    doubled = [2 * x if ".mass" in n or ".h." in n or ".I." in n else x for n, x in zip(names, values, strict=True)]
    M = mass_matrix(model.with_numbers(doubled), q)
    np.testing.assert_allclose(M, 2 * mass_matrix(model, q), rtol=1e-14)


def test_a_scalar_model_keeps_the_structure():
    """Tree, names, couplings and the physics that is present are the model's."""
    model = pendulum().replace(damping=1.0)
    scalar = model.with_numbers([0.0] * len(model.numbers()))
    assert scalar.parent is model.parent and scalar.frame("bob") is model.frame("bob")
    assert [force.kind for force in scalar.forces][0] == "damping"


def test_exact_zeros_ones_and_infinities_are_structure():
    """All other numbers are free; a number that moves among them keeps the structure."""
    model = chain_gu(3)
    for (free, value), name in zip(model.number_pattern(), model.numbers().names, strict=True):
        assert free == (value not in (0.0, 1.0, -1.0, np.inf, -np.inf)), name
    heavier = model.replace(I=[I * 1.37 for I in model.I])
    assert heavier.structure() == model.structure()
    assert model.replace(armature=0.1).structure() != model.structure()


def test_the_structure_depends_on_rotations_and_frames_but_not_on_numbers():
    """Two chains with other rotations are two structures."""
    assert chain_gu(3, seed=1).structure() != chain_gu(3, seed=2).structure()


def test_the_structure_is_hashable_and_goes_into_json():
    """It is the key of caches in memory and on disk."""
    structure = random_tree(8, seed=5).structure()
    assert hash(structure) == hash(random_tree(8, seed=5).structure())
    assert json.loads(json.dumps(structure, allow_nan=False))
