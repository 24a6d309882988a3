"""The loaded model against Pinocchio's reading of the same file: sizes, placements, inertias, joint by joint."""

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio")

import kinetree as kt  # noqa: E402
from kinetree.model.parts import pose_of_transform  # noqa: E402
from tests.engines.pinocchio_bridge import pinocchio_model  # noqa: E402
from tests.engines.robots import ROBOTS, robot_path  # noqa: E402


@pytest.fixture(scope="module", params=ROBOTS)
def pair(request):
    file, floating = robot_path(request.param), ROBOTS[request.param].floating_base
    return kt.load(file, floating_base=floating, inertia="accept"), pinocchio_model(file, floating)


def same_joint(theirs, name):
    return theirs.getJointId(name)


def test_sizes(pair):
    """The same joints with as many velocities; Pinocchio writes a continuous joint as (cos, sin)."""
    ours, theirs = pair
    assert set(ours.joint_names) == set(list(theirs.names)[1:])
    extra = sum(theirs.nqs[j] - theirs.nvs[j] for j in range(1, theirs.njoints) if theirs.nvs[j] == 1)
    assert (ours.nv, ours.nq) == (theirs.nv, theirs.nq - extra)


def test_placements(pair):
    """Every joint sits at the same pose in its parent's frame (1e-13: snapping of near-exact entries)."""
    ours, theirs = pair
    for i in ours.outward():
        R, p = pose_of_transform(ours.X_T[i])
        other = theirs.jointPlacements[same_joint(theirs, ours.joint_name(i))]
        assert np.allclose(R, other.rotation, atol=2e-13, rtol=0)
        assert np.allclose(p, other.translation, atol=2e-13, rtol=0)


def test_inertias(pair):
    """Every body, with what is fixed to it, has the same mass, first moment and tensor about its origin."""
    ours, theirs = pair
    for i in ours.outward():
        I, other = ours.I[i], theirs.inertias[same_joint(theirs, ours.joint_name(i))]
        about_origin = other.matrix()[3:, 3:]
        assert np.isclose(I.m, other.mass, rtol=1e-14)
        assert np.allclose(list(I.h), other.mass * other.lever, rtol=1e-12, atol=1e-13 * max(I.m, 1e-3))
        assert np.allclose(np.array(I.I.matrix.rows), about_origin, rtol=1e-11, atol=1e-12 * np.abs(about_origin).max())


def test_limits(pair):
    """Position, velocity and effort limits of joints with one variable."""
    ours, theirs = pair
    for i in ours.outward():
        j = same_joint(theirs, ours.joint_name(i))
        if ours.joints[i].nv != 1 or theirs.nqs[j] != 1:
            continue
        k, q, v = ours.v_slice[i].start, theirs.idx_qs[j], theirs.idx_vs[j]
        assert ours.velocity_limit[k] == theirs.velocityLimit[v] and ours.effort_limit[k] == theirs.effortLimit[v]
        assert (ours.lower[k], ours.upper[k]) == (theirs.lowerPositionLimit[q], theirs.upperPositionLimit[q])


def test_frames(pair):
    """Every link that was merged is a frame at the same place of the same body."""
    ours, theirs = pair
    for frame in ours.frames[1:]:  # without that of the world
        other = theirs.frames[theirs.getFrameId(frame.name, pin.FrameType.BODY)]
        assert frame.body == 0 or theirs.names[other.parentJoint] == ours.joint_name(frame.body)
        assert np.allclose(frame.R_BF, other.placement.rotation, atol=1e-12)
        assert np.allclose(frame.p_BF, other.placement.translation, atol=1e-12)
