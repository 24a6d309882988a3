"""The files of an MJCF model before MuJoCo reads them: the main one, the included ones, and the place of each name.

MuJoCo compiles the model, so nothing is read from here but lines: a parsed tree of every file for the report, and the
element that carries a name, for messages. Hostile or broken files (entities, sizes, encodings) are refused here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from kinetree.errors import FileFormatError, MJCFError
from kinetree.files import why_not_ordinary
from kinetree.io.mjcf.messages import likely, parsed_message
from kinetree.io.xml.numbers import KNOWN
from kinetree.io.xml.reader import Document, Node

DEEPEST = 100  # files that include or attach each other, one within the other
_MOST_FILES = 1000


class Sources:
    """The parsed files of one model.

    Parameters
    ----------
    source : str or Path
        A file, or text that begins with ``<``.
    collect : bool
        Keep errors of included files in ``main.problems`` and go on, instead of raising the first.

    Attributes
    ----------
    main : Document
    documents : list of Document
        The main file first, then the files that it includes or attaches, as far as they are found.
    includes : dict of str to Path
        Files by the names under which they are included.
    parts : dict of Node to Document
        The file of each ``<include>``, as far as it is found; a file that is included again is not parsed again.
    attached : dict of Node to Document
        The file that each ``<model>`` names, as far as it is found and is XML.
    lines : dict of (kind, name) to int
        Lines in the main file of elements whose names are invented, as MuJoCo counts them.
    printed : list of Node, or None
        The element on each line of the text that MuJoCo was given, where that is not the main file.
    """

    __slots__ = ("main", "documents", "includes", "parts", "attached", "lines", "printed", "_included_by", "_named")

    def __init__(self, source: str | PathLike, *, collect: bool = False) -> None:
        self.main = Document(source, MJCFError, collect=collect)
        self.documents = [self.main]
        self.includes: dict[str, Path] = {}
        self.parts: dict[Node, Document] = {}
        self.attached: dict[Node, Document] = {}
        self._included_by: dict[Document, Node] = {}
        self.lines: dict[tuple[str, str], int] = {}
        self.printed: list[Node] | None = None
        self._named: dict[tuple[str, str], Node] | None = None
        self._check_root()
        self._follow(self.main, {self._key(self.main): self.main}, 1)

    @property
    def base(self) -> Path | None:
        """Folder of the main file; None for text."""
        return None if self.main.path is None else self.main.path.parent

    def _check_root(self) -> None:
        root = self.main.root
        if root.tag == "mujoco":
            return
        if root.tag == "mujocoinclude":
            message = "the root element is <mujocoinclude>: this is a part that other files include, no model"
            raise root.fail(message, code="not-a-model", repair="load the file that includes it")
        other = {"robot": " (URDF)", "sdf": " (SDF)"}.get(root.tag, "")
        raise root.fail(f"the root element is <{root.tag}>{other}, expected <mujoco>", code="wrong-root")

    @staticmethod
    def _key(document: Document) -> str:
        return "" if document.path is None else os.path.realpath(document.path)

    def _follow(self, document: Document, seen: dict[str, Document | None], depth: int) -> None:
        """Parse the files that a file includes and attaches; MuJoCo refuses missing ones."""
        for node in _all(document.root):
            name = node.element.get("file")
            if name is None or not (node.tag == "include" or node.tag == "model"):
                continue
            path = self.included(document, name)
            if path is None:
                self._check_ordinary(document, node, name)
                continue
            if node.tag == "include":
                self.includes[name] = path
            key = os.path.realpath(path)
            if key in seen:
                if node.tag == "model" and seen[key] is not None:
                    self.attached[node] = seen[key]
                continue
            if len(seen) >= _MOST_FILES:
                raise node.fail(f"more than {_MOST_FILES} files are included", code="too-large")
            if depth >= DEEPEST:
                raise node.fail(f"{node.path}: files are nested deeper than {DEEPEST}", code="nesting")
            seen[key] = None
            try:
                part = document.part(path)
            except FileFormatError as error:
                if node.tag == "model":
                    continue  # may be of another format that MuJoCo reads
                document.reject(error)
                continue
            seen[key] = part
            self.documents.append(part)
            if node.tag == "include":
                self.parts[node], self._included_by[part] = part, node
            else:
                self.attached[node] = part
            self._follow(part, seen, depth + 1)

    def _check_ordinary(self, document: Document, node: Node, name: str) -> None:
        """Refuse to include a file that is not an ordinary one, for which MuJoCo would wait."""
        for folder in self.folders(document):
            if (kind := why_not_ordinary(folder / name)) and kind != "a folder":
                message = f"{node.path}: '{name}' is {kind}, no ordinary file"
                document.reject(node.fail(message, code="not-a-file", repair="save it as a file first"))

    def included(self, document: Document, name: str) -> Path | None:
        """The file that a document includes or attaches by a name, if it is there."""
        for folder in self.folders(document):
            if os.path.isfile(folder / name) and not why_not_ordinary(folder / name):
                return folder / name
        return None

    def folders(self, document: Document) -> list[Path]:
        """The folders of the files that a document names: its own folder and that of the main file."""
        main = self.base or Path()
        own = main if document.path is None else document.path.parent
        return [own] if own == main else [own, main]

    def holder(self, node: Node) -> Node:
        """The element of the main file or of its includes: itself, or the ``<model>`` by which its file was reached."""
        by_model: dict[Document, Node] = {}
        for model, part in self.attached.items():
            by_model.setdefault(part, model)
        found = node
        while (top := self.top(found.document)) is not self.main:
            found = by_model[top]
        return found

    def top(self, document: Document) -> Document:
        """The file that a file is included in, directly or through others: names are valid throughout it."""
        while (include := self._included_by.get(document)) is not None:
            document = include.document
        return document

    def nodes(self) -> Iterator[Node]:
        """Every element of every file, roots included."""
        for document in self.documents:
            yield from _all(document.root)

    def find(self, kind: str, name: str) -> Node | None:
        """The element that gives a name of a kind ("body", "joint", ...), if it stands in a file under that name."""
        return self._names().get((kind, name))

    def named(self) -> Iterator[tuple[tuple[str, str], Node]]:
        """All (kind, name) with their elements, including invented names as far as they are known."""
        yield from self._names().items()

    def blamed(self, error: Exception) -> Node | None:
        """The element that an error of a collecting document points to."""
        return next((d.latest[1] for d in self.documents if d.latest is not None and d.latest[0] is error), None)

    def _names(self) -> dict[tuple[str, str], Node]:
        if self._named is None:
            self._named = {}
            for node in self.nodes():
                given = node.element.get("name")
                if given is not None:
                    self._named.setdefault((kind_of(node), given), node)
        return self._named

    def remember(self, kind: str, name: str, line: int) -> None:
        """Record the place of an element without a name in the file, by the line that MuJoCo gives."""
        if self.printed is None:
            self.lines[kind, name] = line
        elif line <= len(self.printed):
            self._names().setdefault((kind, name), self.printed[line - 1])

    def place(self, at: Node | tuple[str, str] | None) -> tuple[Document, Node | int | None]:
        """The file of an object, and its element or line there; the main file alone where that is unknown.

        Parameters
        ----------
        at : Node, (kind, name) or None
        """
        found = at if at is None or isinstance(at, Node) else self.find(*at) or self.lines.get(at)
        return (found.document if isinstance(found, Node) else self.main), found

    def fail(self, at: Node | tuple[str, str] | None, message: str, *error: type, **values: object) -> Exception:
        """The error about an object, with file and line in front; see `place` and `Document.fail`."""
        document, place = self.place(at)
        return document.fail(place, message, *error, **values)

    def number_error(self, word: str, fault: str) -> Exception | None:
        """The error about the first attribute with such a number: "nan" or "inf"; None if there is none.

        MuJoCo only warns of NaN and may compile it into zeros; infinity is a number to it. Neither comes with a line.
        """
        pattern = re.compile(rf"[+-]?{word}(inity|\(.*\))?", re.IGNORECASE)
        for node in self.nodes():
            for attribute, value in node.element.items():
                # Limits may be infinite.
                if attribute == "name" or (word == "inf" and attribute.endswith("range")):
                    continue
                if any(pattern.fullmatch(each) for each in value.split()):
                    return node.bad_number(attribute, f": {fault}", KNOWN if word == "nan" else "")
        return None

    def compiler_error(self, text: str) -> Exception:
        """A message of MuJoCo's parser or compiler, as an MJCFError that begins with file and line."""
        found = parsed_message(text)
        message, code = found.message, found.code
        if found.tag is None and found.name is None and found.line is None:
            node = self._with_file(message)
            message += f" ({found.rest})" if found.rest else ""
        else:
            node = self._blamed(message, found.tag, found.name, found.line)
            if found.tag:
                message += f" (element <{found.tag}>)"
            elif found.name:
                message += f" (element '{found.name}')"
        tag, kind = ("", "") if node is None else (node.tag, node.element.get("type"))
        if code == "file-not-found" and tag == "include":
            code = "include-not-found"
        if code == "bad-choice" and tag == "joint" and f"'{kind}'" in message:
            code = "unknown-joint-type"
        document = node.document if node is not None else self.main
        place = node if node is not None else found.line
        words = re.findall(r"'([^']*)'", found.message)
        repair = likely(code, words, tag, self._all_names() if code == "unknown-name" else ()) or found.repair
        return document.fail(place, f"MuJoCo: {message}", code=code, repair=repair, text=text)

    def _all_names(self) -> list[str]:
        named = [name for node in self.nodes() if (name := node.element.get("name"))]
        classes = [node.element.get("class", "") for node in self.nodes() if node.tag == "default"]
        return list(dict.fromkeys(named + classes))

    def _with_file(self, message: str) -> Node | None:
        """The element of a file that cannot be opened, about which MuJoCo gives no line."""
        found = re.search(r"Error opening file '([^']*)'|(?:file|resource) '([^']*)'", message)
        if not found:
            return None
        file = Path((found[1] or found[2]).replace("\\", "/")).name
        named = (node for node in self.nodes() if file and (node.element.get("file") or "").endswith(file))
        return next(named, None)

    def _blamed(self, message: str, tag: str | None, name: str | None, line: int | None) -> Node | None:
        """MuJoCo gives lines of included files as 0; their elements are found by name, or by the bad attribute."""
        if self.printed is not None and line is not None:
            return self.printed[line - 1] if line <= len(self.printed) else None
        if line is not None:
            alike = [n for n in _all(self.main.root) if tag == n.tag or (name and name == n.element.get("name"))]
            # Ours is the line on which a tag ends, MuJoCo's the one on which it begins.
            there = (node for node in alike if node.line == line)
            return next(there, None) or next((node for node in alike if node.line > line), None)
        if name:
            return next((node for node in self.nodes() if node.element.get("name") == name), None)
        attribute = re.search(r"unrecognized attribute: '([^']*)'", message)
        if attribute:
            bad = (n for n in self.nodes() if n.tag == tag and n.element.get(attribute[1]) is not None)
            return next(bad, None)
        return None


def _all(root: Node) -> Iterator[Node]:
    for element in root.element.iter():
        if isinstance(element.tag, str):
            yield root.document.node(element)


def kind_of(node: Node) -> str:
    """MuJoCo's kind of an element: names are unique within a kind."""
    if node.parent_tag in ("equality", "tendon", "actuator"):
        return node.parent_tag
    return "joint" if node.tag == "freejoint" else node.tag
