"""Equality constraints, tendons, actuators and muscles of an MJCF file, as the model's equipment."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ConstraintError
from kinetree.forces import RotationStop
from kinetree.io.mjcf.read import load_mjcf
from kinetree.joints import Fixed, Spherical
from kinetree.model import Equality
from kinetree.model.parts import pose_of_transform
from kinetree.tendons import JointTerm, Pulley, ViaPoint, WrapShape

mujoco = pytest.importorskip("mujoco")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo itself, beside which models are put here, writes warnings into the working folder."""
    monkeypatch.chdir(tmp_path)


TREE = """<mujoco>{head}<worldbody><site name="w" pos="0 0 3"/>
<body name="a" pos="0 0 1" euler="20 30 40"><joint name="a1" axis="0 1 0" ref="10"/><joint name="a2" axis="1 0 0"
    pos=".1 .2 0"/>
  <geom name="ga" type="cylinder" size=".1 .2" pos="0 .1 0"/><site name="sa" pos=".1 0 0" euler="10 0 0"/>
  <body name="b" pos="1 0 0"><joint name="b1" type="slide" pos="0 0 .3" axis="0 0 1" ref=".2"/>
    <geom name="gb" size=".1"/><site name="sb" pos="0 .2 0"/><site name="side" pos="0 .9 0"/></body></body>
<body name="c" pos="2 0 1"><joint name="c1" type="ball" pos="0 .1 0"/><geom size=".1"/><site name="sc"/></body>
</worldbody>{tail}</mujoco>"""


def tree(tail="", head=""):
    return TREE.format(head=head, tail=tail)


def equality(text):
    return tree(f"<equality>{text}</equality>")


# Loops ---------------------------------------------------------------------------------------------------------------


def residual_pose(model, loop, q):
    """Pose of the loop joint's successor frame in its predecessor frame."""
    ends = []
    for frame, X in ((loop.predecessor, loop.X_P), (loop.successor, loop.X_S)):
        R, p = kt.pose(model, q, frame=frame)
        R_F, p_F = pose_of_transform(X)
        ends.append((R @ R_F, R @ p_F + p))
    (R_P, p_P), (R_S, p_S) = ends
    return R_P.T @ R_S, p_S - p_P


@pytest.mark.parametrize(
    ("text", "joint"),
    [
        ('<connect name="e" body1="b" body2="c" anchor=".1 .2 .3"/>', Spherical()),
        ('<connect name="e" body1="b" anchor=".1 .2 .3"/>', Spherical()),
        ('<connect name="e" site1="sa" site2="sc"/>', Spherical()),
        ('<weld name="e" body1="b" body2="c" anchor=".1 .2 .3"/>', Fixed()),
        ('<weld name="e" body1="b" body2="c" relpose=".1 .2 .3 1 2 3 4" anchor=".5 0 0"/>', Fixed()),
        ('<weld name="e" site1="sa" site2="sc"/>', Fixed()),
        ('<weld name="e" body1="b" body2="c" torquescale="0"/>', Spherical()),
    ],
)
def test_loop_joints_have_mujocos_residual(text, joint):
    """Positions (and twice the vector part of the quaternion, for welds) are those of MuJoCo's constraint, efc_pos."""
    text = equality(text)
    model, mj = load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    (loop,) = model.loops
    assert loop.joint == joint and loop.active and loop.name == "e"
    assert loop.softness.solref == (0.02, 1.0)
    data, rng = mujoco.MjData(mj), np.random.default_rng(5)
    for _ in range(3):
        q = model.random_q(rng)
        data.qpos[:] = q
        mujoco.mj_forward(mj, data)
        with kt.interpreted():
            R, p = residual_pose(model, loop, q)
        rows = data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
        np.testing.assert_allclose(-p, rows[:3], atol=1e-12)
        if isinstance(joint, Fixed):
            angle = 2.0 * np.linalg.norm(rows[3:] if mj.eq_data[0, 10] == 1.0 else rows[3:] / mj.eq_data[0, 10])
            # MuJoCo's angular residual is the vector part of the error quaternion: sin(angle / 2).
            cosine = 0.5 * (np.trace(R) - 1.0)
            assert np.sqrt(0.5 * (1.0 - cosine)) == pytest.approx(0.5 * angle, abs=1e-12)


def test_a_connect_holds_at_the_files_own_position():
    """The anchor on the second body is the one that coincides at qpos0."""
    model = load_mjcf(equality('<connect body1="b" body2="c" anchor=".1 .2 .3"/>'))
    with kt.interpreted():
        _, p = residual_pose(model, model.loops[0], model.keyframe("initial")[0])
    np.testing.assert_allclose(p, 0.0, atol=1e-12)


def test_dynamics_refuse_open_loops_and_the_tree_remains():
    """Positions of an open loop are refused by name; without_unsupported("loops") leaves the tree."""
    model = load_mjcf(equality('<connect name="e" body1="b" body2="c" anchor=".1 .2 .3"/>'))
    assert model.unsupported == () and model.nc == 3
    q, z = model.neutral(), np.zeros(model.nv)
    with kt.interpreted(), pytest.raises(ConstraintError, match="'e'"):
        kt.forward_dynamics(model, q, z, z)
    assert model.without_unsupported("loops").nc == 0


# Polynomials ---------------------------------------------------------------------------------------------------------


def test_linear_joint_equalities_are_couplings_about_the_references():
    """y - y0 = c0 + c1 (x - x0), where x0 and y0 are the joints' ref; exact here, as the report says."""
    model = load_mjcf(equality('<joint joint1="b1" joint2="a1" polycoef=".5 2 0 0 0"/>'))
    (coupling,) = model.couplings
    assert (coupling.joint, coupling.master) == ("b1", "a1")
    assert coupling.ratio == 2.0 and coupling.offset == pytest.approx(0.2 + 0.5 - 2.0 * np.radians(10))
    assert "joint 'b1' follows 'a1' exactly; MuJoCo holds it softly" in str(model.report)
    assert model.unsupported == ()


def test_other_joint_equalities_stay_polynomials():
    """Of higher order, of one joint alone, or switched off: kept with their coefficients and references."""
    model = load_mjcf(equality('<joint name="p" joint1="b1" joint2="a1" polycoef="0 1 2"/>'
                               '<joint name="o" joint1="a2" polycoef=".3"/>'
                               '<joint name="n" joint1="a2" joint2="a1" active="false"/>'))  # fmt: skip
    p, o, n = model.equalities
    assert (p.follower, p.master, p.coefficients) == ("b1", "a1", (0.0, 1.0, 2.0))
    assert (p.follower_reference, p.master_reference) == (0.2, pytest.approx(np.radians(10)))
    assert (o.follower, o.master, o.coefficients) == ("a2", None, (0.3,))
    assert not n.active and model.couplings == () and model.unsupported == ()
    assert [(c.kind, c.name) for c in model.constraints] == [("polynomial_coupling", "p"), ("polynomial_coupling", "o")]


def test_couplings_that_cannot_be_stay_equalities():
    """A joint that follows twice, or a circle, is left to the constraint solver."""
    twice = '<joint joint1="b1" joint2="a1"/><joint joint1="b1" joint2="a2"/>'
    circle = '<joint joint1="b1" joint2="a1"/><joint joint1="a1" joint2="b1" polycoef="0 2"/>'
    for text in (twice, circle):
        model = load_mjcf(equality(text))
        assert len(model.couplings) == 1 and len(model.equalities) == 1


def test_a_flag_switches_equalities_off():
    """They are kept inactive, and linear ones couple nothing."""
    text = equality('<connect body1="b" body2="c" anchor="0 0 0"/><joint joint1="b1" joint2="a1"/>')
    text = text.replace("<worldbody>", '<option><flag equality="disable"/></option><worldbody>')
    model = load_mjcf(text)
    assert not model.loops[0].active and not model.equalities[0].active and model.unsupported == ()


def test_limits_of_ball_joints_are_stops():
    """MuJoCo's row of the limit is the gradient of the angle, and its rates per inertia those of the stop."""
    text = tree().replace('type="ball"', 'type="ball" range="0 60" solreflimit=".03 .8" solimplimit=".7 .95 .01"')
    model, mj = load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    (stop,), data = [force for force in model.forces if isinstance(force, RotationStop)], mujoco.MjData(mj)
    assert stop.joint == "c1" and stop.angle == pytest.approx(np.radians(60)) and model.unsupported == ()
    assert model.without_limits().forces == ()
    (ball,) = np.flatnonzero(mj.jnt_type == mujoco.mjtJoint.mjJNT_BALL)
    axis, k = np.array([0.36, 0.48, -0.8]), model.v_index("c1")
    for turn, e in ((0.9, 0.0), (1.5, 1.5 - np.pi / 3), (2.0 * np.pi - 1.7, 1.7 - np.pi / 3)):  # the last one backwards
        q, way = model.neutral(), 1.0 if turn < np.pi else -1.0
        q[model.q_index("c1")] = np.cos(turn / 2), *(np.sin(turn / 2) * axis)
        data.qpos[mj.jnt_qposadr[ball] :][:4] = q[model.q_index("c1")]
        mujoco.mj_forward(mj, data)
        rows = [n for n in range(data.nefc) if data.efc_type[n] == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT]
        rows = [n for n in rows if data.efc_id[n] == ball]
        pushed = kt.dynamics.passive_joint_forces(model, q, np.zeros(model.nv))[k]
        np.testing.assert_allclose(pushed, -stop.stiffness * e * way * axis, atol=1e-9 * stop.stiffness)
        assert len(rows) == (e > 0.0)
        if rows:
            J = data.efc_J.reshape(-1, mj.nv)[rows[0], mj.jnt_dofadr[ball] :][:3]
            np.testing.assert_allclose(J, -way * axis, atol=1e-12)
            weight = mj.dof_invweight0[mj.jnt_dofadr[ball]]
            rates = stop.stiffness * weight, stop.damping * weight
            np.testing.assert_allclose(rates, data.efc_KBIP[rows[0], :2], rtol=1e-12)


# Tendons -------------------------------------------------------------------------------------------------------------

TENDONS = tree("""<tendon>
<fixed name="sum" stiffness="3" springlength=".1 .4" damping=".2" frictionloss=".3" armature=".4" range="-1 2">
  <joint joint="a1" coef="2"/><joint joint="b1" coef="-1"/></fixed>
<spatial name="cord"><site site="w"/><geom geom="ga" sidesite="side"/><site site="sb"/><pulley divisor="2"/>
  <site site="sb"/><geom geom="gb"/><site site="sc"/></spatial></tendon>
<equality><tendon name="t" tendon1="sum" tendon2="cord" polycoef="0 1"/></equality>""")


def test_tendons_are_kept_with_their_forces():
    """Fixed ones as sums of positions, with all that acts along them."""
    tendon = load_mjcf(TENDONS).tendons[0]
    assert tendon.path == (JointTerm("a1", 2.0), JointTerm("b1", -1.0)) and tendon.is_fixed
    assert (tendon.stiffness, tendon.damping, tendon.dry_friction, tendon.armature) == (3.0, 0.2, 0.3, 0.4)
    assert tendon.rest_length == (0.1, 0.4) and (tendon.lower, tendon.upper) == (-1.0, 2.0)


def test_paths_of_spatial_tendons_are_kept():
    """Via points, shapes to wrap around with their side, and pulleys; geoms get frames where they are needed."""
    model = load_mjcf(TENDONS)
    cord = model.tendons[1]
    w, ga, sb, pulley, _, gb, sc = cord.path
    assert (w, sb, sc) == (ViaPoint("w"), ViaPoint("sb"), ViaPoint("sc"))
    assert ga == WrapShape("cylinder", "ga", ga.radius, "side") and ga.radius == pytest.approx(0.1)
    assert gb.kind == "sphere" and gb.side is None
    assert pulley == Pulley(2.0)
    mj = mujoco.MjModel.from_xml_string(TENDONS)
    data = mujoco.MjData(mj)
    q = model.random_q(np.random.default_rng(1))
    data.qpos[:] = q
    mujoco.mj_kinematics(mj, data)
    with kt.interpreted():
        R, p = kt.pose(model, q, frame="ga")
    np.testing.assert_allclose(p, data.geom("ga").xpos, atol=1e-13)
    np.testing.assert_allclose(R, data.geom("ga").xmat.reshape(3, 3), atol=1e-13)


def test_equalities_of_tendons_refer_to_their_lengths_at_the_start():
    """References are the lengths at qpos0."""
    model = load_mjcf(TENDONS)
    (equality,) = [c for c in model.equalities if isinstance(c, Equality)]
    mj = mujoco.MjModel.from_xml_string(TENDONS)
    assert (equality.of, equality.follower, equality.master) == ("tendon", "sum", "cord")
    np.testing.assert_allclose([equality.follower_reference, equality.master_reference], mj.tendon_length0)


# Actuators -----------------------------------------------------------------------------------------------------------


def actuators(text, tendons=""):
    return load_mjcf(tree(f"{tendons}<actuator>{text}</actuator>")).actuators


def test_every_transmission_keeps_its_targets():
    """Joints, tendons, sites, slider-cranks and bodies by name."""
    found = actuators(
        '<motor name="m" joint="a1" gear="5"/><motor jointinparent="c1"/><motor tendon="sum"/>'
        '<motor site="sa" refsite="sb"/><motor cranksite="sa" slidersite="sb" cranklength=".4"/><adhesion body="b" '
        'ctrlrange="0 1"/>',
        '<tendon><fixed name="sum"><joint joint="a1" coef="1"/></fixed></tendon>',
    )
    shown = [(a.transmission, a.target, a.reference) for a in found]
    assert shown == [
        ("joint", "a1", None), ("joint_in_parent", "c1", None), ("tendon", "sum", None), ("site", "sa", "sb"),
        ("slider_crank", "sa", "sb"), ("body", "b", None),
    ]  # fmt: skip
    assert found[0].gear[0] == 5.0 and found[4].crank_length == 0.4 and found[1].name == "actuator_1"


def test_laws_of_drives_are_kept_as_data():
    """Types by name, parameters without trailing zeros, ranges; infinite where there is none."""
    (servo, plain) = actuators('<position joint="a1" kp="20" ctrlrange="-1 2" forcerange="-3 4"/><motor joint="a1"/>')
    assert (servo.gain, servo.bias, servo.dynamics) == ("fixed", "affine", "none")
    assert servo.gain_parameters == (20.0,) and servo.bias_parameters == (0.0, -20.0)
    assert servo.control_range == (-1.0, 2.0) and servo.force_range == (-3.0, 4.0)
    assert plain.control_range == (-np.inf, np.inf) and plain.bias_parameters == ()


def test_muscles_keep_their_parameters_and_length_range():
    """What the compiler works out, the range of lengths, is data of the muscle."""
    text = tree(
        '<tendon><spatial name="t"><site site="w"/><site site="sa"/></spatial></tendon>'
        '<actuator><muscle name="m" tendon="t" lengthrange="1 4" force="300" timeconst=".02 .05"/></actuator>'
    )
    (muscle,) = load_mjcf(text).actuators
    mj = mujoco.MjModel.from_xml_string(text)
    assert muscle.is_muscle and (muscle.dynamics, muscle.bias) == ("muscle", "muscle")
    assert muscle.dynamics_parameters == (0.02, 0.05) and muscle.length_range == (1.0, 4.0)
    n = len(muscle.gain_parameters)
    np.testing.assert_array_equal(muscle.gain_parameters, mj.actuator_gainprm[0, :n])
    assert muscle.gain_parameters[2] == 300.0 and not mj.actuator_gainprm[0, n:].any()


def test_motors_never_hinder_dynamics():
    """They exert nothing without a control, and are data: the dynamics take joint forces."""
    model = load_mjcf(tree('<actuator><motor joint="a1"/></actuator>'))
    assert model.unsupported == ()
    with kt.interpreted():
        assert np.all(np.isfinite(kt.forward_dynamics(model, model.neutral(), np.zeros(6), np.zeros(6))))


def test_length_ranges_that_are_not_found_never_hinder_dynamics():
    """MuJoCo looks for them by simulation, which may not converge; here they are data of muscles."""
    text = tree(
        '<tendon><spatial name="t"><site site="w"/><site site="sc"/></spatial></tendon>'
        '<actuator><muscle name="m" tendon="t"/></actuator>',
        head='<compiler><lengthrange inttotal=".01" timestep=".01" interval=".01" tolrange="1e-12"/></compiler>',
    )
    with pytest.raises(ValueError, match="engthrange"):
        mujoco.MjModel.from_xml_string(text)
    model = load_mjcf(text)
    assert model.actuators[0].length_range == (0.0, 0.0)
    assert any("length ranges" in entry.message for entry in model.report.at_level("warning"))
