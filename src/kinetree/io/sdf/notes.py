"""The report of SDF files: content that the model lacks, or represents differently, with file and line."""

from __future__ import annotations

from kinetree.io.xml.notes import XMLNotes
from kinetree.io.xml.reader import Node

# The reason why an element is not read, by its tag; anything else is no part of the format.
_REASONS = {
    "actor": "animated figures are not modeled",
    "allow_auto_disable": "a setting of simulators",
    "ambient": "", "emissive": "", "specular": "", "shininess": "", "lighting": "", "script": "", "shader": "",
    "pbr": "", "render_order": "", "double_sided": "",
    "auto_inertia_params": "settings of another program",
    "atmosphere": "the air is not modeled",
    "audio": "sound is not modeled",
    "audio_sink": "sound is not modeled",
    "audio_source": "sound is not modeled",
    "author": "", "description": "",
    "battery": "batteries are not modeled",
    "cast_shadows": "", "laser_retro": "", "meta": "", "visibility_flags": "",
    "cfm_damping": "", "gripper": "contact settings of a simulator",
    "gui": "settings of a user interface",
    "light": "lights are not shown",
    "magnetic_field": "sensors are not modeled",
    "max_contacts": "contact parameters of simulators",
    "must_be_base_link": "a setting of simulators",
    "particle_emitter": "particles are not modeled",
    "physics": "settings of simulators",
    "plugin": "plugins are programs of a simulator, and are not run",
    "projector": "not modeled",
    "road": "not modeled",
    "scene": "not shown",
    "self_collide": "pairs are chosen by model.with_contacts(...)",
    "sensor": "sensors are not modeled",
    "spherical_coordinates": "the place on Earth is not modeled",
    "state": "a saved state of a simulation",
    "transceiver": "sensors are not modeled",
    "wind": "the air is not modeled",
    **dict.fromkeys((
        "collide_without_contact", "collide_without_contact_bitmask", "elastic_modulus", "fdir1", "friction2",
        "max_vel", "min_depth", "poissons_ratio", "rolling_friction", "slip", "slip1", "slip2", "soft_cfm",
        "soft_contact", "soft_erp", "split_impulse", "split_impulse_penetration_threshold", "surface_radius",
        "threshold", "ode", "bullet", "surface",
    ), "contact parameters of simulators"),
}  # fmt: skip
# Elements that hold physics, where a misspelled one would change the robot.
_PHYSICAL = {"model", "link", "joint", "axis", "axis2", "limit", "dynamics", "inertial", "inertia", "mimic", "pose"}
# Extensions that state physics.
_EXTENSIONS = {
    "{drake.mit.edu}joint", "{drake.mit.edu}linear_bushing_rpy", "{drake.mit.edu}ball_constraint",
    "{drake.mit.edu}rotor_inertia", "{drake.mit.edu}gear_ratio", "{drake.mit.edu}mimic",
    "{drake.mit.edu}controller_gains", "{drake.mit.edu}screw_thread_pitch",
}  # fmt: skip
_OF_ROTORS = ("{drake.mit.edu}rotor_inertia", "{drake.mit.edu}gear_ratio")


class Notes(XMLNotes):
    """Collects the entries of the report of SDF files; its documents are added as they are opened."""

    __slots__ = ("_skipped",)

    def __init__(self, drop: bool) -> None:
        super().__init__(drop=drop)
        self._skipped: set = set()

    def skip(self, node: Node, message: str | None = None) -> None:
        """Report a whole element as left out, instead of listing its content."""
        if message:
            self.info(node, message, "ignored")
        self._skipped.add(node.element)

    def mark(self) -> int:
        """A position in the entries for `rewind`."""
        return len(self.entries)

    def rewind(self, mark: int) -> None:
        """Remove the entries since."""
        del self.entries[mark:]

    def ignored(self) -> None:
        """Add each element and attribute that no reader used.

        Raises
        ------
        UnsupportedError
            If one states physics, by its name or as a misspelling of a name of the format.
        """
        for document in self.documents:
            for node, attribute in document.unread():
                lineage = (node.element, *node.element.iterancestors())
                if self._skipped.isdisjoint(lineage):
                    self._ignored(node, attribute)

    def _ignored(self, node: Node, attribute: str | None) -> None:
        if attribute is not None:
            meant = node.meant(attribute)
            if meant and node.tag in _PHYSICAL | {"xyz"}:
                message = f"{node.path}: attribute '{attribute}' is no part of the format; did you mean '{meant}'?"
                self.unsupported(node, message, "misspelled")
            elif not attribute.startswith("{"):
                self.info(node, f"{node.path} ignored: attribute '{attribute}' is not read", "ignored")
            return
        parent = node.document.node(node.element.getparent())
        known = node.tag in _REASONS
        meant = None if known or parent.tag not in _PHYSICAL else parent.meant_child(node.tag)
        if node.tag in _EXTENSIONS and _has_no_rotor(node):
            self.info(node, f"{node.path} ignored: without the inertia of a rotor it has no effect", "ignored")
        elif node.tag in _EXTENSIONS:
            self.unsupported(node, f"{node.path} is an extension of the format that would change the physics")
        elif meant:
            self.unsupported(node, f"{node.path} is no part of the format; did you mean <{meant}>?", "misspelled")
        else:
            reason = _REASONS.get(node.tag, "no part of the SDF format")
            self.info(node, f"{node.path} ignored{': ' * bool(reason)}{reason}", "ignored")


def _has_no_rotor(node: Node) -> bool:
    """Whether an extension is about a rotor of a joint that has no inertia there."""
    if node.tag not in _OF_ROTORS:
        return False
    inertia = node.element.getparent().find(_OF_ROTORS[0])
    try:
        return inertia is None or float(inertia.text or "") == 0.0
    except ValueError:
        return False
