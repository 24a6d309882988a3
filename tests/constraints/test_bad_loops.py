"""Loops that users get wrong: every call that needs them refuses by name, with the size of the misfit and a repair."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import Distance, LoopJoint
from kinetree.errors import (
    ArgumentError,
    AssemblyError,
    ConstraintError,
    FileFormatError,
    JointError,
    ModelError,
    UnknownNameError,
    UnsupportedError,
)
from kinetree.joints import Composite, Revolute

REST = np.zeros(3)


def chain():
    """Three rods of 1 m in a plane, with frames at the end, 1 m and 9 m beside the base."""
    b = kt.ModelBuilder("chain")
    for k in range(3):
        b.add_body(
            f"link{k}", f"link{k - 1}" if k else "world", Revolute(), joint_name=f"j{k}", mass=1.0, com=(0.5, 0, 0),
            inertia=np.diag([0.01, 0.1, 0.1]), placement=((1.0 if k else 0.0, 0, 0), (0, 0, 0)),
        )  # fmt: skip
    for name, body, x in (("end", "link2", 1.0), ("near", "world", 1.0), ("far", "world", 9.0)):
        b.add_frame(name, body, ((x, 0, 0), (0, 0, 0)))
    return b.build()


CHAIN = chain()
CLOSED = CHAIN.with_constraints(LoopJoint("closure", Revolute(), "near", "end"))
FAR = CHAIN.with_constraints(LoopJoint("closure", Revolute(), "far", "end"))
FORMLESS = CHAIN.with_constraints(LoopJoint("closure", Composite((Revolute(), Revolute())), "near", "end"))
BATCH = np.zeros((2, 3))
CALLS = {
    "forward_dynamics": lambda m, q, v: kt.forward_dynamics(m, q, v, REST),
    "batch": lambda m, q, v: kt.compile(m, "forward_dynamics")(q + BATCH, v + BATCH, BATCH),
    "inverse_dynamics": lambda m, q, v: kt.inverse_dynamics(m, q, v, REST),
    "simulate": lambda m, q, v: kt.simulate(m, q, v, duration=0.01),
    "rollout": lambda m, q, v: kt.rollout(m, q + BATCH, v + BATCH, None, 1e-3, steps=2),
}
SEARCHES = {
    "assemble": lambda m: kt.assemble(m),
    "mobility": lambda m: kt.closed_loops.mobility(m),
    "simulate": lambda m: kt.simulate(m, duration=0.01),
}
POSITIONS = {
    "null_space": lambda m: kt.closed_loops.null_space(m, REST),
    "project_position": lambda m: kt.closed_loops.project_position(m, REST),
    "inverse_kinematics": lambda m: kt.inverse_kinematics(m, {"end": [1.0, 0.0, 0.0]}),
}


@pytest.mark.parametrize("call", [*CALLS, *POSITIONS])
def test_a_loop_that_cannot_close_is_named_with_the_least_gap(call):
    """Rods of 3 m reach no pivot at 9 m: 6 m are missing, wherever the joints are."""
    with pytest.raises(ConstraintError, match=r"'closure' .* cannot close: .* by 6 m .*Check the lengths") as raised:
        CALLS[call](FAR, REST, REST) if call in CALLS else POSITIONS[call](FAR)
    assert raised.value.residual == pytest.approx(6.0, abs=1e-6)


@pytest.mark.parametrize("call", SEARCHES)
def test_a_search_that_fails_has_the_gap_of_the_nearest_position(call):
    """The unit is that of the row, and the error has the position at which the gap is least."""
    with pytest.raises(AssemblyError, match=r"near the guess the .*'closure' .* stays open by 6 m, and") as raised:
        SEARCHES[call](FAR)
    assert raised.value.gap == pytest.approx(6.0) and raised.value.constraint == "closure"
    assert kt.pose(CHAIN, raised.value.q, frame="end")[1][0] == pytest.approx(3.0)


def test_fixed_joints_that_leave_a_loop_open():
    """With the crank held pointing away from the pivot, the others cannot reach it; a fixed name that is none."""
    short = CHAIN.with_constraints(Distance("far", "end", 6.5))
    with pytest.raises(AssemblyError, match=r"with 'j0', 'j1' fixed: .* fix fewer joints"):
        kt.assemble(short, [np.pi, 0.0, 0.0], fixed=["j0", "j1"])
    with pytest.raises(UnknownNameError, match="no joint named 'j4'"):
        kt.assemble(short, fixed="j4")


@pytest.mark.parametrize("call", CALLS)
def test_inconsistent_starts_are_refused_with_their_misfit_and_a_repair(call):
    """A parallelogram with its crank turned by 0.1 rad is open by 2 sin(0.05); then with a crank that turns alone."""
    q = kt.assemble(CLOSED, [1.0, -1.0, -2.0])
    assert np.allclose(q, [1.0, -1.0, 1.0 - np.pi]) or np.abs(kt.closed_loops.error(CLOSED, q)).max() < 1e-9
    with pytest.raises(ConstraintError, match=r"q breaks the loop joint 'closure' .* by 0\.\d+ m \(row") as raised:
        CALLS[call](CLOSED, q + [0.1, 0.0, 0.0], REST)
    assert "kt.assemble(model, q)" in str(raised.value) and 0.0 < abs(raised.value.residual) < 0.1
    with pytest.raises(ConstraintError, match=r"v breaks .* by 0\.\d+ m/s \(row .*project_velocity"):
        CALLS[call](CLOSED, q, np.array([1.0, 0.0, 0.0]))


def test_accelerations_that_open_a_loop():
    """The misfit is a size without a sign, and has the unit of the row."""
    q = kt.assemble(CLOSED, [1.0, -1.0, -2.0])
    for sign in (1.0, -1.0):
        with pytest.raises(ConstraintError, match=r"a breaks .* by 0\.\d+ m/s\^2 .*closed_loops.accelerations"):
            kt.inverse_dynamics(CLOSED, q, REST, [sign, 0.0, 0.0])


@pytest.mark.parametrize("call", [*CALLS, *SEARCHES, *POSITIONS])
def test_a_loop_joint_without_implicit_form_is_never_left_out_in_silence(call):
    """Two joints about one axis: dynamics, closed positions and reduced quantities refuse; the tree is computed."""
    run = CALLS[call] if call in CALLS else lambda m, q, v: {**SEARCHES, **POSITIONS}[call](m)
    with pytest.raises(UnsupportedError, match=r"'closure' \(Composite has no implicit form.*independent") as raised:
        run(FORMLESS, REST, REST)
    assert "kt.surgery.retree" in str(raised.value) and FORMLESS.unheld
    assert kt.aba(FORMLESS, REST, REST, REST).shape == (3,)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LoopJoint("c", Revolute(), "link2", "end"), ModelError, "both on body 'link2', open by 1 m"),
        (lambda: Distance("link2", "end", 1.0), ModelError, "connect a body with itself"),
        (lambda: LoopJoint("c", Revolute(), "nearr", "end"), UnknownNameError, "no frame named 'nearr'.*mean 'near'"),
        (lambda: LoopJoint("c", Revolute(), 0, "end"), ArgumentError, "predecessor is 0, expected the name of a frame"),
        (lambda: LoopJoint("c", Revolute(), "near", None), ArgumentError, "successor is None, expected the name"),
        (lambda: LoopJoint("c", Revolute(), "near", "end", X_P=3), ModelError, "loop joint 'c': X_P: placement 3"),
        (lambda: LoopJoint("c", Revolute(), "near", "end", X_S=np.diag([1, 2, 3, 1])), ModelError, "X_S: rotation"),
        (lambda: LoopJoint("c", Revolute, "near", "end"), JointError, r"expected one such as kt.joints.Spherical\(\)"),
        (lambda: LoopJoint(3, Revolute(), "near", "end"), ArgumentError, "name is 3, expected a name"),
    ],
)  # fmt: skip
def test_declarations_that_are_wrong(make, error, message):
    """A body with itself, frames, placements, joints and names."""
    with pytest.raises(error, match=message):
        CHAIN.with_constraints(make())


def test_placements_of_loop_joints_are_those_of_bodies():
    """(xyz, rpy), (R, p) and (4, 4) are the same loop as frames at these places."""
    X = np.eye(4)
    X[0, 3] = 1.0
    q = kt.assemble(CLOSED, [1.0, -1.0, -2.0])
    expected = kt.closed_loops.jacobian(CLOSED, q)
    for place in (((1, 0, 0), (0, 0, 0)), (np.eye(3), [1.0, 0.0, 0.0]), X):
        model = CHAIN.with_constraints(LoopJoint("closure", Revolute(), "world", "link2", X_P=place, X_S=place))
        assert np.allclose(kt.closed_loops.jacobian(model, q), expected, atol=1e-12)


MJCF = """<mujoco><option gravity="0 -9.81 0"/><worldbody>
<body name="a"><joint name="ja" axis="0 0 1"/><inertial mass="1" pos="0.5 0 0" diaginertia="0.1 0.1 0.1"/>
<body name="b" pos="1 0 0"><joint name="jb" axis="0 0 1"/><inertial mass="1" pos="0.5 0 0" diaginertia="0.1 0.1 0.1"/>
<site name="tip" pos="1 0 0"/></body></body><site name="ground" pos="9 0 0"/></worldbody>
<equality><connect name="closure" site1="{site}" site2="ground"/></equality></mujoco>"""
LINKS = "".join(
    f'<link name="{name}"><pose>{k} 0 0 0 0 0</pose><inertial><pose>.5 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>.1'
    "</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial></link>"
    for k, name in enumerate("abc")
)
AXIS = "<axis><xyz>0 0 1</xyz></axis>"
SDF = (
    '<sdf version="1.9"><model name="m">' + LINKS
    + "".join(
        f'<joint name="j{p}{c}" type="revolute"><parent>{p}</parent><child>{c}</child>{AXIS}</joint>'
        for p, c in (("world", "a"), ("a", "b"), ("b", "c"))
    )
    + '<joint name="closure" type="revolute"><parent>{parent}</parent><child>c</child>' + AXIS
    + "</joint></model></sdf>"
)  # fmt: skip
URDF = (
    '<robot name="r"><link name="base"/>'
    + "".join(
        f'<link name="{n}"><inertial><origin xyz=".5 0 0"/><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for n in "ab"
    )
    + "".join(
        f'<joint name="{p}{c}" type="continuous"><parent link="{p}"/><child link="{c}"/><origin xyz="{x} 0 0"/>'
        '<axis xyz="0 0 1"/></joint>'
        for p, c, x in (("base", "a", 0), ("a", "b", 1))
    )
    + "</robot>"
)
SIDE = '[[loop]]\nname = "closure"\ntype = "{type}"\npredecessor = "{predecessor}"\nsuccessor = "b"\n{place}\n'


def test_loops_of_mjcf_files(tmp_path):
    """A site that does not exist, with the line; a pivot out of reach, when it is assembled."""
    path = tmp_path / "far.xml"
    path.write_text(MJCF.format(site="tip"))
    with pytest.raises(AssemblyError, match=r"'closure' .* stays open by 7 m"):
        kt.simulate(kt.load(path), duration=0.01)
    path.write_text(MJCF.format(site="tipp"))
    with pytest.raises(FileFormatError, match=r"far.xml:5.*'tipp'.*Did you mean 'tip'"):
        kt.load(path)


def test_loops_of_sdf_files(tmp_path):
    """A joint between a link and itself, and one to a link that does not exist, with the line."""
    path = tmp_path / "m.sdf"
    for parent, message in (("c", "'closure' connects 'c' with itself"), ("aa", "no frame named 'aa'")):
        path.write_text(SDF.format(parent=parent))
        with pytest.raises(FileFormatError, match=message):
            kt.load(path)


def test_loops_beside_urdf_files(tmp_path):
    """In a side file: frames and kinds that do not exist, a link with itself, a pivot out of reach."""
    path, side = tmp_path / "r.urdf", tmp_path / "r.loops.toml"
    path.write_text(URDF)
    place = "at_predecessor = [9.0, 0.0, 0.0]"
    for given, error, message in (
        (dict(type="revolute", predecessor="bas"), (FileFormatError, UnknownNameError), "'bas'.*Did you mean 'base'"),
        (dict(type="revolut", predecessor="base"), FileFormatError, "revolut.*revolute"),
        (dict(type="revolute", predecessor="b"), (FileFormatError, ModelError), "both on body 'b', open by 9 m"),
    ):
        side.write_text(SIDE.format(place=place, **given))
        with pytest.raises(error, match=message):
            kt.load(path)
    side.write_text(SIDE.format(place=place, type="revolute", predecessor="base"))
    with pytest.raises(AssemblyError, match=r"'closure' .* stays open by 8 m"):
        kt.assemble(kt.load(path))
