"""Contacts through surgery: the same gaps at the same poses, pairs that go with their bodies."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import Ground


@pytest.fixture(scope="module")
def quadruped():
    """A quadruped with contacts of its feet and of its thighs with each other."""
    model = kt.load("quadruped", floating_base=True)
    feet = [f"{leg}_shank" for leg in ("FL", "FR", "RL", "RR")]
    return model.with_contacts(ground=Ground(height=-1.0), bodies=feet)


def gaps(model, q) -> dict[str, float]:
    """By label."""
    return dict(zip(model.contact_labels, kt.collision.contact_gaps(model, q).tolist(), strict=True))


def assert_same(found: dict, expected: dict) -> None:
    """Equal gaps of the pairs that both have."""
    assert found
    for label, gap in found.items():
        assert abs(gap - expected[label]) < 1e-12


def test_another_root(quadruped):
    """A foot becomes the base: the same gaps at the neutral position, where the base is put at its pose."""
    turned = kt.surgery.reroot(quadruped, "FL_shank")
    assert turned.contacts == quadruped.contacts
    q = turned.neutral()
    R, p = kt.pose(quadruped, quadruped.neutral(), frame="FL_shank")
    np.testing.assert_allclose(R, np.eye(3), atol=1e-12)
    base = turned.joint(turned.joint_names[0])
    assert turned.body_names[base] == "FL_shank"
    q[turned.q_slice[base]][:3] = p
    assert_same(gaps(turned, q), gaps(quadruped, quadruped.neutral()))


def test_a_part_keeps_its_contacts(quadruped):
    """Legs that are left out take their pairs along."""
    part = kt.surgery.prune(quadruped, ["FR_hip", "RL_hip"])
    assert {pair.second.body for pair in part.contacts} == {"FL_shank", "RR_shank"}
    assert_same(gaps(part, part.neutral()), gaps(quadruped, quadruped.neutral()))


def test_two_robots(quadruped):
    """A robot on another: its own pairs come along by its prefix, those with the world that it leaves do not."""
    guest = quadruped.replace(contacts=()).with_contacts(ground=True, pairs=[("FL_foot", "FR_foot")])
    own = [f"rider_{pair.name}" for pair in guest.contacts if "world" not in pair.frames]
    both = kt.surgery.attach(quadruped, guest, at="trunk", joint=kt.joints.Free(), prefix="rider_")
    assert [pair.name for pair in both.contacts] == [*(pair.name for pair in quadruped.contacts), *own]
    assert "rider_ground/RR_foot': frame 'world' is not there any more" in str(both.report)
    assert_same({label: gaps(both, both.neutral())[label] for label in quadruped.contact_labels},
                gaps(quadruped, quadruped.neutral()))  # fmt: skip


def test_locked_joints(quadruped):
    """Locked legs: the same gaps."""
    q, _ = quadruped.random_state(np.random.default_rng(1))
    legs = {name: q[quadruped.q_index(name)] for name in quadruped.joint_names[1:]}
    locked = kt.surgery.lock(quadruped, legs)
    assert locked.nv == 6
    assert_same(gaps(locked, q[:7]), gaps(quadruped, q))


def test_forces_of_soft_contact_follow(quadruped):
    """Soft contacts are renamed with the model and go with their bodies."""
    soft = quadruped.replace(contacts=()).with_forces(
        *kt.forces.SoftContact.of_contacts(quadruped, stiffness=1e4, damping=10.0)
    )
    other = kt.surgery.rename(soft, prefix="a_")
    q, v = soft.random_state(np.random.default_rng(2))
    q[2] = -1.0
    found, expected = (kt.dynamics.passive_joint_forces(x, q, v) for x in (other, soft))
    np.testing.assert_array_equal(found, expected)
    assert np.abs(expected).max() > 1.0
    assert len(kt.surgery.prune(soft, ["FR_hip"]).forces) < len(soft.forces)
