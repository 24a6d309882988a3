"""Force elements over the registry and a user's own: calculus, compilation, motion, files, surgery, MuJoCo."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree import content
from kinetree.algorithms.force_elements import (
    dissipative_forces,
    element_forces,
    gauss_newton_slopes,
    laws,
)
from kinetree.algorithms.implicit_forces import exact_slopes, implicit_terms
from kinetree.errors import CompilationError, ModelError, ShapeError, UnknownNameError
from kinetree.forces import ForceElement, JointForce, norm
from kinetree.forces.registry import FORCES
from kinetree.io.mjcf.read import load_mjcf
from tests.forces.loaded import ACTUATORS
from tests.forces.user_elements import ActivatedMuscle, Drag, Servo, Thruster


@dataclass(frozen=True)
class Mount(ForceElement):
    """A user's own: energy over a rotation and a point in a frame, dissipation over both velocities."""

    name: str
    start: str
    end: str
    stiffness: float
    turning: float
    damping: float
    at: tuple = (0.1, -0.2, 0.3)
    frame_fields = ("start", "end")
    passive = True

    def energy(self, kin):
        d = kin.point(self.end, self.at) - kin.point(self.start)
        R, Q = kin.rotation(self.start), kin.rotation(self.end)
        trace = sum((R[r, c] * Q[r, c] for r in range(3) for c in range(3)), start=0.0)
        return 0.5 * self.stiffness * d.dot(d) + self.turning * (3.0 - trace)

    def dissipation(self, kin):
        w = kin.angular_velocity(self.end) - kin.angular_velocity(self.start)
        v = kin.velocity(self.end, self.at) - kin.velocity(self.start)
        return 0.5 * self.damping * (w.dot(w) + v.dot(v))


@dataclass(frozen=True)
class Muscle(ForceElement):
    """A user's own: a tension that depends on length and rate without stored energy, over a joint and points."""

    name: str
    joint: str
    start: str
    end: str
    strength: float
    frame_fields = ("start", "end")

    def length(self, kin):
        return norm(kin.point(self.end) - kin.point(self.start)) + 0.3 * kin.coordinate(self.joint)

    def tension(self, length, rate):
        return self.strength * (length * length + 0.2 * rate)


@dataclass(frozen=True)
class LineDamper(ForceElement):
    """A user's own: a damper along the line between two points, whose dissipation depends on positions as well."""

    name: str
    start: str
    end: str
    damping: float
    frame_fields = ("start", "end")
    passive = True

    def dissipation(self, kin):
        d, v = (f(self.end) - f(self.start) for f in (kin.point, kin.velocity))
        return 0.5 * self.damping * d.dot(v) ** 2 / d.dot(d)


LAWS = [cls for cls in FORCES.values() if not issubclass(cls, JointForce) and not cls.commanded]
SLOW = [pytest.param(cls, marks=pytest.mark.sweep) for cls in ACTUATORS[1:]]
KINDS = [*LAWS, ACTUATORS[0], *SLOW, Mount, Muscle, LineDamper, Drag, Thruster, ActivatedMuscle, Servo]
ACTIVE = (Muscle, Thruster, ActivatedMuscle, Servo, kt.forces.PointForce, kt.forces.LoopMotor)
ACTIVE = (*ACTIVE, *ACTUATORS, kt.forces.Muscle, kt.forces.SoftContact)  # may give energy, also that of internal states


JOINTS = (kt.joints.Free(), kt.joints.Spherical(), kt.joints.Revolute((1, 2, 2)), kt.joints.Prismatic((0, 1, 0)))


def machine(cls, seed=0, joints=JOINTS):
    """A free body with a ball joint, a slider and hinges, and one element of the kind."""
    rng, b = np.random.default_rng(seed), kt.ModelBuilder("machine")
    for k, joint in enumerate(joints):
        b.add_body(f"b{k}", f"b{k - 1}" if k else "world", joint, f"j{k}", (rng.normal(size=3), rng.normal(size=3)),
                   mass=1.0, com=0.1 * rng.normal(size=3), inertia=(0.3, 0.4, 0.5))  # fmt: skip
    b.add_frame("tip", f"b{len(joints) - 1}", ((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)))
    model = b.build()
    element = cls.example(model, rng)
    if element.frames == ("world",):  # where nothing moves
        element = element._with({"frame": "tip"})
    return model.replace(forces=[element])


def forces_of(model):
    """The function that gives the joint forces of its element."""
    return kt.dynamics.actuator_joint_forces if model.n_actuators else kt.dynamics.passive_joint_forces


def state(model, seed=0):
    return model.random_state(np.random.default_rng(seed))


def along(model, f, q, h=1e-6):
    """Central differences of f(q) along the manifold, one column for each velocity."""
    ends = ((f(kt.integrate(model, q, h * e)), f(kt.integrate(model, q, -h * e))) for e in np.eye(model.nv))
    return np.stack([(ahead - behind) / (2 * h) for ahead, behind in ends], axis=-1)


@pytest.mark.parametrize("cls", KINDS)
def test_the_force_is_the_gradient_of_the_energy(cls):
    """f(q, 0) = -dE/dq + what no energy explains; the power of that is negative where it is a damper's."""
    model = machine(cls)
    assert model.elements[0].passive == (cls not in ACTIVE)
    for seed in range(3):
        q, v = state(model, seed)
        gradient = along(model, lambda x: kt.dynamics.elastic_energy(model, x), q)
        (rest,) = dissipative_forces(model, q.tolist(), (0 * v).tolist())
        found = forces_of(model)(model, q, 0 * v) - np.array(rest, float)
        np.testing.assert_allclose(found, -gradient, atol=1e-7 * max(1.0, np.abs(gradient).max()))
        (moving,) = dissipative_forces(model, q.tolist(), v.tolist())
        assert cls in ACTIVE or np.dot(np.array(moving, float), v) <= 0.0


@pytest.mark.parametrize("cls", KINDS)
def test_slopes_are_the_derivatives(cls):
    """Exact K and D against differences; Gauss-Newton ones are symmetric, and D is the same."""
    model = machine(cls)
    q, v = state(model, 4)
    f = forces_of(model)
    K, D = (np.array(x, float) for x in exact_slopes(model, q.tolist(), v.tolist()))
    K_gn, D_gn = (np.array(x, float) for x in gauss_newton_slopes(model, q.tolist(), v.tolist()))
    scale = 1e-6 * max(1.0, np.abs(K).max())
    np.testing.assert_allclose(K, -along(model, lambda x: f(model, x, v), q), atol=scale)
    differences = [(f(model, q, v + 1e-6 * e) - f(model, q, v - 1e-6 * e)) / 2e-6 for e in np.eye(model.nv)]
    np.testing.assert_allclose(D, -np.stack(differences, axis=-1), atol=scale)
    D = 0.5 * (D + D.T) if cls is kt.forces.SoftContact else D  # forces at a bound of the friction cone
    D = 0.5 * (D + D.T) if cls is kt.forces.EllipsoidDrag else D  # lifts are no dissipation
    np.testing.assert_allclose(D_gn, D, atol=1e-12 * max(1.0, np.abs(D).max()))
    np.testing.assert_allclose(K_gn, K_gn.T, atol=1e-12 * max(1.0, np.abs(K_gn).max()))
    if any(law.follows for law in laws(model)):  # then slopes of steps are others: tests/muscles/test_muscle.py
        return
    added, ahead = (np.array(x, float) for x in implicit_terms(model, q.tolist(), v.tolist(), 0.1))
    np.testing.assert_allclose(added, 0.1 * D_gn + 0.01 * K_gn, atol=1e-11 * max(1.0, np.abs(K_gn).max()))
    expected = np.array(element_forces(model, q.tolist(), v.tolist()), float) - 0.1 * K_gn @ v
    np.testing.assert_allclose(ahead, expected, atol=1e-11 * max(1.0, np.abs(K_gn).max(), np.abs(expected).max()))


@pytest.mark.parametrize("cls", KINDS)
def test_it_is_compiled_batched_and_differentiated_like_the_built_in_ones(cls):
    """Compiled as interpreted; a batch as its states; d(acceleration)/dq as differences; other numbers at run time."""
    model = machine(cls)
    states = [state(model, seed) for seed in range(5)]
    q, v = (np.stack(x) for x in zip(*states, strict=True))
    tau = np.zeros(model.nv)
    a = kt.forward_dynamics(model, q, v, tau)
    with kt.interpreted():
        slow = [kt.forward_dynamics(model, *one, tau) for one in states]
    np.testing.assert_allclose(a, np.array(slow, float), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kt.inverse_dynamics(model, q, v, a), 0.0, atol=1e-9 * np.abs(a).max())
    found = kt.differentiate(model, "forward_dynamics", wrt="q")(q[0], v[0], tau)
    expected = along(model, lambda x: kt.forward_dynamics(model, x, v[0], tau), q[0])
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
    (element,) = model.elements
    doubled = element.with_numbers([2.0 * x for x in element.numbers().values()])
    numbers = {f"{element.name}.{name}": x for name, x in doubled.numbers().items()}
    forces = forces_of(model)
    other = kt.compile(model, forces.__name__).with_parameters(numbers)(q, v)
    np.testing.assert_allclose(other, forces(model.replace(forces=[doubled]), q, v), rtol=1e-12)


@pytest.mark.parametrize("cls", KINDS)
def test_every_integrator_keeps_the_energy_balance(cls):
    """Simulated by explicit and implicit methods: no energy is left unexplained; a rollout is the simulation.

    Without the free body: derivatives of a step are compiled, which costs far more for all joints.
    """
    model = machine(cls, joints=JOINTS[1:]).replace(gravity=(0.0, 0.0, 0.0))
    q, v = state(model, 1)
    smooth = (("rk4", 1e-4), ("heun" if cls.states or cls.inputs else "implicit_midpoint", 1e-2))
    for integrator, share in smooth:
        run = kt.simulate(model, q, 0.3 * v, duration=0.1, dt=1e-3, integrator=integrator)
        assert np.abs(run.energy_balance.remainder).max() < share * run.energy_balance.scale
    run = kt.simulate(model, q, 0.3 * v, duration=0.02, dt=1e-3, integrator="semi_implicit")
    rolled = kt.rollout(model, q, 0.3 * v, np.zeros((20, model.nv)), 1e-3, integrator="semi_implicit")
    np.testing.assert_allclose(rolled.q[-1], run.q[-1], atol=1e-9)


@pytest.mark.parametrize("cls", KINDS)
def test_it_stays_with_the_model(cls, tmp_path):
    """Pickled, replaced, renamed and cut; formats that cannot hold it say so."""
    model = machine(cls)
    (element,) = model.elements
    assert pickle.loads(pickle.dumps(model)).elements == (element,)
    assert model.replace(damping=0.5).elements == (element,)
    assert kt.ModelBuilder.of(model).build().elements == (element,)
    renamed = kt.surgery.rename(model, prefix="left_")
    (other,) = renamed.elements
    assert set(other.joints) <= set(renamed.joint_names)
    assert all(renamed.frame(frame) for frame in other.frames) and "left_" in other.name
    q, v = state(model)
    forces = forces_of(model)
    np.testing.assert_array_equal(forces(renamed, q, v), forces(model, q, v))
    spring = kt.forces.PointSpring("s", "world", "bob", 1.0)
    for one, name in ((kt.models.pendulum().replace(forces=[spring]), "model.urdf"), (model, "model.xml")):
        with pytest.raises(kt.errors.UnsupportedError, match="force elements"):
            kt.save(one, tmp_path / name)


def test_stiff_springs_do_not_make_the_implicit_step_unstable():
    """Point springs of 1e9 N/m on a chain: semi-implicit Euler at 10 ms never gains energy beyond the start."""
    chain = kt.models.chain_gu(5)
    spring = kt.forces.PointSpring("s", "world", chain.body_names[4], 1e9, 1.0)
    q = chain.random_q(np.random.default_rng(0))
    p = kt.pose(chain, q, frame=chain.body_names[4])[1]
    model = chain.replace(forces=[spring._with({"rest_length": float(np.linalg.norm(p))})])
    step, x, v = kt.compile(model, "semi_implicit_step"), q, np.zeros(model.nv)
    start = kt.potential_energy(model, q)
    for _ in range(200):
        x, v = step(x, v, np.zeros(model.nv), 0.01)
        assert kt.kinetic_energy(model, x, v) + kt.potential_energy(model, x) < start + 0.5


def test_a_point_spring_is_mujocos_tendon():
    """The joint forces of a spatial tendon with stiffness, damping and length between two sites."""
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><compiler angle="radian"/><worldbody><site name="w" pos="0.1 0.2 1"/>
      <body name="a"><joint name="a" axis="0 1 0"/><geom size=".1" pos="0 0 -.4"/>
        <body name="b" pos="0 0 -.8"><joint name="b" axis="1 1 0"/><geom size=".1" pos="0 .1 -.4"/>
          <site name="s" pos="0.05 0.1 -0.6"/></body></body></worldbody>{}</mujoco>"""
    tendon = """<tendon><spatial stiffness="30" damping="2" springlength="0.7"><site site="w"/><site site="s"/>
      </spatial></tendon>"""
    mj = mujoco.MjModel.from_xml_string(text.format(tendon))
    data = mujoco.MjData(mj)
    spring = kt.forces.PointSpring("tendon", "w", "s", 30.0, 0.7, 2.0)
    model = load_mjcf(text.format(""))
    model = model.replace(forces=[spring])
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = rng.normal(size=2), rng.normal(size=2)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(mj, data)
        np.testing.assert_allclose(kt.dynamics.passive_joint_forces(model, q, v), data.qfrc_passive, atol=1e-12)
        assert kt.dynamics.elastic_energy(model, q) == pytest.approx(15.0 * (data.ten_length[0] - 0.7) ** 2, abs=1e-12)


def test_wrong_elements_are_named():
    """Unknown names, wrong numbers, doubled names, no law, undeclared leaves, joints of several coordinates."""
    model = machine(Mount)
    spring = kt.forces.PointSpring("s", "world", "b1", 1.0)
    for forces, error, message in (
        ([spring._with({"end": "hand"})], UnknownNameError, "no frame named 'hand'"),
        ([spring, spring], kt.errors.DuplicateNameError, "two force elements are named 's'"),
        ([spring._with({"stiffness": float("nan")})], kt.errors.NonFiniteError, "force element 's': stiffness is nan"),
        ([spring._with({"stiffness": [1.0]})], ModelError, r"'s': stiffness is \[1.0\], expected a number, text"),
        ([spring._with({"name": "j2"})], kt.errors.DuplicateNameError, "number 'j2.damping' of a force element, "),
        ([kt.forces.PointSpring], ModelError, "is no force element: expected an instance"),
        ([3], ModelError, "3 is no force element"),
    ):
        with pytest.raises(error, match=message):
            model.replace(forces=forces)

    class Empty(ForceElement):
        name = "empty"

    with pytest.raises(ModelError, match="Empty is not a dataclass with a field 'name'"):
        model.replace(forces=[Empty()])
    q, v = state(model)
    lawless = dataclass(frozen=True)(type("Lawless", (ForceElement,), {"__annotations__": {"name": str}}))
    with pytest.raises(ModelError, match="'x' of class Lawless states no law: define energy"):
        kt.dynamics.passive_joint_forces(model.replace(forces=[lawless("x")]), q, v)
    with pytest.raises(ShapeError, match="coordinate of joint 'j1', which has 4 positions and 3 velocities"):
        kt.dynamics.passive_joint_forces(model.replace(forces=[Muscle("m", "j1", "world", "b1", 1.0)]), q, v)


@dataclass(frozen=True)
class OnJoint(ForceElement):
    name: str
    joint: str


def test_laws_that_cannot_be_recorded_are_named():
    """Functions of NumPy, text, and branches on values: the error has the element and what to take instead."""
    model = kt.models.pendulum()
    for law, error, message in (
        (np.tanh, ModelError, r"force element 'law' of class Untraceable: its law cannot be .*kinetree.spatial.scalar"),
        (lambda x: "1 J", ModelError, "its law cannot be recorded: could not convert string to float: '1 J'"),
        (lambda x: x if x > 0 else 0.0, CompilationError, "element 'law' of class Untraceable: a truth value .* where"),
    ):
        cls = type("Untraceable", (OnJoint,), {"energy": lambda self, kin, law=law: law(kin.coordinate(self.joint))})
        with pytest.raises(error, match=message):
            kt.dynamics.elastic_energy(model.with_forces(cls("law", "pivot")), [0.3])


def test_a_law_may_ask_for_what_it_declares_alone():
    """A frame that no field names is refused: surgery could not rename it."""

    @dataclass(frozen=True)
    class Hidden(ForceElement):
        name: str

        def energy(self, kin):
            p = kin.point("b1")
            return p.dot(p)

    model = machine(Mount).replace(forces=[Hidden("hidden")])
    with pytest.raises(ModelError, match="'hidden' uses the point of 'b1', which is none of the joints and frames"):
        kt.dynamics.elastic_energy(model, model.neutral())


def test_points_that_coincide_exert_nothing():
    """A line between coinciding points has no direction: the force is zero, and so are its slopes."""
    b = kt.ModelBuilder.of(machine(Mount).replace(forces=[]))
    b.add_frame("pin", "b2")
    model = b.build().with_forces(kt.forces.PointSpring("s", "b2", "pin", 3.0, 0.5, 1.0))
    q, v = state(model)
    assert not np.any(kt.dynamics.passive_joint_forces(model, q, v))
    K, D = exact_slopes(model, q.tolist(), v.tolist())
    assert not np.any(np.array(K, float)) and not np.any(np.array(D, float))


def test_programs_of_built_in_elements_are_kept_and_those_of_a_users_own_are_not():
    """A user's code may change unseen between processes."""
    assert all(content.key(cls) is not None for cls in FORCES.values() if content.is_ours(cls.__module__))
    assert content.key(Mount) is None and content.key(machine(kt.forces.PointSpring).laws[0]) is not None


def test_an_energy_is_one_of_positions():
    """A velocity in it is refused, for forces as for the energy itself."""

    @dataclass(frozen=True)
    class Moving(ForceElement):
        name: str
        frame: str

        def energy(self, kin):
            return kin.velocity(self.frame).x

    model = machine(Mount).replace(forces=[Moving("moving", "b1")])
    q, v = state(model)
    for call in (lambda: kt.dynamics.elastic_energy(model, q), lambda: kt.dynamics.passive_joint_forces(model, q, v)):
        with pytest.raises(ModelError, match=r"'moving': energy\(kin\) uses the velocity of 'b1', expected positions"):
            call()


def test_a_length_is_one_of_positions():
    """Its rate reaches the law as an argument of the tension, so a velocity in the length itself is refused."""

    @dataclass(frozen=True)
    class Moving(ForceElement):
        name: str
        frame: str

        def length(self, kin):
            return kin.point(self.frame).x + kin.velocity(self.frame).x

        def stored(self, length):
            return length * length

    model = machine(Mount).replace(forces=[Moving("moving", "b1")])
    with pytest.raises(ModelError, match=r"length\(kin\) uses the velocity of 'b1', .* in tension\(length, rate\)"):
        kt.dynamics.passive_joint_forces(model, *state(model))


def test_a_dissipation_acts_along_velocities_alone():
    """Where it depends on positions, too, the force is minus its gradient over velocities: that of a damper."""
    model = machine(Mount)
    q, v = state(model, 2)
    forces = (LineDamper("damper", "b0", "b3", 3.0), kt.forces.PointSpring("damper", "b0", "b3", 0.0, 0.0, 3.0))
    mine, theirs = (kt.dynamics.passive_joint_forces(model.replace(forces=[force]), q, v) for force in forces)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_laws_follow_joints_that_depend_on_time():
    """A load on a hoist and a cable to the ground: the time is an argument of all that needs the law."""
    b, lift = kt.ModelBuilder("hoist"), kt.joints.MovingFrame((0.0, 0.0, kt.joints.Polynomial((0.0, 0.5))))
    b.add_body("load", "world", lift, "hoist", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.add_body("bob", "load", kt.joints.Revolute((0, 1, 0)), "pivot", mass=2.0, com=(0.0, 0.0, -1.0), inertia=(1, 1, 1))
    b.add_frame("tip", "bob", ((0.0, 0.0, -1.0), (0.0, 0.0, 0.0)))
    b.add_force(kt.forces.PointSpring("cable", "world", "tip", 30.0, 0.2, 0.5))
    model = b.build()
    height = np.hypot(np.sin(0.3), 1.0 - np.cos(0.3))  # of the tip over the ground at t = 2 s, and beside the hoist
    assert kt.dynamics.elastic_energy(model, [0.3], 2.0) == pytest.approx(15.0 * (height - 0.2) ** 2)
    passive = kt.dynamics.passive_joint_forces(model, [0.3], [0.1], t=2.0)
    bare = model.replace(forces=[])
    a = kt.forward_dynamics(model, [0.3], [0.1], [0.0], 2.0)
    np.testing.assert_allclose(a, kt.forward_dynamics(bare, [0.3], [0.1], passive, 2.0), rtol=1e-12)
    run, other = (kt.simulate(model, [0.3], duration=0.5, integrator=name) for name in ("rk4", "adaptive"))
    np.testing.assert_allclose(run.q, other.q, atol=1e-8)
    np.testing.assert_allclose(run.elastic_energy, run.energy_balance.energies["force cable"], rtol=1e-12)
    expected = kt.dynamics.elastic_energy(model, run.q[-1], run.time[-1])
    assert run.elastic_energy[-1] == pytest.approx(expected, rel=1e-12)


@dataclass(frozen=True)
class Heights(ForceElement):
    """A damped sum of the heights of two points, which changes when the whole mechanism moves."""

    name: str
    start: str
    end: str

    frame_fields = ("start", "end")

    def length(self, kin):
        return kin.point(self.start).z + 0.5 * kin.point(self.end).z

    def tension(self, length, rate):
        return 2.0 * rate + 3.0 * length


def test_gauss_newton_rows_of_lengths_that_are_not_relative():
    """Joints below both frames move lengths that are not distances: D is exact there, too, and of distances, zero."""
    model = kt.models.chain_gu(4)
    q, v = state(model, 1)
    for element, moves in (
        (Heights("h", "body3", "body4"), True),
        (FORCES["point_spring"]("s", "body3", "body4", 2.0, 0.1), False),
    ):
        D = np.array(gauss_newton_slopes(model.with_forces(element), q.tolist(), v.tolist())[1 if moves else 0], float)
        assert (np.abs(D[:3]).max() > 1e-3) == moves
        if moves:
            exact = np.array(exact_slopes(model.with_forces(element), q.tolist(), v.tolist())[1], float)
            np.testing.assert_allclose(D, exact, atol=1e-12)


def test_the_energy_balance_has_the_power_of_elements_on_joints_that_move_by_themselves():
    """Springs, bushings and drag between a hoist, its load and the ground: what the hoist supplies is explained."""
    b, lift = kt.ModelBuilder("hoist"), kt.joints.MovingFrame((0.1, 0.0, kt.joints.Polynomial((0.0, 0.5, 0.6))))
    b.add_body("load", "world", lift, "hoist", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.add_body("bob", "load", kt.joints.Revolute((0, 1, 0)), "pivot", mass=2.0, com=(0.0, 0.0, -1.0), inertia=(1, 1, 1))
    b.add_force(kt.forces.PointSpring("cable", "world", "bob", 30.0, 0.2, 5.0, end_at=(0.0, 0.0, -1.0)))
    b.add_force(kt.forces.Bushing("rubber", "load", "bob", 10.0, 5.0, 1.0, 0.7))
    b.add_force(kt.forces.Drag("air", "load", 0.5, 0.3))
    model = b.build()
    run = kt.simulate(model, [0.4], duration=0.5, dt=2e-3)
    balance = run.energy_balance
    assert np.abs(balance.remainder).max() < 1e-8 * balance.scale
    z_dot = 0.5 + 1.2 * run.time
    np.testing.assert_allclose(balance.powers["force air"], -(0.5 + 0.3 * z_dot) * z_dot**2, rtol=1e-12)
    found = kt.dynamics.forces_by_element(model, run.q, run.v, t=run.time)
    for k, name in enumerate(model.element_names):
        np.testing.assert_allclose(found.power[:, k], balance.powers[f"force {name}"], atol=1e-12)
