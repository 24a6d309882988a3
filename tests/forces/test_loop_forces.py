"""Forces in loop joints: the same mechanism cut elsewhere, calculus, energy balances, limits, motors, refusals."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.force_elements import dissipative_forces
from kinetree.algorithms.implicit_forces import exact_slopes
from kinetree.constraints import LoopJoint
from kinetree.constraints.redundancy import closed_state
from kinetree.errors import LimitError, ModelError
from kinetree.forces import ForceElement, LoopMotor, Motor
from kinetree.forces.loop_forces import LoopForce
from kinetree.joints import (
    Composite,
    Cylindrical,
    Helical,
    PlanarSplit,
    Prismatic,
    RackAndPinion,
    Revolute,
    SphereInCylinder,
    Spherical,
    SphericalEuler,
    Universal,
)
from kinetree.spatial import Transform, Vector3

FORCES = {"stiffness": 2.0, "spring_reference": 0.4, "damping": 0.3, "dry_friction": 0.05,
          "lower": -0.3, "upper": 0.1, "limit_stiffness": 7.0, "limit_damping": 0.2}  # fmt: skip
KINDS = [Revolute((0, 1, 1)), Prismatic((1, 0, 0)), Helical((0, 0, 1), 0.1), RackAndPinion(0.2), Cylindrical((0, 1, 0)),
         Universal(), SphericalEuler("zyx"), SphericalEuler("zyz"), PlanarSplit(),
         Composite((Revolute(), Prismatic((1, 0, 0))))]  # fmt: skip
BALLS = [Spherical(), SphereInCylinder()]  # whose positions are no coordinates, so that they have no limits


def machine(joint, **data):
    """Two arms on the ground whose hands a joint connects, at generic places."""
    rng, b = np.random.default_rng(5), kt.MechanismBuilder("two arms", gravity=(1.0, -2.0, -9.0))
    parents = {"left": "world", "left hand": "left", "right": "world", "right hand": "right"}
    joints = (Revolute((0, 0, 1)), kt.joints.Spherical(), kt.joints.Spherical(), Cylindrical((1, 0, 0)))
    for (name, parent), kind in zip(parents.items(), joints, strict=True):
        b.add_body(name, mass=1.0, com=0.2 * rng.normal(size=3), inertia=(0.1, 0.12, 0.14))
        b.add_joint(f"to {name}", parent, name, kind, (0.4 * rng.normal(size=3), rng.normal(size=3)))
    places = ((0.2, 0.1, 0), (0.3, 0, 0)), ((0, 0.3, 0), (0, 0.2, 1))
    b.add_joint("grip", "left hand", "right hand", joint, *places, **data)
    return b


def pair(joint, **data):
    """The machine closed by the joint, and by another one; a closed state of each."""
    model = machine(joint, **data).build(chords=["grip"])
    other = kt.surgery.retree(model, chords=["to right hand"])
    q, v = closed_state(model, np.random.default_rng(2))
    to = kt.surgery.StateMap(model, other)
    return model, other, (q, v), (to.q(q), to.v(q, v)), to


def data_of(joint, several=False):
    """Data of forces that the joint can have; with another coefficient along each velocity, if it has several."""
    if joint.nq == joint.nv == 1:
        return FORCES
    names = ("stiffness", "damping", "dry_friction", "limit_stiffness", "limit_damping")
    scale = 1.0 + 0.3 * np.arange(joint.nv) * several
    data = {what: tuple(FORCES[what] * scale) for what in names}
    if joint.nq != joint.nv:
        q = joint.normalize(np.array(joint.neutral()) + 0.2 * np.arange(joint.nq))
        return {what: x for what, x in data.items() if "limit" not in what} | {"spring_reference": tuple(map(float, q))}
    return data | {"spring_reference": (0.4, -0.2, 0.3)[: joint.nv], "lower": FORCES["lower"], "upper": FORCES["upper"]}


@pytest.mark.parametrize("joint", [*KINDS, *BALLS], ids=repr)
def test_the_same_mechanism_cut_elsewhere(joint):
    """Energy, accelerations and power of friction do not depend on the joint at which a loop is cut."""
    model, other, (q, v), (q2, v2), to = pair(joint, **data_of(joint, several=True))
    assert len(model.loop_forces) == 4 - (joint in BALLS) and not other.loop_forces and model.unsupported == ()
    assert kt.dynamics.elastic_energy(model, q) == pytest.approx(kt.dynamics.elastic_energy(other, q2), rel=1e-8)
    lost = [kt.dynamics.passive_joint_forces(m, x, y) - kt.dynamics.passive_joint_forces(m, x, 0 * y)
            for m, x, y in ((model, q, v), (other, q2, v2))]  # fmt: skip
    assert lost[0] @ v == pytest.approx(lost[1] @ v2, rel=1e-8)
    a = kt.forward_dynamics(model, q, v, np.zeros(model.nv))
    a2 = kt.forward_dynamics(other, q2, v2, np.zeros(other.nv))
    shared = [name for name in model.joint_names if name in other.joint_names]
    for name in shared:
        found, expected = a2[other.v_index(name)], a[model.v_index(name)]
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(a).max())


@pytest.mark.parametrize("joint", [*KINDS[:-1], *BALLS], ids=repr)
def test_forces_and_slopes_are_derivatives_even_where_the_loop_is_open(joint):
    """f = -dE/dq, K = -df/dq, D = -df/dv at any position, by differences."""
    model, rng = machine(joint, **data_of(joint, several=True)).build(chords=["grip"]), np.random.default_rng(3)
    q, v, h, f = 0.3 * model.random_q(rng), rng.standard_normal(model.nv), 1e-6, kt.dynamics.passive_joint_forces
    q = kt.normalize(model, q)

    def along(g):
        ends = ((g(kt.integrate(model, q, h * e)), g(kt.integrate(model, q, -h * e))) for e in np.eye(model.nv))
        return np.stack([(ahead - behind) / (2 * h) for ahead, behind in ends], axis=-1)

    gradient = along(lambda x: kt.dynamics.elastic_energy(model, x))
    np.testing.assert_allclose(f(model, q, 0 * v), -gradient, atol=1e-7 * max(1.0, np.abs(gradient).max()))
    K, D = (np.array(x, float) for x in exact_slopes(model, q.tolist(), v.tolist()))
    np.testing.assert_allclose(K, -along(lambda x: f(model, x, v)), atol=2e-6 * np.abs(K).max())
    slopes = [(f(model, q, v + h * e) - f(model, q, v - h * e)) / (2 * h) for e in np.eye(model.nv)]
    np.testing.assert_allclose(D, -np.stack(slopes, axis=-1), atol=1e-6 * np.abs(D).max())
    assert all(np.dot(np.array(tau, float), v) <= 0.0 for tau in dissipative_forces(model, q.tolist(), v.tolist()))


def four_bar(**data):
    """Crank, coupler and rocker, closed between the last two."""
    b = kt.MechanismBuilder("four bar", gravity=(0, -9.81, 0))
    for name, length in (("crank", 0.1), ("coupler", 0.3), ("rocker", 0.25)):
        b.add_body(name, mass=length, com=(length / 2, 0, 0), inertia=(0, length**3 / 12, length**3 / 12))
    b.add_joint("A", "world", "crank", Revolute())
    b.add_joint("B", "crank", "coupler", Revolute(), at_predecessor=((0.1, 0, 0), (0, 0, 0)))
    b.add_joint("C", "coupler", "rocker", Revolute(), ((0.3, 0, 0), (0, 0, 0)), ((0.25, 0, 0), (0, 0, 0)), **data)
    b.add_joint("D", "world", "rocker", Revolute(), at_predecessor=((0.28, 0, 0), (0, 0, 0)))
    return b.build(chords=["C"])


@pytest.fixture(scope="module")
def start():
    """A closed position of the four-bar, from its triangle: C is 0.3 from B and 0.25 from D."""
    crank = 1.0
    B, D = 0.1 * np.array([np.cos(crank), np.sin(crank)]), np.array([0.28, 0.0])
    d = np.linalg.norm(D - B)
    along, to = (0.3**2 - 0.25**2 + d**2) / (2 * d), (D - B) / d
    C = B + along * to + np.sqrt(0.3**2 - along**2) * np.array([-to[1], to[0]])
    coupler, rocker = (np.arctan2(*(C - X)[::-1]) for X in (B, D))
    return np.array([crank, coupler - crank, rocker])


def test_a_run_keeps_its_energy_balance(start):
    """Stored and dissipated energies of the loop joint explain the change of the others; the loop stays closed."""
    model = four_bar(**FORCES | {"spring_reference": -1.0, "lower": -9.0, "upper": 9.0})
    run = kt.simulate(model, start, np.zeros(3), duration=0.3, dt=1e-3, integrator="generalized_alpha")
    balance = run.energy_balance
    assert {"force C spring"} <= set(balance.energies) and balance.energies["force C spring"].max() > 0.1
    assert np.abs(balance.remainder).max() < 2e-3 * balance.scale


def test_rollouts_and_verification_take_them(start):
    """Rollouts make the steps of simulate; the independent methods of verify agree on energies, slopes and dynamics."""
    model = four_bar(stiffness=2.0, spring_reference=-1.0, damping=0.05)
    q, v = kt.assemble(model, start, v=[1.0, 0.0, 0.0])
    for integrator in ("rk4", "semi_implicit"):
        run = kt.simulate(model, q, v, duration=0.02, dt=1e-3, integrator=integrator)
        rolled = kt.rollout(model, q, v, np.zeros((20, 3)), 1e-3, integrator=integrator)
        np.testing.assert_allclose(rolled.q[-1], run.q[-1], atol=1e-12)
    found = kt.verify(model, states=2, fast=True)
    assert "all agree" in str(found), str(found)


def test_limits_of_a_loop_joint_get_stops(start):
    """Outside a limit without a stop is an error; simulations add stops, whose energy is explained."""
    q_C = four_bar(stiffness=1.0).loop_forces[0]
    assert q_C.kind_of_joint.wraps == (True,)
    free = four_bar()
    coordinate = start[2] - start[0] - start[1]  # of the rocker relative to the coupler
    bare = four_bar(lower=coordinate - 0.1)
    kt.forward_dynamics(bare, start, np.zeros(3), np.zeros(3))
    with pytest.raises(LimitError, match="joint 'C' is at"):
        kt.forward_dynamics(four_bar(lower=coordinate + 0.2), start, np.zeros(3), np.zeros(3))
    turned = four_bar(lower=coordinate - 0.2 + 2 * np.pi, upper=coordinate + 0.2 + 2 * np.pi)  # angles have no turns
    kt.forward_dynamics(turned, start, np.zeros(3), np.zeros(3))
    run = kt.simulate(bare, start, np.zeros(3), duration=0.2, dt=1e-3, integrator="generalized_alpha")
    assert "soft stops added at the limits of loop joints" in str(run.notes)
    angle = run.q[:, 2] - run.q[:, 0] - run.q[:, 1]
    assert coordinate - 0.2 < angle.min() < coordinate - 0.1
    through = kt.simulate(free, start, np.zeros(3), duration=0.2, dt=1e-3, integrator="generalized_alpha")
    assert (through.q[:, 2] - through.q[:, 0] - through.q[:, 1]).min() < coordinate - 0.2


def test_assembly_keeps_the_limits_of_loop_joints(start):
    """The closed position is inside them where there is one; verify leaves out limits without a stop."""
    coordinate = start[2] - start[0] - start[1]
    for lower, upper in ((coordinate - 0.2, coordinate - 0.1), (coordinate + 0.3, coordinate + 0.5)):
        model = four_bar(lower=lower, upper=upper)
        q = kt.assemble(model, start)
        assert lower <= q[2] - q[0] - q[1] <= upper
        with kt.interpreted():
            kt.forward_dynamics(model, q, np.zeros(3), np.zeros(3))
    assert "all agree" in str(kt.verify(model, states=1, fast=True))


def test_a_spring_counts_angles_from_its_reference(start):
    """References that differ by whole turns are the same; none makes a jump within half a turn of it."""
    energies = []
    for turns in (-1, 0, 2):
        model = four_bar(stiffness=1.0, spring_reference=3.0 + 2 * np.pi * turns)
        energies.append(kt.dynamics.elastic_energy(model, start))
    angle = np.remainder(start[2] - start[0] - start[1] - 3.0 + np.pi, 2 * np.pi) - np.pi
    assert energies == pytest.approx([0.5 * angle**2] * 3, rel=1e-12)


def test_a_motor_in_a_loop_joint_is_one_in_the_tree():
    """Its command is an input u; the same motor force at the joint of a tree gives the same accelerations."""
    model, other, (q, v), (q2, v2), _ = pair(Revolute((0, 1, 1)))
    driven = model.with_forces(LoopMotor("grip", torque_limit=3.0, gear_ratio=2.0))
    assert driven.input_names == ("motor grip.command",)
    tau = np.zeros(other.nv)
    for command, delivered in ((1.5, 1.5), (20.0, 6.0), (-20.0, -6.0)):
        tau[other.v_index("grip")] = delivered
        a = kt.forward_dynamics(driven, q, v, np.zeros(model.nv), u=[command])
        a2 = kt.forward_dynamics(other, q2, v2, tau)
        assert a[model.v_index("to left")] == pytest.approx(a2[other.v_index("to left")], rel=1e-7)


@dataclass(frozen=True)
class Magnet(ForceElement):
    """A user's own law over the coordinate of a joint of the tree or of a loop."""

    name: str
    joint: str
    strength: float

    def energy(self, kin):
        return self.strength * kin.coordinate(self.joint) ** 3


def test_laws_of_users_take_loop_joints():
    """By name, as joints of the tree; they follow renaming, and the joint when it changes place with another."""
    model, _, (q, _), (q2, _), _ = pair(Prismatic((1, 0, 0)), damping=0.1)
    model = model.with_forces(Magnet("magnet", "grip", 2.0))
    other = kt.surgery.retree(model, chords=["to right hand"])
    energy = kt.dynamics.elastic_energy(model, q)
    assert energy == pytest.approx(kt.dynamics.elastic_energy(other, q2), rel=1e-8) and energy != 0.0
    named = kt.surgery.rename(model, prefix="a_")
    assert named.elements[0].joint == "a_grip" and kt.dynamics.elastic_energy(named, q) == energy
    back = kt.surgery.retree(other, chords=["grip"])
    assert [force.name for force in back.elements] == ["magnet"]
    assert not kt.surgery.prune(model, ["left"]).elements


def test_elements_and_data_are_the_same():
    """``model.forces`` has the forces in loops; replaced, pickled and compiled with other numbers."""
    model, rng = four_bar(**FORCES), np.random.default_rng(0)
    q, v = model.random_state(rng)
    assert [type(force) for force in model.forces] == [LoopForce] * 4
    expected = kt.dynamics.passive_joint_forces(model, q, v)
    for same in (model.replace(forces=model.forces), pickle.loads(pickle.dumps(model)),
                 kt.ModelBuilder.of(model).build(), model.replace(constraints=model.constraints)):  # fmt: skip
        assert same.structure() == model.structure()
        assert np.array_equal(kt.dynamics.passive_joint_forces(same, q, v), expected)
    assert not model.replace(forces=()).loop_forces and not model.replace(constraints=()).loop_forces
    stiff = kt.compile(model, "passive_joint_forces").with_parameters({"C spring.stiffness": 5.0})
    assert np.allclose(stiff(q, v), kt.dynamics.passive_joint_forces(four_bar(**FORCES | {"stiffness": 5.0}), q, v))


def test_invalid_forces_in_loops_are_named():
    """Each mistake with the joint, the value and the repair."""
    arm, end = kt.models.double_pendulum(), Transform.shift(Vector3(0.0, 0.0, 1.0))

    def closed(joint, predecessor="world", **data):
        return arm.with_constraints(LoopJoint("pin", joint, predecessor, "lower", end, **data))

    for match, joint, data in (
        (r"damping is \(1.0, 2.0\), expected a number for each of its 3", Spherical(), {"damping": (1.0, 2.0)}),
        ("upper is 1.0, and Spherical.* 4 positions for 3 velocities.*Euler", kt.joints.Spherical(), {"upper": 1.0}),
        ("damping is 1.0, expected a number for each of its 0", kt.joints.Fixed(), {"damping": 1.0}),
        ("damping is -1.0, expected a finite number", Revolute(), {"damping": -1.0}),
        ("stiffness is nan", Revolute(), {"stiffness": np.nan}),
        ("lower 2 is above upper 1", Revolute(), {"lower": 2.0, "upper": 1.0}),
        ("both on body 'lower', open by 1 m, expected two", Revolute(), {"predecessor": "lower"}),
    ):
        with pytest.raises(ModelError, match=match):
            closed(joint, **data)
    with pytest.raises(ModelError, match="coordinate is 1, expected less than its 1 velocities"):
        closed(Revolute()).with_forces(LoopMotor("pin", coordinate=1))
    with pytest.raises(ModelError, match="LoopMotor of joint 'pin': time_constant is 0.1, expected 0"):
        LoopMotor("pin", time_constant=0.1)
    with pytest.raises(ModelError, match="this joint closes a loop, so it has no entry of tau. Use .*LoopMotor"):
        closed(Revolute()).with_forces(Motor("pin"))
    with pytest.raises(ModelError, match="'other' is none of the model's loop joints"):
        closed(Revolute()).with_forces(LoopForce("x", "other", kt.forces.Damping, (("damping", 1.0),), Revolute()))
