"""Poses of the frames of an SDF file: the graph of poses, and the links that frames are attached to."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.errors import KinetreeError, unknown_name
from kinetree.io.sdf.records import FrameRecord, JointRecord, LinkRecord, ModelRecord
from kinetree.io.sdf.values import Placed, Pose
from kinetree.io.xml.reader import Node
from kinetree.model.builder import WORLD

OWN = "__model__"
HERE = Placed()


def circle_of(names: list[str]) -> str:
    """Names that follow each other, the last of which is the first again; of a long circle the beginning."""
    return " -> ".join(names if len(names) <= 13 else [*names[:12], f"... ({len(names) - 1} in all)"])


class Scope:
    """A model or world: poses of its names in its own frame, and the links that carry them.

    Parameters
    ----------
    record : ModelRecord
    prefix : str
        Put before its names to make them different from those of other scopes: "arm::".
    place : Placed
        Pose of its own frame in the world.
    static : bool
        Whether it is static, by its own element or that of a scope around it.
    """

    def __init__(self, record: ModelRecord, prefix: str = "", static: bool = False) -> None:
        self.record, self.prefix, self.static = record, prefix, static or record.static
        self.inner = {name: Scope(model, f"{prefix}{name}::", self.static) for name, model in record.models.items()}
        self.place = HERE
        self.uncertain: set[str] = set()  # names that a collecting document cannot place
        self._known: dict[str, Placed] = {OWN: HERE}
        self._carriers: dict[str, str | KinetreeError] = {}
        if record.is_world:
            self._known[WORLD] = HERE

    def __str__(self) -> str:
        return "the world" if self.record.is_world else f"model '{self.record.name}'"

    def settle(self, place: Placed = HERE) -> None:
        """Place this scope and all that are in it in the world."""
        self.place = place
        for name, scope in self.inner.items():
            scope.settle(place @ self.pose(name, scope.record.node))

    def all_scopes(self) -> Iterator[Scope]:
        """This scope and those in it, each before those that it holds."""
        yield self
        for scope in self.inner.values():
            yield from scope.all_scopes()

    def names(self) -> list[str]:
        """The names that a pose may refer to."""
        record = self.record
        own = [WORLD] if record.is_world else [OWN]
        return [*own, *record.links, *record.frames, *record.joints, *record.models]

    # Poses ------------------------------------------------------------------------------------------------------

    def pose(self, name: str, asked_by: Node) -> Placed:
        """Pose of a named frame in this scope's own frame.

        Raises
        ------
        SDFError
            If there is no such name, or poses are relative to each other in a circle. A collecting document keeps it,
            and the frame is taken to be here.
        """
        attempt = asked_by.document.attempt
        chain: list[tuple[str, Placed]] = []
        seen: dict[str, Node] = {}
        base = name
        while base not in self._known:
            if base in seen:
                circle = [*seen][[*seen].index(base) :]
                message = f"poses are relative to each other in a circle: {circle_of([*circle, base])}"
                repair = "give one of them relative to another frame"
                seen[base].reject(message, code="pose-cycle", repair=repair, frames=tuple(circle))
                self.uncertain.add(base)
                break
            current = base
            base, local, asked_by = attempt(self._step, base, asked_by, default=(None, HERE, asked_by))
            if base is None:
                self.uncertain.add(current)
                break
            seen[current] = asked_by
            chain.append((current, local))
        placed = self._known.get(base, HERE)
        unsure = base is None or base in self.uncertain
        for current, local in reversed(chain):
            placed = placed @ local
            self._known[current] = placed
            if unsure:
                self.uncertain.add(current)
        return placed

    def _step(self, name: str, asked_by: Node) -> tuple[str, Placed, Node]:
        """The frame that a name is relative to, its pose there, and the element that states it."""
        found = self.find(name, asked_by)
        if isinstance(found, tuple):
            outer, inner = found
            return outer, self.inner[outer].pose(inner, asked_by), asked_by
        raw = local = found.pose
        default = OWN
        if isinstance(found, JointRecord):
            default = found.child
        elif isinstance(found, FrameRecord):
            default = found.attached_to or (WORLD if self.record.is_world else OWN)
        elif isinstance(found, ModelRecord):
            if found.placement_frame is not None:
                local = local @ self.inner[name].pose(found.placement_frame, found.node).inverse()
        return raw.relative_to or default, local, raw.node or found.node

    def find(self, name: str, asked_by: Node) -> LinkRecord | FrameRecord | JointRecord | ModelRecord | tuple[str, str]:
        """The meaning of a name: a record of this scope, or a scope in it and the name there."""
        record = self.record
        for records in (record.links, record.frames, record.joints, record.models):
            if name in records:
                return records[name]
        start = name.find("::")
        while start >= 0:  # names of files before 1.8 may hold '::' themselves
            if name[:start] in self.inner:
                return name[:start], name[start + 2 :]
            start = name.find("::", start + 2)
        # One that could not be read may be meant: by the name it states, or by any if the name cannot be read.
        follows = bool({name.partition("::")[0], None} & record.lost)
        message, names = f"no frame named {name!r} in {self}", self.names() if asked_by.document.may_hint() else []
        if names:
            message = unknown_name("frame", name, names, str(self)).message
        raise asked_by.fail(message, code="unknown-name", name=name, valid=names, follows=follows)

    def in_world(self, pose: Pose, default: str, asked_by: Node) -> Placed:
        """Pose in the world of a pose of this scope."""
        base = self.pose(pose.relative_to or default, pose.node or asked_by)
        return self.place @ base @ pose

    # Attachment -------------------------------------------------------------------------------------------------

    def link_of(self, name: str, asked_by: Node) -> str:
        """The link (by its full name) that carries a frame, or "world"; each frame on the way is visited once."""
        seen: dict[tuple[Scope, str], str] = {}
        try:
            link: str | KinetreeError = self._carrier(name, asked_by, seen)
        except KinetreeError as error:
            link = error
            if seen:  # each element that refers to a missing name has its own error
                seen.popitem()
        for scope, each in seen:
            scope._carriers[each] = link
        if isinstance(link, KinetreeError):
            raise link
        return link

    def _carrier(self, name: str, asked_by: Node, seen: dict[tuple[Scope, str], str]) -> str:
        scope = self
        while True:
            if scope.record.is_world and name in (WORLD, OWN):
                return WORLD
            if (known := scope._carriers.get(name)) is not None:
                if isinstance(known, KinetreeError):
                    raise known
                return known
            key = (scope, name)
            if key in seen:
                circle = circle_of([*seen.values(), scope.prefix + name])
                follows = scope.uncertain >= {name}
                for inner, each in seen:
                    inner.uncertain.add(each)
                message = f"frames are attached to each other in a circle: {circle}"
                repair = "attach one of them to a link"
                raise asked_by.fail(
                    message, code="frame-cycle", repair=repair, frames=tuple(seen.values()), follows=follows
                )
            seen[key] = scope.prefix + name
            if name == OWN:
                name = scope.canonical(asked_by)
                continue
            found = scope.find(name, asked_by)
            if isinstance(found, LinkRecord):
                return scope.prefix + found.name
            if isinstance(found, tuple):
                scope, name = scope.inner[found[0]], found[1]
            elif isinstance(found, ModelRecord):
                scope, name = scope.inner[found.name], OWN
            elif isinstance(found, JointRecord):
                name, asked_by = found.child, found.node
            else:
                name, asked_by = found.attached_to or OWN, found.node

    def canonical(self, asked_by: Node) -> str:
        """The name of the link that carries the model's own frame."""
        record = self.record
        if record.canonical_link is not None:
            return record.canonical_link
        if record.links:
            return next(iter(record.links))
        for name, scope in self.inner.items():
            return f"{name}::{scope.canonical(asked_by)}"
        repair = "a model holds at least one <link>"
        raise asked_by.fail(f"{self} has no link", code="no-links", repair=repair, follows=bool(record.lost))
