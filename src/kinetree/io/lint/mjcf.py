"""Lint for MJCF: the reader itself, on a copy of the file in which one fault after the other is repaired.

So errors are those of loading, with the messages of the same reader and of MuJoCo.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from kinetree.errors import InertiaError, KinetreeError, MissingDependencyError, UnsupportedError
from kinetree.io.lint.facts import AngleFacts, Facts, Place, facts_of_model
from kinetree.io.lint.loops import open_loops
from kinetree.io.lint.result import Finding, finding, finding_of, finding_of_note
from kinetree.io.mjcf.compile import Compiled, compile_sources, require_mujoco
from kinetree.io.mjcf.layout import HINGE, names_of
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.read import model_of
from kinetree.io.mjcf.repair import MendedCopy
from kinetree.io.mjcf.sources import Sources
from kinetree.io.options import Options
from kinetree.io.xml.notes import Note
from kinetree.io.xml.reader import Document, Node

ROUNDS = 300  # errors of MuJoCo that are repaired, at most
SECONDS = 3.0  # that this may take; a model with large meshes may be compiled a few times only
# The codes of errors that carry none.
_KINDS = ((InertiaError, "impossible-inertia"), (UnsupportedError, "unsupported"))


def examine(source: str | PathLike, document: Document, package_dirs: tuple) -> tuple[list[Finding], Facts | None]:
    """Load strictly; where that fails, repair and continue. The facts are those of the repaired copy, if it loads."""
    source, file = source if isinstance(source, str) else Path(source), document.file
    try:
        require_mujoco()
    except MissingDependencyError as error:
        return [finding("missing-dependency", file, None, "", str(error))], None
    try:
        sources = Sources(source)
        notes = Notes(sources, drop=False)
        compiled = _compiled(source, notes, package_dirs)
        gaps = open_loops(model_of(compiled, notes, Options()), file)
    except (KinetreeError, OSError) as error:
        return _examine_broken(source, file, package_dirs, error)
    return [*_of_report(notes), *gaps], _facts(compiled, sources, set())


def _compiled(source, notes: Notes, package_dirs: Iterable) -> Compiled:
    return compile_sources(source, notes, package_dirs=package_dirs, inertia="raise", massless="raise")


def _examine_broken(source, file: str, package_dirs: Iterable, refusal: Exception):
    try:
        sources = Sources(source, collect=True)
    except (KinetreeError, OSError) as error:
        return [_finding_of(error, file)], None
    errors: list[Finding] = [_finding_of(error, file) for error in sources.main.problems]
    errors += [_again(node) for node in _included_again(sources)]
    copy, compiled, notes = MendedCopy(sources), None, None
    found: list[Finding] = []
    end = time.monotonic() + SECONDS
    for _ in range(ROUNDS):
        notes = Notes(sources, drop=False)
        try:
            compiled = _compiled(copy.text(), notes, package_dirs)
            model_of(compiled, notes, Options())
            break
        except (KinetreeError, OSError) as error:
            compiled, node = None, sources.blamed(error)
            if not copy.follows(error, node):
                errors.append(_finding_of(error, file))
            if not copy.repair(error, node):
                break
            if time.monotonic() > end:
                found.append(_unfinished(file))
                break
    else:
        found.append(_unfinished(file))
    errors += map(_refused, notes.refused)
    first = _finding_of(refusal, file)
    if not any(each.code == first.code and (first.line in (each.line, None)) for each in errors):
        errors.insert(0, first)
    found = [*errors, *_of_report(notes), *found]
    return found, None if compiled is None else _facts(compiled, sources, copy.unjudged)


def _unfinished(file: str) -> Finding:
    message = "MuJoCo names one error at a time, and the limit of attempts is reached; there may be more"
    return finding("unfinished", file, None, "", message, "repair those, then run lint again")


def _included_again(sources: Sources) -> list[Node]:
    """Includes of a file that has been included before; broken ones have an error of their own."""
    broken = {error.file for error in sources.main.problems}
    return [
        node
        for node in sources.nodes()
        if node.tag == "include" and node not in sources.parts
        and (path := sources.includes.get(node.element.get("file"))) is not None and str(path) not in broken
    ]  # fmt: skip


def _again(node: Node) -> Finding:
    name = node.element.get("file")
    message = f"MuJoCo: File '{name}' already included (element <include>)"
    return finding("include-cycle", node.document.file, node.line, node.path, message, "a file is included once")


def _finding_of(error: Exception, file: str) -> Finding:
    code = next((code for kind, code in _KINDS if isinstance(error, kind) and not getattr(error, "code", "")), None)
    if code is None and isinstance(error, OSError):
        code = "unreadable"
    found = finding_of(error, file)
    return found if code is None else finding(code, found.file, found.line, found.element, found.message, found.repair)


def _refused(note: Note) -> Finding:
    message = f"{note.message}: this is physics that a model does not hold"
    return finding("unsupported", note.document.file, note.line, "", message, "unsupported='drop' leaves it out")


def _of_report(notes: Notes) -> list[Finding]:
    return [
        finding_of_note(note.code, note.level, note.document.file, note.line, note.element, note.message)
        for note in notes.entries
    ]


# Facts ----------------------------------------------------------------------------------------------------------------


def _facts(compiled: Compiled, sources: Sources, unjudged: set[Node]) -> Facts | None:
    """The facts of the model with all its bodies, also of those that fixed joints hold."""
    notes = Notes(sources, drop=False)
    try:
        model = model_of(compiled, notes, Options(merge_fixed=False))
    except KinetreeError:  # of a mechanism whose bodies of no mass are merged otherwise
        return None
    stand_ins = {node.element.get("name") for node in unjudged} | _numbered(sources, unjudged)

    def place(kind: str, name: str) -> Place:
        node = sources.find(kind, name)
        if kind == "body":
            node = node or sources.find(kind, name.partition("/")[0])
            children = [] if node is None else node.all_children()
            node = next((child for child in children if child.tag == "inertial"), node)
        return Place(None, f"{kind} '{name}'") if node is None else Place.of(node)

    facts = facts_of_model(model, sources.main.file, place, stand_ins)
    angles = tuple(_angles(compiled, sources))
    idle = tuple(_idle_drives(sources))
    return Facts(facts.file, facts.bodies, facts.joints, facts.names, angles=angles, idle=idle)


def _numbered(sources: Sources, nodes: set[Node]) -> set[str]:
    """Names invented for bodies that have none."""
    return {name for (kind, name), node in sources.named() if kind == "body" and node in nodes}


def _angles(compiled: Compiled, sources: Sources) -> Iterable[AngleFacts]:
    """Euler angles as the file states them, and, where its unit is the degree, ranges of hinges."""
    own = {sources.main, *sources.parts.values()}  # attached models count for themselves
    nodes = [node for node in sources.nodes() if node.document in own]
    stated = [node.element.get("angle") for node in nodes if node.tag == "compiler" and node.element.get("angle")]
    degrees = not stated or stated[-1] != "radian"
    for node in nodes:
        if node.element.get("euler") and node.tag in ("body", "frame", "geom", "site", "inertial"):
            yield AngleFacts(_what(node), tuple(_numbers(node.element.get("euler"))), Place.of(node), degrees)
    if not degrees:
        return
    mj = compiled.model
    for j, name in enumerate(names_of(mj, "joint", mj.njnt)):
        node = sources.find("joint", name) if mj.jnt_type[j] == HINGE else None
        if node is not None and node.element.get("range"):
            what = f"range of joint '{name}'"
            yield AngleFacts(what, tuple(_numbers(node.element.get("range"))), Place.of(node), degrees)


def _idle_drives(sources: Sources) -> Iterable[tuple[str, Place]]:
    """Drives that can do nothing: without gear, or with a range of force from 0 to 0."""
    for node in sources.nodes():
        gear, force = node.element.get("gear"), node.element.get("forcerange") or node.element.get("actuatorfrcrange")
        if gear and not any(_numbers(gear)):
            yield f"{_what(node)} has the gear {gear}: it drives nothing", Place.of(node)
        elif force and not any(_numbers(force)):
            yield f"{_what(node)} has the force range {force}, which MuJoCo takes for no limit", Place.of(node)


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split()]
    except ValueError:  # in a default that nothing uses
        return []


def _what(node: Node) -> str:
    name = node.element.get("name")
    return f"{node.tag} '{name}'" if name else f"<{node.tag}>"
