"""In a whole mechanism, a reversed joint is the one that is written by hand for the other direction (table 4.2)."""

from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Free, Joint, RackAndPinion, Reversed, Revolute, Spherical
from kinetree.model import ModelBuilder
from kinetree.spatial import Motion, Transform, Vector3
from kinetree.spatial.rotations import rz

from .calculus import columns, matrix, six

RADIUS = 0.4


@dataclass(frozen=True)
class PinionAndRack(Joint):
    """The rack as it moves under the pinion: derived from the geometry, not from RackAndPinion.

    Seen from the pinion the rack turns by -q, and the rack's origin stays behind by radius * q along the rack's x axis.
    """

    radius: float
    nq = nv = 1

    def transform(self, q):
        E = rz(-q[0])
        return Transform(E, E.inverse_apply(Vector3(-self.radius * q[0], 0.0, 0.0)))

    def motion_subspace(self, q):
        return (Motion(Vector3(0.0, 0.0, -1.0), Vector3(-self.radius, self.radius * q[0], 0.0)),)

    def bias(self, q, v):
        return Motion(Vector3.zero(), Vector3(0.0, self.radius * v[0] * v[0], 0.0))


def mechanism(joint):
    """A floating base, the joint, and a branch behind it, with general offsets and bodies."""
    rng, builder = np.random.default_rng(23), ModelBuilder("polarity")

    def body(name, parent, joint):
        root, R = rng.normal(size=(3, 3)), np.linalg.qr(rng.normal(size=(3, 3)))[0]
        placement = (R * np.sign(np.linalg.det(R)), rng.normal(size=3))
        I_c = np.trace(root @ root.T) * np.eye(3) - root @ root.T
        builder.add_body(name, parent, joint, placement=placement, mass=1.5, com=rng.normal(size=3), inertia=I_c)

    body("base", "world", Free())
    body("rack", "base", joint)
    body("arm", "rack", Revolute((0.0, 0.6, 0.8)))
    body("ball", "rack", Spherical())
    return builder.build()


@pytest.fixture
def models():
    return mechanism(Reversed(RackAndPinion(RADIUS))), mechanism(PinionAndRack(RADIUS))


@pytest.fixture
def state(models, rng):
    q = models[0].random_q(rng)
    return q, *rng.normal(size=(3, models[0].nv))


def agree(function, models, *inputs):
    """Both mechanisms give the same; a few hundred products of numbers of order ten."""
    found, expected = (np.asarray(function(model, *inputs)) for model in models)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.max(np.abs(expected)))


def test_joints_are_the_same(rng):
    """X, S and c_J of the reversed joint are those derived by hand."""
    for _ in range(3):
        q, v = rng.normal(size=(2, 1)).tolist()
        found, expected = Reversed(RackAndPinion(RADIUS)), PinionAndRack(RADIUS)
        np.testing.assert_allclose(matrix(found.transform(q)), matrix(expected.transform(q)), atol=1e-15)
        np.testing.assert_allclose(columns(found.motion_subspace(q)), columns(expected.motion_subspace(q)), atol=1e-15)
        np.testing.assert_allclose(six(found.bias(q, v)), six(expected.bias(q, v)), atol=2e-15)


def test_inverse_dynamics(models, state):
    """Joint forces of the whole tree."""
    q, v, a, _ = state
    agree(kt.rnea, models, q, v, a)


def test_mass_matrix_and_forward_dynamics(models, state):
    """The same kinetic energy, and the same motion under the same forces."""
    q, v, _, tau = state
    agree(kt.crba, models, q)
    agree(kt.aba, models, q, v, tau)


def test_direction_matters(models, state):
    """The joint is asymmetric: not reversed, or with q and v of the other sign, it is another mechanism."""
    q, v, a, _ = state
    tau = kt.rnea(models[0], q, v, a)
    assert np.max(np.abs(kt.rnea(mechanism(RackAndPinion(RADIUS)), q, v, a) - tau)) > 0.1
    mirrored = [x.copy() for x in (q, v, a)]
    for x, k in zip(mirrored, (7, 6, 6), strict=True):
        x[k] = -x[k]
    tau_mirrored = kt.rnea(mechanism(RackAndPinion(RADIUS)), *mirrored)
    assert np.max(np.abs(np.abs(tau_mirrored) - np.abs(tau))) > 0.1
