"""Joint limits: soft stops, models without limits, errors; couplings along a motion."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import LimitError, ShapeError
from kinetree.joints import Free, Prismatic, Revolute
from kinetree.model import Geometry
from tests.analytic.mechanisms import G, slider


def falling(**options):
    """A mass of 2 kg on a vertical rail between -0.5 and 1 m."""
    return slider(2.0, axis=(0.0, 0.0, 1.0), lower=-0.5, upper=1.0, **options)


@pytest.mark.parametrize("integrator, dt", [("semi_implicit", 1e-3), ("rk4", 1e-3), ("adaptive", 1e-2)])
def test_soft_stop_catches_a_falling_mass(integrator, dt):
    """k = m w^2, d = 2 m w, w = 50/s: the mass sinks in by v/(w e) and a little, and rests m g / k below the limit."""
    run = kt.simulate(falling(), duration=1.5, dt=dt, integrator=integrator)
    impact = np.sqrt(2 * G * 0.5)
    deepest = -0.5 - run.q[:, 0].min()
    assert G / 50.0**2 <= deepest < impact * 0.02 / np.e + 2 * G / 50.0**2
    assert run.q[-1, 0] == pytest.approx(-0.5 - G / 50.0**2, abs=1e-6)
    assert run.q[:, 0].max() == 0.0  # no bounce higher than the start, and none at all beyond the stop:
    assert run.q[run.time > 0.5, 0].max() < -0.5


def test_soft_stops_are_noted_with_their_numbers():
    """The note names the joint, the rule and the stiffness: nothing is added in silence."""
    run = kt.simulate(falling(), duration=0.01)
    assert run.notes == (
        "soft stops added at the limits of joint rail: critically damped, time constant 0.02 s, stiffness 5000 N/m "
        "(each in trajectory.model.limit_stiffness)",
    )
    assert run.model.limit_damping.tolist() == [200.0]


def test_stops_of_many_joints_are_one_note():
    """Twelve joints of the quadruped: their number and the range of the stiffness, which is in the model."""
    run = kt.simulate(kt.load("quadruped", floating_base=True), duration=0.01)
    k = run.model.limit_stiffness[6:]
    (note,) = (note for note in run.notes if "stops" in note)
    assert "the limits of 12 joints" in note and f"stiffness {k.min():.4g} to {k.max():.4g} N m/rad (" in note


def test_stiffness_is_told_by_unit():
    """Hinges and slides of the arm have ranges of their own."""
    run = kt.simulate(kt.load("arm7"), duration=0.01)
    assert "7234 N m/rad, 150 N/m (each" in run.notes[0]


def test_stops_of_the_model_are_left_alone():
    """A model that gives its own stop is simulated with it, without a note."""
    run = kt.simulate(falling(limit_stiffness=1e4, limit_damping=300.0), duration=2.0)
    assert run.notes == ()
    assert run.q[-1, 0] == pytest.approx(-0.5 - 2.0 * G / 1e4, abs=1e-9)


def test_ignored_limits_let_the_mass_fall():
    """Without limits: z = -g t^2 / 2 through the limit."""
    run = kt.simulate(falling().without_limits(), duration=1.0, dt=0.01, integrator="rk4")
    assert run.q[-1, 0] == pytest.approx(-G / 2, abs=1e-12)


@pytest.mark.parametrize("integrator, tolerance", [("semi_implicit", 2e-3), ("rk4", 1e-3), ("adaptive", 1e-7)])
def test_raise_names_joint_time_and_value(integrator, tolerance):
    """A monitor ends the run when the mass passes -0.5 m, at t = sqrt(2 h / g)."""
    with pytest.raises(LimitError, match=r"joint 'rail' at t = 0.3\d+ s: -0.5") as caught:
        model = falling()
        monitor = kt.simulation.LimitMonitor(model)
        kt.simulate(model, duration=1.0, dt=1e-3, integrator=integrator, components=[monitor])
    assert caught.value.joint == "rail"
    assert caught.value.time == pytest.approx(np.sqrt(1.0 / G), abs=tolerance)
    assert caught.value.value == pytest.approx(-0.5, abs=4 * tolerance)


def test_a_monitor_refuses_starts_and_sees_joints_that_leave_from_their_limit():
    """Outside at the start; at the limit, into it and away from it; with a stop of the model's own, or a hard one."""
    for model in (falling(), falling(limit_stiffness=1e4, limit_damping=300.0)):
        monitor = kt.simulation.LimitMonitor(model)
        for start, message in (([-0.5], "joint 'rail' at t = "), ([-0.6], "q0 leaves the limits of joint 'rail'")):
            with pytest.raises(LimitError, match=message):
                kt.simulate(model, start, duration=0.1, components=[monitor])
        assert kt.simulate(model, [-0.5], [1.0], duration=0.1, components=[monitor]).q[-1, 0] > -0.5
    hard = falling().with_constraints(kt.constraints.HardLimits())
    rest = kt.simulate(hard, [-0.5], duration=0.1, components=[kt.simulation.LimitMonitor(hard)])
    assert (rest.q == -0.5).all()
    with pytest.raises(ShapeError, match=r"q has shape \(2,\), expected \(..., 1\)"):
        kt.simulation.LimitMonitor(hard).margin([0.0, 0.0])
    free = falling().without_limits()
    assert kt.simulation.LimitMonitor(free).margin([0.0]) == np.inf
    assert kt.simulate(free, duration=0.1, components=[kt.simulation.LimitMonitor(free)]).events == ()


def gripper():
    """An arm whose elbow follows the shoulder by -2, with two fingers of which the right follows the left."""
    b = kt.ModelBuilder("gripper")
    inertia = np.diag([0.02, 0.03, 0.04])
    b.add_body("upper", joint=Revolute((0, 1, 0)), joint_name="shoulder", mass=2.0, com=(0.1, 0, 0.2), inertia=inertia)
    b.add_body("lower", parent="upper", joint=Revolute((0, 1, 0)), joint_name="elbow",
               placement=((0, 0, 0.5), (0.1, 0.2, 0.3)), mass=1.5, com=(0, 0.1, 0.2), inertia=inertia)  # fmt: skip
    for name, side in (("left", 1.0), ("right", -1.0)):
        b.add_body(name, parent="lower", joint=Prismatic((0, side, 0)), joint_name=name,
                   placement=((0, 0, 0.4), (0, 0, 0)), mass=0.2, inertia=0.01 * inertia)  # fmt: skip
    b.add_coupling("elbow", "shoulder", ratio=-2.0, offset=0.3)
    b.add_coupling("right", "left", ratio=1.0)
    return b.build()


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "adaptive"])
def test_couplings_hold_along_a_motion(integrator):
    """q_elbow = -2 q_shoulder + 0.3 and v_elbow = -2 v_shoulder at every sample, from a default start."""
    model = gripper()
    run = kt.simulate(model, duration=1.0, dt=1e-3, integrator=integrator)
    shoulder, elbow, left, right = (
        run.coordinates.position_labels.index(name) for name in ("shoulder", "elbow", "left", "right")
    )
    assert np.ptp(run.q[:, shoulder]) > 0.3
    for x, offset in ((run.q, 0.3), (run.v, 0.0), (run.a, 0.0)):
        assert x[:, elbow] == pytest.approx(-2.0 * x[:, shoulder] + offset, abs=1e-11 * max(1.0, np.abs(x).max()))
        assert x[:, right] == pytest.approx(x[:, left], abs=1e-11 * max(1.0, np.abs(x).max()))


def test_coupled_motion_keeps_its_energy():
    """The forces of couplings do no work: the adaptive solution keeps the energy to its tolerance."""
    run = kt.simulate(gripper(), duration=1.0, dt=1e-2, integrator="adaptive")
    assert run.energy_drift < 1e-8


def test_stops_of_a_second_start_have_their_own_numbers():
    """Runs whose stops differ in numbers share machine code, not numbers: each pushes as its own model says."""
    b = kt.ModelBuilder("arm")
    inertia = np.diag([0.02, 0.03, 0.04])
    for name, parent in (("upper", "world"), ("lower", "upper")):
        b.add_body(name, parent=parent, joint=Revolute((0, 1, 0)), placement=((0, 0, 0.5), (0, 0, 0)), mass=2.0,
                   com=(0, 0, 0.3), inertia=inertia, lower=-1.5, upper=1.5)  # fmt: skip
    model, outside, zero = b.build(), np.array([1.6, -1.6]), np.zeros(2)
    runs = [kt.simulate(model, [0.0, bend], duration=0.01) for bend in (0.0, 1.4)]
    assert runs[0].model.limit_stiffness[0] > 1.4 * runs[1].model.limit_stiffness[0]  # a bent arm is easier to turn
    for run in runs:
        fresh = kt.compile(run.model, "forward_dynamics")
        assert np.array_equal(kt.forward_dynamics(run.model, outside, zero, zero), fresh(outside, zero, zero))


def test_a_floor_that_does_not_hold_is_told():
    """A free body above a shape of the world falls through it; the notes say so, and say nothing without a floor."""
    shape = Geometry("box", (1.0, 1.0, 0.1))
    for floor in (True, False):
        b = kt.ModelBuilder("box")
        b.add_body("box", joint=Free(), mass=1.0, inertia=(0.1, 0.1, 0.1), geometry=[shape])
        if floor:
            b.add_geometry("world", shape)
        notes = kt.simulate(b.build(), duration=0.01).notes
        assert any("contacts" in note for note in notes) == floor


def boxes(*joints, role="both"):
    """Bodies with a solid shape each, by (parent, joint)."""
    b = kt.ModelBuilder("boxes")
    for k, (parent, joint) in enumerate(joints):
        shape = Geometry("box", (0.1, 0.1, 0.1), role=role)
        b.add_body(f"b{k}", parent, joint, mass=1.0, inertia=(0.1, 0.1, 0.1), geometry=[shape])
    return b.build()


HINGE = Revolute((0, 1, 0))


@pytest.mark.parametrize(
    ("joints", "role", "told"),
    [
        ([("world", Free()), ("world", Free())], "both", True),  # two boxes
        ([("world", Free()), ("world", Free())], "visual", False),
        ([("world", HINGE), ("b0", HINGE)], "both", False),  # neighbors, which a joint lets overlap
        ([("world", HINGE), ("b0", HINGE), ("b1", HINGE)], "collision", True),  # the third may reach the first
        ([("world", HINGE), ("b0", HINGE), ("b0", HINGE)], "both", True),  # two legs
    ],
)
def test_bodies_that_pass_through_each_other_are_told(joints, role, told):
    """Whatever could touch and is no neighbor in the tree: in the notes of a run, and of a rollout."""
    model = boxes(*joints, role=role)
    expected = ("bodies pass through each other: contacts are not simulated",) if told else ()
    assert tuple(x for x in kt.simulate(model, duration=0.01).notes if "contacts" in x) == expected
    assert kt.simulation.Rollout(model).notes == expected


def test_a_floor_and_other_bodies_are_told_in_one_note():
    """Free bodies fall through the world's shapes, too."""
    b = kt.ModelBuilder.of(boxes(("world", Free()), ("world", Free())))
    b.add_geometry("world", Geometry("plane", ()))
    (note,) = (x for x in kt.simulate(b.build(), duration=0.01).notes if "contacts" in x)
    assert note == "bodies pass through the collision shape of the world and each other: contacts are not simulated"
