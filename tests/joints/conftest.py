"""The battery's joints and states: every registered kind, its reversal, and one position and velocity of each."""

import numpy as np
import pytest

from kinetree.joints import examples

SEED = 20240


def pytest_generate_tests(metafunc):
    if "joint" in metafunc.fixturenames:
        labels, joints = zip(*examples(np.random.default_rng(SEED)), strict=True)
        metafunc.parametrize("joint", joints, ids=labels)


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


@pytest.fixture
def q(joint, rng):
    return joint.random(rng)


@pytest.fixture
def v(joint, rng):
    return [float(x) for x in rng.normal(size=joint.nv)]
