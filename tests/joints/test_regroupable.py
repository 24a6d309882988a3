"""Regroupable parts of a successor's inertia: moments of mass that might as well be on the predecessor."""

import numpy as np

from kinetree.algorithms.base_inertia import MOMENTS
from kinetree.joints import Revolute
from kinetree.joints.elementary import TurnedBy, TurnedRevolute
from kinetree.spatial import AxialRotation, Inertia, Symmetric3, Vector3


def unit_moment(name):
    m, x, y, z, *P = (float(name == other) for other in MOMENTS)
    return Inertia.from_moments(m, Vector3(x, y, z), Symmetric3(*P))


def regroupable(joint, name, q):
    """Whether X_J^T Delta X_J = Delta at q, and Delta S = 0, to rounding."""
    Delta, X = unit_moment(name), joint.transform(q)
    same = np.abs((X.inverse_apply(Delta)).matrix() - Delta.matrix()).max() < 1e-14
    return same and all(np.abs(np.array(list(Delta @ S))).max() < 1e-14 for S in joint.motion_subspace(q))


def test_regroupable_moments_have_no_influence(joint, rng):
    """Each named moment is the same seen from the predecessor, at any position, and resists no joint velocity."""
    for name in joint.regroupable:
        for _ in range(3):
            assert regroupable(joint, name, joint.random(rng)), name


def test_joints_about_z_name_all_regroupable_moments(rng):
    """A revolute joint about z names every single regroupable moment, however it is represented."""
    joint = Revolute()
    found = tuple(name for name in MOMENTS if all(regroupable(joint, name, joint.random(rng)) for _ in range(3)))
    assert joint.regroupable == found == TurnedRevolute(zero=0.3).regroupable
    assert TurnedBy(AxialRotation(2, 0.8, 0.6)).regroupable == found
