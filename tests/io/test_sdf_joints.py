"""Joints of SDF: the same mechanism written in URDF or MJCF, or its closed form, has the same dynamics."""

import math

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnsupportedError
from kinetree.io import load_urdf
from kinetree.io.sdf.read import load_sdf
from kinetree.joints import Helical, Prismatic, Reversed, Revolute, Spherical, Universal
from kinetree.model.parts import rotation_of_rpy
from tests.io.sdf_text import inertial, joint, link, model

WORLD = "<axis><xyz>0 0 1</xyz></axis>"


def numbers(values):
    return " ".join(repr(float(x)) for x in values)


def rpy_of(R):
    """Roll, pitch, yaw with R = Rz(yaw) Ry(pitch) Rx(roll)."""
    return (math.atan2(R[2, 1], R[2, 2]), math.asin(-R[2, 0]), math.atan2(R[1, 0], R[0, 0]))


def pose(R, p):
    return numbers([*p, *rpy_of(R)])


def axis(xyz, inside="", attributes="", tag="axis"):
    return f"<{tag}><xyz {attributes}>{numbers(xyz)}</xyz>{inside}</{tag}>"


def random_pose(rng):
    return rotation_of_rpy(*rng.uniform(-1.2, 1.2, 3)), rng.uniform(-1.0, 1.0, 3)


def random_mass(rng):
    a, b, c = rng.uniform(0.5, 1.0, 3)
    return rng.uniform(0.5, 3.0), (b + c, a + c, a + b), pose(*random_pose(rng))


def bias(loaded, q, v):
    """Everything but M a: Coriolis, centrifugal and gravity forces."""
    return kt.rnea(loaded, q, v, np.zeros(loaded.nv))


def same_dynamics(one, other, q, v, tolerance=1e-10):
    """M and the bias agree; 1e-10 is far above rounding of O(10) terms of size O(100)."""
    with kt.interpreted():
        np.testing.assert_allclose(kt.crba(one, q), kt.crba(other, q), atol=tolerance)
        np.testing.assert_allclose(bias(one, q, v), bias(other, q, v), atol=tolerance)


# Trees against URDF ---------------------------------------------------------------------------------------------------


def random_tree(seed, reverse=False):
    """The same mechanism of 6 links as URDF and as SDF, which says each pose and axis in a frame chosen by chance."""
    rng = np.random.default_rng(seed)
    place = {"l0": random_pose(rng)}
    urdf, sdf, joints = [], [], []
    for k in range(6):
        name = f"l{k}"
        mass, moments, at = random_mass(rng)
        xyz, rpy = at.split()[:3], at.split()[3:]
        urdf.append(
            f'<link name="{name}"><inertial><origin xyz="{" ".join(xyz)}" rpy="{" ".join(rpy)}"/><mass value="{mass}"/>'
            f'<inertia ixx="{moments[0]}" iyy="{moments[1]}" izz="{moments[2]}" ixy="0" ixz="0" iyz="0"/>'
            "</inertial></link>"
        )
        attributes = ""
        if k:
            parent = f"l{rng.integers(k)}"
            R_PC, p_PC = random_pose(rng)
            R_P, p_P = place[parent]
            place[name] = R_P @ R_PC, R_P @ p_PC + p_P
            n = rng.normal(size=3)
            kind = rng.choice(["revolute", "prismatic", "continuous"])
            limit = '<limit lower="-9" upper="9" effort="1" velocity="2"/>' if kind != "continuous" else ""
            urdf.append(
                f'<joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="{name}"/>'
                f'<origin xyz="{numbers(p_PC)}" rpy="{numbers(rpy_of(R_PC))}"/><axis xyz="{numbers(n)}"/>'
                f"{limit}</joint>"
            )
            # The axis in the link's axes, the joint's (turned by Q), the parent's, or the model's.
            Q = rotation_of_rpy(*rng.uniform(-1, 1, 3))
            R_C = place[name][0]
            frame, in_frame = [
                ("", Q.T @ n), (name, n), (parent, R_P.T @ R_C @ n), ("__model__", R_C @ n), (f"j{k}", Q.T @ n)
            ][rng.integers(5)]  # fmt: skip
            expressed = f'expressed_in="{frame}"' if frame else ""
            slide = rng.uniform(-1, 1, 3) if kind == "prismatic" else n * rng.uniform(-1, 1)  # moves along the axis
            inside = f"<pose>{pose(Q, slide)}</pose>{axis(in_frame, attributes=expressed)}"
            ends = (name, parent) if reverse and k % 2 else (parent, name)
            if reverse and k % 2:
                # The joint's default frame is now the other link.
                inside = inside.replace("<pose>", f'<pose relative_to="{name}">')
            joints.append(joint(f"j{k}", kind, *ends, inside))
            if rng.random() < 0.5:
                attributes = f'relative_to="{parent}"'
        at_model = pose(*(place[name] if not attributes else (R_PC, p_PC)))
        sdf.append(link(name, at_model, inertial(mass, moments, at), attributes))
    rng.shuffle(joints)
    return f'<robot name="m">{"".join(urdf)}</robot>', model(*sdf, *joints), place["l0"]


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_has_the_dynamics_of_the_same_tree_in_urdf(seed):
    """M, bias and frames agree at random states, whichever frames say the poses and axes."""
    urdf, sdf, root = random_tree(seed)
    one = load_urdf(urdf, floating_base=True)
    other = load_sdf(sdf)
    _same_tree(one, other, root, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(6))
def test_joints_with_parent_and_child_exchanged_are_reversed(seed):
    """Exchanging parent and child of a joint turns its variable's sign, and nothing else."""
    urdf, sdf, root = random_tree(seed, reverse=True)
    one = load_urdf(urdf, floating_base=True)
    hold = joint("hold", "fixed", "world", "l0", "")  # so that l0 is the root, as in URDF
    other = load_sdf(sdf.replace("</model>", f"{hold}</model>"), floating_base=True)
    assert sum(isinstance(j, Reversed) for j in other.joints) > 0
    _same_tree(one, other, root, np.random.default_rng(seed), turned={"j1", "j3", "j5"})


def _same_tree(one, other, root, rng, turned=()):
    for _ in range(2):
        q, v = one.random_state(rng)
        joints = one.joint_names[1:]
        # Free joint: which link is the root may differ with the joints; here both have l0.
        assert one.body_names[1] == other.body_names[1] == "l0"
        q2, v2 = np.zeros(one.nq), np.zeros(one.nv)
        q2[:7], v2[:6] = q[:7], v[:6]
        P = np.zeros((one.nv, one.nv))
        P[:6, :6] = np.eye(6)
        for name in joints:
            sign = -1.0 if name in turned else 1.0
            a, b = one.v_index(name).start, other.v_index(name).start
            q2[other.q_index(name)] = sign * q[one.q_index(name)]
            v2[b] = sign * v[a]
            P[b, a] = sign
        with kt.interpreted():
            M = P.T @ kt.crba(other, q2) @ P
            np.testing.assert_allclose(kt.crba(one, q), M, atol=1e-10)
            np.testing.assert_allclose(bias(one, q, v), P.T @ bias(other, q2, v2), atol=1e-9)
            for k in range(6):
                for x, y in zip(kt.pose(one, q, frame=f"l{k}"), kt.pose(other, q2, frame=f"l{k}"),
                                strict=True):  # fmt: skip
                    np.testing.assert_allclose(x, y, atol=1e-12)


# Versions -------------------------------------------------------------------------------------------------------------


def test_the_axis_of_each_version():
    """Up to 1.4 in the model's axes; in 1.5 and 1.6 if use_parent_model_frame; from 1.7 in any frame that is named."""
    turned = link("b", "0 0 0 0.3 0.4 0.5")
    R = rotation_of_rpy(0.3, 0.4, 0.5)
    n = np.array([0.6, 0.0, 0.8])

    def axis_of(version, inside):
        loaded = load_sdf(model(link("a"), turned, joint("j", "revolute", "a", "b", inside), version=version))
        return loaded.joints[loaded.joint("j")].axis

    flag = "<use_parent_model_frame>{}</use_parent_model_frame>"
    for version, inside, expected in (
        ("1.4", axis(n), R.T @ n),
        ("1.5", axis(n), n),
        ("1.6", axis(n), n),
        ("1.6", axis(n, flag.format("true")), R.T @ n),
        ("1.6", axis(n, flag.format("0")), n),
        ("1.7", axis(n), n),
        ("1.7", axis(n, attributes='expressed_in="__model__"'), R.T @ n),
        ("1.11", axis(n, attributes='expressed_in="a"'), R.T @ n),
        ("1.7", "<pose>0 0 0 0.3 0.4 0.5</pose>" + axis(n), R @ n),
    ):
        np.testing.assert_allclose(axis_of(version, inside), expected, atol=1e-14, err_msg=f"{version} {inside}")


@pytest.mark.parametrize(
    ("version", "element", "meters_per_radian"),
    [("1.10", "<screw_thread_pitch>0.5</screw_thread_pitch>", 0.5 / (2 * math.pi)),
     ("1.6", "<thread_pitch>-20</thread_pitch>", 0.05), ("1.6", "<thread_pitch>20</thread_pitch>", -0.05)],
)  # fmt: skip
def test_screws(version, element, meters_per_radian):
    """The old pitch is radians per meter, left-handed; the new one meters per turn, right-handed. M = I + m h^2."""
    text = model(
        link("a", inside=inertial(3.0, (0.1, 0.1, 0.15))),
        joint("j", "screw", "world", "a", WORLD + element),
        version=version,
    )
    loaded = load_sdf(text)
    assert isinstance(loaded.joints[1], Helical)
    with kt.interpreted():
        h = meters_per_radian
        np.testing.assert_allclose(kt.crba(loaded, [0.3]), [[0.15 + 3.0 * h * h]], rtol=1e-14)
        np.testing.assert_allclose(bias(loaded, [0.3], [0.0]), [3.0 * 9.81 * h], rtol=1e-13)


# Joints of several freedoms against MuJoCo ----------------------------------------------------------------------------


def mujoco_dynamics(text, q, v):
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = q, v
    mujoco.mj_forward(m, d)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    return M, np.array(d.qfrc_bias), np.array(d.qfrc_passive)


MJCF = """<mujoco><compiler angle="radian" autolimits="true"/><option gravity="0 0 -9.81"/><worldbody>
<body pos="0.1 0.2 0.3" euler="0 0 0"><inertial pos="0.05 -0.02 0.3" mass="2" diaginertia="0.3 0.4 0.25"/>{}</body>
</worldbody></mujoco>"""
BODY = ("b", "0.1 0.2 0.3 0 0 0", inertial(2.0, (0.3, 0.4, 0.25), "0.05 -0.02 0.3 0 0 0"))
ANCHOR = "0.1 -0.1 0.2"


def test_a_ball_joint_beside_the_origin_of_its_link():
    """The same as a ball joint of MuJoCo with pos: M and bias."""
    text = model(link(*BODY), joint("j", "ball", "world", "b", f"<pose>{ANCHOR} 0 0 0</pose>"))
    loaded = load_sdf(text)
    assert isinstance(loaded.joints[1], Spherical)
    rng = np.random.default_rng(1)
    q, v = loaded.random_state(rng)
    M, c, _ = mujoco_dynamics(MJCF.format(f'<joint type="ball" pos="{ANCHOR}"/>'), q, v)
    with kt.interpreted():
        np.testing.assert_allclose(kt.crba(loaded, q), M, atol=1e-13)
        np.testing.assert_allclose(bias(loaded, q, v), c, atol=1e-12)


@pytest.mark.parametrize("kind", ["universal", "revolute2"])
@pytest.mark.parametrize("second", [(0.0, 0.8, -0.6), (0.0, 0.9, 0.3)])
def test_joints_of_two_axes(kind, second):
    """Two hinges in a row of MuJoCo: the first axis is the parent's, the second the child's, also at an angle."""
    first = (0.0, 0.6, 0.8)
    inside = f"<pose>{ANCHOR} 0 0 0</pose>" + axis(first, damp(0.3, 0.1)) + axis(second, damp(0.7, 0.2), tag="axis2")
    loaded = load_sdf(model(link(*BODY), joint("j", kind, "world", "b", inside)))
    perpendicular = abs(np.dot(first, second)) < 1e-9
    assert loaded.nb == (2 if perpendicular else 3)
    assert isinstance(loaded.joints[1], Universal if perpendicular else Revolute)
    hinges = "".join(
        f'<joint pos="{ANCHOR}" axis="{numbers(n)}" damping="{d}" stiffness="{k}"/>'
        for n, d, k in ((first, 0.3, 0.1), (second, 0.7, 0.2))
    )
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-1, 1, (2, 2))
    M, c, passive = mujoco_dynamics(MJCF.format(hinges), q, v)
    with kt.interpreted():
        np.testing.assert_allclose(kt.crba(loaded, q), M, atol=1e-13)
        np.testing.assert_allclose(bias(loaded, q, v), c, atol=1e-12)
        full = kt.inverse_dynamics(loaded, q, v, np.zeros(2))
    np.testing.assert_allclose(full, c - passive, atol=1e-12)


def damp(damping, stiffness):
    inside = f"<damping>{damping}</damping><spring_stiffness>{stiffness}</spring_stiffness>"
    return f"<dynamics>{inside}<spring_reference>0</spring_reference></dynamics>"


def test_what_acts_along_an_axis():
    """Damping, dry friction, spring with its reference, limits, efforts, and a stop that is stated."""
    inside = axis(
        (0, 1, 0),
        "<dynamics><damping>0.2</damping><friction>0.3</friction><spring_stiffness>40</spring_stiffness>"
        "<spring_reference>0.5</spring_reference></dynamics><limit><lower>-1</lower><upper>1e16</upper>"
        "<effort>7</effort><velocity>-1</velocity><stiffness>1000</stiffness><dissipation>5</dissipation></limit>",
    )
    loaded = load_sdf(model(link("a"), joint("j", "prismatic", "world", "a", inside)))
    assert isinstance(loaded.joints[1], Prismatic)
    found = {
        name: getattr(loaded, name).tolist()
        for name in ("damping", "dry_friction", "stiffness", "spring_reference", "lower", "upper", "effort_limit",
                     "velocity_limit", "limit_stiffness", "limit_damping")
    }  # fmt: skip
    assert found == {
        "damping": [0.2], "dry_friction": [0.3], "stiffness": [40.0], "spring_reference": [0.5], "lower": [-1.0],
        "upper": [math.inf], "effort_limit": [7.0], "velocity_limit": [math.inf], "limit_stiffness": [1000.0],
        "limit_damping": [5.0],
    }  # fmt: skip
    with kt.interpreted():
        # 1 kg on a spring, relaxed at 0.5: at rest at 0, it is pulled by 40 * 0.5 N.
        acceleration = kt.forward_dynamics(loaded, [0.0], [0.0], [0.0])
    np.testing.assert_allclose(acceleration, [20.0], rtol=1e-14)


def test_an_initial_position_is_that_of_the_keyframe():
    """The old <initial_position> moves the joint at the start, not its zero."""
    text = joint("j", "revolute", "world", "a", axis((0, 1, 0), "<initial_position>0.4</initial_position>"))
    loaded = load_sdf(model(link("a"), text, version="1.4"))
    assert loaded.keyframe("initial")[0].tolist() == [0.4]


# Couplings ------------------------------------------------------------------------------------------------------------


def test_mimic_joints():
    """q = multiplier (q_leader - reference) + offset."""
    mimic = '<mimic joint="j"><multiplier>2</multiplier><offset>0.1</offset><reference>0.3</reference></mimic>'
    loaded = load_sdf(model(
        link("a"), link("b", "1 0 0 0 0 0"), joint("j", "revolute", "world", "a"),
        joint("k", "revolute", "a", "b", axis((0, 0, 1), mimic)), version="1.11",
    ))  # fmt: skip
    (coupling,) = loaded.couplings
    assert (coupling.joint, coupling.master) == ("k", "j")
    assert (coupling.ratio, coupling.offset) == pytest.approx((2.0, 0.1 - 0.6))


@pytest.mark.parametrize("flip_leader", [1, -1])
@pytest.mark.parametrize("flip_stated", [1, -1])
def test_gearboxes(flip_leader, flip_stated):
    """theta_2 = -ratio theta_1, each about the axis that the gearbox states, whatever the signs of the joints."""
    z, leader, stated = (0, 0, 1), (0, 0, flip_leader), (0, 0, flip_stated)
    gear = (
        "<gearbox_reference_body>base</gearbox_reference_body><gearbox_ratio>0.25</gearbox_ratio>"
        + axis(stated) + axis(z, tag="axis2")
    )  # fmt: skip
    loaded = load_sdf(model(
        link("base"), link("rotor"), link("arm"), joint("hold", "fixed", "world", "base", ""),
        joint("r", "revolute", "base", "rotor", axis(leader)), joint("a", "revolute", "base", "arm", axis(z)),
        joint("g", "gearbox", "rotor", "arm", gear),
    ))  # fmt: skip
    (coupling,) = loaded.couplings
    assert coupling.joints == ("a", "r")
    # theta_1 = flip_stated * flip_leader * q_r about the stated axis; theta_2 = q_a.
    assert coupling.ratio == -0.25 * flip_leader * flip_stated


def test_a_gearbox_between_other_joints_is_refused():
    """Its angles must be those of one revolute joint each."""
    gear = "<gearbox_reference_body>base</gearbox_reference_body>" + axis((0, 0, 1)) + axis((0, 0, 1), tag="axis2")
    text = model(
        link("base"), link("rotor"), link("arm"), joint("r", "revolute", "base", "rotor"),
        joint("a", "prismatic", "base", "arm"), joint("g", "gearbox", "rotor", "arm", gear),
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match="gearbox 'g'"):
        load_sdf(text)
    assert load_sdf(text, unsupported="drop").couplings == ()


# Loops ----------------------------------------------------------------------------------------------------------------


def residual(loaded, loop, q):
    """What the loop joint says of the pose of its successor frame as seen from its predecessor frame."""
    from kinetree.model.parts import transform_of_pose

    with kt.interpreted():
        ends = [kt.pose(loaded, q, frame=name) for name in (loop.predecessor, loop.successor)]
    X_P, X_S = (X @ transform_of_pose(*end) for X, end in zip((loop.X_P, loop.X_S), ends, strict=True))
    delta, _ = loop.joint.implicit(X_S @ X_P.inverse())
    return np.array([float(x) for x in delta])


def four_bar(*order):
    """A parallelogram in the x-z plane: base length 2, cranks length 1, all axes y."""
    bars = {
        "left": link("left"), "top": link("top", "0 0 1 0 0 0"), "right": link("right", "2 0 0 0 0 0"),
    }  # fmt: skip
    y = axis((0, 1, 0))
    joints = {
        "a": joint("a", "revolute", "world", "left", y), "b": joint("b", "revolute", "left", "top", y),
        "c": joint("c", "revolute", "world", "right", y),
        "d": joint("d", "revolute", "top", "right", f"<pose>0 0 1 0 0 0</pose>{y}"),
    }  # fmt: skip
    return model(*bars.values(), *(joints[name] for name in order or joints))


def test_a_loop_is_cut_at_the_joint_whose_child_is_carried_already():
    """The others are the tree, in the order of the file."""
    loaded = load_sdf(four_bar())
    assert [loop.name for loop in loaded.loops] == ["d"] and loaded.joint_names == ("a", "b", "c")
    assert [loop.name for loop in load_sdf(four_bar("a", "b", "d", "c")).loops] == ["c"]


@pytest.mark.parametrize("order", [("a", "b", "c", "d"), ("d", "c", "b", "a"), ("b", "d", "a", "c")])
@pytest.mark.parametrize("angle", [0.0, 0.7, -1.1])
def test_the_loop_of_a_parallelogram_stays_closed(order, angle):
    """Cranks turned by t and the coupler by -t satisfy the loop joint; another position does not."""
    loaded = load_sdf(four_bar(*order))
    (loop,) = loaded.loops
    closed = {"a": angle, "b": -angle, "c": angle, "d": angle}
    q = np.zeros(loaded.nq)
    for name in loaded.joint_names:
        q[loaded.q_index(name)] = closed[name]
    np.testing.assert_allclose(residual(loaded, loop, q), 0.0, atol=1e-14)
    q[loaded.q_index(loaded.joint_names[0])] += 0.1
    assert np.abs(residual(loaded, loop, q)).max() > 1e-2


def test_a_simbody_loop_joint_is_cut():
    """must_be_loop_joint moves the cut."""
    mark = "<physics><simbody><must_be_loop_joint>true</must_be_loop_joint></simbody></physics>"
    text = four_bar().replace('<joint name="b" type="revolute">', f'<joint name="b" type="revolute">{mark}')
    assert [loop.name for loop in load_sdf(text).loops] == ["b"]


def test_springs_and_limits_of_a_loop_joint_are_its_own():
    """A cut joint keeps damping, friction, spring and limits."""
    inside = damp(0.5, 30) + "<limit><lower>-1</lower><upper>2</upper><effort>3</effort></limit>"
    text = four_bar().replace("<pose>0 0 1 0 0 0</pose><axis><xyz >0.0 1.0 0.0</xyz>",
                              f"<pose>0 0 1 0 0 0</pose><axis><xyz>0 1 0</xyz>{inside}")  # fmt: skip
    loaded = load_sdf(text)
    (loop,) = loaded.loops
    assert (loop.damping, loop.stiffness, loop.lower, loop.upper) == (0.5, 30.0, -1.0, 2.0)
    assert "effort_limit 3.0 is not held" in str(loaded.report)
    assert loaded.unsupported == () and {force.name for force in loaded.loop_forces} == {"d damping", "d spring"}


def test_stops_of_a_loop_joint_are_its_own():
    """Stiffness and dissipation of the limit, as for joints of the tree."""
    limit = "<limit><lower>-1</lower><upper>2</upper><stiffness>70</stiffness><dissipation>3</dissipation></limit>"
    text = four_bar().replace("<pose>0 0 1 0 0 0</pose><axis><xyz >0.0 1.0 0.0</xyz>",
                              f"<pose>0 0 1 0 0 0</pose><axis><xyz>0 1 0</xyz>{limit}")  # fmt: skip
    (loop,) = load_sdf(text).loops
    assert (loop.limit_stiffness, loop.limit_damping) == (70.0, 3.0) and loop.has_stop


def test_a_universal_joint_that_closes_a_loop_has_forces_about_both_axes():
    """Damping and springs of each axis."""
    axes = axis((0, 1, 0), damp(0.3, 0.1)) + axis((0, 0, 1), damp(0.7, 0.2), tag="axis2")
    text = model(
        link("a"), link("b"), joint("p", "revolute", "world", "a", axis((0, 1, 0))),
        joint("q", "revolute", "a", "b", axis((0, 0, 1))), joint("u", "universal", "world", "b", axes), version="1.11",
    )  # fmt: skip
    loaded = load_sdf(text)
    (loop,) = loaded.loops
    assert loop.joint == Universal() and loaded.unsupported == ()
    assert (loop.damping, loop.stiffness) == ((0.3, 0.7), (0.1, 0.2))
    with kt.interpreted():
        energy = kt.dynamics.elastic_energy(loaded, [0.2, -0.3])
    assert energy == pytest.approx(0.5 * (0.1 * 0.2**2 + 0.2 * 0.3**2))


def test_a_screw_closes_a_loop():
    """A nut that slides on a rail and a spindle: the travel is the pitch times the angle, in the file's convention."""
    slide, z = joint("slide", "prismatic", "world", "nut", axis((0, 0, 1))), axis((0, 0, 1))
    lead = "<screw_thread_pitch>0.02</screw_thread_pitch>"
    text = model(
        link("nut"), link("spindle"), slide, joint("turn", "revolute", "world", "spindle", z),
        joint("thread", "screw", "spindle", "nut", z + lead), version="1.11",
    )  # fmt: skip
    loaded = load_sdf(text)
    (loop,) = loaded.loops
    assert loop.joint.kind == "helical" and loop.joint.pitch == pytest.approx(0.02 / (2 * np.pi))
    q = np.zeros(2)
    q[loaded.q_index("slide")], q[loaded.q_index("turn")] = 0.01, -np.pi  # the nut does not turn
    np.testing.assert_allclose(residual(loaded, loop, q), 0.0, atol=1e-14)
    assert loaded.ny == 1
    with kt.interpreted():
        a = kt.forward_dynamics(loaded, q, np.zeros(2), np.zeros(2))
    assert a[loaded.v_index("turn")] == pytest.approx(-a[loaded.v_index("slide")] / loop.joint.pitch)


def test_mimics_and_gearboxes_keep_their_joints_in_the_tree():
    """Another joint of the loop is cut, so that their angles are coordinates."""
    mimic = '<mimic joint="a"><multiplier>-1</multiplier></mimic>'
    text = four_bar("a", "b", "c", "d").replace('version="1.7"', 'version="1.11"')
    at = text.index('name="d"')
    end = text.index("</axis>", at)
    loaded = load_sdf(text[:end] + mimic + text[end:])
    assert "d" in loaded.joint_names and [loop.name for loop in loaded.loops] == ["c"]
    assert [c.joints for c in loaded.couplings] == [("d", "a")]
    gear = ("<gearbox_reference_body>top</gearbox_reference_body><gearbox_ratio>2</gearbox_ratio>"
            + axis((0, 1, 0)) + axis((0, 1, 0), tag="axis2"))  # fmt: skip
    geared = load_sdf(text.replace("</model>", joint("g", "gearbox", "left", "right", gear) + "</model>"))
    assert {"b", "d"} <= set(geared.joint_names) and len(geared.couplings) == 1


def test_a_ring_of_links_without_a_root_loads():
    """a -> b -> c -> a: one joint closes the loop, and the ring is free."""
    y = axis((0, 1, 0))
    ring = [joint(f"j{k}", "revolute", "abc"[k], "abc"[(k + 1) % 3], y) for k in range(3)]
    loaded = load_sdf(model(link("a"), link("b", "1 0 0 0 0 0"), link("c", "1 0 1 0 0 0"), *ring))
    assert loaded.body_names == ("world", "a", "b", "c") and [loop.name for loop in loaded.loops] == ["j2"]
    assert np.abs(residual(loaded, loaded.loops[0], loaded.neutral())).max() == 0.0


def test_two_parents_and_no_loop_is_a_tree_with_a_reversed_joint():
    """a -> c <- b is a chain; b is met from its child's side."""
    loaded = load_sdf(model(
        link("a"), link("b", "1 0 0 0 0 0"), link("c"), joint("j", "revolute", "a", "c"),
        joint("k", "revolute", "b", "c", "<pose>0 0 0.5 0 0 0</pose>" + WORLD),
    ))  # fmt: skip
    assert loaded.loops == () and loaded.nv == 8
    assert isinstance(loaded.joints[loaded.joint("k")], Reversed)
