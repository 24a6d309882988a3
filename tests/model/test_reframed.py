"""Turning body frames so that joints are cheap: nothing that can be seen from outside changes."""

import numpy as np
import pytest

from kinetree.joints import Revolute
from kinetree.model import Geometry, ModelBuilder
from kinetree.models import puma_like, random_tree
from kinetree.spatial import IdentityRotation
from tests.model.kinematics import frame_poses, mass_matrix, total_inertia, world_transforms

ROUNDING = 1e-12  # chains of ten transforms with offsets of order one, and inertias of order ten


@pytest.fixture(params=range(4))
def pair(request):
    """A random tree with odd axes, its re-framed form, and a position."""
    model = random_tree(10 + request.param, seed=request.param)
    return model, model.reframed(), model.random_q(np.random.default_rng(request.param))


def test_joints_are_canonical(pair):
    """Reframing twice is reframing once, and is remembered."""
    model, other, _ = pair
    assert all(isinstance(joint.canonical()[0], IdentityRotation) for joint in other.joints[1:])
    assert other.reframed() is other and model.reframed() is other


def test_total_mass_and_inertia_stay(pair):
    """Mass, center of mass and inertia of the whole, in the world."""
    model, other, q = pair
    np.testing.assert_allclose(total_inertia(other, q), total_inertia(model, q), rtol=0, atol=ROUNDING * 10)


def test_frames_stay_where_they_are(pair):
    """frame(name) is the frame of the original body."""
    model, other, q = pair
    here, there = frame_poses(other, q), frame_poses(model, q)
    assert list(here) == list(there)
    for name in here:
        np.testing.assert_allclose(here[name], there[name], rtol=0, atol=ROUNDING)


def test_the_mass_matrix_stays(pair):
    """Joint-space quantities are the same, with the same signs."""
    model, other, q = pair
    np.testing.assert_allclose(mass_matrix(other, q), mass_matrix(model, q), rtol=0, atol=ROUNDING * 10)


def test_an_oblique_axis_becomes_z():
    """The point of it all: rz is the cheapest rotation."""
    b = ModelBuilder()
    ball = Geometry("sphere", (1.0,), p_BG=(1, 0, 0))
    b.add_body("a", joint=Revolute((1, 2, 3)), mass=1.0, inertia=(1, 1, 1), geometry=[ball])
    model = b.build()
    other = model.reframed()
    assert other.joints[1] == Revolute((0, 0, 1))
    center = [
        X.E.inverse_apply(type(X.r)(*m.geometry[1][0].p_BG.tolist())) + X.r
        for m in (model, other)
        for X in [world_transforms(m, [0.7])[1]]
    ]
    np.testing.assert_allclose(list(center[0]), list(center[1]), atol=1e-15)


def test_a_model_with_canonical_joints_and_cheap_links_is_its_own_reframed_form():
    """No copy is made."""
    model = puma_like()
    assert model.reframed() is model
