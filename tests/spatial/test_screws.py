"""Line vectors, free vectors, screws (Featherstone, section 2.5)."""

import math

import numpy as np
import pytest

from kinetree.errors import ModelError
from kinetree.spatial import Force, Motion, Vector3, screws

from . import samples
from .samples import close

RNG = np.random.default_rng(17)
KINDS = [samples.motion, samples.force]


def test_families():
    """Rotations and linear forces are line vectors, translations and couples free ones, helical motions neither."""
    s, p = samples.vector(RNG), samples.vector(RNG)
    rotation, translation = Motion(s, p.cross(s)), Motion(Vector3.zero(), s)
    along, couple = Force.at_point(s, p), Force(s, Vector3.zero())
    helical = Motion(s, p.cross(s) + s)
    assert screws.is_line(rotation) and screws.is_line(along)
    assert screws.is_free(translation) and screws.is_free(couple)
    for x in (translation, couple, helical):
        assert not screws.is_line(x)
    for x in (rotation, along, helical):
        assert not screws.is_free(x)


@pytest.mark.parametrize("make", KINDS)
def test_decomposition_along_the_axis(make):
    """x = [s; s_O - h s] + [0; h s] with h = s . s_O / s . s: a line vector and a parallel free vector (eq. 2.10)."""
    x = make(RNG)
    line, free = screws.decompose(x)
    assert close(line + free, x)
    assert screws.is_line(line) and screws.is_free(free)
    assert close(screws.resultant(x).cross(screws.field_at_origin(free)), np.zeros(3))


@pytest.mark.parametrize("make", KINDS)
def test_decomposition_through_a_point(make):
    """The line through a given point is unique too; points on it satisfy OP x s = s_O."""
    x, p = make(RNG), samples.vector(RNG)
    line, free = screws.decompose(x, p)
    assert close(line + free, x)
    assert screws.is_line(line) and screws.is_free(free)
    assert close(p.cross(screws.resultant(line)), screws.field_at_origin(line))


@pytest.mark.parametrize("make", KINDS)
def test_screw_data_rebuild_the_vector(make):
    """Axis, pitch and magnitude hold all of a vector, and the axis' point is the one next to the origin."""
    x = make(RNG)
    data = screws.screw(x)
    assert close(screws.from_screw(type(x), data), x)
    assert np.isclose(data.direction.dot(data.direction), 1.0) and abs(data.point.dot(data.direction)) < 1e-14


@pytest.mark.parametrize("make", KINDS)
def test_axis_does_not_depend_on_the_frame(make):
    """Pitch and magnitude are invariant; direction and axis move with the frame."""
    X, x = samples.transform(RNG), make(RNG)
    here, there = screws.screw(x), screws.screw(X @ x)
    assert np.isclose(there.pitch, here.pitch) and np.isclose(there.magnitude, here.magnitude)
    assert close(there.direction, X.E @ here.direction)
    moved = X.apply_point(here.point) - there.point
    assert np.max(np.abs(moved.cross(there.direction).array())) < 1e-13


def test_pitch_of_joints():
    """Zero for a revolute, h for a helical, infinite for a prismatic joint."""
    assert screws.screw(Motion.of([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])).pitch == 0.0
    assert screws.screw(Motion.of([0.0, 0.0, 1.0, 0.0, 0.0, 0.25])).pitch == 0.25
    prismatic = Motion.of([0.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    data = screws.screw(prismatic)
    assert data.pitch == math.inf and data.point is None and data.magnitude == 2.0
    assert close(screws.from_screw(Motion, data), prismatic)


def test_vectors_without_a_line_or_axis_are_refused():
    """A free vector has no line, the zero vector no axis."""
    with pytest.raises(ModelError, match="is a free vector"):
        screws.decompose(Force.of([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    for x in (Motion.zero(), Motion.of([0.0, 0.0, 0.0, float("nan"), 0.0, 0.0])):
        with pytest.raises(ModelError, match="has no screw axis"):
            screws.screw(x)
