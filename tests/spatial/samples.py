"""Random quantities for the tests."""

from __future__ import annotations

import numpy as np

from kinetree.liegroup.so3 import exp_so3
from kinetree.spatial import (
    ArticulatedInertia,
    AxialRotation,
    Force,
    GeneralRotation,
    IdentityRotation,
    Inertia,
    Matrix3,
    Motion,
    Symmetric3,
    Transform,
    Vector3,
)

EPS = np.finfo(float).eps


def vector(rng, scale=1.0):
    return Vector3.of(scale * rng.normal(size=3))


def motion(rng):
    return Motion.of(rng.normal(size=6))


def force(rng):
    return Force.of(rng.normal(size=6))


def matrix(rng):
    return Matrix3(rng.normal(size=(3, 3)))


def symmetric(rng):
    return Symmetric3(*rng.normal(size=6).tolist())


def inertia(rng):
    """A body that can exist: its second moments are positive definite."""
    m = float(rng.uniform(0.5, 2.0))
    a = rng.normal(size=(3, 3))
    P = a @ a.T
    return Inertia.from_com(m, vector(rng), Symmetric3.of(np.trace(P) * np.eye(3) - P))


def articulated(rng):
    return ArticulatedInertia(symmetric(rng), matrix(rng), symmetric(rng))


def rotation(rng):
    return GeneralRotation(exp_so3(vector(rng, 2.0)).matrix)


def axial(rng, axis):
    angle = rng.uniform(-np.pi, np.pi)
    return AxialRotation(axis, float(np.cos(angle)), float(np.sin(angle)))


def transform(rng):
    return Transform(rotation(rng), vector(rng))


def rotations(rng):
    """Every kind of rotation: identity, axial, general, right angles, and an axial one after a permutation."""
    quarter = [AxialRotation(k, 0.0, s) for k in range(3) for s in (1.0, -1.0)]
    flips = [GeneralRotation((quarter[i] @ quarter[j]).matrix) for i in (0, 2, 3) for j in (1, 4)]
    tilted = [GeneralRotation((axial(rng, k) @ P).matrix) for k in range(3) for P in (flips[0], flips[3], quarter[2])]
    half = [AxialRotation(k, -1.0, 0.0) for k in range(3)]
    return [IdentityRotation(), *(axial(rng, k) for k in range(3)), rotation(rng), *quarter, *half, *flips, *tilted]


def offsets(rng):
    """Zero, along each axis, and general."""
    d = float(rng.normal())
    return [Vector3.zero(), *(Vector3.unit(k) * d for k in range(3)), vector(rng)]


def transforms(rng):
    return [Transform(E, r) for E in rotations(rng) for r in offsets(rng)]


def close(actual, expected, k=200.0):
    """Equal up to k rounding errors of the larger of 1 and the expected entries.

    The default allows for sums of a few dozen products of numbers of order one to ten, the size of these operations.
    """
    actual = actual if isinstance(actual, np.ndarray) else np.asarray(actual.array(), dtype=float)
    expected = expected if isinstance(expected, np.ndarray) else np.asarray(expected.array(), dtype=float)
    error = np.max(np.abs(actual - expected))
    return bool(error <= k * EPS * max(1.0, np.max(np.abs(expected))))
