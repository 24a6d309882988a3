"""The battery's joints and states: every registered kind, its reversal, and one position and velocity of each.

Joints that depend on time are taken at one, as algorithms see them; what happens as time goes by is told by ``later``.
"""

import functools

import numpy as np
import pytest

from kinetree.errors import UnsupportedError
from kinetree.joints import Reversed, examples

SEED = 20240
# Joints whose frames are where their parameters say, so that they need not coincide anywhere.
UNALIGNED = {"ellipsoid", "spline_curve", "spline_surface"}
NOW = 0.7  # [s]
TIMELESS: dict[int, tuple] = {}  # a joint at a time, and the joint that it was made of


def pytest_generate_tests(metafunc):
    if "joint" in metafunc.fixturenames:
        chosen = [(label, joint) for label, joint in joints_of_now() if serves(metafunc, joint)]
        labels, joints = zip(*chosen, strict=True)
        metafunc.parametrize("joint", joints, ids=[label[:80] for label in labels])


@functools.cache
def joints_of_now():
    """The joints with their labels: the same objects, which nothing changes, for all tests."""
    return [(label, now(joint)) for label, joint in examples(np.random.default_rng(SEED), time_dependent=True)]


def now(joint):
    """The joint, at the battery's time if it depends on time."""
    if not joint.time_dependent:
        return joint
    bound = joint.at(NOW)
    TIMELESS[id(bound)] = bound, joint
    return bound


def serves(metafunc, joint):
    """Whether a test is about this joint: some are about implicit forms, or about frames that coincide."""
    if metafunc.module.__name__.endswith("test_battery_implicit"):
        return id(joint) in with_implicit_form()
    aligned = innermost(joint).kind not in UNALIGNED and not joint.rheonomic
    return aligned or not metafunc.function.__name__.endswith("aligns_the_frames")


def innermost(joint):
    """The joint itself, or the one that is reversed."""
    return innermost(joint.joint) if isinstance(joint, Reversed) else joint


@functools.cache
def with_implicit_form():
    """The joints that can close a loop, by identity."""
    return {id(joint) for _, joint in joints_of_now() if has_implicit_form(joint)}


def has_implicit_form(joint):
    """Whether the joint can close a loop."""
    try:
        joint.implicit(joint.transform(joint.neutral()))
    except UnsupportedError:
        return False
    return True


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


@pytest.fixture
def timeless(joint):
    """The joint as it is registered, not at a time."""
    return TIMELESS.get(id(joint), (joint, joint))[1]


@pytest.fixture
def later(timeless):
    """The joint a time h from now; itself unless it depends on time."""
    return lambda h: timeless.at(NOW + h)


@pytest.fixture
def q(joint, rng):
    return joint.random(rng)


@pytest.fixture
def v(joint, rng):
    return [float(x) for x in rng.normal(size=joint.nv)]
