"""Connectivity and Denavit-Hartenberg parameters: worked examples of Featherstone, chapter 4, and published tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.graph import MechanismGraph
from kinetree.model.spanning import Numbering
from tests.engines.robots import robot_path

RIGHT = math.pi / 2
CRANK_SLIDER = [
    ("crank_pivot", "world", "crank"), ("crank_pin", "crank", "rod"), ("wrist_pin", "rod", "slider"),
    ("guide", "world", "slider"),
]  # fmt: skip
# Figure 4.6: eight bodies, joint 4 reversed; body 7 hangs on 4 or 6 by the printed text, 4 is taken.
FIGURE_4_6 = (0, 1, 1, 0, 3, 4, 4, 4)


def test_crank_slider_c04_02_c04_03():
    """C04.02, C04.03: three moving bodies, four joints, one loop; four spanning trees with one chord each."""
    graph = MechanismGraph(CRANK_SLIDER)
    assert (graph.nb - 1, graph.nj, graph.n_loops) == (3, 4, 1)
    trees = list(graph.spanning_trees())
    assert len(trees) == graph.count_spanning_trees() == 4
    assert sorted(tree.chords for tree in trees) == sorted((name,) for name, *_ in CRANK_SLIDER)


def test_crank_slider_numberings_c04_04():
    """C04.04, figures 4.4 and 4.5: eight regular numberings 1 + 1 + 3 + 3, [0, 1, 2] and [0, 0, 1] among them."""
    graph = MechanismGraph(CRANK_SLIDER)
    counts = sorted(len(list(tree.numberings())) for tree in graph.spanning_trees())
    assert counts == sorted(tree.count_numberings() for tree in graph.spanning_trees()) == [1, 1, 3, 3]
    everything = list(graph.numberings())
    assert len(set(everything)) == graph.count_numberings() == 8
    assert {(0, 1, 2), (0, 0, 1)} <= {numbering.parent[1:] for numbering in everything}


def test_satellite_c04_02():
    """C04.02: two bodies and the base, a joint of six freedoms and one between the bodies: either body may float."""
    for floating in ("hull", "boom"):
        graph = MechanismGraph([("float", "world", floating), ("hinge", "hull", "boom")])
        assert graph.n_loops == 0 and graph.count_numberings() == 1
        assert graph.spanning_tree().numbering().bodies[1] == floating


def test_sets_of_figure_4_6_c04_05_c04_06():
    """C04.05, C04.06: kappa, mu, nu and the polarity of the book's example with the reversed joint 4."""
    p = [-1, *FIGURE_4_6]
    s = [-1, *range(1, 9)]
    p[4], s[4] = s[4], p[4]
    names = ("world", *(f"B{i}" for i in range(1, 9)))
    numbering = Numbering(names, (None, *(f"J{i}" for i in range(1, 9))), tuple(p), tuple(s))
    assert numbering.parent[1:] == FIGURE_4_6
    assert [numbering.is_reversed(i) for i in range(1, 9)] == [False] * 3 + [True] + [False] * 4
    assert [numbering.support(i) for i in (1, 2, 3, 8)] == [(1,), (1, 2), (1, 3), (4, 8)]
    assert [numbering.children(i) for i in (0, 1, 2, 8)] == [(1, 4), (2, 3), (), ()]
    assert [numbering.subtree(i) for i in (0, 1, 2, 8)] == [tuple(range(9)), (1, 2, 3, 5), (2,), (8,)]


def test_expanded_parent_array_c06_12():
    """C06.12, table 6.4: (0, 1, 1, 2, 2, 3) with three freedoms of joint 2 gives (0, 1, 2, 3, 1, 4, 4, 5)."""
    parent = (0, 1, 1, 2, 2, 3)
    arcs = [(f"j{i}", f"b{p}", f"b{i}") for i, p in enumerate(parent, start=1)]
    numbering = MechanismGraph(arcs, base="b0", bodies=[f"b{i}" for i in range(7)]).spanning_tree().numbering()
    assert numbering.parent == (-1, *parent)
    assert numbering.expanded_parent((1, 3, 1, 1, 1, 1)) == (-1, 0, 1, 2, 3, 1, 4, 4, 5)


@pytest.mark.parametrize("n", (3, 4, 5, 6))
def test_cayley(n):
    """Cayley's formula: the complete graph of n bodies has n^(n - 2) spanning trees, and each is found once."""
    graph = MechanismGraph([(f"{i}-{j}", f"{i}", f"{j}") for i in range(n) for j in range(i)], base="0")
    trees = list(graph.spanning_trees())
    assert len(trees) == len(set(trees)) == graph.count_spanning_trees() == n ** (n - 2)


def test_transforms_of_figure_4_8_c04_11():
    """C04.11: X_T(1) = xlt([a1, 0, d1]) rotx(alpha1) rotz(theta0) xlt([0, 0, d0]), then xlt([a, 0, d]) rotx(alpha)."""
    theta0, d0 = 0.4, 0.2
    rows = [(0.1, 0.5, 0.3, 0.0), (0.2, -0.7, 0.4, 0.0)]
    model = kt.dh(rows, "modified", base=((0, 0, d0), (0, 0, theta0)))

    def rotx(t):
        return kt.spatial.Transform(kt.spatial.rotations.rx(t), kt.spatial.Vector3.zero())

    def xlt(*r):
        return kt.spatial.Transform(kt.spatial.IdentityRotation(), kt.spatial.Vector3(*map(float, r)))

    turn = kt.spatial.Transform(kt.spatial.rotations.rz(theta0), kt.spatial.Vector3.zero())
    # xlt in the order of the book acts in the coordinates that its right-hand side leads to.
    first = xlt(rows[0][0], 0, rows[0][2]) @ rotx(rows[0][1]) @ turn @ xlt(0, 0, d0)
    second = xlt(rows[1][0], 0, rows[1][2]) @ rotx(rows[1][1])
    assert np.allclose(model.X_T[1].matrix(), first.matrix(), rtol=0, atol=1e-15)
    assert np.allclose(model.X_T[2].matrix(), second.matrix(), rtol=0, atol=1e-15)


def test_parameter_count_c04_11():
    """C04.11: n joints have 4n + 6 parameters, of which the last four only locate the end effector."""
    model = kt.models.chain_gu(5)
    table = kt.io.to_dh(model, "modified")
    assert table.n_parameters == 4 * 5 + 6
    assert table.base.r.x == table.base.r.y == 0.0 and table.base.E.axis == 2  # d_0 and theta_0
    # The tool has four parameters: X(a, alpha) Z(theta, d), whose x axis is normal to the tool's z axis.
    assert abs(table.tool.E.matrix[2, 0]) < 1e-14
    assert kt.io.to_dh(model, "standard").n_parameters == 4 * 5 + 6


def test_puma_560_published_modified_table():
    """Craig, Introduction to Robotics, section 3.7: the modified parameters of the PUMA 560, given and found again."""
    rows = [(0, 0, 0, 0), (0, -RIGHT, 0, 0), (0.4318, 0, 0.15, 0), (0.0203, -RIGHT, 0.4318, 0), (0, RIGHT, 0, 0),
            (0, -RIGHT, 0, 0)]  # fmt: skip
    found = kt.io.to_dh(kt.models.puma_like(), "modified")
    assert np.allclose([(r.a, r.alpha, r.d, r.theta) for r in found.rows], rows, rtol=0, atol=1e-15)


# Franka Emika, Control Interface Documentation, "Denavit-Hartenberg parameters" (Craig's convention): a, d, alpha.
FRANKA = [
    (0, 0.333, 0), (0, 0, -RIGHT), (0, 0.316, RIGHT), (0.0825, 0, RIGHT), (-0.0825, 0.384, -RIGHT), (0, 0, RIGHT),
    (0.088, 0, RIGHT),
]  # fmt: skip


def test_franka_published_modified_table():
    """The maker's table of the Panda comes out of its URDF, and builds the same arm with the flange at 0.107 m."""
    panda = kt.load(robot_path("panda"))
    found = kt.io.to_dh(panda, "modified", tip="panda_link8")
    rows = [(a, alpha, d, 0.0) for a, d, alpha in FRANKA]
    # The URDF writes its right angles with 12 digits.
    assert np.allclose([(r.a, r.alpha, r.d, r.theta) for r in found.rows], rows, rtol=0, atol=1e-11)
    flange = kt.dh([*rows, (0, 0, 0.107, 0, "fixed")], "modified")
    q = np.random.default_rng(3).uniform(-2, 2, 7)
    full = np.concatenate([q, [0.0, 0.0]])
    pose, same = kt.pose(panda, full, frame="panda_link8"), kt.pose(flange, q, frame="tool")
    assert np.abs(pose.p_WF - same.p_WF).max() < 1e-10 and np.abs(pose.R_WF - same.R_WF).max() < 1e-10


def test_ur5_published_standard_table():
    """Universal Robots, "Parameters for calculations of kinematics and dynamics": the UR5 and its home position."""
    rows = [(0, RIGHT, 0.089159, 0), (-0.425, 0, 0, 0), (-0.39225, 0, 0, 0), (0, RIGHT, 0.10915, 0),
            (0, -RIGHT, 0.09465, 0), (0, 0, 0.0823, 0)]  # fmt: skip
    arm = kt.dh(rows, "standard")
    p = kt.pose(arm, np.zeros(6), frame="tool").p_WF
    closed_form = (-0.425 - 0.39225, -0.10915 - 0.0823, 0.089159 - 0.09465)
    assert np.allclose(p, closed_form, rtol=0, atol=1e-15)
    # The URDF turns its base by half a turn and its tool by a quarter turn: the flange is the same up to these.
    urdf = kt.load(robot_path("ur5"))
    q = np.random.default_rng(5).uniform(-3, 3, 6)
    ours, theirs = (kt.pose(m, q, frame=f).p_WF for m, f in ((arm, "tool"), (urdf, "tool0")))
    assert np.allclose(ours * (-1, -1, 1), theirs, rtol=0, atol=1e-10)
