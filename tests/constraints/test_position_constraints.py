"""Constraints stated by phi alone: against MuJoCo, closed forms, and rows written by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_bias, constraint_error, constraint_jacobian
from kinetree.constraints import (
    Constraint,
    Distance,
    LinearCoupling,
    Parametric,
    PointOnCurve,
    PointOnSurface,
    PolynomialCoupling,
    PositionConstraint,
    RollingWheel,
    TendonLength,
)
from kinetree.errors import ArgumentError, ModelError, UnknownNameError, UnsupportedError
from kinetree.spatial.scalar import cos, sin, sqrt
from kinetree.state_kinematics import ORIGIN
from kinetree.tendons import JointTerm, Pulley, ViaPoint

SOFT = 3e-4  # what MuJoCo's impedance of 0.9999 leaves, relative to the unconstrained motion
XML = """
<mujoco><compiler angle="radian"/><option tolerance="1e-15" iterations="500"/>
<default><joint armature="0.01" damping="0.1"/><equality solref="2e-4 1" solimp="0.9999 0.9999 1e-6 0.5 1"/></default>
<worldbody>
  <site name="hook" pos="0.4 0.1 0.9"/>
  <body name="slider"><joint name="rail" type="slide" axis="1 0 0"/>
    <inertial pos="0.1 0 0.05" mass="2" diaginertia="0.02 0.03 0.02"/>
    <body name="upper" pos="0 0 0.1"><joint name="shoulder" axis="0 1 0"/>
      <inertial pos="0 0 -0.3" mass="1.2" diaginertia="0.03 0.03 0.002"/>
      <body name="lower" pos="0 0 -0.6"><joint name="elbow" axis="0 1 0.2"/><site name="tip" pos="0.1 0 -0.4"/>
        <inertial pos="0.02 0 -0.25" mass="0.8" diaginertia="0.01 0.01 0.001"/></body></body>
    <body name="left" pos="0 0.2 0"><joint name="left" axis="0 0 1"/><site name="pin" pos="0.2 0.1 0"/>
      <inertial pos="0.1 0 0" mass="0.5" diaginertia="0.004 0.004 0.006"/></body>
    <body name="right" pos="0 -0.2 0"><joint name="right" axis="0 0 1"/>
      <inertial pos="0.1 0 0" mass="0.4" diaginertia="0.004 0.004 0.005"/></body></body>
</worldbody>
<tendon>
  <spatial name="cable"><site site="hook"/><site site="tip"/><pulley divisor="2"/><site site="tip"/><site site="pin"/>
  </spatial>
  <spatial name="other"><site site="hook"/><site site="pin"/></spatial>
  <fixed name="sum"><joint joint="elbow" coef="1"/><joint joint="left" coef="-0.5"/><joint joint="right" coef="2"/>
  </fixed>
</tendon>{}</mujoco>"""
VIA = (ViaPoint("hook"), ViaPoint("tip"), Pulley(2.0), ViaPoint("tip"), ViaPoint("pin"))
SUM = tuple(map(JointTerm, ("elbow", "left", "right"), (1.0, -0.5, 2.0)))
EQUALITIES = {
    "cam": ('<joint joint1="right" joint2="left" polycoef="0.1 -1.5 0.4 0.3 0"/>',
            PolynomialCoupling("right", "left", (0.1, -1.5, 0.4, 0.3))),
    "differential": ('<tendon tendon1="sum" polycoef="0.2 0 0 0 0"/>',
                     LinearCoupling(("elbow", "left", "right"), (1.0, -0.5, 2.0), 0.2)),
    "cable": ('<tendon tendon1="cable" polycoef="-0.05 0 0 0 0"/>', TendonLength(VIA, (-0.05,))),
    "two cables": ('<tendon tendon1="cable" tendon2="other" polycoef="0 0.4 0.5 0 0"/>',
                   TendonLength(VIA, (0.0, 0.4, 0.5), (ViaPoint("hook"), ViaPoint("pin")))),
    "cable and drum": ('<tendon tendon1="cable" tendon2="sum" polycoef="0.02 0.1 0 0 0"/>',
                       TendonLength(VIA, (0.02, 0.1), SUM)),
}  # fmt: skip


def closed(model, q):
    """The closed position next to q, and the projector on velocities that keep it."""
    for _ in range(30):
        G = np.array(constraint_jacobian(model, q.tolist()), float)
        q = q - np.linalg.pinv(G) @ np.array(constraint_error(model, q.tolist()), float)
    G = np.array(constraint_jacobian(model, q.tolist()), float)
    return q, np.eye(len(q)) - np.linalg.pinv(G) @ G


@pytest.mark.parametrize("name", EQUALITIES)
def test_accelerations_and_lengths_are_those_of_mujoco(name):
    """At rest, since MuJoCo leaves the rate of the rows out; reference lengths are those of the neutral position."""
    mujoco = pytest.importorskip("mujoco")
    text, constraint = EQUALITIES[name]
    theirs = mujoco.MjModel.from_xml_string(XML.format(f"<equality>{text}</equality>"))
    data, tree = mujoco.MjData(theirs), kt.load(XML.format(""))
    if isinstance(constraint, TendonLength):
        mujoco.mj_forward(theirs, data)
        first, second = data.ten_length[theirs.eq_obj1id[0]], data.ten_length[theirs.eq_obj2id[0]]
        constraint = replace(constraint, reference=first, master_reference=second if constraint.master else 0.0)
    model = tree.with_constraints(constraint)
    rng = np.random.default_rng(3)
    for _ in range(8):
        q, P = closed(model, rng.uniform(-0.5, 0.5, 5))
        v = P @ rng.standard_normal(5) if name == "differential" else np.zeros(5)  # rows that are constant
        tau = rng.standard_normal(5)
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(theirs, data)
        assert np.abs(data.efc_pos[0]) < 1e-9
        a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True)
        free = kt.forward_dynamics(tree, q, v, tau)
        G = np.array(constraint_jacobian(model, q.tolist()), float)
        assert G[0] == pytest.approx(data.efc_J, abs=1e-9)
        # Of two tendons MuJoCo's softness ignores the ratio between them.
        soft = max(SOFT, 2.0 * data.efc_R[0] / (G @ np.linalg.solve(kt.crba(tree, q), G.T))[0, 0])
        assert a == pytest.approx(data.qacc, abs=soft * (1.0 + np.abs(free).max()))
        assert G.T @ lam == pytest.approx(data.qfrc_constraint, abs=soft * (1.0 + np.abs(lam).max()))
        assert np.abs(a - free).max() > 0.01


def test_a_rod_makes_a_double_pendulum():
    """A chain of rods between point masses has the accelerations of the tree with hinges there."""
    b = kt.ModelBuilder("beads")
    for name in ("upper", "lower"):
        b.add_body(name, joint=kt.joints.Translational(), mass=1.5, inertia=np.eye(3) * 1e-3)
    beads = b.build().with_constraints(
        Distance("world", "upper", 0.8, name="first"), Distance("upper", "lower", 0.6, name="second")
    )
    u, w = np.array([0.48, 0.0, -0.64]), np.array([-0.36, 0.48, 0.0])
    v_u, v_w = np.cross([0.3, -1.0, 0.4], u), np.cross([1.0, 0.2, -0.7], w)
    a, lam = kt.forward_dynamics(beads, [*u, *(u + w)], [*v_u, *(v_u + v_w)], np.zeros(6), multipliers=True)
    # Newton's equations with the two tensions, and the rods' rates of rates, solved by hand.
    m, g, e, f = 1.5, np.array([0.0, 0.0, -9.81]), u / 0.8, w / 0.6
    A = np.array([[1.0 / m, -e @ f / m], [-e @ f / m, 2.0 / m]])
    forces = np.linalg.solve(A, [-v_u @ v_u / 0.8 - g @ e, -v_w @ v_w / 0.6])
    assert lam == pytest.approx(forces, rel=1e-12)
    assert a[:3] == pytest.approx(g + (e * lam[0] - f * lam[1]) / m) and a[3:] == pytest.approx(g + f * lam[1] / m)


@dataclass(frozen=True)
class ByHand(Constraint):
    """The rod's error, rows and bias as formulas."""

    predecessor: str
    successor: str
    length: float
    joint_fields, frame_fields, number_fields = (), ("predecessor", "successor"), ("length",)

    def count(self, model):
        return 1

    def _motion(self, kin):
        motion = kin.point_motion(self.successor, ORIGIN, self.predecessor)
        return motion, motion.X.r, motion.X.E @ motion.X.r

    def residual(self, kin):
        _, r, _ = self._motion(kin)
        return [(r.dot(r) - self.length * self.length) / (2.0 * self.length)]

    def rows(self, kin):
        motion, _, r = self._motion(kin)
        r = r * (1.0 / self.length)
        return [{k: r.dot(column.linear) for k, column in motion.columns.items()}]

    def bias(self, kin):
        motion, _, r = self._motion(kin)
        V = motion.velocity
        a = motion.bias.linear + V.angular.cross(V.linear)
        return [(r.dot(a) + V.linear.dot(V.linear)) / self.length]


def test_derived_rows_cost_no_more_than_rows_by_hand():
    """The same numbers, and the same operations but for a rotation of the bias."""
    arm = kt.load("arm7")
    tool = arm.frames[arm.nb - 1].name
    derived, written = (arm.with_constraints(kind("world", tool, 0.7)) for kind in (Distance, ByHand))
    q, v = np.linspace(-1.0, 1.0, arm.nq), np.linspace(1.0, 2.0, arm.nv)
    for f in (constraint_error, constraint_jacobian):
        assert np.array(f(derived, q.tolist())) == pytest.approx(np.array(f(written, q.tolist())), rel=1e-12)
    biases = [constraint_bias(model, q.tolist(), v.tolist()) for model in (derived, written)]
    assert biases[0] == pytest.approx(biases[1], rel=1e-12)
    totals = [kt.compile(model, "forward_dynamics").operations.total for model in (derived, written)]
    assert totals[0] <= totals[1] + 30


def test_rods_between_bodies_lose_no_digits_far_from_the_origin():
    """Seen from the common ancestor: a robot 1e6 m away has the same rows and biases to rounding."""
    b = kt.ModelBuilder("pair")
    b.add_body("base", joint=kt.joints.Free(), mass=3.0, inertia=np.eye(3))
    for name, x in (("left", 0.5), ("right", -0.5)):
        b.add_body(name, "base", kt.joints.Revolute((0.0, 1.0, 0.0)), placement=((x, 0, 0), (0, 0, 0)),
                   mass=1.0, com=(0, 0, 0.3), inertia=np.eye(3) * 0.01)  # fmt: skip
    model = b.build().with_constraints(Distance("left", "right", 1.0, (0, 0, 1), (0, 0.1, 1)))
    near = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.3, -0.4])
    near = near if model.q_index("base") == slice(0, 7) else near
    far, v = near.copy(), np.linspace(-1.0, 1.0, 8)
    place = next(k for k, label in enumerate(model.position_labels) if label.endswith(".x"))
    far[place] += 1e6
    for f in (constraint_jacobian, constraint_bias):
        given = (v.tolist(),) if f is constraint_bias else ()
        assert f(model, far.tolist(), *given) == f(model, near.tolist(), *given)
    assert set(np.flatnonzero(constraint_jacobian(model, near.tolist())[0])) == {6, 7}


@dataclass(frozen=True)
class Bounce(PositionConstraint):
    """A point of a body at a height that depends on time."""

    frame: str
    amplitude: float
    frame_fields, number_fields, time_dependent = ("frame",), ("amplitude",), True

    def phi(self, kin):
        return kin.point(self.frame, (0.0, 0.0, -0.4)).z - self.amplitude * sin(kin.t * 3.0)


def test_phi_may_depend_on_time():
    """Rate and bias have the parts of the time: accelerations are those of the drive."""
    b = kt.ModelBuilder("mass")
    b.add_body("mass", joint=kt.joints.Translational(), mass=2.0, inertia=np.eye(3))
    model, t = b.build().with_constraints(Bounce("mass", 0.1)), 0.3
    q, v = [1.0, 2.0, 0.4 + 0.1 * np.sin(3 * t)], [0.5, 0.0, 0.3 * np.cos(3 * t)]
    a, lam = kt.forward_dynamics(model, q, v, np.zeros(3), t, multipliers=True)
    assert a == pytest.approx([0.0, 0.0, -0.9 * np.sin(3 * t)]) and lam[0] == pytest.approx(2.0 * (a[2] + 9.81))
    kin = kt.constraints.Kinematics(model.at(t), q, v)
    assert model.constraints[0].rate(kin) == pytest.approx([0.0], abs=1e-15)
    with pytest.raises(kt.errors.ConstraintError, match="v breaks the bounce of 'mass' by 0.1"):
        kt.forward_dynamics(model, q, [0.5, 0.0, v[2] + 0.1], np.zeros(3), t)


class Odd(PositionConstraint):
    """A law with one fault."""

    def __init__(self, phi, frames=("lower",)):
        self.law, self.of = phi, frames

    frame_fields = ("of",)

    def phi(self, kin):
        return self.law(kin)


def test_faults_of_laws_and_data_are_named():
    """When the model is made: functions that have no derivative, unnamed frames, wrong counts, rows that never move."""
    arm = kt.models.double_pendulum()
    for phi, message in (
        (lambda kin: np.sin(kin.point("lower").x), "phi cannot be differentiated .* kinetree.spatial.scalar"),
        (lambda kin: kin.point("upper").x, "uses frame 'upper', .* names: lower, world. List its field in frame_f"),
        (lambda kin: kin.coordinate("elbow"), "uses joint 'elbow', which is none of .*: none"),
        (lambda kin: kin.point("lower"), r"phi has 3 entries, expected 1, as count\(model\) of class Odd"),
        (lambda kin: kin.point("lower", relative_to="lower").x, "phi does not depend on any coordinate"),
        (lambda kin: kin.point("lower").y, "phi does not depend on any coordinate"),
    ):
        with pytest.raises(ModelError, match=message):
            arm.with_constraints(Odd(phi))
    with pytest.raises(ModelError, match="does the constraint connect a body with itself"):
        arm.with_constraints(Distance("lower", "lower", 1.0, (0.0, 0.0, 1.0)))
    with pytest.raises(UnknownNameError, match="lowr"):
        arm.with_constraints(Distance("lowr", "world", 1.0))
    with pytest.raises(ArgumentError, match="a ball joint connects points"):
        Distance("lower", "world", 0.0)
    with pytest.raises(UnsupportedError, match="frame 'upper': lengths over kind 'ellipsoid' are not computed"):
        TendonLength((ViaPoint("world"), kt.tendons.WrapShape("ellipsoid", "upper", 0.1), ViaPoint("lower")))
    with pytest.raises(ArgumentError, match="one number where there is no master"):
        PolynomialCoupling("elbow", None, (0.0, 1.0))
    with pytest.raises(kt.errors.DuplicateNameError, match="distance:world,lower.length"):
        arm.with_constraints(Distance("world", "lower", 1.0), Distance("world", "lower", 2.0))


def test_a_bead_on_a_rotating_hoop():
    """theta'' = sin(theta) (W^2 cos(theta) - g / r), theta from the lowest point; three ways to state the hoop."""
    b = kt.ModelBuilder("hoop")
    b.add_body("hoop", joint=kt.joints.Revolute(), mass=1.0, inertia=np.eye(3) * 1e9)  # turns at a constant rate
    b.add_body("bead", joint=kt.joints.Translational(), mass=0.5, inertia=np.eye(3) * 1e-9)
    tree, r, rate = b.build(), 0.7, 5.0

    def circle(s):
        return r * sin(s), 0.0, -r * cos(s)

    def implicit(x, y, z):
        return y, (x * x + z * z - r * r) / (2 * r)

    for curve in (Parametric(circle, -np.pi, np.pi), implicit):
        model = tree.with_constraints(PointOnCurve("hoop", "bead", curve))
        for theta, speed in ((0.3, 1.0), (2.0, -2.0)):
            s, c = np.sin(theta), np.cos(theta)
            turn = 0.8
            R = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
            place, along = np.array([r * s, 0, -r * c]), np.array([r * c, 0, r * s])
            v = R @ (np.cross([0, 0, rate], place) + along * speed)
            a = kt.forward_dynamics(model, [turn, *(R @ place)], [rate, *v], np.zeros(4))
            inertial = R.T @ a[1:] - np.cross([0, 0, rate], np.cross([0, 0, rate], place))
            inertial = inertial - 2 * np.cross([0, 0, rate], along * speed)
            assert inertial @ along / r**2 == pytest.approx(s * (rate**2 * c - 9.81 / r), rel=1e-7)


def test_a_surface_by_parameters_is_the_one_of_its_equation():
    """The same accelerations and the same force along the normal, on a torus."""
    big, small = 1.0, 0.3

    def torus(s, t):
        rho = big + small * cos(t)
        return rho * cos(s), rho * sin(s), small * sin(t)

    def implicit(x, y, z):
        rho = sqrt(x * x + y * y) - big
        return (rho * rho + z * z - small * small) / (2 * small)

    b = kt.ModelBuilder("bead")
    b.add_body("bead", joint=kt.joints.Translational(), mass=0.5, inertia=np.eye(3))
    found = []
    s, t = 0.4, 2.0
    rho = big + small * np.cos(t)
    p = [rho * np.cos(s), rho * np.sin(s), small * np.sin(t)]
    c_s = np.array([-p[1], p[0], 0.0])
    c_t = small * np.array([-np.sin(t) * np.cos(s), -np.sin(t) * np.sin(s), np.cos(t)])
    for surface in (Parametric(torus, (-np.pi, -np.pi), (np.pi, np.pi)), implicit):
        model = b.build().with_constraints(PointOnSurface("world", "bead", surface))
        found.append(kt.forward_dynamics(model, p, c_s * 0.7 - c_t * 1.3, [1.0, 2.0, 3.0], multipliers=True))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-9) and found[0][1] == pytest.approx(found[1][1], rel=1e-9)


@dataclass(frozen=True)
class CenterHeld(PositionConstraint):
    """The center of mass of three bodies stays above a point of the ground."""

    bodies: tuple[str, ...]
    frame_fields = ("bodies",)

    def count(self, model):
        return 2

    def phi(self, kin):
        c = kin.center_of_mass(self.bodies)
        return c.x, c.y


def test_constraints_of_many_bodies():
    """The center of mass held: its acceleration is vertical, by the center of mass and momentum of the library."""
    model = kt.models.random_tree(3, seed=5, joints=[kt.joints.Revolute(), kt.joints.Spherical()])
    model = model.with_constraints(CenterHeld(model.body_names[1:]))
    rng = np.random.default_rng(0)
    q = model.random_q(rng)
    G = np.array(constraint_jacobian(model, q.tolist()), float)
    assert np.array(constraint_jacobian(model.reframed(), q.tolist()), float) == pytest.approx(G, abs=1e-12)
    tree = model.replace(constraints=())
    assert constraint_error(model, q.tolist()) == pytest.approx(kt.center_of_mass(tree, q)[:2], abs=1e-12)
    assert G == pytest.approx(kt.centroidal.center_of_mass_jacobian(tree, q)[:2], abs=1e-12)
    v = rng.standard_normal(model.nv)
    h = 1e-6
    J = [kt.centroidal.center_of_mass_jacobian(tree, kt.integrate(tree, q, s * v))[:2] @ v for s in (h, -h)]
    assert constraint_bias(model, q.tolist(), v.tolist()) == pytest.approx((J[0] - J[1]) / (2 * h), abs=1e-7)
    one = model.replace(constraints=CenterHeld(("body2",)))
    point = kt.jacobian(tree, q, frame="body2", reference="world")
    at = kt.pose(tree, q, frame="body2")[0] @ np.array([*tree.I[2].com]) + kt.pose(tree, q, frame="body2")[1]
    expected = point[3:] + np.cross(point[:3].T, at).T
    assert np.array(constraint_jacobian(one, q.tolist()), float) == pytest.approx(expected[:2], abs=1e-12)


def test_a_batch_may_vary_lengths_and_placements():
    """Each state with a rod of its own length and place, a wheel of its own radius: one kernel, as single models."""
    b = kt.ModelBuilder("rods")
    b.add_body("arm", joint=kt.joints.Revolute((0, 1, 0)), mass=1.0, com=(0.4, 0, 0), inertia=np.eye(3) * 0.1)
    b.add_body("cart", joint=kt.joints.Prismatic((1, 0, 0)), mass=2.0, inertia=np.eye(3))
    wheel = {"mass": 0.5, "inertia": np.eye(3) * 0.01, "placement": ((0, 0, 0.2), (0, 0, 0))}
    b.add_body("wheel", "cart", kt.joints.Revolute((0, 1, 0)), **wheel)
    tree = b.build()

    def closed_by(length, reach, radius):
        rod = Distance("arm", "cart", length, (reach, 0, 0), (0.1, 0, 0), name="rod")
        return tree.with_constraints(rod, RollingWheel("wheel", radius, (0, 1, 0), name="rolling"))

    f = kt.compile(closed_by(0.8, 0.7, 0.2), "forward_dynamics", checks=False)
    angles, lengths = np.linspace(0.3, 1.1, 5), np.linspace(0.7, 1.0, 5)
    reaches, radii = np.linspace(0.5, 0.8, 5), np.linspace(0.1, 0.3, 5)
    end = np.array([reaches * np.cos(angles), -reaches * np.sin(angles)])
    q = np.stack([angles, end[0] + np.sqrt(lengths**2 - end[1] ** 2) - 0.1, 0 * angles], axis=-1)
    varied = f.with_parameters({"rod.length": lengths, "rod.at_P.0": reaches, "rolling.radius": radii})
    found = varied(q, np.zeros((5, 3)), np.tile([1.0, 2.0, 3.0], (5, 1)))
    for n, a in enumerate(found):
        model = closed_by(float(lengths[n]), float(reaches[n]), float(radii[n]))
        assert a == pytest.approx(kt.forward_dynamics(model, q[n], np.zeros(3), [1.0, 2.0, 3.0]), rel=1e-10)
    assert np.ptp(found, axis=0).min() > 0.1


def test_projection_and_runs_of_a_law_of_time():
    """The height is kept in position and velocity: projected at a time, and along a run."""
    b = kt.ModelBuilder("arm")
    hinge = {"joint": kt.joints.Revolute((0, 1, 0)), "inertia": np.eye(3) * 0.1}
    b.add_body("upper", **hinge, mass=1.0, com=(0, 0, -0.4))
    b.add_body("lower", "upper", **hinge, placement=((0, 0, -0.8), (0, 0, 0)), mass=2.0, com=(0, 0, -0.2))
    model, t = b.build().with_constraints(Bounce("lower", 0.1)), 0.2
    q = kt.closed_loops.project_position(model, [1.3, 0.9], t)
    v = kt.closed_loops.project_velocity(model, q, [0.5, 0.0], t)
    kin = kt.constraints.Kinematics(model.at(t), q.tolist(), v.tolist())
    assert model.constraints[0].residual(kin) == pytest.approx([0.0], abs=1e-12)
    assert model.constraints[0].rate(kin) == pytest.approx([0.0], abs=1e-13) and np.abs(v).max() > 0.1
    run = kt.simulate(model, kt.assemble(model, [1.3, 0.9]), duration=0.2)
    for t, q, v in list(zip(run.time, run.q.tolist(), run.v.tolist(), strict=True))[::50]:
        kin = kt.constraints.Kinematics(model.at(float(t)), q, v)
        assert model.constraints[0].residual(kin) == pytest.approx([0.0], abs=1e-12)
        assert model.constraints[0].rate(kin) == pytest.approx([0.0], abs=1e-12)
