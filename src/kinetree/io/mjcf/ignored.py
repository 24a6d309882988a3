"""What an MJCF file says that is not in the model: one entry of the report for each kind, with count and first line.

Every element and attribute is either named below as used, or reported. So what a later version of the format brings is
reported as unknown, and not passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kinetree.io.mjcf.notes import Notes
from kinetree.io.xml.reader import Node

_ALL = frozenset({"*"})
_POSE = frozenset({"pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"})
_ALWAYS = frozenset({"name", "class", "childclass", "dclass"})

# Sections (children of the root) that are left out as a whole, and why.
_SECTIONS = {
    "contact": "the dynamics have no contacts yet",
    "custom": "data for the user of MuJoCo",
    "sensor": "sensors are not modeled",
    "size": "sizes of MuJoCo's memory",
    "statistic": "settings of MuJoCo's viewer",
    "visual": "settings of MuJoCo's viewer",
}
# Elements left out, in any section.
_ELEMENTS = {
    "camera": "cameras are not modeled",
    "layer": "textures are not shown",
    "light": "lights are not drawn",
    "pair": "the dynamics have no contacts yet",
    "skin": "skins are pictures only",
    "texture": "textures are not shown",
    "hfield": "height fields are not drawn",
    "plugin": "plugins of MuJoCo are not loaded into the model",
}
# Elements whose content is dropped or refused elsewhere, with entries of their own.
_ELSEWHERE = frozenset({"composite", "deformable", "flex", "flexcomp"})
# Attributes that are used, by section and element, or by element alone.
_BODY_JOINT = frozenset({
    "type", "pos", "axis", "ref", "springref", "stiffness", "damping", "armature", "frictionloss", "limited", "range",
    "actuatorfrcrange", "actuatorfrclimited", "springdamper", "springyield", "align",
})  # fmt: skip
_TENDON = frozenset({
    "limited", "range", "actuatorfrcrange", "actuatorfrclimited", "frictionloss", "springlength", "springyield",
    "stiffness", "damping", "armature",
})  # fmt: skip
_USED = {
    "mujoco": frozenset({"model"}),
    "mujocoinclude": _ALL,
    "include": _ALL,
    "attach": _ALL,
    "compiler": _ALL,
    "lengthrange": _ALL,
    "default": _ALL,
    "frame": _ALL,
    "replicate": _ALL,
    "model": _ALL,
    "mesh": _ALL,
    "inertial": _ALL,
    "equality": _ALL,
    "asset": frozenset(),
    "worldbody": frozenset(),
    "body": _POSE | {"mocap", "gravcomp"},
    "joint": _BODY_JOINT,
    "freejoint": _BODY_JOINT,
    "geom": _POSE
    | {"type", "size", "fromto", "mesh", "fitscale", "rgba", "material", "contype", "conaffinity", "mass", "density",
       "shellinertia", "group", "hfield"},
    "site": _POSE | {"fromto"},
    "material": frozenset({"rgba"}),
    "option": frozenset({"gravity", "density", "viscosity", "wind", "actuatorgroupdisable"}),
    "flag": frozenset({"constraint", "equality", "frictionloss", "limit", "passive", "spring", "damper", "gravity",
                       "actuation", "clampctrl"}),
    "tendon": _TENDON,
    "spatial": _TENDON,
    "fixed": _TENDON,
    "key": _ALL,  # keyframes report what they leave out
}  # fmt: skip
_SECTION_USED = {"equality": _ALL, "tendon": {"spatial": _TENDON, "fixed": _TENDON}, "keyframe": _ALL}
_NOT_OF_ACTUATORS = frozenset({"group", "user", "nsample", "interp", "delay", "actearly"})

_CONTACT = "contact parameters; the dynamics have no contacts yet"
_SOFT = "softness of limits and friction in MuJoCo's solver"
_LOOK = "settings of MuJoCo's viewer"
_USER = "data for the user of MuJoCo"
_NUMERICS = "MuJoCo's own integrator and solver"
_OF_LIMITS = {
    **dict.fromkeys(("solreflimit", "solimplimit", "solreffriction", "solimpfriction"), _SOFT),
    "margin": "a distance from which MuJoCo's limits push; here they begin at the range",
}
_REASONS: dict[str, dict[str, str]] = {
    "geom": {
        **dict.fromkeys(("condim", "friction", "solmix", "solref", "solimp", "margin", "gap", "priority"), _CONTACT),
        **dict.fromkeys(("surfacevel", "adhesion"), _CONTACT),
        **dict.fromkeys(("fluidshape", "fluidcoef"), "forces of fluids are not modeled"),
        "castshadow": _LOOK,
    },
    "joint": _OF_LIMITS | {"actuatorgravcomp": "gravity compensation is not modeled"},
    "tendon": _OF_LIMITS | dict.fromkeys(("width", "material", "rgba"), _LOOK),
    "site": dict.fromkeys(("type", "size", "rgba", "material", "mesh", "fitscale"), "a site is a frame without shape"),
    "body": {"sleep": _NUMERICS} | dict.fromkeys(("simple", "fuse"), "hints for MuJoCo's compiler"),
    "flag": {
        **dict.fromkeys(("contact", "filterparent", "override", "midphase", "nativeccd", "multiccd"), _CONTACT),
        "sensor": "sensors are not modeled",
    },
    "option": {
        "magnetic": "sensors are not modeled",
        **dict.fromkeys(("o_margin", "o_solref", "o_solimp", "o_friction"), _CONTACT),
    },
    "actuator": {
        **dict.fromkeys(("nsample", "interp", "delay"), "delays of drives are not modeled"),
        "actearly": _NUMERICS,
        "group": "groups serve MuJoCo's viewer, and actuatorgroupdisable, which is read",
    },
}  # fmt: skip
_FALLBACK = {"option": _NUMERICS, "flag": _NUMERICS, "material": _LOOK}


@dataclass(slots=True)
class _Kind:
    """What is ignored for one reason: the first element, how many, and which attributes."""

    first: Node
    count: int = 0
    attributes: list[str] = field(default_factory=list)


def report_ignored(mj, notes: Notes) -> None:
    """Report elements and attributes of the files that no part of the reader uses."""
    colliding = int(((mj.geom_contype != 0) | (mj.geom_conaffinity != 0)).sum())
    if colliding or mj.npair:
        pairs = f", {mj.npair} pairs" if mj.npair else ""
        apart = f", {mj.nexclude} exclusions" if mj.nexclude else ""
        message = f"{colliding} geoms{pairs}{apart} for contacts: kept as shapes; the dynamics have no contacts yet"
        notes.info(None, message, "ignored")
    kinds: dict[tuple[str, str], _Kind] = {}
    for document in notes.sources.documents:
        root = document.root
        # None: the children of the root are sections. An included file may also hold the content of one.
        section = None if root.tag in ("mujoco", "mujocoinclude") else root.tag
        for node, tag, attribute, reason in _ignored(root, section):
            kind = kinds.setdefault((tag, reason), _Kind(node))
            if attribute is None:
                kind.count += max(1, len(node.all_children())) if tag in _SECTIONS else 1
            elif attribute not in kind.attributes:
                kind.attributes.append(attribute)
    for (tag, reason), kind in kinds.items():
        if kind.attributes:
            notes.info(kind.first, f"<{tag}>: {', '.join(kind.attributes)} ignored: {reason}", "ignored")
        else:
            count = f" ({kind.count} elements)" if kind.count > 1 else ""
            notes.info(kind.first, f"<{tag}> ignored{count}: {reason}", "ignored")


def _ignored(node: Node, section: str | None) -> Iterator[tuple[Node, str, str | None, str]]:
    """(node, tag, attribute or None for the whole element, reason) for what is left out in and below an element."""
    tag = node.tag
    if tag in _ELSEWHERE:
        return
    if section is not None and tag in _SECTIONS and section == tag:
        yield node, tag, None, _SECTIONS[tag]
        return
    if tag in _ELEMENTS and not (section == "equality" or tag == "plugin" and section == "actuator"):
        yield node, tag, None, _ELEMENTS[tag]
        return
    used = _used(tag, section)
    if used is None:
        yield node, tag, None, "not known to this reader"
        return
    family = _family(tag, section)
    for attribute in node.element.attrib:
        if attribute not in _ALWAYS and attribute not in used and used is not _ALL:
            if family == "actuator" and attribute not in _NOT_OF_ACTUATORS:
                continue
            yield node, tag, attribute, _reason(family, attribute)
    for child in node.all_children():
        inner = section
        if section is None:
            inner = child.tag if child.tag not in ("include",) else None
        yield from _ignored(child, inner)


def _used(tag: str, section: str | None) -> frozenset | None:
    if section == "actuator":
        return frozenset()
    if section in _SECTION_USED:
        by_tag = _SECTION_USED[section]
        return by_tag if by_tag is _ALL else by_tag.get(tag, _ALL)
    if section == "default" and tag not in _USED and tag in _ACTUATORS:
        return frozenset()
    if section == "extension":
        return _ALL
    return _USED.get(tag)


_ACTUATORS = frozenset({
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "dcmotor",
    "orientation", "pid",
})  # fmt: skip


def _family(tag: str, section: str | None) -> str:
    if section == "actuator" or tag in _ACTUATORS:
        return "actuator"
    if tag in ("spatial", "fixed"):
        return "tendon"
    return "joint" if tag == "freejoint" else tag


def _reason(family: str, attribute: str) -> str:
    if attribute == "user":
        return _USER
    reason = _REASONS.get(family, {}).get(attribute)
    return reason or (_LOOK if attribute == "group" else _FALLBACK.get(family, "not known to this reader"))
