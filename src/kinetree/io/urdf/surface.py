"""Contact data of links, which URDF leaves to programs: PyBullet's ``<contact>``, and elements of Gazebo."""

from __future__ import annotations

import math
from dataclasses import replace

from kinetree.io.number_text import number_text
from kinetree.io.writing import add
from kinetree.io.xml.reader import Node
from kinetree.model.contact_data import FRICTION
from kinetree.model.parts import Geometry

_PYBULLET = {
    "lateral_friction": "sliding", "spinning_friction": "torsional", "rolling_friction": "rolling",
    "restitution": "restitution", "stiffness": "stiffness", "damping": "damping",
}  # fmt: skip
_GAZEBO = {"mu1": "sliding", "kp": "stiffness", "kd": "damping"}
_ALIKE = ("friction", "restitution", "stiffness", "damping")  # of all shapes of a link


def surfaces(root: Node) -> dict[str, dict[str, object]]:
    """Contact data by link, as arguments of Geometry; those of ``<contact>`` go before those of Gazebo."""
    found: dict[str, dict[str, float]] = {}
    for node in root.all_children():
        if node.tag == "gazebo" and (link := node.element.get("reference")):
            found.setdefault(link, {}).update(_numbers(node, _GAZEBO))
    for node in root.all_children():
        link = node.element.get("name")
        for contact in node.all_children() if node.tag == "link" and link else ():
            if contact.tag == "contact":
                found.setdefault(link, {}).update(_numbers(contact, _PYBULLET))
    return {link: arguments for link, values in found.items() if (arguments := _arguments(values))}


def with_surface(shapes: list[Geometry], data: dict[str, object]) -> list[Geometry]:
    """Shapes of a link with its contact data, if they are there for contacts."""
    return [shape if shape.role == "visual" else replace(shape, **data) for shape in shapes]


def _numbers(node: Node, names: dict[str, str]) -> dict[str, float]:
    """The valid numbers of an element of another program, whose faults are not ours."""
    found = {}
    for child in node.all_children():
        if child.tag in names:
            try:
                value = float(child.element.get("value") or child.element.text or "")
            except ValueError:
                continue
            if 0.0 <= value < math.inf and not (child.tag == "restitution" and value > 1.0):
                found[names[child.tag]] = value
    return found


def _arguments(values: dict[str, float]) -> dict[str, object]:
    data = {name: value for name, value in values.items() if name not in FRICTION}
    if "sliding" in values:
        stated = [values.get(name) for name in FRICTION]
        while stated[-1] is None:
            stated.pop()
        data["friction"] = tuple(x or 0.0 for x in stated)
    return data


def write_surface(link, body: str, shapes: list[Geometry], features) -> None:
    """Add ``<contact>`` to a link whose shapes for contacts have the same data."""
    touching = [shape for shape in shapes if shape.role != "visual"]
    if any(shape.margin or shape.softness or shape.priority or shape.condim not in (None, 3)
           or {shape.contype, shape.conaffinity} != {1} for shape in touching):  # fmt: skip
        features.omit("filters, margins and softness of contacts", repr(body))
    data = {tuple(getattr(shape, name) for name in _ALIKE) for shape in touching} or {(None,) * len(_ALIKE)}
    stated = data.pop()
    if data:
        features.omit("contact data of single shapes of a link", repr(body))
    elif any(x is not None for x in stated):
        values = dict(zip(_ALIKE, stated, strict=True))
        values |= zip(FRICTION, values.pop("friction") or (), strict=False)
        contact = add(link, "contact")
        for tag, name in _PYBULLET.items():
            if values.get(name) is not None:
                add(contact, tag, value=number_text(values[name]))
