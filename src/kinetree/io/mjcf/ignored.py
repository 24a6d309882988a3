"""Content of an MJCF file that is not in the model: one entry of the report for each kind, with count and first line.

Every element and attribute is either named below as used, or reported. So additions of later versions of the format are
reported as unknown, and not passed over.
"""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.io.mjcf.notes import Notes
from kinetree.io.xml.reader import Node

_ALL = frozenset({"*"})
_POSE = frozenset({"pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"})
_ALWAYS = frozenset({"name", "class", "childclass", "dclass"})

# Sections (children of the root) that are left out as a whole, and why.
_SECTIONS = {
    "custom": "data for the user of MuJoCo",
    "sensor": "sensors are not modeled",
    "size": "sizes of MuJoCo's memory",
    "statistic": "settings of MuJoCo's viewer",
    "visual": "settings of MuJoCo's viewer",
}
# Elements left out, in any section.
_ELEMENTS = {
    "camera": "cameras are not modeled",
    "layer": "further images of a material are not shown",
    "light": "lights are not drawn",
    "skin": "skins are pictures only",
    "plugin": "plugins of MuJoCo are not loaded into the model",
}
# Elements whose content is dropped or refused elsewhere, with entries of their own.
_ELSEWHERE = frozenset({"composite", "deformable", "flex", "flexcomp"})
# Attributes that are used, by element.
_SPRUNG = frozenset({
    "limited", "range", "actuatorfrcrange", "actuatorfrclimited", "frictionloss", "springyield", "stiffness", "damping",
    "armature",
})  # fmt: skip
_USED = {
    # Ignored parts of keyframes are reported by their reader, and equalities are data as a whole.
    **dict.fromkeys((
        "mujocoinclude", "include", "attach", "compiler", "lengthrange", "default", "frame", "replicate", "model",
        "mesh", "inertial", "equality", "key", "contact", "exclude",
    ), _ALL),
    "mujoco": frozenset({"model"}),
    "asset": frozenset(),
    "worldbody": frozenset(),
    "actuator": frozenset(),
    "body": _POSE | {"mocap", "gravcomp"},
    "joint": _SPRUNG | {"type", "pos", "axis", "ref", "springref", "springdamper", "align"},
    "tendon": _SPRUNG | {"springlength"},
    "geom": _POSE
    | {"type", "size", "fromto", "mesh", "fitscale", "rgba", "material", "contype", "conaffinity", "mass", "density",
       "shellinertia", "group", "hfield", "condim", "friction", "solref", "solimp", "margin", "priority"},
    "pair": frozenset({"geom1", "geom2", "condim", "friction", "solref", "solimp", "margin", "solreffriction"}),
    "hfield": frozenset({"file", "nrow", "ncol", "size", "elevation", "content_type"}),
    "site": _POSE | {"fromto"},
    "material": frozenset({"rgba", "texture", "texrepeat", "texuniform"}),
    "texture": frozenset({"type", "builtin", "rgb1", "rgb2", "file", "width", "height", "nchannel", "content_type",
                          "colorspace"}),
    "option": frozenset({"gravity", "density", "viscosity", "wind", "actuatorgroupdisable"}),
    "flag": frozenset({"constraint", "equality", "frictionloss", "limit", "passive", "spring", "damper", "gravity",
                       "actuation", "clampctrl"}),
}  # fmt: skip
_WHOLE = ("equality", "keyframe")  # sections of which nothing is left out here
_LIKE = {"freejoint": "joint", "spatial": "tendon", "fixed": "tendon"}  # elements with the attributes of another one
# Elements of <actuator>, which stand in <default> too: all their attributes are used but those with a reason below.
_DRIVES = frozenset({
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "dcmotor",
    "orientation", "pid",
})  # fmt: skip

_CONTACT = "a setting of MuJoCo's contacts"
_SOFT = "softness of limits and friction in MuJoCo's solver"
_LOOK = "settings of MuJoCo's viewer"
_NUMERICS = "MuJoCo's own integrator and solver"
_OF_LIMITS = {
    **dict.fromkeys(("solreflimit", "solimplimit", "solreffriction", "solimpfriction"), _SOFT),
    "margin": "a distance from which MuJoCo's limits push; here they begin at the range",
}
_COMMON = {"user": "data for the user of MuJoCo", "group": _LOOK}
_REASONS = {
    "geom": {
        **dict.fromkeys(("solmix", "gap", "surfacevel", "adhesion"), _CONTACT),
        **dict.fromkeys(("fluidshape", "fluidcoef"), "forces of fluids are not modeled"),
        "castshadow": _LOOK,
    },
    "pair": {"gap": _CONTACT},
    "joint": _OF_LIMITS | {"actuatorgravcomp": "compensation of gravity counts as a passive force"},
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
        **dict.fromkeys(("nsample", "interp"), "delays of drives are not computed"),
        "group": "groups serve MuJoCo's viewer, and actuatorgroupdisable, which is read",
    },
}  # fmt: skip
_UNKNOWN = "not known to this reader"
_FALLBACK = {
    "option": _NUMERICS, "flag": _NUMERICS, "material": _LOOK,
    "texture": "marks on patterns, and pictures in parts or mirrored, are not shown so",
}  # fmt: skip


def report_ignored(mj, notes: Notes) -> None:
    """Report elements and attributes of the files that no part of the reader uses."""
    colliding = int(((mj.geom_contype != 0) | (mj.geom_conaffinity != 0)).sum())
    if colliding or mj.npair:
        pairs = f", {mj.npair} pairs" if mj.npair else ""
        apart = f", {mj.nexclude} exclusions" if mj.nexclude else ""
        message = f"{colliding} geoms{pairs}{apart} for contacts: kept as data, for model.with_contacts(...)"
        notes.info(None, message, "ignored")
    kinds: dict[tuple[str, str], list[tuple[Node, str | None]]] = {}
    for document in notes.sources.documents:
        root = document.root
        # None: the children of the root are sections. An included file may also hold the content of one.
        section = None if root.tag in ("mujoco", "mujocoinclude") else root.tag
        for node, tag, attribute, reason in _ignored(root, section):
            kinds.setdefault((tag, reason), []).append((node, attribute))
    for (tag, reason), found in kinds.items():
        if attributes := dict.fromkeys(attribute for _, attribute in found if attribute is not None):
            what = f"<{tag}>: {', '.join(attributes)} ignored"
        else:
            count = sum(max(1, len(node.all_children())) if tag in _SECTIONS else 1 for node, _ in found)
            what = f"<{tag}> ignored" + (f" ({count} elements)" if count > 1 else "")
        notes.info(found[0][0], f"{what}: {reason}", "ignored")


def _ignored(node: Node, section: str | None) -> Iterator[tuple[Node, str, str | None, str]]:
    """(node, tag, attribute or None for the whole element, reason) for the parts left out in and below an element."""
    tag = node.tag
    if tag in _ELSEWHERE or section in _WHOLE:
        return
    drives = section == "actuator" or (section == "default" and tag in _DRIVES)
    family = "actuator" if drives else _LIKE.get(tag, tag)
    free = section == "extension" or (section == "tendon" and family != "tendon")  # <joint> of a tendon, ...
    used = _ALL if free else _USED.get(family)
    whole = _SECTIONS.get(tag) if tag == section else None
    if not drives:
        whole = whole or _ELEMENTS.get(tag)
    if whole or used is None:
        yield node, tag, None, whole or _UNKNOWN
        return
    for attribute in () if used is _ALL else node.element.attrib:
        if attribute in _ALWAYS or attribute in used:
            continue
        reason = _REASONS.get(family, {}).get(attribute) or _COMMON.get(attribute)
        if reason or not drives:
            yield node, tag, attribute, reason or _FALLBACK.get(family, _UNKNOWN)
    for child in node.all_children():
        yield from _ignored(child, section or (None if child.tag == "include" else child.tag))
