"""Numbers of MJCF files by the same grammar as those of other formats, before MuJoCo reads them.

MuJoCo takes ``0x10`` for 16, ``1e300`` for a length and ``1e-400`` for zero. In URDF and SDF files these are errors,
and so they are here. What is no number at all, MuJoCo refuses itself.
"""

from __future__ import annotations

import re

from kinetree.io.mjcf.sources import Sources
from kinetree.io.xml.numbers import BadNumber, parse_number
from kinetree.io.xml.reader import Node, shown

# Words that MuJoCo may read in its own way: hexadecimal, with an exponent, or of very many digits.
_SUSPICIOUS = re.compile(r"[0-9.][xXeE]|[0-9]{40}")
_NUMBER = re.compile(r"[+-]?(0[xX][0-9a-fA-F.]+([pP][+-]?\d+)?|(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)", re.ASCII)
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
                _check(node, attribute, value)


def _check(node: Node, attribute: str, value: str) -> None:
    limits = attribute.endswith("range")
    for word in value.split():
        if not _SUSPICIOUS.search(word) or not _NUMBER.fullmatch(word):
            continue
        try:
            parse_number(word, limits)
        except BadNumber as bad:
            message = f"{node.path}: attribute '{attribute}' is {shown(value)}: {shown(word)} {bad.fault}"
            values = {"code": "bad-number", "repair": bad.repair, "attribute": attribute, "value": value}
            raise node.fail(message, **values) from None


def _is_unused(node: Node) -> bool:
    return any(element.tag in _UNUSED for element in (node.element, *node.element.iterancestors()))
