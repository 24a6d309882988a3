"""Mutations of robot files: bytes that make no sense, and XML that does but describes something else."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence

from lxml import etree

VALUES = (
    "", " ", "0", "-0", "1", "-1", "nan", "NaN", "inf", "-inf", "1e308", "-1e308", "1e-308", "1e999", "1e-9", "1e9",
    "0x10", "1_000", "1,5", "١", "true", "false", "None", "world", "base", "..", "/", "a b", "é", "\x7f", "0 0 0",
    "0 0 1", "1 1 1 1", "nan nan nan", "0 0", "1e200 1e200 1e200", "${x}", "$(find a)", "package://../../x.stl",
    "file:///dev/zero", "%s%n",
    "9" * 400, "x" * 5000, "3.14159265358979", "6.283185307179586", "auto", "limited", "free", "ball", "hinge", "slide",
    "fixed", "floating", "planar", "revolute", "continuous", "prismatic", "screw", "universal", "gearbox",
)  # fmt: skip
TAGS = (
    "link", "joint", "inertial", "mass", "inertia", "origin", "axis", "limit", "mimic", "visual", "collision",
    "geometry", "mesh", "parent", "child", "body", "geom", "freejoint", "site", "equality", "tendon", "actuator",
    "default", "compiler", "worldbody", "model", "frame", "pose", "include", "world", "robot", "mujoco", "sdf",
    "option", "keyframe", "key", "flex", "replicate", "attach", "composite", "plugin", "extension", "asset",
    "numeric", "xacro:macro", "dynamics",
)  # fmt: skip
BYTES = (b"\x00", b"\xff\xfe", b"&lt;", b"&x;", b"<!--", b"]]>", b"<![CDATA[", b"<?xml?>", b"\xc3", b"<", b">", b'"')


def mutated(content: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """A file that differs from ``content`` by a few mutations; ``others`` lend their pieces."""
    if rng.random() < 0.3:
        for _ in range(rng.choice((1, 1, 2, 5))):
            content = rng.choice(_ON_BYTES)(content, others, rng)
        return content
    try:
        root = etree.fromstring(content)
    except etree.XMLSyntaxError:
        return _cut(content, others, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        rng.choice(_ON_TREES)(root, others, rng)
    return etree.tostring(root)


# Bytes ---------------------------------------------------------------------------------------------------------------


def _flip(content: bytes, others, rng: random.Random) -> bytes:
    if not content:
        return b"<"
    at = rng.randrange(len(content))
    return content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]


def _cut(content: bytes, others, rng: random.Random) -> bytes:
    a, b = sorted((rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)))
    return content[:a] + content[b:] if rng.random() < 0.5 else content[:b]


def _insert(content: bytes, others, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(BYTES) + content[at:]


def _splice(content: bytes, others, rng: random.Random) -> bytes:
    other = rng.choice(others)
    a, b = sorted((rng.randrange(len(other) + 1), rng.randrange(len(other) + 1)))
    at = rng.randrange(len(content) + 1)
    return content[:at] + other[a : min(b, a + 2000)] + content[at:]


def _digit(content: bytes, others, rng: random.Random) -> bytes:
    places = [i for i, c in enumerate(content) if chr(c) in "0123456789.-+e"]
    if not places:
        return content
    at = rng.choice(places)
    return content[:at] + rng.choice(b"0123456789.-+e ,").to_bytes(1, "big") + content[at + 1 :]


# Trees ---------------------------------------------------------------------------------------------------------------


def _elements(root) -> list:
    return [element for element in root.iter() if isinstance(element.tag, str)]


def _value(root, others, rng: random.Random) -> None:
    """Another value for an attribute: odd, or that of the same attribute elsewhere."""
    holders = [element for element in _elements(root) if element.attrib]
    if not holders:
        return
    element = rng.choice(holders)
    name = rng.choice(list(element.attrib))
    same = [other.get(name) for other in holders if other.get(name) is not None]
    value = rng.choice(same) if rng.random() < 0.4 else rng.choice(VALUES)
    words = element.get(name).split()
    if len(words) > 1 and rng.random() < 0.5:
        words[rng.randrange(len(words))] = rng.choice(VALUES)
        value = " ".join(words)
    try:
        element.set(name, value)
    except ValueError:  # no XML character
        element.set(name, "?")


def _text(root, others, rng: random.Random) -> None:
    holders = [element for element in _elements(root) if element.text and element.text.strip()]
    if holders:
        words = (holder := rng.choice(holders)).text.split()
        words[rng.randrange(len(words))] = rng.choice([value for value in VALUES if value.isprintable()])
        holder.text = " ".join(words)


def _number(root, others, rng: random.Random) -> None:
    """Scale, negate or clear one number."""
    holders = [(e, a) for e in _elements(root) for a, x in e.attrib.items() if any(c.isdigit() for c in x)]
    if not holders:
        return
    element, name = rng.choice(holders)
    words = element.get(name).split()
    k = rng.randrange(len(words))
    try:
        x = float(words[k])
    except ValueError:
        return
    words[k] = repr(rng.choice((-x, 0.0, x * 1e3, x * 1e-3, x * 1e6, x + 1.0, x * 1e150, x * 1e-200, x + 1e-9)))
    element.set(name, " ".join(words))


def _drop_attribute(root, others, rng: random.Random) -> None:
    holders = [element for element in _elements(root) if element.attrib]
    if holders:
        element = rng.choice(holders)
        del element.attrib[rng.choice(list(element.attrib))]


def _rename_attribute(root, others, rng: random.Random) -> None:
    holders = [element for element in _elements(root) if element.attrib]
    if holders:
        element, names = rng.choice(holders), [a for e in holders for a in e.attrib]
        old = rng.choice(list(element.attrib))
        value = element.attrib.pop(old)
        element.set(rng.choice(names), value)


def _delete(root, others, rng: random.Random) -> None:
    elements = [element for element in _elements(root) if element.getparent() is not None]
    if elements:
        element = rng.choice(elements)
        element.getparent().remove(element)


def _copy(root, others, rng: random.Random) -> None:
    """A copy of an element somewhere else, sometimes inside itself."""
    elements = _elements(root)
    piece = copy.deepcopy(rng.choice(elements))
    rng.choice(elements).insert(0, piece)


def _repeat(root, others, rng: random.Random) -> None:
    """Hundreds of copies of an element side by side, under names of their own: the clock sees what grows too fast."""
    elements = [element for element in _elements(root) if len(element) < 20]
    piece = copy.deepcopy(rng.choice(elements))
    to = rng.choice(_elements(root))
    for k in range(rng.choice((30, 300, 1000))):
        again = copy.deepcopy(piece)
        if again.get("name") is not None and rng.random() < 0.9:
            again.set("name", f"{again.get('name')}{k}")
        to.append(again)


def _move(root, others, rng: random.Random) -> None:
    elements = _elements(root)
    element, to = rng.choice(elements), rng.choice(elements)
    if element.getparent() is not None and element not in (to, *to.iterancestors()):
        to.append(element)


def _rename(root, others, rng: random.Random) -> None:
    rng.choice(_elements(root)).tag = rng.choice([tag for tag in TAGS if ":" not in tag])


def _foreign(root, others, rng: random.Random) -> None:
    """An element of another file."""
    try:
        other = etree.fromstring(rng.choice(others))
    except etree.XMLSyntaxError:
        return
    piece = rng.choice(_elements(other))
    if len(etree.tostring(piece)) < 5000:
        rng.choice(_elements(root)).append(piece)


def _nest(root, others, rng: random.Random) -> None:
    inner = rng.choice(_elements(root))
    for _ in range(rng.choice((3, 30, 300))):
        inner = etree.SubElement(inner, rng.choice(TAGS).replace(":", "_"))


def _swap_names(root, others, rng: random.Random) -> None:
    """Two elements exchange the values of one attribute: parents and children, names, types."""
    name = rng.choice(("name", "link", "joint", "type", "class", "joint1", "body1", "site", "file", "xyz", "pos"))
    holders = [element for element in _elements(root) if element.get(name) is not None]
    if len(holders) > 1:
        a, b = rng.sample(holders, 2)
        x, y = a.get(name), b.get(name)
        a.set(name, y)
        b.set(name, x)


_ON_BYTES: tuple[Callable, ...] = (_flip, _cut, _insert, _splice, _digit, _digit)
_ON_TREES: tuple[Callable, ...] = (
    _value, _value, _value, _text, _number, _number, _drop_attribute, _rename_attribute, _delete, _copy, _move, _rename,
    _foreign, _nest, _swap_names, _repeat,
)  # fmt: skip
