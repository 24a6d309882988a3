"""Contacts as part of a model: gaps and their rates, copies, surgery, numbers."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Ground, Shape
from kinetree.errors import ArgumentError, DuplicateNameError, ModelError, UnknownNameError, UnsupportedError
from kinetree.verification.data_checks import finite
from tests.collision.systems import shaped

GROUND = Ground(height=-0.3, normal=(0.2, -0.3, 1.0), friction=0.6)


@pytest.fixture(scope="module")
def tree():
    """A tree with every kind of joint, a shape on each body, on a slope."""
    rng = np.random.default_rng(5)
    return shaped(kt.models.random_tree(40, seed=3), ("sphere", "box"), rng).with_contacts(ground=GROUND)


@pytest.fixture(scope="module")
def arm():
    """A planar arm above a floor, with a box and a ball."""
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    b.add_geometry("upper", kt.model.Geometry("box", (0.1, 0.2, 0.3), name="box"))
    b.add_geometry("lower", kt.model.Geometry("sphere", (0.1,), p_BG=(0.0, 0.0, -1.0), name="ball"))
    return b.build().with_contacts(ground=Ground(height=-3.0))


@pytest.mark.seeds(4)
def test_the_rate_of_a_gap_is_the_normal_row_times_v(tree, seed):
    """Central differences of step 1e-6 along the motion; every kind of joint."""
    rng, h = np.random.default_rng(seed), 1e-6
    q, v = tree.random_state(rng)
    ahead, behind = (kt.collision.contact_gaps(tree, kt.integrate(tree, q, s * h * v)) for s in (1.0, -1.0))
    rates = kt.collision.contact_jacobian(tree, q)[2::3] @ v
    np.testing.assert_allclose((ahead - behind) / (2.0 * h), rates, atol=1e-7)


def test_rows_are_the_velocity_of_the_contact_point(tree):
    """By the twist of the body, moved to the contact point and turned into the contact's axes."""
    rng = np.random.default_rng(1)
    q, v = tree.random_state(rng)
    points, normals, _ = kt.collision.contact_points(tree, q)
    w = (kt.collision.contact_jacobian(tree, q) @ v).reshape(-1, 3)
    n = 0
    for pair in tree.contacts:
        with kt.interpreted():
            V = kt.velocity(tree, q, v, frame=pair.second.body, reference="world")
        for _ in range(pair.count):
            E = np.array([list(axis) for axis in kt.collision.contact_axes(kt.spatial.Vector3(*normals[n]))])
            np.testing.assert_allclose(E @ (V[3:] + np.cross(V[:3], points[n])), w[n], atol=1e-12)
            n += 1
    assert n == tree.n_contacts


def test_two_moving_bodies():
    """The row is the difference of both velocities, and joints that move both do not take part."""
    b = kt.ModelBuilder.of(kt.models.random_tree(6, seed=2, joints=[kt.joints.Revolute((0, 0, 1))], branching=0.9))
    model = b.build()
    first, second = Shape("body5", "box", (0.1, 0.2, 0.3), name="a"), Shape("body6", "plane", name="b")
    model = model.replace(contacts=[ContactPair("pair", first, second)])
    q, v = model.random_state(np.random.default_rng(0))
    points, normals, gaps = kt.collision.contact_points(model, q)
    J = kt.collision.contact_jacobian(model, q)
    for n in range(4):
        V = [kt.velocity(model, q, v, frame=name, reference="world") for name in ("body5", "body6")]
        one, other = (V_i[3:] + np.cross(V_i[:3], points[n]) for V_i in V)
        assert abs(normals[n] @ (other - one) - J[3 * n + 2] @ v) < 1e-12
    both = {*model.support(model.body("body5"))} & {*model.support(model.body("body6"))}
    assert all(not J[:, model.v_slice[i]].any() for i in both)


@pytest.mark.seeds(5)
def test_axes(seed):
    """Orthonormal and right-handed for every normal, also close to both poles."""
    rng = np.random.default_rng(seed)
    for n in (rng.normal(size=3), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1e-9, 0.0, -1.0), (0.0, 1.0, 0.0)):
        E = np.array([list(a) for a in kt.collision.contact_axes(kt.spatial.Vector3(*(n / np.linalg.norm(n))))])
        np.testing.assert_allclose(E @ E.T, np.eye(3), atol=4e-15)
        assert np.linalg.det(E) > 0.0


def test_compiled_is_interpreted(tree):
    """The same numbers from code and from floats."""
    q, _ = tree.random_state(np.random.default_rng(2))
    with kt.interpreted():
        plain = [*kt.collision.contact_points(tree, q), kt.collision.contact_jacobian(tree, q)]
    for one, other in zip([*kt.collision.contact_points(tree, q), kt.collision.contact_jacobian(tree, q)], plain,
                          strict=True):  # fmt: skip
        np.testing.assert_allclose(one, other, atol=1e-13)


def test_batches_are_their_states(arm):
    """All bits of each state."""
    q = np.array([arm.random_q(np.random.default_rng(seed)) for seed in range(5)])
    for function in (kt.collision.contact_gaps, kt.collision.contact_jacobian):
        np.testing.assert_array_equal(function(arm, q), [function(arm, x) for x in q])


def test_derivatives_of_gaps_are_the_normal_rows(arm):
    """By differentiation of the compiled gaps."""
    q = np.array([0.3, -0.5])
    slopes = kt.differentiate(arm, "contact_gaps", wrt="q")(q)
    np.testing.assert_allclose(slopes, kt.collision.contact_jacobian(arm, q)[2::3], atol=1e-13)


def test_dynamics_do_not_see_contacts():
    """aba with contacts is aba without, and compiled code does the same operations."""
    rng = np.random.default_rng(5)
    model = shaped(kt.models.random_tree(6, seed=3), ("sphere", "box"), rng).with_contacts(ground=GROUND)
    q, v = model.random_state(np.random.default_rng(3))
    bare = model.replace(contacts=())
    assert model.contacts and not bare.contacts
    np.testing.assert_array_equal(kt.aba(model, q, v, v), kt.aba(bare, q, v, v))
    assert kt.compile(model, "aba").operations == kt.compile(bare, "aba").operations


def test_infinite_stiffness_is_no_fault(arm):
    """Verification accepts it as a number of rigid contact."""
    assert np.isinf(arm.numbers().as_dict()["ground/ball.stiffness"])
    assert not finite(SimpleNamespace(model=arm)).found.any()


def test_numbers_are_inputs_of_one_program(arm):
    """Another radius and another height give other gaps without another structure."""
    other = arm.replace(contacts=()).with_contacts(ground=Ground(height=-2.5, friction=0.1))
    assert arm.structure() == other.structure() and arm.contacts != other.contacts
    names = arm.numbers().as_dict()
    assert names["ball.radius"] == 0.1 and names["ground/ball.friction"] == 0.8 and names["ground.p.z"] == -3.0
    q = np.array([0.2, -0.4])
    np.testing.assert_allclose(
        kt.collision.contact_gaps(other, q), kt.collision.contact_gaps(arm, q) - 0.5, rtol=0.0, atol=1e-14
    )
    gaps = kt.compile(arm, "contact_gaps").with_parameters({"ball.radius": 0.3})(q)
    np.testing.assert_allclose(gaps[-1], kt.collision.contact_gaps(arm, q)[-1] - 0.2, atol=1e-14)


def test_copies_and_pickles_keep_contacts(arm):
    """Pickles, replace, and the builder."""
    for copy in (pickle.loads(pickle.dumps(arm)), arm.replace(gravity=(0, 0, -1)), kt.ModelBuilder.of(arm).build()):
        assert copy.contacts == arm.contacts
    assert arm.replace(contacts=()).contacts == ()


def test_surgery(arm):
    """Renamed, cut, welded and attached parts take their contacts along; gaps stay."""
    q = np.array([0.3, -0.2])
    renamed = kt.surgery.rename(arm, prefix="left_")
    assert renamed.contact_labels[-1] == "left_ground/ball"
    np.testing.assert_array_equal(kt.collision.contact_gaps(renamed, q), kt.collision.contact_gaps(arm, q))
    locked = kt.surgery.lock(arm, {"elbow": q[1]})
    np.testing.assert_allclose(kt.collision.contact_gaps(locked, q[:1]), kt.collision.contact_gaps(arm, q), atol=1e-13)
    rest = kt.surgery.lock(arm, {"shoulder": q[0], "elbow": q[1]})
    assert not rest.contacts


def test_wrong_pairs_are_named(arm):
    """Unknown frames, two shapes on one body, two pairs or shapes of one name, kinds without a law."""
    floor, ball = arm.contacts[-1].shapes
    with pytest.raises(UnknownNameError, match="no frame named 'hand'"):
        arm.replace(contacts=[ContactPair("x", floor, Shape("hand", "sphere", (0.1,), name="b"))])
    with pytest.raises(ModelError, match="between two shapes of body 'lower'"):
        arm.replace(contacts=[ContactPair("x", Shape("lower", "plane", name="p"), ball)])
    with pytest.raises(DuplicateNameError, match="two contact pairs are named 'ground/ball'"):
        arm.with_contacts(pairs=[arm.contacts[-1]])
    with pytest.raises(DuplicateNameError, match="two shapes of contacts are named 'ball'"):
        arm.with_contacts(pairs=[ContactPair("x", floor, Shape("lower", "sphere", (0.3,), name="ball"))])
    with pytest.raises(UnsupportedError, match="no law for a plane and a plane"):
        ContactPair("x", floor, floor)
    with pytest.raises(ModelError, match="no body of model 'pendulum' has collision shapes"):
        kt.models.pendulum().with_contacts(ground=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (dict(friction=-0.1), "friction is -0.1"),
        (dict(friction=float("nan")), "friction is nan"),
        (dict(restitution=1.5), "restitution is 1.5, expected a number from 0"),
        (dict(stiffness=0.0), "stiffness is 0.0, expected a positive"),
        (dict(relaxation_time=-1.0), "relaxation_time is -1.0"),
        (dict(normal=(0.0, 0.0, 0.0)), "normal is"),
        (dict(height=float("inf")), "height is inf"),
    ],
)
def test_wrong_numbers_are_named(values, message):
    """Of the ground and of materials."""
    with pytest.raises(ArgumentError, match=message):
        Ground(**values)
