"""Loops that are open where a file shows the robot, with their gaps."""

from __future__ import annotations

import math

from kinetree.io.lint.result import Finding, finding
from kinetree.state_kinematics import Kinematics

CLOSED = 1e-6  # [m or rad]: what the dynamics take for closed
INITIAL = "initial"  # the keyframe of the position in which a file shows the robot


def open_loops(model, file: str) -> list[Finding]:
    """A finding for each constraint that is open in the position in which the file shows the robot.

    Parameters
    ----------
    model : Model or None
    file : str
    """
    if model is None:  # of a file with errors
        return []
    shown = INITIAL in model.keyframes
    q = model.keyframe(INITIAL)[0] if shown else model.neutral()
    where = "in the position of the file" if shown else "at the neutral position"
    kin, found = Kinematics(model.at(0.0), q.tolist()), []
    for c in model.constraints:
        gap, n = max(((abs(float(x)), n) for n, x in enumerate(c.residual(kin) or ())), default=(0.0, 0))
        if gap > CLOSED or math.isnan(gap):
            name = getattr(c, "name", "")
            named = f"{c} {name!r}" if name and name not in str(c) else str(c)
            message = f"{named} is open by {gap:.3g} {c.unit(n)} {where}"
            repair = "kinetree.assemble(model) finds a closed position; check the frames and lengths if it does not"
            found.append(finding("open-loop", file, None, "", message, repair))
    return found
