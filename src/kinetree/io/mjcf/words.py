"""The words of MJCF, to tell what a misspelled one was meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

TAGS = (
    "body", "joint", "freejoint", "geom", "site", "inertial", "frame", "camera", "light", "worldbody", "asset", "mesh",
    "texture", "material", "default", "compiler", "option", "size", "visual", "statistic", "contact", "exclude", "pair",
    "equality", "connect", "weld", "tendon", "fixed", "spatial", "actuator", "motor", "position", "velocity", "general",
    "muscle", "sensor", "keyframe", "key", "custom", "include", "replicate", "attach", "flag", "jointpos", "jointvel",
    "actuatorpos", "actuatorvel", "actuatorfrc", "accelerometer", "gyro", "touch", "force", "torque", "framepos",
    "framequat", "framelinvel", "frameangvel", "subtreecom",
)  # fmt: skip
ATTRIBUTES = (
    "name", "class", "childclass", "pos", "quat", "euler", "axis", "type", "range", "limited", "damping", "stiffness",
    "armature", "frictionloss", "springref", "ref", "margin", "size", "fromto", "mass", "density", "mesh", "material",
    "rgba", "group", "contype", "conaffinity", "condim", "friction", "diaginertia", "fullinertia", "joint", "tendon",
    "site", "body", "body1", "body2", "joint1", "joint2", "gear", "ctrlrange", "ctrllimited", "forcerange",
    "forcelimited", "kp", "kv", "file", "scale", "vertex", "coef", "angle", "meshdir", "gravity", "timestep", "qpos",
    "qvel", "ctrl", "actuatorfrcrange", "solref", "solimp", "mocap", "gravcomp",
)  # fmt: skip
WORDS = ("free", "ball", "slide", "hinge", "plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box",
          "mesh")  # fmt: skip


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one that differs from a word by little, if there is one.

    Examples
    --------
    >>> nearest("siez", ATTRIBUTES), nearest("hing", WORDS), nearest("nonsense", TAGS)
    ('size', 'hinge', None)
    """
    found = difflib.get_close_matches(word[:50].strip(), [other for other in known if other != word], n=1, cutoff=0.65)
    return found[0] if found else None


def likely(code: str, words: Iterable[str], tag: str, names: Iterable[str]) -> str:
    """What to do about words that MuJoCo does not take; empty if nothing resembles them.

    Parameters
    ----------
    code : str
        The rule, as in docs/lint.md.
    words : iterable of str
        Those in quotes in MuJoCo's message.
    tag : str
        Of the element that is at fault.
    names : iterable of str
        All names and classes in the file.
    """
    words = list(words)
    if code == "unknown-name":
        known = list(names)[:2000]  # comparing with all of a very large file would take long
    elif code in ("bad-choice", "unknown-joint-type"):
        known = WORDS
    elif code == "not-in-format":
        words, known = (words, ATTRIBUTES) if words else ([tag], TAGS)
    else:
        return ""
    meant = next((found for found in (nearest(word, known) for word in words) if found), None)
    return f"did you mean '{meant}'?" if meant else ""
