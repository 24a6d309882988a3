"""Loops beside prescribed motions, and rows that depend on time: exact motions, torques, rollouts, refusals."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Composite, MovingFrame, Polynomial, Prismatic, Revolute, Sinusoid
from kinetree.spatial.scalar import sin
from tests.constraints.test_loop_steps import angles, four_bar, rows

SPEED = 2.0


@functools.cache
def driven():
    """The four-bar whose crank turns at a constant speed."""
    return four_bar().with_constraints(kt.constraints.PrescribedMotion("crank", Polynomial((1.0, SPEED))))


def gradient(crank):
    """dq / d crank in closed form."""
    return angles(crank + 1e-30j).imag / 1e-30


def torque(crank):
    """Of the drive at constant speed: d'Alembert's principle in minimal coordinates."""
    tree, q, J, h = four_bar().replace(constraints=()), angles(crank), gradient(crank), 1e-5
    curvature = (gradient(crank + h) - gradient(crank - h)) / (2.0 * h)
    return J @ (kt.crba(tree, q) @ curvature * SPEED**2 + kt.bias_forces(tree, q, J * SPEED))


@pytest.mark.parametrize("integrator", ["auto", "semi_implicit", "heun", "cg4"])
def test_a_driven_crank_moves_the_linkage_as_its_geometry_has_it(integrator):
    """Positions and velocities in closed form to rounding, with any step; the drive's torque and work."""
    run = kt.simulate(driven(), duration=0.5, dt=0.01, integrator=integrator)
    for n in (0, 20, -1):
        crank = 1.0 + SPEED * run.time[n]
        assert run.q[n] == pytest.approx(angles(crank), abs=1e-12)
        assert run.v[n] == pytest.approx(SPEED * gradient(crank), abs=1e-7)
        assert run.energy_balance.others["force.prescribed motions"][n, 0] == pytest.approx(torque(crank), rel=1e-6)
    assert run.integrator == ("rk4" if integrator == "auto" else integrator)
    assert run.energy_balance.work("prescribed motions") == pytest.approx(run.energy[-1] - run.energy[0], rel=1e-5)
    assert f"force.closure.{four_bar().independent_rows()[0]}" in run.energy_balance.others


def test_rollouts_of_driven_linkages():
    """Each with its own start of time; bits of simulate."""
    starts = np.array([0.0, 0.3])
    q = np.stack([angles(1.0 + SPEED * t) for t in starts])
    v = np.stack([SPEED * gradient(1.0 + SPEED * t) for t in starts])
    found = kt.rollout(driven(), q, v, None, 0.01, steps=20, integrator="rk4", t0=starts)
    run = kt.simulate(driven(), q[0], v[0], duration=0.2, dt=0.01)
    assert found.q[0] == pytest.approx(run.q, abs=1e-13)
    assert found.q[1, -1] == pytest.approx(angles(1.0 + SPEED * 0.5), abs=1e-12)
    with pytest.raises(kt.errors.ConstraintError, match="rollout, at the start, state 1"):
        kt.rollout(driven(), q + [[0, 0, 0], [0, 0.1, 0]], v, None, 0.01, steps=2, integrator="rk4", t0=starts)


@dataclass(frozen=True)
class Lift(kt.constraints.PositionConstraint):
    """The height of a frame is a function of time."""

    frame: str
    frame_fields = ("frame",)
    time_dependent = True

    def phi(self, kin):
        return kin.point(self.frame).z + 1.2 - 0.1 * sin(3.0 * kin.t)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit_midpoint", "generalized_alpha"])
def test_rows_that_depend_on_time_are_kept(integrator):
    """A frame of a chain is lifted: its height and its rate, in simulate and in a rollout."""
    chain = kt.models.n_pendulum(3)
    model = chain.with_constraints(Lift("rod3"))
    q, v = kt.assemble(model, [0.3, 1.2, 0.2], v=np.zeros(3))
    run = kt.simulate(model, q, v, duration=0.5, dt=5e-3, integrator=integrator)
    height = kt.pose(chain, run.q, frame="rod3").p_WF[:, 2]
    assert height == pytest.approx(0.1 * np.sin(3.0 * run.time) - 1.2, abs=1e-13)
    rise = kt.velocity(chain, run.q, run.v, frame="rod3", reference="local_world_aligned")[:, 5]
    exact = 1e-4 if integrator == "generalized_alpha" else 1e-8
    assert rise == pytest.approx(0.3 * np.cos(3.0 * run.time), abs=exact)
    if integrator in ("rk4", "semi_implicit"):
        found = kt.rollout(model, q, v, None, 5e-3, steps=100, integrator=integrator)
        assert found.q == pytest.approx(run.q, abs=1e-12)
        exact = kt.integrators.Adaptive(rtol=1e-9, atol=1e-9)
        ahead = kt.simulate(model, q, v, duration=0.1, dt=5e-3, integrator=exact)
        assert ahead.q[-1] == pytest.approx(run.q[20], abs=1e-2 if integrator == "semi_implicit" else 1e-6)


@pytest.mark.parametrize("method", ["implicit_midpoint", "variational", "generalized_alpha", "bdf2",
                                    "linearly_implicit", "dop853", "Radau"])  # fmt: skip
def test_implicit_and_adaptive_methods_follow_the_motion(method):
    """Positions of the closed form, also between steps, and the force of the drive that rk4 has."""
    integrator = kt.integrators.Adaptive(method, 1e-8, 1e-8) if method in ("dop853", "Radau") else method
    run = kt.simulate(driven(), duration=0.3, dt=0.01, integrator=integrator)
    assert run.q == pytest.approx(np.array([angles(1.0 + SPEED * t) for t in run.time]), abs=1e-12)
    exact = kt.simulate(driven(), duration=0.3, dt=0.01, integrator="rk4")
    force, same = (x.energy_balance.others["force.prescribed motions"] for x in (run, exact))
    rough = method in ("generalized_alpha", "bdf2")  # whose velocities have their order, after the first steps
    assert force[10:] == pytest.approx(same[10:], abs=2e-3 if rough else 1e-9)


@pytest.mark.parametrize("integrator", ["auto", "adaptive"])
def test_springs_of_mechanisms_whose_motion_is_all_prescribed(integrator):
    """Nothing vibrates, so no spring bounds the steps; the drive works against the spring."""
    spring = kt.forces.PointSpring("soft", "world", "coupler_tip", 1e6, 0.5, 0.0)
    run = kt.simulate(driven().with_forces(spring), duration=0.2, dt=0.01, integrator=integrator)
    assert run.q[-1] == pytest.approx(angles(1.0 + 0.2 * SPEED), abs=1e-12)
    energy = run.energy_balance.energy
    assert run.energy_balance.work("prescribed motions") == pytest.approx(energy[-1] - energy[0], rel=1e-4)


@pytest.mark.parametrize("planar", [False, True])
def test_loops_closed_on_moving_frames(planar):
    """A joint with freedoms on a frame that moves with time, and the same joint on a body that this frame carries."""
    sway = Sinusoid(0.1, 3.0, 0.4)
    frame = MovingFrame((sway, 0.0, 0.0), "y", (sway,))
    arm, end = kt.models.n_pendulum(4), ((0, 0, -1), (0, 0, 0))
    hook = {"X_P": ((1.5, 0, -2.5), (0, 0, 0)), "X_S": end}
    carried = Composite((frame, Prismatic((0, 0, 1)), Revolute((0, 1, 0))))
    model = arm.with_constraints(kt.constraints.LoopJoint("end", carried, "world", "rod4", **hook))
    b = kt.ModelBuilder.of(arm)
    b.add_body("carrier", "world", frame, placement=hook["X_P"], mass=1.0, com=(0, 0, 0), inertia=(1, 1, 1))
    slide = Composite(carried.joints[1:])
    other = b.build().with_constraints(kt.constraints.LoopJoint("end", slide, "carrier", "rod4", X_S=end))
    t, tau = 0.0, [0.1, -0.2, 0.3, 0.4]
    q, v = kt.assemble(model, [0.4, 0.2, 0.3, 0.5], v=np.ones(4))
    found = [kt.forward_dynamics(each, q, v, tau, t) for each in (model.planar() if planar else model, other)]
    assert found[0] == pytest.approx(found[1], rel=1e-9, abs=1e-9)


def test_a_start_off_the_motion_is_refused_or_assembled():
    """The drive moves the crank to its start: given positions are open then, chosen ones are closed again."""
    with pytest.raises(kt.errors.ConstraintError, match="q breaks the loop joint 'closure'"):
        kt.simulate(driven(), angles(1.3), duration=0.1)
    other = four_bar().with_constraints(kt.constraints.PrescribedMotion("crank", Polynomial((0.5, SPEED))))
    run = kt.simulate(other, duration=0.05, dt=0.01)
    assert run.q[0] == pytest.approx(angles(0.5), abs=1e-12)
    assert np.abs(rows(four_bar())[0](run.q)).max() < 1e-13


@functools.cache
def rheonomic():
    """The same linkage, whose crank is a joint that depends on time."""
    b, bar = kt.ModelBuilder("rheonomic"), {"mass": 1.0, "com": (0.5, 0, 0), "inertia": np.diag([0.01, 0.1, 0.1])}
    crank = kt.joints.Prescribed(kt.joints.Revolute(), Polynomial((1.0, SPEED)))
    b.add_body("crank", joint=crank, joint_name="crank", **bar)
    b.add_body("coupler", "crank", kt.joints.Revolute(), "coupler", placement=((1, 0, 0), (0, 0, 0)), **bar)
    b.add_body("rocker", joint=kt.joints.Revolute(), joint_name="rocker", placement=((3, 0, 0), (0, 0, 0)), **bar)
    b.add_frame("coupler_tip", "coupler", ((3, 0, 0), (0, 0, 0)))
    b.add_frame("rocker_tip", "rocker", ((2.5, 0, 0), (0, 0, 0)))
    hinge = kt.constraints.LoopJoint("closure", kt.joints.Revolute(), "coupler_tip", "rocker_tip")
    return b.build().with_constraints(hinge)


ALL = ("rk4", "semi_implicit", "cg4", "implicit_midpoint", "linearly_implicit", "generalized_alpha", "adaptive")


@pytest.mark.parametrize("integrator", ALL)
def test_joints_that_depend_on_time_drive_loops(integrator):
    """Every method: the geometry at each time, in positions and in velocities; rollouts, too."""
    model = rheonomic()
    run = kt.simulate(model, kt.assemble(model, [-0.3, 1.4]), duration=0.2, dt=0.01, integrator=integrator)
    crank = 1.0 + SPEED * run.time[-1]
    assert run.q[-1] == pytest.approx(angles(crank)[1:], abs=1e-12)
    exact = 1e-3 if integrator == "generalized_alpha" else 1e-9
    assert run.v[-1] == pytest.approx(SPEED * gradient(crank)[1:], abs=exact)
    if integrator == "rk4":
        found = kt.rollout(model, run.q[0], run.v[0], None, 0.01, steps=20, integrator="rk4")
        assert found.q[-1] == pytest.approx(run.q[-1], abs=1e-13)


def bodies_on(joint):
    """A body on a joint that depends on time, in the tree; and a free body that the joint holds as a loop joint."""
    found, inertia = [], np.diag([0.2, 0.3, 0.4])
    for kind in (joint, kt.joints.Free()):
        b = kt.ModelBuilder("body")
        b.add_body("body", joint=kind, mass=2.0, com=(0.1, -0.2, 0.3), inertia=inertia)
        found.append(b.build())
    tree, free = found
    return tree, free.with_constraints(kt.constraints.LoopJoint("drive", joint, "world", "body"))


DRIVEN = {label: joint for label, joint in kt.joints.examples(np.random.default_rng(3), time_dependent=True)
          if joint.kind in ("prescribed", "moving_frame")}  # fmt: skip


@pytest.mark.parametrize("label", DRIVEN)
def test_a_loop_joint_that_depends_on_time_moves_as_in_the_tree(label):
    """The acceleration of a free body that it drives is that of the body on this joint; rates are those of errors."""
    joint, t, rng = DRIVEN[label], 0.37, np.random.default_rng(1)
    tree, held = bodies_on(joint)
    q, v, now = tree.random_q(rng), rng.standard_normal(tree.nv), joint.at(t)
    V = now.velocity(q.tolist(), v.tolist())
    expected = kt.forward_dynamics(tree, q, v, np.zeros(tree.nv), t)
    S = kt.spatial.Columns(now.motion_subspace(q.tolist()), kt.spatial.Motion)
    expected = np.array(list(S @ expected.tolist() + now.bias(q.tolist(), v.tolist())), float)
    pose, _ = kt.joints.Free().loop_coordinates(now.transform(q.tolist()))
    pose, twist = np.array(pose, float), np.array(list(V), float)
    found = kt.forward_dynamics(held, pose, twist, np.zeros(6), t)
    assert found == pytest.approx(expected, abs=1e-9 * max(1.0, np.abs(expected).max()))
    h, (c,) = 1e-5, held.constraints
    at = [kt.constraints.Kinematics(held.at(t + s), kt.integrate(held, pose, s * twist).tolist(), twist.tolist())
          for s in (-h, 0.0, h)]  # fmt: skip
    error, rate = (np.array([what(kin) for kin in at], float) for what in (c.residual, c.rate))
    assert np.abs(error[1]).max() < 1e-12 and np.abs(rate[1]).max() < 1e-11
    assert (error[2] - error[0]) / (2 * h) == pytest.approx(rate[1], abs=1e-7)
    assert (rate[2] - rate[0]) / (2 * h) == pytest.approx(np.array(c.bias(at[1]), float), abs=1e-6)


def test_a_motor_of_given_motion_in_a_loop_joint_drives_the_linkage():
    """Cut at the crank's joint, which turns as prescribed: the positions of the closed form."""
    linkage = kt.surgery.retree(four_bar(), chords=["crank"])
    (crank,) = [loop for loop in linkage.loops if loop.name == "crank"]
    joint = kt.joints.Prescribed(crank.joint, (Polynomial((1.0, SPEED)),))
    driven = linkage.replace(constraints=[kt.constraints.LoopJoint("crank", joint, crank.predecessor, crank.successor,
                                                                   crank.X_P, crank.X_S)])  # fmt: skip
    to = kt.surgery.StateMap(four_bar(), linkage)
    q, v = to.q(angles(1.0)), to.v(angles(1.0), SPEED * gradient(1.0))
    run = kt.simulate(driven, q, v, duration=0.3, dt=0.01)
    assert run.q[-1] == pytest.approx(to.q(angles(1.0 + 0.3 * SPEED)), abs=1e-11)
