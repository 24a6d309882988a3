"""The report of a URDF file: what it says and the model does not hold, or holds differently, with its line."""

from __future__ import annotations

from kinetree.io.xml_reader import Document, Node
from kinetree.model.parts import Report, ReportEntry

# Why an element is not read, by its tag; anything else is no part of the format.
_REASONS = {
    "calibration": "encoder calibration, no physics",
    "collision_checking": "settings of another program",
    "contact": "contact parameters of another simulator",
    "gazebo": "settings of the Gazebo simulator",
    "mujoco": "settings of the MuJoCo compiler",
    "ros2_control": "controller configuration",
    "safety_controller": "soft limits of a controller, no physics",
    "self_collision_checking": "settings of another program",
    "sensor": "sensors are not modeled",
    "texture": "textures are not shown",
    "transmission": "actuators and gear ratios are not modeled",
    "verbose": "settings of another program",
}


class Notes:
    """Collects the entries of a report while a file becomes a model.

    The levels are those of `kinetree.model.parts.ReportEntry`: ``info`` is no physics, ``warning`` is physics that was
    assumed or changed, ``dropped`` is physics left out.
    """

    __slots__ = ("document", "_entries")

    def __init__(self, document: Document) -> None:
        self.document = document
        self._entries: list[tuple[int, str, str]] = []

    def info(self, node: Node, message: str) -> None:
        self._entries.append((node.line, "info", message))

    def warning(self, node: Node, message: str) -> None:
        self._entries.append((node.line, "warning", message))

    def dropped(self, node: Node, message: str) -> None:
        self._entries.append((node.line, "dropped", message))

    def ignored(self) -> None:
        """Add each element and attribute that no reader asked for."""
        for node, attribute in self.document.unread():
            if attribute is None:
                self.info(node, f"{node.path} ignored: {_REASONS.get(node.tag, 'no part of the URDF format')}")
            else:
                self.info(node, f"{node.path} ignored: attribute '{attribute}' is no part of the URDF format")

    def report(self) -> Report:
        """Return the entries in the order of their lines."""
        entries = sorted(self._entries, key=lambda entry: entry[0])
        return Report(tuple(ReportEntry(level, self.document.where(line), text) for line, level, text in entries))
