"""The frames chosen for links between revolute joints: Denavit and Hartenberg's where they pay, the same mechanics."""

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Revolute
from kinetree.joints.elementary import QUARTER, TurnedRevolute
from kinetree.model import ModelBuilder
from kinetree.model.link_frames import MANY, REACH
from kinetree.models import binary_tree, chain_gu, random_tree
from kinetree.spatial import AxialRotation, GeneralRotation
from tests.model.kinematics import frame_poses, mass_matrix

ROUNDING = 1e-12  # chains of ten transforms with offsets of order one, and inertias of order ten


@pytest.fixture(params=["chain", "binary tree", "revolute tree", "floating tree"])
def model(request):
    """Mechanisms with general links between revolute joints."""
    return {
        "chain": lambda: chain_gu(7, seed=3),
        "binary tree": lambda: binary_tree(3, seed=1),
        "revolute tree": lambda: random_tree(12, seed=2, joints=[Revolute(), Revolute((1, 0, 0)), Revolute((1, 2, 3))]),
        "floating tree": lambda: random_tree(12, seed=5, joints=[Revolute((0, -1, 0))], floating=True),
    }[request.param]()


def test_nothing_in_joint_coordinates_changes(model):
    """Mass matrix and frames are those of the model, at any position."""
    q = model.random_q(np.random.default_rng(0))
    other = model.reframed()
    assert any(isinstance(joint, TurnedRevolute) for joint in other.joints)
    np.testing.assert_allclose(mass_matrix(other, q), mass_matrix(model, q), rtol=0, atol=10 * ROUNDING)
    here, there = frame_poses(other, q), frame_poses(model, q)
    for name in there:
        np.testing.assert_allclose(here[name], there[name], rtol=0, atol=ROUNDING)


def test_links_of_a_chain_are_axial_screws():
    """Every link of GU(n) but the first, which stands on the world: a turn about x, an offset in the x-z plane."""
    other = chain_gu(8).reframed()
    for X in other.X_T[2:]:
        assert isinstance(X.E, AxialRotation) and X.E.axis == 0
        assert X.r.y == 0.0


def test_one_child_of_each_body_has_an_axial_link():
    """The frame of a body can follow one child only; the others' links still lose their turn about the child's axis."""
    model = binary_tree(4)
    other = model.reframed()
    for p in range(1, 8):
        kinds = [type(other.X_T[i].E) for i in model.children(p)]
        assert sorted(kind.__name__ for kind in kinds) == ["AxialRotation", "GeneralRotation"]
    general = [X.E for X in other.X_T if isinstance(X.E, GeneralRotation)]
    assert all(E.turns for E in general)


def test_origins_do_not_move_far():
    """Axes that are nearly parallel meet far away; moving origins there would cost digits."""
    tilt = 1e-3
    b = ModelBuilder("nearly parallel")
    b.add_body("a", joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    turn = AxialRotation(2, math.cos(0.3), math.sin(0.3)) @ AxialRotation(0, math.cos(tilt), math.sin(tilt))
    turn = turn @ AxialRotation(2, math.cos(0.4), math.sin(0.4))
    b.add_body("b", "a", Revolute(), placement=(np.array(turn.matrix.rows).T, (0.2, 0.3, 0.1)), mass=1.0,
               com=(0.1, 0.2, 0.3), inertia=(1, 1, 1))  # fmt: skip
    model = b.build()
    for X in model.reframed().X_T:
        assert np.abs(list(X.r)).max() <= 0.3 * (1.0 + 2.0 * REACH)


def test_large_models_keep_their_origins():
    """Otherwise links of one form would take two."""
    other = chain_gu(MANY).reframed()
    assert all(0.0 not in list(X.r) for X in other.X_T[1:])


def test_bodies_that_gain_nothing_stay_as_they_are():
    """A turn that frees one link and fills an inertia's zeros, or spoils two permuted links, is not made."""
    b = ModelBuilder("hub")
    b.add_body("hub", joint=Revolute(), mass=1.0, inertia=(1, 2, 3))
    for k, angles in enumerate(((0.5 * math.pi, 0.0, 0.0), (0.0, 0.5 * math.pi, 0.0))):
        b.add_body(f"straight{k}", "hub", Revolute(), placement=((1.0, 0.0, 0.0), angles), mass=1.0, inertia=(1, 1, 1))
    b.add_body("oblique", "hub", Revolute(), placement=((0.0, 1.0, 0.0), (0.3, 0.4, 0.5)), mass=1.0, inertia=(1, 1, 1))
    other = b.build().reframed()
    assert other.joints[1] == other.joints[2] == Revolute()
    assert other.X_T[2].E.matrix.rows == b.build().X_T[2].E.matrix.rows


def test_reframing_twice_is_reframing_once(model):
    """The chosen frames are kept."""
    assert model.reframed().reframed() is model.reframed()


def test_masses_are_no_part_of_the_structure():
    """Frames depend on geometry alone where no inertia has zeros: another payload takes the same machine code."""
    model = chain_gu(4)
    heavier = model.replace(I=tuple(I * 2.0 for I in model.I))
    assert heavier.reframed().structure() == model.reframed().structure()


@pytest.mark.parametrize("zero", [0.3, -2.0, QUARTER, -QUARTER, 2 * QUARTER])
def test_turned_joint_is_a_revolute_one_from_another_zero(zero):
    """X_J(q) is that of a revolute joint at q + zero; quarter turns are exact."""
    joint = TurnedRevolute(zero=zero)
    found = np.array(joint.transform([0.7]).E.matrix.rows)
    np.testing.assert_allclose(found, np.array(Revolute().transform([0.7 + zero]).E.matrix.rows), atol=1e-15)
    assert joint == TurnedRevolute(zero=zero) != TurnedRevolute(zero=0.1)
    if zero == QUARTER:
        assert joint.transform([0.0]).E.matrix.rows == ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def test_errors_stay_at_rounding():
    """Forward after inverse dynamics of a general chain is the identity to the same digits as before.

    The error is bounded by eps times the condition of M.
    """
    rng = np.random.default_rng(4)
    for seed in range(3):
        model = chain_gu(6, seed)
        q, v, a = rng.normal(size=(3, 50, 6))
        found = kt.aba(model, q, v, kt.rnea(model, q, v, a))
        condition = np.linalg.cond(kt.crba(model, q))
        assert np.all(np.abs(found - a).max(axis=1) < 2e-15 * condition * (1.0 + np.abs(a).max(axis=1)))
