"""Mobility of mechanisms with loops: published counts, ranks by other means, singular positions, actuation."""

from __future__ import annotations

import importlib.metadata
import json

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_jacobian
from kinetree.constraints import LoopJoint
from kinetree.constraints.row_names import row_names
from kinetree.errors import AssemblyError, ConstraintError, ModelError, NonFiniteError, UnknownNameError
from kinetree.joints import Cylindrical, Prismatic, Revolute, SphereInCylinder

mobility = kt.closed_loops.mobility
COUNTS = {  # n, n^c, r of the literature: Featherstone (2008), section 8.10, and by Gruebler's count in space or plane
    "four_bar": (kt.models.four_bar, 3, 5, 2),
    "four_bar by a sphere in a cylinder": (lambda: kt.models.four_bar(closure="sphere_in_cylinder"), 3, 2, 2),
    "four_bar in the plane": (lambda: kt.models.four_bar(closure="planar"), 3, 2, 2),
    "slider_crank": (kt.models.slider_crank, 3, 5, 2),
    "spatial_slider_crank": (kt.models.spatial_slider_crank, 4, 3, 3),
    "bennett": (kt.models.bennett, 3, 5, 2),
    "stewart_platform": (kt.models.stewart_platform, 24, 18, 18),
    "delta_robot": (kt.models.delta_robot, 21, 18, 18),
    "cassie_leg": (kt.models.cassie_leg, 10, 8, 5),
    "andrews_squeezer": (kt.models.andrews_squeezer, 7, 15, 6),
    "governor with rods": (lambda: kt.models.governor("rods"), 4, 2, 2),
    "rolling_disk": (kt.models.rolling_disk, 6, 3, 3),
    "chaplygin_sleigh": (kt.models.chaplygin_sleigh, 3, 1, 1),
    "coupled arm": (kt.models.geared_arm, 2, 1, 1),
    "pendulum": (kt.models.pendulum, 1, 0, 0),
}
PLANAR = {"four_bar", "slider_crank", "four_bar by a sphere in a cylinder", "four_bar in the plane", "andrews_squeezer",
          "coupled arm", "pendulum", "chaplygin_sleigh"}  # fmt: skip


@pytest.fixture(scope="module")
def reports():
    return {name: (make(), mobility(make())) for name, (make, *_) in COUNTS.items()}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_those_of_the_literature(name, reports):
    """n, n^c, r, the mobility n - r, and n - n^c, which is right where no row is redundant."""
    _, n, rows, rank = COUNTS[name]
    _, found = reports[name]
    assert (found.freedoms, found.rows, found.rank, found.generic_rank) == (n, rows, rank, rank)
    assert found.mobility == found.generic_mobility == n - rank and found.gruebler == n - rows
    assert found.redundancy == len(found.redundant) == rows - rank and not found.singular
    assert found.planar == (name in PLANAR)
    if found.planar and rows:  # 3 for each moving body, minus 2 for each hinge or slide
        assert found.mobility == found.generic_mobility


@pytest.mark.parametrize("name", COUNTS)
def test_null_spaces_are_those_of_the_rows(name, reports):
    """Motions obey the rows and are orthonormal; forces of the null space do no work; with their dimensions."""
    model, found = reports[name]
    G = np.array(constraint_jacobian(model, found.q.tolist()), dtype=float).reshape(model.nc, model.nv)
    Z, N = found.motions, found.force_null_space
    assert Z.shape == (model.nv, found.mobility) and N.shape == (model.nc, found.redundancy)
    assert np.abs(G @ Z).max(initial=0.0) < 1e-10 and Z.T @ Z == pytest.approx(np.eye(Z.shape[1]), abs=1e-12)
    assert np.abs(G.T @ N).max(initial=0.0) < 1e-10 * np.abs(G).max(initial=1.0)
    assert np.linalg.matrix_rank(N) == found.redundancy if N.size else found.redundancy == 0


@pytest.mark.seeds(6)
@pytest.mark.parametrize("family", ["spatial", "planar", "spherical"])
def test_ranks_of_random_mechanisms(family, seed):
    """Against the rank of the rows by their own singular values."""
    model, q, v = kt.models.random_loops(seed, bodies=7, loops=2, family=family)
    found = mobility(model, q)
    G = np.array(constraint_jacobian(model, q.tolist()), dtype=float)
    assert found.rank == np.linalg.matrix_rank(G, tol=1e-7)
    assert np.abs(v - found.motions @ (found.motions.T @ v)).max() < 1e-8 * np.abs(v).max()


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bennett", "cassie_leg", "andrews_squeezer"])
def test_replacements_remove_the_overconstraint(name, reports):
    """Without redundant rows afterwards, and with the same accelerations (C08.21)."""
    model, found = reports[name]
    loops = {each.name: each.loop for each in found.replacements}
    assert loops and all(each.fewer < each.rows for each in found.replacements)
    weaker = model.replace(constraints=[loops.get(c.label, c) for c in model.constraints])
    assert mobility(weaker, found.q).redundancy == 0
    v, tau = found.motions @ np.ones(found.mobility), np.ones(model.nv)
    a = kt.forward_dynamics(model, found.q, v, tau)
    assert kt.forward_dynamics(weaker, found.q, v, tau) == pytest.approx(a, rel=1e-8, abs=1e-8)


def test_a_weld_is_replaced_by_a_weaker_joint():
    """A planar chain of five hinges whose end is welded needs a hinge less: cylinder or sphere by the rank."""
    b = kt.ModelBuilder("chain", gravity=(0, -9.81, 0))
    for k in range(4):
        place = ((1.0, 0, 0), (0, 0, 0)) if k else None
        b.add_body(
            f"rod{k}", f"rod{k - 1}" if k else "world", Revolute(), None, place, mass=1.0, inertia=(0.1, 0.1, 0.1)
        )
    q = np.array([0.5, 0.7, -0.4, 1.0])
    R, p = kt.pose(b.build(), q, frame="rod3")
    b.add_frame("goal", "world", (R, p))
    tree = b.build()
    for joint, rank in ((kt.joints.Fixed(), 3), (Prismatic((1, 0, 0)), 2)):
        model = tree.with_constraints(LoopJoint("end", joint, "goal", "rod3"))
        found = mobility(model, q)
        assert (found.rank, found.redundancy) == (rank, 3) and found.planar
        weaker = [each.loop for each in found.replacements]
        assert all(mobility(tree.with_constraints(loop), q).rank == rank for loop in weaker)


def test_ranks_drop_at_flat_positions_one_by_one():
    """A ladder of two cells: r = 4 upright, 3 with one flat cell, 2 with two (C08.19); the chain A02: n + 1 motions."""
    model = kt.models.ladder(2)
    q, _ = model.keyframe("initial")
    ranks = []
    for flat in ((), (1,), (1, 2)):
        here = q.copy()
        for k in (1, 2):
            turn = 0.0 if k in flat else 1.1
            for joint, x in ((f"left{k}", turn), (f"rung{k}", -turn), (f"right{k}", turn)):
                here[model.q_index(joint)] = x
        found = mobility(model, here)
        ranks.append((found.rank, found.mobility))
        assert found.generic_rank == 4 and found.singular == bool(flat)
        assert found.lost == tuple(f"closure{k}: force x" for k in flat)
    assert ranks == [(4, 2), (3, 3), (2, 4)]
    for n in (1, 3):
        assert mobility(kt.models.four_bar_chain(n, angle=np.pi / 2)).mobility == n + 1


def two_triangles():
    """A link that turns about O, and two pairs of links from its tip to a pivot as far from O: all of length 1."""
    b, step = kt.ModelBuilder("figure 8.2a", gravity=(0, -9.81, 0)), ((1, 0, 0), (0, 0, 0))
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": np.diag([0.0, 1 / 12, 1 / 12])}
    b.add_body("link", joint=Revolute(), joint_name="theta", **rod)
    b.add_frame("pivot", "world", step)
    for n in (1, 2):
        b.add_body(f"out{n}", "link", Revolute(), f"out{n}", placement=step, **rod)
        b.add_body(f"back{n}", f"out{n}", Revolute(), f"back{n}", placement=step, **rod)
        b.add_frame(f"end{n}", f"back{n}", step)
    loops = [LoopJoint(f"loop{n}", Revolute(), "pivot", f"end{n}") for n in (1, 2)]
    return b.build().with_constraints(*loops).planar()


def test_variable_mobility_of_figure_8_2():
    """(a), C08.19: (r, mobility) is (4, 1) where theta turns, (3, 2) where theta = 0, (2, 3) where both branches meet.

    With theta = 0 the tip is on the pivot, and both pairs fold and turn about it; else they are rigid triangles.
    """
    model = two_triangles()

    def at(theta, first, second):
        """On the branch of theta both pairs are isosceles over the chord, on the side given by a sign."""
        angles = []
        for turn in (first, second):
            if theta == 0.0:
                angles += [turn, np.pi]
            else:  # the chord from the tip to the pivot has the direction (theta - pi) / 2
                half = np.arccos(np.sin(theta / 2))
                angles += [turn * half + (theta - np.pi) / 2 - theta, -2.0 * turn * half]
        return np.array([theta, *angles])

    cases = [(at(0.8, 1, -1), 4), (at(0.8, 1, 1), 4), (at(-1.7, 1, -1), 4), (at(0.0, 0.4, -1.1), 3),
             (at(0.0, 2.0, 2.0), 3), (at(0.0, 0.0, np.pi), 2), (at(0.0, 0.0, 0.0), 2)]  # fmt: skip
    for q, rank in cases:
        found = mobility(model, q)
        assert (found.freedoms, found.rank, found.mobility) == (5, rank, 5 - rank)
        assert found.generic_rank == 4 and found.singular == (rank < 4)
    elbows = [kt.pose(model, at(1e-6, side, side), frame="back1").p_WF[:2] for side in (1, -1)]
    assert np.abs(np.array(elbows) - [1.0, 0.0]) == pytest.approx(np.array([[1.0, 0.0]] * 2), abs=1e-5)  # along x


def test_regularity_is_the_distance_from_a_singular_position():
    """Proportional to the angle from flat; the table has a note below 1e-3, and names the motions at zero."""
    found = [mobility(kt.models.parallelogram(angle=x)) for x in (2e-4, 1e-4)]
    assert found[0].regularity == pytest.approx(2.0 * found[1].regularity, rel=1e-3)
    assert 1e-6 < found[1].regularity < 1e-3 and "near a singular one" in str(found[0])
    flat = mobility(kt.models.parallelogram(angle=0.0))
    assert flat.regularity < 1e-12 and flat.mobility == 2 and flat.lost == ("closure: force x",)


@pytest.mark.parametrize(
    ("model", "actuated", "expected"),
    [
        (kt.models.four_bar, ["crank"], ("properly actuated", 0, 0)),
        (kt.models.four_bar, ["crank", "rocker"], ("redundantly actuated", 1, 0)),
        (lambda: kt.models.ladder(2), ["left1"], ("underactuated", 0, 1)),
        (lambda: kt.models.ladder(2), ["left1", "right1"], ("underactuated and redundantly actuated", 1, 1)),
        (kt.models.delta_robot, ["arm1", "arm2", "arm3"], ("properly actuated", 0, 0)),
        (kt.models.stewart_platform, [f"prismatic{k}" for k in range(1, 7)], ("properly actuated", 0, 0)),
        (lambda: kt.models.slider_crank(angle=0.0), ["slider"], ("underactuated and redundantly actuated", 1, 1)),
    ],
)  # fmt: skip
def test_actuation_classes(model, actuated, expected):
    """Featherstone, eq. 8.63; at its dead center a slider does not move the crank. The same as of the torque family."""
    model = model()
    found = mobility(model, actuated=actuated)
    assert (found.actuation, found.internal_forces, found.uncontrolled) == expected
    assert set(found.actuated) == set(actuated)
    still = np.zeros(model.nv)
    family = kt.closed_loops.torque_family(model, found.q, still, still, actuated=actuated)
    assert (family.actuation, family.null_space.shape[1], family.lacking) == expected


def test_motors_of_the_model_are_the_default():
    """Force elements of kind motor; without motors there is no class."""
    model = kt.models.four_bar().with_forces(kt.forces.Motor("crank", torque_limit=3.0))
    assert mobility(model).actuated == ("crank",) and mobility(kt.models.four_bar()).actuation == ""


def test_rows_are_named_by_joint_and_direction():
    """Of hinges along an axis of the frame and along another one, of cylinders, and of other constraints."""
    model = kt.models.four_bar().replace(constraints=())
    for joint, names in (
        (Revolute(), ["moment x", "moment y", "force x", "force y", "force z"]),
        (SphereInCylinder(), ["force x", "force y"]),
        (Revolute((0.6, 0.0, 0.8)), ["moment y", "force (0.6, 0, 0.8)"]),
        (kt.joints.Helical((0, 0, 1), 0.3), ["moment x", "wrench 4"]),
        (Cylindrical(), ["moment x", "moment y", "force x", "force y"]),
    ):
        loop = LoopJoint("loop", joint, "coupler_tip", "rocker_tip")
        found = row_names(model.with_constraints(loop))
        assert {f"loop: {name}" for name in names} <= set(found) and len(found) == 6 - joint.nv
    assert mobility(kt.models.geared_arm()).row_names == ("coupling:elbow,shoulder",)


def test_the_report_is_data():
    """JSON with the counts, and a table with one line for each."""
    found = mobility(kt.models.bennett())
    data = json.loads(found.to_json())
    assert (data["rank"], data["mobility"], data["gruebler"]) == (2, 1, -2)
    assert data["replacements"] == ["hinge3: SphereInCylinder(), 2 rows instead of 5"]
    assert str(found).splitlines()[3] == "rank r          2"
    assert any("hinge3: moment x" in text and "force y" in text for text in found.undetermined_forces())


def test_positions_that_are_not_closed_are_errors():
    """By the constraint and its error; no motors of that name; nothing that moves."""
    model = kt.models.four_bar()
    with pytest.raises(ConstraintError, match="q breaks the loop joint 'closure'"):
        mobility(model, np.zeros(3))
    with pytest.raises(NonFiniteError, match=r"q\[1\]"):
        mobility(model, [0.0, np.nan, 0.0])
    with pytest.raises(UnknownNameError, match="cranck"):
        mobility(model, actuated=["cranck"])
    open_forever = model.replace(constraints=(), equipment=kt.model.Equipment()).with_constraints(
        LoopJoint("far", Revolute(), "world", "rocker_tip", kt.spatial.Transform.shift(kt.spatial.Vector3(9, 9, 0)))
    )
    with pytest.raises(AssemblyError, match=r"'far' .* stays open by"):
        mobility(open_forever)
    b = kt.ModelBuilder("statue")
    b.add_body("body", mass=1.0)
    with pytest.raises(ModelError, match="nothing can move"):
        mobility(b.build())


@pytest.mark.sweep
def test_cassie_has_twenty_degrees_of_freedom():
    """Six of the base, ten motors, four springs; its file closes planar loops in space to five digits."""
    robots = "cmeel.prefix/share/example-robot-data/robots/cassie_description/robots"
    path = importlib.metadata.distribution("example-robot-data").locate_file(f"{robots}/cassie.sdf")
    found = mobility(kt.load(path, inertia="project").without_limits())
    assert (found.freedoms, found.rows, found.rank, found.mobility) == (44, 36, 24, 20)
    assert sum("shin-spring" in name for name in found.redundant) == 8 and not found.singular
    assert {each.fewer for each in found.replacements if "shin" in each.name} == {2}
