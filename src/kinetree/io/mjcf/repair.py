"""A copy of an MJCF file in which one fault after the other is repaired, so that MuJoCo goes on to the next.

MuJoCo stops at its first error. Lint makes it read a copy in which the element at fault is replaced by one that breaks
no rule, and so on. Errors that follow from a repair alone (a motor whose joint had to be removed) are not reported.
The copy is one text, without includes, with one element on each line, so that each of MuJoCo's lines is an element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from kinetree.io.mjcf.messages import WORDS, nearest, schema
from kinetree.io.mjcf.sources import Sources, kind_of
from kinetree.io.xml.reader import Node

_REFERENCES = ("class", "childclass", "material", "dclass")  # attributes that an element can do without
_CARRIERS = ("body", "worldbody", "frame", "replicate")
_NO_CLASS = "/"  # among the lost names: that of a class, which cannot be determined
_ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
_FREEDOMS = "more than 6 dofs|followed by|free joint|freejoint|joints? in|have joints|at most one"
# Valid values by attribute; for other attributes the format's default is taken.
_SOUND = {
    "pos": "0 0 0", "quat": "1 0 0 0", "axis": "0 0 1", "euler": "0 0 0", "size": "0.1 0.1 0.1", "mass": "1",
    "diaginertia": "1 1 1", "fullinertia": "1 1 1 0 0 0", "coef": "1", "gear": "1", "radius": "0.1",
}  # fmt: skip
_TETRAHEDRON = "0 0 0 1 0 0 0 1 0 0 0 1"
_BY_NAME = {"dry friction": "frictionloss", "actfrcrange": "actuatorfrcrange", "force range": "forcerange",
            "control range": "ctrlrange", "activation range": "actrange"}  # fmt: skip


class MendedCopy:
    """The text that MuJoCo reads instead of the files.

    Parameters
    ----------
    sources : Sources
        Its trees are changed; lines and errors stay those of the files.

    Attributes
    ----------
    unjudged : set of Node
        Bodies whose mass is a stand-in.
    """

    __slots__ = ("unjudged", "_freedoms", "_lost", "_made", "_mends", "_sources", "_touched")

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.unjudged: set[Node] = set()
        self._lost: set[str | None] = set()  # names that are gone; None: one that cannot be determined
        self._touched: set[Node] = set()  # elements that lost a part
        self._mends: dict[tuple[Node, str], int] = {}
        self._made: set[tuple[Node, str]] = set()  # tags and attributes that were written here
        self._freedoms = False  # whether the number of positions is another one now
        for node in list(sources.nodes()):
            # An include that stands for nothing, though its file is there: it is broken, or included before.
            if node.tag == "include" and node not in sources.parts and node.element.get("file") in sources.includes:
                self.remove(node)

    def text(self) -> str:
        """The copy as one text; ``sources.printed`` then lists the element of each line."""
        lines: list[str] = []
        printed: list[Node] = []
        self._sources.printed = printed
        for text, node in self._printed(self._sources.main.root):
            lines.append(text)
            printed.append(node)
        return "\n".join(lines)

    def _printed(self, node: Node) -> Iterator[tuple[str, Node]]:
        part = self._sources.parts.get(node)
        if part is not None:
            for child in part.root.all_children():
                yield from self._printed(child)
            return
        attributes = {_plain(node, name): value for name, value in node.element.attrib.items()}
        if node.tag == "model" and (path := self._sources.included(node.document, attributes.get("file", ""))):
            attributes["file"] = str(path.absolute())
        tag = _plain(node, node.tag)
        yield f"<{tag}{''.join(f' {name}={quoteattr(value)}' for name, value in attributes.items())}>", node
        for child in node.all_children():
            yield from self._printed(child)
        yield f"</{tag}>", node

    # Attribution --------------------------------------------------------------------------------------------------

    def follows(self, error: Exception, node: Node | None) -> bool:
        """Whether an error comes from a repair, and not from the files."""
        code, message = getattr(error, "code", ""), str(getattr(error, "summary", error))
        if code == "unknown-name":
            if "default c" in message and _NO_CLASS in self._lost:
                return True
            return None in self._lost or not self._lost.isdisjoint(_quoted(message))
        if re.search("invalid (qpos|qvel) size", message):
            return self._freedoms
        if node is not None and code in ("not-in-format", "bad-number", "bad-choice"):
            if any((node, name) in self._made for name in _quoted(message)):
                return True
            return "unrecognized element" in message and (node, node.tag) in self._made
        return node in self._touched and code in ("massless-leaf", "mujoco", "bad-geometry")

    # Repairs ------------------------------------------------------------------------------------------------------

    def repair(self, error: Exception, node: Node | None) -> bool:
        """Change the element at fault; False if no repair is known."""
        if node is None:
            return False
        if (holder := self._sources.holder(node)) is not node:
            # MuJoCo reads attached files itself, so that nothing can be repaired in them.
            return holder.element.getparent() is not None and self.remove(holder)
        code, message = getattr(error, "code", ""), str(getattr(error, "summary", error))
        tried = self._mends[node, message] = self._mends.get((node, message), 0) + 1
        if tried == 1 and self._mended(code, message, node, getattr(error, "attribute", None)):
            return True
        if tried > 2 or node.tag in ("mujoco", "worldbody") or node.element.getparent() is None:
            return False
        self.remove(node)
        return True

    def _mended(self, code: str, message: str, node: Node, attribute: str | None) -> bool:
        of_mass = node.tag in ("body", "inertial") and code in ("negative-mass", "bad-number", "format")
        if of_mass and attribute is None and "attribute" not in message and "orientation" not in message:
            return self._with_inertia(node)
        match code:
            case "massless-leaf" | "impossible-inertia" | "inertia-without-mass":
                return self._with_inertia(node)
            case "bad-geometry":
                return _with_shape(node)
            case "file-not-found" if node.tag == "mesh":
                return _with_shape(node)
            case "bad-number" | "missing-attribute":
                return self._with_value(node, attribute or _attribute_in(message, node), message)
            case "unknown-name":
                return self._without_reference(node, message)
            case "not-in-format":
                return self._respelled(node, message)
            case "bad-choice" | "unknown-joint-type":
                return self._chosen(node, message)
            case "duplicate-name" if node.tag == "default":
                return _set(node, "class", f"{node.element.get('class')}/{len(self._mends)}")
            case "duplicate-name":
                return _set(node, "name", None)
            case "zero-axis":
                return _set(node, "axis", "0 0 1")
            case "limit-order":
                return _without_limits(node, message)
            case "negative-mass":
                _set(node, "density", None)
                return _set(node, "mass", "1")
            case "negative-dissipation":
                words = re.search(r": ([a-z ]+) -", message)
                return bool(words) and _set(node, _BY_NAME.get(words[1], words[1]), "0")
            case "bad-quaternion":
                return _set(node, "quat", None)
            case "format" if "orientation" in message:
                stated = [name for name in node.element.attrib if name in _ORIENTATIONS]
                return all([_set(node, name, None) for name in stated[1:]])
            case "repeated-element":
                again = [child for child in node.all_children() if child.tag == _quoted(message)[0]]
                return len(again) > 1 and self.remove(again[-1])
            case "mujoco" if re.search(_FREEDOMS, message):
                joints = [child for child in node.all_children() if child.tag in ("joint", "freejoint")]
                return any([self.remove(joint) for joint in joints[1:]])
        return False

    def remove(self, node: Node) -> bool:
        """Remove an element; references to its content are then no fault of the file."""
        parent = node.element.getparent()
        if node.tag in ("include", "attach", "replicate", "default", "frame"):
            self._lost.add(None)
        for element in node.element.iter():
            if isinstance(element.tag, str):
                inner = node.document.node(element)
                self._lost |= {element.get("name"), element.get("class") if inner.tag == "default" else None} - {None}
                self._freedoms |= inner.tag in ("joint", "freejoint") and element.getparent().tag in _CARRIERS
        self._touched.add(node.document.node(parent))
        parent.remove(node.element)
        return True

    def _with_inertia(self, node: Node) -> bool:
        """Give the body of an element the mass and inertia of 1."""
        while node.tag != "body":
            if node.element.getparent() is None:
                return False
            node = node.document.node(node.element.getparent())
        for child in node.all_children():
            if child.tag == "inertial":
                node.element.remove(child.element)
        node.element.append(node.element.makeelement(
            "inertial", {name: _SOUND[name] for name in ("pos", "mass", "diaginertia")}
        ))  # fmt: skip
        self.unjudged.add(node)
        return True

    def _with_value(self, node: Node, attribute: str | None, message: str) -> bool:
        if node.tag == "default" and "empty class" in message:
            self._lost.add(_NO_CLASS)
            return _set(node, "class", f"/{len(self._mends)}")
        if attribute is None:
            return False
        if node.tag == "inertial" or attribute in ("mass", "density"):
            body = node.element.getparent()
            self.unjudged.add(node.document.node(body))
        if attribute in _SOUND:
            self._made.add((node, attribute))
            return _set(node, attribute, _SOUND[attribute])
        return _set(node, attribute, None)

    def _without_reference(self, node: Node, message: str) -> bool:
        named = _quoted(message)
        stated = [name for name, value in node.element.attrib.items() if value in named and name != "name"]
        if "childclass" in message:
            stated = ["childclass"]
        if stated and node.tag == "geom" and stated[0] in ("mesh", "hfield"):
            return _with_shape(node)
        return bool(stated) and stated[0] in _REFERENCES and _set(node, stated[0], None)

    def _respelled(self, node: Node, message: str) -> bool:
        """Rename to the name that was probably meant, so that references to it stay valid."""
        attribute = re.search(r"attribute: '([^']*)'", message)
        if attribute is None:
            meant = nearest(node.tag, schema())
            node.element.tag = meant or node.tag
            self._made.add((node, meant))
            return meant is not None
        value = node.element.attrib.pop(attribute[1], None)
        meant = nearest(attribute[1], schema().get(node.tag, ()))
        if value is not None and meant and meant not in node.element.attrib:
            node.element.set(meant, value)
            self._made.add((node, meant))
        return value is not None

    def _chosen(self, node: Node, message: str) -> bool:
        named = _quoted(message)
        stated = [name for name, value in node.element.attrib.items() if value in named]
        for name in stated[:1]:
            meant = nearest(node.element.get(name), WORDS)
            del node.element.attrib[name]
            if meant and name == "type":
                node.element.set(name, meant)
            self._freedoms |= name == "type" and kind_of(node) == "joint" and not meant
        return bool(stated)


def _with_shape(node: Node) -> bool:
    """A ball for a geom, a tetrahedron for a mesh."""
    attributes = node.element.attrib
    if node.tag == "mesh":
        if not attributes.get("name"):
            attributes["name"] = re.sub(r".*[/\\]|\.[^.]*$", "", attributes.get("file", "")) or "mesh"
        for name in [name for name in attributes if name not in ("name", "class")]:
            del attributes[name]
        attributes["vertex"] = _TETRAHEDRON
        return True
    if node.tag not in ("geom", "site"):
        return False
    for name in ("fromto", "mesh", "hfield", "fitscale"):
        attributes.pop(name, None)
    attributes.update({"type": "sphere", "size": "0.1"})
    return True


def _without_limits(node: Node, message: str) -> bool:
    found = re.search(r"\w*range|force range|control range|activation range", message)
    name = _BY_NAME.get(found[0], found[0]) if found else "range"
    stated = _set(node, name, None)
    if name == "range" and node.tag not in ("joint", "fixed", "spatial"):
        return stated
    return _set(node, name.replace("range", "limited"), "false")


def _set(node: Node, name: str, value: str | None) -> bool:
    """Give an attribute a value, or take it away for None; whether that changes anything."""
    changed = node.element.get(name) != value
    node.element.attrib.pop(name, None)
    if value is not None:
        node.element.set(name, value)
    return changed


def _quoted(message: str) -> list[str]:
    return re.findall(r"'([^']*)'", message)


def _attribute_in(message: str, node: Node) -> str | None:
    """The attribute that a message is about: one in quotes, or named with its size."""
    sized = re.search(r"invalid (\w+) size", message)
    missing = re.search(r"attribute missing: '(\w+)'", message)
    if missing:
        return missing[1] if missing[1] in _SOUND else None
    names = ([sized[1]] if sized else []) + _quoted(message)
    return next((name for name in names if name in node.element.attrib), None)


def _plain(node: Node, name: str) -> str:
    """A tag or attribute as the file writes it, with its prefix."""
    if not name.startswith("{"):
        return name
    space, _, local = name[1:].partition("}")
    prefix = next((prefix for prefix, uri in node.element.nsmap.items() if uri == space), None)
    return f"{prefix}:{local}" if prefix else local
