"""Loop joints as rows: closed forms, Pinocchio's constrained dynamics, redundant rows, and what is refused."""

from __future__ import annotations

import importlib.metadata
import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error
from kinetree.constraints import Constraint, LoopJoint
from kinetree.constraints.redundancy import closed_positions
from kinetree.errors import ConstraintError
from kinetree.joints import Cylindrical, Prismatic, Revolute, Spherical
from kinetree.model.equipment import Keyframe
from tests.compiler.test_c_source import GCC, run_harness
from tests.surgery.test_pinocchio import both, bridge

G = 9.81


def rhombus(joint=None, axis=(0, 0, 1), gravity=(0.0, -G, 0.0)):
    """Three rods of 1 kg and 1 m, and the ground; in space, so that a hinge closes it redundantly."""
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": np.diag([0.01, 1 / 12, 1 / 12])}
    b = kt.ModelBuilder("four bar")
    b.add_body("crank", joint=Revolute(axis), joint_name="crank", **rod)
    for name, parent in (("coupler", "crank"), ("rocker", "coupler")):
        b.add_body(name, parent, Revolute(axis), name, placement=((1, 0, 0), (0, 0, 0)), **rod)
    b.add_frame("end", "rocker", ((1, 0, 0), (0, 0, 0)))
    b.add_frame("ground", "world", ((1, 0, 0), (0, 0, 0)))
    return b.build().replace(gravity=gravity).with_constraints(
        LoopJoint("closure", joint or Revolute(axis), "ground", "end")
    )  # fmt: skip


@pytest.mark.parametrize("joint", [Revolute(), Spherical(), Cylindrical()])
@pytest.mark.parametrize("angle", [0.4, 1.2, 2.5])
def test_a_parallelogram_is_a_pendulum(joint, angle):
    """Its coupler moves in a circle: inertia 2 m l^2 / 3 + m l^2, weight 2 m g; whatever joint closes it."""
    q, v = np.array([angle, -angle, angle - np.pi]), np.array([1.5, -1.5, 1.5])
    a, lam = kt.forward_dynamics(rhombus(joint), q, v, np.array([2.0, 0.0, 0.0]), multipliers=True)
    expected = (2.0 - 2.0 * G * np.cos(angle)) / (5.0 / 3.0)
    assert a == pytest.approx(expected * np.array([1.0, -1.0, 1.0]), rel=1e-10, abs=1e-10)
    assert len(lam) == 6 - joint.nv


@pytest.mark.parametrize("angle", [0.4, 2.5])
def test_inverse_dynamics_of_a_closed_mechanism_is_hybrid(angle):
    """The crank moves as given: its torque is that of the pendulum, by the unactuated joints' unknown accelerations."""
    q, v = np.array([angle, -angle, angle - np.pi]), np.array([1.5, -1.5, 1.5])
    model, free = rhombus(), ["coupler", "rocker"]
    a, tau, lam = kt.hybrid_dynamics(model, q, v, [9, 0, 0], [3.0, 0.0, 0.0], forward=free, multipliers=True)
    assert a == pytest.approx([3.0, -3.0, 3.0]) and tau[1:].tolist() == [0.0, 0.0]
    assert tau[0] == pytest.approx(3.0 * 5.0 / 3.0 + 2.0 * G * np.cos(angle))
    again, same = kt.forward_dynamics(model, q, v, tau, multipliers=True)
    assert again == pytest.approx(a) and same == pytest.approx(lam)


def test_redundant_rows_are_left_out_once_for_all_positions():
    """A hinge holds a planar chain by two of its five rows; their multipliers carry the load of the others."""
    model = rhombus()
    assert model.nc == 5 and len(model.independent_rows()) == 2
    q = np.array([1.2, -1.2, 1.2 - np.pi])
    lam = kt.forward_dynamics(model, q, np.zeros(3), np.zeros(3), multipliers=True)[1]
    assert set(np.flatnonzero(lam)) <= set(model.independent_rows())
    assert model.replace(constraints=()).nc == 0 and not model.replace(constraints=()).loops


def test_batches_and_float32():
    """The same for many states at once, and in single precision."""
    model, angles = rhombus(), np.linspace(0.3, 2.8, 17)
    q = np.stack([angles, -angles, angles - np.pi], axis=-1)
    f = kt.compile(model, "forward_dynamics", multipliers=True, checks=False)
    a, lam = f(q, np.zeros_like(q), np.zeros_like(q))
    assert a[:, 0] == pytest.approx(-2.0 * G * np.cos(angles) * 0.6, rel=1e-9)
    single = f(*(x.astype(np.float32) for x in (q, 0 * q, 0 * q)))
    assert single[0] == pytest.approx(a, abs=1e-3) and lam.shape == (17, 5)


def test_pinocchio_agrees_on_a_quadruped_with_two_feet_on_the_ground():
    """Accelerations and forces of constraintDynamics, each foot pinned by a point."""
    pin = pytest.importorskip("pinocchio")
    model, pin_model = both("anymal_b")
    b, rng = bridge.Bridge(model, pin_model), np.random.default_rng(3)
    q = model.random_q(rng)
    feet, loops, held = ("LF_FOOT", "RH_FOOT"), [], []
    data = pin_model.createData()
    pin.framesForwardKinematics(pin_model, data, b.q_to_pin(q))
    for foot in feet:
        _, p = kt.pose(model, q, frame=foot)
        X = kt.spatial.Transform.shift(kt.spatial.Vector3(*p.tolist()))
        loops.append(LoopJoint(foot, Spherical(), "world", foot, X))
        frame = pin_model.frames[pin_model.getFrameId(foot)]
        held.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, pin_model, frame.parentJoint, frame.placement,
                                             pin.ReferenceFrame.LOCAL))  # fmt: skip
    closed = model.with_constraints(*loops).replace(damping=0.0, dry_friction=0.0)
    J = np.vstack([kt.jacobian(model, q, frame=foot, reference="local")[3:] for foot in feet])
    v = rng.standard_normal(model.nv)
    v -= np.linalg.pinv(J) @ (J @ v)
    tau = rng.standard_normal(model.nv)
    a, lam = kt.forward_dynamics(closed, q, v, tau, multipliers=True)
    held = pin.StdVec_RigidConstraintModel(held)
    found = pin.StdVec_RigidConstraintData([c.createData() for c in held])
    settings = pin.ProximalSettings(1e-14, 0.0, 10)
    pin.initConstraintDynamics(pin_model, data, held, found)
    theirs = pin.constraintDynamics(pin_model, data, b.q_to_pin(q), b.v_to_pin(v), b.tau_to_pin(tau), held, found,
                                    settings)  # fmt: skip
    assert a == pytest.approx(b.a_from_pin(theirs), rel=1e-8, abs=1e-7 * np.abs(a).max())
    for n, (foot, each) in enumerate(zip(feet, found, strict=True)):
        # Theirs is the force in the axes of the foot, as ours.
        assert np.linalg.norm(lam[3 * n : 3 * n + 3]) == pytest.approx(
            np.linalg.norm(each.contact_force.linear), rel=1e-7
        ), foot


@dataclass(frozen=True)
class AddUp(Constraint):
    """Coordinates of joints add up to zero."""

    of: tuple[str, ...]
    joint_fields = ("of",)

    def count(self, model):
        return 1

    def residual(self, kin):
        return [sum(kin.coordinate(joint) for joint in self.of)]

    def rows(self, kin):
        return [{kin.dof(joint): 1.0 for joint in self.of}]

    def bias(self, kin):
        return [0.0]


@pytest.mark.parametrize("integrator", ["auto", "bdf2"])
def test_rows_of_a_users_own_are_kept_by_the_same_steps(integrator):
    """To rounding in position, and with the energy; in rollouts, too."""
    tree = kt.models.n_pendulum(3)
    model = tree.with_constraints(AddUp(tree.joint_names))
    run = kt.simulate(model, [0.5, -0.2, -0.3], [1.0, -1.0, 0.0], duration=0.5, integrator=integrator)
    assert np.abs(run.q.sum(axis=1)).max() < 1e-13 and np.ptp(run.q, axis=0).max() > 0.1
    assert np.ptp(run.energy) < 1e-3 * np.ptp(run.potential_energy)
    rolled = kt.rollout(model, run.q[0], run.v[0], None, 1e-3, steps=500)
    assert np.abs(rolled.q.sum(axis=1)).max() < 1e-13
    assert rolled.q[-1] == pytest.approx(run.q[-1], abs=1e-3 if integrator == "bdf2" else 1e-11)


@pytest.mark.sweep
def test_cassie_falls_with_its_six_loops_closed():
    """44 velocities, gears, 36 rows: loops to rounding, free fall of the whole, and its energy."""
    robots = "cmeel.prefix/share/example-robot-data/robots/cassie_description/robots"
    path = importlib.metadata.distribution("example-robot-data").locate_file(f"{robots}/cassie.sdf")
    model = kt.load(path, inertia="project").without_limits()
    q = kt.closed_loops.project_position(model, model.neutral())
    run = kt.simulate(model, q, duration=0.02, integrator="generalized_alpha")
    held = [n for n in range(model.nc) if n not in model.loop_rows().rounding]
    assert len(model.independent_rows()) == 10 + 16  # of gears; of each leg 8, which leaves 6 of its 14 freedoms
    assert max(np.abs(np.array(constraint_error(model, x))[held]).max() for x in run.q.tolist()) < 1e-12
    heights = kt.center_of_mass(model, run.q)[:, 2]
    assert heights[0] - heights[-1] == pytest.approx(0.5 * G * 0.02**2, rel=1e-6)
    assert np.ptp(run.energy) < 1e-9 * np.ptp(run.potential_energy)


@pytest.mark.skipif(GCC is None, reason="no C compiler")
def test_c_code_has_the_multipliers(tmp_path):
    """Written, built and run against its golden values, at closed positions."""
    code = kt.export.to_c(kt.compile(rhombus(), "forward_dynamics", multipliers=True))
    run_harness(code, tmp_path)
    assert "multipliers" in code.header


def arm_with_pins(*points):
    """Two links of 1 m, the tip pinned to points of the world."""
    arm = kt.models.double_pendulum()
    tip = kt.spatial.Transform.shift(kt.spatial.Vector3(0.0, 0.0, -1.0))
    q, frames = arm.neutral(), [frame.name for frame in arm.frames]
    assert np.allclose(np.linalg.norm(kt.pose(arm, q, frame="lower").p_WF), 1.0) and "lower" in frames
    pins = [
        LoopJoint(f"pin{n}", Spherical(), "world", "lower", kt.spatial.Transform.shift(kt.spatial.Vector3(*p)), tip)
        for n, p in enumerate(points)
    ]
    return arm.with_constraints(*pins)


def test_a_loop_that_cannot_close_is_an_error():
    """A point 5 m away from an arm of 2 m: by the loop's name, with the 3 m that are missing."""
    with pytest.raises(ConstraintError, match="'pin0'.*cannot close.*off by 3 m") as caught:
        arm_with_pins((0.0, 0.0, -5.0)).independent_rows()
    assert caught.value.residual == pytest.approx(3.0, rel=1e-6)


def test_loops_that_contradict_each_other_are_an_error():
    """The tip at two points 0.6 m apart, each within reach: both names, and half of that for each."""
    model = arm_with_pins((0.0, 0.0, -1.5), (0.0, 0.0, -0.9))
    with pytest.raises(ConstraintError, match="contradict.*'pin0'.*'pin1'") as caught:
        kt.forward_dynamics(model, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    assert caught.value.residual == pytest.approx(0.3, rel=1e-6)


def test_rows_are_regular_all_around():
    """Of the ten pairs of rows of Bennett's linkage, most are singular somewhere; the one taken is not."""
    model = kt.models.bennett()
    rows = closed_positions(model, np.random.default_rng(5), count=200).rows
    least = {}
    for pair in itertools.combinations(range(5), 2):
        unit = rows[:, pair] / np.abs(rows[:, pair]).max(axis=(0, 2))[None, :, None]
        least[pair] = np.linalg.svd(unit, compute_uv=False)[:, -1].min()
    assert least[model.independent_rows()] == max(least.values()) > 0.5
    assert sum(x < 0.02 for x in least.values()) == 8


def test_keyframes_are_starts_for_closed_positions():
    """A pin 300 m along a slide: too far for Newton's method from the neutral position, but a keyframe is there."""
    b, below = kt.ModelBuilder("far"), "world"
    for name, joint in (("cart", Prismatic((1, 0, 0))), ("arm", Revolute()), ("hand", Revolute())):
        b.add_body(name, below, joint, mass=1.0, inertia=np.eye(3), placement=((0.0, 0.3, 0.0), (0, 0, 0)))
        below = name
    keyframe = Keyframe("there", {"cart": (300.0,), "arm": (0.3,), "hand": (-0.6,)}, {})
    plain = b.build()
    model = plain.replace(equipment=replace(plain.equipment, keyframes=(keyframe,)))
    X = kt.spatial.Transform.shift(kt.spatial.Vector3(300.0, 0.8, 0.0))
    pin = LoopJoint("pin", Spherical(), "world", "hand", X)
    gaps = [closed_positions(x.with_constraints(pin), np.random.default_rng(0)).gap for x in (plain, model)]
    assert gaps[0] > 1.0 and gaps[1] < 1e-9


@pytest.mark.seeds(6)
def test_wrenches_of_loops_are_t_lambda(seed):
    """Eq. 8.28: J_S^T f - J_P^T f is K^T lambda; the axes of all references; rows of other constraints are left out."""
    model, q, v = kt.models.random_loops(seed, bodies=6, loops=2, family=("spatial", "planar", "spherical")[seed % 3])
    coupled = kt.constraints.LinearCoupling(model.joint_names[-2:], (1.0, 2.0))
    model = model.with_constraints(coupled) if seed % 3 == 1 else model
    lam = np.random.default_rng(seed).standard_normal(model.nc)
    with kt.interpreted():
        world, aligned, local = (
            kt.closed_loops.wrenches(model, q, lam, reference=x) for x in ("world", "local_world_aligned", "local")
        )
        K = kt.closed_loops.jacobian(model, q)
        total = np.zeros(model.nv)
        for loop, f in zip(model.loops, world, strict=True):
            J = [kt.jacobian(model, q, frame=frame, reference="world") for frame in (loop.successor, loop.predecessor)]
            total += (J[0] - J[1]).T @ f
    names = {loop.label for loop in model.loops}
    rows = [n for n, label in enumerate(model.constraint_labels) if label in names]
    assert total == pytest.approx(K[rows].T @ lam[rows], abs=1e-10 * (1 + np.abs(total).max()))
    for f, g, h in zip(world, aligned, local, strict=True):
        assert f[3:] == pytest.approx(g[3:]) and np.linalg.norm(h[3:]) == pytest.approx(np.linalg.norm(g[3:]))
        assert f[:3] @ f[3:] == pytest.approx(g[:3] @ g[3:]) == pytest.approx(h[:3] @ h[3:])  # the screw's product


@pytest.mark.parametrize("closure", ["revolute", "planar"])
def test_the_pin_of_a_hanging_parallelogram_carries_its_share(closure):
    """At rest, cranks down: each pivot above carries a rod and half of the coupler; the pin lifts the rocker."""
    model = kt.models.parallelogram(angle=-np.pi / 2, closure=closure)
    q, _ = model.keyframe("initial")
    f = kt.compile(model, "forward_dynamics", multipliers=True, method="pivoted")
    a, lam = f(q, np.zeros(3), np.zeros(3))
    (wrench,) = kt.closed_loops.wrenches(model, q, lam, reference="local_world_aligned")
    force = wrench[3:5] if closure == "revolute" else wrench[1:]
    assert np.abs(a).max() < 1e-12 and force == pytest.approx([0.0, -0.5 * 9.81], abs=1e-9)
