"""Hard limits and sticking friction in loop joints: the same mechanism cut elsewhere, closed forms, steps, monitors."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import HardLimits, HardLoopLimits, Kinematics, StickingFriction, StickingLoopFriction
from kinetree.errors import ConstraintError, LimitError, UnknownNameError
from kinetree.joints import Cylindrical, Prismatic, Revolute
from tests.forces.test_loop_forces import pair as two_arms

BOUNDS = {"dry_friction": 1.5, "lower": -9.0, "upper": 9.0}


@functools.cache
def pair(joint):
    """Two arms closed at the grip, and at another joint, both with friction and limits in the grip; a closed state."""
    model, _, (q, v), *_ = two_arms(joint, **BOUNDS)
    grip = model.loops[0]
    x = [float(x) for x in Kinematics(model, q.tolist()).loop_position("grip")]
    loop = replace(grip, lower=(x[0] + 1e-7, *[-9.0] * (joint.nv - 1)), upper=x[0] + 3.0)
    model = model.replace(equipment=replace(model.equipment, loops=(loop,)))
    other = kt.surgery.retree(model, chords=["to right hand"])
    to = kt.surgery.StateMap(model, other)
    model = model.with_constraints(HardLoopLimits(), StickingLoopFriction())
    other = other.with_constraints(HardLimits(of="grip"), StickingFriction(of="grip"))
    return model, other, (q, v), to


@pytest.mark.parametrize("joint", [Revolute((0, 1, 1)), Prismatic((1, 0, 0)), Cylindrical((0, 1, 0))], ids=repr)
def test_the_same_mechanism_cut_elsewhere(joint):
    """Accelerations, and forces of limits and friction in a joint, are those of the joint in the tree."""
    model, other, (q, v), to = pair(joint)
    rng, pushed = np.random.default_rng(1), 0
    shared = [name for name in model.joint_names if name in other.joint_names]
    for n in range(8):
        rate, tau = (v, 0.0 * v)[n % 2], rng.standard_normal(model.nv) * 10.0 ** (n % 3)
        tau[model.v_index("to right hand")] = 0.0
        loads = np.zeros(other.nv)
        for name in shared:
            loads[other.v_index(name)] = tau[model.v_index(name)]
        a, lam = kt.forward_dynamics(model, q, rate, tau, multipliers=True)
        q2, v2 = to.q(q), to.v(q, rate) if n % 2 == 0 else np.zeros(other.nv)
        a2, lam2 = kt.forward_dynamics(other, q2, v2, loads, multipliers=True)
        for name in shared:
            found, expected = a[model.v_index(name)], a2[other.v_index(name)]
            np.testing.assert_allclose(found, expected, atol=1e-6 * (1.0 + np.abs(a).max()))
        box = [n for n, label in enumerate(model.constraint_labels) if label.startswith(("hard", "sticking"))]
        box2 = [n for n, label in enumerate(other.constraint_labels) if label.startswith(("hard", "sticking"))]
        assert len(box) == len(box2) == 2 * joint.nv
        along, expected = (x.reshape(2, -1).sum(axis=0) for x in (lam[box], lam2[box2]))  # limits share with friction
        assert along == pytest.approx(expected, abs=1e-6 * (1.0 + np.abs(lam).max()))
        pushed += lam[box[0]] > 0.0
        again = kt.forward_dynamics(model, q, rate, kt.inverse_dynamics(model, q, rate, a))
        assert again == pytest.approx(a, abs=1e-6 * (1.0 + np.abs(a).max()))
        same, _, rows = kt.hybrid_dynamics(model, q, rate, tau, a, forward=model.joint_names, multipliers=True)
        assert same == pytest.approx(a, abs=1e-6 * (1.0 + np.abs(a).max()))
        assert rows[box] == pytest.approx(lam[box], abs=1e-5 * (1.0 + np.abs(lam).max()))
    assert pushed


def test_rows_and_biases_are_derivatives():
    """Rates of the rows along the motion, by differences."""
    model, _, (q, v), _ = pair(Cylindrical((0, 1, 0)))
    h, c = 1e-6, model.constraints[0]
    rates = []
    for s in (-h, h):
        kin = Kinematics(model, kt.integrate(model, q, s * v).tolist(), v.tolist())
        rates.append([sum(x * v[k] for k, x in row.items()) for row in c.rows(kin)])
    kin = Kinematics(model, q.tolist(), v.tolist())
    found = (np.array(rates[1], float) - np.array(rates[0], float)) / (2 * h)
    assert found == pytest.approx(np.array(c.bias(kin), float), abs=1e-6)


@functools.cache
def stopped(restitution=0.0, room=0.2, **data):
    """A four-bar whose coupler and rocker cannot come closer; a start at rest, from which it falls onto the limit."""
    linkage = kt.models.four_bar()
    q, _ = linkage.keyframe("initial")
    x = float(Kinematics(linkage, q.tolist()).coordinate("closure"))
    a = kt.forward_dynamics(linkage, q, np.zeros(3), np.zeros(3))
    row = Kinematics(linkage, q.tolist()).row("closure")
    falls = np.sign(sum(float(y) * a[k] for k, y in row.items()))
    limit = {"upper" if falls > 0 else "lower": x + falls * room}
    loop = replace(linkage.loops[0], **limit, **data)
    kinds = [HardLoopLimits(restitution)]
    return linkage.replace(constraints=[loop, *kinds]), q, next(iter(limit.values())), falls


def angle(model, q):
    return np.array([float(Kinematics(model, x.tolist()).coordinate("closure")) for x in np.atleast_2d(q)])


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_a_linkage_falls_onto_the_limit_of_its_loop_joint(restitution):
    """Penetration of the order of dt, rest without restitution; energy is lost at impacts alone; rollouts agree."""
    model, q, limit, side = stopped(restitution)
    depths = []
    for dt in (2e-3, 1e-3):
        run = kt.simulate(model, q, np.zeros(3), duration=0.8, dt=dt)
        assert run.integrator == "semi_implicit"
        beyond = side * (angle(model, run.q) - limit)
        depths.append(beyond.max())
        assert beyond.max() < 3.0 * dt and (np.diff(run.energy) < 1e-3).all()
    if not restitution:
        assert np.abs(run.v[-1]).max() < 1e-3 and abs(beyond[-1]) < 1e-5
    else:
        assert beyond[len(beyond) // 2 :].min() < -1e-3
    rolled = kt.rollout(model, q, np.zeros(3), np.zeros((20, 3)), 1e-3, integrator="semi_implicit")
    assert rolled.q[-1] == pytest.approx(run.q[20], abs=1e-12)


def test_the_limit_and_its_force_are_in_files_of_the_run():
    """Forces of the stop are a channel; at rest it carries the weight."""
    model, q, *_ = stopped()
    run = kt.simulate(model, q, np.zeros(3), duration=0.8, dt=1e-3)
    forces = run.energy_balance.others["force.stops"]
    bare = model.replace(constraints=[c for c in model.constraints if c.kind == "loop_joint"]).without_limits()
    left = kt.closed_loops.null_space(bare, run.q[-1]).T @ (kt.bias_forces(bare, run.q[-1], np.zeros(3)) - forces[-1])
    assert np.abs(forces[-1]).max() > 0.1 and np.abs(left).max() < 1e-2 * np.abs(forces[-1]).max()


def test_limits_are_numbers_and_go_along_with_names():
    """Other limits need no new code; names of loop joints are checked, and renamed."""
    model, q, limit, side = stopped()
    (name,) = [x for x in model.numbers().names if x.endswith(("closure.lower", "closure.upper"))
               and np.isfinite(model.numbers().as_dict()[x])]  # fmt: skip
    start = float(angle(model, q)[0])
    f = kt.compile(model, "forward_dynamics").with_parameters({name: start})
    a = f(q, np.zeros(3), np.zeros(3))
    assert np.abs(a).max() < 1e-9 < np.abs(kt.forward_dynamics(model, q, np.zeros(3), np.zeros(3))).max()
    with pytest.raises(ConstraintError, match="joint 'closure' is at its (upper|lower) limit"):
        free = kt.forward_dynamics(model, q, np.zeros(3), np.zeros(3))
        at = replace(model.loops[0], **{name.split(".")[-1]: start})
        held = model.replace(constraints=[at, HardLoopLimits()])
        kt.inverse_dynamics(held, q, np.zeros(3), free)
    with pytest.raises(UnknownNameError, match="'clasp'"):
        model.with_constraints(StickingLoopFriction(of="clasp"))
    one = model.replace(constraints=[model.loops[0], HardLoopLimits(of="closure")])
    named = kt.surgery.rename(one, prefix="a_")
    assert next(c for c in named.constraints if c.kind == "hard_loop_limits").of == ("a_closure",)


def test_the_monitor_watches_limits_of_loop_joints():
    """Margins in batches, errors at the start and on the way with the loop joint's name."""
    linkage, q, limit, side = stopped()
    model = linkage.replace(constraints=[c for c in linkage.constraints if c.kind == "loop_joint"])
    monitor = kt.simulation.LimitMonitor(model)
    run = kt.simulate(kt.models.four_bar(), q, np.zeros(3), duration=0.6, dt=1e-3)
    expected = side * (limit - angle(model, run.q))
    assert monitor.margin(run.q) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(LimitError, match="the motion leaves the limits of joint 'closure' at t = ") as error:
        kt.simulate(model, q, np.zeros(3), duration=0.8, dt=1e-3, components=[monitor])
    first = np.argmax(expected < 0.0)
    assert run.time[first - 1] < error.value.time < run.time[first] + 2e-3
    outside = run.q[first + 5]
    with pytest.raises(LimitError, match="q0 leaves the limits of joint 'closure'"):
        kt.simulate(model, outside, duration=0.1, components=[monitor])


def test_friction_of_loop_joints_holds_the_linkage():
    """Below the breakaway load it rests; above it the linkage starts by the rest of the load."""
    linkage = kt.models.four_bar()
    q, zero = linkage.keyframe("initial")[0], np.zeros(3)
    row = Kinematics(linkage, np.asarray(q).tolist()).row("closure")
    dense = np.array([float(row.get(k, 0.0)) for k in range(3)])
    G = kt.closed_loops.null_space(linkage, q)[:, 0]
    weight = -(G @ kt.bias_forces(linkage, q, zero)) / (dense @ G)  # the moment at the loop joint that would hold it
    for part in (1.01, 0.6):
        loop = replace(linkage.loops[0], dry_friction=part * abs(weight))
        model = linkage.replace(constraints=[loop, StickingLoopFriction()])
        assert not model.laws
        a = kt.forward_dynamics(model, q, zero, zero)
        free = kt.forward_dynamics(linkage, q, zero, zero)
        assert a == pytest.approx(free * max(0.0, 1.0 - part), abs=1e-8)
    loop = replace(linkage.loops[0], dry_friction=1.01 * abs(weight))
    run = kt.simulate(linkage.replace(constraints=[loop, StickingLoopFriction()]), q, zero, duration=0.1, dt=1e-3)
    assert np.abs(run.q - q).max() < 1e-9


def test_a_loop_joint_without_rows_has_limits():
    """A body on a tether of Euler angles and slides: the bound coordinate is the only row, in a tree without loops."""
    b = kt.ModelBuilder("weight")
    b.add_body("weight", joint=kt.joints.Translational(), joint_name="slide", mass=2.0, inertia=np.eye(3))
    joint = kt.joints.Composite((kt.joints.SphericalEuler("xyz"), kt.joints.Translational()))
    floor = kt.constraints.LoopJoint("floor", joint, "world", "weight", lower=(*[-np.inf] * 5, -0.1))
    model = b.build().with_constraints(floor, HardLoopLimits())
    assert model.nc == 1
    with kt.interpreted():
        a, (force,) = kt.forward_dynamics(model, [0, 0, -0.1], np.zeros(3), [0.0, 1.0, 0.0], multipliers=True)
    assert a == pytest.approx([0.0, 0.5, 0.0], abs=1e-9) and force == pytest.approx(2.0 * 9.81)
    run = kt.simulate(model, [0, 0, 0.0], duration=0.3, dt=1e-3)
    assert run.q[-1] == pytest.approx([0.0, 0.0, -0.1], abs=1e-6)


@pytest.mark.parametrize("data, bounds", [
    ({"dry_friction": 1.0}, (StickingLoopFriction(),)),
    ({"joint": kt.joints.PlanarSplit(), "stiffness": (1.0, 50.0, 60.0), "damping": 0.1}, ()),
])  # fmt: skip
def test_planar_models_have_the_same_accelerations(data, bounds):
    """Friction in the loop joint, and a bushing in the plane, which has no rows there."""
    linkage = kt.models.four_bar()
    model = linkage.replace(constraints=[replace(linkage.loops[0], **data), *bounds])
    q, v = linkage.keyframe("initial")[0], np.zeros(3) if bounds else np.ones(3)
    a = kt.forward_dynamics(model, q, v, [-5.0, 0.0, 0.0])
    assert kt.forward_dynamics(model.planar(), q, v, [-5.0, 0.0, 0.0]) == pytest.approx(a, rel=1e-9)
    assert np.abs(a).max() > 1.0
