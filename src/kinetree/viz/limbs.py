"""Limbs of robots by the names of their joints: "left arm", "front right leg"."""

from __future__ import annotations

import re

# Words of names, as robot files of arms, humanoids and quadrupeds have them.
_SIDES = {
    "left": "left", "l": "left", "right": "right", "r": "right",
    "fl": "front left", "lf": "front left", "fr": "front right", "rf": "front right",
    "rl": "rear left", "bl": "rear left", "rr": "rear right", "br": "rear right",
    "lh": "left hind", "hl": "left hind", "rh": "right hind", "hr": "right hind",
}  # fmt: skip
_LIMBS = {
    "arm": "shoulder elbow wrist arm forearm clavicle",
    "hand": "hand finger fingers gripper thumb index middle ring pinky knuckle palm",
    "leg": "hip knee ankle leg foot toe thigh calf shin haa hfe kfe abad",
    "head": "neck head eye jaw",
    "trunk": "waist torso trunk spine back chest pelvis lumbar abdomen",
}
_LIMB_OF = {word: limb for limb, words in _LIMBS.items() for word in words.split()}


def limb_of(joint: str) -> str:
    """The limb that the words of a joint's name state; "" if there is no side or the limb is unknown.

    Joints of the trunk and the head have no side. An arm without a side is the whole robot, mostly: no limb.

    Parameters
    ----------
    joint : str
    """
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Za-z][a-z]*", joint)
    words = [word.lower() for word in words]
    side = next((_SIDES[word] for word in words if word in _SIDES), "")
    limb = next((_LIMB_OF[word] for word in words if word in _LIMB_OF), "")
    if limb in ("head", "trunk"):
        return "trunk and head"
    return f"{side} {limb}" if side and limb else ""
