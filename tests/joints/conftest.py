"""The battery's joints and states: every registered kind, its reversal, and one position and velocity of each."""

import numpy as np
import pytest

from kinetree.errors import UnsupportedError
from kinetree.joints import Reversed, examples

SEED = 20240
# Joints whose frames are where their parameters say, so that they need not coincide anywhere.
UNALIGNED = {"ellipsoid", "spline_curve", "spline_surface"}


def pytest_generate_tests(metafunc):
    if "joint" in metafunc.fixturenames:
        chosen = [(label, joint) for label, joint in examples(np.random.default_rng(SEED)) if serves(metafunc, joint)]
        labels, joints = zip(*chosen, strict=True)
        metafunc.parametrize("joint", joints, ids=[label[:80] for label in labels])


def serves(metafunc, joint):
    """Whether a test is about this joint: some are about implicit forms, or about frames that coincide."""
    if metafunc.module.__name__.endswith("test_battery_implicit"):
        return has_implicit_form(joint)
    return not (metafunc.function.__name__.endswith("aligns_the_frames") and innermost(joint).kind in UNALIGNED)


def innermost(joint):
    """The joint itself, or the one that is reversed."""
    return innermost(joint.joint) if isinstance(joint, Reversed) else joint


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
def q(joint, rng):
    return joint.random(rng)


@pytest.fixture
def v(joint, rng):
    return [float(x) for x in rng.normal(size=joint.nv)]
