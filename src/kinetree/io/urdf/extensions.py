"""Physics that a URDF file states for one program alone: in <gazebo>, <mujoco>, PyBullet's <contact>, and extensions of
joints. What a model could hold is refused, as the file means another robot there; the rest is reported.
"""

from __future__ import annotations

from kinetree.io.urdf.notes import Notes, number_in
from kinetree.io.xml.reader import Document, Node

_TRUE = ("true", "1")
_NO_GRAVITY = {("turnGravityOff", "true"), ("turnGravityOff", "1"), ("gravity", "false"), ("gravity", "0")}
_SPRING = ("springStiffness", "springReference")
_OPTIONS = ("gravity", "density", "viscosity", "wind")  # of <mujoco><option>


def check_extensions(document: Document, notes: Notes) -> None:
    """Refuse, or drop, physics of the mechanism that other programs read in extensions; report what is theirs alone.

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
    """PyBullet multiplies a link's rotational inertia by what it calls a contact parameter."""
    for contact in link.all_children():
        if contact.tag == "contact":
            for node in contact.all_children():
                factor = node.element.get("value", "1") if node.tag == "inertia_scaling" else "1"
                if number_in(factor) != 1.0:
                    message = f"{node.path}: PyBullet multiplies the inertia by {factor}; here it is that of the file"
                    notes.info(node, message, "ignored")


def _text(node: Node) -> str:
    return (node.element.text or "").strip()
