"""kt.accuracy: what it says of a model is so, and names the joint or body at fault."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.analysis.accuracy import digits
from kinetree.errors import ModelError, NonFiniteError, ShapeError
from kinetree.joints import FreeSplit, Prismatic, Revolute, SphericalEuler

INERTIA = (0.1, 0.1, 0.1)


@pytest.fixture(autouse=True)
def interpreted_source():
    """Compiling many small models would take longer than running them."""
    with kt.interpreted():
        yield


@pytest.mark.seeds(8)
def test_errors_stay_below_the_condition(seed):
    """aba and M^-1 (tau - c) within 100 n units of the scaled condition number, rnea and crba within 1000 units."""
    model = kt.models.random_tree(7, seed=seed, floating=seed % 2 == 0)
    report = kt.accuracy(model, states=10)
    for precision, eps in (("double", 2.0**-52), ("single", 2.0**-23)):
        bound = 100.0 * model.nv * report.scaled_condition.value * eps
        for name in ("aba", "crba and solve"):
            assert report.error(name, precision).worst <= bound
        for name in ("rnea", "crba"):
            assert report.error(name, precision).worst <= 1e3 * eps


def test_scaling_removes_units():
    """A slide of 1 g on a slide of 1 t has a poor M, but the mechanism loses nothing."""
    b = kt.ModelBuilder("unlike")
    b.add_body("crane", joint=Prismatic((1, 0, 0)), joint_name="rail", mass=1000.0, inertia=INERTIA)
    b.add_body("pen", "crane", Prismatic((0, 1, 0)), "tip", mass=1e-3, inertia=(1e-7,) * 3)
    report = kt.accuracy(b.build())
    assert report.condition.value == pytest.approx(1e6, rel=1e-5) and report.condition.joint == "tip"
    assert report.scaled_condition.value == pytest.approx(1.0, rel=1e-9)
    assert report.findings == ()
    (mass, inertia) = report.ratios
    assert (mass.largest, mass.smallest) == ("crane", "pen") and mass.value == pytest.approx(1e6)
    assert inertia.what == "inertia" and inertia.value == pytest.approx(1e6)


def test_the_joint_at_fault_is_named():
    """Two joints with nearly the same axis: their difference hardly moves any mass."""
    b = kt.ModelBuilder("twins")
    b.add_body("base", joint=Revolute((0, 1, 0)), joint_name="base_joint", mass=5.0, inertia=INERTIA)
    b.add_body("ring", "base", Revolute((0, 0, 1)), "first", mass=1e-7, inertia=(1e-9,) * 3)
    b.add_body("arm", "ring", Revolute((0, 1e-4, 1)), "second", mass=1.0, com=(0.3, 0.0, 0.0), inertia=INERTIA)
    report = kt.accuracy(b.build())
    assert report.scaled_condition.value > 1e6
    assert report.scaled_condition.joint in ("first", "second")
    assert f"joint {report.scaled_condition.joint!r} hardly resists" in report.findings[0]
    singles = [finding for finding in report.findings if "single precision" in finding]
    assert any(finding.startswith("aba") for finding in singles)


def test_the_worst_of_given_states_counts():
    """A batch of positions; the stretched arm among them has the largest condition number."""
    arm = kt.models.zigzag_arm(6)
    folded = np.deg2rad([75.0, -75.0, 75.0, -75.0, 75.0, -75.0])
    alone, stretched = kt.accuracy(arm, folded), kt.accuracy(arm, np.zeros(6))
    both = kt.accuracy(arm, np.array([folded, np.zeros(6)]), np.zeros(6))
    assert both.states == 2
    assert both.condition == stretched.condition
    assert both.condition.value > alone.condition.value


def test_singular_positions_have_no_digits():
    """Euler angles in their singular position: M is singular, and the report says so instead of failing."""
    b = kt.ModelBuilder("gimbal")
    b.add_body("ball", joint=SphericalEuler("zyx"), mass=1.0, inertia=INERTIA)
    report = kt.accuracy(b.build(), np.array([0.0, np.pi / 2, 0.0]))
    assert report.condition.value > 1e15 and report.condition.digits < 1.0
    assert json.loads(report.to_json())["findings"]


def test_models_that_depend_on_time():
    """At the time that is given."""
    pool = [joint for _, joint in kt.joints.examples(np.random.default_rng(0), time_dependent=True)]
    moving = [joint for joint in pool if joint.time_dependent and joint.nv]
    model = kt.models.random_tree(4, seed=1, joints=[*moving, Revolute()])
    assert model.time_dependent
    assert kt.accuracy(model, states=3, t=0.4).error("rnea").worst < 1e-12


def test_reports_are_tables_and_json():
    """One line for each number; the same as data."""
    report = kt.accuracy(kt.models.puma_like(), states=3)
    text = str(report).splitlines()
    assert text[0].split() == ["accuracy", "of", "puma_like,", "3", "states"]
    assert sum(line.startswith(("rnea,", "crba,", "aba,", "crba and solve,")) for line in text) == 8
    data = json.loads(report.to_json(indent=1))
    assert data["condition"]["joint"] == report.condition.joint
    assert len(data["errors"]) == 8 and data["states"] == 3


@pytest.mark.parametrize(("error", "right"), [(0.0, 15.95), (1e-6, 6.0), (0.5, 0.301), (3.0, 0.0), (np.inf, 0.0)])
def test_digits(error, right):
    """-log10 of the error, 0 to 16."""
    assert digits(error) == pytest.approx(right, abs=0.01)


def test_what_makes_no_sense_is_refused():
    """Nothing that moves, no states, arrays of another length, numbers that are none."""
    b = kt.ModelBuilder("statue")
    b.add_body("stone", mass=1.0, inertia=INERTIA)
    with pytest.raises(ModelError, match="nothing can move"):
        kt.accuracy(b.build())
    arm = kt.models.double_pendulum()
    with pytest.raises(ModelError, match="states is 0"):
        kt.accuracy(arm, states=0)
    with pytest.raises(ShapeError, match=r"q has shape \(3,\), expected \(..., 2\)"):
        kt.accuracy(arm, np.zeros(3))
    with pytest.raises(NonFiniteError):
        kt.accuracy(arm, [0.0, np.nan])
    with pytest.raises(ModelError, match="nothing was measured for ltl"):
        kt.accuracy(arm, states=1).error("ltl")


def test_command_line():
    """kinetree accuracy prints the table, or JSON; an error is one line and exit code 2."""

    def run(*arguments):
        command = [sys.executable, "-m", "kinetree", "accuracy", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    table = run("double_pendulum", "--states", "2")
    assert table.returncode == 0 and "condition of M" in table.stdout
    data = run("double_pendulum", "--q", "0.1 0.2", "--json")
    assert json.loads(data.stdout)["result"]["states"] == 1
    wrong = run("double_pendulum", "--q", "0.1")
    assert wrong.returncode == 2 and "q has shape (1,)" in wrong.stderr


def test_bodies_near_their_frames_are_not_far():
    """Within two radii of gyration nothing is said; beyond, the farthest comes first."""
    b = kt.ModelBuilder("row")
    for k, distance in enumerate((0.5, 9.0, 30.0)):
        b.add_body(f"b{k}", f"b{k - 1}" if k else "world", Revolute((0, 1, 0)), mass=2.0, com=(distance, 0, 0),
                   inertia=(2.0, 2.0, 2.0))  # fmt: skip
    report = kt.accuracy(b.build())
    assert [body.name for body in report.far] == ["b2", "b1"]
    assert [round(body.ratio, 6) for body in report.far] == [30.0, 9.0]


def test_every_kind_of_floating_base():
    """Quaternions are rounded to single precision and still accepted; split joints, too."""
    for joint in (kt.joints.Free(), FreeSplit()):
        b = kt.ModelBuilder("float")
        b.add_body("base", joint=joint, mass=2.0, inertia=INERTIA)
        b.add_body("arm", "base", Revolute((0, 1, 0)), mass=1.0, com=(0.3, 0, 0), inertia=INERTIA)
        assert kt.accuracy(b.build()).error("aba", "single").worst < 1e-3


def test_planar_models():
    """The same condition as in space, and the frames of the bodies in space."""
    arm = kt.models.zigzag_arm(4)
    q = np.array([0.3, -0.2, 0.4, 0.1])
    planar, spatial = kt.accuracy(arm.planar(), q), kt.accuracy(arm, q)
    assert planar.condition.value == pytest.approx(spatial.condition.value, rel=1e-12)
    assert planar.ratios == spatial.ratios
