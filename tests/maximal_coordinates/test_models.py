"""Models in maximal coordinates: accelerations and forces are those of joint coordinates."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ConstraintError, SingularityError
from kinetree.joints import Composite, Joint, Prismatic, Reversed, Revolute, Spherical
from kinetree.spatial import Inertia, Motion, Transform, Vector3
from kinetree.spatial.rotation import IdentityRotation
from kinetree.spatial.scalar import cos, sin
from tests.forces.user_elements import Drag

ALIKE = 1e-9  # relative: condition numbers of these systems are below 1e6


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


def with_elements(model, rng):
    """The model with springs and dampers in joints, a spring between two bodies, and drag on a body."""
    single = {model.joint_name(i) for i in model.outward() if model.joints[i].nv == 1}
    pick = {name: float(rng.uniform(0.1, 2.0)) for name in sorted(single)[::2]}
    ends = rng.permutation(model.nb)[:2]
    spring = kt.forces.PointSpring("band", *(model.body_names[k] for k in ends), 30.0, 0.1, 0.4)
    damped = model.replace(damping=pick, stiffness=pick) if pick else model
    return damped.with_forces(spring, Drag("drag", model.body_names[-1], 0.3, 0.2))


def tree(seed: int, forces: bool = True):
    """A random tree of all kinds of joints with force elements, and a state."""
    model = kt.models.random_tree(4 + seed % 7, seed=900 + seed, floating=seed % 3 == 0)
    rng = np.random.default_rng(seed)
    model = with_elements(model, rng) if forces else model
    q, v, tau = model.random_q(rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    return model, q, v, tau, rng.standard_normal((model.nb, 6))


def loops(seed: int):
    """A random mechanism with loops and force elements, and a closed state."""
    model, q, v = kt.models.random_loops(seed, bodies=4 + seed % 4, loops=1 + seed % 2)
    return with_elements(model, np.random.default_rng(seed)), q, v


def alike(found, expected, scale=1.0):
    """Equal relative to the largest entry, or to the size of the numbers that they are differences of."""
    scale = np.max(np.abs(expected), initial=scale)
    assert np.max(np.abs(np.asarray(found) - expected), initial=0.0) <= ALIKE * scale


def of_bodies(model, q, v, a, **t):
    """Rates of the twists of the bodies, in their coordinates."""
    return kt.kinematics.body_accelerations(model, q, v, a, reference="local", kind="spatial", **t)[1:]


@pytest.mark.seeds(20)
def test_accelerations_of_trees(seed):
    """The KKT system of all bodies and joints, dense and from the leaves to the root, against the recursion."""
    model, q, v, tau, f_ext = tree(seed)
    system = kt.maximal(model)
    state = system.state(q, v)
    q, v = system.reduced_state(*state)  # positions of composite joints are not unique; tau belongs to these
    a = kt.forward_dynamics(model, q, v, tau, f_ext)
    for method in ("sparse", "compiled", "dense"):
        found = system.accelerations(*state, tau, f_ext, method=method)
        alike(found.accelerations, of_bodies(model, q, v, a))
        alike(system.reduced_accelerations(*state, found.accelerations), a)


class Knot(Joint):
    """A slider on a closed curve that comes close to itself many times; samples do not tell which part it is on."""

    kind, nq, nv = "knot", 1, 1

    def transform(self, q):
        return Transform(IdentityRotation(), Vector3(*(sin(w * q[0]) for w in (37.0, 53.0, 71.0))))

    def motion_subspace(self, q):
        return (Motion.of([0.0] * 3 + [w * cos(w * q[0]) for w in (37.0, 53.0, 71.0)]),)


def on_knot():
    b = kt.ModelBuilder()
    b.add_body("bead", joint=Knot(), joint_name="knot", mass=1.0, inertia=np.diag([0.1, 0.1, 0.1]))
    return b.build()


def test_positions_that_the_search_does_not_find_are_named():
    """No call takes another position for that of the poses, of states that it was given or that steps have reached."""
    model = on_knot()
    system, named = kt.maximal(model), r": positions of joint 'knot' \(.*Knot.* are not found from the poses"
    lost = []
    for x in np.linspace(-1.0, 1.0, 15):
        try:
            system.state([x], [0.0])
        except ConstraintError as error:
            lost.append((x, str(error)))
    assert lost
    assert all(re.match("state" + named, text) for _, text in lost)
    poses = np.array([*np.sin(np.array([37.0, 53.0, 71.0]) * lost[0][0]), 1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ConstraintError, match="accelerations" + named):
        system.accelerations(poses, np.zeros(6))
    with pytest.raises(ConstraintError, match="reduced_state" + named):
        system.reduced_state(poses, np.zeros(6))


@pytest.mark.seeds(20)
def test_wrenches_of_joints(seed):
    """Constraint, actuator and springs together are the wrench that inverse dynamics transmits through each joint."""
    model, q, v, tau, f_ext = tree(seed, forces=False)
    model = model.replace(damping=0.4, stiffness=np.linspace(1.0, 2.0, model.nv))
    system = kt.maximal(model)
    state = system.state(q, v)
    q, v = system.reduced_state(*state)
    found = system.accelerations(*state, tau, f_ext).wrenches
    assert system.joint_names == model.joint_names
    assert system.joint_bodies == model.body_names[1:]
    a = kt.forward_dynamics(model, q, v, tau, f_ext)
    alike(found, kt.dynamics.joint_wrenches(model, q, v, a, f_ext, reference="local")[1:])


def is_composite(joint):
    """Also reversed."""
    return isinstance(joint.joint if isinstance(joint, Reversed) else joint, Composite)


@pytest.mark.seeds(20)
def test_states_there_and_back(seed):
    """Joint positions and velocities to poses and twists, and back; poses are those of forward kinematics.

    Composite joints may come back at other positions of the same pose, by a turn and the way of a screw for example.
    """
    model, q, v, *_ = tree(seed, forces=False)
    system = kt.maximal(model)
    poses, twists = system.state(q, v)
    back, rates = system.reduced_state(poses, twists)
    R_m, p_m = kt.forward_kinematics(system.model, poses)
    for positions, velocities in ((q, v), (back, rates)):
        R, p = kt.forward_kinematics(model, positions)
        alike(R_m, R)
        alike(p_m, p)
        V = kt.kinematics.body_velocities(model, positions, velocities, reference="local")[1:]
        alike(twists.reshape(-1, 6), V)
    moved, faster = kt.difference(model, q, back), rates - v
    for i in model.outward():
        if not is_composite(model.joints[i]):
            alike(moved[model.v_slice[i]], 0.0)
            alike(faster[model.v_slice[i]], 0.0)


@pytest.mark.seeds(20)
def test_accelerations_of_loops(seed):
    """Loops are further rows; those that others imply are left out as in joint coordinates, with the same forces."""
    model, q, v = loops(seed)
    tau = np.random.default_rng(seed).standard_normal(model.nv)
    system = kt.maximal(model)
    state = system.state(q, v)
    q, v = system.reduced_state(*state)  # positions of composite joints are not unique; tau belongs to these
    a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True)
    for method in ("sparse", "compiled", "dense"):
        found = system.accelerations(*state, tau, method=method)
        alike(found.accelerations, of_bodies(model, q, v, a))
    names = {loop.name: numbers for loop, numbers in model.constraint_rows()}
    for c, numbers in system.model.constraint_rows():
        if c.name in names:
            alike(found.multipliers[list(numbers)], lam[list(names[c.name])])


@pytest.mark.parametrize("name", ["four_bar", "bennett", "stewart_platform", "delta_robot", "andrews_squeezer"])
def test_mechanisms_of_thin_rods(name):
    """Rods without inertia about their axis, which only their joints keep from turning."""
    model = getattr(kt.models, name)()
    q, _ = model.keyframe("initial")
    v = kt.closed_loops.project_velocity(model, q, np.random.default_rng(0).standard_normal(model.nv))
    system, tau = kt.maximal(model), np.linspace(-1.0, 1.0, model.nv)
    state = system.state(q, v)
    found = system.accelerations(*state, tau)
    alike(system.reduced_accelerations(*state, found.accelerations), kt.forward_dynamics(model, q, v, tau))


def test_forces_in_loop_joints_and_actuators():
    """Springs and dampers of the joint that closes a loop, and actuators of a file."""
    model = kt.models.four_bar()
    [loop] = model.loops
    sprung = dataclasses.replace(loop, stiffness=3.0, damping=0.4, spring_reference=0.2)
    model = model.replace(equipment=dataclasses.replace(model.equipment, loops=(sprung,)))
    q, _ = model.keyframe("initial")
    v = kt.closed_loops.project_velocity(model, q, [1.0, 0.3, 0.2])
    plain = kt.forward_dynamics(kt.models.four_bar(), q, v, np.ones(3))
    expected = kt.forward_dynamics(model, q, v, np.ones(3))
    assert np.abs(expected - plain).max() > 0.01
    system = kt.maximal(model)
    state = system.state(q, v)
    alike(system.reduced_accelerations(*state, system.accelerations(*state, np.ones(3)).accelerations), expected)

    arm = kt.load(ACTUATED)
    q, v, tau, u = [0.3, 0.4], [0.1, -0.2], [0.5, 0.6], [0.7, 0.8]
    system = kt.maximal(arm)
    state = system.state(q, v)
    found = system.accelerations(*state, tau, u=u).accelerations
    alike(system.reduced_accelerations(*state, found), kt.forward_dynamics(arm, q, v, tau, u=u))
    alike(kt.redmax.accelerations(arm, q, v, tau, u=u).values, kt.forward_dynamics(arm, q, v, tau, u=u))


ACTUATED = """
<mujoco model="arm"><worldbody><body name="a">
  <joint name="j1" axis="0 1 0" damping="0.2" armature="0.1"/>
  <geom type="capsule" size=".05" fromto="0 0 0 0 0 -1"/>
  <body name="b" pos="0 0 -1"><joint name="j2" axis="0 1 0" stiffness="2"/>
    <geom type="capsule" size=".05" fromto="0 0 0 .5 0 -1"/></body></body></worldbody>
<actuator><motor name="m1" joint="j1" gear="3"/><position name="p2" joint="j2" kp="5"/></actuator></mujoco>
"""


def test_couplings_and_constraints_of_frames():
    """Rows between coordinates of joints, linear and not, and a rod between two points."""
    arm, c = kt.models.n_pendulum(5), kt.constraints
    joints, bodies = arm.joint_names, arm.body_names
    model = arm.with_constraints(
        c.Coupling(joints[1], joints[0], 0.7, 0.1),
        c.PolynomialCoupling(joints[2], joints[1], (0.05, 0.3, 0.4), name="cam"),
        c.Distance(bodies[5], "world", 2.0, name="rod"),
    )
    q = kt.assemble(model, [0.1, 0.2, 0.3, 0.9, -0.4])
    q = q[0] if isinstance(q, tuple) else q
    v = kt.closed_loops.project_velocity(model, q, [0.5, 0.3, 0.1, -0.2, 0.4])
    system, tau = kt.maximal(model), np.linspace(-1.0, 1.0, 5)
    state = system.state(q, v)
    assert system.row_names[-2:] == ("coupling of joint 'rod2' to 'rod1'", "cam") or len(system.row_names) == system.nc
    found = system.accelerations(*state, tau)
    alike(system.reduced_accelerations(*state, found.accelerations), kt.forward_dynamics(model, q, v, tau))


@pytest.mark.seeds(6)
def test_bodies_without_mass(seed):
    """Joints that share a body, as files have them, are one after the other on bodies without mass."""
    tree = kt.models.random_tree(7, seed=seed, joints=(Revolute((0, 1, 0)), Revolute(), Prismatic()))
    rng, leaves = np.random.default_rng(seed), set(range(1, tree.nb)) - set(tree.parent)
    empty = {i for i in tree.outward() if i not in leaves and rng.random() < 0.7}
    model = tree.replace(I=[Inertia.zero() if i in empty else I for i, I in enumerate(tree.I)], damping=0.4)
    assert empty
    q, v, tau = model.random_q(rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    system = kt.maximal(model)
    state = system.state(q, v)
    a = kt.forward_dynamics(model, q, v, tau)
    for method in ("sparse", "compiled", "dense"):
        found = system.accelerations(*state, tau, method=method)
        alike(found.accelerations, of_bodies(model, q, v, a))
        alike(found.wrenches, kt.dynamics.joint_wrenches(model, q, v, a, reference="local")[1:])


JOINTS_ON_ONE_BODY = """
<mujoco model="hips"><worldbody>
  <body name="pelvis"><freejoint/><geom type="box" size=".2 .1 .1"/>
    <body name="thigh" pos=".1 0 -.1">
      <joint name="x" axis="1 0 0" pos="0 0 .02"/><joint name="y" axis="0 1 0" pos="0 .03 0" damping=".3"/>
      <joint name="z" axis="0 0 1" range="60 300" springref="200" stiffness="3"/>
      <geom type="capsule" size=".05" fromto="0 0 0 0 .1 -.5"/>
      <body name="shank" pos="0 .1 -.5"><joint name="knee" axis="0 1 0" pos="0 0 .05" armature=".01"/>
        <joint name="slide" type="slide" axis="1 0 0"/>
        <geom type="capsule" size=".04" fromto="0 0 0 0 0 -.4"/><site name="foot" pos="0 0 -.4"/></body></body></body>
  </worldbody>
  <tendon><fixed name="both"><joint joint="x" coef="1"/><joint joint="slide" coef="2"/></fixed></tendon>
  <equality><joint joint1="y" joint2="knee" polycoef="0 .5 .2"/><tendon tendon1="both" polycoef=".1"/></equality>
</mujoco>
"""


def test_files_with_joints_on_one_body():
    """Bodies without mass, their frames elsewhere than their coordinates, angles beyond half a turn, equalities."""
    model, rng = kt.load(JOINTS_ON_ONE_BODY), np.random.default_rng(0)
    z = model.q_index("z")
    q = model.random_q(rng)
    q[z] = 4.0
    q = kt.assemble(model, q)
    v = kt.closed_loops.project_velocity(model, q, rng.standard_normal(model.nv))
    system, tau = kt.maximal(model), rng.standard_normal(model.nv)
    state = system.state(q, v)
    alike(kt.difference(model, q, system.reduced_state(*state)[0]), np.zeros(model.nv))
    a = system.reduced_accelerations(*state, system.accelerations(*state, tau).accelerations)
    alike(a, kt.forward_dynamics(model, q, v, tau))


def test_a_body_that_moves_without_mass_is_named():
    """The link between a hinge and a ball joint spins freely."""
    b = kt.ModelBuilder("universal")
    b.add_body("cross", "world", Revolute((1, 0, 0)))
    b.add_body("arm", "cross", Spherical(), mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    system = kt.maximal(b.build())
    with pytest.raises(SingularityError, match=r"maximal: body 'cross' or one that it carries can move without moving"):
        system.accelerations(*system.state([0.1, 1.0, 0.0, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]))
