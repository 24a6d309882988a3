"""Strict reading of XML: typed attributes, errors that carry file and line, and a record of everything nobody read.

A reader asks a ``Node`` for the attributes and children that it understands. What it never asked for is left over, and
``Document.unread()`` lists it. So nothing in a file is skipped in silence, and no list of "known but ignored" tags has
to be complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kinetree.errors import FileFormatError

# float() would also take "nan", "1_000" and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


class Document:
    """One parsed file; builds the errors that point into it.

    Attributes
    ----------
    file : str
        The path as the user gave it, or ``"<string>"`` for text.
    path : Path or None
        Where the file lies; None for text.
    root : Node
        The root element.
    """

    __slots__ = ("file", "path", "root", "_error", "_lines_before", "_nodes")

    def __init__(self, source: str | Path, error: type[FileFormatError]) -> None:
        self._error = error
        self._nodes: dict = {}
        text = source.lstrip("\ufeff \t\r\n") if isinstance(source, str) else ""
        if text.startswith("<"):
            self.path, self.file = None, "<string>"
            self._lines_before = source[: len(source) - len(text)].count("\n")
            # The text is Unicode already: an encoding in its declaration is the one of the file it came from.
            text = re.sub(r"""^(<\?xml[^>]*?)\s+encoding\s*=\s*("[^"]*"|'[^']*')""", r"\1", text)
            content = text.encode("utf-8")
        elif isinstance(source, str) and (not text or "\n" in text):
            self.path, self.file, self._lines_before = None, "<string>", 0
            raise self.fail(1, "this text is empty" if not text else "this text is not XML: it does not begin with '<'")
        else:
            self.path, self.file, self._lines_before = Path(source), str(source), 0
            content = self._bytes()
        self.root = self.node(self._parse(content))

    def _bytes(self) -> bytes:
        if not self.path.exists():
            raise FileNotFoundError(f"{self.file}: no such file")
        if not self.path.is_file():
            raise self.fail(None, "this is not a file")
        return self.path.read_bytes()

    def _parse(self, content: bytes) -> object:
        from lxml import etree

        if not content.strip():
            raise self.fail(None, "the file is empty")
        # No entity is expanded, nothing is fetched, and depth and size stay within libxml2's guards.
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False
        )
        try:
            root = etree.fromstring(content, parser)
        except etree.XMLSyntaxError as error:
            message = re.sub(r", line \d+, column \d+$", "", error.msg)
            raise self.fail(self.line(error.lineno), f"not well-formed XML: {message}") from None
        dtd = root.getroottree().docinfo.internalDTD
        if dtd is not None and (dtd.system_url or any(True for _ in dtd.iterentities())):
            raise self.fail(1, "the document type declares entities or an external file; these are refused")
        for element in root.iter(etree.Entity):
            raise self.fail(self.line(element.sourceline), f"entity {element.text} is not expanded")
        return root

    def node(self, element: object) -> Node:
        """Return the one Node of an element."""
        if element not in self._nodes:
            self._nodes[element] = Node(self, element)
        return self._nodes[element]

    def line(self, parsed: int | None) -> int | None:
        """Return the line in the source of a line that the parser counted."""
        return parsed + self._lines_before if parsed else None

    def where(self, line: int | None) -> str:
        return f"{self.file}:{line}" if line else self.file

    def fail(self, at: Node | int | None, message: str, error: type | None = None, **values: object) -> Exception:
        """Build the error that opens with file and line; the caller raises it."""
        line = at.line if isinstance(at, Node) else at
        return (error or self._error)(f"{self.where(line)}: {message}", file=self.file, line=line, **values)

    def unread(self) -> Iterator[tuple[Node, str | None]]:
        """Yield ``(node, None)`` for each element and ``(node, attribute)`` for each attribute that nobody asked for.

        The content of an unread element is not listed again.
        """
        yield from self._unread(self.root)

    def _unread(self, node: Node) -> Iterator[tuple[Node, str | None]]:
        for name in node.element.attrib:
            if name not in node.read_attributes:
                yield node, name
        for child in node.all_children():
            if child.tag in node.read_children:
                yield from self._unread(child)
            else:
                yield child, None


class Node:
    """One element: typed attributes and children, remembering which were asked for."""

    __slots__ = ("document", "element", "read_attributes", "read_children")

    def __init__(self, document: Document, element: object) -> None:
        self.document = document
        self.element = element
        self.read_attributes: set[str] = set()
        self.read_children: set[str] = set()

    @property
    def tag(self) -> str:
        return self.element.tag

    @property
    def line(self) -> int:
        return self.document.line(self.element.sourceline)

    @property
    def path(self) -> str:
        """The place in the tree, with names: ``robot/joint[knee]/limit``."""
        parts = []
        for element in (self.element, *self.element.iterancestors()):
            name = element.get("name")
            inner = name is not None and element.getparent() is not None
            parts.append(f"{element.tag}[{name}]" if inner else element.tag)
        return "/".join(reversed(parts))

    def fail(self, message: str, error: type | None = None, **values: object) -> Exception:
        return self.document.fail(self, message, error, **values)

    def all_children(self) -> list[Node]:
        return [self.document.node(child) for child in self.element if isinstance(child.tag, str)]

    def children(self, tag: str) -> list[Node]:
        self.read_children.add(tag)
        return [child for child in self.all_children() if child.tag == tag]

    def child(self, tag: str, required: bool = False) -> Node | None:
        """Return the only child of this tag, or None."""
        found = self.children(tag)
        if len(found) > 1:
            raise found[1].fail(f"{self.path} holds <{tag}> twice (first on line {found[0].line}); one is allowed")
        if required and not found:
            raise self.fail(f"{self.path} has no <{tag}>, which the format requires")
        return found[0] if found else None

    def has(self, name: str) -> bool:
        return self.element.get(name) is not None

    def text(self, name: str, default: str | None = None, required: bool = False) -> str | None:
        """Return an attribute as text; a required one must be there and not empty."""
        self.read_attributes.add(name)
        value = self.element.get(name)
        if value is None:
            if required:
                raise self.fail(f"{self.path} has no attribute '{name}', which the format requires")
            return default
        if required and not value.strip():
            raise self.fail(f"{self.path}: attribute '{name}' is empty")
        return value

    def number(
        self, name: str, default: float | None = None, required: bool = False, infinite: bool = False
    ) -> float | None:
        """Return an attribute as one number; NaN never, infinity only where it means "no limit"."""
        value = self.text(name, required=required)
        if value is None:
            return default
        words = value.split()
        if len(words) != 1:
            raise self.fail(f"{self.path}: attribute '{name}' is {value!r}, expected one number")
        return self._number(name, value, words[0], infinite)

    def vector(self, name: str, size: int, default: tuple[float, ...] | None = None, required: bool = False):
        """Return an attribute as a tuple of ``size`` numbers separated by white space."""
        value = self.text(name, required=required)
        if value is None:
            return default
        words = value.split()
        if len(words) != size:
            comma = " (numbers are separated by spaces, not by commas)" if "," in value else ""
            raise self.fail(
                f"{self.path}: attribute '{name}' is {value!r}: {len(words)} numbers, expected {size}{comma}"
            )
        return tuple(self._number(name, value, word, False) for word in words)

    def _number(self, name: str, value: str, word: str, infinite: bool) -> float:
        if infinite and _INFINITE.fullmatch(word):
            return float(word)
        number = float(word) if _NUMBER.fullmatch(word) else None
        if number is None or number in (float("inf"), -float("inf")):
            comma = "; the decimal separator is a point" if "," in word else ""
            raise self.fail(f"{self.path}: attribute '{name}' is {value!r}: {word!r} is not a finite number{comma}")
        return number
