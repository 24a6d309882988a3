"""Positions of joints without a closed form are found from their poses, of as many starts as a joint needs."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.joints import (
    Composite,
    Cylindrical,
    Helical,
    Joint,
    Prismatic,
    RackAndPinion,
    Reversed,
    Revolute,
    SphericalExponential,
    Translational,
    Universal,
    examples,
)
from kinetree.joints.nearest_position import SEARCHES, _search
from kinetree.spatial import Motion, Transform, Vector3
from kinetree.spatial.rotation import IdentityRotation

POINTS = 1000
NEAR = 1e-9  # of matrices and places: the last steps double the digits
OBLIQUE, STEEP = (0.3, -0.5, 0.8), (-0.13, -0.10, 0.99)
SERIES = {
    "crane": Composite((Revolute((0, 1, 0)), Prismatic((1, 0, 0)))),
    "axis along that of a rack": Reversed(
        Composite((Revolute(STEEP), Composite((Prismatic((0, 1, 0)), Reversed(RackAndPinion(0.4))))))
    ),
    "two racks": Composite((RackAndPinion(0.4), Reversed(RackAndPinion(0.3)))),
    "screw and universal": Composite((Helical(OBLIQUE, 0.2), Universal())),
    "five freedoms": Composite(
        tuple(kind(axis) for kind, axis in zip(
            (Revolute, Prismatic, Revolute, Prismatic, Revolute),
            ((1, 2, 0), (0, 1, -1), (1, 0, 0.4), OBLIQUE, STEEP), strict=True,
        ))
    ),
    "two cylinders": Composite((Cylindrical((1, 0, 0)), Cylindrical(OBLIQUE))),
    "six freedoms": Composite((SphericalExponential(), Translational())),
}  # fmt: skip
HARD = ("axis along that of a rack", "two racks", "screw and universal", "five freedoms")


def misfits(joint, q, X) -> np.ndarray:
    """The largest entry of an orientation's matrix, less the identity, and of a place, between X and the pose at q."""
    E = (X @ joint.transform(q).inverse()).collapse()
    turned = [abs(x - (m == n)) for m, row in enumerate(E.E.matrix.rows) for n, x in enumerate(row)]
    return np.max(np.broadcast_arrays(*turned, *map(abs, E.r)), axis=0)


def positions(joint, many: int) -> list[np.ndarray]:
    """Others than those at which searches are tried out."""
    rng = np.random.default_rng(99)
    return list(np.array([joint.random(rng) for _ in range(many)]).T)


@pytest.mark.parametrize("name", SERIES)
def test_random_positions_are_found(name):
    """All of a thousand poses are reached by the position that is found from them; the joint may have others."""
    joint = SERIES[name]
    assert joint.searched
    X = joint.transform(positions(joint, POINTS))
    assert misfits(joint, joint.loop_coordinates(X)[0], X).max() < NEAR


@pytest.mark.parametrize("name", [name for name in SERIES if name != "six freedoms"])
def test_of_several_positions_the_one_next_to_the_neutral_one_is_found(name):
    """These joints have one position within half a turn, which comes back; others of its pose are turns away."""
    joint = SERIES[name]
    q = positions(joint, 200)
    found = joint.loop_coordinates(joint.transform(q))[0]
    np.testing.assert_allclose(np.array(found), np.array(q), rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("name", SERIES)
def test_starts_are_as_many_as_a_joint_needs(name):
    """Joints that single steps of Gauss and Newton find take no more."""
    assert (_search(SERIES[name]) in SEARCHES) == (name in HARD)


@pytest.mark.seeds(2)
def test_every_kind_of_joint(seed):
    """The positions of all examples without a closed form, and of their reversals."""
    rng = np.random.default_rng(seed)
    for name, joint in examples(rng):
        if joint.searched:
            X = joint.transform(positions(joint, 100))
            assert misfits(joint, joint.loop_coordinates(X)[0], X).max() < NEAR, name


def test_numbers_and_arrays_find_the_same():
    """One state as floats takes the same steps as a column of arrays."""
    joint = SERIES["two racks"]
    q = positions(joint, 3)
    found = np.array(joint.loop_coordinates(joint.transform(q))[0])
    for k in range(3):
        alone = joint.loop_coordinates(joint.transform([float(x[k]) for x in q]))[0]
        np.testing.assert_allclose(alone, found[:, k], rtol=0.0, atol=1e-12)


def test_joints_with_a_formula_are_not_searched():
    """Kinds of the library with a formula, also reversed, behind fixed parts, and of a user."""

    class Slide(Joint):
        kind, nq, nv = "slide", 1, 1

        def transform(self, q):
            return Transform(IdentityRotation(), Vector3(q[0], 0.0, 0.0))

        def motion_subspace(self, q):
            return (Motion.of([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),)

        def loop_coordinates(self, X):
            return [X.r.x], ()

    for joint in (Revolute(), Reversed(Universal()), Composite((Translational(),)), Slide()):
        assert not joint.searched
