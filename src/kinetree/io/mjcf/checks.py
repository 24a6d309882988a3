"""Checks of an MJCF file before MuJoCo's compiler reads it: numbers, and sizes of the elements it would generate.

Numbers have the same grammar as those of other formats. MuJoCo takes ``0x10`` for 16, ``1e300`` for a length and
``1e-400`` for zero; in URDF and SDF files these are errors, and so they are here. Text that is not a number is
refused by MuJoCo itself.

Copies, arrays and steps are counted before MuJoCo's compiler makes them.
A count of ten digits would fill the memory or take days in code that cannot be interrupted. Nothing is made here: each
element is visited once, and its counts are multiplied by the replicates around it and by the files that attach it.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from kinetree.files import LARGEST_MESH, read_ordinary, why_not_ordinary
from kinetree.io.mjcf.sources import DEEPEST, Sources
from kinetree.io.xml.numbers import BadNumber, parse_number
from kinetree.io.xml.reader import Document, Node, shown

MOST_COPIES = 100_000  # elements that are written nowhere: MuJoCo's time for these grows with their square
MOST_NUMBERS = 2**24  # in arrays, as MuJoCo itself has it for delays
MOST_STEPS = 10**7  # of the simulations that find length ranges
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")

# By tag: pairs of an attribute, or several whose product counts, and the number where it is absent.
_COPIES = {"flexcomp": (("count", 1.0), ("cellcount", 1.0)), "flex": (("cellcount", 1.0),), "size": (("nkey", 0.0),)}
_ARRAYS = {
    "hfield": ("nrow", "ncol"), "camera": ("resolution",), "user": ("dim",), "contact": ("num",), "numeric": ("size",),
    **dict.fromkeys(("general", "plugin"), ("actdim",)),
}  # fmt: skip

# Words that MuJoCo may read in its own way: hexadecimal, with an exponent, or of very many digits.
_SUSPICIOUS = re.compile(r"[0-9.][xXeE]|[0-9]{40}")
_DECIMAL = re.compile(r"[+-]?(0[xX][0-9a-fA-F.]+([pP][+-]?\d+)?|(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)", re.ASCII)
# Attributes that hold text; those that refer to something hold its name.
_TEXTS = frozenset({
    "name", "class", "childclass", "dclass", "model", "prefix", "meshdir", "texturedir", "assetdir", "key", "value",
    "content_type", "user",
})  # fmt: skip
_UNUSED = frozenset({"custom", "sensor", "statistic", "visual"})  # sections without effect on a model


def check_numbers(sources: Sources) -> None:
    """Refuse numbers that are not decimal, too large for products of them, or vanish as a float.

    Raises
    ------
    MJCFError
        With the element and the attribute.
    """
    names: set[str] | None = None
    for node in sources.nodes():
        for attribute, value in node.element.attrib.items():
            if not _SUSPICIOUS.search(value) or attribute in _TEXTS or attribute.startswith("file"):
                continue
            if names is None:
                names = {given for each in sources.nodes() if (given := each.element.get("name")) is not None}
            if value not in names and not _is_unused(node):
                _check_words(node, attribute, value)


def _check_words(node: Node, attribute: str, value: str) -> None:
    limits = attribute.endswith("range")
    for word in value.split():
        if not _SUSPICIOUS.search(word) or not _DECIMAL.fullmatch(word):
            continue
        try:
            parse_number(word, limits)
        except BadNumber as bad:
            raise node.bad_number(attribute, f": {shown(word)} {bad.fault}", bad.repair) from None


def _is_unused(node: Node) -> bool:
    return any(element.tag in _UNUSED for element in (node.element, *node.element.iterancestors()))


@dataclass(slots=True)
class _Made:
    """Counts of an element: elements that are written, all that are made, numbers, actuators, files in a row."""

    written: float = 0.0
    elements: float = 0.0
    numbers: float = 0.0
    actuators: float = 0.0
    height: int = 0

    def add(self, other: _Made, times: float = 1.0, copied: bool = False) -> None:
        self.written += 0.0 if copied else other.written
        self.elements += times * other.elements
        self.numbers += times * other.numbers
        self.actuators += times * other.actuators
        self.height = max(self.height, other.height)


def check_sizes(sources: Sources) -> None:
    """Refuse files that would make MuJoCo's compiler fill the memory, run for hours, wait for a pipe, or recurse.

    Raises
    ------
    MJCFError
        With file and line: models that attach themselves, more than `MOST_COPIES` elements by replicates, attached
        models and grids, arrays of more than `MOST_NUMBERS` numbers, or length ranges by more than `MOST_STEPS` steps.
    """
    counter = _Counter(sources)
    made = counter.of(sources.main, ())
    for node in counter.length_ranges:
        _check_length_range(node, made.actuators, counter.step)


def check_file(path, node: Node) -> None:
    """Refuse a pipe, a device, or a file larger than the limit for meshes, before MuJoCo opens it.

    Raises
    ------
    MJCFError
    """
    kind = why_not_ordinary(path)
    if kind and kind != "a folder":  # MuJoCo has its own message for folders
        raise node.fail(f"{node.path}: the file {path} is {kind}, no ordinary file", code="not-a-file", repair="")
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    if size > LARGEST_MESH:
        limit = f"meshes above {LARGEST_MESH >> 20} MiB are not read"
        raise _too_large(node, f"the file {path} has {size / 2**20:.0f} MiB; {limit}")
    if node.tag == "hfield" and size and (points := _points_of_picture(path)) > MOST_NUMBERS:
        raise _too_large(node, f"the file {path} has {points} points; at most {MOST_NUMBERS} are read")


def _points_of_picture(path) -> int:
    """Width times height of a PNG file, 0 of others: a few compressed bytes may expand to gigabytes."""
    try:
        head = read_ordinary(path, 31)
    except OSError:
        return 0
    if not head.startswith(b"\x89PNG"):
        return 0
    return int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")


def _places(sources: Sources, node: Node, name: str) -> Iterator:
    """Where MuJoCo may look for a file: in the folder of meshes that the file or the main one states."""
    name = name.replace("\\", "/")
    folders = {""}
    for document in {sources.main, node.document}:
        for compiler in document.root.element.iter("compiler"):
            folders |= {compiler.get("meshdir", ""), compiler.get("assetdir", "")}
            if len(folders) > 8:  # each further file is looked for in as many
                break
    for base in sources.folders(node.document):
        for folder in folders:
            yield base / folder / name
            yield base / folder / name.rpartition("/")[2]


class _Counter:
    """Counts the elements that the files of a model make, each file once."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._known: dict[Document, _Made] = {}
        self._models: dict[tuple[Document, str], Document] = {}
        self.length_ranges: list[Node] = []
        self.step = 0.002  # of the model, or less [s]
        self._defaults: dict[tuple[str, str], float] = {}
        for node in sources.nodes():
            if node.tag == "model" and node in sources.attached:
                name = sources.top(node.document), node.element.get("name") or ""
                self._models.setdefault(name, sources.attached[node])
            if node.parent_tag == "default":
                for name in (*_ARRAYS.get(node.tag, ()), "nsample"):
                    key = node.tag, name
                    self._defaults[key] = max(self._defaults.get(key, 1.0), _count(node, name, 1.0))

    def of(self, document: Document, above: tuple[Document, ...]) -> _Made:
        """Counts of a file, with all that it includes and attaches."""
        if document in self._known:
            return self._known[document]
        found: dict[object, _Made] = {}  # within an element
        for element in reversed([each for each in document.root.element.iter() if isinstance(each.tag, str)]):
            node = document.node(element)
            made = self._own(node)
            if element in found:
                copies = max(1.0, _count(node, "count", 1.0)) if node.tag == "replicate" else 1.0
                made.add(found.pop(element), copies)
            if part := self._part(node):
                if part is document or part in above:  # MuJoCo would recurse until the process dies
                    message = f"the file {part.file} is part of itself: it includes or attaches a file that leads here"
                    repair = "a model cannot contain itself"
                    raise node.fail(f"{node.path}: {message}", code="include-cycle", repair=repair)
                again = node.tag == "attach" or part in self._known
                inner = self.of(part, (*above, document)) if len(above) < DEEPEST else None
                if inner is None or inner.height >= DEEPEST:
                    raise node.fail(f"{node.path}: files are nested deeper than {DEEPEST}", code="nesting")
                made.add(inner, copied=again)
            self._check(node, made)
            found.setdefault(element.getparent(), _Made()).add(made)
        total = self._known[document] = found[None]
        total.height += 1
        return total

    def _part(self, node: Node) -> Document | None:
        """The file whose content replaces an element, or that is read because of it."""
        sources = self._sources
        if node.tag == "attach":
            return self._models.get((sources.top(node.document), node.element.get("model") or ""))
        return {"include": sources.parts, "model": sources.attached}.get(node.tag, {}).get(node)

    def _own(self, node: Node) -> _Made:
        made = _Made(1.0, 1.0)
        if node.parent_tag == "default":
            return made
        for name, absent in _COPIES.get(node.tag, ()):
            made.elements += _count(node, name, absent)
        stated = [_count(node, name, self._defaults.get((node.tag, name), 1.0)) for name in _ARRAYS.get(node.tag, ())]
        samples = _count(node, "nsample", self._defaults.get((node.tag, "nsample"), 0.0))
        made.numbers += math.prod(stated) + samples + _of_builtin(node)
        made.actuators += node.parent_tag == "actuator"
        return made

    def _check(self, node: Node, made: _Made) -> None:
        if node.tag == "lengthrange":
            self.length_ranges.append(node)
        if node.tag == "option" and (step := _count(node, "timestep", 0.0)):
            self.step = min(self.step, step)
        if node.tag == "flexcomp" and (name := node.element.get("file")):
            for path in _places(self._sources, node, name):
                check_file(path, node)
        if made.elements - made.written > MOST_COPIES:
            many = f"{made.elements:.3g} elements of the {made.written:.0f} written ones"
            message = f"MuJoCo would make {many}; at most {MOST_COPIES} copies are made"
            raise _too_large(node, message, "is a count too large?")
        if made.numbers > MOST_NUMBERS:
            message = f"this takes arrays of {made.numbers:.3g} numbers; at most {MOST_NUMBERS} are made"
            raise _too_large(node, message, "is a size too large?")


def _check_length_range(node: Node, actuators: float, step: float) -> None:
    total, own = _count(node, "inttotal", 10.0), _count(node, "timestep", 0.01)
    steps = actuators * total / (own or step)
    if steps > MOST_STEPS:
        what = f"{steps:.3g} steps to find length ranges of actuators; at most {MOST_STEPS} are made"
        repair = "is 'inttotal' too large, or 'timestep' too small? mode=\"none\" looks for no ranges"
        raise _too_large(node, f"MuJoCo would simulate {what}", repair)


def _too_large(node: Node, message: str, repair: str = "") -> Exception:
    return node.fail(f"{node.path}: {message}", code="too-large", repair=repair)


def _of_builtin(node: Node) -> float:
    """Vertices of a mesh that MuJoCo makes, times the cost of each of them in its convex hull."""
    if node.tag != "mesh" or not node.element.get("builtin"):
        return 0.0
    first, second = ([max(1.0, number) for number in _numbers(node, "params")] + [1.0, 1.0])[:2]
    return 16.0 * max(first * second, first * first)


def _count(node: Node, name: str, absent: float) -> float:
    """The product of the numbers of an attribute that are above 1; MuJoCo refuses values that are not numbers."""
    if node.element.get(name) is None:
        return absent
    numbers = _numbers(node, name)
    return math.prod(max(1.0, number) for number in numbers) if len(numbers) > 1 else sum(numbers)


def _numbers(node: Node, name: str) -> list[float]:
    # As far as they are numbers: MuJoCo may take "10abc" for 10.
    words = (node.element.get(name) or "").split(maxsplit=8)[:8]
    return [min(abs(float(found[0])), 1e30) for word in words if (found := _NUMBER.match(word))]
