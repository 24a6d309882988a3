"""Denavit-Hartenberg tables: models are the product of the rows, and every chain gives a table that gives it back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.errors import ModelError, TopologyError, UnknownNameError, UnsupportedError
from kinetree.joints import Cylindrical, Helical, Prismatic, Reversed, Revolute, Spherical
from tests.engines.robots import robot_path

CONVENTIONS = ("standard", "modified")
AXIAL = [Revolute((0, 0, 1)), Revolute((1, -2, 0.5)), Prismatic((0, 1, 0)), Prismatic((1, 1, 1)), Reversed(Revolute())]
SCREWS = [*AXIAL, Helical((0, 2, 1), 0.2), Cylindrical((1, 0, 0)), Reversed(Cylindrical((0, 1, 1)))]


def chain(seed, joints=AXIAL, n=6):
    """A chain of random placements: its axes are skew."""
    return kt.models.random_tree(n, seed, joints=joints, branching=0.0)


def special_chain(seed, n=7):
    """A chain whose neighboring axes are parallel, intersecting, coincident or at right angles, at random."""
    rng = np.random.default_rng(seed)
    b, parent = kt.ModelBuilder("special"), "world"
    right = math.pi / 2
    for k in range(n):
        place = [(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.4), (0.1, 0.2, 0.3)][rng.integers(0, 5)]
        turn = [(0, 0, 0), (right, 0, 0), (0, -right, 0), (math.pi, 0, 0), (0.4, 0, 0), (0, 0, 0.7)][rng.integers(0, 6)]
        joint = Revolute() if rng.random() < 0.7 else Prismatic()
        b.add_body(f"b{k}", parent, joint, placement=(place, turn), mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.2))
        parent = f"b{k}"
    b.add_frame("end", parent, ((0.1, -0.2, 0.3), (0.3, -0.6, 1.0)))
    return b.build()


def matrices_of(rows, convention, q):
    """The textbook's product of 4 x 4 matrices, written apart from the library."""

    def rot(axis, t):
        c, s, A = math.cos(t), math.sin(t), np.eye(4)
        i, j = ((1, 2), (2, 0), (0, 1))[axis]
        A[i, i] = A[j, j] = c
        A[i, j], A[j, i] = -s, s
        return A

    def trans(axis, x):
        A = np.eye(4)
        A[axis, 3] = x
        return A

    T = np.eye(4)
    for (a, alpha, d, theta, joint), x in zip(rows, q, strict=True):
        d, theta = (d + x, theta) if joint == "prismatic" else (d, theta + x)
        z, along_x = rot(2, theta) @ trans(2, d), trans(0, a) @ rot(0, alpha)
        T = T @ (z @ along_x if convention == "standard" else along_x @ z)
    return T


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_forward_kinematics_are_the_product_of_the_rows(convention):
    """C04.11: the pose of the tool is the product of the textbook's matrices, for revolute and prismatic rows."""
    rng = np.random.default_rng(2)
    rows = [(*rng.uniform(-1, 1, 4), kind) for kind in ("revolute", "prismatic", "revolute", "revolute", "prismatic")]
    model, q = kt.dh(rows, convention), rng.uniform(-2, 2, 5)
    pose, T = kt.pose(model, q, frame="tool"), matrices_of(rows, convention, q)
    assert np.allclose(pose.p_WF, T[:3, 3], rtol=0, atol=1e-14)
    assert np.allclose(pose.R_WF, T[:3, :3], rtol=0, atol=1e-14)
    assert np.allclose(kt.io.DHTable.of(rows, convention).pose(q), T, rtol=0, atol=1e-14)


def same_kinematics(model, again, tip, tolerance=1e-12):
    """Poses of the tip and of the tool agree at random positions of the joints that both have."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, _ = model.random_state(rng)
        p = np.concatenate([q[model.q_index(name)] for name in again.joint_names])
        with kt.interpreted():
            one, two = kt.pose(model, q, frame=tip), kt.pose(again, p, frame="tool")
        assert np.abs(one.p_WF - two.p_WF).max() < tolerance and np.abs(one.R_WF - two.R_WF).max() < tolerance


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("seed", range(8))
def test_random_chains_come_back(seed, convention):
    """Skew axes anywhere, four joint kinds, reversed ones too: a table with base and tool has the same kinematics."""
    model = chain(seed, SCREWS if seed % 2 else AXIAL)
    table = kt.io.to_dh(model, convention)
    same_kinematics(model, kt.dh(table), model.body_names[-1])
    # From table to table nothing changes any more, but rounding; prismatic axes stay where the table put them.
    again = kt.io.to_dh(kt.dh(table), convention, tip="tool")
    same_kinematics(model, kt.dh(again), model.body_names[-1])


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("seed", range(20))
def test_parallel_intersecting_and_coincident_axes_come_back(seed, convention):
    """The special cases of the common normal, with either rule for the sign of a."""
    model = special_chain(seed)
    for positive in (False, True):
        table = kt.io.to_dh(model, convention, tip="end", positive_a=positive)
        same_kinematics(model, kt.dh(table), "end")
        inner = table.rows[:-1] if convention == "standard" else table.rows  # the last a of standard is the tool's
        assert not positive or all(row.a >= 0.0 for row in inner)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(
    ("robot", "tip"),
    [("puma", "tool"), ("ur5", "tool0"), ("panda", "panda_link8"), ("kinova", None)],
)
def test_public_arms_come_back(robot, tip, convention):
    """Puma, UR5, Panda and Kinova agree to 1e-12 m."""
    model = kt.models.puma_like() if robot == "puma" else kt.load(robot_path(robot), inertia="accept")
    tip = tip or model.body_names[6]
    table = kt.io.to_dh(model, convention, tip=tip)
    same_kinematics(model, kt.dh(table), tip, 1e-12 if robot != "kinova" else 1e-10)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_dynamics_come_back_too(convention):
    """Inertias, limits, friction and armature are in the table: inverse dynamics and mass matrix are the same."""
    model = chain(11, SCREWS, n=5).replace(damping=0.3)
    again = kt.dh(kt.io.to_dh(model, convention))
    q, v = model.random_state(np.random.default_rng(0))
    a = np.linspace(-1, 1, model.nv)
    with kt.interpreted():
        tau, M = kt.rnea(model, q, v, a), kt.crba(model, q)
        assert np.allclose(kt.rnea(again, q, v, a), tau, rtol=1e-10, atol=1e-10 * np.abs(tau).max())
        assert np.allclose(kt.crba(again, q), M, rtol=1e-10, atol=1e-10 * np.abs(M).max())
    assert np.array_equal(again.damping, model.damping) and np.array_equal(again.armature, model.armature)
    assert again.joint_names == model.joint_names and again.body_names == model.body_names


def test_conventions_convert_into_each_other():
    """Both groupings have the same 4n + 6 numbers: from standard to modified and back is the same table."""
    rows = [(0.1, 0.4, 0.2, 0.0), (0.3, -1.0, 0.1, 0.2), (0.2, 0.7, 0.5, -0.3)]
    standard = kt.dh(rows, "standard")
    back = kt.io.to_dh(kt.dh(kt.io.to_dh(standard, "modified", tip="tool")), "standard", tip="tool")
    found = [(r.a, r.alpha, r.d, r.theta) for r in back.rows]
    # The first d and theta are split between base and row 1, which the world's z axis decides; row 3 ends at the tool.
    assert np.allclose(found, rows, rtol=0, atol=1e-13)


def test_screws_and_cylinders_move_along_z():
    """A screw's displacement is d + pitch q; a cylinder's position is (angle, displacement)."""
    screw = kt.dh([(0, 0, 0.5, 0, "screw", 0.1)], "modified")
    assert np.allclose(kt.pose(screw, [2.0], frame="tool").p_WF, (0, 0, 0.7), rtol=0, atol=1e-15)
    cylinder = kt.dh([{"a": 0.2, "alpha": 0, "d": 0.5, "theta": 0, "joint": "cylindrical"}], "standard")
    p = kt.pose(cylinder, [math.pi / 2, 0.3], frame="tool").p_WF
    assert np.allclose(p, (0, 0.2, 0.8), rtol=0, atol=1e-15)


def test_links_have_their_inertia_in_the_frame_of_their_row():
    """A mass at the origin of a standard row's frame, at the far end of the link, is felt with the lever a."""
    row = {"a": 2.0, "alpha": 0.3, "d": 0.0, "theta": 0.1, "mass": 3.0, "lower": -1.0}
    model = kt.dh([row], "standard", gravity=(0, 0, 0))
    assert np.isclose(kt.crba(model, [0.4])[0, 0], 3.0 * 2.0**2, rtol=1e-14) and model.lower[0] == -1.0
    armed = kt.dh([{**row, "armature": 0.5}], "modified", gravity=(0, 0, 0))  # there, the frame is on the axis
    assert np.isclose(kt.crba(armed, [0.4])[0, 0], 0.5, rtol=1e-14)


def test_tables_without_masses_say_so():
    """Without any mass the model is one for kinematics, with a warning."""
    model = kt.dh([(0.1, 0, 0, 0)], "standard")
    assert "no row has a mass" in str(model.report) and model.armature[0] == 1.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: kt.dh([(0, 0, 0, 0)]), UnsupportedError, "use 'standard'.*or 'modified'"),
        (lambda: kt.dh([], "standard"), ModelError, "no rows"),
        (lambda: kt.dh([(0, 0, 0)], "standard"), ModelError, "row 1 is"),
        (lambda: kt.dh([(0, 0, 0, math.nan)], "standard"), ModelError, "row 1: theta is nan"),
        (lambda: kt.dh([(0, 0, 0, 0, "hinge")], "standard"), UnknownNameError, "no joint named 'hinge'"),
        (lambda: kt.dh([(0, 0, 0, 0, "revolute", 0.1)], "standard"), ModelError, "only screws"),
        (lambda: kt.dh([{"a": 0, "alpha": 0, "d": 0}], "standard"), ModelError, "lacks theta"),
        (lambda: kt.dh([{"a": 0, "alfa": 0}], "standard"), UnknownNameError, "Did you mean 'alpha'"),
        (lambda: kt.io.to_dh(kt.load("arm7"), "modified"), TopologyError, "branches at 'flange_link', which carries"),
        (lambda: kt.io.to_dh(chain(0), "craig"), UnsupportedError, "known: standard, modified"),
        (lambda: kt.io.to_dh(chain(0, [Spherical()]), "modified"), UnsupportedError, "joint 'joint0'|joint 'joint1'"),
        (lambda: kt.dh(kt.io.to_dh(chain(0), "standard"), "modified"), ModelError, "the table is standard"),
    ],
)
def test_mistakes_are_named(call, error, words):
    """What is no table, and what no table can say."""
    with pytest.raises(error, match=words):
        call()


def test_nearly_parallel_axes_are_exact_or_refused():
    """At 1e-6 rad the normals are far away and still good; at 1e-8, where no table is, the axes are named."""

    def two(angle):
        b = kt.ModelBuilder("two")
        b.add_body("one", joint=Revolute(), mass=1.0, com=(1, 0, 0))
        b.add_body("two", "one", Revolute(), placement=((0.4, 0, 0), (0, angle, 0)), mass=1.0, com=(1, 0, 0))
        b.add_frame("end", "two", ((1.0, 0.0, 0.0), (0, 0, 0)))
        return b.build()

    same_kinematics(two(1e-6), kt.dh(kt.io.to_dh(two(1e-6), "modified", tip="end")), "end", 1e-8)
    with pytest.raises(ModelError, match="axes .'one', 'two'. are parallel but for 1.*far away"):
        kt.io.to_dh(two(1.4e-8), "modified", tip="end")


def test_command_prints_the_table():
    """``kinetree dh`` prints names, lengths and angles; a branch is an error in one line."""
    runner = CliRunner()
    done = runner.invoke(app, ["dh", "arm7", "--tip", "tool"])
    assert done.exit_code == 0 and "shoulder_pitch" in done.output and "-pi/2" in done.output
    assert runner.invoke(app, ["dh", "arm7"]).exit_code == 2
