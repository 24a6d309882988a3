"""Build a model from bodies and joints that form a graph: the tree is chosen, the other joints close loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kinetree.arguments import a_name, a_truth_value, a_word, checked, of_kind, several
from kinetree.errors import ModelError, TopologyError, unknown_name
from kinetree.joints import Joint, Reversed
from kinetree.joints.reversed import reversed_joint
from kinetree.model import loop_joints
from kinetree.model import validation as check
from kinetree.model.assembly import JOINT_DATA, WORLD, AddedBody
from kinetree.model.builder import Builder, ModelBuilder, a_geometry, as_transform, joint_data
from kinetree.model.equipment import Equipment, LoopJoint
from kinetree.model.graph import Arc, MechanismGraph
from kinetree.model.model import GRAVITY, Model
from kinetree.model.parts import Geometry, two_named
from kinetree.model.spanning import SpanningTree
from kinetree.spatial import Inertia, Transform

ACTUATOR_LIMITS = ("velocity_limit", "effort_limit")  # no physics of the mechanism


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A joint between two bodies, which becomes a joint of the tree or a loop joint.

    Parameters
    ----------
    name : str
    joint : Joint
    predecessor, successor : str
        Bodies.
    X_P, X_S : Transform
        From the coordinates of the predecessor (successor) to the joint's predecessor (successor) frame.
    data : mapping
        Armature, friction, springs, limits, as arrays per velocity.
    """

    name: str
    joint: Joint
    predecessor: str
    successor: str
    X_P: Transform
    X_S: Transform
    data: Mapping[str, object]

    @property
    def arc(self) -> Arc:
        return Arc(self.name, self.predecessor, self.successor)

    @property
    def only_in_tree(self) -> tuple[str, ...]:
        """Its data that a loop joint cannot have."""
        limits = () if self.joint.nq == self.joint.nv else loop_joints.LIMITS
        possible = {*loop_joints.DATA, *ACTUATOR_LIMITS} - {*limits}
        return tuple(what for what in self.data if what not in possible)

    def as_loop(self) -> LoopJoint:
        """The record of a chord, between the frames with the names of the bodies.

        Raises
        ------
        ModelError
            If the joint has data that a loop joint cannot have.
        """
        if self.only_in_tree:
            raise ModelError(
                f"joint {self.name!r} closes a loop, and a loop joint {self.joint!r} has no "
                f"{', '.join(self.only_in_tree)}; keep it in the tree (keep=[{self.name!r}]), or take them away",
                joint=self.name,
            )
        data = {what: tuple(value.ravel().tolist()) for what, value in self.data.items() if what in loop_joints.DATA}
        return LoopJoint(self.name, self.joint, self.predecessor, self.successor, self.X_P, self.X_S, **data)

    def straight(self) -> Link:
        """The same without ``Reversed``: the joint itself, from its own predecessor to its own successor."""
        if not isinstance(self.joint, Reversed):
            return self
        return Link(self.name, self.joint.joint, self.successor, self.predecessor, self.X_S, self.X_P, self.data)


@dataclass(frozen=True, slots=True, eq=False)
class PlacedBody:
    """A body in its place in a tree.

    Parameters
    ----------
    body, parent, joint_name : str
    joint : Joint
        From parent to body.
    X_T : Transform
        From the parent's new coordinates to the joint's frame on it.
    Y : Transform
        From the body's old coordinates to its new ones, those of the joint's frame on it.
    """

    body: str
    parent: str
    joint_name: str
    joint: Joint
    X_T: Transform
    Y: Transform


def placed_bodies(tree: SpanningTree, links: Mapping[str, Link]) -> list[PlacedBody]:
    """Every moving body of a tree in its place, parents first.

    Parameters
    ----------
    tree : SpanningTree
    links : mapping from joint name to Link

    Notes
    -----
    A body's coordinates are those of its joint's frame on it. From its own predecessor p to successor s a joint leads
    by ``X_S^-1 X_J X_P``; traversed in reverse, s supports p, and the joint is ``X_J^-1``.
    """
    new = {tree.graph.base: Transform.identity()}
    placed = []
    for body in tree.numbering().bodies[1:]:
        name, parent = tree.parent_of[body]
        link = links[name]
        turned = tree.is_reversed(name)
        here, there = (link.X_S, link.X_P) if turned else (link.X_P, link.X_S)
        joint = reversed_joint(link.joint) if turned else link.joint
        new[body] = there
        placed.append(PlacedBody(body, parent, name, joint, here @ new[parent].inverse(), there))
    return placed


class MechanismBuilder(Builder):
    """Collects bodies and joints in any order and polarity, closed loops among them, and makes a Model of them.

    Parameters
    ----------
    name : str
        Name of the model.
    gravity : (3,) array
        In world coordinates [m/s^2].
    accept_impossible_inertia : bool
        As for `ModelBuilder`.

    Attributes
    ----------
    equipment : Equipment
        Further data of the model; loop joints are added.

    See Also
    --------
    ModelBuilder : trees, body by body.
    MechanismGraph : the graph alone, its trees and numberings.

    Notes
    -----
    Source: Featherstone (2008), sections 4.1, 4.2 and table 4.3 (bodies and joints, X_P and X_S, loop joints).

    Examples
    --------
    A four-bar linkage: the tree takes three of the four hinges, the fourth closes the loop.

    >>> import kinetree as kt
    >>> from kinetree.joints import Revolute
    >>> b = kt.MechanismBuilder("four_bar")
    >>> for name, length in (("crank", 0.1), ("coupler", 0.3), ("rocker", 0.25)):
    ...     b.add_body(name, mass=length, com=(length / 2, 0, 0), inertia=(0, length**3 / 12, length**3 / 12))
    >>> tip = lambda length: ((length, 0, 0), (0, 0, 0))
    >>> b.add_joint("A", "world", "crank", Revolute())
    >>> b.add_joint("B", "crank", "coupler", Revolute(), at_predecessor=tip(0.1))
    >>> b.add_joint("C", "coupler", "rocker", Revolute(), at_predecessor=tip(0.3), at_successor=tip(0.25))
    >>> b.add_joint("D", "world", "rocker", Revolute(), at_predecessor=tip(0.28))
    >>> model = b.build(chords=["D"])
    >>> model.parent, [loop.name for loop in model.loops]
    ((-1, 0, 1, 2), ['D'])
    >>> b.build().loops[0].name  # by default every body is as near to the world as can be
    'C'
    """

    def __init__(self, name: str = "mechanism", *, gravity=GRAVITY, accept_impossible_inertia: bool = False) -> None:
        super().__init__(name, gravity=gravity, accept_impossible_inertia=accept_impossible_inertia)
        self._bodies: dict[str, tuple[Inertia, list[Geometry]]] = {}
        self._links: dict[str, Link] = {}

    @checked(name=a_name, geometry=several(a_geometry))
    def add_body(
        self,
        name: str,
        *,
        mass: float = 0.0,
        com: Sequence[float] = (0.0, 0.0, 0.0),
        inertia=None,
        geometry: Sequence[Geometry] = (),
    ) -> None:
        """Add a body; joints connect it to others.

        Parameters
        ----------
        name : str
            Also the name of its frame, in which all that follows is given.
        mass : float
            [kg].
        com : (3,) array
            Center of mass [m].
        inertia : (3, 3) or (3,) array, optional
            Rotational inertia about the center of mass, or its diagonal [kg m^2].
        geometry : sequence of Geometry

        Raises
        ------
        DuplicateNameError, InertiaError
        """
        self._refuse_body(name)
        self._bodies[name] = (self._inertia(name, mass, com, inertia), list(geometry))

    @checked(name=a_name, predecessor=a_name, successor=a_name)
    def add_joint(
        self,
        name: str,
        predecessor: str,
        successor: str,
        joint: Joint,
        at_predecessor=None,
        at_successor=None,
        **data,
    ) -> None:
        """Connect two bodies.

        Parameters
        ----------
        name : str
        predecessor, successor : str
            Bodies, or "world"; they may be added later.
        joint : Joint
            Defines the motion of the successor relative to the predecessor.
        at_predecessor, at_successor : Transform, (xyz, rpy), (R, p) or (4, 4) array, optional
            Pose of the joint's predecessor frame in the predecessor, and of its successor frame in the successor [m,
            rad]. By default the bodies' own frames.
        **data
            Armature, friction, springs and limits, as in ``ModelBuilder.add_body``.

        Raises
        ------
        DuplicateNameError, JointError, ModelError
        """
        if name in self._links:
            raise two_named("joint", name, self.name)
        check.check_joint(f"joint {name!r}", joint)
        for what in data:
            if what not in JOINT_DATA:
                raise unknown_name("joint data", what, JOINT_DATA, f"add_joint ({name!r})")
        self._links[name] = Link(
            name, joint, predecessor, successor,
            as_transform(f"joint {name!r}: at_predecessor", at_predecessor),
            as_transform(f"joint {name!r}: at_successor", at_successor),
            joint_data(name, joint, data),
        )  # fmt: skip

    @checked(name=a_name, body=a_name)
    def add_frame(self, name: str, body: str, placement=None) -> None:
        """Fix a named frame to a body.

        Parameters
        ----------
        name : str
        body : str
        placement : Transform, (xyz, rpy), (R, p) or (4, 4) array, optional
            Its pose in the body [m, rad].
        """
        if name in self._frames or name in self._bodies or name == WORLD:
            raise two_named("frame", name, self.name)
        self._frames[name] = (body, as_transform(f"frame {name!r}", placement))

    @property
    def graph(self) -> MechanismGraph:
        """The connectivity graph.

        Raises
        ------
        TopologyError
            If bodies and joints are no mechanism; the message names every rule that is broken.
        """
        return MechanismGraph([link.arc for link in self._links.values()], bodies=self._bodies, base=WORLD)

    @checked(
        chords=several(a_name),
        keep=several(a_name),
        order=a_word,
        tree=of_kind("SpanningTree", "graph", "chords"),
        merge_fixed=a_truth_value,
    )
    def build(
        self,
        *,
        chords: Iterable[str] = (),
        keep: Iterable[str] = (),
        order: str = "breadth_first",
        tree: SpanningTree | None = None,
        merge_fixed: bool = True,
    ) -> Model:
        """Build the model: a tree of bodies, and loop joints.

        Parameters
        ----------
        chords : iterable of str
            Joints that must close loops.
        keep : iterable of str
            Joints that must be in the tree. By default, joints stay there if couplings or equipment refer to
            them, or if they have data that loop joints do not have (armature, soft stops), as far as loops allow.
        order : {"breadth_first", "depth_first", "given"}
            See `MechanismGraph.spanning_tree`.
        tree : SpanningTree, optional
            A tree of `graph`; then the options above are not used.
        merge_fixed : bool
            As in `ModelBuilder.build`.

        Returns
        -------
        Model
            Joints that the tree traverses in reverse are reversed, with the same positions, velocities and forces. Body
            coordinates are those of the body's joint; the frame with the body's name is the given one.

        Raises
        ------
        TopologyError
        ModelError
            Or one of its kinds, naming the error and its place.
        """
        tree = self._tree(self.graph, chords, keep, order) if tree is None else _of_names(tree, self._links)
        options = {"gravity": self.gravity, "accept_impossible_inertia": self.accept_impossible_inertia}
        builder = ModelBuilder(self.name, **options)
        builder.report = self.report
        Y = {WORLD: Transform.identity()}
        for x in placed_bodies(tree, self._links):
            inertia, geometry = self._bodies[x.body]
            Y[x.body], back = x.Y, x.Y.inverse()
            same = is_identity(x.Y)
            builder._bodies[x.body] = AddedBody(
                x.body, x.parent, x.joint, x.joint_name, x.X_T, x.Y @ inertia,
                dict(self._links[x.joint_name].data),
                geometry if same else [shape.seen_from(back) for shape in geometry],
            )  # fmt: skip
            builder._joint_names[x.joint_name] = x.body
            if not same:
                builder.add_frame(x.body, x.body, back)
        for name, (body, X) in self._frames.items():
            if body not in Y:
                raise unknown_name("body", body, Y, f"model {self.name!r} (frame {name!r})")
            builder.add_frame(name, body, X @ Y[body].inverse())
        builder._constraints, builder._forces = list(self._constraints), list(self._forces)
        builder.equipment = self.equipment + Equipment(loops=tuple(self._links[name].as_loop() for name in tree.chords))
        for name in tree.chords:
            for what in ACTUATOR_LIMITS:
                if what in self._links[name].data:
                    builder.note("info", f"joint {name!r}", f"closes a loop, where {what} is not kept")
        return builder.build(merge_fixed=merge_fixed)

    def _tree(self, graph: MechanismGraph, chords: Iterable[str], keep: Iterable[str], order: str) -> SpanningTree:
        chords, keep = list(chords), list(keep)
        frames = [WORLD, *self._bodies, *self._frames]
        named = {joint for constraint in self._constraints for joint in constraint.joints}
        for names in self.equipment.missing(frames, ()).values():
            named.update(names)
        preferred = [name for name, link in self._links.items() if name in named or link.only_in_tree]
        return graph.spanning_tree(chords=chords, keep=acyclic(graph, chords, keep, preferred), order=order)


def acyclic(graph: MechanismGraph, chords: Sequence[str], keep: Sequence[str], preferred: Iterable[str]) -> list[str]:
    """The joints to keep, and as many of the preferred ones as close no loop with those before and are no chords."""
    kept = list(keep)
    for name in preferred:
        if name not in chords and name not in kept:
            try:
                graph.spanning_tree(chords=chords, keep=[*kept, name])
            except TopologyError:
                continue
            kept.append(name)
    return kept


def _of_names(tree: SpanningTree, links: Mapping[str, Link]) -> SpanningTree:
    """The tree itself, if it is one of these links."""
    arcs = {link.arc for link in links.values()}
    if set(tree.graph.joints) != arcs:
        raise TopologyError(f"{tree!r} is a tree of another graph; take it from the builder's own .graph")
    return tree


def is_identity(X: Transform) -> bool:
    """Whether a transform does nothing, to the last bit."""
    return X.r.is_zero and X.E.matrix.rows == Transform.identity().E.matrix.rows
