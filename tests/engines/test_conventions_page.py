"""Every row of the first two tables of docs/conventions.md, as physics: none is believed because it is written."""

from __future__ import annotations

import ast
import re

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree import data
from kinetree.errors import CouplingError, NonFiniteError, QuaternionError, SingularityError
from kinetree.joints import Free, Planar, Prismatic, Revolute
from tests.static.source_tree import ROOT

PAGE = (ROOT / "docs" / "conventions.md").read_text()
H = 1e-4  # of central differences: h^2 and eps / h^2 are both 1e-8


def rows(section: str) -> dict[str, list[str]]:
    """The table below a heading: the other cells of each row by the first."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    return {first: others for first, *others in cells[2:]}


@pytest.fixture(scope="module")
def quadruped():
    return kt.load("quadruped", floating_base=True)


@pytest.fixture(scope="module")
def state(quadruped):
    rng = np.random.default_rng(3)
    return quadruped.random_q(rng), rng.standard_normal(quadruped.nv), rng.standard_normal(quadruped.nv)


def along(model, state, t: float):
    """The state on a path with this velocity and acceleration, t [s] later, to t^2 in q and t in v."""
    q, v, a = state
    return kt.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a


def rotation(q) -> np.ndarray:
    """R_WB of a quaternion (w, x, y, z), by its definition: q (0, p) q*."""
    w, u = q[0], np.asarray(q[1:])
    cross = np.cross(np.eye(3), u)
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


# The rows, one function each ------------------------------------------------------------------------------------------


def check_units(model, state):
    """A 1 kg bob 1 m out weighs 9.81 N m; a quarter turn is pi / 2."""
    pendulum = kt.models.pendulum(length=1.0, mass=1.0)
    assert np.isclose(kt.gravity_forces(pendulum, [np.pi / 2])[0], 9.81)


def check_joint_vectors(model, state):
    """q_dot is the derivative of q; a that of v, component by component."""
    q, v, _ = state
    rate = (along(model, state, H)[0] - along(model, state, -H)[0]) / (2 * H)
    np.testing.assert_allclose(kt.q_dot(model, q, v), rate, atol=1e-6)
    assert not np.allclose(kt.q_dot(model, q, v)[:3], v[:3], atol=1e-2)


def check_arrays(model, state):
    """Leading axes are batches; float32 gives float32, all else float64."""
    Q = np.tile(state[0], (2, 3, 1))
    assert kt.crba(model, Q).shape == (2, 3, model.nv, model.nv)
    assert kt.crba(model, Q).flags.c_contiguous
    assert kt.crba(model, Q.astype(np.float32)).dtype == np.float32
    assert kt.gravity_forces(kt.models.pendulum(), [1]).dtype == np.float64


def check_six_vectors(model, state):
    """The angular half of a twist comes first, and rows of Jacobians are those of twists."""
    slider = kt.ModelBuilder("slider")
    slider.add_body("mass", joint=Prismatic((1, 0, 0)), mass=1.0)
    J = kt.jacobian(slider.build(), [0.0], frame="mass", reference="local")
    np.testing.assert_array_equal(J[:, 0], [0, 0, 0, 1, 0, 0])


def check_transforms(model, state):
    """A point is R_WB p_B + p_WB, and two poses with a common frame compose."""
    R, p = kt.pose(model, state[0], frame="trunk" if "trunk" in model.body_names else model.body_names[1])
    np.testing.assert_allclose(p, state[0][:3], atol=1e-12)
    np.testing.assert_allclose(R, rotation(state[0][3:7]), atol=1e-12)


def check_quaternions(model, state):
    """Either sign is the same rotation; one that is not of unit length is refused."""
    q, other = state[0], state[0].copy()
    other[3:7] *= -1.0
    np.testing.assert_allclose(kt.crba(model, other), kt.crba(model, q), atol=1e-12)
    with pytest.raises(QuaternionError):
        kt.crba(model, np.r_[q[:3], 1.1 * q[3:7], q[7:]])


def check_bodies(model, state):
    """Row 0 is the world's; parents come first."""
    V = kt.kinematics.body_velocities(model, state[0], state[1], reference="world")
    assert V.shape == (model.nb, 6) and not V[0].any()
    assert all(model.parent[i] < i for i in model.outward())


def check_names_of_joints(model, state):
    """No entry for the world; joint i connects body i, and labels go along with the coordinates."""
    assert len(model.joint_names) == model.nb - 1
    assert [model.joint_name(i) for i in model.outward()] == list(model.joint_names)
    pendulum = kt.models.double_pendulum()
    assert pendulum.joint_names == pendulum.velocity_labels and len(pendulum.lower) == len(pendulum.joint_names)
    assert len(model.velocity_labels) == len(model.lower) == len(model.armature) == model.nv


def check_body_frame(model, state):
    """The origin of a link is at its joint: its own joint does not move it."""
    q, other = state[0], state[0].copy()
    other[7] += 0.3
    name = model.body_names[2]
    np.testing.assert_array_equal(kt.pose(model, q, frame=name).p_WF, kt.pose(model, other, frame=name).p_WF)


def check_free_joint(model, state):
    """v is the twist in body coordinates: R times its linear half is the rate of the position."""
    q, v, _ = state
    rate = (along(model, state, H)[0][:3] - along(model, state, -H)[0][:3]) / (2 * H)
    np.testing.assert_allclose(rotation(q[3:7]) @ v[3:6], rate, atol=1e-6)
    assert Free.nq == 7 and Free.nv == 6


def check_planar_joint(model, state):
    """(angle, x, y); the velocity in body coordinates."""
    b = kt.ModelBuilder("puck")
    b.add_body("puck", joint=Planar(), mass=1.0, inertia=np.eye(3))
    puck, q, v = b.build(), np.array([0.7, 2.0, 3.0]), np.array([0.3, 0.4, 0.5])
    np.testing.assert_allclose(kt.pose(puck, q, frame="puck").p_WF, [2.0, 3.0, 0.0])
    c, s = np.cos(0.7), np.sin(0.7)
    np.testing.assert_allclose(kt.q_dot(puck, q, v), [0.3, c * 0.4 - s * 0.5, s * 0.4 + c * 0.5])


def check_continuous_joint(model, state):
    """One angle without wrapping: integrating goes past pi, and a turn more is the same place."""
    wheel = kt.models.pendulum()
    assert wheel.nq == 1 and np.isclose(kt.integrate(wheel, [3.0], [4.0])[0], 7.0)
    np.testing.assert_allclose(kt.gravity_forces(wheel, [1.0 + 2 * np.pi]), kt.gravity_forces(wheel, [1.0]))


def check_couplings(model, state):
    """The bare tree ignores it, the complete dynamics refuse a state that breaks it."""
    b = kt.ModelBuilder("gripper")
    for name, axis in (("left", (0, 1, 0)), ("right", (0, -1, 0))):
        b.add_body(name, joint=Prismatic(axis), joint_name=name, mass=1.0)
    b.add_coupling("right", "left", ratio=2.0, offset=0.1)
    gripper, zero = b.build(), np.zeros(2)
    kt.aba(gripper, [0.3, 0.0], zero, zero)
    with pytest.raises(CouplingError):
        kt.forward_dynamics(gripper, [0.3, 0.0], zero, zero)
    a = kt.forward_dynamics(gripper, [0.3, 0.7], zero, [1.0, 0.0])
    np.testing.assert_allclose(a, [0.2, 0.4])  # 1 N on 1 kg + 2^2 1 kg


def check_gravity(model, state):
    """Free fall."""
    np.testing.assert_array_equal(model.gravity, (0.0, 0.0, -9.81))
    body, zero = kt.models.free_body(), np.zeros(6)
    np.testing.assert_allclose(kt.aba(body, body.neutral(), zero, zero), [0, 0, 0, 0, 0, -9.81])


def check_external_wrenches(model, state):
    """Virtual power: a wrench about the world's origin does the work of its world twist."""
    q, v, a = state
    f = np.random.default_rng(0).standard_normal((model.nb, 6))
    f[0] = 0.0
    tau = kt.rnea(model, q, v, a) - kt.rnea(model, q, v, a, f_ext=f)
    power = np.sum(f * kt.kinematics.body_velocities(model, q, v, reference="world"))
    np.testing.assert_allclose(tau @ v, power, rtol=1e-10)


def check_jacobian(model, state):
    """Linear rows are velocities: of the origin in own and world axes, of the point that passes the world's origin."""
    q, v, _ = state
    name = model.body_names[4]
    J = {r: kt.jacobian(model, q, frame=name, reference=r) @ v for r in ("local", "world", "local_world_aligned")}
    R, p = kt.pose(model, q, frame=name)
    poses = [kt.pose(model, along(model, state, s * H)[0], frame=name) for s in (-1, 1)]
    p_dot = (poses[1].p_WF - poses[0].p_WF) / (2 * H)
    at_origin = [pose.R_WF @ (R.T @ -p) + pose.p_WF for pose in poses]  # a point of the body
    np.testing.assert_allclose(J["local_world_aligned"][3:], p_dot, atol=1e-6)
    np.testing.assert_allclose(J["local"][3:], R.T @ p_dot, atol=1e-6)
    np.testing.assert_allclose(J["world"][3:], (at_origin[1] - at_origin[0]) / (2 * H), atol=1e-6)


def check_acceleration(model, state):
    """Its own table: see the test below."""
    assert list(rows("Accelerations of a frame")) == ["`local`", "`world`", "`local_world_aligned`"]


def check_mass_matrix(model, state):
    """Full, symmetric, twice the kinetic energy; the armature is added to its diagonal."""
    q, v, _ = state
    M = kt.crba(model, q)
    np.testing.assert_array_equal(M, M.T)
    np.testing.assert_allclose(0.5 * v @ M @ v, kt.kinetic_energy(model, q, v), rtol=1e-12)
    pendulum = kt.models.pendulum()
    geared = pendulum.replace(armature={"pivot": 0.5})
    np.testing.assert_allclose(kt.crba(geared, [0.0]) - kt.crba(pendulum, [0.0]), 0.5)


def check_equation_of_motion(model, state):
    """M a + c = tau + sum J^T f_ext, J of the bodies in the world's coordinates."""
    q, v, a = state
    f = np.random.default_rng(1).standard_normal((model.nb, 6))
    f[0] = 0.0
    J = kt.kinematics.frame_jacobians(model, q, reference="world")
    frames = {frame.name: k for k, frame in enumerate(model.frames)}
    push = sum(J[frames[name]].T @ f[i] for i, name in enumerate(model.body_names) if i)
    tau = kt.rnea(model, q, v, a, f_ext=f)
    np.testing.assert_allclose(kt.crba(model, q) @ a + kt.bias_forces(model, q, v), tau + push, atol=1e-9)


def damped():
    return kt.models.pendulum().replace(damping={"pivot": 2.0})


def check_bare_tree(model, state):
    """No damping."""
    np.testing.assert_array_equal(
        kt.rnea(damped(), [0.1], [1.0], [0.0]), kt.rnea(kt.models.pendulum(), [0.1], [1.0], [0.0])
    )


def check_complete(model, state):
    """With damping."""
    extra = kt.inverse_dynamics(damped(), [0.1], [1.0], [0.0]) - kt.rnea(damped(), [0.1], [1.0], [0.0])
    np.testing.assert_allclose(extra, 2.0)


def check_nan(model, state):
    """The array and the entry are named."""
    with pytest.raises(NonFiniteError, match=r"v\[0\] is nan"):
        kt.aba(kt.models.pendulum(), [0.1], [np.nan], [0.0])


def check_singular_positions(model, state):
    """Hinges about x, y and z at a right angle."""
    b = kt.ModelBuilder("hinges")
    for name, parent, axis in (("a", "world", (1, 0, 0)), ("b", "a", (0, 1, 0)), ("c", "b", (0, 0, 1))):
        heavy = {"mass": 1.0, "inertia": np.eye(3)} if name == "c" else {}
        b.add_body(name, parent, Revolute(axis), **heavy)
    hinges, zero = b.build(), np.zeros(3)
    with pytest.raises(SingularityError, match="'a', 'c'"):
        kt.aba(hinges, [0.0, np.pi / 2, 0.0], zero, zero)


ROWS = {
    "units, angles": check_units, "joint vectors": check_joint_vectors, "arrays": check_arrays,
    "six-vectors": check_six_vectors, "transforms": check_transforms, "quaternions": check_quaternions,
    "bodies": check_bodies, "names of joints": check_names_of_joints, "body frame": check_body_frame,
    "free joint": check_free_joint,
    "planar joint": check_planar_joint, "continuous joint": check_continuous_joint, "couplings": check_couplings,
    "gravity": check_gravity, "external wrenches": check_external_wrenches,
    "Jacobian, velocity of a frame": check_jacobian, "acceleration of a frame": check_acceleration,
    "mass matrix": check_mass_matrix, "equation of motion": check_equation_of_motion, "bare tree": check_bare_tree,
    "complete": check_complete, "NaN, infinity": check_nan, "singular positions": check_singular_positions,
}  # fmt: skip


def test_every_row_has_a_check():
    """A row that is added to the page needs a check here."""
    assert list(rows("Ours")) == list(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_row(row, quadruped, state):
    """What the page says is what the library does."""
    ROWS[row](quadruped, state)


def test_a_pole_that_is_called_upright_stands():
    """The start of docs/rollout.md: its potential energy is near the highest there is, and falls to either side."""
    start = re.search(r"^upright = np\.array\((.*?)\)", (ROOT / "docs" / "rollout.md").read_text(), re.MULTILINE)
    pole = kt.models.cart_pole()
    V = kt.potential_energy(pole, [[0.0, angle] for angle in np.linspace(-np.pi, np.pi, 101)])
    upright = kt.potential_energy(pole, ast.literal_eval(start[1]))
    assert upright > V.max() - 0.01 * (V.max() - V.min())


# Accelerations --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["local", "world", "local_world_aligned"])
def test_accelerations_by_finite_differences(reference, quadruped, state):
    """Spatial: the derivative of the twist of that name. Classical: of the velocity of a body-fixed point.

    And the formulas of the page: they differ by w x v, v the linear half of the twist, but for local_world_aligned,
    where they are the same.
    """
    model, name = quadruped, quadruped.body_names[4]
    q, v, a = state

    def twist(t):
        return kt.velocity(model, *along(model, state, t), frame=name, reference=reference)

    def position(t, point):
        pose = kt.pose(model, along(model, state, t)[0], frame=name)
        return pose.R_WF @ point + pose.p_WF

    R, p = kt.pose(model, q, frame=name)
    spatial, classical = (
        kt.acceleration(model, q, v, a, frame=name, reference=reference, kind=kind) for kind in ("spatial", "classical")
    )
    np.testing.assert_allclose(spatial, (twist(H) - twist(-H)) / (2 * H), atol=1e-5)
    point = R.T @ -p if reference == "world" else np.zeros(3)
    second = (position(H, point) - 2.0 * position(0.0, point) + position(-H, point)) / H**2
    np.testing.assert_allclose(classical[3:], R.T @ second if reference == "local" else second, atol=1e-5)
    np.testing.assert_allclose(classical[:3], spatial[:3], atol=1e-12)
    w, linear = twist(0.0)[:3], twist(0.0)[3:]
    told = rows("Accelerations of a frame")[f"`{reference}`"][-1].partition(":")[0]
    difference = {"zero": np.zeros(3), "w x v": np.cross(w, linear)}[told]
    np.testing.assert_allclose(classical[3:] - spatial[3:], difference, atol=1e-10)
    assert np.linalg.norm(np.cross(w, linear)) > 0.1


@pytest.mark.parametrize("reference", ["local", "world", "local_world_aligned"])
def test_accelerations_of_pinocchio(reference, quadruped, state):
    """The same for local and world; its spatial acceleration in LOCAL_WORLD_ALIGNED is R times the local one."""
    model, name = quadruped, quadruped.body_names[4]
    other = pin.buildModelFromUrdf(str(data.path("quadruped")), pin.JointModelFreeFlyer())
    there, at = kt.conventions.Pinocchio(model, other), other.createData()
    q, v, a = state
    pin.forwardKinematics(other, at, there.q_to(q), there.v_to(q, v), there.a_to(q, v, a))
    pin.updateFramePlacements(other, at)
    frame, axes = other.getFrameId(name), getattr(pin.ReferenceFrame, reference.upper())

    def swapped(motion):
        return np.r_[motion.angular, motion.linear]

    def ours(kind, reference=reference):
        return kt.acceleration(model, q, v, a, frame=name, reference=reference, kind=kind)

    classical = swapped(pin.getFrameClassicalAcceleration(other, at, frame, axes))
    np.testing.assert_allclose(classical, ours("classical"), atol=1e-9)
    theirs = swapped(pin.getFrameAcceleration(other, at, frame, axes))
    if reference != "local_world_aligned":
        np.testing.assert_allclose(theirs, ours("spatial"), atol=1e-9)
        return
    R = kt.pose(model, q, frame=name).R_WF
    local = ours("spatial", "local")
    np.testing.assert_allclose(theirs, np.r_[R @ local[:3], R @ local[3:]], atol=1e-9)
    assert np.linalg.norm(theirs - ours("spatial")) > 0.1
