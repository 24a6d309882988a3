"""Products with the Jacobian of all bodies, its rate and its transpose, at a cost that grows with n alone."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.identities.systems import close, state

REFERENCES = ("local", "world", "local_world_aligned")


@pytest.fixture
def interpreted_source():
    with kt.interpreted():
        yield


def case(seed: int):
    """A random tree of all kinds of joints, and a state."""
    model = kt.models.random_tree(7, seed=400 + seed, floating=seed % 3 == 0)
    return model, *state(model, seed)


def dense(model, q, reference):
    """The Jacobians of all bodies, (nb, 6, nv)."""
    return kt.kinematics.frame_jacobians(model, q, reference=reference)[: model.nb]


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_products_are_those_of_the_dense_jacobian(seed, reference):
    """J x and J^T y."""
    model, q, x, *_ = case(seed)
    y = np.random.default_rng(seed).standard_normal((model.nb, 6))
    J = dense(model, q, reference)
    close(kt.kinematics.body_jacobian_product(model, q, x, reference=reference), J @ x)
    close(kt.kinematics.body_jacobian_transpose_product(model, q, y, reference=reference), np.einsum("nij,ni->j", J, y))


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_rate_product_is_that_of_the_dense_rate(seed, reference):
    """Jdot x for an x that is not the velocity."""
    model, q, v, x, _ = case(seed)
    rates = [kt.kinematics.jacobian_rate(model, q, v, frame=name, reference=reference) for name in model.body_names[1:]]
    found = kt.kinematics.body_jacobian_rate_product(model, q, v, x, reference=reference)
    close(found[1:], [J_dot @ x for J_dot in rates])
    assert not np.any(found[0])


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.seeds(6)
@pytest.mark.usefixtures("interpreted_source")
def test_products_make_accelerations(seed, reference):
    """J a + Jdot v is the spatial acceleration of every body."""
    model, q, v, a, _ = case(seed)
    found = kt.kinematics.body_jacobian_product(model, q, a, reference=reference)
    found = found + kt.kinematics.body_jacobian_rate_product(model, q, v, v, reference=reference)
    close(found, kt.kinematics.body_accelerations(model, q, v, a, reference=reference, kind="spatial"))


@pytest.mark.parametrize("reference", REFERENCES)
def test_products_compiled_do_the_same_work(reference):
    """y . (J x) = (J^T y) . x, for a batch of a robot with a free base; wrenches by name."""
    model, rng = kt.load("quadruped", floating_base=True), np.random.default_rng(0)
    q = np.array([model.random_q(rng) for _ in range(5)])
    x, y = rng.standard_normal((5, model.nv)), rng.standard_normal((5, model.nb, 6))
    y[:, 0] = 0.0
    left = np.einsum("bni,bni->b", y, kt.kinematics.body_jacobian_product(model, q, x, reference=reference))
    right = np.einsum("bj,bj->b", kt.kinematics.body_jacobian_transpose_product(model, q, y, reference=reference), x)
    close(left, right)
    named = {name: y[:, i] for i, name in enumerate(model.body_names) if i}
    product = kt.kinematics.body_jacobian_transpose_product
    close(product(model, q, named, reference=reference).sum(-1), product(model, q, y, reference=reference).sum(-1))


def test_external_forces_are_minus_the_transposed_product():
    """In world coordinates, about the world's origin."""
    model, q, *_ = case(3)
    f_ext = np.random.default_rng(3).standard_normal((model.nb, 6))
    with kt.interpreted():
        expected = -kt.kinematics.body_jacobian_transpose_product(model, q, f_ext, reference="world")
        close(kt.dynamics.external_forces(model, q, f_ext), expected)


@pytest.mark.parametrize("name", [f"body_jacobian_{x}product" for x in ("", "rate_", "transpose_")])
def test_cost_grows_by_the_same_number_with_every_body(name):
    """O(n): on chains each further body adds the same operations, though the Jacobian grows by 6 n entries."""
    counts = [kt.compile(kt.models.chain_gu(n), name, reference="local").operations.total for n in (4, 6, 8, 10)]
    steps = np.diff(counts)
    assert steps[0] > 0 and np.all(steps == steps[0])
    entries = kt.compile(kt.models.chain_gu(10), "frame_jacobians", reference="local").operations.total
    assert entries > 2 * counts[-1]
