"""Base joints: the same robot, fixed, floating or in the plane; and with another body as its base."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError, TopologyError, UnknownNameError
from kinetree.joints import Fixed, Free, Planar, Prismatic, Revolute, Spherical
from kinetree.model import Geometry, ModelBuilder
from kinetree.surgery import StateMap, add_payload, lock, reroot, with_base
from kinetree.surgery.bases import reversed_joint
from tests.engines.robots import ROBOTS, robot_path
from tests.identities.systems import close
from tests.surgery.systems import all_mass, dressed, fingerprint, frames_at, same_dynamics, same_places, state

SEEDS = range(12)
FIXED = (4, 7, 10)  # seeds of trees that stand on the world
FLOATING = (3, 6, 9)  # of trees whose first body floats and carries all


# Base joints -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", [*kt.data.robots(), "panda", "ur5", "talos_reduced"])
def test_a_floating_base_is_what_loading_gives(robot):
    """with_base(load(f), "floating") has the M, the forces, the names and the places of load(f, floating_base=True)."""
    path = robot_path(robot) if robot in ROBOTS else kt.data.path(robot)
    made = with_base(kt.load(path, inertia="accept"), "floating")
    loaded = kt.load(path, floating_base=True, inertia="accept")
    assert made.body_names == loaded.body_names and made.joint_names == loaded.joint_names
    assert dict(made.welded) == dict(loaded.welded)
    q = loaded.random_q(np.random.default_rng(0))
    same_dynamics(made, q, loaded, q)
    same_places(loaded, q, made, q)


@pytest.mark.parametrize("robot", ["panda", "ur5", "talos_reduced"])
def test_fixing_a_floating_base_is_what_loading_gives(robot):
    """with_base(load(f, floating_base=True), "fixed") is load(f)."""
    loaded = kt.load(robot_path(robot), inertia="accept")
    made = with_base(kt.load(robot_path(robot), floating_base=True, inertia="accept"), "fixed")
    assert made.body_names == loaded.body_names
    q = loaded.random_q(np.random.default_rng(0))
    same_dynamics(made, q, loaded, q)
    same_places(loaded, q, made, q)
    close(all_mass(made), all_mass(loaded))


@pytest.mark.parametrize("seed", FIXED)
@pytest.mark.parametrize("joint", ["floating", "planar", Spherical()])
def test_a_freed_base_that_is_locked_is_a_fixed_one(seed, joint):
    """lock(with_base(m, j), root) has the dynamics and the places of m."""
    model = dressed(seed)
    q, *_ = state(model, seed)
    freed = with_base(model, joint)
    assert freed.nv == model.nv + freed.joints[1].nv
    again = lock(freed, "root_joint")
    same_dynamics(model, q, again, StateMap(model, again).q(q))
    same_places(model, q, again, StateMap(model, again).q(q))


@pytest.mark.parametrize("seed", FIXED)
def test_a_freed_base_at_rest_moves_like_a_fixed_one(seed):
    """At mapped states kinetic energy and places are equal, and joint forces have the same power."""
    model = dressed(seed)
    q, v, *_ = state(model, seed)
    freed = with_base(model, "floating", base="socket")
    states = StateMap(model, freed)
    close(kt.kinetic_energy(freed, states.q(q), states.v(q, v)), kt.kinetic_energy(model, q, v))
    same_places(model, q, freed, states.q(q))


@pytest.mark.parametrize("seed", FLOATING)
def test_one_base_joint_for_another(seed):
    """A floating base on a planar joint is the floating base that moves in the plane."""
    model = kt.models.random_tree(6, seed=seed, floating=True, armature=False)
    planar = with_base(model, "planar", name="cart")
    assert planar.joints[1] == Planar() and planar.joint_names[0] == "cart" and planar.nv == model.nv - 3
    q, v, *_ = state(planar, seed)
    states = StateMap(planar, model)
    close(kt.kinetic_energy(model, states.q(q), states.v(q, v)), kt.kinetic_energy(planar, q, v))
    same_places(planar, q, model, states.q(q))


def test_a_base_is_put_on_a_table():
    """placement moves everything that is welded to the world, and all that stands on it."""
    arm = kt.load("arm7")
    table = with_base(arm, "fixed", placement=((0.5, 0.0, 0.8), (0.0, 0.0, 0.0)))
    q = arm.random_q(np.random.default_rng(0))
    here, there = frames_at(arm, q), frames_at(table, q)
    for name in here:
        close(there[name][:3, 3], here[name][:3, 3] + (0.0 if name == "world" else np.array([0.5, 0.0, 0.8])))
    same_dynamics(arm, q, table, q)  # moved, not turned: gravity is as before


def test_a_robot_without_a_mount_can_be_moved():
    """Nothing is welded to the world of a double pendulum; placed elsewhere, it hangs there."""
    moved = with_base(kt.models.double_pendulum(), "fixed", placement=((1.0, 0.0, 2.0), (0.0, 0.0, 0.0)))
    assert kt.pose(moved, [0.0, 0.0], frame="lower").p_WF.tolist() == [1.0, 0.0, 1.0]


def test_floors_and_loose_bodies_stay_on_the_world():
    """An endless plane and a body that floats by itself are no part of the base."""
    b = ModelBuilder.of(kt.load("arm7"))
    b.add_geometry("world", Geometry("plane", name="floor"))
    b.add_body("ball", joint=Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    scene = with_base(b.build(), "floating", base="base")
    assert [shape.name for shape in scene.geometry[0]] == ["floor"]
    assert scene.parent[scene.body("ball")] == 0 and scene.joints[scene.body("base")] == Free()


def test_what_became_the_base_is_reported():
    """Mass and name of what was welded to the world; a massless base is a warning."""
    assert "body 'base' now, with 4 kg" in str(with_base(kt.load("arm7"), "floating").report)
    b = ModelBuilder.of(kt.models.double_pendulum())
    b.add_body("mount")
    hung = with_base(b.build(), "floating")
    assert "body 'mount' has no mass" in str(hung.report.at_level("warning")[-1])


def test_any_frame_of_the_world_can_become_the_base():
    """base= a frame: the body has its coordinates and its name."""
    model = dressed(1)
    freed = with_base(model, "floating", base="socket")
    q, v, *_ = state(model, 1)
    states = StateMap(model, freed)
    assert freed.body_names[1] == "socket" and freed.frames[1].is_identity
    same_places(model, q, freed, states.q(q))
    close(kt.kinetic_energy(freed, states.q(q), states.v(q, v)), kt.kinetic_energy(model, q, v))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda m: with_base(m, "flying"), UnknownNameError, "Known: fixed, floating, planar"),
        (lambda m: with_base(m, "floating"), ModelError, "base='upper' frees that body, whose joint 'shoulder'"),
        (lambda m: with_base(m, "floating", base="lower"), TopologyError, "hangs on 'upper', not on the world"),
        (lambda m: with_base(m, "floating", base="uper"), UnknownNameError, "Did you mean 'upper'"),
        (lambda m: reroot(m, "lover"), UnknownNameError, "Did you mean 'lower'"),
        (lambda m: reroot(m, "world"), ModelError, "the world is no part of a robot"),
        (lambda m: reroot(m, "lower"), ModelError, "nothing is welded to its world"),
    ],
)
def test_wrong_bases_are_named(make, error, text):
    """Unknown joints and bodies, and models with nothing that could be a base."""
    with pytest.raises(error, match=text):
        make(kt.models.double_pendulum())


def test_an_ambiguous_base_is_refused():
    """Two bodies on the world, one of which floats: the caller says which is meant."""
    b = ModelBuilder.of(kt.load("quadruped", floating_base=True))
    b.add_body("ball", joint=Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    with pytest.raises(TopologyError, match="its base is not clear; give base='trunk'"):
        with_base(b.build(), "fixed")
    fixed = with_base(b.build(), "fixed", base="trunk")
    assert fixed.frame("trunk").body == 0 and fixed.joints[fixed.body("ball")] == Free()


def test_a_named_root_is_freed_with_its_joint_replaced():
    """base= a body on the world: its own joint goes."""
    freed = with_base(kt.models.double_pendulum(), "floating", base="upper")
    assert freed.joint_names == ("root_joint", "elbow")


# Roots -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", [j for _, j in kt.joints.examples(np.random.default_rng(0))], ids=repr)
def test_a_reversed_joint_is_the_inverse_with_the_same_coordinates(joint):
    """X' X = 1 and v_J' = -X^-1 v_J at the same q and v; twice reversed is the same mechanism again."""
    rng = np.random.default_rng(1)
    q, v = joint.random(rng), rng.standard_normal(joint.nv).tolist()
    turned = reversed_joint(joint)
    close((turned.transform(q) @ joint.transform(q)).matrix(), np.eye(6))
    close(list(turned.velocity(q, v)), list(-joint.transform(q).inverse_apply(joint.velocity(q, v))))
    close((reversed_joint(turned).transform(q) @ joint.transform(q).inverse()).matrix(), np.eye(6))


def test_joints_along_an_axis_stay_what_they_are():
    """The cheap reversal: a hinge is a hinge about the opposite axis."""
    assert reversed_joint(Revolute((0, 0, 1))) == Revolute((0, 0, -1))
    assert reversed_joint(Prismatic((0, 1, 0))) == Prismatic((0, -1, 0))
    assert reversed_joint(Fixed()) == Fixed()


def rerooted(seed: int):
    """A tree, the same with another root that floats, and the map of their states."""
    model = dressed(seed)
    body = model.body_names[-1 - seed % 3]
    first = model.support(model.body(body))[0]
    new = reroot(model, body) if isinstance(model.joints[first], Free) else reroot(model, body, joint=Free())
    return model, new, body, StateMap(model, new)


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_is_where_it_was(seed):
    """At mapped states all frames and shapes are at the same places, and nothing is lost."""
    model, new, body, states = rerooted(seed)
    q, *_ = state(model, seed)
    same_places(model, q, new, states.q(q))
    assert new.parent[new.body(body)] == 0
    assert {frame.name for frame in model.frames} <= {frame.name for frame in new.frames}
    close(all_mass(new), all_mass(model))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mass_matrix_is_congruent(seed):
    """v' = G v and M = G^T M' G: the kinetic energy is the same function of the motion."""
    model, new, _, states = rerooted(seed)
    q, v, *_ = state(model, seed)
    G = states.velocity_matrix(q)
    close(states.v(q, v), G @ v)
    close(G.T @ kt.crba(new, states.q(q)) @ G, kt.crba(model, q) - np.diag(model.armature - _shared(model, new)))
    close(kt.kinetic_energy(new, states.q(q), states.v(q, v)), 0.5 * v @ G.T @ kt.crba(new, states.q(q)) @ G @ v)


def _shared(model, new):
    """Armatures of the joints that both have, in the order of the first: a replaced root joint loses its own."""
    kept = np.zeros(model.nv)
    for i in model.outward():
        name, root = model.joint_name(i), isinstance(model.joints[i], Free) and model.parent[i] == 0
        if name in new.joint_names and not (root and model.body_names[i] != new.body_names[new.joint(name)]):
            kept[model.v_index(name)] = new.armature[new.v_index(name)]
    return kept


@pytest.mark.parametrize("seed", SEEDS)
def test_keyframes_show_the_same_state(seed):
    """The state of a keyframe, mapped, is the keyframe of the rerooted model: the same places and energy."""
    model, new, _, _ = rerooted(seed)
    (q, v), (q_new, v_new) = model.keyframe("home"), new.keyframe("home")
    same_places(model, q, new, q_new)
    model, new = model.replace(armature=0.0), new.replace(armature=0.0)
    close(kt.kinetic_energy(new, q_new, v_new), kt.kinetic_energy(model, q, v))


@pytest.mark.parametrize("seed", SEEDS)
def test_potential_energy_differs_by_a_constant(seed):
    """Between two positions the work of gravity is the same; the constant is that of what stood on the world."""
    model, new, _, states = rerooted(seed)
    q0, q1 = state(model, seed)[0], state(model, seed + 50)[0]
    work = kt.potential_energy(model, q1) - kt.potential_energy(model, q0)
    close(kt.potential_energy(new, states.q(q1)) - kt.potential_energy(new, states.q(q0)), work, scale=100.0)


@pytest.mark.parametrize("seed", FLOATING)
def test_the_same_forces_cause_the_same_motion(seed):
    """Forward dynamics of both, with mapped states and forces: all frames have the same accelerations."""
    model, new, _, states = rerooted(seed)
    model, new = model.replace(armature=0.0), new.replace(armature=0.0)
    states = StateMap(model, new)
    q, v, _, tau = state(model, seed)
    here = kt.aba(model, q, v, tau)
    there = kt.aba(new, states.q(q), states.v(q, v), states.tau(q, tau))
    how = {"reference": "local_world_aligned", "kind": "classical"}
    for frame in ("body1_mark", model.body_names[-1]):
        close(
            kt.acceleration(new, states.q(q), states.v(q, v), there, frame=frame, **how),
            kt.acceleration(model, q, v, here, frame=frame, **how),
            scale=100.0,
            ulps=1e6,  # M of the trees has condition numbers up to 1e4
        )


@pytest.mark.parametrize("seed", FLOATING)
def test_joint_data_goes_with_the_joints(seed):
    """Springs, damping and limits act on the same coordinates: passive forces and couplings are equal by name."""
    model = dressed(seed)
    rng = np.random.default_rng(seed)
    data = {j: rng.uniform(0.1, 1.0, model.joints[i].nv) for i, j in enumerate(model.joint_names, start=1) if i > 1}
    model = model.replace(damping=data, stiffness=data, dry_friction=data)
    new = reroot(model, model.body_names[-1])
    states = StateMap(model, new)
    q, v, *_ = state(model, seed)
    here = kt.dynamics.passive_joint_forces(model, q, v)
    there = kt.dynamics.passive_joint_forces(new, states.q(q), states.v(q, v))
    for name in model.joint_names[1:]:
        close(there[new.v_index(name)], here[model.v_index(name)])
    pairs = [{(c.joint, c.master, c.ratio) for c in m.couplings} for m in (model, new)]
    assert pairs[0] == pairs[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_there_and_back_is_the_same_model(seed):
    """Rerooted at the old base again, the states map back and the mass matrix is the old one."""
    model, new, _, states = rerooted(seed)
    q, v, *_ = state(model, seed)
    first = model.support(model.body(model.body_names[-1 - seed % 3]))[0]
    if isinstance(model.joints[first], Free):
        back = reroot(new, model.body_names[first])
    else:
        [base] = [name for name in new.body_names if name not in model.body_names]
        back = with_base(reroot(new, base), "fixed", base=base)
    round_trip = StateMap(new, back)
    q_back, v_back = round_trip.q(states.q(q)), round_trip.v(states.q(q), states.v(q, v))
    final = StateMap(back, model)
    close(final.v(q_back, v_back), v, ulps=1e5)
    same_places(model, q, model, final.q(q_back))
    G = StateMap(model, back).velocity_matrix(q)
    armature = np.diag(model.armature - _shared(model, back))
    close(G.T @ kt.crba(back, q_back) @ G, kt.crba(model, q) - armature, ulps=1e5)


@pytest.mark.parametrize("seed", FIXED)
def test_a_robot_held_by_its_hand(seed):
    """Rerooted with a fixed joint: the hand stands where it was at neutral, everything else is relative to it."""
    model = dressed(seed)
    body = model.body_names[-1]
    held = reroot(model, body)
    q, *_ = state(model, seed)
    assert held.frame(body).body == 0
    here, there = frames_at(model, q), frames_at(held, StateMap(model, held).q(q))
    for name in here:
        if name != "world":
            relative = [np.linalg.inv(places[body]) @ places[name] for places in (here, there)]
            close(relative[1], relative[0], ulps=1e5)
    close(frames_at(held, held.neutral())[body], frames_at(model, model.neutral())[body], ulps=1e5)


def test_a_humanoid_on_one_foot():
    """Talos at its left foot: same places, congruent M, joint forces of the legs unchanged when nothing pushes."""
    model = kt.load(robot_path("talos_reduced"), floating_base=True)
    foot = model.body_names[model.frame("left_sole_link").body]
    new = reroot(model, foot)
    states = StateMap(model, new)
    q, v, a, tau = state(model, 0)
    same_places(model, q, new, states.q(q))
    G = states.velocity_matrix(q)
    close(G.T @ kt.crba(new, states.q(q)) @ G, kt.crba(model, q), ulps=1e5)
    tau[:6] = 0.0  # nothing holds the floating base
    mapped = states.tau(q, tau)
    close(mapped @ states.v(q, v), tau @ v, ulps=1e6)
    close(mapped[new.v_index("root_joint")], np.zeros(6), scale=np.abs(tau).max(), ulps=1e6)
    joint = "arm_left_1_joint"
    close(mapped[new.v_index(joint)], tau[model.v_index(joint)], scale=np.abs(tau).max(), ulps=1e6)


def test_states_map_in_batches():
    """Leading axes are states."""
    model, new, _, states = rerooted(3)
    many = [state(model, seed) for seed in range(4)]
    q, v, _, tau = (np.array(part) for part in zip(*many, strict=True))
    close(states.q(q), [states.q(x) for x in q])
    close(states.v(q, v), [states.v(x, y) for x, y in zip(q, v, strict=True)])
    close(states.tau(q, tau), [states.tau(x, y) for x, y in zip(q, tau, strict=True)], ulps=1e6)


def test_a_state_map_asks_for_what_it_cannot_know():
    """A joint that only the target has needs a position in rest=."""
    model = kt.models.double_pendulum()
    locked = lock(model, {"elbow": 0.3})
    with pytest.raises(ModelError, match=r"no joint 'elbow'.*give rest=\{'elbow': ...\}"):
        StateMap(locked, model)
    states = StateMap(locked, model, rest={"elbow": 0.3})
    assert states.q([0.7]).tolist() == [0.7, 0.3] and states.v([0.7], [2.0]).tolist() == [2.0, 0.0]
    assert states.tau([0.7], [5.0]).tolist() == [5.0, 0.0]


def test_the_models_are_not_touched():
    """Input models are what they were."""
    model = dressed(3)
    before = fingerprint(model)
    reroot(model, model.body_names[-1])
    with_base(model, "planar")
    assert fingerprint(model) == before


def test_the_root_rerooted_is_the_same_robot():
    """Nothing to turn: the model itself; with another joint, that of with_base."""
    model = kt.load("quadruped", floating_base=True)
    assert reroot(model, "trunk") is model
    fixed, other = reroot(model, "trunk", joint=Fixed()), with_base(model, "fixed")
    q = fixed.random_q(np.random.default_rng(0))
    same_dynamics(fixed, q, other, q)


def test_a_payload_on_the_world_is_a_base():
    """A pendulum whose mount has mass can be held by its last rod."""
    model = add_payload(kt.models.double_pendulum(), "world", 2.0, inertia=(0.1, 0.1, 0.1))
    held = reroot(model, "lower")
    assert held.joint_names == ("elbow", "shoulder") and held.body_names[-1] == "base"
