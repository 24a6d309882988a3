"""SDF scopes to a Model: a tree of bodies, loop joints for the remaining connections, and the pose of the file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

from kinetree.errors import CouplingError, KinetreeError, ModelError
from kinetree.io.free_names import Names, base_joint_name
from kinetree.io.inertia_rules import NO_MASS, Mass
from kinetree.io.options import Options
from kinetree.io.sdf.bodies import UNKNOWN_MASS, mass_of, shapes_of
from kinetree.io.sdf.frames import HERE, OWN, Scope
from kinetree.io.sdf.joints import Connection, Mechanism, coupled_joints, couplings, mechanism
from kinetree.io.sdf.notes import Notes
from kinetree.io.sdf.records import STOPS, LinkRecord, ModelRecord
from kinetree.io.sdf.scopes import Reader
from kinetree.io.sdf.tree import Edge, SpanningTree, spanning_tree
from kinetree.io.sdf.values import Placed
from kinetree.io.xml.reader import values_of
from kinetree.joints import Fixed, Free, Reversed
from kinetree.model import Model, ModelBuilder
from kinetree.model.builder import WORLD
from kinetree.model.equipment import Equipment, Keyframe, LoopJoint
from kinetree.model.model import GRAVITY
from kinetree.spatial.rotations import quaternion_from_rotation


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A link of any scope: its place in the world at the pose of the file."""

    record: LinkRecord
    scope: Scope
    place: Placed


class Assembly:
    """One run from scopes to a model: links, joints, tree and masses first, then `model`.

    A collecting document gets every error; unreadable parts are replaced by values that break no further rule.
    """

    def __init__(self, world: ModelRecord, reader: Reader, notes: Notes, options: Options) -> None:
        self.reader, self.notes, self.options = reader, notes, options
        self.uncoupled = False  # whether couplings are left out, because the model refused one
        self.root = Scope(world)
        alone = list(world.models.values())[0] if len(world.models) == 1 else None
        self.record = alone or world
        if alone is not None:
            _drop_prefix(self.root.inner[alone.name], "")
            if options.floating_base is True and alone.static:
                self._unfreeze(self.root.inner[alone.name])
        self.root.settle()
        self.links: dict[str, Link] = {}
        for scope in self.root.all_scopes():
            attempt = scope.record.node.document.attempt
            for record in scope.record.links.values():
                attempt(self._place, record, scope)
            # Also frames, canonical links and poses that nothing uses must be right.
            for name in scope.names():
                attempt(scope.pose, name, scope.record.node)
            if not scope.record.is_world:
                attempt(scope.link_of, OWN, scope.record.node)
        self.still = {name for name, link in self.links.items() if link.scope.static}
        self.mechanism: Mechanism = mechanism(self.root, self.still, notes)
        self.tree = self._tree()
        self.masses = {name: self._mass(name, link) for name, link in self.links.items()}
        for c in self.mechanism.connections:
            if not c.is_known:  # its resistance is unknown
                self.masses |= {end: UNKNOWN_MASS for end in (c.parent, c.child) if end in self.links}
        # Pose of the body of each link: in the axes of its joint, at the joint's origin.
        self.at: dict[str, Placed] = {WORLD: HERE}
        self.key: dict[str, tuple[float, ...]] = {}

    @cached_property
    def is_complete(self) -> bool:
        """Whether everything in the file could be read; only a collecting document has less."""
        return not self.mechanism.lost and not any(scope.record.lost for scope in self.root.all_scopes())

    def _place(self, record: LinkRecord, scope: Scope) -> None:
        full = scope.prefix + record.name
        if full in self.links:
            other = self.links[full].record.node
            message = f"two links have the full name '{full}' (the other is on line {other.line})"
            raise record.node.fail(message, code="duplicate-name")
        self.links[full] = Link(record, scope, scope.place @ scope.pose(record.name, record.node))

    def _mass(self, name: str, link: Link) -> Mass:
        return link.record.node.document.attempt(
            mass_of, link.record, name, link.scope, self.options.inertia, name in self.still, self.notes,
            default=UNKNOWN_MASS,
        )  # fmt: skip

    def _unfreeze(self, scope: Scope) -> None:
        message = f"model '{scope.record.name}' is static; floating_base=True lets it move"
        self.notes.warning(scope.record.node, message)
        for inner in scope.all_scopes():
            inner.static = False

    def _tree(self) -> SpanningTree:
        canonical = [
            scope.record.node.document.attempt(scope.link_of, OWN, scope.record.node, default="")
            for scope in self.root.all_scopes()
            if not scope.record.is_world
        ]
        welds = [
            Connection(f"{name}_to_world", WORLD, name, "weld", HERE, link.record.node, link.scope)
            for name, link in self.links.items()
            if name in self.still
        ]
        links = [*self.links, *self.mechanism.between]
        return spanning_tree(links, [*welds, *self.mechanism.connections], canonical, coupled_joints(self.mechanism))

    def model(self) -> Model | None:
        """The model; None where a collecting document has an error without a placeholder."""
        document, locked = self.reader.document, set()
        while True:
            mark = self.notes.mark()
            builder = self._filled(locked)
            self.notes.ignored()
            builder.report = self.notes.report()  # with lines, where the builder's own has none
            try:
                return builder.build(merge_fixed=self.options.merge_fixed)
            except (ModelError, CouplingError) as error:
                joint = getattr(error, "joint", None) or next(iter(getattr(error, "joints", ())), None)
                c = next((c for c in self.mechanism.connections if c.name == joint), None)
                massless = hasattr(error, "bodies")
                fixable = massless and c is not None and joint not in locked
                if fixable and self.options.massless == "lock":
                    locked.add(joint)
                    self.notes.rewind(mark)
                    self.notes.warning(c.node, f"joint '{joint}' moves no inertia: made fixed", "massless-leaf")
                    continue
                repair = "massless='lock' makes such joints fixed" if massless and c is not None else ""
                values = values_of(error)
                values.setdefault("code", _code(error))
                node = self.record.node if c is None else c.node
                document.reject(node.fail(error.message, type(error), repair=repair, **values))
                if fixable:
                    locked.add(joint)
                elif isinstance(error, CouplingError) and not self.uncoupled:
                    self.uncoupled = True
                else:
                    return None
                self.notes.rewind(mark)

    def _filled(self, locked: set[str]) -> ModelBuilder:
        record, options, document = self.record, self.options, self.reader.document
        world = self.root.record
        builder = ModelBuilder(
            options.name or (world.node.element.get("name") or "world" if record is world else record.name),
            gravity=GRAVITY if world.gravity is None else world.gravity,
            accept_impossible_inertia=options.accept,
        )
        builder.source = document.file
        self.freed = self._freed()
        self.in_file = {c.name: c for c in self.mechanism.connections if c not in self.freed}
        self.joint_names = Names(self.in_file)
        roots = 0
        in_tree: set[str] = set()
        for name, edge in self.tree.order:
            if edge is None or edge.connection in self.freed:
                roots += 1
                self._add_root(builder, name, roots)
            elif edge.connection.kind == "weld":
                joint = self.joint_names.new(edge.connection.name)
                self._add(builder, name, WORLD, Fixed(), joint, self.links[name].place)
            else:
                self._add_edge(builder, edge, edge.connection.name in locked)
                if len(edge.connection.axes) == 1 and edge.connection.name not in locked:
                    in_tree.add(edge.connection.name)
        if options.floating_base is True and not roots:
            message = (
                "floating_base=True frees links that stand free or are fixed to the world; here every part moves in a "
                "joint of its own to the world, or is static"
            )
            repair = "load the file without floating_base"
            raise self.record.node.fail(message, ModelError, code="floating-base", repair=repair)
        coupled = couplings(self.mechanism, in_tree, self.notes)
        for follower, leader, ratio, offset in coupled if not self.uncoupled else ():
            builder.add_coupling(follower, leader, ratio=ratio, offset=offset)
        self._frames(builder)
        keys = (Keyframe("initial", self.key),) if self.key else ()
        builder.equipment = Equipment(loops=tuple(self._loop(c) for c in self.tree.loops), keyframes=keys)
        return builder

    # Bodies -----------------------------------------------------------------------------------------------------

    def _freed(self) -> list[Connection]:
        """Fixed joints to the world that floating_base=True replaces by free ones."""
        if self.options.floating_base is not True:
            return []
        freed = [
            edge.connection
            for _, edge in self.tree.order
            if edge is not None and edge.carrier == WORLD and edge.connection.kind == "fixed"
        ]
        for c in freed:
            self.notes.info(c.node, f"fixed joint '{c.name}' to the world replaced by a free one (floating_base)")
        return freed

    @cached_property
    def _is_held(self) -> bool:
        """Whether a joint carries anything on the world."""
        return any(edge is not None and edge.carrier == WORLD for _, edge in self.tree.order)

    def _add_root(self, builder: ModelBuilder, name: str, count: int) -> None:
        link = self.links[name]
        if self.options.floating_base is False or not self.is_complete:
            self._add(builder, name, WORLD, Fixed(), self.joint_names.new(f"{name}_to_world"), link.place)
            if self.masses[name].mass > 0.0 and self.options.merge_fixed and self.is_complete:
                message = f"link '{name}' is welded to the world (floating_base=False) and does not count in total_mass"
                self.notes.info(link.record.node, message)
            return
        wish = self.options.base_joint
        node = self.in_file[wish].node if wish in self.in_file else link.record.node
        joint = base_joint_name(wish, self.joint_names, self.in_file, node.fail, partial(self.notes.info, node))
        if count > 1 or self._is_held:  # beside other parts, a floating one may be unintended
            message = f"link '{name}' hangs on no joint: its own free joint is '{joint}'"
            self.notes.info(link.record.node, message, "free-link")
        self.at[name] = link.place
        self._add(builder, name, WORLD, Free(), joint, link.place, placement=HERE)
        if not link.place.is_identity:
            quaternion = quaternion_from_rotation(link.place.transform.E)
            self.key[joint] = (*link.place.p.tolist(), *map(float, quaternion))

    def _add_edge(self, builder: ModelBuilder, edge: Edge, locked: bool) -> None:
        c = edge.connection
        link = self.links[edge.body].place if edge.body in self.links else c.place
        body = link
        joint = Fixed()
        settings: dict[str, object] = {}
        if c.kind != "fixed" and not locked:
            R = c.orientation(link)
            # The axes of the link itself, so that its frame differs by a shift alone, or not at all.
            body = Placed(R, c.place.p)
            joint = Reversed(c.joint(R)) if edge.reversed else c.joint(R)
            settings = c.settings()
            if any(record.initial for record in c.records):
                self.key[c.name] = tuple(record.initial for record in c.records)
        if edge.reversed:
            message = f"joint '{c.name}' is met from its child '{c.child}': reversed, with the same variables"
            self.notes.info(c.node, message)
        self._add(builder, edge.body, edge.carrier, joint, c.name, body, **settings)

    def _add(
        self, builder: ModelBuilder, name: str, parent: str, joint, joint_name: str, body: Placed,
        placement: Placed | None = None, **settings: object,
    ) -> None:  # fmt: skip
        """Add a body that stands at ``body`` in the world at the pose of the file."""
        self.at[name] = body
        placed = body.seen_from(self.at[parent]) if placement is None else placement
        link = self.links.get(name)
        mass, geometry = NO_MASS, []
        if link is not None:
            place = link.place.seen_from(body)
            mass = self.masses[name].seen_from(place.R, place.p)
            geometry = shapes_of(link.record, link.scope, body)
        builder.add_body(
            name, parent, joint, joint_name, placed.transform,
            mass=mass.mass, com=mass.com, inertia=mass.I, geometry=geometry, **settings,
        )  # fmt: skip
        if link is not None and not place.is_identity:  # its name stays that of the link's own frame
            builder.add_frame(name, name, place.transform)

    def _frames(self, builder: ModelBuilder) -> None:
        for scope in self.root.all_scopes():
            for record in scope.record.frames.values():
                full = scope.prefix + record.name
                link = record.node.document.attempt(scope.link_of, record.name, record.node)
                if link in self.at:
                    place = scope.place @ scope.pose(record.name, record.node)
                    builder.add_frame(full, link, place.seen_from(self.at[link]).transform)

    # Loops ------------------------------------------------------------------------------------------------------

    def _loop(self, c: Connection) -> LoopJoint:
        ends = [self.links[name].place if name in self.links else self.at[name] for name in (c.parent, c.child)]
        R = c.orientation(ends[1])
        place = Placed(R, c.place.p)
        X_P, X_S = (place.seen_from(end).transform for end in ends)
        settings = c.settings()
        settings |= {what: settings[what][0] for what in STOPS if len(settings.get(what, ())) == 1}
        for what in ("effort_limit", "velocity_limit"):
            if what in settings:
                self.notes.info(c.node, f"joint '{c.name}' closes a loop: its {what} {settings.pop(what)} is not held")
        if settings and c.joint(R).nv != len(c.axes):
            message = f"joint '{c.name}' closes a loop with {len(c.axes)} axes: their {', '.join(settings)}"
            self.notes.unsupported(c.node, message)
            settings = {}
        for record in c.records:
            if record.initial:
                self.notes.info(record.node, f"joint '{c.name}' closes a loop: its initial position is not held")
        message = (
            f"joint '{c.name}' closes a loop between '{c.parent}' and '{c.child}', which other joints connect: it is a "
            "loop joint of the model"
        )
        self.notes.info(c.node, message, "loop")
        return LoopJoint(c.name, c.joint(R), c.parent, c.child, X_P, X_S, **settings)


def _drop_prefix(scope: Scope, prefix: str) -> None:
    """Give the names of a scope, and those in it, another prefix."""
    scope.prefix = prefix
    for name, inner in scope.inner.items():
        _drop_prefix(inner, f"{prefix}{name}::")


def _code(error: KinetreeError) -> str:
    """The rule of docs/lint.md that the whole mechanism breaks."""
    if isinstance(error, CouplingError):
        return "mimic-cycle" if hasattr(error, "joints") else "mimic-unsupported"
    negative = "is negative, expected >= 0" in error.message
    return "massless-leaf" if hasattr(error, "bodies") else "negative-dissipation" if negative else "model"
