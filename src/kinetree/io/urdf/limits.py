"""What a URDF joint says about its limits, with what it leaves out made explicit."""

from __future__ import annotations

import math
import sys

from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.records import UNKNOWN, JointRecord
from kinetree.io.urdf.version import EFFORT_OPTIONAL, RANGES_REQUIRED, Version, spelled

Limits = tuple[float, float, float, float]


def limits(joint: JointRecord, version: Version, notes: Notes) -> Limits:
    """Return (lower, upper, effort, velocity); infinite where there is no limit.

    Parameters
    ----------
    joint : JointRecord
    version : tuple of 2 ints
        Of the file's format.
    notes : Notes
        Gets what the file leaves out, and what the model has no place for.

    Raises
    ------
    URDFError
        If the lower limit is above the upper one, or if there is none where the version of the format requires one.

    Notes
    -----
    Up to 1.1 the format requires ``<limit>`` with effort and velocity of revolute and prismatic joints, and gives lower
    and upper the default 0. Taken literally, a wheel whose limit states effort and velocity alone would be locked, so
    without both the range is unlimited. From 1.2 on it is the range that is required, and effort and velocity may be
    left out. The largest float means no limit too: the format's usual parser refuses infinity.
    """
    lower, upper, effort, velocity = map(_limit, joint.limit)
    node = joint.node.child("limit") or joint.node
    if joint.motion_limits:
        stated = ", ".join(f"{name} {value:g}" for name, value in joint.motion_limits.items())
        message = f"joint '{joint.name}': the limits of {stated} are not held: no dynamics depend on them"
        notes.info(node, message, "ignored")
    if joint.type in ("revolute", "prismatic"):
        if version >= RANGES_REQUIRED and (lower is None or upper is None):
            raise node.fail(
                f"joint '{joint.name}' states no range: URDF {spelled(RANGES_REQUIRED)} requires lower and upper of "
                f"{joint.type} joints",
                code="missing-attribute",
                repair="a joint without limits is continuous, or has a range as large as the largest float",
                joint=joint.name,
            )
        missing = ""
        if joint.limit == (None, None, None, None):
            missing = "has no limits, though the format requires them: unlimited"
        elif lower is None and upper is None:
            missing = "states no range: unlimited, although the format's default is 0"
        elif lower is None or upper is None:
            missing = f"states no {'lower' if lower is None else 'upper'} limit: 0, the format's default"
            lower, upper = lower or 0.0, upper or 0.0
        if missing:
            notes.warning(node, f"joint '{joint.name}' {missing}", "missing-limit")
        absent = [name for name, value in (("effort", effort), ("velocity", velocity)) if value is None]
        if absent and version < EFFORT_OPTIONAL and joint.limit != (None, None, None, None):
            which = " and ".join(absent)
            message = f"joint '{joint.name}' states no {which} limit, which the format requires: unlimited"
            notes.info(node, message, "missing-effort")
    elif joint.type != UNKNOWN and (lower is not None or upper is not None):
        if (lower or 0.0, upper or 0.0) != (0.0, 0.0):
            message = f"joint '{joint.name}' is {joint.type}: its lower and upper limits have no meaning"
            notes.info(node, message, "idle-limit")
        lower = upper = None
    low = -math.inf if lower is None else lower
    high = math.inf if upper is None else upper
    if low > high:
        raise node.fail(
            f"joint '{joint.name}' has lower limit {low} above its upper limit {high}",
            code="limit-order",
            repair="were they exchanged? Some programs take this for 'no limit', which is written as type continuous",
            joint=joint.name,
        )
    return (low, high, math.inf if effort is None else effort, math.inf if velocity is None else velocity)


def _limit(value: float | None) -> float | None:
    """Infinity for the largest float; NaN, which stands for an unreadable number, stays."""
    return math.copysign(math.inf, value) if value is not None and abs(value) >= sys.float_info.max else value
