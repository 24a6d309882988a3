"""Graphs, trees and numberings of random mechanisms, models built from them, and the same mechanism on every tree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DuplicateNameError, ModelError, TopologyError, UnknownNameError
from kinetree.joints import Cylindrical, Free, Helical, Planar, Prismatic, Reversed, Revolute, Spherical, Universal
from kinetree.joints import examples as joint_examples
from kinetree.model import Actuator, Equipment, Keyframe
from kinetree.model.graph import MechanismGraph, violations
from kinetree.state_kinematics import world_transforms
from kinetree.surgery import StateMap, retree
from kinetree.surgery.states import joint_coordinates


def random_graph(seed, n=7, extra=3):
    """A connected multigraph of n bodies on the world, in random order and polarity."""
    rng = np.random.default_rng(seed)
    pairs = [(f"b{rng.integers(0, i)}", f"b{i}") for i in range(1, n + 1)]
    while len(pairs) < n + extra:
        i, j = rng.integers(0, n + 1, 2)
        if i != j:
            pairs.append((f"b{i}", f"b{j}"))
    arcs = [(f"j{k}", *(pair if rng.random() < 0.5 else pair[::-1])) for k, pair in enumerate(pairs)]
    return MechanismGraph([arcs[k] for k in rng.permutation(len(arcs))], base="b0")


@pytest.mark.seeds(6)
def test_every_tree_is_found_once(seed):
    """The enumeration gives as many different trees as Kirchhoff's theorem counts."""
    graph = random_graph(seed)
    trees = list(graph.spanning_trees())
    assert len(trees) == len(set(trees)) == graph.count_spanning_trees()


@pytest.mark.seeds(6)
def test_trees_with_wishes_are_those_that_fulfil_them(seed):
    """Chords and kept joints select exactly the trees that have them so; their number is counted too."""
    graph = random_graph(seed)
    some = list(graph.spanning_trees())[seed * 7 % graph.count_spanning_trees()]
    wishes = {"chords": some.chords[:1], "keep": some.joints[:2]}
    found = set(graph.spanning_trees(**wishes))
    assert found == {
        tree for tree in graph.spanning_trees()
        if set(wishes["chords"]) <= set(tree.chords) and set(wishes["keep"]) <= set(tree.joints)
    }  # fmt: skip
    assert len(found) == graph.count_spanning_trees(**wishes)
    assert graph.spanning_tree(**wishes) in found


@pytest.mark.seeds(4)
def test_hook_lengths_count_the_numberings(seed):
    """N_B! over the product of all subtree sizes is the number of regular numberings; each one is found once."""
    graph = random_graph(seed, n=6, extra=2)
    for tree in itertools.islice(graph.spanning_trees(), 5):
        found = list(tree.numberings())
        assert len(found) == len(set(found)) == tree.count_numberings()
        assert tree.numbering() in found


@pytest.mark.seeds(6)
def test_breadth_first_gives_every_body_its_least_depth(seed):
    """No spanning tree has a body nearer to the base than the breadth-first one."""
    graph = random_graph(seed)
    tree, distance = graph.spanning_tree(), graph.distances()
    for body in graph.bodies:
        assert tree.depth(body) == distance[body] == min(other.depth(body) for other in graph.spanning_trees())


@pytest.mark.seeds(6)
def test_loops_are_closed_walks_and_as_many_as_the_chords(seed):
    """N_L = N_J - N_B for every tree; a loop has one chord, and walking round it ends where it began."""
    graph = random_graph(seed)
    for tree in itertools.islice(graph.spanning_trees(), 20):
        assert len(tree.loops) == len(tree.chords) == graph.nj - (graph.nb - 1)
        for loop in tree.loops:
            assert [joint for joint in loop.joints if joint in tree.chords] == [loop.chord]
            for k, (joint, sign) in enumerate(zip(loop.joints, loop.signs, strict=True)):
                ends = graph.joint(joint)[1:][::sign]
                assert ends == (loop.bodies[k], loop.bodies[(k + 1) % len(loop.bodies)])


@pytest.mark.seeds(6)
def test_clusters_do_not_depend_on_the_tree(seed):
    """The joints of the clusters are the two-connected parts of the graph, whatever tree defines the loops."""
    graph = random_graph(seed, n=9, extra=3)

    def parts(tree):
        return {frozenset(joint for loop in cluster for joint in loop.joints) for cluster in tree.clusters}

    first = parts(graph.spanning_tree())
    assert all(parts(tree) == first for tree in itertools.islice(graph.spanning_trees(), 30))


def test_the_first_trees_of_a_large_grid_come_at_once():
    """More than 10^50 trees: the enumeration is lazy, the count exact and the tree of least depth found directly."""
    n = 12
    arcs = [(f"h{i},{j}", f"{i},{j}", f"{i + 1},{j}") for i in range(n - 1) for j in range(n)]
    arcs += [(f"v{i},{j}", f"{i},{j}", f"{i},{j + 1}") for i in range(n) for j in range(n - 1)]
    graph = MechanismGraph(arcs, base="0,0")
    assert len(set(itertools.islice(graph.spanning_trees(), 10))) == 10
    assert graph.count_spanning_trees() > 10**50
    assert graph.spanning_tree().height == 2 * (n - 1)
    assert graph.spanning_tree(order="depth_first").height > 2 * (n - 1)


def test_renumbering_permutes_bodies_joints_and_chords():
    """A renumbered tree is the same tree: every joint connects the same bodies by name."""
    numbering = random_graph(2).spanning_tree().numbering()
    for other in itertools.islice(random_graph(2).spanning_tree().numberings(), 10):
        assert numbering.renumbered(other.bodies[1:]) == other
    with pytest.raises(TopologyError, match="smaller number"):
        numbering.renumbered(numbering.bodies[:0:-1])


@pytest.mark.seeds(5)
def test_the_graph_of_a_tree_model_is_its_tree(seed):
    """A model without loops has one spanning tree, with the model's parent array, whatever its joints."""
    model = kt.models.random_tree(20, seed)
    tree = MechanismGraph.of(model).spanning_tree()
    assert tree.numbering().parent == model.parent and tree.numbering().bodies == model.body_names
    turned = [isinstance(joint, Reversed) for joint in model.joints[1:]]
    assert [tree.is_reversed(name) for name in model.joint_names] == turned


@pytest.mark.parametrize(
    ("arcs", "bodies", "words"),
    [
        ([("a", "world", "A"), ("b", "A", "A")], None, "'b' connects body 'A' to itself"),
        ([("a", "world", "A"), ("b", "B", "C")], None, "nothing connects 'B', 'C' to 'world'.*six freedoms"),
        ([("a", "world", "A"), ("a", "A", "B")], None, "two joints are named 'a'"),
        ([("a", "world", "door"), ("b", "dor", "door")], ["door"], "unknown body 'dor' .did you mean 'door'"),
        ([("a", "world", "A")], ["A", "A"], "two bodies are named 'A'"),
    ],
)
def test_broken_rules_are_named(arcs, bodies, words):
    """C04.01: each rule of connectivity graphs has its own message, and several are told at once."""
    with pytest.raises(TopologyError, match=words) as caught:
        MechanismGraph(arcs, bodies=bodies)
    assert caught.value.violations == tuple(violations(arcs, bodies))


def test_impossible_wishes_are_explained():
    """Chords that nothing could replace, kept joints in a circle, and names that do not exist."""
    graph = MechanismGraph([("a", "world", "A"), ("b", "A", "B"), ("c", "world", "B"), ("d", "B", "C")])
    with pytest.raises(TopologyError, match=r"no joint connects 'C' to the base.*'d' must be in the tree"):
        graph.spanning_tree(chords=["d"])
    with pytest.raises(TopologyError, match="'c' closes a loop with the others"):
        graph.spanning_tree(keep=["a", "b", "c"])
    with pytest.raises(TopologyError, match="cannot be a chord and be kept"):
        graph.spanning_tree(keep=["a"], chords=["a"])
    with pytest.raises(UnknownNameError, match="no joint named 'e'"):
        graph.spanning_tree(chords=["e"])
    with pytest.raises(TopologyError, match="expected a list"):
        graph.spanning_tree(chords="a")


# Models from graphs -----------------------------------------------------------------------------------------------


def closed_mechanism(seed, joints):
    """Bodies at random poses and a ring of joints whose frames meet there: every loop is closed at known positions.

    Returns the builder, and the positions of all joints at which everything fits.
    """
    rng = np.random.default_rng(seed)
    n = len(joints) - 1
    b = kt.MechanismBuilder("ring", gravity=(0.3, -2.0, -9.0))
    X_0 = {"world": kt.spatial.Transform.identity()}
    for i in range(n):
        X_0[f"b{i}"] = Free().transform(Free().random(rng))
        b.add_body(f"b{i}", mass=1.0 + i, com=rng.uniform(-0.2, 0.2, 3), inertia=(0.2, 0.3, 0.4))
        b.add_frame(f"f{i}", f"b{i}", (rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)))
    ring, q = ["world", *(f"b{i}" for i in range(n)), "world"], {}
    for k, (joint, ends) in enumerate(zip(joints, itertools.pairwise(ring), strict=True)):
        predecessor, successor = ends if rng.random() < 0.5 else ends[::-1]
        q[f"j{k}"] = joint.random(rng)
        at_predecessor = Free().transform(Free().random(rng))
        # X_S X_s0 = X_J X_P X_p0
        at_successor = joint.transform(q[f"j{k}"]) @ at_predecessor @ X_0[predecessor] @ X_0[successor].inverse()
        b.add_joint(f"j{k}", predecessor, successor, joint, at_predecessor, at_successor)
    return b, q, X_0


RINGS = [
    [Revolute((0, 0, 1)), Spherical(), Prismatic((0.6, 0, 0.8)), Universal()],
    [Helical((0, 1, 0), 0.3), Cylindrical(), Planar(), Revolute((1, 2, 3)), Spherical()],
    [Free(), Revolute((0, 1, 0)), Reversed(Spherical()), Cylindrical((1, 0, 0))],
]


@pytest.mark.parametrize("ring", range(len(RINGS)))
def test_every_tree_of_a_mechanism_puts_the_bodies_where_they_are(ring):
    """Whatever tree is chosen, at the positions for which the loop is closed every body stands where it was put."""
    b, q, X_0 = closed_mechanism(ring, RINGS[ring])
    for tree in b.graph.spanning_trees():
        model = b.build(tree=tree)
        position = [x for name in model.joint_names for x in q[name]]
        found = world_transforms(model, position)
        for name, X in X_0.items():
            frame = model.frame(name)
            assert np.allclose((frame.X_FB @ found[frame.body]).matrix(), X.matrix(), rtol=0, atol=1e-12)
        for loop in model.loops:
            P, S = model.frame(loop.predecessor), model.frame(loop.successor)
            X = loop.X_S @ S.X_FB @ found[S.body] @ (loop.X_P @ P.X_FB @ found[P.body]).inverse()
            assert np.allclose(X.matrix(), loop.joint.transform(q[loop.name]).matrix(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("ring", range(len(RINGS)))
def test_retreed_mechanisms_have_the_same_kinematics_and_energies(ring):
    """Frames, kinetic and potential energy agree between all trees, for motions that the loop allows."""
    b, q, _ = closed_mechanism(ring, RINGS[ring])
    model = b.build(order="given")
    position = np.array([x for name in model.joint_names for x in q[name]])
    (loop,) = model.loops
    with kt.interpreted():
        # Velocities that the loop allows: what the loop joint lets through, and no more.
        J = {
            name: kt.jacobian(model, position, frame=name, reference="world") if model.frame(name).body else 0.0
            for name in (loop.predecessor, loop.successor)
        }
        S_frame = model.frame(loop.successor)
        X_S = loop.X_S @ S_frame.X_FB @ world_transforms(model, position.tolist())[S_frame.body]
        relative = X_S.matrix() @ (J[loop.successor] - J[loop.predecessor])
        T = np.array([list(column) for column in loop.joint.implicit(loop.joint.transform(q[loop.name]))[1]])
        allowed = np.linalg.svd(T.reshape(-1, 6) @ relative)
        rank = int((allowed.S > 1e-10).sum())
        v = allowed.Vh[rank:].sum(axis=0) if rank < model.nv else np.zeros(model.nv)
        for tree in MechanismGraph.of(model).spanning_trees():
            other = retree(model, tree=tree)
            states = StateMap(model, other)
            q2, v2 = states.q(position), states.v(position, v)
            for name in ("f0", "f1", "b1"):
                one, two = kt.pose(model, position, frame=name), kt.pose(other, q2, frame=name)
                assert np.abs(one.p_WF - two.p_WF).max() < 1e-10 and np.abs(one.R_WF - two.R_WF).max() < 1e-10
            assert np.isclose(kt.kinetic_energy(other, q2, v2), kt.kinetic_energy(model, position, v), rtol=1e-9)
            E = kt.potential_energy(model, position)
            assert np.isclose(kt.potential_energy(other, q2), E, rtol=1e-10, atol=1e-10)
            assert np.allclose(StateMap(other, model).v(q2, v2), v, rtol=0, atol=1e-8)


def test_a_joint_is_solved_for_the_transform_between_its_bodies():
    """Newton's method finds a position with X_J(q) = X for joints of every registered kind."""
    rng = np.random.default_rng(4)
    for _, joint in joint_examples(rng):
        X = joint.transform(joint.random(rng))
        found = joint.transform(joint_coordinates(joint, X, "test"))
        assert np.allclose(found.matrix(), X.matrix(), rtol=0, atol=1e-8), joint


def four_bar(**data):
    b = kt.MechanismBuilder("four_bar")
    for name, length in (("crank", 0.1), ("coupler", 0.3), ("rocker", 0.25)):
        b.add_body(name, mass=length, com=(length / 2, 0, 0), inertia=(0, length**3 / 12, length**3 / 12))
    b.add_joint("A", "world", "crank", Revolute())
    b.add_joint("B", "crank", "coupler", Revolute(), ((0.1, 0, 0), (0, 0, 0)))
    b.add_joint("C", "rocker", "coupler", Revolute(), ((0.25, 0, 0), (0, 0, 0)), ((0.3, 0, 0), (0, 0, 0)), **data)
    b.add_joint("D", "world", "rocker", Revolute(), ((0.28, 0, 0), (0, 0, 0)))
    return b


def test_joints_with_what_chords_cannot_hold_stay_in_the_tree():
    """Armature, couplings and actuators keep a joint in the tree, unless the user insists: that is refused."""
    assert [loop.name for loop in four_bar().build().loops] == ["C"]
    assert [loop.name for loop in four_bar(armature=0.1).build().loops] == ["B"]
    with pytest.raises(ModelError, match="'C' closes a loop, and a loop joint .* has no armature"):
        four_bar(armature=0.1).build(chords=["C"])
    driven = four_bar()
    driven.equipment += Equipment(actuators=(Actuator("motor", "joint", "C"),))
    assert [loop.name for loop in driven.build().loops] == ["B"]
    with pytest.raises(ModelError, match=r"'C' cannot become a chord: actuator 'motor'"):
        retree(driven.build(), chords=["C"])
    dropped = retree(driven.build(), chords=["C"], unsupported="drop")
    assert not dropped.actuators and "motor" in str(dropped.report)


def test_friction_and_springs_move_with_their_joint():
    """A chord keeps damping, spring and limits of a joint of one freedom, and gives them back."""
    b = four_bar(damping=0.2, stiffness=3.0, spring_reference=0.4, lower=-1.0, upper=1.5, dry_friction=0.01)
    loop = b.build(chords=["C"]).loops[0]
    data = (loop.damping, loop.stiffness, loop.spring_reference, loop.lower, loop.upper, loop.dry_friction)
    assert data == (0.2, 3.0, 0.4, -1.0, 1.5, 0.01)
    back = retree(b.build(chords=["C"]), chords=["D"])
    k = back.coordinate("C")
    assert (back.damping[k], back.stiffness[k], back.lower[k], back.upper[k]) == (0.2, 3.0, -1.0, 1.5)
    assert back.spring_reference[back.q_index("C")] == [0.4]


def test_keyframes_follow_their_mechanism():
    """A keyframe is a state of all bodies: on another tree it has the positions of the joints there."""
    ring, q, _ = closed_mechanism(1, RINGS[1])
    base = ring.build(chords=["j0"])
    key = Keyframe("home", {name: tuple(q[name]) for name in base.joint_names})
    other = retree(base.replace(equipment=base.equipment + Equipment(keyframes=(key,))), chords=["j3"])
    position, _ = other.keyframe("home")
    expected = np.array([x for name in other.joint_names for x in q[name]])
    found, wanted = (world_transforms(other, x.tolist()) for x in (position, expected))
    assert all(np.allclose(a.matrix(), b.matrix(), rtol=0, atol=1e-9) for a, b in zip(found, wanted, strict=True))


def test_an_open_loop_cannot_be_mapped():
    """The position of a chord is only known where the loop is closed; else the distance is told."""
    model = four_bar().build(chords=["D"])
    with pytest.raises(ModelError, match=r"loop joint 'D'.*away from what"):
        StateMap(model, retree(model, chords=["A"])).q([0.3, 2.0, 0.1])


def test_mistakes_in_a_mechanism_are_named():
    """Names given twice, unknown ends, unknown data, parts that nothing holds."""
    b = four_bar()
    with pytest.raises(DuplicateNameError, match="two bodies are named 'crank'"):
        b.add_body("crank")
    with pytest.raises(DuplicateNameError, match="two joints are named 'A'"):
        b.add_joint("A", "world", "crank", Revolute())
    with pytest.raises(UnknownNameError, match="damping"):
        b.add_joint("E", "world", "crank", Revolute(), dampng=1.0)
    b.add_body("lost", mass=1.0)
    with pytest.raises(TopologyError, match="nothing connects 'lost' to 'world'"):
        b.build()
