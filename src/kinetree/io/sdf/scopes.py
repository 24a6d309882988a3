"""Models, worlds and includes of SDF: scopes of names, read from one file or several."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from kinetree.errors import UnsupportedError, unknown_name
from kinetree.io.mesh_paths import MeshFinder
from kinetree.io.sdf.frames import Scope
from kinetree.io.sdf.notes import Notes
from kinetree.io.sdf.records import FrameRecord, ModelRecord, Version, read_frame, read_joint, read_link, read_pose
from kinetree.io.sdf.values import Pose, boolean, content, numbers, truth
from kinetree.io.xml.reader import Document, Node, shown
from kinetree.model.builder import WORLD

GRAVITY = (0.0, 0.0, -9.8)  # of a world that states none
NEWEST = (1, 12)
MOST_INCLUDES = 1000


class Reader:
    """Reads a file and all that it includes into one world scope.

    Parameters
    ----------
    document : Document
    package_dirs : iterable of paths
        Folders in which ``model://`` and ``package://`` names are looked up first.
    notes : Notes
    model : str, optional
        The only model of the file to read.
    """

    def __init__(self, document: Document, package_dirs: tuple, notes: Notes, model: str | None) -> None:
        self.document, self.package_dirs, self.notes, self.model = document, package_dirs, notes, model
        self._includes = 0
        self._finders: dict[Path | None, MeshFinder] = {}

    def finder(self, document: Document) -> MeshFinder:
        """Finder of the meshes and models that a file names."""
        base = document.path.parent if document.path is not None else None
        if base not in self._finders:
            self._finders[base] = MeshFinder(base, self.package_dirs)
        return self._finders[base]

    def world(self) -> ModelRecord:
        """The world of the file; a file of a model alone is a world that holds it."""
        root = self.document.root
        version = self._open(self.document)
        worlds, models = root.children("world"), root.children("model")
        scope = ModelRecord(WORLD, Pose(), root, is_world=True)
        if len(worlds) > 1:
            message, repair = f"the file holds {len(worlds)} worlds; one is read", "keep one of them"
            worlds[1].reject(message, error=UnsupportedError, code="unsupported", repair=repair)
        if worlds and models:
            models[0].reject("the file holds a world and a model beside it; models stand inside the world")
        if worlds:
            scope.node = worlds[0]
            worlds[0].text("name")
            scope.gravity = self.document.attempt(self._gravity, worlds[0])
        self._fill(scope, version, ())
        self._wind(scope)
        if self.model is not None and self.model not in scope.models:
            names = [child.element.get("name", "") for child in scope.node.all_children() if child.tag == "model"]
            raise unknown_name("model", self.model, names, f"file {self.document.file}")
        if not scope.models and not scope.links and not scope.lost:
            repair = "<sdf> holds <model>, or <world> with models"
            scope.node.reject("the file holds no model", code="no-model", repair=repair)
        if not worlds and len(scope.models) > 1:
            first, second, *_ = scope.models.values()
            message = (
                f"the file holds {len(scope.models)} models outside a world ({', '.join(map(repr, scope.models))})"
            )
            second.node.reject(message, code="several-models", repair=f"choose one: model={first.name!r}")
        return scope

    def _open(self, document: Document) -> Version:
        """Check the root element and its version."""
        root = document.root
        self.notes.add_document(document)
        if root.tag != "sdf":
            repair = "kt.load chooses formats by their root element" if root.tag in ("robot", "mujoco") else ""
            raise root.fail(f"the root element is <{root.tag}>, expected <sdf>", code="wrong-root", repair=repair)
        words = root.text("version", required=True).strip()
        parts = words.split(".")
        if len(parts) < 2 or not all(part.isascii() and part.isdigit() for part in parts[:2]):
            raise root.fail(f"version {shown(words)} is no version such as 1.7", code="version", value=words)
        version = (int(parts[0]), int(parts[1]))
        if version[0] != 1 or version > NEWEST:
            message = f"version {words} is not known; versions 1.0 to {NEWEST[0]}.{NEWEST[1]} are"
            raise root.fail(message, code="version", value=words)
        return version

    def _gravity(self, world: Node) -> tuple[float, float, float]:
        node = world.child("gravity")
        for physics in [child for child in world.all_children() if child.tag == "physics"]:
            node = node or physics.child("gravity")  # where it stood before SDF 1.6
        if node is None:
            self.notes.info(world, f"the world states no gravity: {GRAVITY} m/s^2, the format's default")
            return GRAVITY
        gravity = numbers(node, 3)
        return gravity if all(map(math.isfinite, gravity)) else None

    def _wind(self, world: ModelRecord) -> None:
        """Refuse wind where something is subject to it; elements that enable wind are without effect in still air."""
        wind = world.node.child("wind") if world.node.tag == "world" else None
        velocity = None if wind is None else wind.child("linear_velocity")
        blows = velocity is not None and any(abs(speed) > 0.0 for speed in numbers(velocity, 3))
        exposed = _windy(world)
        if blows and exposed:
            self.notes.unsupported(wind, f"{exposed[0].path}: the wind is not modeled")
        for node in exposed:
            self.notes.info(node, f"{node.path}: there is no wind in the model")

    # Scopes -----------------------------------------------------------------------------------------------------

    def _model(self, node: Node, version: Version, including: tuple[Path, ...], name: str | None = None) -> ModelRecord:
        notes = self.notes
        scope = ModelRecord(node.name(), read_pose(node, version, notes), node)
        scope.name = name or scope.name
        scope.static = boolean(node, "static")
        scope.placement_frame = node.text("placement_frame") or None
        scope.canonical_link = node.text("canonical_link") or None
        if boolean(node, "enable_wind"):
            scope.windy.append(node.child("enable_wind"))
        self._fill(scope, version, including)
        return scope

    def _fill(self, scope: ModelRecord, version: Version, including: tuple[Path, ...]) -> None:
        """Read the content of a scope."""
        node, notes = scope.node, self.notes
        readers: tuple[tuple[str, dict, Callable], ...] = (
            ("link", scope.links, partial(read_link, finder=self.finder(node.document))),
            ("joint", scope.joints, read_joint),
            ("frame", scope.frames, read_frame),
        )
        if node.tag == "sdf":
            readers = ()
        elif scope.is_world:
            readers = readers[1:]
        attempt = node.document.attempt
        for tag, records, read in readers:
            for child in node.children(tag):
                self._take(scope, records, version, attempt(read, child, version, notes, whole=child), child)
        if node.tag in ("world", "sdf") and node.child("population") is not None:
            notes.skip(node.child("population"))
            notes.unsupported(node.child("population"), f"{node.child('population').path}: populations are not placed")
        node.children("model")
        node.children("include")
        for child in node.all_children():
            if child.tag not in ("model", "include"):
                continue
            if scope.is_world and self.model is not None and _name_of(child) != self.model:
                notes.skip(child, f"{child.path} left out: model={self.model!r} was given")
            elif child.tag == "model":
                model = attempt(self._model, child, version, including, whole=child)
                self._take(scope, scope.models, version, model, child)
            elif not attempt(self._include, scope, child, version, including, default=False, whole=child):
                scope.lost.add(_name_of(child))

    def _take(self, scope: ModelRecord, records: dict, version: Version, record, node: Node) -> None:
        """Add a record; references to the name of one that could not be read are no errors."""
        if record is not None:
            node.document.attempt(self._add, scope, records, record, version)
            return
        name = node.element.get("name")
        scope.lost.add(name if name and name.isprintable() else None)

    def _add(self, scope: ModelRecord, records: dict, record, version: Version) -> None:
        name = record.name
        rule = "names of one kind differ" if version < (1, 7) else "names in a scope differ, whatever they name"
        # Before 1.7, joints were no frames, so that a link and a joint may share a name.
        kinds = (scope.links, scope.frames, scope.models) if records is not scope.joints else ()
        for others in (records, *kinds, *((scope.joints, scope.links, scope.frames) if version >= (1, 7) else ())):
            if name in others:
                other = others[name]
                message = (
                    f"{record.node.tag} '{name}' is named like the {other.node.tag} on line {other.node.line}: {rule}"
                )
                raise record.node.fail(message, code="duplicate-name", repair="rename one of them", name=name)
        reserved = name.startswith("__") and name.endswith("__")
        fault = ""
        if name == WORLD or (reserved and len(name) > 4):
            fault = "this name is reserved" + " for the fixed frame" * (name == WORLD)
        elif "::" in name and version >= (1, 8):
            fault = "'::' separates the names of scopes"
        if fault:
            message = f"{record.node.tag} '{name}': {fault}"
            raise record.node.fail(message, code="reserved-name", repair="rename it", name=name)
        records[name] = record

    # Includes ---------------------------------------------------------------------------------------------------

    def _include(self, scope: ModelRecord, node: Node, version: Version, including: tuple[Path, ...]) -> bool:
        """Read an included model; False if it was left out."""
        notes = self.notes
        uri = content(node.child("uri", required=True))
        path, reason = self._find(uri, node.document)
        if path is None:
            if notes.drop:
                notes.unsupported(node, f"{node.path}: '{uri}' not found: {reason}")
                notes.skip(node)
                return False
            message = f"{node.path}: '{uri}' not found: {reason}"
            repair = "name the folder that holds it with package_dirs="
            raise node.fail(message, code="include-not-found", repair=repair, uri=uri)
        path = path.resolve()
        if path in including or path == (self.document.path and self.document.path.resolve()):
            message = f"{node.path}: '{uri}' includes itself"
            raise node.fail(message, code="include-cycle", uri=uri)
        self._includes += 1
        if self._includes > MOST_INCLUDES:
            raise node.fail(f"{node.path}: more than {MOST_INCLUDES} includes", code="include-cycle", uri=uri)
        document = node.document.part(path)
        if document.root.tag == "robot":
            notes.unsupported(node, f"{node.path}: '{uri}' is a URDF file, which is not read inside SDF")
            notes.skip(node)
            return False
        inner = self._open(document)
        models = document.root.children("model")
        if len(models) != 1:
            raise document.root.fail(f"an included file holds one model, this one holds {len(models)}", code="no-model")
        named = node.child("name")
        model = self._model(models[0], inner, (*including, path), None if named is None else content(named))
        placed = read_pose(node, version, notes)
        frame = node.child("placement_frame")
        if placed.node is not None or frame is not None:
            model.pose = placed
            model.placement_frame = None if frame is None else content(frame)
        if node.child("static") is not None:
            model.static = boolean(node, "static")
        if node.has("merge") and truth(node, node.text("merge")):
            self._merge(scope, model, version)
        else:
            self._add(scope, scope.models, model, version)
        return True

    def _find(self, uri: str, document: Document) -> tuple[Path | None, str]:
        """The SDF file of a URI: a file, or the newest one of a model's folder."""
        finder = self.finder(document)
        found = finder.find(uri)
        if found.path is not None:
            return found.path, ""
        folder = uri.rstrip("/")
        manifest = finder.find(f"{folder}/model.config")
        if manifest.path is not None:
            name = _newest(document.part(manifest.path))
            inner = finder.find(f"{folder}/{name}")
            return inner.path, inner.reason
        plain = finder.find(f"{folder}/model.sdf")
        return plain.path, manifest.reason if "://" in uri else found.reason

    def _merge(self, scope: ModelRecord, model: ModelRecord, version: Version) -> None:
        """Put the content of an included model into the scope itself; a frame stands for the model's own."""
        proxy = f"_merged__{model.name}__model__"
        scope.lost |= model.lost
        canonical = model.canonical_link or next(iter(model.links), None)
        own = replace(model.pose, relative_to=model.pose.relative_to or "__model__")
        if model.placement_frame is not None:
            frame = Scope(model).pose(model.placement_frame, model.node)
            place = own @ frame.inverse()
            own = replace(own, R=place.R, p=place.p)
        scope.frames[proxy] = FrameRecord(proxy, own, canonical, model.node)

        def placed(pose: Pose, base: str | None = proxy) -> Pose:
            own = pose.relative_to in (None, "__model__")
            return replace(pose, relative_to=base if pose.relative_to is None else proxy) if own else pose

        def named(name: str | None) -> str | None:
            return proxy if name == "__model__" else name

        for link in model.links.values():
            self._add(scope, scope.links, replace(link, pose=placed(link.pose)), version)
        for frame in model.frames.values():
            pose = placed(frame.pose, frame.attached_to or proxy)
            frame = replace(frame, pose=pose, attached_to=named(frame.attached_to) or proxy)
            self._add(scope, scope.frames, frame, version)
        for joint in model.joints.values():
            axes = tuple(replace(axis, expressed_in=named(axis.expressed_in)) for axis in joint.axes)
            moved = replace(
                joint, axes=axes, pose=placed(joint.pose, None), parent=named(joint.parent), child=named(joint.child)
            )
            self._add(scope, scope.joints, moved, version)
        for inner in model.models.values():
            inner.pose = placed(inner.pose)
            self._add(scope, scope.models, inner, version)


def _name_of(node: Node) -> str | None:
    """The name that a ``<model>`` or ``<include>`` certainly gives."""
    if node.tag == "model":
        return node.element.get("name")
    named = [child for child in node.all_children() if child.tag == "name"]
    uri = [child for child in node.all_children() if child.tag == "uri"]
    return content(named[0]) if named else content(uri[0]).rstrip("/").split("/")[-1] if uri else None


def _windy(scope: ModelRecord) -> list[Node]:
    """Elements that enable wind."""
    links = [link.windy for link in scope.links.values() if link.windy is not None]
    return [*scope.windy, *links, *(node for inner in scope.models.values() for node in _windy(inner))]


def _newest(manifest: Document) -> str:
    """The file that a model.config lists for the newest version."""
    listed = manifest.root.children("sdf")
    if not listed:
        raise manifest.root.fail("the manifest lists no <sdf> file", code="missing-element")

    def version(node: Node) -> tuple[int, ...]:
        parts = (node.text("version") or "0").split(".")
        return tuple(int(part) if part.isdigit() else 0 for part in parts)

    return content(max(listed, key=version))
