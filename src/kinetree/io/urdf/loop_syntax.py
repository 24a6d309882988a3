"""TOML and YAML texts of side files: their tables, the lines of these, and the way back.

Both are plain data. Of YAML a part is read that has the same meaning in all versions: no anchors, aliases, merges, tags
or second documents, and only ``true``, ``false``, ``null`` and decimal numbers are no texts. Events of PyYAML's scanner
are enough for that; nothing is constructed, so nested references cannot grow, and depth is checked while it reads.
"""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kinetree.errors import MissingDependencyError

YAML_SUFFIXES = (".yaml", ".yml")
MOST_VALUES = 50_000  # in YAML, of which a MiB could take 12 s
DEEPEST = 8  # tables in a list in a mapping with a pose of lists need 6
_PLAIN = {"true": True, "True": True, "false": False, "False": False, "null": None, "~": None, "": None}
_INTEGER = re.compile(r"[-+]?\d+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class SyntaxFault(Exception):
    """A text breaks the syntax: message, line, repair."""


@dataclass(frozen=True, slots=True)
class Tables:
    """A text as data.

    Attributes
    ----------
    content : dict
    line_of : callable
        ``line_of(kind, k, key)``: the line of a key of the k-th table of a kind, or without ``key`` of the table, or
        without ``k`` of the kind; None where it is not known.
    """

    content: dict
    line_of: Callable[..., int | None]


def parsed(text: str, suffix: str) -> Tables:
    """The tables of a text in the syntax of a suffix.

    Raises
    ------
    SyntaxFault, MissingDependencyError
    """
    try:
        return _of_yaml(text) if suffix in YAML_SUFFIXES else _of_toml(text)
    except (RecursionError, ValueError, OverflowError):
        raise SyntaxFault("values are nested too deep, or too long", None, "a table holds plain values") from None


# TOML ----------------------------------------------------------------------------------------------------------------


def _of_toml(text: str) -> Tables:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line = int(place[1]) if place else len(text.splitlines())
        message = str(error).partition(" (at ")[0]
        raise SyntaxFault(f"not TOML: {message}", line, "see https://toml.io; names are in quotes") from None
    headers: dict[str, list[int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\[\s*\"?(\w+)\"?\s*\]\]", line):
            headers.setdefault(header[1], []).append(number)

    def line_of(kind: str, k: int | None = None, key: str | None = None) -> int | None:
        if k is None:
            return _line_of_key(text, 1, kind)
        known = headers.get(kind, ())
        line = known[k] if len(known) == len(content[kind]) else None
        return line if key is None else _line_of_key(text, line, key)

    return Tables(content, line_of)


def _line_of_key(text: str, start: int | None, key: str) -> int | None:
    """The line of a key at or after a line, before the next table."""
    for number, line in enumerate(text.splitlines(), 1):
        if start is None or number < start:
            continue
        if number > start and re.match(r"\s*\[\[", line) and key not in line:
            break
        if re.match(rf"\s*(\[+\s*)?[\"']?{re.escape(key)}[\"']?\s*[\]=.]", line):
            return number
    return start


# YAML ----------------------------------------------------------------------------------------------------------------


def _of_yaml(text: str) -> Tables:
    try:
        yaml = importlib.import_module("yaml")
    except ImportError:
        raise MissingDependencyError(
            "files of loops in YAML need the package PyYAML: pip install pyyaml. "
            "Files of the same entries in TOML, such as robot.loops.toml, need nothing",
            package="yaml", code="missing-dependency",
        ) from None  # fmt: skip
    try:
        read = _Yaml(yaml.parse(text, Loader=yaml.SafeLoader))
        content = read.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise SyntaxFault(f"not YAML: {error.problem or error.context}", line, "see https://yaml.org") from None
    except yaml.YAMLError as error:
        raise SyntaxFault(f"not YAML: {str(error).splitlines()[0]}", None, "see https://yaml.org") from None

    def line_of(*path) -> int | None:
        while path and path not in read.lines:
            path = path[:-1]
        return read.lines.get(path)

    return Tables(content, line_of)


class _Yaml:
    """Plain data from events, and the lines of all keys and entries by their paths."""

    def __init__(self, events: Iterator) -> None:
        self.events, self.lines = events, {}

    def document(self) -> dict:
        """The one document; no content is an empty mapping."""
        event = self._next("StreamStart")
        event = self._next()
        if self._is(event, "StreamEnd"):
            return {}
        content = self._value(self._next(), ())
        self._next("DocumentEnd")
        event = self._next()
        if not self._is(event, "StreamEnd"):
            raise self._fault(event, "a second document", "leave one")
        if content is None:
            return {}
        if not isinstance(content, dict):
            raise SyntaxFault("expected a mapping from kinds to lists of tables", 1, "begin with 'loop:'")
        return content

    def _next(self, kind: str = ""):
        event = next(self.events)
        if kind and not self._is(event, kind):
            raise self._fault(event, "no YAML document", "see https://yaml.org")
        return event

    @staticmethod
    def _is(event, kind: str) -> bool:
        return type(event).__name__ == f"{kind}Event"

    @staticmethod
    def _fault(event, message: str, repair: str) -> SyntaxFault:
        return SyntaxFault(message, event.start_mark.line + 1, repair)

    def _value(self, event, path: tuple):
        self.lines.setdefault(path, event.start_mark.line + 1)
        if len(self.lines) > MOST_VALUES:
            raise self._fault(event, f"more than {MOST_VALUES} values", "is this a loop file?")
        if self._is(event, "Alias") or event.anchor is not None:
            raise self._fault(event, "anchors and aliases (&, *) are not read", "write the value itself")
        if event.tag not in (None, "!"):
            raise self._fault(event, f"tags ({event.tag[:40]}) are not read", "write the value without it")
        if len(path) > DEEPEST:
            raise self._fault(event, "values are nested too deep", "a table holds plain values")
        if self._is(event, "Scalar"):
            return _scalar(event.value) if event.implicit[0] else event.value
        return self._mapping(path) if self._is(event, "MappingStart") else self._sequence(path)

    def _sequence(self, path: tuple) -> list:
        found: list = []
        while not self._is(event := self._next(), "SequenceEnd"):
            found.append(self._value(event, (*path, len(found))))
        return found

    def _mapping(self, path: tuple) -> dict:
        found: dict = {}
        while not self._is(event := self._next(), "MappingEnd"):
            if not self._is(event, "Scalar"):
                raise self._fault(event, "a key is no plain word", "write key: value")
            key = event.value
            if key in found:
                raise self._fault(event, f"'{key[:40]}' is there twice", "leave one")
            self.lines[*path, key] = event.start_mark.line + 1
            found[key] = self._value(self._next(), (*path, key))
        return found


def _scalar(text: str) -> object:
    """The value of a text without quotes."""
    if text in _PLAIN:
        return _PLAIN[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "")) if _INFINITE.fullmatch(text) else text


# Writing -------------------------------------------------------------------------------------------------------------


def table_text(kind: str, tables: list[dict], suffix: str) -> str:
    """The text of all tables of a kind.

    Parameters
    ----------
    kind : str
    tables : list of dict
    suffix : str
        ".toml", ".yaml" or ".yml".
    """
    if suffix in YAML_SUFFIXES:
        entries = ["\n    ".join(f"{key}: {_yaml(x)}" for key, x in table.items()) for table in tables]
        return f"{kind}:\n" + "\n".join(f"  - {entry}" for entry in entries)
    return "\n\n".join("\n".join([f"[[{kind}]]", *(f"{key} = {_toml(x)}" for key, x in t.items())]) for t in tables)


def _toml(value) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return _text(value, _toml, " = ")


def _yaml(value) -> str:
    if isinstance(value, str):
        # Also line breaks of YAML that JSON does not escape, and characters that it forbids.
        return re.sub(r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]",
                      lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))  # fmt: skip
    text = _text(value, _yaml, ": ")
    return f"{text[:-3]}.{text[-3:]}" if text in ("inf", "-inf") else text


def _text(value, inner, equals: str) -> str:
    """A flag, list, mapping or number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(inner, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key}{equals}{inner(x)}' for key, x in value.items())} }}"
    return repr(float(value) + 0.0)
