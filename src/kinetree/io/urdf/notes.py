"""The report of a URDF file: content that the model lacks, or represents differently, with its line.

Physics that a file states for one program alone, in <gazebo>, <mujoco>, PyBullet's <contact>, and extensions of joints:
features that a model supports are refused, as the file means another robot there; the rest is reported.
"""

from __future__ import annotations

import math

from kinetree.io.urdf.version import MOTION_LIMITS, OF_MOTION, spelled
from kinetree.io.xml.notes import XMLNotes
from kinetree.io.xml.reader import Document, Node

# The reason why an element is not read, by its tag; anything else is no part of the format.
_REASONS = {
    "calibration": "encoder calibration, no physics",
    "collision_checking": "settings of another program",
    "contact": "contact parameters of PyBullet; friction, restitution, stiffness and damping are kept",
    "gazebo": "settings of the Gazebo simulator; mu1, kp and kd are kept",
    "mujoco": "settings of the MuJoCo compiler",
    "ros2_control": "controller configuration",
    "safety_controller": "soft limits of a controller, no physics",
    "self_collision_checking": "settings of another program",
    "sensor": "sensors are not modeled",
    "texture": "textures are not shown",
    "transmission": "actuators and gear ratios are not modeled",
    "verbose": "settings of another program",
}
# Attributes that later versions of the format have; they are not read in earlier ones.
_LATER = {("limit", name): f"exists since URDF {spelled(MOTION_LIMITS)}" for name in OF_MOTION}
# Extensions that state physics: a loader that skips them changes the robot.
_PHYSICS = {"rotor_inertia", "gear_ratio", "armature", "spring_stiffness", "spring_reference", "stiffness",
            "quat", "quaternion"}  # fmt: skip


class Notes(XMLNotes):
    """Collects the entries of the report of a URDF file."""

    __slots__ = ()

    def ignored(self) -> None:
        """Add each element and attribute that no reader used.

        Raises
        ------
        UnsupportedError
            If one states physics, by its name or as a misspelling of a name of the format.
        """
        (document,) = self.documents
        for node, attribute in document.unread():
            owner = node if attribute is not None else document.node(node.element.getparent())
            name = attribute if attribute is not None else node.tag
            meant = _misspelled(owner, name, attribute is not None)
            plain = name.split("}")[-1].split(":")[-1]
            if _is_physical(owner, attribute) and (meant or plain in _PHYSICS):
                idle = "" if meant else _idle(owner, node, attribute, plain)
                if idle:
                    self.info(node, f"{_what(node, attribute)} ignored: {idle}", "ignored")
                else:
                    self._physics(node, attribute, meant)
            elif attribute is None:
                reason = _REASONS.get(node.tag, "no part of the URDF format")
                self.info(node, f"{node.path} ignored: {reason}", "ignored")
            else:
                reason = _LATER.get((node.tag, attribute), "is no part of the URDF format")
                message = f"{node.path} ignored: attribute '{attribute}' {reason}"
                self.info(node, message, "ignored")

    def _physics(self, node: Node, attribute: str | None, meant: str | None) -> None:
        message = f"{_what(node, attribute)} would change the physics, and is no part of the URDF format"
        repair = "unsupported='drop' leaves it out"
        if "spring" in (attribute or node.tag):
            repair += ", as other readers of URDF do"
        if meant:
            repair = f"did you mean {f'<{meant}>' if attribute is None else repr(meant)}? {repair}"
        self.unsupported(node, message, "misspelled" if meant else "unsupported", repair)


def number_in(text: str | None) -> float:
    """The number that a text is; NaN if it is none."""
    try:
        return float(text or "")
    except ValueError:
        return math.nan


# Data without which an extension of a joint has no effect, and the reason in messages.
_NEEDS = {
    "spring_reference": (("spring_stiffness", "stiffness"), "a reference without a stiffness has no effect"),
    "gear_ratio": (("rotor_inertia",), "a gear without the inertia of a rotor has no effect"),
}


def _idle(owner: Node, node: Node, attribute: str | None, name: str) -> str:
    """The reason why physics in an extension of the format has no effect; empty if it may have one."""
    stated = number_in(owner.element.get(attribute)) if attribute is not None else _stated(node.element)
    if stated == 0.0 and name != "spring_reference":
        return "zero has no effect"
    others, reason = _NEEDS.get(name, ((), ""))
    joint = next((e for e in (owner.element, *owner.element.iterancestors()) if e.tag == "joint"), owner.element)
    return reason if others and not any(_states(joint, other) for other in others) else ""


def _states(joint, name: str) -> bool:
    """Whether a joint states anything but zero under this name, in an attribute or an element, with a prefix or not."""
    for element in joint.iter():
        for key, value in element.attrib.items():
            if key.split("}")[-1] == name and number_in(value) != 0.0:
                return True
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag.split("}")[-1].split(":")[-1] == name and _stated(element) != 0.0:
            return True
    return False


def _stated(element) -> float:
    """The number of an element, in its attribute ``value`` or its text."""
    return number_in(element.get("value") or element.text)


def _what(node: Node, attribute: str | None) -> str:
    return node.path if attribute is None else f"{node.path}: attribute '{attribute}'"


def _misspelled(owner: Node, name: str, is_attribute: bool) -> str | None:
    meant = owner.meant(name) if is_attribute else owner.meant_child(name)
    return None if meant in ("material", "visual", "collision", "name", "version") else meant


def _is_physical(owner: Node, attribute: str | None) -> bool:
    """Whether the content of an element states physics: links, joints and inertials do, shapes and colors do not."""
    tags = [element.tag for element in owner.element.iterancestors()][::-1] + [owner.tag]
    if len(tags) <= 2:
        return attribute is None or (len(tags) == 2 and tags[1] == "joint")
    return tags[1] == "joint" or (tags[1] == "link" and tags[2] == "inertial")


# Extensions ----------------------------------------------------------------------------------------------------------

_TRUE = ("true", "1")
_NO_GRAVITY = {("turnGravityOff", "true"), ("turnGravityOff", "1"), ("gravity", "false"), ("gravity", "0")}
_SPRING = ("springStiffness", "springReference")
_OPTIONS = ("gravity", "density", "viscosity", "wind")  # of <mujoco><option>


def check_extensions(document: Document, notes: Notes) -> None:
    """Refuse, or drop, physics of the mechanism that other programs read in extensions; report the rest.

    Parameters
    ----------
    document : Document
    notes : Notes

    Raises
    ------
    UnsupportedError
        A joint that closes a loop, a spring, a damping of links. A collecting document keeps each of these.
    """
    for extension in document.root.all_children():
        if extension.tag == "gazebo":
            _gazebo(extension, notes)
        elif extension.tag == "mujoco":
            _mujoco(extension, notes)
        elif extension.tag == "link":
            _contact(extension, notes)


def _gazebo(gazebo: Node, notes: Notes) -> None:
    about = f"<gazebo reference='{gazebo.element.get('reference')}'>" if gazebo.has("reference") else "<gazebo>"
    children = gazebo.all_children()
    is_spring = any(node.tag == "springStiffness" and number_in(_text(node)) != 0.0 for node in children)
    for node in children:
        value = _text(node).lower()
        if node.tag == "joint":
            message = f"{node.path} closes a kinematic loop, which the model of a URDF file does not hold"
            notes.unsupported(node, message, repair="unsupported='drop' leaves it open")
        elif node.tag in _SPRING and is_spring and number_in(value) != 0.0:
            message = f"{about} states a spring ({node.tag} {value}), which is no part of the URDF format"
            notes.unsupported(node, message)
        elif _damps(node):
            message = f"{about} states a damping of the link ({node.tag}), which is no part of the URDF format"
            notes.unsupported(node, message)
        elif (node.tag, value) in _NO_GRAVITY:
            message = f"{about} turns gravity off in Gazebo; here gravity acts on all bodies"
            notes.warning(node, message, "gravity-off")
        elif node.tag in ("static", "kinematic") and value in _TRUE:
            what = "the robot" if node.tag == "static" else "the link"
            message = f"{about} takes {what} out of Gazebo's dynamics ({node.tag}); here it moves"
            notes.warning(node, message, "other-program")


def _damps(node: Node) -> bool:
    """Whether an element lets the velocity of a link decay."""
    if node.tag == "velocity_decay":
        return any(number_in(_text(child)) != 0.0 for child in node.all_children())
    return node.tag == "dampingFactor" and number_in(_text(node)) != 0.0


def _mujoco(extension: Node, notes: Notes) -> None:
    """MuJoCo's own options apply to the robot in MuJoCo alone."""
    for node in extension.all_children():
        names = _OPTIONS if node.tag == "option" else ()
        stated = [f"{name}={node.element.get(name)!r}" for name in names if node.has(name)]
        flags = [child.element.get("gravity") for child in node.all_children() if child.tag == "flag"]
        stated += ["no gravity"] * ("disable" in flags)
        if stated:
            message = f"{node.path} applies in MuJoCo alone: {', '.join(stated)}"
            notes.warning(node, message, "other-program")


def _contact(link: Node, notes: Notes) -> None:
    """PyBullet multiplies a link's rotational inertia by one of its contact parameters."""
    for contact in link.all_children():
        if contact.tag == "contact":
            for node in contact.all_children():
                factor = node.element.get("value", "1") if node.tag == "inertia_scaling" else "1"
                if number_in(factor) != 1.0:
                    message = f"{node.path}: PyBullet multiplies the inertia by {factor}; here it is that of the file"
                    notes.info(node, message, "ignored")


def _text(node: Node) -> str:
    return (node.element.text or "").strip()
