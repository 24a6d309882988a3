"""The Cassie robots of example-robot-data, whose legs are closed by rods: their loops are loop joints of the model."""

import importlib.metadata
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error, constraint_jacobian
from kinetree.errors import InertiaError
from kinetree.io.sdf.read import load_sdf
from kinetree.model.parts import rotation_of_rpy
from tests.io.test_sdf_joints import residual

mujoco = pytest.importorskip("mujoco")

FOLDER = "cmeel.prefix/share/example-robot-data/robots/cassie_description/robots"
PLAIN = ("cassie_reduced", "cassie_simple", "cassie_v2", "cassie_wo_gearbox_spring")
FREE = {"cassie", "cassie_v2"}  # the others slide on a vertical rail
OPTIONS = {"cassie": {"inertia": "project"}}  # its rotors break the triangle inequality


def path_of(name):
    return importlib.metadata.distribution("example-robot-data").locate_file(f"{FOLDER}/{name}.sdf")


@pytest.fixture(scope="module")
def robots():
    return {name: load_sdf(path_of(name), **OPTIONS.get(name, {})) for name in ("cassie", *PLAIN)}


def elements(name, tag):
    """The file as another parser sees it."""
    return ElementTree.parse(path_of(name)).getroot().find("model").findall(tag)


def floats(element, tag):
    return [float(x) for x in element.findtext(tag, "0 0 0 0 0 0").split()]


def initial(model):
    return model.keyframe("initial")[0] if "initial" in model.keyframes else model.neutral()


@pytest.mark.parametrize("name", ("cassie", *PLAIN))
def test_masses_links_and_joints_are_those_of_the_file(robots, name):
    """Each joint of the file is one of the tree, a loop joint or a coupling; no mass is lost."""
    model = robots[name]
    links, joints = elements(name, "link"), elements(name, "joint")
    assert set(model.body_names) == {"world", *(link.get("name") for link in links)}
    assert model.total_mass == pytest.approx(sum(floats(link.find("inertial"), "mass")[0] for link in links))
    gears = [joint for joint in joints if joint.get("type") == "gearbox"]
    held = {*model.joint_names, *(loop.name for loop in model.loops)} - {"root_joint"}
    assert held == {joint.get("name") for joint in joints if joint not in gears}
    assert len(model.couplings) == len(gears)
    # Euler: edges of a connected graph beyond a tree close loops; the free joint stands in for an edge to the world.
    edges = len(joints) - len(gears) + (name in FREE)
    assert len(model.loops) == edges - len(links)


@pytest.mark.parametrize("name", ("cassie", *PLAIN))
def test_links_stand_where_the_file_puts_them(robots, name):
    """World poses at the pose of the file, to 1e-12."""
    model = robots[name]
    with kt.interpreted():
        R, p = kt.kinematics.frame_poses(model, initial(model))
    for link in elements(name, "link"):
        k = [frame.name for frame in model.frames].index(link.get("name"))
        pose = floats(link, "pose")
        np.testing.assert_allclose(p[k], pose[:3], atol=1e-12)
        np.testing.assert_allclose(R[k], rotation_of_rpy(*pose[3:]), atol=1e-12)


@pytest.mark.parametrize("name", ("cassie", *PLAIN))
def test_the_loops_are_closed_at_the_pose_of_the_file(robots, name):
    """Each loop joint's residual vanishes there, and not at another position."""
    model = robots[name]
    q = initial(model)
    q2 = model.random_q(np.random.default_rng(0))
    held = [c for c in model.constraints if isinstance(c, kt.constraints.LoopJoint)]
    assert model.unsupported == () and held == list(model.loops)
    for loop in model.loops:
        np.testing.assert_allclose(residual(model, loop, q), 0.0, atol=1e-12)
        assert np.abs(residual(model, loop, q2)).max() > 1e-3


@pytest.mark.parametrize("name", ("cassie", *PLAIN))
def test_the_legs_are_the_tree_and_rods_close_the_loops(robots, name):
    """From the hip to the foot the carriers are those of the robot; a loop joint has a rod or a spring at an end."""
    model = robots[name]
    for side in ("left", "right"):
        leg = [f"{side}-{part}" for part in ("foot", "tarsus", "shin", "knee", "hip-pitch", "hip-yaw", "hip-roll")]
        i = model.body(leg[0])
        for body in leg:
            assert model.body_names[i] == body
            i = model.parent[i]
        assert model.body_names[i] == "pelvis"
    for loop in model.loops:
        assert any(word in end for end in (loop.predecessor, loop.successor) for word in ("rod", "spring"))


@pytest.mark.parametrize("name", ("cassie", "cassie_reduced"))
def test_a_builder_that_holds_the_robot_builds_it_again(robots, name):
    """All names survive, and so do the loops and the mass matrix."""
    model = robots[name]
    again = kt.ModelBuilder.of(model).build()
    assert again.body_names == model.body_names and again.joint_names == model.joint_names
    assert {frame.name for frame in again.frames} == {frame.name for frame in model.frames}
    assert [loop.name for loop in again.loops] == [loop.name for loop in model.loops]
    q = model.random_q(np.random.default_rng(4))
    with kt.interpreted():
        np.testing.assert_array_equal(kt.crba(again, q), kt.crba(model, q))
    for loop in again.loops:
        np.testing.assert_allclose(residual(again, loop, initial(model)), 0.0, atol=1e-12)


def test_springs_of_the_legs_are_kept(robots):
    """Shin and heel springs: 1500 and 1250 N m/rad, in all files."""
    for model in robots.values():
        assert model.stiffness[model.v_index("left-knee-shin-joint")] == [1500.0]
        assert model.stiffness[model.v_index("right-tarsus-spring-joint")] == [1250.0]


def test_gearboxes_of_the_motors(robots):
    """theta_out = -ratio theta_motor, as the file states the ratios."""
    model = robots["cassie"]
    ratios = {c.joint: c.ratio for c in model.couplings}
    assert ratios["left-roll-op"] == -0.04 and ratios["right-foot-op"] == -0.02
    assert {c.master[-3:] for c in model.couplings} == {"-ip"}


def test_the_rotors_of_the_full_model_have_impossible_inertias():
    """The first of them is named with its line and the choices."""
    with pytest.raises(InertiaError, match=r"cassie\.sdf:\d+: link 'left-foot-reference'.*inertia='project'"):
        load_sdf(path_of("cassie"))


def test_a_floating_reduced_cassie_is_refused():
    """It slides on a rail, which floating_base does not replace in silence."""
    with pytest.raises(kt.errors.ModelError, match="floating_base=True frees"):
        load_sdf(path_of("cassie_reduced"), floating_base=True)


def test_the_tree_moves_as_that_of_another_engine():
    """M and bias of the tree agree with MuJoCo's, built from the file by a parser of its own."""
    pytest.importorskip("mujoco")
    import mujoco

    links = {link.get("name"): link for link in elements("cassie_v2", "link")}
    poses = {}
    for name, link in links.items():
        x = floats(link, "pose")
        poses[name] = rotation_of_rpy(*x[3:]), np.array(x[:3])
    model = load_sdf(path_of("cassie_v2"))
    spec = mujoco.MjSpec()
    spec.compiler.degree = 0
    bodies = {"world": spec.worldbody}
    for i in model.outward():
        name, parent = model.body_names[i], model.body_names[model.parent[i]]
        R_P, p_P = poses.get(parent, (np.eye(3), np.zeros(3)))
        R_C, p_C = poses[name]
        body = bodies[parent].add_body(name=name, pos=R_P.T @ (p_C - p_P), quat=_quaternion(R_P.T @ R_C))
        bodies[name] = body
        inertial = links[name].find("inertial")
        x = floats(inertial, "pose")
        t = {key: float(inertial.find("inertia").findtext(key)) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}
        body.explicitinertial, body.mass, body.ipos = 1, floats(inertial, "mass")[0], x[:3]
        body.iquat = _quaternion(rotation_of_rpy(*x[3:]))
        body.fullinertia = [t[key] for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]
        if parent == "world":
            body.add_freejoint(name="root_joint")
            continue
        joint = next(j for j in elements("cassie_v2", "joint") if j.get("name") == model.joint_name(i))
        # In this file every joint of the tree is in the frame of its child, but for one, turned against it.
        x = floats(joint, "pose")
        n = rotation_of_rpy(*x[3:]) @ [float(w) for w in joint.find("axis").findtext("xyz").split()]
        body.add_joint(name=joint.get("name"), type=mujoco.mjtJoint.mjJNT_HINGE, pos=x[:3], axis=n)
    spec.option.gravity = list(model.gravity)
    mj = spec.compile()
    data = mujoco.MjData(mj)
    assert mj.nv == model.nv
    q, v = model.random_state(np.random.default_rng(3))
    order = [mj.jnt_dofadr[mj.joint(name).id] for name in model.joint_names[1:]]
    data.qpos[:7] = q[:7]
    for name in model.joint_names[1:]:
        data.qpos[mj.jnt_qposadr[mj.joint(name).id]] = q[model.q_index(name)][0]
    mujoco.mj_forward(mj, data)
    M = np.zeros((mj.nv, mj.nv))
    mujoco.mj_fullM(mj, data, M)
    columns = [3, 4, 5, 0, 1, 2, *order]
    R_WB = np.empty(9)
    mujoco.mju_quat2Mat(R_WB, q[3:7])
    # MuJoCo's free joint: linear velocity first, in world axes.
    T = np.eye(mj.nv)
    T[3:6, 3:6] = R_WB.reshape(3, 3)
    with kt.interpreted():
        np.testing.assert_allclose(kt.crba(model, q), T.T @ M[np.ix_(columns, columns)] @ T, atol=1e-11)


def _quaternion(R):
    import mujoco

    q = np.empty(4)
    mujoco.mju_mat2Quat(q, np.ascontiguousarray(R).reshape(9))
    return q


def held_exactly(model, mj, q, v):
    """Accelerations by MuJoCo's mass matrix, bias forces and rows of its equalities, whose rates are differences."""
    from tests.engines.mujoco_bridge import MujocoBridge
    from tests.io.test_mjcf_constraints import jacobian_of

    bridge, data = MujocoBridge(model, mj, by_order=True), mujoco.MjData(mj)

    def rows(q):
        data.qpos[:] = bridge.q_to_mujoco(q)
        mujoco.mj_forward(mj, data)
        return np.array([bridge.tau_from_mujoco(q, row) for row in jacobian_of(data, mj)])

    h, M, J = 1e-5, bridge.crba(q), rows(q)
    turning = (rows(kt.integrate(model, q, h * v)) - rows(kt.integrate(model, q, -h * v))) @ v / (2 * h)
    zero = np.zeros((len(J), len(J)))
    right = np.concatenate([-bridge.bias(q, v), -turning])
    return np.linalg.lstsq(np.block([[M, J.T], [J, zero]]), right, rcond=1e-9)[0][: model.nv]


def test_accelerations_of_closed_legs_are_mujocos(robots):
    """Cassie with its rods, written as MJCF: MuJoCo's matrices and rows, solved exactly, at a closed moving state."""
    model = robots["cassie_v2"].replace(forces=()).without_limits()
    mj = mujoco.MjModel.from_xml_string(kt.io.to_mjcf(model))
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    rng = np.random.default_rng(4)
    q, v = kt.assemble(model, model.keyframe("initial")[0], v=0.3 * rng.standard_normal(model.nv))
    a = kt.forward_dynamics(model, q, v, np.zeros(model.nv))
    expected = held_exactly(model, mj, q, v)
    np.testing.assert_allclose(a, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(("name", "mobility"), [("cassie", 18), ("cassie_v2", 18)])
def test_mobility_of_the_legs(robots, name, mobility):
    """Roll, yaw, pitch, knee, shin, heel and foot of each leg, and the pelvis: rotors with ratios of 50 hide none."""
    model = robots[name]
    q = kt.assemble(model)
    G = np.array(constraint_jacobian(model, q.tolist()), float)
    assert model.nv - np.linalg.matrix_rank(G, 1e-4) == model.ny == mobility  # 2e-2 and more; of decimals 4e-6


def test_runs_keep_the_legs_closed(robots):
    """Free fall from a random velocity: rows that are solved for stay closed to 1e-10; the energy is balanced."""
    model = robots["cassie_v2"].without_limits()
    kept = list(model.independent_rows())
    q, v = kt.assemble(model, v=0.1 * np.random.default_rng(0).standard_normal(model.nv))
    run = kt.simulate(model, q, v, duration=0.05, dt=1e-4, integrator="rk4", record=kt.Record(every=5))
    gaps = [np.abs(np.array(constraint_error(model, x.tolist()), float)[kept]).max() for x in run.q]
    assert max(gaps) < 1e-10
    assert np.abs(run.energy_balance.remainder).max() < 1e-5 * run.energy_balance.scale
