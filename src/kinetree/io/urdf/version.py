"""The versions of URDF: the known ones, and the first version of each feature.

1.1 has quaternions in ``<origin>`` and capsules; 1.2 has limits of acceleration, deceleration and jerk, requires a
range of revolute and prismatic joints, and takes missing limits of effort and velocity for none.

*Source* README of urdfdom 6.0, section URDF Versioning.
"""

from __future__ import annotations

import re

from kinetree.io.xml.reader import Node, shown

Version = tuple[int, int]

VERSIONS: tuple[Version, ...] = ((1, 0), (1, 1), (1, 2))
QUATERNIONS = CAPSULES = (1, 1)
MOTION_LIMITS = RANGES_REQUIRED = EFFORT_OPTIONAL = (1, 2)
OF_MOTION = ("acceleration", "deceleration", "jerk")

_FORM = re.compile(r"\s*(\d{1,9})\.(\d{1,9})\s*", re.ASCII)


def version_of(root: Node) -> Version:
    """The version that ``<robot>`` states; 1.0 where it states none, and the newest in place of one that is none.

    Raises
    ------
    URDFError
        If there is no such version; a collecting document keeps it.
    """
    stated = root.text("version")
    if stated is None:
        return VERSIONS[0]
    found = _FORM.fullmatch(stated)
    version = (int(found[1]), int(found[2])) if found else None
    if version in VERSIONS:
        return version
    known = ", ".join(map(spelled, VERSIONS))
    what = "there is no such version of URDF" if found else "a version of URDF is two numbers with a point between them"
    message = f"<robot> states version {shown(stated)}: {what}; known: {known}"
    repair = "remove the attribute, which means 1.0, or write the version that the file was written for"
    return root.reject(message, VERSIONS[-1], code="version", repair=repair, value=stated)


def spelled(version: Version) -> str:
    """1.1 for (1, 1)."""
    return ".".join(map(str, version))
