"""Strict reading of XML: typed attributes, errors with file and line, and a record of everything that was not read.

A reader requests from a ``Node`` the attributes and children that it supports. The others are left over, and
``Document.unread()`` lists them. So nothing in a file is skipped in silence, and no list of "known but ignored" tags
has to be complete.

A reader stops at the first error. A collecting document (``collect=True``) goes on instead: ``attempt`` keeps the error
of a part and gives its default, a number that cannot be read is NaN. Comparisons with NaN are false, so that one broken
number breaks no further rule.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path

from kinetree.errors import FileFormatError, KinetreeError, UnsupportedError
from kinetree.io.foreign import foreign_name, refusal
from kinetree.io.xml.numbers import BadNumber, parse_number
from kinetree.io.xml.source import FileContent, check_length, decode, read_bytes

_KEPT = object()  # stands for an attribute whose error a collecting document has kept
LONGEST_NAME = 1000  # characters
MOST_ATTRIBUTES = 1000  # of an element: each is looked up by going through them
MOST_HINTS = 20  # messages about one file that compare a name with all others
LONGEST_PATH = 4096  # characters; a longer "path" is a text that is not XML

_DECLARATION = re.compile(r"<\?xml(\s[^>]*?)\?>")
_VERSION = re.compile(r"""\sversion\s*=\s*["']([^"']*)["']""")

# Part of libxml2's message, rule, our message and suggested repair.
_SYNTAX = (
    ("Excessive depth", "nesting", "elements are nested deeper than 256", "no robot file needs that"),
    ("mplification|ntity reference loop", "entities", None, "entities are not expanded; write the text itself"),
    ("limit exceeded", "too-large", "an attribute or a text is longer than 10 million characters", ""),
    ("declaration allowed only", "malformed-xml", None, "move <?xml ...?> to the very beginning of the file"),
    ("Premature end", "malformed-xml", None, "is the file cut off, or a closing tag missing?"),
    ("tag mismatch", "malformed-xml", None, "elements are closed in the reverse order of their opening"),
    ("Extra content", "malformed-xml", None, "a file has one root element; is it closed too early?"),
    ("ntityRef|ntity '", "entities", None, "write &amp; for an ampersand and &lt; for a less-than sign"),
    ("invalid character|Char value", "malformed-xml", None, "remove the control character"),
    ("Namespace prefix", "malformed-xml", None, "declare it in the root element: xmlns:prefix='...'"),
    ("redefined", "malformed-xml", None, "an element has each attribute once"),
)


class Document:
    """One parsed file; builds the errors that point into it.

    Parameters
    ----------
    source : str or path
        A file, read already (`FileContent`) or not, or text that begins with ``<``.
    error : type
        Class of the errors about this file.
    collect : bool
        Keep errors in ``problems`` and go on, instead of raising the first.

    Attributes
    ----------
    file : str
        The path as the user gave it, or ``"<string>"`` for text.
    path : Path or None
        Where the file lies; None for text.
    root : Node
        The root element.
    problems : list of KinetreeError, or None
        The errors that were kept; None where the first one raises.
    remarks : list of (line, message)
        The corrections without which the text could not be read.
    latest : (error, Node or None), or None
        The last error that a collecting document built, and the element that it points to.
    """

    __slots__ = ("file", "path", "root", "problems", "remarks", "latest", "_broken", "_error", "_hints", "_kept",
                 "_lines_before", "_nodes")  # fmt: skip

    def __init__(self, source: str | PathLike, error: type[FileFormatError], *, collect: bool = False) -> None:
        self._error = error
        self._nodes: dict = {}
        self.latest: tuple[Exception, Node | None] | None = None
        self._broken: set[Node] = set()
        self._kept: set[str] = set()
        self._hints = MOST_HINTS
        self.problems: list[KinetreeError] | None = [] if collect else None
        self.remarks: list[tuple[int, str]] = []
        self._lines_before = 0
        self.path, self.file = None, "<string>"
        head = source[: LONGEST_PATH + 1].lstrip("\ufeff \t\r\n") if isinstance(source, str) else ""
        if isinstance(source, str) and (not head or head[0] == "<" or "\n" in head or len(head) >= LONGEST_PATH):
            check_length(source, self._refuse)
            text = source
        else:
            self.path, self.file = Path(source), str(source)
            content = source.content if isinstance(source, FileContent) else read_bytes(self.path, self._refuse)
            text = decode(content, self._refuse)
        self.root = self.node(self._parse(self._content(text)))

    def _refuse(self, line: int | None, message: str, code: str, repair: str) -> Exception:
        foreign = foreign_name(self.path) if code in ("not-xml", "encoding") else None
        if foreign is not None:
            what = f"{foreign[0]} by its name ({self.path.suffix})"
            return self.fail(None, refusal(what), UnsupportedError, code="not-xml", repair=foreign[1])
        return self.fail(line, message, code=code, repair=repair)

    def _content(self, text: str) -> bytes:
        """The text from its first "<" on as UTF-8, without the declaration: its encoding is that of the file."""
        what = "this text" if self.path is None else "the file"
        content = text.lstrip("\ufeff \t\r\n")
        self._lines_before = text.count("\n", 0, len(text) - len(content))
        if not content:
            raise self.fail(1 if self.path is None else None, f"{what} is empty", code="empty-file")
        if content[0] != "<":
            message = f"{what} is not XML: it does not begin with '<' but with {shown(content[:20])}"
            raise self._refuse(self.line(1), message, "not-xml", "")
        if declaration := _DECLARATION.match(content):
            version = _VERSION.search(declaration[1])
            if version and not version[1].startswith("1."):
                remark = f"the declaration has XML version {shown(version[1])}, which does not exist: read as 1.0"
                self.remarks.append((self.line(1), remark))
            lines = declaration[0].count("\n")
            content = "\n" * lines + content[declaration.end() :]
        # Refused before parsing, so that no guard of the parser has to hold.
        if "<!DOCTYPE" in content:
            bare = _without_comments(content)
            if "<!ENTITY" in bare or re.search(r"<!DOCTYPE\s+[^\s>\[]+\s+(SYSTEM|PUBLIC)\b", bare):
                raise self._entities()
        try:
            return content.encode("utf-8")
        except UnicodeEncodeError as error:
            line = self.line(content.count("\n", 0, error.start) + 1)
            raise self.fail(line, "the text holds half a character (a lone surrogate)", code="encoding") from None

    def _entities(self) -> Exception:
        message = "the document type declares entities or an external file; these are refused"
        return self.fail(self.line(1), message, code="entities", repair="remove <!DOCTYPE ...>")

    def _parse(self, content: bytes) -> object:
        from lxml import etree

        # No entity is expanded, nothing is fetched, and depth and size stay within libxml2's guards.
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False
        )
        try:
            root = etree.fromstring(content, parser)
        except etree.XMLSyntaxError as error:
            text = re.sub(r",? line \d+, column \d+$", "", error.msg or "no element found").strip()
            known = next((entry for entry in _SYNTAX if re.search(entry[0], text)), ("", "malformed-xml", None, ""))
            _, code, message, repair = known
            message = message or f"not well-formed XML: {text}"
            raise self.fail(self.line(error.lineno), message, code=code, repair=repair) from None
        dtd = root.getroottree().docinfo.internalDTD
        if dtd is not None and (dtd.system_url or any(True for _ in dtd.iterentities())):
            raise self._entities()
        for element in root.iter(etree.Entity):
            message = f"entity {element.text} is not expanded"
            raise self.fail(self.line(element.sourceline), message, code="entities")
        for element in root.iter(etree.Element):
            if len(element.attrib) > MOST_ATTRIBUTES:
                message = f"<{element.tag}> has {len(element.attrib)} attributes, at most {MOST_ATTRIBUTES} are read"
                raise self.fail(self.line(element.sourceline), message, code="too-large")
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

    def fail(
        self,
        at: Node | int | None,
        message: str,
        error: type | None = None,
        *,
        code: str = "format",
        repair: str = "",
        **values: object,
    ) -> Exception:
        """Build the error that begins with file and line; the caller raises it.

        Parameters
        ----------
        at : Node, int or None
            The element, the line, or neither.
        message : str
            The value found, and the rule that it breaks.
        error : type, optional
            Default: the class of the document's errors.
        code : str
            Short name of the rule, the same in all releases; see docs/lint.md.
        repair : str
            Suggested repair; ends the message.
        **values
            Become attributes, beside ``file, line, element, summary, code, repair``.
        """
        node = at if isinstance(at, Node) else None
        line = node.line if node is not None else at
        ended = "" if message.endswith((".", "?")) else "."
        # An option such as inertia='project' keeps its spelling.
        opening = repair[:1].upper() if re.match(r"[a-z]+[ ,.?]", repair) else repair[:1]
        text = f"{message}{ended} {opening}{repair[1:]}" if repair else message
        place = {"element": None if node is None else node.path, "summary": message}
        values = {"code": code, "repair": repair, **place, **values}
        made = (error or self._error)(f"{self.where(line)}: {text}", file=self.file, line=line, **values)
        if self.problems is not None:
            self.latest = made, node
        return made

    def may_hint(self) -> bool:
        """Whether a message may compare a name with all others: that is for the first of very many."""
        self._hints -= 1
        return self._hints >= 0

    def part(self, path: Path) -> Document:
        """Parse another file that belongs to this one; its collected errors join this one's."""
        part = Document(path, self._error, collect=self.problems is not None)
        part.problems, part._kept = self.problems, self._kept
        return part

    def reject(self, error: KinetreeError, instead: object = None) -> object:
        """Raise an error; a collecting document keeps it and returns the substitute."""
        if self.problems is None:
            raise error
        self._keep(error)
        return instead

    def _keep(self, error: KinetreeError) -> None:
        """Keep an error, once; one that ``follows`` from another is none of the file's."""
        if str(error) not in self._kept and not getattr(error, "follows", False):
            self._kept.add(str(error))
            self.problems.append(error)

    def attempt(self, read: Callable, *arguments: object, default: object = None, whole: Node | None = None) -> object:
        """Read one part that others do not depend on: ``read(*arguments)``.

        A collecting document keeps the error of a part and returns the default. ``whole`` is the element that is lost
        with it: nothing in there is listed as unread.
        """
        if self.problems is None:
            return read(*arguments)
        try:
            return read(*arguments)
        except KinetreeError as error:
            self._keep(error)
            if whole is not None:
                self.lose(whole)
            return default

    def lose(self, node: Node) -> None:
        """Nothing in an element counts as unread, because it could not be read as a whole."""
        self._broken.add(node)

    def unread(self) -> Iterator[tuple[Node, str | None]]:
        """Yield ``(node, None)`` for each element and ``(node, attribute)`` for each attribute that was not requested.

        The content of an unread element is not listed again.
        """
        yield from self._unread(self.root)

    def _unread(self, node: Node) -> Iterator[tuple[Node, str | None]]:
        if node in self._broken:
            return
        for name in node.element.attrib:
            if name not in node.read_attributes:
                yield node, name
        for child in node.all_children():
            if child.tag in node.read_children:
                yield from self._unread(child)
            else:
                yield child, None


class Node:
    """One element: typed attributes and children, with a record of those requested."""

    __slots__ = ("document", "element", "read_attributes", "read_children", "_tags")

    def __init__(self, document: Document, element: object) -> None:
        self.document = document
        self.element = element
        self.read_attributes: set[str] = set()
        self.read_children: set[str] = set()
        self._tags: frozenset[str] | None = None

    @property
    def tag(self) -> str:
        return self.element.tag

    @property
    def parent_tag(self) -> str:
        """The tag of the element around this one; empty for the root."""
        parent = self.element.getparent()
        return "" if parent is None else parent.tag

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
            parts.append(f"{element.tag}[{_short(name)}]" if inner else element.tag)
        return "/".join(reversed(parts))

    def fail(self, message: str, error: type | None = None, **values: object) -> Exception:
        """Build the error that points to this element; see `Document.fail`."""
        return self.document.fail(self, message, error, **values)

    def reject(self, message: str, instead: object = None, **values: object) -> object:
        """Raise the error about this element, or keep it and return the substitute; see `Document.reject`."""
        return self.document.reject(self.document.fail(self, message, **values), instead)

    def all_children(self) -> list[Node]:
        return [self.document.node(child) for child in self.element if isinstance(child.tag, str)]

    def children(self, tag: str) -> list[Node]:
        self.read_children.add(tag)
        return [self.document.node(child) for child in self.element.iterchildren(tag)]

    def child(self, tag: str, required: bool = False) -> Node | None:
        """Return the only child of this tag, or None."""
        found = self.children(tag)
        if len(found) > 1:
            found[1].reject(
                f"{self.path} holds <{tag}> twice (first on line {found[0].line}); one is allowed",
                code="repeated-element",
                repair="remove one of them",
            )
        if required and not found:
            raise self.fail(f"{self.path} has no <{tag}>, which the format requires", code="missing-element")
        return found[0] if found else None

    def has(self, name: str) -> bool:
        return self.element.get(name) is not None

    def text(self, name: str, default: str | None = None, required: bool = False) -> str | None:
        """Return an attribute as text; a required one must be there and not empty."""
        self.read_attributes.add(name)
        value = self.element.get(name)
        if value is None:
            if required:
                message = f"{self.path} has no attribute '{name}', which the format requires"
                like = self.likely(name)
                repair = f"is '{like}' a misspelling of it?" if like else ""
                raise self.fail(message, code="missing-attribute", repair=repair, attribute=name)
            return default
        if required and not value.strip():
            raise self.fail(f"{self.path}: attribute '{name}' is empty", code="empty-attribute", attribute=name)
        return value

    def name(self, attribute: str = "name") -> str:
        """Return a required attribute that names something: not empty, of printable characters, not too long."""
        value = self.text(attribute, required=True)
        if len(value) > LONGEST_NAME:
            raise self.fail(
                f"{self.path}: attribute '{attribute}' has {len(value)} characters, at most {LONGEST_NAME} are read",
                code="bad-name",
                value=value,
            )
        if not value.isprintable():
            hidden = next(character for character in value if not character.isprintable())
            raise self.fail(
                f"{self.path}: attribute '{attribute}' is {shown(value)}, which holds the character {hidden!r} that "
                "cannot be seen",
                code="bad-name",
                repair="remove it",
                value=value,
            )
        return value

    def number(
        self, name: str, default: float | None = None, required: bool = False, infinite: bool = False
    ) -> float | None:
        """Return an attribute as one number; NaN never, infinity only where it means "no limit"."""
        found = self._numbers(name, 1, required, infinite)
        return default if found is None else found[0]

    def vector(self, name: str, size: int, default: tuple[float, ...] | None = None, required: bool = False):
        """Return an attribute as a tuple of ``size`` numbers separated by white space."""
        found = self._numbers(name, size, required, False)
        return default if found is None else found

    def _numbers(self, name: str, size: int, required: bool, infinite: bool) -> tuple[float, ...] | None:
        value = self.document.attempt(self.text, name, None, required, default=_KEPT)
        if value is None or value is _KEPT:
            return None if value is None else (math.nan,) * size
        words = value.split()
        if len(words) != size:
            comma = " (numbers are separated by spaces, not by commas)" if "," in value else ""
            wrong = ", expected one number" if size == 1 else f": {len(words)} numbers, expected {size}{comma}"
            return self.document.reject(self.bad_number(name, wrong), (math.nan,) * size)
        return tuple(self._number(name, word, infinite) for word in words)

    def _number(self, name: str, word: str, infinite: bool) -> float:
        try:
            return parse_number(word, infinite)
        except BadNumber as bad:
            return self.document.reject(self.bad_number(name, f": {shown(word)} {bad.fault}", bad.repair), math.nan)

    def bad_number(self, name: str, fault: str, repair: str = "") -> Exception:
        """Build the error about the numbers of an attribute; ``fault`` follows its value in the message."""
        value = self.element.get(name)
        message = f"{self.path}: attribute '{name}' is {shown(value)}{fault}"
        return self.fail(message, code="bad-number", repair=repair, attribute=name, value=value)

    def likely(self, name: str) -> str | None:
        """Return the attribute of this element that looks like a misspelling of a name, if there is one."""
        return _close(name, [other for other in self.element.attrib if other not in self.read_attributes])

    def meant(self, name: str) -> str | None:
        """Return the attribute that an unread one looks like a misspelling of: one requested that is not there."""
        return _close(name, [other for other in self.read_attributes if other not in self.element.attrib])

    def meant_child(self, tag: str) -> str | None:
        """Return the tag that the tag of an unread child looks like a misspelling of, as `meant`."""
        if self._tags is None:  # called for each of many children
            self._tags = frozenset(child.tag for child in self.all_children())
        wanted = [other for other in self.read_children if other not in self._tags or other.lower() == tag.lower()]
        return _close(tag, wanted)


def _without_comments(text: str) -> str:
    """The text without comments and processing instructions, as far as these are closed; in one pass."""
    kept, start = [], 0
    ends = {"<!--": "-->", "<?": "?>"}
    while found := re.compile("|".join(map(re.escape, ends))).search(text, start):
        end = text.find(ends[found[0]], found.end())
        if end < 0:
            # Nothing closes it, so nothing that begins like it is closed either.
            del ends[found[0]]
            kept.append(text[start : found.end()])
            start = found.end()
        else:
            kept.append(text[start : found.start()])
            start = end + len(ends[found[0]])
        if not ends:
            break
    return "".join(kept) + text[start:]


def values_of(error: KinetreeError) -> dict[str, object]:
    """The attributes of an error that one with another place and message keeps."""
    return {name: value for name, value in vars(error).items() if name not in ("message", "file", "line", "element")}


def shown(value: str, longest: int = 60) -> str:
    """A value in quotes, cut where it is long."""
    return repr(value) if len(value) <= longest else f"{value[:longest]!r}... ({len(value)} characters)"


def likely_word(word: str, known: Iterable[str]) -> str:
    """The question whether a known word was meant, for the end of a message; empty if none is like it."""
    likely = difflib.get_close_matches(word[:LONGEST_NAME].strip().lower(), list(known), n=1)
    return f"did you mean '{likely[0]}'?" if likely else ""


def _short(name: str) -> str:
    return name if len(name) <= 60 and name.isprintable() else shown(name)[1:-1]


def _close(name: str, others: list[str]) -> str | None:
    """The one that differs in case or in a letter or two."""
    if len(name) > LONGEST_NAME:
        return None
    folded = {other.lower(): other for other in sorted(others)}
    found = difflib.get_close_matches(name.lower(), list(folded), n=1, cutoff=0.8)
    return folded[found[0]] if found else None
