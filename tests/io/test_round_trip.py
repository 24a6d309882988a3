"""Public robots written and read again, in the same format and in the other, and read by the engines of others."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnsupportedError
from kinetree.io.mjcf.write import mjcf_text
from tests.io.models_alike import assert_alike, assert_shapes_alike
from tests.io.round_trips import (
    MJCF,
    SNAPPED,
    URDF,
    difference,
    dynamics_differ,
    mjcf_path,
    run,
    states,
    through_mjcf,
    through_urdf,
    urdf_model,
)

HANDFUL = ("ur5", "panda", "anymal_b", "icub", "human")
OTHER = 1e-10  # between engines: the order of summation differs, and the condition of a body's inertia is 1e4
RAISED = 1e-11  # where inertias were raised to 2e-15 kg m^2: that much of a link with a ten-thousandth of a kg m^2
SAME = 1e-12  # of our own dynamics: 1e-14 of the numbers, times a hundred links


@pytest.mark.parametrize("name", HANDFUL)
def test_urdf_to_urdf(name):
    """Nothing changes: structure, numbers, frames, couplings, shapes, and the text of a second writing."""
    again, same_text = through_urdf(urdf_model(name))
    assert same_text


@pytest.mark.parametrize("name", HANDFUL)
def test_urdf_to_mjcf(name):
    """Names, frames, limits and couplings are those of the URDF file, and the dynamics too."""
    model = urdf_model(name)
    again, _, report = through_mjcf(model)
    assert dynamics_differ(again, model) < (RAISED if report.at_level("warning") else SAME)


@pytest.mark.parametrize("name", HANDFUL[:3])
def test_engines_read_what_is_written(name):
    """Pinocchio on the written URDF and MuJoCo on the written MJCF give our mass matrix and bias."""
    result = run(name)
    assert max(result.pinocchio, result.mujoco) < OTHER


def test_the_measure_sees_what_is_not_finite():
    """NaN on either side is an error, never a difference of zero; states stay where sines mean something."""
    for pair in (([np.nan, 1.0], [1.0, 1.0]), ([1.0, 1.0], [np.inf, 1.0])):
        with pytest.raises(AssertionError, match="not finite"):
            difference(*pair)
    far = kt.models.pendulum().replace(lower=-1e16, upper=1e16)
    assert max(abs(q[0]) for q, _ in states(far)) <= 10.0


def test_the_measure_sees_a_changed_mass():
    """One part in 1e9 of one link's inertia is far above the tolerance."""
    model = urdf_model("ur5")
    inertias = list(model.I)
    inertias[3] = inertias[3] * (1.0 + 1e-9)
    assert dynamics_differ(model.replace(I=inertias), model) > 10.0 * SAME


@pytest.mark.sweep
@pytest.mark.parametrize("name", URDF)
def test_thirty_robots(name):
    """All methods of thirty robots."""
    result = run(name)
    assert result.same_text
    assert result.urdf < SAME
    assert result.mjcf < (RAISED if result.warnings else SAME)
    assert max(result.pinocchio, result.mujoco) < OTHER


def mjcf_model(name, **options):
    """A model of ``MJCF``, or a skipped test."""
    try:
        return kt.load(mjcf_path(name), **options)
    except FileNotFoundError as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("name", MJCF)
def test_mjcf_to_mjcf(name):
    """Everything that the model holds comes back: tree, frames, shapes, tendons, actuators, constraints, keyframes."""
    model = mjcf_model(name, unsupported="drop")
    again = kt.load(mjcf_text(model)[0])
    # A frame on a merged body is written on the body it is merged with, so it may stand elsewhere in the list.
    assert_alike(again, model, 5e-14, frames_in_order=False, rotations=SNAPPED)
    assert_shapes_alike(again, model, SNAPPED)
    assert dict(again.welded) == dict(model.welded)
    assert (again.tendons, again.actuators, again.equalities) == (model.tendons, model.actuators, model.equalities)
    assert again.keyframes == model.keyframes
    for key in model.keyframes:
        np.testing.assert_allclose(np.concatenate(again.keyframe(key)), np.concatenate(model.keyframe(key)), atol=1e-14)
    for ours, theirs in zip(again.loops, model.loops, strict=True):
        assert (str(ours), ours.softness, ours.active) == (str(theirs), theirs.softness, theirs.active)
        assert np.allclose(list(ours.X_P.r), list(theirs.X_P.r), rtol=0, atol=SNAPPED)
        assert np.allclose(list(ours.X_S.r), list(theirs.X_S.r), rtol=0, atol=SNAPPED)


@pytest.mark.parametrize("name", ["cheetah", "ant", "walker2d"])
def test_mjcf_to_urdf(name):
    """What URDF can say survives: the bare tree has the same mass matrix and bias, by the same names."""
    model = mjcf_model(name)
    with pytest.raises(UnsupportedError, match="armature"):
        kt.io.to_urdf(model)
    again = kt.load(kt.io.to_urdf(model, unsupported="drop"))
    assert again.joint_names == model.joint_names
    assert dynamics_differ(again, model.replace(armature=0.0)) < SAME


def test_mjcf_with_ball_joints_is_no_urdf():
    """URDF has no ball joint; the error names it."""
    text = "<mujoco><worldbody><body><joint name='hip' type='ball'/><geom size='1'/></body></worldbody></mujoco>"
    model = kt.load(text)
    with pytest.raises(UnsupportedError, match=r"'hip' is Spherical\(\)"):
        kt.io.to_urdf(model, unsupported="drop")
