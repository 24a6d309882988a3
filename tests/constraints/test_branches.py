"""Assembly branches of small mechanisms, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import LoopJoint
from kinetree.errors import ArgumentError, ModelError, UnknownNameError, UnsupportedError
from kinetree.joints import Prismatic, Revolute

branches = kt.closed_loops.branches


def five_bar(tip: bool):
    """Two arms of two rods from (0, 0) and (1, 0) that meet; the tip may be on a table that slides along x and y."""
    b = kt.ModelBuilder("five_bar")
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    for name, x in (("left", 0.0), ("right", 1.0)):
        b.add_body(name, "world", Revolute(), name, ((x, 0, 0), (0, 0, 0)), **rod)
        b.add_body(f"{name}2", name, Revolute(), f"{name}2", ((1.0, 0, 0), (0, 0, 0)), **rod)
        b.add_frame(f"{name}_tip", f"{name}2", ((1.2, 0, 0), (0, 0, 0)))
    loops = [LoopJoint("meet", Revolute(), "left_tip", "right_tip")]
    if tip:
        b.add_body("slide", "world", Prismatic((1, 0, 0)), "x", mass=1.0)
        b.add_body("table", "slide", Prismatic((0, 1, 0)), "y", mass=1.0)
        loops.append(LoopJoint("tip", Revolute(), "left_tip", "table"))
    return b.build().with_constraints(*loops)


@pytest.mark.parametrize("closure", ["revolute", "planar"])
def test_a_four_bar_has_two(closure):
    """Open and crossed, by the law of cosines; and no position where the rods do not reach."""
    model = kt.models.four_bar(closure=closure)
    for angle in (0.3, 2.0):
        found = branches(model, driver={"crank": angle})
        expected = [
            kt.models.four_bar(angle=angle, crossed=crossed).keyframe("initial")[0] for crossed in (True, False)
        ]
        assert found == pytest.approx(np.array(expected), abs=1e-9)
    short = kt.models.four_bar((3.0, 1.0, 1.4, 1.0), angle=0.0)
    assert branches(short, driver={"crank": 3.0}).shape == (0, 3)


@pytest.mark.seeds(6)
def test_random_four_bars(seed):
    """Two if the distance of the pivots is between the difference and the sum of coupler and rocker, else none."""
    rng = np.random.default_rng(seed)
    ground, crank, coupler, rocker = lengths = rng.uniform(0.5, 2.0, 4)
    model = _with_lengths(lengths)
    for angle in rng.uniform(-3.0, 3.0, 3):
        L = np.hypot(ground - crank * np.cos(angle), crank * np.sin(angle))
        expected = 2 if abs(coupler - rocker) < L < coupler + rocker else 0
        found = branches(model, driver={"crank": angle})
        assert len(found) == expected
        for q in found:
            tips = [kt.pose(model, q, frame=f"{name}_tip")[1] for name in ("coupler", "rocker")]
            assert tips[0] == pytest.approx(tips[1], abs=1e-11)


def _with_lengths(lengths):
    """A four-bar of any lengths, in any position."""
    ground, crank, coupler, rocker = lengths
    b = kt.ModelBuilder("four_bar")
    for name, parent, x, length in (
        ("crank", "world", 0.0, crank), ("coupler", "crank", crank, coupler), ("rocker", "world", ground, rocker)
    ):  # fmt: skip
        b.add_body(name, parent, Revolute(), name, ((x, 0, 0), (0, 0, 0)), mass=1.0, inertia=(1, 1, 1))
        b.add_frame(f"{name}_tip", name, ((length, 0, 0), (0, 0, 0)))
    return b.build().with_constraints(LoopJoint("closure", Revolute(), "coupler_tip", "rocker_tip"))


def test_a_slider_crank_has_two_by_either_driver():
    """The slider on both sides for a crank angle; the crank above and below for a slider position."""
    model, a, b, e = kt.models.slider_crank(offset=0.1), 0.5, 2.0, 0.1
    rise = a * np.sin(0.7) - e
    root = np.sqrt(b * b - rise * rise)
    found = branches(model, driver={"crank": 0.7})
    assert sorted(found[:, 2]) == pytest.approx([a * np.cos(0.7) - root, a * np.cos(0.7) + root], abs=1e-10)
    x = 1.9
    R, slope = np.hypot(x, e), np.arctan2(e, x)
    half = np.arccos((a * a + R * R - b * b) / (2 * a * R))
    assert branches(model, driver={"slider": x})[:, 0] == pytest.approx([slope - half, slope + half], abs=1e-10)


@pytest.mark.parametrize("angle", [0.5, 2.2])
def test_parallelograms_have_an_antiparallelogram(angle):
    """The other intersection of the circles: the mirror image of the parallel tip in the diagonal."""
    model = kt.models.parallelogram(1.0, 2.0, angle=angle)
    found = branches(model, driver={"crank": angle})
    A, D = np.array([np.cos(angle), np.sin(angle)]), np.array([2.0, 0.0])
    parallel = A + [2.0, 0.0]
    line = (D - A) / np.linalg.norm(D - A)
    crossed = 2.0 * (D + line * ((parallel - D) @ line)) - parallel
    tips = np.array([kt.pose(model, q, frame="coupler_tip")[1][:2] for q in found])
    assert len(found) == 2
    for tip in (parallel, crossed):
        assert np.abs(tips - tip).max(axis=1).min() < 1e-10


def test_a_five_bar_has_two_or_four():
    """Two by the angles of both arms; four working modes for a position of its tip (elbows left or right)."""
    assert len(branches(five_bar(False), driver={"left": 2.0, "right": 1.2})) == 2
    model = five_bar(True)
    found = branches(model, driver={"x": 0.4, "y": 1.3})
    assert len(found) == 4
    elbows = {tuple(np.sign(np.sin(q[[model.q_index(name).start for name in ("left2", "right2")]]))) for q in found}
    assert elbows == {(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)}


def test_andrews_squeezer_has_four_or_eight():
    """Two for each of three triangles: E by crank and triangle, then G and H where the circles about E and A meet."""
    model = kt.models.andrews_squeezer()
    start, _ = model.keyframe("initial")
    found = branches(model, driver="beta")
    assert len(found) in (4, 8) and np.abs(found - start).max(axis=1).min() < 1e-9


def test_too_few_drivers_and_wrong_names_are_errors():
    """With the number of motions that are left."""
    with pytest.raises(ModelError, match="with drivers 'left1' model .* still has 1 motions"):
        branches(kt.models.ladder(2), driver="left1", starts=8)
    with pytest.raises(UnknownNameError, match="cranck"):
        branches(kt.models.four_bar(), driver="cranck")
    with pytest.raises(ArgumentError, match="driver 'crank' is nan"):
        branches(kt.models.four_bar(), driver={"crank": float("nan")})
    sledge = kt.models.four_bar().with_constraints(kt.constraints.KnifeEdge("coupler"))
    with pytest.raises(UnsupportedError, match="knife edge"):
        branches(sledge, driver="crank")
